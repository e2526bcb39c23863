"""Text in every encoding, Markdown, reStructuredText and source code."""

from __future__ import annotations

import codecs

import pytest
from filetools import URI, convert, reason, targets
from hypothesis import given
from hypothesis import strategies as st

from libs.dataloader.text import clean_text, decode_bytes

GERMAN = "Die schöne Müllerin aß Äpfel für 3,50 € – „köstlich“, sagte sie.\n"
FRENCH = "L'été était très chaud cette année à Besançon. Où est le café ?\n"
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。\n"
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах.\n"
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. Zażółć gęślą jaźń.\n"
CHINESE = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。\n"


# -- encodings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GERMAN, FRENCH, JAPANESE, RUSSIAN, POLISH, CHINESE, "plain ASCII text\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_a_byte_order_mark_or_as_utf8(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text


@pytest.mark.parametrize("text", [GERMAN, FRENCH, JAPANESE, RUSSIAN, POLISH, CHINESE, "plain ASCII text\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_byte_order_mark(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text
    assert convert("a.txt", (codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b"") + text.encode(encoding)).content


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (FRENCH, "latin-1"),
        (FRENCH, "cp1252"),
        ("Señor Núñez pagó 25 por el café.\n", "latin-1"),
        ("It’s “quoted” – and costs £3.\n", "cp1252"),
        ("Kvinnan åt köttbullar.\n", "latin-1"),
        ("größer", "cp1252"),
        ("Déjà vu à la forêt: élève, hôtel. Où êtes-vous allés cet été? Ça va très bien, merci.\n", "latin-1"),
        (JAPANESE, "shift-jis"),
        ("日本語のテキスト\n", "cp932"),
        ("ﾃｽﾄです。カタカナ\n", "cp932"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso-2022-jp"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (POLISH, "cp1250"),
        ("A fűnyíró nem működik, mert elromlott az öregebbik kötél.\n", "cp1250"),
        ("Dnes večer půjdeme do divadla, těšíme se.\n", "cp1250"),
        (POLISH, "iso-8859-2"),
        ("Žluťoučký kůň úpěl ďábelské ódy. Dnes večer půjdeme do divadla, těšíme se.\n", "iso-8859-2"),
        ("Šest tisoč ljudi je včeraj prišlo na koncert; začel se je že ob štirih.\n", "iso-8859-2"),
        (RUSSIAN, "iso-8859-5"),
        ("フォルダー C:\\Users\\山田\\書類 にあります。", "cp932"),
        ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n", "iso-2022-kr"),
        (CHINESE, "gb18030"),
    ],
)
def test_old_encodings_are_detected(text: str, encoding: str) -> None:
    assert convert("a.txt", text.encode(encoding)).content == text


@pytest.mark.parametrize(
    "text",
    [
        "naïve", "El Niño", "voilà!", "“x”", "‘x’", "«oui»", "«oui» – “x”…", "Où est-il ?", "½ cup", "Noël", "pâté",
        "città", "He was naïve.", "“El Niño” – a naïve view", "Menu: piñata party, jalapeño dip – 5 €",
    ],
)  # fmt: skip
def test_few_words_with_an_accent_are_western(text: str) -> None:
    assert decode_bytes(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize("encoding", ["cp1257", "iso-8859-4", "iso-8859-13"])
@pytest.mark.parametrize(
    "text",
    [
        "Latvijas galvaspilsēta ir Rīga.",
        "Vilnius yra Lietuvos sostinė.",
        "Šiandien graži diena, einame į mišką uogauti.",
    ],
)
def test_sentences_of_baltic_languages_stay_what_they_are(text: str, encoding: str) -> None:
    assert decode_bytes(text.encode(encoding)).text == text


def test_several_languages_in_one_file() -> None:
    text = (
        GERMAN + FRENCH + "El niño comió paella con ñoquis. ¡Qué rico!\nKvinnan åt köttbullar.\nO João: não é ótimo?\n"
    )
    assert convert("a.txt", text.encode("cp1252")).content == text


def test_utf8_with_a_broken_byte_stays_utf8() -> None:
    data = (GERMAN * 5).encode() + b"\xff broken \xe4\n" + (FRENCH * 5).encode()
    text = convert("a.txt", data).content
    assert text.startswith(GERMAN)
    assert text.endswith(FRENCH)
    assert "�" in text


@pytest.mark.parametrize("words", ["\n", "follows\n", "follows here and there\n", "follows here and there\n" * 4])
@pytest.mark.parametrize(
    "start", ["a\x00b normal text ", "a\x00b\x07c normal text with words that ", "\x00a b c d e f g "]
)
def test_a_control_character_makes_no_other_script(start: str, words: str) -> None:
    text = start + words
    assert convert("a.txt", text).content == text.replace("\x00", "").replace("\x07", "")


def test_an_encoding_that_the_user_insists_on() -> None:
    assert convert("a.txt", "žluťoučký".encode("cp1250"), encoding="cp1250").content == "žluťoučký"
    assert "not ascii text" in reason("a.txt", GERMAN, encoding="ascii")


def test_a_declared_charset_counts_where_the_bytes_are_not_utf8() -> None:
    assert decode_bytes("Łódź".encode("cp1250"), declared="windows-1250").text == "Łódź"
    assert decode_bytes("größer".encode(), declared="iso-8859-1").text == "größer"
    assert decode_bytes(b"caf\xe9", declared="no-such-charset").text == "café"
    assert decode_bytes(JAPANESE.encode("iso-2022-jp"), declared="iso-2022-jp").text == JAPANESE
    assert decode_bytes(b"aGFsbG8=", declared="base64").text == "aGFsbG8="


def test_an_xml_declaration_counts_where_the_bytes_are_not_utf8() -> None:
    for words, encoding in (("Łódź", "iso-8859-2"), ("мир", "ibm866"), ("größer", "UTF-16")):
        text = f'<?xml version="1.0" encoding="{encoding}"?>\n<a>{words}</a>'
        data = text.encode("utf-8" if encoding == "UTF-16" else encoding)
        assert convert("a.xml", data).content == text
    assert decode_bytes(b'<?xml version="1.0" encoding="ibm866"?>\xd0', declared="cp1251").text.endswith("Р")


@given(st.text())
def test_every_text_survives_as_utf8_up_to_cleaning(text: str) -> None:
    assert clean_text(decode_bytes(text.encode("utf-8", "surrogatepass")).text).encode() is not None
    clean = clean_text(text)
    assert clean_text(clean) == clean


@given(st.binary(max_size=400))
def test_decoding_never_fails_and_cleaned_text_can_be_stored(data: bytes) -> None:
    text = clean_text(decode_bytes(data).text)
    text.encode("utf-8")
    assert "\x00" not in text
    assert "\r" not in text


def test_cleaning() -> None:
    assert (
        convert("a.txt", b"\xef\xbb\xbfa\r\nb\rc\x00d\x1b[31mred\x1b[0m\xe2\x80\xa8e\xef\xbb\xbff").content
        == "a\nb\ncdred\nef"
    )
    assert clean_text("a\ud800b\ud83d\ude00c") == "a\ufffdb😀c"
    assert clean_text("Donau\u00addampf") == "Donaudampf"
    decomposed = "e\u0301"
    assert clean_text(decomposed) == decomposed


# -- Markdown ------------------------------------------------------------------------------------------------------


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
    assert document.content == text
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


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Title\n=====\n\ntext", "Title"),
        ("## Second\n\n# First\n", "First"),
        ("text only", None),
        ("```\n# not this\n```\n## This [one](x.md) #\n", "This one"),
        ("<h1 align='center'>From <b>HTML</b></h1>\n", "From HTML"),
        ("#hashtag is no heading\n", None),
        ("- item\n---\n", None),
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
    assert (document.title, document.content) == ("A title that is folded", "# Heading\n")
    assert document.metadata == {
        "description": "One sentence that goes on.",
        "author": "Ann O'Hara",
        "tags": ["a", "b"],
    }
    toml = convert("a.md", '+++\ntitle = "The page"\n[params]\ntitle = "not the page"\n+++\nText.\n')
    assert (toml.title, toml.content) == ("The page", "Text.\n")


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
        "[a](" * 20_000,
        "*" * 50_000,
        "# " + "\\" * 50_000,
    ):
        assert convert("a.md", text).content == text


# -- reStructuredText ----------------------------------------------------------------------------------------------


def test_restructured_text_becomes_markdown() -> None:
    document = convert(
        "docs/a.rst",
        """=====
Title
=====

:author: Ann

Intro with ``literal``, *emphasis*, :ref:`a label <label>`, :py:func:`~pkg.mod.func`, `site <https://example.org/x>`_,
a named_ link and `other page <other.rst>`__.

.. _named: https://named.example.org/

.. comment that is dropped
   in both lines

Section
-------

.. code-block:: python

   def f():
       return 1

Shell::

    $ ls

.. note:: Be careful.
   Really.

.. image:: x.png
   :alt: A picture

Sub
~~~

=====  =====
A      B
=====  =====
1      2
3      4
=====  =====

+----+----+
| C  | D  |
+====+====+
| 5  | 6  |
+----+----+
""",
    )
    assert document.title == "Title"
    assert document.format == "markdown"
    assert document.metadata == {"author": "Ann"}
    for expected in (
        "# Title\n",
        "## Section\n",
        "### Sub\n",
        "`literal`",
        "a label",
        "`func`",
        "```python\ndef f():\n    return 1\n```",
        "Shell:\n\n```\n$ ls\n```",
        "Note: Be careful.",
        "Really.",
        "A picture",
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
        "| C | D |\n| --- | --- |\n| 5 | 6 |",
    ):
        assert expected in document.content
    assert "dropped" not in document.content
    assert ".. " not in document.content
    assert sorted(targets(document)) == [
        "file:///home/me/docs/docs/other.rst",
        "https://example.org/x",
        "https://named.example.org/",
    ]


@pytest.mark.parametrize(
    ("directive", "markdown"),
    [
        (
            """.. csv-table:: Prices in *May*
   :header: "Name, full", Price
   :widths: 15, 10

   "Pear, green", 2.99
   "two
   lines", `site <https://example.org/x>`_
""",
            "Prices in *May*\n\n| Name, full | Price |\n| --- | --- |\n| Pear, green | 2.99 |\n| two lines | site |",
        ),
        (".. csv-table::\n   :header: a;b\n   :delim: ;\n\n   1;2,5\n", "| a | b |\n| --- | --- |\n| 1 | 2,5 |"),
        (".. csv-table::\n   :delim: space\n   :quote: '\n\n   'a' b\n", "| a | b |\n| --- | --- |"),
        (
            ".. csv-table:: Elsewhere\n   :header: a, b\n   :file: x.csv\n",
            "Elsewhere\n\n| a | b |\n| --- | --- |",
        ),
        (".. csv-table::\n   :delim: nonsense\n\n   1;2\n", "1;2"),
        (
            """.. list-table:: Fruit
   :header-rows: 1

   * - Head A
     - Head B
   * - one ``x``

       two
     -
   *  -  three
      -  four
""",
            "Fruit\n\n| Head A | Head B |\n| --- | --- |\n| one `x` two |  |\n| three | four |",
        ),
        (".. list-table::\n\n   - no\n   - rows\n", "- no\n- rows"),
        (
            ".. only:: html and not latex\n\n   Some ``words``.\n\n   .. note:: Inner.\n",
            "Some `words`.\n\nNote: Inner.",
        ),
        (".. py:function:: f(x)\n\n   :returns: something\n", "`f(x)`\n\n:returns: something"),
        (".. code-block:: python\n   :caption: Why\n\n   x = 1\n", "Why\n\n```python\nx = 1\n```"),
        (".. versionadded:: 3.11\n", "Added in version 3.11."),
        (".. versionchanged:: 3.12\n   Raises ``X``.\n", "Changed in version 3.12:\nRaises `X`."),
        (".. deprecated:: 3.1  Use :pep:`249`.\n", "Deprecated since version 3.1: Use PEP 249."),
        (".. deprecated-removed:: 3.8 3.12\n", "Deprecated since version 3.8, removed in version 3.12."),
        (
            "See :rfc:`7159`, :pep:`the style <8>` and :cve:`2020-10735`.\n",
            "See RFC 7159, the style and CVE-2020-10735.",
        ),
        (
            """+---------+------------+-------+
| System  | Shell      | Runs  |
+=========+============+=======+
| POSIX   | bash       | ``a`` |
| (all)   +------------+-------+
|         | fish       | ``b`` |
+---------+------------+-------+
| 日本    | Not known anywhere |
+---------+------------+-------+
""",
            "| System | Shell | Runs |\n| --- | --- | --- |\n"
            "| POSIX (all) | bash | `a` |\n| POSIX (all) | fish | `b` |\n"
            "| 日本 | Not known anywhere |  |",
        ),
    ],
)
def test_restructured_text_directives(directive: str, markdown: str) -> None:
    document = convert("a.rst", f"Title\n=====\n\n{directive}\nAfter.\n")
    assert document.content == f"# Title\n\n{markdown}\n\nAfter."
    assert document.metadata == {}


def test_restructured_fields_of_several_lines_are_whole() -> None:
    document = convert(
        "a.rst",
        """Title
=====

:Author: Ann
:Address: 1 High Street
          Oxford
:Abstract: Kestrels migrate
   every *autumn*.

   Herons do not.
:Dedication:
   For all.
:orphan:
:Version: 2
:Prerequisites: A coast
    and a pair of binoculars.

Text.
""",
    )
    assert document.metadata == {"author": "Ann", "address": "1 High Street Oxford", "version": "2"}
    assert document.content == (
        "# Title\n\nAbstract: Kestrels migrate\nevery *autumn*.\n\nHerons do not.\n\nDedication:\nFor all.\n\n"
        "Prerequisites: A coast\nand a pair of binoculars.\n\nText."
    )


def test_titles_and_addresses_in_a_toctree() -> None:
    document = convert(
        "a.rst",
        """Title
=====

.. toctree::
   :maxdepth: 1

   intro
   Rory Barnes <https://example.org/rory>
   The rest <other/rest>
""",
    )
    assert document.content == "# Title\n\n- Rory Barnes\n- The rest"
    assert [(link.target, link.text) for link in document.links] == [
        (f"{URI}intro.rst", ""),
        ("https://example.org/rory", "Rory Barnes"),
        (f"{URI}other/rest.rst", "The rest"),
    ]


def test_references_to_documents_are_links() -> None:
    text = "See :doc:`install`, :doc:`the guide </guide/index>` and :external:doc:`python:library/os`.\n"
    document = convert("sub.rst", text)
    assert document.content == "See install, the guide and python:library/os."
    assert targets(document) == [f"{URI}install.rst", f"{URI}guide/index.rst"]


def test_what_directives_and_roles_show() -> None:
    text = """.. rst-class:: hide-header

Title
=====

.. container:: wide

   Kestrels hover.

.. admonition:: How they hover (in short)

   Against the wind.

.. seealso:: Herons

Call :meth:`.Bird.hover`. ::

   bird.hover()

As follows::

   bird.land()
"""
    assert convert("a.rst", text).content == (
        "# Title\n\nKestrels hover.\n\nHow they hover (in short)\n\nAgainst the wind.\n\nSee also: Herons\n\n"
        "Call `Bird.hover`.\n\n```\nbird.hover()\n```\n\nAs follows:\n\n```\nbird.land()\n```"
    )


def test_restructured_tables_are_not_blown_up() -> None:
    cells = "   * - a\n" + "     - a\n" * 20_000 + "   * - b\n" * 20_000
    assert len(convert("a.rst", f".. list-table::\n\n{cells}").content) < 1_000_000
    spanning = "+---+---+\n" + "| a | b |\n|   +---+\n" * 5_000 + "+---+---+\n"
    assert len(convert("a.rst", spanning).content) < 1_000_000


@pytest.mark.parametrize("piece", ["== ==\n", "`", "``a", ".. note::\n", "+--+\n|a|\n", "|a\n", "=====\na\n"])
def test_restructured_text_that_is_slow_to_match_is_not_slow(piece: str) -> None:
    assert convert("a.rst", piece * 20_000 + "\nlast words\n").content.endswith("last words")


# -- code and names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("a.rs", "rust"),
        ("a.TS", "typescript"),
        ("Makefile", "make"),
        ("Dockerfile", "dockerfile"),
        ("a.h", "cpp"),
        ("a.yaml", "yaml"),
        ("a.m", "matlab"),
        ("CMakeLists.txt", "cmake"),
    ],
)
def test_code_keeps_its_text_and_its_language(name: str, language: str) -> None:
    text = "x = 1\n\tindented # kept\n"
    document = convert(name, text)
    assert (document.content, document.format, document.title) == (text, f"code:{language}", None)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("README", "just words", "text"),
        ("page", "<!DOCTYPE html><html><body><p>words</p></body></html>", "markdown"),
        ("data", '[{"a": 1}, {"a": 2}]', "records"),
        ("script", "#!/usr/bin/env python3\nprint(1)\n", "code:python"),
        ("mail", "From: a@b.c\nSubject: Hi\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\nbody", "text"),
        ("a.unknown", "words in an unknown format", "text"),
        ("feed", "<?xml version='1.0'?><rss><item>words</item></rss>", "code:xml"),
    ],
)
def test_what_has_no_known_ending_is_looked_at(name: str, data: str, kind: str) -> None:
    assert convert(name, data).format == kind


