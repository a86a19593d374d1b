"""Text files: read and check their bytes, and turn delimited ones into a typed frame.

Empty files, damaged gzip data, NUL bytes, wrong encodings, ragged records and odd headers are
errors.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, ReadingNote, TamisWarning, listed, plural
from tamis.read.dialect import HEAD, Dialect, find_separator, how_read, separator_name
from tamis.read.forms import PLAIN, ColumnForms, Forms, decide_forms, see_frame, words_of_texts
from tamis.read.types import EXACT, as_dates, looks_numeric, typed, without_markers
from tamis.table import bare

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_PART = 1 << 20
DELIMITERS = {"csv": ",", "tsv": "\t"}
"""The formats of delimited text, with their usual separators."""
MOST_UNPACKED = 1 << 30
"""The most bytes that gzip data may unpack to: a small file can hold more than fits in memory."""
MOST_COLUMNS = 100_000
"""The most columns of a table; a header of millions is a mistake or an attack."""


def file_at(source: str | Path) -> Path:
    """The path of a file; raises if there is none, or if it is a folder."""
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise InputError(f"no file {path}; check the name and the folder")
    return path


def empty_file(path: Path) -> InputError:
    """The error for an empty file."""
    return InputError(f"{path} is empty; a table needs a header and at least one row")


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a file, unpacked if it is gzip."""
    with _errors_in_words(path):
        data = path.read_bytes()
        if data.startswith(_GZIP):
            return _unpack(path, data)
    if path.suffix == ".gz" and data:
        raise InputError(f"{path} ends in .gz but is not gzip data; rename it or compress it again")
    return data


def _unpack(path: Path, data: bytes) -> bytes:
    parts, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        while part := packed.read(_PART):
            parts.append(part)
            size += len(part)
            if size > MOST_UNPACKED:
                raise InputError(
                    f"{path} unpacks to more than {MOST_UNPACKED // 2**30} GB; unpack it "
                    "yourself, or write it as parquet"
                )
    return b"".join(parts)


@contextmanager
def _errors_in_words(path: Path, encoding: str = "utf-8") -> Iterator[None]:
    """Turn what goes wrong while a file is read into errors that say what to do."""
    try:
        yield
    except LookupError:
        raise InputError(
            f"unknown encoding {encoding!r}; common ones are utf-8, utf-16, latin-1, windows-1252"
        ) from None
    except EOFError:
        raise InputError(f"{path} is gzip data that ends too early; copy it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path} is damaged gzip data; copy it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def read_utf8(source: str | Path, encoding: str | None = None) -> bytes:
    """Read the text of a file as UTF-8 bytes with `\\n` line endings, without a byte-order mark.

    Trailing blank lines are removed. Raises if the file is empty, contains NUL bytes or is not in
    the given encoding; a note names an inferred encoding other than UTF-8.
    """
    data, found = decode(Path(source), encoding)
    if encoding is None and found != "utf-8":
        _say_how_read(Path(source), [found])
    return data


def decode(path: Path, encoding: str | None) -> tuple[bytes, str]:
    """Read the text of a file as `read_utf8` does, and return its encoding as well."""
    data = read_bytes(file_at(path))
    known = encoding or find_encoding(data)
    return _check_text(path, _recode(path, data, known)), known


def find_encoding(data: bytes) -> str:
    """Infer the encoding of a file from its first bytes, or from all.

    >>> find_encoding("\u00e9,".encode()), find_encoding("\u00e9,".encode("latin-1"))
    ('utf-8', 'windows-1252')
    """
    if data.startswith(_UTF16):
        return "utf-16"
    try:
        # Incremental, since the beginning of a file may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _say_how_read(path: Path, parts: list[str]) -> None:
    """Note how a file was read, if that was inferred and is not the usual way."""
    if parts:
        warnings.warn(
            f"{path.name}: {how_read(parts)}; if that is wrong, pass --separator, --decimal, "
            "--thousands, --dates or --encoding",
            ReadingNote,
            stacklevel=2,
        )


def _check_text(path: Path, data: bytes) -> bytes:
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise _has_nul(path, f"in line {line}")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data or data.isspace():
        raise empty_file(path)
    return data if data[-2:-1] != b"\n" else data.rstrip(b"\n") + b"\n"


def _has_nul(path: Path, where: str) -> InputError:
    return InputError(
        f"{path} contains a NUL byte {where}, so it is not a text table; export it again, or pass "
        "--encoding utf-16 if a program wrote it as Unicode text"
    )


def whole_lines(
    source: str | Path, encoding: str | None = None, size: int = 1 << 25
) -> Iterator[bytes]:
    """Yield the text of a file of any size as UTF-8 blocks that end where a record ends.

    As in `read_utf8`, line endings are `\\n` and there is no byte-order mark. A line break inside
    quotes does not end a record.
    """
    path = file_at(source)
    held, empty = "", True
    for text in _pieces(path, encoding, size):
        held += text
        cut = _end_of_records(held)
        if cut:
            empty = empty and held[:cut].isspace()
            yield held[:cut].encode()
            held = held[cut:]
    if held and not held.isspace():
        empty = False
        yield held.encode()
    if empty:
        raise empty_file(path)


def _end_of_records(text: str) -> int:
    """End of the last whole record: the last line break with an even number of quotes before it."""
    # Quotes are counted once for the whole text, then taken off piece by piece from the end.
    odd = text.count('"') % 2
    end = len(text)
    while (cut := text.rfind("\n", 0, end)) >= 0:
        odd ^= text.count('"', cut, end) % 2
        if not odd:
            return cut + 1
        end = cut
    return 0


def encoding_of(path: Path) -> str:
    """Infer the encoding of a file of any size from its beginning."""
    with _errors_in_words(path), path.open("rb") as file:
        packed = file.peek(2).startswith(_GZIP)
        raw: Any = gzip.GzipFile(fileobj=file) if packed else file
        return find_encoding(raw.read(_PART))


def _pieces(path: Path, encoding: str | None, size: int) -> Iterator[str]:
    encoding = encoding or encoding_of(path)
    read = 0
    try:
        with _errors_in_words(path, encoding), path.open("rb") as file:
            packed = file.peek(2).startswith(_GZIP)
            raw: Any = gzip.GzipFile(fileobj=file) if packed else file
            lines = io.TextIOWrapper(raw, encoding=encoding, newline=None)
            while text := lines.read(size):
                text = text if read else text.removeprefix("\ufeff")
                if "\0" in text:
                    raise _has_nul(path, f"after line {read}")
                read += text.count("\n")
                yield text
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not {encoding} text (after line {read}); pass another --encoding, such as "
            "windows-1252"
        ) from None


