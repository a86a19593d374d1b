"""What an attacker learns who holds several releases of the same people: they add up.

What is counted is what left: the bytes of the earlier files, whatever the table has become since.
The attacker has all files, can match their rows, and knows of a person one record: its cells in
the columns that were named, whenever that was, and in which files it stands; and in which files
the person is. So who is in all of them, who came and who left is known. The candidates that are
left are the people with a record that looks the same in every file, or is in it neither, and who
are in the same files. Their number, the fewest of all, must be k.

Where all files promise containment, candidates are those who have all that the record has. Which
rows are whose is found by `matching`; where that is not certain, the fewest candidates that are
possible count. Altered values count as they were released: the attacker is taken to know which
altered row is whose. Synthetic rows describe nobody: what they give away is added up as epsilon.

A unit is a record of a person, see `matching`. Where members of a group cannot be told apart, only
bounds hold: of a group of 7 units of which 5 are seen in a file as the same, any 4 have at least 2
that are. So many are alike for certain; wherever one may be, there may be no more than that one.
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
    """A release that was handed on.

    Parameters
    ----------
    manifest : mapping
    table : Table, optional
        Its rows, as they left; `None` for synthetic ones, which describe nobody.
    names : RowNames, optional
        Whose rows they are, where the holder has kept that.
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
        """The columns that 0/1 columns were made of."""
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
    """What earlier releases told of the people of a table.

    Parameters
    ----------
    table : Table
        As it is today.
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
        """Those whose rows describe people."""
        return [each for each in self.releases if each.table is not None]

    @property
    def epsilon(self) -> float:
        """What synthetic rows cost in all."""
        drawn = [each.manifest["budget"] for each in self.releases if each.table is None]
        return float(sum(budget["epsilon"] for budget in drawn))

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The columns that attackers may know, by any promise or by what is asked for now.

        Whoever knows a 0/1 column that was made of another knows that one.
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
        """What attackers may know of the rows of each earlier file."""
        return [
            each.rows.only([c for c in each.rows.frame.columns if self._is_known(c, each.sources)])
            for each in self.files
        ]

    @cached_property
    def units(self) -> Units:
        """Everybody, and where they stand in the earlier files."""
        files = [
            FileRows(_views(seen), each.names, partial(_by_cells, self.table, each, self.encoding))
            for each, seen in zip(self.files, self.seen)
        ]
        return match_units(self.table, files)

    @cached_property
    def classes(self) -> Coded | None:
        """The classes of rows of the table alike in what attackers may know of earlier files.

        Of rows that cannot be told apart, some are taken for those in a file.
        """
        if not self.files:
            return None
        found = [coded_numbers(self.units.pattern[: self.table.rows])]
        for seen, place in zip(self.seen, self.units.places):
            views = np.append(_views(seen), ABSENT)  # the last is that of line -1
            found.append(coded_numbers(views[place.line]))
        return dense(reduce(joined, found))

    def check(self, k: int) -> None:
        """Refuse what no new release can mend, not even one without columns."""
        if self.files:
            reached, who = self._fewest(pl.DataFrame(height=self.table.rows), {CONTAINMENT})
            if reached < k:
                few = f"{reached} {self.table.unit if reached > 1 else ONE[self.table.unit]}"
                if lacking := self._lacking:
                    raise CannotMeet(UNTOLD.format(k=k, few=few, columns=lacking))
                raise CannotMeet(REFUSALS[who].format(k=k, few=few))

    @property
    def _lacking(self) -> str:
        """The columns that told people's rows apart then and are gone; empty if all is certain."""
        named = [each.names for each in self.files if each.names is not None]
        then = {column for names in named for column in names.columns[CONTENT]}
        gone = sorted(then.difference(self.table.frame.columns))
        return "" if self.units.certain or not gone else listed_as("column", gone)

    def anonymity_beside(self, release: Release) -> int | None:
        """The fewest people alike to an attacker who has a new release and all earlier ones.

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
        """The fewest people alike by what attackers may know of a new release, and who these are.

        Where everything is promised by containment, and it is certain whose rows are whose, those
        who have as much count too; who has left hides among equals.
        """
        said = {promise["key"] for each in self.files for promise in each.promises}
        zero_one = all(map(_is_zero_one, [now, *self.seen]))
        if {*said, *promises} != {CONTAINMENT} or not zero_one or not self.units.certain:
            return fewest_candidates(self.units, _views(now))
        gone = fewest_gone(self.units)
        found = self._by_containment(now, absences)
        return found if gone is None else min(found, (gone, "gone"), key=lambda each: each[0])

    def _by_containment(self, now: pl.DataFrame, absences: int) -> tuple[int, Who]:
        """The fewest people who have all that a row of the table has, and are in the same files."""
        units, cells = self.units, now.get_columns()
        for seen, place in zip(self.seen, units.places):
            cells += [_at(series, place.line).fill_null(0) for series in seen.get_columns()]
        matrix = np.zeros((units.rows, len(cells)), dtype=np.uint8)
        for i, series in enumerate(cells):
            matrix[:, i] = series.to_numpy()
        told = [int(p.get("absences") or 0) for each in self.files for p in each.promises]
        absent = [place.line == ABSENT for place in units.places]
        files = [units.pattern[: units.rows], *(each.astype(np.int64) for each in absent)]
        same_files = dense(reduce(joined, map(coded_numbers, files)))
        found: list[tuple[int, Who]] = []
        for each in range(same_files.radix):
            rows = np.flatnonzero(same_files.codes == each)
            who = units.people[rows].renumbered()
            came = any(lacks[rows[0]] for lacks in absent)
            crowd = _containing(matrix[rows], max([absences, *told]), who)
            found.append((crowd, "new" if came else "both"))
        return min(found, key=lambda each: each[0])

    def together(self, release: Release) -> Release:
        """What an attacker has who holds a new release and all earlier ones, row by row.

        Earlier columns stand beside the new ones. One that was released as the table has it
        stands in place of a coarser form. What an earlier release altered counts as true; what
        the new one altered stays altered.
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
        """What earlier files tell of each row of the table, and whether attackers may know it."""
        found: dict[str, tuple[pl.Series, bool]] = {}
        for number, (release, place) in enumerate(zip(self.files, self.units.places), 1):
            note = f"in earlier release {number}"
            columns = release.rows.frame.get_columns()
            for series in (each for each in columns if each.name != self.table.roles.target):
                cells = self._as_told(series, release, place.line, note)
                found[cells.name] = cells, self._is_known(series.name, release.sources)
            if (place.line == ABSENT).any():
                found[note] = pl.Series(note, place.line != ABSENT).cast(pl.Int8), True
        return list(found.values())

    def _as_told(
        self, series: pl.Series, release: EarlierRelease, lines: Ints, note: str
    ) -> pl.Series:
        """An earlier column at the rows of the table; the table's own where it is the same."""
        cells, mine = _at(series, lines), self.table.frame
        if series.name in mine.columns:
            true = mine[series.name]
            now, then = (Table(pl.DataFrame([each.alias("c")])) for each in (true, cells))
            numbers = {"c"} if now.kind("c") == then.kind("c") == "number" else set()
            same = [compared_cells(each, ["c"], numbers) for each in (now, then)]
            if release.is_altered or same[0].equals(same[1]):
                return true
        return cells.alias(f"{series.name} {note}")

    def words(self, k: int) -> str:
        """What was counted, for the data holder."""
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
"""Why nothing can be released, by who is like too few others."""
UNTOLD = (
    "which row of a person is which row of an earlier release cannot be told: that was made from a "
    "table with {columns}, which this one lacks. Counted in the most cautious way, {few} may have "
    "nobody else like them, and k = {k} is asked for; drop the same columns as then, and say with "
    "--quasi what may be known, or name with --identifier what tells rows apart"
)
"""Why nothing can be released where rows of one person cannot be matched."""


