"""Answers without a language model: the best sentences of the best passages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import detect_language
from core.rag.answering.announced import announces, items_behind, lead_in
from core.rag.answering.checking import citation
from core.rag.answering.code_spans import Span, code_spans, comment_on, is_code, without_marks
from core.rag.answering.markers import is_in_block, replace_markers
from core.rag.answering.spelling import Together
from core.rag.answering.substance import substance
from core.rag.answering.table_rows import is_head, with_head
from core.rag.answering.types import Citation, FoundEntity, FoundFact, Intent, Passage
from core.rag.answering.vectors import sentence_vectors
from core.rag.extraction.words import normalize_name
from core.rag.headings import headings_of, last_heading
from core.rag.indexing.sentences import is_heading, is_title_line, sentence_spans

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: The default reason why no model wrote the answer.
NOT_SET = "no language model is set"
NOT_ASKED = "no language model was asked"
#: The beginning of the first line of the answer.
LABEL = "Extracts from the sources"
#: The same if nothing that was found seems relevant to the question.
NEAREST = "Nothing in the sources is clearly about this. The nearest extracts"

#: Maximum number of sentences of a passage.
PER_PASSAGE: dict[Intent, int] = {"factual": 1, "relationship": 2, "summary": 3, "exploration": 2}
#: A second sentence of a passage needs at least this share of the best score of all,
_NEARLY_BEST = 0.5
#: or words of the question that the best one lacks, with at least this share.
_COMPLETES = 0.2
_LONGEST_EXTRACT = 600
#: Items of a list, or rows of a table, that a sentence announces.
_MOST_ITEMS = 8
_LONGEST_ITEM = 200
#: The line before and behind a block of code, where a sentence begins with it.
_FENCE = re.compile(r"`{3,}[^\n`]*(?:\n\s*|$)")
#: So many lines of code are shown as such; more of them are put into one line.
_FEW_LINES = 5
#: Where a command goes on in the next line.
_GOES_ON = re.compile(r"[ \t]*\\\n\s*")
#: The line that opens a block of code, where the block has not gone on when the text ends.
_OPENS = re.compile(r"\n[ \t]*`{3,}[^`\n]*\s*\Z")
#: A sentence with one of these is about the code right behind it, also without a colon.
_SHOWS = re.compile(
    r"\b(?:following|below|folgende[nrms]?|suivant(?:es?|s)?|siguientes?|seguent[ei]|seguintes?)\b|次の|以下|如下|下面",
    re.IGNORECASE,
)
#: The few lines that a block of code begins with.
_CODE = re.compile(r"\s*\n[ \t]*```[^\n`]*\n\s*((?:[^\n`]{1,200}\n){1,5})([ \t]*```|)")
#: Tags of HTML, known by their names or attributes, and comments: ``Vec<T>`` and ``<path>`` are none.
_ATTRIBUTE = r"\s+[A-Za-z_:][\w:.-]*=(?:\"[^\"]*\"|'[^']*')"
_TAG = (
    r"<!--.*?(?:-->|\Z)|</?(?:abbr|aside|b|blockquote|br|button|center|code|d[dlt]|del|details|div|em|figcaption|figure|h[1-6r]|i|img"
    r"|ins|kbd|li|mark|[ou]l|p|picture|pre|section|small|span|strong|su[bp]|summary|table|tbody|t[dhr]|thead|tt)\s*/?>"
    rf"|<[A-Za-z][\w-]*(?:{_ATTRIBUTE})+(?:\s+[A-Za-z][\w-]*)*\s*/?>|</a\s*>"
    # Components of MDX: a placeholder in capitals, or a type behind its name, is none.
    r"|</[A-Z][a-z][\w.]*\s*>|(?m:^)[ \t]*<[A-Z][a-z][\w.]*[ \t]*/?>[ \t]*(?=\n|\Z)"
)
#: What a generator of sites fills in, as Liquid, Nunjucks and Jinja have it: part of a target, or of what is read.
_FILLED_IN = r"\{[%{][^{}\n]{0,300}[%}]\}"
#: Links (group 2: their words), images and tags of Markdown; code, which may look like them, comes as it is.
_TARGET = rf"\((?:<[^<>\n]*>|(?:{_FILLED_IN}|\{{(?![%{{])|[^\s(){{]|\([^\s()]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)"
_WORDS = r"(?:\\.|[^\[\]\\]|\[[^\[\]]*\](?:\([^()\s]*\))?){0,500}"
_LINK = re.compile(
    rf"(`+)[^`\n]*\1|!\[{_WORDS}\]{_TARGET}|(?<![A-Za-z0-9_)\]])\[({_WORDS})\]{_TARGET}"
    rf"|(?<![A-Za-z0-9_)\]])\[(?!\d+\])({_WORDS})\]\[[^\[\]\n]{{0,200}}\]|{_TAG}",
    re.DOTALL,
)
#: The second half of a link whose words began in the sentence or passage before.
_HALF_LINK = re.compile(rf"\A([^\[\]]*)\]{_TARGET}")
#: The second half of a tag, at the beginning of a passage: ``href="a.md"/>``.
_HALF_TAG = re.compile(rf"\A(?:{_ATTRIBUTE.replace('+', '*', 1)})*\s*/?>")
#: The lines of a table that has no bars, or is drawn as a grid.
_RULE = re.compile(r"(?:(?<=\s)|\A)[+|]?[-=]{4}[-=+|:]*+(?:\s+[-=+|:]{4,}+)*+(?=\s|\Z)")
#: All of a sentence in bold letters, without its end: a heading in all but its markup.
_EMPHASIZED = re.compile(r"(\*\*|__)(?:(?!\1)[^\n])+(?<![.!?。])\1")
#: What Markdown has before the definition of a word.
_DEFINES = re.compile(r"\A:[ \t]+")
#: What HTML shows to nobody; within a line it may be what a text writes about.
_HIDDEN = re.compile(r"(?m:^)[ \t]*(?:<!--.*?-->|<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z))", re.DOTALL | re.IGNORECASE)
#: Where links lead, in lines of their own: ``[guide]: https://…``.
_DEFINITIONS = re.compile(r"(?:\[[^\]\n]{1,200}\]:\s*\S+(?:\s+|\Z)(?:\"[^\"]*\"\s*)?)+")
#: What shows or says nothing by itself: a tag of a template, or the label that MkDocs has above a block or tab.
_LABEL = re.compile(r"\{%[^{}]{0,300}%\}\s*|^(?:===\+?|[!?]{3}\+?)[ \t][^\n]*", re.MULTILINE)
#: The line that opens or closes a note: ``:::caution``, ``:::note[Read this]{.wide}``, ``[!NOTE]``.
_NOTE = re.compile(
    r"^[ \t]*(?:>[ \t]*)?(?::{3,}[ \t]*[\w-]*(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?|\[![A-Z]+\])[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
#: What a line of a docstring says of a parameter, a result or an error, up to there: ``:param int speed:``.
_FIELD = re.compile(
    r"^[ \t]*:(?:(?:param|parameter|arg|argument|key|keyword|var|ivar|cvar)[ \t]+([^:\n]{1,100})"
    r"|(returns?|rtype|yields?|(?:raises?|except|exception|type|vartype)[ \t]+[^:\n]{1,100})):(?=\s|$)",
    re.MULTILINE,
)
#: Version notes of documentation, in its markup and in words; they mean nothing without what they are about.
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_VERSION = re.compile(rf"\.\.[ \t]+({'|'.join(_VERSIONS)})::[ \t]*([\w.]+)\s*(?:[\"']{{3}}\s*$)?")
_OF_VERSION = re.compile(r"\W*(?:new|added|changed|deprecated|removed) (?:in|since) version\b", re.IGNORECASE)
#: The subject of documentation: code alone on a line, or a definition.
_DESCRIBED = re.compile(r"^[ \t]*(?:`([^`\n]+)`[ \t]*$|(?:async[ \t]+)?((?:def|class)[ \t]+\w+))", re.MULTILINE)
#: The ends of questions, and of statements, behind which quotation marks, brackets and emphasis may be closed.
_ASKS = re.compile(r"[?？؟][\s\"'”’»」)\]*_]*\Z")
_STATES = re.compile(r"[.!;。！।۔…][\s\"'”’»」)\]*_`]*\Z")
#: What part of its score a statement of source code keeps: comments say more of what it does.
_STATEMENT = 0.7
#: What a word of the question counts that the title or heading of a passage has: every sentence below is about it.
_GIVEN = 0.2

#: The beginning of the first line of an answer without a model and without passages.
STATEMENTS = "Statements of the graph"
_MOST_STATEMENTS = 10


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: int
    start: int
    end: int
    text: str
    said: bool = True
    score: float = 0.0
    asked: Mapping[str, float] = field(default_factory=dict)


async def extract(
    question: str,
    intent: Intent,
    passages: Sequence[Passage],
    embedder: EmbeddingService | None = None,
    label: str = LABEL,
    why: str = NOT_SET,
) -> tuple[str, tuple[Citation, ...]]:
    """Answer with sentences from the passages.

    Each passage contributes its best sentence, up to ``PER_PASSAGE`` if others are nearly as good as the best of all,
    and one more if it has another part of what the question asks: of "Heron is led by Ada. It has a budget of 40,000."
    both. Passages keep their order, which is more reliable than scores of sentences; so do sentences of a passage.

    Args:
        question: The question.
        intent: The kind of answer that it asks for.
        passages: The best passages, in order.
        embedder: Also compares sentences with the question by meaning; ``None``, or if it fails: words only.
        label: The beginning of the first line.
        why: The end of that line: why no model wrote the answer.

    Returns:
        The text, with one item for each sentence, and rows of tables with the names of their columns; and the
        citations, whose quote is the best sentence of the passage.
    """
    scored = await _scored(question, passages, embedder)
    best = max((sentence.score for sentence in scored), default=0.0)
    chosen: list[tuple[Passage, list[_Sentence]]] = []
    for index, passage in enumerate(passages):
        own = sorted((one for one in scored if one.passage == index), key=lambda one: (-one.score, one.start))
        good = [one for one in own[1 : PER_PASSAGE[intent]] if one.score >= _NEARLY_BEST * best > 0]
        if own:
            taken = [own[0], *good]
            chosen.append((passage, [*taken, *_completing(taken, own)]))
    # Chunks overlap: a sentence in several passages is shown once.
    items: dict[str, dict[int, None]] = {}
    lists: dict[str, str] = {}
    for passage, taken in chosen:
        listed = ""
        for one in sorted(taken, key=lambda one: one.start):
            starts = {other.start for other in taken}
            said = _shown_of(passage, one, starts)
            # A passage that overlaps another begins within what that has as a whole.
            said = next((item for item in items if said.startswith("… ") and item.endswith(said[2:])), said)
            if said in listed:
                continue
            said = f"{_lead_in(passage, one, starts)}{said}{_announced_code(passage.hit.content, one, starts)}"
            items.setdefault(said, {})[passage.number] = None
            listed = _announced_list(passage, one.end)
            lists[said] = max(lists.get(said, ""), listed, key=len)
    citations = tuple(citation(passage, taken[0].text) for passage, taken in chosen)
    lines = (f"- {said} {''.join(f'[{number}]' for number in numbers)}{lists[said]}" for said, numbers in items.items())
    return "\n".join([f"{label} ({why}):", "", *lines]), citations


def statements(facts: Iterable[FoundFact], entities: Iterable[FoundEntity], why: str = NOT_SET) -> str:
    """Answer with statements of the graph, best first, if there is no passage to take extracts from.

    Args:
        facts: The facts of the context.
        entities: The entities of the context.
        why: Why no model wrote the answer.

    Returns:
        The text; empty if there is no statement: the name of an entity alone is none.
    """
    items = [fact.fact or f"{fact.source} {fact.type} {fact.target}" for fact in facts]
    items += [f"{entity.name}: {entity.summary}" for entity in entities if entity.summary]
    lines = [f"- {_shown(item)}" for item in dict.fromkeys(items[:_MOST_STATEMENTS])]
    return "\n".join([f"{STATEMENTS} ({why}, and no passage says so):", "", *lines]) if lines else ""


def _completing(taken: Sequence[_Sentence], own: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentence of a passage with most words of the question that the taken ones lack, if there is one."""
    said = {term for one in taken for term in one.asked}

    def added(one: _Sentence) -> float:
        return math.fsum(weight for term, weight in one.asked.items() if term not in said)

    most = max(own, key=lambda one: (added(one), one.score))
    return [most] if added(most) >= _COMPLETES else []


