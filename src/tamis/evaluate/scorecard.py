"""The scorecard: releases x measures, on rows that no search has seen.

Every measure is taken twice: on the choosing rows, and on the reporting rows, which no choice is
based on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tamis.catalogue.measures import MEASURES, MeasureRecord
from tamis.charts import Picture
from tamis.errors import Progress, plural
from tamis.evaluate.assessment import Assessment, Findings
from tamis.evaluate.bits import Gains
from tamis.evaluate.bits_scorer import Compared
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.figure import Figure, accuracy, accuracy_change, auc, f_measure
from tamis.evaluate.kept_told_picture import kept_told_picture
from tamis.evaluate.readings import guess_groups, looked_up, most_telling
from tamis.evaluate.subset_bits import told_most
from tamis.notebook import html_table, in_short, quoted, share_words
from tamis.release import Release

if TYPE_CHECKING:
    import polars as pl


Take = Callable[[Findings], Figure | None]
"""A measure of a release on one part of the rows; gives `None` where it does not apply."""


def _performance(findings: Findings) -> Figure:
    return accuracy(findings.predictions.right, findings.people)


def _pbi(findings: Findings) -> Figure | None:
    """Breach increase (PBI): the strongest attacker's change in accuracy, for the worst secret."""
    changes = [_pbi_of(findings, secret) for secret in findings.assessment.evaluator.every_secret]
    return max((each for each in changes if each is not None), key=lambda f: f.value, default=None)


def _pbi_of(findings: Findings, secret: str) -> Figure | None:
    evaluator, assessment = findings.assessment.evaluator, findings.assessment
    now = findings.attacked_for(secret)[assessment.strongest_of(secret)]
    before = findings.everything_for(secret)[evaluator.strongest_of(secret)]
    change = accuracy_change(now.right, before.right, findings.people)
    if change is not None and assessment.shows_everything:
        return Figure(0.0)  # the baseline against itself is certain
    return change


def _retained(name: str) -> Take:
    def of(findings: Findings) -> Figure | None:
        kept = findings.retention
        if kept is None:
            return None
        value = kept.own[name] if name in kept.own else getattr(kept, name)
        return None if value is None else Figure(float(value))

    return of


def _people(count: int | None) -> Figure | None:
    return None if count is None else Figure(float(count))


def _epsilon(findings: Findings) -> Figure | None:
    """Privacy budget of synthetic rows; `None` for real rows, which have no such bound."""
    budget = findings.assessment.release.recipe.public.get("budget")
    return None if budget is None else Figure(float(budget["epsilon"]))


TAKEN: dict[str, Take] = {
    "performance": _performance,
    "auc": lambda findings: auc(findings.predictions, findings.people),
    "f_measure": lambda findings: f_measure(findings.predictions, findings.people),
    "pbi": _pbi,
    "k_anonymity": lambda findings: _people(findings.assessment.k_anonymity),
    "containment_anonymity": lambda findings: _people(findings.assessment.containment),
    "epsilon": _epsilon,
    "features": lambda findings: Figure(float(findings.assessment.release.size)),
    "rule_accuracy": _retained("rule_accuracy"),
    "rsd": _retained("rsd"),
    "rld": _retained("rld"),
    "lost_rules": _retained("lost_share"),
}
"""How each measure is taken.

Measures of the catalogue without an entry come from `Compared`; all others are measures of rules.
"""


COSTLY = ("performance", "auc", "f_measure", "pbi", "rule_accuracy", "rsd", "rld", "lost_rules")
"""Measures that train models or count rules, about a fifth of a second a release."""


