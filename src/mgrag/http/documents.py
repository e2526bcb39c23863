"""Routes for documents: store, list, read and delete them, search their passages, and answer from them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict
from functools import partial
from mimetypes import guess_type
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AliasChoices, Field

from core.rag.answering.answers import MAX_PASSAGES, StrategyName
from core.rag.answering.events import DoneEvent, Event
from core.rag.answering.types import Answer
from core.rag.errors import InvalidInputError, MGRagError, NotFoundError
from core.rag.identity import uri_of_name
from core.rag.indexing.report import FailedDocument, IngestReport
from core.rag.knowledge_base import KnowledgeBase
from core.rag.retrieval.hits import SearchMode
from libs.dataloader import Document
from libs.dataloader.formats import FileData, UnreadableError, read_document
from mgrag.http.bases import (
    After,
    Body,
    Filters,
    Reading,
    Short,
    User,
    Words,
    Writing,
    bases_of,
    caller_of,
    check_model,
)
from mgrag.http.details import ListedDocument, WholeDocument
from mgrag.http.errors import body_of
from mgrag.http.results import Deleted, DeletedDocuments, Documents, Ingested, Passages
from mgrag.pages import documents_page
from mgrag.sources import read_text

router = APIRouter(tags=["documents"])

_AT_ONCE = 1000

#: An ingest of admitted sources, not begun yet.
type _Ingest = Callable[..., Coroutine[Any, Any, IngestReport]]

_MARKUP = frozenset(["text/markdown", "text/html"])


class NewDocument(Body):
    """A text to be stored."""

    path: str = Field(min_length=1, description="Its name; a document of the same name is replaced.")
    content: str = Field(description="Markdown and HTML are read as such, everything else as plain text.")
    title: str | None = Field(default=None, description="Default: that of the text, else the last part of its name.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Values to filter by.")
    mime_type: str | None = Field(default=None, description="Such as text/html; default: by the ending of its name.")


class NewDocuments(Body):
    """Texts to be stored."""

    documents: list[NewDocument] = Field(min_length=1, max_length=_AT_ONCE, description="Each with a path of its own.")


class Sources(Body):
    """What to load."""

    sources: list[Words] = Field(min_length=1, max_length=100, description="URLs; or files, if the server allows them.")
    max_pages: int = Field(
        default=50,
        ge=1,
        le=10_000,
        validation_alias=AliasChoices("maxPages", "max_pages", "maxUrls", "max_urls"),
        description="Maximum number of pages of a site.",
    )
    url_pattern: str | None = Field(
        default=None, max_length=1000, description="Only pages whose URL matches this regular expression."
    )
    include: list[str] = Field(default_factory=list, description="Of folders, only files that match: *.md, docs/.")
    exclude: list[str] = Field(default_factory=list, description="Of folders, no files or folders that match.")
    gitignore: bool = Field(default=True, description="Of folders, leave out what .gitignore files do.")
    prune: bool = Field(default=False, description="Remove documents that vanished from these sources.")
    facts: bool | None = Field(
        default=None,
        description="Have the language model extract facts from what is new; by default as the server is set.",
    )


class ChunkSearch(Body):
    """What to search passages for."""

    query: Words = Field(description="A question, words or names.")
    k: int = Field(
        default=5, ge=1, le=1000, validation_alias=AliasChoices("k", "limit"), description="Maximum number of hits."
    )
    mode: SearchMode = Field(default="auto", description="auto chooses graph or hybrid; fuzzy finds misspelt titles.")
    filters: Filters | None = Field(
        default=None,
        description="Such as path:docs/ updated>=2026-01-01, where the path begins like those of GET /documents.",
    )
    expand: int = Field(default=0, ge=0, le=20, description="Neighbouring passages to add on either side.")
    conversation_id: Short | None = Field(
        default=None, description="It has to exist: its messages tell what the query refers to."
    )
    user_id: User | None = Field(default=None, description="Who searches: their own ratings count first.")
    rerank: bool = Field(default=True, description="False: leave the reranker out, if the server has one.")


class Question(Body):
    """A question to answer."""

    question: Words = Field(description="As a whole sentence.")
    strategy: StrategyName = Field(default="auto", description="How the material for the answer is found.")
    k: int = Field(
        default=5,
        ge=1,
        le=MAX_PASSAGES,
        validation_alias=AliasChoices("k", "limit"),
        description="Maximum number of passages to answer from.",
    )
    filters: Filters | None = Field(default=None, description="Only passages of documents that pass.")
    conversation_id: Short | None = Field(default=None, description="Question and answer are recorded in it.")
    user_id: User | None = Field(default=None, description="Who asks, in a conversation of several people.")
    record: bool = Field(default=True, description="False: the conversation has to exist, and is only read.")
    extracts: bool = Field(default=False, description="Answer with sentences of the passages, not by the model.")
    instructions: str | None = Field(default=None, description="What else the model is told about its answer.")


@router.get("/documents")
async def list_documents(
    kb: Reading,
    prefix: str = "",
    limit: Annotated[int, Query(ge=1, le=_AT_ONCE)] = 100,
    after: After = "",
) -> Documents:
    """List documents by path."""
    found, more = await documents_page(kb, prefix, limit, after)
    return {"documents": cast("list[ListedDocument]", found), "next": more}


@router.post("/documents")
async def put_documents(kb: Writing, body: NewDocuments) -> Ingested:
    """Store texts as documents. Those that have not changed are left alone."""
    for path, times in Counter(document.path for document in body.documents).items():
        if times > 1:
            raise InvalidInputError(
                f"{times} documents of this request have the path {path[:200]!r}: each needs its own."
            )
    documents: list[Document] = []
    failed: list[FailedDocument] = []
    for given in body.documents:
        try:
            documents.append(await asyncio.to_thread(_read, given))
        except UnreadableError as error:
            failed.append(FailedDocument(given.path, error.reason))
    return await _stored(kb, documents, failed)


@router.post("/files")
async def upload_files(
    kb: Writing,
    request: Request,
    files: Annotated[
        list[UploadFile],
        # FastAPI describes the items without "format", by which generators of clients know files from texts.
        File(
            description="Files of any supported format.",
            json_schema_extra={"items": {"type": "string", "format": "binary"}, "minItems": 1},
        ),
    ],
    prefix: Annotated[str, Form(description="Put before their names, such as handbook/.")] = "",
) -> Ingested:
    """Store files as documents. A file that cannot be stored is reported with the reason."""
    form = await request.form()
    if unknown := [name for name in form if name not in ("files", "prefix")]:
        raise InvalidInputError(f"This form has no field {unknown[0][:200]!r} (there are files and prefix).")
    if len(form.getlist("prefix")) > 1:
        raise InvalidInputError("prefix can be given once only.")
    documents: list[Document] = []
    failed: list[FailedDocument] = []
    taken: set[str] = set()
    for file in files:
        path = prefix + (file.filename or "")
        if not path:
            raise InvalidInputError("A file has no name; documents are known by their names.")
        if path in taken:
            failed.append(FailedDocument(path, "another file of this request has the same name"))
            continue
        taken.add(path)
        data = FileData(path, await file.read(), uri_of_name(path), max_bytes=bases_of(request).max_bytes)
        try:
            documents.append(await asyncio.to_thread(read_document, data, file.content_type))
        except UnreadableError as error:
            failed.append(FailedDocument(path, error.reason))
    return await _stored(kb, documents, failed)


# What refuses a request is not a part of the routes themselves: that of a stream runs when its response has begun.
async def _admitted(kb: Writing, body: Sources, request: Request) -> _Ingest:
    """What an ingest is called with: the sources that the server allows, and their options."""
    if body.facts:
        check_model(kb)
    allowed = bases_of(request).allowed
    sources: list[str] = []
    options: dict[str, Any] = {"include": body.include, "exclude": body.exclude, "gitignore": body.gitignore}
    for source in body.sources:
        admitted, own = allowed.admit(source, max_pages=body.max_pages, url_pattern=body.url_pattern)
        sources.append(admitted)
        options |= own
    return partial(kb.ingest, sources, prune=body.prune, facts=body.facts, **options)


@router.post("/ingest")
async def ingest(load: Annotated[_Ingest, Depends(_admitted)]) -> Ingested:
    """Load pages, sites or files; responds when all is stored. Use ``/ingest/stream`` for what takes minutes."""
    return _told(await load())


# FastAPI leaves the stream of somebody who went away while events were waiting to the garbage collector, which comes
# much later. What a dependency holds ends with the response, here and for answers.
async def _endings() -> AsyncIterator[AsyncExitStack]:
    """What is to be ended with the response."""
    async with AsyncExitStack() as stack:
        yield stack


@router.post("/ingest/stream", response_class=EventSourceResponse)
async def ingest_stream(
    load: Annotated[_Ingest, Depends(_admitted)],
    request: Request,
    endings: Annotated[AsyncExitStack, Depends(_endings)],
) -> AsyncIterator[ServerSentEvent]:
    """The same as server-sent events: ``progress`` now and then, and ``done`` or ``error`` at the end.

    It ends when the caller goes away; what was finished before is stored.
    """
    changed = asyncio.Event()
    latest: dict[str, Any] = {}

    def progress(report: IngestReport) -> None:
        latest.update(report.to_dict())
        changed.set()

    task = asyncio.create_task(load(progress=progress))
    task.add_done_callback(lambda _: changed.set())
    endings.push_async_callback(_cancel, task)
    try:
        while not task.done():
            await changed.wait()
            changed.clear()
            if not task.done():
                yield ServerSentEvent(event="progress", data=dict(latest))
        yield ServerSentEvent(event="done", data=task.result().to_dict())
    except MGRagError as error:
        yield ServerSentEvent(event="error", data=body_of(error, request))


async def _cancel(task: asyncio.Task[IngestReport]) -> None:
    task.cancel()
    await asyncio.wait([task])


@router.delete("/documents")
async def delete_matching(
    kb: Writing,
    prefix: Annotated[str, Query(description="Their paths begin with it.")] = "",
    source: Annotated[str, Query(description="Name or URI of the source that they come from.")] = "",
    filters: Annotated[str | None, Query(description="They pass it, such as metadata.author=Ada.")] = None,
    dry_run: Annotated[
        bool,
        Query(
            validation_alias=AliasChoices("dryRun", "dry_run"),
            description="Only tell which would be removed.",
        ),
    ] = False,
) -> DeletedDocuments:
    """Remove all documents whose path begins with a prefix, of a source, or that pass a filter: one of these."""
    found = await kb.matching(prefix=prefix, source=source, filters=filters)
    deleted = 0 if dry_run else await kb.delete_all([row["id"] for row in found])
    return {"matching": [row["path"] for row in found], "deleted": deleted}


@router.get("/documents/{path:name}")
async def read(kb: Reading, path: str) -> WholeDocument:
    """Read a document, with its sources and references; the path is percent-encoded, also where it is a URL."""
    return cast("WholeDocument", await kb.show(path))


@router.delete("/documents/{path:name}")
async def delete(kb: Writing, path: str) -> Deleted:
    """Remove a document with its passages, and everything that nothing else refers to."""
    if not await kb.delete(path):
        raise NotFoundError(await kb.explain_missing(path))
    return {"deleted": path}


@router.post("/chunks/search")
async def search_chunks(kb: Reading, body: ChunkSearch) -> Passages:
    """Find passages, by words, by meaning, and through the graph."""
    corrected = await kb.corrections(body.query, body.mode, filters=body.filters)
    hits = await kb.search(**body.model_dump())
    return {"hits": hits, "corrected": corrected, "note": "" if hits else await kb.explain_filter(body.filters)}


async def _check_recording(kb: Reading, body: Question, request: Request) -> None:
    """Refuse to record an answer for those who may only read."""
    if body.conversation_id is not None and body.record:
        caller_of(request).check(kb.namespace, writing=True)


async def _answering(kb: Reading, body: Question) -> AsyncIterator[AsyncGenerator[Event, None]]:
    async with aclosing(kb.ask_stream(**body.model_dump())) as events:
        yield events


@router.post("/answer", dependencies=[Depends(_check_recording)])
async def answer(kb: Reading, body: Question) -> Answer:
    """Answer a question from the documents, with verified citations."""
    answered: Answer = await kb.ask(**body.model_dump())
    return answered


@router.post("/answer/stream", response_class=EventSourceResponse, dependencies=[Depends(_check_recording)])
async def answer_stream(
    events: Annotated[AsyncGenerator[Event, None], Depends(_answering)], request: Request
) -> AsyncIterator[ServerSentEvent]:
    """The same as server-sent events: ``analysis``, ``retrieval``, ``token``, ``citation``, ``done``, or ``error``.

    If the caller goes away before the end, the conversation has what was told until then, marked as cut.
    """
    try:
        async for event in events:
            data = event.answer.to_dict() if isinstance(event, DoneEvent) else asdict(event)
            yield ServerSentEvent(event=event.type, data=data)
    except MGRagError as error:
        yield ServerSentEvent(event="error", data=body_of(error, request))


def _read(given: NewDocument) -> Document:
    """The document that is meant: Markdown and HTML are read as files of them are, everything else is plain text."""
    kind = given.mime_type or guess_type(given.path)[0] or ""
    if kind.partition(";")[0].strip().lower() not in _MARKUP:
        return Document(**given.model_dump(), uri=uri_of_name(given.path))
    return read_text(given.path, given.content, kind, title=given.title, metadata=given.metadata)


async def _stored(kb: KnowledgeBase, documents: list[Document], failed: list[FailedDocument]) -> Ingested:
    """Store documents, and report them along with those that could not be read."""
    report = await kb.ingest(documents) if documents else IngestReport()
    report.documents.failed += failed
    return _told(report)


def _told(report: IngestReport) -> Ingested:
    return cast("Ingested", report.to_dict())
