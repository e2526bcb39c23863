"""E-mail messages (eml), and archives of them (mbox)."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from libs.dataloader.addresses import first_address
from libs.dataloader.encodings import bom_encoding, decode_bytes, looks_binary
from libs.dataloader.formats.attachments import Attachments
from libs.dataloader.formats.base import Content, FileData, UnreadableError, closed, join_lines, lowered
from libs.dataloader.formats.mail_marks import without_marks_of_mail
from libs.dataloader.formats.mail_quotes import with_quotations
from libs.dataloader.formats.markdown import trim_url
from libs.dataloader.formats.registry import MBOX, Format
from libs.dataloader.html import html_to_document
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

_SHOWN = ("From", "To", "Cc", "Date", "Subject")  # the last one is the heading of a message in an archive
_OF_MAIL = ("To", "Cc", "Bcc", "Received", "Message-ID")
_FOR_PROGRAMS = frozenset(("text/css", "text/javascript"))
_FILES = frozenset(("text/calendar", "text/csv", "text/vcard", "text/x-vcard"))  # files, even without a name
_ADDRESSES = frozenset(("From", "To", "Cc"))
#: A name as directories have it, with the family name first: ``"Lane, Ada" <ada@example.org>``. Without quotes, which
#: are not shown of encoded names, two words before the comma are somebody else.
_TURNED = regex(
    r"(?P<before>\A|[>,;]\s*)(?P<quote>\"?)(?:(?<=\")|(?![^\s,]*\s))(?P<family>[^\W\d_][^\",;<>@()\d]{0,40}), "
    r"(?!(?:Inc|Ltd|LLC|LLP|Corp|GmbH|AG|S\.?A|Jr|Sr|I{2,3}|Ph\.?D|M\.?D|Esq)\b)"
    r"(?P<given>[^\W\d_](?:[^\",;<>@()\d]{0,40}[^\s\",;<>@()\d])?)(?P=quote)(?=\s*<[^<>\s]+@)"
)
#: The line above a signature; in Markdown, the one before it would be a heading.
_SIGNATURE = regex(r"\n(?=--[ \t]*$)", re.MULTILINE)
_URL = regex(r"https?://[^\s<>\"'`|]+")
_MBOX_FROM = regex(rb"(?:\A|(?<=\n)\r?\n)From [^\s\n]{1,500}[^\n]{0,100}\d\d:\d\d[^\n]{0,100}\n")
_MBOX_QUOTED = regex(rb"^>(>*From )", re.MULTILINE)  # a line of a message that begins like those between them


def read(file: FileData, kind: Format) -> Content:
    """Convert the headers that people read, the text (HTML if most of it is only there), and the attachments."""
    data = file.data
    if looks_binary(data[:4096]):
        raise UnreadableError("it is binary, not text")
    if bom_encoding(data) is not None or b"\x00" in data[:4096]:
        data = decode_bytes(data).text.encode()
    if kind == MBOX and (places := [match.span() for match in _MBOX_FROM.finditer(data)]):
        return _archive(file, data, places)
    # The older policy never fails on a malformed header.
    message = message_from_bytes(data, policy=policy.compat32)
    if not any(message.get(name) for name in (*_SHOWN, "Message-ID", "Received", "MIME-Version")):
        raise UnreadableError("it is not an e-mail message, despite its name")
    if (saved := _saved_page(message)) is not None:
        return saved
    collector = LinkCollector(None)
    text = _text(message, collector, Attachments(file, collector), _SHOWN)
    metadata: dict[str, Any] = {}
    for header, name in (("From", "author"), ("To", "to"), ("Cc", "cc"), ("Message-ID", "message_id")):
        if value := _header(message, header):
            metadata[name] = value
    if created := _created(message):
        metadata["created"] = created
    if names := [name for name, _ in _attachments(message)]:
        metadata["attachments"] = names
    title = _header(message, "Subject") or None
    return Content(text, "markdown", title, metadata, collector.links())


def _saved_page(message: Message[str, str]) -> Content | None:
    """Return the page that a browser saved with its images as one file (mht); ``None`` for a message."""
    if message.get_content_type() != "multipart/related" or any(message.get(name) for name in _OF_MAIL):
        return None
    pages = (part for part in message.walk() if part.get_content_type() == "text/html")
    part = next(pages, None)  # the others are frames in it
    data = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(data, bytes):
        return None
    address = _header(part, "Content-Location") or _header(message, "Snapshot-Content-Location")
    base = address if address.startswith(("http://", "https://")) else None
    page = html_to_document(data, base, encoding=part.get_content_charset())
    metadata = {"url": base, **page.metadata} if base else dict(page.metadata)
    return Content(page.markdown, "markdown", page.title, metadata, page.links, mime_type="text/html")


def _archive(file: FileData, data: bytes, places: Sequence[tuple[int, int]]) -> Content:
    """Convert the messages of an archive, each below its subject; ``places``: the spans of the lines between them."""
    collector = LinkCollector(None)
    attachments = Attachments(file, collector)
    ends = (*(start for start, _ in places[1:]), len(data))
    messages = (
        message_from_bytes(_MBOX_QUOTED.sub(rb"\1", data[start:end]), policy=policy.compat32)
        for (_, start), end in zip(places, ends, strict=True)
    )
    text = join_lines(
        f"# {clean_text(_header(message, 'Subject')) or '(no subject)'}\n\n"
        f"{lowered(_text(message, collector, attachments, _SHOWN[:-1]))}\n"
        for message in messages
    )
    return Content(text, "markdown", None, {"message_count": len(places)}, collector.links())


def _text(message: Message[str, str], collector: LinkCollector, attachments: Attachments, shown: Sequence[str]) -> str:
    """Return a message as Markdown, below who wrote it and when, and what is attached to it."""
    text = closed(_SIGNATURE.sub("\n\n", clean_text(_message(message, collector, shown)).strip()))
    if heading := _heading(message):
        text = f"# {heading}\n\n{lowered(text)}"
    return text + "".join(_attached(message, attachments))


def _heading(message: Message[str, str]) -> str:
    """Return who wrote a message and on which day: what a passage from its middle cannot tell by itself."""
    name, address = first_address(_header(message, "From"))
    return ", ".join(filter(None, (" ".join((name or address).split()), _created(message)[:10])))


def _created(message: Message[str, str]) -> str:
    """Return when a message was written, in ISO 8601; empty if it has no date, or none that can be understood."""
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError):
        return parsedate_to_datetime(_header(message, "Date")).isoformat()
    return ""


def _attached(message: Message[str, str], attachments: Attachments) -> Iterator[str]:
    """Yield what is in the files that are attached to a message, and to messages inside it."""
    if message.get_content_type() == "message/rfc822" and message.is_multipart():
        for inner in _forwarded(message):
            yield from _attached(inner, attachments)
    elif message.is_multipart():
        for part in message.get_payload():
            if isinstance(part, Message):
                yield from _attached(part, attachments)
    elif _is_attachment(message):
        data = message.get_payload(decode=True)
        if isinstance(data, bytes):
            yield attachments.read(_attachment_name(message), data, message.get_content_type())


def _message(message: Message[str, str], collector: LinkCollector, shown: Sequence[str] = _SHOWN) -> str:
    return "\n\n".join(block for block in _blocks(message, collector, shown) if block.strip())


def _blocks(message: Message[str, str], collector: LinkCollector, shown: Sequence[str] = _SHOWN) -> list[str]:
    headers = [f"{name}: {value}" for name in shown if (value := _header(message, name))]
    subject = _header(message, "Subject")
    blocks = ["\n".join(headers), *(with_quotations(body, subject) for body in _bodies(message, collector))]
    if attachments := list(_attachments(message)):
        blocks.append("Attachments:\n" + "\n".join(f"- {name} ({kind})" for name, kind in attachments))
    return blocks


def _bodies(message: Message[str, str], collector: LinkCollector) -> list[str]:
    """Return the texts of a message, of each part that is shown, and of messages inside it, however deep."""
    kind = message.get_content_type()
    if kind == "message/rfc822" and message.is_multipart():
        return [block for part in _forwarded(message) for block in _blocks(part, collector)]
    if message.is_multipart():
        parts = [part for part in message.get_payload() if isinstance(part, Message)]
        if kind == "multipart/alternative":
            plain = [
                body for part in parts if part.get_content_type() == "text/plain" for body in _bodies(part, collector)
            ]
            other = [
                body for part in parts if part.get_content_type() != "text/plain" for body in _bodies(part, collector)
            ]
            rich = sum(map(len, other))
            return plain if sum(map(len, plain)) * 2 >= rich else other
        return [body for part in parts for body in _bodies(part, collector)]
    # What says that it has parts, and has none (a line between them is missing), is text.
    if _is_attachment(message) or not kind.startswith(("text/", "multipart/")) or kind in _FOR_PROGRAMS:
        return []
    data = message.get_payload(decode=True)
    if not isinstance(data, bytes):
        return []
    charset = message.get_content_charset()
    if kind == "text/html":
        page = html_to_document(data, encoding=charset, whole_page=True)
        collector.extend((link.target, link.text) for link in page.links)
        return [page.markdown]
    text = without_marks_of_mail(clean_text(decode_bytes(data, declared=charset).text))
    if message.get_param("format") == "flowed":
        is_part = str(message.get_param("delsp", "")).lower() == "yes"  # of the mark of a line that goes on
        joined = (r"(?<=[^\n>-]) \n(?=[^\s>])", "") if is_part else (r"(?<=[^\s>-]) \n(?=[^\s>])", " ")
        text = re.sub(*joined, text)
    collector.extend((trim_url(match[0]), "") for match in _URL.finditer(text))
    return [text]


def _attachments(message: Message[str, str]) -> list[tuple[str, str]]:
    """Return names and types of the attachments of a message, without those of messages inside it."""
    if not message.is_multipart() or message.get_content_type() == "message/rfc822":
        return [(_attachment_name(message), message.get_content_type())] if _is_attachment(message) else []
    return [found for part in message.get_payload() if isinstance(part, Message) for found in _attachments(part)]


def _is_attachment(part: Message[str, str]) -> bool:
    if part.get_content_disposition() == "attachment" or part.get_content_type() in _FILES:
        return True
    return part.get_content_maintype() not in ("text", "multipart", "message") and bool(_file_name(part))


def _attachment_name(part: Message[str, str]) -> str:
    """Return the name of an attachment: its file name, or the subject of an attached message."""
    if name := _file_name(part):
        return name
    if part.get_content_type() != "message/rfc822":
        return "attachment"
    return next((subject for inner in _forwarded(part) if (subject := _header(inner, "Subject"))), "message")


def _forwarded(part: Message[str, str]) -> list[Message[str, str]]:
    """Return the message that a part of another message contains."""
    inner = part.get_payload()
    messages = [found for found in inner if isinstance(found, Message)] if isinstance(inner, list) else []
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64":
        # The standard forbids that, so the parser does not decode it; some programs do it all the same.
        for found in messages:
            if not found.keys() and isinstance(text := found.get_payload(), str):
                with contextlib.suppress(ValueError):
                    return [message_from_bytes(base64.b64decode(text), policy=policy.compat32)]
    return messages


def _file_name(part: Message[str, str]) -> str:
    try:
        return _decoded(part.get_filename() or "")
    except (ValueError, LookupError, TypeError):  # malformed parameters
        return ""


def _header(message: Message[str, str], name: str) -> str:
    # As it stands there: get() replaces what is not ASCII.
    value = _decoded(next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), ""))
    return _TURNED.sub(r"\g<before>\g<given> \g<family>", value) if name in _ADDRESSES and "," in value else value


def _decoded(value: str) -> str:
    from email.errors import HeaderParseError
    from email.header import decode_header

    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError):
        pieces = [(value, None)]
    parts: list[str] = []
    for piece, charset in pieces:
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "surrogateescape")
        parts.append(decode_bytes(piece, declared=charset if charset != "unknown-8bit" else None).text)
    return " ".join(clean_text("".join(parts)).split())
