"""Finds mentions of titles in chunks that were stored before the titles: the last step of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.rag.analysis.stopwords import LATIN_LANGUAGES
from core.rag.analysis.words import fold, is_stop_word, stem
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.store import MAX_K
from core.rag.extraction.matching import NameTable
from core.rag.extraction.mentions import is_sought
from core.rag.extraction.words import is_unspaced, normalized_words
from core.rag.indexing.resolving import resolve_names_after
from core.rag.indexing.title_runs import TitleRun, TitleRuns, title_runs

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.indexing.title_finder import TitleFinder

#: Searching for one title costs as much as reading this many chunks.
_READS_PER_SEARCH = 50

#: Maximum number of words of a title that are searched for.
_SEARCHED_WORDS = 3


class TitleLinker:
    """Brings mentions up to date with the titles in the graph.

    A chunk is written with mentions of the titles known at that time. Mentions of later titles are found at the end of
    the run, by keyword search or by reading the chunks, whichever is less work. A mark at the source tells the next run
    if this one did not get that far. When all mentions are written, names that mean the same are connected.
    """

    def __init__(self, client: MemGraphClient) -> None:
        """Prepare a linker for a graph."""
        self._client = client

    async def link(self, run: TitleRun | None) -> None:
        """Bring the mentions in all chunks up to date with the titles that there are now.

        Args:
            run: The run that ends; ``None``: nothing is known, so that every chunk is read.
        """
        runs = await title_runs(self._client)
        async with runs.together(run or TitleRun(lost=True)) as group:
            if group:
                await self._link(runs, group)

    async def _link(self, runs: TitleRuns, group: Sequence[TitleRun]) -> None:
        """Do it for all runs that have ended meanwhile."""
        pending = await self._client.unlinked_sources()
        finders = [run.finder for run in group if run.finder is not None]
        lost = any(run.lost for run in group)
        changed = sum(len(finder.batch_of) for finder in finders)
        removed = sum(run.removed for run in group)
        # Without a mark, another run has looked for the titles of this one, but this one expected titles, too.
        if not changed and (not pending or (not lost and runs.others(group))):
            if removed:
                await resolve_names_after(self._client, removed)
            return
        known = runs.known()  # read before the titles: what another run writes and leaves in between is not gone
        titles = set(filter(is_sought, await self._client.title_names()))
        runs.forget(known - titles)
        searched = titles
        if finders and not lost and all(mark.since is not None for mark in pending):
            searched = await asyncio.to_thread(_wanted, group, titles, runs.seen_to(group), runs.left)
            chunks = await self._affected(finders, titles, searched)
        else:
            chunks = await self._client.chunk_ids()
            changed = len(chunks)
        if chunks:
            await self._client.extract_again(chunks, await asyncio.to_thread(NameTable, titles))
        await resolve_names_after(self._client, changed + removed)
        if runs.looked_for(searched, group):
            await self._client.set_linked(pending)

    async def _affected(self, finders: Sequence[TitleFinder], now: set[str], wanted: set[str]) -> list[str]:
        """Return the ids of chunks that name a title which came after them, or one that did not come as expected.

        Args:
            finders: What the runs know.
            now: The titles in the graph.
            wanted: Those to look for in the chunks of other runs.
        """
        affected: dict[str, None] = {}
        phantoms: set[str] = set()
        for finder in finders:
            found, unknown = await asyncio.to_thread(finder.behind, now)
            affected |= dict.fromkeys(found)
            gone, fresh = finder.changes(now)
            phantoms |= gone
            table = NameTable([*gone, *fresh] if unknown else ())
            for page in batches(unknown):
                texts = await self._client.chunk_texts(page)
                affected |= dict.fromkeys(await asyncio.to_thread(_behind, finder, texts, table, gone))
        older = await self._older(set().union(*(finder.batch_of for finder in finders)), wanted) if wanted else []
        table = await asyncio.to_thread(NameTable, [*phantoms, *wanted] if older else ())
        for page in batches(older):
            texts = await self._client.chunk_texts(page)
            affected |= dict.fromkeys(await asyncio.to_thread(_naming, texts, table))
        return list(affected)

    async def _older(self, seen: set[str], titles: set[str]) -> list[str]:
        """Return the ids of chunks of other runs, ``seen`` being those of these, that may name one of the titles."""
        if await self._client.count_chunks() > _READS_PER_SEARCH * len(titles) + len(seen):
            found: set[str] = set()
            for title in sorted(titles):
                chunks = await self._search(title)
                if chunks is None:
                    break
                found |= chunks
            else:
                return sorted(found - seen)
        return [chunk for chunk in await self._client.chunk_ids() if chunk not in seen]

    async def _search(self, title: str) -> set[str] | None:
        """Return the ids of all chunks with the words of a title, by keyword search; ``None`` if it cannot tell."""
        common: set[str] | None = None
        for word in _searchable(title):
            stems = {stem(word, language) for language in LATIN_LANGUAGES}
            matches = await self._client.match_terms(dict.fromkeys(sorted(filter(None, stems)), 1.0), MAX_K)
            if len(matches) < MAX_K:
                ids = {match.id for match in matches}
                common = ids if common is None else common & ids
        return common


def _wanted(group: Iterable[TitleRun], now: set[str], others: set[str], left: set[str]) -> set[str]:
    """Return the titles to look for in chunks that were there before: those of the runs, and those nobody looks for."""
    wanted = set(left)
    for run in group:
        if run.finder is not None:
            _, fresh = run.finder.changes(now)
            wanted |= fresh - (others - run.titles)
    return wanted & now


def _naming(texts: Mapping[str, str], table: NameTable) -> list[str]:
    return [chunk for chunk, text in texts.items() if table.find(normalized_words(text))]


def _behind(finder: TitleFinder, texts: Mapping[str, str], table: NameTable, phantoms: Collection[str]) -> list[str]:
    return [chunk for chunk, text in texts.items() if finder.is_behind(chunk, normalized_words(text), table, phantoms)]


def _searchable(title: str) -> list[str]:
    """Return the words of a title, longest first, by which a text that contains them is indexed in any language."""
    words = {fold(word) for word in title.split(" ") if word.isalpha() and not is_unspaced(word)}
    usable = [
        word
        for word in words
        if len(word) > 1 and not any(is_stop_word(word, language) for language in LATIN_LANGUAGES)
    ]
    return sorted(usable, key=lambda word: (-len(word), word))[:_SEARCHED_WORDS]
