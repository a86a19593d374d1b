"""What a report says: what may be shared, and the few facts at its top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tamis.charts import Scale, around
from tamis.errors import plural
from tamis.publish.attack_facts import Attacker
from tamis.publish.bits_facts import BitsFacts, CloseLookFacts, Interval
from tamis.publish.figures import in_100, percent
from tamis.publish.left_out import in_hundredths
from tamis.publish.promises import alike_words
from tamis.publish.summary import (
    CandidateFacts,
    ClassBin,
    ClassSizes,
    ColumnFate,
    LeftOut,
    LimitLines,
    MeasureFacts,
    RuleDamage,
    Rules,
    Summary,
    TableFacts,
    Unit,
)

KEPT_FATES = ("released", "coarsened", "altered", "target")


def for_recipient(summary: Summary) -> Summary:
    """The summary without anything about the columns that were held back, except their number.

    Gone are the name of the table, the order of its columns, the other candidates, the rules of
    the original (their thresholds come from values that may not be released), comparisons with
    the original but one (how much is kept, in whole percent), the reasons for each column (they
    may name others), what gives people away, class sizes before and the bins that they decide,
    private settings and notes; what is told of the sensitive column; and where the sensitive
    column is not released, its name and the attackers, whose figures reveal how frequent its values
    are. `table.features` still says how many columns there were. Where rows are left out, figures
    are in hundredths. For synthetic rows, every figure
    measured on people is gone, including the numbers of rows and columns of the original.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    Summary
        A new one; the argument is not changed.
    """
    if summary["budget"] is not None:
        summary = _without_people(summary)
    if summary.get("left_out") is not None:
        summary = in_hundredths(summary)
    columns = _columns(summary)
    sensitive_released = summary["table"]["sensitive"] in [c["name"] for c in columns]
    return {
        **summary,
        "table": _table(summary["table"], sensitive_released),
        "bits": None if summary["bits"] is None else _kept_alone(summary["bits"]),
        "close_look": _target_alone(summary["close_look"]),
        "columns": columns,
        "methods": [],
        "factors": [],
        "candidates": [_alone(c) for c in summary["candidates"] if c["chosen"]],
        "limits": _limits(summary["limits"]),
        "measures": [_measure(m) for m in summary["measures"] if m["floor"] is not None],
        "attackers": [_attacker(a) for a in summary["attackers"] if sensitive_released],
        "of_hundred": [],
        "finalists": [],
        "same_sensitive": None,
        "classes": None if summary["classes"] is None else _classes(summary["classes"]),
        "giveaways": None,
        "rules": None,
        "kept_private": [],
        "left_out": _in_public(summary.get("left_out")),
        "recipe": {"public": summary["recipe"]["public"], "private": []},
        "notes": [n for n in summary["notes"] if n["public"]],
    }


def _in_public(left_out: LeftOut | None) -> LeftOut | None:
    return left_out and {"words": left_out["public"], "public": left_out["public"]}


def _without_people(summary: Summary) -> Summary:
    rows = summary["table"]["rows_released"]
    unmeasured: Any = {
        "performance": 0.0,
        "performance_interval": None,
        "pbi": 0.0,
        "pbi_interval": None,
    }
    return {
        **summary,
        "table": {
            **summary["table"],
            "rows": rows,
            "people": rows,
            "features": sum(c["fate"] in KEPT_FATES[:-1] for c in summary["columns"]),
        },
        "bits": None,
        "close_look": None,
        "columns": [c for c in summary["columns"] if c["fate"] in KEPT_FATES],
        "candidates": [{**c, **unmeasured} for c in summary["candidates"]],
        "limits": {**summary["limits"], "guessing_performance": 0.0, "guessing_pbi": 0.0},
        "measures": [],
        "attackers": [],
        "classes": None,
    }


def _table(table: TableFacts, sensitive_released: bool) -> TableFacts:
    return {
        **table,
        "name": "",
        "unlisted": 0,
        "rows": table["rows_released"],
        "people": table["people_released"],
        "sensitive": table["sensitive"] if sensitive_released else None,
    }


def _columns(summary: Summary) -> list[ColumnFate]:
    """The released columns by name, the target last, as in the file."""
    leaving: list[ColumnFate] = [
        {**c, "why": "", "shares": None} for c in summary["columns"] if c["fate"] in KEPT_FATES
    ]
    for column in leaving:
        if "ladder" in column:  # how to read it, and nothing about what else could have been
            column["ladder"] = {**column["ladder"], "levels": 0, "rungs": []}
    return sorted(leaving, key=lambda c: (c["fate"] == "target", c["name"]))


def _alone(candidate: CandidateFacts) -> CandidateFacts:
    found: CandidateFacts = {**candidate, "features": sorted(candidate["features"]), "name": ""}
    found |= {"values": {}, "ranks": {}, "score": 0.0, "place": 0, "region": None}
    found |= {"kept": 0.0, "kept_interval": None, "told": None, "told_interval": None}
    found |= {"worth": (0.0, 0.0), "pbi": 0.0, "pbi_interval": None}
    return {**found, "on_front": False}


def _kept_alone(bits: BitsFacts) -> BitsFacts:
    found: BitsFacts = {**bits, "kept": in_hundredths(bits["kept"])}
    found |= {"told": None, "telling": None, "tells": False, "weak": False}
    return {**found, "caution": 0.0, "cautions": [], "winners": [], "one_more": None, "waves": []}


def _target_alone(look: CloseLookFacts | None) -> CloseLookFacts | None:
    if look is None:
        return None
    return {"target": {**look["target"], "share": None}, "sensitive": None}


def _measure(measure: MeasureFacts) -> MeasureFacts:
    return {**measure, "original": None}


def _attacker(attacker: Attacker) -> Attacker:
    return {**attacker, "everything": None, "strongest_before": False}


def _limits(limits: LimitLines) -> LimitLines:
    private: Any = dict.fromkeys(("min_kept", "max_told", "max_pbi", "min_performance"))
    return {**limits, **private, "guessing_pbi": 0.0}


def _classes(classes: ClassSizes) -> ClassSizes:
    return {**classes, "bins": classes["bins_released"], "bins_released": []}


SHOWN_LOST = 4
"""More lost rules than this are folded together: there is little to say about each."""
SHOWN_CHIPS = 24
"""As many names fit above and below the sieve at the top of the page."""


@dataclass(frozen=True)
class SuccessRates:
    """How often something is right: by guessing, from everything, from the release."""

    released: float
    original: float | None
    floor: float | None


def usefulness(summary: Summary) -> SuccessRates | None:
    """Accuracy in predicting the target, on rows never seen where the scorecard has it.

    None where it must not be shown: recipients of synthetic rows get no figures about people.
    """
    for measure in summary["measures"]:
        if measure["key"] == "performance":
            return SuccessRates(measure["released"], measure["original"], measure["floor"])
    if summary["budget"] is not None:
        return None
    chosen = next(c["performance"] for c in summary["candidates"] if c["chosen"])
    whole = next((c["performance"] for c in summary["candidates"] if c["baseline"]), None)
    return SuccessRates(chosen, whole, summary["limits"]["guessing_performance"])


def unit_of_shares(summary: Summary) -> Unit:
    """What shares of held-out rows are about: people only where each row is one."""
    known = summary["unit"] == "people" and summary["table"]["people"] == summary["table"]["rows"]
    return "people" if known else "rows"


def target_is_secret(summary: Summary) -> bool:
    """Whether the sensitive column is the target, which every release has."""
    return summary["table"]["sensitive"] == summary["table"]["target"]


def class_bins(summary: Summary) -> list[ClassBin]:
    """Class sizes that occur, and those to avoid, which get a line in any case."""
    classes = summary["classes"]
    if classes is None:
        return []
    k = classes["k"]
    return [b for b in classes["bins"] if any(counts(b, summary)) or (b["high"] or k) < k]


def counts(bin: ClassBin, summary: Summary) -> list[int]:
    """What a line of class sizes counts; what attackers know only where something is known."""
    exposure = summary["exposure"]
    known = exposure is not None and bool(exposure["known"]["columns"])
    return [bin["before"] or 0, bin["after"] if known else 0, bin["everything"]]


def alike(summary: Summary) -> list[str]:
    """Which groups share the target and, for the holder, the sensitive value, in words."""
    exposure, table = summary["exposure"], summary["table"]
    if exposure is None:
        return []
    found = [alike_words(exposure["same_target"], table["target"], exposure)]
    if summary["same_sensitive"] is not None and table["sensitive"] is not None:
        found.append(alike_words(summary["same_sensitive"], table["sensitive"], exposure))
    return [words for words in found if words]


def strongest(attackers: Sequence[Attacker]) -> Attacker | None:
    """The strongest on the release, beside whoever is strongest with every column.

    These may be two attackers: the breach increase compares the best that any of them does.
    """
    found = next((a for a in attackers if a["strongest"]), None)
    if found is None or found["everything"] is None:
        return found
    known = [a for a in attackers if a["everything"] is not None]
    best = max(known, key=lambda a: (a.get("strongest_before", False), a["everything"]))
    return {**found, "everything": best["everything"]}


def beside(value: float, other: float) -> str:
    """How one count in a hundred compares with another, in everyday words.

    >>> beside(0.74, 0.743), beside(0.70, 0.74), beside(0.75, 0.65)
    ('as many as', '4 fewer than', '10 more than')
    """
    step = round(100 * value) - round(100 * other)
    if step == 0:
        return "as many as"
    return f"{abs(step)} {'more' if step > 0 else 'fewer'} than"


def kept(columns: Sequence[ColumnFate]) -> list[ColumnFate]:
    """The columns that leave, the target last."""
    leaving = [c for c in columns if c["fate"] in KEPT_FATES]
    return sorted(leaving, key=lambda c: c["fate"] == "target")


def held(columns: Sequence[ColumnFate]) -> list[ColumnFate]:
    """The columns that stay."""
    return [c for c in columns if c["fate"] not in KEPT_FATES]


def rule_words(rule: RuleDamage) -> str:
    """What happened to a rule, in one sentence without the names and labels in it."""
    if rule["state"] == "lost":
        return "It uses a column that is held back, so it can no longer be checked."
    if rule["state"] == "emptied":
        return "No row of the release matches it any more."
    held_true = ""
    if rule["share_before"] is not None and rule["share_after"] is not None:
        before, after = percent(rule["share_before"]), percent(rule["share_after"])
        held_true = f": it was right {before} of the time and is now right {after} of the time"
    return {
        "flipped": "It now points to another label",
        "weakened": "It still points to the same label, but less clearly",
        "kept": "It holds as before",
    }[rule["state"]] + f"{held_true}."


def rules_words(rules: Rules) -> str:
    """How many rules met which fate, leaving out fates that none met."""
    parts = [
        (rules["kept"], "still holds", "still hold"),
        (rules["weakened"], "is weaker", "are weaker"),
        (rules["flipped"], "points to another label", "point to another label"),
        (rules["emptied"], "matches no row any more", "match no row any more"),
        (rules["lost"], "can no longer be checked", "can no longer be checked"),
    ]
    said = [plural(amount, one, many) for amount, one, many in parts if amount]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


@dataclass(frozen=True)
class Track:
    """Marks of one attacker along a line, as shares of its length."""

    guessing: str
    everything: str | None
    released: str
    low: str
    high: str
    words: str


def tracks(attackers: Sequence[Attacker]) -> tuple[list[Track], list[tuple[str, str]]]:
    """The marks of each attacker on one shared line, and the ticks of that line."""
    if not attackers:
        return [], []
    figures = [v for a in attackers for v in (a["guessing"], a["released"], a["everything"])]
    ends = [v for a in attackers if a["interval"] for v in (_low(a), _high(a))]
    low, high = around([v for v in [*figures, *ends] if v is not None], 0.08)
    place = Scale(max(low, 0.0), min(high, 1.0), 0, 100)
    marks = [
        Track(
            guessing=_percent(place(a["guessing"])),
            everything=None if a["everything"] is None else _percent(place(a["everything"])),
            released=_percent(place(a["released"])),
            low=_percent(place(_low(a))),
            high=_percent(place(_high(a))),
            words=_attacker_words(a),
        )
        for a in attackers
    ]
    return marks, [(_percent(place(t)), f"{100 * t:g}%") for t in place.ticks(4)]


def _attacker_words(attacker: Attacker) -> str:
    words = f"right for {in_100(attacker['released'])} from the release"
    if attacker["everything"] is not None:
        words += f", {in_100(attacker['everything'])} from everything"
    return f"{words}, {in_100(attacker['guessing'])} by guessing"


def _interval(attacker: Attacker) -> Interval:
    return attacker["interval"] or {"low": attacker["released"], "high": attacker["released"]}


def _low(attacker: Attacker) -> float:
    return _interval(attacker)["low"]


def _high(attacker: Attacker) -> float:
    return _interval(attacker)["high"]


def _percent(value: float) -> str:
    return f"{value:.2f}%"


def bar_length(part: float, whole: float) -> str:
    """The length of a bar.

    >>> bar_length(3, 12)
    '25.00%'
    """
    return _percent(100 * part / whole if whole else 0.0)
