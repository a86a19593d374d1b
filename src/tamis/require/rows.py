"""Known rows: how many people have all that an attacker knows of several rows of a person.

An attacker who knows up to m rows of a person knows a multiset of at most m combinations of what
attackers may know. A person *holds* a multiset who has each combination in at least so many rows.
With m = 1 these are the people alike of k-anonymity. What somebody knows more leaves fewer people,
so of each person only the largest multisets count: of m rows, or of all where there are fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.errors import InputError, plural
from tamis.option import Option
from tamis.require.base import Requirement, Side, promised
from tamis.require.k import K

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.arrays import Integers
    from tamis.require.counts import ClassCounts

MOST_SETS = 5_000_000
"""The most sets of rows to count, once for each release that is compared: a second, 400 MB."""
KNOWN_ROWS = promised(
    "known_rows",
    "How many rows of a person an attacker may know.",
    "count",
    least=1,
    most=20,
    rare=True,
)


@dataclass(frozen=True)
class KnownRows(Requirement):
    """Whoever knows up to so many rows of a person is left with k people.

    It is not a property of one group of rows alike: a person's rows are in several.
    """

    known_rows: int = 1
    k: int = 5

    key: ClassVar[str] = "known_rows"
    of_risk: ClassVar[bool] = True
    by_group: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (KNOWN_ROWS, K)

    @property
    def side(self) -> Side:
        return "at_least"

    @property
    def bound(self) -> float:
        return float(self.k)

    @property
    def fewest_people(self) -> int:
        return self.k

    def reached(self, counts: ClassCounts) -> float:
        return counts.holders_of_rows(self.known_rows)

    def on_sample(self, share: float) -> Mapping[str, Any]:
        return {"known_rows": self.known_rows}

    def stated(self) -> dict[str, Any]:
        return {"at_least": self.k, "rows": self.known_rows}

    def lacking(self, figure: float) -> str:
        return (
            f"k = {self.k} is asked for whoever knows {plural(self.known_rows, 'row')} of a "
            f"person, but some are left with {figure:g}"
        )


def sets_of_rows(people: Integers, most: int) -> int:
    """How many sets of so many rows, or of all where there are fewer, people have.

    >>> import numpy as np
    >>> sets_of_rows(np.array([0, 0, 0, 1]), 2)
    4
    """
    import numpy as np  # here, since `--help` takes the option alone

    rows, each = np.unique(np.unique(people, return_counts=True)[1], return_counts=True)
    return sum(n * comb(r, min(r, most)) for r, n in zip(rows.tolist(), each.tolist()))


def check_known_rows(people: Integers, most: int) -> None:
    """Refuse to count more sets of rows than could be counted for each release.

    `people` has the person of each row.
    """
    sets = sets_of_rows(people, most)
    if sets <= MOST_SETS:
        return
    fits = [m for m in range(1, most) if sets_of_rows(people, m) <= MOST_SETS]
    fewer = f"pass --known-rows {fits[-1]} or less, or " if fits else ""
    raise InputError(
        f"--known-rows {most} counts who shares each set of {most} rows of a person, and there are "
        f"{sets:,} such sets; at most {MOST_SETS:,} are counted, since it is done for every "
        f"release that is compared; {fewer}put the rows of each person together with --per-person"
    )
