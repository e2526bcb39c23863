"""Results that convert to dicts, and results whose fields can be read like the items of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import Field, asdict
from typing import Any, ClassVar


class Plain:
    """A dataclass whose fields are plain values, or hold them."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


class Keyed(Plain):
    """A dataclass for code that treats results as dicts."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        """Return a field by its name.

        Raises:
            KeyError: if there is no such field; methods and properties are none.
        """
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the fields. Without it, ``in`` and loops would ask for item 0."""
        return iter(self.__dataclass_fields__)

    def keys(self) -> Collection[str]:
        """Return the names of the fields; ``dict(result)`` and ``{**result}`` go by them."""
        return self.__dataclass_fields__.keys()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field by its name, or ``default`` if there is no such field."""
        return self[key] if key in self.__dataclass_fields__ else default
