"""Published releases of altered values: what the manifest says, and what verify finds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider, k_anonymity, publish, verify
from tamis.attack.inference import undo
from tamis.attack.sources import altered_by
from tamis.errors import CannotMeet, InputError
from tamis.verification.layout import write_json

METHODS: dict[str, dict[str, Any]] = {
    "microaggregate": {"ks": [6]},
    "suppress": {"ks": [6]},
    "swap": {"levels": [0.1]},
    "pram": {"levels": [0.3]},
}
TAKEN = {"swap": "rank swapping, 0.1", "pram": "PRAM, 0.3"}
SEED = 987654
SECRET = "5e" * 16


def people(rows: int = 260) -> Table:
    rng = np.random.default_rng(2)
    age = rng.integers(20, 60, rows)
    frame = pl.DataFrame(
        {
            "age": age,
            "job": rng.choice(["cook", "judge", "smith"], rows),
            "beds": rng.integers(1, 5, rows),
            "ill": np.where(age + rng.normal(0, 5, rows) > 40, "yes", "no"),
        }
    )
    return Table(frame, Roles(target="ill", quasi=("age", "job")))


@pytest.fixture(scope="module", params=sorted(METHODS))
def made(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    name = request.param
    k = 1 if name in ("swap", "pram") else 3
    settings = Settings(
        k=k,
        methods={name: METHODS[name]},
        attackers=("nb",),
        seed=SEED,
        secret=SECRET,
        allow_useless=True,
        take=TAKEN.get(name),
    )
    folder = tmp_path_factory.mktemp(name) / "out"
    return name, publish(consider(people(), settings), folder, date="2026-11-16")


def test_the_manifest_says_what_was_altered_and_how_but_not_the_seed(made) -> None:
    name, folder = made
    text = (folder / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["method"]["name"] == name
    assert set(manifest["method"]["parameters"]["columns"]) <= {"age", "job", "beds"}
    for shared in ("manifest.json", "report.html", "release.csv"):
        assert str(SEED) not in (folder / shared).read_text()
        assert SECRET not in (folder / shared).read_text()
    assert "method" in [check.name for check in verify(folder).checks]
    written = pl.read_csv(folder / "release.csv")
    if name in ("microaggregate", "suppress"):
        assert k_anonymity(written, ["age", "job"]) >= 6
        assert "changed on purpose" not in text
    else:
        assert "changed on purpose" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": ["nobody"]}, "no feature of the file"),
        ({"columns": ["ill"]}, "no feature of the file"),
        ({"columns": ["age", "beds"]}, "no such anonymity"),
        ({"k": 50}, "no such anonymity"),
        ({"columns": ["job", "beds", "age"]}, "once each, in the order of their names"),
        ({"columns": ["age", "age", "beds", "job"]}, "once each, in the order of their names"),
    ],
)
@pytest.mark.parametrize("made", ["suppress"], indirect=True)
def test_what_is_said_wrongly_of_the_method_is_found(made, tmp_path, change, words) -> None:
    _, folder = made
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=lambda *_: ["private"])
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["method"]["parameters"] |= change
    write_json(copy / "manifest.json", manifest)
    with pytest.raises(CannotMeet, match=words):
        verify(copy)


def test_an_attacker_alters_the_release_again_by_what_the_manifest_says(made) -> None:
    _, folder = made
    alter = altered_by(json.loads((folder / "manifest.json").read_text())["method"])
    assert alter is not None
    scores = undo(people(), alter, most=200)
    assert scores
    assert all(score.attacker.startswith("reconstruction of altered") for score in scores)


def test_a_manifest_that_does_not_say_how_far_is_refused() -> None:
    with pytest.raises(InputError, match="how far swap altered values: it lacks 'within', 'col"):
        altered_by({"name": "swap", "parameters": {}})
    with pytest.raises(InputError, match="it lacks 'k', 'columns'"):
        altered_by({"name": "microaggregate", "parameters": {"k": "5"}})
