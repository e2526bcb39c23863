"""Sentences of sections that a question asks for by what they are for: "What do I need …?" asks for "Ingredients"."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from core.rag.analysis import analyze
from core.rag.analysis.purposes import purpose_asked
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.code_spans import Span

#: What the names of a passage have to have of the question, and of what those of the best one have.
_LEAST = 0.25
_OF_BEST = 0.7


class Sections:
    """The sections of the passages that a question asks for by what they are for."""

    def __init__(self, question: str, sources: Sequence[Source]) -> None:
        """Find out whether it does, and which passages are about the rest of it."""
        self._purpose = purpose_asked(question)
        self._sources = sources
        self._shares: list[float] = []
        if self._purpose is not None:
            rest = self._purpose.rest(question)
            self._shares = [_share(rest, source) for source in sources]
        best = max(self._shares, default=0.0)
        self._shares = [share / best if share >= max(_LEAST, _OF_BEST * best) else 0.0 for share in self._shares]

    def share(self, index: int, place: Span) -> float:
        """Return how much of the rest of a question a passage is about whose sentence is in such a section; at most 1.

        0 for other sentences. A line may say itself what it is for: "Cook time: 10 min".
        """
        purpose, source = self._purpose, self._sources[index]
        if purpose is None or not self._shares[index]:
            return 0.0
        label, colon, _ = source.text[place.start : place.end].partition(":")
        above = source.headings.above(place.start)
        return self._shares[index] if any(map(purpose.is_of, [*above, label] if colon else above)) else 0.0

    def share_of_heading(self, index: int, name: str) -> float:
        """Return how much of the rest of a question a passage is about if a heading in it is for what is asked."""
        return self._shares[index] if self._purpose is not None and self._purpose.is_of(name) else 0.0


def _share(rest: str, source: Source) -> float:
    words = set(analyze(rest, source.language))
    names = source.names | set(analyze(PurePosixPath(source.passage.hit.path).stem, source.language))
    return len(words & names) / len(words) if words else 0.0
