"""Words and arithmetic of the report, from the summary, so that no template computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from tamis.analyse import Analysis
from tamis.analyse.attack_shares import AttackerRate, AttackShare, Reached
from tamis.analyse.candidates import CandidateFacts
from tamis.analyse.column_fates import KEPT_FATES, ColumnFate
from tamis.analyse.crowds import ClassBin
from tamis.analyse.examination import CloseLookFacts, GroupFacts, GuessedFacts, RuleDamage, Rules
from tamis.charts import Scale, around
from tamis.errors import plural
from tamis.evaluate.figure import Figure
from tamis.figures import (
    NONE,
    ONE,
    count,
    in_100,
    interval,
    number,
    number_of_times,
    percent,
    times,
)
from tamis.table import Unit
from tamis.verification.claims import alike_words

SHOWN_LOST = 4
"""More lost rules than this are folded, as there is little to say about each."""
SHOWN_CHIPS = 24
"""The number of names that fit above and below the sieve at the top of the page."""


@dataclass(frozen=True)
class SuccessRates:
    """Accuracy from the release, from all columns, and by guessing."""

    released: float
    original: float | None
    floor: float | None


def usefulness(summary: Analysis) -> SuccessRates | None:
    """Accuracy in predicting the target, on held-out rows where the scorecard has it.

    `None` where it must not be shown: recipients of synthetic rows get no figures about people.
    """
    for measure in summary.measures:
        if measure.key == "performance":
            return SuccessRates(measure.released, measure.original, measure.floor)
    if summary.budget is not None:
        return None
    chosen = next((c.performance for c in summary.candidates if c.chosen), None)
    whole = next((c.performance for c in summary.candidates if c.baseline), None)
    if chosen is None:
        return None
    original = None if whole is None else whole.value
    return SuccessRates(chosen.value, original, summary.limits.guessing_performance)


def unit_of_shares(summary: Analysis) -> Unit:
    """The unit of shares of held-out rows: people only if each row is a person."""
    known = summary.unit == "people" and summary.table.people == summary.table.rows
    return "people" if known else "rows"


def target_is_secret(summary: Analysis) -> bool:
    """Whether the sensitive column is the target, which every release has."""
    return summary.table.sensitive == summary.table.target


def class_bins(summary: Analysis) -> list[ClassBin]:
    """Bins of class sizes that occur, and of those to avoid, which always get a line."""
    classes = summary.classes
    if classes is None:
        return []
    k = classes.k
    return [b for b in classes.bins if any(counts(b, summary)) or (b.high or k) < k]


def counts(bin: ClassBin, summary: Analysis) -> list[int]:
    """The counts of a line of class sizes: before, by known columns (0 if none), by everything."""
    exposure = summary.exposure
    known = exposure is not None and bool(exposure["known"]["columns"])
    return [bin.before or 0, bin.after if known else 0, bin.everything]


def alike(summary: Analysis) -> list[str]:
    """How many groups share the target and, for the holder, the sensitive value, in words."""
    exposure, table = summary.exposure, summary.table
    if exposure is None:
        return []
    found = [alike_words(exposure["same_target"], table.target, exposure)]
    if summary.same_sensitive is not None and table.sensitive is not None:
        found.append(alike_words(summary.same_sensitive, table.sensitive, exposure))
    return [words for words in found if words]


def strongest(attackers: Sequence[AttackerRate]) -> AttackerRate | None:
    """The strongest attacker on the release, with the best rate that any reaches on every column.

    These may be two attackers: the breach increase compares the best on both sides.
    """
    found = next((a for a in attackers if a.strongest), None)
    if found is None or found.everything is None:
        return found
    known = [a for a in attackers if a.everything is not None]
    best = max(known, key=lambda a: (a.strongest_before, a.everything))
    return replace(found, everything=best.everything)


def beside(value: float, other: float) -> str:
    """How one count in a hundred compares with another, in everyday words.

    >>> beside(0.74, 0.743), beside(0.70, 0.74), beside(0.75, 0.65)
    ('as many as', '4 fewer than', '10 more than')
    """
    step = round(100 * value) - round(100 * other)
    if step == 0:
        return "as many as"
    return f"{abs(step)} {'more' if step > 0 else 'fewer'} than"


def kept(columns: Sequence[ColumnFate]) -> list[ColumnFate]:
    """The released columns, the target last."""
    leaving = [c for c in columns if c.fate in KEPT_FATES]
    return sorted(leaving, key=lambda c: c.fate == "target")


def held(columns: Sequence[ColumnFate]) -> list[ColumnFate]:
    """The columns that were held back."""
    return [c for c in columns if c.fate not in KEPT_FATES]


def rule_words(rule: RuleDamage) -> str:
    """The fate of a rule, without its names and labels, and the values of the holder's measures."""
    values = (f"{name}: {number(value)}." for name, value in rule.own.items())
    return " ".join([_rule_fate(rule), *values])


