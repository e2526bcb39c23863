"""What a sentence of a passage is about, by the headings above it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import PurePosixPath

from core.rag.analysis import analyze, date_words
from core.rag.answering.extracts.sentence_ends import STATES
from core.rag.answering.markers import is_in_block
from core.rag.answering.types import Passage
from core.rag.headings import heading_path, headings_of, without_purpose
from core.rag.indexing.splitting.markdown import plain_title
from core.rag.indexing.splitting.sentences import is_in_quotation
from libs.regexes import regex

_LONGEST_TERM = 100
_HEADING = regex(r"^[ \t]{0,3}(#{1,6})[ \t]+([^\n]*?)[ \t#]*$", re.MULTILINE)

#: Questions that a heading answers: who wrote what stands below it, in which version, chapter or document it stands.
_ASKS_FOR_HEADING = regex(
    r"\b(?:in|since|from|with|by) (?:which|what) (?:version|release|edition|chapter|section|article|message)\b"
    r"|\b(?:which|what) (?:version|release) (?:added|changed|fixed|fixes|introduced|removed|deprecated)\b"
    r"|\bwho (?:wrote|writes|said|says|asked|asks|suggested|proposed|reported|mentioned|announced|commented)\b"
    r"|\b(?:which|what) (?:meeting|minute|document|page|recipe|runbook|alert|note|chapter|section|article|message|mail"
    r"|thread|lecture|lesson|contract|guide|issue|ticket)s?\b"
    r"|\bwelche[rsnm]? (?:sitzung|protokoll|dokument|seite|rezept|notiz|kapitel|abschnitt|artikel|nachricht|mail"
    r"|vorlesung|lektion|vertrag|anleitung|gesetz)\w{0,2}\b"
    r"|\bquel(?:le)?s? (?:réunion|document|page|recette|note|chapitre|section|article|message|cours|contrat|guide)s?\b"
    r"|\b(?:in|seit|ab|mit) welche[rmn] (?:version|kapitel|abschnitt|artikel|nachricht|mail|sitzung)\b"
    r"|\bwer (?:schrieb|sagte?|fragte?|meinte?)\b|\bwer hat\b.{1,300}\bge(?:schrieben|sagt|fragt|meint|meldet)\b"
    r"|\b(?:dans|depuis) quelle version\b|\bqui a (?:écrit|dit|demandé|proposé)\b"
    r"|\b(?:en|desde) qué versión\b|\bquién (?:escribió|dijo|preguntó|propuso)\b"
    r"|\b(?:in|da) quale versione\b|\bchi ha (?:scritto|detto|chiesto|proposto)\b",
    re.IGNORECASE,
)
#: A heading that says when, by a release: "Version 3.0", "v1.2 (beta)", "2.10.1"; "2.10.1 Tests" is a section.
_RELEASE = regex(r"\b(?:version|release) v?\d|\bv\d+[.]\d|\A\W*\d+\.\d+\.\d+\W*\Z", re.IGNORECASE)


def asks_for_heading(question: str) -> bool:
    """Return whether the answer is what stands above a sentence: "In which version was the wheel changed?"."""
    return _ASKS_FOR_HEADING.search(question) is not None


class Headings:
    """The headings of a passage: above it, and within it, for small sections are one passage."""

    def __init__(self, passage: Passage, language: str) -> None:
        """Read them.

        Args:
            passage: The passage.
            language: Its language, whose stems its headings and the question have.
        """
        self._passage = passage
        self._language = language

    def subject(self, start: int, sentence: str, words: Collection[str], wanted: Collection[str]) -> str:
        """Return what a sentence is about, nothing if it shares a word with it: "Version 3.0", of "Released in May".

        That is the innermost heading with a word of the question, or the title of a passage without headings; of what
        is no whole sentence the innermost heading, whatever words that has.

        Args:
            start: Where the sentence begins.
            sentence: The sentence.
            words: Its words, analysed.
            wanted: Those of the question.
        """
        fragment = STATES.search(sentence) is None
        for name in self._above(start):
            analyzed = set(analyze(name, self._language))
            # "2.2.4" is one word, and its numbers are three that many others have.
            own = {word for word in analyzed if not word.isdigit()} or analyzed
            if self._is_quoted(start) and date_words(name):
                return ""  # "Ada Lane, 2016-05-09" is who quotes it
            if fragment or not own.isdisjoint(wanted):
                return name if own.isdisjoint(words) else ""
        return ""

    def over(self, start: int) -> str:
        """Return the innermost heading above a place, or the title, if it is not that of the file; empty if none."""
        return next(iter(self._above(start)), "")

    def above(self, start: int) -> list[str]:
        """Return all headings above a place, innermost first."""
        return [*self._above_within(start)[::-1], *self._outside()[::-1]]

    def end_above(self, start: int, wanted: Callable[[str], bool] = bool) -> int | None:
        """Return where the innermost wanted heading in the passage above a place ends; ``None`` without one."""
        text = self._passage.hit.content
        places = [place for place, name in self._stacked(start) if wanted(name)]
        return max(0, text.find("\n", places[-1])) if places else None

    def dated(self, start: int) -> str:
        """Return the innermost heading above a place that says when: it has a day, or a release; empty if none has.

        So may the title have one, or the name of the file: of minutes, of the notes of a day.
        """
        if self._is_quoted(start):
            return ""
        names = (*self.above(start), self._passage.hit.title.strip())
        return next((name for name in names if date_words(name) or _RELEASE.search(name)), "")

    def path(self, start: int) -> str:
        """Return the title and all headings above a place; empty if it is in what a mail quotes."""
        if self._is_quoted(start):
            return ""
        parts = list(dict.fromkeys((*self.title(), *self._outside())))
        within = self._above_within(start)
        if within and (first := self._within[0][2]) in parts:
            parts = parts[: parts.index(first)]
        return heading_path((*(part for part in parts if part not in within), *within))

    def _is_quoted(self, start: int) -> bool:
        return is_in_quotation(self._passage.hit.content, start)

    def _above(self, start: int) -> list[str]:
        """Return the headings above a place, innermost first; the title, if it is not that of the file, for none.

        What a definition explains is above its later sentences.
        """
        term = self.term(start)
        return [term] * bool(term) + ((self._above_within(start) or self._outside())[::-1] or self.title())

    def term(self, start: int) -> str:
        """Return what the definition explains that a place is in: ``--depth`` above ": How deep. The default is 2."."""
        text = self._passage.hit.content
        begin = text.rfind("\n\n", 0, start) + 2 if "\n: " in text else start
        lines = text[begin:start].split("\n")
        place = next((at for at, line in enumerate(lines) if line.startswith(": ")), 0)
        return plain_title(", ".join(map(str.strip, lines[:place])), atx=False)[:_LONGEST_TERM] if place else ""

    def title(self) -> list[str]:
        """Return the title; none if it is that of the file."""
        path, title = PurePosixPath(self._passage.hit.path), self._passage.hit.title.strip()
        return [without_purpose(title)] * (title not in {"", path.name, path.stem})

    def _outside(self) -> list[str]:
        """Return the headings above the passage, outermost first."""
        return [name for name in map(str.strip, headings_of(self._passage.hit.heading)) if name]

    def _above_within(self, start: int) -> list[str]:
        """Return the headings in the passage above a place, outermost first."""
        return [name for _, name in self._stacked(start)]

    def _stacked(self, start: int) -> list[tuple[int, str]]:
        """Return the headings in the passage above a place with their own places, outermost first."""
        above: dict[int, tuple[int, str]] = {}
        for place, level, name in self._within:
            if place >= start:
                break
            above = {upper: other for upper, other in above.items() if upper < level} | {level: (place, name)}
        return [*above.values()]

    @cached_property
    def _within(self) -> list[tuple[int, int, str]]:
        """The places, levels and texts of the headings in the passage."""
        text = self._passage.hit.content
        return [
            (match.start(), len(match[1]), plain_title(match[2], atx=True))
            for match in _HEADING.finditer(text)
            if match[2] and not is_in_block(text, match.start())
        ]
