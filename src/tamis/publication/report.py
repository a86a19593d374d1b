"""The report: a checked analysis with the figures of the written file, as a self-contained page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

from jinja2 import Environment
from markupsafe import Markup

from tamis import figures
from tamis.analyse import Analysis
from tamis.analyse.attack_shares import AttackerRate
from tamis.analyse.column_fates import KEPT_FATES, ColumnFate, ColumnShares, with_values
from tamis.analyse.crowds import ClassBin
from tamis.analyse.examination import GroupFacts
from tamis.analyse.kept_told import WaveFacts
from tamis.analyse.records import (
    Audience,
    BudgetFacts,
    PromiseFacts,
    RecipeFacts,
    Setting,
    ThreatFacts,
    as_plain,
)
from tamis.catalogue.measures import CHOICES
from tamis.errors import InputError, listed, plural
from tamis.outcome import Outcome
from tamis.publication.manifest import versions
from tamis.publication.page import csp_hash, legible, template_text, templates
from tamis.publication.report_parts import (
    SHOWN_CHIPS,
    SHOWN_FIRST,
    SHOWN_LOST,
    ColumnGroup,
    Finalist,
    HundredRow,
    LookRow,
    SuccessRates,
    Track,
    alike,
    bar_length,
    beside,
    class_bins,
    column_groups,
    counts,
    finalists,
    held,
    hundred_rows,
    kept,
    look_rows,
    rule_words,
    rules_words,
    strongest,
    target_is_secret,
    tracks,
    unit_of_shares,
    usefulness,
)
from tamis.stated import measured_words, sentence
from tamis.table import Unit
from tamis.verification.claims import budget_claim, budget_words
from tamis.verification.layout import PRIVATE, RECIPE

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
"""Files of the page's script, in the order in which they are joined."""
COUNTED = ("k", "unique", "members")
"""Figures of exposure that count people."""


@dataclass(frozen=True)
class Page:
    """The variables of the templates."""

    summary: Analysis
    full: bool
    """Whether it is the holder's full page."""
    style: Markup
    script: Markup | None
    policy: str
    data: Markup
    """The data of the script, as JSON."""
    kept: list[ColumnFate]
    held: list[ColumnFate]
    leaving_groups: list[ColumnGroup]
    staying_groups: list[ColumnGroup]
    look: list[LookRow]
    hundred: list[HundredRow]
    hundred_people: int
    finalists: list[Finalist]
    adds: bool
    """Whether the analysis says what columns add to others."""
    held_back: int | None
    unlisted: int
    waves: tuple[WaveFacts, ...]
    finds: bool
    useful: SuccessRates | None
    strongest: AttackerRate | None
    tracks: list[tuple[AttackerRate, Track]]
    ticks: list[tuple[str, str]]
    unit: Unit
    judged: Unit
    """The unit of shares of held-out rows."""
    bins: list[ClassBin]
    most_people: int
    alike: list[str]


def render(analysis: Analysis, audience: Audience = "holder") -> str:
    """The page of an analysis, which is checked first.

    The holder gets the full, interactive page. The short one for recipients says only how many
    columns were held back, and has no script. Pages load nothing and run only their own script.
    """
    if audience not in get_args(Audience):
        raise InputError(f"audience is one of {', '.join(get_args(Audience))}, got {audience!r}")
    page = page_of(checked(analysis), audience)
    return _environment().get_template("report.html.j2").render(vars(page))


def page_of(analysis: Analysis, audience: Audience) -> Page:
    """The variables of an audience's page, with every text legible."""
    full = audience == "holder"
    shown: Analysis = legible(analysis.seen_by(audience))
    style, script = template_text("tamis.publication", "report.css"), _script() if full else None
    marks, ticks = tracks(shown.attackers)
    leaving, staying = kept(shown.columns), held(shown.columns)
    look, judged, bins = shown.close_look, unit_of_shares(shown), class_bins(shown)
    return Page(
        summary=shown,
        full=full,
        style=Markup(style),
        script=None if script is None else Markup(script),
        policy=_policy(style, script),
        data=_json_block(_explored(shown) if full else None),
        kept=leaving,
        held=staying,
        leaving_groups=column_groups(leaving),
        staying_groups=column_groups(staying),
        look=look_rows(look, judged, shown.k) if look else [],
        hundred=hundred_rows(shown.of_hundred, shown.k, target_is_secret(shown)),
        hundred_people=max((each.people for each in shown.of_hundred), default=0),
        finalists=finalists(shown),
        adds=any(c.shares and c.shares.teaches_beyond for c in shown.columns),
        held_back=_held_back(analysis, full),
        unlisted=shown.table.unlisted,
        waves=shown.bits.waves if shown.bits else (),
        finds=full and _finds(shown),
        useful=usefulness(shown),
        strongest=strongest(shown.attackers),
        tracks=list(zip(shown.attackers, marks)),
        ticks=ticks,
        unit=shown.unit,
        judged=judged,
        bins=bins,
        most_people=max((n for b in bins for n in counts(b, shown)), default=0),
        alike=alike(shown),
    )


