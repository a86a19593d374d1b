"""Absences as a promise: chosen, stated, counted again by other code, and never weakened."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import read_table, verify
from tamis.errors import CannotMeet, InputError
from tamis.flow import Settings, consider
from tamis.publication.bundle import publish
from tamis.require.k import ContainmentAnonymity
from tamis.risk.containment import absence_anonymity
from tamis.stated import MOST_ABSENCES
from tamis.verification.checks import containment_by_bitmaps
from tamis.verification.claims import not_promised
from tests.verification.forged import edited

rows = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=9
    )
)


def by_definition(cells: np.ndarray, absences: int, people: np.ndarray) -> int:
    least = len(set(people))
    for row in cells:
        lacked = np.flatnonzero(row == 0)
        for many in range(min(absences, len(lacked)) + 1):
            for out in combinations(lacked, many):
                fits = (cells >= row).all(axis=1) & (cells[:, list(out)] == 0).all(axis=1)
                least = min(least, len(set(people[fits])))
    return least


@given(rows, st.integers(0, 4), st.data())
def test_the_recount_is_that_of_the_definition_and_of_the_search(cells, absences, data):
    table = np.array(cells, dtype=np.uint8)
    frame = pl.DataFrame(table, schema=[f"c{i}" for i in range(table.shape[1])], orient="row")
    several = data.draw(st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells)))
    for people in (None, np.array(several)):
        whose = np.arange(len(cells)) if people is None else people
        expected = by_definition(table, absences, whose)
        assert containment_by_bitmaps(frame, people, absences) == expected
        assert absence_anonymity(table, absences, people=people) == expected


def crowds(*kinds: tuple[int, list[int]]) -> list[list[int]]:
    return [row for many, row in kinds for _ in range(many)]


def unlike(width: int) -> list[list[int]]:
    """Who has nothing is alone once everything is known to be lacking, and not before."""
    return crowds((1, [0] * width), *((10, row) for row in np.eye(width, dtype=int).tolist()))


OVERLAPPING = crowds(
    (1, [0, 0, 0]), (15, [1, 1, 0]), (15, [1, 0, 1]), (10, [0, 1, 0]), (10, [0, 0, 1])
)
"""The first column takes most people out; only the second and the third together take all."""


@pytest.mark.parametrize(
    ("cells", "absences", "fewest"),
    [
        *((unlike(width), width, 1) for width in range(1, 5)),
        *((unlike(width), width - 1, 10) for width in range(1, 5)),
        (OVERLAPPING, 1, 10),
        (OVERLAPPING, 2, 1),
        (OVERLAPPING, 4, 1),
    ],
)
def test_every_known_absence_counts_up_to_the_last(cells, absences, fewest):
    table = np.array(cells, dtype=np.uint8)
    frame = pl.DataFrame(table, schema=[f"c{i}" for i in range(table.shape[1])], orient="row")
    for people in (None, np.arange(len(cells))):
        assert containment_by_bitmaps(frame, people, absences) == fewest
        assert absence_anonymity(table, absences, people=people) == fewest
    assert by_definition(table, absences, np.arange(len(cells))) == fewest


def records(seed: int = 0, rows: int = 240) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.5
    has = {f"thing {i}": (rng.random(rows) < np.where(ill, 0.2, 0.6 - 0.05 * i)) for i in range(7)}
    return pl.DataFrame({**{n: c.astype(int) for n, c in has.items()}, "ill": ill.astype(str)})


QUICK: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True}
METHODS: dict[str, Any] = {"containment": {"utilities": ["difference"]}, "front": {}}


def outcome(absences: int, k: int = 4, **more: Any):
    table = read_table(records(), target="ill")
    return consider(table, Settings(k=k, absences=absences, methods=METHODS, **QUICK, **more))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return publish(outcome(2), tmp_path_factory.mktemp("absences") / "out")


def test_what_is_published_keeps_k_whatever_absences_are_known(folder):
    (entry,) = json.loads((folder / "manifest.json").read_text())["promises"]
    assert (entry["key"], entry["absences"]) == ("containment_anonymity", 2)
    assert "up to 2 things that it lacks, is left with at least" in entry["claim"]
    cells = pl.read_csv(folder / "release.csv").select(entry["columns"]).to_numpy()
    found = by_definition(cells, 2, np.arange(len(cells)))
    assert found == entry["measured"] >= entry["at_least"] >= 4
    assert verify(folder).alone


def test_absences_cost_columns_and_never_weaken_k():
    plain, careful = (outcome(m, k=8, seed=3).decision.chosen.release.table for m in (0, 1))
    assert absence_anonymity(careful.only(careful.features).to_numpy(), 1) >= 8
    assert absence_anonymity(plain.only(plain.features).to_numpy(), 1) < 8
    assert len(careful.features) < len(plain.features)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"absences": 3}, "below the promised|manifest says|wording"),
        ({"absences": 0}, "invalid 'absences'"),
        ({"absences": 5}, "invalid 'absences'"),
        ({"absences": True}, "invalid 'absences'"),
        ({"absences": "2"}, "invalid 'absences'"),
        ({"key": "k_anonymity"}, "covers every absence"),
    ],
)
def test_a_manifest_that_says_other_absences_is_refused(folder, tmp_path, change, words):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    edited(copy, lambda m: m["promises"][0].update(change))
    with pytest.raises(CannotMeet, match=words):
        verify(copy)


def test_words_say_what_is_covered_and_what_is_not():
    promise = ContainmentAnonymity(5, 1, columns=("a",))
    assert promise.to_dict("people")["claim"] == (
        "Whoever knows all that a person has among the released columns, and up to 1 thing that "
        "the person lacks, is left with at least 5 people."
    )
    words = " ".join(
        not_promised([promise.to_dict("people")], alone=False, sensitive_released=False)
    )
    assert "up to 1 thing that the person lacks, not one who knows more" in words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"absences": 5}, "a whole number from 0 to 4, since more take too long"),
        ({"absences": -1}, "a whole number from 0 to 4"),
        ({"absences": 1, "epsilon": 1.0}, "synthetic rows describe nobody"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        Settings(**changes)


def test_what_was_handed_on_counts_with_its_absences(folder):
    from tamis.attack.earlier_releases import EarlierReleases
    from tamis.publication.read_back import read_earlier

    table = read_table(records(), target="ill")
    manifest = json.loads((folder / "manifest.json").read_text())
    handed = EarlierReleases(table, [read_earlier(folder)])
    again = outcome(2).decision.chosen.release
    assert handed.anonymity_beside(again) == manifest["promises"][0]["measured"]
    more = outcome(0, k=2).decision.chosen.release
    names = [*dict.fromkeys([*manifest["promises"][0]["columns"], *more.table.features])]
    assert handed.anonymity_beside(more) == absence_anonymity(table.only(names).to_numpy(), 2)


def test_as_many_absences_as_are_allowed_are_published_and_verified(tmp_path):
    assert MOST_ABSENCES == 4
    folder = publish(outcome(MOST_ABSENCES), tmp_path / "out")
    entry = json.loads((folder / "manifest.json").read_text())["promises"][0]
    assert entry["absences"] == MOST_ABSENCES
    verify(folder)
