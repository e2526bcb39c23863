"""Questions about the times of records: per month, the latest, in a quarter, however dates are written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.response import WORKED_OUT
from core.rag.memory.dates import days_named
from tests.answering.times import NOW
from tests.dbhandler.kit import Engine

ORDERS = """order_id,order_date,customer,city,product,amount,status
2021,6/30/2023,Acme,Ulm,chair,100,open
2022,1/5/2024,Brix,Ulm,table,20,shipped
2023,1/31/2024,Acme,Ulm,table,30,open
2024,3/4/2024,Cobb,Bern,table,40,open
2025,4/1/2024,Acme,Bern,chair,50,shipped
2026,12/24/2024,Acme,Ulm,lamp,5,open
"""
ISSUES = """title,state,created_at,closed_at,milestone
Leak,open,2024-02-01T10:00:00Z,,first
Noise,closed,2024-02-03T08:00:00Z,2024-03-01T09:00:00Z,last call
Smell,closed,2023-02-03T08:00:00Z,2024-03-02T09:00:00Z,last call
"""
STAFF = """name,team,hire_date,birth_date
Ada,Mill,2019-03-01,1990-01-01
Bo,Shop,2022-05-01,1970-01-01
"""
RULES = [
    ("2020", "Cats", "2019-12-01", "Final", "Ada"),
    ("2021", "Dogs", "2020-03-01", "Draft", "[Ada, Bo]"),
    ("2022", "Ants", "2020-11-01", "Final", "Bo"),
    ("2023", "Bees", "2021-05-01", "Final", "Bo"),
]


@pytest.fixture
async def kb(engine: Engine, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    for name, text in {"orders": ORDERS, "issues": ISSUES, "staff": STAFF}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    for number, title, day, state, author in RULES:
        fields = f"rule: {number}\ntitle: {title}\ncreated: {day}\nstate: {state}\nauthor: {author}\n"
        (tmp_path / f"rule-{number}.md").write_text(f"---\n{fields}---\n# {title}\n")
    async with engine.knowledge() as opened:
        await opened.ingest([tmp_path])
        yield opened


ANSWERED = {
    "How many orders were placed per year?": "records in orders, by order_date:year: 2023: 1, 2024: 5",
    "How many orders per month in Q1 2024?": "by order_date:month: 2024-01: 2, 2024-03: 1",
    "How many orders were placed in each quarter?": "2023-Q2: 1, 2024-Q1: 3, 2024-Q2: 1, 2024-Q4: 1",
    "What is the total amount by month in 2024?": "2024-01: 50, 2024-03: 40, 2024-04: 50, 2024-12: 5",
    "Wie viele orders pro Monat in 2024?": "2024-01: 2, 2024-03: 1, 2024-04: 1, 2024-12: 1",
    "Which month had the most orders?": "most records in orders, by order_date:month: 2024-01: 2",
    "Which year had the highest total amount?": "highest sum of amount in orders, by order_date:year: 2024: 145",
    "How many orders were placed in 2024?": "orders with order_date = 2024: 5 of 6 records",
    "How many orders were placed between January and March 2024?": "order_date < 2024-04: 3 of 6 records",
    "How many orders were placed before March 4, 2024?": "orders with order_date < 2024-03-04: 3 of 6 records",
    "What is the latest order?": "latest order_date in orders: 12/24/2024 (amount: 5",
    "When did Acme place the first order?": None,  # "place"
    "When was the first order of Acme?": "earliest order_date in orders with customer = Acme: 6/30/2023",
    "What is the oldest open order?": "earliest order_date in orders with status = open: 6/30/2023",
    "What was the most recent order from Bern?": "latest order_date in orders with city = Bern: 4/1/2024",
    "Which customer placed the last order?": "latest order_date in orders: 12/24/2024",
    "What were the latest 2 orders?": "latest 2 of orders by order_date: amount: 5",
    "What are the oldest orders?": "earliest 5 of orders by order_date: amount: 100",
    "What was the latest amount of Brix?": None,  # one record, which a passage has
    "What was the latest amount of Acme?": "latest order_date in orders with customer = Acme: 12/24/2024",
    "What is the median amount?": "median amount in orders: 35 (6 records)",
    "What is the median amount per customer?": "median amount in orders, by customer: Acme: 40, Cobb: 40, Brix: 20",
    "What is the most common product?": "most records in orders, by product: table: 3",
    "Which product was ordered most often?": "most records in orders, by product: table: 3",
    "What is the least common product?": "fewest records in orders, by product: lamp: 1",
    "Was ist der häufigste status?": "most records in orders, by status: open: 4",
    "What is the latest issue?": "latest created_at in issues: 2024-02-03T08:00:00Z (closed_at",
    "How many issues were there in February 2024?": "issues with created_at in 2024-02: 2 of 3 records",
    "Which issues are in last call?": "issues with milestone = last call: 2 of 3 records",
    "How many issues are in the first milestone?": "issues with milestone = first: 1 of 3 records",
    "Which issue was closed last?": "latest closed_at in issues with state = closed: 2024-03-02T09:00:00Z",
    "Who is the newest of staff?": None,  # by one time or the other
    "Who is the oldest of staff?": None,  # by age, or by when they came
    "Who wrote the most rules?": "most records in documents, by author: Bo: 3",
    "What is the latest article?": "latest created in documents: 2021-05-01",
    "How many pages did Bo write in 2020?": "documents with author = Bo and created = 2020: 2 of 4 records",
    "How many pages are there?": None,  # some have no fields
    "Which state has the most rules?": "most records in documents, by state: Final: 3",
    "How many rules were created in 2021?": "documents with created = 2021: 1 of 4 records",
    "What is the first product listed?": None,
    "What is the latest state?": None,
    "Which rules were created in 2020?": "documents with created = 2020: 2 of 4 records",
    "How many rules were created per year?": "by created:year: 2019: 1, 2020: 2, 2021: 1",
    "What is the latest rule?": "latest created in documents: 2021-05-01 (created: 2021-05-01 | rule: 2023 |",
}


async def test_times_are_worked_out(kb: KnowledgeBase) -> None:
    failed = {}
    for question, expected in ANSWERED.items():
        text = (await kb.ask(question)).text
        right = expected in text if expected is not None else WORKED_OUT not in text
        if not right:
            failed[question] = (expected, text)
    assert failed == {}


def test_memories_of_a_quarter_are_found_by_its_months() -> None:
    assert days_named("What did Ada say last quarter?", NOW) == [
        *days_named("in October 2025", NOW),
        *"octob 2025 novemb decemb".split(),
    ]
