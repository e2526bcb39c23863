"""Questions that call fields by other words than their names: by what was done, by whom, and in short."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.computing.computed import computed
from core.rag.answering.computing.question import questions
from tests.answering.tables import with_records
from tests.dbhandler.kit import Engine

EXPENSES = [
    {"Date": "01/15/2024", "Employee": "Ada", "Category": "Travel", "Vendor": "Delta", "Amount (USD)": "$120.50"},
    {"Date": "02/01/2024", "Employee": "Bo", "Category": "Meals", "Vendor": "Inn", "Amount (USD)": "$20"},
    {"Date": "02/03/2024", "Employee": "Bo", "Category": "Travel", "Vendor": "Delta", "Amount (USD)": "$70"},
    {"Date": "03/01/2024", "Employee": "Bo", "Category": "Travel", "Vendor": "Inn", "Amount (USD)": "$60"},
]
EXPENSES = [one | {"Approved": yes} for one, yes in zip(EXPENSES, ("Yes", "No", "No", "Yes"), strict=True)]
TICKETS: list[dict[str, Any]] = [
    {"key": "A-1", "state": "open", "assignee": "Ada", "reporter": "Cleo", "resolved": None},
    {"key": "A-2", "state": "open", "assignee": "Ada", "reporter": "Bo", "resolved": None},
    {"key": "A-3", "state": "done", "assignee": "Bo", "reporter": "Cleo", "resolved": "2024-03-01"},
    {"key": "A-4", "state": "open", "assignee": None, "reporter": "Cleo", "resolved": None},
]
STAFF: list[dict[str, Any]] = [
    {"Name": "Ada", "Department": "Mill", "Salary": 900, "Remote": "yes"},
    {"Name": "Bo", "Department": "Mill", "Salary": 700, "Remote": "no"},
    {"Name": "Cleo", "Department": "Shop", "Salary": 800, "Remote": None},
]
PARTS: list[dict[str, Any]] = [
    {"SKU": "S-1", "Product": "Bolt", "Qty on hand": 5, "Supplier": "Fasten", "temp_min": 3, "temp_max": 9},
    {"SKU": "S-2", "Product": "Nut", "Qty on hand": 9, "Supplier": "Fasten", "temp_min": 1, "temp_max": 8},
]
GAMES: list[dict[str, Any]] = [
    {"player": "Ada", "points": 5},
    {"player": "Ada", "points": 6},
    {"player": "Bo", "points": 7},
]
COLLECTIONS: dict[str, list[dict[str, Any]]] = {
    "expenses": EXPENSES,
    "tickets": TICKETS,
    "employees": STAFF,
    "inventory": PARTS,
    "games": GAMES,
}

ANSWERED = {
    "How much did we spend on travel?": "Amount (USD) in expenses with Category = Travel: 250.5 (3 of 4 records)",
    "How much did Bo spend?": "sum of Amount (USD) in expenses with Employee = Bo: 150 (3 of 4 records)",
    "How much was spent per month in 2024?": "by Date:month: 2024-01: 120.5, 2024-02: 90, 2024-03: 60",
    "Who spent the most?": "highest sum of Amount (USD) in expenses, by Employee: Bo: 150",
    "Which vendor did we pay the most?": "highest sum of Amount (USD) in expenses, by Vendor: Delta: 190.5",
    "What was the largest expense?": "highest Amount (USD) in expenses: $120.50",
    "Total expenses by category": "sum of Amount (USD) in expenses, by Category: Travel: 250.5, Meals: 20",
    "What was the largest travel expense of Bo?": "with Category = Travel and Employee = Bo: $70",
    "What is the total of approved expenses?": "sum of Amount (USD) in expenses with Approved = Yes: 180.5",
    "What are the 2 most recent expenses?": "latest 2 of expenses by Date: Amount (USD): $60",
    "How many tickets are open and assigned to Ada?": "tickets with state = open and assignee = Ada: 2 of 4 records",
    "Wie viele tickets wurden von Cleo erstellt?": "tickets with reporter = Cleo: 3 of 4 records",
    "What are the top 2 expenses by amount?": "top 2 of expenses by Amount (USD): Amount (USD): $120.50",
    "Which expenses are not approved?": "expenses with Approved != Yes: 2 of 4 records",
    "Which tickets are assigned to Ada?": "tickets with assignee = Ada: 2 of 4 records",
    "How many tickets were reported by Cleo?": "tickets with reporter = Cleo: 3 of 4 records",
    "How many tickets are unassigned?": "tickets with assignee = none: 1 of 4 records",
    "How many open tickets are unassigned?": "tickets with state = open and assignee = none: 1 of 4 records",
    "How many people are in the mill?": "employees with Department = Mill: 2 of 3 records",
    "What is the total quantity on hand?": "sum of Qty on hand in inventory: 14",
    "What is the average temp?": None,  # there are two
    "Who earns the most?": "highest Salary in employees: 900 (Department: Mill | Name: Ada",
}
REFUSED = [
    "Who resolved the most tickets?",  # "resolved" is when
    "How many employees are not remote?",  # of one it is not known
    "Who has the most points?",  # in one game, or in all
    "Who is the biggest employee?",
    "How much does Ada cost?",
]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with with_records(engine, COLLECTIONS) as opened:
        yield opened


async def test_what_is_called_by_other_words_is_worked_out(kb: KnowledgeBase) -> None:
    failed = {}
    for question, expected in [*ANSWERED.items(), *((one, None) for one in REFUSED)]:
        found = [one.hit.content for one in await computed(kb.client, questions(question))]
        right = not found if expected is None else len(found) == 1 and expected in found[0]
        if not right:
            failed[question] = (expected, found)
    assert failed == {}
