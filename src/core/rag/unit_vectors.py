"""Unit vectors, whose dot products are cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_vectors[Kind: np.floating](vectors: NDArray[Kind]) -> NDArray[Kind]:
    """Return vectors scaled to length 1.

    Args:
        vectors: One, or a row for each; of 32 or 64 bits.

    Returns:
        New ones of the same shape and kind; one of zeros has no direction and stays as it is.
    """
    import numpy as np

    # In 32 bits the squares of tiny and huge numbers are lost.
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))[..., np.newaxis]
    units = np.empty_like(vectors)
    np.divide(vectors, np.where(lengths > 0, lengths, 1.0), out=units, casting="same_kind")
    return units
