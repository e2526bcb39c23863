"""What columns of CSV have in a form for programs: values that take several columns, numbers of persons, times, codes.

Jira writes a column for each label that an issue may have (``Labels,Labels,Labels``), a second one with the number of
each person (``Assignee,Assignee Id``), and comments as ``12/Mar/26 11:30 AM;5b10b1;words``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from libs.dataloader.epochs import is_of_time, time_of_number
from libs.regexes import regex

_ID: Final = regex(r"(?P<of>.+) (?:Id|ID|id)")
_COMMENT: Final = regex(
    r"(?P<when>\d{1,2}/\w{3,9}/\d{2,4} [^;\n]{4,8});(?P<who>[^;\n]{1,80});(?P<said>[^\n]*(?:\n.*)*)"
)
_WHEN: Final = ("%d/%b/%y %I:%M %p", "%d/%b/%Y %I:%M %p", "%d/%b/%y %H:%M", "%d/%b/%Y %H:%M")
#: What Excel shows as a text (``="0441004822"``).
_AS_TEXT: Final = regex(r'="([^"]*)"')
_MOSTLY: Final = 0.8


class Columns:
    """The columns of a table, as people would write them.

    Args:
        header: Their names as they stand in the file.
        rows: Some of the rows.
    """

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        places = list(range(len(header)))
        groups = [list(group) for _, group in groupby(places, lambda place: header[place].strip() or str(place))]
        #: The columns of the file that each column consists of.
        self._groups = [
            part for group in groups for part in ([group] if _is_list(group, rows) else [[one] for one in group])
        ]
        self.names = [header[group[0]] for group in self._groups]
        self._numbered = _numbered(header, rows)
        self._as_text = {place for place in places if any(_AS_TEXT.fullmatch(_cell(row, place)) for row in rows)}
        self._times = {place for place in places if is_of_time(header[place].strip()) and _are_times(rows, place)}
        self._persons: dict[str, str] = {}
        comments = [one for group in self._groups if _COMMENT.fullmatch(one := _first(rows, group))]
        #: Whether there is nothing to do.
        self.plain = not (self._numbered and comments) and not self._as_text and not self._times
        self.plain = self.plain and len(self._groups) == len(header)

    def learn(self, row: Sequence[str]) -> None:
        """Learn from a row which person has which number."""
        for place, of in self._numbered.items():
            if number := _cell(row, place).strip():
                self._persons[number] = _cell(row, of).strip()

    def cells(self, row: Sequence[str]) -> list[str]:
        """Return the cells of a row, those of several columns in one."""
        return [", ".join(self._values(row, group)) for group in self._groups]

    def shown(self, row: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield name and value of each cell as they are shown: comments without a name, no numbers of persons."""
        for name, group in zip(self.names, self._groups, strict=True):
            if group[0] not in self._numbered:
                values = self._values(row, group)
                said = [told for value in values if (told := self._comment(value))]
                yield from [("", told) for told in said] if said else [(name, ", ".join(values))]

    def record(self, row: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
        """Return a row as a record; what may have several values is a list."""
        record: dict[str, Any] = {}
        for name, group in zip(names, self._groups, strict=False):
            values = self._values(row, group)
            record[name] = values if len(group) > 1 else "".join(values)
        return record

    def _values(self, row: Sequence[str], group: Sequence[int]) -> list[str]:
        cells = enumerate(row[group[0] : group[-1] + 1], group[0])  # a short row is short in very many columns, too
        return [value for place, cell in cells if (value := self._value(cell, place)).strip()]

    def _value(self, cell: str, place: int) -> str:
        if place in self._as_text and (found := _AS_TEXT.fullmatch(cell)):
            return found[1]
        return (place in self._times and time_of_number(cell)) or cell

    def _comment(self, value: str) -> str:
        """Return a comment as it was said, ``Ada (2026-03-12 11:30): words``; empty if a value is none."""
        found = _COMMENT.fullmatch(value) if self._numbered else None
        if found is None or found["who"] not in self._persons:
            return ""
        when = next((time for form in _WHEN if (time := _parsed(found["when"], form))), found["when"])
        return f"{self._persons[found['who']]} ({when}): {found['said'].strip()}"


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _first(rows: Sequence[Sequence[str]], group: Sequence[int]) -> str:
    return next((cell for row in rows for place in group if (cell := _cell(row, place))), "")


def _is_list(group: Sequence[int], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether columns with one name are filled from the left, as those for several values are."""
    if len(group) < 2:
        return False
    filled = [[bool(_cell(row, place).strip()) for place in group] for row in rows]
    return all(one == sorted(one, reverse=True) for one in filled) and not all(map(all, filled))


def _numbered(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, int]:
    """Return the columns with numbers of persons, and those with their names."""
    found: dict[int, int] = {}
    for place, name in enumerate(header):
        if (number := _ID.fullmatch(name.strip())) and (of := number["of"]) in header:
            at = place - header.index(name)  # the second watcher has the second number
            if (person := header.index(of) + at) < place and _cell(header, person) == of:
                found[place] = person
    told = [(bool(_cell(row, place)), bool(_cell(row, person))) for row in rows for place, person in found.items()]
    return found if sum(one == other for one, other in told) >= _MOSTLY * len(told) else {}


def _are_times(rows: Sequence[Sequence[str]], place: int) -> bool:
    values = [value for row in rows if (value := _cell(row, place).strip())]
    return bool(values) and all(map(time_of_number, values))


def _parsed(text: str, form: str) -> str:
    try:
        return f"{datetime.strptime(text, form):%Y-%m-%d %H:%M}"
    except ValueError:
        return ""
