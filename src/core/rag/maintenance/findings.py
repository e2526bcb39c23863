"""The results of checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.rag.keyed import Plain

#: ``ok``; ``note`` (worth knowing, nothing to do); ``problem``; ``mended`` (was a problem until now).
Level = Literal["ok", "note", "problem", "mended"]


@dataclass(frozen=True, slots=True)
class Check(Plain):
    """One check.

    Attributes:
        area: ``environment`` or ``graph``.
        name: What was checked.
        level: The result.
        message: What was found.
        advice: What to do; empty if there is nothing to do.
    """

    area: Literal["environment", "graph"]
    name: str
    level: Level
    message: str
    advice: str = ""


@dataclass(slots=True)
class DoctorReport:
    """The results of all checks.

    Attributes:
        checks: The checks, in the order in which they were made.
    """

    checks: list[Check] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        """Whether no problem is left."""
        return not any(check.level == "problem" for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {"healthy": self.healthy, "checks": [check.to_dict() for check in self.checks]}