def _recode(path: Path, data: bytes, encoding: str) -> bytes:
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    if plain and data.startswith(_UTF16):
        raise InputError(f"{path} is UTF-16 text; leave --encoding out, or pass --encoding utf-16")
    try:
        if plain:
            # Only validate: decoding a pure-ASCII file again would cost a copy of it.
            if not data.isascii():
                data.decode("utf-8")
            return data.removeprefix(_BOM)
        with _errors_in_words(path, encoding):
            return data.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = (
            "pass --encoding windows-1252 (Excel in Western Europe) or another encoding"
            if plain
            else "pass another --encoding"
        )
        raise InputError(f"{path} is not {encoding} text (line {line}); {hint}") from None


def check_width(path: Path, columns: int) -> None:
    """Raise for more columns than any table needs."""
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}; use a sparse "
            "format for 0/1 records, or check the separator"
        )


_SAMPLE = 1000
_CHUNK = 1 << 18


def direct_frame(
    data: bytes,
    separator: str,
    *,
    dialect: Dialect | None = None,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame | None:
    """Read and type delimited text in one fast pass; `None` where that might not be exact.

    A sample decides the types, polars parses the file with these, and a scan of the bytes proves
    that nothing in the rest of the file contradicts them. In doubt the caller takes the slow way,
    which reads every cell as text first.
    """
    # With other separators, a comma may be part of a number and a point separate thousands.
    if b'"' in data or b"+" in data or separator != ",":
        return None
    if dialect is not None and dialect.decimal == ",":
        return None
    options: dict[str, Any] = {"separator": separator, "quote_char": None}
    guided: dict[str, Any] = {"declared": declared, "untouched": untouched}
    try:
        sample = pl.read_csv(data, infer_schema=False, n_rows=_SAMPLE, **options)
        with warnings.catch_warnings():  # the slow way will warn about the whole file
            warnings.simplefilter("ignore", TamisWarning)
            first = typed(sample, missing=missing, **guided)
        if any(looks_numeric(first[c]) for c in first.columns if c not in untouched):
            return None
        if _otherwise_written(sample, missing, stay_texts(declared, untouched)):
            return None
        dates = [c for c, kind in first.schema.items() if kind.is_temporal()]
        schema: dict[str, Any] = {**first.schema, **dict.fromkeys(dates, pl.String)}
        with ThreadPoolExecutor(1) as beside:  # numpy scans while polars parses
            scan = beside.submit(_scan, data, separator, first.width)
            frame = pl.read_csv(data, schema=schema, null_values=list(missing), **options)
    except (pl.exceptions.PolarsError, ValueError):
        return None
    numbers = {i for i, kind in enumerate(first.dtypes) if kind.is_numeric()}
    fields, zero_led = scan.result()
    # A wrong number of fields means a ragged or blank line; a leading zero, a code and no number;
    # and floats beyond 2**53 may have lost digits.
    if fields != (frame.height + 1) * frame.width or numbers & zero_led or not _exact(frame):
        return None
    return _with_dates(typed(frame, missing=missing, infer=False), dates)


def _otherwise_written(sample: pl.DataFrame, missing: Collection[str], texts: set[str]) -> bool:
    """Whether a column may hold numbers with thousands separators, or dates in another form."""
    seen: dict[str, ColumnForms] = {}
    see_frame(seen, without_markers(sample, missing), texts)
    return any(c.orders or (c.numbers and c.number(".") != PLAIN) for c in seen.values())


def _with_dates(frame: pl.DataFrame, dates: Collection[str]) -> pl.DataFrame | None:
    """Turn these columns into dates; `None` if one does not hold dates throughout."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        columns = {c: as_dates(bare(frame.get_column(c)), c) for c in dates}
    if any(column is None for column in columns.values()):
        return None
    return frame.with_columns([c.alias(name) for name, c in columns.items() if c is not None])


def _exact(frame: pl.DataFrame) -> bool:
    return all(bool((bare(c).abs() < EXACT).all()) for c in frame.select(pl.selectors.float()))


def _scan(data: bytes, separator: str, width: int) -> tuple[int, set[int]]:
    """The number of fields, and the columns in which some number has a leading zero.

    Polars fills short records and drops leading zeros without a word, so both are looked for in the
    bytes themselves. A number with a leading zero starts after a separator, a line break or a minus
    sign, as a 0 followed by a digit.
    """
    text = np.frombuffer(data, np.uint8)
    zero_led: set[int] = set()
    before = 0  # fields that ended in earlier chunks
    for start in range(0, text.size, _CHUNK):
        # Two bytes more, since a match takes three; those that start there belong to the next.
        chunk = text[start : start + _CHUNK + 2]
        ends = (chunk == ord(separator)) | (chunk == ord("\n"))
        led = ends | (chunk == ord("-"))
        led[:-1] &= chunk[1:] == ord("0")
        led[:-2] &= (chunk[2:] - np.uint8(ord("0"))) < 10
        if led[:-2].any():
            at = np.flatnonzero(led[: min(_CHUNK, len(led) - 2)])
            fields = before + np.searchsorted(np.flatnonzero(ends), at, side="right")
            zero_led.update(np.unique(fields % width).tolist())
        before += int(np.count_nonzero(ends[:_CHUNK]))
    return before, zero_led


def delimited_frame(
    path: Path,
    usual: str = ",",
    dialect: Dialect | None = None,
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame:
    """Read a delimited file, typed by the rule of `tamis.read.types`; empty cells are missing.

    `usual` is the separator that the name of the file suggests.
    """
    dialect = dialect or Dialect()
    data, encoding = decode(path, dialect.encoding)
    separator = dialect.separator or find_separator(head_of(data), usual)
    header = _header(path, data, separator)
    guided: dict[str, Any] = {"missing": missing, "declared": declared, "untouched": untouched}
    texts = stay_texts(declared, untouched)
    frame, forms = direct_frame(data, separator, dialect=dialect, **guided), Forms({})
    if frame is None:
        cells = without_markers(_text_frame(path, data, header, separator), missing)
        seen: dict[str, ColumnForms] = {}
        see_frame(seen, cells, texts)
        forms = decide_forms(seen.values(), dialect, separator)
        frame = typed(forms.rewrite(cells), **guided)
    if frame.is_empty():
        raise InputError(f"{path} has a header but no rows")
    say_found(path, dialect, (separator, usual), encoding, forms)
    say_texts(path, frame, texts)
    return frame


def stay_texts(declared: Mapping[str, str] | None, untouched: Collection[str]) -> set[str]:
    """Columns that are text whatever they hold."""
    return {*untouched, *(c for c, kind in (declared or {}).items() if kind == "text")}


def head_of(data: bytes) -> str:
    """The whole records at the beginning of a text, from which the separator is inferred."""
    if len(data) <= HEAD:
        return data.decode()
    text = data[:HEAD].decode(errors="ignore")
    return text[: _end_of_records(text)] or text


def say_found(
    path: Path, dialect: Dialect, separators: tuple[str, str], encoding: str, forms: Forms
) -> None:
    """Note what was inferred from a file, unless it is usual: separator, forms, encoding."""
    separator, usual = separators
    parts = [separator_name(separator)] if not dialect.separator and separator != usual else []
    parts += forms.words
    _say_how_read(
        path, [*parts, encoding] if not dialect.encoding and encoding != "utf-8" else parts
    )


def say_texts(path: Path, frame: pl.DataFrame, texts: Collection[str]) -> None:
    """Note which columns look like numbers or dates but are read as text."""
    if words := words_of_texts(frame, texts):
        warnings.warn(f"{path.name}: {words}", ReadingNote, stacklevel=2)


def text_frame(path: Path, usual: str, dialect: Dialect) -> pl.DataFrame:
    """Read a delimited file with every cell as text, numbers and dates rewritten plainly.

    No cell raises an error: where their form is in doubt, cells stay as they are.
    """
    data, _ = decode(path, dialect.encoding)
    separator = dialect.separator or find_separator(head_of(data), usual)
    cells = _text_frame(path, data, _header(path, data, separator), separator)
    seen: dict[str, ColumnForms] = {}
    see_frame(seen, cells, set())
    with suppress(InputError):
        return decide_forms(seen.values(), dialect, separator).rewrite(cells)
    return cells


def delimited_chunks(
    path: Path, usual: str = ",", dialect: Dialect | None = None, *, size: int = 1 << 25
) -> Iterator[tuple[pl.DataFrame, str]]:
    """Read a delimited file of any size in batches of records, with every cell as text.

    Parameters
    ----------
    path : Path
    usual : str
        The separator that the name of the file suggests.
    dialect : Dialect
    size : int
        About how many characters to read at once.

    Yields
    ------
    frame, separator
    """
    dialect = dialect or Dialect()
    separator = dialect.separator or usual
    header: list[str] = []
    line = b""
    read = 0
    for block in whole_lines(path, dialect.encoding, size):
        if not header:
            separator = dialect.separator or find_separator(head_of(block), usual)
            header = _header(path, block, separator)
            line = _first_record(block)
        data = line + block if read else block
        frame = _text_frame(path, data, header, separator, read)
        read += block.count(b"\n")
        yield frame, separator


def _first_record(data: bytes) -> bytes:
    """The bytes of the header, which may have line breaks inside quotes."""
    end = data.find(b"\n")
    while end >= 0 and data.count(b'"', 0, end) % 2:
        end = data.find(b"\n", end + 1)
    return data[: end + 1] if end >= 0 else data + b"\n"


def _text_frame(
    path: Path, data: bytes, header: list[str], separator: str, before: int = 0
) -> pl.DataFrame:
    """Parse every cell as text; `before` lines of the file precede those of `data`."""
    with suppress(pl.exceptions.PolarsError):
        frame = pl.read_csv(data, separator=separator, infer_schema=False)
        if frame.width == len(header):
            frame.columns = header  # polars leaves doubled quotes inside a name as they are
        if _evenly_split(data, frame, separator):
            return frame
    return _record_by_record(path, data, header, separator, before)


def _header(path: Path, data: bytes, separator: str) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        names = next(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        raise InputError(f"{path}: a quote in the header is not closed") from None
    check_width(path, len(names))
    if blank := [str(i + 1) for i, name in enumerate(names) if not name.strip()]:
        raise InputError(
            f"{path}: column {', '.join(blank[:8])} has no name in the header; name it, or remove "
            "it if it is a row number"
        )
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise InputError(f"{path}: column name {listed(twice)} occurs twice; rename one")
    return names


def _evenly_split(data: bytes, frame: pl.DataFrame, separator: str) -> bool:
    """Whether every record has as many fields as the header.

    Polars raises for longer records but silently fills shorter ones, so separators are counted:
    those in the file must be those between fields plus those inside quoted cells.
    """
    inside = 0
    if b'"' in data:
        counts = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        inside = sum(counts.row(0)) + sum(name.count(separator) for name in frame.columns)
    total = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(separator))
    return bool(total == (frame.height + 1) * (frame.width - 1) + inside)


def _record_by_record(
    path: Path, data: bytes, header: list[str], separator: str, before: int = 0
) -> pl.DataFrame:
    """The slow and exact way, for files with blank or ragged lines."""
    # A later part starts with a copy of the header, which is no line of its own.
    before -= _first_record(data).count(b"\n") if before else 0
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    next(reader)
    records, ragged = [], []
    try:
        for record in reader:
            if len(record) == len(header):
                records.append(record)
            elif record:
                ragged.append((before + reader.line_num, len(record)))
    except csv.Error:
        raise InputError(
            f"{path}: a quoted cell is not closed properly near line {before + reader.line_num}; "
            "double every quote inside a quoted cell and close it"
        ) from None
    if ragged:
        line, fields = ragged[0]
        more = f" ({len(ragged)} such lines in total)" if len(ragged) > 1 else ""
        raise InputError(
            f"{path}: line {line} has {plural(fields, 'field')}, the header has "
            f"{len(header)}{more}; "
            f"quote cells that contain {separator!r}, or pass another separator"
        )
    frame = pl.DataFrame(records, schema=dict.fromkeys(header, pl.String), orient="row")
    return frame.with_columns(pl.all().replace("", None))
