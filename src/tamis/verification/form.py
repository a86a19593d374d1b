"""The canonical form of a released file: equal rows give equal bytes, or the file is refused.

Anything that can be written in two ways can hide a message: unnecessary quotes, ``1.0`` for ``1``,
the order of the rows, a note in a spreadsheet. So the rows that were read are written again by the
one writer, and the bytes are compared. Rows are in the order of their content: by columns from left
to right, missing first, texts by their bytes, numbers by value.

Two libraries write the same rows differently in different versions, and only this may differ: the
version in the footer of a parquet file, and how the parts of a spreadsheet are compressed.

Whether the cells agree with the manifest is checked for some rows at a time, so that a file of any
size can be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile
from zlib import decompressobj
from zlib import error as ZlibError

import polars as pl

from tamis.errors import InputError, listed
from tamis.files import open_plain_file, scratch_folder
from tamis.formulas import safe, safe_names, undone, unguarded
from tamis.read.identifiers import content_of
from tamis.statistical_file import texts_of
from tamis.table import ColumnText, Dictionary, bare, kind_of, one_form
from tamis.table_file import MOMENT, classes_of, csv_lines, write_parts, write_release
from tamis.verification.checks import hidden_in_parquet, unlike_a_table
from tamis.verification.labels import wrong_bounds, wrong_labels

PIECE = 1 << 20
"""Bytes read at a time where files are compared."""
FIRST_CELLS = 1_000
"""How many cells are tried first: they rule out most types before all cells are looked at."""
_VERSION = re.compile(
    rb"Polars(?: \(python\))? version [0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?"
    rb"(?: \(build [0-9a-f]{7,40}\))?"
)
"""How the footer of a parquet file names the library that wrote it."""


def wrong_form(path: Path, raw: pl.DataFrame, content: dict[str, Any]) -> str:
    """What a file reveals besides its rows, in words; `raw` are its cells as they were read."""
    format = content["file"]["format"]
    if format == "csv":
        return wrong_text(path, [raw], content)
    spelling = Spelling(content)
    spelling.take(raw)
    if wrong := spelling.wrong():
        return wrong
    if not is_ascending(spelling.typed(raw)):
        return unsorted_words(path)
    if format == "svm" and content["file"].get("classes") != classes_of(raw):
        return "the manifest lists other classes than those of the file, or in another order"
    with scratch_folder() as folder:
        again = folder / path.name
        try:
            write_release(raw, again, format, stated_dictionary(content))
        except InputError as error:  # rows that the writer refuses
            return f"{path.name} is not as tamis writes it: {error}"
        return unlike(path, again, format)


def stated_dictionary(content: dict[str, Any]) -> Dictionary:
    """The questions and codes that a manifest states of its columns."""
    said = {
        c["name"]: ColumnText(c.get("question", ""), c.get("codes", {})) for c in content["columns"]
    }
    return {name: text for name, text in said.items() if text.question or text.codes}


def wrong_dictionary(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """Why the stated codes are not those of values in the file, in the order of their labels.

    `frame` has numbers as such; the text of a question is not checked.
    """
    said = stated_dictionary(content)
    used = texts_of(frame, said)
    for name, text in said.items():
        if name not in used or list(text.codes.items()) != list(used[name].codes.items()):
            return (
                f"codes of {name!r} are stated that no row has, or not in the order of their labels"
            )
    return ""


def wrong_parts(path: Path, parts: Iterable[pl.DataFrame], content: dict[str, Any]) -> str:
    """What a csv or parquet file that is read in parts reveals besides its rows, in words."""
    if content["file"]["format"] == "csv":
        return wrong_text(path, parts, content)
    order = Order()
    with scratch_folder() as folder:
        again = folder / path.name
        write_parts(order.watched(parts), again, "parquet")
        return unlike(path, again, "parquet") if order.kept else unsorted_words(path)


def unsorted_words(path: Path) -> str:
    return f"the rows of {path.name} are not in the order of their content"


def wrong_text(path: Path, parts: Iterable[pl.DataFrame], content: dict[str, Any]) -> str:
    """What a csv file reveals besides its rows: other spellings, quotes or line ends."""
    spelling, order, written = Spelling(content), Order(), sha256()
    guarded = ""
    for number, raw in enumerate(parts):
        written.update(csv_lines(raw, header=number == 0))
        spelling.take(raw)
        plain = undone(raw)
        guarded = guarded or _guarded(raw, plain)
        order.take(spelling.typed(plain))
    if wrong := spelling.wrong() or guarded:
        return wrong
    if not order.kept:
        return unsorted_words(path)
    if written.hexdigest() != content["file"]["sha256"]:
        return f"{path.name} is not written in the one way: {_otherwise(path)}"
    return ""


def _guarded(raw: pl.DataFrame, plain: pl.DataFrame) -> str:
    """Name, in words, of a column with an apostrophe that guarding texts does not put there."""
    for texts, again in zip(raw.get_columns(), safe(plain).get_columns()):
        if not bare(texts).equals(bare(again), null_equal=True):
            name = texts.name.removeprefix("'")
            return f"column {name!r} holds a text with an apostrophe that no rule puts there"
    return ""


def _otherwise(path: Path) -> str:
    """What differs in a csv file that holds the right cells."""
    with open_plain_file(path) as file:
        beginning = file.read(PIECE)
    if b"\r\n" in beginning:
        return "its lines end in a carriage return"
    return "quotes that nobody needs, blank lines or another end"


Candidate = Callable[[pl.Series], pl.Series]
"""Converts texts to one type; a text that is not of that type becomes missing."""


def _cast(dtype: Any) -> Candidate:
    return lambda texts: texts.cast(dtype, strict=False)


def _moment(unit: Any) -> Candidate:
    return lambda texts: texts.str.to_datetime(MOMENT, time_unit=unit, strict=False)


def _decimal(texts: pl.Series) -> pl.Series:
    """Numbers as decimals with as many digits after the point as the first, which has some."""
    digits = len(str(texts.drop_nulls().first()).partition(".")[2])
    if not 0 < digits <= 38:
        return pl.Series([None] * texts.len(), dtype=pl.String)
    return texts.cast(pl.Decimal(38, digits), strict=False)


_CANDIDATES: dict[str, tuple[Candidate, ...]] = {
    "number": (*map(_cast, (pl.Int128, pl.Float64, pl.Float32)), _decimal),
    "date": (
        lambda texts: texts.str.to_date("%Y-%m-%d", strict=False),
        *map(_moment, ("us", "ms", "ns")),
        lambda texts: texts.str.to_time("%H:%M:%S%.f", strict=False),
    ),
}
"""The types, by kind, that a column of numbers or dates may have had when it was written.

