"""Folders that somebody crafted with care: each is refused, for its own reason and no other.

Whoever crafts one has tamis at hand, so all hashes fit, and figures are counted again where rows
are others.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import read_table, verify
from tamis.errors import CannotMeet
from tamis.flow import Settings, consider
from tamis.outcome import Outcome
from tamis.publication.bundle import publish
from tamis.table_file import ROW_GROUP, _long, _svm, csv_lines, read_cells
from tamis.verification.form import wrong_groups_of_values
from tamis.verification.layout import RELEASE, digest, json_bytes, write_json
from tests.quick_look import no_trees
from tests.read.made_columns import family_names
from tests.verification.forged import drawn, edited, relaid

CANARY = "Ann Smith has HIV"
Manifest = dict[str, Any]
Craft = Callable[[Path], None]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """A release of three columns, of which attackers may know two."""
    draw = np.random.default_rng(3)
    a, b, n = (draw.integers(0, most, 240) for most in (2, 3, 4))
    ill = ((a + b + n + draw.integers(0, 2, 240)) > 3).astype(int)
    rows = pl.DataFrame(
        {
            "diet": [["plain", "rich"][each] for each in a],
            "floor": [["one", "three", "two"][each] for each in b],
            "visits": n,
            "ill": [["no", "yes"][each] for each in ill],
            "secret": [["no", "yes"][each] for each in draw.integers(0, 2, 240)],
        }
    )
    table = read_table(rows, target="ill", sensitive="secret", quasi=["diet", "floor"])
    asked = Settings(methods={"front": {}}, attackers=("nb",), k=2, allow_useless=True)
    with no_trees():
        return consider(table, asked)


@pytest.fixture(scope="module")
def folders(outcome: Outcome, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An untouched folder of each dense format."""
    made = {}
    with no_trees():
        for format in ("csv", "parquet", "xlsx", "sav", "dta"):
            asked = replace(outcome, settings=replace(outcome.settings, format=format))
            out = tmp_path_factory.mktemp("crafted") / format
            made[format] = publish(asked, out, date="2026-11-15")
    return made


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    def copy(format: str) -> Path:
        shutil.copytree(folders[format], tmp_path / "copy")
        shutil.rmtree(tmp_path / "copy" / "private")
        return tmp_path / "copy"

    return copy


def refused(folder: Path, check: str, words: str, *others: str) -> None:
    """The folder is refused in these words, by one check alone or by that and some others."""
    with pytest.raises(CannotMeet) as error:
        verify(folder)
    said = str(error.value).partition(" does not match its manifest: ")[2]
    assert words in said
    assert re.findall(r" \(([a-z_]+)\)(?=; |$)", said) == [check, *others]


@pytest.mark.parametrize("format", ["csv", "parquet", "xlsx", "sav", "dta"])
def test_untouched_folders_hold(folders: dict[str, Path], format: str, copied):
    assert {"form", "not_promised"} <= {check.name for check in verify(folders[format]).checks}
    found = verify(copied(format))
    assert found.not_checked
    assert repr(found).startswith("<Verified: ")
    assert len(repr(found)) < 120


# The manifest: keys at every depth, types, and how it is written.

RECORDS: dict[str, Callable[[Manifest], Any]] = {
    "": lambda m: m,
    "file": lambda m: m["file"],
    "columns[0]": lambda m: m["columns"][0],
    "method": lambda m: m["method"],
    "method.parameters": lambda m: m["method"]["parameters"],
    "promises[0]": lambda m: m["promises"][0],
    "measured[0]": lambda m: m["measured"][0],
    "close_look": lambda m: m["close_look"],
    "close_look.accuracy": lambda m: m["close_look"]["accuracy"],
    "close_look.beside": lambda m: m["close_look"]["beside"],
    "versions": lambda m: m["versions"],
    "exposure": lambda m: m["exposure"],
    "exposure.known": lambda m: m["exposure"]["known"],
    "exposure.everything": lambda m: m["exposure"]["everything"],
    "exposure.same_target": lambda m: m["exposure"]["same_target"],
    "report": lambda m: m["report"],
}


