"""The judgement of releases, whoever made them: utility and disclosure risk on one scorecard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.attack.closest_rows import Closest, closest_rows
from tamis.attack.membership import check_runs
from tamis.attack.run import Attacks, attack_release
from tamis.attack.scene import MOST_TRIED, Scene
from tamis.attack.sources import in_its_terms
from tamis.charts import Picture
from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError, Progress, listed, plural
from tamis.evaluate.kept_told_picture import kept_told_picture
from tamis.evaluate.retention import Retention, retention
from tamis.evaluate.scorecard import Row, Scorecard
from tamis.judgement.alignment import Aligned, Foreign, align, in_forms
from tamis.judgement.generator import Generator
from tamis.judgement.scoring import (
    DrawnRows,
    Judges,
    Replicated,
    Terms,
    replicated,
    run_generator,
    train_judges,
    without_identifiers,
)
from tamis.notebook import in_short
from tamis.publication.read_back import value_labels
from tamis.risk.audit import Exposure, exposure
from tamis.rules.ruleset import RuleSet
from tamis.rules.tree import mine_rules
from tamis.settings import Settings
from tamis.table import Table, frame_of_columns

SHARED_PEOPLE = (
    "whoever made these rows may have learnt from the people that they are judged on, which "
    "flatters them; give people who are not in it with --control, or the command with --generator"
)


@dataclass(frozen=True, eq=False)
class Judgement:
    """The utility and the disclosure risk of one release.

    Attributes
    ----------
    name : str
    rows : int
    own_rows : bool
        Whether each row equals that of a person of the original, generalised alike; else the rows
        are judged as drawn.
    left_out : int
        Rows of the original that the release lacks, if `own_rows`.
    columns, coarser, not_released : tuple of str
        The compared columns, the generalised ones among them, and the features it lacks.
    exposure : Exposure, optional
        Equivalence classes; `None` where no quasi-identifier is released.
    replicated : Replicated, optional
        The shares repU and DiSCO; `None` where no quasi-identifier is released.
    closest : Closest
    retention : Retention, optional
        What is left of the rules of the original; `None` without a target.
    attacks : Attacks
    scored : Row, optional
        Its line on the scorecard; `None` where models can learn nothing from it.
    notes : tuple of str
        What was not judged, and what makes figures look better than they are.
    """

    name: str
    rows: int
    own_rows: bool
    left_out: int
    columns: tuple[str, ...]
    coarser: tuple[str, ...]
    not_released: tuple[str, ...]
    exposure: Exposure | None
    replicated: Replicated | None
    closest: Closest
    retention: Retention | None
    attacks: Attacks
    scored: Row | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        whose = "rows of people" if self.own_rows else "drawn rows"
        k = None if self.exposure is None else f"k = {self.exposure.k_anonymity:,}"
        return in_short(self, self.name, f"{self.rows:,} {whose}", k)

    def figure(self, measure: str) -> float | None:
        """One figure of the scorecard."""
        return None if self.scored is None else self.scored.value(measure)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": self.rows,
            "own_rows": self.own_rows,
            "left_out": self.left_out,
            "columns": list(self.columns),
            "coarser": list(self.coarser),
            "not_released": list(self.not_released),
            "figures": None if self.scored is None else self.scored.to_dict()["figures"],
            "exposure": self.exposure and self.exposure.to_dict(),
            "replicated": self.replicated and self.replicated.to_dict(),
            "closest": self.closest.to_dict(),
            "retention": self.retention and self.retention.to_dict(),
            "attacks": self.attacks.to_dict(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements of several releases of one table, with proposals of tamis to compare.

    Attributes
    ----------
    original : Table
    releases : tuple of Judgement
    proposed : tuple of Row
        The proposals of tamis, the best first; empty unless asked for.
    card : Scorecard, optional
        All columns, none, the releases and the proposals; `None` without a target.
    """

    original: Table
    releases: tuple[Judgement, ...]
    proposed: tuple[Row, ...]
    card: Scorecard | None

    def __repr__(self) -> str:
        return in_short(self, plural(len(self.releases), "release"), repr(self.original))

    def plot(self) -> Picture:
        """The picture of all releases by what they keep and tell."""
        if self.card is None:
            raise InputError("there is no target to keep; name it with target=... or --target COL")
        named = [row for j in self.releases if (row := j.scored) is not None]
        chosen = self.proposed[0] if self.proposed else None
        return kept_told_picture(self.card, chosen=chosen, named=named)

    def to_dict(self) -> dict[str, Any]:
        ends = None if self.card is None else (self.card.baseline, self.card.floor)
        return {
            "rows": self.original.rows,
            "releases": [release.to_dict() for release in self.releases],
            "proposed": [row.to_dict() for row in self.proposed],
            "everything": ends and ends[0].to_dict()["figures"],
            "nothing": ends and ends[1].to_dict()["figures"],
        }


