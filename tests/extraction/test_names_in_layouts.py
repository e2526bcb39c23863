"""Names in laws, recipes, minutes and licences: what numbers, measures, pictures and capitals around them do."""

from __future__ import annotations

import pytest

from core.rag.extraction.mentions import titles_of
from core.rag.extraction.names import names_in, type_of


def spelt(text: str, heading: str = "") -> dict[str, int]:
    return {found.text: found.count for found in names_in(text, heading).values()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(1) Bring the water. (2) Add salt.\na) Stir it.\n3) Pour it over Basmati.\n(iv) Serve it.", {"Basmati"}),
        ("(1) Der Urheber hat das Recht. (2) Die Vorschriften gelten.\n\na) Das Werk ist frei für alle.", set()),
        ("- ⏲️ Prep time: 10 min\n- 🍽️ Servings: 4\n✅ Équipe du produit", set()),
        ("He went from (a) Paris to (b) London by train.", {"Paris", "London"}),
        ("The way is Rome → Paris.", {"Rome", "Paris"}),
    ],
)
def test_a_word_behind_the_number_of_an_item_or_a_picture_begins_a_sentence(text: str, expected: set[str]) -> None:
    assert set(spelt(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She left Johnson & Johnson for Marks & Spencer.", {"Johnson & Johnson", "Marks & Spencer"}),
        ("They wrote to GitHub Trust & Safety about it.", {"GitHub Trust & Safety"}),
        ("We saw Ada Lane & Ben Hale there.", {"Ada Lane", "Ben Hale"}),
        ("Soap is made by Procter and Gamble, that is Procter & Gamble in Ohio.", {"Procter & Gamble", "Ohio"}),
        ("The stars were named by Neil deGrasse Tyson in May.", {"Neil deGrasse Tyson"}),
        ("Then Rod & Isaac spoke. They say Isaac agreed.", {"Rod", "Isaac"}),
        ("It is for the TSC & Build people.", {"TSC", "Build"}),
    ],
)
def test_an_ampersand_joins_a_name_or_stands_between_two(text: str, expected: set[str]) -> None:
    assert set(spelt(text)) == expected


def test_a_german_name_goes_on_behind_a_word_without_its_end() -> None:
    text = (
        "Das gilt für das Deutsche Patent- und Markenamt und beim Deutschen Patent- und Markenamt Angaben zu machen "
        "ist nicht leicht. Es ist an Sonn- und Feiertagen oder im Bild- und Tonarchiv, wie die Bild- oder Tonträger."
    )
    assert spelt(text) == {"Deutsche Patent- und Markenamt": 1, "Deutschen Patent- und Markenamt": 1}


def test_sentences_in_capitals_name_nothing_but_names_in_capitals_do() -> None:
    text = (
        'THE SOFTWARE IS PROVIDED "AS-IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED. IN NO EVENT SHALL THE '
        "AUTHORS BE LIABLE.\n\nHe said that NASA, ESA, JAXA, CNES and ISRO are there, and wrote to Ada Lane and IBM.\n"
        "Это правило ВСЕХ."
    )
    assert {"NASA", "ESA", "JAXA", "CNES", "ISRO", "Ada Lane", "IBM"} <= set(spelt(text))
    assert not [
        name for name in spelt(text) if name.isupper() and set(name.split()) & {"WARRANTY", "IMPLIED", "LIABLE"}
    ]


def test_an_acronym_in_the_plural_is_the_acronym() -> None:
    assert spelt("We have two APIs. That API is for the PRs, not for HTTPs.") == {"API": 2, "PR": 1, "HTTPs": 1}


def test_the_unit_of_an_amount_is_no_part_of_a_name() -> None:
    assert set(spelt("Add it with 1 Tbsp Olive Oil, 2½ Cups Rye Flour and 1/2 Tsp. It won the 1998 Cup Final.")) == {
        *("Olive Oil", "Rye Flour"),
        *("Cup Final", "1998"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Das steht nach Absatz 1 Satz 2 Nummer 3 Buchstabe a und die Absätze 1 und 2 in der Liste.",
        "As said in Paragraph 3, Clause 12 and Subsection 4.",
        "Abweichend von Absatz 1 gilt es nach dem Zweiten Abschnitt und nach Teil 2 der Anlage 3 für alle.",
    ],
)
def test_parts_of_laws_and_contracts_name_nothing(text: str) -> None:
    assert spelt(text) == {}


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("§ 32", set()),
        ("§ 19b", set()),
        ("3.", set()),
        ("Chapter 10", set()),
        ("Part IV", set()),
        ("IV", set()),
        ("V.", set()),
        ("Long description", set()),
        ("VI Editor", {"VI Editor"}),
        ("Zweiter Abschnitt", set()),
        ("Ingredients", set()),
        ("Action items", set()),
        ("§ 24 Rechenschaftsbericht", {"§ 24 Rechenschaftsbericht"}),
        ("Section 508", {"Section 508"}),
        ("1984", {"1984"}),
        ("12 Monkeys", {"12 Monkeys"}),
        ("✅ Équipe", {"Équipe"}),
        ("Les bonnes pratiques 👌", {"Les bonnes pratiques"}),
        ("🎉", {"🎉"}),
    ],
)
def test_headings_that_only_count_name_nothing_and_pictures_are_no_part_of_them(
    heading: str, expected: set[str]
) -> None:
    assert set(spelt("x", heading)) == expected


