"""What a command needs is imported while its graph is opened."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec

import pytest

from mgrag.cli.runtime import ANSWERING, importing


async def test_modules_are_imported_while_something_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with importing("colorsys"):
        assert "colorsys" not in sys.modules
        await asyncio.to_thread(int)
        assert "colorsys" in sys.modules


async def test_nothing_is_imported_where_nothing_was_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(ValueError, match="no graph"), importing("colorsys"):
        raise ValueError("no graph")
    await asyncio.sleep(0)
    assert "colorsys" not in sys.modules


def test_the_modules_of_searches_and_answers_are_there() -> None:
    assert [name for name in ANSWERING if find_spec(name) is None] == []
