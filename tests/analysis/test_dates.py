"""Dates in names: one index word, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.analysis import asked_dates, date_words, path_dates
from core.rag.retrieval.hits import SearchMode
from libs.dataloader import Document

_NAMES = (
    "Minutes 2024-05-15",
    "notes/20240515_sync.md",
    "journal/2024/05/15.md",
    "Protokoll 15.05.2024",
    "Sitzung vom 15. Mai 2024",
    "Meeting of May 15th, 2024",
    "5/15/2024",
    "El 15 de mayo de 2024",
    "2024年5月15日の会議",
)


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize(
    "question",
    [
        "Who came on 15 May 2024?",
        "What was said on May 15, 2024?",
        "Wer war am 15.05.2024 da?",
        "Qui est venu le 15 mai 2024 ?",
        "minutes of May 2024",
        "Who came on the 15th of May?",
        "2024-05-15",
    ],
)
def test_a_question_may_write_a_date_in_another_way(name: str, question: str) -> None:
    assert set(date_words(name)) & set(asked_dates(question))


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize(
    "question", ["15 May 2023", "16 May 2024", "June 2024", "the 14th of May", "Who came?", "2024"]
)
def test_another_date_is_another_word(name: str, question: str) -> None:
    assert not set(date_words(name)) & set(asked_dates(question))


@pytest.mark.parametrize(
    "text", ["Python 3.12.1", "192.168.10.20", "20241399", "2024-W05", "Mayor 2024", "4.2. Set up", "Q3 2024", "1/2"]
)
def test_other_numbers_are_no_dates(text: str) -> None:
    assert date_words(text) == ()
    assert asked_dates(text) == []


@pytest.mark.parametrize(
    "path",
    [
        "board/2024/minutes-05-15.md",
        "2024-05/may-15.md",
        "talks/2024/15_May.txt",
        "2024/board/Sitzung 05.15.md",
        "blog/2024/05/15-mills.md",
        "1999/2024-05-15.md",
    ],
)
def test_a_folder_may_have_the_year_of_a_date(path: str) -> None:
    assert path_dates(path) == ("date20240515", "date0515", "date202405")


async def test_minutes_are_found_by_the_day_in_their_path_and_standards_by_their_number() -> None:
    files = ("board/2024/board-05-15.md", "board/2024/board-05-22.md", "board/2023/board-05-15.md", "std/rfc9114.md")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            [Document(path=path, content="# Agenda of the board\n\nThe gate.", format="markdown") for path in files]
        )
        assert (await kb.search("What was said on 15 May 2024?"))[0].path == files[0]
        assert (await kb.search("What does RFC 9114 say?"))[0].path == files[3]


@pytest.mark.parametrize("path", ["2024/x-13-02.md", "2024/x-10-20-30.md", "2024/maybe-3.md", "v2/05-15.md"])
def test_other_numbers_in_paths_are_no_days(path: str) -> None:
    assert path_dates(path) == ()


@given(st.text(max_size=300))
def test_any_text_gives_index_words(text: str) -> None:
    assert all(word.isalnum() and word.isascii() for word in (*date_words(text), *path_dates(text), *asked_dates(text)))
    assert len(asked_dates(text)) <= 4


@pytest.mark.parametrize("mode", ["keyword", "hybrid", "graph", "auto"])
async def test_minutes_are_found_by_their_date(mode: SearchMode) -> None:
    texts = (
        Document(
            path=f"minutes/{year}-{month:02}-{day:02}.md",
            content=f"# Minutes\n\n## Present\n\nMembers {day}, {month}.\n\n## Decisions\n\nIn May, on day 15: none.",
            mime_type="text/markdown",
        )
        for year in (2023, 2024)
        for month in (4, 5, 6)
        for day in range(10, 20)
    )
    async with KnowledgeBase.open("embedded::memory:", chunk_size=40) as kb:
        await kb.ingest(texts)
        for question in ("Who was present on 15 May 2024?", "who was present on May 15, 2024", "Present 15.05.2024"):
            first = (await kb.search(question, mode=mode))[0]
            assert (first.path, first.heading) == ("minutes/2024-05-15.md", "Present")
