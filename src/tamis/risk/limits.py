"""Limits on the risk of a table as it is: which hold, which fail, and by how much."""

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
    """One limit, and what is reached of it.

    Parameters
    ----------
    name : str
        The option that asks for it.
    side : str
        On which side of `bound` the figure must be.
    bound, reached : float
    met : bool
    lacking : str
        What was asked for and what was reached instead; empty where it holds.
    attacker : str
        Against whom it is asked for, where attackers have names.

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
        """How far the figure is from what is asked for; 0 where it is met."""
        return 0.0 if self.met else abs(self.reached - self.bound)

    def to_dict(self) -> dict[str, Any]:
        found = {**asdict(self), "short_by": self.short_by}
        return found if self.attacker else {k: v for k, v in found.items() if k != "attacker"}


def check_limits(asked: Iterable[Requirement], reached: dict[str, float]) -> list[LimitCheck]:
    """Compare what people alike reach of each requirement, by its name, with what is asked."""
    found = []
    for each in asked:
        figure = reached[each.name]
        met = not each.is_short(figure)
        words = "" if met else each.named(each.lacking(figure))
        found.append(
            LimitCheck(each.name, each.side, each.bound, float(figure), met, words, each.attacker)
        )
    return found


def check_groups(asked: Requirements, scoped: Scope) -> list[LimitCheck]:
    """The same of the groups of people alike in a table.

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
    """A limit on one figure, `words` say of what.

    >>> check_figure("max_population_risk", "at_most", 0.05, 0.2, "the share found").lacking
    'the share found may be at most 0.05, but it is 0.2'
    """
    short = bool((falls_short if side == "at_least" else exceeds)(reached, bound))
    needs = "must be at least" if side == "at_least" else "may be at most"
    lacking = f"{words} {needs} {bound:g}, but it is {reached:.4g}" if short else ""
    return LimitCheck(name, side, bound, float(reached), not short, lacking)


def gate_words(checks: Sequence[LimitCheck]) -> str:
    """Which limits fail and by how much, in one sentence; empty where all hold."""
    failed = [each.lacking for each in checks if not each.met]
    if not failed:
        return ""
    verb = "is" if len(failed) == 1 else "are"
    return f"{len(failed)} of {plural(len(checks), 'limit')} {verb} not met: {'; '.join(failed)}"
