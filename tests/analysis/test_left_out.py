"""What a question wants left out is looked for as an option, too."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis import analyze, option_words
from libs.dataloader import Document


@pytest.mark.parametrize(
    ("question", "option"),
    [
        ("How do I run it without a cache?", "--no-cache"),
        ("Can I skip the lock file?", "--no-lock-file"),
        ("how do I turn off warn-script-location", "--no-warn-script-location"),
        ("Is there a way of disabling colour?", "--no-colour"),
        ("Wie starte ich es ohne den Cache?", "--no-cache"),
        ("Wie deaktiviere ich den Proxy?", "--no-proxy"),
        ("Comment désactiver le cache ?", "--no-cache"),
        ("Como faço sem o cache?", "--no-cache"),
        ("Как отключить proxy?", "--no-proxy"),
        ("如何不使用 cache 构建？", "--no-cache"),
        ("cache なしで実行するには？", "--no-cache"),
    ],
)
def test_an_option_is_called_by_what_it_leaves_out(question: str, option: str) -> None:
    assert set(option_words(question)) & set(analyze(option))


@pytest.mark.parametrize(
    "question", ["What is a cache?", "Who built it?", "without", "Can it be turned off?", "Go without 3 of them", ""]
)
def test_who_wants_nothing_left_out_asks_for_no_option(question: str) -> None:
    assert option_words(question) == []


def test_words_that_are_too_long_are_none() -> None:
    assert option_words(f"without a {'x' * 100}") == []


async def test_the_option_is_found_and_said_first() -> None:
    options = {
        "lock": "Do not wait for the lock of the mill, which others may hold.",
        "cache": "The mill grinds all anew.",
        "scan": "Do not look at all sacks before the run; the cache of sacks is old then.",
    }
    lines = "\n\n".join(f"`--no-{name}`: {text}" for name, text in options.items())
    texts = {
        "options.md": f"# Options\n\n{lines}\n",
        "cache.md": "# The cache\n\nThe cache has what was ground. To run the mill, run the cache as well.\n",
        "run.md": "# Runs\n\nTo run the mill, open the sluice. A run without wheat fills no cache.\n",
    }
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path=path, content=text, format="markdown") for path, text in texts.items()])
        question = "How do I run the mill without the cache?"
        assert [hit.path for hit in await kb.search(question, k=1)] == ["options.md"]
        assert (await kb.ask(question)).text.splitlines()[2].startswith("- `--no-cache`: The mill grinds all anew.")
