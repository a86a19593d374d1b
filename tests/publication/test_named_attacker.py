"""k holds for the attacker whom the holder named, who knows the zeros of a column, too.

Crowds are counted here from released cells alone: everything that shows something of a named
column is grouped by its values, whatever method made it.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import Roles, Table, read_table, verify
from tamis.attack.linkage import linkage
from tamis.attack.scene import Scene
from tamis.attack.sources import in_its_terms, known_in_its_terms
from tamis.errors import CannotMeet
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.flow import Settings, consider
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.holdout import HoldOut, column_labels
from tamis.propose import methods, propose
from tamis.propose.problem import Problem
from tamis.publication.bundle import publish
from tamis.release import Release
from tamis.require import requirements
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.suppression import Suppression
from tamis.verification.checks import recounted
from tamis.verification.claims import not_promised
from tamis.verification.layout import digest
from tests.verification.forged import edited

EIGHT = [f"q{i}" for i in range(8)]
QUICK: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True}


def yes_no(rows: int = 1_000, seed: int = 3) -> pl.DataFrame:
    """Eight yes/no columns that go together: rare combinations are of few people."""
    rng = np.random.default_rng(seed)
    ill = rng.normal(size=rows)
    answers = {
        name: np.where(rng.random(rows) < 1 / (1 + np.exp(1 + 0.2 * i - 0.8 * ill)), "yes", "no")
        for i, name in enumerate(EIGHT)
    }
    label = np.where(rng.random(rows) < 1 / (1 + np.exp(-1.5 * ill)), "ill", "well")
    return pl.DataFrame({**answers, "y": label})


def shows(name: str, named: set[str]) -> bool:
    """Whether a released column shows something of a named one, by how such columns are named."""
    return name in named or any(name.startswith((f"{c} ", f"{c}_")) for c in named)


def smallest_crowd(frame: pl.DataFrame, named: set[str]) -> int:
    known = [name for name in frame.columns if shows(name, named)]
    if not known:
        return frame.height
    return min(Counter(frame.select(known).rows()).values())


def crowd_of(folder: Path, named: set[str]) -> int:
    return smallest_crowd(pl.read_csv(folder / "release.csv", infer_schema=False), named)


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


@pytest.fixture(scope="module")
def table() -> Table:
    return read_table(yes_no(), target="y", quasi=EIGHT)


@pytest.fixture(scope="module")
def folder(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in which containment won: no other method was asked."""
    asked = Settings(methods={"containment": {"utilities": ["difference"]}}, **QUICK)
    return publish(consider(table, asked), tmp_path_factory.mktemp("named") / "out")


def test_eight_named_yes_no_columns_hide_everybody_by_default(table, tmp_path):
    out = publish(consider(table, Settings(**QUICK)), tmp_path / "out")
    assert crowd_of(out, set(EIGHT)) >= 5


@pytest.mark.parametrize("absences", [0, 1])
def test_a_release_by_containment_leaves_k_alike_in_named_columns(table, tmp_path, absences):
    one = {"containment": {"utilities": ["difference"]}}
    asked = Settings(absences=absences, methods=one, **QUICK)
    out = publish(consider(table, asked), tmp_path / "out")
    assert any(" = " in c["name"] for c in manifest_of(out)["columns"])
    assert crowd_of(out, set(EIGHT)) >= 5
    assert verify(out).manifest["promises"][0]["key"] == "k_anonymity"


def test_the_manifest_says_what_attackers_know(folder):
    said = manifest_of(folder)
    features = [c for c in said["columns"] if c["role"] == "feature"]
    assert {c["made_of"] for c in features} <= set(EIGHT)
    equal, contained = said["promises"]
    assert (equal["key"], contained["key"]) == ("k_anonymity", "containment_anonymity")
    assert equal["columns"] == sorted(c["name"] for c in features)
    known = said["exposure"]["known"]
    assert (known["columns"], known["kind"]) == (equal["columns"], "equal")
    assert known["k"] == crowd_of(folder, set(EIGHT)) == equal["measured"]


