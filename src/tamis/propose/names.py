"""Releases told apart by what differs between them: their columns, and the forms of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from tamis.release import Release

_BANDS = ("width", "cuts", "dates", "ends", "top", "bottom")
MOST_NAMED = 4
"""The most differences that a name has room for."""


def form_words(release: Release, column: str) -> str:
    """The form of a column in a release: `8 bands`, `8 groups`, `as it is` or `held back`."""
    if column not in release.features:
        return "held back"
    form = release.forms.get(column)
    if form is None:
        return "as it is"
    values = release.table.frame.get_column(column).drop_nulls().n_unique()
    noun = "band" if any(word in form.ladder for word in _BANDS) else "group"
    return f"{values:,} {noun}" if values == 1 else f"{values:,} {noun}s"


def what_differs(release: Release, others: Collection[Release]) -> list[str]:
    """The columns that not all releases have in the same form, with the form in this one.

    Held back are named last, and where a release has more columns than it lacks.
    """
    names = list(dict.fromkeys(c for each in (release, *others) for c in each.features))
    differing = [c for c in names if len({_key(each, c) for each in (release, *others)}) > 1]
    there = [c for c in differing if c in release.features]
    gone = [c for c in differing if c not in release.features]
    return [f"{c}: {form_words(release, c)}" for c in [*there, *gone]]


def differences(releases: Sequence[Release]) -> dict[str, str]:
    """What differs of each release from all the others, in words, by its name."""
    return {each.name: "; ".join(what_differs(each, releases)) for each in releases}


def _key(release: Release, column: str) -> str:
    """Equal where two releases have a column in the same form."""
    if column not in release.features:
        return ""
    form = release.forms.get(column)
    return "as it is" if form is None else form.key


def name_once(releases: Iterable[Release]) -> Iterator[Release]:
    """Releases whose names are all different: by what differs among those of one name."""
    releases = list(releases)
    taken: set[str] = set()
    for release in releases:
        alike = [each for each in releases if each.name == release.name]
        name = release.name
        if len(alike) > 1 and (parts := what_differs(release, alike)):
            more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
            name = f"{name} ({'; '.join(parts[:MOST_NAMED])}{more})"
        base, number = name, 2
        while name in taken:
            name, number = f"{base} ({number})", number + 1
        taken.add(name)
        yield replace(release, name=name)
