"""`tamis attack` on files and on published folders."""

import json
import shutil
import warnings

import numpy as np
import polars as pl
import pytest

from tamis import Settings, consider, publish, read_table
from tamis.datasets import patients
from tests.long import long

ROLES = ("--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
KNOWN = ("--quasi", "zip,birth_year,sex,job")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    table = patients(rows=240)
    table.frame.write_csv(folder / "original.csv")
    table.frame.select("zip", "sex", "ward", "readmitted").reverse().write_csv(folder / "out.csv")
    patients(rows=100, random_state=1).frame.write_csv(folder / "others.csv")
    methods = {"containment": {"ks": [20], "utilities": ["difference"]}}
    # So few rows teach nothing.
    settings = Settings(methods=methods, attackers=("nb",), allow_useless=True)
    publish(consider(table, settings), folder / "published")
    return folder


def attacked(run, *args):
    code, out, err = run("attack", *args, "--people", 60, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_file_is_attacked_with_a_control_group_of_its_own(run, files):
    found = attacked(run, files / "original.csv", files / "out.csv", *ROLES, *KNOWN)
    assert found["people"] == 240
    assert found["control_people"] == 60
    kinds = {each["attacker"].split(",")[0].split(" of ")[0] for each in found["attacks"]}
    assert kinds >= {"singling out", "linkage", "inference", "membership", "reconstruction"}
    each = next(a for a in found["attacks"] if a["attacker"] == "linkage, exact")
    assert set(each) == {
        "attacker", "words", "people", "success", "guess", "gain", "control_people", "control",
        "leak", "details",
    }  # fmt: skip
    assert each["details"]["known"] == ["zip", "sex"]


def test_control_people_may_be_given_and_what_is_known(run, files):
    args = ("--control", files / "others.csv", "--known", "zip", "--errors", ".2")
    found = attacked(run, files / "original.csv", files / "out.csv", *ROLES, *args)
    assert found["control_people"] == 100
    linked = [a for a in found["attacks"] if a["attacker"].startswith("linkage, ")]
    assert [a["attacker"] for a in linked[:3]] == [
        "linkage, exact",
        "linkage, missing 20%",
        "linkage, wrong 20%",
    ]


def test_a_published_folder_is_attacked(run, files):
    found = attacked(run, files / "original.csv", files / "published", *ROLES, *KNOWN)
    assert found["control_people"] == 60
    assert not [note for note in found["notes"] if "compared" in note]


def test_it_is_said_in_words(run, files):
    args = (files / "original.csv", files / "out.csv", *ROLES, *KNOWN, "--people", 40)
    code, out, err = run("attack", *args)
    assert code == 0
    assert "Of 100 people, " in out
    assert "linkage, exact" in out
    assert "note: the control group" in err


def test_what_cannot_be_attacked_is_said_without_a_cell(run, files, tmp_path):
    strange = tmp_path / "strange.csv"
    strange.write_text("other\nsecretcell\nsecretcell\n")
    code, _, err = run("attack", files / "original.csv", strange, *ROLES)
    assert code == 2
    assert "secretcell" not in err
    (tmp_path / "empty").mkdir()
    code, _, err = run("attack", files / "original.csv", tmp_path / "empty", *ROLES)
    assert code in (1, 2)
    assert "Traceback" not in err
    code, _, err = run("attack", files / "original.csv", files / "out.csv", *ROLES, "--errors", "x")
    assert code == 2
    assert "shares separated by commas" in err


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")
    folder = tmp_path_factory.mktemp("drawn")
    draws = np.random.default_rng(0)
    ill = draws.random(300) < 0.5
    has = {f"t{i}": (draws.random(300) < np.where(ill, 0.1, 0.9)).astype(int) for i in range(4)}
    pl.DataFrame({**has, "ill": np.where(ill, "yes", "no")}).write_csv(folder / "t.csv")
    dp = {"kinds": ["selected"], "bounds": {"ill": ["no", "yes"]}, "features": 2}
    settings = Settings(epsilon=4.0, methods={"dp": dp}, attackers=("nb",))
    with warnings.catch_warnings():  # whether so few rows teach anything is not what is tried
        warnings.simplefilter("ignore")
        publish(consider(read_table(folder / "t.csv", target="ill"), settings), folder / "out")
    return folder


def test_the_command_tries_it_on_a_drawn_release(run, drawn):
    args = ("--target", "ill", "--people", 20, "--shadows", 6)
    code, out, err = run("attack", drawn / "t.csv", drawn / "out", *args)
    assert code == 0, err
    assert "epsilon = 4 allows 98.2%" in " ".join(out.split())
    code, out, _ = run("attack", drawn / "t.csv", drawn / "out", *args, "--json")
    (found,) = [a for a in json.loads(out)["attacks"] if "shadow" in a["attacker"]]
    assert found["details"]["within"]
    assert found["details"]["runs"] == 6


def test_a_damaged_budget_is_said(run, drawn, tmp_path):
    shutil.copytree(drawn / "out", tmp_path / "out")
    content = json.loads((tmp_path / "out" / "manifest.json").read_text())
    del content["budget"]["domain"]
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(content))
    code, _, err = run(
        "attack", drawn / "t.csv", tmp_path / "out", "--target", "ill", "--people", 8
    )
    assert (code, "damaged" in err) == (1, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"ward": pl.lit("x"), "readmitted": pl.lit(1)},
        pytest.param({"ward": pl.lit(None, dtype=pl.String)}, marks=long),
        {"readmitted": None},
    ],
    ids=["constant", "a blank column", "no target"],
)
def test_a_release_that_could_not_be_released_is_attacked_all_the_same(
    run, files, tmp_path, changed
):
    frame = pl.read_csv(files / "out.csv", schema_overrides={"zip": pl.String})
    gone = [name for name, how in changed.items() if how is None]
    columns = {name: how for name, how in changed.items() if how is not None}
    frame.drop(gone).with_columns(**columns).write_csv(tmp_path / "out.csv")
    found = attacked(run, files / "original.csv", tmp_path / "out.csv", *ROLES, *KNOWN)
    assert any(each["attacker"] == "linkage, exact" for each in found["attacks"])


