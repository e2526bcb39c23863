"""Finds many names in a text at once: all longest matches, ignoring case.

An automaton over characters (Aho-Corasick) would have to be built anew for every batch of documents, since each brings
titles; this is a table by the first two words of a name, to which names are added as they come. Its time is that of
reading the words of the text, whatever the number of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.rag.extraction.words import is_katakana, normalize_name, normalized_words, word_spans


class NameTable:
    """A table of names to find in texts.

    Example:
        >>> table = NameTable(["new york", "new york city"])
        >>> table.find("in new york city".split())
        [(1, 4, 'new york city')]
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Make a table of normalised names; see :func:`core.rag.extraction.words.normalize_name`."""
        self._names: set[str] = set()
        # first word -> second word ("" where there is none) -> numbers of words, longest first
        self._lengths: dict[str, dict[str, tuple[int, ...]]] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        """Add a normalised name; an empty one is ignored."""
        words = name.split(" ")
        if not name or name in self._names:
            return
        self._names.add(name)
        seconds = self._lengths.setdefault(words[0], {})
        second = words[1] if len(words) > 1 else ""
        lengths = seconds.get(second, ())
        if len(words) not in lengths:
            seconds[second] = tuple(sorted((*lengths, len(words)), reverse=True))

    def find(self, words: Sequence[str]) -> list[tuple[int, int, str]]:
        """Find the names in a text.

        An occurrence within that of a longer name does not count; two that only overlap both count.

        Args:
            words: The words, as from :func:`core.rag.extraction.words.normalized_words`.

        Returns:
            ``(first, end, name)`` in order; ``words[first:end]`` are the words of the name.
        """
        lengths_of = self._lengths
        found: list[tuple[int, int, str]] = []
        reached = 0  # the furthest end of the names found so far
        last = len(words) - 1
        for first in [place for place, word in enumerate(words) if word in lengths_of]:
            seconds = lengths_of[words[first]]
            name, end = "", 0
            if first < last:
                for length in seconds.get(words[first + 1], ()):
                    if first + length > len(words):
                        continue  # the rest of the text is too short for this name
                    candidate = " ".join(words[first : first + length])
                    if candidate in self._names:
                        name, end = candidate, first + length
                        break
            if not name and "" in seconds:
                name, end = words[first], first + 1
            if name and end > reached and (name.isascii() or not _is_inside_word(words, first, end)):
                found.append((first, end, name))
                reached = end
        return found


def _is_inside_word(words: Sequence[str], first: int, end: int) -> bool:
    """Return whether a name in katakana continues before or behind: テスト is no part of コンテスト."""
    before, behind = words[first - 1 : first], words[end : end + 1]
    return bool(
        (before and is_katakana(before[0]) and is_katakana(words[first]))
        or (behind and is_katakana(behind[0]) and is_katakana(words[end - 1]))
    )


def sequences(words: Sequence[str], most: int) -> Iterator[tuple[int, int]]:
    """Yield the sequences of words that may be a name, the longest first.

    Args:
        words: The words, as from :func:`core.rag.extraction.words.normalized_words`.
        most: Maximum number of words in a name. A word in katakana, of which each letter is a word, counts as one, and
            no name begins or ends inside it.

    Yields:
        ``(first, end)``: the words of the name are ``words[first:end]``.
    """
    starts = [
        place for place, word in enumerate(words) if not (place and is_katakana(word) and is_katakana(words[place - 1]))
    ]
    ends = [*starts[1:], len(words)]
    for length in range(min(most, len(starts)), 0, -1):
        for number in range(len(starts) - length + 1):
            yield starts[number], ends[number + length - 1]


def mentions(text: str, names: NameTable | Iterable[str]) -> list[tuple[int, int, str]]:
    """Return the longest occurrences of names in a text, regardless of case and of punctuation between the words.

    Args:
        text: Any text.
        names: A table for many texts, or the names themselves in any spelling.

    Returns:
        ``(start, end, name)`` in order: ``text[start:end]`` is the occurrence, ``name`` the normalised name.
    """
    table = names if isinstance(names, NameTable) else NameTable(map(normalize_name, names))
    found = table.find(normalized_words(text))
    if not found:
        return []
    spans = word_spans(text)
    return [(spans[first][0], spans[end - 1][1], name) for first, end, name in found]
