"""Which documents stand for all: those that together mention most of what several documents mention."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from core.rag.analysis import without_number
from core.rag.answering.admission import Admission
from core.rag.answering.extracts.showing import shown
from core.rag.answering.graph_index.index import FACT_COLUMNS, fact_of
from core.rag.answering.graph_index.search import MENTIONED, entity_of
from core.rag.answering.overview.tables import collections_told
from core.rag.answering.types import FoundEntity, FoundFact
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.extraction.source_code import is_code
from core.rag.extraction.words import normalize_name
from core.rag.headings import headings_of
from core.rag.schema import Label
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Of more documents than this, so many are drawn by lot.
MAX_DOCUMENTS = 1_000
#: How many names are told, and how many relations between what has these names.
NAMES, FACTS = 12, 20
_FIRST_CHUNKS = {
    "id": "c.id",
    "document": "c.parent_id",
    "path": "c.path",
    "place": "c.chunk_index",
    "size": "c.end_char - c.start_char",
    "heading": "c.heading",
}
#: With fewer characters, the first chunk of a document is hardly more than its title.
_SHORT = 300

#: What the beginning of source code counts beside that of a text.
_CODE = 0.3
#: Files that are written to say what the others are about.
_INTRODUCES = regex(r"(?:readme|index|about|overview|introduction|home)", re.IGNORECASE)
_SAYS_LITTLE = regex(r"[\d\W]*")


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is.

    Attributes:
        chunks: The beginnings of documents that stand for all, best first: the first chunk, and if it is short the
            second. Or parts of the documents that the question names.
        about: What is said of all of it together.
        names: What several documents mention, what most do first.
        facts: Relations between these.
        of_parts: Whether the chunks are parts of documents.
    """

    chunks: tuple[str, ...] = ()
    about: str = ""
    names: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    of_parts: bool = False


@dataclass(slots=True)
class _Seen:
    """A document.

    Attributes:
        path: Its path.
        chunks: Ids of its first chunks.
        size: Characters of the first one.
        names: What these mention.
        headings: The heading paths of these.
    """

    path: str
    chunks: list[str] = field(default_factory=list)
    size: int = 0
    names: set[str] = field(default_factory=set)
    headings: set[str] = field(default_factory=set)

    @property
    def is_code(self) -> bool:
        """Whether it is source code."""
        return is_code(self.path)

    def headed(self) -> set[str]:
        """Return its headings, as names are normalised."""
        return {normalize_name(without_number(name)) for path in self.headings for name in headings_of(path)}

    @property
    def beginning(self) -> list[str]:
        """Its first chunk; if that is short, also the second."""
        return self.chunks[: 2 if self.size < _SHORT else 1]


async def survey(client: MemGraphClient, most: int, filters: str | Mapping[str, Any] | None) -> Survey:
    """Choose documents that stand for all.

    Args:
        client: The graph.
        most: How many to choose.
        filters: Only documents that pass.

    Raises:
        FilterError: if the filter does not parse.
    """
    count, documents = await _documents(client, filters)
    of_chunk = {chunk: one for one in documents for chunk in one.chunks}
    found: dict[str, FoundEntity] = {}
    for row in await client.read_together(*MENTIONED, of_chunk):
        of_chunk[row["chunk"]].names.add(row["id"])
        if row["id"] not in found:
            found[row["id"]] = entity_of(row, "survey")
    # Identifiers of programs are no topics, where there are texts.
    texts = [one for one in documents if not one.is_code]
    shared = Counter(name for one in texts or documents for name in one.names)
    # What mostly is a heading ("Context") is of the form that the documents have, and no topic of theirs.
    called = {name: normalize_name(entity.name) for name, entity in found.items() if shared[name] > 1}
    formal: Counter[str] = Counter()
    for one in texts or documents:
        headed = one.headed()
        formal.update(name for name in one.names if called.get(name) in headed)
    names = sorted(
        (
            entity
            for entity in found.values()
            if shared[entity.id] > 1
            and 2 * formal[entity.id] <= shared[entity.id]
            and not _SAYS_LITTLE.fullmatch(entity.name)
        ),
        key=lambda entity: (-shared[entity.id], -entity.mention_count, entity.name),
    )[:NAMES]
    for entity in names:
        entity.score = 2.0  # as if the question named it
    chosen = _standing_for_all(documents, shared, most)
    tables = await collections_told(client) if filters is None else ""  # which of them pass, records do not tell
    return Survey(
        tuple(chunk for one in chosen for chunk in one.beginning),
        " ".join(filter(None, (_said(count, names) if count else "", tables))),
        tuple(names),
        tuple(await _facts(client, [entity.id for entity in names])),
    )


