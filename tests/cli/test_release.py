"""`tamis release`, `verify` and `demo`: the whole flow from the command line."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Settings, Table, consider
from tamis.analyse import analyse
from tamis.cli import _run
from tamis.cli.release.outcome_words import kept_told_words, print_front
from tamis.datasets import patients
from tamis.publication.recipe import RECIPE_VERSION
from tests.long import long

ROLES = (
    "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient",
    "--quasi", "zip,birth_year,sex,job",
)  # fmt: skip
CONFIG = """
attackers = ["nb"]
weights = { performance = 0.4, privacy = 0.4, size = 0.2 }

[breach]
search = "walk"
folds = 3
most = 3

[containment]
ks = [20]
utilities = ["difference"]

[noise]
levels = [0.2]
"""
FEW_METHODS = ("--methods", "breach,containment")
"""Less to search, where another test has what all methods find."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    patients(rows=400).frame.write_csv(folder / "stays.csv")
    (folder / "fast.toml").write_text(CONFIG)
    return folder


@pytest.fixture
def args(folder):
    return (folder / "stays.csv", *ROLES, "--config", folder / "fast.toml")


@pytest.fixture(scope="module")
def made(folder):
    """What a release says, and a folder to read from, not to change."""
    out = folder / "made"
    said, err = StringIO(), StringIO()
    args = (folder / "stays.csv", *ROLES, "--config", folder / "fast.toml", *FEW_METHODS)
    with redirect_stdout(said), redirect_stderr(err):
        code = _run(["release", *map(str, args), "--out", str(out)])
    assert code == 0, err.getvalue()
    return out, said.getvalue(), err.getvalue()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_table_becomes_a_verified_release(run, made, tmp_path):
    out, said, err = made
    assert "Released:" in said
    assert f"Your report: {out / 'private' / 'report.html'}" in said
    assert "read 400 rows" in err
    assert names(out) == ["manifest.json", "private", "release.csv", "report.html"]
    code, said, _ = run("verify", out)
    assert code == 0
    assert "matches its manifest" in said
    assert "People who look alike were counted again." in said
    assert "k_anonymity" not in said
    checked = json.loads(run("verify", out, "--json").out)
    assert checked["verified"] is True
    assert checked["exposure"]["total"] == 400
    assert "In all released columns together, " in said

    spoilt = shutil.copytree(out, tmp_path / "spoilt")
    (spoilt / "release.csv").write_text("x\n1\n")
    code, _, err = run("verify", spoilt)
    assert code == 1
    assert "does not match its manifest" in err


def test_a_measured_sensitive_column_is_guessed_by_interval(run, args, tmp_path):
    out = tmp_path / "out"
    code, said, err = run("release", *args, *FEW_METHODS, "--sensitive", "albumin", "--out", out)
    assert code == 0, err
    assert "guesses albumin correctly" in said
    page = (out / "private" / "report.html").read_text()
    assert (
        "albumin takes many numeric values, so naming the right interval counts as guessing it"
        in page
    )
    assert "interval counts as guessing it" not in (out / "report.html").read_text()


def test_how_sure_the_choice_is_is_said_where_kept_and_told_choose(run, args, tmp_path):
    code, said, err = run("release", *args, *FEW_METHODS, "--out", tmp_path / "value")
    assert code == 0, err
    assert re.search(
        r"the same release would be chosen in \d+% of cases\. (Not shown|No other)", said
    )
    ranked = ("--choose", "ranks", "--out", tmp_path / "ranks")
    code, said, err = run("release", *args, *FEW_METHODS, *ranked)
    assert code == 0, err
    assert "would be chosen in" not in said


def test_json_tells_all(run, args, tmp_path):
    code, said, err = run("release", *args, "--out", tmp_path / "out", "--json")
    assert code == 0
    assert err.splitlines() == [line for line in err.splitlines() if "'zip' (leading zeros" in line]
    found = json.loads(said)
    assert set(found["features"]) <= {c["name"] for c in found["manifest"]["columns"]}
    assert {"features", "performance", "pbi", "region", "score"} <= set(found["candidates"][0])
    assert {m["name"] for m in found["methods"]} == {"front", "coarsen", "breach", "containment"}
    assert 0 < found["chosen_again"] <= 1
    assert set(found["as_good"]) <= {c["name"] for c in found["candidates"]}
    assert found["release"] not in found["as_good"]


