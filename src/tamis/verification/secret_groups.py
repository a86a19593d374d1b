"""Equivalence classes of a written release: their risk, and how their sensitive values differ.

Measured by the definitions, class by class, by code that is independent of the search. Where the
sensitive column is the target, the manifest states the figures, and anybody can count them again.
Any other sensitive column is not in the file, and the manifest is silent about it. For such columns
the holder keeps ``private/secrets.csv``, which has a number for the value of each row, in the order
of the file (0 is missing, and larger values have larger numbers), and the recipe has the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, plural
from tamis.figures import ROUNDING
from tamis.people import People, PeopleLike
from tamis.stated import (
    OF_GROUPS_STATED,
    STATED,
    SecretGroup,
    reached_by_groups,
    sentence,
    short_of_asked,
)
from tamis.table import bare, only
from tamis.verification.checks import seen_cells, target_column
from tamis.verification.layout import PRIVATE, RECIPE, SECRETS, is_folder, read_json

Secrets = NDArray[np.int64]
"""The sensitive value of each row, by number: 0 is missing, larger values have larger numbers."""
Recount = Literal["file", "private"]
"""Where a figure can be counted again: in the file alone, or with the holder's private part."""
Reached = Callable[[dict[str, Any]], float]
"""Measures what an entry of a manifest or recipe asks for."""


def numbered_secrets(column: pl.Series) -> Secrets:
    """The dense rank of each cell among numbers or texts; 0 where it is missing.

    >>> numbered_secrets(pl.Series([30, None, 7, 30])).tolist()
    [2, 0, 1, 2]
    """
    cells = bare(column)
    ordered = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    return ordered.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def secret_groups(
    cells: pl.DataFrame, secrets: Secrets, people: PeopleLike = None
) -> list[SecretGroup]:
    """The equivalence classes of rows by `cells`; a single one without any cells.

    A person counts once in a class for each sensitive value that they have there. Where the file
    links the rows of a person, people alike in all their rows also form classes, with the values of
    all these rows.

    >>> jobs = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> sorted(secret_groups(jobs, np.array([1, 2, 2])))
    [SecretGroup(people=1, counts={2: 1}), SecretGroup(people=2, counts={1: 1, 2: 1})]
    """
    whose = People.named(people, len(secrets))
    seen = seen_cells(cells, whose)
    rows = seen.with_columns(value=pl.Series(secrets), whose=pl.Series(whose.codes))
    groups = _groups_of(rows, seen.columns)
    return groups + _groups_of(rows, ["all"]) if "all" in seen.columns else groups


def _groups_of(rows: pl.DataFrame, keys: list[str]) -> list[SecretGroup]:
    values = rows.group_by([*keys, "value"]).agg(count=pl.col("whose").n_unique()).sort("value")
    crowds = rows.group_by(keys).agg(people=pl.col("whose").n_unique())
    lists = values.group_by(keys).agg("value", "count")
    both = crowds.join(lists, on=keys, nulls_equal=True).select("people", "value", "count")
    return [SecretGroup(n, dict(zip(v, c))) for n, v, c in both.iter_rows()]


def usual_counts(secrets: Secrets, people: PeopleLike = None) -> dict[int, int]:
    """How many people of the whole file have each sensitive value.

    >>> usual_counts(np.array([1, 2, 2]))
    {1: 1, 2: 2}
    """
    everybody = People.of(People.named(people, len(secrets)).renumbered().codes)
    return secret_groups(pl.DataFrame(), secrets, everybody)[0].counts


def risk_of_rows(cells: pl.DataFrame, of: str, people: PeopleLike, rows: int) -> float:
    """The largest, or the mean, re-identification risk of a person: 1 over the size of their class.

    A person with several rows counts by the row in the smallest class.

    >>> jobs = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> [round(risk_of_rows(jobs, of, None, 3), 3) for of in ("largest", "mean")]
    [1.0, 0.667]
    """
    who = People.named(people, rows)
    stored = seen_cells(cells, who)
    names = stored.columns
    rows_of = stored.with_columns(whose=pl.Series(who.codes))
    alike = rows_of.select(pl.col("whose").n_unique().over(names), who="whose")
    fewest = alike.group_by("who", maintain_order=True).agg(pl.col("whose").min())["whose"]
    risks = 1 / np.sort(fewest.to_numpy())  # groups come in any order, and sums depend on it
    return float(risks.max() if of == "largest" else risks.mean())


