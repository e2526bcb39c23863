"""``mgrag ask`` and ``mgrag chat``: what they print, with and without a language model, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.fakes.openai_chat import Chat, Stream
from tests.fakes.openai_server import fail

QUESTION = "Since when did the mill stand still?"
ANALYSIS = json.dumps({"entities": ["mill"], "intent": "factual"})
ENTRY = [sys.executable, "-c", "from mgrag.cli import main; main()"]


def test_extracts_with_sources_below(graph: Path, mgrag: Command) -> None:
    done = mgrag("ask", QUESTION)
    assert done.code == 0
    assert done.out.startswith("Extracts from the sources (no language model is set):\n\n- ")
    text, sources = done.out.split("\nSources:\n")
    assert "stood still from 1936" in text
    assert "[1] " in sources
    assert "characters 0-" in sources
    assert done.err == ""


def test_rows_are_counted_and_the_table_is_the_source(graph: Path, mgrag: Command) -> None:
    done = mgrag("ask", "What is the total amount of grants from the Lighthouse Fund?")
    text, sources = done.out.split("\nSources:\n")
    assert text.startswith(
        "Worked out from all records (no language model is set):\n\n"
        "- sum of amount_eur in grants with donor = Lighthouse Fund: 25700 (2 of 6 records) [1]\n"
    )
    assert "grants.csv  all 6 records  characters 0-" in sources.splitlines()[0]


def test_extracts_that_were_asked_for_do_not_say_that_there_is_no_model(
    graph: Path, mgrag: Command, chat: Chat
) -> None:
    for strategy in ("flow", "basic", "drift"):
        out = mgrag("ask", QUESTION, "--extracts", "--strategy", strategy).out
        assert out.startswith("Extracts from the sources (no language model was asked):\n\n- "), strategy
    assert not chat.bodies


def test_a_model_is_told_the_instructions(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.then(ANALYSIS, Stream(["1936 [1]."]), ANALYSIS, Stream(["1936 [1]."]))
    assert mgrag("ask", QUESTION, "--instructions", "Answer in German.").code == 0
    assert mgrag("chat", "--instructions", "Answer in Danish.", stdin=f"{QUESTION}\n".encode()).code == 0
    told = [body["messages"][0]["content"] for body in chat.bodies]
    assert "Answer in German." in told[1]
    assert "Answer in Danish." in told[3]


def test_json_has_everything(graph: Path, mgrag: Command) -> None:
    answer = mgrag("ask", QUESTION, "--json").json
    assert answer["extracts"]
    assert answer["supported"]
    assert answer["strategy"] == "flow"
    assert answer["intent"] == "factual"
    assert answer["context"].startswith("<definitions>")
    assert answer["mermaid"].startswith("graph LR")
    assert answer["metrics"]["search_metrics"]["passages"] >= 5
    for citation in answer["citations"]:
        assert list(citation) == [
            "number", "document_id", "chunk_id", "path", "heading", "page", "start_char", "end_char", "quote",
            "record_id",
        ]  # fmt: skip
        document = mgrag("show", citation["document_id"], "--json").json
        chunk = document["content"][citation["start_char"] : citation["end_char"]]
        assert citation["quote"] in chunk


def test_a_model_writes_and_the_check_is_shown(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.then(
        ANALYSIS, Stream(["The mill stood still from 1936 [1]. ", "It stands on the moon [2]. Mills are nice [77]."])
    )
    done = mgrag("ask", QUESTION, "--show-context")
    assert done.code == 0
    assert done.out.startswith("The mill stood still from 1936 [1]. It stands on the moon [2]. Mills are nice.\n")
    assert "[77]" not in done.out
    assert "Not supported by its source [2]: It stands on the moon." in done.out
    assert "Without a source: Mills are nice." in done.out
    assert "<passages>" in done.out.split("Context:")[1]


def test_where_a_sentence_stands_that_its_source_does_not_say(graph: Path, mgrag: Command, chat: Chat) -> None:
    cited = {one["number"]: one["quote"] for one in mgrag("ask", QUESTION, "--extracts", "--json").json["citations"]}
    number = next(number for number, quote in cited.items() if "1936" in quote)
    other = next(one for one in cited if one != number)
    chat.then(ANALYSIS, Stream([f"{cited[number]} [{other}]"]))
    out = mgrag("ask", QUESTION).out
    assert f"Not supported by its source [{other}], but by [{number}" in out


@pytest.mark.parametrize("reason, words", [("length", "the maximum length"), ("content_filter", "a content filter")])
def test_an_answer_that_stopped_in_the_middle_says_so(
    graph: Path, mgrag: Command, chat: Chat, reason: str, words: str
) -> None:
    chat.then(ANALYSIS, Stream(["The mill stood still from 1936 [1]."], finish_reason=reason))
    assert f"The answer is cut off: {'it reached ' if reason == 'length' else ''}{words}" in mgrag("ask", QUESTION).out
    chat.then(ANALYSIS, Stream(["The mill stood still from 1936 [1]."], finish_reason=reason))
    assert mgrag("ask", QUESTION, "--json").json["details"]["cut"] == reason


def test_the_diagram_is_written(graph: Path, mgrag: Command, bare: Path) -> None:
    assert mgrag("ask", "Who founded the Kestrel Bay Mill Trust?", "--mermaid", "graph.mmd").code == 0
    assert '["Kestrel Bay Mill Trust"]' in (bare / "graph.mmd").read_text(encoding="utf-8")
    empty = mgrag("ask", "How do whales sleep?", "--mermaid", "empty.mmd")
    assert empty.code == 0
    assert "The diagram is empty" in empty.err
    done = mgrag("ask", QUESTION, "--mermaid", "nowhere/graph.mmd")
    assert done.code == 1
    assert "nowhere/graph.mmd" in done.err


def test_the_diagram_is_there_though_nobody_reads_the_answer_to_its_end(graph: Path, bare: Path, chat: Chat) -> None:
    plan = Stream(["The mill\n", "stood still [1]."], proceed=threading.Event())
    chat.then(ANALYSIS, plan)
    with subprocess.Popen(
        [*ENTRY, "ask", QUESTION, "--mermaid", "graph.mmd"], cwd=bare, env=dict(os.environ), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(8) == b"The mill"
        process.stdout.close()
        assert isinstance(plan.proceed, threading.Event)
        plan.proceed.set()
    assert (bare / "graph.mmd").read_text(encoding="utf-8").startswith("graph LR")


def test_nothing_relevant(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.default = json.dumps({"entities": ["photosynthesis"], "intent": "factual"})
    done = mgrag("ask", "Which enzyme fixes carbon in photosynthesis?")
    assert (done.code, done.out) == (
        0,
        "Nothing relevant was found in the sources, so this question cannot be answered from them.\n",
    )
    assert not any(body.get("stream") for body in chat.bodies)


@pytest.mark.parametrize("fault, words", [(fail(401), "OPENAI_API_KEY"), (fail(500), "MGRAG_LLM_TIMEOUT")])
def test_a_failing_model_is_one_line_and_an_exit_code(
    graph: Path, mgrag: Command, chat: Chat, fault: object, words: str
) -> None:
    chat.server.always = fault  # type: ignore[attr-defined]
    done = mgrag("ask", QUESTION)
    assert done.code == 5
    assert words in done.err.strip().splitlines()[-1]
    assert "--extracts" in done.err
    assert all(line.startswith("mgrag: ") for line in done.err.strip().splitlines())
    assert mgrag("ask", QUESTION, "--extracts").code == 0


def test_a_cut_answer_is_told_of_below_what_was_received(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.then(ANALYSIS, Stream(["The mill ", "stood"], cut=True))
    done = mgrag("ask", QUESTION)
    assert done.code == 5
    assert done.out == "The mill stood\n"
    assert "ended too early" in done.err


def test_a_cut_answer_is_no_json_and_what_was_received_is_told_before_the_error(
    graph: Path, mgrag: Command, chat: Chat
) -> None:
    chat.then(ANALYSIS, Stream(["The mill ", "stood"], silent=True))
    done = mgrag("ask", QUESTION, "--json")
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("The mill stood\nmgrag: ")


def test_documents_cannot_steer_the_terminal(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.then(ANALYSIS, Stream(["The mill\n\x1b[2Jstood [1].\u202e"]))
    out = mgrag("ask", QUESTION).out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.startswith("The mill\n")


@pytest.mark.parametrize(
    "arguments, code",
    [(["ask", ""], 2), (["ask", "Who?", "--strategy", "magic"], 2), (["ask", "Who?", "-k", "0"], 2), (["ask"], 2)],
)
def test_what_makes_no_sense_is_refused(graph: Path, mgrag: Command, arguments: list[str], code: int) -> None:
    assert mgrag(*arguments).code == code


def test_without_a_graph_nothing_is_made(mgrag: Command, bare: Path) -> None:
    for arguments in (["ask", QUESTION], ["chat"]):
        done = mgrag(*arguments, stdin="")
        assert done.code == 4
        assert not (bare / ".mgrag").exists()


def test_a_conversation_goes_on(graph: Path, mgrag: Command) -> None:
    mgrag("ask", "Who founded the trust?", "--conversation", "talk", "--user", "ann")
    mgrag("ask", "And when?", "--conversation", "talk", "--user", "ann")
    memories = mgrag("memory", "list", "talk", "--json").json["memories"]
    assert [memory["role"] for memory in memories] == ["user", "assistant", "user", "assistant"]


def test_a_conversation_without_a_title_is_listed_with_what_was_asked_first(graph: Path, mgrag: Command) -> None:
    mgrag("ask", "Who founded the trust?", "--conversation", "talk")
    assert mgrag("conversation", "list").out.endswith("  talk  -     Who founded the trust?\n")
    listed = mgrag("conversation", "list", "--json").json
    assert [(row["title"], row["beginning"]) for row in listed] == [("", "Who founded the trust?")]
    mgrag("conversation", "delete", "talk", "--yes")
    assert mgrag("conversation", "list").out == "No conversations.\n"


def test_chat_answers_line_by_line_until_the_input_ends(graph: Path, mgrag: Command) -> None:
    done = mgrag("chat", "--conversation", "talk", stdin="Who founded the trust?\n\nAnd when was that?")
    assert done.code == 0
    assert done.out.count("Extracts from the sources") == 2
    assert "--conversation talk continues it" in done.err
    assert "It is new" in done.err
    assert "It is new" not in mgrag("chat", "--conversation", "talk", stdin="").err
    assert len(mgrag("memory", "list", "talk", "--json").json["memories"]) == 4


@pytest.mark.parametrize("word", ["exit", "quit", " /Quit ", "EXIT"])
def test_a_word_ends_a_chat(graph: Path, mgrag: Command, word: str) -> None:
    done = mgrag("chat", stdin=f"How do I exit the mill?\n{word}\nAnd when was that?\n")
    assert done.code == 0
    assert done.out.count("xtracts") + done.out.count("Nothing relevant") == 1


def test_chat_as_json_prints_one_line_for_each_answer(graph: Path, mgrag: Command) -> None:
    lines = mgrag("chat", "--json", stdin="Who founded the trust?\nAnd when?\n").out.splitlines()
    assert [json.loads(line)["found"] for line in lines] == [True, True]


def test_chat_goes_on_after_a_question_that_failed(graph: Path, mgrag: Command, chat: Chat) -> None:
    chat.then(ANALYSIS, Stream(["The "], cut=True), ANALYSIS, Stream(["It stood still from 1936 [1]."]))
    done = mgrag("chat", stdin=f"{QUESTION}\n{QUESTION}\n")
    assert done.code == 0
    assert "ended too early" in done.err
    assert "It stood still from 1936 [1]." in done.out


def test_chat_goes_on_after_a_line_that_is_no_text(graph: Path, mgrag: Command) -> None:
    done = mgrag("chat", "--json", stdin=b"\xff\xfe\n" + QUESTION.encode() + b"\n")
    assert done.code == 0
    assert json.loads(done.out.splitlines()[-1])["citations"]


def test_ctrl_c_leaves_a_chat_cleanly(graph: Path, bare: Path) -> None:
    with subprocess.Popen(
        [*ENTRY, "chat", "--conversation", "talk"], cwd=bare, env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("Who founded the trust?\n")
        process.stdin.flush()
        while "characters" not in (text := process.stdout.readline()):
            assert text, "the answer ended without its sources"
        process.send_signal(signal.SIGINT)
        code = process.wait(120)
        err = process.stderr.read()
    assert code == 0, err
    assert "Traceback" not in err
    # The graph was closed and can be opened at once.
    assert len(Command(bare)("memory", "list", "talk", "--json").json["memories"]) == 2


def test_what_was_printed_of_an_answer_that_ctrl_c_ends_is_in_the_conversation(
    graph: Path, bare: Path, chat: Chat
) -> None:
    chat.then(ANALYSIS, Stream(["The mill ", "stood still [1]."], proceed=threading.Event()))
    with subprocess.Popen(
        [*ENTRY, "ask", QUESTION, "--conversation", "talk"], cwd=bare, env=dict(os.environ), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read(8) == "The mill"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    said = Command(bare)("conversation", "show", "talk", "--json").json["messages"]
    assert [(message["content"], message["metadata"]) for message in said] == [
        (QUESTION, {}),
        ("The mill", {"cut": "stopped"}),
    ]


def test_the_answer_is_printed_while_it_arrives(graph: Path, bare: Path, chat: Chat) -> None:
    plan = Stream(["The mill ", "stood still [1]."], proceed=threading.Event())
    chat.then(ANALYSIS, plan)
    with subprocess.Popen(
        [*ENTRY, "ask", QUESTION], cwd=bare, env=dict(os.environ), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        # The rest is only sent when this was received.
        assert process.stdout.read(8) == "The mill"
        assert isinstance(plan.proceed, threading.Event)
        plan.proceed.set()
        assert process.stdout.read().startswith(" stood still [1].")
    assert process.returncode == 0
