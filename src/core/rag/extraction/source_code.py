"""Source code: where its comments are, and what it says besides its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.rag.extraction.records import without_field_names
from libs.dataloader.formats.program_logs import is_log
from libs.dataloader.formats.registry import named_format
from libs.regexes import regex

#: What opens and closes a comment, and is no part of a path or pattern in quotes: ``'/api/*'``, ``"src/**/*.ts"``.
_OPENS = r"(?<![^\s(){}\[\],;=<>])/\*(?!['\"`])"
_CLOSES = r"(?<!/)\*/(?![\w*.'\"`])"
#: Docstrings, comments between marks, and comments that have lines of their own.
_COMMENT = regex(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)"
    rf"|{_OPENS}.*?(?:\*/|\Z)"
    r"|(?m:^)(?P<margin>[ \t]*)(?P<mark>//[/!]*|#+:?|--+|;+|%+)(?:[ \t][^\n]*|(?=\n|\Z))"
    r"(?:\n(?P=margin)(?P=mark)(?:[ \t][^\n]*|(?=\n|\Z)))*",
    re.DOTALL,
)
#: The end of a docstring or comment that began before the passage.
_BEGUN = regex(
    rf'\A(?P<words>(?:(?!"""|\'\'\'|{_OPENS}).)*?)(?:(?:^|(?<=\n))[ \t]*(?:"""|\'\'\')[ \t]*(?:\n|\Z)|{_CLOSES})',
    re.DOTALL,
)
#: Lines within a comment between marks that neither begins nor ends in the passage.
_WITHIN = regex(r"\A(?![^\n]*/\*)[^\n]*(?:\n[ \t]*\*(?:[ \t][^\n]*|(?=\n|\Z)))+")
#: Lines of code by how they begin, and by what is in them; and four words that stand next to each other.
_STATEMENT = regex(
    r"from \S+ import\b|import \S+(?: as \S+)?\Z"
    r"|(?:return|raise|yield|assert|del|await|global|pass|break|continue|package|use)\b(?: \S+){0,2}\Z"
    r"|(?:if|elif|else|for|while|try|except|with|def|class|async|switch|case|func|fn|type)\b.*[:{(]\Z"
)
_CODE = regex(r"[^=!<>]=[^=]|[{};]\Z|\w\([^()]{0,200}\)\Z")
_WORDED = regex(r"(?<![\w'’-])(?:[A-Za-z][\w'’-]*[,:.]?[ \t]+){3}[A-Za-z]")
#: What is no word of a comment.
_MARKS = regex(
    r"(?m:^)[ \t]*(?://[/!]*|#+(?::|[ \t]+--)?|\*+(?!/)|--+|;+|%+)(?=[ \t]|$)"
    rf"|\"\"\"|'''|{_OPENS}\**!?|\**{_CLOSES}",
    re.MULTILINE,
)
#: What a docstring begins and ends with.
DOCSTRING = ('"""', "'''")
#: Data, and languages whose words are not told from their markup here.
_NO_PROGRAMS = frozenset(
    ("xml", "yaml", "toml", "ini", "diff", "css", "sql", "cypher", "graphql", "proto", "terraform", "vue", "svelte")
)
#: Those that consist of settings: names with values.
_CONFIGURATIONS = frozenset(("yaml", "toml", "ini", "terraform", "dockerfile", "make"))
#: A name of several words, as only code writes them: ``pondLevel``, ``pond_level``, ``TidalMill``; or what is called
#: or defined: ``grind(``.
_IDENTIFIER = regex(r"(?<!\w)(?:[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z]+[A-Z][a-z]\w*|[A-Za-z][A-Za-z0-9]*_\w+|[a-z]\w*\(\)?)")
#: What the comment at the top of a file says of its use, which every file of a project repeats.
_LICENCE = regex(
    r"licen[sc]ed under|permission is hereby granted|SPDX-License-Identifier|redistribution and use in source"
    r"|all rights reserved|without warrant|under the licen[sc]e|terms of the .{0,60}licen[sc]e",
    re.IGNORECASE | re.DOTALL,
)
_PARAGRAPH = regex(r"\n[ \t]*\n")


