"""Kept and told of sets of columns of one table; each set is boosted once and cached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Floats, RowNumbers
from tamis.errors import InputError
from tamis.evaluate.bits import LEAST_SCALE, KeptTold, Mean, gains, mean, parts_of, surprise
from tamis.evaluate.parts import Parts
from tamis.learn.boosting import Boosting, BoostingTask, shares, shares_given
from tamis.learn.coded_table import CodedTable
from tamis.learn.score_test import expected_bits
from tamis.learn.views import View, Views, find_views
from tamis.notebook import by_fields
from tamis.people import People, PeopleLike

if TYPE_CHECKING:
    from typing import Self


Labels = NDArray[np.integer[Any]]
Columns = tuple[int, ...]
Gains = tuple[NDArray[np.float32], NDArray[np.float32] | None]
"""Gains of the test rows about target and secret."""


@dataclass(frozen=True, eq=False)
class Question:
    """A label to predict, its baseline probabilities, and the columns that every release has."""

    label: Labels
    classes: int
    known: tuple[Floats, ...]
    """Baseline probabilities of every row, one array a round, those of `Parts.more` last."""
    beside: Columns = ()
    """Columns known with any release: for a secret, the target."""
    views: Views = field(default_factory=Views)
    """Views of values that tell the label, see `tamis.learn.views`."""

    __repr__ = by_fields

    def surprise(self, parts: Parts) -> float:
        """Baseline cross-entropy of the evaluation rows, in bits."""
        each = [
            surprise(known[ask], self.label[ask])
            for known, (_, ask) in zip(self.known, parts.rounds)
        ]
        return float(np.concatenate(each).mean())


class AlsoSecret(NamedTuple):
    """A further secret: told is what is told of the secret that fares worst."""

    asked: Question
    worth: float
    """How many bits about the first secret one bit about this one counts for."""


@dataclass(eq=False)
class SubsetBits:
    """Gains of sets of columns about target and secret; each set is fitted once.

    Build it with `of`. A set is a tuple of column numbers in ascending order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.integers(0, 2, (2, 400))
    >>> frame = pl.DataFrame({"x": x, "z": z})
    >>> bits = SubsetBits.of(frame, target=x, secret=z)
    >>> [round(mean, 1) for mean in bits.score((0,))], [round(mean, 1) for mean in bits.score((1,))]
    ([1.0, 0.0], [-0.0, 1.0])
    """

    table: CodedTable
    parts: Parts
    target: Question
    secret: Question | None
    people: People
    boosting: Boosting = field(default_factory=Boosting)
    fitted: dict[Columns, Gains] = field(default_factory=dict)
    """Gains of the rows `parts.asked`, by set. float32: a search keeps those of many sets."""
    tables: tuple[CodedTable, ...] = field(default=(), kw_only=True)
    """The coded table of each round, where forms are learnt again without the test rows of the
    round. Empty: always `table`."""
    whole: Gains | None = field(default=None, kw_only=True)
    """Gains from all columns of a larger table of which this one has some; they set the scales."""
    means: dict[Columns, tuple[Mean, Mean]] = field(default_factory=dict, kw_only=True)
    """Cached U and A by set: a search needs the same ones again and again."""

    others: tuple[AlsoSecret, ...] = field(default=(), kw_only=True)
    """Further secrets: a set tells what it tells of the secret that fares worst."""
    told: dict[Columns, tuple[NDArray[np.float32], ...]] = field(default_factory=dict, kw_only=True)
    """With further secrets, the gains about each by set, as in `secret_gains`."""

    _tasks: dict[tuple[Question, int], BoostingTask] = field(
        default_factory=dict, init=False, repr=False
    )
    """Training and test rows by question and round, laid out once for the boosting."""

    __repr__ = by_fields

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        target: Labels,
        secret: Labels | None = None,
        *,
        parts: Parts | None = None,
        people: PeopleLike = None,
        boosting: Boosting | None = None,
        random_state: int = 0,
    ) -> SubsetBits:
        """Code the features of a table and compute the baselines.

        Target and secret are class numbers from 0; missing labels must have a class of their own or
        be left out before. Without a secret, told is 0. Without `parts`, they are drawn with
        `random_state`, stratified by pairs of both labels; without `people`, each row is a person.
        """
        who = People.named(people, len(target))
        if parts is None:
            pairs = target if secret is None else target * (int(secret.max()) + 1) + secret
            parts = Parts.drawn(pairs, who, random_state)
        if len(np.unique(target[parts.learn])) < 2:
            raise InputError("the target has one class only among the rows to learn from")
        coded = CodedTable.of(frame, parts.search, only=parts.every)
        beside = CodedTable.of_label(target, parts.search, parts.every)
        bits = cls(
            coded.beside(beside),
            parts,
            _known_shares(target, parts),
            None if secret is None else _known_by_target(secret, target, parts, len(coded)),
            who,
            Boosting() if boosting is None else boosting,
        )
        return bits.with_views(bits.found_views(frame))

    def over(self, parts: Parts, boosting: Boosting) -> SubsetBits:
        """The same columns tested on other rows, by another boosting."""
        target, secret = self.target.label, self.secret

        def asked(guess: Question) -> Question:
            known = _known_by_target(guess.label, target, parts, len(self))
            return replace(known, views=guess.views)

        return SubsetBits(
            self.table,
            parts,
            _known_shares(target, parts),
            None if secret is None else asked(secret),
            self.people,
            boosting,
            others=tuple(AlsoSecret(asked(each), worth) for each, worth in self.others),
        )

    def also_asking(
        self, frame: pl.DataFrame, labels: Sequence[tuple[Labels, float]]
    ) -> SubsetBits:
        """A copy with further secrets, each with the weight of its told relative to the first's.

        Told is a share of what all columns tell of a secret. A bit about a further secret is
        therefore worth `weight` times the ratio of the scales; the largest weighted share counts.
        """
        if self.secret is None or not labels:
            return self
        own, secrets = self.scale(self.secret), []
        for label, weight in labels:
            asked = _known_by_target(label, self.target.label, self.parts, len(self))
            asked = replace(asked, views=self.found_views(frame, guess=asked))
            secrets.append(AlsoSecret(asked, weight * own / self.scale(asked)))
        return replace(self, others=tuple(secrets), fitted={}, means={}, told={})

    def scale(self, guess: Question) -> float:
        """Denominator of told: the bits from all columns, bounded below by `LEAST_SCALE`."""
        everything = float(self._gains(self.everything, guess).mean(dtype=np.float64))
        return max(LEAST_SCALE * guess.surprise(self.parts), everything)

    @property
    def secrets(self) -> tuple[AlsoSecret, ...]:
        """All secrets with their worth in bits about the first, which comes first."""
        return () if self.secret is None else (AlsoSecret(self.secret, 1.0), *self.others)

    @cached_property
    def told_scales(self) -> tuple[float, ...]:
        """Denominators of `secret_gains`, one for each secret: what all columns tell."""
        return tuple(worth * self.scale(asked) for asked, worth in self.secrets)

    def secret_gains(self, columns: Iterable[int]) -> tuple[NDArray[np.float32], ...]:
        """Gains of the test rows about each secret, converted to bits about the first."""
        chosen = tuple(sorted(columns))
        secret = self.gains(chosen)[1]
        if secret is None or not self.others:
            return () if secret is None else (secret,)
        if chosen not in self.told:
            self._told_most(chosen)
        return self.told[chosen]

    def searching(self, parts: Parts) -> SubsetBits:
        """A copy that tests in its first rounds only, those of `parts`."""
        if len(parts.rounds) == len(self.parts.rounds):
            return self
        asked = len(parts.asked)
        whole = self.whole
        if whole is not None:
            target, secret = whole
            whole = target[:asked], None if secret is None else secret[:asked]
        return replace(self, parts=parts, fitted={}, means={}, told={}, whole=whole)

    def found_views(
        self,
        frame: pl.DataFrame,
        known: Sequence[View] = (),
        fresh: Iterable[int] | None = None,
        guess: Question | None = None,
    ) -> Views:
        """Views of values that tell a secret, selected on rows that a search may see.

        `known` are views that were selected before; `fresh` are the columns to search, `None`: all;
        `guess` is another secret than the first.
        """
        secret, search = guess or self.secret, self.parts.search
        if secret is None:
            return Views()
        # One row a person, so that a view cannot tell a secret by recognising the person.
        first = np.unique(self.people.codes[search], return_index=True)[1]
        return find_views(
            frame,
            self.table,
            secret.label,
            self.target.label,
            np.sort(search[first]),
            beside=len(self),
            classes=secret.classes,
            known=known,
            fresh=None if fresh is None else set(fresh),
        )

    def with_views(self, views: Views) -> Self:
        """A copy whose attackers also read some views."""
        if self.secret is None or not views.tested:
            return self
        return replace(self, secret=replace(self.secret, views=views), fitted={}, means={}, told={})

    def shown(self, columns: Iterable[int], guess: Question) -> list[int]:
        """The columns of `seen_table` that a set gives to predict a label from."""
        chosen = list(columns)
        views = guess.views.of(chosen, self.sources(chosen))
        return [*chosen, *guess.beside, *(len(self.table) + view for view in views)]

    def sources(self, columns: Sequence[int]) -> Sequence[int]:
        """The table's columns that those of a set are forms of; here the columns themselves."""
        return columns

    def seen_table(self, guess: Question, number: int = 0) -> CodedTable:
        """The columns of a round and the views of them, to predict a label from."""
        return guess.views.beside(self.coded_for(number))

    def learning_from(self, mask: NDArray[np.bool_]) -> Self:
        """A copy that trains on the rows of a mask only; its test rows are the same."""
        return replace(self, parts=self.parts.learning_from(mask), fitted={}, told={}, whole=None)

    def __len__(self) -> int:
        """The number of columns that may be released."""
        return len(self.table) - 1

    @property
    def everything(self) -> Columns:
        return tuple(range(len(self)))

    def score(self, columns: Iterable[int]) -> tuple[float, float]:
        """The mean gains about target and secret, in bits: U and A."""
        target, secret = self.gains(columns)
        return float(target.mean(dtype=np.float64)), (
            0.0 if secret is None else float(secret.mean(dtype=np.float64))
        )

    def gains(self, columns: Iterable[int]) -> Gains:
        """Gains of the test rows about the target, and about the secret that is told most."""
        chosen = tuple(sorted(columns))
        if chosen not in self.fitted:
            secret = None if self.secret is None else self._told_most(chosen)
            self.fitted[chosen] = self._gains(chosen, self.target), secret
        return self.fitted[chosen]

    def _told_most(self, columns: Columns) -> NDArray[np.float32]:
        """Gains about the secret that is told most, converted to bits about the first."""
        by_secret = tuple(
            np.float32(worth) * self._gains(columns, asked) for asked, worth in self.secrets
        )
        if self.others:
            self.told[columns] = by_secret
        return told_most(by_secret)

    def expected(self, columns: Iterable[int]) -> tuple[Floats, Floats]:
        """Bits about target and secret that each column is expected to add to a set.

        By a score test, see `expected_bits`: it finds additions worth fitting and does not judge
        them. The set itself is fitted once more.
        """
        chosen = tuple(sorted(columns))
        none = np.zeros(len(self))
        return self._expected(chosen, self.target), (
            none if self.secret is None else self._expected(chosen, self.secret)
        )

    def measured(self, sets: Sequence[Columns]) -> KeptTold:
        """Kept and told of these sets, on scales that every scored set contributes to.

        The sets come first, in their order; all other scored sets follow.
        """
        everything = self.everything
        order = list(dict.fromkeys([*sets, everything, *self.fitted]))
        pairs = [self.gains(columns) for columns in order]
        implied = np.stack([self.implies(columns) for columns in order])
        at = order.index(everything)
        if self.whole is not None:
            at = len(order)
            pairs.append(self.whole)
            implied = np.pad(implied, ((0, 1), (0, 1)))
            implied[at] = True
        for columns in order:
            if columns not in self.means:
                self.means[columns] = _averaged(self.fitted[columns], self._whose)
        means = [self.means[columns] for columns in order]
        means += [_averaged(self.whole, self._whose)] if self.whole is not None else []
        useful, telling = zip(*means)
        return replace(self.kept_told(pairs, parts_of(implied), at), means=(useful, telling))

    def kept_told(
        self, pairs: Sequence[Gains], within: NDArray[np.bool_], everything: int
    ) -> KeptTold:
        """Kept and told from gains of the test rows and the relation of what derives from what."""
        secret = [of_secret for _, of_secret in pairs if of_secret is not None]
        return KeptTold(
            np.stack([of_target for of_target, _ in pairs]),
            np.stack(secret) if secret else None,
            within,
            everything,
            self.target.surprise(self.parts),
            0.0 if self.secret is None else self.secret.surprise(self.parts),
            self._whose,
        )

    @property
    def _whose(self) -> People:
        """The person of each test row."""
        return self.people[self.parts.asked]

    def implies(self, columns: Columns) -> NDArray[np.bool_]:
        """Mask of the columns that a set determines: its own."""
        return np.isin(np.arange(len(self)), columns)

    def coded_for(self, number: int) -> CodedTable:
        """The coded table of one round of `parts`."""
        return self.tables[number] if self.tables else self.table

    def _gains(self, columns: Columns, guess: Question) -> NDArray[np.float32]:
        by_round = [
            gains(proba, known[ask], guess.label[ask])
            for proba, known, ask in self._said(columns, guess)
        ]
        return np.concatenate(by_round).astype(np.float32)

    def _expected(self, columns: Columns, guess: Question) -> Floats:
        by_round = [
            expected_bits(self.coded_for(number), ask, proba, guess.label[ask])
            for number, (proba, _, ask) in enumerate(self._said(columns, guess))
        ]
        return np.asarray(np.mean(by_round, axis=0)[: len(self)])

    def _said(
        self, columns: Columns, guess: Question
    ) -> Iterator[tuple[Floats, Floats, RowNumbers]]:
        """Probabilities of the test rows, baseline and test rows, round by round."""
        for number, ((learn, ask), known) in enumerate(zip(self.parts.rounds, guess.known)):
            if not columns:
                yield known[ask], known, ask
                continue
            asked = guess, number
            if asked not in self._tasks:
                self._tasks[asked] = BoostingTask.of(
                    self.seen_table(guess, number),
                    guess.label,
                    learn,
                    ask,
                    start=known,
                    classes=guess.classes,
                )
            proba = self.boosting.answer(self._tasks[asked], self.shown(columns, guess))
            yield proba, known, ask


def told_most(secrets: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The gains with the largest mean among those about several secrets."""
    return max(secrets, key=lambda gains: float(gains.mean(dtype=np.float64)))


def _averaged(gains: Gains, people: People) -> tuple[Mean, Mean]:
    target, secret = gains
    return mean(target, people), Mean(0.0, 0.0) if secret is None else mean(secret, people)


def _known_shares(label: Labels, parts: Parts) -> Question:
    """The target: its baseline is the class shares of each round's training rows."""
    classes = int(label.max()) + 1
    known = tuple(
        np.broadcast_to(shares(label[learn], classes), (len(label), classes))
        for learn, _ in parts.choosing.rounds
    )
    return Question(label, classes, known)


def _known_by_target(label: Labels, target: Labels, parts: Parts, beside: int) -> Question:
    """A secret: its baseline is its shares given the target, whose column is the last one."""
    classes = int(label.max()) + 1
    rounds = parts.choosing.rounds
    known = tuple(shares_given(label, target, learn, classes) for learn, _ in rounds)
    return Question(label, classes, known, (beside,))
