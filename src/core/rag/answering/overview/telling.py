"""An overview without a language model: how each document or part begins, below what is said of all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePosixPath

from core.rag.answering.checking.citations import Checked
from core.rag.answering.extracts.citing import citation
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.composing import LABEL
from core.rag.answering.extracts.items import said_by
from core.rag.answering.extracts.readable import readable_spans
from core.rag.answering.extracts.showing import shown
from core.rag.answering.extracts.table_rows import is_row
from core.rag.answering.overview.survey import Survey
from core.rag.answering.types import Citation, Passage
from core.rag.headings import headings_of, last_heading

#: Characters of the beginning of a document: a second sentence follows one that is shorter.
_ENOUGH = 120
_LONGEST = 300
#: Of a document with few parts, so many times as much is shown of each.
_FEW, _MORE = 3, 3


def told(survey: Survey, passages: Sequence[Passage], why: str) -> Checked:
    """Compose the answer.

    Args:
        survey: What there is.
        passages: The beginnings of documents, or parts of some.
        why: Why no model writes the answer.
    """
    lines, citations = [survey.about, *(("", f"{LABEL} ({why}):", "") if passages else ())], []
    of_parts = survey.of_parts
    times = _MORE if of_parts and len(passages) <= _FEW else 1
    for _, together in groupby(passages, key=lambda one: one.hit.chunk_id if of_parts else one.hit.document_id):
        beginning = list(together)
        text, cited = _beginning(beginning, (_heading if of_parts else _title)(beginning[0]), times)
        lines.append(f"- {text} {''.join(f'[{one.number}]' for one in cited)}")
        citations += cited
    return Checked("\n".join(lines), tuple(citations), supported=True)


def _beginning(passages: Sequence[Passage], title: str, times: int) -> tuple[str, list[Citation]]:
    """Return how passages begin, below a title, and the first sentence of each that is shown as a citation."""
    text, cited = "", list[Citation]()
    found = [readable_spans(passage) for passage in passages]
    if not any(found):  # else a logo or a badge above the first heading is not shown
        found = [[Span(0, len(passage.hit.content), said=True)] for passage in passages]
    for passage, spans in zip(passages, found, strict=True):
        content = passage.hit.content
        words = [span for span in spans if span.said] or spans  # of source code, the comments
        for span in words if len(text) < times * _ENOUGH else ():
            of_table = is_row(content, span.start, passage.hit.table_header)
            said = said_by(passage, span)
            more = f"{text}{'; ' if ' | ' in said else ' '}{said}" if text else said
            if text and len(more) > times * _LONGEST:
                break
            text = more
            if not cited or cited[-1].number != passage.number:
                cited.append(citation(passage, content[span.start : span.end]))
            if len(text) >= times * _ENOUGH or (of_table and times == 1):
                break
    below = title and not text.casefold().startswith(title.casefold())
    return (f"{title}: {text.removeprefix('… ')}" if below else text), cited


def _title(passage: Passage) -> str:
    """Return the title of a document; its first heading, if it has only the name of its file."""
    hit = passage.hit
    headings = headings_of(hit.heading) if hit.title == PurePosixPath(hit.path).name else []
    return shown(next(filter(str.strip, headings), hit.title))


def _heading(passage: Passage) -> str:
    """Return the heading of a part of a document, if it is not the title of that."""
    heading = shown(last_heading(passage.hit.heading))
    return "" if heading.casefold() == shown(passage.hit.title).casefold() else heading
