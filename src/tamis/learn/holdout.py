"""The hold-out, rows that no search may look at, and the predictions of models for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import RowNumbers
from tamis.binary.records import BinaryTable
from tamis.coding import positions
from tamis.errors import InputError
from tamis.learn.columns import Features
from tamis.learn.cv import LabelledPeople
from tamis.learn.models import answers, one_thread, readable
from tamis.notebook import by_fields
from tamis.people import People
from tamis.table import (
    Table,
    bare,
    content_order,
    frame_of_columns,
    number_people,
    one_form,
)


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
    """The number of rows of the table, if some of them are in no part."""
    people: People | None = None
    """The person of each row, numbered by content; `None` if parts were not drawn by content."""

    __repr__ = by_fields

    @classmethod
    def of_table(
        cls,
        table: Table,
        share: float = 0.25,
        most: int | None = None,
        random_state: int = 0,
        k: int = 1,
    ) -> HoldOut:
        """Draw the parts of a labelled table by content, independently of the order of its rows.

        Each part lists its rows in the order of `rows_by_content`, so the same table in another
        order gives the same parts and the same figures. Otherwise an attacker could confirm a
        guess at the original order of the rows by the published figures.

        Parameters
        ----------
        table : Table
        share, random_state
            As for `drawn`.
        most : int, optional
            About how many rows to use in all; `None`: all of the table.
        k : int
            Values of fewer people than this only break ties, see `rows_by_content`.
        """
        order, people = rows_by_content(table, k)
        labels = label_codes(table, table.target)
        return cls._in_order(order, labels, share, most, random_state, people)

    @classmethod
    def of_records(
        cls,
        records: BinaryTable,
        share: float = 0.25,
        most: int | None = None,
        random_state: int = 0,
    ) -> HoldOut:
        """Draw the parts of labelled 0/1 records, each of which is a person of its own."""
        labels, matrix = np.asarray(records.labels), records.matrix.sorted_indices()
        ones = np.split(matrix.indices, matrix.indptr[1:-1])
        keys = [(label, row.tobytes()) for label, row in zip(labels.tolist(), ones)]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
        return cls._in_order(order, labels, share, most, random_state, People.of_rows(len(order)))

    @classmethod
    def _in_order(
        cls,
        order: RowNumbers,
        y: NDArray[Any],
        share: float,
        most: int | None,
        random_state: int,
        people: People,
    ) -> HoldOut:
        labels, whose = y[order], people[order].groups
        split = cls.drawn(labels, share, random_state, whose)
        if most is not None:
            split = split.sampled(most, labels, random_state, whose)
        seen, choosing, reporting = (
            order[rows] for rows in (split.seen, split.choosing, split.reporting)
        )
        return cls(seen, choosing, reporting, split.total, people)

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
        """A subsample of about `most` rows in all; the other rows are in no part.

        Each part is sampled in proportion, class by class, and with all rows of a person. It is
        for large tables, whose figures more rows would hardly change.

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

    def people_of(self, table: Table) -> People:
        """The person of each row of the table, numbered by content if the parts were drawn so."""
        return table.people if self.people is None else self.people

    @cached_property
    def held(self) -> RowNumbers:
        """The rows that no search sees, ascending."""
        return np.sort(np.concatenate([self.choosing, self.reporting]))

    @property
    def arranged(self) -> RowNumbers:
        """All rows, the parts first and in their order, for draws that go by a row's position."""
        parts = np.concatenate([self.seen, self.choosing, self.reporting])
        return np.concatenate([parts, np.setdiff1d(np.arange(self.rows), parts)])

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


def rows_by_content(table: Table, k: int = 1) -> tuple[RowNumbers, People]:
    """The rows in the order that hold-outs are drawn from, and their people, numbered by content.

    Rows are sorted by the quasi-identifiers and the target, then by the other features, and never
    by an identifier, so that no published figure depends on one. Ties are broken by the values of
    fewer than k people, then by the sensitive value and the weight: these hardly influence the
    figures about the target, and without them the original order of the rows would decide. Columns
    are sorted by a digest of their content, so that neither their names nor their order matter.

    >>> rows = pl.DataFrame({"a": [2, 1, 2], "ill": ["no", "yes", "no"]})
    >>> rows_by_content(Table(rows).with_roles(target="ill"))[0].tolist()
    [1, 0, 2]
    """
    common = {c: _common(table.frame.get_column(c), table.people, k) for c in table.features}
    features = sorted(table.features, key=lambda name: (_digest(common[name]), name))
    known = set(table.quasi)
    first, last = ([c for c in features if (c in known) == side] for side in (True, False))
    target = table.frame.get_column(table.target)
    cells = [*(common[c] for c in first), target, *(common[c] for c in last)]
    cells += [table.frame.get_column(c) for c in (*first, *last, *_ties(table))]
    rows = frame_of_columns([c.alias(str(i)) for i, c in enumerate(cells)], table.rows)
    people = number_people(rows, table.people)
    return content_order(rows, people.codes), people


def _ties(table: Table) -> list[str]:
    """The columns that break the last ties, if they are no features: sensitive value and weight."""
    taken = {*table.features, table.target}
    ties = (table.roles.sensitive, table.roles.weight)
    return [c for c in ties if c is not None and c not in taken]


def _common(column: pl.Series, people: People, k: int) -> pl.Series:
    """The column with the values of fewer than k people made missing."""
    cells = one_form(bare(column).to_frame("cell"), texts=True)
    having = pl.len() if people.each_row else pl.col("whose").n_unique()
    common = cells.with_columns(whose=pl.Series(people.codes)).select(
        pl.when(having.over("cell") >= k).then(pl.col("cell"))
    )
    return common.to_series()


