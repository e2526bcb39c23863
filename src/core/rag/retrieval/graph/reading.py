"""Reads a neighbourhood in a few bounded statements, the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.identity import entity_id
from core.rag.retrieval.graph.neighbourhood import MAX_HOLDERS, Beginning, Entity, Fact, Neighbourhood
from core.rag.retrieval.graph.subjects import OPENING_CHARS, place_name
from core.rag.together import all_together, together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Maximum number of chunks of a document that are read, from its beginning.
MAX_CHUNKS: Final = 64
#: Maximum number of edges of one kind that are read at once.
MAX_EDGES: Final = 4_000

#: Maximum number of facts about an entity that are used.
MAX_FACTS: Final = 50

#: The columns that identify rows, in alphabetical order.
_KEYS: Final = frozenset({"entity", "id", "passage", "type"})

#: The columns that have a value in every row, unless what is read was deleted meanwhile: Neo4j gives null for the
#: properties of a node that another client deletes while the statement runs.
_ALWAYS: Final = _KEYS - {"type"} | {"name", "ours", "theirs", "document", "place", "content", "opening"}

_ENTITY: Final = {
    "id": "e.id",
    "name": "e.normalized_name",
    "mention_count": "e.mention_count",
    "titled": "e.titled",
}


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a passage.

    Attributes:
        title: The title of its document.
        content: The text.
        words: Its analysed words.
    """

    title: str
    content: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mentioned:
    """What passages mention, as it was read.

    Attributes:
        passages: Ids of the passages.
        mentions: Passage, how often it mentions an entity, and the arguments of :meth:`.Entity.of`.
        titles: The same for the titles of their documents: passage, id of the document, and the entity.
    """

    passages: frozenset[str] = frozenset()
    mentions: Sequence[Sequence[Any]] = ()
    titles: Sequence[Sequence[Any]] = ()

    def entities(self) -> list[Entity]:
        """Return the entities, in the order of their ids."""
        found = {row[-4]: row[-4:] for rows in (self.mentions, self.titles) for row in rows}
        return [Entity.of(*found[key]) for key in sorted(found)]

    def add_to(self, around: Neighbourhood) -> None:
        """Add it to a neighbourhood that has the passages."""
        around.add_rows(self.mentions)
        around.add_mentions((passage, key, float(count or 1)) for passage, count, key, *_ in self.mentions)
        around.add_rows(self.titles)
        for passage, document, key, *_ in self.titles:
            around.add_subject(key, passage, document)


@dataclass(frozen=True, slots=True)
class _Stated:
    """A fact as it is stored.

    Attributes:
        about: Id of the entity that it was read for.
        entity: The entity at its other end.
        text: The fact as a sentence.
        chunks: Ids of the chunks that support it.
        weight: Its weight.
    """

    about: str
    entity: Entity
    text: str
    chunks: Sequence[str]
    weight: float

    @classmethod
    def of(cls, row: Sequence[Any], *, turned: bool) -> _Stated:
        """Make it from a row; a turned one leads to the entity that it was read for."""
        about, ours, theirs, kind, fact, chunks, weight, *entity = row
        source, target = (theirs, ours) if turned else (ours, theirs)
        text = fact or f"{source} {kind.replace('_', ' ')} {target}"
        return cls(about, Entity.of(*entity), text, chunks or [], float(weight or 0.0))


