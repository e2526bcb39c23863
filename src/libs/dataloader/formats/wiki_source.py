"""The parts of a page of MediaWiki, each with what it leaves open taken out: that costs a parser the square of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape

from libs.regexes import regex

_MOST_OPEN = 50
_RAW = "nowiki|pre|source|syntaxhighlight|math|chem|timeline|score|templatedata|graph|gallery|hiero|imagemap"
_TOKEN = regex(
    rf"<!--.*?-->|<({_RAW})\b[^<>]*(?<!/)>.*?</\1\s*>"
    r"|<(?P<ends>/?)(?P<tag>[A-Za-z][A-Za-z0-9]{0,20})\b[^<>]*?(?P<whole>/?)>"
    r"|(?P<sign>\{\{|\}\}|\[\[|\]\]|^[ \t]*\{\||^[ \t]*\|\}|\[(?=\w{3,10}:|//)|\])"
    r"|(?P<heading>^={1,6}[^=\n][^\n]*=[ \t]*$)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_RAW_TAG = regex(rf"<({_RAW})\b[^<>]*>", re.IGNORECASE)
_INDENTED_TABLE = regex(r"^[ \t]*:[ \t:]*\{\|", re.MULTILINE)
_ADDRESS = regex(r"\[\[(https?://[^\s\[\]|]{1,2000})[ |]?([^\[\]\n]{0,500})\]\]")  # as for a page of the wiki
_ENDS = {"}}": "{{", "]]": "[[", "]": "[", "|}": "{|"}
#: Elements that need no end, and those that look different only.
_OPEN = frozenset("br hr wbr img li dd dt td th tr references".split())
_LOOKS = frozenset("b i u s big small tt font span center div p strong em code".split())


def sections(source: str) -> Iterator[str]:
    """Yield the parts of a page, each from one heading to the next; what is opened often and not closed is escaped.

    A comment, code or a table may have lines that look like headings.
    """
    source = _ADDRESS.sub(r"[\1 \2]", _INDENTED_TABLE.sub("{|", _without_endless(source)))
    depth: Counter[str] = Counter()
    deepest: Counter[str] = Counter()
    starts = [0]
    for match in _TOKEN.finditer(source):
        if match["heading"] is not None:
            if not any(depth[kind] for kind in ("{{", "{|")):
                starts.append(match.start())
            continue
        kind, ends = _kind_of(match)
        if ends:
            depth[kind] -= depth[kind] > 0
        elif kind and kind not in _OPEN and not match["whole"]:
            depth[kind] += 1
            deepest[kind] = max(deepest[kind], depth[kind])
    never = {kind for kind, most in deepest.items() if most > _MOST_OPEN}
    for start, end in zip(starts, [*starts[1:], len(source)], strict=True):
        part = source[start:end]
        yield _escaped(part, never) if never else part


def _kind_of(match: re.Match[str]) -> tuple[str, bool]:
    """Return what a token opens or ends, and whether it ends that; empty if it is neither."""
    if match["tag"]:
        return match["tag"].lower(), bool(match["ends"])
    sign = (match["sign"] or "").strip()
    return _ENDS.get(sign, sign), sign in _ENDS


def _without_endless(source: str) -> str:
    """Return a page without a comment that does not end; what begins code that does not end is escaped."""
    comment = source.find("<!--", source.rfind("-->") + 1)
    source = source[:comment] if comment >= 0 else source
    lowered = source.lower()
    last = {name: lowered.rfind(f"</{name}") for name in _RAW.split("|")}
    return _RAW_TAG.sub(lambda tag: tag[0] if tag.end() <= last[tag[1].lower()] else escape(tag[0]), source)


def _escaped(part: str, kinds: set[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        kind, ends = _kind_of(match)
        if kind not in kinds or (ends and not match["tag"]):
            return match[0]
        if kind in _LOOKS:
            return "\n\n" if kind in ("p", "div", "center") else ""
        return escape(match[0]) if match["tag"] else "".join(f"&#{ord(sign)};" for sign in match[0])

    return _TOKEN.sub(shown, part)
