"""What source code defines, calls and imports."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """A definition in source code.

    Attributes:
        name: Qualified name: ``Mill.grind``.
        kind: ``function``, ``class``, ``method`` …
        signature: Its first line.
        line: Line of the definition, from 1.
        calls: The symbols of its file that it calls: their places in the list of all.
    """

    name: str
    kind: str
    signature: str
    line: int
    calls: tuple[int, ...] = ()


@dataclass(slots=True)
class CodeFacts:
    """What a source file says.

    Attributes:
        symbols: What it defines, in order.
        imports: Names of the modules that it imports, as written.
    """

    symbols: list[CodeSymbol] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
