"""``mgrag ask`` and ``mgrag chat``."""

from __future__ import annotations

import re
import sys
from contextlib import aclosing, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from libs.regexes import regex
from mgrag.cli.options import Common, FilterOption, ModelOption, target_file, with_common, write_file
from mgrag.cli.output import clean, line, note, print_json, write_on
from mgrag.cli.runtime import (
    ANSWERING,
    ending_as_interrupted,
    fail,
    importing,
    open_kb,
    tell_filter,
    tell_if_empty,
    telling_errors,
    text_or_input,
    with_kb,
)

if TYPE_CHECKING:
    import asyncio

    from core.rag.answering.types import Answer, Citation
    from core.rag.knowledge_base import KnowledgeBase

#: Why an answer ends before its end.
_CUT = {
    "length": "it reached the maximum length of an answer.",
    "content_filter": "a content filter of the language model's provider stopped it.",
}

#: What ends a conversation, instead of being asked.
_LEAVES = regex(r"\s*/?(?:exit|quit)\s*", re.IGNORECASE)


class Strategy(StrEnum):
    """How to find what an answer is made of."""

    AUTO = "auto"
    FLOW = "flow"
    BASIC = "basic"
    DRIFT = "drift"
    OVERVIEW = "overview"


StrategyOption = Annotated[
    Strategy,
    typer.Option(
        help="How to find the material for the answer: flow uses entities, relations and passages; basic uses passages"
        " found by meaning; drift follows relations in several steps; overview uses the beginnings of documents that"
        " stand for all, or parts of one that is named; auto chooses."
    ),
]
ConversationOption = Annotated[
    str | None,
    typer.Option(
        "--conversation", metavar="ID", help="Conversation that this belongs to; created if it does not exist."
    ),
]
PassagesOption = Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number of passages to use.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="ID", help="User who is asking.")]
ExtractsOption = Annotated[
    bool, typer.Option("--extracts", help="Answer with sentences from the passages, without the language model.")
]
InstructionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What else to tell the language model about its answer, for example its language.",
        show_default="MGRAG_ANSWER_INSTRUCTIONS",
    ),
]
ContextOption = Annotated[
    bool, typer.Option("--show-context", help="Also print the material that the answer is based on.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(ask)
    app.command()(chat)


@with_common
def ask(
    chosen: Common,
    question: Annotated[str, typer.Argument(help="The question to answer; - reads it from standard input.")],
    strategy: StrategyOption = Strategy.AUTO,
    conversation: ConversationOption = None,
    k: PassagesOption = 5,
    filters: FilterOption = None,
    user: UserOption = None,
    extracts: ExtractsOption = False,
    instructions: InstructionsOption = None,
    show_context: ContextOption = False,
    mermaid: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=target_file, help="Write a Mermaid diagram of the entities and relations."),
    ] = None,
    model: ModelOption = None,
) -> None:
    """Answer a question from the documents, with citations."""
    options = {"k": k, "filters": filters, "user_id": user, "extracts": extracts, "instructions": instructions}
    asked = text_or_input(question)
    answer = with_kb(
        chosen,
        lambda kb: _answer(kb, chosen, asked, strategy, conversation, options, mermaid),
        modules=ANSWERING,
        embedding=True,
        model=model,
    )
    _show(answer, chosen, show_context=show_context)


@with_common
def chat(
    chosen: Common,
    strategy: StrategyOption = Strategy.AUTO,
    conversation: ConversationOption = None,
    k: PassagesOption = 5,
    filters: FilterOption = None,
    user: UserOption = None,
    extracts: ExtractsOption = False,
    instructions: InstructionsOption = None,
    show_context: ContextOption = False,
    model: ModelOption = None,
) -> None:
    """Ask questions in a conversation.

    To leave, type exit or quit, or press Ctrl-D or Ctrl-C.
    """
    import asyncio
    import uuid

    talk = conversation or uuid.uuid4().hex
    options = {"k": k, "filters": filters, "user_id": user, "extracts": extracts, "instructions": instructions}
    with telling_errors(), ending_as_interrupted(), asyncio.Runner() as runner:
        kb = open_kb(chosen, model=model, create=False)
        try:
            runner.run(_connect(kb))
            note(f"Conversation {talk}. To leave, type exit or press Ctrl-D; --conversation {talk} continues it.")
            if conversation is not None and runner.run(kb.client.find_conversation(conversation)) is None:
                note("It is new: nothing was said in a conversation of this name before.")
            while (question := _question()) is not None and not _LEAVES.fullmatch(question):
                if question.strip():
                    _turn(runner, kb, chosen, question, strategy, talk, options, show_context=show_context)
        except KeyboardInterrupt:
            note("")
        finally:
            runner.run(kb.close())


async def _connect(kb: KnowledgeBase) -> None:
    with importing(*ANSWERING):
        await kb.connect()


