"""MyST, the Markdown of Sphinx and Jupyter Book: its directives and roles as Markdown that everybody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from libs.dataloader.formats.base import fenced
from libs.dataloader.formats.described import Section, begun, facts, is_object
from libs.dataloader.formats.rst import CODE, SILENT, note_label, to_markdown
from libs.dataloader.formats.rst_inline import Inline
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

#: A line that opens or closes a block: code, or a directive: ```` ```{note} Title````, ``:::{tip}``.
_FENCE = regex(r"^([ \t]*)(`{3,}|~{3,}|:{3,})([^\n]*)$", re.MULTILINE)
_DIRECTIVE = regex(r"[ \t]*\{([A-Za-z][\w:+-]*)\}[ \t]*(.*)")
#: What says of a directive how it looks, at the top of its body: lines of ``:name: value``, or YAML between dashes.
_OPTIONS = regex(r"\A(?:---[ \t]*\n(?:(?!---)[^\n]*\n)*---[ \t]*(?:\n|\Z)|(?::[\w-]+:[^\n]*(?:\n|\Z))+)")
#: Right behind a word, only what is raised or lowered: ``f{x}`y``` is something else.
_ROLE = regex(r"(?<![`\\$}])\{(su[bp](?:script)?|(?<!\w\{)[A-Za-z][\w:+.-]*)\}`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
_NAMED = regex(r"^:?([\w-]+):[ \t]+(\S[^\n]*)", re.MULTILINE)
_HEADING = regex(r"^#{1,6}[ \t]+\S[^\n]*", re.MULTILINE)
_CAPTION = regex(r"^:?caption:[ \t]+(\S[^\n]*)", re.MULTILINE)
#: Those whose body is Markdown, and whose argument, if they have one, is a title above it.
_TITLED = frozenset(
    "admonition topic sidebar rubric dropdown margin epigraph pull-quote tab-set tab-item grid grid-item card"
    " grid-item-card div container figure details glossary".split()
)
#: What they have on their line is a class or an address.
_UNTITLED = frozenset(("figure", "container", "div", "grid"))
#: Those whose body reads like that of reStructuredText.
_TABLES = frozenset(("list-table", "csv-table"))
_DEEPEST = 8


class _Block(NamedTuple):
    """A fenced block of a text: where it is, and its parts."""

    start: int
    end: int
    indent: str
    info: str
    body: str


def has_directives(text: str) -> bool:
    """Return whether a text may have what :func:`without_directives` converts."""
    return "```{" in text or ":::{" in text or "~~~{" in text or "::: {" in text or "``` {" in text


def without_directives(text: str, collector: LinkCollector, ending: str) -> str:
    """Return Markdown with directives as what their readers see; those that are not known stay as they are.

    Notes are paragraphs that begin with "Note:" or the like, as in reStructuredText; what is written in that
    (``eval-rst``) is converted, code is a block of code, what is described (functions, options) is a section of its
    own, and what shows nothing is left out.

    Args:
        text: Markdown.
        collector: Takes the links of tables of contents, and of what is reStructuredText.
        ending: The extension of the file.
    """
    return _Converter(collector, ending, 0, Section()).convert(text)


class _Converter:
    """Converts a text, or the body of a directive, within ``depth`` others."""

    def __init__(self, collector: LinkCollector, ending: str, depth: int, section: Section) -> None:
        self._collector = collector
        self._ending = ending
        self._depth = depth
        self._section = section
        self.is_described = False  # the last block was a section of what is described

    def convert(self, text: str) -> str:
        parts: list[str] = []
        position = 0
        for block in _blocks(text):
            parts.append(self._plain(text[position : block.start]))
            directive = _DIRECTIVE.fullmatch(block.info)
            is_behind = self.is_described
            said = self._said(directive[1].lower(), directive[2].strip(), block) if directive else None
            position = block.end
            if said is None:
                parts.append(self._plain(text[block.start : block.end], is_code=True))
                continue
            if not said:
                position = min(block.end + 1, len(text))
            elif is_behind and not said.startswith("#"):
                said = self._going_on(said)
            parts.append(
                "\n".join(f"{block.indent}{line}" if line else "" for line in said.split("\n")) if said else ""
            )
        return "".join([*parts, self._plain(text[position:])])

    def _plain(self, text: str, *, is_code: bool = False) -> str:
        """Return text between directives as it is, under the heading of its section again if one was described."""
        start = len(text) - len(text.lstrip())
        if self.is_described and start < len(text) and (is_code or not _HEADING.match(text, start)):
            text = f"{text[:start]}{self._going_on(text[start:])}"
        if not is_code and (headings := _HEADING.findall(text)):
            self._section = Section(len(headings[-1]) - len(headings[-1].lstrip("#")), headings[-1])
            self.is_described = False
        return text

    def _going_on(self, text: str) -> str:
        self.is_described = False
        return f"{self._section.title}\n\n{text}"

    def _said(self, name: str, argument: str, block: _Block) -> str | None:
        """Return what a directive displays; ``None`` for one that is not known, or too deep."""
        if name == "eval-rst":
            return to_markdown(block.body.split("\n"), self._collector, self._ending)
        label = note_label(name, argument, goes_on=bool(block.body.strip()))
        if label or name in _TITLED:
            if self._depth == _DEEPEST:
                return None
            body = self._inside(Section()).convert(_OPTIONS.sub("", block.body)).strip("\n")
            title = label or ("" if name in _UNTITLED else argument)
            # What a label is about goes on in its line; a title stands above.
            return f"{title}{' ' if label else chr(10) * 2}{body}".strip() if title else body
        options = _OPTIONS.match(block.body)
        body = block.body[options.end() :] if options else block.body
        if name in CODE or name == "code-cell":
            caption = _CAPTION.search(options[0]) if options else None
            language = "python" if name == "code-cell" else argument if argument.isalnum() else ""
            code = fenced(body.strip("\n"), language) if body.strip() else ""
            return f"{caption[1]}\n\n{code}" if caption else code
        if name in SILENT or name in _TABLES:
            lines = [f"   {line}" for line in (*(options[0] if options else "").splitlines(), "", *body.split("\n"))]
            return to_markdown([f".. {name}:: {argument}", *lines], self._collector, self._ending)
        if argument and is_object(name) and self._depth < _DEEPEST:
            told = dict(_NAMED.findall(options[0])) if options else {}
            return self._described(name, argument, "\n".join([*facts(told), body.strip("\n")]))
        return None

    def _described(self, kind: str, signature: str, body: str) -> str:
        """Return what describes a function, a setting or the like: a section of its own, unless this one is that."""
        if not body.strip():
            return f"`{signature}`"
        section, beginning = begun(kind, signature, self._section)
        inside = self._inside(section)
        text = inside.convert(body).strip("\n")
        self.is_described = inside.is_described or section.title != self._section.title
        return "\n".join([*beginning, text]).strip("\n")

    def _inside(self, section: Section) -> _Converter:
        return _Converter(self._collector, self._ending, self._depth + 1, section)


def without_roles(text: str, hidden: str, collector: LinkCollector, ending: str) -> str:
    """Return Markdown with roles as what they display: of ``{ref}`the mill <mill>``` the words, of a function its name.

    Args:
        text: Markdown.
        hidden: The same with blocks and spans of code blanked out; the text of a role looks like such a span.
        collector: Takes the links to other documents.
        ending: The extension of the file.
    """
    inline = Inline((), collector, ending)

    def displayed(role: re.Match[str]) -> str:
        if hidden[role.start()] != "{":
            return role[0]  # in code
        before = text[max(role.start() - 3, 0) : role.start()]
        return inline.role(role[1], role[2], before, lambda words: f"`{words}`")

    return _ROLE.sub(displayed, text)


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the fenced blocks of a text, without those within others."""
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            # A fence of colons is one only with a directive, and one of backticks has none behind it.
            if _DIRECTIVE.fullmatch(line[3]) or (line[2][0] != ":" and "`" not in line[3]):
                opened = line
        elif line[2].startswith(opened[2]) and not line[3].strip():
            inside = text[opened.end() + 1 : max(line.start() - 1, opened.end() + 1)]
            indent = opened[1]
            body = "\n".join(row.removeprefix(indent) for row in inside.split("\n"))
            yield _Block(opened.start(), line.end(), indent, opened[3], body)
            opened = None
