"""Articles and books in XML: JATS, DocBook and TEI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dataloader.filetools import convert, targets

JATS = r"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.2 20190208//EN"
 "JATS-archivearticle1.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML"
 article-type="research-article" xml:lang="en">
<front><journal-meta><journal-title-group>
<journal-title>Tidal Studies</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="pmid">123</article-id><article-id pub-id-type="doi">10.1000/tide.7</article-id>
<title-group><article-title>Turbines in <italic>tidal</italic> mills</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Bold</surname><given-names>Ann</given-names></name>
<xref ref-type="aff" rid="a1">1</xref></contrib>
<contrib contrib-type="author"><name><surname>Cole</surname>
<given-names>Ed</given-names></name></contrib></contrib-group>
<aff id="a1"><label>1</label>University</aff>
<pub-date pub-type="epub"><day>3</day><month>5</month><year>2021</year></pub-date>
<permissions><copyright-statement>© 2021</copyright-statement></permissions>
<abstract><sec><title>Background</title><p>Mills turn.</p></sec></abstract>
<kwd-group><kwd>tide</kwd><kwd>mill</kwd></kwd-group></article-meta></front>
<body><sec id="s1"><label>1</label><title>Introduction</title><p>Power <xref ref-type="bibr" rid="r1">[1]</xref> is
<inline-formula><alternatives><mml:math><mml:msup><mml:mi>v</mml:mi><mml:mn>3</mml:mn></mml:msup></mml:math>
<tex-math>\documentclass{x}\begin{document}$$v^3$$\end{document}</tex-math></alternatives></inline-formula> at
10<sup>6</sup> W, see <ext-link ext-link-type="uri" xlink:href="https://example.org/">here</ext-link>.</p>
<sec><title>Parts</title><list list-type="order"><list-item><p>gate</p></list-item><list-item>
<p>wheel</p></list-item></list>
<table-wrap id="t1"><label>Table 1</label><caption><title>Heights.</title><p>In metres.</p></caption><table><thead>
<tr><th>Mill</th><th>Height</th></tr></thead><tbody><tr><td>East</td><td>3</td></tr></tbody></table>
<table-wrap-foot><fn><p>Measured twice.</p></fn></table-wrap-foot></table-wrap>
<fig id="f1"><label>Figure 1</label><caption><p>The wheel.</p></caption>
<graphic xlink:href="f1.jpg"/></fig></sec></sec></body>
<back><ack><title>Acknowledgments</title><p>Thanks.</p></ack><ref-list><title>References</title><ref id="r1">
<label>1</label><element-citation><person-group><name><surname>Day</surname>
<given-names>F</given-names></name></person-group><article-title>On tides</article-title><source>J Tides</source>
<year>1999</year></element-citation></ref><ref><mixed-citation><name><surname>Eve</surname>,
<given-names>G</given-names></name>.
<article-title>On mills</article-title>. 2001.</mixed-citation></ref></ref-list></back>
</article>
"""
DOCBOOK = """<?xml version="1.0"?>
<book xmlns="http://docbook.org/ns/docbook" version="5.0" xmlns:xlink="http://www.w3.org/1999/xlink">
<info><title>The mill manual</title><author><personname><firstname>Ann</firstname>
<surname>Bold</surname></personname></author><pubdate>2020</pubdate><abstract>
<para>All of it.</para></abstract></info>
<chapter><title>Starting</title><para>Run <command>mill start</command>; see
<link xlink:href="https://example.org/x">this</link><footnote><para>Or not.</para></footnote>.</para>
<programlisting language="sh">mill start
  --fast</programlisting>
<section><info><title>Options</title></info>
<variablelist><varlistentry><term><option>--fast</option></term><listitem>
<para>Do it fast.</para></listitem></varlistentry></variablelist>
<table><title>Sizes</title><tgroup cols="2"><colspec colname="a"/><thead><row><entry>Name</entry>
<entry>Size</entry></row></thead><tbody><row><entry>East</entry><entry>3</entry></row></tbody></tgroup></table>
<itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para></listitem></itemizedlist>
<note><para>Mind the gate.</para></note><example><title>A run</title><screen>$ mill</screen></example>
<indexterm><primary>mill</primary></indexterm></section></chapter></book>
"""
TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader xml:lang="en"><fileDesc><titleStmt><title level="a" type="main">Turbines in mills</title></titleStmt>
<publicationStmt><date type="published" when="2021-05-03">3 May 2021</date></publicationStmt><sourceDesc>
<biblStruct><analytic><author><persName><forename type="first">Ann</forename><surname>Bold</surname></persName>
<affiliation>U</affiliation></author></analytic>
<idno type="DOI">10.1000/7</idno></biblStruct></sourceDesc></fileDesc><encodingDesc><appInfo/></encodingDesc>
<profileDesc><textClass><keywords><term>tide</term></keywords></textClass><abstract>
<div xmlns="http://www.tei-c.org/ns/1.0"><p>Mills turn.</p></div></abstract></profileDesc></teiHeader>
<text xml:lang="en"><body><div><head n="1">Introduction</head><p>Power
<ref type="bibr" target="#b0">[1]</ref> is large.</p></div>
<figure type="table"><head>Table 1</head><label>1</label><figDesc>Heights</figDesc><table><row><cell>Mill</cell>
<cell>Height</cell></row><row><cell>East</cell><cell>3</cell></row></table></figure></body>
<back><div type="references"><listBibl><biblStruct xml:id="b0"><analytic><title level="a">On tides</title><author>
<persName><forename>F</forename><surname>Day</surname></persName></author></analytic><monogr>
<title>J Tides</title></monogr></biblStruct></listBibl></div></back></text></TEI>
"""


def test_jats() -> None:
    read = convert("a.nxml", JATS)
    assert (
        read.content
        == """# Turbines in tidal mills

