"""YAML as plain values, with scalars as they are written."""

from __future__ import annotations

from typing import Any, Final

import yaml

#: The fast parser, where PyYAML was built with it.
_Loader: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def parse_yaml(text: str, *, deepest: int, most: int = 0) -> Any:
    """Return the value that a text is; ``None`` if it is no YAML, or has several documents, or no plain keys.

    Events are used instead of PyYAML's constructors, which have scalars as YAML 1.1 understands them (1.10 is 1.1, and
    Norway, no, is false), and, in their fast form, crash where values are nested very deeply.

    Args:
        text: The text.
        deepest: How deep values may be nested.
        most: How many values may stand for what references repeat, of which a few lines can stand for gigabytes; 0:
            there may be no references.

    Returns:
        Maps, lists, texts (as they are written), ``True`` and ``False``, with what is referred to in each place.
    """
    top: list[Any] = []
    inside: list[Any] = [top]  # the lists and maps around the next value
    keys: list[Any] = [None]
    begun: list[tuple[str | None, int]] = [(None, 0)]  # the anchor of each, and how many values were before it
    anchors: dict[str, tuple[Any, int]] = {}
    count = repeated = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.CollectionEndEvent):
                value, (anchor, before) = inside.pop(), begun.pop()
                keys.pop()
                if anchor is not None:
                    anchors[anchor] = value, count + repeated - before
                continue
            if len(inside) > deepest:
                return None
            count += 1
            if isinstance(event, yaml.ScalarEvent):
                value = scalar_of(event)
                if event.anchor is not None:
                    anchors[event.anchor] = value, 1
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:  # or within itself
                    return None
                value, size = anchors[event.anchor]
                repeated += size
                if repeated > most:
                    return None
            elif isinstance(event, yaml.CollectionStartEvent):
                value = {} if isinstance(event, yaml.MappingStartEvent) else []
            else:
                continue
            around = inside[-1]
            if isinstance(around, list):
                around.append(value)
            elif keys[-1] is None:
                if not isinstance(value, str | bool):
                    return None
                keys[-1] = value if isinstance(value, str) else str(value).lower()
            elif keys[-1] == "<<" and isinstance(value, dict) and isinstance(event, yaml.AliasEvent):
                around.update({key: inner for key, inner in value.items() if key not in around})
                keys[-1] = None
            else:
                around[keys[-1]], keys[-1] = value, None
            if isinstance(event, yaml.CollectionStartEvent):
                inside.append(value)
                keys.append(None)
                begun.append((event.anchor, count + repeated - 1))
    except yaml.YAMLError:
        return None
    return top[0] if len(top) == 1 else None


def scalar_of(event: yaml.ScalarEvent) -> str | bool:
    """Return a scalar as it is written, but ``true``, ``false``, and an empty text for ``null``."""
    plain = not event.style
    if plain and event.value.lower() in ("true", "false"):
        return event.value.lower() == "true"
    return "" if plain and event.value.lower() in ("~", "null") else event.value
