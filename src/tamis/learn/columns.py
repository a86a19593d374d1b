"""Frames and arrays as columns of numbers, the form that learners work on.

A `Task` is a table prepared for learning: its features and the labels to predict.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coding import as_enum, as_floats, nominal_text, positions, undated
from tamis.errors import InputError, listed, plural
from tamis.notebook import by_fields
from tamis.read import polars_frame
from tamis.table import Table, bare, kind_of, only


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one feature.

    Numbers, and dates as days since 1970, are float64 with NaN for missing, and `categories` is
    `None`. Nominal values are codes from 0 to `categories` - 1, with -1 for missing and for
    unknown values.
    """

    values: NDArray[Any]
    categories: int | None = None

    __repr__ = by_fields

    def take(self, rows: NDArray[np.intp]) -> Column:
        """The same feature on some of the rows."""
        return Column(self.values[rows], self.categories)

    def then(self, other: Column) -> Column:
        """This feature followed by the same feature of other rows, coded alike."""
        return Column(np.concatenate([self.values, other.values]), self.categories)

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """The rows sorted by value, missing numbers last, ties in table order."""
        return np.argsort(self.values, kind="stable").astype(np.int32)

    @cached_property
    def onehot(self) -> NDArray[np.float64]:
        """Numbers as they are; else a 0/1 column per category, and one for missing if any is."""
        if self.categories is None:
            return self.values[:, None]
        missing = self.values < 0
        codes = np.where(missing, self.categories, self.values)
        wide = np.zeros((len(codes), self.categories + int(missing.any())))
        wide[np.arange(len(codes)), codes] = 1.0
        return wide


@dataclass(frozen=True)
class Coding:
    """How the columns of one frame become numbers: the known categories of each nominal column.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, None], "job": ["judge", "cook"]})
    >>> coding = Coding.of(frame)
    >>> coding.known
    (None, ('cook', 'judge'))
    >>> [column.values.tolist() for column in coding.columns(frame)]
    [[31.0, nan], [1, 0]]
    """

    known: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        nominal: Collection[str] = (),
        declared: Mapping[str, Sequence[str]] | None = None,
    ) -> Coding:
        """Learn the categories: those the type declares, else the values present, sorted."""
        declared = declared or {}
        forced = {*nominal, *declared}
        return cls(tuple(_categories(s, s.name in forced, declared) for s in frame))

    def declare(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The same frame, each nominal column typed by its known categories.

        Subsets of it, such as the training rows of a fold, then agree on the categories.
        """
        return frame.with_columns(
            as_enum(series, known) for series, known in zip(frame, self.known) if known is not None
        )

    def columns(self, frame: pl.DataFrame) -> list[Column]:
        """The columns of a frame with the same features in the same order."""
        return [_column(series, known) for series, known in zip(frame, self.known)]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column of a frame; each of its forms is made on first use and kept."""

    series: pl.Series
    known: tuple[str, ...] | None
    """Its categories; `None` for a number."""

    __repr__ = by_fields

    @cached_property
    def typed(self) -> pl.Series:
        """The column with a nominal one typed by its known categories, and dates as numbers."""
        return undated(self.series) if self.known is None else as_enum(self.series, self.known)

    @cached_property
    def column(self) -> Column:
        return _column(self.typed, self.known)

    def is_same(self, series: pl.Series) -> bool:
        """Whether a column of another frame has the same type and values."""
        mine = self.series
        return mine.dtype == series.dtype and mine.equals(series)


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a frame, each coded once however many models and subsets use it.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, None], "job": ["judge", "cook"]})
    >>> features = Features.of(frame)
    >>> [column.values.tolist() for column in features.columns]
    [[31.0, nan], [1, 0]]
    >>> again = Features.of(frame.select("job"), features)
    >>> again.columns[0] is features.columns[1]
    True
    """

    each: tuple[Feature, ...]

    __repr__ = by_fields

    @classmethod
    def of(cls, frame: pl.DataFrame, *coded: Features) -> Features:
        """Wrap a frame, reusing the columns that are the same in `Features` coded before."""
        before = [{feature.series.name: feature for feature in other} for other in coded]
        return cls(tuple(_shared(series, before) for series in frame))

    @classmethod
    def declared(cls, frame: pl.DataFrame, coding: Coding) -> Features:
        """Wrap a frame whose coding is known."""
        return cls(tuple(map(Feature, frame, coding.known)))

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.each)

    def __len__(self) -> int:
        return len(self.each)

    @property
    def names(self) -> list[str]:
        return [feature.series.name for feature in self.each]

    @property
    def rows(self) -> int:
        return len(self.each[0].series) if self.each else 0

    @property
    def columns(self) -> list[Column]:
        """Plain columns of numbers."""
        return [feature.column for feature in self.each]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The features as a frame in which each nominal column declares its categories."""
        return pl.DataFrame([feature.typed for feature in self.each])

    def with_nominal(self, nominal: Sequence[int | str] | None) -> Features:
        """The same features with some columns of numbers treated as nominal."""
        names = nominal_names(self.names, nominal)
        numbers = {f.series.name for f in self.each if f.known is None} & names
        if not numbers:
            return self
        return Features(
            tuple(
                Feature(f.series, _categories(f.series, True, {}))
                if f.series.name in numbers
                else f
                for f in self.each
            )
        )


