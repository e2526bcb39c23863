"""Converts reStructuredText to Markdown.

Not by docutils: it knows nothing of Sphinx's directives and roles, and drops what it does not know.
"""

from __future__ import annotations

import posixpath
import re

from libs.dataloader.formats.base import Content, FileData, fenced
from libs.dataloader.formats.described import Section, begun, facts, is_object
from libs.dataloader.formats.front_matter import fields_metadata
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.preamble import listed_preamble, preamble_title, split_preamble
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rst_inline import ANONYMOUS, LONGEST_LINE, TARGET, Inline
from libs.dataloader.formats.rst_tables import SIMPLE, csv_rows, dedented, grid_rows, indent, list_rows, simple_rows
from libs.dataloader.links import LinkCollector
from libs.dataloader.table_heads import data_table
from libs.dataloader.tables import join_symbols
from libs.regexes import regex

_ADORNMENT = regex(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = regex(r"^(\s*)\.\.[ \t]+(?:\|([^|]+)\|[ \t]+)?([\w:+-]+?)::(?:[ \t]+(.*))?$")
_FOOTNOTE = regex(r"^(\s*)\.\.[ \t]+\[([^\]]+)\](?:[ \t]+(.*))?$")
_OPTION = regex(r"^:([\w-]+):(?:[ \t]+(.*))?$")
_FIELD = regex(r"^:([\w .-]+):(?:[ \t]+(.*))?$")
_ENTRY = regex(r"^(.*\S)\s*<([^<>]+)>$")
_CLOSED = regex(r"``.+?``|`[^`]+`", re.DOTALL)
_LINE_OF_BLOCK = regex(r"^(\s*)\|(?: |$)")
_GRID = regex(r"^\s*\+[-=+]{3,}\+\s*$")
_IS_HEADING = regex(r"#{1,6} ")  # in Markdown
_MOST_LINES = 20  # of markup that goes on in the next line
_LONGEST_TABLE = 500
_DEEPEST = 6  # heading
_MOST_CELLS = 1_000_000  # counting those that are added to short rows
CODE = frozenset(
    "code-block code sourcecode highlight parsed-literal prompt doctest testcode testsetup testoutput ipython"
    " jupyter-execute click:example click:run".split()
)
SILENT = frozenset(
    "toctree contents image figure include literalinclude raw meta index highlight default-role role".split()
) | frozenset(
    ("currentmodule", "module", "py:module", "py:currentmodule", "automodule", "autosummary", "tabularcolumns")
)
_TITLED = frozenset("csv-table list-table table rubric title centered admonition topic sidebar".split())
# What their arguments name is not shown.
_CLASSES = frozenset(("class", "rst-class", "cssclass", "container"))
_STYLE = regex(r"[a-z0-9 _-]*")  # of HTML; in Sphinx, a directive of the same name describes a class of Python
# What docutils knows about a document, apart from the two that it makes parts of the text.
_BIBLIOGRAPHIC = frozenset("author authors organization contact address version revision status date copyright".split())
# What Sphinx makes of these before the version; the last is CPython's own.
_VERSIONS = {
    "versionadded": "Added in version {}",
    "versionchanged": "Changed in version {}",
    "versionremoved": "Removed in version {}",
    "deprecated": "Deprecated since version {}",
    "deprecated-removed": "Deprecated since version {}, removed in version {}",
}
_NOTES = frozenset("note warning tip hint important caution danger attention error seealso".split())


def read(file: FileData, _kind: Format) -> Content:
    """Convert headings, code, tables and links to Markdown; of directives the text is kept."""
    fields, text = split_preamble(file.text())
    # What its readers see of them is a table above the text.
    lines = f"{listed_preamble(fields)}\n{text}".expandtabs(8).split("\n")
    collector = LinkCollector(file.uri, file.root_uri)
    converter = _Converter(lines, Inline(lines, collector, posixpath.splitext(file.path)[1]))
    text = _joined_lines(converter.convert())
    title = preamble_title(fields) or first_heading(text)
    metadata = fields_metadata(fields) | converter.metadata
    return Content(text, "markdown", title, metadata, collector.links())


def to_markdown(lines: list[str], collector: LinkCollector, ending: str) -> str:
    """Return reStructuredText as Markdown: a part of a document, which has no fields and no title of its own.

    Args:
        lines: It.
        collector: Takes its links.
        ending: The extension of its file.
    """
    lines = "\n".join(lines).expandtabs(8).split("\n")
    inline = Inline(lines, collector, ending)
    return _joined_lines(_Converter(lines, inline, _Converter([], inline)).convert())


def _joined_lines(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Converter:
    def __init__(self, lines: list[str], inline: Inline, around: _Converter | None = None) -> None:
        self._lines = lines
        self._inline = inline
        self._styles: list[str] = around._styles if around is not None else []
        self._has_fields = around is None  # a part of a document has no metadata of its own
        self.metadata: dict[str, str] = {}
        self._no_table_until = self._no_grid_until = 0
        self._section = Section()  # in a note and the like there is none
        self._is_described = False  # the last block was a section of what is described

    def convert(self) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(self._lines):
            before, is_behind = len(out), self._is_described
            at = self._block(at, out)
            first = next((line for line in out[before:] if line.strip()), "") if is_behind else ""
            if first and not _IS_HEADING.match(first):
                out[before:before] = ["", self._section.title, ""]  # the text of the section goes on
                self._is_described = False
        return out

    def _block(self, at: int, out: list[str]) -> int:
        """Convert the block that begins at a line; return the number of the line after it."""
        line = self._lines[at]
        if (after := self._heading(at, out)) or (after := self._explicit(at, out)) or (after := self._table(at, out)):
            return after
        if _FIELD.match(line) and self._is_top(out):
            return self._fields(at, out)
        if block := _LINE_OF_BLOCK.match(line):
            out.append(block[1] + self._inline.convert(line[block.end() :]))
            return at + 1
        line, end = self._joined(at)
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            lead = line.rstrip()[:-2].rstrip()
            if lead:
                # A colon is left where none stood before the two: "text::", but not "text. ::".
                out.append(
                    self._inline.convert(lead) + ("" if line.rstrip()[:-2] != lead or lead.endswith(":") else ":")
                )
            body, after = self._indented(end, indent(line))
            if body:
                out += ["", fenced("\n".join(body), ""), ""]
                return after
            return end
        out.append(self._inline.convert(line))
        return end

    def _joined(self, at: int) -> tuple[str, int]:
        """Return a line, with the next ones if a link or literal goes on in them, and the number of the line after."""
        line, end = self._lines[at], at + 1
        while "`" in line and "`" in _CLOSED.sub("", line):
            further = "".join(self._lines[end : end + 1])
            if not further.strip() or end - at == _MOST_LINES or len(line) > LONGEST_LINE:
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
                out += ["", f"{name}: {self._inline.convert(first)}".rstrip()]
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
        level = min(self._styles.index(style) + 1, _DEEPEST)
        self._section = Section(level, f"{'#' * level} {self._inline.convert(title.strip())}")
        self._is_described = False
        out += ["", self._section.title, ""]

    def _explicit(self, at: int, out: list[str]) -> int:
        """Convert a directive, comment, target or footnote; return the number of the line after it, 0 if it is none."""
        line = self._lines[at]
        if ANONYMOUS.match(line):
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
            out.append(label + self._inline.convert(line[match.start(3) :]))
            return end
        if TARGET.match(line):
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
            self._inline.convert(words)
            for option in ("alt", "caption")
            if (words := options.get(option)) and " ".join(words.split()) not in told
        ]
        if match[2] is not None or name in SILENT:
            if name == "figure":
                self._nested(body, out)
            elif name == "toctree":
                self._entries(body, out)
            return after
        if name in CODE:
            if any(text.strip() for text in body):
                language = argument if name != "parsed-literal" and argument.isalnum() else ""
                out += ["", fenced("\n".join(dedented(body)), language), ""]
            return after
        if name == "math":
            out += ["", " ".join([argument, *(text.strip() for text in body)]).strip(), ""]
            return after
        if name in _TITLED:
            out += ["", self._inline.convert(argument), ""]
            rows = csv_rows(body, options) if name == "csv-table" else list_rows(body) if name == "list-table" else []
            if rows and len(rows) * max(map(len, rows)) <= _MOST_CELLS:
                out += [data_table([[self._cell(cell) for cell in row] for row in rows]), ""]
                return after
        elif name == "only" or (name in _CLASSES and (name != "class" or _STYLE.fullmatch(argument))):
            out.append("")  # what it names are the formats that show the body, or how they do
        elif label := note_label(name, argument, goes_on=bool(body)):
            out += ["", self._inline.convert(label)]
        elif argument:
            if described := is_object(name):
                body[:0] = facts(options)
            if not any(body) and self._is_named(argument, after):
                return after
            if described and any(body) and not depth:
                self._describe(name, argument, body, out)
                return after
            out += ["", f"`{argument}`" if described or "(" in argument else self._inline.convert(argument), ""]
        self._nested(body, out)
        return after

    def _is_named(self, argument: str, at: int) -> bool:
        """Return whether the next line with text has these words: they only made it a target for references."""
        line = next((line for line in self._lines[at : at + _MOST_LINES] if line.strip()), "")
        return re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", line) is not None

    def _describe(self, kind: str, argument: str, body: list[str], out: list[str]) -> None:
        """Convert what describes a function, a setting or the like: a section of its own, unless this one is that."""
        inside = _Converter(body, self._inline, self)
        inside._section, beginning = begun(kind, argument, self._section)
        out += [*beginning, *inside.convert(), ""]
        self._is_described = inside._is_described or inside._section.title != self._section.title

    def _entries(self, body: list[str], out: list[str]) -> None:
        """Convert a table of contents: write the entries that have words of their own, and link to all of them."""
        for line in body:
            match = _ENTRY.match(line)
            name, words = (match[2], match[1]) if match else (line.strip(), "")
            if match:
                out.append(f"- {words}")
            if "://" in name:
                self._inline.collector.add(name, words)
            elif name and name != "self" and "*" not in name:
                self._inline.add_document(name, words)

    def _nested(self, body: list[str], out: list[str]) -> None:
        out += [*_Converter(body, self._inline, self).convert(), ""]

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
        if at >= self._no_grid_until and _GRID.match(line):
            end = at
            while end < len(self._lines) and self._lines[end].lstrip().startswith(("+", "|")):
                end += 1
            rows = grid_rows(self._lines[at:end])
            self._no_grid_until = end  # if it is none, there is no use in looking again from its other lines
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
        rows = join_symbols([[self._inline.convert(cell) for cell in row] for row in rows])
        if len(rows) < 2:
            return 0
        out += ["", data_table(rows), ""]
        self._no_table_until = end
        return end


def note_label(name: str, argument: str, *, goes_on: bool) -> str:
    """Return what a directive such as ``note`` or ``versionadded`` says above its body; empty for other ones.

    Args:
        name: That of the directive.
        argument: What stands on its line.
        goes_on: Whether it has a body.
    """
    if name in _VERSIONS:
        return _version(_VERSIONS[name], argument, goes_on=goes_on)
    if name in _NOTES:
        return f"{'See also' if name == 'seealso' else name.capitalize()}: {argument}".rstrip()
    return ""


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
