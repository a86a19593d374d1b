"""Search of sets of rungs: learn groups, move the front on, cut useless digits.

Groups are learnt column by column: first for each column alone, then given the set that a more
cautious and a less cautious holder would choose. After each time the front is moved on, one rung at
a time. Groups are scored on rows that they were not learnt from; the groups to release are learnt
from all rows that a search may see.

Numbers are released with no more digits than teach. Each column is tested alone, from the fewest
digits up; where a set then keeps less, its numbers get a digit back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import cycle

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Floats
from tamis.coarsen.learnt_forms import CoarserForm, FinestForm
from tamis.coarsen.merging import Residuals, merged_groups
from tamis.coding import CodedFrame
from tamis.evaluate.bits import CLOSE, KeptTold, chosen, merges_of
from tamis.evaluate.parts import Parts
from tamis.evaluate.rungs import Rung, RungBits
from tamis.evaluate.subset_bits import Columns, Question, SubsetBits
from tamis.learn.boosting import shares, shares_given
from tamis.learn.coded_table import CodedTable
from tamis.people import People
from tamis.propose.rungs import Keeps, coarsen_others, keeps_people, moves
from tamis.risk.attackers import Known
from tamis.select.front import WIDTH, thinned

SIZES = (8, 5, 3, 2)
"""Numbers of groups that a column may be merged into."""
FEWEST_ROWS = 1_000
"""With fewer training rows, learnt groups would fit chance.

On 1,200 rows of wines, groups learnt in folds of four fifths of the rows looked a fifth better than
whole columns and were no better on other rows.
"""
BUDGETS = (130, 85, 85)
"""Most sets to fit after each time that groups were learnt."""
TIMES_CAUTION = (1.0, 3.0, 0.3)
"""Weights of told each time, as multiples of the caution: the front serves other holders, too."""
MOVES = 40
"""Most steps to try from one set, the most promising ones; wide tables have more."""
AT_ONCE = 4
"""Steps to try from a set before the front is computed again."""
DIGITS, WRITTEN = 1, 2
"""Chains of numbers with fewer digits and of ladders' levels; chains of learnt groups follow."""
Digits = dict[int, list[int]]
"""The rungs of each column of numbers: as it is, then with ever fewer digits."""


@dataclass(frozen=True, eq=False)
class CoarserSets:
    """The scored sets of rungs that keep the anonymity asked for.

    `chosen(caution)` is the number of the set to release.
    """

    bits: RungBits
    sets: tuple[Columns, ...]
    measured: KeptTold
    """Kept and told; the sets come first, in their order."""
    _applied: dict[int, pl.Series] = field(default_factory=dict, repr=False)
    """Released columns by rung, which sets share."""

    @property
    def sizes(self) -> list[int]:
        """Number of columns of each set."""
        return [len(columns) for columns in self.sets]

    @cached_property
    def merges(self) -> list[tuple[int, ...]]:
        """How much each set merges, as a key of `merges_of`."""
        rungs = self.bits.rungs
        groups = [rung.groups if rung.chain and not rung.dropped else None for rung in rungs]
        return [
            merges_of([groups[c] for c in columns], sum(rungs[c].dropped for c in columns))
            for columns in self.sets
        ]

    def chosen(self, caution: float, allowed: NDArray[np.bool_] | None = None) -> int:
        """The number of the set to release, of those that are allowed."""
        return chosen(self.measured, self.sizes, allowed, caution=caution, merges=self.merges)

    def rungs(self, number: int) -> list[Rung]:
        """The form of each column of a set, in the order of the table."""
        rungs = [self.bits.rungs[c] for c in self.sets[number]]
        return sorted(rungs, key=lambda rung: rung.column)

    def released(self, number: int, frame: pl.DataFrame) -> pl.DataFrame:
        """The features as a set releases them."""
        order = sorted(self.sets[number], key=lambda c: self.bits.rungs[c].column)
        return pl.DataFrame([self._released(c, frame) for c in order])

    def _released(self, number: int, frame: pl.DataFrame) -> pl.Series:
        if number not in self._applied:
            rung = self.bits.rungs[number]
            column = frame[:, rung.column]
            self._applied[number] = rung.applied(column).alias(column.name)
        return self._applied[number]


