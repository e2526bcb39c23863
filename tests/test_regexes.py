"""Regular expressions that are compiled when they are first used do what compiled ones do."""

from __future__ import annotations

import copy
import importlib
import pickle
import re

import pytest

from core.rag.analysis.dates import dates_in
from core.rag.analysis.months import ANY_MONTH, NUMBERS
from core.rag.answering.understanding.asked_times import times_asked
from core.rag.retrieval.tables.dates import Dates
from libs.regexes import matched_as, regex
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


@pytest.mark.parametrize("instead", [("s", "\u017f"), ("i", "\u0131"), ("i", "\u0130"), ("k", "\u212a")])
def test_what_a_pattern_finds_in_other_letters_has_its_place_in_a_table(instead: tuple[str, str]) -> None:
    """A title "Auguſt 1903" of an old print ended an ingest, before."""
    months = re.compile(ANY_MONTH, re.IGNORECASE)
    for name, number in NUMBERS.items():
        written = name.replace(*instead)
        if months.fullmatch(written):
            assert NUMBERS[matched_as(written)] == number
        text = f"{written} 1903"
        assert [*dates_in(text)] in ([(1903, number, None)], [])
        assert len(times_asked(f"in {text}, in {written}, since {written}")) >= 1
        assert Dates().iso(text) == f"1903-{number:02}"
    for phrase in ("yesterday", "six days ago", "vor drei Monaten", "hier", "in the last six months"):
        assert times_asked(phrase.replace(*instead)) is not None
