"""The settings: every environment variable that this package reads.

Values come from arguments first, then the environment, then a ``.env`` file in the working directory, then the
defaults here. That file may be somebody else's (a cloned repository): a key or password is sent to an address of it
only where it is from there, too (:meth:`Settings.check_recipient`), and ``${NAME}`` is not replaced in it.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from core.rag.arguments import check_text
from core.rag.errors import ConfigurationError, InvalidInputError
from libs.regexes import regex

DEFAULT_EMBEDDED_URI = "embedded:.mgrag/graph.grafeo"
DEFAULT_NAMESPACE = "default"

#: The kinds of models that can have a server of their own: MGRAG_EMBEDDING_BASE_URL, MGRAG_LLM_BASE_URL …
type ModelKind = Literal["embedding", "llm", "rerank"]

#: Read when settings are loaded; relative to the working directory.
ENV_FILE = Path(".env")

# Tokens of a document of running text that is one chunk, unless a size of chunks is given (docs/adr/0005-splitting.md).
_WHOLE_SIZE = 512

# pydantic-settings itself reads no file: its reader would expand ``${NAME}``, and fail on lines meant for other
# programs.
_NO_FILES = ()


class _EnvFile(DotEnvSettingsSource):
    """Reads the file literally: expanding ``KEY=${OTHER_KEY}`` would take a key from the environment."""

    def _read_env_file(self, file_path: Path) -> Mapping[str, str | None]:
        values = _file_values(file_path)
        return {name.lower(): value for name, value in values.items() if value}


class Settings(BaseSettings):
    """Settings of this package; see ``.env.example`` for the same list with explanations for users.

    Arguments are called as the fields or as the variables. Type checkers know the fields: what is called ``alias``
    would be the only name to them.
    """

    model_config = SettingsConfigDict(env_file=_NO_FILES, extra="ignore", frozen=True, env_ignore_empty=True)

    # The graph database.
    memgraph_uri: str | None = Field(default=None, validation_alias="MEMGRAPH_URI", repr=False)
    memgraph_port: int = Field(default=7687, validation_alias="MEMGRAPH_PORT", ge=1, le=65535)
    memgraph_username: str | None = Field(default=None, validation_alias="MEMGRAPH_USERNAME")
    memgraph_password: SecretStr | None = Field(default=None, validation_alias="MEMGRAPH_PASSWORD")
    memgraph_database: str | None = Field(default=None, validation_alias="MEMGRAPH_DATABASE")
    force_engine: Literal["memgraph", "neo4j"] | None = Field(default=None, validation_alias="MGRAG_FORCE_ENGINE")
    namespace: str = Field(default=DEFAULT_NAMESPACE, validation_alias="MGRAG_NAMESPACE")
    connect_timeout: float = Field(default=10.0, validation_alias="MGRAG_CONNECT_TIMEOUT", gt=0)
    query_timeout: float = Field(default=60.0, validation_alias="MGRAG_QUERY_TIMEOUT", gt=0)
    retry_deadline: float = Field(default=30.0, validation_alias="MGRAG_RETRY_DEADLINE", ge=0)
    max_connection_pool_size: int | None = Field(
        default=None, validation_alias="MGRAG_MAX_CONNECTIONS", ge=1, le=10_000
    )
    connection_lifetime: float = Field(default=3600.0, validation_alias="MGRAG_CONNECTION_LIFETIME", gt=0)
    connection_liveness: float = Field(default=30.0, validation_alias="MGRAG_CONNECTION_LIVENESS", ge=0)
    read_only: bool = Field(default=False, validation_alias="MGRAG_READ_ONLY")
    lock_timeout: float = Field(default=5.0, validation_alias="MGRAG_LOCK_TIMEOUT", ge=0)
    sync_every_commit: bool = Field(default=True, validation_alias="MGRAG_SYNC_EVERY_COMMIT")

    # Servers of models.
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL", repr=False)
    azure_openai_api_key: SecretStr | None = Field(default=None, validation_alias="AZURE_OPENAI_API_KEY")
    azure_openai_endpoint: str | None = Field(default=None, validation_alias="AZURE_OPENAI_ENDPOINT", repr=False)
    azure_openai_api_version: str = Field(default="2024-10-21", validation_alias="AZURE_OPENAI_API_VERSION")
    embedding_base_url: str | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_BASE_URL", repr=False)
    embedding_api_key: SecretStr | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_API_KEY")
    llm_base_url: str | None = Field(default=None, validation_alias="MGRAG_LLM_BASE_URL", repr=False)
    llm_api_key: SecretStr | None = Field(default=None, validation_alias="MGRAG_LLM_API_KEY")
    rerank_base_url: str | None = Field(default=None, validation_alias="MGRAG_RERANK_BASE_URL", repr=False)
    rerank_api_key: SecretStr | None = Field(default=None, validation_alias="MGRAG_RERANK_API_KEY")

    # Embeddings.
    embedding_model: str = Field(default="wordllama", validation_alias="MGRAG_EMBEDDING_MODEL")
    embedding_dimension: int | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_DIMENSION", ge=1)
    embedding_query_prefix: str | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_QUERY_PREFIX")
    embedding_text_prefix: str | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_TEXT_PREFIX")
    embedding_concurrency: int = Field(default=4, validation_alias="MGRAG_EMBEDDING_CONCURRENCY", ge=1, le=64)
    embedding_timeout: float = Field(default=60.0, validation_alias="MGRAG_EMBEDDING_TIMEOUT", gt=0)
    embedding_batch_size: int | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_BATCH_SIZE", ge=1, le=2048)
    embedding_retry_deadline: float = Field(default=120.0, validation_alias="MGRAG_EMBEDDING_RETRY_DEADLINE", ge=0)
    embedding_path: str | None = Field(default=None, validation_alias="MGRAG_EMBEDDING_PATH")
    fastembed_cache_path: str | None = Field(default=None, validation_alias="FASTEMBED_CACHE_PATH")
    tiktoken_cache_dir: str | None = Field(default=None, validation_alias="TIKTOKEN_CACHE_DIR")
    azure_openai_embedding_deployment: str | None = Field(
        default=None, validation_alias="AZURE_OPENAI_EMBEDDING_DEPLOYMENT"
    )

    # Language models.
    llm_model: str | None = Field(default=None, validation_alias="MGRAG_LLM_MODEL")
    llm_concurrency: int = Field(default=4, validation_alias="MGRAG_LLM_CONCURRENCY", ge=1, le=64)
    answer_instructions: str = Field(default="", validation_alias="MGRAG_ANSWER_INSTRUCTIONS")
    llm_timeout: float = Field(default=120.0, validation_alias="MGRAG_LLM_TIMEOUT", gt=0)
    llm_retry_deadline: float = Field(default=60.0, validation_alias="MGRAG_LLM_RETRY_DEADLINE", ge=0)
    llm_price_input: float | None = Field(default=None, validation_alias="MGRAG_LLM_PRICE_INPUT", ge=0)
    llm_price_output: float | None = Field(default=None, validation_alias="MGRAG_LLM_PRICE_OUTPUT", ge=0)
    azure_openai_chat_deployment: str | None = Field(default=None, validation_alias="AZURE_OPENAI_CHAT_DEPLOYMENT")

    # Rerankers.
    rerank_model: str | None = Field(default=None, validation_alias="MGRAG_RERANK_MODEL")
    rerank_candidates: int = Field(default=30, validation_alias="MGRAG_RERANK_CANDIDATES", ge=2, le=1000)
    rerank_concurrency: int = Field(default=4, validation_alias="MGRAG_RERANK_CONCURRENCY", ge=1, le=64)
    rerank_timeout: float = Field(default=30.0, validation_alias="MGRAG_RERANK_TIMEOUT", gt=0)
    rerank_retry_deadline: float = Field(default=10.0, validation_alias="MGRAG_RERANK_RETRY_DEADLINE", ge=0)

    # Loading and splitting.
    max_file_bytes: int = Field(default=50_000_000, validation_alias="MGRAG_MAX_FILE_BYTES", ge=1)
    max_chunks: int | None = Field(default=None, validation_alias="MGRAG_MAX_CHUNKS", ge=1)
    chunk_size: int = Field(default=256, validation_alias="MGRAG_CHUNK_SIZE", ge=16)
    chunk_overlap: int = Field(default=32, validation_alias="MGRAG_CHUNK_OVERLAP", ge=0)
    ingest_worker: bool = Field(default=True, validation_alias="MGRAG_INGEST_WORKER")
    extraction: bool = Field(default=True, validation_alias="MGRAG_EXTRACTION")
    llm_extraction: bool = Field(default=False, validation_alias="MGRAG_LLM_EXTRACTION")
    llm_entity_types: str = Field(default="", validation_alias="MGRAG_LLM_ENTITY_TYPES")
    llm_relations: str = Field(default="", validation_alias="MGRAG_LLM_RELATIONS")
    entity_fields: str = Field(default="", validation_alias="MGRAG_ENTITY_FIELDS")

    # The HTTP API.
    api_keys: SecretStr | None = Field(default=None, validation_alias="MGRAG_API_KEYS")
    api_read_keys: SecretStr | None = Field(default=None, validation_alias="MGRAG_API_READ_KEYS")
    jwt_key: SecretStr | None = Field(default=None, validation_alias="MGRAG_JWT_KEY")
    jwt_audience: str | None = Field(default=None, validation_alias="MGRAG_JWT_AUDIENCE")
    jwt_issuer: str | None = Field(default=None, validation_alias="MGRAG_JWT_ISSUER")

    #: The variables above whose value comes from the file; always determined here, never passed.
    in_env_file: Annotated[frozenset[str], NoDecode] = Field(default=frozenset(), repr=False)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of values, highest priority first. ``Settings(_env_file=None)`` reads no file.

        Raises:
            ConfigurationError: on an argument that is no setting; ignored, a misspelt key would leave a server open.
        """
        # By name, too, but only here: the environment has variables such as NAMESPACE for other purposes.
        variables = _variables()
        known = {
            called.lower(): variables.get(name, name)
            for name in cls.model_fields
            for called in (name, variables.get(name, name))
        }
        passed = {}
        for name, value in cast(InitSettingsSource, init_settings).init_kwargs.items():
            if name.lower() not in known:
                raise ConfigurationError(f"There is no setting {name!r}; .env.example lists all settings.")
            passed[known[name.lower()]] = value
        init_settings = InitSettingsSource(settings_cls, passed)
        given = cast(DotEnvSettingsSource, dotenv_settings).env_file
        file = _EnvFile(settings_cls, ENV_FILE if given == _NO_FILES else given)
        if not file.env_vars:  # as is usual: each source that is asked takes more than a millisecond
            return InitSettingsSource(settings_cls, {"in_env_file": frozenset()}), init_settings, env_settings
        names = file().keys() - init_settings().keys() - env_settings().keys()
        origins = InitSettingsSource(settings_cls, {"in_env_file": frozenset(names)})
        return origins, init_settings, env_settings, file

    @property
    def whole_size(self) -> int:
        """Tokens up to which a document of running text is one chunk."""
        return self.chunk_size if "chunk_size" in self.model_fields_set else _WHOLE_SIZE

    def model_server(self, kind: ModelKind) -> tuple[str | None, SecretStr | None]:
        """Return address and key of the server that is only for this kind of model, as far as they are set."""
        return {
            "embedding": (self.embedding_base_url, self.embedding_api_key),
            "llm": (self.llm_base_url, self.llm_api_key),
            "rerank": (self.rerank_base_url, self.rerank_api_key),
        }[kind]

    def check_recipient(self, address: str, host: str, secret: str | None) -> None:
        """Refuse to send a secret that is not from the ``.env`` file to a remote address that is.

        Args:
            address: Name of the variable with the address.
            host: The host in the address.
            secret: Name of the variable with the secret; ``None``: it was passed as an argument.

        Raises:
            ConfigurationError: naming the origin of both, and what to do.
        """
        if address not in self.in_env_file or secret in self.in_env_file or _is_loopback(host):
            return
        where = f"{secret} from the environment" if secret else "the key or password from an argument"
        remedy = f"{secret} in .env instead" if secret else "give it as an argument, too"
        raise ConfigurationError(
            f"{address} ({host}) comes from the file .env in this folder, but {where}, and the file may be somebody"
            f" else's: nothing is sent there. If the address is right, set {address} in the environment, too, or"
            f" {remedy}."
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _file_values(file: Path) -> dict[str, str | None]:
    """Return the variables of an ``.env`` file.

    Raises:
        ConfigurationError: if a line that names a setting of this package cannot be parsed, for example because a
            quote is not closed: otherwise another value would silently be used, such as another graph or namespace.
            Other lines that cannot be parsed are meant for other programs and are skipped.
    """
    from dotenv.parser import parse_stream

    values: dict[str, str | None] = {}
    with file.open(encoding="utf-8-sig") as stream:
        for binding in parse_stream(stream):
            if binding.error and (setting := _SETTING.search(binding.original.string)):
                raise ConfigurationError(
                    f"Line {binding.original.line} of the file {file.name} in this folder cannot be read, and"
                    f" {setting[0]} is in it. Write {setting[0]}=VALUE, and close the quotes around a value with"
                    " blanks."
                )
            if binding.key is not None:
                values[binding.key] = binding.value
    return values


def _variables() -> dict[str, str]:
    """Return the variable of each setting that has one, by the name of the setting."""
    fields = Settings.model_fields.items()
    return {name: str(field.validation_alias) for name, field in fields if field.validation_alias}


_SETTING = regex(rf"\b(?:{'|'.join(_variables().values())})\b", re.I)


def load_settings() -> Settings:
    """Read the environment.

    Returns:
        The settings, validated.

    Raises:
        ConfigurationError: naming each variable with an invalid value (never the value of a secret).
    """
    try:
        return Settings()
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigurationError(f"Invalid settings, in the environment or in the file .env: {problems}") from error
    except (UnicodeError, OSError) as error:
        raise ConfigurationError(f"The file .env in this folder cannot be read: {error}.") from error


def settings_for(given: Settings | None) -> Settings:
    """Return the given settings, or those of the environment.

    Raises:
        InvalidInputError: if ``given`` is not a :class:`Settings`.
        ConfigurationError: as :func:`load_settings` does.
    """
    if given is None:
        return load_settings()
    if not isinstance(given, Settings):
        raise InvalidInputError(f"settings must be a core.rag.Settings, not {type(given).__name__}.")
    return given


def named_model(given: str | None, setting: str | None, what: str, variable: str) -> str | None:
    """Return the name of a model: the given one, else that of the settings; ``None`` if neither names one.

    Raises:
        InvalidInputError: if what is given is not text.
        ConfigurationError: if the name is empty.
    """
    if given is not None:
        check_text("The name of a model", given)
    name = setting if given is None else given
    if name is not None and not name.strip():
        raise ConfigurationError(f"The name of the {what} is empty ({variable}).")
    return None if name is None else name.strip()


def unknown_variables() -> list[str]:
    """Return variables of the environment and of ``.env`` that look like settings of this package but are not."""
    known = {*_variables().values()}
    named = {*os.environ, *(_file_values(ENV_FILE) if ENV_FILE.is_file() else ())}
    ours = (name for name in named if name.startswith("MGRAG_") and not name.startswith("MGRAG_TEST_"))
    return sorted(name for name in ours if name not in known)
