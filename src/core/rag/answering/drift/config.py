"""The configuration of DRIFT RAG, and its validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StringConstraints, ValidationError

from core.rag.errors import InvalidInputError

Direction = Literal["forward", "backward", "bidirectional"]
InferenceStrategy = Literal["semantic", "similarity", "structural"]

_Name = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=200)]


class DRIFTRAGConfig(BaseModel):
    """The configuration of DRIFT RAG.

    Attributes:
        entry_point_count: Number of nodes to start from, 1 to 100.
        max_traversal_depth: Maximum number of edges in a path, 1 to 16.
        traversal_direction: ``forward`` follows edges, ``backward`` goes against them, ``bidirectional`` does both.
        top_k_paths: How many paths are kept, 1 to 1,000.
        use_inference: Whether missing connections are inferred.
        llm_model: Name of a language model to open, which infers and answers.
        embedding_model: The embedding model. It must be that of the graph, as vectors of two models cannot be
            compared; another one is refused.
        inference_strategy: ``semantic`` (a language model), ``similarity`` (vectors) or ``structural`` (shared
            neighbours). Without a language model ``semantic`` becomes ``similarity``, without vectors ``structural``.
        min_path_score: Paths below this score are dropped, 0 to 1.
        beam_width: How many of the best paths of each length are followed from each entry point, 1 to 1,000.
        max_edges_per_node: How many of the strongest edges of a node are read in each direction, 1 to 1,000.
        max_visited_edges: Maximum number of edges that a query reads, 1 to 1,000,000.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    entry_point_count: StrictInt = Field(default=3, ge=1, le=100)
    max_traversal_depth: StrictInt = Field(default=3, ge=1, le=16)
    traversal_direction: Direction = "bidirectional"
    top_k_paths: StrictInt = Field(default=5, ge=1, le=1000)
    use_inference: StrictBool = True
    llm_model: _Name = "gpt-4"
    embedding_model: _Name = "text-embedding-ada-002"
    inference_strategy: InferenceStrategy = "semantic"
    min_path_score: Annotated[float, Field(strict=True)] = Field(default=0.3, ge=0, le=1)
    beam_width: StrictInt = Field(default=16, ge=1, le=1000)
    max_edges_per_node: StrictInt = Field(default=32, ge=1, le=1000)
    max_visited_edges: StrictInt = Field(default=20_000, ge=1, le=1_000_000)

    def updated(self, **changes: Any) -> DRIFTRAGConfig:
        """Return a copy with some values changed.

        Raises:
            InvalidInputError: as :func:`make_config`.
        """
        return make_config(**{**self.model_dump(exclude_unset=True), **changes})


def make_config(**values: Any) -> DRIFTRAGConfig:
    """Make a configuration with these values, and defaults for the others.

    Raises:
        InvalidInputError: naming every invalid value, and what is allowed.
    """
    try:
        return DRIFTRAGConfig(**values)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise InvalidInputError(f"Invalid DRIFT RAG configuration: {problems}.") from error


#: The recommended settings, by what they are for.
PRESETS: dict[str, DRIFTRAGConfig] = {
    "quick": DRIFTRAGConfig(entry_point_count=2, max_traversal_depth=2, top_k_paths=3, use_inference=False),
    "balanced": DRIFTRAGConfig(entry_point_count=3, max_traversal_depth=3, top_k_paths=5, use_inference=True),
    "comprehensive": DRIFTRAGConfig(entry_point_count=5, max_traversal_depth=4, top_k_paths=10, use_inference=True),
}


def preset(name: str) -> DRIFTRAGConfig:
    """Return recommended settings: ``quick`` lookup, ``balanced`` or ``comprehensive``.

    Raises:
        InvalidInputError: on another name.
    """
    if name not in PRESETS:
        raise InvalidInputError(f"There is no preset {str(name)[:50]!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]


def check_edge_types(edge_types: Sequence[str]) -> tuple[str, ...]:
    """Check the edge types that a traversal may follow.

    Returns:
        The edge types, without repetitions.

    Raises:
        InvalidInputError: if they are a single string or an empty list, or one is not a valid name.
    """
    if isinstance(edge_types, str) or not edge_types or not all(isinstance(name, str) and name for name in edge_types):
        raise InvalidInputError(f"edge_types is {edge_types!r}, but has to be a list of names of edge types.")
    return tuple(dict.fromkeys(edge_types))