async def _scored(question: str, passages: Sequence[Passage], embedder: EmbeddingService | None) -> list[_Sentence]:
    """The sentences, scored by the share of the question's words that they have, and by their cosine with it.

    Those that only repeat the question, or ask one themselves, are left out where the passage has others.
    Below a title "Blue whale", "It eats krill." says what a blue whale eats: the words of the title count little, and
    the sentence is embedded with the title before it.
    """
    spans = [_spans(passage) for passage in passages]
    if not any(spans):  # where there is nothing but markup, that
        everything = [sentence_spans(passage.hit.content) or [(0, len(passage.hit.content))] for passage in passages]
        spans = [[Span(*place, said=True) for place in places] for places in everything]
    found = [
        _Sentence(index, start, end, passage.hit.content[start:end], said)
        for index, (passage, places) in enumerate(zip(passages, spans, strict=True))
        for start, end, said in places
    ]
    wanted = set(query_terms(question))
    languages = [detect_language(passage.hit.content.split()) for passage in passages]
    given = [set(analyze(_about(passage), language)) for passage, language in zip(passages, languages, strict=True)]
    words = [set(analyze(sentence.text, languages[sentence.passage])) for sentence in found]
    together = Together(question)
    for sentence, own in zip(found, words, strict=True):
        own |= together.terms(sentence.text, own)
    texts = [
        one.text if own >= given[one.passage] else f"{_about(passages[one.passage])}: {one.text}"
        for one, own in zip(found, words, strict=True)
    ]
    cosines = await _cosines(question, texts, embedder)
    # A word that few of the sentences have weighs more.
    rarity = {term: 1.0 / (1 + sum(term in own for own in words)) ** 0.5 for term in wanted}
    weights = [{term: rare * (_GIVEN if term in own else 1.0) for term, rare in rarity.items()} for own in given]
    totals = [sum(own.values()) or 1.0 for own in weights]
    scored = []
    for one, own, cosine in zip(found, words, cosines, strict=True):
        part = substance(question, one.text) if one.said else _STATEMENT
        asked = {term: part * weights[one.passage][term] / totals[one.passage] for term in own & wanted}
        scored.append(replace(one, score=math.fsum(asked.values()) + part * max(cosine, 0.0), asked=asked))
    echoes = [
        _echoes(one.text, own <= wanted and not announces(passages[one.passage].hit.content, one.end))
        for one, own in zip(found, words, strict=True)
    ]
    told = {one.passage for one, echo in zip(found, echoes, strict=True) if not echo}
    return [one for one, echo in zip(scored, echoes, strict=True) if not echo or one.passage not in told]


