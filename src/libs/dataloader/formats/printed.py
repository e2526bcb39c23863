"""Plain text that was laid out for a printer, page by page: RFCs, reports, what ``pdftotext`` makes of a PDF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from libs.dataloader.formats.base import Content, TextBuilder
from libs.dataloader.formats.pdf_layout import Line
from libs.dataloader.formats.pdf_running import running_lines
from libs.regexes import regex

_LONGEST_PAGE = 120  # lines; where form feeds only are between the chapters of a file, some are longer
_CENTERED = 3  # characters that the margins may differ in
_MARGIN = 8
_ENDS = regex(r"[.!?:;][\"'\u201d\u2019)\]]*\Z")
_BEGINS = regex(r"[-*+\u2022]\s|\(?\w{1,4}[.)]\s")  # an item
_WRAPPED = 40  # a shorter line ends what it says
_NUMBER = regex(r"\d{1,9}")
#: The number of a page: beside what runs along, with a gap between, or called one.
_OF_PAGE = regex(
    r"(?:\A|(?<![:\s])[ \t]{2,}|\bpage |\bp\. ?)\W{0,3}\d+\W{0,3}\Z|\A\W{0,3}\d+\W{0,3}[ \t]{2,}", re.IGNORECASE
)
#: The foot and the head of a page of an RFC or an Internet-Draft, which always has a title of its own.
_PAGE_FOOT = regex(r"[^\n]*(?:\s{3}|\t)\[Page (?:\d{1,4}|[ivxl]{1,7})\]\s*")
_PAGE_HEAD = regex(r"(?:RFC \d{1,5}|INTERNET[- ]DRAFT|Internet[- ]Draft)\s{3,}\S.*\s{3,}\S.*\d{4}\s*")
_FEWEST_FEET = 3
_LONGEST_LINE = 200
_NEAR = 2  # pages without a number may stand before the first one


def is_printed(pages: Sequence[str]) -> bool:
    """Return whether form feeds are between pages."""
    return all(page.count("\n") <= _LONGEST_PAGE for page in pages)


def pages_by_feet(text: str) -> list[str]:
    """Return the pages of a text without form feeds in which lines like ``Mill    [Page 7]`` end them; else none."""
    pages: list[list[str]] = [[]]
    for line in text.split("\n"):
        pages[-1].append(line)
        if len(line) <= _LONGEST_LINE and _PAGE_FOOT.fullmatch(line):
            pages.append([])
    return ["\n".join(page) for page in pages] if len(pages) > _FEWEST_FEET else []


def _is_of_standard(line: str) -> bool:
    """Return whether a line is the foot or the head of a page of an RFC or an Internet-Draft."""
    return len(line) <= _LONGEST_LINE and any(pattern.fullmatch(line) for pattern in (_PAGE_FOOT, _PAGE_HEAD))


def content_of(pages: Sequence[str]) -> Content:
    """Join pages to a text that says where each begins, without running heads and feet.

    A paragraph that goes on behind the end of a page does so in the text.
    """
    split = [page.split("\n") for page in pages]
    running = running_lines([list(_placed(lines)) for lines in split], 2.0)
    times = Counter(line.strip() for lines in split for line in lines)
    builder = TextBuilder()
    before = ""
    title = None
    for number, lines in enumerate(split):
        found = running.get(number, set())
        left_out = {
            i for i in found if times[lines[i].strip()] > 1 or not _has_own_number(lines[i].strip(), number + 1)
        }
        left_out |= {i for i, line in enumerate(lines) if _is_of_standard(line)}
        kept = "\n".join(line.rstrip() for index, line in enumerate(lines) if index not in left_out).strip("\n")
        if not kept.strip():
            continue
        if number == 0:
            title = _title(kept.split("\n"))
        builder.separate("\n" if _goes_on(before, kept.partition("\n")[0]) else "\n\n")
        builder.mark("page", number + 1)
        builder.add(kept)
        before = kept.rpartition("\n")[2]
    return Content(builder.text(), title=title, locations=builder.locations)


def _placed(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines with places as on a sheet: in the upper half counted from its head, below from its foot."""
    count = sum(1 for line in lines if line.strip())
    rank = 0
    for line in lines:
        text = " ".join(line.split())
        if text:
            rank += 1
        bottom = 100_000.0 - 10 * rank if 2 * rank <= count else 10.0 * (count - rank + 1)
        yield Line(text, 1.0, left=1.0, bottom=bottom if text else 0.0)


def _has_own_number(line: str, page: int) -> bool:
    """Return whether a line names what is on its page, as in a file of letters or bills: ``Invoice 1002``."""
    numbers = [int(number) for number in _NUMBER.findall(line)]
    return (
        any(map(str.isalpha, line))
        and bool(numbers)
        and all(abs(number - page) > _NEAR for number in numbers)
        and _OF_PAGE.search(line) is None
    )


def _goes_on(line: str, following: str) -> bool:
    """Return whether a line is continued by the first one of the next page."""
    indented, words = len(line) - len(line.lstrip()), following.lstrip()
    return (
        len(line) >= _WRAPPED
        and indented == len(following) - len(words)
        and _ENDS.search(line) is None
        and _BEGINS.match(words) is None
    )


def _title(lines: Sequence[str]) -> str | None:
    """Return the first line, or lines, in the middle of the first page."""
    width = max(map(len, lines))
    title: list[str] = []
    for line in lines:
        words = line.strip()
        indented = len(line) - len(line.lstrip())
        centered = words and indented >= _MARGIN and abs(width - len(line) - indented) <= _CENTERED
        if centered and any(map(str.isalpha, words)):
            title.append(words)
        elif title:
            break
    return " ".join(" ".join(title).split())[:500] or None
