"""HTML: what belongs to the text of a page although it is called, or looks, like something else, and what does not."""

from __future__ import annotations

import pytest

from libs.dataloader.html import html_to_document
from tests.growth import check_growth

BASE = "https://example.org/docs/page.html"
LONG = "This is a sentence of the main text that nobody would want to lose. " * 10
LINKS = "".join(f"<li><a href='/{n}'>Entry number {n}</a></li>" for n in range(5))


def body(html: str) -> str:
    return html_to_document(f"<html><body>{html}</body></html>", BASE).markdown


def around(part: str, main: str = "<main>{}</main>") -> str:
    """The text of a page with a part of its own beside the one with the most text."""
    text = body(main.format(f"<h1>Title</h1><section><h2>First</h2><p>{LONG}</p></section>{part}"))
    assert LONG.strip() in text
    return text


MAINS = [
    "<main>{}</main>",
    "<div role='main'>{}</div>",
    "<article>{}</article>",
    "<div><div itemprop='articleBody'>{}</div></div>",
    "<div id='bodyContent'>{}</div>",
    "<div class='body'>{}</div>",
]


@pytest.mark.parametrize("main", MAINS)
@pytest.mark.parametrize(
    "name", ["cookies", "comments", "pagination", "tags", "editing-and-navigation", "getCookies()"]
)
def test_the_id_of_a_section_is_its_topic(main: str, name: str) -> None:
    for tag in ("section", "div"):
        assert "## Theirs\n\nA short text." in around(f"<{tag} id='{name}'><h2>Theirs</h2>A short text.</{tag}>", main)


def test_the_id_that_is_made_from_a_heading_is_its_topic_everywhere() -> None:
    for part in ("<section id='cookies'>", "<div class='section' id='cookies'>"):
        assert "A short text." in around(f"{part}<h2>2. Cookies</h2>A short text.{part[:4]}>", "<div>{}</div>")


@pytest.mark.parametrize("main", ["<main>{}</main>", "<div>{}</div>"])
def test_names_of_an_api_are_no_roles(main: str) -> None:
    part = """<dl class='py class'><dt class='sig sig-object' id='requests.Session.cookies'>cookies: Jar</dt>
    <dd>A jar of them.</dd></dl><pre><span class='hljs-meta comments'>#!/bin/sh</span></pre>"""
    assert "cookies: Jar\n: A jar of them.\n\n```\n#!/bin/sh\n```" in around(part, main)


def test_a_menu_is_what_is_made_of_links() -> None:
    assert "Soup 5\n\nFish 12" in around("<div class='menu'><h2>Menu</h2><p>Soup 5</p><p>Fish 12</p></div>")
    assert "Entry" not in around(f"<div class='menu'><h2>Menu</h2><ul>{LINKS}</ul></div>")


@pytest.mark.parametrize(
    "chrome",
    [
        "<div class='cookie-banner'><p>Gone: we use cookies. Accept all of them?</p></div>",
        f"<div id='comments' class='comments-area'><h2>Gone</h2><p>{LONG[:300]} Gone.</p></div>",
        f"<section class='comments'><p>{LONG[:300]} Gone.</p></section>",
        "<div class='share-buttons'><a href='https://share.example/'>Gone</a></div>",
        "<ol class='breadcrumb'><li><a href='/'>Gone</a></li><li><a href='/docs/'>Gone</a></li></ol>",
        "<div class='pagination'><a href='/1'>Gone</a> <a href='/2'>Gone</a></div>",
        "<div class='post-tags'>Tags: <a href='/1'>Gone away</a> <a href='/2'>Gone for good</a></div>",
        "<nav><a href='/1'>Gone</a></nav>",
        "<div role='navigation'><a href='/1'>Gone</a></div>",
        "<aside>Gone</aside>",
        f"<ul>{LINKS.replace('Entry', 'Gone')}</ul>",
        "<div class='newsletter'><p>Gone: a letter each week.</p></div>",
        "<p>So<span class='sr-only'>Gone</span></p>",
    ],
)
def test_the_frame_goes_from_the_main_element_too(chrome: str) -> None:
    assert "Gone" not in around(chrome)


