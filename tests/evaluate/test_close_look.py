"""What slow learners find, and whom a mean hides; what each column adds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.evaluate.close_look import CloseLook, close_look
from tamis.evaluate.column_bits import column_bits
from tamis.evaluate.yardstick import Yardstick
from tamis.learn.holdout import HoldOut, column_labels
from tamis.release import Recipe, released
from tamis.table import Table

ROWS = 800


@pytest.fixture(scope="module")
def given() -> Table:
    """`told` says the secret of the few who have 1; `hint` the target of everybody, mostly."""
    draw = np.random.default_rng(0)
    target = draw.integers(0, 2, ROWS)
    secret = (draw.random(ROWS) < 0.1).astype(int)
    told = secret * (draw.random(ROWS) < 0.5)
    hint = np.where(draw.random(ROWS) < 0.9, target, 1 - target)
    frame = pl.DataFrame(
        {"told": told, "hint": hint, "copy": hint, "noise": draw.integers(0, 3, ROWS)}
    ).with_columns(pl.Series("y", target), pl.Series("s", secret))
    return Table(frame).with_roles(target="y", sensitive="s", quasi=("told", "noise"))


@pytest.fixture(scope="module")
def measure(given: Table) -> Yardstick:
    labels = column_labels(given, "y")
    return Yardstick.of(given, HoldOut.drawn(labels), labels, column_labels(given, "s"))


def look(given: Table, measure: Yardstick, *features: str) -> CloseLook:
    return close_look(measure, released(given, features, "", Recipe("")), k=5)


def test_the_few_who_are_told_are_found(given, measure):
    found = look(given, measure, "told", "hint").secret
    assert found is not None
    first = found.surest[0]
    assert first.part == 0.01
    assert first.precision.value == 1.0  # whoever has `told` has the secret
    assert found.share.value > 0.8
    assert found.auc is not None
    assert 0.6 < found.auc.value < 0.9
    assert max(found.largest) > 2  # from one in ten to nearly certain
    assert found.group is not None
    assert found.group.people >= 5
    assert found.group.gain.value > 1


def test_what_tells_nothing_is_not_shown_to(given, measure):
    found = look(given, measure, "hint").secret
    assert found is not None
    assert abs(found.share.value) < 0.2
    assert found.known.value == 0
    assert found.group is None  # attackers know nothing that is released


def test_the_target_is_learnt_as_well_as_it_can_be(given, measure):
    found = look(given, measure, "hint").target
    assert found.accuracy.value == pytest.approx(0.9, abs=0.05)
    assert found.share.value == pytest.approx(1.0, abs=0.1)


def test_a_copy_teaches_alone_and_nothing_beyond_what_is_released(given, measure):
    release = released(given, ["hint"], "", Recipe(""))
    found = column_bits(measure, measure.compared([release]), release)
    assert found["copy"].teaches == pytest.approx(1, abs=0.1)
    assert found["copy"].teaches_beyond == pytest.approx(0, abs=0.02)
    assert found["hint"].teaches_beyond == pytest.approx(1, abs=0.1)
    assert found["told"].tells == pytest.approx(1, abs=0.1)
    assert found["told"].tells_beyond == pytest.approx(1, abs=0.1)
    assert found["noise"].teaches < 0.05


def test_many_columns_are_measured_by_one_fit(given, measure, monkeypatch):
    monkeypatch.setattr("tamis.evaluate.column_bits.FITTED", 1)
    release = released(given, ["hint"], "", Recipe(""))
    found = column_bits(measure, measure.compared([release]), release)
    assert found["hint"].teaches > 0.7
    assert found["copy"].teaches_beyond < 0.1
    assert found["told"].tells_beyond > 0.5
