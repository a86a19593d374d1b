"""Requirements on the sensitive values of equivalence classes: l, t, alpha, beta and delta.

The last three limit how far the share q of a value in a class may be from its share p in the table;
see `tamis.risk.diversity.likeness`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from tamis.figures import ROUNDING
from tamis.option import Asked, Option
from tamis.require.base import Requirement, Side, promised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tamis.arrays import Bools, Floats
    from tamis.require.counts import BetaKind, ClassCounts, Distance


DiversityKind = Literal["distinct", "entropy", "recursive"]


L = promised(
    "l",
    "Different sensitive values in each group.",
    "count",
    least=2,
    because="since every group has one value",
    example=2,
    asked=Asked(
        "Different secrets in a group (l)",
        "People who look alike must not all share one secret.",
        "Each group of people who look alike has at least {} different values of the secret.",
        "Groups may share the same secret.",
        more=False,
    ),
)
L_KIND = promised(
    "l_kind",
    "How --l counts sensitive values.",
    "choice",
    default="distinct",
    choices=("distinct", "entropy", "recursive"),
    rare=True,
)
C = promised("c", "For --l-kind recursive.", "number", default=3.0, above=0, rare=True)


@dataclass(frozen=True)
class Diversity(Requirement):
    """l-diversity: groups have at least l sensitive values, by one of its three definitions.

    Parameters
    ----------
    l : int
        The smallest number of values.
    l_kind : {"distinct", "entropy", "recursive"}
        Distinct values; the effective number by entropy; or that the most frequent value is less
        than `c` times as frequent as the l-th and rarer ones together.
    c : float
        The factor of `recursive`.
    """

    l: int = 2  # noqa: E741 - its name in the field
    l_kind: DiversityKind = "distinct"
    c: float = 3.0

    key: ClassVar[str] = "l_diversity"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (L, L_KIND, C)

    @property
    def side(self) -> Side:
        return "below" if self.l_kind == "recursive" else "at_least"

    @property
    def bound(self) -> float:
        return self.c if self.l_kind == "recursive" else self.l

    @property
    def fewest_people(self) -> int:
        return self.l

    @property
    def fewest_values(self) -> int:
        return self.l

    def figures(self, counts: ClassCounts) -> Floats:
        if self.l_kind == "distinct":
            return counts.distinct_values()
        if self.l_kind == "entropy":
            return counts.effective_values()
        return counts.recursive_ratios(self.l)

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools:
        """Groups with too few distinct values: no part of a group has more than it."""
        return breaking if self.l_kind == "distinct" else counts.distinct_values() < self.l

    def rows_lost(self, counts: ClassCounts, figures: Floats) -> Floats | int:
        """At least one row of each breaking group, by entropy or recursion.

        Groups that meet these definitions also meet them when merged. So if a group breaks one, no
        split of it saves every row.
        """
        return 0 if self.l_kind == "distinct" else self.is_short(figures) * 1.0

    def kernel_bounds(self) -> Mapping[str, Any]:
        c = {"c": float(self.c)} if self.l_kind == "recursive" else {}
        return {"l": self.l, "entropy": self.l_kind == "entropy", **c}

    def stated(self) -> dict[str, Any]:
        c = {"c": float(self.c)} if self.l_kind == "recursive" else {}
        return {"kind": self.l_kind, "at_least": self.l, **c}

    def lacking(self, figure: float) -> str:
        if self.l_kind == "recursive":
            return (
                f"recursive ({self.c:g}, {self.l})-diversity is asked for, but the commonest value "
                f"of some group is {figure:.3g} times as frequent as the rarer ones"
            )
        return f"l = {self.l} is asked for, but the least diverse group has {figure:.4g}"

    def why_left_out(self, secret: str) -> str:
        return f"they are alike in {secret}: fewer than {self.l:g} values of it (l)"


T = promised(
    "t",
    "Largest distance of a group from the table.",
    "share",
    least=0,
    most=1,
    example=0.3,
    asked=Asked(
        "How far a group may lean (t)",
        "How much more likely a secret may be in one group than in the whole table.",
        "The secret is spread in each group as in the whole table, up to {}%.",
        "Groups may lean towards some values of the secret.",
        more=False,
    ),
)
T_DISTANCE = promised(
    "t_distance",
    "How --t measures the distance of two values.",
    "choice",
    choices=("equal", "ordered"),
    otherwise="ordered for numbers",
    rare=True,
)


@dataclass(frozen=True)
class Closeness(Requirement):
    """t-closeness: the values of a group are at most t away from all, see `tamis.t_closeness`.

    Parameters
    ----------
    t : float
        The largest distance, 0 to 1.
    t_distance : {"equal", "ordered"}, optional
        The distance of two values; by default ordered for numbers.
    """

    t: float = 1.0
    t_distance: Distance | None = None

    key: ClassVar[str] = "t_closeness"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (T, T_DISTANCE)

    def figures(self, counts: ClassCounts) -> Floats:
        return counts.distances(self.t_distance)

    def rows_lost(self, counts: ClassCounts, figures: Floats) -> Floats | int:
        """Lower bound of the rows of each far group that any split loses.

        A group is a mixture of the rows that are kept, at most t away, and of the rest, at most 1
        away, and the distance is convex. So if x of n rows at distance d are lost,
        n d <= (n - x) t + x, and x >= n (d - t) / (1 - t).
        """
        import numpy as np

        t = self.t + ROUNDING  # the bound as checked: in a large group ROUNDING may be a row
        if t >= 1:
            return 0
        return np.maximum(np.ceil(counts.people * (figures - t) / (1 - t) - 1e-9), 0)

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"t": float(self.t), "ordered": self.t_distance == "ordered"}

    def stated(self) -> dict[str, Any]:
        return {"distance": self.t_distance, "at_most": float(self.t)}

    def lacking(self, figure: float) -> str:
        return f"t = {self.t:g} is asked for, but some group is {figure:.4g} away"

    def why_left_out(self, secret: str) -> str:
        return f"their {secret} differs too much from that of all (t)"

    def about(self, columns: Iterable[str], secret: str | None = None, *, number: bool) -> Self:
        distance: Distance = "ordered" if number and self.t_distance != "equal" else "equal"
        bound = super().about(columns, secret, number=number)
        return replace(bound, t_distance=distance)


ALPHA = promised(
    "alpha",
    "Largest share of one sensitive value within a group.",
    "share",
    above=0,
    most=1,
    rare=True,
)


@dataclass(frozen=True)
class AlphaShare(Requirement):
    """No value has a larger share of a group than alpha: q <= alpha."""

    alpha: float = 1.0

    key: ClassVar[str] = "alpha"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (ALPHA,)

    @property
    def fewest_values(self) -> int:
        """Of fewer values, the commonest has a larger share."""
        return ceil(1 / (self.alpha + ROUNDING) - ROUNDING)

    def figures(self, counts: ClassCounts) -> Floats:
        return counts.largest_shares()

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"alpha": float(self.alpha)}

    def lacking(self, figure: float) -> str:
        return (
            f"alpha = {self.alpha:g} is asked for, but in some group {figure:.4g} have the same "
            "value"
        )

    def why_left_out(self, secret: str) -> str:
        return f"too many of them have the same {secret} (alpha)"


BETA = promised(
    "beta",
    "Largest relative excess of a sensitive value within a group.",
    "number",
    above=0,
    rare=True,
)
BETA_KIND = promised(
    "beta_kind",
    "enhanced: bounded by minus the logarithm of the share, too.",
    "choice",
    default="basic",
    choices=("basic", "enhanced"),
    rare=True,
)


@dataclass(frozen=True)
class BetaLikeness(Requirement):
    """beta-likeness: no share exceeds the table's by more than beta times: (q - p) / p <= beta.

    For the kind `enhanced` also (q - p) / p <= -ln p.
    """

    beta: float = 1.0
    beta_kind: BetaKind = "basic"

    key: ClassVar[str] = "beta_likeness"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (BETA, BETA_KIND)

    def figures(self, counts: ClassCounts) -> Floats:
        return counts.surpluses(self.beta_kind)

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"beta": float(self.beta), "enhanced": self.beta_kind == "enhanced"}

    def stated(self) -> dict[str, Any]:
        return {"kind": self.beta_kind, "at_most": float(self.beta)}

    def lacking(self, figure: float) -> str:
        return (
            f"{self.beta_kind} beta = {self.beta:g} is asked for, but some group reaches "
            f"{figure:.4g}"
        )

    def why_left_out(self, secret: str) -> str:
        return f"a value of {secret} is much more frequent among them (beta)"


DELTA_DISCLOSURE = promised(
    "delta_disclosure",
    "Bound on the log-ratio of a value's share within a group and overall.",
    "number",
    above=0,
    rare=True,
)


@dataclass(frozen=True)
class DeltaDisclosure(Requirement):
    """delta-disclosure: abs(ln(q / p)) is below delta for every value, so no group lacks one."""

    delta_disclosure: float = 1.0

    key: ClassVar[str] = "delta_disclosure"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (DELTA_DISCLOSURE,)

    @property
    def side(self) -> Side:
        return "below"

    def figures(self, counts: ClassCounts) -> Floats:
        return counts.disclosures()

    def kernel_bounds(self) -> Mapping[str, Any]:
        return {"delta": float(self.delta_disclosure)}

    def lacking(self, figure: float) -> str:
        return (
            f"delta-disclosure below {self.delta_disclosure:g} is asked for, but some group "
            f"reaches {figure:.4g}"
        )

    def why_left_out(self, secret: str) -> str:
        return f"a value of {secret} is much more or less frequent among them (delta)"
