"""`attack_release` runs every attacker that applies, `quick_attack` a few before publishing.

The few answer what a lay person asks: can somebody be found, can two halves of a person's data be
joined, can a secret be guessed. They get the original recoded like the release, so generalised and
0/1 columns need no matching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tamis.arrays import RowNumbers
from tamis.attack.inference import Alter, infer, inference, reconstruction, undo
from tamis.attack.learners import LOOKUP, SMALL_BOOSTING
from tamis.attack.linkage import ERRORS, halves, linkage, linkage_by_things, pattern_numbers
from tamis.attack.membership import membership
from tamis.attack.scene import MOST_TRIED, AttackScore, Scene
from tamis.attack.singling_out import singling_out
from tamis.errors import InputError, Progress, listed, plural
from tamis.learn.whole_people import of_all_rows, seen_whole
from tamis.notebook import by_fields, in_short
from tamis.release import Release
from tamis.table import Roles, Table, bare, only

HELD_OUT = 0.25
"""The share of people kept out of a second release, as a control group."""
FEWEST = 8
"""The fewest people of a table that a control group is taken from."""


@dataclass(frozen=True)
class Attacks:
    """The scores of all attackers, and notes on how they were measured."""

    scores: tuple[AttackScore, ...]
    people: int
    control_people: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        who = f"{self.people:,} people, {self.control_people:,} in the control group"
        return in_short(self, plural(len(self.scores), "attacker"), who)

    def strongest(self, kind: str) -> AttackScore | None:
        """The attacker of a kind that gains most over guessing.

        >>> Attacks((), 0, 0, ()).strongest("linkage") is None
        True
        """
        mine = [score for score in self.scores if score.attacker.startswith(kind)]
        return max(mine, key=lambda score: score.gain.value) if mine else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "control_people": self.control_people,
            "notes": list(self.notes),
            "attacks": [score.to_dict() for score in self.scores],
        }


def attack_release(
    original: Table,
    release: Table,
    *,
    control: Table | None = None,
    secret: str | None = None,
    known: Sequence[str] | None = None,
    knowing: Mapping[str, Sequence[str]] | None = None,
    errors: Sequence[float] = ERRORS,
    alter: Alter | None = None,
    most: int = MOST_TRIED,
    random_state: int = 0,
    progress: Progress = lambda words, done=0, total=0: None,
) -> Attacks:
    """Try to find people in a release, and to learn what it should not tell about them.

    Parameters
    ----------
    original : Table
        The people that the release describes.
    release : Table
        The released rows, in any order.
    control : Table, optional
        People who are not in the release. By default a quarter of the people, kept out of a second
        release that is made like the first one, where that is possible.
    secret : str, optional
        The column to infer, by default the sensitive one.
    known : sequence of str, optional
        The columns that an attacker knows, by default the quasi-identifiers.
    knowing : mapping of name to columns, optional
        Further attackers who link rows to people, and the columns that each knows.
    errors : sequence of float
        The shares of known values that are missing, or wrong, when rows are linked.
    alter : callable, optional
        Alters a table as the release was altered, given a table and a seed. Needed where it was.
    most : int
        The most people to try each attacker on.
    random_state : int
    progress : callable
        Progress callback.

    Returns
    -------
    Attacks

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=200)
    >>> attacks = attack_release(table, table.select(["sex", "ward"]))
    >>> attacks.people, attacks.control_people
    (200, 50)
    >>> round(attacks.strongest("linkage, exact").success.value, 2)
    0.01
    """
    _check(errors, most)
    notes: list[str] = []
    scene = Scene(
        original,
        release,
        control=control,
        known=None if known is None else tuple(known),
        secret=secret,
        most=most,
        random_state=random_state,
    )
    if scene.not_compared:
        notes.append(
            f"column {listed(scene.not_compared)} of the release cannot be compared with the "
            "original, so no attacker uses it"
        )
    if control is None:
        scene, note = with_control(scene, alter)
        notes += note
    scores = list(_all(Staged(scene, errors, alter), progress))
    for name, columns in (knowing or {}).items():
        theirs = replace(scene, known=tuple(columns))
        scores += [_by(name, score) for score in linkage(theirs, errors)]
    asked = scene.secret_column
    if asked is not None and not any(score.attacker.startswith("inference") for score in scores):
        notes.append(
            f"column {asked!r} cannot be guessed: it has one value, or too many, or too few people "
            "have it; so no attacker infers it"
        )
    amount = 0 if scene.cells.control is None else len(scene.cells.control)
    return Attacks(tuple(scores), original.everybody, amount, tuple(notes))


def _by(name: str, score: AttackScore) -> AttackScore:
    """The score under the name of an attacker."""
    return replace(score, attacker=f"{name}: {score.attacker}")


def _check(errors: Sequence[float], most: int) -> None:
    if not all(0 < share < 1 for share in errors):
        raise InputError("shares of missing or wrong values lie between 0 and 1")
    if most < 4:
        raise InputError(f"attackers are tried on 4 people or more, got {most}")


class Staged(NamedTuple):
    """The input of attacks."""

    scene: Scene
    errors: Sequence[float]
    alter: Alter | None


class Attempt(NamedTuple):
    """One kind of attack."""

    doing: str
    """The words of the progress callback."""
    scores: Callable[[Staged], Iterable[AttackScore | None]]
    kind: str = ""
    """The prefix of its attackers' names."""
    headline: str = ""
    """A sentence on the {n} of 100 people that its strongest attacker reaches; empty for none."""


