"""Minimal unique combinations against their definition, and against sdcMicro's figures."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.risk.suda import Scoring, affordable, special_uniques
from tests.risk.sdcmicro_tables import KEYS, file_of, measured

SETS = list(KEYS)


def minimal_sets(rows, people, most, missing):
    """By definition: for each row, the sets by which it is unique and by no subset."""
    width = len(rows[0])

    def unique(r, columns):
        own = [rows[r][c] for c in columns]
        if missing == "nothing" and None in own:
            return False
        return not any(
            people[o] != people[r] and [rows[o][c] for c in columns] == own
            for o in range(len(rows))
        )

    found = []
    for r in range(len(rows)):
        mine: list[tuple[int, ...]] = []
        for size in range(1, most + 1):
            for columns in combinations(range(width), size):
                smaller = any(set(m) <= set(columns) for m in mine)
                if not smaller and unique(r, columns):
                    mine.append(columns)
        found.append(mine)
    return found


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from([0, 1, 2, None])] * width), min_size=1, max_size=14
    )
)


@given(tables, st.integers(1, 5), st.sampled_from(["value", "nothing"]), st.data())
def test_sets_scores_and_shares_are_those_of_the_definition(rows, most, missing, data):
    width = len(rows[0])
    several = data.draw(st.booleans())
    who = st.integers(0, 4)
    people = (
        data.draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
        if several
        else list(range(len(rows)))
    )
    schema = {f"c{i}": pl.Int64 for i in range(width)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    found = special_uniques(frame, most=most, missing=missing, people=people)
    most = min(most, width)
    true = minimal_sets(rows, people, most, missing)
    scores = [sum(factorial(width - len(s)) for s in each) for each in true]
    assert found.scores.tolist() == scores
    for r, each in enumerate(true):
        assert found.sizes[r].tolist() == [
            sum(len(s) == n for s in each) for n in range(1, most + 1)
        ]
        for c in range(width):
            part = sum(factorial(width - len(s)) for s in each if c in s)
            assert found.shares[r, c] == pytest.approx(part / scores[r] if scores[r] else 0)
    holders = {s: {people[r] for r, e in enumerate(true) if s in e} for e in true for s in e}
    named = {tuple(int(c[1:]) for c in s.columns): s.people for s in found.sets}
    assert named == {s: len(who) for s, who in holders.items()}
    exposed = {people[r] for r, each in enumerate(true) if each}
    assert found.exposed == len(exposed) == sum(found.by_size)


@pytest.mark.parametrize("name", SETS)
def test_figures_of_sdcmicro(name: str, dataset, golden):
    frame = measured(name, dataset(file_of(name)))
    path = golden(f"sdcmicro/suda_{name}.csv" + (".gz" if "adult" in name else ""))
    theirs = pl.read_csv(path, infer_schema_length=None)
    others = pl.read_csv(golden(f"sdcmicro/msu_rows_{name}.csv"), infer_schema_length=None)
    scorings: dict[str, Scoring] = {"orig": "original", "other": "weighted"}
    for word, scoring in scorings.items():
        found = special_uniques(frame, missing="nothing", scoring=scoring)
        np.testing.assert_allclose(found.scores, theirs[f"score_{word}"], rtol=1e-9)
        dis = found.disclosure(0.01)
        np.testing.assert_allclose(dis, theirs[f"dis_{word}"], atol=1e-6)
        np.testing.assert_allclose(dis, others[f"dis_textbook_{word}"], atol=1e-9)
        columns, shares = [f"contr_{word}_{c}" for c in frame.columns], theirs
        if name == "credit_C7c":  # sdcMicro's own contributions are wrong there
            right = golden(f"sdcmicro/suda_contr_by_definition_{name}_{word}.csv")
            shares = pl.read_csv(right, infer_schema_length=None)
            columns = [f"def_{c}" for c in columns]
        np.testing.assert_allclose(found.shares, shares.select(columns), atol=1e-9)
    sizes = [f"msu_size{i}" for i in range(1, frame.width + 1)]
    assert (found.sizes == others.select(sizes).to_numpy()).all()


def test_column_shares_are_the_attribute_contributions_of_sdcmicro(dataset, golden):
    theirs = pl.read_csv(golden("sdcmicro/suda_attribute_contributions.csv"))
    found = special_uniques(
        measured("adult3k_A7", dataset("adult_train.csv.gz")), missing="nothing"
    ).column_shares
    rows = theirs.filter((pl.col("set") == "adult3k_A7") & (pl.col("scoring") == "orig"))
    assert found == pytest.approx(
        {r["variable"]: r["contribution"] / 100 for r in rows.to_dicts()}, rel=1e-9
    )


def test_a_larger_most_only_adds_sets():
    frame = pl.DataFrame(np.random.default_rng(0).integers(0, 3, (60, 6)), schema=list("abcdef"))
    few, more = special_uniques(frame, most=2), special_uniques(frame, most=6)
    assert set(few.sets) < set(more.sets)
    assert (few.sizes == more.sizes[:, :2]).all()


def test_people_with_equal_rows_are_never_singled_out():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]})
    found = special_uniques(frame)
    assert found.exposed == 0
    assert found.sets == ()
    assert found.pairs == 4
    assert not found.disclosure().any()
    assert found.column_shares == {"a": 0.0, "b": 0.0}
    assert found.worst_columns == ()


@pytest.mark.parametrize(
    ("alone", "together", "worst"),
    [(1, 1, ("a", "b")), (3, 2, ("a",))],  # b has half of the share of a, then two fifths
)
def test_the_worst_columns_have_half_of_the_largest_share(alone, together, worst) -> None:
    rows = [(100 + i, 0) for i in range(alone)]  # by a alone
    rows += [(1, i) for i in range(together)] + [(1, 50)] * 2  # by a and b, but neither alone
    rows += [(2, i) for i in range(together) for _ in range(2)]
    found = special_uniques(pl.DataFrame(rows, schema=["a", "b"], orient="row"))
    assert found.column_shares == pytest.approx({"a": 1.0, "b": together / (alone + together)})
    assert found.worst_columns == worst


def test_as_many_columns_as_allowed_are_searched_and_the_first_are_named() -> None:
    wide = pl.DataFrame({f"c{i}": [0, 1] for i in range(62)})
    found = special_uniques(wide, most=1)
    assert len(found.sets) == 62
    assert found.worst_columns == ("c0", "c1", "c2")
    assert len(found.to_dict()["sets"]) == 20
    assert found.to_dict(fraction=1)["disclosure"] is None  # everybody is in the table


def test_where_nobody_is_unique_no_memory_is_taken_for_a_set(monkeypatch) -> None:
    def used_before(shape: Any, dtype: Any = float, **options: Any) -> Any:
        return np.full(shape, 1, dtype, **options)

    monkeypatch.setattr(np, "empty", used_before)
    found = special_uniques(pl.DataFrame({"a": [1, 1, 1, 1]}), people=[0, 0, 1, 1])
    assert found.sets == ()


def test_a_person_does_not_hide_behind_their_own_rows():
    frame = pl.DataFrame({"who": ["ann", "ann", "bob"], "town": ["A", "A", "B"], "y": [0, 1, 0]})
    table = Table(frame, Roles(target="y", identifiers=("who",)))
    found = special_uniques(table)
    assert found.exposed == 2
    assert found.sets[0].people == 2


def test_one_more_twin_hides_a_person():
    frame = pl.DataFrame({"age": [30, 30, 41], "job": ["cook", "judge", "cook"]})
    assert special_uniques(frame).exposed == 3
    twin = pl.concat([frame, frame.tail(1)])
    assert special_uniques(twin).scores.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_what_cannot_be_asked_is_refused():
    wide = pl.DataFrame({f"c{i}": [0, 1] for i in range(63)})
    with pytest.raises(InputError, match="at most 62 columns, got 63"):
        special_uniques(wide)
    with pytest.raises(InputError, match="at least one column"):
        special_uniques(wide, ["c0"], most=0)
    with pytest.raises(InputError, match="original or weighted"):
        special_uniques(wide, ["c0"], scoring="other")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="between 0 and 1, got 1"):
        special_uniques(wide, ["c0"]).disclosure(1)
    with pytest.raises(InputError, match="between 0 and 1, got 0"):
        special_uniques(wide, ["c0"]).disclosure(0)


def test_wide_tables_get_smaller_sets():
    assert affordable(3, 10) == 3
    assert affordable(62, 10**9) == 1
    # Three sets of one column, three of two and one of three, of ten rows each.
    assert [affordable(3, 10, work) for work in (59, 60, 69, 70)] == [1, 2, 2, 3]
