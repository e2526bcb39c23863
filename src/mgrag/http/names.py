"""Names in paths: which there may be, so that a request that misses its route is not one about something else.

A slash is a part of a name, also where it is not percent-encoded. With a method that a route does not have, its path
would be that of another: ``DELETE /users/ada/history`` would forget a user ``ada/history``, and tell that it did.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.convertors import Convertor, register_url_convertor

_TAKEN = (
    "answer|ask|chunks|collections|conversations|documents|export|feedback|files|graph|import|ingest|mcp|memory|search"
    "|status|users"
)
#: The first words of all other routes: no collections.
RESERVED = frozenset(_TAKEN.split("|"))

#: A collection, as it is described; which there are not, the convertor says.
Collection = Annotated[str, Path(json_schema_extra={"not": {"enum": sorted(RESERVED)}})]


class _Text(Convertor[str]):
    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Name(_Text):
    """Anything, such as a URL. Starlette's own ``path`` may be empty, but no two lines."""

    regex = r"[\s\S]+"


class _Listed(_Text):
    regex = r"(?![\s\S]+/fields\Z)[\s\S]+"


class _User(_Text):
    regex = r"(?![\s\S]+/(?:export|history|anonymize)\Z)[\s\S]+"


class _Conversation(_Text):
    regex = r"(?![\s\S]+/(?:messages|anonymize)\Z)[\s\S]+"


class _Session(_Text):
    regex = r"(?!(?:remember|recall|revise|list|compact|forget|[\s\S]+/recall)\Z)[\s\S]+"


class _Collection(_Text):
    regex = rf"(?!(?:{_TAKEN})(?:/|\Z))[^/]+"


register_url_convertor("name", _Name())
register_url_convertor("listed", _Listed())
register_url_convertor("user", _User())
register_url_convertor("conversation", _Conversation())
register_url_convertor("session", _Session())
register_url_convertor("collection", _Collection())
