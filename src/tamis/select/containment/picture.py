"""Pictures of a selection: along its path, and over several k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.charts import BLUE, INK, ORANGE, SOFT, Axes, Picture, Scale, around, shortened
from tamis.errors import plural
from tamis.select.containment.selection import Selection

_WIDTH, _HEIGHT = 720.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 70.0, 60.0, 60.0


HOLDERS = {
    "people": "people who have everything a person has",
    "rows": "rows that have everything a row has",
}


def path_picture(
    chosen: Selection, names: Sequence[str], k: int, utility: str, unit: str = "rows"
) -> Picture:
    """Utility and anonymity after each feature chosen.

    Parameters
    ----------
    chosen : Selection
        With its steps.
    names : sequence of str
        The names of all columns.
    k : int
        The requested anonymity, drawn as a line.
    utility : str
        The name of the utility.
    unit : {"people", "rows"}
        What the anonymity counts.
    """
    steps = chosen.steps
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        f"{plural(len(steps), 'feature')} chosen at k = {k}",
        f"{utility} rises to {chosen.utility:.4g} while anonymity falls to {chosen.anonymity}, "
        "feature by feature.",
    )
    axes = _axes(picture)
    across = axes.across(0, max(len(steps), 1))
    up = axes.up(*around([0.0, *(s.utility for s in steps)]))
    people = [float(s.anonymity) for s in steps]
    fall = axes.up(1, max([k * 2.0, *people]) * 1.2, log=True)
    whole = [t for t in across.ticks(8) if t == int(t)]
    _frame(axes, across, whole, up, "features chosen", utility)
    axes.rows_at_the_right(fall, fall.ticks(), lambda tick: f"{tick:,.0f}", fill=ORANGE)
    axes.title_beside(_WIDTH - 14, HOLDERS[unit], fill=ORANGE, turn=90)
    axes.level(fall(k), stroke=ORANGE, stroke_dasharray="5 4")
    picture.text(_LEFT + 6, fall(k) - 5, f"k = {k}", fill=ORANGE, size=12)
    for values, scale, colour in (
        ([s.utility for s in steps], up, BLUE),
        (people, fall, ORANGE),
    ):
        points = [(across(i + 1), scale(v)) for i, v in enumerate(values)]
        picture.steps(points, fill="none", stroke=colour, stroke_width=2)
        for (x, y), step in zip(points, steps):
            tip = f"{names[step.feature]}: {utility} {step.utility:.4g}, {step.anonymity:,} {unit}"
            picture.circle(x, y, 3.5 if len(steps) < 60 else 2, tip, fill=colour)
    if len(steps) <= 12:
        for i, step in enumerate(steps):
            picture.text(
                across(i + 1), up(step.utility) - 9, shortened(names[step.feature], 16), size=10,
                anchor="middle", fill=SOFT,
            )  # fmt: skip
    count = plural(len(steps), "feature")
    picture.heading(_LEFT, 30, f"{count}, {utility} {chosen.utility:.4g}, k = {k}")
    return picture


def several_picture(chosen: Mapping[int, Selection], utility: str) -> Picture:
    """Utility against k, with the number of features beside each point."""
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        f"{utility} against k",
        "; ".join(
            f"k {k}: {utility} {s.utility:.4g} with {plural(len(s.features), 'feature')}"
            for k, s in chosen.items()
        ),
    )
    ks = sorted(chosen)
    axes = _axes(picture)
    across = axes.across(*around([float(k) for k in ks]))
    up = axes.up(*around(chosen[k].utility for k in ks))
    _frame(axes, across, ks, up, "k, the anonymity kept", utility)
    points = [(across(k), up(chosen[k].utility)) for k in ks]
    picture.steps(points, fill="none", stroke=BLUE, stroke_width=2)
    for k, (x, y) in zip(ks, points):
        count = plural(len(chosen[k].features), "feature")
        picture.circle(x, y, 5, f"k = {k}: {chosen[k].utility:.4g}, {count}", fill=BLUE)
        picture.text(x, y - 12, count, anchor="middle", size=12, fill=INK)
    picture.heading(_LEFT, 30, f"{utility} against k")
    return picture


def _axes(picture: Picture) -> Axes:
    return Axes(picture, _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM)


def _frame(
    axes: Axes, across: Scale, ticks: Sequence[float], up: Scale, below: str, utility: str
) -> None:
    axes.rows(up, up.ticks(), fill=BLUE)
    axes.columns(across, ticks, grid=False)
    axes.title_below(_HEIGHT - 16, below, fill=SOFT)
    axes.title_beside(18, utility, fill=BLUE)
