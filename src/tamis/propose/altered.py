"""Releases whose values were altered: flipped until rows are identical, or made noisy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tamis.binary.records import BinaryTable, binarise, from_wide, is_binary
from tamis.errors import InputError
from tamis.perturb.flip import RandomFlip
from tamis.perturb.noise import GaussianNoise, UniformNoise, check_probability
from tamis.propose.problem import Problem
from tamis.release import Promise, Recipe, Release, released
from tamis.table import Table, bare, only

TIMES = (1, 2)
"""Which multiples of the requested k are tried."""


@dataclass(frozen=True)
class Flip:
    """Columns of 0 and 1, flipped until every row has k - 1 others like it.

    Parameters
    ----------
    ks : sequence of int
        The values of k to try; none: the one requested, and twice that.
    """

    name: ClassVar[str] = "flip"
    words: ClassVar[str] = "Flips cells of 0 and 1 until every row has enough others like it."

    ks: Sequence[int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ks", tuple(self.ks))

    def applies(self, problem: Problem) -> str | None:
        if problem.binary is None and not is_binary(problem.table):
            return "It needs columns of 0 and 1, and no [binary] table says how to make them."
        return problem.too_few

    def propose(self, problem: Problem) -> list[Release]:
        binary = problem.binary
        records = (
            from_wide(problem.table)
            if binary is None
            else binarise(problem.table, binary, k=problem.k)
        )
        ks = sorted({k for k in self.ks if k >= problem.k})
        ks = ks or [
            times * problem.k for times in TIMES if times * problem.k <= problem.table.everybody
        ]
        return [self._release(problem, records, k) for k in ks]

    def _release(self, problem: Problem, records: BinaryTable, k: int) -> Release:
        flip = RandomFlip(k, random_state=problem.random_state)
        return Release(
            f"flip, k = {k}",
            _wide(problem, flip.fit_transform(records)),
            Recipe(self.name, {"k": k, "flipped_share": flip.flipped_share_}),
            (Promise("k_anonymity", k, records.features),),
            unaltered=_wide(problem, records),
            people=problem.table.people,
            unit=problem.table.unit,
        )


@dataclass(frozen=True)
class Noise:
    """All features with noise at several levels. It promises nothing but the requested k.

    Parameters
    ----------
    kind : {"uniform", "gaussian"}
    levels : sequence of float
        The probabilities that a cell changes.
    """

    name: ClassVar[str] = "noise"
    words: ClassVar[str] = "Alters cells at random; the other cells stay true."

    kind: str = "gaussian"
    levels: Sequence[float] = (0.1, 0.2, 0.3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if self.kind not in ("uniform", "gaussian"):
            raise InputError(f"kind must be 'uniform' or 'gaussian', got {self.kind!r}")
        for level in self.levels:
            check_probability(level)

    def applies(self, problem: Problem) -> str | None:
        columns = problem.table.features
        if all(bare(problem.table.frame[c]).drop_nulls().n_unique() < 2 for c in columns):
            return "Every column is constant, so noise has nothing to draw from."
        return None

    def propose(self, problem: Problem) -> list[Release]:
        return [self._release(problem, level) for level in self.levels]

    def _release(self, problem: Problem, level: float) -> Release:
        kind = UniformNoise if self.kind == "uniform" else GaussianNoise
        noise = kind(level, random_state=problem.random_state)
        features = problem.table.features
        recipe = Recipe(self.name, {"kind": self.kind, "probability": level})
        name = f"{self.kind} noise, {level:g}"
        noisy = released(noise.fit_transform(problem.table), features, name, recipe)
        plain = released(problem.table, features, name, recipe)
        return replace(noisy, promises=problem.promises(features), unaltered=plain.table)


def _wide(problem: Problem, records: BinaryTable) -> Table:
    """0/1 columns beside the unaltered target."""
    target = problem.table.target
    frame = only(records.frame(), records.features).with_columns(problem.table.frame[target])
    return Table(frame).with_roles(target=target)
