"""A sentence of a passage as an item of an answer, with what introduces it and what it introduces."""

from __future__ import annotations

from collections.abc import Collection

from core.rag.analysis.language import detect_language
from core.rag.answering.extracts.announced import (
    FOLLOWING,
    announces,
    items_behind,
    items_within,
    lead_in,
    sentence_above,
    sentence_below,
)
from core.rag.answering.extracts.blocks import Block, Shown, block_behind, made_by, show
from core.rag.answering.extracts.code_spans import Span, comment_on, declared_below, defined_above
from core.rag.answering.extracts.constants import constant_below
from core.rag.answering.extracts.headed import end_above_list
from core.rag.answering.extracts.record_rows import MESSAGE, record_cells
from core.rag.answering.extracts.sentence_ends import STATES
from core.rag.answering.extracts.settings import where_in
from core.rag.answering.extracts.showing import INCLUDES, LONGEST_EXTRACT, cut, is_record, shown
from core.rag.answering.extracts.speaking import label_at, speakers_of, words_begin
from core.rag.answering.extracts.table_rows import is_row, with_head
from core.rag.answering.extracts.wide_rows import narrowed
from core.rag.answering.markers import is_in_block, replace_markers
from core.rag.answering.types import Passage
from core.rag.extraction.source_code import configuration_language, documenting, without_marks
from core.rag.headings import last_heading
from core.rag.indexing.splitting.sentences import is_heading, sentence_spans
from libs.dataloader.formats.program_logs import is_log
from libs.regexes import regex

#: Items of a list, or rows of a table, that a sentence announces.
_MOST_ITEMS = 8
_LONGEST_ITEM = 200
_PARENTHESES = str.maketrans("[]【】", "()()")
#: Sentences, one announced by the other ("Bad example:").
_MOST_BEHIND = 2
#: How far it is looked for who wrote a message.
_LONGEST_MESSAGE = 3000
#: A statement up to this length does not always say what it is about.
SHORT = 100
#: The line that opens a block of code, where the block has not gone on when the text ends, and tags above it.
_OPENS = regex(r"(?:\n[ \t]*<[^<>\n]{1,200}>\s*){0,5}\n[ \t]*`{3,}[^`\n]*\s*\Z")
#: What is written as code; and what tells a command or a setting in it: several words, or a sign or capital in one.
_CODE = regex(r"(`+)([^`\n]+)\1")
_TELLS = regex(r"\w[^\w`]+\w|[^\w\s.,;]\w|\w[=(:/]|_|[a-z][A-Z]")


def said_by(passage: Passage, place: Span, asked: Collection[str] = ()) -> str:
    """Return a sentence as displayed; one of source code with the definition around it, a statement with its comment.

    Args:
        passage: The passage.
        place: Where the sentence is in it.
        asked: The words of the question, analysed: of a wide row or record, what has none of them is left out.
    """
    text = passage.hit.content
    sentence = text[place.start : place.end]
    if not passage.hit.is_code:
        in_block = is_in_block(text, place.start)
        of_table = is_row(text, place.start, passage.hit.table_header) and not in_block
        of_record = "\n".join(record_cells(passage.hit, place))
        if not of_table and not of_record and (in_block or not is_record(sentence)):
            return shown(sentence, passage, place.start)
        cells = with_head(text, place.start, place.end, passage.hit.table_header) if of_table else of_record or sentence
        if of_table and is_log(passage.hit.table_header or text):
            cells = replace_markers(cells, lambda marker: marker[0].translate(_PARENTHESES))  # no notes are there
        said = shown(cells, None if of_table else passage, place.start, 3 * len(cells))
        if asked:
            said = narrowed(said, asked, detect_language(text.split()), begins=of_table)
        return cut(said, LONGEST_EXTRACT)
    if place.said:
        line = said = shown(without_marks(sentence), passage, place.start)
        declared = declared_below(text, place.start, documenting(passage.hit.path))
        declared = declared or constant_below(text, place.start)
        if declared and "`" not in declared:
            line = said = f"`{declared}` {said}"
    else:
        line = " ".join(without_marks(sentence).split())
        said = f"`{line}`" if len(line) <= LONGEST_EXTRACT and "`" not in line else shown(sentence)
        comment = comment_on(text, place.start, place.end)
        if comment is not None:
            said = f"{said} {shown(without_marks(text[slice(*comment)]), longest=_LONGEST_ITEM)}"
    if configuration_language(passage.hit.path):
        of = where_in(passage.hit, place.start)
    else:
        heading = last_heading(passage.hit.heading).strip()
        of = defined_above(text, place.start)
        of = heading if heading.startswith(of) else of  # `impl Default` of `impl Default for Mill`
    return said if not of or of in line else f"{of}: {said.removeprefix('… ')}"


