"""The scorecard: every figure against what it stands for."""

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table, k_anonymity
from tamis.catalogue.measures import MEASURES
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.evaluate.assessment import Assessment
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Scorecard, scorecard
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut
from tamis.learn.models import attackers
from tamis.release import Recipe, Release, released
from tamis.require.k import ContainmentAnonymity


@pytest.fixture(scope="module")
def table() -> Table:
    return patients(rows=600)


@pytest.fixture(scope="module")
def evaluator(table: Table) -> Evaluator:
    split = HoldOut.drawn(table.frame["readmitted"])
    return Evaluator(table, split, AdditiveNaiveBayes(), attackers(("nb", "c45")))


@pytest.fixture(scope="module")
def card(table: Table, evaluator: Evaluator) -> Scorecard:
    names = [["stay_days", "visits"], ["viral_load_test", "cd4_count", "sex"]]
    some = [released(table, n, " + ".join(n), Recipe("hand")) for n in names]
    zero_one = Table(
        pl.DataFrame({"long": table.frame["stay_days"] > 4, "often": table.frame["visits"] > 2})
        .cast(pl.UInt8)
        .with_columns(table.frame["readmitted"])
    ).with_roles(target="readmitted")
    promise = (ContainmentAnonymity(5, columns=("long", "often")),)
    some.append(Release("zero one", zero_one, Recipe("hand"), promise))
    everything = released(table, table.features, "everything", Recipe("everything"))
    nothing = released(table, [], "nothing", Recipe("nothing"))
    steps: list[tuple[str, int, int]] = []
    made = scorecard(
        evaluator, everything, nothing, some, progress=lambda *step: steps.append(step)
    )
    assert [step[1:] for step in steps] == [(0, 5), *((i, 5) for i in range(5))]
    return made


def test_baseline_and_floor(card: Scorecard, table: Table, evaluator: Evaluator):
    held = table.frame["readmitted"][evaluator.split.reporting]
    majority = (held == "no").mean()
    assert card.floor.value("performance") == pytest.approx(majority)
    assert card.floor.value("lost_rules") == 1
    assert card.floor.value("features") == 0
    assert card.floor.value("k_anonymity") == table.rows
    assert card.baseline.value("pbi") == 0
    assert card.baseline.value("lost_rules") == 0
    assert card.baseline.value("features") == len(table.features)
    assert card.baseline.figures["pbi"] == Figure(0.0)
    hiv = table.frame["hiv"][evaluator.split.reporting]
    strongest = card.baseline.assessment.reporting.everything[evaluator.strongest]
    floor = (hiv == "negative").sum() / strongest.right.sum()
    assert card.floor.value("pbi") == pytest.approx(floor - 1)


def test_a_figure_is_that_of_a_model_of_the_rows_seen(
    card: Scorecard, table: Table, evaluator: Evaluator
):
    split, names = evaluator.split, ["stay_days", "visits"]
    frame, y = table.frame.select(names), table.frame["readmitted"].to_numpy()
    model = AdditiveNaiveBayes().fit(frame[split.seen], y[split.seen])
    row = card.candidates[0]
    for rows, value in (
        (split.reporting, row.value("performance")),
        (split.choosing, row.value_for_choice("performance")),
    ):
        right = model.predict(frame[rows]) == y[rows]
        assert value == pytest.approx(right.mean())


def test_the_strongest_attackers_are_picked_by_the_rows_that_choose(
    card: Scorecard, evaluator: Evaluator
):
    for assessment in (row.assessment for row in card.rows):
        right = {
            name: predictions.right.sum()
            for name, predictions in assessment.choosing.attacked.items()
        }
        assert right[assessment.strongest] == max(right.values())
        assert assessment.evaluator.strongest in right
    every = {n: s.right.sum() for n, s in card.baseline.assessment.choosing.everything.items()}
    assert every[evaluator.strongest] == max(every.values())


def test_what_was_learnt_once_is_told_of_each_part(card: Scorecard, evaluator: Evaluator):
    """Both parts together are all that was said of the rows held out."""
    assessment = card.candidates[0].assessment
    both = np.concatenate(
        [assessment.choosing.predictions.predicted, assessment.reporting.predictions.predicted]
    )
    rows = np.concatenate([evaluator.split.choosing, evaluator.split.reporting])
    assert both[np.argsort(rows)].tolist() == assessment.predictions.predicted.tolist()
    assert assessment.reporting.retention is not None
    assert assessment.reporting.retention.rows_original == len(evaluator.split.reporting)


