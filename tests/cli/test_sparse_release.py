"""`tamis release` on sparse records: wider than what is compared, written dense and sparse."""

from __future__ import annotations

import json
from hashlib import sha256
from shutil import rmtree

import numpy as np
import polars as pl
import pytest

from tamis.propose import containment
from tamis.publication import bundle
from tamis.verification.layout import write_json
from tests.long import daily

ROWS, WIDE = 500, 60


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(containment, "MOST_COLUMNS", 20)


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    """Items 0 to 59: the first teach the label item "spam", the tenth one is the secret's twin."""
    rng = np.random.default_rng(0)
    ones = rng.random((ROWS, WIDE)) < 0.06
    spam = rng.random(ROWS) < 0.4
    ones[:, :3] = rng.random((ROWS, 3)) < np.where(spam, 0.7, 0.1)[:, None]
    ones[:, 10] = ones[:, 11]
    items = [
        [*(f"i{c}" for c in np.flatnonzero(row)), *(["spam"] if s else [])]
        for row, s in zip(ones, spam)
    ]
    path = tmp_path_factory.mktemp("baskets") / "t.basket"
    path.write_text("\n".join(" ".join(row) for row in items) + "\n")
    return path


FAST = ("--methods", "containment,front", "--attackers", "nb", "--label-item", "spam", "--quiet")


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("write", "file"),
    daily(
        [((), "release.csv"), (("--write", "long"), "release.long.csv")],
        (("--write", "long"), "release.long.csv"),
    ),
)
def test_wide_records_become_a_verified_release(run, baskets, tmp_path, write, file):
    out = tmp_path / "out"
    code, _, err = run("release", baskets, *FAST, "--sensitive", "i10", "--out", out, *write)
    assert code == 0, err
    content = manifest_of(out)
    assert content["file"]["name"] == file
    released = [c["name"] for c in content["columns"] if c["role"] == "feature"]
    assert "i10" not in released
    # All columns of the records, the sensitive one included, less those that are released.
    assert content["held_back"] == WIDE - len(released)
    assert "i10" not in (out / file).read_text().split(",")
    summary = json.loads((out / "private" / "summary.json").read_text())
    # The secret and its twin stay: everything that could be released is without them.
    assert summary["table"]["features"] == WIDE - 2
    whole = next(c for c in summary["candidates"] if c["baseline"])
    assert whole["size"] == WIDE - 2
    assert whole["fails"]
    stayed = f"{content['held_back']} columns of the original stayed with the data holder"
    assert stayed in (out / "report.html").read_text()
    assert run("verify", out).code == 0
    assert run("release", "--again", out, "--quiet").code == 0


def test_a_libsvm_release_keeps_its_names_and_its_promise(run, baskets, tmp_path):
    out = tmp_path / "out"
    assert run("release", baskets, *FAST, "--write", "svm", "--out", out).code == 0
    content = manifest_of(out)
    assert content["file"]["classes"] == ["not spam", "spam"]
    lines = (out / "release.svm").read_text().splitlines()
    assert len(lines) == ROWS
    names = [c["name"] for c in content["columns"][:-1]]
    has = [{names[int(w.split(":")[0]) - 1] for w in line.split()[1:]} for line in lines]
    holders = min(sum(row <= other for other in has) for row in has)
    (promise,) = content["promises"]
    assert holders == promise["measured"] >= 5
    # One row has more than it had: the promise is counted again, even where the hash fits.
    everything = " ".join(["0", *(f"{i}:1" for i in range(1, len(names) + 1))])
    (out / "release.svm").write_text("\n".join([everything, *lines[1:]]) + "\n")
    assert "SHA-256" in run("verify", out).err
    content["file"]["sha256"] = sha256((out / "release.svm").read_bytes()).hexdigest()
    write_json(out / "manifest.json", content)
    rmtree(out / "private")
    code, _, err = run("verify", out)
    assert code == 1
    assert f"but the manifest says {promise['measured']}" in err


def _fewer_ones(lines):
    """One row has a feature less."""
    at = next(i for i in range(2, len(lines)) if _row(lines[i]) == _row(lines[i - 1]))
    return [*lines[:at], *lines[at + 1 :]]


def _one_more(lines):
    """The first row has a feature more, where the order of columns has it."""
    row, _, label = lines[1].split(",")
    names = sorted({line.split(",")[1] for line in lines[1:]} - {""})
    has = {line.split(",")[1] for line in lines if _row(line) == row}
    fresh = next(name for name in names if name not in has)
    mine = [f"{row},{name},{label}" for name in sorted({*has, fresh} - {""})]
    return [lines[0], *mine, *(line for line in lines[1:] if _row(line) != row)]


def _no_last_row(lines):
    return [line for line in lines if _row(line) != _row(lines[-1])]