def _held_back(summary: Analysis, full: bool) -> int | None:
    """How many columns were held back; for synthetic rows not even that may be shown."""
    if summary.budget is not None and not full:
        return None
    return summary.held_back


def _finds(summary: Analysis) -> bool:
    """Whether there are so many columns that the page offers a search."""
    return len(summary.columns) > SHOWN_FIRST * 4


def _explored(summary: Analysis) -> dict[str, Any]:
    """The data of the script, which ranks releases again; columns are numbers into one list."""
    columns = list(dict.fromkeys(f for c in summary.candidates for f in c.features))
    number = {name: i for i, name in enumerate(columns)}
    computed = ("ranks", "score", "place")
    candidates = [
        {key: part for key, part in candidate.to_dict().items() if key not in computed}
        | {"features": [number[name] for name in candidate.features]}
        for candidate in summary.candidates
    ]
    return {
        "columns": columns,
        "factors": as_plain(summary.factors),
        "candidates": candidates,
        "limits": as_plain(summary.limits),
        "bits": _yardstick(summary),
        "stories": _stories(summary.columns) if _finds(summary) else None,
    }


def _stories(columns: Sequence[ColumnFate]) -> dict[str, Any]:
    """The fate of each column, for the search by name; each reason is stored once."""
    reasons = {why: i for i, why in enumerate(dict.fromkeys(c.why for c in columns))}
    return {
        "reasons": list(reasons),
        "columns": [
            (c.name, c.fate in KEPT_FATES, reasons[c.why], _short(c.shares)) for c in columns
        ],
    }


def _short(shares: ColumnShares | None) -> list[float | None] | None:
    if shares is None:
        return None
    wanted = ("teaches", "teaches_beyond", "tells", "tells_beyond")
    parts = (getattr(shares, key) for key in wanted)
    return [None if part is None else round(part, 4) for part in parts]


def _yardstick(summary: Analysis) -> dict[str, Any]:
    """The data of the picture of kept and told, except the releases."""
    bits, table = summary.bits, summary.table
    assert bits is not None
    wanted = ("caution", "cautions", "winners", "one_more", "tells")
    return {key: as_plain(part) for key, part in vars(bits).items() if key in wanted} | {
        "target": table.target,
        "sensitive": table.sensitive,
        "features": next(c.size for c in summary.candidates if c.baseline),
    }


@cache
def _environment() -> Environment:
    found = templates("tamis.publication")
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
        beside=beside,
        bar=bar_length,
        rule_words=rule_words,
        rules_words=rules_words,
        most_chips=SHOWN_CHIPS,
        most_lost=SHOWN_LOST,
    )
    return found


@cache
def _script() -> str:
    """All scripts joined, in a scope of their own."""
    parts = (template_text("tamis.publication", name) for name in SCRIPTS)
    return '"use strict";\n{\n' + "\n".join(parts) + "}\n"


def _policy(style: str, script: str | None) -> str:
    """A content security policy that allows only this style and this script."""
    runs = "'none'" if script is None else csp_hash(script)
    return (
        f"default-src 'none'; style-src {csp_hash(style)}; script-src {runs}; "
        "base-uri 'none'; form-action 'none'"
    )


