"""Files of statistical programs go through the commands, and back where asked."""

import json
from typing import Any

import pytest

from tamis.datasets import patients
from tamis.table_file import read_written, write_table
from tests.long import daily

pytest.importorskip("pyreadstat")
pytest.importorskip("fastexcel")
pytestmark = pytest.mark.usefixtures("parsed_here")


@pytest.mark.parametrize("ending", daily(["sav", "dta", "xlsx"], "sav", "xlsx"))
def test_a_release_is_written_in_the_same_format_and_verified(ending, run, tmp_path):
    table, out = tmp_path / f"stays.{ending}", tmp_path / "out"
    write_table(patients(rows=300).frame, table)
    given = ("--target", "readmitted", "--identifier", "patient", "--quasi", "zip,sex,job")
    quick = ("--methods", "front", "--quiet", "--write", ending, "--out", out)
    code, _, err = run("release", table, *given, *quick)
    assert code == 0, err
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["file"]["name"] == f"release.{ending}"
    assert read_written(out / f"release.{ending}", ending).height == 300
    assert run("verify", out).code == 0
    code, said, err = run("release", "--again", out, "--quiet")
    assert code == 0, err
    assert "the same bytes" in said


def test_releases_that_the_format_cannot_name_are_not_compared(run, tmp_path):
    """Containment cuts a column into several, such as `job = nurse`, which is no name to SPSS."""
    table, out = tmp_path / "stays.sav", tmp_path / "out"
    write_table(patients(rows=300).frame, table)
    given = ("--target", "readmitted", "--identifier", "patient", "--quasi", "zip,sex,job")
    code, _, err = run(
        "release", table, *given, "--methods", "front,containment", "--output-format", "sav",
        "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert "releases are not compared, since SPSS cannot name their columns, such as" in err
    alone = ("--methods", "containment", "--output-format", "sav", "--out", tmp_path / "no")
    code, _, err = run("release", table, *given, *alone)
    assert code == 1
    assert "SPSS cannot name their columns" in err
    assert "write csv or parquet" in err


def test_names_that_the_format_does_not_take_are_refused_before_any_work(run, tmp_path):
    table = tmp_path / "stays.csv"
    write_table(patients(rows=300).frame.rename({"stay_days": "days of stay"}), table)
    given = ("--target", "readmitted", "--identifier", "patient", "--quasi", "zip,sex,job")
    code, _, err = run("release", table, *given, "--output-format", "dta", "--out", tmp_path / "o")
    assert code == 2
    assert "Stata takes no column named 'days of stay'" in err
    assert "looking for releases" not in err


def test_other_commands_write_them_too(run, tmp_path):
    table, out = tmp_path / "stays.sav", tmp_path / "coarse.dta"
    write_table(patients(rows=200).frame.drop("patient"), table)
    code, _, err = run("coarsen", table, "--quasi", "sex,job", "--k", "5", "-o", out)
    assert code == 0, err
    assert "sex" in read_written(out, "dta").columns


def test_an_engine_says_that_it_does_not_read_them(run, tmp_path):
    write_table(patients(rows=50).frame, tmp_path / "a.sav")
    code, _, err = run("audit", tmp_path / "a.sav", "--engine", "duckdb")
    assert code == 2
    assert "sav files are read in memory only" in err


def test_a_released_survey_has_its_questions_and_codes_and_no_label_of_what_is_gone(run, tmp_path):
    import polars as pl
    import pyreadstat

    rows = 120
    frame = pl.DataFrame(
        {
            "sex": [2.0 if i % 2 else 5.0 for i in range(rows)],
            "town": [float(10 * (i % 3)) for i in range(rows)],
            "vote": [1.0 if i % 4 < 2 else 3.0 for i in range(rows)],
            "w": [40.0 + i % 3 for i in range(rows)],
        }
    )
    labels: Any = {
        "sex": {2.0: "woman", 5.0: "man"},
        "town": {0.0: "A", 10.0: "B", 20.0: "C"},
        "vote": {1.0: "no", 3.0: "yes"},
    }
    questions: Any = {"sex": "A woman or a man?", "vote": "Did you vote?", "w": "Weight"}
    path, out = tmp_path / "survey.sav", tmp_path / "out"
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, column_labels=questions)
    given = ("--target", "vote", "--row-is-person", "--weight", "w", "--methods", "front")
    quick = ("--allow-useless", "--quiet", "--write", "sav", "--out", out)
    code, _, err = run("release", path, *given, *quick)
    assert code == 0, err
    _, about = pyreadstat.read_sav(out / "release.sav")
    assert about.variable_value_labels["vote"] == labels["vote"]
    assert about.column_names_to_labels["vote"] == "Did you vote?"
    assert "w" not in about.column_names
    manifest = json.loads((out / "manifest.json").read_text())
    (vote,) = (c for c in manifest["columns"] if c["name"] == "vote")
    assert vote["codes"] == {"no": 1, "yes": 3}
    assert vote["question"] == "Did you vote?"
    assert run("verify", out).code == 0
