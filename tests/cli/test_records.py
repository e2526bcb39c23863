"""``mgrag records``: the rows of tables, listed, described, filtered, grouped and measured."""

from __future__ import annotations

import pytest

from tests.cli.command import Command

STAFF = 'name,team,salary,city\nAlice,Backend,"$70,000",Berlin\nBob,Backend,"$62,500",Paris\nCara,Sales,n/a,\n'


@pytest.fixture
def staff(mgrag: Command) -> Command:
    (mgrag.folder / "staff.csv").write_text(STAFF)
    assert mgrag("ingest", "staff.csv").code == 0
    return mgrag


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_collections_and_their_fields_are_listed(staff: Command) -> None:
    assert lines(staff("records").out) == [["RECORDS", "COLLECTION"], ["3", "staff"]]
    assert staff("records", "--json").json == [{"name": "staff", "records": 3}]
    described = lines(staff("records", "staff", "--fields").out)
    assert described[0] == ["RECORDS", "KIND", "FIELD", "EXAMPLES"]
    assert ["3", "text", "team"] in [line[:3] for line in described]
    assert {field["name"]: field["kind"] for field in staff("records", "staff", "--fields", "--json").json} == {
        "name": "text",
        "team": "text",
        "salary": "mixed",
        "city": "text",
    }


def test_rows_are_filtered_and_sorted(staff: Command) -> None:
    done = staff("records", "staff", "--filter", "team:Backend", "-f", "name", "-f", "salary", "-o", "-salary")
    assert lines(done.out) == [["name", "salary"], ["Alice", "$70,000"], ["Bob", "$62,500"]]
    fewer = staff("records", "staff", "-k", "1", "--order-by", "name", "--field", "name")
    assert lines(fewer.out) == [["name"], ["Alice"]]
    assert fewer.err == "1 of 3 rows; --limit shows more.\n"
    assert staff("records", "staff", "--filter", "city=Rome").out == "No records match.\n"


def test_groups_are_counted_and_measured(staff: Command) -> None:
    done = staff("records", "staff", "-g", "team", "-m", "count", "-m", "avg:salary", "-o", "-count")
    assert lines(done.out) == [["team", "count", "avg:salary"], ["Backend", "2", "66250"], ["Sales", "1"]]
    assert done.err == "avg:salary: 1 value left out that cannot be compared with the others.\n"
    given = staff("records", "staff", "--measure", "sum:salary", "--json").json
    assert given["rows"] == [{"sum:salary": 132500}]
    assert (given["records"], given["left_out"]) == (3, {"sum:salary": 1})


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("staf",), 4, "There is no collection 'staf'; there are: staff."),
        (("staff", "-g", "tem"), 2, "There is no field 'tem'; there are: city, name, salary, team."),
        (("staff", "-m", "mean:salary"), 2, "'mean:salary' is no measure"),
        (("staff", "--filter", "salary>"), 2, "expected a value"),
        (("-m", "count"), 2, "name a collection"),
        (("staff", "--fields", "-m", "count"), 2, "it describes all records"),
        (("staff", "-n", "0"), 2, "limit is 0"),
        (("staff", "-g", "team", "-f", "name"), 2, "leave it out with --group-by and --measure"),
    ],
)
def test_what_is_wrong_is_said(staff: Command, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = staff("records", *arguments)
    assert done.code == code
    assert said in " ".join(done.err.split())
    assert done.out == ""


def test_an_empty_graph_has_no_records(staff: Command) -> None:
    assert staff("delete", "staff.csv", "--yes").code == 0
    assert staff("records").out == "No records.\n"


def test_single_records_are_inserted_shown_and_deleted(mgrag: Command) -> None:
    (mgrag.folder / "bill.json").write_text('{\n  "id": 1,\n  "shop": "Quay Bakery",\n  "amount": 12\n}\n')
    bill = mgrag("record", "insert", "bills", "bill.json").out.strip()
    assert mgrag("record", "show", bill, "--json").json == {
        "id": bill,
        "collection": "bills",
        "data": {"id": 1, "shop": "Quay Bakery", "amount": 12},
    }
    assert lines(mgrag("record", "show", bill).out) == [
        ["bills"],
        ["amount", "12"],
        ["id", "1"],
        ["shop", "Quay", "Bakery"],
    ]
    assert mgrag("graph", "stats").out.splitlines()[-1].startswith("0 mentions, 1 record, 0 concepts, ")
    two = '{"id": 1, "shop": "Quay Bakery", "amount": 14}\n{"id": 2, "shop": "Ferry", "amount": 5}\n'
    inserted = mgrag("record", "insert", "bills", "-", "--json", stdin=two).json
    assert inserted[0]["id"] == bill, "it is replaced"
    assert mgrag("records", "bills", "-m", "sum:amount", "--json").json["rows"] == [{"sum:amount": 19}]
    gone = mgrag("record", "delete", bill, "nix")
    assert (gone.code, gone.out) == (4, "Deleted: 1 record.\n") and "'nix'" in gone.err
    assert mgrag("record", "show", bill).code == 4
    assert mgrag("records", "bills", "--json").json["ids"] == [inserted[1]["id"]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("3", "record 1 of 'bills' is a int"),
        ("[{]", "Standard input is neither a JSON array nor JSON lines"),
        ("x", "nor"),
        ("", "There are no records to insert."),
    ],
)
def test_what_is_no_record_is_not_inserted(mgrag: Command, given: str, said: str) -> None:
    done = mgrag("record", "insert", "bills", "-", stdin=given)
    assert done.code == 2 and said in done.err and "insert_many" not in done.err
