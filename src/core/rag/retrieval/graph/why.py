"""Explains why a passage was found: the titles and the sentence that led to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from core.rag.indexing.splitting.sentences import without_quotation_marks
from core.rag.retrieval.graph.bridging import Way
from core.rag.retrieval.hits import Because, Reason


@dataclass(frozen=True, slots=True)
class Trace:
    """A :class:`Because` with ids, before titles and names are known.

    Attributes:
        reason: The kind of reason.
        passages: Ids of the passages that led to it, in order, its own last.
        sentence: See :class:`Because`.
        entity: Id of the entity that the sentence or the question names; empty if there is none.
    """

    reason: Reason
    passages: tuple[str, ...]
    sentence: str = ""
    entity: str = ""

    def among(self, passing: Collection[str], contents: Mapping[str, str]) -> Trace:
        """Return it without what passages say that do not pass a filter, and without the titles that these come after.

        Args:
            passing: Ids of the passages that pass.
            contents: The texts of the passages whose sentences are told; a fact may be stated by another one.
        """
        *before, own = self.passages
        first = max((place for place, passage in enumerate(before, 1) if passage not in passing), default=0)
        said = before[first:] and self.sentence in contents.get(before[-1], "")
        return replace(self, passages=(*before[first:], own), sentence=self.sentence if said else "")

    def told(self, titles: Mapping[str, str], names: Mapping[str, str]) -> Because:
        """Convert it, with titles and names instead of ids."""
        path: list[str] = []
        for passage in self.passages:
            title = titles.get(passage, "")
            if title and path[-1:] != [title]:
                path.append(title)
        return Because(self.reason, tuple(path), without_quotation_marks(self.sentence), names.get(self.entity, ""))


def trace(
    passage: str,
    ways: Mapping[str, Way],
    anchors: Mapping[str, tuple[float, str]],
    shared: str = "",
) -> Trace:
    """Follow the ways back from a passage to their start.

    Args:
        passage: Its id.
        ways: The way to each passage that was reached over a bridge.
        anchors: The passages that the question names, each with its entity.
        shared: The rarest entity that both the question names and the passage mentions; empty if there is none.
    """
    if passage in anchors:
        return Trace("named", (passage,), entity=anchors[passage][1])
    way = ways.get(passage)
    if way is None:
        return Trace("related" if shared else "words", (passage,), entity=shared)
    path = [passage]
    step: Way | None = way
    while step is not None and step.seed not in path:
        path.append(step.seed)
        step = None if step.seed in anchors else ways.get(step.seed)
    reason: Reason = "bridge" if way.about else "mention"
    return Trace(reason, tuple(reversed(path)), way.sentence, way.entity)
