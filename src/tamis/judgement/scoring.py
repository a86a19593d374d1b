"""The scorecard of foreign releases: models learn from them and are tested on other people.

Unique rows and secrets that such rows replicate are counted by the measures that synthpop calls
repU and DiSCO, after Raab, Nowok and Dibben (2024). Both are about an intruder who knows the keys
of a person and takes the released rows for true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.arrays import RowNumbers
from tamis.attack.sources import in_its_terms
from tamis.catalogue.methods import EVERYTHING, NOTHING
from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError, Progress, listed
from tamis.evaluate.bits_scorer import BitsScorer
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Scorecard, scorecard
from tamis.flow import consider
from tamis.judgement.alignment import Aligned, Foreign, align, in_forms
from tamis.judgement.generator import Generator
from tamis.learn.holdout import HoldOut
from tamis.learn.models import attackers, seeded
from tamis.release import DrawnRelease, Recipe, Release, released
from tamis.rules.ruleset import RuleSet
from tamis.settings import Settings
from tamis.table import Table, frame_of_columns, only

ELSEWHERE = "elsewhere"
"""The method name of releases that tamis did not make."""


def without_identifiers(table: Table) -> pl.DataFrame:
    """The columns that a generator is given: all but identifiers and dropped ones."""
    gone = {*table.roles.identifiers, *table.roles.dropped}
    return table.only([c for c in table.frame.columns if c not in gone])


@dataclass(frozen=True, eq=False)
class Terms:
    """The arguments of `judge`."""

    original: Table
    control: Table | None
    ladders: Mapping[str, Ladder]
    encoding: Any
    secret: str | None
    known: Sequence[str] | None
    most: int
    random_state: int
    rules: RuleSet | None

    @property
    def everybody(self) -> Table:
        """The people of the original, then those of the control group."""
        if self.control is None:
            return self.original
        columns = self.original.frame.columns
        if lacking := [c for c in columns if c not in self.control.frame.columns]:
            raise InputError(
                f"the control group has no column {listed(lacking)}; give people in the columns of "
                "the original"
            )
        theirs = only(self.control.frame, columns).cast(self.original.frame.schema, strict=False)
        return replace(self.original, frame=pl.concat([self.original.frame, theirs]))

    def aligned(self, foreign: Foreign) -> Aligned:
        return align(self.original, foreign, self.ladders, self.encoding, self.control)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows that a generator made from everybody, and those from the training people alone."""

    foreign: Foreign
    seen: RowNumbers
    of_seen: pl.DataFrame


def run_generator(generator: Generator, asked: Terms, evaluator: Evaluator | None) -> DrawnRows:
    table = asked.original
    frame = without_identifiers(table)
    whole = Table(generator.run(frame, asked.random_state))
    split = None if evaluator is None else evaluator.split
    seen = np.sort(split.seen) if split is not None else np.arange(frame.height)[::2]
    of_seen = generator.run(frame[seen], asked.random_state + 1)
    return DrawnRows(Foreign(generator.name, whole), seen, of_seen)


@dataclass(frozen=True, eq=False)
class Judges:
    """The evaluator of releases, and proposals; no evaluator where nothing can be learnt."""

    asked: Terms
    evaluator: Evaluator | None
    proposed: tuple[Release, ...] = ()
    lacking: str = ""
    """Why there is no evaluator."""

    def score(
        self, aligned: Sequence[Aligned], made: DrawnRows | None, progress: Progress
    ) -> tuple[Scorecard | None, dict[str, str]]:
        """The scorecard, and for each release why it is not on it, empty if it is."""
        evaluator, why = self.evaluator, dict.fromkeys((a.name for a in aligned), self.lacking)
        if evaluator is None:
            return None, why
        ends, fit, drawn = _ends(evaluator.original), [], {}
        for matched in aligned:
            sample = made.of_seen if made and matched.name == made.foreign.name else None
            try:
                fit.append(as_release(matched, evaluator.original, self.asked, sample))
            except InputError as error:
                why[matched.name] = str(error)
                continue
            if evaluator.sensitive in matched.columns:
                drawn[matched.name] = _learnt_from(matched, self.asked, sample)
        try:
            card = scorecard(evaluator, *ends, [*fit, *self.proposed], progress=progress)
            card = card.with_guesses(card.every)
            return _tell_by_themselves(card, evaluator, drawn), why
        except InputError as error:
            return None, why | dict.fromkeys((release.name for release in fit), str(error))


