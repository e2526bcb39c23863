"""What kind of thing a question asks for, if it says so: a number, a time, a person or a place."""

from __future__ import annotations

import re
from collections.abc import Callable

from libs.regexes import regex

# In English, German, French, Spanish, Italian, Portuguese, Dutch, Russian, Turkish, Chinese, Japanese and Korean.
_NUMBER = regex(
    r"\bhow (?:many|much|long|far|old|tall|large|big|fast|high|deep|wide|often|hot|cold|heavy|late|early)\b"
    r"|\b(?:what|which) (?:is the |was the |are the )?(?:average |maximum |minimum |total |highest |lowest |default )?"
    r"(?:percent|percentage|number|amount|population|temperature|proportion|share|size|cost|price|budget|limit|height|"
    r"length|width|depth|weight|distance|speed|age|rate)\b"
    r"|\b(?:what|which) (?:\w+ ){0,4}(?:accuracy|precision|recall|score|loss|RMSE|MAE|MSE|AUC|correlation|slope"
    r"|intercept|coefficients?|mean|median|standard deviation|variance|probability|ratio|shape)\b"
    r"|\bwie ?(?:viele?[nrm]?(?! uhr)|lange|hoch|gro(?:ß|ss)|weit|alt|oft|schnell|schwer|tief|breit|teuer)\b"
    r"|\bcombien\b|\bquel(?:le)? (?:est|était) (?:le prix|la taille|le nombre|l['’]âge)\b"
    r"|\bcuánt[oa]s?\b|\bquant[oaie]s?\b|\bhoe (?:veel|lang|ver|oud|hoog|groot|vaak|snel)\b|\bhoeveel\b"
    r"|\bсколько\b|\bкак (?:долго|часто|много)\b|\bkaç\b|\bne kadar\b|多少|[几幾](?!乎)|多[长長大远遠高重久]"
    r"|いくつ|いくら|何[人個年回歳時分本枚件%]|몇|얼마",
    re.IGNORECASE,
)
_TIME = regex(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|time)\b|\b(?:date|day|year|time) of\b"
    r"|\bwann\b|\bwelche[mnrs]? (?:jahr|datum|tag|monat)|\bgeburts(?:datum|tag)\b|\bquand\b|\bquelle (?:année|date)\b"
    r"|\bcuándo\b|\b(?:qué|que) (?:año|fecha|día|ano|data|dia)\b|\bfecha de\b|\bquando\b"
    r"|\b(?:che|quale) (?:anno|data|giorno)\b"
    r"|\bwanneer\b|\b(?:welk|welke) (?:jaar|datum|dag)\b|\bкогда\b|\bкаком (?:году|веке)\b|\bne zaman\b"
    r"|\b(?:quelle heure|wie ?viel uhr|uhrzeit|qué hora|que hora|che ora|hoe laat|во сколько|saat kaçta)"
    r"|几点|幾點|\bhangi (?:yıl|tarih|gün)|什么时候|什麼時候|何时|何時|哪(?:一)?[年天月]|いつ|何[年月日]|언제",
    re.IGNORECASE,
)
#: What is compared by time: "Which film came out first, Ebb or Flow?"
_ORDER = regex(
    r"\b(?:first|earlier|later|older|younger|oldest|youngest|earliest|latest|sooner|before|after)\b.*\bor\b"
    r"|\bor\b.*\b(?:first|earlier|later|older|younger|sooner)\b|\b(?:is|was) (?:older|younger)\b",
    re.IGNORECASE,
)
_NAME = regex(
    r"\A\W*(?:who|whom|whose|where)\b|\b(?:who|where) (?:is|was|were|did|does|are|has|had|can|should|will)\b"
    r"|\b(?:what|which|whose) (?:\w+ )?(?:person|player|artist|author|actor|actress|director|king|queen|president"
    r"|city|country|state|town|place|county|region|continent|university|school|company|nationality)\b"
    r"|\b(?:qui|quién|quem|chi|wie(?= (?:is|was|waren|zijn|heeft|werd)\b)|wer|кто|кого|кем|kim|kimdir"
    r"|où|dónde|donde|onde|dove|waar|где|nerede)\b",
    re.IGNORECASE,
)
_DIGITS = regex(r"\d+")
_NUMERAL = regex(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|billions?"
    r"|half|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos"
    r"|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|tre|quattro|cinque|sette|otto|nove|dieci|twee|drie|vijf|zes|zeven|tien"
    r"|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)\b"
    r"|[一二三四五六七八九十百千万億亿两]",
    re.IGNORECASE,
)
#: A year, a time of the day, a day of the week, a month (none that is a word of another kind, too), or a century.
_DATE = regex(
    r"(?<!\d)(?:1\d|20)\d\d(?!\d)|(?<!\d)\d{1,2}[/:]\d{1,2}"
    # A version has dots, too: "16.6.0", and "2.1." at the end of a sentence.
    r"|(?<![\d.])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?!\d(?!\d)|\s*\Z)"
    r"|(?<![\d.,])\d{1,2}(?:\.\d\d)?\s?(?:h(?:\d\d)?|Uhr|[ap]\.?m\.?|[AP]M|o['’]clock)(?!\w)|(?<!\d)\d{1,4}\s?[年月日년월일]|世[纪紀]"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Januar|Februar|März|Juni|Juli|Oktober|Dezember"
    r"|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tags?|Mittwochs?"
    r"|janvier|février|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    r"|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    r"|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|dezembro"
    r"|januari|februari|maart|augustus|oktober|январ[ья]|феврал[ья]|марта|апрел[ья]|июн[ья]|июл[ья]|августа|сентябр[ья]"
    r"|октябр[ья]|ноябр[ья]|декабр[ья]|[Oo]cak|[Şş]ubat|[Nn]isan|[Mm]ayıs|[Hh]aziran|[Tt]emmuz|[Aa]ğustos"
    r"|[Ee]ylül|[Ee]kim|[Kk]asım|[Aa]ralık|[Cc]entury|[Cc]enturies|Jahrhunderts?|siècle|siglo|secolo|século|eeuw|век[ае]?|yüzyıl\w*)\b"
)
#: A word with a capital within a sentence. German has one in every noun, and scripts without capitals have none.
_CAPITAL = regex(r"(?<=[^\W\d_A-Z][ ,;(])[(\"'“‘«]?([A-ZÄÖÜÉÀÇÑА-ЯЁİŞ]\w+)")

