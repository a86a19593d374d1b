"""alpha, beta and delta: how much more of a secret a group may have than all people do.

With q the share of a value in a group and p in the table; see `tamis.risk.diversity.likeness`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.option import Option
from tamis.require.base import Requirement, Side, promised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.arrays import Floats
    from tamis.require.counts import BetaKind, ClassCounts


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
    """No value belongs to a larger share of a group: q <= alpha."""

    alpha: float = 1.0

    key: ClassVar[str] = "alpha"
    about_secret: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (ALPHA,)

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
    """No share exceeds the usual one by more than beta times it: (q - p) / p <= beta.

    With the kind `enhanced` by no more than minus its logarithm either.
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
    """The absolute logarithm of q / p stays below delta; no group lacks a value."""

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
