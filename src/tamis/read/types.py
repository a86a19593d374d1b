"""The one rule by which a text column becomes numbers or dates.

A column is numeric if every present value is a number and none has a leading zero or plus. It is a
date if every present value is an existing date and all are written in the same ISO form, with or
without the time of day; other forms of numbers and dates are rewritten before, see
`tamis.read.forms`. Anything else stays text: ZIP code 01000 stays 01000, and yes stays yes. A
schema overrides the rule; identifiers stay unchanged.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from tamis.errors import InputError, TamisWarning, listed, plural
from tamis.table import bare

_NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_ZERO_OR_PLUS = r"^\s*(?:[+]|-?0[0-9])"
EXACT = 2**53
"""All whole numbers up to this one are exact as floating-point numbers."""
SHORT = 5_000
"""Columns with fewer rows are typed in one thread, as starting threads would take longer."""
_SAMPLE = 1000
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATES = {
    f"^{_DAY}$": "%Y-%m-%d",
    f"^{_DAY} [0-9]{{2}}:[0-9]{{2}}$": "%Y-%m-%d %H:%M",
    f"^{_DAY}T[0-9]{{2}}:[0-9]{{2}}$": "%Y-%m-%dT%H:%M",
    rf"^{_DAY} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]{{1,6}})?$": "%Y-%m-%d %H:%M:%S%.f",
    rf"^{_DAY}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]{{1,6}})?$": "%Y-%m-%dT%H:%M:%S%.f",
}
"""The ISO forms of dates: a pattern, and the format by which it is parsed."""
MARKERS = ("?", "NA", "N/A", "NULL", "null", "-", ".", "unknown")
"""Texts that often mean a missing value."""
KINDS = ("text", "number", "date")
"""The types that a schema may declare."""


def typed(
    frame: pl.DataFrame,
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
    infer: bool = True,
) -> pl.DataFrame:
    """Turn text columns into numbers or dates, by the rule or by declaration.

    Parameters
    ----------
    frame : polars frame
        Columns that are not text are left alone.
    missing : sequence of str
        Text that means a missing value, ignoring spaces around it.
    declared : mapping of column to ``"number"``, ``"date"`` or ``"text"``, optional
        Overrides the rule.
    untouched : column names
        Columns to leave as text, such as identifiers.
    infer : bool
        Whether the rule applies to undeclared columns; pass `False` if the source has types of
        its own.

    Examples
    --------
    >>> columns = {"zip": ["01000", "75011"], "age": ["31", "?"], "on": ["2021-05-03", "?"]}
    >>> dict(typed(pl.DataFrame(columns), missing=["?"]).schema)
    {'zip': String, 'age': Int64, 'on': Date}
    """
    declared = dict(declared or {})
    texts = [c for c in frame.columns if frame.schema[c] == pl.String]
    markers = [marker.strip() for marker in missing]

    def read(name: str) -> pl.Series:
        cells = _without_markers(bare(frame.get_column(name)), markers)
        if name in untouched or declared.get(name) == "text":
            return cells.alias(name)
        values = _typed(cells, name, declared.get(name), infer)
        return (cells if values is None else values).alias(name)

    if frame.height < SHORT:
        return frame.with_columns(map(read, texts))
    with ThreadPoolExecutor() as pool:
        return frame.with_columns(pool.map(read, texts))


def _typed(column: pl.Series, name: str, declared: str | None, infer: bool) -> pl.Series | None:
    """The column as numbers or dates, or `None` if it stays text."""
    if declared == "number":
        return _declared_number(column, name)
    if declared == "date":
        return _declared_date(column, name)
    if not infer:
        return None
    number = _as_number(column, name)
    return as_dates(column, name) if number is None else number


def without_markers(frame: pl.DataFrame, missing: Collection[str]) -> pl.DataFrame:
    """Blank the text cells that mean missing, ignoring spaces around them."""
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
    # The cast accepts "inf" and "nan", so the pattern decides.
    if numbers.null_count() > column.null_count() or not numbers.is_finite().all():
        present = column.drop_nulls()
        strange = present.filter(~present.str.contains(_NUMBER))
        if strange.len():
            if strange.str.contains(_INFINITE).all():
                raise _endless(name, strange.len())
            there = column.len() - column.null_count()
            _warn_almost_numbers(name, strange.len(), set(strange.unique()), there)
            return None
    return _finite(column, name, numbers)


def looks_numeric(column: pl.Series) -> bool:
    """Whether a text column may be numeric: half its first values are numbers, none led by 0 or +.

    True also for a column without any value so far.
    """
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
    return None if whole.null_count() > column.null_count() else whole


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
    if (whole := _whole(column)) is not None:
        return whole
    numbers = column.cast(pl.Float64, strict=False).fill_nan(None)
    if bad := numbers.null_count() - column.null_count():
        raise _not_declared(name, bad)
    return _finite(column, name, numbers)


def _not_declared(name: str, bad: int) -> InputError:
    return InputError(
        f"column {name!r} is declared a number, but {plural(bad, 'row')} cannot be read as one; "
        "declare it as text, or pass --missing TEXT if some text marks missing values"
    )


class ColumnRule:
    """The rule for one text column whose cells come in batches.

    Parameters
    ----------
    name : str
        For messages.
    declared : {"number", "date", "text"}, optional
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
        self._dates = DateRule(name, declared == "date") if declared != "number" and infer else None

    def see(self, cells: pl.Series) -> None:
        """Take the next cells into account."""
        present = cells.drop_nulls()
        if self._dates is not None and present.len():
            self._dates.see(present)
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
        if (whole := _whole(present)) is not None:
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
        """The type of the column, once all cells have been seen."""
        dates = None if self._dates is None else self._dates.dtype()
        if dates is not None:
            return dates
        if self._text or self._like < 0.5 * self._sampled:
            return pl.String()
        if self._whole:
            return pl.Int64()
        if self._strange and self._declared:
            raise _not_declared(self.name, self._strange)
        if self._strange:
            if self._endless == self._strange:
                raise _endless(self.name, self._strange)
            _warn_almost_numbers(self.name, self._strange, self._kinds, self._present)
            return pl.String()
        _refuse_long(self.name, self._infinite, self._long)
        return pl.Float64()

    def read(self, cells: pl.Series, dtype: pl.DataType) -> pl.Series:
        """Convert cells to the type that was decided."""
        if dtype == pl.String:
            return cells
        if dtype.is_temporal() and self._dates is not None:
            return self._dates.read(cells)
        return cells.str.strip_chars().cast(dtype, strict=False).fill_nan(None)


