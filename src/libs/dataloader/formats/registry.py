"""Chooses the reader for a file, by its extension or by its content."""

from __future__ import annotations

import re
from typing import NamedTuple

from libs.dataloader.encodings import bom_encoding, is_mostly_text
from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.binary_kinds import binary_kind, top_names
from libs.dataloader.formats.compound import SIGNATURE as OLE
from libs.dataloader.formats.languages import LANGUAGE_MIME, LANGUAGES
from libs.regexes import regex


class Format(NamedTuple):
    """A file format.

    Attributes:
        reader: Name of the module of this package whose ``read`` converts it.
        mime_type: Its media type.
        language: The programming language of source code; empty for other formats.
    """

    reader: str
    mime_type: str
    language: str = ""


TEXT = Format("text", "text/plain")
MARKDOWN = Format("markdown", "text/markdown")
HTML = Format("page", "text/html")
PDF = Format("pdf", "application/pdf")
RTF = Format("rtf", "application/rtf")
JSON = Format("json_data", "application/json")
JSONL = Format("json_data", "application/jsonl")
WIKI = Format("wiki", "text/x-wiki")
ASCIIDOC = Format("asciidoc", "text/asciidoc")
EML = Format("mail", "message/rfc822")
MBOX = Format("mail", "application/mbox")
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
DOCX = Format("word", _OPEN_XML + "wordprocessingml.document")
PPTX = Format("slides", _OPEN_XML + "presentationml.presentation")
XLSX = Format("workbook", _OPEN_XML + "spreadsheetml.sheet")
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
ODT = Format("odt", _OPEN_DOCUMENT + "text")
ODS = Format("ods", _OPEN_DOCUMENT + "spreadsheet")
ODP = Format("odp", _OPEN_DOCUMENT + "presentation")
XLS = Format("xls", "application/vnd.ms-excel")
CSV = Format("delimited", "text/csv")
MANUAL = Format("manual", "text/troff")
MDOC = Format("mdoc", "text/troff")
EPUB = Format("epub", "application/epub+zip")
ARTICLE = Format("article", "application/xml", "xml")
XML = Format("xml_data", "application/xml", "xml")
RIS = Format("bibliography", "application/x-research-info-systems")

FORMATS: dict[str, Format] = {
    **dict.fromkeys((".txt", ".text", ".log", ".asc"), TEXT),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"), MARKDOWN),
    **dict.fromkeys((".adoc", ".asciidoc"), ASCIIDOC),
    **dict.fromkeys((".mediawiki", ".wikitext", ".wiki"), WIKI),
    ".org": Format("org", "text/x-org"),
    **dict.fromkeys((".tex", ".ltx", ".latex"), Format("latex", "text/x-tex")),
    **dict.fromkeys((".rst", ".rest"), Format("rst", "text/x-rst")),
    **dict.fromkeys((".html", ".htm", ".xhtml", ".shtml"), HTML),
    ".pdf": PDF,
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), DOCX),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"), PPTX),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), XLSX),
    **dict.fromkeys((".xls", ".xlt"), XLS),
    **dict.fromkeys((".odt", ".ott", ".fodt"), ODT),
    **dict.fromkeys((".ods", ".ots", ".fods"), ODS),
    **dict.fromkeys((".odp", ".otp", ".fodp"), ODP),
    ".rtf": RTF,
    ".epub": EPUB,
    **dict.fromkeys((".eml", ".mht", ".mhtml"), EML),
    ".mbox": MBOX,
    ".csv": CSV,
    **dict.fromkeys((".tsv", ".tab"), Format("delimited", "text/tab-separated-values")),
    **dict.fromkeys((".xml", ".nxml", ".dbk", ".docbook", ".rss", ".atom", ".opml"), XML),
    **dict.fromkeys((".gpx", ".kml", ".xlf", ".xliff", ".tmx"), XML),
    **dict.fromkeys((".json", ".geojson", ".jsonld", ".webmanifest"), JSON),
    **dict.fromkeys((".jsonl", ".ndjson", ".ldjson"), JSONL),
    **dict.fromkeys((".ics", ".ical", ".ifb", ".vcs"), Format("calendar", "text/calendar")),
    ".vcf": Format("calendar", "text/vcard"),
    ".bib": Format("bibliography", "application/x-bibtex"),
    ".ris": RIS,
    ".enex": Format("evernote", "application/enex+xml"),
    ".srt": Format("subtitles", "application/x-subrip"),
    ".vtt": Format("subtitles", "text/vtt"),
    ".ipynb": Format("notebook", "application/x-ipynb+json"),
}

