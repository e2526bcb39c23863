"""The texts of documents that stand in a keyword index."""

from __future__ import annotations

from typing import Final

from core.rag.schema import EdgeType, Label

#: What stands in a keyword index of its own, and the edge from there to its document.
INDEXED: Final = {Label.CHUNK: EdgeType.CHUNK_OF, Label.RECORD: EdgeType.DEFINED_IN}


def indexed_texts(label: Label, columns: str) -> str:
    """Return the statement that reads the texts of documents.

    Args:
        label: One of :data:`INDEXED`.
        columns: What of them; ``n`` is a text, and ``d`` its document. The ids of the documents are ``$ids``.
    """
    return f"UNWIND $ids AS i MATCH (d:Document {{id: i}})<-[:{INDEXED[label]}]-(n:{label}) RETURN {columns}"
