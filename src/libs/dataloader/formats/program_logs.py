"""Logs of programs and servers, an event a line: a table of when, where and how serious it was, and what happened."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.dataloader.formats.base import Content, TextBuilder
from libs.dataloader.formats.rows import Records, write_table
from libs.dataloader.tables import row_cells
from libs.regexes import regex

_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d{1,9})?"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_TIME = (
    rf"(?:\d{{4}}[-/.]\d\d[-/.]\d\d[T_ -]\d\d[:.]\d\d[:.]\d\d(?:[.,]\d{{1,9}})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?"
    rf"|\d\d[-/.]\d\d(?:[-/.]\d\d)? {_CLOCK}"
    rf"|(?:[A-Z][a-z]{{2}} )?{_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}(?: \d{{4}})?"
    rf"|\d{{8}}-{_CLOCK}|\d{{6}} \d{{6}})"
)
_LEVEL = (
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|SEVERE|ALERT|EMERG|PANIC"
    r"|[Tt]race|[Dd]ebug|[Ii]nfo(?:rmation)?|[Nn]otice|[Ww]arn(?:ing)?|[Ee]rror|[Cc]rit(?:ical)?|[Ff]atal|alert|emerg)\b"
)
#: What those who collect logs put before each line.
_SOURCE = r"(?P<source>\S.{0,80}?[ \t|]{1,20})??"
#: How lines begin, by who writes them; the last one fits any that has a time.
_FORMS = (
    # ``10.0.0.7 - ada [10/Oct/2025:13:55:36 +0000] "GET /mill HTTP/1.1" 200 2326 "-" "curl/8.5"``: web servers
    regex(
        rf"(?P<address>\S+) \S+ (?P<user>\S+) \[(?P<time>\d\d/{_MONTH}/\d{{4}}:\d\d:\d\d:\d\d [+-]\d{{4}})\]"
        r' "(?:(?P<method>[A-Z]{3,10}) )?(?P<path>(?:[^"\\]|\\.)*?)(?: HTTP/[\d.]{1,4})?" (?P<status>\d{3})'
        r' (?P<size>\d+|-)(?: "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?(?P<message>.*)'
    ),
    # ``I1010 13:55:36.123456       1 wheel.go:42] words``: Kubernetes
    regex(
        rf"{_SOURCE}(?P<level>[IWEF])(?P<time>\d{{4}} {_CLOCK})\s+(?P<process>\d+) (?P<component>[\w./-]+:\d+)\]"
        r" (?P<message>.*)"
    ),
    # ``Oct 10 13:55:36 mill sshd[4711]: words``: syslog
    regex(
        rf"(?:<\d{{1,3}}>)?{_SOURCE}(?P<time>{_TIME}) (?!{_LEVEL})(?P<host>[\w.:/-]+)"
        r" (?P<program>[^\s\[\]:]{1,80})(?:\[(?P<process>\d+)\])?: (?P<message>.*)"
    ),
    # ``2025-10-10 13:55:36,123 4711 ERROR [main] org.mill.Wheel: words``
    regex(
        rf"{_SOURCE}\[?(?P<time>{_TIME})\]?[\s,|:-]{{1,20}}(?P<process>(?:\[?[\w.#@:/-]{{1,80}}\]?\s{{1,20}}){{0,3}}?(?:[\w-]{{1,80}}\.)?)"
        rf"[\[(<]?(?P<level>{_LEVEL}|(?<=\d )[VDIWEF](?= ))[\])>]?[\s:|-]*(?P<message>.*)"
    ),
    regex(rf"{_SOURCE}\[?(?P<time>{_TIME})\]?[\s,|:-]{{1,20}}(?P<message>.*)"),
)
#: What wrote it, behind how serious it is.
_COMPONENT = regex(
    r"(?:\[(?P<process>[^\n]{1,120}?)\]\s+)?"
    r"(?:(?P<component>[\w.$/@-]{1,120})(?::(?=\s|$)|(?=\s\[)|(?=\s{3}))"
    r"|(?P<logger>[\w$@-]{1,60}(?:\.[\w$@-]{1,60}){1,20})\s+-(?=\s)|-(?=\s))\s*(?P<message>.*)",
    re.DOTALL,
)
#: The number of a process or thread, before what it says.
_NUMBER = regex(r"\[(?P<process>\d{1,10})\]:?\s+(?P<message>.*)", re.DOTALL)
#: Log4j begins with the year, in two digits.
_YEAR_FIRST = regex(r"(\d\d)/?(\d\d)/?(\d\d) (\d\d):?(\d\d):?(\d\d.*)")
_WEB_TIME = regex(rf"(\d\d)/({_MONTH})/(\d{{4}}):(.+)")
_FRACTION = regex(r"(:\d\d),(?=\d)")
_GOES_ON = regex(r"\s|at |Caused by|Traceback|\.\.\.|[\])}]|\w+(?:\.\w+)*(?:Error|Exception)\b")
_COLUMNS = (
    *("time", "level", "source", "host", "program", "component", "process"),
    *("address", "user", "method", "path", "status", "size", "referrer", "agent", "message"),
)
_ALL_COLUMNS = frozenset(_COLUMNS)
#: Columns of which a log has one, and messages of people have none.
_BY_PROGRAMS = frozenset(("level", "source", "host", "program", "component", "process", "address"))
_LOOKED_AT = 200  # lines
_FEWEST = 5
_MOSTLY = 0.8
_LONGEST = 4_000  # characters of a line that is taken apart


def read_program_log(text: str) -> Content | None:
    """Convert a log to a table with a row for each event; ``None`` if the text is none.

    Lines that do not begin with a time, such as those of a stack trace, are part of the event before them.
    """
    head = [line for line in text[: _LOOKED_AT * _LONGEST].split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    counts = [sum(form.fullmatch(line[:_LONGEST]) is not None for line in head) for form in _FORMS]
    going_on = sum(_GOES_ON.match(line) is not None for line in head)
    if max(counts) < _FEWEST or max(counts) + going_on < _MOSTLY * len(head):
        return None
    events = _Events(text.split("\n"), next(n for n, count in enumerate(counts) if 2 * count >= max(counts)))
    columns = events.columns
    builder, starts = TextBuilder(), array("Q")
    rows = ((line, [cells.get(name, "") for name in columns]) for line, cells in events)
    write_table(builder, columns, rows, starts.append, as_records=False)
    return Content(
        builder.text(),
        "table",
        None,
        {"row_count": len(starts), "columns": columns},
        locations=builder.locations,
        records=Records(starts, events.record),
    )


class _Events:
    """The events of a log.

    Args:
        lines: Its lines.
        form: The number of the form that most of them have.
    """

    def __init__(self, lines: Sequence[str], form: int) -> None:
        self._lines = lines
        self._form = form
        self._begin = array("Q")
        there: set[str] = set()
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            if (cells := self._cells(line)) is not None:
                self._begin.append(number)
                there.update(name for name, cell in cells.items() if cell)
            else:
                there.add("message")
        if any(line.strip() for line in lines[: self._begin[0]]):
            self._begin.insert(0, 0)
        self._begin.append(len(lines))
        #: The names of the columns that have anything in them, in order.
        self.columns = [name for name in _COLUMNS if name in there]

    def __iter__(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Yield the number of the first line, from 1, and the cells of each event."""
        for number, first in enumerate(self._begin[:-1]):
            yield first + 1, self.record(number)

    def record(self, number: int) -> Mapping[str, Any]:
        """Return an event by its number."""
        first, *more = self._lines[self._begin[number] : self._begin[number + 1]]
        cells = self._cells(first) or {"message": first}
        message = "\n".join((cells["message"], *(line for line in more if line.strip())))
        return {name: cell for name, cell in (cells | {"message": message}).items() if cell}

    def _cells(self, line: str) -> dict[str, str] | None:
        found = _FORMS[self._form].fullmatch(line[:_LONGEST]) or _FORMS[-1].fullmatch(line[:_LONGEST])
        if found is None:
            return None
        cells = {name: (cell or "").strip(" \t|-.") for name, cell in found.groupdict().items()}
        cells["message"] = found["message"].strip() + line[_LONGEST:]
        cells["time"] = _time(cells["time"])
        if cells.get("level") and "component" not in cells:
            if by := _COMPONENT.fullmatch(cells["message"]):
                cells["process"] = " ".join(filter(None, (cells["process"], by["process"])))
                cells |= {"component": by["component"] or by["logger"] or "", "message": by["message"]}
            elif not cells["process"] and (numbered := _NUMBER.fullmatch(cells["message"])):
                cells |= numbered.groupdict()
            if not cells.get("component") and not cells["process"].isdecimal():
                cells["component"] = cells.pop("process")
        return cells


def _time(text: str) -> str:
    """Return a time as it is found and compared: of a web server in ISO 8601, and with a point behind the seconds.

    Words of a question are not those of ``10/Oct/2025:13:55:36`` nor of ``13:55:36,123``.
    """
    if web := _WEB_TIME.fullmatch(text):
        return f"{web[3]}-{_MONTHS.index(web[2]) + 1:02}-{web[1]} {web[4]}"
    if short := _YEAR_FIRST.fullmatch(text):
        text = "20{}-{}-{} {}:{}:{}".format(*short.groups())
    return _FRACTION.sub(r"\1.", text)


def is_log(table: str) -> bool:
    """Return whether the first line of a table names the columns of a log, as :func:`read_program_log` writes them."""
    columns = set(row_cells(table.partition("\n")[0]))
    return "time" in columns and columns <= _ALL_COLUMNS and not columns.isdisjoint(_BY_PROGRAMS)
