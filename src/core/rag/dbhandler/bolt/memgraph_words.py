"""The keyword indexes of Memgraph: created, checked against the graph, and created anew where they lost something."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Sequence

from core.rag.dbhandler.bolt.dialect import Runner, define, differs, not_created, text_index_name
from core.rag.dbhandler.store import Row
from core.rag.errors import StoreConflictError, StoreConstraintError
from core.rag.schema import Label, check_name
from libs.regexes import regex

_log = logging.getLogger("mgrag")

#: A difference between an index and the graph only counts if it is seen twice, this many seconds apart.
_LOOK_AGAIN_SECONDS = 1.0

#: What the server says of an index that is not there, and of one that is.
MISSING = regex(r"index .{0,200} (does not|doesn't) exist|no procedure named", re.I | re.S)
THERE = regex(r"already exists", re.I)
_TEXT_INDEX = regex(r"label_text \(name: (.*)\)", re.S)
#: The properties of keyword indexes, in the order in which they are written first.
_INDEXED = ("partition", "terms")
#: The node that has the properties of keyword indexes, to tell the order in which the server keeps them.
_WORDS = f"(n:{Label.SCHEMA_VERSION} {{id: 'words'}})"


class KeywordIndexes:
    """The keyword indexes of a server, one for each label with texts, of all namespaces."""

    def __init__(self, runner: Runner) -> None:
        """Use the connection of a store."""
        self._runner = runner

    async def name_properties(self) -> None:
        """Use the names of the properties of keyword indexes first in the order in which they are written.

        A server that was killed before its first snapshot numbers them in that order when it starts again: with
        another one before, its indexes would not find what is written from then on.
        """
        await self._runner.query(f"UNWIND [] AS n RETURN {', '.join(f'n.{name}' for name in _INDEXED)}")

    async def ensure(self, label: Label) -> None:
        """Create the index of a label, or create it anew where it does not find everything."""
        name = text_index_name(label)
        rows = await self._runner.query("SHOW INDEX INFO")
        found = _text_indexes(rows).get(name)
        properties = await self._properties()
        # Creating an index with an existing name succeeds silently, even with another definition.
        if found is not None and (found["label"], names_of(found["property"])) != (label.value, properties):
            _log.warning("The keyword index of %s does not find all of its words; it is made anew.", label)
            await self.drop(label)
            found = None
        if found is not None and found["count"] < _labelled(rows, label) and await self._is_behind(label):
            _log.warning("The keyword index of %s lacks what was stored last before a crash; it is made anew.", label)
            try:
                await self.drop(label)
            except StoreConflictError as error:
                _log.warning("%s The next command that writes tries again.", error)
                return
            found = None
        if found is None:
            await define(
                self._runner,
                f"CREATE TEXT INDEX {name} ON :{label}({', '.join(map(check_name, properties))})",
                f"Creating the keyword index of {label}",
                there=THERE,
            )
            if name not in await self._all():
                raise not_created(f"the keyword index of {label}")

    async def _properties(self) -> tuple[str, ...]:
        """Return the properties of keyword indexes in the order in which an index finds both.

        It reads the properties of a node from the first on, in the order of the server's own numbers of their names;
        in another order, the second one is not indexed, without an error (seen on 3.11). These numbers come from the
        first use of a name in the life of the database, by whatever statement.
        """
        if (found := await self._order(f"MATCH {_WORDS}")) is None:
            with contextlib.suppress(StoreConstraintError):  # another client was faster
                await self._runner.define(
                    f"MERGE {_WORDS} SET n.partition = '', n.terms = ''", "Asking for the order of properties"
                )
            found = await self._order(f"MATCH {_WORDS}")
        return found or _INDEXED

    async def _order(self, match: str) -> tuple[str, ...] | None:
        """Return the order of the properties of keyword indexes from a node ``n`` that has both, if there is one."""
        rows = await self._runner.query(
            f"{match} WHERE n.partition IS NOT NULL AND n.terms IS NOT NULL RETURN keys(n) AS names LIMIT 1"
        )
        return tuple(name for name in rows[0]["names"] if name in _INDEXED) if rows else None

    async def drop(self, label: Label) -> None:
        """Drop the index of a label."""
        await define(
            self._runner,
            f"DROP TEXT INDEX {text_index_name(label)}",
            f"Dropping the keyword index of {label}",
            there=MISSING,
        )

    async def _all(self) -> dict[str, Row]:
        return _text_indexes(await self._runner.query("SHOW INDEX INFO"))

    async def problem(self, label: Label) -> str:
        """Return what is wrong with the index of a label; empty if nothing is, or there is none."""
        if label == Label.SCHEMA_VERSION:  # has the properties, but no keyword index
            return ""
        index = (await self._all()).get(text_index_name(label))
        if index is not None:
            order = await self._order(f"MATCH {_WORDS}") or await self._order(f"MATCH (n:{label})")
            if order is not None and names_of(index["property"]) != order:
                return f"The keyword index of {label} does not find all of its words."
        looks = await self._differences(label)
        return differs(label, *looks[-1]) if looks else ""

    async def _differences(self, label: Label) -> list[tuple[int, int]]:
        """Return the sizes of a keyword index and of its nodes, as seen twice if they differ both times.

        A difference that is seen only once may be a concurrent write.
        """
        statement = f"MATCH (n:{label}) WHERE n.partition IS NOT NULL OR n.terms IS NOT NULL RETURN count(n) AS n"
        looks = []
        for delay in (0.0, _LOOK_AGAIN_SECONDS):
            await asyncio.sleep(delay)
            before = (await self._runner.query(statement))[0]["n"]
            row = (await self._all()).get(text_index_name(label))
            indexed = row["count"] if row is not None else 0
            after = (await self._runner.query(statement))[0]["n"]
            if min(before, after) <= indexed <= max(before, after):
                return []
            looks.append((indexed, after))
        return looks

    async def _is_behind(self, label: Label) -> bool:
        """Return whether a keyword index has lost nodes. While others write, the sizes also differ, but change."""
        looks = await self._differences(label)
        return bool(looks) and looks[0] == looks[1]


def _text_indexes(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the keyword indexes by name, from what ``SHOW INDEX INFO`` returned."""
    return {found[1]: row for row in rows if (found := _TEXT_INDEX.fullmatch(row["index type"]))}


def _labelled(rows: Sequence[Row], label: Label) -> int:
    """Return about how many nodes have a label (removed ones count for a while), from ``SHOW INDEX INFO``."""
    return sum(row["count"] for row in rows if (row["index type"], row["label"]) == ("label", label.value))


def names_of(value: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return names of properties, which some versions return as a list and others as a string."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
