"""How sentences end, behind which quotation marks, brackets and emphasis may be closed; and which only ask."""

from __future__ import annotations

from typing import Final

from core.rag.analysis import asked_name
from libs.regexes import regex

#: The ends of questions, and of statements.
ASKS: Final = regex(r"[?？؟][\s\"'”’»」)\]*_]*\Z")
STATES: Final = regex(r"[.!;。！।۔…][\s\"'”’»」)\]*_`]*\Z")


def echoes(sentence: str, said: bool) -> bool:
    """Return whether a sentence only asks, or is a name or a phrase that says no more than the question (``said``).

    Lists of what a page is about ask without a question mark: "What is a component", "コンポーネントとは何か".
    """
    if ASKS.search(sentence) is not None:
        return True
    return STATES.search(sentence) is None and (said or asked_name(sentence.strip()) != "")
