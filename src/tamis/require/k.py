"""Requirements on class sizes: k-anonymity, containment anonymity, known rows, risks.

An attacker who knows up to m rows of a person knows a multiset of at most m combinations of
quasi-identifiers. A person *holds* a multiset if they have each combination in at least that many
rows. With m = 1 the holders are an equivalence class of k-anonymity. Knowing more leaves fewer
people, so of each person only the largest multisets count: of m rows, or of all rows if there are
fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.errors import InputError, plural
from tamis.figures import ROUNDING
from tamis.option import Asked, Option
from tamis.require.base import Requirement, Side, Unit, promised
from tamis.stated import MOST_ABSENCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.arrays import Bools, Floats, Integers
    from tamis.require.counts import ClassCounts


K = promised(
    "k",
    "How many people must look alike.",
    "count",
    default=5,
    least=1,
    note="Everybody hides among at least this many people.",
    asked=Asked(
        "People who look alike (k)",
        "Whoever knows such facts about someone finds at least this many people who fit. More of "
        "them protect better and cost detail; ask whether a rule of your house names a number.",
        "Everybody hides among at least {} people who look the same to someone who knows them.",
        more=False,
    ),
)


@dataclass(frozen=True)
class KAnonymity(Requirement):
    """k-anonymity: every equivalence class has at least k people.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.require.counts import ClassCounts
    >>> KAnonymity(3).breaking(ClassCounts(np.array([2, 3]))).tolist()
    [True, False]
    """

    k: int = 5

    key: ClassVar[str] = "k_anonymity"
    of_sizes: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (K,)

    @property
    def side(self) -> Side:
        return "at_least"

    @property
    def fewest_people(self) -> int:
        return self.k

    def figures(self, counts: ClassCounts) -> Floats:
        return counts.people

    def is_short(self, figures: Any) -> Any:
        return figures < self.k  # integers need no rounding, and searches check this most often

    def stated(self) -> dict[str, Any]:
        return {"at_least": self.k}

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools:
        return breaking

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"k": self.k}

    def who_is_alike(self, unit: Unit) -> str:
        """The people who form a class, in words."""
        return f"{unit} alike"

    def lacking(self, figure: float, unit: Unit = "people") -> str:
        return (
            f"k = {self.k} requires {self.k} {self.who_is_alike(unit)}, but the smallest group has "
            f"{figure} ({self.k - figure} too few)"
        )

    def lacking_in_short(self, unit: Unit) -> str:
        """`lacking` without a number of people below k, since it appears in reports."""
        return f"fewer than {self.k} {unit} alike"

    def why_left_out(self, secret: str) -> str:
        return f"fewer than {self.k} are alike (k)"


MAX_RISK = promised(
    "max_risk",
    "Largest chance of finding a person's row: 1/k.",
    "share",
    above=0,
    most=1,
    rare=True,
)


@dataclass(frozen=True)
class MaxRisk(Requirement):
    """Prosecutor risk: the largest probability, 1 / class size, of finding a person's row."""

    max_risk: float = 1.0

    key: ClassVar[str] = "max_risk"
    of_risk: ClassVar[bool] = True
    of_sizes: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (MAX_RISK,)

    @property
    def fewest_people(self) -> int:
        """The smallest class size with at most that risk.

        >>> MaxRisk(0.2).fewest_people, MaxRisk(0.09).fewest_people
        (5, 12)
        """
        return ceil(1 / self.max_risk - ROUNDING)

    def figures(self, counts: ClassCounts) -> Floats:
        risks: Floats = 1 / counts.people
        return risks

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools:
        return breaking

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"k": self.fewest_people}

    def on_sample(self, share: float) -> Mapping[str, Any]:
        return {"max_risk": None}  # the sample's k covers it

    def lacking(self, figure: float) -> str:
        return f"a risk of {self.max_risk:g} at most is asked for, but some group has {figure:.4g}"

    def why_left_out(self, secret: str) -> str:
        return f"fewer than {self.fewest_people} are alike (the largest risk)"


