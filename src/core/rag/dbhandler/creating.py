"""Rows for statements that create a great many nodes or edges known not to exist, in the fastest form of every engine.

``MERGE`` and ``SET n += row.props`` cost half as much again: they look for what was just found to be missing, and check
the constraints of a node again for each property. So properties are named in the statement; those that are the same in
every row are sent once, the others as lines of text if possible. If another client creates the same node meanwhile, the
constraint on its id refuses the second one, and the unit of work is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.rag.dbhandler.batches import MAX_ROWS, batches
from core.rag.dbhandler.lines import EACH_LINE, lines_of, packed
from core.rag.dbhandler.store import Row
from core.rag.schema import check_name

# How many rows with the same properties are held at a time.
_HELD = 10 * MAX_ROWS

#: How a property is read from a line, by the type that all rows have there.
_FORMS = {str: "part[{}]", int: "toInteger(part[{}])", float: "toFloat(part[{}])"}


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one statement.

    Attributes:
        each: The clause that goes over the rows.
        values: The expression of each property.
        parameters: The parameters that the clause and the expressions use.
    """

    each: str
    values: dict[str, str]
    parameters: dict[str, Any]

    def map(self, *, without: Sequence[str] = (), copies: Mapping[str, str] | None = None) -> str:
        """Return the properties as a Cypher map.

        Args:
            without: Properties of the rows that only say where they go.
            copies: Further properties, and which ones they are equal to.
        """
        values = {name: value for name, value in self.values.items() if name not in without}
        values |= {name: self.values[of] for name, of in (copies or {}).items()}
        return "{" + ", ".join(f"{check_name(name)}: {value}" for name, value in values.items()) + "}"


def in_parts(rows: Iterable[Row], shared: Mapping[str, Any]) -> Iterator[Part]:
    """Divide rows into statements, grouped by the properties that they have.

    Args:
        rows: Properties by name. They may be made as they are taken: a few thousand are held at a time.
        shared: Properties that all rows have besides.
    """
    by_names: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        names = tuple(row)
        alike = by_names.setdefault(names, [])
        alike.append(row)
        if len(alike) == _HELD:
            yield from _parts(names, by_names.pop(names), shared)
    for names, alike in by_names.items():
        yield from _parts(names, alike, shared)


def _parts(names: Sequence[str], rows: list[Row], shared: Mapping[str, Any]) -> Iterator[Part]:
    for part in batches(rows):
        yield from _part(names, part, shared)


def _part(names: Sequence[str], rows: list[Row], shared: Mapping[str, Any]) -> Iterator[Part]:
    first = rows[0]
    same = {name for name in names if name != "id" and all(row[name] == first[name] for row in rows)}
    common = {**shared, **{name: first[name] for name in names if name in same}}
    values = {name: f"$same_{name}" for name in common}
    sent = {f"same_{name}": value for name, value in common.items()}  # not to be taken for a parameter of the clause
    differing = [name for name in names if name not in same]
    forms = [
        _FORMS.get(kind.pop()) if len(kind := {type(row[name]) for row in rows}) == 1 else None for name in differing
    ]
    lines = [] if None in forms else lines_of([row[name] for name in differing] for row in rows)
    if not lines:
        rows = [{name: row[name] for name in differing} for row in rows] if same else rows
        values |= {name: f"row.{name}" for name in differing}
        yield Part("UNWIND $rows AS row ", values, {"rows": rows, **sent})
        return
    values |= {name: str(form).format(index) for index, (name, form) in enumerate(zip(differing, forms, strict=True))}
    for parameters in packed(lines):
        yield Part(EACH_LINE, values, {**parameters, **sent})