def under(
    subject: str, said: str, passage: Passage, place: Span, *, asked_for: bool = False, is_entry: bool = False
) -> str:
    """Return a short statement below what it is about, if it does not say so itself: "Version 3.0: Released in May".

    Args:
        subject: The heading or title with words of the question; may be empty.
        said: The statement as displayed.
        passage: The passage that has it. Source code, blocks of code and rows of tables say what they are about.
        place: Where it is there.
        asked_for: Whether the question asks for the subject: then longer ones are shown below it, too.
        is_entry: Whether it is a command, a function or the like: then so are longer ones, and rows of tables.
    """
    text = passage.hit.content
    last = last_heading(subject)
    if not subject or (len(said) > SHORT and not (asked_for or is_entry)) or passage.hit.is_code:
        return said
    if (
        is_in_block(text, place.start)
        or (is_row(text, place.start, passage.hit.table_header) and not is_entry)
        or record_cells(passage.hit, place)
        or said.startswith((subject, f"{last}: ", f"{last}("))
        or last in speakers_of(passage.hit)  # who says it stands before it
    ):
        return said
    return f"{subject.rstrip(': ')}: {said.removeprefix('… ')}"


def speaker(passage: Passage, place: Span) -> str:
    """Return who says a sentence of a conversation, where it does not stand in the sentence itself; or ""."""
    text = passage.hit.content
    if label := label_at(passage.hit, place.start):
        return label
    if MESSAGE.match(text, place.start):
        return ""
    begun = list(MESSAGE.finditer(text, max(0, place.start - _LONGEST_MESSAGE), place.start))
    before = text[begun[-1].end() : place.start] if begun else ""
    if not before.strip() or "\n#" in before or passage.hit.is_code or is_in_block(text, place.start):
        return ""
    return f"{begun[-1][0]} "


def goes_on(passage: Passage, before: Span, place: Span) -> bool:
    """Return whether a sentence follows another one in the same paragraph, or is the code that it is about.

    Statements of source code, and rows of tables, stand for themselves.
    """
    text = passage.hit.content
    if place.start < before.end:  # a text of a record
        return False
    if is_in_block(text, place.start):
        return _before_code(text, place.start) == (before.start, before.end)
    between = text[before.end : place.start]
    if (
        between.strip()
        or between.count("\n") > 1
        or passage.hit.is_code
        or is_row(text, place.start, passage.hit.table_header)
    ):
        return False
    # A line of its own, as in an address or a poem, is not the end of a sentence.
    return "\n" not in between or STATES.search(text, before.start, before.end) is not None


def introduction(passage: Passage, place: Span, others: set[int]) -> str:
    """Return the sentence before a list if an item of it is shown that is no sentence: "The note has to include:".

    Likewise the one before a block of code of which the beginning is shown, or before a line that it announces; and
    before a row of a table that code printed, the end of that.

    Args:
        passage: The passage.
        place: Where the sentence is in it.
        others: Where the sentences begin that are shown of the passage; what is among them is not shown again here.

    Returns:
        The sentence with a blank behind it; nothing if there is none, or it is shown anyway.
    """
    text = passage.hit.content
    if is_in_block(text, place.start):
        before = _before_code(text, place.start)
    elif (made := made_by(text, place.start)) is not None:
        return f"`{made}` → " if made else ""
    else:
        stands = passage.hit.is_code or STATES.search(text, place.start, place.end) is not None
        before = None if stands else lead_in(text, place.start) or sentence_above(text, place.start)
        if before is not None and words_begin(passage.hit, *before) == before[1]:
            before = None  # the name of who speaks
    said = f"{shown(text[slice(*before)], passage, before[0])} " if before and before[0] not in others else ""
    return said if len(said) <= _LONGEST_ITEM else ""


