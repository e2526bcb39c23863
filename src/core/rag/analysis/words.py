"""Normalises a word of a text into the words of the keyword index.

Every engine must see exactly the same words: Memgraph's index (Tantivy) and Grafeo's "standard" tokenizer both split
at everything that is not a letter or digit and put the rest in lower case, Memgraph drops words of 40 bytes or more,
and Lucene has rules of its own for scripts without spaces. So only letters and digits come out of here, already in
lower case, at most ``MAX_TERM_BYTES`` long, and ``a+b`` or ``3.11`` are spelt out as one word.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from core.rag.analysis.english_spellings import one_spelling
from core.rag.analysis.stopwords import OTHER_SCRIPTS, stop_words
from libs.regexes import regex

if TYPE_CHECKING:
    import Stemmer

#: Longest index word, in bytes of UTF-8. Memgraph's text index drops words of 40 bytes and more without a word.
MAX_TERM_BYTES: Final = 39

# The name of the stemmer for a script; the script decides, so that a word has one stem wherever it stands.
_SCRIPT_STEMMERS: Final = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
    "ARMENIAN": "armenian",
}
# Letters that decompose into nothing but are typed as plain ones.
_LETTERS: Final = str.maketrans(
    {
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "ı": "i",
        "ħ": "h",
        "ŧ": "t",
        "ŋ": "n",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ə": "e",
        "ё": "е",
        "ѐ": "е",
        "ѝ": "и",
        "ς": "σ",
    }
)
# Marks that make another letter rather than an accented one: they are kept (kana voicing) or put back (й).
_KANA_MARKS: Final = "\u3099\u309a"
_BREVE: Final = "\u0306"

# Scripts written without spaces. Chinese and Japanese characters count alone and in pairs, kana and hangul in pairs.
_HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA_HANGUL: Final = "\u3040-\u30ff\u31f0-\u31ff\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f"
_SEGMENT: Final = regex(f"[{_HAN}{_KANA_HANGUL}]+|[{_UNSPACED}]+|[^{_HAN}{_KANA_HANGUL}{_UNSPACED}]+")
_HAN_CHARACTER: Final = regex(f"[{_HAN}]")
_EAST_ASIAN_CHARACTER: Final = regex(f"[{_HAN}{_KANA_HANGUL}]")
_UNSPACED_CHARACTER: Final = regex(f"[{_UNSPACED}]")

_CAMEL: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME_PREFIXES: Final = frozenset({"Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van", "Von", "Fitz", "St"})
_ACRONYM: Final = regex(r"[^\W\d_](?:\.[^\W\d_])+")
_CONNECTORS: Final = regex(r"[.,:'’_@&+#-]+")
#: A version, or a verse or time: 2.3.1, 3:16.
_VERSION: Final = regex(r"[vV]?(\d+(?:[.:]\d+){1,7})")
_SYMBOLS: Final = {"++": "plusplus", "#": "sharp"}

#: A sign of at most three characters as the whole of a piece of code: "the `?` operator".
_SIGN: Final = regex(r"[^\w`]*`([!-/:-@\[-_{-~]{1,3})`[^\w`]*")
#: The same without its marks, in a query; not what separates words, or begins an item, there.
_BARE_SIGN: Final = regex(r"(?!(?:[-*#.]{1,3}|[>/&|:;,=~])\Z)[!-/:-@\[-_{-~]{1,3}")

#: The English stemmer leaves an i in verify, diagnosis and hypothesis, not in verification, diagnose and hypotheses.
_LEFT_I: Final = regex(r"[a-z]{2,}(?:if|[eoy]s)i")

_lock = threading.Lock()


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer

    return Stemmer.Stemmer(language, 0)


@cache
def folded_stop_words(language: str) -> frozenset[str]:
    """Return the function words of ``language`` as they are after folding."""
    return frozenset(fold(word) for word in stop_words(language))


@cache
def _folded_of_other_scripts() -> frozenset[str]:
    return frozenset().union(*map(folded_stop_words, OTHER_SCRIPTS))


def _keep(character: str) -> bool:
    """Return whether every engine takes ``character`` for a part of a word."""
    category = unicodedata.category(character)
    # Vowel signs of Indic scripts are letters to Unicode ("Alphabetic"), viramas and nuktas are not.
    return category[0] in "LN" or (
        category in {"Mn", "Mc"} and "\u0900" <= character <= "\u0dff" and unicodedata.combining(character) == 0
    )


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Return a word in lower case without accents: NFKC, full case folding, marks removed where they are accents.

    Indic vowel signs, kana voicing marks and the Russian й stay, for they make other letters.
    """
    if word.isascii():
        return word.lower()
    lowered = unicodedata.normalize("NFKC", word).casefold().lower()
    kept: list[str] = []
    for character in unicodedata.normalize("NFD", lowered):
        if unicodedata.category(character) in {"Mn", "Me"}:
            if character in _KANA_MARKS or "\u0900" <= character <= "\u0dff":
                kept.append(character)
            elif character == _BREVE and kept and kept[-1] == "и":
                kept[-1] = "й"
            continue
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_LETTERS)


def _plain(word: str) -> str:
    """Return a word reduced to what every engine takes for one word, cut to ``MAX_TERM_BYTES``."""
    if not (word.isascii() and word.isalnum()):
        word = "".join(filter(_keep, word))
    if len(word) * 4 <= MAX_TERM_BYTES:
        return word
    encoded = word.encode()
    return word if len(encoded) <= MAX_TERM_BYTES else encoded[:MAX_TERM_BYTES].decode(errors="ignore")


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


