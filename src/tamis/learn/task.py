"""A table prepared for learning: what to predict, and from what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, plural
from tamis.learn.columns import Coding, Features, frame_of, nominal_names
from tamis.table import Table, only


@dataclass(frozen=True, eq=False)
class Task:
    """The features, as a frame whose nominal columns all declare their categories, and the labels.

    The categories of text are its values in the whole table, so that the training rows of a
    fold know values that only its test rows contain.

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
        """Open a `Table` or a frame; `nominal` are features of numbers that are nominal.

        A task that is open already stays as it is.
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
        return table.frame, {}, _column(table.frame, target or table.target)
    frame, declared = frame_of(table)
    if target is None:
        raise InputError("name the column to predict with target=...")
    return frame, declared, _column(frame, target)


def _column(frame: pl.DataFrame, name: str) -> str:
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
    return tuple(_column(frame, name) for name in dict.fromkeys(features))


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
    from sklearn.utils.validation import column_or_1d

    labels = np.asarray(column_or_1d(y, warn=True))
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
    """Raise if a target is measured rather than classified."""
    if target.dtype.is_float() and (target != target.round()).any():
        raise InputError(
            f"the target {target.name!r} contains fractions, but classes are needed; cut it into "
            "classes"
        )
