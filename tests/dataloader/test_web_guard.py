"""With ``allow_private=False`` nothing but public addresses is ever connected to."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from typing import Any

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.dataloader import InvalidSourceError, WebLoader
from libs.dataloader.crawl.guard import BlockedAddressError, GuardedBackend, GuardedTransport, is_public
from tests.dataloader.webserver import Reply, Request, WebServer, crawl, page, redirect

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "100.64.0.1", "100.127.255.255", "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1", "192.0.0.8",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "2002:a00:1::1",
        "2001:0:7f00:1::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1",
        "5f00::1", "3fff::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", PUBLIC, "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv6_form_of_an_address_is_judged_like_the_address(address: ipaddress.IPv4Address) -> None:
    expected = is_public(str(address))
    assert is_public(f"::ffff:{address}") is expected
    assert is_public(str(ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) + int(address)))) is expected
    assert not is_public(str(ipaddress.IPv6Address(int(address))))
    if address.is_loopback or address.is_private or address.is_link_local or address.is_multicast:
        assert not expected


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "１２７.0.0.1"],
)
async def test_a_loopback_server_is_not_reached(host: str) -> None:
    async with WebServer({"/": page()}) as server:
        loader = WebLoader(server.url(host=host), allow_private=False)
        with pytest.raises(InvalidSourceError, match="not on the public internet"):
            await crawl(loader)
        assert server.requests == []


@pytest.mark.parametrize("host", ["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254", "[fe80::1]"])
async def test_other_private_addresses_are_not_tried(host: str) -> None:
    with pytest.raises(InvalidSourceError, match="not on the public internet"):
        await crawl(WebLoader(f"http://{host}/latest/meta-data/", allow_private=False, respect_robots=False))


class Redirected(httpcore.AsyncNetworkBackend):
    """Notes where connections are to go, and lets them go to the test's server instead."""

    def __init__(self, port: int, fails: Sequence[str] = ()) -> None:
        self.port = port
        self.fails = fails
        self.asked: list[tuple[str, int]] = []
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append((host, port))
        if host in self.fails:
            raise httpcore.ConnectError("no route")
        return await self._inner.connect_tcp("127.0.0.1", self.port)


