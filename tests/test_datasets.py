"""The made tables are what their docstrings say."""

import numpy as np
import polars as pl
from scipy.stats import chi2_contingency

from tamis.datasets import behaviour, patients, stays
from tamis.read.keys import identifying_columns


def _p_value(frame, one, other):
    counts = frame.drop_nulls([one, other]).group_by(one, other).len()
    table = counts.pivot(on=other, index=one, values="len").fill_null(0).drop(one)
    return chi2_contingency(table.to_numpy()).pvalue


def test_the_same_seed_gives_the_same_patients():
    assert patients(300).frame.equals(patients(300).frame)
    assert not patients(300).frame.equals(patients(300, random_state=1).frame)


def test_patients_are_singled_out_by_what_a_neighbour_knows():
    table = patients()
    sizes = table.frame.group_by(table.quasi).len()["len"]
    assert (sizes == 1).mean() > 0.5  # type: ignore[operator]
    assert table.frame["patient"].n_unique() == table.rows


def test_hiv_is_betrayed_by_the_test_and_the_count_only():
    frame = patients().frame
    frame = frame.with_columns(low=pl.col("cd4_count") < 650, year=pl.col("birth_year") // 10)
    assert _p_value(frame, "viral_load_test", "hiv") < 1e-50
    assert _p_value(frame, "low", "hiv") < 1e-20
    for other in ("sex", "job", "ward", "blood_group", "year", "readmitted"):
        assert _p_value(frame, other, "hiv") > 0.001


def test_the_target_depends_on_stay_visits_and_albumin_and_not_on_noise():
    frame = patients().frame.with_columns(
        long=pl.col("stay_days") > 4, weak=pl.col("albumin") < 37, often=pl.col("visits") > 2
    )
    for cause in ("long", "weak", "often"):
        assert _p_value(frame, cause, "readmitted") < 1e-6
    assert _p_value(frame, "blood_group", "readmitted") > 0.001
    assert 0.25 < (frame["readmitted"] == "yes").mean() < 0.45  # type: ignore[operator]


def test_some_values_are_missing():
    missing = patients().frame.null_count().row(0, named=True)
    assert missing["albumin"] > 200
    assert missing["job"] > 80
    assert missing["stay_days"] == 0


def test_behaviour_has_a_long_tail_and_the_stated_pages():
    log = behaviour()
    support = np.asarray(log.matrix.sum(axis=0))
    assert support[0] > 800
    assert (support < 5).sum() > 20
    assert log.labels is not None
    dense = log.matrix.toarray()
    lift = dense[log.labels == "buyer"].mean(axis=0) - dense[log.labels == "other"].mean(axis=0)
    assert set(np.argsort(-lift)[:4]) <= {1, 4, 8, 13, 19, 29}
    assert {2, 7} <= set(np.argsort(lift)[:3])


def test_stays_repeat_patients_who_do_not_change():
    table = stays(2000)
    frame = table.frame
    assert table.person_columns == ("patient",)
    share = 1 - table.everybody / table.rows
    assert 0.15 < share < 0.25
    steady = ("name", "zip", "birth_year", "sex", "job", "blood_group", "hiv")
    within = frame.group_by("patient").agg(pl.col(steady).n_unique().max())
    assert within.select(pl.max_horizontal(steady).max()).item() == 1
    assert frame["name"].n_unique() < table.everybody  # two patients may have one name
    rest = [c for c in patients(2000).frame.columns if c not in (*steady, "patient")]
    assert frame.select(rest).equals(patients(2000).frame.select(rest))


def test_the_door_notices_who_the_stays_are_about():
    frame = stays(1000).frame
    found = identifying_columns(frame)
    assert found["patient"].person
    assert {"patient", "name"} <= set(found)
    unheaded = frame.rename({"patient": "x", "name": "y"})
    assert identifying_columns(unheaded)["x"].person
    assert "y" in identifying_columns(unheaded)
