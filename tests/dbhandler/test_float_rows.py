"""Vectors of an engine as a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from core.rag.dbhandler.float_rows import float_rows


def test_rows_are_what_numpy_makes_of_them() -> None:
    vectors = np.random.default_rng(1).normal(size=(30, 7)).tolist()
    vectors += [[0.1, -0.0, 1e-40, 3e38, 1, 0, -7], [1e300, float("inf"), 0.0, 0.0, 0.0, 0.0, 1e-300]]
    with np.errstate(over="ignore"):
        assert np.array_equal(float_rows(vectors), np.array(vectors, np.float32))
        assert np.array_equal(float_rows(vectors[:-1]), np.array(vectors[:-1], np.float32))


def test_rows_can_be_changed_and_may_be_none() -> None:
    rows = float_rows([[1.0, 2.0]])
    rows *= 2
    assert rows.dtype == np.float32
    assert rows.tolist() == [[2.0, 4.0]]
    assert not len(float_rows([]))
    with pytest.raises(Exception, match=r"expected|inhomogeneous"):
        float_rows([[1.0, 2.0], [1.0]])
