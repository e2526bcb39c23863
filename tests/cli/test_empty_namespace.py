"""Where nothing is found because another namespace has it all, that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command

ASKING = [("search", "the mill"), ("list",), ("ask", "Who owns the mill?"), ("records",), ("memory", "recall", "mill")]


@pytest.mark.parametrize("asking", ASKING, ids=lambda asking: asking[0])
def test_a_namespace_in_which_nothing_is_stored_is_told(unchanged: Path, asking: tuple[str, ...]) -> None:
    mgrag = Command(unchanged.parent.parent)
    done = mgrag(*asking, "--namespace", "nix")
    assert done.code == 0
    assert "Nothing is stored in the namespace 'nix' (there: 'default')" in done.err
    assert "--namespace" in done.err
    for found in (mgrag(*asking), mgrag("list", "--prefix", "nix")):
        assert (found.code, found.err) == (0, "")


def test_json_stays_as_it_is(unchanged: Path) -> None:
    assert Command(unchanged.parent.parent)("search", "the mill", "--namespace", "nix", "--json").json == []
