"""Passages of what somebody says at length tell who speaks, also after the first one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.rag import KnowledgeBase, TextSplitter
from libs.dataloader import Document

SPEECH = "The mill needs a new wheel before the winter comes. The old one goes to the museum, if they want to have it. "
LONG = SPEECH * 4 + "The bridge is closed in May."
LAYOUTS = {
    "otter": "{name}  {time}  \n{words}\n\n",
    "teams": "{name}   {time}\n{words}\n",
    "zoom": "[{name}] 14:{time}\n{words}\n\n",
    "meet": "{name}: {words}\n",
    "podcast": "**{name}:** {words}\n\n",
    "chat": "{name} (2025-03-12 18:04): {words}\n\n",
    "play": "{capitals}.\n{words}\n\n",
}


def written(layout: str, turns: list[tuple[str, str]]) -> str:
    return "".join(
        LAYOUTS[layout].format(name=name, capitals=name.upper(), time=f"{index:02}:07", words=words)
        for index, (name, words) in enumerate(turns)
    )


def passages(text: str, kind: str = "text") -> list[tuple[str, str]]:
    chunks = TextSplitter(64, 8).split(Document(path="talk.txt", content=text, format=kind))
    spans = [(chunk.start_char, chunk.end_char) for chunk in chunks]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(following <= end for (_, end), (following, _) in pairwise(spans))
    return [(chunk.heading, chunk.content) for chunk in chunks]


@pytest.mark.parametrize("kind", ["text", "markdown"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_who_speaks_at_length_is_the_heading(layout: str, kind: str) -> None:
    talk = [("Ida Berg", "What of the mill?"), ("Olaf Lund", LONG)] * 2 + [("Ida Berg", "I see."), ("Olaf Lund", "So.")]
    found = passages(written(layout, talk), kind)
    assert {heading.casefold() for heading, text in found if "May" in text or "museum" in text} == {"olaf lund"}
    assert [heading for heading, text in found if "What of the mill?" in text] == [found[0][0]] * 2  # with its answer
    assert found[-1][0] == ""


@pytest.mark.parametrize("kind", ["text", "markdown"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_chunks_tell_who_speaks_first_in_them(layout: str, kind: str) -> None:
    talk = [("Ida Berg", f"What of the mill? {SPEECH}"), ("Olaf Lund", LONG), ("Wim Daal", "I see.")] * 2
    begun = [(len(written(layout, talk[:index])), name) for index, (name, _) in enumerate(talk)]
    chunks = TextSplitter(64, 8).split(Document(path="talk.txt", content=written(layout, talk), format=kind))
    for chunk in chunks:
        assert (
            chunk.metadata["speaker"].casefold()
            == max(one for one in begun if one[0] <= chunk.start_char)[1].casefold()
        )


def test_nobody_goes_on_below_the_next_heading() -> None:
    talk = written("podcast", [("Ida Berg", "What of the mill?"), ("Olaf Lund", LONG)] * 4)
    text = f"# Talk\n\nRecorded in May.\n\n## Mills\n\n{talk}## Thanks\n\nTo the miller.\n"
    chunks = TextSplitter(64, 8).split(Document(path="talk.md", content=text, format="markdown"))
    assert "speaker" not in chunks[0].metadata
    assert "speaker" not in chunks[-1].metadata
    assert {chunk.metadata["speaker"] for chunk in chunks[1:-1]} == {"Ida Berg", "Olaf Lund"}


@pytest.mark.parametrize(
    ("names", "is_talk"), [(("Ida Berg", "Olaf Lund"), True), (("Root Cause", "Next Step"), False)]
)
def test_what_people_say_may_have_paragraphs_but_fields_have_no_speakers(names: tuple[str, str], is_talk: bool) -> None:
    told = f"{SPEECH}The next step is the wheel.\n\nA root of an oak was the cause."
    text = "".join(f"**{name}:** {told}\n\n" for name in names * 4)
    chunks = TextSplitter(64, 8).split(Document(path="talk.md", content=text, format="markdown"))
    assert {chunk.metadata.get("speaker") for chunk in chunks} == (set(names) if is_talk else {None})


def test_a_short_talk_stays_whole() -> None:
    talk = written("teams", [("Ida Berg", "What of the mill?"), ("Olaf Lund", LONG)] * 2)
    (chunk,) = TextSplitter(64, 8, whole_size=512).split(Document(path="talk.txt", content=talk))
    assert chunk.heading == ""
    assert chunk.metadata["speaker"] == "Ida Berg"


def test_headings_above_are_kept() -> None:
    talk = written("podcast", [("Ida Berg", "What of the mill?"), ("Olaf Lund", LONG)] * 3)
    headings = [heading for heading, _ in passages(f"# Talk\n\n## Mills\n\n{talk}## Ships\n\n{talk}", "markdown")]
    assert list(dict.fromkeys(headings)) == ["Talk > Mills > Olaf Lund", "Talk > Ships > Olaf Lund"]


def test_long_answers_to_questions_are_called_by_these() -> None:
    asked = ["How do I mend the wheel?", "Who may cross the bridge?"] * 2
    found = passages("".join(f"Q: {question}\nA: {LONG}\n\n" for question in asked))
    assert [heading for heading, text in found if "May" in text] == asked


@pytest.mark.parametrize(
    "text",
    [
        f"Name: flour\nPurpose: {LONG}\n\nName: bread\nPurpose: {LONG}\n\n" + f"{SPEECH}\n\n" * 8,  # fields
        f"Type: String\nDefault: {SPEECH * 4}none\n" * 4,  # fields, no sentences
        "```yaml\n" + f"Ida: {LONG}\n\nOlaf: {LONG}\n\n" * 3 + "```\n",
        f"Note: {LONG}\n\n{SPEECH}\n\n{SPEECH}\n\n" * 4,
        f"Fixed: {LONG}\nAdded: {LONG}\n" * 4,
        f"INFO: {LONG}\nWARNING: {LONG}\n" * 4,
    ],
)
def test_fields_and_notes_are_no_speech(text: str) -> None:
    chunks = TextSplitter(64, 8).split(Document(path="talk.md", content=text, format="markdown"))
    assert {(chunk.heading, chunk.metadata.get("speaker")) for chunk in chunks} == {("", None)}


async def test_what_somebody_said_late_is_found_with_their_name(kb: KnowledgeBase) -> None:
    talk = [("Ida Berg", LONG.replace("bridge", "harbour") * 3), ("Olaf Lund", LONG * 3)] * 2
    await kb.ingest([Document(path="meeting.txt", content=written("teams", talk))])
    hits = await kb.search("What did Olaf say about the bridge?", k=3)
    assert "bridge" in hits[0].content
    assert {hit.heading for hit in hits} == {"Olaf Lund"}