## Abstract

### Background

Mills turn.

## 1 Introduction

Power [1] is v^3 at 10^6 W, see here.

### Parts

1. gate
2. wheel

Table 1. Heights. In metres.

| Mill | Height |
| --- | --- |
| East | 3 |

Measured twice.

Figure 1. The wheel.

## Acknowledgments

Thanks.

## References

1 Day F On tides J Tides 1999

Eve, G. On mills. 2001."""
    )
    assert (read.title, read.format, read.mime_type) == ("Turbines in tidal mills", "markdown", "application/xml")
    assert read.metadata == {
        "author": "Ann Bold, Ed Cole",
        "keywords": "tide, mill",
        "created": "2021-05-03",
        "doi": "10.1000/tide.7",
    }
    assert targets(read) == ["https://example.org/"]


def test_docbook() -> None:
    read = convert("a.xml", DOCBOOK)
    assert (
        read.content
        == """# The mill manual

## Abstract

All of it.

## Starting

Run `mill start`; see this (Or not.).

```
mill start
  --fast
```

### Options

`--fast`
: Do it fast.

Sizes

| Name | Size |
| --- | --- |
| East | 3 |

- one
- two

Mind the gate.

A run

```
$ mill
```"""
    )
    assert (read.title, read.metadata) == ("The mill manual", {"author": "Ann Bold", "created": "2020"})
    assert targets(read) == ["https://example.org/x"]


def test_tei() -> None:
    read = convert("paper.tei.xml", TEI)
    assert (
        read.content
        == """# Turbines in mills

## Abstract

Mills turn.

## 1 Introduction

Power [1] is large.

Table 1

Heights

| Mill | Height |
| --- | --- |
| East | 3 |

