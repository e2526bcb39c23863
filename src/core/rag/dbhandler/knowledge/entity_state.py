"""The state of one entity in a transaction: collected changes, and the properties that result from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.store import Row
from core.rag.extraction.names import type_of


@dataclass(slots=True)
class EntityChange:
    """What changes of one entity in a transaction. Numbers are differences, below zero where something goes.

    Attributes:
        mentions: By how many chunks more it is mentioned.
        titled: By how many documents more it is the title.
        forms: By spelling: how many chunks and records more spell it so.
        titles: Spellings of the titles that are added.
        untitled: Spellings of the titles that are removed.
        fields: By type: how many records and facts more say that it is of this type.
    """

    mentions: int = 0
    titled: int = 0
    forms: dict[str, int] | None = None
    titles: list[str] = field(default_factory=list)
    untitled: list[str] = field(default_factory=list)
    fields: dict[str, int] | None = None

    def is_count_of(self, text: str) -> bool:
        """Return whether the only change is the number of mentions, and all of these are spelt like ``text``."""
        if self.titled or self.titles or self.untitled or self.fields:
            return False
        return self.forms is not None and self.forms == {text: self.mentions} and self.mentions != 0

    def form(self, text: str, number: int) -> None:
        """Count ``number`` more (or fewer) chunks or records that spell it like ``text``."""
        if text:
            if self.forms is None:
                self.forms = {}
            self.forms[text] = self.forms.get(text, 0) + number

    def kind(self, kind: str, number: int) -> None:
        """Count ``number`` more (or fewer) records or chunks that say that it is of this type."""
        if self.fields is None:
            self.fields = {}
        self.fields[kind] = self.fields.get(kind, 0) + number


class EntityState:
    """The properties of an entity: those that are stored, until :meth:`apply` changes them."""

    def __init__(self, normalized: str, row: Row | None, *, fixed: bool) -> None:
        """Prepare a state.

        Args:
            normalized: The name.
            row: What is stored, if it is there.
            fixed: Whether it keeps its name and type.
        """
        self.normalized = normalized
        self.name: str = row["name"] if row else ""
        self.type: str = (row["type"] or "") if row else ""
        self.mentions: int = (row["mention_count"] or 0) if row else 0
        self.titled: int = (row["titled"] or 0) if row else 0
        self.fields: dict[str, int] = json.loads(row["recorded"]) if row and row["recorded"] else {}
        self.fixed = fixed
        self.forms: dict[str, int] = {self.name: self.mentions} if self.mentions else {}
        if row and row["forms"]:
            self.forms = json.loads(row["forms"])

    def apply(self, change: EntityChange, remaining_title: str | None) -> None:
        """Apply a change: add up the counts, then choose name and type anew.

        Args:
            change: What happens.
            remaining_title: Of the titles in the graph that still name it, the first by alphabet; only needed where
                the title that it is called by is removed.
        """
        self.mentions += change.mentions
        was_titled = self.titled > 0
        self.titled += change.titled
        if change.forms:
            self.forms = _sum(self.forms, change.forms)
        if change.fields:
            self.fields = _sum(self.fields, change.fields)
        if (surplus := sum(self.forms.values()) - most_forms(self.mentions, self.fields)) > 0:
            self.forms = _without(self.forms, surplus, change.forms or {})
        if self.fixed:
            return
        if self.titled:
            candidates = list(change.titles)
            if was_titled and self.name not in change.untitled:
                candidates.append(self.name)
            if remaining_title:
                candidates.append(remaining_title)
            self.name = min(candidates, default=self.name)
        elif self.forms:
            self.name = min(self.forms, key=lambda text: (-self.forms[text], text))
        self.name = self.name or self.normalized
        self.type = min(self.fields, key=lambda kind: (-self.fields[kind], kind), default="") or type_of(self.name)

    def properties(self) -> dict[str, Any]:
        """Return the properties to store. Spellings are left out where all mentions are spelt like the name."""
        plain = {self.name: self.mentions} if self.mentions else {}
        return {
            "name": self.name,
            "type": self.type,
            "mention_count": self.mentions,
            "titled": self.titled or None,
            "recorded": _json(self.fields) if self.fields else None,
            "forms": None if self.forms == plain else _json(self.forms),
        }


def most_forms(mentions: int, recorded: Mapping[str, int]) -> int:
    """Return how often an entity can be spelt at most: once by each chunk and record."""
    return mentions + sum(recorded.values())


def _without(forms: Mapping[str, int], surplus: int, changed: Mapping[str, int]) -> dict[str, int]:
    """Take away spellings that nothing has any more.

    How a chunk spelt a name before is worked out by the rules of today. Where those of an earlier version, which the
    graph was made with, had found another spelling, that one would stay.
    """
    left = dict(forms)
    for text in sorted(forms, key=lambda text: (changed.get(text, 0) > 0, -forms[text], text)):
        taken = min(surplus, left[text])
        left[text] -= taken
        surplus -= taken
    return {text: number for text, number in left.items() if number}


def _sum(counts: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int]:
    """Counts with changes added; those that are zero then are left out."""
    both = {key: counts.get(key, 0) + changes.get(key, 0) for key in counts.keys() | changes.keys()}
    return {key: number for key, number in both.items() if number > 0}


def _json(counts: Mapping[str, int]) -> str:
    return json.dumps(dict(sorted(counts.items())), ensure_ascii=False, separators=(",", ":"))
