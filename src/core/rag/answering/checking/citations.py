"""Checks a finished answer for citations that do not exist and for claims that their source does not support."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.rag.analysis import analyze
from core.rag.analysis.language import detect_language, sure_language
from core.rag.answering.checking.claims import Claim, claims_of, with_denials
from core.rag.answering.checking.support import Verdict, judge, source_of
from core.rag.answering.extracts.citing import citation
from core.rag.answering.markers import (
    MarkerFilter,
    in_backticks,
    indexed_names,
    markers_in,
    numbers_in,
)
from core.rag.answering.types import Citation, Passage, UnsupportedSentence
from core.rag.answering.vectors import sentence_vectors
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.indexing.splitting.sentences import is_heading, sentence_spans, sentences

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: Follows a sentence that its sources do not support.
UNVERIFIED = " (unverified)"

#: Maximum number of sentences of passages that are compared by vector.
_MOST_SENTENCES = 400


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer after the check.

    Attributes:
        text: The text with plain markers of existing passages, and ``UNVERIFIED`` after what these do not support.
        citations: The citations in it, by number.
        unsupported: Sentences that their sources do not support.
        missing: Sentences that state something and cite nothing.
        dropped: Numbers that were removed: the passage does not exist, or is unrelated to the sentence.
        untold: Sentences of which that cannot be told, because what they cite is in another language.
        supported: Whether it cites something and nothing is unsupported, missing, dropped or untold.
    """

    text: str
    citations: tuple[Citation, ...]
    unsupported: tuple[UnsupportedSentence, ...] = ()
    missing: tuple[str, ...] = ()
    dropped: tuple[int, ...] = ()
    untold: tuple[str, ...] = ()
    supported: bool = False


async def check_citations(text: str, passages: Sequence[Passage], embedder: EmbeddingService | None = None) -> Checked:
    """Check the citations of an answer.

    Args:
        text: The answer, with markers ``[n]``.
        passages: The passages that it was written from.
        embedder: Recognises sentences that say the same in other words; ``None``, or if it fails: words only.

    Returns:
        The answer and the result of the check.
    """
    sources = {passage.number: source_of(passage) for passage in passages}
    indexed = indexed_names((passage.hit.path, passage.hit.content) for passage in passages)
    cleaner = MarkerFilter(sources, indexed)
    text = in_backticks((cleaner.feed(text) + cleaner.end()).strip(), indexed)
    said = (sentence for passage in passages for sentence in sentences(passage.hit.content))
    claims = with_denials(claims_of(text), said)
    near = await _nearness(claims, passages, embedder)
    spoken = sure_language(" ".join(claim.text for claim in claims))
    verdicts = [
        judge(claim.text, claim.numbers, sources, near.get(index, {}), spoken)
        if claim.numbers and claim.states
        else None
        for index, claim in enumerate(claims)
    ]
    unsupported = tuple(
        UnsupportedSentence(claim.text, claim.numbers, verdict.better)
        for claim, verdict in zip(claims, verdicts, strict=True)
        if verdict is not None and not verdict.supported and not verdict.untold
    )
    untold = tuple(claim.text for claim, verdict in zip(claims, verdicts, strict=True) if verdict and verdict.untold)
    missing = tuple(claim.text for claim in claims if claim.states and not claim.numbers)
    useless = [number for verdict in verdicts if verdict for number in verdict.useless]
    text = _marked(text, claims, verdicts)
    dropped = (*cleaner.dropped, *useless)
    return Checked(
        text=text,
        citations=_citations(text, passages),
        unsupported=unsupported,
        missing=missing,
        dropped=dropped,
        untold=untold,
        supported=any(markers_in(text)) and not (unsupported or missing or dropped or untold),
    )


def best_sentence(text: str, claims: Sequence[str]) -> str:
    """Return the sentence of a text that has most words of any of the claims; the first one if none has any.

    A heading is only returned if it has more of them than any sentence.
    """
    language = detect_language(text.split())
    wanted = [set(analyze(claim, language)) for claim in claims]
    spans = sorted(sentence_spans(text), key=lambda span: is_heading(text, span[0]))
    found = [text[start:end] for start, end in spans]
    if not found:
        return text.strip()
    overlaps = {sentence: set(analyze(sentence, language)) for sentence in found}

    def fit(sentence: str) -> float:
        words = overlaps[sentence]
        return max((len(words & claim) / len(words | claim) for claim in wanted if words | claim), default=0.0)

    return max(found, key=fit)


async def _nearness(
    claims: Sequence[Claim], passages: Sequence[Passage], embedder: EmbeddingService | None
) -> dict[int, dict[int, float]]:
    """Return, by index of a claim and number of a passage, the likeness of the claim and its nearest sentence there."""
    checked = {index: claim for index, claim in enumerate(claims) if claim.states and claim.numbers}
    parts = [(passage.number, sentence) for passage in passages for sentence in sentences(passage.hit.content)]
    parts = parts[:_MOST_SENTENCES]
    if embedder is None or not checked or not parts:
        return {}
    vectors = await sentence_vectors(
        embedder, [*(claim.text for claim in checked.values()), *(text for _, text in parts)]
    )
    if vectors is None:
        return {}
    alike = likeness(vectors[: len(checked)] @ vectors[len(checked) :].T, await usual_cosine(embedder))
    near: dict[int, dict[int, float]] = {}
    for row, index in enumerate(checked):
        best: dict[int, float] = {}
        for (number, _), value in zip(parts, alike[row].tolist(), strict=True):
            best[number] = max(best.get(number, -1.0), value)
        near[index] = best
    return near


def _marked(text: str, claims: Sequence[Claim], verdicts: Sequence[Verdict | None]) -> str:
    """Return the text without useless markers, and with a mark after sentences that are not supported."""
    for index in range(len(claims) - 1, -1, -1):
        verdict = verdicts[index]
        if verdict is None or verdict.untold:
            continue
        end = claims[index].end
        if not verdict.supported:
            text = f"{text[:end]}{UNVERIFIED}{text[end:]}"
        elif verdict.useless:
            start = claims[index - 1].end if index else 0
            text = text[:start] + _without(text[start:end], verdict.useless) + text[end:]
    return text


def _without(text: str, numbers: Collection[int]) -> str:
    parts, place = [], 0
    for match in markers_in(text):
        if numbers_in(match[1])[0] in numbers:
            parts.append(text[place : match.start()].rstrip(" "))
            place = match.end()
    return "".join([*parts, text[place:]])


def _citations(text: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    by_number: Mapping[int, Passage] = {passage.number: passage for passage in passages}
    cited: dict[int, list[str]] = {}
    for claim in claims_of(text.replace(UNVERIFIED, "")):
        for number in claim.numbers:
            cited.setdefault(number, []).append(claim.text)
    for match in markers_in(text):  # also one that no words stand with: the answer may be nothing else
        cited.setdefault(numbers_in(match[1])[0], [])
    return tuple(
        citation(by_number[number], best_sentence(by_number[number].hit.content, cited[number]))
        for number in sorted(cited)
        if number in by_number
    )
