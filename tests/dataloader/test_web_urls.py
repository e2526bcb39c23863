"""URLs: one spelling for each page."""

from __future__ import annotations

import time
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.urls import (
    extension_of,
    host_and_port,
    host_of,
    join_url,
    looks_like_page,
    normalize_url,
    origin,
    page_key,
    path_of,
    query_of,
    split_credentials,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("http://example.org:0080/a", "http://example.org/a"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://example.org/a#part", "http://example.org/a"),
        ("http://example.org/a?", "http://example.org/a"),
        ("http://user:secret@example.org/a", "http://example.org/a"),
        ("http://example.org/a/./b/../c/", "http://example.org/a/c/"),
        ("http://example.org/a/%2e%2E/c", "http://example.org/c"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org/a/..", "http://example.org/"),
        ("http://example.org\\a\\b", "http://example.org/a/b"),
        ("http://example.org/%7ejoe/%c3%bc%2f", "http://example.org/~joe/%C3%BC%2F"),
        ("http://example.org/ü b", "http://example.org/%C3%BC%20b"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/%zz", "http://example.org/%25zz"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
        ("http://２１３0706433/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://017700000001/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/"),
        ("  http://example.org/a\n b ", "http://example.org/a%20b"),
        ("http://example.org/a\t/b", "http://example.org/a/b"),
        ("http://example.org/?b=2&a=1&b=3", "http://example.org/?b=2&a=1&b=3"),
        ("http://example.org/?q=a+b%20c%2B", "http://example.org/?q=a+b%20c%2B"),
        ("http://example.org/?a&b=", "http://example.org/?a&b="),
        ("http://example.org/?a[]=1&a%5b%5d=2", "http://example.org/?a%5B%5D=1&a%5B%5D=2"),
        ("http://example.org/?redirect=http://other/?x", "http://example.org/?redirect=http://other/?x"),
        ("http://example.org/p?utm_source=x&id=1&UTM_Medium=y&gclid=z", "http://example.org/p?id=1"),
        ("http://example.org/p?fbclid=x&mc_eid=y", "http://example.org/p"),
        ("http://example.org/p?id=1&ref=x&sid=7&source=a", "http://example.org/p?id=1&ref=x&sid=7&source=a"),
        ("http://example.org/p?PHPSESSID=abc&id=1", "http://example.org/p?id=1"),
        ("http://example.org/p;jsessionid=ABC123?id=1", "http://example.org/p?id=1"),
        ("http://example.org/p;v=1/q", "http://example.org/p;v=1/q"),
        ("http://example.org/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "http://example.org/p.aspx"),
        ("http://example.org//a//b/", "http://example.org//a//b/"),
    ],
)
def test_one_spelling(url: str, expected: str) -> None:
    assert normalize_url(url) == expected
    assert normalize_url(expected) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/a",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:",
        "http:/example.org",
        "http://",
        "http:///a",
        "http://:80/",
        "http://exa mple.org/",
        "http://example..org/",
        "http://example.org:99999/",
        "http://example.org:８０/",
        "http://example.org:http/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[nonsense]/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://" + "a" * 64 + ".org/",
        "http://exa%00mple.org/",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normalize_url(url)


urls = st.builds(
    "{}://{}{}{}{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["example.org", "EXAMPLE.org.", "127.0.0.1", "[::1]", "bücher.example", "a_b.example"]),
    st.sampled_from(["", ":80", ":443", ":8080", ":"]),
    st.text(max_size=30).map(lambda text: "/" + text),
    st.one_of(st.just(""), st.text(max_size=30).map(lambda text: "?" + text)),
    st.one_of(st.just(""), st.text(max_size=10).map(lambda text: "#" + text)),
)
pieces = st.lists(
    st.sampled_from(
        [
            "/", "//", ".", "..", "%2e", "%2E", "%2f", "%", "%2", "%25", "%7E", "a", "B", "ü", "\ud800", "\\", " ", ";",
            ";jsessionid=1", "/(S(aaaaaaaaaaaaaaaaaaaa))", "?", "&", "=", "utm_a=1", "&gclid=2", "#", "x=1", "+", "\t",
        ]
    ),
    max_size=14,
).map(lambda parts: "http://example.org/" + "".join(parts))  # fmt: skip


@given(st.one_of(urls, pieces))
@example("http://example.org/.;jsessionid=1/a")
@example("http://example.org/?utm_a=1&")
def test_normalising_is_idempotent_and_keeps_the_host(url: str) -> None:
    normal = normalize_url(url)
    assert normalize_url(normal) == normal
    assert normal.isascii() and "#" not in normal and not any(char <= " " for char in normal)
    expected = {"bücher.example": "xn--bcher-kva.example"}
    host = (urlsplit(url.translate({9: None, 10: None, 13: None})).hostname or "").removesuffix(".")
    assert urlsplit(normal).hostname == expected.get(host, host)
    assert urlsplit(normal).scheme == url.partition(":")[0].lower()
    assert "/../" not in path_of(normal) and "/./" not in path_of(normal)


@given(st.one_of(urls, pieces))
def test_what_is_sent_is_what_was_normalised(url: str) -> None:
    normal = normalize_url(url)
    sent = httpx.URL(normal)
    assert f"{sent.scheme}://{sent.netloc.decode()}{sent.raw_path.decode()}" == normal


pairs = st.lists(st.tuples(st.sampled_from(["a", "b", "C", "utm_x", "gclid", "ü"]), st.text(max_size=8)), max_size=8)


@given(pairs)
def test_only_tracking_parameters_go(parameters: list[tuple[str, str]]) -> None:
    parameters = [(name, value.encode("utf-8", "replace").decode()) for name, value in parameters]
    normal = normalize_url("http://example.org/?" + urlencode(parameters))
    kept = [(name, value) for name, value in parameters if name not in ("utm_x", "gclid")]
    assert parse_qsl(query_of(normal), keep_blank_values=True) == kept


@given(st.text())
def test_any_text_is_normalised_or_refused(text: str) -> None:
    for url in (text, "http://" + text, "http://example.org" + text):
        try:
            normal = normalize_url(url)
        except ValueError:
            continue
        assert normalize_url(normal) == normal


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("b", "http://example.org/a/b"),
        ("/b?x=1#y", "http://example.org/b?x=1"),
        ("?page=2", "http://example.org/a/?page=2"),
        ("//other.example/b", "http://other.example/b"),
        ("HTTPS://Other.example", "https://other.example/"),
        ("mailto:a@example.org", None),
        ("javascript:void(0)", None),
        ("tel:+49", None),
        ("http://[", None),
    ],
)
def test_links_are_resolved(href: str, expected: str | None) -> None:
    assert join_url("http://example.org/a/", href) == expected


def test_credentials_are_taken_out() -> None:
    assert split_credentials("https://me:p%40ss@example.org/a@b") == ("https://example.org/a@b", ("me", "p@ss"))
    assert split_credentials("https://me@example.org") == ("https://example.org", ("me", ""))
    assert split_credentials("https://example.org/a@b") == ("https://example.org/a@b", None)
    assert split_credentials("https://example.org?a@b") == ("https://example.org?a@b", None)


def test_parts() -> None:
    url = "http://[::1]:8080/a/b.HTML?x=/y"
    assert (origin(url), host_and_port(url), host_of(url)) == ("http://[::1]:8080", "[::1]:8080", "[::1]")
    assert (path_of(url), query_of(url), extension_of(url)) == ("/a/b.HTML", "x=/y", "html")
    assert page_key("http://www.example.org/a/index.html?x") == page_key("https://example.org/a/") == "example.org/a"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", True),
        ("/a.html", True),
        ("/a.php?img=b.png", True),
        ("/v1.2", True),
        ("/john.smith", True),
        ("/wiki/Node.js", True),
        ("/static/node.min.js", False),
        ("/logo.PNG", False),
        ("/style.css?v=1", False),
        ("/paper.pdf", True),
        ("/feed.xml", False),
        ("/.hidden", True),
    ],
)
def test_assets_do_not_look_like_pages(path: str, expected: bool) -> None:
    assert looks_like_page("http://example.org" + path) is expected


