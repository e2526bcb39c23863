"""Who may do what over HTTP: keys, tokens, origins, namespaces."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import ConfigurationError
from mgrag.http.access import Access
from tests.dbhandler.kit import make_settings
from tests.doors.kit import ALICE, KEY, NOTES, SECRET, access, ok, serving


def token(key: str = SECRET, algorithm: str = "HS256", *, lasts: float = 60, **claims: Any) -> dict[str, str]:
    claims = {"exp": int(time.time() + lasts), **claims}
    return {"Authorization": f"Bearer {jwt.encode(claims, key, algorithm)}"}


async def test_keys_open_what_they_are_for() -> None:
    keys = access(MGRAG_API_KEYS=f"{KEY}, docs={KEY}d", MGRAG_API_READ_KEYS=f"{KEY}r")
    async with serving(keys) as client:
        assert (await ok(await client.get("/health"))) == {"status": "ok"}
        told = await client.get("/db")
        assert told.status_code == 401 and told.headers["www-authenticate"] == "Bearer"
        for headers in ({"X-API-Key": "wrong" * 5}, {"Authorization": f"Basic {KEY}"}, {"X-API-Key": KEY + "x"}):
            await ok(await client.get("/db", headers=headers), 401)
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}, headers={"X-API-Key": KEY}))
        reader, tenant = {"Authorization": f"Bearer {KEY}r"}, {"X-API-Key": f"{KEY}d"}
        assert (await ok(await client.post("/db/default/chunks/search", json={"query": "Heron"}, headers=reader)))[
            "hits"
        ]
        for method, path, body in (
            ("POST", "/db/default/documents", {"documents": NOTES}),
            ("POST", "/db/default/employees", ALICE),
            ("POST", "/db/default/memory/s", {"content": "x"}),
            ("DELETE", "/db/default/documents/notes/heron.md", None),
            ("DELETE", "/db/default", None),
            ("POST", "/db/default/answer", {"question": "Who leads Project Heron?", "conversationId": "new"}),
        ):
            await ok(await client.request(method, path, json=body, headers=reader), 403)
        await ok(await client.get("/db/default/documents", headers=tenant), 403)
        await ok(await client.post("/db/docs/documents", json={"documents": NOTES[:1]}, headers=tenant))
        assert [one["name"] for one in (await ok(await client.get("/db", headers=tenant)))["databases"]] == ["docs"]
        assert (await ok(await client.get("/db/default/conversations", headers=reader)))["conversations"] == []


async def test_tokens_say_which_namespaces_and_whether_to_write() -> None:
    async with serving(access(MGRAG_JWT_KEY=SECRET, MGRAG_JWT_AUDIENCE="mgrag", MGRAG_JWT_ISSUER="me")) as client:
        mine: dict[str, Any] = {"aud": "mgrag", "iss": "me", "namespaces": ["docs"], "scope": "read write"}
        body = {"documents": NOTES}
        await ok(await client.post("/db/docs/documents", json=body, headers=token(**mine)))
        await ok(await client.post("/db/other/documents", json=body, headers=token(**mine)), 403)
        await ok(await client.post("/db/docs/documents", json=body, headers=token(**{**mine, "scope": "read"})), 403)
        await ok(await client.get("/db/docs/documents", headers=token(**{**mine, "namespaces": "*"})))
        await ok(await client.get("/db/docs/documents", headers=token(aud="mgrag", iss="me")), 403)
        for bad, says in (
            (token(**mine, lasts=-60), "expired"),
            (token(**{**mine, "aud": "else"}), "Audience"),
            (token(**{**mine, "iss": "else"}), "issuer"),
            (token("t" * 32, **{**mine, "aud": "else"}), "This key or token is not valid."),  # no more to strangers
            (token("", "none", **mine), "This key or token is not valid."),
            ({"Authorization": f"Bearer {jwt.encode(mine, SECRET, 'HS256')}"}, '"exp"'),  # never expires
            ({"Authorization": "Bearer a.b.c"}, "This key or token is not valid."),
        ):
            assert says in (await ok(await client.get("/db/docs/documents", headers=bad), 401))["error"]


async def test_a_public_key_is_no_shared_secret() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    async with serving(access(MGRAG_JWT_KEY=public.decode())) as client:
        claims = {"exp": int(time.time() + 60), "namespaces": "*"}
        good = jwt.encode(claims, private, "ES256")
        assert (await client.get("/db", headers={"Authorization": f"Bearer {good}"})).status_code == 200
        import base64
        import hashlib
        import hmac

        head, payload = (
            base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
            for part in ({"alg": "HS256", "typ": "JWT"}, claims)
        )
        forged = head + b"." + payload
        signature = base64.urlsafe_b64encode(hmac.new(public, forged, hashlib.sha256).digest()).rstrip(b"=")
        assert (
            await client.get("/db", headers={"Authorization": f"Bearer {(forged + b'.' + signature).decode()}"})
        ).status_code == 401
        other = jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), "ES256")
        assert (await client.get("/db", headers={"Authorization": f"Bearer {other}"})).status_code == 401


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"MGRAG_API_KEYS": "short"}, "MGRAG_API_KEYS"),
        ({"MGRAG_API_KEYS": f"={KEY}"}, "MGRAG_API_KEYS"),
        ({"MGRAG_API_READ_KEYS": f"{KEY},docs="}, "Entry 2 of MGRAG_API_READ_KEYS"),
        ({"MGRAG_JWT_KEY": "short"}, "MGRAG_JWT_KEY"),
    ],
)
def test_keys_that_could_be_guessed_are_refused_without_showing_them(settings: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as told:
        access(**settings)
    assert "short" not in str(told.value).replace("too short", "") and KEY not in str(told.value)


async def test_without_keys_no_web_page_and_no_other_name_gets_in() -> None:
    async with serving(origins=["https://app.example.org"]) as client:
        for host in ("attacker.example", "localhost.attacker.example:80", "[::1"):
            await ok(await client.get("/db", headers={"Host": host}), 403)
        await ok(await client.get("/db", headers={"Origin": "https://evil.example"}), 403)
        allowed = await client.get("/db", headers={"Origin": "https://app.example.org"})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://app.example.org"


async def test_a_web_page_may_read_that_the_server_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: KnowledgeBase) -> None:
        raise KeyError

    headers = {"Origin": "https://app.example.org"}
    async with serving(origins=[headers["Origin"]]) as client:
        monkeypatch.setattr(KnowledgeBase, "status", broken)
        failed = await client.get("/db/default/status", headers=headers)
        assert (await ok(failed, 500))["request_id"] == failed.headers["X-Request-ID"]
        assert failed.headers["access-control-allow-origin"] == headers["Origin"]


async def test_an_origin_is_taken_as_browsers_send_it() -> None:
    headers = {"Origin": "https://app.example.org"}
    async with serving(origins=["https://App.example.org/"]) as client:
        assert (await client.get("/db", headers=headers)).headers["access-control-allow-origin"] == headers["Origin"]
    async with serving(access(MGRAG_API_KEYS=KEY), origins=["*"]) as client:
        answered = await client.get("/db", headers={**headers, "X-API-Key": KEY})
        assert answered.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("origin", ["app.example.org", "https://app.example.org/page", "https://*.example.org", "*"])
async def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(ConfigurationError, match=r"origin|keys"):
        async with serving(origins=[origin]):
            pass


async def test_a_server_for_one_namespace_serves_only_that() -> None:
    async with serving(Access(make_settings(), only="docs", writing=False)) as client:
        await ok(await client.get("/db/docs/documents"))
        refused = await ok(await client.get("/db/default/documents"), 403)
        assert refused["error"] == "This key, token or server is not for the namespace 'default'."
        await ok(await client.post("/db/docs/documents", json={"documents": NOTES}), 403)


async def test_a_key_for_one_namespace_is_told_nothing_of_the_others() -> None:
    keys = access(MGRAG_API_KEYS=f"{KEY},docs={KEY}d")
    async with serving(keys) as client:
        mine, all_ = {"X-API-Key": f"{KEY}d"}, {"X-API-Key": KEY}
        await ok(await client.post("/db/secret-project/documents", json={"documents": NOTES}, headers=all_))
        missing = await ok(await client.delete("/db/docs", headers=mine), 404)
        assert "'docs'" in missing["error"] and "secret-project" not in missing["error"]
        status = await ok(await client.get("/db/docs/status", headers=mine))
        assert (status["location"], status["bytes"], status["engine"]["location"]) == (None, None, None)
        assert (await ok(await client.get("/db/docs/status", headers=all_)))["location"] == ":memory:"


async def test_what_can_be_read_can_be_asked_for_without_its_body() -> None:
    async with serving(access(MGRAG_API_KEYS=KEY)) as client:
        whole = {"X-API-Key": KEY}
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}, headers=whole))
        for path in ("/health", "/db", "/metrics", "/db/default/documents/notes%2Fheron.md", "/db/default/export"):
            response = await client.head(path, headers=whole)
            assert (response.status_code, response.content) == (200, b""), path
            assert response.headers["content-type"] == (await client.get(path, headers=whole)).headers["content-type"]
        assert (await client.head("/health")).status_code == 200
        assert (await client.head("/db")).status_code == 401
        assert (await client.head("/db/default/documents/none", headers=whole)).status_code == 404
        assert (await client.head("/db/default/answer", headers=whole)).status_code == 405


async def test_health_is_not_waited_for_as_long_as_a_graph_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    async with serving() as client:
        monkeypatch.setattr("mgrag.http.app._HEALTH_SECONDS", 0.1)
        with monkeypatch.context() as away:
            away.setattr(MemGraphClient, "check", silent)
            assert (await ok(await client.get("/health"), 503))["type"] == "StoreUnavailableError"
        await ok(await client.get("/health"))


async def test_health_is_not_well_while_nothing_can_be_stored(tmp_path: Path) -> None:
    file = tmp_path / "graph"
    async with serving(knowledge=KnowledgeBase.open(f"embedded:{file}")) as client:
        await ok(await client.get("/health"))
        file.rename(tmp_path / "moved")
        assert (await ok(await client.get("/health"), 503))["type"] == "StoreUnavailableError"
        await ok(await client.get("/db/default/documents"))
        (tmp_path / "moved").rename(file)
        await ok(await client.get("/health"))
