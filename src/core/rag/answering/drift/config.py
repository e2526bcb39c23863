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
    """What DRIFT RAG does, and how much of it.

    Attributes:
        entry_point_count: How many nodes to start from, 1 to 100.
        max_traversal_depth: How many edges a path has at most, 1 to 16.
        traversal_direction: ``forward`` follows edges, ``backward`` goes against them, ``bidirectional`` does both.
        top_k_paths: How many paths are kept, 1 to 1,000.
        use_inference: Whether missing connections are inferred.
        llm_model: The language model that infers and answers, where one is opened by its name.
        embedding_model: The embedding model. The vectors of two models cannot be compared, so that of the graph counts;
            another one that is asked for by name is refused.
        inference_strategy: ``semantic`` (a language model), ``similarity`` (vectors) or ``structural`` (shared
            neighbours). Without a language model ``semantic`` becomes ``similarity``, without vectors ``structural``.
        min_path_score: Paths below this score are dropped, 0 to 1.
        beam_width: From each entry point the best so many paths of each length are followed, 1 to 1,000.
        max_edges_per_node: Of each node the strongest so many edges in each direction are looked at, 1 to 1,000.
        max_visited_edges: A query looks at this many edges at most, 1 to 1,000,000.
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
        """The same with some values changed.

        Raises:
            InvalidInputError: as :func:`make_config`.
        """
        return make_config(**{**self.model_dump(exclude_unset=True), **changes})


def make_config(**values: Any) -> DRIFTRAGConfig:
    """A configuration with these values, the others by default.

    Raises:
        InvalidInputError: naming every value that is invalid, and what would.
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
    """Recommended settings: ``quick`` lookup, ``balanced`` or ``comprehensive``.

    Raises:
        InvalidInputError: on another name.
    """
    if name not in PRESETS:
        raise InvalidInputError(f"There is no preset {str(name)[:50]!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]


def check_edge_types(edge_types: Sequence[str]) -> tuple[str, ...]:
    """Check which edges a traversal may follow.

    Returns:
        The same, without repetitions.

    Raises:
        InvalidInputError: on one string, an empty list, or something that is not a name.
    """
    if isinstance(edge_types, str) or not edge_types or not all(isinstance(name, str) and name for name in edge_types):
        raise InvalidInputError(f"edge_types is {edge_types!r}, but has to be a list of names of edge types.")
    return tuple(dict.fromkeys(edge_types))
