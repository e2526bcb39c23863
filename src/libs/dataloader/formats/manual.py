"""Manual pages (man, as ``.TH`` begins them) as Markdown: headings, options, code and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from libs.dataloader.formats.base import Content, FileData, fenced, join_lines
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.manual_titles import title_with_purpose
from libs.dataloader.tables import markdown_table
from libs.regexes import regex

_ESCAPE = regex(
    r"""\\(?:
      ".* | f(?:\(..|\[[^\]]{0,100}\]|.) | s(?:[-+]?\d{1,2}|\[[^\]]{0,100}\])
    | [mMFkRYVn](?:\(..|\[[^\]]{0,100}\]|.) | [hvwlLDbo]'[^']{0,300}'
    | \((?P<two>..) | \[(?P<name>[^\]]{1,30})\]
    | \*(?:\((?P<string>..)|\[(?P<long>[^\]]{0,100})\]|(?P<one>.)) | (?P<sign>.)
    )""",
    re.VERBOSE,
)
_SIGNS = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "'": "'",
    "`": "`",
    "t": "\t",
    "_": "_",
    ".": ".",
}
# fmt: off
_NAMES = {
    "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "em": "—", "en": "–", "hy": "-", "bu": "•",
    "co": "©", "rg": "®", "tm": "™", "mu": "×", "+-": "±", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "<-": "←",
    "ga": "`", "ha": "^", "ti": "~", "rs": "\\", "sc": "§", "de": "°", ":a": "ä", ":o": "ö", ":u": "ü", "ss": "ß",
    # Of mdoc:
    "Lt": "<", "Gt": ">", "Le": "≤", "Ge": "≥", "Ne": "≠", "Pm": "±", "Am": "&", "Ba": "|", "Lq": "“", "Rq": "”",
    "'e": "é", "`e": "è", "`a": "à", ",c": "ç", "R": "®", "Tm": "™",
}
# fmt: on
_FONTS = frozenset("B I BR RB BI IB IR RI SM SB R CW".split())
_PARAGRAPHS = frozenset("PP P LP sp HP RS RE INDENT UNINDENT".split())
_TAGGED = frozenset(("TP", "TQ", "IP"))
_BREAKS = frozenset((".TP", ".IP", ".PP", ".LP", ".br"))
_SILENT = frozenset("PD DT AT UC IX YS".split())
_DEFINITIONS = frozenset("de de1 am am1 ig".split())
_CONDITION = regex(r"""[.']\s*(?:if|ie|el)\b\s*(?:!?(["']).*?\1.*?\1|!?\S+)?\s*(?:\\\{)?\s*""")
_SETS = regex(r"\.\s*(?:nr|ds|ta|in|ft)\b")
_COMMENT = regex(r'(?<!\\)\\".*')
_NUMBER = regex(r"\(?(?:\d{1,3}|[a-z])[.)]|\[\d{1,3}\]")  # of an item or a footnote
_IN_SECTION = regex(r"/man\w{1,5}/[^/]+\Z")
_FILE_NAME = regex(r"(.{1,100})\.([1-9]\w{0,4})")
_CODE = {"nf": "fi", "EX": "EE", "Vb": "Ve"}


def read(file: FileData, _kind: Format) -> Content:
    """Convert the page to Markdown; the title is its name: ``ls(1)``."""
    return read_page(file, Page)


def read_page(file: FileData, reader: type[Page]) -> Content:
    """Convert a page to Markdown with a reader for its macros."""
    collector = LinkCollector(file.uri, file.root_uri)
    page = reader(file.text(), collector, "../" if _IN_SECTION.search(file.uri or "") else "")
    lines = list(page.lines())
    if page.title is None and (name := _name_of_page(file.name)):
        page.title = name
        lines[:0] = [f"# {name}", ""]
    text = re.sub(r"\n{3,}", "\n\n", join_lines(lines)).strip("\n") + "\n"
    title = title_with_purpose(page.title, text)
    text = text.replace(f"# {page.title}\n", f"# {title}\n", 1)  # so that they are the same
    metadata = {"created": page.date} if page.date else {}
    return Content(text, "markdown", title, metadata, collector.links())


def _name_of_page(file_name: str) -> str:
    """Return what a page is called by the name of its file: ``dup(2)`` in ``dup.2``; empty for other files."""
    found = _FILE_NAME.fullmatch(file_name)
    return f"{found[1]}({found[2]})" if found is not None else ""


class Page:
    """Reads a page.

    Args:
        text: The text of the file.
        collector: Collects its links.
        root: The way from the page to where the names of other pages begin.
    """

    def __init__(self, text: str, collector: LinkCollector, root: str = "") -> None:
        self.title: str | None = None
        self.date = ""
        self._lines = self._read(text.replace("\\\n", "").split("\n"))
        self._again: list[str] = []  # a line that was read too early
        self._collector = collector
        self._root = root
        self._words: list[str] = []
        self._silent = set(_SILENT)
        self._own: set[str] = set()  # requests that the page defines; of these, those that begin a paragraph, ...
        self._paragraphs: set[str] = set()
        self._code: set[str] = set()  # ... begin code, ...
        self._after_code: set[str] = set()  # ... and end it
        self._tag: str | None = None  # of the paragraph that comes next, as in a list of options

    def lines(self) -> Iterator[str]:
        """Yield lines of Markdown; lines that are filled when the page is displayed are joined to one."""
        for line in self._lines:
            if line[:1] in (".", "'"):
                for written in self._request(line):
                    yield from self._filled()
                    yield written
            elif words := shown(line).strip():
                self._say(words)
            elif not line.strip():
                yield from self._filled()
                yield ""
        yield from self._end()

    def _end(self) -> Iterator[str]:
        """Yield what is left at the end of the page."""
        yield from self._filled()

    def _read(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            yield line
            while self._again:
                yield self._again.pop()

    def _say(self, words: str) -> None:
        tag, self._tag = self._tag, None
        self._words.append(f"{tag or ''}{words}")

    def _filled(self) -> Iterator[str]:
        if self._words:
            filled = " ".join(self._words)
            self._words.clear()
            yield filled

    def _request(self, line: str) -> Iterator[str]:
        name, _, rest = line[1:].strip().partition(" ")
        rest = _COMMENT.sub("", rest)
        if name in _DEFINITIONS:
            body = self._until(".." if name != "ig" or not rest else f".{rest.strip()}")
            if name in ("de", "de1"):
                self._define(rest.partition(" ")[0], body)
        elif name in ("if", "ie", "el"):
            if "\\{" in rest:
                self._until("\\}")
        elif name == "TH":
            words = [*_arguments(rest), "", "", ""]
            self.title, self.date = f"{words[0].lower()}({words[1]})" if words[1] else words[0], words[2]
            yield f"# {self.title}"
        elif name in ("SH", "SS"):
            heading = " ".join(_arguments(rest)) or shown(next(self._lines, "")).strip()
            yield f"\n{'##' if name == 'SH' else '###'} {heading}\n"
        elif name in ("TP", "TQ"):
            yield ""
            for following in self._lines:
                if following.startswith((".SH", ".SS")):  # of nothing
                    self._again.append(following)
                    break
                if tag := (self._font(following) if following[:1] == "." else shown(following)).strip():
                    yield tag
                    self._tag = ": "
                    break
        elif name == "IP":
            tag = next(iter(_arguments(rest)), "")
            yield ""
            if tag in "•*-+" or _NUMBER.fullmatch(tag):
                self._tag = f"{tag if tag not in '•*-+' else '-'} " if tag else None
            else:
                yield tag
                self._tag = ": "
        elif name in _PARAGRAPHS:
            yield ""
            self._tag = None
        elif name in _CODE or name in self._code:
            rows = self._until(f".{_CODE.get(name, 'fi')}", *self._after_code, or_heading=True)
            code = [self._said(row) if row[:1] == "." else shown(row) for row in rows]
            if any(row.strip() for row in code):
                yield f"\n{fenced('\n'.join(code).strip('\n'), '')}\n"
        elif name == "TS":
            yield from self._table(self._until(".TE"))
        elif name in ("UR", "MT") and name not in self._own:
            rows = self._until(".UE" if name == "UR" else ".ME", or_heading=True)
            called = " ".join(map(shown, rows)).strip()
            if name == "UR":
                self._collector.add(rest.strip(), called)
            self._say(called or rest.strip())
        elif name == "so":
            page = rest.strip()
            called = _name_of_page(page.rpartition("/")[2])
            self._collector.add(f"{self._root}{page}" if called else page, called)
            if called and not self.title:  # the page is another one, which documents several functions
                self._say(f"See {called}.")
        elif name == "br":
            yield from self._filled()
        elif said := self._said(line).strip():
            if name in self._paragraphs:
                yield ""
            self._say(said)

    def _define(self, name: str, body: list[str]) -> None:
        """Remember what a request that the page defines is for."""
        words = set(" ".join(body).split())
        self._own.add(name)
        if not any(map(_says_arguments, body)):
            self._silent.add(name)
        elif words & _BREAKS:
            self._paragraphs.add(name)
        if ".nf" in words and ".fi" not in words:
            self._code.add(name)
        elif ".fi" in words and ".nf" not in words:
            self._after_code.add(f".{name}")

    def _said(self, line: str) -> str:
        """Return the text of a request for a font, or of one that others add to those there are."""
        name, _, rest = line[1:].strip().partition(" ")
        known = name in _FONTS | _PARAGRAPHS | _TAGGED | self._silent or not name[:1].isupper()
        return self._font(line) if known or not self.title else " ".join(_arguments(_COMMENT.sub("", rest)))

    def _font(self, line: str) -> str:
        """Return the text of a request for a font, empty for other requests; words in alternating fonts are joined."""
        name, _, rest = line[1:].strip().partition(" ")
        if name not in _FONTS:
            return ""
        return ("" if len(name) == 2 and name not in ("SM", "SB", "CW") else " ").join(_arguments(rest))

    def _until(self, *ends: str, or_heading: bool = False) -> list[str]:
        inside: list[str] = []
        for line in self._lines:
            if or_heading and line.startswith((".SH", ".SS")):  # which ends code, too
                self._again.append(line)
                break
            if line.partition(" ")[0].rstrip() in ends or (ends == ("\\}",) and "\\}" in line):
                break
            inside.append(line)
        return inside

    def _table(self, lines: list[str]) -> Iterator[str]:
        start = next((index for index, line in enumerate(lines) if line.rstrip().endswith(".")), -1)
        told = re.search(r"tab *\((.)\)", " ".join(lines[: start + 1]))
        between = told[1] if told else "\t"
        rows = [
            [shown(cell).strip() for cell in line.split(between)]
            for line in _whole_rows(lines[start + 1 :], self._font)
            if line and not line.startswith(".") and line not in ("_", "=")
        ]
        if rows:
            yield f"\n{markdown_table(rows)}\n"


def _says_arguments(line: str) -> bool:
    """Return whether a line of the definition of a request shows what the request is given."""
    while match := _CONDITION.match(line):
        line = line[match.end() :]
    return "\\\\$" in line and _SETS.match(line) is None


def _whole_rows(lines: list[str], font: Callable[[str], str]) -> Iterator[str]:
    """Yield the rows of a table, with the lines of a cell between ``T{`` and ``T}`` joined to one.

    Args:
        lines: The lines of the table.
        font: Returns the text of a request that sets a font; empty for other requests.
    """
    row: list[str] = []
    for line in lines:
        inside = bool(row)
        if inside and line.startswith("."):
            row.append(font(line))
            continue
        row.append(line.removeprefix("T}") if inside and line.startswith("T}") else line)
        if line.endswith("T{"):
            row[-1] = row[-1].removesuffix("T{")
        elif not inside or line.startswith("T}"):
            yield " ".join(row)
            row.clear()
    if row:
        yield " ".join(row)


def _arguments(text: str) -> list[str]:
    """Return the arguments of a request (words or quoted text) as displayed."""
    return [
        shown(word.strip('"').replace('""', '"')) for word in re.findall(r'"(?:[^"]|"")*"?|(?:\\.|[^\s"\\])\S*', text)
    ]


def shown(text: str) -> str:
    """Return text as displayed, with its escapes resolved."""
    return _ESCAPE.sub(_sign, text) if "\\" in text else text


def _sign(match: re.Match[str]) -> str:
    name = match["two"] or match["name"] or match["string"] or match["long"] or match["one"]
    if name:
        if re.fullmatch(r"u[0-9A-F]{4,5}", name):
            return chr(int(name[1:], 16))
        return _NAMES.get(name, "")
    return _SIGNS.get(match["sign"] or "", "")
