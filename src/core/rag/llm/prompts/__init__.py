"""Prompts: one file each in this folder, named ``NAME.vVERSION.md``, with a model of the values to fill in.

A file has sections ``## system`` and ``## user`` with places ``{{name}}``. A prompt is a class derived from
:class:`Prompt` with a field for each place. Values are data and fenced (``core.rag.llm.fence``), unless a field is
``Annotated[…, PLAIN]``: text of this package. A prompt that changes gets a new file with the next version; which
version an answer was made with is in its metrics.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from core.rag.llm.base import Message, Role
from core.rag.llm.fence import RULE, fence
from libs.regexes import regex

#: Marks a field whose value is this package's own text and goes into the prompt as it is.
PLAIN = "plain"

Plain = Annotated[str, PLAIN]

_PLACE = regex(r"\{\{([a-z_]+)\}\}")
_SECTION = regex(r"^## (system|user)\n", re.MULTILINE)


class Prompt(BaseModel):
    """What is filled into a prompt.

    Attributes:
        prompt: Name of the file, without the version.
        version: Its version.
    """

    model_config = ConfigDict(frozen=True)

    prompt: ClassVar[str]
    version: ClassVar[int] = 1

    @classmethod
    def label(cls) -> str:
        """The name and version of the prompt: ``NAME.vVERSION``."""
        return f"{cls.prompt}.v{cls.version}"

    def messages(self) -> list[Message]:
        """Return the messages to send.

        Raises:
            LookupError: The file has a place that is no field, or the other way round.
        """
        sections = _sections(self.label())
        values = {name: self._filled(name) for name in type(self).model_fields}
        places = {place for _, text in sections for place in _PLACE.findall(text)}
        if places != set(values) | {"rule"}:
            raise LookupError(f"The prompt {self.label()} has places {sorted(places)} for {sorted(values)} and rule")
        values["rule"] = RULE
        # One pass: what is filled in is not looked at again.
        return [Message(role, _PLACE.sub(lambda found: values[found[1]], text)) for role, text in sections]

    def _filled(self, name: str) -> str:
        value: Any = getattr(self, name)
        text = "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        return text if PLAIN in type(self).model_fields[name].metadata else fence(text, name.replace("_", "-"))


@cache
def _sections(label: str) -> list[tuple[Role, str]]:
    text = files(__name__).joinpath(f"{label}.md").read_text(encoding="utf-8")
    parts = _SECTION.split(text)[1:]
    roles: dict[str, Role] = {"system": "system", "user": "user"}
    return [(roles[role], body.strip()) for role, body in zip(parts[::2], parts[1::2], strict=True)]
