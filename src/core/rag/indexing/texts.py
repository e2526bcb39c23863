"""The text of a chunk that is embedded."""

from __future__ import annotations

from core.rag.headings import HEADING_SEPARATOR
from libs.dataloader import DocumentChunk


def embedding_text(title: str | None, chunk: DocumentChunk, title_weight: int = 1, *, words_only: bool = False) -> str:
    """Return the text whose vector stands for a chunk: title, heading path, table header and content.

    A title that is only the name of the file says nothing about the text and is left out, so that equal texts have
    equal vectors wherever they lie.

    Args:
        title: The title from the document itself, or ``None``.
        chunk: The chunk.
        title_weight: How often the title stands there; see
            :attr:`core.rag.embedder.EmbeddingService.title_weight`.
        words_only: Whether only what has a letter or a digit in it counts; see
            :attr:`core.rag.embedder.EmbeddingService.words_only`. A text that has none stays as it is.
    """
    heading = chunk.heading
    if title and (heading == title or heading.startswith(title + HEADING_SEPARATOR)):
        heading = heading[len(title) :].removeprefix(HEADING_SEPARATOR)
    parts = (*[title] * title_weight, heading, str(chunk.metadata.get("table_header", "")), chunk.content)
    text = " ".join(part.strip() for part in parts if part and part.strip())
    if not words_only:
        return text
    return " ".join([word for word in text.split() if word[0].isalnum() or any(map(str.isalnum, word))]) or text
