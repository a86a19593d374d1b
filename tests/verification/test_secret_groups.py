"""l and t of a written release: counted by the definitions, stated only where nothing is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, verify
from tamis.errors import CannotMeet, InputError
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.risk.diversity import l_diversity, t_closeness
from tamis.stated import reached_by_groups, short_of_asked
from tamis.verification.layout import write_json
from tamis.verification.secret_groups import (
    fewest_with_rows,
    numbered_secrets,
    risk_of_rows,
    secret_groups,
    usual_counts,
)
from tests.long import daily


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from([1.0, 2.0, 5.0, None]),
            st.integers(0, 6),
        ),
        min_size=1,
        max_size=25,
    ),
    st.booleans(),
    st.integers(2, 3),
)
def test_two_ways_of_counting_agree(rows, several, least):
    frame = pl.DataFrame(rows, schema=["job", "pay", "who"], orient="row").cast(
        {"job": pl.String, "pay": pl.Float64}
    )
    people = frame["who"].to_numpy() if several else None
    secrets = numbered_secrets(frame["pay"])
    groups = secret_groups(frame.select("job"), secrets, people)
    usual = usual_counts(secrets, people)
    told: dict[str, Any] = {"sensitive": "pay", "quasi": ["job"], "people": people}
    found = l_diversity(frame, recursive_l=least, **told)
    for kind, value in (
        ("distinct", found.distinct),
        ("entropy", found.entropy),
        ("recursive", found.recursive_c),
    ):
        entry = {"key": "l_diversity", "kind": kind, "at_least": least}
        assert reached_by_groups(entry, groups, usual) == pytest.approx(value)
    for distance in ("equal", "ordered"):
        t = t_closeness(frame, distance=distance, **told)
        entry = {"key": "t_closeness", "distance": distance}
        assert reached_by_groups(entry, groups, usual) == pytest.approx(t, abs=1e-12)


def test_a_file_without_known_columns_is_one_group():
    (group,) = secret_groups(pl.DataFrame(), np.array([1, 1, 0]))
    assert (group.people, group.counts) == (3, {0: 1, 1: 2})


def stays(each: int = 1) -> Table:
    """Rows of people whose illness differs among those alike; `each` rows a person."""
    rng = np.random.default_rng(4)
    people = 240
    who = np.repeat(np.arange(people), each)
    sex, job = rng.integers(0, 2, people)[who], rng.integers(0, 3, people)[who]
    lab = rng.normal(size=len(who)).round(1)
    y = np.where(lab + sex + rng.normal(0, 0.4, len(who)) > 0.5, "yes", "no")
    ill = rng.choice(["flu", "cold", "hiv"], len(who))
    frame = pl.DataFrame({"who": who, "sex": sex, "job": job, "lab": lab, "y": y, "ill": ill})
    columns = frame.with_columns(pl.col("sex", "job").cast(pl.String))
    return Table(columns, Roles("y", "ill", quasi=("sex", "job"), identifiers=("who",)))


def without_the_secret(each: int = 1) -> Table:
    roles = Roles("y", quasi=("sex", "job"), identifiers=("who",))
    return Table(stays(each).frame.drop("ill"), roles)


def settings(**asked: Any) -> Settings:
    return Settings(methods={"front": {}}, attackers=("nb",), k=4, **asked)


@cache
def considered(of: Callable[[int], Table], each: int, **asked: Any) -> Outcome:
    return consider(of(each), settings(**asked))


def published(outcome: Outcome, folder: Path) -> tuple[Path, dict[str, Any]]:
    made = publish(outcome, folder / "out", date="2026-11-16")
    return made, json.loads((made / "manifest.json").read_text())


@pytest.mark.parametrize("each", daily([1, 3], 3))
def test_a_secret_that_is_not_released_is_counted_by_the_holder_alone(tmp_path, each):
    folder, manifest = published(considered(stays, each, l=3, t=0.5), tmp_path)
    for name in ("manifest.json", "report.html", "release.csv"):
        text = (folder / name).read_text()
        assert "t-closeness" not in text, name
        assert "hiv" not in text, name
    assert "diversity" not in manifest
    kept = json.loads((folder / "private" / "recipe.json").read_text())["diversity"]
    assert [entry["key"] for entry in kept] == ["l_diversity", "t_closeness"]
    assert kept[0]["measured"] == 3
    assert kept[1]["measured"] <= 0.5
    assert kept[1]["claim"] in (folder / "private" / "report.html").read_text()
    assert (folder / "private" / "secrets.csv").stat().st_mode & 0o077 == 0
    assert "diversity" in [check.name for check in verify(folder).checks]


def test_secrets_that_are_not_those_of_the_rows_are_found(tmp_path):
    folder, _ = published(considered(stays, 1, l=3, t=0.5), tmp_path)
    path = folder / "private" / "secrets.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *sorted(lines)]) + "\n")
    with pytest.raises(CannotMeet, match=r"t_closeness is|l_diversity is"):
        verify(folder)
    path.write_text("\n".join([header, *lines[1:]]) + "\n")
    with pytest.raises(CannotMeet, match="does not hold a secret for each of 240 rows"):
        verify(folder)
    path.unlink()
    with pytest.raises(CannotMeet, match=r"no secrets\.csv"):
        verify(folder)
    shutil.rmtree(folder / "private")
    verify(folder)


@pytest.mark.parametrize("each", daily([1, 3], 3))
def test_where_the_target_is_the_secret_anybody_can_count(tmp_path, each):
    asked: dict[str, Any] = {"l": 2, "l_kind": "recursive", "c": 9.0, "t": 0.9}
    folder, manifest = published(considered(without_the_secret, each, **asked), tmp_path)
    diverse, close = manifest["diversity"]
    assert (diverse["column"], diverse["kind"], close["distance"]) == ("y", "recursive", "equal")
    assert diverse["recount"] == ("file" if each == 1 else "private")
    assert not (folder / "private" / "secrets.csv").exists()
    assert any("t-closeness" in claim for claim in verify(folder).claims)
    assert close["claim"] in (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose manifest states t, not to be changed."""
    outcome = considered(without_the_secret, 1, t=0.9, allow_useless=True)
    return published(outcome, tmp_path_factory.mktemp("stated"))[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measured": 0.0}, "is stated"),
        ({"at_most": 0.0}, "not what was promised"),
        ({"claim": "All are safe."}, "wording"),
        ({"column": "sex"}, "not the target"),
        ({"key": "x_closeness"}, "an invalid '.0.' in diversity"),
        ({"columns": ["nobody"]}, "file lacks"),
    ],
)
def test_what_is_stated_wrongly_is_found(stated, tmp_path, change, words):
    folder = tmp_path / "copy"
    shutil.copytree(stated, folder, ignore=lambda *_: ["private"])
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["diversity"][0] |= change
    write_json(folder / "manifest.json", manifest)
    with pytest.raises(CannotMeet, match=words):
        verify(folder)


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(InputError, match="synthetic rows describe nobody"):
        Settings(l=2, epsilon=1.0)
    with pytest.raises(InputError, match="ordered distance needs numbers"):
        consider(stays(), settings(t=0.5, t_distance="ordered"))


