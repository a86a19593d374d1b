"""Crafted: published folders with one thing changed by a forger, which `verify` must not pass.

The forger is careful: hashes, the number of rows and the form of the manifest fit again. What may
pass is what docs/releasing.md says that nobody can check: another release that is true of itself,
and what is only stated about the original and the making.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fuzz.claims import each_case, recount, without_close_look
from fuzz.tally import Tally

NAME, REPORT, PRIVATE = "manifest.json", "report.html", "private"
MARK = "Ann Zqcell, 4 High Street"
"""What a forger would hide."""
FORMATS = ("csv", "parquet", "long", "svm", "sav", "dta", "xlsx")
TIMES = 15
"""How often each folder is changed."""
STATED = ("date", "versions", "engine", "held_back", "measured", "close_look", "budget", "method")
"""Parts of a manifest that are said not to be checked, as far as their form is right."""
STATED_OF_COLUMNS = ("stated", "question")

Content = dict[str, Any]
Place = tuple[Any, ...]


def digest(path: Path) -> str:
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest()


def write_manifest(folder: Path, content: Content) -> None:
    """In the form that tamis has, as far as the order of keys was kept."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def rehash(folder: Path, rows: int | None = None) -> None:
    """A careful forger's last step: the hashes fit what is there."""
    content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    for entry in (content["file"], content["report"]):
        entry["sha256"] = digest(folder / entry["name"])
    if rows is not None:
        content["file"]["rows"] = rows
    write_manifest(folder, content)


# The manifest


def places(content: Any, here: Place = ()) -> list[Place]:
    """Every place of a manifest."""
    found = [here] if here else []
    if isinstance(content, dict | list):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in pairs:
            found += places(value, (*here, key))
    return found


def altered(value: Any, rng: np.random.Generator) -> Any:
    """Another value: of its kind, of another kind, or a text that hides somebody."""
    others: list[Any] = [MARK, None, [], {}, {"note": MARK}]
    if isinstance(value, bool):
        others += [not value, int(value)] * 2
    elif isinstance(value, int):
        others += [value + 1, value - 1, float(value), str(value), bool(value)] * 2
    elif isinstance(value, float):
        others += [value / 2, value + 1e-9, float("1e400"), int(value)]
    elif isinstance(value, str):
        others += [f"{value} {MARK}", value.upper(), value + " ", ""] * 2
    elif isinstance(value, list):
        others += [[*value, MARK], value[::-1], value + value[:1], value[1:]] * 2
    elif isinstance(value, dict):
        extra = {**value, "note": MARK}
        less = dict(list(value.items())[1:])
        others += [extra, less, dict(reversed(list(value.items())))] * 2
    return others[int(rng.integers(len(others)))]


def change_manifest(folder: Path, rng: np.random.Generator) -> str:
    """One place of a manifest; which one, or nothing where it stayed the same."""
    content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    every = [place for place in places(content) if "sha256" not in place]
    place = every[int(rng.integers(len(every)))]
    parent = content
    for key in place[:-1]:
        parent = parent[key]
    before = json.dumps(content)
    parent[place[-1]] = altered(parent[place[-1]], rng)
    if json.dumps(content) == before:
        return ""
    try:
        write_manifest(folder, content)
    except ValueError:  # infinity, which only a careless forger writes
        (folder / NAME).write_text(json.dumps(content), encoding="utf-8")
    hides = MARK in json.dumps(content) and place[:2] != ("file", "classes")
    return "" if not hides and is_stated(content, place) else ".".join(map(str, place))


def is_stated(content: Content, place: Place) -> bool:
    """Whether a value is among those that nobody can check."""
    part, *rest = place
    if part in STATED or place == ("exposure", "asked"):
        return True
    if place[:2] == ("file", "classes"):
        return True  # labels, as the cells of other formats
    if part == "columns" and len(rest) > 1 and (rest[1] in STATED_OF_COLUMNS or "groups" in rest):
        return True
    if part in ("suppressed", "presence"):
        return True  # with nothing private, and without a register
    return part == "diversity" and bool(content[part][rest[0]].get("recount") == "private")


