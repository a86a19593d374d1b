"""One rule: conditions that must all hold, and the label they predict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tamis.errors import InputError
from tamis.rules.condition import Condition


@dataclass(frozen=True)
class Rule:
    """Conditions -> label.

    Parameters
    ----------
    conditions : iterable of Between or OneOf
        All must hold. None at all: the rule holds for every row.
    label : str, optional
        The label predicted. `None`: the likeliest of the distribution.
    distribution : mapping of label to share, optional
        How likely each label is; the shares add up to 1.
    id : str, optional
        A name for reports.

    Examples
    --------
    >>> from tamis.rules.condition import Between
    >>> rule = Rule([Between("age", low=40.5)], distribution={"no": 0.25, "yes": 0.75})
    >>> rule.label
    'yes'
    """

    conditions: tuple[Condition, ...]
    label: str = ""
    distribution: tuple[tuple[str, float], ...] | None = None
    id: str | None = None

    def __init__(
        self,
        conditions: Iterable[Condition],
        label: str | None = None,
        distribution: Mapping[str, float] | Iterable[tuple[str, float]] | None = None,
        id: str | None = None,
    ) -> None:
        shares = None if distribution is None else _shares(dict(distribution))
        if shares is not None:
            # The first of equally likely labels, so that a rule always predicts the same.
            likeliest = max(shares, key=lambda item: item[1])[0]
            if label not in (None, likeliest):
                raise InputError("a rule predicts the likeliest label of its distribution")
            label = likeliest
        if label is None:
            raise InputError("a rule predicts a label or a distribution of labels; give one")
        object.__setattr__(self, "conditions", tuple(conditions))
        object.__setattr__(self, "label", str(label))
        object.__setattr__(self, "distribution", shares)
        object.__setattr__(self, "id", id)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(c.column for c in self.conditions))


def _shares(distribution: dict[str, float]) -> tuple[tuple[str, float], ...]:
    shares = tuple((str(label), float(share)) for label, share in distribution.items())
    total = sum(share for _, share in shares)
    # Shares copied from print carry two decimals, hence the tolerance.
    if not shares or min(s for _, s in shares) < 0 or not math.isclose(total, 1, abs_tol=0.011):
        raise InputError(f"the shares of a rule's labels must add up to 1, got {total:g}")
    return shares
