"""Attribute inference: a person's secret, and columns that were held back or altered.

Where a column is released, the attacker knows some columns of a person and learns the rest from the
released rows. Where it is held back, the attacker is taken to know it for everybody else, and to
know the released columns of the person. Altered values are guessed by an attacker who knows how
they were altered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Codes, Floats, RowNumbers
from tamis.attack.learners import LEARNERS, SMALL_BOOSTING, Known, strongest_learner
from tamis.attack.linkage import pattern_numbers
from tamis.attack.scene import MOST_TRIED, AttackScore, Scene, scored
from tamis.catalogue.methods import shown_model
from tamis.coding import nominal_text
from tamis.evaluate.bits import gains, mean
from tamis.evaluate.bits_scorer import figure
from tamis.evaluate.close_look import Group, largest_gains, largest_group, surest
from tamis.evaluate.figure import auc
from tamis.learn.boosting import shares, shares_given
from tamis.learn.holdout import Predictions, column_labels
from tamis.people import People
from tamis.risk.cut import SensitiveCut, cut_into_quarters, cut_sensitive
from tamis.table import Table, only

MOST_CLASSES = 100
"""Columns with more classes than this are not attacked."""
K = 5
"""The fewest people in a group whose mean is reported."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A column to guess, as classes numbered from 0 that several tables share."""

    column: str
    original: Codes
    classes: int
    cut: SensitiveCut

    def of(self, table: Table) -> Codes:
        """The classes of another table's rows; values not in the original get the last class."""
        codes = self.cut.codes(_like(table.frame[self.column], self._like))
        return np.asarray(np.minimum(codes, self.classes - 1))

    @property
    def _like(self) -> pl.DataType:
        return pl.Float64() if self.cut.points else pl.String()


def hidden(table: Table, column: str) -> Hidden | None:
    """A column of a table as classes; `None` if it has only one, or too many."""
    series = table.frame[column]
    numeric = series.dtype.is_numeric()
    cut = cut_into_quarters(series)
    if not cut.points:
        series = _like(series, pl.String())
        cut = cut_sensitive(series, _labels(table, column), "none")
    codes = cut.codes(_like(series, pl.Float64()) if cut.points and numeric else series)
    classes = int((len(cut.points) or len(cut.values) - 1) + 3)
    if not 1 < len(np.unique(codes)) <= MOST_CLASSES:
        return None
    return Hidden(column, codes, classes, cut)


def _labels(table: Table, column: str) -> NDArray[Any]:
    target = table.roles.target
    if target is None or target == column:
        return np.zeros(table.rows, dtype=np.int64)
    return column_labels(table, target)


