"""Attackers of `fuzz/`: each finds what was put there, and nothing in cases as they are."""

from __future__ import annotations

import shutil
import warnings
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson

from fuzz import claims, composition, crafted, undo
from tamis import GaussianNoise, RankSwap, Roles, Settings, Table, verify
from tamis.attack.earlier_releases import EarlierReleases
from tamis.errors import CannotMeet, InputError


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without slow learners, as `fuzz` runs, and for the test alone."""
    for module, name in (
        (import_module("tamis.analyse.examination"), "quick_attack"),
        (import_module("tamis.evaluate.close_look"), "strong_probabilities"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # put back afterwards
    claims.without_close_look()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def first_of(method: str, case: Any) -> int:
    """A number whose case is of that method."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        if (rng.random() < 0.7) == (case is undo.perturbed):
            known = [*undo.AT_RANDOM, *undo.ALIKE] if case is undo.perturbed else undo.RELEASED
            if rng.choice(known) == method:
                return seed
    raise AssertionError(f"no case of {method}")


@pytest.mark.parametrize("method", ["gaussian", "swap", "suppress"])
def test_an_altered_file_is_not_undone(tmp_path, method):
    kind, wrong = undo.try_one(first_of(method, undo.perturbed), tmp_path)
    assert (kind, wrong) == (f"perturb {method}", [])


def test_an_altered_release_is_not_undone(tmp_path):
    kind, wrong = undo.try_one(first_of("noise", undo.released), tmp_path)
    assert (kind, wrong) == ("release, noise", [])


@pytest.mark.parametrize("method", ["uniform", "pram", "flip"])
def test_a_secret_that_is_small_is_found(tmp_path, monkeypatch, method):
    small = SimpleNamespace(randbits=lambda bits: 7)
    monkeypatch.setattr(import_module("tamis.cli.perturb"), "secrets", small)
    _, wrong = undo.try_one(first_of(method, undo.perturbed), tmp_path)
    assert "seed 7 makes the same file again" in wrong


def test_a_release_that_is_drawn_by_its_seed_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(
        Settings, "with_secret", lambda self: replace(self, secret=f"{self.seed:032x}")
    )
    _, wrong = undo.try_one(first_of("swap", undo.released), tmp_path)
    assert "two runs with one seed draw the same file" in wrong
    assert any("makes the same file again" in words for words in wrong)


def test_an_order_of_rows_that_holds_something_is_found(tmp_path, monkeypatch):
    table = import_module("tamis.table")
    sort = table.content_order

    def shuffled(frame: pl.DataFrame, *ties: Any) -> Any:
        return sort(frame, *ties)[np.random.default_rng(3).permutation(frame.height)]

    monkeypatch.setattr(table, "content_order", shuffled)
    _, wrong = undo.try_one(first_of("gaussian", undo.perturbed), tmp_path)
    assert "the order of rows is that of seed 3" in wrong
    monkeypatch.setattr(table, "content_order", lambda frame, *ties: np.arange(frame.height))
    _, wrong = undo.try_one(first_of("microaggregate", undo.perturbed), tmp_path)
    assert "the order of rows is not that of their content" in wrong
    assert "the file depends on the original order of rows" in wrong


@pytest.mark.parametrize(
    ("kind", "level"), [(GaussianNoise, 0.4), (RankSwap, 0.1), (RankSwap, 0.5)]
)
def test_whoever_can_draw_again_in_the_same_order_gets_cells_back(kind, level):
    original = undo.table_at(np.random.default_rng(1), zero_one=False)

    def model(draws: Any) -> Any:
        return kind(level, columns=["dose", "pay"], random_state=draws)

    def altered(draws: Any) -> pl.DataFrame:
        table: Table = model(draws).fit_transform(Table(original, Roles(target="goal")))
        return table.frame

    by_seed = altered(np.random.default_rng(5))
    assert undo.undone(original, by_seed, model, range(8)) == [
        "seed 5 and the file give back original cells, or which were altered"
    ]
    assert undo.undone(original, altered(None), model, range(8)) == []


@pytest.mark.parametrize("pairs", [0.01, 0.1, 0.3, 1, 1.5, 5, 20])
def test_luck_is_not_taken_for_a_leak(pairs):
    """Swapped cells come back in pairs; a hundred seeds are tried in each of thousands of cases."""
    drawn = np.random.default_rng(3).poisson(pairs, (2_000, undo.GUESSES, 1))
    bounds = np.array([undo.beyond_luck(2.0 * guesses, 216) for guesses in drawn])
    assert poisson.sf(bounds / 2, pairs).mean() < 1e-7


def test_all_cells_given_back_are_no_luck_where_a_guess_gives_back_few():
    spread = np.array([[20.0], [48.0]])
    assert undo.beyond_luck(spread, 200) == 158
    assert undo.beyond_luck(spread, 68) == 67
    assert undo.beyond_luck(spread, 67) == 158  # more than half: luck may give back all


