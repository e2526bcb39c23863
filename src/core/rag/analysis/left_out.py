"""What a question wants left out or turned off: options are called by it, "--no-cache" of "without a cache"."""

from __future__ import annotations

import re
from typing import Final

from core.rag.analysis.words import MAX_TERM_BYTES, fold
from libs.regexes import regex

_LEFT_OUT: Final = regex(
    r"\b(?:without|disabl(?:e|es|ed|ing)|skip(?:s|ped|ping)?|(?:turn|switch)(?:s|es|ed|ing)? off|ohne|sans|sin"
    r"|senza|sem|zonder|utan|uten|uden|bez|без|deaktivier\w+(?: (?:ich|wir|man))?|schalte (?:ich|wir|man)"
    r"|(?:d[eé]s(?:h?abilit|activ)|disattiv|disabilit)\w+|отключить|выключить)"
    r"\s+(?:(?:an?|the|any|all|its|my|das|den|die|le|la|les|el|il|os?|as?|um|uma|de|het)\s+)?"
    r"([^\W\d_]\w*(?:[ -][^\W\d_]\w*){0,2})"
    r"|(?:不(?:使用|用|要|带)|禁用|关闭|跳过|關閉) ?([A-Za-z]\w*(?:[ -][A-Za-z]\w*){0,2})"
    r"|(?<![A-Za-z0-9_])([A-Za-z]\w{0,40}(?:[ -][A-Za-z]\w{0,40}){0,2}) ?(?:なし|を(?:使わ|使用せ|無効|オフ))",
    re.IGNORECASE,
)


def option_words(question: str) -> list[str]:
    """Return the index words of options that leave out what a question wants left out; empty if it wants nothing so.

    Such an option is one word in the index, and its parts are words of many other texts.

    Example:
        >>> option_words("How do I install it without build isolation?"), option_words("What is a cache?")
        (['nobuild', 'nobuildisolation'], [])
    """
    found = (match[match.lastindex or 0] for match in _LEFT_OUT.finditer(question))
    phrases = [fold(phrase).replace("-", " ").split() for phrase in found]
    names = (f"no{''.join(words[:count])}" for words in phrases for count in range(1, len(words) + 1))
    return [name for name in dict.fromkeys(names) if len(name.encode()) <= MAX_TERM_BYTES]
