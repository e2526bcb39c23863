"""Which of the entities and facts that a language model found in a passage are of what it names."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from core.rag.analysis.stopwords import stop_words
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.initials import ACRONYM, with_initials
from core.rag.extraction.words import is_unspaced, normalized_words

#: Share of the words of a name that a passage has to have: it may name Ada Lane as Lane.
_SHARE: Final = 0.5
#: In scripts without spaces, how many characters of the beginning of a name it has at least.
_SHORTEST_BEGINNING: Final = 2
#: Words with this beginning, and of about one length, are forms of one word: Москва and Москве, Harrow and Harrows.
_SHORTEST_STEM: Final = 4
_LONGEST_ENDING: Final = 3


def of_what_is_named(facts: ChunkFacts, passage: str) -> ChunkFacts:
    """Leave out entities that a passage does not name, and facts about them: models also tell what they know.

    An entity is named by half of the words of its name, in any form, or by its acronym or what that stands for.

    Args:
        facts: What a model found.
        passage: The passage, with the title and headings that it stands under.
    """
    words = normalized_words(passage)
    known, run = frozenset(words), "".join(words)
    acronyms = frozenset(match[0] for match in ACRONYM.finditer(passage))
    initials = frozenset(letters for letters, _, _ in with_initials(passage))
    entities = [
        entity
        for entity in facts.entities
        if _is_among(entity.name, known, run)
        or entity.text in initials
        or any(letters in acronyms for letters, _, _ in with_initials(entity.text))
    ]
    kept = {entity.name for entity in entities}
    return ChunkFacts(entities, [fact for fact in facts.facts if fact.source in kept and fact.target in kept])


def _is_among(name: str, words: Collection[str], run: str) -> bool:
    if is_unspaced(name):  # the family name is at the beginning, "university" or "city" at the end
        joined = name.replace(" ", "")
        return joined[: max(_SHORTEST_BEGINNING, math.ceil(_SHARE * len(joined)))] in run
    own = name.split()
    own = [word for word in own if word not in stop_words("english")] or own
    return sum(_has(word, words) for word in own) >= _SHARE * len(own)


def _has(word: str, words: Collection[str]) -> bool:
    size = max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)
    return word in words or (
        len(word) >= size
        and any(one.startswith(word[:size]) and abs(len(one) - len(word)) <= _LONGEST_ENDING for one in words)
    )
