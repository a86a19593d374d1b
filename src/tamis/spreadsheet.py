"""Read and write spreadsheets, with bounded memory.

A spreadsheet is a compressed archive, and readers allocate a rectangle up to its last cell. A file
of a kilobyte with one cell in the last corner would need more memory than machines have. So the
unpacked size, and how far its cells reach, are determined before it is read.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo, is_zipfile

import polars as pl

from tamis.errors import InputError, MissingExtra, listed, listed_as
from tamis.statistical_file import first_bytes, is_blank, whole

_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")
"""Signature of an OLE compound file: an old .xls, or a newer one behind a password."""
MOST_UNPACKED = 1 << 30
"""The most bytes that a spreadsheet may unpack to."""
MOST_CELLS = 1 << 26
"""The most cells of the rectangle that ends at the last cell: a million rows of 64."""
PIECE = 1 << 20
_WIDE = re.compile(rb"""<(?:\w+:)?c(?:>|\s+(?!r\s*=)|\s+r\s*=\s*["'](?:[B-Zb-z]|\w\w)[A-Za-z])""")
"""A cell past column AZ, or one whose first attribute is not its reference."""
_TAG = re.compile(rb"<(?:[\w.-]+:)?(row|c|v|is|table|table-row|table-cell)(?=[\s/>])([^>]*)>")
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)(\d*)["']""")
_ROWS = re.compile(rb"""number-rows-repeated\s*=\s*["'](\d+)""")
_BEGIN, _END = 145, 146
"""Record types that begin and end the rows of a sheet in Excel's binary format."""
_COLUMNS = re.compile(rb"""number-columns-repeated\s*=\s*["'](\d+)""")


def read_sheet(path: Path, sheet: str = "") -> pl.DataFrame:
    """Read the rows of a sheet; its name may be omitted if there is only one."""
    fastexcel = _excel("fastexcel")
    if path.suffix.lower() != ".xls" and first_bytes(path).startswith(_COMPOUND):
        raise InputError(f"{path} is protected by a password; save it without one")
    refuse_bomb(path)
    for name in ("fastexcel", "calamine"):  # they log blank columns to the terminal
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        sheets = fastexcel.read_excel(path).sheet_names
    except Exception as error:
        raise _damaged_sheet(path, error) from None
    name = _sheet(path, sheets, sheet)
    try:
        frame = pl.read_excel(path, sheet_name=name, engine="calamine", infer_schema_length=None)
    except Exception as error:
        raise InputError(
            f"sheet {name!r} of {path} is not a table with a header in its first row "
            f"({type(error).__name__})"
        ) from None
    return pl.DataFrame([whole(cells) for cells in frame])


def _excel(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtra(
            "spreadsheets need fastexcel and xlsxwriter; pip install 'tamis[excel]'"
        ) from None


def _damaged_sheet(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path} is not a spreadsheet that can be read, or is damaged or protected "
        f"({type(error).__name__}); save it again, or as csv"
    )


def _sheet(path: Path, sheets: list[str], asked: str) -> str:
    """The name of the sheet asked for, or of the only one."""
    if asked in sheets:
        return asked
    if not asked and len(sheets) == 1:
        return sheets[0]
    what = f"no sheet {asked!r} in {path}" if asked else f"{path} has {len(sheets)} sheets"
    raise InputError(f"{what}; name one as {path.name}::SHEET, of {listed(sheets, most=10)}")


def write_sheet(frame: pl.DataFrame, path: Path) -> None:
    """Write rows as the only sheet of a spreadsheet; no text in it is run as a formula."""
    from datetime import datetime

    xlsxwriter = _excel("xlsxwriter")
    if frame.height >= 1 << 20 or frame.width > 1 << 14:
        raise InputError("a spreadsheet holds 1,048,575 rows and 16,384 columns; write csv")
    lower = Counter(name.lower() for name in frame.columns)
    if alike := [name for name in frame.columns if lower[name.lower()] > 1]:
        raise InputError(
            f"{listed_as('column', alike)} have names that a spreadsheet takes for one; rename all "
            "but one, or write csv or parquet"
        )
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(path, options) as book:
        book.set_properties({"created": datetime(2000, 1, 1)})
        # Number formats depend on the type, and a reader recovers no more of it than `whole` keeps.
        shown = pl.DataFrame(
            [cells.cast(pl.String) if is_blank(cells) else whole(cells) for cells in frame]
        )
        shown.write_excel(book, worksheet="release", autofilter=False)


def refuse_bomb(path: Path) -> None:
    """Raise for a spreadsheet that is small as a file but too large to be read."""
    if not is_zipfile(path):
        return
    try:
        with ZipFile(path) as packed:
            _refuse_large(path, packed)
    except InputError:
        raise
    except Exception as error:  # zipfile fails in many ways on damage
        raise _damaged_sheet(path, error) from None


