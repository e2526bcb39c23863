"""A sentence of a passage, with how well it answers a question."""

from __future__ import annotations

from dataclasses import dataclass

from core.rag.answering.extracts.code_spans import Span


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage.

    Attributes:
        passage: The index of the passage.
        place: Where it is in it.
        text: As it stands there; of a record of a file, its cells.
        words: Its words, analysed; of a row of a table with the names of its columns.
        score: How well it answers, from 0 to about 2.
        about: How much of that is for what it is about, not only for being of the kind that is asked for; all of it in
            a passage that the graph led to, which need not have a word of the question.
        points: Whether it only says where to read on.
        subject: What it is about, as a heading or the title says, if it shares no word with it itself.
        asked_for: Whether the question asks for that: then these are all headings above it.
        headed: Whether it is the heading of a list.
        of_entry: Whether that is the command, function or the like that it says something about.
    """

    passage: int
    place: Span
    text: str
    words: frozenset[str] = frozenset()
    score: float = 0.0
    about: float = 0.0
    points: bool = False
    subject: str = ""
    asked_for: bool = False
    headed: bool = False
    of_entry: bool = False
