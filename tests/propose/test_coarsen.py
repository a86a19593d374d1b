"""Columns in coarser forms: they keep k, are stated, and are worth what unseen rows say."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from tamis import Settings, consider
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.learnt_forms import FinestForm
from tamis.datasets import patients
from tamis.errors import InputError
from tamis.evaluate.bits import chosen
from tamis.evaluate.parts import Parts
from tamis.evaluate.rungs import RungBits
from tamis.evaluate.subset_bits import SubsetBits
from tamis.outcome import Outcome
from tamis.propose.coarsen import Coarsen
from tamis.propose.coarser_sets import FEWEST_ROWS, MOVES, learnt_rungs, search_coarser
from tamis.propose.rungs import keeps_people
from tamis.risk.anonymity import k_anonymity
from tamis.select.front import search_front
from tamis.table import Roles, Table


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
    return Table(frame).with_roles(target="y", sensitive="s", plain=("town",))


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


ROWS = 4800
"""Enough for one round of scoring: 2,400 rows to learn, 1,200 to choose."""


def made(rows=ROWS, seed=0):
    """Of x the half teaches and the parity tells; y teaches a little; z is noise of many values."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, rows), rng.integers(0, 3, rows)
    z = rng.integers(0, 20, rows)
    target = (2 * (x // 4) + y + rng.integers(0, 3, rows) > 2).astype(int)
    secret = np.where(rng.random(rows) < 0.9, x % 2, rng.integers(0, 2, rows))
    names = np.array([f"v{i}" for i in range(20)])
    return pl.DataFrame({"x": names[x], "y": y, "z": names[z]}), target, secret


def forms(bits, frame, given=(), chain=2):
    search = bits.parts.search
    finest = [FinestForm.of(s, bits.table.codes[i], search) for i, s in enumerate(frame)]
    return learnt_rungs(bits, frame, finest, (2.0, -2.0), chain, given)


@pytest.fixture(scope="module")
def found():
    frame, target, secret = made()
    bits = SubsetBits.of(frame, target, secret)
    search_front(bits)
    return search_coarser(bits, frame, budgets=(40, 20)), frame


def test_what_tells_is_merged_away_and_what_teaches_stays(found):
    search, _ = found
    measured = search.measured
    whole = [i for i, columns in enumerate(search.sets) if set(columns) <= {0, 1, 2}]
    best = chosen(measured, search.sizes)
    assert measured.value()[whole].max() < 0.5
    assert measured.kept[best] > 0.9
    assert measured.told[best] < 0.1
    (of_x,) = [rung for rung in search.rungs(best) if rung.column == 0]
    assert of_x.form is not None
    group = of_x.form.mapping()
    halves = [{v for v in of_x.form.finest.values if group[v] == n} for n in of_x.form.names()]
    low, high = (frozenset(f"v{i}" for i in range(a, a + 4)) for a in (0, 4))
    assert all(half <= low or half <= high for half in halves)


def test_a_set_is_released_as_it_says(found):
    search, frame = found
    for number in (0, len(search.sets) - 1):
        released = search.released(number, frame)
        rungs = search.rungs(number)
        assert released.columns == [frame.columns[rung.column] for rung in rungs]
        for rung, column in zip(rungs, released):
            assert column.n_unique() == rung.groups


def test_each_set_has_one_form_of_a_column(found):
    search, _ = found
    for columns in search.sets:
        assert len({search.bits.rungs[c].column for c in columns}) == len(columns)


def test_groups_are_learnt_again_given_the_choice(found):
    search, _ = found
    assert {rung.chain for rung in search.bits.rungs} == {0, 3, 4}
    assert len(search.bits.fitted) <= 8 + 40 + 20


def test_every_set_of_whole_columns_stays_as_it_was_scored():
    frame, target, secret = made(seed=4)
    bits = SubsetBits.of(frame, target, secret)
    search_front(bits)
    found = search_coarser(bits, frame, budgets=(20, 10))
    whole = [columns for columns in bits.fitted if columns]
    assert set(whole) <= set(found.sets)
    for columns in whole:
        assert found.bits.gains(columns)[0] is bits.gains(columns)[0]


def test_budgets_are_kept():
    frame, target, secret = made()
    bits = SubsetBits.of(frame, target, secret)
    bits.score((0,))
    found = search_coarser(bits, frame, budgets=(3,))
    assert len(set(found.bits.fitted) - {(0,), (0, 1, 2)}) == 3
    assert (0,) in bits.fitted
    assert len(bits.fitted) == 1  # what was handed in is as it was


@pytest.mark.parametrize("rows", [ROWS, 1600])
def test_the_rows_that_score_a_form_have_no_part_in_it(rows):
    """Whatever their labels are: in one round, and in five."""
    frame, target, secret = made(rows)
    parts = Parts.drawn(target * 2 + secret)
    assert len(parts.rounds) == (1 if rows == ROWS else 5)
    ask = parts.rounds[0][1]
    other = [label.copy() for label in (target, secret)]
    for label in other:
        label[ask] = 1 - label[ask]
    found = []
    for labels in ((target, secret), other):
        bits = RungBits.of_columns(SubsetBits.of(frame, *labels, parts=parts), frame)
        found.append(forms(bits, frame, given=(1,)))
    assert [r.trials[0] for r in found[0]] == [r.trials[0] for r in found[1]]
    assert [r.form for r in found[0]] != [r.form for r in found[1]]


def test_the_rows_to_report_on_have_no_part_in_any_form():
    frame, target, secret = made(1600)
    parts = Parts.drawn(target * 2 + secret)
    other = target.copy()
    other[parts.report] = 1 - other[parts.report]
    found = []
    for labels in (target, other):
        bits = RungBits.of_columns(SubsetBits.of(frame, labels, secret, parts=parts), frame)
        found.append([(r.form, r.trials) for r in forms(bits, frame, given=(0,))])
    assert found[0] == found[1]


def test_groups_of_noise_are_worth_nothing():
    frame, target, secret = made(1600, seed=1)
    bits = RungBits.of_columns(SubsetBits.of(frame, target, secret), frame)
    bits = bits.with_rungs(frame, forms(bits, frame))
    of_noise = [i for i, rung in enumerate(bits.rungs) if rung.column == 2]
    assert len(of_noise) == 5
    for number in of_noise:
        assert bits.score((number,))[0] < 0.005


def test_few_rows_teach_no_groups():
    # Three quarters are searched, and four fifths of these learnt from at a time.
    frame, target, secret = made(5 * FEWEST_ROWS // 3 - 60)
    bits = SubsetBits.of(frame, target, secret)
    assert max(len(learn) for learn, _ in bits.parts.rounds) < FEWEST_ROWS < len(bits.parts.search)
    bits.score((0, 1))
    found = search_coarser(bits, frame, budgets=(5, 5))
    assert len(found.bits.rungs) == 3


def test_in_a_wide_table_the_most_promising_steps_come_first():
    rng = np.random.default_rng(0)
    wide = {f"n{i}": rng.integers(0, 4, ROWS).astype(str) for i in range(MOVES + 10)}
    frame, target, secret = made()
    frame = pl.DataFrame(wide).hstack(frame)
    bits = SubsetBits.of(frame, target, secret)
    x = frame.columns.index("x")
    bits.score((x,))
    found = search_coarser(bits, frame, budgets=(MOVES,))
    best = chosen(found.measured, found.sizes)
    assert x in {rung.column for rung in found.rungs(best)}
    assert found.measured.value()[best] > 0.5
    assert 10 < len(found.sets) <= MOVES + 2


def test_what_breaks_k_is_released_coarser():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, ROWS).round(3)
    target = (age + rng.normal(0, 10, ROWS) > 50).astype(int)
    frame = pl.DataFrame({"age": age, "y": rng.integers(0, 3, ROWS)})
    people = np.arange(ROWS) // 2
    bits = SubsetBits.of(frame, target, people=people)
    bits.score((1,))
    found = search_coarser(bits, frame, views=[(["age", "y"], 50)], budgets=(30,))
    best = chosen(found.measured, found.sizes)
    assert found.measured.kept[best] > 0.8
    for number in range(len(found.sets)):
        released = found.released(number, frame).with_columns(who=people)
        crowds = released.group_by(pl.exclude("who")).agg(pl.col("who").n_unique())
        assert (crowds["who"] >= 50).all()
    assert (0,) not in found.sets


def test_no_whole_column_keeps_k():
    rng = np.random.default_rng(0)
    one, two = rng.permutation(ROWS), rng.permutation(ROWS)
    target = (one > ROWS / 2).astype(int)
    frame = pl.DataFrame({"one": one, "two": two})
    bits = SubsetBits.of(frame, target)
    found = search_coarser(bits, frame, views=[(["one", "two"], 10)], budgets=(20,))
    best = chosen(found.measured, found.sizes)
    assert [rung.column for rung in found.rungs(best)] == [0]
    assert found.measured.kept[best] > 0.9


def test_where_nothing_teaches_or_tells_nothing_breaks():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.integers(0, 9, 2000), "y": [None] * 2000, "z": ["a"] * 2000})
    bits = SubsetBits.of(frame, rng.integers(0, 2, 2000), rng.integers(0, 3, 2000))
    found = search_coarser(bits, frame, budgets=(5, 5))
    assert not found.measured.teaches
    assert {rung.column for rung in found.bits.rungs if rung.chain} == {0}


