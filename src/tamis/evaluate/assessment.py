"""One release under evaluation: predictions, attackers' guesses, and what its groups reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
import polars as pl

from tamis.arrays import RowNumbers
from tamis.binary.records import is_binary
from tamis.coarsen.ladder import Ladder
from tamis.coding import Coded, coded, joined
from tamis.evaluate.evaluator import Evaluator, Part, strongest_attack
from tamis.evaluate.retention import Retention, measured
from tamis.learn.holdout import Predictions, column_labels, fit_predict
from tamis.learn.whole_people import seen_whole
from tamis.notebook import by_fields
from tamis.people import People
from tamis.release import DrawnRelease, Release
from tamis.require.base import Requirement, Requirements
from tamis.require.counts import ClassCounts
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.attackers import count_asked
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.grouping import seen_together, sizes_of
from tamis.rules.count import ValueLabels


@dataclass(frozen=True, eq=False)
class Assessment:
    """One release under evaluation; each result is computed when first needed."""

    evaluator: Evaluator
    release: Release
    _alike: dict[frozenset[str], int] = field(default_factory=dict, init=False, repr=False)
    _guessed: dict[str, dict[str, Predictions]] = field(
        default_factory=dict, init=False, repr=False
    )

    __repr__ = by_fields

    @cached_property
    def model_features(self) -> pl.DataFrame:
        """Features of the sampled rows: released values to train on, true ones to test on.

        Where values were altered, held-out rows have their true values, since a model is used on
        real people. Coarser forms are the same for training and testing. Synthetic rows describe
        no real person, so all rows have their true values there. Suppressed rows are included:
        no model learns from them, but they are tested on like everybody else.
        """
        evaluator, table = self.evaluator, self.release.unsuppressed.table
        unaltered = self.release.true_values if self.release.is_altered else evaluator.original
        if self.release.is_drawn:
            return evaluator.sampled(unaltered, table.features)
        learnt = evaluator.sampled(table, table.features)
        if self.release.forms:
            return learnt
        if not set(table.features) <= set(unaltered.features):
            return learnt
        true = evaluator.sampled(unaltered, table.features)
        if learnt.equals(true):
            return learnt
        # Held-out rows are taken from the second half of the stacked frame, the true values.
        place = np.arange(learnt.height)
        place[np.searchsorted(evaluator.sample, evaluator.split.held)] += learnt.height
        return pl.concat([learnt, true], how="vertical_relaxed")[place]

    @cached_property
    def seen_features(self) -> pl.DataFrame:
        """`model_features` as attackers see them: each row beside the other rows of its person.

        They differ only where a release says which rows belong together.
        """
        if self.release.is_drawn or not self.release.people.together:
            return self.model_features
        return Assessment(self.evaluator, seen_whole(self.release)).model_features

    @cached_property
    def predictions(self) -> Predictions:
        """Predictions of the target, for all held-out rows, by a model trained on the release."""
        if isinstance(self.release, DrawnRelease):
            return self._learnt_from(self.release, self.evaluator.classifier)
        evaluator = self.evaluator
        features = evaluator.coded(self.model_features)
        return evaluator.predicted(evaluator.classifier, features, evaluator.labels, self.release)

    def _learnt_from(self, release: DrawnRelease, model: Any) -> Predictions:
        """Predictions of the target for held-out people, by a model trained on synthetic rows."""
        drawn, true = release.evaluation_sample, release.unaltered
        held = self.evaluator.split.held
        rows = [drawn.only(drawn.features), true.only(drawn.features)[held]]
        # Labels in the declared type, like those of the synthetic rows: 1 and not 1.0.
        truth = column_labels(true, drawn.target)[held]
        labels = np.concatenate([column_labels(drawn, drawn.target), truth])
        places = np.arange(len(labels))
        return fit_predict(
            model,
            self.evaluator.coded(pl.concat(rows, how="vertical_relaxed")),
            labels,
            places[: drawn.rows],
            places[drawn.rows :],
        )

    @cached_property
    def guesses(self) -> dict[str, Predictions]:
        """Guesses of the sensitive column by each attacker, for all held-out rows.

        Synthetic rows have the target but no other secret. For another secret, attackers train on
        the true values of the released columns: more than any synthetic rows can reveal.
        """
        return self.guesses_of(self.evaluator.sensitive)

    def guesses_of(self, secret: str) -> dict[str, Predictions]:
        """Guesses of `secret` by each attacker, for all held-out rows."""
        if secret not in self._guessed:
            self._guessed[secret] = self._guesses_of(secret)
        return self._guessed[secret]

    def _guesses_of(self, secret: str) -> dict[str, Predictions]:
        release, evaluator = self.release, self.evaluator
        if isinstance(release, DrawnRelease) and secret == evaluator.original.target:
            every = evaluator.attackers.items()
            return {name: self._learnt_from(release, attacker) for name, attacker in every}
        if self.shows_everything:
            return evaluator.guesses_from_everything(secret)
        return evaluator.attacked(self.seen_features, release, secret=secret)

    @cached_property
    def shows_everything(self) -> bool:
        """Whether attackers see as much as if all columns were released as they are."""
        everything = self.seen_features.equals(self.evaluator.seen_of_everything)
        return everything and not self.release.is_suppressed

    @cached_property
    def strongest(self) -> str:
        """Name of the attacker with the highest accuracy on the choosing rows; ties: the first."""
        return self.strongest_of(self.evaluator.sensitive)

    def strongest_of(self, secret: str) -> str:
        """Like `strongest`, for any secret."""
        return strongest_attack(self.guesses_of(secret), self.evaluator.places("choosing"))

    @cached_property
    def choosing(self) -> Findings:
        """Results on the rows that the choice may use."""
        return Findings(self, "choosing")

    @cached_property
    def reporting(self) -> Findings:
        """Results on the rows to report on, which the choice never uses."""
        return Findings(self, "reporting")

    @cached_property
    def value_labels(self) -> dict[str, ValueLabels]:
        """For each generalised column, its original values and the labels they became."""
        by_column = {}
        for name, form in self.release.forms.items():
            values = self.evaluator.values(name)
            labels = Ladder.from_dict(name, form.ladder).apply(values, form.level)
            by_column[name] = ValueLabels(values, labels)
        return by_column

    @cached_property
    def k_anonymity(self) -> int | None:
        """Size of the smallest equivalence class, in people; for several attackers the smallest.

        Everybody, if no quasi-identifier is released; `None` for synthetic rows, which are not
        people.
        """
        if self.release.is_drawn:
            return None
        return min(self.alike_in(seen) for seen in self._views)

    @cached_property
    def _views(self) -> dict[tuple[str, ...], Requirements]:
        """Requirements by the released columns that an attacker knows; equal views are merged."""
        asked, release = self.evaluator.requirements, self.release
        known = release.table.quasi
        if not asked.several:
            return {known: asked}
        views: dict[tuple[str, ...], Requirements] = {}
        for columns, required in asked.views.items():
            seen = tuple(c for c in known if release.source(c) in columns)
            views[seen] = Requirements((*views.get(seen, ()), *required))
        return views

    def alike_in(self, columns: Sequence[str]) -> int:
        """Size of the smallest equivalence class of some released columns, in people."""
        people = self.release.people
        if not columns and not people.together:
            return self.release.everybody
        if (known := frozenset(columns)) not in self._alike:
            self._alike[known] = int(sizes_of(self.classes_in(columns), people).min())
        return self._alike[known]

    def _coded(self, columns: Sequence[str]) -> Iterator[Coded]:
        """Released columns as codes; forms that several releases share are coded once."""
        forms = self.evaluator.yardstick.forms(self.release) or {}
        for name in columns:
            column, form = self.release.table.frame[name], forms.get(name)
            yield coded(column) if form is None else self.evaluator.coded_form(column, form)

    def classes_in(self, columns: Sequence[str]) -> Coded:
        """Equivalence classes of rows by some released columns; one class if there are none."""
        rows = self.release.table.rows
        known = reduce(joined, self._coded(columns)) if columns else Coded(np.zeros(rows, int), 1)
        return seen_together(known, self.release.people)

    def reach(self, promise: KAnonymity) -> float:
        """The k that the release reaches: by equal rows, or by containment for 0/1 records."""
        contained = isinstance(promise, ContainmentAnonymity)
        alike = np.array([0 if contained else self.alike_in(promise.columns)])
        return promise.reached(ClassCounts(alike, count_holders=self.containment_with))

    @cached_property
    def reached(self) -> list[tuple[Requirement, float]]:
        """What the groups reach of each requirement beyond k.

        Empty for synthetic rows, which are not people.
        """
        if self.release.is_drawn:
            return []
        return self.reach_each(self.evaluator.requirements.beyond_k)

    def reach_each(self, asked: Requirements) -> list[tuple[Requirement, float]]:
        """What the groups reach of each requirement in `asked`, at the worst over all attackers."""
        original, release = self.evaluator.original, self.release
        reached: dict[Requirement, float] = {}
        for seen, required in self._views.items():
            wanted = Requirements(tuple(each for each in required if each in asked))
            if not wanted:
                continue
            secrets = {c: release.cells(original.frame[c]) for c in wanted.by_secret if c}
            classes = self.classes_in(seen)
            for part, _, counts in count_asked(wanted, classes, release.people, secrets):
                for each in part:
                    figure = each.reached(counts)
                    reached[each] = each.worst([figure, reached.get(each, figure)])
        return [(each, reached[each]) for each in asked]

    @property
    def lacks(self) -> str:
        """The first requirement that is not met, in words; empty if all are met."""
        short = ((each, figure) for each, figure in self.reached if each.is_short(figure))
        return next((each.named(each.lacking(figure)) for each, figure in short), "")

    def hides(self, k: int) -> bool:
        """Whether every class has k people, or, of several attackers, the k set for each."""
        if self.release.is_drawn or not self.evaluator.requirements.several:
            return (self.k_anonymity or 0) >= k
        return all(self.alike_in(seen) >= asked.k for seen, asked in self._views.items())

    @cached_property
    def containment(self) -> int | None:
        """The containment anonymity of a 0/1 release."""
        table = self.release.table
        if self.release.is_drawn or not is_binary(table):
            return None
        cells = table.only(table.features).to_numpy().astype(np.uint8)
        return containment_anonymity(cells, people=self.release.people)

    def containment_with(self, absences: int, enough: int) -> int:
        """Containment anonymity against attackers who also know some absences.

        A result below `enough` is what some row reaches, not the minimum over all rows. Knowing
        absences only lowers it, so nothing is searched where containment alone is below `enough`.
        """
        reached = self.containment or 0
        if not absences or reached < enough:
            return reached
        cells = self.release.table.only(self.release.table.features).to_numpy().astype(np.uint8)
        return absence_anonymity(cells, absences, people=self.release.people, enough=enough)


@dataclass(frozen=True, eq=False)
class Findings:
    """The predictions for one part of the held-out rows, choosing or reporting."""

    assessment: Assessment
    part: Part

    __repr__ = by_fields

    @cached_property
    def predictions(self) -> Predictions:
        """The predictions of the target by a model trained on the release."""
        return self.assessment.predictions.of(self._places)

    @cached_property
    def attacked(self) -> dict[str, Predictions]:
        """The predictions of the sensitive column by each attacker who has the release."""
        return self.attacked_for(self.assessment.evaluator.sensitive)

    def attacked_for(self, secret: str) -> dict[str, Predictions]:
        """Guesses of `secret` by each attacker who has the release."""
        every = self.assessment.guesses_of(secret).items()
        return {name: predictions.of(self._places) for name, predictions in every}

    @cached_property
    def everything(self) -> dict[str, Predictions]:
        """The predictions by each attacker who has all features."""
        return self.everything_for(self.assessment.evaluator.sensitive)

    def everything_for(self, secret: str) -> dict[str, Predictions]:
        """Guesses of `secret` by each attacker who has all features."""
        every = self.assessment.evaluator.guesses_from_everything(secret).items()
        return {name: predictions.of(self._places) for name, predictions in every}

    @cached_property
    def people(self) -> People:
        """The person each row belongs to."""
        evaluator = self.assessment.evaluator
        return evaluator.split.people_of(evaluator.original)[evaluator.rows(self.part)]

    @cached_property
    def retention(self) -> Retention | None:
        """How much of the rules of these rows the release keeps."""
        evaluator, release = self.assessment.evaluator, self.assessment.release
        before = evaluator.counted_rules.get(self.part)
        if before is None:
            return None
        rows = release.inside(evaluator.rows(self.part))
        if not len(rows):
            return None
        if isinstance(release, DrawnRelease):
            frame = release.evaluation_sample.frame
        else:
            frame = release.unsuppressed.table.frame[rows]
        return measured(
            before,
            frame,
            measures=evaluator.rule_measures,
            coarser=self.assessment.value_labels,
        )

    @property
    def _places(self) -> RowNumbers:
        return self.assessment.evaluator.places(self.part)
