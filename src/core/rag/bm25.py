"""The numbers of BM25 that all engines and all code here share, so that they rank alike.

    score(d) = sum over the words t of the query of
               w_t * idf_t * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / average |d|))
    idf_t    = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))

S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.2, with the idf of
Lucene. Grafeo gives these very numbers; Memgraph (Tantivy) the same with lengths rounded to a byte and k1 = 1.2;
Lucene without the factor k1 + 1, which does not change the order.
"""

from __future__ import annotations

import math
from typing import Final

K1: Final = 1.5
B: Final = 0.75


def idf(total: int, holding: float) -> float:
    """Return the weight of a word that occurs in ``holding`` of ``total`` documents."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
