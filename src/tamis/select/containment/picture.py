"""Pictures of a selection: along its path, and over several k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.charts import BLUE, GRID, INK, ORANGE, SOFT, Picture, Scale, around, shortened
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
    across = Scale(0, max(len(steps), 1), _LEFT, _WIDTH - _RIGHT)
    up = Scale(*around([0.0, *(s.utility for s in steps)]), _HEIGHT - _BOTTOM, _TOP)
    people = [float(s.anonymity) for s in steps]
    fall = Scale(1, max([k * 2.0, *people]) * 1.2, _HEIGHT - _BOTTOM, _TOP, log=True)
    _frame(picture, across, up, "features chosen", utility)
    for tick in fall.ticks():
        picture.text(_WIDTH - _RIGHT + 8, fall(tick) + 4, f"{tick:,.0f}", fill=ORANGE, size=12)
    _axis_words(picture, _WIDTH - 14, HOLDERS[unit], ORANGE, 90)
    picture.line(_LEFT, fall(k), _WIDTH - _RIGHT, fall(k), stroke=ORANGE, stroke_dasharray="5 4")
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
    _heading(picture, f"{plural(len(steps), 'feature')}, {utility} {chosen.utility:.4g}, k = {k}")
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
    across = Scale(*around([float(k) for k in ks]), _LEFT, _WIDTH - _RIGHT)
    up = Scale(*around(chosen[k].utility for k in ks), _HEIGHT - _BOTTOM, _TOP)
    _frame(picture, across, up, "k, the anonymity kept", utility, at=[float(k) for k in ks])
    points = [(across(k), up(chosen[k].utility)) for k in ks]
    picture.steps(points, fill="none", stroke=BLUE, stroke_width=2)
    for k, (x, y) in zip(ks, points):
        count = len(chosen[k].features)
        picture.circle(
            x, y, 5, f"k = {k}: {chosen[k].utility:.4g}, {plural(count, 'feature')}", fill=BLUE
        )
        picture.text(x, y - 12, plural(count, "feature"), anchor="middle", size=12, fill=INK)
    _heading(picture, f"{utility} against k")
    return picture


def _heading(picture: Picture, words: str) -> None:
    picture.text(_LEFT, 30, words, size=17, font_weight="600")


def _frame(
    picture: Picture,
    across: Scale,
    up: Scale,
    below: str,
    beside: str,
    at: Sequence[float] | None = None,
) -> None:
    for tick in up.ticks():
        picture.line(_LEFT, up(tick), _WIDTH - _RIGHT, up(tick), stroke=GRID)
        picture.text(_LEFT - 8, up(tick) + 4, f"{tick:g}", anchor="end", fill=BLUE, size=12)
    for tick in at or [t for t in across.ticks(8) if t == int(t)]:
        picture.text(across(tick), _HEIGHT - _BOTTOM + 20, f"{tick:g}", anchor="middle", size=12)
    picture.text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, below, anchor="middle", fill=SOFT)
    _axis_words(picture, 18, beside, BLUE, -90)


def _axis_words(picture: Picture, x: float, words: str, colour: str, turn: float) -> None:
    picture.text(x, (_TOP + _HEIGHT - _BOTTOM) / 2, words, anchor="middle", fill=colour, turn=turn)
