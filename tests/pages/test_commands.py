"""The commands that pages show exist, and have the options that they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.pages.blocks import ROOT

PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md"))]


def commands_of(page: str) -> set[str]:
    """The commands in blocks and in lines of a page, without what a shell makes of them: pipes and comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [
        *re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE),
        *re.findall(r"^    .*$", text, re.MULTILINE),
    ]
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [re.sub(r"\s+", " ", words) for words in re.findall(r"`((?:\.venv/bin/)?mgrag [^`]+)`", text)]
    found = {match[1] for line in lines if (match := re.search(r"(?:^|[ /])mgrag (\S.*)", line))}
    return {
        re.split(r" [<>|#] ", command)[0] for command in found if not re.search(r"\bCOMMAND\b|-completion", command)
    }


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_are_there(page: str, tmp_path: Path) -> None:
    mgrag = Command(tmp_path)
    for command in commands_of(page):
        done = mgrag(*shlex.split(command), "--help")  # all words are read before the help is given
        assert done.code == 0, f"mgrag {command}: {done.err}"


def test_commands_are_found_in_pages() -> None:
    found = [commands_of(page) for page in PAGES]
    assert len({command for commands in found for command in commands}) > 100
