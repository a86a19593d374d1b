"""Releases with altered values: either until k rows are equal, or at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tamis.binary.records import BinaryTable, is_binary
from tamis.catalogue.methods import (
    FLIP,
    MICROAGGREGATE,
    NOISE,
    PRAM,
    SHIFT,
    SUPPRESS,
    SWAP,
    MethodRecord,
)
from tamis.errors import CannotMeet, InputError, listed
from tamis.perturb import input_frame
from tamis.perturb.flip import RandomFlip
from tamis.perturb.microaggregation import Microaggregation, RankSwap, check_within, with_ranks
from tamis.perturb.noise import (
    GaussianNoise,
    Pram,
    UniformNoise,
    check_probability,
    nominal_columns,
)
from tamis.perturb.shifted_dates import ShiftedDates, check_days, dated, days_beside
from tamis.perturb.suppression import LocalSuppression
from tamis.propose.problem import Method, Problem, as_records
from tamis.release import AlteredRelease, Recipe, Release, released
from tamis.require.k import KAnonymity
from tamis.table import Table, bare, only

TIMES = (1, 2)
"""Multiples of the requested k that are tried."""
MOST_GROUPED = 60_000
"""Most rows for microaggregation, whose time grows with the number of pairs of rows."""


@dataclass(frozen=True)
class _UntilAlike(Method):
    """A method that alters rows until each equals at least k - 1 others.

    Parameters
    ----------
    ks : sequence of int
        The values of k to try; empty: the requested one and twice that.
    """

    ks: Sequence[int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ks", tuple(self.ks))

    def propose(self, problem: Problem) -> list[Release]:
        ks = sorted({k for k in self.ks if k >= problem.k})
        usual = [times * problem.k for times in TIMES]
        ks = ks or [k for k in usual if k <= problem.table.everybody]
        return [self._release(problem, k) for k in ks]

    def _release(self, problem: Problem, k: int) -> Release:
        raise NotImplementedError


@dataclass(frozen=True)
class _AtRandom(Method):
    """A method that alters values at random, more at each level; it promises the requested k only.

    Parameters
    ----------
    levels : sequence of numbers
    """

    levels: Sequence[Any] = ()

    check: ClassVar[Callable[[Any], None]]
    """Raises for a level out of range."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        for level in self.levels:
            type(self).check(level)

    def propose(self, problem: Problem) -> list[Release]:
        made = (self._release(problem, level) for level in self.levels)
        return [release for release in made if release is not None]

    def _release(self, problem: Problem, level: Any) -> Release | None:
        raise NotImplementedError


@dataclass(frozen=True)
class Flip(_UntilAlike):
    """0/1 columns, flipped until every row equals k - 1 others."""

    about: ClassVar[MethodRecord] = FLIP

    def applies(self, problem: Problem) -> str | None:
        if problem.binary is None and not is_binary(problem.table):
            return "It needs columns of 0 and 1, and no [binary] table says how to make them."
        return problem.too_few

    def _release(self, problem: Problem, k: int) -> Release:
        records = as_records(problem.table, problem.binary, problem.k)
        name = f"flip, k = {k}"
        flip = RandomFlip(k, random_state=problem.secret_draws(name))
        return AlteredRelease(
            name,
            _wide(problem, flip.fit_transform(records)),
            Recipe(self.name, {"k": k, "flipped_share": flip.flipped_share_}),
            (KAnonymity(k, columns=records.features),),
            unaltered=_wide(problem, records),
            people=problem.table.people,
            unit=problem.table.unit,
            sources=records.sources,
        )


