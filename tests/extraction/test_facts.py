"""Facts by a language model, and facts that callers state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.knowledge.facts import Triple
from core.rag.errors import ConfigurationError, InvalidInputError, LanguageModelAuthError, LanguageModelError
from core.rag.extraction.facts import ChunkFacts
from core.rag.indexing.report import IngestReport
from core.rag.llm import Message
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.extraction.graphs import knowledge
from tests.extraction.models import SayingModel

MILL = "Margaret Harrow owns the tide mill. She paid Silas Quint."
SLUICE = "The sluice was built by Silas Quint, says Margaret Harrow."


def say(message: str) -> dict[str, Any] | str | Exception:
    if "owns" in message:
        return {
            "entities": [{"name": "Margaret Harrow", "type": "Person"}, {"name": "tide mill", "type": "building"}],
            "facts": [
                {"subject": "Margaret Harrow", "relation": "owns", "object": "Tide Mill", "sentence": "She owns it."},
                {"subject": "Margaret Harrow", "relation": "paid", "object": "Silas Quint", "sentence": "He was paid."},
                {"subject": "Margaret Harrow", "relation": "is", "object": "margaret harrow", "sentence": "No."},
            ],
        }
    if "sluice" in message:
        return {
            "entities": [{"name": "Silas Quint", "type": "person"}],
            "facts": [
                {"subject": "Margaret Harrow", "relation": "paid", "object": "Silas Quint", "sentence": "Again."},
            ],
        }
    return "no JSON at all"


def doc(path: str, content: str) -> Document:
    return Document(path=path, content=content)


async def facts(kb: KnowledgeBase) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = await kb.client.read(
        "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace RETURN a.name AS a, r.type AS type, "
        "b.name AS b, r.fact AS fact, r.weight AS weight, r.chunk_ids AS chunks, r.origin AS origin"
    )
    return {(row["a"], row["type"], row["b"]): row for row in rows}


async def test_a_model_finds_typed_entities_and_facts_with_their_chunks(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL), doc("b", SLUICE)])
    model = SayingModel(say)

    report = await kb.extract_facts(model)

    assert (report.chunks, report.failed) == (2, {})
    found = await facts(kb)
    assert found.keys() == {
        ("Margaret Harrow", "owns", "tide mill"),
        ("Margaret Harrow", "paid", "Silas Quint"),
    }
    chunks = {row["chunk_id"] for path in "ab" for row in await kb.client.get_document_chunks(path)}
    paid = found["Margaret Harrow", "paid", "Silas Quint"]
    assert (set(paid["chunks"]), paid["weight"], paid["origin"]) == (chunks, 2.0, "llm")
    rows = await kb.client.read("MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.name AS n, e.type AS t")
    types = {row["n"]: row["t"] for row in rows}
    assert (types["Margaret Harrow"], types["Silas Quint"], types["tide mill"]) == ("person", "person", "building")

    assert (await kb.extract_facts(model)).chunks == 0, "what was read is not read again"
    assert len(model.asked) == 2


async def test_facts_go_with_their_documents_and_stay_with_chunks_that_stay(kb: KnowledgeBase, engine: Engine) -> None:
    model = SayingModel(say)
    await kb.ingest([doc("a", MILL), doc("b", SLUICE)])
    await kb.extract_facts(model)
    await kb.ingest([Document(path="b", content=SLUICE, title="Tide mill")])
    await kb.delete("a")
    await kb.ingest([doc("c", "Silas Quint met Margaret Harrow at the tide mill.")])
    assert (await facts(kb)).keys() == {("Margaret Harrow", "paid", "Silas Quint")}
    grown = await knowledge(kb.client)

    async with engine.knowledge() as fresh:
        await fresh.ingest([doc("c", "Silas Quint met Margaret Harrow at the tide mill.")])
        await fresh.ingest([Document(path="b", content=SLUICE, title="Tide mill")])
        only = SayingModel(lambda message: say(message) if "sluice" in message else {})
        await fresh.extract_facts(only)
        assert await knowledge(fresh.client) == grown

    await kb.delete("b")
    await kb.delete("c")
    assert "Entity" not in (await kb.client.counts())["nodes"]


async def test_what_fails_is_kept_with_its_reason_and_tried_again(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL), doc("x", "Nothing is said here.")])

    report = await kb.extract_facts(SayingModel(say))

    assert report.chunks == 1
    assert len(report.failed) == 1
    assert await kb.client.fact_counts() == {"done": 1, "failed": 1, "waiting": 0}
    failures = await kb.client.fact_failures()
    assert failures[0]["path"] == "x"
    assert "schema" in failures[0]["reason"]

    again = await kb.extract_facts(SayingModel(lambda _: {"entities": [{"name": "Here", "type": ""}]}))
    assert (again.chunks, again.failed) == (1, {})
    assert await kb.client.fact_counts() == {"done": 2, "failed": 0, "waiting": 0}


async def test_an_answer_in_another_form_is_not_taken_for_a_passage_that_says_nothing(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL)])
    report = await kb.extract_facts(SayingModel(lambda _: {"nodes": [], "edges": []}))
    assert (report.chunks, len(report.failed)) == (0, 1)
    report = await kb.extract_facts(SayingModel(lambda _: {"entities": []}))
    assert (report.chunks, report.failed) == (1, {})


async def test_a_model_that_is_down_does_not_cost_every_chunk_its_patience(kb: KnowledgeBase) -> None:
    await kb.ingest([doc(f"n{number}", f"Note {number} of the mill.") for number in range(80)])
    model = SayingModel(lambda _: LanguageModelError("The server is gone."))
    report = await kb.extract_facts(model)
    assert "gone" in report.stopped
    assert len(model.asked) < 80
    assert (await kb.client.fact_counts())["waiting"] > 0

    with pytest.raises(LanguageModelAuthError):
        await kb.extract_facts(SayingModel(lambda _: LanguageModelAuthError("No key.")))
    with pytest.raises(ConfigurationError, match="MGRAG_LLM_MODEL"):
        await kb.extract_facts()


async def test_a_model_that_says_strange_things_does_no_harm(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL)])
    strange = ['"; MATCH (n) DETACH DELETE n //', "`x`", "🎉", "x" * 10_000, "", " ", "\u0000"]
    said = {
        "entities": [{"name": name, "type": name} for name in strange],
        "facts": [{"subject": a, "relation": b, "object": a + "!", "sentence": b} for a in strange for b in strange],
    }
    report = await kb.extract_facts(SayingModel(lambda _: said))
    assert report.failed == {}
    assert (await kb.client.counts())["nodes"]["Document"] == 1
    await kb.delete("a")
    assert "Entity" not in (await kb.client.counts())["nodes"]


@pytest.mark.parametrize(
    ("path", "content", "subject", "thing", "named"),
    [
        ("a", "Ada Lane founded the Heron Trust.", "Ada Lane", "Heron Trust", True),
        ("a", "Ada Lane founded the Heron Trust.", "Ada Lane", "Lighthouse Fund", False),
        ("a", "Ada Lane founded the Heron Trust.", "Charles Babbage", "Heron Trust", False),
        ("a", "Lane founded the Heron Trust.", "Ada Lane", "Heron Trust", True),
        ("a", "The WHO has its seat in Geneva.", "World Health Organization", "Geneva", True),
        ("a", "The World Health Organization sits in Geneva.", "WHO", "Geneva", True),
        ("a", "The WHO has its seat in Geneva.", "Wimbledon House Organ", "Bern", False),
        ("Heron_Trust.md", "It was founded by Ada Lane.", "Ada Lane", "Heron Trust", True),
        ("a", "# Heron Trust\n\nIt was founded by Ada Lane.", "Ada Lane", "Heron Trust", True),
        ("a", "Ада Лейн живёт в Москве.", "Ада Лейн", "Москва", True),
        ("a", "Ада Лейн живёт в Москве.", "Ада Лейн", "Казань", False),
        ("a", "田中は東京大学で働いている。", "田中", "東京大学", True),
        ("a", "田中は東京大学で働いている。", "田中", "京都大学院", False),
    ],
)
async def test_facts_about_what_the_passage_does_not_name_are_left_out(
    kb: KnowledgeBase, path: str, content: str, subject: str, thing: str, named: bool
) -> None:
    """A model also tells what it knows, or makes up."""
    fact = {"subject": subject, "relation": "has_to_do_with", "object": thing, "sentence": "It does."}
    await kb.ingest([doc(path, content)])

    report = await kb.extract_facts(SayingModel(lambda _: {"entities": [], "facts": [fact]}))

    assert (report.facts, report.unnamed > 0) == (int(named), not named)
    assert len(await facts(kb)) == int(named)


async def test_triples_of_the_caller(kb: KnowledgeBase) -> None:
    given: list[Any] = [
        ("Ada Lovelace", "wrote_for", "Analytical Engine"),
        {"subject": "Charles Babbage", "relation": "designed", "object": "Analytical Engine", "weight": 3},
    ]
    assert await kb.add_triples(given) == 2
    assert await kb.add_triples(given) == 2
    found = await facts(kb)
    assert {key: row["weight"] for key, row in found.items()} == {
        ("Ada Lovelace", "wrote_for", "Analytical Engine"): 1.0,
        ("Charles Babbage", "designed", "Analytical Engine"): 3.0,
    }
    await kb.ingest([doc("a", "Ada Lovelace and Charles Babbage.")])
    await kb.delete("a")
    assert await facts(kb) == found, "what a person states does not go with a document"

    for wrong in [("a", "b"), ("a", "is", "A"), {"subject": "a"}, ("", "is", "b"), ("a", "x" * 300, "b"), "abc d"]:
        with pytest.raises(InvalidInputError, match="riple 1"):
            await kb.add_triples([wrong])  # type: ignore[list-item]


async def test_ingest_asks_the_model_where_it_is_told_to(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        with pytest.raises(ConfigurationError, match="MGRAG_LLM_MODEL"):
            await kb.ingest([doc("a", MILL)], facts=True)
        assert await kb.client.find_document("a") is None, "nothing was begun"
    async with engine.knowledge(language_model=SayingModel(say)) as kb:
        report = await kb.ingest([doc("a", MILL), doc("x", "Nothing is said here.")], facts=True)
        assert report.facts is not None
        assert (report.facts["chunks"], report.facts["facts"], len(report.facts["failed"])) == (1, 2, 1)
        status = (await kb.status())["facts"]
        assert (status["done"], status["failed"]) == (1, 1)
        assert "schema" in status["failures"][0]["reason"]
        assert (await kb.ingest([doc("b", SLUICE)])).facts is None


@pytest.mark.parametrize(
    ("triples", "says"),
    [
        (("Joe", "met", "Sam"), "put a single triple"),
        ("Joe met Sam", "a triple is"),
        (None, "a triple is"),
        ({"subject": "Joe", "relation": "met", "object": "Sam"}, "a triple is"),
        (Triple("Joe", "met", "Sam"), "a triple is"),
        ([("Joe", "met")], "Triple 1 .*A triple is"),
        ([None], "A triple is"),
        (
            [{"subject": "Joe", "predicate": "met", "object": "Sam"}],
            "no field 'predicate', only subject, relation",
        ),
        ([{"subject": "Joe", "relation": "met"}], "Triple 1 is invalid: its object is missing. A triple is"),
        ([{"subject": "Joe", "relation": "met", "object": "Sam", "chunk_ids": "abc"}], "one text"),
        ([Triple("Joe", "met", "Sam", chunk_ids="abc")], "chunk_ids of triple 1 must be a sequence"),  # type: ignore[arg-type]
        ([Triple("Joe", "met", "Sam", chunk_ids=(1,))], "chunk_ids of triple 1 must be text, not int"),  # type: ignore[arg-type]
        ([Triple("Joe", "met", "Sam", fact=None)], "fact of triple 1 must be text"),  # type: ignore[arg-type]
        ([Triple("Joe", "met", "Sam", subject_type=3)], "subject_type of triple 1 must be text"),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_triple_is_refused_and_nothing_stored(kb: KnowledgeBase, triples: Any, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        await kb.add_triples(triples)
    assert await kb.client.entity_names() == []


@pytest.mark.parametrize(
    ("relation", "kind"),
    [
        ("Works at", "works_at"),
        ("works-at", "works_at"),
        ("住在", "住在"),
        ("で 働く", "で働く"),
        ("住在 in", "住在_in"),
        ("อยู่ที่", "อยู่ที่"),
    ],
)
def test_relations_are_in_snake_case_where_words_are_apart(relation: str, kind: str) -> None:
    said = ChunkFacts.of([], [("Ada Lovelace", relation, "Paris", "A sentence.")])
    assert [fact.type for fact in said.facts] == [kind]


def wanted(types: list[str], relations: list[Any]) -> dict[str, Any]:
    return {"entity_types": types, "relations": relations}


OWNS = ("Margaret Harrow", "owns", "tide mill")
PAID = ("Margaret Harrow", "paid", "Silas Quint")


def say_typed(message: str) -> dict[str, Any]:
    said = say(message)
    assert isinstance(said, dict)
    said["entities"] = [*said["entities"], {"name": "Silas Quint", "type": "person"}]
    return said


@pytest.mark.parametrize(
    ("guide", "expected"),
    [
        (wanted([], []), {OWNS, PAID}),
        (wanted(["Person"], []), {PAID}),
        (wanted(["person", "building"], ["Owns"]), {OWNS}),
        (wanted([], ["person > owns > building"]), {OWNS}),
        (wanted([], [("person", "owns", "person"), "building > paid > person"]), set()),
        (wanted(["person", "building"], [("Person", "paid", "Person"), "owns"]), {OWNS, PAID}),
    ],
)
async def test_only_the_wanted_types_and_relations_are_asked_for_and_kept(
    kb: KnowledgeBase, guide: dict[str, Any], expected: set[tuple[str, str, str]]
) -> None:
    await kb.ingest([doc("a", MILL)])
    await kb.extract_facts(SayingModel(say_typed), **guide)
    assert (await facts(kb)).keys() == expected


async def test_what_is_left_out_is_counted(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL)])
    report = await kb.extract_facts(SayingModel(say_typed), **wanted(["person"], ["owns"]))
    assert (report.entities, report.facts, report.unwanted) == (2, 0, 3), "the mill, and what she owns and paid"
    assert report.to_dict()["unwanted"] == 3


@pytest.mark.parametrize("ingesting", [False, True])
async def test_after_a_stop_no_further_chunk_is_read(engine: Engine, ingesting: bool) -> None:
    notes = [doc(f"n{number}", f"Note {number} of the mill.") for number in range(20)]
    stop = asyncio.Event()

    def say_and_stop(_: str) -> dict[str, Any]:
        stop.set()
        return {"entities": []}

    model = SayingModel(say_and_stop)
    seen: list[IngestReport] = []
    async with engine.knowledge(language_model=model, settings=Settings(llm_concurrency=1)) as kb:
        if ingesting:
            report = await kb.ingest(notes, facts=True, stop=stop, progress=seen.append)
            assert report.interrupted
            assert report.facts is not None
            assert (report.facts["chunks"], report.facts["stopped"]) == (1, "interrupted")
            assert seen[-1].facts is not None, "progress is told of the reading, too"
        else:
            await kb.ingest(notes)
            found = await kb.extract_facts(stop=stop)
            assert found.interrupted
            assert found.chunks == 1
        assert (await kb.client.fact_counts())["waiting"] == 19
        assert (await kb.extract_facts()).chunks == 19


async def test_a_model_is_told_what_is_wanted() -> None:
    settings = Settings(llm_entity_types="Person, research paper,", llm_relations="owns, person > paid by > Person")
    said: list[str] = []

    class Listening(SayingModel):
        async def complete(self, messages: Sequence[Message], **options: Any) -> Any:
            said.append(messages[0].content)
            return await super().complete(messages, **options)

    async with KnowledgeBase.open("embedded::memory:", settings=settings) as kb:
        await kb.ingest([doc("a", MILL)])
        await kb.extract_facts(Listening(say))
    assert "Only entities of these types: person, research paper." in said[0]
    assert "Only these relations: owns, paid_by (from person to person)." in said[0]


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        (wanted([], ["person > owns"]), "'person > owns' is not a relation"),
        (wanted([], [" > owns > building"]), "is not a relation"),
        (wanted([], ["person >  > mill"]), "is not a relation"),
        (wanted(["person"], ["person > owns > mill"]), "names the type 'mill', which is not among the types"),
        (wanted("person", []), "entity_types must be a list of texts, not str"),  # type: ignore[arg-type]
        (wanted([], [("person", 5, "mill")]), "A part of a relation must be text, not int"),
        (wanted([], [5]), "A relation must be text, not int"),
        (wanted([None], []), "A type must be text, not NoneType"),  # type: ignore[list-item]
    ],
)
async def test_what_is_no_type_or_relation_is_refused(kb: KnowledgeBase, guide: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        await kb.extract_facts(SayingModel(say), **guide)


async def test_chunks_are_read_again_where_that_is_asked_for(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("a", MILL), doc("b", SLUICE)])
    await kb.extract_facts(SayingModel(say))
    assert (await facts(kb)).keys() == {OWNS, PAID}

    first = await kb.extract_facts(SayingModel(say), relations=["paid"], again=True, limit=1)
    assert first.chunks == 1
    rest = await kb.extract_facts(SayingModel(say), relations=["paid"])
    assert rest.chunks == 1, "the next run goes on"

    found = await facts(kb)
    assert found.keys() == {PAID}
    assert found[PAID]["weight"] == 2.0
    assert "tide mill" in {node.name for node in (await kb.entities())[0]}, "the model still names it"


@pytest.mark.parametrize("first", ["text", "caller"])
async def test_a_stated_type_counts_whoever_named_the_entity_first(kb: KnowledgeBase, first: str) -> None:
    async def state() -> None:
        ferry = {"subject": "Silas Quint", "relation": "built", "object": "Ferry"}
        await kb.add_triples([ferry, ferry | {"subject_type": "Engineer", "relation": "owns"}])

    if first == "caller":
        await state()
    await kb.ingest([doc("a", MILL)])
    if first == "text":
        await state()

    async def quint() -> list[tuple[str, str]]:
        return [(node.name, node.type) for node in await kb.search_nodes("Silas Quint")]

    assert await quint() == [("Silas Quint", "Engineer")]
    await kb.ingest([doc("a", f"{MILL} Silas Quint left.")])
    assert await quint() == [("Silas Quint", "Engineer")]
    await kb.add_triples([("Silas Quint", "sold", "Ferry")])
    assert await quint() == [("Silas Quint", "Engineer")], "no type says nothing"

    assert await kb.remove_entity("Silas Quint")
    assert await quint() == [("Silas Quint", "name")], "what texts say of it is left"