@pytest.mark.parametrize("place", RECORDS)
def test_a_key_that_no_manifest_has(copied, place: str):
    folder = copied("csv")
    edited(folder, lambda m: RECORDS[place](m).update(note=CANARY))
    where = f" in {place}" if place else ""
    refused(folder, "manifest", f"manifest.json has 'note'{where}, which no manifest has")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.update(schema_version=True), "does not have the version"),
        (lambda m: m.update(schema_version=2.0), "does not have the version"),
        (lambda m: m.update(date=CANARY), "an invalid 'date'"),
        (lambda m: m.update(date="20261115"), "an invalid 'date'"),
        (lambda m: m.update(held_back=True), "an invalid 'held_back'"),
        (lambda m: m.update(held_back=3.0), "an invalid 'held_back'"),
        (lambda m: m["versions"].update(python=CANARY), "an invalid 'python' in versions"),
        (lambda m: m["versions"].update(numpy="2.0+canary"), "an invalid 'numpy' in versions"),
        (lambda m: m["versions"].pop("scipy"), "lacks 'scipy' in versions"),
        (lambda m: m["method"].update(name=CANARY), "an invalid 'method'"),
        (
            lambda m: m.update(method={"name": "front", "parameters": {"search": CANARY}}),
            "an invalid 'search' in method.parameters",
        ),
        (lambda m: m["columns"][0].update(stated=1), "an invalid 'stated' in columns[0]"),
        (lambda m: m["columns"][0].update(of=CANARY), "something that its role is not"),
        (lambda m: m["measured"][0].update(value=1), "an invalid 'value' in measured[0]"),
        (lambda m: m["measured"].append(m["measured"][0]), "states something twice"),
        (lambda m: m["promises"].append(m["promises"][0]), "states something twice"),
        (lambda m: m["promises"][0].update(at_least=2.0), "an invalid 'at_least' in promises[0]"),
        (lambda m: m["promises"][0]["columns"].reverse(), "not in the order of their names"),
        (
            lambda m: m["promises"][0]["columns"].insert(0, m["promises"][0]["columns"][0]),
            "not in the order of their names, each once",
        ),
        (
            lambda m: m["close_look"]["beside"].update(name=CANARY),
            "an invalid 'name' in close_look.beside",
        ),
        (
            lambda m: m["close_look"]["largest"].append(CANARY),
            "an invalid '[",
        ),
        (lambda m: m["exposure"].update(total=True), "an invalid 'total' in exposure"),
        (lambda m: m.pop("close_look"), "lacks 'close_look'"),
        (lambda m: m.pop("held_back"), "lacks 'held_back'"),
        (lambda m: m["file"].update(classes=[CANARY]), "has 'classes' in file"),
        (lambda m: m["report"].update(sha256=m["report"]["sha256"].upper()), "an invalid 'sha256'"),
        (lambda m: m["columns"].reverse(), "not in the order of their names, the target last"),
    ],
)
def test_what_is_stated_in_another_form(copied, change: Callable[[Manifest], Any], words: str):
    folder = copied("csv")
    edited(folder, change)
    refused(folder, "manifest", words)


@pytest.mark.parametrize(
    "written",
    [
        lambda m: json.dumps(m).encode(),
        lambda m: json_bytes(m) + b"\n",
        lambda m: json_bytes(m).rstrip(b"\n"),
        lambda m: b" " + json_bytes(m),
        lambda m: json_bytes(m).replace(b"\n", b"\r\n"),
        lambda m: json_bytes(m).replace(b'"tamis-release"', b'"\\u0074amis-release"'),
        lambda m: re.sub(rb'("value": 0\.[0-9]+)', rb"\g<1>0", json_bytes(m), count=1),
    ],
)
def test_a_manifest_spelled_otherwise(copied, written: Callable[[Manifest], bytes]):
    folder = copied("csv")
    path = folder / "manifest.json"
    path.write_bytes(written(json.loads(path.read_text())))
    refused(folder, "manifest", "manifest.json is not written in the one way")


def test_keys_in_another_order(copied):
    folder = copied("csv")
    content = json.loads((folder / "manifest.json").read_text())
    write_json(folder / "manifest.json", dict(reversed(content.items())))
    refused(folder, "manifest", "has its keys in another order than tamis writes them")


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.clear(),
        lambda said: said.pop(),
        lambda said: said.append(CANARY),
        lambda said: said.reverse(),
        lambda said: said.append(said[0]),
        lambda said: said.__setitem__(0, said[0].replace("a", "а", 1)),  # noqa: RUF001
    ],
)
def test_what_is_not_promised_follows_from_the_promises(copied, change: Callable[[list[str]], Any]):
    folder = copied("csv")
    edited(folder, lambda m: change(m["not_promised"]))
    refused(folder, "not_promised", "is not what follows from the promises")


