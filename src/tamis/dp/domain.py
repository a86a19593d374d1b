"""The public domain of a table: the cells that it could fill, known without looking at it.

Differential privacy hides what is in a table, not what could be. So the type of each column, the
range of each number and the values of each category must be public: written down before the data
was seen. The data is converted to them, never the reverse: a number is rounded and clipped to the
bounds, and any other value is replaced by the one declared for such cells. No cell causes an error,
since an error would reveal something, too.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from tamis.arrays import Floats, Ints
from tamis.errors import InputError, TamisWarning, listed, listed_as

Bounds = Mapping[str, Any]
Type = Literal["integer", "number", "category", "boolean"]

_KEYS: dict[str, tuple[str, ...]] = {
    "integer": ("low", "high", "other", "missing"),
    "number": ("low", "high", "decimals", "other", "missing"),
    "category": ("values", "other", "missing"),
    "boolean": ("other", "missing"),
}
EXACT = 2**53
"""Whole numbers up to here are exact in floating point."""
MOST_CLASSES = 1000
"""Most classes of a target that is declared as a range of whole numbers."""
_NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_FORMS = (
    "[low, high], a list of values, or a table such as { type = 'integer', low = 0, high = 120 }"
)


@dataclass(frozen=True, eq=False)
class Axis:
    """One column cut into bins: intervals of numbers, or the values themselves.

    Parameters
    ----------
    name : str
    type : {"integer", "number", "category", "boolean"}
    levels : tuple
        The values of a category, one bin each; empty for numbers.
    edges : tuple of float
        The limits of the intervals, one more than there are intervals. For numbers with a given
        number of decimals they count steps (tenths, hundredths), and each interval includes its
        lower limit but not its upper one.
    decimals : int, optional
        Of numbers; `None`: any number.
    other : Any
        The value that replaces a cell which is none of the values, or no number; `None`: not given.
    missing : bool
        Whether the last bin is for missing cells.
    """

    name: str
    type: Type
    levels: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    decimals: int | None = None
    other: Any = None
    missing: bool = False

    @property
    def dtype(self) -> pl.DataType:
        """The type of the drawn column, by the declaration alone."""
        if self.type in ("integer", "number"):
            return pl.Int64() if self.type == "integer" else pl.Float64()
        if all(isinstance(v, str) for v in self.levels):
            return pl.String()
        if all(isinstance(v, bool) for v in self.levels):
            return pl.Boolean()
        return pl.Int64() if all(isinstance(v, int) for v in self.levels) else pl.Float64()

    @property
    def is_number(self) -> bool:
        return bool(self.edges)

    @property
    def bins(self) -> int:
        """The number of bins, including the one for missing cells."""
        return self.present + self.missing

    @property
    def present(self) -> int:
        return len(self.edges) - 1 if self.is_number else len(self.levels)

    def codes(self, column: pl.Series) -> Ints:
        """The bin of each cell, whatever the type of the column."""
        column = _without_nan(column)
        if not self.is_number:
            return self._places(column)
        cells = self._steps(column)
        intervals = np.searchsorted(np.array(self.edges[1:-1]), cells, side="right")
        return np.where(np.isnan(cells), self.present, intervals).astype(np.int64)

    def brought(self, column: pl.Series) -> pl.Series:
        """The cells converted as declared: to the type, and within the bounds or values.

        >>> ages = axis("age", {"type": "integer", "low": 0, "high": 99})
        >>> ages.brought(pl.Series(["31", "47.6", "old", None, "120"])).to_list()
        [31, 48, 0, 0, 99]
        """
        column = _without_nan(column)
        if not self.is_number:
            return self._values(self._places(column))
        return self._numbers(self._steps(column))

    def _values(self, places: Ints) -> pl.Series:
        values = pl.Series(self.name, [*self.levels, None], dtype=self.dtype)
        return values.gather(np.minimum(places, len(self.levels)))

    def _numbers(self, steps: Floats) -> pl.Series:
        numbers = steps if self.decimals is None else steps / 10**self.decimals
        return pl.Series(self.name, numbers).fill_nan(None).cast(self.dtype)

    def _steps(self, column: pl.Series) -> Floats:
        """Numbers clipped to the bounds, in steps if decimals are declared; NaN for missing."""
        read = _numbers_of(column)
        strange = column.is_not_null() & read.is_null()
        cells: Floats = read.fill_null(np.nan).to_numpy().astype(np.float64, copy=True)
        cells[strange.to_numpy()] = self._number_for(strange=True)
        cells[column.is_null().to_numpy()] = self._number_for(strange=False)
        if self.decimals is not None:
            with np.errstate(over="ignore"):
                cells = np.rint(cells * 10**self.decimals)
        return np.clip(cells, self.edges[0], self._top)

    def _number_for(self, *, strange: bool) -> float:
        """The replacement of a cell that is missing or no number; NaN means missing.

        Without a declared one it is the lowest number, by clipping minus infinity.
        """
        if self.missing and (self.other is None or not strange):
            return math.nan
        return float(-math.inf if self.other is None else self.other)

    def _places(self, column: pl.Series) -> Ints:
        known = _text_of(column).replace_strict(self._known, default=-1, return_dtype=pl.Int64)
        gone = len(self.levels)
        named = None if self.other is None else self.levels.index(self.other)
        # Unknown values become the declared one, else missing, else the first value.
        other = named if named is not None else gone if self.missing else 0
        places = np.where(known.fill_null(-1).to_numpy() < 0, other, known.fill_null(0).to_numpy())
        empty = gone if self.missing else other
        return np.where(column.is_null().to_numpy(), empty, places).astype(np.int64)

    @cached_property
    def _known(self) -> dict[str, int]:
        """The position of each value, by its text."""
        texts = _text_of(pl.Series(values=self.levels, dtype=self.dtype))
        known = {text: i for i, text in enumerate(texts)}
        return known | {"0": 0, "1": 1} if self.type == "boolean" else known

    def drawn(self, low: Ints, high: Ints, rng: np.random.Generator) -> pl.Series:
        """A value drawn uniformly from the bins low, ..., high - 1, for each pair."""
        if not self.is_number:
            return self._values(rng.integers(low, high))
        edges = np.array(self.edges)
        start, end = edges[np.minimum(low, self.present)], edges[np.minimum(high, self.present)]
        numbers = start + rng.random(len(low)) * (end - start)
        if self.decimals is not None:
            numbers = np.minimum(np.floor(numbers), self._top)
        # The bin of missing cells is drawn as often as any other bin of its box.
        gone = (high > self.present) & (rng.random(len(low)) * (high - low) < 1)
        numbers[gone] = np.nan
        return self._numbers(numbers)

    @property
    def values(self) -> float:
        """The number of possible values, apart from missing."""
        if not self.is_number:
            return len(self.levels)
        return math.inf if self.decimals is None else self._top - self.edges[0] + 1

    @property
    def _top(self) -> float:
        return self.edges[-1] if self.decimals is None else self.edges[-1] - 1

    def to_list(self) -> list[Any]:
        """The lowest and highest number, or the values, for a recipe."""
        if not self.is_number:
            return list(self.levels)
        ends = self._numbers(np.array([self.edges[0], self._top]))
        return ends.to_list()

    def to_dict(self) -> dict[str, Any]:
        """The declaration in its long form, for a recipe."""
        declared: dict[str, Any] = {"type": self.type}
        if self.is_number:
            declared["low"], declared["high"] = self.to_list()
            declared |= {"decimals": self.decimals} if self.type == "number" else {}
        elif self.type == "category":
            declared["values"] = list(self.levels)
        return declared | {"other": self.other, "missing": self.missing}


def axes(
    frame: pl.DataFrame,
    bounds: Bounds | None,
    *,
    bins: int,
    missing: Sequence[str] = (),
    from_data: bool = False,
    label: str | None = None,
) -> list[Axis]:
    """The axes of all columns as declared: the label first, then in the declared order.

    Parameters
    ----------
    frame : polars frame
        Only the names of its columns are used, unless `from_data`.
    bounds : mapping of column to its declaration
        See `axis`.
    bins : int
        Intervals of a column of numbers; fewer if it has fewer values.
    missing : sequence of str
        Columns in which a cell may be missing.
    from_data : bool
        Take bounds that are not given from the table, with a warning: this voids the guarantee.
    label : str, optional
        A column whose values are categories even if they are numbers.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 47], "sex": ["f", "m"]})
    >>> [a.bins for a in axes(frame, {"age": (0, 100), "sex": ["f", "m", "x"]}, bins=4)]
    [4, 3]
    """
    given = dict(bounds or {})
    if unknown := [c for c in (*given, *missing) if c not in frame.columns]:
        raise InputError(
            f"bounds or missing name {listed(unknown)}, which is not a column to release"
        )
    lacking = [c for c in frame.columns if c not in given]
    if lacking and not from_data:
        raise InputError(
            f"no public bounds for {listed_as('column', lacking)}: give [low, high] for numbers, "
            "{ type = 'boolean' } for booleans and every possible value for others, from what is "
            "known without the data (--bounds FILE); bounds_from_data (--bounds-from-data) takes "
            "them from the data and voids the guarantee"
        )
    if from_data:
        gaps = [c for c in frame.columns if frame.get_column(c).null_count() and c not in missing]
        missing = [*missing, *gaps]
        _warn(lacking, gaps)
        given |= {c: _observed(frame.get_column(c), c == label) for c in lacking}
    declared = [axis(c, given[c], bins, missing=c in missing, label=c == label) for c in given]
    return sorted(declared, key=lambda a: a.name != label)


def axis(
    name: str, declared: Any, bins: int = 1, *, missing: bool = False, label: bool = False
) -> Axis:
    """The axis of one column, from its declaration.

    Parameters
    ----------
    name : str
    declared : sequence or mapping
        Two numbers are the lowest and the highest: a column of whole numbers if both are written
        as whole numbers, of any numbers if one has a decimal point. Other lists contain every
        possible value; so does any list for a label. A mapping has `type`: ``"integer"`` and
        ``"number"`` with `low` and `high` (and `decimals`), ``"category"`` with `values`,
        ``"boolean"``; and for all of them `missing`, whether a cell may be missing, and
        `other`, the replacement of any other cell.
    bins : int
    missing : bool
    label : bool

    Examples
    --------
    >>> axis("height", {"type": "number", "low": 1, "high": 2.5, "decimals": 2}).values
    151.0
    >>> axis("job", ["cook", "judge"]).dtype, axis("age", [0, 120]).dtype
    (String, Int64)
    """
    long = declared if isinstance(declared, Mapping) else _long_form(name, declared, label)
    kind = long.get("type")
    if kind not in _KEYS:
        raise InputError(
            f"the type of column {name!r} must be one of {', '.join(_KEYS)}, got {kind!r}; {_FORMS}"
        )
    if unknown := [key for key in long if key not in (*_KEYS[kind], "type")]:
        raise InputError(
            f"column {name!r} of type {kind} has no entry {listed(unknown)}; it takes "
            f"{', '.join(_KEYS[kind]) or 'none'}"
        )
    gap = long.get("missing", False)
    if not isinstance(gap, bool):
        raise InputError(f"missing of column {name!r} must be true or false")
    if kind in ("integer", "number"):
        return _number_axis(name, long, bins, missing or gap, label)
    values = (False, True) if kind == "boolean" else long.get("values", ())
    return _level_axis(name, values, long.get("other"), missing or gap, label)


def _long_form(name: str, declared: Any, label: bool) -> dict[str, Any]:
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        raise InputError(
            f"bounds of column {name!r} must be (low, high) or a list of values: {_FORMS}"
        )
    if not label and len(declared) == 2 and all(map(_is_number, declared)):
        whole = all(isinstance(x, int | np.integer) for x in declared)
        kind = "integer" if whole else "number"
        return {"type": kind, "low": declared[0], "high": declared[1]}
    return {"type": "category", "values": declared}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _number_axis(name: str, long: Mapping[str, Any], bins: int, missing: bool, label: bool) -> Axis:
    low, high, other = (long.get(key) for key in ("low", "high", "other"))
    if not _is_number(low) or not _is_number(high):
        raise InputError(f"bounds of column {name!r} must be two numbers, (low, high)")
    low, high = float(low), float(high)  # type: ignore[arg-type]
    decimals = 0 if long["type"] == "integer" else long.get("decimals")
    _check_decimals(name, decimals)
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise InputError(f"bounds of column {name!r} must rise from low to high and be finite")
    if decimals is None and low == high:
        raise InputError(f"bounds of column {name!r} must rise from low to high, got one number")
    if other is not None and not (_is_number(other) and low <= other <= high):
        raise InputError(f"other of column {name!r} must be a number from low to high")
    edges = _edges(name, low, high, bins, decimals)
    if not label:
        return Axis(name, long["type"], (), edges, decimals, other, missing)
    if decimals != 0 or edges[-1] - edges[0] > MOST_CLASSES:
        raise InputError(
            f"the target {name!r} needs classes: list its values, or give a range of at most "
            f"{MOST_CLASSES:,} whole numbers"
        )
    levels = range(int(edges[0]), int(edges[-1]))
    return _level_axis(name, levels, None if other is None else int(other), missing, label)


def _check_decimals(name: str, decimals: Any) -> None:
    if decimals is None:
        return
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= 12:
        raise InputError(f"decimals of column {name!r} must be a whole number from 0 to 12")


def _edges(
    name: str, low: float, high: float, bins: int, decimals: int | None
) -> tuple[float, ...]:
    if decimals is None:
        return tuple(np.linspace(low, high, bins + 1).tolist())
    step = 10**decimals
    if max(abs(low), abs(high)) * step >= EXACT:
        raise InputError(
            f"bounds of column {name!r} are too large for {decimals} decimals to be kept "
            "exactly; give smaller bounds or fewer decimals"
        )
    # A bound such as 0.3 is slightly off in floating point; three tenths are meant.
    first, after = math.ceil(low * step - 1e-6), math.floor(high * step + 1e-6) + 1
    if first >= after:
        what = "no whole number" if decimals == 0 else f"no number of {decimals} decimals"
        raise InputError(f"{what} lies within the bounds of column {name!r}")
    bins = min(bins, after - first)
    return tuple(np.round(np.linspace(first, after, bins + 1)).tolist())


def _level_axis(name: str, values: Any, other: Any, missing: bool, label: bool) -> Axis:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"the values of column {name!r} must be a list")
    levels = tuple(values)
    if other is not None and other not in levels:
        levels = (*levels, other)
    if not levels or len(set(_texts(levels))) < len(levels) or None in levels:
        raise InputError(f"the values of column {name!r} must be listed once each, none null")
    truths = all(isinstance(v, bool) for v in levels)
    numbers = all(_is_number(v) for v in levels)
    if not (truths or (numbers and label) or all(isinstance(v, str) for v in levels)):
        raise InputError(
            f"the values of column {name!r} must be texts, in quotes; for numbers give the lowest "
            "and the highest, [low, high]"
        )
    return Axis(name, "boolean" if truths else "category", levels, other=other, missing=missing)


def _without_nan(column: pl.Series) -> pl.Series:
    return column.fill_nan(None) if column.dtype.is_float() else column


def _texts(values: Sequence[Any]) -> list[str]:
    if all(isinstance(value, str) for value in values):
        return _text_of(pl.Series(values=values, dtype=pl.String)).to_list()
    return [_text_of(pl.Series([value]))[0] for value in values]  # each of its own type


def _text_of(column: pl.Series) -> pl.Series:
    """Cells as texts that do not depend on the type of the column.

    One more row can turn a column of whole numbers into fractions or texts. If 5, 5.0 and "5", or
    true and "True", then became different values, many rows would change for one, and the
    sensitivity of the counts would be wrong.

    >>> [_text_of(pl.Series(c))[0] for c in ([5], [5.0], ["5"], ["5.0"], [True], ["True"], ["05"])]
    ['5', '5', '5', '5', 'true', 'true', '05']
    """
    if column.dtype.is_numeric():
        return _digits(column.cast(pl.Float64))
    texts = column.cast(pl.String).str.strip_chars()
    lower = texts.str.to_lowercase()
    numbers = texts.set(~texts.str.contains(_NUMBER).fill_null(False), None)
    digits = _digits(numbers.cast(pl.Float64, strict=False))
    texts = lower.zip_with(lower.is_in(["true", "false"]).fill_null(False), texts)
    return digits.zip_with(digits.is_not_null(), texts)


def _digits(numbers: pl.Series) -> pl.Series:
    numbers = numbers.fill_nan(None)
    whole = ((numbers == numbers.floor()) & (numbers.abs() < EXACT)).fill_null(False)
    return (
        numbers.cast(pl.Int64, strict=False)
        .cast(pl.String)
        .zip_with(whole, numbers.cast(pl.String))
    )


def _numbers_of(column: pl.Series) -> pl.Series:
    """Cells as numbers, null if a cell is none; true is 1 and false is 0."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64).fill_nan(None)
    texts = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    texts = texts.replace({"true": "1", "false": "0"})
    return texts.cast(pl.Float64, strict=False).fill_nan(None)


