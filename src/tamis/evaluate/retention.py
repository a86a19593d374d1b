"""How much of the original's rules a release retains, in figures and in a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from numpy.typing import NDArray

from tamis.charts import BLUE, INK, ORANGE, RED, SOFT, Axes, Picture, Scale, percentage, shortened
from tamis.errors import InputError, listed
from tamis.evaluate.rule_changes import (
    Baseline,
    Comparison,
    Reading,
    RuleChange,
    Weights,
    baseline,
)
from tamis.evaluate.rule_measure import (
    LEAST_SUPPORT,
    RE,
    RSD,
    TOTAL_VARIATION,
    RuleMeasure,
    noise_floor,
    rld,
    rule_accuracy,
    supported,
)
from tamis.notebook import in_short
from tamis.rules.count import MEMORY, ValueLabels
from tamis.rules.ruleset import RuleSet

OwnMeasures = Iterable[RuleMeasure] | Mapping[str, Callable[[NDArray[Any], NDArray[Any]], float]]
"""Your own measures; as a mapping, functions of the two matrices of counts, rules x labels."""


@dataclass(frozen=True)
class Retention:
    """How much of a set of rules a release keeps. All distances are 0 if nothing changed.

    Attributes
    ----------
    rules : tuple of RuleChange
        What happened to each rule, the worst first.
    rule_accuracy : float
        The absolute difference between `right_original` and `right_released`, the shares of correct
        predictions in the two tables; `wrong_released` is one minus the latter.
    rsd, total_variation : float
        The mean change in a rule's support, and half the sum of the changes.
    rld, rld_floor : float or None
        The mean distance of a rule's label shares, and what chance alone would give.
    re : float or None
        The mean relative change of support.
    coverage_original, coverage : float
        The share of rows that match some rule, in the original and in the release.
    lost, emptied, flipped : int
        Numbers of rules that name a column the release does not have, that no row matches any
        more, and whose most common label has changed.
    own : dict of name to float
        Totals of further measures; `rules` has the values of each rule.
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
    own: Mapping[str, float | None] = field(default_factory=dict)

    def __repr__(self) -> str:
        return in_short(
            self,
            self.headline(),
            f"Rule Accuracy {self.rule_accuracy:.4g}",
            f"RSD {self.rsd:.4g}",
            None if self.rld is None else f"RLD {self.rld:.4g}",
        )

    def plot(self, most: int = 40) -> Picture:
        """Draw each rule's support before and after and its shift of labels, the worst first.

        Parameters
        ----------
        most : int
            The most rules to show.
        """
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
        """Columns that rules name but the release lacks."""
        return tuple(dict.fromkeys(c for change in self.rules for c in change.missing_columns))

    def headline(self) -> str:
        """What happened to the rules, in one sentence.

        Lost and emptied rules are counted apart from those that changed: they predict nothing.
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
    measures: OwnMeasures = (),
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
    measures : sequence of RuleMeasure, optional
        Further measures: your own, designed for what your recipients read in a rule. Or a mapping
        of names to functions of the two matrices of counts, rules x labels, that give one number.
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
    check_reading(reading, least_support)
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
    measures: OwnMeasures = (),
    coarser: Mapping[str, ValueLabels] | None = None,
) -> Retention:
    """Retention of one release, given the counts of the original."""
    comparison = base.compare(released, coarser)
    fallback = _position(comparison, default)
    before, after = comparison.right_shares(reading, fallback)
    further = own_measures(measures)
    return Retention(
        target=base.target,
        reading=reading,
        rows_original=comparison.before.rows,
        rows_released=comparison.after.rows,
        rule_accuracy=comparison.total(rule_accuracy(reading, fallback)) or 0.0,
        right_original=before,
        right_released=after,
        rsd=comparison.total(RSD) or 0.0,
        total_variation=comparison.total(TOTAL_VARIATION) or 0.0,
        rld=comparison.total(rld(least_support)),
        rld_floor=comparison.total(supported("rld_floor", noise_floor, least_support)),
        re=comparison.total(RE),
        coverage_original=comparison.before.coverage,
        coverage=comparison.after.coverage,
        rules=comparison.changes(further),
        own={measure.name: comparison.total(measure) for measure in further},
    )


def check_reading(reading: str, least_support: int) -> None:
    """Raise for an unknown reading or a negative support."""
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


def own_measures(measures: OwnMeasures) -> tuple[RuleMeasure, ...]:
    """Further measures as records; raise if names repeat or are taken."""
    if isinstance(measures, Mapping):
        records = [
            RuleMeasure(n, "min", lambda _: None, _of_matrices(f)) for n, f in measures.items()
        ]
    else:
        records = list(measures)
    names = [measure.name for measure in records]
    if len(set(names)) < len(names) or set(names) & set(RULE_MEASURES):
        raise InputError(
            "measures of rules need names of their own, different from "
            f"{listed(RULE_MEASURES)}, got {listed(names)}"
        )
    return tuple(records)


def limited_measures(
    limits: Mapping[str, float], further: Iterable[RuleMeasure]
) -> dict[RuleMeasure, float]:
    """Limits by measure instead of by name, among the built-in and further measures."""
    known = {**RULE_MEASURES, **{measure.name: measure for measure in own_measures(further)}}
    if unknown := [name for name in limits if name not in known]:
        raise InputError(
            f"there is no measure {listed(unknown)} of rules to limit; there are {listed(known)}"
        )
    for name, bound in limits.items():
        if not math.isfinite(bound):
            raise InputError(f"the limit on {name} must be a finite number, got {bound:g}")
    return {known[name]: bound for name, bound in limits.items()}


def _of_matrices(
    function: Callable[[NDArray[Any], NDArray[Any]], float],
) -> Callable[[Any, Comparison], float]:
    def total(_: Any, comparison: Comparison) -> float:
        # Copies, so that a user's measure cannot affect the next one.
        before, after = (c.by_label.copy() for c in (comparison.before, comparison.after))
        return float(function(before, after))

    return total


RULE_MEASURES = {m.name: m for m in (rule_accuracy(), RSD, TOTAL_VARIATION, rld(), RE)}
"""The built-in measures by name, which are always taken."""


_WIDTH, _TOP, _LINE, _FOOT = 1160, 128, 38, 24
_TEXT, _SUPPORT, _SHIFT = 24, (580, 840), (890, 1110)
_LETTERS = 78
"""The number of letters that fit on each of the two lines of a rule."""


def retention_picture(kept: Retention, most: int = 40) -> Picture:
    """Draw one line per rule, the worst first, at most `most` of them.

    On the left, the support before (ring) and after (dot) as shares of all rows; on the right, the
    distance of the label shares as a bar, with a tick at what chance alone would give.
    """
    if most < 1:
        raise InputError(f"a picture must show at least one rule, got {most}")
    shown = kept.rules[:most]
    foot = _TOP + _LINE * len(shown)
    headline = kept.headline()
    picture = Picture(_WIDTH, foot + _FOOT, headline, _description(kept, len(shown)))
    picture.heading(_TEXT, 34, headline, size=20)
    picture.text(_TEXT, 58, _subtitle(kept, len(shown)), size=13, fill=SOFT)
    largest = max((max(c.share_before, c.share_after) for c in shown), default=0.0)
    of_support = Axes(picture, *_SUPPORT, _TOP - 8, foot)
    of_shift = Axes(picture, *_SHIFT, _TOP - 8, foot)
    support, shift = of_support.across(0.0, largest or 1.0), of_shift.across(0.0, 1.0)
    _heads(picture)
    of_support.columns(support, support.ticks(4), percentage, above=True)
    of_shift.columns(shift, shift.ticks(4), above=True)
    for i, change in enumerate(shown):
        _rule(picture, change, _TOP + _LINE * (i + 0.5), support, shift)
    return picture


def _subtitle(kept: Retention, shown: int) -> str:
    rows = f"{kept.rows_original:,} original rows, {kept.rows_released:,} released"
    few = f"; the {shown} worst of {len(kept.rules):,} rules" if shown < len(kept.rules) else ""
    return rows + few


def _description(kept: Retention, shown: int) -> str:
    worst = kept.rules[0]
    return (
        f"{_subtitle(kept, shown)}. For each rule, the share of rows that match it before and "
        "after, "
        f"and the distance of its labels from 0 to 1. The worst is {worst.text}: "
        f"{worst.support_before:,} rows before, {worst.support_after:,} after."
    )


def _heads(picture: Picture) -> None:
    picture.heading(_TEXT, 92, "rule, the worst first", size=13)
    picture.heading(_SUPPORT[0], 92, "share of rows", size=13)
    picture.circle(_SUPPORT[0] + 122, 88, 5, fill="#ffffff", stroke=BLUE, stroke_width=2)
    picture.text(_SUPPORT[0] + 132, 92, "before", size=12, fill=SOFT)
    picture.circle(_SUPPORT[0] + 190, 88, 5, fill=BLUE)
    picture.text(_SUPPORT[0] + 200, 92, "after", size=12, fill=SOFT)
    picture.heading(_SHIFT[0], 92, "shift of labels", size=13)
    picture.line(_SHIFT[0] + 116, 82, _SHIFT[0] + 116, 94, stroke=INK, stroke_width=2)
    picture.text(_SHIFT[0] + 124, 92, "expected by chance", size=12, fill=SOFT)


def _rule(picture: Picture, change: RuleChange, y: float, support: Scale, shift: Scale) -> None:
    fill = RED if change.fate != "kept" or change.flipped else INK
    lines = _two_lines(f"{change.id}: {change.text}")
    for i, words in enumerate(lines):
        picture.text(_TEXT, y + 11 - 7 * len(lines) + 14 * i, words, size=12, fill=fill)
    before, after = support(change.share_before), support(change.share_after)
    picture.line(before, y, after, y, stroke=BLUE, stroke_width=2, opacity=0.45)
    picture.circle(
        before,
        y,
        5,
        tip=f"before: {change.support_before:,} rows",
        fill="#ffffff",
        stroke=BLUE,
        stroke_width=2,
    )
    if change.fate == "kept":
        picture.circle(after, y, 5, tip=f"after: {change.support_after:,} rows", fill=BLUE)
    _shift(picture, change, y, shift)


def _two_lines(words: str) -> list[str]:
    lines = wrap(words, _LETTERS, break_on_hyphens=False)
    return lines if len(lines) < 3 else [lines[0], shortened(" ".join(lines[1:]), _LETTERS)]


def _shift(picture: Picture, change: RuleChange, y: float, shift: Scale) -> None:
    start = shift(0.0)
    if change.fate != "kept":
        words = "lost: no column " if change.fate == "lost" else "no row left"
        names = ", ".join(change.missing_columns)
        picture.text(start + 4, y + 4, shortened(words + names, 34), size=12, fill=RED)
        return
    if change.distance is None:
        picture.text(start + 4, y + 4, "no row before", size=12, fill=SOFT)
        return
    end = shift(change.distance)
    picture.rect(start, y - 6, end - start, 12, fill=RED if change.flipped else ORANGE)
    if change.floor is not None:
        chance = shift(min(change.floor, 1.0))
        picture.line(chance, y - 9, chance, y + 9, stroke=INK, stroke_width=2)
    if change.flipped:
        words = f"{change.majority_before} → {change.majority_after}"
        # Beside the bar if there is room, else on it.
        room = end < (shift.start + shift.stop) / 2
        picture.text(
            end + 6 if room else start + 6,
            y + 4,
            shortened(words, 24 if room else 20),
            size=11,
            fill=RED if room else "#ffffff",
        )
