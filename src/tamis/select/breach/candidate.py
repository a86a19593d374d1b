"""Candidates: sets of features that may be released, each with its scores and its origin.

The picture shows all of them in the four regions around the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tamis.charts import (
    BLUE,
    GREEN,
    INK,
    LETTER,
    ORANGE,
    RED,
    SOFT,
    Axes,
    Picture,
    Place,
    Scale,
    around,
    percentage,
    shortened,
    words_hide,
)
from tamis.errors import plural
from tamis.learn.cv import Interval
from tamis.notebook import in_short

Region = Literal["I", "II", "III", "IV"]


@dataclass(frozen=True)
class Candidate:
    """A set of features with its performance, its breach increase and its ranks.

    Attributes
    ----------
    features : tuple of str
        In the order of the table.
    performance : float
        Mean score of predicting the target over the folds, with its 95 % interval.
    p_value : float
        Of the test that its performance equals that of the baseline.
    pbi : float
        Privacy breach increase, with its 95 % interval; below 0 is safer than releasing all.
    attacker : str
        The strongest attacker.
    region : {"I", "II", "III", "IV"} or None
        Where it lies relative to the baseline, which itself has no region; see `region`.
    origin : tuple of str
        The rankings or searches that found it.
    allowed : bool
        Whether `pbi` is within the threshold.
    ranks : mapping of str to int
        Ranks in performance, privacy and size among all candidates; 1 is the worst.
    score : float
        The weighted sum of the ranks.
    """

    features: tuple[str, ...]
    performance: float
    performance_interval: Interval
    p_value: float
    pbi: float
    pbi_interval: Interval
    attacker: str
    region: Region | None
    origin: tuple[str, ...]
    allowed: bool = True
    ranks: Mapping[str, int] = field(default_factory=dict)
    score: float = float("nan")

    def __repr__(self) -> str:
        figures = f"performance {self.performance:.4g}, breach increase {self.pbi:+.4g}"
        return in_short(self, plural(self.size, "feature"), figures)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.features)

    def to_dict(self) -> dict[str, Any]:
        """A plain record with the stable field names of the command line."""
        return {
            "features": list(self.features),
            "size": self.size,
            "performance": self.performance,
            "performance_interval": list(self.performance_interval),
            "p_value": self.p_value,
            "pbi": self.pbi,
            "pbi_interval": list(self.pbi_interval),
            "attacker": self.attacker,
            "region": self.region,
            "origin": list(self.origin),
            "allowed": self.allowed,
            "ranks": dict(self.ranks),
            "score": self.score,
        }


def region(gain: float, pbi: float) -> Region:
    """Region of a set of features relative to the baseline (Figure 2 of the paper).

    I: worse and more exposed. II: no worse, but more exposed. III: worse, but no more exposed. IV:
    no worse and no more exposed. `gain` is its performance minus that of the baseline.

    >>> region(0.0, 0.0), region(-0.01, -0.02), region(0.01, 0.02), region(-0.01, 0.02)
    ('IV', 'III', 'II', 'I')
    """
    if pbi > EQUAL_MEANS:
        return "II" if gain >= -EQUAL_MEANS else "I"
    return "IV" if gain >= -EQUAL_MEANS else "III"


EQUAL_MEANS = 1e-12
"""Means over folds that differ by no more than this are equal: their sums differ by rounding."""


BASELINE = "baseline"


_WIDTH, _HEIGHT = 760.0, 520.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 24.0, 84.0, 66.0
_INSIDE = (_LEFT, _WIDTH - 4, _TOP, _HEIGHT - _BOTTOM)
_COLOURS = {"I": RED, "II": ORANGE, "III": BLUE, "IV": GREEN}
_WORDS = {
    "I": "I: worse, more exposed",
    "II": "II: no worse, more exposed",
    "III": "III: worse, no more exposed",
    "IV": "IV: no worse, no more exposed",
}
_SAME = 3.0
"""Points closer than this on the canvas are drawn as one, labelled with their number."""


def region_picture(
    candidates: Sequence[Candidate],
    best: Candidate,
    *,
    floor: float | None = None,
    alpha: float | None = None,
    sensitive: str = "the sensitive column",
) -> Picture:
    """Picture of all candidates by performance and breach increase, with axes through the baseline.

    The baseline is the first candidate; the chosen one is drawn last, with a ring. `floor` and
    `alpha` are drawn as lines: the breach increase of guessing from the distribution alone, and the
    threshold.
    """
    baseline = candidates[0]
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        f"{len(candidates)} candidates by performance and breach",
        f"The chosen {best.size} of {baseline.size} features have performance "
        f"{best.performance:.4f} and breach increase {best.pbi:+.4f}; all features have "
        f"performance {baseline.performance:.4f}.",
    )
    axes = Axes(picture, _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM)
    across = axes.across(*around([c.performance for c in candidates]))
    low, high = around([0.0, *(c.pbi for c in candidates)], 0.12)
    # A line farther away than the points spread would squeeze them together: it is left out.
    lines = [v for v in (floor, alpha) if v is not None and low - (high - low) < v < high]
    up = axes.up(*around([low, high, *lines], 0.03))
    axes.rows(up, up.ticks(6), _signed)
    axes.columns(across, across.ticks(7), percentage)
    axes.title_below(_HEIGHT - 16, "performance: to the right is better")
    guessed = shortened(sensitive, 22)
    axes.title_beside(20, f"breach increase (PBI) of {guessed}: lower is safer")
    _regions(axes, across(baseline.performance), up(0.0))
    # Places that labels should not cover; each label adds its own.
    taken = [(across(c.performance), up(c.pbi)) for c in candidates]
    _line(axes, up, floor, "knows the distribution only (DistP)", SOFT, taken)
    if alpha is not None and alpha != floor:
        _line(axes, up, alpha, "threshold (alpha)", RED, taken)
    _points(picture, candidates, best, across, up, taken)
    picture.heading(_LEFT, 30, _title(best, baseline))
    picture.text(_LEFT, 52, _subtitle(best, baseline), size=13, fill=SOFT)
    return picture


def _title(best: Candidate, baseline: Candidate) -> str:
    return f"{best.size} of {baseline.size} features chosen"


def _subtitle(best: Candidate, baseline: Candidate) -> str:
    return (
        f"performance {100 * best.performance:.1f}% (all {100 * baseline.performance:.1f}%), "
        f"breach increase {100 * best.pbi:+.1f}%"
    )


def _signed(value: float) -> str:
    return f"{100 * value:+g}%" if value else "0%"


def _regions(axes: Axes, x: float, y: float) -> None:
    """Axes through the baseline, and the meaning of each region in its corner."""
    picture, left, right = axes.picture, axes.left, axes.right
    top, bottom = axes.top, axes.bottom
    corners = {
        "I": (left, top, x - left, y - top, left + 6, "start", top + 16),
        "II": (x, top, right - x, y - top, right - 6, "end", top + 16),
        "III": (left, y, x - left, bottom - y, left + 6, "start", bottom - 8),
        "IV": (x, y, right - x, bottom - y, right - 6, "end", bottom - 8),
    }
    for name, (x0, y0, width, height, at, anchor, line) in corners.items():
        picture.rect(x0, y0, width, height, fill=_COLOURS[name], fill_opacity=0.06)
        if height > 24:
            words = _WORDS[name]
            room = width > 6.4 * len(words) + 12
            label = words if room else name
            if width > 30:
                picture.text(at, line, label, size=12, anchor=anchor, fill=_COLOURS[name])
    picture.line(x, top, x, bottom, stroke=INK, stroke_width=1)
    axes.level(y, stroke=INK, stroke_width=1)


def _line(
    axes: Axes, up: Scale, at: float | None, words: str, colour: str, taken: list[Place]
) -> None:
    """A horizontal line, with its name where it covers the fewest points."""
    if at is None or not up.low < at < up.high:
        return
    axes.level(up(at), stroke=colour, stroke_dasharray="5 4")
    room = axes.right - axes.left - 16 - LETTER * len(words)
    steps = [axes.left + 8 + room * part / 8 for part in (4, 3, 5, 2, 6, 1, 7, 0, 8)]
    spots = [(x, up(at) + down) for down in (20, -10) for x in steps]
    axes.picture.name(words, spots, taken, _INSIDE, fill=colour, halo=False)


def _points(
    picture: Picture,
    candidates: Sequence[Candidate],
    best: Candidate,
    across: Scale,
    up: Scale,
    taken: list[Place],
) -> None:
    """Draw coincident points as one; the chosen one last, with a ring, so that none hides it."""
    places: list[tuple[float, float, list[Candidate]]] = []
    for candidate in candidates:
        x, y = across(candidate.performance), up(candidate.pbi)
        near = next((p for p in places if abs(p[0] - x) < _SAME and abs(p[1] - y) < _SAME), None)
        if near:
            near[2].append(candidate)
        else:
            places.append((x, y, [candidate]))
    places.sort(key=lambda place: any(c is best for c in place[2]))
    for x, y, group in places:
        colour = INK if group[0].region is None else _COLOURS[group[0].region]
        if any(c is best for c in group):
            picture.circle(x, y, 11, fill="#ffffff", stroke=INK, stroke_width=2)
        tip = "; ".join(_tip(c) for c in group)
        picture.circle(x, y, 6, tip, fill=colour, stroke="#ffffff", stroke_width=1)
    for x, y, group in reversed(places):  # the chosen one is labelled first, where it likes
        _label(picture, (x, y), group, any(c is best for c in group), taken)


def _label(
    picture: Picture, at: Place, group: Sequence[Candidate], chosen: bool, taken: list[Place]
) -> None:
    """Label a point; a mere number of sets, which the tooltip shows too, only if there is room."""
    words = _beside(group, chosen)
    if not words:
        return
    gap = 15 if chosen else 9
    sides = (at[0] + gap, at[0] - gap - LETTER * len(words))
    spots = [(x, at[1] + down) for down in (18, -8, 34, -24, 50, -40) for x in sides]
    needed = chosen or group[0].region is None
    if needed or not all(words_hide(spot, words, taken, _INSIDE) for spot in spots):
        picture.name(words, spots, taken, _INSIDE)


def _beside(group: Sequence[Candidate], chosen: bool) -> str:
    words = ["chosen"] if chosen else []
    if any(c.region is None for c in group):
        words.append("all features")
    if len(group) > 1:
        words.append(f"{len(group)} sets")
    return ", ".join(words)


def _tip(candidate: Candidate) -> str:
    return (
        f"{', '.join(candidate.features)}: performance {100 * candidate.performance:.2f}%, "
        f"PBI {100 * candidate.pbi:+.2f}%, p {candidate.p_value:.3f}"
    )
