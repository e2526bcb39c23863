"""Resources, symbols, tools, topics, concepts, and references between documents."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from core.rag.arguments import as_float, check_mapping, check_number, check_optional, check_text, one_line
from core.rag.dbhandler.checks import MAX_PATH_CHARS, merge_properties
from core.rag.dbhandler.documents.operations import DocumentOperations
from core.rag.dbhandler.knowledge.concepts import ConceptOperations, ConceptRow
from core.rag.dbhandler.knowledge.entities import FROM_CALLER
from core.rag.dbhandler.resources import resource_type
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.extraction.words import normalize_name
from core.rag.identity import concept_id, knowledge_key, resource_id, stable_id, standardize_resource_uri, topic_id
from core.rag.schema import EdgeType, Label
from core.rag.times import utc_now

#: Label of the nodes of a :class:`core.rag.KnowledgeGraph` that are concepts.
CONCEPT_LABEL = "concept"


class KnowledgeOperations(DocumentOperations, ConceptOperations):
    """Resources, symbols, tools, concepts and topics that callers add to documents."""

    async def create_resource(self, uri: str, type: str | None = None, description: str | None = None) -> str:  # noqa: A002
        """Create the resource with this URI, or update its type and description.

        Args:
            uri: Path or URL; standardized.
            type: ``web``, ``file``, ``database`` …; ``None``: derived from the URI.
            description: A description of it.

        Returns:
            Its id.

        Raises:
            InvalidInputError: on a URI that is not text, or blank.
        """
        if not isinstance(uri, str) or not uri.strip():
            raise InvalidInputError(f"The URI of a resource is a path or URL, not {uri!r}.")
        standard = standardize_resource_uri(uri)
        kind = type or resource_type(standard)
        return await self._merge(
            Label.RESOURCE,
            resource_id(self._namespace, standard),
            merge_properties({"type": kind, "description": description, "origin": FROM_CALLER}, uri=standard),
        )

    async def link_document_to_resource(self, document: str, resource: str, text: str | None = None) -> str:
        """Link a document to a resource that it refers to; the resource is created if missing.

        Args:
            document: Path, URL, name or id of the document.
            resource: URI or id of the resource.
            text: The text of the reference in the document.

        Returns:
            The id of the resource.

        Raises:
            NotFoundError: if there is no such document.
        """
        parent = await self._require(document)
        target = await self._existing(Label.RESOURCE, resource) or await self.create_resource(resource)
        await self._refer(parent["id"], Label.RESOURCE, target, text)
        return target

    async def create_url_link(self, document: str, url: str, text: str | None = None) -> str:
        """Link a document to a web address, a resource of type ``web`` that is created if missing.

        Args:
            document: Path, URL, name or id of the document.
            url: The address, ``http`` or ``https``; :meth:`link_document_to_resource` takes others, and files.
            text: The text of the link.

        Returns:
            The id of the resource.

        Raises:
            NotFoundError: if there is no such document.
            InvalidInputError: if it is no web address.
        """
        if not isinstance(url, str) or resource_type(standardize_resource_uri(url)) != "web":
            raise InvalidInputError(
                f"{str(url)[:200]!r} is no web address (http://, https://); link_document_to_resource links others."
            )
        parent = await self._require(document)
        target = await self.create_resource(url, "web")
        await self._refer(parent["id"], Label.RESOURCE, target, text)
        return target

    async def create_document_reference(self, document: str, target: str, text: str | None = None) -> None:
        """Link a document to another one that it refers to.

        Args:
            document: Path, URL, name or id of the document that refers.
            target: Path, URL, name or id of the document that it refers to.
            text: The text of the reference.

        Raises:
            NotFoundError: if either does not exist.
        """
        a, b = await self._require(document), await self._require(target)
        await self._refer(a["id"], Label.DOCUMENT, b["id"], text)

    async def create_symbol(
        self, document: str, name: str, kind: str = "function", signature: str | None = None, line: int | None = None
    ) -> str:
        """Create a code symbol that is defined in a document.

        Args:
            document: Path, URL, name or id of the source file.
            name: Qualified name.
            kind: ``function``, ``class``, ``method`` …
            signature: As written.
            line: Line of the definition, from 1.

        Returns:
            Its id; the same name and kind in the same document is the same symbol.

        Raises:
            NotFoundError: if there is no such document.
            InvalidInputError: if the name or kind is empty or not text, or the line is below 1.
        """
        properties = merge_properties({"signature": signature}, name=name, kind=kind)
        if line is not None:
            properties["line"] = check_number("line", line, 1)
        parent = await self._require(document)
        identifier = stable_id(Label.SYMBOL, self._namespace, parent["id"], kind, name)
        await self._merge(Label.SYMBOL, identifier, properties)
        await self._write_one(
            "MATCH (s:Symbol {id: $symbol}) MATCH (d:Document {id: $document}) MERGE (s)-[:DEFINED_IN]->(d)",
            symbol=identifier,
            document=parent["id"],
        )
        return identifier

    async def create_tool(
        self, name: str, description: str | None = None, schema: Mapping[str, Any] | str | None = None
    ) -> str:
        """Create a tool of an agent, or update it.

        Args:
            name: Its name, unique in the namespace.
            description: What it does.
            schema: Its parameters, as a JSON schema, or the text of one.

        Returns:
            Its id.

        Raises:
            InvalidInputError: if the name is empty, or the schema is not a JSON object.
        """
        text = None if schema is None else _schema(schema)
        properties = merge_properties({"description": description, "schema": text}, name=name)
        return await self._merge(Label.TOOL, stable_id(Label.TOOL, self._namespace, name), properties)

    async def create_or_get_concept(self, name: str, description: str | None = None) -> str:
        """Return the concept with this name, created if missing; it is a node of the knowledge graph.

        Args:
            name: Its name, which is also the content of the node; the label of the node is ``concept``.
            description: What it means; ``None`` keeps the stored description.

        Returns:
            Its id in the graph database. :class:`core.rag.KnowledgeGraph` identifies it by the id of its content.
        """
        check_optional(description=description)
        key = knowledge_key(_name(name))
        stands, _ = await self.put_concepts([ConceptRow(key, CONCEPT_LABEL, _name(name))])
        identifier = concept_id(self._namespace, stands[key])
        if description is not None:
            await self._merge(Label.CONCEPT, identifier, {"description": encodable(description).replace("\0", "")})
        return identifier

    async def create_or_get_topic(self, name: str, description: str | None = None) -> str:
        """Return the topic with this name, creating it if missing.

        Args:
            name: Its name.
            description: What it covers; ``None`` keeps the stored description.

        Returns:
            Its id.
        """
        check_optional(description=description)
        text = None if description is None else encodable(description).replace("\0", "")
        properties = merge_properties({"description": text}, name=_name(name))
        properties["normalized_name"] = normalize_name(properties["name"])
        return await self._merge(Label.TOPIC, topic_id(self._namespace, _name(name)), properties)

    async def link_related_concepts(self, concept: str, other: str, weight: float = 1.0) -> None:
        """Link two related concepts; the link has no direction.

        Args:
            concept: Name or id of a concept; created if there is none of this name.
            other: Name or id of the other one, likewise.
            weight: Strength of the relation, above 0; replaces the stored one.

        Raises:
            InvalidInputError: if both are the same, or the weight is invalid.
        """
        a, b = await self._concept(concept), await self._concept(other)
        if a == b:
            raise InvalidInputError(
                f"{concept!r} and {other!r} are the same concept, which cannot be linked to itself."
            )
        await self.link_concepts([(a, b, positive(weight, "The weight"))])

    async def link_document_to_topic(self, document: str, topic: str) -> str:
        """Link a document to a topic that it is about.

        Args:
            document: Path, URL, name or id of the document.
            topic: Name or id of the topic; created if there is none of this name.

        Returns:
            The id of the topic.

        Raises:
            NotFoundError: if there is no such document.
        """
        parent = await self._require(document)
        target = await self._existing(Label.TOPIC, topic) or await self.create_or_get_topic(topic)
        await self._say(parent["id"], EdgeType.ABOUT, Label.TOPIC, target)
        return target

    async def link_document_explains_concept(self, document: str, concept: str) -> str:
        """Link a document to a concept that it explains.

        Args:
            document: Path, URL, name or id of the document.
            concept: Name or id of the concept; created if there is none of this name.

        Returns:
            The id of the concept.

        Raises:
            NotFoundError: if there is no such document.
        """
        parent = await self._require(document)
        target = await self._concept(concept)
        await self._say(parent["id"], EdgeType.EXPLAINS, Label.CONCEPT, target)
        return target

    async def _concept(self, concept: str) -> str:
        """Return the id of a concept, given its id or name; created if there is none of this name."""
        there = await self.concept_rows([check_text("A concept", concept)]) if concept else {}
        return next(iter(there), None) or await self.create_or_get_concept(concept)

    async def _existing(self, label: Label, given: str) -> str | None:
        """Return what was given if it is the id of a node of the namespace."""
        rows = await self.read(
            f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) WHERE n.namespace = $namespace RETURN n.id AS id",
            ids=[given],
        )
        return rows[0]["id"] if rows else None

    async def _merge(self, label: Label, identifier: str, properties: Mapping[str, Any]) -> str:
        await self._write_one(
            f"MERGE (n:{label} {{id: $id}}) ON CREATE SET n.namespace = $namespace, n.created_at = $now "
            "SET n += $props, n.updated_at = $now",
            id=identifier,
            props=dict(properties),
            now=utc_now(),
        )
        return identifier

    async def _refer(self, document: str, label: Label, target: str, text: str | None) -> None:
        check_optional(text=text)
        stated = "SET r.origin = $origin, r.text = $text"
        await self._connect(document, EdgeType.REFERENCES, label, target, stated, text=text or "")

    async def _say(self, document: str, edge: EdgeType, label: Label, target: str) -> None:
        stated = "ON CREATE SET r.origin = $origin, r.created_at = $now"
        await self._connect(document, edge, label, target, stated, now=utc_now())

    async def _connect(
        self, document: str, edge: EdgeType, label: Label, target: str, stated: str, **parameters: str
    ) -> None:
        """Connect a document with a node; ``stated`` is the clause that sets the properties of the edge ``r``."""
        if not await self._write_one(
            f"MATCH (a:Document {{id: $document}}) MATCH (b:{label} {{id: $target}}) MERGE (a)-[r:{edge}]->(b) "
            f"{stated} RETURN b.id AS id",
            document=document,
            target=target,
            origin=FROM_CALLER,
            **parameters,
        ):
            raise NotFoundError(f"{label} {target!r} was removed in the meantime.")


def positive(value: float, what: str) -> float:
    """Return a number, checking that it is finite and above zero.

    Raises:
        InvalidInputError: if it is not.
    """
    number = as_float(value)
    if not 0 < number < math.inf:
        raise InvalidInputError(f"{what} is {repr(value)[:100]}, but has to be a number above 0.")
    return number


def _schema(schema: Mapping[str, Any] | str) -> str:
    if isinstance(schema, str):
        try:
            written = json.loads(schema)
        except (ValueError, RecursionError):
            written = None
        if not isinstance(written, dict):
            raise InvalidInputError(f"schema must be a JSON object, not {schema[:100]!r}.")
        return schema
    try:
        return json.dumps(dict(check_mapping("schema", schema)), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"The schema cannot be written as JSON: {str(error).removesuffix('.')}.") from error


def _name(name: str) -> str:
    """Return a name as one line.

    Raises:
        InvalidInputError: if it is blank, too long, or not text.
    """
    return one_line(name, "A name", MAX_PATH_CHARS)
