"""The schema: every label, edge type, index and constraint of the graph.

Every node has ``id`` (string, unique per label, indexed), ``namespace``, ``created_at`` and ``updated_at``
(UTC, ISO 8601). The properties beyond those are listed at :class:`Label`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.rag.errors import InvalidNameError
from libs.regexes import regex

SCHEMA_VERSION = 1

DEFAULT_VECTOR_INDEX = "vector_embedding_index"

#: ``origin`` of a node or edge that came out of texts and records; what callers make and link by hand has another.
FROM_TEXT = "text"

_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Label(StrEnum):
    """Node labels, with the properties that a node has beyond id, namespace and the two times."""

    SOURCE = "Source"  # name, type, uri
    DOCUMENT = "Document"  # path, uri, title, content, content_hash, source_id, mime_type, metadata, status
    CHUNK = "DocumentChunk"  # path, content, terms, partition, content_hash, parent_id, chunk_index, chunk_count …
    VECTOR_STORE = "VectorStore"  # model, dimension, status, index_name
    VECTOR = "Vector"  # chunk_id, vector_store_id, embedding
    RESOURCE = "Resource"  # uri, type, description
    SYMBOL = "Symbol"  # name, kind, signature, line
    TOOL = "Tool"  # name, description, schema
    TOPIC = "Topic"  # name, description
    CONCEPT = "Concept"  # name, description, key, label, content, head, content_hash, appendix, trunks, pending
    ENTITY = "Entity"  # name, normalized_name, type, summary, mention_count, titled, origin …
    DISTINCTION = "Distinction"  # entity, other: ids of two entities of which a person says that they are not one
    RECORD = "Record"  # collection, data
    CONVERSATION = "Conversation"  # title, user_id
    INTERACTION = "Interaction"  # session_id, content, role, keywords, tags, sequence, last_accessed_at
    USER = "User"  # external_id, name
    SCHEMA_VERSION = "SchemaVersion"  # version


#: What vectors are embeddings of; each has an index of its own in a vector store.
EMBEDDED_LABELS: Final = (Label.CHUNK, Label.INTERACTION, Label.ENTITY, Label.CONCEPT)


class EdgeType(StrEnum):
    """Edge types, with the labels that they connect."""

    CHUNK_OF = "CHUNK_OF"  # DocumentChunk -> Document
    NEXT = "NEXT"  # DocumentChunk -> DocumentChunk
    FOLLOWS = "FOLLOWS"  # Interaction -> Interaction
    SOURCED_FROM = "SOURCED_FROM"  # Document -> Source
    STORED_IN = "STORED_IN"  # Vector -> VectorStore
    EMBEDDING_OF = "EMBEDDING_OF"  # Vector -> DocumentChunk, Interaction, Entity or Concept
    REFERENCES = "REFERENCES"  # Document -> Source, Document or Resource; Interaction -> Document or Resource
    ABOUT = "ABOUT"  # Document -> Topic
    EXPLAINS = "EXPLAINS"  # Document -> Concept
    MENTIONS = "MENTIONS"  # DocumentChunk -> Entity {count}
    TITLED = "TITLED"  # Document -> Entity that its title names
    DEFINED_IN = "DEFINED_IN"  # Symbol -> Document
    CALLS = "CALLS"  # Symbol -> Symbol
    IMPORTS = "IMPORTS"  # Document -> Document or Resource
    RELATED_TO = "RELATED_TO"  # Concept -> Concept
    RELATED = "RELATED"  # Entity -> Entity {type, fact, weight, chunk_ids, updated_at, valid_from, valid_to}
    SAME_AS = "SAME_AS"  # Entity -> Entity
    HAS_ENTITY = "HAS_ENTITY"  # Record -> Entity {field}
    PART_OF = "PART_OF"  # Interaction -> Conversation
    SUMMARIZES = "SUMMARIZES"  # Interaction -> Interaction
    RETRIEVED = "RETRIEVED"  # Interaction -> DocumentChunk
    VIEWED = "VIEWED"  # User -> Document
    STARTED = "STARTED"  # User -> Conversation
    SPOKE_IN = "SPOKE_IN"  # User -> Conversation that is not theirs
    RATED = "RATED"  # User -> DocumentChunk


@dataclass(frozen=True, slots=True)
class PropertyIndex:
    """An index on properties of a label, in this order. Never on ``namespace`` alone: it would win over ``id``."""

    label: Label
    properties: tuple[str, ...]


#: Indexes beside the one on ``id`` that every label has.
PROPERTY_INDEXES: tuple[PropertyIndex, ...] = (
    PropertyIndex(Label.DOCUMENT, ("path",)),
    PropertyIndex(Label.DOCUMENT, ("source_id",)),
    PropertyIndex(Label.RESOURCE, ("uri",)),
    PropertyIndex(Label.INTERACTION, ("session_id",)),
    PropertyIndex(Label.INTERACTION, ("words_id",)),
    PropertyIndex(Label.CONCEPT, ("content_hash",)),
    PropertyIndex(Label.CONCEPT, ("pending",)),
)

#: Those on a server: one more, for people who write Cypher to it; nothing here uses that. The id of an entity follows
#: from its name, and an index on the name takes the embedded engine a sixth of the time in which it creates an entity.
SERVER_INDEXES: tuple[PropertyIndex, ...] = (*PROPERTY_INDEXES, PropertyIndex(Label.ENTITY, ("normalized_name",)))


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A keyword index over the analysed words (property ``terms``) of the nodes of one label in one namespace."""

    label: Label
    namespace: str

    @property
    def partition(self) -> str:
        """The second label that such nodes carry where each namespace has an index of its own."""
        return f"{self.label.value}_{_digest(self.namespace)}"

    @property
    def key(self) -> str:
        """The property ``partition`` that such nodes have, for indexes over all namespaces."""
        return text_partition(self.namespace)


def text_partition(namespace: str) -> str:
    """Return the ``partition`` of all nodes with ``terms``: the namespace as a word that no tokenizer changes."""
    return f"n{_digest(namespace)}"


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index: the vectors of one kind of thing in one vector store.

    Attributes:
        name: Name of the index in an engine that has named ones.
        label: The second label of the vectors in it.
        dimension: Length of every vector.
    """

    name: str
    label: str
    dimension: int


def vector_index(
    namespace: str, store_id: str, dimension: int, target: Label = Label.CHUNK, name: str = ""
) -> VectorIndex:
    """Return the index of a vector store for one kind of target.

    Args:
        namespace: The namespace.
        store_id: Id of the VectorStore node.
        dimension: Length of its vectors.
        target: What the vectors are embeddings of.
        name: ``index_name`` of the VectorStore, used for chunks; made from the id where empty.
    """
    digest = _digest(namespace, store_id, target.value)
    index_name = name if name and target is Label.CHUNK else f"vector_{target.value.lower()}_{digest}"
    return VectorIndex(name=check_name(index_name), label=f"Vector_{digest}", dimension=dimension)


def check_name(name: str) -> str:
    """Check a label, edge type, property or index name that will be part of a statement.

    This is the only way for a name to get into Cypher text: everything else travels as a parameter.

    Args:
        name: The name.

    Returns:
        The same name.

    Raises:
        InvalidNameError: unless it is 1 to 64 ASCII letters, digits and underscores, not beginning with a digit.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        text = str(name)
        shown = text if len(text) <= 64 else text[:61] + "…"
        raise InvalidNameError(
            f"{shown!r} cannot be a label, edge type or index name: use 1 to 64 ASCII letters, digits and"
            " underscores, not beginning with a digit."
        )
    return name


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
