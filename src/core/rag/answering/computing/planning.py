"""Reads a question as one about the records of a collection, or not at all.

Each word of the question has to have a part in what is worked out: it is a cue, names the collection or a field, is a
value, compares, or says nothing (``FILLERS``). A question with any other word asks for something that records do not
tell in this way ("How many customers are happy in Ulm?"), and what is ambiguous is not guessed: a number that answers
another question is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from core.rag.answering.computing.asking import Compared, Question, Span, name_words
from core.rag.answering.computing.cues import FILLERS, JOINING, Cue
from core.rag.answering.computing.seen import Seen, plain_name

Kind = Literal["count", "distinct", "sum", "avg", "list", "top", "highest", "lowest", "most", "fewest"]

_AGGREGATES: Final[dict[Cue, Kind]] = {"sum": "sum", "average": "avg"}
_EXTREMES: Final[dict[Cue, Kind]] = {"highest": "highest", "lowest": "lowest"}
_RANKS: Final[dict[Cue, Kind]] = {"most": "most", "fewest": "fewest"}
_YEARS: Final = (["year"], ["jahr"], ["année"], ["annee"], ["año"])
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
            team has the most cups?" may ask for a sum or for one record.
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


class _Value(NamedTuple):
    span: Span
    spelled: str


@dataclass(slots=True)
class _Names:
    """What the words of a question were found to be."""

    collection: list[Span] = field(default_factory=list)
    fields: list[tuple[Span, str]] = field(default_factory=list)
    values: list[_Value] = field(default_factory=list)


class _Reading:
    def __init__(self, question: Question, seen: Seen) -> None:
        self._question = question
        self._seen = seen
        self._taken: set[int] = set()
        self._names = _Names()
        names = [span for span, _ in seen.named(question)]
        #: Those that are not part of a name, such as "total bill".
        self._cues = [one for one in question.cues if not any(one.span.is_within(span) for span in names)]
        #: Fields that are named for nothing else yet.
        self._free: list[tuple[Span, str]] = []

    def plan(self) -> Plan | None:
        for cue in self._cues:
            self._take(cue.span)
        for compared in self._question.comparisons:
            self._take(compared.span)
        self._find_names()
        self._free = list(self._names.fields)
        conditions = self._conditions()
        if conditions is None or not self._is_covered():
            return None
        grouped = self._grouped()
        return None if grouped is None else self._measured(tuple(conditions), grouped)

    # What the words are.

    def _find_names(self) -> None:
        """Find collection, fields and values; the longest first, names before values.

        What is called like the collection, and is a number, is what is asked for ("the most cups", in ``cups.csv``).
        """
        found: list[tuple[int, int, Span, str]] = []
        found += [(-len(span), 0, span, "") for span in self._question.named(plain_name(self._seen.name))]
        for span, name in self._seen.named(self._question):
            found.append((-len(span), -1 if self._is_number(name) else 1, span, name))
        for spelled, places in self._spelled().items():
            found += [(-len(span), 2, span, spelled) for span in places if not self._is_only_filling(span, spelled)]
        for _, kind, span, name in sorted(found, key=lambda one: (one[0], one[1], one[2].start, len(one[3]))):
            if not self._is_free(span):
                continue
            self._take(span)
            if kind == 0:
                self._names.collection.append(span)
            elif kind in {-1, 1}:
                self._names.fields.append((span, name))
            else:
                self._names.values.append(_Value(span, name))
        self._names.fields.sort(key=lambda one: one[0].start)
        self._names.values.sort()

    def _spelled(self) -> dict[str, list[Span]]:
        there = {spelled for one in self._seen.fields.values() for spelled in one.spelled}
        return {spelled: spans for spelled, spans in self._question.spellings().items() if spelled in there}

    def _is_only_filling(self, span: Span, spelled: str) -> bool:
        """Whether what looks like a value is a word such as "us", unless it is written as the value is (US)."""
        if len(span) > 1 or self._question.words[span.start] not in FILLERS | JOINING:
            return False
        exact = self._question.spelled(span)
        return not any(exact in one.spelled.get(spelled, ()) for one in self._seen.fields.values())

    def _take(self, span: Span) -> None:
        self._taken.update(range(span.start, span.stop))

    def _is_free(self, span: Span) -> bool:
        return self._taken.isdisjoint(range(span.start, span.stop))

    def _is_covered(self) -> bool:
        """Whether every word has a part; "and" and "or" only between two values of one field."""
        joined = {place for _, _, place in self._joined()}
        return all(
            place in self._taken or place in joined or word in FILLERS
            for place, word in enumerate(self._question.words)
        )

    def _joined(self) -> Iterator[tuple[_Value, _Value, int]]:
        """Yield values that follow each other with an "or" between them, and where that stands."""
        for first, second in zip(self._names.values, self._names.values[1:], strict=False):
            between = range(first.span.stop, second.span.start)
            joining = [place for place in between if self._question.words[place] in JOINING]
            others = [place for place in between if place not in joining]
            if len(joining) == 1 and all(self._is_filling(place) for place in others):
                yield first, second, joining[0]

    def _is_filling(self, place: int) -> bool:
        return place not in self._taken and self._question.words[place] in FILLERS

    def _adjoin(self, first: Span, second: Span) -> bool:
        """Whether nothing but words that say nothing stands between two places, the first before the second."""
        return first.stop <= second.start and all(map(self._is_filling, range(first.stop, second.start)))

    def _is_number(self, name: str) -> bool:
        return self._seen.fields[name].is_number

    # Which records.

    def _conditions(self) -> list[Condition] | None:
        """Return the conditions; ``None`` if it is not clear which field a value or a number belongs to."""
        values: dict[str, list[str]] = {}
        chosen: dict[Span, str] = {}
        for value in self._names.values:
            name = self._field_of(value)
            if name is None:
                return None
            chosen[value.span] = name
            values.setdefault(name, []).extend(sorted(self._seen.fields[name].spelled[value.spelled]))
        joined = list(self._joined())
        if any(chosen[first.span] != chosen[second.span] for first, second, _ in joined):
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
        return conditions + list(self._years())

    def _years(self) -> Iterator[Condition]:
        """Yield conditions of years that are no values, if one field alone has years."""
        of_years = self._of_years()
        for place, word in enumerate(self._question.words):
            if place not in self._taken and of_years is not None and _YEAR.fullmatch(word):
                self._taken.add(place)
                yield Condition(of_years, "=", (int(word),))

    def _of_years(self) -> str | None:
        """Return the only field with dates, or called year."""
        fields = self._seen.fields.items()
        dates = [name for name, seen in fields if seen.is_date]
        dates = dates or [name for name, seen in fields if seen.is_number and name_words(name)[-1:] in _YEARS]
        return dates[0] if len(dates) == 1 else None

    def _field_of(self, value: _Value) -> str | None:
        """Return the field that a value is of: the only one that has it, or the one that is named beside it."""
        having = [name for name, seen in self._seen.fields.items() if value.spelled in seen.spelled]
        for place, (span, name) in enumerate(self._free):
            if name in having and (self._adjoin(span, value.span) or self._adjoin(value.span, span)):
                del self._free[place]
                return name
        return having[0] if len(having) == 1 else None

    def _field_compared(self, compared: Compared) -> str | None:
        """Return the field that is named before or behind a comparison; of a year also the only one that has years."""
        for place, (span, name) in enumerate(self._free):
            seen = self._seen.fields[name]
            if (seen.is_number or seen.is_date) and (
                self._adjoin(span, compared.span) or self._adjoin(compared.span, span)
            ):
                del self._free[place]
                return name
        return self._of_years() if _YEAR.fullmatch(str(compared.number)) else None

    # What of them.

    def _grouped(self) -> str | None:
        """Return the field to group by, which stands behind "per"; empty: none, ``None``: not clear which."""
        group = ""
        for found in self._cues:
            if found.cue != "per":
                continue
            place = next((i for i, (span, _) in enumerate(self._free) if self._adjoin(found.span, span)), None)
            if place is None or group:
                return None
            group = self._free.pop(place)[1]
        return group

    def _measured(self, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        cues = [one.cue for one in self._cues if one.cue != "per"]
        if "count" in cues:  # "how many in total"
            cues = [cue for cue in cues if cue != "sum"]
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
        name = self._free[0][1]
        # "How many units" adds up what is a number; "how many cities" counts values.
        return Plan("sum" if self._is_number(name) and not distinct else "distinct", name, group, conditions)

    def _of_one_field(self, kind: Kind, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        if len(self._free) != 1 or not self._is_number(self._free[0][1]):
            return None
        return Plan(kind, self._free[0][1], group, conditions)

    def _extreme(self, cue: Cue, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        """Return the record with the highest value; another field may be named before ("which customer has …")."""
        measured = [name for _, name in self._free if self._is_number(name)]
        if len(measured) != 1 or len(self._free) > 2 - bool(group) or self._free[-1][1] != measured[0]:
            return None
        return Plan(_EXTREMES[cue], measured[0], group, conditions)

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
        (_, group), (_, measured) = self._free
        if not self._is_number(measured) or group == measured:
            return None
        return Plan(aggregate, measured, group, conditions, extreme)
