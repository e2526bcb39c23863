"""Works out a plan, and tells the result in a line that says what was counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from core.rag.answering.computing.conditions import Condition
from core.rag.answering.computing.cues import words_of
from core.rag.answering.computing.plans import Plan
from core.rag.answering.computing.question import name_words
from core.rag.answering.computing.seen import Seen
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from core.rag.retrieval.tables.asked import Asked, Group
from core.rag.retrieval.tables.table import RecordTable
from core.rag.retrieval.tables.values import is_missing, same, shown

#: Works out a table of all records.
type Tabulate = Callable[[Asked], Awaitable[RecordTable]]

#: Maximum number of groups and records that are told, of records that share the highest value, and of fields of a
#: record and characters of a value.
_GROUPS: Final = 20
_LISTED: Final = 10
_TIED: Final = 3
_FIELDS: Final = 8
_LONGEST: Final = 100
#: What fields are called that tell records apart, to people first.
_APART: Final = (
    words_of("name title subject label summary headline"),
    words_of("number nr no key code"),
    words_of("id"),
)
#: Months of three years are told, but no more of a line than that.
_TIMES: Final = 36
_OF_ONE: Final = frozenset({"highest", "lowest", "latest", "earliest"})
_LEAST_FIRST: Final = frozenset({"lowest", "fewest", "earliest"})
_MEASURES: Final = {"highest": "max", "lowest": "min", "most": "count", "fewest": "count", "share": "count"}
_CALLED: Final = {"sum": "sum of", "avg": "average", "median": "median", "distinct": "different values of"}


async def told(tabulate: Tabulate, plan: Plan, seen: Seen) -> str:
    """Return what a plan comes to, as one line; empty if there is nothing to tell.

    Args:
        tabulate: Works out a table of the records.
        plan: What to work out.
        seen: What was seen of the records.

    Raises:
        InvalidInputError: if there are too many groups.
        NotFoundError: if the collection is gone.
    """
    table = await tabulate(_asked(plan))
    if not table.records and any(one.sign == "contains" for one in plan.conditions):
        return ""  # it may be said in other words
    where = f"{seen.name}{_conditions(plan.conditions)}"
    of_one = plan.kind in _OF_ONE and not plan.group_by and not plan.limit
    of_some = of_one or plan.kind == "distinct" or seen.name == DOCUMENTS
    if plan.unique and not (
        await _is_unique(tabulate, plan, plan.conditions if of_some else ())
        or (of_one and await _sums_agree(tabulate, plan, table))
    ):
        return ""
    if of_one:
        return _extreme(plan, table, where, seen) if table.records > 1 or not plan.conditions else ""
    are_there = all(one.sign == "=" and None not in one.values for one in plan.conditions)
    if plan.kind == "list" and table.records == 1 and are_there:
        return ""  # a passage has that record, as it is written
    if plan.kind == "list" or plan.limit:
        return _listed(plan, table, where, seen)
    if plan.group_by:
        # "Which types are there?", where all pages have the type "docs", asks for something else.
        alike = seen.name == DOCUMENTS and table.total < 2 and not plan.conditions
        return _groups(plan, table, where) if not alike else ""
    value = table.rows[0][table.columns[0]] if table.rows else None
    if plan.kind == "share":
        percent = f"{100 * (value or 0) / seen.records:.3g} %"
        return f"{where}: {value or 0} of {seen.records} {_records(seen.records)}, {percent}"
    if plan.kind == "count":
        of = f" of {seen.records}" if plan.conditions else ""
        return f"{where}: {value or 0}{of} {_records(seen.records)}"
    if value is None or (plan.conditions and table.records == 1):  # a passage has that record, as it is written
        return ""
    return f"{_CALLED[plan.kind]} {plan.field} in {where}: {_number(value)} ({_basis(table, seen)})"


async def _is_unique(tabulate: Tabulate, plan: Plan, conditions: tuple[Condition, ...]) -> bool:
    """Return whether each record that fulfils conditions has a value of its own in the field that tells them apart."""
    table = await tabulate(_asked(Plan("distinct", plan.unique, "", conditions)))
    return bool(table.rows) and table.rows[0][table.columns[0]] == table.records


async def _sums_agree(tabulate: Tabulate, plan: Plan, table: RecordTable) -> bool:
    """Return whether what has the highest value in one record has the highest sum, too (the lowest likewise)."""
    summed = Plan("sum", plan.field, plan.unique, plan.conditions, plan.kind)
    groups = [row for row in (await tabulate(_asked(summed))).rows if row[plan.unique] is not None]
    column = f"sum:{plan.field}"
    first = [same(row[plan.unique]) for row in groups if row[column] == groups[0][column]]
    rows = [row for row in table.rows if same(row.get(plan.field)) == same(table.rows[0].get(plan.field))]
    single = {same(row.get(plan.unique)) for row in rows}
    return len(rows) <= _TIED and len(first) == 1 and single == set(first)


def _asked(plan: Plan) -> Asked:
    rank = plan.first or plan.kind
    least_first = "" if rank in _LEAST_FIRST else "-"
    measures, limit = [_measure(plan)], _TIED + 1 if _is_ranked(plan) else _GROUPS
    order = [f"{least_first}{measures[0]}", plan.group_by] if plan.group_by else []
    if _is_over_time(plan):  # from the first month to the last
        order, limit = [plan.group_by], _TIMES
    if not plan.group_by and rank in {"list", "top", *_OF_ONE}:  # single records
        measures, order = [], [f"{least_first}{plan.field or plan.conditions[-1].field}"]
        limit = min(plan.limit, _GROUPS) if plan.limit else _LISTED if rank == "list" else _TIED + 1
    tests = [{one.field: _test(one)} for one in plan.conditions]
    return Asked.parse(
        fields=None,
        filters={"and": tests} if tests else None,
        group_by=plan.group_by or None,
        measures=measures,
        order_by=order,
        limit=limit,
    )


def _test(condition: Condition) -> dict[str, Any]:
    """Return a condition as a filter has it; dates in ISO 8601 begin with their month and day."""
    if condition.sign in {"=", "!=", "contains"}:
        return {condition.sign: list(condition.values)}
    return {"prefix" if condition.sign == "in" else condition.sign: condition.values[0]}


def _is_ranked(plan: Plan) -> bool:
    """Whether only the first of all groups is asked for."""
    return plan.first is not None or plan.kind in {"most", "fewest"}


def _is_over_time(plan: Plan) -> bool:
    """Whether the groups are months or other times, all of which are asked for."""
    return bool(Group.parse(plan.group_by).unit) and not _is_ranked(plan)


def _measure(plan: Plan) -> str:
    kind = _MEASURES.get(plan.kind, plan.kind)
    return kind if kind == "count" else f"{kind}:{plan.field}"


def _conditions(conditions: tuple[Condition, ...]) -> str:
    parts = [f"{one.field} {one.sign} {' or '.join(dict.fromkeys(map(_value, one.values)))}" for one in conditions]
    return f" with {' and '.join(parts)}" if parts else ""


def _extreme(plan: Plan, table: RecordTable, where: str, seen: Seen) -> str:
    """Tell the highest or lowest value, and the records that have it."""
    rows = [row for row in table.rows if not is_missing(row.get(plan.field))]
    if not rows:
        return ""
    value = rows[0][plan.field]
    tied = [row for row in rows if same(row[plan.field]) == same(value)]
    records = "; ".join(_record(row, plan) for row in _shortened(tied[:_TIED], plan, seen))
    more = "; and others" if len(tied) > _TIED else ""
    return f"{plan.kind} {plan.field} in {where}: {shown(value)} ({records}{more})"


def _listed(plan: Plan, table: RecordTable, where: str, seen: Seen) -> str:
    """Tell the records that fulfil the conditions, or the first of them."""
    if not table.rows:
        return f"{where}: none of {seen.records} {_records(seen.records)}"
    records = "; ".join(_record(row, plan) for row in _shortened(table.rows, plan, seen))
    if plan.limit:
        return f"{plan.kind} {len(table.rows)} of {where} by {plan.field}: {records}"
    more = f"; and {table.total - len(table.rows)} more" if table.total > len(table.rows) else ""
    return f"{where}: {table.records} of {seen.records} {_records(seen.records)} ({records}{more})"


def _shortened(rows: list[dict[str, Any]], plan: Plan, seen: Seen) -> list[dict[str, Any]]:
    """Return the rows with what is told of them: of documents, titles, numbers, and what was asked; of all others, each
    field that there is room for."""
    only = {"title", plan.unique, plan.field} if seen.name == DOCUMENTS else set()
    return [{name: row[name] for name in row if name in only} or row for row in rows]


def _record(row: Mapping[str, Any], plan: Plan) -> str:
    """Tell the fields of a record; of more than there is room for, those that say which it is and what was asked."""
    told = [
        (name, value) for name, value in row.items() if not is_missing(value) and not isinstance(value, dict | list)
    ]
    told.sort(key=lambda one: isinstance(one[1], str) and len(one[1]) > _LONGEST)  # a text does not say which it is
    if len(told) > _FIELDS:
        asked = {plan.unique, plan.field, *(one.field for one in plan.conditions)}
        told.sort(key=lambda one: (_telling(one[0], row), one[0] not in asked))
    return " | ".join(f"{name}: {shown(value)[:_LONGEST]}" for name, value in told[:_FIELDS])


def _telling(name: str, names: Collection[str]) -> int:
    """Return the place of the kind of field that tells records apart, by the last word of its name.

    A name of several words may be that of something else (``Project name``), and the number beside a name is of that
    (``Assignee Id``).
    """
    words = name_words(name)
    place = next((place for place, kind in enumerate(_APART) if not kind.isdisjoint(words[-1:])), len(_APART))
    if place == len(_APART) or (place and name[: -len(words[-1])].rstrip(" _-") in names):
        return 2 * len(_APART)
    return 2 * place + (len(words) > 1 and not place)


def _groups(plan: Plan, table: RecordTable, where: str) -> str:
    """Tell the groups, or those that have most, least, or the highest or lowest of something."""
    column = table.columns[-1]
    rows = [row for row in table.rows if row[column] is not None]
    only = _is_ranked(plan)
    if only:  # records without a value of the field are no group to name
        rows = [row for row in rows if row[plan.group_by] is not None]
        if plan.kind in {"most", "fewest"} and table.total > 1 and _have_one(rows, column, plan, table):
            return ""  # each has one record, so what they have most of is something else
        rows = [row for row in rows if row[column] == rows[0][column]]
    if not rows:
        return ""
    others = ", and others" if only and len(rows) > _TIED else ""
    rows = rows[:_TIED] if only else rows
    groups = ", ".join(f"{_group(row[plan.group_by])}: {_number(row[column])}" for row in rows)
    more = f", and {table.total - len(rows)} more" if table.total > len(rows) and not only else others
    measured = "records" if not plan.field else f"{_CALLED.get(plan.kind, plan.kind)} {plan.field}"
    rank = f"{plan.first or plan.kind} " if only else ""
    return f"{rank}{measured} in {where}, by {plan.group_by}: {groups}{more}"


def _have_one(rows: list[dict[str, Any]], column: str, plan: Plan, table: RecordTable) -> bool:
    """Whether each group has one record; a record with several values is in several groups."""
    return rows[0][column] == 1 if rows and plan.kind == "most" else table.records == table.total


def _value(value: Any) -> str:
    return "none" if value is None else shown(value)


def _group(value: Any) -> str:
    return _value(value)[:_LONGEST]


def _basis(table: RecordTable, seen: Seen) -> str:
    """Return what a result is from: how many records, and what was left out."""
    left_out = sum(table.left_out.values())
    of = f" of {seen.records}" if table.records < seen.records else ""
    left = f"; {left_out} {'value is no number' if left_out == 1 else 'values are no numbers'}" if left_out else ""
    return f"{table.records}{of} {_records(seen.records)}{left}"


def _records(number: int) -> str:
    return "record" if number == 1 else "records"


def _number(value: Any) -> str:
    if not isinstance(value, float):
        return shown(value)
    return shown(round(value, 2) if abs(value) >= 1 else float(f"{value:.3g}"))
