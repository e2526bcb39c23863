"""Predict when the mill can grind, from the times of high water.

The rule is the one in operations.md: grinding begins about two and a half hours after high water, when the wheel race
has fallen dry, and ends when the pond is down to 1.6 metres.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

DELAY_AFTER_HIGH_WATER = timedelta(hours=2, minutes=30)
LOWEST_USEFUL_POND = 1.6  # metres


@dataclass(frozen=True)
class MillingWindow:
    """A time in which the wheel can turn."""

    begins: datetime
    ends: datetime


def pond_level(range_of_tide: float, hours_of_milling: float) -> float:
    """Height of the pond in metres after so many hours with the sluice a hand's width open."""
    return max(0.0, 0.62 * range_of_tide - 0.28 * hours_of_milling)


def milling_window(high_water: datetime, range_of_tide: float) -> MillingWindow | None:
    """The window after one high water, or None when a neap tide leaves too little water in the pond."""
    hours = 0.0
    while pond_level(range_of_tide, hours) > LOWEST_USEFUL_POND and hours < 5.0:
        hours += 0.25
    if hours < 1.0:
        return None
    begins = high_water + DELAY_AFTER_HIGH_WATER
    return MillingWindow(begins, begins + timedelta(hours=hours))
