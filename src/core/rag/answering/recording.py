"""Answers within a conversation: takes the history into account, and records question and answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.rag.answering.events import DoneEvent, Event, RetrievalEvent, TokenEvent
from core.rag.answering.markers import without_markers
from core.rag.answering.services import Services
from core.rag.answering.understanding.intents import has_words
from core.rag.dbhandler.finishing import finish
from core.rag.errors import (
    MGRagError,
    NotFoundError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    StreamCutError,
)
from core.rag.retrieval.referents import asks_for_more, referents
from core.rag.retrieval.wording.spelling import applied, corrections, told_of

if TYPE_CHECKING:
    from core.rag.answering.types import Answer, Citation
    from core.rag.dbhandler import MemGraphClient

#: A strategy: from a question and what to answer it with, the events.
Strategy = Callable[[str, Services], AsyncGenerator[Event, None]]

#: How much of what was said before a model gets to read.
MESSAGES = 6
_CHARS_PER_MESSAGE = 1_000

#: Seconds that who leaves an answer waits at most until what was told of it is recorded.
_RECORDING_SECONDS = 5

_logger = logging.getLogger(__name__)


async def recorded(
    strategy: Strategy,
    question: str,
    services: Services,
    conversation_id: str | None,
    user_id: str | None = None,
    *,
    record: bool = True,
    told: bool = True,
) -> AsyncGenerator[Event, None]:
    """Answer, in a conversation if there is one; it is created if missing.

    The question is recorded first, what was retrieved for it when it is known, the answer at the end. Of an answer that
    is broken off, what was told of it, or received as the error says, is recorded; of one whose conversation is deleted
    meanwhile, nothing. An answer that cannot be recorded, or whose question cannot (there is no room, or nothing may be
    stored), is given all the same, with the reason as ``not_recorded`` in its details. A question that is the last
    message already, as after an answer that failed, is not recorded again.

    Args:
        strategy: How to answer.
        question: The question.
        services: What the answer is made with.
        conversation_id: The conversation, or ``None``.
        user_id: Who asks, and to whom the answer belongs like the question.
        record: Whether anything is recorded; else the conversation has to exist.
        told: Whether the asker gets to see the text before the end.

    Yields:
        The events of the strategy; the answer at the end with the id of its message.
    """
    client = services.kb.client
    meant = await _meant(client, question, services.search.get("filters"))
    if conversation_id is None:
        events = _corrected(strategy, question, meant, services)
    else:
        unstored = ""  # why nothing is recorded
        search = {**services.search, "conversation_id": conversation_id}
        try:
            if record:
                await client.create_conversation(user_id=user_id, conversation_id=conversation_id)
        except (StoreFullError, StoreReadOnlyError) as error:
            unstored = str(error)
        try:
            messages = await client.recent_messages(conversation_id, MESSAGES + 1)
        except NotFoundError:
            if not unstored:
                raise
            messages, search = [], services.search
        asked = _already_asked(question, user_id, messages)
        messages = (messages[:-1] if asked else messages)[-MESSAGES:]
        services = replace(
            services,
            dialogue="\n".join(map(_said, messages)),
            before=_gone_on_with(question, messages),
            earlier=tuple(message["content"] for message in reversed(messages) if message["role"] == "user"),
            given=_given(messages) if asks_for_more(question) else "",
            search=search,
        )
        events = _corrected(strategy, question, meant, services)
        try:
            if record and not unstored:
                asked = asked or await client.add_message(conversation_id, question, "user", user_id=user_id)
        except (StoreFullError, StoreReadOnlyError) as error:
            unstored = str(error)
        if unstored:
            events = _not_recording(events, unstored)
        elif record:
            events = _recording(events, client, conversation_id, asked, user_id, told=told)
    async with contextlib.aclosing(events):
        async for event in events:
            yield event


async def _meant(client: MemGraphClient, question: str, filters: str | Mapping[str, Any] | None) -> dict[str, str]:
    """Return the words of a question that are typing errors, with what was meant."""
    try:
        return await corrections(client, question, filters)
    except StoreUnavailableError:  # which has been waited for: the next to try would do so again
        raise
    except StoreError as error:  # whatever else can be read may answer as well
        _logger.warning("The words of a question could not be looked up: %s", error)
        return {}


async def _corrected(
    strategy: Strategy, question: str, meant: Mapping[str, str], services: Services
) -> AsyncGenerator[Event, None]:
    """Answer the question that was meant, and say so in the answer."""
    note = f"{told_of(meant)}.\n\n" if meant else ""
    async with contextlib.aclosing(strategy(applied(question, meant), services)) as events:
        began = False
        async for event in events:
            if note and isinstance(event, TokenEvent) and not began:
                began = True
                yield TokenEvent(note)
            if note and isinstance(event, DoneEvent):
                answer = event.answer
                details = {**answer.details, "corrected": dict(meant)}
                event = DoneEvent(replace(answer, text=note + answer.text, question=question, details=details))
            yield event


async def _not_recording(answering: AsyncGenerator[Event, None], why: str) -> AsyncGenerator[Event, None]:
    """Pass on the events of an answer, and say in it why it is not recorded."""
    async with contextlib.aclosing(answering) as events:
        async for event in events:
            yield DoneEvent(_unrecorded(event.answer, why)) if isinstance(event, DoneEvent) else event


def _unrecorded(answer: Answer, why: str) -> Answer:
    return replace(answer, details={**answer.details, "not_recorded": why})


async def _recording(
    answering: AsyncGenerator[Event, None],
    client: MemGraphClient,
    conversation_id: str,
    asked: str,
    user_id: str | None,
    *,
    told: bool,
) -> AsyncGenerator[Event, None]:
    """Pass on the events of an answer, and record it; ``asked`` is the id of the question."""
    # One id for the answer, whole or cut: who leaves while the whole one is being stored does not get both.
    answer_id, text, done = uuid.uuid4().hex, "", False

    async def record(content: str, cut: str | None, references: Sequence[str] = ()) -> str:
        return await client.add_message(
            conversation_id,
            content,
            "assistant",
            references=references,
            user_id=user_id,
            metadata=None if cut is None else {"cut": cut},
            message_id=answer_id,
        )

    try:
        async with contextlib.aclosing(answering) as events:
            async for event in events:
                if isinstance(event, RetrievalEvent):
                    # Records that were inserted, and what was worked out from them, are of no chunk.
                    found = [one.hit for one in event.passages if one.hit.chunk_id and not one.record_id]
                    try:
                        await client.record_retrieved(asked, found)
                    except MGRagError as error:  # not more important than the answer
                        _logger.warning("What was retrieved for a question is not in its conversation: %s", error)
                if isinstance(event, TokenEvent) and told:
                    text += event.text
                if isinstance(event, DoneEvent):
                    answer = event.answer
                    try:
                        cited = await _cited(client, answer.citations)
                        said = await record(answer.text, answer.details.get("cut"), cited)
                    except NotFoundError:
                        pass  # somebody has deleted the conversation since: then nothing is recorded of the answer
                    except MGRagError as error:
                        _logger.warning("An answer is not in its conversation: %s", error)
                        event = DoneEvent(_unrecorded(answer, str(error)))
                    else:
                        event = DoneEvent(replace(answer, message_id=said))
                    done = True
                yield event
    except BaseException as error:  # a model or embedder of the caller's may raise anything
        if isinstance(error, StreamCutError) and not text:  # the error gives the asker what there is
            text = error.received
        if text.strip() and not done:
            left = isinstance(error, asyncio.CancelledError | GeneratorExit)
            await finish(_in_time(record(text, "stopped" if left else "failed")))
        raise


async def _cited(client: MemGraphClient, citations: Sequence[Citation]) -> list[str]:
    """Return what an answer refers to: chunks, or the paths of those that are gone since they were found."""
    there = await client.chunks_by_id(dict.fromkeys(one.chunk_id for one in citations if one.chunk_id))
    cited = (one.chunk_id if one.chunk_id in there else one.path for one in citations if one.chunk_id)
    return list(dict.fromkeys(cited))


async def _in_time(recording: Coroutine[Any, Any, str]) -> None:
    try:
        async with asyncio.timeout(_RECORDING_SECONDS):
            await recording
    except (MGRagError, TimeoutError) as error:  # not more important than why the answer ended
        reason = str(error) or f"the graph took more than {_RECORDING_SECONDS} seconds"
        _logger.warning("The part of an answer that was told is not in its conversation: %s", reason)


def _already_asked(question: str, user_id: str | None, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the id of the last message if it is this question, by the same user; else an empty string."""
    if not messages:
        return ""
    last = messages[-1]
    same = (last["role"], last["content"].strip(), last["user_id"] or "") == ("user", question, user_id or "")
    return str(last["id"]) if same else ""


def _said(message: Mapping[str, Any]) -> str:
    """Return a message as a model reads it: the numbers of an earlier answer are those of other passages now."""
    content = message["content"] if message["role"] == "user" else without_markers(message["content"])
    return f"{message['role']}: {content[:_CHARS_PER_MESSAGE]}"


def _given(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(message["content"] for message in messages if message["role"] != "user")


def _gone_on_with(question: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return as a text what a question may refer to: the question before it, and what it points back at.

    Questions of nothing but function words ("and why?") are passed over.
    """
    newest = [message for message in reversed(messages) if message["content"].strip()]
    questions = [message["content"] for message in newest if message["role"] == "user"]
    answers = [message["content"] for message in newest if message["role"] != "user"]
    pointed = [referent.text for referent in referents(question, questions, answers)]
    last = next((said[:_CHARS_PER_MESSAGE] for said in questions if has_words(said[:_CHARS_PER_MESSAGE])), "")
    return "\n".join([last, *pointed]).strip()
