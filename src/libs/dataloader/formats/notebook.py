"""Jupyter notebooks."""

from __future__ import annotations

import json
from typing import Any

from libs.dataloader.formats.base import Content, FileData, TextBuilder, UnreadableError, closed, fenced
from libs.dataloader.formats.markdown import find_links, first_heading
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

_LONGEST_OUTPUT = 2000
_OBJECT = regex(r"<[^<>\n]*>")  # how an image is called: <Figure size 640x480 with 1 Axes>


def read(file: FileData, _kind: Format) -> Content:
    """Convert the cells in order: Markdown as it is, code in fences, and the text that the code printed."""
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
        title if isinstance(title, str) and title else first_heading(builder.text()),
        {"language": language, "cell_count": len(cells)},
        collector.links(),
        builder.locations,
    )


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
    source = clean_text(_joined(cell.get("source", cell.get("input")))).strip("\n")
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        return f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    if kind != "code":
        return closed(source.strip())  # lest the code of the next cell be taken for its end
    blocks = [fenced(source, language)] if source.strip() else []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        text = clean_text(_output(output)).strip() if isinstance(output, dict) else ""
        if text:
            blocks.append(fenced(text if len(text) <= _LONGEST_OUTPUT else text[:_LONGEST_OUTPUT] + " …", ""))
    return "\n\n".join(blocks)


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    text = _joined(data.get("text/markdown") or data.get("text/plain") or output.get("text"))
    is_image = any(kind.startswith("image/") for kind in data)
    return "" if is_image and _OBJECT.fullmatch(text.strip()) else text


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
