"""Tells pages that are gone from a site that does not show them for now: it asks for a login, or is down."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from libs.dataloader.crawl.fetch import RedirectError, UnwantedError
from libs.dataloader.crawl.visit import Visit, Visitor


async def why_doubtful(start: str, urls: Sequence[str], visitor: Visitor) -> str | None:
    """Visit pages that a crawl did not find, and return why most of them may still exist.

    Args:
        start: Start URL of the crawl. A site that answers every address with one page answers this one so, too.
        urls: The pages.
        visitor: Visits them; it must know no stored pages, and is closed at the end.

    Returns:
        The reason for one of them, for people to read; ``None`` if most are gone, or exist but are not linked.
    """
    try:
        first, *visits = await asyncio.gather(*(visitor.visit(url, None) for url in (start, *urls)))
    finally:
        visitor.close()
    reasons = [reason for url, visit in zip(urls, visits, strict=True) if (reason := _why(url, visit, first))]
    return reasons[0] if 2 * len(reasons) > len(urls) else None


def _why(url: str, visit: Visit, start: Visit) -> str | None:
    if url in visit.moved:
        return None
    failure = visit.failure
    if failure is not None:
        if failure.is_gone or isinstance(failure, RedirectError | UnwantedError):
            return None
        return f"{url} could not be read ({failure.reason})"
    if visit.skipped == "scope":
        return f"{url} redirects to another site for now"
    if visit.url != url:
        return f"{url} redirects to {visit.url} for now"
    if visit.trace is not None and visit.trace == start.trace:
        return f"{url} shows the same as {start.url}"
    return None
