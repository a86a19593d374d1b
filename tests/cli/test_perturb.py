"""`tamis perturb`: files written, results told, wrong requests refused."""

from __future__ import annotations

import errno
import gzip
import json
import stat
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from tamis import k_anonymity

BOUNDS = """
missing = ["weight"]
[bounds]
age = [0, 99]
weight = [30.0, 150.0]
job = ["cook", "judge", "nurse"]
ill = ["no", "yes"]
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = 400
    frame = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 90, rows),
            "weight": rng.normal(70, 10, rows).round(1),
            "job": rng.choice(["cook", "judge"], rows),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )
    path = tmp_path / "people.csv"
    gaps = pl.when(pl.col("age") > 80).then(None).otherwise("weight").alias("weight")
    frame.with_columns(gaps).write_csv(path)
    return path


@pytest.fixture
def bounds(tmp_path: Path) -> Path:
    path = tmp_path / "bounds.toml"
    path.write_text(BOUNDS)
    return path


@pytest.fixture
def records(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    cells = rng.random((300, 8)) < np.where(y, 0.6, 0.2)[:, None]
    path = tmp_path / "records.svm"
    lines = [
        f"{label} " + " ".join(f"{i + 1}:1" for i in np.flatnonzero(row))
        for label, row in zip(y, cells)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("method", ["uniform", "gaussian"])
def test_noise_is_written_without_identifiers_and_told(run, table, tmp_path, method) -> None:
    out = tmp_path / "noisy.csv"
    options = ["--target", "ill", "--identifier", "name", "--probability", 0.5, "-o", out]
    done = run("perturb", table, "--method", method, *options, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["columns"] == ["age", "weight", "job"]
    assert 0.3 < told["altered_share"] < 0.55
    frame, before = pl.read_csv(out), pl.read_csv(table)
    assert frame.columns == ["age", "weight", "job", "ill"]
    assert sorted(frame["ill"]) == sorted(before["ill"])
    assert frame.schema["age"] == pl.Int64


AT_RANDOM = ["uniform", "gaussian", "swap", "pram", "flip"]


@pytest.mark.parametrize("method", AT_RANDOM)
def test_what_is_drawn_has_a_secret_that_is_kept_beside_the_file(
    run, table, records, tmp_path, method
):
    given = [records] if method == "flip" else [table, *NAMED]
    asked, out = [*given, "--method", method], tmp_path / "drawn.csv"
    kept = out.with_name("drawn.csv.secret.json")
    done = run("perturb", *asked, "-o", out, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["secret_file"] == str(kept)
    assert "Keep it to yourself" in " ".join(done.err.split())
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    first, seed = out.read_bytes(), json.loads(kept.read_text())["seed"]
    assert int(seed).bit_length() > 64
    assert seed not in done.out + done.err
    assert seed.encode() not in first
    run("perturb", *asked, "-o", out)
    assert json.loads(kept.read_text())["seed"] != seed
    if method != "flip":  # rows may become alike in one way only
        assert out.read_bytes() != first
    again = run("perturb", *asked, "-o", tmp_path / "again.csv", "--seed", seed)
    assert (tmp_path / "again.csv").read_bytes() == first
    assert "found by trial" not in again.err
    assert not (tmp_path / "again.csv.secret.json").exists()


@pytest.mark.parametrize(
    "other",
    [
        ("--method", "swap", "--seed", 1 << 100),
        ("--method", "microaggregate", "--k", 4, "--columns", "age,weight"),
    ],
)
def test_a_secret_goes_with_the_file_that_it_drew(run, table, tmp_path, other):
    out = tmp_path / "x.csv"
    kept = tmp_path / "x.csv.secret.json"
    assert run("perturb", table, *NAMED, "--method", "swap", "-o", out).code == 0
    assert kept.exists()
    done = run("perturb", table, *NAMED, *other, "-o", out)
    assert done.code == 0, done.err
    assert not kept.exists()
    assert "x.csv.secret.json was removed" in " ".join(done.err.split())


def test_no_altered_file_is_there_without_its_secret(run, table, tmp_path, monkeypatch):
    """Whatever cannot keep the secret leaves the former file and writes no other."""
    out = tmp_path / "x.csv"
    out.write_text("former")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("tamis.cli.perturb._keep_secret", fail)
    code, _, err = run("perturb", table, *NAMED, "--method", "swap", "-o", out)
    assert code == 1
    assert "there is no room to write" in err
    assert out.read_text() == "former"


def test_a_file_that_cannot_be_written_keeps_the_former_secret(run, table, tmp_path, monkeypatch):
    out = tmp_path / "x.csv"
    assert run("perturb", table, *NAMED, "--method", "swap", "-o", out).code == 0
    kept = (tmp_path / "x.csv.secret.json").read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("tamis.verification.checks.write_table", fail)
    for more in ((), ("--seed", 1 << 100)):
        code, _, err = run("perturb", table, *NAMED, "--method", "swap", "-o", out, *more)
        assert code == 1
        assert "there is no room to write" in err
        assert (tmp_path / "x.csv.secret.json").read_bytes() == kept


def test_a_short_seed_is_allowed_with_a_warning(run, table, tmp_path):
    out = tmp_path / "x.csv"
    done = run("perturb", table, *NAMED, "--method", "swap", "--seed", 0, "-o", out)
    assert done.code == 0
    assert "can be found by trial" in " ".join(done.err.split())


def test_what_draws_nothing_has_no_secret(run, table, tmp_path):
    out = tmp_path / "x.csv"
    asked = ("--method", "microaggregate", "--k", 4, "--columns", "age,weight", "-o", out)
    assert run("perturb", table, *NAMED, *asked).code == 0
    assert [path.name for path in tmp_path.glob("x.csv*")] == ["x.csv"]


def test_flipped_records_are_k_anonymous_in_the_file(run, records, tmp_path) -> None:
    out = tmp_path / "flipped.parquet"
    done = run("perturb", records, "--method", "flip", "--k", 7, "-o", out, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    frame = pl.read_parquet(out)
    assert k_anonymity(frame.drop("label")) == told["k_anonymity"] >= 7
    assert 0 < told["flipped_share"] < 0.5
    words = run("perturb", records, "--method", "flip", "-o", tmp_path / "f.csv").out
    assert "of the cells were flipped" in words


@pytest.mark.parametrize("method", ["dp-histogram", "dp-marginals", "dp-partition"])
def test_private_tables_are_drawn_within_their_bounds(run, table, bounds, tmp_path, method) -> None:
    out = tmp_path / "drawn.csv"
    roles = ["--target", "ill", "--identifier", "name", "--bounds", bounds, "--bins", 3]
    done = run("perturb", table, "--method", method, "--epsilon", 2, *roles, "-o", out, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["epsilon"] == pytest.approx(2)
    assert told["guarantee"] is True
    assert told["neighbours"] == "add-remove"
    frame = pl.read_csv(out)
    assert frame.columns == ["age", "weight", "job", "ill"]
    assert frame["age"].is_between(0, 99).all()
    assert told["rows"] == frame.height


ITEMS = """
items = ["1", "2", "3", "4", "5", "6", "7", "9"]
[bounds]
label = ["0", "1"]
"""


def test_columns_are_chosen_with_half_of_epsilon(run, records, tmp_path) -> None:
    out = tmp_path / "drawn.csv"
    (tmp_path / "items.toml").write_text(ITEMS)
    options = ["--method", "dp-histogram", "--epsilon", 2, "--features", 3, "-o", out]
    done = run("perturb", records, *options)
    assert done.code == 2
    assert "list the publicly known items" in done.err
    options += ["--bounds", tmp_path / "items.toml"]
    done = run("perturb", records, *options, "--mechanism", "laplace", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert len(told["features"]) == 3
    assert "8" not in told["features"]  # somebody has it, but it is no public item
    assert [s["epsilon"] for s in told["spent"]] == [1.0, 1.0]
    assert told["rows"] == 300
    assert "epsilon 2 spent" in run("perturb", records, *options).out


def test_what_is_spent_on_a_table_adds_up(run, table, bounds, tmp_path) -> None:
    out, ledger = tmp_path / "drawn.csv", tmp_path / "tamis-ledger.json"
    options = ["--target", "ill", "--identifier", "name", "--bounds", bounds, "--bins", 2]
    options += ["--method", "dp-histogram", "--epsilon", 1, "-o", out]
    assert "Epsilon 1 is spent on this table in total, over 1 release" in (
        run("perturb", table, *options).out
    )
    assert ledger.stat().st_mode & 0o777 == 0o600
    copy = tmp_path / "renamed.csv"
    copy.write_bytes(table.read_bytes())
    done = run("perturb", copy, *options, "--json")
    assert json.loads(done.out)["epsilon_total"] == 2.0
    out.unlink()
    done = run("perturb", table, *options, "--max-epsilon", 2.5)
    assert done.code == 1
    assert "2 of epsilon is spent" in done.err
    assert not out.exists()
    done = run("perturb", table, *options, "--max-epsilon", 2.5, "--ledger", tmp_path / "own.json")
    assert done.code == 0, done.err


def test_a_copy_in_another_form_is_the_same_table(run, table, bounds, tmp_path) -> None:
    ledger, out = tmp_path / "ledger.json", tmp_path / "drawn.csv"
    options = ["--target", "ill", "--identifier", "name", "--bounds", bounds, "--bins", 2]
    options += ["--method", "dp-histogram", "--epsilon", 1, "--ledger", ledger, "-o", out]
    assert run("perturb", table, *options, "--max-epsilon", 1.5).code == 0
    frame = pl.read_csv(table)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    frame.write_parquet(tmp_path / "b.parquet")
    frame.reverse().write_csv(tmp_path / "c.csv")
    (tmp_path / "d.csv").write_bytes(table.read_bytes() + b"\n\n")
    with duckdb.connect(str(tmp_path / "e.duckdb")) as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM '{table}'")
    for copy in ("a.csv.gz", "b.parquet", "c.csv", "d.csv", "e.duckdb::people"):
        out.unlink(missing_ok=True)
        done = run("perturb", tmp_path / copy, *options, "--max-epsilon", 1.5)
        assert done.code == 1, (copy, done.err)
        assert "1 of epsilon is spent on this table, and 1 more would exceed" in done.err
        assert not out.exists()
    ledger.write_text("")
    done = run("perturb", table, *options, "--max-epsilon", 1.5)
    assert done.code == 2
    assert "ledger.json is damaged: it is empty" in done.err
    assert not out.exists()


def test_a_table_that_is_not_there_is_said(run, bounds, tmp_path) -> None:
    options = ["--method", "dp-histogram", "--epsilon", 1, "--bounds", bounds]
    done = run("perturb", tmp_path / "none.csv", *options, "-o", tmp_path / "x.csv")
    assert done.code == 2
    assert "none.csv" in done.err
    assert not (tmp_path / "tamis-ledger.json").exists()


def test_what_fails_is_not_spent(run, table, bounds, tmp_path) -> None:
    options = ["--target", "ill", "--identifier", "name", "--bounds", bounds]
    options += ["--method", "dp-histogram", "--epsilon", 1, "--bins", 1000]
    done = run("perturb", table, *options, "-o", tmp_path / "x.csv")
    assert done.code == 1
    assert "at most 262,144 can be counted" in done.err
    entries = json.loads((tmp_path / "tamis-ledger.json").read_text())["entries"]
    assert entries == []


def test_people_add_as_many_rows_as_is_said(run, table, bounds, tmp_path) -> None:
    once = pl.read_csv(table)
    pl.concat([once, once]).write_csv(table)  # everybody twice
    options = ["--target", "ill", "--bounds", bounds, "--bins", 2, "--epsilon", 50]
    options += ["--method", "dp-histogram", "-o", tmp_path / "x.csv", "--json"]
    who = ["--identifier", "name"]
    one = json.loads(run("perturb", table, *options, *who).out)
    two = json.loads(run("perturb", table, *options, *who, "--max-rows-per-person", 2).out)
    assert abs(one["rows"] - 400) < 60
    assert abs(two["rows"] - 800) < 60
    assert (one["unit"], two["max_rows_per_person"]) == ("person", 2)
    done = run("perturb", table, *options, "--drop", "name", "--max-rows-per-person", 2)
    assert done.code == 2
    assert "--identifier" in done.err
    assert json.loads(run("perturb", table, *options, "--drop", "name").out)["unit"] == "row"


def test_bounds_from_the_data_are_told_loudly(run, table, tmp_path) -> None:
    out = tmp_path / "drawn.csv"
    options = ["--target", "ill", "--identifier", "name", "--method", "dp-partition"]
    done = run(
        "perturb", table, *options, "--epsilon", 1, "--bounds-from-data", "-o", out, "--bins", 2
    )
    assert done.code == 0, done.err
    assert "NO DIFFERENTIAL PRIVACY" in done.err
    assert "Do not publish" in done.out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--method", "dp-histogram", "-o", "x.csv"], 2, "needs --epsilon"),
        (["--method", "dp-histogram", "--epsilon", 0, "-o", "x.csv"], 2, "epsilon"),
        (["--method", "dp-histogram", "--epsilon", 1, "-o", "x.csv"], 2, "no public bounds"),
        (["--method", "uniform", "--probability", 2, "-o", "x.csv"], 2, "from 0 to 1"),
        (["--method", "uniform", "-o", "x.txt"], 2, ".csv or .parquet"),
        (["--method", "flip", "--k", 5000, "-o", "x.csv"], 1, "cannot be met by 400 rows"),
        (["--method", "dp-synthesiser", "--epsilon", 1, "-o", "x.csv"], 2, "no public bounds"),
        (["--method", "dp-synthesiser", "--epsilon", 1, "--delta", 1, "-o", "x.csv"], 2, "delta"),
        (["--method", "uniform", "--bounds", "none.toml", "-o", "x.csv"], 2, "no file none.toml"),
    ],
)
def test_wrong_requests_end_with_a_message(
    run, table, tmp_path, monkeypatch, options, code, words
) -> None:
    monkeypatch.chdir(tmp_path)
    roles = ["--target", "ill", "--identifier", "name"]
    done = run("perturb", table, *roles, *options)
    assert done.code == code, done.err
    assert words in done.err
    assert not list(tmp_path.glob("x.*"))


def test_a_file_of_bounds_holds_bounds_only(run, table, tmp_path) -> None:
    wrong = tmp_path / "wrong.toml"
    for text, words in (
        ("age = [0, 99]", "[bounds]"),
        ("[bounds", "not a TOML file"),
        ("rows = 0", "rows must be a whole number"),
        ('items = ["a", "a"]', "occurs twice"),
        ("items = [1]", "list of names"),
        ('items = "none.txt"', "no text file"),
    ):
        wrong.write_text(text)
        done = run(
            "perturb", table, "--method", "uniform", "--bounds", wrong, "-o", tmp_path / "x.csv"
        )
        assert done.code == 2
        assert words in done.err


def test_a_flipped_table_can_be_released_and_verified(run, tmp_path) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    cells = (rng.random((200, 12)) < np.where(y, 0.6, 0.2)[:, None]).astype(int)
    path, out = tmp_path / "cells.csv", tmp_path / "out"
    frame = pl.DataFrame(cells, schema=list("abcdefghijkl"))
    frame.with_columns(y=np.where(y, "u", "v")).write_csv(path)
    options = ["--target", "y", "--attackers", "nb", "--methods", "flip", "--take", "flip, k = 5"]
    options += ["--out", out]
    done = run("release", path, *options)
    assert done.code == 0, done.err
    assert run("verify", out).code == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert json.loads((out / "private" / "recipe.json").read_text())["method"] == "flip"
    assert [p["at_least"] for p in manifest["promises"]] == [5]
    assert "seed" not in (out / "manifest.json").read_text()
    again = run("release", "--again", out, "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert (tmp_path / "again" / "release.csv").read_bytes() == (out / "release.csv").read_bytes()
    assert k_anonymity(pl.read_csv(out / "release.csv").drop("y")) >= 5


NAMED = ("--target", "ill", "--identifier", "name")


def test_microaggregation_makes_k_rows_alike_and_writes_no_name(run, table, tmp_path):
    out = tmp_path / "m.csv"
    asked = ("--method", "microaggregate", "--k", "4", "-o", out, "--json")
    done = run("perturb", table, *NAMED, *asked)
    found = json.loads(done.out)
    written = pl.read_csv(out)
    assert "name" not in written.columns
    assert k_anonymity(written.drop("ill")) == found["k_anonymity"] >= 4
    assert written["age"].mean() == pytest.approx(pl.read_csv(table)["age"].mean())
    assert 0 < found["lost"] < 1


def test_suppression_counts_a_blank_as_a_value_unless_told(run, table, tmp_path):
    out = tmp_path / "s.csv"
    asked = ("--method", "suppress", "--quasi", "age,job", "--k", "4", "-o", out, "--json")
    found = json.loads(run("perturb", table, *NAMED, *asked, "--weights", "age=0.5").out)
    written = pl.read_csv(out)
    assert k_anonymity(written, ["age", "job"]) == found["k_anonymity"] >= 4
    blanks = {c: int(written[c].null_count()) for c in ("age", "job")}
    assert found["blanked"] == blanks
    loose = json.loads(run("perturb", table, *NAMED, *asked, "--blank", "anything").out)
    assert "k_anonymity" not in loose
    assert loose["matches"] >= 4
    assert sum(loose["blanked"].values()) < sum(blanks.values())


def test_swapping_and_pram_keep_what_they_say_and_repeat_by_seed(run, table, tmp_path):
    before = pl.read_csv(table)
    for method, column in (("swap", "age"), ("pram", "job")):
        files = [tmp_path / f"{method}{i}.csv" for i in range(2)]
        for out in files:
            run("perturb", table, *NAMED, "--method", method, "--seed", "5", "-o", out)
        written = pl.read_csv(files[0])
        assert files[0].read_bytes() == files[1].read_bytes()
        assert not written[column].equals(before[column])
        assert set(written[column]) <= set(before[column])
        assert sorted(written["ill"]) == sorted(before["ill"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("swap", "--within", "2"), "within must be a share"),
        (("swap", "--columns", "job"), "neither numbers nor dates"),
        (("suppress", "--weights", "age"), "--weights takes the form"),
        (("microaggregate", "--k", "1000"), "k = 1000 cannot be met"),
    ],
)
def test_wrong_requests_of_these_methods_are_refused(run, table, tmp_path, options, words):
    done = run("perturb", table, *NAMED, "--method", *options, "-o", tmp_path / "x.csv")
    assert done.code != 0
    assert words in done.err
    assert not (tmp_path / "x.csv").exists()


def test_moved_dates_keep_their_secret_beside_the_file_and_repeat_by_it(run, tmp_path):
    path, out, again = (tmp_path / name for name in ("stays.csv", "out.csv", "again.csv"))
    came = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 12, 30), "1d", eager=True)
    frame = pl.DataFrame({"who": [f"p{i // 3}" for i in range(len(came))], "came": came})
    frame.with_columns(left=pl.col("came").dt.offset_by("4d")).write_csv(path)
    asked = ("perturb", path, "--identifier", "who", "--method", "shift", "--days", "60",
             "--feature", "came,left")  # fmt: skip
    done = run(*asked, "-o", out)
    assert done.code == 0, done.err
    assert "whoever knows one date knows" in done.out
    seed = json.loads((tmp_path / "out.csv.secret.json").read_text())["seed"]
    assert int(seed).bit_length() > 64
    assert run(*asked, "-o", again, "--seed", seed).code == 0
    assert out.read_bytes() == again.read_bytes()
    rows = pl.read_csv(out, try_parse_dates=True)
    assert rows.columns == ["came", "left"]
    assert (rows["left"] - rows["came"]).dt.total_days().unique().to_list() == [4]
    assert set(rows["came"]) <= set(came)
    far = run("perturb", path, "--identifier", "who", "--method", "shift", "--days", "400",
              "--feature", "came,left", "-o", again)  # fmt: skip
    assert (far.code, "ask for fewer days" in " ".join(far.err.split())) == (1, True)
