"""Whom a release exposes: who is unique in it, the sizes of classes, what gives people away.

Anybody with the released file can count its rows, so figures about rows may be small. If people
have several rows, nobody can count people in it: figures from 1 to k - 1 are `None`. Class sizes
are in bins from which nobody can be singled out.

What gives people of the original away, the columns and sets of columns that single them out, is
never published, since nobody else can count it. None of its figures is from 1 to k - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import Ints
from tamis.coding import Coded
from tamis.outcome import Outcome
from tamis.people import People
from tamis.propose.problem import as_records
from tamis.release import Release
from tamis.release_counts import (
    Alike,
    ExposureFacts,
    Kind,
    shown_alike,
    shown_counts,
    shown_from,
)
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.containment import entity_anonymity
from tamis.risk.grouping import grouped, sizes_of
from tamis.risk.suda import MOST_COLUMNS, affordable, special_uniques
from tamis.table import Unit

Edges = list[tuple[int, int | None]]
GIVEAWAY_WORK = 10_000_000
"""Most rows to process over all sets of columns, which bounds the time to less than a second."""
GIVEAWAY_SETS = 8
"""Most sets of columns to show that single people out."""


@dataclass(frozen=True, kw_only=True)
class ClassBin:
    """People whose class has from `low` to `high` members."""

    low: int
    high: int | None
    """`None`: no upper end."""
    before: int | None
    """People in the original; 0, or at least k. `None` on the recipient's page."""
    after: int
    """People in the release; 0, or at least k."""
    everything: int
    """People in the release by classes of all released columns, including the target."""


@dataclass(frozen=True, kw_only=True)
class ClassSizes:
    """People by the size of their class."""

    kind: Kind
    """`equal`: a class has the same quasi-identifiers. `containment`: it is all who have at least
    what a person has."""
    k: int
    smallest_after: int | None
    """The k-anonymity or containment anonymity measured in the release; `None` below k."""
    bins: tuple[ClassBin, ...]
    bins_released: tuple[ClassBin, ...]
    """Bins for recipients, whose limits do not depend on the original either. Empty on the
    recipient's page, where `bins` holds them."""

    def for_recipient(self) -> Self:
        return replace(self, bins=self.bins_released, bins_released=())


@dataclass(frozen=True, kw_only=True)
class GiveawayColumn:
    """A column and its share in what singles people out."""

    name: str
    share: float


@dataclass(frozen=True, kw_only=True)
class GiveawaySet:
    """A minimal set of columns that singles people out."""

    columns: tuple[str, ...]
    people: int


@dataclass(frozen=True, kw_only=True)
class GiveawayBin:
    """People by the number of columns in their smallest set."""

    low: int
    high: int
    people: int


@dataclass(frozen=True, kw_only=True)
class GiveawayFacts:
    """What gives people of the original away; never for recipients."""

    exposed: int
    """Number of people that some set of columns singles out."""
    most: int
    """The most columns in a set; larger sets were not searched."""
    by_size: tuple[GiveawayBin, ...]
    """People by the number of columns in their smallest set."""
    columns: tuple[GiveawayColumn, ...]
    """The largest share first."""
    sets: tuple[GiveawaySet, ...]
    worst: tuple[str, ...]
    """What to make coarser first."""


def exposure_facts(outcome: Outcome) -> ExposureFacts | None:
    """Exposure of the chosen release; `None` for synthetic rows, which describe nobody."""
    release, table = outcome.release, outcome.table
    if release.is_drawn:
        return None
    k, people = outcome.least_k, release.people
    counted = _counted(release, people, table.unit, k)
    if people.each_row:
        return counted
    return {**counted, "rows": _counted(release, People.of_rows(len(people)), "rows", k)}


