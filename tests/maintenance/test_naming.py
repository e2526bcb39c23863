"""A document by what people call it, on every engine: not all know the capitals of other letters than English."""

from __future__ import annotations

import pytest

from core.rag.errors import NotFoundError
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

TITLES = {
    "docs/Übergröße.md": "Ärger mit Größen",
    "docs/plain.md": "Plain words",
    "docs/ÉTÉ.md": "L'été",
    "docs/мельница.md": "Приливная Мельница",
}


async def test_case_does_not_count_whatever_the_letters(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([Document(path=path, title=title, content=f"{title}.") for path, title in TITLES.items()])
        for path, title in TITLES.items():
            name = path.removeprefix("docs/")
            for called in (name, name.lower(), name.title(), title, title.lower(), title.title()):
                assert (await kb.show(called))["path"] == path, called
        for name in ("größe.md", "Ärger", "te.md"):
            with pytest.raises(NotFoundError):
                await kb.show(name)
