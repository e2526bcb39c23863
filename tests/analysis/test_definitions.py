"""What passages define, and questions for it."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis import asked_words, defined_words
from libs.dataloader import Document
from tests.growth import check_growth


def asked_word(question: str) -> str | None:
    return next(iter(asked_words(question)), None)


@pytest.mark.parametrize(
    ("passage", "names"),
    [
        ("`work_mem` (`integer`)\n: Sets the base.\n", ["work_mem"]),
        ("Intro.\n\n-v, --verbose=LEVEL\n--loud\n: Says more.\n", ["-v", "verbose", "loud"]),
        ("Abort\n: See rollback.\n\nChecks\n: What holds.\n", ["abort", "check"]),
        ("- **Slack water**: the hour without a tide.\n- `ebb` - the tide goes out.\n", ["slack water", "ebb"]),
        ("| `MGRAG_K` | How many hits |\n| `other` | more |\n", ["mgrag_k", "other"]),
        ("| pluribus | Is it one of many? |\n| hard | yes |\n| a | b c d | e f g |\n| 12 | a b c |\n", ["pluribus"]),
        ("# ls(1)\n\n## NAME\n\nls, dir - list directory contents\n", ["ls", "dir"]),
        ("The mill turns: it is loud. A mill - as said - is old.", []),
        ("She said\nthat it is late.\n", []),
        (
            "It rains. _Neap\ntides_ let the mill rest.\n> A **head** (of water) is what\n> turns it.",
            ["neap tide", "head"],
        ),
        ("The *sluice*, on the other hand, keeps water. _Hardly_ ever. See _The Mill_ for more.", ["sluice"]),
        ("Write this: `pond` is a list. Here `x` is given, and `run` stops.", ["pond"]),
        ("A mill pond is a store of water. Is a tide a wave? DNA is a chain, a lock is shut.", ["mill pond"]),
        (
            "That is called _dressing_; it is also known as the “sharpening”. She called the trust.",
            ["dressing", "sharpening"],
        ),
        (
            "# Sluices\n\nSluices are small gates which let water in.\nNeap tides are tides that do little.",
            ["sluice", "neap tide"],
        ),
        ("There are gates that leak. All of it is here. Mills are managed by that. They are men which go.", []),
        ("Das nennt man nicht so: es wird *Schärfen* und nicht genannt, was *Kröseln* ist.", []),
        ('The weir holds. A "tail race" is a channel behind it, A Tide is a wave.', ["tail race"]),
        ("Eine „Ebbe“ ist eine Tide. Ein Siel ist das Tor im Deich.", ["Ebbe", "Siel"]),
        ("Un « jusant » est une marée, Un estuario es una boca.", ["jusant", "estuario"]),
        ("Un mulino è una macchina. Um açude é uma barragem.", ["mulino", "açude"]),
        ("退潮很快。水闸是一种门，“潮汐”是水的涨落。这是一", ["水闸", "潮汐"]),
        ("水が引く。干潮とは最も低い水位です。「水門」は門です。流すことはできません。", ["干潮", "水門"]),
        ("썰물이란 물이 빠지는 것이다. **수문**은 문입니다. 물은 흐른다.", ["썰물", "수문"]),
        ("Вода уходит. Отлив — это спад воды, а «прилив» нет. «Шлюз» - это ворота.", ["Отлив", "Шлюз"]),
        ("Die _Ebbe_ ist kurz. Es wird auch als genannt *Kentern*.", ["Ebbe", "Kentern"]),
    ],
)
def test_a_passage_defines(passage: str, names: list[str]) -> None:
    assert set(defined_words(passage)) == {asked_word(name) for name in names}


@pytest.mark.parametrize(
    ("about", "passage", "names"),
    [
        ("ebb", "An _ebb_ is a tide that goes out.", ["ebb"]),
        ("Ebb tides", "**Ebb tides** (or falling tides) are the ones that go out.", ["ebb tide"]),
        ("Tides", "# The ebb\n\nThe ebb is when water falls.\n\n## Flood ##\n\nFlood water is a danger.", ["ebb"]),
        ("What is slack water?", "It lasts an hour.", ["slack water"]),
        ("Tides", "## What are neap tides?\n\nSmall ones.\n\n## How to tell?\n\nLook.", ["neap tides"]),
        ("Ebbe", "Die Ebbe ist eine Tide.", ["Ebbe"]),
        ("Ebb", "The mill is a building.", []),
        ("Ada Vane", "Ada Vane (born 1931) is a director.", []),
        ("Ebb", "Ebb is over at six.", []),
        ("Hello, Cargo!", "Cargo is Rust's build system.", ["Cargo"]),
        ("Sluices and gates", "The gates are the miller’s work.", ["gate"]),
        ("", "The mill is a building.", []),
        ("干潮", "「干潮」は、水位が最も低い時です。", ["干潮"]),
        ("潮汐（tide）", "潮汐是水的涨落。", ["潮汐"]),
        ("썰물 (ebb)", "썰물은 물이 빠지는 것이다.", ["썰물"]),
        ("潮汐", "水闸是旧的。", []),
    ],
)
def test_a_section_that_begins_with_what_something_is_defines_it(about: str, passage: str, names: list[str]) -> None:
    assert defined_words(passage, about) == [asked_word(name) for name in names]


@pytest.mark.parametrize(
    "question",
    [
        *(
            "slack water",
            "What is slack water?",
            "what does slack water mean",
            "What is the definition of Slack Water?",
        ),
        *(
            "Was ist das Slack-Water?",
            "Qu'est-ce que le slack water ?",
            "¿Qué es slack water?",
            "Che cos'è slack water?",
        ),
        *(
            "O que é slack water?",
            "Что такое slack water?",
            "什么是slack water？",
            "slack water 是什么？",
            "slack waterとは？",
        ),
    ],
)
def test_a_question_for_a_definition(question: str) -> None:
    assert asked_word(question) == asked_word("slack water")


@pytest.mark.parametrize(
    "question",
    [
        "What does the work_mem setting do?",
        "What is the parameter `work_mem`?",
        "Was macht der Befehl work_mem?",
        "Que fait la commande work_mem ?",
    ],
)
def test_what_kind_of_thing_a_name_is_may_be_said(question: str) -> None:
    assert asked_words(question)[1:] == asked_words("work_mem")
    assert asked_words("hash function") == [asked_word("What is a hash function?")]


@pytest.mark.parametrize(
    "question",
    [
        "What is slack water in tidal mills?",
        "What does slack water mean in The Mill?",
        "What does slack water do within tide-mill/src?",
        "Was ist slack water im Deichbau?",
        "Qu'est-ce que slack water dans Docker ?",
    ],
)
def test_where_a_thing_is_may_be_said(question: str) -> None:
    assert asked_words("slack water")[0] in asked_words(question)
    assert asked_words(question)[0] != asked_words("slack water")[0]  # a text may call it so as a whole


def test_a_name_of_code_may_be_in_a_package() -> None:
    assert asked_words("openSluice")[0] in asked_words("How does openSluice work in tide-mill?")
    assert asked_words("How does the mill work in winter?") == []


def test_only_an_article_before_a_name_is_left_out() -> None:
    defined = defined_words("- **schema registry**: where schemas are.")
    assert [asked_word(f"What is {name}?") for name in ("a schema registry", "schema registry")] == 2 * defined


@pytest.mark.parametrize(
    "question",
    [
        *("Wat is Ebb?", "Vad är Ebb?", "Co to jest Ebb?", "Що таке Ebb?", "ما هو Ebb؟", "מה זה Ebb?", "Ebb nedir?"),
        *("Qu'est-ce qu'un Ebb ?", "qu'est-ce que c'est que l'ebb", "a quoi sert Ebb", "que es un Ebb", "cos'e Ebb"),
        *("Ebb क्या है?", "什麼是Ebb", "Ebbって何ですか", "Ebb란 무엇인가요?", "Ebb는 뭐예요?"),
        *("Was versteht man unter einem Ebb?", "Wofür steht Ebb?", "Qu'entend-on par Ebb ?"),
        *("¿Qué se entiende por Ebb?", "Cosa si intende per Ebb?", "O que se entende por Ebb?", "Что означает Ebb?"),
        *(
            "Ebb 是什么意思？",
            "什么叫Ebb？",
            "Ebb到底是什么？",
            "Ebb指的是什么？",
            "Ebb的含义",
            "Ebbとはどういう意味ですか？",
            "Ebbの意味は？",
            "Ebb란?",
        ),
        *("Ebb는 무슨 뜻인가요?", "Ebb의 뜻은?", "Ebb란 무엇인가?"),
    ],
)
def test_questions_for_a_definition_in_other_languages(question: str) -> None:
    assert asked_word(question) == asked_word("What is Ebb?")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(2) Als Werktage gelten alle Kalendertage,\ndie nicht Sonntage sind.", "Werktage"),
        ("Arbeitszeit im Sinne dieses Gesetzes ist die Zeit vom Beginn bis zum Ende der Arbeit.", "Arbeitszeit"),
        ("On entend par _marée_ le mouvement de l'eau.", "marée"),
        ("Se entiende por marea el movimiento del agua.", "marea"),
        ("Si intende come “marea” il movimento dell'acqua.", "marea"),
        ("Entende-se por maré o movimento da água.", "maré"),
        ("Onder eb wordt verstaan dat het water zakt.", "eb"),
        ("Przez pływ rozumie się ruch wody.", "pływ"),
        ("The term “ebb” means the going out of water.", "ebb"),
        ('(3) "Slack water", as used here, has the meaning given in Part 2.', "slack water"),
        ("“(A) the term ‘neap tide’ shall mean the smallest tide.", "neap tide"),
    ],
)
def test_what_laws_define(text: str, name: str) -> None:
    assert defined_words(text) == [asked_word(name)]


def test_two_names_may_be_defined_at_once() -> None:
    words = defined_words("“Unit” or “condominium unit” means an enclosed space.")
    assert words == [asked_word("unit"), asked_word("condominium unit")]


@pytest.mark.parametrize(
    "text",
    [
        "Das gilt als Ausnahme.",
        "Als es dunkel war, galt nichts.",
        "Er versteht sie nicht.",
        "He said “wait” and left by all means.",
    ],
)
def test_other_sentences_define_nothing(text: str) -> None:
    assert defined_words(text) == []


def test_a_heading_that_asks_defines_without_a_question_mark() -> None:
    assert defined_words("潮が引くことです。", "引き潮とは何か") == [asked_word("引き潮とは何ですか？")]


def test_short_names_differ_by_their_signs() -> None:
    names = ["C", "C++", "C#", "-c", "-C:", ".c"]
    assert len({asked_word(f"What is {name}?") for name in names}) == 5, "-c and -C are one"
    assert asked_word("What are checkpoints?") == asked_word("--checkpoint") == asked_word("Check-Point")
    assert asked_word("What is .NET?") == asked_word("net")
    assert asked_word("DNS") != asked_word("DN")


@pytest.mark.parametrize(
    "question",
    ["", "?", "1612", "How is the mill connected to the trust?", "When does it turn", "x" * 5000, "a b " * 99],
)
def test_no_question_for_a_definition(question: str) -> None:
    assert asked_word(question) is None


async def test_what_is_asked_for_is_found_where_it_is_defined() -> None:
    often = "The slack water came. Slack water is when the miller waits for slack water, and slack water it was."
    texts = [Document(path=f"{n}.md", content=f"# Log {n}\n\n{often} {n}", format="markdown") for n in range(30)]
    glossary = "# Words\n\nEbb\n: The tide goes out.\n\nSlack water\n: The hour in which nothing flows.\n"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([*texts, Document(path="words.md", content=glossary, format="markdown")])
        for question in ("What is slack water?", "slack water"):
            for mode in ("keyword", "hybrid", "auto"):
                [hit] = await kb.search(question, k=1, mode=mode)
                assert hit.path == "words.md", (question, mode)


@pytest.mark.parametrize(
    ("piece", "end"),
    [
        *(("a", " - x"), ("`", ""), ("**", ""), ("\n: x", ""), ("| ", ""), ("a, ", " - b")),
        *(("_a", " is a"), ("A a ", "is"), ("called _a", ""), ("called ", ""), (". _a_, ", "is"), ("> ", "_a_ is")),
        *(("a-", " gilt"), ("Als a a ", "gelten"), ("a im Sinne des a ", ""), ("\n", "versteht")),
        *(("“a", "means"), ("“a” ", "means"), ("“a”, a ", "means"), ("“a” or “", "means"), ("“a” (", "means")),
        *(("Aa ", "are"), ("Aa are ", ""), ("Aa are a ", "that "), ("A are a-", "")),
        *(("“a", "是"), ("，a", "是"), ("a（a", "は"), ("Eine a ", "ist"), ("a - ", " это ")),
    ],
)
def test_hostile_passages_take_no_time(piece: str, end: str) -> None:
    check_growth(lambda size: defined_words(piece * size + end), 20_000)
