"""Who a person is: said by options, found by identifiers, told in words."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.cli.table_source import TableSource
from tamis.serve.tasks import look
from tests.read.made_columns import family_names, given_names

STAYS = 8


@pytest.fixture
def stays(tmp_path):
    """Eight stays a patient, all alike; every class of equals is one patient."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(30), STAYS)
    cells = {c: rng.integers(0, 2, 30)[who] for c in "abcdefg"}
    label = np.where(rng.random(len(who)) < 0.8, cells["a"], 1 - cells["a"])
    frame = pl.DataFrame({"stay": np.arange(len(who)), "patient": who, **cells})
    path = tmp_path / "stays.csv"
    frame.with_columns(ill=np.where(label, "yes", "no")).write_csv(path)
    return path


def audited(run, path, *options):
    return json.loads(run("audit", path, "--target", "ill", *options, "--json").out)


@pytest.fixture
def nobody(stays):
    """The same rows, with nothing that says who they are about."""
    path = stays.with_name("nobody.csv")
    pl.read_csv(stays).drop("stay", "patient").write_csv(path)
    return path


def test_stays_of_a_patient_are_one_person(run, stays, nobody):
    found = audited(run, stays, "--identifier", "stay,patient")
    assert (found["people"], found["rows"]) == (30, 240)
    assert found["told_apart_by"] == ["patient"]
    assert found["unit"] == "people"
    rows = audited(run, nobody)
    assert rows["unit"] == "rows"
    assert rows["k_anonymity"] >= STAYS * found["k_anonymity"]
    assert found["containment_anonymity"] < rows["containment_anonymity"]
    sizes = found["anonymity_sizes"]
    assert sum(s["people"] for s in sizes) == 30
    assert sum(s["rows"] for s in sizes) == 240


def test_who_is_left_out_is_still_counted(run, stays):
    found = audited(run, stays, "--drop", "stay,patient")
    assert (found["people"], found["unit"]) == (30, "people")
    assert found["told_apart_by"] == ["patient"]
    assert "patient" not in found["quasi"]
    assert found == audited(run, stays, "--identifier", "patient", "--drop", "stay")


def test_a_person_is_an_identifier(run, stays):
    found = audited(run, stays, "--person", "patient", "--drop", "stay")
    assert (found["people"], found["told_apart_by"]) == (30, ["patient"])
    assert "patient" not in found["quasi"]


def test_a_row_may_be_said_to_be_a_person(run, stays):
    found = audited(run, stays, "--drop", "stay,patient", "--row-is-person")
    assert (found["people"], found["unit"]) == (240, "people")
    whole = audited(run, stays, "--identifier", "stay,patient", "--row-is-person")
    assert whole["people"] == 240


def test_both_ways_to_say_it_contradict_each_other(run, stays):
    code, _, err = run("audit", stays, "--person", "patient", "--row-is-person")
    assert code == 2
    assert "give only one of them" in err


def test_the_words_say_who_a_person_is(run, stays, nobody):
    said = run("audit", stays, "--target", "ill", "--identifier", "stay,patient")
    assert "people: identified by 'patient' (30 people, 240 rows)" in said.err
    assert "of 30 people" in said.out
    assert "have a row that matches nobody else's" in said.out
    rows = run("audit", nobody, "--target", "ill")
    assert "nothing identifies them, so rows are counted" in rows.err
    assert "of 240 rows" in rows.out
    assert "rows alike" in rows.out
    assert "people" not in rows.out


def test_a_schema_and_a_configuration_say_it_too(run, stays, tmp_path):
    schema = tmp_path / "s.toml"
    schema.write_text('[roles]\ndrop = ["stay"]\nperson = ["patient"]\n')
    assert audited(run, stays, "--schema", schema)["people"] == 30
    found = audited(run, stays, "--schema", schema, "--row-is-person")
    assert found["people"] == 240
    assert "patient" not in found["quasi"]
    config = tmp_path / "c.toml"
    config.write_text('person = ["patient"]\ndrop = ["stay"]\n')
    assert audited(run, stays, "--config", config)["people"] == 30
    config.write_text('row_is_person = true\ndrop = ["stay", "patient"]\n')
    assert audited(run, stays, "--config", config)["unit"] == "people"


