"""Source code along its definitions."""

from __future__ import annotations

import pytest

from core.rag.indexing import TextSplitter
from core.rag.indexing.splitting.grammars import GRAMMARS, language_of, load_language
from libs.dataloader.types import Document, DocumentChunk

PYTHON = '''"""Module."""

import os

LIMIT = 3


# What follows is explained here.
@decorated
def first(x):
    return x


class Shape:
    """A shape."""

    sides = 0

    def area(self) -> float:
        """Zero."""
        return 0.0

    @property
    async def name(self) -> str:
        def inner():
            return "shape"

        return inner()


if __name__ == "__main__":
    first(1)
'''

JAVASCRIPT = """import x from "y";

/** Adds. */
export function add(a, b) {
  return a + b;
}

const twice = (n) => 2 * n;

export default class Point {
  constructor(x) {
    this.x = x;
  }

  move(by) {
    this.x += by;
  }
}
"""

TYPESCRIPT = """export interface Named {
  name: string;
}

type Id = string | number;

export abstract class Base<T> {
  abstract id(): Id;

  title(): string {
    return "t";
  }
}

namespace Inner {
  export enum Kind { A, B }
}
"""

JAVA = """package a.b;

import java.util.List;

/** A stack. */
public class Stack<T> extends Base {
    private int size;

    public Stack() {
        size = 0;
    }

    @Override
    public T pop() {
        return null;
    }
}
"""

GO = """package main

import "fmt"

// Point is a point.
type Point struct {
	X int
}

// Move moves.
func (p *Point) Move(by int) {
	p.X += by
}

func main() {
	fmt.Println("x")
}
"""

RUST = """use std::fmt;

/// A point.
#[derive(Debug)]
pub struct Point {
    x: i32,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.x)
    }
}

mod inner {
    pub fn helper() {}
}
"""

C = """#include <stdio.h>
#ifndef GUARD
#define GUARD

typedef struct {
    int x;
} point_t;

struct node {
    struct node *next;
};

static struct node *find(struct node *list, int x) {
    return list;
}

#endif
"""

CPP = """#include <vector>

namespace geo {

template <typename T>
class Box {
public:
    T size() const { return 0; }
};

int Box::area() {
    return 1;
}

}  // namespace geo
"""

CSHARP = """using System;

namespace Geo
{
    public class Box
    {
        public int Size() { return 1; }
    }

    public interface IShape { }
}
"""

RUBY = """require "set"

module Geo
  class Box
    def size
      1
    end

    def self.make
      new
    end
  end
end
"""

PHP = """<?php

namespace Geo;

interface Shape {}

class Box implements Shape
{
    public function size(): int
    {
        return 1;
    }
}

function helper() { return 2; }
"""

BASH = """#!/bin/bash
set -e

# Greets.
greet() {
  echo "hello"
}

function part {
  echo "bye"
}

greet
"""

KOTLIN = """package geo

import kotlin.math.PI

// A box.
data class Box(val x: Int) {
    fun size() = x
}

suspend fun <T> helper(x: T): T {
    return x
}

val answer = 42
"""

SQL = """CREATE TABLE IF NOT EXISTS users (
  id INTEGER
);

-- Those who came lately.
create or replace view recent as
select * from users;

INSERT INTO users VALUES (1);
"""


PYTHON_BLOCKS = """import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    def shared(size: int) -> int: ...
else:
    LIMIT = 4

    def shared(size):
        return size

try:
    from functools import cache
except ImportError:
    # As it was before 3.9.
    def cache(function):
        return function

with open("words") as words:
    count = len(words.read())

# By version.
if sys.version_info >= (3, 12):
    class Batch:
        size = 1
"""

GO_GROUP = """package mill

// Names of parts.
type (
	// Wheel turns.
	Wheel struct {
		Turns int
	}

	Turner interface {
		Turn() error
	}
)

type Speed = int
"""

