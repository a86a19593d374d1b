"""Coarser forms name nothing that fewer than k people have: not in a label, a cut or a file."""

import datetime
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table, read_table
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.learnt_forms import CoarserForm, FinestForm, named_after
from tamis.flow import Settings, consider
from tamis.publication.bundle import publish
from tamis.publication.manifest import stated
from tamis.release import Coarsening
from tamis.verification.labels import wrong_labels
from tamis.verification.verify import verify

from .conftest import DATE

ROWS = 300
OLD = 7_340_033.0


def people(
    rare: tuple[str, str] = ("MARKbard", "MARKfool"), old: float = OLD, year: int = 1811
) -> Table:
    """Ages, jobs, codes and days of which some people have what nobody else has."""
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, ROWS).astype(float)
    job = rng.choice(["cook", "judge", "nurse", "clerk"], ROWS).astype(object)
    ill = age / 40 + np.isin(job, ["cook", "nurse"]) + rng.normal(0, 0.3, ROWS) > 1.7
    days = [
        datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 900, ROWS)
    ]
    code = [
        f"{a}{b:02d}" for a, b in zip(rng.choice(["75", "69"], ROWS), rng.integers(0, 30, ROWS))
    ]
    age[:2], job[2:4], days[4], code[5] = (old, old + 3), rare, datetime.date(year, 3, 7), rare[0]
    frame = pl.DataFrame(
        {
            "age": age,
            "job": job.astype(str),
            "day": days,
            "code": code,
            "secret": rng.choice(["a", "b"], ROWS),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    return Table(frame, Roles("ill", sensitive="secret", quasi=("age", "job", "day", "code")))


def handed_on(table: Table, out: Path, **changes: Any) -> dict[str, bytes]:
    """The public files of the release that has most columns in a coarser form."""
    settings = Settings(methods={"coarsen": {}}, attackers=("nb",), seed=3)
    outcome = consider(table, replace(settings, **changes))
    decision = outcome.decision
    met = [r for r in decision.scorecard.candidates if r.release.name not in decision.failures]
    chosen = max(met, key=lambda row: len(row.release.forms))
    assert len(chosen.release.forms) > 1
    taken = replace(outcome, decision=replace(decision, chosen=chosen))
    folder = publish(taken, out, date=DATE)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return handed_on(people(), tmp_path_factory.mktemp("coarse") / "out")


@pytest.mark.parametrize("changes", [{"format": "parquet"}, {"l": 2}])
def test_what_few_people_have_is_in_no_public_byte(changes, first, tmp_path):
    for files in (first, handed_on(people(), tmp_path / "out", **changes)):
        for name, content in files.items():
            for mark in (b"MARK", b"734003", b"1811"):
                assert mark not in content, f"{mark!r} is in {name}"


@pytest.mark.parametrize(
    "other",
    [
        lambda: people(rare=("zither player", "abbot")),
        lambda: people(old=9_999_999.0),
        lambda: people(year=2400),
    ],
)
def test_another_value_of_one_person_gives_the_same_bytes(
    first: dict[str, bytes], other: Callable[[], Table], tmp_path: Path
):
    assert handed_on(other(), tmp_path / "out") == first


def test_every_cut_and_group_is_of_many(first: dict[str, bytes]):
    columns = json.loads(first["manifest.json"])["columns"]
    forms = {c["name"]: c["coarser"] for c in columns if "coarser" in c}
    table = people().frame
    for value in [v for form in forms.values() for g in form.get("groups", {}).values() for v in g]:
        assert (table["job"] == value).sum() + (table["code"] == value).sum() >= 5
    for cut in forms.get("age", {}).get("cuts", []):
        assert table["age"].min() < cut < 80


def crew(rows: int = 2400) -> Table:
    """Eight astronauts of areas of their own, who earn more than anybody else."""
    rng = np.random.default_rng(5)
    job = rng.choice(["judge", "cook", "nurse", "clerk", "baker", "driver"], rows).astype(object)
    area = rng.choice(["north", "south", "east"], rows).astype(object)
    pay = rng.integers(20, 80, rows)
    job[:8], area[:8], pay[:8] = "astronaut", [f"moon {i}" for i in range(8)], 500 + np.arange(8)
    score = np.isin(job, ["judge", "cook", "astronaut"]) * 2 + (area == "north") * 1.5 + pay / 40
    female = np.isin(job, ["judge", "nurse", "baker"]) ^ (rng.random(rows) < 0.1)
    frame = pl.DataFrame(
        {
            "job": job.astype(str),
            "area": area.astype(str),
            "pay": pay,
            "sex": np.where(female, "f", "m"),
            "ill": np.where(score + rng.normal(0, 0.6, rows) > 2.6, "yes", "no"),
        }
    )
    return Table(frame, Roles("ill", sensitive="sex", quasi=("job", "area", "pay")))


def test_a_learnt_label_names_nobody_who_is_left_out(tmp_path: Path):
    settings = Settings(max_suppressed=0.02, methods={"coarsen": {}}, attackers=("nb",), seed=2)
    outcome = consider(crew(), settings)
    every = outcome.decision.scorecard.candidates
    rows = [row for row in every if "job" in row.release.forms and not row.release.mask[:8].any()]
    assert rows
    for number, row in enumerate(rows):
        taken = replace(outcome, decision=replace(outcome.decision, chosen=row))
        folder = publish(taken, tmp_path / str(number), date=DATE)
        for path in (path for path in folder.iterdir() if path.is_file()):
            assert not {w for w in (b"astronaut", b"moon") if w in path.read_bytes()}
        assert verify(folder).private
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        pay = next(c for c in manifest["columns"] if c["name"] == "pay")
        assert max(pay["coarser"]["cuts"]) < 80
    assert "astronaut" in str(rows[0].release.forms["job"].ladder)  # the holder's has every value


@pytest.mark.parametrize("format", ["csv", "parquet", "xlsx"])
def test_a_written_ladder_names_nobody_who_is_left_out(tmp_path: Path, format: Any):
    """Although the holder wrote a label for them alone, which the recipe keeps."""
    named = {"law": ["judge", "clerk"], "food": ["cook", "baker"], "other": ["nurse", "driver"]}
    ladder = Ladder.from_dict("job", {"groups": named | {"MOONFOLK": ["astronaut"]}})
    settings = Settings(
        max_suppressed=0.02, methods={"coarsen": {}}, attackers=("nb",), seed=2, format=format
    )
    frame = crew().frame.select("job", "sex", "ill")
    frame = pl.concat([frame[:3], frame[8:]])  # three of them
    table = Table(frame, Roles("ill", sensitive="sex", quasi=("job",)))
    outcome = consider(table, settings, ladders={"job": ladder})
    every = outcome.decision.scorecard.candidates
    rows = [row for row in every if "job" in row.release.forms and not row.release.mask[:3].any()]
    assert rows
    taken = replace(outcome, decision=replace(outcome.decision, chosen=rows[0]))
    folder = publish(taken, tmp_path / "out", date=DATE)
    for path in (path for path in folder.iterdir() if path.is_file()):
        parts = [path.read_bytes()]
        if format == "xlsx" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                parts = [packed.read(name) for name in packed.namelist()]
        assert not any(word in part for part in parts for word in (b"astronaut", b"MOONFOLK"))
    assert verify(folder).private
    assert "astronaut" in (folder / "private" / "recipe.json").read_text("utf-8")


values = st.sampled_from(["judge", "cook", "bard", "king", "fool", "page"])


@given(st.lists(values, min_size=4, max_size=60), st.integers(1, 4), st.integers(0, 10**6))
def test_every_value_named_is_one_of_k_released_people(jobs: list[str], k: int, seed: int):
    rng = np.random.default_rng(seed)
    column = pl.Series("job", jobs)
    known = tuple(sorted(set(jobs)))
    groups = np.unique(rng.integers(0, 3, len(known)), return_inverse=True)[1]
    order = {g: i for i, g in enumerate(dict.fromkeys(groups.tolist()))}
    form = CoarserForm(FinestForm(values=known), tuple(order[g] for g in groups.tolist()))
    released = column.filter(pl.Series(rng.random(len(jobs)) < 0.6))
    ladder = named_after(form, released, k)
    if ladder is None:
        return
    said = stated(Coarsening(ladder, 1), released, k)
    cells = Ladder.from_dict("job", ladder).apply(released, 1)
    words = json.dumps([said, cells.to_list()])
    for value in known:
        assert (value in words) <= ((released == value).sum() >= k)
    assert not wrong_labels(cells, said)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_categories_that_no_row_has_stay(format: Any, tmp_path: Path):
    rng = np.random.default_rng(1)
    ward = rng.choice(["west", "east"], ROWS)
    ill = np.where((ward == "west") ^ (rng.random(ROWS) < 0.2), "yes", "no")
    frame = pl.DataFrame(
        {
            "ward": pl.Series(ward.tolist()).cast(pl.Enum(["west", "east", "MARKward"])),
            "ill": pl.Series(ill.tolist()).cast(pl.Enum(["no", "yes", "MARKlabel"])),
        }
    )
    settings = Settings(methods={"front": {}}, attackers=("nb",), format=format)
    folder = publish(consider(read_table(frame, target="ill"), settings), tmp_path / "out")
    assert not [p for p in folder.iterdir() if p.is_file() and b"MARK" in p.read_bytes()]
