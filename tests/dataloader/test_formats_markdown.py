"""Markdown, its front matter and MDX."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import URI, convert, targets
from tests.growth import check_growth


def test_markdown_stays_as_it_is_and_its_links_are_found() -> None:
    text = """# The *title* with `code`

See [one](one.md#part "hint"), [two](../two.md), [web](https://example.org/a?b=c#d), [mail](mailto:me@example.org).
![image](picture.png) and [![badge](https://img.example.org/b.svg)](https://ci.example.org/).
A [reference][ref], a [collapsed][], a [shortcut], <https://auto.example.org/x>, https://bare.example.org/y_(z).
[script](javascript:alert(1)) [top](#top) [space](<my file.md>) [escaped](my%20file.md) [root](/root.md)
<a href="html.html">HTML</a>

```sh
curl [not](a-link.md) https://not.example.org/
```

`[not](either.md)` <!-- [nor](this.md) -->

[ref]: reference.md
[collapsed]: <collapsed.md> "title"
[shortcut]: https://short.example.org/
"""
    document = convert("sub/page.md", text)
    assert document.content == text.replace("<!-- [nor](this.md) -->", "")
    assert document.format == "markdown"
    assert document.mime_type == "text/markdown"
    assert document.title == "The title with code"
    assert targets(document) == [
        "file:///home/me/docs/sub/one.md",
        "file:///home/me/docs/two.md",
        "https://example.org/a?b=c",
        "https://ci.example.org/",
        "file:///home/me/docs/sub/reference.md",
        "file:///home/me/docs/sub/collapsed.md",
        "https://short.example.org/",
        "https://auto.example.org/x",
        "https://bare.example.org/y_(z)",
        "file:///home/me/docs/sub/my file.md",
        "file:///home/me/docs/root.md",
        "file:///home/me/docs/sub/html.html",
    ]
    texts = {link.target: link.text for link in document.links}
    assert texts["file:///home/me/docs/sub/one.md"] == "one"
    assert texts["https://ci.example.org/"] == "badge"


def test_links_by_reference_have_their_own_words_and_escapes_in_addresses_are_undone() -> None:
    document = convert("page.md", "[The manual][Ref One] and [the list](snake\\_case.md).\n\n[ref one]: manual.md\n")
    assert [(link.target, link.text) for link in document.links] == [
        ("file:///home/me/docs/manual.md", "The manual"),
        ("file:///home/me/docs/snake_case.md", "the list"),
    ]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("````md\n```\n[in](in.md)\n````\n\n[out](out.md)", ["out.md"]),  # a fence ends with one of its length
        ("```\n``` not yet\n[in](in.md)\n```\n[out](out.md)", ["out.md"]),
        ("[a\n\nb](apart.md) [c\nd](lines.md)", ["lines.md"]),
        ("[a] [b][]\n\n[c][d]", []),
        ("[a](two words.md)\n\n[a]: one.md", ["one.md"]),
        ("[a][nowhere]\n\n[a]: one.md", []),
        ("[a]: one.md\n", []),
        ("<!-- [in](in.md) -->\n[out](out.md) <!-- [in](in.md) -->", ["out.md"]),
        ("[a [b](inner.md) c](outer.md)", ["inner.md"]),
        ("![a [b](inner.md)](picture.png)", ["inner.md"]),
    ],
)
def test_what_is_no_link_is_none(text: str, links: list[str]) -> None:
    assert targets(convert("page.md", text)) == [f"{URI}{name}" for name in links]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Title\n=====\n\ntext", "Title"),
        ("[![Build](b.svg)](ci)\n---\n\nThe mill\n========\n\nWheels\n------\n", "The mill"),
        ("## Second\n\n# First\n", "First"),
        ("text only", None),
        ("```\n# not this\n```\n## This [one](x.md) #\n", "This one"),
        ("<h1 align='center'>From <b>HTML</b></h1>\n", "From HTML"),
        ("#hashtag is no heading\n", None),
        ("- item\n---\n", None),
        ("<!--\n# License\n-->\n\n# Mills\n", "Mills"),
        ("# **Bold** &amp; [link](a) ~~x~~\n", "Bold &amp; link x"),
        ("# `json` --- JSON encoder\n", "json --- JSON encoder"),
        ("## Install\n\n# `mgrag`\n", "mgrag"),
        ("`json`\n======\n", "json"),
        ("Write `<h1>Big</h1>` for it.\n\n## Second\n", "Second"),
        ("# Anforderungen {#sec-anforderungen .unnumbered}\n", "Anforderungen"),
        ("Usage {: #usage }\n=====\n", "Usage"),
        ("# Preface {-}\n", "Preface"),
        ("# Hello {name}\n", "Hello {name}"),
        ("# `<details>`: more on request\n", "<details>: more on request"),
        ("# `Vec<T>` and [`a_b_c`](x.md), \\<b\\>\n", "Vec<T> and a_b_c, <b>"),
    ],
)
def test_markdown_titles(text: str, title: str | None) -> None:
    assert convert("a.md", text).title == title


PARTS = "The dam holds the water back.\n\n## Sluice\n\nIt opens at dusk.\n\n## Wheel\n\nIt turns.\n"


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("The old mill.md", PARTS, "The old mill"),
        ("sub/Mill.md", PARTS, "Mill"),
        ("\u6c34\u8eca.md", PARTS, "\u6c34\u8eca"),
        ("README.md", PARTS, None),
        ("README.de.md", PARTS, None),
        ("v1.4.0.md", PARTS, None),
        ("The old mill.md", "# Mill\n\n" + PARTS, "Mill"),
        ("The old mill.md", PARTS.replace("## Wheel", "### Wheel"), "Sluice"),
        ("The old mill.md", PARTS.partition("\n\n")[2], "The old mill"),
        ("README.md", PARTS.partition("\n\n")[2], "Sluice"),
        ("README.md", "[![build](b.svg)](https://example.org)\n<p><img src='a.png'></p>\n" + PARTS[31:], "Sluice"),
        ("The old mill.md", "---\ntitle: Mill\n---\n" + PARTS, "Mill"),
        ("012_is-it-far.md", "---\nquestion: Is it far?\nsort: 12\n---\nNo, it is near.\n", "Is it far?"),
    ],
)
def test_a_text_without_a_heading_of_its_own_is_called_what_its_file_is(
    name: str, text: str, title: str | None
) -> None:
    assert convert(name, text).title == title


def test_front_matter_becomes_metadata() -> None:
    document = convert(
        "a.md",
        '---\ntitle: "From front matter"\nauthor: Ann\ntags: [a, b]\nkeywords:\n  - c\n  - d\n'
        "date: 2024-05-01\n---\n\n# Heading\n",
    )
    assert document.title == "From front matter"
    assert document.content == "# Heading\n"
    assert document.metadata == {"author": "Ann", "tags": ["a", "b"], "keywords": ["c", "d"], "created": "2024-05-01"}
    rule = "---\n\nNot front matter, but text between rules.\n\n---\n"
    assert convert("a.md", rule).content == rule


def test_front_matter_of_other_generators() -> None:
    document = convert(
        "a.md",
        "---\ntitle: >-\n  A title that\n  is folded\ndescription: One sentence\n  that goes on.\nms.date: 07/29/2024\n"
        "author: 'Ann O''Hara'\nno-loc: [Count, Length]\ntags: [\n  a,\n  b\n]\nhero:\n  tagline: nested\n"
        "状态: fertig\nДата создания: 2024\n"
        "---\n# Heading\n",
    )
    assert document.title == "A title that is folded"
    assert document.content == "# Heading\n\nOne sentence that goes on.\n"
    assert document.metadata == {
        "description": "One sentence that goes on.",
        "ms.date": "07/29/2024",
        "author": "Ann O'Hara",
        "no-loc": ["Count", "Length"],
        "tags": ["a", "b"],
        "hero": {"tagline": "nested"},
        "状态": "fertig",
        "Дата создания": "2024",
    }
    toml = convert("a.md", '+++\ntitle = "The page"\n[params]\ntitle = "not the page"\n+++\nText.\n')
    assert (toml.title, toml.content) == ("The page", "Text.\n")
    assert toml.metadata == {"params": {"title": "not the page"}}


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("\nCalls it.\n", "Reports whether it is there.\n\nCalls it.\n"),
        ("# One\n\nCalls it.\n", "# One\n\nReports whether it is there.\n\nCalls it.\n"),
        ("## One\n", "Reports whether it is there.\n\n## One\n"),
        ("It reports  whether it\nis there, or not.\n", "It reports  whether it\nis there, or not.\n"),
        ("", "Reports whether it is there.\n"),
    ],
)
def test_a_description_is_the_first_paragraph(body: str, content: str) -> None:
    document = convert("a.md", f"---\ntitle: Contains\ndescription: Reports whether it is there.\n---\n{body}")
    assert document.content == content
    assert document.metadata == {"description": "Reports whether it is there."}


def test_fields_that_list_things_or_tell_something_are_part_of_the_text() -> None:
    fields = (
        "---\ntitle: Tide mill\nbrief: A mill that turns with the ebb.\nstatus: draft\nnotes:\n- Do not turn it at "
        "high tide | or low.\nmodels:\n- name: M1\n  built: 1780\n  parts:\n  - name: wheel\n    count: 2\n- name: M2\n"
        "  sold: true\n"
        "links: [{url: a}, {url: b}]\nauthors: [{name: Ann, url: c}]\n---\n"
    )
    document = convert("a.md", f"{fields}# Mill\n\nWords.\n")
    sections = (
        "## notes\n\n- Do not turn it at high tide | or low.\n\n## models\n\n| name | built | parts | sold |\n"
        "| --- | --- | --- | --- |\n| M1 | 1780 | name: wheel, count: 2 |  |\n| M2 |  |  | true |\n"
    )
    assert document.content == f"# Mill\n\nA mill that turns with the ebb.\n\nWords.\n\n{sections}"
    assert document.metadata["models"][1] == {"name": "M2", "sold": True}
    assert convert("a.md", fields).content == f"A mill that turns with the ebb.\n\n{sections}"
    many = "".join(f"- {{a{number}: x, b{number}: y}}\n" for number in range(5_000))
    assert convert("a.md", f"---\nparts:\n{many}---\nText.\n").content == "Text.\n"


def test_fields_keep_what_they_say() -> None:
    document = convert(
        "a.md",
        "---\ntitle: Pumps\nstatus: draft\nversion: 1.10\ncountry: no\npublished: true\nrating: 4\nStart: 12:30\n"
        'project: [[Tide Mill]]\narea: "[[Fowey|the bay]]"\nparts:\n  - name: wheel\n    count: 2\nempty:\n'
        'due: 2024-13-45\nowner: "A: B"\n---\nText.\n',
    )
    assert document.title == "Pumps"
    assert document.metadata == {
        "status": "draft",
        "version": "1.10",
        "country": "no",
        "published": True,
        "rating": "4",
        "Start": "12:30",
        "project": ["Tide Mill"],
        "area": "the bay",
        "parts": [{"name": "wheel", "count": "2"}],
        "due": "2024-13-45",
        "owner": "A: B",
    }


@pytest.mark.parametrize(
    ("fields", "metadata"),
    [
        ("title: One: two\nstatus: draft", {"status": "draft"}),  # no YAML, but many have it
        ("a: &x [lol, lol]\nb: *x", {"a": "&x [lol, lol]", "b": "*x"}),  # references can stand for gigabytes
        ("? [a, b]\n: c", {}),
        ("- a\n- b", {}),
    ],
)
def test_fields_that_are_odd_yaml(fields: str, metadata: dict[str, object]) -> None:
    document = convert("a.md", f"---\n{fields}\n---\n\nText.\n")
    assert document.metadata == metadata
    assert document.content.endswith("Text.\n")


@pytest.mark.parametrize("value", ["{b: " * 900 + "c" + "}" * 900, "[" * 50_000, "- " * 40_000, "[" * 200_000])
def test_fields_that_are_nested_very_deeply_do_no_harm(value: str) -> None:
    document = convert("a.md", f"---\nstatus: draft\na: {value}\n---\nText.\n")
    assert document.metadata["status"] == "draft"
    assert document.content == "Text.\n"


def test_imports_of_mdx_are_not_text() -> None:
    text = (
        "---\ntitle: Birds\n---\nimport Tabs from '@theme/Tabs';\nimport {\n  Card,\n  Grid as G,\n} from \"./cards\"\n"
        "import './style.css';\n\nKestrels import mice.\n\n```js\nimport Tabs from 'tabs';\n```\n"
    )
    shown = "Kestrels import mice.\n\n```js\nimport Tabs from 'tabs';\n```\n"
    assert convert("a.mdx", text).content == shown
    assert convert("a.md", text).content.startswith("import Tabs from")
    assert convert("a.mdx", "import {" * 20_000).content.startswith("import {")


def test_markdown_that_is_slow_to_match_is_not_slow() -> None:
    for text in (
        "[" * 50_000,
        "](" * 50_000,
        "`" * 50_000,
        "<!--" * 20_000,
        "<!--{/*" * 20_000,
        "[a](" * 20_000,
        "*" * 50_000,
        "# " + "\\" * 50_000,
    ):
        assert convert("a.md", text).content == text


def test_fields_above_the_text_without_a_fence_are_front_matter() -> None:
    """As MultiMarkdown and Pelican have them."""
    document = convert(
        "a.md", "Title:   My post  \nDate: 2020-01-02\nTags: a, b\nAuthors: Ann,\n  Ben\n\nWords.\n\n# One\n"
    )
    assert document.title == "My post"
    assert document.content == "Words.\n\n# One\n"
    assert document.metadata == {"created": "2020-01-02", "tags": "a, b", "author": "Ann, Ben"}


def test_a_text_of_fields_only_keeps_them() -> None:
    assert convert("a.md", "Title: x\nAuthor: y\n").content == "Title: x\nAuthor: y\n"


def test_rows_of_tables_get_the_bars_that_they_lack() -> None:
    table = "Name | What it is\n---|:--\n`a \\| b` | A mill.\n| c | A weir |\nd |\n"
    barred = "| Name | What it is |\n| ---|:-- |\n| `a \\| b` | A mill. |\n| c | A weir |\n| d |\n"
    fenced = f"```\n{table}```\n"
    others = "One | two\n---\nx | y\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx | y | z\n--|--\n"
    text = f"# Mills\n\n{{}}\nEnd | of it.\n\n{fenced}\n{others}"
    assert convert("a.md", text.format(table)).content == text.format(barred)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('<h3 id="spin"><code>spin(wheel)</code></h3>\nTurns it.', "### `spin(wheel)`\n\nTurns it."),
        ('A.\n<h2 align="center">Use &amp; <a href="#x">care</a></h2>\nOil.', "A.\n\n## Use & care\n\nOil."),
        ('<h2><a href="oil.md">Oil</a></h2>', "## [Oil](oil.md)"),
        ('<h4 align="center">A tide mill in one file.</h4>', '<h4 align="center">A tide mill in one file.</h4>'),
        ('<h1 align="center"><img src="a.png" alt="x"></h1>', '<h1 align="center"><img src="a.png" alt="x"></h1>'),
        ("```html\n<h2>Shown</h2>\n```", "```html\n<h2>Shown</h2>\n```"),
        ("Within a line <h2>no heading</h2> is one.", "Within a line <h2>no heading</h2> is one."),
        ("<h2>Opened", "<h2>Opened"),
    ],
)
def test_headings_in_html_become_headings_of_markdown(text: str, content: str) -> None:
    document = convert("a.md", text)
    assert document.content.strip() == content
    assert [target for target in targets(document) if "#" not in target] == [f"{URI}oil.md"] * ("oil.md" in text)


@pytest.mark.parametrize("piece", ["<h2>", "<h2 a>x", "<h2>x</h3>", "\n<h1", "\n<h2>x</h2>", "\n<h2>" + "<a " * 99])
def test_headings_in_html_take_linear_time(piece: str) -> None:
    check_growth(lambda size: convert("a.md", "x\n" + piece * size), 2_000)


def test_tables_in_html_become_tables_of_markdown() -> None:
    rows = (
        '<thead><tr><th width="40">Team</th><th>Contact</th></tr></thead><tbody>'
        '<tr><td><strong>Mill</strong> &amp; weir</td><td><a href="ada.md">Ada <b>Vane</b></a>, 4th floor</td></tr>'
        '\n<tr><td>Harbour</td><td><p>Olaf<br><a href="a (b).md">Quill</a><a href="c.md"></a></p></td></tr></tbody>'
    )
    layout = '<table><tr><td><img src="a.png"></td><td><table><tr><td>a</td></tr></table></td></tr></table>'
    code = "```html\n<table><tr><td>a</td></tr><tr><td>b</td></tr></table>\n```"
    in_cell = "<table>\n<tr><th>Run</th></tr>\n<tr><td>\n\n```sh\nmill\n```\n\n</td><td>b</td></tr>\n</table>"
    kept = "\n\n".join([layout, code, in_cell, "<table>never closed\n"])
    document = convert("a.md", f"# Teams\n\nThese are:\n<table data-view>{rows}</table>\nAnd\n\n{kept}")
    table = (
        "| Team | Contact |\n| --- | --- |\n| Mill & weir | [Ada Vane](ada.md), 4th floor |\n"
        "| Harbour | Olaf [Quill](<a (b).md>) |"
    )
    assert document.content == f"# Teams\n\nThese are:\n\n{table}\n\nAnd\n\n{kept}"
    assert targets(document)[0] == f"{URI}ada.md"


@pytest.mark.parametrize("piece", ["<table>\n", "<table></table>\n", "\n<table><tr><td>", "</table>\n"])
def test_tables_in_html_take_linear_time(piece: str) -> None:
    check_growth(lambda size: convert("a.md", "x\n" + piece * size), 2_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!-- SPDX: MIT -->\n\n# Mills\n\nWords.\n", "# Mills\n\nWords.\n"),
        ("One.\n\n<!--\nTODO: rewrite\n\nthis -->\n\nTwo.\n", "One.\n\nTwo.\n"),
        ("One <!-- not --> two.\n", "One  two.\n"),
        ("- One\n  <!-- not -->\n- Two\n", "- One\n- Two\n"),
        ("```html\n<!-- code -->\n```\n\n`<!-- code -->`\n", "```html\n<!-- code -->\n```\n\n`<!-- code -->`\n"),
        ("Code:\n\n    <!-- code -->\n", "Code:\n\n    <!-- code -->\n"),
        ("One <!-- no end\n\nTwo.\n", "One <!-- no end\n\nTwo.\n"),
        ("One.\n\n<!-- at the end -->", "One.\n\n"),
        ("# Mills {/*mills*/}\n\n{/* TODO */}\n\nWords.\n", "# Mills \n\nWords.\n"),
        ("`{/* code */}` {/* <!-- */} one --> two {/* no end\n", "`{/* code */}`  one --> two {/* no end\n"),
    ],
)
def test_comments_are_no_text(text: str, shown: str) -> None:
    assert convert("a.md", text).content == shown


def test_very_many_comments_are_read_at_once() -> None:
    assert convert("a.md", "a" + "<!---->" * 20_000).content == "a"
