"""Acronyms that are also function words, such as WHO, US and IT: capitals may also be emphasis or an operator.

So the spelling alone is not enough; something in the text has to say it: what it stands for, or a place in which the
function word cannot stand. Without that, ``do NOT``, ``this IS it``, ``a OR b`` and ``WHERE x IN y`` are no names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from libs.regexes import regex

#: Function words that never stand behind an article, nor alone in parentheses, and that no language of queries or
#: logic has as a keyword. Others ("the OR gate", "the IN clause", "the ONLY one") are acronyms only where it is said
#: what they stand for.
_NEVER_BEHIND_ARTICLE: Final = frozenset("who us it its we me he his can mr ms dr".split())
#: Those that names begin with: US Army, WHO Regional Office, IT Crowd.
_LEADING: Final = frozenset({"US", "WHO", "IT"})
_ARTICLES: Final = frozenset(
    "the a an der die das den dem des ein eine einer le la les un une el los las il lo gli o os as".split()
)
_ACRONYM: Final = regex(r"[A-Z]{2,8}")
_WORD: Final = regex(r"\w+")
_LAST_WORD: Final = regex(r"(?:\A|\s)(\w+)\s+\Z")
#: Maximum distance, in characters, of an acronym from its expansion.
_REACH: Final = 120


def may_be_acronym(word: str) -> bool:
    """Return whether a function word is spelt as an acronym."""
    return _ACRONYM.fullmatch(word) is not None


def is_behind_article(article: str, word: str) -> bool:
    """Return whether the article before a function word in capitals makes it an acronym: ``the WHO``, ``an IT`` firm.

    Args:
        article: The word before; if it is in capitals too, the text is emphasised and gives no information.
        word: The function word.
    """
    plain = article[:1].lower() + article[1:]
    return plain in _ARTICLES and word.lower() in _NEVER_BEHIND_ARTICLE


def leads_name(words: Sequence[str]) -> bool:
    """Return whether a phrase begins with an acronym that is part of the name: ``US Army``, but not ``IT WAS Ann``."""
    return words[0] in _LEADING and len(words) > 1 and not words[1].isupper()


def is_acronym(text: str, start: int, end: int) -> bool:
    """Return whether a text shows that a function word in capitals is an acronym.

    It does by an article before it, by parentheses around it, or by its expansion: before it if it is in parentheses,
    otherwise in parentheses after it.

    Args:
        text: The text.
        start: Where the word begins.
        end: Where it ends.
    """
    word = text[start:end]
    if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        if word.lower() in _NEVER_BEHIND_ARTICLE:
            return True
        before = _WORD.findall(text[max(0, start - _REACH) : start])
        return _initials(before[-len(word) :]) == word.lower()
    if text[end : end + 2] == " (":
        inside = text[end + 2 : end + 2 + _REACH].partition(")")[0]
        return _initials(_WORD.findall(inside)) == word.lower()
    before_it = _LAST_WORD.search(text, max(0, start - 10), start)
    return before_it is not None and is_behind_article(before_it[1], word)


def _initials(words: list[str]) -> str:
    return "".join([word[0] for word in words]).lower()
