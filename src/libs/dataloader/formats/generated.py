"""Tells files that programs made for programs, with nothing in them that somebody wrote to be read."""

from __future__ import annotations

import re

from libs.dataloader.formats.base import FileData, UnreadableError
from libs.dataloader.formats.registry import JSON, Format
from libs.regexes import regex

_MINIFIED = frozenset(("javascript", "css"))
_SMALL = 2000  # bytes; a short script in one line is a bookmark, or an example
_LONG = 300  # characters of an average line: lines are read
#: Where a page is that the index has words of; a file of settings for an index has none.
_PLACE = regex(rb'"(?:location|url|uri|href|path|permalink|u|l)"\s*:\s*"')
_VIEWS = regex(rb"^views:\s", re.MULTILINE)
#: Sphinx copies the sources of pages there, as "guide.rst.txt".
_SOURCE = regex(r"/_sources/.*\.(?:rst|md|ipynb|txt)$")
_SEARCH_INDEX = regex(r"(?:^|[-_.])search[-_]?index[-_.\w]*\.json$", re.IGNORECASE)
#: What package managers write: the versions of all packages, and their checksums.
_LOCKED = frozenset(
    (
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "deno.lock"),
        *("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pixi.lock", "Cargo.lock", "go.sum", "go.work.sum"),
        *("composer.lock", "packages.lock.json", "pubspec.lock", "mix.lock", "Podfile.lock", "Package.resolved"),
        *("flake.lock", "gradle.lockfile", "MODULE.bazel.lock"),
    )
)
#: How a copy of a graph begins (core.rag.dbhandler.transfer): with its texts, it would be all that is there once more.
_EXPORT = b'{"format":"memgraph-rag export"'
_CHECKSUM = regex(rb"(?:sha\d{1,3}|\bh1|checksum|integrity|hash(?:es)?\b)[\"']?\s*[-:=]", re.IGNORECASE)


def check_written(file: FileData, kind: Format) -> None:
    """Refuse what is beside built pages (minified scripts, source maps, indexes, sources), lock files and exports.

    Args:
        file: The file.
        kind: Its format.

    Raises:
        UnreadableError: if it is one of these, naming it.
    """
    name, data = file.name, file.data
    if kind.language in _MINIFIED and len(data) > max(_SMALL, _LONG * (data.count(b"\n") + 1)):
        raise UnreadableError(f"it is minified code or data ({kind.language})")
    if name.rpartition("/")[2] in _LOCKED and _CHECKSUM.search(data):
        raise UnreadableError("it is a lock file, the versions and checksums of packages")
    if kind == JSON:
        if name.endswith(".map") and b'"mappings"' in data:
            raise UnreadableError("it is a source map")
        if _SEARCH_INDEX.search(name) and _PLACE.search(data):
            raise UnreadableError("it is the search index of web pages, and only repeats them")
    if data.startswith(_EXPORT):
        raise UnreadableError("it is a copy of a graph (mgrag import loads it)")
    if name.endswith(".base") and _VIEWS.search(data) is not None:
        raise UnreadableError("it only says how Obsidian shows a table of notes")
    # A file that is named itself is wanted, and so is that folder.
    if file.uri is not None and file.root_uri and _SOURCE.search(file.uri, len(file.root_uri.rstrip("/"))):
        raise UnreadableError("it is the source of a page that Sphinx built beside it", gone=True)
