"""The door knows who is who: names in many languages, ids that repeat, and their siblings."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table, consider, read_table
from tamis.errors import InputError, TamisWarning
from tamis.read.guesses import guess_columns
from tamis.read.headers import is_headed_as_id
from tamis.read.keys import (
    REPEATS,
    identifying_columns,
    refuse_unstated_identifiers,
    unstated_identifiers,
    warn_of_unstated_identifiers,
)
from tests.read.made_columns import (
    FAMILY_HEADERS,
    GIVEN_HEADERS,
    ID_HEADERS,
    ORDINARY_COLUMNS,
    PEOPLE_COLUMNS,
    family_names,
    given_names,
    visits,
)
from tests.read.made_identifiers import of

ROWS = 300


@pytest.mark.parametrize("header", [*FAMILY_HEADERS, *GIVEN_HEADERS])
def test_names_are_known_by_their_header_in_many_languages(header):
    made = family_names if header in FAMILY_HEADERS else given_names
    names = made(ROWS, np.random.default_rng(1))
    for written in (header, header.upper(), f"patient_{header}", f"{header}1"):
        frame = pl.DataFrame({written: names, "ward": ["A", "B", "C"] * (ROWS // 3)})
        assert identifying_columns(frame)[written].why == "headed as names of people"


@pytest.mark.parametrize(
    "header", ["first", "last", "lname", "nom", "ad", "Nachname", "first_visit"]
)
def test_a_header_alone_is_not_enough(header):
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            header: rng.integers(0, 9, ROWS),
            f"{header}_": rng.choice(["won", "lost"], ROWS),
            "ward": ["A", "B", "C"] * (ROWS // 3),
        }
    )
    assert identifying_columns(frame) == {}


def test_a_product_is_no_person():
    rng = np.random.default_rng(3)
    products = [f"{a}{b}" for a in ("Soft", "Hard", "Dry", "Wet") for b in ("ware", "top", "line")]
    frame = pl.DataFrame({"product_name": rng.choice(products, ROWS), "name": products * 25})
    assert identifying_columns(frame) == {}


def test_full_names_are_known_however_often_they_repeat():
    given, family = (
        ("devin", "lia", "omar", "susan"),
        ("garcia", "smith", "lee", "al-zaki", "nauth"),
    )
    names = [f"{g}_{f}" for g in given for f in family] + ["not_applicable", "j._doe"] * 2
    frame = pl.DataFrame({"agent": names * 40, "meal": ["bed", "full", "half"] * 320})
    assert identifying_columns(frame)["agent"].why == "looks like names of people"
    counties = ("Santa Clara", "San Diego", "Martin", "Jackson", "Los Angeles", "San Jose")
    named = pl.DataFrame({"county": [*counties, *(f"San {c}" for c in "abcdefghijklmnop")] * 9})
    assert identifying_columns(named) == {}


@pytest.mark.parametrize("kind", PEOPLE_COLUMNS)
def test_columns_about_people_are_found_whatever_they_are_called(kind):
    for seed in range(3):
        frame = PEOPLE_COLUMNS[kind](seed)
        assert "x" in identifying_columns(frame), kind


@pytest.mark.parametrize("kind", ORDINARY_COLUMNS)
def test_ordinary_columns_are_left_alone(kind):
    for seed in range(3):
        assert identifying_columns(ORDINARY_COLUMNS[kind](seed)) == {}, kind


def court(rows: int = 2_000) -> pl.DataFrame:
    """Cases with the name in one column and again in two."""
    rng = np.random.default_rng(4)
    first, last = given_names(rows, rng), family_names(rows, rng)
    return pl.DataFrame(
        {
            "name": [f"{f} {n}" for f, n in zip(first, last)],
            "a": first,
            "b": last,
            "charge": rng.choice(["theft", "assault", "fraud"], rows),
            "again": rng.choice(["no", "yes"], rows),
        }
    )


def test_parts_of_a_name_are_found_beside_it():
    found = unstated_identifiers(Table(court(), Roles(target="again", identifiers=("name",))))
    assert set(found) == {"a", "b"}
    with pytest.raises(InputError, match=r"'a' .*'b' .*could identify people"):
        consider(Table(court(), Roles(target="again", identifiers=("name",))))


def test_what_tells_the_same_people_apart_is_found():
    frame = visits(np.random.default_rng(5))
    twin = frame.with_columns(x=pl.format("{}-b", (pl.col("patient") * 7919) % 99_991))
    found = identifying_columns(twin.drop("sex", "born", "site"), known=["patient"])
    assert "tells the same people apart as 'patient'" in found["x"].why


@pytest.mark.parametrize("header", ID_HEADERS)
def test_ids_are_known_by_their_header(header):
    assert is_headed_as_id(header)
    frame = pl.DataFrame({header: np.repeat(np.arange(150), 2), "ill": ["no", "yes"] * 150})
    finding = identifying_columns(frame)[header]
    assert finding.person


@pytest.mark.parametrize(
    "header", ["patient_age", "paid", "case_mix", "no", "number", "said", "grid"]
)
def test_headers_that_only_resemble_ids_are_none(header):
    assert not is_headed_as_id(header)


@pytest.mark.parametrize("kind", PEOPLE_COLUMNS)
@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_sample_shows_what_all_rows_show(kind, share):
    frame = PEOPLE_COLUMNS[kind](0)
    sample = frame.sample(fraction=share, shuffle=True, seed=3)
    assert set(identifying_columns(frame)) <= set(identifying_columns(sample))


@pytest.mark.parametrize("share", [0.2, 0.1, 0.02])
def test_an_id_whose_people_have_hardly_a_row_each_in_a_sample_is_found(share):
    frame = visits(np.random.default_rng(0), people=2_000).rename({"patient": "x"})
    assert "x" in identifying_columns(frame.sample(fraction=share, shuffle=True, seed=1))


def test_ids_are_known_by_their_form():
    frame = visits(np.random.default_rng(6)).rename({"patient": "x"})
    assert identifying_columns(frame)["x"] == (REPEATS, True)
    shuffled = frame.with_columns(pl.col("x").shuffle(seed=1))
    assert identifying_columns(shuffled) == {}


def test_two_steady_columns_of_many_values_are_enough():
    rng = np.random.default_rng(11)
    who = np.repeat(np.arange(210), 4)
    frame = pl.DataFrame(
        {
            "n": who,
            "income": rng.integers(10, 70, 210)[who],
            "party": rng.integers(1, 7, 210)[who],
            "mode": np.tile(np.arange(4), 210),
        }
    )
    assert identifying_columns(frame)["n"].person
    followed = frame.with_columns(party=pl.col("income") // 10)
    assert identifying_columns(followed.sample(fraction=1, shuffle=True, seed=1)) == {}


@pytest.mark.parametrize(
    "names",
    [
        "Aylin Burak Cansu Demet Emre Fatma Gizem Hakan Kemal Leyla Merve Nihan Onur Pelin Rana "
        "Selma Tarik Ufuk Volkan Yasemin Zehra Umut",
        "Nagy Kovacs Toth Szabo Horvath Varga Molnar Nemeth Farkas Balogh Papp Takacs Juhasz "
        "Lakatos Meszaros Simon Racz Fekete Szilagyi Torok Feher Balazs",
        "nguyen tran le pham hoang phan vu dang bui do ho ngo duong ly dinh trinh mai cao luong ta",
    ],
)
def test_a_few_common_names_that_repeat_often_are_found(names):
    rng = np.random.default_rng(12)
    frame = pl.DataFrame({"x": rng.choice(of(names), 4_000), "age": rng.integers(18, 90, 4_000)})
    assert identifying_columns(frame)["x"].why == "looks like names of people"


@pytest.mark.parametrize("signs", ["王李张刘陈杨黄赵周吴徐孙", "김이박최정강조윤장임한오"])
def test_short_names_of_other_scripts_are_found(signs):
    rng = np.random.default_rng(13)
    names = ["".join(rng.choice(list(signs), 3)) for _ in range(400)]
    frame = pl.DataFrame({"x": names, "age": rng.integers(18, 90, 400)})
    assert "x" in identifying_columns(frame)


def test_an_id_that_the_file_is_sorted_by_is_not_called_ordinary():
    frame = visits(np.random.default_rng(7)).sort("patient")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_unstated_identifiers(Table(frame, Roles(target="ill")))
    said = " ".join(str(each.message) for each in caught)
    assert "'patient'" in said
    assert "ordinary" not in said


def test_an_id_in_file_order_is_a_person_and_no_row_number():
    frame = visits(np.random.default_rng(7)).sort("patient").rename({"patient": "x"})
    (guess,) = (c for c in guess_columns(Table(frame)) if c.name == "x")
    assert (guess.looks, guess.person) == ("identifier", True)


def test_release_stops_while_an_id_is_unexplained_and_does_not_offer_to_drop_it():
    table = Table(visits(np.random.default_rng(8)).rename({"patient": "x"}), Roles(target="ill"))
    with pytest.raises(InputError, match="counts people by it") as error:
        refuse_unstated_identifiers(table)
    assert "--drop" not in str(error.value)
    with pytest.raises(InputError, match="could identify people"):
        consider(table)


def test_an_id_that_is_dropped_still_counts():
    frame = visits(np.random.default_rng(9)).rename({"patient": "x"})
    table = read_table(frame, target="ill", drop=["x"])
    assert table.everybody == frame["x"].n_unique() < table.rows
    assert table.roles.identifiers == ("x",)
    assert "x" not in table.features
    assert read_table(frame, target="ill", drop=["x"], person=[]).everybody == frame.height
    ordinary = read_table(frame, target="ill", drop=["dose"], identifier=["x"])
    assert ordinary.roles.dropped == ("dose",)


def sets() -> pl.DataFrame:
    """Patients in matched sets of four, some of them with the same name."""
    rng = np.random.default_rng(10)
    patient = np.arange(400)
    return pl.DataFrame(
        {
            "case.id": patient // 4,
            "mrn": rng.permutation(400) + 70_000,
            "name": rng.choice(family_names(60, rng), 400),
            "age": rng.integers(20, 80, 400),
            "ill": rng.choice(["no", "yes"], 400),
        }
    )


def test_a_matched_set_is_no_person_and_the_holder_is_asked():
    table = Table(sets(), Roles(target="ill", identifiers=("case.id", "mrn", "name")))
    with pytest.raises(InputError, match="who is a person") as error:
        consider(table)
    words = str(error.value)
    assert "by 'case.id' 100 people with 4 rows each" in words
    assert "by 'mrn' 400 people with one row each" in words
    assert "--person" in words
    refuse_unstated_identifiers(table.with_roles(person=("mrn",)))
    refuse_unstated_identifiers(table.with_roles(person=("case.id",)))
    refuse_unstated_identifiers(table.with_roles(person=()))


def test_a_name_does_not_decide_while_a_number_does():
    table = Table(sets(), Roles("ill", identifiers=("mrn", "name"), dropped=("case.id",)))
    assert table.person_columns == ("mrn",)
    assert table.everybody == 400
    assert len({c.people for c in table.person_candidates}) == 2
    refuse_unstated_identifiers(table)
    named = Table(sets(), Roles(target="ill", identifiers=("name",)))
    assert named.everybody == sets()["name"].n_unique()


def test_a_stay_is_no_person():
    frame = sets().with_columns(stay=pl.int_range(400), patient=pl.int_range(400) // 3)
    table = Table(frame, Roles(target="ill", identifiers=("stay", "patient", "name")))
    assert table.person_columns == ("patient",)
    assert table.open_candidates == ()


def test_numbers_within_places_decide_together():
    frame = pl.DataFrame({"site": [1, 1, 2, 2], "no": [1, 2, 1, 2], "ill": ["a", "b"] * 2})
    table = Table(frame, Roles(target="ill", identifiers=("site", "no")))
    assert [c.people for c in table.open_candidates] == [4, 2, 2]
    assert table.with_roles(person=("site", "no")).everybody == 4


REAL = of(
    "adult_test adult_train bank_marketing banknote cardiotocography credit_approval dna ilpd "
    "magic mushroom optdigits page_blocks pendigits pima shuttle spambase vehicle wall_following_4 "
    "wilt winequality_red"
)
TRUE_ALARMS = {
    "diabetes130": {"encounter_id", "patient_nbr"},
    "parkinson_speech": {"subject_id"},
    "yeast": {"Sequence_Name"},
    "aminer_ed_148x552": {"name"},
    "aminer_name_disambiguation": {"name", "paper_id", "title", "authors", "organization"},
    "sms_spam": {"text"},
    "review_polarity": {"id", "text"},
    "reuters_corn_grain": {"text"},
    "pu1": {"id", "subject", "body"},
    "pu2": {"id", "subject", "body"},
    "pu3": {"id", "subject", "body"},
    "pua": {"id", "subject", "body"},
    "supermarket_columns": {"index", "name"},
}


@pytest.mark.parametrize("name", [*REAL, *TRUE_ALARMS])
def test_no_real_table_gives_a_false_alarm(name, dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)  # numbers with too many digits
        frame = read_table(dataset(f"{name}.csv.gz"), check=False, missing="?").frame
    assert set(identifying_columns(frame)) == TRUE_ALARMS.get(name, set())


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_no_table_of_scikit_learn_does(name):
    import sklearn.datasets

    found = getattr(sklearn.datasets, f"load_{name}")()
    names = [str(n) for n in found.feature_names]
    frame = pl.DataFrame(found.data, schema=names, orient="row")
    assert identifying_columns(frame) == {}


def test_the_question_is_a_warning_in_an_audit():
    table = Table(sets(), Roles(target="ill", identifiers=("case.id", "mrn", "name")))
    with pytest.warns(TamisWarning, match="who is a person"):
        warn_of_unstated_identifiers(table)
