"""Numbers of bytes as text."""

from __future__ import annotations


def size(count: int) -> str:
    """Return a number of bytes as text for people."""
    value, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{count} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
