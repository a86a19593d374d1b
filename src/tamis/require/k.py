"""k-anonymity and the largest risk: how many people must be alike."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.option import Asked, Option
from tamis.require.base import Requirement, Side, Unit, promised
from tamis.rounding import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.arrays import Bools, Floats
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
    """Everybody is alike with k people or more, themselves included.

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
        return figures < self.k  # whole numbers need no rounding, and searches ask this most

    def stated(self) -> dict[str, Any]:
        return {"at_least": self.k}

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools:
        return breaking

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"k": self.k}

    def who_is_alike(self, unit: Unit) -> str:
        """Among whom a person hides, in words."""
        return f"{unit} alike"

    def lacking(self, figure: float, unit: Unit = "people") -> str:
        return (
            f"k = {self.k} requires {self.k} {self.who_is_alike(unit)}, but the smallest group has "
            f"{figure} ({self.k - figure} too few)"
        )

    def lacking_in_short(self, unit: Unit) -> str:
        """The same without a number of people below k: it appears in reports."""
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
    """Whoever knows what may be known finds nobody's row with a larger chance: 1 by those alike."""

    max_risk: float = 1.0

    key: ClassVar[str] = "max_risk"
    of_risk: ClassVar[bool] = True
    of_sizes: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (MAX_RISK,)

    @property
    def fewest_people(self) -> int:
        """The people that a group must have.

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
        return {"max_risk": None}  # k of the sample stands for it

    def lacking(self, figure: float) -> str:
        return f"a risk of {self.max_risk:g} at most is asked for, but some group has {figure:.4g}"

    def why_left_out(self, secret: str) -> str:
        return f"fewer than {self.fewest_people} are alike (the largest risk)"


MAX_AVERAGE_RISK = promised(
    "max_average_risk", "Largest average of that chance.", "share", above=0, most=1, rare=True
)


@dataclass(frozen=True)
class AverageRisk(Requirement):
    """The mean over people of the chance of finding their row.

    A mean is not a property of one group: no single group keeps or breaks it.
    """

    max_average_risk: float = 1.0

    key: ClassVar[str] = "average_risk"
    of_risk: ClassVar[bool] = True
    by_group: ClassVar[bool] = False
    options: ClassVar[tuple[Option, ...]] = (MAX_AVERAGE_RISK,)

    @property
    def enough_people(self) -> int:
        return MaxRisk(self.max_average_risk).fewest_people

    def reached(self, counts: ClassCounts) -> float:
        return counts.average_risk

    def on_sample(self, share: float) -> Mapping[str, Any]:
        """Groups of a sample are smaller, so that risks are larger in proportion."""
        return {"max_average_risk": min(1.0, self.max_average_risk / share)}

    def lacking(self, figure: float) -> str:
        return (
            f"an average risk of {self.max_average_risk:g} at most is asked for, but it is "
            f"{figure:.4g}"
        )
