"""Arguments that models send in another form than a tool declares, where what they mean is certain."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from typing import Any, Final

from pydantic import BeforeValidator

#: Whose memories are meant. An empty one may be a fault of the program around a model, and without it all are.
_WHOSE = frozenset({"memory_id", "session_id", "user_id"})


def without_empty(arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, without those that may be left out and say nothing: null, or no text where null is the default.

    An empty id that says whose memories are meant stays, and is an error.

    Clients that have a model name every argument, and many models by themselves, send one of the two for each argument
    that they do not need.

    Args:
        arguments: As they were sent.
        defaults: What counts instead of each that may be left out.
    """
    return {
        name: value
        for name, value in arguments.items()
        if name not in defaults
        or not (value is None or (value == "" and defaults[name] is None and name not in _WHOSE))
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


#: The default of a text that may be left out. The SDK reads JSON that it finds in a text (as models send lists), unless
#: the argument is declared as nothing but a text: a memory that is JSON could not be revised.
LEFT_OUT: Final[Any] = None

#: For an argument that is a list: a single value counts as a list of one.
ONE_OR_SEVERAL = BeforeValidator(_several)
