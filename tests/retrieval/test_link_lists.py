"""Lists of links are not in front of what they lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.ordering.link_lists import WORTH, is_link_list, lists_sources, without_lists_in_front
from libs.dataloader import Document

LISTS = [
    "### SEE ALSO\n\n* [hugo new](/commands/new/)\t - Create new content\n",
    "## See also:\n\n- Write-Output\n- The mill, and how it is kept in winter\n",
    "## Siehe auch ##\n1. Mühle\n2. Wehr\n\n3. [Teich](t.md)",
    "## RELATED LINKS\n\n[Write-Host](Write-Host.md)\n\n[Write-Output](Write-Output.md)\n\n[Out-Null](Out-Null.md)\n",
    "- [[Mill]]\n- [[Weir|The weir]]\n- [[Sluice]]\n",
    "# All\n\n* [Mill](a.md)\n  * [Old wheel](w_(old).md 'x')\n  * [Its pond](b.md \"Pond\")\n* [Tides](c.md)",
    "## References\n\n- [for][1]\n- [while][2]\n- [do][do]\n- [break the loop][break]\n- [continue][c]",
    "https://example.org/a\nhttps://example.org/b\n<https://example.org/c>\n",
    "1. [![logo](a.png)](https://a.example) [A](https://a.example)\n2. [B](https://b.example)\n3. [C](https://c.example)",
]
TEXTS = [
    "## See also\n\nThe mill is also shown in the museum of the town, on the first floor.\n",
    f"## See also\n\n- [The mill](a.md), where {'corn and ' * 10} barley are ground\n",
    "## Steps\n\n- Close the sluice\n- Stop the wheel\n- Oil it\n",
    "## See also\n",
    "The mill turns with the ebb.",
    "[One](a.md) and [two](b.md) are the wheels; see [three](c.md) for how the miller stops them at night.",
    "- [Mill](mill.md): where the corn is ground\n- [Weir](weir.md): keeps the water\n- [Sluice](s.md): lets it go",
    "[Write-Host](Write-Host.md) [Write-Output](Write-Output.md)",
    "a = b[0][1]; c = d[2](3); print(x[[1, 2]], y[[3]])",
    "| name | address |\n|---|---|\n| Ada Lane | https://a.example |\n| Bob Reed | https://b.example |\n| x | y://z |",
    "",
]


@pytest.mark.parametrize("text", LISTS)
def test_a_list_of_links_is_told(text: str) -> None:
    assert is_link_list(text)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_with_links_is_no_list(text: str) -> None:
    assert not is_link_list(text)


@given(st.text(alphabet="[]()<># \n\"'!ab:/.htps", max_size=300))
def test_any_text_is_told_apart(text: str) -> None:
    assert is_link_list(text) in (True, False)


@pytest.mark.parametrize(
    "character", ["# ", "# a \n", "# See also\n\n", "[", "](", "[[", "[a](", "![", "https://", '[a](b "']
)
def test_broken_links_without_end_take_no_time(character: str) -> None:
    assert not is_link_list(character * 30_000 + " the mill")


def test_only_lists_are_lowered() -> None:
    scores = {"list": 1.0, "sources": 0.9, "text": 0.8, "not looked at": 0.5}
    sources = '[MILL]\n: Lane, A., "The mill", 1780.'
    looked_at = {
        "list": ("a.md", "", LISTS[0]),
        "sources": ("a.md", "The mill > 12. References", sources),
        "text": ("a.md", "", TEXTS[1]),
    }
    assert without_lists_in_front(scores, looked_at, "Who owns the mill?") == {
        "list": pytest.approx(WORTH),
        "sources": pytest.approx(0.9 * WORTH),
        "text": 0.8,
        "not looked at": 0.5,
    }


@pytest.mark.parametrize(
    ("path", "question", "worth"),
    [
        ("mill.rs", "How does the sluice work?", WORTH),
        ("mill.rs", "Where is the sluice used?", 1.0),
        ("mill.md", "How does the sluice work?", 1.0),
    ],
)
def test_imports_are_lowered_if_they_are_not_asked_for(path: str, question: str, worth: float) -> None:
    imports = "use mill::sluice::Sluice;\nuse mill::{\n    wheel::Wheel,\n    Pond,\n};\nuse std::fmt;\n"
    assert without_lists_in_front({"c": 0.5}, {"c": (path, "", imports)}, question) == {"c": 0.5 * worth}


@pytest.mark.parametrize(
    ("heading", "sources"),
    [
        ("HTTP > 12. References > 12.2. Informative References", True),
        ("Der Bach > Literaturverzeichnis", True),
        ("Bibliography", True),
        ("API reference", False),
        ("Passing by reference", False),
        ("", False),
    ],
)
def test_lists_of_sources_are_told_by_their_headings(heading: str, sources: bool) -> None:
    assert lists_sources(heading) is sources


async def test_answers_say_what_a_source_is_about_only_if_it_is_asked_for() -> None:
    text = (
        "# RFC 42\n\n## 1. Gates\n\nA gate that leaks water is caulked within a day.\n\n## 2. References\n\n[W]\n"
        ": Lane: A gate that leaks water, 1780.\n"
    )
    async with KnowledgeBase.open("embedded::memory:", chunk_size=32, chunk_overlap=0) as kb:
        await kb.ingest([Document(path="rfc42.md", content=text, format="markdown")])
        answer = (await kb.ask("What does RFC 42 say about a gate that leaks water?")).text
        assert "caulked" in answer.splitlines()[2], answer
        answer = (await kb.ask("Which author wrote about a gate that leaks water?")).text
        assert "Lane" in answer


@pytest.mark.parametrize("mode", ["hybrid", "graph", "auto"])
@pytest.mark.parametrize("filters", [None, "path:manual/"])
@pytest.mark.parametrize("conversation", [False, True])
async def test_what_a_list_leads_to_comes_first(mode: SearchMode, filters: str | None, conversation: bool) -> None:
    commands = ["Write-Host", "Write-Output", "Write-Error", "Write-Debug", "Out-Host", "Out-Null"]
    links = "\n\n".join(f"[{command}]({command}.md)" for command in commands)
    documents = [
        Document(
            path=f"manual/{command}.md",
            title=command,
            content=f"# {command}\n\nThis command sends {number} objects to where the reader looks for them, and"
            f" further into stream {number}. What differs is the way that they take.\n\n## See also\n\n{links}\n",
            format="markdown",
        )
        for number, command in enumerate(commands)
    ]
    async with KnowledgeBase.open("embedded::memory:", chunk_size=60, chunk_overlap=0) as kb:
        await kb.ingest(documents)
        said = None
        if conversation:
            said = await kb.client.create_conversation("streams")
            await kb.client.add_message(said, "What does Write-Error do?", "user")
        question = "What is the difference between Write-Host and Write-Output?"
        hits = await kb.search(question, k=4, mode=mode, filters=filters, conversation_id=said)
        assert not is_link_list(hits[0].content)
        listed = await kb.search("See also", k=1, mode="keyword")  # a single leg shows what it finds
        assert is_link_list(listed[0].content)
