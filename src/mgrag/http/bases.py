"""What routes work with: the knowledge base of a namespace, if the caller may use it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from fastapi import Depends, Path, Query, Request
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from core.rag.errors import InvalidInputError
from core.rag.knowledge_base import KnowledgeBase
from mgrag.http.access import Caller

if TYPE_CHECKING:
    from fastapi.routing import APIRoute

    from mgrag.sources import Allowed

#: Namespaces whose knowledge base is kept.
_KEPT = 256


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


def described(**limits: Any) -> Any:
    """Limits of a value, for generated clients only: the library checks them, and tells better what is wrong."""
    return Field(json_schema_extra=limits)


#: A text that says something, such as a question.
Words = Annotated[str, described(pattern=r"\S")]

#: The name or id of an entity or another node.
Name = Annotated[str, described(pattern=r"\S", maxLength=200)]

#: An id, such as that of a session, or another text of a line: a role, a tag, a title.
Short = Annotated[str, described(pattern=r"\S", maxLength=500)]

#: The id of a user.
User = Annotated[str, described(pattern=r"\S", maxLength=2000)]

#: A time, also without a zone, or a date. Not a datetime: to pydantic, "2020" is a second of the year 1970.
Moment = Annotated[str, described(format="date-time")]

#: Conditions, as text or by their names.
Filters = str | dict[str, Any]

#: Where a page of a list begins.
After = Annotated[str, Query(description="The next of the page before.")]


def bases_of(request: Request) -> Bases:
    """The knowledge bases of the server."""
    bases: Bases = request.app.state.bases
    return bases


def caller_of(request: Request) -> Caller:
    """Who sends a request."""
    caller: Caller = request.state.caller
    return caller


def check_model(kb: KnowledgeBase) -> None:
    """Refuse what needs a language model where there is none.

    Raises:
        InvalidInputError: saying who can change that.
    """
    if kb.language_model is None:
        raise InvalidInputError("This server has no language model: who runs it can set MGRAG_LLM_MODEL.")


async def check_parameters(request: Request) -> None:
    """Refuse parameters that the route does not have: a misspelt ``before`` would have everything forgotten.

    One that is there twice is refused, too, also by two of its names: only one of the values would count, except where
    it is a list.

    Raises:
        InvalidInputError: naming them, and those that there are.
    """
    route: APIRoute = request.scope["route"]
    given = [name for name, _ in request.query_params.multi_items()]
    known: list[str] = []
    for field in route.dependant.query_params:
        alias = field.field_info.validation_alias
        names = [str(name) for name in alias.choices] if isinstance(alias, AliasChoices) else [field.alias]
        said = [name for name in given if name in names]
        if len(said) > 1 and not _is_list(field.field_info.annotation):
            raise InvalidInputError(f"{' and '.join(dict.fromkeys(said))} can be given once only.")
        known += names
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        there = f"there are {', '.join(known)}" if known else "it has none"
        raise InvalidInputError(f"This route has no parameter {unknown[0][:200]!r} ({there}).")


def _is_list(annotation: Any) -> bool:
    return list in (get_origin(annotation), *map(get_origin, get_args(annotation)))


#: The namespace in a path; whether it is allowed, the library checks.
_Namespace = Annotated[
    str,
    Path(
        description="Of the graph: 1 to 200 printable characters, no slash.",
        json_schema_extra={"minLength": 1, "maxLength": 200},
    ),
]


async def _reading(namespace: _Namespace, request: Request) -> KnowledgeBase:
    caller_of(request).check(namespace, writing=False)
    return bases_of(request).of(namespace)


async def _writing(namespace: _Namespace, request: Request) -> KnowledgeBase:
    caller_of(request).check(namespace, writing=True)
    return bases_of(request).of(namespace)


#: The knowledge base of the namespace in the path, for callers that may read it.
Reading = Annotated[KnowledgeBase, Depends(_reading)]

#: The same for callers that may change it.
Writing = Annotated[KnowledgeBase, Depends(_writing)]
