"""What a sentence of a passage is about, by the headings above it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from pathlib import PurePosixPath

from core.rag.analysis import analyze
from core.rag.answering.extracts.sentence_ends import STATES
from core.rag.answering.markers import is_in_block
from core.rag.answering.types import Passage
from core.rag.headings import headings_of
from core.rag.indexing.splitting.markdown import plain_title

_HEADING = re.compile(r"^[ \t]{0,3}(#{1,6})[ \t]+([^\n]*?)[ \t#]*$", re.MULTILINE)


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
            if fragment or not own.isdisjoint(wanted):
                return name if own.isdisjoint(words) else ""
        return ""

    def _above(self, start: int) -> list[str]:
        """Return the headings above a place, innermost first; the title, if it is not that of the file, for none."""
        above: dict[int, str] = {}
        for place, level, name in self._within:
            if place >= start:
                break
            above = {upper: other for upper, other in above.items() if upper < level} | {level: name}
        names = [*above.values()] or [name.strip() for name in headings_of(self._passage.hit.heading) if name.strip()]
        path, title = PurePosixPath(self._passage.hit.path), self._passage.hit.title.strip()
        return names[::-1] or [title] * (title not in {"", path.name, path.stem})

    @cached_property
    def _within(self) -> list[tuple[int, int, str]]:
        """The places, levels and texts of the headings in the passage."""
        text = self._passage.hit.content
        return [
            (match.start(), len(match[1]), plain_title(match[2], atx=True))
            for match in _HEADING.finditer(text)
            if match[2] and not is_in_block(text, match.start())
        ]
