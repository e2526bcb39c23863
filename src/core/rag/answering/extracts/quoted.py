"""Sentences that a passage only quotes, as mails quote those that they answer."""

from __future__ import annotations

from collections.abc import Sequence

from core.rag.answering.extracts.scoring import Sentence
from core.rag.answering.types import Passage
from core.rag.indexing.splitting.sentences import without_quotation_marks


def without_quoted(sentences: Sequence[Sentence], passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences but those in a quotation that a passage has as its own: there it stands who said it."""
    said = [" ".join(without_quotation_marks(one.text).split()) for one in sentences]
    quoted = [_is_quoted(passages[one.passage].hit.content, one.place.start) for one in sentences]
    own = {text for text, is_quoted in zip(said, quoted, strict=True) if not is_quoted}
    return [
        one for one, text, is_quoted in zip(sentences, said, quoted, strict=True) if not is_quoted or text not in own
    ]


def _is_quoted(text: str, place: int) -> bool:
    return text.startswith(">", text.rfind("\n", 0, place) + 1)
