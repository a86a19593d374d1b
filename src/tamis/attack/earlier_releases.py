"""Anonymity against an attacker who holds several releases of the same people.

The earlier files count as they were handed on, whatever the table has become since. The attacker
has all files, can match their rows, and knows one record of a person: its cells in the columns that
attackers may know by any release, the files that the record is in, and the files that the person is
in. So it knows who is in all files, who came and who left. The candidates that remain are the
people with a record that looks the same in every file (or is absent from the same files), and who
are in the same files. The smallest number of candidates of anybody must be at least k.

Where all files promise containment, candidates are those who have all that the record has. Which
rows are whose is found by `matching`; where that is uncertain, the fewest possible candidates
count. Altered values count as they were released: the attacker is taken to know which altered row
is whose. Synthetic rows describe nobody; what they cost is added up as epsilon.

A unit is a record of a person, see `matching`. Where members of a group cannot be told apart, only
bounds hold: if 5 of the 7 units of a group look the same in a file, then at least 2 of any 4 of
them do. That many are certainly alike; wherever a unit may be, it may be the only one beyond these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, Literal

import numpy as np
import polars as pl

from tamis.arrays import Ints
from tamis.attack.matching import ABSENT, FileRows, Units, match_units
from tamis.attack.row_names import CONTENT, RowNames
from tamis.attack.run import holds_zero_one
from tamis.attack.sources import (
    altered_by,
    compared_cells,
    in_its_groups,
    in_its_terms,
    stated_forms,
)
from tamis.coding import Coded, dense, joined
from tamis.errors import CannotMeet, InputError, listed, listed_as, plural
from tamis.figures import ONE
from tamis.people import People
from tamis.release import AlteredRelease, Release
from tamis.require.k import ContainmentAnonymity
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.grouping import Grouping, grouped
from tamis.table import Roles, Table

CONTAINMENT = "containment_anonymity"


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """A release that was handed on earlier.

    Parameters
    ----------
    manifest : mapping
    table : Table, optional
        Its rows as they were released; `None` for synthetic ones, which describe nobody.
    names : RowNames, optional
        The names of its rows, where the holder has kept them.
    """

    manifest: Mapping[str, Any]
    table: Table | None = None
    names: RowNames | None = None

    @property
    def rows(self) -> Table:
        """Its rows; an error for synthetic ones."""
        if self.table is None:
            raise InputError("synthetic rows are nobody's, and cannot be matched")
        return self.table

    @property
    def sources(self) -> dict[str, str]:
        """The original column of each 0/1 column that was made of one."""
        columns = self.manifest["columns"]
        return {c["name"]: c["made_of"] for c in columns if "made_of" in c}

    @property
    def promises(self) -> list[Mapping[str, Any]]:
        return [] if self.table is None else list(self.manifest["promises"])

    @property
    def is_altered(self) -> bool:
        """Whether cells were changed on purpose."""
        return altered_by(self.manifest.get("method") or {}) is not None


@dataclass(frozen=True, eq=False)
class EarlierReleases:
    """Earlier releases of the people of a table, and what they add up to.

    Parameters
    ----------
    table : Table
        The table as it is today.
    releases : sequence of EarlierRelease
    encoding : optional
        How columns become 0/1, as for `tamis.binary.records.binarise`.

    Examples
    --------
    >>> then = Table(pl.DataFrame({"who": [1, 2, 3, 4], "zip": ["01", "01", "02", "02"]}))
    >>> then = then.with_roles(identifiers=("who",))
    >>> said = {"columns": [{"name": "zip"}], "promises": [
    ...     {"key": "k_anonymity", "at_least": 2, "columns": ["zip"]}]}
    >>> old = EarlierRelease(said, Table(then.only(["zip"])), RowNames.of(then))
    >>> EarlierReleases(then, [old]).known
    ('zip',)
    """

    table: Table
    releases: Sequence[EarlierRelease]
    encoding: Any = None

    @cached_property
    def files(self) -> list[EarlierRelease]:
        """The releases whose rows describe people."""
        return [release for release in self.releases if release.table is not None]

    @property
    def epsilon(self) -> float:
        """The total epsilon of the synthetic releases."""
        drawn = [rows.manifest["budget"] for rows in self.releases if rows.table is None]
        return float(sum(budget["epsilon"] for budget in drawn))

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The columns that attackers may know, by any earlier promise or the roles of today.

        Whoever knows a 0/1 column also knows the column that it was made of.
        """
        promised = [
            column
            for each in self.files
            for promise in each.promises
            for name in promise["columns"]
            for column in (name, each.sources.get(name, name))
        ]
        return _once([*promised, *self.table.quasi])

    def _is_known(self, column: str, sources: Mapping[str, str]) -> bool:
        return column in self.known or sources.get(column) in self.known

    @cached_property
    def seen(self) -> list[pl.DataFrame]:
        """The columns of each earlier file that attackers may know."""
        return [
            each.rows.only([c for c in each.rows.frame.columns if self._is_known(c, each.sources)])
            for each in self.files
        ]

    @cached_property
    def units(self) -> Units:
        """The records of everybody, and their places in the earlier files."""
        files = [
            FileRows(_views(seen), each.names, partial(_by_cells, self.table, each, self.encoding))
            for each, seen in zip(self.files, self.seen)
        ]
        return match_units(self.table, files)

    @cached_property
    def classes(self) -> Coded | None:
        """Classes of the table's rows that look alike to attackers in all earlier files.

        Of rows that cannot be told apart, arbitrary ones are taken for those in a file.
        """
        if not self.files:
            return None
        codes = [coded_numbers(self.units.pattern[: self.table.rows])]
        for seen, place in zip(self.seen, self.units.places):
            views = np.append(_views(seen), ABSENT)  # index -1, for rows without a line, is last
            codes.append(coded_numbers(views[place.line]))
        return dense(reduce(joined, codes))

    def check(self, k: int) -> None:
        """Raise `CannotMeet` if no new release can reach k, not even one without any columns."""
        if self.files:
            reached, who = self._fewest(pl.DataFrame(height=self.table.rows), {CONTAINMENT})
            if reached < k:
                few = f"{reached} {self.table.unit if reached > 1 else ONE[self.table.unit]}"
                if lacking := self._lacking:
                    raise CannotMeet(UNTOLD.format(k=k, few=few, columns=lacking))
                raise CannotMeet(REFUSALS[who].format(k=k, few=few))

    @property
    def _lacking(self) -> str:
        """Columns of earlier tables, now gone, that would tell the rows of people apart, in words.

        Empty where matching is certain without them.
        """
        named = [each.names for each in self.files if each.names is not None]
        then = {column for names in named for column in names.columns[CONTENT]}
        gone = sorted(then.difference(self.table.frame.columns))
        return "" if self.units.certain or not gone else listed_as("column", gone)

    def anonymity_beside(self, release: Release) -> int | None:
        """The k against an attacker who has a new release and all earlier ones.

        `None` for synthetic rows.
        """
        if release.is_drawn:
            return None
        promised = {c for promise in release.promises for c in promise.columns}
        columns = [
            c for c in release.features if c in promised or self._is_known(c, release.sources)
        ]
        now = release.table.only(columns)
        if self.files:
            known = [p.absences for p in release.promises if isinstance(p, ContainmentAnonymity)]
            keys = {promise.key for promise in release.promises}
            return self._fewest(now, keys, max(known, default=0))[0]
        return grouped(now, columns, release.people).k_anonymity if columns else release.everybody

    def _fewest(
        self, now: pl.DataFrame, promises: Collection[str], absences: int = 0
    ) -> tuple[int, Who]:
        """The smallest crowd by the known columns `now` of a new release, and who is in it.

        Where all promises are by containment and matching is certain, those who have more count,
        too; people who have left the table only hide among equals.
        """
        said = {promise["key"] for each in self.files for promise in each.promises}
        zero_one = all(map(_is_zero_one, [now, *self.seen]))
        if {*said, *promises} != {CONTAINMENT} or not zero_one or not self.units.certain:
            return fewest_candidates(self.units, _views(now))
        gone = fewest_gone(self.units)
        smallest = self._by_containment(now, absences)
        return smallest if gone is None else min(smallest, (gone, "gone"), key=lambda one: one[0])

    def _by_containment(self, now: pl.DataFrame, absences: int) -> tuple[int, Who]:
        """The smallest crowd of people in the same files who have all that some row has."""
        units, cells = self.units, now.get_columns()
        for seen, place in zip(self.seen, units.places):
            cells += [_at(series, place.line).fill_null(0) for series in seen.get_columns()]
        matrix = np.zeros((units.rows, len(cells)), dtype=np.uint8)
        for i, series in enumerate(cells):
            matrix[:, i] = series.to_numpy()
        told = [int(p.get("absences") or 0) for file in self.files for p in file.promises]
        absent = [place.line == ABSENT for place in units.places]
        files = [units.pattern[: units.rows], *(lacks.astype(np.int64) for lacks in absent)]
        same_files = dense(reduce(joined, map(coded_numbers, files)))
        crowds: list[tuple[int, Who]] = []
        for number in range(same_files.radix):
            rows = np.flatnonzero(same_files.codes == number)
            who = units.people[rows].renumbered()
            came = any(lacks[rows[0]] for lacks in absent)
            crowd = _containing(matrix[rows], max([absences, *told]), who)
            crowds.append((crowd, "new" if came else "both"))
        return min(crowds, key=lambda one: one[0])

    def together(self, release: Release) -> Release:
        """A new release joined with all earlier ones, row by row.

        Earlier columns are added to the new ones. A column that was released with the table's own
        values replaces a coarser form of it. Values that an earlier release altered count as true;
        those that the new one altered stay altered.
        """
        earlier = [series for series, _ in self._told]
        names = {series.name for series in earlier}
        known = [*release.table.quasi, *(s.name for s, is_known in self._told if is_known)]
        table = _widened(release.table, earlier, known)
        forms = {c: form for c, form in release.forms.items() if c not in names}
        wide = replace(release, table=table, forms=forms, promises=())
        if not isinstance(wide, AlteredRelease):
            return wide
        return replace(wide, unaltered=_widened(wide.unaltered, earlier, known))

    @cached_property
    def _told(self) -> list[tuple[pl.Series, bool]]:
        """The earlier columns at the rows of the table, and whether attackers may know them."""
        told: dict[str, tuple[pl.Series, bool]] = {}
        for number, (release, place) in enumerate(zip(self.files, self.units.places), 1):
            note = f"in earlier release {number}"
            columns = release.rows.frame.get_columns()
            for series in (cells for cells in columns if cells.name != self.table.roles.target):
                cells = self._as_told(series, release, place.line, note)
                told[cells.name] = cells, self._is_known(series.name, release.sources)
            if (place.line == ABSENT).any():
                told[note] = pl.Series(note, place.line != ABSENT).cast(pl.Int8), True
        return list(told.values())

    def _as_told(
        self, series: pl.Series, release: EarlierRelease, lines: Ints, note: str
    ) -> pl.Series:
        """An earlier column at the rows of the table; the table's own where it is the same."""
        cells, mine = _at(series, lines), self.table.frame
        if series.name in mine.columns:
            true = mine[series.name]
            now, then = (Table(pl.DataFrame([column.alias("c")])) for column in (true, cells))
            numbers = {"c"} if now.kind("c") == then.kind("c") == "number" else set()
            before, after = (compared_cells(side, ["c"], numbers) for side in (then, now))
            if release.is_altered or before.equals(after):
                return true
        return cells.alias(f"{series.name} {note}")

    def words(self, k: int) -> str:
        """What was counted, in words for the data holder."""
        many = plural(len(self.releases), "earlier release")
        said = [
            f"k = {k} and limits on what is told hold for what {many} and this one tell together, "
            "to whoever can match their rows and knows who is in which"
        ]
        for release, place in zip(self.files, self.units.places if self.files else ()):
            there = int(np.count_nonzero(place.line != ABSENT))
            said.append(
                f"of {plural(release.rows.rows, 'row')} released before, {there:,} "
                f"{'is' if there == 1 else 'are'} among the {self.table.rows:,} of today"
            )
        if self.epsilon:
            said.append(f"synthetic rows cost epsilon = {self.epsilon:g} before")
        return "; ".join(said)


