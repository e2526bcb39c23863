"""Language models: what is asked of them (``base``), who answers, and the prompts."""

from core.rag.llm.base import Completion, Delta, LanguageModel, Message, Usage

__all__ = ["Completion", "Delta", "LanguageModel", "Message", "Usage"]
