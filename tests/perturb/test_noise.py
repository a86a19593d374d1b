"""Noise and PRAM: their distributions, what they leave alone, the kinds of tables they take."""

from __future__ import annotations

import datetime
import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis import (
    DPHistogram,
    DPMarginals,
    DPPartition,
    DPSynthesiser,
    Pram,
    RandomFlip,
    RankSwap,
    Roles,
    Table,
)
from tamis.errors import InputError
from tamis.perturb.noise import GaussianNoise, UniformNoise, invariant

ROWS = 20_000
BOTH = [UniformNoise, GaussianNoise]


def people(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "weight": rng.normal(70, 12, rows).round(1),
            "job": rng.choice(["cook", "judge", "nurse"], rows, p=[0.7, 0.2, 0.1]),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )


def skewed(rows: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "number": rng.exponential(2.0, rows),
            "whole": rng.binomial(9, 0.1, rows),
            "word": rng.choice(["a", "b", "c"], rows, p=[0.9, 0.08, 0.02]),
        }
    )


@pytest.mark.parametrize("noise", BOTH)
@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_the_share_of_altered_cells_is_the_probability(noise, probability) -> None:
    before = skewed().select("number")
    after = noise(probability, random_state=5).fit_transform(before)
    altered = int((before["number"] != after["number"]).sum())
    assert stats.binomtest(altered, ROWS, probability).pvalue > 1e-4


def test_uniform_numbers_fill_the_range_evenly() -> None:
    before = skewed()
    after = UniformNoise(1.0, random_state=1).fit_transform(before)
    numbers = before["number"].to_numpy()
    spread = stats.uniform(numbers.min(), np.ptp(numbers))
    assert stats.kstest(after["number"].to_numpy(), spread.cdf).pvalue > 1e-4
    for column in ("whole", "word"):
        counts = after[column].value_counts()["count"].to_numpy()
        assert len(counts) == before[column].n_unique()
        assert stats.chisquare(counts).pvalue > 1e-4


def test_gaussian_noise_has_the_spread_of_its_column_and_the_shares_of_its_values() -> None:
    before = skewed()
    after = GaussianNoise(1.0, random_state=1).fit_transform(before)
    added = (after["number"] - before["number"]).to_numpy()
    normal = stats.norm(0, np.std(before["number"].to_numpy()))
    assert stats.kstest(added, normal.cdf).pvalue > 1e-4
    shares = before["word"].value_counts(normalize=True).sort("word")["proportion"].to_numpy()
    counts = after["word"].value_counts().sort("word")["count"].to_numpy()
    assert stats.chisquare(counts, shares * ROWS).pvalue > 1e-4
    assert abs(np.corrcoef(before["word"] == "a", after["word"] == "a")[0, 1]) < 0.03


def test_a_uniform_draw_does_not_look_like_a_gaussian_one() -> None:
    """The distribution checks above can tell the two apart."""
    before = skewed().select("number")
    after = UniformNoise(1.0, random_state=1).fit_transform(before)
    normal = stats.norm(0, np.std(before["number"].to_numpy()))
    added = (after["number"] - before["number"]).to_numpy()
    assert stats.kstest(added, normal.cdf).pvalue < 1e-9


@pytest.mark.parametrize("noise", BOTH)
def test_the_target_and_the_sensitive_column_stay_unless_asked(noise) -> None:
    table = Table(people(), Roles(target="ill", sensitive="job", identifiers=("age",)))
    after = noise(1.0).fit_transform(table)
    assert isinstance(after, Table)
    for column in ("ill", "job", "age"):
        assert after.frame[column].equals(table.frame[column])
    assert not after.frame["weight"].equals(table.frame["weight"])
    asked = noise(1.0, columns=["job"]).fit_transform(table)
    assert not asked.frame["job"].equals(table.frame["job"])
    assert asked.frame["weight"].equals(table.frame["weight"])


@pytest.mark.parametrize("noise", BOTH)
def test_types_bounds_and_missing_cells_are_kept(noise) -> None:
    frame = people().with_columns(
        pl.col("age").cast(pl.UInt8),
        pl.col("job").cast(pl.Categorical),
        pl.when(pl.col("weight") > 80).then(None).otherwise("weight").alias("weight"),
        born=pl.lit(datetime.date(2000, 1, 1)) + pl.duration(days=pl.col("age")),
        smokes=pl.col("age") > 50,
    )
    noisy = noise(1.0, bounds={"age": (30, 60), "weight": (40.5, 99)}).fit_transform(frame)
    assert noisy.schema == frame.schema
    assert noisy["age"].is_between(30, 60).all()
    assert noisy["weight"].drop_nulls().is_between(40.5, 99).all()
    assert noisy["weight"].is_null().equals(frame["weight"].is_null())
    observed = noise(1.0, bounds="observed").fit_transform(frame)
    weights = frame["weight"].drop_nulls().to_numpy()
    assert observed["weight"].drop_nulls().is_between(weights.min(), weights.max()).all()
    assert (observed["age"].to_numpy() <= frame["age"].to_numpy().max()).all()


