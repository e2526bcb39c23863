"""What the graph ranks, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from core.rag.retrieval.graph.bridging import Way
from core.rag.retrieval.graph.neighbourhood import Neighbourhood
from core.rag.retrieval.graph.why import Trace, trace


@dataclass(frozen=True, slots=True)
class Found:
    """The results of the first search.

    Attributes:
        scores: Fused score by passage, 0 to 1.
        keyword: BM25 score by passage.
        cosine: Cosine of each passage with the question.
        usual: The average cosine of a passage.
        total: Number of chunks in the corpus.
    """

    scores: Mapping[str, float]
    keyword: Mapping[str, float]
    cosine: Mapping[str, float]
    usual: float
    total: int


@dataclass(slots=True)
class Ranked:
    """Passages ranked by the graph.

    Attributes:
        scores: Scores by passage, 0 to 1.
        walked: The part of the scores from the walk, before any bridge.
        named: Ids of the entities that the question names.
        ways: The way to each passage that was reached over a bridge.
        anchors: The passages that the question names, with their strengths and entities.
        around: The neighbourhood.
        doubted: The anchors that may be accidents: their name is a common word, or the question writes it small and the
            first search, in which the words of a title count more than others, has them not among its best.
        written: The specificity of the rarest name that the question writes with a capital and few passages mention;
            0 if there is none.
        sides: The passages about each thing that the question names.
    """

    scores: dict[str, float]
    walked: dict[str, float] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    ways: dict[str, Way] = field(default_factory=dict)
    anchors: dict[str, tuple[float, str]] = field(default_factory=dict)
    around: Neighbourhood = field(default_factory=lambda: Neighbourhood(0))
    doubted: AbstractSet[str] = frozenset()
    written: float = 0.0
    sides: Sequence[Sequence[str]] = ()

    @property
    def is_linked(self) -> bool:
        """Whether any entities were extracted from the passages found."""
        return any(self.around.mentions.values())

    def places(self) -> dict[str, str]:
        """Return the documents of passages, or their sections if the graph led to the section.

        Documents of the same title count as one, since a name leads to all of them alike.
        """
        meant = {passage: entity for passage, (_, entity) in self.anchors.items()}
        meant.update((passage, way.entity) for passage, way in self.ways.items() if way.about)
        titles = self.around.titles()
        found = {}
        for passage, begins in self.around.beginnings.items():
            place = self.around.subjects.get(meant.get(passage, ""), {}).get(passage, begins.document)
            found[passage] = titles.get(passage, place) if place == begins.document else place
        return found

    def traces(self, passages: Iterable[str]) -> dict[str, Trace]:
        """Return how passages were found."""
        told = {key: way for key, way in self.ways.items() if 2 * way.score >= self.walked.get(key, 0.0)}
        found = {}
        for passage in passages:
            shared = self.around.mentions.get(passage, {}).keys() & self.named
            rarest = max(sorted(shared), key=self.around.rarity, default="")
            found[passage] = trace(passage, told, self.anchors, rarest)
        return found
