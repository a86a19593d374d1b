"""The bytes of a text file, checked: present, not empty, intact gzip, no NUL, right encoding."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tamis.errors import InputError

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_PART = 1 << 20
MOST_UNPACKED = 1 << 30
"""The most bytes that gzip data may unpack to: a small file may hold more than fits in memory."""
MOST_COLUMNS = 100_000
"""More than any table needs: a header of millions is a mistake, or made to harm."""


def file_at(source: str | Path) -> Path:
    """The path of a file that exists and can be read."""
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise InputError(f"no file {path}; check the name and the folder")
    return path


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is gzip."""
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
    """What goes wrong while a file is read, as errors that say what to do."""
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


def read_utf8(source: str | Path, encoding: str = "utf-8") -> bytes:
    """The text of a file as UTF-8 bytes with `\\n` line endings, without a byte-order mark.

    Trailing blank lines are removed. Raises if the file is empty, contains NUL bytes or is not in
    the given encoding.
    """
    path = file_at(source)
    data = read_bytes(path)
    data = _recode(path, data, encoding)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(
            f"{path} contains a NUL byte in line {line}, so it is not a text table; export it "
            "again, or pass --encoding utf-16 if a program wrote it as Unicode text"
        )
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data or data.isspace():
        raise InputError(f"{path} is empty; a table needs a header and at least one row")
    return data if data[-2:-1] != b"\n" else data.rstrip(b"\n") + b"\n"


def whole_lines(
    source: str | Path, encoding: str = "utf-8", size: int = 1 << 25
) -> Iterator[bytes]:
    """The text of a file of any size as UTF-8 blocks that end where a record does.

    As in `read_utf8`, line endings are `\\n` and there is no byte-order mark. A line break inside
    quotes ends no record.
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
        raise InputError(f"{path} is empty; a table needs a header and at least one row")


def _end_of_records(text: str) -> int:
    """Where the last whole record ends: at a line break with an even number of quotes before it."""
    odd = text.count('"') % 2
    end = len(text)
    while (cut := text.rfind("\n", 0, end)) >= 0:
        odd ^= text.count('"', cut, end) % 2
        if not odd:
            return cut + 1
        end = cut
    return 0


def _pieces(path: Path, encoding: str, size: int) -> Iterator[str]:
    read = 0
    try:
        with _errors_in_words(path, encoding), path.open("rb") as file:
            packed = file.peek(2).startswith(_GZIP)
            raw: Any = gzip.GzipFile(fileobj=file) if packed else file
            lines = io.TextIOWrapper(raw, encoding=encoding, newline=None)
            while text := lines.read(size):
                text = text if read else text.removeprefix("\ufeff")
                if "\0" in text:
                    raise InputError(
                        f"{path} contains a NUL byte after line {read}, so it is not a text table; "
                        "export it again, or pass --encoding utf-16 if a program wrote it as "
                        "Unicode text"
                    )
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
        raise InputError(f"{path} is UTF-16 text; pass --encoding utf-16")
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
    """Refuse more columns than any table needs."""
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}; use a sparse "
            "format for 0/1 records, or check the separator"
        )
