"""What the paper does not print: skip against stop, the optimum against greedy, honest AUCs."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from experiments.paper import Grid
from experiments.zhang.choices import EXACT
from experiments.zhang.printed import DISTCNT, FULL, HAMDIST, MAXIMAL, RF

Found = Mapping[str, Any]
Row = list[str | int | float | None]

STEPS = {
    "hamdist": (HAMDIST, "HamDist, skip", MAXIMAL, "HamDist, exact"),
    "distcnt": (DISTCNT, "DistCnt, skip", "DistCnt, exact"),
}
"""For each utility, the searches from the simplest to the proof."""


def choices_grid(found: Found) -> Grid:
    """Every method at every k: features, AUC, and AUC with the choice inside the folds."""
    ks = list(found["selected"][HAMDIST])
    head = ["choice", *(f"{part}, {_k(k)}" for k in ks for part in ("features", "AUC", "honest"))]
    rows: list[Row] = []
    for method, by_k in _all(found).items():
        honest = found["nested"].get(method, {})
        row: Row = [method]
        for k in ks:
            row += [len(by_k[k]["columns"]), round(by_k[k]["auc"], 3), _rounded(honest.get(k))]
        rows.append(row)
    return Grid(
        "Skip against stop, and other choices",
        head,
        rows,
        "AUC of a linear SVM over five folds. The paper's rows stop at the first feature that does "
        "not fit. Honest: the features are chosen again in each fold by the labels of its training "
        "rows, while anonymity is kept over all rows.",
    )


def optimum_grid(found: Found, utility: str) -> Grid:
    """How much of the best possible utility each search reaches, and what it predicts."""
    searches = STEPS[utility]
    head = ["k", *searches, "no set passes", "gap", *(f"AUC, {s}" for s in searches)]
    everything = _all(found)
    rows: list[Row] = []
    for k in found["selected"][HAMDIST]:
        records = [everything[s][k] for s in searches]
        best = records[-1]
        row: Row = [int(k), *(_worth(r[utility], utility) for r in records)]
        row += [_worth(best["bound"], utility), _gap(best["gap"])]
        rows.append([*row, *(round(r["auc"], 3) for r in records)])
    name = {"hamdist": HAMDIST, "distcnt": DISTCNT}[utility]
    return Grid(
        f"{name}: the optimum against greedy",
        head,
        rows,
        "The gap is what the proof leaves open. How far a search gets before the clock stops it "
        "depends on the machine; it may even be behind Maximal, which it does not start from. The "
        "largest utility need not predict best.",
    )


def _k(k: str) -> str:
    """The bound of a column, kept on one line."""
    return f"k = {k}".replace(" ", "\N{NO-BREAK SPACE}")


def _worth(value: float, utility: str) -> str | float:
    """HamDist by four digits; DistCnt is so near to 1 that it needs the decimals."""
    return round(value, 3) if utility == "hamdist" else f"{value:.6f}"


def _gap(gap: float) -> str:
    if gap == 0:
        return "proven"
    return f"{gap:.1%}" if gap >= 0.001 else f"{gap:.4%}"


def topics_grid(found: Found) -> Grid:
    """The entities once more by a linear SVM, beside the entropy of topics."""
    topics = found["topics"]
    ks = list(found["selected"][HAMDIST])
    head = ["choice", *(f"{part}, {_k(k)}" for k in ks for part in ("topics", "SVM"))]
    rows: list[Row] = []
    for method, by_k in _all(found).items():
        row: Row = [method]
        for k in ks:
            row += [round(topics[method][k], 3), round(by_k[k]["auc"], 3)]
        rows.append(row)
    flipped: Row = [RF]
    for k in ks:
        flipped += [
            round(fmean(topics[RF][k]), 3),
            round(fmean(a for _, a in found["flipped"][k]), 3),
        ]
    full: Row = [FULL, round(topics[FULL], 3), round(found["full"], 3)]
    return Grid(
        "AUC by the entropy of topics, and by a linear SVM",
        head,
        [*rows, flipped, full + [None] * (len(head) - 3)],
        "Means over several topic models of 10 topics; the paper does not say how many it uses. "
        "The entropy uses no label and varies with the seed of the topic model by about 0.05 to "
        "0.1.",
    )


def private_grid(found: Mapping[str, Found]) -> Grid:
    """The heights of the bars of Figure 1 and their deviation over the draws."""
    rows: list[Row] = []
    epsilons: list[str] = []
    for name, each in found.items():
        for kind in ("private", "private_topics"):
            for mechanism, by_epsilon in each.get(kind, {}).items():
                epsilons = list(by_epsilon)
                judged = "topics" if kind == "private_topics" else "SVM"
                shown = [_spread(aucs) for aucs in by_epsilon.values()]
                rows.append([name, f"{mechanism.capitalize()}-DP", judged, _features(each), *shown])
    head = ["table", "choice", "judged by", "features", *(f"epsilon {e}" for e in epsilons)]
    return Grid("AUC and its deviation over the draws", head, rows)


def _features(found: Found) -> int:
    return int(found["private_features"])


def _spread(aucs: list[float]) -> str:
    mean = f"{fmean(aucs):.3f}"
    return f"{mean} ± {stdev(aucs):.3f}" if len(aucs) > 1 else mean


def _all(found: Found) -> dict[str, Any]:
    proven = {method: found["proven"][method] for method in EXACT}
    return {**found["selected"], **proven}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
