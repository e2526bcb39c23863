"""Where a passage of source code answers what something is, or what calls it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.rag.analysis import definition_word
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.types import Passage
from core.rag.extraction.code_definitions import code_definitions
from core.rag.extraction.source_code import is_program

#: Questions for the places that use something: "What calls openSluice?", "Where is it used?".
_CALLERS = re.compile(
    r"\s*(?:(?:what|who|which (?:\w+ )?(?:functions?|methods?|classes|class|files?|code|modules?|tests?|places?))\s+"
    r"(?:(?:all|else|other)\s+)?(?:calls?|uses?|invokes?|instantiates?)\s+(?:the\s+)?(?:\w+\s+)??(?P<called>[\w.:$]+)"
    r"|where (?:is|are) (?:the\s+)?(?:\w+\s+)??(?P<used>[\w.:$]+) (?:called|used|invoked|instantiated)"
    r"|callers of (?P<of>[\w.:$]+))(?:\(\))?[\s?.!`]*",
    re.IGNORECASE,
)


def defining_spans(passage: Passage, spans: Sequence[Span], asked: Collection[str]) -> set[Span]:
    """Return the pieces of source code that say what something is: the head of its definition, or a constant.

    Where the passage has only what is said of the definition, that is the first sentence.

    Args:
        passage: The passage.
        spans: Its readable pieces, in order.
        asked: Index words of what the question wants defined.
    """
    hit = passage.hit
    if not asked or set(asked).isdisjoint(code_definitions(hit.content, hit.path, hit.heading)):
        return set()
    statements = [span for span in spans if not span.said]
    heads = {
        span
        for span in statements
        if not set(asked).isdisjoint(code_definitions(hit.content[span.start : span.end], hit.path, hit.heading))
    }
    return heads or ({spans[0]} if spans and spans[0].said else set())


def called_in(question: str) -> str:
    """Return the name of what a question asks the callers of, without what is before its last dot; else nothing."""
    asks = _CALLERS.fullmatch(question.replace("`", ""))
    name = next((name for name in asks.groups() if name), "") if asks is not None else ""
    return re.split(r"[.:]+", name.strip(".:"))[-1]


def calling_spans(passage: Passage, spans: Sequence[Span], called: str) -> set[Span]:
    """Return the statements of source code that call something, but that of its definition.

    Args:
        passage: The passage.
        spans: Its readable pieces.
        called: The name of what is called; nothing is, if it is empty.
    """
    hit = passage.hit
    if not called or called not in hit.content or not is_program(hit.path):
        return set()
    calls, own = re.compile(rf"(?<![\w$]){re.escape(called)}\s?(?:<[^<>()\n]{{0,80}}>)?\("), definition_word(called)
    return {
        span
        for span in spans
        if not span.said
        and calls.search(hit.content, span.start, span.end) is not None
        and own not in code_definitions(hit.content[span.start : span.end], hit.path, hit.heading)
    }
