"""What any columns of one table keep and tell: each set boosted once, on rows that it never saw."""

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
"""The gain of each asked row about target and secret."""


@dataclass(frozen=True, eq=False)
class Question:
    """A label, what is known of it without a release, and the columns that are known with any."""

    label: Labels
    classes: int
    known: tuple[Floats, ...]
    """Probabilities for every row of the table, one array a round, those of `Parts.more` last."""
    beside: Columns = ()
    views: Views = field(default_factory=Views)
    """What was found to be told in the form of columns, see `tamis.learn.views`."""

    __repr__ = by_fields

    def surprise(self, parts: Parts) -> float:
        """The mean bits that the label of an asked row is unexpected by without a release."""
        each = [
            surprise(known[ask], self.label[ask])
            for known, (_, ask) in zip(self.known, parts.rounds)
        ]
        return float(np.concatenate(each).mean())


class AlsoSecret(NamedTuple):
    """Another secret, of which no more may be told than of the first."""

    asked: Question
    worth: float
    """How many bits about the first secret one about this one counts for."""


@dataclass(eq=False)
class SubsetBits:
    """The gains of sets of columns about target and secret; each set is fitted once.

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
    """The gains of the rows `parts.asked` by set."""
    tables: tuple[CodedTable, ...] = field(default=(), kw_only=True)
    """How the columns are coded in each round where that differs: in forms that are learnt anew,
    without the rows asked about. Empty: as in `table`."""
    whole: Gains | None = field(default=None, kw_only=True)
    """Those of a larger table that this one has some columns of; they count for the scales."""
    means: dict[Columns, tuple[Mean, Mean]] = field(default_factory=dict, kw_only=True)
    """U and A of sets whose gains were averaged before: a search asks again and again."""

    others: tuple[AlsoSecret, ...] = field(default=(), kw_only=True)
    """More secrets: what a set tells is what it tells of the one of which it tells most."""
    told: dict[Columns, tuple[NDArray[np.float32], ...]] = field(default_factory=dict, kw_only=True)
    """Where there are more, the gains of sets about each secret, as `secret_gains` has them."""

    _tasks: dict[tuple[Question, int], BoostingTask] = field(
        default_factory=dict, init=False, repr=False
    )
    """The rows of each question and round, laid out once."""

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
        """Code the features of a table and prepare what is known without them.

        Target and secret are classes from 0, a missing label being a class or its row left out
        before; without a secret nothing is told. Without `parts`, rows are drawn with
        `random_state`, by pairs of both labels; without `people` each row is a person.
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
        """The same columns asked about other rows, by another boosting."""
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
        """The same with more secrets, each with what told of it weighs against told of the first.

        Told is a share of what all columns tell, so a bit about a secret counts by that share: of
        a set, the secret counts of which the largest weighed share is told.
        """
        if self.secret is None or not labels:
            return self
        own, found = self.scale(self.secret), []
        for label, weight in labels:
            asked = _known_by_target(label, self.target.label, self.parts, len(self))
            asked = replace(asked, views=self.found_views(frame, guess=asked))
            found.append(AlsoSecret(asked, weight * own / self.scale(asked)))
        return replace(self, others=tuple(found), fitted={}, means={}, told={})

    def scale(self, guess: Question) -> float:
        """The bits that all columns give about a secret, but no trifle."""
        everything = float(self._gains(self.everything, guess).mean(dtype=np.float64))
        return max(LEAST_SCALE * guess.surprise(self.parts), everything)

    @property
    def secrets(self) -> tuple[AlsoSecret, ...]:
        """All secrets, the first one first, each with how many bits of that one its own count."""
        return () if self.secret is None else (AlsoSecret(self.secret, 1.0), *self.others)

    @cached_property
    def told_scales(self) -> tuple[float, ...]:
        """The bits that `secret_gains` are shares of, for each secret: what all columns tell."""
        return tuple(worth * self.scale(asked) for asked, worth in self.secrets)

    def secret_gains(self, columns: Iterable[int]) -> tuple[NDArray[np.float32], ...]:
        """The gain of each asked row about each secret, in what a bit about the first is."""
        chosen = tuple(sorted(columns))
        secret = self.gains(chosen)[1]
        if secret is None or not self.others:
            return () if secret is None else (secret,)
        if chosen not in self.told:
            self._told_most(chosen)
        return self.told[chosen]

    def searching(self, parts: Parts) -> SubsetBits:
        """The same, asking in fewer of its first rounds: those of `parts`."""
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
        """What the form of the columns tells of the secret, by rows that a search may see.

        `known` are views that were found before; `fresh` are the columns to look at, `None`: all;
        `guess` is another secret.
        """
        secret, search = guess or self.secret, self.parts.search
        if secret is None:
            return Views()
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
        """The same, whose attackers look at some views, too."""
        if self.secret is None or not views.tested:
            return self
        return replace(self, secret=replace(self.secret, views=views), fitted={}, means={}, told={})

    def shown(self, columns: Iterable[int], guess: Question) -> list[int]:
        """The columns of `seen_table` that a set shows of a label."""
        chosen = list(columns)
        views = guess.views.of(chosen, self.sources(chosen))
        return [*chosen, *guess.beside, *(len(self.table) + view for view in views)]

    def sources(self, columns: Sequence[int]) -> Sequence[int]:
        """The columns of the table that those of a set are forms of: they themselves."""
        return columns

    def seen_table(self, guess: Question, number: int = 0) -> CodedTable:
        """What there is to guess a label from in a round: columns, and views of them."""
        return guess.views.beside(self.coded_for(number))

    def learning_from(self, mask: NDArray[np.bool_]) -> Self:
        """The same, learning only from some rows of the table; the same rows are asked about."""
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
        """The gain of each asked row about target and secret."""
        chosen = tuple(sorted(columns))
        if chosen not in self.fitted:
            secret = None if self.secret is None else self._told_most(chosen)
            self.fitted[chosen] = self._gains(chosen, self.target), secret
        return self.fitted[chosen]

    def _told_most(self, columns: Columns) -> NDArray[np.float32]:
        """The gains about the secret of which most is told, in what a bit about the first is."""
        found = tuple(
            np.float32(worth) * self._gains(columns, asked) for asked, worth in self.secrets
        )
        if self.others:
            self.told[columns] = found
        return told_most(found)

    def expected(self, columns: Iterable[int]) -> tuple[Floats, Floats]:
        """The bits that each column is expected to add to a set, about target and secret.

        By a score test, see `expected_bits`: to find additions worth a fit, not to judge them.
        It fits the set once more, which a search asks of few.
        """
        chosen = tuple(sorted(columns))
        none = np.zeros(len(self))
        return self._expected(chosen, self.target), (
            none if self.secret is None else self._expected(chosen, self.secret)
        )

    def measured(self, sets: Sequence[Columns]) -> KeptTold:
        """Kept and told of these sets; all columns, and whatever was scored, count for scales.

        The sets come first, in their order; the sets that were scored besides follow.
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
        """Kept and told by the gains of the asked rows, of what lies within what."""
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
        """The person of each asked row."""
        return self.people[self.parts.asked]

    def implies(self, columns: Columns) -> NDArray[np.bool_]:
        """Which columns can be made of a set: its own."""
        return np.isin(np.arange(len(self)), columns)

    def coded_for(self, number: int) -> CodedTable:
        """The table as it is coded in one of the rounds of `parts`."""
        return self.tables[number] if self.tables else self.table

    def _gains(self, columns: Columns, guess: Question) -> NDArray[np.float32]:
        found = [
            gains(said, known[ask], guess.label[ask])
            for said, known, ask in self._said(columns, guess)
        ]
        return np.concatenate(found).astype(np.float32)

    def _expected(self, columns: Columns, guess: Question) -> Floats:
        found = [
            expected_bits(self.coded_for(number), ask, said, guess.label[ask])
            for number, (said, _, ask) in enumerate(self._said(columns, guess))
        ]
        return np.asarray(np.mean(found, axis=0)[: len(self)])

    def _said(
        self, columns: Columns, guess: Question
    ) -> Iterator[tuple[Floats, Floats, RowNumbers]]:
        """What is said with these columns, what was known, and of which rows, round by round."""
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
            said = self.boosting.answer(self._tasks[asked], self.shown(columns, guess))
            yield said, known, ask


def told_most(secrets: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Of the gains about several secrets those about the one of which most is told."""
    return max(secrets, key=lambda gains: float(gains.mean(dtype=np.float64)))


def _averaged(gains: Gains, people: People) -> tuple[Mean, Mean]:
    target, secret = gains
    return mean(target, people), Mean(0.0, 0.0) if secret is None else mean(secret, people)


def _known_shares(label: Labels, parts: Parts) -> Question:
    classes = int(label.max()) + 1
    known = tuple(
        np.broadcast_to(shares(label[learn], classes), (len(label), classes))
        for learn, _ in parts.choosing.rounds
    )
    return Question(label, classes, known)


def _known_by_target(label: Labels, target: Labels, parts: Parts, beside: int) -> Question:
    """The secret, where the target is known: its column is the last one."""
    classes = int(label.max()) + 1
    rounds = parts.choosing.rounds
    known = tuple(shares_given(label, target, learn, classes) for learn, _ in rounds)
    return Question(label, classes, known, (beside,))
