"""`tamis audit` and `tamis demo`."""

import json

import pytest

from tamis.datasets import patients
from tamis.risk import grouping


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(
        "name,zip,age,ill\nann,01000,31,no\nbob,01000,31,yes\ncat,75011,?,no\ndan,75011,50,no\n"
    )
    return path


ROLES = ("--target", "ill", "--identifier", "name", "--missing", "?")


def test_the_figures_as_json(run, table):
    code, out, err = run("audit", table, *ROLES, "--json")
    assert code == 0
    assert err == ""
    found = json.loads(out)
    assert found["k_anonymity"] == 1
    assert found["unique_rows"] == 2
    assert found["unique_share"] == 0.5
    assert found["quasi"] == ["zip", "age"]
    assert found["l_diversity"]["distinct"] == 1
    assert found["t_closeness"] == pytest.approx(0.25)
    assert [c["kind"] for c in found["table"]] == ["nominal", "nominal", "number", "nominal"]
    assert found["columns"][0]["column"] == "age"


def test_an_attacker_is_held_against_guessing(run, tmp_path):
    path = tmp_path / "p.parquet"
    patients(600).frame.write_parquet(path)
    asked = ("audit", path, "--target", "readmitted", "--identifier", "patient")
    found = json.loads(run(*asked, "--sensitive", "hiv", "--json").out)["attacker"]
    assert found["accuracy"] > found["majority"] + 0.03
    assert "rows whose 'hiv' is guessed correctly" in run(*asked, "--sensitive", "hiv").out
    noise = json.loads(run(*asked, "--sensitive", "blood_group", "--json").out)["attacker"]
    assert noise["accuracy"] < noise["majority"] + 0.03


def test_the_audit_in_words(run, table):
    code, out, err = run("audit", table, *ROLES)
    assert code == 0
    assert "2 of 4 people (50.0%) are the only one" in out
    assert "finds that person's row" in out
    assert "identifier" in err
    assert "ann" not in out + err


def test_nobody_is_said_to_be_found_where_nobody_is_alone(run, tmp_path):
    path = tmp_path / "alike.csv"
    path.write_text("sex,ill\n" + "f,yes\nm,no\n" * 5)
    out = run("audit", path, "--target", "ill", "--row-is-person").out
    assert "0 of 10 people (0.0%) are the only one" in out
    assert "finds that person's row" not in out


def test_one_person_alone_is_said_in_the_singular(run, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("sex,ill\n" + "f,yes\nf,no\n" * 5 + "m,yes\n")
    out = run("audit", path, "--target", "ill", "--row-is-person").out
    assert "1 of 11 people (9.1%) is the only one with their values of sex" in out


def test_rows_are_grouped_once_for_all_figures(run, table, monkeypatch):
    grouped, asked = grouping.grouped, []

    def noted(frame, columns, people=None):
        asked.append(tuple(columns))
        return grouped(frame, columns, people)

    monkeypatch.setattr(grouping, "grouped", noted)
    assert run("audit", table, *ROLES, "--quasi", "zip,age").code == 0
    assert asked == [("zip", "age")]


def test_zero_one_tables_get_containment_anonymity(run, tmp_path):
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b,y\n1,1,p\n1,0,n\n1,1,n\n")
    found = json.loads(run("audit", wide, "--target", "y", "--json").out)
    assert found["containment_anonymity"] == 2
    assert found["k_anonymity"] == 1
    svm = tmp_path / "t.svm"
    svm.write_text("+1 1:1 2:1\n-1 1:1\n+1 1:1 2:1\n")
    sparse = json.loads(run("audit", svm, "--json").out)
    assert sparse["containment_anonymity"] == 2
    assert sparse["weakest"][0] == {"row": 1, "anonymity": 2}
    assert "Containment anonymity 2" in run("audit", svm).out


def test_a_binarising_schema_gives_containment_anonymity(run, table, tmp_path):
    schema = tmp_path / "s.toml"
    schema.write_text('missing = ["?"]\n[binary]\nage = { cuts = [40] }\nzip = "values"\n')
    found = json.loads(run("audit", table, "--schema", schema, "--json").out)
    assert found["containment_anonymity"] == 1


def test_infinite_figures_are_null_in_json(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,s\n1,x\n1,x\n2,x\n2,y\n")
    out = run("audit", path, "--sensitive", "s", "--json").out
    assert "Infinity" not in out
    json.loads(out)


@pytest.mark.parametrize("name", ["none.csv", "people.xyz"])
def test_bad_input_is_exit_code_2(run, tmp_path, name):
    code, out, err = run("audit", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.startswith("tamis: error: ")


def test_hostile_names_stay_text(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("[red]x[/red],[bold]y\n1,2\n1,3\n")
    code, out, err = run("audit", path)
    assert code == 0
    assert "[red]x[/red]" in out
    assert "[bold]y" in err


def test_what_each_column_tells_and_teaches_is_shown_riskiest_first(run, tmp_path):
    path = tmp_path / "stays.csv"
    patients(rows=800).frame.write_csv(path)
    roles = ("--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
    code, out, err = run("audit", path, *roles, "--json")
    assert code == 0, err
    alone = json.loads(out)["alone"]
    tells = [column["tells"] for column in alone]
    assert tells == sorted(tells, reverse=True)
    assert {"viral_load_test", "cd4_count"} == {column["column"] for column in alone[:2]}
    teaching = max(alone, key=lambda column: column["teaches"])["column"]
    assert teaching in ("stay_days", "visits", "albumin", "ward")
    shown = run("audit", path, *roles).out
    assert "tells of hiv" in shown
    assert "teaches of readmitted" in shown
    assert run("audit", path, "--identifier", "patient", "--json").code == 0


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("known", ["--population", "--sampling"])
def test_an_engine_finds_in_attackers_and_the_population_what_memory_finds(
    run, tmp_path, engine, known
):
    part, town = tmp_path / "part.parquet", tmp_path / "town.parquet"
    patients(900).frame.write_parquet(town)
    patients(900).frame.head(300).write_parquet(part)
    asked: list[object] = ["audit", part, "--target", "readmitted", "--identifier", "patient"]
    asked += ["--quasi", "birth_year,sex", "--attacker", "boss: knows sex,zip; k=40; l=2", "--json"]
    asked += ["--max-population-risk", ".01", known, town if known == "--population" else "0.25"]
    whole, there = run(*asked), run(*asked, "--engine", engine)
    assert (whole.code, there.code) == (1, 1)
    one, two = json.loads(whole.out), json.loads(there.out)
    assert one["population"].pop("estimates") == two["population"].pop("estimates")
    assert one["population"] == pytest.approx(two["population"], abs=1e-12)
    assert [one[part] for part in ("presence", "attackers")] == [
        two[part] for part in ("presence", "attackers")
    ]
    assert [limit["name"] for limit in one["limits"]] == ["max_population_risk", "k", "l"]
    assert [limit["met"] for limit in one["limits"]] == [limit["met"] for limit in two["limits"]]


def test_what_is_for_tables_is_refused_of_sparse_records(run, tmp_path):
    path = tmp_path / "records.basket"
    path.write_text("a b\na\nb c\n")
    for flag, value, words in (
        ("--attacker", "boss: knows a; k=2", "are for tables"),
        ("--sampling", "0.5", "counted for tables"),
        ("--max-population-risk", "0.5", "counted for tables"),
    ):
        found = run("audit", path, flag, value)
        assert found.code == 2
        assert words in " ".join(found.err.split())