def _views(seen: pl.DataFrame) -> Ints:
    """A number for each row, equal for rows alike."""
    if not seen.columns:
        return np.zeros(seen.height, dtype=np.int64)
    return dense(grouped(seen, seen.columns).keys).codes.astype(np.int64)


def _at(series: pl.Series, lines: Ints) -> pl.Series:
    """The cells at some lines; missing where there is none."""
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
    """The table with more features, in place of its own of the same name."""
    columns = {s.name: s for s in table.frame.get_columns()} | {s.name: s for s in more}
    quasi = [c for c in _once(known) if c in columns and c != table.roles.target]
    frame = pl.DataFrame(list(columns.values()))
    return Table(frame, Roles(target=table.roles.target, quasi=tuple(quasi)), table.library)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _by_cells(table: Table, release: EarlierRelease, encoding: Any) -> tuple[pl.Series, pl.Series]:
    """Keys of the rows of a table and of a release, equal where the released cells are."""
    if release.is_altered:
        raise InputError(
            "cells of an earlier release were altered on purpose, so its rows cannot be found in "
            "the table by their values; give its folder with the private part"
        )
    rows, asked = release.rows, [int(p["at_least"]) for p in release.promises]
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
    both = pl.concat([compared_cells(each, rows.frame.columns, numbers) for each in (terms, rows)])
    keys = pl.Series(grouped(both, both.columns).keys.codes).cast(pl.String)
    return keys[: table.rows], keys[table.rows :]


