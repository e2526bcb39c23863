"""Files that programs made for programs are reported, not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from libs.dataloader import WebLoader
from tests.dataloader.filetools import convert, load, reason, tree
from tests.dataloader.webserver import WebServer, crawl, page

STATEMENT = "function turn(wheel){return wheel.speed*2}var mill={wheels:[1,2,3],open:true};"
MINIFIED = "/*! mill.js 2.1 */\n" + STATEMENT * 40
RULES = ".mill{color:#333;margin:0 auto}.wheel:hover{opacity:.8}" * 60
MAP = json.dumps({"version": 3, "sources": ["mill.ts"], "sourcesContent": ["let a"], "names": [], "mappings": "AAAA"})


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("mill.min.js", MINIFIED, "it is minified code or data (javascript)"),
        ("mill.css", RULES, "it is minified code or data (css)"),
        ("mill.js.map", MAP, "it is a source map"),
        ("searchindex.json", '[{"u": "/mill", "t": "The mill turns."}]', "it is the search index of web pages"),
        (
            "All.base",
            "filters:\n  and: []\nviews:\n  - type: table\n",
            "it only says how Obsidian shows a table of notes",
        ),
        ("search/search_index.json", '{"docs": [{"location": "mill/"}]}', "it is the search index of web pages"),
        ("Cargo.lock", '[[package]]\nname = "mill"\nchecksum = "c982642fa9e8"\n', "it is a lock file"),
        ("web/package-lock.json", '{"packages": {"mill": {"integrity": "sha512-lhHF=="}}}', "it is a lock file"),
        ("go.sum", "example.org/mill v1.2.0 h1:47DEQpj8HBSa=\n", "it is a lock file"),
    ],
)
def test_what_lies_beside_built_pages_is_named(name: str, data: str, why: str) -> None:
    assert reason(name, data).startswith(why)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mill.js", (STATEMENT + "\n") * 40),
        ("bookmark.js", STATEMENT * 10),
        ("mill.js", (STATEMENT + "\n") * 40 + 'const image = "' + "QUJD" * 500 + '";\n'),
        ("mill.css", ".mill {\n  color: #333;\n}\n" * 60 + f"@import url(data:text/css;base64,{'QUJD' * 700});\n"),
        ("mill.py", f"DATA = '{'x' * 5000}'\n"),
        ("mills.base", "The views: all of them.\n"),
        ("places.map", '{"mills": ["Ash", "Dale"]}'),
        ("mills-search-index.json", '{"mappings": {"properties": {"url": {"type": "keyword"}}}}'),
        ("canal.lock", "The integrity: of a lock is checked each year.\n"),
        ("go.sum", "What the mill earned: 12\n"),
        ("research-index.json", '{"mills": ["Ash", "Dale"]}'),
    ],
)
def test_what_somebody_wrote_is_read(name: str, data: str) -> None:
    assert convert(name, data).content


MDBOOK = (
    "<html><head><!-- Book generated using mdBook --><title>The book</title></head><body><main>{}</main></body></html>"
)
NOINDEX = "<title>T</title><meta name='robots' content='noindex, nofollow'><p>{}</p>"


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("book/print.html", MDBOOK),
        ("book/toc.html", MDBOOK.replace("Book generated using", "sidebar iframe generated using")),
        ("docs/_print/index.html", NOINDEX),
        ("docs/index.print.html", NOINDEX),
        ("print_page/index.html", "<title>Print Site</title><main><div id='print-site-page'><h1>T</h1>{}</div></main>"),
    ],
)
async def test_all_pages_in_one_for_printing_are_not_read_beside_these(name: str, html: str, tmp_path: Path) -> None:
    text = "All of the chapters. " * 20
    pages = {name: html.format(text), "chapter.html": "<title>One</title><p>A chapter</p>"}
    folder = tree(tmp_path, dict(pages))
    loaded = await load(folder)
    assert list(loaded.documents) == [f"{folder}/chapter.html"]
    assert loaded.failures == {
        f"{folder}/{name}": "it repeats the pages beside it, for printing, as a frame or as an index"
    }
    named = (await load(folder / name)).documents[f"{folder}/{name}"]
    assert text.strip() in named.content
    async with WebServer(
        {"/": page("chapter.html", name)} | {f"/{path}": html for path, html in pages.items()}
    ) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/chapter.html"]


@pytest.mark.parametrize(
    ("name", "html"), [("print.html", "<p>How to print</p>"), ("print.html", NOINDEX.replace("noindex", "noarchive"))]
)
def test_a_page_about_printing_is_read(name: str, html: str) -> None:
    assert convert(name, html.format("How to print")).content == "How to print"
