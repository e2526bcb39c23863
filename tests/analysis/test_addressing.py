"""Names by which people address each other are told from those that say who somebody is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.analysis.addressing import names_addressed, without_names

PEOPLE = frozenset(["Ida Berg", "Olaf"])


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Thanks, Ida!", ["Ida"]),
        ("Hey Olaf! How is the mill?", ["Olaf"]),
        ("Olaf, the wheel is broken.", ["Olaf"]),
        ("What do you think, Ida?", ["Ida"]),
        ("Good morning Ida, good morning Olaf.", ["Ida", "Olaf"]),
        ("Danke, Ida. Olaf, komm.", ["Ida", "Olaf"]),
        ("Ida Berg mends wheels.", []),
        ("With us today is the head miller, Ida Berg.", []),
        ("This is Olaf.", []),
        ("I asked Ida, and Olaf did, too.", []),
        ("Olaf's wheel is broken.", []),
        ("Thanks, Wim!", []),
    ],
)
def test_who_is_addressed(said: str, names: list[str]) -> None:
    assert names_addressed(said, PEOPLE) == names
    assert names_addressed(said, frozenset()) == []
    assert without_names(said, frozenset()) == said


@given(st.text("Ida Olaf,!?. Hey", max_size=40))
def test_what_is_left_addresses_nobody_by_what_was_left_out(said: str) -> None:
    names = names_addressed(said, PEOPLE)
    left = without_names(said, PEOPLE)
    assert len(left) == len(said) - sum(map(len, names))
    assert (left == said) == (not names)
