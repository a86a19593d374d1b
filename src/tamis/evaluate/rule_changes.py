"""What became of each rule, the worst first."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from tamis.evaluate.comparison import Comparison
from tamis.evaluate.rule_measures import label_distances, label_shares, noise_floors
from tamis.rules.grammar import rule_text

Fate = Literal["kept", "emptied", "lost"]


@dataclass(frozen=True)
class RuleChange:
    """One rule before and after.

    Attributes
    ----------
    id, text : str
        The name and the wording of the rule.
    predicts : str
        The label that the rule itself states.
    fate : {"kept", "emptied", "lost"}
        Emptied: rows met it before and none does now. Lost: it names a column of
        `missing_columns`, which the release does not have.
    support_before, support_after : int
        Rows that meet it.
    share_before, share_after : float
        The same as shares of all rows.
    labels_before, labels_after : dict of label to share
        Empty where no row meets it.
    distance, floor : float or None
        The chi-squared distance between the two, and what chance alone would give.
    majority_before, majority_after : str or None
        The commonest label; of equally common ones, after, the one from before.
    flipped : bool
        Whether the commonest label is another one now.
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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def damage(self) -> tuple[float, ...]:
        """Sorts rules by how bad it is: lost, emptied, flipped, then by labels and support."""
        moved = abs(self.share_before - self.share_after)
        fates = (self.fate == "lost", self.fate == "emptied", self.flipped)
        return (*fates, self.distance or 0.0, moved)


def rule_changes(comparison: Comparison, released_columns: list[str]) -> tuple[RuleChange, ...]:
    """Every rule before and after, sorted by damage; ties keep the order of the rules."""
    distances, floors = label_distances(comparison), noise_floors(comparison)
    shares = [label_shares(c.by_label) for c in (comparison.before, comparison.after)]
    supports = [c.support.tolist() for c in (comparison.before, comparison.after)]
    known = set(released_columns)
    changes = []
    for i, (name, rule) in enumerate(zip(comparison.rules.ids, comparison.rules)):
        before, after = (support[i] for support in supports)
        majorities = _majorities(comparison, i)
        changes.append(
            RuleChange(
                id=name,
                text=_wording(comparison, i),
                predicts=rule.label,
                fate=_fate(bool(comparison.lost[i]), before, after),
                missing_columns=tuple(c for c in rule.columns if c not in known),
                support_before=before,
                support_after=after,
                share_before=before / comparison.before.rows,
                share_after=after / max(comparison.after.rows, 1),
                labels_before=_named(comparison.before.labels, shares[0][i]),
                labels_after=_named(comparison.after.labels, shares[1][i]),
                distance=_known(distances[i]),
                floor=_known(floors[i]),
                majority_before=majorities[0],
                majority_after=majorities[1],
                flipped=None not in majorities and majorities[0] != majorities[1],
            )
        )
    return tuple(sorted(changes, key=lambda change: change.damage, reverse=True))


def _wording(comparison: Comparison, position: int) -> str:
    return rule_text(replace(comparison.rules[position], id=None), comparison.rules.target)


def _fate(lost: bool, before: int, after: int) -> Fate:
    if lost:
        return "lost"
    return "emptied" if before and not after else "kept"


def _majorities(comparison: Comparison, position: int) -> tuple[str | None, str | None]:
    before, after = (c.by_label[position] for c in (comparison.before, comparison.after))
    labels = comparison.before.labels
    first = int(np.argmax(before))
    second = first if after[first] == after.max() else int(np.argmax(after))
    return (
        labels[first] if before.any() else None,
        labels[second] if after.any() else None,
    )


def _named(labels: tuple[str, ...], shares: np.ndarray) -> dict[str, float]:
    return {c: float(s) for c, s in zip(labels, shares) if np.isfinite(s)}


def _known(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
