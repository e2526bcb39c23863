"""The routes for copies of a namespace, while the server runs."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from core.rag.errors import BackupError, InvalidInputError, NotFoundError
from core.rag.knowledge_base import KnowledgeBase
from mgrag.http.access import RefusedError
from mgrag.http.bases import Reading, Writing, caller_of
from mgrag.http.errors import no_namespace
from mgrag.http.results import Imported

#: Not application/gzip: an import takes it uncompressed, too, and generators of clients skip what they do not know.
_BYTES = "application/octet-stream"
_PIECE = 1 << 20
_ATTEMPTS = 3

router = APIRouter(tags=["server"])


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def export(kb: Reading) -> StreamingResponse:
    """A copy of the namespace for ``mgrag import``, which checks it: JSON Lines, compressed with gzip."""
    with tempfile.TemporaryDirectory(prefix="mgrag-") as folder:
        file = Path(folder) / "export.jsonl.gz"
        await _export(kb, file)
        size, copy = file.stat().st_size, file.open("rb")  # which stays readable when the folder is gone
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(kb.namespace, safe='')}.jsonl.gz",
    }
    return StreamingResponse(_pieces(copy), media_type=_BYTES, headers=headers)


async def _check_whole(request: Request) -> None:
    """Refuse callers for some namespaces only: ids are those of the graph, and what a file says of them is believed."""
    if caller_of(request).namespaces is not None:
        raise RefusedError(403, "An import is for keys and tokens for all namespaces, on a server of all of them.")


@router.post(
    "/import",
    dependencies=[Depends(_check_whole)],
    openapi_extra={
        "requestBody": {"required": True, "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def import_(kb: Writing, request: Request) -> Imported:
    """Load a copy of this namespace that an export gave, compressed or not; all of it is checked before.

    What is there is updated, and what the copy does not have stays. It can be repeated, and has to be if it failed.
    """
    with tempfile.TemporaryDirectory(prefix="mgrag-") as folder:
        file = Path(folder) / "import.jsonl.gz"
        with file.open("wb") as copy:
            async for piece in request.stream():
                await asyncio.to_thread(copy.write, piece)
        try:
            found = await kb.import_(file)
        except (BackupError, InvalidInputError) as error:
            # The rest is for the command line, and where the server keeps files is its own business.
            what, _, _ = str(error).replace(str(file), "The body").partition(". ")
            raise InvalidInputError(f"{what.removesuffix('.')}. Nothing was imported.") from error
    report = next(iter(found.values())).to_dict()
    return {"nodes": report["nodes"], "edges": report["edges"]}


async def _export(kb: KnowledgeBase, file: Path) -> None:
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            await kb.export(file, namespaces=[kb.namespace])
        except NotFoundError as error:
            raise no_namespace(kb.namespace) from error
        except BackupError as error:
            if isinstance(error.__cause__, OSError):  # no room for it, for example
                raise error.__cause__ from None
            if not attempts_left:  # somebody wrote to a server meanwhile, each time
                raise
        else:
            return


def _pieces(copy: BinaryIO) -> Iterator[bytes]:
    with copy:
        while piece := copy.read(_PIECE):
            yield piece
