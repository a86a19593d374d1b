"""How a text file is written: said by flags and files, shown in the notes, asked for in doubt."""

from __future__ import annotations

import json

import pytest

ROWS = "\n".join(
    f"{20 + i * 7 % 40};{i % 7},5;{1 + i % 12:02d}/{1 + i % 9:02d}/2021;{'ja' if i % 3 else 'nein'}"
    for i in range(60)
)
ROLES = ("--target", "krank", "--row-is-person")


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(f"Größe;Wert;am;krank\n{ROWS}\n", encoding="windows-1252")
    return path


def test_what_was_found_is_shown_and_what_is_in_doubt_is_asked(run, export):
    asked = run("audit", export, *ROLES)
    assert asked.code == 2
    assert "column 'am' can be read in two ways" in asked.err
    assert "--dates dmy" in asked.err
    found = run("audit", export, *ROLES, "--dates", "dmy")
    assert found.code == 0
    assert "read with ;, decimal comma and windows-1252" in " ".join(found.err.split())


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_flags_and_files_say_the_same(run, export, tmp_path, engine):
    flags = ("--separator", ";", "--decimal", "comma", "--dates", "mdy", "--encoding", "cp1252")
    by_flags = run("audit", export, *ROLES, "--json", "--engine", engine, *flags)
    assert by_flags.code == 0
    assert "read with" not in by_flags.err
    config = tmp_path / "c.toml"
    config.write_text('separator = ";"\ndecimal = ","\ndates = "mdy"\nencoding = "cp1252"\n')
    by_file = run("audit", export, *ROLES, "--json", "--engine", engine, "--config", config)
    assert json.loads(by_file.out) == json.loads(by_flags.out)


def test_init_keeps_what_was_said_of_the_file(run, export, tmp_path):
    out = tmp_path / "t.toml"
    assert run("init", export, *ROLES, "--dates", "dmy", "-o", out).code == 0
    assert 'dates = "dmy"' in out.read_text()
    assert run("audit", export, "--config", out).code == 0


def test_an_unknown_mark_is_refused_in_words(run, export):
    refused = run("audit", export, *ROLES, "--decimal", "dot")
    assert refused.code == 2
    assert "--decimal is comma or point, got 'dot'" in refused.err


def test_a_release_of_an_export_is_verified_and_made_again(run, export, tmp_path):
    out = tmp_path / "out"
    quick = ("--dates", "dmy", "--methods", "front", "--k", "2", "--allow-useless")
    made = run("release", export, *ROLES, *quick, "--feature", "am,Größe", "--out", out)
    assert made.code == 0, made.err
    assert run("verify", out).code == 0
    again = run("release", "--again", out, "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert (tmp_path / "again" / "manifest.json").read_bytes() == (
        out / "manifest.json"
    ).read_bytes()
