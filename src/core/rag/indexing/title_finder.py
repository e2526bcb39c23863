"""Finds mentions of titles in chunks during a run, while further titles are still being loaded.

Nothing here reads the graph, so it can run in a second process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from core.rag.dbhandler.knowledge.mentioned import Mentioned, MentionWriter
from core.rag.extraction.matching import NameTable
from core.rag.extraction.mentions import Title, is_sought, mentions_of, titles_of
from core.rag.extraction.words import normalized_words
from libs.dataloader import Document

#: Characters of normalised text that are kept in memory until the end of a run.
_KEPT_CHARS = 20_000_000


class TitleFinder:
    """Finds titles in chunks, and records which chunks came before which titles.

    It can be pickled: in a large run it lives in the process that cuts documents.
    """

    def __init__(
        self, at_start: Iterable[str], coming: Iterable[Document] = (), unlinked: Collection[str] = ()
    ) -> None:
        """Prepare a finder.

        Args:
            at_start: The normalised titles of the documents that the graph has.
            unlinked: Those of them that were not looked for in all chunks of the graph, since another run was
                interrupted or is not finished.
            coming: Documents that are known before the run begins. Their titles are looked for in all chunks of the
                run, also in chunks that come before these documents.
        """
        titles = set(filter(is_sought, at_start))
        #: The titles that had been looked for in all chunks when the run began.
        self.at_start = titles.difference(unlinked)
        #: The number of the batch that brought each other title; 0 for titles known before the run began.
        self.born: dict[str, int] = dict.fromkeys(titles.intersection(unlinked), 0)
        #: The number of the batch of each chunk.
        self.batch_of: dict[str, int] = {}
        self._table = NameTable(titles)
        self._batch = 0
        self._words: dict[str, str] = {}
        self._kept_chars = 0
        for document in coming:
            self._expect(titles_of(document.title, document.path, document.content, document.metadata), 0)

    def _expect(self, titles: Iterable[Title], batch: int) -> None:
        for title in titles:
            if title.name not in self._table and is_sought(title.name):
                self._table.add(title.name)
                self.born[title.name] = batch

    def expect(self, titles: Iterable[Title]) -> None:
        """Look for titles from the next batch on; those of documents that are read, but not cut yet."""
        self._expect(titles, self._batch + 1)

    def mentioned(
        self, titles: Iterable[Title], chunks: Iterable[tuple[str, str, str]], namespace: str
    ) -> list[Mentioned]:
        """Return what the chunks of a batch of documents mention.

        Args:
            titles: The titles of the documents.
            chunks: Id, content and heading of each chunk.
            namespace: The namespace of the documents.
        """
        writer = MentionWriter(namespace)
        self._batch += 1
        self._expect(titles, self._batch)
        found = []
        for identifier, content, heading in chunks:
            words = normalized_words(content)
            self._remember(identifier, words)
            found.append(writer.mentioned(identifier, mentions_of(content, heading, self._table, words)))
        return found

    def _remember(self, chunk: str, words: Sequence[str]) -> None:
        """Keep the words of a chunk until the end of the run; in a very large run, only those of the first chunks."""
        self.batch_of[chunk] = self._batch
        self._kept_chars += sum(map(len, words))
        if self._kept_chars < _KEPT_CHARS:
            self._words[chunk] = " ".join(words)

    def is_behind(self, chunk: str, words: Sequence[str], table: NameTable, phantoms: Collection[str]) -> bool:
        """Return whether a chunk names a title that came after it, or one that was expected but did not come.

        Args:
            chunk: Its id. A chunk that this run did not cut came before all titles of the run.
            words: Its normalised words.
            table: The titles to look for.
            phantoms: The titles that were expected but did not come.
        """
        batch = self.batch_of.get(chunk, -1)
        return any(name in phantoms or self.born.get(name, self._batch + 1) > batch for _, _, name in table.find(words))

    def behind(self, now: set[str]) -> tuple[list[str], list[str]]:
        """Return the chunks of this run whose mentions are out of date.

        Args:
            now: The normalised titles that the graph has now.

        Returns:
            The ids of chunks that name a title which came after them, or one that was expected but did not come; and
            the ids of chunks that must be read again to find out.
        """
        phantoms, fresh = self.changes(now)
        newest = max(self.born.values(), default=0)
        everywhere = bool(phantoms) or any(name not in self.born for name in fresh)
        chunks = [chunk for chunk, batch in self.batch_of.items() if everywhere or batch < newest]
        table = NameTable([*phantoms, *fresh] if chunks else ())
        found = [
            chunk
            for chunk in chunks
            if chunk in self._words and self.is_behind(chunk, self._words[chunk].split(" "), table, phantoms)
        ]
        return found, [chunk for chunk in chunks if chunk not in self._words]

    def changes(self, now: set[str]) -> tuple[set[str], set[str]]:
        """Return the titles that were known but are gone now, and those not looked for in all chunks at the start."""
        return (self.at_start | self.born.keys()) - now, now - self.at_start
