"""One of several processes that ingest: `python -m tests.faults.ingesting URI NAMESPACE FIRST COUNT`."""

from __future__ import annotations

import asyncio
import os
import sys

from dbhandler.kit import Engine
from faults.kit import DEADLINE, documents, knowledge


async def main(uri: str, namespace: str, first: int, count: int) -> None:
    """Ingest some of the documents that all processes know; fails unless all of them are in."""
    given = documents(first + count)[first:]
    engine = Engine(uri, os.environ["MEMGRAPH_USERNAME"] or None, os.environ["MEMGRAPH_PASSWORD"] or None)
    async with knowledge(engine, namespace, MGRAG_RETRY_DEADLINE=4 * DEADLINE) as kb:
        report = await kb.ingest(given)
    if report.documents.failed:
        sys.exit(str(report.documents.failed))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
