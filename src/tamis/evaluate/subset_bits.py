"""What any columns of one table keep and tell: each set boosted once, on rows that it never saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.evaluate.bits import Floats, KeptTold, Mean, gains, mean, parts_of, surprise
from tamis.evaluate.parts import Parts, RowNumbers
from tamis.learn.boosting import Boosting, BoostingTask, shares, shares_given
from tamis.learn.coded_table import CodedTable
from tamis.learn.score_test import promised_bits
from tamis.notebook import by_fields

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
    """Probabilities for every row of the table, one array a round."""
    beside: Columns = ()

    __repr__ = by_fields

    def surprise(self, parts: Parts) -> float:
        """The mean bits that the label of an asked row is unexpected by without a release."""
        each = [
            surprise(known[ask], self.label[ask])
            for known, (_, ask) in zip(self.known, parts.rounds)
        ]
        return float(np.concatenate(each).mean())


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
    people: Labels | None = None
    boosting: Boosting = field(default_factory=Boosting)
    fitted: dict[Columns, Gains] = field(default_factory=dict)
    """The gains of the rows `parts.asked` by set."""
    whole: Gains | None = field(default=None, kw_only=True)
    """Those of a larger table that this one has some columns of; they count for the scales."""
    means: dict[Columns, tuple[Mean, Mean]] = field(default_factory=dict, kw_only=True)
    """U and A of sets whose gains were averaged before: a search asks again and again."""

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
        people: Labels | None = None,
        boosting: Boosting | None = None,
        random_state: int = 0,
    ) -> SubsetBits:
        """Code the features of a table and prepare what is known without them.

        Parameters
        ----------
        frame : polars.DataFrame
            The features that may be released.
        target, secret : arrays of int
            Classes from 0, a missing label being a class or its row left out before. No secret:
            nothing is told.
        parts : Parts, optional
            Which rows do what. `None`: drawn with `random_state`, by pairs of both labels.
        people : array of int, optional
            Whose each row is. `None`: each row is a person.
        """
        if parts is None:
            pairs = target if secret is None else target * (int(secret.max()) + 1) + secret
            parts = Parts.drawn(pairs, people, random_state)
        if len(np.unique(target[parts.learn])) < 2:
            raise InputError("the target has one class only among the rows to learn from")
        coded = CodedTable.of(frame, parts.search, only=parts.every)
        beside = CodedTable.of_label(target, parts.search, parts.every)
        return cls(
            coded.beside(beside),
            parts,
            _known_shares(target, parts),
            None if secret is None else _known_by_target(secret, target, parts, len(coded)),
            people,
            Boosting() if boosting is None else boosting,
        )

    def over(self, parts: Parts, boosting: Boosting) -> SubsetBits:
        """The same columns asked about other rows, by another boosting."""
        target, secret = self.target.label, self.secret
        told = secret and _known_by_target(secret.label, target, parts, len(self))
        return SubsetBits(
            self.table, parts, _known_shares(target, parts), told, self.people, boosting
        )

    def learning_from(self, kept: NDArray[np.bool_]) -> Self:
        """The same, learning only from some rows of the table; the same rows are asked about."""
        return replace(self, parts=self.parts.learning_from(kept), fitted={}, whole=None)

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
            secret = None if self.secret is None else self._gains(chosen, self.secret)
            self.fitted[chosen] = self._gains(chosen, self.target), secret
        return self.fitted[chosen]

    def promises(self, columns: Iterable[int]) -> tuple[Floats, Floats]:
        """The bits that each column promises to add to a set, about target and secret.

        By a score test, see `promised_bits`: to find additions worth a fit, not to judge them.
        It fits the set once more, which a search asks of few.
        """
        chosen = tuple(sorted(columns))
        none = np.zeros(len(self))
        return self._promised(chosen, self.target), (
            none if self.secret is None else self._promised(chosen, self.secret)
        )

    def measured(self, sets: Sequence[Columns]) -> KeptTold:
        """Kept and told of these sets; all columns, and whatever was scored, count for scales.

        The sets come first, in their order; the sets that were scored besides follow.
        """
        everything = self.everything
        order = list(dict.fromkeys([*sets, everything, *self.fitted]))
        pairs = [self.gains(columns) for columns in order]
        makes = np.stack([self.makes(columns) for columns in order])
        at = order.index(everything)
        if self.whole is not None:
            at = len(order)
            pairs.append(self.whole)
            makes = np.pad(makes, ((0, 1), (0, 1)))
            makes[at] = True
        secret = None
        if self.secret is not None:
            secret = np.stack([pair[1] for pair in pairs if pair[1] is not None])
        whose = None if self.people is None else self.people[self.parts.asked]
        for columns in order:
            if columns not in self.means:
                self.means[columns] = _averaged(self.fitted[columns], whose)
        means = [self.means[columns] for columns in order]
        means += [_averaged(self.whole, whose)] if self.whole is not None else []
        return KeptTold(
            np.stack([pair[0] for pair in pairs]),
            secret,
            parts_of(makes),
            at,
            self.target.surprise(self.parts),
            0.0 if self.secret is None else self.secret.surprise(self.parts),
            whose,
            means=(tuple(useful for useful, _ in means), tuple(telling for _, telling in means)),
        )

    def makes(self, columns: Columns) -> NDArray[np.bool_]:
        """Which columns can be made of a set: its own."""
        return np.isin(np.arange(len(self)), columns)

    def coded_for(self, number: int) -> CodedTable:
        """The table as it is coded in one of the rounds of `parts`."""
        return self.table

    def _gains(self, columns: Columns, guess: Question) -> NDArray[np.float32]:
        found = [
            gains(said, known[ask], guess.label[ask])
            for said, known, ask in self._said(columns, guess)
        ]
        return np.concatenate(found).astype(np.float32)

    def _promised(self, columns: Columns, guess: Question) -> Floats:
        found = [
            promised_bits(self.coded_for(number), ask, said, guess.label[ask])
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
                    self.coded_for(number),
                    guess.label,
                    learn,
                    ask,
                    start=known,
                    classes=guess.classes,
                )
            said = self.boosting.answer(self._tasks[asked], [*columns, *guess.beside])
            yield said, known, ask


def _averaged(gains: Gains, people: Labels | None) -> tuple[Mean, Mean]:
    target, secret = gains
    return mean(target, people), Mean(0.0, 0.0) if secret is None else mean(secret, people)


def _known_shares(label: Labels, parts: Parts) -> Question:
    classes = int(label.max()) + 1
    known = tuple(
        np.broadcast_to(shares(label[learn], classes), (len(label), classes))
        for learn, _ in parts.rounds
    )
    return Question(label, classes, known)


def _known_by_target(label: Labels, target: Labels, parts: Parts, beside: int) -> Question:
    """The secret, where the target is known: its column is the last one."""
    classes = int(label.max()) + 1
    known = tuple(shares_given(label, target, learn, classes) for learn, _ in parts.rounds)
    return Question(label, classes, known, (beside,))
