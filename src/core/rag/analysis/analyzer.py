"""Keyword analysis: which words go into the text index, and which words a query looks for.

The same analysis serves every engine: its result holds only lower-case letters and digits, so no engine's own
tokenizer changes it (Grafeo: ``tokenizer="standard"``, whose default drops single letters and English stop words;
Neo4j: the ``whitespace`` analyzer). Each word of a result is one index word; quote it where the engine has operators.

What happens to a text: NFKC, case folded, accents removed; compounds kept whole and in parts (``snake_case``,
``camelCase``, ``3.11``, ``C++``, addresses); Chinese, Japanese, Korean and Thai cut into short overlapping pieces;
function words left out; the rest stemmed by Snowball (M. F. Porter, https://snowballstem.org).

How languages meet: a chunk is stemmed in its own language, told by its function words, else as English. A query is
too short to tell which of the other languages it is in, so unless it is plainly English it looks for the stems of
its words in every language: a word of the query finds a word of the chunk if the chunk's own stemmer makes them one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Final

from core.rag.analysis.filler_phrases import without_asking
from core.rag.analysis.language import (
    DEFAULT_LANGUAGE,
    SAMPLE_WORDS,
    detect_language,
    is_surely_english,
    language_name,
    typed_words,
)
from core.rag.analysis.stopwords import LATIN_LANGUAGES
from core.rag.analysis.words import (
    MAX_TERM_BYTES,
    fold,
    folded_stop_words,
    is_stop_word,
    latin_stems,
    parts,
    sign_of,
    stem,
)
from libs.regexes import regex

#: Maximum number of distinct words of a query; the most frequent, then the first, are kept.
MAX_QUERY_TERMS: Final = 128
#: Maximum number of characters of a query that are analysed.
MAX_QUERY_CHARACTERS: Final = 20_000

#: How often the words of a title stand in the index.
TITLE_WEIGHT: Final = 5

# A stem in another language that is this short is likely to be another word: "care" is "car" in Italian.
_SHORTEST_FOREIGN_STEM: Final = 4
# What stands behind an English verb, and is written together with it where it is a noun: back up, a backup.
_PARTICLES: Final = frozenset({"up", "in", "out", "off", "on", "down", "over", "back", "away"})
# Languages whose verbs are written in one word with what stands at the end of a question: "Wie setze ich … zurück?".
_SEPARATED: Final = {
    "german": regex(
        r"\b([^\W\d_]{3,30}) (?:ich|wir|man|du|sie|ihr|er|es)\b[^,.;:?!\n]{0,200}?\s"
        r"(ab|an|auf|aus|bei|durch|ein|fest|frei|her|hin|hinzu|hoch|los|mit|nach|neu|um|vor|weg|weiter|wieder|zu|zurück"
        r"|zusammen)(?=\s*(?:[,.;:?!]|\Z))",
        re.IGNORECASE,
    ),
    "dutch": regex(
        r"\b([^\W\d_]{3,30}) (?:ik|we|wij|je|jij|men|u)\b[^,.;:?!\n]{0,200}?\s"
        r"(aan|af|bij|door|in|mee|na|om|op|over|samen|terug|toe|uit|voor|weg)(?=\s*(?:[,.;:?!]|\Z))",
        re.IGNORECASE,
    ),
}
# Languages that write function words together with others, by an apostrophe or a hyphen.
_ELIDING: Final = frozenset({"french", "italian", "portuguese", "romanian"})
_APOSTROPHE: Final = regex("['’]")
_CACHE_ENTRIES: Final = 300_000
_CACHED_CHARACTERS: Final = 64
_JOINTS: Final = r"(?:[._'’@&+-]|(?<=[0-9]):(?=[0-9])|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"
_PUNCTUATION: Final = ".,;:!?()[]{}\"'"
#: The last part of a path or address, or of a name with blanks, if it has an ending. "e.g" is none.
_FILE_NAME: Final = regex(r"(?<![^/\\\s?#])[^/\\\s?#]+\w\.[A-Za-z]\w{0,7}(?=[?#]|\Z)")
#: What a question asks to do with what it is about: "Please summarize the chapter on tides".
_REQUEST: Final = regex(
    r"\s*(?:(?:please|can you|could you|would you|bitte|kannst du|können sie|peux-tu|pouvez-vous|puedes)\s+)*"
    r"(?:summari[sz]e|explain|describe|outline|tell|show|give|erkläre?|beschreibe?|zeige?|expliquer?|expliquez|décris"
    r"|résumer?|résumez|montrez?|explica(?:me)?|explícame|resume|muéstrame)\s+(?:(?:me|us|mir|uns|moi|nous)\s+)?"
    r"(?:(?:an?|the)\s+(?:summary|overview|description|explanation)\s+of\s+)?"
    r"(?=(?:about|the|an?|this|that|these|those|all|how|what|why|when|where|which|who|whether|my|our|your|chapter|section"
    r"|der|die|das|den|wie|was|warum|le|la|les|comment|pourquoi|el|los|las|cómo|por)\s+\S)",
    re.IGNORECASE,
)
# language -> token as it stands between spaces -> its index words, joined by spaces
_caches: dict[str, dict[str, str]] = {}


@cache
def _ascii_surfaces() -> re.Pattern[str]:
    word = "[A-Za-z0-9]++"
    return re.compile(rf"{word}(?:{_JOINTS}{word})*+(?:\+\+|#(?![A-Za-z0-9]))?")


@cache
def letters() -> str:
    """Return the pattern of a run of letters and digits with the marks inside words, which ``\\w`` leaves out."""
    codes = (code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"})
    return rf"(?:[^\W_]++[{''.join(map(chr, codes))}\u200c\u200d]*+)++"


@cache
def _surfaces() -> re.Pattern[str]:
    word = letters()
    return re.compile(rf"{word}(?:{_JOINTS}{word})*+(?:\+\+|#(?!\w))?")


def _split(token: str) -> list[str]:
    """Return the surface words in a token: runs of letters and digits with what joins them."""
    if token.isascii():
        return _ascii_surfaces().findall(token)
    return _surfaces().findall(unicodedata.normalize("NFKC", token))


def _terms(token: str, language: str, *, keep_stop_words: bool = False) -> list[str]:
    terms: list[str] = []
    for surface in _split(token):
        words = parts(surface)
        if language in _ELIDING and not keep_stop_words:
            words = _without_joined(words, surface, language)
        for word, ordinary in words:
            if not ordinary:
                terms.append(word)
            elif keep_stop_words or not is_stop_word(word, language):
                terms.append(stem(word, language))
    if not terms and (sign := sign_of(token)):
        return [sign]
    return [term for term in terms if term]


def _without_joined(words: list[tuple[str, bool]], surface: str, language: str) -> list[tuple[str, bool]]:
    """Return the words of a surface without those joined of function words and at most one other.

    ``qu'est-ce``, ``existe-t-il`` and ``dell'ebbe`` are words that only stand together, and not one as ``e-mail`` is.
    """
    ordinary = [not is_stop_word(word, language) for word, is_ordinary in words if is_ordinary]
    if len(words) < 3 or not ordinary or sum(ordinary) > 1:
        return words
    is_behind = any(ordinary[1:]) and not _APOSTROPHE.search(surface)
    return words if is_behind else [pair for pair in words if pair[1]]


def _learn(tokens: Iterable[str], language: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the index words of ``tokens``: plain ASCII words all at once, the others one by one.

    Args:
        tokens: As they stand between spaces.
        language: Their language.
        known: Those of other tokens.
    """
    stop = folded_stop_words(language)
    words: dict[str, str] = {}
    learned: dict[str, str] = {}
    for token in tokens:
        word = token if token.isalpha() else token.strip(_PUNCTUATION).removesuffix("'s")
        if not word.isascii():
            learned[token] = " ".join(_terms(token, language))
        elif word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
            word = word.lower()
            words[token] = "" if word in stop else word
        elif word.isdigit():
            learned[token] = word[:MAX_TERM_BYTES]
        elif token[-1] == "," and token[-2:-1].isalnum() and (terms := known.get(token[:-1])):
            learned[token] = terms  # a value in the line of a record, which is in the row of the table without a comma
        else:
            learned[token] = " ".join(_terms(token, language))
    learned.update(zip(words, latin_stems(list(words.values()), language), strict=True))
    return learned


