"""The one rule by which a text column becomes numbers.

A column is numeric if every present value is a number and none has a leading zero or a
leading plus; anything else stays text. So ZIP code 01000 stays 01000, and yes stays
yes. A schema overrides the rule; identifiers are never turned into numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from tamis.errors import InputError, TamisWarning, plural
from tamis.table import bare

_NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_ZERO_OR_PLUS = r"^\s*(?:[+]|-?0[0-9])"
EXACT = 2**53
_SAMPLE = 1000


def typed(
    frame: pl.DataFrame,
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
    infer: bool = True,
) -> pl.DataFrame:
    """Turn text columns into numbers where the rule or the declaration says so.

    Parameters
    ----------
    frame : polars frame
        Columns that are not text are left alone.
    missing : sequence of str
        Text that means a missing value, ignoring spaces around it.
    declared : mapping of column to ``"number"`` or ``"text"``, optional
        Overrides the rule.
    untouched : column names
        Columns to leave as text, such as identifiers.
    infer : bool
        Whether the rule applies to undeclared columns; pass `False` if the source has
        types of its own.

    Examples
    --------
    >>> frame = pl.DataFrame({"zip": ["01000", "75011"], "age": ["31", "?"]})
    >>> dict(typed(frame, missing=["?"]).schema)
    {'zip': String, 'age': Int64}
    """
    declared = dict(declared or {})
    texts = [c for c in frame.columns if frame.schema[c] == pl.String]
    markers = [marker.strip() for marker in missing]

    def read(name: str) -> pl.Series:
        cells = _without_markers(bare(frame.get_column(name)), markers)
        if name in untouched or declared.get(name) == "text":
            return cells.alias(name)
        number = _number(cells, name, declared.get(name), infer)
        return (cells if number is None else number).alias(name)

    with ThreadPoolExecutor() as pool:
        return frame.with_columns(pool.map(read, texts))


def _number(column: pl.Series, name: str, declared: str | None, infer: bool) -> pl.Series | None:
    if declared == "number":
        return _declared_number(column, name)
    return _as_number(column, name) if infer else None


def without_markers(frame: pl.DataFrame, missing: Collection[str]) -> pl.DataFrame:
    """The frame with missing cells where a text cell means missing, ignoring spaces around it."""
    if not missing:
        return frame
    markers = [marker.strip() for marker in missing]
    columns = [
        _without_markers(bare(s), markers).alias(s.name) if s.dtype == pl.String else s
        for s in frame.get_columns()
    ]
    return pl.DataFrame(columns)


def _without_markers(column: pl.Series, markers: list[str]) -> pl.Series:
    if not markers:
        return column
    return column.set(column.str.strip_chars().is_in(markers).fill_null(True), None)


def _as_number(column: pl.Series, name: str) -> pl.Series | None:
    """The column as numbers, or `None` if the rule leaves it as text."""
    if not looks_numeric(column):
        return None
    column = _trimmed(column)
    if (whole := _whole(column)) is not None:
        return whole
    numbers = column.cast(pl.Float64, strict=False)
    # "inf" and "nan" pass the cast, so the pattern decides.
    if numbers.null_count() > column.null_count() or not numbers.is_finite().all():
        present = column.drop_nulls()
        strange = present.filter(~present.str.contains(_NUMBER))
        if strange.len():
            _refuse_infinite(name, strange)
            there = column.len() - column.null_count()
            _tell_almost(name, strange.len(), strange.n_unique(), there)
            return None
    return _finite(column, name, numbers)


def looks_numeric(column: pl.Series) -> bool:
    """Whether a text column may turn out to be numeric: most of its first values are numbers, none
    with a leading zero or plus; so may a column without any value yet."""
    if column.dtype != pl.String:
        return False
    column = bare(column)
    if column.str.contains(_ZERO_OR_PLUS).any():
        return False
    sample = column.drop_nulls().head(_SAMPLE).str.strip_chars()
    return bool(sample.str.contains(_NUMBER).sum() >= 0.5 * sample.len())


def _trimmed(column: pl.Series) -> pl.Series:
    padded = column.str.starts_with(" ").any() or column.str.ends_with(" ").any()
    return column.str.strip_chars() if padded else column


def _whole(column: pl.Series) -> pl.Series | None:
    """The column as 64-bit integers, if every value fits."""
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() > column.null_count():
        return None
    return whole


def _finite(column: pl.Series, name: str, numbers: pl.Series) -> pl.Series:
    large = column.filter(numbers.abs() >= EXACT)
    large = large.filter(~large.str.contains("[eE]"))
    _refuse_long(name, int(numbers.is_infinite().sum()), large.len())
    return numbers


def _refuse_long(name: str, infinite: int, long: int) -> None:
    if infinite:
        raise InputError(
            f"column {name!r} has numbers too large to store in {plural(infinite, 'row')}; "
            f"{_or_text(name)}"
        )
    if long:
        raise InputError(
            f"column {name!r} has numbers too long to store exactly in "
            f"{plural(long, 'row')} (more than 15 digits before the point); {_or_text(name)}"
        )


def _or_text(name: str) -> str:
    return (
        f'declare it as text in a schema ([columns] {name!r} = "text"), or name it with '
        "--identifier or --drop"
    )


def _declared_number(column: pl.Series, name: str) -> pl.Series:
    column = column.str.strip_chars()
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() == column.null_count():
        return whole
    numbers = column.cast(pl.Float64, strict=False).fill_nan(None)
    if bad := numbers.null_count() - column.null_count():
        raise _not_declared(name, bad)
    return _finite(column, name, numbers)


def _not_declared(name: str, bad: int) -> InputError:
    return InputError(
        f"column {name!r} is declared a number, but {plural(bad, 'row')} contain something else; "
        "declare it as text, or pass --missing TEXT if some text marks missing values"
    )


class ColumnRule:
    """The rule for one text column whose cells are seen in parts.

    Parameters
    ----------
    name : str
        For messages.
    declared : {"number", "text"}, optional
    infer : bool
        Whether the rule applies where nothing is declared.

    Examples
    --------
    >>> rule = ColumnRule("age")
    >>> for cells in (["31", None], ["47.5"]):
    ...     rule.see(pl.Series(cells))
    >>> rule.dtype()
    Float64
    """

    def __init__(self, name: str, declared: str | None = None, infer: bool = True) -> None:
        self.name = name
        self._declared = declared == "number"
        self._text = declared == "text" or not (self._declared or infer)
        self._whole = True
        self._present = self._sampled = self._like = 0
        self._strange = self._endless = self._infinite = self._long = 0
        self._kinds: set[str] = set()

    def see(self, cells: pl.Series) -> None:
        """Take the next cells into account."""
        present = cells.drop_nulls()
        if self._text or not present.len():
            return
        if not self._declared:
            if present.str.contains(_ZERO_OR_PLUS).any():
                self._text = True
                return
            sample = present.head(_SAMPLE - self._sampled).str.strip_chars()
            self._sampled += sample.len()
            self._like += int(sample.str.contains(_NUMBER).sum())
        self._present += present.len()
        present = present.str.strip_chars() if self._declared else _trimmed(present)
        whole = _whole(present)
        if whole is not None:
            self._long += int((whole.abs() >= EXACT).sum())
            return
        self._whole = False
        self._see_fractions(present)

    def _see_fractions(self, present: pl.Series) -> None:
        numbers = present.cast(pl.Float64, strict=False)
        if self._declared:
            self._strange += numbers.fill_nan(None).null_count()
        elif numbers.null_count() or not numbers.is_finite().all():
            odd = present.filter(~present.str.contains(_NUMBER))
            self._strange += odd.len()
            self._endless += int(odd.str.contains(_INFINITE).sum())
            self._kinds |= set(odd.unique().head(4 - len(self._kinds)))
        self._infinite += int(numbers.is_infinite().sum())
        large = present.filter((numbers.abs() >= EXACT).fill_null(False))
        self._long += int((~large.str.contains("[eE]")).sum())

    def dtype(self) -> pl.DataType:
        """The type of the column, once all cells were seen."""
        if self._text or self._like < 0.5 * self._sampled:
            return pl.String()
        if self._whole:
            return pl.Int64()
        if self._strange and self._declared:
            raise _not_declared(self.name, self._strange)
        if self._strange:
            if self._endless == self._strange:
                raise _endless(self.name, self._strange)
            _tell_almost(self.name, self._strange, len(self._kinds), self._present)
            return pl.String()
        _refuse_long(self.name, self._infinite, self._long)
        return pl.Float64()

    def read(self, cells: pl.Series, dtype: pl.DataType) -> pl.Series:
        """Cells in the type that was found."""
        if dtype == pl.String:
            return cells
        return cells.str.strip_chars().cast(dtype, strict=False).fill_nan(None)


def _refuse_infinite(name: str, strange: pl.Series) -> None:
    """Refuse infinite values among numbers: neither numbers to learn from nor text to keep."""
    if strange.str.contains(_INFINITE).all():
        raise _endless(name, strange.len())


def _endless(name: str, rows: int) -> InputError:
    return InputError(
        f"column {name!r} has infinite numbers in {plural(rows, 'row')}; replace "
        "them, or pass --missing with that text to read them as missing"
    )


def _tell_almost(name: str, strange: int, kinds: int, present: int) -> None:
    """Warn about a column that a marker for missing values has turned into text."""
    if strange <= 0.2 * present and kinds <= 3:
        warnings.warn(
            f"column {name!r} is read as text: {strange} of its {present} values "
            "are not numbers; if some text marks missing values, pass it with --missing",
            TamisWarning,
            stacklevel=2,
        )
