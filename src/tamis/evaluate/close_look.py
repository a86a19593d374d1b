"""A close look at a finalist: slower learners, and the few people that a mean hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tamis.arrays import Floats, Integers
from tamis.coding import coded, dense, joined
from tamis.errors import InputError
from tamis.evaluate.bits import LEAST_SCALE, TRIFLE, Gains, Mean, gains, mean, surprise
from tamis.evaluate.bits_scorer import BitsScorer, figure
from tamis.evaluate.figure import Figure, accuracy, auc, wilson_share
from tamis.evaluate.regression import WIDE, strong_probabilities
from tamis.evaluate.subset_bits import AlsoSecret, Columns, Question, SubsetBits, told_most
from tamis.learn.holdout import Predictions
from tamis.learn.whole_people import seen_whole
from tamis.notebook import by_fields
from tamis.people import People, PeopleLike
from tamis.release import Release

SHARES = (0.01, 0.05)
"""The parts of all rows that a model is surest of which are looked at."""
SURE_FROM = 0.95
"""From this probability on a label is as good as known."""


@dataclass(frozen=True)
class Surest:
    """How right a model is about the rows that it holds most likely to have a label."""

    part: float
    """The part of all rows that is looked at."""
    precision: Figure
    """Of these rows, how many have the label."""
    recall: Figure
    """Of the rows that have the label, how many are among these."""


@dataclass(frozen=True)
class Group:
    """People that are alike in a release, and what it tells of them on average, in bits."""

    number: int
    people: int
    gain: Figure


def surest(
    likely: Floats, is_so: NDArray[np.bool_], parts: Sequence[float] = SHARES
) -> tuple[Surest, ...]:
    """Precision and recall about a label among the parts of all rows that a model is surest of.

    `likely` says how likely each unseen row is to have the label, `is_so` whether it has. Rows
    that are equally likely at the edge count in the order in which they stand. Empty where no row
    has the label.

    >>> found = surest(np.array([0.9, 0.8, 0.2, 0.1]), np.array([True, False, True, False]), [0.5])
    >>> found[0].precision.value, found[0].recall.value
    (0.5, 0.5)
    """
    if not is_so.any():
        return ()
    order = np.argsort(-likely, kind="stable")
    found = []
    for part in parts:
        first = order[: max(1, round(part * len(order)))]
        hits = int(is_so[first].sum())
        found.append(
            Surest(part, wilson_share(hits, len(first)), wilson_share(hits, int(is_so.sum())))
        )
    return tuple(found)


def known_correctly(probabilities: Floats, baseline: Floats, truth: Integers) -> Figure:
    """The share of rows whose true label is as good as known with a release, and was not without.

    >>> told = np.array([[0.99, 0.01], [0.4, 0.6]])
    >>> known_correctly(told, np.full((2, 2), 0.5), np.array([0, 1]))
    Figure(value=0.5, low=0.09..., high=0.90...)
    """
    rows = np.arange(len(truth))
    now, before = probabilities[rows, truth] >= SURE_FROM, baseline[rows, truth] >= SURE_FROM
    return wilson_share(int((now & ~before).sum()), len(truth))


def largest_gains(gains: Gains, people: PeopleLike = None, most: int = 5) -> Floats:
    """The largest gains of single people, in bits; of several rows of one the largest counts.

    >>> largest_gains(np.array([0.1, 2.0, 1.0, 0.3]), np.array([0, 1, 1, 2]), most=2).tolist()
    [2.0, 0.3]
    """
    each = np.asarray(gains, dtype=np.float64)
    of_person = People.named(people, len(each)).renumbered().worst(each)
    return np.sort(of_person)[::-1][:most]


def largest_group(
    gains: Gains, groups: Integers, k: int, people: PeopleLike = None
) -> Group | None:
    """The group of at least k people that is told most, on average; `None` where none is so large.

    Gains are of rows that nothing was learnt from; `people` are whose each row is, `None`: each row
    is a person. Smaller groups are left out: of a few rows the mean gain is chance. The largest of
    many means is partly luck, so its interval is as wide as that of one among as many as there are
    groups.

    >>> gains = np.array([1.0, 1.2, 0.8, 0.1, 0.0, -0.1, 9.0])
    >>> found = largest_group(gains, np.array([0, 0, 0, 1, 1, 1, 2]), k=3)
    >>> found.number, found.people, round(found.gain.value, 2)
    (0, 3, 1.0)
    """
    if k < 2:
        raise InputError(f"a group is of two people or more, got k = {k}")
    numbers, group = np.unique(groups, return_inverse=True)
    whose = People.named(people, len(group))
    pairs = np.unique(np.column_stack([group, whose.codes]), axis=0)
    sizes = np.bincount(pairs[:, 0], minlength=len(numbers))
    large = np.flatnonzero(sizes >= k)
    if len(large) == 0:
        return None
    sums = np.bincount(group, weights=gains) / np.bincount(group)
    best = int(large[np.argmax(sums[large])])
    rows = group == best
    told = mean(np.asarray(gains)[rows], whose[rows])
    chance = 0.025 / len(large)  # at the level 0.95, for as many groups as were looked at
    half = float(stdtrit(sizes[best] - 1, 1 - chance)) * told.error
    figure = Figure(told.value, told.value - half, told.value + half)
    return Group(int(numbers[best]), int(sizes[best]), figure)


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
    accuracy_of_all : float, optional
        The same from all columns; `None` where these were not asked of slow learners.
    accuracy_of_none : float
        The same from what is known without the release.
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
    accuracy_of_none: float
    accuracy_of_all: float | None = None

    __repr__ = by_fields


@dataclass(frozen=True)
class CloseLook:
    """What is guessed of target and secret, on rows that neither learnt nor chose.

    `secret` is `None` where there is none besides the target, or where rows are synthetic.
    """

    target: Guessed
    secret: Guessed | None
    others: tuple[Guessed, ...] = ()
    """Of more secrets the same."""
    read: tuple[Gains, ...] = ()
    """The gains about the secret of which most is told of each row to report on, with the release,
    and about the first with everything; of very wide records, with the release only."""

    __repr__ = by_fields


def close_look(yardstick: BitsScorer, release: Release, k: int) -> CloseLook:
    """Let slow learners guess target and secret from a release.

    Boosted trees, logistic regression or their mean, whichever is best on rows set aside for that;
    they learn from up to 12,000 rows. For kept and told they learn from all columns too; what all
    columns of wider records give was measured before, by logistic regression, and so are many of
    their columns. Groups of fewer than k people are not looked at: of a few rows a mean is chance.
    """
    every = yardstick.reporting
    seen = bits, columns = yardstick.bits(release, every)
    if release.people.together and bits.secret is not None:
        # Attackers see all rows of a person, where a release says which these are.
        seen = yardstick.bits(seen_whole(release), every)
    groups = None if release.is_drawn else _groups(release)
    of_records = every.whole is not None
    guessed: list[Guessed] = []
    read: list[list[NDArray[np.float32]]] = []
    asked = [AlsoSecret(every.target, 1.0), *every.secrets]
    answering = [bits.target, *(secret for secret, _ in seen[0].secrets)]
    for number, ((before, worth), now) in enumerate(zip(asked, answering)):
        known = _known(every, before)
        said = _said(*(seen if number else (bits, columns)), now, of_records=of_records)
        # Of further secrets all columns were read by the small boosting: else it would take twice
        # as long, and a share of less is no smaller.
        truth = before.label[every.parts.report]
        whole = None if number > 1 else _from_everything(every, before)
        if whole is not None:
            most = float(gains(whole, known, truth).mean())
        else:
            most = _of_records(every, min(number, 1)) if of_records else every.scale(before)
        found = _guessed(every, before, known, said, most, groups, k)
        if whole is not None:
            found = replace(found, accuracy_of_all=float((whole.argmax(axis=1) == truth).mean()))
        guessed.append(found)
        if number:
            mine = [gains(each, known, truth) for each in (said, whole) if each is not None]
            read.append([(worth * each).astype(np.float32) for each in mine])
    told = [told_most([each[0] for each in read]), *read[0][1:]] if read else []
    return CloseLook(guessed[0], guessed[1] if read else None, tuple(guessed[2:]), tuple(told))


def _said(bits: SubsetBits, columns: Columns, asked: Question, of_records: bool = False) -> Floats:
    return strong_probabilities(
        bits.seen_table(asked),
        asked.label,
        bits.parts.learn,
        bits.parts.choose,
        bits.parts.report,
        columns=bits.shown(columns, asked),
        classes=asked.classes,
        with_trees=not (of_records and len(columns) > WIDE),
    )


def _from_everything(every: SubsetBits, asked: Question) -> Floats | None:
    """What all columns say of each row; `None` where they are some of wider records'.

    Slow learners would take longest with all that are compared.
    """
    if every.whole is not None:
        return None
    return _said(every, every.everything, asked)


def _of_records(every: SubsetBits, number: int) -> float:
    """The mean gain from all columns of wider records, which is known."""
    assert every.whole is not None
    measured = every.whole[number], every.gains(every.everything)[number]
    return max(float(each.mean(dtype=np.float64)) for each in measured if each is not None)


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
    people = every.people[rows]
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
        float((known.argmax(axis=1) == truth).mean()),
    )


def _largest_group(each: Floats, groups: NDArray[Any], k: int, people: People) -> Group | None:
    """The group that is told most, of the rows that are in the release."""
    inside = groups >= 0
    return largest_group(each[inside], groups[inside], max(k, 2), people[inside])


def _groups(release: Release) -> NDArray[Any] | None:
    """The number of each row's group of people alike in what attackers may know.

    Rows that are left out are in no group: -1.
    """
    table = release.unsuppressed.table
    columns = [coded(table.frame[name]) for name in table.quasi]
    if not columns:
        return None
    codes = dense(reduce(lambda one, other: dense(joined(one, other)), columns)).codes
    return np.where(release.mask, codes, -1)
