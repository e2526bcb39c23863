"""Reads a question as one about the records of a collection, or not at all.

Each word of the question has to have a part in what is worked out: it is a cue, names the collection or a field, is a
value, compares, or says nothing (``FILLERS``). A question with any other word asks for something that records do not
tell in this way ("How many customers are happy in Ulm?"), and what is ambiguous is not guessed: a number that answers
another question is worse than none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from core.rag.answering.computing.calling import is_shortened, main_word, numbered
from core.rag.answering.computing.conditions import Condition, as_stored
from core.rag.answering.computing.cues import BY, IN_TIME, POINTING, Cue
from core.rag.answering.computing.plans import Kind, Plan
from core.rag.answering.computing.question import Question, Span
from core.rag.answering.computing.ranking import EXTREMES, RANKS, Ranking
from core.rag.answering.computing.seen import Seen
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS

_AGGREGATES: Final[dict[Cue, Kind]] = {"sum": "sum", "average": "avg", "median": "median"}
#: What may be asked of what each record of a named collection is called: "the total revenue of all firms in the list".
_OF_ALL: Final = frozenset({"sum", "avg", "median", "highest", "lowest"})
_FREQUENT: Final[dict[Cue, Kind]] = {"frequent": "most", "rare": "fewest"}
_OF_SOME: Final[dict[Cue, Kind]] = {"more": "most", "fewer": "fewest", "higher": "highest", "lower": "lowest"}
#: What needs no numbers.
_COUNTED: Final = frozenset({"distinct", "count", "share", "list", "latest", "earliest"})


def plan(question: Question, seen: Seen) -> Plan | None:
    """Return what a question asks of a collection; ``None`` if it is not surely about its records."""
    reading = Reading(question, seen)
    found = reading.plan()
    series = {name for name, field in seen.fields.items() if seen.name == DOCUMENTS and field.is_number}
    names = reading.named_fields
    if found is None:
        numbers = [name for name in seen.fields if (thing := numbered(name)) and question.named(thing)]
        return _plan_of_rows(question, seen, [*numbers, *names], {*series, *numbers}, reading)
    if found.field in series:
        return _plan_of_rows(question, seen, [found.field], series, reading)
    if found.kind in IN_TIME:  # "the latest EIP" is no other document
        return _plan_of_rows(question, seen, [name for name in names if name in series], series, reading) or found
    return found


def _plan_of_rows(
    question: Question, seen: Seen, names: Iterable[str], series: Collection[str], reading: Reading
) -> Plan | None:
    """Return what a question asks that calls the records by one of some fields; ``None`` if that is not sure.

    Args:
        question: The question.
        seen: The collection.
        names: The fields.
        series: Those with the numbers of documents, or of what the question calls the records.
        reading: The question, read otherwise.
    """
    for name in names:
        field = seen.fields[name]
        # "Which players have no points", "which PEPs are withdrawn", each of which has a number
        if name in series or not (field.is_number or field.is_date or field.is_yes_or_no):
            found = Reading(question, seen, name).plan()
            is_clear = not reading.names_collection or (found is not None and found.kind in _OF_ALL)
            if found is not None and not found.unique and is_clear:
                # Other documents have no such number.
                is_series = name in series and seen.name == DOCUMENTS
                has_one = (Condition(name, "!=", (None,)),) if is_series and field.values < seen.records else ()
                return replace(found, unique=name, conditions=(*found.conditions, *has_one))
    return None


class Reading(Ranking):
    """A question about the records of a collection."""

    def plan(self) -> Plan | None:
        """Return what it asks; ``None`` if it is not surely about the records."""
        self._find_names()
        if self._is_unclear() or self._is_of_asker() or self._is_number_of_one():
            return None
        self._free = list(self._names.fields)
        conditions = self.conditions()
        self._find_units()
        self._find_order()
        if conditions is None or not self._is_covered():
            return None
        grouped = self._grouped()
        truths = self._truths() if grouped is not None else None
        if grouped is None or truths is None:
            return None
        found = self._measured((*conditions, *truths), grouped)
        return self._sound(found) if found is not None else None

    def _sound(self, found: Plan) -> Plan | None:
        """Return a plan; ``None`` if what it comes to may be something else than it says."""
        if self._crosses_items(found):
            return None
        fixed = {one.field for one in found.conditions if one.sign == "=" and len(one.values) == 1} | {found.group_by}
        added = found.field if found.kind not in _COUNTED else ""
        return found if not added or self._seen.compares(added, fixed) else None

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
            is_name = self._question.words[span.stop - 1] == main_word(group)
            if self._is_number(group) and not is_name:  # "revenue per employee", of their number
                return None
        return group

    def _is_by_value(self, span: Span) -> bool:
        """Whether "by" tells who did something."""
        return self._question.words[span.start : span.stop][0] in BY and any(
            self._adjoin(span, value.span) for value in self._names.values
        )

    def _truths(self) -> list[Condition] | None:
        """Return the conditions that are the name of a field alone, which says yes ("active"); none: nothing is yes."""
        asked = [] if any(one.cue == "distinct" for one in self._cues) else self._free
        names = [name for _, name in asked if self._field(name).is_yes_or_no]
        self._free = [(span, name) for span, name in self._free if name not in names]
        yes = {name: tuple(as_stored(self._seen.fields[name].yes)) for name in names}
        return [Condition(name, "=", values) for name, values in yes.items()] if all(yes.values()) else None

    def _crosses_items(self, found: Plan) -> bool:
        """Whether a condition is of one item of a list, and another or what is measured might be of another item."""
        names = [one.field for one in found.conditions]
        tested = {name.partition(".")[0] for name in names if "." in name and self._seen.fields[name].many}
        named = dict.fromkeys(name for name in (*names, found.field, found.group_by) if name)
        firsts = [name.partition(".")[0] for name in named]
        return any(firsts.count(first) > 1 for first in tested)

    def _measured(self, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        cues: list[Cue] = [one.cue for one in self._cues if one.cue != "per"]
        if "count" in cues:  # "how many in total"
            cues = [cue for cue in cues if cue != "sum"]
        if "much" in cues:  # "how much revenue", but not "how much is the price"
            directly = self._is_spent() or any(
                one.cue == "much" and one.span.stop == span.start for one in self._cues for span, _ in self._free
            )
            if not directly and "sum" not in cues:
                return None
            cues = ["sum" if cue == "much" else cue for cue in cues]
        distinct = "distinct" in cues
        kinds = set(cues) - {"distinct"}
        if any(cues.count(cue) > 1 for cue in EXTREMES):  # "the highest distance at maximum"
            return None
        if kinds == {"share"}:
            return self._shared(conditions, group) if not distinct else None
        if kinds == {"count"}:
            return self._counted(conditions, group, distinct=distinct)
        if distinct:
            return None
        if not kinds and conditions and not group and not self._free:
            return Plan("list", "", "", conditions) if self._names.collection else None
        if not kinds and not group and (self._names.collection or not conditions) and self._lists_values():
            return Plan("count", "", self._free[0][1], conditions)
        if kinds == {"top"}:
            return self._top(conditions, group)
        if len(kinds) == 1:
            (cue,) = kinds
            if cue in _AGGREGATES:
                return self._of_one_field(_AGGREGATES[cue], conditions, group)
            if cue in EXTREMES:
                return self._extreme(cue, conditions, group)
            if cue in IN_TIME and not group:
                return self._in_time(cue, conditions)
            if cue in _FREQUENT and not group and len(self._free) == 1:  # "the most common status"
                return Plan(_FREQUENT[cue], "", self._free[0][1], conditions)
            if cue in _OF_SOME and not group:
                return self._of_some(_OF_SOME[cue], conditions)
            return self._ranked(cue, conditions) if cue in RANKS and not group else None
        if len(kinds) == 2:  # "which city has the highest average revenue"
            aggregate = next((_AGGREGATES[cue] for cue in kinds if cue in _AGGREGATES), None)
            extreme = next((EXTREMES[cue] for cue in kinds if cue in EXTREMES), None)
            if aggregate and extreme and not group:
                return self._first_group(aggregate, extreme, conditions)
        return None

    def _lists_values(self) -> bool:
        """Whether a list of the values of a field is asked for: "which donors are there", "list the statuses"."""
        if len(self._free) != 1 or not any(one.cue == "which" for one in self._question.cues):
            return False
        span, name = self._free[0]
        field = self._field(name)
        # "Which city is it?" goes on with something else.
        return (
            self._is_plural(span)
            and not (field.is_number or field.is_date)
            and POINTING.isdisjoint(self._question.words)
        )

    def _shared(self, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        """Return "what percentage of customers are in Ulm"; of two conditions, one may be what the share is of."""
        mark = next(one.span for one in self._cues if one.cue == "share")
        of = [span for span in self._names.collection if self._adjoin(mark, span)]
        if group or self._free or len(conditions) != 1 or not of:
            return None
        told = [value.span for value in self._names.values] + [one.span for one in self._compared]
        return Plan("share", "", "", conditions) if all(of[0].stop <= span.start for span in told) else None

    def _counted(self, conditions: tuple[Condition, ...], group: str, *, distinct: bool) -> Plan | None:
        if not self._free:
            is_told = self._names.collection or self._counts_values()
            return Plan("count", "", group, conditions) if is_told and not distinct else None
        if len(self._free) > 1:
            return None
        span, name = self._free[0]
        if not self._is_counted(span):  # "how many customers have a city"
            return None
        # "How many units" adds up what is a number; "how many cities" counts values, and so does "how many orders" the
        # numbers in a field "order".
        added = self._is_number(name) and not distinct and self._question.words[span.stop - 1] == main_word(name)
        added = added and not self.is_year(name)
        if added and is_shortened(name, span):  # "how many users" of lost_users
            return None
        return Plan("sum" if added else "distinct", name, group, conditions)

    def _counts_values(self) -> bool:
        """Whether "how many" is about what records are: "how many engineers"."""
        counts = [one.span for one in self._cues if one.cue == "count"]
        several = [value.span for value in self._names.values if value.span in self._several]
        return any(self._adjoin(count, span) for count in counts for span in several)

    def _is_counted(self, span: Span) -> bool:
        """Whether a name stands behind "how many", with values or "different" between at most."""
        between = [one.span for one in self._cues if one.cue == "distinct"] + [one.span for one in self._names.values]
        allowed = self._places(between)
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
            if not free and (amount := self._amount_of(totals[0])):  # "total expenses"
                return Plan(kind, amount, group, conditions)
        if (
            len(free) != 1
            or not self._is_number(free[0][1])
            or (kind == "sum" and is_shortened(free[0][1], free[0][0]))
        ):
            return None
        return Plan(kind, free[0][1], group, conditions)
