"""The classes of rows that look alike at a node, and which of them may leave.

A *node* has a level for each column. Its classes are the rows that are equal at these levels; a
class that breaks a constraint is suppressed, all its rows together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.coarsen.ladder import Hierarchy
from tamis.coding import LARGEST, ROOMY
from tamis.errors import check_whole
from tamis.requirements import ROUNDING, Kind, check_diversity, exceeds, falls_short, reaches
from tamis.risk.anonymity import Anonymity
from tamis.risk.diversity import Distance, Spread, recursive_ratios

if TYPE_CHECKING:
    from tamis.coarsen.lattice import InRegister

Ints = NDArray[Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Constraints:
    """What every class that leaves must satisfy.

    Parameters
    ----------
    k : int
        The fewest people in a class.
    l : int, optional
        The least diversity of a class, as `kind` counts it; it has as many people and distinct
        sensitive values at least.
    t : float, optional
        The farthest that the sensitive values of a class may be from those of the whole table.
    distance : {"equal", "ordered"}
        Whether t takes all sensitive values to be equally far apart, or counts the steps between
        them; see `tamis.risk.diversity.t_closeness`.
    kind : {"distinct", "entropy", "recursive"}
        How l counts sensitive values; see `tamis.risk.anonymity.Anonymity`.
    c : float
        For `recursive`.
    also : Anonymity, optional
        What else is asked: its alpha, beta, delta_disclosure and max_average_risk.

    Examples
    --------
    >>> Constraints(k=5, l=3).needs_values
    True
    """

    k: int = 5
    l: int | None = None  # noqa: E741 - the field's name for it
    t: float | None = None
    distance: Distance = "equal"
    kind: Kind = "distinct"
    c: float = 3.0
    also: Anonymity | None = None

    def __post_init__(self) -> None:
        check_whole("k", self.k)
        check_diversity(self.l, self.kind, self.c, self.t)

    @property
    def shared(self) -> bool:
        """Whether l depends on how frequent sensitive values are, not only on which occur."""
        return self.l is not None and self.kind != "distinct"

    @property
    def needs_values(self) -> bool:
        """Whether a sensitive column is needed."""
        more = self.also is not None and self.also.of_secrets
        return self.l is not None or self.t is not None or more


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Distinct rows as leaves of hierarchies, each with the number of rows it stands for.

    Parameters
    ----------
    leaves : array of int32, one line a column
        The leaf of each distinct row.
    weight : array of int
        The rows that each distinct row stands for.
    hierarchies : tuple of Hierarchy
        One for each column.
    of_row : array of int
        The distinct row of each row of the table.
    people, values : arrays of int, optional
        The person and the sensitive value of each distinct row, from 0 without gaps.
    missing : bool
        Whether the last sensitive value means missing.
    register : InRegister, optional
        How likely people of a register may be in the table, by the levels of a node.
    """

    leaves: Ints
    weight: Ints
    hierarchies: tuple[Hierarchy, ...]
    of_row: Ints
    people: Ints | None = None
    values: Ints | None = None
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
    def first_leaf(self) -> Ints:
        """Where the leaves of each column start if all are counted in one array; then the end."""
        return np.cumsum([0, *(h.leaves for h in self.hierarchies)])

    @cached_property
    def leaf_rows(self) -> list[Floats]:
        """For each column, the rows with each leaf."""
        return [
            np.bincount(line, self.weight, h.leaves).astype(np.float64)
            for line, h in zip(self.leaves, self.hierarchies)
        ]

    @cached_property
    def _forms(self) -> Ints:
        """The group of each distinct row: a line for each level of each column."""
        lines = [
            level[line] for line, h in zip(self.leaves, self.hierarchies) for level in h.groups
        ]
        return np.array(lines, dtype=np.int32)

    @cached_property
    def _first_form(self) -> Ints:
        return np.cumsum([0, *(len(h.groups) for h in self.hierarchies)])

    @cached_property
    def _form_widths(self) -> list[int]:
        return [width for h in self.hierarchies for width in h.widths]

    def classes_at(self, levels: Levels) -> tuple[Ints, int]:
        """The class of each distinct row at a node, and the number of classes."""
        forms = [int(first) + level for first, level in zip(self._first_form, levels)]
        return numbered_rows(self._forms, [self._form_widths[f] for f in forms], forms)

    @cached_property
    def usual_shares(self) -> Floats:
        """The share of each sensitive value in the whole table, suppressed rows included."""
        assert self.values is not None
        weight = self._value_weight(np.zeros(len(self.weight), dtype=np.int64))
        counts = np.bincount(self.values, weight).astype(np.float64)
        shares: Floats = counts / counts.sum()
        return shares

    @cached_property
    def _person_values(self) -> Ints:
        """A number for each pair of a person and a sensitive value."""
        assert self.people is not None
        assert self.values is not None
        pairs: Ints = self.people * (self.values.max() + 1) + self.values
        return pairs

    def _value_weight(self, class_of: Ints) -> Ints:
        """What each distinct row adds to the count of its sensitive value in its class."""
        return self.weight if self.people is None else self._firsts(class_of, self._person_values)

    @staticmethod
    def _firsts(class_of: Ints, items: Ints) -> Ints:
        from tamis.coarsen.kernels import first_in_class

        first: Ints = first_in_class(class_of, items, int(items.max()) + 1)
        return first

    def once_in_class(self, class_of: Ints) -> Ints:
        """What each distinct row adds to the people of its class."""
        return self.weight if self.people is None else self._firsts(class_of, self.people)

    def people_in(self, class_of: Ints, classes: int, sizes: Ints) -> Ints:
        """The number of people in each class; `sizes` are its rows."""
        if self.people is None:
            return sizes
        return np.bincount(class_of, self.once_in_class(class_of), classes)

    def values_in(self, class_of: Ints, classes: int) -> Ints:
        """The number of distinct sensitive values in each class."""
        assert self.values is not None
        return np.bincount(class_of, self._firsts(class_of, self.values), classes)

    def too_uniform(self, class_of: Ints, classes: int, asked: Constraints) -> Bools:
        """Which classes lack the entropy or recursive l, by how frequent their values are."""
        from tamis.coarsen.kernels import entropies_by_class, rows_by_class

        assert asked.l is not None
        if asked.kind == "recursive":
            ratios = recursive_ratios(self.spread(class_of, classes), asked.l)
            return np.asarray(reaches(ratios, asked.c))
        weight, distinct = self._value_weight(class_of), len(self.usual_shares)
        values, weight, starts = rows_by_class(class_of, self.values, weight, classes)
        entropies = entropies_by_class(values, weight, starts, distinct)
        return np.asarray(falls_short(np.exp(entropies), asked.l))

    def distances(self, class_of: Ints, classes: int, distance: Distance) -> Floats:
        """How far the sensitive values of each class are from those of the whole table."""
        from tamis.coarsen.kernels import equal_distances, ordered_distances, rows_by_class

        weight, usual = self._value_weight(class_of), self.usual_shares
        values, weight, starts = rows_by_class(class_of, self.values, weight, classes)
        if distance == "equal":
            found: Floats = equal_distances(values, weight, starts, usual)
            return found
        found = ordered_distances(values, weight, starts, usual)
        if self.missing:  # it has no place among numbers: the farther of both ends counts
            below = (values + 1) % len(usual)
            found = np.maximum(found, ordered_distances(below, weight, starts, np.roll(usual, 1)))
        return found

    def spread(self, class_of: Ints, classes: int) -> Spread:
        """The sensitive values of each class, as the measures of a table count them."""
        from tamis.coarsen.kernels import rows_by_class

        assert self.values is not None
        order = self._by_value  # kept within each class, which then has equal values together
        weight = self._value_weight(class_of)
        values, weight, starts = rows_by_class(
            class_of[order], self.values[order], weight[order], classes
        )
        opens = np.diff(values, prepend=-1) != 0
        opens[starts[:-1]] = True
        entries = np.flatnonzero(opens)
        counts = np.add.reduceat(weight, entries)
        first = np.searchsorted(entries, starts[:-1])
        sizes = np.add.reduceat(counts, first)
        of_class = np.repeat(np.arange(classes), np.diff(first, append=len(entries)))
        people = None if self.people is None else self.people_in(class_of, classes, sizes)
        values, usual = values[entries], self.usual_shares
        return Spread(of_class, values, counts, first, sizes, usual, False, self.missing, people)

    @cached_property
    def _by_value(self) -> Ints:
        """The distinct rows in the order of their sensitive values."""
        assert self.values is not None
        return np.argsort(self.values, kind="stable")

    def average_risk(self, class_of: Ints, people: Ints, kept: Bools) -> float:
        """The mean over people who leave of 1 by the people of their smallest class."""
        leaving = kept[class_of]
        risk = 1 / people[class_of[leaving]]
        if self.people is None:
            return float(np.average(risk, weights=self.weight[leaving]))
        worst = np.zeros(int(self.people.max()) + 1)
        np.maximum.at(worst, self.people[leaving], risk)
        return float(worst[worst > 0].mean())


