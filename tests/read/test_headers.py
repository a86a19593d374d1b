"""Headers that name people's numbers in several languages, and those that name other things."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tamis.read.headers import is_headed_as_id, is_of_things, names_person
from tamis.read.keys import identifying_columns
from tests.read.made_identifiers import of

ROWS = 1_500
HEADERS = of(
    "PatientNr patient_nummer Patientennummer fallnr Kundennummer KundenNr kdnr personnummer "
    "persnr matrikelnummer mitarbeiternr versichertennummer Sozialversicherungsnummer n_secu "
    "NSS num_secu numero_patient num_client no_dossier dossard matricule ipp id_patient "
    "id_client id_persona id_paciente nhc dni cedula cpf codice_fiscale matricola bsn "
    "klantnummer patientnummer hetu potilasnumero cprnr pesel tc_kimlik_no oib jmbg rodne_cislo "
    "aadhaar userid username user login account_id device_id imei cookie_id screen_name "
    "licence_number driver_license badge_no empno staff_no policy_number subscriber_id enrolid "
    "SUBJECT_ID subj_no ptid patno rand_no individual pidp idind idhh hhidpn household famid "
    "respno participant_code child_id pupil_id candidate_no inmate_no docket_no donor_id "
    "nhs_number mpi customer_key client_ref card_no msisdn voter_id rider_id player_id idno ID "
    "anon_patient_id hashed_user_id"
)


@pytest.mark.parametrize("header", HEADERS)
def test_ids_of_strangers_are_known_by_their_header(header):
    rng = np.random.default_rng(0)
    who = rng.permutation(np.repeat(rng.permutation(150) + 4_000, 4))
    frame = pl.DataFrame({header: who, "dose": rng.integers(0, 9, 600)})
    assert identifying_columns(frame)[header].person


@pytest.mark.parametrize(
    "header",
    of(
        "part_no n_patients n_ids num_visits number_of_patients employees members users "
        "no_employees household_size family_income customer_age user_rating patient_weight "
        "member_months cases "
        "case_count driver_age mail mobile phone email sin nir body_mass_index price_index paid "
        "severity_index product_id store_id movie_id hospital_id school_id grid_id sku cases_per_no"
    ),
)
def test_numbers_of_other_things_are_left_alone(header):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({header: rng.integers(0, 100, ROWS), "age": rng.integers(18, 90, ROWS)})
    assert identifying_columns(frame) == {}


def test_a_person_alone_needs_numbers_or_many_texts():
    courses = [f"Course of {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert is_headed_as_id("subject")
    assert not names_person(pl.Series("subject", courses * 20))
    assert names_person(pl.Series("subject", [f"S{i}" for i in range(26)] * 20))
    assert names_person(pl.Series("subject", courses * 5))


@pytest.mark.parametrize("header", of("mail phone nin serial"))
def test_short_numbers_under_a_doubtful_header_are_none(header):
    assert not names_person(pl.Series(header, [999] * 30))
    assert names_person(pl.Series(header, [1_000] * 30))


@pytest.mark.parametrize(
    "header", of("product item movie hospital school drug_code flight model icd10 firm species plz")
)
def test_things_have_steady_columns_too(header):
    rng = np.random.default_rng(2)
    at = rng.permutation(np.repeat(np.arange(150), 8))
    frame = pl.DataFrame(
        {
            "x": (7 * np.arange(150) + 100)[at],
            "kind": rng.integers(0, 6, 150)[at],
            "maker": rng.integers(0, 6, 150)[at],
            "sold": rng.integers(0, 9, len(at)),
        }
    )
    assert identifying_columns(frame)["x"].person
    assert identifying_columns(frame.rename({"x": header})) == {}
    assert is_of_things(header)


def words(count: int, parts: int, rng: np.random.Generator) -> list[str]:
    syllables = of("ba co di fe ga hu jo ka li mo nu pa ra so ta vu wa zo ster mil gran bel")
    made: set[str] = set()
    while len(made) < count:
        made.add(" ".join("".join(rng.choice(syllables, 3)).capitalize() for _ in range(parts)))
    return sorted(made)


@pytest.mark.parametrize("rows", [200, ROWS])
@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("product_name", 1), ("country_name", 1), ("drug_name", 1), ("species", 2), ("city", 1),
        ("occupation", 1), ("diagnosis", 2), ("job title", 2), ("model", 1), ("Beruf", 1),
    ],
)  # fmt: skip
def test_words_for_things_are_no_names(header, parts, rows):
    rng = np.random.default_rng(3)
    known = words(250, parts, rng)
    share = 1 / (np.arange(250) + 2)
    drawn = rng.choice(known, rows, p=share / share.sum())
    frame = pl.DataFrame({header: drawn, "age": rng.integers(18, 90, rows)})
    assert identifying_columns(frame) == {}
    if rows == 200:  # the header alone tells these words from surnames
        assert "x" in identifying_columns(frame.rename({header: "x"}))


def test_the_units_and_years_of_a_panel_number_no_rows():
    frame = pl.DataFrame(
        {"year": list(range(1950, 1980)) * 10, "firm": [i // 30 for i in range(300)]}
    )
    assert identifying_columns(frame) == {}
    assert set(identifying_columns(frame.rename({"year": "x", "firm": "z"}))) == {"x", "z"}
