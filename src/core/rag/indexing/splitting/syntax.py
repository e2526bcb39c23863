"""Parses source code with tree-sitter, and tells what a node of the tree declares, names or exports."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from core.rag.indexing.splitting.grammars import GRAMMARS, Grammar, language_of, load_language

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_PARSE_SECONDS = 1.0
_PARSE_SECONDS_PER_BYTE = 1e-6
_READ = 1 << 16  # bytes given to the parser at once
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
# JavaScript: the fields of the functions that are named, by node type.
VALUES = {"variable_declarator": "value", "field_definition": "value", "public_field_definition": "value",
          "assignment_expression": "right", "pair": "value"}  # fmt: skip
# The fields of names, if not "name".
_NAMES = {"impl_item": "type", "field_definition": "property", "assignment_expression": "left", "pair": "key",
          "type_definition": "declarator"}  # fmt: skip
_DECLARED_NAMES = frozenset({"identifier", "field_identifier", "operator_name", "destructor_name"})


def parse(text: str, language: str) -> tuple[bytes, Grammar, Tree] | None:
    """Return the bytes of source code, its grammar and tree; ``None`` without a grammar, or if it takes too long.

    Recovering from errors can take quadratic time if a text is not in the language at all. Code that is takes less than
    a quarter of the time that is allowed.
    """
    grammar = GRAMMARS.get(language_of(language))
    known = load_language(grammar.module, grammar.function) if grammar else None
    if grammar is None or known is None:
        return None
    from tree_sitter import Parser

    whole = text.encode()
    source = whole if grammar.macros is None else grammar.macros.sub(_blanked, whole)
    end = time.thread_time() + _PARSE_SECONDS + _PARSE_SECONDS_PER_BYTE * len(source)
    try:
        tree = Parser(known).parse(
            lambda offset, _: source[offset : offset + _READ],
            progress_callback=lambda _offset, _has_error: time.thread_time() > end,
        )
    except ValueError:  # stopped
        return None
    return whole, grammar, tree


def _blanked(macro: re.Match[bytes]) -> bytes:
    """Return the match with its groups replaced by blanks."""
    start, end = next(macro.span(group) for group in range(1, macro.re.groups + 1) if macro[group] is not None)
    start, end = start - macro.start(), end - macro.start()
    return macro[0][:start] + b" " * (end - start) + macro[0][end:]


def node_text(source: bytes, node: Node) -> str:
    """Return what a node says, at most its first 1,000 bytes."""
    return source[node.start_byte : min(node.end_byte, node.start_byte + 1000)].decode(errors="ignore")


def definition_name(node: Node) -> Node | None:
    """Return the name of what a node defines."""
    return node.child_by_field_name(_NAMES.get(node.type, "name")) or _declared_name(node)


def is_function_value(node: Node) -> bool:
    """Return whether a node of JavaScript names a function or class: ``grind = () => …``, ``mill.grind = …``."""
    value: Node | None = node
    for _ in range(4):  # app = exports = module.exports = …
        if value is None or value.type not in VALUES:
            break
        value = value.child_by_field_name(VALUES[value.type])
    return value is not None and value is not node and value.type in _FUNCTION_VALUES


def is_prototype(node: Node) -> bool:
    """Return whether a declaration in C or C++ declares a function.

    Pointers to functions, friends of a class and calls of a macro in capitals do not count.
    """
    name = _declared_name(node)
    if name is None or name.type not in _DECLARED_NAMES or (name.text or b"").isupper():
        return False
    around, outside = name.parent, node.parent
    is_friend = outside is not None and outside.type == "friend_declaration"
    return around is not None and around.type == "function_declarator" and not is_friend


def is_default_export(node: Node | None) -> bool:
    """Return whether a node of JavaScript is the function or class, maybe nameless, of ``export default``."""
    if node is None or node.type not in _FUNCTION_VALUES:
        return False
    return node.parent is not None and node.parent.type == "export_statement"


def _declared_name(node: Node) -> Node | None:
    """Return the name within a declarator of C or C++."""
    declarator = node.child_by_field_name("declarator")
    for _ in range(8):
        if declarator is None or declarator.type in {"function_declarator", "parenthesized_declarator"}:
            break
        if declarator.type == "reference_declarator":  # its grammar names no field
            declarator = next(iter(declarator.named_children), None)
        else:
            declarator = declarator.child_by_field_name("declarator")
    return declarator.child_by_field_name("declarator") if declarator is not None else None