def coded_rows(
    leaves: Sequence[Ints],
    hierarchies: Sequence[Hierarchy],
    *,
    people: Ints | None = None,
    values: Ints | None = None,
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
    for more in (people, values):
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
        people=None if people is None else people[shown].astype(np.int64),
        values=None if values is None else values[shown].astype(np.int64),
        missing=missing,
    )


def numbered_rows(table: Ints, widths: Sequence[int], lines: Sequence[int]) -> tuple[Ints, int]:
    """Number the rows by some lines of a table of codes: equal rows have equal numbers.

    `widths` are the numbers of codes in these lines. Lines of one code are not looked at; the
    others are joined to one key, and numbered anew before the key would pass 64 bits.
    """
    from tamis.coarsen.kernels import mixed_keys, number_direct, number_hashed

    rows = table.shape[1]
    of_row, known = np.zeros(rows, dtype=np.int32), 1
    for chunk in _chunks([(line, width) for line, width in zip(lines, widths) if width > 1], rows):
        strides, radix = _strides([width for _, width in chunk], known)
        keys = mixed_keys(table, np.array([line for line, _ in chunk]), np.array(strides))
        if known > 1:
            keys += of_row
        of_row, known = number_direct(keys, radix) if radix <= ROOMY * rows else number_hashed(keys)
    return of_row, known


