"""Linkage against its definition, written out over plain rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.attack import linkage as links
from tamis.attack.kernels import NearestRows
from tamis.attack.linkage import linkage_by_things, pattern_numbers
from tamis.attack.scene import Scene
from tamis.errors import InputError
from tamis.risk.anonymity import reidentification
from tamis.table import Roles, Table

linkage: Any = links.linkage
halves: Any = links.halves
NOMINAL = np.array([True, False, False])
CELL = st.sampled_from([0.0, 0.25, 1.0, math.nan])
TEXT = st.sampled_from([0.0, 1.0, 2.0, math.nan])
ROWS = st.lists(st.tuples(TEXT, CELL, CELL), min_size=1, max_size=6)


def apart(a, b, known):
    total = 0.0
    for x, y, nominal, is_known in zip(a, b, NOMINAL, known):
        if not is_known or x == y or (math.isnan(x) and math.isnan(y)):
            continue
        total += 1.0 if nominal or math.isnan(x) or math.isnan(y) else abs(x - y)
    return total


@given(ROWS, ROWS, st.lists(st.booleans(), min_size=3, max_size=3))
def test_the_nearest_rows_are_those_at_the_least_distance(asked, table, known):
    each = np.tile(np.array(known), (len(asked), 1))
    hits, least = NearestRows(np.array(table), NOMINAL).to(np.array(asked), each)
    for i, person in enumerate(asked):
        far = [apart(person, row, known) for row in table]
        assert least[i] == min(far)
        assert hits[i].tolist() == [d == min(far) for d in far]


@pytest.mark.parametrize("texts", [2, 40])
def test_the_nearest_of_many_rows_are_those_at_the_least_distance(texts):
    """Few groups of rows with the same texts, and nearly as many groups as rows."""
    draw = np.random.default_rng(texts)
    table = np.column_stack([*draw.integers(0, texts, (2, 2000)), *draw.integers(0, 5, (2, 2000))])
    asked, table = table[:20] * 1.0, table[10:] / [1, 1, 4, 4]
    asked[:, 2:] /= 4
    nominal, known = np.array([True, True, False, False]), draw.random(asked.shape) < 0.8
    hits, least = NearestRows(table, nominal).to(asked, known)
    cells = np.abs(asked[:, None] - table[None])
    far = (np.where(nominal, cells > 0, cells) * known[:, None]).sum(axis=2)
    assert least.tolist() == far.min(axis=1).tolist()
    assert (hits == (far == least[:, None])).all()


AGES = st.sampled_from([20, 30, None])
PEOPLE = st.lists(st.tuples(AGES, st.sampled_from("ab"), st.sampled_from("xy")), min_size=2)


def table_of(rows):
    schema = {"age": pl.Int64, "job": pl.String, "town": pl.String}
    return Table(pl.DataFrame(rows, schema=schema, orient="row"))


@given(PEOPLE, st.randoms())
def test_in_a_release_of_true_values_a_person_among_c_alike_is_found_once_in_c(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    scene = Scene(table_of(rows), table_of(shuffled), known=("age", "job"))
    expected = reidentification(table_of(rows), quasi=["age", "job"])
    found = linkage(scene, errors=())[0]
    assert found.success.value == pytest.approx(expected.marketer)
    assert found.guess == 1 / len(rows)


@given(PEOPLE)
def test_two_halves_are_joined_as_often_as_both_pick_the_same_row(rows):
    found = halves(Scene(table_of(rows), table_of(rows)))
    first = [["age", "job", "town"].index(c) for c in found.details["first"]]
    others = [i for i in range(3) if i not in first]
    chances = []
    for person in rows:
        one = [i for i, row in enumerate(rows) if all(row[c] == person[c] for c in first)]
        two = [i for i, row in enumerate(rows) if all(row[c] == person[c] for c in others)]
        chances.append(len(set(one) & set(two)) / (len(one) * len(two)))
    assert found.success.value == pytest.approx(np.mean(chances))


def numbers(rows, seed):
    drawn = np.random.default_rng(seed)
    return Table(pl.DataFrame({name: drawn.random(rows) for name in "abcd"}))


def test_the_original_as_its_own_release_gives_everybody_away_and_nobody_else():
    table, others = numbers(120, 0), numbers(100, 1)
    for found in (linkage(Scene(table, table, others), ())[0], halves(Scene(table, table, others))):
        assert found.success.value == 1.0
        assert found.gain.value == 1.0
        assert found.control.value < 0.2
        assert found.leak.value > 0.8


def test_a_constant_release_is_no_better_than_guessing():
    table = numbers(60, 0)
    constant = Table(table.frame.with_columns(pl.all().first()))
    for found in (*linkage(Scene(table, constant)), halves(Scene(table, constant))):
        assert found.success.value <= 1 / 60 + 1e-12
        assert found.gain.value <= 1e-12


def test_little_noise_hides_nobody_and_rows_of_strangers_are_nobodys():
    table, others = numbers(100, 0), numbers(100, 1)
    drawn = np.random.default_rng(5)
    noisy = Table(table.frame.with_columns(pl.all() + pl.Series(drawn.normal(0, 0.002, 100))))
    near = linkage(Scene(table, noisy, others), errors=())[0]
    assert near.success.value > 0.95
    assert near.leak.value > 0.8
    strange = linkage(Scene(table, numbers(100, 9), others), errors=())[0]
    assert strange.leak.low < 0 < strange.leak.high


def test_less_is_found_with_values_missing_or_wrong():
    table = numbers(300, 0)
    exact, *others = linkage(Scene(table, table), errors=(0.2, 0.6))
    missing, wrong, more_missing, more_wrong = others
    assert exact.success.value == 1.0
    assert more_missing.success.value < missing.success.value <= 1.0
    assert more_wrong.success.value < wrong.success.value < 1.0


def test_a_person_whose_row_was_suppressed_is_not_found():
    table = numbers(20, 0)
    scene = Scene(table, Table(table.frame[5:]))
    assert linkage(scene, errors=())[0].success.value == 15 / 20


def test_of_several_rows_of_a_person_any_counts_as_theirs():
    frame = pl.DataFrame({"who": [1, 1, 2, 3], "age": [5, 5, 5, 9]})
    table = Table(frame, Roles(identifiers=("who",)))
    scene = Scene(table, Table(frame.select("age")))
    found = linkage(scene, errors=())[0]
    assert found.people == 3
    assert found.success.value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)


def test_where_nothing_known_is_released_rows_are_guessed():
    table = numbers(40, 0)
    scene = Scene(table, Table(table.frame.select("a")), known=("b",))
    assert linkage(scene, errors=())[0].success.value == pytest.approx(1 / 40)


def test_patterns_take_missing_for_a_value():
    cells = np.array([[0.0, math.nan], [0.0, math.nan], [0.0, 0.0]])
    first, second, third = pattern_numbers(cells)
    assert first == second != third


BITS = st.lists(st.tuples(*[st.sampled_from([0, 1])] * 4), min_size=1, max_size=8)


@given(BITS)
def test_by_m_rarest_things(rows):
    records = np.array(rows, dtype=np.uint8)
    found = {each.attacker: each for each in linkage_by_things(records, amounts=[2, 4])}
    chances = []
    for person in records:
        holders = (records >= person).all(axis=1).sum()
        chances.append(1 / holders)
    assert found["linkage, 4 rarest things"].success.value == pytest.approx(np.mean(chances))
    assert found["linkage, 4 random things"].success.value == pytest.approx(np.mean(chances))
    least = found["linkage, 2 rarest things"].success.value
    assert least <= np.mean(chances) + 1e-12


def test_two_rarest_things_by_hand():
    records = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]])
    found = {e.attacker: e.success.value for e in linkage_by_things(records, amounts=[1, 2])}
    # The rarest of each: column 2 (1 row), column 1 (2 rows), column 3 (1 row), nothing (4 rows).
    assert found["linkage, 1 rarest thing"] == pytest.approx((1 + 1 / 2 + 1 + 1 / 4) / 4)
    assert found["linkage, 2 rarest things"] == pytest.approx((1 + 1 / 2 + 1 + 1 / 4) / 4)


def test_a_scene_needs_something_to_compare():
    with pytest.raises(InputError, match="shares no column"):
        Scene(numbers(5, 0), Table(pl.DataFrame({"other": [1]})))
    with pytest.raises(InputError, match="no column 'zip'"):
        Scene(numbers(5, 0), numbers(5, 0), known=("zip",))


@pytest.mark.parametrize("spread", [0.005, 0.03])
def test_what_counts_as_found_is_nearly_what_is_truly_found(spread):
    table = numbers(200, 0)
    drawn = np.random.default_rng(3).normal(0, spread, (200, 4))
    true, noisy = table.frame.to_numpy(), table.frame.to_numpy() + drawn
    scene = Scene(table, Table(pl.DataFrame(noisy, schema=list("abcd"))), known=("a", "b"))
    span = np.maximum(true.max(axis=0), noisy.max(axis=0)) - np.minimum(
        true.min(axis=0), noisy.min(axis=0)
    )
    far = (np.abs(true[:, None, :2] - noisy[None, :, :2]) / span[:2]).sum(axis=2)
    truly = (far.argmin(axis=1) == np.arange(200)).mean()
    found = linkage(scene, errors=())[0].success.value
    assert 0.1 < truly < 1.0
    assert found == pytest.approx(truly, abs=0.06)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, math.nan])] * 3), max_size=12))
def test_patterns_are_numbered_in_the_order_of_their_cells(rows):
    cells = np.array(rows, dtype=float).reshape(-1, 3)
    plain = np.where(np.isnan(cells), -1.0, cells).tolist()
    order = sorted({tuple(row) for row in plain})
    assert pattern_numbers(cells).tolist() == [order.index(tuple(row)) for row in plain]
