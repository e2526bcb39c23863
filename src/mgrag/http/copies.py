"""The route for a copy of a namespace, while the server runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from core.rag.errors import BackupError, NotFoundError
from core.rag.knowledge_base import KnowledgeBase
from mgrag.http.bases import Reading
from mgrag.http.errors import no_namespace

_GZIP = "application/gzip"
_PIECE = 1 << 20
_ATTEMPTS = 3

router = APIRouter(tags=["server"])


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {_GZIP: {"schema": {"type": "string", "format": "binary"}}}}},
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
    return StreamingResponse(_pieces(copy), media_type=_GZIP, headers=headers)


async def _export(kb: KnowledgeBase, file: Path) -> None:
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            await kb.export(file, namespaces=[kb.namespace])
        except NotFoundError as error:
            raise no_namespace(kb.namespace) from error
        except BackupError:  # somebody wrote to a server meanwhile
            if not attempts_left:
                raise
        else:
            return


def _pieces(copy: BinaryIO) -> Iterator[bytes]:
    with copy:
        while piece := copy.read(_PIECE):
            yield piece
