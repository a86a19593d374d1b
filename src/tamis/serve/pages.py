"""Pages: templates, one style and one script, and the policy that allows these and nothing else.

The figures of an audit become lengths and counts, which the templates draw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from tamis.errors import plural
from tamis.figures import percent
from tamis.publication.page import csp_hash, legible, template_text, templates
from tamis.serve.fields import as_typed
from tamis.verification.layout import CHECK_WORDS

STEPS = (
    ("columns", "Columns"),
    ("exposure", "Exposure"),
    ("settings", "Limits"),
    ("compare", "Comparison"),
    ("preview", "Publish"),
)
"""After the first, which is to choose a table."""
FLAG_WORDS = {
    "--target": "“Target”",
    "--sensitive": "“Secret”",
    "--quasi": "“Known”",
    "--identifier": "“Name”",
    "--feature": "“Ordinary”",
    "--drop": "“Leave out”",
    "--weight": "“Survey weight”",
    "--person": "“Who is a person”",
    "--row-is-person": "“Every row is a different person”",
    "--target-bins": "“Classes of a target of numbers”",
    "--drop-unlabelled": "“Leave out rows without a target”",
    "--missing": "“Texts that mean missing”",
    "--separator": "“Between cells”",
    "--encoding": "“Encoding”",
    "--decimal": "“Decimals after”",
    "--thousands": "“Between thousands”",
    "--dates": "“Dates begin with”",
    "--force": "“Replace an earlier release of that name”",
    "--out": "folder",
    "--min-performance": "“The least accuracy”",
    "--max-pbi": "“The most an attacker may gain”",
    "--max-features": "“The most columns”",
    "--min-kept": "“The least that must be kept”",
    "--max-told": "“The most that may be told”",
    "--attacker": "“Who might try?”",
}
"""What the flags in a message are called on the pages."""
SCRIPTS = (
    "copy.js",
    "upload.js",
    "columns.js",
    "ladders.js",
    "settings.js",
    "command.js",
    "progress.js",
)
BINS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, None))
"""Sizes of groups that a bar shows together."""
MOST_BARS = 8
"""The most columns that have a bar."""
MOST_SETS = 6
"""The most sets of columns that a page lists."""


def page(template: str, /, *, status: int = 200, **content: Any) -> Response:
    """A template as an answer."""
    text = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(**content, style=Markup(_style()), script=Markup(_script()), steps=STEPS)
    )
    return HTMLResponse(text, status, headers={"Content-Security-Policy": _policy()})


def report_page(text: str) -> Response:
    """A report, as it would be opened from its folder: with its own script and no rights here."""
    policy = "sandbox allow-scripts; frame-ancestors 'self'"
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def in_page_words(message: str) -> str:
    """A message of a command, with the choices of the pages instead of its flags.

    >>> in_page_words("leave it out with --drop, pass --quasi or pass --config")
    'leave it out with “Leave out”, choose “Known” or pass --config'
    """

    def in_words(flag: re.Match[str]) -> str:
        verb, name = flag.groups()
        words = FLAG_WORDS.get(name)
        return flag[0] if words is None else f"{'choose ' if verb else ''}{words}"

    return re.sub(r"(pass )?(--[a-z-]+)", in_words, message)


@cache
def _environment() -> Environment:
    found = templates("tamis.serve", _shown)
    found.filters.update(share=percent, in_page_words=in_page_words, as_typed=as_typed)
    found.globals.update(plural=plural, check_words=CHECK_WORDS)
    return found


def _shown(value: Any) -> Any:
    """What a template writes, with no sign that hides others or turns the text around."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return legible(value) if plain else value


@cache
def _style() -> str:
    """That of the report, then what only these pages have."""
    return template_text("tamis.publication", "report.css") + template_text(
        "tamis.serve", "serve.css"
    )


@cache
def _script() -> str:
    """The scripts as one, each in a scope of its own."""
    parts = (f"{{\n{template_text('tamis.serve', name)}}}\n" for name in SCRIPTS)
    return '"use strict";\n' + "".join(parts)


@cache
def _policy() -> str:
    return (
        f"default-src 'none'; style-src {csp_hash(_style())}; script-src {csp_hash(_script())}; "
        "img-src data:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


class Bar(NamedTuple):
    """A line of a bar chart; `share` is its length, from 0 to 1."""

    label: str
    share: float
    figure: str
    care: bool = False


def dots(share: float) -> int:
    """How many of a hundred dots to fill: at least one, and not all, unless that is exact.

    >>> dots(0.001), dots(0.999), dots(0.0), dots(0.5)
    (1, 99, 0, 50)
    """
    return round(100 * share) if share in (0, 1) else min(99, max(1, round(100 * share)))


def group_bars(sizes: Sequence[Mapping[str, int]], everybody: int) -> list[Bar]:
    """How many people are alone, in small groups, in large ones.

    >>> [(b.label, b.figure) for b in group_bars([{"size": 1, "people": 3}], 4)][:2]
    [('alone', '3'), ('2 to 4 alike', '0')]
    """
    found = []
    for low, high in BINS:
        people = sum(s["people"] for s in sizes if low <= s["size"] <= (high or s["size"]))
        label = f"{low} or more alike" if high is None else f"{low} to {high} alike"
        label = "alone" if high == 1 else label
        found.append(Bar(label, people / everybody, f"{people:,}", care=low < 5))
    return found


def column_bars(effects: Sequence[Mapping[str, Any]], everybody: int) -> list[Bar]:
    """How many people are no longer alone when one column is held back, the most first."""
    return [
        Bar(e["column"], e["fewer_unique"] / everybody, f"{e['fewer_unique']:,}")
        for e in effects[:MOST_BARS]
        if e["fewer_unique"]
    ]


def singling_sets(found: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The small sets of columns by which most people are found; none where none was looked for."""
    return [] if found is None else list(found["sets"][:MOST_SETS])


def attacker_bars(attacker: Mapping[str, Any] | None) -> list[Bar]:
    """How often the secret is guessed: with nothing, and from the columns."""
    if not attacker or "accuracy" not in attacker:
        return []
    return [
        Bar(
            "by guessing the most frequent", attacker["majority"], percent(attacker["majority"], 0)
        ),
        Bar("from all columns", attacker["accuracy"], percent(attacker["accuracy"], 0), care=True),
    ]