def _shared(series: pl.Series, before: Sequence[Mapping[str, Feature]]) -> Feature:
    for features in before:
        feature = features.get(series.name)
        if feature is not None and feature.is_same(series):
            return feature
    return Feature(series, _categories(series, False, {}))


def nominal_names(names: Sequence[str], nominal: Sequence[int | str] | None) -> frozenset[str]:
    """The columns that are nominal although they contain numbers, given by name or number."""
    numbered = dict(enumerate(names))
    given = () if nominal is None else nominal
    chosen = [c if isinstance(c, str) else numbered.get(c, c) for c in given]
    if unknown := [c for c in chosen if c not in names]:
        raise InputError(
            f"nominal names the column {unknown[0]!r}, which does not exist; the columns are "
            f"{listed(names, most=30)}, or by number 0 to {len(names) - 1}"
        )
    return frozenset(str(name) for name in chosen)


def frame_of(data: Any) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Convert any frame to polars, and give the categories that its types declare."""
    declared = {
        str(name): nominal_text(pl.Series("categories", list(values))).to_list()
        for name, values in _declared(data).items()
    }
    return polars_frame(data), declared


def estimator_frame(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    nominal: Sequence[int | str] | None = None,
    min_rows: int = 1,
) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """The data passed to an estimator as a frame, validated as scikit-learn does it.

    Also returns the categories that its types declare. With `reset`, as in a fit, the names and
    number of features are remembered; otherwise they must match those of the fit.
    """
    from sklearn.utils.validation import validate_data

    if nw.dependencies.is_into_dataframe(X):
        frame, declared = frame_of(X)
        validate_data(estimator, frame, reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            raise InputError(
                f"the table needs at least one row and one feature, got shape {frame.shape}"
            )
        return frame, declared
    # Texts become numbers column by column, so that an error names the column.
    texts = not hasattr(X, "tocsr") and np.asarray(X).dtype.kind in "OUS"
    array = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=None if texts else np.float64,
        ensure_all_finite="allow-nan",
        ensure_min_samples=min_rows,
    )
    return frame_of_array(array, nominal), {}


def frame_of_array(array: NDArray[Any], nominal: Sequence[int | str] | None = None) -> pl.DataFrame:
    """A two-dimensional array as a frame with the columns x0, x1, ...

    >>> frame_of_array(np.array([[1, "a"], [2, None]], dtype=object), nominal=[1]).schema
    Schema([('x0', Float64), ('x1', String)])
    """
    names = [f"x{i}" for i in range(array.shape[1])]
    text = nominal_names(names, nominal) if array.dtype.kind in "OUS" else ()
    return pl.DataFrame(
        [
            _text_series(name, column) if name in text else _number_series(name, column)
            for name, column in zip(names, array.T)
        ]
    )


def _text_series(name: str, column: NDArray[Any]) -> pl.Series:
    values = [None if v is None or v != v else str(v) for v in column.tolist()]
    return pl.Series(name, values, dtype=pl.String)


def _number_series(name: str, column: NDArray[Any]) -> pl.Series:
    try:
        return pl.Series(name, column.astype(np.float64)).fill_nan(None)
    except (TypeError, ValueError):
        # name[1:] is the column's number: such columns are named x0, x1, ...
        raise InputError(
            f"column {name[1:]} of the array contains something that is not a number; if it is "
            "nominal, name it in nominal=[...]"
        ) from None


def _declared(data: Any) -> dict[Any, Any]:
    """The categories per column that pandas and arrow declare, which conversion to polars loses."""
    if hasattr(data, "iloc"):
        dtypes = zip(data.columns, data.dtypes)
        return {n: d.categories.tolist() for n, d in dtypes if hasattr(d, "categories")}
    if hasattr(data, "column_names") and hasattr(data, "unify_dictionaries"):
        table = data.unify_dictionaries()
        chunks = {name: table.column(name).chunks for name in table.column_names}
        return {n: c[0].dictionary.to_pylist() for n, c in chunks.items() if _has_dictionary(c)}
    return {}


def _has_dictionary(chunks: Sequence[Any]) -> bool:
    return bool(chunks) and hasattr(chunks[0], "dictionary")


def _categories(
    series: pl.Series, forced: bool, declared: Mapping[str, Sequence[str]]
) -> tuple[str, ...] | None:
    if series.name in declared:
        return tuple(declared[series.name])
    if isinstance(series.dtype, pl.Enum):
        return tuple(series.dtype.categories)
    if series.dtype == pl.Boolean:
        return ("false", "true")
    if kind_of(series.dtype) != "nominal" and not forced:
        return None
    if series.dtype.is_numeric():  # sorted as numbers, so that 10 comes after 9
        present = bare(series).drop_nulls().unique().sort()
        return tuple(nominal_text(present).unique(maintain_order=True))
    return tuple(nominal_text(bare(series)).drop_nulls().unique().sort())


def _column(series: pl.Series, known: tuple[str, ...] | None) -> Column:
    if known is None:
        return Column(_finite(series))
    if series.dtype.is_numeric() and not all(map(is_number, known)):
        raise InputError(
            f"column {series.name!r} was text when the classifier was fitted and is now "
            f"{series.dtype}; give it the same type"
        )
    return Column(positions(series, known), len(known))


def _finite(series: pl.Series) -> NDArray[np.float64]:
    series = undated(series)
    if not (series.dtype.is_numeric() or series.dtype == pl.Null):
        raise InputError(
            f"column {series.name!r} was numeric when the classifier was fitted and is now "
            f"{series.dtype}; give it the same type"
        )
    points = as_floats(series)
    if np.isinf(points).any():
        raise InputError(
            f"column {series.name!r} has infinite numbers; cap them or make them missing"
        )
    return points


def is_number(text: str) -> bool:
    """Whether a text reads as a number.

    >>> is_number("-1e3"), is_number("1 000")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Task:
    """Features and labels, ready for learning.

    The categories of a text column are its values in the whole table, so that a model fitted on
    the training rows of a fold also has the categories that occur in its test rows alone.

    Examples
    --------
    >>> task = Task.of(pl.DataFrame({"job": ["cook", "judge"], "ill": [0, 1]}), "ill")
    >>> task.frame.schema, task.y.tolist()
    (Schema([('job', Enum(categories=['cook', 'judge']))]), [0, 1])
    """

    features: Features
    y: NDArray[Any]

    @property
    def frame(self) -> pl.DataFrame:
        return self.features.frame

    @classmethod
    def of(
        cls,
        table: Any,
        target: str | None = None,
        features: Sequence[str] | None = None,
        nominal: Sequence[int | str] | None = None,
    ) -> Task:
        """Make a task of a `Table` or a frame; `nominal` are numeric features that are nominal.

        A `Task` is returned with its features and labels as they are.
        """
        if isinstance(table, Task):
            return Task(table.features.with_nominal(nominal), table.y)
        frame, declared, target = _frame_and_target(table, target)
        chosen = only(frame, _features(table, frame, target, features))
        known = {name: values for name, values in declared.items() if name in chosen.columns}
        coding = Coding.of(chosen, nominal_names(chosen.columns, nominal), known)
        return cls(Features.declared(chosen, coding), _labels(frame[target]))


