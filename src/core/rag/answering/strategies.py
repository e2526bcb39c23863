"""Which way of answering a question gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.answering.basic import basic_events
from core.rag.answering.drift.events import drift_events
from core.rag.answering.flow import flow_events
from core.rag.answering.types import STRATEGIES
from core.rag.errors import InvalidInputError

if TYPE_CHECKING:
    from core.rag.answering.recording import Strategy


async def chosen_strategy(name: str) -> Strategy:
    """The strategy of this name.

    Args:
        name: ``auto``, ``flow``, ``basic`` or ``drift``.

    Raises:
        InvalidInputError: There is no such strategy.
    """
    if name not in STRATEGIES:
        raise InvalidInputError(f"There is no strategy {name!r}; there are {', '.join(STRATEGIES)}.")
    return {"basic": basic_events, "drift": drift_events}.get(name, flow_events)
