"""Keyword search on a server that ranks otherwise than we do."""

from __future__ import annotations

from typing import Any

from core.rag.dbhandler.bolt.words import WordSearch
from core.rag.dbhandler.store import Row
from core.rag.schema import Label, TextIndex

INDEX = TextIndex(Label.CHUNK, "test")
TOTAL = 2_000


class Server:
    """Has texts ``t0`` to ``t1999`` that all hold a word, and ranks short ones far too high: ``best`` comes late."""

    name = "neo4j"

    def __init__(self, best: int, score: float) -> None:
        self.texts = {f"t{i}": "alpha" + " x" * 40 for i in range(TOTAL)}
        self.texts[f"t{best}"] = "alpha alpha alpha" + " x" * 80
        self.scores = {identifier: 1.0 - i * score / TOTAL for i, identifier in enumerate(self.texts)}
        self.asked: list[int] = []

    async def text_candidates(self, index: TextIndex, words: Any, k: int) -> dict[str, float]:
        self.asked.append(k)
        return dict(list(self.scores.items())[:k])

    async def text_counts(self, index: TextIndex, words: Any) -> dict[str, int]:
        return dict.fromkeys(words, TOTAL)

    async def query(self, statement: str, parameters: Any = None, what: str = "") -> list[Row]:
        if "$ids" in statement:
            return [{"ids": parameters["ids"], "terms": [self.texts[i] for i in parameters["ids"]]}]
        return [{"n": TOTAL, "words": 41 * TOTAL}]


async def test_the_best_is_found_where_the_server_ranks_it_low() -> None:
    server = Server(best=500, score=0.01)
    found = await WordSearch(server, server).search(INDEX, {"alpha": 1.0}, 5)  # type: ignore[arg-type]
    assert found[0].id == "t500"
    assert len(found) == 5
    assert len(server.asked) == 2


async def test_no_more_are_asked_for_where_those_behind_are_far_behind() -> None:
    server = Server(best=3, score=1.0)
    for i in range(60, TOTAL):
        server.scores[f"t{i}"], server.texts[f"t{i}"] = 0.1, "alpha" + " x" * 900
    found = await WordSearch(server, server).search(INDEX, {"alpha": 1.0}, 5)  # type: ignore[arg-type]
    assert found[0].id == "t3"
    assert len(server.asked) == 1


async def test_numbers_that_were_counted_during_a_commit_are_not_kept() -> None:
    """For five seconds a search knew nothing of what its own client had stored before it."""
    server = Server(best=500, score=0.01)
    search = WordSearch(server, server)  # type: ignore[arg-type]
    words = TOTAL

    async def query(statement: str, parameters: Any = None, what: str = "") -> list[Row]:
        nonlocal words
        if "$ids" in statement:
            return [{"ids": parameters["ids"], "terms": [server.texts[i] for i in parameters["ids"]]}]
        counted = words
        if words < 41 * TOTAL:
            words = 41 * TOTAL
            search.changed([f"CREATE (c:{Label.CHUNK} $props)"])
        return [{"n": TOTAL, "words": counted}]

    server.query = query  # type: ignore[method-assign]
    await search.search(INDEX, {"alpha": 1.0}, 5)
    again = await search.search(INDEX, {"alpha": 1.0}, 5)
    assert again == await WordSearch(server, server).search(INDEX, {"alpha": 1.0}, 5)  # type: ignore[arg-type]
