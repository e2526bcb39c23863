"""RFCs and Internet-Drafts as plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from tests.dataloader.filetools import convert

_RFC = """
Network Working Group                                    J. Mill, Ed.
Request for Comments: 9990                              Dutch Windmills
Obsoletes: 9980, 9981                                    S. De Cnodder
Updates: 9000                                              Merit
Category: Standards Track                             February 2026


                  The Wind Transfer Protocol (WTP)
                        with Brakes

Abstract

   This document describes how wind is sent to mills.
   It has brakes.

1.  Attributes

1.1.  Gust-Limit

   Description

      This attribute sets the greatest force that is passed on to the
      sails before the brake closes.

   A summary of the Gust-Limit attribute format is shown below.

   Type

      29 for Gust-Limit.

   Length

      The length of the Gust-Limit field is four octets.

1.2.  Brake-Timeout

   Description

      This attribute holds the number of seconds until the brake opens
      after a gust. It is used with Gust-Limit. A long gust counts once.
"""
_METADATA = {
    "rfc": "9990",
    "author": ["J. Mill", "S. De Cnodder"],
    "created": "2026-02",
    "obsoletes": ["RFC 9980", "RFC 9981"],
    "updates": ["RFC 9000"],
    "category": "Standards Track",
}


@pytest.mark.parametrize("between", ["", "\f"])
def test_what_the_first_page_says(between: str) -> None:
    document = convert("rfc9990.txt", _RFC.replace("1.2.  Brake", f"{between}1.2.  Brake"))
    assert document.title == "The Wind Transfer Protocol (WTP) with Brakes"
    assert document.metadata == _METADATA
    assert "1.2.  Brake-Timeout" in document.content


def test_feet_of_pages_without_form_feeds() -> None:
    foot, head = "Mill, et al.        Standards Track       [Page {}]", "RFC 9990        WTP         February 2026"
    page = f"\n\n{foot}\n\n{head}\n\n"
    text = _RFC
    for number, heading in enumerate(("1.  Attributes", "1.1.  Gust-Limit", "Length", "1.2.  Brake"), start=1):
        text = text.replace(heading, page.format(number) + heading, 1)
    document = convert("rfc9990.txt", text)
    assert (document.title, document.metadata) == ("The Wind Transfer Protocol (WTP) with Brakes", _METADATA)
    assert "[Page" not in document.content
    assert "RFC 9990" not in document.content
    assert [number for _, number in document.locations["page"]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "title", "metadata"),
    [
        (
            "INTERNET-DRAFT                     K. Mill\nIntended Category: Experimental     14 May 2026\n\n"
            "     The No-Wind Control\n     <draft-mill-no-wind-01.txt>\n\nStatus of this Memo\n",
            "The No-Wind Control",
            {"author": ["K. Mill"], "created": "2026-05-14", "intended category": "Experimental"},
        ),
        (
            "Network Working Group          K. Mill\nInternet-Draft     30 February 2026\n\nStatus of this Memo\n",
            None,
            {"author": ["K. Mill"], "created": "2026-02-30"},
        ),
        ("Network Working Group\n\nWe meet in May 2026.\n", None, {}),
        ("Internet access at the mill\nis slow.   May 2026\n\nWhy?\n", None, {}),
    ],
)
def test_drafts_and_other_texts(text: str, title: str | None, metadata: dict[str, Any]) -> None:
    document = convert("a.txt", text)
    assert (document.title, document.metadata) == (title, metadata)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does Gust-Limit do?", "This attribute sets the greatest force"),
        ("What is Brake-Timeout?", "This attribute holds the number of seconds"),
        ("What does Brake-Timeout hold?", "This attribute holds the number of seconds"),
        ("How long is the Gust-Limit field?", "The length of the Gust-Limit field is four octets"),
        ("Who wrote RFC 9990?", "author: J. Mill, S. De Cnodder"),
    ],
)
async def test_what_it_defines_is_told(tmp_path: Path, question: str, first: str) -> None:
    (tmp_path / "rfc9990.txt").write_text(_RFC)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        assert first in (await kb.ask(question)).text.split("\n- ")[1]
