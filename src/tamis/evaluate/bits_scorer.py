"""Kept and told of any release: columns as they are, coarser, altered or synthetic.

Releases of unchanged columns share one coded table, and each set of columns is fitted once. Any
other release gets a table of its own: models train on released values and are tested on true ones.
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
"""Twice the rounds of a search: within some hundredths of far slower learners."""
MOST_ALIKE = 40
"""Releases of more columns have hardly any equal rows, so nothing is looked up in them."""
Z = 1.96
"""Standard errors on each side of a 95% interval."""


@dataclass(frozen=True, eq=False)
class BitsScorer:
    """Scores kept and told of releases of a table, on the choosing and the reporting rows.

    Parameters
    ----------
    original : Table
    searching, choosing, reporting : SubsetBits
        Sets of the original's features, scored on three splits: the one that a search tests on,
        cross-fitted over all rows that a search may see, and the rows to report on.

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
    """Cached, since comparing every column with the original's takes long."""
    _codes: dict[tuple[str, str | None], Coded] = field(
        default_factory=dict, init=False, repr=False
    )
    """Codes of released columns, by name and form, for the rows of all parts."""
    _views: WeakKeyDictionary[Release, list[Views]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    """Views of a release's values, one for each secret. They are selected on the rows that a search
    may see, so choosing and reporting share them."""
    _told: WeakKeyDictionary[Release, dict[str, tuple[NDArray[np.float32], ...]]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    """Gains about each secret, by part, see `_secret_gains`."""

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

        `labels` and `secrets` are the target and the sensitive value of each row; `secrets` is
        `None` if the secret is the target: told is 0 then. `records` are the full 0/1 records of
        which the table has some columns; they set the scales of kept and told. `others` are further
        secrets, each with its weight relative to the first.
        """
        target = np.unique(labels, return_inverse=True)[1]
        secret = None if secrets is None else np.unique(secrets, return_inverse=True)[1]
        # Strata are the target's alone and columns are in the order of their names, so that kept
        # depends on neither the secret nor the order of the columns in the file.
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
        """Feature names, sorted; a column's number is its place here."""
        return tuple(sorted(self.original.features))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.features)}

    def columns(self, release: Release) -> Columns | None:
        """Column numbers of a release of unchanged columns; `None` for any other release."""
        forms = self.forms(release)
        if forms is None or any(forms.values()):
            return None
        return tuple(sorted(self._number[f] for f in forms))

    def forms(self, release: Release) -> dict[str, str] | None:
        """The form of each released column, empty for one as it is.

        `None` for releases that are no set of forms: altered, suppressed or synthetic ones.
        """
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
        """Kept and told of several releases, on scales that all fitted sets contribute to."""
        tried = len(self.searching.fitted)
        choosing = replace(self._measured(self.choosing, releases, progress), tried=tried)
        shown = choosing.teaches, choosing.tells
        reporting = replace(self._measured(self.reporting, releases), shown=shown)
        return Compared(choosing, reporting)

    def bits(self, release: Release, among: SubsetBits) -> tuple[SubsetBits, Columns]:
        """The coded table that a release is learnt from, and the release's columns in it."""
        if release.is_suppressed:
            bits, columns = self.bits(release.unsuppressed, among)
            mask = release.mask if bits is among else release.mask[among.parts.every]
            return bits.learning_from(mask), columns
        as_they_are = self.columns(release)
        if as_they_are is not None:
            return among, as_they_are
        if isinstance(release, DrawnRelease):
            own = _drawn(release, among)
        else:
            trials, same = self._trials(release, among), self._as_they_are(release)
            own = _other(release, among, same, trials, self._views.get(release))
            asked = [own.secret, *(each.asked for each in own.others)]
            self._views[release] = [each.views for each in asked if each is not None]
        return own, own.everything

    def _trials(self, release: Release, among: SubsetBits) -> list[dict[int, CodedTable]]:
        """For each cross-fitting round, the columns in forms learnt without its test rows.

        A form learnt from a test row would have seen that row's label.
        """
        rounds = len(among.parts.rounds)
        trials: list[dict[int, CodedTable]] = [{} for _ in range(rounds)]
        for place, name in enumerate(release.features):
            form = release.forms.get(name)
            if form is None or among is not self.choosing or len(form.trials) != rounds:
                continue
            for columns, trial in zip(trials, form.trials):
                columns[place] = in_form(self._finest, self._number[name], trial)
        return trials

    @cached_property
    def _finest(self) -> FinestCodes:
        """Rows of all parts as codes of the finest groups that learnt forms merge."""
        return FinestCodes(self.original.only(self.features)[self.choosing.parts.every])

    def told_each(
        self, release: Release, part: Literal["choosing", "reporting"] = "reporting"
    ) -> list[float]:
        """Told of each secret on its own scale, the main secret first, by the worst reading."""
        among = self.reporting if part == "reporting" else self.choosing
        by_secret = self._secret_gains(release, among)
        return [
            max(0.0, float(gains.mean(dtype=np.float64))) / scale
            for gains, scale in zip(by_secret, among.told_scales)
        ]

    def _as_they_are(self, release: Release) -> dict[int, int]:
        """Unchanged columns: from the number in the original to the place in the release."""
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
        about_secrets = self._secret_gains(release, among, fitted)
        return fitted[0].gains(fitted[1])[0], told_most(about_secrets) if about_secrets else None

    def _secret_gains(
        self,
        release: Release,
        among: SubsetBits,
        fitted: tuple[SubsetBits, Columns] | None = None,
    ) -> tuple[NDArray[np.float32], ...]:
        """Gains about each secret, by the reading of the release that tells most of it."""
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
        """Groupings of rows to look up: by all columns, by the quasi-identifiers, by single ones.

        Single columns count where they have too many values for the boosting to code each. A
        grouping of two rows or fewer a group on average has nothing to look up.
        """
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
        """Gains of the boosting that sees all rows of a person at once, if a release links them."""
        together = release.people.together and not release.is_drawn
        if not together or not 0 < len(release.features) <= MOST_ALIKE:
            return []
        bits, columns = self.bits(seen_whole(release), among)
        return [bits.secret_gains(columns)]

    def _of_alike(
        self, release: Release, alike: NDArray[Any], among: SubsetBits, secret: Question
    ) -> Floats:
        """Gains of looking up equal rows; `alike` is the group of each row of all parts.

        Where values were altered, true rows stand below released ones, as in `_other`.
        """
        rows, gained = among.parts.every, []
        classes = among.target.classes
        target = np.tile(among.target.label[rows], len(alike) // len(rows))
        # Group and target packed into one number: the target is known for every row.
        groups = np.asarray(alike, dtype=np.int64) * classes + target
        below = len(groups) - len(rows)
        for (learn, ask), known in zip(among.parts.rounds, secret.known):
            inside = learn[release.mask[learn]] if release.is_suppressed else learn
            learnt, asked = np.searchsorted(rows, inside), np.searchsorted(rows, ask) + below
            gained.append(
                looked_up(
                    groups[learnt], secret.label[inside], groups[asked],
                    known[ask], secret.label[ask],
                )
            )  # fmt: skip
        return np.concatenate(gained)

    def _cells(
        self, release: Release, name: str, form: str | None, rows: NDArray[np.intp]
    ) -> Coded:
        """A released column as codes of some rows, cached by form."""
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
        """Gains of the boosting about each secret."""
        if not release.is_drawn:
            bits, columns = fitted
            return bits.secret_gains(columns)
        # Synthetic rows lack the secret. An attacker who knows it for some real people learns from
        # those, which is more than synthetic rows can reveal.
        true = tuple(self._number[f] for f in release.features if f in self._number)
        return among.secret_gains(true)


@dataclass(frozen=True, eq=False)
class Compared:
    """Kept and told of the same releases, in their order, on the choosing and reporting rows."""

    choosing: KeptTold
    reporting: KeptTold

    __repr__ = by_fields

    def figures(
        self, number: int, part: Literal["choosing", "reporting"]
    ) -> dict[str, Figure | None]:
        """Figures of one release by measure; told is `None` where there is no secret."""
        measured = self.choosing if part == "choosing" else self.reporting
        kept = Mean(float(measured.kept[number]), measured.kept_error(number))
        told = Mean(float(measured.told[number]), measured.told_error(number))
        secret = measured.secret_gains is not None
        return {
            "kept": figure(kept),
            "told": figure(told) if secret else None,
            "useful": figure(measured.useful[number]),
            "telling": figure(measured.telling[number]) if secret else None,
        }


def figure(mean: Mean) -> Figure:
    """A mean with its 95% interval.

    >>> figure(Mean(0.5, 0.1))
    Figure(value=0.5, low=0.304, high=0.696)
    """
    half = Z * mean.error
    return Figure(mean.value, mean.value - half, mean.value + half)


def forms_within(sets: Sequence[Mapping[str, str] | None]) -> NDArray[np.bool_]:
    """Which release can be derived from which: `[i, j]` says that i has all that j has.

    A column as it is can be brought into any form; a form only into itself. `None`, a release that
    is no set of columns, can be derived from itself alone.
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
    known_views: Sequence[Views] | None,
) -> SubsetBits:
    """A release as a coded table of its own, of the rows of all parts.

    Where values were altered, the true rows are stacked below the released ones: models learn from
    the upper half and are tested on the lower. Views of columns that are the `same` as before are
    reused. `trials` has columns coded differently in each round, `known_views` the views of each
    secret if they were selected before.
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
    if known_views is None and among.secret is not None:
        fresh = set(range(frame.width)) - {*same.values()}
        before = [among.secret, *(each.asked for each in among.others)]
        known_views = [
            bits.found_views(frame, asked.views.among(same), fresh, guess)
            for asked, guess in zip(before, (secret, *others))
        ]
    first, *rest = known_views or [Views()]
    bits.others = tuple(
        each._replace(asked=replace(guess, views=views))
        for each, guess, views in zip(among.others, others, rest)
    )
    return bits.with_views(first)


def _moved(parts: Parts, rows: NDArray[np.intp], below: int) -> Parts:
    """The parts renumbered within `rows`; test rows are `below` places further down."""
    learn, choose, report = (
        np.searchsorted(rows, p) for p in (parts.learn, parts.choose, parts.report)
    )
    rounds = ((np.searchsorted(rows, a), np.searchsorted(rows, b) + below) for a, b in parts.rounds)
    return replace(parts, learn=learn, choose=choose, report=report + below, rounds=tuple(rounds))


def _of_rows(asked: Question, rows: NDArray[np.intp], twice: bool, *beside: int) -> Question:
    """A question restricted to some rows, which are stacked twice if `twice`."""
    every = np.tile(rows, 1 + twice)
    known = tuple(each[every] for each in asked.known)
    return Question(asked.label[every], asked.classes, known, beside)


def _drawn(release: DrawnRelease, among: SubsetBits) -> SubsetBits:
    """Synthetic rows to learn from, stacked on true rows to test on; they lack the secret."""
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
    # A declared label that no real row has counts as the last one: no test row has it as truth.
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
    """Baseline probabilities of each row; for test rows those of their own round."""
    known = np.array(asked.known[0])
    for each, (_, ask) in zip(asked.known, parts.rounds):
        known[ask] = each[ask]
    return known