def _warn(lacking: list[str], gaps: list[str]) -> None:
    if taken := list(dict.fromkeys([*lacking, *gaps])):
        warnings.warn(
            f"NO DIFFERENTIAL PRIVACY: the bounds of {listed_as('column', taken)} were taken from "
            "the data, which reveals them exactly; give public bounds before anything is published",
            TamisWarning,
            stacklevel=4,
        )


def _observed(column: pl.Series, label: bool) -> Any:
    if column.dtype == pl.Boolean:
        return {"type": "boolean"}
    if column.dtype.is_numeric() and not label:
        low, high = column.min(), column.max()
        return [0, 0] if low is None else [low, high]
    if not column.dtype.is_numeric():
        column = column.cast(pl.String)
    return column.drop_nulls().unique().sort().to_list()


def brought(frame: pl.DataFrame, of: Sequence[Axis]) -> pl.DataFrame:
    """The frame with the columns of the axes converted as declared, and others unchanged."""
    known = {a.name: a for a in of}
    return pl.DataFrame(
        [known[s.name].brought(s) if s.name in known else s for s in frame.get_columns()]
    )


def cell_counts(frame: pl.DataFrame, of: Sequence[Axis]) -> Ints:
    """The number of rows in each cell, as an array with one dimension for each axis.

    These are true counts, which must never leave this package without noise.
    """
    shape = tuple(a.bins for a in of)
    codes = tuple(a.codes(frame.get_column(a.name)) for a in of)
    places = np.ravel_multi_index(codes, shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


def drawn_rows(
    boxes: Sequence[tuple[Ints, Ints]], of: Sequence[Axis], rng: np.random.Generator
) -> pl.DataFrame:
    """One row for each box, drawn uniformly in it, in random order.

    `boxes` has, for each axis, the first bin of each row's box and the one after its last.
    """
    frame = pl.DataFrame([axis.drawn(*box, rng) for axis, box in zip(of, boxes)])
    return frame[rng.permutation(frame.height)]
