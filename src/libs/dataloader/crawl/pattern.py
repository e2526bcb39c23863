"""The regular expression that says which pages of a site are wanted."""

from __future__ import annotations

import regex

#: Processor time for one URL; what needs more would need forever for the next one.
_SECONDS = 1.0


class UrlPattern:
    """A regular expression that may come from a stranger: one that takes forever must not hold up the process.

    Args:
        text: In the syntax of :mod:`re`.

    Raises:
        ValueError: if it is none, or too large; says why.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._pattern = regex.compile(text)
        except regex.error as error:
            raise ValueError(str(error)) from error
        except (OverflowError, RecursionError) as error:
            raise ValueError("it is too large") from error

    def finds(self, url: str) -> bool:
        """Return whether it is found in a URL.

        Raises:
            ValueError: if that takes too long.
        """
        try:
            return self._pattern.search(url, timeout=_SECONDS) is not None
        except TimeoutError as error:
            raise ValueError(
                f"looking for it in {url[:200]} takes more than {_SECONDS:g} s; write it without repetitions within"
                " repetitions, such as (a+)+"
            ) from error
