"""Linkage: which released row is this person's?

The attacker picks one of the released rows nearest to what it knows. A release does not say whose a
row is, so a row counts as a person's if it is among the nearest to them in all released columns,
and if nobody in the table is nearer to it; people at the same distance share it. For a release of
true values this is exact: a person among c alike is found with probability 1/c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Integers, RowNumbers
from tamis.attack.kernels import NearestRows, pairs
from tamis.attack.scene import AttackScore, Cells, Scene, scored
from tamis.binary.matrix import Binary, sparse_columns, sparse_rows
from tamis.coding import Coded, dense, joined
from tamis.learn.coded_table import rows_alike
from tamis.people import People

Mask = NDArray[np.bool_]

BLOCK = 64
"""How many people are compared with all rows at once."""
ERRORS = (0.1, 0.3)
"""The shares of what is known that are missing, or wrong."""


@dataclass(frozen=True, eq=False)
class Side:
    """People to look for, the rows of a release, and the true rows of everybody in it.

    `mine` is how many rows equal to this one the person has in the table; 0 for a person who is not
    in it.
    """

    people: Cells
    mine: NDArray[np.int64]
    rows: Cells
    members: Cells
    nominal: Mask

    @cached_property
    def distinct(self) -> tuple[Cells, NDArray[np.int64]]:
        """The distinct rows of the release, and how often each occurs.

        `rows_alike` may leave equal rows apart where most rows are distinct; their shares then add
        up to the same probability.
        """
        return _distinct(self.rows)

    @cached_property
    def _members(self) -> tuple[Cells, NDArray[np.int64]]:
        return _distinct(self.members)

    @cached_property
    def _near(self) -> NearestRows:
        return NearestRows(self.distinct[0], self.nominal)

    @cached_property
    def _near_members(self) -> NearestRows:
        return NearestRows(self._members[0], self.nominal)

    def nearest(self, asked: Cells, known: Mask) -> tuple[Mask, NDArray[np.float64]]:
        """Mask of the distinct rows nearest to each person, and their distance."""
        nearest: tuple[Mask, NDArray[np.float64]] = self._near.to(asked, known)
        return nearest

    def found(self, asked: Cells, known: Mask) -> NDArray[np.float64]:
        """For each person, the probability that a nearest row, picked at random, is theirs."""
        chances = [
            self._found(slice(first, first + BLOCK), asked, known)
            for first in range(0, len(asked), BLOCK)
        ]
        return np.concatenate(chances) if chances else np.zeros(0)

    def _found(self, part: slice, asked: Cells, known: Mask) -> NDArray[np.float64]:
        everything = np.ones_like(known[part])
        theirs, far = self.nearest(self.people[part], everything)
        exact = asked is self.people and known[part].all()  # the same question: asked once
        picked = theirs if exact else self.nearest(asked[part], known[part])[0]
        weight = self.distinct[1]
        person, row = pairs(picked & theirs)
        chance = weight[row] * self._owned(row, far[person], self.mine[part][person])
        sums = np.bincount(person, weights=chance, minlength=len(picked))
        return np.asarray(sums / _weighed(picked, weight))

    def _owned(
        self, row: RowNumbers, far: NDArray[np.float64], mine: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Probability that a row belongs to the target person.

        `far` is the person's distance to the row, `mine` how many of the rows at that distance are
        theirs. Someone outside the table competes with those in it as one more row.
        """
        least, total = self._owners(np.unique(row))
        at = np.searchsorted(np.unique(row), row)
        outside = mine == 0
        alike = np.maximum(mine, 1) / (total[at] + outside)
        return np.where(far == least[at], alike, np.where(outside & (far < least[at]), 1.0, 0.0))

    def _owners(self, rows: RowNumbers) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Distance of the table's nearest true rows to each released row, and their number."""
        weight = self._members[1]
        asked, known = self.distinct[0][rows], np.ones((len(rows), len(self.nominal)), np.bool_)
        least, total = np.empty(len(rows)), np.empty(len(rows), np.int64)
        for first in range(0, len(rows), BLOCK):
            part = slice(first, first + BLOCK)
            hits, least[part] = self._near_members.to(asked[part], known[part])
            total[part] = _weighed(hits, weight)
        return least, total


def sides(scene: Scene) -> list[Side]:
    """The people of the table and the release; the control group and a release without it."""
    cells = scene.cells
    tried = cells.original[scene.tried]
    mine = _alike(cells.original, scene.original.people)[scene.tried]
    both = [Side(tried, mine, cells.release, cells.original, cells.nominal)]
    if cells.control is not None:
        people = cells.control[scene.control_tried]
        outside = np.zeros(len(people), np.int64)
        members = cells.original[scene.inside]
        both.append(Side(people, outside, cells.without, members, cells.nominal))
    return both


