"""Descriptions of interfaces are sections of operations and schemas; whatever is odd in them is still text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from tests.dataloader.filetools import convert

MILLS = """\
openapi: 3.0.3
info:
  title: Mills
  version: "1.10"
  description: |
    All about mills.
    # Keys
    Ask Ada.
servers:
  - url: https://mills.example/v1
paths:
  /mills/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    delete:
      operationId: removeMill
      summary: Pulls down a mill.
      responses:
        '204':
          description: It is gone
        '404':
          $ref: '#/components/responses/Missing'
    put:
      operationId: setMill
      summary: Repairs a mill
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/Mill'
      responses:
        '200':
          description: It turns
          content:
            application/json:
              schema:
                type: array
                items:
                  $ref: '#/components/schemas/Mill'
      security:
        - keeper: [write]
  /mills:
    get:
      operationId: listMills
      summary: Lists mills
      parameters:
        - name: kind
          in: query
          description: What drives it. Nothing for all.
          schema:
            type: string
            enum: [wind, water]
            default: wind
      responses:
        '200':
          description: All of them
components:
  parameters:
    Id:
      name: id
      in: path
      required: true
      description: Number of the mill
      schema:
        type: integer
  responses:
    Missing:
      description: No such mill
  schemas:
    Mill:
      required: [name]
      properties:
        name:
          type: string
          description: What it is called
        pond:
          type: object
          properties:
            level:
              type: number
              description: How high the water is
        next:
          $ref: '#/components/schemas/Mill'
"""
SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "Mills"},
    "host": "mills.example",
    "paths": {
        "/mills": {
            "post": {
                "operationId": "build",
                "parameters": [
                    {"name": "mill", "in": "body", "schema": {"$ref": "#/definitions/Mill"}},
                    {"name": "at", "in": "query", "type": "string", "format": "date"},
                ],
                "responses": {"201": {"description": "Built", "schema": {"$ref": "#/definitions/Mill"}}},
            }
        }
    },
    "definitions": {"Mill": {"type": "object", "properties": {"name": {"type": "string"}}}},
}


def section(content: str, heading: str) -> str:
    """Return the section with a heading."""
    return content.partition(f"## {heading}")[2].partition("\n## ")[0]


def test_operations_say_what_they_are() -> None:
    document = convert("mills.yaml", MILLS)
    assert (document.title, document.format) == ("Mills", "markdown")
    removing = section(document.content, "DELETE /mills/{id} (removeMill): Pulls down a mill\n")
    assert "Pulls down a mill: DELETE /mills/{id} (removeMill)" in removing
    assert "Parameters of removeMill:\n\n- id (path; integer; required): Number of the mill" in removing
    assert "- 204: It is gone\n- 404: No such mill" in removing
    setting = section(document.content, "PUT /mills/{id} (setMill): Repairs a mill\n")
    assert "Request body of setMill (application/json, required): Mill" in setting
    assert "- 200 (returns array of Mill (application/json)): It turns" in setting
    assert "Security (authentication) of setMill: keeper (write)" in setting
    assert "- kind (query; string; one of: wind, water; default: wind): What drives it." in document.content
    assert "version: 1.10\n" in document.content
    assert "### Keys" not in document.content.partition("Ask Ada.")[2]


def test_schemas_list_their_fields() -> None:
    fields = section(convert("mills.yaml", MILLS).content, "Schema Mill")
    assert "- name (string; required): What it is called\n" in fields
    assert "- pond.level (number): How high the water is\n- next (Mill)" in fields


def test_older_descriptions() -> None:
    content = convert("mills.json", json.dumps(SWAGGER)).content
    building = section(content, "POST /mills (build)\n")
    assert "- mill (body; Mill)\n- at (query; string date)" in building
    assert "- 201 (returns Mill): Built" in building
    assert "host: mills.example" in content
    assert "- name (string)" in section(content, "Schema Mill")


async def test_operations_are_found_and_counted(tmp_path: Path) -> None:
    (tmp_path / "mills.yaml").write_text(MILLS)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        hits = await kb.search("How do I pull down a mill?")
        assert hits[0].heading == "DELETE /mills/{id} (removeMill): Pulls down a mill"
        assert not hits[0].is_code
        counted = (await kb.ask("Which operations return 200?")).text
        assert "PUT /mills/{id}" in counted
        assert "2 of 3 records" in counted
        told = (await kb.ask("What parameters does listMills take?")).text
        assert "kind (query; string; one of: wind, water; default: wind)" in told


@pytest.mark.parametrize(
    "odd",
    [
        {"paths": {"/a": {"get": ["lostword"]}}},
        {"paths": {"/a": {"get": {"responses": ["lostword"], "parameters": "x", "tags": 5, "security": {"a": 1}}}}},
        {"paths": {"/a": {"get": {"requestBody": {"content": {"application/json": "lostword"}}}}}},
        {"paths": {"/a": "lostword"}},
        {"paths": {}, "components": {"schemas": {"S": {"properties": ["lostword"], "required": 1, "items": [1]}}}},
        {"paths": {}, "components": {"schemas": {"S": {"allOf": "lostword", "type": {"a": 1}}}}},
        {"paths": {}, "info": ["lostword"], "servers": 1, "tags": {"x": 1}},
        {"paths": {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/p"}], "x-more": {"y": "lostword"}}}},
         "components": {"parameters": {"p": {"$ref": "#/components/parameters/p"}}}},
    ],
)  # fmt: skip
def test_what_is_odd_is_text(odd: dict[str, Any]) -> None:
    document = convert("odd.json", json.dumps({"openapi": "3.0.0", **odd}))
    assert document.format == "markdown"
    assert "lostword" in document.content


def test_what_is_repeated_is_short() -> None:
    shared = {"name": "p", "in": "query", "description": "word " * 10_000}
    paths = {f"/{n}": {"get": {"parameters": [{"$ref": "#/components/parameters/p"}]}} for n in range(1_000)}
    data = {"openapi": "3.0.0", "paths": paths, "components": {"parameters": {"p": shared}}}
    assert len(convert("big.json", json.dumps(data)).content) < 500_000


@pytest.mark.parametrize(
    "text",
    [
        "openapi: 3.0.0\npaths: {}\na: &a [x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a]\nc: [*b, *b]\n",
        "openapi: 3.0.0\npaths: &p\n  /a: *p\n",
        "openapi: 3.0.0\npaths: " + "[" * 50_000,
        "openapi: 3.0.0\npaths:\n  {{ all of them }}\n",
        "name: mill\nopenapi: 3.0.0\n",
    ],
)
def test_yaml_that_cannot_be_read_so_stays(text: str) -> None:
    document = convert("odd.yaml", text)
    assert (document.content, document.format) == (text, "code:yaml")


def test_other_data_stays() -> None:
    package = {"name": "mill", "dependencies": {"swagger": "2.0"}, "paths": {"a": "b"}}
    assert (
        convert("package.json", json.dumps(package)).content
        == "name: mill\ndependencies:\n  swagger: 2.0\npaths:\n  a: b"
    )
