"""The common parts of Office Open XML files (docx, pptx): relationships and properties."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from libs.dataloader.formats.archive import Archive, children, join_part, local
from libs.dataloader.formats.base import UnreadableError, sensible_author, sensible_title
from libs.dataloader.text import clean_text
from libs.regexes import regex

#: What a part of an Office file refers to, by id: the kind, the target, and whether it is external.
Relations = dict[str, tuple[str, str, bool]]


def relationships(archive: Archive, part: str) -> Relations:
    """Return what a part of an Office file refers to."""
    name = posixpath.join(posixpath.dirname(part), "_rels", posixpath.basename(part) + ".rels")
    if not archive.has(name):
        return {}
    found: Relations = {}
    for node in children(archive.xml(name), "Relationship"):
        kind = (node.get("Type") or "").rpartition("/")[2]
        outside = node.get("TargetMode") == "External"
        target = node.get("Target") or ""
        found[node.get("Id") or ""] = (kind, target if outside else join_part(part, target), outside)
    return found


def main_part(archive: Archive, usual: str) -> str:
    """Return the name of the main part of an Office file: ``usual``, or the one that the package names.

    Raises:
        UnreadableError: if there is none.
    """
    if archive.has(usual):
        return usual
    for kind, target, _ in relationships(archive, "").values():
        if kind == "officeDocument":
            return target
    raise UnreadableError(f"it is damaged: {usual} is missing")


#: What the templates of python-docx and python-pptx say of themselves, and when they were made.
_OF_A_TEMPLATE = regex(r"generated (?:by|using) python-(?:docx|pptx)", re.IGNORECASE)
_TEMPLATES_MADE = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"})


def core_properties(archive: Archive) -> tuple[str | None, dict[str, Any]]:
    """Return the title and the metadata of an Office file."""
    if not archive.has("docProps/core.xml"):
        return None, {}
    try:
        values = {
            local(node): clean_text(" ".join("".join(node.itertext()).split()))
            for node in archive.xml("docProps/core.xml")
        }
    except UnreadableError:
        return None, {}  # damaged metadata is no reason to do without the text
    values["creator"] = sensible_author(values.get("creator", ""))
    if _OF_A_TEMPLATE.fullmatch(values.get("description", "")):
        del values["description"]
        if values.get("created") in _TEMPLATES_MADE:
            del values["created"]
    names = {"creator": "author", "subject": "subject", "keywords": "keywords", "description": "description"}
    names |= {"created": "created", "modified": "modified", "language": "language", "category": "category"}
    metadata = {name: values[key] for key, name in names.items() if values.get(key)}
    return sensible_title(values.get("title", "")), metadata