@pytest.mark.parametrize(
    ("name", "mime_type", "kind"),
    [
        ("data", "text/csv; charset=utf-8", "table"),
        ("data", "application/octet-stream", "text"),
        ("data.php", "text/html", "markdown"),
        ("data.csv", "text/plain", "table"),
        ("data", "application/vnd.api+json", "text"),
        ("data", "application/atom+xml", "code:xml"),
        ("data", "application/no-such-thing", "text"),
    ],
)
def test_a_media_type_helps_where_it_says_something(name: str, mime_type: str, kind: str) -> None:
    from libs.dataloader.formats import FileData, read_document

    file = FileData(f"https://example.org/{name}", b"a,b\n1,2\n")
    assert read_document(file, mime_type).format == kind


def test_labels_of_myst_are_not_text_and_its_documents_are_links() -> None:
    text = "(mill)=\n# The mill\n\nSee {doc}`guide/dam` and {doc}`the gate </gate.md>`.\n\n(f.w:1)=\n## Wheel\n"
    code = "\n```\n(mill)=\n{doc}`none`\n```\n"
    document = convert("a.md", text + code)
    assert document.content == text.replace("(mill)=\n", "").replace("(f.w:1)=\n", "") + code
    assert [(link.target, link.text) for link in document.links] == [
        (f"{URI}guide/dam.md", ""),
        (f"{URI}gate.md", "the gate"),
    ]
    assert convert("a.md", "f(x)=1\n(x)= 2\n").content == "f(x)=1\n(x)= 2\n"


