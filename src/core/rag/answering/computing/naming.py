"""Finds what each word of a question names: the collection, a field, or a value that some record has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from core.rag.answering.computing.calling import numbered
from core.rag.answering.computing.cues import ALL_OF, ASKER, ASKING, BY, FILLERS, IN, IN_TIME, JOINING, MEANING, PERSONS
from core.rag.answering.computing.question import YEAR, Question, Span, name_words
from core.rag.answering.computing.seen import Seen, SeenField

#: What has a count in it ("number of") if no name stands before it, and what stands before "me".
_NUMBER_OF: Final = frozenset({"number", "count", "anzahl", "nombre", "número", "numero"})
_YEARS: Final = (["year"], ["jahr"], ["année"], ["annee"], ["año"])
_TELL: Final = frozenset({"tell", "give", "show", "list", "let"})


class Value(NamedTuple):
    span: Span
    spelled: str


@dataclass(slots=True)
class _Names:
    """What the words of a question were found to be."""

    collection: list[Span] = field(default_factory=list)
    fields: list[tuple[Span, str]] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)


class Naming:
    """What each word of a question is, for one collection."""

    def __init__(self, question: Question, seen: Seen, rows: str = "") -> None:
        """Read a question.

        Args:
            question: The question.
            seen: The collection.
            rows: A field by which the question calls the records, as if the collection were called so.
        """
        self._question = question
        self._seen = seen
        self._rows = rows
        self._taken: set[int] = set()
        self._names = _Names()
        self._language_fillers = FILLERS[question.language.name]
        self._named = list(seen.named(question))
        names = [span for span, _ in self._named]
        #: Those that are not part of a name, such as "total bill".
        cues = [one for one in question.cues if one.cue != "which"]
        self._cues = [one for one in cues if not any(one.span.is_within(span) for span in names)]
        # "The average share of votes", where a field is called share.
        self._cues = [one for one in self._cues if one.cue != "share" or not any(map(one.span.meets, names))]
        if any(one.cue in ASKING and one.span not in names for one in self._cues):  # "the highest total"
            self._cues = [one for one in self._cues if one.cue not in ASKING or one.span not in names]
        #: Where a value stands in the plural.
        self._several: set[Span] = set()
        self._spelled = self._find_spelled()
        values = [span for spans in self._spelled.values() for span in spans]
        # "In last call" where that is a status, "first class".
        self._cues = [
            one
            for one in self._cues
            if one.cue not in IN_TIME or not any(one.span == span or one.span.is_within(span) for span in values)
        ]
        #: What is no value, as a code such as 2024-03 may be.
        self._compared = [one for one in question.comparisons if not self._is_code(one.span)]
        #: Fields that are named for nothing else yet.
        self._free: list[tuple[Span, str]] = []

    @property
    def named_fields(self) -> list[str]:
        """The fields that the question names."""
        return [*dict.fromkeys(name for _, name in self._named)]

    @property
    def names_collection(self) -> bool:
        """Whether the question names the collection."""
        return bool(self._names.collection)

    def _find_names(self) -> None:
        """Find collection, fields and values; the longest first, names before values.

        What is called like the collection, and is a number, is what is asked for ("the most cups", in ``cups.csv``).
        """
        for span in [one.span for one in self._cues] + [one.span for one in self._compared]:
            self._take(span)
        found: list[tuple[int, int, Span, str]] = []
        for called in [*self._seen.names, *filter(None, [numbered(self._rows)])]:
            found += [(-len(span), 0, span, "") for span in self._question.named(called)]
        for span, name in self._named:
            found.append((-len(span), -1 if self._is_number(name) else 1, span, name))
        for spelled, places in self._spelled.items():
            found += [(-len(span), 2, span, spelled) for span in places if self._means_value(span, spelled)]
        for _, kind, span, name in sorted(found, key=lambda one: (one[0], one[1], one[2].start, len(one[3]))):
            if not self._is_free(span):
                continue
            self._take(span)
            if kind == 0 or (kind != 2 and name == self._rows):
                self._names.collection.append(span)
            elif kind in {-1, 1}:
                self._names.fields.append((span, name))
            else:
                self._names.values.append(Value(span, name))
        self._names.fields.sort(key=lambda one: one[0].start)
        self._names.values.sort()

    def _is_code(self, span: Span) -> bool:
        spelled = self._question.spelled(span).casefold()
        return any(spelled in one.spelled and not one.is_date for one in self._seen.fields.values())

    def _find_spelled(self) -> dict[str, list[Span]]:
        """Return the values that stand in the question, and where; those in the plural only if no value is such."""
        there = {spelled for one in self._seen.fields.values() for spelled in one.spelled}
        found = {spelled: spans for spelled, spans in self._question.spellings().items() if spelled in there}
        exact = {span for spans in found.values() for span in spans}
        for spelled, spans in self._question.singulars().items():
            if spelled in there and (several := [span for span in spans if span not in exact]):
                found[spelled] = [*found.get(spelled, ()), *several]
                self._several.update(several)
        return found

    def _means_value(self, span: Span, spelled: str) -> bool:
        """Whether what stands in the question as a value does in a record is one there, and no mere word or year."""
        return not self._is_only_filling(span, spelled) and not self._is_mere_year(span, spelled)

    def _is_mere_year(self, span: Span, spelled: str) -> bool:
        """Whether "in 2021" is a year, though the number of some record is 2021, too."""
        before = self._question.words[span.start - 1] if span.start else ""
        having = [name for name, one in self._seen.fields.items() if spelled in one.spelled]
        return before in IN and YEAR.fullmatch(spelled) is not None and not any(map(self._tells_years, having))

    def _tells_years(self, name: str) -> bool:
        return not self._is_number(name) or self.is_year(name)

    def is_year(self, name: str) -> bool:
        """Return whether a field has years."""
        return self._is_number(name) and name_words(name)[-1:] in _YEARS

    def _is_only_filling(self, span: Span, spelled: str) -> bool:
        """Whether what looks like a value is a word such as "us", unless it is written as the value is (US)."""
        if len(span) > 1 or self._question.words[span.start] not in self._language_fillers | JOINING:
            return False
        exact = self._question.spelled(span)
        return exact.islower() or not self._is_written(spelled, exact)

    def _is_written(self, spelled: str, exact: str) -> bool:
        return any(exact in one.spelled.get(spelled, ()) for one in self._seen.fields.values())

    def _is_unclear(self) -> bool:
        """Whether a word that was taken for something else is a value, too."""
        texts = {span: name for span, name in self._names.fields if not self._is_number(name)}
        for spelled, places in self._spelled.items():
            for span in places:
                exact = self._question.spelled(span)
                written = self._is_written(spelled, exact)
                for one in self._cues:
                    droppable = one.cue in {"sum", "distinct"}
                    if one.span.is_within(span) or (one.span == span and (written or droppable)):
                        return True
                means = written or self._question.words[span.start] in MEANING
                if means and self._is_only_filling(span, spelled) and not self._is_behind_apostrophe(span):
                    return True
                if span in texts and any(
                    spelled in one.spelled for name, one in self._seen.fields.items() if name != texts[span]
                ):
                    return True
        return False

    def _is_number_of_one(self) -> bool:
        """Whether "invoice number of Acme" asks for no count."""
        fields, values = (span for span, _ in self._names.fields), (one.span for one in self._names.values)
        stops = {one.stop for one in (*self._names.collection, *fields, *values)}
        starts = [one.span.start for one in self._cues if one.cue == "count"]
        return any(self._question.words[start] in _NUMBER_OF and start in stops for start in starts)

    def _is_behind_apostrophe(self, span: Span) -> bool:
        return self._question.text[: self._question.places[span.start][0]].endswith(("'", "’"))

    def _is_of_asker(self) -> bool:
        """Whether records of the one who asks are meant, where records name persons."""
        words = self._question.words
        asked = any(
            word in ASKER and not (word == "me" and place and words[place - 1] in _TELL)
            for place, word in enumerate(words)
        )
        return asked and any(not PERSONS.isdisjoint(name_words(name)) for name in self._seen.fields)

    def _take(self, span: Span) -> None:
        self._taken.update(range(span.start, span.stop))

    def _is_free(self, span: Span) -> bool:
        return self._taken.isdisjoint(range(span.start, span.stop))

    def _is_covered(self) -> bool:
        """Whether every word has a part; "and" and "or" only between two values of one field, or "and" before or behind
        what compares.
        """
        joined = {place for _, _, place in self._joined()}
        return all(
            place in self._taken or place in joined or word in self._language_fillers or self._adds(place)
            for place, word in enumerate(self._question.words)
        )

    def _adds(self, place: int) -> bool:
        """Whether an "and" joins two conditions, one of which compares: "in Ulm and since 2020"."""
        values, compared = [one.span for one in self._names.values], [one.span for one in self._compared]
        here = Span(place, place + 1)

        def stands_beside(spans: list[Span], *, before: bool) -> bool:
            return any(self._leads(*((span, here) if before else (here, span))) for span in spans)

        return self._question.words[place] in ALL_OF and any(
            stands_beside(first, before=True) and stands_beside(second, before=False)
            for first, second in ((compared, values), (values, compared), (compared, compared))
        )

    def _joined(self) -> Iterator[tuple[Value, Value, int]]:
        """Yield values that follow each other with an "or" between them, and where that stands."""
        named = self._places(span for span, _ in self._names.fields)
        for first, second in zip(self._names.values, self._names.values[1:], strict=False):
            between = range(first.span.stop, second.span.start)
            joining = [place for place in between if self._question.words[place] in JOINING]
            others = [place for place in between if place not in joining]
            if len(joining) == 1 and all(self._is_filling(place) or place in named for place in others):
                yield first, second, joining[0]

    def _is_filling(self, place: int) -> bool:
        return place not in self._taken and self._question.words[place] in self._language_fillers

    def _adjoin(self, first: Span, second: Span) -> bool:
        """Whether nothing but words that say nothing stands between two places, the first before the second."""
        return first.stop <= second.start and all(map(self._is_filling, range(first.stop, second.start)))

    def _leads(self, first: Span, second: Span) -> bool:
        """Whether two places adjoin, perhaps with "by" or the name of a field between them."""
        named = self._places(span for span, _ in self._names.fields)
        return first.stop <= second.start and all(
            self._is_filling(place) or place in named or self._question.words[place] in BY
            for place in range(first.stop, second.start)
        )

    @staticmethod
    def _places(spans: Iterable[Span]) -> set[int]:
        return {place for span in spans for place in range(span.start, span.stop)}

    def _field(self, name: str) -> SeenField:
        """Return what was seen of a field; nothing was of the months of one with dates (``created:month``)."""
        return self._seen.fields.get(name, SeenField())

    def _is_number(self, name: str) -> bool:
        return self._field(name).is_number