def test_the_terminal_says_what_was_reached():
    from tamis.analyse import analyse
    from tamis.cli.release.outcome_words import words

    outcome = considered(stays, 1, l=3, t=0.5)
    said = words(outcome, analyse(outcome))
    assert any(
        line.endswith(
            "ill has at least 3 different values. Measured: the least diverse group has 3."
        )
        for line in said
    )
    assert any("t-closeness, equal distance). Measured: the farthest" in line for line in said)


ALL: dict[str, Any] = {
    "alpha": 0.9,
    "beta": 2.0,
    "beta_kind": "enhanced",
    "delta_disclosure": 1.2,
    "max_risk": 0.1,
    "max_average_risk": 0.1,
}


@pytest.mark.parametrize("each", [1, 3])
def test_risks_are_stated_and_other_figures_of_a_secret_are_not(tmp_path, each):
    folder, manifest = published(considered(stays, each, **ALL), tmp_path)
    assert [entry["key"] for entry in manifest["diversity"]] == ["max_risk", "average_risk"]
    assert all(p["at_least"] >= 10 for p in manifest["promises"])
    recipe = json.loads((folder / "private" / "recipe.json").read_text())
    assert {e["key"] for e in recipe["diversity"]} == {"alpha", "beta_likeness", "delta_disclosure"}
    words = " ".join(verify(folder).claims)
    assert "with a chance of at most 0.1" in words
    assert "ill" not in words.split()
    recipe["diversity"][0]["at_most"] = 0.01
    write_json(folder / "private" / "recipe.json", recipe)
    with pytest.raises(CannotMeet, match="alpha is"):
        verify(folder)