def _ends(table: Table) -> tuple[Release, Release]:
    return (
        released(table, table.features, EVERYTHING, Recipe(EVERYTHING)),
        released(table, [], NOTHING, Recipe(NOTHING)),
    )


def train_judges(asked: Terms, propose: Settings | None, progress: Progress) -> Judges:
    """Build the evaluator and its hold-out; with `propose`, take those of a search of proposals."""
    table = asked.original
    if table.roles.target is None:
        return Judges(asked, None, lacking="no target is named, so nothing is said of what is kept")
    try:
        if propose is not None:
            outcome = consider(table, propose, ladders=asked.ladders, progress=progress)
            every = sorted(
                outcome.decision.ranked,
                key=lambda row: row is not outcome.decision.chosen,
            )
            best = [row.release for row in every if row is not outcome.decision.scorecard.baseline]
            return Judges(asked, outcome.evaluator, tuple(best[:_PROPOSED]))
        everybody = asked.everybody
        split = HoldOut.of_table(table, most=_SEARCHED, random_state=asked.random_state)
        if asked.control is not None:
            split = _of_others(table.rows, everybody.rows, asked.random_state)
        usual = Settings()
        return Judges(
            asked,
            Evaluator(
                everybody,
                split,
                seeded(usual.classifier, asked.random_state),
                attackers(usual.attackers, asked.random_state),
                asked.random_state,
            ),
        )
    except InputError as error:
        if propose is not None:
            raise
        return Judges(asked, None, lacking=str(error))


_PROPOSED = 5
"""The most proposals that are shown with the releases."""
_SEARCHED = 50_000
"""The most rows that models are trained on."""


def _of_others(rows: int, everybody: int, random_state: int) -> HoldOut:
    """Train on the original; select on one half of the control group, and report on the other."""
    drawn = np.random.default_rng([random_state, 5])
    seen = drawn.permutation(rows)[:_SEARCHED]
    others = rows + drawn.permutation(everybody - rows)
    if len(others) < 4:
        raise InputError(f"the control group needs 4 people or more, got {len(others)}")
    half = len(others) // 2
    return HoldOut(np.sort(seen), np.sort(others[:half]), np.sort(others[half:]), everybody)


def as_release(
    aligned: Aligned, table: Table, asked: Terms, sample: pl.DataFrame | None = None
) -> Release:
    """A foreign table as a release of `table`, on whose people it is judged."""
    target = table.target
    if target not in aligned.columns:
        raise InputError(f"it has no target {target!r}, so nothing can be learnt from it")
    terms = aligned.original
    if asked.control is not None:
        terms = in_forms(in_its_terms(table, aligned.released, asked.encoding), aligned.forms)
    made = [c for c in aligned.columns if c not in asked.original.frame.columns]
    kinds = terms.frame.schema
    features = [c for c in asked.original.features if c in aligned.columns] + made
    features = [c for c in features if c in kinds]
    roles = replace(aligned.released.roles, target=target, sensitive=None, identifiers=())
    people = Table(terms.only([*features, target]), roles)
    forms = {c: form for c, form in aligned.forms.items() if c in features}
    recipe = Recipe(ELSEWHERE)
    mask = aligned.mask if sample is None else None
    if mask is not None:
        stays = np.concatenate([mask, np.zeros(people.rows - len(mask), dtype=np.bool_)])
        release = Release(
            aligned.name, people, recipe, people=table.people, unit=table.unit, forms=forms
        )
        return release if stays.all() else release.keeping(stays)
    drawn, learnt = (
        Table(each.only([*features, target]), roles)
        for each in (_labelled(aligned.released), _learnt_from(aligned, asked, sample))
    )
    return DrawnRelease(
        aligned.name, drawn, recipe, forms=forms, unaltered=people, evaluation_sample=learnt
    )


def _learnt_from(aligned: Aligned, asked: Terms, sample: pl.DataFrame | None) -> Table:
    """The drawn rows to train on; of a generator, those it made from the training people alone."""
    if sample is None:
        return _labelled(aligned.released)
    made = Foreign(aligned.name, Table(sample))
    return _labelled(align(asked.original, made, asked.ladders, asked.encoding).released)


def _labelled(table: Table) -> Table:
    present = table.frame.get_column(table.target).is_not_null()
    return replace(table, frame=table.frame.filter(present))


