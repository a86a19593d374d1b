"""Small random tables of leaves, with people, sensitive values and constraints."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tamis.coarsen.classes import CodedRows, coded_rows
from tamis.coarsen.ladder import Hierarchy
from tamis.require import requirements
from tests.coarsen.definitions import PlainTable


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Groups that merge from level to level; the last need not be one group."""
    leaves = draw(st.integers(1, 5))
    groups = [np.arange(leaves, dtype=np.int32)]
    for _ in range(draw(st.integers(0, 2))):
        width = int(groups[-1].max()) + 1
        merged = np.array(draw(st.lists(st.integers(0, 2), min_size=width, max_size=width)))
        groups.append(np.unique(merged[groups[-1]], return_inverse=True)[1].astype(np.int32))
    return Hierarchy(tuple(groups))


@st.composite
def tables(draw: st.DrawFn) -> PlainTable:
    columns = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, h.leaves - 1) for h in columns))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    each = st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
    people = draw(st.none() | each)
    return PlainTable(
        rows=rows,
        hierarchies=columns,
        people=None if people is None else dense(people),
        values=dense(draw(each)),
    )


constraints = st.builds(
    requirements,
    k=st.integers(1, 4),
    l=st.none() | st.integers(2, 3),
    t=st.none() | st.sampled_from([0.0, 0.21, 0.51, 1.0]),
    t_distance=st.sampled_from(["equal", "ordered"]),
    l_kind=st.sampled_from(["distinct", "entropy", "recursive"]),
    c=st.sampled_from([0.7, 1.0, 1.5, 3.0]),
)


likeness = st.builds(
    requirements,
    k=st.just(1),
    alpha=st.none() | st.sampled_from([0.51, 0.67, 1.0]),
    beta=st.none() | st.sampled_from([0.1, 0.51, 1.7]),
    beta_kind=st.sampled_from(["basic", "enhanced"]),
    delta_disclosure=st.none() | st.sampled_from([0.21, 0.71, 1.7]),
)


def dense(numbers: list[int]) -> list[int]:
    known = sorted(set(numbers))
    return [known.index(number) for number in numbers]


def coded(table: PlainTable) -> CodedRows:
    return coded_rows(
        list(np.array(table.rows).T),
        table.hierarchies,
        people=None if table.people is None else np.array(table.people),
        values=np.array(table.values),
    )
