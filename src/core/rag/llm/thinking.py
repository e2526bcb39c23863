"""Removes the thoughts of reasoning models: ``<think>…</think>`` before the answer is not part of it.

Where the server does not take the thinking apart (Ollama, vLLM and LM Studio as they are set up by default, for models
like DeepSeek-R1 and Qwen3), it comes as text. Where their chat template opens the thinking itself, only its end comes.
"""

from __future__ import annotations

from libs.regexes import regex

_OPENED = "<think>"
_CLOSED = "</think>"
_END = regex(rf"(?:\A|\n)[ \t]*{_CLOSED}|{_CLOSED}[ \t]*(?:\n|\Z)")


class ThinkingFilter:
    """Takes the thinking out of an answer that arrives in parts; what is certainly no thinking is passed on at once."""

    def __init__(self, *, opened: bool = False) -> None:
        """Prepare.

        Args:
            opened: Whether the thinking has begun before the answer does. If no end comes, all of it is the answer.
        """
        self._held = ""
        self._opened = opened
        self._thinks = False
        self._passes = False

    def feed(self, part: str) -> str:
        """Return what can be passed on now that a part is there."""
        if self._passes:
            return part
        self._held += part
        if self._opened and not self._thinks:
            if _CLOSED not in self._held:
                return ""
            self._thinks = True
        if not self._thinks:
            begun = self._held.lstrip()
            if len(begun) < len(_OPENED) and _OPENED.startswith(begun):
                return ""
            if not begun.startswith(_OPENED):
                return self.end()
            self._thinks, self._held = True, begun[len(_OPENED) :]
        _, closed, said = self._held.partition(_CLOSED)
        if not closed:
            self._held = self._held[-len(_CLOSED) :]
            return ""
        # Blank lines between the two; they may come in parts, too.
        self._held = said.lstrip()
        if not self._held:
            self._held = _CLOSED
            return ""
        return self._pass()

    def end(self) -> str:
        """Return what was held back, now that nothing follows; nothing where the thinking has no end."""
        return "" if self._thinks else self._pass()

    def _pass(self) -> str:
        self._passes, held, self._held = True, self._held, ""
        return held


def without_thinking(text: str) -> str:
    """Return a whole answer without the thinking before it."""
    filtering = ThinkingFilter(opened=opened_before(text))
    return filtering.feed(text) + filtering.end()


def opened_before(text: str) -> bool:
    """Return whether the thinking of a whole answer has begun before it: only its end is there, and ends a line.

    Amid a line, it is what an answer says of models that think.
    """
    end = _END.search(text)
    return end is not None and _OPENED not in text[: end.start()]
