"""Routes for records: JSON objects in collections. Their paths are one word, so they come after all others."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Query

from core.rag.dbhandler.knowledge.recording import Inserted
from core.rag.errors import InvalidInputError, NotFoundError
from mgrag.http.bases import After, Reading, Writing
from mgrag.http.names import Collection
from mgrag.http.results import Deleted, InsertedRecords, Record, Records
from mgrag.pages import page

_AT_ONCE = 1000

_Limit = Annotated[int, Query(ge=1, le=_AT_ONCE)]


router = APIRouter(tags=["records"])


@router.post("/{collection:collection}", status_code=201)
async def insert(
    kb: Writing, collection: Collection, body: Annotated[dict[str, Any] | list[dict[str, Any]], Body()]
) -> Inserted | InsertedRecords:
    """Insert a record, or an array of up to 1,000; fields that name somebody or something become entities."""
    if isinstance(body, dict):
        return await kb.insert(collection, body)
    if len(body) > _AT_ONCE:
        raise InvalidInputError(f"{len(body)} records are too many for one request: {_AT_ONCE} at most.")
    return {"inserted": await kb.insert_many(collection, body)}


@router.get("/{collection:collection}")
async def list_records(
    kb: Reading,
    collection: Collection,
    limit: _Limit = 100,
    after: After = "",
) -> Records:
    """List the records of a collection by id."""
    shown, more = page(await kb.records(collection, limit=limit + 1, after=after), limit, itemgetter("id"))
    return {"records": cast("list[Record]", shown), "next": more}


@router.get("/collections/{collection:listed}")
async def list_collection(
    kb: Reading,
    collection: str,
    limit: _Limit = 100,
    after: After = "",
) -> Records:
    """List the records of a collection that may be called like a route: of a file users.csv, or with a slash."""
    return await list_records(kb, collection, limit, after)


@router.get("/{collection:collection}/{record}")
async def read(kb: Reading, collection: Collection, record: str) -> Record:
    """Return a record."""
    found = await kb.record(record)
    if found is None or found["collection"] != collection:
        raise _missing(collection, record)
    return cast("Record", found)


@router.delete("/{collection:collection}/{record}")
async def delete(kb: Writing, collection: Collection, record: str) -> Deleted:
    """Remove a record, with the entities that nothing else supports."""
    await read(kb, collection, record)  # an id of another collection is a mistake of the caller
    if not await kb.delete_record(record):
        raise _missing(collection, record)
    return {"deleted": record}


def _missing(collection: str, record: str) -> NotFoundError:
    return NotFoundError(f"No record of {collection[:200]!r} has the id {record[:200]!r}.")
