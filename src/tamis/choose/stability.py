"""How often the same choice comes out when only the folds are drawn anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tamis.errors import InputError

Subset = tuple[str, ...]


@dataclass(frozen=True)
class Steadiness:
    """One set of features over many runs: the shares of runs that found it, and that chose it."""

    features: Subset
    found: float
    won: float


def stability(runs: Iterable[tuple[Collection[Subset], Subset]]) -> list[Steadiness]:
    """Count over runs how often each set of features is found and wins.

    Parameters
    ----------
    runs : iterable of (candidates, winner)
        Each set of features as a tuple of names, in the same order in every run.

    Returns
    -------
    list of Steadiness
        Most wins first, then most often found.

    Examples
    --------
    >>> a, b = ("age",), ("age", "job")
    >>> stability([([a, b], a), ([a], a), ([b], b), ([a, b], a)])
    [Steadiness(features=('age',), found=0.75, won=0.75),
     Steadiness(features=('age', 'job'), found=0.75, won=0.25)]
    """
    seen = list(runs)
    if not seen:
        raise InputError("stability needs at least one run")
    found = Counter(subset for candidates, _ in seen for subset in set(candidates))
    won = Counter(winner for _, winner in seen)
    every = [
        Steadiness(subset, found[subset] / len(seen), won[subset] / len(seen)) for subset in found
    ]
    return sorted(every, key=lambda s: (-s.won, -s.found, len(s.features), s.features))