def _json_block(value: object) -> Markup:
    """JSON escaped so that it can neither end a script element nor open a comment in it."""
    text = json.dumps(value, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def checked(summary: Analysis) -> Analysis:
    """The analysis itself; `InputError` names everything that is wrong with it.

    An analysis is wrong if it cannot be written as JSON, lacks a chosen release or the baseline,
    weights a factor that a candidate has no value for, has a winner that breaks a limit, or has a
    figure based on fewer than k people.
    """
    problems = list(_problems(summary))
    if problems:
        raise InputError("no report can be made from this summary: " + "; ".join(problems))
    return summary


def _problems(summary: Analysis) -> Iterator[str]:
    try:
        json.dumps(summary.to_dict(), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"it contains something that JSON cannot represent ({error})"
    yield from _in_candidates(summary)
    yield from _in_bits(summary)
    yield from _small_counts(summary)


def _in_candidates(summary: Analysis) -> Iterator[str]:
    candidates, keys = summary.candidates, [f.key for f in summary.factors]
    for mark, what in (("chosen", "chosen release"), ("baseline", "baseline")):
        count = sum(getattr(c, mark) for c in candidates)
        if count != 1:
            yield f"it needs exactly one {what}, got {count}"
    ranked = [c for c in candidates if c.ranked]
    if any(c.chosen and (c.fails or (ranked and not c.ranked)) for c in candidates):
        yield "the chosen release breaks a limit or is not ranked"
    names = [c.name for c in candidates]
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        yield f"two candidates have the name {listed(twice)}"
    if lacking := sorted({key for c in ranked for key in keys if key not in c.values}):
        yield f"a ranked candidate lacks a value for {listed(lacking)}"
    if ranked and not any(f.weight > 0 for f in summary.factors):
        yield "no factor has a weight above 0"


def _in_bits(summary: Analysis) -> Iterator[str]:
    bits, candidates = summary.bits, summary.candidates
    if bits is None:
        yield "it does not say what is kept and told"
        return
    may = {i for i, candidate in enumerate(candidates) if not candidate.fails}
    if not {winner.candidate for winner in bits.winners} <= may:
        yield "a release that breaks a limit wins under some caution"
    if bits.caution not in bits.cautions:
        yield "the caution that was used is not among those of the slider"


def _small_counts(summary: Analysis) -> Iterator[str]:
    k, classes, rules = summary.k, summary.classes, summary.rules
    if classes is not None:
        bins = [*classes.bins, *classes.bins_released]
        people = [n for b in bins for n in (b.before, b.after, b.everything)]
        if any(0 < (n or 0) < k for n in [*people, classes.smallest_after]):
            yield f"its class sizes count fewer than k = {k} people; use class_sizes()"
    if any(group is not None and group.people < k for group in _groups(summary)):
        yield f"a close look is at a group of fewer than k = {k} people"
    if any(0 < n < k for n in _counts_of_people(summary)):
        yield f"its exposure has a count below k = {k} people that the file does not reveal"
    if any(0 < n < k - 0.5 for n in _attacked(summary)):
        yield f"what attackers reach of 100 stands for fewer than k = {k} people"
    if any(0 < n < k for n in _given_away(summary)):
        yield f"what gives people away counts fewer than k = {k} people"
    rows = summary.table.rows, summary.table.rows_released
    for rule in rules.worst_first if rules is not None else ():
        supports = rule.support_before, rule.support_after
        if any(s is not None and 0 < s * n < k - 0.5 for s, n in zip(supports, rows)):
            yield f"a rule's support stands for fewer than k = {k} people; give None instead"
            return


def _groups(summary: Analysis) -> Iterator[GroupFacts | None]:
    look = summary.close_look
    if look is not None:
        yield look.target.group
        yield None if look.sensitive is None else look.sensitive.group


def _given_away(summary: Analysis) -> Iterator[int]:
    if found := summary.giveaways:
        yield found.exposed
        yield from (each.people for each in found.by_size)
        yield from (each.people for each in found.sets)


def _attacked(summary: Analysis) -> Iterator[float]:
    """The most people that each published share of an attacker may stand for.

    Shares are rounded to hundredths, so up to half of a hundredth is added.
    """
    for each in summary.of_hundred:
        for share in (each.released, each.everything):
            yield 0.0 if not share else (share + 0.005) * each.people
    for other in summary.finalists:
        for share, people in zip((other.found, other.guessed), other.people):
            yield 0.0 if not share else (share + 0.005) * people


def _counts_of_people(summary: Analysis) -> Iterator[int]:
    """Figures of the exposure that cannot be counted in the released file."""
    exposure, secret = summary.exposure, summary.same_sensitive
    parts: list[Any] = [secret] if secret is not None else []
    if exposure is not None and "rows" in exposure:
        parts += [exposure["known"], exposure["everything"], exposure["same_target"]]
    yield from (part[key] or 0 for part in parts for key in COUNTED if key in part)


def summarise(
    outcome: Outcome,
    analysis: Analysis,
    manifest: dict[str, Any],
    origin: dict[str, Any],
    diverse: Sequence[dict[str, Any]],
) -> Analysis:
    """The analysis with the figures of the written file.

    The manifest has the promises as measured in the file, `origin` says how the table was read, and
    `diverse` has the figures on l and t that only the holder may know.
    """
    coarser = {c["name"]: c["coarser"] for c in manifest["columns"] if "coarser" in c}
    return replace(
        analysis,
        made=manifest["date"],
        table=replace(analysis.table, name=str(origin.get("name") or analysis.table.name)),
        columns=with_values(analysis.columns, coarser),
        promises=(
            *map(_promised, manifest["promises"]),
            *map(_promised, manifest.get("diversity", ())),
            *_present(manifest.get("presence")),
        ),
        threats=_threats(manifest["promises"]),
        kept_private=tuple(map(_promised, diverse)),
        not_promised=tuple(manifest["not_promised"]),
        recipe=_recipe(outcome, manifest, origin),
        budget=_budget(manifest.get("budget")),
    )


def _threats(promises: Sequence[dict[str, Any]]) -> tuple[ThreatFacts, ...]:
    """The attackers of a manifest, the one with the smallest groups first."""
    if not any("attacker" in entry for entry in promises):
        return ()
    each = [
        ThreatFacts(
            name=entry.get("attacker", ""),
            knows=tuple(entry["columns"]),
            alike=entry["measured"],
            asked=entry["at_least"],
        )
        for entry in promises
        if entry["key"] == "k_anonymity"
    ]
    return tuple(sorted(each, key=lambda threat: threat.alike))


def _promised(entry: dict[str, Any]) -> PromiseFacts:
    asked = next((entry[w] for w in ("c", "at_most", "below", "at_least") if entry.get(w)), 0.0)
    return PromiseFacts(
        key=entry["key"],
        claim=sentence(entry),
        measured=measured_words(entry),
        value=float(entry["measured"]),
        limit=float(asked or 0.0),
    )


def _present(entry: dict[str, Any] | None) -> list[PromiseFacts]:
    """The promise of delta-presence with its bound; the measured share is for the holder alone."""
    if entry is None:
        return []
    return [_promised({**entry, "measured": entry["at_most"]})]


def _budget(spent: dict[str, Any] | None) -> BudgetFacts | None:
    if spent is None:
        return None
    return BudgetFacts(
        epsilon=spent["epsilon"],
        delta=spent["delta"],
        claim=budget_claim(spent),
        spent=budget_words(spent),
    )


def _recipe(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> RecipeFacts:
    parameters = manifest["method"]["parameters"]
    options = ", ".join(f"{name} {value}" for name, value in parameters.items())
    file = manifest["file"]
    method = " ".join(filter(None, (manifest["method"]["name"], options)))
    public = [
        Setting(label="Method", value=method),
        Setting(label="Made with", value=f"tamis {versions()['tamis']}"),
        Setting(label=f"SHA-256 of {file['name']}", value=file["sha256"]),
    ]
    if budget := manifest.get("budget"):
        words = str(budget["neighbours_in_words"])
        public.insert(1, Setting(label="Neighbours", value=words))
    private = [
        Setting(label="Seed", value=str(outcome.settings.seed)),
        *([] if outcome.settings.secret is None else [_SECRET]),
        Setting(label="Reproduce the same bytes", value=_again(outcome)),
    ]
    if origin.get("path"):
        private.insert(0, Setting(label="Made from", value=str(origin["path"])))
    return RecipeFacts(public=tuple(public), private=tuple(private))


_SECRET = Setting(
    label="Secret that values were altered by",
    value=f"in {PRIVATE}/{RECIPE}; whoever has it can undo what was altered",
)


def _again(outcome: Outcome) -> str:
    if outcome.settings.epsilon is not None:
        return "not possible: the noise has no seed; share this folder as it is"
    if outcome.all_rows is not None:
        return "run the same command again"
    return "tamis release --reproduce DIR"
