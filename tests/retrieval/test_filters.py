"""Filters: the grammar in both forms, what they mean, and that nothing breaks them."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, date, datetime
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.errors import FilterError
from core.rag.retrieval.filters import Filter, parse_filter
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

ROW: dict[str, Any] = {
    "path": "docs/guide/install.md",
    "uri": "file:///srv/docs/guide/install.md",
    "title": "How to Install",
    "source": ["docs", "file:///srv/docs"],
    "source_id": "s-1",
    "mime_type": "text/markdown",
    "created_at": "2026-01-31T23:59:59.999999+00:00",
    "updated_at": "2026-03-01T01:30:00+02:00",
    "metadata": {"author": "A B", "year": 2024, "tags": ["graph", "vector search"], "draft": False, "a": {"b": "7"}},
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "path:docs/",
        "PATH:docs/guide",
        "path^=docs/ path*=INSTALL",
        "path=docs/guide/install.md",
        "path!=docs/guide",
        "uri:file:///srv/",
        "title:install",
        "title='How to Install'",
        "source:docs",
        'source:"file:///srv/docs"',
        "source_id=s-1",
        "mime:text/markdown",
        "mime:TEXT/*",
        "path:docs/*",
        "mime:text/",
        "mime_type:(text/html, text/markdown)",
        "created:2026",
        "created:2026-01",
        "created=2026-01-31",
        "created:2026-01-31T23:59",
        "created:2026-01-31T23:59:59",
        "created<=2026-01-31",
        "created<2026-02",
        "not created>2026-01-31",
        "created>2026-01-30",
        "updated>=2026-02-28T23:30Z",
        "updated:2026-02-28",
        "updated<=9999-12-31",
        "updated<9999-12",
        "updated<=9999",
        "not updated:9999-12-31T23:59:59.999999",
        "updated=2026-03-01T01:30+02:00",
        "metadata.year==2024",
        'metadata.author="A B"',
        "metadata.author:'A B'",
        "metadata.year>=2024 metadata.year<=2024 metadata.year:2024 metadata.year>2023.5",
        'metadata.year="2024"',
        "metadata.tags:graph",
        'metadata.tags="vector search"',
        "metadata.tags*=VECTOR",
        "metadata.tags!=sql",
        "metadata.draft=false",
        "metadata.a.b=7",
        "metadata.missing=null",
        "metadata.missing!=x",
        "metadata.author!=null",
        "path:nowhere or title:install",
        "(path:nowhere or path:docs/) and not (title:draft or mime:text/html)",
        "path:docs/ AND NOT title:draft",
        "path:nowhere title:install or source:docs",
    ],
)
def test_holds_and_its_complement_does_not(text: str) -> None:
    parsed = parse_filter(text)
    assert parsed.matches(ROW)
    assert not parse_filter({"not": parsed.to_dict()}).matches(ROW)


@pytest.mark.parametrize(
    "text",
    [
        "path:guide",
        "path:DOCS/",
        "path=()",
        "title=install",
        "source:doc",
        "mime:text/html",
        "mime:(text/html, text/plain)",
        "created:2026-02",
        "created>2026-01-31",
        "created<2026-01-31",
        "updated:2026-03",
        "metadata.author=A",
        "metadata.year<2024",
        "metadata.year>x",
        "metadata.tags=vector",
        "metadata.draft=true",
        "metadata.a=7",
        "metadata.missing>=0",
        "metadata.missing:x",
        "not path:docs/",
        "path:nowhere (title:install or source:docs)",
    ],
)
def test_does_not_hold(text: str) -> None:
    assert not parse_filter(text).matches(ROW)


def test_both_forms_parse_to_the_same() -> None:
    text = 'path:docs/ mime:text/html updated>=2026-01-01 metadata.author="A B" not (title:x or metadata.n:(1, 2))'
    form = {
        "path": {"prefix": "docs/"},
        "mime": "text/html",
        "updated": {">=": date(2026, 1, 1)},
        "metadata.author": "A B",
        "not": {"or": [{"title": {"contains": "x"}}, {"metadata.n": [1, 2]}]},
    }
    assert parse_filter(text) == parse_filter(form)
    assert parse_filter({"path": {"!=": "x"}}) == parse_filter("path!=x")
    assert parse_filter({"path": {"in": ["x", "y"]}}) == parse_filter("path=(x, y)")
    assert parse_filter({"path": ["x", "y"]}) == parse_filter("path:(x, y)")


def test_metadata_may_be_json_and_keys_may_have_dots() -> None:
    wanted = parse_filter("metadata.a.b=1")
    assert wanted.matches({"metadata": json.dumps({"a": {"b": 1}})})
    assert wanted.matches({"metadata": {"a.b": 1}})
    assert not wanted.matches({"metadata": "not JSON"})
    assert not wanted.matches({})
    assert parse_filter('metadata."odd key"=1').matches({"metadata": {"odd key": 1}})


def test_versions_that_spell_the_same_number_are_two_texts() -> None:
    row = {**ROW, "path": "2024.10", "title": "1.10", "metadata": {"version": "1.10", "year": "2024", "count": 7.0}}
    for text in (
        "path=2024.10",
        'title="1.10"',
        'metadata.version="1.10"',
        "metadata.version=1.1",
        "metadata.count='7'",
    ):
        assert parse_filter(text).matches(row), text
    for text in ("path=2024.1", "title=1.1", 'metadata.version="1.1"', 'metadata.year="2024.0"', "title!=1.10"):
        assert not parse_filter(text).matches(row), text
    assert parse_filter({"metadata.year": {">": "1999.5"}}).matches(row)


def test_ids_of_many_digits_are_compared_to_the_last_one() -> None:
    written, number, other = "1234567890123456789", 1234567890123456789, 1234567890123456788
    for text in (f"metadata.id={written}", f'metadata.id="{written}"', f"metadata.id>{other}"):
        wanted = parse_filter(text)
        assert wanted.matches({"metadata": {"id": written}})
        assert wanted.matches({"metadata": {"id": number}})
        assert not wanted.matches({"metadata": {"id": other}})
        assert not wanted.matches({"metadata": {"id": str(other)}})


def test_numbers_of_numpy_are_numbers() -> None:
    assert parse_filter({"metadata.n": np.int64(3)}) == parse_filter({"metadata.n": 3})


def test_sources_may_stand_under_two_keys() -> None:
    assert parse_filter("source:b").matches({"source_names": ["a"], "source_uris": ["b"]})


def test_nothing_lets_everything_through() -> None:
    everything: list[Any] = [None, "", "  ", {}, {"and": []}]
    for value in everything:
        parsed = parse_filter(value)
        assert not parsed
        assert parsed.matches({})
    assert not parse_filter({"or": []}).matches(ROW)


def test_dates_at_the_edges() -> None:
    december = parse_filter("created:2026-12")
    assert december.matches({"created_at": "2026-12-31T23:59:59Z"})
    assert not december.matches({"created_at": "2027-01-01T00:00:00Z"})
    assert parse_filter({"created": datetime(2026, 1, 1, 12, 30, 5, 7, UTC)}).matches(
        {"created_at": "2026-01-01T12:30:05.000007+00:00"}
    )
    assert parse_filter("created<=9998").matches({"created_at": "2026-01-01"})
    assert not parse_filter("created>=2026").matches({"created_at": "yesterday"})


@pytest.mark.parametrize(
    ("value", "place", "allowed"),
    [
        ("path", "character 5", "^="),
        ("foo:1", "character 1", "mime_type"),
        ("path:docs foo:1", "character 11", "metadata.KEY"),
        ("path:", "character 6", "quotes"),
        ("path:(a b)", "character 9", "','"),
        ("(path:a", "character 8", "')'"),
        ("path:a)", "character 7", "'or'"),
        ("path:a or", "character 10", "field"),
        ('path:"a', "character 6", "value"),
        ("created:yesterday", "character 1", "2026-01-31"),
        ("path<3", "character 1", "'prefix'"),
        ("path:docs/*.md", "character 1", "path:docs/ path*=.md"),
        ({"uri": "file:///*/a"}, "filter.uri", "begins with"),
        ("metadata.a<null", "character 1", "'='"),
        ("metadata.a<(1, 2)", "character 1", "one value"),
        ({"foo": 1}, "filter.foo", "source_id"),
        ({"or": [{}, {"path": {"x": 1}}]}, "filter.or[1].path", "contains"),
        ({"or": {}}, "filter.or", "list"),
        ({"not": [1]}, "filter.not", "dict"),
        ({"created": "x"}, "filter.created", "2026-01"),
        ({"path": object()}, "filter.path", "string"),
        ({"metadata.x": float("nan")}, "filter.metadata.x", "finite"),
        ({"metadata.x": 10**400}, "filter.metadata.x", "larger"),
        ({1: 2}, "filter", "string"),
    ],
)
def test_errors_name_the_place_and_what_is_allowed(value: Any, place: str, allowed: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(value)
    assert place in str(caught.value)
    assert allowed in str(caught.value)


def test_limits() -> None:
    deep: dict[str, Any] = {"path": "a"}
    for _ in range(100):
        deep = {"or": [deep, {"path": "b"}]}
    too_much: list[Any] = [
        "(" * 5_000 + "path:a" + ")" * 5_000,
        "not " * 4_000 + "path:a",
        "path:a " * 201,
        "path:" + "a" * 5_000,
        "path:" + "a" * 30_000,
        {"path": ["a"] * 1_001},
        {"or": [{"path": "a"}] * 201},
        {"and": [{"or": [{"path": "a"}] * 150}] * 2},
        {f"metadata.{number}": 1 for number in range(1000)},
        f"path:({', '.join(map(str, range(100_000)))})",
        {"path": list(map(str, range(100_000)))},
        deep,
    ]
    for value in too_much:
        with pytest.raises(FilterError):
            parse_filter(value)
    assert parse_filter({"path": [f"{i}/" for i in range(1_000)]}).matches({"path": "999/x"})


def test_pushdown_is_what_the_database_can_check() -> None:
    pushed = parse_filter(
        "path:docs/ path:docs/guide mime:(text/html, text/plain) path=(x, y) source_id:s updated>2020 not path:z"
    ).pushdown()
    assert pushed.path_prefix == "docs/guide"
    assert pushed.paths == ("x", "y")
    assert pushed.source_ids == ("s",)
    nothing = parse_filter("path:a or mime:text/html").pushdown()
    assert nothing.path_prefix is None
    assert nothing.paths is None
    assert parse_filter("path=null").pushdown().paths is None
    assert parse_filter("path:docs/ path:docs/Café/").pushdown().path_prefix == "docs/Caf"
    several = parse_filter("path=(docs/Café.md, docs/Cafe.md)").pushdown()
    assert (several.path_prefix, several.paths) == ("docs/Caf", None)


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "wanted",
    [
        "path:Menü/Café",
        "path=Menü/Café.md",
        "path=(Menü/Café.md, Menü/Brot.md)",
        'title:"LES CAFÉS"',
        "title^=Les metadata.author=Zoé",
        {"metadata.tags": ["Thé"]},
        {"not": {"path": "Menü/Tee"}},
    ],
)
async def test_accents_are_the_same_in_any_form_of_unicode(
    engine: Engine, stored: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"], wanted: Any
) -> None:
    def given(text: str) -> str:
        return unicodedata.normalize(stored, text)

    async with engine.knowledge() as kb:
        await kb.ingest(
            [
                Document(
                    given("Menü/Café.md"),
                    "Nothing is served.",
                    given("Les Cafés"),
                    metadata={"author": given("Zoé"), "tags": [given("Thé")]},
                ),
                Document(given("Menü/Tee.md"), "Nothing is served, either.", "Tee"),
            ]
        )
        filters = json.loads(unicodedata.normalize(asked, json.dumps(wanted, ensure_ascii=False)))
        hits = await kb.search("served", filters=filters)
        assert [hit.path for hit in hits] == [given("Menü/Café.md")]


FIELDS = ["path", "uri", "title", "source", "source_id", "mime_type"]
texts = st.text(max_size=8) | st.sampled_from(
    ["docs/", "text/*", "and", "or", "not", "null", "true", "007", "1.10", "a b"]
)
scalars = texts | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
dates = st.sampled_from(["2026", "2026-01", "2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00+05:30"])
keys = st.text(min_size=1, max_size=6).map("metadata.".__add__)


def forms() -> st.SearchStrategy[dict[str, Any]]:
    """Valid filters in dict form."""
    listed = st.lists(texts, max_size=3)
    leaf = st.one_of(
        st.builds(lambda f, v: {f: v}, st.sampled_from(FIELDS), texts | st.none() | listed),
        st.builds(
            lambda f, o, v: {f: {o: v}},
            st.sampled_from(FIELDS),
            st.sampled_from(["=", "!=", "prefix", "contains", "in"]),
            texts | listed,
        ),
        st.builds(
            lambda f, o, v: {f: {o: v}},
            st.sampled_from(["created", "updated_at"]),
            st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
            dates,
        ),
        st.builds(
            lambda f, o, v: {f: {o: v}}, keys, st.sampled_from(["=", "!=", "<", ">=", "prefix", "contains"]), scalars
        ),
        st.builds(lambda f, v: {f: v}, keys, st.lists(scalars | st.none(), max_size=3)),
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.builds(lambda v: {"not": v}, inner),
            st.builds(lambda w, v: {w: v}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)),
            st.builds(lambda a, b: {**a, **b}, inner, inner),
        ),
        max_leaves=8,
    )


values = scalars | st.none() | st.lists(scalars, max_size=3)
rows = st.fixed_dictionaries(
    {},
    optional={
        **{field: texts | st.none() for field in FIELDS},
        "created_at": dates | texts,
        "updated_at": dates,
        "metadata": st.dictionaries(
            st.text(max_size=6), values | st.dictionaries(st.text(max_size=3), values), max_size=3
        ),
    },
)


@settings(deadline=None)
@given(forms(), rows)
def test_every_form_round_trips_and_complements(form: dict[str, Any], row: dict[str, Any]) -> None:
    parsed = parse_filter(form)
    assert parse_filter(str(parsed)) == parsed
    assert parse_filter(parsed.to_dict()) == parsed
    assert parse_filter(json.loads(json.dumps(parsed.to_dict()))) == parsed
    assert parse_filter({"not": form}).matches(row) is not parsed.matches(row)
    stored = {**row, "metadata": json.dumps(row.get("metadata"))}
    assert parsed.matches(stored) == parsed.matches(row)


@settings(deadline=None)
@given(forms(), forms(), rows)
def test_and_or_mean_what_they_say(one: dict[str, Any], two: dict[str, Any], row: dict[str, Any]) -> None:
    first, second = parse_filter(one), parse_filter(two)
    both, either = parse_filter({"and": [one, two]}), parse_filter({"or": [one, two]})
    assert both.matches(row) == (first.matches(row) and second.matches(row))
    assert either.matches(row) == (first.matches(row) or second.matches(row))
    if str(first) and str(second):
        assert parse_filter(f"({first}) ({second})") == both
        assert parse_filter(f"({first}) or ({second})") == either


@settings(deadline=None)
@given(forms(), rows)
def test_pushdown_never_loses_a_match(form: dict[str, Any], row: dict[str, Any]) -> None:
    parsed = parse_filter(form)
    pushed = parsed.pushdown()
    if parsed.matches(row):
        assert pushed.path_prefix is None or str(row.get("path")).startswith(pushed.path_prefix)
        assert pushed.paths is None or row.get("path") in pushed.paths
        assert pushed.source_ids is None or row.get("source_id") in pushed.source_ids


pieces = st.sampled_from(
    [
        "path",
        "metadata.",
        "metadata.a",
        "created",
        ":",
        "=",
        "<",
        ">=",
        "^=",
        "*=",
        "!",
        "(",
        ")",
        ",",
        '"',
        "'",
        "\\",
        " ",
        "or",
        "and",
        "not",
        "null",
        "2026-01",
        "1e999",
        "9" * 50,
        "٣",
        "\x00",
        "😀",
        "docs/",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join) | st.text(max_size=30))
def test_any_text_is_a_filter_or_an_error(text: str) -> None:
    try:
        parsed = parse_filter(text)
    except FilterError as error:
        assert "character" in str(error) or "Filter" in str(error)
    else:
        assert isinstance(parsed, Filter)
        assert parsed.matches(ROW) in {True, False}
        assert parse_filter(str(parsed)) == parsed


json_values = st.recursive(
    scalars | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["path", "or", "and", "not", "in", "=", "metadata.x", "created", ""]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_any_json_is_a_filter_or_an_error(value: Any) -> None:
    try:
        assert parse_filter(value).matches(ROW) in {True, False}
    except FilterError as error:
        assert str(error)


@pytest.mark.parametrize(
    "written", ["2024-03-15", "2024-03-15T08:30:00+01:00", "15 Mar 2024", "March 15, 2024", "15.03.2024", "2024/03/15"]
)
def test_dates_in_metadata_are_put_in_order_however_they_are_written(written: str) -> None:
    row = {"metadata": {"created": written}}
    for text in (
        "metadata.created>=2024",
        "metadata.created<2024-03-16",
        "metadata.created<=2024-03",
        "metadata.created>2024-02",
        'metadata.created>="1 March 2024" metadata.created<="31 March 2024"',
    ):
        assert parse_filter(text).matches(row), text
    for text in ("metadata.created>2024", "metadata.created<2024", "metadata.created>=2024-04"):
        assert not parse_filter(text).matches(row), text
    assert parse_filter({"metadata.created": {">": date(2023, 12, 31)}}).matches(row)


def test_a_date_of_which_either_number_may_be_the_month_is_a_text() -> None:
    assert not parse_filter("metadata.created>=2024").matches({"metadata": {"created": "3/4/2024"}})
