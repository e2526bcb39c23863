"""Manual pages of the BSDs (mdoc, as ``.Dd`` begins them) as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from libs.dataloader.formats.base import Content, FileData, fenced
from libs.dataloader.formats.manual import Page, read_page, shown
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.tables import markdown_table
from libs.regexes import regex

_WORD = regex(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s"\\])\S*)')
_GLUE = "\x01"  # no text has it; there is no blank where it stands
_NO_SIGN = "\x02"  # behind a character that is meant itself, not as punctuation
_GLUED = regex(" ?\x01 ?|\x02")
_CLOSING = frozenset(".,:;)]?!")
_OPENING = frozenset("([")
# fmt: off
# What encloses the rest of its line, and the pairs that begin and end it over several lines.
_ENCLOSING = {
    "Op": "[]", "Bq": "[]", "Pq": "()", "Brq": "{}", "Aq": "<>", "Dq": "“”", "Sq": "‘’", "Ql": "‘’", "Qq": '""',
}
_PAIRS = {
    "Oo": "Oc", "Bo": "Bc", "Po": "Pc", "Bro": "Brc", "Ao": "Ac", "Do": "Dc", "So": "Sc", "Qo": "Qc",
}
_SYSTEMS = {"Ux": "UNIX", "Nx": "NetBSD", "Ox": "OpenBSD", "Fx": "FreeBSD", "Dx": "DragonFly", "Bsx": "BSD/OS"}
_PLAIN = frozenset(
    "Ad An Ar Cd Cm Dv Em Er Ev Fa Ft Ic Lb Li Ms Mt Nd No Pa St Sx Sy Tn Va Vt Xo Xc".split()
)
# fmt: on
_OTHERS = frozenset("Ap At Bx Fl Fn In Lk Nm Ns Pf Ta Xr".split())
_BEGINS = {opening: _ENCLOSING[f"{opening[:-1]}{'p' if opening == 'Oo' else 'q'}"][0] for opening in _PAIRS}
_ENDS = {
    closing: _ENCLOSING[f"{opening[:-1]}{'p' if opening == 'Oo' else 'q'}"][1] for opening, closing in _PAIRS.items()
}
_CALLED = _PLAIN | {*_ENCLOSING, *_BEGINS, *_ENDS, *_SYSTEMS, *_OTHERS}
_SILENT = frozenset("Bk Ek Os Sm Db Hf".split())
_OWN_LINE = frozenset("Nm Ft Fo In Vt Cd".split())
_LIST_MARKS = {"-bullet": "- ", "-dash": "- ", "-hyphen": "- ", "-item": ""}


def read(file: FileData, _kind: Format) -> Content:
    """Convert the page to Markdown; the title is its name: ``ls(1)``."""
    return read_page(file, _Page)


class _Word(NamedTuple):
    """A word of a request: as displayed, and the name of the macro that it calls, if any."""

    text: str
    macro: str = ""


class _List:
    """A list that has begun and not ended yet."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.count = 0
        self.rows: list[list[str]] = []


