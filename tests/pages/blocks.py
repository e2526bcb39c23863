"""The Python of a page of the documentation, and running it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def blocks_of(page: str) -> list[str]:
    """The blocks of Python of a page, by its path in the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


async def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run lines that may ``await``, and give the names that they leave behind."""
    body = textwrap.indent(f"{block}\nreturn locals()", "    ")
    exec(compile(f"async def part():\n{body}\n", "a page", "exec"), names)
    left: dict[str, Any] = await names["part"]()
    return left
