"""Where the readable pieces of source code are: what comments and docstrings say, and statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from core.rag.indexing.splitting.sentences import sentence_spans
from libs.dataloader.formats.registry import FORMATS

#: Docstrings, comments between marks, and comments that have lines of their own.
_COMMENT = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)"
    r"|/\*.*?(?:\*/|\Z)"
    r"|(?m:^)[ \t]*(?P<mark>//[/!]*|#+|--+|;+|%+)(?:[ \t][^\n]*|(?=\n|\Z))"
    r"(?:\n[ \t]*(?P=mark)(?:[ \t][^\n]*|(?=\n|\Z)))*",
    re.DOTALL,
)
#: The end of a docstring or comment that began before the passage.
_BEGUN = re.compile(
    r'\A(?P<words>(?:(?!"""|\'\'\'|/\*).)*?)(?:(?:^|(?<=\n))[ \t]*(?:"""|\'\'\')[ \t]*(?:\n|\Z)|\*/)', re.DOTALL
)
#: What is no word of a comment.
_MARKS = re.compile(r"(?m:^)[ \t]*(?://[/!]*|#+|\*+(?!/)|--+|;+|%+)(?=[ \t]|$)|\"\"\"|'''|/\*+!?|\*+/", re.MULTILINE)
_QUOTES = ('"""', "'''")
#: What a comment says of one parameter has a line of its own.
_FIELD = re.compile(r"\n(?=[ \t]*(?:@\w+|:?\*{0,2}\w[\w ,*|.\[\]]{0,60}:)[ \t])")
#: The head of a list of parameters or errors says nothing by itself.
_LABEL = re.compile(r"\s*(?:\w+ ){0,2}\w+:\s*")
#: A sentence in a docstring that began before the passage and ends behind it.
_PROSE = re.compile(r"(?:[^\s=(){};<>]+\s+){3,}[^\s=(){};<>]+[.!?]")
#: The head of a definition, as many languages have it.
_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:export|default|pub(?:\([^)\n]*\))?|public|private|protected|internal|static|final|abstract|async)"
    r"[ \t]+)*"
    r"((?:def|class|function|fn|func|fun|interface|struct|trait|enum|impl|module)[ \t]+\w+)",
    re.MULTILINE,
)
#: A statement goes on while brackets are open, but for so many lines only: a quotation may hold one bracket.
_MOST_LINES = 8


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


def is_code(path: str) -> bool:
    """Return whether a document is source code, by the ending of its name."""
    name = path.rpartition("/")[2]
    kind = FORMATS.get(name[name.rfind(".") :].lower()) if "." in name else None
    return kind is not None and kind.reader == "code"


def code_spans(text: str) -> list[Span]:
    """Return the sentences of the comments in source code, and its statements, in order."""
    spans: list[Span] = []
    done = 0
    for start, end in _comments(text):
        spans += _statements(text, done, start)
        spans += _sentences(text, start, end)
        done = end
    return [*spans, *_statements(text, done, len(text))]


def defined_above(text: str, place: int) -> str:
    """Return the head of the last definition before a place, such as ``def grind``; an empty text if there is none."""
    heads = [head[1] for head in _DEFINITION.finditer(text, 0, place)]
    return " ".join(heads[-1].split()) if heads else ""


def without_marks(text: str) -> str:
    """Return words of a comment with blanks instead of its marks, at the same places."""
    return _MARKS.sub(lambda mark: " " * len(mark[0]), text)


def comment_on(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the first sentence is of the comment right above a statement, or of the docstring below it.

    Args:
        text: Source code.
        start: Where the statement begins.
        end: Where it ends.

    Returns:
        Start and end (exclusive); ``None`` if it has none.
    """
    for first, last in _comments(text):
        above = text[last:start] if last <= start else "other code"
        below = text[end:first] if end <= first and text.startswith(_QUOTES, first) else "other code"
        if (not above.strip() and "\n\n" not in above) or not below.strip():
            return next(((said.start, said.end) for said in _sentences(text, first, last)), None)
    return None


def _comments(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    begun = _BEGUN.match(text)
    if begun is not None and (text[begun.end() - 1] == "/" or _ends_docstring(text, begun["words"])):
        yield 0, begun.end()
        start = begun.end()
    for comment in _COMMENT.finditer(text, start):
        yield comment.span()


def _ends_docstring(text: str, words: str) -> bool:
    """Return whether the first quotes, in a line of their own behind ``words``, end a docstring and do not open one."""
    quotes = max(text.count(mark) for mark in _QUOTES)
    return quotes % 2 == 1 and not words.rstrip().endswith((":", "{", ")"))


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    plain = without_marks(text[start:end])
    for first, last in sentence_spans(plain):
        places = [first, *(field.end() for field in _FIELD.finditer(plain, first, last)), last]
        for begin, stop in pairwise(places):
            piece = plain[begin:stop]
            if any(character.isalnum() for character in piece) and not _LABEL.fullmatch(piece):
                margin = len(piece) - len(piece.lstrip())
                yield Span(start + begin + margin, start + begin + len(piece.rstrip()), said=True)


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
