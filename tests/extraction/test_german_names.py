"""German nouns that stand before a name: who or what is named, what is counted, and when it was."""

from __future__ import annotations

import pytest

from core.rag.extraction.names import names_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dort traf sich die Innenministerin Anna Schmidt mit dem SPÖ-Chef Bundeskanzler Karl Huber und dem "
            "Abgeordneten Jan Ploog; auch mit Trainer Jürgen Albers und der Nachfolgerin von Vorgänger Ole Brandt.",
            {"Anna Schmidt", "Karl Huber", "Jan Ploog", "Jürgen Albers", "Ole Brandt"},
        ),
        ("Das hat Außenminister Zaorálek in der Stadt Dhamar gesagt.", {"Zaorálek", "Dhamar"}),
        (
            "Sie sah den Film Monuments Men, las die Tageszeitung Der Bund, und wählte die Regierungspartei AKP.",
            {"Monuments Men", "Der Bund", "AKP"},
        ),
        ("Er sagte der Kapitän Mittwoch ab, als der Trainer Ende März kam.", set()),
        ("Es kostet 3 Millionen Euro, seit Anfang Oktober, wie 13 Prozent Arbeiter sagen.", set()),
        ("Für 20 Millionen Euro ging im Juni Real Madrid an die Milliardäre aus Wien.", {"Real Madrid"}),
    ],
)
def test_a_german_noun_before_a_name_is_no_part_of_it(text: str, expected: set[str]) -> None:
    assert {found.text for found in names_in(text).values()} == expected


def test_nouns_that_are_a_part_of_german_names_stay() -> None:
    text = (
        "Was König Ludwig und Papst Franziskus mit der Universität Wien, der Premier League, Roman Polanski, Hermann "
        "Maier und der Stadt am See zu tun haben, weiß die Deutsche Bank nicht."
    )
    assert {found.text for found in names_in(text).values()} == {
        "König Ludwig",
        "Papst Franziskus",
        "Universität Wien",
        "Premier League",
        "Roman Polanski",
        "Hermann Maier",
        "Deutsche Bank",
    }


def test_a_family_name_may_begin_with_a_capital_van() -> None:
    text = "Das hat der Kandidat Alexander Van der Bellen gesagt. Van der Bellen ist nicht von der Universität."
    assert {name: found.count for name, found in names_in(text).items()} == {
        "alexander van der bellen": 1,
        "van der bellen": 1,
    }


def test_an_article_behind_the_place_of_a_message_is_no_part_of_a_name() -> None:
    assert list(names_in("Wien – Die Wiener Börse hat heute geöffnet, und in Linz ist sie es nicht.")) == [
        "wiener börse"
    ]
