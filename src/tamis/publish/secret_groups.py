"""What holds for people alike in a written release: their risk, and how their secrets differ.

Counted by the definitions, group by group, by code that knows nothing of the one that searched.
Where the sensitive column is the target, the manifest states what holds, and anybody can count it.
Any other sensitive column is not in the file, and nothing is said about it in public: the holder
keeps ``private/secrets.csv``, which has a number for the value of each row, in the order of the
file (0 is missing, and larger values have larger numbers), and the recipe says what was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from math import exp, inf, log
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, plural
from tamis.publish.checks import People, as_stored, target_column
from tamis.publish.layout import PRIVATE, RECIPE, SECRETS, is_folder, read_json
from tamis.publish.people import kept_people, read_numbers
from tamis.rounding import ROUNDING, exceeds, falls_short, reaches
from tamis.table import bare, only

Secrets = NDArray[np.int64]
"""The sensitive value of each row, by number: 0 is missing, larger values have larger numbers."""
Recount = Literal["file", "private"]
"""What can be counted again: from the file alone, or with the holder's private part."""
RISKS = ("max_risk", "average_risk")
"""What is about the number of people alike, whatever their secrets."""
LIKENESS = ("alpha", "beta_likeness", "delta_disclosure")
Reached = Callable[[dict[str, Any]], float]
"""What is reached of what an entry of a manifest or recipe asks for."""


def numbered_secrets(column: pl.Series) -> Secrets:
    """A number for each cell, equal for equal ones, in the order of numbers or of texts.

    >>> numbered_secrets(pl.Series([30, None, 7, 30])).tolist()
    [2, 0, 1, 2]
    """
    cells = bare(column)
    ordered = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    return ordered.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


class SecretGroup(NamedTuple):
    """A group of people alike: the number of people, and how many have each value."""

    people: int
    counts: dict[int, int]


def secret_groups(
    cells: pl.DataFrame, secrets: Secrets, people: People | None = None
) -> list[SecretGroup]:
    """The groups of rows that are alike in all cells; one group where there are no cells.

    A person counts once in a group for each value that the person has there.

    >>> jobs = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> sorted(secret_groups(jobs, np.array([1, 2, 2])))
    [SecretGroup(people=1, counts={2: 1}), SecretGroup(people=2, counts={1: 1, 2: 1})]
    """
    whose = np.arange(len(secrets)) if people is None else people
    rows = as_stored(cells) if cells.width else pl.DataFrame({"0": np.zeros(len(secrets))})
    keys = rows.columns
    rows = rows.with_columns(value=pl.Series(secrets), whose=pl.Series(whose))
    values = rows.group_by([*keys, "value"]).agg(count=pl.col("whose").n_unique()).sort("value")
    crowds = rows.group_by(keys).agg(people=pl.col("whose").n_unique())
    each = values.group_by(keys).agg("value", "count")
    both = crowds.join(each, on=keys, nulls_equal=True).select("people", "value", "count")
    return [SecretGroup(n, dict(zip(v, c))) for n, v, c in both.iter_rows()]


def least_diversity(groups: Sequence[SecretGroup], kind: str, least: int) -> float:
    """The diversity of the least diverse group: its distinct or its effective number of values.

    For `recursive`, the largest ratio of the most frequent value to those ranked `least` and
    below. No group is more diverse than its number of people.
    """
    if kind == "distinct":
        return min(min(len(group.counts), group.people) for group in groups)
    if kind == "entropy":
        return min(min(exp(_entropy(group)), group.people) for group in groups)
    return max(_ratio(group, least) for group in groups)


def _entropy(group: SecretGroup) -> float:
    total = sum(group.counts.values())
    return -sum(n / total * log(n / total) for n in group.counts.values())


def _ratio(group: SecretGroup, least: int) -> float:
    falling = sorted(group.counts.values(), reverse=True)
    rare = sum(falling[least - 1 :])
    return inf if group.people < least or rare == 0 else falling[0] / rare


def usual_counts(secrets: Secrets, people: People | None = None) -> dict[int, int]:
    """How many of all people have each value.

    >>> usual_counts(np.array([1, 2, 2]))
    {1: 1, 2: 2}
    """
    return secret_groups(pl.DataFrame(), secrets, people)[0].counts


