"""The list of what a manifest may contain is that of what is written, no more and no less."""

import json
from pathlib import Path
from typing import get_args

import pytest

from tamis.dp.budget import NEIGHBOURS as OF_ROWS
from tamis.dp.budget import OF_PEOPLE
from tamis.publication import manifest
from tamis.publication.manifest import versions
from tamis.rows import EngineName
from tamis.verification.shape import MANIFEST, NEIGHBOURS, in_place, wrong_shape
from tamis.verification.value_shapes import is_version


def test_lists_are_those_of_what_makes_releases():
    assert {unit: words for (unit, kind), words in NEIGHBOURS.items() if kind == "substitute"} == {
        "row": OF_ROWS["substitute"],
        "person": OF_PEOPLE["substitute"],
    }
    assert NEIGHBOURS["row", "add-remove"] == OF_ROWS["add-remove"]
    assert NEIGHBOURS["person", "add-remove"] == OF_PEOPLE["add-remove"]
    assert set(MANIFEST["versions"]) == set(versions())
    assert all(map(is_version, versions().values()))


def test_every_engine_is_on_the_list():
    by = MANIFEST["engine?"]["counted"]["by"]
    assert all(by(name) for name in get_args(EngineName) if name != "auto")


@pytest.mark.parametrize("text", ["1", "2.1.0", "1.0.0rc1", "0.5.dev3", "1.0rc1.post2.dev3"])
def test_versions_are_versions(text: str):
    assert is_version(text)


@pytest.mark.parametrize(
    "text", ["", "Ann Smith", "1.0 Ann", "1.0+Ann", "1.0+ann", "v1", "1." + "1" * 9]
)
def test_names_are_no_versions(text: str):
    assert not is_version(text)


def test_the_local_part_of_a_version_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(manifest, "_installed", lambda name: "2.1.0+of.somebody")
    monkeypatch.setattr("platform.python_version", lambda: "3.14.0+")
    assert {versions()[name] for name in ("polars", "python")} == {"2.1.0", "3.14.0"}


def test_what_is_published_is_in_its_place(published: Path):
    content = json.loads((published / "manifest.json").read_text())
    assert wrong_shape(content) == ""
    turned = dict(reversed(content.items()))
    assert "in another order" in wrong_shape(turned)
    assert list(in_place(turned)) == list(content)


def test_a_folder_of_an_earlier_version_is_said_to_be_one(published: Path):
    content = json.loads((published / "manifest.json").read_text())
    words = wrong_shape(content | {"schema_version": 1})
    assert "is of an earlier tamis (version 1, this one reads 2): verify it with" in words