def _analyze(tokens: list[str], language: str) -> str:
    if not tokens:
        return ""
    known = _caches.get(language)
    if known is None or len(known) > _CACHE_ENTRIES:
        known = _caches[language] = {}
    values = list(map(known.get, tokens))
    if None in values:
        learned = _learn({token for token, value in zip(tokens, values, strict=True) if value is None}, language, known)
        known.update((token, value) for token, value in learned.items() if len(token) <= _CACHED_CHARACTERS)
        values = [learned[token] if value is None else value for token, value in zip(tokens, values, strict=True)]
    joined = " ".join(filter(None, values))
    if not joined:
        # nothing but function words, like the title "The Who": all that there is to find it by
        joined = " ".join(term for token in tokens for term in _terms(token, language, keep_stop_words=True))
    return joined


def analyze(text: str, language: str | None = None) -> list[str]:
    """Return the index words of ``text``, in order, with repetitions.

    Args:
        text: Any text.
        language: Name or code of its language (``german``, ``de``); None or an unknown one: told from the text.

    Returns:
        Words of lower-case letters and digits, each at most 39 bytes long. Function words are left out unless there
        is nothing else.
    """
    tokens = text.split()
    return _analyze(tokens, language_name(language) or detect_language(tokens)).split()


def index_terms(title: str | None, heading: str | None, content: str) -> str:
    """Return the value of a chunk's ``terms``: the index words of its title, heading and content, joined by spaces.

    The words of the title stand there :data:`TITLE_WEIGHT` times: a word of the title says more about a chunk than one
    of its text.

    Args:
        title: Title of the document.
        heading: Heading path of the chunk.
        content: Text of the chunk.
    """
    titles, headings, contents = (title or "").split(), (heading or "").split(), content.split()
    name = _language(contents, headings, titles)
    title_terms, heading_terms = _analyze(titles, name), _analyze(headings, name)
    return " ".join(filter(None, [*[title_terms] * TITLE_WEIGHT, heading_terms, _analyze(contents, name)]))


