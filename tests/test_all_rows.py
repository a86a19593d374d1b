"""What a sample chooses is counted on all rows; what falls short there is passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.all_rows import AllRows, Crowds
from tamis.coarsen.ladder import Ladder
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.in_population import InPopulation, register_of
from tamis.flow import Settings, consider
from tamis.release import Coarsening, Recipe, Release, released
from tamis.require import requirements
from tamis.risk.suppression import Suppression
from tamis.table import Roles, Table
from tests.long import daily

ROLES = {"target": "ill", "quasi": ("age", "job")}


def small(rows: int = 60, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 50, rows),
            "job": [["cook", "judge", "bard", None][i] for i in rng.integers(0, 4, rows)],
            "dose": rng.integers(0, 9, rows),
            "who": rng.integers(0, rows // 2, rows),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )


def a_release(frame: pl.DataFrame, features: list[str], **forms: Coarsening) -> Release:
    whole = Table(frame, Roles(target="ill", quasi=("age", "job"), identifiers=("who",)))
    plain = released(whole, features, "by hand", Recipe("hand"))
    return Release("by hand", plain.table, plain.recipe, plain.promises, forms=forms)


def people_alike(frame: pl.DataFrame, columns: list[str], who: bool) -> int:
    """The definition, row by row."""
    rows = list(frame.select(columns).iter_rows()) if columns else [()] * frame.height
    whose = frame["who"].to_list() if who else range(frame.height)
    return min(len({p for other, p in zip(rows, whose) if other == row}) for row in rows)


@pytest.mark.parametrize("who", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("width", daily([None, 5, 10], 5))
def test_groups_are_counted_as_by_definition(engine, behind, who, width):
    frame = small()
    large = behind(engine, frame, **ROLES, **({"identifier": ("who",)} if who else {}))
    crowds = Crowds(large, requirements(5), {})
    forms = {} if width is None else {"age": Coarsening({"width": [width]}, 1)}
    coarse = frame
    if forms:
        cells = Ladder.from_dict("age", forms["age"].ladder).apply(frame["age"], 1)
        coarse = frame.with_columns(age=cells)
    for features in (["age", "job", "dose"], ["age", "dose"], ["dose"]):
        release = a_release(frame, features, **(forms if "age" in features else {}))
        known = [c for c in features if c != "dose"]
        alike = people_alike(coarse, known, who)
        lacks = crowds.lacks(release)
        assert (lacks is None) == (alike >= 5)
        if lacks is None:
            ((promise, reached),) = crowds.count(release).reached.items()
            assert (promise.columns, reached) == (tuple(known), alike)


def test_a_rare_name_is_refused_unless_a_person_wrote_it(engine, behind):
    frame = small().with_columns(job=pl.Series(["cook"] * 59 + ["pope"]))
    form = Coarsening({"groups": {"cook | pope": ["cook", "pope"]}}, 1)
    release = a_release(frame, ["job"], job=form)
    large = behind(engine, frame, **ROLES)
    lacks = Crowds(large, requirements(5), {}).lacks(release)
    assert lacks is not None
    assert "'job'" in lacks.words
    assert "pope" not in lacks.words
    written = {"job": Ladder.from_dict("job", form.ladder)}
    assert Crowds(large, requirements(5), written).lacks(release) is None


def teaching(rows: int, seed: int = 0) -> pl.DataFrame:
    """Ages teach, and tell; so few people are of any age that only bands of them can be kept."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 91, rows)
    dose = np.round(rng.normal(size=rows), 2) + 0.0
    return pl.DataFrame(
        {
            "age": age,
            "dose": dose,
            "ill": np.where(age / 20 + dose + 0.5 * rng.normal(size=rows) > 3, "yes", "no"),
            "hiv": np.where(rng.random(rows) < 0.1 + 0.008 * age, "p", "n"),
        }
    )


def smallest(found: AllRows) -> float:
    """The smallest group that is promised."""
    (promise,) = found.promises
    return found.reached[promise]


SETTINGS = Settings(k=60, methods={"front": {}, "coarsen": {}}, attackers=("nb",))
AGES = {"target": "ill", "sensitive": "hiv", "quasi": ("age",)}


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
def test_bands_of_ages_keep_k_where_ages_do_not(engine, behind):
    frame = teaching(4000)
    settings = replace(SETTINGS, caution=0.5)  # so that ages, which tell, are worth releasing
    outcome = consider(behind(engine, frame, **AGES), settings, sample=3000)
    found = outcome.all_rows
    assert found is not None
    assert "age" in found.coarse
    labels = found.coarse["age"].ladder.apply(frame["age"], found.coarse["age"].form.level)
    assert smallest(found) == labels.value_counts()["count"].min()
    assert smallest(found) >= 60


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_one_more_person_of_a_rare_age_is_never_released_alone(engine, behind):
    """The oldest of all is in no sample; their band must have k people on all rows."""
    old = teaching(1).with_columns(age=pl.lit(119, dtype=pl.Int64))
    frame = pl.concat([teaching(4000), old])
    outcome = consider(behind(engine, frame, **AGES), SETTINGS, sample=3000)
    found = outcome.all_rows
    assert found is not None
    released_ages = frame["age"]
    if "age" in found.coarse:
        form = found.coarse["age"]
        released_ages = form.ladder.apply(released_ages, form.form.level)
    if "age" in outcome.release.features:
        assert min(released_ages.value_counts()["count"].to_list()) >= 60
    assert smallest(found) >= 60


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_what_no_release_keeps_is_refused(engine, behind):
    settings = Settings(k=400, methods={"breach": {}}, attackers=("nb",), allow_useless=True)
    frame = teaching(500).with_columns(dose=pl.Series(range(500)))
    with pytest.raises(CannotMeet, match=r"k = 400|too few"):
        consider(
            behind(engine, frame, target="ill", quasi=("age", "dose"), sensitive="hiv"),
            settings,
            sample=400,
        )


