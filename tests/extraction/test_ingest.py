"""What ingest finds in texts: names, terms, titles in other documents, and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from libs.dataloader import Document
from tests.dbhandler.kit import Engine, make_settings
from tests.extraction.graphs import knowledge, mentioned

HOSTILE = [
    '"; MATCH (n) DETACH DELETE n //',
    "`Name`) DETACH DELETE (n",
    "🎉 Party",
    "X" * 10_000,
    "$now {id: 1}",
    "\x1f",
    "Up\x1fto\x1eDate",
]


def doc(path: str, content: str, title: str | None = None) -> Document:
    return Document(path=path, content=content, title=title)


async def test_names_and_terms_of_a_text_are_entities(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            doc(
                "a",
                'When Ada Lovelace met NASA in 1843, "the cheese" of `compile_notes()` was in the Bank of England.',
            )
        ]
    )
    assert await mentioned(kb.client, "a") == dict.fromkeys(
        ["Ada Lovelace", "NASA", "1843", "compile_notes()", "Bank of England"], 1
    )


async def test_a_title_is_found_in_every_other_chunk_whatever_its_case(kb: KnowledgeBase) -> None:
    await kb.ingest([doc("before", "there the tide mill turns."), doc("other", "Nothing at all.")])
    assert await mentioned(kb.client, "before") == {}

    await kb.ingest(
        [doc("mill", "It is old.", "Tide Mill (Suffolk)"), doc("after", "Once more THE TIDE-MILL’S wheel.")]
    )

    assert await mentioned(kb.client, "before") == {"Tide Mill": 2}, "the mention of before the title"
    assert "Tide Mill" in await mentioned(kb.client, "after")
    titles = (await knowledge(kb.client))["titles"]
    assert {(row["path"], row["entity"]) for row in titles} == {("mill", "tide mill"), ("mill", "tide mill suffolk")}

    await kb.delete("mill")
    assert await mentioned(kb.client, "before") == {}, "withdrawn with the title"


async def test_a_title_of_a_document_that_is_refused_is_none(kb: KnowledgeBase) -> None:
    refused = doc("mill", "It is old.", "Tide Mill")
    refused.metadata["x"] = object()

    report = await kb.ingest([doc("before", "There the tide mill turns, and the old bridge."), refused])

    assert [failure.path for failure in report.documents.failed] == ["mill"]
    assert await mentioned(kb.client, "before") == {}
    await kb.ingest([doc("mill", "It is old.", "Tide Mill"), doc("bridge", "So is this.", "Old Bridge")])
    assert await mentioned(kb.client, "before") == {"Tide Mill": 1, "Old Bridge": 1}


async def test_the_longest_title_counts_and_what_is_in_it_comes_back(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            doc("york", "x", "New York"),
            doc("city", "x", "New York City"),
            doc("text", "we were in new york city then."),
        ]
    )
    assert await mentioned(kb.client, "text") == {"New York City": 1}
    await kb.delete("city")
    assert await mentioned(kb.client, "text") == {"New York": 1}
    await kb.ingest([doc("city", "x", "New York City")])
    assert await mentioned(kb.client, "text") == {"New York City": 1}


async def test_other_scripts_and_languages_do_no_harm(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            doc("ja", "私は東京都に住んでいます。"),
            doc("tokyo", "大きい。", "東京"),
            doc("ru", "Мы были в Санкт-Петербурге и в москве."),
            doc("moscow", "x", "Москве"),
            doc(
                "de",
                "Die Mühle und der Müller sind am Deich, und das Korn wird in der Mühle durch den Müller gemahlen.",
            ),
            doc("ar", "القاهرة مدينة كبيرة"),
        ]
    )
    assert await mentioned(kb.client, "ja") == {"東京": 1}
    assert "Москве" in await mentioned(kb.client, "ru")
    assert await mentioned(kb.client, "de") == {}, "nouns of German are no names"
    assert await mentioned(kb.client, "ar") == {}


async def test_links_become_references_when_their_target_is_there(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").write_text("# A\n\nSee [the other](sub/b.md#part) and [a page](https://example.org/x#y).\n")
    await kb.ingest(tmp_path)
    assert {(row["label"], row["uri"].rsplit("/", 1)[-1]) for row in (await knowledge(kb.client))["references"]} == {
        ("Resource", "b.md"),
        ("Resource", "x"),
    }
    (tmp_path / "sub" / "b.md").write_text("# B\n\nBack to [A](../a.md).\n")
    (tmp_path / "c.html").write_text('<h1>C</h1><p>To <a href="sub/b.md">B</a> and <a href="#here">here</a>.</p>')
    await kb.ingest(tmp_path)
    rows = (await knowledge(kb.client))["references"]
    found = {(row["path"].rsplit("/", 1)[-1], row["label"], row["uri"].rsplit("/", 1)[-1]) for row in rows}
    assert found >= {
        ("a.md", "Document", "b.md"),
        ("b.md", "Document", "a.md"),
        ("c.html", "Document", "b.md"),
        ("a.md", "Resource", "x"),
    }


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_texts_and_titles_are_only_texts(kb: KnowledgeBase, text: str) -> None:
    await kb.ingest([doc("safe", "Ada Lovelace was here.")])
    before = await knowledge(kb.client)
    report = await kb.ingest([doc("bad", f"# {text}\n\nSaid {text} and `{text}` of “{text}”.", text[:2000])])
    assert report.documents.failed == []
    await kb.ingest([doc("again", f"once more {text}")])
    assert "Ada Lovelace" in await mentioned(kb.client, "safe")
    await kb.delete("bad")
    await kb.delete("again")
    assert await knowledge(kb.client) == before


async def test_extraction_can_be_switched_off_and_on(engine: Engine) -> None:
    documents = [doc("a", "Ada Lovelace met Charles Babbage.", "Meeting")]
    async with engine.knowledge(settings=make_settings(MGRAG_EXTRACTION=False)) as kb:
        await kb.ingest(documents)
        assert "Entity" not in (await kb.client.counts())["nodes"]
        on = KnowledgeBase(kb.client, kb.embedder, settings=make_settings())
        report = await on.ingest(documents)
        assert report.documents.updated == 1, "it is looked at again"
        assert "Ada Lovelace" in await mentioned(kb.client, "a")
        await kb.ingest(documents)
        assert "Entity" not in (await kb.client.counts())["nodes"]


async def test_a_run_that_was_cut_short_is_made_up_for(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.rag.indexing.titles import TitleLinker

    async def killed(*_: object) -> None:
        raise RuntimeError("killed")

    await kb.ingest([doc("text", "by the tide mill.")])
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(TitleLinker, "link", killed)
        await kb.ingest([doc("mill", "x", "Tide Mill")])
    assert await mentioned(kb.client, "text") == {}

    await kb.ingest([doc("mill", "x", "Tide Mill")])

    assert await mentioned(kb.client, "text") == {"Tide Mill": 1}
    assert (await knowledge(kb.client))["unlinked"] == []


async def test_a_run_that_was_cut_short_is_made_up_for_by_one_that_adds_to_the_same_source(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.rag.indexing.titles import TitleLinker

    async def killed(*_: object) -> None:
        raise RuntimeError("killed")

    await kb.ingest([doc("text", "by the tide mill.")])
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(TitleLinker, "link", killed)
        await kb.ingest([doc("mill", "x", "Tide Mill")])
    seen = await kb.client.unlinked_sources()
    assert seen

    await kb.ingest([doc("more", "It has a wheel.")])

    assert await mentioned(kb.client, "text") == {"Tide Mill": 1}
    assert await kb.client.unlinked_sources() == []


async def test_a_run_leaves_the_mark_of_another_that_has_written_meanwhile(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.rag.indexing.titles import TitleLinker

    async def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(TitleLinker, "link", killed)
        with pytest.raises(RuntimeError):
            await kb.ingest([doc("text", "by the tide mill.", "Text")])
        seen = await kb.client.unlinked_sources()
        with pytest.raises(RuntimeError):
            await kb.ingest([doc("mill", "x", "Tide Mill")])

    await kb.client.set_linked(seen)  # as a run does that has read the titles in between

    assert [mark.source for mark in await kb.client.unlinked_sources()] == [mark.source for mark in seen]
    await kb.ingest([doc("more", "It has a wheel.")])
    assert await mentioned(kb.client, "text") == {"Tide Mill": 1}
    assert await kb.client.unlinked_sources() == []
