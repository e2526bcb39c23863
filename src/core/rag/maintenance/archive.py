"""Exports of several namespaces in one file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.arguments import check_file, check_flags, check_texts
from core.rag.dbhandler.transfer.file import TransferReport, check_export, reading_export, writing_export
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.indexing.titles import TitleLinker
from core.rag.maintenance.conversations import ConversationSoundness
from core.rag.maintenance.knowledge import KnowledgeSoundness

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


async def export_namespaces(
    client: MemGraphClient, file: str | os.PathLike[str], namespaces: Sequence[str] | None
) -> dict[str, TransferReport]:
    """See :meth:`core.rag.KnowledgeBase.export`."""
    await client.connect()
    if namespaces is not None:
        check_texts("namespaces", namespaces)
        there = await client.namespaces()
        if missing := [name for name in namespaces if name not in there]:
            known = ", ".join(map(repr, there)) or "none"
            raise NotFoundError(f"There is no namespace {missing[0][:200]!r} (there: {known}).")
    found = {}
    with writing_export(check_file(file)) as out:
        for name in namespaces or [client.namespace]:  # a file without any could not be imported
            found[name] = await client.in_namespace(name).write_section(out)
    return found


async def import_namespaces(
    client: MemGraphClient, file: str | os.PathLike[str], *, everything: bool
) -> dict[str, TransferReport]:
    """See :meth:`core.rag.KnowledgeBase.import_`."""
    check_flags(everything=everything)
    source = check_file(file)
    found = await asyncio.to_thread(check_export, source)
    others = [name for name in found if name != client.namespace]
    if others and not everything:
        ways = "" if len(found) > 1 else f"--namespace {others[0]!r} or "
        raise InvalidInputError(
            f"{source} holds {', '.join(map(repr, found))}, and is to be imported into the namespace"
            f" {client.namespace!r}. Ids belong to their namespace: import it with {ways}--all-namespaces."
        )
    there = await client.namespaces()
    if any(set(there) - {name} for name in found):  # else there is nothing that an id could belong to
        with reading_export(source) as reader:
            for name in reader.sections():
                await client.in_namespace(name).check_ids(reader)
    with reading_export(source) as reader:
        for name in reader.sections():
            await client.in_namespace(name).make_way(reader)
    with reading_export(source) as reader:
        for name in reader.sections():
            inside = client.in_namespace(name)
            await inside.read_section(reader)
            if name in there:
                await KnowledgeSoundness(inside).join()
                await ConversationSoundness(inside).join()
                await TitleLinker(inside).link(None)
    return found
