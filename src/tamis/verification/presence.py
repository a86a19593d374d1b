"""Delta-presence of a release: the claim of its manifest, counted again in a register.

Only someone who has the register can count. The manifest states the bounds of delta; the measured
values are in the holder's recipe. The label that a person of the register would have follows from
the labels of the file and their stated form, without the code that generalises. For groups of
values the manifest lists only common ones; the holder's recipe lists all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tamis.arrays import Ints
from tamis.errors import CannotMeet, InputError, listed_as
from tamis.figures import ROUNDING, exceeds, falls_short
from tamis.people import People, PeopleLike
from tamis.stated import sentence
from tamis.table import Table, bare, kind_of
from tamis.table_file import MOMENT
from tamis.verification.labels import labels_of, stated_form
from tamis.verification.layout import PRIVATE, RECIPE, is_folder, read_json
from tamis.verification.people import uncounted

KEY = "delta_presence"


class PresentShares(NamedTuple):
    """The smallest and the largest share of an equivalence class of the register in the file."""

    least: float
    most: float


class Recounted(NamedTuple):
    """Why a claim is wrong, or why it could not be counted; both empty where it holds."""

    wrong: str = ""
    uncounted: str = ""


def counted_shares(
    frame: pl.DataFrame,
    content: Mapping[str, Any],
    forms: Mapping[str, Any],
    register: Table,
    people: PeopleLike,
    crowds: pl.Series | None = None,
) -> PresentShares:
    """The extreme shares of the register's equivalence classes that are in a file.

    `content` is the manifest; `forms` are the levels and ladders of the recipe, empty without it.
    Where an engine has counted, `frame` has each class once and `crowds` its people.
    """
    described = {c["name"]: c for c in content["columns"]}
    placed = [
        _placed(frame[c], register.frame[c], described[c], forms.get(c))
        for c in content["presence"]["columns"]
    ]
    rows = frame.height if crowds is None else len(crowds)
    inside = _crowds([p.file for p in placed], rows, people, crowds)
    outside = _crowds([p.register for p in placed], register.rows, register.people)
    keys = [c for c in outside.columns if c != "crowd"]
    both = outside.join(inside, on=keys, how="full", suffix="_inside").fill_null(0)
    if (both["crowd_inside"] > both["crowd"]).any():
        raise CannotMeet(
            "some people of the file are not in the register; give the register of everybody that "
            "the table was drawn from"
        )
    shares = (both["crowd_inside"] / both["crowd"]).to_numpy()
    return PresentShares(float(shares.min()), float(shares.max()))


def _crowds(
    columns: Sequence[Ints], rows: int, people: PeopleLike, crowds: pl.Series | None = None
) -> pl.DataFrame:
    """The number of people in each equivalence class; a single class without any columns."""
    keys = {str(i): codes for i, codes in enumerate(columns)} or {"0": np.zeros(rows, np.int64)}
    if crowds is not None:
        counted = pl.DataFrame(keys).with_columns(crowd=crowds)
        return counted.group_by(list(keys)).agg(pl.col("crowd").sum())
    each = pl.DataFrame(keys).with_columns(whose=pl.Series(People.named(people, rows).codes))
    return each.group_by(list(keys)).agg(crowd=pl.col("whose").n_unique().cast(pl.Int64))


class _Placed(NamedTuple):
    """Numbered values of the rows of the file and of the register, equal where they match."""

    file: Ints
    register: Ints


class _Unnamed(Exception):
    """The manifest does not list all values of a column, so they cannot be matched."""


def _placed(
    cells: pl.Series, everybody: pl.Series, column: Mapping[str, Any], form: Any
) -> _Placed:
    values = bare(everybody)
    if "coarser" in column:
        shown = bare(cells).cast(pl.String)
        known = values.drop_nulls().unique()
        labels = labels_of(known, shown.drop_nulls().unique().to_list(), column["coarser"], form)
        if labels is None:
            raise _Unnamed(column["name"])
        pairs = pl.DataFrame({"value": known, "label": pl.Series(labels, dtype=pl.String)})
        rows = pl.DataFrame({"value": values})
        theirs = rows.join(pairs, on="value", how="left", maintain_order="left")["label"]
    else:
        shown, theirs = _comparable(bare(cells), values, column["kind"])
    # 1 stands for a missing cell, which is a value of its own; 0 for a value of the register that
    # no row of the file has. No cell of the file is 0, so such a value matches nobody.
    numbers = pl.DataFrame({"cell": shown.drop_nulls().unique()}).with_row_index("number", 2)
    mine = _numbered(shown, numbers, 1)
    other = np.where(values.is_null().to_numpy(), 1, _numbered(theirs, numbers, 0))
    return _Placed(mine, other)


def _numbered(cells: pl.Series, numbers: pl.DataFrame, otherwise: int) -> Ints:
    rows = pl.DataFrame({"cell": cells}).join(numbers, "cell", "left", maintain_order="left")
    return rows["number"].cast(pl.Int64).fill_null(otherwise).to_numpy()


def _comparable(cells: pl.Series, values: pl.Series, kind: str) -> tuple[pl.Series, pl.Series]:
    """Cells of the file, which may be texts, and values of the register as the same type."""
    if kind != "number":
        return _as_text(cells), _as_text(values)
    # As whole numbers where both fit, since floats would merge those above 2**53.
    whole = [side.cast(pl.Int64, strict=False) for side in (cells, values)]
    if all(w.null_count() == e.null_count() for w, e in zip(whole, (cells, values))) and not (
        cells.dtype.is_float() or values.dtype.is_float()
    ):
        return whole[0], whole[1]
    # Adding 0.0 turns -0.0 into 0.0, so that the two match.
    first, second = (side.cast(pl.Float64, strict=False) + 0.0 for side in (cells, values))
    return first, second


def _as_text(cells: pl.Series) -> pl.Series:
    if cells.dtype == pl.Datetime:
        return cells.dt.strftime(MOMENT)
    return cells.cast(pl.String)


def out_of_bounds(entry: Mapping[str, Any], found: PresentShares) -> bool:
    """Whether measured shares violate the bounds of a claim."""
    low, high = entry["at_least"], entry["at_most"]
    return bool(falls_short(found.least, low) or exceeds(found.most, high))


def kept_presence(found: Any, columns: Sequence[str], register: Table) -> dict[str, Any]:
    """The part of a recipe about delta-presence: the shares, and how to read the register again."""
    needed = [*columns, *register.person_columns]
    kinds = {c: kind_of(register.frame.schema[c]) for c in needed}
    return {
        "least": float(found.least),
        "most": float(found.most),
        "kinds": {c: "text" if kind == "nominal" else kind for c, kind in kinds.items()},
        "person": list(register.person_columns),
    }


_TEXT = ("encoding", "separator", "decimal", "thousands", "dates")


class HowToRead(NamedTuple):
    """How a register is read so that its values can be compared with a file."""

    kinds: dict[str, str]
    person: tuple[str, ...]
    missing: tuple[str, ...]
    text: dict[str, Any]
    """How a text file is written: options of `tamis.read_table`."""


def how_to_read(content: Any, recipe: Mapping[str, Any]) -> HowToRead:
    """How to read the register: as the recipe says, or else by the stated kinds of the columns.

    >>> column = {"name": "age", "kind": "nominal", "coarser": {"width": 10}}
    >>> how_to_read({"columns": [column], "presence": {"columns": ["age"]}}, {}).kinds
    {'age': 'number'}
    """
    try:
        source = recipe.get("origin", {}).get("source", {})
        known = recipe.get("presence", {})
        claimed = content.get("presence", {}).get("columns", ())
        kinds = {c["name"]: _kind_stated(c) for c in content["columns"] if c["name"] in claimed}
        return HowToRead(
            known.get("kinds") or {name: kind for name, kind in kinds.items() if kind},
            tuple(known.get("person", ())),
            tuple(source.get("missing", ())),
            {name: source.get(name) for name in _TEXT},
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise CannotMeet(f"the manifest is malformed ({type(error).__name__})") from None


def _kind_stated(column: Mapping[str, Any]) -> str:
    """The kind of a column before it was generalised; empty where the manifest is silent."""
    said = column.get("coarser")
    if said is None:
        return "text" if column["kind"] == "nominal" else str(column["kind"])
    form = stated_form(said)
    return "" if form is None else form.kind


def check_claimed_columns(content: Any, register: Table) -> None:
    """Raise unless the manifest makes a population claim and the register has its columns."""
    entry = content.get("presence") if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise InputError(
            "the manifest claims nothing about a population, so there is nothing to count in a "
            "register; leave out --population"
        )
    if lacking := [c for c in entry.get("columns", ()) if c not in register.frame.columns]:
        raise InputError(f"the register has no {listed_as('column', lacking)}")


def recounted_presence(
    folder: Path,
    content: dict[str, Any],
    register: Table | None,
    count: Callable[[dict[str, Any], Table], PresentShares],
) -> Recounted:
    """Count the claim of a manifest again, if there is a register to count it in.

    `count` measures the shares, given the forms of the holder's recipe and the register.
    """
    entry, private = content["presence"], is_folder(folder / PRIVATE)
    if wrong := _wrong_entry(entry, content):
        return Recounted(wrong)
    if entry["recount"] != "register":
        return Recounted(uncounted="values were altered, and it is about the true ones")
    if register is None:
        return Recounted(uncounted="that takes the register; give it with --population FILE")
    if uncounted(content, private):
        return Recounted(uncounted="the file does not say whose its rows are, only private/ does")
    recipe = read_json(folder / PRIVATE / RECIPE) if private else {}
    try:
        found = count(recipe.get("forms", {}), register)
    except _Unnamed as error:
        why = f"the manifest does not name all values of {error.args[0]!r}, only private/ does"
        return Recounted(uncounted=why)
    if out_of_bounds(entry, found):
        return Recounted(
            f"{KEY} is from {found.least:.4g} to {found.most:.4g} in this register, which is not "
            "what was promised"
        )
    return Recounted(_unlike_kept(recipe.get("presence"), found))


def _unlike_kept(said: Mapping[str, Any] | None, found: PresentShares) -> str:
    """How the shares differ from those that the holder measured, in words."""
    if said is None:
        return ""
    known = PresentShares(said["least"], said["most"])
    if max(abs(a - b) for a, b in zip(known, found)) <= ROUNDING:
        return ""
    return (
        f"{KEY} is from {found.least:.4g} to {found.most:.4g} in this register, but from "
        f"{known.least:.4g} to {known.most:.4g} in that of the recipe; is it the same register?"
    )


def _wrong_entry(entry: dict[str, Any], content: dict[str, Any]) -> str:
    low, high = entry["at_least"], entry["at_most"]
    if not all(type(bound) is float for bound in (low, high)) or not 0 <= low <= high <= 1:
        return f"{KEY} is not stated as two shares, the smaller first"
    if entry["key"] != KEY or entry["recount"] not in ("register", "nobody"):
        return f"the claim about who is in the table is not one of {KEY}"
    exposure = content.get("exposure")
    if exposure and sorted(entry["columns"]) != sorted(exposure["known"]["columns"]):
        return f"{KEY} is about other columns than those that attackers may know"
    if entry["claim"] != sentence(entry):
        return f"the wording of {KEY} does not match its figures"
    return ""


def unmet_words(found: PresentShares) -> str:
    """The error where a written file does not meet the bounds that were asked for."""
    return (
        f"the written file has {KEY} from {found.least:.4g} to {found.most:.4g}, which is not what "
        "was asked for; nothing was published"
    )
