"""Whatever method of one namespace is called with ids and names of another: nothing there is seen, and nothing changes.

All public methods are called, so that a new one is, too; those whose arguments are not ids or names are in ``APART``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Iterator
from itertools import batched
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler import MemGraphClient
from core.rag.errors import MGRagError
from libs.dataloader import Document, Link
from tests.embedders import HashEmbedder
from tests.graphs import snapshot

SECRET = "zqxsecret"

#: Those that name other namespaces or run statements, as they say; that open, close and copy; and those whose arguments
#: come from other methods.
APART = """
    add_triples append_interactions ask_stream attach_concept_vectors attach_vectors backup being_imported check_ids
    chunks_of_vectors close connect degree degrees delete_everything delete_namespace documents_by_chunk edge_page
    edges_between ensure_sources everything export export_graph extract_again has_edges hop import_ import_graph
    in_namespace ingest link_concepts link_entities list_entities make_way message_indexes namespaces neighbour_page
    process_chunks put_concepts query read read_for_ids read_for_pairs read_lists read_section read_together
    record_retrieved removing_texts replaced_texts rewrite_messages set_fingerprints set_linked strongest
    write_chunk_facts write_documents write_inferred_links write_sameness write_section
"""

OPTIONAL = {"conversation_id", "memory_id", "other", "prefix", "references", "session_id", "subject", "user_id"}


async def fill(kb: KnowledgeBase, secret: str) -> None:
    """The same names in every namespace; the texts differ by the secret."""
    await kb.ingest(
        [
            Document(
                path=f"note/{number}",
                content=f"# Note {number}\n\nHarrow Mill {secret} was built by Ada Lane.\n\nBob Reed met Zeta Corp.",
                format="markdown",
                links=(Link(f"note/{(number + 1) % 3}", "next"), Link("https://example.org/", "web")),
            )
            for number in range(3)
        ]
    )
    for number in range(6):
        await kb.remember("s1", "user", f"Message {number} {secret} about Harrow Mill", tags=["t"], user_id="u1")
    await kb.compact("s1", keep=2)
    await kb.link("Ada Lane", "Harrow Mill", "owns", fact=f"bought it {secret}", create=True, valid_from="2018")
    await kb.add_triples([("Ada L.", "knows", "Zeta Corp")])
    await kb.merge_entities("Ada L.", "Ada Lane")
    await kb.split_entity("Bob Reed", "Zeta Corp")
    await kb.insert_many("boats", [{"name": f"Boat {n}", "owner": "Ada Lane", "note": secret} for n in range(2)])
    await kb.create_or_get_concept("Milling", f"grinding {secret}")
    await kb.create_or_get_topic("Water", f"wet {secret}")
    await kb.link_related_concepts("Milling", "Grinding")
    await kb.link_document_to_topic("note/0", "Water")
    await kb.client.create_or_get_user("u1", f"Ada {secret}")
    await kb.client.track_user_viewed_document("u1", "note/0")
    await kb.client.create_tool("tool", f"does {secret}")
    await kb.client.create_symbol("note/0", "turn", "function", f"turn({secret})", 3)
    await kb.client.create_conversation(f"Title {secret}", "u1", "c1")
    await kb.client.add_message("c1", f"Hello {secret}", "user", references=["note/0"])
    await kb.ask("Who built Harrow Mill?", conversation_id="c1", user_id="u1")
    hit = (await kb.search("mill", k=1, mode="keyword"))[0]
    await kb.feedback(hit.chunk_id, 1, query=f"mill {secret}", user_id="u1")


@pytest.fixture
async def tenants() -> AsyncIterator[tuple[KnowledgeBase, KnowledgeBase]]:
    async with KnowledgeBase.open(
        "embedded::memory:", namespace="theirs", embedder=HashEmbedder(16), chunk_size=40, chunk_overlap=8
    ) as theirs:
        ours = theirs.in_namespace("ours")
        await fill(theirs, SECRET)
        await fill(ours, "")
        yield theirs, ours


async def given(theirs: KnowledgeBase, ours: KnowledgeBase) -> tuple[list[str], list[str]]:
    """All ids of the other namespace, and a few of each kind, with names that both know."""
    own = {line.get("id") for line in map(json.loads, await snapshot(ours.client))}
    every: set[str] = set()
    some: dict[str, list[str]] = {}
    for line in map(json.loads, await snapshot(theirs.client)):
        every |= {line["props"][key] for key in ("id", "key") if key in line["props"]}
        if "node" in line and line["id"] not in own:
            some.setdefault(line["node"], []).append(line["id"])
    some.setdefault("edge", sorted(every - own)[:1])
    return sorted(every - own), [*(each for ids in some.values() for each in ids[:1]), "note/0", "Ada Lane", "s1", "u1"]


def calls(method: Any, some: list[str], every: list[str], store: object) -> Iterator[dict[str, Any]]:
    """Arguments for a method: each of some ids and names for all that is text; all ids where there may be several.

    What may be left out is given with every third of them.
    """
    parameters = [each for each in inspect.signature(method).parameters.values() if each.kind != each.VAR_KEYWORD]
    must = [each for each in parameters if each.default is each.empty]
    more = [each for each in parameters if each.default is not each.empty and each.name in OPTIONAL]
    given: set[str] = set()
    for turn, one in enumerate(some):
        for chosen in ([], *([each] for each in more[turn % 3 :: 3])):
            asked = {each.name: str(each.annotation) for each in [*must, *chosen]}
            arguments = {name: _value(method, annotation, one, every, store) for name, annotation in asked.items()}
            if (said := repr(arguments)) not in given:
                given.add(said)
                yield arguments


def _value(method: Any, annotation: str, one: str, every: list[str], store: object) -> Any:
    match annotation.removesuffix(" | None").partition("[")[0]:
        case "str" | "str | Mapping":
            return one
        case "VectorStoreInfo":
            return store
        case "EmbeddingService":
            return HashEmbedder(16)
        case "int" | "float":
            return 3
        case "Callable":
            return lambda _: "rewritten"
        case "Sequence" | "Iterable" | "Collection" if "float" in annotation:
            return [0.25] * 16
        case "Sequence" | "Iterable" if "tuple[str, str]" in annotation:
            return [(a, b) for a in every[:60:3] for b in every[:60:3] if a != b]
        case "Sequence" | "Iterable" | "Collection" if "Mapping" in annotation:
            return [{"name": one, "role": "user", "content": f"I know {one}", "user_id": None}]
        case "Sequence" | "Iterable" | "Collection" | "list":
            return every
        case "Mapping" if "Any" in annotation:
            return {"content": "changed"}
        case "Mapping":
            values = {"Sequence[float]": [0.25] * 16, "float": 1.0, "str | None": None}
            return dict.fromkeys(every, next((value for kind, value in values.items() if kind in annotation), "why"))
    raise AssertionError(f"{method.__qualname__}: say here what to give for {annotation}, or name it in APART")


def methods(kind: type) -> list[str]:
    named = [name for name, _ in inspect.getmembers(kind, inspect.iscoroutinefunction) if not name.startswith("_")]
    return [name for name in named if name not in APART.split()]


def test_what_is_called_apart_is_there() -> None:
    assert all(hasattr(KnowledgeBase, name) or hasattr(MemGraphClient, name) for name in APART.split())


@pytest.mark.parametrize("kind", [KnowledgeBase, MemGraphClient])
async def test_no_method_knows_of_another_namespace(kind: type, tenants: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    theirs, ours = tenants
    every, some = await given(theirs, ours)
    before = await snapshot(theirs.client)
    assert SECRET in str(before) and SECRET not in str(await snapshot(ours.client))
    store = (await ours.client.vector_stores())[0]
    answered = 0
    for several in batched(methods(kind), 8):
        for name in several:
            answered += await call(ours if kind is KnowledgeBase else ours.client, name, some, every, store)
        assert await snapshot(theirs.client) == before, several
    assert answered > 500


async def call(target: Any, name: str, some: list[str], every: list[str], store: object) -> int:
    """Call a method with all that is given, and return how often it had an answer, which never tells the secret."""
    answered = 0
    for arguments in calls(getattr(target, name), some, every, store):
        try:
            said = await getattr(target, name)(**arguments)
            answered += 1
        except MGRagError as error:
            said = error
        told = f"{said!r} {said.to_dict()}" if hasattr(said, "to_dict") else repr(said)
        assert SECRET not in told, (name, arguments)
    return answered
