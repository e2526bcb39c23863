"""Dates in tables, however they are written: compared, sorted and grouped as what they say."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError
from core.rag.retrieval.tables.asked import Asked
from core.rag.retrieval.tables.dates import Dates, written_as
from core.rag.retrieval.tables.tabulating import Tabulation

ORDERS = """order,placed,due,amount
1,1/15/2024,March 2024,10
2,12/3/2023,April 2024,20
3,3/4/2024,Feb 2024,30
4,2/29/2024 2:30 PM,,40
5,,,50
"""


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2024-03-15", "2024-03-15"),
        ("2024-03", "2024-03"),
        ("2024-03-15T10:30:00Z", "2024-03-15T10:30:00Z"),
        ("2024/3/15", "2024-03-15"),
        ("2024/03/15 10:30", "2024-03-15T10:30:00"),
        ("15.03.2024", "2024-03-15"),
        ("1. 3. 2024 9:05 Uhr", "2024-03-01T09:05:00"),
        ("15.03.24", "2024-03-15"),
        ("15 Mar 2024", "2024-03-15"),
        ("15-Mar-2024", "2024-03-15"),
        ("15-Mar-69", "1969-03-15"),
        ("1st March 2024", "2024-03-01"),
        ("Mar 15, 2024", "2024-03-15"),
        ("Jan 1 2000", "2000-01-01"),
        ("March 2024", "2024-03"),
        ("03/2024", "2024-03"),
        ("Fri, 15 Mar 2024 10:30:05 GMT", "2024-03-15T10:30:05Z"),
        ("15. März 2024", "2024-03-15"),
        ("15 de mayo de 2024", "2024-05-15"),
        ("1er août 2024", "2024-08-01"),
        ("Mar 15, 2024 12:30 am", "2024-03-15T00:30:00"),
        ("3/4/2024", None),  # nothing tells which of the two is the month
        ("15/3/2024", None),
        ("30.02.2024", None),
        ("2011/12", None),  # a season
        ("1.12.24", None),  # a version
        ("10.0.2024.1", None),
        ("May", None),
        ("2024", None),
        ("March 2024 to May 2024", None),
        (20240315, None),
        (None, None),
    ],
)
def test_dates_are_read_as_iso_8601(written: Any, iso: str | None) -> None:
    assert Dates().iso(written) == iso


FORMATS = {
    "%m/%d/%Y": "day of the month second",
    "%d/%m/%Y": "day of the month first",
    "%d-%m-%Y": "with hyphens",
    "%m/%d/%y": "short",
    "%d.%m.%Y": "dots",
    "%d %B %Y": "names",
    "%b %d, %Y": "short names",
}


@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(st.dates(date(1970, 1, 1), date(2068, 12, 31)), max_size=20),
    st.dates(date(1970, 1, 1), date(2068, 12, 31)).filter(lambda day: day.day > 12),
)
def test_one_clear_date_tells_how_all_are_written(form: str, days: list[date], clear: date) -> None:
    days = [*days, clear]
    records = [{"day": day.strftime(form), "n": 1} for day in days]
    dates = written_as(records)
    assert [dates.iso(record["day"]) for record in records] == [day.isoformat() for day in days]

    asked = Asked.parse(
        fields=None, filters=None, group_by="day:month", measures=None, order_by="day:month", limit=10_000
    )
    tabulation = Tabulation("c", asked, dates)
    tabulation.take({"id": str(number), "data": record} for number, record in enumerate(records))
    rows = tabulation.table().rows
    assert [(row["day:month"], row["count"]) for row in rows] == sorted(
        Counter(day.isoformat()[:7] for day in days).items()
    )


def test_dates_that_do_not_agree_are_texts() -> None:
    dates = written_as([{"a": "15/3/2024"}, {"a": "3/15/2024"}, {"a": "15.03.2024"}])
    assert dates.iso("15/3/2024") is dates.iso("3/4/2024") is None
    assert dates.iso("15.03.2024") == "2024-03-15"


@pytest.fixture
async def tables(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "orders.csv").write_text(ORDERS)
    await kb.ingest([tmp_path / "orders.csv"])
    return kb


async def test_filters_and_order_go_by_what_dates_say(tables: KnowledgeBase) -> None:
    async def orders(filters: str | None, order_by: str = "order") -> list[str]:
        table = await tables.tabulate("orders", filters=filters, fields="order", order_by=order_by)
        return [row["order"] for row in table.rows]

    assert await orders("placed>=2024") == ["1", "3", "4"]
    assert await orders("placed>=2024-02") == ["3", "4"]
    assert await orders("placed<=2024-02") == ["1", "2", "4"]  # with its days
    assert await orders("placed>2024-02") == ["3"]
    assert await orders("placed<=2024-02-29") == ["1", "2", "4"]  # with its hours
    assert await orders("placed>=1/15/2024") == ["1", "3", "4"]
    assert await orders("placed=2024-03-04 or placed=1/15/2024") == ["1", "3"]
    assert await orders("placed=2023") == ["2"]
    assert await orders("placed=null") == ["5"]
    assert await orders("due<2024-03") == ["3"]
    assert await orders(None, "placed") == ["2", "1", "4", "3", "5"]
    assert await orders(None, "-placed") == ["3", "4", "1", "2", "5"]
    assert (await orders(None, "due"))[:3] == ["3", "1", "2"]


async def test_dates_are_measured_and_grouped(tables: KnowledgeBase) -> None:
    ends = await tables.tabulate("orders", measures=["min:placed", "max:placed"])
    assert ends.rows == [{"min:placed": "12/3/2023", "max:placed": "3/4/2024"}]
    for unit, expected in {
        "year": {"2023": 20, "2024": 80, None: 50},
        "quarter": {"2023-Q4": 20, "2024-Q1": 80, None: 50},
        "month": {"2023-12": 20, "2024-01": 10, "2024-02": 40, "2024-03": 30, None: 50},
        "week": {"2023-W48": 20, "2024-W03": 10, "2024-W09": 40, "2024-W10": 30, None: 50},
        "Day": {"2023-12-03": 20, "2024-01-15": 10, "2024-02-29": 40, "2024-03-04": 30, None: 50},
        "hour": {"2024-02-29T14": 40, None: 110},
    }.items():
        name = f"placed:{unit}"
        table = await tables.tabulate("orders", group_by=name, measures="sum:amount")
        assert {row[name]: row["sum:amount"] for row in table.rows} == expected
    fields = {field.name: field.kind for field in await tables.record_fields("orders")}
    assert fields == {"order": "number", "placed": "date", "due": "date", "amount": "number"}


async def test_what_dates_cannot_be_grouped_by_is_an_error(tables: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match=r"'fortnight'.*year, quarter, month, week, day, hour"):
        await tables.tabulate("orders", group_by="placed:fortnight")
    with pytest.raises(InvalidInputError, match="no field 'shipped:month'"):
        await tables.tabulate("orders", group_by="shipped:month")
    await tables.insert("odd", {"time:month": "x", "n": 1})  # a name of its own
    assert (await tables.tabulate("odd", group_by="time:month")).rows == [{"time:month": "x", "count": 1}]


async def test_a_date_far_down_tells_for_the_first_ones(kb: KnowledgeBase) -> None:
    days = [datetime(2024, 1 + number % 12, 1 + number % 12) for number in range(700)] + [datetime(2024, 5, 31)]
    await kb.insert_many("log", [{"id": n, "day": f"{day.day}/{day.month}/{day.year}"} for n, day in enumerate(days)])
    table = await kb.tabulate("log", group_by="day:month", order_by="day:month")
    expected = Counter(day.strftime("%Y-%m") for day in days)
    assert {row["day:month"]: row["count"] for row in table.rows} == dict(expected)
