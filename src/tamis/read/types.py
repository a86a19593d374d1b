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
            _tell_almost(column, name, strange)
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
    if count := int(numbers.is_infinite().sum()):
        raise InputError(
            f"column {name!r} has numbers too large to store in {plural(count, 'row')}; "
            f"{_or_text(name)}"
        )
    large = column.filter(numbers.abs() >= EXACT)
    large = large.filter(~large.str.contains("[eE]"))
    if large.len():
        raise InputError(
            f"column {name!r} has numbers too long to store exactly in "
            f"{plural(large.len(), 'row')} (more than 15 digits before the point); {_or_text(name)}"
        )
    return numbers


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
        raise InputError(
            f"column {name!r} is declared a number, but {plural(bad, 'row')} contain something "
            "else; "
            "declare it as text, or pass --missing TEXT if some text marks missing values"
        )
    return _finite(column, name, numbers)


def _refuse_infinite(name: str, strange: pl.Series) -> None:
    """Refuse infinite values among numbers: neither numbers to learn from nor text to keep."""
    if strange.str.contains(_INFINITE).all():
        raise InputError(
            f"column {name!r} has infinite numbers in {plural(strange.len(), 'row')}; replace "
            "them, or pass --missing with that text to read them as missing"
        )


def _tell_almost(column: pl.Series, name: str, strange: pl.Series) -> None:
    """Warn about a column that a marker for missing values has turned into text."""
    present = column.len() - column.null_count()
    if strange.len() <= 0.2 * present and strange.n_unique() <= 3:
        warnings.warn(
            f"column {name!r} is read as text: {strange.len()} of its {present} values "
            "are not numbers; if some text marks missing values, pass it with --missing",
            TamisWarning,
            stacklevel=2,
        )
