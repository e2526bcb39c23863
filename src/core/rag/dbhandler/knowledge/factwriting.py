"""Writes facts into the graph: those that a language model found in a chunk, and those that callers state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.rag.arguments import check_limit, check_texts, one_line
from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import batches, run_for_rows
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.facts import FactChanges, Triple, write_triples
from core.rag.dbhandler.knowledge.mentions import MentionChanges, chunk_texts, titles_named
from core.rag.dbhandler.knowledge.operations import positive
from core.rag.dbhandler.knowledge.periods import period_of
from core.rag.dbhandler.knowledge.placing import placed
from core.rag.dbhandler.knowledge.stated import check_there
from core.rag.dbhandler.locking import lock_documents_of
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import InvalidInputError
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.mentions import sought
from core.rag.extraction.words import MAX_NAME_CHARS, normalize_name
from core.rag.times import utc_now

_MAX_REASON_CHARS = 500
_MAX_RELATION_CHARS = 200
_MAX_FACT_CHARS = 2000


class FactOperations(ClientBase):
    """Finding the chunks that a language model has not read, and writing facts."""

    async def chunks_without_facts(self, limit: int | None = None) -> list[Row]:
        """Return chunks without extracted facts: ``id``, ``path``, ``title``, ``heading``, ``content``.

        Chunks whose extraction failed come last.
        """
        rows = await self.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.facts_by IS NULL "
            "RETURN c.id AS id, c.facts_error AS error"
        )
        rows.sort(key=lambda row: (row["error"] is not None, row["id"]))
        ids = [row["id"] for row in rows][:limit]
        texts = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) RETURN c.id AS id, "
            "c.path AS path, d.title AS title, c.heading AS heading, c.content AS content",
            ids,
        )
        found = {row["id"]: row for row in texts}
        return [found[identifier] for identifier in ids if identifier in found]

    async def read_facts_again(self) -> None:
        """Let all chunks count as not read, with the facts that were found in them, until they are read again."""
        rows = await self.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.facts_by IS NOT NULL RETURN c.id AS id"
        )
        statement = "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) SET c.facts_by = null"
        await self._write(partial(run_for_rows, statement=statement, rows=rows))

    async def write_chunk_facts(self, facts: Mapping[str, ChunkFacts], model: str) -> None:
        """Store what a language model found in chunks, with entities, mentions and RELATED edges.

        Args:
            facts: Facts by id of the chunk; chunks that no longer exist are skipped.
            model: Name of the model.
        """

        async def work(tx: Transaction) -> None:
            ledger = EntityLedger(self._namespace, utc_now())
            mentions, edges = MentionChanges(ledger), FactChanges(ledger)
            await lock_documents_of(tx, facts)
            texts = await chunk_texts(tx, sorted(facts))
            titles = await titles_named(tx, sorted(facts))
            await mentions.read(tx, texts)
            table = sought(titles)
            mentions.set({key: text.mentions(table) for key, text in texts.items()}, {}, facts)
            for key, text in texts.items():
                edges.set(key, text.facts or ChunkFacts(), facts[key])
            await ledger.settle(tx)
            await mentions.apply(tx)
            await edges.apply(tx)
            await ledger.remove_unused(tx)
            await tx.run(
                "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) "
                "SET c.facts = row.facts, c.facts_by = $model, c.facts_error = null",
                {"rows": [{"id": key, "facts": facts[key].to_json()} for key in texts], "model": model},
            )

        await self._write(work)

    async def write_fact_failures(self, reasons: Mapping[str, str]) -> None:
        """Store why the extraction of facts failed, by id of the chunk; the next run tries these chunks again."""
        rows = [{"id": key, "reason": reason[:_MAX_REASON_CHARS]} for key, reason in sorted(reasons.items())]
        statement = (
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) WHERE c.namespace = $namespace "
            "SET c.facts_error = row.reason"
        )
        await self._write(partial(run_for_rows, statement=statement, rows=rows, namespace=self._namespace))

    async def fact_counts(self) -> dict[str, int]:
        """Count chunks that a language model has read (``done``), failed on (``failed``) and not seen (``waiting``)."""
        rows = await self.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace "
            "RETURN count(c) AS chunks, count(c.facts_by) AS done, count(c.facts_error) AS failed"
        )
        chunks, done, failed = (int(rows[0][name]) for name in ("chunks", "done", "failed"))
        return {"done": done, "failed": failed, "waiting": chunks - done - failed}

    async def fact_failures(self, limit: int = 20) -> list[Row]:
        """Return chunks whose extraction failed: ``id``, ``path``, ``reason``."""
        return await self.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.facts_error IS NOT NULL "
            f"RETURN c.id AS id, c.path AS path, c.facts_error AS reason ORDER BY path, id LIMIT {check_limit(limit)}"
        )

    async def chunks_of_facts(self, pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """Return the chunks that a fact comes from, by the id of its edge; those without any are left out.

        Args:
            pairs: Ids of two entities each, in the direction of the fact.
        """
        rows = await self.read_for_pairs(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a})-[r:RELATED]->(b:Entity {id: row.b}) "
            "WHERE r.chunk_ids IS NOT NULL RETURN r.id AS id, r.chunk_ids AS chunks",
            pairs,
            at_once=100,
        )
        return {row["id"]: row["chunks"] for row in rows if row["chunks"]}

    async def sentences_of_facts(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str, str], dict[str, str]]:
        """Return what each chunk says of the facts that a model found in it, by the ids of both ends and the relation.

        Args:
            pairs: Ids of two entities each, in the direction of the facts.
        """
        rows = await self.read_for_pairs(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a})-[r:RELATED]->(b:Entity {id: row.b}) "
            "WHERE r.facts IS NOT NULL "
            "RETURN row.a AS a, row.b AS b, r.type AS type, r.chunk_ids AS chunks, r.facts AS facts",
            pairs,
            at_once=100,
        )
        return {
            (row["a"], row["b"], row["type"]): dict(zip(row["chunks"], json.loads(row["facts"]), strict=True))
            for row in rows
        }

    async def add_triples(self, triples: Sequence[Triple]) -> int:
        """Add facts; missing entities are created, and stay until a person removes them.

        A fact with chunks is removed with the last of them; one without stays until a person removes it.

        Returns:
            How many distinct facts were given; the periods of one fact count apart.

        Raises:
            InvalidInputError: naming the first invalid one, or one that contradicts what is stored: see
                :mod:`core.rag.dbhandler.knowledge.placing`. Nothing is stored then; of more than 500 triples,
                the first may be where another client has stated that in the meantime.
        """
        names: dict[str, str] = {}
        clean = [_checked(triple, number, names) for number, triple in enumerate(triples, 1)]
        chunks = sorted({chunk for triple in clean for chunk in triple.chunk_ids})
        found = await self.read_for_ids("UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) RETURN c.id AS id", chunks)
        check_there(chunks, {row["id"] for row in found}, self._namespace)
        now, namespace = utc_now(), self._namespace
        statements = [triple.statement(names, namespace) for triple in clean]
        parts = list(batches(range(len(clean))))
        if len(parts) > 1:  # so that an error in a later part leaves all as it is
            await self._write(partial(placed, statements=statements, namespace=namespace, now=now))
        links: set[str] = set()
        for part in parts:

            async def work(tx: Transaction, part: list[int] = part) -> set[str]:
                some = [clean[place] for place in part]
                await lock_documents_of(tx, [chunk for triple in some for chunk in triple.chunk_ids])
                edges = await placed(tx, [statements[place] for place in part], namespace, now)
                await write_triples(tx, some, edges, names, namespace, now)
                return {one.edge["link"] for one in edges}

            links |= await self._write(work)
        return len(links)


def _checked(triple: Triple, number: int, names: dict[str, str]) -> Triple:
    """Return a triple with cleaned texts; add the normalised names of its ends to ``names``."""
    period = period_of(triple.valid_from, triple.valid_to, f" of triple {number}")
    clean = replace(
        triple,
        subject=one_line(triple.subject, f"The subject of triple {number}", MAX_NAME_CHARS),
        relation=one_line(triple.relation, f"The relation of triple {number}", _MAX_RELATION_CHARS),
        object=one_line(triple.object, f"The object of triple {number}", MAX_NAME_CHARS),
        subject_type=one_line(triple.subject_type, f"The subject_type of triple {number}", MAX_NAME_CHARS, least=0),
        object_type=one_line(triple.object_type, f"The object_type of triple {number}", MAX_NAME_CHARS, least=0),
        fact=one_line(triple.fact, f"The fact of triple {number}", _MAX_FACT_CHARS, least=0),
        weight=positive(triple.weight, f"The weight of triple {number}"),
        chunk_ids=tuple(dict.fromkeys(check_texts(f"chunk_ids of triple {number}", triple.chunk_ids))),
        valid_from=period.valid_from or None,
        valid_to=period.valid_to or None,
    )
    for text in (clean.subject, clean.object):
        names[text] = normalize_name(text)
        if not names[text]:
            raise InvalidInputError(f"Triple {number}: {text[:50]!r} is too long for a name.")
    if names[clean.subject] == names[clean.object]:
        raise InvalidInputError(f"Triple {number} connects {clean.subject[:50]!r} with itself.")
    return clean
