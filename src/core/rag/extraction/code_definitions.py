"""What a passage of source code defines: the function or class of its heading, and constants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from core.rag.analysis import definition_word
from core.rag.extraction.source_code import comments, is_program
from core.rag.headings import headings_of
from libs.regexes import regex

#: Maximum number of other definitions and constants of a passage.
_MOST_OTHERS = 32
#: Characters before a name that are looked at.
_LONGEST_HEAD = 200

#: What the heading of a definition says: its word, in Go the receiver, and the name, maybe with type parameters.
_LABEL = regex(r"(?P<word>@?\w+)\s+(?:\((?P<receiver>[^()]*)\)\s+)?(?P<name>.*)", re.DOTALL)
_LAST_NAME = regex(r"[\w$]+(?=[?!=]?\Z)")
_TYPE_ARGUMENTS = regex(r"\s*<.*\Z", re.DOTALL)
#: These begin a section about a type, but do not define it; a constructor has the name of its class.
_NOT_DEFINING = frozenset({"impl", "implementation", "extension", "constructor"})
_TYPES = (
    "class|interface|struct|trait|enum|union|type|record|object|module|mod|namespace|protocol|actor|concept|delegate"
    "|macro|macro_rules|service|message|table|view"
)
_OF_TYPE = frozenset((*_TYPES.split("|"), "@interface"))
#: What stands before the name in the head of such a definition; a macro may stand between: class MILL_API Wheel.
_BEFORE_TYPE = regex(rf"(?:^|.*\W)(?:{_TYPES})!?\s+(?:[A-Z][A-Z0-9_]*\s+)?", re.DOTALL)
#: What stands before the name in the head of a function: modifiers and types, but no assignment and no call.
_BEFORE = regex(r"\s*(?:func\s*\([^()]*\)\s*)?(?:[\w$@<>\[\],.*&:?~'}!-]++\s+)*+[\w$.:<>~*&]*")
#: Words before a name that is used there.
_USED = regex(r"\b(?:return|await|yield|throw|raise|new|case|else|if|while|not|in|delete|goto|from|import)\s+\Z")

#: The head of a definition within one that is a single passage, in languages that have a word for it.
_INNER = regex(
    r"^[ \t]*(?:(?:export|default|pub(?:\([^()\n]*\))?|public|private|protected|internal|static|final|abstract|async"
    r"|const|unsafe|inline|override|open|sealed|data)[ \t]+){0,5}"
    r"(?:def|fn|func|fun|function|class|interface|struct|trait|enum|protocol)[ \t]+(?:self\.)?"
    r"(?P<name>[A-Za-z_]\w{1,59})"
    r"[?!]?(?=[ \t]*(?:[(<{:]|$)|[ \t]+(?:extends|implements|for|where)\b)",
    re.MULTILINE,
)
#: A constant in capitals, with what stands before it in several languages: ``public static final int MOST = 5``.
_CAPITALS = regex(
    r"^[ \t]*+(?:[\w$@<>\[\],.*&:?()]++[ \t]++){0,6}?(?P<name>[A-Z][A-Z0-9_]{2,59})(?:\[[^\]\n]{0,40}\])?[ \t]*"
    r"(?::[^=\n]{1,60})?=(?![=>])",
    re.MULTILINE,
)
#: What a word at the margin says to be one, in Go without and in C with its type before it.
_DECLARED = regex(
    r"^(?:(?:export|pub(?:\([a-z]+\))?|declare|extern|inline)[ \t]+){0,3}(?:const|let|var|val|static)[ \t]+"
    r"(?:[\w:<>*&]++[ \t*&]+){0,4}?(?P<name>[A-Za-z_$][\w$]{0,59})(?:\[[^\]\n]{0,40}\])?[ \t]*(?::(?!:)|=(?!=))"
    r"|^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w{1,60})",
    re.MULTILINE,
)
_DECLARED_IN_GO = regex(r"^(?:const|var)[ \t]+(?P<name>\w{1,60})", re.MULTILINE)
#: Those of Go that stand in brackets together.
_TOGETHER = regex(r"^(?:const|var)[ \t]*\(\n(?P<lines>(?:[ \t][^\n]*+\n?|\n)*+)", re.MULTILINE)
_IN_GROUP = regex(r"^(?:\t| {1,4})(?P<name>[A-Za-z_]\w{0,59})(?=[\s,]|\Z)", re.MULTILINE)


#: What comments begin with.
_MARKS = ("/", "#", "-", ";", "%", '"', "'")


class _Definition(NamedTuple):
    """What a heading says that is defined below.

    Attributes:
        name: Its name.
        around: That of the type that it is a part of; empty if there is none.
        is_type: Whether it is a type, or what contains definitions.
    """

    name: str
    around: str
    is_type: bool


def code_definitions(content: str, path: str, heading: str) -> list[str]:
    """Return an index word for each thing that a passage of a program defines, each once; none for other texts.

    That is the function, class … of its heading if the passage has its head or nothing but what is said of it, also
    with the name of the type around it (``Mill.grind``); what it has the head of besides; and constants.

    Args:
        content: The text of the chunk.
        path: The path of its document.
        heading: The path of headings above it, as the splitter makes them for source code.
    """
    names = dict.fromkeys(defined_names(content, path, heading))
    return list(dict.fromkeys(word for name in names if (word := definition_word(name))))


def defined_names(content: str, path: str, heading: str) -> Iterator[str]:
    """Yield the names of what a passage of a program defines; the arguments are those of :func:`code_definitions`."""
    if not is_program(path):
        return
    defined = _of_heading(heading)
    if defined is not None and (_has_head(content, defined) or _only_comments(content)):
        yield defined.name
        if defined.around:
            yield f"{defined.around}.{defined.name}"
    yield from islice(_others(content, in_go=path.endswith(".go")), _MOST_OTHERS)


def _others(content: str, *, in_go: bool) -> Iterator[str]:
    for pattern in (_INNER, _CAPITALS, _DECLARED_IN_GO if in_go else _DECLARED):
        for defined in pattern.finditer(content):
            yield next(name for name in defined.groups() if name)
    for group in _TOGETHER.finditer(content) if in_go else ():
        yield from (constant["name"] for constant in _IN_GROUP.finditer(group["lines"]))


def _of_heading(heading: str) -> _Definition | None:
    labels = headings_of(heading)
    label = _LABEL.fullmatch(labels[-1])
    if label is None or label["word"] in _NOT_DEFINING or not (name := _last_name(label["name"])):
        return None
    around = _last_name(label["receiver"] or "")
    if not around and len(labels) > 1 and (outer := _LABEL.fullmatch(labels[-2])) is not None:
        around = _last_name(outer["name"])
    return _Definition(name, around, label["word"] in _OF_TYPE)


def _last_name(words: str) -> str:
    """Return the last part of a name: ``MaxCount`` of ``Flag for MaxCount<T>``."""
    found = _LAST_NAME.search(_TYPE_ARGUMENTS.sub("", words).rstrip("[]* "))
    return found[0] if found is not None else ""


def _has_head(content: str, defined: _Definition) -> bool:
    """Return whether a passage has the line that begins a definition."""
    name, shape = defined.name, _BEFORE_TYPE if defined.is_type else _BEFORE
    place = content.find(name)
    while place >= 0:
        end = place + len(name)
        if not (_is_of_name(content[place - 1 : place]) or _is_of_name(content[end : end + 1])):
            before = content[max(0, place - _LONGEST_HEAD) : place].rpartition("\n")[2]
            if shape.fullmatch(before) is not None and _USED.search(before) is None:
                return True
        place = content.find(name, end)
    return False


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")


def _only_comments(content: str) -> bool:
    """Return whether a passage is nothing but comments, as what is said of a definition at length is."""
    if not content.lstrip().startswith(_MARKS):
        return False
    done, some = 0, False
    for start, end in comments(content):
        if content[done:start].strip():
            return False
        done, some = end, True
    return some and not content[done:].strip()