def search_coarser(
    bits: SubsetBits,
    frame: pl.DataFrame,
    *,
    views: Sequence[tuple[Sequence[str], int]] = (((), 1),),
    caution: float = 1.0,
    levels: Mapping[str, Sequence[pl.Series]] | None = None,
    digits: Mapping[str, Sequence[pl.Series]] | None = None,
    fixed: Collection[str] = (),
    also: Callable[[Known], bool] | None = None,
    most: int = 0,
    codes: CodedFrame | None = None,
    budgets: Sequence[int] = BUDGETS,
) -> CoarserSets:
    """Continue a search of whole columns with coarser forms of them.

    Parameters
    ----------
    bits : SubsetBits
        The features, after a search; its fitted sets are where this one starts.
    frame : polars.DataFrame
        The same features, all rows.
    views : sequence of names and int
        The columns that each attacker may know, and the k required in them.
    caution : float, default 1
        The weight of told against kept. Groups are first merged for it, then, given the set chosen
        by then, for a more cautious holder and for a less cautious one.
    levels : mapping of column to series, optional
        Levels of ladders, each with the value of every row; nothing is learnt for these columns.
    digits : mapping of column to series, optional
        Levels of numbers with fewer digits; groups may be learnt besides.
    fixed : collection of str
        Columns for which no coarser form may be learnt.
    also : callable, optional
        A further check of columns as attackers see them. It must be monotone: if columns fail it,
        all finer ones do.
    most : int
        The most people who may be suppressed, see `keeps_people`.
    codes : CodedFrame, optional
        The columns as codes, if the caller has them.
    budgets : sequence of int
        Most sets to fit after each time of learning groups; its length is the number of times.
    """
    levels = levels or {}
    written = [*written_rungs(frame, digits or {}, DIGITS), *written_rungs(frame, levels, WRITTEN)]
    coarse_bits = RungBits.of_columns(bits, frame).with_rungs(frame, written)
    finest = _finest(coarse_bits, frame, {*levels, *fixed}, max(k for _, k in views))
    # `keeps` sees this list grow. Rungs are only appended, so its cached answers stay valid.
    rungs = [*coarse_bits.rungs]
    keeps = _keeps_all(
        views,
        lambda quasi, k: keeps_people(
            rungs, frame, quasi, k, coarse_bits.people, also, most, codes
        ),
        together=also is not None,
    )
    for time, (budget, times) in enumerate(zip(budgets, cycle(TIMES_CAUTION))):
        before = _scored(coarse_bits, keeps)
        given = before.sets[before.chosen(times * caution)] if time and before.sets else ()
        chain = WRITTEN + 1 + time
        learnt = learnt_rungs(
            coarse_bits, frame, finest, _worths(before, times * caution), chain, given
        )
        if time and not learnt:
            break
        coarse_bits = coarse_bits.with_rungs(frame, learnt)
        rungs += learnt
        _explore(coarse_bits, keeps, budget, caution)
    return _scored(coarse_bits, keeps)


def _keeps_all(
    views: Sequence[tuple[Sequence[str], int]],
    keeps: Callable[[Sequence[str], int], Keeps],
    together: bool,
) -> Keeps:
    """The check that a set keeps every attacker's k.

    If `together`, the further check covers all attackers at once, so it gets all their columns.
    """
    if together and len(views) > 1:
        views = [(list(dict.fromkeys(name for known, _ in views for name in known)), 1)]
    each = [keeps(known, k) for known, k in views]
    return each[0] if len(each) == 1 else lambda columns: all(one(columns) for one in each)


def too_few_to_learn(parts: Parts) -> bool:
    """Whether some round has too few training rows to learn groups from.

    >>> too_few_to_learn(Parts.drawn(np.array([0, 1] * 700)))
    True
    """
    return min(len(learn) for learn, _ in parts.choosing.rounds) < FEWEST_ROWS


def learnt_rungs(
    bits: RungBits,
    frame: pl.DataFrame,
    finest: Sequence[FinestForm | None],
    worths: Sequence[float],
    chain: int,
    given: Columns = (),
) -> list[Rung]:
    """Coarser forms of every column, learnt given a released set of rungs.

    Merges start from `finest`, which is `None` for columns without a form. `worths` are the values
    of one bit about the target and of one about the secret: 1 / D_y and -caution / D_s. The set
    `given` counts without the column's own rung.
    """
    grounds = list(_grounds(bits, worths))
    rungs: list[Rung] = []
    for column, (series, form) in enumerate(zip(frame, finest)):
        if form is None or len(form) <= min(SIZES):
            continue
        others = tuple(c for c in given if bits.rungs[c].column != column)
        everybody = np.bincount(form.codes(series), minlength=len(form) + 1)[1:]
        *trials, released = (
            merged_groups(
                form.codes(series[ground.rows]),
                len(form),
                ground.residuals(others),
                SIZES,
                ordered=form.ordered,
                roundness=form.roundness,
                apart=form.ranked and form.others,
                rows=everybody,
            )
            for ground in grounds
        )
        for groups, group_of in released.items():
            learnt = tuple(CoarserForm(form, trial[groups]) for trial in trials)
            rungs.append(Rung(column, groups, chain, CoarserForm(form, group_of), None, learnt))
    return rungs


