"""What all rows of a release reach of l, t, likeness and the average risk, counted by an engine.

Whole classes are taken into memory, some at a time, and measured there as tables in memory are: the
worst of all classes counts, so no figure is of a sample.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from tamis.engine.backend import Engine, Frame
from tamis.engine.cells import SIZE, count_cells, merge_cells, size_counts
from tamis.engine.door import LargeTable
from tamis.engine.spread import sensitive_counts
from tamis.publish.secret_groups import asked_entries, asked_risks
from tamis.risk.anonymity import Anonymity
from tamis.risk.large import spreads

ALL = "all"
_FIGURE = {"l_diversity": "l", "t_closeness": "t", "beta_likeness": "beta"}
"""The figures of `Anonymity.reached_in` that have another name in a manifest."""


def one_group(cells: Frame, columns: list[str]) -> tuple[Frame, list[str]]:
    """Cells, and the columns that define groups: where there are none, one that is constant."""
    return (cells, columns) if columns else (cells.with_columns(nw.lit(1).alias(ALL)), [ALL])


def counted_average_risk(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> float:
    """The mean over people of 1 by the people in their smallest group.

    Parameters
    ----------
    engine : Engine
    cells : frame
        Cells over at least the columns.
    columns : columns that define a group
    who : columns that tell people apart; empty if each row is a person
    """
    cells, columns = one_group(cells, columns)
    members = engine.hold(merge_cells(cells, [*columns, *who]))
    sizes = size_counts(engine, members, columns, who)
    risks = sizes.select((pl.col("people") / pl.col(SIZE)).sum() / pl.col("people").sum())
    return float(risks.item())


def reached_beyond_k(
    anonymity: Anonymity, large: LargeTable, cells: Frame, names: tuple[str, ...]
) -> dict[str, Any]:
    """What groups of people alike in some columns reach of everything asked for but k.

    Parameters
    ----------
    anonymity : Anonymity
        Figures about the sensitive column are there only where it asks for one.
    large : LargeTable
    cells : frame
        Cells over at least these columns, the sensitive column and the people.
    names : tuple of str
        What attackers may know.
    """
    engine, columns, who = large.engine, large.columns(names), large.who
    found: dict[str, Any] = {}
    if anonymity.of_secrets:
        secret = str(large.shape.sensitive)
        number = large.shape.frame.schema[secret].is_numeric()
        grouped, keys = one_group(cells, columns)
        (column,) = large.columns([secret])
        counts = sensitive_counts(engine, grouped, keys, column, who, number)
        found = anonymity.worst([anonymity.reached_in(part) for part in spreads(counts)])
    if anonymity.max_average_risk is not None:
        found["average_risk"] = counted_average_risk(engine, cells, columns, who)
    return found


def cells_of(large: LargeTable, names: tuple[str, ...], secret: bool) -> Frame:
    """Each combination that occurs of some columns, the people, and the secret where asked for."""
    wanted = [*names, *([str(large.shape.sensitive)] if secret else [])]
    columns = dict.fromkeys([*large.columns(wanted), *large.who])
    return large.engine.hold(count_cells(large.frame, list(columns)))


def stated_groups(
    settings: Any, large: LargeTable, known: list[str], k: int, found: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is stated of groups: of their risk, and of the sensitive column.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    large : LargeTable
    known : list of str
        What attackers may know of the release.
    k : int
        The people of the smallest group.
    found : dict
        From `reached_beyond_k`.
    """
    secret, unit = str(large.shape.sensitive), large.shape.unit
    numeric = large.shape.frame.schema[secret].is_numeric()
    risks = asked_risks(settings, known, unit)
    about_secret = asked_entries(settings, secret, numeric, known, unit)
    public = "private" if large.who else "file"
    recount = public if secret == large.shape.target else "private"
    figures = {**found, "max_risk": 1 / k}
    return (
        [{**each, "measured": figures[each["key"]], "recount": public} for each in risks],
        [
            {**each, "measured": figures[_FIGURE.get(each["key"], each["key"])], "recount": recount}
            for each in about_secret
        ],
    )
