"""The quick form of the experiments, end to end on real data."""

import json
import shutil

from click.testing import CliRunner

from experiments.__main__ import main


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


def test_jafer_gives_the_running_example_to_the_printed_digit(dataset, tmp_path):
    cells = quick("jafer", dataset, tmp_path)
    differ = {place for place, cell in cells.items() if cell["verdict"] != "equal"}
    assert len(cells) == 176
    # Without Weka the folds of pregnancies, of which there is no record, are our own.
    assert not {place for place, _, _ in differ} - {"Rank lists", "Table 1", "Table 2", "Figure 6"}
    if shutil.which("weka") is not None:
        named = {(place, column) for place, _, column in differ}
        assert named == {("Table 2", "PBI"), ("Figure 6", "")}
        assert len(differ) == 4
    assert all(cells[place]["why"] != "not known" for place in differ)
    page = (tmp_path / "jafer.html").read_text()
    assert "Figure 10" in page
    assert "quick version" in page

    def modified():
        return {p: p.stat().st_mtime_ns for p in (tmp_path / "pieces").rglob("*.json")}

    before = modified()
    assert before
    assert quick("jafer", dataset, tmp_path) == cells  # a second run keeps every piece
    assert modified() == before


def test_fletcher_measures_rise_with_the_noise(dataset, tmp_path):
    cells = quick("fletcher", dataset, tmp_path)
    assert cells["Table 4", "z", "RSD"]["verdict"] == "equal"
    assert cells["Table 5", "Banknotes", "records"]["verdict"] == "equal"
    # The sign of the print: as rows leave their rules, the rules are right less often.
    assert cells["Table 6, UN", "Rule Accuracy and RSD", "r"]["ours"] < 0
    assert "<svg" in (tmp_path / "fletcher.html").read_text()


def test_a_folder_without_data_is_named_in_one_line(tmp_path):
    found = CliRunner().invoke(main, ["jafer", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert found.exit_code == 1
    assert found.output.startswith("experiments: no file pima.csv.gz")
