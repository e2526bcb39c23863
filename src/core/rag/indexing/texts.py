"""Which text of a chunk is embedded."""

from __future__ import annotations

from libs.dataloader import DocumentChunk


def embedding_text(title: str | None, chunk: DocumentChunk) -> str:
    """The text whose vector stands for a chunk: title, heading path, table header and content.

    A title that is only the name of the file says nothing about the text and is left out, so that equal texts have
    equal vectors wherever they lie.

    Args:
        title: The title from the document itself, or ``None``.
        chunk: The chunk.
    """
    heading = chunk.heading
    if title and (heading == title or heading.startswith(f"{title} > ")):
        heading = heading[len(title) :].removeprefix(" > ")
    parts = (title, heading, str(chunk.metadata.get("table_header", "")), chunk.content)
    return "\n".join(part.strip() for part in parts if part and part.strip())
