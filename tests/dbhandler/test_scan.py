"""What the client computes itself where a server does not."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from core.rag.dbhandler.scan import Text

WORDS = st.text("ab", min_size=1, max_size=3)


@given(st.lists(WORDS, min_size=1, max_size=30), st.sets(WORDS, min_size=1, max_size=20))
def test_words_are_counted_where_they_stand_and_not_inside_of_others(text: list[str], words: set[str]) -> None:
    found = Text.of("x", " ".join(text), dict.fromkeys(words, 1.0))
    assert found.counts == {word: count for word, count in Counter(text).items() if word in words}
    assert found.length == len(text)
