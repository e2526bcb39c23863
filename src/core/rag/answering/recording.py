"""Answers within a conversation: takes the history into account, and records question and answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.rag.answering.events import DoneEvent, Event, RetrievalEvent
from core.rag.answering.intents import has_words
from core.rag.answering.services import Services
from core.rag.retrieval.referents import asks_for_more, referents

#: A strategy: from a question and what to answer it with, the events.
Strategy = Callable[[str, Services], AsyncGenerator[Event, None]]

#: How much of what was said before a model gets to read.
MESSAGES = 6
_CHARS_PER_MESSAGE = 1_000


async def recorded(
    strategy: Strategy,
    question: str,
    services: Services,
    conversation_id: str | None,
    user_id: str | None = None,
) -> AsyncGenerator[Event, None]:
    """Answer, in a conversation if there is one; it is created if missing.

    The question is recorded first, what was retrieved for it when it is known, the answer at the end. Of an answer that
    is broken off the question stays.

    Args:
        strategy: How to answer.
        question: The question.
        services: What the answer is made with.
        conversation_id: The conversation, or ``None``.
        user_id: Who asks, and to whom the answer belongs like the question.

    Yields:
        The events of the strategy; the answer at the end with the id of its message.
    """
    if conversation_id is None:
        async with contextlib.aclosing(strategy(question, services)) as events:
            async for event in events:
                yield event
        return
    client = services.kb.client
    await client.create_conversation(user_id=user_id, conversation_id=conversation_id)
    messages = await client.recent_messages(conversation_id, MESSAGES)
    services = replace(
        services,
        dialogue="\n".join(f"{message['role']}: {message['content'][:_CHARS_PER_MESSAGE]}" for message in messages),
        before=_gone_on_with(question, messages),
        given=_given(messages) if asks_for_more(question) else "",
        search={**services.search, "conversation_id": conversation_id},
    )
    asked = await client.add_message(conversation_id, question, "user", user_id=user_id)
    async with contextlib.aclosing(strategy(question, services)) as events:
        async for event in events:
            if isinstance(event, RetrievalEvent):
                await client.record_retrieved(asked, [passage.hit for passage in event.passages])
            if isinstance(event, DoneEvent):
                answer = event.answer
                said = await client.add_message(
                    conversation_id,
                    answer.text,
                    "assistant",
                    references=list(dict.fromkeys(cited.chunk_id for cited in answer.citations)),
                    user_id=user_id,
                )
                event = DoneEvent(replace(answer, message_id=said))
            yield event


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
