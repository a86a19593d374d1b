"""repU and DiSCO by their definitions, written out over plain rows."""

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tamis.judgement.scoring import replicated

cell = st.sampled_from(["a", "b", None])
rows = st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=12)


@given(rows, rows)
def test_by_definition(mine, theirs):
    schema = dict.fromkeys(("x", "^y$", "s"), pl.String)
    one, two = (pl.DataFrame(each, schema=schema, orient="row") for each in (mine, theirs))
    found = replicated(one, two, ["x", "^y$"], "s")
    sizes, others = (Counter(row[:2] for row in each) for each in (mine, theirs))
    alone = [row for row in mine if sizes[row[:2]] == 1]
    secrets: dict[tuple[object, ...], set[object]] = {}
    for row in theirs:
        secrets.setdefault(row[:2], set()).add(row[2])
    assert found.unique == len(alone) / len(mine)
    assert found.rep_u == sum(others[row[:2]] == 1 for row in alone) / len(mine)
    assert found.disco == sum(secrets.get(row[:2]) == {row[2]} for row in mine) / len(mine)


def test_without_a_secret_only_unusual_rows_are_counted():
    frame = pl.DataFrame({"x": ["a", "b"]})
    assert replicated(frame, frame, ["x"], None).to_dict() == {
        "rep_u": 1.0,
        "unique": 1.0,
        "disco": None,
    }
