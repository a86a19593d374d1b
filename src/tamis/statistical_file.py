"""Read and write files of statistical programs (SPSS, Stata and SAS) with their labels.

A column in which every value has a label is read as its labels, in the order of their codes; one in
which only some values have labels (999: refused) stays numeric. Values that a file declares missing
are missing. On writing, texts that had a code get it again with its label; others get codes after
those, or from 1 on, in alphabetical order; columns get the text of their question again. A written
file contains no date, so that the same rows give the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tamis.errors import InputError, MissingExtra, listed
from tamis.files import scratch_folder
from tamis.table import Code, ColumnText, Dictionary

PROGRAMS = {"sav": "SPSS", "dta": "Stata", "sas": "SAS"}
"""The formats that pyreadstat reads, with their programs."""
_READERS = {"sav": "read_sav", "dta": "read_dta", "sas": "read_sas7bdat"}
_DATES = {
    "sav": ("MOYR", "QYR", "WKYR"),
    "sas": ("MONYY", "MMYY", "YYMM", "YYMON", "YYQ", "YEAR", "WEEKDATE", "WORDDATE", "JULIAN"),
}
"""Display formats that show a date as its month, quarter or year, or in words."""
_NAMES = {
    "sav": (r"[A-Za-z@][A-Za-z0-9_.@#$]{0,63}", "at most 64 letters, digits, _ . @ # $"),
    "dta": (r"[A-Za-z_][A-Za-z0-9_]{0,31}", "at most 32 letters, digits and _"),
}
"""The column names that a program accepts, as a pattern and in words."""
MOST_LABELS = 1_000
"""Text columns with more distinct values are written as text instead of codes."""
LONGEST_LABEL = {"sav": 120, "dta": 2_000}
"""Most bytes of a label."""
_LOCKED_SPSS = b"ENCRYPTEDSAV"
_SAV_DATE, _NO_DATE = slice(92, 109), b"01 Jan 0000:00:00"


def read_statistical(path: Path, kind: str) -> pl.DataFrame:
    """Read the rows of an SPSS (`sav`), Stata (`dta`) or SAS (`sas`) file."""
    return read_described(path, kind)[0]


def read_described(path: Path, kind: str) -> tuple[pl.DataFrame, dict[str, ColumnText]]:
    """Read the rows of a file, and its labels and questions by column.

    The file is read in a separate process, since a damaged one can crash the reader.
    """
    program = PROGRAMS[kind]
    if kind == "sav" and _LOCKED_SPSS in first_bytes(path):
        raise InputError(f"{path} is protected by a password; save it in SPSS without one")
    _pyreadstat(program)
    with scratch_folder() as folder:
        rows = folder / "rows.arrow"
        # -P: a file in the folder where tamis runs must not be taken for a module.
        command = [sys.executable, "-P", "-m", __name__, kind, str(path), str(rows)]
        done = subprocess.run(command, capture_output=True, check=False, env=_environment())
        if done.returncode == 0 and rows.exists():
            said = json.loads(rows.with_suffix(".json").read_text(encoding="utf-8"))
            return pl.read_ipc(rows.read_bytes()), {
                name: ColumnText(question, dict(codes)) for name, question, codes in said
            }
    why = done.stdout.decode("ascii", "replace").strip() if done.returncode == 1 else "a crash"
    raise InputError(
        f"{path} is not {_a(program)} file that can be read, or is damaged or encrypted "
        f"({why}); export it again, or as csv"
    )


def _environment() -> dict[str, str]:
    """The environment for a process that imports this same package."""
    known = os.environ.get("PYTHONPATH")
    above = str(Path(__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([above, *([known] if known else [])])}


def parse_statistical(path: Path, kind: str) -> pl.DataFrame:
    """Read the rows of a trusted file, one written here, in this process."""
    return parse_described(path, kind)[0]


def parse_described(path: Path, kind: str) -> tuple[pl.DataFrame, dict[str, ColumnText]]:
    """Read the rows of a trusted file with its labels and questions, in this process."""
    read = getattr(_pyreadstat(PROGRAMS[kind]), _READERS[kind])
    dates = {"extra_date_formats": list(_DATES[kind])} if kind in _DATES else {}
    frame, about = read(path, output_format="polars", **dates)
    labels, questions = about.variable_value_labels, about.column_names_to_labels
    named = {cells.name: _codes(cells, labels.get(cells.name, {})) for cells in frame}
    rows = pl.DataFrame([_column(cells, named[cells.name]) for cells in frame])
    said = {name: ColumnText(questions.get(name) or "", codes) for name, codes in named.items()}
    return rows, {name: text for name, text in said.items() if text.question or text.codes}


def _parse(kind: str, path: str, rows: str) -> int:
    """Main function of the reading process; it reports only the type of an error.

    The message of an error may quote a cell.
    """
    try:
        frame, said = parse_described(Path(path), kind)
        frame.write_ipc(rows)
        texts = [(name, text.question, list(text.codes.items())) for name, text in said.items()]
        Path(rows).with_suffix(".json").write_text(json.dumps(texts), encoding="utf-8")
    except Exception as error:
        sys.stdout.write(type(error).__name__)
        return 1
    return 0


def _pyreadstat(program: str) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra(
            f"{program} files need pyreadstat; pip install 'tamis[survey]'"
        ) from None
    return pyreadstat


def _a(program: str) -> str:
    return f"an {program}" if program.startswith("S") and program != "Stata" else f"a {program}"


def _column(cells: pl.Series, codes: Mapping[str, Code]) -> pl.Series:
    """A column with labels if it has them, integers if whole, and blank texts missing."""
    if cells.dtype == pl.String:
        cells = cells.replace("", None)
    if codes and (labels := _labelled(cells, codes)) is not None:
        return labels
    return whole(cells)


def _codes(cells: pl.Series, labels: Mapping[Any, Any]) -> dict[str, Code]:
    """The codes that occur, by label; labels that repeat get their code appended."""
    known = cells.fill_nan(None) if cells.dtype.is_float() else cells
    there = known.drop_nulls().unique().sort().to_list()
    said = {code: str(labels[code]) for code in there if str(labels.get(code, "")).strip()}
    times = Counter(said.values())
    return {
        label if times[label] == 1 else _with_code(label, code): _plain_code(code)
        for code, label in said.items()
    }


def _plain_code(code: Any) -> Code:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _with_code(label: str, code: Any) -> str:
    return f"{label} [{_plain_code(code)}]"


def _labelled(cells: pl.Series, codes: Mapping[str, Code]) -> pl.Series | None:
    """The cells as labels, an enum in the order of the codes; `None` if a value has no label."""
    known = cells.fill_nan(None) if cells.dtype.is_float() else cells
    if len(codes) < known.drop_nulls().n_unique():
        return None
    values = {code: label for label, code in codes.items()}
    texts = [None if cell is None else values[cell] for cell in known]
    return pl.Series(cells.name, texts, dtype=pl.Enum(list(codes)))


def whole(cells: pl.Series) -> pl.Series:
    """Integers if all values are whole, since these programs store every number as a float.

    >>> whole(pl.Series([1.0, None, 2.0])).to_list(), whole(pl.Series([1.5])).to_list()
    ([1, None, 2], [1.5])
    """
    if not cells.dtype.is_float():
        return cells
    known = cells.fill_nan(None)
    exact = known.drop_nulls()
    if len(exact) and ((exact == exact.round()) & (exact.abs() < 2**53)).all():
        return known.cast(pl.Int64)
    return known


def first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def texts_of(frame: pl.DataFrame, dictionary: Dictionary | None) -> dict[str, ColumnText]:
    """Questions and labels of a frame's columns, for values that occur in it.

    A value that is not released must not be published as a label. Labels are in alphabetical order,
    so that the same rows give the same bytes. Numbers of which only some have labels keep these; if
    all happen to have one, the labels are dropped, since they would be read as labels instead.

    >>> sexes = pl.DataFrame({"sex": ["man", "man"]})
    >>> texts_of(sexes, {"sex": ColumnText("Sex?", {"man": 1, "woman": 2}), "age": ColumnText()})
    {'sex': ColumnText(question='Sex?', codes={'man': 1})}
    """
    texts = {}
    for cells in frame:
        if (said := (dictionary or {}).get(cells.name)) is None:
            continue
        there = set(cells.drop_nulls().unique().to_list())
        if cells.dtype.is_numeric():
            codes = {label: code for label, code in said.codes.items() if code in there}
            codes = codes if len(codes) < len(there) else {}
        else:
            codes = {label: code for label, code in said.codes.items() if label in there}
        if said.question or codes:
            texts[cells.name] = ColumnText(said.question, dict(sorted(codes.items())))
    return texts


def write_statistical(
    frame: pl.DataFrame, path: Path, kind: str, dictionary: Dictionary | None = None
) -> None:
    """Write rows for SPSS (`sav`) or Stata (`dta`); texts become codes with labels.

    `dictionary` has the codes that they had, and the texts of questions.
    """
    program = PROGRAMS[kind]
    check_names(frame.columns, kind)
    said = texts_of(frame, dictionary)
    coded = {
        s.name: _coded(s, kind, _of(said, s.name))
        for s in frame
        if s.dtype == pl.String and not is_blank(s)
    }
    labels: dict[str, Any] = {n: found[1] for n, found in coded.items() if found is not None}
    labels |= {
        s.name: {code: label for label, code in said[s.name].codes.items()}
        for s in frame
        if s.name in said and s.dtype.is_numeric() and said[s.name].codes
    }
    questions = {name: text.question for name, text in said.items() if text.question}
    columns = [
        found[0] if (found := coded.get(cells.name)) is not None else _stored(cells)
        for cells in frame
    ]
    write = getattr(_pyreadstat(program), f"write_{kind}")
    try:
        write(
            pl.DataFrame(columns),
            str(path),
            variable_value_labels=labels,
            column_labels=questions or None,
        )
    except Exception as error:
        raise InputError(
            f"the rows cannot be written for {program} ({type(error).__name__}); write csv or "
            "parquet"
        ) from None
    _undate(path, kind)


def unwritable(names: Iterable[str], kind: str) -> list[str]:
    """The column names that a format does not accept; only SPSS and Stata have such.

    >>> unwritable(["age", "job = cook"], "sav"), unwritable(["job = cook"], "csv")
    (['job = cook'], [])
    """
    pattern = _NAMES[kind][0] if kind in _NAMES else "(?s:.*)"
    return [name for name in names if not re.fullmatch(pattern, name)]


def check_names(names: Sequence[str], kind: str) -> None:
    """Raise for column names that SPSS or Stata does not accept, or does not tell apart."""
    if kind not in _NAMES:
        return
    words = _NAMES[kind][1]
    if bad := unwritable(names, kind):
        raise InputError(
            f"{PROGRAMS[kind]} takes no column named {listed(bad)}; a name has {words}, and begins "
            "with a letter. Rename it, or write csv or parquet"
        )
    if len({name.lower() for name in names}) < len(names):
        raise InputError(f"two columns have names that {PROGRAMS[kind]} takes for one; rename one")


def _of(dictionary: Dictionary, name: str) -> Mapping[str, Code]:
    return dictionary[name].codes if name in dictionary else {}


def _coded(
    texts: pl.Series, kind: str, known: Mapping[str, Code]
) -> tuple[pl.Series, dict[Code, str]] | None:
    """Texts as codes, with the labels: known codes, then from the next whole number on.

    `None` if there are too many labels, or too long ones.
    """
    order = sorted(texts.drop_nulls().unique().to_list())
    if len(order) > MOST_LABELS or any(len(text.encode()) > LONGEST_LABEL[kind] for text in order):
        return None
    codes: dict[str, Code] = {text: known[text] for text in order if text in known}
    new = [text for text in order if text not in known]
    texts_as_codes = any(isinstance(code, str) for code in codes.values())
    if texts_as_codes and (new or kind == "dta"):  # Stata labels numbers only
        codes, new = {}, order
    after = max((int(code) for code in codes.values() if not isinstance(code, str)), default=0)
    new = sorted(new, key=lambda text: _place(text, {}))
    codes |= {text: number for number, text in enumerate(new, start=max(after, 0) + 1)}
    codes = {text: codes[text] for text in order}  # in one order, whichever were known
    cells = [None if text is None else codes[text] for text in texts]
    return pl.Series(texts.name, cells, dtype=_code_type(codes.values())), _labels(codes)


_JOINED = re.compile(r" (?:to|or|and others)\b")
_FIRST_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_BELOW = re.compile(r"<|under |.* or less$")


def _place(text: str, codes: Mapping[str, Code]) -> tuple[float, bool, str]:
    """Sort key of a group's label: by the code of its first value, or by its first number.

    >>> _place("17 or less", {}) < _place("18 to 64", {}) < _place("other", {})
    True
    """
    code = codes.get(_JOINED.split(text, maxsplit=1)[0])
    if code is not None and not isinstance(code, str):
        return float(code), True, text
    number = _FIRST_NUMBER.search(_DATE.sub(r"\1\2\3", text))
    return float(number[0]) if number else float("inf"), not _BELOW.match(text), text


def group_codes(labels: Iterable[str], codes: Mapping[str, Code]) -> dict[str, Code]:
    """New codes from 1 on for groups of values that had codes, in the order of these.

    >>> group_codes(["Higher", "No to Primary"], {"No": 1, "Primary": 2, "Higher": 3})
    {'No to Primary': 1, 'Higher': 2}
    """
    if not codes:
        return {}
    places = enumerate(sorted(labels, key=lambda label: _place(label, codes)), start=1)
    return {label: place for place, label in places}


def _code_type(codes: Iterable[Code]) -> Any:
    kinds = {type(code) for code in codes}
    return pl.String if str in kinds else pl.Float64 if float in kinds else pl.Int32


def _labels(codes: Mapping[str, Code]) -> dict[Code, str]:
    """The label of each code, without the code that was appended to repeating labels."""
    bare = {text: text.removesuffix(f" [{code}]") for text, code in codes.items()}
    times = Counter(bare.values())
    return {code: bare[text] if times[bare[text]] > 1 else text for text, code in codes.items()}


def _stored(cells: pl.Series) -> pl.Series:
    """A column in a type that these files support; all numbers become floats."""
    number = cells.dtype == pl.Boolean or cells.dtype.is_numeric() or is_blank(cells)
    return cells.cast(pl.Float64) if number else cells


def is_blank(cells: pl.Series) -> bool:
    """Whether a column has no value, and so no type that a reader could infer."""
    return cells.null_count() == cells.len()


def _undate(path: Path, kind: str) -> None:
    """Overwrite the time of writing in a file by a fixed one."""
    data = bytearray(path.read_bytes())
    if kind == "sav":
        data[_SAV_DATE] = _NO_DATE
    else:
        stamp = re.search(rb"<timestamp>(.)([^<]*)</timestamp>", data[:2000], re.DOTALL)
        if stamp:
            fixed = b"01 Jan 2000 00:00"[: len(stamp[2])].ljust(len(stamp[2]))
            data[stamp.start(2) : stamp.end(2)] = fixed
    path.write_bytes(data)


if __name__ == "__main__":
    sys.exit(_parse(*sys.argv[1:]))
