"""`tamis release --beside`: k holds for what was handed on before and the new release together."""

import json
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from shutil import rmtree

import numpy as np
import polars as pl
import pytest

from tamis.dp.ledger import Entry, Ledger
from tamis.errors import CannotMeet
from tamis.verification.layout import NAME

ROLES = ("--target", "goal", "--row-is-person", "--feature", "age,town")
QUICK = ("--methods", "breach", "--attackers", "nb", "--quiet")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sex, age and town each hide people well, and all of them together do not."""
    drawn = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("beside") / "people.csv"
    rows = []
    for _ in range(240):
        age, town, sex = drawn.integers(0, 12), drawn.integers(0, 12), drawn.integers(0, 2)
        rows.append(f"{age},{town},{'fm'[sex]},{'ny'[int(age + drawn.integers(0, 6) > 8)]}")
    file.write_text("\n".join(["age,town,sex,goal", *rows]) + "\n")
    return file


def test_k_holds_for_both_together_or_nothing_is_published(run, table, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    code, _, err = run("release", table, *args, *QUICK, "--out", first)
    assert code == 0, err
    manifest = json.loads((first / NAME).read_text())
    assert manifest["promises"][0]["columns"] == ["age"]
    both = (*QUICK, "--beside", first)
    code, _, err = run("release", table, *ROLES, *both, "--out", second)
    assert code == 0, err
    told = {c["name"] for c in json.loads((second / NAME).read_text())["columns"]}
    assert "town" not in told  # alone it keeps k, and beside the age it does not
    code, _, err = run("release", table, *ROLES, *both, "--out", tmp_path / "x", "--k", 30)
    assert code == 1
    assert not (tmp_path / "x").exists()


def test_a_folder_that_is_no_release_is_refused(run, table, tmp_path):
    (tmp_path / "no").mkdir()
    args = ("--out", tmp_path / "out", "--beside", tmp_path / "no")
    code, _, err = run("release", table, *ROLES, *QUICK, *args)
    assert code in (1, 2)
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_release_beside_another_is_made_again(run, table, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    assert run("release", table, *args, *QUICK, "--out", first).code == 0
    beside = (*QUICK, "--beside", first, "--out", second)
    assert run("release", table, *ROLES, *beside).code == 0
    code, said, err = run("release", "--again", second)
    assert code == 0, err
    assert "same bytes" in said
    first.rename(tmp_path / "gone")
    code, _, err = run("release", "--again", second)
    assert code in (1, 2)
    assert "Traceback" not in err


def test_an_engine_does_not_forget_what_was_handed_on(run, table, tmp_path):
    args = ("--engine", "duckdb", "--beside", tmp_path, "--out", tmp_path / "out")
    code, _, err = run("release", table, *ROLES, "--quiet", *args)
    assert code == 2
    assert "--earlier needs the table in memory" in err


def test_the_ledger_recalls_what_earlier_releases_cost(tmp_path):
    ledger = Ledger(tmp_path / "ledger.json")
    old = Entry("/data/a.csv", "ab", 1.5, into="/out/old")
    ledger.recall([old])
    ledger.recall([replace(old, id="twice")])
    assert ledger.account("/data/a.csv", "ab").epsilon == 1.5
    other = Entry("/data/b.csv", "cd", 1.5, into="/out/old")
    ledger.recall([other])
    assert ledger.account("/data/b.csv", "cd").epsilon == 1.5
    new = Entry("/data/a.csv", "ab", 1.0, into="/out/new")
    with pytest.raises(CannotMeet, match=r"at most 0\.5 is left"), ledger.spending(new, 2.0):
        pass
    assert ledger.account("/data/a.csv", "ab").epsilon == 1.5


def test_one_more_row_since_an_earlier_release_is_refused(run, table, tmp_path):
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    code, _, err = run("release", table, *args, *QUICK, "--out", tmp_path / "first")
    assert code == 0, err
    grown = tmp_path / "grown.csv"
    grown.write_text(table.read_text() + "3,4,f,y\n")
    both = (*ROLES, *QUICK, "--beside", tmp_path / "first", "--out", tmp_path / "x")
    code, _, err = run("release", grown, *both)
    assert code == 1
    assert "1 person came since an earlier release" in " ".join(err.split())
    assert not (tmp_path / "x").exists()


# People who have a name, and how their table changed between two releases.

NAMED = ("--target", "goal", "--identifier", "who", "--allow-useless", *QUICK)


def people(file, numbers, coarse=False, more=()):
    """A table in which somebody's cells depend on their number alone."""
    lines = ["who,zip,job,ward,goal"]
    for number in numbers:
        drawn = np.random.default_rng([7, number])
        place, job, ward = drawn.integers(0, 12), drawn.integers(0, 4), drawn.integers(0, 3)
        goal = "ny"[int(job + ward + drawn.integers(0, 3) > 3)]
        zip_code = "75***" if coarse else f"750{place:02}"
        lines.append(f"person {number},{zip_code},job {job},{'abc'[ward]},{goal}")
    file.write_text("\n".join([*lines, *more]) + "\n")
    return file