# -- AsciiDoc and Org ----------------------------------------------------------------------------------------------

ASCIIDOC = """= The mill: a {what}
Ann Author
:description: How it runs
:url: https://example.org/mill
// a comment

Water comes by {url}[the race], see <<wheel,the wheel>>, xref:guide/dam.adoc#crest[its dam] and {unknown}.

[[wheel]]
== The wheel ==

include::parts.adoc[]
ifdef::draft[]
image::wheel.png[Drawing of the wheel]
endif::[]

[source,python]
----
= no heading
link:no.adoc[none]
----

Gates
~~~~~

....
```
....

////
A comment, too
////

----
is never closed
"""

ORG = """#+TITLE: The mill
#+author: Ann
#+LANGUAGE: en
# a comment
* TODO The wheel :wood:iron:
:PROPERTIES:
:ID: 17
:END:
Water comes by [[https://example.org/race][the race]], see [[file:dam.org::*Crest][its dam]] and [[*Gates]].
#+BEGIN_SRC emacs-lisp :tangle no
(message "[[no.org]]")
,* no heading
#+END_SRC
** Gates
| a | b |
|---+---|
| 1 | 2 |
#+begin_src
is never closed
"""


def test_asciidoc_has_headings_code_and_links() -> None:
    document = convert("mill.adoc", ASCIIDOC)
    assert (document.title, document.format, document.mime_type) == ("The mill: a {what}", "markdown", "text/asciidoc")
    assert document.metadata == {"description": "How it runs"}
    assert targets(document) == ["https://example.org/mill", f"{URI}guide/dam.adoc", f"{URI}parts.adoc"]
    assert document.content == (
        "# The mill: a {what}\nAnn Author\n\n"
        "Water comes by the race, see the wheel, its dam and {unknown}.\n\n"
        "## The wheel\n\nDrawing of the wheel\n\n"
        "```python\n= no heading\nlink:no.adoc[none]\n```\n\n### Gates\n\n````\n```\n````\n\n\n----\nis never closed\n"
    )


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "|===\n|Name |Meaning\n\n|`-f`\n|Overwrites\nfiles.\n\n|`-n` |{url}[Only] shows \\| tells.\n|===",
            ["| Name | Meaning |", "| `-f` | Overwrites files. |", "| `-n` | Only shows \\| tells. |"],
        ),
        (
            '[cols="1,2a",options="header"]\n.Options\n|===\n\n|Name\n|Meaning\n|a ^.>s| b\n|===',
            ["| Name | Meaning |", "| a | b |"],
        ),
        (
            "[cols=3*]\n|===\n|a|b\n|c\n2+|d e\n|f\n2*|g |h\n// no cell | at all\n|===",
            ["| a | b | c |", "| d e |  | f |", "| g | g | h |"],
        ),
    ],
)
def test_tables_of_asciidoc(table: str, rows: list[str]) -> None:
    document = convert("a.adoc", f":url: https://example.org/x\n\n== Text\n\n{table}\n")
    assert [line for line in document.content.split("\n") if line.startswith("| ")] == [
        rows[0],
        "|" + " --- |" * (rows[0].count("|") - 1),
        *rows[1:],
    ]


