"""Releases of synthetic rows, drawn with differential privacy.

Whoever sees such a release learns no more about one row, or one person if the roles identify
people, than epsilon allows. For this to hold for everything that is shared, only one release is
proposed, based on public knowledge alone. If a data holder asks for several, the choice among them
uses the table without noise, and the release says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

from tamis.catalogue.methods import DP, SYNTHETIC_KINDS, MethodRecord
from tamis.dp.budget import Neighbours, check_epsilon, check_neighbours, opendp
from tamis.dp.domain import axis, brought
from tamis.dp.histogram import DPHistogram, DPPartition
from tamis.dp.private_table import PrivateTable, check_most
from tamis.dp.selector import ZERO_ONE, private_records, zero_one_records
from tamis.dp.synthesiser import DPSynthesiser
from tamis.errors import InputError, check_whole, listed
from tamis.propose.problem import Method, Problem
from tamis.release import DrawnRelease, Recipe, Release, released
from tamis.table import Table


class Draw(NamedTuple):
    """Synthetic rows, and the privacy budget that they used."""

    table: Table
    recipe: dict[str, Any]


@dataclass(frozen=True)
class Synthetic(Method):
    """Rows drawn with differential privacy, within the budget `Settings.epsilon`.

    Parameters
    ----------
    kinds : sequence of str
        Any of `selected` (0/1 columns, chosen privately, then a histogram), `histogram`,
        `partition` and `synthesiser`. Empty: `synthesiser` if `algorithm` is given, `selected` if
        there are `items`, otherwise `partition`.
    bounds : mapping of column to its declaration
        Public knowledge about columns, including the target; see `tamis.dp.domain.axis`. Only the
        columns named here are drawn.
    items : sequence of str
        The publicly known 0/1 columns that `selected` chooses among. Empty: all features of the
        table, whose names are then taken to be public.
    missing : sequence of str
        Columns that are publicly known to have missing cells.
    features : int
        Number of columns that `selected` chooses.
    bins : int, optional
        Number of intervals of a numeric column.
    rows : int, optional
        The approximate number of rows, if public; for `partition`.
    max_rows_per_person : int
        The most rows used per person; `selected` supports only 1.
    neighbours : {"add-remove", "substitute"}
        The neighbouring relation of tables; `selected` supports only ``"substitute"``, the
        synthesiser only ``"add-remove"``.
    algorithm : {"aim", "mst"}, optional
        How the synthesiser selects what to count; `None`: AIM.
    delta : float
        For the synthesiser; see `DPSynthesiser`.
    """

    about: ClassVar[MethodRecord] = DP

    kinds: Sequence[str] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    missing: Sequence[str] = ()
    items: Sequence[str] = ()
    features: int = 5
    bins: int | None = None
    rows: int | None = None
    max_rows_per_person: int = 1
    neighbours: Neighbours = "add-remove"
    algorithm: Literal["aim", "mst"] | None = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(self.kinds))
        if unknown := [kind for kind in self.kinds if kind not in SYNTHETIC_KINDS]:
            raise InputError(
                f"no kind {listed(unknown)} of drawing; the kinds are {', '.join(SYNTHETIC_KINDS)}"
            )
        check_neighbours(self.neighbours)
        if self.delta and "synthesiser" not in self._kinds:
            raise InputError(
                "delta is for rows that AIM or MST draw, and no other kind of drawing uses one; "
                "give it with algorithm (--algorithm aim or mst), or leave it out"
            )
        if self.bins is not None:
            check_whole("bins", self.bins)

    def applies(self, problem: Problem) -> str | None:
        if problem.epsilon is None:
            return "It needs an epsilon, and none was given."
        check_epsilon(problem.epsilon)
        opendp()
        return None

    def propose(self, problem: Problem) -> list[Release]:
        return [self._release(problem, kind) for kind in self._kinds]

    @property
    def _kinds(self) -> Sequence[str]:
        """The kinds asked for, else what public knowledge allows; it never depends on cells."""
        if self.kinds:
            return self.kinds
        if self.algorithm is not None:
            return ("synthesiser",)
        return ("selected",) if self.items else ("partition",)

    @property
    def counted_for(self) -> str:
        """The neighbouring relations that the budget is stated for."""
        fixed = {"selected": "substitute", "synthesiser": "add-remove"}
        return ", ".join(sorted({fixed.get(kind, self.neighbours) for kind in self._kinds}))

    def _release(self, problem: Problem, kind: str) -> Release:
        """Draw twice: from the whole table to publish, from the seen rows to evaluate."""
        draw = self._selected if kind == "selected" else partial(self._from_counts, kind)
        every = (
            self._candidates(problem.table)
            if kind == "selected"
            else self._with_bounds(problem.table)
        )
        narrow = problem.table.select(every)
        published = draw(narrow, problem)
        sampled = draw(replace(narrow, frame=narrow.frame[problem.split.seen]), problem)
        return DrawnRelease(
            f"dp {kind}, epsilon = {problem.epsilon:g}",
            published.table,
            Recipe(self.name, {"kind": kind, "budget": published.recipe}),
            unaltered=self._as_declared(problem.table, every),
            evaluation_sample=sampled.table,
        )

    def _as_declared(self, table: Table, features: list[str]) -> Table:
        """The original rows in the declared types, which synthetic rows have."""
        whole = released(table, features, "", Recipe(self.name)).table
        declared = {c: self.bounds.get(c, ZERO_ONE) for c in (*features, table.target)}
        of = [
            axis(c, found, missing=c in self.missing, label=c == table.target)
            for c, found in declared.items()
        ]
        return replace(whole, frame=brought(whole.frame, of))

    def _candidates(self, table: Table) -> list[str]:
        """The columns to choose among; raise if the target's labels are not public."""
        check_most(self.max_rows_per_person, table.roles, "substitute")
        check_public_labels(table.target, self.bounds)
        if strange := [c for c in self.items if c not in table.features]:
            raise InputError(
                f"the items {listed(strange)} are not columns to release; the columns are "
                f"{listed(table.features)}"
            )
        return list(self.items or table.features)

    def _with_bounds(self, table: Table) -> list[str]:
        """The features with public bounds; raise if there are none or the target has none."""
        known = {*table.features, table.target}
        if unknown := [c for c in (*self.bounds, *self.missing) if c not in known]:
            raise InputError(
                f"the bounds name {listed(unknown)}, which is not a column to release; there are "
                f"{listed([*table.features, table.target])}"
            )
        bounded = [c for c in table.features if c in self.bounds]
        if not bounded or table.target not in self.bounds:
            raise InputError(
                "rows are drawn within public bounds: name the columns to draw and the target "
                f"{table.target!r} in a file given with --bounds, each with [low, high] or all "
                "its possible values"
            )
        return bounded

    def _from_counts(self, kind: str, table: Table, problem: Problem) -> Draw:
        model = self._model(kind, problem)
        return Draw(model.fit_sample(table), model.recipe_)

    def _selected(self, table: Table, problem: Problem) -> Draw:
        records, unit = zero_one_records(table, self.items)
        drawn = private_records(
            records,
            min(self.features, len(records.features)),
            problem.epsilon or 0.0,
            labels=self.bounds[table.target],
            unit=unit,
            random_state=problem.secret_draws(self.name),
        )
        budget = {k: v for k, v in drawn.recipe.items() if k not in ("features", "mechanism")}
        return Draw(Table(drawn.frame).with_roles(target=table.target), budget)

    def _model(self, kind: str, problem: Problem) -> PrivateTable:
        epsilon, bins = problem.epsilon or 0.0, self.bins or 10
        state = problem.secret_draws(f"{self.name} {kind}")
        public: dict[str, Any] = {
            "bounds": self.bounds,
            "missing": self.missing,
            "max_rows_per_person": self.max_rows_per_person,
        }
        if kind == "synthesiser":
            return DPSynthesiser(
                epsilon,
                delta=self.delta,
                algorithm=self.algorithm or "aim",
                bins=bins,
                random_state=state,
                **public,
            )
        public["neighbours"] = self.neighbours
        if kind == "histogram":
            return DPHistogram(epsilon, bins=bins, random_state=state, **public)
        return DPPartition(epsilon, bins=self.bins, rows=self.rows, random_state=state, **public)


def check_public_labels(target: str, bounds: Mapping[str, Any]) -> None:
    """Raise if the target's labels are not public."""
    if target not in bounds:
        raise InputError(
            f"the target {target!r} has no public labels; list the two in [bounds] of the file "
            "given with --bounds"
        )
