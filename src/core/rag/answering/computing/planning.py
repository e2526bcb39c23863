"""Reads a question as one about the records of a collection, or not at all.

Each word of the question has to have a part in what is worked out: it is a cue, names the collection or a field, is a
value, compares, or says nothing (``FILLERS``). A question with any other word asks for something that records do not
tell in this way ("How many customers are happy in Ulm?"), and what is ambiguous is not guessed: a number that answers
another question is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.rag.answering.computing.asking import Compared, Question, Span, name_words
from core.rag.answering.computing.cues import ALL_OF, ASKING, Cue, words_of
from core.rag.answering.computing.naming import Naming, Value
from core.rag.answering.computing.seen import YES_OR_NO, Seen, is_shortened
from core.rag.retrieval.tables.amounts import amount, plain_number

Kind = Literal["count", "distinct", "sum", "avg", "list", "top", "highest", "lowest", "most", "fewest"]

_AGGREGATES: Final[dict[Cue, Kind]] = {"sum": "sum", "average": "avg"}
_EXTREMES: Final[dict[Cue, Kind]] = {"highest": "highest", "lowest": "lowest"}
_RANKS: Final[dict[Cue, Kind]] = {"most": "most", "fewest": "fewest"}
_YEARS: Final = (["year"], ["jahr"], ["année"], ["annee"], ["año"])
#: Fields with dates that are not when something was, but since or until when it is.
_OTHER_TIMES: Final = words_of(
    "birth born birthday birthdate dob due expiry expires expiration valid until end updated modified geburtsdatum "
    "naissance nacimiento"
)
#: In such a year, there were others, too, than those that began in it.
_BEGINNINGS: Final = words_of("since hire hired join joined start started founded entry seit depuis desde")
#: What stands before who did something, as well as before what to group by, and before "me".
_BY: Final = frozenset({"by", "par", "por"})
_YEAR: Final = re.compile(r"[12]\d{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """What records have to fulfil: a value of a field is one of some, or compares with a number."""

    field: str
    sign: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be worked out.

    Attributes:
        kind: ``count``; ``distinct`` values, ``sum``, ``avg``, ``highest`` or ``lowest`` of ``field``; with
            ``group_by``, for each of its values; ``most`` or ``fewest``: the value of ``group_by`` with most records.
        field: The field that is measured; empty for a count.
        group_by: The field to group by; may be empty.
        conditions: Only records that fulfil all of them.
        limit: How many records ``top`` wants.
        unique: A field of which each record has to have a value of its own, else the question has two readings: "Which
            team has the most cups?" may ask for a sum or for one record. The ``highest`` and ``lowest`` are told also
            if both readings have the same answer.
        first: For ``sum`` and ``avg`` by ``group_by``, only the group with the ``highest`` or ``lowest`` result.
    """

    kind: Kind
    field: str = ""
    group_by: str = ""
    conditions: tuple[Condition, ...] = ()
    first: Kind | None = None
    limit: int = 0
    unique: str = ""


def plan(question: Question, seen: Seen) -> Plan | None:
    """Return what a question asks of a collection; ``None`` if it is not surely about its records."""
    return _Reading(question, seen).plan()


