"""Finds which records of a collection a question is about: what they have to fulfil."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from core.rag.answering.computing.calling import done, is_shortened
from core.rag.answering.computing.cues import ALL_OF, LACKING, NEGATING, words_of
from core.rag.answering.computing.naming import Naming, Value
from core.rag.answering.computing.question import (
    MAX_VALUE_WORDS,
    YEAR,
    Compared,
    DayOfAnyYear,
    Span,
    name_words,
    senses,
)
from core.rag.answering.computing.seen import EVENTS, SAMPLED, YES_OR_NO, SeenField
from core.rag.extraction.amounts import amount, plain_number

#: Fields with dates that are not when something was, but since or until when it is.
_OTHER_TIMES: Final = words_of(
    "birth born birthday birthdate dob due expiry expires expiration valid until end updated modified geburtsdatum "
    "naissance nacimiento"
)
#: In such a year, there were others, too, than those that began in it.
_BEGINNINGS: Final = words_of("since hire hired join joined start started founded entry seit depuis desde")
#: What the name of a date has besides what happened then: ``hire_date``, ``created_at``.
_OF_DATES: Final = words_of("date day at on time timestamp year datum tag jahr jour année annee fecha año")
#: What stands before what a message says, or is what they are in.
_SAYING: Final = words_of(
    "contain contains containing mention mentions mentioning say says saying match matches matching about "
    "channel chat conversation group"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What records have to fulfil: a value of a field is one of some, is in a month or on a day, or compares."""

    field: str
    sign: str
    values: tuple[Any, ...]


