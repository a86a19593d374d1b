"""What one rung up or down the ladder of a column would cost and gain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tamis.coarsen.ladder import Ladder
from tamis.evaluate.evaluator import Assessment, Evaluator
from tamis.evaluate.yardstick import Compared
from tamis.release import Coarsening, Release
from tamis.table import Table, only

MOST = 8
"""So many columns are looked at, by their names: each takes two fits."""


@dataclass(frozen=True)
class NeighbourRung:
    """A release with one column a rung finer or coarser.

    Parameters
    ----------
    level : int
        Of the column's ladder: 0 is the column as it is, the last one leaves it out.
    words : str
        How to read the column there.
    kept, told : float
        What the release would keep more of the target and tell more of the sensitive column, as
        shares of what all columns do; below 0 where it would be less.
    allowed : bool
        Whether people alike would still be as many, and as diverse, as was asked for.
    """

    level: int
    words: str
    kept: float
    told: float
    allowed: bool


def neighbour_rungs(
    evaluator: Evaluator, compared: Compared, release: Release, k: int
) -> dict[str, list[NeighbourRung]]:
    """The next finer and the next coarser rung of each column in a coarser form.

    Measured on the rows to report on, in comparison with the release itself.

    Parameters
    ----------
    evaluator : Evaluator
    compared : Compared
        What releases of this table keep and tell.
    release : Release
    k : int
        The fewest people alike.
    """
    found: dict[str, list[NeighbourRung]] = {}
    few, whole = evaluator.suppression, release.whole or release
    for name in sorted(release.forms)[:MOST]:
        form = release.forms[name]
        ladder = Ladder.from_dict(name, form.ladder)
        found[name] = []
        for level in (form.level - 1, form.level + 1):
            other = _moved(evaluator.original, whole, ladder, level)
            other = other if few is None else few.trimmed(other)
            kept, told = _beyond(evaluator, compared, release, other)
            allowed = _allowed(Assessment(evaluator, other), k)
            found[name].append(NeighbourRung(level, ladder.words(level), kept, told, allowed))
    return found


def _beyond(
    evaluator: Evaluator, compared: Compared, release: Release, other: Release
) -> tuple[float, float]:
    """What another release keeps and tells beyond this one."""
    yardstick, measured = evaluator.yardstick, compared.reporting
    tables = (yardstick.bits(each, yardstick.reporting) for each in (release, other))
    (kept, told), (more_kept, more_told) = (bits.score(columns) for bits, columns in tables)
    return (
        (more_kept - kept) / measured.target_scale if measured.teaches else 0.0,
        (more_told - told) / measured.secret_scale if measured.tells else 0.0,
    )


def _allowed(other: Assessment, k: int) -> bool:
    return (other.k_anonymity or 0) >= k and not other.lacks


def _moved(original: Table, release: Release, ladder: Ladder, level: int) -> Release:
    """The release with one column at another level."""
    name, table = ladder.column, release.table
    forms = {c: form for c, form in release.forms.items() if c != name}
    if level == ladder.top:
        roles = replace(table.roles, quasi=_without(table.roles.quasi, name))
        rest = [column for column in table.frame.columns if column != name]
        rows = Table(only(table.frame, rest), roles)
    else:
        cells = ladder.apply(original.frame[name], level)
        rows = Table(table.frame.with_columns(cells.alias(name)), table.roles)
        if level:
            forms[name] = Coarsening(release.forms[name].ladder, level)
    return replace(release, table=rows, forms=forms, promises=())


def _without(names: tuple[str, ...] | None, name: str) -> tuple[str, ...] | None:
    return None if names is None else tuple(c for c in names if c != name)
