"""Addresses of servers, and who logs in there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.dbhandler.bolt.address import Address, bolt_address, hide_credentials
from core.rag.errors import ConfigurationError
from tests.dbhandler.kit import make_settings


def address(uri: str, username: str | None = None, password: str | None = None, **settings: object) -> Address:
    return bolt_address(uri, username=username, password=password, settings=make_settings(**settings))


@pytest.mark.parametrize(
    ("uri", "wanted"),
    [
        ("bolt://localhost:7688", "bolt://localhost:7688"),
        ("bolt://localhost", "bolt://localhost:7687"),
        ("BOLT+S://Graph.Example.org", "bolt+s://graph.example.org:7687"),
        ("bolt+ssc://10.0.0.5:1", "bolt+ssc://10.0.0.5:1"),
        ("neo4j://a", "neo4j://a:7687"),
        ("neo4j+s://a:9/?policy=x", "neo4j+s://a:9?policy=x"),
        ("neo4j+ssc://a", "neo4j+ssc://a:7687"),
        ("bolt://[::1]:7000", "bolt://[::1]:7000"),
        ("localhost", "bolt://localhost:7687"),
        ("memgraph.internal:7000", "bolt://memgraph.internal:7000"),
        ("10.0.0.5", "bolt://10.0.0.5:7687"),
        ("[::1]:7000", "bolt://[::1]:7000"),
        ("::1", "bolt://[::1]:7687"),
        (" bolt://a:7688 \n", "bolt://a:7688"),
        ("localhost:7688 ", "bolt://localhost:7688"),
    ],
)
def test_a_uri_or_a_bare_host_is_an_address(uri: str, wanted: str) -> None:
    assert address(uri).uri == wanted


def test_the_port_of_the_settings_counts_where_the_uri_has_none() -> None:
    assert address("graph", MEMGRAPH_PORT=7999).uri == "bolt://graph:7999"
    assert address("bolt://graph", MEMGRAPH_PORT=7999).uri == "bolt://graph:7999"
    assert address("bolt://graph:1", MEMGRAPH_PORT=7999).uri == "bolt://graph:1"


def test_credentials_come_from_arguments_then_the_uri_then_the_settings() -> None:
    stored = {"MEMGRAPH_USERNAME": "env", "MEMGRAPH_PASSWORD": "env-secret"}
    for found, wanted in [
        (address("bolt://u:p%40ss@h", "arg", "arg-secret", **stored), ("arg", "arg-secret")),
        (address("bolt://u:p%40ss@h", **stored), ("u", "p@ss")),
        (address("bolt://h", **stored), ("env", "env-secret")),
        (address("bolt://h"), (None, None)),
        (address("bolt://h", "", None, **stored), (None, None)),
        (address("bolt://h", MEMGRAPH_PASSWORD="env-secret"), ("memgraph", "env-secret")),
        (address("bolt://h", None, "arg-secret"), ("memgraph", "arg-secret")),
        (address("bolt://h", MEMGRAPH_USERNAME="", MEMGRAPH_PASSWORD="env-secret"), (None, None)),
    ]:
        assert (found.username, found.password) == wanted
        assert "@" not in found.uri
        assert "@" not in found.location


def test_the_database_is_shown_with_the_address() -> None:
    assert address("bolt://h", MEMGRAPH_DATABASE="notes").location == "bolt://h:7687 (database notes)"


def test_parameters_are_not_shown_with_the_address() -> None:
    assert address("neo4j://h?policy=x").location == "neo4j://h:7687"


def test_the_same_server_without_routing() -> None:
    assert address("neo4j+s://h/?policy=x").without_routing().uri == "bolt+s://h:7687"


@pytest.mark.parametrize(
    "uri",
    [
        "http://u:secret@h",
        "https://h",
        "sqlite:graph.db",
        "redis://localhost:1",
        "bolt://",
        "bolt://:7687",
        "bolt://h:70000",
        "bolt://h:x",
        "bolt://u:secret@h/db",
        "bolt://h?x=1",
        "/tmp/graph.grafeo",
        "C:\\graphs\\g",
        "u:secret@h",
        "u:the secret@h",
        "bolt://u:the secret@h/db",
        "bolt://u:the secret@h:7x",
        "bolt://u:the\nsecret@h:70000",
        "bolt://u:secret",
        "bolt://u:secret%40h",
        "bolt://u:secret@[h",
        "bolt://u:secret@h\u2100st",
        "bolt://h?token=secret",
        "http://h/v1?token=secret",
        "h:123456",
        "a b",
        "bolt:h",
        ":",
    ],
)
def test_anything_else_is_refused_without_its_password(uri: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        address(uri)
    texts = []
    error: BaseException | None = caught.value
    while error is not None:
        texts.append(str(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert "secret" not in " ".join(texts)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    try:
        found = address(text)
    except ConfigurationError:
        return
    assert found.uri.startswith(("bolt", "neo4j"))


@given(st.from_regex(r"[a-zA-Z0-9!$%^&*()_+=.:/@?# \t\n-]{1,20}", fullmatch=True))
def test_a_password_is_never_shown(password: str) -> None:
    assert hide_credentials(f"bolt://user:{password}@host:7687") == "bolt://host:7687"
    found = Address("bolt://h:1", "user", f"~~{password}~~")
    assert f"~~{password}~~" not in repr(found) + found.location
