"""Notes for a reader of the figures: how they were measured, and what may mislead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal, Self

from tamis.errors import listed, plural
from tamis.figures import count_words, percent
from tamis.limits import too_told
from tamis.outcome import Outcome
from tamis.release_counts import ExposureFacts
from tamis.table import Table


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """The original and the release in figures."""

    name: str
    """The name of the table, the stem of its file; empty for recipients."""
    rows: int
    """Rows of the original."""
    rows_released: int
    people: int
    """People in the original if they are known, else its rows."""
    people_released: int
    who: str = ""
    """Who counts as a person, in words; for the holder alone."""
    features: int
    """Columns that could have been released as features."""
    unlisted: int = 0
    """How many of these were never compared, and so are not among `columns`."""
    target: str
    sensitive: str | None
    """The column that must stay hard to guess; the target if none was named. `None` on the
    recipient's page if it is not released."""

    def for_recipient(self) -> Self:
        rows, people = self.rows_released, self.people_released
        secret = self.sensitive if self.sensitive == self.target else None
        return replace(
            self, name="", who="", unlisted=0, rows=rows, people=people, sensitive=secret
        )


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note that a reader needs to understand the figures correctly."""

    level: Literal["warning", "note"]
    text: str
    public: bool
    """Whether the recipient may read it."""

    def for_recipient(self) -> Self | None:
        return self if self.public else None


def table_facts(outcome: Outcome, exposure: ExposureFacts | None) -> TableFacts:
    """The original and the release in figures; publishing fills in the table's name."""
    table, release = outcome.table, outcome.release
    everything = outcome.decision.scorecard.baseline.release
    return TableFacts(
        name="the table",
        rows=table.rows,
        rows_released=release.table.rows,
        people=table.everybody,
        people_released=exposure["total"] if exposure else release.table.rows,
        who=who_words(table),
        features=everything.size + outcome.left_out,
        unlisted=everything.n_unlisted + outcome.left_out,
        target=table.target,
        sensitive=table.secret_words,
    )


def who_words(table: Table) -> str:
    """Who counts as a person, and what other identifiers would mean.

    >>> import polars as pl
    >>> from tamis.table import Roles
    >>> names = pl.DataFrame({"mrn": [71, 72, 73], "name": ["Ann Lee", "Ann Lee", "Bo Ek"]})
    >>> who_words(Table(names, Roles(identifiers=("mrn", "name"))))
    "People are told apart by 'mrn'. Other identifiers would mean: by 'name' 2 people with 1.5 \
rows each."
    """
    if not table.person_columns:
        every = "Every row counts as a different person."
        return every if table.unit == "people" else "Nobody said who is a person: rows are counted."
    words = f"People are told apart by {' and '.join(map(repr, table.person_columns))}."
    others = [c.words() for c in table.person_candidates if c.people != table.everybody]
    return f"{words} Other identifiers would mean: {'; '.join(others)}." if others else words


def notes_of(outcome: Outcome) -> tuple[Note, ...]:
    """Notes on how the figures were measured, and on what may mislead."""
    kinds = (_unlabelled, _moved_dates, _measured_on, _several_secrets, _missed_limits, _caveats)
    return tuple(note for notes in kinds for note in notes(outcome))


def _note(text: str, *, level: Literal["note", "warning"] = "note", public: bool = False) -> Note:
    return Note(level=level, text=text, public=public)


def _unlabelled(outcome: Outcome) -> Iterator[Note]:
    if left := outcome.table.unlabelled:
        yield _note(
            f"{plural(left, 'row')} of the table had no {outcome.table.target!r} and "
            f"{'was' if left == 1 else 'were'} left out of every step."
        )


def _moved_dates(outcome: Outcome) -> Iterator[Note]:
    if outcome.moved is None:
        return
    blank = outcome.moved.blanked
    gone = f" Those of {count_words(blank, outcome.table.unit)} are missing: they span too much."
    yield _note(
        f"Dates ({listed(outcome.moved.columns)}) were moved before anything else, all of a person "
        f"by the same number of days, at most {outcome.settings.shift_dates:,}. Everything was "
        "counted and measured with the moved dates; k counts who is alike in them, and attackers "
        f"are taken to know them as they were moved.{gone if blank else ''}"
    )


def _measured_on(outcome: Outcome) -> Iterator[Note]:
    split, drawn = outcome.evaluator.split, outcome.release.is_drawn
    seen = len(split.seen)
    others = seen + len(split.choosing)
    if beyond := outcome.decision.scorecard.baseline.release.n_unlisted:
        yield _note(
            f"The records have {len(outcome.table.features) + beyond:,} columns. The "
            f"{len(outcome.table.features):,} that promise to teach or tell most were compared, "
            "and the others are held back; kept and told are shares of what all of them give. "
            "Accuracies, attackers and rules of everything are those of the compared columns."
        )
    if outcome.left_out:
        yield from _of_compared(len(outcome.table.features), outcome.left_out)
    measured = (
        f"Figures were measured on {len(split.reporting):,} rows that played no part in the choice"
    )
    if drawn:
        yield _note(
            f"{measured}; models were trained on synthetic rows drawn in the same way from "
            f"{seen:,} others. These figures are for you only: no epsilon covers them."
        )
    elif outcome.left_out_people:
        yield _note(
            f"{measured}; the search, and the choice among what it found, used {others:,} others. "
            "No model learnt from rows that are left out, but models were tested on "
            "them too, as on anybody else."
        )
        yield _note(
            "Figures were measured on rows that played no part in the choice, those that are left "
            "out included. The rows are in an order that reveals nothing.",
            public=True,
        )
    else:
        yield _note(
            f"{measured}; the search, and the choice among what it found, used {others:,} others. "
            "The release contains all of them, in an order that reveals nothing.",
            public=True,
        )
    yield _note(
        "Limits, ranks and the choice are based on different rows from the figures shown, so that "
        "no figure flatters what was chosen. Picking another release by the figures here would "
        "mean picking the luckiest one."
    )


