"""Summaries that a page must survive: hostile names, very many candidates, few or many factors."""

from __future__ import annotations

import random

from tests.publication.example_summary import candidate, example, ranked, rule
from tests.publication.records import Facts

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(3)>",
    "\"'` onmouseover=alert(4) x='",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&amp;",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe \N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}",
    "long " + "n" * 195,
    "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{RED APPLE}\N{VARIATION SELECTOR-16}",
    "tab\tline\nnull\0half\ud800",
    "javascript:alert(5)",
    "]]>&\N{LINE SEPARATOR}",
]
"""Names of columns and labels as someone might choose them to break a page."""


def hostile() -> Facts:
    """The example with every name and text made hostile."""
    summary = example()
    facts, rules = summary["table"], summary["rules"]
    assert rules is not None
    bad, worse, image = HOSTILE[0], HOSTILE[1], HOSTILE[3]
    names = dict(zip(summary["candidates"][0]["features"], HOSTILE))
    candidates: list[Facts] = []
    for at, one in enumerate(summary["candidates"]):
        features = [names[name] for name in one["features"]]
        name = " + ".join(features) + f" {HOSTILE[at % len(HOSTILE)]}"
        candidates.append({**one, "name": name, "features": features, "method": bad})
    bits, look = summary["bits"], summary["close_look"]
    assert bits is not None
    assert look is not None
    told: Facts = {"value": 0.2, "interval": None}
    guess: Facts = {**look["target"], "beside": {**look["target"]["beside"], "name": bad}}
    for one in candidates:
        one["told"], one["worth"] = one["kept"] / 2, (one["kept"], one["kept"] / 2)
    return {
        **summary,
        "bits": {
            **bits,
            "told": told,
            "telling": told,
            "tells": True,
            "one_more": {"name": HOSTILE[5], "kept": 0.95, "told": 0.6},
        },
        "close_look": {"target": guess, "sensitive": guess},
        "table": {**facts, "name": worse, "target": bad, "sensitive": image},
        "columns": [
            {"name": name, "fate": column["fate"], "why": f"Because {name}."}
            for name, column in zip(HOSTILE, summary["columns"] + summary["columns"])
        ],
        "methods": [{**m, "name": HOSTILE[4], "note": bad} for m in summary["methods"]],
        "factors": [{**f, "label": HOSTILE[i]} for i, f in enumerate(summary["factors"])],
        "candidates": candidates,
        "measures": [{**m, "label": bad, "sentence": image} for m in summary["measures"]],
        "attackers": [{**a, "name": image} for a in summary["attackers"]],
        "rules": {
            **rules,
            "origin": HOSTILE[2],
            "worst_first": [rule(f"`{name}` > 1 -> {name}", "flipped", 0.5) for name in HOSTILE],
        },
        "promises": [{**p, "claim": bad, "measured": worse} for p in summary["promises"]],
        "not_promised": HOSTILE,
        "recipe": {
            "public": [{"label": bad, "value": name} for name in HOSTILE],
            "private": [{"label": bad, "value": image}],
        },
        "notes": [{"level": "warning", "text": name, "public": True} for name in HOSTILE],
    }


def many(amount: int = 2_000, seed: int = 1, factors: int = 3) -> Facts:
    """As many candidates as an exhaustive search may give, some of them not allowed."""
    draw = random.Random(seed)
    summary = example()
    columns = [f"column {i}" for i in range(40)]
    found = [candidate(columns, 0.8, 0.0, baseline=0.8, everything=True)]
    for i in range(1, amount):
        features = draw.sample(columns, draw.randint(1, 30))
        useful = 0.65 + 0.004 * len(features) + draw.gauss(0.03, 0.015)
        gain = -0.15 + 0.9 * (useful - 0.65) + draw.gauss(0, 0.02)
        one = candidate(features, round(useful, 3), round(gain, 3), baseline=0.8, everything=False)
        found.append({**one, "name": f"{i}: {len(features)} columns"})
    chosen: list[Facts] = [*summary["factors"]]
    for extra in range(3, factors):
        key = f"extra {extra}"
        chosen.append(
            {"key": key, "label": key, "direction": "max", "weight": 0.1, "shown_as": "number"}
        )
        for one in found:
            one["values"][key] = draw.gauss(0, 1)
    total = sum(f["weight"] for f in chosen[:factors])
    chosen = [{**f, "weight": f["weight"] / total} for f in chosen[:factors]]
    candidates, bits = ranked(found, chosen), summary["bits"]
    assert bits is not None
    best = next(i for i, one in enumerate(candidates) if one["chosen"])
    bits["winners"] = [{"caution": 1.0, "candidate": best}]
    return {**summary, "factors": chosen, "candidates": candidates}