MAX_AVERAGE_RISK = promised(
    "max_average_risk", "Largest average of that chance.", "share", above=0, most=1, rare=True
)


@dataclass(frozen=True)
class AverageRisk(Requirement):
    """The mean over people of the probability of finding their row.

    A mean is a property of all groups together: no single group meets or breaks it.
    """

    max_average_risk: float = 1.0

    key: ClassVar[str] = "average_risk"
    of_risk: ClassVar[bool] = True
    by_group: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (MAX_AVERAGE_RISK,)

    @property
    def enough_people(self) -> int:
        return MaxRisk(self.max_average_risk).fewest_people

    @property
    def fewest_in_all(self) -> int:
        """The mean is the number of groups by that of people, so 1 by all people or more."""
        return self.enough_people

    def reached(self, counts: ClassCounts) -> float:
        return counts.average_risk

    def on_sample(self, share: float) -> Mapping[str, Any]:
        """Groups of a sample are smaller, so risks are larger in proportion."""
        return {"max_average_risk": min(1.0, self.max_average_risk / share)}

    def lacking(self, figure: float) -> str:
        return (
            f"an average risk of {self.max_average_risk:g} at most is asked for, but it is "
            f"{figure:.4g}"
        )


_HOLDERS = {
    "people": "people who have whatever a person has",
    "rows": "rows that have whatever a row has",
}
"""Whom containment anonymity counts, in words."""


ABSENCES = promised(
    "known_absences",
    "In 0/1 columns: things a person lacks that an attacker may know too.",
    "count",
    default=0,
    least=0,
    most=MOST_ABSENCES,
    because="since more take too long to count, and k-anonymity covers them all",
    rare=True,
    old=("absences",),
    dest="absences",
    asked=Asked(
        "Things a person is known to lack",
        "For yes/no facts: others may know not only what a person has, but also that they do not "
        "have this many things.",
        "Of yes/no facts, others may also know {} that a person does not have.",
        "Of yes/no facts, others know what a person has, not what they lack.",
        "none",
    ),
)


@dataclass(frozen=True)
class ContainmentAnonymity(KAnonymity):
    """Containment anonymity: k people have whatever one person has, and lack known absences.

    Parameters
    ----------
    absences : int
        How many of the things that a person lacks an attacker may know, too.
    """

    absences: int = 0

    key: ClassVar[str] = "containment_anonymity"
    options: ClassVar[tuple[Option, ...]] = (*KAnonymity.options, ABSENCES)

    def reached(self, counts: ClassCounts) -> float:
        return counts.holders(self.absences, self.k)

    def stated(self) -> dict[str, Any]:
        absences = {"absences": self.absences} if self.absences else {}
        return {"at_least": self.k, **absences}

    def who_is_alike(self, unit: Unit) -> str:
        lacking = f" and lack up to {plural(self.absences, 'thing')} that are known"
        return _HOLDERS[unit] + (lacking if self.absences else "")


MOST_SETS = 5_000_000
"""Most sets of rows to count for each compared release: that takes a second and 400 MB."""
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
    """An attacker who knows up to so many rows of a person is left with k people.

    It is not a property of a single group, since a person's rows are in several.
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

    @property
    def fewest_in_all(self) -> int:
        return 1  # k-anonymity, which is asked for with it, says how many there must be

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
    """Number of sets of `most` rows, or of all rows if they are fewer, summed over people.

    >>> import numpy as np
    >>> sets_of_rows(np.array([0, 0, 0, 1]), 2)
    4
    """
    import numpy as np  # here, since `--help` takes the option alone

    rows, each = np.unique(np.unique(people, return_counts=True)[1], return_counts=True)
    return sum(n * comb(r, min(r, most)) for r, n in zip(rows.tolist(), each.tolist()))


def check_known_rows(people: Integers, most: int) -> None:
    """Raise if there are more sets of known rows than can be counted for each release.

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
