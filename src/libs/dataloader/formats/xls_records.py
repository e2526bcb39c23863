"""The records of a binary Excel workbook: what is beside the cells, and only what a library needs for the cells.

xlrd interprets more than cells: names that are made of names, each twice as long as the one before, and links over
whole sheets, which a few bytes demand, take all memory; and one formula that it does not know costs the whole file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.sheet_cells import cell_note, column_name
from libs.dataloader.text import clean_text

_BOFS = frozenset((0x0009, 0x0209, 0x0409, 0x0809))
_EOF, _CONTINUE, _BOUNDSHEET, _FILEPASS = 0x000A, 0x003C, 0x0085, 0x002F
_OBJ, _TXO, _NOTE = 0x005D, 0x01B6, 0x001C
_CHART_TEXT, _CHART_WORDS, _CHART_LINK = 0x1025, 0x100D, 0x1027
_OF_CHARTS = frozenset((_CHART_TEXT, _CHART_WORDS, _CHART_LINK))
_TITLE = 1  # what a text of a chart is for
_NONE = 0x0FFF  # no record has it
_VERSION_8 = 0x0600
_CELLS = frozenset(
    (
        *(0x0002, 0x0003, 0x0004, 0x0005, 0x0006, 0x00BD, 0x00D6, 0x00FD),
        *(0x0203, 0x0204, 0x0205, 0x0206, 0x027E, 0x0406),
    )
)
_KEPT = (
    _CELLS
    | _BOFS
    | frozenset((_EOF, _BOUNDSHEET, 0x0042, 0x0022, 0x001E, 0x041E, 0x0056))  # sheets, encoding, dates, formats
    | frozenset((0x0043, 0x0243, 0x0443, 0x00E0, 0x0044))  # styles of cells
    | frozenset((0x00FC, 0x00E5))  # texts, merged cells
    | frozenset((0x0007, 0x0207, 0x0021, 0x0221, 0x04BC, 0x0236, 0x0036, 0x0037, 0x00B2))  # values of formulas
    | frozenset((0x008E, 0x008F))  # sheets of a workbook of version 4
)
_XFS, _FORMATS = frozenset((0x0043, 0x0243, 0x0443, 0x00E0)), frozenset((0x001E, 0x041E))
_SST, _MERGED = 0x00FC, 0x00E5
_MOST_ROWS = 5_000_000
_MOST_SHEETS = 20_000
_MOST_STYLES = 20_000  # xlrd takes about 3 kB for each
_MOST_MERGED = 100_000  # cells
_MOST_RUNS = 1_000_000  # pieces of texts in a font of their own
_Record = tuple[int, int, int]  # kind, where its data begins, and their size


class SheetRecords:
    """What was found beside the cells of a sheet: notes, and the texts of its shapes."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.shapes: list[str] = []