def _said(count: int, names: Sequence[FoundEntity]) -> str:
    there = "There is one document." if count == 1 else f"There are {count:,} documents."
    if not names:
        return there
    return f"{there} Several of them mention, most often first: {', '.join(shown(one.name) for one in names)}."


async def _documents(client: MemGraphClient, filters: str | Mapping[str, Any] | None) -> tuple[int, list[_Seen]]:
    """Return how many documents there are, and up to ``MAX_DOCUMENTS`` of them by path."""
    rows = await client.read_together(
        "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.chunk_index < 2", _FIRST_CHUNKS, None
    )
    # Ids are hashes: those of the first ones are drawn by lot, and always the same.
    rows.sort(key=lambda row: (str(row["document"]), row["place"]))
    if filters is not None:
        rows = await _passing(client, rows, filters)
    seen: dict[str, _Seen] = {}
    for row in rows:
        one = seen.setdefault(row["document"], _Seen(row["path"] or ""))
        one.size = one.size if one.chunks else int(row["size"] or 0)
        one.chunks.append(row["id"])
        one.headings.add(row["heading"] or "")
    drawn = islice(seen.values(), MAX_DOCUMENTS)
    return len(seen), sorted(drawn, key=lambda one: (one.path, one.chunks))


async def _passing(
    client: MemGraphClient, rows: list[dict[str, Any]], filters: str | Mapping[str, Any]
) -> list[dict[str, Any]]:
    admission = Admission(client, filters)
    passing: set[str] = set()
    for part in batches([row["id"] for row in rows]):
        passing.update(await admission({Label.CHUNK: part}))
    return [row for row in rows if row["id"] in passing]


def _standing_for_all(documents: list[_Seen], shared: Mapping[str, int], most: int) -> list[_Seen]:
    """Return an introduction, if there is one; then always the document that adds most of what others mention, too."""
    left = dict(enumerate(documents))
    chosen: list[_Seen] = []
    told: set[str] = set()

    def take(place: int) -> None:
        chosen.append(left.pop(place))
        told.update(chosen[-1].names)

    def adds(place: int) -> tuple[float, bool]:
        one = left[place]
        new = math.fsum(shared[name] for name in one.names - told if shared[name] > 1)
        new *= _CODE if one.is_code else 1.0
        # Lists mention everything. Of those that add nothing more, texts come first, by path.
        return new / math.sqrt(max(len(one.names), 1)), not one.is_code

    introducing = [place for place, one in left.items() if _INTRODUCES.fullmatch(PurePosixPath(one.path).stem)]
    if introducing:
        take(min(introducing, key=lambda place: left[place].path.count("/")))
    while left and len(chosen) < most:
        take(max(left, key=adds))
    return chosen


async def _facts(client: MemGraphClient, entities: Iterable[str]) -> list[FoundFact]:
    validity = await valid_at(client)
    rows = await client.read(
        "UNWIND $ids AS i MATCH (a:Entity {id: i})-[r:RELATED]->(b:Entity) "
        f"WHERE b.id IN $ids {validity.narrowed('AND')}RETURN {FACT_COLUMNS}{validity.columns} "
        "ORDER BY weight DESC, source_id, target_id, type LIMIT $limit",
        ids=sorted(entities),
        limit=FACTS,
        **validity.parameters,
    )
    return [fact_of(row, "survey") for row in rows]
