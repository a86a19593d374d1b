"""The example of the paper as a summary: 14 candidates of Pima with C4.5, Tables 4 to 6."""

from __future__ import annotations

from tamis.analyse import SCHEMA_VERSION
from tamis.analyse.candidates import Region
from tamis.analyse.column_fates import Fate
from tamis.analyse.crowds import class_size_bins
from tamis.analyse.examination import RuleState
from tamis.analyse.records import as_plain
from tamis.rank.evaluation import evaluation, pareto_front
from tamis.select.front import undominated
from tests.publication.records import Facts

TABLE_4 = """
pregnancies plasma pressure skin insulin mass pedigree age | 0 73.835
plasma mass pregnancies skin pedigree age pressure | 1.409 74.875
plasma mass pregnancies skin pedigree age | 1.231 74.744
plasma mass pregnancies skin pedigree | 0.889 74.491
plasma mass pregnancies skin | 0.711 74.359
plasma mass pregnancies | 0.711 74.359
plasma mass | 0.882 74.486
plasma | -1.072 73.043
insulin pressure age pedigree skin pregnancies plasma | -1.942 72.401
insulin pressure age pedigree skin plasma | -0.708 73.312
insulin pressure age pedigree plasma | -1.238 72.920
insulin pressure age plasma | -1.241 72.919
insulin pressure plasma | -0.893 73.175
insulin plasma | -1.072 73.043
"""

TABLE_6 = """
5.328 6    6
5.661 7.75 3.8
6.327 8    4.6
6.993 8.25 5.4
7.326 7.75 6.4
7.992 8.25 6.8
8.991 9.5  7
9.324 8    9.6
5.661 4.5  9
6.327 6.5  7
6.993 6    9
7.659 6.25 9.8
8.325 7.75 8.6
8.658 7.5  9.2
"""
"""E(S) as printed, for the weights .333 each, .5 .25 .25, and .2 .6 .2."""


WEIGHTS = [(0.333, 0.333, 0.333), (0.5, 0.25, 0.25), (0.2, 0.6, 0.2)]
"""Those of Table 6, as performance, privacy, size."""


