"""What a passage is about where no title says so."""

from __future__ import annotations

import pytest

from core.rag.retrieval.graph.subjects import place_name, section, subjects_among


@pytest.mark.parametrize(
    ("heading", "opening", "about"),
    [
        ("Ada Lovelace", "", ["ada lovelace"]),
        ("People > Ada Lovelace", "", ["ada lovelace"]),
        ("Ada Lovelace > Life", "Ada Lovelace was", []),
        ("Harvest of Glass (film)", "", ["harvest of glass", "harvest of glass film"]),
        ("", "Ada Lovelace was born in London.", ["ada lovelace"]),
        ("", "The Hague is a city.", ["hague"]),
        ("", "In London Ada Lovelace was born.", []),
        ("", "Adam was the first.", []),
        ("", "", []),
    ],
)
def test_subjects(heading: str, opening: str, about: list[str]) -> None:
    names = {"ada lovelace", "ada", "london", "hague", "harvest of glass", "harvest of glass film"}
    assert sorted(subjects_among(names, heading, opening)) == about


def test_the_name_of_a_place_says_what_is_there_once() -> None:
    assert place_name("Guide", "Install > Linux") == "Guide > Install > Linux"
    assert place_name("Guide", "guide") == place_name("Guide", "") == "Guide"
    assert section("d1", "") == "d1"
    assert section("d1", "Install") != section("d1", "Use")