def judge(
    original: Table,
    releases: Mapping[str, Table] | Sequence[Foreign],
    *,
    control: Table | None = None,
    ladders: Mapping[str, Ladder] | None = None,
    encoding: Any = None,
    secret: str | None = None,
    known: Sequence[str] | None = None,
    rules: RuleSet | None = None,
    generator: Generator | None = None,
    shadows: int = 0,
    epsilon: float | None = None,
    propose: Settings | None = None,
    most: int = MOST_TRIED,
    random_state: int = 0,
    progress: Progress = lambda words, done=0, total=0: None,
) -> Judged:
    """Judge tables that somebody made from an original, without a manifest.

    Parameters
    ----------
    original : Table
    releases : mapping of name to Table, or sequence of Foreign
        Released tables, with rows in any order; columns are matched by name.
    control : Table, optional
        People who are in none of the releases, on whom models and attackers are tried. By default a
        part of the original is held out.
    ladders : mapping of column to Ladder, optional
        The ladders that they were made with; forms of other columns are read from their labels.
    encoding : optional
        How columns became 0/1, as in `binarise`.
    secret, known, most, random_state
        As in `attack_release`.
    rules : RuleSet, optional
        The rules to look for, by default those that a tree learns from the original.
    generator : Generator, optional
        A synthesiser, judged as one more release by rows that it makes from other people than those
        it is judged on.
    shadows : int
        How often the generator is run with, and as often without, one person.
    epsilon : float, optional
        The epsilon that the generator promises.
    propose : Settings, optional
        The settings of proposals by tamis, to compare the releases with.
    progress : callable

    Returns
    -------
    Judged

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=300)
    >>> narrow = Table(table.only(["ward", "readmitted"]).reverse())
    >>> release = judge(table, {"narrow.csv": narrow}, most=50).releases[0]
    >>> release.own_rows, release.columns, release.exposure
    (True, ('ward', 'readmitted'), None)
    >>> release.figure("kept") is not None
    True
    """
    if control is not None and (propose or generator):
        raise InputError(
            "a control group, and what tamis proposes or a generator makes, are tried on different "
            "people; leave out control or the others"
        )
    if generator is not None and shadows:
        check_runs(shadows)
    asked = Terms(
        original, control, ladders or {}, encoding, secret, known, most, random_state, rules
    )
    given = list(releases) if not isinstance(releases, Mapping) else _as_foreign(releases)
    judges = train_judges(asked, propose, progress)
    made: DrawnRows | None = None
    if generator is not None:
        progress(f"running {generator.name}", 0, 2 + 2 * shadows)
        made = run_generator(generator, asked, judges.evaluator)
        given.append(made.foreign)
    if not given:
        raise InputError("there is nothing to judge; give a released table or a generator")
    aligned = []
    for number, foreign in enumerate(given):
        progress(f"reading the columns of {foreign.name}", number, len(given))
        aligned.append(asked.aligned(foreign))
    card, why = judges.score(aligned, made, progress)
    judgements = []
    for number, (foreign, matched) in enumerate(zip(given, aligned)):
        progress(f"attacking {matched.name}", number, len(given))
        mine = made if made is not None and foreign is made.foreign else None
        row = _row_of(card, matched.name)
        judgements.append(_judged(asked, foreign, matched, mine, row, why))
    if generator is not None and shadows:
        progress(f"running {generator.name} with and without one person", 1, 2)
        attacks = judgements[-1].attacks  # the generator was given last
        shadow = generator.shadow(
            without_identifiers(original),
            runs=shadows,
            epsilon=epsilon,
            random_state=random_state,
        )
        scores = (*attacks.scores, shadow)
        judgements[-1] = replace(judgements[-1], attacks=replace(attacks, scores=scores))
    proposed = () if card is None else tuple(_proposed(card, judges))
    return Judged(original, tuple(judgements), proposed, card)


def _as_foreign(tables: Mapping[str, Table]) -> list[Foreign]:
    return [Foreign(name, table) for name, table in tables.items()]


def _row_of(card: Scorecard | None, name: str) -> Row | None:
    rows = () if card is None else card.candidates
    return next((row for row in rows if row.release.name == name), None)


def _proposed(card: Scorecard, judges: Judges) -> list[Row]:
    names = [release.name for release in judges.proposed]
    return [row for row in card.candidates if row.release.name in names]


