"""There is a JSON Schema of what each command prints, and of the manifest; it says what is there.

`run` of this folder compares every document that a command prints in a test with its schema.
"""

import json
import re
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from tamis.options.commands import COMMANDS, KINDS
from tamis.publication.manifest import stated
from tamis.release import Coarsening
from tests.cli.conftest import validator
from tests.verification.test_labels import DESCRIBED

SCHEMAS = {Path(str(f)).stem for f in files("tamis").joinpath("schemas").iterdir()}
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
SILENT = {"demo", "serve", "select"}


def test_every_command_has_one():
    kinds = {name.replace(" ", "-") for name in KINDS}
    assert (set(COMMANDS) - SILENT) | kinds | {"manifest"} == SCHEMAS


def required(schema):
    """What is there in every document, or in each kind of document."""
    kinds = schema.get("anyOf", [schema])
    assert all(kind["required"] for kind in kinds)
    return {name for kind in kinds for name in kind["required"]}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_it_is_one_and_refuses_another_document(name):
    schema = validator(name).schema
    assert schema["title"]
    assert not validator(name).is_valid({})
    assert not validator(name).is_valid({each: object() for each in required(schema)})


def test_it_requires_nothing_that_the_page_does_not_name():
    text = PAGE.read_text(encoding="utf-8").partition("## JSON")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `([\w ]+)` \| (.*) \|$", text, re.MULTILINE)
    named = {command: set(re.findall(r"`(\w+)`", words)) for command, words in lines}
    for command, words in named.items():
        asked = required(validator(command.replace(" ", "-")).schema)
        assert asked <= words, command


def test_every_coarser_form_may_be_in_a_manifest(run, tmp_path):
    from tamis.datasets import patients

    patients(300).frame.write_csv(path := tmp_path / "t.csv")
    roles = (path, "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
    done = run("release", *roles, "--quasi", "sex", "--out", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    content = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    for description in DESCRIBED:
        said = stated(Coarsening(description, 1), pl.Series("x", []), k=1)
        content["columns"][0]["coarser"] = said
        validator("manifest").validate(content)


def test_manifests_are_as_theirs_says(run, tmp_path):
    from tamis.datasets import patients

    path, check = tmp_path / "t.csv", validator("manifest").validate
    patients(300).frame.write_csv(path)
    roles = (path, "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
    asked = {
        "csv": (),
        "suppressed": ("--max-suppressed", "0.05", "--output-format", "parquet"),
        "secret": ("--l", "2", "--t", "0.5", "--max-average-risk", "0.1"),
        "altered": ("--config", tmp_path / "noise.toml"),
    }
    (tmp_path / "noise.toml").write_text('methods = ["noise"]\n')
    for name, more in asked.items():
        out = tmp_path / name
        done = run("release", *roles, "--quasi", "sex,job", *more, "--out", out, "--quiet")
        assert done.code == 0, done.err
        content = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        check(content)
        del content["promises"]
        assert not validator("manifest").is_valid(content)
