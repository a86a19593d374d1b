"""Columns in coarser forms: they keep k, are stated, and are worth what unseen rows say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tamis import Settings, consider
from tamis.coarsen.ladder import Ladder
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.flow import Outcome
from tamis.propose.coarsen import Coarsen
from tamis.risk.classes import k_anonymity
from tamis.table import Table


def table(rows: int = 2400, seed: int = 0) -> Table:
    """`age` teaches in bands and would single people out; `town` tells the secret by its half."""
    draw = np.random.default_rng(seed)
    age, secret = draw.uniform(18, 90, rows).round(1), draw.integers(0, 2, rows)
    old = age > 55
    target = np.where(draw.random(rows) < 0.85, old, ~old).astype(int)
    town = 2 * draw.integers(0, 4, rows) + secret
    frame = pl.DataFrame({"age": age, "town": [f"t{t}" for t in town]}).with_columns(
        pl.Series("y", target), pl.Series("s", secret)
    )
    return Table(frame).with_roles(target="y", sensitive="s")


QUICK = Settings(methods={"front": {}, "coarsen": {}}, attackers=("nb",), allow_useless=True)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return consider(table(), QUICK)


def test_an_age_that_singles_people_out_is_kept_in_bands(outcome):
    release = outcome.decision.chosen.release
    assert "age" in release.forms
    assert "town" not in release.features or "town" in release.forms
    assert k_anonymity(release.table) >= 5
    assert (outcome.decision.chosen.value("kept") or 0) > 0.8
    assert (outcome.decision.chosen.value("told") or 0) < 0.1


def test_every_form_is_that_of_its_ladder(outcome):
    found = 0
    for row in outcome.decision.scorecard.candidates:
        for name, form in row.release.forms.items():
            ladder = Ladder.from_dict(name, form.ladder)
            applied = ladder.apply(outcome.table.frame[name], form.level)
            assert row.release.table.frame[name].equals(applied)
            found += 1
    assert found


def test_no_cut_is_somebodys_value(outcome):
    ages = set(outcome.table.frame["age"].to_list())
    for row in outcome.decision.scorecard.candidates:
        form = row.release.forms.get("age")
        cuts = [] if form is None else np.ravel(form.ladder["cuts"]).tolist()
        assert not ages & set(cuts)


def test_every_release_that_coarsens_keeps_k(outcome):
    rows = [row for row in outcome.decision.scorecard.candidates if row.release.forms]
    assert rows
    assert all((row.value("k_anonymity") or 0) >= 5 for row in rows)


@pytest.mark.filterwarnings("ignore:the columns teach little")
def test_groups_learnt_from_noise_invent_nothing():
    """On the rows that taught the groups noise looks like something; the choice sees others."""
    draw = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"code": draw.integers(0, 30, 1600).astype(str), "x": draw.random(1600).round(2)}
    ).with_columns(pl.Series("y", draw.integers(0, 2, 1600)))
    noise = Table(frame).with_roles(target="y")
    for row in consider(noise, QUICK).decision.scorecard.candidates:
        assert (row.value_for_choice("useful") or 0) < 0.02


def test_a_written_ladder_is_kept_to():
    written = {"age": Ladder.from_dict("age", {"width": [10, 20, 40]})}
    found = consider(table(), QUICK, ladders=written)
    forms = [
        row.release.forms["age"]
        for row in found.decision.scorecard.candidates
        if row.release.forms.get("age")
    ]
    assert forms
    assert all(form.ladder == written["age"].to_dict() for form in forms)


def test_a_column_may_be_kept_from_coarsening():
    asked = replace(QUICK, methods={"front": {}, "coarsen": {"keep": ["age"]}})
    found = consider(table(), asked).decision.scorecard
    assert not any("age" in row.release.forms for row in found.candidates)
    with pytest.raises(InputError, match="1 column that cannot be released"):
        consider(table(), replace(QUICK, methods={"coarsen": {"keep": ["nobody"]}}))
    with pytest.raises(InputError, match="1 or more"):
        Coarsen(most=0)


def test_small_tables_get_ladders_that_nothing_taught():
    found = consider(patients(rows=400), QUICK).decision.scorecard
    forms = [form for row in found.candidates for form in row.release.forms.values()]
    words = {word for form in forms for word in form.ladder}
    assert "groups" not in words
