"""One yardstick for all releases: what is kept and told does not depend on how they are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tamis.coarsen.learnt_forms import CoarserForm, FinestForm
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.learn.holdout import HoldOut, column_labels
from tamis.release import Coarsening, DrawnRelease, Recipe, Release, released
from tamis.table import Table

ROWS = 400


def table(seed: int = 0, **more: object) -> Table:
    """`hint` teaches the target, `leak` tells the secret, `noise` neither."""
    draw = np.random.default_rng(seed)
    target, secret = draw.integers(0, 2, (2, ROWS))
    noise = draw.random(ROWS)
    hint = np.where(draw.random(ROWS) < 0.9, target, 1 - target)
    leak = np.where(draw.random(ROWS) < 0.9, secret, 1 - secret)
    columns = {"hint": hint, "leak": leak, "noise": noise, "y": target, "s": secret} | more
    return Table(pl.DataFrame(columns)).with_roles(target="y", sensitive="s")


def yardstick(given: Table, secret: bool = True) -> BitsScorer:
    labels = column_labels(given, "y")
    secrets = column_labels(given, "s") if secret else None
    return BitsScorer.of(given, HoldOut.drawn(labels), labels, secrets)


def of(given: Table, *features: str) -> Release:
    return released(given, features, "+".join(features), Recipe("test"))


@pytest.fixture(scope="module")
def given() -> Table:
    return table()


@pytest.fixture(scope="module")
def measure(given: Table) -> BitsScorer:
    return yardstick(given)


def test_columns_keep_what_teaches_and_tell_what_tells(given, measure):
    every = [of(given, *names) for names in (("hint", "leak", "noise"), (), ("hint",), ("leak",))]
    found = measure.compared(every)
    for part in (found.choosing, found.reporting):
        assert part.kept[[0, 1, 2]] == pytest.approx([1, 0, 1], abs=0.1)
        assert part.told[[0, 1, 3]] == pytest.approx([1, 0, 1], abs=0.1)
        assert part.kept[3] < 0.1
        assert part.told[2] < 0.1


def test_a_release_that_alters_nothing_is_worth_what_its_columns_are(given, measure):
    plain = of(given, "hint", "leak")
    copied = plain.altered_from(plain.table)
    assert measure.columns(plain) == (0, 1)
    assert measure.columns(copied) is None
    found = measure.compared([plain, copied])
    for part in (found.choosing, found.reporting):
        np.testing.assert_array_equal(part.target_gains[0], part.target_gains[1])
        np.testing.assert_array_equal(part.secret_gains[0], part.secret_gains[1])


def test_altered_rows_teach_and_true_ones_are_asked_about(given, measure):
    """A column turned round teaches the wrong thing, which people as they are bring to light."""
    plain = of(given, "hint")
    turned = Table(
        plain.table.frame.with_columns((1 - pl.col("hint")).alias("hint")), plain.table.roles
    )
    found = measure.compared([plain, replace(plain, table=turned).altered_from(plain.table)])
    assert found.choosing.useful[0].value > 0.3
    assert found.choosing.useful[1].value < -0.3
    assert found.choosing.kept[1] == 0  # who has it can ignore it


def test_synthetic_rows_are_learnt_from_and_people_asked_about(given, measure):
    drawn = of(table(seed=1), "hint", "leak").table
    wrong = Table(drawn.frame.with_columns((1 - pl.col("hint")).alias("hint")), drawn.roles)
    plain = of(given, "hint", "leak")
    parts = plain.name, plain.table, plain.recipe
    every = [
        DrawnRelease(*parts, unaltered=given, evaluation_sample=each) for each in (drawn, wrong)
    ]
    found = measure.compared([plain, *every])
    for part in (found.choosing, found.reporting):
        assert part.useful[1].value == pytest.approx(part.useful[0].value, abs=0.15)
        assert part.useful[2].value < -0.3
        np.testing.assert_array_equal(part.secret_gains[1], part.secret_gains[0])


def test_columns_cut_to_0_and_1_lie_within_everything(given, measure):
    frame = given.frame.select(pl.col("hint").alias("hint = 1"), "y")
    cut = Release("cut", Table(frame).with_roles(target="y"), Recipe("test"))
    found = measure.compared([of(given, *given.features), cut, of(given, "noise")]).choosing
    assert found.within[0, 1]
    assert not found.within[1, 0]
    assert not found.within[2, 1]
    assert found.kept[0] >= found.kept[1] > 0.9


def test_noise_beside_a_telling_column_never_tells_less(given, measure):
    found = measure.compared([of(given, "leak"), of(given, "leak", "noise")]).choosing
    assert found.told[1] >= found.told[0]
    assert found.telling[1].value != found.telling[0].value  # as measured it may well


def test_nothing_is_told_where_the_secret_is_the_target(given):
    found = yardstick(given, secret=False).compared([of(given, "hint"), of(given, "leak")])
    assert found.figures(0, "reporting")["told"] is None
    assert found.figures(0, "reporting")["telling"] is None
    assert found.choosing.told.tolist()[:2] == [0, 0]


def test_rows_to_report_on_change_nothing_that_chooses(given):
    """Whoever is only reported on may be anybody."""
    labels = column_labels(given, "y")
    split = HoldOut.drawn(labels)
    frame = given.frame.with_row_index().with_columns(
        pl.when(pl.col("index").is_in(split.reporting.tolist()))
        .then(99)
        .otherwise(pl.col(c))
        .alias(c)
        for c in ("hint", "leak", "noise")
    )
    other = Table(frame.drop("index"), given.roles)
    secrets = column_labels(given, "s")
    one, two = (BitsScorer.of(each, split, labels, secrets) for each in (given, other))
    sets = [("hint",), ("leak", "noise"), ("hint", "leak", "noise")]
    found = [
        each.compared([of(whole, *names) for names in sets])
        for each, whole in ((one, given), (two, other))
    ]
    np.testing.assert_array_equal(found[0].choosing.kept, found[1].choosing.kept)
    np.testing.assert_array_equal(found[0].choosing.told, found[1].choosing.told)
    assert found[0].reporting.kept.tolist() != found[1].reporting.kept.tolist()


def test_nobody_is_both_learnt_from_and_asked_about():
    people = np.repeat(np.arange(ROWS // 4), 4)
    given = table(who=people).with_roles(
        target="y", sensitive="s", identifiers=("who",), person=("who",)
    )
    labels, whose = column_labels(given, "y"), given.people.groups
    assert whose is not None
    split = HoldOut.drawn(labels, groups=whose)
    measure = BitsScorer.of(given, split, labels, column_labels(given, "s"))
    for bits in (measure.choosing, measure.reporting):
        for learn, ask in bits.parts.rounds:
            assert not set(whose[learn]) & set(whose[ask])


def coarser(given: Table, trials: tuple[CoarserForm, ...]) -> Release:
    """`code` as two groups that teach the target well; the trials group it otherwise."""
    form = CoarserForm(CODES, (0, 1))
    coarse = given.frame.with_columns(form.applied(given.frame["code"]).alias("code"))
    plain = released(given, ["code"], "", Recipe("test"))
    frame = coarse.select("code", "y")
    forms = {"code": Coarsening(form.description(), 1, trials=trials)}
    return Release("code", Table(frame, plain.table.roles), plain.recipe, forms=forms)


CODES = FinestForm(values=("p", "q"))


@pytest.mark.parametrize("suppressed", [False, True])
def test_forms_are_chosen_by_what_each_round_learnt_without_the_rows_it_asks_about(suppressed):
    """The groups of the release know the rows that choose; on those that report they count."""
    given = table()
    draw = np.random.default_rng(5)
    hint = np.where(draw.random(ROWS) < 0.9, given.frame["y"], draw.integers(0, 2, ROWS))
    given = table(code=np.where(hint == 1, "p", "q"))
    measure = yardstick(given)
    rounds = len(measure.choosing.parts.rounds)
    same, blind = ((CoarserForm(CODES, groups),) * rounds for groups in ((0, 1), (0, 0)))
    every = [of(given, "hint", "code"), *(coarser(given, trials) for trials in ((), same, blind))]
    if suppressed:
        every = [each.keeping(np.arange(ROWS) % 9 > 0) for each in every]
    found = measure.compared(every)
    useful = [each.value for each in found.choosing.useful[:4]]
    assert useful[1] == pytest.approx(useful[2], abs=0.01)
    assert useful[2] > 0.3
    assert useful[3] == pytest.approx(0, abs=0.03)
    reported = [each.value for each in found.reporting.useful[:4]]
    assert reported[3] == pytest.approx(reported[2]) == pytest.approx(reported[1])


def test_a_choice_is_based_on_all_rows_that_do_not_report():
    draw = np.random.default_rng(2)
    target = draw.integers(0, 2, 5_000)
    given = Table(pl.DataFrame({"x": draw.integers(0, 3, 5_000), "y": target}))
    given = given.with_roles(target="y")
    split = HoldOut.of_table(given)
    measure = BitsScorer.of(given, split, column_labels(given, "y"))
    assert sorted(measure.choosing.parts.asked) == sorted([*split.seen, *split.choosing])
    assert sorted(measure.searching.parts.asked) == sorted(split.choosing)
    assert not set(measure.choosing.parts.asked) & set(measure.reporting.parts.asked)
    found = measure.compared([of(given, "x"), of(given)])
    assert found.choosing.target_gains.shape[1] == 3_750