def test_figures_that_nobody_can_count_are_not_repeated(copied):
    folder = copied("csv")
    edited(folder, lambda m: m["measured"][0].update(value=1.0, low=1.0, high=1.0))
    found = verify(folder)
    assert not any("1.0" in words for words in (*found.claims, *found.alone))
    assert any("what was held back, how much models learnt" in w for w in found.not_checked)
    assert any("the words of report.html" in words for words in found.not_checked)


@pytest.mark.parametrize("part", ["value", "low", "high"])
def test_a_figure_with_digits_that_say_nothing(copied, part: str):
    folder = copied("csv")
    entries = json.loads((folder / "manifest.json").read_text())["measured"]
    place = next(i for i, entry in enumerate(entries) if entry.get(part) is not None)
    edited(folder, lambda m: m["measured"][place].update({part: 0.7304918273}))
    refused(folder, "manifest", "is stated with more digits than its interval supports")


def grouped(groups: dict[str, list[str]], stated: bool = False) -> Manifest:
    """A manifest of one column of jobs in groups."""
    return {"columns": [{"name": "job", "stated": stated, "coarser": {"groups": groups}}]}


def test_every_group_that_a_manifest_names_has_rows():
    """Another could name somebody who is left out."""
    groups = {"law": ["judge"], "rest": []}
    assert wrong_groups_of_values({"job": ["law", "rest"]}, grouped(groups)) == ""
    more = grouped({**groups, "Anna Schmidt": ["astronaut"]})
    words = "the manifest names a group of column 'job' that no row has"
    assert wrong_groups_of_values({"job": ["law", "rest"]}, more) == words


def test_a_value_behind_a_label_is_nobodys_address():
    groups = {"law": ["judge", "anna@example.org"], "rest": ["cook", "baker"]}
    found = wrong_groups_of_values({"job": ["law", "rest"]}, grouped(groups))
    assert "names in column 'job' looks like e-mail addresses" in found
    assert "anna" not in found
    assert wrong_groups_of_values({"job": ["law", "rest"]}, grouped(groups, stated=True)) == ""


def test_a_made_up_budget_is_the_publishers_word(copied):
    folder = copied("csv")
    drawn(folder)
    found = verify(folder)
    assert "epsilon" not in " ".join(found.claims)
    assert "Stated by the publisher, not checked: The synthetic rows" in found.not_checked[0]


# Rows of a csv file in another spelling.


def respelled(folder: Path, change: Callable[[bytes], bytes]) -> None:
    file = folder / "release.csv"
    before = file.read_bytes()
    file.write_bytes(change(before))
    assert file.read_bytes() != before
    edited(folder, lambda m: m["file"].update(sha256=digest(file)))


def quoted(data: bytes) -> bytes:
    head, rest = data.split(b"\n", 1)
    cells = head.split(b",")
    return b",".join([b'"' + cells[0] + b'"', *cells[1:]]) + b"\n" + rest


def column_cells(change: Callable[[bytes], bytes], kind: str) -> Callable[[Path], None]:
    """Change the first cell of the first column of a kind, in the last line."""

    def craft(folder: Path) -> None:
        columns = json.loads((folder / "manifest.json").read_text())["columns"]
        place = next(i for i, c in enumerate(columns) if c["kind"] == kind)

        def one(data: bytes) -> bytes:
            *lines, last = data.rstrip(b"\n").split(b"\n")
            cells = last.split(b",")
            cells[place] = change(cells[place])
            return b"\n".join([*lines, b",".join(cells)]) + b"\n"

        respelled(folder, one)

    return craft


ANOTHER_SPELLING = "holds a number that is spelled in another way than the others"


@pytest.mark.parametrize(
    ("craft", "words"),
    [
        (lambda f: respelled(f, lambda d: d.replace(b"\n", b"\r\n")), "a carriage return"),
        (lambda f: respelled(f, lambda d: d.rstrip(b"\n")), "not written in the one way"),
        (lambda f: respelled(f, quoted), "quotes that nobody needs"),
        (column_cells(lambda c: b'"' + c + b'"', "nominal"), "quotes that nobody needs"),
        (column_cells(lambda c: c + b".0", "number"), ANOTHER_SPELLING),
        (column_cells(lambda c: b"0" + c, "number"), ANOTHER_SPELLING),
        (column_cells(lambda c: b"+" + c, "number"), ANOTHER_SPELLING),
        (column_cells(lambda c: c + b"e0", "number"), ANOTHER_SPELLING),
    ],
)
def test_a_csv_file_spelled_otherwise(copied, craft: Craft, words: str):
    folder = copied("csv")
    craft(folder)
    # A cell that is spelled otherwise is another cell, so that its row is unique, too.
    refused(folder, "form", words, *(["exposure"] if words == ANOTHER_SPELLING else ()))