def is_code(path: str, metadata: Mapping[str, Any] | None = None) -> bool:
    """Return whether a document is source code, by the ending of its name, and a passage of it, if its metadata is
    given: those of lists are none, as dumps of databases and descriptions of interfaces are read."""
    return bool(_language(path)) and "list" not in (metadata or {})


def is_program(path: str) -> bool:
    """Return whether a document is source code, and neither data nor markup, by the ending of its name."""
    return _language(path) not in _NO_PROGRAMS | {""}


def documenting(path: str) -> tuple[str, ...]:
    """Return what comments begin with that document what stands below them; other comments may tell of anything."""
    match _language(path):
        case "graphql":
            return ('"""',)
        case "proto":
            return ("//", "/*")
        case language if language in _CONFIGURATIONS:
            return ("#", ";", "//", "/*")
    return ("/**", "///")


def configuration_language(path: str) -> str:
    """Return the language of a document of settings, names with values or with others below them; else ""."""
    language = _language(path)
    return language if language in _CONFIGURATIONS else ""


def _language(path: str) -> str:
    kind = named_format(path.rpartition("/")[2])
    return kind.language if kind is not None and kind.reader == "code" else ""


def told(content: str, path: str, metadata: Mapping[str, Any]) -> str:
    """Return what a chunk says: of a program its comments, without licences, and the names of several words in it.

    The words of statements are no names: ``String``, ``Override`` and ``List`` would be the most frequent of all. Of
    records, the names of fields are left out. The lines of a log say nothing of that kind: ``INFO``, ``GET`` and
    ``Mozilla`` would be what most chunks mention.

    Args:
        content: The text of the chunk.
        path: The path of its document.
        metadata: Its own metadata.
    """
    if not is_program(path):
        if "row" not in metadata:
            return content
        return "" if is_log(metadata.get("table_header") or content) else without_field_names(content)
    parts: list[str] = []
    done = 0
    for start, end in comments(content):
        parts += _IDENTIFIER.findall(content, done, start)
        parts.append(without_licence(without_marks(content[start:end])))
        done = end
    parts += _IDENTIFIER.findall(content, done)
    return "\n\n".join(parts)


def without_licence(comment: str) -> str:
    """Return a comment without its paragraphs from the first one of a licence on, and what claims the copyright."""
    if _LICENCE.search(comment) is None:
        return comment
    kept: list[str] = []
    for paragraph in _PARAGRAPH.split(comment):
        if _LICENCE.search(paragraph) is not None:
            break
        if "copyright" not in paragraph.lower():
            kept.append(paragraph)
    return "\n\n".join(kept)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the comments and docstrings of source code are, in order; one may have begun before the text."""
    start = 0
    begun = _BEGUN.match(text)
    if begun is not None and (text[begun.end() - 1] == "/" or _ends_docstring(text, begun["words"])):
        yield 0, (start := begun.end())
    elif (within := _WITHIN.match(text)) is not None:
        yield 0, (start := within.end())
    elif _is_prose(text):
        yield 0, (start := len(text))
    for comment in _COMMENT.finditer(text, start):
        yield comment.span()


def _ends_docstring(text: str, words: str) -> bool:
    """Return whether the first quotes, in a line of their own behind ``words``, end a docstring and do not open one."""
    quotes = max(text.count(mark) for mark in DOCSTRING)
    return quotes % 2 == 1 and not words.rstrip().endswith((":", "{", ")"))


def _is_prose(text: str) -> bool:
    """Return whether a text is words only: of a docstring that neither begins nor ends in the passage."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    # Of most code, the first lines are statements.
    if not lines or any(map(_is_statement, lines)) or _COMMENT.search(text) is not None:
        return False
    return sum(_WORDED.search(line) is not None for line in lines) > len(lines) / 2


def _is_statement(line: str) -> bool:
    return ("`" not in line and _CODE.search(line) is not None) or _STATEMENT.match(line) is not None


def without_marks(text: str) -> str:
    """Return words of a comment with blanks instead of its marks, at the same places."""
    return _MARKS.sub(lambda mark: " " * len(mark[0]), text)
