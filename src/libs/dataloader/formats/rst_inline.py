"""The markup of reStructuredText within a line: links, references, roles and literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from libs.dataloader.links import LinkCollector, reference_name
from libs.dataloader.text import raised
from libs.regexes import regex

#: Where references with a name lead: ``.. _name: address``.
TARGET = regex(r"^\s*\.\.[ \t]+_(`[^`]+`|[^:]+):(?:[ \t]+(.*))?$")
#: Where the next reference without a name leads: ``__ address``.
ANONYMOUS = regex(r"^\s*(?:__|\.\.[ \t]+__:)[ \t]+(\S+)[ \t]*$")
#: A longer line is left as it is.
LONGEST_LINE = 5000
# A reference to a footnote or citation; ``#`` and ``*`` are numbers and signs that docutils counts.
_NOTED = regex(r"\[(?:[#*]|#?(\w[\w.:-]{0,100}))\]_(?!\w)")
_EMBEDDED = regex(r"`([^`<]*?)\s*<([^`<>]+)>`__?")
_ROLE = regex(r":([\w:+.-]+):`([^`]+)`")
_ROLE_TARGET = regex(r"^!?~?(.*?)\s*<([^<>]+)>$", re.DOTALL)
_LITERAL = regex(r"``(.+?)``", re.DOTALL)
# Not in the middle of a compound such as a.b.c: its beginning was tried already, and trying all would be quadratic.
_REFERENCE = regex(
    r"`([^`]+)`__?(?!\w)|(?<![\w`])(?<!\w[-.])([^\W_]+(?:[-._][^\W_]+)*)__(?!\w)|(?<![\w`])(?<!\w[-.])(\w+(?:[-.]\w+)*)_(?![\w_])"
)
_INTERPRETED = regex(r"(?<![`\w])`([^`]+)`(?![`_])")
_SUBSTITUTION = regex(r"(?<![\w|])\|([^|\s][^|\n]*)\|_{0,2}(?![\w|])")
_BARE = regex(r"(?<![\w<`\"'])https?://[^\s<>`\"']+")
_RAISED = frozenset(("sup", "superscript"))
_LOWERED = frozenset(("sub", "subscript"))
# Roles whose words are a number only, and what Sphinx puts before it.
_NUMBERED = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-", "cwe": "CWE-"}


class Inline:
    """Converts the markup within the lines of a document, and collects its links.

    Attributes:
        collector: Takes the links.
    """

    def __init__(self, lines: Iterable[str], collector: LinkCollector, ending: str) -> None:
        """Prepare for a document.

        Args:
            lines: All of it, which says where references lead.
            collector: Takes its links.
            ending: The extension of its file.
        """
        self.collector = collector
        self._ending = ending
        self._targets: dict[str, str] = {}
        anonymous: list[str] = []
        for line in lines:
            if (match := TARGET.match(line)) and match[2]:
                self._targets[reference_name(match[1].strip("`"))] = match[2].strip().strip("<>`_")
            if match := ANONYMOUS.match(line):
                anonymous.append(match[1])
        # Where references without a name lead, in their order: ``words__`` and ``__ address``.
        self._anonymous = iter(anonymous)

    def convert(self, text: str) -> str:
        """Return a text as Markdown."""
        if len(text) > LONGEST_LINE:
            return text.rstrip()
        literals: list[str] = []

        def keep(words: str) -> str:
            literals.append(f"`{' '.join(words.split())}`" if "\n" in words else f"`{words}`")
            return f"\x00{len(literals) - 1}\x00"

        # Most paragraphs have hardly any markup; looking for each kind in all took two thirds of the time of reading.
        if "`" in text:
            text = _LITERAL.sub(lambda match: keep(match[1]), text)
        if "://" in text:
            for match in _BARE.finditer(text):
                self.collector.add(match[0].rstrip(".,;:!?)"))
        if "`" in text:
            text = _ROLE.sub(lambda match: self._role(match, keep), text)
            text = _EMBEDDED.sub(self._embedded, text)
        if "_" in text:
            text = _NOTED.sub(lambda match: f"[{match[1]}]" if match[1] else "", text)
            text = _REFERENCE.sub(self._reference, text)
        if "`" in text:
            text = _INTERPRETED.sub(r"\1", text)
        if "|" in text:
            text = _SUBSTITUTION.sub(r"\1", text)
        if "\\" in text:
            text = text.replace("\\ ", "").replace("\\*", "*").replace("\\_", "_").replace("\\|", "|")
        if not literals:
            return text.rstrip()
        return re.sub("\x00(\\d+)\x00", lambda match: literals[int(match[1])], text).rstrip()

    def add_document(self, name: str, words: str) -> None:
        """Add a link to a document, which Sphinx names without its extension; it is that of this document."""
        name = name.strip()
        self.collector.add(name if name.endswith(self._ending) else name + self._ending, words)

    def _role(self, match: re.Match[str], keep: Callable[[str], str]) -> str:
        """Return what a role such as ``:func:`name``` displays."""
        return self.role(match[1], match[2], match.string[max(match.start() - 3, 0) : match.start()], keep)

    def role(self, kind: str, words: str, before: str, keep: Callable[[str], str]) -> str:
        """Return what a role displays.

        Args:
            kind: Its name, such as ``func``.
            words: Its text, which may have a target in angle brackets.
            before: The few letters before it.
            keep: Returns what is displayed as code.
        """
        if kind in _LOWERED:
            return words
        if kind in _RAISED:
            return raised(words, before.removesuffix("\\ "))
        named = _ROLE_TARGET.match(words)
        is_document = kind.rpartition(":")[2] == "doc"
        if is_document:
            self.add_document(named[2] if named else words, named[1] if named else "")
        if named:
            return named[1]
        name = words.lstrip("!")
        if is_document:
            return name
        if prefix := _NUMBERED.get(kind):
            return prefix + name
        return keep(name[1:].rpartition(".")[2] if name.startswith("~") else name.lstrip("."))

    def _embedded(self, match: re.Match[str]) -> str:
        words, target = " ".join(match[1].split()), match[2].strip()
        target = self._targets.get(reference_name(target[:-1]), target) if target.endswith("_") else target
        self.collector.add(target, words)
        return words or target

    def _reference(self, match: re.Match[str]) -> str:
        words = match[1] or match[2] or match[3]
        if match[2] or (match[1] and match[0].endswith("__")):
            target = next(self._anonymous, None)
            target = self._targets.get(reference_name(target[:-1])) if target and target.endswith("_") else target
        else:
            target = self._targets.get(reference_name(words))
        if target is None:
            return words if match[1] else match[0]
        self.collector.add(target, words)
        return words
