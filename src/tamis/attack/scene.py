"""The tables that attackers are tried on, and their scores.

A `Scene` has the people of a table, a release of it, and a control group of people who are not in
it. An `AttackScore` compares an attacker's success with guessing and with the control group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import RowNumbers
from tamis.coding import positions
from tamis.errors import InputError, listed
from tamis.evaluate.figure import Figure, design_effect, wilson_share
from tamis.notebook import in_short, share_words
from tamis.people import People, PeopleLike
from tamis.table import Table, bare

Cells = NDArray[np.float64]

MOST_TRIED = 1000
"""How many people each attacker is tried on, if there are as many."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A release, the people in it, and a control group.

    Parameters
    ----------
    original : Table
        The people that the release describes.
    release : Table
        The released rows, in any order.
    control : Table, optional
        People that the release does not describe, in the columns of the original.
    held_out : array of int, optional
        Instead of `control`: rows of the original whose people are in `release` but not in
        `without`.
    without : Table, optional
        A release like `release` without the held-out people.
    known : tuple of str, optional
        The columns that attackers know of a person, by default the quasi-identifiers.
    secret : str, optional
        The column to infer, by default the sensitive one.
    most : int
        The most people to try.
    random_state : int

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=100)
    >>> scene = Scene(table, table.select(["zip", "ward"]))
    >>> scene.columns, scene.known_columns, scene.secret_column
    (('patient', 'zip', 'ward', 'hiv', 'readmitted'), ('zip',), 'hiv')
    """

    original: Table
    release: Table
    control: Table | None = None
    held_out: RowNumbers | None = None
    without: Table | None = None
    known: tuple[str, ...] | None = None
    secret: str | None = None
    most: int = MOST_TRIED
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.control is not None and self.held_out is not None:
            raise InputError("give control people or rows to hold out, not both")
        if (self.held_out is None) != (self.without is None):
            raise InputError("held-out people need a release without them, and it needs them")
        if not self.columns:
            raise InputError(
                "the release shares no column with the original that can be compared; its columns "
                f"are {listed(self.release.frame.columns)}"
            )
        others = self.columns if self.control is None else self.control.frame.columns
        if lacking := [c for c in self.columns if c not in others]:
            raise InputError(
                f"the control group has no column {listed(lacking)}; give people in the columns "
                "of the original"
            )
        asked = (*(self.known or ()), *([self.secret] if self.secret is not None else []))
        if unknown := [c for c in asked if c not in self.original.frame.columns]:
            raise InputError(
                f"no column {listed(unknown)} in the original; its columns are "
                f"{listed(self.original.frame.columns, most=30)}"
            )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The released columns that can be compared with the original, in its order."""
        released = set(self.release.frame.columns)
        mine = [c for c in self.original.frame.columns if c in released]
        return tuple(c for c in mine if self._comparable(c))

    @cached_property
    def not_compared(self) -> tuple[str, ...]:
        """Released columns that the original lacks, or has as numbers where these are texts."""
        return tuple(c for c in self.release.frame.columns if c not in self.columns)

    def _comparable(self, column: str) -> bool:
        mine, theirs = self.original.kind(column), self.release.kind(column)
        return not (mine == "number" and theirs == "nominal")

    @cached_property
    def known_columns(self) -> tuple[str, ...]:
        """The released columns that attackers know."""
        wanted = self.original.quasi if self.known is None else self.known
        return tuple(c for c in self.columns if c in wanted)

    @property
    def secret_column(self) -> str | None:
        return self.secret or self.original.sensitive

    @cached_property
    def cells(self) -> ComparedCells:
        """All rows in the compared columns, on one scale."""
        tables = [self.original, self.release]
        tables += [t for t in (self.control, self.without) if t is not None]
        matrices, nominal = as_numbers([t.frame for t in tables], self.columns)
        original, release, *others = matrices
        control = others[0] if self.control is not None else None
        without = others[-1] if self.without is not None else release
        if self.held_out is not None:
            control = original[self.held_out]
        return ComparedCells(nominal, original, release, control, without)

    def trying(self, most: int) -> Scene:
        """The same scene with another number of people to try."""
        other = replace(self, most=most)
        vars(other)["cells"] = self.cells  # the cached property: cells do not depend on `most`
        return other

    @cached_property
    def tried(self) -> RowNumbers:
        """The rows of the original that attackers are tried on, of whole people, ascending."""
        return self.some(self.most)

    def some(self, most: int) -> RowNumbers:
        """The rows of at most `most` people of the original, drawn at random, ascending."""
        return _drawn(self.original.people, most, self.random_state)

    @cached_property
    def whose(self) -> People:
        """The person of each row tried."""
        return self.original.people[self.tried]

    @cached_property
    def control_tried(self) -> RowNumbers:
        """The rows of the control group that attackers are tried on."""
        if self.cells.control is None:
            return np.arange(0)
        everybody = People.of_rows(len(self.cells.control))
        return _drawn(everybody, self.most, self.random_state)

    @cached_property
    def inside(self) -> RowNumbers:
        """The rows of the original whose people are in `without`: all but those held out."""
        rows = np.arange(self.original.rows)
        return rows if self.held_out is None else np.setdiff1d(rows, self.held_out)

    @cached_property
    def control_table(self) -> Table | None:
        """The control group as a table."""
        if self.held_out is None:
            return self.control
        return replace(self.original, frame=self.original.frame[self.held_out])

    def draw(self, *purpose: int) -> np.random.Generator:
        """A generator for one purpose, which starts from the same state each time."""
        return np.random.default_rng([self.random_state, *purpose])


