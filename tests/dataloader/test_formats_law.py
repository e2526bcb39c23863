"""Laws in XML, in the schemes of several countries."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from tests.dataloader.filetools import convert, tree

USLM = """<?xml version="1.0" encoding="UTF-8"?>
<pLaw xmlns="http://schemas.gpo.gov/xml/uslm" xmlns:dc="http://purl.org/dc/elements/1.1/">
<meta><dc:title>Public Law 12–34: To protect mills.</dc:title><citableAs>Public Law 12–34</citableAs>
<approvedDate>2014-12-19</approvedDate></meta>
<preface><docNumber>12–34</docNumber><congress value="113">113th Congress</congress></preface>
<main><longTitle><docTitle>An Act</docTitle><officialTitle>To protect mills.</officialTitle></longTitle>
<toc><referenceItem><designator>Sec. 1.</designator><label>Definitions.</label></referenceItem></toc>
<title><num value="I">TITLE I—</num><heading>WATER</heading>
<subtitle><num>Subtitle A—</num><heading>Gates</heading>
<section><num value="1">§ 101. </num><heading>Definitions.</heading><page>128 STAT. 3094</page>
<chapeau>In this title:</chapeau>
<paragraph><num>(1)</num><heading><inline class="smallCaps">Gate</inline>.—</heading>
<content>The term <term>“gate”</term> means
 a board<footnote><num>1</num><p>So in law.</p></footnote> that holds water.</content></paragraph>
