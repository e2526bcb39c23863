"""Arguments that models send in another form than a tool declares, where what they mean is certain."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from pydantic import BeforeValidator


def without_nulls(arguments: Mapping[str, Any], known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The arguments, without those that are null and may be left out.

    Clients that have a model name every argument send null for each that it does not need.
    """
    return {
        name: value for name, value in arguments.items() if value is not None or known[name].default is Parameter.empty
    }


def with_known_names(arguments: dict[str, Any], known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The arguments, with ``limit`` as ``k`` where a tool has that, and the other way round.

    How many are wanted is ``k`` of a search and ``limit`` of a list, and models take one for the other.
    """
    for given, meant in (("limit", "k"), ("k", "limit")):
        if given in arguments and given not in known and meant in known and meant not in arguments:
            return {meant if name == given else name: value for name, value in arguments.items()}
    return arguments


def _several(given: Any) -> Any:
    return given if given is None or isinstance(given, list) else [given]


#: For an argument that is a list: a single value counts as a list of one.
ONE_OR_SEVERAL = BeforeValidator(_several)
