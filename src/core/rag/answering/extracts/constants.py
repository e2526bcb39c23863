"""Constants of programs, names with a value: they answer what the default, the limit or the name of something is."""

from __future__ import annotations

import re
from typing import Final

from core.rag.answering.extracts.code_spans import documented
from libs.regexes import regex

_LITERAL: Final = (
    r"(?:[\"'`]|[rbfu]{1,2}[\"']|[-+]?\d|[\[{]|(?:true|false|null|nil|None|True|False)\b|&?[A-Z][\w.]*[({]|new[ ])"
)
_TYPE: Final = r"(?:[ \t]*:[^=\n]{1,80})?"
#: "const LIMIT = 5", "LIMIT: Final = 5", "public static final int LIMIT = 5;", "#define LIMIT 5". A name in small
#: letters has a word for it in front, and a value that is none of another name.
_CONSTANT: Final = regex(
    r"[ \t]*(?:(?:export|pub(?:\([^)\n]*\))?|public|private|protected|internal|readonly|default)[ \t]+)*"
    r"(?:\#[ \t]*define[ \t]+[A-Za-z_]\w*[ \t]+\S"
    rf"|(?:const|static[ \t]+final|final[ \t]+static)(?:[ \t]+[\w<>\[\].]+){{1,3}}{_TYPE}[ \t]*=[ \t]*{_LITERAL}"
    r"|(?:(?:const|static|final|let|var|val)[ \t]+(?:[\w<>\[\].]+[ \t]+){0,2})?"
    rf"_*[A-Z][A-Z0-9_]{{2,60}}{_TYPE}[ \t]*=[ \t]*[^\s=])"
)
#: The beginning and the end of a block of constants in Go, and a name with a value in it.
_BLOCK: Final = regex(r"^(?:const[ \t]*\(|\))[ \t]*$", re.MULTILINE)
_IN_BLOCK: Final = regex(rf"[ \t]*[A-Za-z_]\w*(?:[ \t]+[\w.]+)?[ \t]*=[ \t]*{_LITERAL}")
#: A name that is given any value.
_NAMED: Final = regex(
    r"[ \t]*(?:(?:const|var|let)[ \t]+)?(?P<name>[A-Za-z_]\w*)(?:[ \t]+[\w.\[\]]+)?[ \t]*:?=[ \t]*[^\s=]"
)
_ANY_MARK: Final = ("",)  # every comment begins with it
_LONGEST: Final = 160
_ASKS: Final = regex(
    r"\b(?:defaults?|max(?:imum)?|min(?:imum)?|limit|constant|value|how (?:many|much|long|large|big|often)"
    r"|standardmäßig\w*|höchstens|mindestens|wie (?:viele?|lange|groß|oft)|défaut|valeur|combien|defecto|valor"
    r"|cuánt[oa]s?)\b",
    re.IGNORECASE,
)

_ASKS_FOR_DEFAULT: Final = regex(r"\W*(?:what|which|is|are|does|do)\b.*\bdefaults?\b", re.IGNORECASE)
_SAYS_DEFAULT: Final = regex(
    r"\bdefaults?(?: (?:value|setting|size|port|behaviou?r))?(?: (?:is|are|to)\b|:\s)", re.IGNORECASE
)


def asks_for_value(question: str) -> bool:
    """Return whether a question asks for what a constant may have: a default, a limit, a number."""
    return _ASKS.search(question) is not None


def says_default(question: str, text: str) -> bool:
    """Return whether a sentence says what the default is that a question asks for: "It defaults to 5.".

    Example:
        >>> says_default("What is the default of depth?", "The default is 2."), says_default("How deep?", "It is 2.")
        (True, False)
    """
    return _ASKS_FOR_DEFAULT.match(question) is not None and _SAYS_DEFAULT.search(text) is not None


def is_constant(text: str, start: int) -> bool:
    """Return whether the statement at a place of source code gives a constant its value."""
    begin = text.rfind("\n", 0, start) + 1
    if _CONSTANT.match(text, begin) is not None:
        return True
    bounds = _BLOCK.findall(text, 0, begin)
    return bool(bounds) and bounds[-1].startswith("const") and _IN_BLOCK.match(text, begin) is not None


def constant_below(text: str, place: int) -> str:
    """Return the line of the constant that the comment at a place of source code is right above; empty without one.

    Any name with a value is one that the words at the place begin with, as those of comments do in Go.
    """
    begin = documented(text, place, _ANY_MARK)
    if begin is None:
        return ""
    named = _NAMED.match(text, begin)
    is_called_so = named is not None and re.match(rf"{re.escape(named['name'])}\b", text[place:]) is not None
    line = text[begin:].partition("\n")[0].strip()
    is_shown = len(line) <= _LONGEST and "`" not in line and (is_called_so or is_constant(text, begin))
    return line if is_shown else ""
