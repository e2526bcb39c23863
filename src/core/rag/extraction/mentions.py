"""What a chunk mentions: names in its text, and titles of documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from core.rag.analysis.stopwords import stop_words
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.matching import NameTable
from core.rag.extraction.names import Found, names_in
from core.rag.extraction.words import normalize_name, normalized_words

#: Counts up whenever the same text gives other names, so that documents are looked at again.
EXTRACTION_VERSION: Final = 8

_PARENTHESIS: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_EXTENSION: Final = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_BETWEEN: Final = re.compile(r"[_\s-]+")


#: A name that a chunk mentions: normalised (:func:`core.rag.extraction.words.normalize_name`); as it is spelt there,
#: empty where only a title was recognised, whatever its spelling; and how often.
type Mention = tuple[str, str, int]


class Title(NamedTuple):
    """A name that the title of a document gives it.

    Attributes:
        name: Normalised.
        text: As the title spells it.
    """

    name: str
    text: str


def mentions_of(
    content: str,
    heading: str,
    titles: NameTable,
    words: Sequence[str] | None = None,
    names: Mapping[str, Found] | None = None,
) -> list[Mention]:
    """What a chunk mentions.

    A name by rule that stands in the text only as a part of a title that the chunk names, is no mention of its own.

    Args:
        content: Text of the chunk.
        heading: Its heading path.
        titles: The normalised titles of documents; at least those that occur in the text.
        words: The normalised words of the text, where they are known.
        names: The names in the chunk by rule, where they are known.

    Returns:
        Each name once, in no special order.
    """
    found = names_in(content, heading) if names is None else names
    named: dict[str, int] = {}
    if len(titles):
        for _, _, name in titles.find(normalized_words(content) if words is None else words):
            named[name] = named.get(name, 0) + 1
    if not named:
        return [(name, known.text, known.count) for name, known in found.items()]
    joined = "|".join(f" {name} " for name in named)
    mentions = []
    for name, known in found.items():
        if name in named:
            mentions.append((name, known.text, max(known.count, named[name])))
        elif f" {name} " not in joined:
            mentions.append((name, known.text, known.count))
        elif (alone := known.count - _within(name, named, found)) > 0:
            mentions.append((name, known.text, alone))
    return mentions + [(name, "", count) for name, count in named.items() if name not in found]


def _within(name: str, titles: Mapping[str, int], found: Mapping[str, Found]) -> int:
    """How often a name by rule was found as a part of these titles, which are in the text so often.

    What the rules found as a whole title, they did not find as a part of it, too.
    """
    within = 0
    for title, count in titles.items():
        if f" {name} " in f" {title} ":
            within += max(count - (found[title].count if title in found else 0), 0)
    return within


def spellings(names: Mapping[str, Found], facts: ChunkFacts | None = None) -> dict[str, str]:
    """How a chunk spells the names that it mentions, apart from titles that only their words tell.

    Args:
        names: The names in it by rule.
        facts: What a language model found in it.
    """
    spelt = {entity.name: entity.text for entity in facts.entities} if facts else {}
    return spelt | {name: known.text for name, known in names.items()}


def with_facts(mentions: Iterable[Mention], names: Mapping[str, Found], facts: ChunkFacts) -> list[Mention]:
    """The mentions of a chunk with these names by rule, and the entities that a language model found in it."""
    spelt = spellings(names, facts)
    found = {mention[0]: mention for mention in mentions}
    for entity in facts.entities:
        _, text, times = found.get(entity.name, ("", "", 1))
        if not text:
            found[entity.name] = (entity.name, spelt[entity.name], times)
    return list(found.values())


def titles_of(title: str | None, path: str) -> list[Title]:
    """The names that a document has: its title, and the title without what stands in parentheses at its end.

    Args:
        title: The title from the document itself, or ``None``: then the name of its file, where it looks like a name.
        path: Path or URL of the document.
    """
    text = " ".join((title or "").split()) or _from_path(path)
    short = _PARENTHESIS.sub("", text)
    names = {normalize_name(spelt): spelt for spelt in (short, text)}
    return [Title(name, spelt) for name, spelt in names.items() if name]


def is_sought(name: str) -> bool:
    """Whether mentions of a title are looked for in texts: not those of a single function word or letter."""
    if " " in name:
        return True
    return name not in stop_words("english") and (len(name) > 1 or not name.isascii())


def sought(titles: Iterable[str]) -> NameTable:
    """A table of those of the normalised titles that are looked for."""
    return NameTable(filter(is_sought, titles))


def _from_path(path: str) -> str:
    """``Ada Lovelace`` from ``people/Ada_Lovelace.txt``; nothing from ``notes.txt`` or a web address."""
    if "://" in path:
        return ""
    stem = _EXTENSION.sub("", posixpath.basename(path.replace("\\", "/").rstrip("/")))
    words = [word for word in _BETWEEN.split(stem) if word]
    return " ".join(words) if len(words) > 1 and all(word[0].isupper() for word in words) else ""
