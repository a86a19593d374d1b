"""What a manifest states of equivalence classes: the sentence, fields and definition of each key.

An *entry* of a manifest or recipe has a `key`, the `columns` that define the classes, the `unit`
that is counted, figures such as `at_least` or `at_most`, its `claim` in words, and what was
`measured`. This module says what each key means, for writers and checkers of entries: the words,
and what groups reach, straight from the definitions of the papers, group by group in plain Python.
Searches count in another way (`tamis.require`) and use only the words of this module, so that a
mistake there does not hide from verification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, inf, log
from typing import Any, Literal, NamedTuple

from tamis.errors import others, plural
from tamis.figures import exceeds, falls_short, reaches

MOST_ABSENCES = 4
"""Most known absences in a promise: more take too long to count, and k-anonymity covers all."""
Entry = Mapping[str, Any]
Usual = Mapping[int, int]
"""Number of people with each value, over the whole release."""


class SecretGroup(NamedTuple):
    """An equivalence class: the number of people, and how many have each sensitive value.

    Values are numbered in their order; 0 is missing.
    """

    people: int
    counts: dict[int, int]


class Stated(NamedTuple):
    """The meaning of one key."""

    claim: Callable[[Entry], str]
    """The requirement as a sentence."""
    measured: Callable[[Entry], str]
    """What was measured, in a few words."""
    figures: tuple[str, ...]
    """The numbers of an entry; those that end in a question mark are optional."""
    choices: Mapping[str, tuple[str, ...]] = {}
    """Other fields and their allowed values."""
    by_group: Callable[[SecretGroup, Entry, Usual], float] | None = None
    """What one group reaches; `None` for keys that are not about sensitive values."""
    of_risks: Literal["largest", "mean"] | None = None
    """For keys about re-identification risk, which aggregate of it counts."""
    of_rows: bool = False
    """Whether it counts people who match several known rows of a person."""
    lowest: bool = False
    """Whether the lowest figure of all groups is the worst."""


def sentence(entry: Entry) -> str:
    """The requirement of an entry as a sentence.

    >>> sentence({"key": "l_diversity", "unit": "people", "column": "ill", "kind": "distinct",
    ...           "at_least": 3})
    'Among people alike in what an attacker may know, ill has at least 3 different values.'
    >>> sentence({"key": "k_anonymity", "attacker": "boss", "unit": "people", "columns": ["job"],
    ...           "at_least": 3})
    'Against boss, who may know job: Everybody shares what ... with at least 2 others.'
    """
    words = STATED[entry["key"]].claim(entry)
    if entry.get("linked"):
        words += f" {_TOGETHER}"
    if "attacker" not in entry:
        return words
    knows = f", who may know {', '.join(entry['columns'])}" if entry["columns"] else ""
    return f"Against {entry['attacker']}{knows}: {words}"


def measured_words(entry: Entry) -> str:
    """What was measured, in a few words.

    >>> measured_words({"key": "t_closeness", "measured": 0.125})
    'the farthest group is 0.125 away'
    """
    return STATED[entry["key"]].measured(entry)


def reached_by_groups(entry: Entry, groups: Sequence[SecretGroup], usual: Usual) -> float:
    """What the worst group reaches of an entry, given the counts of values over all people."""
    by_group = STATED[entry["key"]].by_group
    assert by_group is not None
    return worst_figure(entry, [by_group(group, entry, usual) for group in groups])


def worst_figure(entry: Entry, figures: Sequence[float]) -> float:
    """The worst figure of several groups."""
    lowest = STATED[entry["key"]].lowest and entry.get("kind") != "recursive"
    return min(figures) if lowest else max(figures)


def short_of_asked(entry: Entry, value: float) -> bool:
    """Whether a measured value falls short of what an entry requires."""
    # By the definition of the key, not by the entry's fields: anybody may have written the entry.
    bound = STATED[entry["key"]].figures[0]
    if bound == "below":
        return bool(reaches(value, entry["below"]))
    if bound == "at_most":
        return bool(exceeds(value, entry["at_most"]))
    if entry.get("kind") == "recursive":
        return bool(reaches(value, entry["c"]))
    return bool(falls_short(value, entry["at_least"]))


_TOGETHER = (
    "The file says which rows are of one person, so people are alike here if all of their rows are."
)


# How many are alike.

_UNKNOWN = "No column that an attacker is assumed to know is released."


def _k_claim(entry: Entry) -> str:
    if not entry["columns"]:
        return _known_of_nothing(entry)
    who = "Everybody shares what an attacker may know about them"
    if entry["unit"] == "rows":
        who = "Every row shares what an attacker may know about it"
    return f"{who} with at least {others(entry['at_least'], entry['unit'])}."


def _known_of_nothing(entry: Entry) -> str:
    """The claim if no quasi-identifier is released; linked rows still show how many a person has.

    >>> words = _known_of_nothing({"linked": True, "at_least": 5, "unit": "people"})
    >>> words.partition(". ")[2]
    'The number of their rows everybody shares with at least 4 others.'
    """
    if not entry.get("linked"):
        return _UNKNOWN
    alike = others(entry["at_least"], entry["unit"])
    return f"{_UNKNOWN} The number of their rows everybody shares with at least {alike}."


def _k_measured(entry: Entry) -> str:
    if not entry["columns"] and not entry.get("linked"):
        return "no such column is in the file"
    return f"the smallest group has {entry['measured']:,} {entry['unit']}"


def _containment_claim(entry: Entry) -> str:
    unit, least = entry["unit"], entry["at_least"]
    if not entry["columns"]:
        return _UNKNOWN
    if absences := entry.get("absences"):
        who, they = ("a person", "the person") if unit == "people" else ("a row", "it")
        return (
            f"Whoever knows all that {who} has among the released columns, and up to "
            f"{plural(absences, 'thing')} that {they} lacks, is left with at least {least} {unit}."
        )
    return f"Whatever a {_ONE[unit]} has among the released columns, at least {least} {unit} have."


def _containment_measured(entry: Entry) -> str:
    value, unit = entry["measured"], entry["unit"]
    if not entry["columns"]:
        return "no such column is in the file"
    if entry.get("absences"):
        return f"at least {value:,} {unit} are left"
    return f"at least {value:,} {unit} have whatever a {_ONE[unit]} has"


_ONE = {"people": "person", "rows": "row"}


def _risk_claim(entry: Entry) -> str:
    whose = "a row" if entry["unit"] == "rows" else "the row of a person"
    mean = "on average " if entry["key"] == "average_risk" else ""
    return (
        f"Whoever knows what an attacker may know finds {whose} {mean}with a chance of at most "
        f"{entry['at_most']:g}."
    )


def _risk_measured(entry: Entry) -> str:
    return f"{entry['measured']:.3g}"


def _rows_claim(entry: Entry) -> str:
    if not entry["columns"]:
        return _UNKNOWN
    known = plural(entry["rows"], "row")
    return (
        f"Whoever knows what an attacker may know of up to {known} of a person is left with at "
        f"least {entry['at_least']} {entry['unit']} who have such rows."
    )


def _rows_measured(entry: Entry) -> str:
    return f"at least {entry['measured']:,.0f} {entry['unit']} are left"


def _presence_claim(entry: Entry) -> str:
    return (
        "By what an attacker may know, somebody of the population that the table was drawn from is "
        f"in it with a chance from {entry['at_least']:g} to {entry['at_most']:g} (delta-presence)."
    )


def _presence_measured(entry: Entry) -> str:
    return "within that, by the holder's register"


# How different their secrets are.


def _alike(entry: Entry) -> str:
    return f"Among {entry['unit']} alike in what an attacker may know, "


def _diversity_claim(entry: Entry) -> str:
    column, least = entry["column"], entry["at_least"]
    return (
        _alike(entry)
        + {
            "distinct": f"{column} has at least {least} different values.",
            "entropy": f"{column} is as uncertain as {least} equally frequent values or more.",
            "recursive": f"the most frequent value of {column} is less than "
            f"{entry.get('c', 0):g} times as frequent as all from the {_nth(least)} on together.",
        }[entry["kind"]]
    )


def _nth(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


def _diversity_measured(entry: Entry) -> str:
    if entry["kind"] == "recursive":
        return f"{entry['measured']:.3g} times as frequent in the worst group"
    return f"the least diverse group has {entry['measured']:.4g}"


def _diversity(group: SecretGroup, entry: Entry, usual: Usual) -> float:
    """The distinct or effective number of values, at most the number of people.

    For `recursive`, the ratio of the most frequent value to all those ranked `at_least` and below.
    """
    if entry["kind"] == "distinct":
        return min(len(group.counts), group.people)
    if entry["kind"] == "entropy":
        return min(exp(_entropy(group)), group.people)
    falling = sorted(group.counts.values(), reverse=True)
    rare = sum(falling[entry["at_least"] - 1 :])
    return inf if group.people < entry["at_least"] or rare == 0 else falling[0] / rare


def _entropy(group: SecretGroup) -> float:
    total = sum(group.counts.values())
    return -sum(n / total * log(n / total) for n in group.counts.values())


def _closeness_claim(entry: Entry) -> str:
    return (
        f"{_alike(entry)}the values of {entry['column']} are at most {entry['at_most']:g} away "
        f"from those of all {entry['unit']} (t-closeness, {entry['distance']} distance)."
    )


def _closeness_measured(entry: Entry) -> str:
    return f"the farthest group is {entry['measured']:.3g} away"


def _closeness(group: SecretGroup, entry: Entry, usual: Usual) -> float:
    """The earth mover's distance between the values of a group and those of all."""
    order = sorted(usual)
    if entry["distance"] == "equal":
        return sum(abs(d) for d in _apart(group, usual, order)) / 2
    if len(order) == 1:
        return 0.0
    # Missing values have no place among numbers: of below all and above all, the worse counts.
    orders = [order, order[1:] + order[:1]] if order[0] == 0 else [order]
    return max(_moved(group, usual, each) for each in orders)


