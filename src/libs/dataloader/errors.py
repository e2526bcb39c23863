"""The exceptions of loading.

LoadError                     base of all of these
├── SourceNotFoundError       the path or URL that was asked for does not exist
├── NothingMatchedError       a glob or URL pattern let nothing through
├── InvalidSourceError        the argument itself makes no sense (scheme, pattern, limit)
└── MissingReaderError        an optional package is needed for this kind of source

A single file or page that cannot be read is *not* raised: it is yielded as a
:class:`libs.dataloader.LoadFailure`, and loading goes on.
"""

from __future__ import annotations

from typing import Any


class LoadError(Exception):
    """A source cannot be loaded at all.

    Attributes:
        path: The path or URL.
        reason: What happened, for people to read.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason), self.__dict__  # for pools of processes


class SourceNotFoundError(LoadError):
    """The path or URL does not exist."""


class NothingMatchedError(LoadError):
    """A pattern matched nothing, which is probably a mistake."""


class InvalidSourceError(LoadError, ValueError):
    """The source or one of the loader's arguments is invalid."""


class MissingReaderError(LoadError):
    """An optional package is needed; the message names the ``pip install`` to run."""
