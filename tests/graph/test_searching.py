"""Records and documents, found by words, by what is connected, and by both; context for a language model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import FilterError, InvalidInputError
from core.rag.graph import attaching, searching, sources
from core.rag.graph.searching import MODES, KnowledgeMode
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.extraction.models import SayingModel
from tests.graphs import listen

ALICE = {
    "name": "Alice Johnson",
    "title": "Senior Engineer",
    "company": "TechCorp",
    "team": "Backend",
    "manager": "Bob Smith",
}
RECORDS: dict[str, list[dict[str, Any]]] = {
    "employees": [
        {"_id": "emp_123", **ALICE},
        {
            "_id": "emp_456",
            "name": "Bob Smith",
            "title": "Tech Lead",
            "company": "TechCorp",
            "team": "Backend",
            "project": "Platform Core",
        },
        {"_id": "emp_789", "name": "Carol Diaz", "title": "Gardener", "company": "Green Fields"},
    ],
    "projects": [
        {
            "_id": "proj_123",
            "name": "Platform Core",
            "company": "TechCorp",
            "category": "Infrastructure",
            "tags": ["database", "backend service"],
        },
        {"_id": "proj_456", "name": "Orchard", "company": "Green Fields", "tags": ["apples"]},
    ],
}


@pytest.fixture
async def wiki(kb: KnowledgeBase) -> KnowledgeBase:
    """Three employees, two projects, a document."""
    for collection, records in RECORDS.items():
        await kb.insert_many(collection, records)
    await kb.ingest([Document("lunch.md", "The canteen of Green Fields serves apples.", "Lunch")])
    return kb


async def test_the_employee_example_is_exact(kb: KnowledgeBase) -> None:
    await kb.insert("employees", ALICE)
    stats = await kb.graph_stats()
    assert (stats.nodes, stats.edges) == (5, 10)
    assert stats.records == 1
    assert stats.nodes_by_type == {"company": 1, "manager": 1, "name": 1, "team": 1, "title": 1}
    piece = await kb.traverse("Alice Johnson", 1, induced=True)
    assert sorted(node.name for node in piece.nodes) == ["Backend", "Bob Smith", "Senior Engineer", "TechCorp"]
    assert len(piece.edges) == 10
    await kb.insert("projects", {"name": "Platform Core", "company": "TechCorp"})
    assert [node.name for node in await kb.search_nodes("techcorp")] == ["TechCorp"]
    assert (await kb.graph_stats()).nodes == 6
    path = await kb.shortest_path("Alice Johnson", "Platform Core")
    assert path is not None
    assert [node.name for node in path.nodes] == ["Alice Johnson", "TechCorp", "Platform Core"]


@pytest.mark.parametrize("mode", ["keyword", "graph", "hybrid"])
@pytest.mark.parametrize("query", ["backend database", "TechCorp", "Platform Core Backend", "apples at Green Fields"])
async def test_every_result_has_all_scores_and_the_formula_holds(wiki: KnowledgeBase, query: str, mode: Any) -> None:
    hits = await wiki.search_knowledge(query, mode, limit=10)
    assert hits
    assert len({hit.id for hit in hits}) == len(hits)
    for hit in hits:
        assert hit.scores["hybrid"] == pytest.approx(0.4 * hit.scores["keyword"] + 0.6 * hit.scores["graph"])
        assert 0 <= min(hit.scores.values()) <= max(hit.scores.values()) <= 1
        assert set(hit.scores) == {"keyword", "graph", "hybrid"}
    order = [hit.scores[mode] for hit in hits]
    assert order == sorted(order, reverse=True)
    assert order[-1] > 0
    if mode != "hybrid":
        assert order[0] == 1
        other = {"keyword": "graph", "graph": "keyword"}[mode]
        assert {hit.scores[other] for hit in hits} == {0}
    assert json.dumps([hit.to_dict() for hit in hits])


async def test_keyword_search_ranks_by_words(wiki: KnowledgeBase) -> None:
    hits = await wiki.search_knowledge("database", "keyword")
    assert [(hit.document["_id"], hit.collection, hit.kind) for hit in hits] == [("proj_123", "projects", "record")]
    assert await wiki.search_knowledge("unheard of", "keyword") == []


async def test_graph_search_ranks_by_nearness(wiki: KnowledgeBase) -> None:
    hits = await wiki.search_knowledge("Platform Core", "graph")
    found = {hit.document["_id"]: hit.scores["graph"] for hit in hits}
    assert found["proj_123"] == found["emp_456"] == 1  # they have it
    assert found["emp_123"] == pytest.approx(1 / 2)  # one step: through the company
    assert "emp_789" not in found
    assert "proj_456" not in found


@pytest.mark.parametrize("most", [5, 8, 100])
async def test_what_is_rare_is_found_beside_what_all_records_have(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """However many records are in Germany, those in Germany of the company come first."""
    monkeypatch.setattr(attaching, "MAX_ATTACHED", most)
    companies = {number: "Zacme" if number in (4, 11) else f"Firm {number}" for number in range(16)}
    await kb.insert_many(
        "people",
        [
            {"_id": number, "name": f"Person {number}", "company": companies[number], "country": "Germany"}
            for number in companies
        ],
    )
    await kb.ingest(Document("news.md", "In Germany, Zacme built a mill.", "News"))
    for mode in ("graph", "hybrid"):
        hits = await kb.search_knowledge("Zacme Germany", mode, limit=100)
        assert {hit.document["_id"] for hit in hits[:3] if hit.kind == "record"} == {4, 11}
        assert {hit.kind for hit in hits[:3]} == {"record", "document"}
        assert [hit.scores["graph"] for hit in hits[:3]] == [1.0, 1.0, 1.0] > [hit.scores["graph"] for hit in hits[3:4]]
        if most > 5:  # else two more are read, which the engine chooses: they may be those of the company
            assert len(hits) > 3


async def test_documents_are_found_with_records(wiki: KnowledgeBase) -> None:
    hits = await wiki.search_knowledge("Where does Green Fields serve apples?")
    by_id = {hit.document["_id"]: hit for hit in hits}
    [lunch] = [hit for hit in hits if hit.kind == "document"]
    assert (lunch.collection, lunch.document["path"], lunch.document["title"]) == ("documents", "lunch.md", "Lunch")
    assert lunch.scores["keyword"] > 0
    assert lunch.scores["graph"] > 0
    assert {"emp_789", "proj_456"} <= set(by_id)
    context = await wiki.ask_context("Where does Green Fields serve apples?")
    assert "Lunch: The canteen of Green Fields serves apples." in [chunk.text for chunk in context.context_chunks]
    assert lunch.document in context.source_documents
    await wiki.delete("lunch.md")
    assert all(hit.kind == "record" for hit in await wiki.search_knowledge("Green Fields"))


@pytest.mark.parametrize("mode", ["keyword", "graph", "hybrid"])
async def test_a_row_of_a_table_is_found_once(kb: KnowledgeBase, tmp_path: Path, mode: Any) -> None:
    (tmp_path / "staff.csv").write_text("name,team,town\nAda Lane,Tides,Fowey\nBen Hale,Sluices,Looe\n")
    (tmp_path / "log.md").write_text("# Log\n\nAda Lane oiled the sluice.\n")
    await kb.ingest([tmp_path])
    hits = await kb.search_knowledge("Ada Lane", mode)
    first = next(hit for hit in hits if hit.collection == "staff")
    assert (first.kind, first.document["town"]) == ("record", "Fowey")
    assert [hit.document["title"] for hit in hits if hit.kind == "document"] == ["Log"]
    context = await kb.ask_context("Who is Ada Lane?", limit=10)
    assert not any("Ben Hale" in chunk.text and "Fowey" in chunk.text for chunk in context.context_chunks)


async def test_a_table_is_found_where_no_row_of_it_is_a_result(kb: KnowledgeBase, tmp_path: Path) -> None:
    rows = "".join(f"Person {number},Team {number % 7},oak and elm {number}\n" for number in range(200))
    (tmp_path / "documents.csv").write_text(f"name,team,stock\n{rows}Ada Lane,Tides,a barge\n")
    await kb.ingest([tmp_path])
    hits = await kb.search_knowledge("documents", "keyword")
    assert [(hit.kind, hit.document["path"]) for hit in hits] == [("document", str(tmp_path / "documents.csv"))]
    assert [hit.kind for hit in await kb.search_knowledge("barge", "keyword")] == ["record"]


@pytest.mark.parametrize("mode", ["keyword", "graph", "hybrid"])
async def test_the_fields_of_a_document_find_the_document(kb: KnowledgeBase, tmp_path: Path, mode: Any) -> None:
    (tmp_path / "mill.md").write_text("---\nauthor: Ada Lane\nproject: Ebb\n---\n# The mill\n\nIt turns.\n")
    await kb.ingest([tmp_path])
    [hit] = await kb.search_knowledge("What did Ada Lane write?", mode)
    assert (hit.kind, hit.collection, hit.document["title"]) == ("document", "documents", "The mill")
    assert hit.document["metadata"]["author"] == "Ada Lane"
    await kb.insert("documents", {"title": "Deed of the mill", "author": "Ada Lane"})
    hits = await kb.search_knowledge("What did Ada Lane write?", mode)
    assert sorted(hit.kind for hit in hits) == ["document", "record"]


async def test_a_search_that_makes_no_sense_is_refused(wiki: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="no search mode 'vector'"):
        await wiki.search_knowledge("x", "vector")  # type: ignore[arg-type]
    for query in ("", "  "):
        with pytest.raises(InvalidInputError, match="empty"):
            await wiki.search_knowledge(query)
    for limit in (0, 10_000, True):
        with pytest.raises(InvalidInputError, match="limit"):
            await wiki.search_knowledge("x", limit=limit)
    for query in ('"; MATCH (n) DETACH DELETE n //', "🙂", "\ud800 x", "word " * 5_000):
        await wiki.search_knowledge(query)
    assert (await wiki.graph_stats()).records == 5


async def test_context_for_a_question(wiki: KnowledgeBase) -> None:
    context = await wiki.ask_context("Who is leading the Platform Core project?", context_depth=2, limit=5)
    plain = context.to_dict()
    assert set(plain) == {"contextChunks", "graphPath", "sourceDocuments", "usage"}
    chunks = plain["contextChunks"]
    assert 0 < len(chunks) <= 5
    assert [chunk["relevance"] for chunk in chunks] == sorted((c["relevance"] for c in chunks), reverse=True)
    assert all(0 <= chunk["relevance"] <= 1 for chunk in chunks)
    texts = [chunk["text"] for chunk in chunks]
    assert "name: Bob Smith, title: Tech Lead, company: TechCorp, team: Backend, project: Platform Core" in texts
    relations = [text for text in texts if " → " in text]
    assert relations
    assert any("Platform Core (" in text for text in relations)
    ids = {document["_id"] for document in plain["sourceDocuments"]}
    assert ids == {chunk["sourceDocId"] for chunk in chunks}
    assert ids <= {"emp_123", "emp_456", "proj_123"}
    assert plain["graphPath"][0] == "Platform Core"
    assert {"Bob Smith", "TechCorp"} <= set(plain["graphPath"])
    assert "contextChunks" in plain["usage"]
    assert context["contextChunks"] == chunks
    assert len((await wiki.ask_context("Platform Core", limit=1)).context_chunks) == 1
    assert (await wiki.ask_context("Platform Core", context_depth=0)).graph_path == ["Platform Core"]


async def test_a_link_by_hand_is_context_without_a_source(wiki: KnowledgeBase) -> None:
    await wiki.link("Carol Diaz", "Orchard", "tends", fact="planted in 1998", weight=50)
    context = await wiki.ask_context("What about the Orchard?", limit=6)
    [chunk] = [chunk for chunk in context.context_chunks if "planted in 1998" in chunk.text]
    assert chunk.text == "Carol Diaz (name) → planted in 1998 → Orchard (project)"
    assert chunk.source_doc_id is None


async def test_the_source_of_a_relation_is_a_record_that_states_it(kb: KnowledgeBase) -> None:
    await kb.insert("people", {"_id": "a", "name": "Bo Lund", "team": "Backend", "project": "Platform Core"})
    await kb.insert("projects", {"_id": "z", "name": "Platform Core", "tags": ["backend"]})
    chunks = (await kb.ask_context("What about Platform Core?", limit=10)).context_chunks
    [working] = [chunk for chunk in chunks if "→ works_on → Platform Core" in chunk.text and "Backend" in chunk.text]
    [tagged] = [chunk for chunk in chunks if "→ tagged → Backend" in chunk.text]
    assert (working.source_doc_id, tagged.source_doc_id) == ("a", "z")


async def test_a_relation_has_its_source_also_if_that_is_not_among_the_results(kb: KnowledgeBase) -> None:
    await kb.insert_many("people", [{"name": f"Person {n}", "company": "TechCorp"} for n in range(150)])
    context = await kb.ask_context("TechCorp", limit=100)
    records = {document["_id"]: document["name"] for document in context.source_documents}
    relations = [chunk for chunk in context.context_chunks if " → works_at → " in chunk.text]
    shown = {chunk.source_doc_id for chunk in context.context_chunks if " → " not in chunk.text}
    assert len(relations) == 50
    assert {chunk.source_doc_id for chunk in relations} - shown
    for chunk in relations:
        assert chunk.text.startswith(f"{records[str(chunk.source_doc_id)]} (name)")


async def test_the_source_of_a_fact_is_the_document_that_it_is_from(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(f"{n}.md", "Ada Lane met Rust Oak Mill.", "Note") for n in "abc"])
    [chunk] = await kb.client.get_document_chunks("b.md")
    await kb.add_triples(
        [{"subject": "Ada Lane", "relation": "owns", "object": "Rust Oak Mill", "chunk_ids": [chunk["chunk_id"]]}]
    )
    context = await kb.ask_context("What about Ada Lane?", limit=6)
    [found] = [chunk for chunk in context.context_chunks if "→ owns →" in chunk.text]
    assert {row["_id"]: row["path"] for row in context.source_documents}[str(found.source_doc_id)] == "b.md"


async def test_nothing_known_gives_no_context(kb: KnowledgeBase) -> None:
    context = await kb.ask_context("Who is there?")
    assert (context.context_chunks, context.graph_path, context.source_documents) == ([], [], [])


@pytest.mark.parametrize(
    ("question", "named", "others"),
    [
        ("Quel est le rôle de la Régie ?", "Régie", ["Le groupe de soutien", "La Poste", "De la mer à la terre"]),
        ("Was tut das Amt für Eichung und Maße?", "Amt für Eichung", ["Einzel- und Gemeinkosten"]),
        ("アレクサンドル・プーシキンの詩は何ですか", "アレクサンドル・プーシキン", ["海の水", "何の水"]),
    ],
)
async def test_function_words_of_a_question_name_nothing(
    kb: KnowledgeBase, question: str, named: str, others: list[str]
) -> None:
    await kb.insert_many("things", [{"name": name} for name in (named, *others)])
    assert (await kb.ask_context(question)).graph_path == [named]
    assert [hit.document["name"] for hit in await kb.search_knowledge(question, "graph")] == [named]


async def test_context_says_what_a_relation_is_before_what_only_stands_together(kb: KnowledgeBase) -> None:
    tags = ["ale", "broth", "cod", "dill"]
    await kb.insert("recipes", {"title": "Zander", "author": "Mo Lane", "tags": tags})
    context = await kb.ask_context("What did Mo Lane write?", limit=2)
    assert [chunk.text for chunk in context.context_chunks if " → " in chunk.text] == [
        "Zander (title) → written_by → Mo Lane (author)"
    ]


BLUE = "path*=blue/"


@pytest.fixture
async def teams(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    """Two teams whose documents, records and facts are about the same people."""
    for team, boat in (("red", "Gull"), ("blue", "Tern")):
        folder = tmp_path / team
        folder.mkdir()
        (folder / "staff.json").write_text(json.dumps([{"name": "Ada Lane", "company": f"{boat} Works"}]))
        plan = Document(f"{team}/plan.md", f"Ada Lane repairs the {boat}.", metadata={"team": team})
        await kb.ingest([folder, plan])
    rows = await kb.client.read("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN c.path AS p, c.id AS id")
    chunk = {row["p"]: row["id"] for row in rows}
    both = [chunk["red/plan.md"], chunk["blue/plan.md"]]
    await kb.add_triples(
        [
            {"subject": "Ada Lane", "relation": "sails", "object": "Gull", "chunk_ids": both[:1]},
            {"subject": "Ada Lane", "relation": "paints", "object": "Tern", "chunk_ids": both[1:]},
            {"subject": "Ada Lane", "relation": "knows", "object": "Bob Reed", "chunk_ids": both},
            {"subject": "Ada Lane", "relation": "likes", "object": "Tea"},
        ]
    )
    await kb.insert("clubs", {"name": "Ada Lane", "company": "Harbour Club"})
    return kb


@pytest.mark.parametrize("mode", MODES)
async def test_a_filter_leaves_what_is_of_documents_that_pass(teams: KnowledgeBase, mode: KnowledgeMode) -> None:
    found = await teams.search_knowledge("Ada Lane", mode, filters=BLUE)
    assert {hit.document.get("path") or hit.document["company"] for hit in found} == {"blue/plan.md", "Tern Works"}
    assert len(await teams.search_knowledge("Ada Lane", mode)) > len(found)
    of_red = await teams.search_knowledge("Ada Lane", mode, filters={"metadata.team": "red"})
    assert [hit.document["path"] for hit in of_red] == ["red/plan.md"]
    assert await teams.search_knowledge("Ada Lane", mode, filters="path:green/") == []
    with pytest.raises(FilterError, match="'colour' is not a field"):
        await teams.search_knowledge("Ada Lane", mode, filters="colour:red")


async def test_the_context_of_a_filter_is_stated_by_what_passes(teams: KnowledgeBase) -> None:
    context = await teams.ask_context("What does Ada Lane do?", limit=50, filters=BLUE)
    told = "\n".join(chunk.text for chunk in context.context_chunks)
    assert "paints → Tern" in told
    assert "knows → Bob Reed" in told, "one of its passages passes"
    assert "Tern Works" in told
    for other in ("Gull", "Tea", "Harbour"):
        assert other not in told
        assert not [name for name in context.graph_path if other in name]
    sources = {document.get("path") or document["company"] for document in context.source_documents}
    assert sources == {"blue/plan.md", "Tern Works"}
    everything = await teams.ask_context("What does Ada Lane do?", limit=50)
    assert {"Gull", "Tern", "Tea"} <= set(everything.graph_path)
    with pytest.raises(FilterError):
        await teams.ask_context("Ada Lane", filters="colour:red")


async def test_a_filter_leaves_out_names_that_only_others_say(teams: KnowledgeBase) -> None:
    for question in ("What is the Gull?", "Who are the Gull Works, and what is Tea?"):
        context = await teams.ask_context(question, limit=50, filters=BLUE)
        assert not [name for name in context.graph_path if "Gull" in name or "Tea" in name]
    assert "Tern" in (await teams.ask_context("What is the Tern?", filters=BLUE)).graph_path


async def test_a_filter_reaches_below_the_best_matches(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_CANDIDATES", 3)
    await kb.ingest([Document(f"many/{n}", "mill mill mill mill") for n in range(30)])
    await kb.ingest(Document("few/one", "Once there was a mill, of which little is said in this text."))
    found = await kb.search_knowledge("mill", "keyword", filters="path:few/")
    assert [hit.document["path"] for hit in found] == ["few/one"]


async def test_texts_are_read_of_what_is_returned_only(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    await kb.ingest(Document(f"{number}.md", f"Apples of orchard {number}.") for number in range(30))
    statements = listen(monkeypatch)
    hits = await kb.search_knowledge("apples", "keyword", limit=2, filters="path:1")
    assert {hit.document["path"][0] for hit in hits} == {"1"}
    assert not [statement for statement in statements if "c.content" in statement]


async def test_a_fact_that_a_model_found_is_told_only_if_a_text_that_it_is_from_passes(kb: KnowledgeBase) -> None:
    both = [{"name": "Ada Lane", "type": "person"}, {"name": "Tide Mill", "type": "building"}]
    owns = {"subject": "Ada Lane", "relation": "owns", "object": "Tide Mill", "sentence": "Ada Lane bought it."}
    await kb.ingest(
        [
            Document("hidden/deed", "In secret, Ada Lane bought the Tide Mill."),
            Document("open/diary", "Ada Lane visited the Tide Mill."),
        ]
    )
    await kb.extract_facts(SayingModel(lambda text: {"entities": both, "facts": [owns] if "secret" in text else []}))
    told = [chunk.text for chunk in (await kb.ask_context("Ada Lane", limit=20)).context_chunks]
    assert [text for text in told if "bought it" in text]
    context = await kb.ask_context("Ada Lane", limit=20, filters="path:open/")
    assert [chunk.text for chunk in context.context_chunks] == ["diary: Ada Lane visited the Tide Mill."]


@pytest.mark.parametrize("_again", range(4))  # ids, and with them the order, differ by namespace
async def test_what_has_two_names_of_one_thing_is_found_though_one_of_them_is_everywhere(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, _again: int
) -> None:
    monkeypatch.setattr(sources, "_MAX_ATTACHED", 10)
    async with engine.knowledge() as kb:
        await kb.ingest([Document(f"notes/{number}", f"Note {number} is on the WHO.") for number in range(20)])
        await kb.ingest(Document("long", "The World Health Organization (WHO) was founded in 1948."))
        context = await kb.ask_context("World Health Organization", limit=20)
        [same] = [chunk for chunk in context.context_chunks if "SAME_AS" in chunk.text or "same" in chunk.text]
        [document] = [one for one in context.source_documents if one["_id"] == same.source_doc_id]
        assert document["path"] == "long"


@pytest.mark.parametrize("_again", range(3))
@pytest.mark.parametrize("text", ["bought", "got"])
async def test_a_fact_of_several_texts_is_told_in_the_words_of_one_that_passes(
    engine: Engine, _again: int, text: str
) -> None:
    both = [{"name": "Ada Lane", "type": "person"}, {"name": "Tide Mill", "type": "building"}]

    def say(message: str) -> dict[str, Any]:
        sentence = "Ada Lane bought the mill." if "bought" in message else "Ada Lane got the mill from an uncle."
        owns = {"subject": "Ada Lane", "relation": "owns", "object": "Tide Mill", "sentence": sentence}
        return {"entities": both, "facts": [owns]}

    other = "got" if text == "bought" else "bought"
    async with engine.knowledge() as kb:
        for path in ("bought", "got"):
            await kb.ingest(Document(path, f"Ada Lane {path} the Tide Mill. She owns it."))
        await kb.extract_facts(SayingModel(say))
        filters = f"path={text}"
        context = await kb.ask_context("What does Ada Lane own?", limit=20, filters=filters)
        told = "\n".join(chunk.text for chunk in context.context_chunks)
        assert f"Ada Lane {text} the mill" in told and other not in told
        for strategy in ("flow", "drift"):
            answer = await kb.ask("What does Ada Lane own?", strategy=strategy, filters=filters)
            assert [fact.fact.split()[2] for fact in answer.facts] == [text]
