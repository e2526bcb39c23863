"""Rich Text Format (RTF)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from libs.dataloader.form_tables import guessed_table
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rtf_fonts import with_characters
from libs.dataloader.text import clean_text
from libs.regexes import regex

_INFO = regex(rb"\{\\(title|author|subject|keywords)\s((?:[^{}\\]|\\.)*+)\}")
_OUTLINE = regex(r"(\\outlinelevel([0-8]))(?![0-9]) ?")
_HEADING = regex(r"#{1,6} \S")
_BLANK_LINES = regex(r"\n{3,}")
# Groups that the library would leave out: footnotes, comments, and what Word shows before the items of lists.
_GROUP_OR_BRACE = regex(r"\\[\\{}]|\{\s*(?:\\\*\s*)?\\(footnote|annotation|atnauthor|listtext|pntext)(?![a-z]) ?|[{}]")
# Characters that no text has, to tell what the library would not.
_MARKS = {
    **dict.fromkeys(("footnote", "annotation"), ("\x01", "\x02")),
    **dict.fromkeys(("listtext", "pntext"), ("\x03", "\x04")),
    "atnauthor": ("\x0e", "\x0f"),
}
_NOTE = regex("(?:\x0e([^\x0e\x0f]*)\x0f\\s*)?\x01([^\x01\x02]*)\x02|\x0e[^\x0e\x0f]*\x0f")
_LABEL = regex(r"\x03([^\x03\x04]*)\x04\s*(#{1,6} )?")
_IN_CELL = "\x05"  # between the paragraphs of a cell
# Between the cells and the rows of a table inside of a cell.
_NESTED_CELL = "\x06"
_NESTED_ROW = "\x07"
_ANY_IN_CELL = regex(f"[{_IN_CELL}{_NESTED_CELL}{_NESTED_ROW}]")
_TABLE_OR_PARAGRAPH = regex(r"\\(pard|par|intbl|row|nestcell)(?![a-z]) ?|(\{\s*\\\*\s*\\nesttableprops)|\\[\\{}]|[{}]")
_HIDING = regex(r"\\(?:v|deleted)(?:-?[1-9]\d*)?(?![a-z0-9])")
_TOKEN = regex(r"\\(?:([a-z]+)(-?\d+)? ?|'[0-9a-fA-F]{2}|.)|[{}]|[^\\{}]+", re.DOTALL)
# A group with a raised number, after a letter or digit that may end a group of its own.
_RAISED = regex(
    r"([A-Za-z0-9])(\}?[\r\n]*\{(?:\\[a-z]++-?\d*+ ?){0,20}?\\super(?![a-z0-9])(?: |(?:\\[a-z]++-?\d*+ ?){1,20})?)"
    r"(?=(?:[+\-\u2013]?\d+|n)\})"
)
_ENDS_IN_WORD = regex(r"\\[a-z]+-?\d*$")
# A mark that makes a group one to leave out is the first in it; old versions of OpenOffice also wrote it before styles.
_STRAY_MARK = regex(r"(?<![{\s\\])\\\*(?=\\cs\d)")
_CODE_PAGE = regex(rb"\\ansicpg(\d+)")


def read(file: FileData, _kind: Format) -> Content:
    """Convert to Markdown; rows become tables; footnotes and comments follow at the end."""
    from striprtf import striprtf

    to_text: Callable[..., str] = striprtf.rtf_to_text

    if not file.data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("it is not RTF, despite its name")
    page = _CODE_PAGE.search(file.data[:2000])
    encoding = f"cp{page[1].decode()}" if page else "cp1252"
    try:
        "".encode(encoding)
    except LookupError:
        encoding = "cp1252"
    # RTF is ASCII; what programs write beyond it is in the code page.
    source = with_characters(_without_hidden(_STRAY_MARK.sub("", file.data.decode(encoding, "replace"))))
    source = _RAISED.sub(_power, _OUTLINE.sub(_heading_mark, source))
    source = _with_groups(_with_paragraphs(source))
    body, notes = _split_notes(to_text(source, encoding=encoding, errors="replace"))
    lines = [line.rstrip() for line in _LABEL.sub(_label, body.replace("\r", "")).split("\n")]
    lines = clean_text("\n".join([*_blocks(lines), *notes])).split("\n")
    text = _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()
    fields = {
        match[1].decode(): clean_text(
            to_text("{\\rtf1 " + match[2].decode(encoding, "replace") + "}", encoding=encoding, errors="replace")
        ).strip()
        for match in _INFO.finditer(file.data)
    }
    title = fields.pop("title", "") or first_heading(text)
    return Content(text, "markdown", title, {name: value for name, value in fields.items() if value})


def _without_hidden(source: str) -> str:
    """Return the file without what its program does not display: hidden text and tracked deletions."""
    if _HIDING.search(source) is None:
        return source
    parts: list[str] = []
    groups: list[frozenset[str]] = []  # those that are open: what hid the text before each
    hidden: frozenset[str] = frozenset()
    for match in _TOKEN.finditer(source):
        piece, word = match[0], match[1]
        if piece == "{":
            groups.append(hidden)
        elif piece == "}" and groups:
            hidden = groups.pop()
        elif word in ("v", "deleted"):
            hidden = hidden - {word} if match[2] == "0" else hidden | {word}
        elif word == "plain":
            hidden = hidden - {"v"}
        elif hidden and piece != "}" and (word is None or word == "u"):
            continue
        parts.append(piece)
    return "".join(parts)


def _power(match: re.Match[str]) -> str:
    """Return what is before a raised number with ``^`` at its end, unless that is a control word, not text."""
    is_text = _ENDS_IN_WORD.search(match.string, max(match.start() - 40, 0), match.start() + 1) is None
    return f"{match[0]}^" if is_text else match[0]


def _heading_mark(match: re.Match[str]) -> str:
    return f"{match[1]} {'#' * min(int(match[2]) + 1, 6)} "


def _with_paragraphs(source: str) -> str:
    """Return the file with an empty line after each paragraph, to tell paragraphs from lines, but none inside cells.

    The library writes a line end for each paragraph, which would also end the row of a table. It takes the cells of a
    table within a cell for cells of the outer table, and does not see where the inner rows end: at their properties.
    """
    parts: list[str] = []
    groups: list[bool] = []  # those that are open: whether the text before each was in a table
    in_table = False
    at = 0
    for match in _TABLE_OR_PARAGRAPH.finditer(source):
        word = match[1]
        if match[0] == "{":
            groups.append(in_table)
        elif match[2]:
            parts += (source[at : match.start()], f"{{{_NESTED_ROW}}}")
            at = match.start()
            groups.append(in_table)
        elif match[0] == "}" and groups:
            in_table = groups.pop()
        elif word == "nestcell":
            parts += (source[at : match.start()], f"{{{_NESTED_CELL}}}")
            at = match.end()
        elif word == "par":
            # In a group of its own, lest its letters be taken for those of a control word.
            parts += (source[at : match.start()], f"{{{_IN_CELL}}}" if in_table else "\\par\\par ")
            at = match.end()
        elif word == "intbl":
            in_table = True
        elif word in ("pard", "row"):
            in_table = False
    return "".join([*parts, source[at:]])


def _with_groups(source: str) -> str:
    """Return the file with marks around the groups that the library would leave out."""
    if not any(f"\\{name}" in source for name in _MARKS):
        return source
    parts: list[str] = []
    groups: list[str] = []  # those that are open: the mark at the end of each
    at = 0
    for match in _GROUP_OR_BRACE.finditer(source):
        if match[1]:
            opening, closing = _MARKS[match[1]]
            parts += (source[at : match.start()], "{", opening)
            at = match.end()
            groups.append(closing)
        elif match[0] == "{":
            groups.append("")
        elif match[0] == "}" and groups and (mark := groups.pop()):
            # In a group of its own: after a character given twice, the library skips what follows.
            parts += (source[at : match.start()], f"{{{mark}}}")
            at = match.start()
    return "".join([*parts, source[at:]])


def _label(match: re.Match[str]) -> str:
    """Return the label of an item, after the mark of a heading; a single letter is a bullet in a symbol font."""
    label = " ".join(match[1].split())
    if label:
        label = f"{label} " if any(map(str.isdigit, label)) or sum(map(str.isalnum, label)) < len(label) > 1 else "- "
    return f"{match[2] or ''}{label}"


def _split_notes(text: str) -> tuple[str, list[str]]:
    """Return the text with the numbers of footnotes and comments in their place, and these as paragraphs."""
    notes: list[str] = []

    def number(match: re.Match[str]) -> str:
        author, note = (" ".join(clean_text(part or "").split()) for part in match.groups())
        if not note:
            return ""
        note = f"{author}: {note}" if author else note
        notes.append(f"\n\n[{len(notes) + 1}] {note}")
        return f"[{len(notes)}]"

    return _NOTE.sub(number, text), notes


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield the lines with headings set apart, and rows (``a|b|``) as tables."""
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if line.endswith("|"):
            rows.append([cell.strip() for cell in line[:-1].split("|")])
            continue
        if rows:
            yield "\n" + _table(rows) + "\n"
            rows = []
        if _HEADING.match(line):
            yield f"\n{line}\n"
        elif line.strip("#"):
            yield line
        else:
            yield ""


def _table(rows: list[list[str]]) -> str:
    """Return rows as a table; a table with one row or column is a frame around text, and becomes paragraphs."""
    rows = [row for row in rows if any(_ANY_IN_CELL.sub("", cell) for cell in row)]
    if len(rows) > 1 and max(map(len, rows)) > 1:
        return guessed_table([[_ANY_IN_CELL.sub(" ", cell) for cell in row] for row in rows])
    return "\n\n".join(block for row in rows for cell in row for block in _framed(cell))


def _framed(cell: str) -> Iterator[str]:
    """The paragraphs of a cell, and the tables in it."""
    *nested, rest = cell.split(_NESTED_ROW)
    rows: list[list[str]] = []
    for row in nested:
        first, *others = row.removesuffix(_NESTED_CELL).split(_NESTED_CELL)
        before, _, first = first.rpartition(_IN_CELL)  # paragraphs that precede the table
        if before.strip(_IN_CELL):
            if rows:
                yield _table(rows)
                rows = []
            yield before.replace(_IN_CELL, "\n\n")
        rows.append([first, *others])
    if rows:
        yield _table(rows)
    yield _ANY_IN_CELL.sub("\n\n", rest)