@dataclass(frozen=True, eq=False)
class ComparedCells:
    """Cells as numbers, rows by compared columns; see `as_numbers`."""

    nominal: NDArray[np.bool_]
    original: Cells
    release: Cells
    control: Cells | None
    without: Cells


def as_numbers(
    frames: list[pl.DataFrame], columns: tuple[str, ...]
) -> tuple[list[Cells], NDArray[np.bool_]]:
    """Cells of several frames on one scale, and a mask of the nominal columns.

    Numbers are scaled to a range of 1 over all frames, texts are numbered, and NaN is missing.

    Examples
    --------
    >>> one = pl.DataFrame({"age": [20, 60], "job": ["cook", None]})
    >>> two = pl.DataFrame({"age": [40.0], "job": ["judge"]})
    >>> cells, nominal = as_numbers([one, two], ("age", "job"))
    >>> cells[0].tolist(), cells[1].tolist(), nominal.tolist()
    ([[0.0, 0.0], [1.0, nan]], [[0.5, 1.0]], [False, True])
    """
    scaled = [_scaled([bare(frame[c]) for frame in frames]) for c in columns]
    matrices = [
        np.column_stack([parts[i] for parts, _ in scaled]).astype(np.float64)
        for i in range(len(frames))
    ]
    return matrices, np.array([nominal for _, nominal in scaled], dtype=np.bool_)


def _scaled(parts: list[pl.Series]) -> tuple[list[Cells], bool]:
    first = parts[0]
    if all(part.dtype == first.dtype and part.equals(first) for part in parts[1:]):
        # Equal parts, as of a column released with true values, are scaled once.
        cells, nominal = _on_scale(first)
        return [cells] * len(parts), nominal
    nominal = not all(part.dtype.is_numeric() for part in parts)
    cells, _ = _on_scale(
        pl.concat([part.cast(pl.String if nominal else pl.Float64) for part in parts])
    )
    ends = np.cumsum([part.len() for part in parts])[:-1]
    return list(np.split(cells, ends)), nominal


def _on_scale(whole: pl.Series) -> tuple[Cells, bool]:
    """The cells of a column as numbers, and whether the column is nominal."""
    if not whole.dtype.is_numeric():
        texts = whole.cast(pl.String)
        places = positions(texts, texts.unique().drop_nulls().sort().to_list())
        return np.where(places < 0, np.nan, places), True
    numbers = whole.cast(pl.Float64)
    low: Any = numbers.min()
    high: Any = numbers.max()
    span = (high - low) if low is not None and high > low else 1.0
    return ((numbers - (low or 0.0)) / span).fill_null(float("nan")).to_numpy(), False


def _drawn(people: People, most: int, random_state: int) -> RowNumbers:
    # The first of one permutation: a smaller number of people is always part of a larger one.
    chosen = np.random.default_rng(random_state).permutation(people.count)[:most]
    return np.flatnonzero(np.isin(people.codes, chosen))


