"""Pictures: what a browser, an XML parser and a Mermaid parser make of them, whatever names contain."""

from __future__ import annotations

import cmath
import io
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html import escape, unescape
from itertools import combinations
from pathlib import Path

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.graph.drawing.graphml import to_graphml
from core.rag.graph.drawing.html import to_html
from core.rag.graph.drawing.mermaid import to_mermaid
from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import GraphEdge, GraphNode, Piece

HOSTILE = [
    '"; MATCH (n) DETACH DELETE n //',
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "a' onmouseover='x",
    "$title ${data}",
    "```end```",
    "subgraph x",
    "direction  TB",
    "]]> & <!-- --> %% #quot;",
    "emoji 🙂🙃",
    "\u202egnp.exe\u2028\x00\x07",
    "中文 العربية Ünï",
    "long " * 2_000,
    "\ud800",
    "ﬂ°°34¶ß",
]
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))


def star(names: list[str]) -> Piece:
    """A node in the middle, and edges to all others that say their names."""
    nodes = [GraphNode(f"id-{number}", name, "Entity", name[:30], min(number, 1)) for number, name in enumerate(names)]
    edges = [GraphEdge(nodes[0].id, node.id, node.name, f"l{node.id}", node.name) for node in nodes[1:]]
    return Piece(nodes[0], nodes[1:], [*edges, *(GraphEdge(n.id, "id-0", "RELATED_TO") for n in nodes[1:2])])


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_graphml_reads_back_as_it_was(names: list[str]) -> None:
    piece = star(names)
    graph = networkx.read_graphml(io.BytesIO(to_graphml(piece).encode()), force_multigraph=True)
    assert {node: data.get("name", "") for node, data in graph.nodes(data=True)} == {
        node.id: printable(node.name) for node in (piece.start, *piece.nodes)
    }
    assert sorted((a, b, data.get("type", "")) for a, b, data in graph.edges(data=True)) == sorted(
        (edge.source, edge.target, printable(edge.type)) for edge in piece.edges
    )


_MERMAID_LINE = re.compile(
    r"""flowchart\ LR
    |\ {4}n\d+\["TEXT"\]
    |\ {4}n\d+\ (?:---|-->\|"TEXT"\|)\ n\d+
    |\ {4}style\ n\d+\ stroke-width:3px""".replace("TEXT", r"(?:(?:[^\Wﬂß]|\ |\#\d+;)+|\?)"),
    re.VERBOSE,
)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_mermaid_holds_nothing_but_letters_digits_and_codes(names: list[str]) -> None:
    piece = star(names)
    lines = to_mermaid(piece).splitlines()
    assert lines[0] == "flowchart LR"
    for line in lines:
        assert _MERMAID_LINE.fullmatch(line), line
        assert not re.search(r"direction\s+(TB|BT|RL|LR)", line), "Mermaid obeys it even between quotes"
    labels = [
        re.sub(r"#(\d+);", lambda m: chr(int(m[1])), line[line.index('["') + 2 : -2]) for line in lines if "[" in line
    ]
    assert labels == [cut(printable(name)) or "?" for name in names]


