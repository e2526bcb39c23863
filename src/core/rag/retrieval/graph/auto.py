"""Decides how far to trust graph search and how far hybrid search, by the question and by what they found.

A graph helps where names lead from one passage to the next. Two things tell: the question names what some passage is
about, or a sentence of what was found does, and leads to a passage that has more of the question. Where neither is so,
as with abstracts and posts, a walk through shared names only stirs a ranking that is good. Nor is it so where a
question has a word in common with a title: "do wind turbines kill birds" does not begin at the article "Wind".

A title that a question writes small ("ending a project") and hybrid search has not among its best, though its words
count more there than any others, is there by accident: it is not believed. Where a question writes no rare name, and
none leads to what a passage is about, the graph has nothing to add, so the mode ``graph`` is hybrid search, too.

The more specific the name, the more is told by it: who asks for a film wants that film and what hangs on it, but of
"brown bears in Alaska" most passages are not in the article "Alaska". So the graph is believed as far as the most
specific name goes. A bridge that is the only support counts by half at most, and less (by the square) where its name is
frequent: in a corpus about one disease, sentences everywhere lead to the document that begins with it. So does a name
that the question writes with a capital, by a fifth at most (and the fourth power): what mentions it is likelier meant.
What is written small may be a mere word that is also a title ("until"): a bridge over such a name has to add a third of
the question or so, and as an anchor, it counts by the square.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.rag.retrieval.graph.bridging import Way
from core.rag.retrieval.graph.question import is_small
from core.rag.retrieval.graph.ranked import Ranked

#: Minimum score of a bridge to a document.
BRIDGED: Final = 0.05
#: What share of the question one has to add if its sentence writes the name small: then it may be any word ("until").
GAINED: Final = 0.3
#: The maximum share of the graph if only bridges support it.
BRIDGED_SHARE: Final = 0.5
#: The same if only a rare name supports it that the question writes and no passage is about.
WRITTEN_SHARE: Final = 0.2
#: Its minimum share in the mode ``graph``, where names lead anywhere.
LEAST_SHARE: Final = 0.3


def graph_share(ranked: Ranked, *, auto: bool = True) -> float:
    """Return how much weight to give the graph, from 0 (only hybrid search) to 1 (only the graph).

    Args:
        ranked: What the graph found.
        auto: Only as much as the question calls for; otherwise at least ``LEAST_SHARE`` where names lead anywhere.
    """
    named = max(_sure(ranked), default=0.0)
    over = {way.entity for way in ranked.ways.values() if _adds(ranked, way) and way.score >= BRIDGED}
    bridged = max(map(ranked.around.specificity, over), default=0.0)
    share = max(named, min(bridged**2, BRIDGED_SHARE), WRITTEN_SHARE * ranked.written**4)
    return share if auto or not _leads(ranked) else max(share, LEAST_SHARE)


def _adds(ranked: Ranked, way: Way) -> bool:
    """Return whether a bridge leads to what a passage is about, and adds enough of the question for how it is named."""
    small = way.about and way.gain > 0.0 and is_small(ranked.around.entities[way.entity].name, way.sentence)
    return way.about and way.gain > (GAINED if small else 0.0)


def _sure(ranked: Ranked) -> list[float]:
    """Return the strengths of the anchors that are no accident."""
    return [strength for passage, (strength, _) in ranked.anchors.items() if passage not in ranked.doubted]


def _leads(ranked: Ranked) -> bool:
    """Return whether the question writes a rare name, or names lead from it to what a passage is about."""
    return ranked.written > 0.0 or bool(_sure(ranked)) or any(way.about for way in ranked.ways.values())


def blended(hybrid: Mapping[str, float], graph: Mapping[str, float], share: float) -> dict[str, float]:
    """Combine two rankings with scores from 0 to 1.

    Args:
        hybrid: Scores of hybrid search by passage.
        graph: Scores of the graph by passage.
        share: Share of the graph, 0 to 1.
    """
    if share <= 0.0:
        return dict(hybrid)
    keys = [*hybrid, *(key for key in graph if key not in hybrid)] if share < 1.0 else list(graph)
    return {key: (1 - share) * hybrid.get(key, 0.0) + share * graph.get(key, 0.0) for key in keys}
