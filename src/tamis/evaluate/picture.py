"""A picture of what happened to each rule: its support before and after, and its label shift."""

from __future__ import annotations

from textwrap import wrap

from tamis.charts import BLUE, INK, ORANGE, RED, SOFT, Axes, Picture, Scale, percentage, shortened
from tamis.errors import InputError
from tamis.evaluate.retention import Retention
from tamis.evaluate.rule_changes import RuleChange

_WIDTH, _TOP, _LINE, _FOOT = 1160, 128, 38, 24
_TEXT, _SUPPORT, _SHIFT = 24, (580, 840), (890, 1110)
_LETTERS = 78
"""The number of letters that fit on each of the two lines of a rule."""


def retention_picture(kept: Retention, most: int = 40) -> Picture:
    """One line per rule, the worst first, at most `most` of them.

    On the left, the support before (ring) and after (dot) as shares of all rows; on the right,
    the distance of the labels as a bar with a tick where chance alone would put it.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.evaluate.retention import retention
    >>> frame = pl.DataFrame({"age": [25, 35, 45, 55], "ill": ["no", "no", "yes", "yes"]})
    >>> svg = retention_picture(retention("age > 40 -> ill=yes", frame, frame)).svg()
    >>> "age &gt; 40" in svg
    True
    """
    if most < 1:
        raise InputError(f"a picture must show at least one rule, got {most}")
    shown = kept.rules[:most]
    foot = _TOP + _LINE * len(shown)
    headline = kept.headline()
    picture = Picture(_WIDTH, foot + _FOOT, headline, _description(kept, len(shown)))
    picture.heading(_TEXT, 34, headline, size=20)
    picture.text(_TEXT, 58, _subtitle(kept, len(shown)), size=13, fill=SOFT)
    largest = max((max(c.share_before, c.share_after) for c in shown), default=0.0)
    of_support = Axes(picture, *_SUPPORT, _TOP - 8, foot)
    of_shift = Axes(picture, *_SHIFT, _TOP - 8, foot)
    support, shift = of_support.across(0.0, largest or 1.0), of_shift.across(0.0, 1.0)
    _heads(picture)
    of_support.columns(support, support.ticks(4), percentage, above=True)
    of_shift.columns(shift, shift.ticks(4), above=True)
    for i, change in enumerate(shown):
        _rule(picture, change, _TOP + _LINE * (i + 0.5), support, shift)
    return picture


def _subtitle(kept: Retention, shown: int) -> str:
    rows = f"{kept.rows_original:,} original rows, {kept.rows_released:,} released"
    few = f"; the {shown} worst of {len(kept.rules):,} rules" if shown < len(kept.rules) else ""
    return rows + few


def _description(kept: Retention, shown: int) -> str:
    worst = kept.rules[0]
    return (
        f"{_subtitle(kept, shown)}. For each rule, the share of rows that match it before and "
        "after, "
        f"and the distance of its labels from 0 to 1. The worst is {worst.text}: "
        f"{worst.support_before:,} rows before, {worst.support_after:,} after."
    )


def _heads(picture: Picture) -> None:
    picture.heading(_TEXT, 92, "rule, the worst first", size=13)
    picture.heading(_SUPPORT[0], 92, "share of rows", size=13)
    picture.circle(_SUPPORT[0] + 122, 88, 5, fill="#ffffff", stroke=BLUE, stroke_width=2)
    picture.text(_SUPPORT[0] + 132, 92, "before", size=12, fill=SOFT)
    picture.circle(_SUPPORT[0] + 190, 88, 5, fill=BLUE)
    picture.text(_SUPPORT[0] + 200, 92, "after", size=12, fill=SOFT)
    picture.heading(_SHIFT[0], 92, "shift of labels", size=13)
    picture.line(_SHIFT[0] + 116, 82, _SHIFT[0] + 116, 94, stroke=INK, stroke_width=2)
    picture.text(_SHIFT[0] + 124, 92, "expected by chance", size=12, fill=SOFT)


def _rule(picture: Picture, change: RuleChange, y: float, support: Scale, shift: Scale) -> None:
    fill = RED if change.fate != "kept" or change.flipped else INK
    lines = _two_lines(f"{change.id}: {change.text}")
    for i, words in enumerate(lines):
        picture.text(_TEXT, y + 11 - 7 * len(lines) + 14 * i, words, size=12, fill=fill)
    before, after = support(change.share_before), support(change.share_after)
    picture.line(before, y, after, y, stroke=BLUE, stroke_width=2, opacity=0.45)
    picture.circle(
        before,
        y,
        5,
        tip=f"before: {change.support_before:,} rows",
        fill="#ffffff",
        stroke=BLUE,
        stroke_width=2,
    )
    if change.fate == "kept":
        picture.circle(after, y, 5, tip=f"after: {change.support_after:,} rows", fill=BLUE)
    _shift(picture, change, y, shift)


def _two_lines(words: str) -> list[str]:
    lines = wrap(words, _LETTERS, break_on_hyphens=False)
    return lines if len(lines) < 3 else [lines[0], shortened(" ".join(lines[1:]), _LETTERS)]


def _shift(picture: Picture, change: RuleChange, y: float, shift: Scale) -> None:
    start = shift(0.0)
    if change.fate != "kept":
        words = "lost: no column " if change.fate == "lost" else "no row left"
        names = ", ".join(change.missing_columns)
        picture.text(start + 4, y + 4, shortened(words + names, 34), size=12, fill=RED)
        return
    if change.distance is None:
        picture.text(start + 4, y + 4, "no row before", size=12, fill=SOFT)
        return
    end = shift(change.distance)
    picture.rect(start, y - 6, end - start, 12, fill=RED if change.flipped else ORANGE)
    if change.floor is not None:
        chance = shift(min(change.floor, 1.0))
        picture.line(chance, y - 9, chance, y + 9, stroke=INK, stroke_width=2)
    if change.flipped:
        words = f"{change.majority_before} → {change.majority_after}"
        # Beside the bar if there is room, else on it.
        room = end < (shift.start + shift.stop) / 2
        picture.text(
            end + 6 if room else start + 6,
            y + 4,
            shortened(words, 24 if room else 20),
            size=11,
            fill=RED if room else "#ffffff",
        )