Whole numbers come first: as floats, those above 2**53 would be rounded.
"""


class Spelling:
    """For each column, the types in which its numbers or dates would be written just as they are.

    Parameters
    ----------
    content : dict
        A manifest, which says of each column whether it holds numbers, dates or texts.

    Examples
    --------
    >>> spelling = Spelling({"columns": [{"name": "x", "kind": "number"}]})
    >>> spelling.take(pl.DataFrame({"x": ["1", "1.0"]}))
    >>> spelling.wrong()
    "column 'x' holds a number that is spelled in another way than the others"
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.columns = [(column["name"], column["kind"]) for column in content["columns"]]
        self.fitting = [list(_CANDIDATES.get(kind, ())) for _, kind in self.columns]

    def take(self, rows: pl.DataFrame) -> None:
        """Look at some rows, as they are in the file."""
        for place, cells in enumerate(rows.get_columns()):
            if cells.dtype == pl.String:
                fitting = [to for to in self.fitting[place] if _is_spelled(bare(cells), to)]
                self.fitting[place] = fitting

    def typed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The same rows with numbers and dates as such; texts stay as they are."""
        columns = [
            fitting[0](bare(cells)) if fitting and cells.dtype == pl.String else bare(cells)
            for cells, fitting in zip(rows.get_columns(), self.fitting)
        ]
        return pl.DataFrame([cells.alias(name) for cells, name in zip(columns, rows.columns)])

    def wrong(self) -> str:
        """The first column with a cell that is not in its one spelling, in words."""
        for (name, kind), fitting in zip(self.columns, self.fitting):
            if kind in _CANDIDATES and not fitting:
                return (
                    f"column {name!r} holds a {kind} that is spelled in another way than the others"
                )
        return ""


def with_types(rows: pl.DataFrame, content: dict[str, Any]) -> pl.DataFrame:
    """Rows with numbers and dates as such, where a file may have them as texts."""
    spelling = Spelling(content)
    spelling.take(rows)
    return spelling.typed(rows)


def _is_spelled(texts: pl.Series, as_type: Candidate) -> bool:
    """Whether values of a type would be written as these texts; the first cells are tried first."""
    return all(_same(part, as_type) for part in (texts.head(FIRST_CELLS), texts))


def _same(texts: pl.Series, as_type: Candidate) -> bool:
    try:
        values = one_form(pl.DataFrame([as_type(texts).alias("")]))
    except pl.exceptions.PolarsError:
        return False
    return csv_lines(values) == csv_lines(pl.DataFrame([texts.alias("")]))


class Order:
    """Whether rows that come in parts ascend by their content; column names do not matter.

    >>> order = Order()
    >>> order.take(pl.DataFrame({"a": [None, 1, 1]})), order.take(pl.DataFrame({"a": [0]}))
    (True, False)
    """

    def __init__(self) -> None:
        self.kept = True
        self._last: pl.DataFrame | None = None

    def take(self, rows: pl.DataFrame) -> bool:
        """Whether all rows so far, these included, are in order."""
        joined = (
            rows if self._last is None else pl.concat([self._last, rows], how="vertical_relaxed")
        )
        self.kept = self.kept and is_ascending(joined)
        self._last = rows.tail(1) if rows.height else self._last
        return self.kept

    def watched(self, parts: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The same parts, checked as they pass."""
        for rows in parts:
            self.take(rows)
            yield rows


