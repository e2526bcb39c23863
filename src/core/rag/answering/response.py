"""Fourth stage: the answer, written by a model from the context, or made of extracts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.rag.answering.checking.citations import Checked, check_citations
from core.rag.answering.extracts.citing import citation
from core.rag.answering.extracts.composing import NEAREST, NOT_ASKED, NOT_SET, extract
from core.rag.answering.extracts.stating import STATEMENTS, answering_statements, listed, statements
from core.rag.answering.markers import MarkerFilter, indexed_names
from core.rag.answering.metrics import Metrics
from core.rag.answering.prompts import AnswerPrompt
from core.rag.answering.types import COMPUTED, Analysis, Citation, Context, Intent, Passage
from core.rag.answering.understanding.courtesies import asks_nothing
from core.rag.answering.understanding.intents import has_words
from core.rag.errors import LanguageModelError, StreamCutError
from core.rag.llm.thinking import without_thinking

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService
    from core.rag.llm import LanguageModel

TEMPERATURE = 0.3
MAX_TOKENS = 4096

#: The answer where nothing has to do with the question.
NOTHING_FOUND = "Nothing relevant was found in the sources, so this question cannot be answered from them."
#: The beginning of the line above what was worked out from records.
WORKED_OUT = "Worked out from all records"
NOT_WORKED_OUT = "Not worked out, for there are too many records"
#: How much of the question a sentence has to have that is told besides.
BESIDES = 0.5
#: The answer to thanks and greetings.
NOTHING_ASKED = "This asks nothing that could be looked up in the sources."

STYLES: dict[Intent, str] = {
    "factual": "Answer directly, with the specific facts, in as few sentences as it takes.",
    "relationship": "Say how the things are connected: which sort of relation, and through what, step by step.",
    "summary": "Give a comprehensive overview that brings the facts together, the most important first.",
    "exploration": "Show what else there is: related things, and what is worth looking at next and why.",
}


def styled(intent: Intent, instructions: str) -> str:
    """Return how a model is to answer: the instructions of the caller come last, as far as the rules allow them."""
    told = instructions.strip()
    return f"{STYLES[intent]}\n\nBesides, as far as the rules above allow it:\n\n{told}" if told else STYLES[intent]


@dataclass(frozen=True, slots=True)
class Response:
    """A written answer.

    Attributes:
        checked: Its text and citations after the check.
        extracts: Whether it consists of extracts.
        found: Whether there was anything to answer from.
        cut: Why it ends before its end: ``length`` (it ran out of tokens), ``content_filter`` (the provider's filter
            stopped it), or empty.
    """

    checked: Checked
    extracts: bool = False
    found: bool = True
    cut: str = ""


async def generate_response(
    analysis: Analysis,
    context: Context,
    model: LanguageModel | None,
    embedder: EmbeddingService | None,
    metrics: Metrics | None = None,
    *,
    relevant: bool = True,
    dialogue: str = "",
    before: str = "",
    given: str = "",
    asked: bool = True,
    instructions: str = "",
) -> AsyncGenerator[str | Response, None]:
    """Answer from a context.

    Args:
        analysis: The question.
        context: What may be used.
        model: Who writes; ``None``: the answer consists of extracts, and says so.
        embedder: For the check of citations, and for choosing extracts.
        metrics: Where to count.
        relevant: Whether anything in the context has to do with the question. Where nothing does, the answer says so,
            and no model is asked to guess; without a model, extracts of what there is follow.
        dialogue: What was said before.
        before: What of it the question goes on with; extracts for "And when?" are chosen by that.
        given: What extracts leave out, if there is anything else: what earlier answers said.
        asked: A model writes if there is one; false where extracts are wanted in any case.
        instructions: What the model is told besides, by the caller.

    Yields:
        Parts of the text as they arrive, then the :class:`Response`.

    Raises:
        StreamCutError: The answer ended too early; holds what was received, without markers of what does not exist.
        LanguageModelError: The model failed before the answer began, or said nothing.
        StoreError, EmbeddingError: The passages could not be searched (``failure`` of the context), and nothing else
            answers: that nothing was found would not be true.
    """
    metrics = metrics or Metrics()
    started = time.monotonic()
    why = NOT_SET if asked else NOT_ASKED
    said = statements(analysis.query, context.entities, context.facts, why) if relevant and not context.passages else ""
    something = bool(context.passages or said) and (model is None or relevant)
    if context.failure is not None and not (something and relevant) and not asks_nothing(analysis.query):
        raise context.failure
    if not something:
        text = NOTHING_ASKED if asks_nothing(analysis.query) else NOTHING_FOUND
        response = Response(Checked(text, ()), extracts=model is None, found=False)
        yield text
    elif said and model is None:
        response = Response(Checked(said, (), supported=False), extracts=True)
        yield said
    elif model is None:
        response = await _extracted(analysis, context, embedder, why, relevant=relevant, before=before, given=given)
        yield response.checked.text
    else:
        written = _Written()
        style = styled(analysis.intent, instructions)
        async with contextlib.aclosing(_written(analysis, context, model, metrics, dialogue, style, written)) as parts:
            async for part in parts:
                yield part
        checked = await check_citations(written.text, context.passages, embedder)
        dropped = (*written.dropped, *checked.dropped)
        checked = replace(checked, dropped=dropped, supported=checked.supported and not dropped)
        response = Response(checked, cut=written.cut)
    counted = metrics.response_metrics
    counted.cited_facts_count = len(response.checked.citations)
    counted.response_length = len(response.checked.text)
    counted.seconds = time.monotonic() - started
    yield response


async def _extracted(
    analysis: Analysis,
    context: Context,
    embedder: EmbeddingService | None,
    why: str,
    *,
    relevant: bool,
    before: str,
    given: str,
) -> Response:
    """Return an answer of extracts, with what the graph states; see :func:`generate_response`."""
    question = analysis.query if has_words(analysis.query) else f"{before}\n{analysis.query}".strip()
    if not relevant:
        nearest = await extract(question, analysis.intent, context.passages, embedder, NEAREST, why, before)
        return Response(Checked(*nearest, supported=False), extracts=True, found=False)
    computed = [passage for passage in context.passages if passage.is_computed]
    if computed:
        return await _with_computed(analysis, context, embedder, why, computed)
    told = answering_statements(question, context.entities, context.facts, context.passages)
    why_here = "" if told.whole else why
    text, citations = await extract(
        question, analysis.intent, context.passages, embedder, why=why_here, before=before, given=given
    )
    if told.whole:
        text = f"{listed(told.items, f'{STATEMENTS} ({why}):')}\n\n{text}"
    elif told.items:
        text = f"{text}\n\n{listed(told.items, f'{STATEMENTS}:')}"
    citations = _together(citations, told.citations)
    return Response(Checked(text, citations, supported=bool(citations)), extracts=True)


async def _with_computed(
    analysis: Analysis, context: Context, embedder: EmbeddingService | None, why: str, computed: Sequence[Passage]
) -> Response:
    """Return what was worked out from records, and below it extracts of what else was found."""
    label = WORKED_OUT if any(one.hit.metadata[COMPUTED] for one in computed) else NOT_WORKED_OUT
    text = listed((f"{one.hit.content} [{one.number}]" for one in computed), f"{label} ({why}):")
    citations = [citation(one, one.hit.content) for one in computed]
    others = [passage for passage in context.passages if not passage.is_computed]
    more, cited = await extract(analysis.query, analysis.intent, others, embedder, why="", least=BESIDES)
    if cited:
        text, citations = f"{text}\n\n{more}", [*citations, *cited]
    return Response(Checked(text, tuple(citations), supported=True), extracts=True)


def _together(first: Iterable[Citation], further: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return citations by number; of those with the same number the first."""
    by_number = {one.number: one for one in (*further, *first)}
    return tuple(by_number[number] for number in sorted(by_number))


