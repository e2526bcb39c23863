"""Questions about records as a table: filters, groups, measures, and numbers as people write them."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.errors import FilterError, InvalidInputError, NotFoundError
from core.rag.extraction.amounts import amount, plain_number
from core.rag.retrieval.tables.asked import Asked
from core.rag.retrieval.tables.dates import Dates, written_as
from core.rag.retrieval.tables.tabulating import Tabulation
from tests.dbhandler.kit import Engine

STAFF = """name,team,salary,start,city
Alice,Backend,"$70,000",2019-03-01,Berlin
Bob,Backend,"$62,500",2020-01-15,Paris
Cara,Sales,"$58,000",2018-07-01,Berlin
Dan,Sales,n/a,2022-02-01,
"""
ORDERS = [
    {"id": 1, "customer": "Acme", "items": [{"sku": "a", "price": 3.1}, {"sku": "b", "price": 4}], "paid": True},
    {"id": 2, "customer": "Zed", "items": [{"sku": "a", "price": 3.2}, {"sku": "a", "price": 0.1}], "paid": False},
    {"id": 3, "customer": "Zed", "tags": ["gift", "late"], "address": {"city": "Rome"}},
]


@pytest.fixture
async def tables(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "staff.csv").write_text(STAFF)
    await kb.ingest([tmp_path / "staff.csv"])
    await kb.insert_many("orders", ORDERS)
    return kb


async def names(kb: KnowledgeBase, filters: Any) -> list[str]:
    table = await kb.tabulate("staff", filters=filters, fields="name", order_by="name")
    assert table.records == table.total == len(table.rows) == len(table.ids)
    return [row["name"] for row in table.rows]


async def test_filters_compare_numbers_and_dates_as_people_write_them(tables: KnowledgeBase) -> None:
    assert await names(tables, None) == ["Alice", "Bob", "Cara", "Dan"]
    assert await names(tables, "salary>=62500") == ["Alice", "Bob"]
    assert await names(tables, "salary=58000 or salary='$70,000'") == ["Alice", "Cara"]
    assert await names(tables, "start>=2020") == ["Bob", "Dan"]
    assert await names(tables, "start=2020") == ["Bob"]
    assert await names(tables, "start>=2019-03 start<2020-06") == ["Alice", "Bob"]
    assert await names(tables, "city=null") == ["Dan"]
    assert await names(tables, "TEAM:Sales not name*=car") == ["Dan"]
    assert await names(tables, {"team": ["Sales", "Backend"], "salary": {"<": 60000}}) == ["Cara"]


async def test_a_cell_with_several_tags_has_each_of_them(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "trees.csv").write_text(
        'id,tags,kind,place\n1,"oak, elm",oak,"Ulm, north"\n2,elm,elm,"Ulm, north"\n'
        '3,"oak; old",oak,Bern\n4,,elm,Bern\n'
    )
    await kb.ingest([tmp_path / "trees.csv"])
    tags = await kb.tabulate("trees", group_by="tags", measures=["count", "distinct:tags"])
    assert [tuple(row.values()) for row in tags.rows] == [("elm", 2, 2), ("oak", 2, 3), ("old", 1, 2), (None, 1, 0)]
    places = await kb.tabulate("trees", group_by="place")
    assert [tuple(row.values()) for row in places.rows] == [("Bern", 2), ("Ulm, north", 2)]
    for filters, records in {"tags=oak": 2, "tags='oak, elm'": 1, "tags=(elm, old)": 3, "tags!=elm": 2}.items():
        assert (await kb.tabulate("trees", filters=filters, measures="count")).records == records, filters
    rows = (await kb.tabulate("trees", filters="tags=old", fields=["id", "tags"])).rows
    assert rows == [{"id": "3", "tags": "oak; old"}]


async def test_groups_with_measures(tables: KnowledgeBase) -> None:
    table = await tables.tabulate(
        "staff",
        group_by="team",
        measures=["count", "avg:salary", "max:salary", "min:start", "distinct:city", "count:city"],
        order_by="-avg:salary",
    )
    assert table.columns == ["team", "count", "avg:salary", "max:salary", "min:start", "distinct:city", "count:city"]
    assert [list(row.values()) for row in table.rows] == [
        ["Backend", 2, 66250, 70000, "2019-03-01", 2, 2],
        ["Sales", 2, 58000, 58000, "2018-07-01", 1, 1],
    ]
    assert table.left_out == {"avg:salary": 1, "max:salary": 1}  # n/a
    assert (table.ids, table.records, table.total) == ([], 4, 2)
    missing_last = await tables.tabulate("staff", group_by=["city"], order_by="-city")
    assert missing_last.rows == [
        {"city": "Paris", "count": 1},
        {"city": "Berlin", "count": 2},
        {"city": None, "count": 1},
    ]


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=20))
def test_the_median_is_exact(numbers: list[Decimal]) -> None:
    asked = Asked.parse(fields=(), filters=None, group_by=None, measures="median:v", order_by=None, limit=1)
    tabulation = Tabulation("c", asked, Dates())
    tabulation.take({"id": str(place), "data": {"v": str(number)}} for place, number in enumerate([*numbers, "n/a"]))
    table = tabulation.table()
    assert table.rows == [{"median:v": plain_number(median(numbers))}]
    assert table.left_out == {"median:v": 1}


async def test_a_measure_of_all_records_is_one_row(tables: KnowledgeBase) -> None:
    table = await tables.tabulate("staff", measures=["sum:salary", "count"])
    assert table.rows == [{"sum:salary": 190500, "count": 4}]
    nothing = await tables.tabulate("staff", filters="salary>1000000", measures=["sum:salary", "count", "max:start"])
    assert nothing.rows == [{"sum:salary": None, "count": 0, "max:start": None}]
    assert (await tables.tabulate("staff", filters="salary>1000000", group_by="team")).rows == []


async def test_items_of_a_list_are_grouped_apart(tables: KnowledgeBase) -> None:
    measures = ["count", "sum:items.price", "count:items.price"]
    table = await tables.tabulate("orders", group_by="items.sku", measures=measures)
    assert table.rows == [
        {"items.sku": "a", "count": 2, "sum:items.price": 6.4, "count:items.price": 2},
        {"items.sku": "b", "count": 1, "sum:items.price": 4, "count:items.price": 1},
        {"items.sku": None, "count": 1, "sum:items.price": None, "count:items.price": 0},
    ]
    tags = await tables.tabulate("orders", group_by="tags", filters="customer=Zed")
    assert tags.rows == [{"tags": "gift", "count": 1}, {"tags": "late", "count": 1}, {"tags": None, "count": 1}]
    inside = await tables.tabulate(
        "orders", filters='items.price>3.1 or address.city="Rome"', fields=["id", "items.sku"]
    )
    assert sorted(inside.rows, key=lambda row: row["id"]) == [
        {"id": 1, "items.sku": ["a", "b"]},
        {"id": 2, "items.sku": ["a", "a"]},
        {"id": 3, "items.sku": None},
    ]


async def test_rows_are_records_in_order_up_to_a_limit(tables: KnowledgeBase) -> None:
    table = await tables.tabulate("staff", order_by="-salary", limit=2)
    assert [row["name"] for row in table.rows] == ["Alice", "Bob"]
    assert (table.records, table.total) == (4, 4)
    assert {row["name"] for row in table.rows} == {
        (await tables.record(key) or {})["data"]["name"] for key in table.ids
    }
    by_two = await tables.tabulate("staff", order_by=["team", "-start"], fields=["name"])
    assert [row["name"] for row in by_two.rows] == ["Bob", "Alice", "Dan", "Cara"]


async def test_more_records_than_are_read_at_once(kb: KnowledgeBase) -> None:
    await kb.insert_many("numbers", [{"id": number, "n": number, "even": number % 2 == 0} for number in range(4_100)])
    table = await kb.tabulate("numbers", group_by="even", measures=["count", "sum:n", "max:n"], order_by="even")
    assert [list(row.values()) for row in table.rows] == [
        [False, 2_050, sum(range(1, 4_100, 2)), 4_099],
        [True, 2_050, sum(range(0, 4_100, 2)), 4_098],
    ]
    top = await kb.tabulate("numbers", order_by="-n", limit=3, fields="n")
    assert [row["n"] for row in top.rows] == [4_099, 4_098, 4_097]
    assert top.total == 4_100


async def test_groups_are_bounded(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    await kb.insert(
        "lists", {"a": list(range(200)), "b": [{"c": n} for n in range(200)], "d": [{"e": n} for n in range(200)]}
    )
    for fields in (["a", "b.c", "d.e"], ["b.c", "d.e"], ["a", "b.c"]):
        with pytest.raises(InvalidInputError, match="belongs to more than 10,000 groups"):
            await kb.tabulate("lists", group_by=fields)
    monkeypatch.setattr("core.rag.retrieval.tables.tabulating.MAX_GROUPS", 100)
    with pytest.raises(InvalidInputError, match="more than 100 groups"):
        await kb.tabulate("lists", group_by="a")


async def test_fields_are_described(tables: KnowledgeBase) -> None:
    fields = {field.name: field for field in await tables.record_fields("staff")}
    assert {name: (field.kind, field.records) for name, field in fields.items()} == {
        "name": ("text", 4),
        "team": ("text", 4),
        "salary": ("mixed", 4),
        "start": ("date", 4),
        "city": ("text", 3),
    }
    assert sorted(fields["city"].examples) == ["Berlin", "Paris"]
    nested = {field.name: field.kind for field in await tables.record_fields("orders")}
    assert nested["items.price"] == "number"
    assert nested["address.city"] == "text"
    assert nested["paid"] == "boolean"


async def test_other_namespaces_are_not_looked_at(engine: Engine, tables: KnowledgeBase) -> None:
    other = tables.in_namespace(engine.namespace())
    await other.insert("staff", {"name": "Eve", "team": "Sales"})
    assert (await other.tabulate("staff", measures="count")).rows == [{"count": 1}]
    assert (await tables.tabulate("staff", measures="count")).rows == [{"count": 4}]


@pytest.mark.parametrize(
    ("collection", "arguments", "kind", "said"),
    [
        ("staf", {}, NotFoundError, "There is no collection 'staf'; there are: orders, staff."),
        ("staff", {"group_by": "tem"}, InvalidInputError, "no field 'tem'; there are: city, name, salary, start, team"),
        ("staff", {"filters": "tem=1"}, InvalidInputError, "no field 'tem'"),
        ("staff", {"fields": ["name", "tem"]}, InvalidInputError, "no field 'tem'"),
        ("staff", {"measures": "mode:salary"}, InvalidInputError, "'mode:salary' is no measure"),
        ("staff", {"measures": "sum"}, InvalidInputError, "'sum' is no measure"),
        ("staff", {"measures": "count", "fields": "name"}, InvalidInputError, "fields are those of single records"),
        ("staff", {"group_by": "team", "order_by": "-salary"}, InvalidInputError, "only by one of team, count"),
        ("staff", {"limit": 0}, InvalidInputError, "limit is 0"),
        ("staff", {"group_by": 7}, InvalidInputError, "group_by must be a sequence of texts, not int"),
        ("staff", {"fields": ["x"] * 51}, InvalidInputError, "fields has 51 names"),
        ("staff", {"group_by": "a." * 300}, InvalidInputError, "more than 500 characters"),
        ("staff", {"filters": f"{'a.' * 300}=1"}, InvalidInputError, "more than 500 characters"),
        ("staff", {"filters": "salary>"}, FilterError, "expected a value"),
        ("staff", {"filters": ">3"}, FilterError, "expected a field"),
    ],
)
async def test_what_is_wrong_is_said(
    tables: KnowledgeBase, collection: str, arguments: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said.replace("(", r"\(").replace(".", r"\.")):
        await tables.tabulate(collection, **arguments)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1,200", 1200),
        ("1,200.50", 1200.5),
        ("1.200,50", 1200.5),
        ("1.200.300", 1_200_300),
        ("1 200,5", 1200.5),
        ("1'200", 1200),
        ("$1,200", 1200),
        ("USD 12", 12),
        ("12 €", 12),
        ("12,5 %", 12.5),
        ("(1,200)", -1200),
        ("-$5", -5),
        ("\u22123", -3),
        ("1e3", 1000),
        (7, 7),
        (0.1, 0.1),
        ("2024-01-05", None),
        ("10:30", None),
        ("12 kg", None),
        ("RFC 822", None),
        ("01234", None),
        ("1,23,456", None),
        ("-(5)", None),
        ("1e999", None),
        (True, None),
        (None, None),
        (float("inf"), None),
    ],
)
def test_amounts(written: Any, number: float | None) -> None:
    found = amount(written)
    assert (None if found is None else plain_number(found)) == number


VALUES = st.one_of(st.none(), st.integers(-5, 5), st.sampled_from(["", "x", "Y", "3", "$2"]), st.booleans())


@given(st.lists(st.fixed_dictionaries({"g": st.sampled_from(["a", "b", ""]), "v": VALUES}), min_size=1, max_size=30))
def test_groups_equal_a_plain_count(records: list[dict[str, Any]]) -> None:
    asked = Asked.parse(
        fields=(), filters=None, group_by="g", measures=["count", "sum:v", "count:v"], order_by="g", limit=100
    )
    tabulation = Tabulation("c", asked, written_as(records))
    tabulation.take({"id": str(number), "data": record} for number, record in enumerate(records))
    table = tabulation.table()
    expected: dict[str | None, list[Any]] = defaultdict(lambda: [0, None, 0])
    for record in records:
        row = expected[record["g"] or None]
        number = {"3": 3, "$2": 2}.get(record["v"], record["v"]) if not isinstance(record["v"], bool) else None
        row[0] += 1
        row[1] = (row[1] or 0) + number if isinstance(number, int) else row[1]
        row[2] += record["v"] not in (None, "")
    assert {row["g"]: [row["count"], row["sum:v"], row["count:v"]] for row in table.rows} == dict(expected)
    assert json.loads(json.dumps(table.to_dict())) == table.to_dict()
