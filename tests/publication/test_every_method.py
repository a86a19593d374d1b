"""Every method of the catalogue keeps every requirement of every attacker; none can forget one.

What a release leaves of an attacker's guesses is counted here from cells, by the definitions. A
release is accepted if that count meets all that is asked, and only then, whatever method made it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Attacker, Settings, consider, publish, read_table, verify
from tamis.catalogue.methods import METHODS
from tamis.errors import CannotMeet, InputError
from tamis.outcome import Outcome
from tamis.propose import method_class
from tamis.propose.problem import Problem
from tamis.propose.unaltered import KeptToldFront
from tamis.release import Recipe, Release, released
from tests.publication.test_named_attacker import shows

SECRETS = ("hiv", "ward")
CASES: dict[str, dict[str, Any]] = {
    "front": {},
    "coarsen": {},
    "breach": {"search": "forward", "folds": 2},
    "containment": {"utilities": ["difference"]},
    "flip": {"ks": [8, 40]},
    "noise": {"kind": "uniform", "levels": [0.05, 0.4]},
    "microaggregate": {"ks": [4, 60]},
    "suppress": {"ks": [5, 60]},
    "swap": {"levels": [0.05, 0.5]},
    "pram": {"levels": [0.05, 0.4]},
    "shift": {"levels": [1, 3]},
}
"""How each method is asked, so that it proposes releases that keep all, and others that do not."""
OF_BITS = {"containment", "flip"}
ONE = Attacker("one", ["age", "sex"], ["hiv"], k=9, l=2)
TWO = Attacker("two", ["sex", "admitted"], ["ward"], k=8, t=0.34)
THREE = Attacker("three", ["visits"], k=5, max_risk=0.05)
LEAST = {"one": 9, "two": 8, "three": 20}  # a risk of 1 in 20 is 20 people


def people(bits: bool, rows: int = 900) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    age, visits = rng.integers(1, 5, rows), rng.integers(1, 4, rows)
    sex = rng.integers(0, 2, rows)
    days = rng.integers(0, 3, rows)
    ill = rng.random(rows) < 0.1 + 0.15 * age
    hiv = rng.random(rows) < 0.15 + 0.2 * sex
    cells: dict[str, Any] = {"age": age, "sex": sex, "visits": visits, "admitted": days}
    if bits:
        cells = {name: (column > np.median(column) - 0.5) * 1 for name, column in cells.items()}
    else:
        cells["sex"] = np.where(sex, "f", "m")
        cells["admitted"] = [date(2024, 1, 1) + timedelta(days=int(day)) for day in days]
    return pl.DataFrame(
        {
            **cells,
            "hiv": np.where(hiv, "yes", "no"),
            "ward": rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2]),
            "ill": np.where(ill, "yes", "no"),
        }
    )


def crowds(frame: pl.DataFrame, known: tuple[str, ...]) -> list[list[int]]:
    """The rows of each group alike in all that shows something of what is known."""
    names = [name for name in frame.columns if shows(name, {*known})]
    found = defaultdict(list)
    for number, row in enumerate(frame.select(names).rows() or [()] * frame.height):
        found[row].append(number)
    return [*found.values()]


def distance(some: list[str], every: list[str]) -> float:
    """How far the shares of a group are from those of all: t."""
    usual, own = Counter(every), Counter(some)
    return sum(max(0.0, own[v] / len(some) - n / len(every)) for v, n in usual.items())


def is_kept(frame: pl.DataFrame, hiv: list[str], ward: list[str]) -> bool:
    """Whether released rows keep what is asked, given the secrets of the same people."""
    for attacker in (ONE, TWO, THREE):
        groups = crowds(frame, attacker.knows)
        if min(map(len, groups)) < LEAST[attacker.name]:
            return False
        if attacker is ONE and min(len({hiv[row] for row in rows}) for rows in groups) < 2:
            return False
        if attacker is TWO:
            farthest = max(distance([ward[row] for row in rows], ward) for rows in groups)
            if farthest > 0.34 + 1e-9:
                return False
    return True


def asked(name: str, suppressed: float = 0.0) -> Settings:
    return Settings(
        k=2,
        threats=(ONE, TWO, THREE),
        methods={name: CASES.get(name, {})},
        max_suppressed=suppressed,
        attackers=("nb",),
        allow_useless=True,
        secret="5e" * 16,
    )


def considered(name: str, suppressed: float) -> tuple[Outcome, pl.DataFrame]:
    frame = people(name in OF_BITS)
    table = read_table(frame, target="ill", sensitive=SECRETS, person=())
    return consider(table, asked(name, suppressed)), frame


def test_every_method_of_the_catalogue_is_here() -> None:
    """Synthetic rows describe nobody, so nobody can ask for attackers beside them."""
    assert {*CASES} == {name for name, record in METHODS.items() if not record.synthetic}
    with pytest.raises(InputError, match="either attackers or epsilon"):
        Settings(threats=(ONE,), epsilon=1.0)


@pytest.mark.parametrize("suppressed", [0.0, 0.05])
@pytest.mark.parametrize("name", CASES)
def test_what_is_accepted_keeps_all_that_every_attacker_is_asked(
    name: str, suppressed: float
) -> None:
    found, frame = considered(name, suppressed)
    candidates = found.decision.scorecard.candidates
    assert candidates
    accepted = 0
    for row in candidates:
        release = row.release
        secrets = (frame[c].filter(release.mask).to_list() for c in SECRETS)
        assert is_kept(release.table.frame, *secrets) == (
            release.name not in found.decision.failures
        ), release.name
        accepted += release.name not in found.decision.failures
    assert accepted, "no release keeps all, so nothing was tried"


@pytest.mark.parametrize("name", CASES)
def test_what_is_published_is_what_was_accepted(name: str, tmp_path: Path) -> None:
    found, _ = considered(name, 0.05)
    folder = publish(found, tmp_path / "out")
    content = verify(folder).manifest
    assert {entry.get("attacker") for entry in content["promises"]} >= {*LEAST}
    rows = pl.read_csv(folder / "release.csv", infer_schema=False)
    texts = (folder / "private" / "secrets.csv").read_text().splitlines()
    hiv, ward = (list(each) for each in zip(*(line.split(",") for line in texts[1:])))
    assert is_kept(rows, hiv, ward)


class Forgetful(KeptToldFront):
    """Proposes all columns as they are, and says nothing of what must hold."""

    def propose(self, problem: Problem) -> list[Release]:
        table = problem.table
        return [released(table, table.features, "all of it", Recipe("front", {"search": "beam"}))]


@pytest.mark.parametrize(
    ("threats", "lacking"),
    [
        ((), "k = 2 requires 2 people alike"),
        ((Attacker("one", ["age", "job"], k=4),), "one: k = 4 requires 4 people alike"),
        ((Attacker("one", ["age", "job"], k=1, l=2),), "one: l = 2 is asked for"),
        ((Attacker("one", ["age", "job"], k=1, alpha=0.9),), "one: alpha"),
    ],
)
def test_a_method_that_forgets_what_is_asked_is_held_to_it(
    monkeypatch: pytest.MonkeyPatch, threats: tuple[Attacker, ...], lacking: str
) -> None:
    monkeypatch.setattr("tamis.propose.method_class", lambda name: Forgetful)
    assert method_class("front") is KeptToldFront
    frame = people(bits=False, rows=60).with_columns(job=pl.Series(range(60)) % 29)
    table = read_table(frame, target="ill", sensitive=SECRETS, person=())
    how: dict[str, Any] = {"methods": {"front": {}}, "attackers": ("nb",), "allow_useless": True}
    with pytest.raises(CannotMeet, match=lacking):
        consider(table, Settings(k=2, threats=threats, **how))
