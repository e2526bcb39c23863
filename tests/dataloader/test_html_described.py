"""HTML that Sphinx built: what it describes is a section of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.dataloader import WebLoader
from libs.dataloader.html import html_to_document
from tests.dataloader.filetools import load, tree
from tests.dataloader.webserver import WebServer, crawl

BASE = "https://example.org/docs/api.html"


def described(kind: str, signature: str, text: str) -> str:
    """What Sphinx writes for a directive; names in a signature are marked by braces."""
    name = '<span class="sig-name descname"><span class="pre">'
    above = '<span class="sig-prename descclassname"><span class="pre">'
    marked = (
        signature.replace("{", name).replace("[", above).replace("}", "</span></span>").replace("]", "</span></span>")
    )
    link = '<a class="headerlink" href="#x" title="Link to this definition">¶</a>'
    return f'<dl class="{kind}">\n<dt class="sig sig-object" id="x">\n{marked}{link}</dt>\n<dd>{text}</dd></dl>\n'


def markdown(text: str) -> str:
    return html_to_document(
        "<html><head><title>API — Mills</title></head><body>"
        '<div class="sphinxsidebar"><div class="sphinxsidebarwrapper"><h3>Navigation</h3></div></div>'
        f'<div class="body" role="main"><section id="api"><h1>API<a class="headerlink" href="#api">¶</a></h1>{text}'
        '</section></div><div class="footer"><p>Made by hand</p></div></body></html>',
        BASE,
    ).markdown


def test_classes_and_their_members_are_sections_and_the_text_behind_stands_under_its_own() -> None:
    method = described("py method", "{grind}(<em>x</em>) → int", "<p>Grinds, see <a href='b.html'>bread</a>.</p>")
    plain = described("py attribute", "{level}", "<p>Of the water.</p>")
    bare = described("py method", "{stop}()", "")
    body = described(
        "py class",
        '<span class="property">class </span>[mills.]{Mill}(<em>name: str</em>)<a class="reference internal"'
        ' href="_modules/mills.html"><span class="viewcode-link"><span class="pre">[source]</span></span></a>',
        f"<p>A mill.</p>{method}{plain}{bare}<div class='admonition note'><p>It is old.</p></div>",
    )
    page = markdown(f"<p>All.</p>{body}<p>More of it.</p><ul><li>Wheels</li></ul>")
    assert (
        page
        == """# API

All.

## `mills.Mill`

`class mills.Mill(name: str)`

A mill.

### `Mill.grind`

`grind(x) → int`

Grinds, see bread.

### `Mill.level`

Of the water.

## `mills.Mill`

stop()

It is old.

# API

More of it.

- Wheels"""
    )


@pytest.mark.parametrize(
    ("kind", "signature", "text"),
    [
        ("std envvar", "{MILL_HOME}", "## `MILL_HOME`\n\nText."),
        (
            "std option",
            "{-c}[ &lt;command&gt;][, ]{--command}[ &lt;command&gt;]",
            "## `-c <command>, --command`\n\n`-c <command>, --command <command>`\n\nText.",
        ),
        (
            "cpp class",
            "template&lt;class {T}&gt;<br/>class [mills::]{Wheel} : public Base",
            "## `mills::Wheel`\n\n`template<class T> class mills::Wheel : public Base`\n\nText.",
        ),
        ("c function", "int {mill_turn}(int speed)", "## `mill_turn`\n\n`int mill_turn(int speed)`\n\nText."),
        ("py class", "class [mills.]{API}(x)", "`class mills.API(x)`\n\nText."),  # as the section is called
        # Of Sphinx before 4.
        (
            "function",
            "<code class='descclassname'>mills.</code><code class='descname'>stop</code>()",
            "## `mills.stop`",
        ),
    ],
)
def test_names_of_what_is_described(kind: str, signature: str, text: str) -> None:
    assert markdown(described(kind, signature, "<p>Text.</p>")).startswith(f"# API\n\n{text}")


def test_members_have_the_name_of_their_class() -> None:
    turn = described("cpp function", "void {turn}()", "<p>Turns.</p>")
    inner = described("py method", "{grind}()", "<p>Grinds.</p>")
    whole = described("py method", "[Mill.]{stop}()", "<p>Stops.</p>")
    page = markdown(
        described("cpp class", "class {Wheel}", turn)
        + described("c enum", "enum {color}", described("c enumerator", "enumerator {RED}", "<p>Red.</p>"))
        + described("py class", "class {Mill}", inner + whole)
    )
    headings = [line.strip("# `") for line in page.split("\n") if line.startswith("#")]
    assert headings == ["API", "Wheel", "Wheel::turn", "color", "RED", "Mill", "Mill.grind", "Mill.stop"]


def test_several_descriptions_in_one_list() -> None:
    first = described("py function", "{stop}()", "<p>Stops.</p>")
    both = first.removesuffix("</dl>\n") + described("", "{turn}()", "<p>Turns.</p>").removeprefix('<dl class="">\n')
    assert markdown(both) == "# API\n\n## `stop`\n\n`stop()`\n\nStops.\n\n## `turn`\n\n`turn()`\n\nTurns."


@pytest.mark.parametrize("around", ["<ul><li>{}</li></ul>", "<div class='admonition note'>{}</div>"])
def test_what_is_described_within_a_list_or_a_note_stays_a_term(around: str) -> None:
    page = markdown(around.format(described("py function", "{stop}()", "<p>Stops.</p>")))
    assert "stop()\n" in page
    assert page.count("#") == 1


def test_what_is_too_deep_for_a_heading_stays_a_term() -> None:
    text = "<p>Deepest.</p>"
    for level in range(7, 0, -1):
        text = described("py class", f"class {{L{level}}}", f"<p>On {level}.</p>{text}")
    page = markdown(text)
    assert "\n###### `L4.L5`\n" in page
    assert "class L6\n: On 6.\n\n  class L7\n  : On 7.\n" in page


async def test_the_index_of_names_and_copies_of_sources_are_not_read_beside_the_pages(tmp_path: Path) -> None:
    index = "<title>Index — Mills</title><div class='body'><h1>Index</h1><div class='genindex-jumpbox'>S</div>{}</div>"
    index = index.format("<table class='indextable'><tr><td><a href='api.html'>stop() (in module mills)</a></td></tr>")
    page = "<title>API</title><h1>API</h1><p>Stops the mill.</p><a href='genindex.html'>Index</a>"
    source = "API\n===\n\n.. autofunction:: stop\n"
    folder = tree(tmp_path, {"api.html": page, "genindex.html": index, "_sources/api.rst.txt": source})
    loaded = await load(folder)
    assert list(loaded.documents) == [f"{folder}/api.html"]
    assert loaded.failures == {
        f"{folder}/_sources/api.rst.txt": "it is the source of a page that Sphinx built beside it",
        f"{folder}/genindex.html": "it repeats the pages beside it, for printing, as a frame or as an index",
    }
    assert list((await load(folder / "_sources")).documents) == [f"{folder}/_sources/api.rst.txt"]
    assert (await load(folder / "genindex.html")).documents[f"{folder}/genindex.html"].title == "Index"
    async with WebServer({"/": page, "/genindex.html": index, "/api.html": page + "<p>More.</p>"}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/api.html"]