def same_sensitive(outcome: Outcome) -> Alike | None:
    """Classes in which all share the sensitive value; `None` if released or for synthetic rows.

    They cannot be counted in the released file, so figures from 1 to k - 1 are left out.
    """
    release, table = outcome.release, outcome.table
    if release.is_drawn or table.sensitive is None or table.sensitive == table.target:
        return None
    secrets = release.cells(table.frame.get_column(table.sensitive))
    counted = _alike(_known(release, release.people), secrets, release.people)
    return shown_alike(counted, shown_from(outcome.least_k))


def class_sizes_of(outcome: Outcome) -> tuple[Ints, Ints, Ints]:
    """For each person the size of their smallest class: before, after, and by everything released.

    Before and after are by the quasi-identifiers, or by containment if that is promised.
    """
    release, table = outcome.release, outcome.table
    whose = release.people
    known, whole = _known(release, whose), _whole(release, whose)
    before = table.people.least(_before(outcome, known.contained))
    people = release.people
    after, everything = (people.least(crowds.sizes(people)) for crowds in (known, whole))
    return before, after, everything


def _before(outcome: Outcome, contained: bool) -> Ints:
    """For each row of the original the size of its class; 0/1 records may be sparse."""
    table = outcome.table
    if not contained:
        quasi, people = list(table.quasi), table.people
        return _Crowds(table.frame, quasi, contained=False, people=people).sizes(people)
    if outcome.records is not None:
        return entity_anonymity(outcome.records.matrix, people=table.people)
    records = as_records(table, outcome.binary, outcome.settings.k)
    return entity_anonymity(records.matrix, people=table.people)


@dataclass(frozen=True, eq=False)
class _Crowds:
    """For each row its class, and the people (or rows) among whom it hides."""

    frame: pl.DataFrame
    columns: list[str]
    contained: bool
    people: People | None = None
    """The person of each row; classes are by all rows of a person if the release links them."""

    @cached_property
    def kinds(self) -> Ints:
        """The class of each row: the same number for identical rows, or people if linked."""
        known = [self.frame.get_column(name) for name in self.columns]
        return _codes(known or [pl.repeat(0, self.frame.height, eager=True)], self.people)

    def sizes(self, people: People) -> Ints:
        """For each row the number of people in its class, or who have everything it has."""
        if not self.contained:
            kinds = self.kinds
            return sizes_of(_dense(kinds), people)[kinds]
        return entity_anonymity(_matrix(self.frame, self.columns), people=people)

    def alike(self, values: pl.Series) -> NDArray[np.bool_]:
        """For each row whether all among whom it hides have the same value."""
        codes = _codes([values])
        if not self.contained:
            kinds = self.kinds
            return np.asarray((sizes_of(_dense(kinds), People.of(codes)) == 1)[kinds])
        matrix = _matrix(self.frame, self.columns)
        # All who contain a row share its value if as many do among rows of that value alone.
        within = np.empty(len(codes), dtype=np.int64)
        for code in np.unique(codes):
            some = codes == code
            within[some] = entity_anonymity(matrix[some])
        return np.asarray(within == entity_anonymity(matrix))


def _counted(release: Release, people: People, unit: Unit, k: int) -> ExposureFacts:
    table, known, whole = release.table, _known(release, people), _whole(release, people)
    figures = {
        "known": _smallest(known.sizes(people), people),
        "everything": _smallest(whole.sizes(people), people),
        "same_target": _alike(known, table.frame.get_column(table.target), people),
    }
    kind: Kind = "containment" if known.contained else "equal"
    if len({promise.attacker for promise in _of_equals(release)}) > 1:
        kind = "together"
    total = people.count
    return shown_counts((figures, total), known.columns, kind, unit, k, few=people.each_row)


def _known(release: Release, people: People | None = None) -> _Crowds:
    """Classes by what attackers are assumed to know, as the release's promise defines them."""
    if any(promise.attacker for promise in release.promises):
        each = [promise.columns for promise in _of_equals(release)]
        known = list(dict.fromkeys(chain(*each)))
        return _Crowds(release.table.frame, known, contained=False, people=people)
    promise = next(iter(release.promises), KAnonymity(1, columns=release.table.quasi))
    contained = release.by_containment and bool(promise.columns)
    return _Crowds(release.table.frame, list(promise.columns), contained, people)