@pytest.mark.parametrize("table", ["|===\n|a |b\n.2+|c |d\n|e\n|===", "|===\n|a |b\n|c\n|===", "|===\nno cells\n|==="])
def test_tables_of_asciidoc_that_are_not_plain_stay_as_written(table: str) -> None:
    assert convert("a.adoc", f"== Text\n\n{table}\n").content == f"## Text\n\n{table}\n"


def test_a_cell_of_asciidoc_repeated_without_end() -> None:
    assert len(convert("a.adoc", "|===\n" + "999*|x\n" * 20_000 + "|===\n").content) < 200_000


def test_values_of_asciidoc_do_not_make_a_small_file_a_huge_text() -> None:
    document = convert("bomb.adoc", f":a: {'x' * 1000}\n\n" + "{a}" * 100_000 + "\n\nThe end.\n")
    assert len(document.content) < 1_500_000
    assert document.content.endswith("The end.\n")


@pytest.mark.parametrize(("name", "mark"), [("wide.adoc", "="), ("wide.org", "*")])
def test_headings_with_very_many_blanks_are_read(name: str, mark: str) -> None:
    blanks = " " * 200_000
    assert convert(name, f"{mark} Mill{blanks}wheel\n").content == f"# Mill{blanks}wheel\n"


def test_org_has_headings_code_and_links() -> None:
    document = convert("mill.org", ORG)
    assert (document.title, document.format, document.mime_type) == ("The mill", "markdown", "text/x-org")
    assert document.metadata == {"author": "Ann", "language": "en"}
    assert [(link.target, link.text) for link in document.links] == [
        ("https://example.org/race", "the race"),
        (f"{URI}dam.org", "its dam"),
    ]
    assert document.content == (
        "# TODO The wheel\nWater comes by the race, see its dam and Gates.\n"
        '```emacs-lisp\n(message "[[no.org]]")\n* no heading\n```\n## Gates\n| a | b |\n|---|---|\n| 1 | 2 |\n'
        "#+begin_src\nis never closed\n"
    )


