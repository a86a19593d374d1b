"""Linkage of 0/1 records by a few things that a person has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.attack.linkage import BLOCK
from tamis.attack.score import AttackScore, scored
from tamis.binary.matrix import Binary, sparse_columns, sparse_rows

Numbers = NDArray[np.integer[Any]]

AMOUNTS = tuple(range(1, 11))
Choice = Literal["random", "rarest"]


def linkage_by_things(
    records: Binary,
    release: Binary | None = None,
    control: Binary | None = None,
    *,
    amounts: Sequence[int] = AMOUNTS,
    most: int = 1000,
    random_state: int = 0,
) -> list[AttackScore]:
    """Attackers who know m things that a person has, at random or those that are rarest.

    They pick one of the released rows that have them all; where no row has, they find nobody.

    Parameters
    ----------
    records : 0/1 array or sparse array
        People by things, in the released columns.
    release : the same, optional
        Row i being of the same person; `None`: the records themselves. Things that a person has
        are taken from `records`.
    control : the same, optional
        People who are not in the release: whatever row is picked is not theirs.
    amounts : sequence of int
        How many things are known; of a person with fewer all are.
    most : int
        The most people to try.

    Examples
    --------
    >>> records = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
    >>> found = linkage_by_things(records, amounts=[1, 2])
    >>> [(each.attacker, each.success.value) for each in found if "rarest" in each.attacker]
    [('linkage, 1 rarest thing', 0.625), ('linkage, 2 rarest things', 0.625)]
    """
    people = sparse_rows(records)
    table = people if release is None else sparse_rows(release)
    draw = np.random.default_rng([random_state, 5])
    tried = np.sort(draw.permutation(people.shape[0])[:most])
    support = np.diff(sparse_columns(table).indptr)
    found = []
    for choice in ("random", "rarest"):
        things = [_in_order(people[[i]].indices, support, choice, draw) for i in tried]
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
    things: Numbers,
    support: Numbers,
    choice: Choice,
    draw: np.random.Generator,
) -> Numbers:
    """All that a person has, those first that are known first; ties in a random order."""
    mixed = things[draw.permutation(len(things))]
    return mixed if choice == "random" else mixed[np.argsort(support[mixed], kind="stable")]


def _found(table: Binary, known: Sequence[Numbers], tried: NDArray[np.intp]) -> NDArray[np.float64]:
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
