"""The numbers that Prometheus collects."""

from __future__ import annotations

from pathlib import Path

import httpx
import jwt
import pytest
from prometheus_client.parser import text_string_to_metric_families

from core.rag import KnowledgeBase
from tests.doors.kit import KEY, NOTES, SECRET, access, ok, serving

SEARCH = "/db/{namespace}/chunks/search"


async def numbers(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """Numbers by name and the values of their labels."""
    response = await client.get("/metrics")
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *(value for name, value in sorted(sample.labels.items()) if name != "le")): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


async def test_requests_are_counted_by_route_and_not_by_path() -> None:
    async with serving() as client:
        await ok(await client.post("/db/tenant-a/documents", json={"documents": NOTES}))
        for name in ("tenant-a", "tenant-b"):
            await ok(await client.post(f"/db/{name}/chunks/search", json={"query": "Who leads Project Heron?"}))
        await ok(await client.get("/db/tenant-a/documents/notes/heron.md"))
        await ok(await client.get("/db/tenant-a/documents/notes/none.md"), 404)
        await ok(await client.post("/db/tenant-a/chunks/search", json={"misspelt": 1}), 422)
        async with client.stream("POST", "/db/tenant-a/answer/stream", json={"question": "Who?"}) as stream:
            await stream.aread()
        await client.get("/nowhere/secret")
        await client.request("SECRET", "/db")
        found = await numbers(client)
        count = "mgrag_http_request_seconds_count"
        assert found[count, "POST", SEARCH, "200"] == 2
        assert found[count, "POST", SEARCH, "422"] == 1
        assert found[count, "GET", "/db/{namespace}/documents/{path}", "200"] == 1
        assert found[count, "GET", "/db/{namespace}/documents/{path}", "404"] == 1
        assert found[count, "POST", "/db/{namespace}/answer/stream", "200"] == 1
        assert found[count, "GET", "other", "404"] == 1
        assert found[count, "other", "/db", "405"] == 1
        assert 0 < found["mgrag_http_request_seconds_sum", "POST", SEARCH, "200"] < 60
        assert found["mgrag_http_requests_in_progress",] == 1
        assert found["process_resident_memory_bytes",] > 1_000_000
        text = (await client.get("/metrics")).text
        assert not any(name in text for name in ("tenant", "secret", "SECRET", "heron", "none.md"))


@pytest.mark.parametrize("given", ["application/openmetrics-text; version=1.0.0", "*/*"])
async def test_the_format_is_the_one_that_is_asked_for(given: str) -> None:
    async with serving() as client:
        response = await client.get("/metrics", headers={"Accept": given})
        kind = given.split(";")[0] if "openmetrics" in given else "text/plain"
        assert response.headers["content-type"].startswith(kind)
        assert response.text.endswith("# EOF\n") == ("openmetrics" in given)


async def test_numbers_need_a_key_for_all_namespaces() -> None:
    one, reading, whole = "a" * 16, "r" * 16, KEY
    keys = access(MGRAG_API_KEYS=f"{whole},acme={one}", MGRAG_API_READ_KEYS=reading, MGRAG_JWT_KEY=SECRET)
    token = jwt.encode({"exp": 4_000_000_000, "namespaces": "*"}, SECRET)
    narrow = jwt.encode({"exp": 4_000_000_000, "namespaces": ["acme"]}, SECRET)
    async with serving(keys) as client:
        for key, status in (("", 401), ("x" * 16, 401), (one, 403), (narrow, 403), (reading, 200), (token, 200)):
            response = await client.get("/metrics", headers={"Authorization": f"Bearer {key}"} if key else {})
            assert response.status_code == status, response.text
        found = (await client.get("/metrics", headers={"X-API-Key": whole})).text
        assert 'method="GET",route="other",status="401"' in found  # refused before it had a route
    async with serving(keys, open_metrics=True) as client:
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/db")).status_code == 401


async def test_numbers_of_a_server_of_one_namespace_need_its_key() -> None:
    from mgrag.http.access import Access
    from tests.dbhandler.kit import make_settings

    keys = Access(make_settings(MGRAG_API_KEYS=f"{KEY},acme={'a' * 16},other={'o' * 16}"), only="acme")
    async with serving(keys) as client:
        for key, status in ((KEY, 200), ("a" * 16, 200), ("o" * 16, 403)):
            assert (await client.get("/metrics", headers={"X-API-Key": key})).status_code == status


async def test_a_failure_of_the_server_is_counted_as_such(tmp_path: Path) -> None:
    kb = KnowledgeBase.open(f"embedded:{tmp_path / 'g.grafeo'}")
    async with serving(knowledge=kb) as client:
        await kb.close()
        response = await client.get("/db/default/documents")
        assert response.status_code >= 500
        found = await numbers(client)
        status = str(response.status_code)
        assert found["mgrag_http_request_seconds_count", "GET", "/db/{namespace}/documents", status] == 1


def test_what_the_numbers_mean_is_documented() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    for name in ("`GET /metrics`", "mgrag_http_request_seconds", "mgrag_http_requests_in_progress", "--open-metrics"):
        assert name in docs
