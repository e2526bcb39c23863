"""The prompts used while indexing, and the schemas of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, Field, model_validator

from core.rag.llm.prompts import Plain, Prompt


class ExtractFactsPrompt(Prompt):
    """Asks for the entities and facts of a passage.

    Attributes:
        place: Title of the document and heading path.
        passage: The text.
        wanted: Which types and relations are wanted; may be empty.
    """

    prompt: ClassVar[str] = "extract_facts"
    version: ClassVar[int] = 2
    place: str
    passage: str
    wanted: Plain = ""


class NamedEntity(BaseModel):
    """An entity that the passage names."""

    name: str
    type: str = Field(default="", description="In lower case, such as person, organization, place, work, event")


class StatedFact(BaseModel):
    """What the passage says of two entities."""

    subject: str = Field(description="Name of an entity of the list")
    relation: str = Field(description="In snake_case, such as works_at")
    object: str = Field(description="Name of another entity of the list")
    sentence: str = Field(default="", description="The fact in one sentence")


class PassageFacts(BaseModel):
    """Entities and facts of a passage."""

    entities: list[NamedEntity] = Field(default_factory=list)
    facts: list[StatedFact] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _has_either(cls, said: object) -> object:
        """An object with neither list is in another form; a passage that says nothing has two empty ones."""
        if isinstance(said, Mapping) and said.keys().isdisjoint(cls.model_fields):
            raise ValueError("there are neither entities nor facts")
        return said
