"""Answers without a language model: the best sentences of the best passages."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import detect_language
from core.rag.answering.extracts.blocks import Block, Shown, cell_at, lines_at, show
from core.rag.answering.extracts.choosing import choose, without_quoted, worth
from core.rag.answering.extracts.citing import citation
from core.rag.answering.extracts.code_spans import Span, comment_on
from core.rag.answering.extracts.entries import entry_with
from core.rag.answering.extracts.items import (
    code_behind,
    goes_on,
    introduction,
    list_behind,
    said_by,
    sentences_behind,
    speaker,
    under,
)
from core.rag.answering.extracts.scoring import scored
from core.rag.answering.extracts.sentence import Sentence
from core.rag.answering.extracts.settings import where_in
from core.rag.answering.extracts.showing import LONGEST_EXTRACT, shown
from core.rag.answering.markers import is_in_block
from core.rag.answering.types import Citation, Intent, Passage
from core.rag.extraction.source_code import configuration_language, without_marks
from core.rag.headings import heading_path, headings_of, last_heading, without_purpose

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: The default reason why no model wrote the answer.
NOT_SET = "no language model is set"
NOT_ASKED = "no language model was asked"
#: What share of the best score sentences need that come instead of those shown before.
_GOOD_ENOUGH = 0.5
#: The beginning of the first line of the answer.
LABEL = "Extracts from the sources"
#: The same if nothing that was found seems relevant to the question.
NEAREST = "Nothing in the sources is clearly about this. The nearest extracts"


@dataclass(slots=True)
class _Said:
    """A sentence as it is shown.

    Attributes:
        text: With what introduces it, and with a line of code that it introduces.
        listed: The list that it announces, or the code that it introduces.
        worth: How good it is.
        numbers: The passages that have it.
        block: The code that is shown with it.
        end: Where the sentence ends that it announces and is shown with; 0 if there is none.
        listed_by: The passage that the list is of, if others that have the sentence have another list, or none.
    """

    text: str
    listed: str
    worth: float
    numbers: dict[int, None]
    block: Block | None = None
    end: int = 0
    listed_by: int = 0

    def take(self, other: _Said, asked: Set[str]) -> None:
        """Become the item for the same sentence of another passage, too.

        The same topic may be in the minutes of several meetings: the list is that with most words of the question that
        the sentence has not, or the longest.
        """
        if other.listed != self.listed:
            more = asked - _words(self.text)
            best = max(self, other, key=lambda one: (len(more & _words(one.listed)), len(one.listed)))
            self.listed, self.listed_by = best.listed, best.listed_by or next(iter(best.numbers))
        self.numbers.update(other.numbers)


async def extract(
    question: str,
    intent: Intent,
    passages: Sequence[Passage],
    embedder: EmbeddingService | None = None,
    label: str = LABEL,
    why: str = NOT_SET,
    before: str = "",
    given: str = "",
    least: float = 0.0,
) -> tuple[str, tuple[Citation, ...]]:
    """Answer with sentences from the passages.

    The best ones come first. Sentences that follow each other in a passage are one item.

    Args:
        question: The question.
        intent: The kind of answer that it asks for.
        passages: The best passages, in order.
        embedder: Also compares sentences with the question by meaning; ``None``, or if it fails: words only.
        label: The beginning of the first line.
        why: The end of that line: why no model wrote the answer; may be empty.
        before: What was said before that the question goes on with.
        given: What is left out, if there is anything else: sentences of earlier answers.
        least: How much sentences have to have of the question (``about`` in :class:`Sentence`), for them to be said.

    Returns:
        The text, with rows of tables with the names of their columns; and the citations, whose quote is the best
        sentence of the passage.
    """
    sentences = without_quoted(await scored(question, passages, embedder, before), passages)
    if given:
        sentences = _others(sentences, passages, given) or sentences
    if intent == "summary":  # code does not say what a text is about, unless there is nothing else
        sentences = [one for one in sentences if not _is_code(one, passages[one.passage])] or sentences
    taken_of = choose(intent, [one for one in sentences if one.about >= least])
    chosen = [(passages[taken[0].passage], taken) for taken in taken_of]
    asked = set(query_terms(question))
    runs = [run for passage, taken in chosen for run in _runs(passage, taken, asked)]
    runs.sort(key=lambda run: -max(said.worth for said in run))
    items: dict[str, _Said] = {}
    for said in (said for run in runs for said in run):
        # Chunks overlap: a sentence in several passages is shown once. A passage may begin within one.
        key = _key(said)
        same = next((item for item in items if key.startswith("… ") and item.endswith(key[2:])), key)
        known = items.setdefault(same, said)
        if known is not said:
            known.take(said, asked)
    lines = [_line([said for said in run if items.get(_key(said)) is said]) for run in runs]
    best = ((passage, max(taken, key=lambda one: one.score).place) for passage, taken in chosen)
    quotes = [(passage, passage.hit.content[place.start : place.end]) for passage, place in best]
    citations = tuple(citation(*quote) for quote in sorted(quotes, key=lambda quote: quote[0].number))
    return "\n".join([f"{label} ({why}):" if why else f"{label}:", "", *filter(None, lines)]), citations


def _others(sentences: Sequence[Sentence], passages: Sequence[Passage], given: str) -> list[Sentence]:
    """Return the sentences that were not shown before; none if all that were are far better."""
    in_one_line = " ".join(given.split())
    others = [one for one in sentences if not _is_in(given, in_one_line, one, passages[one.passage])]
    best = max((one.score for one in sentences), default=0.0)
    return others if max((one.score for one in others), default=0.0) >= _GOOD_ENOUGH * best else []


def _is_code(one: Sentence, passage: Passage) -> bool:
    return not passage.hit.is_code and is_in_block(passage.hit.content, one.place.start)


def _is_in(given: str, in_one_line: str, one: Sentence, passage: Passage) -> bool:
    """Return whether a sentence was shown; code keeps its lines, which were indented."""
    if is_in_block(passage.hit.content, one.place.start):
        return " ".join(one.text.split()) in in_one_line
    return shown(one.text, passage, one.place.start).removeprefix("… ") in given


def _key(said: _Said) -> str:
    """Return what tells an item from others; of several blocks of code below one heading each is one."""
    return f"{said.text}{said.listed}" if said.block is not None else said.text


def _runs(passage: Passage, taken: Sequence[Sentence], asked: Collection[str]) -> list[list[_Said]]:
    """Return the chosen sentences of a passage as they are shown; those that follow each other together."""
    text = passage.hit.content
    taken = _with_comments(passage, taken) if passage.hit.is_code else taken
    starts = {one.place.start for one in taken}
    language = configuration_language(passage.hit.path) if passage.hit.is_code else ""
    runs: list[list[_Said]] = []
    before: Span | None = None
    for one in taken:
        last = runs[-1][-1] if runs else None
        if not passage.hit.is_code:
            block = cell_at(text, one.place.start)
        else:
            block = lines_at(text, one.place, language) if language else None
        said = said_by(passage, one.place, asked) if block is None else ""
        is_shown = last is not None and (said in last.listed if block is None else last.block == block)
        if last is not None and (is_shown or one.place.start < last.end):
            last.worth = max(last.worth, worth(one))
            continue
        code = show(text, block, one.place.start) if block is not None else Shown("", "")
        said = said or code.inline
        follows = before is not None and goes_on(passage, before, one.place)
        before = one.place
        if one.headed:
            name = under(one.subject, f"{said.strip('*_: ')}:", passage, one.place)
            runs.append([_Said(name, list_behind(passage, one.place, headed=True), worth(one), {passage.number: None})])
            continue
        if code.below and last is not None and follows and not last.listed:
            last.listed, last.block, last.worth = code.below, block, max(last.worth, worth(one))
            continue
        introduced = introduction(passage, one.place, starts)
        if code.below:
            of = where_in(passage.hit, one.place.start) or passage.hit.title if language else _name_above(passage)
            name = introduced.rstrip() or (f"{of}:" if of else "")
            comment = comment_on(text, one.place.start, one.place.end) if language else None
            name = f"{name} {shown(without_marks(text[slice(*comment)]))}".lstrip() if comment is not None else name
            end = block.end if block is not None and passage.hit.is_code else 0
            runs.append([_Said(name, code.below, worth(one), {passage.number: None}, block, end)])
            continue
        below = sentences_behind(passage, one.place) if block is None else []
        announcing = below[-1] if below else one.place
        more = [said_by(passage, place, asked) for place in below]
        if block is None and (block := code_behind(text, announcing)) is not None:
            code = show(text, block)
            more.append(code.inline)
        whole = introduced + said
        listed = code.below or list_behind(passage, announcing)
        end = announcing.end if below else 0
        shown_as = _Said(" ".join([whole, *more]).rstrip(), listed, worth(one), {passage.number: None}, block, end)
        run = runs[-1] if follows else []
        if run and not run[-1].listed and sum(len(one.text) for one in (*run, shown_as)) <= LONGEST_EXTRACT:
            run.append(shown_as)
        else:
            whole = f"{speaker(passage, one.place)}{whole}"
            named = whole
            if not introduced:
                named = under(one.subject, whole, passage, one.place, asked_for=one.asked_for, is_entry=one.of_entry)
            shown_as.text = " ".join([named, *more]).rstrip()
            runs.append([shown_as])
    return runs


def _name_above(passage: Passage) -> str:
    """Return what code is called that is shown without a sentence before it."""
    hit = passage.hit
    title = without_purpose(hit.title)
    name = (last_heading(hit.heading) or title).rstrip(": ")
    return heading_path((entry_with(name, [*headings_of(hit.heading)[::-1], title]), name))


def _with_comments(passage: Passage, taken: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences of source code without the comments that are shown with statements among them."""
    places = {one.place.start: one for one in taken}
    for one in taken:
        comment = None if one.place.said else comment_on(passage.hit.content, one.place.start, one.place.end)
        said = places.pop(comment[0], None) if comment is not None else None
        if said is not None:
            places[one.place.start] = replace(one, score=max(one.score, said.score))
    return [places[start] for start in sorted(places)]


def _words(text: str) -> set[str]:
    return set(analyze(text, detect_language(text.split()))) if text else set()


def _line(run: Sequence[_Said]) -> str:
    """Return sentences as an item, with the numbers of their passages; empty if there is none."""
    parts = []
    for index, said in enumerate(run):
        same = index + 1 < len(run) and run[index + 1].numbers == said.numbers
        numbers = "".join(f"[{number}]" for number in said.numbers)
        of = f" [{said.listed_by}]" if said.listed_by and not said.listed.endswith("`") else ""
        parts.append(said.text if same else f"{said.text} {numbers}{said.listed}{of}".lstrip())
    return f"- {' '.join(parts)}" if parts else ""
