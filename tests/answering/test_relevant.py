"""Whether what was found has to do with the question."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis import analyze
from core.rag.answering.answers import StrategyName
from core.rag.answering.extracts.composing import LABEL, NEAREST
from core.rag.answering.extracts.stating import STATEMENTS
from core.rag.answering.relevance.compared import RELEVANT, Asked, Passage
from core.rag.answering.relevance.judging import NEAR
from core.rag.answering.relevance.judging import relevance as relevance_of
from core.rag.answering.response import NOTHING_FOUND
from core.rag.answering.types import Analysis, FoundEntity, FoundFact, Knowledge
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document
from tests.answering.models import talking

ROOT = Path(__file__).parents[2]
MILL = "The tide mill of Kestrel Bay was built in 1612. Its wheel turns with the ebb and grinds wheat for the villages."
SEA = "Ships pass the bay when the tide is high. Fog hides the light for many a long day, and nobody can find the way."
CORPUS = [frozenset(analyze(text)) for text in (MILL, *[SEA] * 400)]


def hit(content: str = MILL, vector: float = 0.0) -> Hit:
    return Hit(
        chunk_id="c", document_id="d", path="mill.md", title="", heading="", content=content, chunk_index=0,
        start_char=0, end_char=len(content), score=1.0, scores={"vector": vector},
    )  # fmt: skip


def passage(content: str = MILL, vector: float = 0.0) -> Passage:
    return Passage.of(hit(content, vector))


def asked(
    question: str,
    *entities: str,
    by_model: bool = False,
    before: str = "",
    sample: Collection[Collection[str]] = CORPUS,
) -> Asked:
    return Asked.of(Analysis(question, entities, "factual", not entities, by_model), before, sample)


def likelihood(question: Asked, compared: Passage) -> float:
    return compared.likelihood(question.share(compared))


def relevance(question: Asked, found: Knowledge) -> float:
    return relevance_of(question, found, {hit.chunk_id: likelihood(question, Passage.of(hit)) for hit in found.hits})


@pytest.mark.parametrize(
    "question, relevant",
    [
        ("When was the tide mill built?", True),
        ("when does the wheel turn", True),
        ("Wer baute die tide mill?", True),
        ("Is Kestrel Bay nice?", True),
        ("What else should I know about this wheel?", True),
        ("Summarize the background of Kestrel Bay", True),
        ("Which enzyme fixes carbon in photosynthesis?", False),
        ("What is the airspeed of an unladen swallow?", False),
        ("Who was Ada Lovelace?", False),
        ("?", False),
        ("🦀", False),
    ],
)
def test_words_tell(question: str, relevant: bool) -> None:
    found = relevance(asked(question), Knowledge(hits=[hit(vector=0.1)]))
    assert found >= RELEVANT if relevant else found < NEAR


@pytest.mark.parametrize(
    ("question", "found"),
    [("What is it?", False), ("Who?", False), ("IT", True), ("Who is Doctor Who?", True)],
)
async def test_function_words_alone_ask_nothing(question: str, found: bool) -> None:
    text = "Die Serie Doctor Who war auf der Bühne zu sehen. Auf die IT der Mühle und auf das Rad kommt es dabei an."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="who.md", content=text)])  # no function words of this language
        assert (await kb.ask(question)).found is found


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I back up the graph?", "The graph goes into a backup."),
        ("Where is the backup of the graph?", "Once a week we back up the graph."),
        ("Where is the data base?", "The database is a file."),
        ("Which database is it?", "It is a data base of birds."),
        ("How do I log in?", "The login is at the top."),
    ],
)
async def test_words_may_be_written_together_or_apart(question: str, text: str) -> None:
    found = passage(text, vector=0.1)
    assert likelihood(asked(question), found) > likelihood(asked(question), passage("Fog hides the graph.", vector=0.1))
    assert likelihood(asked(question), found) >= RELEVANT
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="a.md", content=f"The wind is from the west. {text} Fog hides the bay.")])
        answer = await kb.ask(question)
        assert (answer.found, answer.citations[0].quote) == (True, text)


def test_a_rare_word_says_more_than_common_ones_and_one_that_no_passage_has_speaks_against_all() -> None:
    common = asked("when does the tide come to the bay in Venezuela")
    rare = asked("when does the wheel come to the bay in Venezuela")
    assert (
        likelihood(common, passage())
        < likelihood(rare, passage())
        < likelihood(asked("when does the wheel turn"), passage())
    )
    assert likelihood(common, passage()) < 0.5 < likelihood(asked("the tide in the bay"), passage())


MOLINO = (
    "El molino de la bahía fue construido en 1612. Su rueda gira con la marea y muele el trigo de los pueblos. "
    "Los vecinos del valle llevaban el grano en burro, y el molinero se quedaba con una parte de la harina."
)
MUEHLE = "Die Mühle in der Bucht wurde 1612 gebaut. Ihr Rad dreht sich mit der Ebbe. Man funktioniert sie oft um."
SUISHA = "湾の水車小屋は1612年に建てられました。車輪は潮で回り、村の小麦を挽きます。農民はそこへ穀物を運びました。"


CHMOD = "chmod は指定されたファイルのモードを変更します。再帰的に変更するオプションもあります。高さは関係ありません。"
MULU = "chmod 改变文件的模式。复制整个目录时使用递归选项。是什么文件都可以改变。"
TYURMA = "Команда chmod меняет права доступа к файлу. Почему это небезопасно, сказано ниже: права получает каждый."


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        (MOLINO, "¿Cómo aprendo a tocar el piano?", False),
        (CHMOD, "chmod は何をしますか？", True),
        (CHMOD, "モードを再帰的に変更するには？", True),
        (CHMOD, "docker コンテナを起動するには？", False),
        (CHMOD, "富士山の高さは？", False),
        (CHMOD, "恐竜はなぜ絶滅したのですか？", False),
        (MULU, "chmod 有什么作用？", True),
        (MULU, "如何递归复制目录？", True),
        (MULU, "kubernetes 是什么？", False),
        (MULU, "什么是光合作用？", False),
        (TYURMA, "Что делает chmod?", True),
        (TYURMA, "Как меняются права доступа?", True),
        (TYURMA, "Почему небо голубое?", False),
        (MOLINO, "¿Cuándo fue construido el molino?", True),
        (MOLINO, "¿Qué muele la rueda?", True),
        (MOLINO, "¿Quién ganó el mundial de fútbol?", False),
        (MOLINO, "¿Cómo se hace una tortilla de patatas?", False),
        (MUEHLE, "Wann wurde die Mühle gebaut?", True),
        (MUEHLE, "Womit dreht sich das Rad?", True),
        (MUEHLE, "Wie funktioniert ein Kühlschrank?", False),
        (SUISHA, "水車小屋はいつ建てられましたか?", True),
        (SUISHA, "猫はなぜ寝るのですか?", False),
    ],
)
async def test_a_cosine_alone_says_little_in_other_languages_than_english(
    text: str, question: str, found: bool
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="a.txt", content=text)])
        assert (await kb.ask(question)).found is found


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        (MUEHLE, "Wie backe ich einen Kuchen?", False),
        (MUEHLE, "Wie viel kostet die Mühle den Nachbarn monatlich?", True),
        (CHMOD, "恐竜の化石がある場所は？", False),
        (TYURMA, "Как сварить борщ?", False),
    ],
)
async def test_in_other_languages_what_has_no_word_of_the_question_is_not_shown_as_near(
    text: str, question: str, shown: bool
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="a.txt", content=text)])
        answer = await kb.ask(question)
    assert not answer.found
    assert bool(answer.citations) is shown


def test_a_near_passage_in_other_words_is_relevant() -> None:
    question = asked("When was the plant erected?")
    assert relevance(question, Knowledge(hits=[hit(vector=0.6)])) >= RELEVANT
    assert relevance(question, Knowledge(hits=[hit(vector=0.1)])) < NEAR


def test_half_the_words_and_half_the_meaning_add_up() -> None:
    question = asked("wheel oxygen", sample=())
    assert likelihood(question, passage()) == 0.5
    assert likelihood(question, passage(vector=0.5)) == 0.75
    assert likelihood(question, passage(vector=-0.5)) == 0.5


def test_entities_and_relations_that_the_question_names_are_relevant() -> None:
    alice = FoundEntity("1", "Alice Smith", score=3)
    works = FoundFact("1", "Alice", "2", "Google", "WORKS_FOR", "Alice started in 2020", score=2)
    question = asked("Who is Alice?", "Alice")
    similar = FoundEntity("1", "Alice Smith", similarity=0.6)
    assert relevance(question, Knowledge(entities=[alice])) == 1
    assert relevance(question, Knowledge(facts=[works])) == 1
    assert relevance(asked("Who is Alise Smith?", "Alise Smith"), Knowledge(entities=[similar])) == 1
    assert relevance(question, Knowledge(entities=[FoundEntity("2", "Bob", score=1)])) == 0


@pytest.mark.parametrize(
    ("question", "name", "entity", "same"),
    [
        ("Who is Alise Smith?", "Alise Smith", "Alice Smith", True),
        ("What is Tech Corp?", "Tech Corp", "TechCorp", True),
        ("What is the price of Memgraph Enterprise?", "Memgraph Enterprise", "MEMGRAPH_PASSWORD", False),
        ("What is the price of Memgraph Enterprise?", "Memgraph Enterprise", "Memgraph", False),
        ("Who won World War II?", "World War II", "World War I", False),
        ("When was the World Cup 2014?", "World Cup 2014", "World Cup 2018", False),
        ("What is Mill?", "Mill", "Will Smith", False),
    ],
)
def test_an_entity_that_shares_a_word_with_a_name_is_not_what_is_named(
    question: str, name: str, entity: str, same: bool
) -> None:
    found = Knowledge(entities=[FoundEntity("1", entity, similarity=0.9)])
    assert relevance(asked(question, name), found) == same


@pytest.mark.parametrize(
    "question",
    [
        "Qual è il prezzo di Memgraph Enterprise?",
        "¿Cuánto cuesta Memgraph Enterprise?",
        "Memgraph Enterprise kaç para?",
    ],
)
async def test_settings_of_a_program_do_not_answer_what_another_one_costs(question: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([ROOT / "README.md", ROOT / ".env.example"])
        assert not (await kb.ask(question)).found


def test_a_title_that_is_an_ordinary_word_of_the_question_is_not_enough() -> None:
    heat = Knowledge(entities=[FoundEntity("1", "Heat", score=3)])
    question = "how does heat flow through the wall of a slender cone at hypersonic speed"
    assert relevance(asked(question, "Heat"), heat) == 0
    assert relevance(asked(question, "Heat", by_model=True), heat) == 1
    assert relevance(asked("Who directed Heat in the year 1995 with two famous actors?", "Heat"), heat) == 1


def test_a_number_is_no_subject() -> None:
    years = Knowledge(entities=[FoundEntity("1", "2014", score=3)])
    assert relevance(asked("Who won the world cup in 2014?", "2014"), years) == 0


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the capital of Mongolia?", False),
        ("How do I install Apache?", False),
        ("Who raised the capital of Heron?", True),
        ("Who raised the capital of the Herons, or Apache?", True),
        ("How do I install Herron?", True),
        ("Hi Olga, which of the capital was raised by the installer?", True),
        ("How do I install it on Heron's server, by ADA?", True),
    ],
)
@pytest.mark.parametrize("strategy", ["flow", "basic", "drift"])
async def test_what_shares_all_but_the_name_that_is_asked_for_is_told_to_be_no_answer(
    question: str, found: bool, strategy: StrategyName
) -> None:
    text = "The capital of Heron was raised by Ada Lane. To install Heron, run the installer. It serves the capital."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="heron.md", content=text)])
        answer = await kb.ask(question, strategy)
    assert (answer.found, answer.text.startswith(NEAREST)) == (found, not found)


def test_what_was_said_before_counts_for_a_question_without_words_of_its_own() -> None:
    found = Knowledge(hits=[hit()])
    before = "When does the wheel of the mill turn?"
    assert relevance(asked("And why?"), found) < NEAR
    assert relevance(asked("And why?", before=before), found) >= RELEVANT
    assert relevance(asked("Which enzyme fixes carbon in photosynthesis?", before=before), found) < RELEVANT


def test_what_was_said_before_is_recognised_whatever_the_question_says() -> None:
    before = "When does the wheel of the mill turn?"
    remark = asked("Amazing, such clever engineers, absolutely unbelievable!", before=before)
    assert remark.goes_on(passage()) and not remark.goes_on(passage(SEA))
    assert not asked("Amazing, such clever engineers!").goes_on(passage())


async def test_a_remark_in_a_talk_shows_what_the_talk_is_about() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="mill.md", content=MILL), Document(path="sea.md", content=SEA)])
        remark = "Wow, amazing, splendid, fantastic, incredible, marvellous, unbelievable, brilliant, outstanding!"
        for strategy in ("flow", "basic", "drift"):
            await kb.client.create_conversation(conversation_id=strategy)
            await kb.client.add_message(strategy, "I mean the mill", "user")
            answer = await kb.ask(remark, strategy, strategy)
            assert answer.text.startswith(NEAREST) and not answer.found
            assert "mill.md" in [citation.path for citation in answer.citations]
        assert (await kb.ask(remark, extracts=True)).text == NOTHING_FOUND


def test_nothing_is_not_relevant() -> None:
    assert relevance(asked("When was the tide mill built?"), Knowledge()) == 0


@pytest.mark.parametrize("strategy", ["flow", "basic", "drift"])
async def test_a_conversation_does_not_make_everything_relevant(strategy: StrategyName, tmp_path: Path) -> None:
    async with KnowledgeBase.open(f"embedded:{tmp_path}/graph.grafeo") as kb:
        (tmp_path / "mill.md").write_text(MILL, encoding="utf-8")
        (tmp_path / "sea.md").write_text(SEA, encoding="utf-8")
        await kb.ingest(tmp_path)
        assert (await kb.ask("When does the wheel of the mill turn?", strategy, "talk")).found
        assert (await kb.ask("And why?", strategy, "talk")).found
        other = await kb.ask("Which enzyme fixes carbon in photosynthesis?", strategy, "talk")
        assert not other.found
        assert other.text == NOTHING_FOUND or other.text.startswith(NEAREST)
        assert (await kb.ask("So which mill was it?", strategy, "talk")).found


async def test_what_is_only_near_is_shown_as_such_but_not_to_a_model() -> None:
    async with talking() as said, KnowledgeBase.open("embedded::memory:", language_model=said.model) as kb:
        said.chat.default = json.dumps({"entities": ["villages"], "intent": "factual"})
        await kb.ingest([Document(path="mill.md", content=MILL), Document(path="sea.md", content=SEA)])
        question = "how many people walk through these villages each evening in winter"
        shown = await kb.ask(question, extracts=True)
        assert shown.text.startswith(NEAREST)
        assert (shown.found, shown.supported, shown.extracts) == (False, False, True)
        assert [citation.path for citation in shown.citations][:1] == ["mill.md"]
        assert (await kb.ask(question)).text == NOTHING_FOUND
        assert not any(body.get("stream") for body in said.chat.bodies)
        assert (await kb.ask("when does the wheel turn", extracts=True)).text.startswith(LABEL)


async def test_extracts_leave_out_what_has_no_word_of_the_question_and_is_not_near() -> None:
    roses = "Roses want sun. Prune them in spring."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="mill.md", content=MILL), Document(path="roses.md", content=roses)])
        assert [hit.path for hit in await kb.search("when does the wheel turn")] == ["mill.md", "roses.md"]
        assert [citation.path for citation in (await kb.ask("when does the wheel turn")).citations] == ["mill.md"]
        both = await kb.ask("which wheel turns in spring")
        assert [citation.path for citation in both.citations] == ["mill.md", "roses.md"]


@pytest.mark.parametrize("strategy", ["flow", "drift"])
async def test_without_passages_the_statements_of_the_graph_are_the_answer(strategy: StrategyName) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.add_triples([("Platform Core", "owned by", "Bob Smith"), ("TechCorp", "runs", "Platform Core")])
        answer = await kb.ask("Who owns Platform Core?", strategy)
        assert answer.text.startswith(STATEMENTS)
        assert "Bob Smith" in answer.text
        assert (answer.found, answer.extracts, answer.supported, answer.citations) == (True, True, False, ())


@pytest.mark.parametrize("question", ["What is X1?", "What is X2?"])
async def test_a_name_alone_is_no_statement(question: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert("projects", {"name": "X1"})
        await kb.insert("projects", {"name": "X2", "company": "TechCorp"})
        answer = await kb.ask(question, "flow", extracts=True)
    if question == "What is X1?":
        assert (answer.text, answer.found) == (NOTHING_FOUND, False)
        assert [entity.name for entity in answer.entities] == ["X1"]
    else:
        assert answer.text == f"{LABEL} (no language model was asked):\n\n- name: X2 | company: TechCorp [1]"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the hobby of Ada Lane?", ["Heron | Ada Lane | chess"]),
        ("Which hobby has Tom Ray?", ["Tom Ray | rowing", "Weir | Tom Ray | sailing"]),
        ("What does Ada Lane grind?", []),
        ("Who is in team Heron?", []),
    ],
)
async def test_what_records_say_of_what_the_question_names_is_a_part_of_the_answer(
    question: str, told: list[str]
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            [Document(path="mill.md", content="Ada Lane and Tom Ray grind wheat at the mill of team Heron.")]
        )
        people = [("Ada Lane", "Heron", "chess"), ("Tom Ray", "Weir", "sailing")]
        await kb.insert_many("people", [{"name": n, "team": t, "hobby": h, "_id": n} for n, t, h in people])
        await kb.insert("guests", {"Name": "Tom Ray", "hobby": "rowing"})
        answer = await kb.ask(question)
        narrow = await kb.ask(question, filters={"path": {"prefix": "mill"}})
    assert answer.citations
    assert answer.text.startswith(LABEL)
    first = [line for line in answer.text.splitlines() if line.startswith("- ")][: len(told)]
    assert all(f"hobby: {row.rpartition(' | ')[2]}" in " ".join(first) for row in told)
    assert all(row in answer.context for row in told)
    assert not any(one.record_id for one in narrow.citations)