def fewest_with_rows(cells: pl.DataFrame, most: int, people: PeopleLike = None) -> int:
    """The fewest people who share any `most` rows that some person has.

    Straight from the definition. What an attacker may know of a person is a multiset of `most` of
    their rows, or of all where they have fewer. The people who have each row at least as often as
    the multiset are found by intersecting sets.

    >>> jobs = pl.DataFrame({"job": ["cook", "judge", "cook", "judge", "cook"]})
    >>> fewest_with_rows(jobs, 2, np.array([0, 0, 1, 1, 2]))
    2
    """
    who = People.named(people, cells.height)
    stored = seen_cells(cells, who).rows()
    owned: dict[int, Counter[tuple[Any, ...]]] = {}
    for person, row in zip(who.codes.tolist(), stored):
        owned.setdefault(person, Counter())[row] += 1
    having: dict[tuple[tuple[Any, ...], int], set[int]] = {}
    for person, rows in owned.items():
        for row, times in rows.items():
            for least in range(1, min(times, most) + 1):
                having.setdefault((row, least), set()).add(person)
    # People with the same rows have the same selections: each multiset is formed once.
    known = {
        frozenset(Counter(selection).items())
        for kind in {frozenset(rows.items()) for rows in owned.values()}
        for selection in _selections(kind, most)
    }
    return min(len(set.intersection(*map(having.__getitem__, multiset))) for multiset in known)


def _selections(
    kind: frozenset[tuple[tuple[Any, ...], int]], most: int
) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """The selections of `most` rows that may be known of a person with the rows of `kind`."""
    rows = [row for row, times in kind for _ in range(min(times, most))]
    return combinations(rows, min(most, len(rows)))


def measured_entry(
    entry: dict[str, Any], frame: pl.DataFrame, secrets: Secrets, people: PeopleLike = None
) -> float:
    """The value that a written table reaches for the measure of an entry."""
    check_columns(entry, frame.columns)
    cells = only(frame, entry["columns"])
    if of := STATED[entry["key"]].of_risks:
        return risk_of_rows(cells, of, people, frame.height)
    if STATED[entry["key"]].of_rows:
        return fewest_with_rows(cells, entry["rows"], people)
    groups = secret_groups(cells, secrets, people)
    return reached_by_groups(entry, groups, usual_counts(secrets, people))


def check_columns(entry: dict[str, Any], columns: Collection[str]) -> None:
    """Refuse an entry about columns that are not in the file."""
    if missing := [c for c in entry["columns"] if c not in columns]:
        lacking = plural(len(missing), "column")
        raise CannotMeet(f"{entry['key']} is about {lacking} that the file lacks")


def with_measures(
    entries: list[dict[str, Any]],
    frame: pl.DataFrame,
    secrets: Secrets,
    people: PeopleLike,
    recount: Recount,
) -> list[dict[str, Any]]:
    """The entries with the value that a written file reaches; `CannotMeet` if it falls short."""
    measured = []
    for entry in entries:
        value = measured_entry(entry, frame, secrets, people)
        if short_of_asked(entry, value):
            raise CannotMeet(
                f"the written file has {entry['key']} {value:.4g}, which is not what was asked "
                "for; nothing was published"
            )
        measured.append({**entry, "measured": value, "recount": recount})
    return measured


def wrong_secret_groups(
    public: Reached, private: Reached, folder: Path, content: dict[str, Any], with_people: bool
) -> str:
    """Which statement of the manifest or recipe about equivalence classes does not hold, in words.

    `public` measures the target, `private` the sensitive values that the holder keeps.
    """
    target = target_column(content)["name"]
    for entry in content.get("diversity", []):
        if entry.get("column", target) != target:
            return f"{entry['key']} is stated of a column that is not the target"
        if (entry["recount"] == "file" or with_people) and (wrong := _wrong_entry(public, entry)):
            return wrong
    entries = private_entries(folder)
    if not entries and (folder / PRIVATE / SECRETS).exists():
        return f"{PRIVATE}/{SECRETS} is there, but nothing says what for"
    return next(filter(None, (_wrong_entry(private, entry) for entry in entries)), "")


def private_entries(folder: Path) -> list[dict[str, Any]]:
    """The recipe's entries about sensitive columns that are not in the file."""
    if not is_folder(folder / PRIVATE):
        return []
    entries: list[dict[str, Any]] = read_json(folder / PRIVATE / RECIPE).get("diversity", [])
    return entries


def hidden_secrets(folder: Path) -> list[str]:
    """The sensitive columns of `private_entries`, in the order of ``private/secrets.csv``."""
    return list(dict.fromkeys(entry["column"] for entry in private_entries(folder)))


def _wrong_entry(count: Reached, entry: dict[str, Any]) -> str:
    if entry["key"] not in OF_GROUPS_STATED:
        return f"{entry['key']!r} is not one that can be checked"
    value, said = count(entry), entry["measured"]
    if short_of_asked(entry, value):
        return f"{entry['key']} is {value:.4g}, which is not what was promised"
    if not abs(value - said) <= ROUNDING:
        return f"{entry['key']} is {value:.4g}, but {said:.4g} is stated"
    if entry["claim"] != sentence(entry):
        return f"the wording of {entry['key']} does not match its figures"
    return ""
