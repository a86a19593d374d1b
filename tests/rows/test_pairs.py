"""Records as pairs: every question against plain loops."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

from tamis.errors import InputError
from tamis.rows.engines import Engine
from tamis.rows.pairs import (
    Pairs,
    class_totals,
    feature_gains,
    feature_totals,
    hold_pairs,
    patterns,
    sample_pairs,
)

HAS = {0: {"a", "b"}, 1: {"b"}, 2: set(), 3: {"a", "b", "c"}, 4: {"c"}, 5: {"a", "b"}}
LABELS = {0: "x", 1: "y", 2: "y", 3: "x", 4: "y", 5: "y"}


def records(engine: Engine, tmp_path, has=HAS, labels=LABELS) -> Pairs:
    rows = [(e, f) for e, features in has.items() for f in sorted(features)]
    pairs = pl.DataFrame(rows * 2, schema={"who": pl.Int64, "what": pl.String}, orient="row")
    pairs.write_parquet(tmp_path / "pairs.parquet")
    known = pl.DataFrame([*labels.items()], schema={"who": pl.Int64, "y": pl.String}, orient="row")
    known.write_parquet(tmp_path / "labels.parquet")
    opened = (engine.open(tmp_path / f"{name}.parquet") for name in ("pairs", "labels"))
    return hold_pairs(engine, *opened)


def test_totals(engine, tmp_path):
    found = records(engine, tmp_path)
    assert class_totals(found).rows() == [("x", 2), ("y", 4)]
    assert feature_totals(found).rows() == [
        ("a", "x", 2), ("a", "y", 1), ("b", "x", 2), ("b", "y", 2), ("c", "x", 1), ("c", "y", 1),
    ]  # fmt: skip


def test_patterns_and_gains_against_loops(engine, tmp_path):
    rng = np.random.default_rng(0)
    names = list("abcdef")
    has = {e: {f for f in names if rng.random() < 0.4} for e in range(60)}
    labels = {e: str(rng.integers(3)) for e in has}
    found, chosen = records(engine, tmp_path, has, labels), ["c", "a", "f"]

    def pattern(entity: int) -> int:
        return sum(1 << i for i, f in enumerate(chosen) if f in has[entity])

    wanted = Counter((pattern(e), labels[e]) for e in has)
    assert {row[:2]: row[2] for row in patterns(found, chosen).iter_rows()} == wanted
    others = [f for f in names if f not in chosen]
    more = Counter((f, pattern(e), labels[e]) for f, e in product(others, has) if f in has[e])
    assert {row[:3]: row[3] for row in feature_gains(found, chosen).iter_rows()} == more
    assert patterns(found, [])["n"].sum() == 60


def test_the_highest_bit_of_a_pattern(engine, tmp_path):
    names = [f"f{i:02}" for i in range(62)]
    found = records(engine, tmp_path, {0: set(names), 1: {names[-1]}}, {0: "x", 1: "y"})
    assert patterns(found, names)["pattern"].to_list() == [1 << 61, (1 << 62) - 1]
    with pytest.raises(InputError, match="up to 62"):
        patterns(found, [*names, "f62"])


def test_a_sample_takes_whole_entities(engine, tmp_path):
    has = {e: {"a", "b", "c"} for e in range(200)}
    pairs, labels = sample_pairs(records(engine, tmp_path, has, dict.fromkeys(has, "x")), 0.3, 7)
    assert labels.height in {60, 61}
    assert pairs.height == 3 * labels.height
    assert set(pairs["entity"]) == set(labels["entity"])


def test_other_names_of_entities_draw_the_same_records(engine, tmp_path):
    rng = np.random.default_rng(5)
    has = {e: set(rng.choice(list("abcdefg"), rng.integers(0, 6))) for e in range(300)}
    labels = {e: rng.choice(["a", "x"]) for e in has}
    names = rng.permutation(300).tolist()
    drawn: list[list[tuple[list[str] | None, str]]] = []
    for name in (dict(zip(has, has)), dict(zip(has, names))):
        (place := tmp_path / str(len(drawn))).mkdir()
        called = records(
            engine,
            place,
            {name[e]: has[e] for e in sorted(has, key=lambda e: name[e])},
            {name[e]: labels[e] for e in has},
        )
        pairs, of = sample_pairs(called, 0.3, 7)
        features = dict(pairs.group_by("entity").agg(pl.col("feature").sort()).iter_rows())
        drawn.append([(features.get(e), label) for e, label in of.iter_rows()])
    assert drawn[0] == drawn[1]
    assert 70 < len(drawn[0]) < 110


@pytest.mark.parametrize(
    ("pairs", "labels", "words"),
    [
        ([(None, "a")], [(1, "x")], "missing cell"),
        ([(1, "a")], [(1, "x"), (1, "y")], "several labels"),
        ([(2, "a")], [(1, "x")], "without a label"),
    ],
)
def test_what_cannot_be_joined_is_refused(engine, tmp_path, pairs, labels, words):
    for name, rows in (("pairs", pairs), ("labels", labels)):
        frame = pl.DataFrame(rows, schema={"e": pl.Int64, "v": pl.String}, orient="row")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    opened = [engine.open(tmp_path / f"{name}.parquet") for name in ("pairs", "labels")]
    with pytest.raises(InputError, match=words):
        hold_pairs(engine, *opened)
