"""Maps the errors of a Bolt server to this project's errors, and tells which are worth a retry.

The codes are those of Neo4j 5; Memgraph has a single code for each of its three classes, so there the text decides.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from core.rag.errors import (
    ConfigurationError,
    InvalidInputError,
    MGRagError,
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
from libs.dataloader.network import causes_of
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler.bolt.address import Address


class Again(Enum):
    """Whether and how long the whole unit of work is retried."""

    NEVER = "never"
    #: Two writers created the same id: on a retry, the second one finds the node of the first.
    A_FEW_TIMES = "a few times"
    #: Conflicts and lost connections, until the deadline.
    UNTIL_DEADLINE = "until the deadline"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the driver, translated.

    Attributes:
        error: The error for callers, unless a retry succeeds.
        again: Whether to retry.
    """

    error: MGRagError
    again: Again


# Neo4j errors are recognised by code, since messages may quote the statement, and so contain anything.
_AUTH = ("Unauthorized", "Unauthenticated", "AuthenticationRateLimit", "CredentialsExpired", "TokenExpired")
_MEMORY = regex(r"MemoryPoolOutOfMemory|OutOfMemory|StackOverFlow|MemoryLimit")
_READ_ONLY = regex(r"WriteOnReadOnlyAccess|ForbiddenOnReadOnlyDatabase|ReadOnlyDatabase|Cluster\.NotALeader")
_TIMED_OUT = regex(r"TransactionTimedOut")
_CONSTRAINT = regex(r"ConstraintValidationFailed")
_STOPPING = regex(r"DatabaseUnavailable|Transaction\.Terminated|NoThreadsAvailable")

# Neo4j has no code of its own for these.
_TOO_LONG = regex(r"^Property value is too large to index|^.{0,200}is too large to be indexed", re.S)
_NO_GRAPH = regex(r"^The following .{0,200}system database", re.S)
_STOPPED_BY_HAND = regex(r"^.{0,100}explicitly terminated", re.I | re.S)

# Memgraph errors are recognised by the beginning of the message, since all have the same code.
_MEMGRAPH_MEMORY = regex(r"^Memory limit exceeded|^std::bad_alloc|^Not enough memory", re.I)
_MEMGRAPH_READ_ONLY = regex(
    r"^(Write queries( are| currently)?|Query|[\w ]{1,40}) forbidden on (the )?(replica|main)"
    r"|^Queries on replica shouldn't write|^Cannot commit because instance is not main",
    re.I,
)
_MEMGRAPH_CONSTRAINT = regex(r"^Unable to (commit|create).{0,40} constraint", re.I)
_MEMGRAPH_TIMED_OUT = regex(r"^Transaction was asked to abort because of transaction timeout", re.I)
_MEMGRAPH_CONFLICT = regex(r"^Unable to commit due to serialization error", re.I)
_MEMGRAPH_BY_HAND = regex(r"^Transaction was asked to abort by another user", re.I)
_MEMGRAPH_REPLICA = regex(r"^Replication Exception", re.I)
_MEMGRAPH_STORED = regex(r"still committed on the main", re.I)
_MEMGRAPH_NO_DATABASE = regex(r"^Tried to retrieve an unknown database", re.I)
_MEMGRAPH_STOPPING = regex(r"^Transaction was asked to abort because of database shutdown", re.I)
_MEMGRAPH_NOT_WRITTEN = regex(r"^.{0,100}not (yet )?(implemented|supported)|^.{0,100}is not implemented yet", re.I)
#: Message for an operation that the storage mode of the server does not support.
_MEMGRAPH_STORAGE = regex(r"supported (in|using) (analytical|on-disk) storage mode", re.I)
#: Message of a server that was started without properties of edges.
_MEMGRAPH_BARE_EDGES = regex(r"^Can't set property because properties on edges are disabled", re.I)

_MESSAGE = regex(r"\{message: (.*?)\} \{gql_status", re.S)


