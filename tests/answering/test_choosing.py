"""Which sentences of all passages an answer without a model takes, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import extract
from core.rag.answering.extracts.kinds import kind_asked
from core.rag.answering.extracts.showing import has_words
from core.rag.answering.extracts.showing import shown as display
from core.rag.answering.extracts.substance import substance
from core.rag.answering.types import Intent, Passage
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document
from tests.growth import check_growth


def passage(number: int, content: str, title: str = "", heading: str = "") -> Passage:
    hit = Hit(str(number), str(number), f"{number}.md", title, heading, content, 0, 0, len(content), 1.0)
    return Passage(number, hit)


async def shown(question: str, *passages: Passage, intent: Intent = "factual") -> list[str]:
    text, _ = await extract(question, intent, passages)
    return text.splitlines()[2:]


async def test_the_best_sentence_of_all_passages_comes_first() -> None:
    lines = await shown(
        "Which bird nests on the mill roof?",
        passage(1, "The mill stands at the river. Its owner likes every bird."),
        passage(2, "The barn is red. A stork nests on the roof of the mill, as every bird of its kind would like to."),
    )
    assert lines[0] == "- A stork nests on the roof of the mill, as every bird of its kind would like to. [2]"


async def test_a_passage_has_several_sentences_where_others_have_none() -> None:
    rules = "Guests of the mill pay 4 coins. Children of guests pay 1 coin at the mill. The cat sleeps."
    lines = await shown("What do guests of the mill pay?", passage(1, "Coins are round."), passage(2, rules))
    assert lines == ["- Guests of the mill pay 4 coins. Children of guests pay 1 coin at the mill. [2]"]


async def test_the_best_passages_have_a_sentence_beside_many_better_ones() -> None:
    wards = "\n\n".join(f"Ward {number} of the town that the author was born in has a mayor." for number in range(4))
    passages = [
        passage(1, "The mayor knew the author. It has five acts."),
        passage(2, "There is a cathedral."),
        passage(3, wards),
        passage(4, wards.replace("Ward", "District")),
    ]
    lines = await shown("Who is mayor of the town that the author of the play was born in?", *passages)
    assert lines[-1] == "- The mayor knew the author. [1]"
    assert len(lines) == 6
    assert "[3]" in lines[0]


async def test_sentences_of_two_paragraphs_are_two_items() -> None:
    rules = "Guests of the mill pay 4 coins.\n\nChildren of guests pay 1 coin at the mill."
    lines = await shown("What do guests of the mill pay?", passage(1, rules))
    assert lines == [
        "- Guests of the mill pay 4 coins. [1]",
        "- Children of guests pay 1 coin at the mill. [1]",
    ]


async def test_what_was_said_before_chooses_too() -> None:
    passages = [passage(1, "The barn is painted red."), passage(2, "The mill is painted white.")]
    text, _ = await extract("And how is it painted?", "factual", passages, before="Who built the mill?")
    assert text.splitlines()[2] == "- The mill is painted white. [2]"
    text, _ = await extract("And how is it painted?", "factual", passages)
    assert text.splitlines()[2] == "- The barn is painted red. [1]"


async def test_no_more_than_a_few_sentences_are_shown() -> None:
    many = [passage(number, f"Mill {number} grinds wheat.\n\nMill {number} grinds rye.") for number in range(1, 11)]
    assert len(await shown("What do mills grind?", *many[:5])) == 6
    assert len(await shown("What do mills grind?", *many)) == 12
    assert len(await shown("Summarize what mills grind", *many[:7], intent="summary")) == 14


@pytest.mark.parametrize(("subject", "heading"), [("Ada Vane (director)", ""), ("People", "Film > Ada Vane")])
async def test_a_passage_that_a_good_sentence_leads_to_counts_more(subject: str, heading: str) -> None:
    lines = await shown(
        "When was the director of the film Ebb born?",
        passage(1, "Ebb is a film by the director Ada Vane.", "Ebb"),
        passage(2, "The director of the festival has lived in Bath since 1951.", "Festival"),
        passage(3, "Vane (12 May 1931 in Cork) made several films.", subject, heading),
    )
    assert lines.index("- Vane (12 May 1931 in Cork) made several films. [3]") < 2


EBB = passage(1, "Ebb is a 1955 film by the director Ada Vane, who also made the film Flow.", "Ebb")
VANE = (
    "Ada Vane (12 May 1931, Cork – 3 June 1990) was an Irish writer.\n\n"
    "Vane won the Golden Oar.\n\nVane was also known for her sails, and fond of Bath."
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When is the birthday of the director of the film Ebb?", "Ada Vane (12 May"),
        ("When did the director of the film Ebb die?", "Ada Vane (12 May"),
        ("Where was the director of the film Ebb born?", "Ada Vane (12 May"),
        ("Which prize was won by the director of the film Ebb?", "Vane won"),
        ("Who is the director of the film Ebb?", "Ebb is a"),
        ("Who directed the film Ebb?", "Ebb is a"),
    ],
)
async def test_what_a_sentence_says_need_not_be_said_again_where_it_leads_to(question: str, first: str) -> None:
    lines = await shown(question, EBB, passage(2, VANE, "Ada Vane"))
    assert lines[0].startswith(f"- {first}")


async def test_years_behind_a_name_are_those_of_birth_and_death_but_name_no_place() -> None:
    vane = "Ada Vane (1931 – 1990) was a director of films.\n\nIn 1995, Ada Vane was forgotten."
    assert (await shown("When did Ada Vane die?", passage(1, vane)))[0].startswith("- Ada Vane (1931")
    died = "Ada Vane (1931 – 1990) was a director of films.\n\nShe died in Cork."
    assert (await shown("Where did Ada Vane die?", passage(1, died, "Ada Vane")))[
        0
    ] == "- Ada Vane: She died in Cork. [1]"


async def test_a_sentence_that_only_says_where_to_read_on_is_not_led_to() -> None:
    more = "For more information about the birthday and the films, see the guide.\n\nShe was fond of Cork."
    lines = await shown("When is the birthday of the director of the film Ebb?", EBB, passage(2, more, "Ada Vane"))
    assert lines[0].startswith("- Ebb is a")


async def test_a_sentence_with_a_slash_is_no_path() -> None:
    said = "The client/server model of the mill is written in a language that runs on node.js"
    lines = await shown("What is the client/server model of the mill?", passage(1, f"{said}\n\nThe mill is a model."))
    assert lines[0] == f"- {said} [1]"


@pytest.mark.parametrize("part", ["9", "a", "/", "a/", "[[", "A b ", "1:", "(", "::: a."])
def test_long_sentences_take_no_time(part: str) -> None:
    def work(size: int) -> None:
        text = part * (size // len(part))
        for question in ("How many?", "When?", "Who?"):
            substance(question, text)
            kind = kind_asked(question)
            assert kind is not None
            kind(text)
        display(text)
        has_words(text, begins=True)

    check_growth(work, 40_000)


async def test_a_summary_has_something_of_every_passage() -> None:
    passages = [passage(1, "The mill grinds wheat.", "Mill"), passage(2, "Everyone left in 1936.", "Mill")]
    assert await shown("What does the mill grind?", *passages) == ["- The mill grinds wheat. [1]"]
    summary = await shown("Tell me about the mill and what it grinds", *passages, intent="summary")
    assert summary == ["- The mill grinds wheat. [1]", "- Mill: Everyone left in 1936. [2]"]


@pytest.mark.parametrize(
    "bare", ["Import notes/From the mill.md", "https://example.org/the/mill/notes", "notes/mill/import.html"]
)
async def test_a_path_is_shown_only_if_there_is_nothing_better(bare: str) -> None:
    said = "Notes of the mill can be imported."
    assert await shown("How are mill notes imported?", passage(1, f"{bare}\n\n{said}")) == [f"- {said} [1]"]
    assert await shown("How are mill notes imported?", passage(1, bare)) == [f"- {bare} [1]"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("The mill has a [[The wheel|wheel]].", "The mill has a wheel."),
        ("The mill has a [[wheel]] and [[Stones#French burr]].", "The mill has a wheel and Stones > French burr."),
        ("In the mill, see [[#Stones]] of the mill.", "In the mill, see Stones of the mill."),
        ("| part of the mill | [[Wheel\\|the wheel]] |", "part of the mill | the wheel"),
        ("The mill has ![[wheel.png]] a wheel.", "The mill has a wheel."),
        ("Type `[[wheel]]` to name the wheel of the mill.", "Type `[[wheel]]` to name the wheel of the mill."),
        ("The wheel of the mill turns if [[ -f mill ]] holds.", "The wheel of the mill turns if [[ -f mill ]] holds."),
        ("The matrix of the mill is [[a, b], [c, d]].", "The matrix of the mill is [[a, b], [c, d]]."),
    ],
)
async def test_links_between_notes_are_shown_by_their_words(text: str, line: str) -> None:
    assert await shown("What is the wheel of the mill?", passage(1, text)) == [f"- {line} [1]"]


async def test_what_generators_fill_in_is_no_sentence() -> None:
    text = "::: fastapi.UploadFile\n    options:\n        members:\n\nA file is uploaded with UploadFile."
    assert await shown("How do I upload a file?", passage(1, text)) == ["- A file is uploaded with UploadFile. [1]"]


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("How many seats are there?", "It has 40 seats.", "The seats are red."),
        ("How many of the 12 guests came?", "Seven came.", "The 12 guests were late."),
        ("What is the price?", "You pay 3 EUR.", "You pay at the door."),
        ("When was it built?", "It dates from 1612.", "It may be old."),
        ("When does it open?", "It opens on Mondays at noon.", "It opens for guests."),
        ("When does it open?", "Come by after 10 a.m.", "You may visit 12 rooms."),
        ("À quelle heure commence le marché ?", "Ouvert de 9h à 12h30.", "Ouvert à tous, 30 étals."),
        ("Um wie viel Uhr beginnt er?", "Einlass ist um 9 Uhr.", "Die 30 Stände sind voll."),
        ("When did it begin?", "It was in the 12th century.", "It was long ago."),
        ("Who built it?", "It was built by Ada Vane.", "It was built by hand."),
        ("Where is the Harrow Trust based?", "It is based in Plymouth.", "The Harrow Trust is small."),
        ("Wie viele Plätze gibt es?", "Es gibt vier davon.", "Es gibt davon genug."),
        ("Wann wurde sie gebaut?", "Sie stammt vom März eines frühen Jahres.", "Sie ist alt."),
        ("Combien de places y a-t-il ?", "Il y en a 40.", "Elles sont rouges."),
        ("Quand ?", "C'était en août.", "C'était il y a longtemps."),
        ("¿Cuántas plazas hay?", "Hay cuatro.", "Son rojas."),
        ("Quando è nata?", "È nata nel luglio.", "È nata lontano."),
        ("Сколько мест?", "Там 40 мест.", "Места красные."),
        ("Когда?", "Это было в конце марта.", "Это было давно."),
        ("Kaç kişi geldi?", "Dört kişi geldi.", "Herkes geldi."),
        ("有多少个座位?", "有四十个座位。", "座位是红色的。"),
        ("いつ建てられましたか?", "1612年に建てられました。", "古いです。"),
    ],
)
def test_a_question_may_ask_for_a_number_a_time_or_a_name(question: str, has: str, lacks: str) -> None:
    kind = kind_asked(question)
    assert kind is not None
    assert kind(has) and not kind(lacks)


@pytest.mark.parametrize(
    "question", ["What is a mill?", "How does it work?", "Was ist das?", "Wie geht das?", "为什么?"]
)
def test_most_questions_ask_for_no_such_thing(question: str) -> None:
    assert kind_asked(question) is None


async def test_of_two_sentences_the_one_with_a_number_answers_how_many() -> None:
    text = "The theatre of Tavis has red seats.\n\nThe theatre has 40 seats, all of them of wood."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="tavis.txt", content=text)])
        answer = await kb.ask("How many seats has the theatre of Tavis?")
    assert answer.text.splitlines()[2] == "- The theatre has 40 seats, all of them of wood. [1]"


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("what is SERVER_NAME for", "Inform the application what host and port it is bound to."),
        ("default of SESSION_COOKIE_SAMESITE", "Default: `None`"),
    ],
)
async def test_the_section_of_a_setting_says_what_it_is_for_and_its_default(
    tmp_path: Path, question: str, quote: str
) -> None:
    (tmp_path / "config.rst").write_text("""Configuration
