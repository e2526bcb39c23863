"""Language models: the interface (``base``), the provider (``openai_model``), and the prompts (``prompts``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.errors import ConfigurationError
from core.rag.llm.base import Completion, Delta, LanguageModel, Message, Usage
from core.rag.settings import Settings, settings_for

if TYPE_CHECKING:
    from core.rag.llm.openai_model import OpenAICompatibleModel

__all__ = ["Completion", "Delta", "LanguageModel", "Message", "Usage", "open_language_model"]


def open_language_model(model: str | None = None, settings: Settings | None = None) -> OpenAICompatibleModel | None:
    """The language model of the settings. Nothing is requested before the first question.

    Args:
        model: Its name, as the server calls it; MGRAG_LLM_MODEL if None.
        settings: The environment; read if None.

    Returns:
        The model, to be closed by the caller; ``None`` where none is set: then answers are extracts.

    Raises:
        ConfigurationError: A model is named, but no key and no endpoint; says what to set.
        MissingDependencyError: The ``openai`` package is not installed.
    """
    settings = settings_for(settings)
    name = settings.llm_model if model is None else model
    if name is None:
        return None
    if not name.strip():
        raise ConfigurationError("The name of the language model is empty (MGRAG_LLM_MODEL).")
    from core.rag.llm.openai_model import OpenAICompatibleModel

    return OpenAICompatibleModel(name.strip(), settings=settings)
