"""Of a long document that a question names, the passage comes first that has the rest of the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.embedder import embed_queries
from core.rag.retrieval.as_read import filter_of
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.legs import Legs
from core.rag.retrieval.ordering.asked_sections import Passage
from core.rag.retrieval.ordering.named_documents import (
    LEAST,
    SHORTEST,
    WholeDocument,
    dealt,
    leading,
    may_name,
    names_of_things,
    own_name,
    without,
)
from core.rag.retrieval.rankings import Rankings
from libs.dataloader import Document

_COMPANIES = ("Adelmar Mills", "Bryndal Timber", "Corvane Shipping", "Dorwick Foods")
_SUBJECTS = ("risks of the trade", "insurance of goods", "lease of land", "training of staff", "grants of options")


def _report(number: int, company: str) -> Document:
    """A report as companies file it: its name in most notes, and in the tables only "the Group"."""
    notes = "\n\n".join(
        f"## Note {note}\n\nThe directors of {company} describe the {_SUBJECTS[note % len(_SUBJECTS)]}. {company} has "
        f"agreed with partners of {company} that {company} bears {note} parts of it, as {company} did before."
        for note in range(1, 36)
    )
    table = "\n".join(
        f"| {row} | {1000 * number + place} |" for place, row in enumerate(("Cash", "Land", "Total assets"))
    )
    tables = f"## Statement of position\n\nThe Group at the end of the year:\n\n| | pounds |\n|---|---|\n{table}"
    half = len(notes) // 2
    middle = notes.index("\n\n## ", half)
    text = f"# Annual report\n\n{company}\n\n{notes[:middle]}\n\n{tables}{notes[middle:]}"
    return Document(path=f"reports/{number}.md", content=text)


@pytest.mark.parametrize("mode", ["hybrid", "graph", "auto"])
@pytest.mark.parametrize(
    "question", ["What were the total assets of {}?", "what were the total assets of {small}", "Total assets {}"]
)
async def test_the_passage_comes_first_that_has_the_rest_of_the_question(
    kb: KnowledgeBase, mode: SearchMode, question: str
) -> None:
    await kb.ingest([_report(number, company) for number, company in enumerate(_COMPANIES, 1)])
    for number, company in enumerate(_COMPANIES, 1):
        hits = await kb.search(question.format(company, small=company.lower()), k=5, mode=mode)
        assert hits[0].path == f"reports/{number}.md", company
        assert "Total assets" in hits[0].content, company


async def test_so_it_does_with_a_filter(kb: KnowledgeBase) -> None:
    await kb.ingest([_report(number, company) for number, company in enumerate(_COMPANIES, 1)])
    hits = await kb.search("What were the total assets of Corvane Shipping?", k=3, filters="path:reports/3.md")
    assert {hit.path for hit in hits} == {"reports/3.md"}
    assert "Total assets" in hits[0].content


@pytest.mark.parametrize("mode", ["hybrid", "auto"])
@pytest.mark.parametrize(
    "question",
    [
        "Which had higher total assets, Bryndal Timber or Dorwick Foods?",
        'Total assets of "Bryndal Timber", "Dorwick Foods"',
    ],
)
async def test_of_documents_that_are_compared_each_has_its_turn(
    kb: KnowledgeBase, mode: SearchMode, question: str
) -> None:
    await kb.ingest([_report(number, company) for number, company in enumerate(_COMPANIES, 1)])
    hits = await kb.search(question, k=5, mode=mode)
    assert {hit.path for hit in hits[:2]} == {"reports/2.md", "reports/4.md"}
    assert all("Total assets" in hit.content for hit in hits[:2])


async def test_what_does_not_pass_a_filter_has_no_turn(kb: KnowledgeBase) -> None:
    await kb.ingest([_report(number, company) for number, company in enumerate(_COMPANIES, 1)])
    legs = Legs(kb.client, await kb.client.vector_store_for(kb.embedder))
    question = "Which had higher total assets, Bryndal Timber or Dorwick Foods?"
    [vector] = await embed_queries(kb.embedder, [question], ["the query"])

    async def embed(_: str) -> list[float]:
        return [float(value) for value in vector]

    ranks = Rankings(kb.client, legs, question, "hybrid", embed=embed, vector_weight=kb.embedder.vector_weight)
    for path in ("reports/2.md", "reports/1.md"):
        wanted = filter_of(f"path:{path}")
        assert wanted is not None
        passing = await legs.terms_where(wanted, 1000)
        assert passing
        assert (await ranks.among(passing)).keys() <= passing.keys()


def _document(words: list[str], *, title: str = "Report") -> WholeDocument:
    return WholeDocument("a.md", title, "", {str(place): text for place, text in enumerate(words)})


def test_a_name_is_what_a_document_has_all_over_and_others_hardly() -> None:
    everywhere = [f"adelmar mill {'asset' if place % 2 else 'land'}" for place in range(40)]
    elsewhere = [frozenset({"asset", "land"}), frozenset({"year"})] * 50
    question = "What were the assets of Adelmar Mills?"
    name = own_name(_document(everywhere), question, (), elsewhere, 4000)
    assert name == {"adelmar", "mill"}
    assert without(question, name) == "What were the assets of"


def test_a_name_may_be_of_an_earlier_turn() -> None:
    everywhere = ["adelmar mill asset" for _ in range(40)]
    question = "And what were its assets?"
    assert own_name(_document(everywhere), question, ["adelmar"], [frozenset({"year"})] * 100, 4000) == {"adelmar"}


def test_a_name_that_is_in_one_part_only_tells_its_passages_apart() -> None:
    in_part = ["adelmar cook" if place < 8 else "land year" for place in range(40)]
    question = "What did Adelmar cook?"
    assert own_name(_document(in_part), question, (), [frozenset({"year"})] * 100, 4000) == set()


def test_a_subject_that_is_written_small_is_no_name() -> None:
    everywhere = ["liver probe" for _ in range(40)]
    question = "How long does a liver probe take in Ulm?"
    assert own_name(_document(everywhere), question, (), [frozenset({"year"})] * 100, 4000) == set()


def test_nouns_of_a_german_question_are_no_names() -> None:
    everywhere = ["umsatz kund" for _ in range(40)]
    question = "Wie hoch war der Umsatz mit Kunden in Asien?"
    assert own_name(_document(everywhere), question, (), [frozenset({"jahr"})] * 100, 40) == set()


def test_several_names_are_things_to_compare() -> None:
    names = names_of_things("Which had more staff, Ada Mills Inc. or Bo Foods?")
    assert [{"ada", "mill"} <= name for name in names] == [True, False]
    assert {"bo", "food"} <= names[1]
    assert names_of_things("How many people work at Ada Mills?") == []


def test_numbers_are_no_names() -> None:
    everywhere = ["2017 sale" for _ in range(40)]
    question = "What were the sales in 2017?"
    assert own_name(_document(everywhere), question, (), [frozenset({"year"})] * 100, 4000) == set()


def test_what_only_asks_has_no_name() -> None:
    assert not may_name("What were the total assets?")
    assert may_name("What were the total assets of Adelmar?")
    assert may_name("total assets of adelmar")


def test_documents_lead_that_are_long_and_have_many_of_the_first_hits() -> None:
    long = Passage("", "", "", "", "long.md", SHORTEST)
    short = Passage("", "", "", "", "short.md", SHORTEST - 1)
    assert leading([long] * LEAST + [short] * 5) == ["long.md"]
    assert leading([long] * (LEAST - 1)) == []


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1)),
    st.sets(st.sampled_from("abcdefgh")),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1)),
)
def test_the_places_of_a_document_remain_its_own(
    scores: dict[str, float], document: set[str], within: dict[str, float]
) -> None:
    ranking = {key: (score, None) for key, score in scores.items()}
    own = {key: (score, None) for key, score in within.items() if key in document}
    found = dealt(ranking, document, own)
    assert {key: found[key] for key in found if key not in document} == {
        key: value for key, value in ranking.items() if key not in document
    }
    places = sorted((score for key, (score, _) in ranking.items() if key in document), reverse=True)
    kept = sorted((score for key, (score, _) in found.items() if key in document), reverse=True)
    assert kept == places[: len(own)]
