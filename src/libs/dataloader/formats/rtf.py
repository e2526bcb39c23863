"""RTF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rtf_fonts import with_characters
from libs.dataloader.tables import markdown_table
from libs.dataloader.text import clean_text

_INFO = re.compile(rb"\{\\(title|author|subject|keywords)\s+((?:[^{}\\]|\\.)*)\}")
_OUTLINE = re.compile(r"(\\outlinelevel([0-8]))(?![0-9]) ?")
_PARAGRAPH = re.compile(r"\\par(?![a-z])")
_HEADING = re.compile(r"#{1,6} \S")
_BLANK_LINES = re.compile(r"\n{3,}")
_NOTE_OR_BRACE = re.compile(r"\\[\\{}]|(\{\s*(?:\\\*\s*)?\\footnote(?![a-z]) ?)|[{}]")
_NOTE = re.compile("\x01([^\x01\x02]*)\x02")
_CODE_PAGE = re.compile(rb"\\ansicpg(\d+)")


def read(file: FileData, _kind: Format) -> Content:
    """The text; rows of tables become lines with ``|`` between the cells, and footnotes follow at the end."""
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
    source = _OUTLINE.sub(_heading_mark, with_characters(file.data.decode(encoding, "replace")))
    source = _PARAGRAPH.sub(r"\\par\\par", source)  # to tell paragraphs from lines
    body, notes = _split_notes(to_text(_with_notes(source), encoding=encoding, errors="replace"))
    lines = [line.rstrip() for line in clean_text(body).split("\n")]
    text = _BLANK_LINES.sub("\n\n", "\n".join([*_blocks(lines), *notes])).strip()
    fields = {
        match[1].decode(): clean_text(
            to_text("{\\rtf1 " + match[2].decode(encoding, "replace") + "}", encoding=encoding, errors="replace")
        ).strip()
        for match in _INFO.finditer(file.data)
    }
    title = fields.pop("title", "") or first_heading(text)
    return Content(text, "markdown", title, {name: value for name, value in fields.items() if value})


def _heading_mark(match: re.Match[str]) -> str:
    return f"{match[1]} {'#' * min(int(match[2]) + 1, 6)} "


def _with_notes(source: str) -> str:
    """The file with characters that no text has around its footnotes, which the library would leave out."""
    if "\\footnote" not in source:
        return source
    parts: list[str] = []
    groups: list[bool] = []  # those that are open: whether each is a footnote
    at = 0
    for match in _NOTE_OR_BRACE.finditer(source):
        if match[1]:
            parts += (source[at : match.start()], "{\x01")
            at = match.end()
            groups.append(True)
        elif match[0] == "{":
            groups.append(False)
        elif match[0] == "}" and groups and groups.pop():
            # In a group of its own: after a character given twice, the library skips what follows.
            parts += (source[at : match.start()], "{\x02}")
            at = match.start()
    return "".join([*parts, source[at:]])


def _split_notes(text: str) -> tuple[str, list[str]]:
    """The text with the numbers of the footnotes in their place, and the footnotes as paragraphs."""
    notes: list[str] = []

    def number(match: re.Match[str]) -> str:
        note = " ".join(clean_text(match[1]).split())
        if not note:
            return ""
        notes.append(f"\n\n[{len(notes) + 1}] {note}")
        return f"[{len(notes)}]"

    return _NOTE.sub(number, text), notes


def _blocks(lines: list[str]) -> Iterator[str]:
    """Lines with headings set apart, and rows (``a|b|``) as tables."""
    row: list[list[str]] = []
    for line in [*lines, ""]:
        if line.endswith("|") and (not row or line.count("|") == len(row[0])):
            row.append([cell.strip() for cell in line[:-1].split("|")])
            continue
        if row:
            yield "\n" + markdown_table(row) + "\n"
            row = []
        if _HEADING.match(line):
            yield f"\n{line}\n"
        elif line.strip("#"):
            yield line
        else:
            yield ""
