"""An overview without a language model: how each document begins, how many there are, and what they mention."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePosixPath

from core.rag.answering.checking.citations import Checked, citation
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.composing import LABEL
from core.rag.answering.extracts.items import said_by
from core.rag.answering.extracts.readable import readable_spans
from core.rag.answering.extracts.showing import shown
from core.rag.answering.extracts.table_rows import is_row
from core.rag.answering.overview.survey import Survey
from core.rag.answering.types import Citation, Passage
from core.rag.headings import headings_of

#: Characters of the beginning of a document: a second sentence follows one that is shorter.
_ENOUGH = 120
_LONGEST = 300


def told(survey: Survey, passages: Sequence[Passage], why: str) -> Checked:
    """Compose the answer.

    Args:
        survey: What there is.
        passages: The beginnings of documents.
        why: Why no model writes the answer.
    """
    lines, citations = [" ".join(stated(survey)), "", f"{LABEL} ({why}):", ""], []
    for _, beginning in groupby(passages, key=lambda passage: passage.hit.document_id):
        text, cited = _beginning(list(beginning))
        lines.append(f"- {text} {''.join(f'[{one.number}]' for one in cited)}")
        citations += cited
    return Checked("\n".join(lines), tuple(citations), supported=True)


def stated(survey: Survey) -> list[str]:
    """Say how many documents there are, and what several of them mention."""
    count = f"{survey.documents:,}"
    lines = ["There is one document." if survey.documents == 1 else f"There are {count} documents."]
    if survey.names:
        names = ", ".join(shown(entity.name) for entity in survey.names)
        lines.append(f"Several of them mention, most often first: {names}.")
    return lines


def _beginning(passages: Sequence[Passage]) -> tuple[str, list[Citation]]:
    """Return how a document begins, below its title, and its first sentences as citations."""
    title = _title(passages[0])
    text, cited = "", list[Citation]()
    for passage in passages:
        content = passage.hit.content
        spans = readable_spans(passage) or [Span(0, len(content), said=True)]
        spans = [span for span in spans if span.said] or spans  # of source code, the comments
        for span in spans if len(text) < _ENOUGH else ():
            more = f"{text} {said_by(passage, span, set())}".strip()
            if text and len(more) > _LONGEST:
                break
            text = more
            if not cited or cited[-1].number != passage.number:
                cited.append(citation(passage, content[span.start : span.end]))
            if len(text) >= _ENOUGH or is_row(content, span.start):
                break
    return (text if text.casefold().startswith(title.casefold()) else f"{title}: {text}"), cited


def _title(passage: Passage) -> str:
    """Return the title of a document; its first heading, if it has only the name of its file."""
    hit = passage.hit
    headings = headings_of(hit.heading) if hit.title == PurePosixPath(hit.path).name else []
    return " ".join(next(filter(str.strip, headings), hit.title).split())
