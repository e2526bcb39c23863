"""Articles and books in XML: JATS (journals, PubMed Central), DocBook, and TEI (what GROBID makes of papers).

They are read by way of HTML: a section, a list or a table differs from one there by its name only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats import code
from libs.dataloader.formats.archive import (
    attribute,
    child,
    children,
    flat_text,
    has_own_text,
    local,
    parse_xml,
    with_characters,
)
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.registry import Format
from libs.dataloader.html import html_to_document
from libs.dataloader.mathml import formula
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_HTML = {
    name: tag
    for tag, names in {
        "p": "p para simpara ab subtitle",
        "ul": "itemizedlist simplelist",
        "ol": "orderedlist procedure substeps",
        "li": "listitem list-item member step item",
        "dl": "variablelist def-list",
        "dt": "term",
        "dd": "def",
        "pre": "programlisting screen literallayout synopsis preformat",
        "code": "literal command option filename function varname envar constant userinput parameter classname "
        "methodname computeroutput monospace code",
        "thead": "thead",
        "tbody": "tbody",
        "tfoot": "tfoot",
        "tr": "row tr",
        "td": "entry cell td",
        "th": "th",
        "sup": "superscript sup",
        "sub": "subscript sub",
        "q": "quote",
        "blockquote": "disp-quote blockquote epigraph",
        "a": "ext-link uri ulink link ref",
    }.items()
    for name in names.split()
}
_LINES = frozenset(("p", "code", "pre", "dt", "td", "th", "a"))
_SECTIONS = frozenset(
    "article book part chapter appendix preface section sect1 sect2 sect3 sect4 sect5 simplesect refentry "
    "refsect1 refsect2 refsect3 refsection sec abstract ack app bibliography glossary div ref-list TEI".split()
)
_TITLES = frozenset(("title", "head", "article-title", "refname"))
_INFOS = frozenset(("info", "bookinfo", "articleinfo", "chapterinfo", "sectioninfo", "title-group", "refnamediv"))
_SHOWN_INFO = frozenset(("title", "subtitle", "article-title", "abstract", "refname", "refpurpose"))
# Not part of the text: what is in the metadata, an index, and data for programs and publishers.
_DROPPED = frozenset(
    "journal-meta article-id article-categories contrib-group aff author-notes pub-date volume issue fpage lpage "
    "elocation-id history permissions self-uri counts custom-meta-group related-article funding-group kwd-group "
    "object-id processing-meta supplementary-material fileDesc encodingDesc revisionDesc textClass langUsage "
    "indexterm index toc remark refmeta colspec spanspec col colgroup".split()
)
_TRANSPARENT = frozenset(("tgroup", "varlistentry", "def-item", "alternatives"))
_FLAT = frozenset(("ref", "biblStruct", "bibliomixed", "biblioentry"))  # entries of a bibliography
_HEADERS = frozenset(("front", "teiHeader", "info", "bookinfo", "articleinfo"))
_LOOKED_AT = 20
_TEX = regex(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)


def read(file: FileData, kind: Format) -> Content:
    """Convert to Markdown; what declares entities of its own stays as it is."""
    try:
        root = parse_xml(with_characters(file.data))
    except UnreadableError:
        return code.read(file, kind)
    header = next((node for node in root.iter() if local(node) in _HEADERS), None)
    page = html_to_document(f"<html><body>{_html(root, header)}</body></html>", file.uri, whole_page=True)
    if not page.markdown.strip():
        return code.read(file, kind)
    return Content(page.markdown, "markdown", page.title, _metadata(header), page.links)


def _html(root: _Element, header: _Element | None) -> str:
    from lxml import etree

    parts: list[str] = []
    if header is not None and local(header) == "teiHeader":  # there the title is among much else
        title = next(header.iter("{*}title"), None)
        parts.append(f"<h1>{escape(flat_text(title))}</h1>" if title is not None else "")
    # Of the elements that are open: what ends each, and whether what is in it stands among words.
    open_: list[tuple[str, bool]] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            parts.append(open_.pop()[0])
            parts.append(escape(node.tail or "") if node is not root else "")
        elif (whole := _whole(node)) is not None:
            parts.append(whole)
            open_.append(("", True))
            walk.skip_subtree()
        else:
            opening, closing = _tags(node, in_line=bool(open_) and open_[-1][1])
            parts += (opening, escape(node.text or ""))
            open_.append((closing, _has_words(node)))
    return "".join(parts)


def _whole(node: _Element) -> str | None:
    """Return the HTML of an element that is written without a look at its parts; empty if it is left out."""
    name, parent = local(node), node.getparent()
    above = local(parent)
    if name in _DROPPED or (above in _INFOS and name not in _SHOWN_INFO):
        return ""
    if name == "math":
        return escape(formula(node))
    if name == "tex-math":
        if any(local(other) == "math" for other in _first(parent)):
            return ""  # the same
        found = _TEX.search(node.text or "")
        return escape(f"${(found[1] if found else node.text or '').strip('$ \n')}$")
    if name == "footnote" or (name == "note" and attribute(node, "place") == "foot"):
        return f" ({escape(flat_text(node))})"
    if name in _FLAT and (name != "ref" or above == "ref-list"):  # in TEI, a "ref" is a link
        return f"<p>{escape(_reference(node))}</p>"
    if name == "xref" and attribute(node, "ref-type") in ("fn", "table-fn"):
        return ""  # the mark of a note
    if name == "label" and (above in _SECTIONS or any(local(other) in ("caption", "head") for other in _first(parent))):
        return ""  # it is written with the title
    if name == "caption":
        labels = [other for other in _first(parent) if local(other) == "label"]
        said = filter(None, map(flat_text, (*labels[:1], *node)))
        return f"<p>{escape(' '.join(text if text[-1] in '.:!?' else f'{text}.' for text in said))}</p>"
    if name in _TITLES and above == "table":
        return ""
    return None


def _first(parent: _Element | None) -> Iterator[_Element]:
    """Return the first parts of an element, among which its title, label or caption is; each of them asks for these."""
    return islice(parent if parent is not None else (), _LOOKED_AT)


def _tags(node: _Element, *, in_line: bool) -> tuple[str, str]:
    """Return what an element is in HTML: what begins and what ends it; ``in_line``: whether it stands among words."""
    name, parent = local(node), node.getparent()
    above = local(parent)
    if name in _TITLES:
        return _heading(node)
    if name in _TRANSPARENT:
        return "", ""
    if name in ("table", "informaltable"):
        title = next((part for part in node if local(part) in _TITLES), None)
        return (f"<p>{escape(flat_text(title))}</p>" if title is not None else "") + "<table>", "</table>"
    if name == "list":
        kind = attribute(node, "list-type") or attribute(node, "rend") or ""
        return ("<ol>", "</ol>") if kind in ("order", "numbered") else ("<ul>", "</ul>")
    tag = _HTML.get(name)
    if tag == "li" and above == "varlistentry":
        tag = "dd"
    elif tag == "td":
        is_named = parent is not None and (local(parent.getparent()) == "thead" or attribute(parent, "role") == "label")
        tag = "th" if is_named else "td"
    if tag == "a":
        target = next((found for key in ("href", "url", "target") if (found := attribute(node, key))), "")
        return f'<a href="{escape(target)}">', "</a>"
    if name == "abstract" and child(node, "title") is None:
        tag = _heading_tag(node)
        return f"<div><{tag}>Abstract</{tag}>", "</div>"
    if tag is None:
        tag = "span" if in_line else "div"
    return f"<{tag}{_spans(node)}>", f"</{tag}>"


def _heading(node: _Element) -> tuple[str, str]:
    """Return the tags of a title: it is a heading where it is that of a section, else a paragraph."""
    owner = node.getparent()
    if local(owner) in _INFOS and owner is not None:
        owner = owner.getparent()
    if owner is None or (local(owner) not in _SECTIONS and local(owner) != "article-meta"):
        return "<p>", "</p>"
    label = next((other for other in _first(owner) if local(other) == "label"), None)
    number = flat_text(label) if label is not None else attribute(node, "n") or ""
    tag = _heading_tag(owner)
    return f"<{tag}>{escape(number)} ", f"</{tag}>"


def _heading_tag(section: _Element) -> str:
    level = sum(local(above) in _SECTIONS for above in (section, *section.iterancestors()))
    return f"h{min(max(level, 1), 6)}"


def _spans(node: _Element) -> str:
    down = attribute(node, "rowspan") or attribute(node, "rows")
    if down is None and (more := attribute(node, "morerows") or "").isdecimal():
        down = str(int(more[:4]) + 1)
    across = attribute(node, "colspan") or attribute(node, "cols")
    return "".join(f' {name}="{escape(value)}"' for name, value in (("rowspan", down), ("colspan", across)) if value)


def _has_words(node: _Element) -> bool:
    """Return whether an element has text of its own, so that what is in it stands in a line."""
    if _HTML.get(local(node)) in _LINES:
        return True
    return has_own_text(node)


def _reference(node: _Element) -> str:
    """Return an entry of a bibliography as one line, with blanks where its parts have nothing between them."""
    line = ""
    for part in map(str, node.xpath(".//text()[not(ancestor::*[local-name() = 'pub-id'])]")):
        line += f" {part}" if line[-1:].isalnum() and part[:1].isalnum() else part
    return " ".join(line.split())


def _metadata(header: _Element | None) -> dict[str, Any]:
    if header is None:
        return {}
    found = {
        "author": ", ".join(dict.fromkeys(_authors(header))),
        "keywords": ", ".join(
            flat_text(node)
            for node in header.iter("{*}kwd", "{*}keyword", "{*}term")
            if local(node) != "term" or local(node.getparent()) == "keywords"
        ),
        "created": _date(header),
        "doi": next((flat_text(node) for node in header.iter("{*}article-id", "{*}idno") if _is_doi(node)), ""),
    }
    return {name: value for name, text in found.items() if (value := clean_text(text))}


def _authors(header: _Element) -> Iterator[str]:
    # Of an edition, the source has an author, too, often by another form of the name.
    of_text = header.findall(".//{*}titleStmt/{*}author")
    for node in of_text or header.iter("{*}contrib", "{*}author"):
        if (attribute(node, "contrib-type") or "author") != "author":
            continue
        given = " ".join(flat_text(name) for name in node.iter("{*}given-names", "{*}firstname", "{*}forename"))
        surname = next((flat_text(name) for name in node.iter("{*}surname")), "")
        names = node.iter("{*}string-name", "{*}collab", "{*}personname", "{*}persName", "{*}name")
        whole = next(map(flat_text, names), "" if len(node) else flat_text(node))
        if name := f"{given} {surname}".strip() or whole:
            yield name


def _date(header: _Element) -> str:
    for node in header.iter("{*}pub-date", "{*}pubdate", "{*}date"):
        values = [next((flat_text(part) for part in children(node, name)), "") for name in ("year", "month", "day")]
        if values[0]:
            return "-".join(value.zfill(2) for value in values if value)
        if told := attribute(node, "when") or flat_text(node):
            return told
    return ""


def _is_doi(node: _Element) -> bool:
    return (attribute(node, "pub-id-type") or attribute(node, "type") or "").lower() == "doi"
