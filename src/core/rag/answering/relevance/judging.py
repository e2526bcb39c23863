"""Decides whether anything that was retrieved is relevant to the question.

A passage speaks for itself in two ways: by its share of the words of the question, each counting as much as it is rare
in the corpus (so words that no passage has count most, against it), and by its cosine with the question. With the two
as independent witnesses, the chance that it has to do with the question is 1 - (1 - share) (1 - cosine). If a question
names something, and nothing that was found has any of its names, the words it shares are about something else.

In languages of which models of embeddings have read little, two texts have a high cosine whatever they say: Spanish
questions 0.6 with passages of other subjects, Japanese ones 0.8 (English ones 0.2). There a cosine counts as far as the
passage has words of the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.rag.answering.relevance.compared import RELEVANT, Asked, Passage, is_called
from core.rag.answering.relevance.scores import matches
from core.rag.answering.types import Analysis, FoundEntity, Knowledge
from core.rag.embedder.likeness import usual_cosine

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: It may do: one time in three. Worth showing to somebody who is told so, but not to a model.
NEAR = 1 / 3


async def judge(analysis: Analysis, knowledge: Knowledge, client: MemGraphClient, before: str = "") -> None:
    """Set ``relevant``, ``near`` and ``far`` of the knowledge: whether what was found has to do with the question.

    Args:
        analysis: The question.
        knowledge: What was found.
        client: The graph, which tells how rare the words of the question are.
        before: What was said before that the question goes on with.
    """
    asked = await Asked.in_graph(client, analysis, before)
    usual = await usual_cosine(client.embedder)
    passages = [Passage.of(hit, usual) for hit in knowledge.hits]
    shares = {passage.hit.chunk_id: asked.share(passage) for passage in passages}
    likelihoods = {passage.hit.chunk_id: passage.likelihood(shares[passage.hit.chunk_id]) for passage in passages}
    likelihood = relevance(asked, knowledge, likelihoods)
    surely = {
        passage.hit.chunk_id: passage.likelihood(share, asked.trust(share))
        for passage, share in zip(passages, shares.values(), strict=True)
    }
    if asked.says_nothing or asked.is_unknown(passages, knowledge):
        meant = max((passage.likeness for passage in passages if asked.in_english), default=0.0)
        likelihood = min(likelihood, max(NEAR, meant))
    sure = min(likelihood, relevance(asked, knowledge, surely))
    knowledge.relevant = sure >= RELEVANT
    # A remark ("I thought that was old!") has words that no passage has. The search looked for what was said before
    # only if the question does not change the subject: then what it found of that is what the talk is about.
    knowledge.near = sure >= NEAR or any(map(asked.goes_on, passages))
    # Where the graph led need not have a word of the question.
    plain = (hit for hit in knowledge.hits if hit.scores and not hit.scores.get("graph"))
    knowledge.far = frozenset(
        hit.chunk_id for hit in plain if likelihoods[hit.chunk_id] < NEAR and not shares[hit.chunk_id]
    )


def relevance(asked: Asked, knowledge: Knowledge, likelihoods: Mapping[str, float]) -> float:
    """Return how likely it is that anything of what was found has to do with the question, from 0 to 1.

    An entity or a relation that the question names is certain to have; else the likeliest passage counts. So it does
    where there are passages, but nothing is known of the entity.

    Args:
        asked: The question.
        knowledge: What was found.
        likelihoods: Of its passages, by the id of the chunk.
    """
    # A year or another number is no subject by itself.
    names = [name for name in asked.names if not name.isdigit()]
    if names:
        if any(is_called(item, names) and _is_told_of(item, knowledge) for item in knowledge.entities):
            return 1.0
        if any(matches(fact.fact, names) for fact in knowledge.facts):
            return 1.0
    return max(likelihoods.values(), default=0.0)


def _is_told_of(entity: FoundEntity, knowledge: Knowledge) -> bool:
    """Return whether anything tells of an entity, if there are passages: of facts that have ended, its name is left."""
    if not knowledge.hits or entity.mention_count or entity.summary:
        return True
    return any(entity.id in (fact.source_id, fact.target_id) for fact in knowledge.facts)
