"""HTML: main text, Markdown, links and what a page says of itself."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.dataloader import Link
from libs.dataloader.html import html_to_document
from tests.dataloader.filetools import convert, targets
from tests.growth import check_growth

BASE = "https://example.org/docs/page.html"
LONG = "This is a sentence of the main text that nobody would want to lose. " * 10


def body(html: str) -> str:
    return html_to_document(f"<html><body>{html}</body></html>", BASE).markdown


# -- what is text and what is not ----------------------------------------------------------------------------------


def test_the_frame_of_a_page_is_left_out() -> None:
    page = html_to_document(
        f"""<!DOCTYPE html><html lang="en"><head><title>The page</title><style>p {{}}</style></head><body>
        <div id="cookie-banner"><p>We use cookies. Accept all?</p><button>Accept</button></div>
        <header class="site-header"><a href="/">Home</a><nav><ul><li><a href="/a">Menu A</a></li></ul></nav></header>
        <div class="sidebar"><a href="/s">Sidebar link</a></div>
        <main><h1>Heading</h1><p>{LONG}</p>
          <aside>Related stories</aside><script>var inScript = 1;</script><noscript>Turn on scripts</noscript>
          <div class="share-buttons"><a href="https://share.example/">Share</a></div>
          <p>See <a href="next.html#top">the next page</a>.</p></main>
        <footer>Imprint and <a href="/legal">legal things</a></footer></body></html>""",
        BASE,
    )
    assert page.title == "The page"
    assert page.metadata["language"] == "en"
    assert page.markdown == f"# Heading\n\n{LONG.strip()}\n\nSee the next page."
    assert page.links == (Link("https://example.org/docs/next.html", "the next page"),)
    assert [link.target for link in page.page_links] == [
        "https://example.org/",
        "https://example.org/a",
        "https://example.org/s",
        "https://share.example/",
        "https://example.org/docs/next.html",
        "https://example.org/legal",
    ]


@pytest.mark.parametrize(
    "html",
    [
        f"<div class='with-sidebar cookie-page'><p>{LONG}</p></div>",
        f"<div class='widget menu share'><div><p>{LONG}</p><p>{LONG}</p></div></div>",
        f"<article class='teaser'><p>{LONG}</p></article>",
        f"<aside><p>{LONG}</p></aside>",
        f"<section hidden><p>{LONG}</p></section>",
        f"<div style='display:none'><p>{LONG}</p></div>",
        f"<header><h1>Title</h1><p>{LONG}</p></header>",
        f"<nav><a href='/'>x</a></nav><div class='nav-wrapper'><p>{LONG}</p></div>",
        f"<p>{LONG}",
        f"<table><tr><td><nav><a href='/'>x</a></nav></td><td><p>{LONG}</td></tr></table>",
        f"<form><div><p>{LONG}</p></div></form>",
    ],
)
def test_the_main_text_is_never_lost_to_a_name(html: str) -> None:
    assert LONG.strip() in body(html)


def test_an_index_of_links_keeps_its_links() -> None:
    items = "".join(f"<li><a href='/{n}'>Chapter {n}</a></li>" for n in range(20))
    page = html_to_document(f"<html><body><h1>Contents</h1><ul>{items}</ul></body></html>", BASE)
    assert "- Chapter 7\n- Chapter 8" in page.markdown
    assert len(page.links) == 20


def test_a_cookie_notice_without_a_telling_name_goes() -> None:
    page = body(f"<div><p>{LONG}</p></div><div id='ca_info'>This site uses cookies. <a href='/x'>Accept</a></div>")
    assert "cookies" not in page
    about = body(f"<h1>Baking</h1><div><p>{LONG}</p></div><p>Cookies taste best when warm.</p>")
    assert "Cookies taste best" in about


NAVIGATION = "<nav><ul>" + "".join(f"<li><a href='/{n}'>Entry number {n}</a></li>" for n in range(30)) + "</ul></nav>"
COOKIES = "<div id='cookie-banner'><p>We use cookies to make this nice. Accept all of them?</p></div>"
FOOTER = "<aside>Related stories</aside><footer>Imprint and legal things, all rights reserved</footer>"


@pytest.mark.parametrize("between", ["<br>", "<b>and</b>", "<a href='/x'>and</a>", "<h1>And</h1>"])
def test_text_between_other_elements_counts(between: str) -> None:
    line = "A line of the text that stands in no paragraph."
    text = body(f"{COOKIES}{NAVIGATION}<main>{between}{(line + between) * 20}</main><p>After the text.</p>{FOOTER}")
    assert text.count(line) == 20
    assert "Entry" not in text and "cookies" not in text and "After" not in text


@pytest.mark.parametrize(
    "text",
    [
        "<main><h1>Opening hours</h1>{}</main>",
        "<main><h1>Opening hours</h1><p>{}</p></main>",
        "<h1>Opening hours</h1><p>{}</p>",
        "<h1>Opening hours</h1><div class='widget'>{}</div>",
    ],
)
def test_a_short_page_is_its_text_and_not_the_frame(text: str) -> None:
    hours = "Monday to Friday from 9 to 5, closed on Sunday."
    page = COOKIES + NAVIGATION + text.format(hours) + FOOTER
    assert body(page) == f"# Opening hours\n\n{hours}"
    assert body(page.replace("<nav>", "<div class='navbar'>").replace("</nav>", "</div>")) == body(page)
    assert body(page.replace("<footer>", "<div id='page-footer'>").replace("</footer>", "</div>")) == body(page)
    assert body(f"<header><a href='/'>The site</a></header>{page}") == body(page)


def test_a_page_with_nothing_but_navigation_keeps_it() -> None:
    assert "- Entry number 7\n" in body(f"<h1>Contents</h1>{NAVIGATION}")


# -- Markdown ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>A <em>b</em> <code>c</code><a class='headerlink' href='#a'>¶</a></h2><p>d</p>", "## A b `c`\n\nd"),
        ("<pre><a class='viewcode-back' href='a.html#f'>[docs]</a>def f(): ...</pre>", "```\ndef f(): ...\n```"),
        ("<p>f(x)<a href='a.html#f'><span class='viewcode-link'><b>[source]</b></span></a></p>", "f(x)"),
        ("<p>one\n  two<br>three&nbsp;four</p>", "one two\nthree four"),
        ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><p>d</p>", "- a\n- b\n  - c\n\nd"),
        ("<ol start=3><li>a<p>b</p></li><li>c</li></ol>", "3. a\n\n   b\n4. c"),
        ("<ul><li><p>a</p></li><li><h3>H</h3><p>t</p></li></ul>", "- a\n\n### H\n\nt"),
        ("<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"),
        ("<pre><code class='language-python'>def f():\n    pass\n</code></pre>", "```python\ndef f():\n    pass\n```"),
        ("<div class='highlight-sh'><pre>a<br>b ``` c</pre></div>", "````sh\na\nb ``` c\n````"),
        ("<dl><dt>term</dt><dd>meaning</dd><dt>next</dt><dd>more</dd></dl>", "term\n: meaning\n\nnext\n: more"),
        ("<p># not a heading</p>", "\\# not a heading"),
        ("<p>x<sup>2</sup> and note<sup><a href='#n1'>1</a></sup></p>", "x^2 and note"),
        ("<p>a<b>b</b><i>c</i> soft&shy;hyphen zero&#8203;width</p>", "abc softhyphen zerowidth"),
        ("<p><q>quoted</q> <img alt='A chart' src=x> <svg><text>no</text></svg></p>", '"quoted" A chart'),
        ("text <div>block</div> tail", "text\n\nblock\n\ntail"),
        ("<p>Use <code>x </code>from<code> y</code>.</p>", "Use `x` from `y`."),
        ("<pre>\n    a\n      b\n</pre>", "```\na\n  b\n```"),
        (
            "<pre><i>gsize</i>\nf (<em>const <a>guchar</a> *in</em>, <i>int</i> n);</pre>",
            "```\ngsize\nf (const guchar *in, int n);\n```",
        ),
        ("<pre><code><b><i>npm i</i></b>\n<b><i>npm</i> run</b></code></pre>", "```\nnpm i\nnpm run\n```"),
        ("<pre><div>a<br></div><div>b</div>\n<div>c <button>Copy</button></div></pre>", "```\na\nb\nc\n```"),
        ("<table><tr><th>A<th>B<tr><td>c<td><pre>d</pre></table>", "| A | B |\n| --- | --- |\n| c | d |"),
        ("a<!-- comment -->b<?php x ?>c", "abc"),
    ],
)
def test_blocks(html: str, markdown: str) -> None:
    assert body(html) == markdown


def test_tables() -> None:
    html = """<table><caption>Numbers</caption><thead><tr><th>Name</th><th colspan=2>Value | unit</th></tr></thead>
    <tbody><tr><td rowspan=2>a</td><td>1</td><td>m</td></tr><tr><td>2</td><td></td></tr></tbody></table>"""
    assert body(html) == "Numbers\n\n| Name | Value \\| unit |  |\n| --- | --- | --- |\n| a | 1 | m |\n| a | 2 |  |"


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        (
            "<tr><th rowspan=2>Month<th colspan=2>Income<th>Costs</tr><tr><th>Plan<th>Actual<th>Actual</tr>",
            "| Month | Income Plan | Income Actual | Costs Actual |",
        ),
        ("<tr><th>Month<th>Plan<th>Actual<th>Tax</tr><tr><th><th>(€)<th>(€)<th>(%)</tr>",
         "| Month | Plan (€) | Actual (€) | Tax (%) |"),
        ("<tr><th colspan=4>Budget</tr><tr><th>Month<th>Plan<th>Actual<th>Tax</tr>",
         "| Budget |  |  |  |\n| --- | --- | --- | --- |\n| Month | Plan | Actual | Tax |"),
        ("<tr><th>Month<th>Plan<th>Actual<th>Tax</tr><tr><th colspan=4>First half</tr>",
         "| Month | Plan | Actual | Tax |\n| --- | --- | --- | --- |\n| First half |  |  |  |"),
    ],
)  # fmt: skip
def test_names_of_groups_are_parts_of_the_names_of_columns(head: str, rows: str) -> None:
    table = f"<table>{head}<tr><th>Jan<td>1<td>2<td>3</tr></table>"
    rule = "" if "---" in rows else "\n| --- | --- | --- | --- |"
    assert body(f"<p>The year:</p>{table}") == f"The year:\n\n{rows}{rule}\n| Jan | 1 | 2 | 3 |"


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ("<tr><td><a href=#s>sluice()</a><td>Opens.<tr><td><a href=#w>weir()</a><td>Closes.", "|  |  |"),
        ("<tr><td><code>-v</code><td>More words.<tr><td><code>-q</code><td>None.", "|  |  |"),
        ("<tr><td>Function<td>What it does<tr><td><a href=#s>sluice()</a><td>Opens.", "| Function | What it does |"),
        (
            "<tr><td><a href=?by=n>Name</a><td><a href=?by=y>Year</a><tr><td><a href=#s>Ash</a><td>1"
            + "<tr><td><a href=#w>Dale</a><td>2" * 9,
            "| Name | Year |",
        ),
        ("<tr><td><b>Gate</b><td>Closes.<tr><td>Weir<td>Opens.", "| Gate | Closes. |"),
        ("<tr><th><a href=#n>Name</a><th>Does<tr><td><a href=#s>sluice()</a><td>Opens.", "| Name | Does |"),
    ],
)
def test_lists_of_functions_in_tables_have_no_header(rows: str, head: str) -> None:
    assert body(f"<table>{rows}</table>").startswith(f"{head}\n| --- | --- |\n")


def test_tables_that_only_arrange_the_page() -> None:
    layout = f"<table><tr><td><h2>Left</h2><p>{LONG}</p></td><td><table><tr><td>x</td></tr></table></td></tr></table>"
    text = body(layout)
    assert text.startswith("## Left\n\nThis is")
    assert "|" not in text
    assert (
        body("<table role=presentation><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>")
        == "a b\n\nc d"
    )


def test_financial_tables_keep_sign_and_number_together() -> None:
    rows = "".join(
        f"<tr><td>{name}</td><td></td><td>$</td><td>{value}</td><td>{end}</td></tr>"
        for name, value, end in (("Cash", 12, ")"), ("Debt", 3, ""))
    )
    assert body(f"<table>{rows}</table>") == "| Cash | $12) |\n| --- | --- |\n| Debt | $3 |"


@pytest.mark.parametrize(("opening", "marker"), [("<ul><li>", "- "), ("<blockquote>", "> ")])
def test_lists_and_quotes_that_nobody_closes_make_no_long_lines(opening: str, marker: str) -> None:
    page = "<body><p>Before.</p>" + "".join(f"{opening}Point {number}" for number in range(700))
    lines = [line for line in convert("a.html", page.encode()).content.split("\n") if "Point" in line]
    assert [line.lstrip("> -") for line in lines] == [f"Point {number}" for number in range(700)]
    assert lines[1].endswith(f"{marker}Point 1")
    assert lines[-1].endswith(f"{marker}Point 699")
    assert max(map(len, lines)) < 150


@pytest.mark.parametrize("depth", [300, 5000])
def test_deep_nesting_loses_nothing(depth: int) -> None:
    assert "innermost words" in body("<div>" * depth + "innermost words" + "</div>" * depth)
    assert "innermost words" in body("<ul><li>" * depth + "innermost words")


@given(st.text(alphabet="<>/=\"' abdiv!-&#x;ptrul\n", max_size=300))
def test_any_soup_converts(soup: str) -> None:
    html_to_document(soup, BASE).markdown.encode("utf-8")


def test_text_with_nothing_in_it() -> None:
    for html in ("", " \n ", "<!-- only a comment -->", "<html></html>", b""):
        assert html_to_document(html, BASE).markdown == ""


# -- what the page says of itself ----------------------------------------------------------------------------------


def test_head() -> None:
    page = html_to_document(
        """<html><head><base href="/base/"><meta name="robots" content="NOINDEX, nofollow">
        <meta name="author" content="Ann"><meta property="og:description" content="About">
        <meta property="article:published_time" content="2024-01-02"><meta property="og:title" content="Social title">
        <link rel="canonical" href="canonical.html#x"><meta http-equiv="refresh" content="0; URL='moved.html'">
        </head><body><h1>Heading</h1>
        <p><a href="a.html">a</a> <a href="b.html" rel="nofollow">b</a></p></body></html>""",
        BASE,
    )
    assert page.title == "Social title"
    assert page.robots == {"noindex", "nofollow"}
    assert page.metadata == {"author": "Ann", "description": "About", "created": "2024-01-02"}
    assert page.canonical == "https://example.org/base/canonical.html"
    assert page.refresh == "https://example.org/base/moved.html"
    assert [link.target for link in page.links] == [
        "https://example.org/base/a.html",
        "https://example.org/base/b.html",
    ]
    assert [link.target for link in page.page_links] == ["https://example.org/base/a.html"]


def test_titles() -> None:
    assert html_to_document("<title> A\n title </title><h1>H</h1>").title == "A title"
    assert (
        html_to_document("<body><svg><title>Icon</title></svg><h1>Heading <a href='#h'>¶</a></h1>").title == "Heading"
    )
    assert html_to_document("<p>nothing</p>").title is None


@pytest.mark.parametrize(
    ("told", "shown", "title", "site"),
    [
        (
            "Paging — Django 3.2 documentation",
            "<h1>Paging<a class=headerlink href='#p'>¶</a></h1>",
            "Paging",
            "Django 3.2",
        ),
        ("paging | Guide | Widget", "<h1><b>Paging</b></h1>", "paging", "Guide | Widget"),
        ("Paging: Widget Manual", "<h1>Paging</h1>", "Paging", "Widget Manual"),
        ("Paging in C - Widget", "<h1>Paging</h1>", "Paging in C - Widget", None),
        ("C# guide - Widget", "<h1>C</h1>", "C# guide - Widget", None),
        ("My diary » Paging", "<h1>My diary</h1><h2>Paging</h2>", "My diary » Paging", None),
        ("Paging | Widget", "<h1>Widget</h1><h2>Paging</h2>", "Paging | Widget", None),
        ("Paging", "<h1>Paging</h1>", "Paging", None),
    ],
)
def test_the_name_of_the_site_is_no_part_of_a_title(told: str, shown: str, title: str, site: str | None) -> None:
    page = html_to_document(f"<title>{told}</title><body><main>{shown}<p>Text.</p></main></body>", BASE)
    assert page.title == title
    assert (page.metadata.get("site_name") or "").startswith(site or "") and bool(site) == (
        "site_name" in page.metadata
    )


MAN = (
    """<div id=header><h1>git-clean(1) Manual Page</h1><h2>NAME</h2><div><p>git-clean - Remove files</p></div></div>"""
)
ASK = "<div id=head><h1><a href=page.html>How to x?</a></h1><a href=/ask>Ask</a></div>"


@pytest.mark.parametrize(
    ("title", "head", "begins"),
    [
        ("git-clean(1)", MAN, "# git-clean(1) Manual Page\n\n## NAME\n\ngit-clean - Remove files\n\n## SYNOPSIS"),
        ("python - How to x? - Answers", ASK, "# How to x?\n\n## SYNOPSIS"),
        ("Synopsis | My site", "<div><h1>My site</h1></div>", "## SYNOPSIS"),
        ("Synopsis - My site", "<div><h1>Synopsis</h1></div>", "## SYNOPSIS"),
        ("How to x?", "<nav><h1>How to x?</h1></nav>", "## SYNOPSIS"),
    ],
)
def test_the_heading_of_the_page_is_kept_where_it_stands_above_the_main_text(
    title: str, head: str, begins: str
) -> None:
    text = "A long text. " * 50
    html = f"<title>{title}</title><body>{head}<div id=content><h2>SYNOPSIS</h2><p>{text}</p></div></body>"
    assert html_to_document(html, BASE).markdown.startswith(begins)


@pytest.mark.parametrize(
    ("head", "encoding", "declared"),
    [
        ("<meta charset=windows-1252>", "cp1252", None),
        ("<meta http-equiv=Content-Type content='text/html; charset=ISO-8859-1'>", "cp1252", None),
        ("<meta charset=shift_jis>", "cp932", None),
        ("<?xml version='1.0' encoding='windows-1251'?>", "cp1251", None),
        ("", "utf-8-sig", None),
        ("", "utf-16", None),
        ("<meta charset=utf-16>", "utf-8", None),
        ("<meta charset=utf-8>", "cp1250", "windows-1250"),
        ("", "cp1252", None),
    ],
)
def test_charsets(head: str, encoding: str, declared: str | None) -> None:
    words = {"cp932": "日本語のテキスト", "cp1251": "Русский текст", "cp1250": "žluťoučký"}.get(
        encoding, "größere Äpfel für 3 Bäcker"
    )
    html = f"{head}<title>{words}</title><p>{words}</p>"
    page = html_to_document(html.encode(encoding), BASE, encoding=declared)
    assert (page.title, page.markdown) == (words, words)


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("other.html#part", "https://example.org/docs/other.html"),
        ("../up.html?x=1#y", "https://example.org/up.html?x=1"),
        ("//cdn.example.org/x", "https://cdn.example.org/x"),
        (" /root\n.html ", "https://example.org/root.html"),
        ("HTTPS://EXAMPLE.com/A", "https://example.com/A"),
        ("https://example.com/x/../A?utm_source=letter&b=1#c", "https://example.com/A?b=1"),
        ("#top", None),
        ("", None),
        ("mailto:a@example.org", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("tel:123", None),
        ("http://[broken", None),
        ("http://", None),
        ("page.html#self", None),
    ],
)
def test_links_become_absolute(href: str, target: str | None) -> None:
    page = html_to_document(f"<p>words <a href='{href}'>text</a></p>", BASE)
    assert [link.target for link in page.links] == ([target] if target else [])


def test_links_between_local_files() -> None:
    html = """<html><body><p>Text: <a href="b%20c.html#x">b</a> <a href="../a.md?plain=1">a</a>
    <a href="/top.html">top</a>
    <a href="https://web.example/x">web</a> <a href="//web.example/y">web</a> <a href="page.html">self</a>
    <a href="file:///etc/x%20y">file</a> <a href="C:\\x">drive</a></p></body></html>"""
    document = convert("sub/page.html", html)
    assert document.format == "markdown"
    assert document.mime_type == "text/html"
    assert targets(document)[:6] == [
        "file:///home/me/docs/sub/b c.html",
        "file:///home/me/docs/a.md",
        "file:///home/me/docs/top.html",
        "https://web.example/x",
        "https://web.example/y",
        "file:///etc/x y",
    ]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("deep/", ["sub/deep/x.html", "sub/y.html", "top.html"]),
        ("deep/page.html", ["sub/deep/x.html", "sub/y.html", "top.html"]),
        ("deep", ["sub/x.html", "y.html", "top.html"]),
        ("./", ["sub/x.html", "y.html", "top.html"]),
        ("..", ["x.html", "../y.html", "top.html"]),
        ("/a%20b/", ["a b/x.html", "y.html", "top.html"]),
        ("file:///home/me/docs/sub/deep/", ["sub/deep/x.html", "sub/y.html", "top.html"]),
        ("", ["sub/x.html", "y.html", "top.html"]),
        ("mailto:x@example.org", ["sub/x.html", "y.html", "top.html"]),
    ],
)
def test_the_base_of_a_local_page(base: str, expected: list[str]) -> None:
    html = f"""<html><head><base target="_blank"><base href="{base}"></head><body><p>Words and words:
    <a href="x.html">x</a> <a href="../y.html">y</a> <a href="/top.html">top</a>
    <a href="file:///home/me/docs/sub/page.html">self</a> <a href="#part">part</a></p></body></html>"""
    wanted = [posixpath.normpath(posixpath.join("/home/me/docs", path)) for path in expected]
    assert targets(convert("sub/page.html", html)) == [f"file://{path}" for path in wanted]


def test_a_web_base_of_a_local_page() -> None:
    html = """<base href="https://web.example/docs/"><p>Words and words: <a href="x.html">x</a> <a href="/y">y</a>"""
    wanted = ["https://web.example/docs/x.html", "https://web.example/y"]
    assert targets(convert("page.html", html)) == wanted
    assert [link.target for link in html_to_document(html).links] == wanted


def test_a_page_in_very_many_languages() -> None:
    def read(languages: int) -> None:
        links = "".join(f'<link rel="alternate" hreflang="x" href="/{number}">' for number in range(languages))
        page = html_to_document(f"<head>{links}{links}</head><p>Tides.", "https://example.org/")
        assert len(page.page_links) == languages

    check_growth(read, 10_000)
