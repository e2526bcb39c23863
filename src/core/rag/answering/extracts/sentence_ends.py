"""How sentences end, behind which quotation marks, brackets and emphasis may be closed."""

from __future__ import annotations

import re
from typing import Final

#: The ends of questions, and of statements.
ASKS: Final = re.compile(r"[?？؟][\s\"'”’»」)\]*_]*\Z")
STATES: Final = re.compile(r"[.!;。！।۔…][\s\"'”’»」)\]*_`]*\Z")
