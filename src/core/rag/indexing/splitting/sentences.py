"""Splits a text into sentences with their positions."""

from __future__ import annotations

import re

from core.rag.indexing.splitting.breaks import SENTENCE_END
from libs.regexes import regex

#: A line or the rest of one in bold, or a label: "**Author:** Ada", "**Note**: …". Other emphasis is within a sentence.
_BOLD = r"\*\*[^*\n]{1,80}(?::\*\*|\*\*[ \t]*(?::|\n|\Z))"
_EMPHASIS = r"\*{1,3}[^\s*][^*\n]*\*"
#: A line that does not continue in the next one: an item (its number is no year), a heading, a row, a fence.
_ITEM = rf"[ \t]*(?:{_BOLD}|(?!{_EMPHASIS})[-*+•·‣▪#>|]|\d{{1,3}}[.)]\s|`{{3}})"
#: What may begin an item or go on with a line: a number (not the first), an option, an issue: "3. ", "--force", "#12".
_MAY_GO_ON = regex(r"[ \t]*(?:(?!1[.)])\d{1,3}[.)]\s|(?P<mark>[-+]{1,2}|#)[^\W_])")
_NUMBERED = regex(r"[ \t]*\d{1,3}[.)]\s")
#: A heading is one line, whatever stands below it.
_HEADING_LINE = r"^[ \t]*#{1,6}[ \t][^\n]*\n"
# Blanks are looked at from the first of them only, or a long run of them takes the square of its length.
_END = regex(rf"(?m:{_HEADING_LINE})|{SENTENCE_END}|(?<![ \t])[ \t]*\n\s*\n\s*|(?<![ \t])[ \t]*(?<!\\)\n(?={_ITEM})")
#: What begins each line of a quotation; the prompt of Python is none.
_QUOTED = r"[ \t]*>(?!>>)(?:[ \t]?>)*"
_QUOTED_LINE = regex(rf"\n{_QUOTED}[ \t]*")
_MARKUP = regex(rf"(?:(?:{_QUOTED}\s+)?(?:[-*+•·‣▪]\s+|#{{1,6}}\s+|\d{{1,3}}[.)]\s+)|{_QUOTED}\s+)")
_HEADING = regex(rf"(?:{_QUOTED})?[ \t]*#{{1,6}}\s")
#: A line of a quotation whose sentence may go on in the next one: no blank line, heading or label (``[!NOTE] Title``),
_GOES_ON = regex(rf"{_QUOTED}[ \t]*(?![ \t]|#{{1,6}}[ \t]|\[![A-Za-z][\w-]*\])[^\n]+$", re.MULTILINE)
#: and a line that it goes on in: no blank line, item, row or fence.
_CONTINUES = regex(rf"{_QUOTED}[ \t]*(?![ \t]|{_ITEM})[^\n]")
#: Abbreviations, of streets too (Lindenstr. 7), and German ordinals: der 2. Weltkrieg.
_ABBREVIATION = regex(
    r"(?:\b(?:[Aa]m|[Ii]m|[Vv]om|[Zz]um|[Dd](?:er|en|em|es|ie|as))\s\d{1,2}"
    r"|(?<!['’])\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Rev|Hon|vs|etc|al|cf|resp|vgl|bzw|ca|approx|No|Nr|Fig|Eq|Sec|Vol"
    r"|pp|Abb|Abs|Kap|Co|Inc|Ltd|[^\W\d_]{3,20}str|z\.B|d\.h|e\.g|i\.e|[^\W\d_]|(?:[^\W\d_]\.)+(?:[A-Z]|[a-z]{1,3})))"
    r"\.[\"'”’)\]]*\s*$"
)
#: Those that only a number or a letter in brackets follows: "Art. 9", "sec. 2(a)", "figs. 3 and 4", "Pub. L. 113-287".
_OF_PLACE = regex(
    r"(?<!['’])\b(?:[Aa]rts?|[Ss]ecs?|[Ss]ubsecs?|[Cc]h(?:ap)?s?|[Pp]ts?|[Pp]aras?|[Pp]ars?|[Cc]ls?|[Tt]it|[Rr]egs?|[Rr]efs?"
    r"|[Ff]igs?|[Ee]qs?|[Nn]os|[Vv]ols?|[Tt]ab|[Aa]pp|[Tt]hm|[Pp]rop|[Ll]em|[Cc]or|[Dd]ef|[Aa]nh|[Zz]iff|[Uu]nterabs|Stat|Pub)"
    r"\.\s*$"
)
_PLACE = regex(r"[(\[]?(?:\d|[IVX]+\b|[a-z]\)|L\.)|§")
#: What looks like an abbreviation, but is the unit of a number: "It took 4.1 s. The next one …".
_UNIT = regex(r"\d\s?[smhgl]\.[\"'”’)\]]*\s*$")
#: The number before a sentence, in emphasis with it or alone: "**1. Start the mill**".
_NUMBER = regex(r"\s*[*_]{1,3}\(?\d{1,4}[.)][*_]{0,3}\s+")
#: A short line without the end of a sentence, and longer ones with a number before them: the heading of a text without
#: markup, or the row of a table.
_TITLE_LINE = regex(
    r"^[ \t]*(?:(?P<number>\d{1,3}(?:\.\d{1,3})*\.?[ \t]+)[^\n.!?:;]{1,80}|[^\n.!?:;]{2,39})(?<=[\w)])[ \t]*\n",
    re.MULTILINE,
)
_FIRST_LETTER = regex(r"[^\W\d_]")
_BLANK_LINE = regex(r"\n[ \t]*\n")
_ITEM_LINE = regex(_ITEM)
#: The end of a line in the midst of a sentence.
_WRAPPED_END = regex(r"[\w,]\Z")
#: A line of at least this length was wrapped, and continues in the next one.
_PROSE_LINE = 40


