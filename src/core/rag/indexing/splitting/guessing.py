"""Guesses the definitions in source code without a grammar, line by line.

Only lines at the left margin are looked at, and in types that are too large for a chunk those at the margin of their
members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from core.rag.headings import heading_path
from core.rag.indexing.splitting.sections import MAX_NESTING, Mark, shortened
from core.rag.indexing.splitting.tokens import TokenCounter
from libs.regexes import regex

_TYPE_WORDS = (
    "class|interface|trait|object|struct|enum|union|protocol|extension|module|namespace|record|actor|mixin|contract|"
    "library|service|defmodule|impl|implementation"
)
_OTHER_WORDS = (
    "def|defp|defmacro|fun|func|function|fn|sub|proc|procedure|type|typealias|newtype|macro|message|table|view|trigger"
)
_DEFINITION = regex(
    r"(?:(?:@?[a-z]\w*(?:\([^()\n]*\)|\[[^\[\]\n]*\])?)[ \t]+){0,5}?"
    rf"@?(?P<word>{_TYPE_WORDS}|{_OTHER_WORDS})[ \t]+"
    rf"(?!(?:{_TYPE_WORDS}|{_OTHER_WORDS})[ \t]+[^\W\d])"  # enum class Color, fun interface Turner, class func make
    r"(?:(?:if[ \t]+(?:not[ \t]+)?exists|only)[ \t]+(?=[^\W\d]|[\"`\[])|<[^<>\n]*>[ \t]*)?"
    r"(?P<name>(?:\"[^\"\n]+\"|`[^`\n]+`|\[[^\[\]\n]+\]|[^\W\d][\w$\-]*)"
    r"(?:(?:\.|::?)(?:\"[^\"\n]+\"|`[^`\n]+`|\[[^\[\]\n]+\]|[^\W\d][\w$\-]*))*[?!]?)",
    re.IGNORECASE,
)
_TYPES = frozenset(_TYPE_WORDS.split("|"))
_TABLE = r"(?:\"[^\"\n]+\"|`[^`\n]+`|\[[^\[\]\n]+\]|[\w$]+)"
# What else begins something with a name in one language, and is no word for that in others.
_OF_LANGUAGE: Mapping[str, re.Pattern[str]] = {
    "graphql": regex(r"(?:extend[ \t]+)?(?P<word>input|scalar|directive)[ \t]+(?P<name>@?\w+)"),
    # The rows of a table, with the names of their columns.
    "sql": regex(
        rf"(?P<word>insert[ \t]+(?:ignore[ \t]+)?into|replace[ \t]+into|copy)[ \t]+"
        rf"(?P<name>{_TABLE}(?:\.{_TABLE})*(?:[ \t]*\([^()\n]+\))?)",
        re.IGNORECASE,
    ),
    "proto": regex(r"(?P<word>rpc)[ \t]+(?P<name>\w+)"),
    "terraform": regex(r"(?P<word>[a-z]\w*)(?P<name>(?:[ \t]+(?:\"[^\"\n]+\"|[a-z][\w-]*)){0,3})[ \t]*\{"),
}
_INDENTED = regex(r"^([ \t]+)(?=[^\s*])", re.MULTILINE)
_QUOTES = str.maketrans("", "", '"`[]')
_COMMENT = regex(r"(?://|#|--|;|/\*|\*|%|@|\"\"\"|\(\*)")
_FRAME = regex(r"\W+")  # a comment without words: the last line of a title in a box
# Comments whose lines need not begin with a sign. Texts in quotes are comments in GraphQL only.
_BLOCK_COMMENTS: Mapping[str, tuple[str, str]] = {"graphql": ('"""', '"""')}
_BLOCK_COMMENT = ("/*", "*/")
_INSERTS = frozenset(("insert", "replace", "copy"))
_CLOSING = regex(r"(?:[\]})]|end\b|END\b|fi\b|done\b|esac\b)")


def guessed_marks(
    text: str,
    language: str,
    counter: TokenCounter,
    size: int,
    start: int,
    end: int,
    path: tuple[str, ...] = (),
    margin: str = "",
) -> Iterator[Mark]:
    """Guess the definitions at a margin by the words that languages use for them, and those in large types there.

    Args:
        text: The code.
        language: Its language.
        counter: Counts tokens.
        size: Maximum number of tokens per chunk; the members of larger types are looked for.
        start: Where in the text to begin.
        end: Where to stop.
        path: The headings above.
        margin: The whitespace before the lines to look at.

    Returns:
        The positions where headings begin to apply, ascending, with the headings.
    """
    own = _OF_LANGUAGE.get(language)
    opening, closing = _BLOCK_COMMENTS.get(language, _BLOCK_COMMENT)
    comment = -1  # the start of the comment that ends on the line above
    framed = False  # whether that is a title in a box, which belongs to what follows also behind a blank line
    skipped = start  # where a block comment ends
    inside = False
    last_end = start
    found: list[tuple[int, str, int]] = []  # where a heading begins to be true, it, and where the line of a type ends
    for match in re.compile(rf"^{margin}(?P<line>\S[^\n]*)$", re.MULTILINE).finditer(text, start, end):
        if match.start() < skipped:
            continue
        gap = text[last_end : match.start()]
        blank_before = gap.count("\n") > 1 and not gap.strip(" \t\r\n")
        if not _goes_on(gap):
            comment = -1
        last_end = match.end()
        line = match["line"][:300]
        definition = (own.match(line) if own is not None else None) or _DEFINITION.match(line)
        belongs = comment >= 0 and (not blank_before or (framed and comment > start))
        begin = comment if belongs else match.start()
        if definition is not None:
            word = definition["word"].lower()
            label = shortened(f"{word} {definition['name'].translate(_QUOTES)}")
            if not (word.split()[0] in _INSERTS and found and found[-1][1] == label):
                found.append((begin, label, match.end() if word in _TYPES or language == "terraform" else -1))
            inside, comment = True, -1
        elif _COMMENT.match(line) is not None or (comment >= 0 and line.startswith("*")):
            comment = begin
            framed = _FRAME.fullmatch(line) is not None
            if line.startswith(opening) and closing not in line[len(opening) :]:
                stop = text.find(closing, match.end(), end)
                if stop < 0:
                    opening = "\n"  # none further down is closed either
                else:
                    skipped = last_end = stop + len(closing)
        else:
            if inside and blank_before and _CLOSING.match(line) is None:
                found.append((begin, "", -1))
                inside = False
            comment = -1
    for (begin, label, head), (behind, _, _) in pairwise([*found, (end, "", -1)]):
        inner = (*path, label)
        yield begin, heading_path(inner)
        if head >= 0 and len(path) < MAX_NESTING and not counter.fits(text[begin:behind], size):
            deeper = _indent(text[head:behind], margin)
            if deeper:
                yield from guessed_marks(text, language, counter, size, head, behind, inner, deeper)


def _goes_on(gap: str) -> bool:
    """Return whether a comment continues if only this is between its lines: ``*`` below ``/**``."""
    return all(line.lstrip()[:1] in {"", "*"} for line in gap.splitlines())


def _indent(body: str, margin: str) -> str:
    """Return how the members of a type are indented, judging by its first line; empty if it has none."""
    for match in _INDENTED.finditer(body):
        if match[1].startswith(margin) and len(match[1]) > len(margin):
            return match[1]
    return ""