def _refuse_large(path: Path, packed: ZipFile) -> None:
    left, binary = MOST_UNPACKED, "xl/workbook.bin" in packed.namelist()
    for entry in packed.infolist():
        unpacked = _unpacked(packed, entry, left)
        left -= sum(map(len, unpacked))
        if left < 0:
            raise InputError(
                f"{path} unpacks to more than {MOST_UNPACKED // 2**30} GB; save it as csv"
            )
        extent = Extent()
        if not binary:
            extent.take(unpacked)
        elif entry.filename.endswith(".bin"):
            extent.take_records(b"".join(unpacked))
        if extent.cells > MOST_CELLS:
            raise InputError(
                f"a sheet of {path} reaches to row {extent.rows:,} and column {extent.columns:,}, "
                f"and at most {MOST_CELLS:,} cells are read; delete what lies far from the table, "
                "or save it as csv"
            )


def _unpacked(packed: ZipFile, entry: ZipInfo, most: int) -> list[bytes]:
    """The content of a part of the archive, up to a little more than `most` bytes."""
    # The claimed size and checksum are not trusted: zipfile would stop reading at the size.
    entry.file_size, entry.CRC = 1 << 62, None  # type: ignore[assignment]
    pieces, size = [], 0
    with packed.open(entry) as part:
        while size <= most and (piece := part.read(PIECE)):
            pieces.append(piece)
            size += len(piece)
    return pieces


def _whole_tags(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The text in pieces that are cut before a tag, so that no tag is split."""
    rest = b""
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind(b"<"), 0)
        rest = text[end:]
        yield text[:end]
    yield rest


class Extent:
    """The rectangle of a sheet's non-empty cells, determined from its XML or records.

    Examples
    --------
    >>> extent = Extent()
    >>> extent.take([b'<row r="7"><c r="A7"><v>1</v></c><c s="1" ', b'r="C7"><v>2</v></c></row>'])
    >>> extent.rows, extent.columns, extent.cells
    (7, 3, 21)
    """

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self._row = self._column = 0

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def take(self, pieces: Sequence[bytes]) -> None:
        """Read a sheet; most are narrow, and one quick search shows that they are small enough."""
        if not any(b"table-cell" in text or _WIDE.search(text) for text in _whole_tags(pieces)):
            return
        for text in _whole_tags(pieces):
            for tag, attributes in _TAG.findall(text):
                self._tag(tag, attributes)

    def _tag(self, tag: bytes, attributes: bytes) -> None:
        if tag == b"row":
            place = _PLACE.search(attributes)
            self._row = int(place[2]) if place and place[2] else self._row + 1
            self._column = 0
        elif tag == b"c":
            place = _PLACE.search(attributes)
            self._column = _number(place[1]) if place and place[1] else self._column + 1
            self._row = int(place[2]) if place and place[2] else self._row
        elif tag in (b"v", b"is"):
            self._reach()
        else:
            self._open_tag(tag, attributes)

    def _open_tag(self, tag: bytes, attributes: bytes) -> None:
        """Handle a tag of the OpenDocument format, which writes repeated rows and cells once."""
        if tag == b"table":
            self._row = 0
        elif tag == b"table-row":
            self._row += _times(_ROWS, attributes)
            self._column = 0
        elif tag == b"table-cell":
            self._column += _times(_COLUMNS, attributes)
            if b"value-type" in attributes:
                self._reach()

    def _reach(self) -> None:
        self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)

    def take_records(self, data: bytes) -> None:
        """Read a sheet of Excel's binary format: records of a type, a length and content."""
        at, inside = 0, False
        while at < len(data):
            kind, at = _short(data, at, 2)
            length, at = _short(data, at, 4)
            if kind in (_BEGIN, _END):
                inside = kind == _BEGIN
            elif kind == 0 and inside:  # a row
                self._row = int.from_bytes(data[at : at + 4], "little") + 1
            elif 2 <= kind <= 11 and inside:  # a cell that holds something
                self._column = int.from_bytes(data[at : at + 4], "little") + 1
                self._reach()
            at += length


def _short(data: bytes, at: int, most: int) -> tuple[int, int]:
    """Decode a number of seven bits a byte, with the eighth bit set on all but the last.

    Returns the number and the position after it.
    """
    value = 0
    for place in range(most):
        byte = data[at] if at < len(data) else 0
        at += 1
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            break
    return value, at


def _times(pattern: re.Pattern[bytes], attributes: bytes) -> int:
    repeated = pattern.search(attributes)
    return int(repeated[1]) if repeated else 1


def _number(letters: bytes) -> int:
    """The number of a column from its letters.

    >>> _number(b"A"), _number(b"AZ"), _number(b"XFD")
    (1, 52, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number