def _digest(column: pl.Series) -> bytes:
    """A digest of a column's value counts, independent of its name and the order of its rows."""
    counts = bare(column).value_counts(name="rows").sort(pl.nth(0))
    parts = (s.cast(pl.String).fill_null("") for s in counts.get_columns())
    return hashlib.sha256("\0".join("\0".join(part) for part in parts).encode()).digest()


def _refuse_few(
    codes: RowNumbers,
    groups: NDArray[np.int64] | None,
    parts: tuple[RowNumbers, ...],
    what: str,
) -> None:
    """Raise if a part has a single class, or the rows of a single person.

    A confidence interval needs at least two people: one person's rows are a sample of one.
    """
    needed = [codes] if groups is None else [codes, groups]
    if all(len(np.unique(values[part])) > 1 for part in parts for values in needed):
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
    """The part of each row: 0 is seen, 1 chooses, 2 reports."""
    part = np.zeros(len(codes), dtype=np.intp)
    for rows in _shuffled(codes, draw):
        size = round(share * len(rows))
        part[rows[:size]] = 1
        part[rows[size : 2 * size]] = 2
    return part


def _shuffled(codes: RowNumbers, draw: np.random.Generator) -> Iterator[RowNumbers]:
    """The rows of each class in turn, shuffled."""
    for code in range(codes.max() + 1):
        yield draw.permutation(np.flatnonzero(codes == code))


def _of_people(
    codes: RowNumbers, groups: NDArray[np.int64], share: float, draw: np.random.Generator
) -> RowNumbers:
    """Like `_of_rows`, with all rows of a person in one part.

    People are sorted by class and size, and held out by systematic sampling, alternately for
    choosing and for reporting.
    """
    people = LabelledPeople.of(codes, groups)
    order = people.ordered(draw.random((2, len(people))), round(1 / share))
    places = np.arange(len(people) + 1)
    # Steps of 2 * share from a random start: a person is drawn where the sum passes a whole number.
    held = np.flatnonzero(np.diff(np.floor(2 * share * places + draw.random())))
    part = np.zeros(len(people), dtype=np.intp)
    part[order[held[0::2]]] = 1
    part[order[held[1::2]]] = 2
    return part[people.of_row]


def held_rows(
    y: NDArray[Any], share: float, random_state: int, groups: NDArray[np.int64] | None = None
) -> RowNumbers:
    """A random share of the rows of each class, sorted; at least one row of a class is left out.

    With `groups`, the person of each row, whole people are drawn, by their most frequent class.

    >>> held_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 0).tolist()
    [2, 7]
    """
    if not 0 < share < 1:
        raise InputError(f"the share of rows kept aside is between 0 and 1, got {share!r}")
    draw = np.random.default_rng(random_state)
    if groups is not None:
        people = LabelledPeople.of(y, groups)
        picked = held_rows(people.label, share, random_state)
        return np.flatnonzero(np.isin(people.of_row, picked))
    held = [
        rows[: min(round(share * len(rows)), len(rows) - 1)]
        for rows in _shuffled(np.unique(y, return_inverse=True)[1], draw)
    ]
    drawn: RowNumbers = np.sort(np.concatenate(held))
    if not len(drawn):
        raise InputError("the table is too small to keep rows aside; use a larger share, or none")
    return drawn


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's predictions for held-out rows.

    `classes` are the labels the model knows, `probabilities` are rows by classes (`None` if it
    gives none), `truth` are the true labels.
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
        """The predictions of some of these rows, by position."""
        probabilities = None if self.probabilities is None else self.probabilities[places]
        return Predictions(self.classes, self.predicted[places], self.truth[places], probabilities)


def fit_predict(
    estimator: Any,
    features: Features | pl.DataFrame,
    y: NDArray[Any],
    seen: RowNumbers,
    held: RowNumbers,
) -> Predictions:
    """Train on the seen rows and predict the held-out ones.

    To try several estimators on the same columns pass `Features`, which are coded once.

    Without features, or with only one label, it predicts the most frequent label of the seen
    rows.
    """
    from sklearn.base import clone

    if isinstance(features, pl.DataFrame):
        features = Features.of(features)
    if len(features) == 0 or (y[seen] == y[seen][0]).all():
        return _guess(y, seen, held)
    source, ready = readable(estimator, features, ask="predict_with_proba_coded")
    data, model = source.matrix(range(len(features))), clone(ready)
    with one_thread():  # so that sums are always added in the same order
        model.fit(data[seen], y[seen])
        predicted, probabilities = answers(model, data[held])
    return Predictions(np.asarray(model.classes_), predicted, y[held], probabilities)


def column_labels(table: Table, name: str) -> NDArray[Any]:
    """A column as text to predict; a missing value is a value of its own."""
    return bare(table.frame[name]).cast(pl.String).fill_null("").to_numpy().astype(np.str_)


def label_codes(table: Table, name: str) -> NDArray[np.int64]:
    """The texts of `column_labels` as sorted codes from 0, which are far quicker to compare.

    >>> label_codes(Table(pl.DataFrame({"ill": ["yes", None, "no"]})), "ill").tolist()
    [2, 0, 1]
    """
    texts = bare(table.frame[name]).cast(pl.String).fill_null("")
    return positions(texts, texts.unique().sort().to_list())


def _guess(y: NDArray[Any], seen: RowNumbers, held: RowNumbers) -> Predictions:
    labels, counts = np.unique(y[seen], return_counts=True)
    predicted = np.full(len(held), labels[np.argmax(counts)])
    shares = np.tile(counts / counts.sum(), (len(held), 1))
    return Predictions(labels, predicted, y[held], shares)
