"""The structure of Markdown, as far as splitting needs it: headings, fenced code, tables.

Follows CommonMark 0.31 for headings (4.2, 4.3), fences (4.5) and the HTML blocks in which neither counts (4.6), and
GitHub Flavored Markdown for tables (4.10). What ``<summary>`` says is a heading, too: that of what is folded in below
it, like the question above an answer. One regular expression finds the lines that matter, so text without structure
costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from core.rag.indexing.splitting.breaks import Breaks, Level, line_breaks, prose_breaks, row_breaks
from core.rag.indexing.splitting.packing import Table
from core.rag.indexing.splitting.sections import Heading, shortened
from core.rag.indexing.splitting.tokens import TokenCounter
from libs.dataloader.formats.markdown import HEADING_ATTRIBUTES, LITERAL, kept_literal, without_tags
from libs.dataloader.notes import without_brackets
from libs.regexes import regex

_LINE = regex(
    r"^(?: {0,3}(?:"
    r"(?P<atx>#{1,6})(?=[ \t\r\n]|\Z)"
    r"|(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"|(?P<setext>=+|-{2,})[ \t]*\r?$"
    r"|<(?P<raw>pre|script|style|textarea)(?=[ \t\r\n>]|\Z)"
    r"|(?P<comment><!--)"
    r"|(?P<summary>(?:<details\b[^<>\n]*>\s*)?<summary\b[^<>\n]*>)"
    r"|(?P<folded></details[ \t]*>)"
    r"|(?:[-*+]|\d{1,9}[.)])[ \t]++(?P<item>#{1,6})(?=[ \t])"  # "12. ### How do I …?"
    r")|[ \t]+(?P<deep>`{3,}|~{3,})(?P<deep_info>[^\n]*))",
    re.MULTILINE | re.IGNORECASE,
)
_SUMMARY_END = regex(r"</summary[ \t]*>", re.IGNORECASE)
_FOLDED_LEVEL = 7  # what can be folded in is below all headings
_FRONT_MATTER = regex(r"---[ \t]*\r?\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_NO_PARAGRAPH = regex(r"[ \t]*(?:[-*+>|#]|\d{1,9}[.)][ \t]|`{3}|~{3}|$)|[ ]{4}|\t")
_TABLE_RULE = regex(r"^ {0,3}\|?[ \t]*+:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)*+(?:\|[ \t]*+)?\r?$", re.MULTILINE)
_SETEXT_LINES = 3  # a longer paragraph above a row of dashes is a paragraph above a rule

_ATX_CLOSING = regex(r"(?:^|[ \t])#+[ \t]*$")
_IMAGE_OR_LINK = regex(
    r"!?\[([^\[\]]*)\](?:\((?:<[^<>]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?\)|\[[^\[\]]*\])"
)
_LONGEST_TITLE = 2000  # characters of a heading that are read, with its markup
_STRONG = regex(r"(\*{1,3}|~~)(?=\S)(.+?)(?<!\s)\1")
_UNDERSCORES = regex(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<!\s)\1(?!\w)")


@dataclass(slots=True)
class Outline:
    """Headings and fenced code of a Markdown text, both in order.

    Attributes:
        headings: All headings.
        fences: ``(start, end)`` of fenced code, the fences included.
    """

    headings: list[Heading] = field(default_factory=list)
    fences: list[tuple[int, int]] = field(default_factory=list)


def outline(text: str) -> Outline:
    """Find headings and fenced code."""
    found = Outline()
    indented: dict[str, int] = {}  # by the mark of a fence, up to where none closes it
    unclosed: set[str] = set()  # an unclosed block is more likely a slip than the whole rest of the document
    position = 0
    if (matter := _FRONT_MATTER.match(text)) is not None:
        position = matter.end()
    while (match := _LINE.search(text, position)) is not None:
        line_end = _line_end(text, match.start())
        position = line_end
        if mark := match["atx"] or match["item"]:
            title = text[match.end() : line_end]
            found.headings.append(Heading(match.start(), line_end, len(mark), plain_title(title, atx=True)))
        elif match["fence"]:
            mark, info = match["fence"], match["info"]
            if mark[0] == "`" and "`" in info:
                continue  # inline code
            position = _fence_end(text, mark, line_end)
            found.fences.append((match.start(), position))
        elif match["deep"]:
            if line_end > indented.get(match["deep"], -1):
                closed, behind = _deep_fence(text, match["deep"], match["deep_info"], line_end)
                if closed:
                    position = behind
                    found.fences.append((match.start(), position))
                else:
                    indented[match["deep"]] = behind
        elif match["setext"]:
            last = found.headings[-1].end if found.headings else 0
            last = max(last, found.fences[-1][1] if found.fences else 0)
            begin = _paragraph_above(text, match.start(), last)
            if begin is not None:
                level = 1 if match["setext"][0] == "=" else 2
                title = plain_title(text[begin : match.start()], atx=False)
                found.headings.append(Heading(begin, line_end, level, title))
        elif match["summary"]:
            end = _SUMMARY_END.search(text, match.end(), match.end() + _LONGEST_TITLE)
            if end is not None:
                title = plain_title(text[match.end() : end.start()], atx=False)
                found.headings.append(Heading(match.start(), end.end(), _FOLDED_LEVEL, title))
                position = _line_end(text, end.end())
        elif match["folded"]:
            if found.headings and found.headings[-1].level == _FOLDED_LEVEL:
                found.headings.append(Heading(line_end, line_end, _FOLDED_LEVEL, ""))  # from here on without it
        else:
            closing = f"</{match['raw'].lower()}>" if match["raw"] else "-->"
            if closing not in unclosed:
                close = re.compile(closing, re.IGNORECASE).search(text, match.end())
                if close is not None:
                    position = _line_end(text, close.start())
                else:
                    unclosed.add(closing)
    return found


def plain_title(text: str, *, atx: bool) -> str:
    """Return the text of a heading without Markdown's markup."""
    text = kept_literal(text[:_LONGEST_TITLE])
    if atx:
        text = _ATX_CLOSING.sub("", text)
    text = HEADING_ATTRIBUTES.sub("", text)
    if "[[" in text:
        text = without_brackets(text)
    if "[" in text:
        text = _IMAGE_OR_LINK.sub(r"\1", _IMAGE_OR_LINK.sub(r"\1", text))  # an image inside a link: twice
    text = without_tags(text)
    for _ in range(3):
        plainer = _UNDERSCORES.sub(r"\2", _STRONG.sub(r"\2", text))
        if plainer == text:
            break
        text = plainer
    if "&" in text:
        text = unescape(text)
    return shortened(text.translate(LITERAL))


