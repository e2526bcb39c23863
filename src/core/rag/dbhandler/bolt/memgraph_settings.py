"""Tells with which of its settings a Memgraph cannot hold a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.errors import QueryError

if TYPE_CHECKING:
    from core.rag.dbhandler.bolt.dialect import Runner

#: The storage mode that has the indexes and constraints which are needed here.
_STORAGE_MODE = "IN_MEMORY_TRANSACTIONAL"


async def unfit_settings(runner: Runner) -> tuple[str, ...]:
    """Return a sentence for each setting that has to change, as far as the server tells.

    Args:
        runner: The store.
    """
    problems = []
    mode = await _storage_mode(runner)
    if mode not in ("", _STORAGE_MODE):
        problems.append(
            f"This server is in the storage mode {mode}, in which no graph can be created, and what is written to"
            f" one that exists may be incomplete or lost. Start it with --storage-mode={_STORAGE_MODE}, or run"
            f" STORAGE MODE {_STORAGE_MODE} on it."
        )
    if not await _edges_have_properties(runner):
        problems.append(
            "This server keeps no properties of edges, so that most writes fail. Start it with"
            " --storage-properties-on-edges=true."
        )
    return tuple(problems)


async def _storage_mode(runner: Runner) -> str:
    """Return the storage mode of the server; empty if it does not tell (the user may need the right STATS)."""
    try:
        rows = await runner.query("SHOW STORAGE INFO")
    except QueryError:
        return ""
    return next((str(row["value"]) for row in rows if row["storage info"].endswith("storage_mode")), "")


async def _edges_have_properties(runner: Runner) -> bool:
    """Return whether edges may have properties; true if it does not tell (the user may need the right CONFIG)."""
    try:
        rows = await runner.query("SHOW CONFIG")
    except QueryError:
        return True
    return all(row["current_value"] == "true" for row in rows if row["name"] == "storage_properties_on_edges")
