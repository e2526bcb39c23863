"""Reads what the graph already holds of documents, and whether it is up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.analysis import ANALYSIS_VERSION
from core.rag.dbhandler.rows import fingerprint_json, from_json, metadata_json
from core.rag.errors import InvalidInputError
from core.rag.identity import content_hash, document_id
from libs.dataloader import Document, Known, KnownDocument, SourceInfo
from libs.dataloader.paths import is_file

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


@dataclass(frozen=True, slots=True)
class Changed:
    """What has to be done with the documents of a batch.

    Attributes:
        documents: Those that have to be written.
        unchanged: Ids of those that are stored as they are.
        again: Ids of those that this run writes as they are already.
    """

    documents: list[Document]
    unchanged: list[str]
    again: list[str]


def state_hash(document: Document) -> str:
    """A hash over everything that is stored of a document, apart from where it comes from and what it is called."""
    digest = hashlib.sha256(document.content.encode("utf-8", "surrogatepass"))
    rest = (
        document.title,
        document.mime_type,
        document.format,
        metadata_json(document.metadata, f"The metadata of {document.path}") if document.metadata else "",
        [(link.target, link.text) for link in document.links],
        [(kind, list(places)) for kind, places in document.locations.items()],
    )
    digest.update(b"\x1f" + repr(rest).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _state(document: Document) -> str:
    """The hash of a document; empty where it cannot be stored, which is reported when it is cut."""
    try:
        return state_hash(document)
    except InvalidInputError:
        return ""


class StateReader:
    """Compares documents with what is stored of them."""

    def __init__(self, client: MemGraphClient, splitter: str, vector_store: str) -> None:
        """Prepare a reader.

        Args:
            client: The graph.
            splitter: Fingerprint of the splitter.
            vector_store: Id of the vector store that has to hold vectors of every chunk.
        """
        self._client = client
        self._vector_store = vector_store
        self.pipeline = content_hash(splitter, str(ANALYSIS_VERSION))[:16]

    def known(self, source: str, touched: Mapping[str, str]) -> Known:
        """What a loader may ask; see :data:`libs.dataloader.Known`."""

        async def known(uris: Sequence[str]) -> Mapping[str, KnownDocument]:
            by_id = {document_id(self._client.namespace, uri): uri for uri in uris}
            rows = await self._stored([identifier for identifier in by_id if identifier not in touched], source)
            usable = [row for row in rows if self._current(row)]
            links = await self._links([row["id"] for row in usable if "sha256" not in row["fingerprint"]])
            return {
                by_id[row["id"]]: KnownDocument(from_json(row["fingerprint"]), links.get(row["id"], ()))
                for row in usable
            }

        return known

    async def changed(
        self,
        documents: Sequence[Document],
        ids: Sequence[str],
        source: str,
        touched: dict[str, str],
        *,
        repeated: bool = False,
    ) -> Changed:
        """Which of the documents differ from what is stored; these are noted in ``touched``.

        Args:
            documents: With different URIs.
            ids: Theirs.
            source: Id of the Source that they come from.
            touched: What this run writes, by id of the document; what is stored of these may be about to change.
            repeated: Whether other sources of the run may have the same documents (knowing them again takes a hash).
        """
        stored = {row["id"]: row for row in await self._stored([i for i in ids if i not in touched], source)}
        changed: list[Document] = []
        unchanged: list[str] = []
        again: list[str] = []
        fingerprints: list[dict[str, Any]] = []
        for identifier, document in zip(ids, documents, strict=True):
            row = stored.get(identifier)
            current = row is not None and self._current(row)
            state = _state(document) if current or repeated else ""
            written = f"{self.pipeline} {state}"
            if state and touched.get(identifier) == written:
                again.append(identifier)
                continue
            if row is None or not current or row["state_hash"] != state:
                changed.append(document)
                touched[identifier] = written
                continue
            unchanged.append(identifier)
            fingerprint = fingerprint_json(document)
            if fingerprint != row["fingerprint"]:
                fingerprints.append({"id": identifier, "fingerprint": fingerprint})
        if fingerprints:
            await self._client.set_fingerprints(fingerprints)
        return Changed(changed, unchanged, again)

    async def vanished(
        self,
        source_id: str,
        source: SourceInfo,
        seen: set[str],
        covers: Callable[[str], bool] | None = None,
        only: set[str] | None = None,
    ) -> list[str]:
        """Find the documents of a source that it does not have any more and that come from nowhere else.

        A document that also comes from a source outside of this one stays, and is taken off this one here; but a file
        that is not there is gone from every folder around it.

        Args:
            source_id: Id of the Source.
            source: What it is.
            seen: Ids of the documents that it has.
            covers: Whether a URI is one that the loader would have given; what it leaves out by its patterns did not
                vanish.
            only: Ids of those that may be gone, where the source was not read to the end.
        """
        rows = await self._client.documents_of_source(source_id)
        gone = [
            row
            for row in rows
            if row["id"] not in seen
            and (only is None or row["id"] in only)
            and not is_file(row["uri"])
            and (covers is None or covers(row["uri"]))
        ]
        inside = source.uri.rstrip("/") + "/"

        def lacks(uri: str, document: str) -> bool:
            around = uri.startswith("file://") and document.startswith(uri.rstrip("/") + "/")
            return uri == source.uri or uri.startswith(inside) or around

        alone = [row["id"] for row in gone if all(lacks(uri, row["uri"]) for uri in row["sources"])]
        shared = sorted({row["id"] for row in gone} - set(alone))
        if shared:
            await self._client.remove_from_source(shared, source_id)
        return alone

    def _current(self, row: Mapping[str, Any]) -> bool:
        return row["pipeline"] == self.pipeline and self._vector_store in (row["embedded_in"] or ())

    async def _stored(self, ids: Sequence[str], source: str) -> list[dict[str, Any]]:
        """The state of those of the documents that are stored; each comes from the source afterwards."""
        if not ids:
            return []
        rows = await self._client.document_states(ids)
        elsewhere = [row["id"] for row in rows if row["source_id"] != source]
        if elsewhere:
            await self._client.add_to_source(elsewhere, source)
        return rows

    async def _links(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if not ids:
            return {}
        return await self._client.document_links(ids)
