"""Every environment variable that this package reads, once.

Values come from arguments first, then the environment, then a ``.env`` file in the working directory, then the
defaults here.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.rag.errors import ConfigurationError

DEFAULT_EMBEDDED_URI = "embedded:.mgrag/graph.grafeo"
DEFAULT_NAMESPACE = "default"


class Settings(BaseSettings):
    """Settings of this package; see ``.env.example`` for the same list with explanations for users."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, env_ignore_empty=True
    )

    # The graph database.
    memgraph_uri: str | None = Field(default=None, alias="MEMGRAPH_URI")
    memgraph_port: int = Field(default=7687, alias="MEMGRAPH_PORT", ge=1, le=65535)
    memgraph_username: str | None = Field(default=None, alias="MEMGRAPH_USERNAME")
    memgraph_password: SecretStr | None = Field(default=None, alias="MEMGRAPH_PASSWORD")
    memgraph_database: str | None = Field(default=None, alias="MEMGRAPH_DATABASE")
    force_engine: Literal["memgraph", "neo4j"] | None = Field(default=None, alias="MGRAG_FORCE_ENGINE")
    namespace: str = Field(default=DEFAULT_NAMESPACE, alias="MGRAG_NAMESPACE")
    connect_timeout: float = Field(default=10.0, alias="MGRAG_CONNECT_TIMEOUT", gt=0)
    query_timeout: float = Field(default=60.0, alias="MGRAG_QUERY_TIMEOUT", gt=0)
    retry_deadline: float = Field(default=30.0, alias="MGRAG_RETRY_DEADLINE", ge=0)
    max_connection_pool_size: int | None = Field(default=None, alias="MGRAG_MAX_CONNECTIONS", ge=1, le=10_000)
    connection_lifetime: float = Field(default=3600.0, alias="MGRAG_CONNECTION_LIFETIME", gt=0)
    connection_liveness: float = Field(default=30.0, alias="MGRAG_CONNECTION_LIVENESS", ge=0)
    lock_timeout: float = Field(default=5.0, alias="MGRAG_LOCK_TIMEOUT", ge=0)
    sync_every_commit: bool = Field(default=True, alias="MGRAG_SYNC_EVERY_COMMIT")

    # Embeddings.
    embedding_model: str = Field(default="wordllama", alias="MGRAG_EMBEDDING_MODEL")
    embedding_dimension: int | None = Field(default=None, alias="MGRAG_EMBEDDING_DIMENSION", ge=1)
    embedding_concurrency: int = Field(default=4, alias="MGRAG_EMBEDDING_CONCURRENCY", ge=1, le=64)
    embedding_timeout: float = Field(default=60.0, alias="MGRAG_EMBEDDING_TIMEOUT", gt=0)
    embedding_batch_size: int | None = Field(default=None, alias="MGRAG_EMBEDDING_BATCH_SIZE", ge=1, le=2048)
    embedding_retry_deadline: float = Field(default=120.0, alias="MGRAG_EMBEDDING_RETRY_DEADLINE", ge=0)
    tiktoken_cache_dir: str | None = Field(default=None, alias="TIKTOKEN_CACHE_DIR")
    openai_api_key: SecretStr | None = Field(default=None, alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, alias="OPENAI_BASE_URL")
    azure_openai_api_key: SecretStr | None = Field(default=None, alias="AZURE_OPENAI_API_KEY")
    azure_openai_endpoint: str | None = Field(default=None, alias="AZURE_OPENAI_ENDPOINT")
    azure_openai_api_version: str = Field(default="2024-10-21", alias="AZURE_OPENAI_API_VERSION")
    azure_openai_embedding_deployment: str | None = Field(default=None, alias="AZURE_OPENAI_EMBEDDING_DEPLOYMENT")

    # Language models.
    llm_model: str | None = Field(default=None, alias="MGRAG_LLM_MODEL")
    llm_concurrency: int = Field(default=4, alias="MGRAG_LLM_CONCURRENCY", ge=1, le=64)
    llm_timeout: float = Field(default=120.0, alias="MGRAG_LLM_TIMEOUT", gt=0)
    llm_retry_deadline: float = Field(default=60.0, alias="MGRAG_LLM_RETRY_DEADLINE", ge=0)
    llm_price_input: float | None = Field(default=None, alias="MGRAG_LLM_PRICE_INPUT", ge=0)
    llm_price_output: float | None = Field(default=None, alias="MGRAG_LLM_PRICE_OUTPUT", ge=0)
    azure_openai_chat_deployment: str | None = Field(default=None, alias="AZURE_OPENAI_CHAT_DEPLOYMENT")

    # Loading and splitting.
    max_file_bytes: int = Field(default=50_000_000, alias="MGRAG_MAX_FILE_BYTES", ge=1)
    chunk_size: int = Field(default=256, alias="MGRAG_CHUNK_SIZE", ge=16)
    chunk_overlap: int = Field(default=32, alias="MGRAG_CHUNK_OVERLAP", ge=0)
    ingest_worker: bool = Field(default=True, alias="MGRAG_INGEST_WORKER")
    extraction: bool = Field(default=True, alias="MGRAG_EXTRACTION")
    llm_extraction: bool = Field(default=False, alias="MGRAG_LLM_EXTRACTION")
    entity_fields: str = Field(default="", alias="MGRAG_ENTITY_FIELDS")

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The values that must never appear in a log or a message."""
        values = (self.memgraph_password, self.openai_api_key, self.azure_openai_api_key)
        return tuple(value.get_secret_value() for value in values if value is not None and value.get_secret_value())


def load_settings() -> Settings:
    """Read the environment.

    Returns:
        The settings, validated.

    Raises:
        ConfigurationError: naming each variable that has a value that makes no sense (never the value of a secret).
    """
    try:
        return Settings()
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigurationError(f"The environment has settings that cannot be used: {problems}") from error
    except (UnicodeError, OSError) as error:
        raise ConfigurationError(f"The file .env in this folder cannot be read: {error}.") from error


def unknown_variables() -> list[str]:
    """Variables of the environment and of ``.env`` that look like settings of this package but are none."""
    from dotenv import dotenv_values

    known = {field.alias for field in Settings.model_fields.values()}
    file = Settings.model_config.get("env_file")
    named = {*os.environ, *(dotenv_values(str(file)) if file else ())}
    ours = (name for name in named if name.startswith("MGRAG_") and not name.startswith("MGRAG_TEST_"))
    return sorted(name for name in ours if name not in known)