REFUSALS: dict[Who, str] = {
    "gone": "{few} left the table since an earlier release with nobody else like them, and whoever "
    "holds both releases sees who is gone, whatever is released now; keep them in the table, or "
    "wait until {k} like them have left",
    "new": "{few} came since an earlier release with nobody else like them, and whoever holds both "
    "releases sees which rows are new, whatever is released now; release the table as it was "
    "then, or wait until {k} like them have come",
    "both": "{few} of the earlier releases, still in the table, have nobody else like them in what "
    "attackers may know of these alone; no release can mend that. Ask for a smaller k than {k}, "
    "or name with --earlier only what was handed on",
}
"""Why nothing can be released, by who is in the crowd that is too small."""
UNTOLD = (
    "which row of a person is which row of an earlier release cannot be told: that was made from a "
    "table with {columns}, which this one lacks. Counted in the most cautious way, {few} may have "
    "nobody else like them, and k = {k} is asked for; drop the same columns as then, and say with "
    "--quasi what may be known, or name with --identifier what tells rows apart"
)
"""Why nothing can be released where rows of one person cannot be matched."""


def _views(seen: pl.DataFrame) -> Ints:
    """A number for each row, equal for equal rows."""
    if not seen.columns:
        return np.zeros(seen.height, dtype=np.int64)
    return dense(grouped(seen, seen.columns).keys).codes.astype(np.int64)


