"""Laws in XML: those of the United States (USLM, bills, eCFR), the United Kingdom and Germany, Akoma Ntoso, and alike.

They have numbered parts with headings in common. What is numbered below a section or an article becomes a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape, unescape
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from libs.dataloader.formats.archive import attribute, children, flat_text, has_own_text, local
from libs.dataloader.formats.base import Content
from libs.dataloader.formats.law_facts import line_of, metadata_of, text_of, title_of, words_of
from libs.dataloader.formats.law_names import (
    DROPPED,
    HEADINGS,
    IN_LINE,
    ITEMS,
    NUMBERS,
    OF_TABLES,
    PARTS,
    QUOTED,
    SPACES,
)
from libs.dataloader.html import html_to_document
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

#: What a paragraph, a block, and an item of a list are told apart by.
_Flow = list[tuple[str, str]]
_DEEPEST: Final = 60
_DEEPEST_HEADING: Final = 6
_OF_PARTS: Final = PARTS | ITEMS | NUMBERS | HEADINGS | {"content", "p"}
_LOOKED_AT: Final = 5_000
_ENDS_HEADING = regex(r"[\s.:—–-]+$")
_EMPHASIS: Final = frozenset(("b", "i", "em", "strong", "inline", "e", "term", "emphasis"))
_MOST_BLANKS: Final = 12
_TERM_ENDS: Final = "\ue000"
_DASH = regex(r"[\s.]*[—–][\s.]*$")
#: Below a section, laws of the United Kingdom have numbers that are shown with brackets.
_WITHOUT_BRACKETS = regex(r"P[2-7]")


def read_law(root: _Element) -> Content | None:
    """Convert a law, regulation or bill to Markdown; ``None`` if it is something else."""
    if not _is_law(root):
        return None
    title = title_of(root)
    whole = _Law(_Levels(root, 2 if title else 1))
    body = "".join(_norms(root, whole)) if local(root) == "dokumente" else _joined(whole.whole(root))
    heading = f"<h1>{escape(title)}</h1>" if title else ""
    page = html_to_document(f"<html><body>{heading}{body}</body></html>", whole_page=True)
    if not body or not page.markdown.strip():
        return None
    return Content(page.markdown, "markdown", title or page.title, metadata_of(root))


def _is_law(root: _Element) -> bool:
    space = str(root.tag).rpartition("}")[0]
    if any(known in space for known in SPACES) or (local(root) == "dokumente" and root.find("norm") is not None):
        return True
    if local(root) in ("ECFR", "DLPSTEXTCLASS"):
        return True
    kinds: set[str] = set()
    for count, node in enumerate(root.iter("{*}num", "{*}enum", "{*}heading", "{*}header")):
        above = node.getparent()
        if above is not None and (kind := local(above).lower()) in PARTS | ITEMS:
            kinds.add(kind if local(node) in ("num", "enum") else f"{kind} heading")
        if count > _LOOKED_AT:
            break
    return any(f"{kind} heading" in kinds for kind in kinds) and ("section" in kinds or "article" in kinds)


class _Levels:
    """The levels of headings: where there are more than Markdown has, the uppermost parts are on one."""

    def __init__(self, root: _Element, first: int) -> None:
        """Look how many parts are around the sections; ``first``: the level of the first heading."""
        sections = islice(root.iter("{*}section", "{*}article", "{*}P1group", "{*}DIV8"), _LOOKED_AT)
        deepest = max((sum(map(_has_heading, (node, *node.iterancestors()))) for node in sections), default=1)
        self._first = first
        self._left_out = max(first + deepest - 1 - _DEEPEST_HEADING, 0)

    def of(self, depth: int) -> int:
        """Return the level of a part with so many parts around it; 0 if its heading is none any more."""
        level = self._first + max(depth - self._left_out, 0)
        return level if level <= _DEEPEST_HEADING else 0


class _Law:
    """Writes the parts of a law."""

    def __init__(self, levels: _Levels) -> None:
        self._levels = levels
        self._depth = 0
        self._is_quoted = False

    def whole(self, root: _Element) -> _Flow:
        """Return what is in a file, which may be a single section; see :meth:`flow`."""
        name = local(root).lower()
        return list(self._block(root, name, 0, 0)) if name in PARTS else self.flow(root, 0)

    def flow(self, node: _Element, depth: int, below: int = 0) -> _Flow:
        """Return what is in an element.

        Args:
            node: It.
            depth: How many parts with headings are around it.
            below: How many numbered elements are around it since the last heading.
        """
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return _paragraph(escape(flat_text(node)))
            return list(self._parts(node, depth, below))
        finally:
            self._depth -= 1

    def _parts(self, node: _Element, depth: int, below: int) -> Iterator[tuple[str, str]]:
        kind = attribute(node, "type") if local(node) in ("annotation", "text") else None
        words = [escape(f"{kind}: " if kind else ""), escape(str(node.text or ""))]
        in_line = has_own_text(node)
        for part in node:
            name = local(part).lower()
            if not name or name in DROPPED or ((name in NUMBERS or _is_heading(part)) and _is_of_part(node)):
                pass
            elif name in IN_LINE or (in_line and not _is_block(name)):
                words.append(line_of(part) if any(map(str.strip, words)) else _run_in(part))
            else:
                yield from _paragraph("".join(words))
                words = []
                yield from self._block(part, name, depth, below)
            words.append(escape(str(part.tail or "")))
        yield from _paragraph("".join(words))

    def _block(self, node: _Element, name: str, depth: int, below: int) -> Iterator[tuple[str, str]]:
        if name in OF_TABLES:
            yield "block", self._table(node)
        elif name in QUOTED:
            before, self._is_quoted = self._is_quoted, True
            yield "block", f"<blockquote>{_joined(self.flow(node, depth, max(below, 1)))}</blockquote>"
            self._is_quoted = before
        elif name == "dl":
            yield from self._terms(node, depth, below)
        elif name in PARTS and (told := _told(node)) and not (name == "level" and _is_short(node)):
            level = 0 if self._is_quoted else self._levels.of(depth)
            if level:
                yield "block", f"<h{level}>{escape(told)}</h{level}>"
                yield from self.flow(node, depth + 1)
            else:
                yield from _paragraph(f"<b>{escape(told)}</b>")
                yield from self.flow(node, depth, below)
        elif (name in ITEMS | PARTS or _is_numbered(node)) and not _is_in_group(node):
            yield from self._item(node, depth, below)
        else:
            yield from self.flow(node, depth, below)

    def _item(self, node: _Element, depth: int, below: int) -> Iterator[tuple[str, str]]:
        number, heading = _number(node), _ENDS_HEADING.sub("", _heading(node))
        parts = self.flow(node, depth, below + 1)
        if heading and not number and parts and parts[0][0] == "words":
            parts[0] = ("term", f"<dt>{escape(heading)}</dt><dd>{parts[0][1]}</dd>")
        else:
            parts = _labelled(f"{number} {heading}:".strip() if heading else number, parts)
        if not below:
            yield from parts
        elif parts:
            yield "item", _joined(parts, in_item=True)

    def _terms(self, node: _Element, depth: int, below: int) -> Iterator[tuple[str, str]]:
        term = ""
        for part in node:
            if local(part).lower() == "dt":
                term = unescape(line_of(part).strip())
            elif local(part):
                yield "item", _joined(_labelled(term, self.flow(part, depth, below + 1)), in_item=True)

    def _table(self, node: _Element) -> str:
        name = local(node).lower()
        if name in ("td", "th", "entry", "cell"):
            tag = "th" if name == "th" else "td"
            spans = "".join(
                f' {key}="{escape(value)}"' for key in ("rowspan", "colspan") if (value := attribute(node, key))
            )
            return f"<{tag}{spans}>{_joined(self.flow(node, 0, 1), in_item=True)}</{tag}>"
        tag = {"row": "tr", "caption": "caption", "title": "caption"}.get(name, name)
        if tag == "caption":
            return f"<caption>{line_of(node)}</caption>"
        tag = tag if tag in ("table", "thead", "tbody", "tfoot", "tr") else "div"
        inner = "".join(self._table(part) for part in node if local(part) and local(part).lower() not in DROPPED)
        return inner if tag == "div" else f"<{tag}>{inner}</{tag}>"


def _run_in(node: _Element) -> str:
    """Return the first words of a paragraph; those that look different and are a sentence are a heading."""
    words = line_of(node)
    is_heading = local(node).lower() in _EMPHASIS and words.count(" ") < _MOST_BLANKS and (node.tail or "").strip()
    return f"{words.rstrip()[:-1]}{_TERM_ENDS}" if is_heading and words.rstrip().endswith(".") else words


def _paragraph(words: str) -> _Flow:
    term, mark, said = words.partition(_TERM_ENDS)
    if mark:
        return [("term", f"<dt>{' '.join(term.split())}</dt><dd>{' '.join(said.split())}</dd>")]
    words = " ".join(words.split())
    return [("words", words)] if words else []


def _labelled(label: str, flow: _Flow) -> _Flow:
    """Return what is in an item with its label in front."""
    if not label:
        return flow
    kind, html = flow[0] if flow else ("", "")
    if kind == "term":
        html = html.removeprefix("<dt>").removesuffix("</dd>").replace("</dt><dd>", ": ")
    if kind in ("words", "term"):
        return [("words", f"{escape(label)} {html}"), *flow[1:]]
    return [("words", escape(label)), *flow]


def _joined(flow: Iterable[tuple[str, str]], *, in_item: bool = False) -> str:
    parts: list[str] = []
    for kind, group in groupby(flow, itemgetter(0)):
        found = [html for _, html in group]
        if kind == "item":
            parts.append(f"<ul>{''.join(f'<li>{html}</li>' for html in found)}</ul>")
        elif kind == "term":
            parts.append(f"<dl>{''.join(found)}</dl>")
        elif kind == "words":
            parts += [html if in_item and not parts and not at else f"<p>{html}</p>" for at, html in enumerate(found)]
        else:
            parts += found
    return "".join(parts)


def _is_of_part(node: _Element) -> bool:
    """Return whether the number and the heading in an element are told with it."""
    return local(node).lower() in PARTS | ITEMS or _is_numbered(node)


def _is_numbered(node: _Element) -> bool:
    return any(local(part).lower() in ("num", "enum", "pnumber", "number") for part in node)


def _is_heading(node: _Element) -> bool:
    """Return whether an element is a heading: in some schemes, titles and subtitles are parts that have one."""
    return local(node).lower() in HEADINGS and not any(local(part).lower() in _OF_PARTS for part in node)


def _has_heading(node: _Element) -> bool:
    return local(node).lower() in PARTS and any(map(_is_heading, node))


def _is_short(node: _Element) -> bool:
    """Return whether an element has words only: a definition, say, below its term."""
    return not any(local(part).lower() in PARTS | ITEMS for part in node.iterdescendants())


def _is_block(name: str) -> bool:
    return name in PARTS | ITEMS | OF_TABLES | QUOTED or name in ("p", "text", "content", "list", "dl", "chapeau")


def _told(node: _Element) -> str:
    """Return the heading of a part of a law, with its number."""
    number, heading = _number(node), _heading(node)
    if _is_in_group(node):
        return ""  # it is told with the group
    if local(node) == "P1group":
        number = next((_number(part) for part in children(node, "P1")), "")
    prefix = next((flat_text(part) for part in node if local(part) == "prefix"), "")
    number = f"{prefix} {number}".strip()
    joint = " – " if number and heading and _DASH.search(number) else " "
    return clean_text(f"{_DASH.sub('', number)}{joint}{heading}".strip())


def _is_in_group(node: _Element) -> bool:
    return local(node) == "P1" and local(node.getparent()) == "P1group"


def _number(node: _Element) -> str:
    number = next((words_of(part) for part in node if local(part).lower() in NUMBERS), "")
    return f"({number})" if _WITHOUT_BRACKETS.fullmatch(local(node)) and number.isalnum() else number


def _heading(node: _Element) -> str:
    found = (part for part in node if _is_heading(part))
    return " – ".join(filter(None, map(words_of, found)))


def _norms(root: _Element, whole: _Law) -> Iterator[str]:
    """Yield the norms of a German law, each with its place in the whole above it."""
    level = 2
    for norm in children(root, "norm"):
        place = norm.find("metadaten/gliederungseinheit")
        if place is not None:
            level = 1 + max(1, len(place.findtext("gliederungskennzahl") or "") // 3)
            told = " – ".join(
                words for name in ("gliederungsbez", "gliederungstitel") if (words := text_of(place.find(name)))
            )
            yield f"<h{min(level, 6)}>{escape(told)}</h{min(level, 6)}>" if told else ""
        number, title = (text_of(norm.find(f"metadaten/{name}")) for name in ("enbez", "titel"))
        if number and number != "Inhaltsübersicht":
            under = min(level + 1, 6)
            yield f"<h{under}>{escape(f'{number} {title}'.strip())}</h{under}>"
        elif number:
            continue
        for text in norm.iterfind("textdaten/text"):
            yield _joined(whole.flow(text, 0))
