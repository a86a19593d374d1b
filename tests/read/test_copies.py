"""Columns that are the target in another form are held back; good predictors are not."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table, consider, read_table
from tamis.errors import TamisWarning
from tamis.flow import Settings
from tamis.read.copies import copies, copies_of, without_copies
from tests.read.made_identifiers import of

ROWS = 600


def people(seed: int = 0) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 90, ROWS), "sex": rng.choice(["f", "m"], ROWS)}


def births(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    grams = rng.normal(3_000, 650, ROWS).round()
    low = np.where(grams < 2_500, "yes", "no")
    return pl.DataFrame({**people(seed), "bwt": grams, "low": low})


def _days(seed: int) -> list[datetime.date]:
    rng = np.random.default_rng(seed)
    return [
        datetime.date(2015, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 999, ROWS)
    ]


def _dead(seed: int = 0) -> pl.Series:
    return pl.Series(np.random.default_rng(seed + 7).random(ROWS) < 0.3)


def _where(known: pl.Series, values: Any) -> pl.Series:
    return pl.select(pl.when(known).then(pl.Series(values))).to_series()


def made(kind: str, seed: int) -> pl.DataFrame:
    """A table whose column `x` is the label in another form."""
    rng, dead = np.random.default_rng(seed), _dead(seed)
    years = rng.integers(1990, 2020, ROWS)
    label = pl.Series(np.where(dead, "dead", "alive"))
    x: object
    if kind == "year of death":
        x = _where(dead, years)
    elif kind == "cause of death":
        x = _where(dead, rng.choice(["heart", "stroke", "other"], ROWS))
    elif kind == "date of the next offence":
        x = _where(dead, _days(seed))
    elif kind == "an index":
        x = np.where(dead, rng.exponential(3, ROWS) + 0.01, 0.0)
    elif kind == "in other words":
        x = np.where(dead, rng.choice(["d1", "d2"], ROWS), rng.choice(["a1", "a2"], ROWS))
    elif kind == "one error in three hundred":
        x = np.where(dead, "t", "f")
        x[:2] = ["f", "t"]
    elif kind == "a reversed scale":
        x = np.where(dead, rng.integers(-50, -10, ROWS), rng.integers(-9, 40, ROWS))
    elif kind == "three bands":
        x = rng.integers(0, 90, ROWS)
        label = pl.Series(np.digitize(x, [30, 60])).cast(pl.String)
    elif kind == "a year of death that is sometimes unknown":
        x = _where(dead & pl.Series(rng.random(ROWS) < 0.94), years)
    elif kind == "rounded":
        x = rng.normal(3_000, 650, ROWS)
        label = pl.Series(np.where(x < 2_500, "low", "normal"))
        x = np.round(x / 20)
    elif kind == "a code for never":
        days = [str(day) for day in _days(seed)]
        x = np.where(dead, days, "never")
    elif kind == "what card holders spend":
        spent = rng.integers(1, 900, ROWS)
        x = np.where(dead.to_numpy() & (rng.random(ROWS) < 0.94), spent, 0)
    elif kind == "an offence that may come too late to count":
        x = _where(dead | pl.Series(rng.random(ROWS) < 0.03), _days(seed))
    elif kind == "a flag of any offence, counted or not":
        x = np.where(dead | pl.Series(rng.random(ROWS) < 0.03), 1, 0)
    elif kind == "only some of the dates":
        x = _where(dead & pl.Series(rng.random(ROWS) < 0.6), _days(seed))
    else:
        raise ValueError(kind)
    return pl.DataFrame({**people(seed), "x": x, "y": label})


KINDS = (
    "year of death", "cause of death", "date of the next offence", "an index", "in other words",
    "one error in three hundred", "a reversed scale", "three bands", "only some of the dates",
    "a year of death that is sometimes unknown", "rounded", "a code for never",
    "what card holders spend", "an offence that may come too late to count",
    "a flag of any offence, counted or not",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_found_with_the_reason(kind):
    for seed in range(5):
        found = copies(Table(made(kind, seed), Roles(target="y")))
        assert list(found) == ["x"]
        assert found["x"].of == "y"
        assert "'y'" in found["x"].why
        assert "dead" not in found["x"].why


def strong(kind: str, seed: int) -> pl.DataFrame:
    """A table whose column `x` predicts the label well, as columns may."""
    rng, dead = np.random.default_rng(seed), _dead(seed)
    x: object
    if kind == "right for 97 of 100":
        x = np.where(dead.to_numpy() ^ (rng.random(ROWS) < 0.03), "a", "b")
    elif kind == "two overlapping bells":
        x = rng.normal(np.where(dead, 3.4, 0.0), 1.0)
    elif kind == "mostly measured in the ill":
        known = dead | pl.Series(rng.random(ROWS) < 0.1)
        x = _where(known, rng.normal(5, 1, ROWS))
    elif kind == "measured in half of the ill":
        x = _where(dead & pl.Series(rng.random(ROWS) < 0.5), rng.normal(5, 1, ROWS))
    elif kind == "spent by half of the ill":
        x = np.where(dead.to_numpy() & (rng.random(ROWS) < 0.5), rng.integers(1, 900, ROWS), 0)
    elif kind == "a date of all":
        x = _days(seed)
    elif kind == "noise":
        x = rng.integers(0, 1_000, ROWS)
    elif kind == "never given":
        x = pl.Series([None] * ROWS, dtype=pl.Int64)
    else:
        raise ValueError(kind)
    return pl.DataFrame({**people(seed), "x": x, "y": np.where(dead, "dead", "alive")})


@pytest.mark.parametrize(
    "kind",
    [
        "right for 97 of 100", "two overlapping bells", "mostly measured in the ill",
        "measured in half of the ill", "spent by half of the ill",
        "a date of all", "noise", "never given",
    ],
)  # fmt: skip
def test_columns_that_only_predict_well_are_left_alone(kind):
    for seed in range(5):
        assert copies(Table(strong(kind, seed), Roles(target="y"))) == {}


def test_a_date_after_the_outcome_is_found():
    dead = _dead()
    days = pl.Series(_days(1))
    frame = pl.DataFrame(
        {**people(), "died": _where(dead, days), "closed": days.dt.offset_by("9d"), "y": dead}
    )
    found = copies(Table(frame, Roles(target="y")))
    assert found["closed"].why == "it is dated after 'died', which gives 'y' away"


def test_copies_of_the_secret_are_found_too():
    frame = births().with_columns(y=pl.Series(_dead()))
    found = copies(Table(frame, Roles(target="y", sensitive="low")))
    assert {name: copy.of for name, copy in found.items()} == {"bwt": "low"}
    pay = np.random.default_rng(3).lognormal(8, 0.5, ROWS)
    paid = pl.DataFrame({**people(), "pay": pay, "monthly": pay / 12, "y": _dead()})
    assert set(copies(Table(paid, Roles(target="y", sensitive="pay")))) == {"monthly"}


def test_rows_of_one_person_do_not_make_a_copy():
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(150), 4)
    frame = pl.DataFrame(
        {
            "who": who,
            "weight": rng.integers(4_000, 9_000, 150)[who],
            "ill": (rng.random(150) < 0.4)[who],
        }
    )
    assert copies(Table(frame, Roles(target="ill", identifiers=("who",)))) == {}


def test_a_feature_that_belongs_is_released_also_where_it_may_be_known():
    table = Table(births(), Roles(target="low", quasi=("age", "bwt")))
    with pytest.warns(TamisWarning, match=r"'bwt' \(a cut in it decides 'low'\).*--feature bwt"):
        held, found = without_copies(table)
    assert (held.features, held.quasi, set(found)) == (("age", "sex"), ("age",), {"bwt"})
    stated = table.with_roles(plain=("bwt",))
    assert without_copies(stated) == (stated, {})


def test_a_release_holds_copies_back_and_says_why():
    frame = births().with_columns(
        visits=pl.Series(np.random.default_rng(1).poisson(np.where(births()["low"] == "yes", 6, 2)))
    )
    settings = Settings(methods={"front": {}}, allow_useless=True)
    with pytest.warns(TamisWarning, match="held back"):
        outcome = consider(Table(frame, Roles(target="low")), settings)
    assert "bwt" not in outcome.table.features
    assert outcome.copies["bwt"].of == "low"
    assert not any("bwt" in row.release.features for row in outcome.decision.scorecard.rows)


TARGETS = dict.fromkeys(
    of(
        "adult_train banknote credit_approval dna magic mushroom optdigits page_blocks pendigits "
        "pima shuttle spambase vehicle wall_following_4 wilt yeast"
    ),
    "class",
) | {"bank_marketing": "y", "cardiotocography": "NSP", "diabetes130": "readmitted"} | {
    "ilpd": "Selector", "winequality_red": "quality", "parkinson_speech": "class",
}  # fmt: skip
TRUE_COPIES = {"parkinson_speech": {"subject_id", "UPDRS"}}
"""Of the controls, each UPDRS is 1; subjects are numbered by class."""


@pytest.mark.parametrize("name", TARGETS)
def test_no_real_table_gives_a_false_alarm(name, dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        frame = read_table(dataset(f"{name}.csv.gz"), check=False, missing="?").frame
    among = [c for c in frame.columns if c != TARGETS[name]]
    assert set(copies_of(frame, TARGETS[name], among=among)) == TRUE_COPIES.get(name, set())