OWN = """
from tamis import RuleMeasure
def gone(rule):
    return max(0.0, rule.share_before - rule.share_after)
held = RuleMeasure("held", "max", lambda rule: rule.share_after)
"""


def test_a_measure_of_ones_own_is_limited_shown_and_named_again_to_reproduce(
    run, args, tmp_path, monkeypatch
):
    module = f"own_of_release_{abs(hash(tmp_path)) % 10**9}"
    (tmp_path / f"{module}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    own = ("--measure", f"{module}:gone", "--measure", f"{module}:held")
    asked = (*args, *FEW_METHODS, "--quiet", *own, "--limit", "gone=0.9,rld=1")
    code, out, err = run("release", *asked, "--out", "one")
    assert code == 0, err
    assert re.search(r"Of the rules, gone is 0\.\d+ \(limit 0\.9\)\.", out)
    assert re.search(r"Of the rules, held is 0\.\d+\.", out)
    page = (tmp_path / "one" / "private" / "report.html").read_text()
    assert "gone: " in page
    shared = (tmp_path / "one" / "report.html").read_text()
    assert "gone" not in shared
    said = json.loads(run("release", *asked, "--out", "json", "--json").out)
    assert set(said["rule_measures"]) == {"gone", "held", "rld"}
    code, _, err = run("release", *asked, "--limit", "held=2", "--out", "none")
    assert code == 1
    assert "the measure held of the rules must be at least 2" in err
    code, _, err = run("release", "--reproduce", "one")
    assert code == 2
    assert "made with the measures 'gone', 'held'; give the same with --measure" in err
    assert run("release", "--reproduce", "one", *own).code == 0


def test_the_same_bytes_again(run, args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = (*FEW_METHODS, "--seed", 3, "--write", "parquet", "--describe", "card,croissant")
    assert run("release", *args, *asked, "--out", "one").code == 0
    code, said, err = run("release", "--again", "one", "--out", "two")
    assert code == 0, err
    assert "Reproduced the same bytes" in said
    assert {"README.md", "croissant.json"} < {*names(Path("two"))}
    shared = [name for name in names(Path("two")) if name != "private"]
    for name in (*shared, "private/scorecard.json"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    assert json.loads(run("release", "--again", "one", "--json").out)["same"] is True
    assert names(tmp_path) == ["one", "two"]

    moved = tmp_path / "moved.csv"
    moved.write_text("other,readmitted\n1,yes\n")
    code, _, err = run("release", moved, "--again", "one")
    assert code == 2
    assert "not the file that the release was made from" in err
    (tmp_path / "two" / "private" / "recipe.json").unlink()
    code, _, err = run("release", "--again", "two")
    assert code == 2
    assert "two has no private/recipe.json" in err


def test_what_cannot_be_met_publishes_nothing(run, args, tmp_path):
    asked = (*FEW_METHODS, "--min-performance", 0.99)
    code, said, err = run("release", *args, *asked, "--out", tmp_path / "out")
    assert code == 1
    assert said == ""
    assert "must be at least 0.99 but is" in err
    assert "The closest is" in err
    assert names(tmp_path) == []


def test_limits_are_kept(run, args, tmp_path):
    methods = ("--methods", "breach,containment")
    options = (*methods, "--max-pbi", -0.01, "--max-features", 3, "--quiet")
    code, _, err = run("release", *args, "--out", tmp_path / "out", *options)
    assert code == 0, err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    summary = json.loads((tmp_path / "out" / "private" / "summary.json").read_text())
    assert next(c["pbi"] for c in summary["candidates"] if c["chosen"]) <= -0.01
    assert len(manifest["columns"]) <= 4
    assert any(c["size"] > 3 and c["fails"] for c in summary["candidates"])


def test_an_existing_folder_is_refused_before_any_work(run, args, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter").write_text("dear")
    monkeypatch.setattr("tamis.flow.consider", None)
    code, _, err = run("release", *args, "--out", tmp_path / "out")
    assert code == 2
    assert "--force" in err
    code, _, err = run("release", *args, "--out", tmp_path / "out", "--force")
    assert code == 2
    assert "'letter', which is not part of a release" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weights", "performance"), "--weights takes the form"),
        (("--weights", "beauty=1"), "no factor 'beauty'"),
        (("--methods", "magic"), "no method 'magic'"),
        (("--classifier", "oracle"), "unknown classifier 'oracle'"),
        (("--min-performance", "70"), "between 0 and 1"),
        (("--holdout", "2"), "above 0 and below 0.5"),
        (("--breach", "fast"), "[breach]"),
    ],
)
def test_wrong_usage_is_named(run, args, tmp_path, options, words):
    code, _, err = run("release", *args, "--out", tmp_path / "out", "--quiet", *options)
    assert code == 2
    assert words in err
    assert names(tmp_path) == []


def test_table_and_folder_are_needed(run, args):
    assert "name the TABLE" in run("release", "--out", "x").err
    assert "--out DIR" in run("release", *args).err


def test_an_interrupt_while_writing_leaves_nothing(run, args, tmp_path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.publication.bundle.verify", interrupt)
    code, _, err = run("release", *args, *FEW_METHODS, "--out", tmp_path / "out", "--quiet")
    assert code == 130
    assert "stopped" in err
    assert names(tmp_path) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_search_leaves_nothing(run, args, tmp_path, monkeypatch, stop, how):
    monkeypatch.setattr("tamis.flow.propose", lambda *_, **__: stop(how))
    code, _, err = run("release", *args, "--out", tmp_path / "out", "--quiet")
    assert code == 130
    assert "no file or folder was left half-written" in err
    assert names(tmp_path) == []


@long
def test_a_process_that_is_told_to_stop_leaves_nothing(args, tmp_path):
    """Stopped in the middle of the search, which is made slow for the purpose."""
    code = (
        "import sys, time\n"
        "import tamis.flow\n"
        "def slow(*args, **options):\n"
        "    print('searching', flush=True)\n"
        "    time.sleep(60)\n"
        "tamis.flow.propose = slow\n"
        "from tamis.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "release", *map(str, args), "--out", "out", "--quiet"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "searching\n"
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "no file or folder was left half-written" in err
    assert names(tmp_path) == []


def test_sparse_records_are_released_too(run, tmp_path):
    rows = [
        f"{'+1' if i % 5 < 3 else '-1'} "
        + " ".join(f"{j}:1" for j in range(1, 9) if (i * j) % 5 < 3)
        for i in range(120)
    ]
    (tmp_path / "log.svm").write_text("\n".join(rows) + "\n")
    options = ("--attackers", "nb", "--methods", "containment", "--quiet")
    code, _, err = run("release", tmp_path / "log.svm", "--out", tmp_path / "out", *options)
    assert code == 0, err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["promises"][0]["key"] == "containment_anonymity"


def test_the_demo_needs_nothing_and_makes_a_fresh_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tamis-demo").mkdir()
    code, said, err = run("demo", "--rows", 300)
    assert code == 0, err
    assert "Your report: tamis-demo-2/private/report.html" in said
    assert names(tmp_path) == ["tamis-demo", "tamis-demo-2"]
    assert names(Path("tamis-demo")) == []
    assert run("verify", "tamis-demo-2").code == 0
    code, said, err = run("release", "--again", "tamis-demo-2", "--json")
    assert code == 0, err
    assert json.loads(said)["same"] is True


def test_values_are_altered_by_a_secret_that_nobody_can_guess(run, args, tmp_path):
    # Named, since with some secrets the unaltered table is chosen, or nothing is left to learn.
    noise = ("--methods", "noise", "--choose-release", "gaussian noise, 0.2")
    options = (*noise, "--quasi", "sex", "--quiet", "--allow-useless")
    secrets = []
    for name in ("one", "two"):
        code, _, err = run("release", *args, *options, "--seed", 7, "--out", tmp_path / name)
        assert code == 0, err
        recipe = json.loads((tmp_path / name / "private" / "recipe.json").read_text())
        assert recipe["private"]["seed"] == 7
        secrets.append(recipe["settings"]["secret"])
    assert len({*secrets}) == 2
    assert all(len(secret) == 32 for secret in secrets)
    one, two = (tmp_path / name / "release.csv" for name in ("one", "two"))
    assert one.read_bytes() != two.read_bytes()
    assert run("release", "--again", tmp_path / "one").code == 0


BOUNDS = """
[bounds]
stay_days = [1, 30]
visits = [0, 30]
readmitted = ["no", "yes"]
"""


@pytest.mark.parametrize("part", ["settings", "origin"])
@pytest.mark.parametrize("odd", [None, 3, {"strange": 1}, {"source": {"strange": 1}}])
def test_a_damaged_recipe_is_said(run, tmp_path, part, odd):
    private = tmp_path / "one" / "private"
    private.mkdir(parents=True)
    recipe = {"recipe_version": RECIPE_VERSION, "settings": {}, "origin": {}, part: odd}
    (private / "recipe.json").write_text(json.dumps(recipe))
    code, _, err = run("release", "--again", tmp_path / "one")
    assert code == 2
    assert "unforeseen" not in err


def test_epsilon_releases_drawn_rows_and_cannot_be_made_again(run, args, folder, tmp_path):
    pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")
    (folder / "bounds.toml").write_text(BOUNDS)
    asked = ("--epsilon", "2", "--bounds", folder / "bounds.toml", "--methods", "dp")
    done = run("release", *args, *asked, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["manifest"]["budget"]["epsilon"] == pytest.approx(2.0)
    assert found["features"] == ["stay_days", "visits"]
    assert run("verify", tmp_path / "out").code == 0
    again = run("release", "--again", tmp_path / "out")
    assert again.code == 1
    assert "has no seed" in again.err
    # What was spent is added up beside the table, and --force does not forget it.
    assert found["epsilon_total"] >= 2.0
    assert found["ledger"] == str(folder / "tamis-ledger.json")
    assert found["manifest"]["budget"]["unit"] == "person"
    beyond = ("--max-epsilon", found["epsilon_total"] + 1, "--force")
    done = run("release", *args, *asked, *beyond, "--out", tmp_path / "out")
    assert done.code == 1
    assert "of epsilon is spent on this table" in done.err
    done = run("release", *args, *asked, "--out", tmp_path / "out", "--force")
    assert done.code == 0, done.err
    assert f"Epsilon {found['epsilon_total'] + 2:g} is spent on this table in total" in done.err
    page = (tmp_path / "out" / "report.html").read_text()
    assert "adding or removing one person, with all their rows" in page
    assert "tamis-ledger" not in page
    assert "of the original stayed with" not in page


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "1"), "name the columns to draw"),
        (("--bounds", "bounds.toml"), "--epsilon"),
        (("--methods", "dp"), "--epsilon"),
        (("--max-epsilon", "3"), "--epsilon"),
        (("--max-rows-per-person", "3"), "--epsilon"),
        (("--epsilon", "1", "--bounds", "none.toml"), "no file"),
    ],
)
def test_drawing_is_asked_for_rightly_or_refused_at_once(
    run, args, folder, tmp_path, monkeypatch, asked, words
):
    pytest.importorskip("opendp", reason="opendp is not installed (the extra dp has it)")
    (folder / "bounds.toml").write_text(BOUNDS)
    monkeypatch.chdir(folder)
    done = run("release", *args, *asked, "--out", tmp_path / "out")
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "out").exists()


