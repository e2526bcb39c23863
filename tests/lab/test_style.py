"""The style for Memgraph Lab knows the whole schema, and nothing that is not in it."""

from __future__ import annotations

import re
from pathlib import Path

from core.rag.schema import EdgeType, Label

STYLE = (Path(__file__).parents[2] / "docs" / "memgraph-lab" / "style.gss").read_text(encoding="utf-8")

#: What is used of Graph Style Script, from Memgraph's documentation of it.
FUNCTIONS = {"AsText", "Darker", "Equals", "Format", "HasLabel", "Lighter", "Property", "Type"}
COMMON = {"color", "color-hover", "color-selected", "font-size", "label"}
PROPERTIES = {
    "NodeStyle": COMMON | {"size", "border-width", "border-color"},
    "EdgeStyle": COMMON | {"width", "arrow-size"},
}
#: Captions: the property of each label that people know it by.
CAPTIONS = {
    Label.SOURCE: "name",
    Label.DOCUMENT: "title",
    Label.CHUNK: "heading",
    Label.VECTOR_STORE: "model",
    Label.RESOURCE: "uri",
    Label.SYMBOL: "name",
    Label.TOOL: "name",
    Label.TOPIC: "name",
    Label.CONCEPT: "name",
    Label.ENTITY: "name",
    Label.DISTINCTION: "entity",
    Label.RECORD: "collection",
    Label.CONVERSATION: "title",
    Label.INTERACTION: "content",
    Label.USER: "external_id",
    Label.SCHEMA_VERSION: "version",
}

_BLOCK = re.compile(r"^@(NodeStyle|EdgeStyle)(?: ([^{\n]+))? \{\n((?:  .+\n)+)\}$", re.MULTILINE)


def blocks() -> list[tuple[str, str, dict[str, str]]]:
    """Directive, condition and properties of each block; everything in the file belongs to one, or is a comment."""
    rest = re.sub(r"^//.*$", "", _BLOCK.sub("", STYLE), flags=re.MULTILINE)
    assert rest.strip() == ""
    return [
        (directive, condition, dict(line.strip().split(": ", 1) for line in body.splitlines()))
        for directive, condition, body in _BLOCK.findall(STYLE)
    ]


def test_every_label_and_edge_type_has_a_style() -> None:
    conditions = [(directive, condition) for directive, condition, _ in blocks() if condition]
    assert sorted(conditions) == sorted(
        [
            *(("NodeStyle", f'HasLabel(node, "{label}")') for label in Label),
            *(("EdgeStyle", f'Equals(Type(edge), "{edge}")') for edge in EdgeType),
        ]
    )


def test_labels_are_told_apart_by_colour_and_show_what_they_are_called() -> None:
    found = {
        re.findall(r'"(\w+)"', condition)[0]: body for kind, condition, body in blocks() if "HasLabel" in condition
    }
    captions = {label: re.findall(r'Property\(node, "(\w+)"\)', found[label]["label"]) for label in found}
    assert {label: names[0] for label, names in captions.items() if names} == CAPTIONS
    shared = {Label.VECTOR_STORE, Label.SCHEMA_VERSION}
    colours = [body["color"] for label, body in found.items() if label not in shared]
    assert len(set(colours)) == len(colours)


def test_nothing_but_the_language_is_used() -> None:
    for directive, condition, body in blocks():
        assert set(body) <= PROPERTIES[directive]
        for expression in (condition, *body.values()):
            assert set(re.findall(r"([A-Za-z]+)\(", expression)) <= FUNCTIONS
            assert expression.count("(") == expression.count(")")
        assert all(
            re.fullmatch(r"#[0-9a-f]{6}|(Lighter|Darker)\(#[0-9a-f]{6}\)", value)
            for name, value in body.items()
            if "color" in name
        )
