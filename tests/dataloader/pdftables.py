"""The tables in the content of a PDF."""

from __future__ import annotations

import re


def tables(content: str) -> list[list[list[str]]]:
    """The cells of each table, without the row below its header."""
    found = re.findall(r"(?:^\|.*\n?)+", content, re.MULTILINE)
    return [
        [
            [cell.strip() for cell in row.strip("| ").split(" | ")]
            for row in table.strip().split("\n")
            if "---" not in row
        ]
        for table in found
    ]
