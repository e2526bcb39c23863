"""The questions that are put to a language model: connections between nodes, and the parts of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.answering.drift.decomposition import MAX_PARTS, split_question
from core.rag.answering.drift.paths import InferredConnection, Node, Path
from core.rag.answering.drift.prompts import ConnectionsAnswer, DecomposePrompt, InferPrompt, PartsAnswer
from core.rag.answering.drift.words import QueryWords
from core.rag.errors import LanguageModelError
from core.rag.llm.structured import parsed_of

if TYPE_CHECKING:
    from core.rag.llm import LanguageModel

INFERENCE_TEMPERATURE = 0.1
INFERENCE_TOKENS = 2048

_TEXT_CHARS = 500
_PATHS = 30


async def ask_model(
    model: LanguageModel, query: str, nodes: Sequence[Node], paths: Sequence[Path]
) -> list[InferredConnection]:
    """Ask a model for connections; what it says is not checked yet.

    Raises:
        LanguageModelError: if it fails, or its answer is not of the form asked for.
    """
    if len(nodes) < 2:
        return []
    lines = [
        f"{number}. ({node.label}) {_line(node.name)}: {_line(node.content)}" for number, node in enumerate(nodes, 1)
    ]
    prompt = InferPrompt(
        question=query, nodes="\n".join(lines), paths="\n".join(_line(str(path)) for path in paths[:_PATHS])
    )
    completion = await model.complete(
        prompt.messages(), temperature=INFERENCE_TEMPERATURE, max_tokens=INFERENCE_TOKENS, schema=ConnectionsAnswer
    )
    return [
        InferredConnection(
            nodes[item.source - 1].id,
            nodes[item.target - 1].id,
            item.type.strip(),
            item.confidence,
            item.reasoning.strip(),
            strategy="semantic",
        )
        for item in parsed_of(model, completion, ConnectionsAnswer).connections
        if 1 <= item.source <= len(nodes) and 1 <= item.target <= len(nodes)
    ]


async def parts_of(question: str, model: LanguageModel | None) -> tuple[list[str], list[str]]:
    """Return the questions that a question contains, and notes: if it has several, a model takes it apart.

    Without a model, or if it fails, which is noted, rules do it (:func:`split_question`).
    """
    parts = split_question(question)
    if len(parts) == 1 or model is None:
        return parts, []
    try:
        asked = await _ask_for_parts(model, question)
    except LanguageModelError as error:
        return parts, [f"The language model failed ({error}); the question was taken apart by rules."]
    return [part for part in asked[:MAX_PARTS] if QueryWords(part).words] or parts, []


async def _ask_for_parts(model: LanguageModel, query: str) -> list[str]:
    """Ask a model for the parts of a question.

    Raises:
        LanguageModelError: if it fails, or its answer is not of the form asked for.
    """
    completion = await model.complete(
        DecomposePrompt(question=query).messages(),
        temperature=INFERENCE_TEMPERATURE,
        max_tokens=INFERENCE_TOKENS,
        schema=PartsAnswer,
    )
    return [part.strip() for part in parsed_of(model, completion, PartsAnswer).parts if part.strip()]


def _line(text: str) -> str:
    return " ".join(text.split())[:_TEXT_CHARS]