def _echoes(sentence: str, said: bool) -> bool:
    """Whether a sentence only asks, or is a name or a phrase that says no more than the question (``said``)."""
    return _ASKS.search(sentence) is not None or (said and _STATES.search(sentence) is None)


def _about(passage: Passage) -> str:
    """Return the title and headings of a passage, each once."""
    parts = (passage.hit.title, *headings_of(passage.hit.heading))
    return ", ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _spans(passage: Passage) -> list[Span]:
    """Where sentences are that can be read, without headings and heads of tables where there is anything else."""
    text = passage.hit.content
    if is_code(passage.hit.path):
        return code_spans(text)
    headings = {normalize_name(part) for part in (passage.hit.title, *headings_of(passage.hit.heading))}
    hidden = [found.span() for found in _HIDDEN.finditer(text) if not is_in_block(text, found.start())]
    spans = [(_behind_fence(text, start, end), end) for start, end in sentence_spans(text, titles=True)]
    read = [
        (start, end)
        for start, end in spans
        if start < end
        and not _is_markup(text, start, end)
        and not any(begin <= start and end <= stop for begin, stop in hidden)
    ]
    said = [
        (start, end)
        for start, end in read
        if not is_heading(text, start)
        and not is_title_line(text, start, end)
        and not is_head(text, start)
        and not (_EMPHASIZED.fullmatch(text, start, end) and not announces(text, end))
        and normalize_name(text[start:end]) not in headings
    ]
    return [Span(*place, said=True) for place in said or read]


