"""The quick form of the experiments, end to end on real data."""

import json

import pytest
from click.testing import CliRunner

from experiments.__main__ import BESIDE, main
from experiments.fletcher.worked import section
from tests.long import long


def quick(which, dataset, folder):
    data = dataset("pima.csv.gz").parent
    found = CliRunner().invoke(main, [which, "--data", str(data), "--out", str(folder), "--quick"])
    assert found.exit_code == 0, found.output
    record = json.loads((folder / "results.json").read_text())
    sections = record["papers"][0]["sections"]
    return {
        (cell["place"], cell["row"], cell["column"]): cell
        for section in sections
        for cell in section["cells"]
    }


@long
def test_jafer_gives_the_running_example_to_the_printed_digit(dataset, tmp_path):
    cells = quick("jafer", dataset, tmp_path)
    differ = {place for place, cell in cells.items() if cell["verdict"] != "equal"}
    assert len(cells) == 191
    assert {(place, column) for place, _, column in differ} == {
        ("Table 2", "PBI"),
        ("Figure 6", ""),
    }
    assert len(differ) == 4
    assert all(cells[place]["why"] != "not known" for place in differ)
    repeated = {row for (_, row, _), cell in cells.items() if "row H" in cell["why"]}
    assert {row[-2] for row in repeated} == {"I", "J", "K"}
    assert cells["Figure 6", "found by a wrapper", ""]["verdict"] == "equal"
    letters = [c["ours"] for place, c in cells.items() if place[2] == "Combination"]
    assert "".join(sorted(letters)) == 11 * "A" + "BCE"
    page = (tmp_path / "jafer.html").read_text()
    assert "Figure 10" in page
    assert "quick version" in page

    def modified():
        return {p: p.stat().st_mtime_ns for p in (tmp_path / "pieces").rglob("*.json")}

    before = modified()
    assert before
    assert quick("jafer", dataset, tmp_path) == cells  # a second run keeps every piece
    assert modified() == before


@long
def test_fletcher_measures_rise_with_the_noise(dataset, tmp_path):
    cells = quick("fletcher", dataset, tmp_path)
    table_4 = {(row, column): c for (place, row, column), c in cells.items() if place == "Table 4"}
    assert len(table_4) == 18
    for measure in ("Rule Accuracy", "RSD", "RLD"):
        assert table_4["z", measure]["verdict"] == "equal"
    assert table_4["Change", "Rule Accuracy"]["ours"] == pytest.approx(1 / 3)
    assert cells["Table 5", "Banknotes", "records"]["verdict"] == "equal"
    # The sign of the print: as rows leave their rules, the rules are right less often.
    assert cells["Table 6, UN", "Rule Accuracy and RSD", "r"]["ours"] < 0
    assert "<svg" in (tmp_path / "fletcher.html").read_text()


def test_the_worked_example_sums_labels_that_are_left():
    """By hand: 1/30, 1/2, 1/3 and 1/2 over the four rules."""
    cells = {(c.row, c.column): c.ours for c in section().cells}
    assert cells["z", "RLD"] == pytest.approx((1 / 30 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_the_datasets_are_looked_for_beside_the_checkout():
    (data,) = (p for p in main.params if p.name == "data")
    assert data.default == BESIDE
    assert BESIDE.parts[-2:] == ("shared", "data")


def test_a_folder_without_data_is_named_in_one_line(tmp_path):
    found = CliRunner().invoke(main, ["jafer", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert found.exit_code == 1
    assert found.output.startswith("experiments: no file pima.csv.gz")
