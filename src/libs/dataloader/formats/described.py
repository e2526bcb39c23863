"""What Sphinx describes (functions, classes, settings, options) in sources: a section of its own, with a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_DEEPEST = 6  # heading
_OF_PYTHON = frozenset(
    "function class method staticmethod classmethod decorator decoratormethod attribute property data exception"
    " type".split()
)
# With others, beside what has the name of a domain (``py:function``).
_OBJECTS = _OF_PYTHON | frozenset(
    "object describe macro var struct member option cmdoption envvar confval setting command event signal".split()
)
_TOLD = ("type", "default", "value")
#: What joins the name of a class with those of its members, by the domains of Sphinx.
JOINTS = {"py": ".", "js": ".", "cpp": "::"}


class Section(NamedTuple):
    """A section of a text.

    Attributes:
        level: Of its heading; 0 where there is none.
        title: Its heading, as a line of Markdown.
        name: Of the class that it describes, without what that is in.
    """

    level: int = 0
    title: str = ""
    name: str = ""


def is_object(kind: str) -> bool:
    """Return whether a directive describes something."""
    return ":" in kind or kind.startswith("auto") or kind in _OBJECTS


def own_name(name: str) -> str:
    """Return a name without the class, module or namespace before it: ``get`` of ``Session.get``."""
    return name.rpartition("::")[2].rpartition(".")[2]


def facts(options: Mapping[str, str]) -> list[str]:
    """Return the options of such a directive that its readers see, as lines to stand above its text."""
    told = [f"{name.capitalize()}: {' '.join(options[name].split())}" for name in _TOLD if options.get(name)]
    return [line for fact in told for line in (fact, "")]


def begun(kind: str, signature: str, above: Section) -> tuple[Section, list[str]]:
    """Return the section of what a directive describes, and the lines that begin it.

    It is one level below the one around it, unless that has just its name, or there is no such level.

    Args:
        kind: The name of the directive.
        signature: What it describes, as written.
        above: The section around it.
    """
    domain = kind.partition(":")[0] if ":" in kind else "py" if kind in _OF_PYTHON or kind.startswith("auto") else ""
    name = _name(domain, signature)
    own = own_name(name)
    if not 0 < above.level < _DEEPEST or own == own_name(above.title.strip("# `")):
        return above._replace(name=own), ["", f"`{signature}`", ""]
    whole = f"{above.name}{JOINTS[domain]}{name}" if above.name and domain in JOINTS and own == name else name
    section = Section(above.level + 1, f"{'#' * (above.level + 1)} `{whole}`", own)
    return section, ["", section.title, "", *([f"`{signature}`", ""] if signature != name else ())]


def _name(domain: str, signature: str) -> str:
    """Return what a signature names: ``mills.Mill`` of ``mills.Mill(name, wheels=8)``."""
    if domain in ("c", "cpp"):
        words = re.split(r"\(|\s:\s", signature, maxsplit=1)[0].split()
        return words[-1].lstrip("*&") if words else signature
    if domain in ("py", "js"):
        return re.split(r"[(:=\[]", signature, maxsplit=1)[0].strip() or signature
    return signature
