"""What a law in XML is called, when it was made, and its elements as words in a line."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats.archive import attribute, flat_text, local
from libs.dataloader.formats.law_names import DROPPED
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST = 60
_DAY = regex(r"\d{4}-\d{2}-\d{2}")


def line_of(node: _Element, depth: int = 0) -> str:
    """Return an element as words in a line; of what is nested too deeply, the words alone."""
    name = local(node).lower()
    if depth > _DEEPEST:
        return escape(flat_text(node))
    if name == "br":
        return "<br>"
    if not name or name in DROPPED:
        return ""
    if name in ("footnote", "authorialnote"):
        return f" ({escape(flat_text(node))})"
    inner = escape(str(node.text or "")) + "".join(
        line_of(part, depth + 1) + escape(str(part.tail or "")) for part in node
    )
    if name in ("sup", "superior", "sub", "inferior"):
        tag = "sup" if name.startswith("sup") else "sub"
        return f"<{tag}>{inner}</{tag}>"
    return inner


def words_of(node: _Element) -> str:
    """Return the words of a number or a heading, without marks of notes."""
    return " ".join(line_of(node).replace("<br>", " ").replace("<sup>", "").replace("</sup>", "").split())


def text_of(node: _Element | None) -> str:
    """Return the words of an element that may be missing; empty if it is."""
    return words_of(node) if node is not None else ""


def title_of(root: _Element) -> str:
    """Return the title of a whole law; empty if its first heading is that."""
    if local(root) == "dokumente":
        names = (root.find(f"norm/metadaten/{name}") for name in ("langue", "kurzue", "jurabk"))
        return clean_text(next(filter(None, map(text_of, names)), ""))
    for path in (
        "{*}meta/{*}title",
        "{*}Metadata/{*}title",
        "{*}metadata//{*}title",
        ".//{*}preface//{*}docTitle",
        ".//{*}preface//{*}shortTitle",
        ".//{*}cover/{*}title",
    ):
        if (found := root.find(path)) is not None and (words := words_of(found)):
            return clean_text(words)
    alias = root.find(".//{*}FRBRWork/{*}FRBRalias")
    if alias is not None and (told := attribute(alias, "value")):
        return clean_text(told)
    title = root.find("{*}title")
    return clean_text(words_of(title)) if title is not None and not len(title) else ""


def metadata_of(root: _Element) -> dict[str, Any]:
    """Return when a law was made, and what it is cited as."""
    dates = (
        *(root.find(f"{{*}}meta/{{*}}{name}") for name in ("approvedDate", "enactedDate", "date")),
        *root.iterfind(".//{*}FRBRWork/{*}FRBRdate"),
        root.find(".//{*}EnactmentDate"),
        root.find("norm/metadaten/ausfertigung-datum"),
    )
    told = (attribute(node, "date") or attribute(node, "Date") or flat_text(node) for node in dates if node is not None)
    found = {
        "created": next((day[0] for text in told if (day := _DAY.search(text))), ""),
        "citation": next(map(flat_text, root.iterfind("{*}meta/{*}citableAs")), ""),
    }
    return {name: value for name, value in found.items() if value}
