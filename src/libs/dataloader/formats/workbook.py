"""Excel workbooks (xlsx): each sheet as tables and text."""

from __future__ import annotations

from collections.abc import Iterator

from libs.dataloader.formats.archive import Archive
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.drawings import drawing_texts
from libs.dataloader.formats.ooxml import core_properties, relationships
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.sheets import Sheet, write_sheets
from libs.dataloader.formats.workbook_cells import Workbook
from libs.dataloader.formats.workbook_notes import cell_notes


def read(file: FileData, _kind: Format) -> Content:
    """Convert each sheet to Markdown tables (records if very wide), its notes and the text of its drawings.

    A formula is shown as the value that Excel stored, or as it is if a program stored none.
    """
    archive = Archive(file, "an Excel workbook")
    book = Workbook(archive)
    sheets = [Sheet(name, book.rows(part), list(_beside(archive, part))) for name, part in book.sheets]
    return write_sheets(sheets, core_properties(archive))


def _beside(archive: Archive, part: str) -> Iterator[str]:
    """Yield the texts of a sheet that are not in cells: notes, and the text of drawings."""
    if notes := cell_notes(archive, part):
        yield notes
    for kind, target, _ in relationships(archive, part).values():
        if kind == "drawing":
            try:
                yield from drawing_texts(archive, target)
            except UnreadableError:
                continue  # a damaged drawing is no reason to do without the cells