def test_gaussian_noise_may_leave_the_range_where_no_bounds_are_asked() -> None:
    frame = people().select("weight")
    noisy = GaussianNoise(1.0).fit_transform(frame)
    assert noisy["weight"].to_numpy().max() > frame["weight"].to_numpy().max()


@pytest.mark.parametrize("noise", BOTH)
def test_the_same_kind_of_table_comes_out(noise) -> None:
    frame = people()
    pandas, arrow = frame.to_pandas(), frame.to_arrow()
    polars_noisy = noise(0.5, random_state=0).fit_transform(frame)
    pandas_noisy = noise(0.5, random_state=0).fit_transform(pandas)
    arrow_noisy = noise(0.5, random_state=0).fit_transform(arrow)
    assert isinstance(pandas_noisy, pd.DataFrame)
    assert isinstance(arrow_noisy, pa.Table)
    assert polars_noisy.equals(pl.from_pandas(pandas_noisy))
    assert polars_noisy.equals(pl.from_arrow(arrow_noisy))
    numbers = noise(0.5).fit_transform(frame.select("age", "weight").to_numpy())
    assert isinstance(numbers, np.ndarray)
    assert numbers.shape == (400, 2)


@pytest.mark.parametrize("noise", BOTH)
def test_the_same_seed_gives_the_same_cells_and_another_seed_others(noise) -> None:
    frame = people()
    first, second = (noise(0.4, random_state=7).fit_transform(frame) for _ in range(2))
    assert first.equals(second)
    assert not first.equals(noise(0.4, random_state=8).fit_transform(frame))


@pytest.mark.parametrize("noise", BOTH)
def test_the_arguments_are_left_as_they_were(noise) -> None:
    frame = people()
    before = frame.clone()
    noise(1.0).fit_transform(frame)
    assert frame.equals(before)


@pytest.mark.parametrize("noise", BOTH)
def test_it_is_a_transformer_tagged_non_deterministic(noise) -> None:
    assert noise().__sklearn_tags__().non_deterministic
    assert clone(noise(0.25)).probability == 0.25
    numbers = people().select("age", "weight").to_numpy()
    scaled = make_pipeline(noise(0.5), StandardScaler()).fit_transform(numbers)
    assert scaled.shape == numbers.shape
    fitted = noise().fit(people())
    assert fitted.get_feature_names_out().tolist() == ["age", "weight", "job", "ill"]


@pytest.mark.parametrize("noise", BOTH)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"probability": 1.5}, "from 0 to 1"),
        ({"probability": -0.1}, "from 0 to 1"),
        ({"probability": "often"}, "from 0 to 1"),
        ({"columns": ["height"]}, "no column 'height'"),
        ({"columns": "age"}, "got a single text"),
        ({"columns": []}, "columns is empty"),
        ({"bounds": {"age": (50, 20)}}, "rise from low to high"),
        ({"bounds": {"age": 50}}, "two numbers"),
        ({"bounds": {"age": (20.2, 20.8)}}, "no whole number"),
        ({"bounds": {"job": (0, 1)}}, "not numeric"),
        ({"bounds": {"height": (0, 1)}}, "not a column to alter"),
        ({"bounds": "wide"}, "mapping"),
    ],
)
def test_wrong_requests_are_refused(noise, options, words) -> None:
    with pytest.raises(InputError, match=words):
        noise(**options).fit(people())


@pytest.mark.parametrize("noise", BOTH)
def test_constant_and_empty_tables_are_refused(noise) -> None:
    with pytest.raises(InputError, match="constant"):
        noise().fit(pl.DataFrame({"a": [1, 1, 1], "b": ["x", "x", "x"]}))
    with pytest.raises(InputError, match="no rows"):
        noise().fit(pl.DataFrame({"a": []}))
    with pytest.raises(InputError, match="two dimensions"):
        noise().fit(np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="fitted on"):
        noise().fit(people()).transform(people().select("age"))


SHARES = st.lists(st.integers(1, 50), min_size=1, max_size=8).map(
    lambda n: np.array(n) / np.sum(n, dtype=float)
)


