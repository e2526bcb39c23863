"""Keyword analysis: what becomes of words, and that queries and documents always meet."""

from __future__ import annotations

import threading
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.analysis import (
    MAX_QUERY_TERMS,
    TITLE_WEIGHT,
    analyze,
    file_word,
    index_terms,
    joined_terms,
    query_terms,
    short_stems,
)
from core.rag.analysis.language import detect_language, is_surely_english, language_name, question_language
from core.rag.analysis.stopwords import LATIN_LANGUAGES, stop_words
from core.rag.analysis.words import MAX_TERM_BYTES, fold
from tests.growth import check_growth


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Running runners RAN", ["run", "runner", "ran"]),
        ("The director's films, (films) films.", ["director", "film", "film", "film"]),
        ("café CAFÉ cafe\u0301 cafe", ["cafe"] * 4),
        ("ﬁne Ｆｉｎｅ", ["fine", "fine"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("Ærø Łódź İstanbul ırmak Þór", ["aero", "lodz", "istanbul", "irmak", "thor"]),
        ("C++ C# c F#", ["cplusplus", "c", "csharp", "c", "c", "fsharp", "f"]),
        ("3.11 2024 1,000,000 x86", ["3dot11", "3", "11", "2024", "1000000", "x86"]),
        ("2.3.1 v10.0", ["2dot3dot1", "2dot3", "2", "3", "1", "10dot0", "v10", "0"]),
        (
            "192.168.0.1 ٣.١",
            ["192dot168dot0dot1", "192dot168dot0", "192dot168", "192", "168", "0", "1", "٣dot١", "٣", "١"],
        ),
        ("snake_case", ["snakecase", "snake", "case"]),
        ("getUserName HTTPServer", ["getusernam", "get", "user", "name", "httpserver", "http", "server"]),
        ("McDonald DeVito YouTube", ["mcdonald", "devito", "youtub", "tube"]),
        ("semi-automatic", ["semiautomatic", "semi", "automat"]),
        ("U.S.A. A.B.", ["usa", "ab"]),
        ("l'homme O'Brien", ["homm", "obrien", "o", "brien"]),
        ("jo@example.org", ["joexampleorg", "jo", "exampl", "org"]),
        ("https://example.org/a?b=1", ["https", "exampleorg", "exampl", "org", "b", "1"]),
        ("日本語 猫", ["日", "日本", "本", "本語", "語", "猫"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("한국어", ["한국", "국어"]),
        ("ภาษาไทย", ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("verify verified verification", ["verif"] * 3),
        ("diagnosis diagnose hypotheses hypothesis", ["diagnos", "diagnos", "hypothes", "hypothes"]),
        ("taxi policies Bali", ["taxi", "polici", "bali"]),
        ("книги книга", ["книг", "книг"]),
        ("й и ёлка елка", ["й", "елк", "елк"]),
        ("किताबें किताब", ["किताब", "किताब"]),
        ("", []),
        ("!?… 😀 \x00", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert analyze(text) == words


def test_hindi_and_greek_stop_and_fold() -> None:
    assert analyze("ΒΕΡΟΛΊΝΟ Βερολίνο") == ["βερολιν"] * 2
    assert query_terms("και το") == analyze("και το") != [], "nothing but function words: they stay"
    assert analyze("το Βερολίνο") == ["βερολιν"]


def test_function_words_stay_only_where_there_is_nothing_else() -> None:
    assert analyze("The Who") == ["the", "who"]
    assert analyze("The Who sang") == ["sang"]
    assert query_terms("The Who") == ["the", "who"]
    terms = index_terms("The Who", None, "They are a band").split()
    assert set(query_terms("the who")) <= set(terms)


def test_operators_of_engines_are_words_like_others() -> None:
    assert query_terms("cats AND dogs OR NOT birds") == ["cat", "dog", "bird"]
    assert query_terms("and or not") == ["and", "or", "not"]


def test_signs_that_are_code_are_words() -> None:
    assert analyze("The `?` operator (`=>`), `a` `..`, - x") == ["sign3f", "oper", "sign3d3e", "sign2e2e", "x"]
    assert query_terms("What does the ? operator do?") == ["oper", "sign3f"]
    assert query_terms("the difference between == and === ?") == ["differ", "sign3d3d", "sign3d3d3d"]
    assert query_terms("Où est la marée ?") == query_terms("Où est la marée?")
    assert query_terms("- mill & tide * # > / |") == query_terms("mill tide")


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("Please summarize the chapter on closures", "the chapter on closures"),
        ("explain how the tide works", "how the tide works"),
        ("Could you give me an overview of the mill?", "the mill?"),
        ("tell us about Ann", "about Ann"),
        ("Erkläre mir, wie die Mühle läuft", "Erkläre mir, wie die Mühle läuft"),
        ("Erkläre wie die Mühle läuft", "wie die Mühle läuft"),
        ("explique-moi la marée", "explique-moi la marée"),
        ("explain analyze", "explain analyze"),
        ("describe table users", "describe table users"),
        ("show me", "show me"),
        ("show the", "show the"),
        ("summarize", "summarize"),
    ],
)
def test_what_a_request_wants_done_is_not_searched_for(query: str, asks: str) -> None:
    language = "english" if query.isascii() else "german"
    assert query_terms(query, language) == query_terms(asks, language)


def test_titles_weigh_more() -> None:
    terms = index_terms("Graphs", "Setup", "install").split()
    assert terms == ["graph"] * TITLE_WEIGHT + ["setup", "instal"]
    assert index_terms(None, None, "") == ""


GERMAN = (
    "Die Häuser der kleinen Städte sind nicht mit denen aus der Hauptstadt zu vergleichen, sagte der Bürgermeister."
)
FRENCH = "Les maisons de la ville ne sont pas comme celles du village, où les gens vivent dans des fermes."
SPANISH = "Las casas de la ciudad no son como las del pueblo, donde la gente vive en granjas con sus animales."
ENGLISH = "The houses of the city are not like those of the village, where people live on farms with their animals."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "german"),
        (FRENCH, "french"),
        (SPANISH, "spanish"),
        (ENGLISH, "english"),
        (GERMAN.upper(), "german"),
        (unicodedata.normalize("NFD", GERMAN), "german"),
        ("La colpa di una madre is a 1952 Italian melodrama film.", "english"),
        ("x = foo(bar) for a in de", "english"),
        ("Книги и газеты", "english"),
        ("", "english"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text.split()) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wann starb Dschingis Khan?", "german"),
        ("¿Cuál es la capital?", "spanish"),
        ("Dove vive Anna?", "italian"),
        ("Was kostet ein Bier?", "english"),
        ("who is Die Hard by", "english"),
        ("MAC or PC", "english"),
        ("Duplikate", "english"),
    ],
)
def test_in_a_question_one_function_word_tells_the_language(question: str, language: str) -> None:
    assert question_language(question.split()) == language


@pytest.mark.parametrize(
    ("value", "name"),
    [("de", "german"), ("de-AT", "german"), ("pt_BR", "portuguese"), ("German", "german"), ("ja", None), (None, None)],
)
def test_language_names(value: str | None, name: str | None) -> None:
    assert language_name(value) == name


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Combien coûte un coach ?", {"coach"}),
        ("Combien de temps dure une mission ?", {"mission"}),
        ("Wieviel kostet der Eintritt und wozu dient er?", {"eintritt"}),
        ("¿Cuantas personas vienen a la feria?", {"feri"}),
        ("Почему остановилась мельница?", {"мельниц"}),
        ("Qu'est-ce qu'un moulin ?", {"moulin"}),
        ("Est-ce que le moulin tourne ?", {"moulin"}),
        ("Pourquoi faut-il un moulin ?", {"moulin"}),
        ("Combien de moulins y a-t-il ?", {"moulin"}),
        ("Cos'è il mulino?", {"mulin"}),
        ("Wie hoch ist die Miete der Mühle?", {"miet", "muhl"}),
    ],
)
def test_words_that_only_ask_are_not_looked_for(question: str, terms: set[str]) -> None:
    found = set(query_terms(question))
    assert terms <= found
    asks = ("comb", "wievi", "woz", "cuant", "почем", "ques", "est", "faut", "atil", "cos", "hoch")
    assert not {one for one in found if one.startswith(asks)}


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("ما هو المد؟", ["المد"]),
        ("כמה טחנות יש בחוף?", ["טחנות", "בחוף"]),
        ("ज्वार क्या है?", ["जवार"]),
        ("Що таке приплив і скільки він триває?", ["припл", "триває"]),
        ("Что такое прилив?", ["прил"]),
        ("什么是潮汐", ["潮", "潮汐", "汐"]),
        ("请问潮汐是什么？谢谢", ["潮", "潮汐", "汐"]),
        ("水車とは何ですか", ["水", "水車", "車"]),
        ("水車を教えてください", ["水", "水車", "車"]),
        ("水車とはどういう意味ですか？", ["水", "水車", "車"]),
        ("水车指的是什么？", ["水", "水车", "车"]),
        ("조수란 무엇인가요?", ["조수"]),
        ("조수란 무슨 뜻인가요?", ["조수"]),
        ("Könnten Sie mir bitte sagen, was Ebbe ist? Vielen Dank!", ["ebb", "ebbe"]),
    ],
)
def test_of_a_question_what_it_is_about_is_looked_for(question: str, terms: list[str]) -> None:
    assert sorted(query_terms(question)) == sorted(terms)


