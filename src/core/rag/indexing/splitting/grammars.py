"""The languages that have a grammar, and the node types of their definitions."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from core.rag.extraction.symbols import PROTOTYPE
from libs.regexes import regex

if TYPE_CHECKING:
    from tree_sitter import Language


@dataclass(frozen=True, slots=True)
class Grammar:
    """The grammar of a language.

    Attributes:
        module: Package of the grammar.
        words: Names of definitions in headings, by node type.
        declared: The same for declarations, which are symbols, but no places to cut.
        wrappers: Node types without a name that may contain definitions, and are searched whatever their size.
        macros: Pattern whose groups the grammar would take for names; they are replaced by blanks.
        requires: Functions that import the module given as their argument.
        function: The function of the package that returns the language.
    """

    module: str
    words: Mapping[str, str]
    wrappers: frozenset[str] = frozenset()
    function: str = "language"
    macros: re.Pattern[bytes] | None = None
    requires: frozenset[str] = frozenset()
    declared: Mapping[str, str] = field(default_factory=dict)


_JAVASCRIPT = {
    "class_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    # Those that are named by what holds them.
    "variable_declarator": "function",
    "field_definition": "method",
    "assignment_expression": "function",
    "pair": "method",
}
_REQUIRE = frozenset({"require"})
_SIGNATURES = {"method_signature": "method"}
_TYPESCRIPT = {
    **_JAVASCRIPT,
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "internal_module": "namespace",
    "module": "module",
    "function_signature": "function",
    "abstract_method_signature": "method",
    "public_field_definition": "method",
}
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
}
# Of functions only; also of the methods of a class.
_PROTOTYPES = {"declaration": PROTOTYPE, "field_declaration": PROTOTYPE}
_PREPROCESSOR = frozenset({"preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "linkage_specification"})
# The name of a macro before that of a class, or before a type, would be taken for the name or the type:
# class MILL_API Wheel {…}; MILL_INLINE int turn().
_MACROS = regex(
    rb"\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]+)(?=[ \t]+[A-Za-z_]\w*(?:[ \t]+final)?\s*[:{])"
    rb"|^[ \t]*((?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+)"
    rb"(?=[ \t]+(?:[A-Za-z_][\w:<>, \t]{0,80}[ \t*&][\w:~]{1,80}|\w{1,80}(?:::~?\w{1,80}){1,4})[ \t]*\()",
    re.MULTILINE,
)
_BLOCKS = frozenset(
    {"if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause", "with_statement",
     "for_statement", "while_statement"}
)  # fmt: skip

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar("tree_sitter_python", {"class_definition": "class", "function_definition": "def"}, _BLOCKS),
    "javascript": Grammar("tree_sitter_javascript", _JAVASCRIPT, requires=_REQUIRE),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TYPESCRIPT,
        function="language_typescript",
        requires=_REQUIRE,
        declared=_SIGNATURES,
    ),
    "tsx": Grammar(
        "tree_sitter_typescript", _TYPESCRIPT, function="language_tsx", requires=_REQUIRE, declared=_SIGNATURES
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "annotation_type_declaration": "@interface",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
        },
    ),
    "go": Grammar(
        "tree_sitter_go",
        {"function_declaration": "func", "method_declaration": "func", "type_spec": "type", "type_alias": "type"},
        frozenset({"type_declaration"}),
        declared={"method_elem": "method"},  # of an interface
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "fn",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "mod",
            "macro_definition": "macro",
        },
        declared={"function_signature_item": "fn"},  # of a trait
    ),
    "c": Grammar("tree_sitter_c", _C, _PREPROCESSOR, macros=_MACROS, declared=_PROTOTYPES),
    "cpp": Grammar(
        "tree_sitter_cpp",
        {
            **_C,
            "class_specifier": "class",
            "namespace_definition": "namespace",
            "concept_definition": "concept",
        },
        _PREPROCESSOR,
        macros=_MACROS,
        declared=_PROTOTYPES,
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        {
            "namespace_declaration": "namespace",
            "class_declaration": "class",
            "struct_declaration": "struct",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
            "delegate_declaration": "delegate",
        },
        frozenset({"preproc_if"}),
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        {"module": "module", "class": "class", "method": "def", "singleton_method": "def"},
        frozenset({"singleton_class"}),
        requires=frozenset({"require", "require_relative"}),
    ),
    "php": Grammar(
        "tree_sitter_php",
        {
            "namespace_definition": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "method",
        },
        function="language_php",
    ),
    "bash": Grammar(
        "tree_sitter_bash",
        {"function_definition": "function"},
        frozenset({"if_statement", "elif_clause", "else_clause"}),
    ),
}

_ALIASES = {
    "py": "python",
    "python3": "python",
    "pyi": "python",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "node": "javascript",
    "ts": "typescript",
    "typescriptreact": "tsx",
    "javascriptreact": "javascript",
    "golang": "go",
    "rs": "rust",
    "h": "c",
    "c++": "cpp",
    "cc": "cpp",
    "cxx": "cpp",
    "hpp": "cpp",
    "cs": "csharp",
    "c#": "csharp",
    "c_sharp": "csharp",
    "c-sharp": "csharp",
    "rb": "ruby",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
}


def language_of(name: str) -> str:
    """Return the name of a language as :data:`GRAMMARS` has it, where it is there."""
    name = name.strip().lower()
    return _ALIASES.get(name, name)


@lru_cache(maxsize=1)
def grammar_versions() -> str:
    """Return which grammars are installed; part of the splitter's fingerprint."""
    packages = sorted({"tree_sitter", *(grammar.module for grammar in GRAMMARS.values())})
    return ",".join(f"{package[12:]}{_version(package)}" for package in packages)


@lru_cache(maxsize=32)
def load_language(module: str, function: str) -> Language | None:
    """Load a language; ``None`` if its grammar is not installed or does not fit the installed tree-sitter."""
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, ValueError):
        return None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return "-"
