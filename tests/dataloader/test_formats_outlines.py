"""AsciiDoc, Org and the outlines of Logseq."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import URI, convert, reason, targets
from tests.growth import check_growth

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


def test_tags_of_an_org_file_are_words() -> None:
    assert convert("kelp.org", "#+FILETAGS: :kelp:sea:\n\n* Growing\n").metadata == {"tags": "kelp, sea"}


def test_asciidoc_has_headings_code_and_links() -> None:
    document = convert("mill.adoc", ASCIIDOC)
    assert (document.title, document.format, document.mime_type) == ("The mill: a {what}", "markdown", "text/asciidoc")
    assert document.metadata == {"author": "Ann Author", "description": "How it runs"}
    assert targets(document) == ["https://example.org/mill", f"{URI}guide/dam.adoc", f"{URI}parts.adoc"]
    assert document.content == (
        "# The mill: a {what}\nAnn Author\n\n"
        "Water comes by the race, see the wheel, its dam and {unknown}.\n\n"
        "## The wheel\n\nDrawing of the wheel\n\n"
        "```python\n= no heading\nlink:no.adoc[none]\n```\n\n### Gates\n\n````\n```\n````\n\n\n----\nis never closed\n"
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        # lists
        ("* one\n** inner\n* two\n", "* one\n  * inner\n* two\n"),
        (". one\n.. inner\n. two\n", "1. one\n   1. inner\n1. two\n"),
        ("* one\n+\nMore of it.\n", "* one\n\nMore of it.\n"),
        ("Ebb:: The tide goes out.\n`a::b`:: A name.\n", "Ebb\n: The tide goes out.\n\n`a::b`\n: A name.\n"),
        ("Ebb::\n  The tide\ngoes out.\n\nMore.\n", "Ebb\n:   The tide\ngoes out.\n\nMore.\n"),
        ("The std::vector, `a:: b` and http://a.org/::\nx.\n", "The std::vector, `a:: b` and http://a.org/::\nx.\n"),
        ("----\nopen() <1>\n----\n<1> Opens it.\n<.> Too.\n", "```\nopen() <1>\n```\n1. Opens it.\n1. Too.\n"),
        # blocks
        ("[NOTE]\n====\nMind the gap.\n\nMore.\n====\n", "NOTE: Mind the gap.\n\nMore.\n"),
        ("[TIP]\n.Oil\nOil it.\n", "**Oil**\n\nTIP: Oil it.\n"),
        ("****\nAside.\n****\n\n____\nSaid.\n____\n", "Aside.\n\n\n\nSaid.\n"),
        (".The dam\nimage::dam.png[The dam]\n", "The dam\n"),
        (".The dam\nimage::dam.png[Drawing]\n", "**The dam**\n\nDrawing\n"),
        ("...and so on\n\n.hidden\n", "...and so on\n\n**hidden**\n"),
        # within lines
        ("A dam(((dam)))(((dam, of (old) clay))) holds ((water)).\n\n(((end)))\n", "A dam holds water.\n"),
        ("He said \"`go to `it`, now`\" and '`no`', it`'`s.\n", "He said “go to `it`, now” and ‘no’, it`'`s.\n"),
        (
            "Press kbd:[Ctrl+C], menu:File[Save > As] or btn:[OK].footnote:[Or not.]\n",
            "Press Ctrl+C, File > Save > As or OK. (Or not.)\n",
        ),
        ("[[dam]]A *dam* [[x,y]]is `[[kept]]`, {lt}b{gt}{nbsp}{cpp} {no}.\n", "A *dam* is `[[kept]]`, <b> C++ {no}.\n"),
        (
            "See <<_the_dam>>, <<g>>, <<h>>, <<b#_my_end>>.\n\n[[g]]\n.Gates\nx\n\n[#h]\n= The dam\n",
            "See The dam, Gates, The dam, my end.\n\n**Gates**\n\nx\n\n# The dam\n",
        ),
    ],
)
def test_markup_of_asciidoc(written: str, read: str) -> None:
    assert convert("a.adoc", written).content == read


@pytest.mark.parametrize(
    ("text", "mime_type"),
    [
        ("= The mill\n\nIt turns.\n", "text/asciidoc"),
        ("It turns.\n\n[source,sh]\n----\nls\n----\n", "text/asciidoc"),
        ("It turns.\n== is equal\n", "text/asciidoc"),
        ("It turns: a == b.\n", "text/plain"),
        ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nIt turns.\n", "text/plain"),
    ],
)
def test_what_an_asc_file_is(text: str, mime_type: str) -> None:
    assert convert("a.asc", text).mime_type == mime_type


def test_a_signature_is_no_document() -> None:
    assert (
        reason("a.asc", "-----BEGIN PGP SIGNATURE-----\n\niQIz\n-----END PGP SIGNATURE-----\n")
        == "it is a PGP signature"
    )


@pytest.mark.parametrize(
    "piece", ['"` ', "((", "(((", "<<", "[[", "{a", "kbd:[", "`", "a::", "[[a]]\n", ".a\n", "[NOTE]\n", "= a\n"]
)
def test_hostile_asciidoc_takes_no_time(piece: str) -> None:
    check_growth(lambda size: convert("a.adoc", piece * size), 5_000)


def test_values_of_asciidoc_that_are_not_meant_are_what_is_written() -> None:
    text = "= Mill\n:id: 7\n\n`GET /dams/\\{id}` gives {id}, not \\{no}.\n"
    assert convert("a.adoc", text).content == "# Mill\n\n`GET /dams/{id}` gives 7, not {no}.\n"


def test_values_of_asciidoc_change_where_they_are_set_again() -> None:
    lines = (
        *("= Mill", ":when: 1850", ":maker: Ada \\", "  Lane", "", "Built in {when} by {maker}.", ""),
        *("ifndef::when[]", ":when: 1", "endif::[]", "Yes, {when}.", ""),
        *(":when: 1900", "", "Rebuilt in {when}.", "", ":!when:", "", "Now {when}."),
    )
    read = " ".join(convert("a.adoc", "\n".join(lines)).content.split())
    assert read == "# Mill Built in 1850 by Ada Lane. Yes, 1850. Rebuilt in 1900. Now {when}."


def test_images_and_links_of_asciidoc_with_named_attributes() -> None:
    text = (
        '== The mill\n\nimage::wheel.png[width="80%",alt="The wheel, from above"]\nimage::dam.png[scaledwidth="70%"]\n'
        'image::gate.png[alt="gate.png",width=9]\n\n'
        'See link:dam.html["the dam, old",window=_blank] or https://example.org/x[window=_blank].\n'
    )
    read = " ".join(convert("a.adoc", text).content.split())
    assert read == "## The mill The wheel, from above See the dam, old or https://example.org/x."


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            '[width="100%",cols="10%,90%",]\n|=======\n|image:stop.png[Stop]\n|Stops\nthe wheel.\n\n'
            '|image:go.png[alt="Go"]\n|Starts it.\n|=======',
            ["|  |  |", "| Stop | Stops the wheel. |", "| Go | Starts it. |"],
        ),
        (
            "[%header]\n|===\n|Part\n|Wood\n|===",
            ["| Part |", "| Wood |"],
        ),
        (
            "|===\n|Go |Starts it.\n\n|Stop |Stops it.\n\n|===",
            ["|  |  |", "| Go | Starts it. |", "| Stop | Stops it. |"],
        ),
        (
            "[%noheader]\n|===\n|a |b\n\n.2+|c |d\n|e\n|f .2+|g\n|h\n|===",
            ["|  |  |", "| a | b |", "| c | d |", "| c | e |", "| f | g |", "| h | g |"],
        ),
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
            ["|  |  |  |", "| a | b | c |", "| d e |  | f |", "| g | g | h |"],
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


@pytest.mark.parametrize(
    "table", ["|===\n|a |b\n.2+|c |d\n|e |f\n|===", "|===\n|a |b\n|c\n|===", "|===\nno cells\n|==="]
)
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


def test_marks_of_blocks_are_no_text_and_their_titles_are() -> None:
    text = "== Owners\n\n.From the diary\n____\nSold for a horse.\n____\n\n====\nAnd a cow.\n====\n\n. One\n+\nMore\n"
    content = convert("a.adoc", text).content
    assert [line for line in content.split("\n") if line] == [
        "## Owners",
        "**From the diary**",
        "Sold for a horse.",
        "And a cow.",
        "1. One",
        "More",
    ]
    text = "* Owners\n#+caption: The deed\n[[file:deed.png]]\n#+begin_quote\nSold for a horse.\n#+end_quote\n"
    content = convert("a.org", text).content
    assert [line for line in content.split("\n") if line] == ["# Owners", "The deed", "deed.png", "Sold for a horse."]


def test_the_end_of_a_sentence_is_no_part_of_an_address() -> None:
    document = convert("a.adoc", "== Text\n\nSee https://example.org/mill. Or (https://example.org/dam).\n")
    assert targets(document) == ["https://example.org/mill", "https://example.org/dam"]
    assert document.content == "## Text\n\nSee https://example.org/mill. Or (https://example.org/dam).\n"


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
