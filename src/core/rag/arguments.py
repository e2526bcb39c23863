"""Checks what callers pass: a wrong argument is named by the first method that it reaches."""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError

#: More rows than any graph has; engines refuse numbers that are not much larger.
MAX_LIMIT = 2**53

_TEXT = frozenset({str})


def check_number(name: str, value: int, least: int, most: int | None = None) -> int:
    """Refuse anything that is not a whole number in a range.

    Returns:
        The number as an ``int``, also if it is of another library, such as NumPy.

    Raises:
        InvalidInputError: naming the argument.
    """
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        rest = "up" if most is None else f"to {most}"
        raise InvalidInputError(f"{name} is {repr(value)[:100]}, but has to be a whole number from {least} {rest}.")
    return number


def as_float(value: object) -> float:
    """Return a number, of any library, as a float; NaN, which is in no range, for anything else or if too large."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def check_text(name: str, value: str) -> str:
    """Refuse anything that is not text.

    Raises:
        InvalidInputError: naming the argument.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be text, not {type(value).__name__}.")
    return value


def check_optional(**texts: str | None) -> None:
    """Refuse arguments that are neither text nor ``None``.

    Raises:
        InvalidInputError: naming the first.
    """
    for name, value in texts.items():
        if value is not None:
            check_text(name, value)


def check_flags(**flags: bool) -> None:
    """Refuse what is neither ``True`` nor ``False``: the text "false" would count as true.

    Raises:
        InvalidInputError: naming the first.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInputError(f"{name} is {value!r:.100}, but has to be True or False.")


def check_texts(name: str, values: Iterable[str]) -> list[str]:
    """Refuse a single string where several are expected (it would be split into letters), and items that are not text.

    Returns:
        The texts.

    Raises:
        InvalidInputError: naming the argument.
    """
    if isinstance(values, str):
        raise InvalidInputError(f"{name} must be a sequence of texts, not one text: use [{values[:50]!r}].")
    if not isinstance(values, Iterable):
        raise InvalidInputError(f"{name} must be a sequence of texts, not {type(values).__name__}.")
    texts = list(values)
    if not _TEXT.issuperset(map(type, texts)):  # fast for the usual case, as there may be very many
        for text in texts:
            check_text(f"Each of {name}", text)
    return texts


def check_items[T](name: str, values: Iterable[T], kind: type[T], origin: str) -> list[T]:
    """Refuse anything but items of one type.

    Args:
        name: The argument.
        values: The items.
        kind: Their type.
        origin: Where callers get them from, for the error.

    Raises:
        InvalidInputError: naming the argument.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"{name} must be a sequence of {kind.__name__} ({origin}), not {type(values).__name__}."
        )
    items = list(values)
    for item in items:
        if not isinstance(item, kind):
            raise InvalidInputError(
                f"{name} must be a sequence of {kind.__name__} ({origin}), but one of them is {type(item).__name__}."
            )
    return items


def check_function[F: Callable[..., Any] | None](name: str, function: F, takes: str) -> F:
    """Refuse what cannot be called, and asynchronous functions, for whose result nobody would wait.

    Args:
        name: The argument.
        function: The function, or ``None``.
        takes: What it is called with, for the error.

    Raises:
        InvalidInputError: naming the argument.
    """
    if function is None:
        return function
    if not callable(function):
        raise InvalidInputError(f"{name} must be a function that takes {takes}, not {type(function).__name__}.")
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise InvalidInputError(
            f"{name} must be a plain function that takes {takes}, not an asynchronous one (async def)."
        )
    return function


def check_file(file: str | os.PathLike[str]) -> Path:
    """Refuse anything that is not the path of a file.

    Returns:
        The path, as it was given.

    Raises:
        InvalidInputError: saying what was given.
    """
    if not isinstance(file, str | os.PathLike):
        raise InvalidInputError(f"The name of a file must be text or a Path, not {type(file).__name__}.")
    return Path(file)


def check_mapping[M: Mapping[Any, Any]](name: str, value: M) -> M:
    """Refuse anything that is not a mapping.

    Raises:
        InvalidInputError: naming the argument.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be a mapping, not {type(value).__name__}.")
    return value


def check_limit(limit: int, least: int = 0) -> int:
    """Refuse an invalid number of rows.

    Returns:
        The number, or one that a statement can have where it is larger: there are never so many rows.

    Raises:
        InvalidInputError: unless it is a whole number of at least ``least``.
    """
    return min(check_number("limit", limit, least), MAX_LIMIT)


def check_kind[T](name: str, value: T, kind: type[T]) -> T:
    """Refuse anything that is not of a type.

    Raises:
        InvalidInputError: naming the argument.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(f"{name} must be a {kind.__name__}, not {type(value).__name__}.")
    return value


def one_line(text: Any, what: str, longest: int, *, least: int = 1) -> str:
    """Return a name or a sentence as one line, without NUL; lone surrogates become U+FFFD.

    Args:
        text: The text.
        what: What to call it in the error.
        longest: Maximum number of characters.
        least: Minimum number of characters.

    Returns:
        The text.

    Raises:
        InvalidInputError: on anything that is not text, too long, or too short.
    """
    flat = " ".join(encodable(check_text(what, text)).replace("\0", "").split())
    if not least <= len(flat) <= longest:
        raise InvalidInputError(f"{what} must have {least} to {longest} characters, not {len(flat)}.")
    return flat
