"""Routes that ask the records of a collection as a table."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from core.rag.retrieval.tables.table import RecordTable
from mgrag.http.bases import Body, Filters, Reading
from mgrag.http.results import RecordFields

router = APIRouter(tags=["records"])

#: One or several names of fields or measures.
OneOrSeveral = str | list[str] | None


class TableQuestion(Body):
    """What is asked of the records of a collection. A single text counts as a list of one."""

    filters: Filters | None = Field(default=None, description="Only records that match: 'team=Sales salary>60000'.")
    group_by: OneOrSeveral = Field(
        default=None,
        description="One row for each value of these fields, or for each year, quarter, month, week, day or hour of"
        " dates: created:month.",
    )
    measures: OneOrSeveral = Field(
        default=None, description="count, or count, distinct, sum, avg, median, min or max with a field: avg:salary."
    )
    fields: OneOrSeveral = Field(default=None, description="Columns of single records; all without it.")
    order_by: OneOrSeveral = Field(default=None, description="Columns; -salary: the largest first.")
    limit: int = Field(default=100, ge=1, le=1000, description="Maximum number of rows.")


@router.post("/collections/{collection:name}/table")
async def table(kb: Reading, collection: str, body: TableQuestion) -> RecordTable:
    """Filter, group and measure all records of a collection: which there are, how many, and what they come to."""
    return await kb.tabulate(collection, **dict(body))


@router.get("/collections/{collection:name}/fields")
async def fields(kb: Reading, collection: str) -> RecordFields:
    """Describe the fields of the records of a collection: names, kinds, how many records have them, and examples."""
    return {"fields": await kb.record_fields(collection)}
