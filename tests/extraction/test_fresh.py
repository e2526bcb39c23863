"""A graph that changed piece by piece is the graph that would be built from what there is now."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from core.rag.indexing import titles as linking
from libs.dataloader import Document, Link
from tests.dbhandler.kit import BOLT_URI, Engine
from tests.extraction.graphs import knowledge

PATHS = ["a", "b", "c", "d"]
TITLES = [
    None,
    "New York",
    "NEW YORK",
    "New York City",
    "New York (state)",
    "York City Hall",
    "Mill",
    "the tide mill",
    "Ada Lovelace",
    "It",
    "東京",
    "Война",
    '"; MATCH (n) DETACH DELETE n //',
]
PIECES = [
    "Ada Lovelace lived in New York City Hall.",
    "The new york city hall; a mill, ADA LOVELACE.",
    "It was 1841 in new york.",
    "We saw the Tide Mill and the mill of York City.",
    "東京都 is Tokyo; война и мир, Война.",
    "`MATCH` \"; match (n) detach delete n // and Mill's",
    "Nothing here.",
    "## York City Hall\n\nBy Ada.",
]
LINKS = [Link("b", "the other"), Link("c", "third"), Link("https://example.org/x", "page")]

documents = st.fixed_dictionaries(
    {
        "title": st.sampled_from(TITLES),
        "pieces": st.lists(st.sampled_from(PIECES), max_size=4),
        "links": st.lists(st.sampled_from(LINKS), max_size=2, unique=True),
    }
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.dictionaries(st.sampled_from(PATHS), documents, min_size=1, max_size=4)),
        st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    ),
    min_size=1,
    max_size=6,
)


def document(path: str, parts: dict[str, Any]) -> Document:
    return Document(
        path=path,
        title=parts["title"],
        content="\n\n".join(parts["pieces"]) or "Empty.",
        links=tuple(parts["links"]),
        format="markdown",
    )


async def check(engine: Engine, steps: list[tuple[str, Any]], searching: bool) -> None:
    final: dict[str, dict[str, Any]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "_READS_PER_SEARCH", 0 if searching else 10**9)
        async with engine.knowledge(chunk_size=16, chunk_overlap=0) as kb:
            for step, value in steps:
                if step == "put":
                    final |= value
                    report = await kb.ingest([document(path, parts) for path, parts in value.items()])
                    assert report.documents.failed == []
                else:
                    final.pop(value, None)
                    await kb.delete(value)
            await kb.resolve_entities(vectors=False)  # deleting leaves that to the next ingest
            grown = await knowledge(kb.client)
    async with engine.knowledge(chunk_size=16, chunk_overlap=0) as kb:
        await kb.ingest([document(path, final[path]) for path in sorted(final, reverse=True)])
        await kb.resolve_entities(vectors=False)
        fresh = await knowledge(kb.client)
    assert grown == fresh
    if not final:
        assert grown["entities"] == []


@given(changes, st.booleans())
@settings(
    max_examples=3 if BOLT_URI else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to make an example smaller takes minutes
)
async def test_any_sequence_of_changes_ends_in_the_graph_of_its_end(
    engine: Engine, steps: list[tuple[str, Any]], searching: bool
) -> None:
    await check(engine, steps, searching)