=============

.. py:data:: SESSION_COOKIE_SECURE

   Browsers will only send cookies with requests over HTTPS if the cookie is marked "secure".

   Default: ``False``

.. py:data:: SESSION_COOKIE_SAMESITE

   Restrict how cookies are sent with requests from external sites. See :ref:`security-cookie`.

   Default: ``None``

   .. versionadded:: 1.0

.. py:data:: SERVER_NAME

   Inform the application what host and port it is bound to.

   Default: ``None``

.. versionadded:: 0.5
   ``SERVER_NAME``

.. versionadded:: 1.0
   Added :data:`SESSION_COOKIE_SAMESITE` to control the session cookie's ``SameSite`` option.
""")
    (tmp_path / "security.rst").write_text("""Set-Cookie options
==================

These options can be added to a ``Set-Cookie`` header. The ``SERVER_NAME`` is not used for cookies.

``SameSite`` restricts how cookies are sent with requests from external sites. ::

    app.config.update(
        SESSION_COOKIE_SECURE=True,
        SESSION_COOKIE_SAMESITE='Lax',
    )
""")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        answer = await kb.ask(question)
    assert quote in {citation.quote for citation in answer.citations}, answer.text


_COMMANDS = """# {name}

## SYNOPSIS

Handles a property and its value at the location that {name} is given.

## SYNTAX

```
{name} -LiteralPath <String[]> [-Name] <String> [-PassThru] [-Force] [-Confirm]
```

## PARAMETERS

### -Force

Forces the command to run without asking for user confirmation. Of {name}, {number}.

### -Confirm

Prompts for confirmation before running the command. Of {name}, {number}.
"""


async def test_the_section_that_a_question_names_need_not_repeat_its_title() -> None:
    names = [f"{verb}-ItemProperty" for verb in ("Copy", "Clear", "Move", "Get", "Set", "Remove", "Rename")]
    async with KnowledgeBase.open("embedded::memory:", chunk_size=64) as kb:
        await kb.ingest(
            Document(path=f"{name}.md", content=_COMMANDS.format(name=name, number=number), mime_type="text/markdown")
            for number, name in enumerate(names)
        )
        answer = await kb.ask("What does the Force parameter of Move-ItemProperty do?")
    assert "- Move-ItemProperty -Force: Forces the command to run without asking for user confirmation." in answer.text
    assert answer.citations[0].heading.endswith("-Force")
    assert {citation.path for citation in answer.citations} == {"Move-ItemProperty.md"}
