"""Pages of MediaWiki: as files, and as a wiki exports them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from libs.dataloader.formats import FileData, UnreadableError, read_document
from tests.dataloader.filetools import convert, load, reason, targets, tree

MILL = """{{Use dmy dates|date=May 2020}}
{{Infobox mill
| name = Oak Mill
| image = [[File:Oak.jpg|200px]]
| built = {{start date|1784|5|3}}
| owner = [[Ada Berg]]<ref>{{cite web|title=Deeds|url=https://example.org/deeds}}</ref>
| height = {{convert|12|m|ft}}
}}
'''Oak Mill''' ({{lang-nl|Eikenmolen}}) is a [[water mill|mill]] on the [[River Ouse (Bedford)|]].{{cn|date=2020}}

__NOTOC__
== The ''gate'' ==
It opens at:
<ref>The gate was moved by two metres after the flood of that year, as the miller tells.</ref>
* noon
** in summer, {{nowrap|at one}}
* dusk
# first
#: and on

; Sluice : lets water in
; Wheel
: turns
 sluice --open   &lt;now&gt;

{| class="wikitable" style="color: red"
|+ Wheels of the mill
! Wheel !! Width
|-
| colspan="1" | Old || 3 m
|-
|
New
| 4 m <!-- measured -->
|}
See also [https://example.org/wheels the wheels] and [[#The gate|above]].
<syntaxhighlight lang="python">
open("== gate ==")
</syntaxhighlight>
[[File:Gate.jpg|thumb|left|200px|The gate in [[1901]]]]
The power is <math>P = \\frac{1}{2}\\rho v^3</math>, <nowiki>''not''</nowiki> H<sub>2</sub>O.
== References ==
{{reflist}}
{{DEFAULTSORT:Mill, Oak}}
[[Category:Mills in Bedford]][[de:Eichenmühle]]
"""


def test_a_page_becomes_markdown() -> None:
    document = convert("Oak_Mill.mediawiki", MILL)
    text = document.content
    assert document.title == "Oak Mill"
    assert document.mime_type == "text/x-wiki"
    assert document.metadata["tags"] == ["Mills in Bedford"]
    for line in (
        "built: 1784-05-03",
        "owner: Ada Berg",
        "Oak Mill (Eikenmolen) is a mill on the River Ouse.",
        "## The gate",
        "- noon",
        "  - in summer, at one",
        "- dusk",
        "sluice --open   <now>",
        "| Wheel | Width |",
        "| Old | 3 m |",
        "| New | 4 m |",
        "See also the wheels and above.",
        'open("== gate ==")',
        "The gate in 1901",
        "The power is $P = \\frac{1}{2}\\rho v^3$, ''not'' H2O.",
    ):
        assert line in text.split("\n"), line
    assert "Sluice\n: lets water in" in text
    assert "Wheel\n: turns" in text
    for gone in (
        "{{",
        "[[",
        "'''",
        "NOTOC",
        "measured",
        "color",
        "Use dmy",
        "2020",
        "Eichenm",
        "DEFAULTSORT",
        "200px",
    ):
        assert gone not in text, gone
    assert targets(document) == ["https://example.org/wheels", "https://example.org/deeds"]


def test_a_note_that_explains_stands_behind_its_paragraph_and_a_source_at_the_end() -> None:
    text = convert("Oak_Mill.mediawiki", MILL).content
    assert text.index("- dusk") < text.index("The gate was moved by two metres") < text.index("Sluice")
    assert text.rstrip().endswith("## References\n\n1. “Deeds”")


def test_fields_in_code_at_the_top_are_those_of_the_document() -> None:
    fields = "  BIP: 39\n  Title: Mnemonic code\n  Authors: Ada Berg <ada@example.org>\n           Otto Lind\n"
    fields += "  Status: Final\n"
    for name, text in (
        ("bip-0039.mediawiki", f"<pre>\n{fields}</pre>\n\n==Abstract==\nWords are kept.\n"),
        ("bip-0039.md", f"```\n{fields}```\n\n## Abstract\n\nWords are kept.\n"),
    ):
        document = convert(name, text)
        assert document.title == "BIP 39 – Mnemonic code"
        assert document.metadata["author"] == "Ada Berg <ada@example.org> Otto Lind"
        assert document.content.startswith("- BIP: 39\n- Title: Mnemonic code\n- Authors: Ada Berg")
        assert "- Status: Final\n\n## Abstract\n\nWords are kept." in document.content


def test_code_at_the_top_without_a_title_stays_code() -> None:
    assert convert("a.md", "```\nhost: mill\nport: 8080\n```\n\nWords.\n").content.startswith("```\nhost: mill")
    assert (
        "```\nhost: mill\nport: 8080\n```"
        in convert("a.wiki", "<pre>\nhost: mill\nport: 8080\n</pre>\nWords.\n").content
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{{Main|Water}}", "Main article: Water"),
        ("a {{convert|5|km|mi}} b", "a 5 km b"),
        ("{{ic|pacman -S mill}}", "`pacman -S mill`"),
        ("{{Note|Mind the {{Pkg|gate}}.}}", "Mind the gate."),
        ("{{plainlist|\n* one\n* two\n}}", "- one\n- two"),
        ("{{ubl|one|two}}", "- one\n- two"),
        ("{{Person\n|born=1815\n|died=1852\n|imagesize=20\n}}", "born: 1815\ndied: 1852"),
        ("x{{ndash}}y {{frac|1|2}}", "x – y 1/2"),
        ("{{{1|by default}}} {{#if: x | y }}", "by default"),
        ("Run {{{make mill}}}.", "Run `make mill`."),
        ("{{{\nmake mill\n  oak\n}}}", "```\nmake mill\n  oak\n```"),
        ("{{cite book|last=Berg|first=Ada|title=Gates|year=1901|publisher=Mill}}", "Ada Berg. “Gates”. Mill. 1901"),
        ("{|\n|a||b\n|-\n|c||d\n|}", "| a | b |\n| --- | --- |\n| c | d |"),
        (":{|\n|a||b\n|-\n|c||d\n|}", "| a | b |\n| --- | --- |\n| c | d |"),
        ("[[https://example.org|x]] [[Foo (bar)|]] [[fr:Nom]]", "x Foo"),
        ("<gallery>\nFile:A.png|A ''gate''\n</gallery>", "A gate"),
        ("'''unclosed bold", "unclosed bold"),
        ("{{unclosed|a", "{{unclosed|a"),
        ("2 < 3 & List<String>", "2 < 3 & List<String>"),
    ],
)
def test_what_is_shown(source: str, shown: str) -> None:
    assert convert("a.wiki", source).content.strip() == shown


def test_a_page_that_only_leads_to_another_is_left_out() -> None:
    assert reason("a.mediawiki", "#REDIRECT [[Oak Mill]]") == "it only leads to another page (Oak Mill)"


def test_a_list_is_no_redirect() -> None:
    assert convert("a.mediawiki", "#Wheels [[Oak Mill]]\n#Gates\n").content == "1. Wheels Oak Mill\n2. Gates"


def test_a_page_of_nothing_but_signs_for_programs_stays_as_it_is() -> None:
    assert convert("a.mediawiki", "{{stub}}\n").content.strip() == "{{stub}}"


async def test_links_lead_to_the_pages_beside_them(tmp_path: Path) -> None:
    tree(tmp_path, {"Home.mediawiki": "See [[Oak Mill|the mill]] and [[Nowhere]].", "Oak-Mill.mediawiki": "A mill."})
    found = (await load(tmp_path)).documents
    assert [(link.target.rpartition("/")[2], link.text) for link in found[str(tmp_path / "Home.mediawiki")].links] == [
        ("Oak-Mill.mediawiki", "the mill")
    ]


# -- exports ----------------------------------------------------------------------------------------------------------


def page(title: str, text: str, ns: int = 0, more: str = "", *, earlier: str = "") -> str:
    revision = "<revision><id>{}</id><timestamp>{}</timestamp><contributor><username>Ada</username></contributor>"
    revision += "<model>wikitext</model><format>text/x-wiki</format><text xml:space='preserve'>{}</text></revision>"
    first = revision.format(1, "2024-01-01T00:00:00Z", earlier) if earlier else ""
    return f"<page><title>{title}</title><ns>{ns}</ns><id>7</id>{more}" + (
        revision.format(2, "2025-03-04T09:00:00Z", text) + first + "</page>"
    )


def export(*pages: str) -> str:
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"><siteinfo>'
        "<sitename>Mill Wiki</sitename><base>https://wiki.example.org/wiki/Main_Page</base><case>first-letter</case>"
        f"</siteinfo>{''.join(pages)}</mediawiki>"
    )


def test_an_export_has_a_section_for_each_page() -> None:
    document = convert(
        "export.xml",
        export(
            page(
                "Oak Mill", "It has a [[sluice gate|gate]].\n\n== Wheel ==\n3 m &amp; more.", earlier="Nobody knows it."
            ),
            page("Sluice gate", "'''It''' opens.[[Category:Gates]]"),
            page("The mill", "#REDIRECT [[Oak Mill]]", more='<redirect title="Oak Mill" />'),
            page("Template:Stub", "This is a stub.", 10),
            page("Talk:Oak Mill", ":Is it oak? ~~~~", 1),
        ),
    )
    assert document.title == "Mill Wiki"
    assert document.metadata["page_count"] == 3
    assert document.content.split("\n\n") == [
        "# Oak Mill",
        "Modified: 2025-03-04 · Author: Ada",
        "It has a gate.",
        "### Wheel",
        "3 m & more.",
        "# Sluice gate",
        "Modified: 2025-03-04 · Author: Ada · Tags: Gates",
        "It opens.",
        "# Talk:Oak Mill",
        "Modified: 2025-03-04 · Author: Ada",
        "Is it oak?\n",
    ]
    assert targets(document) == ["https://wiki.example.org/wiki/Sluice_gate"]


def test_an_export_of_one_page_is_that_page() -> None:
    document = convert("export.xml", export(page("Oak Mill", "It is old.")))
    assert (document.title, document.content.strip()) == ("Oak Mill", "It is old.")
    assert document.metadata["url"] == "https://wiki.example.org/wiki/Oak_Mill"
    assert document.metadata["modified"] == "2025-03-04T09:00:00Z"


def test_an_export_without_pages_says_so() -> None:
    assert "no pages to read" in reason("export.xml", export(page("Template:X", "x", 10)))


async def test_questions_are_answered_from_pages(tmp_path: Path) -> None:
    tree(tmp_path / "wiki", {"Oak_Mill.mediawiki": MILL, "export.xml": export(page("Otto Lind", "He is the miller."))})
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path / "wiki")
        assert "1784-05-03" in (await kb.ask("When was Oak Mill built?")).text
        assert "miller" in (await kb.ask("Who is Otto Lind?")).text


# -- what is made to break it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        *(
            "<b>",
            "<div>x\n",
            "<p>x\n",
            "<ref>x ",
            "{|\n",
            "[http://a ",
            "{{a|[[b|<i>",
            "[[a|<br>",
            "<!--",
            "<pre>",
            "<source>x",
        ),
        *("*", ":", "\n*", "''a'''", "{{a|", "<b></i><i></b>", ";a:b\n", "<ul><li>", "{|\n|", "== a ==\n"),
    ],
)
def test_what_is_opened_often_and_never_closed_is_read_soon(part: str) -> None:
    begun = time.process_time()
    convert("a.wiki", "The mill opens. " + part * 8_000)
    assert time.process_time() - begun < 6


def test_notes_that_are_named_again_are_no_open_ones() -> None:
    text = convert("a.wiki", 'Mills<ref name="a">{{cite web|title=T}}</ref> turn.<ref name="a" />\n\n' * 80).content
    assert "<ref" not in text
    assert "1. “T”" in text


@given(
    st.lists(
        st.sampled_from(
            "{{ }} [[ ]] | = == ''' '' <ref> </ref> {| |} |- ! || * # : ; <b> </b> <pre> </pre> a mill \n \n\n <!-- -->"
            " &amp; [http://a ] <nowiki> </nowiki> {{{ }}} <table> <td> </table> <ul> <li> http://b".split(" ")
        ),
        max_size=40,
    )
)
@settings(deadline=None)
def test_markup_in_any_order_is_read(parts: list[str]) -> None:
    source = "begun " + "".join(parts)
    try:
        text = read_document(FileData("a.wiki", source.encode())).content
    except UnreadableError as error:
        pytest.fail(f"{error} ({source!r})")
    assert "begun" in text
    assert not any("\ue000" <= sign <= "\ue010" for sign in text)