class DateRule:
    """The rule for dates, for one text column whose cells come in batches."""

    def __init__(self, name: str, declared: bool) -> None:
        self.name = name
        self._declared = declared
        self._form: str | None = None
        self._began = False
        self._present = self._bad = 0

    def see(self, present: pl.Series) -> None:
        """Take the next values, at least one, into account."""
        if not self._began:
            self._began = True
            self._form = _form_of_dates(present) or (next(iter(_DATES)) if self._declared else None)
        if self._form is not None:
            self._present += present.len()
            self._bad += _parsed(present, self._form).null_count()

    def dtype(self) -> pl.DataType | None:
        """The type of the column, or `None` if it does not hold dates."""
        if self._form is None:
            return None
        if self._bad:
            if self._declared:
                raise _not_dates(self.name, self._bad)
            _warn_almost_dates(self.name, self._bad, self._present)
            return None
        return pl.Date() if _DATES[self._form] == "%Y-%m-%d" else pl.Datetime("us")

    def read(self, cells: pl.Series) -> pl.Series:
        """Convert cells to dates."""
        return _parsed(cells, self._form or next(iter(_DATES)))


def _endless(name: str, rows: int) -> InputError:
    """The error for infinite values among numbers: useless to learn from, and not text either."""
    return InputError(
        f"column {name!r} has infinite numbers in {plural(rows, 'row')}; replace "
        "them, or pass --missing with that text to read them as missing"
    )


def _warn_almost_numbers(name: str, strange: int, kinds: Collection[str], present: int) -> None:
    """Warn about a column of numbers that a few other texts, probably markers, turn into text.

    Only the usual markers for missing values are named, as they are nobody's value.
    """
    if strange <= 0.2 * present and len(kinds) <= 3:
        which = "are not numbers; if some text marks missing values, pass it with --missing"
        if known := [text for text in MARKERS if text in kinds]:
            marks = "that marks" if len(known) == 1 else "these mark"
            pass_them = " ".join(f"--missing {shlex.quote(text)}" for text in known)
            which = (
                f"are not numbers, among them {listed(known)}; if {marks} missing values, "
                f"pass {pass_them}"
            )
        warnings.warn(
            f"column {name!r} is read as text: {strange} of its {present} values {which}",
            TamisWarning,
            stacklevel=2,
        )


def as_dates(column: pl.Series, name: str) -> pl.Series | None:
    """Convert a text column to dates, with the time of day if given; `None` if it stays text."""
    form = _form_of_dates(column)
    if form is None:
        return None
    dates = _parsed(column, form)
    if bad := dates.null_count() - column.null_count():
        _warn_almost_dates(name, bad, column.len() - column.null_count())
        return None
    return dates


def _warn_almost_dates(name: str, bad: int, present: int) -> None:
    if bad <= 0.2 * present:
        warnings.warn(
            f"column {name!r} is read as text: {bad} of its values are not dates written like "
            "the others; correct them, or pass --missing TEXT if some text marks missing ones",
            TamisWarning,
            stacklevel=2,
        )


def _form_of_dates(column: pl.Series) -> str | None:
    """The ISO form in which most of the first values are written."""
    sample = column.drop_nulls().head(_SAMPLE).str.strip_chars()
    for form in _DATES if sample.len() else ():
        if sample.str.contains(form).sum() > 0.5 * sample.len():
            return form
    return None


def _parsed(column: pl.Series, form: str) -> pl.Series:
    """Parse dates of one form; null for values of another form, and for days that do not exist."""
    texts = _trimmed(column)
    # The pattern decides, since the parser alone would accept 2021-5-3.
    texts = texts.set(~texts.str.contains(form).fill_null(False), None)
    pattern = _DATES[form]
    if pattern == "%Y-%m-%d":
        return texts.str.to_date(pattern, strict=False)
    return texts.str.to_datetime(pattern, time_unit="us", strict=False)


def _declared_date(column: pl.Series, name: str) -> pl.Series:
    form = _form_of_dates(column) or next(iter(_DATES))
    dates = _parsed(column, form)
    if bad := dates.null_count() - column.null_count():
        raise _not_dates(name, bad)
    return dates


def _not_dates(name: str, bad: int) -> InputError:
    return InputError(
        f"column {name!r} is declared a date, but {plural(bad, 'row')} cannot be read as one; "
        "write all dates as 2021-05-03 or 2021-05-03 10:30:00, or all as 03.05.2021, declare the "
        "column as text, or pass --missing TEXT if some text marks missing values"
    )