class _Ground:
    """Rows to learn groups from, and the residuals of target and secret on them."""

    def __init__(
        self,
        bits: RungBits,
        rows: NDArray[np.intp],
        table: CodedTable,
        questions: Sequence[tuple[Question, Floats, float]],
    ) -> None:
        self.bits = bits
        self.rows = rows
        self.table = table
        self.questions = questions
        self.half = _halves(rows, bits.people)
        self.found: dict[Columns, list[Residuals]] = {}

    def residuals(self, given: Columns) -> list[Residuals]:
        """Residuals given some rungs, cross-fitted: each half of the rows predicts the other."""
        if given not in self.found:
            self.found[given] = [
                Residuals.of(
                    self._said(question, known, given), question.label[self.rows], worth=worth
                )
                for question, known, worth in self.questions
            ]
        return self.found[given]

    def _said(self, question: Question, known: Floats, given: Columns) -> Floats:
        proba = np.array(known[self.rows])
        for half in (self.half, ~self.half) if given else ():
            proba[half] = self.bits.boosting.probabilities(
                self.table,
                question.label,
                self.rows[~half],
                self.rows[half],
                columns=[*given, *question.beside],
                start=known,
                classes=question.classes,
            )
        return proba


def _grounds(bits: RungBits, worths: Sequence[float]) -> Iterator[_Ground]:
    """The training rows of each round, and last all rows that a search may see."""
    questions = [bits.target] if bits.secret is None else [bits.target, bits.secret]
    for number, (learn, _) in enumerate(bits.parts.choosing.rounds):
        known = [question.known[number] for question in questions]
        yield _Ground(bits, learn, bits.coded_for(number), list(zip(questions, known, worths)))
    search, target = bits.parts.search, bits.target
    known = [np.tile(shares(target.label[search], target.classes), (len(target.label), 1))]
    known += [shares_given(q.label, target.label, search, q.classes) for q in questions[1:]]
    yield _Ground(bits, search, bits.table, list(zip(questions, known, worths)))


def _halves(rows: NDArray[np.intp], people: People) -> NDArray[np.bool_]:
    """Mask of about half of the rows, with whole people; the same in every call."""
    who = people.codes[rows]
    # A stream of its own: with the plain seed 0, the draws could be those that selected the rows.
    stream = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(1,)))
    return np.asarray((stream.random(int(who.max()) + 1) < 0.5)[who])


def _explore(bits: RungBits, keeps: Keeps, budget: int, caution: float) -> None:
    """Step from the front and from the best set until neither changes or the budget is spent.

    Each pass takes a few steps from each set, the most promising first, since these may find better
    sets to step from. A step that breaks k makes other columns coarser.
    """
    worth = _alone(bits, caution)
    ahead: dict[Columns, list[Columns]] = {}
    last = len(bits.fitted) + budget
    while True:
        steps: list[Columns] = []
        for start in _promising(_scored(bits, keeps), caution):
            if start not in ahead:
                few = _few(moves(bits.rungs, start), worth)
                roomy = (coarsen_others(bits.rungs, start, step, keeps, worth) for step in few)
                ahead[start] = _few(list(dict.fromkeys(roomy)), worth)
            new = [c for c in ahead[start] if c and c not in bits.fitted]
            steps += new[:AT_ONCE]
            ahead[start] = new[AT_ONCE:]
        if not steps:
            return
        for columns in dict.fromkeys(steps):
            if len(bits.fitted) == last:
                return
            bits.score(columns)


def _alone(bits: RungBits, caution: float) -> Floats:
    """Expected value of each rung alone, by a score test."""
    target, secret = _worths(_scored(bits, lambda columns: True), caution)
    teaches, tells = bits.expected(())
    return np.asarray(target * teaches + secret * tells)


def _few(steps: Sequence[Columns], worth: Floats) -> list[Columns]:
    """The most promising steps, best first, by the sum of the values of single rungs."""
    return sorted(steps, key=lambda columns: -float(worth[list(columns)].sum()))[:MOVES]


def _promising(scored: CoarserSets, caution: float) -> list[Columns]:
    """The thinned front and the set of the highest value; the empty set if there are none."""
    if not scored.sets:
        return [()]
    measured, sets = scored.measured, scored.sets
    both = np.column_stack([measured.kept, measured.told])[: len(sets)].tolist()
    front = thinned({columns: (kept, told) for columns, (kept, told) in zip(sets, both)}, WIDTH)
    best = sets[int(measured.value(caution)[: len(sets)].argmax())]
    return list(dict.fromkeys([*front, best]))


