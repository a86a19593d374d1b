"""Rules counted in the original and in a release, and what happened to each.

The original is counted once, as a `Baseline`; every release is then compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, plural
from tamis.evaluate.rule_measure import (
    CountedRule,
    RuleMeasure,
    label_distance,
    noise_floor,
)
from tamis.notebook import by_fields, in_short, quoted
from tamis.read import polars_frame
from tamis.rules.count import (
    MEMORY,
    Counts,
    Matrix,
    ValueLabels,
    coarse_rules,
    count_rules,
    predicted_labels,
    table_labels,
)
from tamis.rules.grammar import rule_text
from tamis.rules.rule import Rule
from tamis.rules.ruleset import RuleSet, holds, known_value, refuse_other_types, refuse_unfit
from tamis.table import Table, only

Weights = Literal["equal", "support"] | Sequence[float]
Reading = Literal["pairs", "first", "default"]
"""How overlapping and incomplete rules are read for the share of correct predictions.

`"pairs"`: over all pairs of a row and a rule that it matches, which does not depend on the order of
the rules. `"first"`: each row by its first rule; a row that matches none counts as wrong.
`"default"`: like `"first"`, but such a row is predicted to have a default label. On the leaves of a
tree all readings agree: they are the alpha of the paper.
"""
Fate = Literal["kept", "emptied", "lost"]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class RuleChange:
    """One rule in the original and in the release.

    Attributes
    ----------
    id, text : str
        The name and the wording of the rule.
    predicts : str
        The label that the rule itself states.
    fate : {"kept", "emptied", "lost"}
        Emptied: rows matched it before and none does now. Lost: it names a column of
        `missing_columns`, which the release does not have.
    support_before, support_after : int
        Rows that match it.
    share_before, share_after : float
        The support as a share of all rows.
    labels_before, labels_after : dict of label to share
        Empty if no row matches it.
    distance, floor : float or None
        The chi-squared distance between the two, and the distance expected by chance.
    majority_before, majority_after : str or None
        The most common label; after, a tie keeps the label from before.
    flipped : bool
        Whether the most common label has changed.
    """

    id: str
    text: str
    predicts: str
    fate: Fate
    missing_columns: tuple[str, ...]
    support_before: int
    support_after: int
    share_before: float
    share_after: float
    labels_before: dict[str, float]
    labels_after: dict[str, float]
    distance: float | None
    floor: float | None
    majority_before: str | None
    majority_after: str | None
    flipped: bool
    own: Mapping[str, float | None] = field(default_factory=dict)
    """The value of each further measure."""

    def __repr__(self) -> str:
        support = f"support {self.support_before:,} before, {self.support_after:,} after"
        return in_short(self, quoted(self.id), self.fate, support)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def damage(self) -> tuple[float, ...]:
        """Sort key: lost, emptied, flipped, then the distance of labels and of support."""
        moved = abs(self.share_before - self.share_after)
        fates = (self.fate == "lost", self.fate == "emptied", self.flipped)
        return (*fates, self.distance or 0.0, moved)


@dataclass(frozen=True)
class Comparison:
    """Counts of rules by labels, before and after, from which measures are taken.

    Attributes
    ----------
    rules : RuleSet
    before, after : Counts
        Counts in the original and in the release, over the same labels.
    columns : tuple of str
        The release's columns: rules that name others are lost.
    predicted : array of int
        The position of the label that each rule predicts.
    weights : array of float
        The weight of each rule in a mean; they add up to 1.

    Notes
    -----
    Fletcher and Islam (2017), equations 1 to 4.
    """

    rules: RuleSet
    before: Counts
    after: Counts
    columns: tuple[str, ...]
    predicted: NDArray[np.int64]
    weights: Shares

    __repr__ = by_fields

    def right_shares(self, reading: Reading, default: int | None) -> tuple[float, float]:
        """Share of correct predictions in the original and in the release; 0 without matches.

        `default` is the position of the label for rows without a rule; `None`: the most common
        label of the original. These are the two alphas of equation 1, whose absolute difference is
        Rule Accuracy.
        """
        label = int(np.argmax(self.before.totals)) if default is None else default
        before, after = (
            self._right_share(counts, reading, label) for counts in (self.before, self.after)
        )
        return before, after

    def _right_share(self, counts: Counts, reading: Reading, default: int) -> float:
        rows = np.arange(len(self.predicted))
        if reading == "pairs":
            met = float(self.weights @ counts.support)
            right = float(self.weights @ counts.by_label[rows, self.predicted])
            return right / met if met else 0.0
        if counts.first is None:
            raise InputError(f"the reading {reading!r} needs the counts of first matches")
        right = int(counts.first[rows, self.predicted].sum())
        if reading == "default":
            right += int((counts.totals - counts.covered)[default])
        return right / counts.rows if counts.rows else 0.0

    @cached_property
    def counted(self) -> tuple[CountedRule, ...]:
        """Every rule with its counts, in the order of the rules."""
        known = set(self.columns)
        before, after = (c.by_label.tolist() for c in (self.before, self.after))
        return tuple(
            CountedRule(
                id=name,
                rule=rule,
                labels=self.before.labels,
                predicted=int(self.predicted[i]),
                before=tuple(before[i]),
                after=tuple(after[i]),
                rows_original=self.before.rows,
                rows_released=self.after.rows,
                weight=float(self.weights[i]),
                lost=not known.issuperset(rule.columns),
            )
            for i, (name, rule) in enumerate(zip(self.rules.ids, self.rules))
        )

    def total(self, measure: RuleMeasure) -> float | None:
        """The total of a measure over all rules."""
        return measure.total(measure.of_each(self.counted), self)

    def changes(self, measures: Sequence[RuleMeasure] = ()) -> tuple[RuleChange, ...]:
        """Every rule before and after, sorted by damage; ties keep the order of the rules."""
        known = set(self.columns)
        own = {measure.name: measure.of_each(self.counted) for measure in measures}
        changes = []
        for i, rule in enumerate(self.counted):
            majorities = _majorities(rule)
            emptied = rule.support_before and not rule.support_after
            changes.append(
                RuleChange(
                    id=rule.id,
                    text=rule_text(replace(rule.rule, id=None), self.rules.target),
                    predicts=rule.rule.label,
                    fate="lost" if rule.lost else "emptied" if emptied else "kept",
                    missing_columns=tuple(c for c in rule.rule.columns if c not in known),
                    support_before=rule.support_before,
                    support_after=rule.support_after,
                    share_before=rule.share_before,
                    share_after=rule.share_after,
                    labels_before=dict(zip(rule.labels, rule.labels_before)),
                    labels_after=dict(zip(rule.labels, rule.labels_after)),
                    distance=label_distance(rule),
                    floor=noise_floor(rule),
                    majority_before=majorities[0],
                    majority_after=majorities[1],
                    flipped=None not in majorities and majorities[0] != majorities[1],
                    own={name: values[i] for name, values in own.items()},
                )
            )
        return tuple(sorted(changes, key=lambda change: change.damage, reverse=True))


def _majorities(rule: CountedRule) -> tuple[str | None, str | None]:
    """The most common label before and after; after, a tie keeps the label from before."""
    first = int(np.argmax(rule.before))
    second = first if rule.after[first] == max(rule.after) else int(np.argmax(rule.after))
    return (
        rule.labels[first] if rule.support_before else None,
        rule.labels[second] if rule.support_after else None,
    )


@dataclass(frozen=True)
class Baseline:
    """Rules counted in the original, ready to be compared with any release."""

    rules: RuleSet
    target: str
    frame: pl.DataFrame
    counts: Counts
    weights: NDArray[np.float64]
    memory: int = MEMORY

    __repr__ = by_fields

    def compare(
        self, released: Any, coarser: Mapping[str, ValueLabels] | None = None
    ) -> Comparison:
        """Count the rules in a release, whose columns may be generalised."""
        frame, coarser = polars_frame_of(released), coarser or {}
        refuse_without_target("release", frame, self.target)
        same = [column for column in self.rules.columns if column not in coarser]
        refuse_other_types((self.target, *same), self.frame, frame)
        new = [c for c in table_labels(frame, self.target) if c not in self.counts.labels]
        before = _widened(self.counts, new)
        after = count_rules(
            coarse_rules(self.rules, coarser),
            frame,
            self.target,
            labels=before.labels,
            memory=self.memory,
            first_match=before.first is not None,
        )
        predicted = _predicted(self.rules, self.frame, self.target, before.labels)
        columns = tuple(frame.columns)
        return Comparison(self.rules, before, after, columns, predicted, self.weights)


def baseline(
    rules: RuleSet,
    original: Any,
    target: str | None = None,
    *,
    labels: Sequence[str] | None = None,
    weights: Weights = "equal",
    first_match: bool = False,
    memory: int = MEMORY,
) -> Baseline:
    """Check the rules against the original and count them there.

    If the original is part of a table, `labels` are those of the whole table.

    >>> frame = pl.DataFrame({"age": [30, 50], "ill": ["no", "yes"]})
    >>> baseline(RuleSet.parse("age > 40 -> ill=yes"), frame).counts.by_label.tolist()
    [[0, 1]]
    """
    target = target_of(rules, original, target)
    frame = polars_frame_of(original)
    refuse_without_target("original", frame, target)
    if not frame.height:
        raise InputError("the original has no rows, so no rule can be counted in it")
    refuse_unfit(rules, frame, "the original")
    labels = table_labels(frame, target) if labels is None else labels
    _predicted(rules, frame, target, labels)
    counts = count_rules(
        rules, frame, target, labels=labels, memory=memory, first_match=first_match
    )
    used = [target, *(c for c in rules.columns if c != target)]
    shares = _weights(weights, counts.support)
    return Baseline(rules, target, only(frame, used), counts, shares, memory)


def target_of(rules: RuleSet | None, original: Any, target: str | None) -> str:
    """The target: the one given, else the table's, else the rules'; raise on a conflict."""
    of_table = original.roles.target if isinstance(original, Table) else None
    of_rules = None if rules is None else rules.target
    name = target or of_table or of_rules
    if name is None:
        raise InputError("name the target column with target=... or --target COL")
    if of_rules not in (None, name):
        raise InputError(f"the rules predict column {of_rules!r}, but the target is {name!r}")
    return name


def refuse_without_target(name: str, frame: pl.DataFrame, target: str) -> None:
    """Raise if a table, such as the release, lacks the target."""
    if target not in frame.columns:
        raise InputError(
            f"the {name} has no column {target!r}, the target; its columns are "
            f"{listed(frame.columns, most=30)}"
        )


def polars_frame_of(data: Any) -> pl.DataFrame:
    """A `Table` or any frame as a polars frame."""
    return data.frame if isinstance(data, Table) else polars_frame(data)


def _predicted(
    rules: RuleSet, frame: pl.DataFrame, target: str, labels: Sequence[str]
) -> NDArray[np.int64]:
    held = holds(frame.schema[target])
    predicted = predicted_labels(rules, held, labels)
    unknown = [
        name
        for name, rule, at in zip(rules.ids, rules, predicted)
        if at < 0 or any(known_value(c, held) not in labels for c in _likely(rule))
    ]
    if unknown:
        raise InputError(
            f"rule {listed(unknown)} predicts a label that column {target!r} of the original does "
            f"not contain; after '->' write the label exactly as in the table, without a comment"
        )
    return predicted


def _likely(rule: Rule) -> list[str]:
    return [label for label, share in rule.distribution or () if share > 0]


def _weights(weights: Weights, support: Matrix) -> NDArray[np.float64]:
    if isinstance(weights, str):
        if weights not in ("equal", "support"):
            raise InputError(f"weights must be 'equal', 'support' or a list, got {weights!r}")
        raw = np.ones(len(support)) if weights == "equal" else support.astype(np.float64)
    else:
        raw = np.asarray(weights, dtype=np.float64)
        if raw.shape != support.shape:
            raise InputError(
                f"expected {plural(len(support), 'weight')}, one per rule, got {raw.size}"
            )
    if not np.isfinite(raw).all() or (raw < 0).any() or not raw.any():
        raise InputError("weights must be numbers of at least 0, with at least one above 0")
    shares: NDArray[np.float64] = raw / raw.sum()
    return shares


def _widened(counts: Counts, labels: Sequence[str]) -> Counts:
    """Counts padded with zeros for labels that only a release has."""
    if not labels:
        return counts
    width = len(labels)
    return replace(
        counts,
        labels=(*counts.labels, *labels),
        by_label=np.pad(counts.by_label, ((0, 0), (0, width))),
        first=None if counts.first is None else np.pad(counts.first, ((0, 0), (0, width))),
        totals=np.pad(counts.totals, (0, width)),
        covered=np.pad(counts.covered, (0, width)),
    )
