"""Models learn from a sample of a large table; people alike are counted on all rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.evaluate.assessment import Assessment
from tamis.evaluate.evaluator import Evaluator
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut, label_codes
from tamis.release import Coarsening, Recipe, Release, released
from tamis.risk.anonymity import k_anonymity
from tamis.table import Roles, Table

ROLES = Roles(target="ill", sensitive="secret")


def table_of(rows: int) -> Table:
    draw = np.random.default_rng(0)
    job = np.array(["cook", "judge", "clerk"])[draw.integers(0, 3, rows)]
    age = draw.integers(20, 60, rows)
    ill = np.where(age + draw.integers(0, 20, rows) > 50, "yes", "no")
    secret = np.where((job == "cook") ^ (draw.random(rows) < 0.2), "a", "b")
    frame = pl.DataFrame({"age": age, "job": job, "ward": draw.integers(0, 4, rows)})
    return Table(frame.with_columns(ill=pl.Series(ill), secret=pl.Series(secret)), ROLES)


def evaluator(table: Table, split: HoldOut) -> Evaluator:
    model = AdditiveNaiveBayes()
    return Evaluator(table, split, model, {"nb": model})


@pytest.fixture(scope="module")
def both() -> tuple[Evaluator, Evaluator]:
    """Of a table whose rows are sampled, and of a table of the sampled rows alone."""
    table = table_of(900)
    labels = label_codes(table, "ill")
    split = HoldOut.drawn(labels).sampled(400, labels)
    large = evaluator(table, split)
    parts = (split.seen, split.choosing, split.reporting)
    seen, choosing, reporting = (np.searchsorted(large.sample, rows) for rows in parts)
    few = HoldOut(seen, choosing, reporting)
    return large, evaluator(Table(table.frame[large.sample], ROLES), few)


def altered(table: Table) -> Release:
    """Ages of the release are off by one, and people are asked about as they are."""
    plain = released(table, ["age", "job"], "altered", Recipe("hand"))
    frame = plain.table.frame.with_columns(pl.col("age") + 1)
    made = Release("altered", Table(frame, plain.table.roles), plain.recipe)
    return made.altered_from(plain.table)


@pytest.mark.parametrize("alter", [False, True])
def test_what_is_not_sampled_changes_no_prediction(both, alter):
    found = []
    for each in both:
        table = each.original
        plain = released(table, ["age", "job"], "plain", Recipe("hand"))
        assessed = Assessment(each, altered(table) if alter else plain)
        found.append([assessed.predictions, assessed.guesses["nb"]])
    for large, small in zip(*found):
        np.testing.assert_array_equal(large.predicted, small.predicted)
        np.testing.assert_array_equal(large.truth, small.truth)
        np.testing.assert_allclose(large.probabilities, small.probabilities)


def test_everything_and_nothing_of_a_sample(both):
    large, _ = both
    table = large.original
    every = Assessment(large, released(table, table.features, "everything", Recipe("hand")))
    assert every.guesses is large.guesses_from_everything(large.sensitive)
    nothing = Assessment(large, released(table, [], "nothing", Recipe("hand")))
    assert len(set(nothing.predictions.predicted)) == 1


def test_people_alike_are_counted_on_all_rows_and_in_the_released_form(both):
    large, _ = both
    table = large.original
    plain = released(table, ["age", "job"], "plain", Recipe("hand"))
    old = (plain.table.frame["age"] >= 40).cast(pl.String).alias("age")
    coarse = Table(plain.table.frame.with_columns(old), plain.table.roles)
    forms = {"age": Coarsening({"cuts": [40]}, 1)}
    young = (plain.table.frame["age"] >= 30).cast(pl.String).alias("age")
    other = Table(plain.table.frame.with_columns(young), plain.table.roles)
    for release in (
        plain,
        Release("coarse", coarse, plain.recipe, forms=forms),
        Release("other", other, plain.recipe, forms={"age": Coarsening({"cuts": [30]}, 1)}),
        Release("again", coarse, plain.recipe, forms=forms),
        plain.keeping(np.arange(table.rows) % 2 == 0),
        altered(table),
    ):
        assert Assessment(large, release).k_anonymity == k_anonymity(release.table)
