"""``mgrag ingest``."""

from __future__ import annotations

import os
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgrag.cli.options import Common, ModelOption, with_common
from mgrag.cli.output import counted, line, note, print_json, progress
from mgrag.cli.runtime import EXIT_FAILED, EXIT_INTERRUPTED, fail, open_kb, run, stop_on_interrupt

if TYPE_CHECKING:
    from core.rag.indexing.report import FailedDocument, IngestReport
    from libs.dataloader import Loader

_TOLD_ALIKE = 3  # documents that failed for one reason, shown each


class Extract(StrEnum):
    """Who finds entities and facts, beside the rules."""

    LLM = "llm"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ingest)


@with_common
def ingest(
    chosen: Common,
    sources: Annotated[list[str], typer.Argument(metavar="PATH_OR_URL", help="Files, folders and web addresses.")],
    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only files that match; repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Skip files or folders that match; repeatable.")
    ] = None,
    gitignore: Annotated[bool, typer.Option(help="Whether to skip files that .gitignore excludes.")] = True,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Also load files and folders whose names begin with a dot.")
    ] = False,
    url_pattern: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Only web pages whose address matches.")
    ] = None,
    max_urls: Annotated[
        int | None, typer.Option("--max-urls", "--max-pages", metavar="N", help="Fetch at most N pages of each site.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete documents that are no longer in these sources.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if any document failed.")] = False,
    extract: Annotated[
        Extract | None, typer.Option(help="Extract more entities and facts with a language model (MGRAG_LLM_MODEL).")
    ] = None,
    model: ModelOption = None,
    new_store: Annotated[
        bool, typer.Option("--new-store", help="If the graph uses another model, add a second vector store.")
    ] = False,
    chunk_size: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="Maximum size of a chunk. Default: MGRAG_CHUNK_SIZE.")
    ] = None,
    chunk_overlap: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="Overlap of neighbouring chunks. Default: MGRAG_CHUNK_OVERLAP.")
    ] = None,
) -> None:
    """Load files, folders and web pages into the graph.

    Run it again at any time: only what changed is processed.
    """
    web = {"url_pattern": url_pattern, "max_urls": max_urls}
    options: dict[str, Any] = {
        "include": tuple(include or ()),
        "exclude": tuple(exclude or ()),
        "gitignore": gitignore,
        "hidden": hidden,
        **{key: value for key, value in web.items() if value is not None},
    }
    opening: dict[str, Any] = {
        "model": model,
        "new_store": new_store,
        "chunk_size": chunk_size,
        "chunk_overlap": chunk_overlap,
    }
    so_far: list[IngestReport] = []
    try:
        report = run(
            lambda: _ingest(
                chosen, opening, sources, so_far, prune=prune, facts=extract is Extract.LLM or None, options=options
            )
        )
    finally:  # whatever failed, what was stored before it stays
        if so_far:
            _print(so_far[-1], chosen)
    done = report.documents
    if report.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if done.failed and (strict or not (done.added or done.updated or done.unchanged)):
        raise typer.Exit(EXIT_FAILED)


def _check_there(loaders: list[Loader]) -> None:
    """Make no graph where none of the files and folders is there."""
    from libs.dataloader import LoadError, SourceNotFoundError

    missing = []
    for loader in loaders:
        try:
            if loader.source:
                return
        except SourceNotFoundError as error:
            missing.append(str(error))
        except LoadError:
            return  # told when it is loaded
    fail("; ".join(missing), EXIT_FAILED)


def _tell_unused(sources: list[str], options: dict[str, Any]) -> None:
    """Say which options have no effect, because they are for another kind of source."""
    from core.rag.indexing.sources import is_web
    from libs.dataloader.paths import path_given

    kinds = {is_web(source) for source in sources}
    given = {f"--{name.replace('_', '-')}" for name, value in options.items() if value not in ((), False)}
    if kinds == {False} and (unused := sorted(given & {"--url-pattern", "--max-urls"})):
        note(f"mgrag: No effect: {', '.join(unused)} (only for web addresses).")
    if kinds == {True} and (unused := sorted(given & {"--include", "--exclude", "--hidden"})):
        note(f"mgrag: No effect: {', '.join(unused)} (only for files and folders; for web addresses: --url-pattern).")
    files = all(os.path.isfile(path_given(source)) for source in sources)  # noqa: PTH113
    if files and (unused := sorted(given & {"--include", "--exclude", "--hidden"})):
        note(f"mgrag: No effect: {', '.join(unused)} (a file that is named is loaded in any case).")


