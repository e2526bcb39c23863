from __future__ import annotations

import pytest

from tests.dataloader.filetools import convert

BIBTEX = r"""% A comment
@string{jfm = "Journal of " # {Fluid Mechanics}}
@comment{jabref-meta: x}
@Article{lovelace1843,
  author = {Lovelace, Ada and {Mills and Sons} and M{\"u}ller, Jr., Hans and others},
  title = {{On} the \emph{Engine} --- 100\% of it},
  journal = jfm, year = 1843, month = mar,
  url = {https://example.org/a_b%20c~d},
  pages = "12--19",
  timestamp = {2016-01-01},
  abstract = {It {\ss}ays
    what $x^2$ is.}
}
@book{broken, title = {No end, author = {Nobody},
@INPROCEEDINGS{turing36, title="On computable numbers", author="Alan {"}T{"} Turing", year=1936}
"""
RIS = """TY  - JOUR
AU  - Shannon, Claude E.
A1  - Weaver, Warren
PY  - 1948/07//
TI  - A Mathematical Theory of Communication
T2  - Bell System Technical Journal
KW  - entropy
KW  - noise
AB  - First line
goes on.
ER  -\x20

TY  - BOOK
TI  - Mills
XX  - other
"""


def test_entries_of_bibtex_are_records() -> None:
    read = convert("refs.bib", BIBTEX)
    assert (read.format, read.mime_type) == ("records", "application/x-bibtex")
    first, *_, last = read.content.split("\n\n")
    assert first == (
        "title: On the Engine — 100% of it\nauthor: Ada Lovelace, Mills and Sons, Hans Müller, Jr.\nyear: 1843\n"
        "journal: Journal of Fluid Mechanics\nmonth: mar\nurl: https://example.org/a_b%20c~d\npages: 12–19\n"
        "abstract: It ßays what $x^2$ is.\ntype: article\nkey: lovelace1843"
    )
    assert last == (
        'title: On computable numbers\nauthor: Alan "T" Turing\nyear: 1936\ntype: inproceedings\nkey: turing36'
    )
    assert read.records[0][1]["author"] == ["Ada Lovelace", "Mills and Sons", "Hans Müller, Jr."]


def test_entries_of_ris_are_records() -> None:
    assert convert("refs.ris", RIS).content == (
        "title: A Mathematical Theory of Communication\nauthor: Claude E. Shannon, Warren Weaver\nyear: 1948\n"
        "journal: Bell System Technical Journal\nkeywords: entropy, noise\n"
        "abstract: First line\ngoes on.\ntype: JOUR\ndate: 1948-07\n\n"
        "title: Mills\ntype: BOOK\nXX: other"
    )


@pytest.mark.parametrize("name", ["a.bib", "a.ris"])
@pytest.mark.parametrize("text", ["Nothing to cite.", "@string{a = {b}}", "@comment{x}"])
def test_what_has_no_entries_stays_as_it_is(name: str, text: str) -> None:
    assert convert(name, text).content == text
