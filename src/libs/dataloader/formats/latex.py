"""LaTeX as Markdown: headings, lists, tables, code and links; mathematics stays as it is written."""

from __future__ import annotations

import re
import unicodedata

from libs.dataloader.formats.base import Content, FileData, check_length, fenced, sensible_title
from libs.dataloader.formats.latex_names import (
    ACCENTS,
    CODE,
    ENVIRONMENT_ARGUMENTS,
    LETTER_ACCENTS,
    LEVELS,
    LISTS,
    MATH,
    MOST_DROPPED,
    NOT_SHOWN,
    REFERENCES,
    SIGNS,
    STATEMENTS,
    TABLES,
    WORDS,
    arguments_dropped,
)
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.table_heads import data_table
from libs.dataloader.text import raised
from libs.regexes import regex

_TOKEN = regex(
    r"""%[^\n]*(?:\n[ \t]*)?
    | \\(?P<edge>begin|end)[ \t]*\{(?P<environment>[A-Za-z]{1,40})\*?\}
    | \\(?P<command>[A-Za-z@]+)\*?[ \t]*
    | \\(?P<sign>[\s\S])
    | \${1,2} | [{}&~] | ---? | `` | '' | \n[ \t]*\n\s*""",
    re.VERBOSE,
)
_OPTION = regex(r"\s?\[([^\[\]]{0,500})\]")
# How much room is below a row: ``2pt``, ``0.5\baselineskip``. A cell may begin with other brackets.
_LENGTH = regex(r"\s*[-+]?[\d.,]{0,20}[ \t]*(?:pt|mm|cm|in|ex|em|bp|pc|dd|cc|sp|mu|\\[A-Za-z]{1,40})\s*")
_MACRO = regex(
    r"\\(?:(?:re|provide)?newcommand\*?[ \t]*+\{?|def)[ \t]*+\\([A-Za-z]{1,40})\}?[ \t]*+"
    r"\{([^{}\\$#&]{1,200}?)(?:\\xspace)?\}"
)
_DEFINED = regex(r"[ \t]*=?\\[A-Za-z@]+[ \t]*(?:#[^{}\n]{0,100})?")
_BODY = regex(r"\\begin[ \t]*\{document\}")
# What pandoc makes of code: each part of it in a command, and signs as in text.
_HIGHLIGHTED = regex(r"\\[A-Za-z]{1,30}Tok\{((?:[^{}\\]|\\.|\{[^{}]{0,100}\}){0,10000})\}", re.DOTALL)
_ESCAPED = regex(r"\\([A-Za-z]{1,30})\{\}|\{([^{}\n]{0,10})\}|\\([^A-Za-z])")
_ACCENTED = regex(r"[ \t]*(?:\{[ \t]*(\\?[A-Za-z])[ \t]*\}|(\\?[A-Za-z]))")
_DEEPEST, _LEAST_SHOWN = 20, 0.3
_MOST_EXPANDED = 1_000_000  # characters that commands of the file's own may add to a text
_LEVEL = "\ue002"  # of a list within a list, at the beginning of a line
_TRIMMED = regex(r"\([\w.{}]{0,40}\)")  # at its ends, a rule: ``(lr)``, ``(l{2pt})``
_CAPTION = regex("\ue003([^\ue003]*)\ue003")  # in a table
_FONT = regex(r"\\[A-Za-z]{2,20}[ \t]*\{([^{}]{0,500})\}")  # of the name of an item
_ITEM = regex(r"[ \t]*(?:\n[ \t]*)?(?!\n)")
_BLOCK = regex(r"\ue000(\d+)\ue001")
_BLANKS = regex(r"[ \t]+")
_GAPS = regex(r"\n[ \t]*\n\s*")
_COMMANDS = regex(r"[\\{}$~%]|--|``|''")
_PERCENT = regex(r"(?<!\\)%")


def read(file: FileData, _kind: Format) -> Content:
    """Convert to Markdown; included files become links, since they are documents of their own."""
    source = file.text().translate(dict.fromkeys(range(0xE000, 0xE004)))
    collector = LinkCollector(file.uri, file.root_uri)
    start = _BODY.search(source)
    reader = _Reader(collector, dict(_MACRO.findall(source)))
    if start is not None:
        reader.read(source[: start.start()])
        source = source[start.end() :].partition("\\end{document}")[0]
    text = reader.read(source)
    if start is None and "\n#" not in f"\n{text}" and len(text) < _LEAST_SHOWN * len(source):
        return Content(file.text())  # settings and commands for other files
    told = {name: _one_line(value) for name, value in reader.told.items()}
    title = sensible_title(told.get("title", ""))
    if title:
        text = f"# {title}\n\n{text}"
    if not text.strip():
        return Content(file.text())
    metadata = {key: told[name] for name, key in (("author", "author"), ("date", "created")) if told.get(name)}
    return Content(text, "markdown", title or first_heading(text), metadata, collector.links())


