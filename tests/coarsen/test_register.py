"""Delta-presence in the lattice, against brute force over all levels of plain rows."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.coarsen import lattice
from tamis.coarsen.classes import coded_rows
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.lattice import InRegister, full_domain
from tamis.coarsen.search import coarsened
from tamis.errors import CannotMeet, InputError
from tamis.require import requirements
from tamis.require.population import DeltaPresence
from tamis.risk.suppression import most_suppressed
from tests.coarsen import definitions
from tests.coarsen.definitions import PlainTable
from tests.coarsen.strategies import coded, dense, tables
from tests.long import LONG

bounds = st.sampled_from([(0.0, 0.5), (0.0, 0.7), (0.0, 1.0), (0.2, 0.8), (0.3, 1.0), (0.5, 0.5)])


@st.composite
def towns(draw: st.DrawFn) -> tuple[PlainTable, PlainTable]:
    """A table, and everybody: its rows and others, some of them of the same people."""
    table = draw(tables())
    row = st.tuples(*(st.integers(0, h.leaves - 1) for h in table.hierarchies))
    others = draw(st.lists(row, max_size=15))
    people = None
    if table.people is not None:
        whose = st.lists(st.integers(0, 12), min_size=len(others), max_size=len(others))
        people = dense([*table.people, *draw(whose)])
    rows = [*table.rows, *others]
    return table, PlainTable(rows, table.hierarchies, people, [0] * len(rows))


def shares(table: PlainTable, town: PlainTable, levels: tuple[int, ...]) -> list[float]:
    """Of the people of each class of the town, how many are in the table."""
    inside: dict[Any, set[int]] = defaultdict(set)
    everybody: dict[Any, set[int]] = defaultdict(set)
    for plain, found in ((table, inside), (town, everybody)):
        for number, form in enumerate(plain.forms(levels)):
            found[form].add(plain.person(number))
    return [len(inside[form]) / len(people) for form, people in everybody.items()]


def with_register(table: PlainTable, town: PlainTable, low: float, high: float) -> InRegister:
    people = None
    if table.people is not None and town.people is not None:
        people = np.array([*table.people, *(max(table.people) + 1 + p for p in town.people)])
    both = coded_rows(
        list(np.array([*table.rows, *town.rows]).T),
        table.hierarchies,
        people=people,
        values=np.repeat([0, 1], [len(table.rows), len(town.rows)]),
    )
    return InRegister(both, DeltaPresence(low, high))


@settings(max_examples=25)
@given(towns())
def test_shares_at_every_node_are_those_of_the_definition(both):
    table, town = both
    found = with_register(table, town, 0, 1)
    for levels in table.nodes:
        known = shares(table, town, levels)
        there = found.presence_at(levels)
        assert (there.least, there.most) == pytest.approx((min(known), max(known)))


@settings(max_examples=25)
@given(towns())
def test_coarser_nodes_tell_no_more_where_each_row_is_a_person(both):
    table, town = both
    if town.people is not None and len(set(town.people)) < len(town.people):
        assert not with_register(table, town, 0, 1).nested
        return
    for one, other in itertools.product(table.nodes, repeat=2):
        if all(a <= b for a, b in zip(one, other)):
            fine, coarse = shares(table, town, one), shares(table, town, other)
            assert min(fine) <= min(coarse) + 1e-12
            assert max(coarse) <= max(fine) + 1e-12


@settings(max_examples=70)
@given(
    towns(),
    bounds,
    st.integers(1, 3),
    st.sampled_from(["loss", "discernability", "height", "entropy"]),
    st.sampled_from([0.0, 0.34, 1.0]),
    st.booleans(),
)
def test_no_levels_that_hide_enough_are_better(both, within, k, name, limit, boxes):
    (table, town), (low, high), asked = both, within, requirements(k=k)
    most = 0 if low > 0 else most_suppressed(limit, len(table.rows))
    allowed = [
        levels
        for levels in table.nodes
        if len(definitions.divided(table, levels, asked)[1]) <= most
        and low - 1e-12 <= min(shares(table, town, levels))
        and max(shares(table, town, levels)) <= high + 1e-12
    ]
    best = min((definitions.score(table, x, asked, name, 0.5) for x in allowed), default=None)
    rows = replace(coded(table), register=with_register(table, town, low, high))
    with pytest.MonkeyPatch.context() as patch:
        if boxes:
            patch.setattr(lattice, "MOST_NODES", 0)
        if best is None:
            words = "no levels keep the chance|would have to be suppressed"
            with pytest.raises(CannotMeet, match=words):
                full_domain(rows, asked, metric=name, max_suppressed=limit)
            return
        found = full_domain(rows, asked, metric=name, max_suppressed=limit)
    assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.node.levels in allowed


Cells = tuple[int | None, ...]


def may_be(person: Cells, rows: list[Cells], table: list[Cells], ordered: list[bool]) -> bool:
    """Whether a class of rows, told as local recoding tells it, may be about somebody."""
    for j, value in enumerate(person):
        own = [row[j] for row in rows]
        known = [each for each in own if each is not None]
        if value is None:
            fits = None in own
        elif ordered[j]:
            fits = bool(known) and min(known) <= value <= max(known)
        else:
            every = {row[j] for row in table} - {None}
            fits = value in known or (set(known) == every != set() and value not in every)
        if not fits:
            return False
    return True


def hides(
    rows: list[Cells], table: list[Cells], town: list[Cells], how: list[bool], within: Any
) -> bool:
    about = sum(may_be(person, rows, table, how) for person in town)
    return bool(within[0] - 1e-12 <= len(rows) / about <= within[1] + 1e-12)


@settings(max_examples=80 if LONG else 30)
@given(st.data(), bounds, st.integers(1, 3))
def test_classes_with_their_own_intervals_hide_who_is_in_them(data, within, k):
    """Each class hides enough, and no cut of one gives two that do and leave nobody out."""
    ordered = data.draw(st.lists(st.booleans(), min_size=1, max_size=2))
    row = st.tuples(*(st.none() | st.integers(0, 3) for _ in ordered))
    rows = data.draw(st.lists(row, min_size=1, max_size=9))
    town = [*rows, *data.draw(st.lists(row, max_size=14))]
    kinds: list[Any] = [pl.Int64 if each else pl.String for each in ordered]
    schema: dict[Any, Any] = {f"c{j}": kind for j, kind in enumerate(kinds)}
    whole = pl.DataFrame(town, schema=dict.fromkeys(schema, pl.Int64), orient="row").cast(schema)
    table, asked = Table(whole.head(len(rows))), {"population": whole, "delta_presence": within}
    everybody = all(may_be(person, rows, rows, ordered) for person in town)
    try:
        found = coarsened(table, None, requirements(k=k), search="local", **asked)
    except CannotMeet:
        enough = hides(rows, rows, town, ordered, within) and (within[0] == 0 or everybody)
        assert len(rows) < k or not enough
        return
    parts: dict[tuple[Any, ...], list[Cells]] = {}
    told = found.table.frame.columns
    assert found.table.rows == len(rows)
    for cells, labels in zip(rows, found.table.frame.rows() if told else [()] * len(rows)):
        parts.setdefault(labels, []).append(cells)
    shares = []
    for part in parts.values():
        assert hides(part, rows, town, ordered, within)
        shares.append(len(part) / sum(may_be(person, part, rows, ordered) for person in town))
    lost = [p for p in town if not any(may_be(p, part, rows, ordered) for part in parts.values())]
    assert not (lost and within[0] > 0)
    assert found.presence is not None
    assert found.presence.most == pytest.approx(max(shares))
    assert found.presence.least == pytest.approx(0.0 if lost else min(shares))
    for part in parts.values():
        for j in (j for j, each in enumerate(ordered) if each):
            for cut in (0, 1, 2):
                low = [cells for cells in part if cells[j] in range(cut + 1)]
                high = [cells for cells in part if cells not in low]
                halves = [low, high]
                if min(map(len, halves)) < k:
                    continue
                gone = [
                    p
                    for p in town
                    if may_be(p, part, rows, ordered)
                    and not any(may_be(p, half, rows, ordered) for half in halves)
                ]
                fine = all(hides(half, rows, town, ordered, within) for half in halves)
                assert not fine or (gone and within[0] > 0)


AGES = Ladder.from_dict("age", {"width": [10, 20]})
JOBS = Ladder.from_dict("job", {"groups": [{"manual": ["cook", "smith"], "office": ["judge"]}]})
LADDERS = {"age": AGES, "job": JOBS}
ROLES = Roles(quasi=("age", "job"), target="ill")
people = st.tuples(
    st.none() | st.integers(20, 59), st.sampled_from(["cook", "smith", "judge"]), st.booleans()
)
strangers = st.tuples(
    st.none() | st.integers(10, 69), st.sampled_from(["cook", "judge", "bard", None]), st.booleans()
)


def town_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {"age": pl.Int64, "job": pl.String, "ill": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


@settings(max_examples=25)
@given(
    st.lists(people, min_size=1, max_size=12),
    st.lists(strangers, max_size=25),
    bounds,
    st.sampled_from([0.0, 0.3]),
)
def test_what_leaves_hides_who_is_in_it(rows, others, within, limit):
    """By labels alone; ladders lack a job that only others have."""
    table, town = Table(town_of(rows), ROLES), town_of([*rows, *others])
    asked: dict[str, Any] = {"max_suppressed": limit, "population": town, "delta_presence": within}
    try:
        found = coarsened(table, LADDERS, requirements(k=2), **asked)
    except CannotMeet:
        alone = len(rows) / town.height
        assert not within[0] <= alone <= within[1] or within[0] > 0 or len(rows) < 2
        return
    assert found.levels is not None
    assert found.presence is not None
    levels = found.levels

    def forms(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
        return list(zip(*(LADDERS[c].apply(frame[c], levels[c]).to_list() for c in levels)))

    there, whole, everybody = forms(table.frame), forms(table.frame), forms(town)
    there = [form for form, kept in zip(there, found.kept) if kept]
    least = min(there.count(form) / everybody.count(form) for form in everybody)
    most = max(whole.count(form) / everybody.count(form) for form in everybody)
    assert (found.presence.least, found.presence.most) == pytest.approx((least, most))
    assert not DeltaPresence(*within).short_by(found.presence)


def test_a_crowded_class_is_not_hidden_by_leaving_it_out():
    """Both judges are in the table: suppressing them would tell it just as well."""
    table = Table(town_of([(30, "cook", True)] * 5 + [(30, "judge", True)] * 2), ROLES)
    others = town_of([(30, "cook", True)] * 10)
    town = pl.concat([table.frame, others])
    free = coarsened(table, LADDERS, requirements(k=3), max_suppressed=0.5)
    assert (free.levels, free.suppressed_rows) == ({"age": 0, "job": 0}, 2)
    asked: dict[str, Any] = {
        "population": town,
        "delta_presence": (0.0, 0.5),
        "max_suppressed": 0.5,
    }
    held = coarsened(table, LADDERS, requirements(k=3), **asked)
    assert held.levels is not None
    assert (held.levels["job"], held.suppressed_rows) == (2, 0)


def test_one_more_person_of_the_register_decides():
    table = Table(town_of([(30, "cook", True)] * 2), ROLES)
    with pytest.raises(CannotMeet, match=r"from 0 to 0\.5 .* coarsest level it is from 0\.6667"):
        coarsened(
            table,
            LADDERS,
            requirements(k=1),
            population=town_of([(30, "cook", True)] * 3),
            delta_presence=(0.0, 0.5),
        )
    town = town_of([(30, "cook", True)] * 4)
    found = coarsened(table, LADDERS, requirements(k=1), population=town, delta_presence=(0.5, 0.5))
    assert found.levels == {"age": 0, "job": 0}


def test_a_register_without_the_table_or_its_columns_is_refused():
    table = Table(town_of([(30, "cook", True)] * 2), ROLES)
    how: dict[str, Any] = {"asked": requirements(k=1), "delta_presence": (0.0, 1.0)}
    with pytest.raises(InputError, match="must include everyone"):
        coarsened(table, population=town_of([(30, "judge", True)] * 9), **how)
    with pytest.raises(InputError, match="the population has no column 'job'"):
        coarsened(table, population=table.frame.select("age"), delta_presence=(0.0, 1.0))
    for search in ("exact", "local"):
        how = {"asked": requirements(k=1), "search": search}
        with pytest.raises(InputError, match="the population has no column 'job'"):
            coarsened(table, population=table.frame.select("age"), **how)
        with pytest.raises(InputError, match="must include everyone"):
            coarsened(table, population=town_of([(30, "judge", True)]), **how)
    with pytest.raises(InputError, match="needs a register"):
        coarsened(table, delta_presence=(0.0, 1.0))
    with pytest.raises(InputError, match="LOW,HIGH"):
        coarsened(table, population=table.frame, delta_presence=(0.5, 0.1))


def test_rows_stay_where_no_column_is_left():
    town = pl.DataFrame({"job": ["cook", "judge", "cook"]})
    asked: dict[str, Any] = {"population": town, "delta_presence": (0.0, 0.7)}
    found = coarsened(Table(town.head(2)), None, requirements(k=1), search="local", **asked)
    assert found.table.frame.shape == (2, 0)
