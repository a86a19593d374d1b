"""Claims: random tables are published, and everything claimed is counted again by pandas as text.

The reader here knows only what a recipient knows: the csv file, the manifest's rule for texts, and
for people the holder's private numbers. It shares no code with tamis.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from fuzz.tally import Tally

TEXTS = [
    *("é", "e\u0301", "İ", "i", "ﬁ", "fi", "", " ", "a", "a ", "=1+1", "-x", "'q", "''"),
    *("1", "1.0", "true", "NA", "nan", "null", 'say "no"', "a,b", "two\nlines", "\uff11"),
]
NUMBERS = [0.0, -0.0, float("nan"), 1.0, 1e-300, 0.1, 1 / 3, -5.0, 1e15]


def table_at(rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A random table and its roles: few values a column, so that some columns can be released."""
    people = int(rng.integers(50, 90))
    each = rng.integers(1, 4, people) if rng.random() < 0.4 else np.ones(people, int)
    who = np.repeat(np.arange(people), each)
    cause = rng.integers(0, 2, people)
    columns = {f"c{i}": _column(rng, people, cause)[who] for i in range(int(rng.integers(2, 6)))}
    label = np.where(rng.random(people) < 0.85, cause, 1 - cause)
    target = pl.Series("target é", np.where(label > 0, "=yes", "e\u0301")[who])
    frame = pl.DataFrame([pl.Series("who", who), *(s.alias(n) for n, s in columns.items()), target])
    roles: dict[str, Any] = {"target": target.name}
    if len(who) > people or rng.random() < 0.5:
        return frame.sample(fraction=1, shuffle=True, seed=int(rng.integers(1 << 30))), {
            **roles,
            "identifier": ["who"],
        }
    return frame.drop("who"), roles


def _column(rng: np.random.Generator, rows: int, cause: Any) -> pl.Series:
    kind = rng.choice(["texts", "numbers", "whole", "dates", "truth", "bits"])
    count = int(rng.integers(2, 5))
    taught = np.where(rng.random(rows) < 0.4, cause, rng.integers(0, count, rows)) % count
    if kind == "texts":
        return pl.Series([TEXTS[i] for i in rng.choice(len(TEXTS), count, replace=False)])[taught]
    if kind == "numbers":
        return pl.Series([NUMBERS[i] for i in rng.choice(len(NUMBERS), count)])[taught]
    if kind == "dates":
        days = pl.Series([f"{1890 + 37 * i}-02-28" for i in range(count)]).str.to_date()
        return days[taught].cast(pl.Datetime("us")) if rng.random() < 0.5 else days[taught]
    if kind == "truth":
        return pl.Series([True, False, None, True])[taught]
    return pl.Series(taught % 2 if kind == "bits" else taught)


ALTERED = ("flip", "microaggregate", "pram", "suppress")
"""Methods after which a column of texts may hold other cells."""


def settings_at(rng: np.random.Generator, seed: int) -> dict[str, Any]:
    methods: list[dict[str, dict[str, Any]]] = [
        {"containment": {"ks": [3], "utilities": ["difference"]}},
        {"coarsen": {}},
        {"front": {}},
        {"flip": {"ks": [4]}, "containment": {"ks": [4], "utilities": ["difference"]}},
        {"microaggregate": {}},
        {"suppress": {}},
        {"pram": {}, "swap": {}, "coarsen": {}},
    ]
    chosen = methods[int(rng.integers(len(methods)))]
    k = int(rng.integers(2, 5))
    common = {"attackers": ("nb",), "allow_useless": True, "seed": seed, "holdout": 0.3}
    common["secret"] = f"{seed:032x}"  # so that the case can be repeated
    absences = int(rng.choice([0, 0, 1, 2]))
    more = {"max_suppressed": 0.1} if rng.random() < 0.3 else {}
    more |= {"l": 2} if rng.random() < 0.2 else {}
    return {"k": k, "methods": chosen, "absences": absences, **common, **more}


def source_at(rng: np.random.Generator, frame: pl.DataFrame, folder: Path) -> Any:
    """The table as a frame of one library or another, or as a file."""
    kind = rng.choice(["polars", "pandas", "csv", "parquet"])
    if kind == "polars":
        return frame
    if kind == "pandas":
        return frame.to_pandas()
    path = folder / f"table.{kind}"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    return path


