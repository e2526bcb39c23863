"""Validates vectors before they reach an engine: engines store and compare wrong ones without an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.rag.errors import InvalidVectorError

# Squares of numbers outside these bounds overflow in 32 bits, or (below 1.2e-38) lose digits until nothing is left.
_SMALLEST_NORM = 1e-15
_LARGEST_NORM = 1e18


def check_vector(vector: Sequence[float], dimension: int, what: str = "The query vector") -> tuple[float, ...]:
    """Check a vector before it reaches an engine; engines store and search invalid ones without an error.

    Args:
        vector: The numbers.
        dimension: The required length.
        what: What to call it in the error.

    Returns:
        The vector as a tuple of floats.

    Raises:
        InvalidVectorError: if the length differs, a value is not a finite number, all are zero, or the norm cannot be
            computed in 32 bits, as engines do.
    """
    try:
        values = tuple(map(float, vector))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidVectorError(f"{what} is not a sequence of numbers: {error}.") from error
    if len(values) != dimension:
        raise InvalidVectorError(
            f"{what} has {len(values)} dimensions, but this vector store has {dimension}: use the model that the graph"
            " was built with."
        )
    if not all(map(math.isfinite, values)):
        raise InvalidVectorError(f"{what} holds values that are not finite (NaN or infinity).")
    if not any(values):
        raise InvalidVectorError(f"{what} is all zeros, which has no direction to compare.")
    if not _SMALLEST_NORM <= math.hypot(*values) <= _LARGEST_NORM:
        raise InvalidVectorError(
            f"{what} is {math.hypot(*values):.3g} long, which engines cannot compare in 32 bits: scale it, best to 1."
        )
    return values


def check_embedding(place: str, value: tuple[Any, ...]) -> None:
    """Check an embedding that is a parameter.

    Raises:
        InvalidVectorError: if it is empty, not finite, all zeros, or has items that are not floats.
    """
    if not value or not all(issubclass(kind, float) for kind in set(map(type, value))):
        raise InvalidVectorError(f"{place} is a tuple, so an embedding, but not one of floats: send lists as lists.")
    # The sum of finite numbers is finite, unless they are huge: only then is each one checked.
    if not math.isfinite(sum(value)) and not all(map(math.isfinite, value)):
        raise InvalidVectorError(f"The embedding at {place} holds values that are not finite (NaN or infinity).")
    if not any(value):
        raise InvalidVectorError(f"The embedding at {place} is all zeros, which has no direction to compare.")


def check_floats(place: str, value: memoryview) -> None:
    """Check an embedding that is a parameter, in the form that needs no conversion; errors as of a tuple."""
    import numpy as np

    if value.format != "f" or value.ndim != 1 or not len(value):
        raise InvalidVectorError(f"{place} is a memoryview, so an embedding, but not one of 32-bit floats.")
    floats = np.asarray(value)
    if not np.isfinite(floats).all() or not floats.any():
        check_embedding(place, tuple(value.tolist()))  # raises the detailed error