On tides F Day J Tides"""
    )
    assert read.metadata == {"author": "Ann Bold", "keywords": "tide", "created": "2021-05-03", "doi": "10.1000/7"}
    assert targets(read) == []


def test_a_formula_that_is_tex_alone() -> None:
    tex = r"\documentclass{minimal}\usepackage{x}\begin{document}$$x^2$$\end{document}"
    formula = f"<inline-formula><tex-math>{tex}</tex-math></inline-formula>"
    text = f"<article article-type='x'><body><p>It is {formula} &lt; 3.</p></body></article>"
    assert convert("a.xml", text).content == "It is $x^2$ < 3."


def test_entries_of_a_bibliography_and_marks_of_notes() -> None:
    mark = "<xref ref-type='table-fn' rid='n'><sup>a</sup></xref>"
    entry = (
        "<ref><label>54</label><mixed-citation><name><surname>Day</surname><given-names>F</given-names></name> (1988) "
        "<article-title>On CO<sub>2</sub></article-title>. <source>Tides</source><volume>9</volume>: 30–31"
        "<pub-id pub-id-type='pmid'>3167082</pub-id></mixed-citation></ref>"
    )
    body = f"<body><p>Heights{mark} vary.</p></body><back><ref-list>{entry}</ref-list></back>"
    assert (
        convert("a.xml", f"<article article-type='x'>{body}</article>").content
        == "Heights vary.\n\n54 Day F (1988) On CO 2. Tides 9: 30–31"
    )


def test_entities_with_names_and_those_that_a_file_declares() -> None:
    text = (
        '<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd"{}>\n'
        "<article><title>T</title><para>A&mdash;B &amp;c. {}</para></article>"
    )
    assert convert("a.xml", text.format("", "")).content == "# T\n\nA—B &c."
    declared = text.format(' [<!ENTITY mill "Mill">]', "&mill;")
    assert (convert("a.xml", declared).format, convert("a.xml", declared).content) == ("code:xml", declared)


@pytest.mark.parametrize(
    "text",
    [
        "<article><title>Tide table</title><price>3</price></article>",
        '<xsl:stylesheet xmlns:xsl="x" xmlns:d="http://docbook.org/ns/docbook"><xsl:template/></xsl:stylesheet>',
        '<book xmlns="http://docbook.org/ns/docbook"><title>Not closed</book>',
        '<article xmlns="http://docbook.org/ns/docbook"><info><date>2024</date></info></article>',
    ],
)
def test_other_xml_stays_as_it_is(text: str) -> None:
    assert (convert("a.xml", text).format, convert("a.xml", text).content) == ("code:xml", text)


@pytest.mark.parametrize(
    "author",
    [
        "<author>Ann Bold</author>",
        "<author><persName>Ann Bold</persName></author>",
        "<author><name>Ann Bold</name></author>",
    ],
)
def test_the_author_of_an_edition_is_the_one_of_its_title(author: str) -> None:
    text = TEI.replace("</titleStmt>", f"{author}<author>Ed Cole</author></titleStmt>").replace(
        "<surname>Bold", "<surname>B."
    )
    assert convert("a.xml", text).metadata["author"] == "Ann Bold, Ed Cole"


@pytest.mark.parametrize("used", ["", " &wheel;"])
@pytest.mark.parametrize("address", ["http://dtd.example.org/mill.dtd", "{folder}/own.dtd", "file://{folder}/own.dtd"])
def test_a_definition_is_not_looked_up(tmp_path: Path, address: str, used: str) -> None:
    (tmp_path / "own.dtd").write_text('<!ENTITY wheel "stolen"><!ATTLIST p id CDATA "stolen">', encoding="utf-8")
    head = '<?xml version="1.0"?>\n<!DOCTYPE article PUBLIC "-//NLM//DTD Journal Publishing DTD v3.0 20080202//EN" '
    document = convert(
        "a.xml",
        f'{head} "{address.format(folder=tmp_path)}">\n<article article-type="editorial"><front><article-meta>'
        "<title-group><article-title>Mills</article-title></title-group></article-meta></front><body><sec>"
        f"<title>Wheels</title><p>The wheel turns{used}.</p></sec></body></article>",
    )
    assert document.title == "Mills"
    assert "## Wheels\n\nThe wheel turns" in document.content
    assert "stolen" not in document.content
