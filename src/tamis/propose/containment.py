"""Releases of 0/1 columns under containment anonymity: what one person has, k people have.

An attacker who looks people up in a register knows what they lack as well as what they have. So if
the table is not one of 0/1 records, or its holder named quasi-identifiers, the 0/1 columns made of
these must also leave k people equal; columns of a chosen set that would break that are left out.

Of records with very many columns, a few hundred are compared. They have three sources, none of
which makes the records dense: the sets that containment chooses from all columns, and the most
promising columns about the target and about the secret, by a score test on what earlier columns
leave unexplained. Only rows that a search may see are used; anonymity is counted on all rows.

For sparse records beyond memory, an engine selects the columns to compare. They are selected on a
sample of the entities; that k entities have each of them, and what every entity has of them, is
counted on all. The selected columns fit in memory, where the rest of the job is done as with any
records: no count is of a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.records import BinaryTable, from_matrix
from tamis.catalogue.methods import CONTAINMENT, UTILITIES, MethodRecord
from tamis.coding import Coded, dense, joined
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.evaluate.regression import linear_probabilities
from tamis.learn.boosting import shares
from tamis.learn.holdout import HoldOut
from tamis.learn.score_test import expected_by_ones
from tamis.people import People
from tamis.propose.problem import Method, Problem, as_records
from tamis.read.sparse import long_table
from tamis.release import Recipe, Release
from tamis.require.k import ContainmentAnonymity
from tamis.rows.counts import ROWS, count_distinct
from tamis.rows.pairs import (
    ENTITY,
    FEATURE,
    LABEL,
    MOST_CHOSEN,
    PATTERN,
    Pairs,
    class_totals,
    common_features,
    patterns,
    sample_pairs,
)
from tamis.select.containment.greedy import GreedySearch
from tamis.select.containment.paths import greedy_with_absences
from tamis.select.containment.selection import Selection, selected
from tamis.table import Table

USUAL, OF_SEVERAL = ("difference", "distcnt"), ("information", "ratio")
"""The default utilities, for a target of two classes and of several."""
Search = Callable[[int, str], Selection]
"""Chooses columns for a k and a utility."""
TIMES = (4, 2, 1)
"""Multiples of the requested k that are tried, the strongest promise first."""
MOST_COLUMNS = 300
"""Most columns to compare, besides whole sets that containment chooses."""
MOST_CONTAINED = 5_000
"""Most columns to compare, including those sets."""
MOST_CELLS = 50_000_000
"""Most cells of the dense table in which they are compared: it bounds the memory."""
WAVES = 3
"""How many times the score test selects columns by what is left unexplained."""
LEARN = 8_000
"""Most rows that a wave's model is trained on, as many as for kept and told."""
PENALTY = 0.2
"""Inverse penalty of that model, the middle one of those that regression chooses from."""


@dataclass(frozen=True)
class Containment(Method):
    """Selections of columns under containment anonymity, for several k and utilities.

    Parameters
    ----------
    ks : sequence of int
        The values of k to try; empty: the requested one, twice and four times that.
    utilities : sequence of str
        The criteria to choose columns by; see `tamis.select.containment.greedy.greedy`. For a
        target of several classes the default is `information` and `ratio`.
    """

    about: ClassVar[MethodRecord] = CONTAINMENT

    ks: Sequence[int] = ()
    utilities: Sequence[str] = USUAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "ks", tuple(self.ks))
        object.__setattr__(self, "utilities", tuple(self.utilities))
        if unknown := [u for u in self.utilities if u not in UTILITIES]:
            raise InputError(f"no utility {listed(unknown)}; there are {listed(UTILITIES, 20)}")

    def applies(self, problem: Problem) -> str | None:
        classes = problem.table.frame[problem.table.target].n_unique()
        if classes != 2 and (problem.absences or not problem.is_binary):
            return f"It separates two classes, and the target has {classes}."
        return problem.too_few

    def search(
        self,
        records: BinaryTable,
        split: HoldOut,
        random_state: int,
        people: People | None = None,
    ) -> tuple[Search, Sequence[str]]:
        """The search, a function of a k and a utility, and the utilities to use."""
        assert records.labels is not None
        rows = split.arranged
        matrix, labels, labelled = records.matrix[rows], records.labels[rows], split.is_seen[rows]
        asked = GreedySearch(
            matrix,
            labels,
            extend=True,
            random_state=random_state,
            labelled=labelled,
            groups=People.named(people, records.rows)[rows].groups,
        )
        usual = self.utilities == USUAL and len(np.unique(labels)) > 2
        return asked.of, OF_SEVERAL if usual else self.utilities

    def propose(self, problem: Problem) -> list[Release]:
        records = as_records(problem.table, problem.binary, problem.k)
        ks = sorted({k for k in self.ks if k >= problem.k}, reverse=True)
        tried = (1,) if problem.absences else TIMES  # counting with absences takes long
        ks = ks or [
            times * problem.k for times in tried if times * problem.k <= problem.table.everybody
        ]
        people = problem.split.people_of(problem.table)
        search, utilities = self.search(records, problem.split, problem.random_state, people)
        return [
            _release(problem, records, k, utility, columns)
            for k in ks
            for utility in utilities
            if (columns := _chosen(problem, records, search, k, utility))
        ]