def _of_compared(compared: int, left_out: int) -> Iterator[Note]:
    """Notes on what kept and told are shares of, if columns were left out before measuring."""
    yield _note(
        f"Of {compared + left_out:,} columns of the original, the {compared:,} that promised to "
        "teach or tell most in a sample of its rows were compared; the others are held back."
    )
    yield _note(
        "Kept and told are shares of what the compared columns give, not of what all columns of "
        "the original would give. So are accuracies, attackers and rules of everything.",
        public=True,
    )


def _several_secrets(outcome: Outcome) -> Iterator[Note]:
    """Notes on what is told of each secret, and what they tell of each other."""
    evaluator = outcome.evaluator
    names = [*evaluator.every_secret]
    shown = outcome.table.released_secrets
    if len(names) + len(shown) < 2:
        return
    told = "; ".join(_of_secret(outcome, number) for number in range(len(names)))
    yield _note(
        "What is told is that of the secret of which most is told, as you weighed them, and the "
        "breach increase that of the secret whose strongest attacker gains most. Of each by "
        f"itself: {told}."
    )
    if shown:
        yield _note(
            f"You said that {listed(shown)} may be released. Nothing limits what is told of it; a "
            "release that has it is judged by what it tells of the others."
        )
    pairs = [(a, b, evaluator.told_by(a, b)) for a, b in permutations([*names, *shown], 2)]
    said = [
        f"{a} tells {percent(share, 0)} of {b}"
        for a, b, share in pairs
        if share >= WORTH_SAYING and b in names
    ]
    words = "; ".join(said) or "none tells 1% or more of another"
    yield _note(f"Of what is unknown of one secret, another may tell a part: {words}.")


def _of_secret(outcome: Outcome, number: int) -> str:
    """Told of one secret by the worst reading, and how often it is guessed, in words."""
    evaluator, row = outcome.evaluator, outcome.decision.chosen
    bits, look = evaluator.yardstick.reporting, outcome.look
    name = [*evaluator.every_secret][number]
    told = evaluator.yardstick.told_each(row.release)[number]
    if look is not None and look.secret is not None:
        slow = (look.secret, *look.others)[number]
        told = max(told, slow.bits.value / bits.scale(bits.secrets[number].asked))
    findings, attacker = row.assessment.reporting, row.assessment.strongest_of(name)
    right = findings.attacked_for(name)[attacker].right.mean()
    floor = outcome.decision.scorecard.floor.assessment
    guess = floor.reporting.attacked_for(name)[floor.strongest_of(name)].right.mean()
    return (
        f"{percent(told, 0)} of {name} is told, and the strongest attacker ({attacker}) names it "
        f"for {percent(right, 0)} of rows ({percent(guess, 0)} by guessing)"
    )


WORTH_SAYING = 0.01
"""Smallest share that one secret tells of another for a note to mention it."""


def _missed_limits(outcome: Outcome) -> Iterator[Note]:
    limits, scorer = outcome.settings.told_limits, outcome.evaluator
    for failure in (*outcome.decision.missed, *too_told(scorer, outcome.release, limits, "report")):
        yield _note(
            f"The release met every limit on the rows it was chosen by, but {failure.words}. Trust "
            "the reported figure; set a stricter limit if this one must be met for certain.",
            level="warning",
        )


def _caveats(outcome: Outcome) -> Iterator[Note]:
    evaluator = outcome.evaluator
    if not outcome.table.people.each_row:
        yield _note(
            "All rows of a person are in the same part, and intervals count the rows of a person "
            "as one to the extent that they are alike."
        )
    if outcome.left_out_people and outcome.evaluator.requirements.of_secrets:
        yield _note(
            f"Groups that are too alike in {evaluator.sensitive} are left out as well. Whoever "
            "knows that a person is in the table, and that enough others are like them, may "
            "conclude from their absence that these mostly share one value.",
            level="warning",
        )
    if evaluator.sensitive == outcome.table.target:
        yield _note(
            "The target is also the sensitive column, so whatever teaches a model also helps an "
            "attacker.",
            level="warning",
        )
    if evaluator.cut is not None and evaluator.cut.points:
        points = ", ".join(f"{point:g}" for point in evaluator.cut.points)
        yield _note(
            f"{evaluator.sensitive} takes many numeric values, so naming the right interval "
            f"counts as guessing it. The intervals are cut at {points}."
        )
    if (outcome.decision.scorecard.floor.value("pbi") or 0.0) > 0:
        yield _note(
            "Always guessing the most frequent sensitive value is right more often than any "
            "attacker who sees everything, so a limit on the increase means nothing here.",
            level="warning",
        )