def _one_more_row(lines):
    _, rest = lines[-1].split(",", 1)
    return [*lines, f"{int(_row(lines[-1])) + 1},{rest}"]


def _labels_swapped(lines):
    """Two rows of different labels have each other's."""
    label = {_row(line): line.split(",")[2] for line in lines[1:]}
    one, two = "1", next(row for row in label if label[row] != label["1"])
    label[one], label[two] = label[two], label[one]
    return [lines[0], *(",".join([*line.split(",")[:2], label[_row(line)]]) for line in lines[1:])]


def _row(line):
    return line.split(",")[0]


def test_damage_of_a_long_release_is_noticed(run, baskets, tmp_path):
    out = tmp_path / "out"
    assert run("release", baskets, *FAST, "--write", "long", "--out", out).code == 0
    file = out / "release.long.csv"
    written = file.read_text()
    for damage in (_fewer_ones, _one_more, _no_last_row, _one_more_row, _labels_swapped):
        damaged = "\n".join(damage(written.splitlines())) + "\n"
        assert damaged != written
        file.write_text(damaged)
        code, _, err = run("verify", out)
        assert code == 1, damage.__name__
        assert "SHA-256" in err
    file.write_text(written)
    assert run("verify", out).code == 0


def test_several_classes(run, tmp_path):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 400)
    ones = rng.random((400, 40)) < 0.05
    ones[:, :3] = rng.random((400, 3)) < np.where(np.eye(3)[label], 0.8, 0.1)
    lines = [
        " ".join([f"c{y}", *(f"{c + 1}:1" for c in np.flatnonzero(row))])
        for y, row in zip(label, ones)
    ]
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    out = tmp_path / "out"
    code, said, err = run(
        "release", tmp_path / "t.svm", "--methods", "front", "--attackers", "nb", "--json",
        "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert len({"1", "2", "3"} & set(json.loads(said)["features"])) >= 2
    assert manifest_of(out)["held_back"] >= 20


def test_many_columns_of_several_classes_are_released_long(run, tmp_path, monkeypatch):
    """Containment chooses more columns than are compared otherwise; they are written long."""
    monkeypatch.setattr(bundle, "MOST_UNSTACKED", 25)
    rng = np.random.default_rng(2)
    label = np.repeat(np.arange(4), 120)
    word = label * 10 + rng.integers(0, 10, len(label))
    pairs: list[tuple[str, str | None, str]] = [
        (f"p{i}", f"w{w}", f"c{y}") for i, (w, y) in enumerate(zip(word, label))
    ]
    pairs += [(f"p{i}", "nearly all", f"c{y}") for i, y in enumerate(label)]
    pairs += [("silent", None, "c0"), ("rare", "w0", "once"), ("rare", "only here", "once")]
    path, out = tmp_path / "words.parquet", tmp_path / "out"
    pl.DataFrame(pairs, schema=["who", "word", "kind"], orient="row").write_parquet(path)
    code, said, err = run(
        "release", path, "--long", "who,word", "--target", "kind", "--methods", "containment",
        "--attackers", "nb", "--json", "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert len(json.loads(said)["features"]) > 25
    assert "only here" not in json.loads(said)["features"]
    content = manifest_of(out)
    assert content["file"]["format"] == "long"
    lines = (out / "release.long.csv").read_text().splitlines()
    assert len({_row(line) for line in lines[1:]}) == len(label) + 2
    assert sum(line.endswith(",,c0") for line in lines) >= 1
    assert run("verify", out).code == 0


def test_roles_that_sparse_records_lack_are_refused(run, baskets, tmp_path):
    for flag in ("--quasi", "--identifier", "--feature"):
        code, _, err = run("release", baskets, *FAST, flag, "i1", "--out", tmp_path / "out")
        assert code == 2
        assert f"{flag} is for tables" in err
    code, _, err = run("release", baskets, *FAST, "--sensitive", "eggs", "--out", tmp_path / "out")
    assert code == 2
    assert "no feature 'eggs'" in err


def test_a_feature_named_like_the_label_is_not_lost(run, tmp_path):
    path = tmp_path / "t.basket"
    path.write_text("label a\na spam\n" * 60)
    code, _, err = run("release", path, "--label-item", "spam", "--out", tmp_path / "out")
    assert code == 2
    assert "name of the label" in err


def test_numbers_are_not_written_as_zeros_and_ones(run, tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 4, 300)
    pl.DataFrame({"age": age, "ill": (age > 1).astype(int)}).write_csv(tmp_path / "t.csv")
    code, _, err = run(
        "release", tmp_path / "t.csv", "--target", "ill", "--methods", "front",
        "--write", "svm", "--out", tmp_path / "out", "--quiet",
    )  # fmt: skip
    assert code == 2
    assert "0 and 1" in err
    assert not (tmp_path / "out").exists()