def _rule_fate(rule: RuleDamage) -> str:
    if rule.state == "lost":
        return "It uses a column that is held back, so it can no longer be checked."
    if rule.state == "emptied":
        return "No row of the release matches it any more."
    held_true = ""
    if rule.share_before is not None and rule.share_after is not None:
        before, after = percent(rule.share_before), percent(rule.share_after)
        held_true = f": it was right {before} of the time and is now right {after} of the time"
    return {
        "flipped": "It now points to another label",
        "weakened": "It still points to the same label, but less clearly",
        "kept": "It holds as before",
    }[rule.state] + f"{held_true}."


def rules_words(rules: Rules) -> str:
    """The number of rules of each fate, without fates that no rule had."""
    parts = [
        (rules.kept, "still holds", "still hold"),
        (rules.weakened, "is weaker", "are weaker"),
        (rules.flipped, "points to another label", "point to another label"),
        (rules.emptied, "matches no row any more", "match no row any more"),
        (rules.lost, "can no longer be checked", "can no longer be checked"),
    ]
    said = [plural(amount, one, many) for amount, one, many in parts if amount]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


@dataclass(frozen=True)
class Track:
    """Positions of one attacker's marks on a line, as shares of its length."""

    guessing: str
    everything: str | None
    released: str
    low: str
    high: str
    words: str


def tracks(attackers: Sequence[AttackerRate]) -> tuple[list[Track], list[tuple[str, str]]]:
    """The marks of each attacker on one shared line, and the ticks of that line."""
    if not attackers:
        return [], []
    figures = [v for a in attackers for v in (a.guessing, a.released, a.everything)]
    ends = [v for a in attackers if a.interval for v in _ends(a)]
    low, high = around([v for v in [*figures, *ends] if v is not None], 0.08)
    place = Scale(max(low, 0.0), min(high, 1.0), 0, 100)
    marks = [
        Track(
            guessing=_length(place(a.guessing)),
            everything=None if a.everything is None else _length(place(a.everything)),
            released=_length(place(a.released)),
            low=_length(place(_ends(a)[0])),
            high=_length(place(_ends(a)[1])),
            words=_attacker_words(a),
        )
        for a in attackers
    ]
    return marks, [(_length(place(t)), f"{100 * t:g}%") for t in place.ticks(4)]


def _attacker_words(attacker: AttackerRate) -> str:
    words = f"right for {in_100(attacker.released)} from the release"
    if attacker.everything is not None:
        words += f", {in_100(attacker.everything)} from everything"
    return f"{words}, {in_100(attacker.guessing)} by guessing"


def _ends(attacker: AttackerRate) -> tuple[float, float]:
    """Both ends of the interval; the figure itself where there is none."""
    ends = attacker.interval
    return (ends.low, ends.high) if ends else (attacker.released, attacker.released)


def _length(value: float) -> str:
    """A position or length in CSS."""
    return f"{value:.2f}%"


def bar_length(part: float, whole: float) -> str:
    """The length of a bar.

    >>> bar_length(3, 12)
    '25.00%'
    """
    return _length(100 * part / whole if whole else 0.0)


@dataclass(frozen=True)
class LookCell:
    """A figure of a close look, with its interval and the figure of a simple model below it."""

    value: str
    range: str = ""
    beside: str = ""


@dataclass(frozen=True)
class LookRow:
    """One line of a close look: a measure, for the target and the sensitive column."""

    label: str
    sentence: str
    cells: list[LookCell]


Cell = Callable[[GuessedFacts], LookCell]


