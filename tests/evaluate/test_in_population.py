"""Risk in the population, of releases in coarser and in altered forms."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider
from tamis.errors import InputError
from tamis.evaluate.in_population import InPopulation, register_of
from tamis.limits import lacking_in_population
from tamis.release import AlteredRelease, Coarsening, Recipe, Release, released
from tamis.require.population import PopulationRiskLimit

RNG = np.random.default_rng(4)
TOWN = pl.DataFrame(
    {
        "age": RNG.integers(20, 60, 600),
        "job": RNG.choice(["cook", "judge", "nurse"], 600),
        "ill": RNG.choice(["no", "yes"], 600),
    }
)
TABLE = Table(TOWN.head(150), Roles(target="ill"))
REGISTER = register_of(TOWN, TABLE)
TENS = {"width": [10]}


def coarse() -> Release:
    """The ages in tens, as they would be released."""
    plain = released(TABLE, ["age", "job"], "by tens", Recipe("hand"))
    tens = (pl.col("age") // 10 * 10).cast(pl.String)
    label = pl.format("[{}, {})", tens, (pl.col("age") // 10 * 10 + 10).cast(pl.String))
    frame = plain.table.frame.with_columns(age=label)
    table = Table(frame, plain.table.roles)
    return Release("by tens", table, Recipe("hand"), forms={"age": Coarsening(TENS, 1)})


def test_the_register_is_made_as_coarse_as_the_release():
    decade = TOWN.with_columns(pl.col("age") // 10)
    sizes = decade.select(pl.len().over("age", "job")).to_series().head(150).to_numpy()
    found = InPopulation(register=REGISTER).risk_of(coarse())
    assert found is not None
    assert found.average == pytest.approx((1 / sizes).mean())
    assert found.largest == pytest.approx(1 / sizes.min())


def test_values_beyond_the_table_never_lower_the_risk():
    """Ages that the ladder was not made for are in nobody's group."""
    older = TOWN.with_columns(age=pl.lit(200, pl.Int64))
    more = register_of(pl.concat([TOWN, older]), TABLE)
    before = InPopulation(register=REGISTER).risk_of(coarse())
    after = InPopulation(register=more).risk_of(coarse())
    assert before is not None
    assert after is not None
    assert after.average == before.average


def test_altered_values_count_as_the_true_ones():
    plain = released(TABLE, ["age", "job"], "as it is", Recipe("hand"))
    noisy = plain.table.frame.with_columns(pl.col("age") + 1000)
    altered = AlteredRelease(
        "noisy", Table(noisy, plain.table.roles), Recipe("noise"), unaltered=plain.table
    )
    known = InPopulation(register=REGISTER)
    assert known.risk_of(altered) == known.risk_of(plain)


def test_who_knows_nothing_finds_nobody():
    roles = Roles(target="ill", quasi=("job",))
    table = Table(TOWN.head(150), roles)
    alone = released(table, ["age"], "ages alone", Recipe("hand"))
    assert InPopulation(sampling=0.1).risk_of(alone) is None
    sampled = InPopulation(sampling=0.1)
    assert lacking_in_population(alone, sampled, [PopulationRiskLimit(0.0)]) == ()


def test_a_limit_says_how_many_are_found():
    plain = released(TABLE, ["age", "job"], "as it is", Recipe("hand"))
    known = InPopulation(register=REGISTER)
    measured = known.risk_of(plain)
    assert measured is not None
    assert lacking_in_population(plain, known, [PopulationRiskLimit(measured.risk)]) == ()
    (failure,) = lacking_in_population(plain, known, [PopulationRiskLimit(measured.risk / 2)])
    assert "found in the population" in failure.words
    other = released(
        Table(TOWN.head(150).rename({"age": "years"}), Roles(target="ill")),
        ["years"],
        "other names",
        Recipe("hand"),
    )
    (failure,) = lacking_in_population(other, known, [PopulationRiskLimit(1.0)])
    assert "not those of the register" in failure.words


def test_people_of_the_register_are_told_apart_by_the_same_identifiers():
    twice = pl.concat([TOWN.with_row_index("who")] * 2)
    visits = Table(twice.head(150), Roles(target="ill", identifiers=("who",)))
    assert register_of(twice, visits).everybody == 600
    assert register_of(TOWN, visits).everybody == 600
    with pytest.raises(InputError, match="no column 'job'"):
        register_of(TOWN.drop("job"), visits)


def test_a_limit_without_a_population_is_refused():
    with pytest.raises(InputError, match="needs to know the population"):
        consider(TABLE, Settings(max_population_risk=0.1))
    with pytest.raises(InputError, match="sampling must be a share above 0 and up to 1, got 0"):
        consider(TABLE, Settings(max_population_risk=0.1, sampling=0))
    with pytest.raises(InputError, match="give one of them"):
        InPopulation(sampling=0.1, register=REGISTER)
    with pytest.raises(InputError, match="synthetic rows describe nobody"):
        Settings(max_population_risk=0.1, epsilon=1.0)
    for most in (0, 1):
        assert Settings(max_population_risk=most, sampling=0.1).max_population_risk == most
    for odd in (-0.01, 1.01):
        with pytest.raises(InputError, match="max_population_risk must be a share between 0 and 1"):
            Settings(max_population_risk=odd)


def test_who_is_left_out_still_counts_against_the_largest_presence():
    """The most crowded class is left out as a whole: its share is still the largest."""
    population, whole = InPopulation(register=REGISTER), coarse()
    keys = ["age", "job"]
    decade = TOWN.with_columns(pl.col("age") // 10)
    inside = decade.head(150).group_by(keys).agg(inside=pl.len())
    shares = decade.group_by(keys).agg(of=pl.len()).join(inside, on=keys, how="left")
    shares = shares.with_columns(share=pl.col("inside").fill_null(0) / pl.col("of"))
    most = shares.sort("share").tail(1)
    crowded = decade.head(150).select(
        (pl.col("age") == most["age"].item()) & (pl.col("job") == most["job"].item())
    )
    left = whole.keeping(~crowded.to_series().to_numpy())
    for release, least in ((whole, shares["share"].min()), (left, 0.0)):
        found = population.presence_of(release)
        assert found is not None
        assert (found.least, found.most) == pytest.approx((least, most["share"].item()))


def test_without_known_columns_everybody_is_one_class():
    nothing = released(TABLE, [], "nothing", Recipe("hand"))
    found = InPopulation(register=REGISTER).presence_of(nothing)
    assert found is not None
    assert (found.least, found.most) == (0.25, 0.25)
