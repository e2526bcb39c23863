"""A presentation as Markdown, whatever format it is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from libs.dataloader.formats.base import Content, TextBuilder
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text


class Slide(Protocol):
    """What a slide says, as the reader of a format finds it."""

    title: str | None
    blocks: list[str]
    notes: list[str]
    comments: list[str]


class Slides:
    """Puts slides together."""

    def __init__(self) -> None:
        self._builder = TextBuilder()
        self._first_title: str | None = None

    def add(self, number: int, slide: Slide) -> None:
        """Add a slide, if it has any text."""
        self._first_title = self._first_title or slide.title
        if text := clean_text(_text(number, slide)):
            self._builder.separate()
            self._builder.mark("slide", number)
            self._builder.add(text)

    def content(self, title: str | None, metadata: Mapping[str, Any], count: int, collector: LinkCollector) -> Content:
        """Return what was added; without a title of its own, a presentation is called like its first slide."""
        return Content(
            self._builder.text(),
            "markdown",
            title or self._first_title,
            {**metadata, "slide_count": count},
            collector.links(),
            self._builder.locations,
        )


def _text(number: int, slide: Slide) -> str:
    """Return a slide with its notes and comments below its title, or its number; empty if it has no text."""
    if not (slide.title or slide.blocks or slide.notes or slide.comments):
        return ""
    notes = ["Notes: " + "\n".join(slide.notes)] if slide.notes else []
    return "\n\n".join([f"## {slide.title or f'Slide {number}'}", *slide.blocks, *notes, *slide.comments])


def comment_text(author: str, words: str) -> str:
    """Return a comment on a slide, with who wrote it, if that is known."""
    return f"Comment by {author}: {words}" if author else f"Comment: {words}"
