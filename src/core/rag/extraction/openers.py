"""Words that begin a sentence but not the name that follows: ``Later the WHO``, ``Yesterday Ada Lovelace``.

Words that begin the names of many works stay out (``Another``, ``Beyond``, ``Two``): to cut a name is worse than to
have one word too many before it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from core.rag.analysis.stopwords import stop_words
from libs.regexes import regex

_OPENERS: Final[dict[str, str]] = {
    "english": """
afterwards already also although currently earlier eventually finally formerly furthermore historically hence initially
instead lastly later likewise meanwhile moreover nevertheless nowadays occasionally originally presently previously
recently shortly similarly simultaneously sometimes soon subsequently thereafter today tomorrow traditionally typically
unfortunately usually yesterday
ah amid besides dear despite following hello hey hi oh okay perhaps regarding several thanks throughout unless unlike
whereas
added choose click deprecated disable enable improved install navigate refactored removed renamed uninstall updated
using verify ensure fix improve
""",
    "german": """
abweichend anfangs bald besonders bislang bisher ebenso endlich erstmals fortan gestern heute heutzutage inzwischen
kürzlich laut leider letztlich siehe liebe lieber mittlerweile oft schließlich schon seither seitdem später unbeschadet
ungeachtet ursprünglich vielleicht vorbehaltlich vorgestern zudem zuerst zugleich zuletzt zunächst
diverse etliche gemäß insgesamt mehrere mehreren mehrerer spätestens verschiedene verschiedenen verschiedener viele
vielen vieler weitere weiteren weiterer weiteres wenige wenigen weniger zahlreiche zahlreichen zahlreicher
""",
    "french": "bonjour cher chère demain enfin ensuite finalement hier malgré merci parfois plutôt selon souvent voir",
    "spanish": """
actualmente anteriormente ayer después entonces estimada estimado finalmente gracias hoy hola luego véase
""",
    "italian": """
