"""The equivalence classes of rows at a node of the lattice, and which of them may be released.

A *node* assigns a level to each column. Its classes are the groups of rows that are equal at these
levels. A class that breaks a requirement is suppressed as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tamis.arrays import Bools, Floats, Integers
from tamis.coarsen.ladder import Hierarchy
from tamis.coding import CODE_LIMIT, ROOMY
from tamis.people import People, PeopleLike
from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts, Distance, Spread, fewest_holders

if TYPE_CHECKING:
    from tamis.coarsen.lattice import InRegister

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The distinct rows of a table, as leaves of hierarchies, each with its number of rows.

    Parameters
    ----------
    leaves : array of int32, one line a column
        The leaf of each distinct row.
    weight : array of int
        How many rows of the table equal each distinct row.
    hierarchies : tuple of Hierarchy
        One for each column.
    of_row : array of int
        The distinct row of each row of the table.
    people : array of int, optional
        The person of each distinct row, from 0 without gaps, if some people have several rows;
        otherwise each row is a person, and `weight` counts people.
    values : array of int, optional
        The sensitive value of each distinct row, from 0 without gaps.
    missing : bool
        Whether the last sensitive value means missing.
    register : InRegister, optional
        The register of delta-presence, where one is given.
    """

    leaves: Integers
    weight: Integers
    hierarchies: tuple[Hierarchy, ...]
    of_row: Integers
    people: Integers | None = None
    values: Integers | None = None
    missing: bool = False
    register: InRegister | None = None

    @cached_property
    def rows(self) -> int:
        """The number of rows of the table."""
        return len(self.of_row)

    @property
    def top(self) -> Levels:
        """The node at which every column has its coarsest form."""
        return tuple(h.top for h in self.hierarchies)

    @cached_property
    def first_leaf(self) -> Integers:
        """Offset of each column's leaves in one array of all leaves; last its length."""
        return np.cumsum([0, *(h.leaves for h in self.hierarchies)])

    @cached_property
    def leaf_rows(self) -> list[Floats]:
        """For each column, the number of rows with each leaf."""
        return [
            np.bincount(line, self.weight, h.leaves).astype(np.float64)
            for line, h in zip(self.leaves, self.hierarchies)
        ]

    @cached_property
    def _forms(self) -> Integers:
        """Group of each distinct row, a line for each level of each column.

        Written out once: a search asks for the classes of thousands of nodes.
        """
        lines = [
            level[line] for line, h in zip(self.leaves, self.hierarchies) for level in h.groups
        ]
        return np.array(lines, dtype=np.int32)

    @cached_property
    def _first_form(self) -> Integers:
        return np.cumsum([0, *(len(h.groups) for h in self.hierarchies)])

    @cached_property
    def _form_widths(self) -> list[int]:
        return [width for h in self.hierarchies for width in h.widths]

    def classes_at(self, levels: Levels) -> tuple[Integers, int]:
        """Number the classes at a node: the class of each distinct row, and how many there are."""
        forms = [int(first) + level for first, level in zip(self._first_form, levels)]
        return numbered_rows(self._forms, [self._form_widths[f] for f in forms], forms)

    @cached_property
    def usual_shares(self) -> Floats:
        """Share of each sensitive value in the whole table, suppressed rows included."""
        assert self.values is not None
        # The whole table as one class: a person's repeated rows with one value count once.
        weight = self.value_weight(np.zeros(len(self.weight), dtype=np.int64))
        counts = np.bincount(self.values, weight).astype(np.float64)
        shares: Floats = counts / counts.sum()
        return shares

    @cached_property
    def _person_values(self) -> Integers:
        """One number for each pair of person and sensitive value."""
        assert self.people is not None
        assert self.values is not None
        pairs: Integers = self.people * (self.values.max() + 1) + self.values
        return pairs

    def value_weight(self, class_of: Integers) -> Integers:
        """What each distinct row adds to the count of its sensitive value in its class."""
        return self.weight if self.people is None else self.firsts(class_of, self._person_values)

    @staticmethod
    def firsts(class_of: Integers, items: Integers) -> Integers:
        """1 for each distinct row that is the first of its class with its item, else 0."""
        from tamis.coarsen.kernels import first_in_class

        first: Integers = first_in_class(class_of, items, int(items.max()) + 1)
        return first

    def once_in_class(self, class_of: Integers) -> Integers:
        """What each distinct row adds to the people of its class."""
        return self.weight if self.people is None else self.firsts(class_of, self.people)

    def people_in(self, class_of: Integers, classes: int, sizes: Integers) -> Integers:
        """The number of people in each class; `sizes` are its rows."""
        if self.people is None:
            return sizes
        return np.bincount(class_of, self.once_in_class(class_of), classes)

    @cached_property
    def by_value(self) -> Integers:
        """The distinct rows in the order of their sensitive values."""
        assert self.values is not None
        return np.argsort(self.values, kind="stable")


