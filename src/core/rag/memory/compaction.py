"""Compacts old memories: summarises them with a language model, or selects their most central sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from core.rag.analysis import analyze
from core.rag.dbhandler.messages.rows import MAX_TAGS, message_properties, speaker_of
from core.rag.errors import InvalidInputError, LanguageModelError, NotFoundError, StoreConflictError
from core.rag.memory.prompts import SummaryPrompt
from core.rag.memory.worth import worth_keeping
from core.rag.unit_vectors import unit_vectors
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.llm.base import LanguageModel

_SENTENCE_END = regex(r"(?<=[.!?。！？…])\s+|\n+|(?<=[。！？])")
_ENDS = ".!?…。！？"
#: Maximum number of sentences that are compared with each other at once.
_MAX_SENTENCES = 400

#: Maximum number of characters that a model summarises at once.
_MAX_CHARS = 60_000
_TOKENS_OF_A_SENTENCE = 60
#: Maximum number of tokens of a summary.
_MAX_TOKENS = 4_000


#: How often memories are read and summarised if other clients change them meanwhile.
TRIES = 3


def older(messages: Sequence[dict[str, Any]], keep: int) -> Sequence[dict[str, Any]]:
    """Return the messages to summarise: all before the last ones, including earlier summaries.

    Args:
        messages: Messages in order, without those that a summary has replaced.
        keep: How many of the last ones stay, not counting summaries.
    """
    said = [place for place, message in enumerate(messages) if not message["summary"]]
    if keep == 0:
        return messages
    return messages[: said[-keep]] if len(said) >= keep else []


def by_speaker(messages: Iterable[dict[str, Any]], owner: str | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return what is to become one summary each: the messages of everyone who said more than one thing.

    Args:
        messages: Messages in order.
        owner: The user of the conversation.

    Returns:
        The ``user_id`` of the summary, which is empty for the owner's as in their messages, and the messages; in the
        order of the last ones.
    """
    said: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        said.setdefault(speaker_of(message, owner), []).append(message)
    found = [("" if speaker == owner else speaker, own) for speaker, own in said.items() if len(own) > 1]
    return sorted(found, key=lambda group: group[1][-1]["sequence"])


async def compact_session(
    client: MemGraphClient,
    session_id: str,
    keep: int,
    count: int | None,
    summarizer: Summarizer | None,
    model: LanguageModel | None,
) -> str | None:
    """Replace the older memories of a session; see :meth:`core.rag.KnowledgeBase.compact`."""
    session = await client.conversation_row(session_id)
    if session is None:
        raise NotFoundError(f"There is no session {session_id[:200]!r}.")
    summary: str | None = None
    for _ in range(TRIES):
        messages = await client.get_conversation_messages(session_id)
        old = older([message for message in messages if not message["compacted_into"]], keep)
        parts = by_speaker(old, session["user_id"])
        summaries = [await _summary_of(speaker, said, count, summarizer, model) for speaker, said in parts]
        for (_, said), properties in zip(parts, summaries, strict=True):
            replaced = {message["id"]: message["revised_at"] for message in said}
            written = await client.compact_messages(session_id, replaced, properties)
            if written is None:
                break
            summary = written
        else:
            return summary
    raise StoreConflictError(f"Others changed the old memories of {session_id!r} meanwhile; compact it again.")