CPP_MACROS = """#include "spdlog/common.h"

namespace spdlog {

class SPDLOG_API logger {
public:
    const std::string &name() const { return name_; }

    explicit operator bool() const { return true; }
};

template <typename ScopedPadder>
class SPDLOG_API name_formatter final : public flag_formatter {
    void format() override {}
};

SPDLOG_INLINE level::level_enum logger::level() const { return level_; }

SPDLOG_INLINE logger &logger::operator=(logger other) SPDLOG_NOEXCEPT { return *this; }

}  // namespace spdlog
"""

JAVASCRIPT_VALUES = """var app = exports = module.exports = {};

app.use = function use(fn) {
  return this.lazyrouter();
};

View.prototype.lookup = (name) => {
  return name;
};

class Timer {
  count = 0;

  tick = () => { this.count += 1; };
}

export default function () {
  return app;
}
"""

RUBY_SINGLETON = """class Mill
  LIMIT = 3

  class << self
    def build
      new
    end
  end
end
"""


SWIFT = """import Foundation

/// An order-preserving representation of HTTP headers.
public struct HTTPHeaders: Equatable, Sendable {
    private var headers: [HTTPHeader] = []

    public init() {}

    /// Case-insensitively removes an `HTTPHeader`, if it exists.
    public mutating func remove(name: String) {
        guard let index = headers.index(of: name) else { return }

        headers.remove(at: index)
    }

    public enum Order: String { case sorted, given }

    class func make() -> HTTPHeaders { HTTPHeaders() }
}

extension HTTPHeaders: Collection {}

public actor Counter {
    var count = 0
}
"""

KOTLIN_WORDS = """enum class Color { RED }

/**
 * Turns a wheel.
 *
 * @see Wheel
 */
fun interface Turner { fun turn() }

fun `turns a wheel`() {}
"""

SQL_NAMES = """CREATE TABLE [dbo].[Orders] ([Id] int);

CREATE TABLE `shop`.`items` (id int);

CREATE TABLE "Order Items" (id int);
"""

# As pg_dump writes: what a comment announces stands behind a blank line.
SQL_DUMP = """SET statement_timeout = 0;

--
-- Name: orders; Type: TABLE
--

CREATE TABLE orders (
    id integer,
    customer_id integer
);

--
-- Name: orders_fkey; Type: FK CONSTRAINT
--

ALTER TABLE ONLY orders ADD CONSTRAINT orders_fkey FOREIGN KEY (customer_id) REFERENCES customers(id);

--
-- Data for Name: orders; Type: TABLE DATA
--

COPY public.orders (id, customer_id) FROM stdin;
1\t7
2\t9
\\.

SET default_tablespace = '';
"""

GRAPHQL = """\"\"\"
What turns in a mill.
The type of water is another question.
\"\"\"
type Wheel implements Node {
  \"\"\"How fast\"\"\"
  speed: Speed
}

\"\"\"
Autogenerated input type of Turn
\"\"\"
input TurnInput {
  id: ID!
}

\"\"\"Turns in a minute\"\"\"
scalar Speed
"""

TERRAFORM = """terraform {
  required_version = ">= 1.5"
}

################################################################################
# Names
################################################################################

variable "mill_name" {
  description = "What it is called"
  default     = "Tide"
}

# Where all of it stands.
resource "aws_vpc" "this" {
  cidr_block = "10.0.0.0/16"
}

output "vpc_id" { value = aws_vpc.this.id }
"""


def split(code: str, language: str, size: int = 1024, overlap: int = 0) -> list[DocumentChunk]:
    return TextSplitter(size, overlap).split(Document(path="x", content=code, format=f"code:{language}"), "id")


def headings(code: str, language: str, size: int = 1024) -> list[str]:
    return [chunk.heading for chunk in split(code, language, size)]


def test_every_grammar_is_installed() -> None:
    assert [name for name, grammar in GRAMMARS.items() if load_language(grammar.module, grammar.function) is None] == []


