"""A reranker on a server that speaks the protocol of Cohere and Jina (vLLM, llama.cpp, LiteLLM, Infinity) or of TEI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.rag.errors import ConfigurationError, RerankerError
from core.rag.openai_api import ApiClient, Served, Timing
from core.rag.openai_endpoint import find_endpoint
from core.rag.openai_events import MalformedAnswerError
from core.rag.openai_failures import ApiFailure, Purpose, explain
from core.rag.settings import Settings, settings_for
from core.rag.together import all_together

_PURPOSE = Purpose("rerank", "MGRAG_RERANK", "MGRAG_RERANK_MODEL")
#: Texts in a request. A server that takes fewer is sent fewer.
_MAX_TEXTS = 100
#: With this header the ``openai`` client returns an answer as it came; its own methods for it send the same.
_AS_IT_CAME = {"headers": {"X-Stainless-Raw-Response": "true"}}


class ServedReranker(Served):
    """A reranker behind ``POST …/rerank``.

    The endpoint is MGRAG_RERANK_BASE_URL, else OPENAI_BASE_URL: the address up to, and without, ``/rerank``. A server
    on one's own machine needs no key.

    Args:
        model: The name of the model, as the server calls it.
        settings: The environment; read if None.

    Raises:
        ConfigurationError: No endpoint; says what to set.
        MissingDependencyError: The ``openai`` package is not installed.
    """

    def __init__(self, model: str, *, settings: Settings | None = None, _timing: Timing | None = None) -> None:
        settings = settings_for(settings)
        if not (settings.rerank_base_url or settings.openai_base_url):
            raise ConfigurationError(
                f"The reranker {model} needs a server, and none is named. Set MGRAG_RERANK_BASE_URL to its address, up"
                " to /rerank (and MGRAG_RERANK_API_KEY if it needs a key); OpenAI has no rerankers."
            )
        endpoint = find_endpoint(settings, f"The reranker {model}", "rerank", azure_first=False)
        self._model = model
        self._max_texts = _MAX_TEXTS
        self._tei = False  # whether the server wants the texts as "texts"
        self._api = ApiClient(
            endpoint,
            timeout=settings.rerank_timeout,
            concurrency=settings.rerank_concurrency,
            deadline=settings.rerank_retry_deadline,
            timing=_timing,
        )

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score texts; see :class:`core.rag.reranker.Reranker`."""
        size = self._max_texts
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [score for part in await all_together(self._scores(query, part) for part in parts) for score in part]

    async def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score a part of the texts, in halves if the server finds it too much."""
        while True:
            tei = self._tei
            body = {"texts": texts, "truncate": True} if tei else {"model": self._model, "documents": texts}
            try:
                return await self._api.call(
                    lambda client: client.post(
                        "/rerank",
                        cast_to=object,
                        body={"query": query, **body},  # noqa: B023 - called before the next round
                        options=_AS_IT_CAME,
                    ),
                    lambda answer: _read(answer, len(texts)),
                )
            except ApiFailure as failure:
                refused = failure.status in (400, 413, 422)
                if refused and not tei and "texts" in failure.message:
                    self._tei = True
                elif refused and len(texts) > 1:
                    break
                else:
                    raise RerankerError(explain(failure, self._api.endpoint, self._model, _PURPOSE)) from failure
        half = (len(texts) + 1) // 2
        scores = [*await self._scores(query, texts[:half]), *await self._scores(query, texts[half:])]
        self._max_texts = min(self._max_texts, half)  # no text was too long by itself
        return scores


def _read(answer: Any, count: int) -> list[float]:
    """Return the scores in the order of the texts.

    Cohere and Jina have ``results`` with ``relevance_score``, Voyage calls them ``data``, TEI has the bare list with
    ``score``.
    """
    rows = (answer.get("results") or answer.get("data")) if isinstance(answer, dict) else answer
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise MalformedAnswerError("the answer holds no list of scores")
    found = {row.get("index"): row.get("relevance_score", row.get("score")) for row in rows}
    scores = [found.get(index) for index in range(count)]
    if len(found) != count or not all(isinstance(score, int | float) and math.isfinite(score) for score in scores):
        raise MalformedAnswerError(f"the answer does not have a score for each of {count} texts")
    return [float(score) for score in scores if score is not None]