@pytest.mark.parametrize("name", ["a.adoc", "a.org"])
def test_nothing_but_settings_is_kept(name: str) -> None:
    assert convert(name, ":toc: left\n" if name == "a.adoc" else "#+TITLE: A\n").content


def test_properties_of_logseq() -> None:
    text = "title:: My page\ntags:: [[boats]], #sea\nalias:: Shipyard\nrating:: 5\n\n"
    document = convert("page.md", f"{text}- A block\n  id:: 63f1\n  collapsed:: true\n  - Child\n")
    assert document.content == "rating:: 5\n\n- A block\n  - Child\n"
    assert document.title == "My page"
    assert document.metadata == {"tags": ["boats", "sea"], "aliases": ["Shipyard"]}
    for kept in ("std::vector is a class\n", "Term:: a meaning\nthat goes on\n", "```\n  id:: 1\n```\n", "tags:: a\n"):
        assert convert("page.md", kept).content == kept


# -- LaTeX ---------------------------------------------------------------------------------------------------------

PAPER = r"""% a comment
\documentclass[11pt]{article}
\usepackage{amsmath}
\newcommand{\name}{FrobNet\xspace}
\newcommand{\R}[1]{\mathbb{R}^{#1}}
\title{On $n$ Graphs\thanks{Funded.}}
\author{Ada Lovelace \and Bj\"orn \v{S}mid}
\date{2024}
\begin{document}
\maketitle
\begin{abstract} We show it. \end{abstract}
\section[Short]{A \emph{first}
section}\label{sec:a}
Graphs~\cite[p.~3]{knuth} are 50\% --- see \ref{sec:a}. % not shown
\name is ``fast'' \footnote{In \texttt{O(n)}.} and \href{https://example.org/x}{free}.

% nothing
{\small Caf\'e, \c{c}a, na\"{\i}ve.}
\begin{itemize}
  \item One % first
  \item[Two] \verb|a_b|
\end{itemize}
\subsection*{Second}
\begin{equation}\label{eq}
  E = mc^2 % energy
\end{equation}
A price of $5\$ + x_{i}$ and \$7.
\begin{lstlisting}[language=Python]
def f(x):  # 5% of \it

    return x
\end{lstlisting}
\begin{table}[h]\centering
\caption{Results}
\begin{tabular}{l|r}
\hline A & B\\ \hline
\multicolumn{1}{c}{x} & \begin{tabular}{@{}l@{}}1\\2\end{tabular} \\
\end{tabular}
\end{table}
\begin{tikzpicture}\draw (0,0);\end{tikzpicture}
\begin{theorem}[Main] All is well.\end{theorem}
\input{parts/appendix}
\end{document}
Never shown.
"""


