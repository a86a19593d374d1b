"""How a text file is written: encoding, separator, decimal mark, order of days and months.

What is not given is inferred from the file by these rules, and a note says what was found:

- encoding: UTF-16 if the file begins with its byte-order mark, UTF-8 if its bytes are valid UTF-8,
  else windows-1252;
- separator: of comma, semicolon, tab and bar, the one by which every record has as many cells as
  the header, and at least two; if several do, the one that gives most cells, and among equals the
  one that the file name suggests.

The forms of numbers and dates are inferred by `tamis.read.forms`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from tamis.errors import InputError

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 20
"""Bytes of a file from which the separator is inferred."""
_RECORDS = 1000
_NAMES = {"\t": "tab", "|": "bar", " ": "blank"}
_WORDS = {
    "separator": {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"},
    "decimal": {"comma": ",", "point": "."},
    "thousands": {"none": "", "point": ".", "comma": ",", "space": " ", "apostrophe": "'"},
}
_ALLOWED = {
    "decimal": (",", "."),
    "thousands": ("", ".", ",", " ", "'"),
    "dates": ("dmy", "mdy", "ymd"),
}
_ASKED = {
    "decimal": "comma or point",
    "thousands": "point, comma, space, apostrophe or none",
    "dates": "dmy (day first), mdy (month first) or ymd (year first)",
}


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; `None` means to infer it from the file.

    Examples
    --------
    >>> Dialect(separator="tab", decimal="comma", thousands="space")
    Dialect(separator='\\t', encoding=None, decimal=',', thousands=' ', dates=None)
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            given = getattr(self, name)
            object.__setattr__(self, name, words.get(given, given))
        for name, allowed in _ALLOWED.items():
            given = getattr(self, name)
            if given is not None and given not in allowed:
                raise InputError(f"--{name} is {_ASKED[name]}, got {given!r}")
        if self.separator is not None and len(self.separator.encode()) != 1:
            raise InputError(
                f"the separator must be one ASCII character, got {len(self.separator)}"
            )
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(
                "--decimal and --thousands name the same mark; numbers need two different ones"
            )


def separator_name(separator: str) -> str:
    """
    >>> separator_name("\\t"), separator_name(";")
    ('tab', ';')
    """
    return _NAMES.get(separator, separator)


def find_separator(head: str, usual: str) -> str:
    """Infer the separator from the beginning of a file.

    Examples
    --------
    >>> find_separator("age;income\\n31;1,5\\n47;2,0\\n", ",")
    ';'
    >>> find_separator("age,codes\\n31,a;b\\n47,c;d;e\\n", ",")
    ','
    >>> find_separator("age\\n31\\n", ",")
    ','
    """
    order = (usual, *(s for s in SEPARATORS if s != usual))
    widths = {s: _widths(head, s) for s in order}
    even = {s: w[0] for s, w in widths.items() if len(set(w)) == 1 and w[0] > 1}
    if even:
        return max(even, key=lambda s: even[s])  # ties: the first, which is the usual one
    # No separator fits every record. Take the header's, so that the error names the ragged lines.
    first = {s: w[0] for s, w in widths.items() if w}
    return max(first, key=lambda s: first[s], default=usual) if first.get(usual, 1) < 2 else usual


def _widths(head: str, separator: str) -> list[int]:
    """Number of cells in each of the first records; 0 where this separator breaks the quoting."""
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator, strict=True)
    widths: list[int] = []
    try:
        widths.extend(len(record) for record in islice(reader, _RECORDS) if record)
    except csv.Error:
        widths.append(0)
    return widths


def how_read(parts: Iterable[str]) -> str:
    """
    >>> how_read([";", "decimal comma", "dates as day.month.year"])
    'read with ;, decimal comma and dates as day.month.year'
    """
    *first, last = parts
    return f"read with {', '.join(first)} and {last}" if first else f"read with {last}"