def _apart(group: SecretGroup, usual: Usual, order: Sequence[int]) -> Iterator[float]:
    mine, total = sum(group.counts.values()), sum(usual.values())
    return (group.counts.get(value, 0) / mine - usual[value] / total for value in order)


def _moved(group: SecretGroup, usual: Usual, order: Sequence[int]) -> float:
    import numpy as np  # here, so that importing only the words stays fast

    running = np.cumsum(list(_apart(group, usual, order)))
    return float(np.abs(running).sum()) / (len(order) - 1)


# How much more of a secret a group has than all.


def _likeness_measured(entry: Entry) -> str:
    return f"{entry['measured']:.3g} in the group where it is most"


def _alpha_claim(entry: Entry) -> str:
    share = f"at most a share of {entry['at_most']:g} have the same value of {entry['column']}."
    return _alike(entry) + share


def _alpha(group: SecretGroup, entry: Entry, usual: Usual) -> float:
    """The largest share of a group's people with the same value."""
    return max(group.counts.values()) / group.people


def _beta_claim(entry: Entry) -> str:
    also = ", and by at most minus its logarithm" if entry["kind"] == "enhanced" else ""
    return (
        f"{_alike(entry)}the share of a value of {entry['column']} exceeds that among all "
        f"{entry['unit']} by at most {entry['at_most']:g} times the latter{also} "
        f"({entry['kind']} beta-likeness)."
    )