def test_references_made_of_links_are_text() -> None:
    row = "<tr><td><a href='/a'>os.path.abspath()</a></td><td><a href='/b'>Path.absolute()</a></td></tr>"
    assert "| os.path.abspath() | Path.absolute() |" in around(
        f"<section><table><tr><th>os</th><th>pathlib</th></tr>{row * 3}</table></section>"
    )
    answer = "See <a href='/a'>making binaries</a>, <a href='/b'>the guide</a> or <a href='/c'>the freeze manual</a>."
    for part in ("<section><h2>How?</h2><p>{}</p></section>", "<div class='admonition seealso'><p>{}</p></div>"):
        assert "See making binaries, the guide or the freeze manual." in around(part.format(answer))
    names = "".join(f"<li><a href='/{n}'><code>PyName_{n}</code></a></li>" for n in range(5))
    assert "- `PyName_3`\n" in around(f"<section><h2>All of them</h2><ul>{names}</ul></section>")


def test_notes_of_a_text_are_text_and_other_asides_are_not() -> None:
    for part in (
        "<aside class='admonition note'>Mind it.</aside>",
        "<aside class='footnote brackets'>Mind it.</aside>",
        "<aside class='example' id='example-1'>Mind it.</aside>",
        "<aside class='sidebar'><p class='sidebar-title'>Mind</p><p>Mind it.</p></aside>",
    ):
        assert "Mind it." in around(part)
        if "sidebar" not in part:
            assert "Mind it." not in body(f"<div>{part}</div><main><p>{LONG}</p></main>")
    assert "Mind it." not in around("<aside class='sidebar'><p>Mind it.</p></aside>")


def test_examples_of_specifications_are_text_where_a_page_has_no_main_element() -> None:
    example = "<aside class='example'><div class='marker'><a href='#e'>Example 1</a></div><pre>did:x:1</pre></aside>"
    heading = "<div class='header-wrapper'><h3>1.1 Names</h3></div>"
    found = body(f"<section><h2>1. Basics</h2><p>{LONG}</p></section><section>{heading}<p>So:</p>{example}</section>")
    assert found.endswith("### 1.1 Names\n\nSo:\n\nExample 1\n\n```\ndid:x:1\n```")


def test_mentions_of_cookies_are_not_asking_for_consent() -> None:
    assert "jar" in body(f"<main><p>The jar accepts cookies from it.</p><div><p>{LONG}</p></div></main>")


# -- what is shown on a click --------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", ["hidden", "style='display: none'", "aria-hidden='true'"])
def test_panels_of_tabs_are_text_under_the_name_of_their_tab(hidden: str) -> None:
    part = f"""<div><ul role='tablist'><li role='tab'>npm</li><li role='tab'><button>Yarn</button></li></ul>
    <div><div role='tabpanel'>first</div><div role='tabpanel' {hidden}>second</div></div></div>"""
    assert around(part).endswith("npm\n\nfirst\n\nYarn\n\nsecond")


@pytest.mark.parametrize(
    "part",
    [
        "<h3><button aria-expanded='false'>How?</button></h3><div role='region' aria-labelledby='x' hidden>So.</div>",
        "<h3><button>How?</button></h3><div class='accordion-collapse collapse' aria-hidden='true'>So.</div>",
        "<div role='tablist'><h3 role='tab'>How?</h3><div role='tabpanel' style='display:none'>So.</div></div>",
    ],
)
def test_accordions_are_text(part: str) -> None:
    assert around(part).endswith("### How?\n\nSo.")


