"""What a question asks for: its weighted words, and the names in it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import analyze
from core.rag.analysis.language import question_language
from core.rag.analysis.stopwords import stop_words
from core.rag.bm25 import idf
from core.rag.extraction.matching import NameTable, sequences
from core.rag.extraction.mentions import is_sought
from core.rag.extraction.names import names_in
from core.rag.extraction.words import folded, normalized_words
from core.rag.retrieval.graph.neighbourhood import Entity
from libs.regexes import regex

#: Maximum number of words of a question that are searched for names, and of words in a name.
MAX_WORDS: Final = 64
MAX_NAME_WORDS: Final = 10
_SPLIT: Final = regex(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        text: The original text.
        weights: The idf of each analysed word.
        vector: What sentences are compared with; ``None`` if there is none: words only.
        sample: The analysed words of a random sample of chunks.
    """

    text: str
    weights: Mapping[str, float]
    vector: tuple[float, ...] | None = None
    sample: Sequence[AbstractSet[str]] = ()

    def share(self, words: Collection[str]) -> float:
        """Return the share of the question that these words are, from 0 to 1."""
        total = math.fsum(self.weights.values())
        return math.fsum(self.weights[word] for word in self.weights.keys() & words) / total if total else 0.0

    def without(self, words: Collection[str]) -> dict[str, float]:
        """Return the words of the question without these."""
        return {word: weight for word, weight in self.weights.items() if word not in words}

    def commonness(self, name: str) -> float:
        """Return the share of the chunks that have the words of a name of the question, in any case and place.

        Mentions only count text written as a name: "Definition" is a rare mention, but "definition" not a rare word.
        Nor is what a question writes small, such as "the building" or "Cloud instances"; in capitals, "The Return" is
        the name and no less.
        0 for such a name of several words.
        """
        if " " in name and not is_small(name, self.text):
            return 0.0
        words = self.weights.keys() & analyze(name, question_language(self.text.split()))
        having = sum(words <= chunk for chunk in self.sample) if words else 0
        return having / len(self.sample) if having else 0.0


def weigh(terms: Iterable[str], sample: Iterable[AbstractSet[str]]) -> dict[str, float]:
    """Return the idf of words, from the words of a random sample of chunks.

    Five hundred chunks are enough: a word that none of them has is rare.
    """
    held = list(sample)
    return {term: idf(len(held), sum(term in words for words in held)) for term in terms}


def possible_names(text: str) -> list[str]:
    """Return the normalised names that a question may contain: all its sequences of words, each once.

    A single function word only counts if it is spelt as an acronym: "Who leads the WHO?" has one.
    """
    text = text[: 40 * MAX_WORDS]
    words = normalized_words(text)[:MAX_WORDS]
    runs = (" ".join(words[first:end]) for first, end in sequences(words, MAX_NAME_WORDS))
    acronyms = {name for name in names_in(text) if not is_sought(name)}
    return [name for name in dict.fromkeys(runs) if is_sought(name) or name in acronyms]


def is_small(name: str, text: str) -> bool:
    """Return whether a text writes a normalised name small: "how is the building heated?", "for Cloud instances".

    Function words are small within names, too: "The Lord of the Rings" is one wherever its other words have capitals.
    """
    return _capitals_of(name, text) is False


def is_written(name: str, text: str) -> bool:
    """Return whether a text writes a normalised name with capitals; see :func:`is_small`."""
    return _capitals_of(name, text) is True


def _capitals_of(name: str, text: str) -> bool | None:
    """Return whether a text has a name with capitals; ``None`` if it has it not, or in a script without capitals."""
    if name == name.title():
        return None
    written = re.findall(rf"(?<!\w){r'[\W_]+'.join(map(re.escape, name.split()))}(?!\w)", text, re.IGNORECASE)
    language = question_language(text.split())
    return any(not any(map(str.islower, _heads(spelt, language))) for spelt in written) if written else None


def _heads(spelt: str, language: str) -> list[str]:
    """Return the first letters of the words of a name, without its function words unless it has no others."""
    words = _SPLIT.split(spelt)
    telling = [word for word in words if word.lower() not in stop_words(language)]
    return [word[0] for word in telling or words if word]


def but_for_accents(text: str, entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities that a question names with other accents, which many people do not type: "Tide Cafe".

    A single small word is hardly a name: "How much is it worth?" does not ask of Wörth.

    Args:
        text: The question.
        entities: Entities of which the question may name some.
    """
    if text.isascii():
        entities = [entity for entity in entities if not entity.name.isascii()]
    plain = {folded(entity.name): entity for entity in entities}
    if not plain:
        return []
    asked = {name: plain.get(folded(name)) for name in possible_names(text) if " " in name or is_written(name, text)}
    meant = {name: entity for name, entity in asked.items() if entity is not None and entity.name != name}
    return [meant[name] for _, _, name in NameTable(meant).find(normalized_words(text)[:MAX_WORDS])]


def named_in(text: str, entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities that a question names: the longest names in it, and the longest of those that are titles.

    Args:
        text: The question.
        entities: Entities with one of its :func:`possible_names`.
    """
    by_name = {entity.name: entity for entity in entities}
    words = normalized_words(text)[:MAX_WORDS]
    titles = NameTable(name for name, entity in by_name.items() if entity.titled)
    found = [name for table in (titles, NameTable(by_name)) for _, _, name in table.find(words)]
    return [by_name[name] for name in dict.fromkeys(found)]