def test_where_the_target_is_the_secret_all_is_stated_and_counted(tmp_path):
    asked = {"alpha": 0.95, "beta": 3.0, "max_average_risk": 0.2}
    folder, manifest = published(considered(without_the_secret, 1, **asked), tmp_path)
    keys = [entry["key"] for entry in manifest["diversity"]]
    assert keys == ["average_risk", "alpha", "beta_likeness"]
    for place, key in enumerate(keys):
        changed = json.loads(json.dumps(manifest))
        changed["diversity"][place]["measured"] /= 2
        write_json(folder / "manifest.json", changed)
        shutil.rmtree(folder / "private", ignore_errors=True)
        with pytest.raises(CannotMeet, match=f"{key} is"):
            verify(folder)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"alpha": 0.2}, r"alpha = 0\.2 needs 5 values"),
        ({"max_risk": 0.001}, r"max_risk = 0\.001 needs 1,000 people"),
    ],
)
def test_what_no_release_keeps_is_refused(asked, words):
    with pytest.raises(CannotMeet, match=words):
        consider(stays(), settings(**asked, min_kept=0.01))


def test_synthetic_rows_have_no_people_alike():
    with pytest.raises(InputError, match="describe nobody"):
        Settings(epsilon=1.0, max_risk=0.1)


@pytest.mark.parametrize(
    ("entry", "kept", "short"),
    [
        ({"key": "l_diversity", "kind": "recursive", "c": 2.0}, 2.0 - 1e-6, 2.0),
        ({"key": "l_diversity", "kind": "distinct", "at_least": 3}, 3, 2),
        ({"key": "l_diversity", "kind": "entropy", "at_least": 3}, 3.0, 3.0 - 1e-6),
        ({"key": "t_closeness", "at_most": 0.25}, 0.25, 0.25 + 1e-6),
        ({"key": "delta_disclosure", "below": 0.5}, 0.5 - 1e-6, 0.5),
    ],
)
def test_what_is_asked_is_kept_up_to_its_limit_and_no_further(entry, kept, short):
    assert not short_of_asked(entry, kept)
    assert short_of_asked(entry, short)


def test_the_mean_risk_is_the_same_to_the_last_bit():
    """Groups come in any order, and a sum of floats depends on it: a manifest must not."""
    rng = np.random.default_rng(0)
    cells = pl.DataFrame({"a": rng.integers(0, 40, 3000), "b": rng.integers(0, 9, 3000)})
    people = np.arange(3000)
    assert len({risk_of_rows(cells, "mean", people, 3000) for _ in range(30)}) == 1


def test_one_row_and_two_equal_ones_are_not_the_same_to_know():
    cells = pl.DataFrame({"job": ["cook", "cook", "cook"]})
    assert fewest_with_rows(cells, 1, np.array([0, 1, 1])) == 2
    assert fewest_with_rows(cells, 2, np.array([0, 1, 1])) == 1
