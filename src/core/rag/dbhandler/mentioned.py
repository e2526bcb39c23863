"""What a chunk mentions, in the form in which it is written.

There is so much of it that it is made where documents are cut: in a large run, that is not the process which writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.rag.dbhandler.lines import FIELD, is_safe
from core.rag.extraction.mentions import Mention
from core.rag.extraction.names import type_of
from core.rag.identity import entity_id


@dataclass(slots=True)
class Mentioned:
    """What a chunk mentions.

    Attributes:
        edges: For each number of times the chunk, the number, and the ids of what it mentions so often, as a line.
        entities: Those that it spells, as lines: id, normalised name, spelling and the type that follows from it.
        others: Normalised name and spelling of those that are no line, or that it does not spell.
    """

    edges: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.edges)

    def plain(self, namespace: str) -> list[Mention]:
        """The same as plain values."""
        times: dict[str, int] = {}
        for line in self.edges:
            _, count, *ids = line.split(FIELD)
            times |= dict.fromkeys(ids, int(count))
        spelt = [line.split(FIELD) for line in self.entities]
        return [(name, text, times[identifier]) for identifier, name, text, _ in spelt] + [
            (name, text, times[entity_id(namespace, name)]) for name, text in self.others
        ]


class MentionWriter:
    """Brings mentions into the form in which they are written, those of many chunks sooner than each alone."""

    def __init__(self, namespace: str) -> None:
        """For entities of a namespace."""
        self._namespace = namespace
        # By normalised name and spelling: the id, and the line, empty where there is none.
        self._known: dict[tuple[str, str], tuple[str, str]] = {}

    def mentioned(self, chunk: str, mentions: Iterable[Mention]) -> Mentioned:
        """What a chunk, by id, mentions."""
        made = Mentioned()
        by_count: dict[int, list[str]] = {}
        for name, text, times in mentions:
            identifier, line = self._known.get((name, text)) or self._learn(name, text)
            if line:
                made.entities.append(line)
            else:
                made.others.append((name, text))
            if times in by_count:
                by_count[times].append(identifier)
            else:
                by_count[times] = [identifier]
        made.edges = [FIELD.join((chunk, str(count), *group)) for count, group in by_count.items()]
        return made

    def _learn(self, name: str, text: str) -> tuple[str, str]:
        identifier = entity_id(self._namespace, name)
        line = FIELD.join((identifier, name, text, type_of(text))) if text and is_safe(name, text) else ""
        known = self._known[name, text] = identifier, line
        return known
