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
"""Shares of all rows that are looked at, those that a model is surest of."""
SURE_FROM = 0.95
"""Probability from which a label counts as known."""


@dataclass(frozen=True)
class Surest:
    """Precision and recall about a label among the rows that most probably have it."""

    part: float
    """The share of all rows that is looked at."""
    precision: Figure
    """The share of these rows that have the label."""
    recall: Figure
    """The share of the rows with the label that are among these."""


@dataclass(frozen=True)
class Group:
    """An equivalence class and its mean gain about the secret, in bits."""

    number: int
    people: int
    gain: Figure


def surest(
    likely: Floats, is_so: NDArray[np.bool_], parts: Sequence[float] = SHARES
) -> tuple[Surest, ...]:
    """Precision and recall about a label among the rows that a model is surest of, by share.

    `likely` is the probability of the label for each evaluation row, `is_so` whether it has it.
    Ties at the edge are broken by the order of the rows. Empty where no row has the label.

    >>> found = surest(np.array([0.9, 0.8, 0.2, 0.1]), np.array([True, False, True, False]), [0.5])
    >>> found[0].precision.value, found[0].recall.value
    (0.5, 0.5)
    """
    if not is_so.any():
        return ()
    order = np.argsort(-likely, kind="stable")
    measured = []
    for part in parts:
        first = order[: max(1, round(part * len(order)))]
        hits = int(is_so[first].sum())
        measured.append(
            Surest(part, wilson_share(hits, len(first)), wilson_share(hits, int(is_so.sum())))
        )
    return tuple(measured)


def known_correctly(probabilities: Floats, baseline: Floats, truth: Integers) -> Figure:
    """Share of rows whose true label counts as known with a release, but not without.

    >>> told = np.array([[0.99, 0.01], [0.4, 0.6]])
    >>> known_correctly(told, np.full((2, 2), 0.5), np.array([0, 1]))
    Figure(value=0.5, low=0.09..., high=0.90...)
    """
    rows = np.arange(len(truth))
    now, before = probabilities[rows, truth] >= SURE_FROM, baseline[rows, truth] >= SURE_FROM
    return wilson_share(int((now & ~before).sum()), len(truth))


def largest_gains(gains: Gains, people: PeopleLike = None, most: int = 5) -> Floats:
    """The largest gains of single people, in bits; each person counts by their largest row.

    >>> largest_gains(np.array([0.1, 2.0, 1.0, 0.3]), np.array([0, 1, 1, 2]), most=2).tolist()
    [2.0, 0.3]
    """
    each = np.asarray(gains, dtype=np.float64)
    of_person = People.named(people, len(each)).renumbered().worst(each)
    return np.sort(of_person)[::-1][:most]


def largest_group(
    gains: Gains, groups: Integers, k: int, people: PeopleLike = None
) -> Group | None:
    """The group of at least k people with the largest mean gain; `None` where none is so large.

    Gains are of evaluation rows; `people` gives the person of each row, `None`: each row is a
    person. Smaller groups are left out, since the mean gain of a few rows is chance. The largest of
    many means is partly luck, so its interval has a Bonferroni correction for the number of groups.

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
    chance = 0.025 / len(large)  # one tail of the 95% level, shared by all groups looked at
    half = float(stdtrit(sizes[best] - 1, 1 - chance)) * told.error
    figure = Figure(told.value, told.value - half, told.value + half)
    return Group(int(numbers[best]), int(sizes[best]), figure)


@dataclass(frozen=True)
class Guessed:
    """How well the best of several slow learners predicts a label from a release.

    Attributes
    ----------
    bits : Figure
        The mean gain over the baseline.
    share : Figure
        `bits` as a share of what all columns give, or the release if that is more: kept or told.
    accuracy, auc : Figure
    accuracy_of_all : float, optional
        Accuracy from all columns; `None` where no slow learner was trained on these.
    accuracy_of_none : float
        Accuracy of the baseline.
    surest : tuple of Surest
        Precision and recall about the rarest value, among the rows that most probably have it.
    known : Figure
        The share of rows whose value counts as known with the release, but not without.
    largest : tuple of float
        The largest gains of single people, in bits.
    group : Group, optional
        The equivalence class of k people or more with the largest mean gain.
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
    """How well target and secrets are predicted on the reporting rows.

    `secret` is `None` where there is none besides the target, or where rows are synthetic.
    """

    target: Guessed
    secret: Guessed | None
    others: tuple[Guessed, ...] = ()
    """The further secrets."""
    read: tuple[Gains, ...] = ()
    """Gains of the reporting rows: with the release, about the secret that is told most; then with
    all columns, about the first secret. Of very wide records the former only."""

    __repr__ = by_fields


