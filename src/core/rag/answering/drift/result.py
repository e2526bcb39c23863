"""The results of DRIFT RAG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.rag.answering.drift.paths import InferredConnection, KnowledgeGap, Node, Path, TraversalStats
from core.rag.answering.drift.response import DRIFTResponse
from core.rag.answering.types import Answer
from core.rag.retrieval.hits import Hit


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """What was found for a question.

    Attributes:
        question: What was asked.
        parts: The questions in it; the question itself where there is one.
        entry_points: Where the traversals began.
        paths: The best paths, best first.
        inferences: Connections that the graph does not have; they are not written.
        gaps: What the paths leave open.
        stats: What was looked at, and what was left out.
        notes: What went otherwise than asked for, one sentence each.
        hits: The best passages of a plain search.
    """

    question: str
    parts: list[str]
    entry_points: list[Node] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    inferences: list[InferredConnection] = field(default_factory=list)
    gaps: list[KnowledgeGap] = field(default_factory=list)
    stats: TraversalStats = field(default_factory=TraversalStats)
    notes: list[str] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)

    def details(self) -> dict[str, Any]:
        """Everything but the answer as plain values, ready for JSON."""
        return {
            "parts": list(self.parts),
            "entry_points": [
                {"id": node.id, "label": node.label, "name": node.name, "score": node.score}
                for node in self.entry_points
            ],
            "paths": [path.to_dict() for path in self.paths],
            "inferences": [item.to_dict() for item in self.inferences],
            "gaps": [gap.to_dict() for gap in self.gaps],
            "visited": {
                "edges": self.stats.visited_edges,
                "nodes": self.stats.visited_nodes,
                "depth": self.stats.depth,
                "limits": list(self.stats.limits),
            },
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class DRIFTResult(Exploration):
    """An answer, which prints as its text, and everything that led to it.

    Attributes:
        response: The answer.
    """

    response: DRIFTResponse

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.response.text

    @property
    def answer(self) -> Answer:
        """The answer as every strategy gives it, with citations."""
        return self.response.answer

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        found = {"question": self.question, "text": self.text, "answer": self.answer.to_dict(), **self.details()}
        return found | {"hits": [hit.to_dict() for hit in self.hits]}

    def __str__(self) -> str:
        """Return the text of the answer."""
        return self.text
