"""Requirements on releases: one class for each, used by every search, report and command.

The verifier does not import this package: it counts again by the definitions of `tamis.stated`.
"""

from __future__ import annotations

from typing import Any

from tamis.errors import InputError, did_you_mean, listed
from tamis.option import Option
from tamis.require.base import Requirement, Requirements
from tamis.require.diversity import AlphaShare, BetaLikeness, Closeness, DeltaDisclosure, Diversity
from tamis.require.k import AverageRisk, KAnonymity, KnownRows, MaxRisk

OF_GROUPS: tuple[type[Requirement], ...] = (
    KAnonymity,
    Diversity,
    Closeness,
    AlphaShare,
    BetaLikeness,
    DeltaDisclosure,
    MaxRisk,
    AverageRisk,
    KnownRows,
)
"""Requirements on equivalence classes; failures are reported in this order."""


def options_of_groups() -> dict[str, Option]:
    """The options of all requirements on groups, by their names in `Settings`."""
    return {option.dest: option for kind in OF_GROUPS for option in kind.options}


def requirements(k: int | None = 5, **asked: Any) -> Requirements:
    """Requirements on equivalence classes, by the names of `Settings` and the command line.

    Parameters
    ----------
    k : int, optional
        The fewest people in a class.
    **asked
        `l`, `l_kind`, `c`, `t`, `t_distance`, `alpha`, `beta`, `beta_kind`, `delta_disclosure`,
        `max_risk`, `max_average_risk`, `known_rows`; see `Settings`. `None` asks for nothing.

    Returns
    -------
    Requirements

    Examples
    --------
    >>> asked = requirements(3, t=0.2, max_risk=0.2)
    >>> asked.k, [each.key for each in asked]
    (5, ['k_anonymity', 't_closeness', 'max_risk'])
    """
    known = options_of_groups()
    if unknown := [name for name in asked if name not in known]:
        raise InputError(
            f"nothing called {listed(unknown)} can be required; known are {', '.join(known)}"
            f"{did_you_mean(unknown[0], known)}"
        )
    given = {name: option.default for name, option in known.items()} | asked | {"k": k}
    for name, value in given.items():
        if name != "k" or value is not None:
            known[name].check(value)
    return Requirements(
        tuple(
            kind(
                **{
                    o.dest: o.default if given[o.dest] is None else given[o.dest]
                    for o in kind.options
                }
            )
            for kind in OF_GROUPS
            if given[kind.options[0].dest] is not None
        )
    )