@pytest.mark.parametrize(
    "entry",
    [
        "<div><button aria-expanded='false'>{}</button><div hidden>{}</div></div>",
        "<div><div><button aria-controls='x'><span>{}</span></button></div><div style='display:none'>{}</div></div>",
        "<div><button data-bs-target='#x'>{}</button></div><div class='collapse'>{}</div>",
        "<details><summary>{}</summary>{}</details>",
    ],
)
def test_labels_of_an_accordion_are_headings(entry: str) -> None:
    part = entry.format("How?", "So.<h3>And</h3>More.") + entry.format("Why?", "Because.")
    assert around(f"<h2>Help</h2>{part}").endswith(
        "## Help\n\n### How?\n\nSo.\n\n### And\n\nMore.\n\n### Why?\n\nBecause."
    )


@pytest.mark.parametrize(
    "part",
    [
        "<button aria-expanded='false'>Gone</button><p>So.</p>",
        "<button aria-expanded='false'>Gone</button><p>More.</p><button aria-expanded='false'>Gone</button><p>So.</p>",
        "<button>Gone</button><p>More.</p><button>Gone, too</button><p>So.</p>",
        "<div><button aria-expanded='false'>Gone</button><button aria-expanded='false'>Gone, too</button></div>So.",
        "<form><button aria-expanded='false'>Gone</button><button aria-controls='x'>too</button></form><p>So.</p>",
    ],
)
def test_other_buttons_are_no_headings(part: str) -> None:
    content = around(part)
    assert content.endswith("So.") and "Gone" not in content


def test_details_are_text() -> None:
    assert around("<details><summary><button>More</button></summary>So.</details>").endswith("More\n\nSo.")


def test_hidden_parts_and_controls_are_not() -> None:
    part = "<h2>Heading <button>Gone</button></h2><div hidden>Gone</div><button>Gone</button>"
    assert around(part).endswith("## Heading")


def test_what_a_wiki_sorts_the_rows_of_a_table_by_is_hidden() -> None:
    cell = "<td><span class='sortkey'>Lane, Ada</span><span class='vcard'>Ada Lane</span></td>"
    assert around(f"<table><tr><th>Name</th><th>Age</th></tr><tr>{cell}<td>36</td></tr></table>").endswith(
        "| Name | Age |\n| --- | --- |\n| Ada Lane | 36 |"
    )


def test_a_title_may_be_a_button() -> None:
    assert html_to_document("<body><h1><button>How?</button></h1><p>So.</p></body>", BASE).title == "How?"


# -- frames --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "heading"),
    [
        ("<h2 id='c3'>III</h2><p>The <i>Problem</i></p>", "## III: The Problem\n"),
        ("<p>Chapter 3:</p><h1>The Problem</h1>", "# Chapter 3: The Problem\n"),
        ("<h1>Tides</h1><h2>A guide</h2>", "# Tides: A guide\n"),
        ("<h1>Tides</h1>", "# Tides\n"),
        (f"<h1>Tides</h1><p>{LONG}</p>", "# Tides\n"),
        ("<p>A motto</p>", "A motto\n"),
    ],
)
def test_a_heading_and_its_subtitle_are_one(group: str, heading: str) -> None:
    assert f"{heading}\n{LONG[:20]}" in body(f"<main><hgroup>{group}</hgroup><p>{LONG}</p></main>")


def test_frames_are_links() -> None:
    page = html_to_document(
        """<html><head><title>T</title></head><frameset cols="20%,80%"><frame src="menu.html" title="Menu">
        <frame src="text.html">
        <noframes><body><p>See <a href="all.html">all</a> &amp; <b>more</b>.</p></body></noframes></frameset></html>""",
        BASE,
    )
    assert page.markdown == "See all & more."
    folder = "https://example.org/docs/"
    assert [link.target for link in page.page_links] == [folder + x for x in ("menu.html", "text.html", "all.html")]


def test_frames_within_a_page_lead_to_pages_of_the_same_site() -> None:
    html = f"<main><p>{LONG}</p></main><iframe src='/own'></iframe><iframe src='//video.example/1'></iframe><iframe>"
    assert [link.target for link in html_to_document(html, BASE).page_links] == ["https://example.org/own"]


@pytest.mark.parametrize("main", MAINS)
def test_links_in_a_box_of_the_text_are_text(main: str) -> None:
    box = f"<div class='admonition seealso'><p class='admonition-title'>See also</p><ul>{LINKS}</ul></div>"
    assert "See also\n\n- Entry number 0\n" in around(box, main)