def test_a_secret_that_the_original_lacks_is_an_error(run, files):
    args = (files / "original.csv", files / "out.csv", *ROLES, *KNOWN, "--secret", "hvi")
    code, _, err = run("attack", *args)
    assert (code, "no column 'hvi' in the original" in err) == (2, True)


def test_a_file_made_with_ladders_is_attacked_in_its_groups(run, files, tmp_path):
    """Names of groups that no form of words gives away: only the ladder says what they hold."""
    original = files / "original.csv"
    frame = pl.read_csv(original, infer_schema=False)
    jobs = frame["job"].drop_nulls().unique().sort().to_list()
    rungs = [f"{job};{'north' if i % 2 else 'south'};*" for i, job in enumerate(jobs)]
    (tmp_path / "job.csv").write_text("\n".join(rungs) + "\n")
    sides = {job: "north" if i % 2 else "south" for i, job in enumerate(jobs)}
    coarse = frame.with_columns(pl.col("job").replace(sides)).select("job", "sex", "readmitted")
    coarse.write_csv(tmp_path / "released.csv")
    given = ("--target", "readmitted", "--identifier", "patient", "--quasi", "sex,job")
    asked = ("attack", original, tmp_path / "released.csv", *given, "--people", "40", "--json")
    code, out, err = run(*asked, "--ladder", f"job={tmp_path / 'job.csv'}")
    assert code == 0, err
    by_ladder = json.loads(out)
    coarse.with_columns(pl.lit("zzz").alias("job")).write_csv(tmp_path / "other.csv")
    asked = ("attack", original, tmp_path / "other.csv", *given, "--people", "40", "--json")
    code, _, err = run(*asked, "--ladder", f"job={tmp_path / 'job.csv'}")
    assert (code, "no level of the ladder of 'job'" in err) == (2, True)
    assert by_ladder
