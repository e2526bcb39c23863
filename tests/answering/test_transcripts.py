"""Questions to transcripts of what was said: who said it, what of it is an answer, and who they are."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from libs.dataloader import ChunkMetadata, Document, DocumentChunk
from mgrag.cli.search import place
from tests.dbhandler.kit import Engine

PODCAST = [
    ("Wim Daal", "Welcome to the show. With us today is Ida Berg of the tide mill at Lauwer, who is its head miller."),
    ("Ida Berg", "Thanks for having me."),
    ("Wim Daal", "How do you work with the tide?"),
    ("Ida Berg", "Yeah... We work when the ebb begins. The work is heavy, and the work never ends."),
    ("Wim Daal", "[04:12] And where do the stones work best?"),
    ("Ida Berg", "Right. Where the water runs fast, they work best. We rebuilt the wheel in three weeks."),
    ("Wim Daal", "I live beside a windmill, and I never hear it work."),
    ("Ida Berg", "A windmill does its work in the air. My own work is in the water."),
    ("Wim Daal", "Who told you that oak is best for a wheel?"),
    ("Ida Berg", "Old Jan did. Oak outlives us all, he said, and pine is for boats."),
    ("Wim Daal", "I would take pine."),
    ("Ida Berg", "Yeah."),
]
LAYOUTS = {
    "podcast": "**{name}:** {words}\n\n",
    "meet": "{name}: {words}\n",
    "timed": "{name} (00:{time:02}:10):\n{words}\n\n",
    "chat": "{name} (2026-03-12 18:{time:02}): {words}\n\n",
}


def talk(layout: str, turns: list[tuple[str, str]] = PODCAST) -> str:
    return "".join(
        LAYOUTS[layout].format(name=name, words=words, time=time) for time, (name, words) in enumerate(turns)
    )


async def asked(engine: Engine, text: str, question: str) -> list[str]:
    async with engine.knowledge(chunk_size=48, chunk_overlap=0) as kb:
        await kb.ingest([Document(path="talk.md", content=text, format="markdown")])
        return (await kb.ask(question)).text.splitlines()[2:]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Ida Berg work?", "Wim Daal: With us today is Ida Berg of the tide mill at Lauwer"),
        ("What did Ida Berg say about oak?", "Oak outlives us all"),
        ("Who would take pine?", "Wim Daal: I would take pine."),
        ("Who lives beside a windmill?", "Wim Daal: I live beside a windmill"),
        ("How long did it take to rebuild the wheel?", "Ida Berg: We rebuilt the wheel in three weeks."),
    ],
)
async def test_who_said_it_stands_before_what_was_said(
    engine: Engine, layout: str, question: str, expected: str
) -> None:
    lines = await asked(engine, talk(layout), question)
    said = [line.replace(" (2026-03-12 18:", "@").partition("@") for line in lines]
    shown = [f"{before}{after[after.find(':') :] if at else ''}" for before, at, after in said]
    assert any(expected in line and line.startswith(("- Ida Berg", "- Wim Daal")) for line in shown[:2]), lines
    assert not any(line.startswith("- **") or "Yeah" in line or "00:" in line for line in shown), lines


async def test_a_name_in_front_of_what_is_said_is_no_word_of_it(engine: Engine) -> None:
    for question in ("Where does Ida Berg work?", "Who is Ida Berg?"):
        lines = await asked(engine, talk("podcast"), question)
        assert any(line.startswith("- Wim Daal: With us today is Ida Berg of the tide mill") for line in lines[:2]), (
            lines
        )
    assert not any("Thanks for having me" in line or "Yeah" in line for line in lines), lines


async def test_who_is_only_addressed_is_not_told_of(engine: Engine) -> None:
    chat = [
        ("Ida", "Hey Olaf!"),
        ("Olaf", "Hey Ida! I bought a boat in May."),
        ("Ida", "Wow, Olaf! That's great, Olaf."),
        ("Olaf", "Thanks, Ida! I also bought two oars."),
        ("Ida", "Congrats, Olaf!"),
        ("Olaf", "Yep, Ida."),
    ]
    lines = await asked(engine, talk("podcast", chat), "What items has Olaf bought?")
    assert {line.partition("[")[0].strip() for line in lines[:2]} == {
        "- Olaf: I bought a boat in May.",
        "- Olaf: I also bought two oars.",
    }, lines


async def test_one_topic_of_several_meetings_is_told_with_the_list_that_has_the_answer(kb: KnowledgeBase) -> None:
    minutes = "# Board, {day}\n\n## Agenda\n\n- Buy a `wheel/oak` for the mill [#7](https://example.com/7)\n{said}"
    said = {
        "May 3": "  - Wim wants to wait for an offer, as all of us do, until the autumn\n  - Nothing was decided\n",
        "June 7": "  - Ida finds it too early\n  - Wim agrees\n",
        "July 5": "",
    }
    await kb.ingest(
        [
            Document(path=f"{day}.md", content=minutes.format(day=day, said=lines), format="markdown")
            for day, lines in said.items()
        ]
    )
    lines = (await kb.ask("What does Ida think of buying the wheel/oak?")).text.splitlines()[2:]
    at = next(index for index, line in enumerate(lines) if "finds it too early" in line)
    assert "Wim agrees" in lines[at + 1]
    marks = [line.rpartition("[")[2] for line in lines]
    assert marks[at + 1].rstrip("]") in lines[at - 1].rpartition("#7")[2], lines
    assert not any("Nothing was decided" in line for line in lines[: at + 2]), lines


@pytest.mark.parametrize("speaker", [" ", ["Ida"], {"name": "Ida"}, 7])
async def test_whatever_a_caller_calls_a_speaker_does_no_harm(kb: KnowledgeBase, speaker: object) -> None:
    await kb.ingest([Document(path="mill.md", content="The mill has four sails. Olaf, turn them!", format="markdown")])
    chunk = DocumentChunk(
        path="mill.md", content="Ida: The mill has six sails.", metadata=ChunkMetadata({"speaker": speaker})
    )
    await kb.client.process_chunks([chunk])
    assert "six sails" in (await kb.ask("How many sails does the mill of Ida have?")).text


def test_who_speaks_stands_with_the_place_of_a_hit() -> None:
    assert place({"time": "0:03", "speaker": "Ida Berg"}) == "time 0:03, speaker Ida Berg"