Who = Literal["gone", "new", "both"]


def fewest_candidates(units: Units, now: Ints) -> tuple[int, Who]:
    """The fewest people alike in all files, and whether these have left, came, or are in all.

    Parameters
    ----------
    units : Units
    now : array of int
        For each row of the table, what it is seen as in a new release.

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
    """The fewest alike among those who have left the table, where all is certain; `None`: nobody.

    >>> from tamis.people import People
    >>> fewest_gone(Units(4, People.of_rows(4), np.zeros(4), ()))
    """
    gone = len(units.pattern) - units.rows
    return _of_certain(units, np.full(gone, ABSENT), units.rows)[0] if gone else None


def coded_numbers(numbers: Ints) -> Coded:
    """Numbers from -1 as codes."""
    return Coded(numbers.astype(np.int64) + 1, int(numbers.max(initial=0)) + 2)


def _of_certain(units: Units, now: Ints, first: int = 0) -> tuple[int, Who]:
    """The fewest of the units from the first on."""
    views = [place.view[first:] for place in units.places if place.view is not None]
    keys = reduce(joined, map(coded_numbers, [units.pattern[first:], *views, now]))
    who = units.people[first:].renumbered()
    groups = Grouping.of_classes(keys, who)
    unit = groups.row_of[int(groups.sizes.argmin())]
    return groups.k_anonymity, _who(now[unit], [view[unit] for view in views])


def _of_possible(units: Units, now: Ints) -> tuple[int, Who]:
    names = [f"view {i}" for i in range(len(units.places))]
    columns = {"now": now, "pattern": units.pattern}
    columns |= {f"group {i}": place.group for i, place in enumerate(units.places)}
    if not units.people.each_row:
        columns["person"] = units.people.codes
    blocks = pl.DataFrame(columns).group_by(list(columns)).agg(size=pl.len().cast(pl.Int64))
    # Of a block, all but `short` are certainly seen so in every file.
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
    least = crowds.sort("alike").row(0, named=True)
    return max(1, int(least["alike"])), _who(least["now"], [least[name] for name in names])


def _who(now: int, views: list[int]) -> Who:
    if now == ABSENT:
        return "gone"
    return "new" if ABSENT in views else "both"