def test_an_apostrophe_that_no_rule_puts_there(copied):
    folder = copied("csv")
    column_cells(lambda c: b"'" + c, "nominal")(folder)
    refused(folder, "form", "an apostrophe that no rule puts there")


def test_a_byte_order_mark(copied):
    folder = copied("csv")
    respelled(folder, lambda data: b"\xef\xbb\xbf" + data)
    refused(folder, "schema", "the columns of the file are not those of the manifest")


def test_an_empty_line_at_the_end(copied):
    folder = copied("csv")
    respelled(folder, lambda data: data + b"\n")
    with pytest.raises(CannotMeet, match=r"\((form|schema)\)"):
        verify(folder)


def swap(data: bytes) -> bytes:
    head, first, *lines, last = data.rstrip(b"\n").split(b"\n")
    return b"\n".join([head, last, *lines, first]) + b"\n"


def test_rows_in_another_order(copied):
    folder = copied("csv")
    respelled(folder, swap)
    refused(folder, "form", "the rows of release.csv are not in the order of their content")


# Columns that say who somebody is, with all figures counted again.


def emails(rows: pl.DataFrame) -> pl.DataFrame:
    """An address in each row, one of them twice."""
    who = [f"p{max(i, 1)}@example.org" for i in range(rows.height)]
    return rows.with_columns(contact=pl.Series(who))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (emails, "column 'contact' (looks like e-mail addresses) could identify people"),
        (
            lambda rows: rows.with_columns(
                remark=pl.Series(["write to a@example.org"] + ["none"] * (rows.height - 1))
            ),
            "column 'remark' (looks like e-mail addresses in some values)",
        ),
        (
            lambda rows: rows.with_columns(code=pl.Series(range(1000, 1000 + rows.height))),
            "column 'code' (a different value in nearly every row)",
        ),
        (
            lambda rows: rows.with_columns(
                last_name=pl.Series([f"N{i % 90}" for i in range(rows.height)])
            ),
            "column 'last_name' (",
        ),
        (
            lambda rows: rows.with_columns(
                last=pl.Series(family_names(rows.height, np.random.default_rng(1)))
            ),
            "column 'last' (headed as names of people)",
        ),
    ],
)
def test_who_somebody_is(copied, change: Callable[[pl.DataFrame], pl.DataFrame], words: str):
    folder = copied("csv")
    relaid(folder, change)
    refused(folder, "identifiers", words)
    # A publisher who calls the column ordinary is not contradicted, but quoted with the finding.
    relaid(folder, lambda rows: rows.drop(words.split("'")[1]))
    relaid(folder, change, stated=True)
    said = [line for line in verify(folder).not_checked if words.split(" could")[0] in line]
    assert len(said) == 1
    assert said[0].startswith("Stated by the publisher, not checked: column ")


# Other formats: every part of a file is that of its rows.


def rehashed(folder: Path, file: Path) -> None:
    edited(folder, lambda m: m["file"].update(sha256=digest(file)))


