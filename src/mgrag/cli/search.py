"""``mgrag search``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgrag.cli.options import Common, FilterOption, ModelOption, with_common
from mgrag.cli.output import Styled, line, note, print_json
from mgrag.cli.runtime import SEARCHING, tell_filter, tell_if_empty, with_kb

if TYPE_CHECKING:
    from core.rag import KnowledgeBase
    from core.rag.retrieval.hits import Because, Hit

#: Characters that are shown of the sentence that led to a hit.
_SENTENCE = 200
#: Copies of a passage that are named.
_ALSO_IN = 3


class Mode(StrEnum):
    """How to search."""

    AUTO = "auto"
    GRAPH = "graph"
    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"
    FUZZY = "fuzzy"


_BY_WORDS_TOO = (Mode.AUTO, Mode.HYBRID, Mode.GRAPH)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(search)


@with_common
def search(
    chosen: Common,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    k: Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number of hits.")] = 5,
    mode: Annotated[
        Mode,
        typer.Option(
            help="How to search: auto chooses; graph follows names between passages; hybrid combines words and"
            " meaning; vector is meaning, keyword words, fuzzy names with typos."
        ),
    ] = Mode.AUTO,
    filters: FilterOption = None,
    expand: Annotated[int, typer.Option(metavar="N", help="Add N neighbouring chunks on each side of a hit.")] = 0,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", metavar="ID", help="Conversation whose messages tell what the query refers to."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="User who is searching; their ratings come first.")
    ] = None,
    model: ModelOption = None,
) -> None:
    """Find passages by keyword, by meaning and by graph."""
    from core.rag.retrieval.wording.spelling import applied, told_of

    options: dict[str, Any] = {"filters": filters, "expand": expand, "conversation_id": conversation, "user_id": user}

    async def find(kb: KnowledgeBase) -> tuple[dict[str, str], list[Hit]]:
        corrected = await kb.corrections(query, mode.value, filters=filters)
        hits = await kb.search(query, k, mode.value, **options)
        if not hits:
            await tell_if_empty(kb)
            await tell_filter(kb, filters)
        return corrected, hits

    corrected, hits = with_kb(chosen, find, modules=SEARCHING, embedding=True, model=model)
    if corrected:
        note(f"mgrag: {told_of(corrected)}; what stands in quotation marks is not corrected.")
    if chosen.json:
        print_json([hit.to_dict() for hit in hits])
        return
    for number, hit in enumerate(hits, 1):
        _show(number, hit, applied(query, corrected))
    if not hits:
        line("Nothing found.")
    elif mode in _BY_WORDS_TOO and not any("keyword" in hit.scores or _is_led_to(hit) for hit in hits):
        note("mgrag: No passage has a word of the query; these are the nearest in meaning.")


def _show(number: int, hit: Hit, query: str) -> None:
    from core.rag.retrieval.excerpt import excerpt

    head: list[Styled] = [(f"{number}. ", "bold"), (hit.path, "bold cyan")]
    head += [(f"  {hit.heading}", "green")] if hit.heading else []
    head += [(f"  {where}", "yellow")] if (where := place(hit.metadata)) else []
    line(*head, (f"  {hit.score:.3f}", "magenta"))
    found = excerpt(hit.content, query)
    pieces: list[Styled] = ["   "]
    end = 0
    for begin, stop in found.marks:
        pieces += [found.text[end:begin], (found.text[begin:stop], "bold yellow")]
        end = stop
    line(*pieces, found.text[end:])
    if hit.because is not None and _is_led_to(hit):
        _show_because(hit.because)
    if hit.also_in:
        more = f" and {len(hit.also_in) - _ALSO_IN} more" if len(hit.also_in) > _ALSO_IN else ""
        line("   also in ", (", ".join(hit.also_in[:_ALSO_IN]), "cyan"), more)


def _is_led_to(hit: Hit) -> bool:
    """Return whether a hit was found through the graph."""
    return hit.because is not None and hit.because.reason != "words"


def _show_because(because: Because) -> None:
    """The titles that led to a hit, and the sentence."""
    way = " → ".join(because.path) if len(because.path) > 1 else ""
    pieces: list[Styled] = [f"   because ({because.reason}): ", (way or because.name, "green")]
    if because.sentence:
        pieces.append(f" “{' '.join(because.sentence.split())[:_SENTENCE]}”")
    line(*pieces)


def place(metadata: dict[str, Any]) -> str:
    """Where in its document a chunk stands: ``page 3-4``, ``sheet Costs, row 12``; and who speaks first in it."""
    from libs.dataloader.types import PLACES

    parts = []
    for name in PLACES:
        if name in metadata:
            last = f"-{metadata['page_end']}" if name == "page" and "page_end" in metadata else ""
            parts.append(f"{name} {metadata[name]}{last}")
    if "speaker" in metadata:
        parts.append(f"speaker {metadata['speaker']}")
    return ", ".join(parts)