def _scored(bits: RungBits, keeps: Keeps) -> CoarserSets:
    sets = tuple(columns for columns in bits.fitted if columns and keeps(columns))
    return CoarserSets(bits, sets, bits.measured(sets))


def _worths(scored: CoarserSets, caution: float) -> tuple[float, float]:
    """The value of one bit about the target, and of one about the secret, in the choice."""
    measured = scored.measured
    kept = 1 / measured.target_scale if measured.teaches else 0.0
    told = caution / measured.secret_scale if measured.tells else 0.0
    return kept, -told


def written_rungs(
    frame: pl.DataFrame, levels: Mapping[str, Sequence[pl.Series]], chain: int
) -> Iterator[Rung]:
    """Levels as rungs, without constant ones, which are the column's absence."""
    for name, every in levels.items():
        column = frame.columns.index(name)
        for number, level in enumerate(every, start=1):
            groups = level.n_unique() - level.has_nulls()
            dropped = number if level.dtype.is_numeric() else 0
            if level.n_unique() > 1:
                yield Rung(column, groups, chain, None, level.alias(name), dropped=dropped)


def _finest(
    bits: RungBits, frame: pl.DataFrame, fixed: Collection[str], k: int
) -> list[FinestForm | None]:
    """The finest form of each column, from all rows: it depends on neither labels nor a seed."""
    if too_few_to_learn(bits.parts):
        return [None] * frame.width
    rows = np.arange(frame.height)
    forms: list[FinestForm | None] = []
    for column in frame:
        if column.name in fixed:
            forms.append(None)
            continue
        (codes,) = CodedTable.of(column.to_frame()).codes
        forms.append(FinestForm.of(column, codes, rows, k=k, people=bits.people))
    return forms


def with_fewer_digits(
    scored: CoarserSets, numbers: Sequence[int], plain: Sequence[int] = ()
) -> tuple[CoarserSets, list[int]]:
    """Replace sets by ones with no more digits than teach; return all sets and the new numbers.

    Sets in `plain`, of unchanged columns, are returned only if they lose digits. A set with fewer
    digits is determined by the set that it replaces, so it tells no more; it keeps as much to
    within `CLOSE`, the tie within which every choice prefers the coarser set.
    """
    bits, digits = scored.bits, _digits(scored.bits.rungs)
    every = list(dict.fromkeys([*numbers, *plain]))
    used = {c for number in every for c in scored.sets[number]}
    needed = {
        column: _needed(bits, rungs, CLOSE * scored.measured.target_scale)
        for column, rungs in digits.items()
        if used.intersection(rungs)
    }
    places = {number: number for number in every}
    for back in range(max(needed.values(), default=0)):
        fewer = {
            number: _with(scored.sets[number], digits, needed, back)
            for number in every
            if places[number] == number
        }
        scored = _scored_too(scored, [each for n, each in fewer.items() if each != scored.sets[n]])
        place = {columns: i for i, columns in enumerate(scored.sets)}
        kept = scored.measured.kept
        for number, columns in fewer.items():
            if kept[place[columns]] >= kept[number] - CLOSE:
                places[number] = place[columns]
    wanted = [places[n] for n in every if n in numbers or places[n] != n]
    return scored, list(dict.fromkeys(wanted))


def _digits(rungs: Sequence[Rung]) -> Digits:
    by_column: Digits = {}
    for number, rung in enumerate(rungs):
        if rung.dropped:
            by_column.setdefault(rung.column, [rung.column]).append(number)
    return by_column


def _needed(bits: RungBits, rungs: Sequence[int], trifle: float) -> int:
    """The most digits that a column can lose and still teach as much alone, to within `trifle`."""
    own = bits.score((rungs[0],))[0]
    every = reversed(range(len(rungs)))
    return next(i for i in every if not i or bits.score((rungs[i],))[0] >= own - trifle)


def _with(columns: Columns, digits: Digits, needed: dict[int, int], back: int) -> Columns:
    """A set in which each number loses the digits it can, less `back` that it gets back."""
    moved = set(columns)
    for column, rungs in digits.items():
        own = next((i for i, rung in enumerate(rungs) if rung in moved), None)
        fewer = max(0, needed.get(column, 0) - back)
        if own is not None and fewer > own:
            moved = moved - {rungs[own]} | {rungs[fewer]}
    return tuple(sorted(moved))


def _scored_too(scored: CoarserSets, sets: Sequence[Columns]) -> CoarserSets:
    every = tuple(dict.fromkeys([*scored.sets, *sets]))
    return replace(scored, sets=every, measured=scored.bits.measured(every))
