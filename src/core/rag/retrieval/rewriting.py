"""Rewrites the last question of a conversation as a standalone one, with a language model."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from core.rag.errors import LanguageModelError
from core.rag.retrieval.prompts import RewritePrompt

if TYPE_CHECKING:
    from core.rag.llm.base import LanguageModel
    from core.rag.retrieval.dialogue import Dialogue

#: Share of the rewritten question in the ranking; the original question has the rest.
REWRITTEN_SHARE: Final = 0.5
_MAX_TOKENS: Final = 200
_MAX_CHARS: Final = 1_000
_TURNS: Final = 6
_CHARS_OF_A_TURN: Final = 1_000

_log = logging.getLogger(__name__)


async def standalone_question(model: LanguageModel, dialogue: Dialogue, question: str) -> str | None:
    """Rewrite a question so that it can be understood alone.

    Args:
        model: Writes the question.
        dialogue: The messages before it.
        question: The last question.

    Returns:
        The rewritten question; ``None`` if it is the same, or the model fails, as a search works without it.
    """
    turns = [f"{turn.role}: {turn.content[:_CHARS_OF_A_TURN]}" for turn in reversed(dialogue.turns[:_TURNS])]
    prompt = RewritePrompt(question=question, dialogue="\n".join(turns))
    try:
        answer = await model.complete(prompt.messages(), temperature=0.0, max_tokens=_MAX_TOKENS)
    except LanguageModelError as error:
        _log.warning("The question was not rewritten, and is searched for as it is: %s", error)
        return None
    text = " ".join(answer.text.split()).strip("\"'“”")[:_MAX_CHARS]
    return text if text and text.casefold() != " ".join(question.split()).casefold() else None