def failure(error: BaseException, what: str, address: Address) -> Failure:
    """Turn what the driver raised into a :class:`Failure`.

    Args:
        error: An error that the driver raised.
        what: What was being done, as the beginning of a sentence.
        address: The server.
    """
    from neo4j.exceptions import (
        ConfigurationError as DriverConfigurationError,
    )
    from neo4j.exceptions import (
        ConnectionAcquisitionTimeoutError,
        DriverError,
        Neo4jError,
        ServiceUnavailable,
        SessionExpired,
        UnsupportedServerProduct,
    )

    if isinstance(error, Neo4jError):
        return _server_failure(error, what, address)
    if isinstance(error, UnicodeEncodeError):
        return _never(
            InvalidInputError(
                f"{what} has text with half of a surrogate pair, which is not valid text: clean it first."
            )
        )
    if isinstance(error, UnsupportedServerProduct):
        return _never(
            ConfigurationError(
                f"The server at {address.location} is no Memgraph or Neo4j that speaks a version of Bolt from 4.4 on."
                " Where it is another service, check MEMGRAPH_URI (the port is normally 7687); where it is one of them,"
                " it is too old."
            )
        )
    if isinstance(error, DriverConfigurationError):
        return _never(ConfigurationError(f"The server at {address.location} cannot be used so: {_text(error)}."))
    if isinstance(error, ServiceUnavailable | SessionExpired | ConnectionAcquisitionTimeoutError | OSError | EOFError):
        return Failure(_unreachable(error, what, address), Again.UNTIL_DEADLINE)
    if isinstance(error, DriverError):
        return _never(StoreError(f"{what} failed in the driver: {_text(error)}."))
    if isinstance(error, TypeError | OverflowError):
        return _never(InvalidInputError(f"{what} has a parameter that cannot be sent to the server: {_text(error)}."))
    if isinstance(error, ValueError):
        return _never(QueryError(f"{what} cannot be sent to the server: {_text(error)}."))
    return _never(StoreError(f"{what} failed: {_text(error)}."))


def timed_out(what: str, seconds: float, address: Address) -> StoreTimeoutError:
    """Return the error for a server that has not answered in time; its connection was cut."""
    return StoreTimeoutError(
        f"{what} got no answer from {address.location} for {seconds:g} seconds. Ask for less at once, or raise"
        " MGRAG_QUERY_TIMEOUT."
    )


def exhausted(connections: int, seconds: float, address: Address) -> StoreUnavailableError:
    """Return the error for a pool that stays empty."""
    return StoreUnavailableError(
        f"None of the {connections} connections to {address.location} became free within {seconds:g} seconds. Use fewer"
        " tasks at once, or set a larger MGRAG_MAX_CONNECTIONS (max_connection_pool_size)."
    )


def wrong_product(agent: str, address: Address) -> ConfigurationError:
    """Return the error for a server of another kind."""
    return ConfigurationError(
        f"The server at {address.location} identifies itself as {agent!r}, and is neither Memgraph nor Neo4j. If it is"
        " compatible with one of them, say so: MGRAG_FORCE_ENGINE=memgraph or neo4j."
    )


def wrongly_forced(engine: str, agent: str, address: Address) -> ConfigurationError:
    """Return the error for a server that does not understand statements of the engine that the settings force."""
    return ConfigurationError(
        f"MGRAG_FORCE_ENGINE says {engine}, but the server at {address.location} identifies itself as {agent!r} and"
        f" does not understand the questions that are for {engine} only. Leave MGRAG_FORCE_ENGINE empty."
    )


def other_database(used: str, address: Address) -> ConfigurationError:
    """Return the error for a server that uses another database than the one that was asked for."""
    return ConfigurationError(
        f"The server at {address.uri} has no database {address.database!r}: whatever MEMGRAPH_DATABASE says, it uses"
        f" {used!r}, as Memgraph does without a licence. Leave it empty, and use namespaces (MGRAG_NAMESPACE) instead."
    )


def not_a_cluster(address: Address) -> StoreUnavailableError:
    """Return the error for ``neo4j://`` on a server that stands alone."""
    return StoreUnavailableError(
        f"The server at {address.location} is there, but does not know about routing, as a single Memgraph does not:"
        f" use {address.without_routing().uri}."
    )


