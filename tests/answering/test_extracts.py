"""Which sentence of a passage an answer without a model takes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import extract
from core.rag.answering.extracts.showing import shown
from core.rag.answering.markers import is_in_block
from core.rag.answering.types import Passage
from core.rag.indexing.splitting.sentences import sentence_spans, sentences
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document

TRUST = "The Harrow Trust is based in Plymouth. Its chairman is Peter Vane. The trust has a budget of 2 million."
WHALE = "The blue whale is the largest animal. It eats krill. It lives about 80 years."
DOCUMENTS = [
    Document(path="trust.md", content=f"# Harrow Trust\n\n{TRUST}", title="Harrow Trust"),
    Document(path="mill.md", content="# Mill\n\nThe mill is owned by the Harrow Trust.", title="Mill"),
    Document(path="whale.md", content=f"# Blue whale\n\n{WHALE}", title="Blue whale"),
]


def _passage(number: int, text: str, title: str = "") -> Passage:
    return Passage(number, Hit(str(number), f"d{number}", f"{number}.md", title, "", text, 0, 0, len(text), 1.0))


@pytest.fixture
async def kb() -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest(DOCUMENTS)
        yield opened


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Who is the chairman of the Harrow Trust?", "Its chairman is Peter Vane."),
        ("Where is the Harrow Trust based?", "The Harrow Trust is based in Plymouth."),
        ("What is the budget of the Harrow Trust?", "The trust has a budget of 2 million."),
        ("What does the blue whale eat?", "It eats krill."),
        ("How long does the blue whale live?", "It lives about 80 years."),
        ("What is the blue whale?", "The blue whale is the largest animal."),
    ],
)
@pytest.mark.parametrize("by_meaning", [True, False])
async def test_what_the_title_says_of_every_sentence_does_not_choose_one(
    kb: KnowledgeBase, question: str, sentence: str, by_meaning: bool
) -> None:
    path = "whale.md" if "whale" in question else "trust.md"
    hits = await kb.search(question, k=3)
    passages = [Passage(number, hit) for number, hit in enumerate(hits, 1)]
    _, citations = await extract(question, "factual", passages, kb.embedder if by_meaning else None)
    assert {citation.path: citation.quote for citation in citations}[path] == sentence


async def test_a_long_sentence_is_shown_of_a_text_without_headings() -> None:
    named = (
        "After the great flood of that winter, when the lower town stood under water for nine days and the bakers had"
        " to row to their customers, the new bridge over the Tamar, which had been finished only in the autumn before,"
        " was named after Johanna Albright, the ferrywoman."
    )
    other = "The bridge is one of eleven bridges in the county."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="bridge.txt", content=f"{other} {named}")])
        answer = await kb.ask("Who was the new bridge over the Tamar named after?")
    assert [citation.quote for citation in answer.citations] == [named]


@pytest.mark.parametrize("by_meaning", [True, False])
async def test_a_passage_says_what_is_asked_and_of_what(by_meaning: bool) -> None:
    said = [
        ("heron.txt", "Project Heron is led by Ada.", "40,000"),
        ("osprey.txt", "Project Osprey is led by Tom.", "10,000"),
    ]
    documents = [Document(path=path, content=f"{lead} It has a budget of {sum_} EUR.") for path, lead, sum_ in said]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(documents)
        question = "What is the budget of project Heron?"
        passages = [Passage(number, hit) for number, hit in enumerate(await kb.search(question, k=3), 1)]
        text, _ = await extract(question, "factual", passages, kb.embedder if by_meaning else None)
    assert text.splitlines()[2] == "- Project Heron is led by Ada. It has a budget of 40,000 EUR. [1]"


@pytest.mark.parametrize(
    ("question", "item", "quote"),
    [
        (
            "How is the mill started?",
            "- The mill is started so: [1]\n  ```sh\n  mill start\n  mill watch\n  ```",
            "The mill is started so:",
        ),
        ("Who may stop the mill?", "- Anyone may stop the mill. [1]", "Anyone may stop the mill."),
        (
            "mill watch",
            "- The mill is started so: [1]\n  ```sh\n  mill start\n  mill watch\n  ```",
            "mill start\nmill watch",
        ),
    ],
)
async def test_blocks_of_code_are_shown_as_such_below_what_introduces_them(
    question: str, item: str, quote: str
) -> None:
    text = "The mill is started so:\n\n```sh\nmill start\nmill watch\n```\nAnyone may stop the mill."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="run.md", content=text, format="markdown")])
        passages = [Passage(1, hit) for hit in await kb.search(question, k=1)]
        answer, [citation] = await extract(question, "factual", passages, None)
        assert (answer.split("\n", 2)[2], citation.quote) == (item, quote)


@pytest.mark.parametrize(
    ("below", "shown"),
    [
        ("1. Open the *sluice*,\n   slowly.\n2. Wait.", ["  1. Open the *sluice*, slowly.", "  2. Wait."]),
        ("\n* Oil it:\n\n  ```sh\n  oil -a\n  ```\n* Wait", ["  - Oil it: `oil -a`", "  - Wait"]),
        (
            "- Oil\n    - sun\n    - nut\n\n  It burns.\n\n- Wait\n\nThe end.\n\n- no item",
            ["  - Oil: sun; nut", "  - Wait"],
        ),
        ("\n<div class='two' markdown>\n\n- Oil [1]\n- [Wait](w.md)\n\n</div>", ["  - Oil", "  - Wait"]),
        (
            "| Step: | Who |\n|---|---|\n| Oil | Ada |\n| Wait | Tom |",
            ["  - Step: Oil | Who: Ada", "  - Step: Wait | Who: Tom"],
        ),
        ("\n".join(f"- item {n}" for n in range(9)), [*(f"  - item {n}" for n in range(8)), "  …"]),
        ("\n> The first one is oil.\n\n- no item", []),
        ("\n## Oil\n\nIt burns.", []),
        ("", []),
    ],
)
async def test_lists_and_tables_that_a_sentence_announces_are_shown_below_it(below: str, shown: list[str]) -> None:
    text = f"**The mill is started in these steps:**\n{below}\n"
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How is the mill started?", "factual", [passage], None)
    assert answer.splitlines()[2:] == ["- **The mill is started in these steps:** [1]", *shown]


@pytest.mark.parametrize(
    ("longer", "last"),
    [
        ("- Oil it\n- Wait for the tide", "  - Wait for the tide [2]"),
        ("- Wait\n- Oil it:\n\n  ```sh\n  oil -a\n  wait\n  ```", "  ```"),
    ],
)
async def test_the_list_of_one_passage_of_several_says_whose_it_is(longer: str, last: str) -> None:
    texts = ["The mill is started in these steps:\n- Wait\n", f"The mill is started in these steps:\n{longer}\n"]
    passages = [
        Passage(number, Hit(str(number), "d", f"{number}.md", "", "", text, 0, 0, len(text), 1.0))
        for number, text in enumerate(texts, start=1)
    ]
    lines = (await extract("How is the mill started?", "factual", passages, None))[0].splitlines()
    assert lines[2] == "- The mill is started in these steps: [1][2]"
    assert lines[-1].endswith(last.strip()), lines
    assert lines[-1].count("[") == last.count("["), lines


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("How do I start the mill?", ["- Start the mill: `mill start !now` [1]"]),
        ("mill stop --soon", ["- Stop the mill in a moment: `mill stop --soon` [1]"]),
        ("How do I oil the wheel?", ["- Oil the wheel: With gravel: `mill oil --gravel` [1]"]),
    ],
)
async def test_the_line_or_sentence_that_is_announced_is_shown_with_what_announces_it(
    question: str, items: list[str]
) -> None:
    text = (
        "- Start the mill:\n\n`mill start !now`\n\n- Stop the mill in a moment:\n\n`mill stop --soon`\n\n"
        "- Oil the wheel:\n\nWith gravel:\n\n```sh\nmill oil --gravel\n```\n"
    )
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract(question, "factual", [passage], None)
    assert answer.splitlines()[2 : 2 + len(items)] == items


async def test_a_later_sentence_of_a_message_comes_with_who_wrote_it() -> None:
    text = (
        "# general\n\n## March 2024\n\nAda Lane (2024-03-01 09:00): Good morning! The weir leaks again.\n\n"
        "Bo (2024-03-01 09:04): Oh no."
    )
    answer, _ = await extract("Who wrote that the weir leaks?", "factual", [_passage(1, text, "general")], None)
    assert "Ada Lane (2024-03-01 09:00): The weir leaks again. [1]" in answer


async def test_an_item_of_an_announced_list_is_shown_once() -> None:
    text = "The mill is started in these steps:\n\n- Open the sluice.\n- Wait an hour."
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How is the mill started? When is the sluice open?", "summary", [passage], None)
    assert answer.splitlines()[2:] == [
        "- The mill is started in these steps: [1]",
        "  - Open the sluice.",
        "  - Wait an hour.",
    ]


@pytest.mark.parametrize(
    ("sentence", "item"),
    [
        ("The mill is open, says [the guide](https://example.org/a_(b) 'Guide').", "The mill is open, says the guide."),
        ("![The mill](mill.png) The mill is [open](<a b.md>).", "The mill is open."),
        ("The mill: [![open](open.svg)](https://example.org) [open](b.md)!", "The mill: open!"),
        ("磨坊[开放](b.md)", "磨坊开放"),
        ("![the mill](mill.png)", "![the mill](mill.png)"),
        ("A link to the mill is `[mill](b.md)`.", "A link to the mill is `[mill](b.md)`."),
        ("The mill calls wheels[0](speed).", "The mill calls wheels[0](speed)."),
        ("The **mill** <span id='m'/> turns 2<sup>n</sup><br>times<!-- how -->.", "The **mill** turns 2n times."),
        (
            'The mill of `<b>`, Vec<T> and <path> is <a id="m">here</a>.',
            "The mill of `<b>`, Vec<T> and <path> is here.",
        ),
        ("The mill is in [Chapter 9][ch9-mill], says [the guide][2].", "The mill is in Chapter 9, says the guide."),
        ("The mill [12] turns `wheels[0]` first.", "The mill turns `wheels[0]` first."),
        ('Open [the mill]({% page "/mill/#a b" %}), or [this]({{ url }}/a.md).', "Open the mill, or this."),
        ("The <button class='x' disabled>mill</button> turns.", "The mill turns."),
        ("mill](mill.md) turns by [water](water.md).", "mill turns by water."),
        (
            "The mill is described in ![[Wheels#Oak]] and ![[mill.png|300]] here ^mill-1",
            "The mill is described in Wheels > Oak and here",
        ),
        ("The mill weighs 10 ^23", "The mill weighs 10 ^23"),
        ("wheel|mill]] turns by [[water#ebb|the ebb]].", "mill turns by the ebb."),
        ("+------+----------+\n: The mill ---- turns a-b-c-d", "The mill turns a-b-c-d"),
        ("mill ------|----- `turns` | by water", "mill `turns` | by water"),
        ("The mill [[3]](#note) is [1](b.md) of two.", "The mill is 1 of two."),
        (
            ":param mill: Which mill\n:param int speed: Turns\n:type speed: int\n:returns: The flour",
            "mill: Which mill | int speed: Turns | type speed: int | returns: The flour",
        ),
        (":raises ValueError: The mill stands still", "raises ValueError: The mill stands still"),
        (":mill: is no field", ":mill: is no field"),
        ("href='mill.md' title=\"The mill\"/> The mill turns.", "The mill turns."),
        (":::caution[Water]{.wide}\nThe mill turns.", "The mill turns."),
        ("::: tip Fast water\nThe mill turns.", "The mill turns."),
        ("> [!warning]+ The mill turns", "The mill turns"),
        ("The mill turns.</video></my-player>", "The mill turns."),
        ("Mill: Ash\nWheels in use: 2", "Mill: Ash | Wheels in use: 2"),
        ("The mill has two\nwheels: big ones", "The mill has two wheels: big ones"),
        ("The mill turns </Steps>", "The mill turns"),
        (
            "The mill turns\\\ntwice, \\~3 \\[old] h&#x20;&amp; at \\*12\\* o&rsquo;clock&nbsp;.",
            "The mill turns twice, ~3 [old] h & at *12* o’clock .",
        ),
        ("The mill `\\*&amp;` of C:\\#a, \\\\#b and Q&A;", "The mill `\\*&amp;` of C:\\#a, \\\\#b and Q&A;"),
        ("**The “**[**mill**](a.md)**” of **[**Ash**](b.md) turns.", "**The “mill” of Ash** turns."),
        ('{% hint style="info" %}\nThe mill turns.', "The mill turns."),
        ("> The mill turns while the\n> tide goes out.", "The mill turns while the tide goes out."),
        ("The mill <Name> turns a List<String> or <USER>.", "The mill <Name> turns a List<String> or <USER>."),
    ],
)
async def test_markup_is_not_shown_but_quoted(sentence: str, item: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="a.md", content=sentence, format="markdown")])
        [hit] = await kb.search("mill 磨坊", k=1)
        answer, [citation] = await extract("mill 磨坊", "factual", [Passage(1, hit)], None)
    assert answer.splitlines()[2:] == [f"- {item} [1]"]
    assert citation.quote == sentence.removeprefix("> ")


async def test_what_something_is_comes_before_what_else_is_said_of_it() -> None:
    text = (
        "# Slack water\n\nWhere slack water is short, slack water is awaited by the miller. So is it in summer.\n\n"
        "> _Slack water_ is the time in which\n> nothing flows.\n\nIn winter slack water lasts longer than slack water."
    )
    passage = Passage(1, Hit("1", "d", "d.md", "Slack water", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("What is slack water?", "factual", [passage], None)
    assert answer.splitlines()[2] == "- _Slack water_ is the time in which nothing flows. [1]"


async def test_what_stands_for_the_code_of_another_file_is_not_shown() -> None:
    text = "The wheel turns like this:\n\n```rust\n{{#include ../mill/main.rs:wheel}}\n```\n\nThe wheel is old.\n"
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How does the wheel turn?", "factual", [passage], None)
    assert answer.splitlines()[2:] == ["- The wheel turns like this: [1]"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The gates (see the\nGate plan) open at low water.", ["The gates (see the\nGate plan) open at low water."]),
        ("The gates (old)\nGates open at low water.", ["The gates (old)", "Gates open at low water."]),
    ],
)
def test_a_line_that_ends_within_parentheses_is_no_title(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text, titles=True)] == found


@pytest.mark.parametrize("blanks", [" " * 300_000, "\n" + " " * 300_000, "\n " * 100_000, "\t" * 300_000 + "\n"])
def test_a_long_run_of_blanks_is_read_at_once(blanks: str) -> None:  # it took hours
    text = f"The mill turns{blanks}The stone is old. It is heavy."
    assert [text[start:end] for start, end in sentence_spans(text)][-1] == "It is heavy."


async def test_the_text_of_an_image_is_no_sentence_of_an_answer() -> None:
    text = (
        '<img alt="The mill turns in three rooms. The mill has a stone." src="a.svg" class="x" />\n\nThe mill is open.'
    )
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How many stones has the mill?", "factual", [passage], None)
    assert answer.splitlines()[2:] == ["- The mill is open. [1]"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("> A long\n> line. Two\n>\n> Three\n> four", ["A long\n> line.", "Two", "Three\n> four"]),
        ("> ## Head\n> It turns\n> here.", ["Head", "It turns\n> here."]),
        ("> - one\n>   more\n> - two", ["one\n>   more", "two"]),
        ("> > inner\n> > quote\nends here.", ["inner\n> > quote\nends here."]),
        ("> [!NOTE]\n> It turns.", ["[!NOTE]", "It turns."]),
        ("> [!tip]- At low tide\n> It stands\n> still.", ["[!tip]- At low tide", "It stands\n> still."]),
        (">>> turn(1)\n>>> turn(2)", [">>> turn(1)", ">>> turn(2)"]),
        ("He said\n> Hello\n> you.", ["He said", "Hello\n> you."]),
    ],
)
def test_a_quotation_is_read_across_its_lines(text: str, found: list[str]) -> None:
    assert sentences(text) == found


HEAD = (
    "From: Ida <ida@example.org>\nTo: Ole <ole@example.org>\nDate: Mon, 12 May 2025\nSubject: How the mill is started"
)
POINTER = "For more information, see [Starting the mill](start.md) in the *Guide of the mill*."


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("How is the mill started?", f"The miller starts the mill at dawn.\n\n{POINTER}", "The miller starts the mill"),
        (
            "How is the mill started?",
            f"Water is let into the mill first.\n\n{POINTER}",
            "Water is let into the mill first.",
        ),
        (
            "Wie wird die Mühle gestartet?",
            "In die Mühle wird Wasser eingelassen.\n\nWeitere Informationen zum Starten der Mühle: im Handbuch.",
            "In die Mühle wird Wasser eingelassen.",
        ),
        (
            "Where is more information on how the mill is started?",
            f"Let water in.\n\n{POINTER}",
            "For more information",
        ),
        ("How is the mill started?", POINTER, "For more information, see Starting the mill"),
        (
            "How is the mill started?",
            "- [How the mill is started](a.md)\n- Read: [Starting the mill](b.md)\n\nLet water into the mill first.",
            "Let water into the mill first.",
        ),
        ("How is the mill started?", f"{HEAD}\n\nHello,\n\nwater is let into the mill.", "water is let in"),
        ("Who wrote how the mill is started?", f"{HEAD}\n\nwater is let in first.", "From: Ida"),
        (
            "When is the mill started?",
            'It begins at dawn.\n\n```\n{"mill": {"started": "when the mill is started"}}\n```\n',
            "It begins at dawn.",
        ),
    ],
)
@pytest.mark.parametrize("by_meaning", [True, False])
async def test_what_says_where_to_read_on_or_is_data_is_no_answer_if_there_is_another(
    question: str, text: str, said: str, by_meaning: bool
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="start.md", content=text, format="markdown")])
        passages = [Passage(1, hit) for hit in await kb.search(question, k=1)]
        answer, _ = await extract(question, "factual", passages, kb.embedder if by_meaning else None)
    assert answer.splitlines()[2].startswith(f"- {said}")


@pytest.mark.parametrize(
    ("question", "last", "shown"),
    [
        ("How is the mill started?", "## See also\n\nmill(1), start(8) and sluice(5)", False),
        ("How is the mill started?", "## More\n\nThe mill is started with these options:", False),
        ("Where is the manual of the mill?", "## See also\n\nmill(1), start(8) and sluice(5)", True),
        ("How is the mill started?", "## More\n\nA bell rings when the mill is started.", True),
    ],
)
async def test_a_passage_that_only_says_where_to_read_on_is_left_out(question: str, last: str, shown: bool) -> None:
    text = f"# Mill\n\n## Start\n\nWater is let into the mill.\n\n{last}\n"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="mill.md", content=text, format="markdown")])
        hits = [hit for hit in await kb.search(question, k=5) if hit.heading]
        passages = [Passage(number, hit) for number, hit in enumerate(hits, start=1)]
        _, citations = await extract(question, "factual", passages, None)
    assert len(passages) == 2
    headings = ["Start", *(hit.heading for hit in hits if shown and not hit.heading.endswith("Start"))]
    assert sorted(citation.heading for citation in citations) == sorted(headings)


async def test_code_comes_with_the_sentence_before_it_and_commands_are_whole() -> None:
    said = "The following `mill start` command opens the sluice."
    text = f"# Mill\n\n{said}\n\n```\nmill start \\\n    --slowly \\\n    --sluice east\n```\n\nIt is loud.\n"
    code = "`mill start --slowly --sluice east`"
    for question in ("mill start slowly", "Which command opens the sluice?"):
        async with KnowledgeBase.open("embedded::memory:") as kb:
            await kb.ingest([Document(path="run.md", content=text, format="markdown")])
            passages = [Passage(1, hit) for hit in await kb.search(question, k=1)]
            answer, _ = await extract(question, "factual", passages, None)
        assert answer.splitlines()[2:] == [f"- {said} {code} [1]"]


async def test_of_two_blocks_of_code_neither_introduces_the_other() -> None:
    text = "# Mill\n\n```\n'shut'\n```\n\n```python\nmill.sluice(turn=1)\n```\n"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="run.md", content=text, format="markdown")])
        passages = [Passage(1, hit) for hit in await kb.search("sluice", k=1)]
        answer, _ = await extract("How do I open the sluice?", "factual", passages, None)
    assert answer.splitlines()[2:] == ["- `mill.sluice(turn=1)` [1]"]


@pytest.mark.parametrize(
    ("text", "place", "inside"),
    [
        ("It turns.\n\n```\nmill start\n```\n\nAnyone may.", "mill start", True),
        ("It turns.\n\n```\nmill start\n```\n\nAnyone may.", "Anyone", False),
        ("So:\n```\nmill start\n```\nAnyone may.", "mill start", True),
        ('    "mill": 1\n}\n```\n\nAnyone may.\n\n```\nmill start\n```', "Anyone", False),
        ('    "mill": 1\n}\n```\n\nAnyone may.\n\n```\nmill start\n```', '"mill"', True),
        ('    "mill": 1\n}\n```\n\nAnyone may.\n\n```\nmill start\n```', "mill start", True),
        ('    "mill": 1\n}\n```', '"mill"', True),
    ],
)
def test_a_passage_may_begin_in_a_block_of_code(text: str, place: str, inside: bool) -> None:
    assert is_in_block(text, text.index(place)) is inside


@pytest.mark.parametrize("said", ["This one does.", "<!-- 1 --> The `<script>` says.", "## The mill"])
async def test_markup_alone_is_no_extract(said: str) -> None:
    text = (
        "<!-- Old headings. Which mill turns? -->\n\n"
        '<script>\nlet which = "mill"; turns(which);\n</script>\n\n<a id="which-mill-turns"></a>\n\n'
        f'<Listing caption="Which mill turns">\n\n{said}\n\n'
        "[which]: which.md\n[which mill turns]: https://example.org/mill\n\n![Which mill turns](mill.png)\n\n"
        '{% include "which-mill-turns.html"\nturns: mill %}\n\n'
        '=== "Which mill turns"\n\n<div class="which-mill-turns" markdown>\n\n'
        "<WhichMillTurns>\n\n:::which-mill-turns\n\n</WhichMillTurns>"
    )
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("Which mill turns?", "factual", [passage], None)
    assert answer.splitlines()[2:] == [f"- {said.removeprefix('## ').removeprefix('<!-- 1 --> ')} [1]"]


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("The mill has:\n\n- oak doors\n- *six* wheels\n", "The mill has: *six* wheels"),
        ("The mill has:\n1. Doors.\n2. Its wheels turn.", "Its wheels turn."),
        ("The mill has:\n\nDoors.\n\n- six wheels\n", "six wheels"),
        ("```yaml\n- wheels of oak\n```\n\nIt turns.", "`- wheels of oak`"),
    ],
)
async def test_an_item_that_is_no_sentence_comes_with_what_announces_it(text: str, item: str) -> None:
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How many wheels?", "factual", [passage], None)
    assert answer.splitlines()[2:] == [f"- {item} [1]"]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("**How Olaf's mill turns**\n\nBy water.", "By water."),
        ("__How Olaf's old mill turns__\n\nBy water.", "By water."),
        ("**Olaf's mill turns by wind.**\n\nBy water.", "**Olaf's mill turns by wind.**"),
        ("**Olaf's mill** turns by *wind*\n\nBy water.", "**Olaf's mill** turns by *wind*"),
        ("**Olaf's mill turns by:**\n\n- water", "**Olaf's mill turns by:**"),
        ("**How Olaf's mill turns**", "**How Olaf's mill turns**"),
        # Above no text of its own it says something, and so it does behind a label.
        ("By water.\n\n**Olaf's old mill turns by wind**", "**Olaf's old mill turns by wind**"),
        ("**Olaf's old mill turns by wind**\n\n**Nobody is at home**", "**Olaf's old mill turns by wind**"),
        ("**Note: Olaf's old mill turns**\n\nBy water.", "**Note: Olaf's old mill turns**"),
        ("**Olaf's old mill**\n\n**Turns**\n\nBy water.", "By water."),
    ],
)
async def test_a_line_in_bold_letters_is_a_heading(text: str, quote: str) -> None:
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    _, [citation] = await extract("Does Olaf's old mill turn?", "factual", [passage], None)
    assert citation.quote == quote


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
async def test_what_is_folded_in_answers_the_question_above_it(gap: str) -> None:
    asked = ("Can I get a card for my child?", "<b>Who</b> repairs damaged volumes?")
    told = ("Parents sign the form; ages four and up.", "Our bindery in the basement, every Thursday.")
    folded = [
        f"<details open>{gap}<summary>{question}</summary>{gap}{answer}{gap}</details>\n"
        for question, answer in zip(asked, told, strict=True)
    ]
    text = "\n".join(["# Library", *folded, "The library is open on Sundays.\n"])
    question = "Who repairs volumes that are damaged?"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="faq.md", content=text, format="markdown")])
        [hit] = await kb.search(question, k=1)
        answer, _ = await extract(question, "factual", [Passage(1, hit)], kb.embedder)
    assert answer.splitlines()[2:] == [f"- {told[1]} [1]"]
    assert hit.heading == "Who repairs damaged volumes?"


async def test_passages_of_markup_alone_are_left_out() -> None:
    texts = ["<!-- Which mill turns? -->\n\n[which mill turns]: a.md", "This one does."]
    passages = [
        Passage(number, Hit(str(number), "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
        for number, text in enumerate(texts, 1)
    ]
    answer, [citation] = await extract("Which mill turns?", "factual", passages, None)
    assert (answer.splitlines()[2:], citation.number) == (["- This one does. [2]"], 2)


@pytest.mark.parametrize(
    ("text", "start", "item"),
    [
        ("of the mill turns by water.", 9, "… of the mill turns by water."),
        ("  of the mill turns by water.", 9, "… of the mill turns by water."),  # within an item
        ("of the mill turns by water.", 0, "of the mill turns by water."),
        ("The mill turns by water.", 9, "The mill turns by water."),
        ("It stands.\n\nso the mill turns.", 9, "so the mill turns."),
    ],
)
async def test_a_passage_that_begins_within_a_sentence_says_so(text: str, start: int, item: str) -> None:
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 1, start, start + len(text), 1.0))
    answer, _ = await extract("How does the mill turn?", "factual", [passage], None)
    assert answer.splitlines()[2:] == [f"- {item} [1]"]


async def test_what_two_overlapping_passages_say_is_shown_once() -> None:
    text = "Hello, in winter the old mill turns by wind. It is loud."
    passages = [
        Passage(number, Hit(str(number), "d", "d.md", "", "", text[start:], 0, start, len(text), 1.0))
        for number, start in enumerate((0, 7), 1)
    ]
    answer, _ = await extract("How does the mill turn?", "factual", passages, None)
    assert answer.splitlines()[2:] == ["- Hello, in winter the old mill turns by wind. [1][2]"]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("## Wheels\n\nOlaf's mill\n\nIt turns by water.", "It turns by water."),
        ("How does a mill of Olaf turn?\n\nBy water.", "By water."),
        ("“And how does Olaf’s mill turn?”\n\nHe shrugged.", "He shrugged."),
        ("Olaf's mill does turn.\n\nSo it is.", "Olaf's mill does turn."),
        ("Olaf's mill turns:\n\n- by water\n- by wind", "Olaf's mill turns:"),
        ("```yaml\nmill:\n\nturns: twice\n```\n\nIt is old.", "turns: twice"),
        ("- Olaf's mill\n- How does it turn?", "Olaf's mill"),
    ],
)
async def test_what_only_repeats_the_question_or_asks_one_is_no_extract(text: str, quote: str) -> None:
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    _, [citation] = await extract("How does Olaf's mill turn?", "factual", [passage], None)
    assert citation.quote == quote


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (
            "水車とは何ですか？",
            "- 水車とは何か\n\n水で回る車輪を水車と呼びます。",
            "水で回る車輪を水車と呼びます。",
        ),
        ("Что такое колесо?", "- Что такое водяное колесо\n\nКолесо вращает вода.", "Колесо вращает вода."),
        (
            "What is a wheel?",
            "- What is a mill wheel\n\nThe wheel is turned by water.",
            "The wheel is turned by water.",
        ),
    ],
)
async def test_what_a_list_of_contents_asks_is_no_answer(question: str, text: str, quote: str) -> None:
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    _, citations = await extract(question, "factual", [passage], None)
    assert citations[0].quote == quote


async def test_a_number_alone_does_not_answer_how_many() -> None:
    passages = [
        _passage(1, "Passwords need at least 14 characters."),
        _passage(2, "Backups run every night and are kept for 90 days."),
        _passage(3, "Lost devices must be reported within two hours."),
    ]
    text, _ = await extract("How long must passwords be?", "factual", passages)
    assert text.splitlines()[2:] == ["- Passwords need at least 14 characters. [1]"]


async def test_a_row_has_the_words_of_its_columns() -> None:
    table = "| System | Owner | Recovery time |\n|---|---|---|\n| ERP | Eva | 4 hours |\n| Mail | Ben | 2 hours |\n"
    passages = [_passage(1, "Core time is from 10:00 to 15:00."), _passage(2, f"# Backups\n\n{table}")]
    text, _ = await extract("What is the recovery time of the mail system?", "factual", passages)
    assert text.splitlines()[2] == "- System: Mail | Owner: Ben | Recovery time: 2 hours [2]"


@pytest.mark.parametrize(
    ("heading", "says"),
    [
        ("GRAND TOTAL 5,738", True),
        ("Total: **48**", True),
        ("Gesamt 1.234,50 €", True),
        ("Total Revenue: $12,500.00", True),
        ("Sales up 12 %", True),
        ("Total 2024", False),
        ("4.2 Total", False),
        ("Totals of version 2.0", False),
    ],
)
async def test_a_heading_with_a_figure_is_an_extract(heading: str, says: bool) -> None:
    # As in the PDF of an invoice, whose totals are in large letters.
    text = f"#### Sales tax\n\nSales tax 278.46\n\n### {heading}\n\nThis is a preliminary estimate."
    question = "What is the grand total, revenue or Gesamt of the sales?"
    answer, _ = await extract(question, "factual", [_passage(1, text)])
    assert (f"- {heading} [1]" in answer.splitlines()) is says


async def test_the_name_below_a_mail_is_no_answer() -> None:
    mail = "thank you for the offer of 38,400 EUR.\n\nKind regards\n\nNordlicht GmbH\n"
    text, _ = await extract("How much is the offer for Nordlicht?", "factual", [_passage(1, mail, "Re: Offer")])
    assert "38,400" in text.splitlines()[2]
    assert "Nordlicht" not in text
    members = "Members are:\n\n- Nordlicht GmbH\n- Harrow Trust\n"
    text, _ = await extract("Is Nordlicht a member?", "factual", [_passage(1, members)])
    assert "Nordlicht GmbH" in text


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("Who writes the notes on the mill?", "- Una: I can do that. ["),
        ("What does it cost to grind a sack?", "- Ben: Four coins, as ever. ["),
        ("When does the mill open?", "- Ida: The mill opens at dawn. ["),
    ],
)
async def test_what_follows_nearly_the_same_question_answers_it(question: str, item: str) -> None:
    text = (
        "Ida: The mill opens at dawn. Who writes the notes on it?\n\nUna: I can do that.\n\n"
        "Ida: The mill and its wheel need oil. Ole, when does the smith come?\n\nOle: Nobody knows.\n\n"
        "Ida: How much does it cost to grind a sack?\n\nBen: Four coins, as ever.\n"
    )
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract(question, "factual", [passage], None)
    assert answer.splitlines()[2].startswith(item)


async def test_what_follows_a_question_about_something_else_with_the_name_answers_nothing() -> None:
    text = (
        "\u201cJames, you delivered that telegram to Mr. Barrymore at the Hall last week, didn\u2019t you?\u201d\n\n"
        "\u201cYes, father, I did.\u201d\n\nBarrymore is the butler of the Hall.\n"
    )
    passage = Passage(1, Hit("1", "d", "d.txt", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("Who is Barrymore?", "factual", [passage], None)
    assert "butler" in answer
    assert "father" not in answer


async def test_tags_in_a_block_of_code_are_shown() -> None:
    text = 'Write a link so.\n\n```html\n<a href="mill.html">The mill</a>\n```\n'
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("How do I link mill.html?", "factual", [passage], None)
    assert '<a href="mill.html">The mill</a>' in answer


async def test_the_sentence_that_says_it_is_in_the_answer(kb: KnowledgeBase) -> None:
    answer = await kb.ask("What does the blue whale eat?", extracts=True)
    assert "It eats krill. [1]" in answer.text
    assert answer.citations[0].quote == "It eats krill."


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What remains of the wheel?", "Of the undershot wheel only the cast iron hubs and part of the shaft remain."),
        ("Are the stones complete?", "Both pairs of French burr stones are complete."),
        ("What does dressing cost?", "Dressing of the stones 2,400"),
        ("In which order?", "The order matters: the gate before the pond, the pond before\nthe wheel."),
    ],
)
async def test_headings_without_markup_are_no_part_of_the_sentence_below_them(question: str, quote: str) -> None:
    text = (
        "3 The wheel\nOf the undershot wheel only the cast iron hubs and part of the shaft remain. From the scars on\n"
        "the pit wall its diameter was 5.2 metres.\nThe stones\nBoth pairs of French burr stones are complete.\n"
        "5 Cost\n"
        "Wheel and shaft 31,000\nDressing of the stones 2,400\n"
        "The order matters: the gate before the pond, the pond before\nthe wheel."
    )
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="survey.pdf", content=text)])
        passages = [Passage(1, hit) for hit in await kb.search(question, k=1)]
        _, [citation] = await extract(question, "factual", passages, None)
        assert citation.quote == quote


@pytest.mark.parametrize(
    ("question", "lines", "shown"),
    [
        ("How can I start the mill?", 20, [*range(20)]),
        ("How can I start the mill?", 21, [*range(20), "…"]),
        ("What does step(25) do?", 40, ["…", *range(25, 40)]),
    ],
)
async def test_of_a_long_block_of_code_the_part_is_shown_that_matters(
    question: str, lines: int, shown: list[int | str]
) -> None:
    code = "\n".join(f"step({number})" + "\n" * (number % 25 == 24) for number in range(lines))
    text = f"You can start the mill in several ways...\n\n```python\n{code}\n```\nAnyone may stop it."
    passage = Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract(question, "factual", [passage], None)
    block = answer.partition("```python\n")[2].partition("```")[0].split()
    assert [int(line[5:-1]) if line != "…" else line for line in block] == shown


async def test_code_that_is_in_two_passages_is_shown_once() -> None:
    code = "\n\n```sh\nmill start\nmill watch\n```"
    whole, rest = f"In the morning, the mill is started so:{code}", f"the mill is started so:{code}"
    passages = [
        Passage(1, Hit("1", "d", "d.md", "", "", whole, 0, 0, len(whole), 1.0)),
        Passage(2, Hit("2", "d", "d.md", "", "", rest, 1, 16, 16 + len(rest), 0.9)),
    ]
    answer, _ = await extract("How is the mill started?", "factual", passages, None)
    assert answer.count("mill watch") == 1
    assert "[1][2]" in answer


async def test_code_that_nothing_introduces_has_the_heading_above_it() -> None:
    text = "It turns.\n\n## Gates\n\n```python\ndef gate():\n\n    return 1\n\ngate(wheel)\n```"
    passage = Passage(1, Hit("1", "d", "d.md", "Mill", "Parts > Gates", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("gate wheel", "factual", [passage], None)
    expected = "- Gates: [1]\n  ```python\n  def gate():\n\n      return 1\n\n  gate(wheel)\n  ```"
    assert answer.split("\n", 2)[2] == expected


@pytest.mark.parametrize(
    "text",
    [
        "It uses a bundle of SSL certificates (a.k.a. CA bundle) here.",
        "Das ist z. B. Wasser u. a. m. im Haus.",
        "Voyez p.ex. Lyon.",
        "Lane et al. (2013) saw none, cf. Fig. 2 and pp. 3 to 9.",
        "Das Haus in der Lindenstr. 7 ist nach Abs. 2 bzw. Abb. 3 alt.",
        "As in sec. 2(a), art. 9, subsec. (b) and ch. IV of Pub. L. 113-287, see figs. 3 and 4.",
        "Es gilt Art. 5 in Verbindung mit Anh. II, Ziff. 3.",
        "The work at the weir lasted from May 2016 to September\n2022.",
    ],
)
def test_abbreviations_end_no_sentence(text: str) -> None:
    assert sentences(f"{text} Next one.") == [text, "Next one."]


def test_what_only_looks_like_the_abbreviation_of_a_place_ends_a_sentence() -> None:
    assert sentences("Use the app. It works. Mills are art. Nine people saw them.") == [
        "Use the app.",
        "It works.",
        "Mills are art.",
        "Nine people saw them.",
    ]


def test_the_unit_of_a_number_and_the_line_before_an_item_end_a_sentence() -> None:
    assert sentences("It took 4.1 s. The next one took 12 m. J. R. Smith ran.") == [
        "It took 4.1 s.",
        "The next one took 12 m.",
        "J. R. Smith ran.",
    ]
    assert sentences("3,000 of them took 4.7 and 4.1 s.\n- It returns.\n- See Fig.\n  1. Here, by Dr.\nWho") == [
        "3,000 of them took 4.7 and 4.1 s.",
        "It returns.",
        "See Fig.",
        "Here, by Dr.\nWho",
    ]


@pytest.mark.parametrize(
    ("path", "text", "item"),
    [
        (
            "decorators.py",
            'def version_option(version):\n    """Exits the program.\n\n    .. versionchanged:: 8.0\n'
            '        Use :mod:`importlib.metadata`.\n    """\n',
            "def version_option: Changed in version 8.0: Use :mod:`importlib.metadata`.",
        ),
        (
            "path.rst",
            "Paths\n=====\n\n.. function:: join(a, b)\n\n   Joins them.\n\n   .. versionadded:: 3.4\n",
            "join(a, b): Added in version 3.4.",
        ),
        (
            "api.md",
            "# API\n\n## grind()\n\nTurns grain into flour.\n\n*Changed in version 2.1:* Takes rye.\n",
            "grind(): *Changed in version 2.1:* Takes rye.",
        ),
    ],
)
async def test_what_is_said_of_a_version_comes_with_what_it_is_said_of(
    path: str, text: str, item: str, tmp_path: Path
) -> None:
    (tmp_path / path).write_text(text)
    question = "Which version changed it, or was it added in?"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        passages = [Passage(1, hit) for hit in await kb.search(question, k=5) if "ersion" in hit.content]
        answer, _ = await extract(question, "factual", passages[:1], None)
    assert answer.splitlines()[2].removeprefix("- ").startswith(item)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (
            "In which version was the wheel made of oak?",
            "- Changes > Version 3.1.0 > Changed: The wheel is made of oak from the forest of Harrow now, which the "
            "trust bought for it in the year before. [1]",
        ),
        ("What is the wheel made of?", "- The wheel is made of oak from the forest of Harrow now, which the"),
        ("Who wrote that the dam is broken?", "- The dam > Ann Hale, 2024-05-07: The dam is broken. [2]"),
        ("Who wrote that the gate is open?", "- The gate is open. ["),
    ],
)
async def test_headings_are_said_where_the_question_asks_for_them(question: str, line: str) -> None:
    changes = (
        "# Changes\n\n## Version 3.1.0\n\n### Changed\n\n- The wheel is made of oak from the forest of Harrow "
        "now, which the trust bought for it in the year before.\n\n"
        "## Version 3.0.0\n\n### Changed\n\n- The valves are new.\n"
    )
    mail = "# Ann Hale, 2024-05-07\n\nBo wrote:\n> The gate is open.\n\nThe dam is broken.\n"
    passages = [_passage(1, changes, "Changes"), _passage(2, mail, "The dam")]
    text, _ = await extract(question, "factual", passages, None)
    assert any(said.startswith(line) for said in text.split("\n")), text


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("When was Turbine 3.0 released?", "- Version 3.0.0: Released 2023-09-30 ["),
        ("When was Turbine 2.2.5 released?", "- Version 2.2.5: Released 2023-05-02 ["),
        ("Who owns the mill?", "- The mill is owned by the Harrow Trust. ["),
        ("Who wrote up the summary of Dale?", "- Dale: Ann wrote up a summary, and so did Ben (see the list). ["),
        ("What changed in Turbine 2.2.5?", "- Version 2.2.5: Update for Gears 2.3. ["),
        ("Where is the mine?", "- It is in Ashby. ["),
        ("Who oiled the gears?", "- The gears: Oiled by Una. ["),
    ],
)
async def test_a_short_statement_comes_with_the_heading_that_says_what_it_is_about(
    kb: KnowledgeBase, question: str, item: str
) -> None:
    changes = (
        "# Version 3.1.0\n\nReleased 2024-11-13\n\n- Drop the old valves.\n\n# Version 3.0.0\n\nReleased 2023-09-30\n\n"
        "- Restructure the pipes.\n\n# Version 2.2.5\n\nReleased 2023-05-02\n\n- Update for Gears 2.3."
    )
    await kb.ingest(
        [
            Document(path="CHANGES.md", content=changes),
            Document(
                path="dale.md", content="# Dale\n\nAnn wrote up a summary: [1], and so did Ben (see the list) [2] [3]."
            ),
            Document(path="oil.md", content="# Oil\n\n## The `gears` {#oil-gears}\n\nOiled by Una."),
            Document(path="mine.md", content="It is in Ashby. The mine closed when the last seam was worked out."),
        ]
    )
    passages = [Passage(number, hit) for number, hit in enumerate(await kb.search(question), 1)]
    answer, _ = await extract(question, "factual", passages, kb.embedder)
    assert item in answer


