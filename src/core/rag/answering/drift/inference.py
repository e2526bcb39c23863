"""Infers connections that the graph does not have, and identifies knowledge gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from core.rag.answering.drift.config import InferenceStrategy
from core.rag.answering.drift.paths import InferredConnection, Node, Path
from core.rag.answering.drift.reader import PathReader
from core.rag.answering.drift.scoring import order
from core.rag.answering.drift.semantic import ask_model
from core.rag.answering.drift.validation import valid_only
from core.rag.answering.drift.vectors import Vectors
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.errors import LanguageModelError
from core.rag.graph.hops import by_label
from core.rag.schema import Label
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.llm import LanguageModel

_NEIGHBOURS = 100
_NAMED_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class InferenceOptions:
    """Limits of the inference.

    Attributes:
        max_nodes: Number of nodes of the best paths that are compared with each other.
        max_inferences: Maximum number of connections to return.
        min_similarity: Minimum likeness of two texts (:mod:`core.rag.embedder.likeness`): a cosine with most models.
        min_confidence: Minimum confidence of shared neighbours, or of a model.
    """

    max_nodes: int = 40
    max_inferences: int = 10
    min_similarity: float = 0.7
    min_confidence: float = 0.3


@dataclass(frozen=True, slots=True)
class Inferences:
    """The result of an inference.

    Attributes:
        connections: Valid connections, best first.
        strategy: The strategy that was used.
        note: Why it is not the requested one; empty if it is.
    """

    connections: list[InferredConnection]
    strategy: InferenceStrategy
    note: str = ""


class InferenceEngine:
    """Infers connections between the nodes of paths; without a model and vectors only from the graph."""

    def __init__(
        self,
        client: MemGraphClient,
        *,
        language_model: LanguageModel | None = None,
        options: InferenceOptions | None = None,
    ) -> None:
        """Prepare an engine.

        Args:
            client: The graph; its embedder compares texts.
            language_model: For the strategy ``semantic``.
            options: Limits of the inference.
        """
        self._client = client
        self._model = language_model
        self._options = options or InferenceOptions()
        self._vectors = Vectors(client)

    async def infer(self, paths: Sequence[Path], query: str, strategy: InferenceStrategy = "semantic") -> Inferences:
        """Infer connections between nodes of the paths that no edge joins.

        Args:
            paths: The paths that were found.
            query: The question.
            strategy: ``semantic`` asks the model, ``similarity`` compares vectors, ``structural`` counts shared
                neighbours, rare ones more (L. Adamic, E. Adar, "Friends and neighbors on the Web", Social Networks
                25(3), 2003). If one is not possible, the next one is used.

        Returns:
            Valid connections, and how they were inferred.
        """
        nodes = self._nodes(paths)
        joined = {frozenset((edge.source, edge.target)) for path in paths for edge in path.edges}
        note = ""
        if strategy == "semantic":
            if self._model is None:
                note = "There is no language model, so connections were inferred from the similarity of texts."
            else:
                try:
                    found = await ask_model(self._model, query, nodes, paths)
                    return Inferences(await self._kept(found, nodes, joined, self._options.min_confidence), "semantic")
                except LanguageModelError as error:
                    note = f"The language model failed ({error}); connections were inferred from similar texts."
            strategy = "similarity"
        if strategy == "similarity" and not self._vectors.available:
            strategy, note = "structural", "There is no embedding service, so connections were inferred from the graph."
        if strategy == "similarity":
            found = await self._similar(nodes)
            return Inferences(await self._kept(found, nodes, joined, self._options.min_similarity), "similarity", note)
        found = await self._structural(nodes)
        return Inferences(await self._kept(found, nodes, joined, self._options.min_confidence), "structural", note)

    def _nodes(self, paths: Sequence[Path]) -> list[Node]:
        """Return the nodes of the best paths, entities before texts that contain them."""
        nodes: dict[str, Node] = {}
        for path in sorted(paths, key=order):
            for node in path.nodes:
                if node.label != Label.DOCUMENT or len(path.nodes) == 1:
                    nodes.setdefault(node.id, node)
            if len(nodes) >= self._options.max_nodes:
                break
        return list(nodes.values())[: self._options.max_nodes]

    async def _kept(
        self,
        found: Sequence[InferredConnection],
        nodes: Sequence[Node],
        joined: set[frozenset[str]],
        threshold: float,
    ) -> list[InferredConnection]:
        by_id = {node.id: node for node in nodes}
        valid = [item for item in valid_only(found, by_id) if item.confidence >= threshold]
        new = [item for item in valid if frozenset((item.source, item.target)) not in joined]
        most = self._options.max_inferences
        kept: list[InferredConnection] = []
        while new and len(kept) < most:
            part, new = new[: 2 * most], new[2 * most :]
            pairs = [(by_id[item.source], by_id[item.target]) for item in part]
            there = await PathReader(self._client).joined(pairs)
            kept += [item for item in part if frozenset((item.source, item.target)) not in there]
        return kept[:most]

    async def _similar(self, nodes: Sequence[Node]) -> list[InferredConnection]:
        vectors = await self._vectors.of_nodes(nodes)
        usual = await usual_cosine(self._client.embedder)
        found = []
        for a, b in combinations(nodes, 2):
            cosine = float(vectors[a.id] @ vectors[b.id])
            alike = likeness(cosine, usual)
            if alike >= self._options.min_similarity:
                reasoning = f"What is said of {_short(a)} and of {_short(b)} is similar (cosine {cosine:.2f})."
                found.append(
                    InferredConnection(a.id, b.id, "similar_to", min(alike, 1.0), reasoning, strategy="similarity")
                )
        return found

    async def _structural(self, nodes: Sequence[Node]) -> list[InferredConnection]:
        """Return the Adamic-Adar index as a confidence: 1 - exp(-sum over shared neighbours of 1 / ln(degree))."""
        reader = PathReader(self._client)
        ids = by_label((node.id, Label(node.label)) for node in nodes)
        ahead, back = await together(
            reader.hops(ids, "forward", limit=_NEIGHBOURS), reader.hops(ids, "backward", limit=_NEIGHBOURS)
        )
        around: dict[str, dict[str, Label]] = {node.id: {} for node in nodes}
        for hops in (ahead, back):
            for name, some in hops.items():
                around[name].update((other, label) for _, other, label in some)
        shared: dict[tuple[str, str], set[str]] = {}
        for a, b in combinations([node.id for node in nodes], 2):
            if b not in around[a] and a not in around[b] and (common := around[a].keys() & around[b].keys()):
                shared[a, b] = set(common)
        labels = {other: label for some in around.values() for other, label in some.items()}
        middle = by_label((name, labels[name]) for name in sorted(set().union(*shared.values()) if shared else ()))
        degrees = await reader.degrees(middle)
        names = {name: node.name for name, (node, _) in (await reader.nodes(middle)).items()}
        by_id = {node.id: node for node in nodes}
        return [self._from_shared(by_id[a], by_id[b], common, degrees, names) for (a, b), common in shared.items()]

    def _from_shared(
        self, a: Node, b: Node, common: set[str], degrees: Mapping[str, int], names: Mapping[str, str]
    ) -> InferredConnection:
        # A shared neighbour has a degree of at least two; a lower one means that the graph has just changed.
        rarity = {name: 1.0 / math.log(max(degrees.get(name, 2), 2)) for name in common}
        strongest = sorted(common, key=lambda name: (-rarity[name], name))[:_NAMED_NEIGHBOURS]
        listed = ", ".join(names.get(name, name)[:60] for name in strongest)
        more = f" and {len(common) - len(strongest)} more" if len(common) > len(strongest) else ""
        score = sum(rarity.values())
        return InferredConnection(
            a.id,
            b.id,
            "shares_neighbours",
            1.0 - math.exp(-score),
            f"{_short(a)} and {_short(b)} share the neighbours {listed}{more} (Adamic-Adar {score:.2f}).",
            strategy="structural",
        )


def _short(node: Node) -> str:
    return f"{' '.join(node.name.split())[:60] or node.id!r}"