def _of_equals(release: Release) -> list[KAnonymity]:
    """The promises of k-anonymity by equal values, one for each attacker."""
    return [each for each in release.promises if not isinstance(each, ContainmentAnonymity)]


def _whole(release: Release, people: People | None = None) -> _Crowds:
    table = release.table
    columns = [*table.features, table.target]
    return _Crowds(table.frame, columns, contained=False, people=people)


def _smallest(sizes: Ints, people: People) -> dict[str, int]:
    return {"k": int(sizes.min()), "unique": people.among(sizes == 1)}


def _alike(crowds: _Crowds, values: pl.Series, people: People) -> dict[str, int]:
    same, kinds = crowds.alike(values), crowds.kinds
    groups, of = len(np.unique(kinds[same])), len(np.unique(kinds))
    return {"groups": groups, "of": of, "members": people.among(same)}


def _codes(columns: list[pl.Series], people: People | None = None) -> Ints:
    """A number for each row, the same for identical ones.

    Columns are renamed first: polars would read some names as patterns.
    """
    named = pl.DataFrame([s.alias(f"c{i}") for i, s in enumerate(columns)])
    seen = people if people is not None and people.together else None
    return np.asarray(grouped(named, named.columns, seen).class_of, dtype=np.int64)


def _dense(kinds: Ints) -> Coded:
    """Numbers without gaps as codes."""
    return Coded(kinds, int(kinds.max()) + 1)


def _matrix(frame: pl.DataFrame, columns: list[str]) -> NDArray[np.uint8]:
    return pl.DataFrame([frame.get_column(c) for c in columns]).to_numpy().astype(np.uint8)


def class_size_bins(
    before: ArrayLike, after: ArrayLike, everything: ArrayLike, *, k: int, kind: Kind
) -> ClassSizes:
    """Count people by the size of their class, in bins of nobody or at least k people each.

    The arrays have the class size of each person: in the original, in the release, and in the
    release if everything released is known. `kind` says what a class is.

    >>> found = class_size_bins([1, 1, 1, 1, 4, 4, 4, 4], [8] * 8, [8] * 8, k=4, kind="equal")
    >>> [(b.low, b.high, b.before, b.after) for b in found.bins]
    [(1, 1, 4, 0), (2, 3, 0, 0), (4, 7, 4, 0), (8, None, 0, 8)]
    >>> class_size_bins([1, 5, 5, 5, 5, 5], [6] * 6, [6] * 6, k=4, kind="equal").bins
    (ClassBin(low=1, high=None, before=6, after=6, everything=6),)
    """
    first, second, third = (np.asarray(s, dtype=np.int64) for s in (before, after, everything))
    smallest = int(second.min(initial=max(first.max(initial=0), second.max(initial=0))))
    released = _bins(second, second, third, k)
    return ClassSizes(
        kind=kind,
        k=k,
        smallest_after=smallest if smallest >= k else None,
        bins=_bins(first, second, third, k),
        bins_released=tuple(replace(each, before=None) for each in released),
    )


def _bins(before: Ints, after: Ints, everything: Ints, k: int) -> tuple[ClassBin, ...]:
    sizes = [before, after, everything]
    largest = max(int(s.max(initial=0)) for s in sizes)
    edges = _without_gaps(_joined(_doubling(k, largest), sizes, k), sizes, k)
    return tuple(
        ClassBin(
            low=low,
            high=high,
            before=_inside(before, low, high),
            after=_inside(after, low, high),
            everything=_inside(everything, low, high),
        )
        for low, high in edges
    )


