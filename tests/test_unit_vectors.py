"""Vectors of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.rag.unit_vectors import unit_vectors


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_directions_stay_and_lengths_become_one(kind: Any, size: float) -> None:
    vectors = (np.array([[3, 4, 0], [0, 0, 0], [-1, 0, 0]], np.float64) * size).astype(kind)
    before = vectors.copy()
    units = unit_vectors(vectors)
    assert (units.dtype, vectors.tolist()) == (kind, before.tolist())
    assert units == pytest.approx(np.array([[0.6, 0.8, 0], [0, 0, 0], [-1, 0, 0]]), abs=1e-7)
    assert unit_vectors(vectors[0]).tolist() == units[0].tolist()
    assert unit_vectors(vectors[:0]).shape == (0, 3)