@dataclass(frozen=True)
class Noise(_AtRandom):
    """All features, with noise at several levels.

    Parameters
    ----------
    kind : {"uniform", "gaussian"}
    levels : sequence of float
        The probabilities that a cell changes.
    """

    about: ClassVar[MethodRecord] = NOISE
    check = check_probability

    kind: str = "gaussian"
    levels: Sequence[float] = (0.1, 0.2, 0.3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in ("uniform", "gaussian"):
            raise InputError(f"kind must be 'uniform' or 'gaussian', got {self.kind!r}")

    def applies(self, problem: Problem) -> str | None:
        columns = problem.table.features
        if all(bare(problem.table.frame[c]).drop_nulls().n_unique() < 2 for c in columns):
            return "Every column is constant, so noise has nothing to draw from."
        return None

    def _release(self, problem: Problem, level: float) -> Release:
        kind = UniformNoise if self.kind == "uniform" else GaussianNoise
        name = f"{self.kind} noise, {level:g}"
        noise = kind(level, random_state=problem.secret_draws(name))
        recipe = Recipe(self.name, {"kind": self.kind, "probability": level})
        table = noise.fit_transform(problem.table)
        return _altered(problem, name, recipe, table)


@dataclass(frozen=True)
class Microaggregate(_UntilAlike):
    """All features, with quasi-identifiers replaced by the centres of groups of at least k."""

    about: ClassVar[MethodRecord] = MICROAGGREGATE

    def applies(self, problem: Problem) -> str | None:
        if problem.is_binary:
            return "Means of 0 and 1 say nothing; flip makes such rows alike."
        if problem.table.rows > MOST_GROUPED:
            return (
                f"It compares each row with all others, so it takes {MOST_GROUPED:,} rows at most; "
                "tamis perturb --method microaggregate takes more, and a long time."
            )
        return _nothing_known(problem) or problem.too_few

    def _release(self, problem: Problem, k: int) -> Release:
        group = Microaggregation(k, columns=problem.table.quasi)
        table = group.fit_transform(problem.table)
        columns = sorted(problem.table.quasi)
        recipe = Recipe(self.name, {"k": k, "columns": columns}, {"lost": group.lost_})
        name = f"microaggregation, k = {k}"
        return _altered(problem, name, recipe, table, KAnonymity(k, columns=problem.table.quasi))


@dataclass(frozen=True)
class Suppress(_UntilAlike):
    """All features, with single cells of quasi-identifiers blanked until k holds.

    Parameters
    ----------
    weights : mapping of column to number
        The cost of a blank cell in each column; 1 for columns not named.
    """

    about: ClassVar[MethodRecord] = SUPPRESS

    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", dict(self.weights))

    def applies(self, problem: Problem) -> str | None:
        return _nothing_known(problem) or problem.too_few

    def _release(self, problem: Problem, k: int) -> Release:
        hide = LocalSuppression(k, columns=problem.table.quasi, weights=self.weights)
        table = hide.fit_transform(problem.table)
        columns = sorted(problem.table.quasi)
        recipe = Recipe(self.name, {"k": k, "columns": columns}, {"blanked": hide.blanked_})
        name = f"local suppression, k = {k}"
        return _altered(problem, name, recipe, table, KAnonymity(k, columns=problem.table.quasi))


@dataclass(frozen=True)
class Swap(_AtRandom):
    """All features, with numbers and dates swapped with others of nearly the same rank.

    Parameters
    ----------
    levels : sequence of float
        How far ranks may move, as shares of all ranks.
    """

    about: ClassVar[MethodRecord] = SWAP
    check = check_within

    levels: Sequence[float] = (0.05, 0.1, 0.2)

    def applies(self, problem: Problem) -> str | None:
        if with_ranks(input_frame(problem.table)):
            return None
        return "No column holds numbers or dates that could be ranked."

    def _release(self, problem: Problem, level: float) -> Release:
        name = f"rank swapping, {level:g}"
        swap = RankSwap(level, random_state=problem.secret_draws(name))
        table = swap.fit_transform(problem.table)
        recipe = Recipe(self.name, {"within": level, "columns": sorted(swap.columns_)})
        return _altered(problem, name, recipe, table)


@dataclass(frozen=True)
class PostRandomise(_AtRandom):
    """All features, with categories swapped at random, keeping expected frequencies (PRAM).

    Parameters
    ----------
    levels : sequence of float
        The probabilities that a value is drawn again.
    """

    about: ClassVar[MethodRecord] = PRAM
    check = check_probability

    levels: Sequence[float] = (0.1, 0.2, 0.3)

    def applies(self, problem: Problem) -> str | None:
        if nominal_columns(input_frame(problem.table)):
            return None
        return "No column holds texts of more than one value."

    def _release(self, problem: Problem, level: float) -> Release:
        name = f"PRAM, {level:g}"
        pram = Pram(level, random_state=problem.secret_draws(name))
        table = pram.fit_transform(problem.table)
        recipe = Recipe(self.name, {"change": level, "columns": sorted(pram.columns_)})
        return _altered(problem, name, recipe, table)


@dataclass(frozen=True)
class Shift(_AtRandom):
    """All features, with all dates of a person moved by one random number of days.

    Parameters
    ----------
    levels : sequence of int
        The largest numbers of days that dates move by.
    """

    about: ClassVar[MethodRecord] = SHIFT
    check = check_days

    levels: Sequence[int] = (30, 365)

    def applies(self, problem: Problem) -> str | None:
        data = input_frame(problem.table)
        moved = dated(data)
        if not moved:
            return "No column holds dates that could be moved."
        if beside := days_beside(data, moved):
            return f"Dates that stay give away by how much others move: {listed(beside)}."
        return None

    def _release(self, problem: Problem, level: int) -> Release | None:
        """A release, or `None` if the dates span too few days for this level."""
        name = f"dates moved, up to {level} days"
        shift = ShiftedDates(level, random_state=problem.secret_draws(name))
        try:
            table = shift.fit_transform(problem.table)
        except CannotMeet:
            return None
        public = {"days": level, "columns": sorted(shift.columns_)}
        recipe = Recipe(self.name, public, {"people_without_dates": shift.blanked_})
        return _altered(problem, name, recipe, table)


def _nothing_known(problem: Problem) -> str | None:
    """Why there is nothing to alter; `None` if there are quasi-identifiers."""
    return None if problem.table.quasi else "Attackers are assumed to know none of the columns."


def _altered(
    problem: Problem, name: str, recipe: Recipe, table: Table, *promises: KAnonymity
) -> Release:
    """A release of all features of an altered table, linked to the unaltered features."""
    features = problem.table.features
    plain = released(problem.table, features, name, recipe)
    return released(table, features, name, recipe, promises).altered_from(plain.table)


def _wide(problem: Problem, records: BinaryTable) -> Table:
    """A table of 0/1 columns and the unaltered target."""
    target = problem.table.target
    frame = only(records.frame(), records.features).with_columns(problem.table.frame[target])
    return Table(frame).with_roles(target=target)