def stem(word: str, language: str) -> str:
    """Return the stem of one folded ``word``: by its script, and by ``language`` if it is written in Latin letters."""
    if not word.isalpha() and any(character.isdigit() for character in word):
        return _plain(word)
    name = "" if word.isascii() else _SCRIPT_STEMMERS.get(_script(word[0]), "")
    if name:
        with _lock:  # a Snowball stemmer holds its word in place
            return _plain(fold(_stemmer(name).stemWord(word)))
    if not word.isascii() and _script(word[0]) != "LATIN":
        return _plain(word)
    return latin_stems([word], language)[0]


def sign_of(token: str, *, bare: bool = False) -> str:
    """Return the index word of a token that is a sign of a programming language; empty if it is none.

    Args:
        token: What stands between spaces.
        bare: Whether it is one without the marks of code, too.

    Example:
        >>> sign_of("(`=>`),") == sign_of("=>", bare=True), sign_of("=>"), sign_of("`a`")
        (True, '', '')
    """
    sign = _SIGN.fullmatch(token)
    if sign is not None:
        return f"sign{sign[1].encode().hex()}"
    return f"sign{token.encode().hex()}" if bare and _BARE_SIGN.fullmatch(token) else ""


def latin_stems(words: list[str], language: str) -> list[str]:
    """Return the stems of many folded words in Latin letters, in one call."""
    if language == "english":
        words = [one_spelling(word) for word in words]
    with _lock:
        stems: list[str] = _stemmer(language).stemWords(words)
    if language == "english":
        stems = [stem[:-1] if stem.endswith("i") and _LEFT_I.fullmatch(stem) else stem for stem in stems]
    if not words or ("".join(stems).isascii() and max(map(len, stems)) <= MAX_TERM_BYTES):
        return stems
    # some stemmers put an accent back, and a word may be longer than an index word
    return [stem if stem.isascii() and len(stem) <= MAX_TERM_BYTES else _plain(fold(stem)) for stem in stems]


def is_stop_word(word: str, language: str) -> bool:
    """Return whether a folded word is left out: by its script, and by ``language`` if it has Latin letters."""
    if word.isascii():
        return word in folded_stop_words(language)
    return word in _folded_of_other_scripts()


def _segments(word: str) -> Iterable[tuple[str, bool]]:
    """Return the words in a folded run of letters, and whether each is ordinary (to be stemmed, maybe a stop word)."""
    if word.isascii():
        yield word, True
        return
    for run in _SEGMENT.findall(word):
        first = run[0]
        if _UNSPACED_CHARACTER.match(first):
            letters = "".join(filter(_keep, run))
            for start in range(max(1, len(letters) - 2)):
                yield letters[start : start + 3], False
        elif _EAST_ASIAN_CHARACTER.match(first):
            for start, character in enumerate(run):
                if len(run) == 1 or _HAN_CHARACTER.match(character):
                    yield character, False
                if start + 1 < len(run):
                    yield run[start : start + 2], False
        else:
            yield run, True


def parts(surface: str) -> list[tuple[str, bool]]:
    """Return the folded words of one surface word: the whole of a compound and its parts.

    Args:
        surface: A run of letters and digits with what joins them (``don't``, ``snake_case``, ``3.11``, ``C++``).

    Returns:
        Pairs of a word and whether it is an ordinary one, to be stemmed and checked for stop words.
    """
    if surface.isascii() and surface.isalnum() and (surface.islower() or surface.istitle() or surface.isupper()):
        return [(surface.lower(), True)]
    found: list[tuple[str, bool]] = []
    body = surface
    for symbol, name in _SYMBOLS.items():
        if surface.endswith(symbol):
            body = surface.removesuffix(symbol)
            found.append((_plain(fold(_CONNECTORS.sub("", body))) + name, False))
    if _ACRONYM.fullmatch(body):
        return [*found, (_plain(fold(body.replace(".", ""))), False)]
    pieces = [piece for piece in _CONNECTORS.split(body) if piece]
    if len(pieces) > 1:
        pieces = _possessive(pieces, body)
    if version := _VERSION.fullmatch(body):
        found += [(word, False) for word in _versions(version[1]) if len(word.encode()) <= MAX_TERM_BYTES]
    elif len(pieces) > 1:
        whole = fold("".join(pieces))
        if len(whole.encode()) <= MAX_TERM_BYTES:
            found.append((whole, False))
        if all(piece.isdigit() for piece in pieces) and "," in body:
            return found
    for piece in pieces:
        humps = _humps(piece)
        if len(humps) > 1:
            found.append((fold(piece), True))
        for hump in humps:
            found.extend(_segments(fold(hump)))
    return found


def _versions(version: str) -> Iterable[str]:
    """Return a version number, and those that it is one of, each as one word: 2.3.1 is also a 2.3."""
    numbers = version.replace(":", ".").split(".")
    return ("dot".join(numbers[:count]) for count in range(len(numbers), 1, -1))


def _possessive(pieces: list[str], body: str) -> list[str]:
    """Return the pieces without an English possessive, or a French or Italian article before the apostrophe."""
    if "'" not in body and "’" not in body:
        return pieces
    if pieces[-1] in {"s", "S"}:
        return pieces[:-1]
    if len(pieces) == 2 and pieces[0].lower() in {"l", "d", "j", "m", "n", "s", "t", "c", "qu", "dell", "all", "un"}:
        return pieces[1:]
    return pieces


def _humps(piece: str) -> list[str]:
    """Return the parts of a camelCase name, or ``[piece]``; names like McDonald and DeVito are left whole."""
    if not piece.isascii() or piece.islower() or piece.isupper():
        return [piece]
    humps = _CAMEL.split(piece)
    if len(humps) == 1 or humps[0] in _NAME_PREFIXES or len(humps) > 12 or min(map(len, humps)) < 2:
        return [piece]
    return humps
