"""Office equations (OMML) on one line: ``x^2``, ``a_n``, ``(a+b)/c``, ``√(x)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, children, local
from libs.dataloader.mathml import grouped

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_DEPTH = 60


def equation_text(node: _Element) -> str:
    """Return the equation below an element as a line of text."""
    return " ".join(_inside(node, 0).split())


def _inside(node: _Element | None, depth: int) -> str:
    if node is None:
        return ""
    if depth > _MAX_DEPTH:
        return "".join(part.text or "" for part in node.iter() if local(part) == "t")
    return "".join(_text(item, depth + 1) for item in node)


def _text(node: _Element, depth: int) -> str:
    name = local(node)
    if name == "t":
        return node.text or ""
    if name in ("sSup", "sSub", "sSubSup", "sPre"):
        base, below, above = (_inside(child(node, part), depth) for part in ("e", "sub", "sup"))
        return base + (f"_{grouped(below)}" if below else "") + (f"^{grouped(above)}" if above else "")
    if name == "f":
        return f"{grouped(_inside(child(node, 'num'), depth))}/{grouped(_inside(child(node, 'den'), depth))}"
    if name == "rad":
        degree = _inside(child(node, "deg"), depth)
        return f"{degree}√({_inside(child(node, 'e'), depth)})"
    if name == "nary":
        sign = _property(node, "naryPr", "chr") or "∫"
        below, above, body = (_inside(child(node, part), depth) for part in ("sub", "sup", "e"))
        limits = (f"_{grouped(below)}" if below else "") + (f"^{grouped(above)}" if above else "")
        return f"{sign}{limits} {body}"
    if name == "d":
        first, last = _property(node, "dPr", "begChr"), _property(node, "dPr", "endChr")
        parts = [_inside(part, depth) for part in children(node, "e")]
        return f"{'(' if first is None else first}{', '.join(parts)}{')' if last is None else last}"
    if name == "func":
        return f"{_inside(child(node, 'fName'), depth)}({_inside(child(node, 'e'), depth)})"
    if name in ("limLow", "limUpp"):
        limit = grouped(_inside(child(node, "lim"), depth))
        return f"{_inside(child(node, 'e'), depth)}{'_' if name == 'limLow' else '^'}{limit}"
    if name == "m":
        rows = ("  ".join(_inside(cell, depth) for cell in children(row, "e")) for row in children(node, "mr"))
        return "; ".join(rows)
    if name == "eqArr":
        return "; ".join(_inside(part, depth) for part in children(node, "e"))
    if name.endswith("Pr"):
        return ""
    return _inside(node, depth)


def _property(node: _Element, properties: str, name: str) -> str | None:
    found = child(node, properties, name)
    return attribute(found, "val") if found is not None else None
