"""Analyses from plain values: the reverse of `Analysis.to_dict`, for tests that change one part.

A record cannot be changed, and a nested one is long to rebuild. So tests say what they change in
the plain values, and this makes the records of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tamis.analyse import Analysis
from tamis.analyse.candidates import FIGURES, CandidateFacts
from tamis.analyse.records import Audience
from tamis.evaluate.figure import Figure
from tamis.publication import report

Facts = dict[str, Any]
"""A record as plain values."""


def analysis_of(summary: Mapping[str, Any]) -> Analysis:
    """The analysis that would give this summary to its holder."""
    found: Analysis = record_of(Analysis, summary)
    return found


def record_of(kind: Any, value: Any) -> Any:
    """A record of this kind from its plain values; what is no record stays as it is."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [each for each in get_args(kind) if each is not type(None)]
        return None if value is None else record_of(kinds[0], value)
    if get_origin(kind) is tuple and get_args(kind)[-1] is ...:
        return tuple(record_of(get_args(kind)[0], part) for part in value)
    if kind is Figure:
        return Figure(value["value"], **(value["interval"] or {}))
    if not is_dataclass(kind) or not isinstance(value, Mapping):
        return value
    if kind is CandidateFacts:
        value = {**value, **{name: _with_interval(value, name) for name in FIGURES}}
    hints = get_type_hints(kind)
    given = [each.name for each in fields(kind) if each.name in value]
    return kind(**{name: record_of(hints[name], value[name]) for name in given})


def _with_interval(candidate: Mapping[str, Any], name: str) -> Facts | None:
    found, ends = candidate[name], candidate[f"{name}_interval"]
    return None if found is None else {"value": found, "interval": ends}


def render(summary: Mapping[str, Any], audience: Audience = "holder") -> str:
    """The page of a summary."""
    return report.render(analysis_of(summary), audience)


def checked(summary: Mapping[str, Any]) -> Analysis:
    """The analysis of a summary, or an error that says what is wrong with it."""
    return report.checked(analysis_of(summary))


def for_recipient(summary: Mapping[str, Any]) -> Facts:
    """What recipients may read of a summary."""
    return analysis_of(summary).to_dict("recipient")
