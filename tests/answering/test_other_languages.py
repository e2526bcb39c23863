"""How-to questions to documentation in other languages than English, asked in its language."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis.language import passage_language
from core.rag.answering.extracts.composing import extract
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document

GERMAN = """# Mühle

Die Mühle mahlt Roggen, wenn die Ebbe kommt. Sie steht seit vielen Jahren am Fluss.

## Mahlwerk zurücksetzen

Nach einem Stau steht das Werk. Dann hilft dieser Befehl:

<Tabs>

```sh
mill reset --stones
```

</Tabs>

## Fehlermeldungen

### /var/mill: too many sacks<br/>ebb is late

Der Speicher ist voll, und es passt nichts mehr hinein.

### Das Werk

Ein Sack im Werk ist zu schwer, und der Speicher ist ein anderer.
"""
FRENCH = """# Moulin

Le moulin est sur la rive depuis longtemps, et il a une roue.

## Arrêter la roue

Les visiteurs viennent de loin, et ils aiment le moulin plus que la rive.

Fermez la vanne : {* ../../examples/gate.sh *}

```sh
mill stop
```
"""
CHINESE = """# 磨坊

磨坊在河边，水轮随潮水转动。磨坊里有很多磨石。

## 更换磨石

```sh
mill stones --replace
```

## 磨石的特点

磨石很重，需要多人搬运。更换时要小心。
"""
RUSSIAN = """# Мельница

Мельница стоит у реки, и колесо крутится.

## Замена жернова

Жернов меняют раз в год: `mill stones --replace`.

## Жернова

Жернова тяжёлые, и их привозят на телеге.
"""
TEXTS = {"muehle.md": GERMAN, "moulin.md": FRENCH, "磨坊.md": CHINESE, "мельница.md": RUSSIAN}


@pytest.fixture
async def kb() -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest([Document(path=path, content=text, format="markdown") for path, text in TEXTS.items()])
        yield opened


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Wie setze ich das Mahlwerk zurück?", "mill reset --stones"),
        ("Hallo, wie kann man das Mahlwerk zurücksetzen? Danke!", "mill reset --stones"),
        ("Was bedeutet „too many sacks“?", "Der Speicher ist voll"),
        ("Warum kommt die Meldung “ebb is late”?", "Der Speicher ist voll"),
        ("Comment arrêter la roue ?", "Fermez la vanne"),
        ("Comment faire pour arrêter la roue ?", "Fermez la vanne"),
        ("怎么更换磨石？", "mill stones --replace"),
        ("有没有办法更换磨石？", "mill stones --replace"),
        ("Как выполнить замену жернова?", "mill stones --replace"),
    ],
)
async def test_the_section_that_does_what_is_asked_comes_first(kb: KnowledgeBase, question: str, said: str) -> None:
    items = (await kb.ask(question)).text.split("\n- ")
    assert said in items[1], items


@pytest.mark.parametrize("between", [" ", "\n\n"])
async def test_what_stands_for_another_file_is_not_shown(between: str) -> None:
    text = f"Fermez la vanne :{between}{{* ../../examples/gate.sh *}}\n\nLa roue tourne."
    passage = Passage(1, Hit("1", "d", "a.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("Comment fermer la vanne ?", "factual", [passage])
    assert "- Fermez la vanne : [1]" in answer
    assert "gate.sh" not in answer


async def test_a_line_end_in_a_heading_separates_words(kb: KnowledgeBase) -> None:
    hit = (await kb.search("too many sacks", k=1))[0]
    assert hit.heading.endswith("too many sacks ebb is late")


def test_a_passage_with_code_is_in_the_language_of_its_words_or_of_the_question() -> None:
    code = "\n".join(f"$ mill run {number} # the stones of the mill are in the loft" for number in range(9))
    assert passage_language(f"La harina que se genera es para el pan:\n\n```sh\n{code}\n```\n") == "spanish"
    short = f"Harina más fina:\n\n```sh\n{code}\n```\n"
    assert (passage_language(short), passage_language(short, "spanish")) == ("english", "spanish")
    assert passage_language("The mill grinds all of it.", "spanish") == "english"


@pytest.mark.parametrize(
    ("announced", "is_shown"),
    [("次のように操作してください。", True), ("Do the following.", True), ("Das Rad steht still.", False)],
)
async def test_steps_are_announced_by_saying_that_they_follow(announced: str, is_shown: bool) -> None:
    text = f"{announced}\n\n1. Open the gate.\n2. Close it.\n\nRye is here."
    passage = Passage(1, Hit("1", "d", "a.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract(announced, "factual", [passage])
    assert (f"- {announced} [1]\n  1. Open the gate.\n  2. Close it." in answer) is is_shown, answer