def test_what_is_joined_with_function_words_is_no_word_of_its_own() -> None:
    french = "L'entreprise existe-t-elle ? Oui, c'est-à-dire qu'elle n'en a pas."
    assert analyze(french, "fr") == ["entrepris", "exist", "oui", "dir"]
    assert analyze("Dov'è l'ebbe? Nell'ebbe.", "it") == analyze("ebbe ebbe", "it")
    assert {"email", "mail"} <= set(analyze("scrivi una e-mail", "it"))
    assert "portecles" in analyze("un porte-clés dans la poche", "fr")


@pytest.mark.parametrize(
    "question", ["教えてください", "什么", "Bitte", "merci", "ما هو", "何もない", "几何", "How high is it?"]
)
def test_what_is_left_of_a_question_is_never_nothing(question: str) -> None:
    assert query_terms(question)


@pytest.mark.parametrize("piece", ["何", "教えて", "方法", "有", "wie ", "bitte ", " \t", "몇 "])
def test_phrases_that_ask_take_linear_time(piece: str) -> None:
    check_growth(lambda size: query_terms(piece * size), 3_000)


def test_every_list_of_function_words_tells_its_own_language() -> None:
    for name in LATIN_LANGUAGES:
        words = sorted(stop_words(name))
        assert detect_language(words[::2]) == name
        assert detect_language(words[1::2]) == name