@pytest.mark.parametrize(
    "part",
    [
        "<div class='navheader'><table><tr><th colspan=3>9.3. Mathematics</th></tr><tr><td><a href=p>Prev</a></td>"
        "<td>Chapter 9. Functions</td><td><a href=n>Next</a></td></tr></table></div>",
        "<div class='prev-next-area'><a href=n><p>next</p><p>The next page</p></a></div>",
        "<div class='contents topic' id='contents'><ul><li><a href='#f'><code>f()</code></a></li></ul></div>",
    ],
)
def test_navigation_by_the_names_of_generators(part: str) -> None:
    assert around(part, "<div>{}</div>").startswith("# Title\n\n## First")
    assert around(part, "<div>{}</div>").endswith(LONG.strip())


def test_an_example_is_text_whatever_it_is_called() -> None:
    example = "<div class='tsd-tag-example'><h4>Example</h4><pre>f(1)</pre></div>"
    assert "#### Example\n\n```\nf(1)\n```" in around(example, "<div>{}</div>")
    assert "```\nf(1)\n```" in around(example.replace("tsd-", ""), "<div>{}</div>")
    assert "If it cannot." in around(
        "<div class='tsd-tag-throws'><h4>Throws</h4><p>If it cannot.</p></div>", "<div>{}</div>"
    )


def test_a_link_to_the_content_is_no_text_of_a_list_of_links() -> None:
    html = "<div role='region'><a class='skipToContent_x' href='#skipToContent'>Skip to main content</a></div>"
    html += "<div id='skipToContent'><nav><a href='/'>Home</a></nav><main><h1>Tags</h1><a href='/t'>x1</a></main></div>"
    assert body(html) == "# Tags\n\nx1"


# -- what generators write in their own way ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        "<table class='highlighttable'><tr><td class='linenos'><div class='linenodiv'><pre>1\n2</pre></div></td>"
        "<td class='code'><div><pre>a = 1\n  b\n</pre></div></td></tr></table>",
        "<table class='lntable'><tr><td class='lntd'><pre><code><span class='lnt'>1\n</span>"
        "<span class='lnt'>2\n</span></code></pre></td><td class='lntd'><pre><code>a = 1\n  b\n</code></pre>"
        "</td></tr></table>",
        "<pre><span class='linenos'>1</span>a = 1\n<span class='linenos'>2</span>  b</pre>",
        "<table class='rouge-table'><tr><td class='rouge-gutter gl'><pre class='lineno'>1\n2\n</pre></td>"
        "<td class='rouge-code'><pre>a = 1\n  b\n</pre></td></tr></table>",
        "<pre><code><table><tr><td class='hljs-ln-numbers'>1</td><td class='hljs-ln-code'>a = 1</td></tr>"
        "<tr><td class='hljs-ln-numbers'>2</td><td class='hljs-ln-code'>  b</td></tr></table></code></pre>",
        "<div class='language-sh line-numbers-mode'><span class='lang'>sh</span><pre><code><b class='line'><i>a = 1</i>"
        "</b>\n<b class='line'><i>  b</i></b></code></pre><div class='line-numbers-wrapper'><span>1</span><br>"
        "<span>2</span></div></div>",
    ],
)
def test_numbers_of_lines_are_no_code(html: str) -> None:
    assert body(html).replace("```sh", "```") == "```\na = 1\n  b\n```"


def test_code_with_numbers_and_a_title_keeps_its_lines() -> None:
    html = """<table class='highlighttable'><tr><th colspan=2 class='filename'>f.py</th></tr>
    <tr><td class='linenos'><pre>1\n2</pre></td><td class='code'><pre>a\n  b</pre></td></tr></table>"""
    assert body(html) == "f.py\n\n```\na\n  b\n```"


