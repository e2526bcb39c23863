"""Decides who may do what: API keys and JSON Web Tokens."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.errors import ConfigurationError, MissingDependencyError
from libs.regexes import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from core.rag.settings import Settings

try:
    import jwt
except ImportError as error:
    raise MissingDependencyError("pyjwt", "http", "The HTTP API") from error

#: Fewer characters could be guessed.
_KEY_CHARS = 16
_SECRET_BYTES = 32

_KEY = regex(rf"[A-Za-z0-9._~+/-]{{{_KEY_CHARS},}}")
_PUBLIC_KEY = "-----BEGIN"
_LEEWAY_SECONDS = 10

_CLAIM_ERRORS = (
    jwt.MissingRequiredClaimError,
    jwt.InvalidAudienceError,
    jwt.InvalidIssuerError,
    jwt.ImmatureSignatureError,
)


class RefusedError(Exception):
    """A request is refused.

    Attributes:
        status: 401 where the caller is not known, 403 where it may not do this.
        message: Why.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request.

    Attributes:
        namespaces: The namespaces it may use; ``None``: all.
        writes: Whether it may change them.
    """

    namespaces: frozenset[str] | None = None
    writes: bool = True

    def may_use(self, namespace: str) -> bool:
        """Whether it may use a namespace at all."""
        return self.namespaces is None or namespace in self.namespaces

    def check(self, namespace: str, *, writing: bool) -> None:
        """Refuse what this caller may not do.

        Raises:
            RefusedError: saying what is not allowed.
        """
        if not self.may_use(namespace):
            raise RefusedError(403, f"This key, token or server is not for the namespace {namespace[:200]!r}.")
        if writing and not self.writes:
            raise RefusedError(403, "This key, token or server is for reading only.")


class Access:
    """The keys and tokens that a server accepts.

    Args:
        settings: ``MGRAG_API_KEYS``, ``MGRAG_API_READ_KEYS`` and ``MGRAG_JWT_…``. Without any of these, everybody who
            reaches the server may do everything (:attr:`open`).
        only: The one namespace that is served; ``None``: all.
        writing: Whether anything may be changed.

    Raises:
        ConfigurationError: on a key or secret that is too short or not well formed.
    """

    def __init__(self, settings: Settings, *, only: str | None = None, writing: bool = True) -> None:
        self._only = frozenset([only]) if only is not None else None
        self._writing = writing
        self._keys: dict[bytes, Caller] = {}
        for variable, keys, writes in (
            ("MGRAG_API_READ_KEYS", settings.api_read_keys, False),
            ("MGRAG_API_KEYS", settings.api_keys, True),
        ):
            for namespace, key in _entries(variable, keys):
                namespaces = None if namespace is None else frozenset([namespace])
                self._keys[_digest(key)] = Caller(namespaces, writes)
        self._tokens = _Tokens(settings) if settings.jwt_key is not None else None

    @property
    def open(self) -> bool:
        """Whether callers need neither key nor token."""
        return not self._keys and self._tokens is None

    def caller(self, authorization: str, api_key: str) -> Caller:
        """Who sends a request.

        Args:
            authorization: The header ``Authorization``; empty: none.
            api_key: The header ``X-API-Key``; empty: none.

        Raises:
            RefusedError: when it has no key or token, or one that is not valid.
        """
        return self._limited(Caller() if self.open else self._known(authorization, api_key))

    def check_whole(self, caller: Caller) -> None:
        """Refuse a caller for whom not all namespaces are that the server has.

        Raises:
            RefusedError: if there may be others.
        """
        if caller.namespaces not in (None, self._only):
            raise RefusedError(403, "This key or token is for some namespaces only; this is about the server.")

    def _known(self, authorization: str, api_key: str) -> Caller:
        scheme, _, bearer = authorization.partition(" ")
        secret = api_key.strip() or (bearer.strip() if scheme.lower() == "bearer" else "")
        if not secret:
            raise RefusedError(
                401, "This server needs a key: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."
            )
        given = _digest(secret)
        for digest, caller in self._keys.items():
            if hmac.compare_digest(digest, given):
                return caller
        if self._tokens is None:
            raise RefusedError(401, "This key is not valid.")
        return self._tokens.caller(secret)

    def _limited(self, caller: Caller) -> Caller:
        namespaces = caller.namespaces
        if self._only is not None:
            namespaces = self._only if namespaces is None else namespaces & self._only
        return Caller(namespaces, caller.writes and self._writing)


class _Tokens:
    """JSON Web Tokens that somebody else issues, such as the service in front or an identity provider."""

    def __init__(self, settings: Settings) -> None:
        assert settings.jwt_key is not None
        key = settings.jwt_key.get_secret_value().strip()
        # The kind of key decides, never the token: a public key must not be taken for a shared secret.
        public = key.startswith(_PUBLIC_KEY)
        self._algorithms = ["RS256", "PS256", "ES256", "EdDSA"] if public else ["HS256"]
        if not public and len(key.encode()) < _SECRET_BYTES:
            raise ConfigurationError(
                f"MGRAG_JWT_KEY is too short: a secret needs {_SECRET_BYTES} bytes (openssl rand -hex 32); or set a"
                " public key in PEM format."
            )
        self._key = key
        self._audience = settings.jwt_audience
        self._issuer = settings.jwt_issuer

    def caller(self, token: str) -> Caller:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key,
                algorithms=self._algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp"], "verify_aud": self._audience is not None},
            )
        except jwt.ExpiredSignatureError as error:
            raise RefusedError(401, "This token has expired.") from error
        except _CLAIM_ERRORS as error:  # checked after the signature: whoever sends it may know
            raise RefusedError(401, f"This token is not valid: {error}.") from error
        except (jwt.PyJWTError, ValueError) as error:  # ValueError: a PEM that is no key of the token's algorithm
            raise RefusedError(401, "This key or token is not valid.") from error
        return Caller(_namespaces(claims.get("namespaces")), "write" in _words(claims.get("scope")))


def _namespaces(claim: Any) -> frozenset[str] | None:
    """The namespaces of a token; one without the claim is for none."""
    names = _words(claim)
    return None if "*" in names else frozenset(names)


def _words(claim: Any) -> Sequence[str]:
    if isinstance(claim, str):
        return claim.split()
    return [str(item) for item in claim] if isinstance(claim, list) else []


def _entries(variable: str, keys: SecretStr | None) -> Iterator[tuple[str | None, str]]:
    """The namespace, if one is named, and the key of each entry ``KEY`` or ``NAMESPACE=KEY``."""
    for number, entry in enumerate(keys.get_secret_value().split(",") if keys is not None else (), start=1):
        if not entry.strip():
            continue
        namespace, equals, key = entry.strip().rpartition("=")
        if (equals and not namespace.strip()) or not _KEY.fullmatch(key):
            raise ConfigurationError(
                f"Entry {number} of {variable} is not a key: write KEY or NAMESPACE=KEY, the key with at least"
                f" {_KEY_CHARS} letters, digits or any of ._~+/- (openssl rand -hex 16)."
            )
        yield namespace.strip() or None, key


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
