"""Line charts in one or many panels, drawn by `tamis.charts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tamis.charts import COLOURS, INK, SOFT, Axes, Picture, Scale, around, shortened

DASHES = (None, "7 4", "2 3", "9 3 2 3")

_MARGIN = (64.0, 40.0, 18.0)
"""Left, top and right of a panel."""
_LETTER = 6.2
"""Width of a letter of a turned label, about."""


@dataclass(frozen=True)
class Panel:
    """One set of axes.

    Attributes
    ----------
    title : str
    x : sequence of numbers or of words
        Words are evenly spaced, rotated under the axis.
    series : mapping of name to values
        A missing value leaves a gap.
    x_title, y_title : str
    low, high : float, optional
        The range of the values; by default what fits them.
    log : bool
        Whether `x` is on a logarithmic scale.
    """

    title: str
    x: Sequence[float] | Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    x_title: str = ""
    y_title: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False

    @property
    def words(self) -> list[str]:
        return [x for x in self.x if isinstance(x, str)]


def line_chart(
    title: str,
    description: str,
    panels: Sequence[Panel],
    *,
    columns: int = 1,
    width: float = 1120,
    height: float = 320,
) -> Picture:
    """Panels side by side under one legend.

    Parameters
    ----------
    title, description : str
        For those who cannot see the picture; a page has a heading of its own.
    panels : sequence of Panel
        The same name of a series has the same colour in all of them.
    columns : int
    width : float
        Of the whole picture.
    height : float
        Of the axes of one panel.

    Examples
    --------
    >>> line_chart("noise", "rises", [Panel("a", [0, 1], {"RSD": [0.0, 0.5]})])
    <Picture: noise, 1120 x 442>
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    foot = max(_foot(panel) for panel in panels)
    legend, top = _legend_places(names, width)
    rows = -(-len(panels) // columns)
    each = height + _MARGIN[1] + foot
    picture = Picture(width, top + rows * each + 8, title, description)
    for name, (x, y) in legend.items():
        _key(picture, name, names.index(name), x, y)
    for i, panel in enumerate(panels):
        left = 8 + (i % columns) * (width - 16) / columns
        box = (left, top + (i // columns) * each, (width - 16) / columns, height)
        _draw(picture, panel, names, box)
    return picture


def _legend_places(
    names: Sequence[str], width: float
) -> tuple[dict[str, tuple[float, float]], float]:
    places, x, y = {}, 20.0, 24.0
    for name in names:
        step = 60 + 7.2 * len(name)
        if x + step > width and x > 20:
            x, y = 20.0, y + 22
        places[name] = (x, y)
        x += step
    return places, y + 16


def _key(picture: Picture, name: str, i: int, x: float, y: float) -> None:
    picture.line(x, y - 4, x + 26, y - 4, **_stroke(i))
    picture.circle(x + 13, y - 4, 3.2, fill=_colour(i))
    picture.text(x + 34, y, name, size=13)


def _draw(
    picture: Picture,
    panel: Panel,
    names: Sequence[str],
    box: tuple[float, float, float, float],
) -> None:
    left, top = box[0] + _MARGIN[0], box[1] + _MARGIN[1]
    right, foot = box[0] + box[2] - _MARGIN[2], box[1] + _MARGIN[1] + box[3]
    picture.heading(left, top - 14, panel.title, size=14)
    axes = Axes(picture, left, right, top, foot)
    y = _y_scale(panel, axes)
    axes.rows(y, y.ticks(5))
    if panel.y_title:
        axes.title_beside(left - _MARGIN[0] + 14, panel.y_title, fill=SOFT)
    places = _x_axis(axes, panel)
    if panel.x_title:
        axes.title_below(foot + _foot(panel) - 8, panel.x_title, fill=SOFT)
    for name, values in panel.series.items():
        _line(picture, name, names.index(name), places, values, y, panel)


def _y_scale(panel: Panel, axes: Axes) -> Scale:
    known = [v for values in panel.series.values() for v in values if v is not None]
    low, high = around(known or [0.0, 1.0])
    low = panel.low if panel.low is not None else low
    return axes.up(low, panel.high if panel.high is not None else max(high, low + 1e-9))


def _x_axis(axes: Axes, panel: Panel) -> list[float]:
    """The axis, its marks and their words; the places of the panel's x."""
    picture, foot = axes.picture, axes.bottom
    axes.level(foot, stroke=INK, stroke_width=1)
    if panel.words:
        places = marks = _even(len(panel.words), axes.left, axes.right)
        for x, word in zip(places, panel.words):
            label = shortened(word, 34)
            picture.text(x + 4, foot + 16, label, size=11, anchor="end", turn=-50)
    else:
        numbers = [float(x) for x in panel.x]
        scale = Scale(min(numbers), max(numbers), axes.left + 8, axes.right - 8, log=panel.log)
        places = [scale(x) for x in numbers]
        # On a logarithmic axis the levels themselves are few and say more than powers of ten.
        ticks = numbers if panel.log else scale.ticks(6)
        axes.columns(scale, ticks, grid=False)
        marks = [scale(tick) for tick in ticks]
    for x in marks:
        picture.line(x, foot, x, foot + 5, stroke=INK, stroke_width=1)
    return places


def _even(count: int, left: float, right: float) -> list[float]:
    step = (right - left) / max(count, 1)
    return [left + (i + 0.5) * step for i in range(count)]


def _line(
    picture: Picture,
    name: str,
    i: int,
    places: Sequence[float],
    values: Sequence[float | None],
    y: Scale,
    panel: Panel,
) -> None:
    points = [(x, y(v), v, at) for x, v, at in zip(places, values, panel.x) if v is not None]
    picture.steps([(x, height) for x, height, _, _ in points], fill="none", **_stroke(i))
    for x, height, value, at in points:
        picture.circle(x, height, 3.2, tip=f"{name}, {at}: {value:.4g}", fill=_colour(i))


def _stroke(i: int) -> dict[str, object]:
    dash = DASHES[(i // len(COLOURS) + i) % len(DASHES)]
    return {"stroke": _colour(i), "stroke_width": 2, "stroke_dasharray": dash}


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


def _foot(panel: Panel) -> float:
    """The space under the axis: rotated words, or numbers, and the title."""
    turned: Iterable[int] = (len(shortened(word, 34)) for word in panel.words)
    words = max(turned, default=0) * _LETTER * 0.77 + 24 if panel.words else 30
    return words + (22 if panel.x_title else 4)