class WorkbookRecords:
    """The stream of a workbook.

    Args:
        stream: Its bytes.

    Attributes:
        stream: The same without what is not needed for the cells.
        sheets: What is beside the cells of each sheet.

    Raises:
        UnreadableError: if it is none, encrypted, or if the sheets span too many rows.
    """

    def __init__(self, stream: bytes) -> None:
        if len(stream) < 6 or int.from_bytes(stream[:2], "little") not in _BOFS:
            raise UnreadableError("it is not an Excel workbook, despite its name")
        self._data = stream
        self._out = bytearray(stream)
        self._is_8 = struct.unpack_from("<HxxH", stream) == (0x0809, _VERSION_8)
        self._rows = self._merged = styles = 0
        starts: dict[int, int] = {}  # where sheets begin, and the record that says so
        begins_sheet = stream[6:8] == b"\x10\x00"
        self.sheets: list[SheetRecords] = []
        for kind, place, size in self._part(0, len(stream)):
            if kind == _FILEPASS:
                raise UnreadableError("it is encrypted (a password is needed)")
            styles += kind in _XFS or kind in _FORMATS
            if styles > _MOST_STYLES:
                raise UnreadableError(f"it has more than {_MOST_STYLES:,} styles")
            if kind == _SST and size >= 8:
                self._count_texts(place, size)
            elif kind == _BOUNDSHEET and size >= 6:
                (start,) = struct.unpack_from("<I", stream, place)
                if start in starts or start >= len(stream) or stream[place + 5] != 0:  # 0 is a sheet with cells
                    self._drop(place - 4)
                else:
                    starts[start] = place
        if len(starts) > _MOST_SHEETS:
            raise UnreadableError(f"it holds {len(starts):,} sheets; the limit is {_MOST_SHEETS:,}")
        if begins_sheet or not starts:
            self.sheets.append(SheetRecords())
        ends = sorted(starts)
        limits = dict(zip(ends, [*ends[1:], len(stream)], strict=False))
        for start in starts:
            self.sheets.append(self._sheet(start, limits[start]))
        self.stream = bytes(self._out)

    def _sheet(self, start: int, end: int) -> SheetRecords:
        found = SheetRecords()
        texts: dict[int, str] = {}
        comments: dict[int, tuple[str, str]] = {}
        shape, last_row, is_ended, latest, words = 0, -1, False, start, ""
        for kind, place, size in self._part(start, end):
            latest = place - 4
            is_ended = kind == _EOF
            if kind in _CELLS and size >= 2:
                last_row = max(last_row, int.from_bytes(self._data[place : place + 2], "little"))
            elif kind == _MERGED:
                self._merged += size // 8
                if self._merged > _MOST_MERGED:
                    self._drop(latest)
                else:
                    areas = struct.iter_unpack("<HHHH", self._data[place + 2 : place + 2 + (size - 2) // 8 * 8])
                    last_row = max(last_row, *(area[1] for area in areas), -1)
            elif kind == _OBJ and self._is_8 and size >= 8:
                shape = int.from_bytes(self._data[place + 6 : place + 8], "little")
            elif kind == _TXO and self._is_8 and size >= 12:
                texts[shape] = self._text(place, size, end)
            elif kind == _NOTE and self._is_8 and size >= 11:
                row, column, _, owner, count = struct.unpack_from("<HHHHH", self._data, place)
                comments[owner] = (f"{column_name(column + 1)}{row + 1}", self._letters(place + 10, count))
            elif kind == _CHART_TEXT:
                words = ""
            elif kind == _CHART_WORDS and size >= 4:
                words = self._letters(place + 3, self._data[place + 2])
            elif kind == _CHART_LINK and self._data[place : place + 2] == _TITLE.to_bytes(2, "little") and words:
                found.shapes.append(" ".join(clean_text(words).split()))
        if not is_ended:
            self._out[latest : latest + 2] = _EOF.to_bytes(2, "little")
        self._rows += last_row + 1
        if self._rows > _MOST_ROWS:
            raise UnreadableError(f"its sheets span more than {_MOST_ROWS:,} rows")
        for owner, text in texts.items():
            if owner in comments:
                found.notes.append(clean_text(cell_note(*comments[owner], text)))
            else:
                found.shapes.append(clean_text(text).strip())
        return found

    def _part(self, start: int, end: int) -> Iterator[_Record]:
        """Yield the records of a part of the stream up to its end; of charts in it, those of texts."""
        depth, keeps = 0, True
        while start + 4 <= end:
            kind, size = struct.unpack_from("<HH", self._data, start)
            place = start + 4
            if kind in _BOFS:
                depth, keeps = depth + 1, True
            elif kind != _CONTINUE:
                keeps = kind in _KEPT or (kind == _NOTE and not self._is_8)
            if not keeps:
                self._drop(start)
            if depth < 2 or (kind in _OF_CHARTS and self._is_8):
                yield kind, place, min(size, end - place)
            if kind == _EOF:
                depth -= 1
                if depth < 1:
                    return
            start = place + size

    def _drop(self, start: int) -> None:
        self._out[start : start + 2] = _NONE.to_bytes(2, "little")

    def _count_texts(self, place: int, size: int) -> None:
        """Correct how many texts there are: xlrd reads as many as are said to be there, and one may lead to itself."""
        pieces = [(place, place + size)]
        while self._data[pieces[-1][1] : pieces[-1][1] + 2] == b"\x3c\x00":
            start, (length,) = pieces[-1][1] + 4, struct.unpack_from("<H", self._data, pieces[-1][1] + 2)
            pieces.append((start, min(start + length, len(self._data))))
        walk = _Texts(self._data, pieces)
        (told,) = struct.unpack_from("<I", self._data, place + 4)
        count = 0
        while count < told and walk.skip():
            count += 1
        struct.pack_into("<I", self._out, place + 4, count)

    def _letters(self, place: int, count: int) -> str:
        """Return a text of so many characters, behind the byte that says how they are encoded."""
        wide = self._data[place] & 1
        data = self._data[place + 1 : place + 1 + (2 * count if wide else count)]
        return data.decode("utf-16-le" if wide else "latin-1", "replace")

    def _text(self, place: int, size: int, end: int) -> str:
        """Return the text of a shape, which is in the records that follow."""
        left = int.from_bytes(self._data[place + 10 : place + 12], "little")
        parts: list[str] = []
        place += size
        while left and place + 5 <= end:
            kind, size, wide = struct.unpack_from("<HHB", self._data, place)
            if kind != _CONTINUE or not size:
                break
            piece = self._data[place + 5 : place + 4 + size]
            text = piece.decode("utf-16-le" if wide & 1 else "latin-1", "replace")[:left]
            parts.append(text)
            left -= len(text) if text else left
            place += 4 + size
        return "".join(parts).replace("\r", "\n")


class _Texts:
    """Walks through the texts that cells share, which are cut into several records."""

    def __init__(self, data: bytes, pieces: list[tuple[int, int]]) -> None:
        self._data = data
        self._pieces = iter(pieces)
        self._at, self._end = next(self._pieces)
        self._at += 8
        self._runs = 0

    def skip(self) -> bool:
        """Go to the end of the next text; return whether it is there as a whole."""
        if self._at + 3 > self._end:
            return False
        count, form = struct.unpack_from("<HB", self._data, self._at)
        self._at += 3
        runs = spoken = 0
        if form & 8:
            runs = int.from_bytes(self._data[self._at : self._at + 2], "little")
            self._at += 2
        if form & 4:
            spoken = int.from_bytes(self._data[self._at : self._at + 4], "little")
            self._at += 4
        self._runs += runs
        if self._at > self._end or self._runs > _MOST_RUNS:
            return False
        while True:
            width = 2 if form & 1 else 1
            taken = min((self._end - self._at) // width, count)
            count -= taken
            self._at += taken * width
            if not count:
                break
            if not self._next():
                return False
            form = self._data[self._at]
            self._at += 1
        return self._pass(4 * runs) and self._pass(spoken)

    def _pass(self, size: int) -> bool:
        while self._at + size > self._end:
            size -= self._end - self._at
            if not self._next():
                return False
        self._at += size
        if self._at == self._end:
            self._next()
        return True

    def _next(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None or piece[0] >= piece[1]:
            return False
        self._at, self._end = piece
        return True