def look_rows(look: CloseLookFacts, unit: Unit, k: int) -> list[LookRow]:
    """The lines of a close look, except those that are empty for every column."""
    guessed = [found for found in (look.target, look.sensitive) if found is not None]
    rows = [
        LookRow(label.format(one=ONE[unit]), sentence.format(unit=unit), [cell(g) for g in guessed])
        for label, sentence, cell in [*_overall(len(guessed) > 1), *_surest(guessed[0]), *_few(k)]
    ]
    return [row for row in rows if any(cell.value != NONE for cell in row.cells)]


def _overall(both: bool) -> list[tuple[str, str, Cell]]:
    return [
        (
            "Kept, and told" if both else "Kept",
            "The share of what these learners make of all columns.",
            lambda found: _share(found.share),
        ),
        (
            "Correct",
            "How often the most likely value is the true one.",
            lambda found: replace(
                _share(found.accuracy),
                beside=f"{_beside(found, 'accuracy')}, guessing {percent(found.guessing)}",
            ),
        ),
        (
            "Telling values apart (AUC)",
            "How often one of the {unit} with a value is ranked above one without; 50% by chance.",
            lambda found: replace(_share(found.auc), beside=_beside(found, "auc")),
        ),
    ]


def _share(figure: Figure | None) -> LookCell:
    if figure is None:
        return LookCell(NONE)
    return LookCell(percent(figure.value), interval(figure.interval))


def _beside(found: GuessedFacts, measure: Literal["accuracy", "auc"]) -> str:
    figure: Figure | None = getattr(found.beside, measure)
    return "" if figure is None else f"{found.beside.name} {percent(figure.value)}"


def _surest(looked_at: GuessedFacts) -> list[tuple[str, str, Cell]]:
    return [
        (
            f"The surest {percent(each.part, 0)}",
            "Of the {unit} held most likely to have the rarest value, how many have it; and how "
            "many of all who have it are among them.",
            lambda found, at=at: _right_and_found(found, at),  # type: ignore[misc]
        )
        for at, each in enumerate(looked_at.surest)
    ]


def _right_and_found(found: GuessedFacts, at: int) -> LookCell:
    if at >= len(found.surest):
        return LookCell(NONE)
    each = found.surest[at]
    right, of_all = _share(each.precision), _share(each.recall)
    if NONE in (right.value, of_all.value):
        return LookCell(NONE, "too few to say")
    return replace(right, beside=f"{of_all.value} of all ({of_all.range})")


def _few(k: int) -> list[tuple[str, str, Cell]]:
    return [
        (
            "As good as known",
            "The {unit} whose true value is held at least 95% likely with the release, and was not "
            "without it.",
            lambda found: (
                LookCell(f"fewer than {k}") if found.known is None else _share(found.known)
            ),
        ),
        (
            "The group about whom most is told",
            "Of groups of {unit} alike in what attackers may know: how many times likelier the "
            "true value is than without the release.",
            lambda found: _group(found.group),
        ),
        (
            "The {one} about whom most is told",
            "How many times likelier the true value is than without the release, for single "
            "{unit}; below it the next four.",
            lambda found: _largest(found.largest),
        ),
    ]


def _group(found: GroupFacts | None) -> LookCell:
    if found is None:
        return LookCell(NONE)
    gain, ends = found.gain, found.gain.interval
    around = f"{number_of_times(ends.low)} to {times(ends.high)}" if ends else ""
    return LookCell(times(gain.value), around, f"a group of {count(found.people)}")


def _largest(gains: Sequence[float]) -> LookCell:
    if not gains:
        return LookCell(NONE)
    return LookCell(times(gains[0]), ", ".join(number_of_times(gain) for gain in gains[1:]))


@dataclass(frozen=True)
class Dots:
    """One field of 100 dots: its column, its figure, and the dots as paths."""

    column: str
    value: str
    words: str
    on: str
    off: str


@dataclass(frozen=True)
class HundredRow:
    """One attack: its title, its meaning, and three fields of dots."""

    title: str
    sentence: str
    fields: list[Dots]


TITLES: dict[Reached, tuple[str, str]] = {
    "found": ("Found", "An attacker with what attackers are assumed to know picks the right row."),
    "joined": ("Put together", "Two attackers with half of the columns each pick the same row."),
    "guessed": (
        "Secret guessed",
        "From the released columns and the target, an attacker names the true value.",
    ),
    "named": (
        "Rare secret named",
        "Of 100 who have the rarest value, so many are named by an attacker who names as many as "
        "have it.",
    ),
}
FROM_KNOWN = "From what attackers are assumed to know, an attacker names the true value."
"""The sentence where the secret is the target, which is released."""


