"""Rules that find what the paths leave unanswered."""

from __future__ import annotations

from collections.abc import Sequence

from core.rag.answering.drift.paths import KnowledgeGap, Node, Path
from core.rag.answering.drift.scoring import order
from core.rag.answering.drift.words import QueryWords
from core.rag.answering.understanding.intents import subject_of
from core.rag.schema import EdgeType

#: An edge below this weight is too weak to support an answer.
WEAK = 0.3


def find_gaps(paths: Sequence[Path], query: str) -> list[KnowledgeGap]:
    """Find words of the query that no path contains, parts that no path joins, and paths with a weak edge.

    Args:
        paths: The paths that were found.
        query: The question.

    Returns:
        Gaps, the most important first.
    """
    if not paths:
        return [KnowledgeGap("no_paths", "No path in the graph leads from the question to an answer.")]
    gaps = []
    # "How are they connected?" asks how, and no text has to say so.
    words = QueryWords(subject_of(query)).words
    covered = frozenset().union(*(path.covered for path in paths))
    if missing := tuple(word for word in words if word not in covered):
        gaps.append(KnowledgeGap("missing_words", f"No path says anything about: {', '.join(missing)}.", words=missing))
    groups = _components(paths)
    if len(groups) > 1:
        heads = [group[0] for group in groups]
        listed = "; ".join(node.name for node in heads[:5])
        gaps.append(
            KnowledgeGap(
                "disconnected",
                f"No path joins these {len(heads)} parts of what was found: {listed}.",
                node_ids=tuple(node.id for node in heads),
            )
        )
    seen = set()
    for path in sorted(paths, key=order):
        for edge in path.edges:
            # That a text mentions something is certain, however many others do.
            weak = edge.weight < WEAK and edge.kind != EdgeType.MENTIONS
            if (weak or edge.inferred) and (edge.source, edge.target, edge.type) not in seen:
                seen.add((edge.source, edge.target, edge.type))
                why = "was only inferred" if edge.inferred else f"is weak ({edge.weight:.2f})"
                gaps.append(
                    KnowledgeGap("weak_link", f"The edge {edge.type} in {path} {why}.", (edge.source, edge.target))
                )
    return gaps


def _components(paths: Sequence[Path]) -> list[list[Node]]:
    """Return the nodes of each group of paths that share nodes, best path first."""
    groups: list[dict[str, Node]] = []
    for path in sorted(paths, key=order):
        nodes = {node.id: node for node in path.nodes}
        touching = [group for group in groups if group.keys() & nodes.keys()]
        merged: dict[str, Node] = {}
        for group in (*touching, nodes):
            merged.update({key: node for key, node in group.items() if key not in merged})
        if touching:
            groups[groups.index(touching[0])] = merged
            groups = [group for group in groups if group is merged or group not in touching]
        else:
            groups.append(merged)
    return [list(group.values()) for group in groups]
