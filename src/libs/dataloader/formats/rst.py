"""Converts reStructuredText to Markdown.

Not by docutils: it knows nothing of Sphinx's directives and roles, and drops what it does not know.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.preamble import preamble_title, split_preamble
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rst_tables import SIMPLE, csv_rows, dedented, grid_rows, indent, list_rows, simple_rows
from libs.dataloader.links import LinkCollector
from libs.dataloader.tables import join_symbols, markdown_table
from libs.dataloader.text import raised

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^(\s*)\.\.[ \t]+(?:\|([^|]+)\|[ \t]+)?([\w:+-]+?)::(?:[ \t]+(.*))?$")
_TARGET = re.compile(r"^\s*\.\.[ \t]+_(`[^`]+`|[^:]+):(?:[ \t]+(.*))?$")
_ANONYMOUS = re.compile(r"^\s*(?:__|\.\.[ \t]+__:)[ \t]+(\S+)[ \t]*$")
_FOOTNOTE = re.compile(r"^(\s*)\.\.[ \t]+\[([^\]]+)\](?:[ \t]+(.*))?$")
# A reference to a footnote or citation; ``#`` and ``*`` are numbers and signs that docutils counts.
_NOTED = re.compile(r"\[(?:[#*]|#?(\w[\w.:-]{0,100}))\]_(?!\w)")
_OPTION = re.compile(r"^:([\w-]+):(?:[ \t]+(.*))?$")
_FIELD = re.compile(r"^:([\w .-]+):(?:[ \t]+(.*))?$")
_ENTRY = re.compile(r"^(.*\S)\s*<([^<>]+)>$")
_EMBEDDED = re.compile(r"`([^`<]*?)\s*<([^`<>]+)>`__?")
_ROLE = re.compile(r":([\w:+.-]+):`([^`]+)`")
_ROLE_TARGET = re.compile(r"^!?~?(.*?)\s*<([^<>]+)>$", re.DOTALL)
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
_CLOSED = re.compile(r"``.+?``|`[^`]+`", re.DOTALL)
# Not in the middle of a compound such as a.b.c: its beginning was tried already, and trying all would be quadratic.
_REFERENCE = re.compile(
    r"`([^`]+)`__?(?!\w)|(?<![\w`])(?<!\w[-.])([^\W_]+(?:[-._][^\W_]+)*)__(?!\w)|(?<![\w`])(?<!\w[-.])(\w+(?:[-.]\w+)*)_(?![\w_])"
)
_INTERPRETED = re.compile(r"(?<![`\w])`([^`]+)`(?![`_])")
_SUBSTITUTION = re.compile(r"(?<![\w|])\|([^|\s][^|\n]*)\|_{0,2}(?![\w|])")
_BARE = re.compile(r"(?<![\w<`\"'])https?://[^\s<>`\"']+")
_LINE_OF_BLOCK = re.compile(r"^(\s*)\|(?: |$)")
_GRID = re.compile(r"^\s*\+[-=+]{3,}\+\s*$")
_LONGEST_LINE = 5000
_MOST_LINES = 20  # of markup that goes on in the next line
_LONGEST_TABLE = 500
_MOST_CELLS = 1_000_000  # counting those that are added to short rows
_CODE = frozenset(("code-block", "code", "sourcecode", "highlight", "parsed-literal", "prompt", "doctest", "testcode"))
_SILENT = frozenset(
    "toctree contents image figure include literalinclude raw meta index highlight default-role role".split()  # noqa: SIM905
) | frozenset(
    ("currentmodule", "module", "py:module", "py:currentmodule", "automodule", "autosummary", "tabularcolumns")
)
_TITLED = frozenset("csv-table list-table table rubric title centered admonition topic sidebar".split())  # noqa: SIM905
# What their arguments name is not shown.
_CLASSES = frozenset(("class", "rst-class", "cssclass", "container"))
# What docutils knows about a document, apart from the two that it makes parts of the text.
_BIBLIOGRAPHIC = frozenset(
    "author authors organization contact address version revision status date copyright".split()  # noqa: SIM905
)
_RAISED = frozenset(("sup", "superscript"))
_LOWERED = frozenset(("sub", "subscript"))
# Roles whose words are a number only, and what Sphinx puts before it.
_NUMBERED = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-", "cwe": "CWE-"}
# What Sphinx makes of these before the version; the last is CPython's own.
_VERSIONS = {
    "versionadded": "Added in version {}",
    "versionchanged": "Changed in version {}",
    "versionremoved": "Removed in version {}",
    "deprecated": "Deprecated since version {}",
    "deprecated-removed": "Deprecated since version {}, removed in version {}",
}
_NOTES = frozenset("note warning tip hint important caution danger attention error seealso".split())  # noqa: SIM905


def read(file: FileData, _kind: Format) -> Content:
    """Convert headings, code, tables and links to Markdown; of directives the text is kept."""
    fields, text = split_preamble(file.text())
    # What its readers see of them is a table above the text.
    listed = "".join(f"- {name}: {value}\n" for name, value in fields.items() if value)
    lines = f"{listed}\n{text}".expandtabs(8).split("\n")
    collector = LinkCollector(file.uri, file.root_uri)
    converter = _Converter(lines, collector, posixpath.splitext(file.path)[1])
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(converter.convert())).strip()
    title = preamble_title(fields) or first_heading(text)
    return Content(text, "markdown", title, converter.metadata, collector.links())


class _Converter:
    def __init__(self, lines: list[str], collector: LinkCollector, ending: str) -> None:
        self._lines = lines
        self._collector = collector
        self._ending = ending
        self._styles: list[str] = []
        self._targets: dict[str, str] = {}
        # Where references without a name lead, in the order of the references: ``words__`` and ``__ address``.
        self._anonymous = iter([match[1] for line in lines if (match := _ANONYMOUS.match(line))])
        self.metadata: dict[str, str] = {}
        self._no_table_until = 0
        self._has_fields = True  # a part of a document has no metadata of its own
        for line in lines:
            if (match := _TARGET.match(line)) and match[2]:
                self._targets[_key(match[1].strip("`"))] = match[2].strip().strip("<>`_")

    def convert(self) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(self._lines):
            at = self._block(at, out)
        return out

    def _block(self, at: int, out: list[str]) -> int:
        """Convert the block that begins at a line; return the number of the line after it."""
        line = self._lines[at]
        if (after := self._heading(at, out)) or (after := self._explicit(at, out)) or (after := self._table(at, out)):
            return after
        if _FIELD.match(line) and self._is_top(out):
            return self._fields(at, out)
        if block := _LINE_OF_BLOCK.match(line):
            out.append(block[1] + self._inline(line[block.end() :]))
            return at + 1
        line, end = self._joined(at)
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            lead = line.rstrip()[:-2].rstrip()
            if lead:
                # A colon is left where none stood before the two: "text::", but not "text. ::".
                out.append(self._inline(lead) + ("" if line.rstrip()[:-2] != lead or lead.endswith(":") else ":"))
            body, after = self._indented(end, indent(line))
            if body:
                out += ["", "```", *body, "```", ""]
                return after
            return end
        out.append(self._inline(line))
        return end

    def _joined(self, at: int) -> tuple[str, int]:
        """Return a line, with the next ones if a link or literal goes on in them, and the number of the line after."""
        line, end = self._lines[at], at + 1
        while "`" in line and "`" in _CLOSED.sub("", line):
            further = "".join(self._lines[end : end + 1])
            if not further.strip() or end - at == _MOST_LINES or len(line) > _LONGEST_LINE:
                return self._lines[at], at + 1
            line, end = f"{line}\n{further}", end + 1
        return line, end

    def _is_top(self, out: list[str]) -> bool:
        """Return whether there was only the title so far, so that fields here are the metadata of the document."""
        return self._has_fields and len(out) < 10 and all(not line or line.startswith("# ") for line in out)

    def _fields(self, at: int, out: list[str]) -> int:
        """Read the fields at the top, which may have indented lines; return the number of the line after them."""
        while at < len(self._lines) and (match := _FIELD.match(self._lines[at])):
            name, first = match[1].strip(), (match[2] or "").strip()
            body, at = self._indented(at + 1, 0)
            if name.lower() in ("abstract", "dedication") or (body and name.lower() not in _BIBLIOGRAPHIC):
                out += ["", f"{name}: {self._inline(first)}".rstrip()]
                self._nested(body, out)
            elif value := " ".join(" ".join([first, *body]).split()):
                before = self.metadata.get(name.lower())  # of several authors each may have a field
                self.metadata[name.lower()] = f"{before}; {value}" if before else value
        return at

    def _heading(self, at: int, out: list[str]) -> int:
        line = self._lines[at]
        following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        if _ADORNMENT.match(line):
            third = self._lines[at + 2] if at + 2 < len(self._lines) else ""
            if following.strip() and third.strip() == line.strip():
                self._add_heading(line[0] * 2, following, out)
                return at + 3
            if not following.strip() and (at == 0 or not self._lines[at - 1].strip()):
                return at + 1  # a transition
            return 0
        if (
            line.strip()
            and not line.startswith(" ")
            and _ADORNMENT.match(following)
            and len(following.rstrip()) >= min(len(line.rstrip()), 4)
        ):
            self._add_heading(following[0], line, out)
            return at + 2
        return 0

    def _add_heading(self, style: str, title: str, out: list[str]) -> None:
        if style not in self._styles:
            self._styles.append(style)
        level = min(self._styles.index(style) + 1, 6)
        out += ["", f"{'#' * level} {self._inline(title.strip())}", ""]

    def _explicit(self, at: int, out: list[str]) -> int:
        """Convert a directive, comment, target or footnote; return the number of the line after it, 0 if it is none."""
        line = self._lines[at]
        if _ANONYMOUS.match(line):
            return at + 1
        if not line.lstrip().startswith("..") or (line.strip() != ".." and not line.lstrip().startswith(".. ")):
            return 0
        depth = indent(line)
        if match := _FOOTNOTE.match(line):
            name = match[2].lstrip("#*")
            label = f"[{name}] " if name else ""
            if not (match[3] or "").strip():
                body, end = self._indented(at + 1, depth)
                note: list[str] = []
                self._nested(body, note)
                out += ["", label + "\n".join(note).strip()]
                return end
            line, end = self._joined(at)
            out.append(label + self._inline(line[match.start(3) :]))
            return end
        if _TARGET.match(line):
            return at + 1
        body, after = self._indented(at + 1, depth)
        match = _DIRECTIVE.match(line)
        if match is None:
            return after  # a comment
        name, argument = match[3].lower(), (match[4] or "").strip()
        # What comes after an empty line is no option but a field list.
        options = _options(body) if "".join(self._lines[at + 1 : at + 2]).strip() else {}
        told = {" ".join(line.split()) for line in body}
        out += [
            self._inline(words)
            for option in ("alt", "caption")
            if (words := options.get(option)) and " ".join(words.split()) not in told
        ]
        if match[2] is not None or name in _SILENT:
            if name == "figure":
                self._nested(body, out)
            elif name == "toctree":
                self._entries(body, out)
            return after
        if name in _CODE:
            if any(text.strip() for text in body):
                language = argument if name != "parsed-literal" and argument.isalnum() else ""
                out += ["", f"```{language}", *dedented(body), "```", ""]
            return after
        if name in ("math",):
            out += ["", " ".join([argument, *(text.strip() for text in body)]).strip(), ""]
            return after
        if name in _TITLED:
            out += ["", self._inline(argument), ""]
            rows = csv_rows(body, options) if name == "csv-table" else list_rows(body) if name == "list-table" else []
            if rows and len(rows) * max(map(len, rows)) <= _MOST_CELLS:
                out += [markdown_table([[self._cell(cell) for cell in row] for row in rows]), ""]
                return after
        elif name == "only" or name in _CLASSES:
            out.append("")  # what it names are the formats that show the body, or how they do
        elif name in _VERSIONS:
            out += ["", self._inline(_version(_VERSIONS[name], argument, goes_on=bool(body)))]
        elif name in _NOTES:
            said = "See also" if name == "seealso" else name.capitalize()
            out += ["", f"{said}: {self._inline(argument)}".rstrip()]
        elif argument:
            out += [
                "",
                f"`{argument}`"
                if ":" in name or name.startswith("auto") or "(" in argument
                else self._inline(argument),
                "",
            ]
        self._nested(body, out)
        return after

    def _entries(self, body: list[str], out: list[str]) -> None:
        """Convert a table of contents: write the entries that have words of their own, and link to all of them."""
        for line in body:
            match = _ENTRY.match(line)
            name, words = (match[2], match[1]) if match else (line.strip(), "")
            if match:
                out.append(f"- {words}")
            if "://" in name:
                self._collector.add(name, words)
            elif name and name != "self" and "*" not in name:
                self._add_document(name, words)

    def _nested(self, body: list[str], out: list[str]) -> None:
        inner = _Converter(body, self._collector, self._ending)
        inner._styles, inner._targets, inner._has_fields = self._styles, self._targets, False
        inner._anonymous = self._anonymous
        out += [*inner.convert(), ""]

    def _cell(self, lines: list[str]) -> str:
        out: list[str] = []
        self._nested(lines, out)
        return " ".join(" ".join(out).split())

    def _indented(self, at: int, depth: int) -> tuple[list[str], int]:
        """Return the indented lines from here on, without their indentation, and the number of the line after them."""
        body: list[str] = []
        while at < len(self._lines) and (not self._lines[at].strip() or indent(self._lines[at]) > depth):
            body.append(self._lines[at])
            at += 1
        return dedented(body), at

    def _table(self, at: int, out: list[str]) -> int:
        line = self._lines[at]
        if _GRID.match(line):
            end = at
            while end < len(self._lines) and self._lines[end].lstrip().startswith(("+", "|")):
                end += 1
            rows = grid_rows(self._lines[at:end])
        elif at >= self._no_table_until and SIMPLE.match(line):
            self._no_table_until = at + _LONGEST_TABLE  # unless one is found, there is no use in looking again
            rules = [
                row for row in range(at, min(at + _LONGEST_TABLE, len(self._lines))) if SIMPLE.match(self._lines[row])
            ]
            if len(rules) < 2:
                return 0
            blank = next((row for row in rules[1:] if not "".join(self._lines[row + 1 : row + 2]).strip()), rules[-1])
            end = blank + 1
            rows = simple_rows(self._lines[at:end])
        else:
            return 0
        rows = join_symbols([[self._inline(cell) for cell in row] for row in rows])
        if len(rows) < 2:
            return 0
        out += ["", markdown_table(rows), ""]
        self._no_table_until = end
        return end

    def _inline(self, text: str) -> str:
        if len(text) > _LONGEST_LINE:
            return text.rstrip()
        literals: list[str] = []

        def keep(words: str) -> str:
            literals.append(f"`{' '.join(words.split())}`" if "\n" in words else f"`{words}`")
            return f"\x00{len(literals) - 1}\x00"

        text = _LITERAL.sub(lambda match: keep(match[1]), text)
        for match in _BARE.finditer(text):
            self._collector.add(match[0].rstrip(".,;:!?)"))
        text = _ROLE.sub(lambda match: self._role(match, keep), text)
        text = _EMBEDDED.sub(self._embedded, text)
        text = _NOTED.sub(lambda match: f"[{match[1]}]" if match[1] else "", text)
        text = _REFERENCE.sub(self._reference, text)
        text = _INTERPRETED.sub(r"\1", text)
        text = _SUBSTITUTION.sub(r"\1", text)
        text = text.replace("\\ ", "").replace("\\*", "*").replace("\\_", "_").replace("\\|", "|")
        return re.sub("\x00(\\d+)\x00", lambda match: literals[int(match[1])], text).rstrip()

    def _role(self, match: re.Match[str], keep: Callable[[str], str]) -> str:
        """Return what a role such as ``:func:`name``` displays."""
        kind, words = match[1], match[2]
        if kind in _LOWERED:
            return words
        if kind in _RAISED:
            return raised(words, match.string[max(match.start() - 3, 0) : match.start()].removesuffix("\\ "))
        named = _ROLE_TARGET.match(words)
        is_document = kind.rpartition(":")[2] == "doc"
        if is_document:
            self._add_document(named[2] if named else words, named[1] if named else "")
        if named:
            return named[1]
        name = words.lstrip("!")
        if is_document:
            return name
        if before := _NUMBERED.get(kind):
            return before + name
        return keep(name[1:].rpartition(".")[2] if name.startswith("~") else name.lstrip("."))

    def _add_document(self, name: str, words: str = "") -> None:
        """Add a link to a document, which Sphinx names without its extension; it is that of this document."""
        name = name.strip()
        self._collector.add(name if name.endswith(self._ending) else name + self._ending, words)

    def _embedded(self, match: re.Match[str]) -> str:
        words, target = " ".join(match[1].split()), match[2].strip()
        target = self._targets.get(_key(target[:-1]), target) if target.endswith("_") else target
        self._collector.add(target, words)
        return words or target

    def _reference(self, match: re.Match[str]) -> str:
        words = match[1] or match[2] or match[3]
        if match[2] or (match[1] and match[0].endswith("__")):
            target = next(self._anonymous, None)
            target = self._targets.get(_key(target[:-1])) if target and target.endswith("_") else target
        else:
            target = self._targets.get(_key(words))
        if target is None:
            return words if match[1] else match[0]
        self._collector.add(target, words)
        return words


def _version(form: str, argument: str, *, goes_on: bool) -> str:
    """Return the text of a directive such as ``versionadded``: the version, and the words after it on its line."""
    parts = argument.split(maxsplit=form.count("{}"))
    versions, words = parts[: form.count("{}")], " ".join(parts[form.count("{}") :])
    said = form.format(*versions, *["?"] * (form.count("{}") - len(versions)))
    return f"{said}: {words}" if words else said + (":" if goes_on else ".")


def _options(body: list[str]) -> dict[str, str]:
    """Remove the options of a directive from its body, and return them by name."""
    options: dict[str, str] = {}
    name = ""
    while body and ((match := _OPTION.match(body[0])) or (name and body[0].startswith(" "))):
        if match:
            name = match[1]
            options[name] = (match[2] or "").strip()
        else:
            options[name] = f"{options[name]}\n{body[0].strip()}".strip()
        body.pop(0)
    body[:] = dedented(body)
    return options


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()
