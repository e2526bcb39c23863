"""Plans what comes first or last: the highest, the most, the latest, of records or groups of them."""

from __future__ import annotations

from typing import Final

from core.rag.answering.computing.calling import PAID, SPENDING, is_shortened, main_word
from core.rag.answering.computing.conditions import Condition
from core.rag.answering.computing.cues import ASKING, PERSONS, WHO, Cue
from core.rag.answering.computing.in_time import InTime
from core.rag.answering.computing.plans import Kind, Plan
from core.rag.answering.computing.question import Span

EXTREMES: Final[dict[Cue, Kind]] = {"highest": "highest", "lowest": "lowest"}
RANKS: Final[dict[Cue, Kind]] = {"most": "most", "fewest": "fewest"}
_TIMES: Final[dict[Cue, Kind]] = {"latest": "latest", "earliest": "earliest"}
#: How many "the latest orders" are.
_SOME: Final = 5


class Ranking(InTime):
    """What of the records of a collection comes first."""

    def _extreme(self, cue: Cue, conditions: tuple[Condition, ...], group: str) -> Plan | None:
        """Return the record with the highest value; another field may be named before ("which customer has …")."""
        mark = self._mark(cue)
        if not self._free and (amount := self._amount_of(mark)):
            return Plan(EXTREMES[cue], amount, group, conditions)
        measured = [name for _, name in self._free if self._is_number(name)]
        if len(measured) != 1 or len(self._free) > 2 - bool(group) or self._free[-1][1] != measured[0]:
            return None
        unique = ""
        if len(self._free) == 2:
            (before, unique), (behind, _) = self._free
            if before.stop > mark.start or mark.stop > behind.start:
                return None
        return Plan(EXTREMES[cue], measured[0], group, conditions, unique=unique)

    def _in_time(self, cue: Cue, conditions: tuple[Condition, ...]) -> Plan | None:
        """Return "the latest order", "the latest price of Acme", or "the last 5 orders"."""
        if not self._order or len(self._free) > 1:
            return None
        is_measured = any(
            self._is_number(name) for _, name in self._free
        )  # "the latest status" may be that of anything
        if not (self._names.collection or self._is_order_named or is_measured or (self._free and conditions)):
            return None
        if any(one.field == self._order and one.sign == "=" and self.is_year(one.field) for one in conditions):
            return None  # all of them are of that year
        mark = self._mark(cue)
        numbers = [int(word) for word in self._question.words[mark.start : mark.stop] if word.isdecimal()]
        several = any(self._leads(mark, span) and self._is_plural(span) for span in self._names.collection)
        limit = next(iter(numbers), _SOME if several else 0)
        return Plan(_TIMES[cue], self._order, "", conditions, limit=limit)

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
        if WHO.intersection(self._question.words[:1]):
            return self._person(cue, kind, conditions)
        if len(self._free) == 2 and not self._names.collection and self._is_spent():  # "which vendor did we pay most"
            (_, group), (_, measured) = self._free
            return Plan("sum", measured, group, conditions, kind) if not self._is_number(group) else None
        if len(self._free) == 2 and not self._names.collection:
            (_, unique), (_, measured) = self._free
            return Plan(kind, measured, "", conditions, unique=unique) if self._is_number(measured) else None
        if len(self._free) != 1:
            return None
        span, name = self._free[0]
        mark = self._mark(cue)
        behind = [one for one in self._names.collection if mark.stop <= one.start]
        before = [one for one in self._names.collection if one.stop <= mark.start]
        if span.stop <= mark.start and behind and not before:
            return Plan(RANKS[cue], "", name, conditions)
        if mark.stop <= span.start and before and not behind and self._is_number(name):
            return Plan(kind, name, "", conditions)
        return None

    def _person(self, cue: Cue, kind: Kind, conditions: tuple[Condition, ...]) -> Plan | None:
        """Return "who has the most open tickets", "who spent the most", "who earns most", or "who wrote the most"."""
        named = [name for name in self._seen.fields if main_word(name) == "name"]
        persons = [name for name in self._seen.fields if main_word(name) in PERSONS]
        person = persons[0] if len(persons) == 1 else ""
        if not self._free:
            return Plan(RANKS[cue], "", person, conditions) if person and self._names.collection else None
        (span, name), *others = self._free
        if others or self._field(name).is_date:
            return None
        if not self._is_number(name):
            return Plan(RANKS[cue], "", name, conditions) if self._names.collection else None
        if self._is_spent():
            return Plan("sum", name, person, conditions, kind) if person else None
        unique = named[0] if len(named) == 1 else person
        if not unique or (self._names.collection and not self._adjoin(self._mark(cue), span)):
            return None
        return Plan(kind, name, "", conditions, unique=unique)

    def _amount_of(self, mark: Span) -> str:
        """Return the only field with amounts, if what a mark stands before has an amount: "the largest expense"."""
        amounts = self._seen.amounts()
        told = [span for span in self._names.collection if self._describes(mark, span)]
        is_paid = any(self._question.words[span.stop - 1] in PAID for span in told)
        return amounts[0] if is_paid and len(amounts) == 1 else ""

    def _describes(self, mark: Span, span: Span) -> bool:
        """Whether nothing but values and fields stands between a mark and a place: "the largest travel expense"."""
        told = self._places([one.span for one in self._names.values] + [named for named, _ in self._names.fields])
        between = range(mark.stop, span.start)
        return mark.stop <= span.start and all(place in told or self._is_filling(place) for place in between)

    def _mark(self, cue: Cue) -> Span:
        return next(one.span for one in self._cues if one.cue == cue)

    def _is_spent(self) -> bool:
        """Whether a field is named by what is done with amounts."""
        return any(self._question.words[span.start] in SPENDING for span, _ in self._free)

    def _of_some(self, kind: Kind, conditions: tuple[Condition, ...]) -> Plan | None:
        """Return "which city has more customers, Berlin or Ulm", or "who has more revenue, Acme or Brix"."""
        among = [one.field for one in conditions if one.sign == "=" and len(one.values) > 1]
        free = [name for _, name in self._free if name not in among]
        if len(among) != 1 or len(free) > 1:
            return None
        if not free:
            counts = kind in {"most", "fewest"} and self._names.collection
            return Plan(kind, "", among[0], conditions) if counts else None
        if not self._is_number(free[0]):
            return None
        return Plan("highest" if kind in {"most", "highest"} else "lowest", free[0], "", conditions, unique=among[0])

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

    def _is_plural(self, span: Span) -> bool:
        last = self._question.words[span.stop - 1]
        return any(last.endswith(ending) for ending, _ in self._question.language.plurals)