def _tell_by_themselves(
    card: Scorecard, evaluator: Evaluator, drawn: Mapping[str, Table]
) -> Scorecard:
    """The scorecard with `told` measured from the rows alone, for drawn rows with the secret.

    For drawn rows without the secret, `told` is what their columns tell someone who knows the
    secret of other people. For drawn rows with it, it is what can be learnt from the rows alone:
    measured like `kept`, with the secret as the target.
    """
    rows = []
    for row in card.candidates:
        figure = _told_by_rows(evaluator, row.release, drawn.get(row.release.name))
        figures = row.figures if figure is None else {**row.figures, "told": figure}
        rows.append(replace(row, figures=figures))
    return replace(card, candidates=tuple(rows))


def _told_by_rows(evaluator: Evaluator, release: Release, drawn: Table | None) -> Figure | None:
    cut = evaluator.cut
    if drawn is None or cut is None or not isinstance(release, DrawnRelease):
        return None
    name = evaluator.sensitive

    def asked(table: Table, secrets: pl.Series) -> Table:
        """The released features, with the class of the secret as the target."""
        codes = [f"{code:04d}" for code in cut.codes(secrets).tolist()]
        cells = [*table.only(release.features).get_columns(), pl.Series(name, codes, pl.String)]
        return Table(pl.DataFrame(cells)).with_roles(target=name)

    truth, labels = evaluator.original, evaluator.secrets
    secrets = truth.frame.get_column(name)
    true, made = asked(release.unaltered, secrets), asked(drawn, drawn.frame.get_column(name))
    beside = [c for c in truth.features if c != name]
    everything = Table(truth.only([*beside])).frame.with_columns(true.frame.get_column(name))
    whole = Table(everything).with_roles(target=name)
    scorer = BitsScorer.of(whole, evaluator.split, labels, random_state=evaluator.random_state)
    mine = DrawnRelease(
        release.name, made, Recipe(ELSEWHERE), unaltered=true, evaluation_sample=made
    )
    every = [*_ends(whole), mine]
    return scorer.compared(every).figures(2, "reporting")["kept"]


_ROWS, _OTHERS, _SECRETS, _SECRET = "rows", "others", "secrets", "secret"


@dataclass(frozen=True)
class Replicated:
    """Replicated uniques and disclosed secrets, as shares of the rows of the original.

    Parameters
    ----------
    rep_u : float
        Rows whose keys are unique in the original and in the release.
    unique : float
        Rows whose keys are unique in the original.
    disco : float or None
        Disclosive in Synthetic, Correct in Original: rows whose keys have a single secret in the
        release, which is the true one. `None` without a secret to compare.
    """

    rep_u: float
    unique: float
    disco: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def replicated(
    original: pl.DataFrame, released: pl.DataFrame, keys: Sequence[str], secret: str | None
) -> Replicated:
    """repU and DiSCO of aligned columns; a missing key is a value of its own.

    Examples
    --------
    >>> one = pl.DataFrame({"age": [30, 40, 50, 50], "ill": ["flu", "gout", "flu", "gout"]})
    >>> two = pl.DataFrame({"age": [30, 40, 50, 60], "ill": ["flu", "flu", "flu", "flu"]})
    >>> replicated(one, two, ["age"], "ill")
    Replicated(rep_u=0.5, unique=0.5, disco=0.5)
    """
    names = [f"k{i}" for i in range(len(keys))]
    mine, theirs = (_renamed(frame, keys, names, secret) for frame in (original, released))
    sizes = mine.group_by(names).agg(pl.len().alias(_ROWS))
    others = theirs.group_by(names).agg(pl.len().alias(_OTHERS))
    both = sizes.join(others, on=names, how="left", nulls_equal=True)
    alone = pl.col(_ROWS) == 1
    unique = both.select((alone).sum()).item() / original.height
    rep_u = both.select((alone & (pl.col(_OTHERS) == 1)).sum()).item() / original.height
    if secret is None:
        return Replicated(rep_u, unique, None)
    told = (
        theirs.group_by(names)
        .agg(pl.col(_SECRET).n_unique().alias(_SECRETS), pl.col(_SECRET).first())
        .filter(pl.col(_SECRETS) == 1)
    )
    right = mine.join(told, on=[*names, _SECRET], how="semi", nulls_equal=True).height
    return Replicated(rep_u, unique, right / original.height)


def _renamed(
    frame: pl.DataFrame, keys: Sequence[str], names: Sequence[str], secret: str | None
) -> pl.DataFrame:
    """Keys and secret under plain names: polars takes names such as ``^a.*$`` for patterns."""
    given = [*keys, *([] if secret is None else [secret])]
    plain = [*names, _SECRET]
    cells = [frame.get_column(c).alias(name) for c, name in zip(given, plain)]
    return frame_of_columns(cells, frame.height)