class GraphReader:
    """Reads what is around passages and entities in one namespace."""

    def __init__(self, client: MemGraphClient) -> None:
        """Read with a client."""
        self._client = client

    async def entities(self, names: Iterable[str]) -> list[Entity]:
        """Return the entities with these normalised names."""
        ids = sorted({entity_id(self._client.namespace, name) for name in names})
        return [Entity.of(*row) for row in await self._read("MATCH (e:Entity {id: i})", _ENTITY, ids)]

    async def add_same(self, around: Neighbourhood, entities: Collection[str]) -> dict[str, list[str]]:
        """Add the entities that SAME_AS edges connect with these.

        Returns:
            For each entity with such an edge, the ids of the entities at the other ends.
        """
        rows = await self._read(
            "MATCH (a:Entity {id: i})-[:SAME_AS]-(e:Entity) WITH DISTINCT i, e", {"entity": "i", **_ENTITY}, entities
        )
        around.add_rows(rows)
        found: dict[str, list[str]] = {}
        for entity, other, *_ in rows:
            found.setdefault(entity, []).append(other)
        return found

    async def mentioned(self, passages: Collection[str]) -> Mentioned:
        """Return what passages mention, and the titles of their documents."""
        mentions, titles = await together(
            self._read(
                "MATCH (c:DocumentChunk {id: i})-[m:MENTIONS]->(e:Entity)",
                {"passage": "i", "count": "m.count", **_ENTITY},
                passages,
            ),
            self._read(
                "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)-[:TITLED]->(e:Entity)",
                {"passage": "i", "document": "d.id", **_ENTITY},
                passages,
            ),
        )
        return Mentioned(frozenset(passages), mentions, titles)

    async def add_surroundings(self, around: Neighbourhood, entities: Collection[str]) -> None:
        """Add the passages of documents titled like entities, and those that mention them."""
        titles, holders = await together(self._titles(around, entities), self._holders(around, entities))
        _take_titles(around, titles)
        _take_holders(around, holders)
        await self.add_subjects(around)

    async def widen(self, around: Neighbourhood, passages: Collection[str], mentioned: Mentioned | None = None) -> None:
        """Add what passages mention, and what is around that.

        Args:
            around: What is known so far.
            passages: Ids of the passages.
            mentioned: What some of them mention, if it has been read.
        """
        around.add_passages(sorted(passages))
        known = Mentioned() if mentioned is None else mentioned
        more = await self.mentioned([passage for passage in passages if passage not in known.passages])
        for part in (known, more):
            part.add_to(around)
        entities = {entity for passage in passages for entity in around.mentions.get(passage, ())}
        await self.add_surroundings(around, entities)

    async def add_holders(self, around: Neighbourhood, entities: Collection[str]) -> None:
        """Add the passages that mention entities, and what they are about."""
        _take_holders(around, await self._holders(around, entities, least=1))
        await self.add_subjects(around)

    async def add_subjects(self, around: Neighbourhood) -> None:
        """Add what passages are about by their headings, or by the name that their document begins with."""
        # The text is cut in Python: left() counts bytes on Memgraph, and half a character breaks the connection.
        rows = await self._read(
            "MATCH (c:DocumentChunk {id: i})",
            {
                "passage": "i",
                "document": "c.parent_id",
                "heading": "c.heading",
                "opening": "CASE WHEN c.chunk_index = 0 AND coalesce(c.heading, '') = '' THEN c.content ELSE '' END",
            },
            around.mentions.keys() - around.beginnings.keys(),
        )
        for passage, document, heading, opening in rows:
            around.beginnings[passage] = Beginning(document, heading or "", opening[:OPENING_CHARS])
        around.settle_subjects()

    async def _holders(self, around: Neighbourhood, entities: Collection[str], *, least: int = 2) -> list[list[Any]]:
        """Return the passages that mention entities, of the rarest entities first, up to ``MAX_EDGES`` mentions.

        Entities that fewer than ``least`` passages mention, or more than ``MAX_HOLDERS``, are left out.
        """
        held = (around.entities[entity] for entity in entities)
        wanted = _up_to(
            MAX_EDGES,
            ((entity, entity.mention_count) for entity in held if least <= entity.mention_count <= MAX_HOLDERS),
        )
        rows = await self._read(
            "MATCH (e:Entity {id: i})<-[m:MENTIONS]-(c:DocumentChunk)",
            {"entity": "i", "passage": "c.id", "count": "m.count"},
            wanted,
        )
        rows.sort(key=lambda row: wanted[row[0]])
        return rows

    async def add_titled(self, around: Neighbourhood, entities: Collection[str]) -> None:
        """Add passages of documents titled like entities, except entities with over ``MAX_HOLDERS`` documents."""
        _take_titles(around, await self._titles(around, entities))

    async def _titles(self, around: Neighbourhood, entities: Collection[str]) -> list[list[Any]]:
        """Return passages of documents titled like entities: the beginnings of all first, those of rare titles before.

        Of many documents, fewer passages of each are read: ``MAX_EDGES`` in all.
        """
        titled = (around.entities[entity] for entity in entities)
        wanted = _up_to(MAX_EDGES, ((entity, entity.titled) for entity in titled if 0 < entity.titled <= MAX_HOLDERS))
        documents = sum(around.entities[entity].titled for entity in wanted)
        rows = await self._read(
            "MATCH (e:Entity {id: i})<-[:TITLED]-(d:Document)<-[:CHUNK_OF]-(c:DocumentChunk) "
            "WHERE c.chunk_index < $chunks",
            {"entity": "i", "passage": "c.id", "document": "d.id", "place": "c.chunk_index"},
            wanted,
            chunks=min(MAX_CHUNKS, MAX_EDGES // max(documents, 1)),
        )
        rows.sort(key=lambda row: (row[3], wanted[row[0]]))
        return rows

    async def add_facts(
        self, around: Neighbourhood, entities: Collection[str], named: Collection[str], share: Callable[[str], float]
    ) -> None:
        """Add the facts about entities, the entities at their other ends, and what is around those.

        A chunk that supports a fact counts as mentioning both of its ends. Of an entity with more than ``MAX_FACTS``,
        those are added that lead to what the question names, then those that have most of its words, are supported by
        most passages at hand, or by most at all.

        Args:
            around: What is known so far.
            entities: The entities.
            named: The entities that the question names.
            share: Returns the share of the question that a text has.
        """
        at_hand = set(around.mentions)
        facts: dict[str, list[_Stated]] = {}
        for stated in await self._stated(entities, named):
            facts.setdefault(stated.about, []).append(stated)

        def order(stated: _Stated) -> tuple[Any, ...]:
            support = len(at_hand.intersection(stated.chunks))
            entity = stated.entity
            return entity.id not in named, -share(stated.text), -support, -stated.weight, entity.name, stated.text

        others: set[str] = set()
        for entity, known in sorted(facts.items()):
            for stated in sorted(known, key=order)[:MAX_FACTS] if len(known) > MAX_FACTS else known:
                around.add_entities([stated.entity])
                other = stated.entity.id
                around.facts.setdefault(entity, []).append(Fact(stated.text, other))
                others.add(other)
                chunks = sorted(stated.chunks, key=lambda chunk: (chunk not in at_hand, chunk))
                for chunk in chunks[:MAX_HOLDERS]:
                    around.add_mention(chunk, entity, 1.0)
                    around.add_mention(chunk, other, 1.0)
        if others:
            await self.add_surroundings(around, others)

    async def _stated(self, entities: Collection[str], named: Collection[str]) -> list[_Stated]:
        """Return the facts about entities that hold now: of each, ``MAX_EDGES`` in either direction."""
        validity = await valid_at(self._client)
        outward, inward = await all_together(
            self._read(
                f"MATCH (a:Entity {{id: i}}) CALL {{ WITH a MATCH (a){arrow}(e:Entity) "
                f"WHERE (r.chunk_ids IS NOT NULL OR r.fact IS NOT NULL) {validity.narrowed('AND')}"
                "WITH e, r ORDER BY CASE WHEN e.id IN $named THEN 0 ELSE 1 END, r.weight DESC, e.name "
                f"LIMIT {MAX_EDGES} RETURN e, r }}",
                {
                    "entity": "i",
                    "ours": "a.name",
                    "theirs": "e.name",
                    "type": "coalesce(r.type, '')",
                    "fact": "r.fact",
                    "chunks": "r.chunk_ids",
                    "weight": "r.weight",
                    **_ENTITY,
                },
                entities,
                named=sorted(named),
                **validity.parameters,
            )
            for arrow in ("-[r:RELATED]->", "<-[r:RELATED]-")
        )
        return [_Stated.of(row, turned=rows is inward) for rows in (outward, inward) for row in rows]

    async def texts(self, passages: Collection[str]) -> dict[str, Text]:
        """Return the texts of passages."""
        rows = await self._read(
            "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)",
            {"passage": "i", "title": "d.title", "content": "c.content", "terms": "c.terms"},
            passages,
        )
        return {passage: Text(title or "", content, _words(terms)) for passage, title, content, terms in rows}

    async def words(self, passages: Collection[str]) -> dict[str, frozenset[str]]:
        """Return the analysed words of passages."""
        rows = await self._read("MATCH (c:DocumentChunk {id: i})", {"passage": "i", "terms": "c.terms"}, passages)
        return {passage: _words(terms) for passage, terms in rows}

    async def places(self, passages: Collection[str]) -> dict[str, str]:
        """Return the titles of the documents of passages, with the headings of their sections."""
        rows = await self._read(
            "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)",
            {"passage": "i", "title": "d.title", "heading": "c.heading"},
            passages,
        )
        return {passage: place_name(title or "", heading or "") for passage, title, heading in rows}

    async def spellings(self, entities: Collection[str]) -> dict[str, str]:
        """Return the spellings of entities."""
        return dict(await self._read("MATCH (e:Entity {id: i})", {"entity": "i", "name": "e.name"}, entities))

    async def _read(
        self, match: str, columns: Mapping[str, str], ids: Collection[str], **parameters: Any
    ) -> list[list[Any]]:
        """Return the columns of what matches for each id as ``i``, in an order that only depends on their contents.

        Rows about what is deleted meanwhile are left out.
        """
        rows = await self._client.read_lists(match, columns.values(), sorted(ids), at_once=1000, **parameters)
        places = {name: place for place, name in enumerate(columns)}
        needed = [place for name, place in places.items() if name in _ALWAYS]
        rows = [row for row in rows if None not in row or all(row[place] is not None for place in needed)]
        rows.sort(key=itemgetter(*(places[name] for name in sorted(places.keys() & _KEYS))))
        return rows


def all_of(same: Mapping[str, Sequence[str]]) -> list[str]:
    """Return all that :meth:`GraphReader.add_same` has given, each once."""
    return list(dict.fromkeys(other for others in same.values() for other in others))


def _up_to(most: int, counted: Iterable[tuple[Entity, int]]) -> dict[str, int]:
    """Return the ids of entities with the lowest counts, as many as have ``most`` together, and the place of each."""
    found: dict[str, int] = {}
    for entity, count in sorted(counted, key=lambda item: (item[1], item[0].mention_count, item[0].name)):
        most -= count
        if most < 0:
            break
        found[entity.id] = len(found)
    return found


def _take_titles(around: Neighbourhood, rows: Iterable[Sequence[Any]]) -> None:
    for entity, passage, document, _ in rows:
        around.add_subject(entity, passage, document)


def _take_holders(around: Neighbourhood, rows: Iterable[Sequence[Any]]) -> None:
    around.add_mentions((passage, entity, float(count or 1)) for entity, passage, count in rows)


def _words(terms: str | None) -> frozenset[str]:
    return frozenset((terms or "").split())
