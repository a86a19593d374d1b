"""Singling out: conditions on columns that exactly one person of the original meets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.attack.scene import AttackScore, Cells, Scene, scored

Mask = NDArray[np.bool_]

WIDEST = 4
"""The most columns in a condition on several."""
TRIES = 5
"""Conditions on several columns that are drawn for each one wanted, as many single out nobody."""


How = Literal["equal", "at least", "at most"]
WAYS: tuple[How, ...] = ("equal", "at least", "at most")


class Condition(NamedTuple):
    """A predicate on one column; NaN stands for a missing value."""

    column: int
    how: How
    value: float

    def met(self, cells: Cells) -> Mask:
        """Mask of the rows that meet the condition."""
        column = cells[:, self.column]
        if self.how == "equal":
            return np.isnan(column) if np.isnan(self.value) else column == self.value
        return column >= self.value if self.how == "at least" else column <= self.value


Conditions = tuple[Condition, ...]


def meeting(conditions: Conditions, cells: Cells) -> int:
    """How many rows meet all the conditions.

    >>> cells = np.array([[0.1, 1.0], [0.5, 1.0], [0.9, 2.0]])
    >>> meeting((Condition(0, "at least", 0.5), Condition(1, "equal", 1.0)), cells)
    1
    """
    met = np.ones(len(cells), np.bool_)
    for condition in conditions:
        met &= condition.met(cells)
    return int(met.sum())


FORMS = {
    "one column": ("names a value that only one person has", 1),
    "several columns": (f"combines values of up to {WIDEST} columns that only one has", WIDEST),
}


def singling_out(scene: Scene, forms: Iterable[str] = tuple(FORMS)) -> list[AttackScore]:
    """Attackers who look for conditions, on one or several columns, that one released row meets.

    They succeed where exactly one person of the original meets them, too. Where a release gives no
    such condition they guess one, like an attacker without a release.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.table import Table
    >>> table = Table(pl.DataFrame({"age": range(50), "sex": ["f", "m"] * 25}))
    >>> [round(each.gain.value, 2) for each in singling_out(Scene(table, table))]
    [1.0, 1.0]
    """
    described = [(form, *FORMS[form]) for form in forms]
    several = len(scene.columns) > 1
    return [_singled(scene, *form) for form in described if form[2] == 1 or several]


def _singled(scene: Scene, form: str, words: str, widest: int) -> AttackScore:
    cells, nominal = scene.cells, scene.cells.nominal
    blind = _guessed(cells.release, nominal, widest, scene.draw(3, widest), scene.most)
    ours = _found(scene, cells.release, widest) or blind
    guess = float(np.mean(_alone(blind, cells.original)))
    control = None
    if cells.control is not None:
        control = _alone(_found(scene, cells.without, widest) or blind, cells.control)
    return scored(
        f"singling out, {form}",
        words,
        _alone(ours, cells.original),
        guess=guess,
        control=control,
        details={"conditions": len(set(ours))},
    )


def _alone(attempts: Iterable[Conditions], cells: Cells) -> Mask:
    """For each attempt, whether exactly one row meets its conditions."""
    return np.array([meeting(conditions, cells) == 1 for conditions in attempts], dtype=np.bool_)


def _found(scene: Scene, release: Cells, widest: int) -> list[Conditions]:
    """At most `scene.most` conditions that exactly one released row meets."""
    nominal, draw = scene.cells.nominal, scene.draw(4, widest)
    if widest > 1:
        return _on_several(release, nominal, widest, draw, scene.most)
    singling = list(_on_one(release, nominal))
    return [singling[i] for i in draw.permutation(len(singling))[: scene.most]]


def _on_one(release: Cells, nominal: Mask) -> Iterator[Conditions]:
    """Values that only one row has, and thresholds that only the smallest or largest one meets."""
    for column in range(release.shape[1]):
        values, counts = np.unique(release[:, column], return_counts=True)
        for value in values[counts == 1]:
            yield (Condition(column, "equal", float(value)),)
        present = values[~np.isnan(values)]  # `numpy.unique` has sorted them
        if not nominal[column] and len(present):
            ends = (
                Condition(column, "at most", float(present[0])),
                Condition(column, "at least", float(present[-1])),
            )
            for condition in ends:
                if meeting((condition,), release) == 1:
                    yield (condition,)


def _on_several(
    release: Cells, nominal: Mask, widest: int, draw: np.random.Generator, most: int
) -> list[Conditions]:
    """Conditions drawn from random rows and columns, those kept that exactly one row meets."""
    middle = np.zeros(release.shape[1])
    numbers = np.flatnonzero(~nominal & ~np.isnan(release).all(axis=0))
    middle[numbers] = np.nanmedian(release[:, numbers], axis=0)
    singling: dict[Conditions, None] = {}  # a set in the order of the draws
    for _ in range(TRIES * most):
        row = release[draw.integers(len(release))]
        conditions = tuple(
            Condition(int(c), _side(row[c], middle[c], bool(nominal[c])), float(row[c]))
            for c in _columns(release.shape[1], widest, draw)
        )
        if meeting(conditions, release) == 1:
            singling[conditions] = None
        if len(singling) == most:
            break
    return list(singling)


def _side(value: float, middle: float, nominal: bool) -> How:
    """Away from the median, where fewer people are; equality where there is no order."""
    if nominal or np.isnan(value):
        return "equal"
    return "at least" if value >= middle else "at most"


def _columns(width: int, widest: int, draw: np.random.Generator) -> NDArray[np.intp]:
    many = 1 if widest == 1 else int(draw.integers(2, min(widest, width) + 1))
    return np.sort(draw.permutation(width)[:many])


def _guessed(
    release: Cells, nominal: Mask, widest: int, draw: np.random.Generator, most: int
) -> list[Conditions]:
    """Conditions of someone who knows the columns and their values, but no row."""
    values = [np.unique(release[:, c]) for c in range(release.shape[1])]

    def condition(column: int) -> Condition:
        value = float(draw.choice(values[column]))
        plain = nominal[column] or np.isnan(value)
        return Condition(column, "equal" if plain else WAYS[draw.integers(len(WAYS))], value)

    drawn = (_columns(len(values), widest, draw) for _ in range(most))
    return [tuple(condition(int(c)) for c in columns) for columns in drawn]
