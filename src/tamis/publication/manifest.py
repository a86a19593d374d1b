"""`manifest.json`: what was released, what is promised about it, and what is not.

It names no column that was held back, no seed and no cell value, and has no figure that depends on
what was held back: nothing about the sensitive column unless that is the target, and a single
comparison with the original (`kept`, in whole percent). Columns are in the order of their names.
For a generalised column it states the level of its ladder and how to read it, and lists no value
that fewer than k people have.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from tamis import __version__
from tamis.analyse import Analysis
from tamis.analyse.examination import CloseLookFacts
from tamis.analyse.records import as_plain, as_supported, in_hundredths
from tamis.catalogue.measures import MEASURES
from tamis.coarsen.ladder import NOTHING, Ladder, described_level
from tamis.coarsen.value_groups import plain_text
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Row
from tamis.formulas import safe_names
from tamis.people import People, PeopleLike
from tamis.release import Coarsening, Release
from tamis.release_counts import stated_left_out
from tamis.table import ColumnText, Dictionary, TargetBins, bare, kind_of
from tamis.table_file import WRITTEN, classes_of
from tamis.verification.labels import READ_BINS, stated_form
from tamis.verification.layout import SCHEMA, SCHEMA_VERSION, digest

_PACKAGES = ("numpy", "polars", "scikit-learn", "scipy")


class Bound(NamedTuple):
    """The role of a column that holds one end of the intervals of another."""

    of: str
    end: Literal["lower", "upper"]


@dataclass(frozen=True, eq=False)
class ReleaseFile:
    """The file of released rows, and the meaning of its columns."""

    path: Path
    format: str
    frame: pl.DataFrame
    """The written rows; for streamed rows an empty frame with the columns and their types."""
    bounds: Mapping[str, Bound]
    """Columns that hold ends of the intervals of another."""
    coarser: Mapping[str, dict[str, Any]]
    """The stated forms of generalised columns."""
    dictionary: Dictionary = field(default_factory=dict)
    """Questions and codes of columns."""
    target_bins: TargetBins | None = None
    """The classes that a target of numbers was cut into."""
    streamed: int | None = None
    """The number of streamed rows; `None` where `frame` has the rows."""
    link: str | None = None
    """The column that links the rows of each person."""


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """The released rows in a draft, and the figures measured in them."""

    file: ReleaseFile
    promises: list[dict[str, Any]]
    """Promises as a manifest has them, measured in people where these are known."""
    risks: list[dict[str, Any]]
    """Entries on limits of the risk, which are public."""
    of_secrets: list[dict[str, Any]]
    """Entries on l, t and the like, for each secret."""
    several: bool
    """Whether a person may have several rows."""
    left_out: dict[str, int] | None
    """Counts of suppressed people and rows, and of all; `None` without suppression."""
    for_recipe: Mapping[str, Any] = field(default_factory=dict)
    """Entries of the private recipe about how rows were written."""
    state_presence: Callable[[dict[str, Any]], dict[str, Any]] = lambda content: {}
    """States delta-presence in a manifest, and returns the entry of the recipe about it."""


def manifest(
    row: Row,
    written: WrittenRelease,
    analysis: Analysis,
    *,
    not_promised: list[str],
    date: str,
) -> dict[str, Any]:
    """The manifest of a release whose file is written.

    For synthetic rows it has no figures measured on people and no number of columns held back,
    because epsilon does not cover these.
    """
    release, exposure, file = row.release, analysis.exposure, written.file
    parameters = dict(release.recipe.public)
    budget = parameters.pop("budget", None)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "date": date,
        "file": _file(file),
        "columns": _columns(release, file),
        **({} if release.is_drawn else {"held_back": analysis.held_back}),
        "method": {"name": release.recipe.method, "parameters": parameters},
        "promises": written.promises,
        **_left_out(written, release),
        "measured": [] if release.is_drawn else _measured(row, written),
        **({} if release.is_drawn else _close_look(analysis.close_look, written)),
        "not_promised": not_promised,
        "versions": versions(),
    }
    if (bins := file.target_bins) is not None:
        said = {"cuts": list(bins.cuts), "labels": list(bins.labels)}
        for column in content["columns"]:
            if column["role"] == "target":
                column["bins"] = said | {"read": READ_BINS}
    content |= {"exposure": exposure} if exposure else {}
    return content | ({"budget": budget} if budget else {})


def _left_out(written: WrittenRelease, release: Release) -> dict[str, Any]:
    if written.left_out is None:
        return {}
    fewest = max((entry["at_least"] for entry in written.promises), default=1)
    return {"suppressed": stated_left_out(written.left_out, release.unit, fewest)}


def versions() -> dict[str, str]:
    """The versions of tamis, Python and the packages that made the release.

    Local parts ("2.4.6+anything") are dropped: `verify` allows none, as they could hide a name.
    """
    installed = {"tamis": __version__, "python": platform.python_version()}
    installed |= {name: _installed(name) for name in _PACKAGES}
    return {name: text.partition("+")[0] for name, text in installed.items()}


# Cached: each version is read from disk and parsed, and a release asks several times.
_installed = cache(version)


def _file(file: ReleaseFile) -> dict[str, Any]:
    return {
        "name": file.path.name,
        "format": file.format,
        "sha256": digest(file.path),
        "rows": file.frame.height if file.streamed is None else file.streamed,
        **WRITTEN[file.format],
        **({"classes": classes_of(file.frame)} if file.format == "svm" else {}),
    }


def _columns(release: Release, file: ReleaseFile) -> list[dict[str, Any]]:
    table, frame, bounds = release.table, file.frame, file.bounds
    stated = {table.target, *table.roles.plain, *(table.roles.quasi or ()), *bounds}
    roles = {name: f"{bound.end} bound" for name, bound in bounds.items()} | {
        table.target: "target"
    }
    if file.link is not None:
        roles[file.link] = "link"
        stated.add(file.link)
    headers = safe_names(frame.columns) if file.format == "csv" else frame.columns
    return [
        {
            "name": name,
            "header": header,
            "kind": kind_of(frame.get_column(name).dtype),
            "role": roles.get(name, "feature"),
            "stated": name in stated,
            **({"of": bounds[name].of} if name in bounds else {}),
            **({"made_of": release.sources[name]} if name in release.sources else {}),
            **({"coarser": file.coarser[name]} if name in file.coarser else {}),
            **_said(file.dictionary.get(name)),
        }
        for name, header in zip(frame.columns, headers)
    ]


def _said(text: ColumnText | None) -> dict[str, Any]:
    """The question and the codes of a column, where its source has them."""
    if text is None:
        return {}
    question = {"question": text.question} if text.question else {}
    return question | ({"codes": dict(text.codes)} if text.codes else {})


def _measured(row: Row, written: WrittenRelease) -> list[dict[str, Any]]:
    figures = {name: row.figures.get(name) for name, m in MEASURES.items() if m.published}
    if kept := figures["kept"]:
        figures["kept"] = in_hundredths(kept.as_share())
    seen: dict[str, Figure | None] = _for_others(figures, written)
    return [{"key": name, **f.to_dict()} for name, f in seen.items() if f is not None]


def _close_look(look: CloseLookFacts | None, written: WrittenRelease) -> dict[str, Any]:
    """How well strong learners guess the target, without the comparison with all columns."""
    if look is None:
        return {}
    figures: dict[str, Any] = as_plain(_for_others(look.target, written))
    return {"close_look": {key: value for key, value in figures.items() if key != "share"}}


def _for_others(figures: Any, written: WrittenRelease) -> Any:
    """Figures rounded as their intervals support, and to hundredths where rows are suppressed.

    An exact share would reveal the number of rows, and so how many were left out.
    """
    supported = as_supported(figures)
    return supported if written.left_out is None else in_hundredths(supported)


def stated(
    form: Coarsening,
    column: pl.Series,
    k: int,
    people: PeopleLike = None,
) -> dict[str, Any]:
    """One level of a ladder as a manifest states it, without values that fewer than k people have.

    >>> ages = pl.Series("age", [41, 44, 52])
    >>> stated(Coarsening({"width": [5, 10], "top": 90}, 2), ages, k=2)
    {'level': 2, 'width': 10, 'top': 90, 'read': '[a, b) means from a up to but not including b'}
    >>> jobs = pl.Series("job", ["cook", "cook", "judge"])
    >>> stated(Coarsening({"groups": [{"any": ["cook", "judge"]}]}, 1), jobs, k=2)["groups"]
    {'any': ['cook']}
    """
    ladder = Ladder.from_dict(column.name, form.ladder)
    return stated_of(ladder, form.level, lambda: _groups(ladder, form.level, column, k, people))


def stated_of(
    ladder: Ladder, level: int, groups: Callable[[], Mapping[str, list[str]]]
) -> dict[str, Any]:
    """Like `stated`, for a column whose values were counted elsewhere.

    `groups` returns, by label, the values that k people or more have; it is only called if the
    ladder has groups.
    """
    if ladder.form.has_groups:
        rule = {"groups": dict(groups())} | _of_others(ladder, level)
    else:
        rule = ladder.stated(level)
    form = stated_form(rule)
    assert form is not None
    return {"level": level, **rule, "read": form.read}


def stated_coarsening(said: Mapping[str, Any]) -> Coarsening:
    """The form that a manifest states, as a ladder of one level.

    Values of groups that the manifest does not list are unknown; they may have a label of their
    own, `unlisted`.

    >>> stated_coarsening({"level": 2, "width": 10, "top": 90, "read": "..."})
    <Coarsening: level 1 by width, top>
    """
    return Coarsening(described_level(said), 1)


def _of_others(ladder: Ladder, level: int) -> dict[str, str]:
    """The label of all values that a ladder does not list, if they have one."""
    # NUL is a value that no ladder lists.
    (label,) = ladder.apply(pl.Series(["\0"]), level)
    return {} if label == NOTHING else {"unlisted": label}


def _groups(
    ladder: Ladder, level: int, column: pl.Series, k: int, people: PeopleLike
) -> dict[str, list[str]]:
    """The released labels, each with those of its values that k people or more have."""
    who = People.named(people, column.len()).codes
    rows = pl.DataFrame({"value": plain_text(bare(column)), "who": who}).with_columns(
        ladder.apply(bare(column), level).alias("label")
    )
    counted = (
        rows.drop_nulls("label")
        .group_by("label", "value")
        .agg(pl.col("who").n_unique() >= max(k, 1))
        .sort("label", "value")
    )
    return {
        label: values.filter(pl.col("who"))["value"].to_list()
        for (label,), values in counted.group_by("label", maintain_order=True)
    }


def with_bounds(
    frame: pl.DataFrame, forms: Mapping[str, Coarsening]
) -> tuple[pl.DataFrame, dict[str, Bound]]:
    """The released rows with added columns for the ends of intervals, and the roles of these.

    The ends follow from the labels and so reveal nothing more; a model can use them as numbers or
    dates. An open end is missing, and labels that are no intervals have no ends.

    Examples
    --------
    >>> rows = pl.DataFrame({"age": ["[40, 50)", ">= 90"], "ill": ["no", "yes"]})
    >>> both, bounds = with_bounds(rows, {"age": Coarsening({"width": [10], "top": 90}, 1)})
    >>> both.rows()
    [('[40, 50)', 40.0, 50.0, 'no'), ('>= 90', 90.0, None, 'yes')]
    >>> bounds["age_upper"]
    Bound(of='age', end='upper')
    """
    columns: list[pl.Series] = []
    bounds: dict[str, Bound] = {}
    for series in frame.get_columns():
        columns.append(series)
        for bound, ends in _ends(series, forms.get(series.name)).items():
            name = f"{bound.of}_{bound.end}"
            while name in frame.columns or name in bounds:
                name += "_"
            columns.append(ends.alias(name))
            bounds[name] = bound
    return pl.DataFrame(columns), bounds


def _ends(labels: pl.Series, form: Coarsening | None) -> dict[Bound, pl.Series]:
    """The ends of the intervals of a column; empty where no label has any."""
    if form is None:
        return {}
    ends = Ladder.from_dict(labels.name, form.ladder).bounds(labels, form.level)
    if all(series.null_count() == series.len() for series in ends):
        return {}
    return {
        Bound(labels.name, "lower"): ends["lower"],
        Bound(labels.name, "upper"): ends["upper"],
    }