def linkage(scene: Scene, errors: Sequence[float] = ERRORS) -> list[AttackScore]:
    """Attackers who know the quasi-identifiers exactly, with gaps, or with errors.

    `errors` are the probabilities that a known value is missing, or that it is another person's.

    >>> from tamis.datasets import patients
    >>> table = patients(rows=200)
    >>> found = linkage(Scene(table, table, known=("zip", "birth_year", "sex", "job")))
    >>> found[0].attacker, found[0].success.value > 0.9, found[0].guess
    ('linkage, exact', True, 0.005)
    """
    names = scene.known_columns
    columns = np.array([c in names for c in scene.columns])
    both = sides(scene)
    ways = [("exact", 0.0), *((how, share) for share in errors for how in ("missing", "wrong"))]
    return [_linked(scene, both, columns, how, share) for how, share in ways]


WAYS = {
    "exact": "every known value",
    "missing": "known values, some missing",
    "wrong": "known values, some wrong",
}


def _linked(scene: Scene, both: list[Side], columns: Mask, how: str, share: float) -> AttackScore:
    chances = [side.found(*_asked(scene, side, columns, how, share)) for side in both]
    names = "known columns" if len(scene.known_columns) > 6 else ", ".join(scene.known_columns)
    rate = f" {share:.0%}" if share else ""
    return scored(
        f"linkage, {how}{rate}",
        f"finds a person's row by {WAYS[how]} ({names or 'nothing released is known'})",
        chances[0],
        guess=1 / scene.release.rows,
        control=chances[1] if len(chances) > 1 else None,
        people=scene.whose,
        details={"known": list(scene.known_columns), "share": share},
    )


def _asked(scene: Scene, side: Side, columns: Mask, how: str, share: float) -> tuple[Cells, Mask]:
    """The cells that the attacker holds of each person, and a mask of the known ones."""
    draw = scene.draw(1, round(1000 * share))
    known = np.tile(columns, (len(side.people), 1))
    hit = draw.random(known.shape) < share  # by the share: the same cells are missing or wrong
    if how == "missing":
        return side.people, known & ~hit
    if how == "exact":
        return side.people, known
    width = np.arange(known.shape[1])
    others = side.members[draw.integers(0, len(side.members), known.shape), width]
    return np.where(hit, others, side.people), known


def halves(scene: Scene, first_holds: Sequence[str] | None = None) -> AttackScore | None:
    """Two attackers, each with half of the columns: does the release let them join their data?

    Each picks a row nearest to what it knows of a person; they succeed if they pick the same row.
    `None` if fewer than two columns can be compared. The first attacker holds `first_holds`, or a
    random half of the columns; the second holds the others.
    """
    width = len(scene.columns)
    if width < 2:
        return None
    if first_holds is None:
        drawn = scene.draw(2).permutation(width)[: (width + 1) // 2]
        first_holds = [scene.columns[i] for i in drawn]
    first = np.array([c in first_holds for c in scene.columns])
    chances = [_joined_by(side, first) for side in sides(scene)]
    return scored(
        "linkage, two halves",
        "joins the two halves of the columns of a person, held by two attackers",
        chances[0],
        guess=1 / scene.release.rows,
        control=chances[1] if len(chances) > 1 else None,
        people=scene.whose,
        details={"first": [c for c, mine in zip(scene.columns, first) if mine]},
    )


def _joined_by(side: Side, first: Mask) -> NDArray[np.float64]:
    weight, chances = side.distinct[1], [np.zeros(0)]
    for start in range(0, len(side.people), BLOCK):
        asked = side.people[start : start + BLOCK]
        one, other = (
            side.nearest(asked, np.tile(half, (len(asked), 1)))[0] for half in (first, ~first)
        )
        both, first_rows, other_rows = (
            _weighed(hits, weight) for hits in (one & other, one, other)
        )
        chances.append(both / (first_rows * other_rows))
    return np.concatenate(chances)


def _weighed(hits: Mask, weight: NDArray[np.int64]) -> NDArray[np.float64]:
    """The total weight of the rows that each person hits."""
    person, row = pairs(hits)
    return np.asarray(np.bincount(person, weights=weight[row], minlength=len(hits)), np.float64)


def pattern_numbers(cells: Cells) -> NDArray[np.intp]:
    """A number for each row, equal for equal rows, in the order of their cells.

    >>> pattern_numbers(np.array([[1.0, 7.0], [np.nan, 9.0], [1.0, 7.0]])).tolist()
    [1, 0, 1]
    """
    if not cells.size:
        return np.zeros(len(cells), dtype=np.intp)
    numbers = (np.unique(c, return_inverse=True) for c in np.where(np.isnan(cells), -1.0, cells).T)
    codes = (Coded(place, len(values)) for values, place in numbers)
    return dense(reduce(joined, codes)).codes


def _distinct(cells: Cells) -> tuple[Cells, NDArray[np.int64]]:
    # Compared bit by bit, so that NaN equals itself.
    words = np.ascontiguousarray(cells.T).view(np.uint64)
    first, place = rows_alike(np.zeros((0, len(cells)), dtype=np.uint8), words)
    return cells[first], np.bincount(place, minlength=len(first))


def _alike(cells: Cells, people: People) -> NDArray[np.int64]:
    """For each row, how many equal rows its person has."""
    if people.each_row:
        return np.ones(len(cells), np.int64)
    keys = pattern_numbers(cells).astype(np.int64) * people.radix + people.codes
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[place.reshape(-1)])


