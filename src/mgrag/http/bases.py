"""What routes work with: the knowledge base of a namespace, if the caller may use it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from pydantic import AliasChoices, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.convertors import Convertor, register_url_convertor

from core.rag.errors import InvalidInputError
from core.rag.knowledge_base import KnowledgeBase
from mgrag.http.access import Caller

if TYPE_CHECKING:
    from fastapi.routing import APIRoute

    from mgrag.sources import Allowed

#: Namespaces whose knowledge base is kept.
_KEPT = 256


class _Name(Convertor[str]):
    """A name in a path that may be anything, such as a URL. Starlette's own ``path`` may be empty, but no two lines."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("name", _Name())


class Bases:
    """The knowledge bases of one graph.

    Args:
        kb: Connected; its namespace does not matter.
        allowed: What may be loaded for callers.
        max_bytes: Limit for the size of a file.
    """

    def __init__(self, kb: KnowledgeBase, allowed: Allowed, max_bytes: int) -> None:
        self.kb = kb
        self.allowed = allowed
        self.max_bytes = max_bytes
        self.of = lru_cache(_KEPT)(kb.in_namespace)


class Body(BaseModel):
    """The body of a request; names may be in camelCase or in snake_case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


def bases_of(request: Request) -> Bases:
    """The knowledge bases of the server."""
    bases: Bases = request.app.state.bases
    return bases


def caller_of(request: Request) -> Caller:
    """Who sends a request."""
    caller: Caller = request.state.caller
    return caller


async def check_parameters(request: Request) -> None:
    """Refuse parameters that the route does not have: a misspelt ``before`` would have everything forgotten.

    One that is there twice is refused, too, also by two of its names: only one of the values would count.

    Raises:
        InvalidInputError: naming them, and those that there are.
    """
    route: APIRoute = request.scope["route"]
    given = [name for name, _ in request.query_params.multi_items()]
    known: list[str] = []
    for field in route.dependant.query_params:
        alias = field.field_info.validation_alias
        names = [str(name) for name in alias.choices] if isinstance(alias, AliasChoices) else [field.alias]
        if len(said := [name for name in given if name in names]) > 1:
            raise InvalidInputError(f"{' and '.join(dict.fromkeys(said))} can be given once only.")
        known += names
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        there = f"there are {', '.join(known)}" if known else "it has none"
        raise InvalidInputError(f"This route has no parameter {unknown[0][:200]!r} ({there}).")


async def _reading(namespace: str, request: Request) -> KnowledgeBase:
    caller_of(request).check(namespace, writing=False)
    return bases_of(request).of(namespace)


async def _writing(namespace: str, request: Request) -> KnowledgeBase:
    caller_of(request).check(namespace, writing=True)
    return bases_of(request).of(namespace)


#: The knowledge base of the namespace in the path, for callers that may read it.
Reading = Annotated[KnowledgeBase, Depends(_reading)]

#: The same for callers that may change it.
Writing = Annotated[KnowledgeBase, Depends(_writing)]
