"""Who is a person: which identifiers decide it, and what each of them would mean.

Rows of one person count as one. A number given to people (a patient number) tells them apart better
than their names do, since two people may have one name; the number of a stay or a claim tells apart
what people have several of; the number of a household or a matched set tells apart groups of them.
Only the data holder knows which is which, so what each would mean is counted and said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.arrays import Codes

OF_EVENTS = {
    "stay", "visit", "encounter", "admission", "adm", "hadm", "episode", "row", "rows", "record",
    "rec", "claim", "sample", "specimen", "test", "event", "line", "order", "invoice",
    "transaction", "trans", "txn", "measurement", "observation", "obs", "appointment", "booking",
    "call", "message", "session", "trip", "ticket", "seq", "sequence",
}  # fmt: skip
"""Words for what a person may have several of."""
ENOUGH = 0.5
"""A code with fewer values than this share of the names is of groups: a postcode, a household."""
SOME_VALUES = 1_000
"""Values that tell codes from names."""

_DATED = r"^\d{4}[-/.]?\d{2}[-/.]?\d{2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_CODED = r"^[^\s@]*\d[^\s@]*$"
_NAMED = r"^[^\d]*\p{L}[^\d]*\p{L}[^\d]*\p{L}[^\d]*$|@|\s"
_SPECIAL = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "\u0131": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"}
)


class PersonCandidate(NamedTuple):
    """Columns that may say who is a person, and how many people there would be."""

    columns: tuple[str, ...]
    people: int
    rows: int

    def words(self) -> str:
        """What it would mean.

        >>> PersonCandidate(("case.id",), 3854, 17549).words()
        "by 'case.id' 3,854 people with 4.6 rows each"
        >>> PersonCandidate(("name",), 1777, 1800).words()
        "by 'name' 1,777 people with hardly more than one row each"
        """
        names = " and ".join(map(repr, self.columns))
        each = self.rows / max(self.people, 1)
        few = "one row each" if self.people == self.rows else "hardly more than one row each"
        often = few if each < 1.05 else f"{each:.2g} rows each"
        return f"by {names} {self.people:,} people with {often}"


def header_words(name: str) -> list[str]:
    """The words of a column's name, in small letters without accents, by signs and capitals.

    >>> header_words("PatientID"), header_words("patient_nbr"), header_words("Förnamn 2")
    (['patient', 'id'], ['patient', 'nbr'], ['fornamn'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFC", name))
    plain = unicodedata.normalize("NFD", apart.lower().translate(_SPECIAL))
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return re.findall(r"[^\W\d_]+", bare)


def is_of_events(name: str) -> bool:
    """Whether a header names what a person may have several of.

    >>> is_of_events("stay"), is_of_events("claim_no"), is_of_events("patient")
    (True, True, False)
    """
    return bool(OF_EVENTS & set(header_words(name)))


def is_code(column: pl.Series) -> bool:
    """Whether values are numbers given to people or things: one word with a digit, but no date.

    >>> is_code(pl.Series(["P017", "P018"])), is_code(pl.Series(["Ann Lee", "Bo Ek"]))
    (True, False)
    """
    values = column.alias("")
    if values.dtype.is_integer():
        return True
    texts = _some_texts(values)
    return _mostly(texts, _CODED) and not _mostly(texts, _DATED)


def _is_name(column: pl.Series) -> bool:
    """Whether values are words or dates, which may be the same for two people."""
    if column.dtype in (pl.Date, pl.Datetime):
        return True
    texts = _some_texts(column.alias(""))
    return _mostly(texts, _NAMED) or _mostly(texts, _DATED)


def _some_texts(values: pl.Series) -> pl.Series:
    if values.dtype.is_float():
        values = values.drop_nans()
        whole = bool((values == values.floor()).all())
        values = values.cast(pl.Int64, strict=False) if whole else values.clear()
    present = values.drop_nulls().unique(maintain_order=True).head(SOME_VALUES)
    return present.cast(pl.String, strict=False).str.strip_chars()


def _mostly(texts: pl.Series, shape: str) -> bool:
    return texts.len() > 0 and 2 * int(texts.str.contains(shape).sum()) > texts.len()


def deciding(columns: Mapping[str, pl.Series], distinct: Mapping[str, int]) -> list[str]:
    """The identifiers that may decide who is a person.

    Constant ones do not, unless all are; what people have several of does not where others remain;
    names and dates do not while a code does.

    Parameters
    ----------
    columns : mapping of name to polars.Series
        Some values of each.
    distinct : mapping of name to int
        How many different values each has in all rows.
    """
    found = [c for c in columns if distinct[c] > 1]
    if not found:
        return list(columns)
    found = [c for c in found if not is_of_events(c)] or found
    names = [c for c in found if _is_name(columns[c])]
    most = max((distinct[c] for c in names), default=0)
    codes = [c for c in found if c not in names and is_code(columns[c])]
    if any(distinct[c] >= ENOUGH * most for c in codes):
        return [c for c in found if c not in names]
    return found


def value_codes(column: pl.Series) -> Codes:
    """Numbers from 0, equal where the cells are equal; missing cells count as equal."""
    column = column.alias("")  # polars takes names such as "^a.*$" for patterns
    if column.dtype.is_float():
        column = column.fill_nan(None)
    elif not column.dtype.is_integer():
        column = column.cast(pl.String)
    ranks = column.rank("dense")  # starting at 1
    codes: Codes = ranks.fill_null(0).to_numpy().astype(np.int64)
    return codes if ranks.null_count() else codes - 1


def join_codes(codes: Iterable[Codes]) -> Codes:
    """Numbers from 0, equal where all the codes are equal."""
    both, *others = codes
    for each in others:
        pairs = both * (each.max(initial=0) + 1) + each
        both = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return both


def coarsest(codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """The codes, except those that are finer than others."""
    kept = dict(codes)
    for name in list(kept):
        if any(_determines(kept[name], other) for key, other in kept.items() if key != name):
            del kept[name]
    return kept


def _determines(fine: Codes, coarse: Codes) -> bool:
    alone = int(fine.max()) + 1 == len(fine)
    return alone or int(join_codes([fine, coarse]).max()) == int(fine.max())


def candidates_of(codes: Mapping[str, Codes]) -> list[PersonCandidate]:
    """What each column would mean, and all together where no one of them is as fine; most first."""
    if not codes:
        return []
    rows = len(next(iter(codes.values())))
    found = [
        PersonCandidate((c,), int(each.max(initial=-1)) + 1, rows) for c, each in codes.items()
    ]
    together = int(join_codes(codes.values()).max(initial=-1)) + 1
    if together > max(each.people for each in found):
        found.append(PersonCandidate(tuple(codes), together, rows))
    return sorted(found, key=lambda each: -each.people)


def _people(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1
