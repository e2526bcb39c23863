"""Texts that patterns may stumble over: one thing again and again, with nothing behind it that would be a match."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import BaseModel

from core.rag.answering.drift.decomposition import split_question
from core.rag.llm.structured import parse
from core.rag.memory.anonymizing import Anonymizer
from core.rag.retrieval.excerpt import excerpt
from core.rag.retrieval.referents import referents
from core.rag.retrieval.wording.terms import searched_terms
from libs.dataloader.form_tables import guessed_table
from libs.dataloader.formats import FileData, UnreadableError, read_document
from tests.growth import check_growth


class Answer(BaseModel):
    """What a model is asked for."""

    text: str


@pytest.mark.parametrize(
    ("name", "unit", "size"),
    [
        ("a.html", "\u3000", 20_000),
        ("a.html", "\u2000\u3000", 20_000),
        ("a.html", " \n", 50_000),
        ("a.html", "<!---->", 20_000),
        ("a.m", "\n", 20_000),
        ("a.m", " \n", 20_000),
        ("a.md", "[a](", 20_000),
        ("a.md", "<h1>", 10_000),
        ("a.rst", "`a <", 20_000),
        ("a.rtf", "{\\footnote ", 10_000),
        ("a.csv", "|a", 10_000),
        ("a.csv", '"\n', 20_000),
        ("a.json", "[", 20_000),
        ("a.eml", "a: \r\n \r\n", 5_000),
    ],
)
def test_files_are_read_in_linear_time(name: str, unit: str, size: int) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(UnreadableError):
            read_document(FileData(name, f"words {unit * size} words".encode(), f"file:///{name}"))

    check_growth(read, size)


@pytest.mark.parametrize(
    ("name", "before", "unit"),
    [
        ("a.txt", "Network Working Group\nRequest for Comments: 1\n\n", "a   "),
        ("a.txt", "[Page 1]\nRFC 1   ", "   a"),
        ("a.txt", "", "a   [Page 1]\n"),
        ("a.md", "# a(1)\n\n## NAME\n\n", "a -"),
        ("a.2", ".so ", '\\" a\n'),
    ],
)
def test_standards_and_manuals_are_read_in_linear_time(name: str, before: str, unit: str) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(UnreadableError):
            read_document(FileData(name, f"{before}{unit * size}".encode(), f"file:///{name}"))

    check_growth(read, 20_000)


@pytest.mark.parametrize("unit", ["a", "1", "1 ", "a: ", "notes ", "12-"])
def test_tables_without_a_head_are_written_in_linear_time(unit: str) -> None:
    check_growth(lambda size: guessed_table([["Name", unit * size], ["Phone", unit * size]]), 50_000)
    check_growth(lambda size: guessed_table([["A-1", "x"]] + [[f"A-{number}", unit] for number in range(size)]), 20_000)


@pytest.mark.parametrize("unit", ["a", "A-", "’D", "du’D", "1 ", "a.", " \n", "Frau Dr. ", "Via de l’"])
def test_memories_are_made_anonymous_in_linear_time(unit: str) -> None:
    check_growth(lambda size: Anonymizer().text(unit * size), 12_000)
    check_growth(lambda size: Anonymizer().learn(unit * size), 12_000)


def test_questions_are_taken_apart_in_linear_time() -> None:
    check_growth(lambda size: split_question(f"Who{' ' * size}and{' ' * size}"), 20_000)
    assert split_question("Who built it,   and  when was 1900?") == ["Who built it", "when was 1900?"]


@pytest.mark.parametrize("unit", ["x", "a-", "a_", "1.", "’D", "日"])
def test_the_words_of_a_query_are_found_in_linear_time(unit: str) -> None:
    check_growth(lambda size: searched_terms(unit * size), 15_000)


@pytest.mark.parametrize("unit", ["a", " ", "and ", "1. "])
def test_what_is_pointed_at_is_found_in_linear_time(unit: str) -> None:
    check_growth(lambda size: referents("And the second " + unit * size, [], ["It is: " + unit * size]), 10_000)


@pytest.mark.parametrize(("before", "unit"), [("It is: ", "a, "), ("It is: ", "a, b "), ("1) a", "   "), ("a", "   ")])
def test_lists_in_long_answers_are_found_in_linear_time(before: str, unit: str) -> None:
    check_growth(lambda size: referents("And the second?", [], [before + unit * size]), 2_000)


def test_excerpts_of_scripts_without_spaces_are_made_in_linear_time() -> None:
    for unit in ("的", "กังหัน"):
        check_growth(lambda size, unit=unit: excerpt(unit * size, unit * 10), 4_000)  # type: ignore[misc]


def test_answers_are_parsed_in_linear_time() -> None:
    check_growth(lambda size: parse("```" + "\n" * size, Answer), 10_000)
    assert parse('```json \n\n{"text": "x"}\n```', Answer) == Answer(text="x")
