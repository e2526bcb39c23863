"""Makes citations of passages."""

from __future__ import annotations

from core.rag.answering.extracts.table_rows import with_head
from core.rag.answering.types import Citation, Passage


def citation(passage: Passage, quote: str) -> Citation:
    """Make the citation of a passage."""
    hit = passage.hit
    if passage.record_id and hit.content.startswith(quote):  # the names of its columns are in no document either
        quote = with_head(hit.content, 0, len(quote), hit.table_header)
    return Citation(
        number=passage.number,
        document_id=hit.document_id,
        chunk_id="" if passage.record_id else hit.chunk_id,
        path=hit.path,
        heading=hit.heading,
        page=passage.page,
        start_char=hit.start_char,
        end_char=hit.end_char,
        quote=quote,
        record_id=passage.record_id,
    )
