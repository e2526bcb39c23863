"""Reads the responses of a chat endpoint, whole or streamed."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from typing import Any

from core.rag.llm.base import FinishReason
from core.rag.openai_events import MalformedAnswerError

_REASONS: dict[str, FinishReason] = {"length": "length", "content_filter": "content_filter"}


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """An answer, or a part of one.

    Attributes:
        text: The words.
        arguments: Those of the function that was called. Only who offered one takes them; they are no words.
        finish_reason: Why the model stopped, if it did.
        refusal: Why it does not answer, if it says so.
        usage: Token counts, as the server sent them.
        model: The model that answered.
    """

    text: str = ""
    arguments: str = ""
    finish_reason: FinishReason | None = None
    refusal: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    model: str = ""

    def followed_by(self, other: AnswerPart) -> AnswerPart:
        """Return what is known after another part; the text of parts is not kept."""
        return AnswerPart(
            finish_reason=self.finish_reason or other.finish_reason,
            refusal=self.refusal + other.refusal,
            usage=other.usage or self.usage,
            model=other.model or self.model,
        )


class WholeCharacters:
    """Joins the halves of characters: servers that count in UTF-16 end a part amid an emoji, and begin the next there.

    Halves without another become U+FFFD, as no protocol and no engine takes them.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    def feed(self, part: str) -> str:
        """Return what is whole now that a part is there."""
        return self._decoder.decode(part.encode("utf-16-le", "surrogatepass"))

    def end(self) -> str:
        """Return what was held back, now that nothing follows."""
        return self._decoder.decode(b"", final=True)


def read_completion(answer: Any) -> AnswerPart:
    """Read a whole answer.

    Args:
        answer: Its JSON.

    Raises:
        MalformedAnswerError: It is not what the protocol promises.
    """
    choices = _choices(answer)
    if not choices:
        raise MalformedAnswerError("the answer holds no choice")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise MalformedAnswerError("the answer holds no message")
    part = _part(answer, choices[0], message)
    return replace(part, text=_whole(part.text), arguments=_whole(part.arguments))


def read_part(event: Any) -> AnswerPart:
    """Read a part of a streamed answer.

    Args:
        event: The JSON of one event.

    Raises:
        MalformedAnswerError: It is not what the protocol promises, or says that the server failed.
    """
    choices = _choices(event)
    if not choices:  # the last one, with the token counts, or a sign of life
        return AnswerPart(usage=_dict(event.get("usage")))
    return _part(event, choices[0], _dict(choices[0].get("delta")))


def _choices(answer: Any) -> list[dict[str, Any]]:
    if not isinstance(answer, dict):
        raise MalformedAnswerError("the answer is not a JSON object")
    if error := answer.get("error"):
        message = error.get("message") if isinstance(error, dict) else error
        raise MalformedAnswerError(f"the server says: {str(message)[:300]}")
    choices = answer.get("choices", [])
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise MalformedAnswerError("the answer holds no list of choices")
    return choices


def _part(answer: dict[str, Any], choice: dict[str, Any], message: dict[str, Any]) -> AnswerPart:
    reason = choice.get("finish_reason") or None  # some servers send an empty one until the end
    return AnswerPart(
        text=_text(message.get("content")),
        arguments=_arguments(message),
        finish_reason=None if reason is None else _REASONS.get(str(reason), "stop"),
        refusal=_text(message.get("refusal")),
        usage=_dict(answer.get("usage")),
        model=_text(answer.get("model")),
    )


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, list):  # some servers answer in typed parts
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise MalformedAnswerError("the content of the answer is not text")
    return content


def _whole(text: str) -> str:
    characters = WholeCharacters()
    return characters.feed(text) + characters.end()


def _arguments(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return ""
    arguments = _dict(_dict(calls[0]).get("function")).get("arguments")
    return arguments if isinstance(arguments, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
