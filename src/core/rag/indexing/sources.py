"""Creates the loaders for what callers name."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from core.rag.errors import InvalidInputError
from core.rag.identity import standardize_resource_uri
from core.rag.indexing.storable import no_text_in
from libs.dataloader import Document, Known, Loader, LoadError, LoadResult, SourceInfo

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.settings import Settings
    from libs.dataloader import DocumentLoader

#: A path, a URL, a loader, a document, or an iterable of documents.
Source = str | PathLike[str] | Loader | Document | Iterable[Document] | AsyncIterable[Document]


class IterableLoader:
    """A loader for documents that the caller passes directly."""

    def __init__(self, documents: Iterable[Document] | AsyncIterable[Document]) -> None:
        self._documents = documents

    @property
    def source(self) -> SourceInfo:
        """The common source of all documents that are passed directly."""
        return SourceInfo(name="documents", type="documents", uri="documents:documents")

    @property
    def at_hand(self) -> list[Document]:
        """The documents that are known in advance: those of a list that can be stored, none of an iterator."""
        given = self._documents if isinstance(self._documents, Sequence) else ()
        return [item for item in given if isinstance(item, Document) and no_text_in(item) is None]

    async def load(self, known: Known | None = None) -> AsyncIterator[LoadResult]:  # noqa: ARG002
        """Yield all documents; the indexer itself finds out which did not change."""
        if isinstance(self._documents, AsyncIterable):
            async for document in self._documents:
                yield _as_marked_up(_checked(document))
        else:
            for document in self._documents:
                yield _as_marked_up(_checked(document))


def loaders_for(sources: Source | Iterable[Source], settings: Settings, **options: Any) -> list[Loader]:
    """Create the loaders for the sources that a caller named.

    Args:
        sources: One or several of paths, URLs, loaders, documents and iterables of documents.
        settings: Has the file size limit.
        options: ``include``, ``exclude``, ``gitignore``, ``recursive``, ``hidden`` for folders; ``url_pattern``,
            ``max_urls``, ``max_depth``, ``delay``, ``same_host``, ``respect_robots``, ``allow_private`` for URLs.

    Raises:
        InvalidInputError: on a source of another type, an unknown option, or an invalid address or pattern.
    """
    unknown = set(options) - _FILE_OPTIONS - _WEB_OPTIONS
    if unknown:
        raise InvalidInputError(
            f"Unknown option {', '.join(sorted(unknown))}; known: {', '.join(sorted(_FILE_OPTIONS | _WEB_OPTIONS))}."
        )
    sources = list(_listed(sources))
    shared: dict[str, Any] = {}
    if sum(isinstance(source, str) and is_web(source) for source in sources) > 1:  # they may overlap
        from libs.dataloader.crawl.cache import AnswerCache

        shared["cache"] = AnswerCache()
    loaders: list[Loader] = []
    loose: list[Document] = []
    for source in sources:
        if isinstance(source, Document):
            loose.append(source)
        elif isinstance(source, str | PathLike):
            try:
                loaders.append(_loader_for(fspath(source), settings, options, shared))
            except LoadError as error:  # an address or a pattern that is invalid
                raise InvalidInputError(f"{error}.") from error
        elif isinstance(source, Loader):
            loaders.append(source)
        elif isinstance(source, Iterable | AsyncIterable) and not isinstance(source, bytes | bytearray | Mapping):
            loaders.append(IterableLoader(cast("Iterable[Document] | AsyncIterable[Document]", source)))
        else:
            raise InvalidInputError(
                f"A source cannot be of type {type(source).__name__}: give paths, URLs, loaders, or iterables of"
                " Document."
            )
    if loose:
        loaders.append(IterableLoader(loose))
    return loaders


def passing_over(places: Collection[PathLike[str]], loaders: Sequence[Loader]) -> list[Loader]:
    """Return the loaders; those of folders skip the files and folders at these places."""
    from libs.dataloader import DocumentLoader

    return [loader.without(places) if isinstance(loader, DocumentLoader) else loader for loader in loaders]


async def in_their_folders(client: MemGraphClient, loaders: Sequence[Loader]) -> list[Loader]:
    """Return the loaders; those of files within a folder that the graph has as a source take links as that folder does.

    So do those that come behind the folder itself. Otherwise, links to files elsewhere in the folder would be lost when
    a part of it is ingested again.
    """
    from libs.dataloader import DocumentLoader

    above = {loader: _folders_above(loader) for loader in loaders if isinstance(loader, DocumentLoader)}
    there = set(await client.sources_there(uri for folders in above.values() for uri in folders))
    placed: list[Loader] = []
    beside: dict[str, DocumentLoader] = {}
    for loader in loaders:
        if isinstance(loader, DocumentLoader):
            if (folder := next((uri for uri in above[loader] if uri in there), None)) is not None:
                loader = beside[folder] = loader.below(folder, beside.get(folder))
            there.add(loader.uri)
        placed.append(loader)
    return placed


def _folders_above(loader: DocumentLoader) -> list[str]:
    """Return the URIs of the folders above, the topmost first."""
    folders = PurePosixPath(loader.uri.removeprefix("file://")).parents
    return [f"file://{folder}" for folder in reversed(folders[:-1])]


_FILE_OPTIONS = frozenset({"include", "exclude", "gitignore", "recursive", "hidden", "within"})
_WEB_OPTIONS = frozenset(
    {
        "url_pattern",
        "max_urls",
        "max_depth",
        "delay",
        "concurrency",
        "same_host",
        "allowed_hosts",
        "respect_robots",
        "use_sitemap",
        "allow_private",
        "timeout",
        "retries",
        "user_agent",
        "headers",
    }
)


def is_web(source: str) -> bool:
    """Return whether a source is a web address, not a file or folder."""
    return source.lower().startswith(("http://", "https://"))


def _loader_for(source: str, settings: Settings, options: dict[str, Any], shared: dict[str, Any]) -> Loader:
    """Create the loader for a path or URL; loaders for URLs also get ``shared``."""
    if is_web(source):
        from libs.dataloader import WebLoader

        return WebLoader(
            source,
            max_bytes=settings.max_file_bytes,
            **{key: value for key, value in options.items() if key in _WEB_OPTIONS},
            **shared,
        )
    from libs.dataloader import DocumentLoader

    return DocumentLoader(
        source,
        max_bytes=settings.max_file_bytes,
        **{key: value for key, value in options.items() if key in _FILE_OPTIONS},
    )


def _listed(sources: Source | Iterable[Source]) -> Iterable[Source]:
    if isinstance(sources, list | tuple | set | frozenset):
        return sources
    # A generator may be endless or large: it is one source of documents.
    return [cast(Source, sources)]


def _checked(document: Document) -> Document:
    if not isinstance(document, Document):
        raise InvalidInputError(f"The iterable gave a {type(document).__name__}, not a Document.")
    return document


def _as_marked_up(document: Document) -> Document:
    """Return a document; Markdown has a title, is cut by its headings, and refers to its links, as a file does."""
    from libs.dataloader.formats.registry import is_markdown

    if document.format not in {"text", "markdown"} or no_text_in(document) is not None:
        return document
    if not is_markdown(document.path, document.mime_type) and (document.mime_type or document.format == "text"):
        return document
    from libs.dataloader.formats.markdown import find_links, heading_above

    title, links = document.title or heading_above(document.content), document.links
    if not links:
        from libs.dataloader.links import LinkCollector

        collector = LinkCollector(document.uri or standardize_resource_uri(document.path))
        collector.extend(find_links(document.content))
        links = collector.links()
    return replace(document, format="markdown", title=title, links=links)
