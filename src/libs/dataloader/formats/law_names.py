"""What the elements of laws in XML are called, in small letters: each scheme has names of its own for the same."""

from __future__ import annotations

from typing import Final


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


#: Parts of the namespaces of USLM, Akoma Ntoso, the laws of the United Kingdom, and those of the District of Columbia.
SPACES: Final = (
    "schemas.gpo.gov/xml/uslm",
    "xml.house.gov/schemas/uslm",
    "legaldocml/ns/akn",
    "akomantoso.org",
    "legislation.gov.uk/namespaces/legislation",
    "dccouncil.us/schemas",
)
#: What has a heading, down to a section or an article.
PARTS: Final = _names(
    "title subtitle chapter subchapter part subpart division subdivision article section level rule schedule appendix "
    "act book tome crossheading p1group p1 pblock psubblock prov container component notice proposedrule preamble "
    "rulepreamble attachment hcontainer div1 div2 div3 div4 div5 div6 div7 div8 div9 recitals"
)
#: What is numbered below these.
ITEMS: Final = _names(
    "note editorialnote "
    "subsection paragraph subparagraph clause subclause item subitem subsubitem point indent alinea para subpara p2 "
    "p3 p4 p5 p6 p7 subprov label-para listitem recital subrule sublist listintroduction"
)
NUMBERS: Final = _names("num enum pnumber number label")
HEADINGS: Final = _names("heading header subheading title head subtitle crossheading")
IN_LINE: Final = _names(
    "b i u em strong inline ref cite a term def defterm span date quotedtext amendingaction shorttitle headingtext "
    "sup sub superior inferior br footnote authorialnote entity organization person location role docnumber citableas "
    "elided ins del abbreviation acronym citation emphasis smallcaps underline rref mref noteref external-xref "
    "internal-xref xref doctitle docdate docproponent affectedact quote e"
)
#: Of the publication, what repeats headings, and what an editor's system needs.
DROPPED: Final = _names(
    "meta metadata toc contents tableofcontents page sidenote leftrunninghead rightrunninghead runninghead slugline "
    "distributioncode billingcode frdocid relateddocuments relateddocument currentchamber congress session type "
    "docpublicationname docreleasepoint provisionrange commentaries commentary commentaryref footnoteref footnotes "
    "resources versions img figure property coverpage form metadaten fussnoten prefix include components-toc uslm-toc "
    "pagebreak pg eol marker placeholder publicprivate citationnote"
)
OF_TABLES: Final = _names("table tgroup thead tbody tfoot tr row td th entry cell caption")
QUOTED: Final = _names("quotedcontent quoted-block blockamendment quotedstructure embeddedstructure")