def close_look(yardstick: BitsScorer, release: Release, k: int) -> CloseLook:
    """Predict target and secrets from a release with slow learners.

    Boosted trees, logistic regression or their mean, whichever does best on rows set aside for
    that; they learn from up to 12,000 rows. Kept and told need a fit on all columns, too, except
    for wider records, where logistic regression has measured that before. Groups of fewer than k
    people are not looked at, since the mean of a few rows is chance.
    """
    every = yardstick.reporting
    seen = bits, columns = yardstick.bits(release, every)
    if release.people.together and bits.secret is not None:
        # Where a release links the rows of a person, attackers see all of them at once.
        seen = yardstick.bits(seen_whole(release), every)
    groups = None if release.is_drawn else _groups(release)
    of_records = every.whole is not None
    guessed: list[Guessed] = []
    read: list[list[NDArray[np.float32]]] = []
    asked = [AlsoSecret(every.target, 1.0), *every.secrets]
    answering = [bits.target, *(secret for secret, _ in seen[0].secrets)]
    for number, ((before, worth), now) in enumerate(zip(asked, answering)):
        known = _known(every, before)
        proba = _said(*(seen if number else (bits, columns)), now, of_records=of_records)
        # For further secrets the scale is that of the small boosting: slow learners on all columns
        # would double the time. A lower scale makes told larger, never smaller.
        truth = before.label[every.parts.report]
        whole = None if number > 1 else _from_everything(every, before)
        if whole is not None:
            most = float(gains(whole, known, truth).mean())
        else:
            most = _of_records(every, min(number, 1)) if of_records else every.scale(before)
        guess = _guessed(every, before, known, proba, most, groups, k)
        if whole is not None:
            guess = replace(guess, accuracy_of_all=float((whole.argmax(axis=1) == truth).mean()))
        guessed.append(guess)
        if number:
            mine = [gains(each, known, truth) for each in (proba, whole) if each is not None]
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
    """Probabilities from all columns; `None` where the table is part of wider records.

    There the columns are so many that slow learners would spend most of their time on them.
    """
    if every.whole is not None:
        return None
    return _said(every, every.everything, asked)


def _of_records(every: SubsetBits, number: int) -> float:
    """The mean gain from all columns of wider records, which was measured before."""
    assert every.whole is not None
    measured = every.whole[number], every.gains(every.everything)[number]
    return max(float(each.mean(dtype=np.float64)) for each in measured if each is not None)


def _known(every: SubsetBits, asked: Question) -> Floats:
    return np.asarray(asked.known[0][every.parts.report])


def _guessed(
    every: SubsetBits,
    asked: Question,
    known: Floats,
    proba: Floats,
    most: float,
    groups: NDArray[Any] | None,
    k: int,
) -> Guessed:
    rows = every.parts.report
    truth = asked.label[rows]
    people = every.people[rows]
    each = gains(proba, known, truth)
    least = LEAST_SCALE * float(surprise(known, truth).mean()) if asked.beside else TRIFLE
    bits, scale = mean(each, people), max(float(each.mean()), most, least)
    rarest = int(np.bincount(asked.label, minlength=asked.classes).argmin())
    predictions = Predictions(np.arange(asked.classes), proba.argmax(axis=1), truth, proba)
    return Guessed(
        figure(bits),
        figure(Mean(bits.value / scale, bits.error / scale)),
        accuracy(predictions.right, people),
        auc(predictions, people),
        surest(proba[:, rarest], truth == rarest),
        known_correctly(proba, known, truth),
        tuple(float(gain) for gain in largest_gains(each, people)),
        None if groups is None else _largest_group(each, groups[rows], k, people),
        float((known.argmax(axis=1) == truth).mean()),
    )


def _largest_group(each: Floats, groups: NDArray[Any], k: int, people: People) -> Group | None:
    """The group with the largest mean gain, among rows that are in the release."""
    inside = groups >= 0
    return largest_group(each[inside], groups[inside], max(k, 2), people[inside])


def _groups(release: Release) -> NDArray[Any] | None:
    """The number of each row's equivalence class by the quasi-identifiers; -1 if suppressed."""
    table = release.unsuppressed.table
    columns = [coded(table.frame[name]) for name in table.quasi]
    if not columns:
        return None
    codes = dense(reduce(lambda one, other: dense(joined(one, other)), columns)).codes
    return np.where(release.mask, codes, -1)