def test_numbers_that_are_called_lines_are_text_where_there_is_no_code() -> None:
    assert "| 7 | Central |" in body(
        "<table><tr><th>Line</th><th>To</th></tr><tr><td class='line-number'>7</td><td>Central</td></tr></table>"
    )
    assert body("<pre class='line-numbers'><code>42</code></pre>") == "```\n42\n```"


def test_the_permalink_of_a_caption_is_no_text() -> None:
    html = "<table><caption>Options<a class='headerlink' href='#o'>¶</a></caption><tr><th>A<th>B<tr><td>c<td>d</table>"
    assert body(html).startswith("Options\n\n|")


def test_elements_with_the_role_of_a_table() -> None:
    html = """<div role=table><div role=rowgroup><div role=row><span role=columnheader>A</span>
    <span role=columnheader>B</span></div></div>
    <div role=rowgroup><div role=row><span role=cell>c</span><span role=cell>d</span></div></div></div>"""
    assert body(html) == "| A | B |\n| --- | --- |\n| c | d |"


@pytest.mark.parametrize(
    "html",
    [
        "<div><input type=radio id=a><input type=radio id=b><div class='tabbed-labels'><label for=a>npm</label>"
        "<label for=b>Yarn</label></div><div class='tabbed-content'><div>One</div><div>Two</div></div></div>",
        "<div class='vp-code-group'><div class='tabs'><input type=radio id=a><label for=a>npm</label>"
        "<input type=radio id=b><label for=b>Yarn</label></div>"
        "<div class='blocks'><div>One</div><div>Two</div></div></div>",
    ],
)
def test_tabs_of_radio_buttons_say_their_name(html: str) -> None:
    assert body(html) == "npm\n\nOne\n\nYarn\n\nTwo"


def test_a_page_of_doxygen() -> None:
    html = """<html><head><meta name="generator" content="Doxygen 1.9.4"></head><body>
    <div id="titlearea"><table><tr><td><img alt="Logo" src="l.png"></td><td>Lib 3.4</td></tr></table></div>
    <div class="header"><div class="summary"><a href="#m">Methods</a> | <a href="a">All</a></div>
    <div class="headertitle"><div class="title">C Class Reference<div class="ingroups"><a href="g">Group</a></div>
    </div></div></div>
    <div class="contents"><p>A class. <a href="#d">More...</a></p>
    <div class="fragment"><div class="line"><span class="lineno">    1</span>&#160;f(a);</div>
<div class="line"><span class="lineno">    2</span>&#160;&#160;&#160;<span>g</span>(b);</div>
<div class="ttc" id="af"><div class="ttname"><a href="f">f</a></div><div class="ttdeci">int f(int)</div></div>
</div><h2>Members</h2><h2 class="memtitle"><span class="permalink"><a href="#m">◆&#160;</a></span>m()</h2></div>"""
    page = html_to_document(html, BASE)
    assert page.markdown == "# C Class Reference\n\nA class.\n\n```\nf(a);\n  g(b);\n```\n\n## Members\n\n### m()"
    assert "https://example.org/docs/g" in [link.target for link in page.page_links]


def test_a_page_of_javadoc() -> None:
    html = """<html><head><meta name="generator" content="javadoc/ClassWriterImpl"></head><body><main>
    <div class="summary-table three-column-summary"><div class="table-header col-first">Type</div>
    <div class="table-header col-second">Method</div><div class="table-header col-last">Description</div>
    <div class="col-first">int</div><div class="col-second"><code>clear(int)</code></div>
    <div class="col-last"><div class="block">Clears.</div></div></div></main></body></html>"""
    row = "| Type | Method | Description |\n| --- | --- | --- |\n| int | clear(int) | Clears. |"
    assert html_to_document(html, BASE).markdown == row


def test_a_page_of_rustdoc() -> None:
    html = """<html><head><meta name="generator" content="rustdoc"></head><body><main>
    <details open><summary class="hideme"><span>Expand description</span></summary><p>A type.</p></details>
    <section><span class="rightside"><span class="since">1.0.0</span> · <a class="src" href="s.rs">Source</a></span>
    <h4>pub fn f()</h4></section><p>Does it.</p><section><a href="#v" class="anchor">§</a><h3>None</h3></section>
    </main></body></html>"""
    assert html_to_document(html, BASE).markdown == "A type.\n\n#### pub fn f()\n\n1.0.0\n\nDoes it.\n\n### None"