def example(weights: tuple[float, float, float] = WEIGHTS[1]) -> Facts:
    """The paper's candidates under some weights, with the rest of a report made up around them."""
    factors = _factors(weights)
    candidates = _candidates(factors)
    return {
        "schema_version": SCHEMA_VERSION,
        "tamis_version": "0.1.0",
        "made": "2026-11-15",
        "k": 5,
        "unit": "people",
        "budget": None,
        "table": {
            "name": "pima",
            "rows": 768,
            "rows_released": 768,
            "people": 768,
            "people_released": 768,
            "features": 8,
            "target": "diabetes",
            "sensitive": "diabetes",
        },
        "bits": {
            "by": "ranks",
            "caution": 1.0,
            "kept": figure(0.93, 0.04),
            "told": None,
            "useful": figure(0.21, 0.02),
            "telling": None,
            "teaches": True,
            "tells": False,
            "weak": False,
            "found": False,
            "tried": [],
            "views": [],
            "cautions": [1.0],
            "winners": [{"caution": 1.0, "candidate": 6}],
            "one_more": {"name": "pregnancies", "kept": 0.96, "told": None},
        },
        "close_look": {"target": guessed(), "sensitive": None},
        "columns": _columns(candidates),
        "methods": [
            {
                "name": "breach-aware walk",
                "applied": True,
                "found": 13,
                "note": "Drops columns one by one, from both ends of how much they teach.",
            },
            {
                "name": "containment",
                "applied": False,
                "found": 0,
                "note": "Needs columns of zeros and ones; this table has none.",
            },
        ],
        "factors": factors,
        "candidates": candidates,
        "limits": {
            "min_kept": None,
            "max_told": None,
            "max_pbi": 0.013,
            "min_performance": 0.725,
            "guessing_performance": 0.651,
            "guessing_pbi": -0.118,
        },
        "measures": [
            {
                "key": "performance",
                "label": "Correct predictions",
                "sentence": "How often a model learned from the release is right about new people.",
                "better": "higher",
                "shown_as": "share",
                "released": 0.74486,
                "interval": around(0.74486, 0.021),
                "original": 0.73835,
                "floor": 0.651,
            },
            {
                "key": "auc",
                "label": "Telling cases apart",
                "sentence": "How often a model puts a person with diabetes before one without.",
                "better": "higher",
                "shown_as": "share",
                "released": 0.781,
                "interval": around(0.781, 0.024),
                "original": 0.802,
                "floor": 0.5,
            },
            {
                "key": "rsd",
                "label": "Shift of rule supports",
                "sentence": "How far the share of people that a rule speaks about has moved.",
                "better": "lower",
                "shown_as": "share",
                "released": 0.031,
                "interval": None,
                "original": None,
                "floor": None,
            },
        ],
        "of_hundred": [
            {
                "attack": "found",
                "people": 460,
                "released": None,
                "everything": 0.81,
                "guessing": 0.0,
            },
            {
                "attack": "guessed",
                "people": 230,
                "released": 0.71,
                "everything": 0.76,
                "guessing": 0.65,
            },
        ],
        "attackers": [
            attacker("C4.5 tree", 0.738, 0.745, strongest=True),
            attacker("naive Bayes", 0.752, 0.741),
            attacker("nearest neighbours", 0.703, 0.715),
        ],
        "exposure": {
            "unit": "people",
            "asked": 5,
            "total": 768,
            "known": {"columns": ["mass", "plasma"], "kind": "equal", "k": 7, "unique": 0},
            "everything": {"k": 1, "unique": 312},
            "same_target": {"groups": 3, "of": 40, "members": 52},
        },
        "same_sensitive": None,
        "classes": as_plain(
            class_size_bins(
                [1] * 700 + [2] * 56 + [6] * 12,
                [7] * 14 + [12] * 60 + [25] * 150 + [60] * 240 + [152] * 304,
                [1] * 312 + [2] * 156 + [20] * 300,
                k=5,
                kind="equal",
            )
        ),
        "rules": {
            "total": 12,
            "kept": 8,
            "weakened": 1,
            "flipped": 1,
            "emptied": 0,
            "lost": 2,
            "origin": "a decision tree on the original table",
            "worst_first": [
                rule("pedigree > 0.72 and mass > 33 -> diabetes=yes", "lost", 1.0),
                rule("insulin > 121 and pregnancies > 6 -> diabetes=yes", "lost", 1.0),
                rule("plasma > 155 and mass <= 24 -> diabetes=yes", "flipped", 0.38),
                rule("plasma > 127 and mass > 29.9 -> diabetes=yes", "weakened", 0.06),
                rule("plasma <= 127 and mass <= 26.4 -> diabetes=no", "kept", 0.002),
            ],
        },
        "promises": [
            {
                "key": "k_anonymity",
                "claim": "Everybody shares all released values with at least 4 others.",
                "measured": "the smallest group has 7 people",
                "value": 7.0,
                "limit": 5.0,
            },
            {
                "key": "pbi",
                "claim": "The strongest attacker tried gains at most 1.3% over releasing all.",
                "measured": "0.9% more often right",
                "value": 0.00882,
                "limit": 0.013,
            },
        ],
        "not_promised": [
            "An attacker who knows more than the released columns may still recognise someone.",
            "Attackers that were not tried may do better than those that were.",
        ],
        "recipe": {
            "public": [
                {"label": "Method", "value": "breach-aware walk, C4.5, ten folds"},
                {"label": "SHA-256 of release.csv", "value": "9f2c" * 16},
            ],
            "private": [
                {"label": "Seed", "value": "20261115"},
                {"label": "Make the same bytes again", "value": "tamis release --reproduce DIR"},
            ],
        },
        "notes": [
            {
                "level": "warning",
                "text": "The target is also the sensitive column, so whatever teaches a model "
                "also helps an attacker.",
                "public": False,
            },
            {
                "level": "note",
                "text": "Figures were measured on 192 rows that the search never saw.",
                "public": True,
            },
        ],
    }


def around(value: float, by: float) -> Facts:
    return {"low": value - by, "high": value + by}


def figure(value: float, by: float) -> Facts:
    return {"value": value, "interval": around(value, by)}


