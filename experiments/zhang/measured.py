"""All that is computed for one table of Zhang et al. (2017), in pieces that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from experiments.data import Data
from experiments.store import Store
from experiments.zhang.auc import (
    COSTS,
    FOLDS,
    TOPICS,
    kernel_auc,
    nested_auc,
    svm_auc,
    topic_auc,
)
from experiments.zhang.choices import (
    BEST,
    EXACT,
    GREEDY,
    PRINTED,
    chosen,
    chosen_by,
    described,
    proven,
)
from experiments.zhang.differential import MECHANISMS, private_aucs, private_topic_aucs
from experiments.zhang.printed import (
    ADULT,
    EMAIL,
    ENTITY,
    EPSILONS,
    FULL,
    HAMDIST,
    KS,
    MAXIMAL,
    METHODS,
    RF,
    SIZES,
)
from experiments.zhang.tasks import ADULT_SCHEMA, FILES, LEAD_SCHEMA, TASKS, Task, adult
from tamis.perturb.flip import Disagreement, flip

Found = dict[str, Any]
KERNEL_COSTS = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Effort:
    """How much work to do."""

    tasks: tuple[str, ...] = tuple(TASKS)
    ks: tuple[int, ...] = KS
    epsilons: tuple[float, ...] = EPSILONS
    draws: int = 10
    topic_draws: int = 3
    seconds: float = 15.0
    """For each proof."""
    methods: tuple[str, ...] = tuple(GREEDY)


QUICK = Effort(
    (ENTITY,),
    KS[:1],
    (1.0,),
    draws=1,
    topic_draws=1,
    seconds=1.0,
    methods=tuple(method for method in GREEDY if method != BEST),
)


@dataclass(frozen=True, eq=False)
class Workbench:
    """A table, what to spend on it, and where its pieces are kept."""

    task: Task
    effort: Effort
    store: Store
    stamp: Found
    lead: Task | None = None
    """The same table in another encoding."""

    @classmethod
    def of(cls, name: str, data: Data, effort: Effort, store: Store) -> Workbench:
        stamp = {
            "data": data.digest(FILES[name]),
            "schema": ADULT_SCHEMA.read_text(encoding="utf-8"),
            "folds": FOLDS,
            "costs": COSTS,
            "ks": effort.ks,
        }
        lead = adult(data, LEAD_SCHEMA) if name == ADULT else None
        return cls(TASKS[name](data), effort, store, stamp, lead)

    @property
    def ks(self) -> tuple[int, ...]:
        return self.effort.ks

    def piece(self, part: str, work: Callable[[], Any], **settings: Any) -> Any:
        """A part of the work, done once for its settings."""
        slug = self.task.name.lower().replace(" ", "-")
        return self.store.piece(f"zhang/{slug}/{part}", self.stamp | settings, work)

    def measured(self) -> Found:
        """Everything about this table; keys of JSON are text, so k is text."""
        draws = self.effort.draws
        methods = list(self.effort.methods)
        selected = self.piece("selected", self._selected, methods=methods)
        features = int(SIZES[self.task.name][HAMDIST][0])
        found = {
            "statistics": self.piece("statistics", self._statistics),
            "selected": selected,
            "full": self.piece("full", lambda: svm_auc(self.task.X, self.task.y)),
            "flipped": self.piece("flipped", self._flipped, draws=draws),
            "coins": self.piece("coins", partial(self._flipped, "coin"), draws=draws),
            "nested": self.piece("nested", self._nested, methods=methods),
            "proven": self.piece("proven", self._proven, seconds=self.effort.seconds),
            "private_features": features,
            "private": self.piece(
                "private",
                partial(self._private, features),
                draws=draws,
                epsilons=self.effort.epsilons,
                features=features,
            ),
        }
        if self.task.name == ENTITY:
            found |= self._by_topics(found)
        if self.task.name == EMAIL:
            work = partial(self._kernels, selected)
            found["kernels"] = self.piece("kernels", work, kernel_costs=KERNEL_COSTS)
        if self.lead is not None:
            lead, schema = self.lead, LEAD_SCHEMA.read_text(encoding="utf-8")
            found["lead"] = self.piece("lead", partial(self._sizes, lead), lead=schema)
        return found

    def _statistics(self) -> list[float]:
        rows, features = self.task.X.shape
        positives = int(self.task.y.sum())
        return [int(rows), int(features), positives, int(rows) - positives, self.task.density]

    def _selected(self) -> Found:
        found: Found = {}
        for method in (MAXIMAL, *self.effort.methods):
            found[method] = {str(k): self._judged(chosen(self.task, k, method)) for k in self.ks}
        return found

    def _judged(self, selection: Any) -> Found:
        record = described(self.task, selection)
        return record | {"auc": svm_auc(self.task.X[:, record["columns"]], self.task.y)}

    def _kernels(self, selected: Found) -> Found:
        """AUC by an RBF kernel of the full table and of each choice at the first k."""
        k = str(self.ks[0])
        sets = {method: self.task.X[:, by_k[k]["columns"]] for method, by_k in selected.items()}
        sets = {method: X for method, X in sets.items() if method in METHODS} | {FULL: self.task.X}
        return {
            method: {f"{cost:g}": kernel_auc(X, self.task.y, cost) for cost in KERNEL_COSTS}
            for method, X in sets.items()
        }

    def _sizes(self, task: Task) -> Found:
        """The share of ones, and how many features each printed method keeps."""
        methods = (MAXIMAL, *PRINTED)
        sizes = {m: [len(chosen(task, k, m).features) for k in self.ks] for m in methods}
        return {"density": task.density, "sizes": sizes}

    def _flipped(self, disagreement: Disagreement = "majority") -> Found:
        """Flipped tables: the share of flipped cells and the AUC, a pair for each draw."""
        found: Found = {}
        for k in self.ks:
            released = [
                flip(self.task.X, k, disagreement=disagreement, random_state=s)
                for s in range(self.effort.draws)
            ]
            found[str(k)] = [
                [f.flipped_share, svm_auc(f.matrix, self.task.y, seed=s)]
                for s, f in enumerate(released)
            ]
        return found

    def _nested(self) -> Found:
        """AUC where the features are chosen by the training labels of each fold."""
        return {
            method: {
                str(k): nested_auc(
                    self.task.X, self.task.y, partial(chosen_by, self.task, k, method)
                )
                for k in self.ks
            }
            for method in self.effort.methods
        }

    def _proven(self) -> Found:
        seconds = self.effort.seconds
        return {
            method: {str(k): self._judged(proven(self.task, k, method, seconds)) for k in self.ks}
            for method in EXACT
        }

    def _private(self, features: int) -> Found:
        return {
            mechanism: {
                f"{epsilon:g}": private_aucs(
                    self.task, mechanism, epsilon, features, self.effort.draws
                )
                for epsilon in self.effort.epsilons
            }
            for mechanism in MECHANISMS
        }

    def _by_topics(self, found: Found) -> Found:
        draws, features = self.effort.topic_draws, found["private_features"]
        chosen_too = found["selected"] | found["proven"]
        work = partial(self._topic_aucs, chosen_too)
        private = partial(self._private_topics, features)
        settings: Found = {
            "topics": TOPICS,
            "draws": [draws, self.effort.draws],
            "seconds": self.effort.seconds,
        }
        return {
            "topics": self.piece("topics", work, **settings),
            "private_topics": self.piece(
                "private-topics",
                private,
                **settings,
                features=features,
                epsilons=self.effort.epsilons,
            ),
        }

    def _topic_aucs(self, selected: Found) -> Found:
        """Mean AUC of the topic entropy over several topic models, for each choice."""
        found: Found = {FULL: self._topic_auc(self.task)}
        for method, by_k in selected.items():
            found[method] = {
                k: self._topic_auc(replace(self.task, X=self.task.X[:, record["columns"]]))
                for k, record in by_k.items()
            }
        found[RF] = {str(k): self._flipped_topics(k) for k in self.ks}
        return found

    def _flipped_topics(self, k: int) -> list[float]:
        """One AUC for each flipped table."""
        flipped = [flip(self.task.X, k, random_state=s).matrix for s in range(self.effort.draws)]
        return [topic_auc(X, self.task.y, seed=s) for s, X in enumerate(flipped)]

    def _topic_auc(self, task: Task) -> float:
        seeds = range(self.effort.topic_draws)
        return sum(topic_auc(task.X, task.y, seed=s) for s in seeds) / len(seeds)

    def _private_topics(self, features: int) -> Found:
        return {
            mechanism: {
                f"{epsilon:g}": private_topic_aucs(
                    self.task, mechanism, epsilon, features, self.effort.draws, TOPICS
                )
                for epsilon in self.effort.epsilons
            }
            for mechanism in MECHANISMS
        }
