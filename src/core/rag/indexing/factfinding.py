"""Extracts entities and facts with a language model, chunk by chunk; failures are retried in the next run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import batched
from typing import TYPE_CHECKING, Any

from core.rag.errors import (
    LanguageModelAuthError,
    LanguageModelError,
    LanguageModelInputError,
    StructuredOutputError,
)
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.named import of_what_is_named
from core.rag.extraction.wanted import WantedFacts
from core.rag.headings import heading_path
from core.rag.indexing.prompts import ExtractFactsPrompt, PassageFacts
from core.rag.indexing.stopping import check_callbacks
from core.rag.llm.base import LanguageModel
from core.rag.llm.structured import parsed_of

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

_MAX_TOKENS = 2000

#: Chunks whose facts are written in one transaction.
_WRITTEN_AT_ONCE = 32

#: After this many consecutive chunks at which the model was unreachable or stopped early, the run ends.
_PATIENCE = 5

_INTERRUPTED = "interrupted"


@dataclass(slots=True)
class FactReport:
    """The result of an extraction by a language model.

    Attributes:
        chunks: Number of chunks that were read completely.
        entities: Number of entities in them.
        facts: Number of facts in them.
        unwanted: Number of entities and facts that were left out, as their types or relations were not asked for.
        unnamed: Number of entities and facts that were left out, as their chunk does not name them.
        failed: Reasons for failed chunks, by id of the chunk.
        paths: Documents of failed chunks, by id of the chunk.
        stopped: Why the run ended early; else empty.
    """

    chunks: int = 0
    entities: int = 0
    facts: int = 0
    unwanted: int = 0
    unnamed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    stopped: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether the caller stopped it, not the model."""
        return self.stopped == _INTERRUPTED

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {
            "chunks": self.chunks,
            "entities": self.entities,
            "facts": self.facts,
            "unwanted": self.unwanted,
            "unnamed": self.unnamed,
            "failed": [{"chunk_id": key, "reason": reason} for key, reason in self.failed.items()],
            "stopped": self.stopped,
        }


class FactFinder:
    """Extracts facts with a language model from the chunks that it has not read yet."""

    def __init__(
        self,
        client: MemGraphClient,
        model: LanguageModel,
        *,
        wanted: WantedFacts | None = None,
        concurrency: int = 4,
    ) -> None:
        """Prepare a finder; ``concurrency`` chunks are read at the same time."""
        self._client = client
        self._model = model
        self._wanted = wanted or WantedFacts()
        self._concurrency = concurrency

    async def run(
        self,
        limit: int | None = None,
        *,
        stop: asyncio.Event | None = None,
        progress: Callable[[FactReport], None] | None = None,
    ) -> FactReport:
        """Read chunks and write their facts.

        Args:
            limit: Maximum number of chunks.
            stop: When set, no further chunks are read; those that the model has are waited for.
            progress: Called after each transaction with the report so far.

        Raises:
            LanguageModelAuthError: if the key is refused; facts extracted before that are in the graph.
        """
        check_callbacks(stop, progress)
        report = FactReport()
        waiting = await self._client.chunks_without_facts(limit)
        row = 0  # consecutive failures that are due to the model, not to the chunk
        for part in batched(waiting, _WRITTEN_AT_ONCE):
            gate = asyncio.Semaphore(self._concurrency)
            results = await asyncio.gather(*(self._read(chunk, gate, stop) for chunk in part), return_exceptions=True)
            found: dict[str, ChunkFacts] = {}
            unwanted = unnamed = 0
            failed: dict[str, str] = {}
            fatal: BaseException | None = None
            for chunk, result in zip(part, results, strict=True):
                if isinstance(result, ChunkFacts):
                    named = of_what_is_named(result, f"{_place(chunk)}\n{chunk['path']}\n{chunk['content']}")
                    found[chunk["id"]] = kept = self._wanted.of(named)
                    unnamed += result.size - named.size
                    unwanted += named.size - kept.size
                    row = 0
                elif isinstance(result, LanguageModelError) and not isinstance(result, LanguageModelAuthError):
                    failed[chunk["id"]] = str(result)
                    report.paths[chunk["id"]] = chunk["path"]
                    row += not isinstance(result, StructuredOutputError | LanguageModelInputError)
                elif result is not None:
                    fatal = result
            await self._write(report, found, failed)
            report.unwanted += unwanted
            report.unnamed += unnamed
            if progress is not None:
                progress(report)
            if fatal is not None:
                raise fatal
            if None in results:
                report.stopped = _INTERRUPTED
                break
            if row >= _PATIENCE:
                report.stopped = f"The language model failed {row} times in a row: {list(failed.values())[-1]}"
                break
        return report

    async def _read(self, chunk: Row, gate: asyncio.Semaphore, stop: asyncio.Event | None) -> ChunkFacts | None:
        """What the model finds in a chunk; ``None`` if it was not asked any more."""
        prompt = ExtractFactsPrompt(place=_place(chunk), passage=chunk["content"], wanted=self._wanted.text())
        async with gate:
            if stop is not None and stop.is_set():
                return None
            completion = await self._model.complete(
                prompt.messages(), temperature=0.0, max_tokens=_MAX_TOKENS, schema=PassageFacts
            )
        said = parsed_of(self._model, completion, PassageFacts)
        return ChunkFacts.of(
            [(entity.name, entity.type) for entity in said.entities],
            [(fact.subject, fact.relation, fact.object, fact.sentence) for fact in said.facts],
        )

    async def _write(self, report: FactReport, found: dict[str, ChunkFacts], failed: dict[str, str]) -> None:
        if found:
            await self._client.write_chunk_facts(found, self._model.model)
        if failed:
            await self._client.write_fact_failures(failed)
        report.chunks += len(found)
        report.entities += sum(len(facts.entities) for facts in found.values())
        report.facts += sum(len(facts.facts) for facts in found.values())
        report.failed |= failed


def _place(chunk: Row) -> str:
    """Return what a model is told of where a chunk stands."""
    return heading_path((chunk["title"], chunk["heading"])) or str(chunk["path"])
