"""What an attacker learns who holds several releases of the same people: they add up.

By the worst case, rows of all releases can be matched, so that their columns stand side by side for
each person, and altered values count as if they were true. Synthetic rows describe nobody: what
they give away is added up as epsilon instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.attack.run import holds_zero_one, pattern_counts
from tamis.attack.scene import Scene
from tamis.attack.sources import in_its_groups, in_its_terms, stated_forms
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.release import Release
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.grouping import Coded, grouped
from tamis.table import Roles, Table, only


@dataclass(frozen=True, eq=False)
class HandedOn:
    """What earlier releases told of the people of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The columns that were released, with the true values of every row of the table.
    known : tuple of str
        Those of them that attackers may know, by what was promised.
    contained : bool
        Whether every promise was one of containment.
    epsilon : float
        What synthetic rows cost in all.
    releases : int
    absences : int
        How many things that a person lacks attackers may know, by what was promised.
    changed : tuple of int
        Of each earlier release, how many rows came since, were lost, or both; see `row_changes`.
    """

    frame: pl.DataFrame
    known: tuple[str, ...]
    contained: bool
    epsilon: float
    releases: int
    absences: int = 0
    changed: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        manifests: Sequence[Mapping[str, Any]],
        encoding: Any = None,
        releases: Sequence[Table | None] = (),
    ) -> HandedOn:
        """Read what the manifests of earlier releases say, and find it in the table.

        The rows of the releases, where they are given, show how the table has changed since.

        Examples
        --------
        >>> table = Table(pl.DataFrame({"age": [30, 30, 40, 40], "job": ["a", "b", "a", "b"]}))
        >>> old = {"columns": [{"name": "age", "role": "feature"}],
        ...        "promises": [{"key": "k_anonymity", "at_least": 2, "columns": ["age"]}]}
        >>> HandedOn.of(table, [old]).known
        ('age',)
        """
        if any(each.get("suppressed") for each in manifests):
            raise InputError(
                "an earlier release leaves some people out, and who hides among whom in both "
                "cannot be counted; give releases of all rows"
            )
        drawn = [each for each in manifests if each.get("budget") is not None]
        real = [each for each in manifests if each.get("budget") is None]
        # The bounds of intervals are made of their labels, and tell nothing more.
        names = _names(
            column["name"] for each in real for column in each["columns"] if "of" not in column
        )
        promises = [promise for each in real for promise in each["promises"]]
        wide = _found(table, names, promises, encoding)
        known = _names(column for promise in promises for column in promise["columns"])
        contained = all(promise["key"] == "containment_anonymity" for promise in promises)
        epsilon = float(sum(each["budget"]["epsilon"] for each in drawn))
        absences = max((int(promise.get("absences", 0)) for promise in promises), default=0)
        changed = tuple(
            amount
            for manifest, release in zip(manifests, releases)
            if release is not None and manifest.get("budget") is None
            for amount in row_changes(wide, release, stated_forms(manifest))
        )
        frame = only(wide.frame, names)
        return cls(frame, known, contained, epsilon, len(manifests), absences, changed)

    def check_changes(self, k: int) -> None:
        """Refuse a table in which few rows have changed since an earlier release.

        Whoever holds both releases sees which rows those are, whatever else hides them.
        """
        if few := [amount for amount in self.changed if 0 < amount < k]:
            raise CannotMeet(
                f"the table differs in {plural(min(few), 'row')} from an earlier release, and "
                f"whoever holds both would see which; k = {k} needs {k} changed rows or none. "
                "Release the table as it was then, or wait for more changes"
            )

    @property
    def classes(self) -> Coded | None:
        """The classes of people alike in what attackers may know of earlier releases."""
        return grouped(self.frame, self.known).keys if self.known else None

    def anonymity_beside(self, release: Release) -> int | None:
        """The fewest people alike to an attacker who has a new release and all earlier ones.

        An attacker knows what either assumed to be known. Where both promise containment, people
        hide among those who have all that they have; else among equals. `None` for synthetic rows.
        """
        if release.is_drawn:
            return None
        mine = _names(column for promise in release.promises for column in promise.columns)
        columns = {c: release.table.frame[c] for c in mine}
        # Of a column in both, the earlier values are the true ones, so at least as fine.
        columns |= {c: self.frame[c] for c in self.known}
        if not columns:
            return release.everybody
        frame = pl.DataFrame([series.alias(name) for name, series in columns.items()])
        both = self.contained and all(p.name == "containment_anonymity" for p in release.promises)
        if both and all(holds_zero_one(series) for series in frame.get_columns()):
            cells = frame.to_numpy().astype(np.uint8)
            absences = max([self.absences, *(p.absences for p in release.promises)])
            if absences:
                return absence_anonymity(cells, absences, people=release.people)
            return containment_anonymity(cells, people=release.people)
        return grouped(frame, frame.columns, release.people).k_anonymity

    def together(self, release: Release) -> Release:
        """What an attacker has who holds a new release and all earlier ones, row by row.

        Of a column in both, the earlier values count: they are the true ones. What the new release
        altered stays altered in the rest.
        """
        target = release.table.target
        earlier = [s for s in self.frame.get_columns() if s.name != target]
        names = {series.name for series in earlier}
        table = _widened(release.table, earlier, self.known)
        unaltered = release.unaltered and _widened(release.unaltered, earlier, self.known)
        forms = {c: form for c, form in release.forms.items() if c not in names}
        return replace(release, table=table, unaltered=unaltered, forms=forms, promises=())

    def words(self, k: int) -> str:
        """What was counted, for the data holder."""
        many = plural(self.releases, "earlier release")
        return (
            f"k = {k} and limits on what is told hold for what {many} and this one tell together, "
            "if rows can be matched and altered values are taken for true ones"
            + (f"; synthetic rows cost epsilon = {self.epsilon:g} before" if self.epsilon else "")
        )


def row_changes(
    table: Table, release: Table, stated: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[int, int, int]:
    """How many rows of a table an earlier release lacks, how many of it are gone, and the balance.

    Examples
    --------
    >>> old = Table(pl.DataFrame({"age": [30, 30, 40]}))
    >>> new = Table(pl.DataFrame({"age": [30, 40, 40, 50], "job": ["a", "b", "c", "d"]}))
    >>> row_changes(new, old)
    (2, 1, 1)
    """
    balance = abs(table.rows - release.rows)
    try:
        now, then = pattern_counts(Scene(in_its_groups(table, release, stated), release))
    except InputError:  # they share no column that could be compared
        return 0, 0, balance
    return int((now - then).clip(0).sum()), int((then - now).clip(0).sum()), balance


def _widened(table: Table, more: Sequence[pl.Series], known: Sequence[str]) -> Table:
    """The table with more features, in place of its own of the same name."""
    columns = {s.name: s for s in table.frame.get_columns()} | {s.name: s for s in more}
    quasi = [c for c in _names([*table.quasi, *known]) if c != table.roles.target]
    frame = pl.DataFrame(list(columns.values()))
    return Table(frame, Roles(target=table.roles.target, quasi=tuple(quasi)), table.library)


def _names(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _found(
    table: Table, names: Sequence[str], promises: Sequence[Mapping[str, Any]], encoding: Any
) -> Table:
    """The table with every column that was handed on, 0/1 columns made of others included."""
    asked = Table(pl.DataFrame({name: [None] for name in names})) if names else table
    ks = [max(1, int(p["at_least"]) // times) for p in promises for times in (1, 2, 4)]
    wide = in_its_terms(table, asked, encoding, ks or [1])
    if strange := [name for name in names if name not in wide.frame.columns]:
        raise InputError(
            f"an earlier release has column {listed(strange)}, which this table has not, so what "
            "both tell together cannot be counted; give the table that it was made from"
        )
    return wide