def _judged(
    asked: Terms,
    foreign: Foreign,
    aligned: Aligned,
    made: DrawnRows | None,
    row: Row | None,
    why: Mapping[str, str],
) -> Judgement:
    mask = aligned.mask
    notes = [*aligned.notes]
    if row is None and why[aligned.name]:
        notes.append(f"not on the scorecard: {why[aligned.name]}")
    if mask is None and made is None and asked.control is None and row is not None:
        notes.append(SHARED_PEOPLE)
    roles = asked.original.roles
    if known := [c for c in roles.identifiers if c in foreign.table.frame.columns]:
        notes.append(f"column {listed(known)} identifies people, and is in the release")
    sensitive = asked.original.sensitive
    if sensitive != roles.target and sensitive in foreign.table.frame.columns:
        notes.append(
            f"the sensitive column {sensitive!r} is in the release: whoever finds a row reads it"
        )
    mine, exposed = _in_it(aligned), None
    try:
        exposed = exposure(mine)
    except InputError:
        notes.append("no quasi-identifier is released, so nobody is found by any")
    quasi = [c for c in mine.quasi if c in aligned.columns]
    secret = asked.secret or sensitive
    copies = None
    if quasi:
        asks = secret if secret in aligned.columns and secret not in quasi else None
        cells = [_texts(t.only([*quasi, *([asks] if asks else [])])) for t in _both(aligned)]
        copies = replicated(cells[0], cells[1], quasi, asks)
    kept, lost = _rules(asked, aligned)
    notes += lost
    gone = 0 if mask is None else int((~mask).sum())
    return Judgement(
        aligned.name,
        foreign.table.rows,
        mask is not None,
        gone,
        aligned.columns,
        tuple(aligned.forms),
        tuple(c for c in asked.original.features if c not in aligned.columns),
        exposed,
        copies,
        _closest(asked, aligned),
        kept,
        _attacks(asked, aligned, made),
        row,
        tuple(notes),
    )


def _both(aligned: Aligned) -> tuple[Table, Table]:
    return aligned.original, aligned.released


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with numbers as floats and all other cells as texts."""
    cells = [c.cast(pl.Float64 if c.dtype.is_numeric() else pl.String) for c in frame.get_columns()]
    return frame_of_columns(cells, frame.height)


def _in_it(aligned: Aligned) -> Table:
    """The released rows, with the identifiers of the original if they are rows of its people."""
    mask = aligned.mask
    if mask is None:
        return aligned.released
    rest = [c for c in aligned.original.frame.columns if c in aligned.columns]
    people = [c for c in aligned.original.roles.identifiers if c not in rest]
    frame = aligned.original.only([*rest, *people]).filter(pl.Series(mask))
    roles = aligned.released.roles
    named = replace(
        roles,
        identifiers=(*roles.identifiers, *people),
        person=aligned.original.roles.person,
        exact_identifiers=aligned.original.roles.exact_identifiers,
    )
    return Table(frame, named, aligned.original.library)


def _rules(asked: Terms, aligned: Aligned) -> tuple[Retention | None, list[str]]:
    """What is left of the rules, or a note on why that cannot be said."""
    target = asked.original.roles.target
    if target is None:
        return None, []
    if target not in aligned.columns:
        return None, ["no rule was looked for: the target is not released"]
    try:
        rules = asked.rules or mine_rules(asked.original, random_state=asked.random_state)
        labels = value_labels(asked.original, _of_original(asked, aligned))
        return retention(rules, asked.original, aligned.released, coarser=labels), []
    except InputError as error:
        return None, [f"no rule was looked for: {error}"]


def _of_original(asked: Terms, aligned: Aligned) -> dict[str, Any]:
    return {c: form for c, form in aligned.forms.items() if c in asked.original.frame.columns}


def _attacks(asked: Terms, aligned: Aligned, made: DrawnRows | None) -> Attacks:
    """Scores of all attackers; for a generator, on people that it saw against people it did not."""
    original, table, control = aligned.original, aligned.released, asked.control
    if made is not None:
        return _attacks_on_generator(asked, aligned, made)
    mask = aligned.mask
    if mask is not None and not mask.all():  # only people in the release can be found
        original = replace(original, frame=original.frame.filter(pl.Series(mask)))
    if control is not None:
        control = in_forms(in_its_terms(control, table, asked.encoding), aligned.forms)
    return _attack(asked, original, table, control)


def _attacks_on_generator(asked: Terms, aligned: Aligned, made: DrawnRows) -> Attacks:
    seen = made.seen
    others = np.setdiff1d(np.arange(asked.original.rows), seen)
    second = align(asked.original, Foreign(aligned.name, Table(made.of_seen)), asked.ladders)
    inside, outside = (
        replace(second.original, frame=second.original.frame[rows]) for rows in (seen, others)
    )
    return _attack(asked, inside, second.released, outside)


def _attack(asked: Terms, original: Table, table: Table, control: Table | None) -> Attacks:
    return attack_release(
        original,
        table,
        control=control,
        secret=asked.secret,
        known=asked.known,
        most=asked.most,
        random_state=asked.random_state,
    )


def _closest(asked: Terms, aligned: Aligned) -> Closest:
    control = asked.control
    if control is not None:
        control = in_forms(in_its_terms(control, aligned.released, asked.encoding), aligned.forms)
    how: dict[str, Any] = {"most": asked.most, "random_state": asked.random_state}
    return closest_rows(Scene(aligned.original, aligned.released, control, **how))