def is_ascending(rows: pl.DataFrame) -> bool:
    """Whether rows ascend: by columns from left to right, missing first, texts by their bytes.

    >>> is_ascending(pl.DataFrame({"a": [None, "B", "a"], "b": [2, 1, 1]}))
    True
    >>> is_ascending(pl.DataFrame({"a": [1, 1], "b": [2, 1]}))
    False
    """
    if rows.height < 2:
        return True
    # `tied`: neighbours equal in every column so far; only these can still be out of order.
    tied = pl.repeat(True, rows.height - 1, dtype=pl.Boolean, eager=True)
    for cells in map(bare, rows.get_columns()):
        before, after = cells.head(-1), cells.tail(-1)
        less = (before.is_null() & after.is_not_null()) | (before < after).fill_null(False)
        same = before.eq_missing(after)
        if (tied & ~less & ~same).any():
            return False
        tied = tied & same
        if not tied.any():
            return True
    return True


def unlike(path: Path, again: Path, format: str) -> str:
    """How a file differs from the same rows written again, in words; empty where it does not."""
    if _same_bytes(path, again):
        return ""
    if format == "parquet":
        return _unlike_parquet(path, again)
    if format == "xlsx":
        return _unlike_archive(path, again)
    return (
        f"{path.name} is not, byte for byte, what its rows are written as: it holds something "
        "else, such as other labels, notes or line ends"
    )


