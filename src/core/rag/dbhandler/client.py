"""The client: all operations on the graph, composed of operation groups."""

from core.rag.dbhandler.admin import AdminOperations
from core.rag.dbhandler.documents.chunks import ChunkOperations
from core.rag.dbhandler.documents.titling import TitleOperations
from core.rag.dbhandler.knowledge.factwriting import FactOperations
from core.rag.dbhandler.knowledge.handmade import LinkOperations
from core.rag.dbhandler.knowledge.operations import KnowledgeOperations
from core.rag.dbhandler.knowledge.recording import RecordOperations
from core.rag.dbhandler.knowledge.resolving import ResolutionOperations
from core.rag.dbhandler.knowledge.traversal import TraversalOperations
from core.rag.dbhandler.messages.dialogue import DialogueSearchOperations
from core.rag.dbhandler.transfer.operations import TransferOperations


class MemGraphClient(
    ChunkOperations,
    KnowledgeOperations,
    TraversalOperations,
    LinkOperations,
    DialogueSearchOperations,
    AdminOperations,
    TransferOperations,
    TitleOperations,
    RecordOperations,
    FactOperations,
    ResolutionOperations,
):
    """A client for the graph database of documents, chunks, vectors, entities and conversations.

    Methods are asynchronous, work within one namespace, return plain dicts and string ids, and are safe to repeat.

    Example:
        >>> async with MemGraphClient("embedded:graph.grafeo") as client:
        ...     await client.create_document("note/1", "Memgraph speaks Cypher.")
        ...     document = await client.find_document("note/1")
    """
