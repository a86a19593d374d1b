"""Are the rules of the original still in the release?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.evaluate.comparison import Baseline, Comparison, Weights, baseline, polars_frame_of
from tamis.evaluate.rule_changes import (
    LEAST_SUPPORT,
    Reading,
    RuleChange,
    relative_error,
    right_shares,
    rld,
    rld_floor,
    rsd,
    rule_changes,
    total_variation,
)
from tamis.notebook import in_short
from tamis.rules.bind import ValueLabels
from tamis.rules.count import MEMORY
from tamis.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from tamis.charts import Picture

OwnMeasure = Callable[[NDArray[Any], NDArray[Any]], float]
"""A custom measure: a function of the two matrices, rules x labels."""


@dataclass(frozen=True)
class Retention:
    """How much of a set of rules a release keeps. All distances are 0 if nothing changed.

    Attributes
    ----------
    rules : tuple of RuleChange
        What happened to each rule, the worst first.
    rule_accuracy : float
        The difference in how often the rules are right in the two tables, `right_original` and
        `right_released`; `wrong_released` is one minus the latter.
    rsd, total_variation : float
        The mean change of the support of a rule, and half the sum of the changes.
    rld, rld_floor : float or None
        The mean distance of the labels of a rule, and what chance alone would give.
    re : float or None
        The mean relative change of support.
    coverage_original, coverage : float
        The share of rows that match some rule, in the original and in the release.
    lost, emptied, flipped : int
        Rules that name a column the release does not have, that no row matches any more, and
        whose most common label has changed.
    own : dict of name to float
        The custom measures.
    """

    target: str
    reading: Reading
    rows_original: int
    rows_released: int
    rule_accuracy: float
    right_original: float
    right_released: float
    rsd: float
    total_variation: float
    rld: float | None
    rld_floor: float | None
    re: float | None
    coverage_original: float
    coverage: float
    rules: tuple[RuleChange, ...]
    own: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return in_short(
            self,
            self.headline(),
            f"Rule Accuracy {self.rule_accuracy:.4g}",
            f"RSD {self.rsd:.4g}",
            None if self.rld is None else f"RLD {self.rld:.4g}",
        )

    def plot(self, most: int = 40) -> Picture:
        """What happened to each rule, the worst first: support before and after, shift of labels.

        Parameters
        ----------
        most : int
            The most rules to show.
        """
        from tamis.evaluate.picture import retention_picture

        return retention_picture(self, most)

    @property
    def wrong_released(self) -> float:
        return 1 - self.right_released

    @property
    def lost(self) -> int:
        return sum(change.fate == "lost" for change in self.rules)

    @property
    def emptied(self) -> int:
        return sum(change.fate == "emptied" for change in self.rules)

    @property
    def flipped(self) -> int:
        return sum(change.flipped for change in self.rules)

    @property
    def lost_share(self) -> float:
        return self.lost / len(self.rules)

    @property
    def lost_columns(self) -> tuple[str, ...]:
        """The columns that rules name and the release does not have."""
        return tuple(dict.fromkeys(c for change in self.rules for c in change.missing_columns))

    def headline(self) -> str:
        """What happened to the rules, in one sentence.

        Lost and emptied rules are named besides those that changed, since they predict nothing.
        """
        fates = [
            (self.flipped, "changed prediction"),
            (self.lost, "lost because a column was not released"),
            (self.emptied, "no longer matched by any row"),
        ]
        (most, what), *others = [fate for fate in fates if fate[0]] or fates[:1]
        words = [f"{most:,} of {len(self.rules):,} rules {what}"]
        return ", ".join(words + [f"{count:,} {what}" for count, what in others])

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, under stable names."""
        names = (
            "target reading rows_original rows_released rule_accuracy right_original "
            "right_released wrong_released rsd total_variation rld rld_floor re "
            "coverage_original coverage lost lost_share lost_columns emptied flipped"
        )
        figures = {name: getattr(self, name) for name in names.split()}
        figures["lost_columns"] = list(self.lost_columns)
        return {**figures, "own": dict(self.own), "rules": [c.to_dict() for c in self.rules]}


