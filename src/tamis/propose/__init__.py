"""Releases from every method that applies to a table.

A method says whether it applies, and if not why, and proposes releases; `tamis.catalogue.methods`
describes them all. A method searches only on the rows that it may see, so that the others can
evaluate its releases; anonymity is checked on all rows, because all of them are released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

from tamis.binary.records import is_zero_one
from tamis.catalogue.methods import BY_DEFAULT, METHODS
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.notebook import in_short
from tamis.propose.problem import Method, Problem, form_name, name_once
from tamis.release import Release


@dataclass(frozen=True)
class MethodReport:
    """How many releases one method proposed, or why none."""

    name: str
    found: int
    note: str

    @property
    def applied(self) -> bool:
        return self.found > 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "applied": self.applied,
            "found": self.found,
            "note": self.note,
        }


@dataclass(frozen=True, eq=False)
class Proposals:
    """The proposed releases, each set of unaltered columns once, and a report of each method."""

    releases: tuple[Release, ...]
    method_reports: tuple[MethodReport, ...]

    def __repr__(self) -> str:
        counts = ", ".join(f"{report.found} from {report.name}" for report in self.method_reports)
        return in_short(self, plural(len(self.releases), "release"), counts)


def method_class(name: str) -> type[Method]:
    """The class of a method, imported when needed."""
    module, _, made = METHODS[name].home.partition(":")
    result: type[Method] = getattr(import_module(f"tamis.propose.{module}"), made)
    return result


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
    chosen_methods: list[Method] = []
    for name, options in chosen.items():
        try:
            chosen_methods.append(method_class(name)(**options))
        except TypeError:
            known = [field.name for field in fields(method_class(name))]  # type: ignore[arg-type]
            raise InputError(f"[{name}] takes {listed(known)}, got {listed(options)}") from None
    return chosen_methods


def propose(
    problem: Problem,
    chosen: Iterable[Method],
    progress: Callable[[str, int, int], None] | None = None,
) -> Proposals:
    """Let each method propose releases; one that cannot is listed with the reason."""
    releases: dict[tuple[Any, ...], Release] = {}
    method_reports = []
    every = list(chosen)
    for done, method in enumerate(every):
        if progress is not None:
            progress(f"looking for releases: {method.name}", done, len(every))
        releases_found, note = _proposed(method, problem)
        for release in map(problem.promising, releases_found):
            release = without_unused(problem.trimmed(release))
            releases.setdefault(_content(release), release)
        method_reports.append(MethodReport(method.name, len(releases_found), note))
    for number, method in enumerate(every):
        refined = method.refine(problem, tuple(releases.values()))
        for release in map(problem.promising, refined):
            release = without_unused(problem.trimmed(release))
            releases.setdefault(_content(release), release)
        report = method_reports[number]
        method_reports[number] = replace(report, found=report.found + len(refined))
    return Proposals(tuple(name_once(releases.values())), tuple(method_reports))


def _content(release: Release) -> tuple[Any, ...]:
    """Key that is equal for the same columns in the same forms; altered releases go by name."""
    same = release.name if release.is_altered else None
    forms = sorted((name, form.key) for name, form in release.forms.items())
    return (same, *sorted(release.features), *forms)


def without_unused(release: Release) -> Release:
    """A release without 0/1 columns that are 0 in all remaining rows.

    Their names would tell what the suppressed people had.

    >>> import numpy as np
    >>> import polars as pl
    >>> from tamis.release import Recipe, released
    >>> from tamis.table import Roles, Table
    >>> jobs = pl.DataFrame({"cook": [1, 0, 1], "bard": [0, 1, 0], "ill": ["no", "yes", "no"]})
    >>> whole = released(Table(jobs, Roles(target="ill")), ["cook", "bard"], "", Recipe("hand"))
    >>> without_unused(whole.keeping(np.array([True, False, True]))).features
    ('cook',)
    """
    if not release.is_suppressed:
        return release
    whole, rows = release.unsuppressed, release.table.frame
    bits = [c for c in release.features if is_zero_one(whole.table.frame[c])]
    unused = {c for c in bits if not rows[c].sum()}
    left = [c for c in release.features if c not in unused]
    if not unused or not left:
        return release
    promises = tuple(
        replace(promise, columns=tuple(c for c in promise.columns if c not in unused))
        for promise in whole.promises
    )
    narrow = replace(
        whole, name=release.name, table=whole.table.select(left), promises=promises
    ).keeping(release.mask)
    by_columns = release.name == form_name(release)
    return replace(narrow, name=form_name(narrow)) if by_columns else narrow


def _with_everybody(method: Method, problem: Problem, releases: list[Release]) -> list[Release]:
    """A method's releases, with and without suppression.

    A search that may suppress rows takes another path and can miss what it finds without; with the
    releases of both, permission to suppress never makes the choice worse.
    """
    if problem.suppression is None or method.about.alters:
        return releases
    whole = replace(problem, suppression=None, fronts={}, codes=problem.coded)
    try:
        further = method.propose(whole)
    except CannotMeet:
        return releases
    known = {_content(release) for release in releases}
    return [*releases, *(release for release in further if _content(release) not in known)]


def _proposed(method: Method, problem: Problem) -> tuple[list[Release], str]:
    if problem.table.people.together and method.about.row_by_row:
        return [], "It looks at single rows, and the rows of a person are released together."
    if reason := method.applies(problem):
        return [], reason
    try:
        releases = _with_everybody(method, problem, method.propose(problem))
    except (CannotMeet, InputError) as error:
        if method.about.synthetic:  # it was asked for by epsilon: nothing else would do
            raise
        return [], str(error)
    return releases, method.about.words if releases else "it found nothing to release"
