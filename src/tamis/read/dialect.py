"""How a text file is written: its encoding, what stands between cells, decimals, days and months.

What is not said is found in the file, by these rules, and a note says what was found:

- encoding: UTF-16 if the file begins with its mark, UTF-8 if its bytes are that, else windows-1252;
- separator: of comma, semicolon, tab and bar, the one by which every record has as many cells as
  the header, and at least two; if several do, the one that gives most, and the usual one of
  the file name before others.

How numbers and dates are written is found by `tamis.read.forms`.
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
"""How many bytes of a file are looked at to find its separator."""
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
    """How a text file is written; `None`: to be found in it.

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
    """What stands between the cells of a file that begins so.

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
        return max(even, key=lambda s: even[s])  # the first of equals
    # No separator fits every record: the one of the header, by which the ragged lines are named.
    first = {s: w[0] for s, w in widths.items() if w}
    return max(first, key=lambda s: first[s], default=usual) if first.get(usual, 1) < 2 else usual


def _widths(head: str, separator: str) -> list[int]:
    """The number of cells of the first records; 0 for one whose quotes this separator breaks."""
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
