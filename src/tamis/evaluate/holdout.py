"""Rows that no search may look at, and what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tamis.errors import InputError
from tamis.learn.columns import Coding
from tamis.learn.encoding import EncodedColumns, handles_nominal, ready_for_missing
from tamis.table import Table, bare

RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HoldOut:
    """The rows that a search may see, and those that judge what it found.

    Examples
    --------
    >>> split = HoldOut.drawn(["a", "b"] * 8, share=0.25)
    >>> len(split.seen), len(split.held)
    (12, 4)
    """

    seen: RowNumbers
    held: RowNumbers

    @classmethod
    def drawn(cls, y: Any, share: float = 0.25, random_state: int = 0) -> HoldOut:
        """Draw the held-out rows class by class, so that both parts have the same mix."""
        if not 0 < share < 1:
            raise InputError(f"the share of held-out rows is between 0 and 1, got {share:g}")
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        draw = np.random.default_rng(random_state)
        parts = []
        for code in range(len(labels)):
            rows = draw.permutation(np.flatnonzero(codes == code))
            parts.append(rows[: round(share * len(rows))])
        held = np.sort(np.concatenate(parts))
        seen = np.setdiff1d(np.arange(len(codes)), held)
        if len(np.unique(codes[held])) < 2 or len(np.unique(codes[seen])) < 2:
            raise InputError(
                f"{len(codes)} rows are too few to hold out a share of {share:g} of each class; "
                "two classes must be on both sides"
            )
        return cls(seen, held)

    @property
    def rows(self) -> int:
        return len(self.seen) + len(self.held)

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """A truth value a row."""
        mask = np.zeros(self.rows, dtype=bool)
        mask[self.seen] = True
        return mask


@dataclass(frozen=True, eq=False)
class Said:
    """What a model says of held-out rows.

    `classes` are the labels it knows, `surely` its probabilities, rows by classes, where it has
    any; `truth` what is the case.
    """

    classes: NDArray[Any]
    said: NDArray[Any]
    truth: NDArray[Any]
    surely: NDArray[np.float64] | None

    @property
    def right(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.said == self.truth
        return mask


def told(
    estimator: Any, features: pl.DataFrame, y: NDArray[Any], seen: RowNumbers, held: RowNumbers
) -> Said:
    """Train on the seen rows, then ask about the held-out ones.

    Without features, or with one label only, the answer is the most frequent label of the seen
    rows.
    """
    if features.width == 0 or (y[seen] == y[seen][0]).all():
        return _guess(y, seen, held)
    frame, model = _readable(estimator, features)
    asked = frame[held]
    with threadpool_limits(limits=1):  # sums then never change their order
        model.fit(frame[seen], y[seen])
        surely = model.predict_proba(asked) if hasattr(model, "predict_proba") else None
        said = model.predict(asked)
    return Said(np.asarray(model.classes_), said, y[held], surely)


def column_labels(table: Table, name: str) -> NDArray[Any]:
    """A column as texts to predict; a missing value is a value of its own."""
    return bare(table.frame[name]).cast(pl.String).fill_null("").to_numpy().astype(np.str_)


def _guess(y: NDArray[Any], seen: RowNumbers, held: RowNumbers) -> Said:
    labels, counts = np.unique(y[seen], return_counts=True)
    said = np.full(len(held), labels[np.argmax(counts)])
    shares = np.tile(counts / counts.sum(), (len(held), 1))
    return Said(labels, said, y[held], shares)


def _readable(estimator: Any, features: pl.DataFrame) -> tuple[Any, Any]:
    """What the estimator can take: the columns as they are, or nominal ones one-hot."""
    coding = Coding.of(features)
    if handles_nominal(estimator) or hasattr(estimator, "fit_coded"):
        return coding.declare(features), clone(estimator)
    columns = EncodedColumns(coding.columns(features), features.columns, "onehot")
    return columns.matrix(range(features.width)), clone(ready_for_missing(estimator))