Shares = NDArray[Any]
"""For each person tried, whether or how probably the attacker is right."""


@dataclass(frozen=True)
class AttackScore:
    """How often an attacker is right about people in a release, and about people who are not in it.

    Parameters
    ----------
    attacker : str
        Its kind and form, such as ``"linkage, exact"``.
    words : str
        What it knows and does, in a sentence.
    success : Figure
        The share of people of the table about whom it is right.
    guess : float
        The same share for someone without the release.
    people : int
        How many people it was tried on.
    control : Figure, optional
        The share of people outside the table about whom it is right, too: that is knowledge of the
        world, not of the table. `None` without a control group.
    control_people : int
    details : mapping
        Figures that only this attacker has.

    Examples
    --------
    >>> score = scored("linkage, exact", "", np.array([1.0, 0.5, 0.5, 0.0]), guess=0.25)
    >>> score.success.value, round(score.gain.value, 3), score.people
    (0.5, 0.333, 4)
    """

    attacker: str
    words: str
    success: Figure
    guess: float
    people: int
    control: Figure | None = None
    control_people: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        right = f"right about {share_words(self.success.value)} of {self.people:,} people"
        return in_short(self, self.attacker, right, f"by guessing {share_words(self.guess)}")

    @property
    def gain(self) -> Figure:
        """The gain over guessing as a share of what guessing leaves open: 1 is certainty."""
        ends = (self.success.value, self.success.low or 0.0, self.success.high or 0.0)
        value, low, high = (_beyond(end, self.guess) for end in ends)
        return Figure(value, low, high)

    @property
    def leak(self) -> Figure | None:
        """The gain over the control group, scaled in the same way: what the release gives away.

        The interval of the difference is Newcombe's, from the intervals of both shares.
        """
        if self.control is None:
            return None
        mine, theirs = self.success, self.control
        apart = mine.value - theirs.value
        low = apart - _length(mine.value - _low(mine), _high(theirs) - theirs.value)
        high = apart + _length(_high(mine) - mine.value, theirs.value - _low(theirs))
        left = 1 - theirs.value
        if left <= 0:
            return Figure(0.0, 0.0, 0.0)
        return Figure(apart / left, low / left, min(1.0, high / left))

    def to_dict(self) -> dict[str, Any]:
        return {
            "attacker": self.attacker,
            "words": self.words,
            "people": self.people,
            "success": self.success.to_dict(),
            "guess": self.guess,
            "gain": self.gain.to_dict(),
            "control_people": self.control_people,
            "control": self.control and self.control.to_dict(),
            "leak": self.leak and self.leak.to_dict(),
            "details": dict(self.details),
        }


def scored(
    attacker: str,
    words: str,
    success: Shares,
    *,
    guess: float,
    control: Shares | None = None,
    people: PeopleLike = None,
    details: Mapping[str, Any] | None = None,
) -> AttackScore:
    """The score of an attacker, from whether, or how probably, it is right about each row tried.

    `control` are the same values for people who are not in the release; `people` says whose each
    row of `success` is, by default each row's own person.
    """
    who = People.named(people, len(success))
    return AttackScore(
        attacker,
        words,
        share(success, who),
        float(guess),
        who.count,
        None if control is None or not len(control) else share(control),
        0 if control is None else len(control),
        details or {},
    )


def share(right: Shares, people: PeopleLike = None) -> Figure:
    """The mean of shares of being right, with a conservative interval.

    A probability varies less than the 0 or 1 drawn with it, so Wilson's interval covers it. Rows of
    the same person are correlated: the design effect makes the sample as small as it counts.
    """
    values = np.asarray(right, dtype=np.float64)
    if not len(values):
        return Figure(0.0, 0.0, 1.0)
    middle = float(values.mean())
    effect = design_effect(values - middle, people)
    wilson = wilson_share(middle * len(values) / effect, len(values) / effect)
    return Figure(middle, wilson.low, wilson.high)


def _beyond(value: float, guess: float) -> float:
    return (value - guess) / (1 - guess) if guess < 1 else 0.0


def _low(figure: Figure) -> float:
    return figure.value if figure.low is None else figure.low


def _high(figure: Figure) -> float:
    return figure.value if figure.high is None else figure.high


def _length(one: float, other: float) -> float:
    return sqrt(one**2 + other**2)
