"""Pages: templates, one style and one script, and the policy that allows these and nothing else."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from tamis.errors import plural
from tamis.publish.figures import percent
from tamis.publish.page import csp_hash, legible
from tamis.serve.ladders import as_typed

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
    "--row-is-person": "“Every row is a different person”",
    "--drop-unlabelled": "“Leave out rows without a target”",
    "--missing": "“Texts that mean missing”",
    "--separator": "“Between cells”",
    "--encoding": "“Encoding”",
    "--force": "“Replace an earlier release of that name”",
    "--out": "folder",
    "--min-performance": "“The least accuracy”",
    "--max-pbi": "“The most an attacker may gain”",
    "--max-features": "“The most columns”",
    "--min-kept": "“The least that must be kept”",
    "--max-told": "“The most that may be told”",
}
"""What the flags in a message are called on the pages."""
CHECK_WORDS = {
    "manifest": "The manifest is complete and well formed.",
    "files": "There is no file that does not belong to a release.",
    "hash": "The rows and the report are those that the manifest was written for.",
    "schema": "The columns are those that the manifest lists, and nothing is hidden in the file.",
    "k_anonymity": "People who look alike were counted again.",
    "containment_anonymity": "People who have the same facts were counted again.",
    "people": "People with several rows count once.",
    "exposure": "Those who stand alone were counted again.",
    "budget": "The cost of differential privacy adds up, where rows were drawn.",
    "identifiers": "No column that says who someone is was released.",
    "private": "The private part belongs to this release, where it is there.",
}
"""What `tamis verify` checks, in words; others are shown by their name."""
SCRIPTS = ("copy.js", "upload.js", "columns.js", "ladders.js", "settings.js", "progress.js")


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

    def said(flag: re.Match[str]) -> str:
        verb, name = flag.groups()
        words = FLAG_WORDS.get(name)
        return flag[0] if words is None else f"{'choose ' if verb else ''}{words}"

    return re.sub(r"(pass )?(--[a-z-]+)", said, message)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("tamis.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    found.filters.update(share=percent, in_page_words=in_page_words, as_typed=as_typed)
    found.globals.update(plural=plural, check_words=CHECK_WORDS)
    return found


def _shown(value: Any) -> Any:
    """What a template writes, with no sign that hides others or turns the text around."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return legible(value) if plain else value


@cache
def _text(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """That of the report, then what only these pages have."""
    return _text("tamis.publish", "report.css") + _text("tamis.serve", "serve.css")


@cache
def _script() -> str:
    """The scripts as one, each in a scope of its own."""
    parts = (f"{{\n{_text('tamis.serve', name)}}}\n" for name in SCRIPTS)
    return '"use strict";\n' + "".join(parts)


@cache
def _policy() -> str:
    return (
        f"default-src 'none'; style-src {csp_hash(_style())}; script-src {csp_hash(_script())}; "
        "img-src data:; connect-src 'self'; frame-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