def naming_terms(title: str, headings: Sequence[str], content: str) -> tuple[frozenset[str], list[frozenset[str]]]:
    """Return the index words of the names of a chunk, in the language for which :func:`index_terms` takes it.

    Args:
        title: Title of the document.
        headings: Headings of the chunk, outermost first.
        content: Text of the chunk.

    Returns:
        The words of the title, and those of each heading.
    """
    titles, parts = title.split(), [heading.split() for heading in headings]
    name = _language(content.split(None, SAMPLE_WORDS), list(chain.from_iterable(parts)), titles)
    return frozenset(_analyze(titles, name).split()), [frozenset(_analyze(part, name).split()) for part in parts]


def _language(contents: list[str], headings: list[str], titles: list[str]) -> str:
    return detect_language([*contents[:SAMPLE_WORDS], *headings, *titles])


def file_word(path: str) -> list[str]:
    """Return the index word of the name of a file, as :func:`query_terms` has it too; none without an ending.

    Example:
        >>> file_word("notes/server-access.md"), file_word("https://example.com/notes")
        (['serveraccessmd'], [])
    """
    name = _FILE_NAME.search(path)
    surfaces = _split(name[0])[-1:] if name is not None else []
    return [word for surface in surfaces for word, ordinary in parts(surface) if not ordinary][:1]


def query_terms(
    text: str,
    language: str | None = None,
    *,
    limit: int = MAX_QUERY_TERMS,
) -> list[str]:
    """Return the distinct words to look for in the text index.

    Args:
        text: The query as typed; only its first ``MAX_QUERY_CHARACTERS`` count.
        language: Name or code of the query's language, for its function words; None: told from the query.
        limit: How many words at most: the most frequent of the query's, then the first.

    Returns:
        Words as ``analyze`` makes them, without repetitions: first those in the query's own language, then, unless it
        is plainly English, their stems in the others. Empty only if the query has no letter or digit.
    """
    tokens = text[:MAX_QUERY_CHARACTERS].split()
    own = language_name(language) or detect_language(typed_words(tokens))
    request = _REQUEST.match(text)
    tokens = without_asking(text[request.end() if request is not None else 0 : MAX_QUERY_CHARACTERS]).split()
    ranked = [term for term, _ in Counter(_analyze(tokens, own).split()).most_common(limit)]
    signs = tokens[:-1] if tokens[-1:] == ["?"] else tokens  # it may stand apart from the last word
    ranked += filter(None, (sign_of(one, bare=True) for one in signs))
    if own != DEFAULT_LANGUAGE or not (language or is_surely_english(tokens)):
        words = _ordinary(tokens, own, limit)
        for name in _others(own):
            stems = [stem(word, name) for word in words if not is_stop_word(word, name)]
            ranked.extend(term for term in stems if len(term) >= _SHORTEST_FOREIGN_STEM)
    return list(dict.fromkeys(ranked))[:limit]


