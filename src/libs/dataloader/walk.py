"""Walks a folder: every file once, in a fixed order, whatever it contains."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from libs.dataloader.formats.registry import TO_COPY
from libs.dataloader.ignore import Patterns, expand_braces, is_ignored, patterns_above, patterns_of

_KINDS = (
    (stat.S_ISFIFO, "it is a named pipe, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
)
_NEVER = frozenset((".git", ".hg", ".svn"))


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was met.

    Attributes:
        relative: Path below the root, with ``/``; empty for the root itself.
        trouble: Why it cannot be read; ``None`` for a file that can be tried.
    """

    relative: str
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder are wanted; patterns are those of ``.gitignore`` files.

    ``never`` has real paths of files and folders that are passed over, wherever a link leads to them; ``within`` those
    of the folders that links must not lead out of, if there are any.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    recursive: bool = True
    gitignore: bool = True
    hidden: bool = False
    never: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()


class Walker:
    """Finds files below a folder.

    Symbolic links to files are followed unless their target is loaded under its own name. Linked folders are walked
    unless they are walked under their own name or were before, so loops end.

    Args:
        root: Absolute path of the folder.
        selection: What is wanted.
    """

    def __init__(self, root: str, selection: Selection) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._selection = selection
        self._include = Patterns(_as_completed(expand_braces(selection.include), root))
        self._exclude = Patterns(_as_completed(expand_braces(selection.exclude), root))
        self._never_names = frozenset(map(os.path.basename, selection.never))
        self._visited: set[tuple[int, int]] = set()
        self._linked: set[str] = set()
        self._above: tuple[Patterns, ...] = ()
        self._patterns = lru_cache(maxsize=4096)(patterns_of)  # every link asks for those around its target
        self.files_seen = 0
        self.files_matched = 0
        self._hidden = self._ignored = self._excluded = self._below = 0

    @property
    def passed_over(self) -> str:
        """What was passed over and why, for people; empty if nothing was."""
        told = (
            (self._hidden, "hidden (names that begin with a dot; --hidden loads them)"),
            (self._ignored, "excluded by .gitignore (--no-gitignore loads them)"),
            (self._excluded, "excluded by --exclude"),
            (self._below, "not entered (folders, with recursive=False)"),
        )
        return ", ".join(f"{count} {why}" for count, why in told if count)

    def walk(self) -> Iterator[Found]:
        """Files in the order of their names, folder by folder.

        Raises:
            OSError: if the root itself cannot be listed.
        """
        self._above = patterns_above(Path(self._root)) if self._selection.gitignore else ()
        stack = [(iter(self._list("")), self._chain("", self._above), False)]
        while stack:
            waiting, chain, outside = stack[-1]
            entry = next(waiting, None)
            if entry is None:
                stack.pop()
                continue
            path = (
                os.path.relpath(entry.path, self._root)
                if os.sep != "/"
                else entry.path[len(self._root.rstrip("/")) + 1 :]
            )
            if self._is_hidden(entry.name):
                self._hidden += 1
                continue
            try:
                linked = entry.is_symlink()
                is_folder = entry.is_dir()
            except OSError as error:
                yield Found(path, describe_os_error(error))
                continue
            if self._is_left_out(shown := f"{path}/" if is_folder else path, chain):
                self._count_left_out(shown)
                continue
            if self._is_never(entry, linked=linked):
                continue
            if linked and self._leads_out(entry):
                if is_folder or self._is_wanted(path):
                    yield Found(path, "it is a link that leads out of the folders that may be read")
                continue
            if not is_folder:
                found = self._file(entry, path, linked=linked)
                if found is not None:
                    yield found
                continue
            if not self._selection.recursive:
                self._below += 1
                continue
            try:
                if (linked or outside) and not self._is_new(entry.path):
                    continue
                inner = self._list(path)
            except FileNotFoundError:
                continue  # it vanished meanwhile
            except OSError as error:
                yield Found(path, describe_os_error(error))
                continue
            stack.append((iter(inner), self._chain(path, chain), outside or linked))

    def _list(self, relative: str) -> list[os.DirEntry[str]]:
        with os.scandir(os.path.join(self._root, relative) if relative else self._root) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def _file(self, entry: os.DirEntry[str], path: str, *, linked: bool) -> Found | None:
        try:
            if not entry.is_file():
                mode = os.stat(entry.path).st_mode
                trouble = next((reason for test, reason in _KINDS if test(mode)), "it is not a regular file")
                return Found(path, trouble) if self._is_wanted(path) else None
        except FileNotFoundError:
            return Found(path, "it is a broken symbolic link") if linked and self._is_wanted(path) else None
        except OSError as error:
            return Found(path, describe_os_error(error)) if self._is_wanted(path) else None
        self.files_seen += 1
        if not self._is_wanted(path):
            return None
        self.files_matched += 1
        if linked:
            target = os.path.realpath(entry.path)
            if target in self._linked or self._is_loaded_itself(target, folder=False):
                return None
            self._linked.add(target)
        return Found(path)

    def _chain(self, relative: str, chain: tuple[Patterns, ...]) -> tuple[Patterns, ...]:
        if not self._selection.gitignore:
            return ()
        own, is_repository = self._patterns(Path(self._root, relative), relative)
        return own if relative and is_repository else (*chain, *own)

    def _is_hidden(self, name: str) -> bool:
        # A file that is there to be copied tells which settings there are, and none of their secrets: `.env.example`.
        is_to_copy = name.lower().rpartition(".")[2] in TO_COPY
        is_hidden = name.startswith(".") and not self._selection.hidden and not is_to_copy
        return is_hidden or (self._selection.gitignore and name in _NEVER)

    def _is_left_out(self, path: str, chain: Sequence[Patterns]) -> bool:
        return self._exclude.match(path) is True or (bool(chain) and is_ignored(chain, path))

    def _count_left_out(self, path: str) -> None:
        if self._exclude.match(path) is True:
            self._excluded += 1
        else:
            self._ignored += 1

    def _is_never(self, entry: os.DirEntry[str], *, linked: bool) -> bool:
        # Without links in it, a path ends with the name of what it leads to: few have to be looked at.
        if not self._selection.never or not (linked or entry.name in self._never_names):
            return False
        return os.path.realpath(entry.path) in self._selection.never

    def _leads_out(self, entry: os.DirEntry[str]) -> bool:
        if not self._selection.within:
            return False
        real = os.path.realpath(entry.path)
        return not any(is_below(real, folder) for folder in self._selection.within)

    def _is_wanted(self, path: str) -> bool:
        return not self._selection.include or self._include.match(path) is True

    def _is_new(self, folder: str) -> bool:
        """Return whether to walk a folder that was reached by a link: not if it is walked elsewhere, too."""
        real = os.path.realpath(folder)
        if self._is_loaded_itself(real, folder=True):
            return False
        status = os.stat(folder)
        key = (status.st_dev, status.st_ino)
        if key in self._visited:
            return False
        self._visited.add(key)
        return True

    def _is_loaded_itself(self, real: str, *, folder: bool) -> bool:
        """Return whether the walk reaches this file or folder under its real path, without the link to it."""
        if real == self._real_root:
            return True
        prefix = self._real_root.rstrip("/") + "/"
        if not real.startswith(prefix):
            return False
        parts = real[len(prefix) :].replace(os.sep, "/").split("/")
        if any(self._is_hidden(part) for part in parts) or (len(parts) > 1 and not self._selection.recursive):
            return False
        chain = self._above
        for depth in range(len(parts)):
            chain = self._chain("/".join(parts[:depth]), chain)
            path = "/".join(parts[: depth + 1]) + ("/" if folder or depth < len(parts) - 1 else "")
            if self._is_left_out(path, chain):
                return False
        return folder or self._is_wanted("/".join(parts))


def _as_completed(patterns: Iterable[str], root: str) -> Iterator[str]:
    """Yield the patterns, those completed by a shell (``./x``; ``docs/x`` below ``docs``) also as they are meant.

    Patterns are relative to the walked folder, and shells complete from the working directory. As it is written, such
    a pattern matches nothing, and would let in what was to stay out.
    """
    inside = f"{root.rstrip(os.sep)}{os.sep}"
    for pattern in patterns:
        yield pattern
        if "/" not in pattern.rstrip("/") or pattern.startswith("!"):
            continue
        end = "/" if pattern.endswith("/") else ""
        place = os.path.abspath(pattern)  # links are not resolved in patterns
        if place.startswith(inside):
            yield f"/{place.removeprefix(inside).replace(os.sep, '/')}{end}"
        elif pattern.startswith("./"):
            yield pattern[1:]


def is_below(real: str, folder: str) -> bool:
    """Return whether a real path is that of a folder, or of something in it."""
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def describe_os_error(error: OSError) -> str:
    """Describe an error of the operating system for users."""
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror or str(error)).lower()
