"""Checks that chunks and records are found by the words that this version searches for, and repairs that.

An ingest gives documents new words; but some are pushed, or their source is gone, and records may be inserted by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from core.rag.analysis import index_terms
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.documents.rows import chunk_terms
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.store import Row
from core.rag.extraction.records import record_text
from core.rag.indexing.cutting import PREPARED
from core.rag.maintenance.flaws import Checks, Flaw, Look
from core.rag.schema import Label, TextIndex, check_name, text_partition


def _chunk_words(row: Row) -> str:
    return chunk_terms(row["path"], row["title"], row["heading"] or "", from_json(row["metadata"]), row["content"])


def _record_words(row: Row) -> str:
    return index_terms("", "", record_text(from_json(row["data"])))


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is found by words.

    Attributes:
        label: Its label.
        name: What several of it are called.
        mute: What matches those of a namespace that no search of words finds.
        aged: What matches those that another version may have analysed.
        read: What matches one of the id ``i``.
        columns: Its id, what its words are made of, and its words as they are.
        words: Makes the words of a row.
    """

    label: Label
    name: str
    mute: str
    aged: str
    read: str
    columns: Mapping[str, str]
    words: Callable[[Row], str]


_KINDS = (
    _Kind(
        Label.CHUNK,
        "chunks",
        "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace "
        "AND (c.terms IS NULL OR c.partition IS NULL OR c.partition <> $partition)",
        "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace "
        "AND coalesce(d.prepared, '') <> $prepared",
        "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)",
        {
            "id": "c.id",
            "path": "c.path",
            "title": "d.title",
            "heading": "c.heading",
            "content": "c.content",
            "metadata": "c.metadata",
            "terms": "c.terms",
        },
        _chunk_words,
    ),
    _Kind(
        Label.RECORD,
        "records",
        "MATCH (r:Record) WHERE r.namespace = $namespace AND r.data IS NOT NULL "
        "AND (r.terms IS NULL OR r.partition IS NULL OR r.partition <> $partition)",
        "MATCH (r:Record) WHERE r.namespace = $namespace AND r.data IS NOT NULL",
        "MATCH (r:Record {id: i})",
        {"id": "r.id", "data": "r.data", "terms": "r.terms"},
        _record_words,
    ),
)


_OTHER_WORDS = "are found by other words than this version of memgraph-rag searches for"


class WordSoundness(Checks):
    """Checks of the words by which chunks and records are found; for those of messages see :mod:`.conversations`."""

    def checks(self) -> list[tuple[str, Look]]:
        """Return the check by its name."""
        return [("keywords", self._keywords)]

    async def _keywords(self) -> AsyncIterator[Flaw]:
        for kind in _KINDS:
            mute, aged = await self._wrong(kind)
            for ids, what in ((mute, "cannot be found by their words"), (aged, _OTHER_WORDS)):
                if ids:
                    yield Flaw(f"{len(ids)} {kind.name} {what}.", partial(self._rewrite, kind, ids))

    async def _wrong(self, kind: _Kind) -> tuple[list[str], list[str]]:
        """Return the ids of nodes that no search of words finds, and of those that another version has analysed."""
        partition = text_partition(self._namespace)
        identifier = {"id": kind.columns["id"]}
        mute = [row["id"] for row in await self._read_wide(kind.mute, identifier, partition=partition)]
        maybe = {row["id"] for row in await self._read_wide(kind.aged, identifier, prepared=PREPARED)}
        aged: set[str] = set()
        for part in batches(sorted(maybe.difference(mute))):
            aged |= await asyncio.to_thread(_others, kind, await self._read_wide(kind.read, kind.columns, part))
        return mute, sorted(aged)

    async def _rewrite(self, kind: _Kind, ids: Sequence[str]) -> None:
        second = await self._client.text_label(kind.label)
        label = check_name(second[1:]) if second else ""
        statement = (
            f"UNWIND $rows AS row MATCH (n:{kind.label} {{id: row.id}}) SET {f'n:{label}, ' if label else ''}"
            "n.terms = row.terms, n.partition = row.partition"
        )
        partition = text_partition(self._namespace)

        async def number() -> int:
            return len(ids)

        store = await self._client.connect()
        async with store.removing_texts(TextIndex(kind.label, self._namespace), number):
            for part in batches(list(ids)):
                rows = await self._read_wide(kind.read, kind.columns, part)
                words = await asyncio.to_thread(_all_words, kind, rows)
                await self._in_parts(
                    [
                        {"id": row["id"], "terms": terms, "partition": partition}
                        for row, terms in zip(rows, words, strict=True)
                    ],
                    statement,
                )


def _all_words(kind: _Kind, rows: Sequence[Row]) -> list[str]:
    return [kind.words(row) for row in rows]


def _others(kind: _Kind, rows: Sequence[Row]) -> set[str]:
    """Return the ids of rows that have other words than they are given now; their order does not count."""
    return {
        row["id"]
        for row, words in zip(rows, _all_words(kind, rows), strict=True)
        if sorted(words.split()) != sorted((row["terms"] or "").split())
    }
