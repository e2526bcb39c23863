"""What all records of a collection together say to a question, as passages that answers are made of and can cite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from core.rag.answering.computing.calling import collection_named, numbered
from core.rag.answering.computing.cues import ASKING, USUAL
from core.rag.answering.computing.following import following
from core.rag.answering.computing.known import MOST_PEEKED, counts, samples
from core.rag.answering.computing.planning import plan
from core.rag.answering.computing.plans import Plan
from core.rag.answering.computing.question import Question
from core.rag.answering.computing.seen import Seen, look
from core.rag.answering.computing.telling import told
from core.rag.answering.first_chunks import first_chunks
from core.rag.answering.types import COMPUTED
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.tables.reading import AllRecords
from core.rag.retrieval.tables.tabulating import tabulate

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Records that are looked at for a question at most (55 µs each on a busy machine), and collections that are told of.
MAX_RECORDS: Final = 500_000
_MOST_TOLD: Final = 3
#: Maximum number of records of a collection that is looked through because a question names a field of it and asks
#: which ones: many such questions are about something else.
_MOST_LISTED: Final = 5_000


@dataclass(frozen=True, slots=True)
class Computed:
    """What was worked out.

    Attributes:
        hit: A passage whose text is the result.
        documents: Ids of the documents whose rows were counted, if these are all that they have.
    """

    hit: Hit
    documents: frozenset[str] = frozenset()

    def has(self, hit: Hit) -> bool:
        """Return whether a passage is some of the rows."""
        mine = self.hit
        within = hit.start_char < mine.end_char and mine.start_char < hit.end_char
        return hit.document_id in self.documents or (hit.document_id == mine.document_id and within)


async def computed(
    client: MemGraphClient, asked: Sequence[Question], later: Sequence[Sequence[Question]] = ()
) -> list[Computed]:
    """Work out what a question asks of the records of a collection that it names, or one of whose fields it names.

    Args:
        client: The graph.
        asked: The question, as each language reads it; at least one does.
        later: Questions that go on with it, in order, as each language reads them: the last one is worked out.

    Returns:
        A result for each such collection; none if the question is not surely about its records, or if there are too
        many such collections. If a collection that it names has too many records to look at all of them, that says so.

    Raises:
        StoreError: if the graph fails.
    """
    collections = await counts(client)
    all_of_them = [*asked, *(one for readings in later for one in readings)]
    spellings = {spelled for one in all_of_them for spelled in (*one.spellings(), *one.singulars())}
    found: list[Computed] = []
    room = MAX_RECORDS
    async for name in _candidates(client, asked, collections):
        room -= collections.get(name, 0)
        if room < 0:
            works_out = any(cue.cue in ASKING - USUAL for one in asked for cue in one.cues)
            is_named = any(collection_named(one, name) for one in asked)
            return [_too_many(name, collections[name])] if works_out and is_named else []
        if one := await _of_collection(client, name, asked, later, spellings):
            found.append(one)
        if len(found) > _MOST_TOLD:  # some of them would look like all
            return []
    return found


def _too_many(name: str, records: int) -> Computed:
    """Return what says that nothing was worked out."""
    line = (
        f"{name}: with its {records} records there are more than the {MAX_RECORDS} that a question looks at, so nothing"
        " was worked out from them; kb.tabulate and mgrag records look at all of them"
    )
    hit = _hit(line, Seen(name, records), {})
    return Computed(replace(hit, heading="", metadata={COMPUTED: False}))


async def _candidates(
    client: MemGraphClient, asked: Sequence[Question], collections: Mapping[str, int]
) -> AsyncIterator[str]:
    """Yield the collections that a question names, else those of which it names a field, or a value in the plural, and
    logs whose lines it counts."""
    named = [name for name in collections if any(collection_named(one, name) for one in asked)]
    for name in named:
        yield name
    # What only compares ("before 2020") has to name the collection.
    asked = [one for one in asked if any(found.cue in ASKING for found in one.cues)]
    if named or not asked or len(collections) > MOST_PEEKED:  # of those that are not looked at, another may be meant
        return
    counted = any(found.cue in ASKING - USUAL for one in asked for found in one.cues)
    several = {spelled for one in asked for spelled in one.singulars()} if counted else set()
    for name, seen in (await samples(client)).items():
        if counted or collections.get(name, 0) <= _MOST_LISTED:
            has_value = any(not several.isdisjoint(one.spelled) for one in seen.fields.values())
            is_log = counted and any(one.named(name) for one in asked for name in seen.events)
            things = [thing for field in seen.fields if (thing := numbered(field))]
            is_called = any(one.named(thing) for one in asked for thing in things)
            if has_value or is_log or is_called or any(True for one in asked for _ in seen.named(one)):
                yield name


async def _of_collection(
    client: MemGraphClient,
    name: str,
    asked: Sequence[Question],
    later: Sequence[Sequence[Question]],
    spellings: Collection[str],
) -> Computed | None:
    """Return what a question asks of one collection; ``None`` if it is not surely about its records."""
    try:
        records = AllRecords(client, name)
        seen = await look(records, spellings)
        found = _first_plan(asked, later, seen)
        if found is None and any(collection_named(one, name) for one in asked):
            found = await _none_of(client, seen, asked, later, spellings)
        if name == DOCUMENTS and found is not None and not _is_of_documents(found):
            return None
        line = await told(partial(tabulate, records), found, seen) if found is not None else ""
    except (InvalidInputError, NotFoundError):  # too many groups to tell, or deleted meanwhile: there is no answer then
        return None
    if not line:
        return None
    sources = await _documents(client, name) if name != DOCUMENTS else {}  # all of them are no source to read
    return Computed(_hit(line, seen, sources), frozenset(sources))


async def _none_of(
    client: MemGraphClient,
    seen: Seen,
    asked: Sequence[Question],
    later: Sequence[Sequence[Question]],
    spellings: Collection[str],
) -> Plan | None:
    """Return what a question asks that names a value which only records of other collections have: that there are none.

    Without that, "How many issues are open?" has a word that says nothing of issues if all of them are closed.
    """
    known = dict(await samples(client))
    own = known.pop(seen.name, None)
    if own is None or not seen.borrow(own, known.values(), spellings):
        return None
    found = _first_plan(asked, later, seen)
    return found if found is not None and found.kind in {"count", "list"} and not found.group_by else None


def _is_of_documents(found: Plan) -> bool:
    """Whether the fields of documents may tell this: which have a value, and how many, and which are the latest.

    Not how many documents there are, since some have no fields, nor sums, since numbers there are mostly of versions
    and of places in a menu.
    """
    return found.kind in {"list", "distinct", "most", "fewest", "latest", "earliest"} or (
        found.kind == "count" and bool(found.conditions or found.group_by or found.unique)
    )


def _first_plan(asked: Sequence[Question], later: Sequence[Sequence[Question]], seen: Seen) -> Plan | None:
    """Return what the first of the readings of a question asks that surely asks something."""
    return next(filter(None, (planned(question, later, seen) for question in asked)), None)


def planned(question: Question, later: Sequence[Sequence[Question]], seen: Seen) -> Plan | None:
    """Return what a question asks, or the last of those that go on with it; ``None`` if that is not sure."""
    found = plan(question, seen)
    for readings in later:
        reading = next((one for one in readings if one.language == question.language), None)
        found = following(reading, seen, found) if found is not None and reading is not None else None
    return found


async def _documents(client: MemGraphClient, collection: str) -> dict[str, tuple[str, str, str, int]]:
    """Return, by id, path, title, first chunk and length of the documents that records of a collection are rows of."""
    rows = await client.read(
        "MATCH (r:Record)-[:DEFINED_IN]->(d:Document) WHERE r.namespace = $namespace AND r.collection = $collection "
        "RETURN DISTINCT d.id AS id, d.path AS path, d.title AS title",
        collection=collection,
    )
    ids = [row["id"] for row in rows]
    chunks = (
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) WHERE d.namespace = $namespace "
    )
    ends = await client.read_for_ids(f"{chunks}RETURN i AS document, max(c.end_char) AS end", ids)
    first = await first_chunks(client, ids)
    end = {row["document"]: row["end"] for row in ends}
    found = sorted((row["path"], row["id"], row["title"] or "") for row in rows if row["id"] in first)
    return {i: (path, title, first[i], end[i]) for path, i, title in found}


def _hit(line: str, seen: Seen, sources: Mapping[str, tuple[str, str, str, int]]) -> Hit:
    """Return the result as a passage of the first of the documents; records that were inserted have none."""
    document, (path, title, chunk, end) = next(iter(sources.items()), ("", (seen.name, seen.name, "", 0)))
    return Hit(
        chunk_id=chunk,
        document_id=document,
        path=path,
        title=title,
        heading=f"all {seen.records} records" if seen.records != 1 else "the only record",
        content=line,
        chunk_index=0,
        start_char=0,
        end_char=end,
        score=1.0,
        metadata={COMPUTED: True},
    )
