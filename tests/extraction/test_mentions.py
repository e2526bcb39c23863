"""What a chunk mentions: names by rule beside the titles of documents."""

from __future__ import annotations

import pytest

from core.rag.extraction.matching import mentions
from core.rag.extraction.mentions import mentions_of, sought, titles_of

TITLES = sought(["whitby lifeboats", "whitby abbey", "abbey"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Whitby lifeboats are fine.", {"whitby lifeboats": 1}),
        ("Whitby lifeboats have a house in Whitby.", {"whitby lifeboats": 1, "whitby": 1}),
        ("They like Whitby Abbey. There is Whitby Abbey.", {"whitby abbey": 2}),
        ("They like Whitby Abbey. To Whitby they go, and to Whitby.", {"whitby abbey": 1, "whitby": 2}),
        ("Near whitby abbey and Whitby lifeboats is nothing.", {"whitby abbey": 1, "whitby lifeboats": 1}),
    ],
)
def test_a_name_inside_a_title_counts_where_it_stands_alone(text: str, expected: dict[str, int]) -> None:
    assert {name: count for name, _, count in mentions_of(text, "", TITLES)} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("コンテストに参加した。", []),
        ("テストは簡単。", ["テスト"]),
        ("京都のテスト・センター", ["京都", "テスト"]),
        ("テスターとTestテスト", ["テスト"]),
    ],
)
def test_a_title_in_katakana_is_not_found_inside_a_longer_word(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in mentions(text, ["テスト", "京都"])] == expected


@pytest.mark.parametrize("title", ["Procter & Gamble", "Procter and Gamble"])
@pytest.mark.parametrize("text", ["Soap of Procter & Gamble, here.", "soap of procter and gamble, here"])
def test_an_ampersand_by_itself_is_read_as_the_word(title: str, text: str) -> None:
    [(start, end, _)] = mentions(text, [title])
    assert text[start:end].casefold() in {"procter & gamble", "procter and gamble"}
    assert mentions("The R&D of a &b", ["R&D", "R & D"]) == [(4, 7, "r d")]


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("PEP 8 – Style Guide", ["pep 8 style guide", "pep 8"]),
        ("RFC 2119: Key words (1997)", ["rfc 2119 key words", "rfc 2119 key words 1997", "rfc 2119"]),
        ("MILL-42 - The wheel stands still", ["mill 42 the wheel stands still", "mill 42"]),
        ("CVE-2021-44228 | Log4Shell", ["cve 2021 44228 log4shell", "cve 2021 44228"]),
        ("Ebb (1931 film)", ["ebb", "ebb 1931 film"]),
        ("PEP 8", ["pep 8"]),
        ("Chapter 3: The mill", ["chapter 3 the mill"]),
        ("A4-sized paper", ["a4 sized paper"]),
    ],
)
def test_the_names_of_a_document(title: str, names: list[str]) -> None:
    assert [name for name, _ in titles_of(title, "a.md")] == names


@pytest.mark.parametrize(
    ("path", "content", "fields", "number"),
    [
        ("eips/eip-1559.md", "The fee market.", {"eip": 1559}, ["eip 1559"]),
        ("peps/pep-0008.rst", "The style.", {"PEP": "8"}, ["pep 8"]),
        ("rfc9110.txt", "RFC 9110   HTTP Semantics   June 2022", {}, ["rfc 9110"]),
        ("CVE-2021-44228.md", "CVE-2021-44228 is a flaw of Log4j.", {}, ["cve 2021 44228"]),
        ("page-12.md", "On page 12.", {"page": "13"}, []),  # it says otherwise, or nothing
        ("chapter-3.md", "The mill.", {}, []),
        ("eip-1559.md", "EIP-15590 and XEIP-1559", {}, []),
        ("1559.md", "EIP-1559", {"eip": 1559}, []),
    ],
)
def test_a_document_is_called_by_its_number_if_it_says_so(
    path: str, content: str, fields: dict[str, object], number: list[str]
) -> None:
    assert [name for name, _ in titles_of("A title", path, content, fields)] == ["a title", *number]


def test_the_title_of_a_command_is_found_where_it_is_marked_as_code() -> None:
    titles = sought(["add", "yesterday", "tide mill"])
    found = {
        name: count
        for name, _, count in mentions_of(
            "Yesterday we had to add a lock. Run `add` at the tide mill, which sang Yesterday.", "", titles
        )
    }
    assert found == {"add": 1, "tide mill": 1, "yesterday": 2}
    assert not mentions_of("We had to add a lock yesterday.", "", titles)


def test_a_title_that_is_a_usual_heading_is_not_looked_for() -> None:
    titles = sought(["introduction", "index", "quiet hours"])
    text = "The introduction of quiet hours is in the index."
    assert [name for name, _, _ in mentions_of(text, "", titles)] == ["quiet hours"]
