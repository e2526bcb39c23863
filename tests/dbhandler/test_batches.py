"""Rows are cut into statements by number and by size, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.rag.dbhandler.batches import MAX_BYTES, MAX_ROWS, batches, size_of
from core.rag.dbhandler.creating import in_parts

rows = st.lists(
    st.fixed_dictionaries({"id": st.text(max_size=5), "content": st.integers(0, 60).map("x".__mul__)}), max_size=40
)


@given(rows, st.integers(1, 10), st.integers(1, 100))
def test_every_row_is_in_one_batch_in_order(given_rows: list[dict[str, str]], most: int, most_bytes: int) -> None:
    parts = list(batches(given_rows, most, most_bytes))
    assert [row for part in parts for row in part] == given_rows
    for part in parts:
        assert 1 <= len(part) <= most
        assert len(part) == 1 or sum(map(size_of, part)) <= most_bytes


def test_wide_vectors_and_long_texts_fit_a_message() -> None:
    wide: list[dict[str, Any]] = [{"id": str(i), "embedding": (0.5,) * 3072} for i in range(1000)]
    parts = list(batches(wide))
    assert max(map(len, parts)) < MAX_ROWS
    assert all(sum(map(size_of, part)) <= MAX_BYTES for part in parts)
    long = [{"id": "a", "content": "x" * 10_000_000}, {"id": "b", "content": "y"}, {"id": "c", "content": "z"}]
    assert [[row["id"] for row in part] for part in batches(long)] == [["a"], ["b", "c"]]


def test_rows_to_create_are_made_as_statements_take_them() -> None:
    """A table has a hundred thousand of them, and they are only needed as text."""
    made: list[int] = []

    def wanted() -> Iterator[dict[str, Any]]:
        for number in range(100 * MAX_ROWS):
            made.append(number)
            yield {"id": str(number), "name" if number % 3 else "title": "x"}

    ids: list[str] = []
    ahead = 0
    for part in in_parts(wanted(), {}):
        ids += part.parameters["lines"].split(part.parameters["line"])
        ahead = max(ahead, len(made) - len(ids))

    assert sorted(ids, key=int) == [str(number) for number in range(100 * MAX_ROWS)]
    assert ahead < 20 * MAX_ROWS
