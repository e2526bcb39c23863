"""Reads HTML pages: title, main text as Markdown, links, and metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libs.dataloader.crawl.urls import origin
from libs.dataloader.encodings import bom_encoding, decode_bytes
from libs.dataloader.links import LinkCollector, resolve_base, resolve_link
from libs.dataloader.text import clean_text
from libs.dataloader.types import Link
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

#: Characters of text that make a page that refreshes to another one a page of its own.
LONG_ENOUGH = 200

#: Why a page is not read that has no text.
NO_TEXT = "it has no text (a page that is built by scripts in the browser has none)"

_META_CHARSET = regex(rb"""<meta[^>]{0,500}?charset\s*=\s*(?:["']\s*)?([A-Za-z0-9_:.\-]+)""", re.IGNORECASE)
_XML_DECLARATION = regex(r"^\s*<\?xml[^>]*\?>")
_REFRESH = regex(r"""^\s*\d+(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*["']?(.*?)["']?\s*$""", re.IGNORECASE)
_SCRIPT = regex(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = regex(r"</?([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*)?/?>")
_NOFRAMES = regex(r"</?noframes\b[^<>]*>", re.IGNORECASE)
_FLAT = frozenset("h1 h2 h3 h4 h5 h6 a br title meta link base head".split())
_META_KEYS = {
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "description": "description",
    "og:description": "description",
    "dc.description": "description",
    "keywords": "keywords",
    "article:published_time": "created",
    "datepublished": "created",
    "dc.date": "created",
    "date": "created",
    "article:modified_time": "modified",
    "og:updated_time": "modified",
    "last-modified": "modified",
    "datemodified": "modified",
    "og:site_name": "site_name",
}
_OF_HEAD = frozenset("base basefont bgsound link meta noscript object script style template title".split())
_TITLE_KEYS = ("og:title", "twitter:title", "dc.title")
_MAX_META_CHARS = 1000
_MAX_AUTHORS = 100
_NEIGHBOURS = frozenset(("next", "prev", "previous"))
_RELATIONS = _NEIGHBOURS | {"canonical", "alternate"}
_PAGE_TYPES = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The text and data of a page.

    Attributes:
        title: ``<title>``, without the name of the site if this is clear from the page's heading; else the page's
            title for social networks, else its first heading.
        markdown: The main text.
        links: Links in the main text, absolute, each target once.
        page_links: All links of the page, navigation and frames included, except those marked ``rel=nofollow``, also to
            the page itself; then those of its head to the pages before and after it and to the same page in other
            languages.
        frames: URLs of its frames (not ``iframe``), absolute.
        canonical: Its canonical URL (``rel=canonical``), absolute.
        refresh: Where the page redirects to (``http-equiv=refresh``), absolute.
        noscript_refresh: The same for readers without scripts (in ``noscript``); others see the page itself.
        robots: Words of its robots meta tag, lower case, such as ``noindex`` and ``nofollow``.
        metadata: ``author``, ``description``, ``keywords``, ``language``, ``created``, ``modified``, ``site_name``,
            those that exist.
        encoding: The encoding that bytes were read in; ``None`` for a string.
        repeats_others: Whether it holds what other pages of its site hold: all of them in one, for printing.
    """

    title: str | None
    markdown: str
    links: tuple[Link, ...] = ()
    page_links: tuple[Link, ...] = ()
    frames: tuple[str, ...] = ()
    canonical: str | None = None
    refresh: str | None = None
    noscript_refresh: str | None = None
    robots: frozenset[str] = frozenset()
    metadata: dict[str, Any] = field(default_factory=dict)
    encoding: str | None = None
    repeats_others: bool = False


def html_to_document(
    html: str | bytes,
    base_url: str | None = None,
    *,
    encoding: str | None = None,
    root_url: str | None = None,
    whole_page: bool = False,
) -> HtmlPage:
    """Convert a page. Malformed HTML is read as a browser would, as far as possible; nothing is fetched.

    Args:
        html: The page; bytes are decoded by byte order mark, meta tag or what they look like.
        base_url: URL or ``file://`` URI of the page, for relative links.
        encoding: Charset of the bytes from an HTTP header; it takes precedence over the meta tag.
        root_url: ``file://`` URI of the folder that links beginning with ``/`` start from, for local files.
        whole_page: Keep navigation, headers and footers (for pages that are known to hold text only).

    Returns:
        The page's text and data. An empty page gives empty Markdown.
    """
    used: str | None = None
    if isinstance(html, bytes):
        html, used = _decode(html, encoding)
    html = _XML_DECLARATION.sub("", clean_text(html), count=1)
    tree = parse(html)
    if tree is None:
        return HtmlPage(None, "", encoding=used)

    from libs.dataloader.html_content import main_content
    from libs.dataloader.html_described import describe
    from libs.dataloader.html_generators import as_plain_html
    from libs.dataloader.html_markdown import html_to_markdown
    from libs.dataloader.html_notation import write_notation
    from libs.dataloader.html_panels import head_panels, unwrap_titles
    from libs.dataloader.html_prints import repeats_others
    from libs.dataloader.html_sheets import join_sheets
    from libs.dataloader.html_titles import heading_of_title, join_subtitles, put_heading, without_site

    unwrap_titles(tree)
    head_panels(tree)
    join_subtitles(tree)
    told = next((href for node in tree.iter("base") if (href := node.get("href"))), None)
    base = resolve_base(told, base_url, root_url) if told else base_url
    page_links = _links(tree, base, root_url, follow_only=True)
    canonical, relatives = _relatives(tree, base, root_url)
    write_notation(tree)
    as_plain_html(tree)  # what it drops are links all the same
    meta = _meta(tree)
    robots = frozenset(word for word in re.split(r"[\s,]+", meta.get("robots", "").lower()) if word)
    repeats = repeats_others(base_url or "", html, tree, robots)
    targets = [refresh_target(meta.get(name, "")) for name in ("http-equiv:refresh", "noscript:refresh")]
    refresh, in_noscript = (resolve_link(target, base, root_url) if target else None for target in targets)
    heading = _first_heading(tree)
    body = tree.find("body")
    body = tree if body is None else body
    running = join_sheets(body)
    title, site = _title(tree, meta), None
    if running and " " not in (title or ""):  # none, or a code: aapl-20250927
        title = running
    above = heading_of_title(tree, title)
    content = body if whole_page else main_content(body)
    if title and not whole_page:
        put_heading(content, above, title)
        title, site = without_site(title, content)
    describe(content)
    metadata = _metadata(tree, meta)
    if site and "site_name" not in metadata:
        metadata["site_name"] = site[:_MAX_META_CHARS]
    return HtmlPage(
        title=title or heading,
        markdown=html_to_markdown(content),
        # With a base elsewhere it is not known before which links lead to the page itself.
        links=tuple(link for link in _links(content, base, root_url) if link.target != base_url),
        page_links=(*page_links, *relatives),
        frames=tuple(
            link for node in tree.iter("frame") if (link := resolve_link(node.get("src", ""), base, root_url))
        ),
        canonical=canonical,
        refresh=refresh,
        noscript_refresh=in_noscript,
        robots=robots,
        metadata=metadata,
        encoding=used,
        repeats_others=repeats,
    )


def refresh_target(value: str) -> str | None:
    """Return the target of ``Refresh: 0; url=…`` as written, from a header or the equivalent tag of a page."""
    found = _REFRESH.match(" ".join(value.split()))  # a run of blanks would take the square of its length
    return found[1] or None if found else None


def _decode(data: bytes, encoding: str | None) -> tuple[str, str]:
    declared = encoding
    if declared is None and bom_encoding(data) is None and (match := _META_CHARSET.search(data, 0, 4096)):
        declared = match[1].decode("ascii", "replace")
        if declared.lower().startswith("utf-16"):  # it cannot be, or the tag would not have been readable
            declared = "utf-8"
    text, used = decode_bytes(data, declared=declared)
    return text, used


def parse(html: str) -> HtmlElement | None:
    """Return the tree of a page, as a browser would read it; ``None`` if it has nothing but comments."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    if not html.strip():
        return None
    html = _NOFRAMES.sub("", html)  # what is inside would be taken for text, tags and all

    def parser_of_pages() -> HTMLParser:
        # Without huge_tree the rest of a page that nests deeper than 256 levels would be dropped silently. To walk over
        # comments in a row takes lxml the square of their number.
        return HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True, remove_pis=True)

    parser = parser_of_pages()
    try:
        tree = document_fromstring(html.encode("utf-8"), parser=parser, ensure_head_body=False)
        if any("depth" in entry.message for entry in parser.error_log.filter_from_fatals()):  # 2,048 levels
            flattened = _flattened(html).encode("utf-8")
            tree = document_fromstring(flattened, parser=parser_of_pages(), ensure_head_body=False)
    except etree.ParserError:  # nothing but comments
        return None
    _begin_body(tree)
    return tree


def _begin_body(tree: HtmlElement) -> None:
    """Move what is no part of a head into the body, as browsers do.

    Where the tags of head and body are left out, as they may be, the parser only begins the body at an element of
    HTML 4: ``<title>x</title><main>…`` is a head with a ``main`` in it.
    """
    from lxml import etree

    head = tree.find("head")
    first = next((node for node in head if node.tag not in _OF_HEAD), None) if head is not None else None
    if first is None:
        return
    body = tree.find("body")
    if body is None:
        body = etree.SubElement(tree, "body")
    moved = [first, *first.itersiblings()]
    moved[-1].tail, body.text = (moved[-1].tail or "") + (body.text or ""), None
    body[:0] = moved


def _flattened(html: str) -> str:
    """Return the page with everything that can nest replaced by paragraphs."""
    html = _SCRIPT.sub(" ", html)
    return _TAG.sub(lambda tag: tag[0] if tag[1].lower() in _FLAT else "<p>", html)


def _relatives(tree: HtmlElement, base: str | None, root_url: str | None) -> tuple[str | None, tuple[Link, ...]]:
    """Return the canonical URL that the head of a page names, and the pages that it leads to, each once."""
    canonical = None
    relatives: dict[str, Link] = {}
    for node in tree.iter("link"):
        words = frozenset(node.get("rel", "").lower().split())
        target = resolve_link(node.get("href", ""), base, root_url) if words & _RELATIONS else None
        if target is not None and _leads_to_a_page(node, words):
            relatives[target] = Link(target)
        if canonical is None and "canonical" in words:
            canonical = target
    return canonical, tuple(relatives.values())


def _leads_to_a_page(node: HtmlElement, words: frozenset[str]) -> bool:
    """Return whether a ``<link>`` with these words leads to another page (not, for example, to a feed)."""
    if "nofollow" in words or "stylesheet" in words or node.get("type", "text/html") not in _PAGE_TYPES:
        return False
    return bool(words & _NEIGHBOURS) or ("alternate" in words and bool(node.get("hreflang")))


def _meta(tree: HtmlElement) -> dict[str, str]:
    meta: dict[str, str] = {}
    for node in tree.iter("meta"):
        name = (node.get("name") or node.get("property") or node.get("itemprop") or "").strip().lower()
        if not name and node.get("http-equiv"):
            name = "http-equiv:" + node.get("http-equiv", "").strip().lower()
            if name == "http-equiv:refresh" and next(node.iterancestors("noscript"), None) is not None:
                name = "noscript:refresh"
        content = " ".join(node.get("content", "").split())
        if name and content:
            if name == "robots" and name in meta:
                meta[name] += "," + content
            meta.setdefault(name, content)
    return meta


def _title(tree: HtmlElement, meta: dict[str, str]) -> str | None:
    for node in tree.iter("title"):
        parent = node.getparent()
        if parent is not None and parent.tag in ("head", "html", "body"):
            title = " ".join("".join(node.itertext()).split())
            if title:
                return title
    return next((meta[key] for key in _TITLE_KEYS if key in meta), None)


def _first_heading(tree: HtmlElement) -> str | None:
    from libs.dataloader.html_text import inline_text

    for level in ("h1", "h2"):
        for node in tree.iter(level):
            if text := inline_text(node).rstrip(" ¶#"):
                return text
    return None


def _metadata(tree: HtmlElement, meta: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, key in _META_KEYS.items():
        if name in meta and key not in found and not meta[name].startswith(("http://", "https://")):
            found[key] = meta[name][:_MAX_META_CHARS]
            if key == "author" and len(others := _all_of(tree, name)) > 1:
                found[key] = others
    root = tree.getroottree().getroot()
    if language := (root.get("lang") or root.get("xml:lang") or meta.get("http-equiv:content-language", "")).strip():
        found["language"] = language[:35]
    return found


def _all_of(tree: HtmlElement, name: str) -> list[str]:
    """Return the different values of a meta tag that a page has several times."""
    nodes = (node for node in tree.iter("meta") if (node.get("name") or node.get("property") or "").lower() == name)
    values = (" ".join(node.get("content", "").split())[:_MAX_META_CHARS] for node in nodes)
    return list(dict.fromkeys(filter(None, values)))[:_MAX_AUTHORS]


def _links(
    root: HtmlElement, base: str | None, site_root: str | None, *, follow_only: bool = False
) -> tuple[Link, ...]:
    from libs.dataloader.html_text import inline_text

    collector = LinkCollector(base, site_root, to_itself=follow_only)
    for node in root.iter("a", "area", "frame", "iframe"):
        href = node.get("href" if node.tag in ("a", "area") else "src")
        if node.tag == "iframe" and href and origin(resolve_link(href, base, site_root) or "") != origin(base or ""):
            continue  # a video, a map or an advertisement of others
        if href and not (follow_only and "nofollow" in node.get("rel", "").lower().split()):
            collector.add(href, inline_text(node) or node.get("title", "") or node.get("alt", ""))
    return collector.links()
