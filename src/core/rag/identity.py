"""Deterministic ids, content hashes and standardized URIs.

An id is ``uuid3(NAMESPACE_DNS, kind | namespace | what identifies the thing)``, so the same input gives the same graph
on every engine, and nothing of one namespace can collide with anything of another.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import uuid
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from core.rag.errors import InvalidInputError
from libs.regexes import regex

_DNS = uuid.NAMESPACE_DNS.bytes
_SEPARATOR = "\x1f"
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_SCHEME = regex(r"^[A-Za-z][A-Za-z0-9+.-]+:")
_DRIVE = regex(r"^[A-Za-z]:[\\/]")


def stable_id(kind: str, namespace: str, *parts: str) -> str:
    """Return the id of a thing: a version 3 UUID in the DNS namespace.

    Args:
        kind: What sort of thing, normally its label.
        namespace: The namespace it belongs to.
        parts: What identifies it there, in order. They are joined by U+001F: two texts that hold it may run into each
            other.

    Returns:
        The UUID as 36 characters.
    """
    name = _SEPARATOR.join((kind, namespace, *parts))
    # uuid.uuid3 does the same at six times the cost, most of it for fields that are not needed here.
    text = hashlib.md5(_DNS + name.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return f"{text[:8]}-{text[8:12]}-3{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:]}"


def content_hash(*parts: str) -> str:
    """Return the SHA-256 of the parts, as 64 hex digits.

    Parts are joined by U+001F, so at most one of them may be a text that can hold it.
    """
    return hashlib.sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def document_id(namespace: str, uri: str) -> str:
    """Id of the document with this standardized URI."""
    return stable_id("Document", namespace, uri)


def chunk_id(document: str, content: str, occurrence: int) -> str:
    """Id of a chunk: its document, its text, and which of the equal texts of the document it is (from 0).

    A chunk keeps its id, and so its vector, when text is added or removed elsewhere in the document.
    """
    return stable_id("DocumentChunk", document, content, str(occurrence))


def source_id(namespace: str, uri: str) -> str:
    """Id of the source with this standardized URI."""
    return stable_id("Source", namespace, uri)


def resource_id(namespace: str, uri: str) -> str:
    """Id of the resource with this standardized URI."""
    return stable_id("Resource", namespace, uri)


def entity_id(namespace: str, normalized_name: str) -> str:
    """Id of the entity with this name, as :func:`core.rag.extraction.words.normalize_name` gives it."""
    return stable_id("Entity", namespace, normalized_name)


def link_id(source: str, target: str, relation: str, valid_from: str = "") -> str:
    """Id of a link between two entities: it names its ends, by which it is found. A fact may have several periods."""
    digest = content_hash(relation, valid_from) if valid_from else content_hash(relation)
    return f"{source}/{target}/{digest[:12]}"


def vector_store_id(namespace: str, model: str, dimension: int) -> str:
    """Id of the vector store of a model in a namespace."""
    return stable_id("VectorStore", namespace, model, str(dimension))


def vector_id(vector_store: str, text_hash: str) -> str:
    """Id of the vector of a text in a vector store; equal texts share it."""
    return stable_id("Vector", vector_store, text_hash)


def knowledge_key(content: str) -> str:
    """Return what identifies a knowledge node unless it is given an id: ``uuid3(NAMESPACE_DNS, content)``."""
    return str(uuid.uuid3(uuid.NAMESPACE_DNS, content))


def concept_id(namespace: str, key: str) -> str:
    """Id of the Concept node with this key (:func:`knowledge_key`) in a namespace."""
    return stable_id("Concept", namespace, key)


def topic_id(namespace: str, name: str) -> str:
    """Id of the topic with this name."""
    return stable_id("Topic", namespace, name)


def standardize_resource_uri(path: str | os.PathLike[str]) -> str:
    """Standardize a path or URL, so that the same resource always has the same name.

    A web address gets a lower-case scheme and host and loses its fragment, default port, user and password. An
    existing file becomes ``file://`` plus its absolute path; ``.`` and ``..`` are resolved, symlinks are not. Anything
    else (a name such as ``note/1``, another scheme) stays as it is, with ``/`` for ``\\``.

    Args:
        path: A path, a URL or a name.

    Returns:
        The standardized URI.

    Raises:
        InvalidInputError: on what is neither text nor a ``Path``.
    """
    if not isinstance(path, str):
        if not isinstance(path, os.PathLike):
            raise InvalidInputError(f"A path or URL must be text or a Path, not {type(path).__name__}.")
        path = os.fspath(path)
    if path.startswith("file://"):
        return "file://" + posixpath.normpath(path[7:].replace("\\", "/"))
    if _SCHEME.match(path) and not _DRIVE.match(path):
        return _standardize_url(path) if path[:4].lower() == "http" else path
    if _exists(path):
        path = str(Path(path).absolute())
    path = path.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        return "file://" + posixpath.normpath(path)
    return path


def uri_of_name(name: str) -> str:
    """Standardize a path or URL that somebody elsewhere gave: what files this machine has does not matter.

    Otherwise, as :func:`standardize_resource_uri`.
    """
    text = name.replace("\\", "/")
    return standardize_resource_uri(name) if has_scheme(name) or text.startswith("/") else text


def has_scheme(name: str) -> bool:
    """Return whether a text is a URI, or a path that begins with a drive, not a relative path or another name."""
    return _SCHEME.match(name) is not None or _DRIVE.match(name) is not None


def uris_of(name: str) -> list[str]:
    """Return the standardized URIs that a document may have that somebody names by its path, URL or name.

    A relative path is first the name that somebody gave a document, which has no other; then a file of the working
    directory, also if it is not there any more.
    """
    uris = [uri_of_name(name), standardize_resource_uri(name)]
    if not has_scheme(uris[0]):
        with contextlib.suppress(OSError, ValueError):  # the working directory was removed; a NUL
            uris.append("file://" + os.path.abspath(uris[0]).replace("\\", "/"))  # noqa: PTH100 Path leaves ".."
    return list(dict.fromkeys(uris))


def _exists(path: str) -> bool:
    """As ``Path.exists`` in a tenth of the time: there are as many as documents, and most are no files."""
    try:
        return os.access(path, os.F_OK)
    except ValueError:  # a NUL, or half a character
        return False


def _standardize_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        port = parts.port
    except ValueError:  # a malformed address identifies only itself
        return url
    if parts.scheme.lower() not in {"http", "https"} or not host:
        return url
    if ":" in host:
        host = f"[{host}]"
    if port and (parts.scheme.lower(), port) not in {("http", 80), ("https", 443)}:
        host = f"{host}:{port}"
    return urlunsplit((parts.scheme.lower(), host, parts.path or "/", parts.query, ""))
