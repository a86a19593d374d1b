"""A release that describes itself: what catalogues read says no more than the manifest."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider, publish, verify
from tamis.catalogue.formats import DESCRIPTIONS
from tamis.errors import CannotMeet, InputError
from tamis.verification.descriptions import describe
from tamis.verification.layout import digest
from tests.long import long
from tests.quick_look import no_trees
from tests.verification.forged import drawn, edited

ALL = tuple(DESCRIPTIONS)
DATE = "2026-11-15"


def odd_table(names: tuple[str, str]) -> Table:
    """Columns of every kind whose names and values mean something to spreadsheets and Markdown."""
    draw = np.random.default_rng(5)
    number, text, day, moment, flag = (draw.integers(0, 2, 900) for _ in range(5))
    ill = number + text + day + moment + flag > 2
    frame = pl.DataFrame(
        {
            names[0]: [None if each else 10 + place % 9 for place, each in enumerate(number)],
            names[1]: [["=1", "x,y\n**z**"][each] for each in text],
            "on": [date(2020, 1, 1 + each) for each in day],
            "at": [datetime(2020, 1, 1, 5, 30 + each) for each in moment],
            "flag": flag.astype(bool),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    return Table(frame, Roles(target="ill", quasi=()))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of each format."""
    place, made = tmp_path_factory.mktemp("described"), {}
    asked = Settings(methods={"front": {}}, attackers=("nb",), k=1, describe=ALL)
    words = pl.DataFrame(np.random.default_rng(2).integers(0, 2, (300, 3)), ["w0", "w1", "w2"])
    words = words.with_columns(ill=pl.col("w0") | pl.col("w1"))
    with no_trees():
        odd, plain = (
            consider(odd_table(names), asked) for names in (("=age", "a|b`*"), ("age", "a_b"))
        )
        sparse = consider(Table(words, Roles(target="ill", quasi=())), asked)
        wanted = {**dict.fromkeys(("csv", "parquet", "xlsx"), odd), "sav": plain, "dta": plain}
        for format, outcome in {**wanted, "long": sparse, "svm": sparse}.items():
            chosen = replace(outcome.settings, format=format)  # type: ignore[arg-type]
            made[format] = publish(replace(outcome, settings=chosen), place / format, date=DATE)
        made["plain"] = publish(plain, place / "plain", date=DATE)
    return made


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    def copy(name: str = "csv") -> Path:
        shutil.copytree(folders[name], tmp_path / "copy")
        shutil.rmtree(tmp_path / "copy" / "private")
        return tmp_path / "copy"

    return copy


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


@pytest.mark.parametrize("format", ["csv", "parquet", "xlsx", "sav", "dta", "long", "svm"])
def test_descriptions_are_listed_hashed_and_checked(folders, format):
    folder = folders[format]
    content = manifest(folder)
    assert [entry["name"] for entry in content["described"]] == [*DESCRIPTIONS.values()]
    assert all(entry["sha256"] == digest(folder / entry["name"]) for entry in content["described"])
    assert "described" in {check.name for check in verify(folder).checks}


def test_they_need_nothing_but_the_manifest(folders):
    content = manifest(folders["csv"])
    del content["described"]
    for which, name in DESCRIPTIONS.items():
        assert describe(which, content) == (folders["csv"] / name).read_bytes()


def test_the_columns_of_the_file_are_those_of_each_description(folders):
    for format in ("csv", "parquet", "long"):
        folder = folders[format]
        read = pl.read_parquet if format == "parquet" else pl.read_csv
        header = read(folder / manifest(folder)["file"]["name"]).columns
        croissant = json.loads((folder / "croissant.json").read_text())
        package = json.loads((folder / "datapackage.json").read_text())
        fields = croissant["recordSet"][0]["field"]
        assert [field["source"]["extract"]["column"] for field in fields] == header
        assert [f["name"] for f in package["resources"][0]["schema"]["fields"]] == header


def test_what_is_not_promised_and_who_is_alone_is_in_every_description(folders):
    content = manifest(folders["csv"])
    assert content["not_promised"]
    croissant = json.loads((folders["csv"] / "croissant.json").read_text())
    assert croissant["rai:dataLimitations"] == content["not_promised"]
    card = (folders["csv"] / "README.md").read_text()
    assert all(f"- {words}" in card for words in content["not_promised"])
    assert content["file"]["sha256"] in card
    assert croissant["distribution"][0]["sha256"] == content["file"]["sha256"]