def short_stems(text: str) -> dict[str, frozenset[str]]:
    """Return the stems that :func:`query_terms` leaves out, since they are so short: ``caf`` of "café" in French.

    Args:
        text: The query as typed; only its first ``MAX_QUERY_CHARACTERS`` count.

    Returns:
        By stem, the index words that are looked for instead. None if the query is plainly English.
    """
    tokens = text[:MAX_QUERY_CHARACTERS].split()
    own = detect_language(typed_words(tokens))
    if own == DEFAULT_LANGUAGE and is_surely_english(tokens):
        return {}
    found: dict[str, frozenset[str]] = {}
    for word in _ordinary(tokens, own, MAX_QUERY_TERMS):
        others = {stem(word, name) for name in _others(own) if not is_stop_word(word, name)}
        short = {term for term in others if 1 < len(term) < _SHORTEST_FOREIGN_STEM}
        looked_for = frozenset({stem(word, own), *(others - short)})
        found |= dict.fromkeys(sorted(short - looked_for), looked_for)
    return found


def _ordinary(tokens: Iterable[str], own: str, limit: int) -> list[str]:
    """Return the words of a query in its language that have stems in others; function words if there are no others."""
    surfaces = Counter(surface for token in tokens for surface in _split(token)).most_common(limit)
    words = [word for surface, _ in surfaces for word, ordinary in parts(surface) if ordinary]
    return [word for word in words if not is_stop_word(word, own)] or words


def _others(own: str) -> list[str]:
    return [name for name in dict.fromkeys((DEFAULT_LANGUAGE, *LATIN_LANGUAGES)) if name != own]


def joined_terms(text: str, language: str | None = None, *, verbs: bool = False) -> dict[str, frozenset[str]]:
    """Return two words of a query joined to one: ``backup`` of "back up", ``database`` of "data base".

    Also a verb of German or Dutch and what stands at the end of the question: "Wie setze ich es zurück?".

    Args:
        text: The query as typed; only its first ``MAX_QUERY_CHARACTERS`` count.
        language: Name or code of its language; None: told from the query.
        verbs: Only those of verbs with a particle.

    Returns:
        The index words, with those of the two that they are made of. Neither is a function word, but for the particle
        of an English verb.
    """
    tokens = text[:MAX_QUERY_CHARACTERS].split()
    own = language_name(language) or detect_language(tokens)
    joined: dict[str, frozenset[str]] = {}
    for first, second in pairwise(tokens):
        behind = second.rstrip(_PUNCTUATION)
        two = (first.lower(), behind.lower())
        if len(behind) < 2 or not (first.isalpha() and behind.isalpha()) or is_stop_word(two[0], own):
            continue
        of_verb = own == DEFAULT_LANGUAGE and two[1] in _PARTICLES
        if not of_verb and (verbs or is_stop_word(two[1], own)):
            continue
        word = "".join(two)
        if len(word) <= _CACHED_CHARACTERS:
            joined[stem(word, own)] = frozenset(stem(part, own) for part in two if not is_stop_word(part, own))
    if (separated := _SEPARATED.get(own)) is not None:
        for verb, particle in separated.findall(text[:MAX_QUERY_CHARACTERS].lower()):
            parts_of = (part for part in map(fold, (verb, particle)) if not is_stop_word(part, own))
            joined[stem(fold(particle + verb), own)] = frozenset(stem(part, own) for part in parts_of)
    return joined
