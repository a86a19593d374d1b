"""`tamis coarsen`: levels, score, and a file that is what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.coarsen import metrics
from tamis.options.steps import METRICS
from tamis.risk.anonymity import reidentification
from tamis.risk.diversity import l_diversity, likeness
from tamis.table import sort_by_content
from tamis.table_file import write_table


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 200),
            "job": rng.choice(["cook", "judge", "clerk"], 200),
            "who": [i // 2 for i in range(200)],
            "ill": rng.choice(["no", "yes"], 200),
        }
    )
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def flags(tmp_path):
    jobs = tmp_path / "job.csv"
    jobs.write_text("cook;manual;*\nclerk;office;*\njudge;office;*\n")
    roles = ("--target", "ill", "--quasi", "age,job", "--identifier", "who")
    return (*roles, "--ladder", f"job={jobs}")


@pytest.mark.parametrize("search", ["exact", "local"])
def test_the_file_is_as_anonymous_as_the_answer_says(run, table, flags, tmp_path, search):
    out = tmp_path / "out.csv"
    how = ("--k", 4, "--max-suppressed", 0.1, "--search", search, "-o", out, "--json")
    code, answer, err = run("coarsen", table, *flags, *how)
    assert code == 0, err
    found = json.loads(answer)
    rows = pl.read_csv(out, infer_schema=False)
    assert "who" not in rows.columns
    assert rows.height == found["rows"] == 200 - found["suppressed_rows"]
    told = [c for c in ("age", "job") if c in rows.columns]
    assert rows.select(told).n_unique() == found["classes"]
    # Two rows a person: there are never more people than rows in a class.
    assert 4 <= found["k_anonymity"] <= rows.group_by(told).len()["len"].min()
    assert found["unit"] == "people"
    levels = found["levels"]
    assert levels is None if search == "local" else set(levels) == {"age", "job"}
    assert found["proven"] == (search == "exact")


@pytest.mark.parametrize("search", ["exact", "local"])
@pytest.mark.parametrize("kind", ["entropy", "recursive"])
def test_other_kinds_of_l_hold_in_the_file(run, table, tmp_path, search, kind):
    out = tmp_path / "out.csv"
    how = ("--sensitive", "job", "--quasi", "age", "--drop", "who,ill", "--l-kind", kind)
    code, _, err = run(
        "coarsen", table, *how, "--l", 2, "--c", 2, "--k", 2, "--search", search, "-o", out
    )
    assert code == 0, err
    found = l_diversity(pl.read_csv(out, infer_schema=False), "job", recursive_l=2)
    assert found.recursive_c < 2 if kind == "recursive" else found.entropy > 2 - 1e-9


def test_words_say_levels_and_score(run, table, flags):
    code, out, _ = run("coarsen", table, *flags, "--l", 2, "--t", 0.4)
    assert code == 0
    assert "no levels are better" in out
    assert "left out" in out


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--k", "500"), 1, "k = 500 needs 500 people alike, and the table has"),
        (("--alpha", "0.55"), 1, "at most 0 may be"),
        (("--search", "learning", "--metric", "height"), 2, "leave out --metric"),
        (("--search", "local", "--metric", "height"), 2, "no height"),
        (("--ladder", "job"), 2, "COL=FILE"),
        (("--max-suppressed", "2"), 2, "--max-suppressed must be a share between 0 and 1, got 2"),
        (("-o", "out.txt"), 2, ".csv, .parquet"),
    ],
)
def test_what_cannot_be_done_is_said(run, table, flags, more, code, words):
    found = run("coarsen", table, *flags, *more)
    assert found.code == code
    assert words in found.err
    assert found.out == ""


def test_the_command_knows_every_metric():
    assert set(METRICS) == set(metrics.METRICS)


def test_levels_may_be_chosen_by_what_they_keep_and_tell(run, tmp_path):
    from tamis.datasets import patients

    patients(rows=500).frame.drop("patient").write_csv(tmp_path / "stays.csv")
    asked = ("coarsen", tmp_path / "stays.csv", "--target", "readmitted", "--sensitive", "hiv")
    output = tmp_path / "coarse.csv"
    options = ("--quasi", "zip,birth_year,sex,job", "--search", "learning", "-o", output, "--json")
    done = run(*asked, *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["k_anonymity"] >= 5
    assert found["suppressed_rows"] == 0
    assert set(found["levels"]) == set(found["ladders"])
    assert "hiv" not in found["levels"]
    assert "hiv" not in output.read_text().splitlines()[0].split(",")


@pytest.mark.parametrize("search", ["exact", "local"])
def test_more_may_be_asked_of_people_alike(run, table, flags, tmp_path, search, monkeypatch):
    out = tmp_path / "out.csv"
    given: list[pl.DataFrame] = []  # the rows as they came, which the file does not tell

    def heard(frame: pl.DataFrame, path: Path, **how: Any) -> None:
        given.append(frame)
        write_table(frame, path, **how)

    monkeypatch.setattr("tamis.verification.checks.write_table", heard)
    how = ("--alpha", 0.9, "--beta", 1, "--max-risk", 0.125, "--max-average-risk", 0.1)
    flags = (*flags, "--search", search)
    code, answer, err = run("coarsen", table, *flags, "--k", 2, *how, "-o", out, "--json")
    assert code == 0, err
    found = json.loads(answer)
    assert found["k_anonymity"] >= 8
    before, after = pl.read_csv(table), given[0]
    assert pl.read_csv(out).rows() == sort_by_content(after).rows()
    known = [c for c in ("age", "job") if c in after.columns]
    people = before["who"].to_numpy()
    reached = likeness(after, "ill", known, people=people)
    assert reached.alpha <= 0.9
    assert reached.beta <= 1
    assert reidentification(after, known, people=people).marketer <= 0.1
    code, _, err = run("coarsen", table, *flags, "--alpha", 0.55)
    assert code == 1
    words = {"exact": "would have to be suppressed", "local": "as one class"}
    assert words[search] in " ".join(err.split())


@pytest.fixture
def town(table, tmp_path):
    """Everybody: the people of the table, and twice as many others, one of them a stranger."""
    rng = np.random.default_rng(1)
    others = pl.DataFrame(
        {
            "age": rng.integers(15, 90, 400),
            "job": rng.choice(["cook", "judge", "clerk", "bard"], 400),
            "who": np.arange(100, 500),
        }
    )
    path = tmp_path / "town.csv"
    pl.concat([pl.read_csv(table).select("age", "job", "who"), others]).write_csv(path)
    return path


@pytest.mark.parametrize("search", ["exact", "local"])
def test_a_register_says_who_may_be_in_the_table(run, table, flags, town, search):
    ages = town.with_name("ages.toml")
    ages.write_text("[ladders.age]\nwidth = [10, 20, 40]\n")
    how = ("coarsen", table, *flags, "--k", 2, "--config", ages, "--population", town)
    how = (*how, "--search", search)
    free = json.loads(run(*how, "--json").out)
    code, answer, err = run(*how, "--delta-presence", "0,0.4", "--json")
    assert code == 0, err
    found = json.loads(answer)
    assert found["presence"]["most"] <= 0.4 < free["presence"]["most"]
    assert found["score"] > free["score"]
    shown = run(*how).out
    assert "somebody of the register is in the table with a chance from" in " ".join(shown.split())


def test_levels_that_keep_and_tell_hide_who_is_in_the_table(run, tmp_path):
    """The age says most, but all of some age are in the table; the job says something too."""
    ages = [20 + i % 50 for i in range(900)]
    jobs = ["cook" if age < 45 or i % 7 == 0 else "clerk" for i, age in enumerate(ages)]
    ill = ["no" if age < 40 or i % 13 == 0 else "yes" for i, age in enumerate(ages)]
    town = pl.DataFrame({"age": ages, "job": jobs, "ill": ill})
    table = pl.concat([town.head(300), town.tail(600).filter(pl.col("age") == 33)])
    table.write_csv(tmp_path / "t.csv")
    town.write_csv(tmp_path / "town.csv")
    how = ("coarsen", tmp_path / "t.csv", "--target", "ill", "--quasi", "age", "--json",
           "--search", "learning", "--population", tmp_path / "town.csv")  # fmt: skip
    code, answer, err = run(*how, "--delta-presence", "0,0.5")
    assert code == 0, err
    assert json.loads(answer)["presence"]["most"] <= 0.5
    assert json.loads(run(*how).out)["presence"]["most"] > 0.5


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["0,0.4"], 2, "give --population FILE"),
        (["0.4,0.1", "--population", "town.csv"], 2, "LOW,HIGH"),
        (["0,0.01", "--population", "town.csv"], 1, "coarsest level it is"),
        (["0,1", "--population", "narrow.csv"], 2, "the register has no column 'age'"),
    ],
)
def test_what_no_register_can_say_is_refused(run, table, flags, town, options, code, words):
    pl.read_csv(town).drop("age").write_csv(town.with_name("narrow.csv"))
    options = [town.with_name(o) if o.endswith(".csv") else o for o in options]
    found, _, err = run("coarsen", table, *flags, "--delta-presence", *options)
    assert found == code
    assert words in " ".join(err.split())
