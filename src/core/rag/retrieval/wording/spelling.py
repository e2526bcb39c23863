"""Typing errors in questions: a word that nothing has is taken for one of documents that differs in one letter.

The words of the documents are not read for that: the keyword index is asked which there are of the words that one
typing error makes of the mistyped one, about 50 for each letter. Of several, the one that goes with the rest of the
question is taken: they are searched for together with it, and the passages found decide.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from core.rag.analysis import query_terms
from core.rag.analysis.language import DEFAULT_LANGUAGE, question_language
from core.rag.analysis.words import fold, is_stop_word, stem
from core.rag.dbhandler.kept import Kept
from core.rag.embedder import WordLlamaEmbedding
from core.rag.retrieval.as_read import filter_of
from core.rag.retrieval.wording.compounds import LANGUAGES as COMPOUNDING
from core.rag.retrieval.wording.compounds import in_parts
from core.rag.schema import Label
from core.rag.together import all_together
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.retrieval.filters import Filter

#: Shorter words differ from too many others in one letter; longer ones are no words.
_SHORTEST: Final = 5
_LONGEST: Final = 24
_SHORTEST_NAME: Final = 6
#: Longer texts were not typed.
_MOST_TOKENS: Final = 64
_MOST_CHARACTERS: Final = 1_000
#: Words of one question that are corrected.
_MOST: Final = 4
#: Passages that are looked at for a word, and what a possible word weighs for their order, compared with the others.
_PASSAGES: Final = 10
#: So many more are looked for where a filter lets only some of them pass.
_DEEPER: Final = 20
_WEIGHT: Final = 3.0
#: Two letters that are swapped are a typing error more likely than that a letter is another one.
_SWAPPED: Final = 2.0

#: Words of questions about all documents, which no document needs to have: "Summarize these documents".
_OF_QUESTIONS: Final = frozenset(
    (
        "document documents documentation files sources topics summarize summarise summary overview dokumente "
        "dokumenten dateien unterlagen themen ubersicht uberblick zusammenfassung fichiers themes resume apercu "
        "documentos archivos fuentes temas resumen"
    ).split()
)

#: Dictionaries, by the names of languages. Without one, nobody can tell an error from a word that no document has.
_CODES: Final = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
}

_names: Final[Kept[frozenset[str]]] = Kept({Label.ENTITY}, patience=60.0)

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_MARKS: Final = regex("[\u0300-\u036f]+")
_WORD: Final = regex(r"[^\W\d_]+")
#: Words between blanks, perhaps with a hyphen and punctuation of sentences; no addresses, paths, options, calls, codes.
_TYPED: Final = regex(r"(?<!\S)[(\[¿¡*\"'“”„«‘‚]*[^\W\d_]+(?:['’-][^\W\d_]+)*[)\]*\"'“”»’‘.,;:!?…]*(?!\S)")
_QUOTED: Final = regex(r"""(?<!\w)["“„«`][^"“”«»`]*["”“»`](?!\w)|(?<!\w)['‘‚][^'‘’‚]*['’‘](?!\w)""")


async def corrections(
    client: MemGraphClient, text: str, filters: str | Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return the words of a question that no document has, with the words that were probably meant.

    A compound of two words that documents have is these two.

    Words in quotation marks, in capitals, with digits or of fewer than five letters are not corrected, nor are words
    that are common in general.

    Args:
        client: The graph.
        text: The question.
        filters: What is meant is a word of documents that pass; nobody learns words of others from it.

    Returns:
        As they stand in the question, and as they stand in a document.

    Raises:
        InvalidInputError: on a filter that is none.
    """
    wanted = filter_of(filters)
    tokens = text.split()
    if len(tokens) > _MOST_TOKENS or len(text) > _MOST_CHARACTERS:
        return {}
    language = question_language(tokens)
    if language not in _CODES and language not in COMPOUNDING:
        return {}
    languages = tuple(dict.fromkeys((language, DEFAULT_LANGUAGE)))
    words = _looked_up(text, language)
    stems = {word: {stem(fold(word), name) for name in languages} for word in words}
    there = await client.known_terms(set().union(*stems.values())) if stems else set()
    unknown = [word for word in words if not stems[word] & there]
    apart: dict[str, str] = {}
    nowhere: list[str] = []
    if language in COMPOUNDING and unknown:
        nowhere = await _nowhere(client, unknown, stems)
        apart = await in_parts(client, [word for word in unknown[:_MOST] if word in nowhere], language, wanted)
        unknown = [word for word in unknown if word not in apart]
    if language not in _CODES:
        return apart
    unknown = [word for word in unknown if len(fold(word)) <= _LONGEST]
    if unknown:
        for name in languages:
            await asyncio.to_thread(_dictionary, name)  # others need not wait while it is loaded
    unknown = [word for word in unknown if not _is_in_dictionary(fold(word), languages)]
    if (unknown := unknown[:_MOST]) and language not in COMPOUNDING:
        nowhere = await _nowhere(client, unknown, stems)
    unknown = [word for word in unknown if word in nowhere]
    meant = await all_together(_meant(client, word, text, languages, wanted) for word in unknown)
    return apart | {word: found for word, found in zip(unknown, meant, strict=True) if found}


def applied(text: str, words: Mapping[str, str]) -> str:
    """Return a question with its words corrected."""
    if not words:
        return text
    quoted = [match.span() for match in _QUOTED.finditer(text)]

    def of(match: re.Match[str]) -> str:
        return match[0] if any(start <= match.start() < end for start, end in quoted) else words.get(match[0], match[0])

    return _TYPED.sub(lambda token: _WORD.sub(of, token[0]), text)


def told_of(words: Mapping[str, str]) -> str:
    """Return a sentence about what was corrected, without its end."""
    return "Searched for " + ", ".join(f"“{there}” instead of “{typed}”" for typed, there in words.items())


async def _nowhere(client: MemGraphClient, words: Sequence[str], stems: Mapping[str, set[str]]) -> list[str]:
    """Return those words of a question that no record and no name has, either."""
    there = await client.known_terms(set().union(*(stems[word] for word in words)), Label.RECORD)
    there |= await _names.get(client, partial(_words_of_names, client))
    return [word for word in words if not {*stems[word], fold(word)} & there]


async def _words_of_names(client: MemGraphClient) -> frozenset[str]:
    """Return the words of names that no passage has: of entities that were made by hand, or come from records."""
    rows = await client.read(
        "MATCH (e:Entity) WHERE e.namespace = $namespace AND coalesce(e.mention_count, 0) = 0 "
        "RETURN collect(e.name) AS names"
    )
    return frozenset(fold(word) for row in rows for name in row["names"] for word in _WORD.findall(name))


def is_corrected(typed: str, text: str) -> bool:
    """Return whether a text may be a question whose words were corrected, or taken apart; also if it had none."""
    others = text.split()
    at = 0
    for word in typed.split():
        if at < len(others) and (word == others[at] or _may_be(word, others[at])):
            at += 1
        elif fold("".join(others[at : at + 2])) == fold(word):
            at += 2
        else:
            return False
    return at == len(others)


def _looked_up(text: str, language: str) -> list[str]:
    """Return the words of a question that may be mistyped."""
    typed = " ".join(match[0] for match in _TYPED.finditer(_QUOTED.sub(" ", text)))
    words = {word: fold(word) for word in _WORD.findall(typed)}
    in_capitals = text.isupper()
    return [
        word
        for word, plain in words.items()
        if (_SHORTEST_NAME if _is_name(word, text) else _SHORTEST) <= len(plain)
        and (in_capitals or word[1:].islower())
        and set(plain) <= set(_LETTERS)
        and not is_stop_word(plain, language)
        and not _is_common(plain)
    ]


async def _meant(client: MemGraphClient, word: str, text: str, languages: Sequence[str], wanted: Filter | None) -> str:
    """Return the word that was probably meant; empty if none is known. The first language is that of the question."""
    is_name = _is_name(word, text)
    own = fold(word)
    likely = _typed_as(own)
    function = next((one for one in likely if is_stop_word(one, languages[0])), "")
    if function and not is_name:
        return function
    possible: dict[str, list[str]] = {}
    for candidate in likely:
        for name in languages:
            possible.setdefault(stem(candidate, name), []).append(candidate)
    there = await client.known_terms(possible)
    of_question = next((one for one in likely if one in _OF_QUESTIONS), "")
    if is_name and languages[0] != "german":  # whose nouns have capitals, too
        of_question = ""
    if not there:
        return of_question
    rest = dict.fromkeys(query_terms(text.replace(word, " ")), 1.0)
    terms = {**rest, **dict.fromkeys(there, _WEIGHT)}
    matches = await client.match_terms(terms, _PASSAGES if wanted is None else _DEEPER * _PASSAGES)
    if wanted is not None:
        from core.rag.retrieval.legs import Legs

        passing = await Legs(client, None).passing(wanted, [match.id for match in matches])
        matches = [match for match in matches if match.id in passing][:_PASSAGES]
    chunks = await client.chunks_by_id([match.id for match in matches])
    found: dict[str, float] = {}
    for match in matches:
        if (chunk := chunks.get(match.id)) is None:
            continue
        for other in set(_WORD.findall(f"{chunk['title']} {chunk['heading']} {chunk['content']}")):
            plain = fold(other)
            if plain == own:  # in another language, whose stems are others
                return ""
            if plain in likely:
                if not is_name or other[0].isupper():
                    found[other] = found.get(other, 0.0) + likely[plain] * match.score
            elif not is_name:
                # Another form of a word that the text has. There are forms of what is no word, too: "booke", of "book".
                forms = {one for name in languages for one in possible.get(stem(plain, name), ())}
                for one in (one for one in forms if _is_in_dictionary(one, languages)):
                    found[one] = found.get(one, 0.0) + likely[one] * match.score / 2
    return max(sorted(found), key=found.__getitem__) if found else of_question


def _may_be(typed: str, meant: str) -> bool:
    """Return whether one typing error in each word makes of one token the other."""
    if _WORD.sub(" ", typed) != _WORD.sub(" ", meant):
        return False
    pairs = zip(_WORD.findall(typed), _WORD.findall(meant), strict=True)
    return all(one == other or (len(one) <= _LONGEST and fold(other) in _typed_as(fold(one))) for one, other in pairs)


def _is_name(word: str, text: str) -> bool:
    """Return whether a word has a capital that is not that of a sentence, or of all words."""
    first = _WORD.search(text)
    return word[0].isupper() and not text.isupper() and (first is None or word != first[0])


@lru_cache(maxsize=4096)
def _is_common(word: str) -> bool:
    """Return whether a word is so common that the embedder's tokenizer knows it as a whole."""
    return WordLlamaEmbedding().count_tokens(word) == 1


def _is_in_dictionary(word: str, languages: Iterable[str]) -> bool:
    """Return whether a folded word is in the dictionary of a language."""
    return any(word in _dictionary(name) for name in languages)


@cache
def _dictionary(language: str) -> Container[str]:
    """Return the words of a language, folded: many people type no accents. Loaded once (0.1 to 0.8 s)."""
    from spellchecker import SpellChecker

    words = "\n".join(SpellChecker(language=_CODES[language]).word_frequency.dictionary)
    plain = _MARKS.sub("", unicodedata.normalize("NFD", words)).split("\n")  # quicker than one by one
    return frozenset(word if word.isascii() else fold(word) for word in plain)


def _typed_as(word: str) -> dict[str, float]:
    """Return the words of which one typing error makes a word: letters swapped, left out, added or exchanged.

    The first letter is right, unless it was swapped. The values say how likely they are, compared with each other.
    """
    found = {word[:at] + word[at + 1] + word[at] + word[at + 2 :]: _SWAPPED for at in range(len(word) - 1)}
    for at in range(1, len(word) + 1):
        before, behind = word[:at], word[at:]
        found |= dict.fromkeys((before + letter + behind for letter in _LETTERS), 1.0)
        if behind:
            found |= dict.fromkeys((before + letter + behind[1:] for letter in ("", *_LETTERS)), 1.0)
    return found
