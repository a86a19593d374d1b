"""Releases told apart by what differs between them: their columns, and the forms of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from tamis.coarsen.ladder import form_class
from tamis.release import Release

MOST_NAMED = 4
"""The most differences that a name has room for."""


def form_words(release: Release, column: str) -> str:
    """The form of a column of the original: `8 bands`, `8 groups`, `as it is` or `held back`.

    Where yes/no columns were made of it, how many.
    """
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return f"{len(made):,} yes/no {'column' if len(made) == 1 else 'columns'}"
    if column not in release.features:
        return "held back"
    form = release.forms.get(column)
    if form is None:
        return "as it is"
    values = release.table.frame.get_column(column).drop_nulls().n_unique()
    noun = form_class(form.ladder).noun
    return f"{values:,} {noun}" if values == 1 else f"{values:,} {noun}s"


def columns_of(release: Release) -> list[str]:
    """The columns of the original that something is released of, in the order of the release."""
    return list(dict.fromkeys(release.sources.get(c, c) for c in release.features))


def what_differs(release: Release, others: Collection[Release]) -> list[str]:
    """The columns that not all releases have in the same form, with the form in this one.

    What is released comes first; all that is held back is named once, at the end.
    """
    names = list(dict.fromkeys(c for each in (release, *others) for c in columns_of(each)))
    differing = [c for c in names if len({_key(each, c) for each in (release, *others)}) > 1]
    there = [f"{c}: {form_words(release, c)}" for c in differing if c in columns_of(release)]
    gone = [c for c in differing if c not in columns_of(release)]
    return [*there, *([f"without {', '.join(gone)}"] if gone else [])]


def differences(releases: Sequence[Release]) -> dict[str, str]:
    """What differs of each release from all the others, in words, by its name."""
    return {each.name: "; ".join(what_differs(each, releases)) for each in releases}


def _key(release: Release, column: str) -> str:
    """Equal where two releases have a column in the same form."""
    if made := [c for c in release.features if release.sources.get(c) == column]:
        return " ".join(sorted(made))
    if column not in release.features:
        return ""
    form = release.forms.get(column)
    return "as it is" if form is None else form.key


def form_name(release: Release) -> str:
    """A release by its columns, each with its form: `birth (8 bands) + sex`."""
    return set_name(
        [
            f"{c} ({form_words(release, c)})" if c in release.forms else c
            for c in release.table.features
        ]
    )


def set_name(features: Sequence[str]) -> str:
    """A short name for a set of columns.

    >>> set_name(["a", "b"]), set_name(["a", "b", "c", "d", "e", "f"])
    ('a + b', 'a + b + c + 3 more')
    """
    if len(features) <= 4:
        return " + ".join(features)
    return " + ".join([*features[:3], f"{len(features) - 3} more"])


def name_once(releases: Iterable[Release]) -> Iterator[Release]:
    """Releases whose names are all different: by what differs among those of one name."""
    releases = list(releases)
    taken: set[str] = set()
    for release in releases:
        alike = [each for each in releases if each.name == release.name]
        name = release.name
        if len(alike) > 1 and (parts := _told_apart(release, alike)):
            more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
            name = f"{name} ({'; '.join(parts[:MOST_NAMED])}{more})"
        base, number = name, 2
        while name in taken:
            name, number = f"{base} ({number})", number + 1
        taken.add(name)
        yield replace(release, name=name)


def _told_apart(release: Release, others: Collection[Release]) -> list[str]:
    """What differs; where only the ends of as many bands or groups do, a value that others lack."""
    parts = what_differs(release, others)
    if [what_differs(each, others) for each in others].count(parts) == 1:
        return parts
    for column in release.forms:
        theirs = {v for each in others if each is not release for v in _values(each, column)}
        if own := [value for value in _values(release, column) if value not in theirs]:
            return [f"{column}: {own[0]}, ..."]
    return parts


def _values(release: Release, column: str) -> list[str]:
    if column not in release.features:
        return []
    cells = release.table.frame.get_column(column).cast(pl.String).drop_nulls()
    return sorted(cells.unique().to_list())
