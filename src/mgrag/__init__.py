"""The public names, for ``import mgrag``: those of ``core.rag``, and the loaders. Each is imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag import *  # noqa: F403
    from libs.dataloader import Document as Document
    from libs.dataloader import DocumentLoader as DocumentLoader
    from libs.dataloader import LlamaIndexLoader as LlamaIndexLoader
    from libs.dataloader import Loader as Loader
    from libs.dataloader import WebLoader as WebLoader

__version__ = "0.1.0"

_LOADING = ("Document", "DocumentLoader", "LlamaIndexLoader", "Loader", "WebLoader")


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _names()
    if name not in _names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("libs.dataloader" if name in _LOADING else "core.rag"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})


def _names() -> list[str]:
    from core import rag  # here, because the command line, which imports this package, shows its help without the other

    return [*_LOADING, *rag.__all__]
