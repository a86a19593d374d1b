"""The dossier: what it says, what it leaves to people, and what it never says."""

import json
import re

import pytest

from tamis.analyse import analyse
from tamis.catalogue.measures import EVERY
from tamis.datasets import patients
from tamis.flow import Settings, consider
from tamis.publication.bundle import publish
from tamis.publication.dossier import (
    DISCLAIMER,
    TO_FILL,
    _alone,
    dossier_of,
    render_dossier,
)
from tamis.verification.verify import verify
from tests.quick_look import no_trees

TABLE = patients(rows=400)


@pytest.fixture(scope="module", autouse=True)
def quick_look():
    with no_trees():
        yield


@pytest.fixture(scope="module")
def outcome():
    settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    return consider(TABLE, settings)


@pytest.fixture(scope="module")
def folder(outcome, tmp_path_factory):
    return publish(outcome, tmp_path_factory.mktemp("dossier") / "out")


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "private" / "dossier.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def content(folder):
    return json.loads((folder / "private" / "dossier.json").read_text(encoding="utf-8"))


def test_the_first_line_claims_no_compliance(page, content):
    first = re.sub(r"<[^>]+>", "", page.partition("<main>")[2]).strip().splitlines()[0]
    assert first == DISCLAIMER
    assert content["disclaimer"] == DISCLAIMER
    assert "not claim" in DISCLAIMER


def test_how_it_was_made_is_said_in_sentences(content):
    made = re.fullmatch(
        r"Method: (.+)\. Made with: tamis .+\. SHA-256 of .+: [0-9a-f]{64}", content["method"]
    )
    assert made is not None


def test_the_three_tests_have_figures_and_intervals(content):
    tests = {each["test"] for each in content["tests"]}
    assert tests == {"singling out", "linkability", "inference"}
    for each in content["tests"]:
        if each["released"] is None:
            assert each["low"] is None
            assert each["high"] >= 5 / each["people"] - 0.005
        else:
            assert each["low"] <= each["released"] <= each["high"]
            assert not 0 < each["released"] * each["people"] < 4.5
    (inferred,) = [each for each in content["tests"] if each["test"] == "inference"]
    assert inferred["released"] is not None


def test_named_limits_are_compared_with_what_was_counted(folder, content):
    manifest = verify(folder).manifest
    (k,) = [p["measured"] for p in manifest["promises"] if p["key"] == "k_anonymity"]
    limits = {each["name"]: each for each in content["limits"]}
    assert set(limits) == {preset.name for preset in EVERY}
    assert {name: each["needed"] for name, each in limits.items()} == {
        "ema": 12, "health-canada": 12, "office-3": 3, "office-10": 10,
    }  # fmt: skip
    for each in limits.values():
        assert each["reached"] == k
        assert each["met"] == (k >= each["needed"])


def test_no_limit_is_said_to_hold_for_whoever_knows_everything_that_is_released(folder, content):
    said = json.loads((folder / "private" / "summary.json").read_text())["exposure"]
    unique, total = said["everything"]["unique"], said["total"]
    assert unique > 0
    assert f"{unique:,} of {total:,} {said['unit']} are like nobody else" in content["alone"]
    nobody = said | {"everything": {"k": 7, "unique": 0}}
    assert _alone(nobody) == ""
    few = said | {"everything": {"k": None, "unique": None}}
    assert f"fewer than {said['asked']} of" in _alone(few)


def test_every_column_has_its_fate_and_every_field_a_place(content, page):
    assert {each["column"] for each in content["done"]} == set(TABLE.frame.columns)
    assert page.count('class="fill"') == len(TO_FILL)
    assert content["not_promised"]


def test_it_loads_and_runs_nothing_and_is_not_handed_on(page, folder):
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert not (folder / "dossier.html").exists()
    assert (folder / "private" / "dossier.html").stat().st_mode & 0o77 == 0


def test_without_groups_of_equals_no_limit_is_said_to_hold(outcome):
    found = dossier_of(analyse(outcome))  # nothing was written: nothing was counted
    assert [each.met for each in found.limits] == [None] * len(EVERY)
    assert "not counted" in render_dossier(found)


def test_names_cannot_run_in_it(outcome):
    from dataclasses import replace

    found = replace(dossier_of(analyse(outcome)), table="<script>alert(1)</script>")
    assert "<script" not in render_dossier(found)


def test_where_no_attacker_was_tried_it_says_so(outcome):
    found = dossier_of(analyse(outcome, attacks=False))
    assert found.tests == ()
    assert "No attacker was tried" in render_dossier(found)
