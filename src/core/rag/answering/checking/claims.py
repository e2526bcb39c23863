"""The sentences of an answer, with their citations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.rag.analysis import analyze
from core.rag.answering.markers import BLOCK, markers_in, numbers_in, replace_markers
from core.rag.indexing.splitting.sentences import is_heading, sentence_spans
from libs.regexes import regex

#: A sentence with fewer content words states nothing ("Yes.", "In short:") unless it cites something ("1782 [1].").
_FEWEST_TERMS = 2
#: Answers in one word that no source has, and that do state something, but only together with the question.
_VERDICT = regex(
    r"\W*(?:yes|no|true|false|correct|incorrect|right|wrong|indeed|exactly|both|neither|none|nothing|unknown|unclear"
    r"|ja|nein|doch|richtig|falsch|genau|beide|keine[rs]?|unbekannt|unklar|oui|non|vrai|faux|inconnu"
    r"|sí|si|verdadero|falso|vero|desconocido|sì|sim|não|да|нет)\W*",
    re.IGNORECASE,
)
#: Statements that something is not known, which need no source.
_GAP = regex(
    r"\b(?:do(?:es)?(?: not|n['’]t)|did(?: not|n['’]t)|no|not|nothing|none of|neither)\b[^.]{0,60}?"
    r"\b(?:says?|mention(?:s|ed)?|contain(?:s|ed)?|state[sd]?|specif(?:y|ies|ied)|provide[sd]?|include[sd]?|information"
    r"|describe[sd]?|found|known|given|available|sources?|passages?)\b"
    r"|\b(?:sources?|passages?|documents?|texts?|context)\s+(?:do(?:es)?|did)(?: not|n['’]t)\b"
    r"|\bi (?:do not|don['’]t|cannot|can['’]t) (?:know|say|tell|answer|find)\b"
    r"|\b(?:keine?|nicht)\b[^.]{0,60}\b(?:angaben|quellen?|informationen|erwähnt|bekannt)\b",
    re.IGNORECASE,
)
#: Such a statement about the sources themselves.
_OF_SOURCES = regex(
    r"\b(?:sources?|passages?|documents?|texts?|context|quellen?|angaben|informationen|no information)\b"
    r"|\bi (?:do not|don['’]t|cannot|can['’]t)\b",
    re.IGNORECASE,
)
#: Share of the content words of another one, and their number, that a source has where it says the same itself.
_SAID_SHARE = 0.8
_SAID_TERMS = 3
#: What a model says to its reader, not of the subject.
_COURTESY = regex(
    r"\W*(?:i hope (?:this|that|it) helps|(?:please |just )*(?:let me know|feel free to|do(?: not|n['’]t) hesitate)"
    r"|if you (?:have|need|want|would like)\b[^.]*\b(?:let me know|feel free|hesitate|just ask|happy to))\b",
    re.IGNORECASE,
)
#: The row of a table with the names of its columns, above the rule.
_COLUMNS = regex(
    r"^(?=[^\n|]*\|)[^\n]*(?=\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$)", re.MULTILINE
)
_BULLET = regex(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer.

    Attributes:
        text: The sentence without markers.
        numbers: The numbers that it cites, each once, in order.
        end: Where it ends in the answer, after its markers; before its full stop, if the markers are before that.
        states: Whether it states something that needs a source.
        gap: Whether it does not, because it says that something is not known or not there.
    """

    text: str
    numbers: tuple[int, ...]
    end: int
    states: bool
    gap: bool = False


def claims_of(answer: str) -> list[Claim]:
    """Return the sentences of an answer.

    A marker belongs to the sentence that contains it; one after the full stop, or alone in a sentence, belongs to the
    sentence before; one at the beginning of an item or a paragraph, as in a list of sources, to what follows it.

    Args:
        answer: A text with markers.
    """
    # Markers are replaced by spaces, so that positions stay the same and no marker hides the end of a sentence. Blocks
    # of code state nothing; replaced by blank lines, they belong to no sentence.
    bare = replace_markers(answer, lambda match: " " * len(match[0]))
    bare = BLOCK.sub(lambda match: "\n" * len(match[0]), bare)
    spans = sentence_spans(bare)
    markers = [(match.start(), match.end(), numbers_in(match[1])) for match in markers_in(answer)]
    numbers: list[list[int]] = [[] for _ in spans]
    ends = [end for _, end in spans]
    for start, end, cited in markers:
        index = _headed(bare, spans, start)
        if index is None:
            index = _owner(spans, start)
        if index is not None:
            numbers[index] += cited
            ends[index] = max(ends[index], end)
    columns = [match.span() for match in _COLUMNS.finditer(bare)]
    return [
        Claim(
            text=" ".join(bare[start:end].split()).replace(" .", ".").replace(" ,", ","),
            numbers=tuple(dict.fromkeys(numbers[index])),
            end=ends[index],
            states=not is_heading(bare, start)
            and not any(first <= start <= last for first, last in columns)
            and _states(bare[start:end], cites=bool(numbers[index])),
            gap=_GAP.search(bare[start:end]) is not None,
        )
        for index, (start, end) in enumerate(spans)
    ]


def with_denials(claims: Sequence[Claim], said: Iterable[str]) -> list[Claim]:
    """Return claims; one that denies what a source itself denies, or cites a source for it that states it, does state.

    Args:
        claims: The sentences of an answer.
        said: The sentences of its sources.
    """
    if not any(claim.gap for claim in claims):
        return list(claims)
    sentences = [(set(analyze(sentence)), _GAP.search(sentence) is not None) for sentence in said]

    def states(claim: Claim) -> bool:
        words = [terms for terms, denies in sentences if denies or claim.numbers]
        return claim.gap and not _OF_SOURCES.search(claim.text) and _is_among(claim.text, words)

    return [replace(claim, states=True) if states(claim) else claim for claim in claims]


def _is_among(text: str, said: Iterable[set[str]]) -> bool:
    terms = set(analyze(text))
    enough = max(_SAID_TERMS, _SAID_SHARE * len(terms))
    return any(len(terms & words) >= enough for words in said)


def _headed(bare: str, spans: list[tuple[int, int]], place: int) -> int | None:
    """Return the sentence that follows a marker in its line, if the marker begins an item or a paragraph."""
    line = bare.rfind("\n", 0, place) + 1
    before = bare[line:place]
    if not _BULLET.fullmatch(before) and (before.strip() or bare[:line].rstrip(" \t")[-2:].strip("\n")):
        return None
    end = bare.find("\n", place)
    index = bisect_left(spans, (place, 0))
    return index if index < len(spans) and (end < 0 or spans[index][0] < end) else None


def _owner(spans: list[tuple[int, int]], place: int) -> int | None:
    owner = None
    for index, (start, _) in enumerate(spans):
        if start > place:
            break
        owner = index
    return owner


def _states(sentence: str, *, cites: bool) -> bool:
    text = sentence.strip()
    if text.rstrip("*_,; ").endswith((":", "?")) or _GAP.search(text) or (not cites and _COURTESY.match(text)):
        return False
    fewest = 1 if cites and not _VERDICT.fullmatch(text) else _FEWEST_TERMS
    return len(set(analyze(text))) >= fewest
