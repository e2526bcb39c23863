"""All exceptions of this package.

MGRagError                          base of all of these
├── ConfigurationError              a setting is missing or makes no sense
│   └── MissingDependencyError      an optional package is needed; names the ``pip install``
├── InvalidInputError (ValueError)  an argument was refused; nothing was done
│   ├── InvalidVectorError          wrong dimension, not finite, all zero
│   ├── InvalidNameError            a label, edge type or index name that is not allowed
│   └── FilterError                 a search filter that does not parse
├── NotFoundError                   no such document, chunk, conversation …
│   ├── EmptyGraphError             a question to a graph that has nothing in it
│   └── NoEntryPointsError          a question that leads to nothing in the graph
├── SourceError                     a file, folder or URL could not be loaded at all
├── EmbeddingError                  the embedding provider failed
│   ├── EmbeddingAuthError          it refused the key
│   └── EmbeddingInputError         it cannot take this input (too long, empty); names it
├── LanguageModelError              the language model failed
│   ├── LanguageModelAuthError      it refused the key
│   ├── LanguageModelUnreachableError  nobody listens at its address, or there is no such address
│   ├── LanguageModelInputError     it cannot take this input (too long), or withholds its answer
│   ├── StructuredOutputError       its answer does not follow the schema, after one repair; holds the text
│   └── StreamCutError              its answer ended too early; holds what was received
├── RerankerError                   the reranker failed
├── ModelMismatchError              the graph was built with another embedding model or dimension
└── StoreError                      the graph database failed
    ├── StoreUnavailableError       it cannot be reached, or is closed
    │   ├── StoreAuthError          it refused the user or the password
    │   └── StoreLockedError        another process holds the embedded file
    ├── StoreConflictError          concurrent writes got in each other's way for too long
    ├── StoreConstraintError        a uniqueness constraint was violated
    ├── StoreTimeoutError           a query took longer than allowed
    ├── StoreFullError              no memory or no disk space left
    ├── StoreReadOnlyError          the server or file takes no writes
    ├── StoreDamagedError           the file or an index is damaged
    ├── QueryError                  a statement was refused; an error in this package
    └── BackupError                 a backup, restore, export or import did not succeed

Each carries a message that says what happened, to what, and what to do next. The engine's own error is chained
(``__cause__``).
"""

from __future__ import annotations

from typing import Any


class MGRagError(Exception):
    """Base of all errors of this package."""


class ConfigurationError(MGRagError):
    """A setting is missing or makes no sense."""


class MissingDependencyError(ConfigurationError, ImportError):
    """An optional package is needed.

    Args:
        package: The missing package.
        extra: The extra of this distribution that brings it.
        purpose: What it is needed for.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'memgraph-rag[{extra}]'")
        self.package = package
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra, self.purpose), self.__dict__  # for pools of processes


class InvalidInputError(MGRagError, ValueError):
    """An argument was refused; nothing was done."""


class InvalidVectorError(InvalidInputError):
    """A vector has the wrong dimension, is not finite, or is all zero."""


class InvalidNameError(InvalidInputError):
    """A label, edge type or index name is not allowed."""


class FilterError(InvalidInputError):
    """A search filter does not parse."""


class NotFoundError(MGRagError, LookupError):
    """What was asked for is not in the graph."""


class EmptyGraphError(NotFoundError):
    """A question was asked of a graph that has nothing in it."""

    def __init__(self, namespace: str) -> None:
        super().__init__("Cannot query empty graph")
        self.namespace = namespace
        self.add_note(f"Namespace {namespace!r} has no nodes: ingest something first, or name another one.")


class NoEntryPointsError(NotFoundError):
    """Nothing in the graph fits a question."""

    def __init__(self, query: str) -> None:
        super().__init__("No entry points found for query")
        self.query = query
        self.add_note(f"No node of the graph matches a word or the meaning of {query[:200]!r}: rephrase the question.")


class SourceError(MGRagError):
    """A file, folder or URL could not be loaded at all."""


class EmbeddingError(MGRagError):
    """The embedding provider failed."""


class EmbeddingAuthError(EmbeddingError):
    """The embedding provider refused the key."""


class EmbeddingInputError(EmbeddingError):
    """The embedding provider cannot take this input.

    Args:
        message: What is wrong with it.
        name: What the caller calls the text, for example the path and number of its chunk.
        index: Its position among the texts of the call.
    """

    def __init__(self, message: str, *, name: str | None = None, index: int | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.index = index


class LanguageModelError(MGRagError):
    """The language model failed."""


class LanguageModelAuthError(LanguageModelError):
    """The language model's provider refused the key."""


class LanguageModelUnreachableError(LanguageModelError):
    """Nobody listens at the language model's address, or its name is not known: no request arrived."""


class LanguageModelInputError(LanguageModelError):
    """The language model cannot take this input, or its provider withholds the answer."""


class RerankerError(MGRagError):
    """The reranker failed."""


class StructuredOutputError(LanguageModelError):
    """A structured answer does not follow its schema, and its repair neither.

    Args:
        message: What is wrong with it.
        text: What the model wrote last.
    """

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class StreamCutError(LanguageModelError):
    """A streamed answer ended too early.

    Args:
        message: What happened.
        received: The text until then.
    """

    def __init__(self, message: str, *, received: str = "") -> None:
        super().__init__(message)
        self.received = received


class ModelMismatchError(MGRagError):
    """The graph was built with another embedding model or dimension."""


class StoreError(MGRagError):
    """The graph database failed."""


class StoreUnavailableError(StoreError):
    """The graph database cannot be reached, or is closed."""


class StoreAuthError(StoreUnavailableError):
    """The graph database refused the user or the password."""


class StoreLockedError(StoreUnavailableError):
    """The embedded file is open in another process, or in this one already."""


class StoreConflictError(StoreError):
    """Concurrent writes got in each other's way for too long."""


class StoreConstraintError(StoreError):
    """A uniqueness constraint was violated."""


class StoreTimeoutError(StoreError):
    """A query took longer than allowed."""


class StoreFullError(StoreError):
    """No memory or no disk space is left."""


class StoreReadOnlyError(StoreError):
    """The server or the file takes no writes."""


class StoreDamagedError(StoreError):
    """The file or an index is damaged."""


class QueryError(StoreError):
    """A statement was refused by the engine."""


class BackupError(StoreError):
    """A backup, restore, export or import did not succeed."""