def _never(error: MGRagError) -> Failure:
    return Failure(error, Again.NEVER)


def _server_failure(error: Any, what: str, address: Address) -> Failure:
    code, text = str(error.code or ""), _text(error)
    of_memgraph = code.startswith("Memgraph.")

    def means(by_code: re.Pattern[str], by_text: re.Pattern[str]) -> bool:
        return by_text.search(text) is not None if of_memgraph else by_code.search(code) is not None

    if any(name in code for name in _AUTH):
        return _never(_refused(code, address))
    if "Security.Forbidden" in code:
        return _never(
            StoreAuthError(f"{what} is not allowed to the user {address.username!r} of {address.location}: {text}.")
        )
    if "DatabaseNotFound" in code or (of_memgraph and _MEMGRAPH_NO_DATABASE.search(text)):
        return _never(
            StoreUnavailableError(
                f"The server at {address.uri} has no database {address.database!r}: set MEMGRAPH_DATABASE to one that"
                " it has, or leave it empty."
            )
        )
    if not of_memgraph and _NO_GRAPH.search(text):
        return _never(
            ConfigurationError(
                f"The database {address.database!r} of the server at {address.location} is for its administration and"
                " holds no graph: set MEMGRAPH_DATABASE to another one, or leave it empty."
            )
        )
    if means(_MEMORY, _MEMGRAPH_MEMORY):
        return _never(
            StoreFullError(
                f"{what} needed more memory than the server at {address.location} has for it, and nothing of it was"
                f" stored: {text}. Write less at once, or give the server more memory."
            )
        )
    if means(_TIMED_OUT, _MEMGRAPH_TIMED_OUT):
        return _never(
            StoreTimeoutError(
                f"{what} took longer than the server at {address.location} allows: {text}. Ask for less at once, or"
                " raise MGRAG_QUERY_TIMEOUT."
            )
        )
    if means(_CONSTRAINT, _MEMGRAPH_CONSTRAINT):
        return Failure(
            StoreConstraintError(f"{what} would store a second node with the same id: {text}."), Again.A_FEW_TIMES
        )
    if means(_READ_ONLY, _MEMGRAPH_READ_ONLY):
        return _never(
            StoreReadOnlyError(
                f"{what} was refused: the server at {address.location} takes no writes ({text}). Connect to the one"
                " that does; neo4j:// finds it in a cluster of Neo4j."
            )
        )
    if of_memgraph and _MEMGRAPH_STORAGE.search(text):
        return _never(
            ConfigurationError(
                f"{what} is not possible in the storage mode of the server at {address.location}: {text}. Start it with"
                " --storage-mode=IN_MEMORY_TRANSACTIONAL, or run STORAGE MODE IN_MEMORY_TRANSACTIONAL on it."
            )
        )
    if of_memgraph and _MEMGRAPH_BARE_EDGES.search(text):
        return _never(
            ConfigurationError(
                f"{what} is not possible, since the server at {address.location} keeps no properties of edges. Start it"
                " with --storage-properties-on-edges=true."
            )
        )
    if of_memgraph and _MEMGRAPH_REPLICA.search(text):
        return _not_replicated(str(error), what, address)
    if not of_memgraph and _TOO_LONG.search(text):
        return _never(InvalidInputError(f"{what} has a value that is too long for an index of the server: {text}."))
    if (_MEMGRAPH_BY_HAND if of_memgraph else _STOPPED_BY_HAND).search(text):
        return _never(StoreError(f"{what} was stopped on the server by somebody: {text}."))
    if means(_STOPPING, _MEMGRAPH_STOPPING):
        return Failure(
            StoreUnavailableError(
                f"{what} was interrupted, since the server at {address.location} starts or stops: {text}."
            ),
            Again.UNTIL_DEADLINE,
        )
    retryable = error.is_retryable()
    if of_memgraph:  # it calls transient what it has not learned yet, and a conflict that is found late final
        retryable = (retryable and not _MEMGRAPH_NOT_WRITTEN.search(text)) or bool(_MEMGRAPH_CONFLICT.search(text))
    if retryable:
        return Failure(StoreConflictError(f"{what} met a concurrent write: {text}."), Again.UNTIL_DEADLINE)
    return _never(QueryError(f"{what} was refused by the server: {text}."))


