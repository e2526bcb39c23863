"""MCP tools that change a knowledge base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.rag.errors import InvalidInputError, SourceError
from libs.dataloader.formats import UnreadableError
from mgrag.mcp.arguments import LEFT_OUT, ONE_OR_SEVERAL, without_empty
from mgrag.mcp.lease import Usable
from mgrag.mcp.progress import progress_of_ingest
from mgrag.mcp.remembered import told
from mgrag.messages import nothing_to_forget
from mgrag.sources import Allowed, read_text

if TYPE_CHECKING:
    from core.rag.indexing.report import IngestReport


#: So many failures are named in an error.
_REASONS = 5


class Fact(BaseModel):
    """A fact that an agent states."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(description="Name of an entity.")
    relation: str = Field(description="In lower case, such as works_for.")
    object: str = Field(description="Name of another entity.")
    fact: str = Field(default="", description="The fact as a sentence.")
    valid_from: str | None = Field(
        default=None, description="Since when it holds, if known: a date, month or year (ISO 8601)."
    )
    valid_to: str | None = Field(default=None, description="The first day on which it does not hold any more.")

    @model_validator(mode="before")
    @classmethod
    def _as_it_is_meant(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError(
                "a fact is an object with subject, relation, object and optionally fact, valid_from, valid_to"
            )
        fields = cls.model_fields.items()
        return without_empty(given, {name: field.default for name, field in fields if not field.is_required()})


class WritingTools:
    """What an agent may change; the docstrings are written for agents.

    Args:
        lease: The knowledge base.
        allowed: What may be ingested.
    """

    def __init__(self, lease: Usable, allowed: Allowed) -> None:
        self._lease = lease
        self._allowed = allowed

    def all(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """The tools, as an agent is told of them."""
        return (self.add_document, self.ingest, self.add_records, self.remember, self.add_facts, self.rate)

    def destructive(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """Those that remove what cannot be had again."""
        return (self.delete_document, self.delete_record, self.revise, self.forget, self.remove_facts)

    async def add_document(
        self,
        path: Annotated[str, Field(description="Its name, such as notes/2026-01-31 kick-off.")],
        content: Annotated[str, Field(description="The text, in Markdown.")],
        title: Annotated[str, Field(description="Its title, if other than that of the text.")] = LEFT_OUT,
        metadata: Annotated[
            dict[str, Any] | None, Field(description="Values to filter by later: metadata.NAME=VALUE.")
        ] = None,
    ) -> dict[str, Any]:
        """Store a text as a document; replaces the document of the same name, if there is one."""
        try:
            document = read_text(path, content, "text/markdown", title=title, metadata=metadata)
        except UnreadableError as error:
            raise InvalidInputError(f"{path or 'The document'}: {error.reason}.") from error
        async with self._lease.use(create=True) as kb:
            return _outcome(await kb.ingest(document))

    async def ingest(
        self,
        source: Annotated[
            str, Field(description="URL of a page or site; or a file or folder, if the server allows it.")
        ],
        max_pages: Annotated[int, Field(ge=1, le=1000, description="Maximum number of pages of a site.")] = 50,
        url_pattern: Annotated[
            str, Field(description="Only pages whose URL matches this regular expression.")
        ] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Load a web page, a site, or files into the knowledge base; only changes are processed."""
        admitted, options = self._allowed.admit(source, max_pages=max_pages, url_pattern=url_pattern)
        async with self._lease.use(create=True) as kb, progress_of_ingest() as progress:
            return _outcome(await kb.ingest(admitted, progress=progress, **options))

    async def add_records(
        self,
        collection: Annotated[str, Field(description="The collection that they belong to, such as expenses.")],
        records: Annotated[
            list[dict[str, Any]],
            ONE_OR_SEVERAL,
            Field(
                min_length=1, max_length=500, description='JSON objects; one with the same "_id" or "id" is replaced.'
            ),
        ],
    ) -> dict[str, Any]:
        """Store rows of a table or other JSON objects, for query_records to filter, count and sum."""
        async with self._lease.use(create=True) as kb:
            return {"ids": [one.id for one in await kb.insert_many(collection, records)]}

    async def delete_record(
        self, record_id: Annotated[str, Field(description='Its id, as add_records and query_records give it in "ids".')]
    ) -> dict[str, Any]:
        """Remove a record; one that was read from a file comes back when the file changes."""
        async with self._lease.use() as kb:
            if not await kb.delete_record(record_id):
                raise InvalidInputError(
                    f"There is no record with the id {record_id[:100]!r}. query_records gives those of its rows in"
                    ' "ids", which are not fields of the records.'
                )
        return {"deleted": record_id}

    async def delete_document(
        self, path: Annotated[str, Field(description="Its whole path or URL.")]
    ) -> dict[str, Any]:
        """Remove a document, its passages, and everything that nothing else refers to."""
        async with self._lease.use() as kb:
            if not await kb.delete(path):
                raise InvalidInputError(await kb.explain_missing(path))
        return {"deleted": path}

    async def remember(
        self,
        session_id: Annotated[str, Field(description="The session that it belongs to; any name begins one.")],
        content: Annotated[str, Field(description="What to remember, in whole sentences.")],
        role: Annotated[str, Field(description="Who said it: user, assistant …")] = "user",
        tags: Annotated[list[str] | None, ONE_OR_SEVERAL, Field(description="Words by which to find it.")] = None,
        user_id: Annotated[
            str, Field(description="The user whom it concerns, to recall it in other sessions.")
        ] = LEFT_OUT,
        metadata: Annotated[
            dict[str, Any] | None, Field(description="Values by which recall can restrict what it finds.")
        ] = None,
        timestamp: Annotated[str, Field(description="When it was said (ISO 8601), if not now.")] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Store something to recall later; exact repeats are counted, not stored again."""
        async with self._lease.use(create=True) as kb:
            stored = await kb.remember(
                session_id, role, content, tags or (), user_id=user_id, metadata=metadata, timestamp=timestamp
            )
        return {"memoryId": stored}

    async def revise(
        self,
        memory_id: Annotated[str, Field(description="The memoryId of the memory.")],
        content: Annotated[str, Field(description="What it says from now on, in whole sentences.")] = LEFT_OUT,
        tags: Annotated[
            list[str] | None, ONE_OR_SEVERAL, Field(description="Instead of its tags; an empty list: none.")
        ] = None,
        metadata: Annotated[dict[str, Any] | None, Field(description="Instead of its metadata.")] = None,
    ) -> dict[str, Any]:
        """Correct a memory that is wrong or out of date; its id, time and place stay, and so does what is not given.

        What it said before is gone. To keep both, use remember: of two memories that fit, the later one comes first.
        """
        async with self._lease.use() as kb:
            revised = await kb.revise(memory_id, content, tags=tags, metadata=metadata)
        return (await told([revised]))[0]

    async def forget(
        self,
        memory_id: Annotated[str, Field(description="This memory.")] = LEFT_OUT,
        session_id: Annotated[str, Field(description="All of this session.")] = LEFT_OUT,
        user_id: Annotated[
            str, Field(description="All of this user, including viewed documents and ratings.")
        ] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Remove every trace of a memory, a session or a user. This cannot be undone."""
        named = {"session_id": session_id, "memory_id": memory_id, "user_id": user_id}
        async with self._lease.use() as kb:
            gone = (await kb.forget(**named)).to_dict()
        if not any(gone.values()):
            raise InvalidInputError(nothing_to_forget(**named))
        return gone

    async def add_facts(
        self,
        facts: Annotated[list[Fact], ONE_OR_SEVERAL, Field(min_length=1, max_length=500, description="The facts.")],
    ) -> dict[str, Any]:
        """Store facts about entities; entities that do not exist yet are created."""
        async with self._lease.use(create=True) as kb:
            return {"stored": await kb.add_triples([fact.model_dump() for fact in facts])}

    async def remove_facts(
        self,
        subject: Annotated[str, Field(description="Name or id of an entity.")],
        object: Annotated[str, Field(description="Name or id of the other entity.")],  # noqa: A002 - as in a fact
        relation: Annotated[str, Field(description="Only this relation; without it, all between the two.")] = LEFT_OUT,
        ended: Annotated[
            str,
            Field(description="The first day on which it is not true any more (ISO 8601): it stays, as history."),
        ] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Remove facts that add_facts stored, or end them: with ended, if they were true once; without, if never.

        Those found in documents stay with these.
        """
        async with self._lease.use() as kb:
            count = await kb.unlink(subject, object, relation, ended=ended)
        if not count:
            held = "" if ended is None else " that held then"
            raise InvalidInputError(
                f"add_facts stored no such fact about {subject[:100]!r} and {object[:100]!r}{held}. Use neighbors to"
                " see what there is."
            )
        return {"removed" if ended is None else "ended": count}

    async def rate(
        self,
        target: Annotated[str, Field(description="chunk_id of a hit, or path of a document.")],
        value: Annotated[float, Field(ge=-1, le=1, description="From -1 (wrong) to 1 (just right).")],
        query: Annotated[str, Field(description="What was asked.")] = LEFT_OUT,
        user_id: Annotated[str, Field(description="Who says so.")] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Rate how helpful a passage was; later searches take it into account."""
        async with self._lease.use() as kb:
            return {"rated": await kb.feedback(target, value, query, user_id)}


def _outcome(report: IngestReport) -> dict[str, Any]:
    """The report of an ingest, for the agent.

    Raises:
        SourceError: if nothing could be stored, with the reasons.
    """
    done = report.documents
    if done.failed and not (done.added or done.updated or done.unchanged):
        reasons = (f"{one.path}: {one.reason}" if one.path else one.reason for one in done.failed[:_REASONS])
        raise SourceError(f"Nothing was stored. {'; '.join(reasons)}")
    return report.to_dict()
