"""Kinds of documents, told by Content-Type and by bytes, and their encodings."""

from __future__ import annotations

import pytest

from libs.dataloader import (
    WebLoader,
)
from libs.dataloader.crawl.media import Kind, kind_of
from tests.dataloader.webserver import Reply, WebServer, crawl, page


def test_a_head_of_many_comments_takes_no_time() -> None:
    comments = b"<!---->" * 146
    assert kind_of("text/html", comments + b"<div>x", "http://a/") is Kind.HTML
    assert kind_of("", b"\xef\xbb\xbf" + comments + b" <?xml?><HTML>", "http://a/") is Kind.HTML
    assert kind_of("", comments + b"<div>x", "http://a/") is Kind.TEXT


async def test_kinds_are_told_by_content_type_and_by_bytes() -> None:
    html = page(text="real html")
    async with WebServer() as server:
        server.pages = {
            "/text": Reply("just text", "text/plain"),
            "/readme": Reply("# Title\n\nMarkdown", "text/markdown; charset=utf-8"),
            "/notes.md": Reply("# Notes\n\nbody", "text/plain"),
            "/guide.rst": Reply("Guide\n=====\n\n`here <data>`_", "text/plain"),
            "/manual.adoc": Reply("= Manual\n\nlink:data[here]", "text/x-any"),
            "/data": Reply('{"name": "value"}', "application/json"),
            "/api": Reply('{"name": "other"}', "text/html"),
            "/lies": Reply(html, "text/plain"),
            "/lies.pdf": Reply(html + "<p>2", "application/pdf"),
            "/untold": Reply(html + "<p>3", None),
            "/xhtml": Reply(
                '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>x</body></html>',
                "application/xhtml+xml",
            ),
        }
        server.pages["/"] = page(*server.pages)
        found = await crawl(WebLoader(server.url()))
    assert not found.failures
    kinds = {path: document.mime_type for path, document in found.documents.items()}
    assert kinds == {
        "/": "text/html",
        "/text": "text/plain",
        "/readme": "text/markdown",
        "/notes.md": "text/markdown",
        "/guide.rst": "text/x-rst",
        "/manual.adoc": "text/asciidoc",
        "/data": "application/json",
        "/api": "application/json",
        "/lies": "text/html",
        "/lies.pdf": "text/html",
        "/untold": "text/html",
        "/xhtml": "text/html",
    }
    assert found.documents["/text"].content == "just text"
    assert [found.documents[path].title for path in ("/guide.rst", "/manual.adoc")] == ["Guide", "Manual"]
    assert found.documents["/readme"].format == found.documents["/"].format == "markdown"
    assert "value" in found.documents["/data"].content


def pdf(text: str) -> bytes:
    """The smallest PDF that shows a line of text."""
    drawing = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


async def test_pdf_files_are_read_also_where_the_header_lies() -> None:
    async with WebServer() as server:
        server.pages = {
            "/paper.pdf": Reply(pdf("Rivers and stones"), "application/pdf"),
            "/download?id=1": Reply(pdf("Amber and copper"), "application/octet-stream"),
            "/lies": Reply(pdf("Winter candles"), "text/html"),
            "/broken.pdf": Reply(pdf("x")[:60], "application/pdf"),
        }
        server.pages["/"] = page(*server.pages)
        loader = WebLoader(server.url())
        found = await crawl(loader)
        for path, words in {"/paper.pdf": "Rivers", "/download?id=1": "Amber", "/lies": "Winter"}.items():
            document = found.documents[path]
            assert words in document.content and document.mime_type == "application/pdf"
            assert document.path == document.uri == document.metadata["url"] == server.url(path)
            assert document.locations["page"] == [(0, 1)]
        assert list(found.failures) == ["/broken.pdf"] and loader.complete


async def test_links_in_markdown_are_followed() -> None:
    async with WebServer({"/doc/a": page(text="a")}) as server:
        server.pages["/readme.md"] = Reply("# Title\n\nSee [a](doc/a) and [far](https://example.org/).", "text/plain")
        found = await crawl(WebLoader(server.url("/readme.md")))
        assert list(found.documents) == ["/readme.md", "/doc/a"]
        assert found.documents["/readme.md"].title == "Title"
        assert [link.target for link in found.documents["/readme.md"].links] == [
            server.url("/doc/a"),
            "https://example.org/",
        ]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\x89PNG\r\n\x1a\n", "text/html"),
        (b"PK\x03\x04rest", "application/octet-stream"),
        (b"\x00\x01\x02\x03" * 100, "application/octet-stream"),
        (b"body {}", "text/css"),
        (b"<rss></rss>", "application/rss+xml"),
        (b"whatever", "video/mp4"),
    ],
)
async def test_other_kinds_are_reported_where_a_page_was_promised(body: bytes, content_type: str) -> None:
    async with WebServer({"/": page("/thing", "/thing.xyz")}, fallback=Reply(body, content_type)) as server:
        server.pages |= {"/robots.txt": Reply(status=404), "/sitemap.xml": Reply(status=404)}
        loader = WebLoader(server.url())
        found = await crawl(loader)
        assert list(found.failures) == ["/thing"]
        assert "read from the web" in found.failures["/thing"] or "binary" in found.failures["/thing"]
        assert loader.skipped["type"] == 1 and loader.complete
        alone = await crawl(WebLoader(server.url("/thing.xyz")))
        assert list(alone.failures) == ["/thing.xyz"] and not alone.documents


async def test_a_start_url_that_is_no_html_page_is_all_that_is_loaded() -> None:
    async with WebServer({"/a.txt": Reply("text", "text/plain"), "/b": page()}) as server:
        server.pages["/sitemap.xml"] = Reply(f"<urlset><url><loc>{server.url()}b</loc></url></urlset>", "text/xml")
        found = await crawl(WebLoader(server.url("/a.txt")))
        assert list(found.documents) == ["/a.txt"]
        again = await crawl(WebLoader(server.url("/a.txt")), found.known())
        assert again.unchanged == ["/a.txt"] and len(again.results) == 1


WORDS = "Größe, naïve façade, 10 € – “quoted”."


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (page(text=WORDS).encode("utf-8"), "text/html; charset=utf-8"),
        (page(text=WORDS).encode("cp1252"), "text/html; charset=windows-1252"),
        (page(text=WORDS).encode("cp1252"), "text/html; charset=ISO-8859-1"),
        (page(text=WORDS).encode("utf-8"), "text/html; charset=ISO-8859-1"),
        (page(text=WORDS).encode("utf-8"), 'text/html; charset="nonsense"'),
        (page(text=WORDS, head='<meta charset="windows-1252">').encode("cp1252"), "text/html"),
        (page(text=WORDS).encode("utf-16"), "text/html"),
        (b"\xef\xbb\xbf" + page(text=WORDS).encode("utf-8"), "text/html; charset=windows-1252"),
        (page(text=WORDS).encode("utf-8"), None),
    ],
)
async def test_text_is_decoded_whatever_the_header_says(body: bytes, content_type: str | None) -> None:
    async with WebServer({"/": Reply(body, content_type)}) as server:
        found = await crawl(WebLoader(server.url()))
    assert WORDS in found.documents["/"].content
