"""What all rows of a table in a document together say to a question.

No records are made of such tables: a documentation has thousands, of which hardly one is asked for. So they are read
when a passage that was found shows one whose columns the question names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from core.rag.answering.computing.calling import collection_named
from core.rag.answering.computing.computed import Computed, planned
from core.rag.answering.computing.document_tables import DocumentTable, heads, records_of, tables_in
from core.rag.answering.computing.plans import Plan
from core.rag.answering.computing.question import Question
from core.rag.answering.computing.seen import NOTHING, Seen, SeenField
from core.rag.answering.computing.telling import told
from core.rag.answering.types import COMPUTED
from core.rag.dbhandler.documents.contents import CONTENT_COLUMNS, with_content
from core.rag.errors import InvalidInputError
from core.rag.extraction.amounts import amount
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.tables.asked import Asked
from core.rag.retrieval.tables.dates import written_as
from core.rag.retrieval.tables.table import RecordTable
from core.rag.retrieval.tables.tabulating import Tabulation
from core.rag.retrieval.tables.values import is_missing, shown

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How many characters of documents are looked through, and how many rows of their tables: else, which table is meant
#: cannot be told in time.
_LONGEST: Final = 2_000_000
_MOST_ROWS: Final = 1_000
#: Of so few numbers, one may be the sum of the others by chance.
_FEW: Final = 3
_COMPARING: Final = frozenset({">=", ">", "<=", "<"})
_COUNTING: Final = frozenset({"count", "distinct", "share", "list"})


@dataclass(frozen=True, slots=True)
class _Found:
    """A table that a question is about, and what it asks."""

    hit: Hit
    table: DocumentTable
    records: list[dict[str, str]]
    seen: Seen
    question: Question
    plan: Plan

    def is_told_apart(self, column: str) -> bool:
        """Return whether the question names the rows by a column in which each has another value."""
        named = any(name == column for _, name in self.seen.named(self.question))
        values = {record.get(column, "") for record in self.records}
        return named and len(values) == len(self.records)


async def computed_in_documents(
    client: MemGraphClient, asked: Sequence[Question], later: Sequence[Sequence[Question]], hits: Sequence[Hit]
) -> list[Computed]:
    """Work out what a question asks of the rows of a table in a document.

    Args:
        client: The graph.
        asked: The question, as each language reads it.
        later: Questions that go on with it, in order; see :func:`core.rag.answering.computing.computed.computed`.
        hits: The passages that were found: the table has to be in one of their documents.

    Returns:
        One result; none if the question is not surely about such a table, or might be about several.

    Raises:
        StoreError: if the graph fails.
    """
    of_documents = {hit.document_id: hit for hit in reversed(hits) if any(_names(asked, head) for head in heads(hit))}
    if not of_documents:
        return []
    rows = await client.read_for_ids(
        f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN d.id AS id, {CONTENT_COLUMNS}", [*of_documents]
    )
    spellings = {
        spelled
        for one in (*asked, *(one for readings in later for one in readings))
        for spelled in (*one.spellings(), *one.singulars())
    }
    texts = {row["id"]: row["content"] for row in await with_content(rows, client.read)}
    if sum(map(len, texts.values())) > _LONGEST:
        return []
    tables = [
        (hit, table)
        for document, hit in sorted(of_documents.items(), key=lambda one: (one[1].path, one[0]))
        for table in tables_in(texts.get(document, ""))
        if _names(asked, table.head)
    ]
    if sum(len(table.rows) for _, table in tables) > _MOST_ROWS:
        return []
    found: _Found | None = None
    for hit, table in tables:
        one = _asks(asked, later, spellings, hit, table)
        if found is not None and one is not None and one.records != found.records:  # copies say the same
            return []
        found = found or one
    line = await _told(found) if found is not None and _is_sure(found) else ""
    return [Computed(await _hit(client, line, found))] if found is not None and line else []


def _names(asked: Iterable[Question], head: Iterable[str]) -> bool:
    """Return whether a question names a column."""
    seen = Seen("", fields={name: SeenField() for name in head})
    return any(True for one in asked for _ in seen.named(one))


def _asks(
    asked: Sequence[Question],
    later: Sequence[Sequence[Question]],
    spellings: set[str],
    hit: Hit,
    table: DocumentTable,
) -> _Found | None:
    """Return what a question asks of a table; ``None`` if it is not surely about it."""
    name = next(iter(table.nearest), hit.title)
    of = f" of {hit.title or hit.path}" if name != hit.title else ""
    called = dict.fromkeys(filter(None, (table.caption, *table.headings, hit.title)))
    records = records_of(table)
    seen = Seen(f'the table "{name}"{of}', called=tuple(called), written=written_as(records))
    seen.take(records, spellings)
    for question in asked:
        if (plan := planned(question, later, seen)) is not None:
            return _Found(hit, table, records, seen, question, plan)
    return None


def _is_sure(found: _Found) -> bool:
    """Return whether the rows tell what is asked.

    What is compared or added up has to be numbers only, and added up if the question says so: "How many floors does the
    tallest building have" does not. Where nothing is said of the rows that are counted, these have to be all that there
    are: the table is called by what is asked for.
    """
    plan, table, seen, question = found.plan, found.table, found.seen, found.question
    if plan.kind in {"most", "fewest"}:  # who has most rows is seldom who has most of anything
        return False
    cues = {one.cue for one in question.cues}
    measured = {one.field for one in plan.conditions if one.sign in _COMPARING}
    if plan.kind not in _COUNTING:
        measured.add(plan.field)
    for name in measured:
        if not (seen.fields[name].is_date or all(_is_number(record.get(name)) for record in found.records)):
            return False
    if plan.kind not in _COUNTING and _adds_up(found.records, plan.field):
        return False
    if plan.kind == "sum":
        return "sum" in cues
    if plan.kind == "distinct" and any(shown(record.get(plan.field))[:1].isdigit() for record in found.records):
        return False  # "how many viewers were there": these are amounts, also those with a unit
    if plan.conditions or plan.kind not in _COUNTING:
        return True
    return any(collection_named(question, name) for name in table.nearest) and (
        plan.kind != "count" or bool(plan.group_by) or any(map(found.is_told_apart, seen.fields))
    )


def _adds_up(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Return whether the first or last row has the sum of all others, whatever it is called ("All places")."""
    numbers = [amount(record.get(column)) or 0 for record in records]
    return len(numbers) > _FEW and any(one and 2 * one == sum(numbers) for one in (numbers[0], numbers[-1]))