def fewest_candidates(*folders) -> int:
    """The fewest people who look alike in all files and are in the same ones."""
    seen: dict[str, list[object]] = {}
    for place, folder in enumerate(folders):
        rows = pl.read_csv(folder / "release.csv", infer_schema=False).drop("goal").rows()
        names = pl.read_csv(folder / "private" / "rows.csv")["person"]
        assert len(names) == len(rows)
        for name, row in zip(names, rows):
            seen.setdefault(name, [None] * len(folders))[place] = row
    return min(Counter(map(tuple, seen.values())).values())


def release_both(run, tmp_path, then, now, first=(), second=()):
    """Two releases, the second without --beside, and what a second one beside the first says."""
    one, alone, both = (tmp_path / name for name in ("one", "alone", "both"))
    code, _, err = run("release", then, *NAMED, *first, "--out", one)
    assert code == 0, err
    code, _, err = run("release", now, *NAMED, *second, "--out", alone)
    assert code == 0, err
    assert fewest_candidates(one, alone) < 5  # what --beside is for
    code, _, err = run("release", now, *NAMED, *second, "--beside", one, "--out", both)
    assert code in (0, 1), err
    assert code == 1 or fewest_candidates(one, both) >= 5
    assert both.exists() == (code == 0)
    return code, " ".join(err.split())


def test_the_rows_that_left_are_kept_by_name(run, tmp_path):
    table = people(tmp_path / "t.csv", range(120))
    code, _, err = run("release", table, *NAMED, "--out", tmp_path / "out")
    assert code == 0, err
    kept = tmp_path / "out" / "private" / "rows.csv"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "person 1" not in kept.read_text()
    rows = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    cells = pl.read_csv(table, infer_schema=False)
    of_person = {
        blake2b(f"{len(row['who'])}:{row['who']}".encode(), digest_size=10).hexdigest(): row
        for row in cells.iter_rows(named=True)
    }
    for name, row in zip(pl.read_csv(kept)["person"], rows.iter_rows(named=True)):
        assert row == {column: of_person[name][column] for column in row}


def test_a_column_that_was_recoded_since_is_counted_as_it_left(run, tmp_path):
    then = people(tmp_path / "then.csv", range(240))
    now = people(tmp_path / "now.csv", range(240), coarse=True)
    first = ("--drop", "job,ward")
    release_both(run, tmp_path, then, now, first)


def test_a_few_newcomers_in_several_classes_are_seen(run, tmp_path):
    then = people(tmp_path / "then.csv", range(240))
    now = people(tmp_path / "now.csv", range(246))
    drop = ("--drop", "zip")
    release_both(run, tmp_path, then, now, drop, drop)


def test_one_person_who_joins_with_six_rows_is_refused(run, tmp_path):
    then = people(tmp_path / "then.csv", range(240))
    more = [f"new,75001,job 1,a,{'ny'[i % 2]}" for i in range(6)]
    now = people(tmp_path / "now.csv", range(240), more=more)
    drop = ("--drop", "zip")
    code, said = release_both(run, tmp_path, then, now, drop, drop)
    assert code == 1
    assert "1 person came since an earlier release" in said