def test_python() -> None:
    assert [(chunk.heading, chunk.content.splitlines()[0]) for chunk in split(PYTHON, "python")] == [
        ("", '"""Module."""'),
        ("def first", "# What follows is explained here."),
        ("class Shape", "class Shape:"),
        ("", 'if __name__ == "__main__":'),
    ]


def test_a_class_that_does_not_fit_is_cut_into_its_methods() -> None:
    chunks = split(PYTHON, "python", 48)
    assert [(chunk.heading, chunk.content.strip().splitlines()[0].strip()) for chunk in chunks][2:] == [
        ("class Shape", "class Shape:"),
        ("class Shape > def area", "def area(self) -> float:"),
        ("class Shape > def name", "@property"),
        ("", 'if __name__ == "__main__":'),
    ]


@pytest.mark.parametrize(
    ("code", "language", "expected"),
    [
        (JAVASCRIPT, "javascript", ["", "function add", "const twice", "class Point"]),
        (TYPESCRIPT, "typescript", ["interface Named", "type Id", "class Base", "namespace Inner > enum Kind"]),
        (JAVA, "java", ["", "class Stack"]),
        (GO, "go", ["", "type Point", "func (p *Point) Move", "func main"]),
        (RUST, "rust", ["", "struct Point", "impl fmt::Display for Point", "mod inner > fn helper"]),
        (C, "c", ["", "typedef point_t", "struct node", "function find"]),
        (
            "typedef struct w w_t;\nstruct w;\n\nint turn(w_t *w) { return 1; }\n",
            "c",
            ["", "function turn"],
        ),
        (CPP, "cpp", ["", "namespace geo > class Box", "namespace geo > function Box::area"]),
        (CSHARP, "csharp", ["", "namespace Geo > class Box", "namespace Geo > interface IShape"]),
        (RUBY, "ruby", ["", "module Geo > class Box"]),
        (PHP, "php", ["", "interface Shape", "class Box", "function helper"]),
        (BASH, "bash", ["", "function greet", "function part", ""]),
        (KOTLIN, "kotlin", ["", "class Box", "fun helper", ""]),
        (SQL, "sql", ["table users", "view recent", "insert into users"]),
        (SQL_DUMP, "sql", ["", "table orders", "table orders", "copy public.orders (id, customer_id)", ""]),
        (GRAPHQL, "graphql", ["type Wheel", "input TurnInput", "scalar Speed"]),
        (TERRAFORM, "terraform", ["terraform", "variable mill_name", "resource aws_vpc this", "output vpc_id"]),
        (SWIFT, "swift", ["", "struct HTTPHeaders", "extension HTTPHeaders", "actor Counter"]),
        (KOTLIN_WORDS, "kotlin", ["class Color", "interface Turner", "fun turns a wheel"]),
        (SQL_NAMES, "sql", ["table dbo.Orders", "table shop.items", "table Order Items"]),
        (PYTHON_BLOCKS, "python", ["", "def shared", "", "def shared", "", "def cache", "", "class Batch"]),
        (GO_GROUP, "go", ["", "type Wheel", "type Turner", "type Speed"]),
        (
            CPP_MACROS,
            "cpp",
            [
                "",
                "namespace spdlog > class logger",
                "namespace spdlog > class name_formatter",
                "namespace spdlog > function logger::level",
                "namespace spdlog > function logger::operator=",
            ],
        ),
        (
            JAVASCRIPT_VALUES,
            "javascript",
            ["", "function app.use", "function View.prototype.lookup", "class Timer", "function default"],
        ),
    ],
)
def test_definitions_of(code: str, language: str, expected: list[str]) -> None:
    assert headings(code, language) == expected