attualmente cara caro ciao domani dopo finalmente grazie ieri infine inoltre oggi originariamente poi vedi
""",
    "portuguese": "atualmente depois finalmente hoje inicialmente obrigada obrigado olá ontem posteriormente",
    "dutch": "aanvankelijk beste bovendien daarna eerst gisteren later momenteel oorspronkelijk tegenwoordig vandaag",
    "swedish": "därefter hej idag igår numera senare slutligen ursprungligen",
    "danish": "derefter hej nu oprindeligt senere",
    "norwegian": "deretter hei nå opprinnelig senere",
    "turkish": "ancak ayrıca bugün daha dün fakat örneğin sonra yalnızca",
    "finnish": "aluksi eilen hei lopulta myöhemmin nykyään sitten tänään",
}

# What manuals tell their readers to do. Names begin with these, too (Open Source, Press Association, Run DMC).
_COMMANDS: Final = """
add build change check clear close configure copy create delete download edit enter export find go import launch list
load locate open press push remove restart run save see select set start stop switch tap test try type update upgrade
use view visit
"""

_KEYS: Final = frozenset({"alt", "backspace", "ctrl", "enter", "esc", "escape", "return", "shift", "tab"})

# What one does something to, or with. No more small words: "Boeing in Seattle", "Beijing and".
_OBJECT: Final = regex(r"\s+(?:an?|the|your|its|this|these|those|their|with|up|new|existing|multiple|custom|all)(?=\s)")
_SHORTEST_GERUND: Final = 5

# Not all of them: Rüdiger and Isabelle are people.
_ADJECTIVE: Final = regex(r"\w{3,}(?:(?:isch|lich|bar|sam|haft|los|end)e[mnrs]?|ige[mns]?)")

# What sends the reader to a title, and the word behind its first one: see Managing passwords, not: see Boeing in May.
_REFERRED: Final = regex(r"\b(?:see(?: also)?|refer to)\s+[\"“*_]{0,2}\Z", re.IGNORECASE)
_REFERRAL_CHARS: Final = 16
_LOWER_WORD: Final = regex(r"\s+([a-z]{2,})\b")

# Small words that lost their last letter before a word that is no name: L'arrêt, D'après, Nell'estate.
_ELIDED: Final[dict[str, re.Pattern[str]]] = {
    "french": regex(r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)['’][^\W\d_]", re.IGNORECASE),
    "italian": regex(r"(?:[cdlsv]|un|(?:a|da|de|ne|su|que)ll|quest)['’][^\W\d_]", re.IGNORECASE),
}

# Articles that lost their last letter before a name; as with those below, L'Oréal is one name, but where a sentence
# begins, L'Assemblée is Assemblée.
_ELIDED_ARTICLE: Final[dict[str, re.Pattern[str]]] = {
    "french": regex(r"L['’](?=[^\W\d_])"),
    "italian": regex(r"(?:L|(?:A|Da|De|Ne|Su)ll)['’](?=[^\W\d_])"),
}

# Small words that names begin with: Le Monde, El País, Den Haag, Will Smith. With a capital, where no sentence begins,
# they are part of the name. Not the English article: The Hague and the Hague are one.
_LEADING: Final[dict[str, frozenset[str]]] = {
    "english": frozenset({"will"}),
    "french": frozenset({"le", "la", "les"}),
    "spanish": frozenset({"el", "la", "los", "las"}),
    "italian": frozenset({"il", "lo", "la", "i", "gli", "le"}),
    "portuguese": frozenset({"o", "a", "os", "as", "são"}),
    "german": frozenset({"der", "die", "das"}),
    "dutch": frozenset({"de", "het", "den", "van"}),
}


def may_lead_name(word: str, language: str) -> bool:
    """Return whether a capitalised function word of a language may be the first word of a name."""
    return word[0].isupper() and word.lower() in _LEADING.get(language, ())


def elided_article(word: str, language: str) -> str:
    """Return the article that a capitalised word begins with (L'Assemblée); empty if there is none."""
    article = _ELIDED_ARTICLE[language].match(word) if language in _ELIDED_ARTICLE else None
    return article[0] if article is not None and word[article.end()].isupper() else ""


def is_adjective(word: str) -> bool:
    """Return whether a German word has the ending of an adjective as no given name does: ``Technische``."""
    return _ADJECTIVE.fullmatch(word) is not None


def may_command(word: str) -> bool:
    """Return whether an English word at the beginning of a sentence may be an imperative about what follows."""
    return word.lower() in _commands()


def is_key(word: str) -> bool:
    """Return whether a word is what an English keyboard has on a key: ``Press Enter``."""
    return word.lower() in _KEYS


def opens_sentence(word: str, language: str) -> bool:
    """Return whether a word at the beginning of a sentence is hardly ever part of a name after it.

    Args:
        word: The word, in any case.
        language: Snowball's name of the language of the text; English is always tested, too.
    """
    if word.lower() in _of(language):
        return True
    elided = _ELIDED[language].match(word) if language in _ELIDED else None
    return elided is not None and word[elided.end() - 1].islower()


def begins_title(word: str, text: str, end: int) -> bool:
    """Return whether a capitalised English word begins the title of a section: see Working with Tags, Create a Mill.

    Args:
        word: The word.
        text: The text that it is in.
        end: Where it ends there.
    """
    gerund = word.endswith("ing") and len(word) >= _SHORTEST_GERUND
    if ((gerund and len(word) > _SHORTEST_GERUND) or may_command(word)) and _OBJECT.match(text, end):
        return True
    start = end - len(word)
    following = _LOWER_WORD.match(text, end) if gerund else None
    if following is None or not _REFERRED.search(text, max(0, start - _REFERRAL_CHARS), start):
        return False
    return bool(_OBJECT.match(text, end)) or following[1] not in stop_words("english")


@cache
def _commands() -> frozenset[str]:
    return frozenset(_COMMANDS.split())


@cache
def _of(language: str) -> frozenset[str]:
    return frozenset(f"{_OPENERS['english']} {_OPENERS.get(language, '')}".split())
