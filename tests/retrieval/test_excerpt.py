"""Excerpts show the part that matches, with the words marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.rag.retrieval.excerpt import excerpt

FILLER = "Nothing of interest is said here, and it takes a while. " * 20


def marked(text: str, query: str, width: int = 300) -> list[str]:
    found = excerpt(text, query, width)
    return [found.text[begin:end] for begin, end in found.marks]


def test_the_part_with_most_of_the_words_is_shown() -> None:
    text = f"The mill stands. {FILLER} Two pairs of burr stones came by ship from France in 1841. {FILLER}"
    found = excerpt(text, "burr stones from France for the mill", 120)
    assert "burr stones came by ship from France" in found.text
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= 122
    assert marked(text, "burr stones from France for the mill", 120) == ["burr", "stones", "France"]


def test_words_match_in_any_form_and_accents_do_not_matter() -> None:
    assert marked("The mills were turning. He turned.", "mill turns") == ["mills", "turning", "turned"]
    assert marked("La Ferté-sous-Jouarre", "ferte") == ["Ferté"]
    assert marked("Die Mühlen drehen sich und die Räder auch, das ist nicht zu hören.", "mühle rad") == [
        "Mühlen",
        "Räder",
    ]


def test_scripts_without_spaces() -> None:
    assert marked("潮汐磨坊位于海湾的尽头", "磨坊") == ["磨坊"]
    assert "".join(marked("Это мельница на берегу", "мельницы")) == "мельница"


def test_function_words_are_not_marked_unless_there_is_nothing_else() -> None:
    assert marked("The mill of the bay.", "the mill") == ["mill"]
    assert "The" in marked("The Who played.", "the who")


def test_without_a_match_it_is_the_beginning() -> None:
    found = excerpt(FILLER, "zebra", 100)
    assert found.marks == ()
    assert FILLER.startswith(found.text.removesuffix("…").rstrip())


@given(st.text(max_size=400), st.text(max_size=60), st.integers(1, 200))
def test_marks_are_ordered_and_inside_of_one_line(text: str, query: str, width: int) -> None:
    found = excerpt(text, query, width)
    assert "\n" not in found.text
    assert len(found.text) <= max(width, 1) + 2
    end = 0
    for begin, stop in found.marks:
        assert end <= begin < stop <= len(found.text)
        end = stop
    assert found.text.strip("…") in " ".join(text.split()).join("  ") or "…" in text