def hundred_rows(facts: Sequence[AttackShare], k: int, target_is_secret: bool) -> list[HundredRow]:
    """The rows of the picture of 100 people."""
    rows = []
    for each in facts:
        title, sentence = TITLES[each.attack]
        if target_is_secret and each.attack == "guessed":
            sentence = FROM_KNOWN
        least = ceil(100 * k / each.people) if each.people else 100
        fields = [
            _dots("With this release", each.released, least),
            _dots("With everything", each.everything, least),
            _dots("By guessing", each.guessing, least),
        ]
        rows.append(HundredRow(title, sentence, fields))
    return rows


@dataclass(frozen=True)
class Finalist:
    """The chosen release or one that was nearly chosen, as the page shows it."""

    name: str
    chosen: bool
    columns: int
    kept: float
    told: float | None
    found: str
    guessed: str


def finalists(summary: Analysis) -> list[Finalist]:
    """The chosen release and those that came next; empty where no other was attacked."""
    others, first = summary.finalists, {e.attack: e for e in summary.of_hundred}
    if not others:
        return []
    chosen = next(c for c in summary.candidates if c.chosen)
    mine = [first.get("found"), first.get("guessed")]
    tried = {chosen.name: [(e.released, e.people) if e else (None, 0) for e in mine]}
    tried |= {e.name: list(zip((e.found, e.guessed), e.people)) for e in others}
    known = {c.name: c for c in summary.candidates}
    return [_finalist(known[name], shares, summary.k) for name, shares in tried.items()]


def _finalist(candidate: CandidateFacts, tried: list[tuple[float | None, int]], k: int) -> Finalist:
    found, guessed = (_amount(share, people, k) for share, people in tried)
    return Finalist(
        candidate.name,
        candidate.chosen,
        candidate.size,
        candidate.kept.value,
        None if candidate.told is None else candidate.told.value,
        found,
        guessed,
    )


def _amount(share: float | None, people: int, k: int) -> str:
    """A number of 100 people, as text; a dash where nobody was tried."""
    if not people:
        return "-"
    return f"<{ceil(100 * k / people)}" if share is None else str(round(100 * share))


def _dots(column: str, share: float | None, least: int) -> Dots:
    many = 0 if share is None else round(100 * share)
    value = str(many) if share is not None else f"<{least}"
    words = value.replace("<", "fewer than ")
    on, off = (_path(range(*ends)) for ends in ((0, many), (many, 100)))
    return Dots(column, value, f"{words} of 100, {column[0].lower()}{column[1:]}", on, off)


def _path(places: range) -> str:
    """Dots at the given places of a 10 by 10 field, row by row, as one SVG path."""
    return "".join(f"M{5 + 10 * (n % 10)} {5 + 10 * (n // 10)}h0" for n in places)


SHOWN_FIRST = 12
"""Columns of one reason that are listed openly, the most informative first; the rest is folded."""


SHOWN_COLUMNS = 100
"""The most columns that are listed; the others are counted, and found by the page's search."""


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that were released or held back for one reason."""

    why: str
    amount: int
    first: list[ColumnFate]
    rest: list[ColumnFate]

    @property
    def uncounted(self) -> int:
        """The number of columns that are not listed."""
        return self.amount - len(self.first) - len(self.rest)


def column_groups(columns: Sequence[ColumnFate]) -> list[ColumnGroup]:
    """Columns grouped by reason; the group with the most informative column comes first.

    >>> columns = [ColumnFate(name=n, fate="released", why=w) for n, w in ["aX", "bY", "cX"]]
    >>> [(group.why, group.amount) for group in column_groups(columns)]
    [('X', 2), ('Y', 1)]
    """
    reasons: dict[str, list[ColumnFate]] = {}
    for column in sorted(columns, key=lambda c: -_teaches(c)):
        reasons.setdefault(column.why, []).append(column)
    return [
        ColumnGroup(why, len(some), some[:SHOWN_FIRST], some[SHOWN_FIRST:SHOWN_COLUMNS])
        for why, some in reasons.items()
    ]


def _teaches(column: ColumnFate) -> float:
    """What a column teaches by itself; -1 for columns that are no features, to sort them last."""
    return -1.0 if column.shares is None else column.shares.teaches
