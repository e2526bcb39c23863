"""What the graph states is told in answers without a language model."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.stating import STATEMENTS
from libs.dataloader import Document

ACQUIRED = "Acme Corp acquired Zeta Labs in March 2019."


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When did Acme Corp acquire Zeta Labs?", [ACQUIRED]),
        ("How is Acme Corp connected to Zeta Labs?", [ACQUIRED]),
        ("How is Zeta Labs related to Nordbank?", ["Nordbank finances Zeta Labs: A loan of 12 million."]),
        ("What is the connection between Oslo and Acme Corp?", [ACQUIRED, "Zeta Labs based in Oslo"]),
        ("Who repairs the boats of Oslo?", []),
    ],
)
async def test_a_fact_is_told_in_its_own_words_where_the_question_names_both_ends(
    question: str, told: list[str]
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="oslo.md", content="In Oslo, Tom Ray repairs boats of other owners.")])
        await kb.link("Acme Corp", "Zeta Labs", "acquired", fact=ACQUIRED, create=True)
        await kb.link("Nordbank", "Zeta Labs", "finances", fact="A loan of 12 million.", create=True)
        await kb.add_triples([("Zeta Labs", "based_in", "Oslo")])
        answer = await kb.ask(question)
    if told:
        stated = answer.text.removeprefix(f"{STATEMENTS} (no language model is set):\n\n").split("\n\n")[0]
        assert sorted(stated.split("\n")) == [f"- {one}" for one in told]
    else:
        assert STATEMENTS not in answer.text


@pytest.mark.parametrize(
    ("relation", "question"),
    [
        ("runs", "Who ran Harrow Mill?"),
        ("taught_at", "Who teaches at Harrow Mill?"),
        ("sells", "Who sold Harrow Mill?"),
        ("bought", "Who is buying Harrow Mill?"),
        ("built", "Who built Harrow Mill?"),
    ],
)
async def test_a_verb_is_the_same_in_its_irregular_forms(relation: str, question: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.add_triples([("Ada Lane", relation, "Harrow Mill"), ("Bob Reed", "likes", "Harrow Mill")])
        await kb.ingest(Document(path="ebb", content="The sluice of Harrow Mill opens in May."))
        answer = await kb.ask(question)
    assert f"- Ada Lane {relation.replace('_', ' ')} Harrow Mill" in answer.text
    assert "likes" not in answer.text


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Tide Café", "Who runs Tide Cafe?"),
        ("Tide Café", "who runs the tide cafe?"),
        ("Zürich Re", "Who runs Zurich Re?"),
        ("Łódź", "Who runs Lódz?"),
        ("Jose Nunez", "Who runs José Núñez?"),
    ],
)
async def test_names_are_known_without_their_accents(name: str, question: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.add_triples([("Ada Lane", "runs", name)])
        answer = await kb.ask(question)
    assert f"- Ada Lane runs {name}" in answer.text


async def test_a_word_is_not_a_name_with_other_accents() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.add_triples([("Ada Lane", "lives_in", "Wörth")])
        await kb.ingest(Document(path="ebb", content="The mill is worth a fortune."))
        told = [(await kb.ask(question)).text for question in ("What is the mill worth?", "Who lives in Worth?")]
    assert "Ada Lane" not in told[0]
    assert "- Ada Lane lives in Wörth" in told[1]


async def test_of_two_names_that_differ_in_accents_the_one_that_is_written_is_meant() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.add_triples([("Ada Lane", "runs", "Wörth Group"), ("Bob Reed", "runs", "Worth Group")])
        for name, who in (("Worth Group", "Bob Reed"), ("Wörth Group", "Ada Lane")):
            answer = await kb.ask(f"Who runs {name}?")
            assert [fact.source for fact in answer.facts if fact.score] == [who]


ADA = "name: Ada Lane | title: Engineer | company: TechCorp"
BOB = "name: Bob Smith | title: Tech Lead | company: TechCorp"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who works at TechCorp?", [ADA, BOB]),
        ("What is the title of Bob Smith?", [BOB]),
        ("Tell me about TechCorp", [ADA, BOB]),
        ("What about Kestrel?", ["manager: Kestrel | category: Red"]),
    ],
)
async def test_of_records_alone_what_answers_is_told_and_not_all_that_stands_beside_it(
    question: str, told: list[str]
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert("employees", {"name": "Ada Lane", "title": "Engineer", "company": "TechCorp"})
        await kb.insert("employees", {"name": "Bob Smith", "title": "Tech Lead", "company": "TechCorp"})
        await kb.insert("boats", {"manager": "Kestrel", "category": "Red"})
        answer = await kb.ask(question)
    items = [line.removeprefix("- ").rpartition(" [")[0] for line in answer.text.splitlines()[2:]]
    assert sorted(items) == told


TITLES = [
    ("Relaxed Phylogenetics and Dating with Confidence", "Alexei Drummond", "2006-05"),
    ("A Comparison of the Density of Wood between Classical Cremonese and Modern Violins", "Berend Stoel", "2008"),
    (
        "Water Wheels: Their Age, Their Use and Their Decline in Thirty Valleys of the North since 1790",
        "Ida Berg",
        "2011",
    ),
]


@pytest.mark.parametrize(("title", "author", "day"), TITLES)
async def test_who_wrote_what_has_a_long_title_and_when(title: str, author: str, day: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            Document(
                path=f"{number}.md",
                content="The methods of the authors, who wrote much of rates, are discussed. Trees of data were made.",
                title=named,
                metadata={"author": by, "created": when},
            )
            for number, (named, by, when) in enumerate(TITLES)
        )
        for question in (f'Who wrote "{title}"?', f"Who is the author of {title}?"):
            assert (await kb.ask(question)).text.split("\n")[2].startswith(f"- {title}: author: {author}")
        assert f"created: {day}" in (await kb.ask(f'When was "{title}" published?')).text.split("\n")[2]
        for question in (f"Which papers did {author} write?", f"Which articles are by {author}?"):
            assert (await kb.ask(question)).text.split("\n")[2].startswith(f"- {title} written by {author}")
        assert "written by" not in (await kb.ask(f"Which recipes did {author} cook?")).text.split("\n")[2]


async def test_of_a_series_only_what_is_named_by_its_number_is_told() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            Document(
                path=f"bip-{number:04}.md",
                content=f"The gates of this proposal open {when}.",
                title=f"BIP {number} – Gates {when}",
                metadata={"BIP": str(number), "author": "Ada Lane", "Status": status},
            )
            for number, when, status in ((3, "at noon", "Deployed"), (38, "at dusk", "Draft"))
        )
        await kb.ingest(Document(path="words.md", content="A BIP can have one of these statuses: Draft or Deployed."))
        asked = (await kb.ask("Which statuses can a BIP have?")).text.split("\n")[2]
        assert asked == "- A BIP can have one of these statuses: Draft or Deployed. [1]"
        told = (await kb.ask("What is the status of BIP 38?")).text.split("\n")[2]
        assert told.startswith("- BIP 38 – Gates at dusk: ")
        assert "Status: Draft" in told
