"""Whoever else uses the process, such as the callers of a server, does not wait while long texts are analysed."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis.analyzer import index_terms
from core.rag.dbhandler.messages import rows
from core.rag.memory.anonymizing import Anonymizer


async def add(kb: KnowledgeBase) -> None:
    await kb.client.add_message("s", "The mill turns with the ebb.", "user")


async def remember(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", "The mill turns with the ebb.")


async def compact(kb: KnowledgeBase) -> None:
    assert await kb.compact("s", keep=0)


async def anonymize(kb: KnowledgeBase) -> None:
    await kb.anonymize(user_id="ann")


@pytest.mark.parametrize("work", [add, remember, compact, anonymize])
async def test_texts_are_analysed_beside_the_event_loop(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, work: Callable[[KnowledgeBase], Awaitable[None]]
) -> None:
    for text in ("I am Ann Harlow, and the trust is mine.", "The trust owns the mill."):
        await kb.remember("s", "user", text, user_id="ann")
    await kb.remember("others", "user", "Ann Harlow says hello.", user_id="bob")
    threads: set[int] = set()

    def noted[**P, T](function: Callable[P, T]) -> Callable[P, T]:
        def noting(*args: P.args, **named: P.kwargs) -> T:
            threads.add(threading.get_ident())
            return function(*args, **named)

        return noting

    monkeypatch.setattr(rows, "index_terms", noted(index_terms))
    monkeypatch.setattr(Anonymizer, "learn", noted(Anonymizer.learn))
    await work(kb)
    assert threads and threading.get_ident() not in threads
