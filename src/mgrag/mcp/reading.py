"""MCP tools that read a knowledge base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from core.rag.retrieval.hits import SearchMode
from mgrag.mcp.arguments import LEFT_OUT, ONE_OR_SEVERAL
from mgrag.mcp.edges import named
from mgrag.mcp.lease import Usable
from mgrag.mcp.remembered import PAGE_CHARS, told
from mgrag.mcp.tables import page_of
from mgrag.pages import documents_page
from mgrag.places import without_place

_Limit = Annotated[int, Field(ge=1, le=50, description="At most this many.")]
_Passages = Annotated[int, Field(ge=1, le=50, description="At most this many passages.")]
_Filters = Annotated[
    str,
    Field(
        description="Restricts the documents: 'path:docs/ updated>=2026-01-01 metadata.author=Ada', where the path"
        " begins like those that list_documents returns. Rarely needed."
    ),
]
_Conversation = Annotated[
    str, Field(description="The conversation that it belongs to: earlier messages tell what it refers to.")
]
_At = Annotated[
    str,
    Field(
        description="Facts that held at this time (ISO 8601; also a year or month), or ever for those of all times; now"
        " by default."
    ),
]
_Node = Annotated[str, Field(description="Name or id of an entity, or path of a document.")]


class ReadingTools:
    """What an agent may ask; the docstrings are written for agents.

    Args:
        lease: The knowledge base.
        recording: Whether questions and answers are recorded in the conversation that they are asked in.
        local: Whether agents are on this machine, and may know where on it the graph is, and how large.
    """

    def __init__(self, lease: Usable, *, recording: bool = True, local: bool = True) -> None:
        self._lease = lease
        self._recording = recording
        self._local = local

    def all(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """The tools, as an agent is told of them."""
        return (
            self.search,
            self.graph_context,
            self.read_document,
            self.list_documents,
            self.describe_records,
            self.query_records,
            self.find_entities,
            self.neighbors,
            self.find_path,
            self.recall,
            self.list_memories,
            self.read_memory,
            self.status,
        )

    def answering(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """Those that read only, unless an agent names a conversation."""
        return (self.ask,)

    async def search(
        self,
        query: Annotated[str, Field(description="What to look for: a question, words or names.")],
        k: _Passages = 5,
        mode: Annotated[
            SearchMode,
            Field(description="Normally auto; fuzzy finds misspelt titles and names."),
        ] = "auto",
        filters: _Filters = LEFT_OUT,
        expand: Annotated[int, Field(ge=0, le=5, description="Neighbouring passages to add on either side.")] = 0,
        conversation_id: _Conversation = LEFT_OUT,
        user_id: Annotated[str, Field(description="Who asks: their own ratings count first.")] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Find passages of the documents, by words, by meaning, and by following names from one passage to the next.

        Each hit has its content, path, heading and score; "because" says what led to it. "corrected" has typing errors
        in the query, with what was searched for instead. "note" says if no document has what the filters name.
        """
        async with self._lease.use() as kb:
            corrected = await kb.corrections(query, mode, filters=filters)
            hits = await kb.search(
                query, k, mode, filters=filters, expand=expand, conversation_id=conversation_id, user_id=user_id
            )
            note = "" if hits else await kb.explain_filter(filters)
        return {"hits": [hit.to_dict() for hit in hits], "corrected": corrected} | ({"note": note} if note else {})

    async def ask(
        self,
        question: Annotated[str, Field(description="The question, as a whole sentence.")],
        k: _Passages = 5,
        filters: _Filters = LEFT_OUT,
        conversation_id: _Conversation = LEFT_OUT,
        user_id: Annotated[str, Field(description="Who asks, in a conversation of several people.")] = LEFT_OUT,
    ) -> dict[str, Any]:
        """Answer a question from the documents, with citations that have been checked against their sources.

        Without a language model on the server, the answer consists of the most relevant sentences, quoted verbatim.
        "found" says whether anything relevant was found, and "supported" whether the sources support the answer:
        "unsupported" are sentences that they do not support, "missing" sentences that cite nothing, "untold" sentences
        that could not be checked, because they are in another language than what they cite.
        With conversation_id, question and answer are recorded there, unless the server is for reading only; any name
        begins one.
        """
        async with self._lease.use() as kb:
            answer = await kb.ask(
                question,
                conversation_id=conversation_id,
                k=k,
                filters=filters,
                user_id=user_id,
                record=self._recording,
            )
        given = answer.to_dict()
        told = ("text", "found", "supported", "citations", "unsupported", "missing", "untold")
        return {name: given[name] for name in told}

    async def graph_context(
        self,
        question: Annotated[str, Field(description="A question, or the names that it is about.")],
        depth: Annotated[int, Field(ge=1, le=4, description="How many steps to follow in the graph.")] = 2,
        limit: _Limit = 5,
        at: _At = LEFT_OUT,
        filters: _Filters = LEFT_OUT,
    ) -> dict[str, Any]:
        """Get facts, records and passages about the entities that a question names, to reason about."""
        async with self._lease.use() as kb:
            return (await kb.ask_context(question, depth, limit, at=at, filters=filters)).to_dict()

    async def read_document(
        self,
        path: Annotated[str, Field(description="Path or URL, as in a hit; or a unique title.")],
        start: Annotated[int, Field(ge=0, description="Position of the first character to read.")] = 0,
    ) -> dict[str, Any]:
        """Read a document, up to 20,000 characters at a time; pass "next_start" as start to read on."""
        async with self._lease.use() as kb:
            document = await kb.show(path)
        names = ("path", "title", "mime_type", "updated_at", "metadata", "references")
        return {**{name: document[name] for name in names}, **_page(document["content"], start)}

    async def list_documents(
        self,
        prefix: Annotated[str, Field(description="Only paths that begin with it.")] = "",
        limit: Annotated[int, Field(ge=1, le=500, description="At most this many.")] = 100,
        after: Annotated[str, Field(description="The next of the previous page.")] = "",
    ) -> dict[str, Any]:
        """List the documents, sorted by path; "next" is empty where there are no more.

        Documents of one path are on one page, which may have more than the limit then.
        """
        async with self._lease.use() as kb:
            found, more = await documents_page(kb, prefix, limit, after)
        names = ("path", "title", "mime_type", "chunk_count", "updated_at")
        return {"documents": [{name: document[name] for name in names} for document in found], "next": more}

    async def describe_records(
        self,
        collection: Annotated[
            str, Field(description="Describe the fields of this collection; without it, list the collections.")
        ] = LEFT_OUT,
    ) -> dict[str, Any]:
        """List the collections of records (rows of tables, JSON objects), or describe the fields of one.

        Do this before query_records, which answers questions about all records of a collection.
        """
        async with self._lease.use() as kb:
            if collection:
                return {"fields": [field.to_dict() for field in await kb.record_fields(collection)]}
            there = await kb.collections()
        return {"collections": [{"name": name, "records": number} for name, number in there.items()]}

    async def query_records(
        self,
        collection: Annotated[str, Field(description="As describe_records lists it.")],
        filters: Annotated[
            str,
            Field(
                description="Only records that match: 'team=Sales salary>=60000 start>=2020 (city=Paris or city=Rome)';"
                " names of fields and values with spaces in quotes: '\"unit price\">3'. *= means contains."
            ),
        ] = LEFT_OUT,
        group_by: Annotated[
            list[str] | None,
            ONE_OR_SEVERAL,
            Field(
                description="One row for each value of these fields. Dates by year, quarter, month, week, day or hour:"
                " 'created:month'."
            ),
        ] = None,
        measures: Annotated[
            list[str] | None,
            ONE_OR_SEVERAL,
            Field(
                description="count (the default with group_by), or count, distinct, sum, avg, median, min, max with a"
                " field: 'avg:salary'. For each group, or without group_by for all records together."
            ),
        ] = None,
        fields: Annotated[
            list[str] | None, ONE_OR_SEVERAL, Field(description="Columns of single records; all without it.")
        ] = None,
        order_by: Annotated[
            list[str] | None, ONE_OR_SEVERAL, Field(description="Columns to sort by; '-salary': the largest first.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=200, description="At most this many rows.")] = 20,
        start: Annotated[int, Field(ge=0, le=100_000, description="The next_start of the previous page.")] = 0,
    ) -> dict[str, Any]:
        """Answer a question about tables exactly: how many, which, the largest, sums and averages, in groups.

        Searching finds only the nearest rows; this looks at all of them. "records" is how many match, "total" how many
        rows there are, and "left_out" how many values of a measure were no numbers. Up to 20,000 characters of rows are
        given at a time; pass "next_start" as start for more, or name fewer fields.
        """
        async with self._lease.use() as kb:
            found = await kb.tabulate(
                collection,
                filters=filters,
                group_by=group_by,
                measures=measures,
                fields=fields,
                order_by=order_by,
                limit=start + limit,
            )
        return page_of(found, start)

    async def find_entities(
        self,
        query: Annotated[str, Field(description="Words of the name, or the beginnings of words.")],
        limit: _Limit = 20,
        type: Annotated[str, Field(description="Only entities of this type.")] = LEFT_OUT,  # noqa: A002
    ) -> dict[str, Any]:
        """Find entities of the knowledge graph (people, organisations, products, terms …) by name."""
        async with self._lease.use() as kb:
            found = await kb.search_nodes(query, limit, type=type)
        return {"nodes": [node.to_dict() for node in found]}

    async def neighbors(
        self,
        node: _Node,
        relations: Annotated[
            list[str] | None,
            ONE_OR_SEVERAL,
            Field(description="Only edges of these relations, such as works_at."),
        ] = None,
        limit: _Limit = 20,
        after: Annotated[str, Field(description="The next of the previous page.")] = "",
        at: _At = LEFT_OUT,
    ) -> dict[str, Any]:
        """List what an entity or a document is connected to in the graph, and how; "next" is empty at the end."""
        async with self._lease.use() as kb:
            page = await kb.neighbors(node, relations=relations, limit=limit, after=after, at=at)
        return {**page.to_dict(), "edges": named(page.edges, [page.node, *page.nodes])}

    async def find_path(self, start: _Node, end: _Node, at: _At = LEFT_OUT) -> dict[str, Any]:
        """Find the shortest connection between two entities or documents; null if there is none."""
        async with self._lease.use() as kb:
            path = await kb.shortest_path(start, end, at=at)
        return {"path": None if path is None else {**path.to_dict(), "edges": named(path.edges, path.nodes)}}

    async def recall(
        self,
        query: Annotated[
            str, Field(description="What to look for; without it, what the other arguments say, the latest first.")
        ] = "",
        session_id: Annotated[str, Field(description="Only of this session.")] = LEFT_OUT,
        user_id: Annotated[str, Field(description="Only of this user.")] = LEFT_OUT,
        tags: Annotated[list[str] | None, ONE_OR_SEVERAL, Field(description="Only what has all of these tags.")] = None,
        since: Annotated[str, Field(description="Only what was said at this time or later: ISO 8601.")] = LEFT_OUT,
        before: Annotated[str, Field(description="Only what was said before this time: ISO 8601.")] = LEFT_OUT,
        filters: Annotated[
            str, Field(description="Only what has such metadata: 'metadata.project=mill metadata.year>=2020'.")
        ] = LEFT_OUT,
        limit: _Limit = 5,
    ) -> dict[str, Any]:
        """Search or list what was remembered: in one session, in all sessions of a user, or everywhere.

        "because" says why each was recalled: "near" another one that fits, or "later" than one that it may have
        replaced. Of what is long, "content" is a part, and "length" that of the whole: see read_memory.
        """
        async with self._lease.use() as kb:
            found = await kb.recall(
                session_id, query, limit, user_id=user_id, tags=tags, since=since, before=before, filters=filters
            )
        return {"memories": await told(found, query)}

    async def read_memory(
        self,
        memory_id: Annotated[str, Field(description="Its memoryId.")],
        start: Annotated[int, Field(ge=0, description="Position of the first character to read.")] = 0,
    ) -> dict[str, Any]:
        """Read one memory, up to 20,000 characters at a time; pass "next_start" as start to read on."""
        async with self._lease.use() as kb:
            memory = await kb.memory(memory_id)
        (known,) = await told([memory])
        return {**known, **_page(memory.content, start)}

    async def list_memories(
        self,
        session_id: Annotated[str, Field(description="The session.")],
        limit: _Limit = 20,
        before: Annotated[str, Field(description="Only those before this one: its memoryId.")] = LEFT_OUT,
    ) -> dict[str, Any]:
        """List the latest memories of a session, in order; of what is long, the beginning, and its "length"."""
        async with self._lease.use() as kb:
            found = await kb.memories(session_id, limit=limit, before=before)
        return {"memories": await told(found)}

    async def status(self) -> dict[str, Any]:
        """Report what the graph contains, how much of it, and which engine stores it."""
        async with self._lease.use() as kb:
            found = await kb.status()
        return found if self._local else without_place(found)


def _page(text: str, start: int) -> dict[str, Any]:
    """A part of a text that begins at a position, and where to read on."""
    end = min(start + PAGE_CHARS, len(text))
    return {
        "content": text[start:end],
        "start": start,
        "length": len(text),
        "next_start": end if end < len(text) else None,
    }
