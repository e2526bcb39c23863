"""Errors as others handle them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest

import core.rag
from core.rag import errors
from libs.dataloader import errors as load_errors
from libs.dataloader.errors import LoadError

#: What those take that take more than a message.
ARGUMENTS = {errors.MissingDependencyError: ("openai", "openai", "An embedding model"), errors.EmptyGraphError: ("ns",)}


def every_error() -> Iterator[Exception]:
    for module in (errors, load_errors):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Exception):
                given = ("docs/", "it is not there") if issubclass(kind, LoadError) else ("it failed",)
                yield kind(*ARGUMENTS.get(kind, given))


def test_the_base_of_all_errors_is_at_hand() -> None:
    assert "MGRagError" in core.rag.__all__
    assert core.rag.MGRagError is errors.MGRagError


@pytest.mark.parametrize("error", [*every_error()], ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_it_was_sent_to_another_process(error: Exception) -> None:
    error.add_note("on the way")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))