@pytest.mark.parametrize("people", [1200, 500], ids=["a row each", "several rows"])
def test_neither_the_order_nor_the_names_of_people_change_a_figure(engine, behind, people):
    """Whoever guesses the names in the original cannot confirm the guess by any figure."""
    rng = np.random.default_rng(3)
    rows = 1200
    age = rng.integers(20, 50, rows)
    frame = pl.DataFrame(
        {
            "who": np.arange(rows) % people,
            "age": age,
            "job": rng.choice(["cook", "judge", "bard"], rows),
            "ill": np.where(rng.random(rows) < age / 60, "yes", "no"),
        }
    )
    names = rng.permutation(people) * 3
    other = frame.with_columns(who=names[frame["who"].to_numpy()])[rng.permutation(rows)]
    settings = Settings(k=3, methods={"coarsen": {}}, attackers=("nb",), allow_useless=True)
    found = [
        consider(behind(engine, each, **ROLES, identifier=("who",)), settings, sample=400)
        for each in (frame, other)
    ]
    one, two = ([row.figures for row in each.decision.ranked] for each in found)
    assert one == two
    first, second = (each.all_rows for each in found)
    assert first is not None
    assert second is not None
    assert first.sample.table.rows < rows
    assert smallest(first) == smallest(second)


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_another_release_of_the_comparison_was_not_counted_on_all_rows(engine, behind):
    outcome = consider(behind(engine, teaching(800), **AGES), SETTINGS, sample=600)
    with pytest.raises(InputError, match="--choose-release"):
        outcome.taking(outcome.decision.scorecard.baseline.release.name)


TOWN = pl.concat([small(60), small(400, seed=9).with_columns(pl.col("who") + 1000)])
"""Everybody, those of the table among them; their ages and jobs occur there, too, and others."""


@pytest.mark.parametrize("who", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("width", [None, 10])
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["all stay", "few go"])
def test_who_is_in_the_population_is_counted_as_in_memory(engine, behind, who, width, share):
    frame = small()
    identifier: dict[str, Any] = {"identifier": ("who",)} if who else {}
    large = behind(engine, frame, **ROLES, **identifier)
    whole = Table(frame, Roles(target="ill", quasi=("age", "job"), identifiers=("who",) * who))
    forms = {} if width is None else {"age": Coarsening({"width": [width]}, 1)}
    for features in (["age", "job"], ["age"], ["dose"]):
        here = {name: form for name, form in forms.items() if name in features}
        plain = released(whole, features, "by hand", Recipe("hand"))
        cells = {
            name: Ladder.from_dict(name, form.ladder).apply(frame[name], form.level)
            for name, form in here.items()
        }
        table = replace(plain.table, frame=plain.table.frame.with_columns(**cells))
        release = Release(
            "by hand", table, plain.recipe, people=plain.people, unit=plain.unit, forms=here
        )
        given = Settings(k=3, sampling=None, max_suppressed=share)
        register = register_of(TOWN, whole)
        crowds = Crowds.of(large, given, {}, register)
        if share:
            few = Suppression(60, crowds.asked, frame, whole.people)
            release = few.trimmed(release)
            if release.table.rows == 0 or crowds.lacks(release.unsuppressed):
                continue
        for known in (InPopulation(register=register), InPopulation(sampling=0.1)):
            counted = Crowds.of(
                large, replace(given, sampling=known.sampling), {}, known.register
            ).population
            assert counted is not None
            one, two = counted.risk_of(release.unsuppressed), known.risk_of(release)
            assert (one is None) == (two is None)
            if one is not None and two is not None:
                assert one.to_dict() == approx_deep(two.to_dict())
            assert counted.presence_of(release.unsuppressed) == known.presence_of(release)


def approx_deep(found: dict[str, Any]) -> Any:
    """Figures to twelve digits, and whatever else as it is."""
    return {
        key: approx_deep(value)
        if isinstance(value, dict)
        else pytest.approx(value, rel=1e-12)
        if isinstance(value, float)
        else value
        for key, value in found.items()
    }


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_a_register_that_lacks_people_is_refused(engine, behind):
    large = behind(engine, small(), **ROLES)
    register = register_of(small().head(20), large)
    crowds = Crowds.of(large, Settings(k=1, max_population_risk=0.9), {}, register)
    with pytest.raises(InputError, match="must include everyone in the table"):
        crowds.lacks(a_release(small(), ["age", "job"]))


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_a_limit_in_the_population_needs_one_that_is_known(engine, behind):
    large = behind(engine, small(), **ROLES)
    with pytest.raises(InputError, match="needs to know the population"):
        consider(large, replace(SETTINGS, max_population_risk=0.1))
