"""Rows that no search may look at, and what a model predicts for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tamis.errors import InputError
from tamis.learn.columns import Features
from tamis.learn.cv import People
from tamis.learn.models import one_thread
from tamis.learn.readable import answers, readable
from tamis.notebook import by_fields
from tamis.table import Table, bare

RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HoldOut:
    """The rows of a table in three parts, none of which shares a person with another.

    Attributes
    ----------
    seen : array of int
        The rows that searches look at and models learn from.
    choosing : array of int
        The rows that the choice among releases is based on.
    reporting : array of int
        The rows that figures are reported from; no choice is based on them.

    Examples
    --------
    >>> split = HoldOut.drawn(["a", "b"] * 8, share=0.25)
    >>> len(split.seen), len(split.choosing), len(split.reporting)
    (8, 4, 4)
    """

    seen: RowNumbers
    choosing: RowNumbers
    reporting: RowNumbers
    total: int | None = None
    """The rows of the table, where some are in no part."""

    __repr__ = by_fields

    @classmethod
    def drawn(
        cls,
        y: Any,
        share: float = 0.25,
        random_state: int = 0,
        groups: NDArray[np.int64] | None = None,
    ) -> HoldOut:
        """Draw the parts class by class, so that all have the same mix.

        Parameters
        ----------
        y : array of labels
        share : float
            The share of rows to choose by, and again to report from; the rest is seen.
        random_state : int
        groups : array of int, optional
            The person of each row. People are then kept whole, drawn by the class most of their
            rows have, so that the class mix is as close as that allows.
        """
        if not 0 < share < 0.5:
            raise InputError(
                "the share of rows held out to choose by, and again to report, must be above 0 and "
                f"below 0.5, got {share:g}"
            )
        codes = np.unique(np.asarray(y), return_inverse=True)[1]
        draw = np.random.default_rng(random_state)
        part = (
            _of_rows(codes, share, draw)
            if groups is None
            else _of_people(codes, groups, share, draw)
        )
        seen, choosing, reporting = (np.flatnonzero(part == number) for number in range(3))
        _refuse_few(codes, groups, (seen, choosing, reporting), f"a share of {share:g}")
        return cls(seen, choosing, reporting)

    def sampled(
        self,
        most: int,
        y: Any,
        random_state: int = 0,
        groups: NDArray[np.int64] | None = None,
    ) -> HoldOut:
        """The same with about so many rows in all; the rest are in no part.

        Of more rows figures would hardly change. Rows are drawn class by class, and people whole,
        from each part in proportion.

        >>> split = HoldOut.drawn(["a", "b"] * 80, share=0.25)
        >>> few = split.sampled(40, ["a", "b"] * 80)
        >>> len(few.seen), len(few.choosing), len(few.reporting), few.rows
        (20, 10, 10, 160)
        """
        if most >= self.rows:
            return self
        labels = np.unique(np.asarray(y), return_inverse=True)[1]
        parts = []
        for number, rows in enumerate((self.seen, self.choosing, self.reporting)):
            whose = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
            kept = held_rows(labels[rows], most / self.rows, random_state + number, whose)
            parts.append(rows[kept])
        seen, choosing, reporting = parts
        _refuse_few(labels, groups, (seen, choosing, reporting), f"{most:,} rows")
        return HoldOut(seen, choosing, reporting, self.rows)

    @cached_property
    def held(self) -> RowNumbers:
        """The rows that no search sees, ascending."""
        return np.sort(np.concatenate([self.choosing, self.reporting]))

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return len(self.seen) + len(self.held) if self.total is None else self.total

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """One boolean per row."""
        mask = np.zeros(self.rows, dtype=bool)
        mask[self.seen] = True
        return mask


def _refuse_few(
    codes: RowNumbers,
    groups: NDArray[np.int64] | None,
    parts: tuple[RowNumbers, ...],
    what: str,
) -> None:
    """Refuse parts that lack a class to tell from another, or hold one person alone.

    Of one person's rows no interval can be given: nobody else's were drawn.
    """
    told = [codes] if groups is None else [codes, groups]
    if all(len(np.unique(each[part])) > 1 for part in parts for each in told):
        return
    few = "rows" if groups is None else "people"
    count = len(codes) if groups is None else len(np.unique(groups))
    raise InputError(
        f"{count} {few} are too few to hold out {what} of each class to choose by "
        f"and as many to report; at least two of the {codes.max() + 1} classes and two {few} must "
        f"be in each part. Give more {few}"
        + (", or say that every row is a person of its own" if groups is not None else "")
    )


def _of_rows(codes: RowNumbers, share: float, draw: np.random.Generator) -> RowNumbers:
    """The number of each row's part: 0 is seen, 1 chooses, 2 reports."""
    part = np.zeros(len(codes), dtype=np.intp)
    for rows in _shuffled(codes, draw):
        many = round(share * len(rows))
        part[rows[:many]] = 1
        part[rows[many : 2 * many]] = 2
    return part


