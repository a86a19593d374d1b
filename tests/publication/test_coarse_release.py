"""A release with columns in coarser forms, from the file to its reports and back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider, verify
from tamis.coarsen.ladder import Ladder
from tamis.errors import CannotMeet
from tamis.evaluate.column_bits import NeighbourRung, neighbour_rungs
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.publication.read_back import published_folder, read_published, value_labels
from tamis.verification.layout import digest, write_json
from tests.publication.coarse_release import LADDERS, coarse_outcome, stays


@pytest.fixture(scope="module")
def outcome(quick_look: None) -> Outcome:
    return coarse_outcome(format="parquet")


@pytest.fixture(scope="module")
def folder(outcome: Outcome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    return publish(outcome, tmp_path_factory.mktemp("coarse") / "out", date="2026-11-16")


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def test_the_file_has_the_ends_of_intervals_and_the_manifest_says_of_what(folder):
    rows = pl.read_parquet(folder / "release.parquet")
    assert rows.schema["age_lower"] == pl.Float64
    assert rows.schema["on_upper"] == pl.Date
    assert set(rows["age_upper"].to_list()) == {20.0, 40.0, 60.0, 80.0, None}
    roles = {c["name"]: (c["role"], c.get("of")) for c in manifest_of(folder)["columns"]}
    assert roles["age_lower"] == ("lower bound", "age")
    assert roles["on_upper"] == ("upper bound", "on")
    assert "job_lower" not in roles


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("age_lower", 21.0, "does not hold the bounds"),
        ("on_upper", None, "does not hold the bounds"),
        ("age", "43", "not on its stated ladder"),
    ],
)
def test_bounds_that_say_more_than_labels_are_found(folder, tmp_path, column, cell, words):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=lambda *_: ["private"])
    rows = pl.read_parquet(copy / "release.parquet")
    changed = [pl.Series([cell], dtype=rows.schema[column]), rows[column][1:]]
    rows.with_columns(pl.concat(changed).alias(column)).write_parquet(
        copy / "release.parquet", statistics=False
    )
    content = manifest_of(copy)
    content["file"]["sha256"] = digest(copy / "release.parquet")
    write_json(copy / "manifest.json", content)
    with pytest.raises(CannotMeet, match=words):
        verify(copy)


def test_a_release_is_read_back_in_its_forms(folder, outcome, tmp_path):
    table, forms = read_published(folder, outcome.table)
    assert {name: form.level for name, form in forms.items()} == {"age": 2, "job": 1, "on": 2}
    assert table.frame.columns == ["age", "job", "on", "y"]
    labels = value_labels(outcome.table, forms)["job"]
    assert dict(zip(labels.values, labels.labels))["clerk"] == "desk"
    shared = tmp_path / "shared"
    shutil.copytree(folder, shared, ignore=lambda *_: ["private"])
    _, stated = read_published(shared, outcome.table)
    assert stated["age"].ladder == {"width": [20], "top": 80}
    known = value_labels(outcome.table, stated)
    for name in LADDERS:
        whole = value_labels(outcome.table, forms)[name]
        for cell, label, said in zip(whole.values, whole.labels, known[name].labels):
            assert said in (label, None), cell


def test_only_a_published_folder_or_its_rows_are_taken_for_one(folder, tmp_path):
    assert published_folder(str(folder)) == folder
    assert published_folder(str(folder / "release.parquet")) == folder
    assert published_folder(str(folder / "manifest.json")) is None
    (tmp_path / "release.csv").write_text("a,b\n1,2\n")
    assert published_folder(str(tmp_path / "release.csv")) is None
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    assert published_folder(str(tmp_path / "release.csv")) is None


def test_rules_of_a_release_are_asked_through_its_ladders(folder, outcome, tmp_path):
    from click.testing import CliRunner

    from tamis.cli import cli

    outcome.table.frame.write_csv(tmp_path / "stays.csv")
    (tmp_path / "rules.txt").write_text("age >= 60 -> y=yes\njob in {cook, builder} -> y=yes\n")
    options = ["--target", "y", "--rules", str(tmp_path / "rules.txt"), "--json"]
    args = ["retain", str(tmp_path / "stays.csv"), str(folder / "release.parquet"), *options]
    test = ["--test", str(tmp_path / "other.csv")]
    stays(200, seed=12).frame.write_csv(test[1])
    done = CliRunner().invoke(cli, [*args, *test])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["lost"] == found["emptied"] == 0
    assert found["rules"][0]["support_after"] == found["rules"][0]["support_before"]
    assert found["prediction"]["released"]["accuracy"] > 0.8


def rungs_of(outcome: Outcome) -> dict[str, list[NeighbourRung]]:
    compared, k = outcome.decision.scorecard.compared, outcome.settings.k
    return neighbour_rungs(outcome.evaluator, compared, outcome.release, k)


def test_a_rung_up_or_down_is_told_to_the_holder_alone(folder, outcome):
    finer, coarser = rungs_of(outcome)["on"]
    assert (finer.level, coarser.level, coarser.words) == (1, 3, "nothing")
    assert (finer.allowed, coarser.allowed) == (False, True)
    assert coarser.kept < -0.1
    summary = json.loads((folder / "private" / "summary.json").read_text())
    columns = {c["name"]: c for c in summary["columns"]}
    assert columns["on"]["fate"] == "coarsened"
    assert "too few" in columns["on"]["why"]
    assert columns["job"]["ladder"]["labels"] == [
        {"label": "desk", "values": ["judge"]},
        {"label": "manual", "values": ["builder", "cook"]},
    ]
    labels = [each["label"] for each in columns["age"]["ladder"]["labels"]]
    assert labels == ["[0, 20)", "[20, 40)", "[40, 60)", "[60, 80)", ">= 80"]
    mine, theirs = ((folder / path).read_text() for path in ("private/report.html", "report.html"))
    assert "one rung finer" in mine
    assert "too few would be alike" in mine
    assert "one rung finer" not in theirs
    assert "too few" not in theirs
    assert "clerk" not in theirs
    assert "the year of the date" in theirs


def test_neighbours_are_what_the_yardstick_says_of_them(outcome):
    decision, yardstick = outcome.decision, outcome.evaluator.yardstick
    release, measured = decision.chosen.release, decision.scorecard.compared.reporting
    smaller = replace(
        release,
        table=Table(release.table.frame.drop("on"), release.table.roles),
        forms={name: form for name, form in release.forms.items() if name != "on"},
    )
    with_it, without = (
        bits.score(columns)[0]
        for bits, columns in (yardstick.bits(r, yardstick.reporting) for r in (release, smaller))
    )
    _, left_out = rungs_of(outcome)["on"]
    assert left_out.kept == pytest.approx((without - with_it) / measured.target_scale)


def test_names_that_are_patterns_stay_names(tmp_path: Path, quick_look: None):
    draw = np.random.default_rng(0)
    age, secret = draw.uniform(18, 90, 1500).round(1), draw.integers(0, 2, 1500)
    target = np.where(draw.random(1500) < 0.85, age > 55, age <= 55).astype(int)
    frame = pl.DataFrame({"^.*$": age, "*": secret + 2 * draw.integers(0, 4, 1500)}).with_columns(
        pl.Series("y", target), pl.Series("s", secret)
    )
    table = Table(frame).with_roles(target="y", sensitive="s", plain=("*",))
    settings = Settings(methods={"front": {}, "coarsen": {}}, format="parquet")
    found = consider(table, settings)
    assert "^.*$" in found.decision.chosen.release.forms
    publish(found, tmp_path / "out")
    assert verify(tmp_path / "out").private


def test_numbers_lose_digits_and_stay_numbers_from_the_table_to_its_recipient(
    quick_look: None, tmp_path: Path
) -> None:
    """The last digit gives the sensitive value away, and tens teach."""
    rng = np.random.default_rng(4)
    income, hiv = rng.integers(100, 999, 1500) * 10, rng.random(1500) < 0.4
    frame = pl.DataFrame(
        {
            "income": income + 2 * rng.integers(0, 5, 1500) + hiv,
            "y": np.where((income > 6000) ^ (rng.random(1500) < 0.1), "yes", "no"),
            "hiv": np.where(hiv, "pos", "neg"),
        }
    )
    settings = Settings(methods={"coarsen": {}}, attackers=("nb",))
    ladder = Ladder.from_dict("income", {"step": [10]})
    table = Table(frame, Roles("y", "hiv", quasi=()))
    outcome = consider(table, settings, ladders={"income": ladder})
    cut = [c for c in outcome.decision.scorecard.rows if c.release.forms]
    assert cut
    assert cut[0].release.table.frame["income"].to_list() == income.tolist()
    assert cut[0].release.name == "income (in steps of 10)"
    folder = publish(outcome, tmp_path / "out", date="2026-11-18")
    assert outcome.release.forms["income"].ladder == {"step": [10]}
    (column, _) = manifest_of(folder)["columns"]
    assert (column["kind"], column["coarser"]["step"]) == ("number", 10)
    verify(folder)
    released, _ = read_published(folder, outcome.table)
    assert released.frame["income"].sort().to_list() == sorted(income.tolist())
    rows = (folder / "release.csv").read_text().splitlines()
    first, *rest = rows[1].split(",")
    rows[1] = ",".join([str(int(first) + 1), *rest])
    (folder / "release.csv").write_text("\n".join(rows) + "\n")
    content = manifest_of(folder)
    content["file"]["sha256"] = digest(folder / "release.csv")
    write_json(folder / "manifest.json", content)
    with pytest.raises(CannotMeet, match="not on its stated ladder"):
        verify(folder)