def tex_line(source: str) -> str:
    """Return a value with commands of LaTeX, as bibliographies have them, as one line of text."""
    if not _COMMANDS.search(source):
        return " ".join(source.split())
    # A percent sign begins no comment there.
    plain = _PERCENT.sub(r"\\%", source.translate(dict.fromkeys(range(0xE000, 0xE004))))
    return _one_line(_Reader(LinkCollector(None), {}).read(plain))


def _one_line(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.replace(" ;", ";").split()))


class _Reader:
    def __init__(self, collector: LinkCollector, macros: dict[str, str]) -> None:
        self.told: dict[str, str] = {}
        self._collector = collector
        self._macros = macros
        self._room = _MOST_EXPANDED
        self._unclosed: set[str] = set()

    def read(self, source: str) -> str:
        """Return what a part of the file shows, as Markdown."""
        self._source = source
        self._ends = _matching_braces(source)
        self._blocks: list[str] = []
        self._out: list[str] = []
        self._outer: list[tuple[str, list[str]]] = []  # tables and titles around here, and what was written before
        self._at_end: dict[int, str] = {}  # what to write where an argument ends; a name in front: where to keep it
        self._heading_until = -1
        self._nested = 0  # tables in a table around here
        self._lists: list[int | None] = []  # around here: the number of the latest item, if they are numbered
        self._head = -1  # where what a long table repeats on each page begins
        self._unclosed.clear()
        position = 0
        while token := _TOKEN.search(source, position):
            words = source[position : token.start()]
            self._out.append(words.replace("\n", " ") if position < self._heading_until else words)
            position = self._token(token)
        self._out.append(source[position:])
        while self._outer:
            self._close()
        text = _GAPS.sub("\n\n", "\n".join(_BLANKS.sub(" ", line).strip() for line in "".join(self._out).split("\n")))
        text = text.replace(_LEVEL, "  ")
        text = unicodedata.normalize("NFC", _BLOCK.sub(lambda match: self._blocks[int(match[1])], text)).strip()
        check_length(len(text))
        return text + "\n" if text else ""

    def _token(self, token: re.Match[str]) -> int:
        """Write what a token stands for, and return where to continue."""
        what, place, out = token[0], token.end(), self._out
        if token["edge"]:
            return self._environment(token["edge"] == "begin", token["environment"], token)
        if token["command"]:
            return self._command(token["command"], place)
        if sign := token["sign"]:
            if sign in "[(":
                return self._raw(token, place, "\\" + "])"["[(".index(sign)], "$$" if sign == "[" else "$")
            if sign == "\\":
                place += self._source.startswith("*", place)
                option = _OPTION.match(self._source, place)
                out.append(" " if self._nested else "\x1e" if self._in_table() else "\n")
                return option.end() if option and (not self._in_table() or _LENGTH.fullmatch(option[1])) else place
            if sign in ACCENTS and (letter := _ACCENTED.match(self._source, place)):
                out.append((letter[1] or letter[2]).lstrip("\\") + ACCENTS[sign])
                return letter.end()
            out.append(
                {",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "-": "", "/": "", "!": "", "@": ""}.get(sign, sign)
            )
        elif what[0] == "$":
            return self._raw(token, place, what, what)
        elif what == "}":
            self._end_argument(token.start())
        elif what == "&":
            out.append(" " if self._nested else "\x1f" if self._in_table() else "&")
        elif what[0] == "\n":
            out.append(" " if token.start() < self._heading_until else "\n\n")
        elif what[0] not in "%{":
            out.append(SIGNS[what])
        return place

    # -- commands ----------------------------------------------------------------------------------------------

    def _command(self, name: str, place: int) -> int:
        if name in self._macros and len(self._macros[name]) <= self._room:
            self._room -= len(self._macros[name])
            self._out.append(self._macros[name] + " ")
            return place
        if name in WORDS:
            self._out.append(WORDS[name])
            return place
        if name in LETTER_ACCENTS and (letter := _ACCENTED.match(self._source, place)) and letter[1]:
            self._out.append(letter[1].lstrip("\\") + LETTER_ACCENTS[name])
            return letter.end()
        if name in ("verb", "lstinline") and place < len(self._source):
            closed = self._source.find(self._source[place], place + 1, place + 500)
            if closed > 0 and self._source[place] not in "{[":
                self._out.append(f"`{self._source[place + 1 : closed]}`")
                return closed + 1
        option = _OPTION.match(self._source, place)
        if name == "item":
            self._out[-1:] = [part.rstrip() for part in self._out[-1:]]
            name = _FONT.sub(r"\1", _FONT.sub(r"\1", option[1])) if option else ""
            self._out.append(f"\n{self._label()} {f'{name}: ' if option else ''}")
            begins = _ITEM.match(self._source, option.end() if option else place)
            return begins.end() if begins else place
        if name == "tabularnewline":
            self._out.append(" " if self._nested else "\x1e")
            return place
        if name in ("endfirsthead", "endhead", "endfoot", "endlastfoot"):
            self._end_of_head(name)
            return place
        while option:
            place, option = option.end(), _OPTION.match(self._source, option.end())
        if name == "cmidrule" and (trimmed := _TRIMMED.match(self._source, place)):
            place = trimmed.end()
        if (count := arguments_dropped(name)) is not None:
            return self._after_arguments(place, count)
        if (end := self._ends.get(place)) is None:
            return place
        argument = self._source[place + 1 : end]
        if name in LEVELS or name == "frametitle":
            self._out.append(f"\n\n{'#' * LEVELS.get(name, 3)} ")
            self._at_end[end], self._heading_until = "\n\n", end
        elif name in ("title", "author", "date"):
            self._outer.append((name, self._out))
            self._out = []
            self._at_end[end] = name
        elif name in ("input", "include", "subfile"):
            self._collector.add(argument.strip() if "." in argument else f"{argument.strip()}.tex")
            return end + 1
        elif name in ("url", "href"):
            address = argument.replace("\\", "")
            self._collector.add(address)
            if name == "url" or end + 1 not in self._ends:
                self._out.append(address)
            return end + 1
        elif name == "multicolumn":
            inside = self._after_arguments(end + 1, 1)
            if self._in_table() and not self._nested and argument.isdecimal() and inside in self._ends:
                self._at_end[self._ends[inside]] = "\x1f" * (int(argument[:2]) - 1)
            return inside + (inside in self._ends)
        elif name == "bibitem":
            self._out.append(f"\n- [{argument}] ")
            return end + 1
        elif REFERENCES.fullmatch(name):
            self._out.append(argument if name.endswith("ref") else f"[{argument}]" if name != "nocite" else "")
            return end + 1
        elif name in ("footnote", "thanks"):
            self._out.append(" (")
            self._at_end[end] = ")"
        elif name in ("texttt", "lstinline") and not {"\\", "`"} & set(argument):
            self._out.append(f"`{argument}`")
            return end + 1
        elif name == "textsuperscript" and not {"\\", "$", "{"} & set(argument):
            self._out.append(raised(argument, "".join(self._out[-1:])))
            return end + 1
        elif name == "caption":
            edge = "\ue003" if self._in_table() else "\n\n"
            self._out.append(edge)
            self._at_end[end] = edge
        return place + 1

    def _label(self) -> str:
        """Return what an item begins with, below the lists around it."""
        if not self._lists:
            return "-"
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number = number + 1
        return _LEVEL * (min(len(self._lists), _DEEPEST) - 1) + ("-" if number is None else f"{number}.")

    def _end_of_head(self, name: str) -> None:
        """Forget what a long table has above and below on the pages after the first one."""
        if not self._in_table():
            return
        if name != "endfirsthead" and self._head >= 0:
            del self._out[self._head :]
        self._head = len(self._out)

    def _after_arguments(self, place: int, count: int) -> int:
        """Return where the next ``count`` arguments end, or as many as there are; a command counts as one."""
        for _ in range(count):
            while option := _OPTION.match(self._source, place):
                place = option.end()
            if (end := self._ends.get(place)) is not None:
                place = end + 1
            elif count <= MOST_DROPPED and (defined := _DEFINED.match(self._source, place)) is not None:
                place = defined.end()
        return place

    def _end_argument(self, place: int) -> None:
        after = self._at_end.pop(place, "")
        if after in ("title", "author", "date"):
            while self._outer and self._outer[-1][0] != after:
                self._close()
            if self._outer:
                self._close()
        else:
            self._out.append(after)

    # -- environments ------------------------------------------------------------------------------------------

    def _environment(self, begins: bool, name: str, token: re.Match[str]) -> int:
        place = token.end()
        if not begins:
            if name in TABLES and self._in_table():
                if not self._nested:
                    self._close()
                self._nested = max(0, self._nested - 1)
            if name in LISTS and self._lists:
                self._lists.pop()
            self._out.append("\n\n" if name not in LISTS or not self._lists else "\n")
            return place
        if name in CODE or name in MATH or name in NOT_SHOWN:
            return self._raw(token, place, token[0].replace("begin", "end", 1), name)
        option = _OPTION.match(self._source, place)
        place = option.end() if option else place
        if name in TABLES:
            if self._in_table():
                self._nested += 1  # it arranges a cell
            else:
                self._outer.append(("table", self._out))
                self._out, self._head = [], -1
            # ``tabular*`` has its width before its columns.
            return self._after_arguments(place, TABLES[name] + (name == "tabular" and "*" in token[0]))
        if name in LISTS:
            self._lists.append(0 if name == "enumerate" else None)
        if name == "abstract":
            self._out.append("\n\n## Abstract\n\n")
        elif name in STATEMENTS:
            self._out.append(f"\n\n{name.capitalize()}{f' ({option[1]})' if option else ''}. ")
        elif name == "frame" and place in self._ends:
            self._out.append("\n\n### ")
            self._at_end[self._ends[place]], self._heading_until = "\n\n", self._ends[place]
            return place + 1
        else:
            self._out.append("\n" if name in LISTS else "\n\n")
        return self._after_arguments(place, ENVIRONMENT_ARGUMENTS.get(name, 0))

    def _raw(self, token: re.Match[str], place: int, closing: str, kind: str) -> int:
        """Write the code or mathematics up to the closing mark, and return the place after the mark."""
        end = -1 if closing in self._unclosed else self._source.find(closing, place)
        while end > 0 and closing[0] == "$" and self._source[end - 1] == "\\" and self._source[end - 2] != "\\":
            end = self._source.find(closing, end + 1)
        inside = self._source[place:end]
        if end < 0:
            self._unclosed.add(closing)  # no need to look again, as often as it is opened
        if end < 0 or (kind == "$" and "\n\n" in inside):
            self._out.append(token[0] if kind == "$" else "")
            return place
        if kind == "$":
            self._out.append(self._kept(f"${' '.join(inside.split())}$"))
        elif kind == "$$" or kind in MATH:
            lines = (line.strip() for line in re.sub(r"(?<!\\)%[^\n]*|\\label\{[^{}]{0,200}\}", "", inside).split("\n"))
            self._out.append(f"\n\n{self._kept('$$' + ' '.join(filter(None, lines)) + '$$')}\n\n")
        elif kind in CODE:
            option = _OPTION.match(inside)
            language = re.search(r"language=\{?(\w+)", option[1]) if option else None
            inside = inside[option.end() :] if option else inside
            name = re.match(r"[ \t]*\{(\w+)\}", inside) if kind == "minted" else None
            code = inside[name.end() :] if name else inside
            told = name[1] if name else language[1] if language else ""
            if kind == "Highlighting":
                code = _ESCAPED.sub(_unescaped, _HIGHLIGHTED.sub(r"\1", code))
            self._out.append(f"\n\n{self._kept(fenced(code.strip(chr(10)).rstrip(), told.lower()))}\n\n")
        return end + len(closing)

    def _kept(self, text: str) -> str:
        """Return a placeholder for text that must not be changed any more."""
        self._blocks.append(text)
        return f"\ue000{len(self._blocks) - 1}\ue001"

    # -- tables and titles -------------------------------------------------------------------------------------

    def _in_table(self) -> bool:
        return bool(self._outer) and self._outer[-1][0] == "table"

    def _close(self) -> None:
        kind, out = self._outer.pop()
        text, self._out = "".join(self._out), out
        if kind != "table":
            self.told.setdefault(kind, _BLOCK.sub(lambda match: self._blocks[int(match[1])], text).replace("\n", " "))
            return
        for caption in _CAPTION.findall(text):
            self._out.append(f"\n\n{' '.join(caption.split())}\n\n")
        text = _CAPTION.sub("", text)
        rows = [[cell.strip() for cell in row.split("\x1f")] for row in text.split("\x1e") if row.strip("\x1f \t\n")]
        if rows:
            self._out.append(f"\n\n{data_table(rows)}\n\n")


def _unescaped(match: re.Match[str]) -> str:
    """Return what a sign of highlighted code stands for."""
    if match[1]:
        return WORDS.get(match[1], "")
    return match[2] if match[2] is not None else match[3]


def _matching_braces(source: str) -> dict[int, int]:
    """Return the position of the closing brace for each opening one that has one."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for token in _TOKEN.finditer(source):
        if token["edge"]:
            continue
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            ends[opened.pop()] = token.start()
    return ends
