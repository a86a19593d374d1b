"""Who is unique in a written release, counted from its cells by code that did not make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.publish.checks import People, as_stored, holders_of, row_kinds, zeros_and_ones

Figures = dict[str, dict[str, int]]
Counts = tuple[Figures, int]
"""Who is unique, as `recounted` gives it, and the number of all."""
Count = Callable[[list[str], str, bool], Counts]
"""Counts over the columns that attackers may know and by their kind, in rows or (true) people."""


def wrong_exposure(
    frame: pl.DataFrame, content: dict[str, Any], people: People | None = None
) -> str:
    """What is wrong in a manifest's exposure; empty where everything is right.

    Where people have several rows, the file does not say whose row is whose. Figures about rows
    are counted; figures about people are counted where `people` has the person of each row, and
    can otherwise only be compared with the rows.
    """
    target = next(c["name"] for c in content["columns"] if c["role"] == "target")

    def count(columns: list[str], kind: str, in_people: bool) -> Counts:
        who = people if in_people else None
        total = frame.height if who is None else len(np.unique(who))
        return recounted(frame, columns, kind, target, who), total

    return wrong_exposure_by(count, content, people is not None)


def wrong_exposure_by(count: Count, content: dict[str, Any], with_people: bool) -> str:
    """The same by whatever counts the rows, and the people where these are known."""
    said = content.get("exposure")
    if said is None:
        lacks = content.get("budget") is None
        return "the manifest does not say who is unique in the release" if lacks else ""
    if wrong := _wrong_words(said, content):
        return wrong
    known = said["known"]["columns"], said["known"]["kind"]
    in_rows = said.get("rows", said)
    if wrong := _unlike(in_rows, *count(*known, False)):
        return wrong
    promised = [p["columns"] for p in content["promises"]]
    if promised and sorted(known[0]) != sorted(promised[0]):
        return "unique rows are counted over different columns from those of the promise"
    if said is in_rows:
        return ""
    if wrong := _wrong_people(said, in_rows):
        return wrong
    if not with_people:
        return ""
    figures, total = count(*known, True)
    return _unlike(said, _shown(figures, said["asked"]), total)


def _wrong_words(said: dict[str, Any], content: dict[str, Any]) -> str:
    """What contradicts the promises in how figures are worded: whom they count, and which k."""
    units = {"rows", *(entry["unit"] for entry in content["promises"])}
    if said.get("unit") not in units:
        return "who is unique is counted in another unit than the promises"
    asked, least = said.get("asked"), [entry["at_least"] for entry in content["promises"]]
    if type(asked) is not int or not 1 <= asked <= min(least, default=asked):
        return "the k that was asked for is missing, or is larger than what is promised"
    return ""


def _unlike(said: dict[str, Any], found: Mapping[str, Mapping[str, Any]], total: int) -> str:
    """The first figure that differs from what was counted."""
    for part, figures in {**found, "": {"total": total}}.items():
        entries = said[part] if part else said
        for name, value in figures.items():
            if entries[name] != value or type(entries[name]) is not type(value):
                words = f"{name} of {part.replace('_', ' ')}" if part else "the total"
                return f"{words} is {value}, but the manifest says {entries[name]!r}"
    return ""


def _shown(found: Figures, k: int) -> dict[str, dict[str, Any]]:
    """Figures about people without those from 1 to k - 1, which the file does not reveal."""
    shown: dict[str, dict[str, Any]] = {
        part: {
            name: value if name == "of" or not 0 < value < k else None for name, value in f.items()
        }
        for part, f in found.items()
    }
    if shown["same_target"]["members"] is None:
        shown["same_target"]["groups"] = None
    else:
        shown["same_target"]["groups"] = found["same_target"]["groups"]
    return shown


def _wrong_people(said: dict[str, Any], in_rows: dict[str, Any]) -> str:
    """What contradicts that every group has no more people than rows."""
    if said["known"]["columns"] != in_rows["known"]["columns"]:
        return "people and rows are counted over different columns"
    if not 0 < said["total"] < in_rows["total"]:
        return "there are not fewer people than rows"
    for part, name in (("known", "k"), ("everything", "k"), ("same_target", "members")):
        value = said[part][name]
        if value is not None and not 0 <= value <= in_rows[part][name]:
            return f"{name} of {part.replace('_', ' ')} is larger for people than for rows"
    return ""


def recounted(
    frame: pl.DataFrame,
    known: list[str],
    kind: str,
    target: str,
    people: People | None = None,
) -> Figures:
    """The figures of `tamis.publish.exposure`, for rows or for the people they belong to.

    >>> rows = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["no", "yes", "no"]})
    >>> recounted(rows, ["job"], "equal", "ill")["known"]
    {'k': 1, 'unique': 1}
    """
    if missing := [c for c in (*known, target) if c not in frame.columns]:
        raise CannotMeet(f"column {listed(missing)} is listed as known but is not in the file")
    label = frame.get_column(target)
    who = pl.Series(np.arange(frame.height) if people is None else people)
    cells = [frame.get_column(c) for c in known]
    part = (_of_holders if kind == "containment" else _of_equals)(cells, label, who)
    same = part.filter("same")
    return {
        "known": _smallest(part),
        "everything": _smallest(_of_equals(frame.get_columns(), label, who)),
        "same_target": {"groups": same.height, "of": part.height, "members": _members(same)},
    }


def _smallest(kinds: pl.DataFrame) -> dict[str, int]:
    least: Any = kinds["crowd"].min()
    return {"k": int(least), "unique": _members(kinds.filter(pl.col("crowd") == 1))}


def _members(kinds: pl.DataFrame) -> int:
    return kinds["members"].explode(empty_as_null=False).n_unique() if kinds.height else 0


def _of_equals(cells: list[pl.Series], label: pl.Series, who: pl.Series) -> pl.DataFrame:
    """A row for each kind of row: its members, its crowd, whether the crowd shares the label.

    Where no cells are given, all rows are of one kind.
    """
    every = pl.repeat(0, len(label), eager=True)
    keys = as_stored(pl.DataFrame([s.alias(str(i)) for i, s in enumerate([*cells, every])]))
    return (
        keys.with_columns(label=label, who=who)
        .group_by(keys.columns)
        .agg(
            members=pl.col("who"),
            crowd=pl.col("who").n_unique(),
            same=pl.col("label").n_unique() == 1,
        )
    )


def _of_holders(cells: list[pl.Series], label: pl.Series, who: pl.Series) -> pl.DataFrame:
    """The same where a crowd is all who have what a row has: one AND per column of each kind."""
    ones = zeros_and_ones(pl.DataFrame([s.alias(str(i)) for i, s in enumerate(cells)]))
    labels = label.cast(pl.String).rank("dense").fill_null(0).to_numpy()
    people = who.to_numpy()
    kinds, of_row = row_kinds(ones)
    rows = _places(of_row, len(kinds))
    low, high = (np.array([end(labels[r]) for r in rows]) for end in (np.min, np.max))
    sizes = np.array([len(r) for r in rows]) if who.n_unique() == len(who) else None
    found = []
    for number, holders in enumerate(holders_of(kinds)):
        if sizes is None:
            crowd = len(np.unique(people[np.concatenate([rows[i] for i in holders])]))
        else:  # each row is a person
            crowd = int(sizes[holders].sum())
        same = bool(low[holders].min() == high[holders].max())
        found.append((people[rows[number]].tolist(), crowd, same))
    return pl.DataFrame(found, schema=["members", "crowd", "same"], orient="row")


def _places(of_row: NDArray[np.int64], kinds: int) -> list[NDArray[np.int64]]:
    """The rows of each kind."""
    order = np.argsort(of_row, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of_row, minlength=kinds))[:-1])