@pytest.mark.parametrize(
    ("code", "language", "size", "expected"),
    [
        (JAVASCRIPT, "javascript", 40, "class Point > method move"),
        (TYPESCRIPT, "typescript", 20, "class Base > method title"),
        (JAVA, "java", 40, "class Stack > method pop"),
        (RUST, "rust", 40, "impl fmt::Display for Point > fn fmt"),
        (CPP, "cpp", 20, "namespace geo > class Box > function size"),
        (CSHARP, "csharp", 20, "namespace Geo > class Box > method Size"),
        (RUBY, "ruby", 24, "module Geo > class Box > def make"),
        (PHP, "php", 20, "class Box > method size"),
        (JAVASCRIPT_VALUES, "javascript", 20, "class Timer > method tick"),
        (RUBY_SINGLETON, "ruby", 20, "class Mill > def build"),
        (SWIFT, "swift", 50, "struct HTTPHeaders > func remove"),
        (SWIFT, "swift", 50, "struct HTTPHeaders > enum Order"),
        (SWIFT, "swift", 50, "struct HTTPHeaders > func make"),
    ],
)
def test_methods_of_a_class_that_does_not_fit(code: str, language: str, size: int, expected: str) -> None:
    assert expected in headings(code, language, size)


def test_a_comment_of_several_lines_goes_with_what_stands_below_it() -> None:
    chunks = {chunk.heading: chunk.content for chunk in split(KOTLIN_WORDS, "kotlin")}
    assert chunks["interface Turner"].startswith("/**\n * Turns a wheel.")


def test_what_opens_a_block_goes_with_the_definition_that_it_opens() -> None:
    chunks = {chunk.heading: chunk.content for chunk in split(PYTHON_BLOCKS, "python")}
    assert chunks["def cache"].startswith("except ImportError:\n    # As it was before 3.9.\n    def cache")
    assert chunks["class Batch"].startswith("# By version.\nif sys.version_info")
    assert "LIMIT" not in chunks["def shared"]
    wheel = next(chunk for chunk in split(GO_GROUP, "go") if chunk.heading == "type Wheel")
    assert wheel.content.startswith("// Names of parts.\ntype (\n\t// Wheel turns.\n\tWheel struct")


@pytest.mark.parametrize(
    ("code", "language", "first", "second"),
    [
        ("class Mill {\n  stop() {}\n}\n;\n\n|function grind() {}\n", "javascript", "class Mill", "function grind"),
        # The end of an extern "C", say.
        ("int stop(void) { return 0; }\n}\n\n|int grind(void) { return 1; }\n", "c", "function stop", "function grind"),
        ("def stop\nend\nend\n\n|def grind\nend\n", "ruby", "def stop", "def grind"),
    ],
)
def test_a_bracket_too_many_goes_with_what_stands_above_it(code: str, language: str, first: str, second: str) -> None:
    chunks = split(code.replace("|", ""), language)
    assert [(chunk.heading, chunk.content) for chunk in chunks] == list(
        zip((first, second), code.split("|"), strict=True)
    )


def test_statements_behind_definitions_are_one_part_though_a_condition_ends_between_them() -> None:
    code = "#ifdef TIDES\nint stop(void) {\n  return 0;\n}\nint wheels = 1;\n#endif\nint gates = 2;\n"
    assert [(chunk.heading, chunk.content) for chunk in split(code, "c")][-1] == (
        "",
        "int wheels = 1;\n#endif\nint gates = 2;\n",
    )


MODULE = """  "use strict";
  // Grinds.
  function grind(hours) { return hours * 2; }
  Mill.prototype.stop = function () { return grind(0); };
  return Mill;
"""


@pytest.mark.parametrize(
    ("opening", "end"),
    [
        (";(function () {", "})();"),
        ("(() => {", "})();"),
        ("define(['wheel'], function (wheel) {", "});"),
        ("var Mill = (function () {", "}());"),
        ("module.exports = (function () {", "}).call(this);"),
        ("(function (root, factory) { root.Mill = factory(root); }(this, function (root) {", "}));"),
    ],
)
def test_a_function_around_a_module_of_javascript_is_looked_into(opening: str, end: str) -> None:
    code = f"{opening}\n{MODULE}{end}\n"
    inside = ["function grind", "function Mill.prototype.stop"]
    assert [heading for heading in headings(code, "javascript", 40) if heading] == inside
    assert split(code, "javascript", 40)[0].content.startswith(opening)
    assert headings(code, "javascript") == [""], "it fits into one chunk"


