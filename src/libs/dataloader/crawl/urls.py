"""Normalises URLs, and tells what can be told from a URL alone."""

from __future__ import annotations

import ipaddress
import re
import socket
from functools import lru_cache
from urllib.parse import unquote, unquote_plus, urljoin

from libs.regexes import regex

MAX_URL_LENGTH = 2048
_LONGEST_LINK = 2 * MAX_URL_LENGTH
_LONGEST_HOST = 1000  # as written; the name itself has 253 characters at most

_DEFAULT_PORTS = {"http": "80", "https": "443"}
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_STRIPPED = "".join(map(chr, range(33)))  # C0 controls and the blank, as browsers strip them
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
_ASCII_HOST = regex(r"[a-z0-9_\-.]{1,253}")
_NUMERIC_LABEL = regex(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_TO_ESCAPE = regex(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")
_PATH_SESSION = regex(r";jsessionid=[^/;]*", re.IGNORECASE)
_INDEX_FILE = regex(r"/(?:index|default)\.[A-Za-z]{3,5}$", re.IGNORECASE)
_COOKIELESS_SESSION = regex(r"/\((?:[A-Z]\([A-Za-z0-9\-_]{16,}\))+\)(?=/|$)")

# Parameters that tell where a visitor came from or who it is, never which page is meant. A name that a site might use
# for content (ref, source, cid, sid, id …) is not among them.
_TRACKING = frozenset(
    """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl _gac fbclid fb_action_ids
    fb_action_types fb_ref fb_source igshid igsh msclkid mc_cid mc_eid yclid ysclid _openstat twclid ttclid li_fat_id
    epik rdt_cid tblci dicbo s_kwcid ef_id wickedid rb_clickid vero_id vero_conv mkt_tok oly_enc_id oly_anon_id
    _hsenc _hsmi __hssc __hstc __hsfp hsctatracking ml_subscriber ml_subscriber_hash _kx ck_subscriber_id cvid oicd
    pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content piwik_campaign piwik_kwd guccounter guce_referrer
    guce_referrer_sig trk_contact trk_msg trk_module trk_sid
    phpsessid jsessionid sessionid session_id cfid cftoken oscsid zenid
    """.split()
)
_TRACKING_PREFIXES = ("utm_", "mtm_", "matomo_", "hsa_", "itm_", "aspsessionid")

# Extensions of what is linked or embedded, but never a page with text that is read here.
_ASSETS = frozenset(
    """
    png jpg jpeg jpe gif svg svgz webp avif heic ico bmp tif tiff psd eps
    mjs cjs less scss tsx jsx wasm woff woff2 ttf otf eot
    mp3 m4a ogg oga opus wav flac aac mid midi mp4 m4v webm ogv avi mov mkv wmv flv mpg mpeg 3gp m3u8 vtt srt
    zip gz tgz bz2 tbz xz txz zst 7z rar tar jar war whl deb rpm apk dmg iso img pkg msi exe dll dylib pyc torrent
    doc docx dot dotx xls xlt xlsx xlsm xlsb ppt pptx pps ppsx epub mobi azw3 djvu rtf
    odt ods odp odg ott ots otp fodt fods fodp
    csv tsv parquet npy npz h5 hdf5 sqlite shp kml kmz gpx
    xml rss atom rdf ics vcf wsdl xsd dtd xsl xslt opml pem crt cer p7s asc gpg sha256 sha512 md5
    """.split()
)
# The same, unless the name begins with a capital: "/wiki/Node.js" is a page, "/static/node.js" is none.
_ASSETS_IN_LOWER_CASE = frozenset("js css map ts so bin dat db swf sig".split())

_PAGES = frozenset(
    "html htm xhtml xht shtml php php5 phtml asp aspx jsp jspx do cfm cgi pl md markdown txt text pdf json".split()
)


@lru_cache(maxsize=65536)
def normalize_url(url: str) -> str:
    """Return the one spelling of an absolute URL that identifies its page.

    Differences that do not change which page is meant are removed: case of scheme and host, international host names
    (punycode), IPv4 addresses written as one number, in octal or hex, default ports, a trailing dot of the host, dot
    segments, percent-encoding (unreserved characters plain, all others encoded, upper case), an empty path or query.
    Parts that identify the visitor and not the page are removed: fragment, user and password, tracking parameters
    (``utm_*``, ``gclid``, ``fbclid``, ``mc_eid`` …) and what is certain to be a session id. The order, repetition and
    case of all other parameters stay, and so do a trailing slash and doubled slashes, because servers may tell these
    apart.

    Args:
        url: ``http`` or ``https`` URL, as found.

    Returns:
        The URL in ASCII. Normalising it again changes nothing.

    Raises:
        ValueError: saying what is wrong with the URL.
    """
    text = url.strip(_STRIPPED).translate(_LINE_BREAKS)
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    if match is None or scheme not in _DEFAULT_PORTS:
        raise ValueError("not an http:// or https:// URL")
    head, _, query = text[match.end() :].partition("#")[0].partition("?")
    head = head.replace("\\", "/")
    if not head.startswith("//"):
        raise ValueError("has no host (http://HOST/…)")
    authority, _, path = head[2:].partition("/")
    host, port = _split_port(authority.rpartition("@")[2])
    netloc = _normalize_host(host)
    if port and port != _DEFAULT_PORTS[scheme]:
        netloc += ":" + port
    path = _drop_sessions(_escape("/" + path))
    query = _normalize_query(query)
    return f"{scheme}://{netloc}{_remove_dots(path)}{'?' if query else ''}{query}"


def join_url(base: str, href: str) -> str | None:
    """Resolve a link against the page it stands on.

    Returns:
        The normalised URL, or ``None`` if the link does not lead to a web page (``mailto:``, ``javascript:`` …).
    """
    if len(href) > _LONGEST_LINK and not href.isascii():  # the library composes its accents, too
        return None
    try:
        return normalize_url(urljoin(base, href.strip(_STRIPPED).translate(_LINE_BREAKS)))
    except ValueError:
        return None


def split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """Take ``user:password@`` out of a URL.

    Returns:
        The URL without it, and both parts decoded, or ``None`` if it has none.
    """
    scheme, separator, rest = url.partition("://")
    end = min((at for at in map(rest.find, "/?#\\") if at >= 0), default=len(rest))
    userinfo, at, host = rest[:end].rpartition("@")
    if not separator or not at:
        return url, None
    user, _, password = userinfo.partition(":")
    return f"{scheme}://{host}{rest[end:]}", (unquote(user), unquote(password))


def origin(url: str) -> str:
    """Scheme, host and port of a normalised URL: ``https://example.org``."""
    return "/".join(url.split("/", 3)[:3])


def host_and_port(url: str) -> str:
    """Host of a normalised URL, with the port unless it is the default port of the scheme."""
    return url.split("/", 3)[2]


def host_of(url: str) -> str:
    """Host of a normalised URL, without port (IPv6 addresses in brackets)."""
    netloc = host_and_port(url)
    return netloc[: netloc.index("]") + 1] if netloc.startswith("[") else netloc.partition(":")[0]


def path_of(url: str) -> str:
    """Path of a normalised URL, beginning with ``/``."""
    return "/" + url.partition("?")[0].split("/", 3)[3]


def query_of(url: str) -> str:
    """Query of a normalised URL, without the question mark."""
    return url.partition("?")[2]


def without_www(host: str) -> str:
    """Return the host without the ``www.`` that most sites answer to with and without."""
    return host.removeprefix("www.")


def page_key(url: str) -> str:
    """Return a key that URLs of one page usually share: host without ``www.``, path without ``index.html``."""
    return without_www(host_and_port(url)) + path_key(url)


def path_key(url: str) -> str:
    """Return a key that different URLs of one page usually share within their host."""
    return _INDEX_FILE.sub("/", path_of(url)).rstrip("/")


def extension_of(url: str) -> str:
    """File extension of a normalised URL's path, lower case, without the dot; empty if there is none."""
    name = path_of(url).rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def looks_like_page(url: str) -> bool:
    """Return whether a link may lead to a page, judging by its file extension (no image, archive, style sheet …)."""
    extension = extension_of(url)
    if extension in _ASSETS_IN_LOWER_CASE:
        return path_of(url).rpartition("/")[2][0].isupper()
    return extension not in _ASSETS


def names_a_page(url: str) -> bool:
    """Return whether a link most likely leads to a page: it has no file extension, or one of pages."""
    extension = extension_of(url)
    return not extension or extension in _PAGES


def _split_port(hostport: str) -> tuple[str, str]:
    if hostport.startswith("["):
        host, bracket, rest = hostport.partition("]")
        host, port = host + bracket, rest.removeprefix(":")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("has an IPv6 address that is not closed by ]")
    else:
        host, _, port = hostport.partition(":")
    if not port:
        return host, ""
    if not (port.isascii() and port.isdecimal() and len(port) < 12 and int(port) <= 65535):
        raise ValueError("has a port that is not a number up to 65535")
    return host, str(int(port))


def _normalize_host(host: str) -> str:
    if host.startswith("["):
        try:
            address = ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            address = None
        if address is None or address.scope_id:  # a zone is only meaningful on this machine
            raise ValueError(f"has an invalid IPv6 address: {host[:100]}")
        return f"[{address}]"
    host = unquote(host)
    if len(host) > _LONGEST_HOST:  # to compose accents takes the square of their number
        raise ValueError(f"has an invalid host name: {host[:100]!r}")
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except UnicodeError as error:
            raise ValueError(f"has an invalid host name: {error}") from None
    host = host.lower().removesuffix(".")
    if host.startswith("xn--"):  # httpx decodes it, and fails
        import idna

        try:
            idna.decode(host)
        except UnicodeError as error:
            raise ValueError(f"has an invalid host name: {host[:100]!r} ({error})") from None
    if not host:
        raise ValueError("has no host (http://HOST/…)")
    if not _ASCII_HOST.fullmatch(host) or any(not 0 < len(label) < 64 for label in host.split(".")):
        raise ValueError(f"has an invalid host name: {host[:100]!r}")
    if _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):  # as in browsers, it must be an IPv4 address then
        try:
            return socket.inet_ntoa(socket.inet_aton(host))
        except OSError:
            raise ValueError(f"has an invalid IPv4 address: {host}") from None
    return host


def _escape(text: str) -> str:
    return _TO_ESCAPE.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 3:
        char = chr(int(found[1:], 16))
        return char if char in _UNRESERVED else found.upper()
    encoded = "\ufffd" if "\ud800" <= found <= "\udfff" else found  # a lone surrogate has no UTF-8 form
    return "".join(f"%{byte:02X}" for byte in encoded.encode())


def _drop_sessions(path: str) -> str:
    return _COOKIELESS_SESSION.sub("", _PATH_SESSION.sub("", path)) or "/"


def _remove_dots(path: str) -> str:
    """Remove dot segments from a path (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _normalize_query(query: str) -> str:
    if not query:
        return ""
    return "&".join(part for part in _escape(query).split("&") if not _is_tracking(part))


def _is_tracking(parameter: str) -> bool:
    name = unquote_plus(parameter.partition("=")[0]).lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)