def test_names_are_no_marks_in_the_card(folders):
    card = (folders["csv"] / "README.md").read_text()
    (line,) = (line for line in card.splitlines() if line.startswith(r"| a\|b"))
    assert line.startswith(r"| a\|b\`\* | nominal | feature |")
    table = [line for line in card.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {5}


def test_a_description_that_says_more_is_refused_though_its_hash_fits(copied):
    folder = copied()
    card = folder / "README.md"
    card.write_text(card.read_text() + "- Nobody can be found.\n")
    with pytest.raises(
        CannotMeet, match=r"README\.md is not the file that was published.*\(hash\)"
    ):
        verify(folder)
    forged = sha256(card.read_bytes()).hexdigest()
    edited(folder, lambda m: m["described"][2].update(sha256=forged))
    with pytest.raises(CannotMeet, match=r"README\.md says something else than .* \(described\)"):
        verify(folder)


def test_descriptions_that_are_missing_strange_or_listed_twice_are_refused(copied):
    folder = copied()
    edited(folder, lambda m: m["described"].append(m["described"][0]))
    with pytest.raises(CannotMeet, match="states something twice"):
        verify(folder)
    edited(folder, lambda m: m.update(described=m["described"][:2]))
    with pytest.raises(
        CannotMeet, match=r"contains 'README\.md', which the manifest does not list"
    ):
        verify(folder)
    (folder / "README.md").unlink()
    verify(folder)
    (folder / "croissant.json").unlink()
    with pytest.raises(CannotMeet, match=r"lacks 'croissant.json'"):
        verify(folder)
    edited(folder, lambda m: m["described"][1].update(name="letter.txt"))
    with pytest.raises(CannotMeet, match="an invalid 'name' in described"):
        verify(folder)


def test_a_description_that_nobody_writes_is_refused():
    with pytest.raises(InputError, match="describe takes croissant, datapackage, card, not 'rdf'"):
        Settings(describe=("card", "rdf"))


def test_synthetic_rows_say_their_cost_and_no_figure_of_people(copied):
    folder = copied("plain")
    drawn(folder)
    content = manifest(folder)
    card = describe("card", content).decode()
    assert "synthetic rows" in card
    assert "epsilon = 0.1" in card
    assert "Who is like few others" not in card
    assert "held back" not in card


LOAD = """
import sys
import mlcroissant

for folder in sys.argv[1:]:
    found = mlcroissant.Dataset(jsonld=f"{folder}/croissant.json")
    about = found.metadata
    assert str(about.ctx.conforms_to.value).endswith("/1.1")
    assert about.data_limitations and about.personal_sensitive_information and about.data_use_cases
    for rows in about.record_sets:
        print(folder, len(list(found.records(rows.uuid))))
"""
VALIDATE = """
import sys
from frictionless import Package, validate

for folder in sys.argv[1:]:
    if folder.endswith("/sav"):  # its reader of SPSS needs a library that is built no more
        assert Package.from_descriptor(f"{folder}/datapackage.json").has_resource("rows")
        continue
    found = validate(f"{folder}/datapackage.json")
    assert found.valid, found.flatten(["type", "message"])[:3]
    print(folder, found.stats["tasks"])
"""


def run_apart(script: str, folders: list[Path], *packages: str) -> list[str]:
    """What a script prints in an environment of its own, whose pins are not ours."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv, which makes an environment for it, is not here")
    alone = [uv, "run", "--quiet", "--isolated", "--no-project"]
    alone += [f"--with={package}" for package in packages]
    if subprocess.run([*alone, "python", "-c", ""], capture_output=True).returncode:
        pytest.skip(f"{' and '.join(packages)} cannot be installed here")
    done = subprocess.run(
        [*alone, "python", "-c", script, *map(str, folders)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@long
def test_mlcroissant_validates_and_loads(folders):
    readable = ("csv", "parquet", "long")
    rows = {format: manifest(folders[format])["file"]["rows"] for format in readable}
    said = run_apart(LOAD, [*folders.values()], "mlcroissant>=1.1", "pyarrow")
    found = {Path(line.split()[0]).name: int(line.split()[1]) for line in said}
    assert found["csv"] == found["parquet"] == rows["csv"] == rows["parquet"]
    assert set(found) == {*readable, "plain"}


@long
def test_frictionless_validates_the_rows_too(folders):
    said = run_apart(
        VALIDATE, [*folders.values()], "frictionless[parquet,excel,pandas]>=5.18", "pyarrow"
    )
    assert said == [f"{folder} 1" for format, folder in folders.items() if format != "sav"]