def guessed() -> Facts:
    """A close look in which every figure is there."""
    return {
        "accuracy": figure(0.761, 0.03),
        "guessing": 0.651,
        "auc": figure(0.83, 0.02),
        "share": figure(0.94, 0.05),
        "bits": figure(0.23, 0.02),
        "surest": [
            {"part": 0.01, "precision": figure(0.9, 0.05), "recall": figure(0.031, 0.01)},
            {"part": 0.05, "precision": figure(0.8, 0.05), "recall": figure(0.123, 0.02)},
        ],
        "known": figure(0.044, 0.01),
        "largest": [3.0, 2.0, 1.5, 1.4, 1.3],
        "group": {"people": 31, "gain": figure(1.0, 0.5)},
        "beside": {
            "name": "naive Bayes",
            "accuracy": figure(0.745, 0.03),
            "auc": figure(0.781, 0.02),
        },
    }


def kept_and_told() -> Facts:
    """The example with a secret beside the target, chosen by what is kept and told."""
    summary = example()
    bits, look = summary["bits"], summary["close_look"]
    assert bits is not None
    assert look is not None
    summary["table"]["sensitive"] = "hiv"
    summary["columns"].append({"name": "hiv", "fate": "held back", "why": "Hard to guess."})
    for one in summary["candidates"]:
        told = round(one["kept"] ** 2, 4)
        one["told"], one["told_interval"] = told, around(told, 0.02)
        one["worth"] = (one["kept"], told)
    mark_front(summary["candidates"])
    cautions = [step / 20 for step in range(61)]
    look["sensitive"] = guessed()
    summary["bits"] = {
        **bits,
        "by": "value",
        "caution": 0.75,
        "told": figure(0.18, 0.03),
        "telling": figure(0.05, 0.01),
        "tells": True,
        "found": True,
        "tried": ["boosted trees, which looked at 143 views of the columns", "naive Bayes"],
        "views": [
            {"words": "the last digit of insulin", "share": 0.18, "released": True},
            {"words": "whether mass is even", "share": 0.97, "released": False},
        ],
        "cautions": cautions,
        "winners": [
            {"caution": caution, "candidate": best_for(summary, caution)} for caution in cautions
        ],
        "one_more": {"name": "pregnancies", "kept": 0.96, "told": 0.31},
        "value": figure(0.7, 0.05),
        "redrawn": 0.62,
        "as_good": [{"candidate": 2, "redrawn": 0.21}, {"candidate": 4, "redrawn": 0.09}],
    }
    for i, one in enumerate(summary["candidates"]):
        one["chosen"] = i == best_for(summary, 0.75)
    return summary


def best_for(summary: Facts, caution: float) -> int:
    """The release worth most that breaks no limit."""
    candidates = summary["candidates"]
    may = [i for i, one in enumerate(candidates) if not one["fails"]]
    return max(may, key=lambda i: candidates[i]["worth"][0] - caution * candidates[i]["worth"][1])


def attacker(name: str, everything: float, released: float, *, strongest: bool = False) -> Facts:
    return {
        "name": name,
        "guessing": 0.651,
        "everything": everything,
        "released": released,
        "interval": around(released, 0.02),
        "strongest": strongest,
    }


def rule(text: str, state: RuleState, damage: float) -> Facts:
    gone = state == "lost"
    return {
        "text": text,
        "state": state,
        "damage": damage,
        "support_before": 0.16,
        "support_after": None if gone else 0.15,
        "label_before": "yes",
        "label_after": None if gone else ("no" if state == "flipped" else "yes"),
        "share_before": 0.78,
        "share_after": None if gone else 0.78 - damage,
        "names_released_only": not gone,
    }


def table_4() -> tuple[list[list[str]], list[float], list[float]]:
    """The features, PBI and performance of each candidate, as fractions."""
    rows = [line.split("|") for line in TABLE_4.strip().splitlines()]
    pbi, performance = zip(*(map(float, figures.split()) for _, figures in rows))
    features = [names.split() for names, _ in rows]
    return features, [p / 100 for p in pbi], [p / 100 for p in performance]


def region(performance: float, pbi: float, baseline: float) -> Region:
    if performance < baseline:
        return "I" if pbi > 0 else "III"
    return "II" if pbi > 0 else "IV"


