"""The markup of AsciiDoc within a line: links, references, index terms, quotation marks and values."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from libs.dataloader.formats.markdown import trim_url
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

#: A value that is referred to; with a backslash it is none: ``/users/\{id}``.
_REFERENCE = regex(r"\\?\{([\w-]{1,100})\}")
_NAMES = "amp lt gt plus vbar asterisk tilde caret backtick startsb endsb apos quot ldquo rdquo lsquo rsquo deg brvbar"
_CHARACTERS = {
    **dict.fromkeys(("nbsp", "sp"), " "),
    **dict.fromkeys(("empty", "blank", "zwsp", "wj"), ""),
    **dict(zip(_NAMES.split(), "&<>+|*~^`[]'\"“”‘’°¦", strict=True)),
    "cpp": "C++",
}
_MOST_EXPANDED = 1_000_000  # characters that references to values may add to a text
#: Code, which may look like all else, comes as it is; so does what is in quotation marks, between these.
_MARKUP = regex(
    r"\"`(?P<double>[^\n]{1,500}?)`\"|(?<!\w)'`(?P<single>[^\n]{1,500}?)`'|(?P<code>`[^`\n]{1,1000}`)"
    r"|\(\(\([^()\n]{1,500}(?:\([^()\n]{0,100}\)[^()\n]{0,100})?\)\)\)|(?<!\()\(\((?P<term>[^()\n]{1,200})\)\)(?!\))"
    r"|\[\[[\w:.-]{1,200}(?:,[^\]\n]{0,200})?\]\]"
    r"|<<(?P<place>[^<>,\n]{1,500})(?:,[ \t]*(?P<name>[^<>\n]{0,500}))?>>"
    r"|\b(?P<shown>kbd|btn|footnote|indexterm2|pass|stem|latexmath|asciimath|menu):(?P<of>[\w ]{0,60})"
    r"\[(?P<inside>[^\[\]\n]{0,500})\]|\bindexterm:\[[^\[\]\n]{0,500}\]"
    r"|(?:(?P<macro>link|xref|image):{1,2}(?P<path>[^\s\[\]]{1,2000})|(?P<url>https?://[^\s\[\]<>]{1,2000}))"
    r"(?:\[(?P<words>[^\[\]\n]{0,500})\])?"
)
#: An attribute of a link or an image: ``The dam``, ``"The dam, from above"``, ``width=80``, ``alt="The dam"``.
_OF_LINK = regex(r"\s*(?:(?P<name>[\w-]+)=)?(?:\"(?P<quoted>[^\"]*)\"\s*(?=,|\Z)|(?P<plain>[^,]*))(?:,|\Z)")
#: What the line above a block, title or heading calls it: ``[[dam]]``, ``[#dam]``, ``[[dam,The dam]]``.
_ANCHOR = regex(
    r"^\[(?:\[(?P<old>[\w:.-]{1,200})(?:,[ \t]*(?P<words>[^\]\n]{1,200}))?\]|#(?P<new>[\w:-]{1,200})[^\]\n]{0,200})\]"
    r"[ \t]*\n"
    r"(?:\[[^\n]{0,200}\][ \t]*\n){0,3}(?:\.(?P<title>[^\s.][^\n]{0,300})|={1,6}[ \t]+(?P<heading>[^\n]{1,300}))?",
    re.MULTILINE,
)
_HEADING = regex(r"^={1,6}[ \t]++([^\n]{1,300}+)$", re.MULTILINE)
_OTHERS = regex(r"[^\w]+")


def anchors_of(text: str) -> dict[str, str]:
    """Return what references to places of a text are shown as, by the id of the place: its title."""
    headings = (heading[1].rstrip(" \t=") for heading in _HEADING.finditer(text))
    found = {"_" + _OTHERS.sub("_", words.lower()).strip("_"): words for words in headings}
    for anchor in _ANCHOR.finditer(text):
        if words := anchor["words"] or anchor["title"] or anchor["heading"]:
            found[anchor["old"] or anchor["new"]] = words.strip()
    return found


def _words(attributes: str) -> str:
    """Return the words of a link or an image: the first of its attributes, unless that has a name, or ``alt``."""
    words = ""
    for place, attribute in enumerate(_OF_LINK.finditer(attributes)):
        value = (attribute["quoted"] or attribute["plain"] or "").strip('"^ ')
        if attribute["name"] == "alt":
            return value
        if place == 0 and not attribute["name"]:
            words = value
    return words


class Inline:
    """Converts the markup within lines of a document."""

    def __init__(self, fields: Mapping[str, str], anchors: Mapping[str, str], collector: LinkCollector) -> None:
        """Prepare for a document.

        Args:
            fields: The values that it defines, as far as it has been read.
            anchors: The titles of its places; see :func:`anchors_of`.
            collector: Takes its links.
        """
        self._fields = fields
        self._anchors = anchors
        self._collector = collector
        self._room = _MOST_EXPANDED

    def read(self, line: str) -> str:
        """Return a line with its values, and without markup."""
        return self.plain(self.expanded(line))

    def expanded(self, line: str) -> str:
        """Return a line with the values that it refers to (``{version}``), as far as they are known."""
        return _REFERENCE.sub(self._value, line) if "{" in line else line

    def plain(self, line: str) -> str:
        """Return a line without markup; code and emphasis are those of Markdown."""
        return _MARKUP.sub(self._shown, line)

    def _value(self, reference: re.Match[str]) -> str:
        if reference[0][0] == "\\":
            return reference[0][1:]
        name = reference[1].lower()
        found = self._fields.get(name, _CHARACTERS.get(name))
        if found is None or len(found) > self._room:
            return reference[0]
        self._room -= len(found)
        return found

    def _shown(self, markup: re.Match[str]) -> str:
        if markup["code"]:
            return markup[0]
        if quoted := markup["double"]:
            return f"“{self.plain(quoted)}”"
        if quoted := markup["single"]:
            return f"‘{self.plain(quoted)}’"
        if markup["place"]:
            return markup["name"] or self._title_of(markup["place"])
        if markup["shown"]:
            return self._macro(markup["shown"], markup["of"], markup["inside"])
        if markup["path"] or markup["url"]:
            return self._link(markup)
        return markup["term"] or ""

    def _title_of(self, place: str) -> str:
        if place in self._anchors:
            return self._anchors[place]
        return place.rpartition("#")[2].strip("_").replace("_", " ") or place

    def _link(self, markup: re.Match[str]) -> str:
        words = _words(markup["words"] or "")
        if markup["macro"] == "image":
            # What programs fill in says nothing.
            return "" if words == posixpath.basename(markup["path"]) else words
        href: str = markup["path"] or markup["url"]
        if markup["url"] and markup["words"] is None:
            self._collector.add(trim_url(href))
            return href
        self._collector.add(href, words)
        return words or href

    @staticmethod
    def _macro(name: str, of: str, inside: str) -> str:
        if name == "menu":
            return " > ".join(part.strip() for part in (of, *inside.split(">")) if part.strip())
        return f" ({inside})" if name == "footnote" and inside else inside
