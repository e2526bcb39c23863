"""What Memgraph has to be told to find the nodes of a statement by an index."""

from __future__ import annotations

from functools import lru_cache

from core.rag.schema import Label
from libs.regexes import regex

_BY_ID = regex(r"\(\w*:(\w+) \{id: ")
#: Beginnings of statements that may look up nodes; others accept no hint, or have one.
_OF_READING = ("MATCH ", "UNWIND ", "OPTIONAL ", "WITH ", "MERGE ")
#: The beginning of a statement about all vectors of a store.
_OF_STORE = regex(r"^MATCH \((\w+):(Vector_\w+)(?=[ )])")


@lru_cache(1_000)
def hinted(statement: str) -> str:
    """Return a statement with hints for Memgraph.

    - If it does not know an id in advance (it comes from UNWIND), it estimates that the index returns a part of all
      nodes with the label; if the other end of an edge has fewer nodes, it scans those for every id.
    - The label of the vectors of one store has no index but that of the vector search, so it would scan all nodes of
      all labels and namespaces, were it not told that they are vectors.
    """
    statement = _OF_STORE.sub(rf"MATCH (\1:{Label.VECTOR}:\2", statement)
    labels = sorted(set(_BY_ID.findall(statement)) & set(Label))
    if not labels or not statement.startswith(_OF_READING):
        return statement
    return f"USING INDEX {', '.join(f':{label}(id)' for label in labels)} {statement}"