def farthest_group(groups: Sequence[SecretGroup], distance: str, usual: dict[int, int]) -> float:
    """The largest earth mover's distance of a group's values from those of all rows."""
    order = sorted(usual)
    if distance == "equal":
        return max(sum(abs(d) for d in _apart(group, usual, order)) / 2 for group in groups)
    if len(order) == 1:
        return 0.0
    # What is missing has no place among numbers: below and above all of them, the worse counts.
    orders = [order, order[1:] + order[:1]] if order[0] == 0 else [order]
    return max(_moved(group, usual, each) for group in groups for each in orders)


def _apart(group: SecretGroup, usual: dict[int, int], order: Sequence[int]) -> Iterator[float]:
    mine, total = sum(group.counts.values()), sum(usual.values())
    return (group.counts.get(value, 0) / mine - usual[value] / total for value in order)


def _moved(group: SecretGroup, usual: dict[int, int], order: Sequence[int]) -> float:
    running = np.cumsum(list(_apart(group, usual, order)))
    return float(np.abs(running).sum()) / (len(order) - 1)


def largest_share(groups: Sequence[SecretGroup]) -> float:
    """The largest share of the people of a group who have the same value.

    >>> largest_share([SecretGroup(4, {1: 3, 2: 1}), SecretGroup(2, {1: 1, 2: 1})])
    0.75
    """
    return max(max(group.counts.values()) / group.people for group in groups)


def shares_apart(
    groups: Sequence[SecretGroup], entry: dict[str, Any], usual: dict[int, int]
) -> float:
    """How far shares in a group are from those of all, by beta-likeness or delta-disclosure."""
    total = sum(usual.values())
    found = 0.0
    for group in groups:
        mine = sum(group.counts.values())
        for value, rows in usual.items():
            p, q = rows / total, group.counts.get(value, 0) / mine
            if entry["key"] == "delta_disclosure":
                found = max(found, abs(log(q / p)) if q else inf)
            elif entry["kind"] == "enhanced" and exceeds((q - p) / p, -log(p)):
                return inf
            else:
                found = max(found, (q - p) / p)
    return found


def risk_of_rows(cells: pl.DataFrame, key: str, people: People | None, rows: int) -> float:
    """The largest, or the mean, chance of finding a person's row: 1 by the people alike.

    A person with several rows counts by the one that most gives them away.

    >>> jobs = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> [round(risk_of_rows(jobs, key, None, 3), 3) for key in RISKS]
    [1.0, 0.667]
    """
    whose = np.arange(rows) if people is None else people
    if not cells.width:
        return 1 / len(np.unique(whose))
    stored = as_stored(cells)
    names = stored.columns
    each = stored.with_columns(whose=pl.Series(whose))
    alike = each.select(pl.col("whose").n_unique().over(names), who="whose")
    fewest = alike.group_by("who").agg(pl.col("whose").min())["whose"]
    risks = 1 / fewest.to_numpy()
    return float(risks.max() if key == "max_risk" else risks.mean())


def measured_entry(
    entry: dict[str, Any], frame: pl.DataFrame, secrets: Secrets, people: People | None = None
) -> float:
    """What a written table reaches of what an entry asks for."""
    check_columns(entry, frame.columns)
    cells = only(frame, entry["columns"])
    if entry["key"] in RISKS:
        return risk_of_rows(cells, entry["key"], people, frame.height)
    groups = secret_groups(cells, secrets, people)
    return reached_by_groups(entry, groups, usual_counts(secrets, people))


def check_columns(entry: dict[str, Any], columns: Collection[str]) -> None:
    """Refuse an entry about columns that are not in the file."""
    if missing := [c for c in entry["columns"] if c not in columns]:
        lacking = plural(len(missing), "column")
        raise CannotMeet(f"{entry['key']} is about {lacking} that the file lacks")


def reached_by_groups(
    entry: dict[str, Any], groups: Sequence[SecretGroup], usual: dict[int, int]
) -> float:
    """What some groups reach of what an entry asks for, given how many of all have each value."""
    if entry["key"] == "alpha":
        return largest_share(groups)
    if entry["key"] in LIKENESS:
        return shares_apart(groups, entry, usual)
    if entry["key"] == "t_closeness":
        return farthest_group(groups, entry["distance"], usual)
    return least_diversity(groups, entry["kind"], entry["at_least"])