@pytest.mark.parametrize(
    ("name", "language"),
    [("Python", "python"), ("js", "javascript"), ("C++", "cpp"), ("c#", "csharp"), ("sh", "bash"), ("cobol", "cobol")],
)
def test_languages_have_many_names(name: str, language: str) -> None:
    assert language_of(name) == language


def test_code_that_does_not_parse_is_split_all_the_same() -> None:
    broken = "def f(:\n  return ((((\n" * 50 + PYTHON + "class }}} {{{ \x00\n" * 50
    chunks = split(broken, "python", 64)
    assert "".join(chunk.content for chunk in chunks) == broken


def test_characters_beyond_ascii_do_not_shift_the_places() -> None:
    code = "# Grüße, 漢字 👩‍👩‍👧\nname = 'ü'\n\n\ndef größe():\n    return '漢字'\n\n\ndef ende():\n    return 1\n"
    assert [(chunk.heading, chunk.content.split("\n")[0]) for chunk in split(code, "python")] == [
        ("", "# Grüße, 漢字 👩‍👩‍👧"),
        ("def größe", "def größe():"),
        ("def ende", "def ende():"),
    ]


def test_a_comment_on_the_line_above_belongs_to_a_definition_and_one_further_up_does_not() -> None:
    code = "x = 1  # about x\ndef f():\n    pass\n\n# apart\n\n# about g\ndef g():\n    pass\n"
    assert [(chunk.heading, chunk.content) for chunk in split(code, "python")] == [
        ("", "x = 1  # about x\n"),
        ("def f", "def f():\n    pass\n\n# apart\n\n"),
        ("def g", "# about g\ndef g():\n    pass\n"),
    ]


def test_a_long_function_is_cut_between_lines() -> None:
    code = "def long():\n" + "".join(f"    value_{number} = compute({number})\n" for number in range(200))
    chunks = split(code, "python", 128, 20)
    assert {chunk.heading for chunk in chunks} == {"def long"}
    assert all(chunk.content.endswith("\n") and chunk.content.startswith(("def", "    value_")) for chunk in chunks)


def test_deep_nesting_ends() -> None:
    code = "".join(f"{'  ' * depth}class C{depth}:\n" for depth in range(80)) + "  " * 80 + "pass\n"
    chunks = split(code, "python", 64)
    assert "".join(chunk.content for chunk in chunks) == code
    assert max(chunk.heading.count(" > ") for chunk in chunks) <= 16


def test_a_language_without_a_grammar_is_cut_at_blank_lines() -> None:
    code = "\n\n".join("\n".join(f"do thing {block} {line}" for line in range(5)) for block in range(30))
    chunks = split(code, "unknown", 128)
    assert all(chunk.content.endswith("4\n\n") for chunk in chunks[:-1])
    assert len(chunks) > 4


WORKFLOW = """name: Checks
on: [push]
jobs:
  # What every change must pass.
  lint:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - name: Find what nobody would write by hand
      run: |
        key: this is a text and no key of the file, however much it looks like one of those
        ruff check --select ALL --output-format concise src tests benchmarks examples scripts
    - name: "Look at the types"
      env:
        {% if strict %}MYPY_FLAGS: --strict --warn-unreachable --enable-error-code ignore-without-code{% endif %}
      run: mypy src tests benchmarks examples scripts --show-error-context --pretty --no-error-summary
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 5
"""