def _like(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Cells cast to one type; whole numbers become the same text whatever type a file gave them."""
    if dtype == pl.String() and series.dtype.is_float():
        return nominal_text(series)
    return series.cast(dtype)


def inference(scene: Scene) -> list[AttackScore]:
    """Attackers on the secret: without the target of a person, and with it.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=600)
    >>> scores = inference(Scene(table, table.select(["viral_load_test"])))
    >>> [score.attacker for score in scores]
    ['inference of hiv', 'inference of hiv, target known']
    """
    column = scene.secret_column
    if column is None or column not in scene.original.frame.columns:
        return []
    target = scene.original.roles.target
    ways = [False] if target in (None, column) else [False, True]
    scores = [infer(scene, column, with_target) for with_target in ways]
    return [score for score in scores if score is not None]


def infer(
    scene: Scene,
    column: str,
    with_target: bool = False,
    learners: Sequence[str] = LEARNERS,
    kind: str = "inference",
) -> AttackScore | None:
    """The score of the strongest learner on a column; `None` if it has no classes to guess."""
    secret = hidden(scene.original, column)
    if secret is None:
        return None
    setting = _Setting(scene, secret, with_target)
    if len(setting.report) < 2:
        return None
    name, predictions, figures = setting.about_members(learners)
    control = setting.about_control(name)
    words = ", target known" if with_target else ""
    return scored(
        f"{kind} of {column}{words}",
        f"guesses {column} from {setting.source}"
        + (" and the person's target" if with_target else ""),
        predictions.predicted == predictions.truth,
        guess=setting.guess,
        control=control,
        people=setting.whose(setting.report),
        details={"learner": shown_model(name), **figures},
    )


@dataclass(frozen=True, eq=False)
class _Setting:
    """One attack on one column: its training rows, and the people it is tried on."""

    scene: Scene
    secret: Hidden
    with_target: bool

    @property
    def released(self) -> bool:
        return self.secret.column in self.scene.columns

    @property
    def source(self) -> str:
        if self.released:
            return "what is known of a person and the released rows"
        return "the released columns of a person, and the secrets of the others"

    @property
    def columns(self) -> list[str]:
        """The columns that the attacker knows of a person."""
        scene, target = self.scene, self.scene.original.roles.target
        given = scene.known_columns if self.released else scene.columns
        known = [c for c in given if c not in (self.secret.column, target)]
        return [*known, str(target)] if self.with_target and target in scene.columns else known

    @cached_property
    def asked(self) -> RowNumbers:
        """Rows of the people it is tried on; at most a third where the others are trained on."""
        scene = self.scene
        return scene.tried if self.released else scene.some(min(scene.most, _third(scene)))

    @property
    def choose(self) -> NDArray[np.intp]:
        """Places of the people by whom the learner is chosen: every second person.

        The others report, so that the choice does not make the figures too high.
        """
        return self._half(0)

    @property
    def report(self) -> NDArray[np.intp]:
        return self._half(1)

    def _half(self, which: int) -> NDArray[np.intp]:
        number = self.scene.original.people[self.asked].codes
        return np.flatnonzero(number % 2 == which)

    def whose(self, places: NDArray[np.intp]) -> People:
        return self.scene.original.people[self.asked[places]]

    def _known(self, ask: pl.DataFrame, *, without: bool) -> Known:
        scene, columns = self.scene, self.columns
        if self.released:
            table = scene.without if without and scene.without is not None else scene.release
            learn, label = only(table.frame, columns), self.secret.of(table)
        else:
            kept = np.setdiff1d(scene.inside, self.asked)
            learn, label = only(scene.original.frame, columns)[kept], self.secret.original[kept]
        known, asked = (_texts(frame, scene) for frame in (learn, only(ask, columns)))
        return Known(known, label, asked, len(ask), self.secret.classes, scene.random_state)

    def _baseline(self, label: Codes, rows: NDArray[Any], target: Codes | None) -> Floats:
        """Probabilities without a release: shares of the classes, given the target if known."""
        classes = self.secret.classes
        if target is None:
            return np.tile(shares(label, classes), (len(rows), 1))
        every = np.arange(len(self.secret.original))
        return np.asarray(shares_given(self.secret.original, target, every, classes)[rows])

    @cached_property
    def _target(self) -> Codes | None:
        if not self.with_target:
            return None
        labels = column_labels(self.scene.original, self.scene.original.target)
        return np.unique(labels, return_inverse=True)[1]

    @property
    def guess(self) -> float:
        """Accuracy of the most frequent class, given the target if known."""
        rows = self.asked[self.report]
        baseline = self._baseline(self.secret.original, rows, self._target)
        return float((baseline.argmax(axis=1) == self.secret.original[rows]).mean())

    def about_members(self, learners: Sequence[str]) -> tuple[str, Predictions, dict[str, Any]]:
        """The strongest learner, its predictions for the people who report, and its figures."""
        ask, truth = self.scene.original.frame[self.asked], self.secret.original[self.asked]
        known = self._known(ask, without=False)
        baseline = self._baseline(self.secret.original, self.asked, self._target)
        name, p = strongest_learner(known, truth, baseline, self.choose, learners)
        report = self.report
        figures = self._told(p[report], baseline[report], truth[report])
        return name, _predictions(p[report], truth[report]), figures

    def about_control(self, name: str) -> NDArray[np.bool_] | None:
        """Whether the same learner is right about people who are not in the release."""
        table = self.scene.control_table
        if table is None or self.secret.column not in table.frame.columns:
            return None
        rows = self.scene.control_tried
        truth = self.secret.of(table)[rows]
        p = self._known(table.frame[rows], without=True).by(name)
        return np.asarray(p.argmax(axis=1) == truth)

    def _told(self, p: Floats, baseline: Floats, truth: Codes) -> dict[str, Any]:
        """The figures of an attack, from its predictions and the baseline's."""
        bits, whose = gains(p, baseline, truth), self.whose(self.report)
        area, group = auc(_predictions(p, truth), whose), self._worst_group(bits, whose)
        return {
            "bits": figure(mean(bits, whose)).to_dict(),
            "largest_gain": float(largest_gains(bits, whose, most=1)[0]),
            "auc": area and area.to_dict(),
            "surest": _surest(p, truth),
            "rarest": _rarest(p, baseline, truth),
            "worst_group": group and {"people": group.people, "bits": group.gain.to_dict()},
        }

    def _worst_group(self, bits: Floats, people: People) -> Group | None:
        """The group with the largest mean gain, of people alike in all known columns or in one."""
        scene = self.scene
        places = [scene.columns.index(c) for c in self.columns]
        if not places:
            return None
        cells = scene.cells.original[self.asked[self.report]][:, places]
        ways = [
            pattern_numbers(cells),
            *(pattern_numbers(cells[:, [c]]) for c in range(len(places))),
        ]
        # The remainder is the grouping, so that groups of different ones never share a number.
        groups = np.concatenate([way * len(ways) + i for i, way in enumerate(ways)])
        whose = np.tile(people.codes, len(ways))
        return largest_group(np.tile(bits, len(ways)), groups, K, whose)