def asked_entries(
    asked: Any, column: str, numeric: bool, columns: Sequence[str], unit: str
) -> list[dict[str, Any]]:
    """What `Settings` require of sensitive values of people alike, as a manifest or recipe has it.

    The sensitive column may hold numbers, which have an order. People are alike in the columns that
    attackers may know.
    """
    about = {"column": column, "columns": sorted(columns), "unit": unit}
    found: list[dict[str, Any]] = []
    if asked.l is not None:
        c = {"c": float(asked.c)} if asked.l_kind == "recursive" else {}
        found.append({"key": "l_diversity", **about, "kind": asked.l_kind, "at_least": asked.l} | c)
    if asked.t is not None:
        distance = "ordered" if numeric and asked.t_distance != "equal" else "equal"
        found.append(
            {"key": "t_closeness", **about, "distance": distance, "at_most": float(asked.t)}
        )
    found += _asked_likeness(asked, about)
    return [{**entry, "claim": entry_claim(entry)} for entry in found]


def _asked_likeness(asked: Any, about: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if asked.alpha is not None:
        found.append({"key": "alpha", **about, "at_most": float(asked.alpha)})
    if asked.beta is not None:
        kind = {"kind": asked.beta_kind, "at_most": float(asked.beta)}
        found.append({"key": "beta_likeness", **about, **kind})
    if asked.delta_disclosure is not None:
        found.append({"key": "delta_disclosure", **about, "below": float(asked.delta_disclosure)})
    return found


def asked_risks(asked: Any, columns: Sequence[str], unit: str) -> list[dict[str, Any]]:
    """The limits on the risk of being found, as a manifest has them."""
    limits = {"max_risk": asked.max_risk, "average_risk": asked.max_average_risk}
    about = {"columns": sorted(columns), "unit": unit}
    found: list[dict[str, Any]] = [
        {"key": key, **about, "at_most": float(most)}
        for key, most in limits.items()
        if most is not None
    ]
    return [{**entry, "claim": entry_claim(entry)} for entry in found]


def entry_claim(entry: dict[str, Any]) -> str:
    """What is required, as a sentence.

    >>> entry_claim({"key": "l_diversity", "unit": "people", "column": "ill", "kind": "distinct",
    ...              "at_least": 3})
    'Among people alike in what an attacker may know, ill has at least 3 different values.'
    """
    unit = entry["unit"]
    if entry["key"] in RISKS:
        whose = "a row" if unit == "rows" else "the row of a person"
        mean = "on average " if entry["key"] == "average_risk" else ""
        return (
            f"Whoever knows what an attacker may know finds {whose} {mean}with a chance of at most "
            f"{entry['at_most']:g}."
        )
    column, alike = entry["column"], f"Among {unit} alike in what an attacker may know, "
    if entry["key"] in LIKENESS:
        return alike + _likeness_claim(entry, column, unit)
    if entry["key"] == "t_closeness":
        return (
            f"{alike}the values of {column} are at most {entry['at_most']:g} away from those of "
            f"all {unit} (t-closeness, {entry['distance']} distance)."
        )
    least = entry["at_least"]
    return (
        alike
        + {
            "distinct": f"{column} has at least {least} different values.",
            "entropy": f"{column} is as uncertain as {least} equally frequent values or more.",
            "recursive": f"the most frequent value of {column} is less than "
            f"{entry.get('c', 0):g} times as frequent as all from the {_nth(least)} on together.",
        }[entry["kind"]]
    )


def _likeness_claim(entry: dict[str, Any], column: str, unit: str) -> str:
    if entry["key"] == "alpha":
        return f"at most a share of {entry['at_most']:g} have the same value of {column}."
    if entry["key"] == "delta_disclosure":
        return (
            f"the share of each value of {column} differs from that among all {unit} by a factor "
            f"below e to the {entry['below']:g} (delta-disclosure)."
        )
    also = ", and by at most minus its logarithm" if entry["kind"] == "enhanced" else ""
    return (
        f"the share of a value of {column} exceeds that among all {unit} by at most "
        f"{entry['at_most']:g} times the latter{also} ({entry['kind']} beta-likeness)."
    )


def _nth(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


def reached_words(entry: dict[str, Any]) -> str:
    """What was measured, in a few words.

    >>> reached_words({"key": "t_closeness", "measured": 0.125})
    'the farthest group is 0.125 away'
    """
    value = entry["measured"]
    if entry["key"] == "t_closeness":
        return f"the farthest group is {value:.3g} away"
    if entry["key"] in RISKS:
        return f"{value:.3g}"
    if entry["key"] in LIKENESS:
        return f"{value:.3g} in the group where it is most"
    if entry["kind"] == "recursive":
        return f"{value:.3g} times as frequent in the worst group"
    return f"the least diverse group has {value:.4g}"


def short_of_asked(entry: dict[str, Any], value: float) -> bool:
    """Whether a measured value does not keep what an entry asks for."""
    if entry["key"] == "delta_disclosure":
        return bool(reaches(value, entry["below"]))
    if "at_most" in entry:
        return bool(exceeds(value, entry["at_most"]))
    if entry["kind"] == "recursive":
        return bool(reaches(value, entry["c"]))
    return bool(falls_short(value, entry["at_least"]))


def with_measures(
    entries: list[dict[str, Any]],
    frame: pl.DataFrame,
    secrets: Secrets,
    people: People | None,
    recount: Recount,
) -> list[dict[str, Any]]:
    """The entries with what a written file reaches; `CannotMeet` where that is too little."""
    found = []
    for entry in entries:
        value = measured_entry(entry, frame, secrets, people)
        if short_of_asked(entry, value):
            raise CannotMeet(
                f"the written file has {entry['key']} {value:.4g}, which is not what was asked "
                "for; nothing was published"
            )
        found.append({**entry, "measured": value, "recount": recount})
    return found


def wrong_secret_groups(folder: Path, frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """What does not hold for people alike, as the manifest and the holder's recipe state it."""
    people = kept_people(folder, frame, content)
    target = target_column(content)

    @cache
    def of_target() -> Secrets:
        cells = frame.get_column(target["name"])
        return numbered_secrets(cells.cast(pl.Float64) if target["kind"] == "number" else cells)

    @cache
    def of_holder() -> Secrets:
        return read_numbers(folder / PRIVATE / SECRETS, frame.height)

    return wrong_secret_groups_by(
        lambda entry: measured_entry(entry, frame, of_target(), people),
        lambda entry: measured_entry(entry, frame, of_holder(), people),
        folder,
        content,
        people is not None,
    )


def wrong_secret_groups_by(
    public: Reached, private: Reached, folder: Path, content: dict[str, Any], with_people: bool
) -> str:
    """The same by whatever counts what values of the target, or the holder's secrets, reach."""
    target = target_column(content)["name"]
    for entry in content.get("diversity", []):
        if entry["key"] not in RISKS and entry["column"] != target:
            return f"{entry['key']} is stated of a column that is not the target"
        if (entry["recount"] == "file" or with_people) and (wrong := _wrong_entry(public, entry)):
            return wrong
    entries = private_entries(folder)
    if not entries and (folder / PRIVATE / SECRETS).exists():
        return f"{PRIVATE}/{SECRETS} is there, but nothing says what for"
    return next(filter(None, (_wrong_entry(private, entry) for entry in entries)), "")


def private_entries(folder: Path) -> list[dict[str, Any]]:
    """What the holder's recipe states of a sensitive column that is not in the file."""
    if not is_folder(folder / PRIVATE):
        return []
    found: list[dict[str, Any]] = read_json(folder / PRIVATE / RECIPE).get("diversity", [])
    return found


def _wrong_entry(count: Reached, entry: dict[str, Any]) -> str:
    if entry["key"] not in ("l_diversity", "t_closeness", *LIKENESS, *RISKS):
        return f"{entry['key']!r} is not one that can be checked"
    value, said = count(entry), entry["measured"]
    if short_of_asked(entry, value):
        return f"{entry['key']} is {value:.4g}, which is not what was promised"
    if not abs(value - said) <= ROUNDING:
        return f"{entry['key']} is {value:.4g}, but {said:.4g} is stated"
    if entry["claim"] != entry_claim(entry):
        return f"the wording of {entry['key']} does not match its figures"
    return ""