async def _ingest(
    chosen: Common,
    opening: dict[str, Any],
    sources: list[str],
    so_far: list[IngestReport],
    *,
    prune: bool,
    facts: bool | None,
    options: dict[str, Any],
) -> IngestReport:
    from core.rag.indexing.sources import loaders_for
    from core.rag.settings import load_settings

    loaders = loaders_for(sources, load_settings(), **options)
    _check_there(loaders)
    _tell_unused(sources, options)
    async with open_kb(chosen, **opening) as kb:
        stop = stop_on_interrupt()
        with progress("Loading …", quiet=chosen.json) as say:

            def tell(report: IngestReport) -> None:
                so_far[:] = [report]
                done = report.documents
                say(
                    f"{done.added + done.updated} documents written, {done.unchanged} unchanged,"
                    f" {len(done.failed)} failed; {report.chunks} chunks"
                    + (f"; {report.facts['chunks']} read by the language model" if report.facts else "")
                )

            report = await kb.ingest(loaders, prune=prune, facts=facts, stop=stop, progress=tell)
            so_far[:] = [report]  # closing the graph may fail yet
            return report


def _print(report: IngestReport, chosen: Common) -> None:
    if chosen.json:
        print_json(report.to_dict())
    else:
        _show(report)


def _show(report: IngestReport) -> None:
    _show_failed(report.documents.failed)
    for warning in report.warnings:
        line((f"note    {warning}", "yellow"))
    line(summary(report))
    if report.interrupted:
        line(("note    Interrupted before the end; the same command does the rest.", "yellow"))
    if report.facts is not None:
        line(
            f"Facts: {report.facts['chunks']} chunks read, {report.facts['entities']} entities,"
            f" {report.facts['facts']} facts, {len(report.facts['failed'])} failed."
            + (f" Left out as unwanted: {report.facts['unwanted']}." if report.facts["unwanted"] else "")
            + (f" Left out as not in the text: {report.facts['unnamed']}." if report.facts["unnamed"] else "")
        )
        if report.facts["stopped"] and not report.interrupted:
            line((f"note    {report.facts['stopped']}", "yellow"))


def _show_failed(failed: list[FailedDocument]) -> None:
    """One line for each document, but only a few where many failed for one reason, as the images of a folder do."""
    alike = Counter(item.reason for item in failed)
    told: Counter[str] = Counter()
    for item in failed:
        told[item.reason] += 1
        left = alike[item.reason] - _TOLD_ALIKE
        if left <= 1 or told[item.reason] <= _TOLD_ALIKE:
            line((f"failed  {item.path}: {item.reason}", "yellow"))
        elif told[item.reason] == _TOLD_ALIKE + 1:
            line((f"failed  {left} more: {item.reason} (--json lists them all)", "yellow"))


def summary(report: IngestReport) -> str:
    """One line for people."""
    done = report.documents
    changed = done.added or done.updated or done.deleted or done.failed
    if done.unchanged and not changed and not report.interrupted:
        documents = counted(done.unchanged, "document is", "documents are")
        return f"Nothing changed: {documents} up to date ({report.seconds:.1f} s)."
    counts = [f"{done.added} added", f"{done.updated} updated", f"{done.unchanged} unchanged"]
    counts += [f"{done.deleted} deleted"] if done.deleted else []
    counts += [f"{len(done.failed)} failed"] if done.failed else []
    return (
        f"Documents: {', '.join(counts)}. Chunks: {report.chunks}"
        f" ({report.vectors.embedded} embedded, {report.vectors.reused} vectors reused). {report.seconds:.1f} s."
    )