def test_a_picture_is_no_part_of_the_name_that_a_title_gives() -> None:
    assert [(title.name, title.text) for title in titles_of("📣 Tchap", "a.md")] == [("tchap", "Tchap")]


def test_a_heading_in_japanese_with_a_name_of_code_in_it_is_no_code() -> None:
    assert type_of("search_case関数を実装する") == "term"
    assert type_of("search_case") == "code"


def test_the_number_of_an_article_or_page_is_no_year() -> None:
    text = (
        "Voir les articles 1445, 1447 et 1450 et l'article 1832-2 du code de 1804, l'Article 515-3. Nach den §§ 1356 "
        "und 1360 BGB von 1896, S. 12. In 1998, page 1204 said so."
    )
    assert {name for name in spelt(text) if name.isdecimal()} == {"1804", "1896", "1998"}
    assert "Article 515-3" in spelt(text)


@pytest.mark.parametrize(
    "text",
    [
        "| order | customer |\n|---|---|\n| 1981 | Ann Lee |\n|1982| Bob Stone |\n| Bob Stone | 1983 |",
        "order_id: 1981\ncustomer: Ann Lee\norderId: 1982\nzip: 1983\n",
    ],
)
def test_a_number_alone_in_a_cell_or_in_a_field_for_numbers_is_no_year(text: str) -> None:
    assert {name for name in spelt(text) if name.isdecimal()} == set()


def test_a_year_among_the_words_of_a_cell_or_in_a_field_for_years_is_one() -> None:
    text = "| Rome fell in 1527 | 1981 |\n\nfounded: 1843\nyear: 1844\n\nThe number: 1845 it was.\nPaid: 1846\n"
    assert {name for name in spelt(text) if name.isdecimal()} == {"1527", "1843", "1844", "1845", "1846"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She left Rome 20 years ago, and they saw London 3 times.", {"Rome", "London"}),
        (
            "They beat Real Madrid 2–1 and Arsenal 3-0 in their Boeing 747-400.",
            {"Real Madrid", "Arsenal", "Boeing 747"},
        ),
        ("Around 200 people came. Nearly 30 left. First 2 days. Boil 2 cups of it. Wait 30 minutes.", set()),
        ("It was with Apollo 11 and Windows 10.", {"Apollo 11", "Windows 10"}),
        ("They met on Nov 3-5 and on 28-Aug-2007 with Jan Novak.", {"Jan Novak"}),
    ],
)
def test_what_a_number_counts_is_no_part_of_a_name(text: str, expected: set[str]) -> None:
    assert set(spelt(text)) == expected


def test_a_number_with_a_hyphen_begins_a_name() -> None:
    text = "It binds to the 5-HT2A receptor, as 4-HO-DMT does. He was in a 7-Eleven."
    assert set(spelt(text)) == {"5-HT2A", "4-HO-DMT", "7-Eleven"}
    assert set(names_in(text)) == {"5 ht2a", "4 ho dmt", "7 eleven"}


def test_components_and_where_they_come_from_are_no_names() -> None:
    text = (
        "import {EntityLink} from '@components/wiki';\n\n"
        'They say that <EntityLink id="E22" name="anthropic">Anthropic</EntityLink> and <b>Ada</b> came; '
        "AT&amp;T did not."
    )
    assert set(spelt(text)) == {"Anthropic", "Ada", "AT&T"}


def test_how_a_word_in_kanji_is_read_is_no_name() -> None:
    assert set(spelt("王子《おうじ》は《三国志演義》と『銀河鉄道の夜』を読《よ》む。")) == {
        "三国志演義",
        "銀河鉄道の夜",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'They were like "Oh, this is it." And I said "Well, Ada Lane does it better than we do."',
            {"Ada Lane"},
        ),
        ("He said, “Look here, that is not mine,” and “Okay, so be it.”", set()),
        ("He cried, “Holmes, where are you?” But Holmes was not there.", {"Holmes"}),
        ("They met at the “Northumberland Hotel” and read the “Times” there.", {"Northumberland Hotel", "Times"}),
        ("**Ann:** \\[01:12:10.29\\] Well, that is it. [laughs] Okay, we go to Whitby.", {"Whitby"}),
        ("So we go; You're right. They say -- Don’t you ask -- it is in Whitby.", {"Whitby"}),
        (":::tip Note\nThis is in Whitby.\n:::\n\n::: warning\nThat is not.\n:::", {"Whitby"}),
    ],
)
def test_what_is_said_begins_a_sentence(text: str, expected: set[str]) -> None:
    assert {found.text for found in names_in(text).values()} == expected


def test_the_number_of_an_issue_is_no_year() -> None:
    assert list(names_in("Fixed in [#1614](https://tracker.test/1614), and #1700, which is of 1999.")) == ["1999"]


def test_a_link_to_a_part_of_a_note_names_the_note() -> None:
    text = "See [[Quiet hours#Sundays]], [[Quiet hours#Rules|the rules]] and [[C#]]."
    assert {name: found.count for name, found in names_in(text).items()} == {"quiet hours": 2, "c#": 1}
