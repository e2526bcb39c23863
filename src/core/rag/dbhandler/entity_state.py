"""One entity in a transaction: what happens to it, and what it is afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.store import Row
from core.rag.extraction.names import type_of


@dataclass(slots=True)
class EntityChange:
    """What happens to one entity in a transaction.

    Attributes:
        mentions: How many chunks more mention it.
        titled: How many documents more are titled so.
        forms: How many chunks and records more spell it how.
        titles: The spellings of titles that come.
        untitled: Those of titles that go.
        fields: How many records and facts more make it of which type.
    """

    mentions: int = 0
    titled: int = 0
    forms: dict[str, int] | None = None
    titles: list[str] = field(default_factory=list)
    untitled: list[str] = field(default_factory=list)
    fields: dict[str, int] | None = None

    def is_count_of(self, text: str) -> bool:
        """Whether this only changes how many chunks mention an entity, all of which spell it like this."""
        if self.titled or self.titles or self.untitled or self.fields:
            return False
        return self.forms is not None and self.forms == {text: self.mentions} and self.mentions != 0

    def form(self, text: str, number: int) -> None:
        """So many more chunks or records spell it like this."""
        if text:
            if self.forms is None:
                self.forms = {}
            self.forms[text] = self.forms.get(text, 0) + number


class EntityState:
    """An entity as it is, then as it will be."""

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
        """Make it what it is after a change.

        Args:
            change: What happens.
            remaining_title: The first by alphabet of the titles that name it still, where that has to be known.
        """
        self.mentions += change.mentions
        was_titled = self.titled > 0
        self.titled += change.titled
        if change.forms:
            self.forms = _sum(self.forms, change.forms)
        if change.fields:
            self.fields = _sum(self.fields, change.fields)
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
        """What is stored; spellings only where they do not follow from the name and the number of mentions."""
        plain = {self.name: self.mentions} if self.mentions else {}
        return {
            "name": self.name,
            "type": self.type,
            "mention_count": self.mentions,
            "titled": self.titled or None,
            "recorded": _json(self.fields) if self.fields else None,
            "forms": None if self.forms == plain else _json(self.forms),
        }


def _sum(counts: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int]:
    """The counts after changes, without those of nothing."""
    both = {key: counts.get(key, 0) + changes.get(key, 0) for key in counts.keys() | changes.keys()}
    return {key: number for key, number in both.items() if number > 0}


def _json(counts: Mapping[str, int]) -> str:
    return json.dumps(dict(sorted(counts.items())), ensure_ascii=False, separators=(",", ":"))
