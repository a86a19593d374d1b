"""`People`: the person of each row, and which identifiers determine who is a person.

Most tables have one row a person, some have several. All counting goes through one record, which
has fast paths for the former.

Rows of one person count as one. A number given to people (a patient number) tells them apart better
than their names do, since two people may share a name; the number of a stay or a claim tells apart
what a person has several of; the number of a household or a matched set tells apart groups of
people. Only the data holder knows which is which, so what each identifier would mean is counted and
reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import Codes
from tamis.errors import InputError, plural

PeopleLike: TypeAlias = "People | ArrayLike | None"
"""The person of each row: `People`, names or numbers, or `None` for one row a person."""


@dataclass(frozen=True, eq=False)
class People:
    """The person of each row, by number.

    Examples
    --------
    >>> stays = People.of([0, 0, 2, 1])
    >>> stays.codes.tolist(), stays.count, stays.each_row
    ([0, 0, 2, 1], 3, False)
    >>> stays[stays.codes > 0].count
    2
    >>> People.of_rows(3).codes.tolist(), People.of_rows(3).each_row
    ([0, 1, 2], True)
    """

    rows: int
    groups: Codes | None = field(default=None, repr=False)
    """The number of each row's person, as scikit-learn's `groups`; `None`: each row is a person."""
    together: bool = False
    """Whether a release links the rows of a person: whoever finds one row then finds them all."""

    @classmethod
    def of_rows(cls, rows: int) -> People:
        """People of one row each."""
        return cls(rows)

    @classmethod
    def of(cls, numbers: Any) -> People:
        """People by numbers from 0 without gaps; each row is a person if none repeats."""
        codes = np.asarray(numbers, dtype=np.int64)
        return cls(len(codes), None if codes.max(initial=-1) + 1 == len(codes) else codes)

    @classmethod
    def named(cls, names: Any, rows: int) -> People:
        """People by whatever distinguishes them: names or numbers; `None`: each row is a person.

        >>> People.named(["eve", "bob", "eve"], 3).codes.tolist(), People.named(None, 2).each_row
        ([1, 0, 1], True)
        """
        if names is None:
            return cls.of_rows(rows)
        each = names.codes if isinstance(names, People) else np.asarray(names)
        if each.shape != (rows,):
            raise InputError(
                "people must name one person per row: "
                f"{plural(rows, 'row')}, got shape {each.shape}"
            )
        if isinstance(names, People):
            return names
        try:
            return cls.of(np.unique(each, return_inverse=True)[1])
        except TypeError:
            raise InputError(
                "people has missing or mixed values; name a person for every row"
            ) from None

    def linked(self) -> People:
        """A copy in which a release links the rows of each person."""
        return replace(self, together=True)

    @property
    def each_row(self) -> bool:
        """Whether each row is a person, so that counting rows counts people."""
        return self.groups is None

    @cached_property
    def codes(self) -> Codes:
        """The person's number for each row; without gaps unless rows were selected."""
        return np.arange(self.rows) if self.groups is None else self.groups

    @cached_property
    def radix(self) -> int:
        """An upper bound of the numbers: all are below it."""
        return self.rows if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @cached_property
    def count(self) -> int:
        """Number of people."""
        return self.rows if self.groups is None else len(np.unique(self.groups))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.codes, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: Any) -> People:
        """The people of some rows, by a mask, a slice or row numbers."""
        if self.groups is not None:
            taken = self.groups[rows]
            return People(len(taken), taken, self.together)
        if isinstance(rows, slice):
            return People.of_rows(len(range(*rows.indices(self.rows))))
        which = np.asarray(rows)
        return People.of_rows(int(which.sum()) if which.dtype == np.bool_ else len(which))

    def renumbered(self) -> People:
        """The same people, numbered without gaps."""
        if self.groups is None:
            return self
        return self.with_numbers(np.unique(self.groups, return_inverse=True)[1])

    def with_numbers(self, numbers: Any) -> People:
        """The same people under other numbers, from 0 without gaps."""
        return replace(People.of(numbers), together=self.together)

    def and_others(self, others: People) -> People:
        """These people followed by others, who are all different people.

        >>> People.of([0, 0]).and_others(People.of_rows(2)).codes.tolist()
        [0, 0, 1, 2]
        """
        if self.each_row and others.each_row:
            return People.of_rows(self.rows + others.rows)
        return People.of(np.concatenate([self.codes, others.codes + self.radix]))

    def among(self, rows: NDArray[Any]) -> int:
        """Number of people with some of the rows.

        >>> People.of([0, 0, 1]).among(np.array([True, True, False]))
        1
        """
        return self[rows].count

    def all_rows(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask of all rows of the people who have one of the rows.

        >>> People.of([0, 0, 1]).all_rows(np.array([True, False, False])).tolist()
        [True, True, False]
        """
        if self.groups is None:
            return rows
        theirs = np.zeros(self.radix, dtype=np.bool_)
        theirs[self.groups[rows]] = True
        return theirs[self.groups]

    def worst(self, of_row: NDArray[Any]) -> NDArray[Any]:
        """The largest value among each person's rows.

        >>> People.of([0, 0, 1]).worst(np.array([3, 5, 4])).tolist()
        [5, 4]
        """
        if self.groups is None:
            return of_row
        worst = np.full(self.radix, of_row.min(initial=0), dtype=of_row.dtype)
        np.maximum.at(worst, self.groups, of_row)
        return worst

    def least(self, of_row: NDArray[Any]) -> NDArray[Any]:
        """The smallest value among each person's rows.

        >>> People.of([0, 0, 1]).least(np.array([3, 5, 4])).tolist()
        [3, 4]
        """
        return -self.worst(-of_row)


OF_EVENTS = {
    "stay", "visit", "encounter", "admission", "adm", "hadm", "episode", "row", "rows", "record",
    "rec", "claim", "sample", "specimen", "test", "event", "line", "order", "invoice",
    "transaction", "trans", "txn", "measurement", "observation", "obs", "appointment", "booking",
    "call", "message", "session", "trip", "ticket", "seq", "sequence",
}  # fmt: skip
"""Words for what a person may have several of."""
OF_GROUPS = {
    "household", "hh", "hhid", "hhold", "hholdid", "hhno", "hhnr", "hhnum", "haushalt",
    "haushaltsnr", "haushaltsnummer", "hogar", "menage", "foyer", "famiglia", "hushall",
    "family", "fam", "famid", "familyid", "famille", "familie", "familia", "set", "pair", "matched",
    "couple", "dwelling", "serialno", "serial",
}  # fmt: skip
"""Words for what several people share: a household, a family, a matched set."""
ENOUGH = 0.5
"""A code with fewer values than this share of the names is of groups: a postcode, a household."""
SOME_VALUES = 1_000
"""How many values are looked at to tell codes from names."""

_DATED = r"^\d{4}[-/.]?\d{2}[-/.]?\d{2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
_CODED = r"^[^\s@]*\d[^\s@]*$"
_NAMED = r"^[^\d]*\p{L}[^\d]*\p{L}[^\d]*\p{L}[^\d]*$|@|\s"
_SPECIAL = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "\u0131": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"}
)


class PersonCandidate(NamedTuple):
    """Columns that may identify a person, and how many people there would be."""

    columns: tuple[str, ...]
    people: int
    rows: int

    def words(self) -> str:
        """The people that these columns would give, in words.

        >>> PersonCandidate(("case.id",), 3854, 17549).words()
        "by 'case.id' 3,854 people with 4.6 rows each"
        >>> PersonCandidate(("name",), 1777, 1800).words()
        "by 'name' 1,777 people with hardly more than one row each"
        >>> PersonCandidate(("first",), 42, 4200).words()
        "by 'first' 42 people with 100 rows each"
        """
        names = " and ".join(map(repr, self.columns))
        each = self.rows / max(self.people, 1)
        few = "one row each" if self.people == self.rows else "hardly more than one row each"
        often = (
            few
            if each < 1.05
            else f"{each:,.0f} rows each"
            if each >= 10
            else f"{each:.2g} rows each"
        )
        return f"by {names} {self.people:,} people with {often}"


def header_words(name: str) -> list[str]:
    """The words of a column's name in lower case without accents, split at signs and capitals.

    >>> header_words("PatientID"), header_words("patient_nbr"), header_words("Förnamn 2")
    (['patient', 'id'], ['patient', 'nbr'], ['fornamn'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFC", name))
    plain = unicodedata.normalize("NFD", apart.lower().translate(_SPECIAL))
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return re.findall(r"[^\W\d_]+", bare)


def is_of_events(name: str) -> bool:
    """Whether a header names events, of which a person may have several.

    >>> is_of_events("stay"), is_of_events("claim_no"), is_of_events("patient")
    (True, True, False)
    """
    return bool(OF_EVENTS & set(header_words(name)))


def is_of_groups(name: str) -> bool:
    """Whether a header names groups, which several people share.

    >>> is_of_groups("hhid"), is_of_groups("matched_set"), is_of_groups("patient")
    (True, True, False)
    """
    return bool(OF_GROUPS & set(header_words(name)))


def is_code(column: pl.Series) -> bool:
    """Whether values are codes given to people or things: one word with a digit, but no date.

    >>> is_code(pl.Series(["P017", "P018"])), is_code(pl.Series(["Ann Lee", "Bo Ek"]))
    (True, False)
    """
    values = column.alias("")
    if values.dtype.is_integer():
        return True
    texts = _some_texts(values)
    return _mostly(texts, _CODED) and not _mostly(texts, _DATED)


def _is_name(column: pl.Series) -> bool:
    """Whether values are words or dates, which two people may share."""
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
    """The identifiers that may determine who is a person.

    Constant ones are excluded, unless all are constant; identifiers of events, if others remain;
    names and dates, if there is a code that is fine enough.

    Parameters
    ----------
    columns : mapping of name to polars.Series
        Some values of each identifier.
    distinct : mapping of name to int
        The number of distinct values of each in all rows.
    """
    identifiers = [c for c in columns if distinct[c] > 1]
    if not identifiers:
        return list(columns)
    identifiers = [c for c in identifiers if not is_of_events(c)] or identifiers
    names = [c for c in identifiers if _is_name(columns[c])]
    most = max((distinct[c] for c in names), default=0)
    codes = [c for c in identifiers if c not in names and is_code(columns[c])]
    if any(distinct[c] >= ENOUGH * most for c in codes):
        return [c for c in identifiers if c not in names]
    return identifiers


def value_codes(column: pl.Series) -> Codes:
    """Codes from 0 that are equal for equal cells; missing cells are equal to each other."""
    column = column.alias("")  # polars takes names such as "^a.*$" for patterns
    if column.dtype.is_float():
        column = column.fill_nan(None)
    elif not column.dtype.is_integer():
        column = column.cast(pl.String)
    ranks = column.rank("dense")  # starting at 1
    codes: Codes = ranks.fill_null(0).to_numpy().astype(np.int64)
    return codes if ranks.null_count() else codes - 1


def join_codes(codes: Iterable[Codes]) -> Codes:
    """Codes from 0 that are equal where all the given codes are equal."""
    both, *others = codes
    for each in others:
        pairs = both * (each.max(initial=0) + 1) + each
        both = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return both


def coarsest(codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """The codes without those that determine another one."""
    kept = dict(codes)
    for name in list(kept):
        if any(_determines(kept[name], other) for key, other in kept.items() if key != name):
            del kept[name]
    return kept


def _determines(fine: Codes, coarse: Codes) -> bool:
    alone = int(fine.max()) + 1 == len(fine)
    return alone or int(join_codes([fine, coarse]).max()) == int(fine.max())


def candidates_of(codes: Mapping[str, Codes]) -> list[PersonCandidate]:
    """The people that each column would give, most first.

    All columns together are a candidate, too, if no single one gives as many people.
    """
    if not codes:
        return []
    rows = len(next(iter(codes.values())))
    candidates = [
        PersonCandidate((c,), int(each.max(initial=-1)) + 1, rows) for c, each in codes.items()
    ]
    together = int(join_codes(codes.values()).max(initial=-1)) + 1
    if together > max(each.people for each in candidates):
        candidates.append(PersonCandidate(tuple(codes), together, rows))
    return sorted(candidates, key=lambda each: -each.people)