def _shuffled(codes: RowNumbers, draw: np.random.Generator) -> Iterator[RowNumbers]:
    """The rows of each class in turn, in a drawn order."""
    for code in range(codes.max() + 1):
        yield draw.permutation(np.flatnonzero(codes == code))


def _of_people(
    codes: RowNumbers, groups: NDArray[np.int64], share: float, draw: np.random.Generator
) -> RowNumbers:
    """The same where people have several rows: two of the places of each block are held out."""
    people = People.of(codes, groups)
    order = people.ordered(draw.random((2, len(people))), round(1 / share))
    places = np.arange(len(people) + 1)
    held = np.flatnonzero(np.diff(np.floor(2 * share * places + draw.random())))
    part = np.zeros(len(people), dtype=np.intp)
    part[order[held[0::2]]] = 1
    part[order[held[1::2]]] = 2
    return part[people.of_row]


def held_rows(
    y: NDArray[Any], share: float, random_state: int, groups: NDArray[np.int64] | None = None
) -> RowNumbers:
    """A share of the rows of each class, drawn by seed; at least one row of a class stays.

    With `groups`, the person of each row, people are drawn by the class of most of their rows.

    >>> held_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 0).tolist()
    [2, 7]
    """
    if not 0 < share < 1:
        raise InputError(f"the share of rows kept aside is between 0 and 1, got {share!r}")
    draw = np.random.default_rng(random_state)
    if groups is not None:
        people = People.of(y, groups)
        picked = held_rows(people.label, share, random_state)
        return np.flatnonzero(np.isin(people.of_row, picked))
    held = [
        rows[: min(round(share * len(rows)), len(rows) - 1)]
        for rows in _shuffled(np.unique(y, return_inverse=True)[1], draw)
    ]
    found: RowNumbers = np.sort(np.concatenate(held))
    if not len(found):
        raise InputError("the table is too small to keep rows aside; use a larger share, or none")
    return found


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's predictions for held-out rows.

    `classes` are the labels it knows, `probabilities` its probabilities, rows by classes, if it has
    any; `truth` is the true labels.
    """

    classes: NDArray[Any]
    predicted: NDArray[Any]
    truth: NDArray[Any]
    probabilities: NDArray[np.float64] | None

    __repr__ = by_fields

    @property
    def right(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.predicted == self.truth
        return mask

    def of(self, places: RowNumbers) -> Predictions:
        """The predictions for some of these rows."""
        probabilities = None if self.probabilities is None else self.probabilities[places]
        return Predictions(self.classes, self.predicted[places], self.truth[places], probabilities)


def fit_predict(
    estimator: Any,
    features: Features | pl.DataFrame,
    y: NDArray[Any],
    seen: RowNumbers,
    held: RowNumbers,
) -> Predictions:
    """Train on the seen rows, then ask once about the held-out ones.

    Who asks several estimators about the same columns gives `Features`, which are coded once.

    Without features, or with only one label, it predicts the most frequent label of the seen
    rows.
    """
    if isinstance(features, pl.DataFrame):
        features = Features.of(features)
    if len(features) == 0 or (y[seen] == y[seen][0]).all():
        return _guess(y, seen, held)
    source, ready = readable(estimator, features, ask="predict_with_proba_coded")
    data, model = source.matrix(range(len(features))), clone(ready)
    with one_thread():  # sums then never change their order
        model.fit(data[seen], y[seen])
        predicted, probabilities = answers(model, data[held])
    return Predictions(np.asarray(model.classes_), predicted, y[held], probabilities)


def column_labels(table: Table, name: str) -> NDArray[Any]:
    """A column as text to predict; a missing value is a value of its own."""
    return bare(table.frame[name]).cast(pl.String).fill_null("").to_numpy().astype(np.str_)


def label_codes(table: Table, name: str) -> NDArray[np.int64]:
    """The same texts as numbers from 0, in their order: far quicker to compare.

    >>> label_codes(Table(pl.DataFrame({"ill": ["yes", None, "no"]})), "ill").tolist()
    [2, 0, 1]
    """
    texts = bare(table.frame[name]).cast(pl.String).fill_null("")
    coded = texts.cast(pl.Enum(texts.unique().sort()))
    return coded.to_physical().cast(pl.Int64).to_numpy()


def _guess(y: NDArray[Any], seen: RowNumbers, held: RowNumbers) -> Predictions:
    labels, counts = np.unique(y[seen], return_counts=True)
    predicted = np.full(len(held), labels[np.argmax(counts)])
    shares = np.tile(counts / counts.sum(), (len(held), 1))
    return Predictions(labels, predicted, y[held], shares)
