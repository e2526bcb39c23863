"""Reads what the graph already holds of documents, and whether it is up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.analysis import ANALYSIS_VERSION
from core.rag.dbhandler.documents.rows import fingerprint_json
from core.rag.dbhandler.json_texts import from_json, metadata_json
from core.rag.errors import InvalidInputError
from core.rag.identity import content_hash, document_id
from libs.dataloader import Document, Known, KnownDocument, SourceInfo
from libs.dataloader.paths import is_file

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


@dataclass(frozen=True, slots=True)
class Changed:
    """The documents of a batch, by what has to be done.

    Attributes:
        documents: Documents that have to be written.
        unchanged: Ids of documents that did not change.
        again: Ids of documents that this run already writes in the same state.
        replaced: Ids of the documents that have to be written and that are, or may be, in the graph.
    """

    documents: list[Document]
    unchanged: list[str]
    again: list[str]
    replaced: set[str]


def state_hash(document: Document) -> str:
    """Return a hash of everything that is stored of a document, except its source and its name."""
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
    """Return the hash of a document; empty if it cannot be stored, which is reported when it is cut."""
    try:
        return state_hash(document)
    except InvalidInputError:
        return ""


class StateReader:
    """Compares documents with their stored versions."""

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

    def known(self, source: SourceInfo, touched: Mapping[str, str]) -> Known:
        """Return the callback that loaders ask about known documents; see :data:`libs.dataloader.Known`."""
        source_id = self._client.id_of_source(source)

        async def known(uris: Sequence[str]) -> Mapping[str, KnownDocument]:
            by_id = {document_id(self._client.namespace, uri): uri for uri in uris}
            rows = await self._states([key for key in by_id if key not in touched])
            if any(row["source_id"] != source_id for row in rows):
                await self._client.ensure_sources([source])
                await self._add_to_sources(rows, dict.fromkeys(by_id, source_id))
            # Meanwhile, this run may have come to write some of them, or even have written them.
            usable = [row for row in rows if row["id"] not in touched and row["current"]]
            links = await self._links([row["id"] for row in usable if "sha256" not in row["fingerprint"]])
            return {
                by_id[row["id"]]: KnownDocument(from_json(row["fingerprint"]), links.get(row["id"], ()))
                for row in usable
            }

        return known

    async def changed(
        self,
        documents: Sequence[Document],
        sources: Mapping[str, str],
        touched: dict[str, str],
        *,
        repeated: bool = False,
    ) -> Changed:
        """Find the documents that differ from their stored versions, and record them in ``touched``.

        Args:
            documents: Documents with distinct URIs.
            sources: The id of each, in the same order, with that of its Source, which is in the graph.
            touched: What this run writes, by id of the document; the stored versions of these may be about to change.
            repeated: Whether other sources of the run may have the same documents (recognising them needs a hash).
        """
        rows = await self._states([key for key in sources if key not in touched])
        await self._add_to_sources(rows, sources)
        stored = {row["id"]: row for row in rows}
        changed: list[Document] = []
        unchanged: list[str] = []
        again: list[str] = []
        replaced: set[str] = set()
        fingerprints: list[dict[str, Any]] = []
        for identifier, document in zip(sources, documents, strict=True):
            row = stored.get(identifier)
            current = row is not None and row["current"]
            state = _state(document) if current or repeated else ""
            written = f"{self.pipeline} {state}"
            if state and touched.get(identifier) == written:
                again.append(identifier)
                continue
            if row is None or not current or row["state_hash"] != state:
                changed.append(document)
                if row is not None or identifier in touched:
                    replaced.add(identifier)
                touched[identifier] = written
                continue
            unchanged.append(identifier)
            fingerprint = fingerprint_json(document)
            if fingerprint != row["fingerprint"]:
                fingerprints.append({"id": identifier, "fingerprint": fingerprint})
        if fingerprints:
            await self._client.set_fingerprints(fingerprints)
        return Changed(changed, unchanged, again, replaced)

    async def vanished(
        self,
        source_id: str,
        source: SourceInfo,
        gone: Sequence[Mapping[str, Any]],
        certain: set[str],
    ) -> list[str]:
        """Find those of the documents that a source no longer has that no other source has.

        A document that also comes from another source stays, and is taken off this one here. But a file that is not
        there is gone from every folder around it and within this one, and a page that is certainly gone from every
        site within this one.

        Args:
            source_id: Id of the Source.
            source: The source.
            gone: The documents, from :meth:`gone`.
            certain: Ids of documents that are certainly gone.
        """
        inside = source.uri.rstrip("/") + "/"

        def lacks(uri: str, row: Mapping[str, Any]) -> bool:
            if uri.startswith("file://"):
                return uri.startswith(inside) or row["uri"].startswith(uri.rstrip("/") + "/")
            return row["id"] in certain and uri.startswith(inside)

        alone = [row["id"] for row in gone if all(uri == source.uri or lacks(uri, row) for uri in row["sources"])]
        shared = sorted({row["id"] for row in gone} - set(alone))
        if shared:
            await self._client.remove_from_source(shared, source_id)
        return alone

    async def gone(
        self, source_id: str, seen: set[str], covers: Callable[[str], bool] | None, only: set[str] | None = None
    ) -> list[dict[str, Any]]:
        """List the documents of a source that it no longer has.

        Args:
            source_id: Id of the Source.
            seen: Ids of the documents that it has.
            covers: Whether the loader would yield a URI; documents that its patterns exclude did not vanish.
            only: Ids of documents that are certainly gone, if the others may be there, since the source was not read
                completely.

        Returns:
            Their ``id``, ``uri`` and ``sources`` (URIs).
        """
        return [
            row
            for row in await self._client.documents_of_source(source_id)
            if row["id"] not in seen
            and (only is None or row["id"] in only)
            and not is_file(row["uri"])
            and (covers is None or covers(row["uri"]))
        ]

    async def gone_below(self, folder: str, seen: set[str]) -> list[dict[str, Any]]:
        """List the same of the files within a folder that were ingested under paths of their own and are not there.

        Args:
            folder: URI of the folder.
            seen: Ids of the documents that it has.
        """
        below = await self._client.documents_below(folder)
        return [row for row in below if row["id"] not in seen and not is_file(row["uri"])]

    async def _states(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        return await self._client.document_states(ids, self.pipeline, self._vector_store)

    async def _add_to_sources(self, rows: Sequence[Mapping[str, Any]], sources: Mapping[str, str]) -> None:
        """Add stored documents to the sources in which they were found, where these are not the first ones."""
        elsewhere: dict[str, list[str]] = {}
        for row in rows:
            if row["source_id"] != (source := sources[row["id"]]):
                elsewhere.setdefault(source, []).append(row["id"])
        for source, ids in elsewhere.items():
            await self._client.add_to_source(ids, source)

    async def _links(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if not ids:
            return {}
        return await self._client.document_links(ids)
