"""Looks through the records of a collection for what a question may name: fields, and values that stand in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from core.rag.answering.computing.calling import (
    AMOUNTS,
    ANSWERED,
    MONEY_WORDS,
    SPENDING,
    UNIT_WORDS,
    collection_names,
    done,
    main_word,
    short_names,
)
from core.rag.answering.computing.cues import words_of
from core.rag.answering.computing.question import Question, Span, name_words
from core.rag.extraction.amounts import amount
from core.rag.extraction.records import is_flat, items_of
from core.rag.retrieval.tables.dates import Dates
from core.rag.retrieval.tables.reading import AllRecords
from core.rag.retrieval.tables.values import DATE, fields_of, is_missing, shown
from libs.regexes import regex

#: What a log is known by, and what its records are called.
_LOGGED: Final = frozenset({"time", "message"})
EVENTS: Final = ("lines", "log lines", "messages", "log messages", "events")
#: The same of a web server.
_SERVED: Final = frozenset({"time", "method", "path", "status"})
_REQUESTS: Final = ("lines", "log lines", "requests", "hits")
#: Longest value that is compared with the words of a question, in characters.
_LONGEST: Final = 120
#: Values of a field that are looked at for what they are: numbers, dates or texts.
SAMPLED: Final = 1_000
#: What is written where there is no value.
NOTHING: Final = words_of("- – — n/a na none null nil keine keiner aucun aucune ninguno ninguna")
#: How yes and no are written, and what a name that asks for it may begin with.
_YES: Final = frozenset({"true", "yes", "y", "ja", "oui", "sí", "si"})
YES_OR_NO: Final = _YES | {"false", "no", "n", "nein", "non"}
#: Fields that say what the numbers of a record are in.
_IN: Final = frozenset({"currency", "währung", "waehrung", "devise", "moneda", "unit", "uom", "einheit"})
_CURRENCY: Final = regex("[$€£¥]")
#: What stands between several values in one cell.
_SEVERAL: Final = regex(r"\s*(?:[\n;,/&|]|(?<!\w)(?:and|und|et|y)(?!\w))\s*")
_DIGITS: Final = frozenset("0123456789")
#: A value that neither has several, nor is spelled as in programs.
_SIMPLE: Final = regex(r"[^\W_]?(?:[^\W_]|[.:+-])*")
#: Different values of a field that are noted: more are likely to be different in each record.
_TAKEN: Final = 20_000
#: Names that filters read as something else.
_RESERVED: Final = frozenset({"and", "or", "not"})


@dataclass(slots=True)
class SeenField:
    """A field.

    Attributes:
        values: How many of its values were looked at for what they are.
        numbers: How many of these are numbers.
        dates: How many of these are dates.
        years: Those of its dates.
        truths: How many of these are yes or no.
        yes: Those that are yes, as they are in records.
        nothing: Those that say that there is none, as they are in records.
        many: Whether a record has several values in it.
        some: Two of its values, if it has as many.
        currencies: The signs of currencies in those that were looked at.
        spelled: Those that stand in the question, as they are in records, by how they stand there (casefolded).
        beside: Those of the question that stand in a cell with others: "pitcher, catcher".
        taken: Texts that were looked at, once enough values were: most of a long table.
    """

    values: int = 0
    numbers: int = 0
    dates: int = 0
    years: set[str] = field(default_factory=set)
    truths: int = 0
    yes: set[str] = field(default_factory=set)
    nothing: set[str] = field(default_factory=set)
    many: bool = False
    some: set[str] = field(default_factory=set)
    currencies: set[str] = field(default_factory=set)
    spelled: dict[str, set[str]] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def tells_nothing(self, value: Any, looked_for: Collection[str], *, has_digits: bool) -> bool:
        """Return whether a value tells nothing new, once enough values were looked at.

        Args:
            value: The value.
            looked_for: What texts may stand in the question, or say yes or that there is none.
            has_digits: Whether some of these have digits: numbers are compared with them only then.
        """
        if self.values < SAMPLED:
            return False
        if not isinstance(value, str):
            return not has_digits and isinstance(value, int | float)
        if value in self.taken:
            return True
        if len(self.taken) < _TAKEN:
            self.taken.add(value)
        is_simple = not self.dates and self.truths < self.values and _SIMPLE.fullmatch(value) is not None
        is_dated = value[:4] in self.years and DATE.fullmatch(value) is not None
        return len(self.some) > 1 and (is_simple or is_dated) and value.casefold() not in looked_for

    @property
    def is_number(self) -> bool:
        """Whether most of its values are numbers."""
        return 2 * self.numbers > self.values

    @property
    def is_yes_or_no(self) -> bool:
        """Whether all of its values are."""
        return 0 < self.truths == self.values

    @property
    def tells_kinds(self) -> bool:
        """Whether its values, all of which were looked at, are texts that occur twice or more, on average."""
        is_other = self.is_number or self.is_date or self.is_yes_or_no or self.many
        return not is_other and 2 * len(self.spelled) <= self.values

    def is_money(self, name: str) -> bool:
        """Return whether its values are amounts of money, by their signs or by its name."""
        return bool(self.currencies) or not MONEY_WORDS.isdisjoint(name_words(name)[-1:])

    @property
    def is_date(self) -> bool:
        """Whether most of its values are dates."""
        return 2 * self.dates > self.values


@dataclass(slots=True)
class Seen:
    """A collection.

    Attributes:
        name: Its name, as results tell it.
        records: How many there are.
        fields: Its fields by name.
        called: What a question may call it by, if that is not its name: the headings above a table.
        written: How its records write dates.
    """

    name: str
    records: int = 0
    fields: dict[str, SeenField] = field(default_factory=dict)
    called: tuple[str, ...] = ()
    written: Dates = field(default_factory=Dates)

    @property
    def names(self) -> list[str]:
        """How a question may call it."""
        return [*(short for name in self.called or (self.name,) for short in collection_names(name)), *self.events]

    @property
    def events(self) -> tuple[str, ...]:
        """What the records of a log are called."""
        if self.is_log:
            return EVENTS
        return _REQUESTS if self.fields.keys() >= _SERVED else ()

    @property
    def is_log(self) -> bool:
        """Whether its records are what a program wrote, with the time and a message."""
        return self.fields.keys() >= _LOGGED

    def take(self, records: Iterable[Mapping[str, Any]], spellings: Collection[str] | None) -> None:
        """Take note of some records; ``spellings`` are those of values that are looked for, ``None``: of all values."""
        has_digits = spellings is None or any(not _DIGITS.isdisjoint(spelling) for spelling in spellings)
        looked_for = {*(spellings or ()), *_YES, *NOTHING}
        for data in records:
            self.records += 1
            of_this: set[str] = set()
            flat = is_flat(data)
            for name, value in data.items() if flat else fields_of(data):
                if (known := self.fields.get(name)) is not None:
                    if not flat:
                        known.many = known.many or name in of_this
                    if known.tells_nothing(value, looked_for, has_digits=has_digits):
                        if not flat:
                            of_this.add(name)
                        continue
                for item in value if isinstance(value, list) else _items(name, value):
                    if name.casefold() not in _RESERVED and not is_missing(item):
                        found = self.fields.setdefault(name, SeenField())
                        found.many = found.many or name in of_this
                        of_this.add(name)
                        self._take(found, item, spellings)

    def borrow(self, own: Seen, others: Iterable[Seen], spellings: Collection[str]) -> bool:
        """Take values of a question that no record has, but some of other collections have in a field of the same name:
        all issues may be closed, and a pull open.

        Only in fields that tell kinds of records in both collections, since a ``name`` is one of anything.

        Args:
            own: Some records of this collection, with all their values.
            others: The same of others.
            spellings: Those of values that are looked for.

        Returns:
            Whether there are such values.
        """
        known = {spelled for one in self.fields.values() for spelled in (*one.spelled, *one.beside)}
        wanted = set(spellings) - known
        found = False
        for other in others:
            for name in own.fields.keys() & other.fields.keys() & self.fields.keys():
                if own.fields[name].tells_kinds and other.fields[name].tells_kinds:
                    for spelled in other.fields[name].spelled.keys() & wanted:
                        texts = self.fields[name].spelled.setdefault(spelled, set())
                        texts.update(other.fields[name].spelled[spelled])
                        found = True
        return found

    def amounts(self) -> list[str]:
        """Return the fields with amounts of money."""
        return [
            name
            for name, one in self.fields.items()
            if one.is_number and (one.is_money(name) or main_word(name) in AMOUNTS)
        ]

    def compares(self, name: str, fixed: Collection[str]) -> bool:
        """Return whether the numbers of a field are of one currency or unit, among records with the same in others."""
        units = [
            one for other, one in self.fields.items() if other not in fixed and _IN.intersection(name_words(other)[-1:])
        ]
        return len(self.fields[name].currencies) < 2 and all(len(one.some) < 2 for one in units)

    def _take(self, seen: SeenField, value: Any, spellings: Collection[str] | None) -> None:
        text = shown(value)
        if len(text) > _LONGEST:
            seen.values += seen.truths == seen.values  # so it is not yes or no
            return
        spelled = text.strip().casefold()
        if len(seen.some) < 2:
            seen.some.add(spelled)
        if spelled in _YES:
            seen.yes.add(text)
        if spelled in NOTHING:
            seen.nothing.add(text)
        if seen.values < SAMPLED:
            seen.values += 1
            seen.numbers += amount(value) is not None
            seen.dates += self.written.iso(text) is not None
            seen.truths += spelled in YES_OR_NO
            seen.currencies.update(_CURRENCY.findall(text))
        if seen.dates and (iso := self.written.iso(text)):
            seen.years.add(iso[:4])
        if spellings is not None and spelled not in spellings and "_" in spelled:  # ``past_due``
            spelled = " ".join(spelled.split("_"))
        if spellings is None or spelled in spellings:
            seen.spelled.setdefault(spelled, set()).add(text)
        elif isinstance(value, str) and len(parts := _SEVERAL.split(spelled)) > 1:
            seen.beside.update(part for part in parts if part in spellings)

    def named(self, question: Question) -> Iterator[tuple[Span, str]]:
        """Yield where a question names a field, and which: in full, without what it leads through and the unit, or by
        the last word of that, if only one field has it."""
        by_name: dict[str, set[str]] = {}
        # Beside ``temp_max``, ``temp_min`` is no time in minutes.
        units = UNIT_WORDS - ({"min"} if any(name_words(name)[-1:] == ["max"] for name in self.fields) else frozenset())
        for field_name, found in self.fields.items():
            for short in short_names(field_name, units, yes_or_no=found.is_yes_or_no):
                by_name.setdefault(short, set()).add(field_name)
        for short, names in by_name.items():
            if len(names) == 1 or short in names:
                yield from ((span, short if short in names else min(names)) for span in question.named(short))
        yield from self._named_by_verbs(question)

    def _named_by_verbs(self, question: Question) -> Iterator[tuple[Span, str]]:
        """Yield where a question says what those have done whom a field names, what is done with the only amounts, or
        how requests were answered: "written by Ada", "spent on travel", "failed with 500"."""
        amounts = self.amounts()
        for place, word in enumerate(question.words):
            names = [name for name in self.fields if word in done(name)] or (amounts if word in SPENDING else [])
            behind = question.words[place + 1 : place + 3]
            if self.events == _REQUESTS and word in ANSWERED and any(map(str.isdecimal, behind)):
                names = ["status"]
            if len(names) == 1 and not any(word in one.spelled for one in self.fields.values()):
                yield Span(place, place + 1), names[0]


def _items(field: str, value: Any) -> list[Any]:
    return items_of(field, value) if isinstance(value, str) else [value]


async def look(records: AllRecords, spellings: Collection[str]) -> Seen:
    """Look through all records of a collection.

    Raises:
        NotFoundError: if there is no such collection (any more).
    """
    written, parts = await records.dated()
    seen = Seen(records.collection, written=written)
    async for part in parts:
        seen.take((record["data"] for record in part), spellings)
    return seen
