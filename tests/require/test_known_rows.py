"""Known rows: searches and verification count as the definition over all subsets says."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Settings, Table, consider, publish, verify
from tamis.coarsen.search import coarsened
from tamis.datasets import stays
from tamis.errors import InputError
from tamis.people import People
from tamis.require import requirements
from tamis.require.counts import fewest_holders
from tamis.require.k import check_known_rows
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import grouped
from tamis.rows.memory_only import RELEASING, refuse_memory_only, unverified_by_engines
from tamis.verification.layout import NAME, PRIVATE, read_json
from tamis.verification.secret_groups import (
    fewest_with_rows,
    measured_entry,
    wrong_secret_groups,
)

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 1)), min_size=1,
                max_size=16)  # fmt: skip


def by_brute_force(rows: list[tuple[int, ...]], most: int) -> int:
    """Every person, every subset of at most `most` of their rows, everybody who has all of it."""
    owned: dict[int, list[tuple[int, ...]]] = {}
    for person, *cells in rows:
        owned.setdefault(person, []).append(tuple(cells))
    fewest = len(owned)
    for theirs in owned.values():
        for size in range(1, most + 1):
            for some in combinations(theirs, size):
                known = Counter(some)
                who = sum(not known - Counter(other) for other in owned.values())
                fewest = min(fewest, who)
    return fewest


@given(ROWS, st.integers(1, 4))
def test_both_counts_are_those_of_the_definition(rows: list[tuple[int, ...]], most: int) -> None:
    frame = pl.DataFrame(rows, schema=["who", "a", "b"], orient="row")
    people = People.named(frame["who"].to_numpy(), frame.height)
    cells = frame.drop("who")
    classes = grouped(cells, ["a", "b"]).class_of
    wanted = by_brute_force(rows, most)
    assert fewest_holders(classes, people.codes, most).min() == wanted
    assert fewest_with_rows(cells, most, people) == wanted
    counts = count_groups(grouped(cells, ["a", "b"], people))
    assert counts.holders_of_rows(most) == wanted


@given(ROWS)
def test_more_rows_and_more_columns_leave_no_more_people(rows: list[tuple[int, ...]]) -> None:
    fewer = [row[:2] for row in rows]
    found = [by_brute_force(rows, most) for most in (1, 2, 3)]
    assert found == sorted(found, reverse=True)
    for most in (1, 2, 3):
        who = np.unique([row[0] for row in rows], return_inverse=True)[1]
        few, all_of_them = (
            fewest_holders(np.unique([r[1:] for r in some], axis=0, return_inverse=True)[1]
                           .reshape(-1), who, most).min()
            for some in (fewer, rows)
        )  # fmt: skip
        assert few >= all_of_them


@given(ROWS)
def test_one_known_row_is_k_anonymity_in_people(rows: list[tuple[int, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=["who", "a", "b"], orient="row")
    groups = grouped(frame, ["a", "b"], frame["who"].to_numpy())
    assert count_groups(groups).holders_of_rows(1) == groups.k_anonymity


def test_a_requirement_says_what_lacks() -> None:
    counts = count_groups(grouped(pl.DataFrame({"a": [1, 2, 1, 1]}), ["a"], np.array([0, 0, 1, 2])))
    asked = requirements(k=1, known_rows=2)
    assert asked.met(counts)
    asked = requirements(k=2, known_rows=2)
    assert not asked.met(counts)
    assert "2 rows of a person" in requirements(k=3, known_rows=2).beyond_k.lacking(
        {"known_rows": 1}
    )
    assert requirements(k=3, known_rows=2).k == 3


def test_more_sets_than_can_be_counted_are_refused_with_what_would_fit() -> None:
    people = np.repeat([0, 1], [400, 3])
    check_known_rows(people, 2)
    check_known_rows(np.arange(10), 9)
    with pytest.raises(InputError, match=r"10,586,801 such sets.*--known-rows 2 or less"):
        check_known_rows(people, 3)


@pytest.mark.parametrize("search", ["exact", "local"])
@pytest.mark.parametrize("left_out", [0.0, 0.2])
def test_searches_of_coarser_forms_keep_it(search: str, left_out: float) -> None:
    draw = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"a": draw.integers(0, 12, 60), "b": draw.integers(0, 3, 60), "y": draw.integers(0, 2, 60)}
    )
    who = [f"p{number}" for number in draw.integers(0, 40, 60)]
    table = Table(frame.with_columns(who=pl.Series(who)), Roles(target="y", identifiers=("who",)))
    for most in (1, 2, 3):
        asked = requirements(k=2, known_rows=most)
        options: Any = {"max_suppressed": left_out} if search == "exact" else {}
        found = coarsened(table, None, asked, search=search, **options)
        left = found.table.frame.with_columns(who=found.table.people.codes)
        known = [c for c in ("a", "b") if c in left.columns]
        assert by_brute_force(left.select("who", *known).rows(), most) >= 2


def test_a_release_keeps_states_and_recounts_it(tmp_path: Path) -> None:
    table = stays(rows=500).with_roles(quasi=("sex", "visits", "stay_days", "ward"))
    settings = Settings(k=3, known_rows=2, methods={"coarsen": {}})
    out = publish(consider(table, settings), tmp_path / "out")
    (stated,) = read_json(out / NAME)["diversity"]
    assert any("who knows 2 rows of a person" in s for s in read_json(out / NAME)["not_promised"])
    assert stated["claim"] == (
        "Whoever knows what an attacker may know of up to 2 rows of a person is left with at least "
        "3 people who have such rows."
    )
    people = pl.read_csv(out / PRIVATE / "people.csv").to_series().to_numpy()
    rows = pl.read_csv(out / "release.csv", infer_schema=False).select(stated["columns"])
    assert stated["measured"] == by_brute_force([(p, *r) for p, r in zip(people, rows.rows())], 2)
    assert stated["measured"] >= 3
    assert verify(out).private
    stated["measured"] += 1
    who = People.named(people, rows.height)
    wrong = wrong_secret_groups(
        lambda entry: measured_entry(entry, rows, np.zeros(rows.height, np.int64), who),
        lambda entry: 0.0,
        out,
        {**read_json(out / NAME), "diversity": [stated]},
        True,
    )
    assert "known_rows is" in wrong


def test_behind_an_engine_it_is_refused() -> None:
    with pytest.raises(InputError, match="--known-rows needs the table in memory"):
        refuse_memory_only({"known_rows": 2}, RELEASING)


def test_an_engine_says_that_it_does_not_recount_it() -> None:
    stated: dict[str, Any] = {"promises": [], "columns": [], "file": {"format": "csv"}}
    assert unverified_by_engines(stated) == ""
    stated["diversity"] = [{"key": "known_rows"}]
    assert "known rows are verified in memory only" in unverified_by_engines(stated)


def test_an_audit_asks_it_of_a_table_and_k_is_five_where_none_is_given() -> None:
    (asked,) = requirements(k=None, known_rows=2)
    assert (asked.key, asked.bound) == ("known_rows", 5)
