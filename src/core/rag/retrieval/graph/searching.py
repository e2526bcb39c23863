"""The modes ``graph`` and ``auto``, on top of a hybrid search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.retrieval.graph.auto import blended, graph_share
from core.rag.retrieval.graph.order import with_all_sides
from core.rag.retrieval.graph.question import Question, weigh
from core.rag.retrieval.graph.ranked import Found, Ranked
from core.rag.retrieval.graph.ranking import GraphRanking
from core.rag.retrieval.graph.reading import GraphReader
from core.rag.retrieval.hits import Because
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.retrieval.filters import Filter
    from core.rag.retrieval.legs import Legs

    type Scores = dict[str, tuple[float, dict[str, float]]]


class GraphSearch:
    """One graph search; it keeps the data to explain its results."""

    def __init__(self, client: MemGraphClient, embedder: EmbeddingService, legs: Legs) -> None:
        """Prepare a search.

        Args:
            client: The graph.
            embedder: Of the vectors.
            legs: Provide samples of the corpus.
        """
        self._client = client
        self._embedder = embedder
        self._legs = legs
        self._ranked: Ranked | None = None
        self._share = 0.0

    async def search(
        self, text: str, terms: Iterable[str], vector: Sequence[float] | None, hybrid: Scores, *, auto: bool
    ) -> Scores:
        """Rank the results of a hybrid search, and what the graph leads to from there.

        Args:
            text: The question.
            terms: Its analysed words.
            vector: Its embedding.
            hybrid: Score and the legs' scores by chunk id.
            auto: Only use the graph as far as question and corpus call for it.

        Returns:
            The same for graph search, with the score ``graph``. If nothing was extracted, ``hybrid`` unchanged.
        """
        self._ranked = None
        sample = await self._legs.sampled_words()
        cosines = await self._legs.sampled_cosines(vector)
        unrelated = await usual_cosine(self._embedder)
        found = Found(
            scores={key: score for key, (score, _) in hybrid.items()},
            keyword={key: legs["keyword"] for key, (_, legs) in hybrid.items() if "keyword" in legs},
            cosine={key: likeness(legs["vector"], unrelated) for key, (_, legs) in hybrid.items() if "vector" in legs},
            usual=likeness(math.fsum(cosines) / len(cosines), unrelated) if cosines else 0.0,
            total=await self._legs.total(),
        )
        sentences, direction = await self._of_sentences(text, vector)
        ranking = GraphRanking(GraphReader(self._client), sentences)
        question = Question(text, weigh(terms, sample), direction, sample)
        ranked = await ranking.rank(question, found)
        share = graph_share(ranked, auto=auto)
        if not ranked.is_linked or share <= 0.0:
            return hybrid
        self._ranked, self._share = ranked, share
        scores = with_all_sides(blended(found.scores, ranked.scores, share), ranked.sides)
        return {
            key: (score, {**hybrid.get(key, (0.0, {}))[1], "graph": ranked.scores.get(key, 0.0)})
            for key, score in scores.items()
        }

    async def _of_sentences(
        self, text: str, vector: Sequence[float] | None
    ) -> tuple[EmbeddingService | None, tuple[float, ...] | None]:
        """Return what embeds sentences, dozens in a search, and the vector of the question to compare them with.

        A model that reads a text takes too long for that, and a provider would be sent them over the network.
        """
        if vector is None:
            return None, None
        if self._embedder.words_only:
            return self._embedder, tuple(vector)
        from core.rag.embedder import WordLlamaEmbedding

        quick = WordLlamaEmbedding()
        return quick, tuple(await quick.get_query_embedding(text))

    def leave(self) -> None:
        """Forget what the graph led to, as something else ranks the hits."""
        self._ranked = None

    async def because(self, chunks: Iterable[str], wanted: Filter | None) -> dict[str, Because]:
        """Return why chunks were found; empty if the graph was not used.

        Args:
            chunks: Their ids.
            wanted: A filter; what does not pass it is not told of, even if it led to them.
        """
        ranked = self._ranked
        if ranked is None:
            return {}
        traces = ranked.traces(chunks)
        reader = GraphReader(self._client)
        if wanted is not None:
            passing, texts = await together(
                self._legs.passing(wanted, {key for trace in traces.values() for key in trace.passages}),
                reader.texts({key for trace in traces.values() for key in trace.passages[-2:-1]}),
            )
            contents = {key: text.content for key, text in texts.items()}
            traces = {chunk: trace.among(passing, contents) for chunk, trace in traces.items()}
        titles, names = await together(
            reader.places({key for trace in traces.values() for key in trace.passages}),
            reader.spellings({trace.entity for trace in traces.values() if trace.entity}),
        )
        return {chunk: trace.told(titles, names) for chunk, trace in traces.items()}
