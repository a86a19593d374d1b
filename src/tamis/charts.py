"""Hand-written SVG: a few shapes, escaped text, axes, line charts, a title for screen readers.

Plotting libraries weigh megabytes, and some ran a script hidden in a column name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tamis.files import written
from tamis.notebook import in_short

INK, SOFT, GRID = "#1f2733", "#5b6675", "#dfe4ea"
ACCENT = "#0c6b5e"
"""The colour of the report, for the choice and what is as good."""
BLUE, ORANGE, GREEN, RED = "#1f5fbf", "#b4540a", "#1b7a4b", "#b3261e"
COLOURS = (BLUE, ORANGE, GREEN, RED, "#6b3fa0", "#00788c", "#8a6d00", "#a13b72")
"""Colours of series, in this order."""
FONT = "font-family='system-ui, Segoe UI, Helvetica, Arial, sans-serif'"

Place = tuple[float, float]
LETTER = 7.0
"""Approximate width of a letter of size 12."""


class Picture:
    """A canvas in user units; shapes are drawn in call order.

    Examples
    --------
    >>> picture = Picture(10, 10, "a <dot>", "one dot")
    >>> picture.circle(5, 5, 2, fill="#000000")
    >>> "&lt;dot&gt;" in picture.svg()
    True
    """

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self._size = (width, height)
        self._parts: list[str] = []
        self._title, self._description = title, description
        self.rect(0, 0, width, height, fill="#ffffff")

    def _add(self, tag: str, text: str | None, /, **attributes: object) -> None:
        named = " ".join(
            f"{name.replace('_', '-')}={quoteattr(_number(value))}"
            for name, value in attributes.items()
            if value is not None
        )
        self._parts.append(
            f"<{tag} {named}/>" if text is None else f"<{tag} {named}>{text}</{tag}>"
        )

    def rect(self, x: float, y: float, width: float, height: float, **style: object) -> None:
        self._add("rect", None, x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), **style)

    def line(self, x1: float, y1: float, x2: float, y2: float, **style: object) -> None:
        self._add("line", None, x1=x1, y1=y1, x2=x2, y2=y2, **style)

    def circle(self, x: float, y: float, r: float, tip: str | None = None, **style: object) -> None:
        inner = None if tip is None else f"<title>{escape(_clean(tip))}</title>"
        self._add("circle", inner, cx=x, cy=y, r=r, **style)

    def steps(self, points: Sequence[tuple[float, float]], **style: object) -> None:
        """A line through the points."""
        self._add("polyline", None, points=" ".join(f"{x:.2f},{y:.2f}" for x, y in points), **style)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 13,
        anchor: str = "start",
        fill: str = INK,
        turn: float | None = None,
        **style: object,
    ) -> None:
        rotate = None if turn is None else f"rotate({turn:g} {x:g} {y:g})"
        self._add(
            "text",
            escape(_clean(words)),
            x=x,
            y=y,
            font_size=size,
            text_anchor=anchor,
            fill=fill,
            transform=rotate,
            **style,
        )

    def name(
        self,
        words: str,
        spots: Iterable[Place],
        taken: list[Place],
        box: tuple[float, ...],
        *,
        fill: str = INK,
        halo: bool = True,
    ) -> None:
        """Write words of size 12 at the spot where they hide the fewest points.

        The spot is then added to `taken`. `box` is the left, right, top and bottom of where words
        may be; a `halo` keeps them readable on lines and points.
        """
        x, y = min(spots, key=lambda spot: words_hide(spot, words, taken, box))
        wide = LETTER * len(words)
        taken.extend((x + wide * part / 4, y - 4) for part in range(5))
        light, wide_as, under = ("#ffffff", 3, "stroke") if halo else (None, None, None)
        self.text(
            x, y, words, size=12, fill=fill, stroke=light, stroke_width=wide_as, paint_order=under
        )

    def heading(self, x: float, y: float, words: str, size: float = 17) -> None:
        self.text(x, y, words, size=size, font_weight="600")

    def svg(self) -> str:
        width, height = self._size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" {FONT}>'
        )
        words = (
            f"<title>{escape(_clean(self._title))}</title>"
            f"<desc>{escape(_clean(self._description))}</desc>"
        )
        return "\n".join([head, words, *self._parts, "</svg>\n"])

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        width, height = self._size
        return in_short(self, shortened(_clean(self._title), 100), f"{width:g} x {height:g}")

    def save(self, path: str | Path) -> None:
        """Write an SVG file atomically."""
        with written(path) as draft:
            draft.write_text(self.svg(), encoding="utf-8")


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _clean(words: str) -> str:
    """The text with control characters, which XML does not allow, replaced."""
    return "".join(c if c.isprintable() or c == " " else "\N{REPLACEMENT CHARACTER}" for c in words)


def shortened(words: str, most: int = 28) -> str:
    """Text shortened to fit a picture.

    >>> shortened("hours-per-week in (40, 50]", 12)
    'hours-per-w…'
    """
    return words if len(words) <= most else words[: most - 1] + "…"


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic map from values to positions on the canvas.

    >>> Scale(0, 10, 100, 200)(5)
    150.0
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, self.low))
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the scale.

        >>> Scale(0, 1, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        >>> Scale(1, 300, 0, 100, log=True).ticks()
        [1.0, 10.0, 100.0]
        """
        if self.high <= self.low:
            return [self.low]
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**p for p in powers] or [self.low, self.high]
        raw = (self.high - self.low) / about
        unit = 10 ** math.floor(math.log10(raw))
        step = unit * next(m for m in (1, 2, 2.5, 5, 10) if m * unit >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def around(values: Iterable[float], margin: float = 0.06) -> tuple[float, float]:
    """The smallest and largest value with a margin, never a single point.

    >>> around([0.0, 1.0], margin=0.1)
    (-0.1, 1.1)
    """
    values = list(values)
    low, high = min(values), max(values)
    air = (high - low) * margin or abs(high) * margin or 1.0
    return low - air, high + air


def words_hide(spot: Place, words: str, taken: Iterable[Place], box: tuple[float, ...]) -> int:
    """How many points words of size 12 would cover if written at a spot.

    Words that leave `box` (left, right, top, bottom) count as 1000 points.

    >>> words_hide((10, 20), "chosen", [(30, 18), (90, 18)], (0, 100, 0, 100))
    1
    """
    (x, y), wide, (left, right, top, bottom) = spot, LETTER * len(words), box
    outside = x < left or x + wide > right or not top < y < bottom
    return 1000 * outside + sum(x - 7 < a < x + wide + 7 and y - 17 < b < y + 9 for a, b in taken)


def plain_number(value: float) -> str:
    """A number as written on an axis.

    >>> plain_number(0.25)
    '0.25'
    """
    return f"{value:g}"


def percentage(value: float) -> str:
    """A fraction as written on an axis, as a percentage.

    >>> percentage(0.25)
    '25%'
    """
    return f"{100 * value:g}%"


@dataclass(frozen=True)
class Axes:
    """The plotting area of a picture; grid, numbers and titles are drawn around it.

    Examples
    --------
    >>> picture = Picture(200, 100, "one value", "a dot")
    >>> axes = Axes(picture, left=40, right=190, top=10, bottom=70)
    >>> up = axes.up(0, 1)
    >>> axes.rows(up, up.ticks(2))
    >>> axes.title_below(95, "years")
    >>> picture.circle(axes.across(0, 10)(5), up(0.5), 3)
    """

    picture: Picture
    left: float
    right: float
    top: float
    bottom: float

    def across(self, low: float, high: float, *, log: bool = False) -> Scale:
        """A scale from the left to the right."""
        return Scale(low, high, self.left, self.right, log)

    def up(self, low: float, high: float, *, log: bool = False) -> Scale:
        """A scale from the bottom to the top."""
        return Scale(low, high, self.bottom, self.top, log)

    def rows(
        self,
        up: Scale,
        ticks: Iterable[float],
        words: Callable[[float], str] = plain_number,
        *,
        fill: str = SOFT,
    ) -> None:
        """Draw horizontal grid lines, with numbers on the left."""
        for tick in ticks:
            self.level(up(tick), stroke=GRID)
            self.picture.text(
                self.left - 8, up(tick) + 4, words(tick), anchor="end", size=12, fill=fill
            )

    def rows_at_the_right(
        self, up: Scale, ticks: Iterable[float], words: Callable[[float], str], *, fill: str
    ) -> None:
        """Draw the numbers of a second scale on the right, without grid lines."""
        for tick in ticks:
            self.picture.text(self.right + 8, up(tick) + 4, words(tick), size=12, fill=fill)

    def columns(
        self,
        across: Scale,
        ticks: Iterable[float],
        words: Callable[[float], str] = plain_number,
        *,
        grid: bool = True,
        above: bool = False,
    ) -> None:
        """Draw vertical grid lines, unless `grid` is false, with numbers below or above."""
        for tick in ticks:
            x = across(tick)
            if grid:
                self.picture.line(x, self.top, x, self.bottom, stroke=GRID)
            y = self.top - 6 if above else self.bottom + 19
            self.picture.text(x, y, words(tick), anchor="middle", size=12, fill=SOFT)

    def level(self, y: float, **style: object) -> None:
        """Draw a horizontal line through the plotting area."""
        self.picture.line(self.left, y, self.right, y, **style)

    def title_below(self, y: float, words: str, *, fill: str = INK) -> None:
        middle = (self.left + self.right) / 2
        self.picture.text(middle, y, words, anchor="middle", fill=fill)

    def title_beside(self, x: float, words: str, *, fill: str = INK, turn: float = -90) -> None:
        middle = (self.top + self.bottom) / 2
        self.picture.text(x, middle, words, anchor="middle", fill=fill, turn=turn)


DASHES = (None, "7 4", "2 3", "9 3 2 3")

_MARGIN = (64.0, 40.0, 18.0)
"""Left, top and right of a panel."""
_LETTER = 6.2
"""Approximate width of a letter of a rotated label."""


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
        The range of the value axis; by default it fits the values.
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
    """Draw panels in a grid under one legend.

    Parameters
    ----------
    title, description : str
        For screen readers; a page has a heading of its own.
    panels : sequence of Panel
        Series of the same name have the same colour in all panels.
    columns : int
    width : float
        Width of the whole picture.
    height : float
        Height of the axes of one panel.

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
    """Draw the axis with its ticks and labels; return the positions of the panel's x."""
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
        # On a logarithmic axis, the few levels themselves make better ticks than powers of ten.
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
    """Height below the axis: rotated labels or numbers, and the title."""
    turned: Iterable[int] = (len(shortened(word, 34)) for word in panel.words)
    words = max(turned, default=0) * _LETTER * 0.77 + 24 if panel.words else 30
    return words + (22 if panel.x_title else 4)