def code_behind(text: str, place: Span) -> Block | None:
    """Return the block of code that a sentence introduces ("Run:"); ``None`` if it introduces none."""
    introduces = announces(text, place.end) or FOLLOWING.search(text, place.start, place.end)
    return block_behind(text, place.end) if introduces and not is_in_block(text, place.start) else None


def shows_code(passage: Passage, place: Span) -> bool:
    """Return whether a sentence says something in code (a command, a setting), or announces some, or numbered steps.

    A mere word in code is none: "the `grid` meter", "notice the `.`".
    """
    text = passage.hit.content
    if passage.hit.is_code or is_row(text, place.start, passage.hit.table_header):
        return False
    if is_in_block(text, place.start) or _says_code(text, place.start, place.end):
        return True
    below = sentence_below(text, place.end)
    if code_behind(text, place) is not None or (below is not None and _says_code(text, *below)):
        return True
    return any(item.number for item in items_behind(text, place.end, 1))


def _says_code(text: str, start: int, end: int) -> bool:
    return any(_TELLS.search(code[2].strip()) is not None for code in _CODE.finditer(text, start, end))


def sentences_behind(passage: Passage, place: Span) -> list[Span]:
    """Return what a sentence announces if it begins the next paragraph, such as a line of code; and what that does."""
    text, found = passage.hit.content, [place]
    while len(found) <= _MOST_BEHIND and not passage.hit.is_code:
        below = sentence_below(text, found[-1].end)
        if below is None or is_row(text, below[0], passage.hit.table_header) or INCLUDES.fullmatch(text, *below):
            break
        found.append(Span(*below, said=True))
    return found[1:]


def list_behind(passage: Passage, place: Span, *, headed: bool = False) -> str:
    """Return the list or table that a sentence announces ("The steps are:"), as lines below its own; else nothing.

    Args:
        passage: The passage.
        place: Where the sentence is.
        headed: Whether it is the heading of the list.
    """
    text = passage.hit.content
    end = end_above_list(text, place.start) if headed else place.end
    items = items_behind(text, end, _MOST_ITEMS + 1, headed=headed)
    lines = []
    for number, start, stop in items[:_MOST_ITEMS]:
        said = shown(with_head(text, start, stop, passage.hit.table_header), passage, start, _LONGEST_ITEM)
        if within := items_within(text, start, stop, _MOST_ITEMS):
            inner = "; ".join(shown(text[item.start : item.end], passage, item.start) for item in within)
            said = cut(f"{said.rstrip(':')}: {inner}", 2 * _LONGEST_ITEM)
        block = code_behind(text, Span(start, stop, said=True))
        code = show(text, block, depth=2) if block is not None else Shown("", "")
        lines.append(f"\n  {number or '-'} {f'{said} {code.inline}'.rstrip()}{code.below}")
    return "".join([*lines, "\n  …"] if len(items) > _MOST_ITEMS else lines)


def _before_code(text: str, start: int) -> tuple[int, int] | None:
    """Return the place of the sentence directly before the block of code at a place; ``None`` for other places."""
    fence = _OPENS.search(text, 0, start)
    before = sentence_spans(text[: fence.start()], titles=True) if fence is not None else []
    if not before or is_heading(text, before[-1][0]) or "```" in text[slice(*before[-1])]:
        return None  # of two blocks, code and what it prints, neither introduces the other
    return before[-1]