class Figures(Mapping[str, Figure | None]):
    """Figures of one release on one part of the rows, each computed on first access.

    A choice by kept and told, a report and a manifest need every figure of a few releases only.
    """

    def __init__(
        self, names: Sequence[str], findings: Findings, bits: Mapping[str, Figure | None]
    ) -> None:
        self._names, self._findings, self._found = names, findings, dict(bits)

    def renewed(self, bits: Mapping[str, Figure | None]) -> Figures:
        """A copy with new figures in bits; figures already computed are kept."""
        return Figures(self._names, self._findings, {**self._found, **bits})

    def __getitem__(self, name: str) -> Figure | None:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = TAKEN.get(name, _retained(name))(self._findings)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class Row:
    """One release and its figures by measure.

    Attributes
    ----------
    assessment : Assessment
    figures : mapping of measure to Figure
        Figures on the reporting rows, which are printed and published.
    for_choice : mapping of measure to Figure
        Figures on the choosing rows, used for limits, ranks and the choice alone.
    """

    assessment: Assessment
    figures: Mapping[str, Figure | None]
    for_choice: Mapping[str, Figure | None]

    @property
    def release(self) -> Release:
        return self.assessment.release

    def __repr__(self) -> str:
        shares = {"keeps": self.value("kept"), "tells": self.value("told")}
        figures = [f"{word} {share_words(v)}" for word, v in shares.items() if v is not None]
        size = plural(self.release.size, "feature")
        return in_short(self, quoted(self.release.name, 70), size, *figures)

    def value(self, measure: str) -> float | None:
        """The reported value of a measure."""
        figure = self.figures[measure]
        return None if figure is None else figure.value

    def value_for_choice(self, measure: str) -> float | None:
        """The value of a measure that the choice is based on."""
        figure = self.for_choice[measure]
        return None if figure is None else figure.value

    def to_dict(self, without: Collection[str] = ()) -> dict[str, Any]:
        """All figures as plain values; measures in `without` are `None` and not computed."""
        return {
            "name": self.release.name,
            "features": list(self.release.features),
            "figures": _plain(self.figures, without),
            "figures_for_choice": _plain(self.for_choice, without),
        }


def _plain(figures: Mapping[str, Figure | None], without: Collection[str]) -> dict[str, Any]:
    taken = {name: None if name in without else figures[name] for name in figures}
    return {name: f and f.to_dict() for name, f in taken.items()}


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Releases x measures.

    Attributes
    ----------
    baseline : Row
        The release of everything.
    floor : Row
        The release of nothing: the majority guess.
    candidates : tuple of Row
        The proposed releases.
    measures : tuple of MeasureRecord
    compared : Compared
        Kept and told of each release, in the order of `every`.
    """

    baseline: Row
    floor: Row
    candidates: tuple[Row, ...]
    measures: tuple[MeasureRecord, ...]
    compared: Compared

    def __repr__(self) -> str:
        proposed = plural(len(self.candidates), "release")
        return in_short(self, f"{proposed} by {plural(len(self.measures), 'measure')}")

    def _repr_html_(self) -> str:
        lines = [line_of(row) for row in (*self.rows, self.floor)]
        return html_table(f"Scorecard: {plural(len(self.candidates), 'release')}", HEADS, lines)

    def to_frame(
        self, rows: Literal["report", "choose"] = "report", *, intervals: bool = False
    ) -> pl.DataFrame:
        """Releases x measures as a polars frame; everything and nothing come first.

        Parameters
        ----------
        rows : {"report", "choose"}
            The rows that the figures were measured on.
        intervals : bool
            Add the ends of the confidence intervals, as ``kept_low`` and ``kept_high``.
        """
        import polars as pl

        names = pl.Series("release", [row.release.name for row in self.every], pl.String)
        sets = [list(row.release.features) for row in self.every]
        columns = [names, pl.Series("columns", sets, pl.List(pl.String))]
        ends = {"value": "", "low": "_low", "high": "_high"} if intervals else {"value": ""}
        for measure in (m.name for m in self.measures):
            figures = [
                (r.figures if rows == "report" else r.for_choice)[measure] for r in self.every
            ]
            for end, ending in ends.items():
                numbers = [None if f is None else getattr(f, end) for f in figures]
                columns.append(pl.Series(measure + ending, numbers, pl.Float64))
        return pl.DataFrame(columns)

    def plot(self) -> Picture:
        """Draw every release by what it keeps of the target and tells of the sensitive column."""
        return kept_told_picture(self)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The baseline, then the candidates, without the floor."""
        return (self.baseline, *self.candidates)

    @property
    def every(self) -> tuple[Row, ...]:
        """All rows as `compared` numbers them: baseline, floor, then the candidates."""
        return (self.baseline, self.floor, *self.candidates)

    def with_readings(self, readings: Mapping[int, Gains]) -> Scorecard:
        """A copy with further readings of some releases, by number, on the reporting rows."""
        if not readings:
            return self
        reporting = self.compared.reporting.with_readings(readings)
        compared = replace(self.compared, reporting=reporting)
        rows = []
        for number, row in enumerate(self.every):
            again = compared.figures(number, "reporting")
            rows.append(replace(row, figures=_renewed(row.figures, again)))
        return replace(
            self,
            baseline=rows[0],
            floor=rows[1],
            candidates=tuple(rows[2:]),
            compared=compared,
        )

    def with_guesses(self, rows: Iterable[Row]) -> Scorecard:
        """A copy in which told of some releases also counts what the attackers guess."""
        by_number = {self.number(row): _guessed(row) for row in rows}
        return self.with_readings({n: read for n, read in by_number.items() if read is not None})

    def number(self, row: Row) -> int:
        """The number of a row in `compared`."""
        return self.every.index(row)

    def to_dict(
        self, shown: Collection[Row] | None = None, asked: Collection[str] = ()
    ) -> dict[str, Any]:
        """All figures as plain values, under stable names.

        Parameters
        ----------
        shown : collection of Row, optional
            Rows to compute every figure of, besides baseline and floor. For other rows, costly
            figures (`COSTLY` and the holder's own measures of rules) are `None`. By default every
            figure of every row is computed.
        asked : collection of str
            Costly measures to compute for every row all the same.
        """
        costly = [*COSTLY, *(m.name for m in self.measures if m.name not in MEASURES)]
        skipped = [name for name in costly if name not in asked]
        return {
            "measures": [{"name": m.name, "better": m.better} for m in self.measures],
            "baseline": self.baseline.to_dict(),
            "floor": self.floor.to_dict(),
            "releases": [
                row.to_dict(() if shown is None or row in shown else skipped)
                for row in self.candidates
            ],
        }