def test_a_page_of_an_older_rustdoc() -> None:
    html = """<html><head><meta name="generator" content="rustdoc"></head><body><main><div class="sub-container">
    <a href="i"><img class="rust-logo" src="l.svg" alt="logo"></a></div><h1>Struct std::vec::Vec</h1>
    <span class="out-of-band"><span class="since">1.0.0</span> · <a class="srclink" href="s">source</a> · <a
    id="toggle-all-docs" href="javascript:void(0)">[<span>−</span>]</a></span><p>A list.</p></main></body></html>"""
    assert html_to_document(html, BASE).markdown == "# Struct std::vec::Vec\n\n1.0.0\n\nA list."


def test_a_page_of_texinfo() -> None:
    html = f"""<html><head><meta name="Generator" content="makeinfo"></head><body><div class="chapter">
    <div class="header"><p>Next: <a href="A.html" accesskey="n" rel="next">Audio</a>, Previous: <a href="S.html"
    accesskey="p" rel="prev">Signals</a> [<a href="i.html" rel="index">Index</a>]</p></div><hr>
    <h2>32 Images</h2><p>{LONG}</p><dl><dt>Option: eps<a href="#eps" class="copiable-anchor"> &para;</a></dt>
    <dd>How far.</dd></dl></div>
    <div class="nav-panel"><p>Next: <a href="A.html" accesskey="n">Audio</a></p></div></body></html>"""
    assert html_to_document(html, BASE).markdown == f"## 32 Images\n\n{LONG.strip()}\n\nOption: eps\n: How far."


def test_a_page_of_haddock_and_its_source() -> None:
    page = """<body><div id="content"><div id="module-header"><p class="caption">Data.Text</p></div>
    <div id="interface"><div class="top"><p class="src"><a class="def">pack</a> :: String -&gt; Text <a href="s#pack"
    class="link">Source</a> <a href="#v:pack" class="selflink">#</a></p><div class="doc"><p>Packs.</p></div></div>"""
    assert body(page) == "# Data.Text\n\n#### pack :: String -> Text\n\nPacks."
    source = """<pre><span class="annot"><a href="#x"><span class="hs-var">pack</span></a></span> = <span
    class="annot"><span class="annottext">(Char -&gt; Char) -&gt; Text
</span><a href="#y"><span class="hs-var">map</span></a></span> safe</pre>"""
    assert body(source) == "```\npack = map safe\n```"


@pytest.mark.parametrize(("last", "name"), [("set_tabs", "Gtk.Text.set_tabs"), ("::leave", "Gtk.Text::leave")])
def test_a_page_of_gi_docgen(last: str, name: str) -> None:
    page = f"""<main><header><h1><a href="i">Gtk</a><span class="sep"></span><a href="t">Text</a><span
    class="sep"></span>{last}</h1></header><h4>Description <a class="anchor" href="#d"></a>
    <a class="srclink" href="s">[src]</a></h4><p>{LONG}</p></main>"""
    assert body(page) == f"# {name}\n\n#### Description\n\n{LONG.strip()}"


def test_a_list_of_pages_is_no_text_because_one_of_them_is_named_in_code() -> None:
    pages = LINKS + "<li><a href='/m'>Modules: <code>node:module</code> API</a></li>"
    text = body(f"<div id='content'><div><ul>{pages}</ul></div><div><h1>Zlib</h1><p>{LONG}</p></div></div>")
    assert text == f"# Zlib\n\n{LONG.strip()}"
    names = "".join(f"<li><a href='/{n}'><code>module_{n}</code></a></li>" for n in range(5))
    assert "`module_4`" in body(f"<div id='content'><h1>Zlib</h1><p>{LONG}</p><ul>{names}</ul></div>")