def recount(folder: Path) -> list[str]:
    """What a manifest claims and a count of the cells as text contradicts."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    cells = pd.read_csv(folder / "release.csv", dtype=str, na_filter=False, encoding="utf-8")
    wrong = []
    if list(cells.columns) != [c["header"] for c in manifest["columns"]]:
        wrong.append("columns are not those of the manifest")
    if len(cells) != manifest["file"]["rows"]:
        wrong.append("rows are not as many as the manifest says")
    headers = {c["name"]: c["header"] for c in manifest["columns"]}
    private = folder / "private" / "people.csv"
    people = pd.read_csv(private)["person"] if private.exists() else pd.Series(range(len(cells)))
    for entry in manifest["promises"]:
        known = cells[[headers[c] for c in entry["columns"]]]
        kind, lacked = entry["key"], entry.get("absences", 0)
        least, rows = (_least(kind, known, who, lacked) for who in (people, range(len(cells))))
        if least < entry["at_least"]:
            wrong.append(f"{entry['key']} is below what is promised")
        if least != entry["measured"] or rows != entry.get("rows_measured", rows):
            wrong.append(f"{entry['key']} is not what the manifest says was measured")
    for entry in manifest.get("diversity", ()):
        if entry["key"] == "l_diversity" and entry["column"] in headers:
            known = cells[[headers[c] for c in entry["columns"]]]
            if _fewest_values(known, cells[headers[entry["column"]]]) < entry["at_least"]:
                wrong.append("people alike have fewer sensitive values than is promised")
    return wrong


def _fewest_values(known: pd.DataFrame, secret: pd.Series[str]) -> int:
    """The fewest distinct secrets of the rows with the same cells."""
    values: dict[Any, set[str]] = {}
    for row, cell in zip(known.itertuples(index=False, name=None), secret):
        values.setdefault(row, set()).add(cell)
    return min(map(len, values.values()))


def _least(key: str, known: pd.DataFrame, who: Any, absences: int = 0) -> int:
    """The fewest people with the cells of some row, or with everything that some row has.

    Of what the row lacks, as many things as are said may be known to be lacking too.
    """
    rows = list(known.itertuples(index=False, name=None))
    if not known.columns.size:
        return len(set(who))
    crowds: dict[Any, set[int]] = {}
    if key == "k_anonymity":
        for row, person in zip(rows, who):
            crowds.setdefault(row, set()).add(person)
        return min(map(len, crowds.values()))
    has = [frozenset(i for i, cell in enumerate(row) if cell in ("1", "true")) for row in rows]
    for mine in set(has):
        lacking = [i for i in range(known.shape[1]) if i not in mine]
        for out in combinations(lacking, min(absences, len(lacking))):
            theirs = zip(has, who)
            crowds[mine, out] = {p for has, p in theirs if mine <= has and not has & {*out}}
    return min(map(len, crowds.values()))


def unlike_the_original(folder: Path, original: pl.DataFrame) -> list[str]:
    """Columns of a release of unaltered values whose cells are not those of the original."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest["method"]["name"] in ALTERED:
        return []
    cells = pd.read_csv(folder / "release.csv", dtype=str, na_filter=False, encoding="utf-8")
    wrong = []
    for column in manifest["columns"]:
        if "coarser" in column or original.schema.get(column["name"]) != pl.String:
            continue
        left = Counter(str(cell).removeprefix("'") for cell in cells[column["header"]])
        whole = Counter(original[column["name"]].fill_null("").to_list())
        if not left <= whole or (left != whole and "suppressed" not in manifest):
            wrong.append("a column of texts does not hold the cells of the original")
    return wrong


def without_close_look() -> None:
    """Learners that say the same of everybody, and no attackers: their figures are not tried."""
    from tamis.analyse import examination
    from tamis.evaluate import close_look
    from tamis.learn.boosting import shares

    def said(
        _: Any, label: Any, learn: Any, __: Any, ask: Any, *, classes: int, **more: Any
    ) -> Any:
        return np.tile(shares(label[learn], classes), (len(ask), 1))

    for module, name, instead in (
        (close_look, "strong_probabilities", said),
        (examination, "quick_attack", lambda *given, **more: None),
    ):
        setattr(module, name, instead)


def try_one(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Publish a random table; what came of it, and what is wrong with it."""
    from tamis import read_table, verify
    from tamis.errors import CannotMeet, InputError
    from tamis.flow import Settings, consider
    from tamis.publication.bundle import publish

    rng = np.random.default_rng(seed)
    frame, roles = table_at(rng)
    settings = settings_at(rng, seed)
    source = source_at(rng, frame, folder)
    try:
        table = read_table(source, **roles)
        out = publish(consider(table, Settings(**settings)), folder / "out")
    except CannotMeet:
        return "refused: cannot be met", []
    except InputError:
        return "refused as input", []
    verify(out)
    method = json.loads((out / "manifest.json").read_text())["method"]["name"]
    kind = "people with several rows" if (out / "private" / "people.csv").exists() else "rows"
    # From csv, a text may be read as a number, a date or a missing cell.
    retyped = isinstance(source, Path) and source.suffix == ".csv"
    unlike = [] if retyped else unlike_the_original(out, frame)
    return f"{method}, {kind}", [*recount(out), *unlike]


def run(tally: Tally, most: int = 1_000, seed: int = 0) -> None:
    """Random tables, published and counted again."""
    without_close_look()
    each_case(tally, try_one, most, seed)


def each_case(
    tally: Tally, try_case: Callable[[int, Path], tuple[str, list[str]]], most: int, seed: int
) -> None:
    """Try cases by their numbers, each in a folder of its own, and note what is wrong."""
    for number in tally.until(most):
        one = seed * 1_000_003 + number
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kind, wrong = try_case(one, Path(folder))
            except Exception as error:
                kind, wrong = "failed", [f"{type(error).__name__}: {error}"]
        tally.tried[kind] += 1
        for words in wrong:
            tally.check(False, f"{words} (seed {one})")