def respell(folder: Path, rng: np.random.Generator) -> str:
    """The same manifest in other bytes."""
    path = folder / NAME
    text = path.read_text(encoding="utf-8")
    ways: list[Callable[[str], str]] = [
        lambda text: text + "\n",
        lambda text: text.replace(": ", " : ", 1),
        lambda text: json.dumps(json.loads(text)),
        lambda text: text.replace("{", '{"schema": "' + MARK + '",', 1),
        lambda text: text.replace("a", "\\u0061", 1),
    ]
    new = ways[int(rng.integers(len(ways)))](text)
    path.write_text(new, encoding="utf-8")
    return "the manifest in other bytes" if new != text else ""


# The folder and its table


def add_file(folder: Path, rng: np.random.Generator) -> str:
    name = str(rng.choice(["notes.txt", ".hidden", "release.csv.bak", "private2"]))
    (folder / name).write_text(MARK)
    return "another file"


def link_file(folder: Path, rng: np.random.Generator) -> str:
    path = folder / str(rng.choice([NAME, REPORT]))
    real = folder.with_suffix(".real")
    shutil.copy(path, real)
    path.unlink()
    os.symlink(real, path)
    return "a link in place of a file"


def spoil(folder: Path, rng: np.random.Generator) -> str:
    """Another byte in a file, whose hash stays."""
    content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    path = folder / (REPORT if rng.random() < 0.3 else content["file"]["name"])
    data = bytearray(path.read_bytes())
    data[int(rng.integers(len(data)))] ^= int(rng.integers(1, 256))
    path.write_bytes(data)
    return "a byte of a file"


def pad(folder: Path, rng: np.random.Generator) -> str:
    """More bytes at an end of the table, with its hash."""
    path = table_of(folder)
    data = path.read_bytes()
    more = [b"\n", b" ", b"\0", MARK.encode(), b"\xef\xbb\xbf", b"\n# " + MARK.encode() + b"\n"]
    piece = more[int(rng.integers(len(more)))]
    path.write_bytes(data + piece if rng.random() < 0.7 else piece + data)
    rehash(folder)
    return "bytes before or after the table"


def table_of(folder: Path) -> Path:
    content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    return folder / str(content["file"]["name"])


def rewrite(folder: Path, rng: np.random.Generator) -> str:
    """The same rows in another way that the format allows, with its hash."""
    path = table_of(folder)
    before = path.read_bytes()
    ways = {".csv": _rewrite_lines, ".svm": _rewrite_lines, ".parquet": _rewrite_parquet}
    ways |= {".xlsx": _rewrite_sheet, ".sav": _rewrite_statistical, ".dta": _rewrite_statistical}
    ways[path.suffix](path, rng)
    rehash(folder)
    return "the same rows in other bytes" if path.read_bytes() != before else ""


def _rewrite_lines(path: Path, rng: np.random.Generator) -> None:
    head, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if path.suffix == ".svm":
        lines, head = [head, *lines], ""
    # A blank at the end of a line of csv is another cell, and nothing in svm.
    way = str(rng.choice(["swap", "crlf", "blank", "quote" if head else "space"]))
    if way == "swap":
        i, j = rng.choice(len(lines), 2, replace=False)
        lines[i], lines[j] = lines[j], lines[i]
    elif way == "quote":
        first, *rest = lines[-1].split(",")
        lines[-1] = ",".join([first if '"' in first else f'"{first}"', *rest])
    elif way == "space":
        lines[-1] += " "
    elif way == "blank":
        lines.append("")
    text = "\n".join([*([head] if head else []), *lines, ""])
    data = text.replace("\n", "\r\n") if way == "crlf" else text
    path.write_bytes(data.encode())


def _rewrite_parquet(path: Path, rng: np.random.Generator) -> None:
    frame = pl.read_parquet(path)
    way = int(rng.integers(4))
    if way == 0:
        frame.write_parquet(path, metadata={"note": MARK})
    elif way == 1:
        frame.write_parquet(path, compression="gzip")
    elif way == 2:
        frame[rng.permutation(frame.height)].write_parquet(path)
    else:
        import pyarrow.parquet as pq

        pq.write_table(frame.to_arrow(), path)


