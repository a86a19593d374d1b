"""What is published, where it may be written, what is kept, and that the same comes out again."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis import Roles, Table, verify
from tamis.analyse import Analysis
from tamis.datasets import patients
from tamis.errors import CannotMeet, InputError
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish, refuse_existing, written_release
from tamis.require.k import KAnonymity
from tamis.table_file import read_written, write_table
from tamis.verification.layout import SCHEMA_VERSION

from .conftest import DATE, FAST


def files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_the_files_and_their_modes(published: Path):
    assert set(files(published)) == {
        "release.csv",
        "manifest.json",
        "report.html",
        "private/report.html",
        "private/dossier.html",
        "private/dossier.json",
        "private/recipe.json",
        "private/rows.csv",
        "private/scorecard.json",
        "private/summary.json",
    }
    assert (published / "private").stat().st_mode & 0o777 == 0o700
    kept = (published / "private").iterdir()
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


def test_the_rows_are_those_of_the_original_in_another_order(published: Path, outcome: Outcome):
    chosen = outcome.decision.chosen.release
    read = read_written(published / "release.csv", "csv")
    features = sorted(chosen.features)
    assert read.columns == [*features, "readmitted"]
    original = chosen.table.only(read.columns).cast(pl.String)
    assert read.height == original.height
    assert not read.equals(original)
    assert sorted(read.rows(), key=str) == sorted(original.rows(), key=str)


def test_nothing_public_tells_of_what_was_held_back(published: Path, outcome: Outcome):
    table = outcome.table
    held = {"patient", "hiv", "viral_load_test", "cd4_count"}
    assert not held & set(outcome.decision.chosen.release.features)
    for name in ("release.csv", "manifest.json", "report.html"):
        text = (published / name).read_text(encoding="utf-8")
        assert not [column for column in held if column in text]
        assert str(FAST.seed) not in text
        assert not [who for who in table.frame["patient"].head(50) if who in text]


def test_the_manifest_says_what_holds(published: Path, outcome: Outcome):
    content = json.loads((published / "manifest.json").read_text())
    assert content["schema_version"] == SCHEMA_VERSION
    assert content["date"] == DATE
    assert content["file"]["rows"] == 500
    assert [c["role"] for c in content["columns"]].count("target") == 1
    table, names = outcome.table, outcome.decision.chosen.release.features
    assert content["held_back"] == table.frame.width - len(names) - 1
    (promise,) = content["promises"]
    assert promise["measured"] >= promise["at_least"] == 5
    assert {m["key"] for m in content["measured"]} == {
        "kept",
        "useful",
        "performance",
        "auc",
        "f_measure",
    }
    assert any("In all released columns together" in words for words in content["not_promised"])


def test_the_manifest_says_who_stands_alone(published: Path, outcome: Outcome):
    content = json.loads((published / "manifest.json").read_text())
    found = content["exposure"]
    rows = read_written(published / "release.csv", "csv").rows()
    assert found["unit"] == content["promises"][0]["unit"] == "people"
    assert found["total"] == 500
    assert found["everything"] == {
        "k": min(rows.count(row) for row in rows),
        "unique": sum(rows.count(row) == 1 for row in rows),
    }
    assert found["known"]["columns"] == sorted(content["promises"][0]["columns"])
    page = (published / "report.html").read_text()
    assert f"{found['everything']['unique']} unique" in page
    private = json.loads((published / "private" / "summary.json").read_text())
    assert private["same_sensitive"] is not None
    assert "same_sensitive" not in content["exposure"]


def test_people_with_several_rows_are_counted_as_people(tmp_path: Path):
    whole = patients(rows=300)
    several = [f"P{i // 3}" for i in range(300)]
    frame = whole.frame.with_columns(patient=pl.Series(several)).drop("zip", "birth_year")
    roles = replace(whole.roles, quasi=("sex",))
    found = consider(Table(frame, roles), replace(FAST, methods={"breach": {"folds": 3}}))
    out = publish(found, tmp_path / "out")
    exposure = verify(out).manifest["exposure"]
    assert (exposure["unit"], exposure["total"]) == ("people", 100)
    assert (exposure["rows"]["unit"], exposure["rows"]["total"]) == ("rows", 300)
    assert (exposure["everything"]["unique"] or 0) <= 100
    page = (out / "report.html").read_text()
    assert "of 100 people" in page
    assert "rows are predicted correctly" in page


def test_the_recipe_holds_the_seed_and_the_scorecard_every_release(
    published: Path, outcome: Outcome
):
    private = published / "private"
    recipe = json.loads((private / "recipe.json").read_text())
    assert recipe["private"]["seed"] == FAST.seed
    assert Settings(**recipe["settings"]).to_dict() == json.loads(json.dumps(FAST.to_dict())) | {
        "attackers": ["nb"]
    }
    card = json.loads((private / "scorecard.json").read_text())
    assert len(card["releases"]) == len(outcome.proposals.releases)
    assert card["floor"]["figures"]["features"]["value"] == 0
    assert card["baseline"]["figures"]["pbi"]["value"] == 0


def test_the_same_inputs_and_seed_give_the_same_bytes(published: Path, tmp_path: Path):
    again = consider(patients(rows=500), FAST)
    publish(again, tmp_path / "out", date=DATE, origin={"name": "stays"})
    assert files(tmp_path / "out") == files(published)


def test_the_order_of_the_rows_leaves_no_trace(outcome: Outcome, published: Path, tmp_path: Path):
    """The chosen release of the table turned around is the same file."""
    chosen = outcome.decision.chosen
    upside_down = Table(chosen.release.table.frame.reverse(), chosen.release.table.roles)
    turned = replace(chosen.release, table=upside_down)
    from tamis.verification.people import arranged

    write_table(arranged(turned.table), tmp_path / "release.csv", "csv")
    assert (tmp_path / "release.csv").read_bytes() == (published / "release.csv").read_bytes()


def test_an_existing_release_stays_when_a_new_one_fails(
    outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = publish(outcome, tmp_path / "out", date=DATE)
    before = files(out)
    for broken in ("render", "summarise", "write_json", "verify"):
        with monkeypatch.context() as patch:
            patch.setattr(f"tamis.publication.bundle.{broken}", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                publish(outcome, out, force=True, date=DATE)
        assert files(out) == before
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _interrupt(*args: object, **options: object) -> None:
    raise KeyboardInterrupt


def test_a_promise_that_the_file_does_not_keep_is_not_published(outcome: Outcome, tmp_path: Path):
    chosen = outcome.decision.chosen
    too_much = KAnonymity(400, columns=chosen.release.features[:1])
    release = replace(chosen.release, promises=(too_much,))
    assessment = replace(chosen.assessment, release=release)
    card, false = outcome.decision.scorecard, replace(chosen, assessment=assessment)
    every = tuple(false if row is chosen else row for row in card.candidates)
    decision = replace(
        outcome.decision, chosen=false, scorecard=replace(card, candidates=every), ranked=every
    )
    with pytest.raises(CannotMeet, match="below 400; nothing was published"):
        publish(replace(outcome, decision=decision), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


HOSTILE = [
    "*",
    "^=.*$",
    "=cmd()",
    "<script>alert(1)</script>",
    'q"uote',
    "\u202eright",
    "x" * 200,
    "😀",
]


def test_a_feature_that_names_every_row_is_refused_at_the_door():
    frame = pl.DataFrame({"who": [f"P{i}" for i in range(60)], "y": ["u", "v"] * 30})
    with pytest.raises(InputError, match=r"'who' \(a different value in nearly every row"):
        consider(Table(frame, Roles(target="y")), FAST)


@pytest.mark.filterwarnings("ignore:the columns teach little")
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_hostile_names_and_labels_are_published_as_they_are(tmp_path: Path, format: Any):
    rows = 240
    columns: dict[str, list[str]] = {
        name: [("=1+1", "</td>", "'b", "d")[(i * (n + 2) // 3) % 4] for i in range(rows)]
        for n, name in enumerate(HOSTILE)
    }
    columns["<b>y</b>"] = [("=yes", "<i>no")[(i % 5) < 2] for i in range(rows)]
    roles = Roles(target="<b>y</b>", quasi=("😀",))
    weights = {"performance": 0.6, "privacy": 0.2, "size": 0.2}
    settings = replace(
        FAST,
        k=2,
        format=format,
        weights=weights,
        methods={"containment": {"ks": [2]}},
        allow_useless=True,
    )
    found = consider(Table(pl.DataFrame(columns), roles), settings)
    out = publish(found, tmp_path / "out")
    assert verify(out).manifest["columns"][-1]["name"] == "<b>y</b>"
    for page in (out / "report.html", out / "private" / "report.html"):
        assert "<script>alert" not in page.read_text(encoding="utf-8")
    if format == "csv":
        lines = (out / "release.csv").read_text(encoding="utf-8").splitlines()
        assert all(not line.startswith("=") and ",=" not in line for line in lines)


def test_truth_values_dates_and_missing_cells_are_published(tmp_path: Path):
    rows = 240
    frame = pl.DataFrame(
        {
            "smokes": [i % 3 == 0 for i in range(rows)],
            "old": [None if i % 7 == 0 else i % 2 == 0 for i in range(rows)],
            "day": pl.Series([i % 4 for i in range(rows)]).cast(pl.Date),
            "y": [(i % 3 == 0) != (i % 11 == 0) for i in range(rows)],
        }
    )
    weights = {"performance": 0.6, "privacy": 0.2, "size": 0.2}
    settings = replace(FAST, weights=weights, methods={"breach": {"folds": 3}, "containment": {}})
    found = consider(Table(frame, Roles(target="y")), settings)
    out = publish(found, tmp_path / "out")
    assert verify(out).manifest["file"]["rows"] == rows


Copy = Callable[..., Path]


def write(out: Path, text: str = "new", force: bool = False) -> None:
    with written_release(out, force=force) as draft:
        (draft / "mark").write_text(text)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_in_the_middle_leaves_what_was_there(copy: Copy, tmp_path, error):
    out = copy()
    before = left(out)

    def fail() -> None:
        with written_release(out, force=True) as draft:
            (draft / "mark").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert left(tmp_path) == [out.name]
    assert left(out) == before


def test_a_release_is_replaced_only_by_force(copy: Copy, tmp_path):
    out = copy()
    with pytest.raises(InputError, match="--force"):
        write(out)
    write(out, force=True)
    assert left(out) == ["mark"]
    assert left(tmp_path) == [out.name]


@pytest.mark.parametrize("private", [True, False])
def test_a_release_without_its_private_part_and_an_empty_folder_are_replaced(
    copy: Copy, tmp_path, private
):
    refuse_existing(copy(private=private), force=True)
    (tmp_path / "empty").mkdir()
    refuse_existing(tmp_path / "empty", force=True)


def test_force_replaces_nothing_but_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    for name in ("file", "link"):
        with pytest.raises(InputError, match="not a folder"):
            refuse_existing(tmp_path / name, force=True)
    with pytest.raises(InputError, match="create it first"):
        refuse_existing(tmp_path / "none" / "out", force=True)


STRANGE: dict[str, Callable[[Path], object]] = {
    "letter.txt": lambda out: (out / "letter.txt").write_text("dear"),
    "photos": lambda out: (out / "photos").mkdir(),
    "private/notes": lambda out: (out / "private" / "notes").write_text("mine"),
    "private/old": lambda out: (out / "private" / "old").mkdir(),
    "private/people.csv": lambda out: (out / "private" / "people.csv").symlink_to("/dev/null"),
    "pipe": lambda out: os.mkfifo(out / "pipe"),
    "release.parquet": lambda out: (out / "release.parquet").symlink_to("release.csv"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_in_the_way_is_named(copy: Copy, name):
    out = copy()
    STRANGE[name](out)
    with pytest.raises(InputError, match=f"contains '{name}', which is not part of a release"):
        refuse_existing(out, force=True)


def test_a_manifest_of_something_else_is_no_release(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "manifest.json").write_text(json.dumps({"name": "a web app"}))
    with pytest.raises(InputError, match=r"not a release as tamis wrote it.*move it elsewhere"):
        refuse_existing(home, force=True)
    (home / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        write(home, force=True)
    assert left(home) == ["manifest.json", "thesis.tex"]


def test_a_release_that_was_changed_is_not_replaced(copy: Copy):
    out = copy()
    (out / "release.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="move it elsewhere") as error:
        refuse_existing(out, force=True)
    assert "release.csv is not the file that was published" in str(error.value)


def test_a_folder_that_appears_meanwhile_is_not_overwritten(tmp_path):
    def race() -> None:
        with written_release(tmp_path / "out", force=False) as draft:
            (draft / "mark").write_text("late")
            write(tmp_path / "out", "early")

    with pytest.raises(InputError, match="already exists"):
        race()
    assert (tmp_path / "out" / "mark").read_text() == "early"
    assert left(tmp_path) == ["out"]


def test_publishing_trains_nothing(outcome: Outcome, analysis: Analysis, tmp_path: Path):
    """Of all functions that run, none is of a learner, a search or an attacker."""
    ran: set[str] = set()
    sys.setprofile(lambda frame, *_: ran.add(frame.f_code.co_filename))
    try:
        out = publish(outcome, tmp_path / "out", analysis=analysis, date=DATE)
    finally:
        sys.setprofile(None)
    assert verify(out).private
    parts = {Path(file).parts for file in ran}
    assert not any("sklearn" in each for each in parts)
    ours = {each[each.index("tamis") + 1 :] for each in parts if "tamis" in each}
    learners = {each for each in ours if each[0] in ("learn", "select", "evaluate", "attack")}
    assert learners <= {
        ("attack", "row_names.py"),  # names of rows, for later releases
        ("evaluate", "figure.py"),  # figures as plain values
        ("evaluate", "retention.py"),  # which measures of rules the settings limit
        ("evaluate", "scorecard.py"),
    }
    assert ("publication", "bundle.py") in ours
