"""Headings directly above a list: steps below "Renewing a badge" answer "How do I renew my badge?" as a whole."""

from __future__ import annotations

import re
from collections.abc import Set

from core.rag.analysis import analyze
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.markers import is_in_block
from libs.dataloader.formats.markdown import HEADING_ATTRIBUTES
from libs.regexes import regex

_MARK = r"(?:[-*+•·‣▪]|\d{1,3}[.)])[ \t]"
#: A heading (of Markdown, in bold letters, or underlined) and the mark of the list below it; a short paragraph may come
#: between it and steps.
_HEADED = regex(
    r"^(?:[ \t]{0,3}#{1,6}[ \t]++(?P<atx>[^\n]*[^\s#])[ \t#]*"
    r"|(?P<mark>\*\*|__)(?P<bold>(?:(?!(?P=mark))[^\n])+)(?P=mark)[ \t]*"
    r"|(?P<underlined>[^\s#*_<>|`=-][^\n]{0,200})\n(?:={3,}|-{3,})[ \t]*)"
    rf"\n(?P<between>\s*?^(?!{_MARK}|(?:\*\*|__)[^\n]*(?:\*\*|__)[ \t]*$)[^\s#|`>=-][^\n]*\n"
    rf"(?:(?!{_MARK})[^\s#|`>=-][^\n]*\n){{0,4}})?"
    r"\s*?^[ \t]*(?:[-*+•·‣▪]|(?P<number>\d{1,3}[.)]))[ \t]+(?=\S)",
    re.MULTILINE,
)
#: Questions for a way to do something, and headings that tell it: "So kündigen Sie ein Abo", "解約する方法".
_HOW_TO = regex(
    r"\bhow (?:to\b|(?:do|can|could|should|would|must) (?:i|we|you|one)\b)|\b(?:steps?|procedure|instructions|recipe)\b"
    r"|\bwie (?:\w+ )?(?:ich|wir|man|du)\b|\bis there (?:a|any) (?:\w+ )?way to\b|\A\W*so \w+(?:n sie|st du)\b"
    r"|\b(?:schritte|anleitung|rezept|étapes|procédure|recette)\b"
    r"|\bcomment (?:\w+(?:er|ir|re)|\w+-(?:on|je|t-on)|est-ce|je|on)\b"
    r"|\bc[oó]mo (?:se |puedo )?\w+|\bcome (?:si|posso|\w+[aei]re)\b|\bhoe \w+ (?:ik|je|we|men)\b"
    r"|\bкак (?:(?:мне|нам|можно|правильно) )?\w+(?:ть|ться|ти|чь)\b|\bяк \w+(?:ти|тися)\b|\bjak \w+(?:ć|t)\b"
    r"|怎[么麼样樣](?![样樣办辦回])|如何|する(?:には|方法)|方法を"
    r"|有什[么麼][办辦]法|有[没沒]有[办辦]法|どう(?:すれば|したら|やって)|どのように|어떻게|방법",
    re.IGNORECASE,
)
#: Verbs of such questions that say nothing of what is to be done, by language.
_DOING = {
    "english": "make do get use create build cook prepare сделать делать использовать создать",
    "german": "mache macht machen tun nutze nutzen erstelle erstellen baue bauen koche kochen kriege krieg bekomme",
    "french": "faire fait utiliser créer préparer",
    "spanish": "hacer hago hace usar crear preparar",
    "italian": "fare fa usare creare preparare",
    "portuguese": "fazer faço faz usar criar crio preparar",
}
#: The share of the other words of a question that the heading of its answer has, together with those above it.
_SHARE = 2 / 3


def headed_lists(text: str) -> list[Span]:
    """Return the spans of headings directly above lists, without their markup; but of those that announce it."""
    return [
        _without_attributes(found)
        for found in _HEADED.finditer(text)
        if not (found["between"] or found[_name_of(found)]).rstrip("* _\n").endswith((":", "："))
        and (found["between"] is None or found["number"] is not None)
        and not is_in_block(text, found.start())
    ]


def _without_attributes(found: re.Match[str]) -> Span:
    start, end = found.span(_name_of(found))
    attributes = HEADING_ATTRIBUTES.search(found[_name_of(found)])
    return Span(start, end if attributes is None else start + attributes.start(), said=True)


def _name_of(found: re.Match[str]) -> str:
    return next(name for name in ("atx", "bold", "underlined") if found[name] is not None)


def asks_how_to(question: str) -> bool:
    """Return whether a question asks for a way to do something.

    Example:
        >>> asks_how_to("How do I renew my badge?"), asks_how_to("How old is the mill?")
        (True, False)
    """
    return _HOW_TO.search(question) is not None


def is_numbered(text: str, heading: Span) -> bool:
    """Return whether the list below a heading is numbered, as steps are."""
    found = _list_below(text, heading.start)
    return found is not None and found["number"] is not None


def is_directly_above(text: str, heading: Span) -> bool:
    """Return whether nothing comes between a heading and the list below it."""
    found = _list_below(text, heading.start)
    return found is not None and found["between"] is None


def end_above_list(text: str, heading_start: int) -> int:
    """Return the end of the line above the list below the heading that begins at a place."""
    found = _list_below(text, heading_start)
    return len(text) if found is None else text.rfind("\n", 0, found.end())


def _list_below(text: str, heading_start: int) -> re.Match[str] | None:
    return _HEADED.match(text, text.rfind("\n", 0, heading_start) + 1)


def words_asked(question: str, language: str) -> set[str]:
    """Return the words of a question, analysed in the language of a passage; "do" and the like only if all are such.

    Example:
        >>> words_asked("How do I make rye bread?", "english") == {"rye", "bread"}
        True
    """
    words = set(analyze(question, language))
    return words - set(analyze(_DOING.get(language, ""), language)) or words


def share_answered(asked: Set[str], own: Set[str], above: Set[str], *, of_steps: bool) -> float:
    """Return how much of a question a heading of a list is about; 0 if that is not enough to show the list.

    Args:
        asked: The words of the question, analysed.
        own: Those of the heading.
        above: Those of the headings and the title above it.
        of_steps: Whether the question asks for steps, and the list has some: their heading may be "Directions".
    """
    share = len(asked & (own | above)) / (len(asked) or 1)
    return share if share >= _SHARE and (of_steps or not asked.isdisjoint(own)) else 0.0