def test_seeds_are_read_off_whatever_is_said():
    secret = 0xC0FFEE00C0FFEE00
    assert {41, secret} <= set(undo.seeds_in(f"drawn by 41 into {secret:x}.csv"))


BROKEN = (2, 3, 6)
"""Cases in which files of k each leave fewer than k together."""


@pytest.mark.parametrize("seed", BROKEN)
def test_files_are_counted_together(tmp_path, seed):
    assert composition.try_one(seed, tmp_path)[1] == []


def test_files_that_are_counted_alone_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(EarlierReleases, "check", lambda self, k: None)
    monkeypatch.setattr("tamis.limits._crowds_with_earlier", lambda *given: ())
    folders = [tmp_path / str(seed) for seed in BROKEN]
    for folder in folders:
        folder.mkdir()
    found = [composition.try_one(*case)[1] for case in zip(BROKEN, folders)]
    assert all("below k" in " ".join(wrong) for wrong in found)


def people(*cells: tuple[int, dict[int, Any]]) -> composition.People:
    made = composition.People(np.random.default_rng(0), False, False, True)
    made.width, made.records = 1, [composition.Record(*each) for each in cells]
    return made


def seen(made: composition.People, number: int, contained: bool = False) -> composition.File:
    named: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for record in made.records:
        if number in record.cells:
            cell, goal = record.cells[number]
            who = composition.hashed([("who", f"p{record.who}")])
            whole = [("c0", cell), ("goal", goal), ("who", f"p{record.who}")]
            named.setdefault((who, composition.hashed(whole)), []).append((cell,))
    return composition.File(named, ("c0", "goal", "who"), contained)


def test_candidates_are_counted_by_their_definition():
    both = [(who, {0: ("a", "n"), 1: ("a", "n")}) for who in range(3)]
    came = [(who, {1: ("a", "n")}) for who in (3, 4)]
    made = people(*both, *came)
    assert composition.fewest(made, [seen(made, 0)]) == 3
    assert composition.fewest(made, [seen(made, 0), seen(made, 1)]) == 2
    again = people(*both, (0, {0: ("b", "n"), 1: ("a", "n")}))
    assert composition.fewest(again, [seen(again, 0), seen(again, 1)]) == 1


def test_whoever_has_as_much_is_a_candidate_of_containment():
    made = people(*((who, {0: (cell, "n")}) for who, cell in enumerate("0011")))
    assert composition.fewest(made, [seen(made, 0)]) == 2
    made = people(*((who, {0: (cell, "n")}) for who, cell in enumerate("0111")))
    assert composition.fewest(made, [seen(made, 0)]) == 1
    assert composition.fewest(made, [seen(made, 0, contained=True)]) == 3


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """A csv release without its private part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crafted, "FORMATS", ("csv",))
        return crafted.publish_one(np.random.default_rng(3), tmp_path_factory.mktemp("crafted"))[1]


def passed(folder: Path, seeds: range, *ways: Any) -> list[str]:
    """What a forger changed in copies of a folder, and `verify` did not notice."""
    found: list[str] = []
    for seed in seeds:
        for way in ways:
            copy = folder.with_name(f"{way.__name__}{seed}-{len(found)}")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            what = way(copy, np.random.default_rng(seed))
            with suppress(CannotMeet, InputError):
                found += [what] if what and verify(copy) else []
    return found


def test_a_forged_folder_does_not_pass(intact):
    assert passed(intact, range(8), *dict.fromkeys(crafted.WAYS)) == []


@pytest.mark.parametrize(
    ("check", "way", "what"),
    [
        ("RowsInMemory.wrong_form", crafted.rewrite, "the same rows in other bytes"),
        ("_strange_files", crafted.add_file, "another file"),
        ("_wrong_hashes", crafted.spoil, "a byte of a file"),
        ("is_in_one_form", crafted.respell, "the manifest in other bytes"),
        ("wrong_not_promised", crafted.change_manifest, "not_promised"),
    ],
)
def test_a_check_that_is_gone_is_missed(intact, monkeypatch, check, way, what):
    holds = True if check == "is_in_one_form" else ""
    monkeypatch.setattr(f"tamis.verification.verify.{check}", lambda *given: holds)
    found = passed(intact, range(200 if what == "not_promised" else 12), way)
    assert any(words.startswith(what) for words in found)


@pytest.mark.parametrize("form", ["parquet", "xlsx", "svm", "dta"])
def test_forged_folders_of_other_formats_do_not_pass(tmp_path, monkeypatch, form):
    monkeypatch.setattr(crafted, "FORMATS", (form,))
    monkeypatch.setattr(crafted, "TIMES", 4)
    kind, wrong = crafted.try_one(2, tmp_path)
    assert (kind, wrong) == (f"{form}, 4 changes each", [])