def _is_number(value: Any) -> bool:
    return is_missing(value) or shown(value).strip().casefold() in NOTHING or amount(value) is not None


async def _told(found: _Found) -> str:
    """Return the result as a line; empty if there is none, or if no row is as the question says: it may be misread."""
    records = [{"id": str(number), "data": data} for number, data in enumerate(found.records)]
    plan = found.plan
    if plan.kind == "distinct" and all(one.cue != "distinct" for one in found.question.cues):
        plan = replace(plan, unique=plan.field)  # else it may be rows that are counted
    matching = len(records)

    async def tabulate(asked: Asked) -> RecordTable:
        nonlocal matching
        tabulation = Tabulation(found.seen.name, asked, found.seen.written)
        tabulation.take(records)
        table = tabulation.table()
        matching = min(matching, table.records)
        return table

    try:
        line = await told(tabulate, plan, found.seen)
    except InvalidInputError:  # too many groups
        return ""
    return line if matching else ""


async def _hit(client: MemGraphClient, line: str, found: _Found) -> Hit:
    """Return the result as a passage whose place is the table."""
    hit = found.hit
    chunks = await client.read(
        "MATCH (d:Document {id: $id})<-[:CHUNK_OF]-(c:DocumentChunk) "
        "WHERE c.start_char <= $start AND c.end_char > $start "
        "RETURN c.id AS id, c.heading AS heading, c.chunk_index AS place ORDER BY place DESC LIMIT 1",
        id=hit.document_id,
        start=found.table.start,
    )
    chunk: dict[str, Any] = (
        chunks[0] if chunks else {"id": hit.chunk_id, "heading": hit.heading, "place": hit.chunk_index}
    )
    return Hit(
        chunk_id=chunk["id"],
        document_id=hit.document_id,
        path=hit.path,
        title=hit.title,
        heading=chunk["heading"],
        content=line,
        chunk_index=chunk["place"],
        start_char=found.table.start,
        end_char=found.table.end,
        score=1.0,
        metadata={COMPUTED: True},
    )