def test_a_footer_that_is_longer_than_the_text_is_no_text() -> None:
    footer = f"<footer role='contentinfo'><p>{LONG}</p></footer>"
    text = body(f"<div><main><h1>Uses of Map</h1>No usage of Map</main>{footer}</div>")
    assert text == "# Uses of Map\n\nNo usage of Map"


def test_what_is_called_footer_and_ends_a_page_is_its_footer_however_long() -> None:
    bar = "<div class='navigationbar'><ul><li>Qt 5</li><li><a href='/c'>Core</a></li></ul></div>"
    page = f"<div class='header'>{bar}{{}}</div>"
    text = f"<div class='content'><h1>List</h1><p>{LONG}</p></div>"
    legal = "Contributions included herein are the copyrights of their owners, and licensed as follows: " * 3
    assert body(page.format(f"{text}<div class='footer'><p>{legal}</p></div>")) == f"# List\n\n{LONG.strip()}"
    assert legal.strip() in body(page.format(f"<div class='footer'><p>{legal}</p></div>{text}"))


@pytest.mark.parametrize(("heading", "is_text"), [("<h1>Tides</h1>", True), ("", False)])
def test_a_header_with_much_text_is_text_where_it_has_the_heading(heading: str, is_text: bool) -> None:
    lead = "Words that stand in the header of the page, and many of them, so that they may be its beginning. " * 2
    text = body(f"<header>{heading}<p>{lead}</p></header><h2>Ebb</h2><p>{LONG}</p>")
    assert (lead.strip() in text) is is_text and LONG.strip() in text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<main><p>Short.</p></main>", "Short."),
        (f"<header>Site</header><main><h1>H</h1><p>{LONG}</p></main><div>Cookies</div>", f"# H\n\n{LONG.strip()}"),
        (f"<section><p>{LONG}</p></section>between<p>and after</p>", f"{LONG.strip()}\n\nbetween\n\nand after"),
        (f"<script>1</script><article>{LONG}</article><meta name=author content=Ann>", LONG.strip()),
        (f"<link rel=canonical href=/c><my-bar>News</my-bar><body class=x><p>{LONG}</p>", f"News\n\n{LONG.strip()}"),
    ],
)
def test_the_tags_of_head_and_body_may_be_left_out(page: str, text: str) -> None:
    title = "A title that is longer than the text of a short page"
    read = html_to_document(f"<!doctype html><meta charset=utf-8><title>{title}</title>{page}", BASE)
    assert (read.title, read.markdown) == (title, text)


def test_what_a_head_holds_for_others_is_no_text() -> None:
    page = "<head><title>T</title><noscript><main>Enable scripts</main></noscript></head><body><p>Short.</p></body>"
    assert html_to_document(page, BASE).markdown == "Short."


def test_a_page_with_very_many_items_and_blocks_of_code_is_not_slow() -> None:
    def read(number: int) -> None:
        items = "<ul>" + "<li>item <b>x</b></li>" * number + "</ul>"
        code = "<pre><span class='a'>x</span> <span class='b'>y</span></pre>" * number
        assert body(f"<main><h1>Title</h1>{items}{code}<p>last words</p></main>").endswith("last words")

    check_growth(read, 4_000)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        # As Rustdoc writes methods.
        (
            "<h4><div class=sig>fn zip&lt;T&gt;(x: T)</div><div class=where>where<br>T: Copy,</div></h4>",
            "#### fn zip<T>(x: T) where T: Copy,",
        ),
        ("<h2>Ebb <div>and</div>flood</h2>", "## Ebb and flood"),
        ("<h2><div>Ebb</div><small>1841</small></h2>", "## Ebb 1841"),
        # Never closed: the page would be one heading.
        (f"<h2>Ebb<div>{LONG}</div><div>{LONG}</div>", f"## Ebb\n\n## {LONG.strip()}"),
        ("<h2>Ebb<ul><li>spring</li></ul></h2>", "## Ebb\n\n- ## spring"),
    ],
)
def test_blocks_in_a_heading_are_parts_of_its_line(heading: str, text: str) -> None:
    assert text in body(f"<main><h1>Tides</h1>{heading}<p>{LONG}</p></main>")