def coded_rows(
    leaves: Sequence[Integers],
    hierarchies: Sequence[Hierarchy],
    *,
    people: PeopleLike = None,
    values: Integers | None = None,
    missing: bool = False,
) -> CodedRows:
    """Collapse equal rows; rows of different people or sensitive values stay apart.

    Examples
    --------
    >>> sex = Hierarchy((np.array([0, 1]), np.array([0, 0])))
    >>> coded_rows([np.array([1, 0, 1])], [sex]).weight.tolist()
    [2, 1]
    """
    lines = [np.asarray(line) for line in leaves]
    widths = [h.leaves for h in hierarchies]
    who = People.named(people, len(lines[0])).groups
    for more in (who, values):
        if more is not None:
            lines, widths = [*lines, more], [*widths, int(more.max()) + 1]
    table = np.array(lines, dtype=np.int64)
    of_row, distinct = numbered_rows(table, widths, range(len(widths)))
    shown = np.empty(distinct, dtype=np.int64)
    shown[of_row] = np.arange(len(of_row))
    return CodedRows(
        leaves=np.ascontiguousarray(table[: len(hierarchies), shown], dtype=np.int32),
        weight=np.bincount(of_row, minlength=distinct),
        hierarchies=tuple(hierarchies),
        of_row=of_row,
        people=None if who is None else who[shown],
        values=None if values is None else values[shown].astype(np.int64),
        missing=missing,
    )


def numbered_rows(
    table: Integers, widths: Sequence[int], lines: Sequence[int]
) -> tuple[Integers, int]:
    """Number the rows by some lines of a table of codes: equal rows get equal numbers.

    `widths` has the number of codes in each of these lines. Lines with a single code are skipped;
    the others are packed into one integer key, which is renumbered before it would exceed 64 bits.

    Returns the number of each row, in order of appearance, and how many numbers there are.
    """
    from tamis.coarsen.kernels import mixed_keys, number_direct, number_hashed

    rows = table.shape[1]
    of_row, known = np.zeros(rows, dtype=np.int32), 1
    for chunk in _chunks([(line, width) for line, width in zip(lines, widths) if width > 1], rows):
        strides, radix = _strides([width for _, width in chunk], known)
        keys = mixed_keys(table, np.array([line for line, _ in chunk]), np.array(strides))
        if known > 1:
            keys += of_row  # the number so far is the lowest digit; strides start above it
        # An array indexed by the key is faster than hashing, as long as it stays small.
        of_row, known = number_direct(keys, radix) if radix <= ROOMY * rows else number_hashed(keys)
    return of_row, known


def _chunks(columns: list[tuple[int, int]], rows: int) -> list[list[tuple[int, int]]]:
    """Split the columns into runs whose codes fit one key, together with a row number.

    A row number is below `rows`, so each run starts with room for it.
    """
    chunks: list[list[tuple[int, int]]] = []
    radix = CODE_LIMIT  # full, so that the first column opens a run
    for column in columns:
        if radix * column[1] >= CODE_LIMIT:
            chunks, radix = [*chunks, []], max(rows, 1)
        chunks[-1].append(column)
        radix *= column[1]
    return chunks


def _strides(widths: Sequence[int], known: int) -> tuple[list[int], int]:
    strides = []
    for width in widths:
        strides.append(known)
        known *= width
    return strides, known


