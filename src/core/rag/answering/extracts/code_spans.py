"""Where the readable pieces of source code are: what comments and docstrings say, and statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from core.rag.extraction.source_code import DOCSTRING, comments, without_marks
from core.rag.indexing.splitting.sentences import sentence_spans
from libs.regexes import regex

#: What a comment says of one parameter has a line of its own.
_FIELD = regex(r"\n(?=[ \t]*(?:@\w+|:?\*{0,2}\w[\w ,*|.\[\]]{0,60}:)[ \t])")
#: The head of a list of parameters or errors, or of an example, says nothing by itself.
_LABEL = regex(r"\s*(?:(?:\w+ ){0,2}\w+:|@\w+)\s*")
#: A sentence in a docstring that began before the passage and ends behind it.
_PROSE = regex(r"(?:[^\s=(){};<>]+\s+){3,}[^\s=(){};<>]+[.!?]")
#: The head of a definition, as many languages have it.
_DEFINITION = regex(
    r"^[ \t]*(?:(?:export|default|pub(?:\([^)\n]*\))?|public|private|protected|internal|static|final|abstract|async)"
    r"[ \t]+)*"
    r"((?:def|class|function|fn|func|fun|interface|struct|trait|enum|impl|module)[ \t]+\w+)",
    re.MULTILINE,
)
#: An example among the words of a comment, without its marks.
_EXAMPLE = regex(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
#: What may stand between a comment and the definition that it is on: "#[derive(Debug)]", "@Override", "[Serializable]".
_ATTRIBUTES = regex(r"\s*(?:(?:#!?\[[^\n]*\]|@[\w.]+(?:\([^\n]*\))?|\[[A-Z]\w*(?:\([^\n]*\))?\])[ \t]*\n[ \t]*)*")
#: The beginning of a declaration, up to brackets that do not close in its line.
_HEAD = regex(r"[\w$\"'](?:[^\n(]|\([^\n()]{0,100}\)){1,119}")
#: A statement goes on while brackets are open, but for so many lines only: a quotation may hold one bracket.
_MOST_LINES = 8
_LINE = regex(r"^(?P<margin>[ \t]*)(?P<text>(?P<item>-[ \t]+)?\S(?:[^\n]*\S)?)", re.MULTILINE)
#: What a comment tells of a setting by its name, as the charts of Bitnami do.
_TOLD = regex(r"@param[ \t]+(?:\S*\.)?(?P<name>[\w-]+)")
_CLOSING = regex(r"[ \t]*\n(?P<margin>[ \t]*)[\])}]+[,;]?(?=[ \t]*(?:\n|\Z))")


class Span(NamedTuple):
    """A piece of source code.

    Attributes:
        start: Where it begins.
        end: Where it ends (exclusive).
        said: Whether it is words of a comment; else it is a statement, or a line of one.
    """

    start: int
    end: int
    said: bool


def code_spans(text: str, *, nested: bool = False) -> list[Span]:
    """Return the sentences of the comments in source code, and its statements, in order.

    Args:
        text: The code.
        nested: Whether it is data that is nested by how it is indented (YAML): what is in few lines below a name or an
            item of a list is a statement with it.
    """
    spans: list[Span] = []
    done = 0
    statements = _nested if nested else _statements
    for start, end in comments(text):
        spans += statements(text, done, start)
        spans += _sentences(text, start, end)
        done = end
    return [*spans, *statements(text, done, len(text))]


def defined_above(text: str, place: int) -> str:
    """Return the head of the last definition before a place, such as ``def grind``; an empty text if there is none."""
    said = list(comments(text))
    heads = [
        head[1]
        for head in _DEFINITION.finditer(text, 0, place)
        if not any(start <= head.start(1) < end for start, end in said)
    ]
    return " ".join(heads[-1].split()) if heads else ""


def comment_on(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the first sentence is of the comment right above a statement, or of the docstring below it.

    Args:
        text: Source code.
        start: Where the statement begins.
        end: Where it ends.

    Returns:
        Start and end (exclusive); ``None`` if it has none.
    """
    for first, last in comments(text):
        above = text[last:start] if last <= start and not _is_further_in(text, first, start) else "other code"
        below = text[end:first] if end <= first and text.startswith(DOCSTRING, first) else "other code"
        if (_ATTRIBUTES.fullmatch(above) is not None and "\n\n" not in above) or not below.strip():
            return next(((said.start, said.end) for said in _sentences(text, first, last)), None)
    return None


def declared_below(text: str, place: int, marks: tuple[str, ...]) -> str:
    """Return the beginning of the declaration that a comment documents.

    Args:
        text: Source code.
        place: Where something is in it.
        marks: With what comments begin that document what is below them.

    Returns:
        ``name: String!`` for a place in the line above it; an empty text if there is none, or no such comment.
    """
    begin = documented(text, place, marks)
    found = _HEAD.match(text, begin) if begin is not None else None
    return found[0].rstrip(" ([{,;=:") if found is not None else ""