@dataclass(slots=True)
class _Written:
    """What a model has written until now."""

    text: str = ""
    dropped: tuple[int, ...] = ()
    cut: str = ""


async def _written(
    analysis: Analysis,
    context: Context,
    model: LanguageModel,
    metrics: Metrics,
    dialogue: str,
    style: str,
    written: _Written,
) -> AsyncGenerator[str, None]:
    """Yield the parts of what a model writes, without markers of passages that do not exist."""
    prompt = AnswerPrompt(question=analysis.query, context=context.text, dialogue=dialogue, style=style)
    counted = metrics.response_metrics
    counted.prompt = prompt.label()
    cleaner = MarkerFilter(
        {passage.number for passage in context.passages},
        indexed_names((passage.hit.path, passage.hit.content) for passage in context.passages),
    )
    started = time.monotonic()
    stream = model.stream(prompt.messages(), temperature=TEMPERATURE, max_tokens=MAX_TOKENS)
    try:
        async with contextlib.aclosing(stream) as deltas:
            async for delta in deltas:
                if delta.usage is not None:
                    metrics.usage += delta.usage
                    reason = delta.finish_reason
                    written.cut = "" if reason is None or reason == "stop" else reason
                if not delta.text:
                    continue
                counted.streaming_chunks += 1
                if counted.streaming_chunks == 1:
                    counted.first_token_seconds = time.monotonic() - started
                if text := cleaner.feed(delta.text):
                    written.text += text
                    yield text
    except StreamCutError as error:
        error.received = written.text + cleaner.end()
        raise
    if text := cleaner.end():
        written.text += text
        yield text
    # Only its end tells thinking that a chat template opened; it was passed on before.
    written.text = without_thinking(written.text)
    if not written.text.strip() and written.cut == "length":
        raise LanguageModelError(
            f"The language model used up the {MAX_TOKENS:,} tokens of an answer before it said anything. Set "
            f"MGRAG_LLM_MODEL to one that spends fewer tokens on thinking"
        )
    if not written.text.strip():
        raise LanguageModelError("The language model gave an empty answer. Ask again, or rephrase the question")
    written.dropped = tuple(cleaner.dropped)
