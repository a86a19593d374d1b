"""The same rules counted in the original and in a release.

The original is counted once, as a `Baseline`; every release is then compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, plural
from tamis.notebook import by_fields
from tamis.read import polars_frame
from tamis.rules.bind import (
    ValueLabels,
    coarse_rules,
    holds,
    known_value,
    refuse_other_types,
    refuse_unfit,
)
from tamis.rules.count import MEMORY, Counts, Matrix, count_rules, table_labels
from tamis.rules.rule import Rule
from tamis.rules.ruleset import RuleSet
from tamis.table import Table, only

Weights = Literal["equal", "support"] | Sequence[float]


@dataclass(frozen=True)
class Comparison:
    """Rules x labels before and after, and what is needed to read the two matrices.

    Attributes
    ----------
    rules : RuleSet
    before, after : Counts
        Of the original and of the release, over the same labels.
    lost : array of bool
        Rules that name a column the release does not have.
    predicted : array of int
        The position of the label that each rule predicts.
    weights : array of float
        The weight of each rule in a mean; they add up to 1.
    """

    rules: RuleSet
    before: Counts
    after: Counts
    lost: NDArray[np.bool_]
    predicted: NDArray[np.int64]
    weights: NDArray[np.float64]

    __repr__ = by_fields


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
        """Count the rules in a release too, whose columns may be in a coarser form."""
        frame, coarser = polars_frame_of(released), coarser or {}
        refuse_without_target("release", frame, self.target)
        same = [column for column in self.rules.columns if column not in coarser]
        refuse_other_types((self.target, *same), self.frame, frame)
        new = [c for c in table_labels(frame, self.target) if c not in self.counts.labels]
        before = _widened(self.counts, new)
        first = before.first is not None
        after = count_rules(
            coarse_rules(self.rules, coarser),
            frame,
            self.target,
            labels=before.labels,
            memory=self.memory,
            first_match=first,
        )
        known = set(frame.columns)
        lost = np.array([not known.issuperset(rule.columns) for rule in self.rules])
        predicted = _predicted(self.rules, self.frame, self.target, before.labels)
        return Comparison(self.rules, before, after, lost, predicted, self.weights)


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

    Examples
    --------
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
    """The target as given, else of the table, else of the rules; they must not conflict."""
    of_table = original.roles.target if isinstance(original, Table) else None
    of_rules = None if rules is None else rules.target
    found = target or of_table or of_rules
    if found is None:
        raise InputError("name the target column with target=... or --target COL")
    if of_rules not in (None, found):
        raise InputError(f"the rules predict column {of_rules!r}, but the target is {found!r}")
    return found


def refuse_without_target(name: str, frame: pl.DataFrame, target: str) -> None:
    """An error where a table, such as the release, lacks the target."""
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
    position = {label: i for i, label in enumerate(labels)}
    found = [position.get(known_value(rule.label, held) or "", -1) for rule in rules]
    unknown = [
        name
        for name, rule, at in zip(rules.ids, rules, found)
        if at < 0 or any(known_value(c, held) not in position for c in _likely(rule))
    ]
    if unknown:
        raise InputError(
            f"rule {listed(unknown)} predicts a label that column {target!r} of the original does "
            f"not contain; after '->' write the label exactly as in the table, without a comment"
        )
    return np.array(found, dtype=np.int64)


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
    """The same counts with zeros for labels that only a release has."""
    if not labels:
        return counts
    more = len(labels)
    return replace(
        counts,
        labels=(*counts.labels, *labels),
        by_label=np.pad(counts.by_label, ((0, 0), (0, more))),
        first=None if counts.first is None else np.pad(counts.first, ((0, 0), (0, more))),
        totals=np.pad(counts.totals, (0, more)),
        covered=np.pad(counts.covered, (0, more)),
    )
