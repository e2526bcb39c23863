"""Dumps of databases are tables with records; schemas and queries are code."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import convert

MYSQL = (
    """\
-- MySQL dump 10.13
DROP TABLE IF EXISTS `mills`;
CREATE TABLE `mills` (
  `id` int NOT NULL AUTO_INCREMENT,
  `name` varchar(80) DEFAULT 'none',
  `note` text,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
INSERT INTO `mills` VALUES """
    + ",".join(f"({n},'Ada\\'s mill {n}; (old), new',NULL)" for n in range(1, 12))
    + ";\n"
)
POSTGRES = (
    "CREATE TABLE public.mills (\n    id integer NOT NULL,\n    name text\n);\n\n"
    "COPY public.mills (id, name) FROM stdin;\n"
    + "".join(f"{n}\tMill\\t{n}\n" for n in range(1, 12))
    + "12\t\\N\n\\.\n\nCREATE INDEX mills_name ON public.mills (name);\n"
)
ONE_LINE = "CREATE TABLE mills (id INTEGER PRIMARY KEY, price decimal(10,2), CHECK (id > 0));\n" + "".join(
    f"INSERT INTO mills VALUES({n},2.5);\n" for n in range(1, 12)
)
SQLITE = "".join(f"INSERT INTO \"mills\" (id, name) VALUES ({n}, 'It''s C:\\{n}\\');\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "rows", "record"),
    [
        (MYSQL, 11, {"id": "1", "name": "Ada's mill 1; (old), new"}),
        (POSTGRES, 12, {"id": "1", "name": "Mill\t1"}),
        (ONE_LINE, 11, {"id": "1", "price": "2.5"}),
        (SQLITE, 11, {"id": "1", "name": "It's C:\\1\\"}),
    ],
)
def test_rows_are_records(text: str, rows: int, record: dict[str, str]) -> None:
    document = convert("dump.sql", text)
    assert [name for _, name in document.locations["list"]] == ["mills"]
    assert (len(document.records), document.records[0][1]) == (rows, record)
    assert "## mills\n" in document.content


def test_what_is_no_row_stays() -> None:
    content = convert("dump.sql", POSTGRES).content
    assert "CREATE INDEX mills_name ON public.mills (name);" in content
    assert content.count("CREATE TABLE public.mills") == 1
    assert content.index("## mills") < content.index("CREATE TABLE public.mills") < content.index("| id | name |")


@pytest.mark.parametrize(
    "text",
    [
        MYSQL[: MYSQL.index("INSERT")],
        "INSERT INTO mills (id) VALUES (1);\nSELECT * FROM mills WHERE id IN (SELECT max(id) FROM mills);\n",
        "-- How mills are counted.\n" * 20 + SQLITE[:500],
    ],
)
def test_schemas_and_queries_are_code(text: str) -> None:
    document = convert("mills.sql", text)
    assert (document.content, document.format) == (text, "code:sql")