@pytest.mark.parametrize(
    ("document", "query"),
    [
        (GERMAN, "haus kleiner stadt"),
        (GERMAN, "Häuser"),
        (GERMAN, "Was sagte der Bürgermeister über die Städte?"),
        (GERMAN, "haeuser"),
        (FRENCH, "maison"),
        (FRENCH, "Où vivent les gens du village ?"),
        (SPANISH, "casa ciudades"),
        (ENGLISH, "house in a city"),
        ("東京都に住む猫", "東京の猫"),
        ("Программирование на языке", "программирования"),
        ("Release 3.11 of the C++ library foo_bar", "foo_bar"),
    ],
)
def test_a_query_finds_other_forms_whatever_language_it_is_taken_for(document: str, query: str) -> None:
    found = set(index_terms(None, None, document).split())
    own = [word for word in query.split() if len(word) > 3] or [query]
    assert any(found & set(query_terms(word)) for word in own)
    assert found & set(query_terms(query))


def test_plainly_english_questions_have_no_foreign_stems() -> None:
    question = "Who takes care of the houses?"
    assert is_surely_english(question.split())
    assert query_terms(question) == ["take", "care", "hous"]
    assert "car" not in query_terms("care"), "a short foreign stem is likely to be another word"


def test_queries_are_bounded() -> None:
    many = " ".join(f"word{index}" for index in range(20_000))
    assert len(query_terms(many)) == MAX_QUERY_TERMS
    assert len(query_terms("Häuser Städte " * 10_000)) < 20
    assert len(query_terms(many, limit=7)) == 7
    frequent = f"{many} needle needle"
    assert query_terms(frequent[-5_000:])[0] == "needl"


