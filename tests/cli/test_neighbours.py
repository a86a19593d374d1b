"""Neighbouring tables: whatever noise does not draw must be the same for both.

Each table has one row more than the first, and one that would change a type, a value list or a
refusal if anything looked at cells. Compared are the exit code, the schema, names and order of the
columns, the names of the files, and everything in manifests, results and pages but the figures
that noise draws.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.long import LONG, daily

pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")

PUBLIC = """
rows = 300
[bounds]
ill = ["no", "yes"]
age = [0, 99]
dose = { type = "number", low = 0, high = 2, decimals = 1 }
job = { type = "category", values = ["cook", "judge"], other = "else" }
smokes = { type = "boolean" }
code = ["1", "2"]
"""
MORE = {
    "another": "40,1.0,cook,true,1,no",
    "a fraction": "70.5,0.123456,cook,true,1.5,no",
    "an unlisted value": "40,1.0,astronaut,maybe,9,perhaps",
    "missing cells": ",,,,,",
    "text among numbers": "old,much,cook,true,one,no",
    "texts that look like truth": "true,false,True,FALSE,true,true",
    "beyond the bounds": "1e300,-inf,cook,1,99999999999999999999,no",
    "leading zeros": "007,00.5,cook,0,01,no",
}
ITEMS = """
items = ["ale", "bread", "figs", "salt"]
[bounds]
label = ["no", "yes"]
"""
BASKETS = {
    "another": ("ale bread", "no"),
    "an unlisted item": ("caviar", "yes"),
    "no item": ("", "no"),
    "a number": ("42 ale", "no"),
    "another label": ("ale", "perhaps"),
}


def rows(count: int = 300) -> list[str]:
    rng = np.random.default_rng(0)
    ill = rng.random(count) < 0.5
    columns = (
        np.where(ill, rng.integers(50, 80, count), rng.integers(20, 60, count)),
        np.where(ill, 1, 0),
        rng.choice(["cook", "judge"], count),
        np.where(rng.random(count) < 0.5, "true", "false"),
        rng.integers(1, 3, count),
        np.where(ill, "yes", "no"),
    )
    return [",".join(str(cell) for cell in row) for row in zip(*columns)]


def write_table(path: Path, extra: list[str]) -> Path:
    path.write_text("\n".join(["age,dose,job,smokes,code,ill", *rows(), *extra]) + "\n")
    return path


def write_baskets(folder: Path, extra: list[tuple[str, str]]) -> Path:
    rng = np.random.default_rng(1)
    lines, labels = [], []
    for _ in range(200):
        ill = rng.random() < 0.5
        has = rng.random(3) < np.where([ill, ill, not ill], 0.8, 0.2)
        lines.append(" ".join(np.array(["ale", "bread", "figs"])[has]) or "figs")
        labels.append("yes" if ill else "no")
    folder.mkdir(exist_ok=True)
    (folder / "labels.txt").write_text("\n".join([*(y for _, y in extra), *labels]) + "\n")
    table = folder / "carts.basket"
    table.write_text("\n".join([*(items for items, _ in extra), *lines]) + "\n")
    return table


@pytest.fixture(scope="module")
def once() -> Callable[[Any, Callable[[], Any]], Any]:
    """What is found of the table without a further row, which is the same for every test."""
    found: dict[Any, Any] = {}

    def of(key: Any, find: Callable[[], Any]) -> Any:
        if key not in found:
            found[key] = find()
        return found[key]

    return of


def perturbed(run: Any, table: Path, out: Path, *options: Any) -> dict[str, Any]:
    """Everything about a drawn file but its rows."""
    done = run("perturb", table, "--epsilon", 4, *options, "-o", out, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    for key in ("rows", "epsilon_total", "ledger"):
        told.pop(key)
    schema = pl.read_parquet_schema(out)
    return {"told": told, "schema": list(schema.items()), "said": done.err}


TABLES = ["--target", "ill", "--bins", 2]
METHODS = {
    "dp-histogram": ["--method", "dp-histogram", *TABLES],
    "dp-partition": ["--method", "dp-partition", *TABLES],
    "dp-synthesiser": ["--method", "dp-synthesiser", *TABLES],
}


@pytest.mark.parametrize(
    ("method", "more"),
    daily(product(METHODS, MORE), *zip(cycle(METHODS), MORE)),  # every day each row by one method
)
def test_a_perturbed_table_has_the_same_form(run, once, tmp_path, method, more) -> None:
    (tmp_path / "public.toml").write_text(PUBLIC)
    options = [*METHODS[method], "--bounds", tmp_path / "public.toml"]

    def of(name: str, *extra: str) -> dict[str, Any]:
        table = write_table(tmp_path / f"{name}.csv", list(extra))
        return perturbed(run, table, tmp_path / f"{name}.parquet", *options)

    first = once(("perturbed", method), lambda: of("one"))
    assert of("two", MORE[more]) == first
    assert dict(first["schema"]) == {
        "ill": pl.String, "age": pl.Int64, "dose": pl.Float64, "job": pl.String,
        "smokes": pl.Boolean, "code": pl.String,
    }  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_the_types_of_a_typed_file_change_nothing(run, tmp_path, method) -> None:
    """One person's row may widen a type, or bring a category that nobody else has."""
    (tmp_path / "public.toml").write_text(PUBLIC)
    options = [*METHODS[method], "--bounds", tmp_path / "public.toml"]
    frame = pl.read_csv(write_table(tmp_path / "one.csv", []))
    found = []
    for number, types in enumerate(
        (
            {"job": pl.Enum(["cook", "judge"])},
            {"job": pl.Enum(["astronaut", "cook", "judge"]), "age": pl.Float64},
            {"job": pl.Categorical, "smokes": pl.String, "code": pl.Float64, "dose": pl.Int8},
            dict.fromkeys(frame.columns, pl.String),
        )
    ):
        table = tmp_path / f"{number}.parquet"
        frame.cast(types).write_parquet(table)  # type: ignore[arg-type]
        found.append(perturbed(run, table, tmp_path / f"{number}-out.parquet", *options))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("more", BASKETS)
