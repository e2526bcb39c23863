"""Finds the definitions in source code, and cuts the code before them.

Languages with a tree-sitter grammar are parsed. For others the definitions are guessed by line, only at the left margin
and at that of the members of large types.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from core.rag.headings import HEADING_SEPARATOR, heading_path
from core.rag.indexing.grammars import GRAMMARS, Grammar, language_of, load_language
from core.rag.indexing.sections import Section, merge_blank, shortened
from core.rag.indexing.tokens import TokenCounter

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree


# Definitions that contain little but definitions, which are searched even if they fit into a chunk.
_OPENED = frozenset({"namespace", "module", "mod"})
# Nodes around a definition and what belongs to it (decorators, `export`, template parameters).
_AROUND = frozenset({"decorated_definition", "export_statement", "template_declaration", "ambient_declaration"})
_BODIES = frozenset({"block", "declaration_list", "class_body", "statement_block", "body_statement", "enum_body",
                     "interface_body", "object_type", "field_declaration_list", "enum_body_declarations",
                     "annotation_type_body", "enum_declaration_list"})  # fmt: skip
_BEFORE = frozenset({"comment", "line_comment", "block_comment", "attribute_item", "decorator", "attribute_list"})
_PARSE_SECONDS = 1.0
_PARSE_SECONDS_PER_BYTE = 1e-6
_READ = 1 << 16  # bytes given to the parser at once
_DEEPEST = 16  # definitions within definitions
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
# JavaScript: the fields of the functions that are named, by node type.
VALUES = {"variable_declarator": "value", "field_definition": "value", "public_field_definition": "value",
          "assignment_expression": "right", "pair": "value"}  # fmt: skip
# The fields of names, if not "name".
_NAMES = {"impl_item": "type", "field_definition": "property", "assignment_expression": "left", "pair": "key",
          "type_definition": "declarator"}  # fmt: skip
_STATEMENTS = frozenset({"expression_statement", "lexical_declaration", "variable_declaration"})
_MODULES = frozenset({"function_expression", "arrow_function"})
_AROUND_MODULES = _STATEMENTS | {"call_expression", "member_expression", "arguments", "parenthesized_expression",
                                 "unary_expression", "assignment_expression", "variable_declarator",
                                 "sequence_expression"}  # fmt: skip
_DECLARED_NAMES = frozenset({"identifier", "field_identifier", "operator_name", "destructor_name"})


def code_sections(text: str, language: str, counter: TokenCounter, size: int) -> list[Section]:
    """Cut source code before each definition.

    A definition that fits into a chunk is one section; a larger one that contains definitions is cut into these.
    Comments and decorators directly above are included. What is between definitions is a section of its own.

    Args:
        text: The code, as something that can be encoded.
        language: Its language; without a grammar for it, definitions are guessed by line.
        counter: Counts tokens.
        size: Maximum number of tokens per chunk.
    """
    if not text:
        return []
    grammar = GRAMMARS.get(language_of(language))
    known = load_language(grammar.module, grammar.function) if grammar else None
    source = text.encode()
    tree = parse(source, known, grammar) if grammar is not None and known is not None else None
    if grammar is None or tree is None:
        marks = list(_guessed(text, counter, size, 0, len(text)))
    else:
        marks = list(_Definitions(text, source, grammar, counter, size).marks(tree))
    return _between_marks(text, marks)


def parse(source: bytes, language: Language, grammar: Grammar) -> Tree | None:
    """Return the syntax tree of source code; ``None`` if the parser takes too long.

    Recovering from errors can take quadratic time if a text is not in the language at all. Code that is takes less than
    a quarter of the time that is allowed.
    """
    from tree_sitter import Parser

    if grammar.macros is not None:
        source = grammar.macros.sub(_blanked, source)
    end = time.thread_time() + _PARSE_SECONDS + _PARSE_SECONDS_PER_BYTE * len(source)
    try:
        return Parser(language).parse(
            lambda offset, _: source[offset : offset + _READ],
            progress_callback=lambda _offset, _has_error: time.thread_time() > end,
        )
    except ValueError:  # stopped
        return None


def _blanked(macro: re.Match[bytes]) -> bytes:
    """Return the match with its groups replaced by blanks."""
    start, end = next(macro.span(group) for group in range(1, macro.re.groups + 1) if macro[group] is not None)
    start, end = start - macro.start(), end - macro.start()
    return macro[0][:start] + b" " * (end - start) + macro[0][end:]


#: From this position on, the text is under this heading.
Mark = tuple[int, str]


class _Definitions:
    """Finds the definitions in the syntax tree of one text."""

    def __init__(self, text: str, source: bytes, grammar: Grammar, counter: TokenCounter, size: int) -> None:
        self._text = text
        self._source = source
        self._grammar = grammar
        self._counter = counter
        self._size = size
        self._offsets = _Offsets(text, source)

    def marks(self, tree: Tree) -> Iterator[Mark]:
        """Yield the positions where headings begin to apply, ascending, with the headings."""
        yield from self._inside(tree.root_node, (), 0)

    def _inside(self, parent: Node, path: tuple[str, ...], depth: int, opened: int | None = None) -> Iterator[Mark]:
        """Yield the marks in a node; its first part begins where it was opened (``else:``), if that is passed."""
        waiting: Node | None = None  # the first of the comments and attributes directly above
        previous: Node | None = None
        row = -1  # the row on which the last node that is neither ended
        named = True  # whether the text here is already under the heading of `path`
        opening = opened  # the same for the first body in it
        for node in parent.children:
            if node.type in _BEFORE:
                if node.start_point[0] == row:
                    continue
                if waiting is None or (previous is not None and node.start_point[0] > previous.end_point[0] + 1):
                    waiting = node
                previous = node
                continue
            adjacent = previous is not None and node.start_point[0] <= previous.end_point[0] + 1
            begin = waiting if waiting is not None and adjacent else node
            waiting, previous, row = None, None, node.end_point[0]
            definition = self._definition(node)
            if definition is not None:
                label = self._label(definition)
                inner = (*path, label)
                start = self._line_start(begin) if opened is None else opened
                yield start, heading_path(inner)
                body = self._body(definition)
                if (
                    body is not None
                    and depth < _DEEPEST
                    and (
                        self._grammar.words.get(definition.type) in _OPENED
                        or not self._counter.fits(self._text[start : self._end(node)], self._size)
                    )
                ):
                    yield from self._inside(body, inner, depth + 1)
                named = False
            elif depth < _DEEPEST and (searched := self._searched(node)) is not None:
                start = self._line_start(begin)
                opens: int | None = start
                if node.type in _BODIES:
                    opens, opening = opening, None
                marks = list(self._inside(searched, path, depth + 1, opens))
                if not named and not (marks and marks[0][0] == start):
                    yield start, heading_path(path)
                    named = True
                yield from marks
                named = named and not marks
            elif not named and node.is_named:
                yield self._line_start(begin), heading_path(path)
                named = True
            if node.is_named:
                opened = None

    def _definition(self, node: Node) -> Node | None:
        """Return the definition that a node is or wraps."""
        if not node.is_named:
            return None  # Ruby: the word ``class``
        for _ in range(3):
            if node.type in self._grammar.words:
                if node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
                    return None  # C: a mention of a struct, not its definition
                if self._grammar.words[node.type] in _OPENED and self._body(node) is None:
                    return None  # PHP: `namespace x;`
                return node if node.type not in VALUES or is_function_value(node) else None
            if node.type == "type_declaration":  # Go
                return node.named_children[0] if node.named_children and not _is_grouped(node) else None
            if node.type == "type_definition":  # C: typedef struct {…} name;
                kind = node.child_by_field_name("type")
                return node if kind is not None and kind.child_by_field_name("body") is not None else None
            if node.type in {"lexical_declaration", "variable_declaration"}:
                return node if self._function_value(node) is not None else None
            if node.type not in _AROUND and node.type not in {"expression_statement", "declaration"}:
                return None
            inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
            if inner is None and is_default_export(node.child_by_field_name("value")):
                return node.child_by_field_name("value")
            if inner is None:
                inner = next((child for child in node.children if child.type in self._grammar.words), None)
            if inner is None:
                return None
            node = inner
        return None

    def _function_value(self, node: Node) -> Node | None:
        """Return the declarator of ``const name = () => …`` in JavaScript."""
        return next((child for child in node.named_children if is_function_value(child)), None)

    def _searched(self, node: Node) -> Node | None:
        """Return the part that may contain definitions of a node that is none itself."""
        if node.type in self._grammar.wrappers or node.type in _BODIES:
            return node
        module = self._module(node) if node.type in _STATEMENTS else None
        if module is None or self._counter.fits(self._text[self._line_start(node) : self._end(node)], self._size):
            return None
        return module

    def _module(self, node: Node) -> Node | None:
        """Return the body of the function around a JavaScript module.

        This is the largest of the functions that a statement calls or passes to what it calls: ``(function () {…})()``,
        ``define([…], function () {…})``, ``module.exports = (() => {…})()``.
        """
        bodies: list[Node] = []
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            body = inner.child_by_field_name("body") if inner.type in _MODULES else None
            if body is not None and body.type in _BODIES:
                bodies.append(body)
            elif inner.type in _AROUND_MODULES:
                waiting += inner.named_children
        return max(bodies, key=lambda body: body.end_byte - body.start_byte, default=None)

    def _body(self, node: Node) -> Node | None:
        body = node.child_by_field_name("body")
        if body is not None:
            return body
        return next((child for child in node.children if child.type in _BODIES), None)

    def _label(self, node: Node) -> str:
        word = self._grammar.words.get(node.type, "")
        name = definition_name(node)
        if node.type == "impl_item":
            trait = node.child_by_field_name("trait")
            if name is not None and trait is not None:
                return shortened(f"impl {self._words(trait)} for {self._words(name)}")
        elif is_default_export(node):
            return f"{node.type if node.type == 'class' else 'function'} {self._words(name) if name else 'default'}"
        elif node.type in {"lexical_declaration", "variable_declaration"}:
            word = self._words(node.children[0])
            declarator = self._function_value(node)
            name = declarator.child_by_field_name("name") if declarator is not None else None
        elif node.type == "type_definition":
            word = "typedef"
        receiver = node.child_by_field_name("receiver")  # Go
        said = self._words(name) if name is not None else ""
        if receiver is not None:
            said = f"{self._words(receiver)} {said}"
        return shortened(f"{word} {said}".strip())

    def _words(self, node: Node) -> str:
        return self._source[node.start_byte : min(node.end_byte, node.start_byte + 1000)].decode(errors="ignore")

    def _end(self, node: Node) -> int:
        return self._offsets.character(node.end_byte)

    def _line_start(self, node: Node) -> int:
        """Return where the line of a node begins if the node is first on it, else where the node begins."""
        place = self._offsets.character(node.start_byte)
        line = self._text.rfind("\n", 0, place) + 1
        return line if not self._text[line:place].strip().strip(";") else place  # JavaScript: ;(function () {


class _Offsets:
    """Converts byte offsets to character offsets."""

    def __init__(self, text: str, source: bytes) -> None:
        self._source = source
        self._same = len(text) == len(source)
        self._bytes = [0]
        self._characters = [0]

    def character(self, byte: int) -> int:
        """Return the position of the character that begins at a byte; fast if successive calls are near each other."""
        if self._same:
            return byte
        index = bisect_right(self._bytes, byte) - 1
        place = self._characters[index] + len(self._source[self._bytes[index] : byte].decode(errors="ignore"))
        if byte > self._bytes[-1]:
            self._bytes.append(byte)
            self._characters.append(place)
        return place


def definition_name(node: Node) -> Node | None:
    """Return the name of what a node defines."""
    return node.child_by_field_name(_NAMES.get(node.type, "name")) or _declared_name(node)


def is_function_value(node: Node) -> bool:
    """Return whether a node of JavaScript names a function or class: ``grind = () => …``, ``mill.grind = …``."""
    value: Node | None = node
    for _ in range(4):  # app = exports = module.exports = …
        if value is None or value.type not in VALUES:
            break
        value = value.child_by_field_name(VALUES[value.type])
    return value is not None and value is not node and value.type in _FUNCTION_VALUES


def is_prototype(node: Node) -> bool:
    """Return whether a declaration in C or C++ declares a function.

    Pointers to functions, friends of a class and calls of a macro in capitals do not count.
    """
    name = _declared_name(node)
    if name is None or name.type not in _DECLARED_NAMES or (name.text or b"").isupper():
        return False
    around, outside = name.parent, node.parent
    is_friend = outside is not None and outside.type == "friend_declaration"
    return around is not None and around.type == "function_declarator" and not is_friend


def is_default_export(node: Node | None) -> bool:
    """Return whether a node of JavaScript is the function or class, maybe nameless, of ``export default``."""
    if node is None or node.type not in _FUNCTION_VALUES:
        return False
    return node.parent is not None and node.parent.type == "export_statement"


def _is_grouped(node: Node) -> bool:
    """Return whether a node of Go is ``type (…)``."""
    return any(child.type == "(" for child in node.children)


def _declared_name(node: Node) -> Node | None:
    """Return the name within a declarator of C or C++."""
    declarator = node.child_by_field_name("declarator")
    for _ in range(8):
        if declarator is None or declarator.type in {"function_declarator", "parenthesized_declarator"}:
            break
        if declarator.type == "reference_declarator":  # its grammar names no field
            declarator = next(iter(declarator.named_children), None)
        else:
            declarator = declarator.child_by_field_name("declarator")
    return declarator.child_by_field_name("declarator") if declarator is not None else None


def _between_marks(text: str, marks: list[Mark]) -> list[Section]:
    sections: list[Section] = []
    start, heading = 0, ""
    for place, following in [*marks, (len(text), "")]:
        if place > start:
            if heading and following.startswith(heading + HEADING_SEPARATOR) and _is_one_line(text, start, place):
                pass  # `namespace x {` belongs to what it opens
            elif sections and _TRIFLE.fullmatch(text, start, place) is not None:
                sections[-1].end = start = place  # closing brackets belong to what they close
            elif sections and sections[-1].heading == heading == "":
                sections[-1].end = start = place
            else:
                sections.append(Section(start, place, heading, "code"))
                start = place
        heading = following
    return merge_blank(text, sections)


def _is_one_line(text: str, start: int, end: int) -> bool:
    return end - start < _LONGEST_LINE and len(_WITH_WORDS.findall(text[start:end])) <= 1


_LONGEST_LINE = 400
_WITH_WORDS = re.compile(r"^.*\w", re.MULTILINE)
_TRIFLE = re.compile(r"(?:\W|_|\bend\b)*")

_TYPE_WORDS = (
    "class|interface|trait|object|struct|enum|union|protocol|extension|module|namespace|record|actor|mixin|contract|"
    "library|service|defmodule|impl|implementation"
)
_OTHER_WORDS = (
    "def|defp|defmacro|fun|func|function|fn|sub|proc|procedure|type|typealias|newtype|macro|message|table|view|trigger"
)
_DEFINITION = re.compile(
    r"(?:(?:@?[a-z]\w*(?:\([^()\n]*\)|\[[^\[\]\n]*\])?)[ \t]+){0,5}?"
    rf"@?(?P<word>{_TYPE_WORDS}|{_OTHER_WORDS})[ \t]+"
    rf"(?!(?:{_TYPE_WORDS}|{_OTHER_WORDS})[ \t]+[^\W\d])"  # enum class Color, fun interface Turner, class func make
    r"(?:if[ \t]+not[ \t]+exists[ \t]+|<[^<>\n]*>[ \t]*)?"
    r"(?P<name>(?:\"[^\"\n]+\"|`[^`\n]+`|\[[^\[\]\n]+\]|[^\W\d][\w$\-]*)"
    r"(?:(?:\.|::?)(?:\"[^\"\n]+\"|`[^`\n]+`|\[[^\[\]\n]+\]|[^\W\d][\w$\-]*))*[?!]?)",
    re.IGNORECASE,
)
_TYPES = frozenset(_TYPE_WORDS.split("|"))
_INDENTED = re.compile(r"^([ \t]+)(?=[^\s*])", re.MULTILINE)
_QUOTES = str.maketrans("", "", '"`[]')
_COMMENT = re.compile(r"(?://|#|--|;|/\*|\*|%|@|\"\"\"|\(\*)")
_CLOSING = re.compile(r"(?:[\]})]|end\b|END\b|fi\b|done\b|esac\b)")


def _guessed(
    text: str, counter: TokenCounter, size: int, start: int, end: int, path: tuple[str, ...] = (), margin: str = ""
) -> Iterator[Mark]:
    """Guess definitions at a margin by the words that languages use for them, and those in large types."""
    comment = -1  # the start of the comment that ends on the line above
    inside = False
    last_end = start
    found: list[tuple[int, str, int]] = []  # where a heading begins to be true, it, and where the line of a type ends
    for match in re.compile(rf"^{margin}(?P<line>\S[^\n]*)$", re.MULTILINE).finditer(text, start, end):
        gap = text[last_end : match.start()]
        blank_before = gap.count("\n") > 1 and not gap.strip(" \t\r\n")
        if not _goes_on(gap):
            comment = -1
        last_end = match.end()
        line = match["line"][:300]
        definition = _DEFINITION.match(line)
        begin = comment if comment >= 0 and not blank_before else match.start()
        if definition is not None:
            word = definition["word"].lower()
            label = shortened(f"{word} {definition['name'].translate(_QUOTES)}")
            found.append((begin, label, match.end() if word in _TYPES else -1))
            inside, comment = True, -1
        elif _COMMENT.match(line) is not None or (comment >= 0 and line.startswith("*")):
            comment = begin if comment >= 0 else match.start()
        else:
            if inside and blank_before and _CLOSING.match(line) is None:
                found.append((begin, "", -1))
                inside = False
            comment = -1
    for (begin, label, head), (behind, _, _) in pairwise([*found, (end, "", -1)]):
        inner = (*path, label)
        yield begin, heading_path(inner)
        if head >= 0 and len(path) < _DEEPEST and not counter.fits(text[begin:behind], size):
            deeper = _indent(text[head:behind], margin)
            if deeper:
                yield from _guessed(text, counter, size, head, behind, inner, deeper)


def _goes_on(gap: str) -> bool:
    """Return whether a comment continues if only this is between its lines: ``*`` below ``/**``."""
    return all(line.lstrip()[:1] in {"", "*"} for line in gap.splitlines())


def _indent(body: str, margin: str) -> str:
    """Return how the members of a type are indented, judging by its first line; empty if it has none."""
    for match in _INDENTED.finditer(body):
        if match[1].startswith(margin) and len(match[1]) > len(margin):
            return match[1]
    return ""
