"""Language models: the interface (``base``), the provider (``openai_model``), those of others (``custom``), prompts."""

from __future__ import annotations

from core.rag.llm.base import Completion, Delta, LanguageModel, Message, Usage
from core.rag.settings import Settings, named_model, settings_for

__all__ = ["Completion", "Delta", "LanguageModel", "Message", "Usage", "open_language_model"]


def open_language_model(model: str | None = None, settings: Settings | None = None) -> LanguageModel | None:
    """Open the language model of the settings. No request is sent before the first question.

    Args:
        model: Its name on the server; ``None``: MGRAG_LLM_MODEL.
        settings: ``None``: read from the environment.

    Returns:
        The model, to be closed by the caller; ``None`` if none is set, so that answers are extracts.

    Raises:
        InvalidInputError: if the name is not text, or the settings are none.
        ConfigurationError: if a model is named, but neither a key nor an endpoint; says what to set.
        MissingDependencyError: if the ``openai`` package is not installed.
    """
    settings = settings_for(settings)
    name = named_model(model, settings.llm_model, "language model", "MGRAG_LLM_MODEL")
    if name is None:
        return None
    from core.rag.llm.openai_model import OpenAICompatibleModel

    return OpenAICompatibleModel(name, settings=settings)