def test_chosen_items_come_from_the_public_list(run, once, tmp_path, more) -> None:
    (tmp_path / "items.toml").write_text(ITEMS)

    def of(name: str, *extra: tuple[str, str]) -> dict[str, Any]:
        table = write_baskets(tmp_path / name, list(extra))
        options = ["--method", "dp-histogram", "--features", 4]
        options += ["--labels", table.parent / "labels.txt", "--bounds", tmp_path / "items.toml"]
        return perturbed(run, table, tmp_path / f"{name}.parquet", *options)

    first = once("items", lambda: of("one"))
    assert of("two", BASKETS[more]) == first
    assert [c for c, _ in first["schema"]] == ["ale", "bread", "figs", "salt", "label"]


def released(run: Any, table: Path, out: Path, *options: Any) -> dict[str, Any]:
    """Everything about a folder to hand on but what noise draws: rows, hashes, cells."""
    done = run("release", table, "--epsilon", 4, *options, "--out", out, "--write", "parquet")
    assert done.code == 0, done.err
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["file"] |= {"sha256": "", "rows": 0}
    manifest["report"]["sha256"] = ""
    manifest["date"] = ""
    page = re.sub(r"[0-9a-f]{64}|\d[\d,.]*", "#", (out / "report.html").read_text())
    return {
        "files": sorted(str(path.relative_to(out)) for path in out.rglob("*")),
        "manifest": manifest,
        "schema": list(pl.read_parquet_schema(out / "release.parquet").items()),
        "page": page,
    }


CONFIG = 'attackers = ["nb"]\nmethods = ["dp"]\n[dp]\nkinds = ["{kind}"]\nfeatures = 4\nbins = 2\n'


RELEASED = [
    *(("partition", more) for more in MORE),
    *(("histogram", more) for more in list(MORE)[1:4]),
    *(("synthesiser", more) for more in list(MORE)[1:4]),
]


# A release reads its table and draws its rows as `perturb` does, which is tried with all of them.
@pytest.mark.parametrize(("kind", "more"), RELEASED if LONG else RELEASED[1::4])
def test_a_release_has_the_same_form(run, once, tmp_path, kind, more) -> None:
    (tmp_path / "public.toml").write_text(PUBLIC)
    (tmp_path / "c.toml").write_text(CONFIG.format(kind=kind))
    options = ["--target", "ill", "--bounds", tmp_path / "public.toml"]
    options += ["--config", tmp_path / "c.toml"]

    def of(name: str, *extra: str) -> dict[str, Any]:
        (tmp_path / name).mkdir()
        table = write_table(tmp_path / name / "people.csv", list(extra))
        return released(run, table, tmp_path / name / "out", *options)

    first = once(("released", kind), lambda: of("one"))
    assert of("two", MORE[more]) == first
    assert "held_back" not in first["manifest"]


@pytest.mark.parametrize("more", BASKETS)
def test_a_release_of_items_has_the_same_form(run, once, tmp_path, more) -> None:
    (tmp_path / "items.toml").write_text(ITEMS)
    (tmp_path / "c.toml").write_text(CONFIG.format(kind="selected"))

    def of(name: str, *extra: tuple[str, str]) -> dict[str, Any]:
        table = write_baskets(tmp_path / name, list(extra))
        options = ["--labels", table.parent / "labels.txt", "--bounds", tmp_path / "items.toml"]
        options += ["--config", tmp_path / "c.toml"]
        return released(run, table, tmp_path / name / "out", *options)

    found = of("two", BASKETS[more])
    assert found == once("released items", lambda: of("one"))
    assert "caviar" not in str(found)
