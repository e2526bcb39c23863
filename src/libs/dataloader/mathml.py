"""Formulas in MathML on one line: ``x^2``, ``a_n``, ``(a+b)/c``, ``√(x)``; in TeX where they say so themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_SIMPLE = regex(r"\w+|.")
_INVISIBLE = regex("[\u2061-\u2064]")  # such as the sign of multiplication in 2x
_STYLE = regex(r"\{\\(?:display|text)style (.*)\}", re.DOTALL)  # as Wikipedia begins its formulas
_SKIPPED = frozenset(("annotation", "annotation-xml", "mphantom"))
_MAX_DEPTH = 60


def formula(node: _Element) -> str:
    """Return a ``math`` element as a line of text: ``$…$`` if it has its own TeX, else its signs."""
    tex = node.get("alttext") or next(
        (
            "".join(item.itertext())
            for item in node.iter()
            if _local(item) == "annotation" and (item.get("encoding") or "").lower() in ("application/x-tex", "tex")
        ),
        "",
    )
    tex = " ".join(tex.split())
    if style := _STYLE.fullmatch(tex):
        tex = style[1].strip()
    return f"${tex}$" if tex else " ".join(_inside(node, 0).split())


def grouped(text: str) -> str:
    """Return a part of a formula, in parentheses if it is more than a word or a sign."""
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _inside(node: _Element, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return ""
    return "".join(_text(item, depth + 1) for item in _parts(node))


def _parts(node: _Element) -> Iterator[_Element]:
    return (item for item in node if isinstance(item.tag, str) and _local(item) not in _SKIPPED)


def _text(node: _Element, depth: int) -> str:
    name = _local(node)
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return _INVISIBLE.sub("", " ".join("".join(node.itertext()).split()))
    if name == "mspace":
        return " "
    if name == "msqrt":
        return f"√({_inside(node, depth)})"
    parts = [_text(item, depth + 1) for item in _parts(node)] if depth < _MAX_DEPTH else []
    if name == "mfrac" and len(parts) == 2:
        return f"{grouped(parts[0])}/{grouped(parts[1])}"
    if name == "mroot" and len(parts) == 2:
        return f"{parts[1]}√({parts[0]})"
    if name in ("msub", "munder") and len(parts) == 2:
        return f"{parts[0]}_{grouped(parts[1])}"
    if name in ("msup", "mover") and len(parts) == 2:
        return f"{parts[0]}^{grouped(parts[1])}"
    if name in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{grouped(parts[1])}^{grouped(parts[2])}"
    if name == "mfenced":
        between = ", " if (told := node.get("separators", ",").strip()) == "," else told[:1]
        return f"{node.get('open', '(')}{between.join(parts)}{node.get('close', ')')}"
    if name == "mtable":
        return "; ".join(parts)
    if name == "mtr":
        return "  ".join(parts)
    return "".join(parts)


def _local(node: _Element) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