@given(SHARES, st.floats(0, 1))
def test_the_chances_keep_every_frequency(shares, change) -> None:
    R = invariant(shares, change)
    assert (R >= 0).all()
    assert R.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert shares @ R == pytest.approx(shares, abs=1e-12)


@given(SHARES, st.floats(0.01, 0.99))
def test_the_chances_are_those_of_two_steps_by_bayes(shares, change) -> None:
    size = len(shares)
    if size == 1:
        return
    P = [[1 - change if i == j else change / (size - 1) for j in range(size)] for i in range(size)]
    Q = [
        [P[j][k] * shares[j] / sum(shares[i] * P[i][k] for i in range(size)) for j in range(size)]
        for k in range(size)
    ]
    assert invariant(shares, change) == pytest.approx(np.array(P) @ np.array(Q), abs=1e-12)


def test_two_values_that_are_always_exchanged_come_back() -> None:
    assert invariant(np.array([0.3, 0.7]), 1.0) == pytest.approx(np.eye(2))


def test_frequencies_stay_on_average_over_many_draws() -> None:
    jobs = pl.DataFrame({"job": ["cook"] * 300 + ["judge"] * 80 + ["smith"] * 20 + [None] * 9})
    pram = Pram(0.4, random_state=np.random.default_rng(7)).fit(jobs)
    draws = [pram.transform(jobs)["job"] for _ in range(60)]
    for value, count in (("cook", 300), ("judge", 80), ("smith", 20)):
        means = np.mean([(d == value).sum() for d in draws])
        assert abs(means - count) < 6
    assert all(d[400:].is_null().all() for d in draws)
    assert all(set(d.drop_nulls()) <= {"cook", "judge", "smith"} for d in draws)
    changed = np.mean([(d[:400] != jobs["job"][:400]).mean() for d in draws])
    assert 0.2 < changed < 0.8


def test_only_texts_and_booleans_change_and_seeds_repeat() -> None:
    frame = pl.DataFrame(
        {
            "age": range(100),
            "job": ["cook", "judge"] * 50,
            "old": [True, False, None, True] * 25,
            "fixed": ["x"] * 100,
        }
    )
    table = Table(frame.with_columns(ill=pl.Series(["no", "yes"] * 50)), Roles(target="ill"))
    pram = Pram(0.5, random_state=3)
    after = pram.fit_transform(table).frame
    assert pram.columns_ == ("job", "old")
    assert after.schema == table.frame.schema
    assert after.select("age", "fixed", "ill").equals(table.frame.select("age", "fixed", "ill"))
    assert not after["job"].equals(frame["job"])
    assert Pram(0.5, random_state=3).fit_transform(table).frame.equals(after)


def test_no_change_changes_nothing() -> None:
    frame = pl.DataFrame({"job": ["cook", "judge", "smith", None]})
    assert Pram(0.0).fit_transform(frame).equals(frame)


def test_values_it_was_not_fitted_on_are_refused_and_not_shown() -> None:
    pram = Pram(0.1).fit(pl.DataFrame({"job": ["cook", "judge"]}))
    with pytest.raises(InputError, match="1 cells with values") as error:
        pram.transform(pl.DataFrame({"job": ["cook", "spy"]}))
    assert "spy" not in str(error.value)
    with pytest.raises(InputError, match=r"is expecting 1 features .* fitted on"):
        pram.transform(pl.DataFrame({"work": ["cook"]}))


def test_too_many_values_are_refused() -> None:
    names = pl.DataFrame({"name": [f"P{i}" for i in range(1001)]})
    with pytest.raises(InputError, match="1,001 values"):
        Pram(0.1).fit(names)


@pytest.mark.parametrize("kind", [UniformNoise, GaussianNoise, Pram, RankSwap])
def test_whatever_hides_has_no_default_seed(kind):
    rng = np.random.default_rng(0)
    cells = rng.choice(["u", "v", "w"], 200) if kind is Pram else rng.normal(size=200)
    frame = pl.DataFrame({"x": cells})
    one, two = (kind(0.5).fit_transform(frame) for _ in range(2))
    assert not one.equals(two)
    one, two = (kind(0.5, random_state=3).fit_transform(frame) for _ in range(2))
    assert one.equals(two)
    assert kind().random_state is None


@pytest.mark.parametrize("kind", [RandomFlip, DPHistogram, DPMarginals, DPPartition, DPSynthesiser])
def test_nor_has_anything_else_that_draws(kind):
    assert inspect.signature(kind).parameters["random_state"].default is None