def repacked(folder: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """The parts of a spreadsheet changed, and packed again as xlsxwriter does."""
    file = folder / "release.xlsx"
    with zipfile.ZipFile(file) as packed:
        infos = {info.filename: info for info in packed.infolist()}
        parts = {name: packed.read(name) for name in infos}
    change(parts)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(infos.get(name, zipfile.ZipInfo(name)), data)
    rehashed(folder, file)


SHEET = "xl/worksheets/sheet1.xml"


def within(name: str, old: bytes, new: bytes) -> Craft:
    def change(parts: dict[str, bytes]) -> None:
        assert old in parts[name]
        parts[name] = parts[name].replace(old, new, 1)

    return lambda folder: repacked(folder, change)


def added(name: str, data: bytes = CANARY.encode()) -> Craft:
    return lambda folder: repacked(folder, lambda parts: parts.update({name: data}))


@pytest.mark.parametrize(
    ("craft", "words"),
    [
        (within(SHEET, b"<v>", b"<f>1+1</f><v>"), f"{SHEET} in release.xlsx holds something else"),
        (within(SHEET, b"</sheetData>", b"</sheetData><!-- x -->"), "holds something else"),
        (within(SHEET, b"<row ", b'<row hidden="1" '), "holds something else"),
        (within("docProps/core.xml", b"<dc:creator>", b"<dc:creator>Ann"), "docProps/core.xml in"),
        (
            within("docProps/app.xml", b"</Properties>", b"<Manager>A</Manager></Properties>"),
            "docProps/app.xml in",
        ),
        (
            within("xl/workbook.xml", b'name="release"', b'name="release" state="hidden"'),
            "xl/workbook.xml in",
        ),
        (added("xl/comments1.xml"), "'xl/comments1.xml', which no released spreadsheet has"),
        (added("customXml/item1.xml"), "'customXml/item1.xml', which no released spreadsheet has"),
        (added("secret.txt"), "'secret.txt', which no released spreadsheet has"),
    ],
)
def test_a_spreadsheet_that_holds_more(copied, craft: Craft, words: str):
    folder = copied("xlsx")
    craft(folder)
    refused(folder, "form", words)


def test_a_spreadsheet_may_be_packed_otherwise_and_hide_nothing_by_it(copied):
    folder = copied("xlsx")
    repacked(folder, lambda parts: None)
    verify(folder)
    file = folder / "release.xlsx"
    whole = file.read_bytes()
    with zipfile.ZipFile(file, "a") as packed:
        packed.comment = CANARY.encode()
    rehashed(folder, file)
    refused(folder, "form", "release.xlsx holds bytes besides its parts")
    file.write_bytes(CANARY.encode() + whole)  # before the archive, which readers skip
    rehashed(folder, file)
    refused(folder, "form", "release.xlsx holds bytes besides its parts")


def parquet_again(folder: Path, write: Callable[[pl.DataFrame, Path], None]) -> None:
    file = folder / "release.parquet"
    write(pl.read_parquet(file), file)
    rehashed(folder, file)


def dead_bytes(rows: pl.DataFrame, file: Path) -> None:
    """Bytes between the last page and the footer, which nothing refers to."""
    data = file.read_bytes()
    length = int.from_bytes(data[-8:-4], "little") + 8
    file.write_bytes(data[:-length] + CANARY.encode() + data[-length:])


def with_field_metadata(rows: pl.DataFrame, file: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = rows.to_arrow()
    fields = [field.with_metadata({"note": CANARY}) for field in table.schema]
    parquet.write_table(table.cast(arrow.schema(fields)), file, store_schema=False)


SAME: dict[str, Any] = {"statistics": False, "row_group_size": ROW_GROUP}


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda r, f: r.write_parquet(f, metadata={"note": CANARY}, **SAME), "in 'note'"),
        (
            lambda r, f: r.write_parquet(f, statistics=True, row_group_size=ROW_GROUP),
            "byte for byte",
        ),
        (lambda r, f: r.write_parquet(f, statistics=False, row_group_size=64), "byte for byte"),
        (lambda r, f: r.write_parquet(f, compression="gzip", **SAME), "byte for byte"),
        (lambda r, f: r.reverse().write_parquet(f, **SAME), "not in the order of their content"),
        (dead_bytes, "in its pages or between them"),
        (with_field_metadata, "byte for byte"),
    ],
)
def test_a_parquet_file_that_holds_more(copied, write, words: str):
    folder = copied("parquet")
    parquet_again(folder, write)
    refused(folder, "form", words)


def test_a_parquet_file_may_name_another_version_and_nothing_more(copied):
    folder = copied("parquet")
    file = folder / "release.parquet"
    whole = file.read_bytes()
    version = pl.__version__.encode()
    other = (b"9" if version[:1] != b"9" else b"8") + version[1:]
    assert whole.count(b"version " + version) == 1
    file.write_bytes(whole.replace(b"version " + version, b"version " + other))
    rehashed(folder, file)
    verify(folder)
    file.write_bytes(whole.replace(b"Polars", b"Ann S."))
    rehashed(folder, file)
    refused(folder, "form", "byte for byte")
    pl.read_parquet(file).write_parquet(file, statistics=False, row_group_size=64)
    file.write_bytes(file.read_bytes().replace(b"version " + version, b"version " + other))
    rehashed(folder, file)
    with pytest.raises(
        CannotMeet, match=r"was written by another version .* with that one \(form\)$"
    ):
        verify(folder)