def test_sparse_records_have_no_column_of_people(run, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("+1 1:1 2:1\n-1 1:1\n+1 1:1 2:1\n")
    code, _, err = run("audit", path, "--person", "patient")
    assert code == 2
    assert "--person names a column" in err
    assert "at least that many rows have" in run("audit", path).out
    assert "at least that many people have" in run("audit", path, "--row-is-person").out


def test_chosen_columns_keep_people(run, stays, nobody, tmp_path):
    out = tmp_path / "o.csv"
    asked = ("select", stays, "--by", "containment", "--target", "ill", "--k", 4)
    found = json.loads(run(*asked, "--identifier", "stay,patient", "-o", out, "--json").out)
    assert found["unit"] == "people"
    X = pl.read_csv(out).drop("ill").to_numpy()
    who = np.repeat(np.arange(30), STAYS)
    assert min(len(set(who[(e <= X).all(axis=1)])) for e in X) == found["anonymity"] >= 4
    words = run(*asked, "--identifier", "stay,patient").out
    assert "whatever a person has, at least" in words
    assert "whatever a row has, at least" in run(asked[0], nobody, *asked[2:]).out


def test_flipped_rows_are_those_of_k_people(run, stays, tmp_path):
    out = tmp_path / "o.csv"
    asked = ("perturb", stays, "--method", "flip", "--target", "ill", "--k", 4, "-o", out)
    found = json.loads(run(*asked, "--identifier", "stay,patient", "--json").out)
    assert found["k_anonymity"] >= 4
    who = pl.Series("who", np.repeat(np.arange(30), STAYS))
    cells = pl.read_csv(out).drop("ill").with_columns(who)
    crowds = cells.group_by(list("abcdefg")).agg(pl.col("who").n_unique())
    assert min(crowds["who"]) >= 4


def test_a_source_says_who_people_are():
    given: Any = dict.fromkeys(("table", "target", "sensitive", "schema", "format", "separator"))
    given |= dict.fromkeys(
        ("quasi", "identifier", "drop", "feature", "missing", "long", "label_item"), ()
    )
    given |= {"encoding": "utf-8", "labels": None}
    assert TableSource(**given).who is None
    assert TableSource(**given, row_is_person=True).who == ()
    assert TableSource(**given, person=("a",)).who == ("a",)


def test_a_release_is_made_again_with_the_same_people(run, stays, tmp_path):
    out = tmp_path / "out"
    config = tmp_path / "c.toml"
    config.write_text(
        'person = ["patient"]\ndrop = ["stay"]\ntarget = "ill"\nk = 4\nattackers = ["nb"]\n'
        'methods = ["containment"]\n[containment]\nks = [4]\nutilities = ["difference"]\n'
    )
    code, _, err = run("release", stays, "--config", config, "--out", out, "--quiet")
    assert (code, err) == (0, "")
    (entry,) = json.loads((out / "manifest.json").read_text())["promises"]
    assert (entry["unit"], entry["recount"]) == ("people", "private")
    assert entry["rows_measured"] >= STAYS * entry["measured"]
    again = tmp_path / "again"
    code, said, _ = run("release", "--again", out, "--out", again)
    assert code == 0
    assert "Reproduced the same bytes" in said
    kept = [(d / "private" / "people.csv").read_text() for d in (out, again)]
    assert kept[0] == kept[1]


SPELLINGS = ["p1", "p1 ", "P1", "p2", "\uff50\uff12", "p3", "p\u200b3", "p  4", "p 4"]


@pytest.fixture
def respelt(tmp_path):
    """Nine spellings of four people, one row each; nothing else tells them apart."""
    path = tmp_path / "respelt.csv"
    label = ["yes", "no", "yes"] * 3
    pl.DataFrame({"who": SPELLINGS, "age": [40] * 9, "ill": label}).write_csv(path)
    return path


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
def test_spellings_of_an_identifier_are_one_person_and_said_to_be(run, respelt, engine):
    asked = ("audit", respelt, "--target", "ill", "--identifier", "who", "--engine", engine)
    code, out, err = run(*asked, "--json")
    assert code == 0, err
    assert json.loads(out)["people"] == json.loads(out)["k_anonymity"] == 4
    assert "column 'who': 5 spellings" in " ".join(err.split())
    assert "--exact-identifiers" in err
    assert "p1" not in err
    code, out, err = run(*asked, "--exact-identifiers", "--json")
    assert json.loads(out)["people"] == json.loads(out)["k_anonymity"] == 9
    assert "spellings" not in err


def test_a_schema_may_say_that_spellings_are_exact(run, respelt, tmp_path):
    schema = tmp_path / "schema.toml"
    schema.write_text('[roles]\nidentifier = ["who"]\nexact_identifiers = true\n')
    assert audited(run, respelt, "--schema", schema)["people"] == 9
    schema.write_text('[roles]\nidentifier = ["who"]\nexact_identifiers = "yes"\n')
    code, _, err = run("audit", respelt, "--target", "ill", "--schema", schema)
    assert (code, "must be true or false" in err) == (2, True)


def test_init_proposes_the_id_in_file_order_and_says_what_it_would_mean(run, stays, tmp_path):
    out = tmp_path / "tamis.toml"
    run("init", stays, "--target", "ill", "-o", out)
    text = out.read_text()
    assert 'identifier = ["stay", "patient"]' in text
    assert "drop = []" in text
    assert "#   by 'stay' 240 people with one row each" in text
    assert "#   by 'patient' 30 people with 8 rows each" in text


def test_a_repeating_id_is_not_offered_to_be_dropped(run, stays, tmp_path):
    asked = ("release", stays, "--target", "ill", "--drop", "stay", "--out", tmp_path / "r")
    code, _, err = run(*asked)
    assert code == 2
    words = " ".join(err.split())
    assert "'patient' (looks like a key by name and values) could identify people" in words
    assert "counts people by it" in words
    assert "--drop" not in words


def court(folder, rows=400):
    """People before a court, in a file whose `name` is there again as `first` and `last`."""
    rng = np.random.default_rng(1)
    first, last = (
        [name.lower() for name in made(rows, rng)] for made in (given_names, family_names)
    )
    again = rng.random(rows) < 0.4
    frame = pl.DataFrame(
        {
            "name": [f"{f} {n}" for f, n in zip(first, last)],
            "first": first,
            "last": last,
            "priors": rng.poisson(np.where(again, 5, 1)),
            "again": np.where(again, "yes", "no"),
        }
    )
    frame.write_csv(folder / "court.csv")
    return folder / "court.csv"


def test_every_command_finds_the_same_names(run, tmp_path):
    file = court(tmp_path)
    asked = ("--target", "again", "--identifier", "name")
    audited = " ".join(run("audit", file, *asked).err.split())
    refused = run("release", file, *asked, "--out", tmp_path / "r")
    for words in (audited, " ".join(refused.err.split())):
        assert "'first' (" in words
        assert "'last' (headed as names of people) could identify people" in words
    assert refused.code == 2
    assert not (tmp_path / "r").exists()
    run("init", file, "--target", "again", "-o", tmp_path / "t.toml")
    assert 'identifier = ["name", "first", "last"]' in (tmp_path / "t.toml").read_text()
    shown = {column["name"]: column["role"] for column in look(str(file))["columns"]}
    assert {c for c, role in shown.items() if role == "identifier"} == {"name", "first", "last"}
