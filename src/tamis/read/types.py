"""The one rule by which a column of text becomes numbers.

A column is a number if every present value is one and none is written with a leading zero or a
leading plus; anything else stays the text it is. So ZIP code 01000 stays 01000, and yes stays
yes. A schema overrides the rule; identifiers are never turned into numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from tamis.errors import InputError, TamisWarning
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
    """Text columns as numbers where the rule or the declaration says so.

    Parameters
    ----------
    frame : polars frame
        Columns that are not text are left alone.
    missing : texts
        What stands for a missing value, blanks around it ignored.
    declared : mapping of column to ``"number"`` or ``"text"``, optional
        Overrides the rule.
    untouched : column names
        Columns to leave as text, such as identifiers.
    infer : bool
        Whether the rule applies to columns that are not declared; not so where the source has
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
    """The column as numbers, or `None` where the rule leaves it text."""
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
    """Whether a text column may turn out as numbers: most of its first values are, none led by
    a zero or a plus; so too a column that has no value yet."""
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
    """The column as 64-bit integers, if every value is one."""
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() > column.null_count():
        return None
    return whole


def _finite(column: pl.Series, name: str, numbers: pl.Series) -> pl.Series:
    if count := int(numbers.is_infinite().sum()):
        raise InputError(
            f"column {name!r} holds numbers too large to be kept in {count} rows; {_or_text(name)}"
        )
    large = column.filter(numbers.abs() >= EXACT)
    large = large.filter(~large.str.contains("[eE]"))
    if large.len():
        raise InputError(
            f"column {name!r} holds numbers too long to be kept exactly in {large.len()} "
            f"rows (more than 15 digits before the point); {_or_text(name)}"
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
            f"column {name!r} is declared a number, but {bad} rows hold something else; "
            "declare it as text, or pass --missing TEXT if a text marks missing values"
        )
    return _finite(column, name, numbers)


def _refuse_infinite(name: str, strange: pl.Series) -> None:
    """Infinite values among numbers: neither numbers to learn from nor text to keep."""
    if strange.str.contains(_INFINITE).all():
        raise InputError(
            f"column {name!r} holds infinite numbers in {strange.len()} rows; replace "
            "them, or pass --missing with that text to read them as missing"
        )


def _tell_almost(column: pl.Series, name: str, strange: pl.Series) -> None:
    """Tell the user of a column that a marker of missing values has turned into text."""
    present = column.len() - column.null_count()
    if strange.len() <= 0.2 * present and strange.n_unique() <= 3:
        warnings.warn(
            f"column {name!r} is read as text: {strange.len()} of its {present} values "
            "are not numbers; if a text marks missing values, pass it with --missing",
            TamisWarning,
            stacklevel=2,
        )
