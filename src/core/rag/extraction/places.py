"""Where in a text a word stands: whether it only has its capital since it begins a sentence or a link."""

from __future__ import annotations

from typing import Final

from core.rag.extraction.patterns import is_symbol
from libs.regexes import regex

_BEFORE_SENTENCE: Final = frozenset(".!?:;…•|#>\n\r\t。¿¡")
_SKIPPED: Final = frozenset(" \"'“”„«»‘’()[]*_-\u00a0")
#: What is said of what is said, or when it was, before it goes on: [laughs] Well, …; \\[01:12:10\\] Okay, …
_ASIDE: Final = regex(r"\\?\[[^\[\]\n]{1,40}\]\Z")
#: What is said begins behind a comma or a word: he said, “Well, …; they were like "Oh, …
_SPEECH: Final = regex(r"(?:[“„«]|(?:\A|[\s(—–])\")[*_\u00a0]*\Z")
_OPENING: Final = frozenset('"“„«*_\u00a0')
#: What stands between the place of a message and its first word: LONDON – The …
_DASH: Final = regex(r"\s?[–—-] \Z|[–—]\Z")
#: What numbers a sentence, a paragraph or an item, at its beginning: (1) Bring …, a) Stir …
_ENUMERATED: Final = regex(r"(?:\A|[\n.;:!?])[ \t>*_#-]*\(?(?:[0-9]{1,3}[a-z]?|[A-Za-z]|[ivx]{2,5})\)[ \t*_]*\Z")
#: The number of a clause at the beginning of a line: 5.3 The owner …
_CLAUSE: Final = regex(r"(?:\A|\n)[ \t>*_#-]*[0-9]{1,3}(?:\.[0-9]{1,3}){1,4}[ \t]+\Z")
_TAG: Final = regex(r"</?[a-zA-Z\x00][^<>]*>\Z")


def begins_sentence(text: str, start: int) -> bool:
    """Return whether a place is the beginning of a sentence, a line, an item or a cell."""
    place = start - 1
    if place >= 0 and text[place] in _OPENING and _SPEECH.search(text, max(0, place - 3), start):
        return True
    while place >= 0:
        if text[place] in _SKIPPED or is_symbol(text[place]):
            aside = text[place] == "]" and _ASIDE.search(text, max(0, place - 42), place + 1)
            place = (aside.start() if aside else place) - 1
        elif text[place] == ">" and (tag := _tag_before(text, place + 1)) >= 0:
            place = tag - 1
        else:
            break
    if place < 0 or text[place] in _BEFORE_SENTENCE:
        return True
    if "0" <= text[place] <= "9" and text[place + 1] in " \t":
        return _CLAUSE.search(text, max(0, place - 30), start) is not None
    return ")" in text[place:start] and _ENUMERATED.search(text, max(0, place - 8), start) is not None


def follows_dash(text: str, start: int) -> bool:
    """Return whether a dash by itself stands before a place, as in ``Wien – Die Regierung``."""
    return _DASH.search(text, max(0, start - 3), start) is not None


def begins_link(text: str, start: int, end: int) -> bool:
    """Return whether more words follow in the text of a Markdown link: ``[Creating a Module](…)``."""
    return start > 0 and text[start - 1] == "[" and text[end : end + 1] == " "


def _tag_before(text: str, end: int) -> int:
    """Return where the tag begins that ends before a place, as ``<b>`` does; -1 if there is none."""
    match = _TAG.search(text, max(0, end - 400), end)
    return match.start() if match else -1
