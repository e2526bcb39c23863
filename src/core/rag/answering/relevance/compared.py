"""A question, and passages, as they are compared with each other: by the words that they have, and by names."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from core.rag.analysis import analyze, index_terms, query_terms
from core.rag.analysis.joined_words import Together
from core.rag.analysis.language import DEFAULT_LANGUAGE, question_language
from core.rag.answering.relevance.scores import matches, search_terms
from core.rag.answering.types import Analysis, FoundEntity, Knowledge
from core.rag.answering.understanding.intents import has_words, subject_of
from core.rag.bm25 import idf
from core.rag.embedder.likeness import likeness
from core.rag.extraction.names import names_in
from core.rag.extraction.words import folded, normalize_name
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.legs import SAMPLE_SIZE, Legs
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: A passage has to do with a question: as likely as not.
RELEVANT = 0.5
#: An entity whose name is this similar to one of the question may be what is meant, but for a typing error.
SIMILAR_NAME = 0.5
#: So are the words of both, in percent; also a word of a name and one of a passage.
SIMILAR_WORD = 80
#: Share of a question that its names are, from which on it is about them: "Hi Bob, how long is the leave?" is not.
NAMED = 0.4
#: Words of a question that are looked at.
_MOST_WORDS = 500
#: The shortest part of a compound that is looked for in words of passages.
_SHORTEST_PART = 5
#: Letters of a name in a script without spaces that is more than one ordinary word.
_LONG_NAME = 4
_ACRONYM = regex(r"\b[A-Z]{2}")
_LAST_LATIN = "\u0250"
_HIRAGANA = regex(r"[\u3041-\u309f]")
_LATIN_WORD = regex(r"[A-Za-z][A-Za-z\d_.+-]+(?<![.-])")

#: The words of a question: of each its stems, in the language of the question and in those that documents may be in,
#: with how much the word tells.
Words = Mapping[frozenset[str], float]


class Passage(NamedTuple):
    """A hit, the words that it has, and how alike the question it is."""

    hit: Hit
    words: Set[str]
    likeness: float

    @classmethod
    def of(cls, hit: Hit, usual: float = 0.0) -> Passage:
        """Analyse the words of a hit.

        Args:
            hit: It.
            usual: The cosine that is usual for the embedder (:func:`core.rag.embedder.likeness.usual_cosine`).
        """
        above = f"{hit.heading} {hit.table_header} {hit.fields}"
        words = set(index_terms(hit.title, above, hit.content).split())
        return cls(hit, words, max(likeness(hit.scores.get("vector", 0.0), usual), 0.0))

    def likelihood(self, share: float, trust: float = 1.0) -> float:
        """Return how likely it is that it has to do with a question, from 0 to 1.

        Args:
            share: How much of the question its words are.
            trust: How much its likeness counts.
        """
        return 1 - (1 - share) * (1 - trust * self.likeness)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as passages are compared with it.

    Attributes:
        forms: The words of the question, and those together with what was said before; one of the two is enough.
        names: What it names, normalised.
        written: The names that it writes as such, normalised, with their stems.
        is_named: Whether these names, abbreviations left out, are much of what it says.
        before: The words of what was said before.
        in_english: Whether it is in English, the language of most that models of embeddings have read.
        in_latin: Whether it is in Latin letters.
        says_nothing: Whether it has function words only and nothing was said before: "What is it?", not "What is IT?".
        together: What it writes apart and passages may write in one word, and the other way round.
    """

    forms: tuple[Words, ...]
    names: tuple[str, ...]
    written: Mapping[str, frozenset[str]] = field(default_factory=dict)
    is_named: bool = False
    before: Words = field(default_factory=dict)
    in_english: bool = True
    in_latin: bool = True
    says_nothing: bool = False
    together: Together = field(default_factory=lambda: Together(""))

    @classmethod
    async def in_graph(cls, client: MemGraphClient, analysis: Analysis, before: str = "") -> Asked:
        """From the analysis of a question; a sample of the graph tells how rare its words are.

        Raises:
            StoreError: if the graph fails.
        """
        return cls.of(analysis, before, await Legs(client, None).sampled_words())

    @classmethod
    def of(cls, analysis: Analysis, before: str = "", sample: Collection[Collection[str]] = ()) -> Asked:
        """From the analysis of a question.

        Args:
            analysis: The question.
            before: What was said before that it goes on with: "And when was that?" has no word of its own.
            sample: The words of some passages drawn by lot; of all where there are few.
        """
        subject = subject_of(analysis.query)
        texts = (subject, f"{before}\n{subject}") if before else (subject,)
        forms = tuple(weighed(text, sample) for text in texts)
        written = names_in(analysis.query)
        foreign = _foreign_words(subject)
        names = [
            term
            for term in search_terms(() if analysis.fallback else analysis.entities)
            # A single word in lower case may well be the title of something quite different.
            if analysis.by_model or term in written or term in foreign or _says_more(term) or len(forms[0]) <= 2
        ]
        stems = {
            name: frozenset().union(*words_of(found.text)) for name, found in written.items() if not name.isdigit()
        }
        # Texts may write out what a question abbreviates.
        spelt = frozenset().union(*(stems[name] for name in stems if not written[name].text.isupper()))
        stems |= (nouns := _german_nouns(subject) | foreign)
        spelt = spelt.union(*nouns.values())
        is_named = bool(spelt) and share_of(forms[0], spelt) >= NAMED
        earlier = weighed(before, sample) if before else {}
        says_nothing = not (before or stems or has_words(subject) or _ACRONYM.search(subject))
        languages = _is_english(subject), _is_latin(subject)
        return cls(forms, tuple(names), stems, is_named, earlier, *languages, says_nothing, Together(subject))

    def trust(self, share: float) -> float:
        """Return how much the cosine counts of a passage whose words are this share of the question."""
        if self.in_english:
            return 1.0
        return math.sqrt(share) if self.in_latin else share

    def goes_on(self, passage: Passage) -> bool:
        """Return whether a passage is about what was said before; the question itself does not count."""
        return bool(self.before) and passage.likelihood(share_of(self.before, passage.words)) >= RELEVANT

    def is_unknown(self, passages: Iterable[Passage], knowledge: Knowledge) -> bool:
        """Return whether the question is about what it names, and nothing that was found has any of these names."""
        if not self.is_named or any(self._has_name(passage) for passage in passages):
            return False
        if any(is_called(entity, self.written) for entity in knowledge.entities):
            return False
        return not any(matches(fact.fact, self.written) for fact in knowledge.facts)

    def _has_name(self, passage: Passage) -> bool:
        from rapidfuzz import fuzz, process

        stems = frozenset().union(*self.written.values())
        return not stems.isdisjoint(passage.words) or any(
            process.extractOne(stem, passage.words, scorer=fuzz.ratio, score_cutoff=SIMILAR_WORD)
            or (len(stem) >= _SHORTEST_PART and any(stem in word for word in passage.words))
            for stem in stems
        )

    def share(self, passage: Passage) -> float:
        """Return how much of the question the words of a passage are, from 0 to 1."""
        words = self.words_in(passage)
        return max(share_of(form, words) for form in self.forms)

    def words_in(self, passage: Passage) -> set[str]:
        """Return the words of a passage, with those of the question that it has in another spelling."""
        return self.together.terms(passage.hit.content, passage.words).union(passage.words)


