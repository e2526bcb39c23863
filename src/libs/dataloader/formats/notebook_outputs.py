"""What the code of notebooks printed, as their readers see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from libs.dataloader.formats.base import closed, fenced
from libs.dataloader.html import html_to_document
from libs.dataloader.tables import markdown_table, row_cells
from libs.dataloader.text import clean_text
from libs.regexes import regex

#: Of a longer output, so many characters are kept of its beginning, and of its end: the last epoch of a training.
_KEPT = 700
#: The same of a table, whose rows are found by themselves.
_KEPT_OF_TABLE = 2000
#: What pandas calls the statistics of columns, and what people do.
_STATISTICS = {
    "std": "std (standard deviation)",
    "stddev": "stddev (standard deviation)",
    "min": "min (minimum)",
    "max": "max (maximum)",
    "50%": "50% (median)",
    **{name: name for name in ("count", "mean", "25%", "75%", "unique", "top", "freq", "first", "last")},
}
_FEWEST_STATISTICS = 4
#: Objects that say no more than what they are: how an image is called (``<Figure size 640x480 with 1 Axes>``),
#: what functions of plotting return (``[<matplotlib.lines.Line2D at 0x7f2c>]``, ``Text(0, 0.5, 'Loss')``), and what
#: stands for something that is shown otherwise.
_OBJECT = regex(r"[\[(]*<[^<>\n]*(?: at 0x[0-9A-Fa-f]+| object)>[\])]*|Text\([^\n]*\)")
_IMAGE = regex(r"<[^<>\n]*>")
_BORDER = regex(r"\+(?:-+\+)+")
_WIDGET = "application/vnd.jupyter.widget-view+json"


def outputs_of(outputs: Sequence[Any]) -> list[str]:
    """Return the outputs of a cell as blocks of Markdown: tables as such, all else in fences without a language."""
    blocks: list[str] = []
    for is_stream, group in groupby((one for one in outputs if isinstance(one, dict)), _is_stream):
        if is_stream:  # a program prints in pieces
            blocks += _fenced(_shown("".join(joined(output.get("text")) for output in group)))
        else:
            blocks += (block for output in group for block in _blocks(output))
    return blocks


def joined(source: Any) -> str:
    """Return a text that notebooks have whole, or as lines."""
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _is_stream(output: dict[str, Any]) -> bool:
    return output.get("output_type") == "stream"


def _blocks(output: dict[str, Any]) -> Iterator[str]:
    if output.get("output_type") in ("error", "pyerr"):
        yield from _fenced(_shown(f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"))
        return
    data = output.get("data")
    data = data if isinstance(data, dict) else output  # version 3 has them in the output itself
    if _WIDGET in data:
        return
    html = joined(data.get("text/html") or data.get("html"))
    if "<table" in html.lower():
        tables = html_to_document(html, whole_page=True).markdown.strip()
        if "|" in tables:
            yield _shortened(closed(_by_column(tables)), _KEPT_OF_TABLE, "| … |")
            return
    if markdown := clean_text(joined(data.get("text/markdown"))).strip():
        yield closed(markdown)
        return
    text = _shown(joined(data.get("text/plain") or data.get("text")))
    is_image = any(kind.startswith("image/") or kind in ("png", "jpeg", "svg") for kind in data)
    if not _OBJECT.fullmatch(text) and not (is_image and _IMAGE.fullmatch(text)):
        yield from _fenced(text)


def _bordered(text: str) -> str:
    """Return a table that is drawn with bars and dashes (Spark, SQL) as one of Markdown; empty for other texts."""
    lines = [line.strip() for line in text.split("\n")]
    rows = [line for line in lines if line.startswith("|")]
    if len(rows) < 2 or not _BORDER.fullmatch(lines[0]) or len({len(row_cells(row)) for row in rows}) > 1:
        return ""
    table = lines[: len(lines) - lines[::-1].index(lines[0])]  # up to its last border
    if not all(line.startswith("|") or _BORDER.fullmatch(line) for line in table):
        return ""
    below = "\n".join(line for line in lines[len(table) :] if line)
    return "\n\n".join(filter(None, (_by_column(markdown_table(list(map(row_cells, rows)))), below)))


def _shown(text: str) -> str:
    if "\r" in text or "\x08" in text:
        text = "\n".join(map(_last_written, text.split("\n")))
    return clean_text(text).strip()


def _last_written(line: str) -> str:
    """Return what a terminal shows in the end: a progress bar goes back in its line, and writes over what was there."""
    line = line.rstrip("\r")
    return line[max(line.rfind("\r"), line.rfind("\x08")) + 1 :]


def _fenced(text: str) -> Iterator[str]:
    if text.startswith("+-") and (table := _bordered(text)):
        yield _shortened(table, _KEPT_OF_TABLE, "| … |")
    elif text:
        yield fenced(_shortened(text, _KEPT, "…"), "")


def _shortened(text: str, kept: int, between: str) -> str:
    """Return a text without the lines in its middle, if it is long; of a table these are rows."""
    if len(text) <= 2 * kept:
        return text
    begin = text.rfind("\n", 0, kept) + 1 or kept
    end = text.find("\n", len(text) - kept)
    end = end + 1 if end >= 0 else len(text) - kept
    return f"{text[:begin].rstrip()}\n{between}\n{text[end:].lstrip()}"


def _by_column(table: str) -> str:
    """Return a table of statistics (``describe()``) with a row for each column that they are about; others as they are.

    "What is the maximum of the age?" is then asked of the row that is called so.
    """
    rows = [row_cells(line) for line in table.split("\n") if line.startswith("|")]
    if len(rows) != table.count("\n") + 1 or len({len(row) for row in rows}) > 1:
        return table
    names = [row[0] for row in rows[2:]]
    if len(names) >= _FEWEST_STATISTICS and _STATISTICS.keys() >= set(names):
        rows = [list(column) for column in zip(rows[0], *rows[2:], strict=True)]
    elif len(rows[0]) > _FEWEST_STATISTICS and _STATISTICS.keys() >= set(rows[0][1:]):
        rows = [rows[0], *rows[2:]]
    else:
        return table
    head = [rows[0][0], *(_STATISTICS[name] for name in rows[0][1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows[1:]))
