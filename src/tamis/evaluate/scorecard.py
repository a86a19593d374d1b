"""The scorecard: releases x measures, on rows that no search has seen.

Every measure is taken twice: on the rows that the choice is based on, and on those that figures
are reported from, which no choice is based on.
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
"""Takes a measure of a release on one part of the rows; `None` where it does not apply."""


def _performance(findings: Findings) -> Figure:
    return accuracy(findings.predictions.right, findings.people)


def _pbi(findings: Findings) -> Figure | None:
    """The change of the secret of which the strongest attacker gains most."""
    found = [_pbi_of(findings, secret) for secret in findings.assessment.evaluator.every_secret]
    return max((each for each in found if each is not None), key=lambda f: f.value, default=None)


def _pbi_of(findings: Findings, secret: str) -> Figure | None:
    evaluator, assessment = findings.assessment.evaluator, findings.assessment
    now = findings.attacked_for(secret)[assessment.strongest_of(secret)]
    before = findings.everything_for(secret)[evaluator.strongest_of(secret)]
    found = accuracy_change(now.right, before.right, findings.people)
    if found is not None and assessment.shows_everything:
        return Figure(0.0)  # the baseline against itself is certain
    return found


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
    """The privacy budget spent on synthetic rows; real rows have no such bound."""
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
"""How measures are taken.

Of those of the catalogue without an entry, `Compared` has the figures; others are of the rules.
"""


COSTLY = ("performance", "auc", "f_measure", "pbi", "rule_accuracy", "rsd", "rld", "lost_rules")
"""Measures for which models are trained or rules counted: a fifth of a second a release."""


class Figures(Mapping[str, Figure | None]):
    """The figures of one release on one part of the rows, each taken when it is first asked for.

    A choice by kept and told, a report and a manifest ask for all figures of few releases alone.
    """

    def __init__(
        self, names: Sequence[str], findings: Findings, bits: Mapping[str, Figure | None]
    ) -> None:
        self._names, self._findings, self._found = names, findings, dict(bits)

    def renewed(self, bits: Mapping[str, Figure | None]) -> Figures:
        """The same with other bits; what was taken stays."""
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
    """One release and its figures by the name of the measure.

    Attributes
    ----------
    assessment : Assessment
    figures : mapping of measure to Figure
        On the reporting rows: what is printed and published.
    for_choice : mapping of measure to Figure
        On the choosing rows: used for limits, ranks and the choice, and nothing else.
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
        """The number that is reported."""
        figure = self.figures[measure]
        return None if figure is None else figure.value

    def value_for_choice(self, measure: str) -> float | None:
        """The number that the choice is based on."""
        figure = self.for_choice[measure]
        return None if figure is None else figure.value

    def to_dict(self, without: Collection[str] = ()) -> dict[str, Any]:
        """All figures as plain values; those of some measures may be left out, as `None`."""
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
        Releases everything.
    floor : Row
        Releases nothing: the majority guess.
    candidates : tuple of Row
        What was proposed.
    measures : tuple of MeasureRecord
    compared : Compared
        What each keeps and tells: the baseline, the floor, then what was proposed.
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
            found = [(r.figures if rows == "report" else r.for_choice)[measure] for r in self.every]
            for end, ending in ends.items():
                numbers = [None if f is None else getattr(f, end) for f in found]
                columns.append(pl.Series(measure + ending, numbers, pl.Float64))
        return pl.DataFrame(columns)

    def plot(self) -> Picture:
        """Every release by what it keeps of the target and tells of the sensitive column."""
        return kept_told_picture(self)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The baseline, then what was proposed; the floor is not a release."""
        return (self.baseline, *self.candidates)

    @property
    def every(self) -> tuple[Row, ...]:
        """All rows as `compared` numbers them: everything, nothing, then what was proposed."""
        return (self.baseline, self.floor, *self.candidates)

    def with_readings(self, readings: Mapping[int, Gains]) -> Scorecard:
        """The same where others have read releases, by their numbers, on the rows to report."""
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
        """The same where the attackers were tried on some releases: told is what they read, too."""
        found = {self.number(row): _guessed(row) for row in rows}
        return self.with_readings({n: read for n, read in found.items() if read is not None})

    def number(self, row: Row) -> int:
        """The place of a release in `compared`."""
        return self.every.index(row)

    def to_dict(
        self, shown: Collection[Row] | None = None, asked: Collection[str] = ()
    ) -> dict[str, Any]:
        """All figures as plain values, under stable names.

        Parameters
        ----------
        shown : collection of Row, optional
            Releases to take every figure of, besides everything and nothing. Of the others those
            that take long (`COSTLY`, and further ones of rules) are `None`. Without it all are
            taken.
        asked : collection of str
            Measures to take of every release all the same.
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
"""The heads of `line_of`."""


def line_of(row: Row) -> list[object]:
    """A release and its main figures, for a page."""
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
    """Measure everything, nothing and some releases on rows that no search has seen.

    What is kept and told is measured now, all else when it is asked for.
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
    """What is read from the guesses of the attackers, who are tried on a release for it.

    As far as they were right on the rows to choose by, on the rows to report.
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
        found = [np.zeros(len(ask))]
        for predictions in assessment.guesses_of(name).values():
            for said in guess_groups(predictions, learnt):
                groups = said * target.classes + beside
                found.append(
                    looked_up(
                        groups[learnt],
                        secret.label[split.choosing],
                        groups[asked],
                        secret.known[0][ask],
                        secret.label[ask],
                    )
                )
        told.append(worth * most_telling(found[0], found[1:], people))
    return told_most(told)
