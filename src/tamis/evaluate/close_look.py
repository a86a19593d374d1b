"""A close look at a finalist: slower learners, and the few people that a mean hides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.evaluate.bits import LEAST_SCALE, TRIFLE, Floats, Mean, gains, mean, surprise
from tamis.evaluate.extremes import (
    Group,
    Surest,
    known_correctly,
    largest_gains,
    largest_group,
    surest,
)
from tamis.evaluate.figure import Figure, accuracy, auc
from tamis.evaluate.strong_learner import strong_probabilities
from tamis.evaluate.subset_bits import Columns, Question, SubsetBits
from tamis.evaluate.whole_records import WIDE
from tamis.evaluate.yardstick import Yardstick, figure
from tamis.learn.holdout import Predictions
from tamis.notebook import by_fields
from tamis.release import Release
from tamis.risk.grouping import coded, dense, joined


@dataclass(frozen=True)
class Guessed:
    """How well a label is guessed with a release, by the best of several slow learners.

    Attributes
    ----------
    bits : Figure
        The mean gain over knowing no release.
    share : Figure
        The same as a share of what all columns, or the release, give: kept, or told.
    accuracy, auc : Figure
    surest : tuple of Surest
        Precision and recall about the rarest value, among the rows it is held most likely of.
    known : Figure
        The share of rows whose value is as good as known with the release, and was not without.
    largest : tuple of float
        The largest gains of single people, in bits.
    group : Group, optional
        The people alike in what attackers may know, k or more, who gain most on average.
    """

    bits: Figure
    share: Figure
    accuracy: Figure
    auc: Figure | None
    surest: tuple[Surest, ...]
    known: Figure
    largest: tuple[float, ...]
    group: Group | None

    __repr__ = by_fields


@dataclass(frozen=True)
class CloseLook:
    """What is guessed of target and secret, on rows that neither learnt nor chose.

    `secret` is `None` where there is none besides the target, or where rows are synthetic.
    """

    target: Guessed
    secret: Guessed | None

    __repr__ = by_fields


def close_look(yardstick: Yardstick, release: Release, k: int) -> CloseLook:
    """Let slow learners guess target and secret from a release.

    Boosted trees, logistic regression or their mean, whichever is best on rows set aside for that;
    they learn from up to 12,000 rows. For kept and told they learn from all columns too; what all
    columns of wider records give was measured before, by logistic regression, and so are many of
    their columns.

    Parameters
    ----------
    yardstick : Yardstick
    release : Release
    k : int
        Groups of fewer people are not looked at: of a few rows a mean is chance.
    """
    every = yardstick.reporting
    bits, columns = yardstick.bits(release, every)
    groups = None if release.is_drawn else _groups(release)
    asked = [(every.target, bits.target)]
    if every.secret is not None and bits.secret is not None:
        asked.append((every.secret, bits.secret))
    found = []
    for number, (before, now) in enumerate(asked):
        known = _known(every, before)
        said = _said(bits, columns, now, of_records=every.whole is not None)
        most = _from_everything(every, number, before)
        found.append(_guessed(every, before, known, said, most, groups, k))
    return CloseLook(found[0], found[1] if len(found) > 1 else None)


def _said(bits: SubsetBits, columns: Columns, asked: Question, of_records: bool = False) -> Floats:
    return strong_probabilities(
        bits.table,
        asked.label,
        bits.parts.learn,
        bits.parts.choose,
        bits.parts.report,
        columns=[*columns, *asked.beside],
        classes=asked.classes,
        with_trees=not (of_records and len(columns) > WIDE),
    )


def _from_everything(every: SubsetBits, number: int, asked: Question) -> float:
    """The mean gain from all columns.

    That of wider records is known; slow learners would take longest with all that are compared.
    """
    if every.whole is not None:
        measured = every.whole[number], every.gains(every.everything)[number]
        return max(float(each.mean(dtype=np.float64)) for each in measured if each is not None)
    said = _said(every, every.everything, asked)
    return float(gains(said, _known(every, asked), asked.label[every.parts.report]).mean())


def _known(every: SubsetBits, asked: Question) -> Floats:
    return np.asarray(asked.known[0][every.parts.report])


def _guessed(
    every: SubsetBits,
    asked: Question,
    known: Floats,
    said: Floats,
    most: float,
    groups: NDArray[Any] | None,
    k: int,
) -> Guessed:
    rows = every.parts.report
    truth = asked.label[rows]
    people = None if every.people is None else np.asarray(every.people[rows], dtype=np.int64)
    each = gains(said, known, truth)
    least = LEAST_SCALE * float(surprise(known, truth).mean()) if asked.beside else TRIFLE
    bits, scale = mean(each, people), max(float(each.mean()), most, least)
    rarest = int(np.bincount(asked.label, minlength=asked.classes).argmin())
    predictions = Predictions(np.arange(asked.classes), said.argmax(axis=1), truth, said)
    return Guessed(
        figure(bits),
        figure(Mean(bits.value / scale, bits.error / scale)),
        accuracy(predictions.right, people),
        auc(predictions, people),
        surest(said[:, rarest], truth == rarest),
        known_correctly(said, known, truth),
        tuple(float(gain) for gain in largest_gains(each, people)),
        None if groups is None else _largest_group(each, groups[rows], k, people),
    )


def _largest_group(
    each: Floats, groups: NDArray[Any], k: int, people: NDArray[np.int64] | None
) -> Group | None:
    """The group that is told most, of the rows that are in the release."""
    inside = groups >= 0
    whose = None if people is None else people[inside]
    return largest_group(each[inside], groups[inside], max(k, 2), whose)


def _groups(release: Release) -> NDArray[Any] | None:
    """The number of each row's group of people alike in what attackers may know.

    Rows that are left out are in no group: -1.
    """
    table = release.of_everyone
    columns = [coded(table.frame[name]) for name in table.quasi]
    if not columns:
        return None
    codes = dense(reduce(lambda one, other: dense(joined(one, other)), columns)).codes
    return codes if release.kept is None else np.where(release.kept, codes, -1)
