"""Statements of source code that only name what is used from elsewhere: many names, of which they say nothing."""

from __future__ import annotations

import re

from core.rag.extraction.source_code import comments, without_licence, without_marks
from libs.regexes import regex

#: How such statements begin, in the languages that are read.
_BEGINS = regex(
    r"^[ \t]*(?:(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|extern[ \t]+crate)[ \t]"
    r"|using[ \t]+(?:namespace[ \t]|static[ \t]|[\w.]+[ \t]*;)"
    r"|import\b(?![ \t]*[(.][\w\"'])|from[ \t]+[\w.]+[ \t]+import\b"
    r"|#[ \t]*(?:include|import)\b|package[ \t]+[\w.]+[ \t]*(?:;|\n|\Z)"
    r"|export[ \t]+(?:type[ \t]+)?(?:\*|\{[^}]*\})[^\n;]*[ \t]from[ \t]"
    r"|(?:const|let|var)[ \t][^=;]{1,500}=[ \t]*require\(|require(?:_relative)?[ \t]+['\"])",
    re.MULTILINE,
)
#: What ends one, if it is not the end of its line: brackets, and the semicolon of languages that have it.
_INNER = r"\{(?:[^{};]|\{[^{};]*\})*\}"
_REST = regex(rf"[^\n;({{]*(?:\([^()]*\)|\{{(?:[^{{}};]|{_INNER})*\}})?[^\n;]*(?:;|(?=\n)|\Z)")
_WORD = regex(r"\w+")
#: The least number of them, and the share of the words, of a passage that has little else.
_LEAST = 3
_SHARE = 0.9
_ASKED = regex(r"\b(?:imports?|imported|uses?|used|requires?|includes?|dependenc(?:y|ies)|depends?)\b", re.IGNORECASE)


def is_import(statement: str) -> bool:
    """Return whether a statement of source code says only what is used from elsewhere."""
    return _BEGINS.match(statement.lstrip()) is not None


def asks_for_imports(question: str) -> bool:
    """Return whether a question may be for what a piece of code uses, or for what uses it."""
    return _ASKED.search(question) is not None


def has_only_imports(content: str) -> bool:
    """Return whether a passage of source code has little else than such statements, beside a licence."""
    if len(_BEGINS.findall(content)) < _LEAST:  # nearly all
        return False
    code, said, done = "", "", 0
    for start, end in comments(content):
        code += content[done:start]
        said += without_licence(without_marks(content[start:end]))
        done = end
    code += content[done:]
    place, found = 0, 0
    for begins in _BEGINS.finditer(code):
        if begins.start() >= place and (rest := _REST.match(code, begins.end())) is not None:
            said += code[place : begins.start()]
            place, found = rest.end(), found + 1
    others = len(_WORD.findall(said + code[place:]))
    return found >= _LEAST and others <= (1.0 - _SHARE) * len(_WORD.findall(code))
