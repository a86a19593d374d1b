"""`coarsened`: generalise a table until its classes meet the requirements, by either search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Integers
from tamis.coarsen.classes import CodedRows, coded_rows
from tamis.coarsen.ladder import NOTHING, Ladder, Leaves
from tamis.coarsen.ladder_sources import drawn_in, ladders_of
from tamis.coarsen.lattice import full_domain, in_register
from tamis.coarsen.local import (
    Register,
    SplitBy,
    check_local_metric,
    local_classes,
    local_form,
    local_loss,
    local_score,
    local_shares,
)
from tamis.coding import coded, dense
from tamis.errors import CannotMeet, InputError
from tamis.notebook import in_short
from tamis.people import People
from tamis.require import requirements
from tamis.require.base import Requirements
from tamis.require.population import DeltaPresence, refuse_unknown_population
from tamis.risk.anonymity import k_anonymity
from tamis.risk.attackers import as_one_group, refuse_out_of_reach
from tamis.risk.grouping import as_table, scope
from tamis.risk.presence import Presence, stacked, with_left_out
from tamis.risk.presence import delta_presence as count_presence
from tamis.table import Table, frame_of_columns, kind_of

SEARCHES = ("exact", "local")


@dataclass(frozen=True, eq=False)
class Coarsened:
    """A generalised table, and how it was reached.

    Parameters
    ----------
    table : Table
        The rows that are not suppressed, in their order. Columns that would be ``*`` throughout
        are dropped.
    kept : array of bool
        Which rows of the original are not suppressed.
    ladders : mapping of column to Ladder
        The forms of each column.
    levels : mapping of column to int, or None
        The level of each column; `None` if each class has its own intervals and groups.
    metric, score : str, float
        What was minimised, and the value reached.
    bound : float
        Lower bound on the score of any levels; equal to the score where the optimum is proven. For
        local recoding 0: nothing is proven.
    classes, k_anonymity : int
        The number of equivalence classes, and of people in the smallest.
    presence : Presence, optional
        How likely people of the register are to be in the table, where one was given.
    """

    table: Table
    kept: NDArray[np.bool_]
    ladders: Mapping[str, Ladder]
    levels: Mapping[str, int] | None
    metric: str
    score: float
    bound: float
    classes: int
    k_anonymity: int
    presence: Presence | None = None

    def __repr__(self) -> str:
        return in_short(
            self,
            f"{self.table.rows:,} of {len(self.kept):,} rows",
            f"{self.classes:,} classes",
            f"k = {self.k_anonymity:,}",
            f"{self.metric} {self.score:.4g}{' (proven)' if self.proven else ''}",
        )

    @property
    def suppressed_rows(self) -> int:
        """Number of suppressed rows."""
        return int(np.count_nonzero(~self.kept))

    @property
    def proven(self) -> bool:
        """Whether no levels can have a better score."""
        return self.bound >= self.score


@dataclass(frozen=True, eq=False)
class _Request:
    """A table as codes, and what is required of it: the input of both searches."""

    table: Table
    columns: tuple[str, ...]
    ladders: Mapping[str, Ladder]
    leaves: tuple[Leaves, ...]
    asked: Requirements
    people: People
    values: Integers | None
    missing: bool
    population: Table | None = None
    made: tuple[str, ...] = ()
    """The columns whose ladders were made here, not given."""

    def rows(self, hidden: DeltaPresence | None = None) -> CodedRows:
        """The distinct rows, with the register if delta-presence (`hidden`) is asked for."""
        codes, hierarchies = zip(*self.leaves)
        rows = coded_rows(
            codes, hierarchies, people=self.people, values=self.values, missing=self.missing
        )
        if self.population is None or hidden is None:
            return rows
        who = in_register(self.table, self.population, self.columns, self.ladders, hidden)
        return replace(rows, register=who)

    def register(self, hidden: DeltaPresence | None) -> Register | None:
        """The register for local recoding; without `hidden` it is counted but not bounded."""
        if self.population is None:
            return None
        hidden = hidden or DeltaPresence(0.0, 1.0)
        # For its check alone: raises if the register lacks people of the table.
        in_register(self.table, self.population, self.columns, self.ladders, hidden)
        return Register.of(self.table, self.population, self.columns, hidden)


def coarsened(
    data: Any,
    ladders: Mapping[str, Ladder] | None = None,
    asked: Requirements | None = None,
    *,
    metric: str = "loss",
    max_suppressed: float = 0.0,
    search: str = "exact",
    split_by: SplitBy = "range",
    population: Any = None,
    delta_presence: Sequence[float] | None = None,
) -> Coarsened:
    """Generalise the quasi-identifiers of a table until every class meets the requirements.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        Its quasi-identifiers are generalised; see `Table.quasi`.
    ladders : mapping of column to Ladder, optional
        The forms of columns; those not given are made from the column.
    asked : Requirements, optional
        What each class must meet, see `tamis.requirements`; by default k = 5.
    metric : str
        What to minimise; see `tamis.coarsen.metrics`.
    max_suppressed : float
        The largest share of the rows that may be suppressed.
    search : {"exact", "local"}
        Full-domain generalisation, one level for each column, by an exact search; or local
        recoding, where each class has its own intervals and groups of values.
    split_by : {"range", "target"}
        Where local recoding cuts: in the middle of the widest column, or where the gain about the
        target is largest.
    population : Table or frame, optional
        The people that the table is a sample of, with ungeneralised quasi-identifiers; they are
        generalised as the table is.
    delta_presence : (float, float), optional
        The range allowed for the chance that someone of the population is in the table; see
        `tamis.risk.presence.delta_presence`. Suppressed rows count as present, so that suppression
        cannot hide a class with too many people in the table.

    Returns
    -------
    Coarsened

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 33, 47, 48], "ill": ["no", "yes", "no", "no"]})
    >>> ages = Ladder.from_dict("age", {"width": [10]})
    >>> from tamis.table import Roles
    >>> found = coarsened(Table(frame, Roles(target="ill")), {"age": ages}, requirements(k=2))
    >>> found.table.frame["age"].to_list(), found.levels
    (['[30, 40)', '[30, 40)', '[40, 50)', '[40, 50)'], {'age': 1})
    """
    if search not in SEARCHES:
        raise InputError(f"unknown search {search!r}; choose from {', '.join(SEARCHES)}")
    hidden = None if delta_presence is None else DeltaPresence.of(delta_presence)
    refuse_unknown_population(
        [hidden] if hidden else [], register=population is not None, known=population is not None
    )
    request = _request(data, ladders, asked or requirements(), population)
    everybody = as_one_group(request.people, request.table.frame)
    all_stay = search == "local" or not max_suppressed
    refuse_out_of_reach(request.asked, everybody, request.table.unit, all_stay=all_stay)
    if search == "local":
        return _local(request, metric, split_by, hidden)
    return _exact(request, metric, max_suppressed, hidden)


def _request(
    data: Any, ladders: Mapping[str, Ladder] | None, asked: Requirements, population: Any
) -> _Request:
    table = as_table(data)
    scoped = scope(table)
    values, missing, number = None, False, False
    if asked.of_secrets:
        column = scoped.sensitive_column
        values, missing = dense(coded(column)).codes, column.null_count() > 0
        number = kind_of(column.dtype) == "number"
    if population is not None:
        stacked(table, population, scoped.quasi)  # refuses what cannot be compared
    own = {c: ladder for c, ladder in (ladders or {}).items() if c in scoped.quasi}
    forms = ladders_of(table, own, scoped.quasi, k=asked.k)
    leaves = [forms[c].hierarchy(table.frame.get_column(c)) for c in scoped.quasi]
    return _Request(
        table,
        scoped.quasi,
        forms,
        tuple(leaves),
        asked.about(scoped.quasi, scoped.sensitive, number=number),
        scoped.people,
        values,
        missing,
        None if population is None else as_table(population),
        tuple(c for c in scoped.quasi if c not in own),
    )


def _exact(
    request: _Request, metric: str, max_suppressed: float, hidden: DeltaPresence | None
) -> Coarsened:
    rows = request.rows(hidden)
    best = full_domain(rows, request.asked, metric=metric, max_suppressed=max_suppressed)
    kept = ~best.node.suppressed[best.node.class_of][rows.of_row]
    if not kept.any():
        raise CannotMeet(
            f"the best {metric} suppresses every row, since it charges nothing for that; allow "
            "fewer with --max-suppressed, or choose another metric"
        )
    levels = dict(zip(request.columns, best.node.levels))
    request = replace(request, ladders=_of_kept(request, levels, kept))
    coarse = {
        c: request.ladders[c].apply(request.table.frame.get_column(c), level)
        for c, level in levels.items()
    }
    released = tuple(c for c, level in levels.items() if level < request.ladders[c].top)
    table = _rewritten(request, coarse, released, kept)
    return Coarsened(
        table=table,
        kept=kept,
        ladders=request.ladders,
        levels=levels,
        metric=metric,
        score=best.score,
        bound=best.bound,
        classes=int(np.count_nonzero(~best.node.suppressed)),
        k_anonymity=_reached(table, released, request.people[kept]),
        presence=_presence(request, coarse, released, kept, levels),
    )


def _of_kept(
    request: _Request, levels: Mapping[str, int], kept: NDArray[np.bool_]
) -> dict[str, Ladder]:
    """The ladders, with those made here drawn in to the released rows.

    A cut or end that comes from suppressed rows would tell of them. With a register the ladders
    stay as they are: delta-presence was counted with them.
    """
    ladders = dict(request.ladders)
    if kept.all() or request.population is not None:
        return ladders
    for name in request.made:
        if 0 < levels[name] < ladders[name].top:
            cells = request.table.frame.get_column(name).filter(pl.Series(kept))
            description = drawn_in(ladders[name], levels[name], cells)
            if description is not None:
                ladders[name] = Ladder.from_dict(name, description)
    return ladders


def _presence(
    request: _Request,
    coarse: Mapping[str, pl.Series],
    released: tuple[str, ...],
    kept: NDArray[np.bool_],
    levels: Mapping[str, int],
) -> Presence | None:
    """Delta-presence, counted again on the columns as they are released."""
    if request.population is None:
        return None
    everybody, people = request.population, request.people
    forms = [request.ladders[c].apply(everybody.frame[c], levels[c]) for c in released]
    register = replace(everybody, frame=everybody.frame.with_columns(forms))
    whole = request.table.frame.with_columns([coarse[c] for c in released])
    all_rows = count_presence(whole, register, released, people=people)
    if kept.all():
        return all_rows
    there = count_presence(whole.filter(pl.Series(kept)), register, released, people=people[kept])
    return with_left_out(there, all_rows)


def _local(
    request: _Request, metric: str, split_by: SplitBy, hidden: DeltaPresence | None
) -> Coarsened:
    check_local_metric(metric)
    frame, columns = request.table.frame, request.columns
    widths = [leaves.hierarchy.leaves for leaves in request.leaves]
    codes = [_in_order(frame.get_column(c), leaves) for c, leaves in zip(columns, request.leaves)]
    target = None
    if split_by == "target":
        target = dense(coded(frame.get_column(request.table.target))).codes
    recoding = local_classes(
        codes,
        widths,
        request.asked,
        people=request.people,
        values=request.values,
        missing=request.missing,
        target=target,
        register=request.register(hidden),
    )
    shares = [
        local_shares(frame.get_column(c), line, width, recoding)
        for c, line, width in zip(columns, codes, widths)
    ]
    coarse = {c: local_form(frame.get_column(c), recoding) for c in columns}
    released = tuple(c for c in columns if coarse[c].n_unique() > 1 or coarse[c][0] != NOTHING)
    kept = np.ones(request.table.rows, dtype=bool)
    table = _rewritten(request, coarse, released, kept)
    loss = local_loss(shares, widths, recoding)
    return Coarsened(
        table=table,
        kept=kept,
        ladders=request.ladders,
        levels=None,
        metric=metric,
        score=local_score(metric, loss, recoding),
        bound=0.0,
        classes=recoding.classes,
        k_anonymity=_reached(table, released, request.people),
        presence=recoding.presence,
    )


def _in_order(column: pl.Series, leaves: Leaves) -> Integers:
    """The leaves of a column; for numbers and dates in the order of their values.

    Leaves are numbered by a ladder, which need not follow that order. Where they do not, the ranks
    of the values take their place.
    """
    if kind_of(column.dtype) == "nominal":
        return leaves.codes
    ranks = coded(column).codes
    order = np.argsort(ranks, kind="stable")
    if (np.diff(leaves.codes[order].astype(np.int64)) >= 0).all():
        return leaves.codes
    return dense(coded(column)).codes.astype(np.int32)


def _rewritten(
    request: _Request,
    coarse: Mapping[str, pl.Series],
    released: tuple[str, ...],
    kept: NDArray[np.bool_],
) -> Table:
    """The table as released: unsuppressed rows, generalised columns, none that tells nothing."""
    gone = [c for c in request.columns if c not in released]
    table = request.table
    columns = [coarse.get(c.name, c) for c in table.frame.get_columns() if c.name not in gone]
    columns = [column.filter(pl.Series(kept)) for column in columns]
    quasi = None if table.roles.quasi is None else released
    roles = replace(table.roles, quasi=quasi)
    # The height is given, since a frame without columns would lose its rows.
    return replace(table, frame=frame_of_columns(columns, int(kept.sum())), roles=roles)


def _reached(table: Table, released: tuple[str, ...], people: People) -> int:
    """The k that the released rows reach; without quasi-identifiers, everybody is alike."""
    if not released:
        return people.count
    return k_anonymity(table.frame, released, people=people)
