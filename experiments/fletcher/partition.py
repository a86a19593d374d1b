"""Figure 5: synthetic Banknotes under differential privacy."""

from __future__ import annotations

import polars as pl

from experiments.charts import Panel, line_chart
from experiments.data import Data
from experiments.fletcher.tables import file_of, fold_of, table_of
from experiments.paper import Figure, Section
from experiments.store import Store
from tamis.dp.partition import DPPartition
from tamis.evaluate.curve import Curve, retention_curve
from tamis.evaluate.prediction import prediction_measures
from tamis.rules.mine import mine_rules
from tamis.table import Table

NAME = "Banknotes"
BUDGETS = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6, 0.8)
BOUNDS = {
    "variance": (-8.0, 8.0),
    "skewness": (-14.0, 14.0),
    "curtosis": (-6.0, 18.0),
    "entropy": (-9.0, 3.0),
    "class": ["0", "1"],
}
SEED = 0
_NAMES = {
    "right_released": "Rule Accuracy",
    "accuracy": "Prediction Accuracy",
    "rld": "RLD",
    "rsd": "RSD",
}


def section(data: Data, store: Store, draws: int) -> Section:
    settings = {
        "data": data.digest(file_of(NAME)),
        "budgets": list(BUDGETS),
        "bounds": BOUNDS,
        "draws": draws,
        "seed": SEED,
    }
    points = store.piece("fletcher/partition", settings, lambda: _points(data, draws))
    found = Curve(pl.DataFrame(points, schema=["level", "draw", "measure", "value"], orient="row"))
    means = found.means().sort("level")
    series = {words: means[column].to_list() for column, words in _NAMES.items()}
    panel = Panel(
        NAME, means["level"].to_list(), series, "privacy budget", "", low=0, high=1, log=True
    )
    svg = line_chart("Figure 5", "Four measures over the privacy budget.", [panel], height=300)
    text = (
        f"Boxes found and counted under noise, {draws} tables for each budget, bounds as public "
        "knowledge. The text gives no numbers, only budgets at which a curve visibly falls, and "
        "where that is, is a matter of judgement: nothing here is counted as agreeing or not. "
        "The noise comes from a source that cannot be seeded, so another run differs a little."
    )
    note = (
        "Rule Accuracy is the share of synthetic rows that the original rules predict correctly. "
        "The "
        "paper has it near 1 down to a budget of 0.08; here rows drawn uniformly in wide boxes "
        "break "
        "rules at any budget."
    )
    figure = Figure("Figure 5", svg, note)
    return Section("Differential privacy on Banknotes", text, (), [figure])


def _points(data: Data, draws: int) -> list[tuple[float, int, str, float | None]]:
    train, test = fold_of(table_of(data, NAME), 0, SEED)

    def release(original: Table, epsilon: float, seed: int) -> Table:
        model = DPPartition(epsilon, bounds=BOUNDS, rows=original.rows, random_state=seed)
        drawn: Table = model.fit_sample(original)
        return drawn

    found = retention_curve(
        mine_rules(train),
        train,
        release,
        BUDGETS,
        draws=draws,
        figures=("right_released", "rsd", "rld"),
        measures=prediction_measures(test)[:1],
        random_state=SEED,
    )
    return list(found.points.iter_rows())
