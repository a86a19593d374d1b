"""How many rows of each label match each rule: the matrix from which every measure is computed.

Each condition is a row of bits, one bit for each row of a chunk, and a rule is the AND of its
conditions. With few labels the rows stay in order, and the bits of a rule are counted under a mask
for each label. With many labels the rows are sorted by label, each label starting a new word of 64
bits, so that one pass of counting bits gives all labels of a rule.

On a column that was released in a coarser form, a condition on values becomes one on groups: a
group meets it if every value in it does. For `age <= 43`, these are the groups `[30, 40)` and
below; nobody in `[40, 50)` is known to meet it, nor to meet `age > 43`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, InputError, TamisWarning, listed, plural
from tamis.notebook import by_fields
from tamis.rules.pack import Bits, Block, PackedColumn, Places, first_only, matching
from tamis.rules.rule import Condition, OneOf, Rule
from tamis.rules.ruleset import Holds, RuleSet, holds, known_value, refuse_unfit, texts
from tamis.table import bare

Matrix = NDArray[np.int64]

MEMORY = 256 * 2**20
"""The most bytes that a count may hold at once, by default."""

_BLOCK = 64
"""Rules counted together; few enough that their bits stay in cache."""

_FEW_LABELS = 4
"""Up to this many values of the target, a mask for each costs less than sorting the rows."""

_MOST_WORDS = 1024
"""The longest chunk, in words of 64 rows, however much memory there is: its bits stay in cache."""
_BYTES_A_ROW = 128
"""A generous bound on the bytes that one row takes while its columns are packed."""


@dataclass(frozen=True)
class Counts:
    """Numbers of rows of a table by rule and label.

    Attributes
    ----------
    labels : tuple of str
        The labels of the columns of the matrices.
    by_label : array, rules x labels
        Rows that match each rule; a row counts for every rule that it matches.
    first : array, rules x labels, or None
        Rows for which the rule is the first that they match; only if requested.
    totals, covered : arrays, one number per label
        All rows, and the rows that match some rule.
    """

    labels: tuple[str, ...]
    by_label: Matrix
    first: Matrix | None
    totals: Matrix
    covered: Matrix

    __repr__ = by_fields

    @property
    def rows(self) -> int:
        return int(self.totals.sum())

    @property
    def support(self) -> Matrix:
        """Rows that match each rule."""
        support: Matrix = self.by_label.sum(axis=1)
        return support

    @property
    def coverage(self) -> float:
        """Fraction of the rows that match some rule."""
        return int(self.covered.sum()) / self.rows if self.rows else 0.0


def count_rules(
    rules: RuleSet,
    frame: pl.DataFrame,
    target: str,
    *,
    labels: Sequence[str] | None = None,
    memory: int = MEMORY,
    first_match: bool = False,
) -> Counts:
    """Count the rows of `frame` by rule and label.

    Rules on columns that the frame lacks count nothing; `tamis.evaluate.retention` distinguishes
    them from rules that no row matches. Rows without a label are left out, with a warning.

    Parameters
    ----------
    labels : list of str, optional
        The labels to count; by default those of the frame, sorted.
    memory : int
        The most bytes to use while counting.
    first_match : bool
        Also count each row only for the first rule that it matches.

    Examples
    --------
    >>> rules = RuleSet.parse("age > 40 -> ill=yes")
    >>> frame = pl.DataFrame({"age": [30, 50, 60, None], "ill": ["no", "no", "yes", "yes"]})
    >>> count_rules(rules, frame, "ill").by_label.tolist()
    [[1, 1]]
    """
    _warn_of_missing(frame[target])
    column = bare(frame[target])
    column = column.cast(pl.String) if holds(column.dtype) == "text" else column
    cells = column.unique()
    labels = _sorted_labels(cells) if labels is None else list(labels)
    counter = _Counter(rules, frame, len(labels), first_match)
    position = _positions(cells.drop_nulls(), labels)
    size = counter.chunk_rows(memory)
    for start in range(0, frame.height, size):
        chunk, cells = frame.slice(start, size), column.slice(start, size)
        if len(position) <= _FEW_LABELS:
            counter.add(chunk, _masked(cells, position, len(labels)))
            continue
        codes = _codes(cells, position)
        if (codes < 0).any():
            chunk, codes = chunk.filter(codes >= 0), codes[codes >= 0]
        counter.add(chunk, _laid_out(codes, len(labels)))
    return Counts(tuple(labels), counter.by_label, counter.first, counter.totals, counter.covered)


class _Counter:
    """Counts so far, and what is needed to add those of another chunk of rows."""

    def __init__(self, rules: RuleSet, frame: pl.DataFrame, labels: int, first_match: bool):
        known = set(frame.columns)
        # Each distinct condition is evaluated once, however many rules have it.
        conditions = {c: i for i, c in enumerate(rules.conditions)}
        wanted = [[conditions[c] for c in r.conditions] for r in rules]
        self.conditions = len(conditions)
        by_column: dict[str, list[tuple[int, Condition]]] = {
            c: [] for c in rules.columns if c in known
        }
        for condition, position in conditions.items():
            if condition.column in by_column:
                by_column[condition.column].append((position, condition))
        self.packed = [PackedColumn(c, on_it, frame.schema[c]) for c, on_it in by_column.items()]
        usable = np.flatnonzero([known.issuperset(r.columns) for r in rules])
        self.blocks = [Block(usable[i : i + _BLOCK], wanted) for i in range(0, len(usable), _BLOCK)]
        self.by_label = np.zeros((len(rules), labels), dtype=np.int64)
        self.first = np.zeros_like(self.by_label) if first_match else None
        self.totals = np.zeros(labels, dtype=np.int64)
        self.covered = np.zeros(labels, dtype=np.int64)

    def chunk_rows(self, memory: int) -> int:
        """The number of rows to read at once to stay within `memory`."""
        labels = len(self.totals)
        groups = max((p.groups for p in self.packed), default=0)
        # Bytes for 64 rows: a word for each condition, for each group of one column and for the
        # buffers of a block, and the columns themselves. Sorted by label, each label may leave a
        # word partly empty, hence the words taken off below.
        a_word = 8 * (self.conditions + groups + 4 * _BLOCK) + 64 * _BYTES_A_ROW
        words = memory // a_word - labels
        if words < 1:
            raise InputError(
                f"counting {len(self.by_label)} rules over {labels} labels needs at least "
                f"{a_word * (labels + 1)} bytes of memory, only {memory} are allowed"
            )
        return 64 * min(words, _MOST_WORDS)

    def add(self, chunk: pl.DataFrame, layout: _Masked | _Sorted) -> None:
        """Count the rows of one chunk."""
        places, everyone = layout.places, layout.everyone
        answers = np.empty((self.conditions, places.words), dtype=np.uint64)
        for column in self.packed:
            column.fill(answers, chunk[column.name], places)
        self.totals += layout.by_label(everyone[None, :])[0]
        seen = np.zeros_like(everyone)
        for block in self.blocks:
            bits = block.matches(answers, everyone)
            self.by_label[block.rules] += layout.by_label(bits)
            if self.first is not None:
                first = first_only(block.unsorted(bits), seen)
                self.first[block.in_order] += layout.by_label(first)
            np.bitwise_or(seen, np.bitwise_or.reduce(bits, axis=0), out=seen)
        self.covered += layout.by_label(seen[None, :])[0]


@dataclass(frozen=True)
class _Masked:
    """Rows in their order, with a mask of bits for each label; unlabelled rows are in no mask."""

    places: Places
    masks: Bits

    @property
    def everyone(self) -> Bits:
        everyone: Bits = np.bitwise_or.reduce(self.masks, axis=0)
        return everyone

    def by_label(self, bits: Bits) -> Matrix:
        """Number of bits set in each row of bits, by label."""
        counts = np.empty((len(bits), len(self.masks)), dtype=np.int64)
        for label, mask in enumerate(self.masks):
            np.bitwise_count(bits & mask).sum(axis=1, dtype=np.int64, out=counts[:, label])
        return counts


def _masked(cells: pl.Series, position: dict[Any, int], labels: int) -> _Masked:
    places = Places.in_order(len(cells))
    masks = np.zeros((labels, places.words), dtype=np.uint64)
    for cell, label in position.items():
        if label >= 0:
            here = cells == cell
            here = here.fill_null(False) if here.null_count() else here
            masks[label] |= places.packed(here.to_numpy())
    return _Masked(places, masks)


@dataclass(frozen=True)
class _Sorted:
    """Rows sorted by label, and the first word of each label."""

    places: Places
    starts: NDArray[np.int64]

    @property
    def everyone(self) -> Bits:
        everyone: Bits = self.places.scattered(np.zeros(len(self.places.bit), dtype=np.int64), 1)[0]
        return everyone

    def by_label(self, bits: Bits) -> Matrix:
        """Number of bits set in each row of bits, by label."""
        starts = self.starts
        counts = np.zeros((len(bits), len(starts) - 1), dtype=np.int64)
        # Only labels with rows: of an empty slice, reduceat gives its first element, not 0.
        held = np.flatnonzero(np.diff(starts))
        if len(held):
            ones = np.bitwise_count(bits)
            counts[:, held] = np.add.reduceat(ones, starts[held], axis=1, dtype=np.int64)
        return counts


def _laid_out(codes: NDArray[np.int64], labels: int) -> _Sorted:
    sizes = np.bincount(codes, minlength=labels)
    words = (sizes + 63) // 64
    starts = np.concatenate([[0], np.cumsum(words)])
    # A stable sort of 8- or 16-bit integers is a radix sort, which is faster.
    order = np.argsort(codes.astype(np.min_scalar_type(labels)), kind="stable")
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _Sorted(Places(64 * starts[codes] + rank, int(starts[-1])), starts)


def table_labels(frame: pl.DataFrame, target: str) -> list[str]:
    """The labels of a table, sorted, as rules write them.

    >>> table_labels(pl.DataFrame({"ill": [1.0, 0.0, None]}), "ill")
    ['0', '1']
    """
    return _sorted_labels(bare(frame[target]).unique())


def predicted_labels(rules: RuleSet, held: Holds, labels: Sequence[str]) -> NDArray[np.int64]:
    """For each rule, the position in `labels` of the label it predicts; -1 if it is not there.

    >>> predicted_labels(RuleSet.parse("a > 0 -> y=01\\na < 0 -> y=2"), "numbers", ["1"]).tolist()
    [0, -1]
    """
    position = {label: i for i, label in enumerate(labels)}
    places = [position.get(known_value(rule.label, held) or "", -1) for rule in rules]
    return np.array(places, dtype=np.int64)


def _sorted_labels(cells: pl.Series) -> list[str]:
    return sorted(texts(cells).drop_nulls().unique().to_list())


def _positions(cells: pl.Series, labels: Sequence[str]) -> dict[Any, int]:
    """The position of each value of the target in `labels`; -1 if it is not there."""
    position = {label: i for i, label in enumerate(labels)}
    return {cell: position.get(text, -1) for cell, text in zip(cells, texts(cells))}


def _codes(column: pl.Series, position: dict[Any, int]) -> NDArray[np.int64]:
    if not position:
        return np.full(len(column), -1, dtype=np.int64)
    return column.replace_strict(position, default=-1, return_dtype=pl.Int64).to_numpy()


def _warn_of_missing(labels: pl.Series) -> None:
    if labels.null_count():
        warnings.warn(
            f"{plural(labels.null_count(), 'row')} without a label in column {labels.name!r} left "
            "out",
            TamisWarning,
            stacklevel=3,
        )


def kept_rules(
    rules: RuleSet,
    frame: pl.DataFrame,
    target: str,
    *,
    min_support: float = 0.0,
    min_confidence: float = 0.0,
    only: Sequence[str] | None = None,
) -> RuleSet:
    """The rules with enough support and confidence in a table, among those that are named.

    Parameters
    ----------
    min_support : float
        The smallest fraction of the rows that match a rule.
    min_confidence : float
        The smallest fraction of these rows that have the label it predicts.
    only : list of str, optional
        The ids of the rules to keep; by default all.

    Examples
    --------
    >>> rules = RuleSet.parse("a > 0 -> y=1\\na > 2 -> y=0")
    >>> frame = pl.DataFrame({"a": [1, 2, 3], "y": [1, 1, 1]})
    >>> kept_rules(rules, frame, "y", min_support=0.5).to_text()
    'r1: a > 0 -> y=1'
    """
    for name, share in (("min_support", min_support), ("min_confidence", min_confidence)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} must be a share between 0 and 1, got {share:g}")
    wanted = _named(rules, only)
    if min_support or min_confidence:
        wanted &= _strong(rules, frame, target, min_support, min_confidence)
    if not wanted.any():
        raise CannotMeet(
            f"none of the {len(rules)} rules has a support of {min_support:g} and a confidence of "
            f"{min_confidence:g}; lower them"
        )
    # Rules without an id keep the name that came from their old position.
    named = [replace(rule, id=name) for rule, name in zip(rules, rules.ids)]
    return RuleSet([rule for rule, keep in zip(named, wanted) if keep], rules.target)


def _named(rules: RuleSet, only: Sequence[str] | None) -> np.ndarray:
    if only is None:
        return np.ones(len(rules), dtype=bool)
    unknown = [name for name in only if name not in rules.ids]
    if unknown:
        raise InputError(f"no rule {listed(unknown)}; the rules are {listed(rules.ids)}")
    return np.array([name in set(only) for name in rules.ids])


def _strong(
    rules: RuleSet, frame: pl.DataFrame, target: str, support: float, confidence: float
) -> np.ndarray:
    refuse_unfit(rules, frame, "the original")
    counts = count_rules(rules, frame, target)
    at = predicted_labels(rules, holds(frame.schema[target]), counts.labels)
    right = np.where(at >= 0, counts.by_label[np.arange(len(rules)), at], 0)
    enough = counts.support >= support * counts.rows
    return enough & (right >= confidence * counts.support) & (counts.support > 0)


class ValueLabels(NamedTuple):
    """The values of a column, and the label of the group of each."""

    values: pl.Series
    labels: pl.Series


def coarse_rules(rules: RuleSet, groups: Mapping[str, ValueLabels]) -> RuleSet:
    """Translate rules about values into rules about columns in a coarser form.

    Parameters
    ----------
    rules : RuleSet
        About the values of the original.
    groups : mapping of column to ValueLabels
        For each coarser column, its distinct values and their labels.

    Returns
    -------
    RuleSet
        As many rules in the same order, with the same ids.

    Examples
    --------
    >>> ages = ValueLabels(pl.Series([35, 39, 41, 47]), pl.Series(["30s", "30s", "40s", "40s"]))
    >>> print(coarse_rules(RuleSet.parse("age <= 43 -> ill=no"), {"age": ages}).to_text())
    r1: age = 30s -> ill=no
    """
    if not groups:
        return rules
    of_column = {column: _Groups(*labelled) for column, labelled in groups.items()}

    def coarse(condition: Condition) -> Condition:
        known = of_column.get(condition.column)
        return condition if known is None else known.meeting(condition)

    translated = [
        Rule(map(coarse, rule.conditions), rule.label, rule.distribution, name)
        for name, rule in zip(rules.ids, rules)
    ]
    return RuleSet(translated, target=rules.target)


class _Groups:
    """The groups of one column, and which of them meet conditions."""

    def __init__(self, values: pl.Series, labels: pl.Series) -> None:
        present = bare(labels).is_not_null()
        self.values = bare(values).filter(present)
        self.labels, self.group = np.unique(
            bare(labels).filter(present).to_numpy().astype(np.str_), return_inverse=True
        )
        # For numbers, infinity is a label that no column contains.
        numbers = labels.dtype.is_numeric()
        self.no_label = "inf" if numbers else _no_label(self.labels.tolist())
        self._known: dict[Condition, OneOf] = {}

    def meeting(self, condition: Condition) -> OneOf:
        """The condition that a cell is one of the groups in which every value meets `condition`."""
        if condition not in self._known:
            failing = np.bincount(
                self.group, weights=~matching(condition, self.values), minlength=len(self.labels)
            )
            # A condition must list a value; if no group meets it, one that no cell has.
            labels = self.labels[failing == 0].tolist() or [self.no_label]
            self._known[condition] = OneOf(condition.column, tuple(labels))
        return self._known[condition]


def _no_label(labels: list[str]) -> str:
    """A text that is no label, for a condition that no group is known to meet."""
    text = "none"
    while text in labels:
        text = f"({text})"
    return text
