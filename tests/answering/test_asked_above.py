"""A heading may ask the question itself; and who asks for a way to do something wants the command."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from libs.dataloader import Document

QUESTIONS = """# Common questions

### How do I make a backup of the graph, and restore it?

`mill backup graph.bak` writes all of it, and `mill restore graph.bak` puts it back.

### What is the default sluice? How do I open another one?

Number 3, which is open at all tides. Turn the crank of any other.

### Wie kann ich das Wasser ablassen?

Die Schraube unten lösen.

### What happens if an ebb is late or cut off?

What was ground stays, each sack of it whole.
"""
PAGES = """# Pages

## Upgrading

Make a backup first: an older mill refuses a graph of a newer one.

## Gates

| option | meaning |
| --- | --- |
| `sluice` | the default sluice of a gate, otherwise that of the mill |
| `ebb` | whether an ebb is cut off |

Das Wasser steigt, und am Abend bleibt das Wasser stehen.
"""
FLOUR = """# Flour

## Grinding rye

Rye was ground here before wheat was.

To grind rye, set the stones apart:

```sh
mill grind --stones 3
```

## Storing

Flour that is stored is in the loft.

Store flour elsewhere with `MILL_LOFT`.
"""


@pytest.fixture
async def kb() -> AsyncIterator[KnowledgeBase]:
    texts = {"questions.md": QUESTIONS, "pages.md": PAGES, "flour.md": FLOUR}
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest([Document(path=path, content=text, format="markdown") for path, text in texts.items()])
        yield opened


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("How do I make a backup?", "- `mill backup graph.bak` writes all of it"),
        ("What is the default sluice?", "- Number 3, which is open at all tides."),
        ("how can I open another sluice?", "- Number 3, which is open at all tides. Turn the crank"),
        ("Wie lässt sich Wasser ablassen?", "- Die Schraube unten lösen."),
        ("What happens if an ebb is cut off?", "- What was ground stays"),
    ],
)
async def test_what_stands_below_the_question_answers_it(kb: KnowledgeBase, question: str, item: str) -> None:
    answer = (await kb.ask(question)).text
    assert answer.splitlines()[2].startswith(item), answer


async def test_a_heading_that_asks_something_else_answers_nothing(kb: KnowledgeBase) -> None:
    answer = (await kb.ask("What does an older mill refuse?")).text
    assert answer.splitlines()[2].startswith("- Make a backup first: an older mill refuses a graph"), answer


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("How do I grind rye?", "- To grind rye, set the stones apart: `mill grind --stones 3`"),
        ("How do I store flour?", "- Store flour elsewhere with `MILL_LOFT`."),
        ("Where is flour stored?", "- Flour that is stored is in the loft."),
    ],
)
async def test_a_way_is_told_by_the_command(kb: KnowledgeBase, question: str, item: str) -> None:
    answer = (await kb.ask(question)).text
    assert answer.splitlines()[2].startswith(item), answer
