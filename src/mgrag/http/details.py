"""The bodies of responses about what is stored: documents, conversations, people, and the graph itself."""

from __future__ import annotations

from typing import Any, TypedDict


class OfSource(TypedDict):
    """A folder, file or site that a document was found in."""

    name: str | None
    type: str | None
    uri: str | None


class StoredDocument(TypedDict):
    """A document without its text."""

    id: str
    path: str
    uri: str | None
    title: str | None
    content_hash: str | None
    source_id: str | None
    mime_type: str | None
    metadata: dict[str, Any]
    status: str | None
    created_at: str | None
    updated_at: str | None
    sources: list[OfSource]


class ListedDocument(StoredDocument):
    """A document, and how many passages it has."""

    chunk_count: int


class Reference(TypedDict):
    """What a document links to: another document by its path, or an address."""

    kind: str
    target: str
    text: str | None


class Chunk(TypedDict):
    """A passage of a document; ``start_char`` and ``end_char`` count from the beginning of its text."""

    chunk_id: str
    document_id: str
    path: str
    title: str | None
    heading: str | None
    content: str
    chunk_index: int
    chunk_count: int | None
    start_char: int | None
    end_char: int | None
    metadata: dict[str, Any]


class WholeDocument(StoredDocument):
    """A document with its text, its links and its passages."""

    content: str
    references: list[Reference]
    chunks: list[Chunk]


class Conversation(TypedDict):
    """A conversation without its messages."""

    id: str
    title: str | None
    user_id: str | None
    message_count: int
    created_at: str | None
    updated_at: str | None


class ListedConversation(Conversation):
    """A conversation; ``beginning`` is that of its first message if it has no title."""

    beginning: str


class ListedUser(TypedDict):
    """A user; ``conversations`` is how many they own or have spoken in."""

    id: str
    name: str | None
    created_at: str
    updated_at: str
    conversations: int


class Said(TypedDict):
    """Something that was said; ``references`` are paths and addresses."""

    id: str
    role: str
    content: str
    timestamp: str
    sequence: int
    keywords: list[str]
    tags: list[str]
    metadata: dict[str, Any]
    user_id: str | None
    count: int
    summary: bool
    compacted_into: str | None
    created_at: str | None
    updated_at: str | None
    last_said_at: str
    last_accessed_at: str | None
    revised_at: str | None
    references: list[str]


class Message(Said):
    """A message of a conversation."""

    conversation_id: str


class WholeConversation(Conversation):
    """A conversation with its messages in order."""

    messages: list[Message]


class RetrievedPassage(TypedDict):
    """A passage that was found for a question."""

    chunk_id: str
    path: str | None
    rank: int
    score: float


class AnsweredMessage(Message):
    """A message with the passages that were found for it."""

    retrieved: list[RetrievedPassage]


class MessageElsewhere(Said):
    """A message in a conversation of somebody else; ``session_id`` is that conversation."""

    session_id: str
    retrieved: list[RetrievedPassage]


class OwnConversation(Conversation):
    """A conversation with what a person said in it."""

    messages: list[AnsweredMessage]


class Person(TypedDict):
    """Somebody who asks."""

    id: str
    external_id: str
    name: str | None
    created_at: str | None
    updated_at: str | None


class View(TypedDict):
    """A document that somebody viewed."""

    document_id: str
    path: str
    title: str | None
    count: int
    first_at: str | None
    last_at: str | None


class Rating(TypedDict):
    """How helpful somebody found a passage, -1 to 1."""

    chunk_id: str
    path: str | None
    value: float
    query: str | None
    rated_at: str | None


class PersonalData(TypedDict):
    """Everything that is stored about a person."""

    user: Person | None
    conversations: list[OwnConversation]
    messages: list[MessageElsewhere]
    viewed: list[View]
    ratings: list[Rating]


class Engine(TypedDict):
    """What stores the graph, and what that can do."""

    engine: str
    version: str
    location: str | None
    vector_search: bool
    text_search: bool
    text_index_per_namespace: bool
    shared: bool
    read_only: bool
    notes: list[str]
    problems: list[str]


class StoredVectors(TypedDict):
    """The vectors of one embedding model; ``status`` is ``active``, ``building`` or ``standby``."""

    id: str
    namespace: str
    model: str
    dimension: int
    index_name: str
    status: str
    vectors: int


class EmbeddingModel(TypedDict):
    """The model that makes vectors."""

    model: str
    dimension: int | None


class FailedChunk(TypedDict):
    """A passage that a language model could not extract facts from."""

    id: str
    path: str | None
    reason: str | None


class FactProgress(TypedDict):
    """How many passages a language model has extracted facts from, and has not."""

    done: int
    failed: int
    waiting: int
    failures: list[FailedChunk]


class Status(TypedDict):
    """What a namespace contains; ``location`` and ``bytes`` only for callers who may use all namespaces."""

    engine: Engine
    location: str | None
    bytes: int | None
    namespace: str
    nodes: dict[str, int]
    edges: dict[str, int]
    vector_stores: list[StoredVectors]
    embedding_model: EmbeddingModel
    facts: FactProgress
