"""The markup of MediaWiki as HTML: headings, lists, tables, code, notes, links, and what templates say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import escape, unescape
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

from libs.dataloader.formats import wiki_templates
from libs.dataloader.formats.wiki_lines import ITEM_MARKS, NOTE, as_block, blocks, flat
from libs.dataloader.formats.wiki_names import NOTES, REFERENCES
from libs.dataloader.formats.wiki_source import sections
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

if TYPE_CHECKING:
    from mwparserfromhell.nodes import ExternalLink, Tag, Template, Wikilink
    from mwparserfromhell.wikicode import Wikicode

_PRIVATE: Final = dict.fromkeys(range(0xE000, 0xE010))
_FOR_WIKI = regex(r"__[A-Z]{3,30}__|~{3,5}|'{2,5}")  # __NOTOC__, a signature, and what makes words bold up to nowhere
_CAPTION = regex(r"^[ \t]*\|\+[ \t]*(?:[^|\[\]{}\n]*=[^|\[\]{}\n]*\|(?!\|))?([^\n]*)$", re.MULTILINE)
_NAMESPACE = regex(r"\s*(:?)\s*([^\W\d][\w -]{0,30}?)\s*:(?=\s*\S)")
_FILES: Final = frozenset(
    "file image media datei bild fichier archivo imagen ficheiro immagine bestand afbeelding plik файл".split()
)
_CATEGORIES: Final = frozenset(
    "category kategorie catégorie categoría categoria categorie kategoria категория 分类 カテゴリ".split()
)
#: How an image is shown, which is no caption.
_OPTION = regex(
    r"(?:thumb|thumbnail|mini|miniatur|frame|framed|frameless|border|left|right|center|centre|none|upright|baseline|"
    r"middle|top|bottom|\d*x?\d*\s*px)|(?:upright|alt|link|page|lang|class|thumb|thumbtime)\s*=.*",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGE = regex(r"[a-z]{2,3}(?:-[a-z]{2,10})?")
_PIPED = regex(r"^[^:|]*:|\s*\([^()]*\)$|,.*$")
_CODE: Final = frozenset(("pre", "source", "syntaxhighlight"))
_FORMULAS: Final = frozenset(("math", "chem", "ce"))
_SILENT: Final = frozenset(
    "includeonly timeline score imagemap templatedata templatestyles graph hiero inputbox categorytree img".split()
)
#: Elements that stand in a line, and those that hold blocks.
_IN_LINE: Final = frozenset("b i u s em strong code tt kbd var samp sub sup del ins mark abbr cite small big q".split())
_BLOCKS: Final = frozenset("div blockquote center ul ol dl li dd dt h1 h2 h3 h4 h5 h6".split())
_CELLS: Final = frozenset(("td", "th"))
_OF_TABLES: Final = frozenset(("table", "tr", "tbody", "thead", "tfoot", "caption"))
_TAG = regex(r"<[^<>]*>")
_WORDS = regex(r"[^\W\d_]+")
#: Pages, numbers and years of books.
_CITES = regex(r"\bpp?\.\s*\d|\bISBN\b|\bdoi:|\([12]\d{3}[a-z]?\)[.,:;]?\s|[,.]\s[12]\d{3}[.,]?\s*$")
#: A note with fewer words tells a source only.
_LEAST_PROSE: Final = 8
_DEEPEST: Final = 30


class Page:
    """Converts one page.

    Attributes:
        categories: The names of those that it is in.
        shown_title: How it wants to be called, empty if it does not say so.
    """

    def __init__(self, target: Callable[[str], str | None], collector: LinkCollector) -> None:
        """Prepare for a page.

        Args:
            target: Returns the address of the page of a name, ``None`` if it is not known.
            collector: Takes its links to other pages.
        """
        self.collector = collector
        self.categories: list[str] = []
        self.shown_title = ""
        self._target = target
        self._sources: list[str] = []  # what notes refer to
        self._depth = 0

    def html(self, source: str) -> str:
        """Return the page as HTML."""
        import mwparserfromhell

        parts: list[str] = []
        for section in sections(source.translate(_PRIVATE)):
            try:
                parts.append(self.blocks(mwparserfromhell.parse(_CAPTION.sub(r"\n<caption>\1</caption>\n", section))))
            except (RecursionError, mwparserfromhell.parser.ParserError):
                parts.append(f"<p>{escape(section)}</p>")
        return "".join([*parts, self._references()])

    def blocks(self, code: Wikicode) -> str:
        """Return what stands on lines of its own."""
        return blocks(self.line(code))

    def line(self, code: Wikicode) -> str:
        """Return words with what is marked among them; blocks and marks of items are in it as signs."""
        self._depth += 1
        try:
            return "".join(map(self._node, code.nodes)) if self._depth <= _DEEPEST else escape(str(code.strip_code()))
        finally:
            self._depth -= 1

    def words(self, code: Wikicode) -> str:
        """Return the words of a part of a page alone, in one line."""
        return " ".join(str(code.strip_code()).split())

    def _node(self, node: Any) -> str:
        kind = type(node).__name__
        if kind == "Text":
            return escape(_FOR_WIKI.sub("", str(node.value)), quote=False)
        if kind == "HTMLEntity":
            return escape(str(node.normalize() or ""), quote=False).translate(_PRIVATE)
        if kind == "Heading":
            return as_block(f"<h{node.level}>{self.line(node.title).strip()}</h{node.level}>")
        if kind == "Argument":
            return self.line(node.default) if node.default is not None else _code_of(str(node.name))
        found = {"Wikilink": self._link, "ExternalLink": self._address, "Template": self._template, "Tag": self._tag}
        return cast("Callable[[Any], str]", found[kind])(node) if kind in found else ""

    # -- links --------------------------------------------------------------------------------------------------------

    def _link(self, node: Wikilink) -> str:
        title, shown = self.words(node.title), node.text
        space = _NAMESPACE.match(title)
        if space is not None and not space[1]:
            name = space[2].lower()
            if name in _CATEGORIES:
                self.categories.append(" ".join(title[space.end() :].replace("_", " ").split()))
                return ""
            if name in _FILES:
                return self._caption(shown)
            if shown is None and _LANGUAGE.fullmatch(space[2]):
                return ""  # the same in another language
        title = title.removeprefix(":").strip()
        written = self.line(shown) if shown is not None else escape(title.lstrip("#"))
        if not written.strip():
            written = escape(_PIPED.sub("", title)) if shown is not None else ""
        name = title.partition("#")[0].strip()
        if name and (target := self._target(name)) is not None:
            self.collector.add_target(target, unescape(_TAG.sub("", flat(written))))
        return written

    def _caption(self, told: Wikicode | None) -> str:
        parts = [part.strip() for part in self.line(told).split("|")] if told is not None else []
        captions = [part for part in parts if part and not _OPTION.fullmatch(part)]
        is_apart = any(part in ("thumb", "thumbnail", "mini", "frame", "framed") for part in parts)
        return as_block(f"<p>{captions[-1]}</p>") if captions and is_apart else ""

    def _address(self, node: ExternalLink) -> str:
        url = str(node.url)
        return _anchor(url, self.line(node.title) if node.title else escape(url))

    # -- templates ----------------------------------------------------------------------------------------------------

    def _template(self, node: Template) -> str:
        name = wiki_templates.name_of(node)
        if name.startswith(("displaytitle:", "seitentitel:")):
            self.shown_title = self.words(node.name).partition(":")[2].strip()
            return ""
        if name in REFERENCES:
            return as_block(self._references())
        if name in NOTES and node.params:
            return self._note(node.params[0].value)
        return wiki_templates.shown(node, self)

    # -- elements -----------------------------------------------------------------------------------------------------

    def _tag(self, node: Tag) -> str:
        name, inside = str(node.tag).strip().lower(), node.contents
        if node.wiki_markup in ITEM_MARKS:
            return ITEM_MARKS[node.wiki_markup]
        if name == "br":
            return "<br>"
        if name == "references":
            return as_block(self._references())
        if inside is None or name in _SILENT:
            return ""
        if name == "ref":
            return self._note(inside)
        if name == "nowiki":
            return escape(str(inside), quote=False)
        if name in _FORMULAS:
            return escape(f"${' '.join(str(inside).split())}$", quote=False)
        if name in _CODE:
            return self._code(node, str(inside))
        if name == "gallery":
            return self._gallery(str(inside))
        if name == "poem":
            return as_block(f"<p>{self.line(inside).strip().replace(chr(10), '<br>')}</p>")
        return self._element(node, name, inside)

    def _element(self, node: Tag, name: str, inside: Wikicode) -> str:
        if name in _CELLS:
            spans = "".join(
                f' {key}="{escape(value)}"' for key in ("rowspan", "colspan") if (value := _value(node, key))
            )
            return f"<{name}{spans}>{blocks(self.line(inside), in_cell=True)}</{name}>"
        if name in _OF_TABLES:
            parts = [made for node in inside.nodes if (made := self._part_of_table(node))]
            if name == "table":
                return as_block(f"<table>{''.join(_rowed(parts))}</table>")
            return f"<{name}>{''.join(parts)}</{name}>"
        if name in _IN_LINE:
            words = self.line(inside)
            return f"<{name}>{words}</{name}>" if words.strip() else words
        if name in _BLOCKS:
            return as_block(f"<{name}>{blocks(self.line(inside), in_cell=name in ('li', 'dt', 'dd'))}</{name}>")
        return self.line(inside)

    def _part_of_table(self, node: Any) -> str:
        name = str(node.tag).strip().lower() if type(node).__name__ == "Tag" else ""
        if name == "caption":
            return f"<caption>{self.line(node.contents).strip()}</caption>"
        return self._tag(node) if name in _CELLS | _OF_TABLES else ""

    def _code(self, node: Tag, text: str) -> str:
        if _value(node, "inline") or _value(node, "enclose") == "none":
            return f"<code>{escape(text, quote=False)}</code>"
        language = _value(node, "lang")
        return _block_of_code(text, f' class="language-{escape(language)}"' if language else "")

    def _gallery(self, text: str) -> str:
        import mwparserfromhell

        captions = (line.partition("|")[2].strip() for line in text.splitlines() if "|" in line)
        return as_block("".join(f"<p>{self.line(mwparserfromhell.parse(words))}</p>" for words in captions if words))

    # -- notes --------------------------------------------------------------------------------------------------------

    def _note(self, inside: Wikicode) -> str:
        """Keep a note for the end if it tells a source; what explains is read where it belongs."""
        words = flat(self.line(inside))
        cites = any(wiki_templates.is_source(node) for node in inside.filter_templates(recursive=False))
        own = " ".join(str(node) for node in inside.nodes if type(node).__name__ != "ExternalLink")
        cites = cites or _CITES.search(own) is not None
        if not cites and len(_WORDS.findall(own)) >= _LEAST_PROSE:
            return f"{NOTE}{words}{NOTE}"
        if words:
            self._sources.append(words)
        return ""

    def _references(self) -> str:
        listed = "".join(f"<li>{words}</li>" for words in dict.fromkeys(self._sources))
        self._sources.clear()
        return f"<ol>{listed}</ol>" if listed else ""


def _rowed(parts: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a table, with the cells before its first row in one."""
    for is_cell, group in groupby(parts, lambda part: part.startswith(("<td", "<th>", "<th "))):
        joined = "".join(group)
        yield f"<tr>{joined}</tr>" if is_cell else joined


def _code_of(text: str) -> str:
    """Return what other wikis have in three braces; in a page of MediaWiki, nobody gives it a value."""
    return _block_of_code(text) if "\n" in text else f"<code>{escape(text, quote=False)}</code>"


def _block_of_code(text: str, kind: str = "") -> str:
    return as_block(f"<pre><code{kind}>{escape(text.strip(chr(10)), quote=False)}</code></pre>")


def _anchor(target: str, words: str) -> str:
    return f'<a href="{escape(target)}">{words}</a>'


def _value(node: Tag, name: str) -> str:
    return str(node.get(name).value or name).strip() if node.has(name) else ""
