"""Kept and told of any release: one yardstick for columns as they are, altered and synthetic ones.

Releases of columns as they are share one coded table and are fitted once for each set. What else a
release holds is learnt from as it is released, and asked about with people as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from tamis.arrays import Floats
from tamis.coarsen.learnt_forms import FinestCodes
from tamis.coding import Coded, coded, dense, joined
from tamis.errors import Progress
from tamis.evaluate.bits import KeptTold, Mean
from tamis.evaluate.figure import Figure
from tamis.evaluate.parts import Parts
from tamis.evaluate.readings import looked_up, most_telling
from tamis.evaluate.regression import BoostingOrRegression, whole_gains
from tamis.evaluate.rungs import in_form
from tamis.evaluate.subset_bits import Columns, Gains, Labels, Question, SubsetBits, told_most
from tamis.learn.boosting import Boosting, shares
from tamis.learn.coded_table import CODES, CodedTable
from tamis.learn.holdout import HoldOut, column_labels
from tamis.learn.views import Views
from tamis.learn.whole_people import seen_whole
from tamis.notebook import by_fields
from tamis.people import People
from tamis.release import DrawnRelease, Recipe, Release, released
from tamis.table import Table

REPORTED = Boosting(rounds=40)
"""Twice the rounds of a search: as good as far slower learners, to within some hundredths."""
MOST_ALIKE = 40
"""Of releases of more columns hardly any rows are alike."""
Z = 1.96
"""Standard errors to each side of a figure: a level of 0.95."""


@dataclass(frozen=True, eq=False)
class BitsScorer:
    """What releases of a table keep and tell, on the rows to choose by and on those to report.

    Parameters
    ----------
    original : Table
    searching, choosing, reporting : SubsetBits
        Of all features of the original: on the rows that a search asks about, on all rows that a
        search may see, each asked about by what others taught, and on those to report.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.release import Recipe, released
    >>> table = patients(rows=400)
    >>> labels = column_labels(table, table.target)
    >>> yardstick = BitsScorer.of(table, HoldOut.drawn(labels), labels)
    >>> every = [released(table, f, "", Recipe("")) for f in (table.features, [])]
    >>> compared = yardstick.compared(every)
    >>> compared.choosing.kept.round(1).tolist()
    [1.0, 0.0]
    """

    original: Table
    searching: SubsetBits
    choosing: SubsetBits
    reporting: SubsetBits
    _forms: WeakKeyDictionary[Release, dict[str, str] | None] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    """Found once: to compare columns with those of the original takes long."""
    _codes: dict[tuple[str, str | None], Coded] = field(
        default_factory=dict, init=False, repr=False
    )
    """The columns of releases by form, of the rows of all parts."""
    _views: WeakKeyDictionary[Release, list[Views]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    """What the form of a release's columns tells of each secret: the same whoever is asked about,
    since it is looked for on the rows that a search may see."""
    _told: WeakKeyDictionary[Release, dict[str, tuple[NDArray[np.float32], ...]]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    """What is gained about each secret, by part: `_secret_gains`."""

    __repr__ = by_fields

    @classmethod
    def of(
        cls,
        original: Table,
        split: HoldOut,
        labels: NDArray[Any],
        secrets: NDArray[Any] | None = None,
        random_state: int = 0,
        records: sparse.csr_array | None = None,
        others: Sequence[tuple[NDArray[Any], float]] = (),
    ) -> BitsScorer:
        """Code a table once, and draw the rows to learn from, to choose by and to report on.

        `labels` and `secrets` are the target and the sensitive value of each row; no secrets where
        that is the target: nothing is told then. `records` are all columns of 0/1 records that the
        table has some of: what they teach and tell is what kept and told are shares of. `others`
        are more secrets, each with what it weighs against the first.
        """
        target = np.unique(labels, return_inverse=True)[1]
        secret = None if secrets is None else np.unique(secrets, return_inverse=True)[1]
        # By the target alone, and columns by name: what is reported of the target then depends on
        # neither the secret nor the order of what is held back.
        people = split.people_of(original)
        parts = Parts.of(split, target, people, random_state)
        frame = original.only(sorted(original.features))
        searched, reported = Boosting(), REPORTED
        if records is not None:
            searched, reported = (
                BoostingOrRegression(),
                BoostingOrRegression(rounds=REPORTED.rounds),
            )
        choosing = SubsetBits.of(
            frame, target, secret, parts=parts.choosing, people=people, boosting=searched
        )
        also = [(np.unique(label, return_inverse=True)[1], weight) for label, weight in others]
        choosing = choosing.also_asking(frame, also)
        reporting = choosing.over(parts.reporting, reported)
        if records is not None:
            choosing.whole, reporting.whole = whole_gains(records, choosing, reporting)
        return cls(original, choosing.searching(parts), choosing, reporting)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns by their numbers: in the order of their names."""
        return tuple(sorted(self.original.features))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.features)}

    def columns(self, release: Release) -> Columns | None:
        """The columns that a release is of, as they are; `None` where it holds anything else."""
        forms = self.forms(release)
        if forms is None or any(forms.values()):
            return None
        return tuple(sorted(self._number[f] for f in forms))

    def forms(self, release: Release) -> dict[str, str] | None:
        """The form of each column of a release, empty for one as it is; `None`: other columns."""
        if release not in self._forms:
            self._forms[release] = self._found_forms(release)
        return self._forms[release]

    def _found_forms(self, release: Release) -> dict[str, str] | None:
        if release.is_altered or release.is_suppressed:
            return None
        if not set(release.features) <= set(self._number):
            return None
        plain = [f for f in release.features if f not in release.forms]
        if not release.table.only(plain).equals(self.original.only(plain)):
            return None
        return {f: release.forms[f].key if f in release.forms else "" for f in release.features}

    def compared(self, releases: Sequence[Release], progress: Progress | None = None) -> Compared:
        """Kept and told of several releases; all features count for the scales."""
        tried = len(self.searching.fitted)
        choosing = replace(self._measured(self.choosing, releases, progress), tried=tried)
        shown = choosing.teaches, choosing.tells
        reporting = replace(self._measured(self.reporting, releases), shown=shown)
        return Compared(choosing, reporting)

    def bits(self, release: Release, among: SubsetBits) -> tuple[SubsetBits, Columns]:
        """A table to learn a release from, and its columns there."""
        if release.is_suppressed:
            bits, columns = self.bits(release.unsuppressed, among)
            mask = release.mask if bits is among else release.mask[among.parts.every]
            return bits.learning_from(mask), columns
        as_they_are = self.columns(release)
        if as_they_are is not None:
            return among, as_they_are
        if isinstance(release, DrawnRelease):
            found = _drawn(release, among)
        else:
            trials, same = self._trials(release, among), self._as_they_are(release)
            found = _other(release, among, same, trials, self._views.get(release))
            asked = [found.secret, *(each.asked for each in found.others)]
            self._views[release] = [each.views for each in asked if each is not None]
        return found, found.everything

    def _trials(self, release: Release, among: SubsetBits) -> list[dict[int, CodedTable]]:
        """For each round the columns in forms that it learnt without the rows it asks about."""
        rounds = len(among.parts.rounds)
        found: list[dict[int, CodedTable]] = [{} for _ in range(rounds)]
        for place, name in enumerate(release.features):
            form = release.forms.get(name)
            if form is None or among is not self.choosing or len(form.trials) != rounds:
                continue
            for columns, trial in zip(found, form.trials):
                columns[place] = in_form(self._finest, self._number[name], trial)
        return found

    @cached_property
    def _finest(self) -> FinestCodes:
        """The rows to choose and to report by, in the finest groups of learnt forms."""
        return FinestCodes(self.original.only(self.features)[self.choosing.parts.every])

    def told_each(
        self, release: Release, part: Literal["choosing", "reporting"] = "reporting"
    ) -> list[float]:
        """The share that is told of each secret, the first one first, by the worst reading.

        Each by itself: a share of what all columns tell of it.
        """
        among = self.reporting if part == "reporting" else self.choosing
        found = self._secret_gains(release, among)
        return [
            max(0.0, float(gains.mean(dtype=np.float64))) / scale
            for gains, scale in zip(found, among.told_scales)
        ]

    def _as_they_are(self, release: Release) -> dict[int, int]:
        """The columns of a release that are as in the original, by their numbers there."""
        forms = self.forms(release) or {}
        return {self._number[f]: i for i, f in enumerate(release.features) if forms.get(f) == ""}

    def _measured(
        self, among: SubsetBits, releases: Sequence[Release], progress: Progress | None = None
    ) -> KeptTold:
        forms = [None if release.n_unlisted else self.forms(release) for release in releases]
        gains = []
        for done, release in enumerate(releases):
            if progress is not None:
                progress(f"measuring {release.name}", done, len(releases))
            gains.append(self._gains(release, among))
        names = self.features
        for columns in dict.fromkeys((among.everything, *among.fitted)):
            fitted = {names[c]: "" for c in columns}
            if fitted not in forms:
                forms.append(fitted)
                gains.append(among.gains(columns))
        everything = forms.index(dict.fromkeys(names, ""))
        if among.whole is not None:
            everything = next(
                (i for i, release in enumerate(releases) if release.n_unlisted), len(forms)
            )
            if everything == len(forms):
                forms.append(None)
                gains.append(among.whole)
        within = forms_within(forms)
        within[everything] = True
        for i, release in enumerate(releases):  # who has all columns can cut or coarsen them
            within[everything, i] = not release.is_altered
        return among.kept_told(gains, within, everything)

    def _gains(self, release: Release, among: SubsetBits) -> Gains:
        if release.n_unlisted and among.whole is not None:
            return among.whole
        fitted = self.bits(release, among)
        found = self._secret_gains(release, among, fitted)
        return fitted[0].gains(fitted[1])[0], told_most(found) if found else None

    def _secret_gains(
        self,
        release: Release,
        among: SubsetBits,
        fitted: tuple[SubsetBits, Columns] | None = None,
    ) -> tuple[NDArray[np.float32], ...]:
        """The gains about each secret, by the reading of the release that tells most of it."""
        known = self._told.setdefault(release, {})
        part = "reporting" if among is self.reporting else "choosing"
        if part not in known and among.secret is not None:
            people = self.choosing.people[among.parts.asked]
            fitted = self.bits(release, among) if fitted is None else fitted
            boosted = self._boosted(release, among, fitted)
            whole = self._seen_whole(release, among)
            groups = list(self._alike(release, among))
            worst = []
            for number, (asked, worth) in enumerate(among.secrets):
                looked = (worth * self._of_alike(*each, among, asked) for each in groups)
                seen = (each[number].astype(np.float64) for each in whole)
                read = most_telling(boosted[number], chain(looked, seen), people)
                worst.append(read.astype(np.float32))
            known[part] = tuple(worst)
        return known.get(part, ())

    def _alike(self, release: Release, among: SubsetBits) -> Iterator[tuple[Release, NDArray[Any]]]:
        """Groups of rows alike in all columns, in those that are known, in one, to look them up."""
        names = release.features
        if release.is_drawn:  # as in `_boosted`: the columns as they are
            names = tuple(f for f in names if f in self._number)
            release = released(self.original, names, "", Recipe(""))
        if not names or len(names) > MOST_ALIKE:
            return
        rows, forms = among.parts.every, self.forms(release.unsuppressed) or {}
        cells = {name: self._cells(release, name, forms.get(name), rows) for name in names}
        known = [name for name in release.table.quasi if name in cells]
        many = [(name,) for name in names if CODES <= cells[name].radix <= len(rows) / 2]
        for together in dict.fromkeys([tuple(names), tuple(known), *many]):
            if together:
                alike = dense(reduce(joined, (cells[name] for name in together)))
                if alike.radix <= len(rows) / 2:
                    yield release, alike.codes

    def _seen_whole(
        self, release: Release, among: SubsetBits
    ) -> list[tuple[NDArray[np.float32], ...]]:
        """What the boosting reads where all rows of a person are seen together, if they are."""
        together = release.people.together and not release.is_drawn
        if not together or not 0 < len(release.features) <= MOST_ALIKE:
            return []
        bits, columns = self.bits(seen_whole(release), among)
        return [bits.secret_gains(columns)]

    def _of_alike(
        self, release: Release, alike: NDArray[Any], among: SubsetBits, secret: Question
    ) -> Floats:
        """What is gained by looking up rows that are alike: `alike` is of all rows of any part.

        Where values were altered, people as they are stand below them, as in `_other`.
        """
        rows, found = among.parts.every, []
        classes = among.target.classes
        target = np.tile(among.target.label[rows], len(alike) // len(rows))
        groups = np.asarray(alike, dtype=np.int64) * classes + target
        below = len(groups) - len(rows)
        for (learn, ask), known in zip(among.parts.rounds, secret.known):
            inside = learn[release.mask[learn]] if release.is_suppressed else learn
            learnt, asked = np.searchsorted(rows, inside), np.searchsorted(rows, ask) + below
            found.append(
                looked_up(
                    groups[learnt], secret.label[inside], groups[asked],
                    known[ask], secret.label[ask],
                )
            )  # fmt: skip
        return np.concatenate(found)

    def _cells(
        self, release: Release, name: str, form: str | None, rows: NDArray[np.intp]
    ) -> Coded:
        """A column of a release as codes of some rows; one that another release has is known."""
        asked = name, form
        if form is not None and asked in self._codes:
            return self._codes[asked]
        frame = release.unsuppressed.table.only([name])[rows]
        if release.is_altered:
            true = release.true_values.only([name])[rows]
            frame = pl.concat([frame, true], how="vertical_relaxed")
        cells = coded(frame.to_series())
        if form is not None:
            self._codes[asked] = cells
        return cells

    def _boosted(
        self, release: Release, among: SubsetBits, fitted: tuple[SubsetBits, Columns]
    ) -> tuple[NDArray[np.float32], ...]:
        """What the boosting reads of a release about each secret."""
        if not release.is_drawn:
            bits, columns = fitted
            return bits.secret_gains(columns)
        # The rows drawn lack the secret; who knows it of some people learns from them, which is
        # more than drawn rows can reveal.
        true = tuple(self._number[f] for f in release.features if f in self._number)
        return among.secret_gains(true)


@dataclass(frozen=True, eq=False)
class Compared:
    """Kept and told of the same releases, in their order, by the rows to choose and to report."""

    choosing: KeptTold
    reporting: KeptTold

    __repr__ = by_fields

    def figures(
        self, number: int, part: Literal["choosing", "reporting"]
    ) -> dict[str, Figure | None]:
        """The measures of one release by name; what is told is `None` where there is no secret."""
        found = self.choosing if part == "choosing" else self.reporting
        kept = Mean(float(found.kept[number]), found.kept_error(number))
        told = Mean(float(found.told[number]), found.told_error(number))
        secret = found.secret_gains is not None
        return {
            "kept": figure(kept),
            "told": figure(told) if secret else None,
            "useful": figure(found.useful[number]),
            "telling": figure(found.telling[number]) if secret else None,
        }


def figure(found: Mean) -> Figure:
    """A mean with its interval.

    >>> figure(Mean(0.5, 0.1))
    Figure(value=0.5, low=0.304, high=0.696)
    """
    half = Z * found.error
    return Figure(found.value, found.value - half, found.value + half)


def forms_within(sets: Sequence[Mapping[str, str] | None]) -> NDArray[np.bool_]:
    """Which release lies within which: by each column as it is there, or in the same form.

    What is no set of columns lies within itself alone.
    """
    columns = list(
        dict.fromkeys((name, form) for each in sets for name, form in (each or {}).items())
    )
    has, gives = (np.zeros((len(sets), len(columns)), dtype=np.bool_) for _ in range(2))
    for i, each in enumerate(sets):
        for j, (name, form) in enumerate(columns):
            own = None if each is None else each.get(name)
            has[i, j] = own == form
            gives[i, j] = own is not None and own in ("", form)
    lacking = (~gives).astype(np.float32) @ has.T.astype(np.float32)
    within = lacking == 0
    other = np.array([each is None for each in sets])
    within[other, :] = within[:, other] = False
    np.fill_diagonal(within, True)
    return np.asarray(within)


def _other(
    release: Release,
    among: SubsetBits,
    same: Mapping[int, int],
    trials: Sequence[Mapping[int, CodedTable]],
    found: Sequence[Views] | None,
) -> SubsetBits:
    """What is released, as a table of its own of the rows that are learnt from or asked about.

    Where values were altered, people as they are stand below it: learnt from above, asked below.
    Of columns that are the `same` as before the views are known. `trials` are columns that are
    coded otherwise in each round, `found` the views of each secret where somebody has them.
    """
    parts = among.parts
    rows = parts.every
    frame = release.table.only(release.features)[rows]
    below = 0
    if release.is_altered:
        true = release.true_values.only(release.features)[rows]
        frame, below = pl.concat([frame, true], how="vertical_relaxed"), len(rows)
    own = _moved(parts, rows, below)
    coded = CodedTable.of(frame, own.search)
    target = _of_rows(among.target, rows, bool(below))
    secret = among.secret and _of_rows(among.secret, rows, bool(below), len(coded))
    label = CodedTable.of_label(target.label, own.search)
    table = coded.beside(label)
    rounds = trials if any(trials) else ()
    tables = tuple(coded.with_columns(columns).beside(label) for columns in rounds)
    people = among.people[rows]
    if below:
        people = people.and_others(people)
    bits = SubsetBits(table, own, target, secret, people, among.boosting, tables=tables)
    others = [_of_rows(each.asked, rows, bool(below), len(coded)) for each in among.others]
    if found is None and among.secret is not None:
        fresh = set(range(frame.width)) - {*same.values()}
        before = [among.secret, *(each.asked for each in among.others)]
        found = [
            bits.found_views(frame, asked.views.among(same), fresh, guess)
            for asked, guess in zip(before, (secret, *others))
        ]
    first, *rest = found or [Views()]
    bits.others = tuple(
        each._replace(asked=replace(guess, views=views))
        for each, guess, views in zip(among.others, others, rest)
    )
    return bits.with_views(first)


def _moved(parts: Parts, rows: NDArray[np.intp], below: int) -> Parts:
    """The same parts where only some rows are left; those asked about stand so far below."""
    learn, choose, report = (
        np.searchsorted(rows, p) for p in (parts.learn, parts.choose, parts.report)
    )
    rounds = ((np.searchsorted(rows, a), np.searchsorted(rows, b) + below) for a, b in parts.rounds)
    return replace(parts, learn=learn, choose=choose, report=report + below, rounds=tuple(rounds))


def _of_rows(asked: Question, rows: NDArray[np.intp], twice: bool, *beside: int) -> Question:
    """A question about some rows, which stand twice below each other or once."""
    every = np.tile(rows, 1 + twice)
    known = tuple(each[every] for each in asked.known)
    return Question(asked.label[every], asked.classes, known, beside)


def _drawn(release: DrawnRelease, among: SubsetBits) -> SubsetBits:
    """Synthetic rows, with people as they are below them; they lack the secret."""
    drawn, true = release.evaluation_sample, release.unaltered
    parts, rows, names = among.parts, drawn.rows, list(drawn.features)
    frame = pl.concat([drawn.only(names), true.only(names)], how="vertical_relaxed")
    learn = np.arange(rows)
    below = replace(
        parts,
        learn=learn[::2],
        choose=learn[1::2],
        report=parts.report + rows,
        rounds=((learn, parts.asked + rows),),
    )
    # A label that no row of the table has, but that was declared, stays at the table's last.
    labels = np.unique(column_labels(true, true.target))
    above = np.searchsorted(labels, column_labels(drawn, drawn.target)).clip(max=len(labels) - 1)
    label = np.concatenate([above, among.target.label])
    known = np.concatenate([_prior(above, among.target.classes), _baseline(among.target, parts)])
    table = CodedTable.of(frame, learn).beside(CodedTable.of_label(label, learn))
    question = Question(label, among.target.classes, (known,))
    people = People.of_rows(len(label))
    return SubsetBits(table, below, question, None, people, among.boosting)


def _prior(label: Labels, classes: int) -> Floats:
    return np.tile(shares(label, classes), (len(label), 1))


def _baseline(asked: Question, parts: Parts) -> Floats:
    """What is known of each row without a release, of asked rows as in their own round."""
    known = np.array(asked.known[0])
    for each, (_, ask) in zip(asked.known, parts.rounds):
        known[ask] = each[ask]
    return known