def _frame_and_target(
    table: Any, target: str | None
) -> tuple[pl.DataFrame, dict[str, list[str]], str]:
    if isinstance(table, Table):
        return table.frame, {}, _existing(table.frame, target or table.target)
    frame, declared = frame_of(table)
    if target is None:
        raise InputError("name the column to predict with target=...")
    return frame, declared, _existing(frame, target)


def _existing(frame: pl.DataFrame, name: str) -> str:
    if name not in frame.columns:
        raise InputError(f"no column {name!r}; the columns are {listed(frame.columns, most=30)}")
    return name


def _features(
    table: Any, frame: pl.DataFrame, target: str, features: Sequence[str] | None
) -> tuple[str, ...]:
    if features is None:
        candidates = table.features if isinstance(table, Table) else frame.columns
        features = [name for name in candidates if name != target]
    if target in features:
        raise InputError(f"column {target!r} is the target and cannot be a feature")
    if not features:
        raise InputError("there are no features besides the target")
    return tuple(_existing(frame, name) for name in dict.fromkeys(features))


def _labels(target: pl.Series) -> NDArray[Any]:
    missing = target.null_count()
    if missing:
        raise InputError(
            f"the target {target.name!r} is missing in {plural(missing, 'row')}; drop those rows "
            "or fill in the label"
        )
    refuse_fractions(target)
    if target.dtype.is_float():
        return target.cast(pl.Int64).to_numpy()
    if target.dtype.is_integer() or target.dtype == pl.Boolean:
        return target.to_numpy()
    return np.array(target.cast(pl.String).to_list(), dtype=np.str_)


def given_labels(y: Any) -> NDArray[Any]:
    """The labels passed to a fit, checked as scikit-learn does."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import assert_all_finite, column_or_1d

    labels = np.asarray(column_or_1d(y, warn=True))
    if labels.dtype.kind == "f":  # before scikit-learn casts them, which warns of infinite ones
        assert_all_finite(labels, input_name="y")
    if labels.dtype == object:
        missing = sum(v is None or (isinstance(v, float) and math.isnan(v)) for v in labels)
        if missing:
            raise InputError(
                f"the label is missing in {plural(missing, 'row')}; drop those rows or fill in "
                "the label"
            )
    check_classification_targets(labels)
    return labels


def refuse_fractions(target: pl.Series) -> None:
    """Raise if the target is a measured number rather than a class."""
    if target.dtype.is_float() and (target != target.round()).any():
        raise InputError(
            f"the target {target.name!r} contains fractions, but classes are needed; cut it into "
            "classes"
        )