class _Reading(Naming):
    def plan(self) -> Plan | None:
        for cue in self._cues:
            self._take(cue.span)
        for compared in self._question.comparisons:
            self._take(compared.span)
        self._find_names()
        if self._is_unclear() or self._is_of_asker() or self._is_number_of_one():
            return None
        self._free = list(self._names.fields)
        conditions = self._conditions()
        if conditions is None or not self._is_covered():
            return None
        grouped = self._grouped()
        truths = self._truths() if grouped is not None else None
        if grouped is None or truths is None:
            return None
        found = self._measured((*conditions, *truths), grouped)
        if found is None or self._crosses_items(found):
            return None
        fixed = {one.field for one in found.conditions if one.sign == "=" and len(one.values) == 1} | {found.group_by}
        added = found.field if found.kind not in {"distinct", "count", "list"} else ""
        return found if not added or self._seen.compares(added, fixed) else None

    # Which records.

    def _conditions(self) -> list[Condition] | None:
        """Return the conditions; ``None`` if it is not clear which field a value or a number belongs to."""
        values: dict[str, list[Any]] = {}
        chosen: dict[Span, str] = {}
        for value in self._names.values:
            name = self._field_of(value)
            if name is None:
                return None
            chosen[value.span] = name
            seen = self._seen.fields[name]
            number = amount(value.spelled) if seen.is_number else None
            found = _as_stored(seen.spelled[value.spelled]) if number is None else [plain_number(number)]
            values.setdefault(name, []).extend(found)
        joined = list(self._joined())
        for first, second, place in joined:
            name = chosen[first.span]
            if name != chosen[second.span]:
                return None
            if self._seen.fields[name].many and self._question.words[place] in ALL_OF:  # of one list, one or both
                return None
        # Two values of one field, without "or" between them, is no record that has both.
        if len(self._names.values) - len(joined) != len(values):
            return None
        conditions = [Condition(name, "=", tuple(found)) for name, found in values.items()]
        for compared in self._question.comparisons:
            name = self._field_compared(compared)
            if name is None:
                return None
            conditions.append(Condition(name, compared.sign, (compared.number,)))
        conditions += self._years()
        tested = [(one.field, "" if one.field in values else one.sign[0]) for one in conditions]
        equal = {one.field for one in conditions if one.sign == "="}
        if len(set(tested)) < len(tested) or any(one.field in equal and one.sign != "=" for one in conditions):
            return None  # "from 2023 to 2024", "2022 or 2023"
        return conditions

    def _years(self) -> Iterator[Condition]:
        """Yield conditions of years that are no values, if one field alone has years."""
        of_years = self._of_years(_OTHER_TIMES | _BEGINNINGS)
        for place, word in enumerate(self._question.words):
            if place not in self._taken and of_years is not None and _YEAR.fullmatch(word):
                self._taken.add(place)
                yield Condition(of_years, "=", (int(word),))

    def _of_years(self, others: frozenset[str]) -> str | None:
        """Return the only field with dates, or called year; unless it is of other times than of what is asked."""
        found = [name for name, seen in self._seen.fields.items() if seen.is_date or self._is_year(name)]
        return found[0] if len(found) == 1 and others.isdisjoint(name_words(found[0])) else None

    def _is_year(self, name: str) -> bool:
        return self._is_number(name) and name_words(name)[-1:] in _YEARS

    def _field_of(self, value: Value) -> str | None:
        """Return the field that a value is of: the only one that has it, or the one that is named beside it."""
        having = [name for name, seen in self._seen.fields.items() if value.spelled in seen.spelled]
        for place, (span, name) in enumerate(self._free):
            if name in having and (self._adjoin(span, value.span) or self._adjoin(value.span, span)):
                del self._free[place]
                return name
        if len(having) != 1 or value.spelled in YES_OR_NO:
            return None
        # A bare number may be anything ("sales of 10").
        bare = self._is_number(having[0]) and amount(value.spelled) is not None and not self._is_year(having[0])
        return None if bare else having[0]

    def _field_compared(self, compared: Compared) -> str | None:
        """Return the field that is named before or behind a comparison; of a year also the only one that has years."""
        for place, (span, name) in enumerate(self._free):
            seen = self._seen.fields[name]
            if (seen.is_number or seen.is_date) and (
                self._adjoin(span, compared.span) or self._adjoin(compared.span, span)
            ):
                del self._free[place]
                return name
        is_time = compared.of_time and _YEAR.fullmatch(str(compared.number))
        return self._of_years(_OTHER_TIMES) if is_time else None

    # What of them.

    def _grouped(self) -> str | None:
        """Return the field to group by, which stands behind "per"; empty: none, ``None``: not clear which."""
        group = ""
        for found in self._cues:
            if found.cue != "per":
                continue
            place = next((i for i, (span, _) in enumerate(self._free) if self._adjoin(found.span, span)), None)
            if place is None and self._is_by_value(found.span):
                continue
            if place is None or group:
                return None
            span, group = self._free.pop(place)
            is_name = self._question.words[span.stop - 1] in name_words(group)[-1:]
            if self._is_number(group) and not is_name:  # "revenue per employee", of their number
                return None
        return group

    def _is_by_value(self, span: Span) -> bool:
        """Whether "by" tells who did something."""
        return self._question.words[span.start : span.stop][0] in _BY and any(
            self._adjoin(span, value.span) for value in self._names.values
        )

    def _truths(self) -> list[Condition] | None:
        """Return the conditions that are the name of a field alone, which says yes ("active"); none: nothing is yes."""
        asked = [] if any(one.cue == "distinct" for one in self._cues) else self._free
        names = [name for _, name in asked if self._seen.fields[name].is_yes_or_no]
        self._free = [(span, name) for span, name in self._free if name not in names]
        yes = {name: tuple(_as_stored(self._seen.fields[name].yes)) for name in names}
        return [Condition(name, "=", values) for name, values in yes.items()] if all(yes.values()) else None

    def _crosses_items(self, found: Plan) -> bool:
        """Whether a condition is of one item of a list, and another or what is measured might be of another item."""
        names = [one.field for one in found.conditions]
        tested = {name.partition(".")[0] for name in names if "." in name and self._seen.fields[name].many}
        named = dict.fromkeys(name for name in (*names, found.field, found.group_by) if name)
        firsts = [name.partition(".")[0] for name in named]
        return any(firsts.count(first) > 1 for first in tested)

    def _measured(self, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        cues = [one.cue for one in self._cues if one.cue != "per"]
        if "count" in cues:  # "how many in total"
            cues = [cue for cue in cues if cue != "sum"]
        if "much" in cues:  # "how much revenue", but not "how much is the price"
            directly = any(
                one.cue == "much" and one.span.stop == span.start for one in self._cues for span, _ in self._free
            )
            if not directly and "sum" not in cues:
                return None
            cues = ["sum" if cue == "much" else cue for cue in cues]
        distinct = "distinct" in cues
        kinds = set(cues) - {"distinct"}
        if kinds == {"count"}:
            return self._counted(conditions, group, distinct=distinct)
        if distinct:
            return None
        if not kinds and self._question.comparisons and not group and not self._free:
            return Plan("list", "", "", conditions) if self._names.collection else None
        if kinds == {"top"}:
            return self._top(conditions, group)
        if len(kinds) == 1:
            (cue,) = kinds
            if cue in _AGGREGATES:
                return self._of_one_field(_AGGREGATES[cue], conditions, group)
            if cue in _EXTREMES:
                return self._extreme(cue, conditions, group)
            return self._ranked(cue, conditions) if cue in _RANKS and not group else None
        if len(kinds) == 2:  # "which city has the highest average revenue"
            aggregate = next((_AGGREGATES[cue] for cue in kinds if cue in _AGGREGATES), None)
            extreme = next((_EXTREMES[cue] for cue in kinds if cue in _EXTREMES), None)
            if aggregate and extreme and not group:
                return self._first_group(aggregate, extreme, conditions)
        return None

    def _counted(self, conditions: tuple[Condition, ...], group: str, *, distinct: bool) -> Plan | None:
        if not self._free:
            return Plan("count", "", group, conditions) if self._names.collection and not distinct else None
        if len(self._free) > 1:
            return None
        span, name = self._free[0]
        if not self._is_counted(span):  # "how many customers have a city"
            return None
        # "How many units" adds up what is a number; "how many cities" counts values, and so does "how many orders" the
        # numbers in a field "order".
        added = self._is_number(name) and not distinct and self._question.words[span.stop - 1] in name_words(name)[-1:]
        added = added and not self._is_year(name)
        if added and is_shortened(name, span):  # "how many users" of lost_users
            return None
        return Plan("sum" if added else "distinct", name, group, conditions)

    def _is_counted(self, span: Span) -> bool:
        """Whether a name stands behind "how many", with values or "different" between at most."""
        between = [one.span for one in self._cues if one.cue == "distinct"] + [one.span for one in self._names.values]
        allowed = {place for one in between for place in range(one.start, one.stop)}
        return any(
            one.cue == "count"
            and one.span.stop <= span.start
            and all(place in allowed or self._is_filling(place) for place in range(one.span.stop, span.start))
            for one in self._cues
        )

    def _of_one_field(self, kind: Kind, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        free = self._free
        if not free and kind == "sum" and self._names.collection:  # "the total of all sales", which have a total
            totals = [one.span for one in self._cues if one.cue == "sum"]
            free = [(span, name) for span, name in self._named if any(span in (one, one.first) for one in totals)]
        if (
            len(free) != 1
            or not self._is_number(free[0][1])
            or (kind == "sum" and is_shortened(free[0][1], free[0][0]))
        ):
            return None
        return Plan(kind, free[0][1], group, conditions)

    def _extreme(self, cue: Cue, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        """Return the record with the highest value; another field may be named before ("which customer has …")."""
        measured = [name for _, name in self._free if self._is_number(name)]
        if len(measured) != 1 or len(self._free) > 2 - bool(group) or self._free[-1][1] != measured[0]:
            return None
        unique = ""
        if len(self._free) == 2:
            (before, unique), (behind, _) = self._free
            mark = next(one.span for one in self._cues if one.cue == cue)
            if before.stop > mark.start or mark.stop > behind.start:
                return None
        return Plan(_EXTREMES[cue], measured[0], group, conditions, unique=unique)

    def _top(self, conditions: tuple[Condition, ...], field: str) -> Plan | None:
        """Return "the top 5 customers by revenue"."""
        if not self._names.collection or self._free or not field or not self._is_number(field):
            return None
        top = next(one.span for one in self._cues if one.cue == "top")
        limit = int(self._question.words[top.stop - 1])
        return Plan("top", field, "", conditions, limit=limit) if limit else None

    def _ranked(self, cue: Cue, conditions: tuple[Condition, ...]) -> Plan | None:
        """Return "which city has the most customers", or "which customer has the most revenue"."""
        kind: Kind = "highest" if cue == "most" else "lowest"
        if len(self._free) == 2 and not self._names.collection:
            (_, unique), (_, measured) = self._free
            return Plan(kind, measured, "", conditions, unique=unique) if self._is_number(measured) else None
        if len(self._free) != 1:
            return None
        span, name = self._free[0]
        mark = next(one.span for one in self._cues if one.cue == cue)
        behind = [one for one in self._names.collection if mark.stop <= one.start]
        before = [one for one in self._names.collection if one.stop <= mark.start]
        if span.stop <= mark.start and behind and not before:
            return Plan(_RANKS[cue], "", name, conditions)
        if mark.stop <= span.start and before and not behind and self._is_number(name):
            return Plan(kind, name, "", conditions)
        return None

    def _first_group(self, aggregate: Kind, extreme: Kind, conditions: tuple[Condition, ...]) -> Plan | None:
        if len(self._free) != 2:
            return None
        (before, group), (behind, measured) = self._free
        marks = [one.span for one in self._cues if one.cue in ASKING]
        if any(mark.start < before.stop or behind.start < mark.stop for mark in marks):
            return None
        if (
            not self._is_number(measured)
            or group == measured
            or (aggregate == "sum" and is_shortened(measured, behind))
        ):
            return None
        return Plan(aggregate, measured, group, conditions, extreme)


def _as_stored(texts: Iterable[str]) -> list[Any]:
    """Return values as records may have them: what is shown as true may be true itself."""
    found: list[Any] = sorted(texts)
    return found + [text == "true" for text in found if text in {"true", "false"}]
