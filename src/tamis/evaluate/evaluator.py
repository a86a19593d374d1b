"""Evaluate a release: models learn from it, attackers use it, on rows that no search has seen.

Models are trained once and predict all held-out rows once. Their predictions for one part of
these rows choose among releases, those for the other part are reported: see `Findings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.binary.records import BinaryTable, is_binary
from tamis.coarsen.ladder import Ladder
from tamis.coding import Coded, CodedFrame, coded, joined
from tamis.errors import InputError
from tamis.evaluate.bits import gains, surprise
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.retention import Retention, measured
from tamis.evaluate.rule_changes import Baseline, baseline
from tamis.evaluate.rule_measure import RuleMeasure
from tamis.learn.boosting import shares_given
from tamis.learn.columns import Features
from tamis.learn.holdout import (
    HoldOut,
    Predictions,
    RowNumbers,
    column_labels,
    fit_predict,
    label_codes,
)
from tamis.learn.whole_people import beside_all_rows, seen_whole
from tamis.notebook import by_fields
from tamis.people import People
from tamis.release import DrawnRelease, Release
from tamis.require.base import Requirement, Requirements
from tamis.require.counts import ClassCounts
from tamis.require.k import ContainmentAnonymity, KAnonymity
from tamis.risk.attackers import count_asked
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.cut import SensitiveCut, cut_into_quarters
from tamis.risk.grouping import fewest_alike, seen_together
from tamis.risk.suppression import Suppression
from tamis.rules.count import ValueLabels, table_labels
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import mine_rules
from tamis.table import Table, bare

Part = Literal["choosing", "reporting"]
"""The share of rows held out, see `HoldOut`."""
MOST_VALUES = 100
"""The most values of a sensitive column for which it can be guessed as a class."""


@dataclass(frozen=True, eq=False)
class Evaluator:
    """What all releases of a table are evaluated with, computed once.

    Parameters
    ----------
    original : Table
    split : HoldOut
    classifier : scikit-learn classifier
        The model a recipient would train.
    attackers : mapping of name to scikit-learn classifier
        The models an attacker would train to guess the sensitive column.
    random_state : int
        For rules and intervals.
    requirements : Requirements
        What is asked of people alike, by each attacker.
    suppression : Suppression, optional
        The few who may be left out of a release.
    records : BinaryTable, optional
        The 0/1 records that the original has some columns of.
    secret_weights : mapping of column to number
        What told of each secret counts, 1 for those that are not named.
    rule_measures : sequence of RuleMeasure
        Of the holder's own, taken of the rules besides those of the paper.
    """

    original: Table
    split: HoldOut
    classifier: Any
    attackers: Mapping[str, Any]
    random_state: int = 0
    requirements: Requirements = field(default_factory=Requirements)
    records: BinaryTable | None = None
    suppression: Suppression | None = None
    secret_weights: Mapping[str, float] = field(default_factory=dict)
    rule_measures: Sequence[RuleMeasure] = ()
    _met_last: list[Features] = field(default_factory=list, init=False, repr=False)
    _guessed: dict[str, dict[str, Predictions]] = field(
        default_factory=dict, init=False, repr=False
    )
    _values: dict[str, pl.Series] = field(default_factory=dict, init=False, repr=False)
    _coarse: dict[tuple[str, str], Coded] = field(default_factory=dict, init=False, repr=False)

    __repr__ = by_fields

    def __post_init__(self) -> None:
        for name, codes in self.every_secret.items():
            if (values := len(np.unique(codes))) > MOST_VALUES:
                raise InputError(
                    f"the sensitive column {name!r} has {values:,} distinct values, but at "
                    f"most {MOST_VALUES} can be guessed as classes; group its values first"
                )

    @property
    def sensitive(self) -> str:
        return self.original.sensitive or self.original.target

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The target of every row, as a number."""
        return label_codes(self.original, self.original.target)

    @cached_property
    def secrets(self) -> NDArray[Any]:
        """The sensitive value of every row; its interval if the column has many numbers."""
        cut = self.cut
        return self.labels if cut is None else cut.codes(self.original.frame[self.sensitive])

    @cached_property
    def cut(self) -> SensitiveCut | None:
        """How the sensitive column became classes; `None` if it is the target."""
        return None if self.sensitive == self.original.target else self._cut(self.sensitive)

    def _cut(self, secret: str) -> SensitiveCut:
        seen, people = self.split.seen, self.split.people_of(self.original)
        return cut_into_quarters(self.original.frame[secret][seen], people=people[seen])

    @cached_property
    def other_secrets(self) -> dict[str, NDArray[Any]]:
        """The same as `secrets` of more sensitive columns; what is told of them counts as well.

        Of the target nothing can be told, nor of a secret that may be: they are released.
        """
        frame, target = self.original.frame, self.original.target
        shown = {target, *self.original.released_secrets}
        names = [c for c in self.original.roles.also_sensitive if c not in shown]
        return {name: self._cut(name).codes(frame[name]) for name in names}

    @property
    def every_secret(self) -> dict[str, NDArray[Any]]:
        """The first secret and the others."""
        return {self.sensitive: self.secrets, **self.other_secrets}

    def told_by(self, one: str, other: str) -> float:
        """What one secret tells of another beyond the target: the share of what is unknown of it.

        Learnt from the rows that a search may see, asked of those to report on; 1 is certainty.
        """
        frame = self.original.frame
        codes = {c: self._cut(c).codes(frame[c]) for c in self.original.released_secrets}
        codes |= self.every_secret
        known, also, label = (
            np.unique(each, return_inverse=True)[1]
            for each in (self.labels, codes[one], codes[other])
        )
        parts, classes = self.yardstick.reporting.parts, int(label.max()) + 1
        both = known * (int(also.max()) + 1) + also
        before, after = (
            shares_given(label, given, parts.search, classes)[parts.report]
            for given in (known, both)
        )
        truth = label[parts.report]
        unknown = float(surprise(before, truth).mean())
        return max(0.0, float(gains(after, before, truth).mean())) / unknown if unknown else 0.0

    @cached_property
    def yardstick(self) -> BitsScorer:
        """What releases keep of the target and tell of the sensitive column."""
        secrets = None if self.cut is None else self.secrets
        whole = None if self.records is None else self.records.matrix
        own = self.secret_weights.get(self.sensitive, 1.0)
        others = [
            (codes, self.secret_weights.get(name, 1.0) / own)
            for name, codes in self.other_secrets.items()
        ]
        return BitsScorer.of(
            self.original, self.split, self.labels, secrets, self.random_state, whole, others
        )

    @cached_property
    def rules(self) -> RuleSet | None:
        """The rules a tree learns from the seen rows; none if no column gives any."""
        seen = Table(self.original.frame[self.split.seen], self.original.roles)
        try:
            return mine_rules(seen, random_state=self.random_state)
        except InputError:
            return None

    @cached_property
    def counted_rules(self) -> dict[Part, Baseline]:
        """The same rules, counted in each part of the held-out rows, which may lack a label."""
        if self.rules is None:
            return {}
        frame, target = self.original.frame, self.original.target
        labels = table_labels(frame, target)
        parts: tuple[Part, ...] = ("choosing", "reporting")
        return {
            part: baseline(self.rules, frame[self.rows(part)], target, labels=labels)
            for part in parts
        }

    def rows(self, part: Part) -> RowNumbers:
        """The rows of a part."""
        return self.split.choosing if part == "choosing" else self.split.reporting

    def places(self, part: Part) -> RowNumbers:
        """The positions of the rows of a part among all held-out rows."""
        return np.searchsorted(self.split.held, self.rows(part))

    @cached_property
    def codes(self) -> CodedFrame:
        """The columns of the original as codes, to count who is alike on all rows."""
        return CodedFrame(self.original.frame)

    def coded_form(self, column: pl.Series, form: str) -> Coded:
        """A column of all rows in a form, which is empty for the column as it is, as codes."""
        if not form:
            return self.codes[column.name]
        asked = column.name, form
        if asked not in self._coarse:
            self._coarse[asked] = coded(column)
        return self._coarse[asked]

    @cached_property
    def sample(self) -> RowNumbers:
        """The rows that models learn from or are asked about, ascending; maybe not all."""
        return np.sort(np.concatenate([self.split.seen, self.split.held]))

    def sampled(self, table: Table, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a table with the rows of the original, on the rows of `sample`."""
        frame = table.only(columns)
        return frame[self.sample] if frame.height > len(self.sample) else frame

    @cached_property
    def everything(self) -> pl.DataFrame:
        """All features on the rows of `sample`."""
        return self.sampled(self.original, self.original.features)

    @cached_property
    def seen_of_everything(self) -> pl.DataFrame:
        """The same as attackers see it, see `Assessment.seen_features`."""
        people, features = self.original.people, self.original.features
        if not people.together:
            return self.everything
        shown = self.original.only([*features, self.original.target])
        frame = beside_all_rows(shown, features, people)
        return frame[self.sample] if frame.height > len(self.sample) else frame

    def values(self, name: str) -> pl.Series:
        """The distinct values of a column of the original, found once."""
        if name not in self._values:
            self._values[name] = bare(self.original.frame[name]).unique(maintain_order=True)
        return self._values[name]

    @cached_property
    def guesses_from_everything(self) -> dict[str, Predictions]:
        """The predictions for all held-out rows by attackers who get all features."""
        return self.guesses_of_from_everything(self.sensitive)

    def guesses_of_from_everything(self, secret: str) -> dict[str, Predictions]:
        """The same of any of the secrets."""
        if secret not in self._guessed:
            self._guessed[secret] = self.attacked(self.seen_of_everything, secret=secret)
        return self._guessed[secret]

    @cached_property
    def strongest(self) -> str:
        """The attacker with all features that is right most often on the choosing rows."""
        return self.strongest_of(self.sensitive)

    def strongest_of(self, secret: str) -> str:
        """The same of any of the secrets."""
        return _strongest(self.guesses_of_from_everything(secret), self.places("choosing"))

    @cached_property
    def _everything(self) -> Features:
        return Features.of(self.everything)

    def coded(self, features: pl.DataFrame) -> Features:
        """Features as models read them; a column is coded again only where its values are new.

        Those of the original are kept, and those met last: of releases that follow each other
        many are the same.
        """
        found = Features.of(features, self._everything, *self._met_last)
        self._met_last[:] = [found]
        return found

    def attacked(
        self, features: pl.DataFrame, release: Release | None = None, *, secret: str | None = None
    ) -> dict[str, Predictions]:
        """What each attacker says of a secret of all rows held out who learns from these features.

        They are those of `sample`; only the rows of a release are learnt from, where one is given.
        `None`: the first secret.
        """
        coded = self.coded(features)
        codes = self.every_secret[secret or self.sensitive]
        return {
            name: self.predicted(attacker, coded, codes, release)
            for name, attacker in self.attackers.items()
        }

    def predicted(
        self, model: Any, features: Features, labels: NDArray[Any], release: Release | None = None
    ) -> Predictions:
        """What a model says of all rows held out; features are of `sample`, labels of all rows."""
        seen, held = self.split.seen, self.split.held
        learnt = seen if release is None else release.inside(seen)
        places = (np.searchsorted(self.sample, rows) for rows in (learnt, held))
        return fit_predict(model, features, labels[self.sample], *places)

    def assess(self, release: Release) -> Assessment:
        return Assessment(self, release)


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
        """What models are trained on, and what they predict, on the rows of the sample.

        They are trained on the release. If its columns are those of the original, or of the
        release before it was altered, with other values, they are tested on people as they
        are; coarser forms of values are the same for everybody. Synthetic rows describe no real
        person, so here people are as they are throughout. Rows that are left out are here too:
        nobody learns from them, but like all people they may be asked about.
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
        place = np.arange(learnt.height)
        place[np.searchsorted(evaluator.sample, evaluator.split.held)] += learnt.height
        return pl.concat([learnt, true], how="vertical_relaxed")[place]

    @cached_property
    def seen_features(self) -> pl.DataFrame:
        """The same as attackers see it: with all rows of a person, where these are together."""
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
        """Predictions of the target, for held-out people, by a model trained on synthetic rows."""
        drawn, true = release.evaluation_sample, release.unaltered
        held = self.evaluator.split.held
        rows = [drawn.only(drawn.features), true.only(drawn.features)[held]]
        # As declared, like the synthetic ones: 1 and not 1.0.
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
        """The predictions of the sensitive column by each attacker, for all held-out rows.

        From synthetic rows an attacker learns it if it is the target. If it is another column,
        which the rows do not have, the attackers are given the released columns of some people
        as they are: more than any synthetic rows can reveal.
        """
        return self.guesses_of(self.evaluator.sensitive)

    def guesses_of(self, secret: str) -> dict[str, Predictions]:
        """The same of any of the secrets."""
        if secret not in self._guessed:
            self._guessed[secret] = self._guesses_of(secret)
        return self._guessed[secret]

    def _guesses_of(self, secret: str) -> dict[str, Predictions]:
        release, evaluator = self.release, self.evaluator
        if isinstance(release, DrawnRelease) and secret == evaluator.original.target:
            every = evaluator.attackers.items()
            return {name: self._learnt_from(release, attacker) for name, attacker in every}
        if self.shows_everything:
            return evaluator.guesses_of_from_everything(secret)
        return evaluator.attacked(self.seen_features, release, secret=secret)

    @cached_property
    def shows_everything(self) -> bool:
        """Whether attackers see of it all that they see of everything."""
        everything = self.seen_features.equals(self.evaluator.seen_of_everything)
        return everything and not self.release.is_suppressed

    @cached_property
    def strongest(self) -> str:
        """The attacker that is right most often on the choosing rows; the first of equals."""
        return self.strongest_of(self.evaluator.sensitive)

    def strongest_of(self, secret: str) -> str:
        """The same of any of the secrets."""
        return _strongest(self.guesses_of(secret), self.evaluator.places("choosing"))

    @cached_property
    def choosing(self) -> Findings:
        """What the choice may use."""
        return Findings(self, "choosing")

    @cached_property
    def reporting(self) -> Findings:
        """What is reported; the choice does not use it."""
        return Findings(self, "reporting")

    @cached_property
    def value_labels(self) -> dict[str, ValueLabels]:
        """The values of each column in a coarser form, and the labels of their groups."""
        found = {}
        for name, form in self.release.forms.items():
            values = self.evaluator.values(name)
            labels = Ladder.from_dict(name, form.ladder).apply(values, form.level)
            found[name] = ValueLabels(values, labels)
        return found

    @cached_property
    def k_anonymity(self) -> int | None:
        """The people in the smallest group of equals; everyone if nothing known is released.

        `None` for synthetic rows: they are not people.
        """
        if self.release.is_drawn:
            return None
        return min(self.alike_in(seen) for seen in self._views)

    @cached_property
    def _views(self) -> dict[tuple[str, ...], Requirements]:
        """What is asked of groups, by the released columns that an attacker sees."""
        asked, release = self.evaluator.requirements, self.release
        known = release.table.quasi
        if not asked.several:
            return {known: asked}
        found: dict[tuple[str, ...], Requirements] = {}
        for columns, some in asked.views.items():
            seen = tuple(c for c in known if release.source(c) in columns)
            found[seen] = Requirements((*found.get(seen, ()), *some))
        return found

    def alike_in(self, columns: Sequence[str]) -> int:
        """The people in the smallest group alike in some released columns."""
        if not columns:
            return self.release.everybody
        if (known := frozenset(columns)) not in self._alike:
            self._alike[known] = fewest_alike(self._coded(columns), self.release.people)
        return self._alike[known]

    def _coded(self, columns: Sequence[str]) -> Iterator[Coded]:
        """Released columns as codes; a form that another release has is not coded again."""
        forms = self.evaluator.yardstick.forms(self.release) or {}
        for name in columns:
            column, form = self.release.table.frame[name], forms.get(name)
            yield coded(column) if form is None else self.evaluator.coded_form(column, form)

    def classes_in(self, columns: Sequence[str]) -> Coded:
        """Classes of rows alike in some released columns; one class where there are none."""
        if not columns:
            return Coded(np.zeros(self.release.table.rows, dtype=np.int64), 1)
        return seen_together(reduce(joined, self._coded(columns)), self.release.people)

    def reach(self, promise: KAnonymity) -> float:
        """What a release reaches of a promise, among equals or those who have as much."""
        contained = isinstance(promise, ContainmentAnonymity)
        alike = np.array([0 if contained else self.alike_in(promise.columns)])
        return promise.reached(ClassCounts(alike, count_holders=self.containment_with))

    @cached_property
    def reached(self) -> list[tuple[Requirement, float]]:
        """What people alike reach of all that is required besides their number.

        Nothing for synthetic rows: they are not people.
        """
        if self.release.is_drawn:
            return []
        return self.reach_each(self.evaluator.requirements.beyond_k)

    def reach_each(self, asked: Requirements) -> list[tuple[Requirement, float]]:
        """What people alike reach of some requirements of the evaluator."""
        original, release = self.evaluator.original, self.release
        found: dict[Requirement, float] = {}
        for seen, every in self._views.items():
            some = Requirements(tuple(each for each in every if each in asked))
            if not some:
                continue
            secrets = {c: release.cells(original.frame[c]) for c in some.by_secret if c}
            classes = self.classes_in(seen)
            for part, counts in count_asked(some, classes, release.people, secrets):
                found |= {each: each.reached(counts) for each in part}
        return [(each, found[each]) for each in asked]

    @property
    def lacks(self) -> str:
        """What people alike lack of that, in words."""
        short = ((each, figure) for each, figure in self.reached if each.is_short(figure))
        return next((each.named(each.lacking(figure)) for each, figure in short), "")

    def hides(self, k: int) -> bool:
        """Whether k people are alike for every attacker, or as many as that one asks for."""
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
        """The same where absences are known too; below `enough`, what some row reaches."""
        reached = self.containment or 0
        if not absences or reached < enough:
            return reached
        cells = self.release.table.only(self.release.table.features).to_numpy().astype(np.uint8)
        return absence_anonymity(cells, absences, people=self.release.people, enough=enough)


@dataclass(frozen=True, eq=False)
class Findings:
    """The predictions for one part of the held-out rows."""

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
        """The same of any of the secrets."""
        every = self.assessment.guesses_of(secret).items()
        return {name: predictions.of(self._places) for name, predictions in every}

    @cached_property
    def everything(self) -> dict[str, Predictions]:
        """The predictions by each attacker who has all features."""
        return self.everything_for(self.assessment.evaluator.sensitive)

    def everything_for(self, secret: str) -> dict[str, Predictions]:
        """The same of any of the secrets."""
        every = self.assessment.evaluator.guesses_of_from_everything(secret).items()
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


def _strongest(attacks: Mapping[str, Predictions], places: RowNumbers) -> str:
    """The attacker that is right most often on some rows; the first of equals."""
    return max(attacks, key=lambda name: int(attacks[name].right[places].sum()))