def retention(
    rules: RuleSet | str,
    original: Any,
    released: Any,
    *,
    target: str | None = None,
    reading: Reading = "pairs",
    default: str | None = None,
    weights: Weights = "equal",
    least_support: int = LEAST_SUPPORT,
    measures: Mapping[str, OwnMeasure] | None = None,
    memory: int = MEMORY,
    coarser: Mapping[str, ValueLabels] | None = None,
) -> Retention:
    """Measure how well the rules of the original hold in a release.

    Parameters
    ----------
    rules : RuleSet or text
        Rules found in the original, or written by hand.
    original, released : Table or frame
        A column of a rule that the original lacks is an error; one that the release lacks
        makes the rule lost. A missing cell matches no condition.
    target : str, optional
        The label column; by default that of the table, else of the rules.
    reading : {"pairs", "first", "default"}
        How rules that overlap or miss rows are read for the share of correct predictions:
        over all matches; each row by its first rule, rows without one counting as wrong; or these
        predicted to have the label `default` (`None`: the most common of the original).
    weights : {"equal", "support"} or list of float
        The weight of each rule in the means.
    least_support : int
        Rules with fewer rows in the original are left out of RLD, and of RLD only.
    measures : mapping of name to function, optional
        Custom measures, each a function of the two matrices of counts, rules x labels.
    memory : int
        The most bytes to use while counting.
    coarser : mapping of column to ValueLabels, optional
        For columns released in a coarser form, the label of each value; see `coarse_rules`.

    Returns
    -------
    Retention

    Notes
    -----
    Fletcher and Islam (2017), equations 1 to 4.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [25, 35, 45, 55], "ill": ["no", "no", "yes", "yes"]})
    >>> released = pl.DataFrame({"age": [25, 55, 45, 35], "ill": ["no", "no", "yes", "yes"]})
    >>> kept = retention("age > 40 -> ill=yes", original, released)
    >>> kept.rule_accuracy, kept.rsd
    (0.5, 0.0)
    """
    if isinstance(rules, str):
        rules = RuleSet.parse(rules)
    _check_reading(reading, least_support)
    base = baseline(
        rules,
        original,
        target,
        weights=weights,
        first_match=reading != "pairs",
        memory=memory,
    )
    return measured(base, released, reading, default, least_support, measures, coarser)


def measured(
    base: Baseline,
    released: Any,
    reading: Reading = "pairs",
    default: str | None = None,
    least_support: int = LEAST_SUPPORT,
    measures: Mapping[str, OwnMeasure] | None = None,
    coarser: Mapping[str, ValueLabels] | None = None,
) -> Retention:
    """The retention of one release, when the original has already been counted."""
    comparison = base.compare(released, coarser)
    fallback = _position(comparison, default)
    before, after = right_shares(comparison, reading, fallback)
    return Retention(
        target=base.target,
        reading=reading,
        rows_original=comparison.before.rows,
        rows_released=comparison.after.rows,
        rule_accuracy=abs(before - after),
        right_original=before,
        right_released=after,
        rsd=rsd(comparison),
        total_variation=total_variation(comparison),
        rld=_known(rld(comparison, least_support)),
        rld_floor=_known(rld_floor(comparison, least_support)),
        re=_known(relative_error(comparison)),
        coverage_original=comparison.before.coverage,
        coverage=comparison.after.coverage,
        rules=rule_changes(comparison, polars_frame_of(released).columns),
        own=_own(comparison, measures or {}),
    )


def _check_reading(reading: str, least_support: int) -> None:
    if reading not in ("pairs", "first", "default"):
        raise InputError(f"reading must be 'pairs', 'first' or 'default', got {reading!r}")
    if least_support < 0:
        raise InputError(f"least_support must be at least 0 rows, got {least_support}")


def _position(comparison: Comparison, label: str | None) -> int | None:
    if label is None:
        return None
    if label not in comparison.before.labels:
        raise InputError("the target of the original does not contain the default label")
    return comparison.before.labels.index(label)


def _own(comparison: Comparison, measures: Mapping[str, OwnMeasure]) -> dict[str, float]:
    matrices = (comparison.before.by_label, comparison.after.by_label)
    # Copies, so that a user's measure cannot affect the next one.
    return {name: float(f(*(m.copy() for m in matrices))) for name, f in measures.items()}


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None
