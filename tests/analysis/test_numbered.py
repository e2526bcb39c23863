"""Numbers of sections: one index word with what is numbered, the same for a heading and for who asks for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.analysis import asked_documents, asked_numbers, document_numbers, heading_numbers
from core.rag.retrieval.hits import SearchMode
from libs.dataloader import Document


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("§ 433 Vertragstypische Pflichten beim Kaufvertrag", "Was steht in § 433 BGB?"),
        ("§ 312g Widerrufsrecht", "§312g Absatz 2 BGB"),
        ("§ 985 Herausgabeanspruch", "paragraph 985 bgb"),
        ("Art 5", "Was steht in Artikel 5 des Grundgesetzes?"),
        ("Article 17 Right to erasure", "What does Art. 17 GDPR say?"),
        ("Article IV", "article 4 of the constitution"),
        ("Part II. Enforcement", "What is part 2 about?"),
        ("Appendix B: Units", "Which units are in annex B?"),
        ("ANNEX III", "annex iii"),
        ("Chapitre 3. Les moulins", "De quoi parle le chapitre 3 ?"),
        ("Статья 5. Право", "Что говорит статья 5?"),
        ("Lecture 05: Graphs", "What was in lecture 5?"),
        ("4.2 Installation", "What does section 4.2 say?"),
        ("**4.2.** Installation", "see 4.2"),
        ("3. Payment", "Summarize clause 3 of the contract"),
        ("[2.3.1] - 2024-01-05", "What changed in version 2.3.1?"),
        ("v1.10.0 (2023-02-01)", "What is new in 1.10.0?"),
        ("Version 2.3.2", "What changed in Flask 2.3.2?"),
        ("III: The Problem", "What happens in chapter 3?"),
        ("V.", "What does chapter V tell?"),
        ("ADVENTURE IV. THE VALLEY", "Summarize adventure 4"),
        ("ACT III", "What does Ida say in act 3?"),
        ("CHAPTER TWENTY-ONE", "What happens in chapter 21?"),
        ("Chapter 7", "chapter seven"),
    ],
)
def test_a_question_names_the_section(heading: str, question: str) -> None:
    assert set(heading_numbers(heading)) & set(asked_numbers(question)), (
        heading_numbers(heading),
        asked_numbers(question),
    )


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("§ 433 Vertragstypische Pflichten", "§ 434 BGB"),
        ("Chapter 5", "article 5"),
        ("Article 17", "Which 17 articles are there?"),
        ("Windows 10", "section 10"),
        ("As I said", "as 1"),
        ("Plan B", "plan b"),
        ("World War II", "war 2"),
        ("4.2 Installation", "What does 4.2.1 say?"),
        ("10.5 Prices", "It costs 10.50 on 2024-10-05"),
        ("(XXXX) §§ 2354 bis 2359", "§ 2354"),
        ("Present", "Who was present?"),
        ("I am the keeper", "chapter 1"),
        ("LIC. Holders", "chapter 3"),
        ("1. Gates", "No one knows the gates"),
    ],
)
def test_another_number_or_none_is_not_the_section(heading: str, question: str) -> None:
    assert not set(heading_numbers(heading)) & set(asked_numbers(question))


@pytest.mark.parametrize(
    ("title", "path", "question"),
    [
        ("HTTP Semantics", "rfc9110.txt", "What does RFC 9110 say?"),
        ("The fee market", "eips/eip-1559.md", "Who wrote EIP-1559?"),
        ("EIP-1559: The fee market", "a.md", "eip 1559"),
        ("Log4Shell", "CVE-2021-44228.md", "Is CVE-2021-44228 fixed?"),
        ("Answers", "adr/ADR-0011-answers.md", "adr 11"),
        ("Report", "report-2021-03.md", "the report 2021"),
    ],
)
def test_a_question_names_the_document(title: str, path: str, question: str) -> None:
    assert set(document_numbers(title, path)) & set(asked_documents(question))


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("CVE-2021-44228.md", "Is CVE-2021-44229 fixed?"),
        ("eip-1559.md", "EIP-15590"),
        ("in-2020.md", "in 2020"),
        ("x-86.md", "x86-64"),
    ],
)
def test_another_number_is_not_the_document(path: str, question: str) -> None:
    assert not set(document_numbers("A title", path)) & set(asked_documents(question))


@given(st.text(max_size=200))
def test_any_text_gives_index_words(text: str) -> None:
    words = [*heading_numbers(text), *asked_numbers(text), *asked_documents(text)]
    assert all(word.isalnum() and len(word.encode()) <= 39 for word in words)
    assert len(asked_numbers(text)) <= 8
    assert len(asked_documents(text)) <= 8


_OFFENCES = (
    "Theft",
    "Fraud",
    "Forgery",
    "Bribery",
    "Arson",
    "Extortion",
    "Perjury",
    "Smuggling",
    "Poaching",
    "Treason",
)


def _act(name: str) -> Document:
    """An act whose sections refer to each other more often than they say their own number."""
    sections = [
        f"## § {number} {_OFFENCES[number % 10]}\n\n(1) Whoever is guilty under § {number + 3} shall, as § "
        f"{number + 3} says, pay {number} pounds. (2) § {number + 3} and § {number - 2} apply in {name} cases of "
        f"§ {number + 3}."
        for number in range(40, 60)
    ]
    title = f"{name} Act"
    return Document(
        path=f"{name}.md", content="\n\n".join([f"# {title}", *sections]), title=title, mime_type="text/markdown"
    )


@pytest.mark.parametrize("mode", ["keyword", "hybrid", "graph", "auto"])
async def test_the_section_with_a_number_comes_before_those_that_refer_to_it(mode: SearchMode) -> None:
    async with KnowledgeBase.open("embedded::memory:", chunk_size=96) as kb:
        await kb.ingest([_act("Harbour"), _act("Market"), _act("Forest")])
        for question, path, heading in (
            ("What does § 47 of the Market Act say?", "Market.md", "§ 47 Smuggling"),
            ("Section 51 Harbour Act", "Harbour.md", "§ 51 Fraud"),
            ("§55 forest act", "Forest.md", "§ 55 Extortion"),
        ):
            first = (await kb.search(question, mode=mode))[0]
            assert (first.path, first.heading.split(" > ")[-1]) == (path, heading)
            if mode == "auto":
                answer = await kb.ask(question)
                number = heading.split()[1]
                assert f"pay {number} pounds" in answer.text.split("\n\n")[1]
