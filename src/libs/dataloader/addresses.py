"""Names and addresses in e-mails."""

from __future__ import annotations

from email import utils
from typing import Any

# Python 3.12.5 and later would find nobody where there are several, or where a comma is not in quotation marks.
_ANY: dict[str, Any] = {"strict": False} if getattr(utils, "supports_strict_parsing", False) else {}


def first_address(header: str) -> tuple[str, str]:
    """Return the name and the address of the first of the people in a header; empty texts for what it lacks."""
    return utils.parseaddr(header, **_ANY)
