"""Citation markers (``[n]``): finding them in a text, and holding back invalid ones while a text is streamed."""

from __future__ import annotations

import re
from collections.abc import Collection

#: ``[1]``, ``[1, 2]``, ``[1-3]``, and what models write instead: ``[ 1 ]``, ``【1】``, ``[^1]``, ``[Source 1]``.
MARKER = re.compile(
    r"[\[【][ \t\xa0]*\^?(?:(?:sources?|passages?|citations?|refs?)\s*)?"
    r"(\d{1,4}(?:\s*[,;–-]\s*\^?\d{1,4})*)[ \t\xa0]*[\]】](?!\()",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"[\[【][^\]】\n]{0,40}$")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_LONGEST_RANGE = 50


def numbers_in(marker: str) -> list[int]:
    """The numbers of the inside of a marker; ranges are written out.

    Example:
        >>> numbers_in("1, 3-5")
        [1, 3, 4, 5]
    """
    found: list[int] = []
    for part in re.split(r"[,;]", marker):
        if span := _RANGE.search(part):
            low, high = int(span[1]), int(span[2])
            found += range(low, min(high, low + _LONGEST_RANGE) + 1) if low <= high else (low, high)
        elif digits := re.search(r"\d+", part):
            found.append(int(digits[0]))
    return list(dict.fromkeys(found))


class MarkerFilter:
    """Passes a text on as it arrives, in plain markers, without those that cite nothing."""

    def __init__(self, known: Collection[int]) -> None:
        """Prepare.

        Args:
            known: The numbers that there are.
        """
        self._known = frozenset(known)
        self._held = ""
        self.dropped: list[int] = []

    def feed(self, text: str) -> str:
        """Take the next part of the text.

        Returns:
            What can be passed on; only a bracket that is not closed yet is held back, with the space before it.
        """
        text = self._held + text
        begun = _BEGUN.search(text)
        keep = begun.start() if begun else len(text)
        while keep and text[keep - 1] == " ":  # the space before a marker goes with it
            keep -= 1
        self._held = text[keep:]
        return self._cleaned(text[:keep])

    def end(self) -> str:
        """What was still held back."""
        rest, self._held = self._held, ""
        return self._cleaned(rest)

    def _cleaned(self, text: str) -> str:
        cleaned = []
        place = 0
        for match in MARKER.finditer(text):
            numbers = numbers_in(match[1])
            kept = "".join(f"[{number}]" for number in numbers if number in self._known)
            self.dropped += [number for number in numbers if number not in self._known]
            before = text[place : match.start()]
            cleaned.append((before if kept else before.rstrip(" ")) + kept)
            place = match.end()
        return "".join([*cleaned, text[place:]])
