"""Numbers leave with no more digits than teach.

What digits teach is asked of each column by itself, from the fewest digits up. Numbers may need
more beside others, so each set is scored with what is left of its numbers, and where it then keeps
less they get a digit back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tamis.evaluate.bits import CLOSE
from tamis.evaluate.subset_bits import Columns

if TYPE_CHECKING:
    from tamis.propose.coarsen import CoarserSets
    from tamis.propose.rungs import Rung, RungBits

Digits = dict[int, list[int]]
"""The rungs of each column of numbers: as it is, then ever fewer digits."""


def with_fewer_digits(
    found: CoarserSets, numbers: Sequence[int], plain: Sequence[int] = ()
) -> tuple[CoarserSets, list[int]]:
    """The same sets and more, and in place of some of them those with no more digits than teach.

    Of the `plain` ones, of columns as they are, only those that lose digits are wanted. A set with
    fewer digits is a part of the one that it takes the place of: it tells no more, and keeps as
    much but for a trifle, the hundredth within which any choice prefers what is coarser.
    """
    bits, digits = found.bits, _digits(found.bits.rungs)
    every = list(dict.fromkeys([*numbers, *plain]))
    used = {c for number in every for c in found.sets[number]}
    needed = {
        column: _needed(bits, rungs, CLOSE * found.measured.target_scale)
        for column, rungs in digits.items()
        if used.intersection(rungs)
    }
    places = {number: number for number in every}
    for back in range(max(needed.values(), default=0)):
        fewer = {
            number: _with(found.sets[number], digits, needed, back)
            for number in every
            if places[number] == number
        }
        found = _scored_too(found, [each for n, each in fewer.items() if each != found.sets[n]])
        place = {columns: i for i, columns in enumerate(found.sets)}
        kept = found.measured.kept
        for number, columns in fewer.items():
            if kept[place[columns]] >= kept[number] - CLOSE:
                places[number] = place[columns]
    wanted = [places[n] for n in every if n in numbers or places[n] != n]
    return found, list(dict.fromkeys(wanted))


def _digits(rungs: Sequence[Rung]) -> Digits:
    found: Digits = {}
    for number, rung in enumerate(rungs):
        if rung.dropped:
            found.setdefault(rung.column, [rung.column]).append(number)
    return found


def _needed(bits: RungBits, rungs: Sequence[int], trifle: float) -> int:
    """How many digits a column can lose and still teach by itself what it does as it is."""
    own = bits.score((rungs[0],))[0]
    every = reversed(range(len(rungs)))
    return next(i for i in every if not i or bits.score((rungs[i],))[0] >= own - trifle)


def _with(columns: Columns, digits: Digits, needed: dict[int, int], back: int) -> Columns:
    """A set where each number has lost what it can, less so many digits that it got back."""
    found = set(columns)
    for column, rungs in digits.items():
        own = next((i for i, rung in enumerate(rungs) if rung in found), None)
        fewer = max(0, needed.get(column, 0) - back)
        if own is not None and fewer > own:
            found = found - {rungs[own]} | {rungs[fewer]}
    return tuple(sorted(found))


def _scored_too(found: CoarserSets, sets: Sequence[Columns]) -> CoarserSets:
    every = tuple(dict.fromkeys([*found.sets, *sets]))
    return replace(found, sets=every, measured=found.bits.measured(every))