@dataclass(frozen=True, eq=False)
class LatticeNode:
    """The classes at some levels, and which of them are suppressed.

    Parameters
    ----------
    levels : tuple of int
    class_of : array of int
        The class of each distinct row.
    sizes : array of int
        The number of rows of each class.
    infeasible : array of bool
        The classes that break a requirement however they are split, such as those of too few
        people: their rows are suppressed at every finer node, too.
    suppressed : array of bool
        The classes that are suppressed here: infeasible, or breaking something that a part of them
        may keep.
    lost_elsewhere : int
        A lower bound on the rows of feasible classes that every finer node suppresses.
    register : InRegister, optional
        Decides whether the node tells too much about who is in the table.
    """

    levels: Levels
    class_of: Integers
    sizes: Integers
    infeasible: Bools
    suppressed: Bools
    lost_elsewhere: int = 0
    register: InRegister | None = None

    @cached_property
    def rows_suppressed(self) -> int:
        """Number of suppressed rows."""
        return int(self.sizes[self.suppressed].sum())

    @cached_property
    def rows_infeasible(self) -> int:
        """Number of rows in infeasible classes."""
        return int(self.sizes[self.infeasible].sum())

    @property
    def rows_lost(self) -> int:
        """Lower bound on the rows that this node and every finer one suppress."""
        return self.rows_infeasible + self.lost_elsewhere

    @cached_property
    def forbidden(self) -> bool:
        """Whether the node breaks delta-presence, whatever is suppressed."""
        return self.register is not None and not self.register.hides(self.levels)

    def may_leave(self, most: int) -> bool:
        """Whether the node may be chosen if at most `most` rows may be suppressed."""
        return self.rows_suppressed <= most and not self.forbidden

    def closes(self, most: int) -> bool:
        """Whether neither this node nor any finer one may be chosen."""
        if self.rows_lost > most:
            return True
        return self.register is not None and self.register.nested and self.forbidden


@dataclass(frozen=True, eq=False)
class NodeCounts(ClassCounts):
    """The counts of a node's classes, by kernels where a search asks for them often.

    Parameters
    ----------
    rows : CodedRows
    class_of : array of int
        The class of each distinct row.
    leaving : array of bool, optional
        The classes that are released; `None`: all of them.
    """

    rows: CodedRows = field(kw_only=True)
    class_of: Integers = field(kw_only=True)
    leaving: Bools | None = field(default=None, kw_only=True)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.people)

    def distinct_values(self) -> Integers:
        rows, values = self.rows, self._values
        distinct = np.bincount(self.class_of, rows.firsts(self.class_of, values), self.classes)
        return np.minimum(distinct, self.people)

    def effective_values(self) -> Floats:
        """Exponential of the entropy, without the cap at the number of people.

        A class of fewer than l people is suppressed anyway.
        """
        from tamis.coarsen.kernels import entropies_by_class

        entropies = entropies_by_class(*self._rows_by_class, len(self.rows.usual_shares))
        return np.asarray(np.exp(entropies))

    def distances(self, distance: Distance | None = None) -> Floats:
        from tamis.coarsen.kernels import equal_distances, ordered_distances

        usual, (values, weight, starts) = self.rows.usual_shares, self._rows_by_class
        if distance != "ordered":
            found: Floats = equal_distances(values, weight, starts, usual)
            return found
        found = ordered_distances(values, weight, starts, usual)
        # A missing value has no place among numbers: the larger distance, at either end, counts.
        if self.rows.missing:
            below = (values + 1) % len(usual)
            found = np.maximum(found, ordered_distances(below, weight, starts, np.roll(usual, 1)))
        return found

    @cached_property
    def spread(self) -> Spread:
        from tamis.coarsen.kernels import rows_by_class

        # In the order of values, so that the stable sort by class puts equal values side by side.
        rows, order = self.rows, self.rows.by_value
        values, weight, starts = rows_by_class(
            self.class_of[order],
            self._values[order],
            rows.value_weight(self.class_of)[order],
            self.classes,
        )
        # An entry, one value of one class, opens where the value changes or a class starts.
        opens = np.diff(values, prepend=-1) != 0
        opens[starts[:-1]] = True
        entries = np.flatnonzero(opens)
        counts = np.add.reduceat(weight, entries)
        first = np.searchsorted(entries, starts[:-1])
        return Spread(
            classes=np.repeat(np.arange(self.classes), np.diff(first, append=len(entries))),
            values=values[entries],
            counts=counts,
            first=first,
            sizes=np.add.reduceat(counts, first),
            totals=rows.usual_shares,
            number=False,
            missing=rows.missing,
            people=self.people,
        )

    @cached_property
    def average_risk(self) -> float:
        """Mean over the released people of 1 / size of the smallest class that they are in."""
        rows = self.rows
        leaving = slice(None) if self.leaving is None else self.leaving[self.class_of]
        risk = 1 / self.people[self.class_of[leaving]]
        if rows.people is None:
            return float(np.average(risk, weights=rows.weight[leaving]))
        worst = People.of(rows.people)[leaving].worst(risk)
        return float(worst[worst > 0].mean())  # 0: a person all of whose rows are suppressed

    def holders_of_rows(self, rows: int) -> int:
        """Smallest number of released people who share any set of at most `rows` of one's rows."""
        coded = self.rows
        leaving = slice(None) if self.leaving is None else self.leaving[self.class_of]
        if coded.people is None:
            return int(self.people[self.class_of[leaving]].min())
        times = np.minimum(coded.weight[leaving], rows)  # a set of `rows` repeats none more often
        classes = np.repeat(self.class_of[leaving], times)
        whose = np.repeat(coded.people[leaving], times)
        return int(fewest_holders(classes, whose, rows).min())

    @property
    def _values(self) -> Integers:
        assert self.rows.values is not None
        return self.rows.values

    @cached_property
    def _rows_by_class(self) -> tuple[Integers, Integers, Integers]:
        """Values and weights of the distinct rows, sorted by class, and where each class starts."""
        from tamis.coarsen.kernels import rows_by_class

        weight = self.rows.value_weight(self.class_of)
        found: tuple[Integers, Integers, Integers] = rows_by_class(
            self.class_of, self._values, weight, self.classes
        )
        return found


