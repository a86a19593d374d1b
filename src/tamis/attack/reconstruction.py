"""Reconstruction: columns that were held back, and values that were altered by public settings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tamis.attack.inference import hidden, infer
from tamis.attack.learners import SMALL, Known, strongest_learner
from tamis.attack.scene import MOST, Scene
from tamis.attack.score import AttackScore, scored
from tamis.learn.boosting import shares
from tamis.learn.models import SHOWN
from tamis.table import Table

LEARNERS = ("nb", SMALL)
"""Fewer than for a secret, since every column is asked about."""
MOST_COLUMNS = 8
"""The most columns that are asked about."""

Alter = Callable[[Table, int], Table]
"""Alters a table by public settings, with a seed of its own."""


def reconstruction(scene: Scene) -> list[AttackScore]:
    """Attackers on the columns that were held back, other than the secret.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table = patients(rows=300)
    >>> [each.attacker for each in reconstruction(Scene(table, table.select(table.features[:-2])))]
    ['reconstruction of viral_load_test', 'reconstruction of cd4_count']
    """
    back = [c for c in scene.original.features if c not in scene.release.frame.columns]
    named = [c for c in back if c != scene.secret_column][:MOST_COLUMNS]
    found = [infer(scene, c, learners=LEARNERS, kind="reconstruction") for c in named]
    return [each for each in found if each is not None]


def undo(
    original: Table, alter: Alter, *, most: int = MOST, random_state: int = 0
) -> list[AttackScore]:
    """Attackers who know how values were altered, and want the true ones.

    They alter the released rows once more in the same way, learn there how a value was before,
    and apply this to the release.

    Parameters
    ----------
    original : Table
    alter : callable
        Takes a table and a seed, and gives the same rows with altered features.

    Returns
    -------
    list of AttackScore
        One for each of the first altered columns: how often the true value is guessed, or the
        true interval of a column of many numbers.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.perturb.noise import UniformNoise
    >>> alter = lambda table, seed: UniformNoise(0.2, random_state=seed).fit_transform(table)
    >>> found = undo(patients(rows=400).select(["sex", "ward"]), alter)
    >>> [each.attacker for each in found]
    ['reconstruction of altered sex', 'reconstruction of altered ward']
    """
    released = alter(original, random_state + 1)
    again = alter(released, random_state + 2)
    changed = [
        c
        for c in original.features
        if c in released.frame.columns
        and not original.frame[c].equals(released.frame[c], check_dtypes=False)
    ]
    rows = np.sort(np.random.default_rng(random_state).permutation(original.rows)[:most])
    found = [_undone(original, released, again, c, rows) for c in changed[:MOST_COLUMNS]]
    return [each for each in found if each is not None]


def _undone(
    original: Table, released: Table, again: Table, column: str, rows: np.ndarray
) -> AttackScore | None:
    secret = hidden(original, column)
    if secret is None:
        return None
    features = list(released.features)
    asked = released.only(features)[rows]
    label = secret.of(released)
    known = Known(again.only(features), label, asked, len(rows), secret.classes)
    truth = secret.original[rows]
    baseline = np.tile(shares(secret.original, secret.classes), (len(rows), 1))
    choose, report = np.arange(0, len(rows), 2), np.arange(1, len(rows), 2)
    name, p = strongest_learner(known, truth, baseline, choose, LEARNERS)
    right = p.argmax(axis=1) == truth
    return scored(
        f"reconstruction of altered {column}",
        f"guesses the true {column} from the altered row and how it was altered",
        right[report],
        guess=float((baseline.argmax(axis=1) == truth)[report].mean()),
        people=None if original.people is None else original.people[rows[report]],
        details={"learner": SHOWN.get(name, name)},
    )
