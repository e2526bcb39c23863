"""One of several processes that ingest: `python -m tests.faults.ingesting URI NAMESPACE FOLDER…`.

It says `ready`, and begins when it is told to.
"""

from __future__ import annotations

import asyncio
import os
import sys

from dbhandler.kit import Engine
from faults.kit import DEADLINE, knowledge


async def main(uri: str, namespace: str, *folders: str) -> None:
    """Ingest the folders; fails unless all of their documents are in."""
    engine = Engine(uri, os.environ["MEMGRAPH_USERNAME"] or None, os.environ["MEMGRAPH_PASSWORD"] or None)
    async with knowledge(engine, namespace, MGRAG_RETRY_DEADLINE=4 * DEADLINE) as kb:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        report = await kb.ingest(folders)
    if report.documents.failed:
        sys.exit(str(report.documents.failed))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
