"""Where a graph is, which is not for all who use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_place(status: Mapping[str, Any]) -> dict[str, Any]:
    """What a namespace contains, without where the graph is, and how large with all others in it."""
    return {**status, "location": None, "bytes": None, "engine": {**status["engine"], "location": None}}
