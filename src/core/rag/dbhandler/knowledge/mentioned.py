"""The mentions of a chunk as lines of text, ready to be passed to statements.

There is so much of it that the lines are made where documents are cut, which in a large run is a second process, and
not in the process that writes.
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
    """The mentions of a chunk, in the form in which they are written.

    Attributes:
        edges: Lines for the MENTIONS edges: the chunk, a count, and the ids of all entities mentioned that often.
        entities: Lines for the entities: id, normalised name, spelling, and the type that follows from the spelling.
        others: Normalised name and spelling of the other entities: those that cannot be put into a line (see
            :func:`core.rag.dbhandler.lines.is_safe`), or that are known by their normalised name only.
    """

    edges: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Return whether the chunk mentions anything."""
        return bool(self.edges)

    def plain(self, namespace: str) -> list[Mention]:
        """Return the mentions, parsed from the lines."""
        times: dict[str, int] = {}
        for line in self.edges:
            _, count, *ids = line.split(FIELD)
            times |= dict.fromkeys(ids, int(count))
        spelt = [line.split(FIELD) for line in self.entities]
        return [(name, text, times[identifier]) for identifier, name, text, _ in spelt] + [
            (name, text, times[entity_id(namespace, name)]) for name, text in self.others
        ]


class MentionWriter:
    """Makes the lines of :class:`Mentioned`. Use one for many chunks: it caches names, which are often repeated."""

    def __init__(self, namespace: str) -> None:
        """Prepare to make lines for entities of this namespace."""
        self._namespace = namespace
        # By normalised name and spelling: the id, and the line, empty where there is none.
        self._known: dict[tuple[str, str], tuple[str, str]] = {}

    def mentioned(self, chunk: str, mentions: Iterable[Mention]) -> Mentioned:
        """Make the lines for a chunk.

        Args:
            chunk: Its id.
            mentions: What it mentions.
        """
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
