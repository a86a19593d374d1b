"""l, t, likeness and the average risk behind an engine: as in memory, and kept on all rows."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.people import People
from tamis.publication.bundle import publish
from tamis.require import requirements
from tamis.require.diversity import DiversityKind
from tamis.risk.behind_engine import reached_beyond_k
from tamis.risk.grouping import grouped
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
            assert reached_beyond_k(asked, large, cells, known) == pytest.approx(wanted, abs=1e-12)


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
    found = reached_beyond_k(settings.requirements.beyond_k, large, cells, ("job", "age"))
    sizes = grouped(frame, ["job", "age"]).sizes
    risks, secrets = stated_groups(settings, large, ["job", "age"], int(sizes.min()), found)
    numbers = numbered_secrets(frame["pay"])
    for entry in (*risks, *secrets):
        assert entry["measured"] == pytest.approx(measured_entry(entry, frame, numbers)), entry
        assert entry["recount"] == ("file" if entry in risks else "private")
    assert Table(frame, Roles(target="ill")).unit == secrets[0]["unit"]