def test_the_larger_keys_of_yaml_are_headings() -> None:
    document = Document(path="checks.yml", content=WORKFLOW, format="code:yaml")
    chunks = TextSplitter(chunk_size=100, chunk_overlap=0).split(document)
    assert "".join(chunk.content for chunk in chunks) == WORKFLOW
    assert [(chunk.heading, chunk.content.split("\n")[0]) for chunk in chunks] == [
        ("", "name: Checks"),
        ("jobs > lint", "jobs:"),
        ("jobs > lint > steps", "    steps:"),
        (
            "jobs > lint > steps > Find what nobody would write by hand",
            "    - name: Find what nobody would write by hand",
        ),
        ("jobs > lint > steps > Look at the types", '    - name: "Look at the types"'),
        ("jobs", "  test:"),
    ]
    (whole,) = TextSplitter(chunk_size=1000, chunk_overlap=0).split(document)
    assert (whole.heading, whole.content) == ("", WORKFLOW)


def test_rows_that_are_inserted_say_of_which_table_and_columns_they_are() -> None:
    rows = "".join(
        f"INSERT INTO `shop`.`items` (id, name) VALUES ({number}, 'Wheel {number}');\n" for number in range(60)
    )
    more = "INSERT INTO mills VALUES\n" + "".join(f"({number}, 'Mill {number}'),\n" for number in range(60)) + ";\n"
    chunks = split(rows + more, "sql", 128)
    assert len(chunks) > 10
    assert {(chunk.heading, "Wheel" in chunk.content) for chunk in chunks} == {
        ("insert into shop.items (id, name)", True),
        ("insert into mills", False),
    }


def test_rows_that_are_inserted_in_one_line_stay_whole() -> None:
    """As mysqldump writes them: passages began and ended within a row."""
    towns = ("Ulm", "O\\'Hara ),(", "Bonn''s", "Köln (Deutz)")
    rows = [f"({number},'Mill {number}','{towns[number % 4]}',NULL,'It grinds since {number}')" for number in range(99)]
    chunks = split(f"INSERT INTO `mills` VALUES {','.join(rows)};\nUNLOCK TABLES;\n", "sql", 128)
    assert len(chunks) > 10
    assert {chunk.heading for chunk in chunks} == {"insert into mills"}
    told = "".join(chunk.content for chunk in chunks).removeprefix("INSERT INTO `mills` VALUES ")
    assert told == f"{','.join(rows)};\nUNLOCK TABLES;\n", "nothing is told twice"
    assert all(chunk.content.startswith("(") for chunk in chunks[1:])
    assert all(chunk.content.endswith("'),") for chunk in chunks[:-1])


def test_a_description_goes_with_what_it_describes_in_graphql() -> None:
    assert [chunk.content.split("\n")[1] for chunk in split(GRAPHQL, "graphql")[:2]] == [
        "What turns in a mill.",
        "Autogenerated input type of Turn",
    ]


def test_calls_of_a_service_that_does_not_fit_are_parts_of_it() -> None:
    calls = "".join(
        f"  // Turns wheel {number}.\n  rpc Turn{number}(TurnRequest) returns (TurnResponse) {{\n    option x = 1;\n"
        "  }\n"
        for number in range(4)
    )
    names = headings(f"service Mill {{\n{calls}}}\n", "proto", 64)
    assert names == ["service Mill > rpc Turn0", *(f"service Mill > rpc Turn{number}" for number in (1, 2, 3))]


def test_blocks_within_a_block_of_terraform_that_does_not_fit_are_parts_of_it() -> None:
    rules = "".join(
        f'  dynamic "rule{number}" {{\n    content {{\n      port = {number}\n    }}\n  }}\n' for number in range(3)
    )
    assert headings(f'resource "aws_wall" "mill" {{\n{rules}}}\n', "terraform", 48) == [
        f"resource aws_wall mill > dynamic rule{number}" for number in range(3)
    ]


