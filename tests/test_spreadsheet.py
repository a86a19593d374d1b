"""A spreadsheet that is small as a file and too large in memory is refused before it is read."""

from __future__ import annotations

import struct
import zipfile

import polars as pl
import pytest

from tamis import spreadsheet
from tamis.errors import InputError
from tamis.read import read_table
from tamis.spreadsheet import MOST_CELLS, Extent, refuse_bomb

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CELL = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'


def sheet(rows: str) -> bytes:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'.encode()


def packed(path, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


def extent(*texts: bytes) -> tuple[int, int]:
    found = Extent()
    found.take(texts)
    return found.rows, found.columns


FAR = {
    "a place": '<row r="1048576">' + CELL.format("XFD1048576", "q") + "</row>",
    "in single quotes": "<row><c s='1' r='XFD1048576'><v>1</v></c></row>",
    "with a prefix": '<x:row><x:c r = "XFD1048576"><x:v>1</x:v></x:c></x:row>',
    "in small letters": '<row><c r="xfd1048576"><v>1</v></c></row>',
    "no place of its own": '<row r="1048576">' + "<c><v>1</v></c>" * 100 + "</row>",
}


@pytest.mark.parametrize("rows", FAR.values(), ids=FAR)
def test_a_cell_in_the_last_corner_is_refused(tmp_path, rows):
    first = '<row r="1">' + CELL.format("A1", "x") + "</row>"
    path = packed(tmp_path / "a.xlsx", xl__worksheets__sheet1_xml=sheet(first + rows))
    with pytest.raises(InputError, match="reaches to row 1,048,576 and column"):
        read_table(path)


def test_cells_that_only_have_a_format_do_not_count():
    empty, full = '<row r="9"><c r="BZ9" s="1"/></row>', '<row r="3"><c r="BA3"><v>1</v></c></row>'
    assert extent(sheet(empty + full)) == (3, 53)


def test_a_narrow_sheet_is_only_glanced_at_and_a_wide_one_is_walked_whole():
    narrow = sheet('<row r="7">' + CELL.format("AZ7", "x") + "</row>")
    assert extent(narrow) == (0, 0)
    tall = b'<row r="900"><c r="A900"><v>1</v></c></row>'
    assert extent(tall, b'<row r="1"><c r="B', b'A1"><v>1</v></c></row>') == (900, 53)


def test_narrow_sheets_cannot_be_too_large():
    assert MOST_CELLS >= 52 * 1_048_576


OPEN = '<table:table-cell office:value-type="float" table:number-columns-repeated="{}"/>'


def test_repeated_cells_of_the_open_format_count_where_they_hold_something(tmp_path):
    blank = '<table:table-cell table:number-columns-repeated="16384"/>'
    rest = f'<table:table-row table:number-rows-repeated="1048570">{blank}</table:table-row>'
    one = f"<table:table><table:table-row>{OPEN.format(2)}</table:table-row>"
    assert extent(f"{one}{rest}</table:table>".encode()) == (1, 2)
    last = f"{one}{rest}<table:table-row>{OPEN.format(16384)}</table:table-row>"
    assert extent(last.encode()) == (1_048_572, 16384)
    with pytest.raises(InputError, match="save it as csv"):
        refuse_bomb(packed(tmp_path / "a.ods", content_xml=last))


def record(kind: int, content: bytes = b"") -> bytes:
    short = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    return short + bytes([len(content)]) + content


def test_a_cell_in_the_last_corner_of_the_binary_format_is_refused(tmp_path):
    row, cell = (record(kind, struct.pack("<I", at)) for kind, at in ((0, 1_048_575), (2, 16_383)))
    rows = record(129) + record(145) + row + cell + record(146) + record(0, b"\xff" * 4)
    found = Extent()
    found.take_records(rows)
    assert (found.rows, found.columns) == (1_048_576, 16_384)
    path = packed(tmp_path / "a.xlsb", xl__workbook_bin=b"", xl__worksheets__sheet1_bin=rows)
    with pytest.raises(InputError, match="reaches to row"):
        refuse_bomb(path)
    refuse_bomb(packed(tmp_path / "b.xlsb", xl__workbook_bin=b"", printer_bin=row + cell + b"\x91"))


def test_a_part_that_claims_to_be_small_is_unpacked_and_counted(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.xlsx", xl__sharedStrings_xml=b"x" * 50_000)
    data = bytearray(path.read_bytes())
    for begin, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(begin) + offset
        data[at : at + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == 10
    monkeypatch.setattr(spreadsheet, "MOST_UNPACKED", 49_999)
    with pytest.raises(InputError, match="unpacks to more than"):
        refuse_bomb(path)


def test_the_table_itself_is_read(tmp_path):
    frame = pl.DataFrame({f"c{i}": [i, i + 1, 3] for i in range(80)})
    frame.write_excel(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx", check=False).frame.equals(frame)
