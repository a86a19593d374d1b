"""Rungs as pseudo-columns: who can make what, what keeps k, and the steps between sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.coarsen.learnt_forms import CoarserForm, FinestForm
from tamis.evaluate.rungs import Rung, RungBits
from tamis.evaluate.subset_bits import SubsetBits
from tamis.propose.rungs import _Answers, keeps_people, moves


def form(*cuts, merged=()):
    groups = iter(merged or range(len(cuts) + 1))
    return CoarserForm(FinestForm(tuple(float(c) for c in cuts)), tuple(groups))


def two_columns(frame):
    """Both columns as they are, x in three, two and (another chain) two groups, y in two."""
    return [
        Rung(0, frame["x"].n_unique()),
        Rung(1, frame["y"].n_unique()),
        Rung(0, 3, 1, form(1.5, 3.5)),
        Rung(0, 2, 1, form(1.5, 3.5, merged=(0, 0, 1))),
        Rung(1, 2, 1, form(2.5)),
        Rung(0, 2, 2, form(1.5)),
    ]


frames = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=4, max_size=40
).map(lambda rows: pl.DataFrame(rows, schema=["x", "y", "who"], orient="row"))


@settings(max_examples=25)
@given(frames, st.integers(1, 6), st.booleans())
def test_k_is_counted_on_what_is_released(frame, k, by_person):
    rungs = two_columns(frame)
    people = np.unique(frame["who"], return_inverse=True)[1] if by_person else None
    keeps = keeps_people(rungs, frame.select("x", "y"), ["x", "y"], k, people)
    for size in range(4):
        for chosen in combinations(range(len(rungs)), size):
            columns = [rungs[c].column for c in chosen]
            if len(set(columns)) < size:
                assert not keeps(chosen)
                continue
            released = {str(c): rungs[c].applied(frame[:, rungs[c].column]) for c in chosen}
            who = frame["who"] if by_person else pl.Series(range(frame.height))
            classes = pl.DataFrame({**released, "who": who}).group_by(*released or [pl.lit(0)])
            least = classes.agg(pl.col("who").n_unique())["who"].min()
            assert keeps(chosen) == (least >= k or not chosen)


@given(frames, st.integers(1, 6), st.randoms(use_true_random=False))
def test_what_is_known_of_other_sets_changes_no_answer(frame, k, chance):
    rungs = two_columns(frame)
    sets = [c for size in range(1, 3) for c in combinations(range(len(rungs)), size)]
    chance.shuffle(sets)
    few, frame = rungs[:4], frame.select("x", "y")
    together = keeps_people(few, frame, ["x", "y"], k)
    first = {c: together(c) for c in sets if max(c) < 4}
    few += rungs[4:]  # rungs that come later may be worked out from those before
    for columns in sets:
        alone = keeps_people(rungs, frame, ["x", "y"], k)(columns)
        assert together(columns) == alone == first.get(columns, alone)


def test_the_part_that_refuses_a_set_refuses_others_without_counting():
    rungs = [Rung(0, 9), Rung(1, 8), Rung(2, 3), Rung(3, 2)]
    answers, asked = _Answers(rungs), []

    def counted(columns):
        asked.append(columns)
        return not {0, 1} <= set(columns)

    assert not answers.of((0, 1, 2), counted)
    assert asked == [(0,), (0, 1)]
    assert not answers.of((0, 1, 3), counted)
    assert asked == [(0,), (0, 1)]
    assert answers.of((0, 2, 3), counted)
    assert asked[2:] == [(0, 2), (0, 2, 3)]


@given(frames, st.integers(2, 4))
def test_what_holds_a_refused_set_is_refused(frame, k):
    rungs = two_columns(frame)
    keeps = keeps_people(rungs, frame.select("x", "y"), ["x", "y"], k)
    sets = [c for size in range(1, 4) for c in combinations(range(len(rungs)), size)]
    for one in sets:
        for other in sets:
            assert not (set(one) < set(other) and keeps(other) and not keeps(one))


def test_what_attackers_cannot_know_is_not_counted():
    frame = pl.DataFrame({"x": range(10), "y": [0, 1] * 5})
    rungs = [Rung(0, 10), Rung(1, 2)]
    assert keeps_people(rungs, frame, ["y"], 5)((0, 1))
    assert not keeps_people(rungs, frame, ["x", "y"], 2)((0,))


def test_steps_lead_from_any_set_to_any_other():
    frame = pl.DataFrame({"x": [0, 2, 4, 5], "y": [0, 1, 3, 4]})
    rungs = two_columns(frame)[:5]
    seen: set[tuple[int, ...]] = set()
    ahead: list[tuple[int, ...]] = [()]
    while ahead:
        columns = ahead.pop()
        if columns not in seen:
            seen.add(columns)
            ahead += moves(rungs, columns)
    valid = [
        c
        for size in range(3)
        for c in combinations(range(5), size)
        if len({rungs[i].column for i in c}) == size
    ]
    assert seen == set(valid)


def test_a_rung_is_exchanged_for_that_of_a_later_chain():
    rungs = two_columns(pl.DataFrame({"x": [0, 2, 4, 5], "y": [0, 1, 3, 4]}))
    assert moves(rungs, (3,)) == [(2,), (), (5,), (3, 4)]
    assert moves(rungs, (5,)) == [(0,), (), (4, 5)]
    assert moves(rungs, (0,)) == [(5,), (0, 4)]


@pytest.fixture(scope="module")
def bits():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, (2, 5000))
    target = (x + rng.integers(0, 3, 5000) > 3).astype(int)
    secret = (x % 2) ^ (rng.random(5000) < 0.1)
    frame = pl.DataFrame({"x": x, "y": y})
    plain = SubsetBits.of(frame, target, secret)
    plain.score((0,))
    rungs = two_columns(frame)[2:]
    times = len(plain.parts.choosing.rounds)
    trials = [Rung(r.column, r.groups, r.chain, r.form, None, (r.form,) * times) for r in rungs]
    return plain, RungBits.of_columns(plain, frame).with_rungs(frame, trials), frame


def test_columns_as_they_are_keep_their_numbers_and_fits(bits):
    plain, rungs, _ = bits
    assert rungs.everything == plain.everything == (0, 1)
    assert rungs.gains((0,))[0] is plain.gains((0,))[0]
    np.testing.assert_array_equal(rungs.gains((0, 1))[1], plain.gains((0, 1))[1])


def test_a_rung_is_scored_as_the_column_that_it_releases(bits):
    plain, rungs, frame = bits
    coarse = pl.DataFrame({"x": rungs.rungs[3].applied(frame["x"])})
    assert plain.secret is not None
    alone = SubsetBits.of(coarse, plain.target.label, plain.secret.label, parts=plain.parts)
    np.testing.assert_allclose(rungs.score((3,)), alone.score((0,)), atol=1e-3)
    assert rungs.score((3,))[0] > 0.1
    assert rungs.score((3,))[1] < 0.1 < rungs.score((0,))[1]


def test_who_has_a_finer_form_tells_at_least_as_much(bits):
    _, rungs, _ = bits
    assert rungs.implies((0,)).tolist() == [True, False, True, True, False, True]
    assert rungs.implies((2,)).tolist() == [False, False, True, True, False, False]
    found = rungs.measured([(0,), (2,), (3,), (2, 4), (3, 4)])
    assert found.told[0] >= max(found.told[1], found.told[2])
    assert found.kept[3] >= max(found.kept[4], found.kept[1])
    assert found.within[3, 4]
    assert not found.within[4, 1]


def test_a_round_is_coded_by_its_own_form():
    """Without the rows that it is asked about, another form may have been learnt."""
    frame = pl.DataFrame({"x": np.arange(400) % 4})
    label = np.arange(400) % 2
    plain = SubsetBits.of(frame, label)
    assert len(plain.parts.rounds) == 5
    released, other = (form(0.5, 1.5, 2.5, merged=m) for m in ((0, 0, 1, 1), (0, 1, 1, 1)))
    rung = Rung(0, 2, 1, released, None, (other,) + (released,) * 4)
    bits = RungBits.of_columns(plain, frame).with_rungs(frame, [rung])
    assert bits.coded_for(0).codes[1].tolist() == other.codes(frame["x"]).tolist()
    assert bits.coded_for(1).codes[1].tolist() == released.codes(frame["x"]).tolist()
    assert bits.table.codes[1].tolist() == released.codes(frame["x"]).tolist()
    gains = bits.gains((1,))[0]
    first = len(plain.parts.rounds[0][1])
    assert gains[:first].mean() > 0.1
    assert gains[first:].mean() == pytest.approx(0, abs=0.05)


def test_a_written_level_is_a_rung():
    frame = pl.DataFrame({"zip": [f"{i % 9:02}{i % 7}" for i in range(300)]})
    plain = SubsetBits.of(frame, (np.arange(300) % 9 > 3).astype(int))
    level = frame["zip"].str.slice(0, 2)
    bits = RungBits.of_columns(plain, frame).with_rungs(frame, [Rung(0, 9, 1, None, level)])
    assert bits.score((1,))[0] > 0.8
    assert bits.rungs[1].applied(frame["zip"]).to_list() == level.to_list()
    keeps = keeps_people(bits.rungs, frame, ["zip"], 30)
    assert keeps((1,))
    assert not keeps((0,))