def _at(series: pl.Series, lines: Ints) -> pl.Series:
    """The cells at the given lines; missing where the line is `ABSENT`."""
    cells = series.gather(np.where(lines == ABSENT, 0, lines)) if series.len() else series
    return cells.set(pl.Series(lines == ABSENT), None)


def _is_zero_one(frame: pl.DataFrame) -> bool:
    return all(map(holds_zero_one, frame.get_columns()))


def _containing(cells: Any, absences: int, people: People) -> int:
    if not cells.shape[1]:
        return people.count
    if absences:
        return absence_anonymity(cells, absences, people=people)
    return containment_anonymity(cells, people=people)


def _widened(table: Table, more: Sequence[pl.Series], known: Iterable[str]) -> Table:
    """The table with more features, which replace its own of the same name."""
    columns = {s.name: s for s in table.frame.get_columns()} | {s.name: s for s in more}
    quasi = [c for c in _once(known) if c in columns and c != table.roles.target]
    frame = pl.DataFrame(list(columns.values()))
    return Table(frame, Roles(target=table.roles.target, quasi=tuple(quasi)), table.library)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _by_cells(table: Table, release: EarlierRelease, encoding: Any) -> tuple[pl.Series, pl.Series]:
    """Keys of the rows of a table and of a release, equal where their released cells are."""
    if release.is_altered:
        raise InputError(
            "cells of an earlier release were altered on purpose, so its rows cannot be found in "
            "the table by their values; give its folder with the private part"
        )
    rows, asked = release.rows, [int(p["at_least"]) for p in release.promises]
    # Cuts of numbers depend on the k asked for, which the manifest does not state. A release may
    # promise twice or four times that, so the half and the quarter of the promised k are tried.
    ks = [max(1, k // times) for k in asked for times in (1, 2, 4)]
    wide = in_its_terms(table, rows, encoding, ks or [1])
    if strange := [c for c in rows.frame.columns if c not in wide.frame.columns]:
        raise InputError(
            f"an earlier release has column {listed(strange)}, which this table has not, so whose "
            "its rows are cannot be told by their values; give its folder with the private part, "
            "or the table that it was made from"
        )
    terms = in_its_groups(wide, rows, stated_forms(release.manifest))
    numbers = {c for c in rows.frame.columns if terms.kind(c) == rows.kind(c) == "number"}
    both = pl.concat([compared_cells(side, rows.frame.columns, numbers) for side in (terms, rows)])
    keys = pl.Series(grouped(both, both.columns).keys.codes).cast(pl.String)
    return keys[: table.rows], keys[table.rows :]


Who = Literal["gone", "new", "both"]


def fewest_candidates(units: Units, now: Ints) -> tuple[int, Who]:
    """The smallest crowd alike in all files, and whether it has left, is new, or is in all.

    Parameters
    ----------
    units : Units
    now : array of int
        For each row of the table, a number of how it looks in a new release.

    Examples
    --------
    >>> from tamis.attack.matching import FilePlaces, pl
    >>> from tamis.people import People
    >>> seen = pl.DataFrame({"group": [0, 1], "view": [0, ABSENT], "amount": [3, 1]})
    >>> places = FilePlaces(np.array([0, 0, 0, 1]), seen, np.array([0, 1, 2, ABSENT]))
    >>> units = Units(4, People.of_rows(4), np.zeros(4), (places,))
    >>> fewest_candidates(units, np.zeros(4, dtype=int))
    (1, 'new')
    """
    gone = np.full(len(units.pattern) - units.rows, ABSENT)
    seen = np.concatenate([now, gone]).astype(np.int64)
    return _of_certain(units, seen) if units.certain else _of_possible(units, seen)


def fewest_gone(units: Units) -> int | None:
    """The smallest crowd among those who have left, by a certain matching; `None` if nobody has.

    >>> from tamis.people import People
    >>> fewest_gone(Units(4, People.of_rows(4), np.zeros(4), ()))
    """
    gone = len(units.pattern) - units.rows
    return _of_certain(units, np.full(gone, ABSENT), units.rows)[0] if gone else None


def coded_numbers(numbers: Ints) -> Coded:
    """Numbers from -1 on as codes from 0 on."""
    return Coded(numbers.astype(np.int64) + 1, int(numbers.max(initial=0)) + 2)


def _of_certain(units: Units, now: Ints, first: int = 0) -> tuple[int, Who]:
    """The smallest crowd among the units from number `first` on, all views being certain."""
    views = [place.view[first:] for place in units.places if place.view is not None]
    keys = reduce(joined, map(coded_numbers, [units.pattern[first:], *views, now]))
    who = units.people[first:].renumbered()
    groups = Grouping.of_classes(keys, who)
    unit = groups.row_of[int(groups.sizes.argmin())]
    return groups.k_anonymity, _who(now[unit], [view[unit] for view in views])


def _of_possible(units: Units, now: Ints) -> tuple[int, Who]:
    """A lower bound of the smallest crowd, where some units cannot be told apart in some file.

    Units are counted in blocks that are alike now and share their group in every file. For each
    combination of views, at least `amount - (members - size)` units of a block have the view in a
    file, since other members of the group account for at most `members - size` of the `amount`. At
    least the size less the shortfalls in all files have the whole combination.
    """
    names = [f"view {i}" for i in range(len(units.places))]
    columns = {"now": now, "pattern": units.pattern}
    columns |= {f"group {i}": place.group for i, place in enumerate(units.places)}
    if not units.people.each_row:
        columns["person"] = units.people.codes
    blocks = pl.DataFrame(columns).group_by(list(columns)).agg(size=pl.len().cast(pl.Int64))
    # All but `short` units of a block certainly have the views of the combination in every file.
    blocks = blocks.with_columns(short=pl.lit(0, pl.Int64))
    for i, place in enumerate(units.places):
        options = place.options.join(place.sizes, on="group").rename(
            {"group": f"group {i}", "view": names[i]}
        )
        others = pl.col("members") - pl.col("size")
        sure = (pl.col("amount") - others).clip(0, pl.col("size"))
        blocks = blocks.join(options, on=f"group {i}").with_columns(
            short=pl.col("short") + pl.col("size") - sure
        )
        blocks = blocks.drop("amount", "members")
    sure = (pl.col("size") - pl.col("short")).clip(0)
    alike = sure.sum() if units.people.each_row else pl.col("person").filter(sure > 0).n_unique()
    somewhere = pl.any_horizontal(pl.col("now", *names) != ABSENT)
    crowds = blocks.filter(somewhere).group_by("now", "pattern", *names).agg(alike=alike)
    # The person who is looked for is a candidate, so a crowd has at least one member.
    least = crowds.sort("alike").row(0, named=True)
    return max(1, int(least["alike"])), _who(least["now"], [least[name] for name in names])


def _who(now: int, views: list[int]) -> Who:
    if now == ABSENT:
        return "gone"
    return "new" if ABSENT in views else "both"
