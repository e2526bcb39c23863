"""Resolves links between notes: ``[[Name]]``, as written in Obsidian, Logseq, Foam and wikis."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from libs.dataloader.formats.registry import FORMATS, MARKDOWN, WIKI
from libs.regexes import regex

_LINK = regex(r"\[\[(?P<name>[^\[\]|\n]{1,500}?)(?:\\?\|(?P<words>[^\[\]\n]{0,500}))?\]\]")
#: In Obsidian, what names a paragraph for links, at its end: ``^5f3a2b``.
BLOCK_NAME = regex(r"(?:^|[ \t])\^(?=[\d-]*[A-Za-z]|\d{6})[A-Za-z\d-]+[ \t]*$", re.MULTILINE)
# What is searched anyway, and what says how a note looks.
_NOT_SHOWN = frozenset("aliases tags description language publish permalink cssclass cssclasses".split())
_TAG = regex(r"(?<![^\s(])#([^\W\d_][\w/-]*)")
_SLASH = regex(r"___|%2f", re.IGNORECASE)  # how Logseq writes one in the name of a file
_SPACES = regex(r"[-_ ]+")
_NUMBER = regex(r"[\d, ]+")


def find_note_links(text: str) -> Iterator[tuple[str, str]]:
    """Links as ``(name of the note, words)``, in order; those to places of the same note are none.

    Args:
        text: Markdown, without what is code.
    """
    for match in _LINK.finditer(text):
        if name := _name(match):
            yield name, match["words"] or name


def without_brackets(text: str) -> str:
    """Return the text with the words of such links alone; ``x[[1]]`` is none."""
    return _LINK.sub(
        lambda match: match[0] if _NUMBER.fullmatch(match["name"]) else match["words"] or _name(match), text
    )


def note_comments(prose: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of comments of Obsidian: ``%% words %%``, also over several lines.

    Args:
        prose: Markdown with all code blanked out.
    """
    marks = re.finditer("%%", prose)
    yield from ((start.start(), end.end()) for start, end in zip(marks, marks, strict=False))


def properties_shown(metadata: Mapping[str, Any]) -> str:
    """Return the fields at the top of a note of Obsidian that only it has, as its readers see them: above the text."""
    lines: list[str] = []
    for name, value in metadata.items():
        values = value if isinstance(value, list) else [value]
        if name not in _NOT_SHOWN and not name.endswith("-plugin") and all(isinstance(one, str) for one in values):
            lines.append(f"- {name}: {', '.join(values)}\n")
    return "".join([*lines, "\n"]) if lines else ""


def with_tags(known: Any, prose: str) -> list[str]:
    """Return the tags of a note of Obsidian: those at its top, and those in its text (``#garden/roses``).

    Args:
        known: The field at the top: a list, or a text with commas or blanks between.
        prose: Markdown with all code blanked out.
    """
    listed = known if isinstance(known, list) else re.split(r"[,\s]+", known) if isinstance(known, str) else []
    tags = (tag.lstrip("#") if isinstance(tag, str) else tag for tag in (*listed, *_TAG.findall(prose)))
    return list(dict.fromkeys(tag for tag in tags if tag and isinstance(tag, str)))


def _name(match: re.Match[str]) -> str:
    return match["name"].partition("#")[0].strip()


class Notes:
    """The files of a folder that a link may mean, by their names.

    Args:
        root: ``file://`` URI of the folder.
        files: Gives their paths below it; asked once, when the first link is looked up.
    """

    def __init__(self, root: str, files: Callable[[], Iterable[str]]) -> None:
        self._root = root.rstrip("/")
        self._list = files

    def find(self, name: str, uri: str) -> str | None:
        """Return the file that a link means, as its URI: ``None`` if there is none.

        A link gives the name of a note in any folder, or the end of its path. Where several have it, the one with just
        this path is meant, else the one beside the note that links, else the one with the fewest folders above.

        Args:
            name: As written, without the place in the note.
            uri: Of the note in which it stands.
        """
        whole, endings = self._names
        folder = posixpath.dirname(uri.removeprefix(f"{self._root}/"))
        name = name.replace("\\", "/")
        beside = posixpath.normpath(posixpath.join(folder, name))
        name = beside if name.startswith(".") else name.strip("/")
        for written in (_folded, _loose):
            found = whole.get(written(name)) or whole.get(written(beside)) or endings.get(written(name))
            if found is not None:
                return f"{self._root}/{found}"
        return None

    @cached_property
    def _names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Files by all of their paths, and by the ends of these."""
        whole: dict[str, str] = {}
        endings: dict[str, str] = {}
        files = sorted(self._list(), key=lambda path: (path.count("/"), path))
        for written in (_folded, _loose):
            for path in files:
                stem, extension = posixpath.splitext(path)
                kind = FORMATS.get(extension.lower())
                if kind is None:
                    continue  # an image, say
                for name in (path, stem) if kind in (MARKDOWN, WIKI) else (path,):
                    ending = written(name)
                    whole.setdefault(ending, path)
                    while ending:
                        endings.setdefault(ending, path)
                        ending = ending.partition("/")[2]
        return whole, endings


def _folded(name: str) -> str:
    # Some file systems take names apart into letters and accents, which nobody types.
    return _SLASH.sub("/", unicodedata.normalize("NFC", name)).casefold()


def _loose(name: str) -> str:
    """Return a form of a name in which ``My-page.md`` and "My page", as wikis name the same file, are alike."""
    return _SPACES.sub(" ", _folded(name))
