"""Request parameters, and those that servers have been found to reject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag.llm.base import Message
    from core.rag.openai_failures import ApiFailure


@dataclass(slots=True)
class Options:
    """What a model takes; learnt from refusals and kept.

    Attributes:
        limit: The name of the parameter that bounds the answer: newer models of OpenAI only know the longer one.
        temperature: Whether it takes a temperature; models that think do not.
        usage: Whether a stream can be asked to end with the token counts.
        system: Whether it takes messages of the system, and several of one role in a row; the templates of some models
            (Gemma, early Mistral) do not.
    """

    limit: str = "max_tokens"
    temperature: bool = True
    usage: bool = True
    system: bool = True

    def dialogue(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """Return the messages as they are sent."""
        sent: list[dict[str, str]] = []
        for message in messages:
            # Half characters (of file names, say) are no UTF-8 and cannot be sent.
            content = message.content.encode("utf-8", "replace").decode()
            role = "user" if message.role == "system" and not self.system else message.role
            if sent and not self.system and sent[-1]["role"] == role:
                sent[-1]["content"] += f"\n\n{content}"
            else:
                sent.append({"role": role, "content": content})
        return sent

    def plain(self, temperature: float, max_tokens: int) -> dict[str, Any]:
        """Return the parameters of a request for a whole answer."""
        options: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            options["temperature"] = temperature
        return options

    def streamed(self, temperature: float, max_tokens: int) -> dict[str, Any]:
        """Return the parameters of a request for a stream."""
        more = {"stream_options": {"include_usage": True}} if self.usage else {}
        return self.plain(temperature, max_tokens) | more

    def adapt(self, failure: ApiFailure, sent: dict[str, Any]) -> bool:
        """Learn from a refusal.

        Args:
            failure: What the server said.
            sent: The parameters that it was sent, messages included.

        Returns:
            Whether there is something else to try.
        """
        if failure.status not in (400, 422):
            return False
        message = failure.message
        if "max_completion_tokens" in message and "max_tokens" in sent:
            self.limit = "max_completion_tokens"
        elif "temperature" in message and "temperature" in sent:
            self.temperature = False
        elif "stream_options" in message and "stream_options" in sent:
            self.usage = False
        elif _about_roles(message) and any(item["role"] == "system" for item in sent["messages"]):
            self.system = False
        else:
            return False
        return True


def _about_roles(message: str) -> bool:
    words = message.casefold()
    return "role" in words and ("system" in words or "alternate" in words)
