"""`tamis init`: a configuration that can be read back and used."""

import tomllib

import polars as pl

from tamis.catalogue.methods import BY_DEFAULT, METHODS
from tamis.cli.init import setting_lines
from tamis.cli.options import named_once
from tamis.datasets import patients
from tamis.flow import Settings
from tamis.options.commands import options_of
from tamis.propose import method_class


def test_what_it_sees_becomes_a_configuration_that_release_takes(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = patients(rows=300).frame.select(pl.lit("x").alias("same"), pl.all())
    frame.write_csv("stays.csv")
    code, said, err = run("init", "stays.csv")
    assert code == 0, err
    assert "tamis release stays.csv --config tamis.toml --out DIR" in said
    text = (tmp_path / "tamis.toml").read_text()
    found = tomllib.loads(text)
    assert found["target"] == "readmitted"
    assert found["identifier"] == ["patient"]
    assert found["drop"] == ["same"]
    assert '"albumin": number' in text
    quick = ("--attackers", "nb", "--methods", "containment", "--quiet")
    code, _, err = run("release", "stays.csv", "--config", "tamis.toml", "--out", "out", *quick)
    assert code == 0, err


def test_what_is_a_comment_can_be_asked_for():
    lines = [line.removeprefix("# ") for line in setting_lines() if " = " in line]
    found = tomllib.loads("\n".join(lines))
    named_once("tamis.toml", found, options_of("release"))
    assert {"k", "l", "max_told", "population", "epsilon", "methods"} <= set(found)
    for option in options_of("release"):
        if option.name in found:
            assert option.allows(found[option.name]), option.name


def test_a_file_is_replaced_only_by_force(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n")
    (tmp_path / "c.toml").write_text("mine")
    code, _, err = run("init", tmp_path / "t.csv", "-o", tmp_path / "c.toml")
    assert code == 2
    assert "--force" in err
    assert (tmp_path / "c.toml").read_text() == "mine"
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "c.toml", "--force").code == 0


def test_hostile_names_stay_names(run, tmp_path):
    names = ['a"]\nk = 99 #', "=cmd()", "b\\", "\u007f"]
    columns = {name: [f"v{i}" for i in range(30)] for name in names}
    pl.DataFrame({**columns, "y": ["u", "v"] * 15}).write_parquet(tmp_path / "t.parquet")
    config = tmp_path / "c.toml"
    code, _, err = run("init", tmp_path / "t.parquet", "-o", config)
    assert code == 0, err
    found = tomllib.loads(config.read_text())
    assert found["identifier"] == names
    assert found["k"] == 5


def test_an_unedited_configuration_asks_for_what_release_does_anyway(run, tmp_path):
    pl.DataFrame({"a": [1, 2] * 20, "y": ["u", "v"] * 20}).write_csv(tmp_path / "t.csv")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "c.toml").code == 0
    found, usual = tomllib.loads((tmp_path / "c.toml").read_text()), Settings()
    for name in ("k", "caution", "classifier", "holdout"):
        assert found[name] == getattr(usual, name)
    assert tuple(found["attackers"]) == usual.attackers
    assert tuple(found["methods"]) == BY_DEFAULT
    for name in set(found) & set(METHODS):
        assert method_class(name)(**found[name]) == method_class(name)()
