"""Checks the environment: Python, packages, settings, embedding model, disk."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.rag.errors import ConfigurationError, EmbeddingError, MGRagError
from core.rag.maintenance.findings import Check, Level
from core.rag.maintenance.places import bytes_on_disk
from core.rag.sizes import size

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService
    from core.rag.settings import Settings

DISTRIBUTION = "memgraph-rag"

_OPTIONAL = {
    "fastapi": ("http", "mgrag serve"),
    "mcp": ("mcp", "mgrag mcp"),
    "fastembed": ("fastembed", "better embedding models in the process (fastembed:NAME)"),
    "openai": ("openai", "models of OpenAI, Azure OpenAI and servers that speak their API"),
    "llama_index": ("llama-index", "readers of LlamaIndex for more file formats, and the retriever for it"),
    "langchain_core": ("langchain", "the retriever for LangChain"),
}
_LEAST_FREE_BYTES = 200_000_000
_PROBE = "Is anybody there?"

_AREA: Literal["environment"] = "environment"


def check_python() -> Iterator[Check]:
    """Check the interpreter."""
    found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield _check("python", "ok", f"{found}.")


def check_packages() -> Iterator[Check]:
    """Check which packages are installed and which are missing."""
    from importlib import util

    yield from _required_packages(tuple(sys.path))
    for module, (extra, purpose) in _OPTIONAL.items():
        if util.find_spec(module) is None:
            yield _check(
                f"extra {extra}",
                "note",
                f"Not installed; needed only for {purpose}.",
                f"pip install '{DISTRIBUTION}[{extra}]'",
            )


@lru_cache(maxsize=1)
def _required_packages(folders: tuple[str, ...]) -> tuple[Check, ...]:
    """Check the packages in these folders of ``sys.path``, once: that takes 40 ms, far longer than other checks."""
    from importlib.metadata import Distribution

    from packaging.requirements import Requirement

    def installed(name: str) -> Distribution | None:
        return next(iter(Distribution.discover(name=name, path=list(folders))), None)

    own = installed(DISTRIBUTION)
    if own is None:
        message = f"{DISTRIBUTION} is not installed, only its source is there."
        return (_check("packages", "note", message, "pip install -e ."),)
    missing, wrong, versions = [], [], [f"{DISTRIBUTION} {own.version}"]
    for requirement in map(Requirement, own.requires or ()):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        package = installed(requirement.name)
        if package is None:
            missing.append(str(requirement))
            continue
        if not requirement.specifier.contains(package.version, prereleases=True):
            wrong.append(f"{requirement.name} {package.version} (needed: {requirement})")
        if requirement.name in {"grafeo", "neo4j", "wordllama"}:
            versions.append(f"{requirement.name} {package.version}")
    problems = [
        _check("packages", "problem", f"Packages are {kind}: {', '.join(found)}.", f"pip install '{DISTRIBUTION}'")
        for kind, found in (("missing", missing), ("of another version", wrong))
        if found
    ]
    return tuple(problems) or (_check("packages", "ok", f"{', '.join(versions)}."),)


def check_settings(settings: Settings) -> Iterator[Check]:
    """Check the variables of the environment and of .env; no request is sent to what they name."""
    from core.rag.settings import unknown_variables

    where = "the environment and .env" if Path(".env").is_file() else "the environment (there is no .env here)"
    unknown = unknown_variables()
    if unknown:
        yield _check(
            "settings",
            "problem",
            f"Unknown variables: {', '.join(unknown)}.",
            "Correct their names; .env.example lists all variables.",
        )
    else:
        yield _check("settings", "ok", f"Read from {where}; the embedding model is {settings.embedding_model}.")
    yield from _check_language_model(settings)
    yield from _check_reranker(settings)


async def check_embedder(embedder: EmbeddingService) -> Iterator[Check]:
    """Check that the model returns vectors of its dimension; a provider gets one short request."""
    try:
        vector = await embedder.get_embedding(_PROBE)
        promised = embedder.dimension
    except EmbeddingError as error:
        return iter([_check("embedding model", "problem", f"{embedder.model} does not answer: {error}", _PROVIDER)])
    except MGRagError as error:
        return iter([_check("embedding model", "problem", f"{embedder.model} cannot be loaded: {error}")])
    if len(vector) != promised:
        message = f"{embedder.model} gives {len(vector)} dimensions instead of {promised}."
        return iter([_check("embedding model", "problem", message, "Set MGRAG_EMBEDDING_DIMENSION to what it gives.")])
    return iter([_check("embedding model", "ok", f"{embedder.model} gives vectors of {promised} dimensions.")])


_PROVIDER = "Check the key, the address (MGRAG_EMBEDDING_BASE_URL, OPENAI_BASE_URL) and the network."


def check_model(model: str | None, settings: Settings) -> tuple[EmbeddingService | None, Iterator[Check]]:
    """Return the embedding service, or why there is none: an unknown model, a missing key or package."""
    from core.rag.embedder import open_embedder

    try:
        return open_embedder(model, settings), iter(())
    except (ConfigurationError, ImportError) as error:
        return None, iter([_check("embedding model", "problem", str(error))])


def _check_language_model(settings: Settings) -> Iterator[Check]:
    from core.rag.llm import open_language_model

    try:
        open_language_model(settings=settings)
    except (ConfigurationError, ImportError) as error:
        yield _check("language model", "problem", str(error))


def _check_reranker(settings: Settings) -> Iterator[Check]:
    from core.rag.reranker import open_reranker

    try:
        open_reranker(settings=settings)
    except (ConfigurationError, ImportError) as error:
        yield _check("reranker", "problem", str(error))


def check_disk(folder: Path, file: Path | None) -> Iterator[Check]:
    """Check that there is disk space for the graph to grow, and for a copy of it."""
    there = _nearest(folder)
    free = shutil.disk_usage(there).free
    needed = max(_LEAST_FREE_BYTES, bytes_on_disk(file) if file is not None else 0)
    found = f"{size(free)} are free at {there}"
    if free < needed:
        yield _check(
            "disk space",
            "problem",
            f"Only {found}; the graph needs about {size(needed)} to write its checkpoints.",
            "Free some space, or move the graph.",
        )
    else:
        yield _check("disk space", "ok", f"{found}.")


def why_not_made(folder: Path) -> str | None:
    """Return why no graph can be created in a folder (which is created if missing); ``None`` if one can."""
    there = _nearest(folder)
    try:
        with tempfile.TemporaryFile(dir=there):  # permissions are not enough: the file system may be read-only
            return None
    except OSError as error:
        return f"nothing can be written in {there} ({error.strerror or error})"


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest existing one above it."""
    return next(place for place in (folder, *folder.parents) if place.exists() or place == place.parent)


def _check(name: str, level: Level, message: str, advice: str = "") -> Check:
    return Check(_AREA, name, level, message, advice)