AMOUNTS = tuple(range(1, 11))
Choice = Literal["random", "rarest"]


def linkage_by_things(
    records: Binary,
    control: Binary | None = None,
    *,
    amounts: Sequence[int] = AMOUNTS,
    most: int = 1000,
    random_state: int = 0,
) -> list[AttackScore]:
    """Attackers who know m ones of a person's 0/1 row, at random or the m rarest.

    `records` are people by things, in the released columns. Attackers pick one of the rows that
    have all known things; where there is none, they find nobody. Of a person with fewer than m
    things all are known. No row belongs to the control group, so about them they are never right.

    >>> records = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    >>> found = linkage_by_things(records, amounts=[1, 2])
    >>> [(each.attacker, each.success.value) for each in found if "rarest" in each.attacker]
    [('linkage, 1 rarest thing', 0.625), ('linkage, 2 rarest things', 0.625)]
    """
    table = sparse_rows(records)
    draw = np.random.default_rng([random_state, 5])
    tried = np.sort(draw.permutation(table.shape[0])[:most])
    support = np.diff(sparse_columns(table).indptr)
    scores = []
    for choice in ("random", "rarest"):
        things = [_in_order(table[[i]].indices, support, choice, draw) for i in tried]
        for amount in amounts:
            known = [ordered[:amount] for ordered in things]
            chance = _found(table, known, tried)
            scores.append(_score(choice, amount, chance, table.shape[0], control, most))
    return scores


def _score(
    choice: str,
    amount: int,
    chance: NDArray[np.float64],
    rows: int,
    control: Binary | None,
    most: int,
) -> AttackScore:
    noun = "thing" if amount == 1 else "things"
    which = "chosen at random" if choice == "random" else "those that fewest people have"
    others = None if control is None else np.zeros(min(control.shape[0], most))
    return scored(
        f"linkage, {amount} {choice} {noun}",
        f"finds a person's row by {amount} {noun} that they have, {which}",
        chance,
        guess=1 / rows,
        control=others,
        details={"things": amount, "choice": choice},
    )


def _in_order(
    things: Integers,
    support: Integers,
    choice: Choice,
    draw: np.random.Generator,
) -> Integers:
    """The things of a person in the order in which they become known; ties in random order."""
    mixed = things[draw.permutation(len(things))]
    return mixed if choice == "random" else mixed[np.argsort(support[mixed], kind="stable")]


def _found(
    table: Binary, known: Sequence[Integers], tried: NDArray[np.intp]
) -> NDArray[np.float64]:
    """For each person, the probability to pick their row among those with all known things."""
    chances = np.zeros(len(known))
    for first in range(0, len(known), BLOCK):
        part = range(first, min(first + BLOCK, len(known)))
        asked = np.zeros((len(part), table.shape[1]), np.float32)
        for place, person in enumerate(part):
            asked[place, known[person]] = 1
        # A row has all known things where it shares as many as there are. Sums of ones are exact
        # in float32 up to 2**24, far more things than anybody has.
        holds = asked.sum(axis=1)[:, None] == (table @ asked.T).T
        mine = holds[np.arange(len(part)), tried[first : first + len(part)]]
        chances[part.start : part.stop] = mine / np.maximum(holds.sum(axis=1), 1)
    return chances