def test_every_method_can_be_set_in_a_configuration_file():
    from tamis.catalogue.methods import METHODS
    from tamis.cli.release import release

    assert set(METHODS) <= {param.name for param in release.params}


def test_what_is_kept_and_told_is_said_in_two_lines(made):
    out, said, _ = made
    card = json.loads((out / "private" / "scorecard.json").read_text())
    name = json.loads((out / "private" / "recipe.json").read_text())["release"]
    row = next(r for r in card["releases"] if r["name"] == name)["figures"]
    shares = (row[measure]["value"] for measure in ("kept", "told"))
    kept, told = ("<1%" if 0 < share < 0.01 else f"{100 * share:.0f}%" for share in shares)
    assert re.search(
        rf"Keeps {kept}( \([0-9]+% to [0-9]+%\))? of what can be learnt about readmitted\.", said
    )
    assert re.search(
        rf"Tells {told} \([0-9<]+% to [0-9]+%\) of what the table tells about hiv beyond what", said
    ) or ("None of the attackers tried learnt anything about hiv beyond what readmitted" in said)
    assert "Tells 0%" not in said


@pytest.mark.parametrize(("taught", "said"), [(0.0, True), (3.0, False)])
def test_more_told_than_kept_is_never_without_a_word(taught: float, said: bool):
    """One column tells all of the secret; what teaches the target is nothing, or that column."""
    rng, rows = np.random.default_rng(1), 600
    clinic = rng.integers(0, 4, rows)
    secret = np.where(rng.random(rows) < 0.9, clinic > 1, rng.random(rows) < 0.5)
    ill = taught * (clinic % 2) + rng.normal(0, 0.5, rows) > taught / 2
    frame = pl.DataFrame({"clinic": clinic, "secret": secret, "ill": ill})
    asked = Settings(methods={"front": {}}, attackers=("nb",), allow_useless=True)
    table = Table(frame, Roles("ill", sensitive="secret", quasi=("clinic",)))
    found = consider(table, asked).closer()
    assert found.release.features == ("clinic",)
    kept, told, *more = kept_told_words(found, analyse(found, attacks=False))
    assert kept.startswith("Keeps 100%") is not said
    assert told.startswith("Tells 100%")
    assert [words.startswith("That is more than it keeps") for words in more] == [True] * said


