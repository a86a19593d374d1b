"""Figure 1 in the paper's layout: two panels of bars, grouped by table, a bar for each epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from tamis.charts import COLOURS, INK, SOFT, Axes, Picture, Scale

Draws = Mapping[str, Mapping[str, Sequence[float]]]
"""AUCs of the draws, by table and by epsilon."""

_LEFT, _TOP, _WIDTH, _HEIGHT, _GAP = 62.0, 96.0, 470.0, 260.0, 74.0
_BAR = 26.0


def private_figure(
    panels: Mapping[str, Draws], printed: Mapping[tuple[str, str, str], float]
) -> str:
    """Bars of the mean AUC, with a line of one deviation to each side.

    Parameters
    ----------
    panels : mapping of title to draws
    printed : mapping of (title, table, epsilon) to a height that the paper gives in numbers
        Marked by a ring.

    Examples
    --------
    >>> svg = private_figure({"Laplace": {"Adult": {"0.5": [0.5, 0.6]}}}, {})
    >>> "Laplace" in svg
    True
    """
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    first = next(iter(panels.values()))
    words = "; ".join(_told(title, draws) for title, draws in panels.items())
    picture = Picture(width, _TOP + _HEIGHT + 52, "Differentially private releases", words)
    _legend(picture, list(next(iter(first.values()))), bool(printed))
    for i, (title, draws) in enumerate(panels.items()):
        left = _LEFT + i * (_WIDTH + _GAP)
        axes = Axes(picture, left, left + _WIDTH, _TOP, _TOP + _HEIGHT)
        scale = axes.up(0.0, 1.0)
        _frame(axes, f"({'ab'[i % 2]}) {title}", scale)
        marks = {(t, e): height for (p, t, e), height in printed.items() if p == title}
        _groups(axes, draws, marks, scale)
    return picture.svg()


def _told(title: str, draws: Draws) -> str:
    means = [
        f"{table} {', '.join(f'{fmean(aucs):.2f}' for aucs in by_epsilon.values())}"
        for table, by_epsilon in draws.items()
    ]
    return f"{title}: mean AUC at rising epsilon: {'; '.join(means)}"


def _legend(picture: Picture, epsilons: Sequence[str], ring: bool) -> None:
    picture.heading(20, 28, "AUC after a differentially private release")
    x = 20.0
    for i, epsilon in enumerate(epsilons):
        picture.rect(x, 42, 14, 14, fill=COLOURS[i])
        picture.text(x + 20, 54, f"epsilon {epsilon}", size=13)
        x += 110
    if ring:
        picture.circle(x + 7, 49, 5, fill="none", stroke=INK, stroke_width=1.6)
        picture.text(x + 20, 54, "printed in the paper's text", size=13)


def _frame(axes: Axes, title: str, scale: Scale) -> None:
    axes.picture.heading(axes.left, axes.top - 14, title, size=14)
    axes.rows(scale, scale.ticks())
    axes.level(scale(0.5), stroke=SOFT, stroke_dasharray="4 4")
    axes.picture.text(axes.right, scale(0.5) - 5, "guessing", size=11, anchor="end", fill=SOFT)
    axes.title_beside(axes.left - 42, "AUC", fill=SOFT)


def _groups(axes: Axes, draws: Draws, marks: Mapping[tuple[str, str], float], scale: Scale) -> None:
    picture, left = axes.picture, axes.left
    each = (_WIDTH - 60) / len(draws)
    for g, (table, by_epsilon) in enumerate(draws.items()):
        start = left + g * each + (each - _BAR * len(by_epsilon)) / 2
        for i, (epsilon, aucs) in enumerate(by_epsilon.items()):
            x = start + i * _BAR
            _bar(picture, x, aucs, COLOURS[i], scale)
            if (mark := marks.get((table, epsilon))) is not None:
                tip = f"{table}, epsilon {epsilon}: {mark:.2f} printed"
                ring = {"fill": "#ffffff", "fill_opacity": 0.7, "stroke": INK, "stroke_width": 1.6}
                picture.circle(x + _BAR / 2 - 2, scale(mark), 5, tip=tip, **ring)
        middle = left + g * each + each / 2
        picture.text(middle, scale(0) + 20, table, size=12, anchor="middle")
    axes.level(scale(0), stroke=INK, stroke_width=1)


def _bar(picture: Picture, x: float, aucs: Sequence[float], colour: str, scale: Scale) -> None:
    mean = fmean(aucs)
    picture.rect(x, scale(mean), _BAR - 4, scale(0) - scale(mean), fill=colour)
    picture.text(
        x + _BAR / 2 - 2, scale(0) - 6, f"{mean:.2f}", size=9, anchor="middle", fill="#fff"
    )
    if len(aucs) > 1:
        spread, middle = stdev(aucs), x + _BAR / 2 - 2
        low, high = max(mean - spread, 0.0), min(mean + spread, 1.0)
        picture.line(middle, scale(low), middle, scale(high), stroke=INK, stroke_width=1.4)
