"""How sentences end, behind which quotation marks, brackets and emphasis may be closed."""

from __future__ import annotations

from typing import Final

from libs.regexes import regex

#: The ends of questions, and of statements.
ASKS: Final = regex(r"[?？؟][\s\"'”’»」)\]*_]*\Z")
STATES: Final = regex(r"[.!;。！।۔…][\s\"'”’»」)\]*_`]*\Z")