def _chunks(columns: list[tuple[int, int]], rows: int) -> list[list[tuple[int, int]]]:
    """Consecutive columns whose codes fit one key together with a number of a row."""
    chunks: list[list[tuple[int, int]]] = []
    radix = LARGEST
    for column in columns:
        if radix * column[1] >= LARGEST:
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
    """The classes at some levels, and which of them leave.

    Parameters
    ----------
    levels : tuple of int
    class_of : array of int
        The class of each distinct row.
    sizes : array of int
        The rows of each class.
    doomed : array of bool
        The classes with too few people or values: so has every finer class inside them.
    suppressed : array of bool
        The classes that do not leave: doomed, too far from the whole table, or with one sensitive
        value too frequent.
    stray : int
        Of the rows of classes that are not doomed, so many are suppressed at every finer node too.
    register : InRegister, optional
        What says whether a node tells too much about who is in the table.
    """

    levels: Levels
    class_of: Ints
    sizes: Ints
    doomed: Bools
    suppressed: Bools
    stray: int = 0
    register: InRegister | None = None

    @cached_property
    def rows_suppressed(self) -> int:
        """The rows that do not leave."""
        return int(self.sizes[self.suppressed].sum())

    @cached_property
    def rows_doomed(self) -> int:
        """The rows in doomed classes."""
        return int(self.sizes[self.doomed].sum())

    @property
    def rows_lost(self) -> int:
        """The fewest rows that this node and every finer one suppress."""
        return self.rows_doomed + self.stray

    @cached_property
    def barred(self) -> bool:
        """Whether it tells too much about who is in the table, whatever is suppressed."""
        return self.register is not None and not self.register.hides(self.levels)

    def may_leave(self, most: int) -> bool:
        """Whether the node may be chosen where at most so many rows are suppressed."""
        return self.rows_suppressed <= most and not self.barred

    def closes(self, most: int) -> bool:
        """Whether neither this node nor any finer one may be chosen then."""
        if self.rows_lost > most:
            return True
        return self.register is not None and self.register.nested and self.barred


