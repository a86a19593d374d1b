"""Check-list of the eighteen identifiers of HIPAA's safe harbour, with the columns on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from tamis.people import header_words
from tamis.read.identifiers import Kind, content_of, is_place, is_whole
from tamis.read.keys import identifying_form
from tamis.table import Table


class ListedColumn(NamedTuple):
    """A column, and why it is on the list."""

    column: str
    why: str


@dataclass(frozen=True)
class HarbourItem:
    """One of the eighteen identifiers of HIPAA's safe harbour, and the columns that hold it."""

    number: int
    what: str
    found: tuple[ListedColumn, ...]


class _Listed(NamedTuple):
    what: str
    kinds: tuple[Kind, ...] = ()
    words: str = ""


_LIST = (
    _Listed("names", ("person",), "surname|firstname|lastname|fullname|forename|maiden"),
    _Listed(
        "places smaller than a state",
        ("address", "coordinates"),
        "zip|zipcode|postcode|postal|plz|city|town|county|district|street|address|parish|commune|"
        "fips|msa|cbsa|tract|geoid|area code|areacode",
    ),
    _Listed("dates other than years, ages over 89", ("birth",)),
    _Listed("telephone numbers", ("phone",), "phone|telephone|mobile|cell"),
    _Listed("fax numbers", (), "fax|telefax"),
    _Listed("e-mail addresses", ("email",), "email|mail"),
    _Listed("social security numbers", ("national",), "ssn|nin|nir"),
    _Listed("medical record numbers", (), "mrn|medrec|chart"),
    _Listed("health plan numbers", (), "beneficiary|medicare|medicaid|hicn|insured"),
    _Listed("account numbers", ("account",), "iban|account|card"),
    _Listed("certificate and licence numbers", (), "licence|license|certificate|passport|npi"),
    _Listed("vehicle identifiers", ("vehicle",), "vin|plate|registration"),
    _Listed("device identifiers", ("device",), "imei|serial|udid|mac"),
    _Listed("web addresses", ("url",), "url|website|homepage"),
    _Listed("IP addresses", ("ip",), "ip|ipaddress"),
    _Listed("biometric identifiers", (), "fingerprint|retina|voiceprint|biometric"),
    _Listed("photographs of faces", (), "photo|photograph|portrait|selfie"),
    _Listed("any other unique number or code"),
)
OLDEST = 89
"""The oldest age that may be stated: 45 CFR 164.514(b)(2)(i)(C) lists all ages over 89."""


def safe_harbour(table: Table) -> tuple[HarbourItem, ...]:
    """The eighteen identifiers of HIPAA's safe harbour, 45 CFR 164.514(b)(2), as a check-list.

    Every column except those that are never released is checked by its values and name. Finding
    nothing does not prove that nothing is there: photographs and biometric data, for instance, are
    recognised by name only.

    Parameters
    ----------
    table : Table

    Returns
    -------
    tuple of HarbourItem
        In the order of the rule.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 95], "mail": ["a@example.org", "b@example.org"]})
    >>> for item in safe_harbour(Table(frame)):
    ...     for column, why in item.found:
    ...         print(item.number, item.what, column, why)
    3 dates other than years, ages over 89 age ages over 89
    6 e-mail addresses mail e-mail addresses
    """
    found: list[list[ListedColumn]] = [[] for _ in range(len(_LIST) + 1)]
    for name in table.frame.columns:
        if name not in table.roles.identifiers:
            number, why = _placed(table.frame.get_column(name))
            found[number].append(ListedColumn(name, why))
    return tuple(
        HarbourItem(number, asked.what, tuple(found[number]))
        for number, asked in enumerate(_LIST, start=1)
    )


def _placed(column: pl.Series) -> tuple[int, str]:
    """The column's number on the list, and why; 0 if it is not on it."""
    words = header_words(column.name)
    if looks := content_of(column):
        if looks.kind == "phone" and "fax" in words:
            return 5, looks.words
        kinds = (looks.kind in asked.kinds for asked in _LIST)
        return next(n for n, has in enumerate(kinds, start=1) if has), looks.words
    if column.dtype in (pl.Date, pl.Datetime):
        return 3, "dates"
    if "age" in words and column.dtype.is_numeric():
        oldest = column.alias("").max()
        if isinstance(oldest, int | float) and OLDEST < oldest < 130:
            return 3, f"ages over {OLDEST}"
    if is_place(column):
        return 2, "by its name"
    if not is_whole(column.alias("").drop_nulls()):  # measured, whatever it is called
        return 0, ""
    named = {*words, *(" ".join(pair) for pair in pairwise(words))}
    for number, asked in enumerate(_LIST, start=1):
        if named & set(asked.words.split("|")):
            return number, "by its name"
    why = identifying_form(column)
    return (len(_LIST), why) if why else (0, "")
