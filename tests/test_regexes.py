"""Regular expressions that are compiled when they are first used do what compiled ones do."""

from __future__ import annotations

import copy
import importlib
import pickle
import re

import pytest

from libs.regexes import regex
from tests.test_floors import MODULES


def test_it_does_what_a_compiled_one_does() -> None:
    lazy, compiled = regex(r"(?P<year>\d{4})|ebb", re.IGNORECASE), re.compile(r"(?P<year>\d{4})|ebb", re.IGNORECASE)
    text = "The Ebb of 1871, the ebb of 1902"
    assert lazy.sub("-", text) == compiled.sub("-", text)
    assert lazy.findall(text) == compiled.findall(text)
    assert [match.span() for match in lazy.finditer(text, 5)] == [match.span() for match in compiled.finditer(text, 5)]
    found = lazy.search(text)
    assert found is not None
    assert found.re == compiled
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)


def test_it_may_be_copied_and_sent_to_another_process() -> None:
    lazy = regex("ebb", re.IGNORECASE)
    for copied in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        assert copied.findall("The Ebb, the ebb") == ["Ebb", "ebb"]


def test_it_may_be_of_bytes() -> None:
    match = regex(rb"\xef\xbb\xbf").match(b"\xef\xbb\xbfa")
    assert match is not None
    assert match.end() == 3


def test_what_is_no_expression_is_told_when_it_is_used() -> None:
    broken = regex("(ebb")
    with pytest.raises(re.error, match="unterminated subpattern"):
        broken.match("ebb")
    assert repr(broken) == "regex('(ebb', 0)"


def test_all_of_the_house_are_expressions() -> None:
    """Nobody finds out by a question that there is a slip in one."""
    modules = [importlib.import_module(name) for name in sorted(MODULES) if not name.endswith("__main__")]
    written = {
        (module.__name__, name): value
        for module in modules
        for name, value in vars(module).items()
        if type(value) is type(regex(""))
    }
    assert len(written) > 500
    for (module_name, name), value in written.items():
        assert re.compile(value.pattern, value.flags), f"{name} of {module_name}"