def test_the_front_is_shown_and_nothing_is_published(run, args, tmp_path):
    asked = (*FEW_METHODS, "--choose", "front")
    found = json.loads(run("release", *args, *asked, "--json").out)
    assert found["published"] is False
    told = [row["figures_for_choice"]["told"]["value"] for row in found["front"]]
    kept = [row["figures_for_choice"]["kept"]["value"] for row in found["front"]]
    assert told == sorted(told)
    assert kept == sorted(kept)
    assert "Nothing was published" in run("release", *args, *asked).out
    assert list(tmp_path.iterdir()) == []


BEHIND = "a release that is behind another here is about as good"


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ([(0.4, 0.1), (0.6, 0.3)], False),
        ([(0.4, 0.1), (0.4, 0.3)], True),
        ([(0.6, 0.1), (0.4, 0.3)], True),
        ([(0.4, 0.1), (0.4004, 0.1004)], False),  # printed alike
    ],
)
def test_a_listed_release_behind_another_is_explained(capsys, figures, said):
    rows = [
        SimpleNamespace(
            release=SimpleNamespace(name=f"release {at}", features=(f"c{at}",), forms={}),
            value={"kept": kept, "told": told}.get,
        )
        for at, (kept, told) in enumerate(figures)
    ]
    outcome: Any = SimpleNamespace(decision=SimpleNamespace(front=rows, chosen=rows[0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "tamis.propose.problem.differences",
            lambda releases: dict.fromkeys((release.name for release in releases), ""),
        )
        print_front(outcome)
    assert (BEHIND in " ".join(capsys.readouterr().out.split())) == said


def test_what_teaches_nothing_is_refused_unless_that_is_allowed(run, tmp_path):
    draw = np.random.default_rng(0)
    columns = {name: draw.integers(0, 3, 200) for name in ("a", "b", "y")}
    pl.DataFrame(columns).write_csv(tmp_path / "noise.csv")
    asked = ("release", tmp_path / "noise.csv", "--target", "y", "--out", tmp_path / "out")
    code, _, err = run(*asked)
    assert code == 1
    assert "nothing here teaches 'y'" in err
    assert not (tmp_path / "out").exists()
    assert run(*asked, "--allow-useless", "--quiet").code == 0


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--max-told", "2", "--max-told must be a share between 0 and 1, got 2"),
        ("--min-kept", "-1", "--min-kept must be a share between 0 and 1, got -1"),
        ("--caution", "-1", "--caution must be a number of at least 0, got -1"),
        ("--max-features", "2.5", "--max-features must be a whole number of at least 1, got '2.5'"),
        ("--output-format", "pdf", "--output-format must be one of csv, parquet, long"),
    ],
)
def test_shares_and_caution_are_checked(run, args, tmp_path, option, value, words):
    code, _, err = run("release", *args, option, value, "--out", tmp_path / "out")
    assert code == 2
    assert words in err