HEADS = ("release", "keeps", "tells", "accuracy", "breach increase", "columns")
"""The column heads for `line_of`."""


def line_of(row: Row) -> list[object]:
    """A release and its main figures, as one line of a table."""
    measures = ("kept", "told", "performance", "pbi")
    return [row.release.name, *(share_words(row.value(m)) for m in measures), row.release.size]


def scorecard(
    evaluator: Evaluator,
    baseline: Release,
    floor: Release,
    releases: Iterable[Release],
    *,
    measures: tuple[MeasureRecord, ...] = tuple(MEASURES.values()),
    progress: Progress | None = None,
) -> Scorecard:
    """Measure the baseline, the floor and some releases on rows that no search has seen.

    Kept and told are measured now, all other figures on first access.
    """
    every = [baseline, floor, *releases]
    if progress is not None:
        progress("measuring what is kept and told", 0, len(every))
    compared = evaluator.yardstick.compared(every, progress)
    names = [measure.name for measure in measures]
    rows = []
    for number, release in enumerate(every):
        assessment = Assessment(evaluator, release)
        reported, for_choice = (
            Figures(names, findings, compared.figures(number, findings.part))
            for findings in (assessment.reporting, assessment.choosing)
        )
        rows.append(Row(assessment, reported, for_choice))
    return Scorecard(rows[0], rows[1], tuple(rows[2:]), measures, compared)


def _renewed(
    figures: Mapping[str, Figure | None], bits: Mapping[str, Figure | None]
) -> Mapping[str, Figure | None]:
    if isinstance(figures, Figures):
        return figures.renewed(bits)
    return {name: bits.get(name, figure) for name, figure in figures.items()}


def _guessed(row: Row) -> Gains | None:
    """Gains on the reporting rows from the guesses of the attackers, trained on the release.

    How much a guess is worth is looked up on the choosing rows: how often it was right there.
    """
    assessment, evaluator = row.assessment, row.assessment.evaluator
    bits, split = evaluator.yardstick.reporting, evaluator.split
    target = bits.target
    if bits.secret is None or row.release.is_drawn:
        return None
    ask = bits.parts.report
    learnt, asked = (np.searchsorted(split.held, rows) for rows in (split.choosing, ask))
    beside, people = target.label[split.held], bits.people[ask]
    told = []
    for name, (secret, worth) in zip(evaluator.every_secret, bits.secrets):
        readings = [np.zeros(len(ask))]
        for predictions in assessment.guesses_of(name).values():
            for guess in guess_groups(predictions, learnt):
                groups = guess * target.classes + beside
                readings.append(
                    looked_up(
                        groups[learnt],
                        secret.label[split.choosing],
                        groups[asked],
                        secret.known[0][ask],
                        secret.label[ask],
                    )
                )
        told.append(worth * most_telling(readings[0], readings[1:], people))
    return told_most(told)
