"""Matches paths against patterns in the syntax of ``.gitignore``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

from libs.regexes import regex

_FOLDER = "ps_d"  # the group of the slash of a folder in the expressions of pathspec
_NAMED_GROUP = regex(r"\(\?P<[^>]+>")
_ALL_FOLDERS = frozenset(("*/", "**/", "/**/", "**/*/", "/**/*/"))
_BRACES = regex(r"(?<!\\)\{([^{}]*,[^{}]*)\}")
# Names of classes of characters, which pathspec does not know; they are such inside brackets only.
_ESCAPED_OR_BRACKETS = regex(r"\\.|\[[!^]?\]?(?:\[:[a-z]{1,9}:\]|[^\]]){0,60}\]")
_CLASS = regex(r"\[:([a-z]{1,9}):\]")
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "cntrl": "\x01-\x1f\x7f",
    "digit": "0-9",
    "graph": '"-~!',  # what is first would negate
    "lower": "a-z",
    "print": " -~",
    "punct": ":-@[-`{-~!-.",  # a slash would end a part of the path
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_MAX_BYTES = 1_000_000
_MAX_EXPANSIONS = 1000


class Patterns:
    """Patterns as in a ``.gitignore`` file; the last one that matches decides.

    Args:
        lines: The patterns; one that is invalid is left out, as git does.
        prefix: Folder that they are relative to, as seen from the paths that will be asked for; with ``up`` the other
            way round: the path from their folder down to where the asked paths begin.
        up: See ``prefix``.
    """

    def __init__(self, lines: Iterable[str], prefix: str = "", *, up: bool = False) -> None:
        from pathspec import GitIgnoreSpec

        kept: list[str] = []
        for line in map(_inside, map(_with_ranges, lines)):
            try:
                GitIgnoreSpec.from_lines([line])
            except (ValueError, re.error):
                continue
            kept.append(line)
        self._spec = GitIgnoreSpec.from_lines(kept)
        self._prefix = f"{prefix}/" if prefix else ""
        self._up = up
        sources = [
            _NAMED_GROUP.sub("(?:", cast(_HasRegex, pattern).regex.pattern)
            for pattern in self._spec.patterns
            if pattern.include is not None
        ]
        # One look tells for nearly every path that none of the patterns means it.
        self._any = re.compile("|".join(f"(?:{source})" for source in sources)) if sources else None

    def __bool__(self) -> bool:
        return self._any is not None

    def match(self, path: str) -> bool | None:
        """Return what the patterns say of a path.

        Args:
            path: With ``/`` between its parts, and at its end if it is a folder.

        Returns:
            True where it is meant, false where it is exempted by ``!``, ``None`` if no pattern matches.
        """
        own = self._own(path)
        return None if own is None else self._spec.check_file(own).include

    def verdict(self, path: str) -> bool | None:
        """Return what the patterns say of a path itself, as :meth:`match` does, whatever they say of folders above it.

        These are asked before: where they are ignored, nobody asks for what is in them.
        """
        own = self._own(path)
        if own is None:
            return None
        for pattern in reversed(list(self._spec.patterns)):
            found = None if pattern.include is None else cast(_HasRegex, pattern).regex.match(own)
            if found is not None and (found.groupdict().get(_FOLDER) is None or found.end(_FOLDER) == len(own)):
                return pattern.include
        return None

    def _own(self, path: str) -> str | None:
        """Return a path from the folder of the patterns; ``None`` if none of these means it."""
        if self._any is None:
            return None
        own = self._prefix + path if self._up else path[len(self._prefix) :]
        return None if self._any.match(own) is None else own


def _with_ranges(line: str) -> str:
    """Return a pattern with ranges of characters for the names of classes: ``[[:digit:]]`` is ``[0-9]``."""
    if "[:" not in line:
        return line
    return _ESCAPED_OR_BRACKETS.sub(
        lambda part: (
            part[0]
            if part[0].startswith("\\")
            else f"[{_CLASS.sub(lambda named: _CLASSES.get(named[1], named[0]), part[0][1:])}"
        ),
        line,
    )


def _inside(line: str) -> str:
    """Return a pattern of which pathspec makes what git does.

    ``a/**`` is what is in the folder, not the folder, in which ``!a/keep.md`` would do nothing then; and ``*/`` is a
    folder, not anything in one.
    """
    pattern = line.rstrip()
    sign = "!" if pattern.startswith("!") else ""
    if pattern.removeprefix(sign) in _ALL_FOLDERS:
        return f"{sign}?*/"
    if pattern.endswith("/**"):
        return f"{pattern}/*"
    return f"{pattern}*/" if pattern.endswith("/**/") else line


class _HasRegex(Protocol):
    regex: re.Pattern[str]


def expand_braces(patterns: Iterable[str]) -> list[str]:
    """Expand braces as a shell does: ``*.{md,txt}`` to ``*.md`` and ``*.txt``."""
    done: list[str] = []
    waiting = list(patterns)[::-1]
    while waiting and len(done) < _MAX_EXPANSIONS:
        pattern = waiting.pop()
        if (match := _BRACES.search(pattern)) is None or len(waiting) > _MAX_EXPANSIONS:
            done.append(pattern)
        else:
            waiting += [pattern[: match.start()] + part + pattern[match.end() :] for part in match[1].split(",")][::-1]
    return done


def read_patterns(path: Path, prefix: str, *, up: bool = False) -> Patterns | None:
    """Return the patterns of a file; ``None`` if there are none or it cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return None
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape")  # git, too, passes over the mark
    except OSError:
        return None
    # A name may have any other character that ends a line elsewhere.
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    patterns = Patterns(lines, prefix, up=up)
    return patterns or None


def patterns_of(folder: Path, prefix: str) -> tuple[tuple[Patterns, ...], bool]:
    """Return the patterns that are kept in a folder, and whether it is a git repository: there, none of above count."""
    is_repository = os.path.exists(folder / ".git")  # false where nothing may be asked
    places = [folder / ".git" / "info" / "exclude"] if is_repository else []
    found = (read_patterns(place, prefix) for place in (*places, folder / ".gitignore"))
    return tuple(patterns for patterns in found if patterns is not None), is_repository


def is_ignored(chain: Sequence[Patterns], path: str) -> bool:
    """Return whether a path is ignored; files further down have the last word."""
    for patterns in reversed(chain):
        if (verdict := patterns.verdict(path)) is not None:
            return verdict
    return False


def patterns_above(root: Path) -> tuple[Patterns, ...]:
    """Return the patterns of the git repository around a folder that are kept above it.

    Where they ignore the folder itself there are none: it was asked for by name.
    """
    folders = [root, *root.parents]
    top = next((folder for folder in folders if (folder / ".git").exists()), None)
    if top is None:
        return ()
    found: list[Patterns] = []
    if (patterns := read_patterns(top / ".git" / "info" / "exclude", _below(top, root), up=True)) is not None:
        found.append(patterns)
    for folder in reversed(root.parents):
        if folder.is_relative_to(top):
            patterns = read_patterns(folder / ".gitignore", _below(folder, root), up=True)
            if patterns is not None:
                found.append(patterns)
    # match, not verdict: nobody has asked for the folders above
    is_left_out = next((said for patterns in reversed(found) if (said := patterns.match("")) is not None), False)
    return () if is_left_out else tuple(found)


def _below(folder: Path, root: Path) -> str:
    path = root.relative_to(folder).as_posix()
    return "" if path == "." else path
