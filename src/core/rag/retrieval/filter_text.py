"""Parses and writes the text form of a filter. The grammar is in ``filters.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NoReturn

from core.rag.errors import FilterError
from core.rag.retrieval.filter_tree import (
    ALIASES,
    DATE_FIELDS,
    MAX_DEPTH,
    MAX_INTEGER,
    MAX_TESTS,
    MAX_VALUE_CHARACTERS,
    MAX_VALUES,
    METADATA,
    NOTHING,
    TEXT_FIELDS,
    All,
    Node,
    Not,
    Operator,
    Scalar,
    Test,
    all_of,
    allowed_operators,
    any_of,
    as_number,
    composed,
    field_name,
    natural,
    negation,
)
from core.rag.times import span_of
from libs.regexes import regex

MAX_CHARACTERS: Final = 20_000

_SPACE: Final = regex(r"\s*")
_WORD: Final = regex(r"[^\s\"'()<>=!:^*,]+")
_SYMBOL: Final = regex(r"\^=|\*=|!=|<=|>=|==?|<|>|:")
_BARE: Final = regex(r"[^\s\"'(),]+")
_QUOTED: Final = regex(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE: Final = regex(r"\\(.)", re.DOTALL)
_SYMBOLS: Final[dict[str, Operator]] = {
    "=": "=",
    "==": "=",  # as programs and models write it
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "^=": "prefix",
    "*=": "contains",
}
_WORDS: Final[dict[str, Scalar]] = {"true": True, "false": False, "null": None}
_FIELDS: Final = ", ".join([*TEXT_FIELDS, *DATE_FIELDS, *ALIASES, "metadata.KEY"])


def parse_text(text: str, *, of_records: bool = False) -> Node:
    """Parse the text form.

    Args:
        text: The filter.
        of_records: Whether fields are those of records, which may have any name, instead of those of documents.

    Raises:
        FilterError: if it does not parse; the message names the position and what is allowed there.
    """
    if len(text) > MAX_CHARACTERS:
        raise FilterError(f"A filter can have at most {MAX_CHARACTERS:,} characters; this one has {len(text):,}.")
    return _Parser(text, of_records).parse()


def check_test(field: str, operator: Operator, values: Iterable[Scalar]) -> Node:
    """Return a test; without values it never holds.

    Raises:
        FilterError: if the operator or a value does not suit the field; the message says what is allowed.
    """
    kept = tuple(map(composed, values))
    shown = field[:100]
    allowed = allowed_operators(field)
    if operator not in allowed:
        raise FilterError(f"{shown} cannot be compared with {operator!r}, only with {', '.join(map(repr, allowed))}")
    if len(kept) > MAX_VALUES:
        raise FilterError(f"{shown} has {len(kept):,} values, but at most {MAX_VALUES:,} are allowed")
    if operator in {"<", "<=", ">", ">="} and len(kept) != 1:
        raise FilterError(f"{shown} {operator} takes one value, not {len(kept)}")
    for value in kept:
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise FilterError(f"A number for {shown} is larger than {MAX_INTEGER}")
        if isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS:
            raise FilterError(f"A value of {shown} has more than {MAX_VALUE_CHARACTERS:,} characters")
        if value is None and operator != "=":
            raise FilterError(f"null can be compared with '=' and '!=' only, not with {operator!r}")
        if field in DATE_FIELDS and value is not None and span_of(str(value)) is None:
            raise FilterError(
                f"{str(value)[:100]!r} is not a date: write 2026, 2026-01, 2026-01-31 or 2026-01-31T12:00:00Z"
            )
    if not field.startswith(METADATA):
        kept = tuple(None if value is None else str(value) for value in kept)
    if field == "mime_type":
        kept = tuple(value.lower() if isinstance(value, str) else value for value in kept)
    return Test(field, operator, kept) if kept else NOTHING


def natural_test(field: str, values: Iterable[Scalar]) -> Node:
    """Return the test that ``field:value`` or ``field:(value, value)`` means for this field and these values."""
    kept = list(values)
    if field in {"path", "uri"}:
        for value in kept:
            if isinstance(value, str) and "*" in value[:-1]:  # it would find nothing, and not say why
                begin, _, end = value[:100].partition("*")
                raise FilterError(
                    f"{field}:{value[:100]} is no pattern: ':' means begins with. Write {field}:{begin or '…'}"
                    f" {field}*={end or '…'} (contains), or {field}^= for a path with * in it"
                )
    pairs = [natural(field, value) for value in kept]
    operators = list(dict.fromkeys(operator for operator, _ in pairs)) or ["="]
    return any_of(
        check_test(field, operator, [value for name, value in pairs if name == operator]) for operator in operators
    )


class _Parser:
    """Recursive descent over one text."""

    def __init__(self, text: str, of_records: bool) -> None:
        self._text = text
        self._of_records = of_records
        self._at = 0
        self._tests = 0

    def parse(self) -> Node:
        self._skip()
        if self._at == len(self._text):
            return All(())
        node = self._either(0)
        if self._at < len(self._text):
            self._fail("expected 'and', 'or', another test or the end")
        return node

    def _either(self, depth: int) -> Node:
        nodes = [self._all(depth)]
        while self._keyword("or"):
            nodes.append(self._all(depth))
        return any_of(nodes) if len(nodes) > 1 else nodes[0]

    def _all(self, depth: int) -> Node:
        nodes = [self._unary(depth)]
        while self._at < len(self._text) and self._text[self._at] != ")" and self._peek() != "or":
            self._keyword("and")
            nodes.append(self._unary(depth))
        return all_of(nodes) if len(nodes) > 1 else nodes[0]

    def _unary(self, depth: int) -> Node:
        if depth > 2 * MAX_DEPTH:  # "not" and its parentheses are one level
            self._fail(f"nested more than {MAX_DEPTH} deep")
        if self._keyword("not"):
            return negation(self._unary(depth + 1))
        if self._text.startswith("(", self._at):
            self._move(self._at + 1)
            node = self._either(depth + 1)
            self._expect(")")
            return node
        return self._test()

    def _test(self) -> Node:
        start = self._at
        field = self._field()
        symbol = _SYMBOL.match(self._text, self._at)
        if symbol is None:
            self._fail("expected one of : = != < <= > >= ^= (begins with) *= (contains)")
        self._move(symbol.end())
        values = self._values(typed=field.startswith(METADATA) and symbol[0] not in {"^=", "*="})
        self._tests += 1
        if self._tests > MAX_TESTS:
            self._fail(f"more than {MAX_TESTS} tests")
        try:
            if symbol[0] == ":":
                return natural_test(field, values)
            if symbol[0] == "!=":
                return negation(check_test(field, "=", values))
            return check_test(field, _SYMBOLS[symbol[0]], values)
        except FilterError as error:
            self._at = start
            self._fail(str(error))

    def _field(self) -> str:
        start = self._at
        match = _WORD.match(self._text, self._at)
        name = match[0] if match else ""
        self._at = match.end() if match else self._at
        before = "" if self._of_records else METADATA
        if name.lower() == before and (quoted := _QUOTED.match(self._text, self._at)):
            self._at = quoted.end()
            name += _unquote(quoted)
        field = field_name(name, of_records=self._of_records)
        if field is None:
            self._at = start
            fields = "one with spaces in quotes" if self._of_records else _FIELDS
            self._fail(
                f"expected a field ({fields}), 'not' or '('"
                if not name
                else f"{name[:100]!r} is not a field; fields are {_FIELDS}"
            )
        self._move(self._at)
        return field

    def _values(self, *, typed: bool) -> list[Scalar]:
        if not self._text.startswith("(", self._at):
            return [self._value(typed=typed)]
        self._move(self._at + 1)
        values: list[Scalar] = []
        while not self._text.startswith(")", self._at):
            if values:
                self._expect(",")
            if len(values) >= MAX_VALUES:
                self._fail(f"more than {MAX_VALUES:,} values")
            values.append(self._value(typed=typed))
        self._move(self._at + 1)
        return values

    def _value(self, *, typed: bool) -> Scalar:
        if quoted := _QUOTED.match(self._text, self._at):
            self._move(quoted.end())
            return _unquote(quoted)
        bare = _BARE.match(self._text, self._at)
        if bare is None:
            self._fail('expected a value; put one with spaces, commas, quotes or parentheses in "quotes"')
        self._move(bare.end())
        word = bare[0]
        if word == "null" or (typed and word in _WORDS):
            return _WORDS[word]
        if typed and as_number(word) is not None:
            return int(word) if word.removeprefix("-").isdigit() else float(word)
        return word

    def _peek(self) -> str:
        match = _WORD.match(self._text, self._at)
        return match[0].lower() if match else ""

    def _keyword(self, word: str) -> bool:
        if self._peek() != word:
            return False
        self._move(self._at + len(word))
        return True

    def _expect(self, character: str) -> None:
        if not self._text.startswith(character, self._at):
            self._fail(f"expected {character!r}")
        self._move(self._at + 1)

    def _move(self, to: int) -> None:
        self._at = to
        self._skip()

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _fail(self, message: str) -> NoReturn:
        before = self._text[max(0, self._at - 30) : self._at]
        after = self._text[self._at : self._at + 30]
        raise FilterError(f"Filter, character {self._at + 1}: {message}. Here: {before}»{after}")


def _unquote(match: re.Match[str]) -> str:
    return _ESCAPE.sub(r"\1", match[1] if match[1] is not None else match[2])


def write_text(node: Node) -> str:
    """Return the text form of a tree; parsing it gives the same tree."""
    if isinstance(node, Test):
        return _write_test(node)
    if isinstance(node, Not):
        return f"not {_grouped(node.node)}"
    if not node.nodes:
        return "" if isinstance(node, All) else "path=()"
    return (" " if isinstance(node, All) else " or ").join(_grouped(part) for part in node.nodes)


def _grouped(node: Node) -> str:
    return write_text(node) if isinstance(node, Test | Not) else f"({write_text(node)})"


def _write_test(test: Test) -> str:
    field = test.field
    if field.startswith(METADATA) and not _WORD.fullmatch(field):
        field = METADATA + _quote(field.removeprefix(METADATA))
    symbol = next(symbol for symbol, operator in _SYMBOLS.items() if operator == test.operator)
    values = [_write_value(value) for value in test.values]
    return field + symbol + (values[0] if len(values) == 1 else f"({', '.join(values)})")


def _write_value(value: Scalar) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _quote(value) if isinstance(value, str) else repr(value)


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