def _beta(group: SecretGroup, entry: Entry, usual: Usual) -> float:
    """The largest (q - p) / p; infinite for `enhanced` if one exceeds -ln p."""
    largest = 0.0
    for q, p in _shares(group, usual):
        if entry["kind"] == "enhanced" and exceeds((q - p) / p, -log(p)):
            return inf
        largest = max(largest, (q - p) / p)
    return largest


def _delta_claim(entry: Entry) -> str:
    return (
        f"{_alike(entry)}the share of each value of {entry['column']} differs from that among all "
        f"{entry['unit']} by a factor below e to the {entry['below']:g} (delta-disclosure)."
    )


def _delta(group: SecretGroup, entry: Entry, usual: Usual) -> float:
    """The largest abs(ln(q / p)); infinite if the group lacks some value."""
    return max((abs(log(q / p)) if q else inf) for q, p in _shares(group, usual))


def _shares(group: SecretGroup, usual: Usual) -> Iterator[tuple[float, float]]:
    """The share q of each value in the group, and its share p among all."""
    mine, total = sum(group.counts.values()), sum(usual.values())
    return ((group.counts.get(value, 0) / mine, rows / total) for value, rows in usual.items())


STATED = {
    "k_anonymity": Stated(_k_claim, _k_measured, ("at_least",)),
    "containment_anonymity": Stated(
        _containment_claim, _containment_measured, ("at_least", "absences?")
    ),
    "delta_presence": Stated(_presence_claim, _presence_measured, ("at_least", "at_most")),
    "l_diversity": Stated(
        _diversity_claim,
        _diversity_measured,
        ("at_least", "c?"),
        {"kind": ("distinct", "entropy", "recursive")},
        _diversity,
        lowest=True,
    ),
    "t_closeness": Stated(
        _closeness_claim,
        _closeness_measured,
        ("at_most",),
        {"distance": ("equal", "ordered")},
        _closeness,
    ),
    "alpha": Stated(_alpha_claim, _likeness_measured, ("at_most",), {}, _alpha),
    "beta_likeness": Stated(
        _beta_claim, _likeness_measured, ("at_most",), {"kind": ("basic", "enhanced")}, _beta
    ),
    "delta_disclosure": Stated(_delta_claim, _likeness_measured, ("below",), {}, _delta),
    "max_risk": Stated(_risk_claim, _risk_measured, ("at_most",), of_risks="largest"),
    "average_risk": Stated(_risk_claim, _risk_measured, ("at_most",), of_risks="mean"),
    "known_rows": Stated(_rows_claim, _rows_measured, ("at_least", "rows"), of_rows=True),
}
OF_GROUPS_STATED = tuple(
    key for key, each in STATED.items() if each.by_group or each.of_risks or each.of_rows
)
"""The keys of requirements on groups besides their size."""