<paragraph><num>(2)</num><content>The term “mill” means a house with a wheel.</content></paragraph></section>
<section><num value="2">§ 102. </num><heading>Opening.</heading>
<subsection><num>(a)</num><heading>In General.—</heading><chapeau>A gate opens—</chapeau>
<paragraph><num>(1)</num><content>at noon; and</content></paragraph>
<paragraph><num>(2)</num><chapeau>in summer—</chapeau>
<subparagraph><num>(A)</num><content>at one; or</content></subparagraph>
<subparagraph><num>(B)</num><content>at two.</content></subparagraph></paragraph>
<continuation>This applies to all mills.</continuation></subsection>
<subsection><num>(b)</num><content>Section 3 is amended by adding at the end:
<quotedContent><section><num>“SEC. 9. </num><heading>FINES.</heading><content>The fine is 20 dollars.”.</content>
</section>
</quotedContent></content></subsection>
<content><p><inline class="i">Large wheels.</inline> Wheels of more than three metres.</p></content>
<table><thead><tr><th>Wheel</th><th>Fee</th></tr></thead><tbody><tr><td>Small</td><td>5 dollars</td></tr></tbody>
</table>
</section></subtitle></title></main></pLaw>
"""

AKN = """<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act name="act"><meta>
<identification source="#x">
<FRBRWork><FRBRthis value="/akn/nl/act/2020/7/!main"/><FRBRalias value="Mill Act 2020"/>
<FRBRdate date="2020-05-03" name="Generation"/></FRBRWork></identification></meta>
<preface><longTitle><p>An Act to protect mills.</p></longTitle></preface>
<body><chapter eId="chp_1"><num>1</num><heading>Gates</heading>
<section eId="sec_1"><num>1.</num><heading>Opening</heading>
<subsection eId="a"><num>(1)</num><content><p>A gate opens at <ref href="#x">noon</ref>.</p></content></subsection>
<subsection eId="b"><num>(2)</num><intro><p>It does not open—</p></intro>
<paragraph><num>(a)</num><content><p>on Sundays;</p></content></paragraph>
<paragraph><num>(b)</num><content><p>in winter.</p></content></paragraph></subsection></section></chapter></body>
</act></akomaNtoso>
"""

CLML = """<Legislation xmlns="http://www.legislation.gov.uk/namespaces/legislation">
<ukm:Metadata xmlns:ukm="http://www.legislation.gov.uk/namespaces/metadata" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Mill Act 1998</dc:title><ukm:PrimaryMetadata><ukm:EnactmentDate Date="1998-11-09"/></ukm:PrimaryMetadata>
</ukm:Metadata>
<Contents><ContentsPart><ContentsTitle>Gates</ContentsTitle></ContentsPart></Contents>
<Primary><Body><Part><Number>Part I</Number><Title>Gates</Title>
<P1group><Title>Opening of gates</Title><P1 id="section-1"><Pnumber>1</Pnumber><P1para>
<P2><Pnumber>1</Pnumber><P2para><Text>A gate opens at noon.<CommentaryRef Ref="c1"/></Text>
<P3><Pnumber>a</Pnumber><P3para><Text>in summer, at one;</Text></P3para></P3></P2para></P2>
<P2><Pnumber>2</Pnumber><P2para><Text>It closes at dusk.</Text></P2para></P2></P1para></P1></P1group></Part></Body>
</Primary>
<Commentaries><Commentary id="c1"><Para><Text>Words substituted.</Text></Para></Commentary></Commentaries></Legislation>
"""

GII = """<dokumente builddate="20250101"><norm><metadaten><jurabk>MühlG</jurabk>
<ausfertigung-datum manuell="ja">1896-08-18</ausfertigung-datum>
<langue>Mühlengesetz</langue></metadaten><textdaten><text format="XML"/></textdaten></norm>
<norm><metadaten><jurabk>MühlG</jurabk><gliederungseinheit><gliederungskennzahl>010</gliederungskennzahl>
<gliederungsbez>Buch 1</gliederungsbez><gliederungstitel>Wehre</gliederungstitel></gliederungseinheit></metadaten>
</norm>
<norm><metadaten><jurabk>MühlG</jurabk><enbez>§ 1</enbez><titel format="XML">Öffnung</titel></metadaten>
<textdaten><text format="XML"><Content><P>(1) Das Wehr öffnet um zwölf Uhr.</P><P>(2) Es öffnet nicht<DL Type="arabic">
<DT>1.</DT><DD Font="normal"><LA>an Sonntagen,</LA></DD><DT>2.</DT><DD><LA>im Winter.</LA></DD></DL></P></Content>
</text></textdaten></norm>
</dokumente>
"""


def test_a_law_of_the_united_states() -> None:
    document = convert("law.xml", USLM)
    assert document.title == "Public Law 12–34: To protect mills."
    assert document.metadata == {"created": "2014-12-19", "citation": "Public Law 12–34"}
    lines = document.content.split("\n")
    for line in (
        "# Public Law 12–34: To protect mills.",
        "## TITLE I – WATER",
        "### Subtitle A – Gates",
        "#### § 101. Definitions.",
        "(1) Gate: The term “gate” means a board (1So in law.) that holds water.",
        "(2) The term “mill” means a house with a wheel.",
        "(a) In General: A gate opens—",
        "- (1) at noon; and",
        "- (2) in summer—",
        "  - (A) at one; or",
        "This applies to all mills.",
        "> “SEC. 9. FINES.",
        "Large wheels",
        ": Wheels of more than three metres.",
        "| Wheel | Fee |",
    ):
        assert line in lines, line
    assert "3094" not in document.content
    assert "Congress" not in document.content
    assert document.content.count("Definitions.") == 1


@pytest.mark.parametrize(
    ("source", "title", "created", "blocks"),
    [
        (
            AKN,
            "Mill Act 2020",
            "2020-05-03",
            [
                "# Mill Act 2020",
                "An Act to protect mills.",
                "## 1 Gates",
                "### 1. Opening",
                "(1) A gate opens at noon.",
                "(2) It does not open—",
                "- (a) on Sundays;\n- (b) in winter.",
            ],
        ),
        (
            CLML,
            "Mill Act 1998",
            "1998-11-09",
            [
                "# Mill Act 1998",
                "## Part I Gates",
                "### 1 Opening of gates",
                "(1) A gate opens at noon.",
                "- (a) in summer, at one;",
                "(2) It closes at dusk.",
            ],
        ),
        (
            GII,
            "Mühlengesetz",
            "1896-08-18",
            [
                "# Mühlengesetz",
                "## Buch 1 – Wehre",
                "### § 1 Öffnung",
                "(1) Das Wehr öffnet um zwölf Uhr.",
                "(2) Es öffnet nicht",
                "- 1. an Sonntagen,\n- 2. im Winter.",
            ],
        ),
    ],
    ids=["Akoma Ntoso", "the United Kingdom", "Germany"],
)
def test_laws_in_other_schemes(source: str, title: str, created: str, blocks: list[str]) -> None:
    document = convert("law.xml", source)
    assert (document.title, document.metadata["created"]) == (title, created)
    assert document.content.strip().split("\n\n") == blocks


def test_regulations_as_their_electronic_code_has_them() -> None:
    document = convert(
        "ECFR-title27.xml",
        '<?xml version="1.0"?><DLPSTEXTCLASS><HEADER><FILEDESC/></HEADER><TEXT><BODY><ECFRBRWS>'
        '<DIV5 N="40" TYPE="PART"><HEAD>PART 40—MILLS</HEAD><DIV8 N="§ 40.1" TYPE="SECTION">'
        "<HEAD>§ 40.1   Gates.</HEAD>"
        "<P>(a) <I>General.</I> They open at noon.</P><P><I>Gate.</I> A board that holds water.</P></DIV8></DIV5>"
        "</ECFRBRWS></BODY></TEXT></DLPSTEXTCLASS>",
    )
    assert document.content.strip().split("\n\n") == [
        "# PART 40—MILLS",
        "## § 40.1 Gates.",
        "(a) General. They open at noon.",
        "Gate\n: A board that holds water.",
    ]


def test_a_bill_as_congress_had_them_before() -> None:
    document = convert(
        "BILLS-116hr3ih.xml",
        "<bill><metadata><dublinCore><title>116 HR 3: Mill Act</title></dublinCore></metadata><form>"
        "<congress>116</congress></form><legis-body><section><enum>1.</enum><header>Short title</header>"
        "<text>This is the Mill Act.</text></section><section><enum>2.</enum><header>Gates</header><subsection>"
        "<enum>(a)</enum><header>Opening</header><text>At noon</text></subsection></section></legis-body></bill>",
    )
    assert document.title == "116 HR 3: Mill Act"
    assert document.content.strip().split("\n\n") == [
        "# 116 HR 3: Mill Act",
        "## 1. Short title",
        "This is the Mill Act.",
        "## 2. Gates",
        "(a) Opening: At noon",
    ]


def test_a_paragraph_of_many_marks_is_read_soon() -> None:
    begun = time.process_time()
    convert("a.xml", f"<section><num>1</num><heading>Gates</heading><text>{'a<b>c</b> ' * 50_000}</text></section>")
    assert time.process_time() - begun < 8


def test_a_single_section_in_a_scheme_that_is_not_known() -> None:
    document = convert(
        "28-303.xml",
        "<section><num>28-303</num><heading>Sale of mills.</heading><para><num>(a)</num><text>A mill is sold by "
        "<cite>deed</cite>.</text></para><annotations><annotation type='History'>Mar. 4, 1909."
        "</annotation></annotations></section>",
    )
    assert document.content.strip().split("\n\n") == [
        "# 28-303 Sale of mills.",
        "(a) A mill is sold by deed.",
        "History: Mar. 4, 1909.",
    ]


def test_with_many_parts_around_them_sections_still_have_headings() -> None:
    inner = "<section><num>§ 1</num><heading>Gates</heading><content>They open.</content></section>"
    for name in ("subpart", "part", "subchapter", "chapter", "subtitle", "title", "division"):
        inner = f"<{name}><num>{name} 1</num><heading>Of {name}</heading>{inner}</{name}>"
    document = convert("law.xml", f'<law xmlns="http://schemas.gpo.gov/xml/uslm">{inner}</law>')
    lines = [line for line in document.content.split("\n") if line.startswith("#")]
    assert lines[-2:] == ["##### subpart 1 Of subpart", "###### § 1 Gates"]
    assert "# subtitle 1 Of subtitle" in lines


@pytest.mark.parametrize(
    "source",
    [
        "<items><item><num>1</num><heading>Gate</heading></item><item><num>2</num><heading>Wheel</heading></item></items>",
        "<config><section><name>gate</name></section></config>",
    ],
)
def test_other_files_are_none(source: str) -> None:
    assert not convert("a.xml", source).content.startswith("#")


def test_parts_within_parts_to_any_depth_are_read() -> None:
    deep = (
        "<section><num>1</num><heading>Gates</heading>" + "<para><num>(a)</num><text>x</text>" * 200 + "</para>" * 200
    )
    assert "(a) x" in convert("a.xml", f"{deep}</section>").content
    words = "<section><num>1</num><heading>Gates</heading><text>x" + "<b>" * 200 + "deep" + "</b>" * 200
    assert "deep" in convert("a.xml", f"{words}</text></section>").content


async def test_questions_are_answered_from_laws(tmp_path: Path) -> None:
    tree(tmp_path / "laws", {"a.xml": USLM})
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path / "laws")
        assert "a house with a wheel" in (await kb.ask('What does "mill" mean?')).text
        assert "more than three metres" in (await kb.ask("What is a large wheel?")).text
        assert "noon" in (await kb.ask("When does a gate open?")).text
