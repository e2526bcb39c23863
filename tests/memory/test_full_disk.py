"""What is remembered can be recalled when the disk is full."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import StoreFullError
from tests.embedders import HashEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, the size of files cannot be limited")


async def test_a_full_disk_takes_nothing_from_recall(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import resource

    async with KnowledgeBase.open(f"embedded:{tmp_path / 'graph.grafeo'}", embedder=HashEmbedder()) as kb:
        await kb.remember("s", "user", "Ada prefers tea.")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))  # nothing can be added to the log
        try:
            with pytest.raises(StoreFullError):
                await kb.remember("s", "user", "Ada prefers coffee.")
            recalled = await kb.recall(query="What does Ada prefer?")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [memory.content for memory in recalled] == ["Ada prefers tea."]
        assert "not noted" in caplog.text
        await kb.remember("s", "user", "Ada prefers coffee.")
        assert len(await kb.recall(query="What does Ada prefer?")) == 2
