"""Where a passage of source code answers what something is, or what calls it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, asked_name, definition_word
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.types import Passage
from core.rag.extraction.code_definitions import code_definitions, defined_names
from core.rag.extraction.source_code import is_program
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.answering.extracts.called import Source
    from core.rag.answering.extracts.sentence import Sentence

#: Questions for the places that use something: "What calls openSluice?", "Where is it used?", "Which test covers it?".
_CALLERS = regex(
    r"\s*(?:(?:what|who|which (?:\w+ )?(?:functions?|methods?|classes|class|files?|code|modules?|tests?|places?))\s+"
    r"(?:(?:all|else|other)\s+)?(?:calls?|uses?|invokes?|instantiates?|covers?|exercises|tests?)\s+"
    r"(?:the\s+)?(?:\w+\s+)??(?P<called>[\w.:$]+)"
    r"|where (?:is|are) (?:the\s+)?(?:\w+\s+)??(?P<used>[\w.:$]+) (?:called|used|invoked|instantiated|tested|covered)"
    r"|callers of (?P<of>[\w.:$]+))(?:\(\))?[\s?.!`]*",
    re.IGNORECASE,
)
#: Those for which every use counts, and not only calls.
_USES = regex(r"\b(?:us(?:es?|ed)|instantiate[sd]?|tests?|tested|cover(?:s|ed)?|exercises)\b", re.IGNORECASE)
#: Questions for a piece of code by what it does: "Which function registers the handler?".
_ASKS_FOR_CODE = regex(
    r"\b(?:which|what) (?:\w+ )?(?:function|method|class|struct|type|trait|interface|module|macro|code)\b"
    r"|\bwhere (?:is|does) the (?:\w+ )?(?:code|function|method|class)\b"
    r"|\b(?:welche|wo ist die) (?:funktion|methode|klasse)\b|\bquelle (?:fonction|méthode|classe)\b"
    r"|\bqué (?:función|método|clase)\b",
    re.IGNORECASE,
)
#: The words of a name: ``registerOnShutdown``, ``HTTPServer``, ``turn_sails``.
_PART = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def wanted_of_code(
    question: str, sources: Sequence[Source], sentences: Sequence[Sentence], defined: set[str]
) -> set[tuple[int, Span]]:
    """Return the pieces of source code that define what a question wants defined, or that call what it says."""
    called, any_use, is_named = _called_in(question), _is_any_use_asked(question), asked_name(question) != ""
    wanted = set()
    for index, source in enumerate(sources):
        passage, spans = source.passage, [one.place for one in sentences if one.passage == index]
        asked = defined if is_named else _named_in_words(question, passage, source.language)
        if called:
            found = _calling_spans(passage, spans, called, any_use=any_use)
        else:
            found = _defining_spans(passage, spans, asked)
        wanted |= {(index, span) for span in found}
    return wanted


def _defining_spans(passage: Passage, spans: Sequence[Span], asked: Collection[str]) -> set[Span]:
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


def _called_in(question: str) -> str:
    """Return the name of what a question asks the callers of, without what is before its last dot; else nothing."""
    asks = _CALLERS.fullmatch(question.replace("`", ""))
    name = next((name for name in asks.groups() if name), "") if asks is not None else ""
    return re.split(r"[.:]+", name.strip(".:"))[-1]


def _named_in_words(question: str, passage: Passage, language: str) -> set[str]:
    """Return index words of what a passage of source code defines that a question asks for by the words of its name.

    Those of ``registerOnShutdown`` are in "Which function registers something on shutdown?"; none for other passages.
    """
    if _ASKS_FOR_CODE.search(question) is None:
        return set()
    hit, asked = passage.hit, set(analyze(question, language))
    named: set[str] = set()
    for name in defined_names(hit.content, hit.path, hit.heading):
        parts = set(analyze(" ".join(_PART.findall(name)), language))
        if len(parts) > 1 and parts <= asked and (word := definition_word(name)):
            named.add(word)
    return named


def _is_any_use_asked(question: str) -> bool:
    """Return whether a question for the places that use something asks for more than calls."""
    return _USES.search(question) is not None


def _calling_spans(passage: Passage, spans: Sequence[Span], called: str, *, any_use: bool = False) -> set[Span]:
    """Return the statements of source code that call something, but that of its definition.

    Args:
        passage: The passage.
        spans: Its readable pieces.
        called: The name of what is called; nothing is, if it is empty.
        any_use: Whether other uses count, too.
    """
    hit = passage.hit
    if not called or called not in hit.content or not is_program(hit.path):
        return set()
    behind = r"(?![\w$])" if any_use else r"\s?(?:<[^<>()\n]{0,80}>)?\("
    calls, own = re.compile(rf"(?<![\w$]){re.escape(called)}{behind}"), definition_word(called)
    return {
        span
        for span in spans
        if not span.said
        and calls.search(hit.content, span.start, span.end) is not None
        and own not in code_definitions(hit.content[span.start : span.end], hit.path, hit.heading)
    }
