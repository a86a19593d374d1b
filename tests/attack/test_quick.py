"""The quick attack: what it gives is what the attackers themselves give, and nobody is missed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.attack import quick
from tamis.attack.inference import named
from tamis.attack.quick import quick_attack
from tamis.coarsen.ladder import Ladder
from tamis.datasets import patients
from tamis.perturb.noise import UniformNoise
from tamis.release import Coarsening, Recipe, Release, released
from tamis.table import Roles, Table

TABLE = patients(rows=300)


def of(table: Table, features: list[str]) -> Release:
    return released(table, features, "by hand", Recipe("hand"))


cells = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=4, max_size=25)


@settings(max_examples=30)
@given(cells)
def test_a_person_among_c_alike_is_found_with_chance_one_in_c(rows):
    frame = pl.DataFrame(rows, schema=["a", "b", "ill", "secret"], orient="row")
    table = Table(frame, Roles(target="ill", sensitive="secret", quasi=("a",)))
    release = of(table, ["a", "b"])
    sizes = Counter(row[0] for row in rows)
    expected = sum(1 / sizes[row[0]] for row in rows) / len(rows)
    found = quick_attack(table, release)
    assert found is not None
    assert found.found.success.value == pytest.approx(expected)


def test_everybody_unique_is_found_and_everybody_alike_is_not():
    names = pl.DataFrame({"n": range(40), "one": [1] * 40, "ill": [0, 1] * 20})
    table = Table(names, Roles(target="ill"))
    unique, alike = (quick_attack(table, of(table, [c])) for c in ("n", "one"))
    assert unique is not None
    assert unique.found.success.value == 1
    assert alike is not None
    assert alike.found.success.value == pytest.approx(1 / 40)


def test_a_coarser_column_finds_fewer():
    ladder = {"width": [20]}
    coarse = Ladder.from_dict("birth_year", ladder).apply(TABLE.frame["birth_year"], 1)
    plain = of(TABLE, ["birth_year"])
    table = replace(plain.table, frame=plain.table.frame.with_columns(coarse))
    release = replace(plain, table=table, forms={"birth_year": Coarsening(ladder, 1)})
    fine, rough = quick_attack(TABLE, plain), quick_attack(TABLE, release)
    assert fine is not None
    assert rough is not None
    classes = coarse.n_unique()
    assert rough.found.success.value == pytest.approx(classes / TABLE.rows)
    assert rough.found.success.value < fine.found.success.value / 3


def test_noise_hides_people_whose_values_are_known():
    release = of(TABLE, ["zip", "birth_year", "job"])
    altered = UniformNoise(0.9, random_state=1).fit_transform(release.table)
    noisy = replace(release, table=altered, unaltered=release.table)
    before, after = quick_attack(TABLE, release), quick_attack(TABLE, noisy)
    assert before is not None
    assert after is not None
    assert after.found.success.value < before.found.success.value / 2


def test_a_secret_that_a_column_copies_is_guessed():
    rows = 200
    secret = np.random.default_rng(3).permutation([1] * 20 + [0] * (rows - 20))
    frame = pl.DataFrame({"copy": secret, "noise": [0, 1] * 100, "ill": [0, 0, 1, 1] * 50})
    table = Table(
        frame.with_columns(pl.Series("secret", secret)), Roles(target="ill", sensitive="secret")
    )
    told, silent = (quick_attack(table, of(table, [c])) for c in ("copy", "noise"))
    assert told is not None
    assert told.guessed is not None
    assert told.guessed.success.value == 1
    assert told.guessed.details["rarest"]["named"] == 1
    assert silent is not None
    assert silent.guessed is not None
    assert silent.guessed.details["rarest"]["named"] < 0.5


def test_people_with_several_rows_are_people():
    twice = Table(pl.concat([TABLE.frame, TABLE.frame]), TABLE.roles)
    found = quick_attack(twice, of(twice, ["zip"]), most=50)
    assert found is not None
    assert found.found.people == 50


def test_synthetic_rows_and_large_tables_are_not_tried(monkeypatch):
    release = of(TABLE, ["ward"])
    assert quick_attack(TABLE, replace(release, rehearsal=release.table)) is None
    monkeypatch.setattr(quick, "MOST_CELLS", 600)  # as many as the release has
    assert quick_attack(TABLE, release) is None


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
def test_named_is_the_mean_over_every_order_of_equals(pairs):
    likely, has = np.array([float(p) for p, _ in pairs]), np.array([h for _, h in pairs])
    amount = int(has.sum())
    draws = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        order = np.lexsort((draws.random(len(pairs)), -likely))[:amount]
        shares.append(has[order].sum() / amount if amount else 0.0)
    assert named(likely, has) == pytest.approx(np.mean(shares), abs=0.12)