class Names:
    """A resolver that gives a name's answers one after the other, the last for ever."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(answer) for name, answer in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [[host]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


async def guarded_crawl(server: WebServer, names: Names, url: str, **arguments: Any) -> tuple[Any, Redirected]:
    inner = Redirected(server.port)
    loader = WebLoader(url, allow_private=False, **arguments)
    loader._backend = GuardedBackend(inner, names)
    return await crawl(loader), inner


async def test_public_sites_are_crawled_at_the_address_that_was_checked() -> None:
    async with WebServer({"/": page("/a"), "/a": page(text="a")}) as server:
        found, inner = await guarded_crawl(server, Names(site_test=[[PUBLIC]]), "http://site.test/")
        assert list(found.documents) == ["/", "/a"]
        assert {host for host, _ in inner.asked} == {PUBLIC}
        assert {r.headers["host"] for r in server.requests} == {"site.test"}


async def test_each_hop_of_a_redirect_is_checked() -> None:
    async with WebServer({"/": redirect("http://127.0.0.1:8080/admin")}) as server:
        with pytest.raises(InvalidSourceError, match=r"127\.0\.0\.1 is not on the public internet.*redirected to"):
            await guarded_crawl(server, Names(site_test=[[PUBLIC]]), "http://site.test/")
        assert server.targets == ["/"]
        server.pages = {"/": page("/out", "/in"), "/out": redirect("http://inside.test/secret"), "/in": page(text="in")}
        names = Names(site_test=[[PUBLIC]], inside_test=[["10.0.0.5"]])
        found, inner = await guarded_crawl(server, names, "http://site.test/", same_host=False)
        assert list(found.documents) == ["/", "/in"]
        assert "not on the public internet" in found.failures["/secret"]
        assert {host for host, _ in inner.asked} == {PUBLIC}


async def test_links_sitemaps_and_robots_txt_are_checked_too() -> None:
    async with WebServer() as server:
        server.pages = {
            "/": page("http://inside.test/secret", "/a"),
            "/a": page(text="a"),
            "/robots.txt": Reply(
                "Sitemap: http://inside.test/map.xml\nSitemap: http://site.test/map.xml", "text/plain"
            ),
            "/map.xml": Reply("<urlset><url><loc>http://inside.test/b</loc></url></urlset>", "text/xml"),
        }
        names = Names(site_test=[[PUBLIC]], inside_test=[["192.168.0.1"]])
        found, inner = await guarded_crawl(server, names, "http://site.test/", same_host=False)
        assert list(found.documents) == ["/", "/a"]
        assert set(found.failures) == {"/secret", "/b", "/map.xml"}
        assert {host for host, _ in inner.asked} == {PUBLIC}
        server.pages["/robots.txt"] = redirect("http://inside.test/robots.txt")
        with pytest.raises(InvalidSourceError, match="public"):
            await guarded_crawl(server, names, "http://site.test/")


async def test_a_name_that_changes_its_address_between_check_and_use_gains_nothing() -> None:
    # The first answer is checked and used; had the name been resolved again for connecting, it would be loopback.
    async with WebServer({"/": Reply(page("/a"), headers={"Connection": "close"}), "/a": page()}) as server:
        names = Names(rebind_test=[[PUBLIC], ["127.0.0.1"]])
        inner = Redirected(server.port)
        async with httpx.AsyncClient(
            transport=GuardedTransport(ssl.create_default_context(), GuardedBackend(inner, names))
        ) as client:
            response = await client.get("http://rebind.test/", headers={"Connection": "close"})
            assert response.status_code == 200 and inner.asked == [(PUBLIC, 80)]
            with pytest.raises(BlockedAddressError):
                await client.get("http://rebind.test/")
        assert inner.asked == [(PUBLIC, 80)]
        assert names.asked == ["rebind.test", "rebind.test"]


async def test_a_name_with_any_private_address_is_refused() -> None:
    for addresses in ([PUBLIC, "127.0.0.1"], ["::1", PUBLIC], [], ["fd00::1"]):
        async with WebServer({"/": page()}) as server:
            with pytest.raises(InvalidSourceError):
                await guarded_crawl(server, Names(mixed_test=[addresses]), "http://mixed.test/")
            assert server.requests == []


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with WebServer({"/": page()}) as server:
        inner = Redirected(server.port, fails=["2606:4700::1111"])
        backend = GuardedBackend(inner, Names(two_test=[["2606:4700::1111", PUBLIC]]))
        async with httpx.AsyncClient(transport=GuardedTransport(ssl.create_default_context(), backend)) as client:
            assert (await client.get("http://two.test/")).status_code == 200
    assert inner.asked == [("2606:4700::1111", 80), (PUBLIC, 80)]


async def test_errors_are_those_of_httpx() -> None:
    def cut(request: Request) -> Reply:
        return Reply("x" * 1000, cut_after=10)

    async with WebServer({"/": cut, "/drop": Reply(drop=True), "/hang": Reply(hang=True)}) as server:
        backend = GuardedBackend(Redirected(server.port, fails=["1.1.1.1"]), Names(site_test=[[PUBLIC]]))
        async with httpx.AsyncClient(transport=GuardedTransport(ssl.create_default_context(), backend)) as client:
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get("http://site.test/")
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get("http://site.test/drop")
            with pytest.raises(httpx.ReadTimeout):
                await client.get("http://site.test/hang", timeout=0.2)
            with pytest.raises(httpx.ConnectError):
                await client.get("http://1.1.1.1/")


async def test_a_name_that_does_not_exist_is_no_blocked_address() -> None:
    with pytest.raises(Exception, match="cannot be resolved") as error:
        await crawl(WebLoader("http://no-such-host.invalid/", allow_private=False))
    assert not isinstance(error.value, InvalidSourceError)


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with WebServer(fallback=page()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        monkeypatch.setenv("http_proxy", proxy.url())
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(InvalidSourceError):
            await crawl(WebLoader("http://10.0.0.1/", allow_private=False))
        assert proxy.requests == []
        found = await crawl(WebLoader("http://10.0.0.1/"))
        assert len(found.documents) == 1 and proxy.requests[0].target == "http://10.0.0.1/robots.txt"
