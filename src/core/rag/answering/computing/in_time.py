"""Finds what a question asks about times: what happens in each month, and what is the latest."""

from __future__ import annotations

from typing import Final

from core.rag.answering.computing.conditions import Conditions
from core.rag.answering.computing.cues import IN_TIME, INTERROGATIVES, UNITS, WHEN, words_of
from core.rag.answering.computing.question import Question, Span
from core.rag.answering.computing.seen import Seen

#: "The first name listed" is the one that stands first.
_BY_PLACE: Final = words_of("first last erste erster erstes ersten letzte letzter letztes letzten")
_LISTED: Final = words_of("listed table row rows chart tabelle zeile zeilen")
#: What things are by their age as well as by when they came.
_OF_AGE: Final = words_of("oldest älteste ältester ältestes ältesten")


class InTime(Conditions):
    """The times of the records of a collection, besides those that they have to fulfil.

    Both are found before it is asked whether each word has a part, and after what the records have to fulfil.
    """

    def __init__(self, question: Question, seen: Seen, rows: str = "") -> None:
        """Read a question; see :class:`core.rag.answering.computing.naming.Naming`."""
        super().__init__(question, seen, rows)
        #: The field by which "the latest" is meant, and whether it is named.
        self._order = ""
        self._is_order_named = False

    def _find_units(self) -> None:
        """Take "month" behind "per" and "which" as the name of a field: that of the time of the records, by month."""
        for place, word in enumerate(self._question.words):
            here = Span(place, place + 1)
            per = [one.span for one in self._cues if one.cue == "per" and self._adjoin(one.span, here)]
            asked = place > 0 and self._question.words[place - 1] in INTERROGATIVES
            if word not in UNITS or place in self._taken or not (per or asked):
                continue
            whole = Span(per[0].start if per else place - 1, place + 1)
            name = self._field_of_time(whole, whole=False)
            if name is not None and self._seen.fields[name].is_date:
                self._take(here)
                self._free.append((here, f"{name}:{UNITS[word]}"))
                self._free.sort(key=lambda one: one[0])

    def _find_order(self) -> None:
        """Find the field by which "the latest" is meant: one that is named, or the time of the records."""
        marks = [one for one in self._cues if one.cue in IN_TIME]
        if len(marks) == 1:
            span = marks[0].span
            if not _BY_PLACE.isdisjoint(self._question.words[span.start : span.stop]) and not _LISTED.isdisjoint(
                self._question.words
            ):
                return
            is_age = not _OF_AGE.isdisjoint(self._question.words[span.start : span.stop])
            number = len(self._free)
            self._order = self._happened(span) or self._field_of_time(span, whole=is_age) or ""
            self._is_order_named = len(self._free) < number
            for place, word in enumerate(self._question.words):
                if word in WHEN:  # of a single record, it is told with all others
                    self._take(Span(place, place + 1))
