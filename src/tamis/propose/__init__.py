"""Releases from every method that applies to a table.

A method has a name, says when it does not apply and why, and proposes releases; `METHODS` lists
them. A method chooses only by the rows that it may see, so that the rest can evaluate what it
found; anonymity holds over all rows, because all of them are released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.notebook import in_short
from tamis.propose.altered import Flip, Microaggregate, Noise, PostRandomise, Suppress, Swap
from tamis.propose.coarsen import Coarsen
from tamis.propose.containment import Containment
from tamis.propose.problem import Method, Problem
from tamis.propose.synthetic import Synthetic
from tamis.propose.unaltered import Breach, KeptToldFront
from tamis.release import Release

METHODS: dict[str, Callable[..., Method]] = {
    "front": KeptToldFront,
    "coarsen": Coarsen,
    "breach": Breach,
    "containment": Containment,
    "flip": Flip,
    "noise": Noise,
    "microaggregate": Microaggregate,
    "suppress": Suppress,
    "swap": Swap,
    "pram": PostRandomise,
    "dp": Synthetic,
}
BY_DEFAULT = ("front", "coarsen", "breach", "containment")
"""Methods that release unaltered values; those that alter them must be asked for."""


@dataclass(frozen=True)
class MethodReport:
    """What one method found: how many releases, or why none."""

    name: str
    found: int
    note: str

    @property
    def applied(self) -> bool:
        return self.found > 0


@dataclass(frozen=True, eq=False)
class Proposals:
    """The releases and what each method found; each set of unaltered columns occurs once."""

    releases: tuple[Release, ...]
    method_reports: tuple[MethodReport, ...]

    def __repr__(self) -> str:
        found = ", ".join(f"{report.found} from {report.name}" for report in self.method_reports)
        return in_short(self, plural(len(self.releases), "release"), found)


def methods(settings: Mapping[str, Mapping[str, Any]] | None = None) -> list[Method]:
    """Methods by name, with their settings; by default, those that alter no value.

    Examples
    --------
    >>> methods({"containment": {"utilities": ["distcnt"]}})
    [Containment(ks=(), utilities=('distcnt',))]
    """
    chosen = {name: {} for name in BY_DEFAULT} if settings is None else settings
    if unknown := [name for name in chosen if name not in METHODS]:
        raise InputError(f"no method {listed(unknown)}; there are {listed(METHODS)}")
    found: list[Method] = []
    for name, options in chosen.items():
        try:
            found.append(METHODS[name](**options))
        except TypeError:
            known = [field.name for field in fields(METHODS[name])]  # type: ignore[arg-type]
            raise InputError(f"[{name}] takes {listed(known)}, got {listed(options)}") from None
    return found


def propose(
    problem: Problem, chosen: Iterable[Method], tell: Callable[[str, int, int], None] | None = None
) -> Proposals:
    """Let each method propose releases; one that cannot is listed with the reason.

    `tell` is called with the progress.
    """
    releases: dict[tuple[Any, ...], Release] = {}
    method_reports = []
    every = list(chosen)
    for done, method in enumerate(every):
        if tell is not None:
            tell(f"looking for releases: {method.name}", done, len(every))
        found, note = _proposed(method, problem)
        for release in map(problem.trimmed, found):
            same = None if release.unaltered is None else release.name
            forms = sorted((name, form.key) for name, form in release.forms.items())
            releases.setdefault((same, *sorted(release.features), *forms), release)
        method_reports.append(MethodReport(method.name, len(found), note))
    return Proposals(tuple(_named_once(releases.values())), tuple(method_reports))


def _named_once(releases: Iterable[Release]) -> Iterator[Release]:
    """Releases whose names are all different."""
    taken: set[str] = set()
    for release in releases:
        name, number = release.name, 2
        while name in taken:
            name, number = f"{release.name} ({number})", number + 1
        taken.add(name)
        yield replace(release, name=name)


def _proposed(method: Method, problem: Problem) -> tuple[list[Release], str]:
    if reason := method.applies(problem):
        return [], reason
    try:
        found = method.propose(problem)
    except (CannotMeet, InputError) as error:
        if isinstance(method, Synthetic):  # it was asked for by epsilon: nothing else would do
            raise
        return [], str(error)
    return found, method.words if found else "it found nothing to release"
