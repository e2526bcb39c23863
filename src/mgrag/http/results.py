"""The bodies of responses, as the description of the API tells them to generated clients.

Where a result of the library is what is sent, the routes name it themselves.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from core.rag.dbhandler.knowledge.recording import Inserted
from core.rag.graph.parts import GraphEdge, GraphNode
from core.rag.graph.searching import KnowledgeHit
from core.rag.indexing.report import DocumentCounts, VectorCounts
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.tables.table import RecordField
from mgrag.http.details import ListedConversation, ListedDocument, ListedUser, View


class Documents(TypedDict):
    """Documents by path; ``next`` is the ``after`` of the next page."""

    documents: list[ListedDocument]
    next: str


class Ingested(TypedDict):
    """What was stored, and what was not."""

    documents: DocumentCounts
    chunks: int
    vectors: VectorCounts
    seconds: float
    interrupted: bool
    warnings: list[str]
    facts: NotRequired[dict[str, Any]]


class ExtractionFailure(TypedDict):
    """A passage that the language model could not extract facts from; a later call tries it again."""

    chunk_id: str
    reason: str


class ExtractedFacts(TypedDict):
    """What a language model found; ``stopped`` says why it ended early, ``waiting`` counts passages not read yet."""

    chunks: int
    entities: int
    facts: int
    unwanted: int
    unnamed: int
    failed: list[ExtractionFailure]
    stopped: str
    waiting: int


class Deleted(TypedDict):
    """What was removed: its path, name or id."""

    deleted: str


class DeletedDocuments(TypedDict):
    """The paths of the documents that match, and how many of these were removed."""

    matching: list[str]
    deleted: int


class Passages(TypedDict):
    """Passages, best first, and typing errors in the query with what was searched for instead.

    ``note`` says, where nothing was found, if no document has the metadata that the filter names.
    """

    hits: list[Hit]
    corrected: dict[str, str]
    note: str


class InsertedRecords(TypedDict):
    """Records, in the order in which they were sent."""

    inserted: list[Inserted]


class Record(TypedDict):
    """A record."""

    id: str
    collection: str
    data: dict[str, Any]


class Records(TypedDict):
    """Records of a collection by id; ``next`` is the ``after`` of the next page."""

    records: list[Record]
    next: str


class RecordFields(TypedDict):
    """The fields of the records of a collection."""

    fields: list[RecordField]


class Collection(TypedDict):
    """A collection, and how many records it has."""

    name: str
    records: int


class Collections(TypedDict):
    """Collections by name."""

    collections: list[Collection]


class Results(TypedDict):
    """Records and documents, best first."""

    results: list[KnowledgeHit]
    total: int


class ContextLine(TypedDict):
    """A fact, record or passage."""

    text: str
    relevance: float
    sourceDocId: str | None


class Context(TypedDict):
    """What a language model is given along with a question."""

    contextChunks: list[ContextLine]
    graphPath: list[str]
    sourceDocuments: list[dict[str, Any]]
    usage: str


class Nodes(TypedDict):
    """Entities, best first."""

    nodes: list[GraphNode]


class NodePage(TypedDict):
    """Entities by name; ``next`` is the ``after`` of the next page."""

    nodes: list[GraphNode]
    next: str


class Way(TypedDict):
    """Nodes from one end to the other, and the edges between them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    cost: float
    exact: bool
    length: int


class FoundWay(TypedDict):
    """The shortest path; ``null``: there is none."""

    path: Way | None


class RecallReason(TypedDict):
    """Why a memory was recalled: ``words``, ``tags``, ``meaning``; ``near`` or ``later`` than the one that is named."""

    reason: str
    memoryId: str | None


class Memory(TypedDict):
    """Something that was said, or a summary of it."""

    memoryId: str
    sessionId: str
    userId: str | None
    role: str
    type: str
    content: str
    keywords: list[str]
    tags: list[str]
    metadata: dict[str, Any]
    count: int
    createdAt: str
    lastSaidAt: str
    lastAccessedAt: str
    revisedAt: str | None
    relevance: float | None
    because: RecallReason | None
    compactedInto: str | None


class Memories(TypedDict):
    """Memories, the best first where they were searched for, else in order."""

    memories: list[Memory]


class Remembered(TypedDict):
    """What was stored."""

    memoryId: str


class RememberedAll(TypedDict):
    """What was stored, in the order in which it was sent; that of an exact repeat comes again."""

    memoryIds: list[str]


class Compacted(TypedDict):
    """The summary that was written; ``null``: there was nothing to summarise."""

    memoryId: str | None


class Anonymized(TypedDict):
    """The new ids of conversations, how many messages in those of others were changed, and what was replaced."""

    conversations: list[str]
    elsewhere: int
    replaced: dict[str, int]


class Conversations(TypedDict):
    """Conversations, the latest first; ``next`` is the ``after`` of the next page."""

    conversations: list[ListedConversation]
    next: str


class Users(TypedDict):
    """Users by id; ``next`` is the ``after`` of the next page."""

    users: list[ListedUser]
    next: str


class Views(TypedDict):
    """Documents that a user viewed, the latest first."""

    viewed: list[View]


class NewConversationId(TypedDict):
    """The conversation that was begun."""

    conversationId: str


class NewMessageId(TypedDict):
    """The message that was added."""

    messageId: str


class Rated(TypedDict):
    """The ids of the passages that were rated."""

    rated: list[str]


class Imported(TypedDict):
    """How many nodes and edges a copy holds, by label and type."""

    nodes: dict[str, int]
    edges: dict[str, int]


class Health(TypedDict):
    """Whether the graph can be reached."""

    status: str


class Database(TypedDict):
    """A namespace, and how many nodes of each label it has."""

    name: str
    nodes: dict[str, int]


class Databases(TypedDict):
    """Namespaces by name."""

    databases: list[Database]