@dataclass(frozen=True, slots=True)
class Block:
    """Fenced code or a table.

    Attributes:
        start: Position where its first line begins.
        end: Position where its last line ends.
        body: For a table the position where its first row begins; for code -1.
    """

    start: int
    end: int
    body: int = -1


def markdown_breaks(
    text: str, start: int, end: int, fences: list[tuple[int, int]], separator: str, piece: int, counter: TokenCounter,
    size: int,
) -> tuple[Breaks, list[Table]]:  # fmt: skip
    """Find the places to cut in a section of Markdown. Code and tables that fit are atoms; larger ones are cut by line.

    Args:
        text: The whole text, as something that can be encoded.
        start: Where the section begins.
        end: Where it ends.
        fences: Fenced code of the whole text.
        separator: A preferred place to cut after.
        piece: Length in characters up to which atoms of running text are left whole.
        counter: Counts tokens.
        size: Maximum number of tokens per chunk.

    Returns:
        The places, and the tables that are cut.
    """
    breaks = Breaks(start)
    tables: list[Table] = []
    room = size - counter.overhead
    position = start
    code = None  # the block right before, if it is code
    for block in _blocks(text, start, end, fences):
        if block.start > position:
            between = prose_breaks(text, position, block.start, separator, piece)
            _join(text, breaks, between)
            code = code if text[position : block.start].isspace() else None
            breaks.mark(Level.PARAGRAPH)
        if code is not None and _is_output(text, block):
            breaks.levels[-1] = Level.INSIDE  # what code printed says little without it
        code = block if block.body < 0 and not _is_output(text, block) else None
        if counter.fits(text[block.start : block.end], room):
            breaks.add(block.end, Level.PARAGRAPH)
            breaks.blocks.add(block.start)
        elif block.body < 0:
            lines = line_breaks(text, block.start, block.end, piece)
            if len(lines.levels) > 2:  # a fence alone in a chunk could open a block, or close one
                lines.levels[0] = lines.levels[-2] = Level.INSIDE
            _join(text, breaks, lines)
            breaks.mark(Level.PARAGRAPH)
        else:
            rows, table = table_breaks(text, block.start, block.end, counter, size)
            _join(text, breaks, rows)
            tables.append(table)
        position = block.end
    _join(text, breaks, prose_breaks(text, position, end, separator, piece))
    return breaks, tables


