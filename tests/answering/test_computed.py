"""Questions that count, add up or compare records are answered from all of them, or not as such at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase, KnowledgeRAGFlow
from core.rag.answering.computing import computed as computing
from core.rag.answering.computing.planning import plan
from core.rag.answering.computing.question import questions
from core.rag.answering.computing.seen import Seen
from core.rag.answering.response import NOT_WORKED_OUT, WORKED_OUT
from core.rag.retrieval.tables.asked import Group
from libs.dataloader import Document
from tests.answering.models import Talking
from tests.dbhandler.kit import Engine

CUSTOMERS = """name,city,country,revenue,since
Acme,Berlin,DE,"$5,000",2019-03-01
Brix,Ulm,DE,1200,2020-05-01
Cobb,Berlin,DE,n/a,2020-06-01
Dorn,St. Gallen,CH,800,2021-01-15
Ekko,Salem,US,5000,2022-02-01
"""
ORDERS = [
    {"id": 1, "customer": "Acme", "unitPrice": 3.5, "units": 10, "status": "open", "placedIn": "Berlin"},
    {"id": 2, "customer": "Acme", "unitPrice": 2.5, "units": 1, "status": "shipped", "placedIn": "Ulm"},
    {"id": 3, "customer": "Brix", "unitPrice": 9, "units": 3, "status": "shipped", "placedIn": "Berlin"},
]
GRANTS = """year,donor,purpose,amount_eur,status
2019,Lighthouse Fund,Survey of the dam,18500,paid
2020,Town Council,Repair of the roof,42000,paid
2020,Wilk Carpentry,Oak for the wheel,9600,in kind
2021,Lighthouse Fund,Clay for the gate,7200,promised
2022,Museum,Books,100,paid
2022,School,Paint,100,promised
"""
NOTES = "# Notes\n\nThe office in Berlin has 12 employees and 2 dogs. Acme delivers stones to the mill in Ulm.\n"


async def fill(kb: KnowledgeBase, folder: Path) -> None:
    (folder / "customers.csv").write_text(CUSTOMERS)
    (folder / "grants.csv").write_text(GRANTS)
    (folder / "notes.md").write_text(NOTES)
    await kb.ingest([folder])
    await kb.insert_many("orders", ORDERS)
    await kb.insert_many(
        "bills", [{"day": "Sun", "total_price": n} for n in (2, 4)] + [{"day": "Sat", "total_price": 1}]
    )
    owners: list[dict[str, Any]] = [
        {"owner": "Ada", "due_date": "2026-01-01"},
        {"owner": None},
        {"owner": "-"},
        {"owner": "Bo"},
    ]
    names = ("dig", "sweep", "paint", "mow")
    await kb.insert_many("tasks", [{"task": name, **one} for name, one in zip(names, owners, strict=True)])
    await kb.insert_many("cups", [{"team": "Blues", "cups": 1}, {"team": "Maple Leafs", "cups": 13}])


@pytest.fixture
async def kb(engine: Engine, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await fill(opened, tmp_path)
        yield opened


ANSWERED = {
    "How many customers are there?": "customers: 5 records",
    "How many customers are there in Berlin?": "customers with city = Berlin: 2 of 5 records",
    "How many customers do we have in St. Gallen?": "customers with city = St. Gallen: 1 of 5 records",
    "How many customers are in Berlin or Ulm?": "customers with city = Berlin or Ulm: 3 of 5 records",
    "How many customers are in the US?": "customers with country = US: 1 of 5 records",
    "How many customers are not in Berlin?": "customers with city != Berlin: 3 of 5 records",
    "How many customers are in DE and since 2020?": "customers with country = DE and since >= 2020: 2 of 5 records",
    "How many customers since 2021?": "customers with since >= 2021: 2 of 5 records",
    "How many different cities are there?": "different values of city in customers: 4 (5 records)",
    "How many customers per country?": "records in customers, by country: DE: 3, CH: 1, US: 1",
    "What is the total revenue of customers in Berlin?": (
        "sum of revenue in customers with city = Berlin: 5000 (2 of 5 records; 1 value is no number)"
    ),
    "What is the average revenue?": "average revenue in customers: 3000 (5 records; 1 value is no number)",
    "How many customers ordered in Berlin?": (
        "different values of customer in orders with placedIn = Berlin: 2 (2 of 3 records)"
    ),
    "Which city has the most customers?": "most records in customers, by city: Berlin: 2",
    "Which country has the lowest average revenue?": "lowest average revenue in customers, by country: CH: 800",
    "Which customer has the lowest revenue?": (
        "lowest revenue in customers: 800"
        " (city: St. Gallen | country: CH | name: Dorn | revenue: 800 | since: 2021-01-15)"
    ),
    "How many customers have a revenue of at least 1,200?": "customers with revenue >= 1200: 3 of 5 records",
    "Which orders have a unit price over 3?": (
        "orders with unitPrice > 3: 2 of 3 records (customer: Brix | id: 3 | placedIn: Berlin | status: shipped"
        " | unitPrice: 9 | units: 3; customer: Acme | id: 1 | placedIn: Berlin | status: open | unitPrice: 3.5"
        " | units: 10)"
    ),
    "Customers with revenue below 100": "customers with revenue < 100: none of 5 records",
    "What are the top 2 customers in CH or the US by revenue?": (
        "top 2 of customers with country = CH or US by revenue: city: Salem | country: US | name: Ekko | revenue: 5000"
        " | since: 2022-02-01; city: St. Gallen | country: CH | name: Dorn | revenue: 800 | since: 2021-01-15"
    ),
    "What is the total amount of grants from the Lighthouse Fund?": (
        "sum of amount_eur in grants with donor = Lighthouse Fund: 25700 (2 of 6 records)"
    ),
    "What is the average number of units?": "average units in orders: 4.67 (3 records)",
    "Which team has the most cups?": "highest cups in cups: 13 (cups: 13 | team: Maple Leafs)",
    "Which team has the fewest cups?": "lowest cups in cups: 1 (cups: 1 | team: Blues)",
    "What is the average total price per day?": "average total_price in bills, by day: Sun: 3, Sat: 1",
    "How many grants since 2021 were promised?": "grants with status = promised and year >= 2021: 2 of 6 records",
    "How many grants were paid?": "grants with status = paid: 3 of 6 records",
    "How many grants were given in kind in 2020?": ("grants with status = in kind and year = 2020: 1 of 6 records"),
    "Which donor has the fewest grants?": (
        "fewest records in grants, by donor: Museum: 1, School: 1, Town Council: 1, and others"
    ),
    "average amount by status": "average amount_eur in grants, by status: paid: 20200, in kind: 9600, promised: 3650",
    "Number of orders with status shipped": "orders with status = shipped: 2 of 3 records",
    "How many units were there in total?": "sum of units in orders: 14 (3 records)",
    "What is the maximum unit price of orders by status?": (
        "highest unitPrice in orders, by status: shipped: 9, open: 3.5"
    ),
    "Which donors are there?": (
        "records in grants, by donor: Lighthouse Fund: 2, Museum: 1, School: 1, Town Council: 1, Wilk Carpentry: 1"
    ),
    "List the donors": (
        "records in grants, by donor: Lighthouse Fund: 2, Museum: 1, School: 1, Town Council: 1, Wilk Carpentry: 1"
    ),
    "Which donors have paid grants?": (
        "records in grants with status = paid, by donor: Lighthouse Fund: 1, Museum: 1, Town Council: 1"
    ),
    "What percentage of customers are in Berlin?": "customers with city = Berlin: 2 of 5 records, 40 %",
    "What share of the orders is over 5 units?": "orders with units > 5: 1 of 3 records, 33.3 %",
    "Wie viel Prozent der customers sind in Ulm?": "customers with city = Ulm: 1 of 5 records, 20 %",
    "Quel pourcentage des orders sont shipped ?": "orders with status = shipped: 2 of 3 records, 66.7 %",
    "Which donor has the largest number of grants?": "most records in grants, by donor: Lighthouse Fund: 2",
    "Which city has more customers, Berlin or Ulm?": (
        "most records in customers with city = Berlin or Ulm, by city: Berlin: 2"
    ),
    "Do we have fewer customers in Berlin or in Ulm?": (
        "fewest records in customers with city = Berlin or Ulm, by city: Ulm: 1"
    ),
    "Who has more revenue, Brix or Dorn?": (
        "highest revenue in customers with name = Brix or Dorn: 1200"
        " (city: Ulm | country: DE | name: Brix | revenue: 1200 | since: 2020-05-01)"
    ),
    "Which customer has a lower revenue, Brix or Dorn?": (
        "lowest revenue in customers with name = Brix or Dorn: 800"
        " (city: St. Gallen | country: CH | name: Dorn | revenue: 800 | since: 2021-01-15)"
    ),
    "Haben wir mehr customers in Berlin oder in Ulm?": (
        "most records in customers with city = Berlin or Ulm, by city: Berlin: 2"
    ),
    "Which team has the highest number of cups?": "highest cups in cups: 13 (cups: 13 | team: Maple Leafs)",
    "Which team has the lowest amount of cups?": "lowest cups in cups: 1 (cups: 1 | team: Blues)",
    "How many customers have no revenue?": "customers with revenue = none or n/a or 0: 1 of 5 records",
    "Which tasks have no owner?": (
        "tasks with owner = none or -: 2 of 4 records (owner: - | task: paint; task: sweep)"
    ),
    "How many tasks without an owner are there?": "tasks with owner = none or -: 2 of 4 records",
    "How many tasks do not have a due date?": "tasks with due_date = none: 3 of 4 records",
    "Wie viele tasks haben keinen owner?": "tasks with owner = none or -: 2 of 4 records",
    "Wie viele Orders gibt es insgesamt mit Status open?": "orders with status = open: 1 of 3 records",
    "Combien de customers y a-t-il dans la city Berlin ?": "customers with city = Berlin: 2 of 5 records",
    "¿Cuántos orders hay con status shipped?": "orders with status = shipped: 2 of 3 records",
}


async def test_records_are_counted_added_up_and_compared(kb: KnowledgeBase, engine: Engine) -> None:
    # What differs between questions is how they are read; a server needs longer for each than for all of that.
    for question, line in list(ANSWERED.items())[:: 1 if engine.embedded else 4]:
        answer = await kb.ask(question)
        assert answer.text.startswith(f"{WORKED_OUT} (no language model is set):\n\n- {line} [1]"), question
        assert (answer.found, answer.supported, answer.extracts) == (True, True, True)
        assert answer.citations[0].quote == line


@pytest.mark.parametrize(
    "question",
    [
        "How many happy customers are in Berlin?",  # not what records tell
        "How many customers are in Berlin and since when?",
        "How many employees does the office in Berlin have?",
        "How many dogs are there?",
        "What is the total?",
        "What is the total price on Sun?",  # of one bill, or of all
        "What does revenue mean?",
        "How many orders did the customer Acme cancel?",
        "How many customers in Berlin in Ulm?",  # none can be in both
        "Which city has the most revenue?",  # of one customer, or of all
        "What is the average city?",
        "How many of us are customers of the mill?",
        "Who is the biggest customer?",
        "Who repaired the roof for the largest amount?",
        "What percentage of customers in Berlin are from DE?",  # of all, or of those in Berlin
        "What percentage of revenue is from Berlin?",
        "Which customers have more revenue?",
        "Which donors are these?",  # goes on with something else
        "Which city is there?",
        "Which donors like the mill?",
        "Does Berlin have more customers than Ulm?",
        "Which customers have more revenue than Acme or Brix?",
        "How many more customers are in Berlin or Ulm?",
        "What percentage of the happy customers are in Berlin?",
    ],
)
async def test_a_question_that_is_not_surely_about_records_is_not_answered_with_a_number(
    kb: KnowledgeBase, question: str
) -> None:
    answer = await kb.ask(question)
    assert WORKED_OUT not in answer.text


async def test_of_a_value_that_only_others_have_there_are_none() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert_many(
            "issues",
            [{"no": n, "state": "closed", "title": f"Leak {n}", "milestone": {"state": "open"}} for n in range(4)],
        )
        pulls = [
            {"no": n, "state": state, "title": "Support"}
            for n, state in enumerate(["draft", "draft", "closed", "closed"])
        ]
        await kb.insert_many("pulls", pulls)
        for question, said in (
            ("How many issues are draft?", "issues with state = draft: 0 of 4 records"),
            ("Which issues are draft?", "issues with state = draft: none of 4 records"),
            ("How many issues are closed?", "issues with state = closed: 4 of 4 records"),
            ("How many pulls are draft?", "pulls with state = draft: 2 of 4 records"),
        ):
            assert f"- {said} [1]" in (await kb.ask(question, extracts=True)).text
        # A title is one of anything.
        for question in ("How many issues are support?", "How many issues per state are draft?"):
            assert WORKED_OUT not in (await kb.ask(question, extracts=True)).text


async def test_a_field_of_a_record_comes_before_one_of_something_in_it() -> None:
    states = ["open", "closed", "closed"]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert_many(
            "issues", [{"no": n, "state": state, "milestone": {"state": "open"}} for n, state in enumerate(states)]
        )
        await kb.insert_many(
            "tasks", [{"no": n, "kind": "bug", "labels": [{"name": "bug"}, {"name": "new"}]} for n in range(3)]
        )
        assert (
            "issues with state = open: 1 of 3 records"
            in (await kb.ask("How many issues are open?", extracts=True)).text
        )
        assert WORKED_OUT not in (await kb.ask("How many tasks are bugs?", extracts=True)).text


async def test_what_was_worked_out_is_cited_with_the_document_and_follows_every_change(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    cited = (await kb.ask("How many customers are there?")).citations[0]
    file = next(one for one in await kb.documents() if one["path"].endswith("customers.csv"))
    chunks = await kb.client.get_document_chunks(file["path"])
    assert (cited.document_id, cited.path, cited.chunk_id) == (file["id"], file["path"], chunks[0]["chunk_id"])
    assert (cited.start_char, cited.end_char) == (0, chunks[-1]["end_char"])
    assert cited.heading == "all 5 records"
    inserted = (await kb.ask("How many orders are there?")).citations[0]
    assert (inserted.path, inserted.document_id, inserted.chunk_id, inserted.end_char) == ("orders", "", "", 0)
    (tmp_path / "customers.csv").write_text(CUSTOMERS + "Faro,Ulm,DE,1,2023-01-01\n")
    await kb.ingest([tmp_path / "customers.csv"])
    await kb.insert("orders", ORDERS[0] | {"id": 4})
    assert (await kb.ask("How many customers are there?")).citations[0].quote == "customers: 6 records"
    assert (await kb.ask("How many orders are there?")).citations[0].quote == "orders: 4 records"


async def test_texts_that_answer_too_are_told_below(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="best", content="In the best year there were 900 customers in Berlin alone."))
    answer = await kb.ask("How many customers are there in Berlin?")
    assert answer.text.startswith(f"{WORKED_OUT} (no language model is set):\n\n- customers with city = Berlin: 2 of 5")
    assert "- In the best year there were 900 customers in Berlin alone. [2]" in answer.text
    assert [one.number for one in answer.citations][:2] == [1, 2]
    assert not {one.path for one in answer.citations[1:]} & {answer.citations[0].path}  # no single rows


async def test_texts_beside_the_point_are_not_told_below(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="plan", content="The new mill opens in May 2020. The next meeting is on 3 May."))
    answer = await kb.ask("How many customers since June 2020?")
    assert answer.text.endswith(":\n\n- customers with since >= 2020-06: 3 of 5 records [1]")


async def test_the_stages_of_the_flow_have_it_one_by_one(kb: KnowledgeBase) -> None:
    flow = KnowledgeRAGFlow(kb)
    analysis = await flow.analyze_query_node("How many customers are there in Berlin?")
    context = flow.build_context_node(await flow.retrieve_knowledge_node(analysis))
    assert context.passages[0].is_computed
    response = await flow.generate_response_node(analysis, context)
    assert "- customers with city = Berlin: 2 of 5 records [1]" in response.checked.text


async def test_fields_of_any_name_can_be_asked(kb: KnowledgeBase) -> None:
    record = {"$price (€)": 3, 'a"b': 4, "not": 5, "x.y": 6, "deep": [{"in": {"größe": 7}}], "größe\n`": 8, "id": "1"}
    await kb.insert_many("oddities", [record, record | {"id": "2"}])
    for name, total in {"price": 6, "a b": 8, "x y": 12}.items():
        assert f": {total} (2 records) [1]" in (await kb.ask(f"What is the total {name} of the oddities?")).text
    assert WORKED_OUT not in (await kb.ask("What is the total not of the oddities?")).text
    assert WORKED_OUT not in (await kb.ask("What is the total größe of the oddities?")).text  # of two fields


async def test_a_collection_is_called_with_its_numbers_and_a_field_without_what_is_in_brackets(
    kb: KnowledgeBase,
) -> None:
    stages = [{"rider": "Ida", "Length (km)": 40, "Climb": 2}, {"rider": "McBo", "Length (km)": 70, "Climb": 1}]
    await kb.insert_many("tour_1931", stages)
    await kb.insert_many("tour_1932", [{"rider": "Ida", "Length (km)": 10}])
    asked = {
        "Which rider has the highest length in the tour 1931?": "highest Length (km) in tour_1931: 70",
        "What is the total length of all riders in the tour 1931?": "sum of Length (km) in tour_1931: 110 (2 records)",
        "Which rider has the higher climb, Ida or McBo?": "highest Climb in tour_1931 with rider = Ida or McBo: 2",
    }
    for question, line in asked.items():
        assert f":\n\n- {line}" in (await kb.ask(question)).text, question
    assert WORKED_OUT not in (await kb.ask("Which rider has the highest length at maximum in the tour 1931?")).text


async def test_of_more_collections_than_are_looked_at_one_has_to_be_named(kb: KnowledgeBase) -> None:
    for number in range(31):
        await kb.insert_many(f"list{number}", [{"heron": "Ida", "wings": number}, {"heron": "Bo", "wings": 50}])
    assert WORKED_OUT not in (await kb.ask("Which heron has the highest wings?")).text


async def test_of_too_many_records_it_is_told_that_nothing_was_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "MAX_RECORDS", 2)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert_many("orders", ORDERS)
        answer = await kb.ask("How many orders are open?")
        assert answer.text.startswith(NOT_WORKED_OUT)
        assert "orders: with its 3 records there are more than the 2 that a question looks at" in answer.text
        assert NOT_WORKED_OUT not in (await kb.ask("Which customer ordered 3 units?")).text
        assert (await kb.tabulate("orders", measures="count", filters="status=open")).rows == [{"count": 1}]


def test_what_is_rare_in_a_long_table_is_seen() -> None:
    rows = [{"amount": "5", "currency": "EUR", "day": "2024-03-01", "city": "Ulm"}] * 1_100
    other = {"amount": "7", "currency": "USD", "day": "2025-03-01", "city": "Bonn"}
    seen = Seen("orders")
    seen.take([*rows, other, *rows, {"city": "Ulm, Trier"}], {"orders", "bonn", "trier"})
    assert not seen.compares("amount", ())
    assert seen.fields["day"].years == {"2024", "2025"}
    assert seen.fields["city"].spelled == {"bonn": {"Bonn"}}
    assert seen.fields["city"].beside == {"trier"}


async def test_filters_of_documents_leave_records_out(kb: KnowledgeBase) -> None:
    answer = await kb.ask("How many customers are there?", filters="title:Notes")
    assert "5" not in answer.text


async def test_in_a_conversation_it_is_recorded_without_references_to_what_is_no_passage(kb: KnowledgeBase) -> None:
    answer = await kb.ask("How many orders are there?", conversation_id="talk")
    assert "orders: 3 records" in answer.text
    question, said = await kb.client.get_conversation_messages("talk")
    assert (question["role"], said["content"]) == ("user", answer.text)
    left = await kb.client.query("MATCH (r:Resource) WHERE r.namespace = $namespace RETURN count(r) AS n", {})
    assert left[0]["n"] == 0


async def test_a_model_is_given_the_number_and_its_citation_holds(
    engine: Engine, said: Talking, tmp_path: Path
) -> None:
    async with engine.knowledge(language_model=said.model) as kb:
        await fill(kb, tmp_path)
        said.chat.then(json.dumps({"entities": [], "intent": "factual"}), "There are 2 customers in Berlin [1].")
        answer = await kb.ask("How many customers are there in Berlin?")
    assert "customers with city = Berlin: 2 of 5 records" in answer.context
    assert (answer.text, answer.supported) == ("There are 2 customers in Berlin [1].", True)
    assert answer.citations[0].quote == "customers with city = Berlin: 2 of 5 records"


FIELDS = ["city", "unit price", "unitPrice", "since", "a.b", "größe", "or", "名前", ""]
VALUES = ["Ulm", "in", "2020-01-01", "3/4/2024", "3,5"]
RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from(FIELDS) | st.text(max_size=5),
        st.none()
        | st.integers()
        | st.text(max_size=8)
        | st.sampled_from(["Ulm", "in", "2020-01-01", "3/4/2024", "3,5"]),
        max_size=5,
    ),
    max_size=8,
)
WORDS = st.sampled_from(
    (
        "how many",
        "average",
        "total",
        "most",
        "top 5",
        "by",
        "in",
        "or",
        "more than",
        "5",
        "2020",
        "Ulm",
        "us",
        "city",
        "since",
        "which month",
        "per month",
        "latest",
        "3 oldest",
        "most common",
        "not",
        "spent",
        "who",
        "in March 2024",
        "?",
    )
)


@given(st.lists(WORDS | st.text(max_size=6), max_size=12).map(" ".join), RECORDS)
def test_whatever_is_asked_of_whatever_records_is_read_or_not(text: str, records: list[dict[str, object]]) -> None:
    for question in questions(text):
        seen = Seen("dogs")
        seen.take(records, question.spellings())
        found = plan(question, seen)
        if found is not None:
            group = Group.parse(found.group_by)
            named = {found.field, group.field, *(one.field for one in found.conditions)} - {""}
            assert named <= seen.fields.keys()
            assert not group.unit or seen.fields[group.field].is_date