def test_who_tells_is_more_exposed_than_who_teaches(card: Scorecard):
    teaches, tells, _ = card.candidates
    assert (teaches.value("pbi") or 0) < (tells.value("pbi") or 0)
    assert (teaches.value("performance") or 0) > (tells.value("performance") or 0)


def test_anonymity_of_either_kind(card: Scorecard, table: Table):
    _, tells, zero_one = card.candidates
    assert tells.value("k_anonymity") == k_anonymity(table.frame, ["sex"])
    assert tells.value("containment_anonymity") is None
    cells = zero_one.release.table.frame.select("long", "often").to_numpy()
    held = [(cells >= row).all(axis=1).sum() for row in cells]
    assert zero_one.value("containment_anonymity") == min(held)
    assert zero_one.value("lost_rules") == 1


def test_every_measure_is_there_and_every_interval_holds_its_figure(card: Scorecard):
    for row in (card.floor, *card.rows):
        assert list(row.figures) == list(MEASURES)
        assert list(row.for_choice) == list(row.figures)
        for figure in (*row.figures.values(), *row.for_choice.values()):
            if figure is not None and figure.low is not None and figure.high is not None:
                assert figure.low - 1e-9 <= figure.value <= figure.high + 1e-9
    plain = card.to_dict()
    assert [r["name"] for r in plain["releases"]] == [r.release.name for r in card.candidates]


def test_many_numbers_as_the_sensitive_column_are_cut_into_classes(table: Table):
    other = table.with_roles(sensitive="birth_year", quasi=("zip", "sex"))
    split = HoldOut.drawn(other.frame["readmitted"])
    evaluator = Evaluator(other, split, AdditiveNaiveBayes(), attackers(("nb",)))
    assert 2 <= len(np.unique(evaluator.secrets)) <= 10


def test_rules_may_predict_a_label_that_no_held_out_row_has():
    labels = ["rare"] * 3 + ["no", "yes"] * 30
    codes = [9, 9, 9] + [0, 5] * 30
    table = Table(pl.DataFrame({"x": codes, "y": labels}), Roles(target="y"))
    parts = HoldOut(np.arange(40), np.arange(40, 51), np.arange(51, 63))
    evaluator = Evaluator(table, parts, AdditiveNaiveBayes(), attackers(("nb",)))
    assert evaluator.rules is not None
    assert "rare" in {rule.label for rule in evaluator.rules}
    kept = Assessment(evaluator, released(table, ["x"], "x", Recipe("hand"))).reporting.retention
    assert kept is not None
    assert kept.rule_accuracy == 0


def test_a_sensitive_column_of_countless_texts_is_refused():
    frame = pl.DataFrame(
        {"a": [0, 1] * 150, "s": [f"s{i}" for i in range(300)], "y": ["u", "v"] * 150}
    )
    table = Table(frame, Roles(target="y", sensitive="s"))
    with pytest.raises(InputError, match="distinct values, but at most 100"):
        Evaluator(table, HoldOut.drawn(frame["y"]), AdditiveNaiveBayes(), {})


def test_of_an_altered_release_models_are_asked_about_people_as_they_are(
    table: Table, evaluator: Evaluator
):
    """Learnt from columns turned upside down, a model is wrong about those that were not."""
    turned = released(table, ["visits"], "turned", Recipe("hand"))
    frame = turned.table.frame.with_columns(visits=100.0 - turned.table.frame["visits"])
    altered = Release("turned", Table(frame, turned.table.roles), Recipe("hand"))
    model_features = Assessment(evaluator, altered).model_features["visits"]
    held, seen = evaluator.split.held, evaluator.split.seen
    assert model_features[held].to_list() == table.frame["visits"][held].to_list()
    assert model_features[seen].to_list() == frame["visits"][seen].to_list()
    plain = Assessment(evaluator, turned)
    assert Assessment(evaluator, altered).predictions.right.mean() < plain.predictions.right.mean()
