"""Mentions of titles in the chunks of a run, and, at its end, in the chunks that were there before the titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.rag.analysis.stopwords import LATIN_LANGUAGES
from core.rag.analysis.words import fold, is_stop_word, stem
from core.rag.dbhandler.store import MAX_K
from core.rag.dbhandler.writing import DocumentRow
from core.rag.extraction.matching import NameTable
from core.rag.extraction.mentions import is_sought, mentions_of, sought
from core.rag.extraction.words import is_unspaced, normalized_words

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Characters of normalised text that are kept in memory until the end of a run.
_KEPT_CHARS = 20_000_000

#: Chunks whose texts are read at once.
_PAGE = 500

#: To read a chunk costs this many times less than to search for a title.
_READS_PER_SEARCH = 50

#: Words of a title that are searched for.
_SEARCHED_WORDS = 3


class TitleLinker:
    """Finds the titles of documents in chunks, for one run.

    A chunk is written with the mentions of the titles known by then. Titles that come after it are found at the end
    of the run, by keyword or by reading on, whichever is less work; a mark at the source tells the next run where this
    one did not get to its end.
    """

    def __init__(self, client: MemGraphClient) -> None:
        """Prepare a linker; it reads the titles of the graph when it is first needed."""
        self._client = client
        self._loaded = False
        self._at_start: set[str] = set()
        self._born: dict[str, int] = {}
        self._table = NameTable()
        self._batch_of: dict[str, int] = {}
        self._batch = 0
        self._sources: set[str] = set()
        self._words: dict[str, str] = {}
        self._kept_chars = 0

    async def load(self) -> None:
        """Read the titles of the graph, once."""
        if not self._loaded:
            self._at_start = set(filter(is_sought, await self._client.title_names()))
            self._table = NameTable(self._at_start)
            self._loaded = True

    def fill(self, rows: Sequence[DocumentRow]) -> None:
        """Find out what the chunks of a batch of documents mention."""
        self._batch += 1
        for row in rows:
            if row.source_id is not None:
                self._sources.add(row.source_id)
            for title in row.titles:
                if title.name not in self._table and is_sought(title.name):
                    self._table.add(title.name)
                    self._born[title.name] = self._batch
        for row in rows:
            for chunk in row.chunks:
                content = chunk.properties["content"]
                words = normalized_words(content)
                self._remember(chunk.id, words)
                chunk.mentions = mentions_of(content, chunk.properties["heading"], self._table, words)

    def _remember(self, chunk: str, words: Sequence[str]) -> None:
        """Keep the words of a chunk for the end of the run; of a very large run, those of the first chunks only."""
        self._batch_of[chunk] = self._batch
        self._kept_chars += sum(map(len, words))
        if self._kept_chars < _KEPT_CHARS:
            self._words[chunk] = " ".join(words)

    async def link(self) -> None:
        """Bring the mentions in all chunks up to date with the titles that there are now."""
        pending = await self._client.unlinked_sources()
        if not pending:
            return
        titles = sought(now := await self._client.title_names())
        if pending <= self._sources:
            chunks = await self._affected({name for name in now if name in titles})
        else:  # another run was cut short
            chunks = await self._client.chunk_ids()
        await self._client.extract_again(chunks, titles)
        await self._client.set_linked(pending)

    async def _affected(self, now: set[str]) -> list[str]:
        """Chunks that name a title which came after them, or one that was expected but did not come."""
        phantoms = (self._at_start | self._born.keys()) - now
        fresh = now - self._at_start
        table = NameTable([*phantoms, *fresh])
        if not len(table):
            return []
        affected: list[str] = []

        def look(chunk: str, words: Sequence[str]) -> None:
            batch = self._batch_of.get(chunk, 0)
            for _, _, name in table.find(words):
                if name in phantoms or self._born.get(name, self._batch + 1) > batch:
                    affected.append(chunk)
                    return

        async def look_up(chunks: Sequence[str]) -> None:
            for page in _pages(chunks):
                for chunk, text in (await self._client.chunk_texts(page)).items():
                    look(chunk, normalized_words(text))

        newest = max(self._born.values(), default=0)
        everywhere = bool(phantoms) or any(name not in self._born for name in fresh)
        behind = [chunk for chunk, batch in self._batch_of.items() if everywhere or batch < newest]
        for chunk in behind:
            if chunk in self._words:
                look(chunk, self._words[chunk].split(" "))
        await look_up([chunk for chunk in behind if chunk not in self._words])
        if fresh:
            await look_up(await self._older(fresh))
        return affected

    async def _older(self, titles: set[str]) -> list[str]:
        """Chunks from before this run that may name one of the titles."""
        if await self._client.count_chunks() > _READS_PER_SEARCH * len(titles) + len(self._batch_of):
            found: set[str] = set()
            for title in sorted(titles):
                chunks = await self._search(title)
                if chunks is None:
                    break
                found |= chunks
            else:
                return sorted(found - self._batch_of.keys())
        return [chunk for chunk in await self._client.chunk_ids() if chunk not in self._batch_of]

    async def _search(self, title: str) -> set[str] | None:
        """All chunks with the words of a title, by the keyword index; ``None`` where it cannot tell."""
        common: set[str] | None = None
        for word in _searchable(title):
            stems = {stem(word, language) for language in LATIN_LANGUAGES}
            matches = await self._client.match_terms(dict.fromkeys(sorted(filter(None, stems)), 1.0), MAX_K)
            if len(matches) < MAX_K:
                ids = {match.id for match in matches}
                common = ids if common is None else common & ids
        return common


def _searchable(title: str) -> list[str]:
    """Words of a title that every text which has them is indexed by, whatever its language; the longest first."""
    words = {fold(word) for word in title.split(" ") if word.isalpha() and not is_unspaced(word)}
    usable = [
        word
        for word in words
        if len(word) > 1 and not any(is_stop_word(word, language) for language in LATIN_LANGUAGES)
    ]
    return sorted(usable, key=lambda word: (-len(word), word))[:_SEARCHED_WORDS]


def _pages(items: Sequence[str]) -> Iterable[Sequence[str]]:
    return (items[start : start + _PAGE] for start in range(0, len(items), _PAGE))
