"""What one of several processes does that ingest at the same time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path

# What an ingest would load when it begins.
import core.rag.dbhandler.bolt.store
import core.rag.indexing.run  # noqa: F401
from tests.dbhandler.kit import Engine
from tests.faults.kit import DEADLINE, knowledge


def ingest(together: Barrier, engine: Engine, namespace: str, folders: Sequence[Path]) -> None:
    """Ingest folders as soon as all of the processes are there; fails unless all of their documents are in."""
    asyncio.run(_ingest(together, engine, namespace, folders))


async def _ingest(together: Barrier, engine: Engine, namespace: str, folders: Sequence[Path]) -> None:
    async with knowledge(engine, namespace, MGRAG_RETRY_DEADLINE=4 * DEADLINE) as kb:
        await asyncio.to_thread(together.wait)
        report = await kb.ingest([str(folder) for folder in folders])
    if report.documents.failed:
        sys.exit(str(report.documents.failed))
