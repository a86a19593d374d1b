"""Figures 9 to 16: E(S) of every candidate under several weightings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.jafer.printed import Weights
from experiments.jafer.search import WEIGHTS, Found
from experiments.paper import Figure
from tamis.rank.sensitivity import scores_picture
from tamis.select.breach.candidate import Candidate

MANY = 24
"""Beyond so many candidates their names do not fit under the axis."""


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
    many = len(found.candidates) > MANY
    names = [str(c.size) if many else _words(c, found, short) for c in found.candidates]
    first, *_ = given = [dict(zip(WEIGHTS, weights)) for weights in weightings.values()]
    picture = scores_picture(found.judged([*first.values()]), given, names)
    chosen = "; ".join(
        f"{words}: {_words(found.best(w), found, short)}" for words, w in weightings.items()
    )
    under = " Candidates are named by their number of features." if many else ""
    return Figure(title, picture.svg(), f"Highest E(S), by weights: {chosen}.{under}")


def weighting_names(weightings: Sequence[Weights]) -> dict[str, Weights]:
    """Weights as words.

    >>> weighting_names([(0.6, 0.2, 0.2)])
    {'(.6, .2, .2)': (0.6, 0.2, 0.2)}
    """
    return {f"({', '.join(f'{w:g}'.lstrip('0') or '0' for w in ws)})": ws for ws in weightings}


def _words(candidate: Candidate, found: Found, short: Mapping[str, str]) -> str:
    """The features of a candidate as abbreviations, the most useful first."""
    if candidate.size == found.candidates[0].size:
        return "baseline"
    named = set(candidate.features)
    return " ".join(short.get(name, name) for name in found.performance_ranking if name in named)
