"""The client: all operations on the graph, composed of operation groups."""

from core.rag.dbhandler.admin import AdminOperations
from core.rag.dbhandler.chunks import ChunkOperations
from core.rag.dbhandler.dialogue import DialogueSearchOperations
from core.rag.dbhandler.factwriting import FactOperations
from core.rag.dbhandler.handmade import LinkOperations
from core.rag.dbhandler.knowledge import KnowledgeOperations
from core.rag.dbhandler.recording import RecordOperations
from core.rag.dbhandler.resolving import ResolutionOperations
from core.rag.dbhandler.titling import TitleOperations
from core.rag.dbhandler.transfer import TransferOperations
from core.rag.dbhandler.traversal import TraversalOperations


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
