"""The judgement as a self-contained page: the picture, a line for each release, and its details."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from tamis.attack.closest_rows import CLOSEST_WORDS
from tamis.evaluate.scorecard import Row
from tamis.figures import percent
from tamis.judgement.judgement import Judged, Judgement
from tamis.publication.page import csp_hash, legible, template_text, templates

HEADS = (
    "release", "rows", "k", "unique", "keeps", "tells", "rules lost", "found",
    "secret guessed (by chance)", "repU", "DiSCO",
)  # fmt: skip


def write_page(judged: Judged) -> str:
    """The comparison of all releases, as HTML that loads nothing and runs no script.

    >>> from tamis.datasets import patients
    >>> from tamis.judgement.judgement import judge
    >>> table = patients(rows=200)
    >>> page = write_page(judge(table, {"all.csv": table}, most=20))
    >>> "all.csv" in page, "<script" in page
    (True, False)
    """
    style = template_text("tamis.publication", "report.css") + template_text(
        "tamis.judgement", "judgement.css"
    )
    content: dict[str, Any] = {
        "rows": judged.original.rows,
        "target": judged.original.roles.target,
        "sensitive": judged.original.sensitive,
        "heads": HEADS,
        "lines": [line_of_judgement(each) for each in judged.releases],
        "proposed": [line_of_proposal(row) for row in judged.proposed],
        "releases": [_described(each) for each in judged.releases],
        "closest": CLOSEST_WORDS,
    }
    plane = "" if judged.card is None else judged.plot().svg()
    return (
        templates("tamis.judgement")
        .get_template("judgement.html.j2")
        .render(
            **legible(content),
            plane=Markup(plane),
            style=Markup(style),
            policy=f"default-src 'none'; style-src {csp_hash(style)}; base-uri 'none'",
        )
    )


def line_of_judgement(found: Judgement) -> list[str]:
    """The main figures of a release, under `HEADS`."""
    found_by, guessed = (found.attacks.strongest(kind) for kind in ("linkage", "inference"))
    rates = [
        "" if found_by is None else percent(found_by.success.value),
        "" if guessed is None else f"{percent(guessed.success.value)} ({percent(guessed.guess)})",
    ]
    exposed, copies = found.exposure, found.replicated
    return [
        found.name,
        f"{found.rows:,}",
        "" if exposed is None else f"{exposed.k_anonymity:,}",
        "" if exposed is None else percent(exposed.unique_share),
        _share(found.figure("kept")),
        _share(found.figure("told")),
        "" if found.retention is None else _share(found.retention.lost_share),
        *rates,
        "" if copies is None else percent(copies.rep_u),
        "" if copies is None else _share(copies.disco),
    ]


def line_of_proposal(row: Row) -> list[str]:
    """The main figures of a proposal of tamis under `HEADS`, as far as they are measured."""
    k = row.value("k_anonymity")
    kept, told, lost = (_share(row.value(name)) for name in ("kept", "told", "lost_rules"))
    shown_k = "" if k is None else f"{k:,.0f}"
    return [row.release.name, f"{row.release.table.rows:,}", shown_k, "", kept, told, lost,
            "", "", "", ""]  # fmt: skip


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def _described(found: Judgement) -> dict[str, Any]:
    """The details of one release, for the template."""
    return {
        "name": found.name,
        "whose": whose_words(found),
        "coarser": list(found.coarser),
        "not_released": list(found.not_released),
        "notes": list(found.notes) + list(found.attacks.notes),
        "attacks": [
            [
                score.attacker,
                percent(score.success.value),
                f"{percent(score.success.low or 0.0)} to {percent(score.success.high or 0.0)}",
                percent(score.guess),
                "" if score.control is None else percent(score.control.value),
            ]
            for score in found.attacks.scores
        ],
        "closest": [f"{found.closest.released:.3f}", f"{found.closest.others:.3f}",
                    percent(found.closest.same), percent(found.closest.others_same)],
        "rules": "" if found.retention is None else f"{found.retention.headline()}.",
    }  # fmt: skip


def whose_words(found: Judgement) -> str:
    """Whether the rows are those of people of the original, in a sentence."""
    if not found.own_rows:
        return "Not every row is one of the original: the rows are judged as drawn."
    if found.left_out:
        return f"Each row is one of the original, of which {found.left_out:,} are left out."
    return "Each row is one of the original, in the same terms."