def ranked(candidates: list[Facts], factors: list[Facts]) -> list[Facts]:
    """The candidates with ranks, scores, places and front as Python finds them."""
    scores = {f["key"]: [c["values"][f["key"]] for c in candidates] for f in factors}
    scores["size"] = [float(c["size"]) for c in candidates]
    directions = {f["key"]: f["direction"] for f in factors}
    found = evaluation(scores, directions, {f["key"]: f["weight"] for f in factors}, ties="size")
    front = pareto_front(scores, directions)
    places = {candidate: place for place, candidate in enumerate(found.order, start=1)}
    allowed = [i for i in found.order if not candidates[i]["fails"]]
    return [
        {
            **candidate,
            "ranks": {key: int(ranks[i]) for key, ranks in found.ranks.items()},
            "score": float(found.scores[i]),
            "place": places[i],
            "on_front": bool(front[i]),
            "chosen": i == allowed[0],
        }
        for i, candidate in enumerate(candidates)
    ]


def mark_front(candidates: list[Facts]) -> None:
    """Say which of those that can be chosen no other beats in kept and told."""
    allowed: dict[tuple[int, ...], tuple[float, float]] = {
        (i,): one["worth"] for i, one in enumerate(candidates) if not one["fails"]
    }
    front = {i for (i,) in undominated(allowed)}
    for i, one in enumerate(candidates):
        one["ahead"] = i in front


def broken_limits(performance: float, pbi: float) -> list[str]:
    found = ["attacker gains over 1.3%"] if pbi > 0.013 else []
    return [*found, "right below 72.5%"] if performance < 0.725 else found


def candidate(
    features: list[str], performance: float, pbi: float, *, baseline: float, everything: bool
) -> Facts:
    kept = round(min(1.0, 0.05 + 0.3 * len(features) ** 0.5 + performance - baseline), 4)
    return {
        "name": "everything" if everything else " + ".join(features),
        "features": features,
        "method": "baseline" if everything else "breach-aware walk",
        "performance": performance,
        "performance_interval": around(performance, 0.004),
        "kept": kept,
        "kept_interval": around(kept, 0.03),
        "told": None,
        "told_interval": None,
        "worth": (kept, 0.0),
        "pbi": pbi,
        "pbi_interval": None if everything else around(pbi, 0.005),
        "size": len(features),
        "region": None if everything else region(performance, pbi, baseline),
        "values": {"performance": performance, "pbi": pbi, "size": float(len(features))},
        "ranks": {},
        "score": 0.0,
        "place": 0,
        "on_front": False,
        "ahead": False,
        "chosen": False,
        "baseline": everything,
        "ranked": True,
        "fails": broken_limits(performance, pbi),
    }


def _factors(weights: tuple[float, float, float]) -> list[Facts]:
    return [
        {
            "key": "performance",
            "label": "Usefulness",
            "direction": "max",
            "weight": weights[0],
            "shown_as": "share",
        },
        {
            "key": "pbi",
            "label": "Privacy",
            "direction": "min",
            "weight": weights[1],
            "shown_as": "change",
        },
        {
            "key": "size",
            "label": "Few columns",
            "direction": "min",
            "weight": weights[2],
            "shown_as": "count",
        },
    ]


def _candidates(factors: list[Facts]) -> list[Facts]:
    features, pbi, performance = table_4()
    found = [
        candidate(names, perf, breach, baseline=performance[0], everything=i == 0)
        for i, (names, perf, breach) in enumerate(zip(features, performance, pbi))
    ]
    return ranked(found, factors)


def _columns(candidates: list[Facts]) -> list[Facts]:
    kept = next(c["features"] for c in candidates if c["chosen"])
    found: list[Facts] = [
        {"name": "name", "fate": "identifier", "why": "It names a person."},
        {"name": "diabetes", "fate": "target", "why": "It is what recipients learn to predict."},
    ]
    for name in candidates[0]["features"]:
        fate: Fate = "released" if name in kept else "held back"
        why = {
            "released": "More is learnt than told.",
            "held back": "More would be told than learnt.",
        }[fate]
        shares: Facts = {
            "teaches": 0.4,
            "teaches_beyond": 0.1,
            "tells": 0.2,
            "tells_beyond": 0.05,
        }
        found.append({"name": name, "fate": fate, "why": why, "shares": shares})
    return found