def forged(folder: Path, copy: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A folder whose manifest was changed, and its hash with it."""
    shutil.copytree(folder, copy)
    edited(copy, change)
    path = copy / "private" / "recipe.json"
    recipe = json.loads(path.read_text())
    recipe["sha256"]["manifest.json"] = digest(copy / "manifest.json")
    path.write_text(json.dumps(recipe))
    return copy


def counted_by_containment(content: dict[str, Any], frame: pl.DataFrame) -> None:
    """Who is unique as it would be, were zeros unknown."""
    said = content["exposure"]
    columns = said["known"]["columns"]
    figures: dict[str, Any] = recounted(frame, columns, "containment", "y")
    figures["known"] |= {"columns": columns, "kind": "containment"}
    said |= figures


@pytest.mark.parametrize(
    ("promised", "message"),
    [
        (1, "no k-anonymity over all such columns is promised"),
        (0, "counted by other rows than are promised: equal ones"),
    ],
)
def test_verify_rejects_crowds_by_containment_over_named_columns(
    folder, tmp_path, promised, message
):
    frame = pl.read_csv(folder / "release.csv", infer_schema=False)

    def weaken(content: dict[str, Any]) -> None:
        content["promises"] = content["promises"][promised:]
        counted_by_containment(content, frame)

    with pytest.raises(CannotMeet, match=message):
        verify(forged(folder, tmp_path / "out", weaken))


def test_only_who_holds_the_recipe_knows_which_columns_were_named(folder, tmp_path):
    open_folder = shutil.copytree(folder, tmp_path / "out")
    shutil.rmtree(open_folder / "private")
    assert verify(open_folder).claims


def test_attackers_who_know_a_column_match_its_zeros():
    """Released alone, `job = cook` finds whoever lacks it as surely as whoever has it."""
    jobs = ["cook"] * 9 + ["judge"]
    frame = pl.DataFrame({"job": jobs, "age": range(10), "y": ["a", "b"] * 5})
    original = Table(frame, Roles(target="y", quasi=("job",)))
    release = Table(pl.DataFrame({"job = cook": [1.0] * 9 + [0.0], "y": frame["y"]}))
    scene = Scene(in_its_terms(original, release), release)
    assert scene.known_columns == ("job = cook",)
    (found,) = linkage(scene, ())
    assert found.success.value == pytest.approx((1 + 9 * (1 / 9)) / 10)
    known = known_in_its_terms(["job"], original, release)
    assert Scene(in_its_terms(original, release), release, known=known).known_columns == (
        "job = cook",
    )


def test_zero_one_columns_that_were_named_are_counted_by_equality(tmp_path):
    bits = yes_no().with_columns(pl.col(EIGHT) == "yes")
    named = read_table(bits.with_columns(pl.col(EIGHT).cast(pl.Int8)), target="y", quasi=EIGHT)
    out = publish(consider(named, Settings(**QUICK)), tmp_path / "out")
    assert crowd_of(out, set(EIGHT)) >= 5
    assert manifest_of(out)["exposure"]["known"]["kind"] == "equal"


def test_zero_one_records_whose_columns_nobody_named_are_counted_by_containment():
    bits = yes_no(300).with_columns((pl.col(EIGHT) == "yes").cast(pl.Int8))
    problem = problem_of(read_table(bits, target="y"), 5)
    found = propose(problem, methods({"containment": {}, "front": {}}))
    assert found.releases
    assert all(release.by_containment for release in found.releases)


def test_containment_alone_is_promised_to_who_asks_for_nothing_else():
    only = {"containment": {"utilities": ["difference"]}}
    plain = read_table(yes_no(), target="y")
    found = consider(plain, Settings(methods=only, **QUICK))
    assert found.release.by_containment
    found = consider(plain, Settings(methods={**only, "front": {}}, **QUICK))
    assert not any(row.release.by_containment for row in found.decision.scorecard.candidates)


ALL: dict[str, dict[str, Any]] = {
    "front": {},
    "breach": {"search": "forward", "folds": 2, "most": 2},
    "containment": {"utilities": ["difference", "distcnt"]},
    "coarsen": {"most": 2},
    "flip": {},
    "noise": {"levels": [0.2]},
    "microaggregate": {},
    "suppress": {},
    "pram": {"levels": [0.2]},
}


def problem_of(table: Table, k: int, **more: Any) -> Problem:
    labels = column_labels(table, table.target)
    split = HoldOut.drawn(labels)
    yardstick = BitsScorer.of(table, split, labels)
    weights = {"performance": 0.5, "privacy": 0.25, "size": 0.25}
    model = AdditiveNaiveBayes()
    return Problem(table, split, k, model, weights=weights, yardstick=yardstick, **more)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(24, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = draw(st.lists(st.sampled_from([2, 2, 2, 3, 4, 9]), min_size=2, max_size=5))
    as_bits = draw(st.booleans()) and max(values) == 2
    y = rng.permutation(np.arange(rows) % 2)
    cells: dict[str, Any] = {}
    for number, amount in enumerate(values):
        codes = np.where(rng.random(rows) < 0.4, y, rng.integers(0, amount, rows))
        name = "abcde"[number]
        numbers = as_bits or amount > 4  # more than that become intervals
        cells[name] = codes if numbers else pl.Series([f"v{c}" for c in codes])
    named = draw(st.sets(st.sampled_from(sorted(cells)), min_size=1))
    frame = pl.DataFrame({**cells, "y": np.where(y, "u", "v")})
    return Table(frame, Roles(target="y", quasi=tuple(sorted(named))))


def holds(release: Release) -> bool:
    """Whether a release keeps each of its promises, by their definitions; others are refused."""
    return all(_reached(release, promise) >= promise.k for promise in release.promises)


def _reached(release: Release, promise: Any) -> int:
    if not promise.columns:
        return release.table.rows
    rows = release.table.only(promise.columns).rows()
    if promise.key == "k_anonymity":
        return min(Counter(rows).values())
    X = np.array(rows)
    return min(int((row <= X).all(axis=1).sum()) for row in X)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(tables(), st.integers(2, 5), st.sampled_from([0, 0, 1, 2]), st.booleans())
def test_whatever_method_wins_k_are_alike_in_all_that_shows_named_columns(
    table, k, absences, leave_out
):
    few = None
    if leave_out and not absences:
        few = Suppression(table.rows // 10, requirements(k=k), table.frame)
    problem = problem_of(table, k, absences=absences, suppression=few)
    named = set(table.roles.quasi or ())
    found = propose(problem, methods(ALL))
    for release in found.releases:
        if holds(release):
            crowd = smallest_crowd(release.table.frame, named)
            assert crowd >= k, f"{release.name} leaves a crowd of {crowd}"


def test_what_is_not_promised_fits_what_is():
    """Zeros are left open by containment alone, or in columns that nobody is assumed to know."""

    def said(*promises: KAnonymity) -> str:
        entries = [promise.to_dict("people") for promise in promises]
        return " ".join(not_promised(entries, alone=False, sensitive_released=False))

    contained = ContainmentAnonymity(5, columns=("a", "b"))
    assert "Anonymity by containment covers" in said(contained)
    some = said(KAnonymity(5, columns=("a",)), contained)
    assert "In columns that attackers are assumed not to know, anonymity by containment" in some
    assert "containment" not in said(KAnonymity(5, columns=("a", "b")), contained)
