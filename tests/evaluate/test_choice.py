"""The choice by kept and told: value, ties that are paired, limits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet
from tamis.evaluate.bits import KeptTold
from tamis.evaluate.choice import as_good, chosen
from tamis.evaluate.subset_bits import SubsetBits
from tamis.select.front import search_front


def measured(target, secret, noise=0.0):
    """Sets of which none lies in another, with these mean gains; all of the same rows."""
    rng = np.random.default_rng(0)
    own = rng.normal(0, 1, (len(target), 2, 900))
    own = noise * (own - own.mean(axis=2, keepdims=True)) / own.std(axis=2, keepdims=True)
    within = np.eye(len(target), dtype=bool)
    rows = [np.array(v)[:, None] + own[:, i] for i, v in enumerate((target, secret))]
    return KeptTold(rows[0], rows[1], within, 0, 1.0, 1.0)


def test_the_most_kept_less_told_is_chosen():
    found = measured([1.0, 0.9, 0.5], [1.0, 0.3, 0.1])
    assert chosen(found, [3, 2, 1]) == 1
    assert chosen(found, [3, 2, 1], caution=0.0) == 0
    assert chosen(found, [3, 2, 1], caution=3.0) == 2


def test_of_what_is_as_good_the_smaller_is_chosen():
    """The errors of differences are sqrt(2) * 0.3 / 30 of kept and the double of it of value."""
    found = measured([1.0, 0.99, 0.9], [0.5, 0.5, 0.5], noise=0.3)
    assert as_good(found, 1, 0)
    assert not as_good(found, 2, 0)
    assert chosen(found, [3, 2, 1]) == 1
    assert chosen(found, [3, 3, 1]) == 0


def test_as_good_in_value_alone_is_not_as_good():
    """Keeps and tells less in the same measure: another release, not the same one smaller."""
    found = measured([1.0, 0.6], [0.5, 0.1], noise=0.05)
    assert found.value()[0] - found.value()[1] == pytest.approx(0.4 / 1.0 - 0.4 / 0.5)
    found = measured([1.0, 0.6], [1.0, 0.6], noise=0.05)
    assert found.value()[0] == pytest.approx(found.value()[1])
    assert not as_good(found, 1, 0)


def test_from_table_to_choice():
    """Columns that teach go out, one that tells and a pair that tells together stay."""
    rng = np.random.default_rng(0)
    rows = 4000
    teaches = rng.integers(0, 4, (2, rows))
    tells, one, other = rng.integers(0, 2, (3, rows))
    target = (teaches.sum(axis=0) + rng.integers(0, 3, rows) > 4).astype(int)
    secret = np.where(rng.random(rows) < 0.5, tells, one ^ other)
    frame = pl.DataFrame({"t0": teaches[0], "t1": teaches[1], "s": tells, "p": one, "q": other})
    bits = SubsetBits.of(frame, target, secret)
    sets = [columns for columns in search_front(bits).scores if columns]
    found = bits.measured(sets)
    best = chosen(found, [len(columns) for columns in sets])
    assert sets[best] == (0, 1)
    assert found.kept[best] > 0.95
    assert found.told[best] < 0.05
    assert found.told[sets.index((3, 4))] > 0.2
    assert found.told[sets.index((0, 1, 3))] < 0.1


def test_only_what_is_allowed_is_chosen():
    found = measured([1.0, 0.9, 0.5], [1.0, 0.3, 0.1])
    assert chosen(found, [3, 2, 1], np.array([True, False, True])) == 2
    assert chosen(found, [3], caution=9.0) == 0
    with pytest.raises(CannotMeet, match="no set of columns"):
        chosen(found, [3, 2, 1], np.zeros(3, dtype=bool))