def test_mermaid_gets_no_diagram_that_is_too_large_for_it() -> None:
    start, *nodes = [GraphNode(str(number), "x" * 90, "Entity") for number in range(600)]
    dense = Piece(start, nodes[:59], [GraphEdge(a.id, b.id, "knows") for a, b in combinations((start, *nodes[:59]), 2)])
    lines = to_mermaid(dense).splitlines()
    assert (sum('["' in line for line in lines), sum("-->" in line for line in lines)) == (32, 32 * 31 // 2)
    long = to_mermaid(Piece(start, nodes, []))
    assert 49_000 < len(long) <= 50_000


def cut(text: str) -> str:
    return text if len(text) <= 100 else text[:99].rstrip() + "…"


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_a_page_shows_names_as_text_and_names_no_other_place(names: list[str]) -> None:
    page = to_html(star(names))
    picture = page[page.index("<svg") : page.index("</svg>") + 6]
    tree = ElementTree.fromstring(picture)  # well-formed: no name has opened or closed anything
    titles = [element.text or "" for element in tree.iter("title")]
    assert [text for text in titles if "(" in text][-len(names) :] == [
        f"{printable(name)} ({printable(name[:30]) or 'Entity'})" for name in names
    ]
    assert page.count("<script") == 2
    assert {element.tag for element in tree.iter()} <= {
        *("svg", "defs", "marker", "path", "g", "title", "circle", "text", "line")
    }
    assert not {name for element in tree.iter() for name in element.attrib if re.search("href|src|^on|style", name)}
    assert not re.search(r"(?:src|href)=|@import|https?://", page[: page.index("<svg")].replace(shown(names[0]), ""))
    assert unescape(page[page.index("<title>") + 7 : page.index("</title>")]) == printable(names[0])


def shown(name: str) -> str:
    return escape(printable(name))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the names that are worst."""
    file = tmp_path_factory.mktemp("picture") / "graph.html"
    file.write_text(to_html(star(["Start here", *HOSTILE])), encoding="utf-8")
    return file


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here (apt install chromium)")
@pytest.mark.parametrize("chosen", ["", "id-1", "id-3"])
def test_a_browser_draws_the_page_and_runs_nothing_but_its_script(page: Path, tmp_path: Path, chosen: str) -> None:
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path}",
            "--virtual-time-budget=2000",
            "--dump-dom",
            f"{page.as_uri()}#{chosen}",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    dom = done.stdout
    assert f'data-ready="{len(HOSTILE) + 1}"' in dom, done.stderr
    assert "<title>Start here</title>" in dom
    assert dom.count("<script") == 2
    panel = dom[dom.index('id="chosen"') :].split("</section>")[0]
    if not chosen:
        assert "<h2></h2>" in panel
    else:
        name = printable(HOSTILE[int(chosen[3:]) - 1])
        assert name in unescape(panel)
        assert dom.count('class="near"') >= 1
        assert "faded" in dom


async def test_a_picture_of_the_graph_has_the_edges_among_the_outermost_nodes(kb: KnowledgeBase) -> None:
    for a, b in [("Hub", "One"), ("Hub", "Two"), ("One", "Two")]:
        await kb.link(a, b, create=True)
    assert len((await kb.traverse("Hub", 1)).edges) == 2
    piece = await kb.traverse("Hub", 1, induced=True)
    assert len(piece.edges) == 3
    assert to_html(piece) == to_html(piece)
    assert to_html(piece).count("<line") == 3
    assert to_html(await kb.traverse("Hub", 1, edge_types=["SAME_AS"])).count('class="node') == 1


def test_in_a_large_drawing_the_nearer_nodes_are_further_in_and_none_covers_another() -> None:
    start = GraphNode("start", "Start", "Entity")
    near = [GraphNode(f"n{number}", f"Near {number}", "Entity", distance=1) for number in range(60)]
    far = [GraphNode(f"f{number}", f"Far {number}", "Entity", distance=2) for number in range(2_000)]
    edges = [GraphEdge(start.id, node.id, "knows") for node in near]
    edges += [GraphEdge(near[number % 60].id, node.id, "knows") for number, node in enumerate(far)]
    page = to_html(Piece(start, [*near, *far], edges))
    found = re.findall(r'data-id="(\w+)"[^>]*translate\((\S+) (\S+)\)', page)
    points = {key: complex(float(x), float(y)) for key, x, y in found}
    assert len(points) == 2_061
    middle = points["start"]
    assert max(abs(points[node.id] - middle) for node in near) < min(abs(points[node.id] - middle) for node in far)
    for number, node in enumerate(far):  # on the side of what it is reached through
        assert abs(cmath.phase((points[node.id] - middle) / (points[near[number % 60].id] - middle))) < 0.2
    cells = {(point.real // 10, point.imag // 10) for point in points.values()}
    assert len(cells) > 0.98 * len(points)


@pytest.mark.parametrize("size", [499, 500])
def test_a_drawing_of_any_size_is_made_without_scipy(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)  # which networkx wants for springs between 500 nodes
    names = [f"Mill {number}" for number in range(size)]
    assert f"Mill {size - 1}" in to_html(star(names))