def statistical(kind: str, **more: Any) -> Craft:
    """The rows of a statistical file, written with something more by the same library."""

    def craft(folder: Path) -> None:
        import pyreadstat

        from tamis.statistical_file import _undate

        file = folder / RELEASE[kind]
        rows, about = getattr(pyreadstat, f"read_{kind}")(file, output_format="polars")
        labels = about.variable_value_labels
        names = more.pop("extra_label", None)
        if names:
            labels = {name: {**said, 99: names} for name, said in labels.items()}
        asked = {
            key: value(rows.columns) if callable(value) else value for key, value in more.items()
        }
        getattr(pyreadstat, f"write_{kind}")(rows, str(file), variable_value_labels=labels, **asked)
        _undate(file, kind)
        rehashed(folder, file)

    return craft


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("sav", {"note": CANARY}),
        ("sav", {"file_label": CANARY}),
        ("sav", {"column_labels": lambda names: [CANARY] * len(names)}),
        ("sav", {"extra_label": CANARY}),
        ("sav", {"row_compress": True}),
        ("dta", {"file_label": CANARY}),
        ("dta", {"column_labels": lambda names: [CANARY] * len(names)}),
        ("dta", {"extra_label": CANARY}),
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_a_statistical_file_that_holds_more(copied, kind: str, more: dict[str, Any]):
    pytest.importorskip("pyreadstat")
    folder = copied(kind)
    statistical(kind, **more)(folder)
    refused(folder, "form", f"release.{kind} is not, byte for byte, what its rows are written as")


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_bytes_behind_a_statistical_file(copied, kind: str):
    folder = copied(kind)
    file = folder / RELEASE[kind]
    file.write_bytes(file.read_bytes() + CANARY.encode())
    rehashed(folder, file)
    with pytest.raises(CannotMeet, match=r"\((form|schema)\)$"):
        verify(folder)


# Files of the folder.


def test_other_names_of_files(copied, tmp_path: Path):
    folder = copied("csv")
    (folder / "Release.csv").write_text(CANARY)
    refused(folder, "files", "the folder contains 'Release.csv', which the manifest does not list")
    (folder / "Release.csv").unlink()
    (folder / "release.csv").rename(tmp_path / "elsewhere.csv")
    (folder / "release.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(CannotMeet, match=r"not a plain file|contains 'release\.csv'"):
        verify(folder)


# Sparse files.


@pytest.fixture(scope="module", params=["long", "svm"])
def sparse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of records of 0 and 1."""
    draw = np.random.default_rng(5)
    cells = {f"i{i}": (draw.random(120) < 0.5).astype(np.uint8) for i in range(6)}
    rows = pl.DataFrame(
        {**cells, "y": [["no", "yes"][v] for v in cells["i0"] ^ (draw.random(120) < 0.2)]}
    )
    settings = Settings(
        k=5, methods={"containment": {"utilities": ["difference"]}}, attackers=("nb",),
        format=request.param, allow_useless=True,
    )  # fmt: skip
    with no_trees():
        made = consider(read_table(rows, target="y"), settings)
        return publish(made, tmp_path_factory.mktemp("sparse") / "out", date="2026-11-15")


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "form|schema"),
        (lambda data: data.rstrip(b"\n"), "form|schema"),
        (lambda data: data + b"\n", "form|schema"),
        (lambda data: b"\xef\xbb\xbf" + data, "schema"),
        (lambda data: data.replace(b"\n", b" \n", 2), "form|schema"),
    ],
)
def test_a_sparse_file_spelled_otherwise(sparse: Path, tmp_path: Path, change, check: str):
    folder = tmp_path / "copy"
    shutil.copytree(sparse, folder, ignore=lambda *_: ["private"])
    verify(folder)
    content = json.loads((folder / "manifest.json").read_text())
    file = folder / content["file"]["name"]
    file.write_bytes(change(file.read_bytes()))
    rehashed(folder, file)
    with pytest.raises(CannotMeet, match=rf"\(({check})\)$"):
        verify(folder)


def test_rows_of_a_sparse_file_in_another_order(sparse: Path, tmp_path: Path):
    folder = tmp_path / "copy"
    shutil.copytree(sparse, folder, ignore=lambda *_: ["private"])
    content = json.loads((folder / "manifest.json").read_text())
    file, format = folder / content["file"]["name"], content["file"]["format"]
    rows = read_cells(file, content).reverse()
    if format == "long":
        file.write_bytes(csv_lines(_long(rows), header=True))
    else:
        file.write_text(_svm(rows))
    rehashed(folder, file)
    refused(folder, "form", f"the rows of {file.name} are not in the order of their content")
