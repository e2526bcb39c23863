"""Rules that decide which inferences are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from core.rag.answering.drift.paths import InferredConnection

#: Longer reasons and types are not explanations but documents.
MAX_TYPE_CHARS = 100
MAX_REASONING_CHARS = 4000


def problems_of(inference: InferredConnection, known_ids: Collection[str] | None = None) -> list[str]:
    """Return what is wrong with an inference.

    Args:
        inference: From whatever source; its fields may hold anything.
        known_ids: Ids that its ends have to be among; ``None``: any.

    Returns:
        One sentence for each broken rule: no self-loop, ends that exist, a confidence from 0 to 1, a type, and
        reasoning in words. Empty for a valid one.
    """
    problems = []
    for name, end in (("source", inference.source), ("target", inference.target)):
        if not isinstance(end, str) or not end:
            problems.append(f"It has no {name}.")
        elif known_ids is not None and end not in known_ids:
            problems.append(f"Its {name} {end[:80]!r} is none of the nodes.")
    if inference.source == inference.target:
        problems.append("It joins a node with itself.")
    confidence = inference.confidence
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 <= confidence <= 1.0:
        problems.append(f"Its confidence is {confidence!r}, not a number from 0 to 1.")
    if not _is_text(inference.type, MAX_TYPE_CHARS):
        problems.append("It has no type.")
    if not _is_text(inference.reasoning, MAX_REASONING_CHARS):
        problems.append("It has no reasoning.")
    return problems


def valid_only(
    inferences: Iterable[InferredConnection], known_ids: Collection[str] | None = None
) -> list[InferredConnection]:
    """Return the valid ones, best first, each pair of nodes and type once, whichever way round."""
    best: dict[tuple[frozenset[str], str], InferredConnection] = {}
    for inference in inferences:
        if problems_of(inference, known_ids):
            continue
        key = (frozenset((inference.source, inference.target)), inference.type)
        if key not in best or inference.confidence > best[key].confidence:
            best[key] = inference
    return sorted(best.values(), key=lambda item: (-item.confidence, item.source, item.target, item.type))


def _is_text(value: object, longest: int) -> bool:
    # Letters or digits: punctuation alone explains nothing.
    return isinstance(value, str) and len(value) <= longest and any(char.isalnum() for char in value)
