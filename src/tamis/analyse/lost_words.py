"""Who is left out and why, in words for the holder; no word of it is for recipients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from tamis.analyse.records import as_plain
from tamis.errors import listed_as, plural
from tamis.flow import Outcome
from tamis.left_out import left_out_numbers, left_out_words, public_words, stated_left_out
from tamis.release import Release
from tamis.risk.lost_groups import Lost, LostGroup, LostValue, lost_groups

MOST_SHOWN = 8
"""The most groups that are named; the rest are counted."""


@dataclass(frozen=True, kw_only=True)
class LostGroupFacts:
    """A group that is left out, for the holder alone."""

    who: str
    people: int
    why: str


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """How many were left out so that all others keep what is promised."""

    words: str
    """For the holder; on the recipient's page the same as `public`."""
    public: str
    """In whole percent."""
    groups: tuple[LostGroupFacts, ...] | None = None
    """Who goes and why; the holder's alone."""
    warnings: tuple[str, ...] | None = None
    """Values that go altogether; the holder's alone."""

    def for_recipient(self) -> Self:
        return replace(self, words=self.public, groups=None, warnings=None)

    def to_dict(self) -> dict[str, Any]:
        """Groups and warnings only where it is known who goes."""
        found: dict[str, Any] = {"words": self.words, "public": self.public}
        if self.groups is not None:
            found |= {"groups": as_plain(self.groups), "warnings": as_plain(self.warnings)}
        return found


def lost_of(outcome: Outcome) -> Lost | None:
    """Who is left out of the chosen release and why; `None` where nobody is."""
    suppression = outcome.evaluator.suppression
    return None if suppression is None else lost_groups(outcome.release, suppression)


def reason_words(reason: str, outcome: Outcome) -> str:
    """Why a group is left out."""
    if reason == "row":
        return "another of their rows is"
    broken = next(each for each in outcome.evaluator.requirements if each.label == reason)
    why = broken.why_left_out(broken.secret or outcome.evaluator.sensitive)
    return f"{why}, as {broken.attacker} sees them" if broken.attacker else why


def lost_group_facts(found: Lost, outcome: Outcome) -> tuple[LostGroupFacts, ...]:
    """The groups that go, in words."""
    return tuple(
        LostGroupFacts(who=_who(group), people=group.people, why=_why(group, outcome))
        for group in found.groups
    )


def _who(group: LostGroup) -> str:
    values = ", ".join(f"{name}: {value}" for name, value in group.values.items())
    if not values:
        return "all"
    return f"all of {values}" if group.range_of else values


def _why(group: LostGroup, outcome: Outcome) -> str:
    why = reason_words(group.reason, outcome)
    if not group.range_of:
        return why
    return f"{why}. {_remedy(group.range_of, (group.reason,), group.saved_without)}"


def lost_group_lines(groups: Sequence[LostGroupFacts], release: Release) -> list[str]:
    """A line for each of the largest groups that go, and one for the rest."""
    unit = _unit(release)
    lines = [
        f"  {plural(group.people, *unit)} ({group.who}): {group.why}"
        for group in groups[:MOST_SHOWN]
    ]
    if rest := groups[MOST_SHOWN:]:
        total = sum(group.people for group in rest)
        lines.append(f"  and {plural(total, *unit)} in {plural(len(rest), 'smaller group')}")
    return lines


def _unit(release: Release) -> tuple[str, str]:
    return ("person", "people") if release.unit == "people" else ("row", "rows")


def lost_value_warnings(found: Lost, outcome: Outcome) -> list[str]:
    """What disappears from a column altogether, and what would save it; a line for each reason."""
    alike: dict[tuple[str, tuple[str, ...], str], list[LostValue]] = {}
    for each in found.values:
        remedy = _remedy(each.column, each.reasons, each.saved_without)
        alike.setdefault((each.column, each.reasons, remedy), []).append(each)
    lines = [_lost_values(values, remedy, outcome) for (*_, remedy), values in alike.items()]
    if found.more_values:
        lines.append(f"{plural(found.more_values, 'more value')} of fewer people disappear, too.")
    return lines


def _lost_values(lost: Sequence[LostValue], remedy: str, outcome: Outcome) -> str:
    """That values of one column are gone, for the same reason and with the same remedy."""
    first, *rest = lost
    counted = f"{first.value} ({plural(first.people, *_unit(outcome.release))})"
    counted += "".join(f", {each.value} ({each.people:,})" for each in rest)
    why = "; ".join(reason_words(reason, outcome) for reason in first.reasons)
    return f"Nobody with {first.column} = {counted} is left: {why}. {remedy}"


def _remedy(column: str, reasons: Sequence[str], saved_without: Sequence[str]) -> str:
    """What would keep a value or range of a column in the release, as far as one column does."""
    others = [name for name in saved_without if name != column]
    if others:
        return f"They would all stay without, or with a coarser, {listed_as('column', others)}."
    if column in saved_without:
        return (
            f"They would all stay if {column} were coarser, so that they share a value with "
            "others; write a ladder for it."
        )
    asked = "a smaller --l, a larger --t" if set(reasons) - {"k", "row"} else "a smaller --k"
    return f"To keep them, choose coarser columns, fewer of them, or {asked}."


def left_out_facts(outcome: Outcome) -> LeftOut | None:
    """How many are left out, who and why; `None` where nobody is."""
    release = outcome.release
    numbers, stated = left_out_numbers(release), stated_left_out(release)
    if numbers is None or stated is None:
        return None
    words = left_out_words(numbers, release.unit, outcome.settings.k)
    found = LeftOut(words=words, public=public_words(stated))
    if (lost := lost_of(outcome)) is None:
        return found
    groups, warnings = lost_group_facts(lost, outcome), lost_value_warnings(lost, outcome)
    return replace(found, groups=groups, warnings=tuple(warnings))
