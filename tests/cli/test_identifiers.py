"""Direct identifiers at the command line: said by init and audit, refused by release."""

import json

import polars as pl
import pytest


@pytest.fixture
def table(tmp_path):
    """Forty people; one column holds addresses that repeat, another dates of birth."""
    path = tmp_path / "people.csv"
    pl.DataFrame(
        {
            "contact": [f"p{i % 7}@example.org" for i in range(40)],
            "born": [f"{1930 + i}-05-02" for i in range(40)],
            "ward": ["A", "B"] * 20,
            "ill": ["no", "no", "yes", "yes"] * 10,
        }
    ).write_csv(path)
    return path


def test_audit_goes_through_the_check_list(run, table):
    found = json.loads(run("audit", table, "--target", "ill", "--json", "--quiet").out)
    where = {item["number"]: item["found"] for item in found["safe_harbour"]}
    assert len(where) == 18
    assert where[6] == [{"column": "contact", "why": "e-mail addresses"}]
    assert where[3] == [{"column": "born", "why": "dates of birth"}]
    assert where[1] == []
    shown = run("audit", table, "--target", "ill")
    assert "2 of 18 kinds of identifiers found" in shown.out
    assert "looks like e-mail addresses" in shown.err
    assert "example.org" not in shown.out + shown.err


def test_init_keeps_them_from_being_released(run, table, tmp_path):
    out = tmp_path / "tamis.toml"
    found = json.loads(run("init", table, "-o", out, "--json").out)
    assert {c["name"]: c["content"] for c in found["columns"]}["contact"] == "e-mail addresses"
    text = out.read_text()
    assert 'identifier = ["contact", "born"]' in text
    assert "looks like: identifier (e-mail addresses)" in text


def test_release_refuses_until_the_role_is_said(run, table, tmp_path):
    asked = ("release", table, "--target", "ill", "--out", tmp_path / "out")
    code, _, err = run(*asked)
    assert code == 2
    said = " ".join(err.split())
    assert "columns 'contact' (looks like e-mail addresses)" in said
    assert "'born' (looks like dates of birth)" in said
    assert "--identifier or --drop never releases it" in said
    assert "example.org" not in err
    _, _, err = run(*asked, "--drop", "contact", "--quasi", "born")
    assert "could identify people" not in err
