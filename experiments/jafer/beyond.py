"""Beyond the paper: every subset instead of the walk, and other seeds."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import polars as pl

from experiments.data import Data
from experiments.jafer.larger import ADULT_FILES, adult_frame
from experiments.jafer.pima import CUT, FILE, hidden
from experiments.jafer.printed import ADULT
from experiments.jafer.search import Found, Task, searched
from experiments.paper import Grid, Section
from experiments.store import Store
from tamis.learn.models import classifier
from tamis.select.breach import BreachSelector

Row = tuple[str, str, int, float, float, str]


def section(data: Data, store: Store, seeds: int, quick: bool) -> Section:
    """All subsets for naive Bayes, and how often a seed changes the choice."""
    text = (
        "For naive Bayes any subset costs a few additions, so all of them can be scored. And "
        "one draw of ten folds is noisy: the same search with other seeds chooses differently."
    )
    grids = [_every_subset(data, store, quick), _stability(data, store, seeds, quick)]
    return Section("Beyond the paper", text, (), (), grids)


def _every_subset(data: Data, store: Store, quick: bool) -> Grid:
    pima = Task(pl.read_csv(data.path(FILE)), "class", data.digest(FILE))
    tasks = {"pima, pregnancies hidden": hidden(pima)}
    if not quick:
        digest = data.digest(*ADULT_FILES)
        tasks["adult, sex hidden"] = Task(adult_frame(data), "class", digest, "sex")
    rows: list[Row] = []
    for words, task in tasks.items():
        for search in ("walk", "exhaustive"):
            name = f"jafer/{words.split(',')[0]}-hidden-nb-{search}"
            rows.append(_safest(words, search, searched(store, name, task, "nb", search=search)))
    return Grid(
        "The safest set that loses no performance, naive Bayes",
        ("table", "search", "candidates", "breach increase", "performance", "features"),
        rows,
        "Of the candidates whose performance is not significantly below the baseline, the one "
        "with the smallest breach increase. The paper's walk sees a few dozen subsets, the other "
        "all.",
    )


def _safest(words: str, search: str, found: Found) -> Row:
    best = min(found.candidates, key=lambda c: (c.pbi, c.size))
    short = {column: letters for letters, column in ADULT.items()}
    names = " ".join(short.get(name, name) for name in best.features)
    return words, search, len(found.candidates), best.pbi, best.performance, names


def _stability(data: Data, store: Store, seeds: int, quick: bool) -> Grid:
    rows = []
    dealt = {"ten folds once, as in the paper": 1, "ten folds five times": 5}
    for words, repeats in [*dealt.items()][: 1 if quick else None]:
        settings = {"data": data.digest(FILE), "repeats": repeats, "seeds": seeds}
        record = store.piece(
            f"jafer/pima-seeds-{repeats}", settings, partial(_choices, data, repeats, seeds)
        )
        chosen = [tuple(names) for names in record["chosen"]]
        often = max(set(chosen), key=chosen.count)
        rows.append(
            (
                words,
                seeds,
                len({tuple(names) for names in record["rankings"]}),
                len(set(chosen)),
                chosen.count(often) / seeds,
                " ".join(often),
            )
        )
    return Grid(
        "Pima, C4.5, pregnancies hidden: the same search with other seeds",
        ("folds", "seeds", "rankings", "choices", "share of the most common", "the most common"),
        rows,
        "How many different performance rankings, and how many different choices by equal "
        "weights, the seeds give. More folds make the choice more stable.",
    )


def _choices(data: Data, repeats: int, seeds: int) -> dict[str, Any]:
    frame = pl.read_csv(data.path(FILE))
    found: dict[str, Any] = {"rankings": [], "chosen": []}
    for seed in range(seeds):
        selector = BreachSelector(
            classifier("c45"),
            weights=dict.fromkeys(("performance", "privacy", "size"), 1 / 3),
            cv=10,
            repeats=repeats,
            search="walk",
            cut=[CUT],
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(
                frame.drop("class", "preg"), frame["class"].to_numpy(), sensitive=frame["preg"]
            )
        found["rankings"].append(selector.performance_ranking_)
        found["chosen"].append(selector.best_.features)
    return found
