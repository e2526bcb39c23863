"""Determines which OpenAI-compatible endpoint to use, and with which key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from core.rag.errors import ConfigurationError

if TYPE_CHECKING:
    from core.rag.settings import Settings

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
        azure_version: The API version; None unless this is Azure OpenAI.
    """

    url: str
    key: SecretStr
    key_variable: str = "OPENAI_API_KEY"
    azure_version: str | None = None


def find_endpoint(
    settings: Settings,
    purpose: str,
    *,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    azure_first: bool = True,
) -> Endpoint:
    """Choose the endpoint: arguments, then what the environment holds.

    Args:
        settings: The environment.
        purpose: What the endpoint is for, to begin an error message with.
        base_url: An OpenAI-compatible endpoint that goes before everything in the environment.
        api_key: A key that goes before those in the environment.
        azure_first: With an Azure key set, go to Azure even if OPENAI_BASE_URL is set as well.

    Returns:
        The endpoint; at OPENAI_BASE_URL without a key, with a placeholder for it.

    Raises:
        ConfigurationError: Nothing is set, or something that cannot be used, or the address is from the ``.env`` file
            and the key is not; says which variables.
    """
    azure_key = settings.azure_openai_api_key
    azure = azure_key is not None and base_url is None and (azure_first or settings.openai_base_url is None)
    if azure and azure_key is not None and api_key is None:
        if settings.azure_openai_endpoint is None:
            raise ConfigurationError(
                f"{purpose}: AZURE_OPENAI_API_KEY is set, but not where it belongs to: set AZURE_OPENAI_ENDPOINT "
                f"to the address of your Azure OpenAI resource"
            )
        resource = _checked_url(settings.azure_openai_endpoint, "AZURE_OPENAI_ENDPOINT")
        key = _checked_key(azure_key, "AZURE_OPENAI_API_KEY")
        settings.check_recipient("AZURE_OPENAI_ENDPOINT", _host(resource), "AZURE_OPENAI_API_KEY")
        return Endpoint(resource, key, "AZURE_OPENAI_API_KEY", settings.azure_openai_api_version)
    chosen = SecretStr(api_key) if isinstance(api_key, str) else api_key or settings.openai_api_key
    url = base_url or settings.openai_base_url
    if chosen is None and url is None:
        raise ConfigurationError(f"{purpose} needs a key, and there is none. {HOW_TO_SET}")
    found = _checked_url(url or OPENAI_URL, "OPENAI_BASE_URL")
    if chosen is None:
        return Endpoint(found, SecretStr(PLACEHOLDER_KEY))
    if not base_url:
        settings.check_recipient("OPENAI_BASE_URL", _host(found), None if api_key else "OPENAI_API_KEY")
    return Endpoint(found, _checked_key(chosen, "OPENAI_API_KEY"))


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
