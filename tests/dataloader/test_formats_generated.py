"""Files that programs made for programs are reported, not read."""

from __future__ import annotations

import json

import pytest
from filetools import convert, reason

STATEMENT = "function turn(wheel){return wheel.speed*2}var mill={wheels:[1,2,3],open:true};"
MINIFIED = "/*! mill.js 2.1 */\n" + STATEMENT * 40
RULES = ".mill{color:#333;margin:0 auto}.wheel:hover{opacity:.8}" * 60
MAP = json.dumps({"version": 3, "sources": ["mill.ts"], "sourcesContent": ["let a"], "names": [], "mappings": "AAAA"})


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("mill.min.js", MINIFIED, "it is minified code or data (javascript)"),
        ("mill.css", RULES, "it is minified code or data (css)"),
        ("mill.js.map", MAP, "it is a source map"),
        ("searchindex.json", '[{"u": "/mill", "t": "The mill turns."}]', "it is the search index of web pages"),
        ("search/search_index.json", '{"docs": [{"location": "mill/"}]}', "it is the search index of web pages"),
    ],
)
def test_what_lies_beside_built_pages_is_named(name: str, data: str, why: str) -> None:
    assert reason(name, data).startswith(why)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mill.js", (STATEMENT + "\n") * 40),
        ("bookmark.js", STATEMENT * 10),
        ("mill.js", (STATEMENT + "\n") * 40 + 'const image = "' + "QUJD" * 500 + '";\n'),
        ("mill.css", ".mill {\n  color: #333;\n}\n" * 60 + f"@import url(data:text/css;base64,{'QUJD' * 700});\n"),
        ("mill.py", f"DATA = '{'x' * 5000}'\n"),
        ("places.map", '{"mills": ["Ash", "Dale"]}'),
        ("mills-search-index.json", '{"mappings": {"properties": {"url": {"type": "keyword"}}}}'),
        ("research-index.json", '{"mills": ["Ash", "Dale"]}'),
    ],
)
def test_what_somebody_wrote_is_read(name: str, data: str) -> None:
    assert convert(name, data).content
