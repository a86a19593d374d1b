"""`tamis select`: a command for each kind, and the form with `--by`."""

import json

import numpy as np
import polars as pl
import pytest

KINDS = ("containment", "breach")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    rng = np.random.default_rng(4)
    ill = rng.random(200) < 0.45
    frame = pl.DataFrame(
        {
            "fever": (rng.random(200) < 0.2 + 0.6 * ill).astype(int),
            "cough": (rng.random(200) < 0.3 + 0.3 * ill).astype(int),
            "coin": rng.integers(0, 2, 200),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    frame.write_csv(path)
    return path


def test_the_help_names_both_kinds_and_the_form_with_by(run):
    out = run("select", "--help").out
    assert "  containment  " in out
    assert "  breach  " in out
    assert "--by containment|breach" in out
    assert "  by  " not in out


def test_each_kind_has_its_own_options(run):
    by_containment, by_breach = (run("select", kind, "--help").out for kind in KINDS)
    assert "--utility" in by_containment
    assert "--weights" not in by_containment
    assert "--weights" in by_breach
    assert "--utility" not in by_breach


@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_give_the_same(run, clinic, tmp_path, kind):
    common = ("--target", "ill", "--json", "--quiet")
    named = run("select", kind, clinic, *common)
    assert named.code == 0
    assert run("select", clinic, *common, "--by", kind) == named
    assert run("select", *common, f"--by={kind}", clinic) == named
    config = tmp_path / "tamis.toml"
    config.write_text(f'by = "{kind}"\ntarget = "ill"\n')
    assert run("select", clinic, "--config", config, "--json", "--quiet") == named
    assert run("select", kind, clinic, "--config", config, "--json", "--quiet") == named


def test_a_file_gives_options_of_both_kinds(run, clinic, tmp_path):
    config = tmp_path / "tamis.toml"
    config.write_text('target = "ill"\nk = "3"\nweights = "privacy=1"\n')
    asked = ("--config", config, "--json", "--quiet")
    assert json.loads(run("select", "containment", clinic, *asked).out)["k"] == 3
    weights = json.loads(run("select", "breach", clinic, *asked).out)["weights"]
    assert weights == {"performance": 0, "privacy": 1, "size": 0}


def test_a_table_may_have_the_name_of_a_kind(run, clinic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breach").write_bytes(clinic.read_bytes())
    asked = ("--format", "csv", "--target", "ill", "--quiet")
    assert run("select", "breach", *asked, "--by", "containment").code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--by", "breach", "--k", "3"], "--k goes with --by containment, not with --by breach"),
        (["--by", "breach", "--utility", "cm", "--largest", 3], "--largest, --utility goes with"),
        (["--by", "breach", "--search", "greedy"], "auto, walk, exhaustive"),
        (["--by", "containment", "--weights", "privacy=1"], "--weights goes with --by breach"),
        (["--by", "containment", "--search", "walk"], "greedy, improve, maximal, exact"),
        (["--by", "luck"], "luck"),
        ([], "--by"),
    ],
)
def test_the_form_with_by_refuses_options_of_the_other_kind(run, clinic, args, said):
    result = run("select", clinic, "--target", "ill", *args)
    assert result.code == 2
    assert said in result.err
    assert result.out == ""