def _chosen(
    problem: Problem, records: BinaryTable, search: Search, k: int, utility: str
) -> list[int]:
    """The columns to release, in the order of the records."""
    columns = _selected(problem, records, search, k, utility).features
    if not problem.by_containment:
        columns = kept_alike(problem, records, columns)
    return sorted(columns)


def kept_alike(problem: Problem, records: BinaryTable, columns: Sequence[int]) -> tuple[int, ...]:
    """The columns that together meet the requirements, taken greedily in the order given.

    Only columns made of quasi-identifiers can break them. Leaving a column out never breaks the
    requirements for the others: fewer columns tell fewer people apart.
    """
    known = set(known_of(problem.table, records))
    # Columns that the same attackers see are joined into one code, so that `keeps` stays cheap.
    seen: dict[tuple[bool, ...], tuple[str, Coded]] = {}
    kept: list[int] = []
    for column in columns:
        if (name := records.features[column]) in known:
            ones = Coded(records.matrix[:, [column]].toarray()[:, 0].astype(np.int64), 2)
            source = records.sources.get(name, name)
            whom = tuple(source in names for names, _ in problem.views)
            source, before = seen.get(whom, (source, None))
            grown = ones if before is None else dense(joined(before, ones))
            if not problem.keeps([*(seen | {whom: (source, grown)}).values()]):
                continue
            seen[whom] = source, grown
        kept.append(column)
    return tuple(kept)


def known_of(table: Table, records: BinaryTable) -> list[str]:
    """The features of 0/1 records that were made of a table's quasi-identifiers."""
    known = set(table.quasi)
    return [name for name in records.features if records.sources.get(name, name) in known]


def _selected(
    problem: Problem, records: BinaryTable, search: Search, k: int, utility: str
) -> Selection:
    people = problem.table.people
    if problem.absences:
        return greedy_with_absences(
            records.matrix,
            records.labels,
            k,
            problem.absences,
            utility=utility,
            people=people,
            labelled=problem.split.is_seen,
        )
    if people.each_row:
        return search(k, utility)
    return selected(records.matrix, people, k, lambda rows: search(rows, utility))


def _release(
    problem: Problem, records: BinaryTable, k: int, utility: str, columns: Sequence[int]
) -> Release:
    chosen, table = records.select(columns), problem.table
    cells = pl.DataFrame(chosen.matrix.toarray(), schema=list(chosen.features), orient="row")
    quasi = None
    if not problem.by_containment:
        known = tuple(known_of(table, chosen))
        quasi = None if table.roles.quasi is None else known
    return Release(
        f"containment, k = {k}, {utility}",
        Table(cells.with_columns(table.frame[table.target])).with_roles(
            target=table.target, quasi=quasi
        ),
        Recipe("containment", {"k": k, "utility": utility, "search": "greedy"}),
        (ContainmentAnonymity(k, problem.absences, columns=chosen.features),),
        people=table.people,
        unit=table.unit,
        sources={name: of for name, of in records.sources.items() if name in chosen.features},
    )


