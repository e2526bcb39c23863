"""Finds what is near the entities that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.analysis.language import question_language
from core.rag.analysis.stopwords import stop_words
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.traversal import Followed
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.extraction.matching import sequences
from core.rag.extraction.words import is_unspaced, normalize_name, normalized_words
from core.rag.graph.hops import ring
from core.rag.graph.parts import GraphEdge, GraphNode
from core.rag.graph.spelling import with_other_accents
from core.rag.identity import entity_id
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_EDGES = (EdgeType.RELATED, EdgeType.SAME_AS)

#: Maximum number of words of a question that are used, and of a name.
_MAX_WORDS = 60
_MAX_NAME_WORDS = 6

#: Maximum number of entities that a question names, and that a walk visits.
_MAX_SEEDS = 16
_MAX_REACHED = 2_000

#: Maximum number of edges of an entity that are followed, the heaviest first.
_FAN_OUT = 100


@dataclass(slots=True)
class Surroundings:
    """Entities around those that a question names.

    Attributes:
        seeds: The share of the question, 0 to 1, that each named entity covers, by id.
        nodes: All entities, by id.
        steps: By id, the distance from each seed that is near enough.
        edges: The edges between them that were followed.
    """

    seeds: dict[str, float]
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    steps: dict[str, dict[str, int]] = field(default_factory=dict)
    edges: dict[tuple[str, str, str, str], GraphEdge] = field(default_factory=dict)

    def closeness(self, entities: Sequence[str]) -> float:
        """Return the closeness of these entities: for each seed its share, halved at one step, a third at two."""
        total = 0.0
        for seed, share in self.seeds.items():
            distances = [self.steps[entity][seed] for entity in entities if seed in self.steps.get(entity, ())]
            if distances:
                total += share / (1 + min(distances))
        return total


async def surroundings(client: MemGraphClient, question: str, depth: int, at: Time | None = None) -> Surroundings:
    """Find the entities that a question names, and those within some steps of them.

    Args:
        client: The graph.
        question: Any text.
        depth: Number of steps along RELATED and SAME_AS, in either direction.
        at: When facts hold; see :func:`valid_at`.
    """
    edges = Followed(_EDGES, validity=await valid_at(client, at))
    named = await _named(client, question)
    found = Surroundings({node.id: share for node, share in named})
    for node, _ in named:
        found.nodes[node.id] = node
        found.steps[node.id] = {node.id: 0}
    level = list(found.nodes)
    for step in range(1, depth + 1):
        if not level or len(found.nodes) >= _MAX_REACHED:
            break
        below: dict[str, None] = {}
        around = await ring(client, dict.fromkeys(level, Label.ENTITY), edges, "both", _FAN_OUT)
        for here in level:
            for row in around.rows.get(here, ()):
                if row["id"] not in found.nodes:
                    if len(found.nodes) >= _MAX_REACHED:
                        continue
                    found.nodes[row["id"]] = GraphNode.of(row, step)
                edge = GraphEdge.of(row)
                found.edges[edge.key] = edge
                there = found.steps.setdefault(row["id"], {})
                for seed, distance in list(found.steps[here].items()):
                    if distance == step - 1 and there.get(seed, step) >= step:
                        there[seed] = step
                        below[row["id"]] = None
        level = list(below)
    return found


async def _named(client: MemGraphClient, question: str) -> list[tuple[GraphNode, float]]:
    """Return entities whose names are in a question, the longest first; else those whose names have a word of it."""
    words = normalized_words(question)[:_MAX_WORDS]
    common = stop_words(question_language(question.split()))
    telling = [word for word in dict.fromkeys(words) if word not in common]
    if not telling:
        return []
    ids: dict[str, tuple[int, int]] = {}
    for start, end in sequences(words, _MAX_NAME_WORDS):
        if end - start > 1 or words[start] not in common:
            ids.setdefault(entity_id(client.namespace, " ".join(words[start:end])), (start, end))
    there = await client.nodes_by_id(list(ids), (Label.ENTITY,))
    taken: set[int] = set()
    found: list[tuple[GraphNode, float]] = []
    for identifier, (start, end) in ids.items():
        if identifier in there and not taken.issuperset(range(start, end)):
            taken.update(range(start, end))
            covered = len(set(words[start:end]) & set(telling))
            found.append((GraphNode.of(there[identifier]), max(covered, 1) / len(telling)))
    covered_words = {words[position] for position in taken}
    # A single letter of a script without spaces is no word: の is in thousands of names.
    left = [word for word in telling if word not in covered_words and not is_unspaced(word)]
    if left and len(found) < _MAX_SEEDS:
        known = {node.id for node, _ in found}
        for row in await client.nodes_with_words(left, 10 * _MAX_SEEDS, labels=(Label.ENTITY,)):
            parts = normalized_words(row["name"])
            same = [word for word in left if word in parts]
            if same and row["id"] not in known:
                share = len(same) / len(telling) * len(same) / len(parts)
                found.append((GraphNode.of(row), share))
    if not found:
        spans = {" ".join(words[start:end]): end - start for start, end in sequences(words, _MAX_NAME_WORDS)}
        # A single word in lower case is hardly a name: "How much is it worth?" does not ask of Wörth.
        capital = {normalize_name(word) for word in question.split() if word[0].isupper()}
        others = await with_other_accents(client, [name for name in spans if " " in name or name in capital])
        entities = {row["id"]: row for row in await client.entities_called(list(others.values()))}
        for written, name in others.items():
            if entity := entities.get(entity_id(client.namespace, name)):
                found.append((GraphNode.of(entity), min(spans[written] / len(telling), 1.0)))
    found.sort(key=lambda item: (-item[1], -(item[0].mentions or 0), item[0].name, item[0].id))
    return found[:_MAX_SEEDS]