def table_breaks(text: str, start: int, end: int, counter: TokenCounter, size: int) -> tuple[Breaks, Table]:
    """Find the places to cut in a table: after its header, and after each row.

    Args:
        text: The whole text, as something that can be encoded.
        start: Where the header line begins.
        end: Where the last row ends.
        counter: Counts tokens.
        size: Maximum number of tokens per chunk.
    """
    body = _line_end(text, start)
    header = text[start:body].strip()
    rule = _line_end(text, body)
    if body < end and _is_rule(text, body):
        body = min(rule, end)
    breaks = Breaks(start)
    breaks.add(body, Level.INSIDE)  # a header goes with its first row
    _join(text, breaks, row_breaks(text, body, end))
    fits = counter.fits(header, size // 2)
    return breaks, Table(start, body, end, header, counter.count(header) + 1 if fits else 0)


def _is_output(text: str, block: Block) -> bool:
    """Return whether a block right behind code is what it printed: a table, or a fence without a language."""
    fence = _LINE.match(text, block.start)
    return block.body >= 0 or (fence is not None and not (fence["info"] or "").strip())


def _is_rule(text: str, start: int) -> bool:
    match = _TABLE_RULE.match(text, start)
    return match is not None and "-" in match[0]


def _blocks(text: str, start: int, end: int, fences: list[tuple[int, int]]) -> Iterator[Block]:
    """Return the fenced code and tables of a section, in order."""
    position = start
    for first, last in [*((a, b) for a, b in fences if a < end and b > start), (end, end)]:
        yield from _tables(text, position, min(first, end))
        if first < end:
            yield Block(max(first, start), min(last, end))
        position = last


def _tables(text: str, start: int, end: int) -> Iterator[Block]:
    if text.find("|", start, end) < 0:
        return
    position = start
    while (match := _TABLE_RULE.search(text, position, end)) is not None:
        rule_end = min(_line_end(text, match.start()), end)
        head = text.rfind("\n", start, max(match.start() - 1, start)) + 1 if match.start() > start else -1
        head = max(head, start) if head >= 0 else -1
        if head < position or "|" not in match[0] or "|" not in text[head : match.start()]:
            position = max(rule_end, match.end())
            if position >= end:
                return
            continue
        last = rule_end
        while last < end:
            line_end = min(_line_end(text, last), end)
            line = text[last:line_end]
            if line.isspace() or "|" not in line:
                break
            last = line_end
        yield Block(head, last, rule_end)
        if last >= end:
            return
        position = last


def _join(text: str, breaks: Breaks, more: Breaks) -> None:
    """Append breaks; whitespace at the start of what is appended belongs to what precedes it."""
    skipped = 0
    if breaks.ends and more.ends and text[more.start : more.ends[0]].isspace():
        breaks.extend_last(more.ends[0], more.levels[0])
        skipped = 1
    breaks.ends += more.ends[skipped:]
    breaks.levels += more.levels[skipped:]


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _fence_end(text: str, mark: str, position: int) -> int:
    close = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE).search(text, position)
    return _line_end(text, close.end()) if close is not None else len(text)


def _deep_fence(text: str, mark: str, info: str, position: int) -> tuple[bool, int]:
    """Return whether what is indented closes a fence within an item of a list, and where that ends."""
    if mark[0] == "`" and "`" in info:
        return False, position
    while position < len(text):
        end = _line_end(text, position)
        line = text[position:end]
        if line.strip() and not line[0].isspace():
            break
        if (closing := line.strip()).startswith(mark) and not closing.strip(mark[0]):
            return True, end
        position = end
    return False, position


def _paragraph_above(text: str, place: int, last: int) -> int | None:
    """Return where the paragraph begins that ends above the line at ``place``, if it can be a heading."""
    begin = place
    for _ in range(_SETEXT_LINES + 1):
        if begin <= last:
            break
        line_start = max(text.rfind("\n", last, begin - 1) + 1, last)
        line = text[line_start:begin]
        if not line.strip() or _NO_PARAGRAPH.match(line) is not None:
            if line.strip():
                return None
            break
        begin = line_start
    else:
        return None
    return begin if begin < place else None
