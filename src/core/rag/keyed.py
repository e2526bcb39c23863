"""Results whose fields can be read like the items of a dict."""

from __future__ import annotations

from dataclasses import Field, asdict
from typing import Any, ClassVar


class Keyed:
    """A dataclass for code that treats results as dicts."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, ready for JSON."""
        return asdict(self)

    def __getitem__(self, key: str) -> Any:
        """A field by its name.

        Raises:
            KeyError: when there is no such field; methods and properties are none.
        """
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)