def _turn(
    runner: asyncio.Runner,
    kb: KnowledgeBase,
    chosen: Common,
    question: str,
    strategy: Strategy,
    conversation: str,
    options: dict[str, Any],
    *,
    show_context: bool,
) -> None:
    """Ask one question and print the answer; a failure does not end the conversation."""
    from core.rag.errors import EmbeddingError, InvalidInputError, LanguageModelError, RerankerError

    try:
        answer = runner.run(_answer(kb, chosen, question, strategy, conversation, options))
    except (LanguageModelError, EmbeddingError, RerankerError, InvalidInputError) as error:
        note(f"mgrag: {' '.join(str(error).split())}")
        return
    _show(answer, chosen, show_context=show_context, lines=True)


def _question() -> str | None:
    """Return what is typed next; ``None`` at the end of the input."""
    sys.stdout.flush()  # whoever reads the answers through a pipe has them before the next question
    if not sys.stdin.isatty():
        line = sys.stdin.buffer.readline()  # bytes that are no text in UTF-8 do not end the conversation
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None
    with suppress(ImportError):
        import readline  # noqa: F401 - lines can be edited, and come back with the arrow keys
    try:
        return input("> ")
    except EOFError:
        note("")
        return None


async def _answer(
    kb: KnowledgeBase,
    chosen: Common,
    question: str,
    strategy: Strategy,
    conversation: str | None,
    options: dict[str, Any],
    diagram: Path | None = None,
) -> Answer:
    """The answer; its text is printed while it arrives, when the diagram is written."""
    from core.rag.answering.events import DoneEvent, RetrievalEvent, TokenEvent
    from core.rag.errors import LanguageModelError, StreamCutError

    begun = False
    try:
        async with aclosing(kb.ask_stream(question, strategy.value, conversation, **options)) as events:
            async for event in events:
                if isinstance(event, RetrievalEvent) and diagram is not None:
                    _write_diagram(diagram, event.mermaid)  # whoever reads the text may leave before its end
                if isinstance(event, RetrievalEvent) and not event.passages:
                    await tell_if_empty(kb)
                    await tell_filter(kb, options["filters"])
                if isinstance(event, TokenEvent) and not chosen.json:
                    write_on(event.text)
                    begun = True
                if isinstance(event, DoneEvent):
                    return event.answer
    except BaseException as error:
        if begun:  # what comes next begins a line
            write_on("\n")
        elif isinstance(error, StreamCutError) and error.received:
            note(error.received)
        if isinstance(error, LanguageModelError):
            note("mgrag: The language model failed. With --extracts, the answer does without it.")
        raise
    raise AssertionError("an answer ends with its end")


def _show(answer: Answer, chosen: Common, *, show_context: bool, lines: bool = False) -> None:
    """What comes below the text: sources, doubts, the context; or everything as JSON."""
    if chosen.json:
        print_json(answer.to_dict(), one_line=lines)
        return
    write_on("\n")
    if answer.citations:
        line()
        line(("Sources:", "bold"))
        for citation in answer.citations:
            _show_source(citation, quoted=not answer.extracts)
    for sentence in answer.unsupported:
        cited, better = (", ".join(map(str, some)) for some in (sentence.numbers, sentence.supported_by))
        others = f", but by [{better}]" if better else ""
        line(("Not supported by its source ", "yellow"), f"[{cited}]{others}: {sentence.text}")
    for text in answer.untold:
        line(("In another language than its source, so not checked: ", "yellow"), text)
    if cut := answer.details.get("cut"):
        line(("The answer is cut off: ", "yellow"), _CUT[cut])
    if reason := answer.details.get("not_recorded"):
        line(("The conversation does not have this answer: ", "yellow"), reason)
    for text in answer.missing:
        line(("Without a source: ", "yellow"), text)
    if show_context and answer.context:
        line()
        line(("Context:", "bold"))
        for part in answer.context.splitlines():
            line(part)
    if lines:
        line()


def _show_source(citation: Citation, *, quoted: bool) -> None:
    """Show a source with the sentence that supports the answer, unless that is the answer (not ``quoted``)."""
    place = [f"page {citation.page}"] if citation.page is not None else []
    place.append(
        f"record {citation.record_id}"
        if citation.record_id
        else f"characters {citation.start_char}-{citation.end_char}"
    )
    heading = f"  {citation.heading}" if citation.heading else ""
    line((f"[{citation.number}] ", "bold"), (citation.path, "bold cyan"), (heading, "green"), f"  {', '.join(place)}")
    if quoted:
        line(f"    {' '.join(citation.quote.split())}")


def _write_diagram(file: Path, diagram: str) -> None:
    if "\n" not in diagram.strip():  # no more than its first line
        note("mgrag: The diagram is empty: no entities or relations were found for this question.")
    try:
        write_file(file, (diagram or "graph LR") + "\n")
    except OSError as error:
        fail(f"The diagram cannot be written to {clean(str(file))}: {error.strerror}.", 1)