def is_called(entity: FoundEntity, names: Collection[str]) -> bool:
    """Return whether the name of an entity has one of these in it, or is one of them but for a typing error per word.

    One word in common is too little: MEMGRAPH_PASSWORD is not what "Memgraph Enterprise" means.
    """
    from rapidfuzz import fuzz

    if entity.similarity >= SIMILAR_NAME:
        own = folded(normalize_name(entity.name)).split()
        for words in (folded(name).split() for name in names):
            alike = all(fuzz.ratio(word, other) >= SIMILAR_WORD for word, other in zip(words, own, strict=False))
            if (alike and len(words) == len(own)) or "".join(words) == "".join(own):
                return True
    return matches(entity.name, names)


def _says_more(name: str) -> bool:
    """Return whether a normalised name is more than a word; without spaces, a word has about two letters."""
    parts = name.split()
    return len(parts) > 1 and (len(parts) >= _LONG_NAME or any(len(part) > 1 for part in parts))


def _german_nouns(text: str) -> dict[str, frozenset[str]]:
    """Return the nouns of a German question (words with capitals after the first) with their stems; else none."""
    first, *words = [word.strip(".,;:!?()\"'„“") for word in text.split()[:_MOST_WORDS]] or [""]
    if question_language([first, *words]) != "german":
        return {}
    nouns = {word: frozenset(analyze(word, "german")) for word in words if word[:1].isupper()}
    return {normalize_name(word): stems for word, stems in nouns.items() if stems}


def _foreign_words(text: str) -> dict[str, frozenset[str]]:
    """Return the words in Latin letters of a text in another script with their stems: "chmod 有什么作用？"."""
    if _is_latin(text):
        return {}
    # Texts may write out what a question abbreviates.
    words = {word for word in _LATIN_WORD.findall(text)[:_MOST_WORDS] if not word.isupper()}
    stems = {word: frozenset(query_terms(word)) for word in words}
    return {normalize_name(word): own for word, own in stems.items() if own}


def _is_latin(text: str) -> bool:
    return all(character < _LAST_LATIN for character in text if character.isalpha())


def _is_english(text: str) -> bool:
    """Return whether a question may be English: by its letters, and without function words of only other languages."""
    return _is_latin(text) and question_language(text.split()) == DEFAULT_LANGUAGE


def weighed(text: str, sample: Collection[Collection[str]]) -> Words:
    """Return the words of a text with their idf.

    Args:
        text: A question, or a part of one.
        sample: The words of some passages drawn by lot.
    """
    # Few passages say little about how rare a word is: then all words count much the same.
    size = max(len(sample), SAMPLE_SIZE)
    return {stems: idf(size, sum(not stems.isdisjoint(words) for words in sample)) for stems in words_of(text)}


def words_of(text: str) -> set[frozenset[str]]:
    """Return the words of a text, each with its stems, without function words if there are others."""
    tokens = text.split()[:_MOST_WORDS]
    language = question_language(tokens)
    own, of_any_language = set(analyze(text, language)), set(query_terms(text))
    words: set[frozenset[str]] = set()
    for token in tokens:
        stems = own.intersection(analyze(token, language))
        if len(stems) == 1:
            words.add(frozenset(stems | of_any_language.intersection(query_terms(token, language))))
        else:  # a compound, or a language without spaces
            words.update(frozenset((stem,)) for stem in stems)
    # In Japanese, the endings of words, and what stands between them.
    return {stems for stems in words if not any(map(_HIRAGANA.search, stems))} or words


def share_of(words: Words, found: Collection[str]) -> float:
    """Return the weight of the words that were found as a share of all, from 0 to 1."""
    total = math.fsum(words.values())
    return math.fsum(weight for stems, weight in words.items() if not stems.isdisjoint(found)) / total if total else 0.0
