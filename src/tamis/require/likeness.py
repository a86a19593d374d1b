"""alpha, beta and delta: how much more of a secret a group may have than all people do.

With q the share of a value in a group and p in the table; see `tamis.risk.diversity.likeness`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tamis.require.base import Parameter, Requirement, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.require.counts import BetaKind, ClassCounts, Floats


@dataclass(frozen=True)
class AlphaShare(Requirement):
    """No value belongs to a larger share of a group: q <= alpha."""

    alpha: float = 1.0

    key: ClassVar[str] = "alpha"
    about_secret: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "alpha",
            "share",
            "The largest share of people alike with one value.",
            "a share above 0 and up to 1",
            most=1,
            above=True,
        ),
    )

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


@dataclass(frozen=True)
class BetaLikeness(Requirement):
    """No share exceeds the usual one by more than beta times it: (q - p) / p <= beta.

    With the kind `enhanced` by no more than minus its logarithm either.
    """

    beta: float = 1.0
    beta_kind: BetaKind = "basic"

    key: ClassVar[str] = "beta_likeness"
    about_secret: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "beta",
            "number",
            "How far its share among people alike may exceed that among all.",
            "a number above 0",
            above=True,
        ),
        Parameter(
            "beta_kind",
            "choice",
            "enhanced: at most minus the logarithm of the share, too.",
            "basic or enhanced",
            "basic",
            choices=("basic", "enhanced"),
        ),
    )

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


@dataclass(frozen=True)
class DeltaDisclosure(Requirement):
    """The absolute logarithm of q / p stays below delta; no group lacks a value."""

    delta_disclosure: float = 1.0

    key: ClassVar[str] = "delta_disclosure"
    about_secret: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "delta_disclosure",
            "number",
            "What the logarithm of the ratio of these shares stays below.",
            "a number above 0",
            above=True,
        ),
    )

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
