"""Table 1 and Figure 3: four rules of Adult under rising uniform noise."""

from __future__ import annotations

from typing import Any

from experiments.cell import Cell
from experiments.data import Data
from experiments.fletcher import printed
from experiments.fletcher.curves import LEVELS
from experiments.fletcher.tables import file_of, table_of
from experiments.paper import Figure, Section
from experiments.store import Store
from tamis.charts import Panel, line_chart
from tamis.evaluate.retention import retention
from tamis.perturb.noise import UniformNoise

SEED = 0
SMALL = ("psi0", "psi1")
FOLD = 0.9
"""The tree of the paper saw nine of ten folds, so its supports count that many rows."""

_ANOTHER_FOLD = "The paper's tree saw nine of ten folds; it does not say which"
_READ = "Taken from the text (over 8000, only 3000, roughly 4000), not from a printed number"


def section(data: Data, store: Store, draws: int) -> Section:
    settings = {"data": data.digest(file_of("Adult")), "draws": draws, "seed": SEED}
    changes = store.piece("fletcher/adult-rules", settings, lambda: _changes(data, draws))
    text = (
        "The printed rules, with two inequality signs corrected, on all 30,162 complete rows; "
        "supports are nine tenths of ours, since the paper's tree saw nine of ten folds. The rules "
        "cannot be leaves of the tree that the paper describes: two of them have {small} rows, and "
        "a leaf of at least 2 % of nine folds has 543."
    )
    small = " and ".join(
        f"{FOLD * c['support']:.0f}" for c in changes if c["level"] == 0 and c["rule"] in SMALL
    )
    return Section(
        "Four rules of Adult", text.format(small=small), _cells(changes), [_figure(changes)]
    )


def _changes(data: Data, draws: int) -> list[dict[str, Any]]:
    """For each level and rule the mean support, distance and labels over the draws."""
    table = table_of(data, "Adult")
    found = []
    for level in LEVELS:
        drawn = []
        for seed in range(SEED, SEED + draws):
            noisy = UniformNoise(level, random_state=seed).fit_transform(table)
            kept = retention(printed.TABLE_1_RULES, table, noisy, target="class")
            drawn.append({change.id: change for change in kept.rules})
        for rule in printed.TABLE_1_SHARES:
            changes = [one[rule] for one in drawn]
            found.append(
                {
                    "level": level,
                    "rule": rule,
                    "support": sum(c.support_after for c in changes) / draws,
                    "distance": sum(c.distance or 0.0 for c in changes) / draws,
                    "low": sum(c.labels_after.get("<=50K", 0.0) for c in changes) / draws,
                }
            )
    return found


def _cells(changes: list[dict[str, Any]]) -> list[Cell]:
    at = {(c["rule"], c["level"]): c for c in changes}
    cells = []
    for rule, (low, high) in printed.TABLE_1_SHARES.items():
        share = at[rule, 0.0]["low"]
        for column, text, ours in (("<=50K", low, share), (">50K", high, 1 - share)):
            cells.append(
                Cell("Table 1", rule, column, text, ours, tolerance=0.01, reason=_ANOTHER_FOLD)
            )
    last = LEVELS[-1]
    ours = {
        ("psi3", "rows at 0 %"): FOLD * at["psi3", 0.0]["support"],
        ("psi3", "rows at 30 %"): FOLD * at["psi3", last]["support"],
        ("psi2", "rows at 30 %"): FOLD * at["psi2", last]["support"],
        ("psi2", "share of <=50K at 30 %"): at["psi2", last]["low"],
    }
    for (rule, column), (text, tolerance) in printed.FIGURE_3.items():
        reason = _READ if "rows" in column else _ANOTHER_FOLD
        value = ours[rule, column]
        cells.append(
            Cell("Figure 3", rule, column, text, value, tolerance=tolerance, reason=reason)
        )
    return cells


def _figure(changes: list[dict[str, Any]]) -> Figure:
    panels = []
    for rule in printed.TABLE_1_SHARES:
        rows = [c for c in changes if c["rule"] == rule]
        levels = [100 * c["level"] for c in rows]
        support = {"support": [FOLD * c["support"] for c in rows]}
        distance = {"chi-squared distance of labels": [c["distance"] for c in rows]}
        panels.append(Panel(rule, levels, support, "noise, %", "rows", low=0))
        panels.append(Panel(rule, levels, distance, "noise, %", "distance", low=0, high=0.6))
    words = "Support and label distance of four rules from 0 to 30 percent uniform noise."
    svg = line_chart("Figure 3", words, panels, columns=4, height=190).svg()
    note = (
        "psi2 gains rows that it was not about, and its prediction flips; psi3 loses most of "
        "its rows but keeps its labels."
    )
    return Figure("Figure 3", svg, note)
