"""The symbols of source code, what they call, and what a file imports, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.rag.extraction.symbols import CodeFacts, CodeSymbol
from core.rag.indexing.code import FUNCTION_VALUES, declared_name, parse
from core.rag.indexing.grammars import GRAMMARS, Grammar, language_of, load_language

if TYPE_CHECKING:
    from tree_sitter import Node

#: What the words of headings are called as kinds of symbols.
_KINDS = {"def": "function", "fn": "function", "func": "function", "@interface": "annotation", "mod": "module"}
_TYPES = frozenset({"class", "struct", "interface", "trait", "impl", "enum", "record", "union"})

#: Nodes that are calls, with the field that holds what is called.
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
#: Nodes that are imports, with the field that holds the module; all of the node's names where there is none.
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
_NAME_ENDS = frozenset({"identifier", "property_identifier", "field_identifier", "type_identifier", "constant", "name",
                        "word", "scoped_identifier", "dotted_name"})  # fmt: skip
_MOST_SYMBOLS = 2_000
_MOST_CALLS = 200
_DEEPEST = 200
_MAX_NAME_CHARS = 300
_MAX_SIGNATURE_CHARS = 300


def code_facts(text: str, language: str) -> CodeFacts | None:
    """What source code defines, calls and imports.

    Args:
        text: The code.
        language: Its language.

    Returns:
        The facts, or ``None`` where there is no grammar for the language, or the parser gets lost.
    """
    grammar = GRAMMARS.get(language_of(language))
    known = load_language(grammar.module, grammar.function) if grammar else None
    if grammar is None or known is None or not text.strip():
        return None
    source = text.encode()
    tree = parse(source, known)
    return _Reader(source, grammar).read(tree.root_node) if tree is not None else None


class _Reader:
    """Walks one syntax tree, without recursion: code that a program wrote can be nested deeply."""

    def __init__(self, source: bytes, grammar: Grammar) -> None:
        self._source = source
        self._grammar = grammar

    def read(self, root: Node) -> CodeFacts:
        facts = CodeFacts()
        calls: dict[int, list[str]] = {}
        taken: set[tuple[str, str]] = set()
        imports: dict[str, None] = {}
        # A node, the names and kinds of the definitions around it, and the number of the innermost that was kept.
        waiting: list[tuple[Node, tuple[tuple[str, str], ...], int, int]] = [(root, (), -1, 0)]
        while waiting:
            node, path, inside, depth = waiting.pop()
            if node.type in _IMPORTS:
                imports.update(dict.fromkeys(self._imported(node)))
            elif node.type in _CALLS and inside >= 0 and len(calls[inside]) < _MOST_CALLS:
                name = self._called(node)
                if name:
                    calls[inside].append(name)
            symbol = self._symbol(node, path)
            if symbol is not None:
                path = (*path, (symbol.name.rsplit(".", 1)[-1], symbol.kind))
                kept = symbol.kind != "impl" and (symbol.name, symbol.kind) not in taken
                if kept and len(facts.symbols) < _MOST_SYMBOLS:
                    taken.add((symbol.name, symbol.kind))
                    inside = len(facts.symbols)
                    calls[inside] = []
                    facts.symbols.append(symbol)
            if depth < _DEEPEST:
                waiting += [(child, path, inside, depth + 1) for child in reversed(node.named_children)]
        facts.symbols = [
            CodeSymbol(symbol.name, symbol.kind, symbol.signature, symbol.line, tuple(dict.fromkeys(calls[number])))
            for number, symbol in enumerate(facts.symbols)
        ]
        facts.imports = list(imports)
        return facts

    def _symbol(self, node: Node, path: tuple[tuple[str, str], ...]) -> CodeSymbol | None:
        word = self._grammar.words.get(node.type)
        if node.type == "variable_declarator":  # JavaScript: const name = () => …
            value = node.child_by_field_name("value")
            word = "function" if value is not None and value.type in FUNCTION_VALUES else None
        if word is None or (node.type.endswith("_specifier") and node.child_by_field_name("body") is None):
            return None
        named = node
        if node.type == "type_declaration":  # Go
            named = next(iter(node.named_children), node)
        if node.type == "impl_item":
            name = node.child_by_field_name("type")
        else:
            name = named.child_by_field_name("name") or declared_name(node)
        if name is None:
            return None
        kind = _KINDS.get(word, word)
        if kind == "function" and path and path[-1][1] in _TYPES:
            kind = "method"
        own = self._text(name)[:_MAX_NAME_CHARS]
        qualified = ".".join((*(part for part, _ in path), own))[:_MAX_NAME_CHARS]
        end = min(node.end_byte, node.start_byte + _MAX_SIGNATURE_CHARS)
        first = self._source[node.start_byte : end].decode(errors="ignore").split("\n", 1)[0]
        return CodeSymbol(qualified, kind, first.rstrip(" {:"), node.start_point[0] + 1) if own else None

    def _called(self, node: Node) -> str:
        """The last name of what is called: ``grind`` for ``self.mill.grind(…)``."""
        for field in _CALLS[node.type]:
            target = node.child_by_field_name(field)
            while target is not None:
                if target.type in _NAME_ENDS:
                    return self._text(target).replace("::", ".").rsplit(".", 1)[-1]
                inner = [child for child in target.named_children if child.type in _NAME_ENDS]
                target = inner[-1] if inner else None
        return ""

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
        return self._source[node.start_byte : min(node.end_byte, node.start_byte + 1000)].decode(errors="ignore")