def test_latex() -> None:
    document = convert("paper.tex", PAPER)
    assert document.content == (
        "# On $n$ Graphs (Funded.)\n\n## Abstract\n\nWe show it.\n\n## A first section\n\n"
        "Graphs [knuth] are 50% — see sec:a. FrobNet is “fast” (In `O(n)`.) and free.\n\n"
        "Café, ça, naïve.\n\n- One\n- Two: `a_b`\n\n### Second\n\n$$E = mc^2$$\n\nA price of $5\\$ + x_{i}$ and $7.\n\n"
        "```python\ndef f(x):  # 5% of \\it\n\n    return x\n```\n\nResults\n\n"
        "| A | B |\n| --- | --- |\n| x | 1 2 |\n\nTheorem (Main). All is well.\n"
    )
    assert (document.format, document.mime_type) == ("markdown", "text/x-tex")
    assert document.title == "On $n$ Graphs (Funded.)"
    assert document.metadata == {"author": "Ada Lovelace; Björn Šmid", "created": "2024"}
    assert targets(document) == ["https://example.org/x", f"{URI}parts/appendix.tex"]


def test_latex_of_a_part_and_of_settings() -> None:
    assert (
        convert("a.tex", "\\chapter{One}\nText.\n\\section{Two} More.").content == "# One\n\nText.\n\n## Two\n\nMore.\n"
    )
    heading = convert("a.tex", "\\section{Some \\texorpdfstring{$n$}{n}-types}\nText.").content
    assert heading == "## Some n-types\n\nText.\n"
    settings = "\\newcommand{\\x}[1]{\\mathbb{#1}}\n\\def\\y#1{\\emph{#1} and so on}\n"
    assert convert("macros.tex", settings).content == settings
    assert convert("plain.tex", "Only words.").content == "Only words.\n"


