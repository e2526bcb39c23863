from __future__ import annotations

import pytest

from tests.dataloader.filetools import convert

FEED = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News of the mill</title><link>https://mill.example</link><description>What turns</description>
<item><title>The wheel turns</title><link>https://mill.example/wheel</link><guid isPermaLink="false">77</guid>
<dc:creator>Ada Lovelace</dc:creator><pubDate>Mon, 03 Mar 2025 10:00:00 GMT</pubDate>
<description>The wheel&nbsp;…</description>
<content:encoded><![CDATA[<p>The wheel turns <b>again</b>.</p><p>Since Monday.</p>]]></content:encoded></item>
<item><title>Flour & bread</title><link>https://mill.example/flour</link><category>Food</category><category>Trade</category>
<description>Bread at noon.</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Tides</title><entry><title type="html">High water</title>
<id>tag:1</id><link rel="self" href="https://t.example/a.atom"/><link rel="alternate" href="https://t.example/a"/>
<author><name>Ida Marsh</name></author><updated>2025-03-04T00:00:00Z</updated><category term="sea" scheme="x"/>
<content type="html">&lt;p&gt;At six.&lt;/p&gt;</content></entry></feed>"""
BOOKS = """<?xml version="1.0" encoding="ISO-8859-1"?><catalog><title>Library</title>
<book id="b1"><author>Grün, Eva</author><title>Locks</title><price currency="EUR">4.95</price>
<parts><part>Dams</part><part>Gates</part></parts><text>Of <i>all</i> locks.</text></book>
<book id="b2"><author>Max Brook</author><title>Weirs</title><price currency="EUR">5.95</price></book></catalog>"""
COMMENTED = "".join(
    f"<!-- why {n} --><dependency><group>org.a{n}</group><name>core</name></dependency>" for n in range(9)
)


def test_feeds_are_items_with_their_title_date_and_address() -> None:
    read = convert("news.rss", FEED)
    assert (read.title, read.format) == ("News of the mill", "records")
    first, second = read.content.split("\n\n")[-2:]
    assert first == (
        "title: The wheel turns\nauthor: Ada Lovelace\npubDate: Mon, 03 Mar 2025 10:00:00 GMT\n"
        "link: https://mill.example/wheel\ncontent: The wheel turns again.\nSince Monday."
    )
    assert second.startswith("title: Flour & bread\nlink: https://mill.example/flour\ncategory: Food, Trade")
    assert [record["title"] for _, record in read.records] == ["The wheel turns", "Flour & bread"]
    atom = convert("tides.xml", ATOM)
    assert atom.content == (
        "title: Tides\n\ntitle: High water\nauthor: Ida Marsh\nupdated: 2025-03-04T00:00:00Z\n"
        "link: https://t.example/a\ncategory: sea\ncontent: At six."
    )


def test_lists_are_records() -> None:
    read = convert("books.xml", BOOKS.encode("latin-1"))
    assert (read.title, read.format, read.mime_type) == ("Library", "records", "application/xml")
    assert read.content == (
        "title: Library\n\n"
        "id: b1\nauthor: Grün, Eva\ntitle: Locks\nprice: 4.95\nprice.currency: EUR\nparts.part: Dams, Gates\n"
        "text: Of all locks.\n\n"
        "id: b2\nauthor: Max Brook\ntitle: Weirs\nprice: 5.95\nprice.currency: EUR"
    )
    start, record = read.records[1]
    assert read.content[start:].startswith("id: b2")
    assert record["author"] == "Max Brook"


def test_rows_may_have_all_in_attributes() -> None:
    rows = "".join(f'<row Id="{n}" Title="Mill {n}" Body="&lt;p&gt;It turns.&lt;/p&gt;" />' for n in (1, 2))
    assert convert("Posts.xml", f"<posts>{rows}</posts>").content == (
        "Id: 1\nTitle: Mill 1\nBody: It turns.\n\nId: 2\nTitle: Mill 2\nBody: It turns."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"<project>{COMMENTED}</project>",
        "<gpx><trkseg>" + '<trkpt lat="1.5" lon="2.5"><ele>7</ele></trkpt>' * 9 + "</trkseg></gpx>",
        "<doc>" + '<p id="a" class="b">The <b>mill</b> <i>turns</i> here.</p>' * 9 + "</doc>",
        '<resources><string name="app">Mill</string><string name="go">Turn the wheel</string></resources>',
        "<target>" + "".join(f"<a{n}><b{n}>one two</b{n}><c{n}>three</c{n}></a{n}>" for n in range(9)) + "</target>",
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
        + '<xs:element name="mill" type="wheel"/>' * 9
        + "</xs:schema>",
        "<a><book><name>One</name><by>Ada</by></book><book><name>Not closed</book></a>",
        '<!DOCTYPE a [<!ENTITY x "Ada">]><a><b><c>&x;</c><d>One</d></b><b><c>Two</c><d>Three</d></b></a>',
        "<a>" + "<b>" * 300 + "</b>" * 300 + "</a>",
        "<a/>",
    ],
)
def test_what_is_no_list_stays_as_it_is(text: str) -> None:
    read = convert("a.xml", text)
    assert (read.format, read.content) == ("code:xml", text)


@pytest.mark.parametrize("end", [1, 10, 14, 16, 24, 32])
def test_a_list_that_is_cut_short_says_so(end: int) -> None:
    """It was read as text without a word."""
    rows = "<row><name>Ada</name><town>Ribe</town></row>\n"
    cut = convert("a.xml", f"<rows>\n{rows * 3}{rows[:end]}")
    assert cut.metadata["cut_short_in_line"] == 5 and "Ada" in cut.content
    whole = f"<rows>\n{rows * 3}</rows>\n<!-- made by hand -->"
    for text in (whole, whole.replace("</town>", "", 1), "no markup", "<a", "a < b"):
        assert ("cut_short_in_line" in convert("a.xml", text).metadata) == (text == "<a")
