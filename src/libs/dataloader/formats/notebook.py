"""Jupyter notebooks."""

from __future__ import annotations

import json
import re
from typing import Any

from libs.dataloader.formats.bare_tables import with_outer_bars
from libs.dataloader.formats.base import Content, FileData, TextBuilder, UnreadableError, closed, fenced
from libs.dataloader.formats.html_in_markdown import with_plain_tables
from libs.dataloader.formats.markdown import NO_WORDS, find_links, first_heading, plain_words, title_of, without_blocks
from libs.dataloader.formats.notebook_outputs import joined, outputs_of
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

#: How all cells of a notebook look, or what they do.
_STYLE = regex(r"^[ \t]*<(style|script)\b.*?</\1\s*>", re.MULTILINE | re.DOTALL | re.IGNORECASE)


_FIRST_LEVEL = regex(r"^ {0,3}#[ \t]+\S", re.MULTILINE)
_BOLD_LINE = regex(r"\s*(\*\*|__)(?!\s)[^\n]{1,200}\1[ \t]*(?:\n|\Z)")


def read(file: FileData, _kind: Format) -> Content:
    """Convert the cells in order: Markdown as it is, code in fences, and below it what the code printed.

    A fence that names no language right behind one that does is the output of that code.
    """
    try:
        notebook = json.loads(file.text())
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is damaged: it is not JSON: {error}") from error
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableError("it is not a notebook, despite its name")
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    language = _language(metadata)
    builder = TextBuilder()
    collector = LinkCollector(file.uri, file.root_uri)
    for number, cell in enumerate(cells, 1):
        text = _cell(cell, language) if isinstance(cell, dict) else ""
        if not text:
            continue
        if cell.get("cell_type") == "markdown":
            collector.extend(find_links(text))
        builder.separate()
        builder.mark("cell", number)
        builder.add(text)
    title = metadata.get("title")
    return Content(
        builder.text(),
        "markdown",
        title if isinstance(title, str) and title else _title(builder.text(), file.name),
        {"language": language, "cell_count": len(cells)},
        collector.links(),
        builder.locations,
    )


def _title(text: str, name: str) -> str | None:
    """Return what a notebook is called; ``None``: by its file.

    That is its heading of the highest level. Of several of the first level, the first one is only where nothing stands
    before it: "Setup" is not; then its first line in bold letters is, or the name of its file, if that has words.

    Args:
        text: Its cells, as Markdown.
        name: The name of the file.
    """
    prose = without_blocks(text)
    first = [match.start() for match in _FIRST_LEVEL.finditer(prose)]
    if len(first) < 2:
        return title_of(text, prose, name)
    if (bold := _BOLD_LINE.match(prose)) is not None:
        return plain_words(bold[0])
    stem = name.rpartition(".")[0]
    if " " in stem:
        return stem
    return None if NO_WORDS.sub("", text[: first[0]]).strip() else first_heading(text, prose)


def _cells(notebook: Any) -> list[Any] | None:
    if not isinstance(notebook, dict):
        return None
    if isinstance(notebook.get("cells"), list):
        return list(notebook["cells"])
    sheets = notebook.get("worksheets")  # version 3
    if isinstance(sheets, list):
        return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    return None


def _language(metadata: dict[str, Any]) -> str:
    for key in ("language_info", "kernelspec"):
        info = metadata.get(key)
        if isinstance(info, dict):
            name = info.get("name" if key == "language_info" else "language")
            if isinstance(name, str) and name:
                return name.lower()
    return "python"


def _cell(cell: dict[str, Any], language: str) -> str:
    source = clean_text(joined(cell.get("source", cell.get("input")))).strip("\n")
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        return f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    if kind != "code":
        text = closed(_STYLE.sub("", source).strip())  # lest the code of the next cell be taken for its end
        return _plain_tables(text) if "|" in text or "<" in text else text
    outputs = cell.get("outputs")
    shown = outputs_of(outputs if isinstance(outputs, list) else [])
    return "\n\n".join([fenced(source, language), *shown] if source.strip() else shown)


def _plain_tables(text: str) -> str:
    text = with_outer_bars(text, without_blocks(text))
    return with_plain_tables(text, without_blocks(text)).strip("\n") if "<table" in text.lower() else text
