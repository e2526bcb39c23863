"""What a chunk mentions: names in its text, and titles of documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from core.rag.analysis.stopwords import stop_words
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.matching import NameTable
from core.rag.extraction.names import Found, names_in
from core.rag.extraction.openers import may_command, opens_sentence
from core.rag.extraction.patterns import without_symbols
from core.rag.extraction.unnamed import is_usual_heading
from core.rag.extraction.words import normalize_name, normalized_words
from core.rag.headings import without_purpose
from libs.regexes import regex

#: Counts up whenever the same text gives other names, so that documents are looked at again.
EXTRACTION_VERSION: Final = 32

_PARENTHESIS: Final = regex(r"\s*[(（][^()（）]*[)）]\s*$")
#: The number of a document before its title: "PEP 8 – Style Guide", "RFC 2119: Key words".
_NUMBER: Final = regex(r"([A-Z]{2,8}[ -]?\d{1,7}(?:[.-]\d{1,7}){0,3})\s*(?:[–—:|]|-(?=\s))\s*\S")
#: The name of a file that is a number: "eip-1559.md", "rfc9110.txt", "CVE-2021-44228.json".
_NUMBERED_FILE: Final = regex(r"([A-Za-z]{2,8})[-_ ]?0*([1-9]\d{0,6}(?:-\d{1,7})?)(?=[-_. ]|\Z)")
#: Characters at the beginning of a document within which it says what it is.
_OPENING: Final = 20_000
_EXTENSION: Final = regex(r"\.[A-Za-z0-9]{1,5}$")
_BETWEEN: Final = regex(r"[_\s-]+")


#: A mention in a chunk: normalised name (:func:`core.rag.extraction.words.normalize_name`); spelling, which is empty if
#: only a title was recognised; and number of occurrences.
type Mention = tuple[str, str, int]


class Title(NamedTuple):
    """A name in the title of a document.

    Attributes:
        name: The normalised name.
        text: Its spelling in the title.
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
    """Return the mentions of a chunk.

    A name found by rule is no mention itself if it only occurs as part of a title that the chunk names.

    Args:
        content: Text of the chunk.
        heading: Its heading path.
        titles: The normalised titles of documents; at least those that occur in the text.
        words: The normalised words of the text, if known.
        names: The names found by rule in the chunk, if known.

    Returns:
        Each name once, in any order.
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
    """Count the occurrences of a name found by rule within these titles, given how often these are in the text.

    What the rules found as a whole title was not also found as a part of it.
    """
    within = 0
    for title, count in titles.items():
        if f" {name} " in f" {title} ":
            within += max(count - (found[title].count if title in found else 0), 0)
    return within


def spellings(names: Mapping[str, Found], facts: ChunkFacts | None = None) -> dict[str, str]:
    """Return the spellings of the names in a chunk, except for titles that only match by their words.

    Args:
        names: The names found by rule.
        facts: The facts that a language model found.
    """
    spelt = {entity.name: entity.text for entity in facts.entities} if facts else {}
    return spelt | {name: known.text for name, known in names.items()}


def with_facts(mentions: Iterable[Mention], names: Mapping[str, Found], facts: ChunkFacts) -> list[Mention]:
    """Return the mentions of a chunk together with the entities that a language model found in it."""
    spelt = spellings(names, facts)
    found = {mention[0]: mention for mention in mentions}
    for entity in facts.entities:
        _, text, times = found.get(entity.name, ("", "", 1))
        if not text:
            found[entity.name] = (entity.name, spelt[entity.name], times)
    return list(found.values())


def titles_of(title: str | None, path: str, content: str = "", fields: Mapping[str, Any] | None = None) -> list[Title]:
    """Return the names of a document: its title, also without parentheses at its end, and its number.

    That stands before the title ("PEP 8 – Style Guide"), or it is the name of the file and the document says so itself:
    ``eip-1559.md`` with a field ``eip: 1559``, or "RFC 9110" in ``rfc9110.txt``.

    Args:
        title: The title from the document itself; ``None``, or the end of its path: the name of its file, if it looks
            like a name.
        path: Path or URL of the document.
        content: Its text.
        fields: Its metadata.
    """
    text = without_purpose(" ".join((title or "").split()))
    text = text if text and not ("/" in text and path.endswith(text)) else _from_path(path)
    short = _PARENTHESIS.sub("", text)
    number = _NUMBER.match(text)
    spellings = [short, text, *(number.groups() if number else ()), _file_number(path, content, fields or {})]
    names = {normalize_name(spelt): without_symbols(spelt) for spelt in spellings}
    return [Title(name, spelt) for name, spelt in names.items() if name]


def is_sought(name: str) -> bool:
    """Return whether to search for a title in texts, whatever the case.

    Single letters and function words are not, nor are words that begin commands or sentences: ``add``, which has a page
    of its own, and ``Yesterday`` are found by rule, where they have a capital within a sentence or are marked as code.
    What many documents have as a heading (``Introduction``, ``Index``) names none of them.
    """
    if is_usual_heading(name):
        return False
    if " " in name:
        return True
    common = name in stop_words("english") or may_command(name) or opens_sentence(name, "english")
    return not common and (len(name) > 1 or not name.isascii())


def sought(titles: Iterable[str]) -> NameTable:
    """Return a table of those normalised titles that are searched for."""
    return NameTable(filter(is_sought, titles))


def _file_number(path: str, content: str, fields: Mapping[str, Any]) -> str:
    """Return ``EIP-1559`` for ``eip-1559.md``, if that is what the document calls itself; else nothing."""
    found = _NUMBERED_FILE.match(posixpath.basename(path.replace("\\", "/")))
    if found is None:
        return ""
    kind, number = found[1].upper(), found[2]
    own = {name.upper(): str(value).lstrip("0") for name, value in fields.items()}
    is_told = own.get(kind) == number or re.search(rf"(?<!\w){kind}[- ]{number}(?![\w-]|\.\d)", content[:_OPENING])
    return f"{kind}-{number}" if is_told else ""


def _from_path(path: str) -> str:
    """Return ``Ada Lovelace`` for ``people/Ada_Lovelace.txt``; empty for ``notes.txt`` or a web address."""
    if "://" in path:
        return ""
    stem = _EXTENSION.sub("", posixpath.basename(path.replace("\\", "/").rstrip("/")))
    words = [word for word in _BETWEEN.split(stem) if word]
    return " ".join(words) if len(words) > 1 and all(word[0].isupper() for word in words) else ""