def test_columns_that_are_gone_are_named_where_they_told_the_rows_of_a_person_apart(run, tmp_path):
    again = [f"person {i},75000,job {i % 4},{'abc'[i % 3]},{'ny'[i % 2]}" for i in range(240)]
    table = people(tmp_path / "t.csv", range(240), more=again)
    one, two = tmp_path / "one", tmp_path / "two"
    code, _, err = run("release", table, *NAMED, "--drop", "zip", "--out", one)
    assert code == 0, err
    code, _, err = run("release", table, *NAMED, "--drop", "job", "--beside", one, "--out", two)
    assert code == 1
    assert "made from a table with column 'job', which this one lacks" in " ".join(err.split())
    assert "came since" not in err
    assert not two.exists()


def test_an_earlier_release_of_some_and_a_new_one_of_all(run, tmp_path):
    then = people(tmp_path / "then.csv", range(48))
    now = people(tmp_path / "now.csv", range(400))
    drop = ("--drop", "zip")
    release_both(run, tmp_path, then, now, ("--drop", "zip,job"), drop)


def test_the_same_people_and_columns_that_compose_are_released(run, tmp_path):
    table = people(tmp_path / "t.csv", range(240))
    one, two = tmp_path / "one", tmp_path / "two"
    code, _, err = run("release", table, *NAMED, "--drop", "zip,ward", "--out", one)
    assert code == 0, err
    watched = [word for word in NAMED if word != "--quiet"]
    code, _, err = run("release", table, *watched, "--beside", one, "--out", two)
    assert code == 0, err
    said = " ".join(err.split())
    assert "k = 5 and limits on what is told hold for what 1 earlier release and this one" in said
    assert "of 240 rows released before, 240 are among the 240 of today" in said
    assert fewest_candidates(one, two) >= 5
    columns = set(pl.read_csv(two / "release.csv").columns)
    assert len(columns) > 1


def test_a_folder_without_its_private_part_is_matched_by_cells_or_refused(run, tmp_path):
    table = people(tmp_path / "t.csv", range(240))
    one = tmp_path / "one"
    assert run("release", table, *NAMED, "--drop", "zip,ward", "--out", one).code == 0
    rmtree(one / "private")
    both = (*NAMED, "--drop", "zip", "--beside", one)
    code, _, err = run("release", table, *both, "--out", tmp_path / "two")
    assert code == 0, err
    other = people(tmp_path / "other.csv", range(20, 260))
    code, _, err = run("release", other, *both, "--out", tmp_path / "x")
    assert code == 2
    assert "with the private part" in " ".join(err.split())


def test_an_altered_earlier_release_counts_as_it_left(run, tmp_path):
    table = people(tmp_path / "t.csv", range(240))
    one, two = tmp_path / "one", tmp_path / "two"
    blanks = ("--methods", "suppress", "--attackers", "nb", "--quiet")
    code, _, err = run("release", table, *NAMED[:5], "--drop", "ward", *blanks, "--out", one)
    assert code == 0, err
    assert json.loads((one / NAME).read_text())["method"]["name"] == "suppress"
    args = ("--drop", "zip,ward", "--beside", one, "--out", two)
    code, _, err = run("release", table, *NAMED, *args)
    assert code == 0, err
    assert fewest_candidates(one, two) >= 5
    rmtree(one / "private")
    code, _, err = run("release", table, *NAMED, "--beside", one, "--out", tmp_path / "x")
    assert code == 2
    assert "altered on purpose" in " ".join(err.split())


def test_names_that_do_not_fit_the_rows_are_found(run, tmp_path):
    table = people(tmp_path / "t.csv", range(120))
    out = tmp_path / "out"
    assert run("release", table, *NAMED, "--out", out).code == 0
    kept = out / "private" / "rows.csv"
    whole = kept.read_text()
    for damaged in (whole + whole.splitlines()[1] + "\n", whole.replace(",", ";"), "person\n"):
        kept.write_text(damaged)
        code, _, err = run("verify", out)
        assert code == 1
        assert "private/rows.csv does not hold the names of 120 rows" in " ".join(err.split())
