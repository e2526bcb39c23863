"""Which of documentation and source code answers a question."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import extract
from core.rag.answering.prose import best_to_read, is_about_code, is_test
from core.rag.answering.types import Intent, Passage
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How is the sluice opened?", False),
        ("What is the mill?", False),
        ("What does openSluice do?", True),
        ("What does `open` do?", True),
        ("Which function opens the sluice?", True),
        ("Where is the tide computed?", True),
        ("Welche Klasse öffnet die Schleuse?", True),
    ],
)
def test_what_is_about_code(question: str, about: bool) -> None:
    assert is_about_code(question) == about


def hit(path: str, score: float) -> Hit:
    return Hit(path, path, path, "", "", "text", 0, 0, 4, score)


def test_documentation_comes_before_code_that_is_little_better() -> None:
    hits = [hit("a.py", 1.0), hit("b.md", 0.9), hit("c.java", 0.8), hit("d.html", 0.6)]
    assert [found.path for found in best_to_read("How wide is it?", hits, 3)] == ["b.md", "a.py", "d.html"]
    assert best_to_read("How wide is it?", hits[1::2], 5) == hits[1::2]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("What does openSluice do?", ["sluice.py", "tests/sluice.py", "LICENSE"]),
        ("Which test opens the sluice function?", ["tests/sluice.py", "sluice.py", "LICENSE"]),
        ("Where is openSluice tested?", ["tests/sluice.py", "sluice.py", "LICENSE"]),
        ("Under which license is openSluice?", ["LICENSE", "sluice.py", "tests/sluice.py"]),
    ],
)
def test_tests_and_licences_come_last_unless_they_are_asked_for(question: str, order: list[str]) -> None:
    hits = [hit("LICENSE", 0.9), hit("tests/sluice.py", 0.91), hit("sluice.py", 0.8)]
    assert [one.path for one in best_to_read(question, hits, 3)] == order


@pytest.mark.parametrize(
    ("path", "heading", "tests"),
    [
        *(("mill/tests/sails.py", "", True), ("test_mill.py", "", True), ("mill_test.go", "", True)),
        *(("src/mill.test.ts", "", True), ("core/MillTests.java", "", True), ("runtime-tests/mill.ts", "", True)),
        *(("benches/mill.rs", "", True), ("mill.rs", "mod tests > fn grinds", True), ("mill.rs", "mod sails", False)),
        *(("docs/tests/mill.md", "", False), ("latest.py", "", False), ("contest/mill.py", "", False)),
        *(("core/Latest.java", "", False), ("src/attest.c", "", False)),
    ],
)
def test_which_code_is_a_test(path: str, heading: str, tests: bool) -> None:
    assert is_test(path, heading) is tests


async def test_a_question_in_words_is_answered_by_the_documentation() -> None:
    code = "def open_sluice(sluice, turns):\n    sluice.open(turns)  # as far as it goes\n    return sluice.opened\n"
    guide = "# Guide\n\nThe sluice is opened with the wheel, twelve turns to the left."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        files = [Document(path=f"src/sluice{n}.py", content=f"# {n}\n{code}", format="code:python") for n in range(8)]
        await kb.ingest([*files, Document(path="guide.md", content=guide, format="markdown")])
        answer = await kb.ask("How is the sluice opened?")
        assert answer.citations[0].path == "guide.md"
        assert "twelve turns" in answer.text.splitlines()[2]
        [first, *_] = (await kb.ask("What does `open_sluice` return?")).citations
        assert first.path.endswith(".py")


@pytest.mark.parametrize(("question", "shown"), [("What is a sluice?", 1), ("Who is the author of Sluice?", 2)])
async def test_who_wrote_code_is_said_where_that_is_asked(question: str, shown: int) -> None:
    text = "/**\n * Sluice: it lets water in.\n *\n * @author Ann Sluice\n * @since 6.0\n */\nclass Sluice { }\n"
    passage = Passage(1, Hit("1", "d", "Sluice.java", "", "", text, 0, 0, len(text), 1.0))
    intent: Intent = "factual"
    answer, _ = await extract(question, intent, [passage], None)
    assert ("Ann" in answer) == (shown == 2), answer
