"""A doctor takes nothing for a flaw that others write meanwhile, and undoes none of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.transfer.operations import TransferOperations
from core.rag.errors import StoreConflictError
from core.rag.maintenance.flaws import Checks
from libs.dataloader import Document
from tests.graphs import orphans, snapshot
from tests.maintenance.conftest import PARAGRAPHS, documents, opened

#: How many statements the checks of a namespace read with, at least.
_READS = 50

#: At which group of edges an import is interrupted.
_INTERRUPTED_AT = 3


async def _write(kb: KnowledgeBase, number: int) -> None:
    """What ingests, callers and people may do between two statements of a check."""
    text = "\n\n".join(PARAGRAPHS[: 1 + number % 4])
    await kb.ingest([Document(path="note/1", content=f"# Note {number}\n\n{text}", format="markdown")])
    await kb.insert("people", {"_id": str(number % 3), "name": f"Karl Stein {number % 5}", "city": "Ulm"})
    await kb.remember("talk", "user", f"I live in street {number % 7}.")
    if number % 2:
        await kb.delete("note/2")
        await kb.forget(session_id="old")
    else:
        await kb.ingest(documents()[2:3])
        await kb.remember("old", "user", "This will be forgotten.")


async def test_what_is_written_meanwhile_is_no_flaw(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, at = 0, -1

    def writing_before(name: str) -> None:
        read = getattr(Checks, name)

        async def written_before(*arguments: Any, **parameters: Any) -> Any:
            nonlocal seen
            if seen == at:
                await _write(kb, at)
            seen += 1
            return await read(*arguments, **parameters)

        monkeypatch.setattr(Checks, name, written_before)

    writing_before("_read")
    writing_before("_read_wide")
    async with opened(file) as kb:
        await kb.ingest(documents())
        for at in range(_READS):
            seen = 0
            report = await kb.doctor(repair=True)
            found = [check.message for check in report.checks if check.level in {"problem", "mended"}]
            assert (at, found) == (at, [])
        assert seen >= _READS
        at = -1
        assert (await kb.doctor()).healthy
        assert not any((await orphans(kb.client)).values())


async def test_a_doctor_takes_nothing_away_that_an_import_has_yet_to_connect(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(file) as kb:
        await kb.ingest(documents())
        await kb.client.create_document("by/hand", "# Made by hand")
        await kb.insert("people", {"_id": "1", "name": "Karl Stein", "city": "Ulm"})
        before = await snapshot(kb.client)
        await kb.export(tmp_path / "all.jsonl")
    put, reports = TransferOperations._put_edges, []

    async def examined_before(client: Any, *arguments: Any) -> None:
        reports.append(await kb.doctor(repair=True))
        if len(reports) == _INTERRUPTED_AT:
            raise StoreConflictError
        await put(client, *arguments)

    monkeypatch.setattr(TransferOperations, "_put_edges", examined_before)
    async with opened(tmp_path / "other.grafeo") as kb:
        for _ in range(2):  # the first one is interrupted
            with suppress(StoreConflictError):
                await kb.import_(tmp_path / "all.jsonl")
        assert len(reports) > _INTERRUPTED_AT
        for report in reports:
            (check,) = [check for check in report.checks if check.name == "default: imports"]
            assert "documents are not complete: an import is running, or was interrupted: by/hand" in check.message
            assert not any(check.level == "mended" for check in report.checks)
        monkeypatch.undo()
        assert await snapshot(kb.client) == before
        assert (await kb.doctor()).healthy
