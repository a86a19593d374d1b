"""A picture of the four regions: performance against breach, around the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.charts import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    RED,
    SOFT,
    Axes,
    Picture,
    Scale,
    around,
    percentage,
    shortened,
)
from tamis.select.breach.candidate import Candidate

_WIDTH, _HEIGHT = 760.0, 520.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 24.0, 84.0, 66.0
_COLOURS = {"I": RED, "II": ORANGE, "III": BLUE, "IV": GREEN}
_WORDS = {
    "I": "I: worse, more exposed",
    "II": "II: no worse, more exposed",
    "III": "III: worse, no more exposed",
    "IV": "IV: no worse, no more exposed",
}
_SAME = 3.0
"""Points closer than this on the canvas are drawn as one, with their number beside it."""


def region_picture(
    candidates: Sequence[Candidate],
    best: Candidate,
    *,
    floor: float | None = None,
    alpha: float | None = None,
    sensitive: str = "the sensitive column",
) -> Picture:
    """Every candidate by performance and breach increase; the axes cross at the baseline.

    Parameters
    ----------
    candidates : sequence of Candidate
        The baseline first.
    best : Candidate
        The chosen one, drawn last and ringed.
    floor, alpha : float, optional
        Lines at the breach of guessing from the distribution alone, and at the threshold.
    sensitive : str
        The name of what is guessed.
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
    lines = [v for v in (floor, alpha) if v is not None and low - (high - low) < v < high]
    up = axes.up(*around([low, high, *lines], 0.03))
    axes.rows(up, up.ticks(6), _signed)
    axes.columns(across, across.ticks(7), percentage)
    axes.title_below(_HEIGHT - 16, "performance: to the right is better")
    guessed = shortened(sensitive, 22)
    axes.title_beside(20, f"breach increase (PBI) of {guessed}: lower is safer")
    _regions(axes, across(baseline.performance), up(0.0))
    _line(axes, up, floor, "knows the distribution only (DistP)", SOFT)
    if alpha is not None and alpha != floor:
        _line(axes, up, alpha, "threshold (alpha)", RED)
    _points(picture, candidates, best, across, up)
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
    """Axes through the baseline, and in each corner what it means."""
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


def _line(axes: Axes, up: Scale, at: float | None, words: str, colour: str) -> None:
    if at is None or not up.low < at < up.high:
        return
    axes.level(up(at), stroke=colour, stroke_dasharray="5 4")
    middle = (axes.left + axes.right) / 2
    axes.picture.text(middle, up(at) + 24, words, size=12, fill=colour, anchor="middle")


def _points(
    picture: Picture, candidates: Sequence[Candidate], best: Candidate, across: Scale, up: Scale
) -> None:
    """Draw coincident points as one; the chosen one last and ringed, so that nothing hides it."""
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
    for x, y, group in places:
        _label(picture, x, y, group, any(c is best for c in group))


def _label(picture: Picture, x: float, y: float, group: Sequence[Candidate], chosen: bool) -> None:
    words = _beside(group, chosen)
    if not words:
        return
    right = x < _WIDTH - _RIGHT - 8 * len(words) - 20
    gap = 15 if chosen else 9
    baseline = group[0].region is None
    picture.text(
        x + gap if right else x - gap,
        y + 18 if baseline else y - 8,
        words,
        size=12,
        anchor="start" if right else "end",
        fill=INK,
        stroke="#ffffff",
        stroke_width=3,
        paint_order="stroke",
    )


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