def _rewrite_sheet(path: Path, rng: np.random.Generator) -> None:
    """Another part of the archive, a comment of it, or a cell that no table has."""
    with zipfile.ZipFile(path) as old:
        parts = {item: old.read(item) for item in old.namelist()}
    way = int(rng.integers(4))
    if way == 0:
        parts["docProps/notes.xml"] = MARK.encode()
    elif way == 1:
        sheet = next(name for name in parts if "worksheets/sheet" in name)
        parts[sheet] = parts[sheet].replace(b"</worksheet>", b"<!-- x --></worksheet>")
    elif way == 2:
        parts = dict(reversed(parts.items()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for item, data in parts.items():
            new.writestr(item, data)
        new.comment = MARK.encode() if way == 3 else b""


def _rewrite_statistical(path: Path, rng: np.random.Generator) -> None:
    import pyreadstat

    spss = path.suffix == ".sav"
    frame, _ = (pyreadstat.read_sav if spss else pyreadstat.read_dta)(path)
    ways: list[dict[str, Any]] = [
        {"file_label": MARK[:20]},
        {"column_labels": [MARK] * frame.shape[1]},
        {"note": MARK} if spss else {"file_label": "x"},
    ]
    more = ways[int(rng.integers(len(ways)))]
    (pyreadstat.write_sav if spss else pyreadstat.write_dta)(frame, path, **more)


def forge_rows(folder: Path, rng: np.random.Generator) -> str:
    """Other rows in their order, with the hash and the number; what they contradict, by a count."""
    path = table_of(folder)
    if path.suffix != ".csv" or "long" in str(path):
        return ""
    head, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    way = str(rng.choice(["cell", "twice", "gone"]))
    i = int(rng.integers(len(lines)))
    if way == "gone":
        del lines[i]
    elif way == "twice":
        lines.insert(i, lines[i])
    else:
        cells, others = lines[i].split(","), lines[int(rng.integers(len(lines)))].split(",")
        place = int(rng.integers(len(cells)))
        cells[place] = others[place]
        lines = sorted([*lines[:i], ",".join(cells), *lines[i + 1 :]])
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    rehash(folder, len(lines))
    return "; ".join(recount(folder))


WAYS: tuple[Callable[[Path, np.random.Generator], str], ...] = (
    *([change_manifest] * 4),
    *([rewrite] * 3),
    *([forge_rows] * 2),
    *(respell, add_file, link_file, spoil, pad),
)


def publish_one(rng: np.random.Generator, folder: Path) -> tuple[str, Path]:
    """A random release in a random format, as a recipient has it."""
    from tamis import Settings, consider, publish, read_table

    form: Any = str(rng.choice(FORMATS))
    rows, zero_one = int(rng.integers(60, 140)), form in ("long", "svm") or rng.random() < 0.2
    cause = rng.integers(0, 2, rows)
    cells: dict[str, Any] = {"goal": np.where(cause > 0, "yes", "no")}
    for i in range(int(rng.integers(2, 5))):
        drawn = np.where(rng.random(rows) < 0.5, cause, rng.integers(0, 2 + (not zero_one), rows))
        texts = not zero_one and rng.random() < 0.6
        cells[f"c{i}"] = np.array(["west", "south", "north"])[drawn] if texts else drawn
    table = read_table(pl.DataFrame(cells), target="goal")
    method = str(rng.choice(["containment" if zero_one else "coarsen", "front", "suppress"]))
    if form in ("long", "svm"):
        method = "containment"
    options = {"ks": [3], "utilities": ["difference"]} if method == "containment" else {}
    common: dict[str, Any] = {"attackers": ("nb",), "allow_useless": True, "holdout": 0.3}
    settings = Settings(k=3, methods={method: options}, format=form, seed=1, **common)
    out = publish(consider(table, settings), folder / "out")
    shutil.rmtree(out / PRIVATE)
    return form, out


def try_one(seed: int, folder: Path) -> tuple[str, list[str]]:
    """Publish a folder, change it some times; what passed and should not have."""
    from tamis import verify
    from tamis.errors import CannotMeet, InputError

    rng = np.random.default_rng(seed)
    try:
        form, out = publish_one(rng, folder)
    except (CannotMeet, InputError) as error:
        return f"refused: {type(error).__name__}", []
    rehash(out)  # which changes nothing, or what follows would fail for its form alone
    verify(out)
    wrong = []
    for number in range(TIMES):
        copy = folder / f"copy{number}"
        shutil.copytree(out, copy)
        if what := WAYS[int(rng.integers(len(WAYS)))](copy, rng):
            try:
                verify(copy)
            except (CannotMeet, InputError):
                continue
            wrong.append(f"verify passes a {form} folder with {what}")
    return f"{form}, {TIMES} changes each", wrong


def run(tally: Tally, most: int = 1_000, seed: int = 0) -> None:
    """Random folders, each changed some times by a forger."""
    without_close_look()
    each_case(tally, try_one, most, seed)
