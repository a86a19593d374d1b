"""A summary, checked for what a report needs, as one self-contained page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from jinja2 import Environment
from markupsafe import Markup

from tamis.analyse.summary import (
    KEPT_FATES,
    SCHEMA_VERSION,
    Audience,
    CandidateFacts,
    ColumnFate,
    LimitLines,
    Summary,
    TableFacts,
)
from tamis.analyse.summary_parts import BitsFacts, CloseLookFacts, ColumnShares, GroupFacts
from tamis.catalogue.choices import CHOICES
from tamis.errors import InputError, listed, plural
from tamis.publish import figures, report_parts
from tamis.publish.figures import as_supported, in_hundredths
from tamis.publish.page import csp_hash, legible, template_text, templates
from tamis.publish.report_parts import (
    SHOWN_FIRST,
    column_groups,
    finalists,
    hundred_rows,
    look_rows,
)

SCRIPTS = (
    "evaluation.js",
    "svg.js",
    "picture.js",
    "plot.js",
    "plane.js",
    "weights_patches.js",
    "weights_map.js",
    "ranking.js",
    "telling.js",
    "caution.js",
    "rungs.js",
    "find_column.js",
    "report.js",
)
"""Joined in this order to make one script."""
COUNTED = ("k", "unique", "members")
"""Figures of exposure that count people."""


def render(summary: Summary, audience: Audience = "holder") -> str:
    """Make the page from a summary, which is checked first.

    It is the holder's full, interactive page, or the short one to share, which says only how many
    columns were held back, and has no script. It loads nothing and runs only its own script.
    """
    if audience not in get_args(Audience):
        raise InputError(f"audience is one of {', '.join(get_args(Audience))}, got {audience!r}")
    checked(summary)
    full = audience == "holder"
    shown = legible(summary if full else for_recipient(summary))
    style, script = template_text("tamis.publish", "report.css"), _script() if full else None
    marks, ticks = report_parts.tracks(shown["attackers"])
    look, judged = shown["close_look"], report_parts.unit_of_shares(shown)
    hundred = shown["of_hundred"]
    return _environment().get_template("report.html.j2").render(
        summary=shown,
        full=full,
        style=Markup(style),
        script=None if script is None else Markup(script),
        policy=_policy(style, script),
        data=_json_block(_explored(shown) if full else None),
        kept=report_parts.kept(shown["columns"]),
        held=report_parts.held(shown["columns"]),
        leaving_groups=column_groups(report_parts.kept(shown["columns"])),
        staying_groups=column_groups(report_parts.held(shown["columns"])),
        look=look_rows(look, judged, shown["k"]) if look else [],
        hundred=hundred_rows(hundred, shown["k"], report_parts.target_is_secret(shown)),
        finalists=finalists(shown),
        hundred_people=max((each["people"] for each in hundred), default=0),
        adds=any((c.get("shares") or {}).get("teaches_beyond") for c in shown["columns"]),
        held_back=_held_back(summary, full),
        unlisted=shown["table"].get("unlisted", 0),
        waves=(shown["bits"] or {}).get("waves", []),
        finds=full and _finds(shown),
        useful=report_parts.usefulness(shown),
        strongest=report_parts.strongest(shown["attackers"]),
        tracks=list(zip(shown["attackers"], marks)),
        ticks=ticks,
        unit=shown["unit"],
        judged=judged,
        bins=(bins := report_parts.class_bins(shown)),
        most_people=max((n for b in bins for n in report_parts.counts(b, shown)), default=0),
        alike=report_parts.alike(shown),
    )  # fmt: skip


def _held_back(summary: Summary, full: bool) -> int | None:
    """How many columns were held back; for synthetic rows not even that may be shown."""
    if summary["budget"] is not None and not full:
        return None
    return len(report_parts.held(summary["columns"])) + summary["table"].get("unlisted", 0)


def _finds(summary: Summary) -> bool:
    """Whether columns are too many to find one by looking."""
    return len(summary["columns"]) > SHOWN_FIRST * 4


def _explored(summary: Summary) -> dict[str, Any]:
    """What the script needs: it ranks again, and knows columns by their number in one list."""
    columns = list(dict.fromkeys(f for c in summary["candidates"] for f in c["features"]))
    number = {name: i for i, name in enumerate(columns)}
    computed = ("ranks", "score", "place")
    candidates = [
        {key: part for key, part in candidate.items() if key not in computed}
        | {"features": [number[name] for name in candidate["features"]]}
        for candidate in summary["candidates"]
    ]
    return {
        "columns": columns,
        "factors": summary["factors"],
        "candidates": candidates,
        "limits": summary["limits"],
        "bits": _yardstick(summary),
        "stories": _stories(summary["columns"]) if _finds(summary) else None,
    }


def _stories(columns: list[ColumnFate]) -> dict[str, Any]:
    """What became of each column, to be found by its name; reasons are said once."""
    reasons = {why: i for i, why in enumerate(dict.fromkeys(c["why"] for c in columns))}
    return {
        "reasons": list(reasons),
        "columns": [
            (c["name"], c["fate"] in KEPT_FATES, reasons[c["why"]], _short(c.get("shares")))
            for c in columns
        ],
    }


def _short(shares: ColumnShares | None) -> list[float | None] | None:
    if shares is None:
        return None
    wanted = ("teaches", "teaches_beyond", "tells", "tells_beyond")
    return [None if shares[key] is None else round(shares[key], 4) for key in wanted]  # type: ignore[literal-required]


def _yardstick(summary: Summary) -> dict[str, Any]:
    """What the picture of kept and told needs besides the releases."""
    bits, table = summary["bits"], summary["table"]
    assert bits is not None
    wanted = ("caution", "cautions", "winners", "one_more", "tells")
    return {key: part for key, part in bits.items() if key in wanted} | {
        "target": table["target"],
        "sensitive": table["sensitive"],
        "features": next(c["size"] for c in summary["candidates"] if c["baseline"]),
    }


@cache
def _environment() -> Environment:
    found = templates("tamis.publish")
    found.filters.update(
        share=figures.percent,
        percent=figures.percent,
        bits=figures.bits,
        change=figures.change,
        count=figures.count,
        shown=figures.shown,
        interval=figures.interval,
        in_100=figures.in_100,
    )
    found.globals.update(
        sizes=figures.sizes,
        plural=plural,
        rules_of_choice=CHOICES,
        beside=report_parts.beside,
        bar=report_parts.bar_length,
        rule_words=report_parts.rule_words,
        rules_words=report_parts.rules_words,
        most_chips=report_parts.SHOWN_CHIPS,
        most_lost=report_parts.SHOWN_LOST,
    )
    return found


@cache
def _script() -> str:
    """The scripts as one, in a scope of their own."""
    parts = (template_text("tamis.publish", name) for name in SCRIPTS)
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


def _policy(style: str, script: str | None) -> str:
    """A content security policy that allows this style and this script and nothing else."""
    runs = "'none'" if script is None else csp_hash(script)
    return (
        f"default-src 'none'; style-src {csp_hash(style)}; script-src {runs}; "
        "base-uri 'none'; form-action 'none'"
    )


def _json_block(value: object) -> Markup:
    """JSON inside a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(value, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def checked(summary: Summary) -> Summary:
    """The summary itself, or an error that says what is wrong with it.

    That is where it has another version, cannot be written as JSON, lacks a chosen release or the
    baseline, weights a factor that a candidate has no value for, has a winner that breaks a limit,
    or has a figure based on fewer than k people.
    """
    problems = list(_problems(summary))
    if problems:
        raise InputError("no report can be made from this summary: " + "; ".join(problems))
    return summary


def _problems(summary: Summary) -> Iterator[str]:
    if summary["schema_version"] != SCHEMA_VERSION:
        yield (
            f"it has version {summary['schema_version']}, but this tamis reads {SCHEMA_VERSION}; "
            "make the release again"
        )
        return
    try:
        json.dumps(summary, allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"it contains something that JSON cannot represent ({error})"
    yield from _in_candidates(summary)
    yield from _in_bits(summary)
    yield from _small_counts(summary)


def _in_candidates(summary: Summary) -> Iterator[str]:
    candidates, keys = summary["candidates"], [f["key"] for f in summary["factors"]]
    for mark, what in (("chosen", "chosen release"), ("baseline", "baseline")):
        count = sum(bool(c.get(mark)) for c in candidates)
        if count != 1:
            yield f"it needs exactly one {what}, got {count}"
    if any(c["chosen"] and (c["fails"] or not c["ranked"]) for c in candidates):
        yield "the chosen release breaks a limit or is not ranked"
    names = [c["name"] for c in candidates]
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        yield f"two candidates have the name {listed(twice)}"
    ranked = [c for c in candidates if c["ranked"]]
    if lacking := sorted({key for c in ranked for key in keys if key not in c["values"]}):
        yield f"a ranked candidate lacks a value for {listed(lacking)}"
    if not any(f["weight"] > 0 for f in summary["factors"]):
        yield "no factor has a weight above 0"


def _in_bits(summary: Summary) -> Iterator[str]:
    bits, candidates = summary["bits"], summary["candidates"]
    if bits is None:
        yield "it does not say what is kept and told"
        return
    may = {i for i, candidate in enumerate(candidates) if not candidate["fails"]}
    if not {winner["candidate"] for winner in bits["winners"]} <= may:
        yield "a release that breaks a limit wins under some caution"
    if bits["caution"] not in bits["cautions"]:
        yield "the caution that was used is not among those of the slider"


def _small_counts(summary: Summary) -> Iterator[str]:
    k, classes, rules = summary["k"], summary["classes"], summary["rules"]
    if classes is not None:
        bins = [*classes["bins"], *classes["bins_released"]]
        people = [n for b in bins for n in (b["before"], b["after"], b["everything"])]
        if any(0 < (n or 0) < k for n in [*people, classes["smallest_after"]]):
            yield f"its class sizes count fewer than k = {k} people; use class_sizes()"
    if any(group is not None and group["people"] < k for group in _groups(summary)):
        yield f"a close look is at a group of fewer than k = {k} people"
    if any(0 < n < k for n in _counts_of_people(summary)):
        yield f"its exposure has a count below k = {k} people that the file does not reveal"
    if any(0 < n < k - 0.5 for n in _attacked(summary)):
        yield f"what attackers reach of 100 stands for fewer than k = {k} people"
    if any(0 < n < k for n in _given_away(summary)):
        yield f"what gives people away counts fewer than k = {k} people"
    rows = summary["table"]["rows"], summary["table"]["rows_released"]
    for rule in rules["worst_first"] if rules is not None else ():
        supports = rule["support_before"], rule["support_after"]
        if any(s is not None and 0 < s * n < k - 0.5 for s, n in zip(supports, rows)):
            yield f"a rule's support stands for fewer than k = {k} people; give None instead"
            return


def _groups(summary: Summary) -> Iterator[GroupFacts | None]:
    look = summary["close_look"]
    if look is not None:
        yield look["target"]["group"]
        yield look["sensitive"] and look["sensitive"]["group"]


def _given_away(summary: Summary) -> Iterator[int]:
    if found := summary.get("giveaways"):
        yield found["exposed"]
        yield from (each["people"] for each in (*found["by_size"], *found["sets"]))


def _attacked(summary: Summary) -> Iterator[float]:
    """For how many people each share of an attacker stands; in hundredths it says no less."""
    for each in summary["of_hundred"]:
        for share in (each["released"], each["everything"]):
            yield 0.0 if not share else (share + 0.005) * each["people"]
    for other in summary.get("finalists", ()):
        for share, people in zip((other["found"], other["guessed"]), other["people"]):
            yield 0.0 if not share else (share + 0.005) * people


def _counts_of_people(summary: Summary) -> Iterator[int]:
    """Figures of the exposure that nobody can count in the released file."""
    exposure, secret = summary["exposure"], summary["same_sensitive"]
    parts: list[Any] = [secret] if secret is not None else []
    if exposure is not None and "rows" in exposure:
        parts += [exposure["known"], exposure["everything"], exposure["same_target"]]
    yield from (part[key] or 0 for part in parts for key in COUNTED if key in part)


def for_recipient(summary: Summary) -> Summary:
    """The summary without anything about the columns that were held back, except their number.

    Gone are the name of the table, the order of its columns, the other candidates, the rules of
    the original (their thresholds come from values that may not be released), comparisons with
    the original but one (how much is kept, in whole percent), the reasons for each column (they
    may name others), what gives people away, class sizes before and the bins that they decide,
    private settings and notes; what is told of the sensitive column; and where the sensitive
    column is not released, its name and the attackers, whose figures reveal how frequent its values
    are. `table.features` still says how many columns there were. Where rows are left out, figures
    are in hundredths. For synthetic rows, every figure measured on people is gone, including the
    numbers of rows and columns of the original. The argument is not changed.
    """
    if summary["budget"] is not None:
        summary = _without_people(summary)
    summary = as_supported(summary)
    if summary.get("left_out") is not None:
        summary = in_hundredths(summary)
    columns, left_out, classes = _columns(summary), summary.get("left_out"), summary["classes"]
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
        "measures": [
            {**m, "original": None} for m in summary["measures"] if m["floor"] is not None
        ],
        "attackers": [
            {**attacker, "everything": None, "strongest_before": False}
            for attacker in summary["attackers"]
            if sensitive_released
        ],
        "of_hundred": [],
        "finalists": [],
        "same_sensitive": None,
        "classes": classes and {**classes, "bins": classes["bins_released"], "bins_released": []},
        "giveaways": None,
        "rules": None,
        "kept_private": [],
        "left_out": left_out and {"words": left_out["public"], "public": left_out["public"]},
        "recipe": {"public": summary["recipe"]["public"], "private": []},
        "notes": [n for n in summary["notes"] if n["public"]],
    }


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
            "who": "",
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
        "who": "",
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
            column["ladder"] = {
                **column["ladder"],
                "levels": 0,
                "rungs": [],
                "stability": None,
            }
    return sorted(leaving, key=lambda c: (c["fate"] == "target", c["name"]))


def _alone(candidate: CandidateFacts) -> CandidateFacts:
    found: CandidateFacts = {**candidate, "features": sorted(candidate["features"]), "name": ""}
    found |= {"differs": "", "values": {}, "ranks": {}, "score": 0.0, "place": 0, "region": None}
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


def _limits(limits: LimitLines) -> LimitLines:
    private: Any = dict.fromkeys(("min_kept", "max_told", "max_pbi", "min_performance"))
    return {**limits, **private, "guessing_pbi": 0.0}
