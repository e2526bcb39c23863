"""Vector search without vector functions: fetch the vectors in pages and compare them here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.rag.dbhandler.store import GraphStore, Match
from core.rag.errors import InvalidVectorError
from core.rag.schema import VectorIndex, check_name

PAGE = 2_000


async def scan_search(store: GraphStore, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
    """The ``k`` vectors of an index that are most similar to a query, by cosine.

    The same ranking as an exact search in the engine; memory for one page and ``k`` results.

    Args:
        store: The graph.
        index: Which vectors.
        query: Checked, as long as ``index.dimension``.
        k: How many.
    """
    unit = np.asarray(query, dtype=np.float32)
    unit = unit / np.linalg.norm(unit)
    best: list[tuple[float, str]] = []
    after = ""
    while True:
        rows = await store.run(
            f"MATCH (v:{check_name(index.label)}) WHERE v.id > $after "
            f"WITH v ORDER BY v.id LIMIT {PAGE} RETURN v.id AS id, v.embedding AS embedding",
            {"after": after},
        )
        if not rows:
            break
        after = max(row["id"] for row in rows)
        usable = [row for row in rows if row["embedding"] is not None and len(row["embedding"]) == index.dimension]
        if usable:
            matrix = np.array([row["embedding"] for row in usable], dtype=np.float32)
            scores = (matrix @ unit) / np.maximum(np.linalg.norm(matrix, axis=1), 1e-30)
            best += [(float(score), row["id"]) for score, row in zip(scores, usable, strict=True)]
            best.sort(key=lambda item: (-item[0], item[1]))
            del best[k:]
        if len(rows) < PAGE:
            break
    return [Match(identifier, score) for score, identifier in best]


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of the angle between two vectors.

    Returns:
        -1 to 1; 0 where one of them is all zeros.

    Raises:
        InvalidVectorError: when they differ in length.
    """
    if len(a) != len(b):
        raise InvalidVectorError(f"The vectors have {len(a)} and {len(b)} dimensions; only equal lengths compare.")
    scale = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    if scale == 0.0:
        return 0.0
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / scale))
