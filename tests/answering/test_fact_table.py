"""Relations in columns: each search gives what looking at every relation by itself gives."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.rag.answering.graph_index.fact_columns import FactColumns, Vocabulary
from core.rag.answering.graph_index.fact_table import FactTable
from core.rag.answering.graph_index.texts import MOST_PLACES
from core.rag.answering.graph_index.trigrams import TrigramIndex
from core.rag.answering.types import FoundFact
from core.rag.extraction.words import folded, normalized_words

IDS = ("a", "b", "c")
NAMES = ("Alice", "Bob", "")
TYPES = ("works_at", "knows", "")
SAID = ("", "Alice works at the mill.", "They know each other from the mill", "Ärger")


def row(source: str, target: str, **more: Any) -> dict[str, Any]:
    return (
        {"source_id": source, "target_id": target, "type": "knows", "fact": None, "weight": None}
        | {"chunk_ids": None, "microseconds": None}
        | more
    )


def table(rows: list[dict[str, Any]]) -> FactTable:
    vocabulary = Vocabulary()
    vocabulary.add_entities(zip(IDS, NAMES, strict=True))
    columns = FactColumns(vocabulary)
    for start in range(0, len(rows), 2):
        columns.add(rows[start : start + 2])
    return FactTable(columns)


relations = st.lists(
    st.builds(
        row,
        st.sampled_from(IDS),
        st.sampled_from(IDS),
        type=st.sampled_from(TYPES),
        fact=st.sampled_from(SAID) | st.none(),
        weight=st.floats(0, 9) | st.none(),
        chunk_ids=st.lists(st.sampled_from("xyz")) | st.none(),
    ),
    max_size=12,
)


@given(relations, st.lists(st.sampled_from(["mill", "know", "works at", "alise", "arger", "w"]), max_size=3))
def test_searches_give_what_each_relation_by_itself_does(rows: list[dict[str, Any]], parts: list[str]) -> None:
    facts = table(rows)
    texts = [f"{(one['type'] or 'RELATED').replace('_', ' ')} {one['fact'] or ''}" for one in rows]
    likeness = [max((TrigramIndex([text]).similarities(part)[0] for part in parts), default=0.0) for text in texts]
    best = sorted((place for place, score in enumerate(likeness) if score >= 0.1), key=lambda i: (-likeness[i], i))
    similar = facts.similar(parts, 5, 0.1)
    assert list(similar) == best[:5]
    assert list(similar.values()) == [likeness[place] for place in best[:5]]
    for part in parts:
        containing = [place for place, text in enumerate(texts) if part in folded(" ".join(normalized_words(text)))]
        assert facts.containing(part) == containing
    assert len(facts) == len(rows)
    for place, one in enumerate(rows):
        source, target = IDS.index(one["source_id"]), IDS.index(one["target_id"])
        weight = 1.0 if one["weight"] is None else one["weight"]
        assert facts.weight(place) == weight
        assert facts.fact(place, "pattern", 0.5) == FoundFact(
            IDS[source], NAMES[source], IDS[target], NAMES[target], one["type"] or "RELATED", one["fact"] or "",
            weight, tuple(one["chunk_ids"] or ()), similarity=0.5, method="pattern",
        )  # fmt: skip


def test_a_relation_of_an_entity_that_came_later_is_left_out() -> None:
    facts = table([row("a", "new"), row("a", "b", weight=2), row("new", "b")])
    assert [facts.fact(place, "").target for place in range(len(facts))] == ["Bob"]


def test_what_very_many_relations_say_says_nothing() -> None:
    facts = table([row("a", "b", fact="the mill" if place % 2 else None) for place in range(2 * MOST_PLACES + 10)])
    assert facts.containing("mill") == list(range(1, 2 * MOST_PLACES, 2))
    assert facts.containing("") == []


def test_changes_that_are_prepared_at_the_same_time_do_not_mix() -> None:
    before = table([row("a", "b")])

    def renewed(number: int) -> list[str]:
        said = [f"{number} {word}" for word in range(500)]
        after = before.renewed([row("b", "c", type=f"t{at:03}", fact=fact) for at, fact in enumerate(said)], ())
        return [after.fact(place, "").fact for place in range(1, len(after))]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for number, said in enumerate(pool.map(renewed, range(40))):
                assert said == [f"{number} {word}" for word in range(500)]
    finally:
        sys.setswitchinterval(interval)