def _same_bytes(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with open_plain_file(one) as first, open_plain_file(other) as second:
        while (piece := first.read(PIECE)) == second.read(PIECE):
            if not piece:
                return True
    return False


def _unlike_parquet(path: Path, again: Path) -> str:
    """How a parquet file differs in more than the version of polars named in its footer."""
    if hidden := hidden_in_parquet(path):
        return hidden
    theirs, ours = _footer(path), _footer(again)
    mine, other = _VERSION.search(ours), _VERSION.search(theirs)
    if mine and other and mine[0] != other[0]:
        if _as_if_by(ours, mine[0], other[0]) == theirs and _same_pages(path, again, theirs, ours):
            return ""
        return (
            f"{path.name} was written by another version ({other[0].decode()}) than is installed "
            f"({mine[0].decode()}), which writes other bytes for its rows; verify it with that one"
        )
    return (
        f"{path.name} is not, byte for byte, what its rows are written as: it holds something "
        "else, in its schema, in its pages or between them"
    )


def _footer(path: Path) -> bytes:
    """The end of a parquet file: its metadata, their length in 4 bytes, and the magic number."""
    with open_plain_file(path) as file:
        size = file.seek(-8, 2) + 8
        length = int.from_bytes(file.read(4), "little") + 8
        file.seek(max(size - length, 0))
        return file.read()


def _as_if_by(footer: bytes, mine: bytes, other: bytes) -> bytes:
    """A footer with another version in it; a text has its length before it, in one byte."""
    changed = footer[:-8].replace(_short(mine), _short(other))
    return changed + len(changed).to_bytes(4, "little") + footer[-4:]


def _short(text: bytes) -> bytes:
    return bytes([len(text)]) + text  # a varint of one byte: every version is shorter than 128


def _same_pages(path: Path, again: Path, theirs: bytes, ours: bytes) -> bool:
    left = path.stat().st_size - len(theirs)
    if left != again.stat().st_size - len(ours):
        return False
    with open_plain_file(path) as first, open_plain_file(again) as second:
        while left:
            piece = first.read(min(PIECE, left))
            if not piece or piece != second.read(len(piece)):
                return False
            left -= len(piece)
    return True


def _unlike_archive(path: Path, again: Path) -> str:
    """How a spreadsheet differs in more than the compression of its parts."""
    try:
        with ZipFile(path) as one, ZipFile(again) as other:
            return _unlike_parts(path, one, other)
    except (BadZipFile, ZlibError, OSError, ValueError, NotImplementedError, EOFError):
        return f"{path.name} is not an archive as tamis writes it"


def _unlike_parts(path: Path, one: ZipFile, other: ZipFile) -> str:
    names, expected = one.namelist(), other.namelist()
    if extra := sorted({*names} - {*expected}):
        return f"{path.name} holds {listed(extra)}, which no released spreadsheet has"
    if names != expected:
        return f"{path.name} lacks a part, has one twice, or has them in another order"
    for name in names:
        if one.read(name) != other.read(name):
            return f"{name} in {path.name} holds something else than the rows"
    if _accounted(path, one, other) != path.stat().st_size:
        return f"{path.name} holds bytes besides its parts"
    return ""


_SAID = (
    *("date_time", "extra", "comment", "flag_bits", "compress_type", "internal_attr"),
    *("external_attr", "create_system", "create_version", "extract_version"),
)
"""What an archive records about a part."""


def _accounted(path: Path, one: ZipFile, other: ZipFile) -> int:
    """The bytes that the parts of an archive account for; -1 where a header holds anything else.

    A part has a header of 30 bytes and its name, and an entry of 46 bytes and its name in the
    central directory, which ends in a record of 22 bytes. Any further byte could hide something.
    """
    total = 22
    with open_plain_file(path) as file:
        for mine, ours in zip(one.infolist(), other.infolist()):
            if any(getattr(mine, name) != getattr(ours, name) for name in _SAID):
                return -1
            file.seek(mine.header_offset)
            header = file.read(30)
            named, extra = (int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
            file.seek(named + extra, 1)
            if extra or mine.compress_type != ZIP_DEFLATED or not _ends(file, mine.compress_size):
                return -1
            total += 30 + named + mine.compress_size + 46 + len(mine.orig_filename.encode())
    return -1 if one.comment else total


def _ends(file: BinaryIO, size: int) -> bool:
    """Whether a compressed part ends where its header says, with nothing after it."""
    unpack = decompressobj(-15)
    unpack.decompress(file.read(size))
    return unpack.eof and not unpack.unused_data


BOUNDS = ("lower bound", "upper bound")
"""Roles of columns that hold the ends of another column's intervals."""
_WRITTEN_DATE = r"^(?:[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2})?(?: ?[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9]*)?$"


def wrong_rows(rows: int, content: dict[str, Any]) -> str:
    """Why the number of rows is not the one that the manifest states; empty if it is."""
    said = content["file"]["rows"]
    return "" if rows == said else f"the file has {rows} rows, but the manifest says {said}"


def wrong_schema(raw: pl.DataFrame, content: dict[str, Any]) -> str:
    """How the columns of a file, or of a part of it, differ from the manifest."""
    said, format = [column["name"] for column in content["columns"]], content["file"]["format"]
    headers = safe_names(said) if format == "csv" else said
    if raw.columns != headers or [c["header"] for c in content["columns"]] != headers:
        return f"the columns of the file are not those of the manifest ({len(said)} in it)"
    if [c["role"] for c in content["columns"]].count("target") != 1:
        return "the manifest does not name exactly one target"
    for column, cells in zip(content["columns"], map(bare, raw.get_columns())):
        if column["kind"] == "number" and not _numbers(cells):
            return f"column {column['name']!r} is declared numeric but holds something else"
        if column["kind"] == "date" and not _dates(cells):
            return f"column {column['name']!r} is declared a date but holds something else"
        if format == "csv" and unguarded(cells):
            return f"column {column['name']!r} holds a text that a spreadsheet would run"
    return unlike_a_table(raw) if format == "parquet" else ""


def _wrong_bins(cells: pl.Series, column: dict[str, Any]) -> str:
    """Why cells do not fit the stated classes of a numeric target."""
    cuts, labels = column["bins"]["cuts"], column["bins"]["labels"]
    if column["role"] != "target" or not cuts or len(labels) != len(cuts) + 1:
        return f"the classes of column {column['name']!r} are not those between its cuts"
    if cuts != sorted(set(cuts)):
        return f"the cuts of column {column['name']!r} do not rise"
    if not bare(cells).drop_nulls().is_in(labels).all():
        return f"column {column['name']!r} has a value that is none of its stated classes"
    return ""


def wrong_ladders(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """Which column has a value that its stated ladder does not give, in words; also its bounds."""
    for column in content["columns"]:
        if "coarser" in column and wrong_labels(frame[column["name"]], column["coarser"]):
            return f"column {column['name']!r} has a value that is not on its stated ladder"
    for column in content["columns"]:
        if "bins" in column and (wrong := _wrong_bins(frame[column["name"]], column)):
            return wrong
    ladders = {c["name"]: c["coarser"] for c in content["columns"] if "coarser" in c}
    for column in content["columns"]:
        if column["role"] not in BOUNDS:
            continue
        if column.get("of") not in ladders:
            return f"column {column['name']!r} holds bounds of a column that has no intervals"
        of, end = column["of"], column["role"].removesuffix(" bound")
        if wrong_bounds(frame[of], frame[column["name"]], end, ladders[of]):
            return f"column {column['name']!r} does not hold the bounds that {of!r} has"
    return ""


def label_columns(content: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The columns of grouped values, each with the values that the manifest lists per label."""
    return {
        column["name"]: column["coarser"]["groups"]
        for column in content["columns"]
        if "groups" in column.get("coarser", ())
    }


def wrong_groups_of_values(labels: Mapping[str, Collection[str]], content: dict[str, Any]) -> str:
    """Why the groups that a manifest lists reveal more than the rows; empty where they do not.

    `labels` are those of all rows, by column. A group that no row has could name someone who was
    suppressed, and a listed value could be someone's address.
    """
    stated = {column["name"] for column in content["columns"] if column["stated"]}
    for name, groups in label_columns(content).items():
        if not set(groups) <= set(labels[name]):
            return f"the manifest names a group of column {name!r} that no row has"
        named = pl.Series(
            [value for values in groups.values() for value in values], dtype=pl.String
        )
        if name not in stated and (found := content_of(named)):
            return f"a value that the manifest names in column {name!r} looks like {found.words}"
    return ""


def _numbers(cells: pl.Series) -> bool:
    read = cells.cast(pl.Float64, strict=False)
    return cells.null_count() == read.null_count()


def _dates(cells: pl.Series) -> bool:
    if cells.dtype != pl.String:
        return kind_of(cells.dtype) == "date" or cells.null_count() == cells.len()
    return bool(cells.str.contains(_WRITTEN_DATE).all())