def _not_replicated(said: str, what: str, address: Address) -> Failure:
    """Return the failure for a synchronous replica of Memgraph that did not confirm a write.

    If the main instance has stored the write anyway, it is not retried.
    """
    if _MEMGRAPH_STORED.search(said):
        stored, again = "is stored, but a replica lacks it", Again.NEVER
    else:
        stored, again = "was stored nowhere, since a replica did not confirm it", Again.UNTIL_DEADLINE
    return Failure(
        StoreUnavailableError(
            f"{what} {stored}: SHOW REPLICAS on the server at {address.location} tells which one. Repair or drop it."
        ),
        again,
    )


def _refused(code: str, address: Address) -> StoreAuthError:
    if address.username is None:
        return StoreAuthError(
            f"The server at {address.location} wants a user and a password: set MEMGRAPH_USERNAME and"
            " MEMGRAPH_PASSWORD."
        )
    if "CredentialsExpired" in code:
        return StoreAuthError(
            f"The password of {address.username!r} at {address.location} has to be changed before it can be used."
        )
    if "RateLimit" in code:
        return StoreAuthError(
            f"The server at {address.location} refuses {address.username!r} for a while after too many wrong"
            " passwords. Wait a few seconds, and check MEMGRAPH_PASSWORD."
        )
    return StoreAuthError(
        f"The server at {address.location} refused the user {address.username!r} or the password: check"
        " MEMGRAPH_USERNAME and MEMGRAPH_PASSWORD."
    )


def _unreachable(error: BaseException, what: str, address: Address) -> StoreUnavailableError:
    causes = list(causes_of(error))
    said = " ".join(f"{type(cause).__name__} {cause}" for cause in causes)
    encrypted = address.scheme.endswith(("+s", "+ssc"))
    where = f"The server at {address.location}"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return StoreUnavailableError(
            f"The host of {address.location} is not known. Check MEMGRAPH_URI; a local file is written embedded:PATH."
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return StoreUnavailableError(f"Nothing listens at {address.location}: start the server, or check MEMGRAPH_URI.")
    late = ("imed out", "taking longer", "cquisition")
    if any(isinstance(cause, TimeoutError) for cause in causes) or any(words in said for words in late):
        return StoreUnavailableError(
            f"{where} does not answer. Check the address, the network and any firewall, or raise MGRAG_CONNECT_TIMEOUT."
        )
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return StoreUnavailableError(
            f"{where} has a certificate that cannot be verified. For one that it signed itself, use"
            f" {address.scheme.partition('+')[0]}+ssc://."
        )
    if encrypted and any(type(cause).__name__ in {"BoltSecurityError", "SSLError"} for cause in causes):
        return StoreUnavailableError(
            f"{where} does not speak TLS, or not in this way: use {address.scheme.partition('+')[0]}:// for one"
            " without."
        )
    if "looks like HTTP" in said:
        return StoreUnavailableError(f"{where} speaks HTTP there, not Bolt: use the port for Bolt, normally 7687.")
    if "andshake" in said:
        hint = "" if encrypted else f", or expects TLS ({address.scheme}+s://)"
        return StoreUnavailableError(f"{where} does not answer as a Bolt server does. It is another service{hint}.")
    return StoreUnavailableError(f"{what} lost its connection to {address.location}: {_text(error)}.")


def _text(error: BaseException) -> str:
    """Return an error message as one line of bounded length; it may quote a statement or a text of the user."""
    text = str(error)
    found = _MESSAGE.search(text)
    text = " ".join((found[1] if found else text).split()).rstrip(".")
    return text if len(text) <= 500 else text[:499] + "…"