def documented(text: str, place: int, marks: tuple[str, ...]) -> int | None:
    """Return where the declaration begins that a comment at a place documents; ``None`` as above."""
    for first, last in comments(text):
        if first <= place < last:
            if (told := _TOLD.match(text, place)) is not None:
                named = re.compile(rf"^[ \t]*({re.escape(told['name'])})[ \t]*:(?=\s)", re.MULTILINE).search(text, last)
                return named.start(1) if named is not None else None
            between = _ATTRIBUTES.match(text, last)
            if between is None or "\n" not in between[0] or "\n\n" in between[0]:
                return None
            begin = between.end()
            is_on = text[first:last].lstrip().startswith(marks) and not _is_further_in(text, first, begin)
            return begin if is_on else None
    return None


def _is_further_in(text: str, comment: int, place: int) -> bool:
    """Return whether a comment stands further in than the line of a place below it: it is on what is above it."""
    margins = [_LINE.match(text, text.rfind("\n", 0, one) + 1) for one in (comment, place)]
    first, second = (len(line["margin"]) if line is not None else 0 for line in margins)
    return first > second


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of a comment, and the statements of the examples in it."""
    plain = without_marks(text[start:end])
    done = 0
    for example in _EXAMPLE.finditer(plain):
        yield from _moved(_words(plain, done, example.start()), start)
        yield from _moved(_statements(plain, *example.span("code")), start)
        done = example.end()
    yield from _moved(_words(plain, done, len(plain)), start)


def _moved(spans: Iterable[Span], by: int) -> Iterator[Span]:
    return (Span(span.start + by, span.end + by, span.said) for span in spans)


def _words(plain: str, start: int, end: int) -> Iterator[Span]:
    for first, last in sentence_spans(plain[start:end]):
        first, last = first + start, last + start
        places = [first, *(field.end() for field in _FIELD.finditer(plain, first, last)), last]
        for begin, stop in pairwise(places):
            piece = plain[begin:stop]
            if any(character.isalnum() for character in piece) and not _LABEL.fullmatch(piece):
                margin = len(piece) - len(piece.lstrip())
                yield Span(begin + margin, begin + len(piece.rstrip()), said=True)


def _statements(text: str, start: int, end: int) -> Iterator[Span]:
    place, opened, lines = start, 0, 0
    begin = None
    for line in text[start:end].splitlines(keepends=True):
        if begin is None and line.strip():
            begin, opened, lines = place + len(line) - len(line.lstrip()), 0, 0
        place += len(line)
        opened += sum(line.count(bracket) for bracket in "([") - sum(line.count(bracket) for bracket in ")]")
        lines += 1
        if begin is not None and (opened <= 0 or lines >= _MOST_LINES or place >= end):
            stop = begin + len(text[begin:place].rstrip())
            if any(character.isalpha() for character in text[begin:stop]):
                yield Span(begin, stop, said=_PROSE.fullmatch(text, begin, stop) is not None)
            begin = None


def nested_end(text: str, start: int, most: int) -> int:
    """Return where the lines end that stand below the line at a place, by how they are indented, and up to how many."""
    lines = [match for match, _ in zip(_LINE.finditer(text, start), range(most + 1), strict=False)]
    return _closed(text, lines[0], lines[min(_below(lines, 0, most), most) - 1], len(text)) if lines else start


def _nested(text: str, start: int, end: int) -> Iterator[Span]:
    lines = [match for match in _LINE.finditer(text, start, end) if any(map(str.isalnum, match[0]))]
    number = 0
    while number < len(lines):
        last = _below(lines, number, _MOST_LINES)
        last = last if last - number <= _MOST_LINES else number + 1
        yield Span(lines[number].start("text"), _closed(text, lines[number], lines[last - 1], end), said=False)
        number = last


def _closed(text: str, first: re.Match[str], last: re.Match[str], end: int) -> int:
    """Return where lines end, with the one behind them that closes what the first one opens."""
    closing = _CLOSING.match(text, last.end("text"), end) if first is not last else None
    return closing.end() if closing is not None and closing["margin"] == first["margin"] else last.end("text")


def _below(lines: Sequence[re.Match[str]], number: int, most: int) -> int:
    """Return the number of the first line that is not below another one; one more than there may be if that is far."""
    line, last = lines[number], number + 1
    while last < len(lines) and last - number <= most:
        deeper = len(lines[last]["margin"]) - len(line["margin"])
        if deeper < 0 or (deeper == 0 and (line["item"] or not lines[last]["item"])):
            break
        last += 1
    return last
