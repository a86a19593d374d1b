"""`tamis judge` on the command line."""

import json
import sys

import polars as pl
import pytest

from tamis.datasets import patients

ROLES = (
    "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient",
    "--quasi", "zip,birth_year,sex,job", "--people", "30",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge")
    frame = patients(rows=300).frame
    frame.write_csv(folder / "original.csv")
    made = frame.select("zip", "birth_year", "sex", "readmitted").sample(
        fraction=0.9, shuffle=True, seed=1
    )
    made = made.with_columns(
        pl.format("{}***", pl.col("zip").str.slice(0, 2)).alias("zip"),
        pl.format("{}-{}", pl.col("birth_year") // 10 * 10, pl.col("birth_year") // 10 * 10 + 9)
        .alias("birth_year"),
    )  # fmt: skip
    made.rename({"birth_year": "Geburtsjahr", "zip": "PLZ"}).write_csv(folder / "made.csv")
    return folder


def test_names_labels_rows(run, folder):
    asked = (folder / "original.csv", folder / "made.csv", *ROLES)
    names = ("--rename", "Geburtsjahr=birth_year", "--rename", "PLZ=zip")
    found = run("judge", *asked, *names, "--json")
    assert found.code == 0, found.err
    (made,) = json.loads(found.out)["releases"]
    assert made["own_rows"]
    assert made["left_out"] == 30
    assert made["coarser"] == ["zip", "birth_year"]
    assert made["figures"]["kept"] is not None


def test_in_words_and_as_a_page(run, folder, tmp_path):
    page = tmp_path / "page.html"
    asked = (folder / "original.csv", folder / "made.csv", folder / "original.csv", *ROLES)
    found = run("judge", *asked, "-o", page)
    assert found.code == 0, found.err
    assert "proves nothing by itself" in found.out
    assert "identifies people" in found.err
    assert "made.csv" in page.read_text()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--rename", "a"), "OLD=NEW"),
        (("--rename", "a=b"), "no column 'a' to rename"),
        (("--rename", "PLZ=x", "--rename", "PLZ=y"), "twice"),
        (("--generator", "synth"), "{in} and {out}"),
        (("--generator", "no-such {in} {out}"), "there is no program"),
        (("--propose", "--control", "CONTROL"), "different people"),
        (("--rules", "none.txt"), "no file none.txt"),
    ],
)
def test_what_cannot_be_asked(run, folder, given, why):
    args = [str(folder / "original.csv") if part == "CONTROL" else part for part in given]
    refused = run("judge", folder / "original.csv", folder / "made.csv", *ROLES, *args)
    assert refused.code == 2
    assert why in refused.err


def test_a_published_folder_is_judged_in_its_own_forms(run, folder, tmp_path):
    out = tmp_path / "out"
    made = run("release", folder / "original.csv", *ROLES[:-2], "--out", out, "--quiet")
    assert made.code == 0, made.err
    found = run("judge", folder / "original.csv", out, *ROLES, "--json")
    assert found.code == 0, found.err
    (judged,) = json.loads(found.out)["releases"]
    assert judged["own_rows"]
    assert judged["exposure"] is None or judged["exposure"]["k_anonymity"] >= 5


def test_a_generator_by_itself(run, folder, tmp_path):
    program = tmp_path / "copy.py"
    program.write_text("import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])")
    command = f"{sys.executable} {program} {{in}} {{out}}"
    asked = ("--generator", command, "--shadows", "4", "--epsilon", "1", "--json")
    found = run("judge", folder / "original.csv", *ROLES, *asked)
    assert found.code == 0, found.err
    (made,) = json.loads(found.out)["releases"]
    assert made["attacks"]["attacks"][-1]["details"]["epsilon"] == 1
    code, _, err = run("judge", folder / "original.csv", *ROLES)
    assert code == 2
    assert "there is nothing to judge" in err