def _all(staged: Staged, progress: Progress) -> Iterable[AttackScore]:
    for number, attempt in enumerate(ATTEMPTS):
        progress(attempt.doing, number, len(ATTEMPTS))
        yield from (score for score in attempt.scores(staged) if score is not None)


def _by_things(scene: Scene) -> list[AttackScore]:
    """Scores of linkage by things, for a release of 0/1 columns with true values; else none."""
    names = [c for c in scene.columns if c not in (scene.original.roles.target,)]
    numbers = [c for c in names if holds_zero_one(scene.release.frame[c])]
    if len(numbers) < 2 or len(numbers) < len(names) or not is_selection(scene):
        return []
    cells = only(scene.original.frame, numbers).to_numpy().astype(np.uint8)
    others = scene.control_table
    control = None if others is None else only(others.frame, numbers).to_numpy()
    return linkage_by_things(
        cells, control=control, most=scene.most, random_state=scene.random_state
    )


def holds_zero_one(column: pl.Series) -> bool:
    """Whether every cell is 0 or 1."""
    cells = bare(column)
    if not cells.dtype.is_numeric() or cells.null_count():
        return False
    return bool(((cells == 0) | (cells == 1)).all())


def _altered(scene: Scene, alter: Alter | None) -> list[AttackScore]:
    if alter is None:
        return []
    return undo(scene.original, alter, most=scene.most, random_state=scene.random_state)


ATTEMPTS = (
    Attempt("singling people out", lambda given: singling_out(given.scene)),
    Attempt(
        "linking rows to people",
        lambda given: [*linkage(given.scene, given.errors), halves(given.scene)],
        "linkage",
        "{n} are found in the release by what an attacker may know",
    ),
    Attempt("linking by things people have", lambda given: _by_things(given.scene)),
    Attempt(
        "inferring the secret",
        lambda given: inference(given.scene),
        "inference",
        "{n} have their secret guessed correctly",
    ),
    Attempt(
        "telling who is in the table",
        lambda given: [membership(given.scene)],
        "membership",
        "for {n} an attacker can tell whether they are in the table",
    ),
    Attempt("reconstructing columns", lambda given: reconstruction(given.scene)),
    Attempt("undoing what was altered", lambda given: _altered(given.scene, given.alter)),
)
"""All attacks, in the order in which they are tried."""


def with_control(scene: Scene, alter: Alter | None = None) -> tuple[Scene, list[str]]:
    """The scene with a quarter of the people kept out of a second release, and notes about it.

    Where the release holds true values, the second one is the first without their rows; with
    `alter`, the remaining people are altered again.
    """
    original = scene.original
    if original.everybody < FEWEST:
        return scene, ["the table has too few people for a control group; give one with --control"]
    held, kept = _held_out(original, scene.random_state)
    if is_selection(scene):
        without = replace(scene.release, frame=scene.release.frame[_rows_without(scene, held)])
    elif alter is not None:
        rest = alter(replace(original, frame=original.frame[kept]), scene.random_state + 3)
        names = [c for c in scene.release.frame.columns if c in rest.frame.columns]
        without = replace(scene.release, frame=only(rest.frame, names))
    else:
        return scene, [
            "the release holds other values than the original, so it cannot be made again without "
            "some people; give people who are not in it with --control FILE"
        ]
    if not without.rows:
        return scene, ["the release has too few rows for a control group; give one with --control"]
    words = plural(len(held), "row") if original.people.each_row else f"{len(held)} rows of people"
    note = f"the control group is {words} of the original, kept out of a second release"
    return replace(scene, held_out=held, without=without), [note]


def _held_out(original: Table, random_state: int) -> tuple[RowNumbers, RowNumbers]:
    """The rows of a quarter of the people, and those of the others."""
    every = original.people.count
    drawn = np.random.default_rng([random_state, 7]).permutation(every)
    is_held = np.isin(original.people.codes, drawn[: round(HELD_OUT * every)])
    return np.flatnonzero(is_held), np.flatnonzero(~is_held)


def is_selection(scene: Scene) -> bool:
    """Whether the released rows are among the original ones, in fewer columns: none was altered."""
    if scene.not_compared:
        return False
    original, release = pattern_counts(scene)
    return bool((release <= original).all())


