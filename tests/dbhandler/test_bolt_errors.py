"""What the driver raises, in this project's words. The messages are those of Memgraph 3.11 and Neo4j 5.26."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from core.rag.dbhandler.bolt.address import Address
from core.rag.dbhandler.bolt.errors import Again, exhausted, failure
from core.rag.errors import (
    ConfigurationError,
    InvalidInputError,
    QueryError,
    StoreAuthError,
    StoreConflictError,
    StoreConstraintError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreTimeoutError,
    StoreUnavailableError,
)

CLIENT = "Memgraph.ClientError.MemgraphError.MemgraphError"
TRANSIENT = "Memgraph.TransientError.MemgraphError.MemgraphError"
HERE = Address("bolt://h:7687", "user", "hunter2", "db")


def server_error(code: str, message: str) -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message=message)


@pytest.mark.parametrize(
    ("code", "message", "kind", "again"),
    [
        (TRANSIENT, "Cannot resolve conflicting transactions. Retry …", StoreConflictError, Again.UNTIL_DEADLINE),
        (TRANSIENT, "Cannot get unique access to the storage. Try …", StoreConflictError, Again.UNTIL_DEADLINE),
        (CLIENT, "Unable to commit due to serialization error.", StoreConflictError, Again.UNTIL_DEADLINE),
        (CLIENT, 'Tried to retrieve an unknown database "db".', StoreUnavailableError, Again.NEVER),
        (TRANSIENT, "Not yet implemented: Exists cannot be used within WITH!", QueryError, Again.NEVER),
        (
            TRANSIENT,
            "Unique constraints are not supported in analytical storage mode.",
            ConfigurationError,
            Again.NEVER,
        ),
        (
            TRANSIENT,
            "Not yet implemented: Vector index related operations are not yet supported using on-disk storage mode. …",
            ConfigurationError,
            Again.NEVER,
        ),
        (
            CLIENT,
            "Can't set property because properties on edges are disabled.",
            ConfigurationError,
            Again.NEVER,
        ),
        (TRANSIENT, "Transaction was asked to abort because of transaction timeout.", StoreTimeoutError, Again.NEVER),
        (TRANSIENT, "Transaction was asked to abort by another user.", StoreError, Again.NEVER),
        (
            TRANSIENT,
            "Transaction was asked to abort because of database shutdown.",
            StoreUnavailableError,
            Again.UNTIL_DEADLINE,
        ),
        (TRANSIENT, "Memory limit exceeded! Current use is 4GiB, while …", StoreFullError, Again.NEVER),
        (
            CLIENT,
            "Unable to commit due to unique constraint violation on :Document(id)",
            StoreConstraintError,
            Again.A_FEW_TIMES,
        ),
        (
            CLIENT,
            "Write queries are forbidden on the replica instance. Replica instances accept only read queries",
            StoreReadOnlyError,
            Again.NEVER,
        ),
        (
            CLIENT,
            "Write queries currently forbidden on the main instance. The cluster is …",
            StoreReadOnlyError,
            Again.NEVER,
        ),
        (CLIENT, "Queries on replica shouldn't write.", StoreReadOnlyError, Again.NEVER),
        (CLIENT, "Cannot commit because instance is not main anymore.", StoreReadOnlyError, Again.NEVER),
        (
            TRANSIENT,
            "Replication Exception: Failed to replicate to SYNC replica 'r': RPC communication error. Replica will be"
            " recovered automatically. Transaction is still committed on the main instance and other alive replicas.",
            StoreUnavailableError,
            Again.NEVER,
        ),
        (
            TRANSIENT,
            "Replication Exception: Failed to replicate to STRICT_SYNC replica 'r': RPC communication error. Replica"
            " will be recovered automatically. Transaction was aborted on all instances. Check the status …",
            StoreUnavailableError,
            Again.UNTIL_DEADLINE,
        ),
        (CLIENT, "Error on line 1 position 9. The underlying parsing error is mismatched", QueryError, Again.NEVER),
        ("Memgraph.ClientError.Security.Unauthenticated", "Authentication failure", StoreAuthError, Again.NEVER),
        # A statement that is quoted says nothing about what went wrong.
        (CLIENT, "Error on line 1: RETURN 'Memory limit exceeded forbidden on the replica'", QueryError, Again.NEVER),
        ("Neo.ClientError.Security.Unauthorized", "The client is unauthorized", StoreAuthError, Again.NEVER),
        ("Neo.ClientError.Security.CredentialsExpired", "…", StoreAuthError, Again.NEVER),
        ("Neo.ClientError.Security.Forbidden", "Write operations are not allowed", StoreAuthError, Again.NEVER),
        ("Neo.ClientError.Database.DatabaseNotFound", "Graph not found: db", StoreUnavailableError, Again.NEVER),
        ("Neo.TransientError.Transaction.DeadlockDetected", "…", StoreConflictError, Again.UNTIL_DEADLINE),
        ("Neo.TransientError.General.DatabaseUnavailable", "…", StoreUnavailableError, Again.UNTIL_DEADLINE),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "The allocation …", StoreFullError, Again.NEVER),
        ("Neo.ClientError.Transaction.TransactionTimedOut", "…", StoreTimeoutError, Again.NEVER),
        ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", "…", StoreTimeoutError, Again.NEVER),
        (
            "Neo.ClientError.Schema.ConstraintValidationFailed",
            "Node(1) already …",
            StoreConstraintError,
            Again.A_FEW_TIMES,
        ),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", "…", StoreReadOnlyError, Again.NEVER),
        ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", "…", StoreReadOnlyError, Again.NEVER),
        ("Neo.ClientError.Cluster.NotALeader", "…", StoreReadOnlyError, Again.NEVER),
        ("Neo.ClientError.Statement.SyntaxError", "Invalid input 'read-only full'", QueryError, Again.NEVER),
        (
            "Neo.DatabaseError.Statement.ExecutionFailed",
            "Property value is too large to index, please see index documentation",
            InvalidInputError,
            Again.NEVER,
        ),
    ],
)
def test_what_a_server_says_is_told_apart(code: str, message: str, kind: type[Exception], again: Again) -> None:
    found = failure(server_error(code, message), "A write", HERE)
    assert type(found.error) is kind
    assert found.again is again
    assert "hunter2" not in str(found.error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), InvalidInputError),
        (TypeError("Map keys must be strings"), InvalidInputError),
        (ValueError("Cannot run an empty query"), QueryError),
        (ConnectionResetError(104, "reset"), StoreUnavailableError),
        (EOFError("gone"), StoreUnavailableError),
        (RuntimeError("?"), StoreError),
    ],
)
def test_other_errors(error: Any, kind: type[Exception]) -> None:
    assert type(failure(error, "A write", HERE).error) is kind


def test_a_long_text_is_cut() -> None:
    found = failure(server_error(CLIENT, "x" * 100_000), "A query", HERE)
    assert len(str(found.error)) < 1000


def test_nobody_logged_in_where_somebody_has_to() -> None:
    error = server_error("Neo.ClientError.Security.Unauthorized", "missing key `scheme`")
    assert "MEMGRAPH_USERNAME" in str(failure(error, "Connecting", Address("bolt://h:1")).error)


def test_an_exhausted_pool_names_what_to_set() -> None:
    assert "MGRAG_MAX_CONNECTIONS" in str(exhausted(50, 10, HERE))  # commands have no argument for it
