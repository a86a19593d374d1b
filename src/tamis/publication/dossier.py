"""The dossier of a release, which a privacy officer reads, completes, signs and files.

It lists the attackers and what they know, measurements of the three risks that the European
data-protection authorities name (singling out, linkability, inference), what was done and left out,
what is not promised, and which named limits hold; and it has fields for what no program knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from markupsafe import Markup

from tamis.analyse import Analysis
from tamis.analyse.attack_shares import RiskTest
from tamis.analyse.column_fates import KEPT_FATES
from tamis.catalogue.measures import EVERY, Preset
from tamis.figures import ROUNDING, percent
from tamis.publication.page import csp_hash, legible, template_text, templates
from tamis.release_counts import ExposureFacts

DISCLAIMER = (
    "This dossier reports measurements. It does not claim that the release, or anybody who makes, "
    "keeps or uses it, complies with any law."
)
TO_FILL = (
    "Purpose of the release",
    "Who receives it, and under which contract or licence",
    "What recipients may link it with, and what they may not do",
    "Legal basis, and who checked it",
    "Other releases of the same people",
    "Until when it may be used, and how it is withdrawn",
    "When this assessment is repeated",
    "Decided by (name, role)",
    "Date and signature",
)
"""Fields for people to fill."""
NO_TEST = (
    "No attacker was tried: the rows describe nobody, or there are too many cells. `tamis attack` "
    "tries them, with a control group."
)


@dataclass(frozen=True)
class NamedLimit:
    """A limit that an authority or office names, and whether the release meets it.

    Attributes
    ----------
    name, words : str
    reached : int or None
        The people in the smallest group alike in what attackers may know; `None` without a promise
        of k-anonymity.
    needed : int
    met : bool or None
    """

    name: str
    words: str
    reached: int | None
    needed: int
    met: bool | None


@dataclass(frozen=True)
class Dossier:
    """The content of a dossier as plain values; fields for people to fill are listed by name."""

    disclaimer: str
    made: str
    tamis: str
    table: str
    people: int
    rows_released: int
    unit: str
    target: str
    sensitive: str | None
    known: tuple[str, ...]
    """Released columns that attackers are assumed to know."""
    attackers: tuple[dict[str, Any], ...]
    tests: tuple[RiskTest, ...]
    no_test: str
    promises: tuple[dict[str, Any], ...]
    limits: tuple[NamedLimit, ...]
    alone: str
    """How many people are unique to someone who knows more than the limits assume, in words."""
    usefulness: tuple[dict[str, Any], ...]
    done: tuple[dict[str, str], ...]
    """What happened to each column, and why."""
    method: str
    left_out: str
    budget: str
    not_promised: tuple[str, ...]
    notes: tuple[str, ...]
    to_fill: tuple[str, ...]


def dossier_of(summary: Analysis) -> Dossier:
    """The dossier of an analysis that includes the figures of the written file."""
    exposure, bits = summary.exposure, summary.measures
    promises = (*summary.promises, *summary.kept_private)
    return Dossier(
        disclaimer=DISCLAIMER,
        made=summary.made,
        tamis=summary.tamis_version,
        table=summary.table.name,
        people=summary.table.people,
        rows_released=summary.table.rows_released,
        unit=summary.unit,
        target=summary.table.target,
        sensitive=summary.table.sensitive,
        known=() if exposure is None else tuple(exposure["known"]["columns"]),
        attackers=tuple(
            {"name": who.name, "knows": list(who.knows), "alike": who.alike, "asked": who.asked}
            for who in summary.threats
        ),
        tests=summary.risk_tests,
        no_test="" if summary.risk_tests else NO_TEST,
        promises=tuple(
            {"claim": promise.claim, "measured": promise.measured, "limit": promise.limit}
            for promise in promises
        ),
        limits=tuple(_limit(preset, _smallest(summary)) for preset in EVERY),
        alone="" if exposure is None else _alone(exposure),
        usefulness=tuple(
            {"label": m.label, "sentence": m.sentence, "released": m.released} for m in bits
        ),
        done=tuple(
            {"column": c.name, "fate": c.fate, "why": c.why}
            for c in sorted(summary.columns, key=lambda c: c.fate not in (*KEPT_FATES, "target"))
        ),
        method=". ".join(f"{s.label}: {s.value}" for s in summary.recipe.public),
        left_out="Nobody was left out." if summary.left_out is None else summary.left_out.words,
        budget="" if summary.budget is None else summary.budget.claim,
        not_promised=summary.not_promised,
        notes=tuple(note.text for note in summary.notes),
        to_fill=TO_FILL,
    )


def _smallest(summary: Analysis) -> int | None:
    """The smallest k counted in the written file, over all attackers."""
    counted = [int(p.value) for p in summary.promises if p.key == "k_anonymity"]
    return min(counted, default=None)


def _alone(exposure: ExposureFacts) -> str:
    """A warning that limits do not hold for those who know all released columns; else empty."""
    unique, unit = exposure["everything"]["unique"], exposure["unit"]
    if unique == 0:
        return ""
    many = f"fewer than {exposure['asked']}" if unique is None else f"{unique:,}"
    return (
        "The limits are about what attackers are assumed to know. In all released columns "
        f"together, {many} of {exposure['total']:,} {unit} are like nobody else: for whoever knows "
        "these, none of the limits holds."
    )


def _limit(preset: Preset, smallest: int | None) -> NamedLimit:
    risk = preset.asks.get("max_risk")
    # A risk of 1/k: the smallest k with 1/k <= risk, where a quotient such as 1/0.1 may come out
    # a little above a whole number.
    needed = int(preset.asks["k"]) if risk is None else ceil(1 / risk - ROUNDING)
    met = None if smallest is None else smallest >= needed
    return NamedLimit(preset.name, preset.words, smallest, needed, met)


def render_dossier(dossier: Dossier) -> str:
    """The dossier as a page for printing, which loads nothing and runs no script."""
    style = template_text("tamis.publication", "dossier.css")
    environment = templates("tamis.publication")
    environment.filters["percent"] = percent
    return environment.get_template("dossier.html.j2").render(
        d=legible(dossier),
        style=Markup(style),
        policy=f"default-src 'none'; style-src {csp_hash(style)}; base-uri 'none'",
    )
