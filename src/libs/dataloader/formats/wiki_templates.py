"""What the templates of a page of MediaWiki say: without the wiki, only their names and values are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from libs.dataloader.formats.wiki_lines import as_block, blocks, flat
from libs.dataloader.formats.wiki_names import (
    AUTHORS,
    CODES,
    DATES,
    FIRST,
    FOR_LOOKS,
    GIVEN,
    LAST,
    LINKS,
    LISTS,
    LOOK,
    MEASURES,
    SIGNS,
    SILENT,
    SOURCE,
    SURNAMES,
    TELLING,
    TITLES,
    WHEN,
    WHERE,
)
from libs.regexes import regex

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Template
    from mwparserfromhell.nodes.extras import Parameter
    from mwparserfromhell.wikicode import Wikicode


_NUMBER = regex(r"\d+")


class _Lines(Protocol):
    def line(self, code: Wikicode) -> str:
        """Return words with what is marked among them."""


def name_of(node: Template) -> str:
    """Return the name of a template, however it is written."""
    name = " ".join(str(node.name.strip_code()).replace("_", " ").split()).lower()
    return name.removeprefix("template:").removeprefix("vorlage:").removeprefix("safesubst:").removeprefix("subst:")


def is_source(node: Template) -> bool:
    """Return whether a template tells where something is from."""
    return SOURCE.match(name_of(node)) is not None


def shown(node: Template, page: _Lines) -> str:
    """Return what a template shows, as far as its values tell it; nothing if these are for editors and programs."""
    name = name_of(node)
    if name in SIGNS:
        return escape(SIGNS[name], quote=False)
    if name in SILENT or name.startswith(("#", "defaultsort", "pp-", "ipa-")):
        return ""
    values = [(_key(param), param) for param in node.params]
    words = [text for key, param in values if _NUMBER.fullmatch(key) and (text := page.line(param.value).strip())]
    named = {key: param for key, param in values if not _NUMBER.fullmatch(key)}
    if SOURCE.match(name) and named:
        address = str(named["url"].value).strip() if "url" in named else ""
        return _source({key: flat(page.line(param.value)) for key, param in named.items()}, address)
    if name in LISTS:
        return _list(words)
    if name in LINKS:
        return as_block(f"<p>{LINKS[name]}: {', '.join(map(flat, words))}</p>") if words else ""
    if name in DATES:
        return flat("-".join(word.zfill(2) for word in words[:3] if _NUMBER.fullmatch(word)) or " ".join(words))
    if not words or len(named) > len(words) + 1:
        return _fields(named, page)
    return _of_words(name, words)


def _key(param: Parameter) -> str:
    return " ".join(str(param.name.strip_code()).split()).lower()


def _of_words(name: str, words: list[str]) -> str:
    if name in CODES:
        return f"<code>{words[-1]}</code>" if "\n" not in words[-1] else as_block(f"<pre>{words[-1]}</pre>")
    if name in MEASURES:
        return " ".join(words[:2])
    if name in ("frac", "sfrac", "fraction"):
        return "/".join(words[-2:]) if len(words) < 3 else f"{words[0]} {words[1]}/{words[2]}"
    if name in ("circa", "c.", "ca", "c"):
        return f"c. {' '.join(words)}"
    if name in ("sup", "sub"):
        return f"<{name}>{words[0]}</{name}>"
    if name in ("isbn", "issn", "doi"):
        return f"{name.upper()} {words[0]}"
    if name in LAST or name.startswith("lang-"):
        return words[-1]
    return words[0] if name in FIRST else " ".join(words)


def _list(words: Sequence[str]) -> str:
    if len(words) == 1 and (made := blocks(words[0])).startswith("<ul>"):
        return as_block(made)  # as in "plainlist"
    return as_block(f"<ul>{''.join(f'<li>{flat(text)}</li>' for text in words)}</ul>") if words else ""


def _fields(named: Mapping[str, Parameter], page: _Lines) -> str:
    """Return values with names, as boxes beside an article have them, as a table of two columns."""
    rows: list[tuple[str, str]] = []
    for key, param in named.items():
        if key and not FOR_LOOKS.fullmatch(key) and not LOOK.fullmatch(str(param.value).strip()):
            rows.append((key, blocks(page.line(param.value), in_cell=True).strip()))
    rows = [(key, value) for key, value in rows if value]
    if len(rows) < 2:
        said = next((value for key, value in rows if key in TELLING), "")
        return said if not said or "<" not in said else as_block(said)
    listed = "".join(f"<tr><th>{escape(key.replace('_', ' '))}</th><td>{value}</td></tr>" for key, value in rows)
    return as_block(f"<table>{listed}</table>")


def _source(told: Mapping[str, str], address: str) -> str:
    author = f"{_first_of(told, GIVEN)} {_first_of(told, SURNAMES)}".strip() or _first_of(told, AUTHORS)
    title = _first_of(told, TITLES)
    parts = (author, f"“{title}”" if title else "", _first_of(told, WHERE), _first_of(told, WHEN))
    line = ". ".join(filter(None, parts))
    return (
        f'<a href="{escape(address)}">{line}</a>' if address.startswith("http") and line and "<a" not in line else line
    )


def _first_of(told: Mapping[str, str], names: Iterable[str]) -> str:
    return next((told[name] for name in names if told.get(name)), "")
