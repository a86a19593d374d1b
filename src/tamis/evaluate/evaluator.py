"""Build the evaluator: the models, the attackers and the hold-out that releases are measured with.

Models are trained once and predict all held-out rows once. Predictions for one part of these rows
choose among releases, those for the other part are reported: see `Findings` in `assessment.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import RowNumbers
from tamis.binary.records import BinaryTable
from tamis.coding import Coded, CodedFrame, coded
from tamis.errors import InputError
from tamis.evaluate.bits import gains, surprise
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.rule_changes import Baseline, baseline
from tamis.evaluate.rule_measure import RuleMeasure
from tamis.learn.boosting import shares_given
from tamis.learn.columns import Features
from tamis.learn.holdout import HoldOut, Predictions, fit_predict, label_codes
from tamis.learn.whole_people import beside_all_rows
from tamis.notebook import by_fields
from tamis.release import Release
from tamis.require.base import Requirements
from tamis.risk.cut import SensitiveCut, cut_into_quarters
from tamis.risk.suppression import Suppression
from tamis.rules.count import table_labels
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import mine_rules
from tamis.table import Table, bare

Part = Literal["choosing", "reporting"]
"""A part of the held-out rows, see `HoldOut`."""
MOST_VALUES = 100
"""The most values of a sensitive column for which it can be guessed as a class."""


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Everything that the evaluation of all releases of a table shares, computed once.

    Parameters
    ----------
    original : Table
    split : HoldOut
    classifier : scikit-learn classifier
        The model a recipient would train.
    attackers : mapping of name to scikit-learn classifier
        The models an attacker would train to guess the sensitive column.
    random_state : int
        For the split of kept and told, and for rules.
    requirements : Requirements
        What groups must meet, for each attacker.
    suppression : Suppression, optional
        How many people may be suppressed, and how they are selected.
    records : BinaryTable, optional
        The full 0/1 records, if the original has only some of their columns.
    secret_weights : mapping of column to number
        Weights of the secrets in told; 1 for those not named.
    rule_measures : sequence of RuleMeasure
        The holder's own measures of rules, besides those of the paper.
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
        """`secrets` of further sensitive columns, by name; telling them counts as well.

        Without the target and secrets that are released themselves: a release of a value cannot be
        blamed for telling it.
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
        """Share of one secret's uncertainty, given the target, that another secret removes.

        Learnt from the rows that a search may see, measured on the reporting rows; 1 is certainty.
        """
        frame = self.original.frame
        codes = {c: self._cut(c).codes(frame[c]) for c in self.original.released_secrets}
        codes |= self.every_secret
        known, also, label = (
            np.unique(each, return_inverse=True)[1]
            for each in (self.labels, codes[one], codes[other])
        )
        parts, classes = self.yardstick.reporting.parts, int(label.max()) + 1
        both = known * (int(also.max()) + 1) + also  # target and secret packed into one code
        before, after = (
            shares_given(label, given, parts.search, classes)[parts.report]
            for given in (known, both)
        )
        truth = label[parts.report]
        unknown = float(surprise(before, truth).mean())
        return max(0.0, float(gains(after, before, truth).mean())) / unknown if unknown else 0.0

    @cached_property
    def yardstick(self) -> BitsScorer:
        """Scorer of what releases keep of the target and tell of the sensitive column."""
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
        """The rules that a tree learns from the seen rows; `None` if no column gives any."""
        seen = Table(self.original.frame[self.split.seen], self.original.roles)
        try:
            return mine_rules(seen, random_state=self.random_state)
        except InputError:
            return None

    @cached_property
    def counted_rules(self) -> dict[Part, Baseline]:
        """Counts of the rules in each part of the held-out rows.

        Labels are those of the whole table, since a part may lack a rare one.
        """
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
        """The columns of the original as codes, to count equivalence classes over all rows."""
        return CodedFrame(self.original.frame)

    def coded_form(self, column: pl.Series, form: str) -> Coded:
        """Codes of a released column over all rows, cached by form; `""` is the column as it is."""
        if not form:
            return self.codes[column.name]
        asked = column.name, form
        if asked not in self._coarse:
            self._coarse[asked] = coded(column)
        return self._coarse[asked]

    @cached_property
    def sample(self) -> RowNumbers:
        """Rows that models train on or predict, ascending; large tables are sampled."""
        return np.sort(np.concatenate([self.split.seen, self.split.held]))

    def sampled(self, table: Table, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a table of all rows, restricted to the rows of `sample`."""
        frame = table.only(columns)
        return frame[self.sample] if frame.height > len(self.sample) else frame

    @cached_property
    def everything(self) -> pl.DataFrame:
        """All features on the rows of `sample`."""
        return self.sampled(self.original, self.original.features)

    @cached_property
    def seen_of_everything(self) -> pl.DataFrame:
        """`everything` as attackers see it, see `Assessment.seen_features`."""
        people, features = self.original.people, self.original.features
        if not people.together:
            return self.everything
        shown = self.original.only([*features, self.original.target])
        frame = beside_all_rows(shown, features, people)
        return frame[self.sample] if frame.height > len(self.sample) else frame

    def values(self, name: str) -> pl.Series:
        """The distinct values of a column of the original, cached."""
        if name not in self._values:
            self._values[name] = bare(self.original.frame[name]).unique(maintain_order=True)
        return self._values[name]

    def guesses_from_everything(self, secret: str) -> dict[str, Predictions]:
        """Guesses of a secret for all held-out rows, by attackers with all features."""
        if secret not in self._guessed:
            self._guessed[secret] = self.attacked(self.seen_of_everything, secret=secret)
        return self._guessed[secret]

    @cached_property
    def strongest(self) -> str:
        """Name of the attacker with all features who is most accurate on the choosing rows."""
        return self.strongest_of(self.sensitive)

    def strongest_of(self, secret: str) -> str:
        """Like `strongest`, for any secret."""
        return strongest_attack(self.guesses_from_everything(secret), self.places("choosing"))

    @cached_property
    def _everything(self) -> Features:
        return Features.of(self.everything)

    def coded(self, features: pl.DataFrame) -> Features:
        """Features coded for models, reusing codes of unchanged columns.

        The codes of the original and of the previous call are kept: consecutive releases have many
        columns in common.
        """
        result = Features.of(features, self._everything, *self._met_last)
        self._met_last[:] = [result]
        return result

    def attacked(
        self, features: pl.DataFrame, release: Release | None = None, *, secret: str | None = None
    ) -> dict[str, Predictions]:
        """Predictions of a secret for all held-out rows, by each attacker trained on `features`.

        The features are those of the rows of `sample`. If a release is given, attackers train on
        its rows only. `secret=None` is the main secret.
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
        """Predictions for all held-out rows; features are of `sample`, labels of all rows."""
        seen, held = self.split.seen, self.split.held
        learnt = seen if release is None else release.inside(seen)
        places = (np.searchsorted(self.sample, rows) for rows in (learnt, held))
        return fit_predict(model, features, labels[self.sample], *places)


def strongest_attack(attacks: Mapping[str, Predictions], places: RowNumbers) -> str:
    """Name of the attacker who is most accurate on some rows; ties go to the first."""
    return max(attacks, key=lambda name: int(attacks[name].right[places].sum()))
