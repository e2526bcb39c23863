"""Symbols of source code: what is defined, called and imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.indexing.symbols import code_facts
from tests.dbhandler.kit import Engine
from tests.extraction.graphs import knowledge

PYTHON = '''import os
from mill.race import sluice

class Mill(Base):
    """Grinds."""

    def grind(self, hours: int) -> float:
        return self.level() * hours

    def level(self):
        return sluice.open(os.getcwd())

def main():
    Mill().grind(3)
'''

CASES = {
    "python": (PYTHON, {"Mill": "class", "Mill.grind": "method", "Mill.level": "method", "main": "function"}),
    "javascript": (
        "import x from './x';\nclass Mill { grind() { this.level() } level() {} }\nconst main = () => new Mill();",
        {"Mill": "class", "Mill.grind": "method", "Mill.level": "method", "main": "function"},
    ),
    "java": (
        "import java.util.List;\nclass Mill { void grind() { level(); } void level() {} }",
        {"Mill": "class", "Mill.grind": "method", "Mill.level": "method"},
    ),
    "go": (
        'package m\nimport "fmt"\ntype Mill struct{}\nfunc grind() { level() }\nfunc level() { fmt.Println() }',
        {"Mill": "type", "grind": "function", "level": "function"},
    ),
    "rust": (
        "use std::io;\nstruct Mill;\nimpl Mill { fn grind(&self) { self.level() } fn level(&self) {} }",
        {"Mill": "struct", "Mill.grind": "method", "Mill.level": "method"},
    ),
    "c": (
        "#include <stdio.h>\nint level(void) { return 1; }\nint grind(void) { return level(); }",
        {"grind": "function", "level": "function"},
    ),
}


@pytest.mark.parametrize("language", CASES)
def test_what_is_defined_called_and_imported(language: str) -> None:
    code, expected = CASES[language]
    facts = code_facts(code, language)
    assert facts is not None
    assert {symbol.name: symbol.kind for symbol in facts.symbols} == expected
    grind = next(symbol for symbol in facts.symbols if symbol.name.endswith("grind"))
    assert any(facts.symbols[place].name.endswith("level") for place in grind.calls)
    assert facts.imports


NAMES = {
    "go types in a group": (
        "go",
        "package m\ntype (\n\tWheel struct{ Turns int }\n\tSpeed = int\n)\ntype Mill struct{}",
        ["type Wheel", "type Speed", "type Mill"],
    ),
    "python within conditions": (
        "python",
        "if TYPE_CHECKING:\n    class Mill: ...\nelse:\n    def grind(): pass",
        ["class Mill", "function grind"],
    ),
    "go methods of an interface": (
        "go",
        "package m\ntype Mill interface {\n\tGrind(hours int) error\n\tio.Reader\n\tStop()\n}",
        ["type Mill", "method Mill.Grind", "method Mill.Stop"],
    ),
    "rust signatures in a trait": (
        "rust",
        "trait Mill { fn grind(&self) -> f64; fn stop(&self) {} }",
        ["trait Mill", "method Mill.grind", "method Mill.stop"],
    ),
    "typescript signatures in an interface": (
        "typescript",
        "interface Mill { grind(h: number): void; level: number }\nfunction turn(mill: { stop(): void }) {}",
        ["interface Mill", "method Mill.grind", "function turn"],
    ),
    "functions that are values": (
        "javascript",
        "app.use = function use(fn) {};\nclass Timer { count = 0; tick = () => {} }\n"
        "const routes = { get() {}, post: async () => {}, size: 3 };\nlisten({ open() {} , close: () => 1 });\n"
        "export default () => {};",
        [
            "function app.use",
            "class Timer",
            "method Timer.tick",
            "method routes.get",
            "method routes.post",
            "method open",
            "function default",
        ],
    ),
    "classes with macros, and what is defined outside of them": (
        "cpp",
        "class SPDLOG_API logger final : public base { void log() {} };\n"
        "SPDLOG_INLINE level logger::level() const { return flush(); }\nvoid logger::flush() {}\n"
        "logger& logger::operator=(logger o) { return *this; }",
        ["class logger", "method logger.log", "method logger.level", "method logger.flush", "method logger.operator="],
    ),
    "C: what headers declare": (
        "c",
        "int (*hook)(int);\nextern char *name_of(const char *p);\nstruct level { int x; };\nint level(void);\n"
        'extern "C" { void stop(int); }\nPyAPI_FUNC(int) List_Append(int);\nvoid DECLARE(int);\n'
        "int main(void) { int inner(int); return level(); }\nint main(void);",
        [
            "prototype name_of",
            "struct level",
            "prototype level",
            "prototype stop",
            "prototype List_Append",
            "function main",
        ],
    ),
    "C++: methods that are declared in a class, and defined below it": (
        "cpp",
        "class Mill { void grind(int); virtual int level() = 0; int (*hook)(int); friend void swap(Mill&, Mill&); };\n"
        "void Mill::grind(int) { level(); }",
        ["class Mill", "method Mill.grind", "prototype Mill.level"],
    ),
    "a struct that only a typedef names": ("c", "typedef struct { int x; } point_t;", ["struct point_t"]),
}


@pytest.mark.parametrize("case", NAMES)
def test_what_definitions_are_called(case: str) -> None:
    language, code, expected = NAMES[case]
    facts = code_facts(code, language)
    assert facts is not None
    assert [f"{symbol.kind} {symbol.name}" for symbol in facts.symbols] == expected


@pytest.mark.parametrize(
    ("language", "code", "signature", "line"),
    [
        ("java", "class A {\n  @Override\n  @Nullable(when = 1)\n  public String toString() { return 1; }\n}",
         "public String toString() { return 1; }", 4),
        ("csharp", "class A {\n  [Obsolete(\"x\")]\n  public int Size() => 1;\n}", "public int Size() => 1;", 3),
        ("php", "<?php\nclass A {\n  #[Pure]\n  public function size() {}\n}", "public function size() {}", 4),
        ("go", "package m\n\ntype Mill struct {\n\tTurns int\n}", "type Mill struct", 3),
    ],
)  # fmt: skip
def test_a_signature_is_the_line_behind_annotations(language: str, code: str, signature: str, line: int) -> None:
    facts = code_facts(code, language)
    assert facts is not None
    assert (facts.symbols[-1].signature, facts.symbols[-1].line) == (signature, line)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("javascript", "const mill = require('./mill');\nfunction f(name) { require(name); }"),
        ("ruby", "require_relative './mill'\nrequired 'other'"),
    ],
)
def test_modules_that_a_call_imports(language: str, code: str) -> None:
    facts = code_facts(code, language)
    assert facts is not None
    assert facts.imports == ["./mill"]


CALLS = {
    "a method outside of its class calls another": (
        "cpp",
        "void logger::log() { flush(); }\nvoid logger::flush() {}",
        {("logger.log", "logger.flush")},
    ),
    "the setter of a property calls as the property": (
        "python",
        "class O:\n    @property\n    def v(self): return gx()\n    @v.setter\n    def v(self, z): gy()\n"
        "def gx(): pass\ndef gy(): pass\n",
        {("O.v", "gx"), ("O.v", "gy")},
    ),
    "a method of some object is not the function of the module": (
        "python",
        "import mod\ndef append(x): pass\ndef save(items):\n    items.append(1)\n    mod.append(2)\n    append(3)\n"
        "def other(items):\n    items.append(1)\n    def local(): pass\ndef third(): local()\n",
        {("save", "append")},
    ),
    "a bare name is not the method of a class where that is called by self": (
        "python",
        "class A:\n    def run(self): stop()\n    def stop(self): self.run()\n    def go(self): super().run()\n"
        "class B(A):\n    def two(self): super().run(); self.stop(); A.run(self)\n",
        {("A.stop", "A.run"), ("B.two", "A.run"), ("B.two", "A.stop")},
    ),
    "methods of Go belong to their receiver": (
        "go",
        "package m\ntype A struct{}\nfunc (a A) String() { fa(); a.Len() }\nfunc (b *B[T]) String() { fb(); b.Len() }\n"
        "func (a A) Len() {}\nfunc (b *B[T]) Len() {}\nfunc fa() {}\nfunc fb() { x.String() }\n",
        {("A.String", "fa"), ("A.String", "A.Len"), ("B.String", "fb"), ("B.String", "B.Len")},
    ),
    "overloads are one, and what may be of several classes is of none": (
        "java",
        "class M { void a(int x) { f(); } void a(String y) { g(); x.run(); x.only(); M.f(); new M(); } M() {}\n"
        "void f() {} void g() { this.f(); } }\nclass P { void run() {} void only() {} }\nclass Q { void run() {} }",
        {("M.a", "M.f"), ("M.a", "M.g"), ("M.a", "P.only"), ("M.a", "M"), ("M.g", "M.f")},
    ),
    "paths of Rust": (
        "rust",
        "struct A; impl A { fn new() { crate::help(); other::help(); } fn l(&self) { Self::new(); A::m(); x.help(); } "
        "fn m() {} }\nfn help() {}",
        {("A.new", "help"), ("A.l", "A.new"), ("A.l", "A.m")},
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_which_definition_a_call_means(case: str) -> None:
    language, code, expected = CALLS[case]
    facts = code_facts(code, language)
    assert facts is not None
    found = {(symbol.name, facts.symbols[place].name) for symbol in facts.symbols for place in symbol.calls}
    assert found == expected
    assert language != "go" or {s.name: s.kind for s in facts.symbols}["B.String"] == "method"


@given(st.text(max_size=200), st.sampled_from(sorted(CASES)))
def test_any_text_is_read_without_harm(text: str, language: str) -> None:
    clean = text.encode("utf-8", "ignore").decode()
    facts = code_facts(clean, language)
    if facts is not None:
        lines = clean.count("\n") + clean.count("\r") + 1
        assert all(1 <= symbol.line <= lines for symbol in facts.symbols)


def test_code_that_is_nested_deeply_ends() -> None:
    facts = code_facts("def f():\n" + "".join(f"{' ' * n}def g{n}():\n" for n in range(1, 400)), "python")
    assert facts is not None
    assert facts.symbols


async def test_symbols_come_and_go_with_their_file(engine: Engine, tmp_path: Path) -> None:
    async with engine.knowledge() as kb:
        file = tmp_path / "mill.py"
        file.write_text(PYTHON)
        await kb.ingest(tmp_path)
        found = await knowledge(kb.client)
        assert {row["name"]: row["line"] for row in found["symbols"]} == {
            "Mill": 4,
            "Mill.grind": 7,
            "Mill.level": 10,
            "main": 13,
        }
        assert {(row["a"], row["b"]) for row in found["calls"]} == {
            ("Mill.grind", "Mill.level"),
            ("main", "Mill.grind"),
            ("main", "Mill"),
        }
        assert {row["uri"] for row in found["imports"]} == {"module:os", "module:mill.race"}

        file.write_text("def other():\n    pass\n")
        await kb.ingest(tmp_path)
        found = await knowledge(kb.client)
        assert [row["name"] for row in found["symbols"]] == ["other"]
        assert found["imports"] == found["resources"] == found["calls"] == []

        await kb.client.create_symbol(str(file), "stated")
        file.write_text("def third():\n    pass\n")
        await kb.ingest(tmp_path)
        assert {row["name"] for row in (await knowledge(kb.client))["symbols"]} == {"third", "stated"}
        await kb.delete(str(file))
        assert not {"Symbol", "Resource"} & (await kb.client.counts())["nodes"].keys()


def test_a_call_means_the_method_that_does_it_and_else_the_one_that_is_declared() -> None:
    code = (
        "package m\ntype Mill interface {\n\tGrind()\n\tStop()\n}\ntype Wheel struct{}\n"
        "func (w *Wheel) Grind() {}\nfunc run(m Mill) { m.Grind(); m.Stop() }"
    )
    facts = code_facts(code, "go")
    assert facts is not None
    run = next(symbol for symbol in facts.symbols if symbol.name == "run")
    assert [facts.symbols[place].name for place in run.calls] == ["Wheel.Grind", "Mill.Stop"]
