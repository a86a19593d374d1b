"""What the choice is worth on rows that the tool never had, and what a better one would have been.

Some rows of each table are kept from `tamis.consider` altogether. A learner that the tool does not
use (scikit-learn's histogram boosting) learns each release from the other rows and is asked about
these, and three releases are compared by kept less told: the one that was chosen, the best of those
that were on its list, and the best of all sets of columns that keep k, searched by these very rows.
The last two know the answers, so that no choice reaches them quite.

`python -m bench regret` takes twelve tables and three seeds, about half an hour;
`python -m bench.bench_regret NAME[,NAME] [SEED,...]` some of them.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table as Lines
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from bench.bench_front import keeps_k, labels
from bench.front_tables import DATA, SETUPS, Setup, read
from tamis import Roles, Settings, Table, consider
from tamis.coarsen.ladder import Ladder
from tamis.datasets import patients
from tamis.errors import CannotMeet
from tamis.evaluate.bits import KeptTold, gains, surprise
from tamis.evaluate.bits_scorer import forms_within
from tamis.evaluate.parts import Parts
from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.learn.boosting import shares, shares_given
from tamis.learn.columns import Coding
from tamis.outcome import Outcome
from tamis.release import Coarsening
from tamis.select.front import search_front

K = 5
GIVEN, UNSEEN = 7_000, 6_000
"""The most rows that the tool is given, and that judge."""
JUDGED = 6
"""Of all sets, how many are judged: those that are worth most by the small boosting."""
SEEDS = (0, 1, 2)
Forms = Mapping[str, Coarsening | None]
"""The columns of a release and the form of each; `None`: as it is."""


def frame_of(numbers: np.ndarray, **more: np.ndarray) -> pl.DataFrame:
    columns = {f"x{i}": column for i, column in enumerate(numbers.T)}
    return pl.DataFrame(columns | {name: pl.Series(each) for name, each in more.items()})


def magic() -> Setup:
    """Showers seen by a telescope; whether one is far away is secret."""
    frame = read("magic")
    *names, target = frame.columns
    far = (pl.col(names[-1]) > 190).cast(pl.String).alias(names[-1])
    return Setup(frame.with_columns(far), target, names[-1], ())


def stays() -> Setup:
    """The table of the demo."""
    table = patients(rows=6_000)
    frame = table.frame.drop("patient")
    return Setup(frame, "readmitted", "hiv", table.quasi)


def weak() -> Setup:
    """Answers of 9,100 people on short scales, which teach the target little, some the secret."""
    draw = np.random.default_rng(11)
    scales = np.round(draw.normal(0, 1, (9_100, 8)) * 1.2 + 3).clip(1, 5)
    scales[:, 3] = (scales[:, 2] + draw.integers(0, 3, 9_100) - 1).clip(1, 5)
    risk = 0.35 * scales[:, 0] - 0.3 * scales[:, 2] + 0.2 * scales[:, 4] + 0.15 * scales[:, 5]
    target = draw.random(9_100) < 1 / (1 + np.exp(-(risk - np.median(risk) - 0.8)))
    belief = scales[:, 1] + scales[:, 4] + draw.normal(0, 1.5, 9_100) > 6.5
    return Setup(frame_of(scales.astype(int), target=target, secret=belief), "target", "secret", ())


def faint() -> Setup:
    """Numbers and codes of 6,000 people: the target is hardly taught, the secret well told."""
    draw = np.random.default_rng(12)
    numbers = draw.normal(0, 1, (6_000, 9)).round(2)
    code = draw.integers(0, 6, 6_000)
    risk = 0.5 * numbers[:, 0] + 0.6 * np.abs(numbers[:, 1]) + 0.6 * (code == 2)
    target = draw.random(6_000) < 1 / (1 + np.exp(-(risk - 1.2)))
    secret = numbers[:, 2] + 0.8 * numbers[:, 0] + draw.normal(0, 1, 6_000) > 0
    return Setup(frame_of(numbers, code=code, target=target, secret=secret), "target", "secret", ())


def cancer() -> Setup:
    """Cells of tumours; whether their texture is coarse is secret."""
    numbers, target = load_breast_cancer(return_X_y=True)
    secret = numbers[:, 1] > np.median(numbers[:, 1])
    few = np.delete(numbers, 1, axis=1)[:, :20]
    return Setup(frame_of(few, target=target, secret=secret), "target", "secret", ())


TABLES: dict[str, Callable[[], Setup]] = {
    **{name: SETUPS[name] for name in ("pima", "wine", "cardio", "credit")},
    **{name: SETUPS[name] for name in ("adult_sex", "bank_default", "diab")},
    "magic": magic,
    "patients": stays,
    "weak": weak,
    "faint": faint,
    "cancer": cancer,
}


@dataclass(frozen=True)
class Trial:
    """A table of which the first rows were given to the tool and the rest judge."""

    setup: Setup
    given: int
    outcome: Outcome

    @property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        return labels(self.setup.frame[self.setup.target]), labels(
            self.setup.frame[self.setup.secret]
        )


@dataclass(frozen=True)
class Regret:
    """Kept less told of the choice, of the best candidate and of the best set, and the CPU time."""

    chosen: float
    best: float
    searched: float
    cpu: float
    columns: int


def opened(setup: Setup, seed: int) -> tuple[Setup, int]:
    """The rows in a drawn order, no more than are needed, and how many of them are given."""
    frame = setup.frame.sample(fraction=1, shuffle=True, seed=seed)
    given = min(GIVEN, round(0.7 * frame.height))
    return replace(setup, frame=frame[: given + UNSEEN]), given


def considered(setup: Setup, given: int, seed: int) -> Outcome:
    """What `tamis release` would choose from the given rows."""
    names = setup.target, setup.secret, setup.quasi, tuple(setup.features)
    roles = Roles(target=names[0], sensitive=names[1], quasi=names[2], plain=names[3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return consider(Table(setup.frame[:given], roles), Settings(k=K, seed=seed))


def released(setup: Setup, forms: Forms) -> pl.DataFrame:
    """All rows as a release has them."""
    columns = [
        setup.frame[name]
        if form is None
        else Ladder.from_dict(name, form.ladder).apply(setup.frame[name], form.level)
        for name, form in forms.items()
    ]
    return pl.DataFrame(columns)


def boosted(frame: pl.DataFrame, label: np.ndarray, given: int) -> np.ndarray:
    """The probabilities of the classes for the rows that judge, learnt from the others."""
    coding = Coding.of(frame)
    numbers = [
        np.where(each.values < 0, np.nan, each.values % 250)
        if each.categories is not None
        else each.values
        for each in coding.columns(frame)
    ]
    nominal = [each.categories is not None for each in coding.columns(frame)]
    cells = np.column_stack(numbers).astype(float)
    model = HistGradientBoostingClassifier(
        learning_rate=0.08,
        max_iter=60,
        max_leaf_nodes=8,
        l2_regularization=5.0,
        categorical_features=nominal,
        early_stopping=False,
        random_state=0,
    ).fit(cells[:given], label[:given])
    said = np.full((len(cells) - given, int(label.max()) + 1), 1e-6)
    said[:, model.classes_] = model.predict_proba(cells[given:])
    return said


def judged(trial: Trial, every: Sequence[Forms]) -> KeptTold:
    """Kept and told of some releases, which everything is the first of, by the rows that judge."""
    setup, given = trial.setup, trial.given
    target, secret = trial.labels
    rows = np.arange(given)
    truth = target[given:], secret[given:]
    known = (
        np.tile(shares(target[rows], int(target.max()) + 1), (len(truth[0]), 1)),
        shares_given(secret, target, rows, int(secret.max()) + 1)[given:],
    )
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for forms in every:
        if not forms:
            found.append((np.zeros(len(truth[0])), np.zeros(len(truth[0]))))
            continue
        frame = released(setup, forms)
        beside = frame.with_columns(pl.Series("the target", target.astype(str)))
        found.append(
            (
                gains(boosted(frame, target, given), known[0], truth[0]),
                gains(boosted(beside, secret, given), known[1], truth[1]),
            )
        )
    keys = [{name: "" if f is None else f.key for name, f in forms.items()} for forms in every]
    within = forms_within(keys)
    within[0] = True
    unsure = [float(surprise(k, t).mean()) for k, t in zip(known, truth)]
    return KeptTold(
        np.stack([of_target for of_target, _ in found]),
        np.stack([of_secret for _, of_secret in found]),
        within,
        0,
        unsure_target=unsure[0],
        unsure_secret=unsure[1],
        shown=(True, True),
    )


def best_sets(trial: Trial) -> list[Columns]:
    """Of all sets of columns that keep k, those worth most on the rows that judge."""
    setup, rows = trial.setup, np.arange(trial.setup.frame.height)
    given, unseen = rows[: trial.given], rows[trial.given :]
    parts = Parts(given, unseen, unseen, ((given, unseen),))
    bits = SubsetBits.of(setup.frame.select(setup.features), *trial.labels, parts=parts)
    keeps = keeps_k(replace(setup, frame=setup.frame[: trial.given]), K)
    sets = [columns for columns in search_front(bits, keeps).scores if columns]
    worth = bits.measured(sets).value()[: len(sets)]
    return [sets[i] for i in np.argsort(-worth)[:JUDGED]]


def tried(name: str, seed: int) -> tuple[Regret, Trial, list[Forms], KeptTold]:
    setup, given = opened(TABLES[name](), seed)
    start = time.process_time()
    outcome = considered(setup, given, seed)
    cpu = time.process_time() - start
    trial, card = Trial(setup, given, outcome), outcome.decision.scorecard
    meeting = [r for r in card.candidates if r.release.name not in outcome.decision.failures]
    plain = [r.release for r in meeting if outcome.evaluator.yardstick.forms(r.release) is not None]
    every: list[Forms] = [dict.fromkeys(setup.features)]
    every += [{f: release.forms.get(f) for f in release.features} for release in plain]
    every += [{setup.features[c]: None for c in columns} for columns in best_sets(trial)]
    measured = judged(trial, every)
    worth = measured.value()
    at = 1 + plain.index(outcome.release)
    mine = worth[1 : 1 + len(plain)]
    found = Regret(
        float(worth[at]), float(mine.max()), float(worth[1:].max()), cpu, outcome.release.size
    )
    return found, trial, every, measured


def show(names: Sequence[str], seeds: Sequence[int]) -> None:
    heads = ("table", "seed", "chosen", "best candidate", "best set", "columns", "CPU s")
    lines = Lines(*heads, title="kept less told, by a learner and rows the tool has not seen")
    every: list[Regret] = []
    for name in names:
        for seed in seeds:
            try:
                found, *_ = tried(name, seed)
            except CannotMeet as nothing:
                lines.add_row(name, str(seed), str(nothing)[:40])
                continue
            every.append(found)
            worth = (f"{each:.2f}" for each in (found.chosen, found.best, found.searched))
            lines.add_row(name, str(seed), *worth, str(found.columns), f"{found.cpu:.1f}")
    if every:
        means = np.mean([[r.chosen, r.best, r.searched, r.columns, r.cpu] for r in every], axis=0)
        lines.add_section()
        lines.add_row("mean", "", *(f"{each:.3f}" for each in means))
    Console(width=110).print(lines)


def main() -> None:
    if not DATA.exists():
        print("bench regret: the real datasets are not beside this checkout; made tables alone")
    show([name for name in TABLES if DATA.exists() or name not in SETUPS], SEEDS)


if __name__ == "__main__":
    some = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else SEEDS
    show(sys.argv[1].split(","), some)