@pytest.mark.parametrize(
    ("tab", "panel"), [("id='tab-{0}'", "aria-labelledby='tab-{0}'"), ("aria-controls='panel-{0}'", "id='panel-{0}'")]
)
def test_tabs_that_stand_apart_from_their_panels(tab: str, panel: str) -> None:
    tabs = "".join(f"<button role='tab' {tab.format(name)}>{name.upper()}</button>" for name in ("json", "yaml"))
    panels = "".join(f"<div role='tabpanel' {panel.format(name)}>Write {{}}.</div>" for name in ("json", "yaml"))
    part = f"<div><div><div role='tablist'>{tabs}</div></div><div>{panels}</div></div>"
    assert "JSON\n\nWrite {}.\n\nYAML\n\nWrite {}." in around(part)


def test_a_header_and_a_footer_beside_the_article_of_a_main_element_are_its_frame() -> None:
    header = "<header><label>Menu</label><h3>Gone</h3></header>"
    footer = "<footer>Gone 2025 <a href='/edit'>Gone</a></footer>"
    assert "Gone" not in around("", f"<main>{header}<article>{{}}</article>{footer}</main>")
    notes = f"<footer><h2>Notes</h2><p>{LONG}</p></footer>"
    assert "## Notes" in around("", f"<main><article>{{}}</article>{notes}</main>")


def test_a_link_to_the_main_text_skips_the_frame() -> None:
    page = "<body><div><a href='#main-content'>Zum Inhalt</a></div>{}</body>"
    assert body(page.format("<main id='main-content'><h1>Title</h1></main>")) == "# Title"
    assert body(page.format("<div id='main-content'><h1>Title</h1><p>Short.</p></div>")) == "# Title\n\nShort."


def test_the_name_of_a_list_of_links_into_the_page_goes_with_it() -> None:
    links = "".join(f"<li><a href='#{n}'>A{n}</a></li>" for n in range(3))
    part = "<details class='toc'><summary>Contents of this page</summary><ul>{}</ul></details>"
    assert "Contents of" not in around(part.format(links))


def test_a_main_element_in_a_menu_that_is_left_open_is_text() -> None:
    menu = (
        "<nav class='menu'><ul class='menu'><li><div class='sub-menu visually-hidden'><p>A long teaser of the menu.</p>"
    )
    assert body(f"<body>{menu * 40}<main><h1>Title</h1><p>{LONG}</p></main></body>").endswith(LONG.strip())


def test_what_is_called_a_paywall_may_be_the_article() -> None:
    comments = f"<ol class='comment-list'><li><p>{'I am of another opinion. ' * 90}</p></li></ol>"
    page = f"<main><article><h1>Title</h1><div class='x-paywall'><p>{LONG}</p></div></article>{comments}</main>"
    assert LONG.strip() in body(page)
    assert "Read on" not in around("<div class='paywall'><p>Read on for 5 euros.</p></div>")


def test_posts_that_a_script_shows_are_read_from_beside_it() -> None:
    post = f"<script type='text/template'><p>{LONG}</p></script><noscript><p>{LONG}</p></noscript>"
    assert body(f"<main><h1>Title</h1><div class='post'>{post}</div></main>") == f"# Title\n\n{LONG.strip()}"


def test_articles_side_by_side_are_all_text() -> None:
    posts = "".join(f"<article><h2>Post {n}</h2><p>{LONG[: 1000 // n]}</p></article>" for n in (3, 1, 6))
    text = body(f"<nav>{LINKS}</nav><div id='thread'>{posts}</div><footer>© 2024</footer>")
    assert [line for line in text.split("\n") if line.startswith("#")] == ["## Post 3", "## Post 1", "## Post 6"]
    assert "Entry" not in text and "©" not in text
    teaser = "<article><a href='/next'>The next post</a></article>"
    assert "next" not in body(f"<div><article><h1>Post</h1><p>{LONG}</p></article>{teaser}</div>")