@pytest.mark.parametrize(
    "text",
    [
        "\\emph{\\emph{ word",
        "word } } $ a",
        "$ a \n\n word",
        "\\begin{equation} word",
        "word \\begin{tabular}{l} a & b",
        "word \\title{",
        "word \\",
        "\\section{word",
        "\\verb word",
        "\\item[ word",
        "word \\end{tabular}\\end{x}",
    ],
)
def test_latex_that_is_not_closed_keeps_its_words(text: str) -> None:
    assert "word" in convert("a.tex", text).content


# -- manual pages --------------------------------------------------------------------------------------------------

PAGE = r"""'\" t
.\" A comment
.TH FROB 1 "2024-01-01" "frob 1.0" "User Commands"
.de Sp
.sp 1
..
.if n \{\
.ad l
.\}
.SH NAME
frob \- frobnicate files
.SH SYNOPSIS
.B frob
[\fB\-v\fR] [\fB\-o\fR \fIFILE\fR]
.IR file ...
.SH
DESCRIPTION
.PP
Frob reads \fIfile\fP \(em and
.BR ls (1)
shows it.\" not shown
.OP \-q quiet
.TP
.BR \-v ", " \-\-verbose
Say
more.
.IP \(bu 2
A point
.nf
  $ frob \e
.BI "int f(int " a ", \
int " b );
.fi
.SS Exit status
.TS
tab(:) box;
l l.
Code:Meaning
_
0:T{
Well
done,
.BR frob ()
.br
T}
.TE
.SH "SEE ALSO"
.UR https://example.org/x
the site
.UE .
"""


@pytest.mark.parametrize("name", ["frob.1", "frob.3pm", "frob"])
def test_manual_page(name: str) -> None:
    document = convert(name, PAGE)
    assert document.content == (
        "# frob(1)\n\n## NAME\n\nfrob - frobnicate files\n\n## SYNOPSIS\n\nfrob [-v] [-o FILE] file...\n\n"
        "## DESCRIPTION\n\n"
        "Frob reads file — and ls(1) shows it. -q quiet\n\n-v, --verbose\n: Say more.\n\n- A point\n\n"
        "```\n  $ frob \\\nint f(int a, int b);\n```\n\n### Exit status\n\n"
        "| Code | Meaning |\n| --- | --- |\n| 0 | Well done, frob() |\n\n## SEE ALSO\n\nthe site\n"
    )
    assert (document.title, document.format, document.mime_type) == ("frob(1)", "markdown", "text/troff")
    assert document.metadata == {"created": "2024-01-01"}
    assert targets(document) == ["https://example.org/x"]


