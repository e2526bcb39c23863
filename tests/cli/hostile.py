"""Texts that do harm where they are not expected, and how a command refuses them."""

from __future__ import annotations

from tests.cli.command import Done

INJECTION = "x' }) DETACH DELETE n //"
SURROGATE = "caf\udce9"
ESCAPE = "\x1b]0;owned\x07\x1b[2J"


def told(done: Done, *codes: int) -> None:
    """The command failed as it should: one clear line, an exit code, and nothing else."""
    assert done.code in codes, (done.code, done.out, done.err)
    assert done.out == ""
    assert "Traceback" not in done.err
    message = done.err.strip().splitlines()
    assert 1 <= len(message) <= 4, done.err  # Typer's own are preceded by the usage
    assert message[-1].startswith(("mgrag: ", "Error: ")), done.err
    assert len(message[-1]) <= 2100
    assert "\x1b" not in done.err
