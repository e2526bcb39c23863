"""Where the file of an embedded graph is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.rag.dbhandler.embedded.commitlog import log_folder

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Capabilities
    from core.rag.settings import Settings

_SCHEME = "embedded:"
_MEMORY = ":memory:"


def graph_file(uri: str | None, settings: Settings) -> Path | None:
    """Return the file of the embedded graph at a URI.

    Args:
        uri: See :func:`core.rag.dbhandler.store.open_store`.
        settings: Have the URI if it is ``None``.

    Returns:
        Its absolute path, whether it exists or not; ``None`` for a server and for a graph in memory.

    Raises:
        StoreUnavailableError: if the name of the file is impossible.
    """
    from core.rag.dbhandler.embedded.engine import graph_file as checked
    from core.rag.settings import DEFAULT_EMBEDDED_URI

    uri = uri or settings.memgraph_uri or DEFAULT_EMBEDDED_URI
    if not uri.startswith(_SCHEME) or uri == _SCHEME + _MEMORY:
        return None
    return checked(uri.removeprefix(_SCHEME))


def places_of(engine: Capabilities) -> tuple[Path, ...]:
    """Return the file and log folder of an open embedded graph; empty for a server and for a graph in memory."""
    if engine.shared or engine.location == _MEMORY:
        return ()
    file = Path(engine.location)
    return file, log_folder(file)


def bytes_on_disk(file: Path) -> int:
    """Return the disk space that a graph takes, including its log."""
    folder = log_folder(file)
    parts = [file, *(folder.iterdir() if folder.is_dir() else ())]
    total = 0
    for part in parts:
        try:
            total += part.stat().st_size
        except FileNotFoundError:  # a log that a checkpoint has just removed
            continue
    return total