def test_long_words_are_cut_at_a_character() -> None:
    assert analyze("x" * 1_000) == ["x" * MAX_TERM_BYTES]
    assert analyze("ж" * 100) == ["ж" * (MAX_TERM_BYTES // 2)]
    assert query_terms("ж" * 100) == analyze("ж" * 100)


def test_threads_get_the_same_words() -> None:
    texts = [f"{ENGLISH} running{index} houses {GERMAN} Füße{index}" for index in range(200)]
    expected = [analyze(text) for text in texts]
    found: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: found.append([analyze(text) for text in texts])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def as_engines_read(text: str) -> list[str]:
    """What Grafeo ("standard") and Tantivy make of a text: runs of letters and digits in lower case."""
    words = [""]
    for character in text:
        keeps = character.isalnum() or unicodedata.category(character) in {"Mc", "Mn"}
        words[-1:] = [words[-1] + character.lower()] if keeps else [words[-1], ""]
    return [word for word in words if word]


scripts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=500, deadline=None)
@given(scripts, st.sampled_from([None, "en", "de", "fr", "tr", "hu"]))
def test_engines_see_exactly_these_words(text: str, language: str | None) -> None:
    words = analyze(text, language)
    assert as_engines_read(" ".join(words)) == words
    assert all(0 < len(word.encode()) <= MAX_TERM_BYTES for word in words)
    assert all(word == unicodedata.normalize("NFC", word) for word in words)


@settings(max_examples=300, deadline=None)
@given(scripts)
def test_a_text_finds_itself(text: str) -> None:
    assert set(query_terms(text, limit=10_000)) >= set(analyze(text))
    if analyze(text):
        assert set(query_terms(text)) & set(index_terms(None, None, text).split())


words_of_english = st.sampled_from([*ENGLISH.split(), "Café", "naïve", "snake_case", "3.11", "C++", "O'Brien", "X-ray"])


@settings(max_examples=200, deadline=None)
@given(st.lists(words_of_english, min_size=1, max_size=12))
def test_case_of_plain_words_accents_and_form_do_not_matter(words: list[str]) -> None:
    text = " ".join(words)
    assert analyze(unicodedata.normalize("NFD", text), "en") == analyze(text, "en")
    assert analyze(text.replace("é", "e").replace("ï", "i"), "en") == analyze(text, "en")
    assert analyze(text.upper(), "en") == analyze(text.lower(), "en") == analyze(text, "en")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20))
def test_folding_is_stable(word: str) -> None:
    once = fold(word)
    assert fold(once) == once
    assert once == once.lower()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*ENGLISH.split(), "1987.", "RKO,", "Smith's", '"(x)"', "A"]), max_size=20))
def test_words_do_not_depend_on_what_stands_around_them(words: list[str]) -> None:
    apart = [term for word in words for term in analyze(f"{word} zebra", "en")[:-1]]
    assert analyze(" ".join([*words, "zebra"]), "en") == [*apart, "zebra"]


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec="ascii", exclude_categories=["Z", "C"]), min_size=1, max_size=12))
def test_what_is_known_of_a_word_holds_before_a_comma(word: str) -> None:
    analyze(f"{word} zebra", "en")
    assert analyze(f"{word}, zebra , lion", "en") == analyze(f"{word}; zebra ; lion", "en")


@pytest.mark.parametrize(
    ("query", "joined", "of_verbs"),
    [
        ("How do I back up the graph?", {"backup": {"back"}}, ["backup"]),
        ("how to log in, then set up.", {"login": {"log"}, "setup": {"set"}}, ["login", "setup"]),
        ("Where is the data base?", {"databas": {"data", "base"}}, []),
        ("Wie ändere ich mein Pass Wort?", {"passwort": {"pass", "wort"}}, []),
        ("Who is at the mill?", {}, []),
        ("a e i o u", {}, []),
    ],
)
def test_two_words_that_are_written_together_elsewhere(
    query: str, joined: dict[str, set[str]], of_verbs: list[str]
) -> None:
    assert joined_terms(query) == joined
    assert list(joined_terms(query, verbs=True)) == of_verbs


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("notes/server-access.md", "serveraccessmd"),
        ("https://example.com/Über-uns.html?page=2#top", "uberunshtml"),
        ("C:\\notes\\Q3 report.pdf", "reportpdf"),
        ("archive.tar.gz", "archivetargz"),
        ("日本語.txt", "日本語txt"),
        ("copy(1)of.pdf", "ofpdf"),
    ],
)
def test_the_name_of_a_file_is_a_word_of_queries_with_it(path: str, word: str) -> None:
    assert file_word(path) == [word]
    assert word in query_terms(path.rpartition("/")[2].partition("?")[0])


@pytest.mark.parametrize("path", ["passage/12", "v1.2", ".gitignore", "report (1).pdf", "e.g", "U.S.", ""])
def test_what_has_no_ending_is_no_name_of_a_file(path: str) -> None:
    assert file_word(path) == []


def test_stems_that_are_too_short_for_any_query() -> None:
    assert short_stems("code wifi") == {"cod": {"code"}, "wif": {"wifi"}}
    assert "car" in short_stems("care")
    assert not {"cod", "car"} & set(query_terms("code care"))
    assert short_stems("what is the code of the gate") == {}
    assert short_stems("кот 猫") == {}