def test_nobody_alike_and_nothing_to_release():
    frame = pl.DataFrame({"a": np.arange(400) % 2})
    bits = SubsetBits.of(frame, np.arange(400) % 2)
    found = search_coarser(bits, frame, views=[(["a"], 300)])
    assert found.sets == ()


def test_written_levels_are_used_and_such_columns_not_learnt():
    frame, target, secret = made()
    bits = SubsetBits.of(frame, target, secret)
    search_front(bits)
    halves = frame["x"].replace_strict({f"v{i}": "low" if i < 4 else "high" for i in range(8)})
    nothing = pl.Series("x", ["*"] * ROWS)
    found = search_coarser(
        bits, frame, levels={"x": [halves, nothing]}, fixed=["z"], budgets=(20, 10)
    )
    rungs = found.bits.rungs
    assert [rung.groups for rung in rungs if rung.column == 0] == [8, 2]
    assert [rung.chain for rung in rungs if rung.column == 2] == [0]
    best = chosen(found.measured, found.sizes)
    assert found.released(best, frame)["x"].to_list() == halves.to_list()


def test_the_same_again():
    frame, target, secret = made(1600)
    ends = []
    for _ in range(2):
        bits = SubsetBits.of(frame, target, secret)
        bits.score((0, 1))
        found = search_coarser(bits, frame, budgets=(10, 5))
        ends.append((found.sets, found.measured.kept.tolist(), [r.form for r in found.bits.rungs]))
    assert ends[0] == ends[1]


