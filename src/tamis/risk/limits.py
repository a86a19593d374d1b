"""Limits on the risk of a table as it is: which are met, which fail, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tamis.errors import plural
from tamis.figures import exceeds, falls_short
from tamis.require.base import Requirement, Requirements, Side
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Scope


@dataclass(frozen=True)
class LimitCheck:
    """One limit and the figure that was reached.

    Parameters
    ----------
    name : str
        The option that sets the limit.
    side : str
        The side of `bound` on which the figure must be.
    bound, reached : float
    met : bool
    lacking : str
        A sentence with the limit and what was reached instead; empty if it is met.
    attacker : str
        The named attacker the limit is against, if any.

    Examples
    --------
    >>> from tamis.require import requirements
    >>> (k,) = check_limits(requirements(3), {"k": 1})
    >>> k.met, k.short_by, k.lacking
    (False, 2.0, 'k = 3 requires 3 people alike, but the smallest group has 1 (2 too few)')
    """

    name: str
    side: Side
    bound: float
    reached: float
    met: bool
    lacking: str = ""
    attacker: str = ""

    @property
    def short_by(self) -> float:
        """Distance of the figure from the limit; 0 if it is met."""
        return 0.0 if self.met else abs(self.reached - self.bound)

    def to_dict(self) -> dict[str, Any]:
        plain = {**asdict(self), "short_by": self.short_by}
        return plain if self.attacker else {k: v for k, v in plain.items() if k != "attacker"}


def check_limits(asked: Iterable[Requirement], reached: dict[str, float]) -> list[LimitCheck]:
    """Compare the figure that each requirement reaches, by its name, with its bound."""
    checks = []
    for one in asked:
        figure = reached[one.name]
        met = not one.is_short(figure)
        words = "" if met else one.named(one.lacking(figure))
        checks.append(
            LimitCheck(one.name, one.side, one.bound, float(figure), met, words, one.attacker)
        )
    return checks


def check_groups(asked: Requirements, scoped: Scope) -> list[LimitCheck]:
    """`check_limits` for the equivalence classes of a table.

    >>> import polars as pl
    >>> from tamis.require import requirements
    >>> from tamis.risk.grouping import scope
    >>> table = scope(pl.DataFrame({"job": ["cook", "cook", "judge"]}))
    >>> [(c.name, c.reached, c.met) for c in check_groups(requirements(1, max_risk=0.5), table)]
    [('k', 1.0, True), ('max_risk', 1.0, False)]
    """
    secret = scoped.sensitive_column if asked.of_secrets else None
    return check_limits(asked, asked.reached(count_groups(scoped.grouped(), secret)))


def check_figure(name: str, side: Side, bound: float, reached: float, words: str) -> LimitCheck:
    """Check a limit on one figure, which `words` name.

    >>> check_figure("max_population_risk", "at_most", 0.05, 0.2, "the share found").lacking
    'the share found may be at most 0.05, but it is 0.2'
    """
    short = bool((falls_short if side == "at_least" else exceeds)(reached, bound))
    needs = "must be at least" if side == "at_least" else "may be at most"
    lacking = f"{words} {needs} {bound:g}, but it is {reached:.4g}" if short else ""
    return LimitCheck(name, side, bound, float(reached), not short, lacking)


def gate_words(checks: Sequence[LimitCheck]) -> str:
    """One sentence on the limits that fail and by how much; empty if all are met."""
    failed = [each.lacking for each in checks if not each.met]
    if not failed:
        return ""
    verb = "is" if len(failed) == 1 else "are"
    return f"{len(failed)} of {plural(len(checks), 'limit')} {verb} not met: {'; '.join(failed)}"