def test_a_sentence_of_spaces_is_shown_at_once() -> None:
    """It took the cube of their number: hours for these."""
    assert shown("The mill" + " " * 20_000 + "turns.") == "The mill turns."


async def test_items_of_a_list_that_announce_others_are_shown_with_them() -> None:
    text = (
        "The mill has these names for its sluice:\n\n- In all towns:\n  - `gate`\n  - `door`, in winter\n\n"
        "- In Ulm:\n    - `wehr`\n- Nowhere:\n- At sea.\n"
    )
    answer, _ = await extract("Which names does the mill have for its sluice?", "factual", [passage_of(text)], None)
    assert answer.splitlines()[2:] == [
        "- The mill has these names for its sluice: [1]",
        "  - In all towns: `gate`; `door`, in winter",
        "  - In Ulm: `wehr`",
        "  - Nowhere:",
        "  - At sea.",
    ]


def passage_of(text: str) -> Passage:
    return Passage(1, Hit("1", "d", "d.md", "", "", text, 0, 0, len(text), 1.0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mills [25],[26], weirs [27] and sluices [3]–[5] turn.", "Mills, weirs and sluices turn."),
        (
            "Studies have been published [1]–[4], and many [5]; [6] agree.",
            "Studies have been published, and many agree.",
        ),
    ],
)
async def test_marks_of_the_sources_of_a_text_leave_nothing_behind(text: str, said: str) -> None:
    answer, _ = await extract("What do mills and studies say?", "factual", [_passage(1, text, "mills")], None)
    assert f"{said} [1]" in answer
