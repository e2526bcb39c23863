"""Verbs that are one word, of which a part stands at the end of a question, are looked for as one word, too."""

from __future__ import annotations

import pytest

from core.rag.analysis import analyze, joined_terms
from core.rag.analysis.filler_phrases import without_asking
from tests.growth import check_growth


@pytest.mark.parametrize(
    ("question", "verb"),
    [
        ("Wie setze ich das Passwort zurück?", "zurücksetzen"),
        ("Wie richte ich die Mühle ein?", "einrichten"),
        ("Wie schaltet man den Dienst aus, wenn er hängt?", "ausschalten"),
        ("Hoe zet ik mijn wachtwoord terug?", "terugzetten"),
    ],
)
def test_a_separated_verb_is_one_word(question: str, verb: str) -> None:
    language = "dutch" if question.startswith("Hoe") else "german"
    assert analyze(verb, language)[0] in joined_terms(question, verbs=True)


@pytest.mark.parametrize(
    "question", ["Wie alt ist die Mühle?", "Wer zog nach Cork?", "Worauf wartet die Mühle?", "How do I set it an?"]
)
def test_other_questions_have_none(question: str) -> None:
    assert joined_terms(question, verbs=True) == {}


def test_they_are_found_in_linear_time() -> None:
    check_growth(lambda size: joined_terms("und die der das " + "setze ich " * size, "german", verbs=True), 500)


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Hallo zusammen, wo ist die Mühle?", ", wo ist die Mühle?"),
        ("¡Hola! ¿Cómo hago para abrir la puerta? Gracias", "! ¿ abrir la puerta?"),
        ("Bonjour, comment est-ce que je peux ouvrir la porte ?", ", ouvrir la porte ?"),
        ("请问一下，有没有办法打开门？", "， 打开门？"),
        ("Hola mundo en Python", "Hola mundo en Python"),
    ],
)
def test_greetings_and_what_only_asks_are_not_searched_for(question: str, rest: str) -> None:
    assert " ".join(without_asking(question).split()) == rest