def pattern_counts(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """How often each distinct row occurs in the original, and in the release."""
    numbers = _patterns(scene)
    cut = scene.original.rows
    width = int(numbers.max()) + 1
    return np.bincount(numbers[:cut], minlength=width), np.bincount(numbers[cut:], minlength=width)


def _patterns(scene: Scene) -> np.ndarray:
    cells = scene.cells
    return pattern_numbers(np.concatenate([cells.original, cells.release]))


def _rows_without(scene: Scene, held: RowNumbers) -> RowNumbers:
    """The released rows that are left when one equal row goes for each held-out row."""
    numbers = _patterns(scene)
    cut = scene.original.rows
    gone = np.bincount(numbers[:cut][held], minlength=int(numbers.max()) + 1)
    released = numbers[cut:]
    order = np.argsort(released, kind="stable")
    first = np.searchsorted(released[order], released[order])
    place = np.arange(len(order)) - first  # among the rows of the same pattern
    return np.sort(order[place >= gone[released[order]]])


LEARNERS = (LOOKUP, SMALL_BOOSTING, "nb")
"""Learners that take about a twentieth of a second on some thousand rows."""
MOST_CELLS = 4_000_000
"""Tables with more cells are left to `attack_release`, which may take its time."""
COMPARED = 6_000_000
"""Most comparisons of a person with a row: of large tables fewer people are tried."""
FEWEST_TRIED = 200
"""The fewest people tried, however large the table is."""
FINALISTS, OF_FINALISTS = 3, 200
"""How many releases besides the chosen one are attacked, and on how many people at most."""


@dataclass(frozen=True)
class QuickAttack:
    """The scores of a few attackers on one release.

    Attributes
    ----------
    found : AttackScore
        Linkage by an attacker who knows the quasi-identifiers.
    joined : AttackScore, optional
        Linkage by two attackers who hold half of the columns each.
    guessed : AttackScore, optional
        Inference of the secret by an attacker who knows the released columns and the target of a
        person. `None` if it cannot be guessed as classes.
    singled : AttackScore, optional
        Singling out by conditions on several columns. `None` where one column is released.
    """

    found: AttackScore
    joined: AttackScore | None
    guessed: AttackScore | None
    singled: AttackScore | None = None

    __repr__ = by_fields


def quick_attack(
    original: Table,
    release: Release,
    *,
    most: int = MOST_TRIED,
    joined: bool = True,
    random_state: int = 0,
) -> QuickAttack | None:
    """Try a few attackers on a release whose rows are those of the original, in the same order.

    Each is tried on at most `most` people. `joined` includes the two attackers with half of the
    columns each, which take longest, and singling out. Returns `None` for synthetic rows, which
    describe nobody, and for tables of many cells.

    >>> from tamis.datasets import patients
    >>> from tamis.release import Recipe, released
    >>> table = patients(rows=300)
    >>> whole = quick_attack(table, released(table, table.features, "all", Recipe("hand")))
    >>> part = quick_attack(table, released(table, ["ward"], "ward", Recipe("hand")))
    >>> whole.found.success.value > 0.9, part.found.success.value < 0.1
    (True, True)
    """
    if release.is_suppressed:  # only people in the release can be found
        original = replace(original, frame=original.frame.filter(pl.Series(release.mask)))
    if release.is_drawn or release.table.rows != original.rows:
        return None
    if _many_cells(original) or _many_cells(release.table):
        return None
    if release.people.together:
        original, release = _seen_whole(original, release)
    values = release.true_values
    few = min(most, max(FEWEST_TRIED, COMPARED // max(original.rows, 1)))
    linked = _scene(original, release, values, few, random_state)
    # An attacker on a secret that is held back has the person's row as it was released.
    secret, public = original.sensitive, original.sensitive == original.roles.target
    if public or values is release.table:
        asked = linked.trying(most)
    else:
        asked = _scene(original, release, release.table, most, random_state)
    guessed = None if secret is None else infer(asked, secret, not public, LEARNERS)
    found = linkage(linked, ())[0]
    if not joined:
        return QuickAttack(found, None, guessed)
    singled = singling_out(asked.trying(few), ["several columns"])
    return QuickAttack(found, halves(linked), guessed, next(iter(singled), None))


def _seen_whole(original: Table, release: Release) -> tuple[Table, Release]:
    """The original and the release with columns that summarise all rows of a person.

    Attackers see which rows are of one person; whoever may know a column of a row may know it of
    all rows of the person.
    """
    seen = seen_whole(release)
    of_people = [c for c in seen.features if c not in release.features]
    known = of_all_rows(release.table.quasi, of_people)
    table = seen.table.with_roles(quasi=(*release.table.quasi, *known))
    return original, replace(seen, table=table)


def _many_cells(table: Table) -> bool:
    return table.rows * table.frame.width > MOST_CELLS


def _scene(original: Table, release: Release, values: Table, most: int, random_state: int) -> Scene:
    """The scene of a release and the original, whose released columns get the given values."""
    roles, columns = original.roles, {s.name: s for s in values.frame.get_columns()}
    kept = [c for c in (original.sensitive, *roles.identifiers) if c is not None]
    columns |= {c: original.frame[c] for c in kept if c not in columns}
    terms = Roles(
        target=roles.target,
        sensitive=roles.sensitive,
        quasi=release.table.quasi,
        identifiers=roles.identifiers,
        person=roles.person,
    )
    people = Table(pl.DataFrame(list(columns.values())), terms)
    return Scene(people, release.table, most=most, random_state=random_state)