SETTINGS = """# What all of it needs.
name = "mill"

############ Mail ############
[mail]
; Who sends it.
from = "mill@example.org"
host = "localhost"
port = 25
greeting = "Good morning from the mill, where the wheels turn and the flour is as white as snow"
farewell = "May your bread rise, and come again when the moon is full and the tide is high"

[[wheels]]
name = "north"

[[wheels]]
name = "south"

[tool."water gate".limits]  # of what flows
steps = [
  "a little every minute until the sensor at the second bridge says that this is enough",
  "nothing at night, whatever the sensor at the second bridge says, as the neighbours sleep",
]
"""


@pytest.mark.parametrize("language", ["toml", "ini"])
def test_the_larger_sections_of_settings_are_headings(language: str) -> None:
    chunks = split(SETTINGS, language, 110)
    assert "".join(chunk.content for chunk in chunks) == SETTINGS
    assert [(chunk.heading, chunk.content.split("\n")[0]) for chunk in chunks] == [
        ("", "# What all of it needs."),
        ("mail", "############ Mail ############"),
        ("", "[[wheels]]"),
        ('tool."water gate".limits', '[tool."water gate".limits]  # of what flows'),
    ]
    assert headings(SETTINGS, language) == [""]


MANIFESTS = """# A shop.
---
apiVersion: v1
kind: Service
metadata:
  labels:
    name: other
  name: "shop-front"
spec:
  type: NodePort
---
apiVersion: apps/v1
kind: Deployment # of pods
metadata:
  name: shop-{{ .Values.color }}
spec:
  replicas: 3
  template:
    metadata:
      labels: {app: shop, tier: frontend, owner: the people who sell flour, since: "2021"}
    spec:
      containers:
      - name: front
        image: registry.example.org/shop/front:2.1
        resources: {requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: 200m, memory: 200Mi}}
---
name: what is of no kind
"""


def test_objects_of_kubernetes_are_called_by_kind_and_name() -> None:
    chunks = split(MANIFESTS, "yaml", 110)
    assert "".join(chunk.content for chunk in chunks) == MANIFESTS
    assert [(chunk.heading, chunk.content.split("\n")[0]) for chunk in chunks] == [
        ("", "# A shop."),
        ("Service shop-front", "---"),
        ("Deployment > spec", "---"),
        ("Deployment > spec > template", "  template:"),
        ("Deployment > spec > template", "        image: registry.example.org/shop/front:2.1"),
        ("", "---"),
    ]


def test_a_short_file_is_called_by_the_object_that_it_describes() -> None:
    assert headings("kind: Service\nmetadata:\n  name: shop\nspec:\n  port: 80\n", "yaml", 128) == ["Service shop"]
    assert headings("kind: Pod\nmetadata:\n  name: a\n---\nkind: Pod\nmetadata:\n  name: b\n", "yaml", 128) == [""]


def test_a_document_of_yaml_is_not_called_by_the_last_key_of_the_one_before() -> None:
    lines = "".join(f"  wheel{number}: what turns {number} times before noon\n" for number in range(12))
    assert headings(f"name: north\nwheels:\n{lines}---\nname: south\n", "yaml", 128)[-1] == ""


def test_passages_do_not_begin_within_a_line_of_markup_or_of_an_outline() -> None:
    told = "What turns in the mill, and what it grinds; the flour of the north wheel is finer. Ask before noon."
    feeds = "".join(f'<outline text="Wheel {number}" description="{told}"/>\n' for number in range(40))
    assert all(chunk.content.startswith("<outline ") for chunk in split(feeds, "xml", 256, 32))
    outline = "# wheels\n\n" + "\n".join(f"wheel{number}.description: {told}" for number in range(40))
    chunks = TextSplitter(256, 32).split(Document(path="x", content=outline, format="markdown:lines"), "id")
    assert len(chunks) > 4
    assert {chunk.heading for chunk in chunks} == {"wheels"}
    assert all(chunk.content.startswith("wheel") for chunk in chunks[1:])


def test_comments_that_nobody_closes_are_no_work() -> None:
    code = "/* open\n" * 50_000
    assert "".join(chunk.content for chunk in split(code, "sql")) == code