def _third(scene: Scene) -> int:
    return max(4, scene.original.everybody // 3)


def _texts(frame: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Columns as numbers where both tables have numbers, else as texts."""
    nominal = dict(zip(scene.columns, scene.cells.nominal))
    return pl.DataFrame(
        [s.cast(pl.String if nominal[s.name] else pl.Float64) for s in frame.get_columns()]
    )


def _predictions(p: Floats, truth: Codes) -> Predictions:
    classes = np.arange(p.shape[1])
    return Predictions(classes, p.argmax(axis=1), truth, p)


def _rarest_of(truth: Codes) -> int | None:
    """The rarest class, which mostly is the sensitive one; `None` if there is only one."""
    present, counts = np.unique(truth, return_counts=True)
    return None if len(present) < 2 else int(present[np.argmin(counts)])


def _rarest(p: Floats, baseline: Floats, truth: Codes) -> dict[str, Any] | None:
    """The share of people with the rarest class that is named, by the attacker and by guessing."""
    rarest = _rarest_of(truth)
    if rarest is None:
        return None
    has = truth == rarest
    return {
        "people": int(has.sum()),
        "named": named(p[:, rarest], has),
        "guess": named(baseline[:, rarest], has),
    }


def named(likely: Floats, has: NDArray[np.bool_]) -> float:
    """Recall of an attacker who names as many people as have something, the likeliest first.

    Ties at the last place are broken at random; the result is the expected value.

    >>> named(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
    0.75
    """
    amount = int(has.sum())
    if not amount:
        return 0.0
    least = np.sort(likely)[-amount]
    above, equal = likely > least, likely == least
    chance = (amount - above.sum()) / equal.sum()
    return float((has[above].sum() + chance * has[equal].sum()) / amount)


def _surest(p: Floats, truth: Codes) -> list[dict[str, Any]]:
    """Precision and recall about the rarest class."""
    rarest = _rarest_of(truth)
    if rarest is None:
        return []
    return [asdict(part) for part in surest(p[:, rarest], truth == rarest)]


QUICK_LEARNERS = ("nb", SMALL_BOOSTING)
"""Fewer learners than for a secret, since every column is attacked."""
MOST_COLUMNS = 8
"""The most columns that are attacked."""

Alter = Callable[[Table, int], Table]
"""Alters a table by public settings, given a seed."""


def reconstruction(scene: Scene) -> list[AttackScore]:
    """Attackers on the columns that were held back, except the secret.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=300)
    >>> release = table.select(table.features[:-2])
    >>> [score.attacker for score in reconstruction(Scene(table, release))]
    ['reconstruction of viral_load_test', 'reconstruction of cd4_count']
    """
    back = [c for c in scene.original.features if c not in scene.release.frame.columns]
    named = [c for c in back if c != scene.secret_column][:MOST_COLUMNS]
    scores = [infer(scene, c, learners=QUICK_LEARNERS, kind="reconstruction") for c in named]
    return [score for score in scores if score is not None]


def undo(
    original: Table, alter: Alter, *, most: int = MOST_TRIED, random_state: int = 0
) -> list[AttackScore]:
    """Attackers who know how values were altered, and guess the true ones.

    They alter the released rows once more in the same way, learn from the pair what a value was
    before, and apply this to the release. There is one score for each of the first altered columns:
    how often the true value is guessed, or the true interval of a numeric column.

    >>> from tamis.datasets import patients
    >>> from tamis.perturb.noise import UniformNoise
    >>> alter = lambda table, seed: UniformNoise(0.2, random_state=seed).fit_transform(table)
    >>> scores = undo(patients(rows=400).select(["sex", "ward"]), alter)
    >>> [score.attacker for score in scores]
    ['reconstruction of altered sex', 'reconstruction of altered ward']
    """
    released = alter(original, random_state + 1)
    again = alter(released, random_state + 2)
    changed = [
        c
        for c in original.features
        if c in released.frame.columns
        and not original.frame[c].equals(released.frame[c], check_dtypes=False)
    ]
    rows = np.sort(np.random.default_rng(random_state).permutation(original.rows)[:most])
    scores = [_undone(original, released, again, c, rows) for c in changed[:MOST_COLUMNS]]
    return [score for score in scores if score is not None]


def _undone(
    original: Table, released: Table, again: Table, column: str, rows: np.ndarray
) -> AttackScore | None:
    secret = hidden(original, column)
    if secret is None:
        return None
    features = list(released.features)
    asked = released.only(features)[rows]
    label = secret.of(released)
    known = Known(again.only(features), label, asked, len(rows), secret.classes)
    truth = secret.original[rows]
    baseline = np.tile(shares(secret.original, secret.classes), (len(rows), 1))
    choose, report = np.arange(0, len(rows), 2), np.arange(1, len(rows), 2)
    name, p = strongest_learner(known, truth, baseline, choose, QUICK_LEARNERS)
    right = p.argmax(axis=1) == truth
    return scored(
        f"reconstruction of altered {column}",
        f"guesses the true {column} from the altered row and how it was altered",
        right[report],
        guess=float((baseline.argmax(axis=1) == truth)[report].mean()),
        people=original.people[rows[report]],
        details={"learner": shown_model(name)},
    )
