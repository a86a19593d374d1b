"""Matches and individual risk against their definition, and against sdcMicro's figures."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.errors import InputError
from tamis.risk.individual import Matches, frequencies, individual_risk
from tests.risk.sdcmicro_tables import KEYS, file_of, measured, weights


def matched(rows, row_weights, credit):
    """By definition, over pairs of rows: a row's own missing cells give full credit."""
    found = []
    for one in rows:
        total = 0.0
        for other, weight in zip(rows, row_weights):
            if all(a is None or b is None or a == b for a, b in zip(one, other)):
                through = other != one and any(b is None for b in other)
                lenient = through and any(a is not None for a in one)
                total += weight * (credit if lenient else 1)
        found.append(total)
    return found


rows_of = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from([0, 1, None])] * width), min_size=1, max_size=12
    )
)


@given(rows_of, st.sampled_from([0.0, 0.5, 1.0]), st.data())
def test_frequencies_are_those_of_the_definition(rows, credit, data):
    each = data.draw(st.lists(st.integers(1, 50), min_size=len(rows), max_size=len(rows)))
    schema = {f"c{i}": pl.Int64 for i in range(len(rows[0]))}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    found = frequencies(frame, weights=each, missing="anything", credit=credit)
    assert found.sample.tolist() == pytest.approx(matched(rows, [1] * len(rows), credit))
    assert found.population.tolist() == pytest.approx(matched(rows, each, credit))
    own = frequencies(frame, weights=each)
    assert own.sample.tolist() == [rows.count(row) for row in rows]
    assert own.population.tolist() == [
        sum(w for other, w in zip(rows, each) if other == row) for row in rows
    ]


@pytest.mark.parametrize("name", list(KEYS))
def test_figures_of_sdcmicro(name, dataset, golden):
    frame = measured(name, dataset(file_of(name)))
    path = golden(f"sdcmicro/freq_{name}.csv" + (".gz" if "adult" in name else ""))
    theirs = pl.read_csv(path, infer_schema_length=None, null_values=["NA", "NaN"])
    assert frequencies(frame).sample.tolist() == theirs["fk_na_own_value"].to_list()
    for credit in (0.5, 0):
        lenient = frequencies(frame, missing="anything", credit=credit).sample
        assert lenient.tolist() == theirs[f"fk_alpha{credit:g}"].to_list()
    for word, each in weights(frame.height).items():
        found = frequencies(frame, weights=each, missing="anything")
        assert found.sample.tolist() == theirs["fk"].to_list()
        np.testing.assert_allclose(found.population, theirs[f"Fk_{word}"], rtol=1e-12)
        np.testing.assert_allclose(individual_risk(found), theirs[f"risk_{word}"], atol=1e-9)
        if word != "one":
            exact = theirs[f"riskexact_{word}"].cast(pl.Float64).to_numpy()
            known = np.isfinite(exact)
            ours = individual_risk(found, exact=True)
            np.testing.assert_allclose(ours[known], exact[known], atol=1e-9)


def test_grid_of_sdcmicro(golden):
    """The alternating sum of sdcMicro loses its digits from about f = 20 on."""
    grid = pl.read_csv(golden("sdcmicro/risk_grid.csv"), null_values=["NA", "NaN"])
    found = Matches(grid["fk"].cast(float).to_numpy(), grid["Fk"].cast(float).to_numpy())
    np.testing.assert_allclose(individual_risk(found), grid["risk_approx"], atol=1e-9)
    exact = grid["risk_exact"].to_numpy()
    right = np.isfinite(exact) & (found.sample < 20)
    assert right.sum() > 10
    np.testing.assert_allclose(individual_risk(found, exact=True)[right], exact[right], atol=1e-9)


@given(st.integers(1, 60), st.floats(0.02, 0.999))
@example(50, 0.3)
@example(51, 0.3)
@example(60, 0.02)
def test_risk_is_the_mean_of_one_over_the_population(f, p):
    """Summed over the negative binomial, term by term."""
    size, chance, total = f, p**f, 0.0
    while size < f / p + 400 / p**1.2:
        total += chance / size
        chance *= (1 - p) * size / (size - f + 1)
        size += 1
    found = Matches(np.array([float(f)]), np.array([f / p]))
    assert individual_risk(found, exact=True)[0] == pytest.approx(total, rel=1e-6)
    assert individual_risk(found)[0] >= individual_risk(found, exact=True)[0] * (1 - 1e-9)


def test_risk_between_one_and_two_matches_is_never_nothing():
    """sdcMicro gives 0 there."""
    risks = individual_risk(Matches(np.array([1.0, 1.5, 2.0]), np.array([100.0, 150.0, 200.0])))
    assert risks[0] > risks[1] > risks[2] > 0


def test_the_usual_approximation_begins_above_two_matches():
    found = Matches(np.array([2.0, 2.5, 3.0]), np.array([20.0, 25.0, 30.0]))
    exact, usual = individual_risk(found, exact=True), individual_risk(found)
    assert usual[0] == exact[0]
    assert usual[1:].tolist() == pytest.approx([0.1 / (2.5 - 0.9), 0.1 / (3 - 0.9)])


def test_whoever_is_the_whole_population_is_found_by_its_size():
    found = Matches(np.array([1.0, 3.0, 60.0]), np.array([1.0, 3.0, 60.0]))
    assert individual_risk(found, exact=True).tolist() == [1, 1 / 3, 1 / 60]


@pytest.mark.parametrize("credit", [-0.1, 1.1, 2.0])
def test_credit_is_a_share(credit):
    frame = pl.DataFrame({"a": [1, None]})
    for end in (0.0, 1.0):
        frequencies(frame, missing="anything", credit=end)
    with pytest.raises(InputError, match="credit must be between 0 and 1"):
        frequencies(frame, missing="anything", credit=credit)


@pytest.mark.parametrize("bad", [[0, 1], [1], ["a", "b"], [np.nan, 1], [1, np.inf], [0.5, 3]])
def test_weights_that_no_sample_has_are_refused(bad):
    with pytest.raises(InputError, match="weights"):
        frequencies(pl.DataFrame({"a": [1, 2]}), weights=bad)


def test_people_with_several_rows_have_no_weight():
    frame = pl.DataFrame({"who": [1, 1, 2], "age": [3, 4, 5], "y": [0, 1, 0]})
    with pytest.raises(InputError, match="one row for each person"):
        frequencies(Table(frame, Roles(target="y", identifiers=("who",))))
