"""Addresses that services add to what they export, for programs to go on from: of GitHub's issues three quarters."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Final

from libs.regexes import regex

_ADDRESS: Final = regex(r"https?://(?P<host>[^\s/?#]+)[^\s]*", re.IGNORECASE)
#: A record of something else than of a service has a few on one host: its page, its picture, its source.
_MOST: Final = 4


def superfluous[Name: Hashable](fields: Sequence[tuple[Name, str]]) -> frozenset[int]:
    """Return what the text of a record leaves out: of many fields with addresses on one host, all but the first field.

    Args:
        fields: The name and the value of each; the items of a list have one name.

    Returns:
        The places of those fields.
    """
    if sum("://" in value for _, value in fields) <= _MOST:
        return frozenset()
    hosts: dict[str, dict[Name, list[int]]] = {}
    for place, (name, value) in enumerate(fields):
        if found := _ADDRESS.fullmatch(value):
            hosts.setdefault(found["host"], {}).setdefault(name, []).append(place)
    return frozenset(
        place
        for of_host in hosts.values()
        if len(of_host) > _MOST
        for places in list(of_host.values())[1:]
        for place in places
    )
