"""Linkage: which released row is this person's?

The attacker takes the rows that are nearest to what it knows and picks one of them. A release does
not say whose a row is, so a row counts as a person's if it is nearest to them in everything that is
released and if nobody in the table is nearer to it than they are; equals share it. In a release of
true values this is exact: a person among c alike is found with chance 1/c.
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
    """People who are looked for, the rows of a release, and the true rows of everybody in it.

    `mine` says how many rows like this one the person has in the table; 0: they are not in it.
    """

    people: Cells
    mine: NDArray[np.int64]
    rows: Cells
    members: Cells
    nominal: Mask

    @cached_property
    def distinct(self) -> tuple[Cells, NDArray[np.int64]]:
        """The distinct rows of the release, and how often each occurs.

        Where most rows are distinct, equal ones stay apart: they share what they would have.
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
        """Which distinct rows are nearest to each asked person, and how far they are."""
        found: tuple[Mask, NDArray[np.float64]] = self._near.to(asked, known)
        return found

    def found(self, asked: Cells, known: Mask) -> NDArray[np.float64]:
        """For each person the chance that a row nearest to what is known of them is theirs."""
        chances = [
            self._found(slice(first, first + BLOCK), asked, known)
            for first in range(0, len(asked), BLOCK)
        ]
        return np.concatenate(chances) if chances else np.zeros(0)

    def _found(self, part: slice, asked: Cells, known: Mask) -> NDArray[np.float64]:
        everything = np.ones_like(known[part])
        theirs, far = self.nearest(self.people[part], everything)
        exact = asked is self.people and known[part].all()
        picked = theirs if exact else self.nearest(asked[part], known[part])[0]
        weight = self.distinct[1]
        person, row = pairs(picked & theirs)
        chance = weight[row] * self._owned(row, far[person], self.mine[part][person])
        sums = np.bincount(person, weights=chance, minlength=len(picked))
        return np.asarray(sums / _weighed(picked, weight))

    def _owned(
        self, row: RowNumbers, far: NDArray[np.float64], mine: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The chance that a row is of someone at this distance, of whom so many rows are alike."""
        least, total = self._owners(np.unique(row))
        at = np.searchsorted(np.unique(row), row)
        outside = mine == 0
        alike = np.maximum(mine, 1) / (total[at] + outside)
        return np.where(far == least[at], alike, np.where(outside & (far < least[at]), 1.0, 0.0))

    def _owners(self, rows: RowNumbers) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How far the nearest people of the table are from each row, and their rows in all."""
        weight = self._members[1]
        asked, known = self.distinct[0][rows], np.ones((len(rows), len(self.nominal)), np.bool_)
        least, total = np.empty(len(rows)), np.empty(len(rows), np.int64)
        for first in range(0, len(rows), BLOCK):
            part = slice(first, first + BLOCK)
            hits, least[part] = self._near_members.to(asked[part], known[part])
            total[part] = _weighed(hits, weight)
        return least, total


def sides(scene: Scene) -> list[Side]:
    """People of the table beside the release, then the control group beside one without them."""
    cells = scene.cells
    tried = cells.original[scene.tried]
    mine = _alike(cells.original, scene.original.people)[scene.tried]
    found = [Side(tried, mine, cells.release, cells.original, cells.nominal)]
    if cells.control is not None:
        people = cells.control[scene.control_tried]
        outside = np.zeros(len(people), np.int64)
        members = cells.original[scene.inside]
        found.append(Side(people, outside, cells.without, members, cells.nominal))
    return found


def linkage(scene: Scene, errors: Sequence[float] = ERRORS) -> list[AttackScore]:
    """Attackers who know the quasi-identifiers, exactly, in part, or wrongly.

    `errors` are the chances that a known value is missing, or that it is another person's.

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
    """What the attacker holds of each person, and which cells it holds."""
    draw = scene.draw(1, round(1000 * share))
    known = np.tile(columns, (len(side.people), 1))
    hit = draw.random(known.shape) < share
    if how == "missing":
        return side.people, known & ~hit
    if how == "exact":
        return side.people, known
    width = np.arange(known.shape[1])
    others = side.members[draw.integers(0, len(side.members), known.shape), width]
    return np.where(hit, others, side.people), known


def halves(scene: Scene, first_holds: Sequence[str] | None = None) -> AttackScore | None:
    """Two attackers who hold half of the columns each: does the release join what they hold?

    Each picks a row nearest to what it knows of the same person; they succeed if it is the same
    row. `None` if fewer than two columns can be compared. Without `first_holds`, the columns of the
    first attacker are half of all, at random; the second holds the others.
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
        both, *each = (_weighed(hits, weight) for hits in (one & other, one, other))
        chances.append(both / (each[0] * each[1]))
    return np.concatenate(chances)


def _weighed(hits: Mask, weight: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of the rows that each person hits."""
    person, row = pairs(hits)
    return np.asarray(np.bincount(person, weights=weight[row], minlength=len(hits)), np.float64)


def pattern_numbers(cells: Cells) -> NDArray[np.intp]:
    """A number for each row, the same for the same cells, in the order of the cells.

    >>> pattern_numbers(np.array([[1.0, 7.0], [np.nan, 9.0], [1.0, 7.0]])).tolist()
    [1, 0, 1]
    """
    if not cells.size:
        return np.zeros(len(cells), dtype=np.intp)
    numbers = (np.unique(c, return_inverse=True) for c in np.where(np.isnan(cells), -1.0, cells).T)
    codes = (Coded(place, len(values)) for values, place in numbers)
    return dense(reduce(joined, codes)).codes


def _distinct(cells: Cells) -> tuple[Cells, NDArray[np.int64]]:
    words = np.ascontiguousarray(cells.T).view(np.uint64)
    first, place = rows_alike(np.zeros((0, len(cells)), dtype=np.uint8), words)
    return cells[first], np.bincount(place, minlength=len(first))


def _alike(cells: Cells, people: People) -> NDArray[np.int64]:
    """For each row how many rows of the same person are the same."""
    if people.each_row:
        return np.ones(len(cells), np.int64)
    pairs = pattern_numbers(cells).astype(np.int64) * people.radix + people.codes
    _, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
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
    """Attackers who know m things that a person has, at random or those that are rarest.

    They pick one of the rows of the records, people by things in the released columns, that have
    them all; where no row has, they find nobody. Of a person with fewer things than an amount all
    are known. Of the control group, whatever row is picked is not theirs.

    >>> records = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    >>> found = linkage_by_things(records, amounts=[1, 2])
    >>> [(each.attacker, each.success.value) for each in found if "rarest" in each.attacker]
    [('linkage, 1 rarest thing', 0.625), ('linkage, 2 rarest things', 0.625)]
    """
    table = sparse_rows(records)
    draw = np.random.default_rng([random_state, 5])
    tried = np.sort(draw.permutation(table.shape[0])[:most])
    support = np.diff(sparse_columns(table).indptr)
    found = []
    for choice in ("random", "rarest"):
        things = [_in_order(table[[i]].indices, support, choice, draw) for i in tried]
        for amount in amounts:
            known = [each[:amount] for each in things]
            chance = _found(table, known, tried)
            found.append(_score(choice, amount, chance, table.shape[0], control, most))
    return found


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
    """All that a person has, those first that are known first; ties in a random order."""
    mixed = things[draw.permutation(len(things))]
    return mixed if choice == "random" else mixed[np.argsort(support[mixed], kind="stable")]


def _found(
    table: Binary, known: Sequence[Integers], tried: NDArray[np.intp]
) -> NDArray[np.float64]:
    """For each person the chance to pick their row among those that have all that is known."""
    chances = np.zeros(len(known))
    for first in range(0, len(known), BLOCK):
        part = range(first, min(first + BLOCK, len(known)))
        asked = np.zeros((len(part), table.shape[1]), np.float32)
        for place, person in enumerate(part):
            asked[place, known[person]] = 1
        holds = asked.sum(axis=1)[:, None] == (table @ asked.T).T
        mine = holds[np.arange(len(part)), tried[first : first + len(part)]]
        chances[part.start : part.stop] = mine / np.maximum(holds.sum(axis=1), 1)
    return chances
