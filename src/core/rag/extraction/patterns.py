"""The regular expressions behind :mod:`core.rag.extraction.names`.

Those that look through whole texts begin with a character or a set of them, and look behind from there: a search for
anything else takes several times as long.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

from core.rag.extraction.words import UNSPACED
from libs.regexes import regex

#: Small words that may stand inside a name: Bank of England, Vasco da Gama, Ludwig van Beethoven.
JOINERS: Final = (
    "of the|of|the|de la|de las|de los|de|du|des|da|das|do|dos|del|della|delle|degli|dei|di|la|le|les|von der|von dem|"
    "von|van der|van den|van|(?<=V[ao]n )de[rnm]?|zu|zur|zum|ter|ten|bin|ibn|al|el|y|e|af|av|ap|op de|op|sur|für|im|am"
    "|&"
)
# What joins names in texts of other languages (Ramón y Cajal, Frankfurt am Main) is an everyday word in its own: it
# stands between two names (Madrid y Barcelona) or, where all nouns have capitals, two nouns (Treffen am Montag).
_EVERYDAY: Final = {
    "german": {"im", "am", "das", "des", "zum", "zur"},
    "french": {"sur"},
    "italian": {"e", "al"},
    "portuguese": {"e", "al"},
    "spanish": {"y", "e", "al"},
}
# The same written together with the name behind it: Neil deGrasse Tyson.
_PREFIXED: Final = "(?:de|del|della|di|da|du|la|le|mac|van|von)"
# The same before a vowel: Conseil d'État, Palais de l'Élysée, Accademia dell'Arcadia.
_ELIDED: Final = "d(?:e l|ell)?['’]"
# What follows the capital of an abbreviation before a name (St., Dr., Mr., Prof., Gen. …), or within one: & Co. KG.
_ABBREVIATIONS: Final = r"t|r|rs|s|rof|en|ol|apt|gt|ev|o(?=\. (?:KGaA|KG|OHG|GmbH|AG|SE|Ltd|LLC|Inc)\b)"

# What a number counts: in Rome 20 years ago, Boil 2 cups.
_COUNTABLE: Final = (
    r"[kmcd]?[gml]|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?|years?|seconds?|secs?|times?|miles?|people|percent|per"
    r"|cups?|tbsps?|tsps?|tablespoons?|teaspoons?|cloves?|oz|lbs?|thousand|million|billion"
    r"|Sekunden?|Minuten?|Stunden?|Tagen?|Wochen?|Monaten?|Jahren?|Prozent|Millionen|Mal"
    r"|heures?|jours?|semaines?|mois|ans|années|fois|pour cent|horas?|días?|semanas?|meses|años|veces|ore|giorni|mesi"
    r"|anni|dias?|anos|uur|dagen|weken|maanden|jaar|лет|года?|дней"
)

#: Code in a text: fenced blocks, and what is between two backticks (group 1) or one (group 2), within a paragraph,
#: whatever its length: else the backtick that ends a span of one letter would begin the next one.
CODE: Final = regex(
    r"```.*?(?:```|\Z)"
    r"|``(?!`)((?:[^`\n]|`(?!`)|\n(?![ \t]*\n)){1,400}?)``(?!`)"
    r"|`((?:[^`\n]|\n(?![ \t]*\n)){1,400})`",
    re.DOTALL,
)

#: Formulas: their letters and functions are no names. Between prices, or variables of a shell, is none.
FORMULA: Final = regex(
    r"\$\$[^$]{1,4000}\$\$|(?<![\w$\\])\$(?![\s$])(?:[^$\n]|\n(?![ \t]*\n)){1,300}(?<![\s\\])\$(?![\w$])"
)

#: Addresses, and the targets of Markdown links: their words are no names.
ADDRESSES: Final = regex(
    r"(?<![a-z0-9_])[a-z][a-z0-9+.-]{1,15}://[^\s<>\"')\]。，、；！？）」』》]+|\]\([^()\s]*\)", re.IGNORECASE
)

#: The names of components in MDX and the like, ``<FileTree>``, not ``Vec<String>``; those of their attributes that say
#: nothing to a reader; and where they come from.
COMPONENTS: Final = regex(
    r"(?<![\w<]<)(?<=<)[A-Z][\w.]*|(?<=</)[A-Z][\w.]*(?=>)"
    r"|(?<=\s)(?:id|key|ref|type|variant|icon|class(?:Name)?|href|src|style)=(?:\"[^\"\n]*\"|'[^'\n]*'|\{[^{}\n]*\})"
    r"|^import\s[^\n]{1,400}?\sfrom\s+['\"][^'\"\n]+['\"]",
    re.MULTILINE,
)

#: The beginning of a note in VuePress, Docusaurus and MyST: ``:::tip Title``, ``:::{note}``.
CONTAINER: Final = regex(r"^[ \t>]*:{3,}[ \t]*\{?\w+\}?", re.MULTILINE)

#: Headings of Markdown, short ones.
HEADING: Final = regex(r"^#{1,6}[ \t]+([^\n]{1,60})$", re.MULTILINE)

#: Quoted terms: group 1 between marks that have a direction, group 2 between plain ones; wiki links are such, too.
QUOTED: Final = regex(
    r"[\"“„«\[](?:(?:(?<=[“„«])|(?<=\[)\[)\s?([^“”„«»\"\n\[\]|]{2,80}?)\s?(?:[”“»]|\]\]|\|[^\]\n]{0,80}\]\])"
    r"|(?<=\")\s?([^\"“”\n]{2,80}?)\s?\")"
)

_INWARD: Final = regex(r"(?:^|[\s(\[])»(?=\w)|(?<=\w)«(?=[\s.,;:!?)\]]|$)", re.MULTILINE)
_OUTWARD: Final = regex(r"(?:^|[\s(\[])«(?=[\s\w])|(?<=[\s\w])»(?=[\s.,;:!?)\]]|$)", re.MULTILINE)
_TURN: Final = str.maketrans("«»", "»«")

#: The same between the marks of East Asia, as group 1; what has a comma or a full stop in it is speech. Apart from the
#: others, for in texts without these marks it costs next to nothing.
QUOTED_IN_EAST_ASIA: Final = regex(r"[《〈「『]\s?([^《》〈〉「」『』\n。！？，、]{2,30}?)\s?[》〉」』]")

#: How a word in kanji is read: 王子《おうじ》.
READING: Final = regex(r"[《〈](?<=[\u3005\u3400-\u9fff].)\s?[\u3041-\u30ff]{1,20}\s?[》〉]")

#: A year of the second or third millennium, alone, or before the sign for a year of East Asia; words of scripts without
#: spaces may stand before it.
YEAR: Final = regex(
    rf"[12](?<!(?:[^\W{UNSPACED}]|[.,/#-]).)(?:(?<=1)[0-9]{{3}}|(?<=2)0[0-9]{{2}})(?:(?=[年년])|(?![\w/]|[.,-]\d))",
    re.DOTALL,
)

#: Names of things in code, in the middle of prose: ``snake_case``, ``CMAKE_<LANG>_FLAGS``, ``camelCase``, ``call()``.
IDENTIFIER: Final = regex(
    r"\b[A-Za-z][A-Za-z0-9]*(?:_(?:[A-Za-z0-9]+|<[A-Za-z]+>(?=_)))+\b(?:\(\))?"
    # Not what stands between two names: Neil deGrasse Tyson.
    rf"|\b(?!(?<=[a-z.] ){_PREFIXED}[A-Z][a-z]+ [A-Z][a-z])[a-z]+[A-Z][A-Za-z0-9]*\b"
    r"|\b[a-z][a-z0-9]{2,}\(\)"
)

#: Base64 and the like, also where a piece of an address is all that a chunk has of it: letters, but no words.
SHORTEST_ENCODED: Final = 64
ENCODED: Final = regex(rf"(?<![A-Za-z0-9+/=%_-])[A-Za-z0-9+/=%_-]{{{SHORTEST_ENCODED},}}")

#: Measures of recipes, which some spell with a capital: 2 Cups Flour.
UNITS: Final = frozenset(
    "Tbsp Tbsps Tsp Tsps Tablespoon Tablespoons Teaspoon Teaspoons Cup Cups Oz Ounce Ounces Lb Lbs Ml Kg".split()
)
_AMOUNT: Final = regex(r"(?<![\w.,/-])[0-9½¼¾⅓⅔⅛][0-9½¼¾⅓⅔⅛/.]{0,3}[ -]?\Z")

#: Pictures and the like around a heading; what such a picture is made of is among the marks.
_SYMBOLS: Final = "\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f"
_SYMBOL: Final = regex(f"[{_SYMBOLS}]")
_SYMBOLS_AROUND: Final = regex(rf"\A[\s{_SYMBOLS}]+|[\s{_SYMBOLS}]+\Z")

#: The words around an ``&``.
_AND_SIGN: Final = regex(r"([^\W\d_]\w+) & ([^\W\d_]\w+)")

# What makes a number any number: the bars of a table with nothing else between them, and the name of a field that ends
# so, with nothing else behind it.
_CELL_BEGINS: Final = regex(r"\|[ \t]*\Z")
_CELL_ENDS: Final = regex(r"[ \t]*(?:\||$)", re.MULTILINE)
_FIELD_BEGINS: Final = regex(
    r"(?:\b|_|(?-i:(?<=[a-z])(?=[A-Z])))(?:id|no|nr|num|number|code|zip|plz|postcode|count|quantity|qty|amount|price|total|size|port)"
    r" ?: *\Z",
    re.IGNORECASE,
)
_FIELD_ENDS: Final = regex(r"[ \t]*$", re.MULTILINE)

# What makes a number that of a provision or page, not a year; what is between several: articles 1445, 1447 et 1450.
_OF_PROVISION: Final = regex(
    r"(?:§|\b(?:art(?:icles?|ikeln?|ículos?|icol[oi]|igos?|s?\.)|pages?|pp?\.|seiten?))\s*\Z", re.IGNORECASE
)
_AND_OF_PROVISION: Final = regex(r"\s*(?:,|-|–|et|and|und|y|e|ou|or|oder|to|à|bis|a)\s*(?:l['’]article\s)?")

# What makes a number an amount of money: € 1450, 1450 euros.
_CURRENCY: Final = r"[$€£¥₹₽₩]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CAD|AUD)\b"
_PAID: Final = regex(rf"(?:{_CURRENCY})[ \t\xa0]?\Z")
_PAYS: Final = regex(
    rf"[ \t\xa0]?(?:{_CURRENCY}|(?:euros?|dollars?|pounds?|francs?|Franken|kroner|kronor|yen)\b)", re.IGNORECASE
)

#: The number of a section before what its heading says: 5.2. Framing.
_SECTION: Final = regex(r"[0-9]{1,3}(?:\.|(?:\.[0-9]{1,3})+\.?)[ \t]+(?=[^\W\d_])")

#: What a name begins with that has a number before its hyphen: 5-HT2A, 7-Eleven.
PREFIX: Final = regex(r"(?<![\w.,:/–-])[0-9]{1,3}-\Z")

#: A sign of ``camelCase``.
HUMP: Final = regex(r"[A-Z](?<=[a-z].)")

#: A name in capitals only, such as an acronym: NASA, U.S.
ACRONYM: Final = regex(r"(?:[A-Z][A-Z0-9&-]{1,7}|(?:[A-Z]\.){2,})")


def years_in(text: str) -> Iterator[str]:
    """Yield the years in a text; a number alone in a cell of a table or a field like ``order_id`` may be anything."""
    provision = -1  # where the last number of a provision ends
    for match in YEAR.finditer(text):
        start, end = match.span()
        before = max(0, start - 12)
        if (_CELL_BEGINS.search(text, before, start) and _CELL_ENDS.match(text, end)) or (
            _FIELD_BEGINS.search(text, before, start) and _FIELD_ENDS.match(text, end)
        ):
            continue
        if _PAID.search(text, before, start) or _PAYS.match(text, end):
            continue
        if _OF_PROVISION.search(text, before, start) or (
            provision >= 0 and start - provision < 16 and _AND_OF_PROVISION.fullmatch(text, provision, start)
        ):
            provision = end
        else:
            yield match[0]


def is_symbol(char: str) -> bool:
    """Return whether a character is a picture, an arrow or the like, or a part of one."""
    return char > "\u200c" and _SYMBOL.match(char) is not None


def without_symbols(text: str) -> str:
    """Return a heading without pictures and blanks around it, unless there is nothing else."""
    return text.strip() if text.isascii() else _SYMBOLS_AROUND.sub("", text) or text.strip()


def without_number(heading: str) -> str:
    """Return a heading without the number of its section."""
    return _SECTION.sub("", heading, count=1) if heading[:1].isdigit() else heading


def is_behind_amount(text: str, start: int) -> bool:
    """Return whether an amount stands before a place, such as ``1/2``; a year is none."""
    amount = _AMOUNT.search(text, max(0, start - 6), start)
    return amount is not None and not (amount[0].strip().isdecimal() and len(amount[0].strip()) > 3)


def with_and_signs(text: str) -> str:
    """Return a text that has names with an ``&`` with this everywhere: Procter & Gamble, not Procter and Gamble."""
    for before, after in dict.fromkeys(_AND_SIGN.findall(text)):
        if before[0].isupper() and after[0].isupper() and f"{before} and {after}" in text:
            text = re.sub(rf"\b{before} and {after}\b", f"{before} & {after}", text)
    return text


def with_marks_outward(text: str) -> str:
    """Return a text with its quotation marks «outward», as French has them, also where they are »inward« (German)."""
    return text.translate(_TURN) if len(_INWARD.findall(text)) > len(_OUTWARD.findall(text)) else text


@cache
def identifier_unspaced() -> re.Pattern[str]:
    r"""Return ``IDENTIFIER`` for scripts without spaces, whose characters ``\b`` takes for letters of the same word.

    Compiling it takes as long as all other expressions here, and most texts do not need it.
    """
    boundary = rf"(?:(?<![^\W{UNSPACED}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?![^\W{UNSPACED}]))"
    return re.compile(IDENTIFIER.pattern.replace(r"\b", boundary))


# Behind it come scripts without capitals, and ones of antiquity.
_LAST_CAPITAL: Final = 0x2E00


@cache
def _capitals() -> str:
    codes = (code for code in range(0xC0, _LAST_CAPITAL) if unicodedata.category(chr(code)) in {"Lu", "Lt"})
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "A-Z" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _names(capital: str, language: str, letter: str = r"\w") -> re.Pattern[str]:
    # In Turkish, an ending follows the apostrophe: Norveç'ten, Ankara'daki Gazi Üniversitesi.
    joined = rf"(?:[-&]{letter}+|['’][{capital}]{letter}*)*" if language == "turkish" else rf"(?:[-'’&]{letter}+)*"
    if language == "german":
        joined = rf"(?:[:*/]-?in(?:nen{letter}*|(?!{letter})))?{joined}"  # Nutzer:innen, Mentor/innen
    everyday = _EVERYDAY.get(language, frozenset[str]())
    joiners = "|".join(joiner for joiner in JOINERS.split("|") if joiner not in everyday)
    rest = (
        rf"(?:(?:{_ABBREVIATIONS})\.(?=[ ]?[{capital}])|\.(?:[{capital}]\.)+|\.(?=[ ]?[{capital}])"
        rf"|{letter}*{joined}(?:\.(?:NET|js)(?!\w))?)"  # ASP.NET, Node.js
    )
    more = rf"(?:[ ]{{1,2}}(?:(?:{joiners})[ ]|{_ELIDED}|{_PREFIXED})?[{capital}]{rest}|(?<=\.)[{capital}]{rest})"
    # Apollo 11, but not 11 kg: a number with its unit is a measure. Nor 2-1, but Boeing 747(-400) and Article 515-3.
    number = (
        r"(?:(?:(?<=rticle)|(?<=rtikel))[ ][0-9]{1,4}-[0-9]{1,3}(?![\w-])"
        rf"|[ ][0-9]{{1,3}}(?![\w%]|[.,]\d|[–—-][0-9]{{1,2}}(?![0-9])|[ ](?:{_COUNTABLE}|[°%€])(?![\w-])))?"
    )
    # EE. UU. and JJ. OO.: the letters of a plural.
    doubled = r"([A-Z])\1\.[ ]?([A-Z])\2(?:\.|(?!\w))|" if language == "spanish" else ""
    # The capital of z. B. and u. Ä. begins no name.
    blank = "[ \u00a0\u202f]"
    abbreviated = (
        rf"(?!(?:(?<=\bz\.B)|(?<=\bz\.{blank}B)|(?<=\b[uo]\.[ÄA])|(?<=\b[uo]\.{blank}[ÄA]))\.)"
        if language == "german"
        else ""
    )
    # Deutsches Patent- und Markenamt: the word that ends with the hyphen ends like the next one.
    suspended = rf"{more}*(?:-[ ](?:und|oder)[ ][{capital}]{rest})?" if language == "german" else f"{more}*"
    # It begins with a set of characters, which is what a search is fast for; then that no letter stands before, nor the
    # sign that makes it a unit: 4 °C.
    return re.compile(rf"{doubled}[{capital}](?<!{letter}.)(?<!°.){abbreviated}{rest}{suspended}{number}", re.DOTALL)


@cache
def names(language: str, *, ascii_only: bool, unspaced: bool = False) -> re.Pattern[str]:
    """Capitalised phrases in a text of a language, in plain ASCII or in any script that has capitals.

    Args:
        language: Snowball's name.
        ascii_only: Whether the text has nothing else; for speed.
        unspaced: Whether it has characters of scripts without spaces: names stand between them without any.
    """
    if unspaced:
        return _names(_capitals(), language, letter=rf"[^\W{UNSPACED}]")
    return _names("A-Z" if ascii_only else _capitals(), language)
