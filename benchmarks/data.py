"""The data sets: ``corpus.jsonl`` {id, title?, text} and ``queries.jsonl`` {id, text, relevant, …}."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.dataloader import Document

SETS = ("2wiki_train500", "musique_train100", "cranfield", "mtrag_un_dev")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A corpus with questions."""

    name: str
    passages: list[dict[str, Any]]
    queries: list[dict[str, Any]]

    def documents(self) -> list[Document]:
        """One document per passage; its path is the id."""
        return [Document(path=row["id"], content=row["text"], title=row.get("title") or None) for row in self.passages]


def load(folder: Path, name: str) -> DataSet:
    """Read a data set."""
    return DataSet(name, read_lines(folder, name, "corpus.jsonl"), read_lines(folder, name, "queries.jsonl"))


def read_lines(folder: Path, name: str, file: str) -> list[dict[str, Any]]:
    """Read one file of a data set."""
    with (folder / name / file).open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def recall(found: Sequence[str], relevant: Sequence[str], k: int = 5) -> float:
    """Share of the relevant passages among the first ``k`` different ones found."""
    first = list(dict.fromkeys(found))[:k]
    return len(set(first) & set(relevant)) / len(set(relevant))
