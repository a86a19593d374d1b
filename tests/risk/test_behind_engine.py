"""l, t, likeness and the average risk behind an engine: as in memory, and kept on all rows."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Attacker, read_table
from tamis.coding import coded
from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.people import People
from tamis.publication.bundle import publish
from tamis.require import requirements
from tamis.require.base import Requirements
from tamis.require.diversity import DiversityKind
from tamis.risk.attackers import expose, required_of
from tamis.risk.behind_engine import cells_of, reached_by_all, without_few
from tamis.risk.grouping import grouped
from tamis.risk.suppression import breaking_attackers, rows_left
from tamis.rows.counts import count_cells
from tamis.table import Roles, Table
from tamis.verification.verify import verify
from tests.long import daily
from tests.quick_look import no_trees
from tests.require.plain import counts_of

KINDS: tuple[DiversityKind, ...] = ("distinct", "entropy", "recursive")


def people(rows: int = 80, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "job": [["cook", "judge", None][i] for i in rng.integers(0, 3, rows)],
            "age": rng.integers(2, 5, rows) * 10,
            "pay": pl.Series([[1.5, 3.0, 8.0, None][i] for i in rng.integers(0, 4, rows)]),
            "who": rng.integers(0, rows // 2, rows),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )


@pytest.mark.parametrize(
    ("who", "secret"),
    daily(product((False, True), ("pay", "ill")), (True, "pay")),
)
def test_the_figures_are_those_of_memory(engine, behind, who, secret):
    frame = people()
    identifier = {"identifier": ("who",)} if who else {}
    roles = {"target": "ill", "sensitive": secret, "quasi": ("job", "age")}
    large = behind(engine, frame, **roles, **identifier)
    cells = engine.hold(count_cells(large.frame, large.columns(frame.columns)))
    numbers = (frame["who"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    whose = People.named(numbers, len(numbers)) if who else People.of_rows(frame.height)
    for known in (("job", "age"), ("age",), ()):
        classes = grouped(frame.with_columns(one=pl.lit(1)), [*known, "one"]).keys
        for kind in KINDS:
            asked = requirements(2, l=2, l_kind=kind, t=0.5, max_average_risk=0.5).beyond_k
            wanted = asked.reached(counts_of(classes, frame[secret], whose))
            bound = asked.about(known, secret, number=frame[secret].dtype.is_numeric())
            reached = reached_by_all(bound, large, cells)
            found = {each.name: figure for each, figure in reached.items()}
            assert found == pytest.approx(wanted, abs=1e-12)


def views(asked: dict[str, Any], secrets: tuple[str, ...]) -> Requirements:
    """The same of two attackers, who know other columns, and of each secret."""
    kinds = requirements(**asked)
    found = [
        replace(each, columns=known, attacker=name, secret=secret if each.about_secret else None)
        for name, known in (("one", ("job", "age")), ("two", ("age", "ward")))
        for each in kinds
        for secret in (secrets if each.about_secret else (None,))
    ]
    return Requirements(tuple(found))


def left_in_memory(frame: pl.DataFrame, asked: Requirements, who: bool) -> np.ndarray:
    """The rows that stay, as tables in memory have it."""
    whose = frame["who"].rank("dense").fill_null(0).to_numpy() if who else None
    everybody = People.named(whose, frame.height)
    known = [(c, coded(frame[c])) for c in ("job", "age", "ward")]
    breaking = breaking_attackers(known, asked, frame, everybody)
    return rows_left(frame.height, breaking, everybody)


ASKED: tuple[dict[str, Any], ...] = (
    {"k": 3},
    {"k": 2, "l": 2},
    {"k": 1, "l": 2, "l_kind": "entropy", "t": 0.6},
    {"k": 4, "alpha": 0.7, "beta": 2.0, "max_risk": 0.2},
)


@pytest.mark.parametrize("who", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("asked", daily(ASKED, *ASKED[1:3]), ids=str)
@pytest.mark.parametrize("seed", daily(range(6), 0, 1))
def test_whom_an_engine_leaves_out_memory_leaves_out(engine, behind, who, asked, seed):
    """Groups with missing cells, people with a missing name, two attackers, many secrets."""
    rng = np.random.default_rng(seed)
    rows = 80
    frame = people(rows, seed).with_columns(
        who=pl.Series([None if n == 0 else n for n in rng.integers(0, rows // 2, rows).tolist()]),
        ward=pl.Series([[0.0, -0.0, 1e-9, None][i] for i in rng.integers(0, 4, rows)]),
        many=pl.Series([f"m{i}" for i in rng.integers(0, 60, rows)]),
    )
    need = views(asked, ("pay", "many"))
    left = left_in_memory(frame, need, who)
    roles = {"target": "ill", "quasi": ("job", "age", "ward"), "sensitive": ("pay", "many")}
    large = behind(engine, frame, **roles, **({"identifier": ("who",)} if who else {}))
    cells = cells_of(large, ["job", "age", "ward", "pay", "many"])
    found = without_few(need, large, cells, rows)
    if not left.any():
        assert found is None
        return
    assert found is not None
    whose = frame["who"] if who else pl.Series(range(rows))
    gone = whose.n_unique() - whose.filter(pl.Series(left)).n_unique()
    assert found.people == gone
    kept = engine.small(found.without_gone(large.frame))
    stay = frame.filter(pl.Series(left)).with_columns(pl.col("ward") + 0.0)
    assert sorted(kept.rows(), key=str) == sorted(stay.rows(), key=str)
    assert without_few(need, large, cells, gone) is not None
    assert not gone or without_few(need, large, cells, gone - 1) is None
    if found.gone is not None:
        assert not any(
            each.is_short(figure)
            for each, figure in reached_by_all(need.by_group, large, found.cells).items()
        )


@pytest.mark.parametrize("who", [False, True], ids=["rows", "people"])
def test_each_attacker_sees_what_memory_sees(engine, behind, who):
    frame = people(120)
    identifier: tuple[str, ...] = ("who",) if who else ()
    roles: dict[str, Any] = {
        "target": "ill",
        "sensitive": ("pay", "ill"),
        "identifier": identifier,
    }
    threats = [
        Attacker("one", ["job"], k=30, l=2, t=0.05, max_average_risk=0.02),
        Attacker("two", ["job", "age"], ["pay"], k=2, alpha=0.6),
    ]
    found = [each.to_dict() for each in expose(behind(engine, frame, **roles), threats, 5)]
    wanted = [each.to_dict() for each in expose(read_table(frame, **roles), threats, 5)]
    assert [len(each["limits"]) for each in wanted] == [2, 6]
    for one, two in zip(found, wanted):
        limits, others = one.pop("limits"), two.pop("limits")
        assert one == two
        assert [limit.pop("reached") for limit in limits] == pytest.approx(
            [limit.pop("reached") for limit in others], abs=1e-12
        )
        assert [(n["name"], n["met"]) for n in limits] == [(n["name"], n["met"]) for n in others]


def visits(rows: int = 1500) -> pl.DataFrame:
    """A table that teaches; of five people in a place of their own, all have one secret."""
    rng = np.random.default_rng(0)
    age = rng.integers(0, 4, rows)
    frame = pl.DataFrame(
        {
            "age": age * 10,
            "place": [f"p{i}" for i in rng.integers(0, 3, rows)],
            "dose": np.round(age + rng.normal(size=rows), 1),
            "ill": np.where(age + rng.normal(size=rows) > 1.5, "yes", "no"),
            "pay": rng.choice([1.0, 2.0, 30.0], rows),
        }
    )
    oldest = pl.lit(30, dtype=pl.Int64)
    alike = frame.head(6).with_columns(place=pl.lit("nowhere"), pay=pl.lit(30.0), age=oldest)
    return pl.concat([frame, alike])


ROLES: dict[str, Any] = {"target": "ill", "quasi": ("age", "place")}


@pytest.mark.parametrize(
    ("secret", "asked"),
    [("pay", {"l": 2}), ("ill", {"t": 0.45, "max_average_risk": 0.02})],
    ids=["kept from everybody", "the target"],
)
@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
def test_what_is_asked_is_kept_on_all_rows_and_verified(engine, behind, tmp_path, secret, asked):
    settings = Settings(methods={"breach": {}}, attackers=("nb",), allow_useless=True, **asked)
    large = behind(engine, visits(), sensitive=secret, **ROLES)
    found = consider(large, settings, sample=800)
    with no_trees():
        out = publish(found, tmp_path / "out", date="2026-01-01")
    said = json.loads((out / "manifest.json").read_text())
    kept = json.loads((out / "private" / "recipe.json").read_text())["diversity"]
    entries = said.get("diversity", []) + kept
    assert [entry["key"] for entry in entries] == (
        ["l_diversity"] if secret == "pay" else ["average_risk", "t_closeness"]
    )
    assert ("diversity" in said) == (secret == "ill")
    assert (out / "private" / "secrets.csv").exists() == (secret == "pay")
    assert "pay" not in (out / "manifest.json").read_text()
    promise = said["promises"][0]
    if secret == "pay":  # all six in that place have the same
        assert "place" not in promise["columns"]
        assert entries[0]["measured"] == 3
    verify(out)
    verify(out, engine="polars")


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_what_no_release_keeps_is_refused(engine, behind):
    frame = visits(300).with_columns(pay=pl.lit(1.0))
    large = behind(engine, frame, sensitive="pay", **ROLES)
    asked = Settings(k=2, l=2, methods={"breach": {}}, attackers=("nb",), allow_useless=True)
    with pytest.raises(CannotMeet, match="l = 2"):
        consider(large, asked, sample=200)


def test_recipes_of_tables_in_memory_state_the_same(engine, behind):
    """What is stated of groups has the words and the form of `tamis.verification.secret_groups`."""
    from tamis.publication.streamed import stated_groups
    from tamis.verification.secret_groups import measured_entry, numbered_secrets

    frame = people()
    large = behind(engine, frame, target="ill", sensitive="pay", quasi=("job", "age"))
    settings = Settings(l=2, t=0.9, alpha=0.9, beta=5.0, delta_disclosure=9.0, max_risk=0.5)
    cells = engine.hold(count_cells(large.frame, large.columns(frame.columns)))
    asked = required_of(large.shape, settings.requirements)
    entries = stated_groups(large, reached_by_all(asked, large, cells))
    numbers = numbered_secrets(frame["pay"])
    assert entries[0]["measured"] == grouped(frame, ["job", "age"]).sizes.min()
    assert len(entries) == 7
    for entry in entries[1:]:
        assert entry["measured"] == pytest.approx(measured_entry(entry, frame, numbers)), entry
        assert entry["recount"] == ("private" if "column" in entry else "file")
    assert Table(frame, Roles(target="ill")).unit == entries[0]["unit"]
