"""What source code defines, calls and imports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

#: The kind of a function of C or C++ that is only declared, as in headers: what defines it is in another file.
PROTOTYPE: Final = "prototype"


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """A definition in source code.

    Attributes:
        name: Qualified name: ``Mill.grind``.
        kind: ``function``, ``class``, ``method``, ``prototype`` …
        signature: Its first line.
        line: Line of the definition, from 1.
        calls: Indexes, in the list of all symbols of its file, of those that it calls.
    """

    name: str
    kind: str
    signature: str
    line: int
    calls: tuple[int, ...] = ()


@dataclass(slots=True)
class CodeFacts:
    """The contents of a source file.

    Attributes:
        symbols: Its definitions, in order.
        imports: Names of the modules that it imports, as written.
    """

    symbols: list[CodeSymbol] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