class Conditions(Naming):
    """What records have to fulfil, for one collection."""

    def conditions(self) -> list[Condition] | None:
        """Return the conditions; ``None`` if it is not clear which field a value or a number belongs to."""
        values: dict[str, list[Any]] = {}
        chosen: dict[Span, str] = {}
        for value in self._names.values:
            name = self._field_of(value)
            if name is None or value.spelled in self._seen.fields[name].beside:  # also in cells with others
                return None
            chosen[value.span] = name
            seen = self._seen.fields[name]
            number = amount(value.spelled) if seen.is_number else None
            found = as_stored(seen.spelled[value.spelled]) if number is None else [plain_number(number)]
            values.setdefault(name, []).extend(found)
        joined = 0
        for first, second, place in self._joined():
            name = chosen[first.span]
            if name != chosen[second.span]:
                if self._question.words[place] in ALL_OF:  # "assigned to Ada and open"
                    continue
                return None
            joined += 1
            if self._seen.fields[name].many and self._question.words[place] in ALL_OF:  # of one list, one or both
                return None
        # Two values of one field, without "or" between them, is no record that has both.
        if len(self._names.values) - joined != len(values):
            return None
        denied = self._denied()
        conditions = [
            Condition(name, "!=" if name in {chosen[span] for span in denied} else "=", tuple(found))
            for name, found in values.items()
        ]
        conditions += self._lacking()
        for compared in self._compared:
            name = self._field_compared(compared)
            if name is None:
                return None
            for sign, bound in compared.tests:
                if isinstance(bound, DayOfAnyYear):
                    years = self._seen.fields[name].years
                    if len(years) != 1:  # May 3 of any of them
                        return None
                    bound = f"{min(years)}-{bound}"
                conditions.append(Condition(name, sign, (bound,)))
        conditions += self._years()
        conditions += self._said()
        tested = [(one.field, "" if one.field in values else one.sign[0]) for one in conditions]
        equal = {one.field for one in conditions if one.sign in {"=", "in"}}
        if len(set(tested)) < len(tested) or any(
            one.field in equal and one.sign not in {"=", "in"} for one in conditions
        ):
            return None  # "2022 or 2023"
        return conditions

    def _said(self) -> Iterator[Condition]:
        """Yield what the message of a line in a log has to say: the words that are nothing else.

        They stand together. Where lines are not what is counted, they are several or quoted: one word may be anything.
        """
        if not self._seen.is_log:
            return
        words = self._question.words
        self._taken.update(place for place, word in enumerate(words) if word in _SAYING)
        places = [
            place for place, word in enumerate(words) if place not in self._taken and word not in self._language_fillers
        ]
        if not places or len(places) > MAX_VALUE_WORDS:
            return
        span = Span(places[0], places[-1] + 1)
        if any(place in self._taken for place in range(span.start, span.stop)):
            return
        is_quoted = self._question.text[: self._question.places[span.start][0]].endswith(tuple("\"'“‘«„`"))
        counted = any(not self._is_free(span) for name in EVENTS for span in self._question.named(name))
        counting = any(one.cue == "count" for one in self._cues)
        if is_quoted or (counting and (counted or len(places) > 1)):
            said = self._question.spelled(span).casefold()
            single = [one for one, spans in self._question.singulars().items() if span in spans]
            self._take(span)
            yield Condition("message", "contains", (said, *sorted(single, key=len)[-1:]))

    def _denied(self) -> list[Span]:
        """Return the values behind a "not"; of several with "or" between them, it is before the first."""
        denied = []
        for place, word in enumerate(self._question.words):
            spans = [value.span for value in self._names.values]
            behind = [span for span in spans if self._leads(Span(place, place + 1), span)]
            if word in NEGATING and place not in self._taken and behind:
                self._taken.add(place)
                denied.append(behind[0])
        return denied

    def _lacking(self) -> Iterator[Condition]:
        """Yield the conditions that records have no value of a field ("without an owner"), or one that says so."""
        for place, word in enumerate(self._question.words):
            here = Span(place, place + 1)
            behind = [one for one in self._free if self._adjoin(here, one[0])]
            if word in NEGATING | LACKING and place not in self._taken and behind:
                _, name = behind[0]
                field = self._seen.fields[name]
                if field.is_yes_or_no and (word not in NEGATING or not field.yes or not self._is_everywhere(field)):
                    continue
                self._taken.add(place)
                self._free.remove(behind[0])
                if field.is_yes_or_no:  # "not active"
                    yield Condition(name, "!=", tuple(as_stored(field.yes)))
                else:
                    yield self._without(name)
        for place, word in enumerate(self._question.words):
            undone = [name for name in self._seen.fields if self._is_undone(word, name)]
            if len(undone) == 1 and place not in self._taken:
                self._taken.add(place)
                yield self._without(undone[0])

    def _is_everywhere(self, field: SeenField) -> bool:
        """Whether each record has a value of a field, as far as they were looked at for what these are."""
        return field.values >= min(self._seen.records, SAMPLED)

    def _without(self, name: str) -> Condition:
        """Return the condition that records have no value of a field, or one that says so."""
        field = self._seen.fields[name]
        return Condition(name, "=", (None, *sorted(field.nothing), *((0,) if field.is_number else ())))

    @staticmethod
    def _is_undone(word: str, name: str) -> bool:
        """Whether nobody has done what those have whom a field names: "unassigned", of ``assignee``."""
        return word.startswith("un") and word.removeprefix("un") in done(name)

    def _field_of(self, value: Value) -> str | None:
        """Return the field that a value is of: the only one that has it, or the one that is named beside it."""
        having = [name for name, seen in self._seen.fields.items() if value.spelled in seen.spelled]
        if name := self._named_beside(value.span, lambda name, _: name in having, by=True):
            return name
        own = [name for name in having if "." not in name]
        if len(own) == 1 and not any(self._seen.fields[name].many for name in having):
            having = own  # the state of an issue, not that of its milestone
        if len(having) != 1 or value.spelled in YES_OR_NO:
            return None
        # A bare number may be anything ("sales of 10").
        bare = self._is_number(having[0]) and amount(value.spelled) is not None and not self.is_year(having[0])
        return None if bare else having[0]

    def _named_beside(self, span: Span, fits: Callable[[str, SeenField], bool], *, by: bool = False) -> str | None:
        """Return the field that is named before or behind a place, which is named for nothing else then.

        Args:
            span: The place.
            fits: Whether it may be a field.
            by: Whether "by" may stand between: "written by Ada".
        """
        for place, (named, name) in enumerate(self._free):
            beside = self._adjoin(named, span) or self._adjoin(span, named) or (by and self._leads(named, span))
            if beside and fits(name, self._field(name)):
                del self._free[place]
                return name
        return None

    def _field_compared(self, compared: Compared) -> str | None:
        """Return the field that is compared: that of a time, one that is named beside it, or the only one of money."""
        bounds = [bound for _, bound in compared.tests]
        if compared.of_time and all(isinstance(bound, str) or YEAR.fullmatch(str(bound)) for bound in bounds):
            whole = len(bounds) > 1 or compared.tests[0][0] in {"=", "in"}
            if name := self._happened(compared.span) or self._field_of_time(compared.span, whole=whole):
                return name
        if any(isinstance(bound, str) for bound in bounds):
            return None
        if name := self._named_beside(compared.span, lambda _, seen: seen.is_number or seen.is_date):
            return name
        return self._field_of_money() if compared.of_money else None

    def _field_of_money(self) -> str | None:
        found = [name for name, seen in self._seen.fields.items() if seen.is_number and seen.is_money(name)]
        return found[0] if len(found) == 1 else None

    # Times.

    def _happened(self, place: Span) -> str:
        """Return the field that says when what stands beside a place happened, if that is a value, too ("closed")."""
        values = {value.span for value in self._names.values}
        for name, seen in self._seen.fields.items():
            for told in self._question.named(" ".join(event_of(name))) if seen.is_date else ():
                if told in values and (self._adjoin(told, place) or self._adjoin(place, told)):
                    return name
        return ""

    def _years(self) -> Iterator[Condition]:
        """Yield conditions of years that are no values."""
        for place, word in enumerate(self._question.words):
            if place not in self._taken and YEAR.fullmatch(word):
                here = Span(place, place + 1)
                name = self._happened(here) or self._field_of_time(here, whole=True)
                if name is not None:
                    self._taken.add(place)
                    yield Condition(name, "=", (int(word),))

    def _field_of_time(self, span: Span, *, whole: bool) -> str | None:
        """Return the field of a time: one that is named beside it, or that says when what is told beside it happened
        ("hired", of ``hire_date``), or the one that says when the records are from.

        Args:
            span: Where the time stands.
            whole: Whether it has a beginning and an end.
        """
        if name := self._named_beside(span, lambda name, seen: seen.is_date or self.is_year(name)):
            return name
        for name, seen in self._seen.fields.items():
            event = event_of(name)
            for told in self._question.named(" ".join(event)) if seen.is_date else ():
                # "Due in June" is no ``amount_due``.
                parts = [one for one in self._free if one[0] == told and is_shortened(one[1], told)]
                if (parts or self._is_free(told)) and (self._adjoin(told, span) or self._adjoin(span, told)):
                    self._free = [one for one in self._free if one not in parts]
                    self._take(told)
                    return name
        return self._of_records(_OTHER_TIMES | _BEGINNINGS if whole else _OTHER_TIMES)

    def _of_records(self, others: frozenset[str]) -> str | None:
        """Return the field with the times of the records, unless it is of other times.

        It is the only one with dates, or called year; of several, the one that is called so and nothing else, or by the
        name of the collection (``invoice_date``), else the one that says when they were created.
        """
        found = [name for name, seen in self._seen.fields.items() if seen.is_date or self.is_year(name)]
        if len(found) > 1:
            own = [name for name in found if all(map(self._is_of_collection, event_of(name)))]
            found = own or [name for name in found if event_of(name) == ["created"]]
        return found[0] if len(found) == 1 and others.isdisjoint(name_words(found[0])) else None

    def _is_of_collection(self, word: str) -> bool:
        language = self._question.language.name
        wanted = senses(word, language)
        return any(not wanted.isdisjoint(senses(one, language)) for one in name_words(self._seen.name))


def event_of(name: str) -> list[str]:
    """Return the words of the name of a date without those of dates: of ``hire_date`` the first."""
    return [word for word in name_words(name.rpartition(".")[2]) if word not in _OF_DATES]


def as_stored(texts: Iterable[str]) -> list[Any]:
    """Return values as records may have them: what is shown as true may be true itself."""
    found: list[Any] = sorted(texts)
    return found + [text == "true" for text in found if text in {"true", "false"}]