POD2MAN = r"""
.de Sp \" Vertical space
.if t .sp .5v
..
.ie n \{\
.    ds -- -
'br\}
.el\{\
.    ds PI p
'br\}
"""
IGNORED = r"""
.ig \"  -*- nroff -*-
Copyright of somebody
..
"""
RST2MAN = r"""
.de1 INDENT
level margin:
..
""" + ('.\\" A comment\n' * 500)


@pytest.mark.parametrize("before", [POD2MAN, IGNORED, RST2MAN])
def test_definitions_before_the_title_of_a_manual_page_are_not_text(before: str) -> None:
    page = before + ".TH FROB 1\n.SH NAME\nfrob\n.INDENT 0.0\n.TP\n.B \\-a\nAll.\n.UNINDENT\n"
    assert convert("frob.1", page).content == "# frob(1)\n\n## NAME\n\nfrob\n\n-a\n: All.\n"


MDOC = r"""
.\" A comment
.Dd $Mdocdate: October 4 2023 $
.Dt FROB 1
.Os
.Sh NAME
.Nm frob
.Nd frobnicate
.Dq things ,
quickly
.Sh SYNOPSIS
.In frob.h
.Nm
.Op Fl v | Fl -verbose
.Oo Fl o Ar file Oc Ns Ar \&...
.Bk -words
.Op Fl e Ns = Ns Ar x
.Ek
.Nm frobd
.Ar
.Ft int
.Fo frob
.Fa "const char *name"
.Fa "int count"
.Fc
.Sh DESCRIPTION
.Nm
reads
.Pa /etc/frob.conf
.Pq see Xr frob.conf 5 .
The sign
.Ql \&.
ends it,
.Em \&Ns
is a word.
.Pp
.Bl -tag -width Ds -compact
.It Fl v , Fl -verbose
Say more.
.Pp
And more.
.It Xo
.Fl o
.Ar file
.Xc
Write:
.Bl -bullet
.It
One
thing
.It
Two
.El
.El
.Bd -literal -offset indent
$ frob -v   x
.Cm end
.Ed
.Bl -column "Name" "Meaning"
.It Sy Code Ta Sy Meaning
.It 0 Ta well
done
.El
.Dl frob \-o y
.Sh SEE ALSO
.Lk https://example.org/x "the site" ,
.Bx 4.4
.Rs
.%A B. Somebody
.%T On Frobs
.Re
.Ex -std
"""


@pytest.mark.parametrize("name", ["frob.1", "frob"])
def test_manual_page_of_bsd(name: str) -> None:
    document = convert(name, MDOC)
    assert document.content == (
        "# frob(1)\n\n## NAME\n\nfrob - frobnicate “things”, quickly\n\n## SYNOPSIS\n\n"
        "#include <frob.h>\nfrob [-v | --verbose] [-o file]... [-e=x]\nfrobd file ...\n"
        "int frob(const char *name, int count)\n\n"
        "## DESCRIPTION\n\nfrob reads /etc/frob.conf (see frob.conf(5)). The sign ‘.’ ends it, Ns is a word.\n\n"
        "-v, --verbose\n: Say more.\n\nAnd more.\n\n-o file\n: Write:\n\n- One thing\n- Two\n\n"
        "```\n$ frob -v   x\nend\n```\n\n"
        "| Code | Meaning |\n| --- | --- |\n| 0 | well done |\n\n```\nfrob -o y\n```\n\n"
        "## SEE ALSO\n\nthe site: https://example.org/x, 4.4BSD\nB. Somebody, “On Frobs”."
        " The frob utility exits 0 on success, and >0 if an error occurs.\n"
    )
    assert (document.title, document.format, document.mime_type) == ("frob(1)", "markdown", "text/troff")
    assert document.metadata == {"created": "2023-10-04"}
    assert targets(document) == ["https://example.org/x"]


def test_what_only_ends_like_a_manual_page_is_text() -> None:
    assert convert("server.log.1", "Started\n.SH\n").content == "Started\n.SH\n"