def grouped_at(rows: CodedRows, levels: Levels, asked: Requirements) -> LatticeNode:
    """Group the rows at a node and test each class.

    If the classes together break a requirement of the whole release, all are suppressed.

    Examples
    --------
    >>> from tamis.require import requirements
    >>> sex = Hierarchy((np.array([0, 1]), np.array([0, 0])))
    >>> rows = coded_rows([np.array([1, 0, 1])], [sex])
    >>> grouped_at(rows, (0,), requirements(k=2)).rows_suppressed
    1
    """
    from tamis.coarsen.kernels import summed_by_class

    class_of, classes = rows.classes_at(levels)
    sizes = summed_by_class(class_of, rows.weight, classes)
    people = rows.people_in(class_of, classes, sizes)
    counts = NodeCounts(people, rows=rows, class_of=class_of)
    infeasible, suppressed = np.zeros(classes, np.bool_), np.zeros(classes, np.bool_)
    # By class, a lower bound on the rows lost however it is split: the largest of the bounds that
    # single requirements give, as the same rows may be lost by several.
    fewest: Floats | int = 0
    for requirement in asked.by_group:
        figures = requirement.figures(counts)
        breaking = requirement.is_short(figures)
        infeasible |= requirement.infeasible(counts, breaking)
        suppressed |= breaking
        lost = requirement.rows_lost(counts, figures)
        fewest = np.maximum(fewest, lost) if isinstance(lost, np.ndarray) else fewest
    suppressed |= infeasible
    # The bound holds only where each row is a person: someone with rows in two parts of a split
    # class counts in both, and so a split may save every row.
    lost_elsewhere = 0
    if rows.people is None and isinstance(fewest, np.ndarray):
        lost_elsewhere = int(fewest[~infeasible].sum())
    if asked.of_all and not suppressed.all():
        suppressed |= not asked.of_all.met(replace(counts, leaving=~suppressed))
    return LatticeNode(
        tuple(levels), class_of, sizes, infeasible, suppressed, lost_elsewhere, rows.register
    )