#: Endings of files that are compressed as a whole; the ending before it tells the format.
COMPRESSED = frozenset((".gz", ".bz2", ".xz"))

FORMATS.update(
    (extension, Format("code", LANGUAGE_MIME.get(language, f"text/x-{language}"), language))
    for language, extensions in LANGUAGES.items()
    for extension in extensions.split()
)

_SAYS_NOTHING = frozenset(("text/plain", "application/octet-stream", "binary/octet-stream", "application/x-download"))
_MEDIA_TYPES = {
    **{kind.mime_type: kind for kind in reversed(FORMATS.values())},
    **{f"{kind.mime_type}-{form}": kind for kind in (ODT, ODS, ODP) for form in ("template", "flat-xml")},
    "application/xhtml+xml": HTML,
    "application/ld+json": JSON,
    "application/x-ndjson": JSONL,
    "application/jsonlines": JSONL,
    "text/x-markdown": MARKDOWN,
    "text/xml": XML,
    "text/json": JSON,
    "text/rtf": RTF,
    "application/x-pdf": PDF,
}
_NAMES: dict[str, Format] = {
    **dict.fromkeys(("makefile", "gnumakefile"), FORMATS[".mk"]),
    **dict.fromkeys(("dockerfile", "containerfile"), Format("code", "text/x-dockerfile", "dockerfile")),
    "cmakelists.txt": FORMATS[".cmake"],
    **dict.fromkeys(("gemfile", "rakefile", "vagrantfile"), FORMATS[".rb"]),
    "jenkinsfile": FORMATS[".groovy"],
    **dict.fromkeys(("robots.txt", "requirements.txt"), TEXT),
}


def named_format(name: str) -> Format | None:
    """Return the format that the name of a file stands for (``main.tf``, ``Dockerfile``); ``None`` if it is none.

    A file that others are made from has that of these: ``nginx.conf.j2``, ``settings.env.example``.
    """
    first, dot, last = name.lower().rpartition(".")
    known = _NAMES.get(name.lower()) or (FORMATS.get(dot + last) if dot else None)
    if known is None and last in _TEMPLATES and (made := named_format(first)) is not None and made.reader == "code":
        return made
    return known


#: Endings of files that are there to be copied, and of all that others are made from.
TO_COPY = frozenset(("example", "sample", "template", "dist"))
_TEMPLATES = TO_COPY | {"j2", "jinja", "jinja2", "tpl", "tmpl", "default"}

