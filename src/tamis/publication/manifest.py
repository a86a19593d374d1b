"""`manifest.json`: what was released, what is promised about it, and what is not.

It names no column that was held back, no seed and no cell value, and has no figure that depends on
what was held back: nothing about the sensitive column unless that is the target, no comparison
with the original but one (`kept`, in whole percent), and columns in the order of their names. Of a
column in a coarser form it states one level of the ladder and how to read it, and names no value of
fewer than k people.
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
    """A column of a file that has one end of the intervals of another."""

    of: str
    end: Literal["lower", "upper"]


@dataclass(frozen=True, eq=False)
class ReleaseFile:
    """The file of released rows, and what its columns are."""

    path: Path
    format: str
    frame: pl.DataFrame
    """What was written; of rows that were streamed, the columns and their types alone."""
    bounds: Mapping[str, Bound]
    """Columns that hold ends of the intervals of another."""
    coarser: Mapping[str, dict[str, Any]]
    """How columns in a coarser form are read."""
    dictionary: Dictionary = field(default_factory=dict)
    """Questions and codes of columns."""
    target_bins: TargetBins | None = None
    """The classes that a target of numbers was cut into."""
    streamed: int | None = None
    """How many rows were streamed."""
    link: str | None = None
    """The column by which rows of a person belong together."""


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """The released rows in a draft, and what they were found to reach."""

    file: ReleaseFile
    promises: list[dict[str, Any]]
    """As a manifest has them: measured, in people where these are known."""
    risks: list[dict[str, Any]]
    """What people alike reach of limits on the risk; anybody may know it."""
    of_secrets: list[dict[str, Any]]
    """The same of l, t and the like, for each secret."""
    several: bool
    """Whether a person may have several rows."""
    left_out: dict[str, int] | None
    """The people and rows that are left out, and all there are; `None` where nobody is."""
    for_recipe: Mapping[str, Any] = field(default_factory=dict)
    """What only the holder may know of how rows were written."""
    state_presence: Callable[[dict[str, Any]], dict[str, Any]] = lambda content: {}
    """States in a manifest which people of a register may be in it; what is for the recipe."""


def manifest(
    row: Row,
    written: WrittenRelease,
    analysis: Analysis,
    *,
    not_promised: list[str],
    date: str,
) -> dict[str, Any]:
    """The manifest of a release whose file is written.

    For synthetic rows it has no figures that were measured on people and no number of columns held
    back, because no epsilon covers these.
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
    """What made the release.

    Without local parts ("2.4.6+anything"), where a forger could hide a name and `verify` sees none.
    """
    found = {"tamis": __version__, "python": platform.python_version()}
    found |= {name: _installed(name) for name in _PACKAGES}
    return {name: text.partition("+")[0] for name, text in found.items()}


# Each answer is looked up on disk and parsed, and a release asks several times.
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
    """How well strong learners guess the target; what all columns would give is left out."""
    if look is None:
        return {}
    found: dict[str, Any] = as_plain(_for_others(look.target, written))
    return {"close_look": {key: value for key, value in found.items() if key != "share"}}


def _for_others(figures: Any, written: WrittenRelease) -> Any:
    """Figures no finer than is good: if rows are left out, an exact one would tell how many."""
    found = as_supported(figures)
    return found if written.left_out is None else in_hundredths(found)


def stated(
    form: Coarsening,
    column: pl.Series,
    k: int,
    people: PeopleLike = None,
) -> dict[str, Any]:
    """One level of a ladder as a manifest states it; values that fewer than k have are not named.

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
    """The same of a column that was counted elsewhere.

    `groups` gives by label the values of k people or more; asked only where the ladder has groups.
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

    Of a group, values that the manifest does not name are not known; they may have a label of
    their own, `unlisted`.

    >>> stated_coarsening({"level": 2, "width": 10, "top": 90, "read": "..."})
    <Coarsening: level 1 by width, top>
    """
    return Coarsening(described_level(said), 1)


def _of_others(ladder: Ladder, level: int) -> dict[str, str]:
    """The label of all values that a ladder does not name, if they have one."""
    (label,) = ladder.apply(pl.Series(["\0"]), level)
    return {} if label == NOTHING else {"unlisted": label}


def _groups(
    ladder: Ladder, level: int, column: pl.Series, k: int, people: PeopleLike
) -> dict[str, list[str]]:
    """The labels that are released, and the values of k people or more behind each."""
    who = People.named(people, column.len()).codes
    rows = pl.DataFrame({"value": plain_text(bare(column)), "who": who}).with_columns(
        ladder.apply(bare(column), level).alias("label")
    )
    each = (
        rows.drop_nulls("label")
        .group_by("label", "value")
        .agg(pl.col("who").n_unique() >= max(k, 1))
        .sort("label", "value")
    )
    return {
        label: values.filter(pl.col("who"))["value"].to_list()
        for (label,), values in each.group_by("label", maintain_order=True)
    }


def with_bounds(
    frame: pl.DataFrame, forms: Mapping[str, Coarsening]
) -> tuple[pl.DataFrame, dict[str, Bound]]:
    """The released rows with the ends of intervals beside their labels, and what columns these are.

    They are functions of the labels, so that they tell nothing more; a model can use them as
    numbers or dates. An open end is missing. Labels that are no intervals have none.

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
    """The ends of the intervals of a column; none where no label has any."""
    if form is None:
        return {}
    ends = Ladder.from_dict(labels.name, form.ladder).bounds(labels, form.level)
    if all(series.null_count() == series.len() for series in ends):
        return {}
    return {
        Bound(labels.name, "lower"): ends["lower"],
        Bound(labels.name, "upper"): ends["upper"],
    }