def sentence_spans(text: str, *, titles: bool = False) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end, without markup before and space around them.

    Blank lines, list items, headings and rows of tables end a sentence, too. Together they cover all words.

    Args:
        text: Prose or Markdown, in any language.
        titles: Whether a short line is a sentence of its own, as headings and rows of tables without markup are.

    Returns:
        Start and end (exclusive) of each, in order.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    lines = (
        {match.start(): match.end() for match in _TITLE_LINE.finditer(text) if _is_short(text, match)} if titles else {}
    )
    for match in _END.finditer(text):
        while (end := lines.pop(start, 0)) and end <= match.start():
            _add(spans, text, start, end)
            start = end
        if _is_within_quotation(text, match) or _goes_on(text, match):
            continue
        paragraph = "\n" in match[0] and (match[0].strip()[:1] in {"", "#"} or _BLANK_LINE.search(match[0]))
        paragraph = paragraph or _begins_item(text, match.end())
        so_far = text[start : match.end()]
        if not paragraph and (_is_abbreviation(so_far[-24:], text, match.end()) or _NUMBER.fullmatch(so_far)):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    while end := lines.pop(start, 0):
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; see :func:`sentence_spans`."""
    return [text[start:end] for start, end in sentence_spans(text)]


def without_quotation_marks(sentence: str) -> str:
    """Return a sentence without what begins each further line of a quotation (``> ``)."""
    return _QUOTED_LINE.sub("\n", sentence) if "\n" in sentence else sentence


def is_in_quotation(text: str, place: int) -> bool:
    """Return whether the line of a position is in a quotation (``> ``), as of the mail that another one answers."""
    return text.startswith(">", text.rfind("\n", 0, place) + 1)


def is_heading(text: str, start: int) -> bool:
    """Return whether the sentence that begins at a position is a Markdown heading."""
    line = text.rfind("\n", 0, start) + 1
    return _HEADING.match(text, line) is not None


def is_title_line(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is a heading without markup: a short line above prose, or a numbered one."""
    match = _TITLE_LINE.match(text, text.rfind("\n", 0, start) + 1)
    if match is None or match.end() < end or not _is_short(text, match) or text[end - 1].isdigit():
        return False  # a line that ends with a number is the row of a table
    return match["number"] is not None or _line_behind(text, match.end()) >= _PROSE_LINE


def _begins_item(text: str, place: int) -> bool:
    """Return whether the line of a place begins with it, or with space before it, and is an item, a row or the like."""
    line = text.rfind("\n", 0, place) + 1
    return line > 0 and not text[line:place].strip() and _ITEM_LINE.match(text, line) is not None


def _is_within_quotation(text: str, end: re.Match[str]) -> bool:
    """Return whether what looks like the end of a sentence is only that of a line of a quotation (``> ``)."""
    if not end[0].endswith("\n") or end[0].strip() or _CONTINUES.match(text, end.end()) is None:
        return False
    return _GOES_ON.match(text, text.rfind("\n", 0, end.start()) + 1) is not None


def _goes_on(text: str, end: re.Match[str]) -> bool:
    """Return whether a line that was wrapped goes on in one that only begins like an item: "by version\\n3. It …".

    The first one has no end of a sentence, and in its paragraph no other line begins so, as items of a list do.
    """
    start = text.rfind("\n", 0, end.start()) + 1
    if "\n" not in end[0] or end.start() - start < _PROSE_LINE or not _WRAPPED_END.search(text, start, end.start()):
        return False
    item = _MAY_GO_ON.match(text, end.end())
    if item is None or _BLANK_LINE.search(end[0]):
        return False
    above, below = text.rfind("\n\n", 0, start), text.find("\n\n", end.end())
    lines = (*text[max(above, 0) : end.start()].split("\n"), *text[end.end() : below].split("\n")[1:])
    return not any(_is_like(line, item["mark"]) for line in lines)


def _is_like(line: str, mark: str | None) -> bool:
    """Return whether a line begins with a mark; without one: with a number."""
    return line.lstrip().startswith(mark) if mark else _NUMBERED.match(line) is not None


def _is_abbreviation(so_far: str, text: str, end: int) -> bool:
    """Return whether what a text has up to a place ends with an abbreviation, which may need a number behind it."""
    if _OF_PLACE.search(so_far) is not None and _PLACE.match(text, end) is not None:
        return True
    return _ABBREVIATION.search(so_far) is not None and _UNIT.search(so_far) is None


def _is_short(text: str, line: re.Match[str]) -> bool:
    """Return whether a short line is not a part of a sentence: it and the next line begin with a capital."""
    if line[0].count("(") > line[0].count(")"):
        return False  # what is in parentheses goes on
    first = _FIRST_LETTER.search(line[0])
    following = text[line.end() : line.end() + 1]
    return first is not None and first[0].isupper() and (following.isupper() or following.isdigit())


def _line_behind(text: str, place: int) -> int:
    end = text.find("\n", place)
    return (end if end >= 0 else len(text)) - place


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while markup := _MARKUP.match(text, start, end):  # a quotation may begin with lines without a word
        start = markup.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(character.isalnum() for character in text[start:end]):
        spans.append((start, end))
