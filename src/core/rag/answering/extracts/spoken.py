"""What was said by whom: the messages of conversations and mails, and the comments on a record.

"What did Ada say about the lift?" asks for what stands behind her name, and not for what others say of her.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Final, NamedTuple

from core.rag.analysis import analyze
from core.rag.analysis.filler_phrases import without_asking
from core.rag.analysis.sayings import asks_what_was_said
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.headed import words_asked
from core.rag.answering.extracts.kinds import kind_asked
from core.rag.answering.extracts.record_rows import MESSAGE, record_cells
from core.rag.answering.extracts.sentence import Sentence
from core.rag.answering.extracts.speaking import who_speaks
from core.rag.headings import last_heading
from core.rag.indexing.splitting.long_rows import record_name
from libs.regexes import regex

_IGNORECASE: Final = 2
_MULTILINE: Final = 8
#: What comments answer, and not a field: "How was the crash solved?", "Should it be optional?"
_OPEN: Final = regex(
    r"\W*(?:how|why|should|can|could|is|are|does|do|did|was|were|will|would|has|have"
    r"|what (?:happen(?:s|ed)|should|can|to|causes?|caused|gives|makes|helps?|do)"
    r"|wie|warum|wieso|weshalb|soll|kann|ist|sind|comment|pourquoi|faut-il|est-ce|cómo|por qué|debería|puedo|es|son)\b",
    _IGNORECASE,
)
_MAIL: Final = regex(r"(?P<who>.{1,80}), \d{4}-\d\d-\d\d")
#: What a mail quotes, also with the name of who said it, and its head; and what is below its text.
_NOT_OWN: Final = regex(
    r"\w{0,20}[ \t]?>|(?:From|To|Cc|Date|Subject): |[^\n]{5,200}(?:wrote|schrieb|a écrit|escribió):[ \t]*$", _MULTILINE
)
_SIGNATURE: Final = regex(r"^-- ?$", _MULTILINE)
#: What share of the words of the question, and how many, a record has to be called by.
_NEARLY: Final = 0.6
_FEWEST: Final = 2
#: Characters behind which what is said counts half.
_HALF: Final = 400
#: The share of a name that has to be in the question.
_LEAST: Final = 0.5


class Saying(NamedTuple):
    """What a sentence is, as somebody said it.

    Attributes:
        by: The words of the question that name who said it, if it asks what they said.
        beside: Whether somebody else said it, or nobody, beside what was said by who is named.
        answers: How much of the question the record asks that it is a comment on, at most 1.
    """

    by: frozenset[str] = frozenset()
    beside: bool = False
    answers: float = 0.0


def sayings(question: str, sources: Sequence[Source], sentences: Sequence[Sentence], wanted: Set[str]) -> list[Saying]:
    """Return what each sentence is, as somebody said it."""
    found = [_spoken(sources[one.passage], one) for one in sentences]
    said = [who for who, _ in found]
    if not any(said):
        return [Saying()] * len(sentences)
    is_asked = asks_what_was_said(question)
    by = [_named(who, sources[one.passage], wanted) for who, one in zip(said, sentences, strict=True)]
    if not is_asked and (kind_asked(question) is not None or not _OPEN.match(question)):
        return [Saying()] * len(sentences)
    shares = _called(without_asking(question), sources, sentences, by if is_asked else [frozenset()] * len(by))
    # As in a section, what matters most comes first.
    called = [share / (1.0 + behind / _HALF) for share, (_, behind) in zip(shares, found, strict=True)]
    if is_asked:
        return [
            Saying(words, beside=not words and any(by), answers=share if words else 0.0)
            for words, share in zip(by, called, strict=True)
        ]
    answered = {one.passage for one, who, share in zip(sentences, said, called, strict=True) if who and share}
    return [
        # What the record itself says is the question.
        Saying(answers=share) if who else Saying(beside=share > 0.0 and one.passage in answered)
        for one, who, share in zip(sentences, said, called, strict=True)
    ]


def _called(
    question: str, sources: Sequence[Source], sentences: Sequence[Sentence], by: Sequence[frozenset[str]]
) -> Iterator[float]:
    """Yield how much of the question the record is called by that each sentence is of; 0 of other texts.

    Args:
        question: The question, without what only asks.
        sources: The passages.
        sentences: The sentences, in their order.
        by: The words of the question that name who said each: no record need be called by these.
    """
    name, passage = "", -1
    for one, words in zip(sentences, by, strict=True):
        source = sources[one.passage]
        if one.passage != passage:
            name, passage = last_heading(source.passage.hit.heading), one.passage
        if record_cells(source.passage.hit, one.place):
            name = record_name(one.text)
        asked = words_asked(question, source.language) - words
        shared = len(asked.intersection(analyze(name, source.language))) if "row" in source.passage.hit.metadata else 0
        yield shared / len(asked) if shared >= max(_FEWEST, _NEARLY * len(asked)) else 0.0


def _spoken(source: Source, sentence: Sentence) -> tuple[str, int]:
    """Return who said a sentence, and how far from where they began; empty if nobody is told."""
    text, hit, start = source.text, source.passage.hit, sentence.place.start
    if hit.is_code or record_cells(hit, sentence.place):
        return "", 0
    begun = list(MESSAGE.finditer(text, 0, start))
    if (message := MESSAGE.match(text, start) or (begun[-1] if begun else None)) is not None:
        return message[0].rpartition(" (")[0], start - message.start()
    if who := who_speaks(hit, start):
        return who, 0
    mail = _MAIL.fullmatch(last_heading(hit.heading).strip())
    is_own = _NOT_OWN.match(text, text.rfind("\n", 0, start) + 1) is None
    is_own = is_own and _SIGNATURE.search(text, 0, sentence.place.end) is None
    return (mail["who"], 0) if mail is not None and is_own else ("", 0)


def _named(who: str, source: Source, wanted: Set[str]) -> frozenset[str]:
    words = frozenset(analyze(who, source.language))
    own = words & wanted
    return own if words and len(own) >= _LEAST * len(words) else frozenset()
