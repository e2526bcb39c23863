"""Which entities are the same: found by rule, recorded, reversible, and rather two than a wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError, NotFoundError, StoreError
from core.rag.extraction.names import type_of
from core.rag.extraction.resolution import Candidate, abbreviations, alike, comparable, resolve
from core.rag.extraction.words import normalize_name
from core.rag.indexing import titles
from libs.dataloader import Document
from tests.extraction.graphs import mentioned
from tests.graphs import snapshot


def candidates(*names: str, titled: tuple[str, ...] = ()) -> list[Candidate]:
    return [Candidate(name, normalize_name(name), name, type_of(name), 1, name in titled) for name in names]


def pairs(*names: str, titled: tuple[str, ...] = ()) -> set[frozenset[str]]:
    found = resolve(candidates(*names, titled=titled), together=set)
    return {frozenset((same.alias, same.entity)) for same in found}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("TechCorp", "Tech Corp"),
        ("The Decemberists", "Decemberists"),
        ("A Gentle Introduction", "Gentle Introduction"),
        ("Acme Inc.", "Acme"),
        ("Acme Corporation", "Acme Corp."),
        ("Lockheed Martin Corporation", "Lockheed Martin"),
        ("Café Müller", "Cafe Muller"),
        ("Elisabeth of France", "Elizabeth of France"),
        ("WHO", "World Health Organization"),
        ("NATO", "North Atlantic Treaty Organization"),
        ("USA", "U.S.A."),
        ("Acme-Tools Ltd", "Acme Tools"),
        ("Etat", "État"),
        ("Michaël Zasso", "Michael Zasso"),
    ],
)
def test_what_is_the_same(a: str, b: str) -> None:
    assert pairs(a, b) == {frozenset((a, b))}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Philip II of Spain", "Philip III of Spain"),
        ("Apollo 11", "Apollo 12"),
        ("Worth", "Wörth"),
        ("Homberg", "Hömberg"),
        ("Michael", "Michaël"),
        ("John Smith", "Joan Smith"),
        ("New York", "New York City"),
        ("1841", "1842"),
        ("Austria Hungary", "Austria"),
        ("King Henry", "King Harry"),
        ("Vienna Congress", "Sienna Congress"),
        ("A-Team", "Team"),
        ("A-levels", "Levels"),
        ("'a + trait", "Trait"),
        ("CC BY-SA", "CC BY"),
        ("GSA's AB", "GSA"),
        ("YY, YYY, YYYY", "YYY"),
        ("Copy-Item", "CopyItem"),
        ("Harvard Corporation", "Harvard"),
    ],
)
def test_what_is_not(a: str, b: str) -> None:
    assert pairs(a, b) == set()


def test_two_documents_are_two_things() -> None:
    names = ("Elisabeth of France", "Elizabeth of France")
    assert pairs(*names, titled=names) == set()
    assert pairs("World Health Organization", "Women Help Others", "WHO") == set(), (
        "initials of two phrases tell nothing"
    )


def test_an_acronym_with_dots_is_not_the_same_as_itself() -> None:
    assert pairs("C.F.R.", "Acme") == set()
    assert pairs("C.F.R.", "Code of Federal Regulations") == {frozenset(("C.F.R.", "Code of Federal Regulations"))}
    assert len(pairs("USA", "U.S.A.", "United States of America")) == 2


@given(st.lists(st.sampled_from(["Tech Corp", "TechCorp", "Acme", "Acme Ltd", "NATO", "Elisabeth R", "Elizabeth R"])))
def test_the_order_of_entities_does_not_count(names: list[str]) -> None:
    unique = list(dict.fromkeys(names))
    assert resolve(candidates(*unique), together=set) == resolve(candidates(*reversed(unique)), together=set)


async def same(kb: KnowledgeBase) -> set[tuple[str, str, str]]:
    rows = await kb.client.read(
        "MATCH (a:Entity)-[s:SAME_AS]->(b:Entity) WHERE a.namespace = $namespace "
        "RETURN a.name AS a, b.name AS b, s.method AS method"
    )
    return {(row["a"], row["b"], row["method"]) for row in rows}


async def test_merges_are_recorded_and_reversible(kb: KnowledgeBase) -> None:
    text = "We asked Tech Corp. We like TechCorp. The North Atlantic Treaty Organization (NATO) said so."
    await kb.ingest([Document(path="a", content=text), Document(path="b", content="In TechCorp we trust.")])
    assert await same(kb) == {
        ("Tech Corp", "TechCorp", "alias"),
        ("NATO", "North Atlantic Treaty Organization", "acronym"),
    }, "ingest does this by itself"
    report = await kb.resolve_entities()
    assert {(item.alias, item.entity, item.method) for item in report.same} == {
        ("Tech Corp", "TechCorp", "alias"),
        ("NATO", "North Atlantic Treaty Organization", "acronym"),
    }
    assert (report.added, report.removed) == (0, 0)

    assert await kb.split_entity("Tech Corp") == 1
    assert not any("Tech Corp" in pair for pair in await same(kb))
    await kb.resolve_entities()
    assert not any("Tech Corp" in pair for pair in await same(kb)), "a split by hand holds"
    await kb.merge_entities("Tech Corp", "TechCorp")
    assert ("Tech Corp", "TechCorp", "caller") in await same(kb)
    assert await kb.split_entity("TechCorp", "Tech Corp") == 1

    await kb.delete("a")
    await kb.delete("b")
    assert "Entity" not in (await kb.client.counts())["nodes"]


async def test_two_names_can_be_split_before_anything_merges_them(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="a", content="We asked Joan Winthrop and Joan Winthorp.")])
    assert await same(kb) == set()
    assert await kb.split_entity("Joan Winthrop", "Joan Winthorp") == 0
    report = await kb.resolve_entities()
    assert (report.same, await same(kb)) == ([], set())
    with pytest.raises(InvalidInputError, match="are one entity"):
        await kb.split_entity("Joan Winthrop", "joan winthrop")
    await kb.merge_entities("Joan Winthrop", "Joan Winthorp")
    assert await same(kb) == {("Joan Winthrop", "Joan Winthorp", "caller")}


async def test_a_split_by_hand_holds_when_its_text_goes_and_comes_again(kb: KnowledgeBase, tmp_path: Path) -> None:
    document = Document(path="a", content="# T\n\nWe met Tech Corp and TechCorp.", format="markdown")

    async def come_and_go() -> None:
        await kb.ingest([Document(path="a", content="nothing now")])
        assert await kb.client.entity_names() == []
        await kb.ingest([document])
        await kb.resolve_entities()

    await kb.ingest([document])
    assert await same(kb) == {("Tech Corp", "TechCorp", "alias")}
    await kb.split_entity("TechCorp")
    await come_and_go()
    assert await same(kb) == set()

    before = await snapshot(kb.client)
    await kb.client.export_graph(tmp_path / "graph.jsonl")
    await kb.client.delete_everything()
    assert (await kb.client.counts())["nodes"] == {}
    await kb.client.import_graph(tmp_path / "graph.jsonl")
    assert await snapshot(kb.client) == before
    await come_and_go()
    assert await same(kb) == set(), "an export carries it"

    await kb.merge_entities("Tech Corp", "TechCorp")
    assert "Distinction" not in (await kb.client.counts())["nodes"], "a merge by hand takes it back"
    await kb.delete("a")
    assert await kb.split_entity("Tech Corp") == 1
    assert await kb.client.entity_names() == []
    await kb.ingest([document])
    assert await same(kb) == set()


async def test_what_only_a_merge_by_hand_kept_goes_with_the_split(kb: KnowledgeBase) -> None:
    text = "International Business Machines and Big Blue. Gamma Ltd."
    await kb.ingest([Document(path="b", content=text)])
    await kb.add_triples([("Delta", "knows", "Epsilon")])
    for alias, entity in (("Big Blue", "International Business Machines"), ("Delta", "Gamma Ltd")):
        await kb.merge_entities(alias, entity)
    await kb.delete("b")
    assert {name for pair in await same(kb) for name in pair} >= {"Big Blue", "Gamma Ltd"}, "merges by hand stay"
    assert await kb.split_entity("Big Blue") == 1
    assert await kb.split_entity("Gamma Ltd") == 1
    assert sorted(await kb.client.entity_names()) == ["delta", "epsilon"], "but for what a person made"


async def test_ingest_regards_spelling_and_initials_only(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="a", content="Then Elisabeth of France came. So did Elizabeth of France.")])
    assert await same(kb) == set()
    await kb.resolve_entities()
    assert {method for _, _, method in await same(kb)} == {"fuzzy"}
    await kb.ingest([Document(path="b", content="Café Müller closed; Cafe Muller is open.")])
    assert {method for _, _, method in await same(kb)} == {"fuzzy", "alias"}, "what was found before stays"
    await kb.split_entity("Café Müller")
    await kb.ingest([Document(path="c", content="Café Müller again.")])
    assert {method for _, _, method in await same(kb)} == {"fuzzy"}, "a split by hand holds"
    await kb.ingest([Document(path="b", content="Nothing is left.")])
    await kb.ingest([Document(path="a", content="Nothing is left.")])
    assert await same(kb) == set()


async def test_an_ingest_that_was_cut_short_is_made_up_for_by_the_next(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(client: object, changed: int) -> None:
        raise StoreError("the machine went down")

    document = Document(path="a", content="We asked Tech Corp. We like TechCorp.")
    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(titles, "resolve_names_after", fail)
        await kb.ingest(document)
    assert await same(kb) == set()
    assert (await kb.ingest(document)).documents.unchanged == 1
    assert len(await same(kb)) == 1


async def test_an_ingest_that_only_prunes_connects_what_is_left(kb: KnowledgeBase, tmp_path: Path) -> None:
    texts = {
        "both.md": "The World Health Organization (WHO) met.",
        "phrase.md": "The World Health Organization left.",
        "acronym.md": "We asked the WHO.",
        **{f"{n}.md": "TechCorp is open." for n in range(3)},
        **{f"{n}.md": "Tech Corp is shut." for n in range(3, 5)},
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    await kb.ingest(tmp_path)
    assert {(alias, method) for alias, _, method in await same(kb)} == {("WHO", "acronym"), ("Tech Corp", "alias")}
    for name in ("both.md", "0.md", "1.md"):
        (tmp_path / name).unlink()
    assert (await kb.ingest(tmp_path, prune=True)).documents.deleted == 3
    assert await same(kb) == {("TechCorp", "Tech Corp", "alias")}, "nothing says what WHO means any more"


NAMES = ["tech corp", "techcorp", "the tech corp", "tech corp ltd", "café müller", "cafe muller", "nato", "n a t o"]
NAMES += ["north atlantic treaty organization", "north of the atlantic treaty organization", "who", "acme", "an acme"]


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_what_may_be_alike_is_found_before_anything_is_looked_up(names: list[str]) -> None:
    texts = {name: name.upper() if name in {"nato", "who"} else name for name in names}
    there = [Candidate(name, name, texts[name], type_of(texts[name])) for name in names]
    few = alike(names, [item.name for item in there if item.is_acronym])
    some = [item for item in there if item.name in few]
    assert resolve(some, together=set, fuzzy=False) == resolve(there, together=set, fuzzy=False)


@pytest.mark.parametrize("acronyms", [["raf", "r a f"], ["r a f", "raf"]])
def test_acronyms_of_the_same_letters_are_alike_in_any_order(acronyms: list[str]) -> None:
    assert alike([*acronyms, "mill"], acronyms) == {"raf", "r a f"}
    assert alike([*acronyms, "royal air force"], acronyms) == {"raf", "r a f", "royal air force"}


WORDS = ["mill", "pond", "weir", "of", "ii", "3", "river"]


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), unique=True), st.integers(0, 3))
def test_what_has_to_be_looked_up_is_known_before(names: list[str], titled: int) -> None:
    there = candidates(*names, "MOTP", "Mill of the Pond", titled=tuple(names[:titled]))
    asked: list[tuple[str, str]] = []
    compared: set[str] = set()

    def together(pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        asked.extend(pairs)
        return set()

    def similarities(pairs: Sequence[tuple[Candidate, Candidate]]) -> list[float]:
        compared.update(item.id for pair in pairs for item in pair)
        return [0.0] * len(pairs)

    resolve(there, together=together, similarities=similarities)
    assert abbreviations(there) == asked
    assert compared <= {item.id for item in comparable(there)}


def test_pairs_are_compared_part_by_part() -> None:
    there = candidates(*(f"{city} {noun}{letter}" for city in CITIES for noun in NOUNS for letter in "abcdefghij"))
    sizes: list[int] = []

    def similarities(pairs: Sequence[tuple[Candidate, Candidate]]) -> list[float]:
        sizes.append(len(pairs))
        return [1.0] * len(pairs)

    found = resolve(there, similarities=similarities, fuzzy=False)
    assert len(sizes) > 1
    assert len(found) == sum(sizes) == 5 * (50 * 49 // 2) + 50 * (5 * 4 // 2)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("get-role-policy", "put-role-policy", False),
        ("aws s3api get-object", "aws s3api put-object", False),
        ("arn:aws:iam::1:policy/TestPolicy", "arn:aws:iam::1:policy/TesterPolicy", False),
        ("POST /db/NAME/collection", "POST /db/NAME/collections", False),
        ("read(file, strict)", "read(file, stricter)", False),
        ("core.rag.search.keywords", "core.rag.search.keyword", False),
        ("On-Demand Instance", "On-Demand Instances", True),
        ("capacity reservation", "capacity reservations", True),
        ("Harrow: The Millers", "Harrow: The Miller", True),
        ("J.R.R. Tolkien", "J.R.R. Tolkein", True),
    ],
)
def test_identifiers_that_are_nearly_alike_are_not_the_same(one: str, other: str, same: bool) -> None:
    there = [Candidate(name, normalize_name(name), name, type_of(name)) for name in (one, other)]
    for found in (resolve(there), resolve(there, fuzzy=False, similarities=lambda pairs: [0.99] * len(pairs))):
        assert bool(found) == same


CITIES = ["avalon", "bergen", "cadiz", "delft", "essen"]
NOUNS = ["mill", "pond", "weir", "lock", "dam"]


async def test_only_what_is_there_can_be_merged(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="a", content="Then Ada Lovelace met NASA.")])
    with pytest.raises(NotFoundError, match="Nobody"):
        await kb.merge_entities("Ada Lovelace", "Nobody")
    with pytest.raises(InvalidInputError):
        await kb.merge_entities("ada lovelace", "Ada Lovelace")
    with pytest.raises(NotFoundError):
        await kb.split_entity('"; MATCH (n) DETACH DELETE n //')


async def test_what_a_person_made_can_be_taken_back(kb: KnowledgeBase) -> None:
    await kb.link("Alpha Works", "Beta Works", "owns", create=True)
    await kb.add_triples([("Beta Works", "owns", "Gamma Works")])
    await kb.merge_entities("Alpha Works", "Gamma Works")
    await kb.ingest([Document(path="a", content="They asked BETA WORKS. Then BETA WORKS closed.")])
    assert await kb.remove_entity("Alpha Works")
    assert (await kb.graph_stats()).edges_by_type == {"owns": 1}
    assert await kb.remove_entity("beta works")
    stats = await kb.graph_stats()
    assert (stats.edges, stats.nodes) == (0, 2), "Gamma was made by hand, Beta is in a text"
    assert [node.name for node in await kb.search_nodes("beta")] == ["BETA WORKS"], "named as the text says now"
    assert await kb.remove_entity("Beta Works") is False
    assert await kb.remove_entity("Gamma Works")
    await kb.delete("a")
    assert "Entity" not in (await kb.client.counts())["nodes"]
    with pytest.raises(NotFoundError):
        await kb.remove_entity("Alpha Works")


async def test_an_acronym_that_spells_a_function_word_is_connected(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [Document(path="a", content="The World Health Organization (WHO) met in Geneva. Later the WHO left.")]
    )
    assert set(await mentioned(kb.client, "a")) == {"World Health Organization", "WHO", "Geneva"}
    rows = await kb.client.read(
        "MATCH (a:Entity)-[:SAME_AS]->(b:Entity) WHERE a.namespace = $namespace RETURN a.name AS a, b.name AS b"
    )
    assert [sorted((row["a"], row["b"])) for row in rows] == [["WHO", "World Health Organization"]]


@pytest.mark.parametrize("first", ["record", "triple", "text"])
async def test_an_acronym_is_one_whatever_type_a_record_or_a_caller_gives_it(kb: KnowledgeBase, first: str) -> None:
    document = Document(path="a", content="The World Health Organization (WHO) met in Geneva. Later the WHO left.")
    if first == "text":
        await kb.ingest([document])
    if first == "triple":
        await kb.add_triples([("WHO", "seated_in", "Geneva")])
    else:
        await kb.insert("members", {"name": "Ada Lovelace", "organization": "WHO"})
    await kb.ingest([document, Document(path="b", content="A second one.")])
    assert len(await same(kb)) == 1
    await kb.resolve_entities(vectors=False)
    assert len(await same(kb)) == 1
