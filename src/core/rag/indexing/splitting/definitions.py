"""Finds the definitions in a syntax tree, and the heading that each of them gives to the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.rag.headings import heading_path
from core.rag.indexing.splitting.grammars import Grammar
from core.rag.indexing.splitting.sections import MAX_NESTING, Mark, shortened
from core.rag.indexing.splitting.syntax import VALUES, definition_name, is_default_export, is_function_value, node_text
from core.rag.indexing.splitting.tokens import TokenCounter

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# Definitions that contain little but definitions, which are searched even if they fit into a chunk.
_OPENED = frozenset({"namespace", "module", "mod"})
# Nodes around a definition and what belongs to it (decorators, `export`, template parameters).
_AROUND = frozenset({"decorated_definition", "export_statement", "template_declaration", "ambient_declaration"})
_BODIES = frozenset({"block", "declaration_list", "class_body", "statement_block", "body_statement", "enum_body",
                     "interface_body", "object_type", "field_declaration_list", "enum_body_declarations",
                     "annotation_type_body", "enum_declaration_list"})  # fmt: skip
_BEFORE = frozenset({"comment", "line_comment", "block_comment", "attribute_item", "decorator", "attribute_list"})
_STATEMENTS = frozenset({"expression_statement", "lexical_declaration", "variable_declaration"})
_MODULES = frozenset({"function_expression", "arrow_function"})
_AROUND_MODULES = _STATEMENTS | {"call_expression", "member_expression", "arguments", "parenthesized_expression",
                                 "unary_expression", "assignment_expression", "variable_declarator",
                                 "sequence_expression"}  # fmt: skip


class DefinitionFinder:
    """Finds the definitions in the syntax tree of one text."""

    def __init__(self, text: str, source: bytes, grammar: Grammar, counter: TokenCounter, size: int) -> None:
        self._text = text
        self._source = source
        self._grammar = grammar
        self._counter = counter
        self._size = size
        self._offsets = _Offsets(text, source)

    def marks(self, tree: Tree) -> Iterator[Mark]:
        """Yield the positions where headings begin to apply, ascending, with the headings."""
        yield from self._inside(tree.root_node, (), 0)

    def _inside(self, parent: Node, path: tuple[str, ...], depth: int, opened: int | None = None) -> Iterator[Mark]:
        """Yield the marks in a node; its first part begins where it was opened (``else:``), if that is passed."""
        waiting: Node | None = None  # the first of the comments and attributes directly above
        previous: Node | None = None
        row = -1  # the row on which the last node that is neither ended
        named = True  # whether the text here is already under the heading of `path`
        opening = opened  # the same for the first body in it
        for node in parent.children:
            if node.type in _BEFORE:
                if node.start_point[0] == row:
                    continue
                if waiting is None or (previous is not None and node.start_point[0] > previous.end_point[0] + 1):
                    waiting = node
                previous = node
                continue
            adjacent = previous is not None and node.start_point[0] <= previous.end_point[0] + 1
            begin = waiting if waiting is not None and adjacent else node
            waiting, previous, row = None, None, node.end_point[0]
            definition = self._definition(node)
            if definition is not None:
                label = self._label(definition)
                inner = (*path, label)
                start = self._line_start(begin) if opened is None else opened
                yield start, heading_path(inner)
                body = self._body(definition)
                if (
                    body is not None
                    and depth < MAX_NESTING
                    and (
                        self._grammar.words.get(definition.type) in _OPENED
                        or not self._counter.fits(self._text[start : self._end(node)], self._size)
                    )
                ):
                    yield from self._inside(body, inner, depth + 1)
                named = False
            elif depth < MAX_NESTING and (searched := self._searched(node)) is not None:
                start = self._line_start(begin)
                opens: int | None = start
                if node.type in _BODIES:
                    opens, opening = opening, None
                marks = list(self._inside(searched, path, depth + 1, opens))
                if not named and not (marks and marks[0][0] == start):
                    yield start, heading_path(path)
                    named = True
                yield from marks
                named = named and not marks
            elif not named and node.is_named:
                yield self._line_start(begin), heading_path(path)
                named = True
            if node.is_named:
                opened = None

    def _definition(self, node: Node) -> Node | None:
        """Return the definition that a node is or wraps."""
        if not node.is_named:
            return None  # Ruby: the word ``class``
        for _ in range(3):
            if node.type in self._grammar.words:
                if node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
                    return None  # C: a mention of a struct, not its definition
                if self._grammar.words[node.type] in _OPENED and self._body(node) is None:
                    return None  # PHP: `namespace x;`
                return node if node.type not in VALUES or is_function_value(node) else None
            if node.type == "type_declaration":  # Go
                return node.named_children[0] if node.named_children and not _is_grouped(node) else None
            if node.type == "type_definition":  # C: typedef struct {…} name;
                kind = node.child_by_field_name("type")
                return node if kind is not None and kind.child_by_field_name("body") is not None else None
            if node.type in {"lexical_declaration", "variable_declaration"}:
                return node if self._function_value(node) is not None else None
            if node.type not in _AROUND and node.type not in {"expression_statement", "declaration"}:
                return None
            inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
            if inner is None and is_default_export(node.child_by_field_name("value")):
                return node.child_by_field_name("value")
            if inner is None:
                inner = next((child for child in node.children if child.type in self._grammar.words), None)
            if inner is None:
                return None
            node = inner
        return None

    def _function_value(self, node: Node) -> Node | None:
        """Return the declarator of ``const name = () => …`` in JavaScript."""
        return next((child for child in node.named_children if is_function_value(child)), None)

    def _searched(self, node: Node) -> Node | None:
        """Return the part that may contain definitions of a node that is none itself."""
        if node.type in self._grammar.wrappers or node.type in _BODIES:
            return node
        module = self._module(node) if node.type in _STATEMENTS else None
        if module is None or self._counter.fits(self._text[self._line_start(node) : self._end(node)], self._size):
            return None
        return module

    def _module(self, node: Node) -> Node | None:
        """Return the body of the function around a JavaScript module.

        This is the largest of the functions that a statement calls or passes to what it calls: ``(function () {…})()``,
        ``define([…], function () {…})``, ``module.exports = (() => {…})()``.
        """
        bodies: list[Node] = []
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            body = inner.child_by_field_name("body") if inner.type in _MODULES else None
            if body is not None and body.type in _BODIES:
                bodies.append(body)
            elif inner.type in _AROUND_MODULES:
                waiting += inner.named_children
        return max(bodies, key=lambda body: body.end_byte - body.start_byte, default=None)

    def _body(self, node: Node) -> Node | None:
        body = node.child_by_field_name("body")
        if body is not None:
            return body
        return next((child for child in node.children if child.type in _BODIES), None)

    def _label(self, node: Node) -> str:
        word = self._grammar.words.get(node.type, "")
        name = definition_name(node)
        if node.type == "impl_item":
            trait = node.child_by_field_name("trait")
            if name is not None and trait is not None:
                return shortened(f"impl {self._words(trait)} for {self._words(name)}")
        elif is_default_export(node):
            return f"{node.type if node.type == 'class' else 'function'} {self._words(name) if name else 'default'}"
        elif node.type in {"lexical_declaration", "variable_declaration"}:
            word = self._words(node.children[0])
            declarator = self._function_value(node)
            name = declarator.child_by_field_name("name") if declarator is not None else None
        elif node.type == "type_definition":
            word = "typedef"
        receiver = node.child_by_field_name("receiver")  # Go
        said = self._words(name) if name is not None else ""
        if receiver is not None:
            said = f"{self._words(receiver)} {said}"
        return shortened(f"{word} {said}".strip())

    def _words(self, node: Node) -> str:
        return node_text(self._source, node)

    def _end(self, node: Node) -> int:
        return self._offsets.character(node.end_byte)

    def _line_start(self, node: Node) -> int:
        """Return where the line of a node begins if the node is first on it, else where the node begins."""
        place = self._offsets.character(node.start_byte)
        line = self._text.rfind("\n", 0, place) + 1
        return line if not self._text[line:place].strip().strip(";") else place  # JavaScript: ;(function () {


class _Offsets:
    """Converts byte offsets to character offsets."""

    def __init__(self, text: str, source: bytes) -> None:
        self._source = source
        self._same = len(text) == len(source)
        self._bytes = [0]
        self._characters = [0]

    def character(self, byte: int) -> int:
        """Return the position of the character that begins at a byte; fast if successive calls are near each other."""
        if self._same:
            return byte
        index = bisect_right(self._bytes, byte) - 1
        place = self._characters[index] + len(self._source[self._bytes[index] : byte].decode(errors="ignore"))
        if byte > self._bytes[-1]:
            self._bytes.append(byte)
            self._characters.append(place)
        return place


def _is_grouped(node: Node) -> bool:
    """Return whether a node of Go is ``type (…)``."""
    return any(child.type == "(" for child in node.children)
