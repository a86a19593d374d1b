"""Rows that no search may look at, and what a model predicts for them."""

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
    """The rows of the table, where some are in no part."""
    people: People | None = None
    """The person of each row of the table, numbered by what they have; `None` if not drawn so."""

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
        """Draw the parts of a labelled table from what its rows hold, wherever they are.

        Each part lists its rows in the order of `rows_by_content`, and so do all that draw from
        it: the same table in another order has the same parts and the same figures. Otherwise
        somebody who guesses the order of the original could confirm the guess by the figures.

        Parameters
        ----------
        table : Table
        share, random_state
            As for `drawn`.
        most : int, optional
            About how many rows the parts have in all; `None`: those of the table.
        k : int
            What fewer people have hardly matters, see `rows_by_content`.
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
        """The same of labelled 0/1 records, each of another person."""
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

    def people_of(self, table: Table) -> People:
        """The person of each row of the table that was parted, numbered by content if drawn so."""
        return table.people if self.people is None else self.people

    @cached_property
    def held(self) -> RowNumbers:
        """The rows that no search sees, ascending."""
        return np.sort(np.concatenate([self.choosing, self.reporting]))

    @property
    def arranged(self) -> RowNumbers:
        """All rows, those of the parts in their order, for what draws by the place of a row."""
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

    Rows are sorted by what attackers may know and the target, and those that are then alike by
    the other features; never by an identifier: a figure that is published says nothing of it. A
    value that fewer than k people have decides only among rows that are alike in all others, and
    so do the sensitive value and the weight: they move no figure about the target, and without
    them the place of rows in the original would decide. Columns are taken in the order of what
    they hold, so that neither their names nor their order play a part.

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
    """The columns that are measured without being features: the sensitive one and the weight."""
    taken = {*table.features, table.target}
    ties = (table.roles.sensitive, table.roles.weight)
    return [c for c in ties if c is not None and c not in taken]


def _common(column: pl.Series, people: People, k: int) -> pl.Series:
    """The column without the values of fewer than k people."""
    cells = one_form(bare(column).to_frame("cell"), texts=True)
    having = pl.len() if people.each_row else pl.col("whose").n_unique()
    kept = cells.with_columns(whose=pl.Series(people.codes)).select(
        pl.when(having.over("cell") >= k).then(pl.col("cell"))
    )
    return kept.to_series()


def _digest(column: pl.Series) -> bytes:
    """A digest of the values of a column and how often each occurs."""
    counts = bare(column).value_counts(name="rows").sort(pl.nth(0))
    parts = (s.cast(pl.String).fill_null("") for s in counts.get_columns())
    return hashlib.sha256("\0".join("\0".join(part) for part in parts).encode()).digest()


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
    people = LabelledPeople.of(codes, groups)
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
        people = LabelledPeople.of(y, groups)
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
    from sklearn.base import clone

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
    return positions(texts, texts.unique().sort().to_list())


def _guess(y: NDArray[Any], seen: RowNumbers, held: RowNumbers) -> Predictions:
    labels, counts = np.unique(y[seen], return_counts=True)
    predicted = np.full(len(held), labels[np.argmax(counts)])
    shares = np.tile(counts / counts.sum(), (len(held), 1))
    return Predictions(labels, predicted, y[held], shares)
