"""Delta-presence by its definition, over plain rows."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.require.population import DeltaPresence
from tamis.risk.presence import Presence, delta_presence

TOWN = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 1), st.booleans()), min_size=1
)


@given(TOWN)
def test_it_is_the_share_of_each_class_of_the_population(town) -> None:
    rows = [(job, sex) for job, sex, drawn in town if drawn]
    if not rows:
        return
    schema = {"job": pl.String, "sex": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    everybody = pl.DataFrame([each[:2] for each in town], schema=schema, orient="row")
    kinds = {each[:2] for each in town}
    shares = [rows.count(kind) / sum(each[:2] == kind for each in town) for kind in kinds]
    assert delta_presence(table, everybody) == Presence(min(shares), max(shares))


def test_people_with_several_rows_count_once_in_a_class() -> None:
    town = pl.DataFrame({"who": [1, 1, 2, 3, 4], "job": ["a", "a", "a", "a", "b"]})
    roles = Roles(identifiers=("who",))
    inside = Table(town.filter(pl.col("who") < 3), roles)
    found = delta_presence(inside, Table(town, roles), ["job"])
    assert found == Presence(0.0, 2 / 3)


def test_a_population_that_lacks_people_or_columns_is_refused() -> None:
    table = pl.DataFrame({"job": ["a", "a"]})
    with pytest.raises(InputError, match="must include everyone"):
        delta_presence(table, pl.DataFrame({"job": ["a", "b"]}))
    with pytest.raises(InputError, match="the population has no column 'job'"):
        delta_presence(table, pl.DataFrame({"work": ["a"]}))
    with pytest.raises(InputError, match="different types"):
        delta_presence(pl.DataFrame({"job": [True]}), pl.DataFrame({"job": [date(2026, 1, 1)]}))
    with pytest.raises(InputError, match="LOW,HIGH"):
        DeltaPresence.of((0.5, 0.2))


@pytest.mark.parametrize("shares", [(0, 0), (0, 1), (1, 1), (0.4, 0.4)])
def test_shares_may_be_equal_and_at_the_ends(shares):
    assert DeltaPresence.of(shares).shares == shares


@pytest.mark.parametrize("shares", [(-0.1, 1), (0, 1.1), (0.5,), (0, 0.5, 1)])
def test_shares_beyond_the_ends_are_refused(shares):
    with pytest.raises(InputError, match="LOW,HIGH within 0 and 1"):
        DeltaPresence.of(shares)