#: Whether a sentence has what the question asks for.
Kind = Callable[[str], bool]


def kind_asked(question: str) -> Kind | None:
    """Return what tells sentences with the kind of thing that a question asks for; ``None``: it asks for no such thing.

    What the question has itself does not count: "How many of the 12 guests came?" is not answered by 12.

    Example:
        >>> kind = kind_asked("How many seats are there?")
        >>> kind("It has 40 seats."), kind("The seats are red.")
        (True, False)
    """
    kinds: list[Kind] = []
    if _NUMBER.search(question):
        kinds.append(lambda text: _has_other(_DIGITS, text, question) or _has_other(_NUMERAL, text, question))
    if asks_when(question):
        kinds.append(lambda text: _has_other(_DATE, text, question))
    if _NAME.search(question):
        kinds.append(lambda text: _has_other(_CAPITAL, text, question))
    return (lambda text: any(has(text) for has in kinds)) if kinds else None


def asks_when(question: str) -> bool:
    """Return whether a question asks for a time, or what came first."""
    return _TIME.search(question) is not None or _ORDER.search(question) is not None


def _has_other(pattern: re.Pattern[str], text: str, question: str) -> bool:
    """Return whether a text has something that a pattern matches and the question lacks."""
    return bool(_all(pattern, text) - _all(pattern, question))


def _all(pattern: re.Pattern[str], text: str) -> set[str]:
    return {found[found.lastindex or 0].casefold() for found in pattern.finditer(text)}
