"""Columns that tell people apart are refused until their role is said."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, consider, read_table
from tamis.errors import InputError, ReadingNote, TamisWarning
from tamis.read.guesses import guess_columns
from tamis.read.headers import is_survey_weight
from tamis.read.keys import (
    KEY,
    LEAST,
    ORDER,
    UNIQUE,
    identifying_form,
    likely_weights,
    refuse_unstated_identifiers,
    unstated_identifiers,
    warn_of_fractions,
    warn_of_unstated_identifiers,
)
from tamis.table import sort_by_content
from tests.read.made_identifiers import of

RNG = np.random.default_rng(5)
ROWS = 400


def column(name, values):
    return pl.Series(name, values)


TOWNS = [f"town {chr(97 + i)}" for i in range(25)]
KEYS = {
    "case numbers with gaps and repeats": (
        column("n", np.sort(RNG.choice(500, 200, replace=False)).repeat(2)),
        ORDER,
    ),
    "row numbers": (column("n", range(1, ROWS + 1)), UNIQUE),
    "row numbers as floats": (column("n", np.arange(ROWS) * 1.0), UNIQUE),
    "row numbers in bands": (column("band", np.arange(ROWS) // 5), ORDER),
    "row numbers in few bands": (column("band", np.arange(ROWS) // 50), ORDER),
    "few bands, the last one short": (column("band", np.arange(ROWS - 7) // 50 * 10), ORDER),
    "a scaled row number": (column("n", np.arange(ROWS) / ROWS), ORDER),
    "row numbers downwards": (column("n", np.arange(ROWS)[::-1] // 3), ORDER),
    "a count that restarts": (column("n", np.arange(ROWS) % 97), ORDER),
    "shuffled numbers": (column("x", RNG.permutation(ROWS)), UNIQUE),
    "nearly unique": (column("x", [*range(ROWS), *range(20)]), UNIQUE),
    "texts": (column("x", [f"{i:x}" for i in RNG.permutation(ROWS)]), UNIQUE),
    "texts with gaps": (column("x", [None if i % 3 else f"P{i}" for i in range(ROWS)]), UNIQUE),
    "an SSN that repeats": (column("ssn", 123456789 + RNG.integers(0, 40, ROWS)), KEY),
    "patients with many stays": (column("PatientNo", RNG.integers(0, 30, ROWS)), KEY),
    "any key": (column("household_id", RNG.integers(0, 90, ROWS)), KEY),
    "e-mail by its shape": (column("x", [f"a{i}@b.org" for i in RNG.integers(0, 60, ROWS)]), KEY),
    "dashed numbers": (column("x", [f"123-45-{i:04}" for i in RNG.integers(0, 60, ROWS)]), KEY),
}  # fmt: skip
ORDINARY = {
    "ages": column("age", RNG.integers(18, 90, ROWS)),
    "a label that sorts the file": column("kind", np.repeat([0, 1, 2, 3], ROWS // 4)),
    "an age that sorts the file": column("age", np.sort(RNG.integers(18, 90, ROWS))),
    "a year that sorts the file": column("year", np.sort(RNG.integers(1950, 2020, ROWS))),
    "an income that sorts the file": column("income", np.sort(RNG.integers(0, 3000, ROWS) * 40)),
    "a weight that sorts the file": column("kg", np.sort(RNG.normal(70, 9, ROWS).round(1))),
    "a town that sorts the file": column("town", sorted(RNG.choice(TOWNS, ROWS))),
    "six sorted classes": column("grade", np.sort(RNG.integers(0, 6, ROWS))),
    "a code of few values": column("admission_type_id", RNG.integers(0, 8, ROWS)),
    "a code of 26 values in many rows": column("disposition_id", RNG.integers(0, 26, 5000)),
    "of a patient, not a patient": column("patient_age", RNG.integers(18, 90, ROWS)),
    "measured fractions": column("albumin", RNG.normal(40, 4, ROWS)),
    "counted things": column("number", RNG.integers(0, 30, ROWS)),
    "few rows": column("id", range(19)),
    "one value": column("id", [7] * ROWS),
    "truth values": column("id", [True, False] * 200),
}


@pytest.mark.parametrize("case", KEYS)
def test_what_tells_people_apart(case):
    values, why = KEYS[case]
    assert identifying_form(values) == why
    assert identifying_form(values.alias("^x.*$")) in (why, "")


@pytest.mark.parametrize("case", ORDINARY)
def test_what_does_not(case):
    assert identifying_form(ORDINARY[case]) == ""


@pytest.mark.parametrize("kind", [int, str, "order"])
def test_from_twenty_rows_on_a_form_says_something(kind):
    def form(rows: int) -> str:
        mixed = 3 * np.random.default_rng(1).permutation(rows)
        values = np.arange(rows) if kind == "order" else mixed
        return identifying_form(column("x", [str(v) for v in values] if kind is str else values))

    assert form(LEAST - 1) == ""
    assert form(LEAST) != ""
    assert LEAST == 20


@pytest.mark.parametrize(("values", "why"), [(LEAST, ORDER), (LEAST - 1, "")])
def test_a_sequence_that_restarts_has_twenty_values(values, why):
    assert identifying_form(column("x", list(range(values)) * 8)) == why


@pytest.mark.parametrize(("values", "why"), [(LEAST, KEY), (LEAST - 1, "")])
def test_a_number_of_people_that_repeats_has_twenty_values(values, why):
    numbers = np.random.default_rng(3).permutation(np.arange(8 * values) % values)
    assert identifying_form(column("ssn", 123456789 + numbers)) == why


def test_of_twenty_fractions_on_it_is_said_that_they_hardly_repeat():
    def warned(rows: int) -> list[str]:
        frame = pl.DataFrame({"x": np.random.default_rng(3).random(rows)})
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            warn_of_fractions(Table(frame))
        return [str(each.message) for each in said]

    assert warned(LEAST - 1) == []
    assert "hardly repeat" in warned(LEAST)[0]


@given(st.integers(20, 300), st.integers(2, 40), st.integers(-5, 5), st.randoms())
def test_bands_of_row_numbers_are_found_and_shuffled_bands_are_not(rows, wide, start, random):
    values = [start + i // wide for i in range(rows)]
    bands = len(set(values))
    assert (identifying_form(column("x", values)) != "") == (bands >= 5)
    random.shuffle(values)
    in_order = values == sorted(values) or values == sorted(values, reverse=True)
    if wide >= 4 and not in_order:
        assert identifying_form(column("x", values)) == ""


def people(**more):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 60),
            "ward": rng.integers(0, 4, 60),
            "ssn": 100_000_000 + rng.permutation(60),
            "ill": rng.choice(["no", "yes"], 60),
            **more,
        }
    )


@pytest.mark.parametrize(
    "role",
    [{"identifiers": ("ssn",)}, {"dropped": ("ssn",)}, {"quasi": ("ssn",)}, {"plain": ("ssn",)}],
)
def test_any_said_role_is_enough(role):
    with pytest.raises(InputError, match=r"'ssn' \(a different value.*--identifier.*--feature"):
        refuse_unstated_identifiers(Table(people(), Roles(target="ill")))
    assert not unstated_identifiers(Table(people(), Roles(target="ill", **role)))
    refuse_unstated_identifiers(Table(people(), Roles(target="ill", **role)))


def test_the_flow_refuses_before_any_work():
    with pytest.raises(InputError, match="could identify people"):
        consider(Table(people(), Roles(target="ill")))


def test_fractions_are_said_and_not_refused():
    table = Table(
        people(bmi=np.random.default_rng(1).normal(25, 3, 60)), Roles("ill", plain=("ssn",))
    )
    with pytest.warns(TamisWarning, match="'bmi' has measured numbers that hardly repeat"):
        refuse_unstated_identifiers(table)


@pytest.mark.parametrize(
    ("header", "asked"),
    [("MonthlyIncome", False), ("salary", False), ("income_id", True), ("account", True)],
)
def test_amounts_that_hardly_repeat_are_said_and_not_refused(header, asked):
    """A wage is measured; whoever numbers people by amounts of money says so in the header."""
    sums = np.random.default_rng(1).lognormal(9, 0.6, 60).round().astype(np.int64)
    table = Table(people(**{header: sums}), Roles("ill", plain=("ssn",)))
    assert list(unstated_identifiers(table)) == ([header] if asked else [])
    if not asked:
        with pytest.warns(TamisWarning, match=f"'{header}' has measured numbers that hardly"):
            refuse_unstated_identifiers(table)


def test_a_survey_weight_is_asked_about_and_guessed():
    rng = np.random.default_rng(4)
    frame = people(pspwght=rng.gamma(4, 0.25, 60), weight=rng.normal(70, 9, 60).round())
    table = Table(frame, Roles("ill", plain=("ssn",)))
    assert likely_weights(table) == ["pspwght"]
    assert {g.name: g.looks for g in guess_columns(table)}["pspwght"] == "weight"
    with pytest.warns(TamisWarning, match="'pspwght' looks like a survey weight.*--weight"):
        refuse_unstated_identifiers(table)
    for said in ({"weight": "pspwght"}, {"plain": ("ssn", "pspwght")}, {"dropped": ("pspwght",)}):
        assert likely_weights(Table(frame, Roles("ill", **said))) == []


SURVEYS = of(
    "PWGTP WGTP PERWT HHWT A_FNLWGT MARSUPWT ASECWT WTFINL EARNWT COMPWT WTMEC2YR WTINT2YR _LLCPWT "
    "FINALWT wtssall wtssps wtssnr PANELWEIGHT wgtfin wgt_final final_wt samp_wt sampwt popwt "
    "hhweight hhwgt hh_wt indweight indwt person_weight stratwt rakewt rake_wt basewt nrwt expwgt "
    "xwgt dweight pspwght anweight cweight hweight perweight phrf hhrf FEX_C FAC_TRI "
    "factor_expansion poids_ind pondfin hochrechnungsfaktor"
)
"""Weights as surveys of a dozen countries call them."""


@pytest.mark.parametrize("header", SURVEYS)
def test_weights_are_known_as_surveys_call_them(header):
    assert is_survey_weight(pl.Series(header, [152.5, 80.25, 211.0]))


@pytest.mark.parametrize(
    "header",
    of(
        "bwt lwt weight wt_loss weight_kg birthweight body_weight curb_weight kg wtkg preweight "
        "factor poids peso gewicht weightloss lightweight swt hwt height f_wt newt twt expert"
    ),
)
def test_what_people_weigh_is_no_survey_weight(header):
    assert not is_survey_weight(pl.Series(header, [152.5, 80.25, 211.0]))


@pytest.mark.parametrize(
    ("header", "values", "weight"),
    [
        ("fnlwgt", [77_516, 83_311, 215_646], True),
        ("weight", [158_413, 380_166, 367_470], True),
        ("weight", [3_504, 3_693, 3_436], False),  # of cars, in pounds
        ("bwt", [2_523, 2_551, 2_557], False),
        ("sampling_weight", [0.5, 1.5, 1.0], True),
        ("sampling_weight", [0.0, 1.5, 1.0], False),
        ("sampling_weight", [0.5, None, 1.0], False),
        ("sampling_weight", [1, 1, 1], False),
        ("pweight", ["low", "high", "mean"], False),
    ],
)
def test_what_a_survey_weight_is(header, values, weight):
    assert is_survey_weight(pl.Series(header, values)) == weight


def test_a_column_that_could_identify_people_is_told_of_once():
    places = np.random.default_rng(3).uniform(-80, 80, 60).round(5)
    table = Table(people(lat=places), Roles("ill", plain=("ssn",)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_unstated_identifiers(table)
    assert [str(w.message).count("'lat'") for w in told] == [1]


def test_several_columns_are_named_as_such():
    with pytest.raises(InputError, match=r"columns 'ssn' .*, 'mrn' .* could identify people"):
        refuse_unstated_identifiers(Table(people(mrn=np.arange(60)), Roles(target="ill")))


def test_a_feature_is_said_at_the_door():
    table = read_table(people(), target="ill", feature=["ssn"])
    assert table.roles.plain == ("ssn",)
    assert table.select(["sex"]).features == ("sex",)
    with pytest.raises(InputError, match="no column 'sn'"):
        read_table(people(), target="ill", feature=["sn"])
    with pytest.raises(InputError, match="two roles"):
        read_table(people(), target="ill", feature=["ssn"], identifier=["ssn"])


def test_a_schema_says_it_too(tmp_path):
    (tmp_path / "s.toml").write_text('[roles]\ntarget = "ill"\nfeature = ["ssn"]\n')
    assert read_table(people(), schema=tmp_path / "s.toml").roles.plain == ("ssn",)


def test_a_file_sorted_by_all_its_cells_has_a_first_column_in_order():
    """What tamis wrote can be read again; of a file sorted by one column that is said."""
    rng = np.random.default_rng(2)
    cells = {"age": rng.integers(20, 60, 400), "zip": rng.integers(0, 9, 400)}
    frame = pl.DataFrame({**cells, "y": rng.choice(["u", "v"], 400)})
    roles = Roles(target="y")
    assert unstated_identifiers(Table(sort_by_content(frame), roles)) == {}
    looks = {guess.name: guess.looks for guess in guess_columns(Table(sort_by_content(frame)))}
    assert looks["age"] == ""
    by_age = Table(frame.sort("age"), roles)
    assert unstated_identifiers(by_age) == {}
    with pytest.warns(ReadingNote, match="sorted by column 'age'; their order is never released"):
        refuse_unstated_identifiers(by_age)
    stated = by_age.with_roles(quasi=("age",))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReadingNote)
        refuse_unstated_identifiers(stated)
        refuse_unstated_identifiers(Table(sort_by_content(frame), roles))
    alone = Table(pl.DataFrame({"seq": np.arange(30), "y": ["u", "v"] * 15}), roles)
    assert unstated_identifiers(alone) == {"seq": "a different value in nearly every row"}