async def _summary_of(
    speaker: str,
    old: Sequence[dict[str, Any]],
    count: int | None,
    summarizer: Summarizer | None,
    model: LanguageModel | None,
) -> dict[str, Any]:
    """Return the properties of the message that summarises these messages of one speaker."""
    count = count or max(3, len(old) // 4)
    if summarizer is None and model is not None:
        summarizer = ModelSummarizer(model, count)
    if summarizer is not None:
        text = (await summarizer.summarize([f"{message['role']}: {message['content']}" for message in old])).strip()
    else:
        text = await asyncio.to_thread(_central, old, count)
    if not text:
        raise InvalidInputError("The summary is empty; nothing was replaced.")
    tags = list(dict.fromkeys(tag for message in old for tag in message["tags"]))[:MAX_TAGS]
    said = max(message["last_said_at"] for message in old)
    return await asyncio.to_thread(
        message_properties, text, "summary", timestamp=said, tags=tags, user_id=speaker or None
    )


def _central(messages: Sequence[Mapping[str, Any]], count: int) -> str:
    """Return the sentences that are worth most and most central."""
    worth: dict[str, float] = {}
    for message in messages:
        for sentence in sentences_of([message["content"]]):
            worth[sentence] = max(worth.get(sentence, 0.0), worth_keeping(sentence, message["role"]))
    return text_of(central_sentences(list(worth), count, worth))


class Summarizer(Protocol):
    """An object that summarises texts, for example with a language model."""

    async def summarize(self, texts: Sequence[str]) -> str:
        """Summarise texts, which are in order."""
        ...


class ModelSummarizer:
    """Summaries by a language model."""

    def __init__(self, model: LanguageModel, sentences: int) -> None:
        """Prepare a summarizer.

        Args:
            model: Writes the summaries.
            sentences: Maximum number of sentences in a summary.
        """
        self._model = model
        self._sentences = sentences

    async def summarize(self, texts: Sequence[str]) -> str:
        """Summarise texts; very many of them are summarised in parts, whose summaries are joined.

        Raises:
            LanguageModelError: if the model fails, or the summary of a part is empty or cut off.
        """
        parts: list[list[str]] = [[]]
        length = 0
        for text in texts:
            line = " ".join(text.split())
            for start in range(0, len(line), _MAX_CHARS):
                piece = line[start : start + _MAX_CHARS]
                if length + len(piece) > _MAX_CHARS:
                    parts.append([])
                    length = 0
                parts[-1].append(piece)
                length += len(piece)
        sentences = -(-self._sentences // len(parts))
        return "\n".join([await self._summary(part, sentences) for part in parts])

    async def _summary(self, lines: Sequence[str], sentences: int) -> str:
        prompt = SummaryPrompt(texts="\n".join(lines), sentences=str(sentences))
        few = min(_TOKENS_OF_A_SENTENCE * sentences, _MAX_TOKENS)
        # What is cut off would be lost. Models that think, and languages of many tokens, need more than a few.
        for tokens in dict.fromkeys((few, _MAX_TOKENS)):
            answer = await self._model.complete(prompt.messages(), temperature=0.0, max_tokens=tokens)
            if answer.finish_reason != "length" and answer.text.strip():
                return answer.text.strip()
        raise LanguageModelError(
            f"{self._model.model} wrote no whole summary, but {len(answer.text):,} characters (it stopped:"
            f" {answer.finish_reason}); nothing was replaced. Try again, or another model"
        )


def sentences_of(texts: Sequence[str]) -> list[str]:
    """Return the distinct sentences of texts, in order."""
    found: dict[str, None] = {}
    for text in texts:
        for part in _SENTENCE_END.split(text):
            sentence = " ".join(part.split())
            if sentence:
                found[sentence] = None
    return list(found)


def text_of(sentences: Iterable[str]) -> str:
    """Join sentences to one text; those without a full stop or the like get their own lines."""
    return "".join(f"{sentence} " if sentence[-1] in _ENDS else f"{sentence}\n" for sentence in sentences).strip()


def central_sentences(
    sentences: Sequence[str], count: int, worth: Mapping[str, float] = MappingProxyType({})
) -> list[str]:
    """Select the sentences that are most similar to all others, but not to each other; return them in order.

    Centrality is as in LexRank (G. Erkan, D. R. Radev, JAIR 22, 2004), with cosines over words weighted by rarity; each
    selected sentence reduces the score of similar ones (maximal marginal relevance). Very many sentences are divided
    into consecutive parts, so that each time is represented.

    Args:
        sentences: All sentences.
        count: How many to select.
        worth: What each sentence counts besides; the most central one counts 1 as such.
    """
    if len(sentences) <= count:
        return list(sentences)
    if len(sentences) > _MAX_SENTENCES:
        parts = -(-len(sentences) // _MAX_SENTENCES)
        selected: list[str] = []
        for number in range(1, parts + 1):
            part = sentences[len(sentences) * (number - 1) // parts : len(sentences) * number // parts]
            # Each part gets its share of those that are still missing, and one at least.
            share = max(1, count * number // parts - len(selected))
            selected += central_sentences(part, share, worth)
        return central_sentences(selected, count, worth)
    words = [set(analyze(sentence)) for sentence in sentences]
    vocabulary = {word: number for number, word in enumerate(sorted(set().union(*words)))}
    matrix = np.zeros((len(sentences), max(len(vocabulary), 1)))
    for row, own in enumerate(words):
        for word in own:
            matrix[row, vocabulary[word]] = 1.0
    matrix *= np.log1p(len(sentences) / np.maximum(matrix.sum(axis=0), 1.0))
    matrix = unit_vectors(matrix)
    alike = matrix @ matrix.T
    central = alike.mean(axis=1)
    central = central / max(float(central.max()), 1e-30) + np.array([worth.get(one, 0.0) for one in sentences])
    taken: list[int] = []
    while len(taken) < count:
        penalty = alike[:, taken].max(axis=1) if taken else np.zeros(len(sentences))
        wanted = central - penalty
        wanted[taken] = -np.inf
        taken.append(int(np.argmax(wanted)))
    return [sentences[number] for number in sorted(taken)]
