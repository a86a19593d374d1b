"""The paper's walk as a piece of work, and E(S) of what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from experiments.store import Store
from tamis.learn.models import classifier
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.weka_folds import WekaFolds
from tamis.rank.evaluation import Evaluation
from tamis.risk.breach import Attack
from tamis.select.breach import rate_candidates
from tamis.select.breach.candidate import Candidate
from tamis.select.breach.search import Trials, best_first, exhaustive, walk

WEIGHTS = ("performance", "privacy", "size")
SEARCHES = {"walk": walk, "exhaustive": exhaustive, "best-first": best_first}


@dataclass(frozen=True)
class Task:
    """A table, its target, and where it is not the target, the column to hide."""

    frame: pl.DataFrame
    target: str
    digest: str
    sensitive: str | None = None


@dataclass(frozen=True)
class Found:
    """What the walk along both rankings found; the baseline is the first candidate."""

    candidates: tuple[Candidate, ...]
    performance_ranking: tuple[str, ...]
    privacy_ranking: tuple[str, ...]
    floor: float
    others: tuple[Candidate, ...] = ()

    def judged(self, weights: Sequence[float]) -> Evaluation:
        """E(S) of the candidates."""
        return rate_candidates(list(self.candidates), dict(zip(WEIGHTS, weights)))

    def best(self, weights: Sequence[float], place: int = 0) -> Candidate:
        """The candidate at a place of the order; -1 is the last."""
        return self.candidates[self.judged(weights).order[place]]

    def of(self, features: Iterable[str]) -> Candidate | None:
        """A candidate, or one that was asked for beside them, by its features."""
        named = set(features)
        every = (*self.candidates, *self.others)
        return next((c for c in every if set(c.features) == named), None)


def searched(
    store: Store,
    name: str,
    task: Task,
    learner: str,
    *,
    search: str = "walk",
    asked: Sequence[str] = (),
    folds: int = 10,
    n_jobs: int | None = None,
) -> Found:
    """The walk with one classifier, kept as a piece.

    Parameters
    ----------
    store : Store
    name : str
        Of the piece.
    task : Task
    learner : str
        As `tamis.learn.models` names it.
    search : {"walk", "exhaustive", "best-first"}
    asked : sequence of str
        Further sets of features to look at, each as names with spaces between.
    folds : int
        How many, dealt as Weka does.
    n_jobs : int, optional
    """
    settings = {
        "data": task.digest,
        "rows": task.frame.height,
        "columns": task.frame.columns,
        "target": task.target,
        "sensitive": task.sensitive,
        "learner": learner,
        "search": search,
        "asked": list(asked),
        "folds": folds,
    }
    trials = partial(_trials, task, learner, folds, n_jobs)
    record = store.piece(name, settings, lambda: _record(trials(), search, asked))
    return Found(
        tuple(_candidate(c) for c in record["candidates"]),
        tuple(record["performance_ranking"]),
        tuple(record["privacy_ranking"]),
        record["floor"],
        tuple(_candidate(c) for c in record["others"]),
    )


def _record(trials: Trials, search: str, asked: Sequence[str]) -> dict[str, Any]:
    found = SEARCHES[search](trials)
    others = [trials.candidate(names.split(), ["asked for"]) for names in asked]
    return {
        "candidates": [_plain(c) for c in found],
        "others": [_plain(c) for c in others],
        "performance_ranking": list(trials.performance_ranking),
        "privacy_ranking": list(trials.privacy_ranking),
        "floor": trials.attack.floor,
    }


def _trials(task: Task, learner: str, folds: int, n_jobs: int | None) -> Trials:
    def scores(target: str, unseen: str | None) -> SubsetScores:
        frame = task.frame if unseen is None else task.frame.drop(unseen)
        return SubsetScores(
            frame, classifier(learner), target=target, cv=WekaFolds(folds), n_jobs=n_jobs
        )

    own = scores(task.target, task.sensitive)
    if task.sensitive is None:
        return Trials(own, Attack({learner: own}), same=True)
    return Trials(own, Attack({learner: scores(task.sensitive, task.target)}))


def _plain(candidate: Candidate) -> dict[str, Any]:
    """Without what depends on weights and on the other candidates."""
    return {k: v for k, v in candidate.to_dict().items() if k not in ("size", "ranks", "score")}


def _candidate(record: Mapping[str, Any]) -> Candidate:
    known = dict(record)
    for name in ("features", "origin", "performance_interval", "pbi_interval"):
        known[name] = tuple(known[name])
    return Candidate(**known)