def lodgers(rows: int = 3000) -> Table:
    """Streets of two halves and ages from 30 on teach; the side of the street tells the secret."""
    rng = np.random.default_rng(8)
    street, age = rng.integers(0, 8, rows), rng.integers(18, 80, rows)
    score = (street >= 4) * 1.5 + (age >= 30) * 1.5 + rng.normal(0, 0.7, rows)
    even = (street % 2 == 0) ^ (rng.random(rows) < 0.1)
    frame = pl.DataFrame(
        {
            "street": np.array(["Ash", "Bay", "Cox", "Day", "Elm", "Fir", "Gum", "Hay"])[street],
            "age": age,
            "side": np.where(even, "even", "odd"),
            "ill": np.where(score > 2, "yes", "no"),
        }
    )
    return Table(frame, Roles("ill", sensitive="side", quasi=("street", "age")))


def test_releases_of_other_seeds_look_alike():
    table, found = lodgers(), []
    for seed in (0, 1, 2, 3):
        settings = Settings(methods={"coarsen": {}}, attackers=("nb",), seed=seed)
        found.append(consider(table, settings).decision.chosen.release)
    low = table.frame["street"].is_in(["Ash", "Bay", "Cox", "Day"])
    for release in found:
        assert release.features == found[0].features
        labels = release.table.frame["street"]
        assert not set(labels.filter(low)) & set(labels.filter(~low))  # what matters stays apart
    forms = [release.forms["street"] for release in found]
    sure = [form for form in forms if form.stability is not None and form.stability > 0.9]
    assert len(sure) >= 3
    # What is said to be stable is the same for every seed; what chance split says that it is not.
    assert len({tuple(form.ladder["groups"]) for form in sure}) == 1


def test_leave_to_suppress_never_takes_a_candidate_away():
    table = lodgers(1800)
    contents, values = [], []
    for most in (0.0, 0.02):
        settings = Settings(
            methods={"front": {}, "coarsen": {}}, attackers=("nb",), k=25, max_suppressed=most
        )
        card = consider(table, settings).decision.scorecard
        rows = [row.release for row in card.candidates]
        contents.append({(r.features, *map(str, r.forms.items())) for r in rows})
        values.append(float(card.compared.choosing.value(1.0)[: len(rows)].max()))
    assert contents[0] <= contents[1]
    assert values[0] <= values[1] + 1e-9


def admissions(rows: int = 6000) -> pl.DataFrame:
    """Codes of ten kinds, some rare, and ages: both teach in coarse forms, whole codes fill k."""
    rng = np.random.default_rng(2)
    shares = np.array([30, 20, 12, 10, 8, 7, 5, 4, 3, 1]) / 100
    code, age = rng.choice(10, rows, p=shares), rng.integers(0, 90, rows)
    score = 1.2 * (code % 2) + 0.02 * age + rng.logistic(0, 1, rows)
    return pl.DataFrame(
        {"code": [f"c{c}" for c in code], "age": age, "ill": (score > 1.7).astype(int)}
    )


@pytest.mark.parametrize("k", [30, 80, 200])
def test_a_column_makes_room_for_another(k):
    """The oracle scores every set of the forms that were found: none is much better."""
    frame = admissions()
    features = frame.select("code", "age")
    bits = SubsetBits.of(features, frame["ill"].to_numpy())
    search_front(bits)
    found = search_coarser(bits, features, views=[(features.columns, k)])
    best = float(found.measured.value()[: len(found.sets)].max())
    keeps = keeps_people(found.bits.rungs, features, features.columns, k)
    of_column = [
        [i for i, rung in enumerate(found.bits.rungs) if rung.column == c] for c in range(2)
    ]
    pairs = [tuple(sorted(pair)) for pair in product(*of_column)]
    every = [pair for pair in pairs if keeps(pair)]
    for pair in every:
        found.bits.score(pair)
    possible = float(found.bits.measured(every).value()[: len(every)].max())
    assert best > possible - 0.01
