"""An engine checks a published folder as memory does, and finds what was changed in it."""

from __future__ import annotations

import json
import os
import re
from itertools import product
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.publication.bundle import publish
from tamis.rows.engines import DuckDB, Engine, Polars
from tamis.table import Roles, Table
from tamis.verification.layout import digest, write_json
from tamis.verification.shape import in_place
from tamis.verification.verify import verify
from tests.long import daily


def visits(rows: int = 400) -> Table:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 4, rows)
    frame = pl.DataFrame(
        {
            "who": rng.integers(0, rows // 2, rows),
            "=age": [
                None if gone else 10 * a for gone, a in zip(rng.random(rows) < 0.1, age.tolist())
            ],
            "place": rng.choice(["p", "'q", "-r", ""], rows),
            "ill": np.where(age + rng.normal(size=rows) > 2, "yes", "no"),
            "pay": [[1.5, 20.0, 300.0, None][i] for i in rng.integers(0, 4, rows)],
        }
    )
    return Table(frame, Roles(target="ill", quasi=("=age", "place"), identifiers=("who",)))


@pytest.fixture(scope="module", params=["csv", "parquet"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the target, t is stated for everybody; of another column, l and t for the holder."""
    table, out = visits(), tmp_path_factory.mktemp("published") / "out"
    asked: dict[str, Any] = {"t": 0.9, "max_average_risk": 0.9}
    if request.param == "csv":
        table = Table(table.frame.drop("pay"), table.roles)
    else:
        table, asked = table.with_roles(sensitive="pay"), asked | {"l": 2, "l_kind": "recursive"}
    settings = Settings(
        k=3, methods={"front": {}}, attackers=("nb",), format=request.param, **asked
    )
    return publish(consider(table, settings), out, date="2026-01-01")


def checked_by(kind: type[Engine], folder: Path) -> Any:
    return verify(folder, engine=kind.name)


@pytest.mark.parametrize(
    ("kind", "private"),
    daily(product([DuckDB, Polars], [True, False]), (DuckDB, True), (Polars, False)),
)
def test_what_memory_finds_right_is_right(folder, tmp_path, kind, private):
    copytree(folder, tmp_path / "out")
    if not private:
        for path in (tmp_path / "out" / "private").iterdir():
            path.unlink()
        (tmp_path / "out" / "private").rmdir()
    found = checked_by(kind, tmp_path / "out")
    assert found.claims == verify(tmp_path / "out", engine="memory").claims
    assert {check.name for check in found.checks} >= {
        "schema",
        "k_anonymity",
        "diversity",
        "exposure",
    }


def changed(folder: Path, place: Path, change: Any) -> Path:
    """A copy whose manifest was changed by somebody who took care of every hash."""
    copytree(folder, place)
    manifest = place / "manifest.json"
    content = json.loads(manifest.read_text())
    change(content, place)
    content["file"]["sha256"] = digest(place / content["file"]["name"])
    write_json(manifest, in_place(content))
    recipe = place / "private" / "recipe.json"
    kept = json.loads(recipe.read_text())
    kept["sha256"] |= {n: digest(place / n) for n in (content["file"]["name"], manifest.name)}
    recipe.write_text(json.dumps(kept))
    os.chmod(recipe, 0o600)
    return place


def more_people(content, place):
    content["promises"][0]["measured"] += 1


def more_rows(content, place):
    content["promises"][0]["rows_measured"] += 1


def fewer_alone(content, place):
    content["exposure"]["rows"]["everything"]["unique"] += 1


def fewer_people_alone(content, place):
    content["exposure"]["total"] -= 1


def another_total(content, place):
    content["file"]["rows"] += 1


def other_people(content, place):
    path = place / "private" / "people.csv"
    path.write_text("\n".join(["person", *["7"] * content["file"]["rows"]]) + "\n")


def lost_people(content, place):
    path = place / "private" / "people.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def one_more_person(content, place):
    with (place / "private" / "people.csv").open("a") as file:
        file.write("7\n")


def other_words(content, place):
    content["promises"][0]["claim"] = "Nobody can be found."


def no_exposure(content, place):
    del content["exposure"]


def closer(content, place):
    """What is stated of t, for everybody or for the holder."""
    path = place / "private" / "recipe.json"
    kept = json.loads(path.read_text())
    for entry in (*content["diversity"], *kept["diversity"]):
        if entry["key"] == "t_closeness":
            entry["measured"] /= 2
    path.write_text(json.dumps(kept))


def less_risky(content, place):
    (entry,) = (e for e in content["diversity"] if e["key"] == "average_risk")
    entry["measured"] /= 2


def unheard_of(content, place):
    content["diversity"][0]["key"] = "perfection"


def known_less(content, place):
    for said in (content["exposure"], content["exposure"]["rows"]):
        said["known"]["columns"] = []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (more_people, "in people, but the manifest says"),
        (more_rows, "but the manifest says"),
        (fewer_alone, "unique of everything"),
        (fewer_people_alone, "the total is"),
        (another_total, "rows, but the manifest says"),
        (other_people, "in people, but the manifest says"),
        (lost_people, "does not hold a person for each row"),
        (one_more_person, "more lines than the file has rows"),
        (other_words, "the wording of the promise"),
        (no_exposure, "does not say who is unique"),
        (known_less, "of known is"),
        (closer, "t_closeness is"),
        (less_risky, "average_risk is"),
        (unheard_of, "an invalid '[0]' in diversity"),
    ],
)
@pytest.mark.parametrize("folder", daily(["csv", "parquet"], "parquet"), indirect=True)
def test_what_was_changed_is_found(folder, tmp_path, change, words):
    place = changed(folder, tmp_path / "out", change)
    with pytest.raises(CannotMeet) as caught:
        checked_by(Polars, place)
    assert words in str(caught.value)
    people = "does not hold a person for each of"
    in_memory = people if change in (lost_people, one_more_person) else words
    with pytest.raises(CannotMeet, match=re.escape(in_memory)):
        verify(place)


def test_a_column_like_an_identifier_is_found(folder, tmp_path):
    def number(content: dict[str, Any], place: Path) -> None:
        path = place / content["file"]["name"]
        csv = content["file"]["format"] == "csv"
        rows = pl.read_csv(path, infer_schema=False) if csv else pl.read_parquet(path)
        rows = rows.insert_column(-1, pl.Series("z", range(rows.height)))
        (rows.write_csv if csv else lambda p: rows.write_parquet(p, statistics=False))(path)
        entry = {"name": "z", "header": "z", "kind": "number", "role": "feature", "stated": False}
        content["columns"].insert(-1, entry)

    place = changed(folder, tmp_path / "out", number)
    with pytest.raises(CannotMeet, match=r"'z' \(a different value in nearly every row\)"):
        checked_by(Polars, place)


def test_every_check_of_memory_is_made(folder, tmp_path):
    names = [check.name for check in verify(folder).checks]
    assert [check.name for check in checked_by(Polars, folder).checks] == names


def test_rows_that_were_left_out_are_checked(folder, tmp_path):
    def leave_out(content: dict[str, Any], place: Path) -> None:
        content["suppressed"] = {"unit": "people", "share_at_most": 0.01}

    with pytest.raises(CannotMeet, match="whether anybody is left out"):
        checked_by(Polars, changed(folder, tmp_path / "out", leave_out))


def test_what_only_memory_can_check_is_said(tmp_path, folder):
    def promise(content: dict[str, Any], place: Path) -> None:
        content["promises"][0]["key"] = "containment_anonymity"

    with pytest.raises(CannotMeet, match="--engine memory"):
        checked_by(Polars, changed(folder, tmp_path / "out", promise))


@pytest.mark.parametrize("change", ["another value", "one line more"])
def test_other_secrets_are_found(folder, tmp_path, change):
    """The holder's numbers are counted again: all alike, or more than there are rows."""

    def alike(content: dict[str, Any], place: Path) -> None:
        path = place / "private" / "secrets.csv"
        if not path.exists():
            pytest.skip("the target is the sensitive column, which is in the file")
        rows = content["file"]["rows"] + (change == "one line more")
        path.write_text("\n".join(["secret", *["1"] * rows]) + "\n")

    place = changed(folder, tmp_path / "out", alike)
    for check in (lambda: checked_by(DuckDB, place), lambda: verify(place)):
        with pytest.raises(CannotMeet, match=r"l_diversity is inf|secrets.csv"):
            check()