def _doubling(k: int, largest: int) -> Edges:
    """Bins: 1, then 2 to k - 1, then from k on each twice as wide as the one before."""
    starts = sorted({1, min(2, k), k})
    while starts[-1] * 2 <= largest:
        starts.append(starts[-1] * 2)
    ends: list[int | None] = [start - 1 for start in starts[1:]]
    return list(zip(starts, [*ends, None]))


def _joined(edges: Edges, sizes: Sequence[Ints], k: int) -> Edges:
    """Bins merged with a neighbour until each counts nobody or at least k people."""
    while edges:
        counts = [[_inside(s, low, high) for s in sizes] for low, high in edges]
        small = [i for i, pair in enumerate(counts) if any(0 < n < k for n in pair)]
        if not small:
            return edges
        if len(edges) == 1:
            return []
        at = min(small[0], len(edges) - 2)
        edges = [*edges[:at], (edges[at][0], edges[at + 1][1]), *edges[at + 2 :]]
    return edges


def _without_gaps(edges: Edges, sizes: Sequence[Ints], k: int) -> Edges:
    """Bins with neighbouring empty ones from k on merged into one."""
    merged: Edges = []
    gap = False
    for low, high in edges:
        empty = low >= k and not any(_inside(s, low, high) for s in sizes)
        if empty and gap:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
        gap = empty
    return merged


def _inside(sizes: Ints, low: int, high: int | None) -> int:
    inside = (sizes >= low) & (True if high is None else sizes <= high)
    return int(np.count_nonzero(inside))


def giveaway_facts(outcome: Outcome) -> GiveawayFacts | None:
    """What singles people of the original out.

    `None` if fewer than k people are, for synthetic rows, and with too many columns to search.
    """
    table, k = outcome.table, outcome.settings.k
    quasi = [c for c in table.quasi if c != table.sensitive]
    if outcome.release.is_drawn or not 0 < len(quasi) <= MOST_COLUMNS:
        return None
    uniques = special_uniques(table, quasi, most=affordable(len(quasi), table.rows, GIVEAWAY_WORK))
    if uniques.exposed < k:
        return None
    sets = [
        GiveawaySet(columns=tuple(each.columns), people=each.people)
        for each in uniques.sets
        if each.people >= k
    ]
    return GiveawayFacts(
        exposed=uniques.exposed,
        most=uniques.most,
        by_size=tuple(size_bins(uniques.by_size, k)),
        columns=tuple(
            GiveawayColumn(name=name, share=share) for name, share in uniques.column_shares.items()
        ),
        sets=tuple(sets[:GIVEAWAY_SETS]),
        worst=tuple(uniques.worst_columns),
    )


def size_bins(by_size: Sequence[int], k: int) -> list[GiveawayBin]:
    """Merge neighbouring sizes until each bin holds nobody or at least k people.

    >>> [(b.low, b.high, b.people) for b in size_bins([2, 30, 9, 1], k=5)]
    [(1, 2, 32), (3, 4, 10)]
    """
    bins: list[GiveawayBin] = []
    low, people = 1, 0
    for size, count in enumerate(by_size, start=1):
        people += count
        if people == 0 or people >= k:
            bins.append(GiveawayBin(low=low, high=size, people=people))
            low, people = size + 1, 0
    if people:  # too few on their own: with the last bin that holds anybody
        while bins and not bins[-1].people:
            bins.pop()
        last = bins.pop() if bins else GiveawayBin(low=1, high=1, people=0)
        bins.append(replace(last, high=len(by_size), people=last.people + people))
    return bins


def class_facts(outcome: Outcome) -> ClassSizes | None:
    """Class sizes in the original and in the release; `None` for synthetic rows."""
    release, k = outcome.release, outcome.settings.k
    if release.is_drawn:
        return None
    kind: Kind = "containment" if release.by_containment else "equal"
    return class_size_bins(*class_sizes_of(outcome), k=k, kind=kind)
