"""Figures 9 to 16: E(S) of every candidate under several weightings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.charts import Panel, line_chart
from experiments.jafer.printed import Weights
from experiments.jafer.search import Found
from experiments.paper import Figure


def scores_figure(
    title: str, found: Found, weightings: Mapping[str, Weights], short: Mapping[str, str]
) -> Figure:
    """A line for each weighting over the candidates, those of the performance ranking first.

    Parameters
    ----------
    title : str
    found : Found
    weightings : mapping of words to weights
    short : mapping of column to abbreviation
    """
    columns = [
        _words(c.features, len(found.candidates[0].features), short, found.performance_ranking)
        for c in found.candidates
    ]
    series = {words: found.judged(w).scores.tolist() for words, w in weightings.items()}
    chosen = "; ".join(
        f"{words}: {_words(found.best(w).features, 0, short, found.performance_ranking)}"
        for words, w in weightings.items()
    )
    panel = Panel("", columns, series, "", "E(S)")
    svg = line_chart(title, f"E(S) of {len(columns)} candidates. Highest: {chosen}.", [panel])
    return Figure(title, svg, f"Highest E(S), by weights: {chosen}.")


def weighting_names(weightings: Sequence[Weights]) -> dict[str, Weights]:
    """Weights as words.

    >>> weighting_names([(0.6, 0.2, 0.2)])
    {'(.6, .2, .2)': (0.6, 0.2, 0.2)}
    """
    return {f"({', '.join(f'{w:g}'.lstrip('0') or '0' for w in ws)})": ws for ws in weightings}


def _words(
    features: Sequence[str], whole: int, short: Mapping[str, str], ranking: Sequence[str]
) -> str:
    if len(features) == whole:
        return "baseline"
    return " ".join(short.get(name, name) for name in ranking if name in features)
