"""Determines which OpenAI-compatible endpoint to use, and with which key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from core.rag.errors import ConfigurationError

if TYPE_CHECKING:
    from core.rag.settings import ModelKind, Settings

OPENAI_URL = "https://api.openai.com/v1"
# Servers on one's own machine take any key, but the client insists on one.
PLACEHOLDER_KEY = "not-needed"
HOW_TO_SET = (
    "Set OPENAI_API_KEY for OpenAI, AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT for Azure OpenAI, or "
    "OPENAI_BASE_URL for any other server with the same protocol (and OPENAI_API_KEY if it needs a key)"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go.

    Attributes:
        url: The base URL (OpenAI) or the resource (Azure), without credentials.
        key: The key, or a placeholder.
        key_variable: The variable that the key comes from, for advice.
        url_variable: The same for the address.
        azure_version: The API version; None unless this is Azure OpenAI.
    """

    url: str
    key: SecretStr
    key_variable: str = "OPENAI_API_KEY"
    url_variable: str = "OPENAI_BASE_URL"
    azure_version: str | None = None


def find_endpoint(
    settings: Settings,
    purpose: str,
    kind: ModelKind,
    *,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    azure_first: bool = True,
) -> Endpoint:
    """Choose the endpoint: arguments, then what the environment holds for this kind of model, then for all.

    Args:
        settings: The environment.
        purpose: What the endpoint is for, to begin an error message with.
        kind: Which kind of model it has to have.
        base_url: An OpenAI-compatible endpoint that goes before everything in the environment.
        api_key: A key that goes before those in the environment.
        azure_first: With an Azure key set, go to Azure even if OPENAI_BASE_URL is set as well.

    Returns:
        The endpoint; at a base URL without a key, with a placeholder for it.

    Raises:
        ConfigurationError: Nothing is set, or something that cannot be used, or the address is from the ``.env`` file
            and the key is not; says which variables.
    """
    own_url, own_key = settings.model_server(kind)
    azure_key = settings.azure_openai_api_key
    general = all(value is None for value in (base_url, api_key, own_url, own_key))
    if general and azure_key is not None and (azure_first or settings.openai_base_url is None):
        return _azure(settings, purpose, azure_key)
    given = SecretStr(api_key) if isinstance(api_key, str) else api_key
    url, url_variable = base_url or settings.openai_base_url, "OPENAI_BASE_URL"
    key, key_variable = settings.openai_api_key, "OPENAI_API_KEY"
    elsewhere = own_url is not None and not base_url
    if elsewhere:
        url, url_variable = own_url, f"MGRAG_{kind.upper()}_BASE_URL"
    if elsewhere or own_key is not None:  # the key for all models is not sent to a server for one kind
        key, key_variable = own_key, f"MGRAG_{kind.upper()}_API_KEY"
    key = given if given is not None else key
    if key is None and url is None:
        raise ConfigurationError(f"{purpose} needs a key, and there is none. {HOW_TO_SET}")
    found = _checked_url(url or OPENAI_URL, url_variable)
    if key is None:
        return Endpoint(found, SecretStr(PLACEHOLDER_KEY), key_variable, url_variable)
    if not base_url:
        settings.check_recipient(url_variable, _host(found), None if given is not None else key_variable)
    return Endpoint(found, _checked_key(key, key_variable), key_variable, url_variable)


def has_endpoint(settings: Settings) -> bool:
    """Tell whether the environment names a server, or a key for one, for embedding models."""
    own = settings.model_server("embedding")
    return any((*own, settings.openai_base_url, settings.openai_api_key, settings.azure_openai_api_key))


def _azure(settings: Settings, purpose: str, key: SecretStr) -> Endpoint:
    if settings.azure_openai_endpoint is None:
        raise ConfigurationError(
            f"{purpose}: AZURE_OPENAI_API_KEY is set, but not where it belongs to: set AZURE_OPENAI_ENDPOINT "
            f"to the address of your Azure OpenAI resource"
        )
    resource = _checked_url(settings.azure_openai_endpoint, "AZURE_OPENAI_ENDPOINT")
    key = _checked_key(key, "AZURE_OPENAI_API_KEY")
    settings.check_recipient("AZURE_OPENAI_ENDPOINT", _host(resource), "AZURE_OPENAI_API_KEY")
    version = settings.azure_openai_api_version
    return Endpoint(resource, key, "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", version)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _checked_url(url: str, variable: str) -> str:
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # without the cause, which may quote a password
        raise ConfigurationError(f"{variable} is not an http or https address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{variable} is not an http or https address")
    if parts.username or parts.password:
        raise ConfigurationError(f"{variable} holds a user name or password: set the key variable instead")
    path = parts.path
    if variable == "AZURE_OPENAI_ENDPOINT":
        # The portal shows addresses of single deployments too; the resource is what comes before /openai.
        path = path.partition("/openai")[0]
    elif parts.query:
        raise ConfigurationError(f"{variable} has parameters (?…), to which no path can be added: leave them out")
    return urlunsplit((parts.scheme, parts.netloc, path.rstrip("/"), "", ""))


def _checked_key(key: SecretStr, variable: str) -> SecretStr:
    # A header with a line break in it is refused by the HTTP client, with the key in its message.
    value = key.get_secret_value().strip()
    if not value or not value.isascii() or not value.isprintable():
        raise ConfigurationError(f"{variable} is empty or holds characters that no key has (a line break?)")
    return SecretStr(value)
