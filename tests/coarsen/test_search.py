"""Coarsened tables: what leaves, and what it reaches when measured again."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.coarsen.ladder import Ladder
from tamis.coarsen.search import coarsened
from tamis.errors import CannotMeet, InputError
from tamis.require import requirements
from tamis.risk.anonymity import k_anonymity, reidentification
from tamis.risk.diversity import l_diversity, likeness, t_closeness
from tamis.table import Roles, Table
from tests.long import LONG

AGES = Ladder.from_dict("age", {"width": [10, 20]})
ROLES = Roles(target="ill", quasi=("age", "job"), identifiers=("who",))

people = st.lists(
    st.tuples(
        st.none() | st.integers(20, 69),
        st.none() | st.sampled_from(["cook", "judge", "nurse"]),
        st.sampled_from(["no", "yes"]),
        st.integers(0, 8),
    ),
    min_size=4,
    max_size=25,
)


def table_of(rows: list[tuple[object, ...]]) -> Table:
    schema = {"age": pl.Int64, "job": pl.String, "ill": pl.String, "who": pl.Int64}
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), ROLES)


@given(people, st.sampled_from(["exact", "local"]), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_what_leaves_satisfies_what_was_asked(rows, search, least, share):
    """Measured by the audit's functions, which know nothing of ladders; people are counted."""
    table = table_of(rows)
    asked = requirements(k=least, l=2 if least > 1 else None)
    try:
        found = coarsened(table, {"age": AGES}, asked, search=search, max_suppressed=share)
    except CannotMeet:
        everybody = len({row[3] for row in rows})
        assert everybody < least or len({row[2] for row in rows}) < min(least, 2)
        return
    told = [c for c in ("age", "job") if c in found.table.frame.columns]
    who = table.people
    if told:
        kept = None if who is None else who[found.kept]
        assert k_anonymity(found.table.frame, told, people=kept) == found.k_anonymity >= least
        diverse = l_diversity(found.table.frame, "ill", told, people=kept)
        assert diverse.distinct >= min(least, 2)
    assert found.table.rows == found.kept.sum() == table.rows - found.suppressed_rows > 0
    assert found.suppressed_rows <= share * table.rows
    kept_ill = table.frame["ill"].filter(pl.Series(found.kept))
    assert found.table.frame["ill"].to_list() == kept_ill.to_list()


def test_closeness_is_that_of_the_audit_where_nothing_is_suppressed():
    rng = np.random.default_rng(1)
    pay = rng.integers(1, 9, 200)
    frame = pl.DataFrame({"age": rng.integers(20, 70, 200), "pay": pay, "y": pay > 4})
    table = Table(frame, Roles(target="y", sensitive="pay", quasi=("age",)))
    for search in ("exact", "local"):
        found = coarsened(table, {"age": AGES}, requirements(k=2, t=0.06), search=search)
        if "age" in found.table.frame.columns:
            assert t_closeness(found.table.frame, "pay", ["age"]) <= 0.06
        free = coarsened(table, {"age": AGES}, requirements(k=2), search=search)
        assert free.score <= found.score


def test_a_column_that_tells_nothing_is_gone():
    frame = pl.DataFrame({"age": [21, 32, 43, 54], "ill": ["no", "yes"] * 2})
    found = coarsened(Table(frame, Roles(target="ill")), {"age": AGES}, requirements(k=4))
    assert found.table.frame.columns == ["ill"]
    assert (found.levels, found.k_anonymity, found.classes) == ({"age": 3}, 4, 1)


def test_what_makes_no_sense_is_refused():
    table = table_of([(30, "cook", "no", i) for i in range(6)])
    with pytest.raises(InputError, match="unknown search"):
        coarsened(table, search="wide")
    lonely = table_of([(20 + i, "cook", "no", i) for i in range(6)])
    with pytest.raises(CannotMeet, match="suppresses every row"):
        coarsened(lonely, {"age": AGES}, metric="height", max_suppressed=1.0)
    with pytest.raises(InputError, match="sensitive column"):
        coarsened(pl.DataFrame({"age": [1, 2]}), asked=requirements(k=1, l=2))


ASKED = st.sampled_from(
    [
        {"alpha": 0.7},
        {"beta": 0.4},
        {"beta": 5.0, "beta_kind": "enhanced"},
        {"delta_disclosure": 0.6},
        {"max_average_risk": 0.4},
        {"alpha": 0.8, "max_average_risk": 0.5},
    ]
)


def keeps(frame: pl.DataFrame, told: list[str], asked: dict[str, Any], who: Any) -> bool:
    """Whether a table keeps what is asked, by measures that know nothing of ladders."""
    if not told:
        frame, told = frame.with_columns(pl.lit(0).alias("all")), ["all"]
    found = likeness(frame, "ill", told, people=who)
    beta = found.enhanced_beta if asked.get("beta_kind") == "enhanced" else found.beta
    risk = reidentification(frame, told, people=who).marketer
    return bool(
        found.alpha <= asked.get("alpha", 1) + 1e-9
        and beta <= asked.get("beta", float("inf")) + 1e-9
        and ("delta_disclosure" not in asked or found.delta_disclosure < asked["delta_disclosure"])
        and risk <= asked.get("max_average_risk", 1) + 1e-9
    )


@settings(max_examples=25 if LONG else 12)
@given(people, ASKED)
def test_alpha_beta_delta_and_risk_are_kept_by_the_least_coarse_levels(rows, asked):
    """All levels are tried by hand: the search finds one of the least loss, or there is none."""
    table = table_of(rows)
    jobs = Ladder.from_dict("job", {"common": []})
    limits = requirements(k=1, **asked)
    fits = []
    for levels in itertools.product(range(AGES.top + 1), range(jobs.top + 1)):
        coarse = {"age": AGES.apply(table.frame["age"], levels[0])}
        coarse["job"] = jobs.apply(table.frame["job"], levels[1])
        told = [c for c, top, at in zip(coarse, (AGES.top, jobs.top), levels) if at < top]
        frame = table.frame.with_columns(**coarse)
        if keeps(frame, told, asked, table.people):
            fits.append(levels)
    try:
        found = coarsened(table, {"age": AGES, "job": jobs}, limits, metric="height")
    except CannotMeet:
        assert not fits
        return
    assert found.levels is not None
    assert sum(found.levels.values()) == min(map(sum, fits))
    assert tuple(found.levels.values()) in fits


@settings(max_examples=25)
@given(people, ASKED)
def test_local_recoding_keeps_alpha_beta_delta_and_risk(rows, asked):
    table = table_of(rows)
    limits = requirements(k=1, **asked)
    try:
        found = coarsened(table, {"age": AGES}, limits, search="local")
    except CannotMeet:
        assert not keeps(table.frame, [], asked, table.people)
        return
    told: list[str] = [c for c in ("age", "job") if c in found.table.frame.columns]
    assert keeps(found.table.frame, told, asked, table.people)
