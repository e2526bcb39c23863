"""Extracts symbols, calls and imports of source code from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from core.rag.extraction.symbols import PROTOTYPE, CodeFacts, CodeSymbol
from core.rag.indexing.calls import Call, Definitions
from core.rag.indexing.splitting.grammars import Grammar, language_of
from core.rag.indexing.splitting.syntax import (
    VALUES,
    definition_name,
    is_default_export,
    is_function_value,
    is_prototype,
    node_text,
    parse,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: The kind of symbol for each word that begins a heading.
_KINDS = {"def": "function", "fn": "function", "func": "function", "@interface": "annotation", "mod": "module"}
_TYPES = frozenset({"class", "object", "struct", "interface", "trait", "impl", "enum", "record", "union"})

#: Nodes that are calls, with the field of the called expression.
_CALLS = {
    "call": ("function", "method"),
    "call_expression": ("function",),
    "method_invocation": ("name",),
    "object_creation_expression": ("type",),
    "new_expression": ("constructor",),
    "invocation_expression": ("function",),
    "function_call_expression": ("function",),
    "member_call_expression": ("name",),
    "command": ("name",),
}
#: Nodes that are imports, with the field of the module; if there is none, all names of the node count.
_IMPORTS = {
    "import_from_statement": "module_name",
    "import_statement": "source",
    "import_spec": "path",
    "import_declaration": "",
    "use_declaration": "argument",
    "preproc_include": "path",
    "using_directive": "",
    "namespace_use_clause": "",
}
#: Nodes that precede a definition without being a part of it.
_BEFORE = frozenset({"attribute_list", "annotation", "marker_annotation", "decorator", "comment", "line_comment",
                     "block_comment"})  # fmt: skip
_NAME_ENDS = frozenset({"identifier", "property_identifier", "field_identifier", "type_identifier", "constant", "name",
                        "word", "scoped_identifier", "dotted_name"})  # fmt: skip
#: The fields that hold what precedes the called name.
_RECEIVERS = ("object", "operand", "value", "argument", "expression", "receiver", "path", "scope")
#: Languages that call methods of the same class without ``this``.
_BARE_METHODS = frozenset({"java", "csharp", "cpp", "ruby"})
#: Kinds of symbols that a prototype declares.
_DEFINING = ("function", "method")
#: Kinds whose names qualify what they contain, but which are no symbols themselves.
_ONLY_AROUND = frozenset({"impl", "object"})
_MOST_SYMBOLS = 2_000
_MOST_CALLS = 200
_DEEPEST = 200
_MAX_NAME_CHARS = 300
_MAX_SIGNATURE_CHARS = 300


def code_facts(text: str, language: str) -> CodeFacts | None:
    """Extract what source code defines, calls and imports.

    Args:
        text: The code.
        language: Its language.

    Returns:
        The facts, or ``None`` if there is no grammar for the language, or the parser gets lost.
    """
    parsed = parse(text, language) if text.strip() else None
    if parsed is None:
        return None
    source, grammar, tree = parsed
    return _Reader(source, grammar, bare_methods=language_of(language) in _BARE_METHODS).read(tree.root_node)


class _Reader:
    """Walks one syntax tree, without recursion, because generated code can be nested deeply."""

    def __init__(self, source: bytes, grammar: Grammar, *, bare_methods: bool) -> None:
        self._source = source
        self._grammar = grammar
        self._bare_methods = bare_methods

    def read(self, root: Node) -> CodeFacts:
        facts = CodeFacts()
        calls: list[list[Call]] = []
        own: list[str] = []
        taken: dict[tuple[str, str], int] = {}
        declared: set[int] = set()
        imports: dict[str, None] = {}
        # A node, the names and kinds of the definitions around it, and the number of the innermost that was kept.
        waiting: list[tuple[Node, tuple[tuple[str, str], ...], int, int]] = [(root, (), -1, 0)]
        while waiting:
            node, path, inside, depth = waiting.pop()
            if node.type in _IMPORTS:
                imports.update(dict.fromkeys(self._imported(node)))
            elif node.type in _CALLS and (required := self._required(node)):
                imports[required] = None
            elif node.type in _CALLS and inside >= 0 and len(calls[inside]) < _MOST_CALLS:
                call = self._called(node)
                if call is not None:
                    calls[inside].append(call)
            symbol = self._symbol(node, path)
            if symbol is not None:
                around = sum(len(part) + 1 for part, _ in path)
                path = (*path, (symbol.name[around:], symbol.kind))
                if symbol.kind not in _ONLY_AROUND:
                    key = (symbol.name, symbol.kind)
                    if symbol.kind == PROTOTYPE:
                        keys = ((symbol.name, kind) for kind in _DEFINING)
                        key = next((defined for defined in keys if defined in taken), key)
                    elif symbol.kind in _DEFINING and (symbol.name, PROTOTYPE) in taken:
                        taken[key] = place = taken.pop((symbol.name, PROTOTYPE))
                        declared.discard(place)
                        facts.symbols[place] = symbol
                    if key not in taken and len(facts.symbols) < _MOST_SYMBOLS:
                        taken[key] = len(facts.symbols)
                        if node.type in self._grammar.declared:
                            declared.add(taken[key])
                        facts.symbols.append(symbol)
                        calls.append([])
                        own.append(self._receiver(node)[0])
                    # Overloads, and the setter of a property, are one symbol with the first definition.
                    inside = taken.get(key, -1)
            if depth < _DEEPEST:
                waiting += [(child, path, inside, depth + 1) for child in reversed(node.named_children)]
        facts.imports = list(imports)
        definitions = Definitions(facts.symbols, facts.imports, declared, bare_methods=self._bare_methods)
        for number, symbol in enumerate(facts.symbols):
            meant = (definitions.meant(call, number, own[number]) for call in dict.fromkeys(calls[number]))
            called = tuple(dict.fromkeys(callee for callee in meant if callee is not None and callee != number))
            facts.symbols[number] = replace(symbol, calls=called)
        return facts

    def _symbol(self, node: Node, path: tuple[tuple[str, str], ...]) -> CodeSymbol | None:
        word = self._word(node)
        if word is None or (node.type.endswith("_specifier") and node.child_by_field_name("body") is None):
            return None
        if node.type in self._grammar.declared and path and path[-1][1] in {"function", "method"}:
            return None  # of the type of an argument
        if node.type == "pair" and (not path or path[-1][1] != "object"):
            return None  # of an object that has no name
        name = definition_name(node)
        if name is None and node.type.endswith("_specifier") and node.parent is not None:
            name = definition_name(node.parent) if node.parent.type == "type_definition" else None
        if name is None and not is_default_export(node):
            return None
        kind = _KINDS.get(word, word)
        if kind == "function" and path and path[-1][1] in _TYPES:
            kind = "method"
        own = self._text(name).strip("\"'")[:_MAX_NAME_CHARS] if name is not None else "default"
        if name is not None and name.type == "qualified_identifier":  # C++: defined outside of its class
            own, kind = own.replace("::", ".").strip("."), "method"
        kind_of = self._receiver(node)[1]
        if own and kind_of:
            own, kind = f"{kind_of}.{own}"[:_MAX_NAME_CHARS], "method"
        qualified = ".".join((*(part for part, _ in path), own))[:_MAX_NAME_CHARS]
        begin = _behind_annotations(self._stated(node))
        end = min(node.end_byte, begin.start_byte + _MAX_SIGNATURE_CHARS)
        first = self._source[begin.start_byte : end].decode(errors="ignore").split("\n", 1)[0]
        return CodeSymbol(qualified, kind, first.rstrip(" {:"), begin.start_point[0] + 1) if own else None

    def _word(self, node: Node) -> str | None:
        """Return the word for what a node defines; ``None`` if it defines nothing."""
        if is_default_export(node):
            return "class" if node.type == "class" else "function"
        word = self._grammar.words.get(node.type) or self._grammar.declared.get(node.type)
        if word == PROTOTYPE and not is_prototype(node):
            return None
        if node.type == "variable_declarator" and word is not None:  # JavaScript
            value = node.child_by_field_name("value")
            if value is not None and value.type == "object":
                return "object"
        return word if node.type not in VALUES or is_function_value(node) else None

    def _stated(self, node: Node) -> Node:
        """Return the node of a whole definition: in Go, that of ``Mill struct`` lacks the first word, ``type``."""
        around = node.parent
        return around if around is not None and around.type == "type_declaration" and around.child_count == 2 else node

    def _receiver(self, node: Node) -> tuple[str, str]:
        """Return the name and type of the receiver of a Go method; empty for anything else."""
        receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
        declared = next(iter(receiver.named_children), None) if receiver is not None else None
        if declared is None:
            return "", ""
        name, kind = declared.child_by_field_name("name"), declared.child_by_field_name("type")
        while kind is not None and kind.type != "type_identifier":  # *List[T]
            kind = next(iter(kind.named_children), None)
        return self._text(name) if name is not None else "", self._text(kind) if kind is not None else ""

    def _called(self, node: Node) -> Call | None:
        """Return what is called: ``grind`` on ``self.mill`` for ``self.mill.grind(…)``."""
        before = self._before(node)
        for field in _CALLS[node.type]:
            target = node.child_by_field_name(field)
            while target is not None:
                if target.type in _NAME_ENDS:
                    path, scoped, name = self._text(target).rpartition("::")
                    if not scoped:
                        path, _, name = name.rpartition(".")
                    receiver = path or before
                    return Call(name, receiver, bool(scoped)) if name else None
                before = self._before(target) if before is None else before
                inner = [child for child in target.named_children if child.type in _NAME_ENDS]
                target = inner[-1] if inner else None
        return None

    def _before(self, node: Node) -> str | None:
        """Return what precedes the name in a call or in the called expression; ``None`` if there is only a name."""
        if node.type == "generic_function":
            return None
        for field in _RECEIVERS:
            receiver = node.child_by_field_name(field)
            if receiver is not None:
                return self._text(receiver)
        return None

    def _required(self, node: Node) -> str:
        """Return the module that a call imports: ``require("mill")``; empty for any other call."""
        if not self._grammar.requires:
            return ""
        called = node.child_by_field_name("function") or node.child_by_field_name("method")
        if called is None or called.type != "identifier" or self._text(called) not in self._grammar.requires:
            return ""
        arguments = node.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments is not None else None
        return self._text(first).strip("\"'`")[:_MAX_NAME_CHARS] if first is not None and first.type == "string" else ""

    def _imported(self, node: Node) -> Iterator[str]:
        field = _IMPORTS[node.type]
        target = node.child_by_field_name(field) if field else None
        if target is not None:
            targets = [target]
        else:
            targets = [child for child in node.named_children if child.type != "import_spec_list"]
        for found in targets:
            if found.type == "aliased_import":
                found = found.child_by_field_name("name") or found
            if found.type in {"import_clause", "import_spec", "import_spec_list", "modifiers", "asterisk"}:
                continue
            name = self._text(found).strip("\"'<>` ;")
            if name and "\n" not in name:
                yield name[:_MAX_NAME_CHARS]

    def _text(self, node: Node) -> str:
        return node_text(self._source, node)


def _behind_annotations(node: Node) -> Node:
    """Return the first node of a definition that is not an annotation."""
    for child in node.children:
        if child.type == "modifiers":  # Java
            first = next((modifier for modifier in child.children if modifier.type not in _BEFORE), None)
            if first is not None:
                return first
        elif child.type not in _BEFORE:
            return child
    return node