def _is_markup(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is only markup: tags, images, or the target of a link."""
    sentence = text[start:end]
    if is_in_block(text, start):
        return False
    whole = _HALF_TAG.sub("", sentence) if start == 0 else sentence
    said = _LABEL.sub("", _LINK.sub(_words_of_link, _NOTE.sub("", whole)))
    return _DEFINITIONS.fullmatch(sentence) is not None or not said.strip(" \t\n/>")  # the end of a tag


def _behind_fence(text: str, start: int, end: int) -> int:
    """Return the start of a sentence after a line that opens or closes a block of code."""
    fence = _FENCE.match(text, start, end)
    return start if fence is None else fence.end()


async def _cosines(question: str, texts: Sequence[str], embedder: EmbeddingService | None) -> list[float]:
    vectors = await sentence_vectors(embedder, [question, *texts]) if embedder is not None and texts else None
    if vectors is None:
        return [0.0] * len(texts)
    cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
    return cosines


def _shown_of(passage: Passage, one: _Sentence, shown: set[int]) -> str:
    """A sentence as it is shown; one of source code with what it belongs to, and a statement with its comment."""
    text = passage.hit.content
    if not is_code(passage.hit.path):
        return _shown(with_head(text, one.start, one.end), passage, one.start)
    if one.said:
        said = _shown(without_marks(one.text), passage, one.start)
    else:
        line = " ".join(one.text.split())
        said = f"`{line}`" if len(line) <= _LONGEST_EXTRACT and "`" not in line else _shown(one.text)
        comment = comment_on(text, one.start, one.end)
        if comment is not None and comment[0] not in shown:
            said = f"{said} {_shown(without_marks(text[slice(*comment)]), longest=_LONGEST_ITEM)}"
    of = last_heading(passage.hit.heading).strip()
    return said if not of or said.startswith((of, f"`{of}", f"`async {of}")) else f"{of}: {said.removeprefix('… ')}"


def _lead_in(passage: Passage, one: _Sentence, shown: set[int]) -> str:
    """The sentence before a list of which an item that is none is shown: "The note has to include:" (a diagnosis).

    Likewise the one before a block of code of which the beginning is shown; unless it is shown anyway.
    """
    text = passage.hit.content
    if is_in_block(text, one.start):
        place = _said_before_code(text, one.start)
    else:
        place = lead_in(text, one.start) if _STATES.search(one.text) is None else None
    said = f"{_shown(text[slice(*place)], passage, place[0])} " if place and place[0] not in shown else ""
    return said if len(said) <= _LONGEST_ITEM else ""


def _said_before_code(text: str, start: int) -> tuple[int, int] | None:
    """Where the sentence is right before a block of code that begins at a place; ``None`` for other places."""
    fence = _OPENS.search(text, 0, start)
    before = sentence_spans(text[: fence.start()], titles=True) if fence is not None else []
    if not before or is_heading(text, before[-1][0]):
        return None
    return before[-1]


def _announced_code(text: str, one: _Sentence, shown: set[int]) -> str:
    """The first lines of the code that a sentence announces ("Run:"), where it is not shown anyway; else nothing."""
    code = _CODE.match(text, one.end) if announces(text, one.end) or _SHOWS.search(one.text) else None
    if code is None or code.start(1) in shown or is_in_block(text, one.start):
        return ""
    return f" {_code_lines(code[1])}{'' if code[2] else ' …'}"


def _code_lines(code: str) -> str:
    """The lines of a piece of code one behind the other; a command that goes on in the next line is one."""
    lines = (line.strip() for line in _GOES_ON.sub(" ", code).splitlines())
    return " ".join(f"`{line}`" for line in lines if line)


def _announced_list(passage: Passage, end: int) -> str:
    """The list or table that a sentence announces ("The steps are:"), as lines below its own; else nothing."""
    text = passage.hit.content
    items = items_behind(text, end, _MOST_ITEMS + 1)
    lines = []
    for number, start, stop in items[:_MOST_ITEMS]:
        said = _shown(with_head(text, start, stop), passage, start, _LONGEST_ITEM)
        item = _Sentence(passage.number, start, stop, text[start:stop])
        lines.append(f"\n  {number or '-'} {said}{_announced_code(text, item, set())}")
    return "".join([*lines, "\n  …"] if len(items) > _MOST_ITEMS else lines)


def _shown(sentence: str, passage: Passage | None = None, start: int = 0, longest: int = _LONGEST_EXTRACT) -> str:
    """A sentence in one line, without markup and what would look like a citation; only a very long one is cut.

    With its passage and position, a version note gets the subject that it is about.
    """
    in_block = passage is not None and is_in_block(passage.hit.content, start)
    code = _code_lines(sentence) if in_block and "`" not in sentence else ""
    if 0 < len(code) <= longest and code.count("` `") < _FEW_LINES:
        return code
    plain = _FIELD.sub(_named_field, _VERSION.sub(_named_version, sentence))
    if not in_block:
        plain = _NOTE.sub("", _HALF_TAG.sub("", plain) if start == 0 else plain)
        plain = _RULE.sub("", _HALF_LINK.sub(r"\1", _LINK.sub(_words_of_link, plain)))
    if passage is not None and _OF_VERSION.match(plain):
        described = [found[1] or found[2] for found in _DESCRIBED.finditer(passage.hit.content, 0, start)]
        of = described[-1] if described else last_heading(passage.hit.heading) or passage.hit.title
        plain = f"{of.strip()}: {plain}" if of.strip() else plain
    shown = plain if plain.strip() else sentence
    if not in_block:
        shown = replace_markers(shown, lambda _: "")
    line = _DEFINES.sub("", " ".join(shown.split()))
    if passage is not None and start == 0 < passage.hit.start_char and line[:1].islower() and not in_block:
        line = f"… {line}"  # the passage begins within a sentence
    return line if len(line) <= longest else line[:longest].rsplit(" ", 1)[0] + " …"


def _named_version(version: re.Match[str]) -> str:
    """Return a version note in words: ``.. versionchanged:: 8.0`` is "Changed in version 8.0:"."""
    ends = version.end() == len(version.string)
    return f"{_VERSIONS[version[1]]} {version[2]}{'.' if ends else ': '}"


def _words_of_link(link: re.Match[str]) -> str:
    """Return the text of a link; nothing for an image or a tag."""
    if link[1]:
        return link[0]
    words = link[2] or link[3]
    return _LINK.sub(_words_of_link, words) if words else " " if link[0].startswith("<br") else ""


def _named_field(field: re.Match[str]) -> str:
    """Return the name of a field, separated from the field above in the way of table cells."""
    return f"{'| ' if field.string[: field.start()].strip() else ''}{field[1] or field[2]}:"
