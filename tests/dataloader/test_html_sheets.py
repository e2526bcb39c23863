"""Documents in HTML that were set in pages, as annual reports and contracts are filed."""

from __future__ import annotations

from libs.dataloader import Document
from tests.dataloader.filetools import convert

TEXT = "<div><span>The mill ground {} sacks in the year, more than in any year before it.</span></div>"
BOLD = '<div><span style="font-weight:700">{}</span></div>'
BREAK = '<hr style="page-break-after:always"/>'


def page(number: int, lines: str) -> str:
    foot = f"<div><div>Mill Ltd. | 2025 Report | {number}</div></div>"
    return f'<div><a href="#c">Table of Contents</a></div>{lines}{foot}'


def report(*pages: str) -> Document:
    sheets = BREAK.join(page(number, lines) for number, lines in enumerate(pages, start=1))
    return convert("report.html", f"<html><title>mill-2025</title><body>{sheets}</body></html>")


def test_running_lines_are_left_out_and_bold_lines_are_headings() -> None:
    item = (
        "<table><tr><td></td></tr><tr>"
        '<td><span style="font-weight:bold">ITEM 1A.</span></td><td><b>RISK FACTORS</b></td></tr></table>'
    )
    document = report(
        BOLD.format("Item 1.&#160;&#160;Business") + TEXT.format(1) + BOLD.format("Customers") + TEXT.format(2),
        TEXT.format(3) + item + TEXT.format(4),
        BOLD.format("This sentence is bold.") + TEXT.format(5),
        TEXT.format(6),
    )
    assert document.title == "Mill Ltd. | 2025 Report"
    said = "The mill ground {} sacks in the year, more than in any year before it."
    assert document.content.split("\n\n") == [
        *("## Item 1. Business", said.format(1), "### Customers", said.format(2), said.format(3)),
        *("## ITEM 1A. RISK FACTORS", said.format(4), "This sentence is bold.", said.format(5), said.format(6)),
    ]


def test_headings_and_lines_of_few_pages_stay() -> None:
    document = report(
        "<h2>Business</h2>" + BOLD.format("Customers") + TEXT.format(1) + "<p>Signed by Ida</p>",
        TEXT.format(2) + BOLD.format("Prices") + TEXT.format(3),
        TEXT.format(4),
        TEXT.format(5),
    )
    content = document.content
    assert "## Business" in content
    assert "\n\nCustomers\n\n" in content
    assert "Signed by Ida" in content
    assert "Table of Contents" not in content
    assert "2025 Report" not in content


def test_pages_of_the_web_keep_their_bold_lines() -> None:
    html = (
        f"<html><body>{BOLD.format('Customers')}{TEXT.format(1)}{BOLD.format('Prices')}{TEXT.format(2)}</body></html>"
    )
    assert convert("a.html", html).content.startswith("Customers\n")
