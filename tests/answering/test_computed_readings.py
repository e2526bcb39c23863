"""Questions whose words could be read as something else than is asked: answered as asked, or not with a number."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from core.rag import KnowledgeBase
from core.rag.answering.computing.computed import computed
from core.rag.answering.computing.question import chained
from tests.answering.tables import with_records
from tests.dbhandler.kit import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

SALES = [
    {"order_id": 1, "order_date": "2022-05-01", "customer": "Acme", "quantity": 2, "unit_price": "$1200.00"},
    {"order_id": 2, "order_date": "2023-02-10", "customer": "Brix", "quantity": 10, "unit_price": "$25.00"},
    {"order_id": 3, "order_date": "2024-03-15", "customer": "Acme", "quantity": 1, "unit_price": "$25"},
]
PAID = [("yes", "-5", "War", "$9.00"), ("no", "5", "C++", "8"), ("yes", "12", "Combined", "9")]
SALES = [
    one | {"paid": paid, "change": change, "kind": kind, "total": total}
    for one, (paid, change, kind, total) in zip(SALES, PAID, strict=True)
]
EMPLOYEES: list[dict[str, Any]] = [
    {"name": "Max", "department": "Data", "manager": "Anna", "salary": 900, "active": True, "hired": "2019-01-01"},
    {"name": "Anna", "department": "IT", "manager": None, "salary": 700, "active": False, "hired": "2020-01-01"},
    {"name": "Uwe", "department": "IT", "manager": "Max", "salary": 800, "active": True, "hired": "2020-06-01"},
]
PROJECTS = [
    {"name": "Apollo", "tags": ["infra", "urgent"], "items": [{"sku": "x", "price": 5}, {"sku": "y", "price": 7}]},
    {"name": "Zeus", "tags": ["infra"], "items": [{"sku": "x", "price": 6}]},
]
FILMS = [{"title": "Alien", "year": 1979, "director": "Scott", "rating": 8}]
FILMS += [{"title": "Her", "year": 2013, "director": "Jonze", "rating": 7}]
LOGINS = [{"day": "Mon", "lost_users": 3, "never_active": "no"}, {"day": "Tue", "lost_users": 4, "never_active": "yes"}]
COMPANIES = [{"company": "Acme", "employees": 100, "revenue": 900, "max_load": 3, "fee": "$5", "grade": 1}]
COMPANIES += [{"company": "Brix", "employees": 50, "revenue": 800, "max_load": 5, "fee": "9 €", "grade": 2}]
EXPENSES = [{"kind": "Food", "cost": 5, "currency": "EUR"}, {"kind": "Travel", "cost": 9, "currency": "USD"}]
EXPENSES += [{"kind": "Food", "cost": 1, "currency": "EUR"}]
BOOKS = [{"title": "Dune", "author": "Frank", "pages": 600, "read": "yes"}]
BOOKS += [{"title": "Ubik", "author": "Philip", "pages": 200, "read": "no"}]
INVOICES = [{"nr": "0001", "client": "Müller GmbH", "net": "1.000,00 €", "due": "2024-01-31", "year": 2023}]
INVOICES += [{"nr": "0002", "client": "Müller GmbH", "net": "500,00 €", "due": "2024-02-15", "year": 2024}]

TREES = [{"nr": 1, "tags": "oak, elm"}, {"nr": 2, "tags": "elm"}, {"nr": 3, "tags": "Old, oak"}]

MEMBERS = [{"name": "Ada", "role": "Engineer", "city": "Ulm", "join_date": "2020-06-01", "code": "2024-03"}]
MEMBERS += [{"name": "Bo", "role": "Engineer", "city": "Bern", "join_date": "2021-06-01", "code": "A-7"}]


COLLECTIONS: dict[str, list[dict[str, Any]]] = {
    "sales": SALES,
    "employees": EMPLOYEES,
    "projects": PROJECTS,
    "films": FILMS,
    "logins": LOGINS,
    "invoices": INVOICES,
    "companies": COMPANIES,
    "expenses": EXPENSES,
    "books": BOOKS,
    "trees": TREES,
    "members": MEMBERS,
}


async def lines(kb: KnowledgeBase, question: str, *earlier: str) -> list[str]:
    asked, later = chained(question, earlier)
    return [one.hit.content for one in await computed(kb.client, asked, later)] if asked else []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb() -> AsyncIterator[KnowledgeBase]:
    """All collections, made once: questions change none of them."""
    async with with_records(Engine("embedded::memory:"), COLLECTIONS) as opened:
        yield opened


ANSWERED = {
    "How many sales from 2023?": "sales with order_date = 2023: 1 of 3 records",
    "How many sales since 2023?": "sales with order_date >= 2023: 2 of 3 records",
    "How many sales are paid?": "sales with paid = yes: 2 of 3 records",
    "How many active employees are there?": "employees with active = true: 2 of 3 records",
    "How many employees are not active?": "employees with active != true: 1 of 3 records",
    "What is the average salary of active employees?": (
        "average salary in employees with active = true: 850 (2 of 3 records)"
    ),
    "How many sales by Acme?": "sales with customer = Acme: 2 of 3 records",
    "Films by Scott with a year under 2000": "films with director = Scott and year < 2000: 1 of 2 records"
    " (director: Scott | rating: 8 | title: Alien | year: 1979)",
    "How many sales with change -5?": "sales with change = -5: 1 of 3 records",
    "How many sales with change below -4?": "sales with change < -4: 1 of 3 records",
    "How many sales of kind C++?": "sales with kind = C++: 1 of 3 records",
    "How many sales of war?": "sales with kind = War: 1 of 3 records",
    "How many sales with total 9?": "sales with total = 9: 2 of 3 records",  # also $9.00
    "What is the total of all sales?": "sum of total in sales: 26 (3 records)",
    "What is the average total in sales?": "average total in sales: 8.67 (3 records)",
    "How many order ids are in the sales?": "different values of order_id in sales: 3 (3 records)",
    "How many employees are in IT?": "employees with department = IT: 2 of 3 records",
    "How many projects are tagged infra or urgent?": "projects with tags = infra or urgent: 2 of 2 records",
    "What is the number of invoices of Müller GmbH?": "invoices with client = Müller GmbH: 2 of 2 records",
    "Combien de sales en 2023 ?": "sales with order_date = 2023: 1 of 3 records",
    "Wie viele employees arbeiten in IT?": "employees with department = IT: 2 of 3 records",
    "¿Cuántos sales hay de Acme?": "sales with customer = Acme: 2 of 3 records",
    "What is the total cost of expenses in EUR?": "sum of cost in expenses with currency = EUR: 6 (2 of 3 records)",
    "Total cost per currency": "sum of cost in expenses, by currency: USD: 9, EUR: 6",
    "What is the average revenue by grade?": "average revenue in companies, by grade: 1: 900, 2: 800",
    "How many trees have the tag oak?": "trees with tags = oak: 2 of 3 records",
    "How many elm trees are there?": "trees with tags = elm: 2 of 3 records",
    "How many trees per tag?": "records in trees, by tags: elm: 2, oak: 2, Old: 1",
    "How many sales from 2022 to 2023?": "sales with order_date >= 2022 and order_date <= 2023: 2 of 3 records",
    "Wie viele sales von 2022 bis 2023?": "sales with order_date >= 2022 and order_date <= 2023: 2 of 3 records",
    "How many sales 2022-2023?": "sales with order_date >= 2022 and order_date < 2024: 2 of 3 records",
    "How many sales after 2023-02-10?": "sales with order_date >= 2023-02-11: 1 of 3 records",
    "How many sales since 10 February 2023?": "sales with order_date >= 2023-02-10: 2 of 3 records",
    "How many sales were made in February 2023?": "sales with order_date in 2023-02: 1 of 3 records",
    "How many sales on 10.2.2023?": "sales with order_date in 2023-02-10: 1 of 3 records",
    "How many sales before March 2024?": "sales with order_date < 2024-03: 2 of 3 records",
    "How many sales between May 2022 and March 2023?": (
        "sales with order_date >= 2022-05 and order_date < 2023-04: 2 of 3 records"
    ),
    "Wie viele sales im März 2024?": "sales with order_date in 2024-03: 1 of 3 records",
    "Combien de sales entre mai 2022 et février 2023 ?": (
        "sales with order_date >= 2022-05 and order_date < 2023-03: 2 of 3 records"
    ),
    "What is the average quantity of sales since 2023?": (
        "average quantity in sales with order_date >= 2023: 5.5 (2 of 3 records)"
    ),
    "How many sales have a quantity between 2 and 10?": "sales with quantity >= 2 and quantity <= 10: 2 of 3 records",
    "How many companies have a revenue from 850 to 1,000 euros?": (
        "companies with revenue >= 850 and revenue <= 1000: 1 of 2 records"
    ),
    "How many invoices over 600 euros?": "invoices with net > 600: 1 of 2 records",
    "How many invoices since 2023?": "invoices with year >= 2023: 2 of 2 records",
    "How many invoices are due in February 2024?": "invoices with due in 2024-02: 1 of 2 records",
    "How many employees were hired in 2020?": "employees with hired = 2020: 2 of 3 records",
    "How many members joined in June 2020?": "members with join_date in 2020-06: 1 of 2 records",
    "How many members have the code 2024-03?": "members with code = 2024-03: 1 of 2 records",
    "How many engineers are there?": "members with role = Engineer: 2 of 2 records",
    "How many engineers are there in Ulm?": "members with role = Engineer and city = Ulm: 1 of 2 records",
    "How many members are engineers?": "members with role = Engineer: 2 of 2 records",
    "Which sales are by Acme since 2022?": "sales with customer = Acme and order_date >= 2022: 2 of 3 records"
    " (order_id: 3 | customer: Acme | order_date: 2024-03-15 | change: 12 | kind: Combined | paid: yes | quantity: 1"
    " | total: 9; order_id: 1 | customer: Acme | order_date: 2022-05-01 | change: -5 | kind: War | paid: yes"
    " | quantity: 2 | total: $9.00)",
    "Wie viele employees gibt es nicht in IT?": "employees with department != IT: 1 of 3 records",
    "How many sales are not by Acme or Brix?": "sales with customer != Acme or Brix: 0 of 3 records",
    "How many trees are not tagged oak?": "trees with tags != oak: 1 of 3 records",
    "How many sales have a quantity over 1 and are by Acme?": (
        "sales with customer = Acme and quantity > 1: 1 of 3 records"
    ),
    "How many books have I read?": "books with read = yes: 1 of 2 records",
    "Which customer has the highest quantity?": (
        "highest quantity in sales: 10 (order_id: 2 | customer: Brix | quantity: 10 | change: 5 | kind: C++"
        " | order_date: 2023-02-10 | paid: no | total: 8)"
    ),
}

REFUSED = [
    "How many sales are not only by Acme?",
    "How many sales are by Acme and by Brix or since 2023?",
    "How many sales are by Acme or since 2023?",
    "How many sales are by Brix not Acme?",
    "How many employees did we have between 2019 and 2020?",
    "How many sales between 1000 and 2000?",  # of what
    "How many sales in March 2023 or May 2022?",
    "What is the total revenue of companies last year?",
    "How many books between 5k and 7k?",
    "How many doctors are there?",
    "How many engineers does the mill need?",
    "Which sales are there?",
    "Which films did Scott make in 1979?",
    "Which films are by Scott?",  # a passage has that one
    "Sales over 2000",  # no year
    "How many customers have sales of at least 1200?",
    "Sales with quantity over 5k",
    "Sales with quantity over 5.5m",
    "Wie viele sales mit quantity über 1.200?",  # 1200 in German, 1.2 in English
    "How many sales of kind C?",
    "How many sales with change 5.5?",
    "How many sales are combined?",  # a kind, and "in total"
    "How many employees work in data?",
    "how many employees work in it?",
    "What is Max's salary?",
    "How many employees have a manager?",  # not: how many managers
    "How many sales have no customer?",  # not: paid = no
    "How many projects have the tags infra and urgent?",  # both, or one of them
    "How many trees have the tags oak and elm?",
    "What is the total price of sku x in projects?",  # one item of a project has the sku, the others have prices, too
    "How many projects have sku y and price 5?",
    "What is the highest average rating in a year?",
    "What does rating mean for films?",
    "How many films have a rating?",
    "How many users are there?",  # these are lost
    "How many logins are active?",
    "What is the total price of the sales?",  # of the units
    "How much is the unit price of Acme?",
    "What is the total value of the quantity?",
    "What is the invoice number of Müller GmbH?",
    "How many employees did we have in 2020?",  # not: hired then
    "How many employees are on my list?",
    "How many employees do I manage?",
    "How many employees do I have?",  # who is that
    "Which department has the highest salary?",  # of one, or of all
    "How many sales of 10?",  # units, or dollars
    "What is the average revenue per employee?",
    "What is the average load?",
    "What is the total cost of expenses?",  # in euros and dollars
    "What is the average fee?",
]


@pytest.mark.parametrize(("question", "line"), ANSWERED.items())
async def test_it_is_answered_as_asked(kb: KnowledgeBase, question: str, line: str) -> None:
    assert await lines(kb, question) == [line]


@pytest.mark.parametrize("question", REFUSED)
async def test_what_is_asked_otherwise_is_not_answered_with_a_number(kb: KnowledgeBase, question: str) -> None:
    assert await lines(kb, question) == []


POSITIONS = [{"name": "Ada", "position": "pitcher"}, {"name": "Bo", "position": "pitcher\ncatcher"}]
POSITIONS += [{"name": "Cy", "position": "batter"}]


async def test_a_value_that_also_stands_in_cells_with_others_is_not_counted(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.insert_many("players", POSITIONS)
        assert await lines(kb, "How many players have the position pitcher?") == []
        assert await lines(kb, "How many players have the position batter?") == [
            "players with position = batter: 1 of 3 records"
        ]


STANDINGS: list[dict[str, Any]] = [
    {"player": "Ada", "points": 3, "team": "A"},
    {"player": "Bo", "points": None, "team": "A"},
]
STANDINGS += [{"player": "Cy", "points": 1, "team": "B"}]


async def test_records_are_also_called_by_a_field_in_which_each_has_another_value(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.insert_many("standings", STANDINGS)
        assert await lines(kb, "Which players have no points?") == [
            "standings with points = none or 0: 1 of 3 records (player: Bo | team: A)"
        ]
        assert await lines(kb, "Which team has the most players?") == ["most records in standings, by team: A: 2"]
        assert await lines(kb, "What percentage of the players are in team B?") == [
            "standings with team = B: 1 of 3 records, 33.3 %"
        ]
        await kb.insert("standings", {"player": "Ada", "points": 4, "team": "B"})
        assert await lines(kb, "Which players have no points?") == []
        assert await lines(kb, "Which team has the most players?") == []


@pytest.mark.parametrize(
    ("collection", "question", "line"),
    [
        ("List of hospitals in Ohio", "How many hospitals have no beds?", " with beds = none or 0: 1 of 3 records"),
        ("hospitals_export-2024", "How many hospitals are there?", ": 3 records"),
        ("hospitals in 2024", "How many hospitals have over 5 beds?", " with beds > 5: 2 of 3 records"),
        ("Hospitalliste", "Wie viele Hospitals gibt es?", ": 3 records"),
        ("hospitals_per_year", "How many hospitals are there?", None),
        ("list", "How many hospitals are there?", None),
    ],
)
async def test_a_list_is_called_by_what_it_lists(
    engine: Engine, collection: str, question: str, line: str | None
) -> None:
    async with engine.knowledge() as kb:
        await kb.insert_many(collection, [{"name": "North", "beds": 7}, {"name": "Lake", "beds": 9}, {"name": "Old"}])
        assert await lines(kb, question) == ([] if line is None else [f"{collection}{line}"])


async def test_some_of_many_collections_are_not_told_as_if_they_were_all(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        for month in range(1, 4):
            await kb.insert_many(f"visits-{month:02}", [{"page": "a"}])
        assert len(await lines(kb, "How many visits are there?")) == 3
        await kb.insert_many("visits-04", [{"page": "a"}])
        assert await lines(kb, "How many visits are there?") == []


async def test_other_namespaces_are_not_told(kb: KnowledgeBase) -> None:
    asked, _ = chained("How many films are there?", ())
    assert await computed(kb.client, asked) != []
    assert await computed(kb.client.in_namespace(f"{kb.namespace}-other"), asked) == []


FOLLOWED = {
    ("How many sales by Acme?", "And by Brix?"): "sales with customer = Brix: 1 of 3 records",
    ("How many sales by Acme?", "and by Brix?", "What about Acme?"): "sales with customer = Acme: 2 of 3 records",
    ("How many sales are there?", "And in 2023?"): "sales with order_date = 2023: 1 of 3 records",
    ("How many sales in 2023?", "and since March 2022?"): "sales with order_date >= 2022-03: 3 of 3 records",
    ("How many sales by Acme?", "How many of them are paid?"): "",  # a field, and no value
    ("How many sales by Acme?", "How many of them are of war?"): (
        "sales with customer = Acme and kind = War: 1 of 3 records"
    ),
    ("How many sales by Acme?", "and in 2022?"): ("sales with customer = Acme and order_date = 2022: 1 of 3 records"),
    ("How many sales by Acme?", "and unpaid ones?"): "",
    ("How many sales of war?", "and combined ones?"): "",  # a kind, and "in total"
    ("How many sales of war?", "and C++ ones since 2023?", "how many of them in February 2023?"): "",
    ("Wie viele employees arbeiten in IT?", "Und in Data?"): "employees with department = Data: 1 of 3 records",
    ("What is the average salary in IT?", "and in Data?"): "",  # of one, which a passage has
    ("How many sales by Acme?", "and C++?"): "",  # of Acme, or of all
    ("How many sales by Acme?", "How many of them by Brix?"): "",
    ("How many sales by Acme?", "How many in 2022?"): (
        "sales with customer = Acme and order_date = 2022: 1 of 3 records"
    ),
    ("Which sales are by Acme?", "How many since 2023?"): (
        "sales with customer = Acme and order_date >= 2023: 1 of 3 records"
    ),
    ("How many are employees in IT?",): "employees with department = IT: 2 of 3 records",
    ("How many sales by Acme?", "And how much is that?"): "",
    ("Who is Acme?", "And Brix?"): "",
    ("How many films are good?", "And by Scott?"): "",
}


@pytest.mark.parametrize(("asked", "line"), FOLLOWED.items())
async def test_a_question_that_goes_on_with_another_one_is_answered_as_that(
    kb: KnowledgeBase, asked: tuple[str, ...], line: str
) -> None:
    assert await lines(kb, asked[-1], *asked[-2::-1]) == ([line] if line else [])


async def test_which_records_are_so_is_told_of_all_of_them(kb: KnowledgeBase) -> None:
    for question in ("Which sales are by Acme?", "List all sales by Acme", "Welche sales sind von Acme?"):
        (line,) = await lines(kb, question)
        assert line.startswith("sales with customer = Acme: 2 of 3 records (order_id: ")
        assert ("order_id: 1" in line, "order_id: 2" in line, "order_id: 3" in line) == (True, False, True)


async def test_in_a_conversation_the_questions_before_are_known(kb: KnowledgeBase) -> None:
    await kb.ask("How many sales by Acme?", conversation_id="talk")
    answer = await kb.ask("And by Brix?", conversation_id="talk")
    assert "- sales with customer = Brix: 1 of 3 records [1]" in answer.text
    assert "records [1]" not in (await kb.ask("And by Brix?")).text


async def test_values_and_dates_as_services_write_them_are_asked_for_in_words() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        told = ((1, "past_due", "2024-06-03"), (2, "past_due", "2024-05-30"), (3, "paid", "2024-06-09"))
        for number, status, due in told:
            invoice = {"number": number, "status": status, "due_date": due, "amount_due": 5 * number}
            await kb.insert("invoices", invoice)
        for question, line in (
            ("How many invoices are past due?", "invoices with status = past_due: 2 of 3 records"),
            ("How many invoices are due in June 2024?", "invoices with due_date in 2024-06: 2 of 3 records"),
            ("What is the total amount due of paid invoices?", None),
        ):
            found = await lines(kb, question)
            assert found[:1] == ([line] if line else []), question


async def test_a_day_without_its_year_is_one_of_the_only_year_that_records_have() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for time, level in (("03T08:00:00Z", "error"), ("03T09:00:00Z", "info"), ("04", "error")):
            await kb.insert("mill.log", {"time": f"2026-05-{time}", "level": level})
        told = ["mill.log with level = error and time in 2026-05-03: 1 of 3 records"]
        assert await lines(kb, "How many errors did mill log on May 3?") == told
        assert await lines(kb, "How many errors happened in mill.log on the 3rd of May?") == told
        await kb.insert("mill.log", {"time": "2025-05-03", "level": "error"})
        assert await lines(kb, "How many errors did mill log on May 3?") == []


async def test_who_does_something_is_not_what_is_done(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.insert_many("bugs", [{"title": "Dam", "reporter": "Ada"}, {"title": "Gate", "reporter": "Bo"}])
        assert await lines(kb, "How many reports are there?") == []
        assert await lines(kb, "How many different reporters are there?") == [
            "different values of reporter in bugs: 2 (2 records)"
        ]
