"""Which rules matter: by support, by confidence, or by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from tamis.errors import CannotMeet, InputError, listed
from tamis.rules.bind import holds, known_value, refuse_unfit
from tamis.rules.count import count
from tamis.rules.ruleset import RuleSet


def kept_rules(
    rules: RuleSet,
    frame: pl.DataFrame,
    target: str,
    *,
    min_support: float = 0.0,
    min_confidence: float = 0.0,
    only: Sequence[str] | None = None,
) -> RuleSet:
    """The rules that enough rows of a table meet and follow, or that are named.

    Parameters
    ----------
    min_support : float
        The least share of rows that meet a rule.
    min_confidence : float
        The least share of these that have the label it predicts.
    only : list of str, optional
        The ids of the rules to keep.

    Examples
    --------
    >>> rules = RuleSet.parse("a > 0 -> y=1\\na > 2 -> y=0")
    >>> frame = pl.DataFrame({"a": [1, 2, 3], "y": [1, 1, 1]})
    >>> kept_rules(rules, frame, "y", min_support=0.5).to_text()
    'r1: a > 0 -> y=1'
    """
    for name, share in (("min_support", min_support), ("min_confidence", min_confidence)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} is a share between 0 and 1, got {share:g}")
    wanted = _named(rules, only)
    if min_support or min_confidence:
        wanted &= _strong(rules, frame, target, min_support, min_confidence)
    if not wanted.any():
        raise CannotMeet(
            f"none of the {len(rules)} rules has a support of {min_support:g} and a confidence of "
            f"{min_confidence:g}; ask for less"
        )
    # A rule without an id keeps the name that its old place gave it.
    named = [replace(rule, id=name) for rule, name in zip(rules, rules.ids)]
    return RuleSet([rule for rule, keep in zip(named, wanted) if keep], rules.target)


def _named(rules: RuleSet, only: Sequence[str] | None) -> np.ndarray:
    if only is None:
        return np.ones(len(rules), dtype=bool)
    unknown = [name for name in only if name not in rules.ids]
    if unknown:
        raise InputError(f"no rule {listed(unknown)}; the rules are {listed(rules.ids)}")
    return np.array([name in set(only) for name in rules.ids])


def _strong(
    rules: RuleSet, frame: pl.DataFrame, target: str, support: float, confidence: float
) -> np.ndarray:
    refuse_unfit(rules, frame, "the original")
    counts = count(rules, frame, target)
    held = holds(frame.schema[target])
    position = {label: i for i, label in enumerate(counts.labels)}
    at = np.array([position.get(known_value(r.label, held) or "", -1) for r in rules])
    right = np.where(at >= 0, counts.by_label[np.arange(len(rules)), at], 0)
    enough = counts.support >= support * counts.rows
    return enough & (right >= confidence * counts.support) & (counts.support > 0)
