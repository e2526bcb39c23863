"""The pages of the documentation lead somewhere: links, files of the code, and the list of decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
DECISIONS = sorted(ROOT.glob("docs/adr/0*.md"))


def anchors(page: Path) -> set[str]:
    """Return what GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"`+[^`]*`+", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_list_of_decisions_is_whole() -> None:
    listed = re.findall(r"\]\((0[^)]+)\) \|", (ROOT / "docs/adr/README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [page.name for page in DECISIONS]


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_files_that_decisions_name_are_there(page: Path) -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8")))
    files = [
        str(file.relative_to(ROOT)) for part in ("src", "tests", "benchmarks") for file in ROOT.glob(f"{part}/**/*.py")
    ]
    assert not [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]