class _Page(Page):
    def __init__(self, text: str, collector: LinkCollector, root: str = "") -> None:
        super().__init__(text, collector, root)
        self._name = ""
        self._section = ""
        self._lists: list[_List] = []
        self._prototype: list[str] | None = None  # the name of a function, and its arguments so far
        self._reference: list[str] | None = None  # the parts of a work that is cited
        self._in_tag = False  # within the tag of an item that takes several lines

    def _filled(self) -> Iterator[str]:
        if not (self._lists and self._lists[-1].kind == "-column"):  # a row goes on to the next one
            yield from map(_unglued, super()._filled())

    def _end(self) -> Iterator[str]:
        yield from self._end_lists()
        yield from super()._end()

    def _request(self, line: str) -> Iterator[str]:
        name, _, rest = line[1:].strip().partition(" ")
        if (handle := self._requests().get(name)) is not None:
            yield from handle(_words(rest))
        elif name.startswith("%"):
            said = _unglued(" ".join(self._inline(_words(rest))))
            (self._words if self._reference is None else self._reference).append(f"“{said}”" if name == "%T" else said)
        elif name in _CALLED:
            yield from self._called(name, _words(f"{name} {rest}"))
        elif name not in _SILENT and not name.startswith("\\"):
            yield from super()._request(line)

    def _requests(self) -> dict[str, Callable[[list[_Word]], Iterator[str]]]:
        return {
            "Dd": self._dated,
            "Dt": self._titled,
            "Sh": self._begin_section,
            "Ss": self._begin_subsection,
            "Bl": self._begin_list,
            "It": self._begin_item,
            "El": self._end_list,
            "Bd": self._display,
            "Ed": self._paragraph,
            "Pp": self._paragraph,
            "Lp": self._paragraph,
            "Dl": self._code_line,
            "D1": self._code_line,
            "Fo": self._begin_prototype,
            "Fc": self._end_prototype,
            "Rs": self._begin_reference,
            "Re": self._end_reference,
            "Ex": self._exits,
            "Rv": self._returns,
        }

    def _called(self, name: str, words: list[_Word]) -> Iterator[str]:
        if name == "Fa" and self._prototype is not None:
            self._prototype += [word.text for word in words[1:] if word.text not in _CLOSING]
            return
        if self._section == "SYNOPSIS" and name in _OWN_LINE:
            yield from self._filled()
        if said := " ".join(self._inline(words)):
            self._say(said)
        if self._in_tag and any(word.macro == "Xc" for word in words):
            yield from self._filled()
            self._in_tag, self._tag = False, ": "

    # -- requests --------------------------------------------------------------------------------------------------

    def _dated(self, words: list[_Word]) -> Iterator[str]:
        self.date = " ".join(word.text for word in words if word.text not in ("$Mdocdate:", "$Mdocdate$", "$"))
        for form in ("%B %d, %Y", "%B %d %Y"):
            try:
                self.date = f"{datetime.strptime(self.date, form):%Y-%m-%d}"
            except ValueError:
                continue
        yield from ()

    def _titled(self, words: list[_Word]) -> Iterator[str]:
        name, section = [*(word.text for word in words), "", ""][:2]
        self.title = f"{name.lower()}({section})" if section else name
        yield f"# {self.title}"

    def _begin_section(self, words: list[_Word]) -> Iterator[str]:
        yield from self._end_lists()
        self._section = _unglued(" ".join(self._inline(words)))
        yield f"\n## {self._section}\n"

    def _begin_subsection(self, words: list[_Word]) -> Iterator[str]:
        yield f"\n### {_unglued(' '.join(self._inline(words)))}\n"

    def _paragraph(self, _words: list[_Word]) -> Iterator[str]:
        if not self._lists or self._lists[-1].kind != "-column":  # a row is one line
            self._tag = None
            yield ""

    def _begin_list(self, words: list[_Word]) -> Iterator[str]:
        yield from self._filled()
        self._lists.append(_List(next((word.text for word in words if word.text != "-compact"), "")))
        yield ""

    def _begin_item(self, words: list[_Word]) -> Iterator[str]:
        self._tag = None
        among = self._lists[-1] if self._lists else _List("-item")
        among.count += 1
        head = " ".join(self._inline(words))
        if among.kind == "-column":
            self._end_row(among)
            self._words.append(head)
            return
        yield from self._filled()
        mark = f"{among.count}. " if among.kind == "-enum" else _LIST_MARKS.get(among.kind)
        if mark is not None:
            self._tag = mark
            if head:
                self._say(head)
            return
        yield ""
        self._in_tag = any(word.macro == "Xo" for word in words) and not any(word.macro == "Xc" for word in words)
        if self._in_tag:
            self._words += [head] if head else []
        elif head:
            yield _unglued(head)
            self._tag = ": "

    def _end_list(self, _words: list[_Word]) -> Iterator[str]:
        ended = self._lists.pop() if self._lists else _List("")
        if ended.kind == "-column":
            self._end_row(ended)
            if ended.rows:
                yield f"\n{markdown_table(ended.rows)}\n"
        else:
            yield from self._filled()
        self._tag = None
        yield ""

    def _end_lists(self) -> Iterator[str]:
        while self._lists:
            yield from self._end_list([])

    def _end_row(self, table: _List) -> None:
        if self._words:
            table.rows.append([cell.strip() for cell in _unglued(" ".join(self._words)).split("\t")])
            self._words.clear()

    def _display(self, words: list[_Word]) -> Iterator[str]:
        self._tag = None
        yield ""
        if not any(word.text in ("-literal", "-unfilled") for word in words):
            return
        code = []
        for line in self._until(".Ed"):
            if line[:1] != ".":
                code.append(shown(line))
            elif not line.startswith((".Pp", ".\\")) and (said := self._inline(_words(line[1:]))):
                code.append(_unglued(" ".join(said)))
        if any(line.strip() for line in code):
            yield f"\n{fenced('\n'.join(code).strip('\n'), '')}\n"

    def _code_line(self, words: list[_Word]) -> Iterator[str]:
        yield from self._filled()
        yield f"\n{fenced(_unglued(' '.join(self._inline(words))), '')}\n"

    def _begin_prototype(self, words: list[_Word]) -> Iterator[str]:
        self._prototype = [" ".join(word.text for word in words)]
        yield from ()

    def _end_prototype(self, words: list[_Word]) -> Iterator[str]:
        if self._prototype:
            called, *arguments = self._prototype
            self._say(" ".join([f"{called}({', '.join(arguments)})", *self._inline(words)]))
        self._prototype = None
        yield from ()

    def _begin_reference(self, _words: list[_Word]) -> Iterator[str]:
        self._reference = []
        yield from self._filled()

    def _end_reference(self, _words: list[_Word]) -> Iterator[str]:
        if self._reference:
            self._say(f"{', '.join(self._reference)}.")
        self._reference = None
        yield from ()

    def _exits(self, _words: list[_Word]) -> Iterator[str]:
        self._say(f"The {self._name} utility exits 0 on success, and >0 if an error occurs.")
        yield from ()

    def _returns(self, words: list[_Word]) -> Iterator[str]:
        called = [f"{word.text}()" for word in words if word.text != "-std"] or [f"{self._name}()"]
        self._say(
            f"On success, {' and '.join(called)} return{'s' if len(called) == 1 else ''} 0;"
            " otherwise -1 is returned, and errno is set to indicate the error."
        )
        yield from ()

    # -- words -----------------------------------------------------------------------------------------------------

    def _inline(self, words: Sequence[_Word]) -> list[str]:
        """Return words as displayed, including those that are calls of macros."""
        end = len(words)
        while end > 1 and words[end - 1].text in _CLOSING and not words[end - 1].macro:
            end -= 1  # what ends the sentence stands behind everything that is enclosed
        said: list[str] = []
        closing: list[str] = []
        index = 0
        while index < end:
            macro = words[index].macro
            first = index + 1 if macro else index
            index = first
            while index < end and not words[index].macro:
                index += 1
            arguments = [word.text for word in words[first:index]]
            if macro in _ENCLOSING:
                said.append(_ENCLOSING[macro][0] + _GLUE)
                closing.append(_GLUE + _ENCLOSING[macro][1])
            elif macro in _BEGINS:
                said.append(_BEGINS[macro] + _GLUE)
            elif macro in _ENDS:
                said.append(_GLUE + _ENDS[macro])
            else:
                said += self._expanded(macro, arguments, is_last=index == end)
                continue
            said += _punctuated(arguments)
        return [*said, *reversed(closing), *_punctuated([word.text for word in words[end:]])]

    def _expanded(self, macro: str, arguments: list[str], *, is_last: bool) -> list[str]:
        """Return what a macro displays for its arguments."""
        first, rest = (arguments[0], _punctuated(arguments[1:])) if arguments else ("", [])
        if macro == "Ns":
            return [_GLUE, *_punctuated(arguments)]
        if macro == "Ap":
            return [f"{_GLUE}'{_GLUE}", *_punctuated(arguments)]
        if macro == "Ta":
            return ["\t", *_punctuated(arguments)]
        if macro == "Fl":
            flags = [each if each in _CLOSING or each in _OPENING or each == "|" else f"-{each}" for each in arguments]
            return _punctuated(flags) or ["-" if is_last else f"-{_GLUE}"]
        if macro == "Nm":
            self._name = self._name or first
            return _punctuated(arguments) if first and first not in _CLOSING else [self._name, *_punctuated(arguments)]
        if macro == "Ar" and (not first or first in _CLOSING):
            return ["file ...", *_punctuated(arguments)]
        if macro == "Bx":
            return [f"{first}BSD" if first not in _CLOSING else f"BSD{first}", *rest]
        if macro in _SYSTEMS or macro == "At":
            return [_SYSTEMS.get(macro, "AT&T UNIX"), *_punctuated(arguments)]
        if macro == "An" and first in ("-split", "-nosplit"):
            return []
        if macro == "Nd":
            return ["-", *_punctuated(arguments)]
        if not arguments:
            return []
        if macro == "Xr":
            section, after = (arguments[1], arguments[2:]) if len(arguments) > 1 else ("", [])
            if section in _CLOSING:
                section, after = "", arguments[1:]
            return [f"{first}({section})" if section else first, *_punctuated(after)]
        if macro == "Lk":
            words = " ".join(each for each in arguments[1:] if each not in _CLOSING)
            self._collector.add(first, words)
            return [f"{words}:" if words else "", first] if words else [first]
        if macro == "Pf":
            return [first + _GLUE, *rest]
        if macro == "In":
            return [f"#include <{first}>" if self._section == "SYNOPSIS" else f"<{first}>", *rest]
        if macro == "Fn":
            return [f"{first}({', '.join(arguments[1:])})"]
        if macro == "St":
            return [first.removeprefix("-"), *rest]
        return _punctuated(arguments)


def _words(text: str) -> list[_Word]:
    """Return the words of a request; a word in quotes, or one that begins with an escape, does not call a macro."""
    found = []
    for match in _WORD.finditer(text):
        quoted, word = match.groups()
        if quoted is not None:
            found.append(_Word(_meant(shown(quoted.replace('""', '"')))))
        elif word.startswith('\\"'):
            break  # a comment
        else:
            found.append(
                _Word(_meant(shown(word)) if word[0] == "\\" else shown(word), word if word in _CALLED else "")
            )
    return found


def _meant(word: str) -> str:
    return f"{word}{_NO_SIGN}" if word in _CLOSING or word in _OPENING else word


def _punctuated(words: Sequence[str]) -> list[str]:
    """Return words with closing punctuation joined to the previous word, and opening punctuation to the next."""
    return [
        f"{_GLUE}{word}" if word in _CLOSING else f"{word}{_GLUE}" if word in _OPENING else word
        for word in words
        if word
    ]


def _unglued(text: str) -> str:
    return _GLUED.sub("", text)