def grouped_at(rows: CodedRows, levels: Levels, constraints: Constraints) -> LatticeNode:
    """Group the rows at a node and test each class.

    Where the average risk is too large, nothing leaves.

    Examples
    --------
    >>> sex = Hierarchy((np.array([0, 1]), np.array([0, 0])))
    >>> rows = coded_rows([np.array([1, 0, 1])], [sex])
    >>> grouped_at(rows, (0,), Constraints(k=2)).rows_suppressed
    1
    """
    node = replace(_grouped_at(rows, levels, constraints), register=rows.register)
    return node if constraints.also is None else _held_to(constraints.also, node, rows)


def _held_to(asked: Anonymity, node: LatticeNode, rows: CodedRows) -> LatticeNode:
    """The node with more classes suppressed: those that lack what else is asked.

    They are not doomed: of a class that a split takes apart, a part may keep it.
    """
    classes = len(node.sizes)
    suppressed = node.suppressed.copy()
    if asked.of_secrets:
        suppressed |= asked.unlike(rows.spread(node.class_of, classes))
    if asked.max_average_risk is not None and not suppressed.all():
        people = rows.people_in(node.class_of, classes, node.sizes)
        average = rows.average_risk(node.class_of, people, ~suppressed)
        suppressed |= exceeds(average, asked.max_average_risk)
    return replace(node, suppressed=suppressed)


def _grouped_at(rows: CodedRows, levels: Levels, constraints: Constraints) -> LatticeNode:
    from tamis.coarsen.kernels import summed_by_class

    class_of, classes = rows.classes_at(levels)
    sizes = summed_by_class(class_of, rows.weight, classes)
    people = rows.people_in(class_of, classes, sizes)
    doomed = people < constraints.k
    if constraints.l is not None:
        diverse = np.minimum(rows.values_in(class_of, classes), people)
        doomed |= diverse < constraints.l
    if constraints.t is None and not constraints.shared:
        return LatticeNode(tuple(levels), class_of, sizes, doomed, doomed)
    suppressed, fewest = doomed, np.zeros(classes)
    if constraints.shared:
        uniform = rows.too_uniform(class_of, classes, constraints)
        # Classes that all keep this kind of l keep it together: of a class that does not, no split
        # saves every row.
        suppressed, fewest = suppressed | uniform, fewest + uniform
    if constraints.t is not None:
        distances = rows.distances(class_of, classes, constraints.distance)
        suppressed = suppressed | exceeds(distances, constraints.t)
        fewest = np.maximum(fewest, _fewest_lost(sizes, distances, constraints.t))
    # A person in two parts of a class counts in both: then a split may save all.
    stray = 0 if rows.people is not None else int(fewest[~doomed].sum())
    return LatticeNode(tuple(levels), class_of, sizes, doomed, suppressed, stray)


def _fewest_lost(sizes: Ints, distances: Floats, t: float) -> Floats:
    """The fewest rows of each far class that no split saves.

    A class is a mixture of what is kept of it, at most t away, and of the rest, at most 1 away;
    distances are convex. So of n rows at distance d, at least n (d - t) / (1 - t) are lost.
    """
    t += ROUNDING  # as far as may be kept: of large classes a billionth is a row
    if t >= 1:
        return np.zeros(len(sizes))
    return np.maximum(np.ceil(sizes * (distances - t) / (1 - t) - 1e-9), 0)
