"""OpenAI's text-embedding-3-small, from OpenAI or from Azure OpenAI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.embedder.openai_compatible import OpenAICompatibleEmbedding

if TYPE_CHECKING:
    from pydantic import SecretStr

    from core.rag.openai_api import Timing
    from core.rag.settings import Settings

MODEL = "text-embedding-3-small"


class TextEmbedding3Small(OpenAICompatibleEmbedding):
    """text-embedding-3-small: 1,536 dimensions (or fewer, if asked for), texts of up to 8,191 tokens.

    With MGRAG_EMBEDDING_BASE_URL in the environment it is asked of that server; with AZURE_OPENAI_API_KEY (and
    AZURE_OPENAI_ENDPOINT) of Azure OpenAI, in the deployment AZURE_OPENAI_EMBEDDING_DEPLOYMENT or one called like the
    model; else of OpenAI with OPENAI_API_KEY, or of the server at OPENAI_BASE_URL.

    Args:
        base_url: An endpoint, before all of those.
        api_key: A key, before those in the environment.
        dimension: Fewer dimensions than 1,536.
        settings: The environment; read if None.

    Raises:
        ConfigurationError: There is no key; says which variables to set.
        MissingDependencyError: The ``openai`` package is not installed.
    """

    _azure_first = True

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        dimension: int | None = None,
        *,
        settings: Settings | None = None,
        _timing: Timing | None = None,
    ) -> None:
        super().__init__(MODEL, base_url, api_key, dimension, settings=settings, _timing=_timing)