_ODF = b"mimetype" + _OPEN_DOCUMENT.encode()
_WORKBOOK_VERSIONS = (b"\x00", b"\x02", b"\x04", b"\x08")
_ODF_KINDS = ((b"text", ODT), (b"spreadsheet", ODS), (b"presentation", ODP))
_CONTAINERS = (DOCX, PPTX, XLSX, ODT, ODS, ODP, EPUB, XLS)
_LOOKED_AT = 4096
_IMAGES = frozenset((".svg", ".svgz"))
_HTML_START = regex(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_PREAMBLE = regex(rb"\xef\xbb\xbf|\s+|<\?xml[^>]*>|<!--(?:(?!-->).)*-->", re.DOTALL)
_MAIL_START = regex(rb"(?:[A-Za-z][A-Za-z0-9-]*:[ \t][^\n]*\n(?:[ \t][^\n]*\n)*){2}")
_MBOX_START = regex(rb"From \S{1,500}[^\n]{0,100}\d\d:\d\d[^\n]{0,100}\n(?=[A-Za-z][A-Za-z0-9-]*:[ \t])")
# A manual page begins with requests, comments and macros of its own (``.PU``), before it says what it is.
_REQUESTS = regex(rb"\\\"|['.](?:\\\"|[a-z]{2}|[A-Za-z]{1,2}\s|[ \t]*\r?\n)")
_MANUAL_TITLE = regex(rb"^\.(?:TH[ \t]+\S|(Dd)\b)", re.MULTILINE)
_OTHER_PAGE = regex(rb"(?:(?:['.]?\\\"[^\n]*|\.?)\r?\n)*\.so[ \t]+\S+\s*")  # that is all of it
_BEFORE_TITLE = 20_000
# JATS, DocBook and TEI: by the first element, and by what tells one of these apart from others of the same name.
_FIRST_ELEMENT = regex(rb"<(?:[\w.-]+:)?([\w.-]+)")
_ARTICLES = frozenset(
    (b"article", b"book", b"part", b"chapter", b"appendix", b"preface", b"section", b"sect1", b"refentry", b"TEI")
)
_ARTICLE_SIGN = regex(
    rb"-//(?:NLM|OASIS)//DTD (?:JATS|Journal|DocBook)|https?://(?:docbook\.org/ns/docbook|www\.tei-c\.org/ns/1\.0)"
    rb"|\s(?:article-type|dtd-version)\s*="
)
_ARMOR = regex(rb"\s*-----BEGIN PGP ((?!SIGNED)[A-Z ]{1,40})-----")
_ASCIIDOC_LINE = regex(rb"^(?:={1,6}[ \t]+\S|\[(?:source|NOTE|TIP|\[[\w-]+\])[^\n]*\][ \t]*\r?$)", re.MULTILINE)
_MAIL_FIELDS = (
    *(b"from:", b"subject:", b"date:", b"message-id:", b"mime-version:"),
    *(b"return-path:", b"delivered-to:", b"received:"),  # what servers add, such as to the files of a Maildir
)
_ZIP_MEMBERS = (
    (b"word/document.xml", DOCX),
    (b"ppt/presentation.xml", PPTX),
    (b"xl/workbook.xml", XLSX),
)

_MARKDOWN_ENDINGS = tuple(ending for ending, found in FORMATS.items() if found == MARKDOWN)


def is_markdown(path: str, mime_type: str | None) -> bool:
    """Return whether a text is Markdown by its media type, or without one by the ending of its path."""
    if mime_type:
        return _MEDIA_TYPES.get(mime_type.partition(";")[0].strip().lower()) == MARKDOWN
    return path.lower().endswith(_MARKDOWN_ENDINGS)


def find_format(name: str, data: bytes, mime_type: str | None = None) -> Format:
    """Return the format of a file.

    An unambiguous beginning of the content decides first (a PDF called ``.txt`` is a PDF); then the media type that
    came with it, unless that says nothing (``text/plain``); then the file extension; then what the text looks like.

    Args:
        name: Name of the file.
        data: Its bytes.
        mime_type: Media type that came with it (in an HTTP header).

    Raises:
        UnreadableError: if it is of a kind that holds no text, naming the kind.
    """
    extension = name[name.rfind(".") :].lower() if "." in name.lstrip(".") else ""
    by_name = named_format(name)
    if (found := _by_signature(data, by_name)) is not None:
        return found
    found = _by_media_type(mime_type)
    if found == XLS:  # what Windows calls CSV files, too
        by_name = by_name or XLS
    elif found is not None:
        return ARTICLE if found == XML and _is_article(data) else found
    if extension in _IMAGES:
        raise UnreadableError("it is an image (SVG), which is not read")
    if by_name is not None:
        if by_name == XLS:
            return _so_called_workbook(data)
        if by_name in (DOCX, PPTX, XLSX) and is_html(data):
            return HTML  # what some programs call a Word or Excel file
        if by_name is TEXT and _MBOX_START.match(data):
            return MBOX  # as list servers call their archives
        if extension == ".asc":
            return _asc(data)
        return ARTICLE if by_name == XML and _is_article(data) else by_name
    return _by_text(data)


def _asc(data: bytes) -> Format:
    """Return the format of a file with an ending that stands for ASCII, and is also used for AsciiDoc and by PGP."""
    if (armor := _ARMOR.match(data)) is not None:
        raise UnreadableError(f"it is a PGP {armor[1].decode().lower()}")
    return ASCIIDOC if _ASCIIDOC_LINE.search(data) is not None else TEXT


def _so_called_workbook(data: bytes) -> Format:
    """Return the format of a file that is called an Excel workbook, as programs call tables of any kind."""
    if is_html(data):
        return HTML
    is_text = bom_encoding(data) is not None or is_mostly_text(data[:_LOOKED_AT])
    if (data[:1] == b"\x09" and data[1:2] in _WORKBOOK_VERSIONS) or not is_text:
        return XLS
    if data[:13].lower() == b"mime-version:":
        return EML  # a page with its images
    return XML if data.lstrip().startswith(b"<?xml") else CSV


def is_html(data: bytes) -> bool:
    """Return whether bytes begin like an HTML page: with its first tags, after comments and the like."""
    head = data[:4096]
    position = 0
    while match := _PREAMBLE.match(head, position):
        position = match.end()
    return _HTML_START.match(head, position) is not None


def _is_article(data: bytes) -> bool:
    head = data[:_LOOKED_AT]
    first = _FIRST_ELEMENT.search(head)
    return first is not None and first[1] in _ARTICLES and _ARTICLE_SIGN.search(head) is not None


def _by_media_type(mime_type: str | None) -> Format | None:
    name = (mime_type or "").partition(";")[0].strip().lower()
    if not name or name in _SAYS_NOTHING:
        return None
    if name == "image/svg+xml":
        raise UnreadableError("it is an image (SVG), which is not read")
    if name in _MEDIA_TYPES:
        return _MEDIA_TYPES[name]
    return JSON if name.endswith("+json") else XML if name.endswith("+xml") else None


def _by_signature(data: bytes, by_name: Format | None) -> Format | None:
    if data.startswith(b"%PDF-") or (by_name is not PDF and b"%PDF-1." in data[:16]):
        return PDF
    if data.startswith(b"{\\rtf"):
        return RTF
    if data.startswith(OLE):
        names = top_names(data)
        if "workbook" in names or "book" in names:
            return XLS
        if "encryptedpackage" in names:
            raise UnreadableError("it is encrypted (a password is needed)")
        if by_name == XLS and names:
            raise UnreadableError(f"it is {binary_kind(data)}")
    if data.startswith(b"PK\x03\x04"):
        if b"mimetypeapplication/epub+zip" in data[:100]:
            return EPUB
        for name, kind in _ODF_KINDS:
            if _ODF + name in data[:120]:
                return kind
        found = [kind for member, kind in _ZIP_MEMBERS if member in data]
        if by_name in found or (by_name in _CONTAINERS and not found):
            return by_name
        if found:
            return found[0]
    elif by_name is PDF or by_name in _CONTAINERS or is_mostly_text(data[:_LOOKED_AT]):
        return None  # readers know best what is wrong with it, and texts may begin with BM, too
    # What it is told here for: a short one (a favicon, an image of one pixel) may look like UTF-16.
    if (kind_of_binary := binary_kind(data)) is not None:
        raise UnreadableError(f"it is {kind_of_binary}")
    return None


def _by_text(data: bytes) -> Format:
    if bom_encoding(data) is None and is_html(data):
        return HTML
    start = data[:4096].lstrip()
    if start[:1] in (b"{", b"["):
        return JSON if _is_json(data) else TEXT
    if _MBOX_START.match(start):
        return MBOX
    if _MAIL_START.match(data[:8192]) is not None:
        head = data[:8192].lower()
        if sum(head.startswith(field) or b"\n" + field in head for field in _MAIL_FIELDS) >= 3:
            return EML
    if _REQUESTS.match(start) and (title := _MANUAL_TITLE.search(data[:_BEFORE_TITLE])) is not None:
        return MDOC if title[1] else MANUAL
    if len(data) <= _BEFORE_TITLE and _OTHER_PAGE.fullmatch(start):
        return MANUAL
    if start.startswith(b"#!"):
        line = start.split(b"\n", 1)[0]
        for word, extension in (
            (b"python", ".py"),
            (b"sh", ".sh"),
            (b"node", ".js"),
            (b"perl", ".pl"),
            (b"ruby", ".rb"),
        ):
            if word in line:
                return FORMATS[extension]
    if start.startswith(b"<?xml"):
        return ARTICLE if _is_article(data) else XML
    return TEXT


def _is_json(data: bytes) -> bool:
    import json

    if len(data) > 5_000_000:
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
