"""What each column adds to a release, where there are too many columns to fit each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.column_bits import FITTED, column_bits, waves
from tamis.flow import Settings, consider
from tamis.learn.holdout import HoldOut, column_labels
from tamis.release import Recipe, released
from tamis.table import Roles, Table


def test_released_columns_of_a_wide_table_add_to_each_other():
    rng = np.random.default_rng(0)
    rows = 1200
    a, b = rng.integers(0, 2, (2, rows))
    ill = np.where(a + b + 0.5 * rng.normal(size=rows) > 1, "yes", "no")
    noise = {f"x{i}": rng.integers(0, 2, rows) for i in range(FITTED)}
    frame = pl.DataFrame({"a": a, "b": b, **noise, "ill": ill})
    settings = Settings(k=2, methods={"front": {}}, attackers=("nb",), max_features=2)
    found = consider(Table(frame, Roles(target="ill")), settings)
    assert set(found.decision.chosen.release.features) == {"a", "b"}
    compared = found.decision.scorecard.compared
    bits = column_bits(found.evaluator.yardstick, compared, found.release)
    assert min(bits[name].teaches_beyond for name in ("a", "b")) > 0.2
    assert max(bits[name].teaches_beyond for name in noise) < 0.1


WIDE = 70


@pytest.fixture(scope="module")
def wide():
    """Column a00 teaches most and a01 half as much; a02 is a copy of a00; the others are noise."""
    rng = np.random.default_rng(0)
    ones = rng.integers(0, 2, (WIDE, 1600))
    ones[2] = ones[0]
    said = 2.0 * ones[0] + ones[1] + 0.6 * rng.normal(size=1600) > 1.5
    secret = np.where(ones[3] + 0.5 * rng.normal(size=1600) > 0.5, "yes", "no")
    columns = {f"a{i:02}": each for i, each in enumerate(ones)}
    table = Table(
        pl.DataFrame({**columns, "s": secret, "ill": np.where(said, "yes", "no")}),
        Roles(target="ill", sensitive="s"),
    )
    labels, secrets = (column_labels(table, name) for name in ("ill", "s"))
    return table, BitsScorer.of(table, HoldOut.drawn(labels), labels, secrets)


def test_many_released_columns_are_put_in_an_order(wide):
    table, yardstick = wide
    names = [name for name in table.features if name != "a60"]
    release = released(table, names, "many", Recipe("by hand"))
    compared = yardstick.compared([release])
    found = waves(yardstick, compared, release)
    assert [len(wave.columns) for wave in found] == [1, 3, 12, WIDE - 1 - 16]
    every = [column for wave in found for column in wave.columns]
    assert sorted(every) == list(yardstick.columns(release))
    assert yardstick.features[found[0].columns[0]] in ("a00", "a02")
    assert found[1].columns[0] == 1
    bits = yardstick.reporting
    before: list[int] = []
    for wave in found:  # by definition
        promised = bits.expected(before)
        for column in wave.columns:
            assert wave.adds[column] == (promised[0][column], promised[1][column])
        rest = [c for c in every if c not in before and c not in wave.columns]
        least = min(promised[0][c] for c in wave.columns)
        assert all(promised[0][c] <= least for c in rest)
        before += wave.columns
        kept, told = bits.score(before)
        assert wave.kept == pytest.approx(min(1, kept / compared.reporting.target_scale))
        assert wave.told == pytest.approx(min(1, max(0, told) / compared.reporting.secret_scale))
    assert found[0].kept < found[1].kept
    assert found[1].kept > 0.8


def test_a_column_of_many_adds_what_it_does_to_those_before_it(wide):
    table, yardstick = wide
    release = released(table, table.features, "many", Recipe("by hand"))
    compared = yardstick.compared([release])
    found = column_bits(yardstick, compared, release, waves(yardstick, compared, release))
    copies = sorted(found[name].teaches_beyond for name in ("a00", "a02"))
    assert copies[0] < 0.05  # the second of them says what the first says
    assert copies[1] > 0.3
    assert found["a01"].teaches_beyond > 0.1
    assert found["a03"].tells_beyond > 0.3
    assert max(found[f"a{i:02}"].teaches_beyond for i in range(4, WIDE)) < 0.05


def test_few_released_columns_have_no_order(wide):
    table, yardstick = wide
    release = released(table, table.features[:FITTED], "few", Recipe("by hand"))
    assert waves(yardstick, yardstick.compared([release]), release) == ()
