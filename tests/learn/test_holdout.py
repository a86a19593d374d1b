"""Rows that no search sees."""

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut, column_labels, fit_predict, label_codes
from tamis.learn.models import seeded
from tamis.table import Roles, Table


@given(st.integers(8, 60), st.integers(8, 60), st.floats(0.1, 0.4), st.integers(0, 9))
def test_both_parts_have_the_same_mix_and_share_no_row(ones, zeros, share, seed):
    y = np.array([1] * ones + [0] * zeros)
    split = HoldOut.drawn(y, share, seed)
    parts = (split.seen, split.choosing, split.reporting)
    assert sorted(np.concatenate(parts)) == list(range(len(y)))
    assert sorted(split.held) == sorted([*split.choosing, *split.reporting])
    for part in parts[1:]:
        assert int(y[part].sum()) == round(share * ones)
    assert split.is_seen.sum() == len(split.seen)
    again = HoldOut.drawn(y, share, seed)
    assert all(map(np.array_equal, parts, (again.seen, again.choosing, again.reporting)))


@st.composite
def people(draw, most=12):
    """Labels and people of rows: some have many rows, and labels that are not all the same."""
    count = draw(st.integers(24, 80))
    sizes = draw(st.lists(st.integers(1, most), min_size=count, max_size=count))
    leans = draw(st.lists(st.sampled_from([0.0, 0.2, 1.0]), min_size=count, max_size=count))
    who = np.repeat(np.arange(count), sizes)
    mix = np.random.default_rng(draw(st.integers(0, 99)))
    y = (mix.random(len(who)) < np.array(leans)[who]).astype(int)
    y[:2] = 0, 1
    order = mix.permutation(len(who))
    return y[order], who[order]


@given(people(), st.sampled_from([0.1, 0.2, 0.25, 0.4]), st.integers(0, 9))
def test_no_person_is_in_two_parts_and_the_parts_are_as_even_as_people_allow(rows, share, seed):
    y, who = rows
    try:
        split = HoldOut.drawn(y, share, seed, who)
    except InputError:
        assume(False)
    parts = (split.seen, split.choosing, split.reporting)
    assert sorted(np.concatenate(parts)) == list(range(len(y)))
    assert sum(len(np.unique(who[part])) for part in parts) == len(np.unique(who))
    most = np.bincount(who).max()
    for part, asked in zip(parts, (1 - 2 * share, share, share)):
        assert abs(len(part) - asked * len(y)) <= 4 * most
        for label in (0, 1):
            whole = (y == label).sum()
            assert abs((y[part] == label).sum() - asked * whole) <= max(4 * most, 0.25 * whole)


def test_people_are_drawn_by_seed():
    who = np.repeat(np.arange(40), 3)
    y = np.arange(40)[who] % 2
    drawn = [HoldOut.drawn(y, 0.25, seed, who).reporting for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert len(drawn[0]) == 30
    assert y[drawn[0]].mean() == 0.5
    with pytest.raises(InputError, match="3 people are too few"):
        HoldOut.drawn([0] * 40 + [1] * 20, 0.25, 0, np.arange(60) // 20)


def test_too_few_rows_and_a_wrong_share_are_named():
    with pytest.raises(InputError, match="too few"):
        HoldOut.drawn(["a", "b"], 0.25)
    with pytest.raises(InputError, match=r"below 0\.5, got 0\.5"):
        HoldOut.drawn(["a", "b"] * 10, 0.5)


@pytest.mark.parametrize("name", ["nb", "c45", "logistic", "forest"])
def test_every_kind_of_model_reads_text_and_missing_values(name):
    draw = np.random.default_rng(1)
    jobs = np.array(["cook", "judge", None], dtype=object)[draw.integers(0, 3, 120)]
    ages = [None if a < 25 else a for a in draw.integers(20, 60, 120).tolist()]
    y = np.where([j == "cook" for j in jobs], "yes", "no")
    frame = pl.DataFrame({"job": jobs.tolist(), "age": ages})
    split = HoldOut.drawn(y)
    found = fit_predict(seeded(name, 0), frame, y, split.seen, split.held)
    assert found.right.mean() > 0.95
    assert found.probabilities is not None
    assert found.probabilities.shape == (len(split.held), 2)


def test_without_features_the_most_frequent_label_is_guessed():
    y = np.array(["a"] * 12 + ["b"] * 8)
    split = HoldOut.drawn(y)
    found = fit_predict(AdditiveNaiveBayes(), pl.DataFrame(), y, split.seen, split.held)
    assert set(found.predicted) == {"a"}
    assert found.right.mean() == 0.6


def test_a_sample_has_rows_of_each_label_from_each_part():
    labels = np.repeat(["a", "b", "c"], [900, 90, 10])
    split = HoldOut.drawn(labels, share=0.25)
    few = split.sampled(500, labels)
    assert np.unique(labels[few.seen], return_counts=True)[1].tolist() == [225, 23, 3]
    for part in ("seen", "choosing", "reporting"):
        assert set(getattr(few, part)) < set(getattr(split, part))
    assert split.sampled(1_000, labels) is split


def test_parts_of_one_person_each_are_refused():
    """Nobody knows how far another person's rows would be from theirs."""
    who, y = np.repeat(np.arange(4), 25), np.arange(100) % 2
    with pytest.raises(InputError, match=r"4 people are too few .* two people must be in each"):
        HoldOut.drawn(y, 0.25, 0, who)
    many, y = np.repeat(np.arange(40), 26), np.arange(40 * 26) % 2
    split = HoldOut.drawn(y, 0.25, 0, many)
    with pytest.raises(InputError, match="too few to hold out 104 rows"):
        split.sampled(104, y, 0, many)


def test_labels_are_numbered_in_the_order_of_their_texts():
    texts = ["b", "", None, "\U0001f600", "\uffff", "a", "Z", "b"]
    table = Table(pl.DataFrame({"y": texts}))
    numbered = np.unique(column_labels(table, "y"), return_inverse=True)[1]
    assert label_codes(table, "y").tolist() == numbered.tolist()


@pytest.mark.parametrize("rows_each", [1, 3])
def test_the_parts_have_the_same_secrets_and_weights_whatever_the_order_and_the_names(rows_each):
    draw = np.random.default_rng(5)
    who = np.repeat(np.arange(60), rows_each)
    cells = {"a": (who % 3), "ill": draw.choice(["u", "v", "w"], len(who))}
    cells |= {"weight": draw.integers(1, 9, len(who)), "y": np.where(who % 2, "yes", "no")}
    roles = Roles("y", sensitive="ill", identifiers=("who",), weight="weight")
    found = []
    for _ in range(3):
        names, order = draw.permutation(60), draw.permutation(len(who))
        table = Table(pl.DataFrame({"who": names[who], **cells})[order], roles)
        parts = HoldOut.of_table(table)
        rows = table.frame.drop("who")
        found.append([rows[p].rows() for p in (parts.seen, parts.choosing, parts.reporting)])
    assert found[0] == found[1] == found[2]