def test_scope() -> None:
    hosts = ("docs.other.example", "files.example:8080", "*.wide.example")
    scope = Scope("https://www.example.org/", same_host=True, allowed_hosts=hosts, pattern=None)
    for url in (
        "http://example.org/",
        "https://www.example.org/a",
        "https://docs.other.example/",
        "http://docs.other.example:81/",
        "http://files.example:8080/",
        "http://a.b.wide.example/",
    ):
        assert scope.allows_host(url), url
    for url in (
        "https://sub.example.org/",
        "https://example.org:8443/",
        "http://files.example/",
        "http://wide.example/",
        "http://notwide.example/",
        "http://example.org.evil.example/",
    ):
        assert not scope.allows_host(url), url
    scope.move_to("https://new.example/")
    assert scope.allows_host("http://www.new.example/") and not scope.allows_host("https://example.org/")
    everywhere = Scope("https://example.org/", same_host=False, allowed_hosts=(), pattern=None)
    assert everywhere.allows_host("http://anything.example/")


def test_hosts_of_countless_accents_are_refused_at_once() -> None:
    url = "http://a" + "\u0327\u0301" * 30_000 + ".example/"
    begun = time.process_time()
    assert join_url("https://example.org/", url) is None
    with pytest.raises(ValueError, match="invalid host name"):
        normalize_url(url)
    assert time.process_time() - begun < 1