def most_columns(rows: int) -> int:
    """The most columns to compare for so many rows.

    >>> most_columns(1_000), most_columns(1_000_000)
    (300, 50)
    """
    return max(1, min(MOST_COLUMNS, MOST_CELLS // max(rows, 1)))


def screened(
    records: BinaryTable, split: HoldOut, k: int, random_state: int = 0, most: int | None = None
) -> tuple[int, ...]:
    """The columns to compare, ascending; all of them if they are few.

    Columns that fewer than k rows have are left out, since no release could contain them. At most
    `most` are compared; by default as many as `most_columns` allows, and beyond these the whole
    sets that containment chooses, within `MOST_CONTAINED`. Ties go to the first column.

    >>> from tamis.binary.records import from_matrix
    >>> label = np.array([0, 1] * 200)
    >>> many = sparse.random_array((400, 500), density=0.1, rng=0) > 0
    >>> wide = from_matrix(sparse.hstack([many, sparse.csr_array(label[:, None])]), labels=label)
    >>> chosen = screened(wide, HoldOut.drawn(label), k=2)
    >>> len(chosen) <= 300, 500 in chosen
    (True, True)
    """
    widest = min(MOST_CONTAINED, MOST_CELLS // max(records.rows, 1)) if most is None else most
    most = most_columns(records.rows) if most is None else most
    width = len(records.features)
    if width <= most:
        return tuple(range(width))
    support = np.asarray(records.matrix.sum(axis=0, dtype=np.int64)).ravel()
    possible = support >= k
    contained = list(_contained(records, split, k, random_state))
    ranked = [*contained, *_promising(records, split, possible, most)]
    selected = set(_in_turn(ranked, most))
    for columns in contained:  # a whole set may teach far more than as many single columns
        if len(selected.union(columns)) <= widest:
            selected.update(columns)
    return tuple(sorted(selected))


def _contained(
    records: BinaryTable, split: HoldOut, k: int, random_state: int
) -> Iterator[list[int]]:
    """The sets that containment chooses from all columns."""
    search, utilities = Containment().search(records, split, random_state)
    for times in TIMES:
        for utility in utilities:
            if times * k <= records.rows:
                yield [int(column) for column in search(times * k, utility).features]


def _promising(
    records: BinaryTable, split: HoldOut, possible: NDArray[np.bool_], most: int
) -> Iterator[list[int]]:
    """Columns by promise about the target, and by promise about the secret if there is one."""
    assert records.labels is not None
    seen = split.seen
    matrix = records.matrix[seen]
    target = _codes(records.labels[seen])
    yield _waves(matrix, target, possible, most)
    if records.secrets is not None:
        known = sparse.csr_array(np.eye(int(target.max()) + 1)[target])
        yield _waves(matrix, _codes(records.secrets[seen]), possible, most, known)


def _waves(
    matrix: sparse.csr_array,
    label: NDArray[np.int64],
    possible: NDArray[np.bool_],
    most: int,
    known: sparse.csr_array | None = None,
) -> list[int]:
    """The most promising columns, selected in waves.

    A model of the earlier waves is trained on every other row; the score test runs on the rest.
    """
    classes = int(label.max()) + 1
    places = np.arange(len(label))
    learn, ask = places[::2][:LEARN], places[1::2]
    selected: list[int] = []
    for _ in range(WAVES):
        proba = np.tile(shares(label[learn], classes), (len(ask), 1))
        parts = [matrix[:, selected].astype(np.float64)] if selected else []
        parts += [] if known is None else [known]
        if parts:
            beside = sparse.hstack(parts, format="csr")
            proba = linear_probabilities(beside[learn], label[learn], beside[ask], classes, PENALTY)
        promised = np.where(possible, expected_by_ones(matrix[ask], proba, label[ask]), -np.inf)
        promised[selected] = -np.inf
        best = np.argsort(-promised, kind="stable")[: -(-most // WAVES)]
        selected += [int(column) for column in best if promised[column] > 0]
    return selected


def _codes(values: NDArray[np.str_]) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _in_turn(ranked: list[list[int]], most: int) -> list[int]:
    """Round robin: the first of each list, then the second of each, `most` in all."""
    taken: dict[int, None] = {}
    for place in range(max(map(len, ranked), default=0)):
        for columns in ranked:
            if place < len(columns):
                taken.setdefault(columns[place])
    return list(taken)[:most]


MOST_PAIRS = 50_000_000
"""Most pairs of entity and feature that a sample may have."""


@dataclass(frozen=True, eq=False)
class ComparedRecords:
    """The columns of large records that are worth comparing."""

    records: BinaryTable
    """All entities, and the columns that are compared."""
    features: int
    """Number of features in all."""
    sampled: int
    """Number of entities that the columns were selected on."""
    engine: str
    """The engine that counted all entities."""

    def words(self) -> str:
        """What was read and selected, in one line."""
        some = f"{len(self.records.features):,} of {self.features:,} features"
        return (
            f"read {plural(self.records.rows, 'row')}; {some} are compared, found on "
            f"{plural(self.sampled, 'sampled row')}; what is kept and told are shares of what "
            "these give"
        )

    @property
    def left_out(self) -> int:
        """Number of features that are neither compared nor sensitive."""
        return self.features - len(self.records.features) - (self.records.sensitive is not None)

    def said(self) -> dict[str, Any]:
        """A manifest's entry on what was sampled and what was counted on all rows."""
        rows = self.records.rows
        return {
            "sampled": {
                "rows": self.sampled,
                "of": rows,
                "by": "people",
                "for": "which columns are compared",
            },
            "counted": {
                "rows": rows,
                "by": self.engine,
                "again_by": "memory",
                "for": "what every row has of the compared columns",
            },
        }

    def to_dict(self) -> dict[str, int]:
        """The figures for the private recipe."""
        compared = len(self.records.features)
        return {"compared": compared, "features": self.features, "sampled": self.sampled}


def compared_records(
    pairs: Pairs,
    rows: int,
    *,
    target: str,
    k: int,
    holdout: float,
    seed: int,
    sensitive: str | None = None,
    drop: Collection[str] = (),
) -> ComparedRecords:
    """Select the columns to compare on a sample, and count them for all entities.

    Parameters
    ----------
    pairs : Pairs
    rows : int
        About how many entities to sample.
    target : str
        The name of the label.
    k, holdout, seed
        As in `tamis.Settings`.
    sensitive : str, optional
        A feature that must stay hard to guess, and is never released.
    drop : collection of str
        Features to leave out.

    Returns
    -------
    ComparedRecords
        Raises `CannotMeet` if no feature is common enough.
    """
    everybody = int(class_totals(pairs)[ROWS].sum())
    values = {str(value): value for value in common_features(pairs, k)[FEATURE]}
    common = [name for name in values if name not in set(drop)]
    secret = [] if sensitive in (None, target) else [str(sensitive)]
    if lacking := [name for name in secret if name not in common]:
        raise InputError(f"fewer than {k} entities have the sensitive {listed(lacking)}")
    if len(common) == len(secret):
        raise CannotMeet(f"no feature is one that {k} entities have; ask for a smaller --k")
    sample = _sample(pairs, min(1.0, rows / everybody), seed, target)
    chosen = _chosen_by_engine(sample, common, secret, (k, holdout, seed), everybody)
    wanted = {name: values[name] for name in (*chosen, *secret)}
    table = replace(_of_all(pairs, wanted, target, everybody), unlabelled=pairs.unlabelled)
    if secret:
        table = table.with_sensitive(secret[0])
    every = count_distinct(pairs.engine, pairs.pairs, [FEATURE])
    return ComparedRecords(table, every, sample.rows, pairs.engine.name)


def _sample(pairs: Pairs, share: float, seed: int, target: str) -> BinaryTable:
    some, labels = sample_pairs(pairs, share, seed, MOST_PAIRS)
    if labels[LABEL].n_unique() < 2:
        raise InputError("the label has only one value in the sample, so there is nothing to learn")
    return long_table(some, ENTITY, FEATURE, labels.rename({LABEL: target}), target)


def _chosen_by_engine(
    sample: BinaryTable,
    common: Collection[str],
    secret: list[str],
    asked: tuple[int, float, int],
    everybody: int,
) -> list[str]:
    """Names of the columns to compare; features of too few entities are left out first."""
    (k, holdout, seed), known = asked, set(common)
    places = [i for i, name in enumerate(sample.features) if name in known]
    records = sample.select(places)
    if secret and secret[0] in records.features:
        records = records.with_sensitive(secret[0])
    assert records.labels is not None
    split = HoldOut.of_records(records, holdout, random_state=seed)
    least = max(2, -(-k * sample.rows // everybody))
    most = min(most_columns(everybody), MOST_CHOSEN - len(secret))
    return [records.features[c] for c in screened(records, split, least, seed, most)]


def _of_all(pairs: Pairs, chosen: Mapping[str, Any], target: str, everybody: int) -> BinaryTable:
    """0/1 records of all entities, expanded from counted patterns: row order tells nothing."""
    counted = patterns(pairs, list(chosen.values()), everybody)
    kinds = np.repeat(counted[PATTERN].to_numpy(), counted[ROWS].to_numpy())
    bits = [((kinds >> i) & 1).astype(np.uint8) for i in range(len(chosen))]
    labels = counted.select(pl.col(LABEL).repeat_by(ROWS).explode())[LABEL]
    return from_matrix(np.column_stack(bits), list(chosen), labels.to_list(), target)
