"""A release as an attacker finds it, and the original recoded like it.

Columns are generalised by the ladders that the manifest states or, for local recoding, by the
groups that the released rows show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.attack.inference import Alter
from tamis.binary.records import BinaryTable, binarise
from tamis.catalogue.methods import METHODS, Stated
from tamis.coarsen.foreign_labels import ANYTHING, group_labels
from tamis.coarsen.intervals import Multiples
from tamis.coarsen.ladder import NOTHING, Ladder, described_level
from tamis.coarsen.local import MISSING
from tamis.coarsen.value_groups import plain_text
from tamis.cuts import K
from tamis.errors import CannotMeet, InputError, listed
from tamis.learn.whole_people import all_rows_of_people, of_all_rows
from tamis.table import Roles, Table, bare, only
from tamis.table_file import read_release


def published_table(folder: Path, manifest: Mapping[str, Any]) -> Table:
    """The rows of a published folder, with the types and the target that its manifest names."""
    try:
        file, columns = manifest["file"], manifest["columns"]
        names = [column["name"] for column in columns]
        path = folder / Path(file["name"]).name
        frame = read_release(path, file["format"], names, file.get("classes", []))
        kinds = {column["name"]: column["kind"] for column in columns}
        # Columns of bounds follow from the labels of their intervals, and add nothing.
        bounds = {column["name"] for column in columns if "of" in column}
        frame = only(frame, [name for name in frame.columns if name not in bounds])
        target, link = (
            next((c["name"] for c in columns if c["role"] == role), None)
            for role in ("target", "link")
        )
    except (KeyError, TypeError) as error:
        raise CannotMeet(
            f"the manifest in {folder} is damaged ({type(error).__name__}); run tamis verify"
        ) from None
    typed = [_typed(series, kinds.get(series.name, "nominal")) for series in frame.get_columns()]
    people = () if link is None else (link,)
    return Table(pl.DataFrame(typed), Roles(target, identifiers=people, person=people, link=link))


def shown_together(original: Table, release: Table) -> tuple[Table, Table]:
    """Both tables with columns that summarise all rows of a person, if the release links rows.

    Each row gets summaries of all rows of its person, of the columns that both tables have.

    Examples
    --------
    >>> stays = pl.DataFrame({"who": [7, 7, 8], "ward": ["A", "B", "A"]})
    >>> one = Table(stays).with_roles(identifiers=("who",))
    >>> two = Table(stays).with_roles(identifiers=("who",), link="who")
    >>> shown_together(one, two)[1].frame.columns
    ['ward', 'all rows: how many', 'all rows: mode of ward', 'all rows: n_unique of ward']
    """
    if not release.people.together or release.people.each_row:
        return original, release
    if original.people.each_row:
        raise InputError(
            "the release says which rows are of one person, and each row is a person of the "
            "original; say who a person is there with --person COL"
        )
    own = release.roles.identifiers
    shared = [c for c in release.frame.columns if c in original.frame.columns and c not in own]
    mine, theirs = (
        {s.name: s for s in all_rows_of_people(only(table.frame, shared), table.people)}
        for table in (original, release)
    )
    both = [name for name in mine if name in theirs]
    shown = only(release.frame, [c for c in release.frame.columns if c not in own])
    seen = pl.DataFrame([*shown.get_columns(), *(theirs[name] for name in both)])
    whole = pl.DataFrame([*original.frame.get_columns(), *(mine[name] for name in both)])
    roles = replace(original.roles, quasi=(*original.quasi, *of_all_rows(original.quasi, both)))
    return replace(original, frame=whole, roles=roles), Table(seen, Roles(release.roles.target))


def _typed(cells: pl.Series, kind: str) -> pl.Series:
    if kind != "number":
        return cells.cast(pl.String)
    numbers = bare(cells).cast(pl.Float64, strict=False)
    if numbers.null_count() > cells.null_count():
        raise CannotMeet(f"column {cells.name!r} of the release is declared numeric and is not")
    return numbers.alias(cells.name)


def stated_forms(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The generalised forms that a manifest states, by column.

    >>> stated_forms({"columns": [{"name": "age", "coarser": {"width": 10}}, {"name": "job"}]})
    {'age': {'width': 10}}
    """
    return {c["name"]: c["coarser"] for c in manifest["columns"] if "coarser" in c}


def in_its_ladders(original: Table, release: Table, ladders: Mapping[str, Ladder]) -> Table:
    """The original with its columns at the levels of given ladders that the release has.

    That is the finest level whose labels include all released ones, and for numbers rounded down
    the coarsest. A column that no level explains is an error: the ladder is another one.

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [21, 44]}))
    >>> two = Table(pl.DataFrame({"age": ["[20, 40)", "[40, 60)"]}))
    >>> ladder = Ladder.from_dict("age", {"width": [10, 20]})
    >>> in_its_ladders(one, two, {"age": ladder}).frame["age"].to_list()
    ['[20, 40)', '[40, 60)']
    """
    new = {
        name: _at_its_level(original.frame.get_column(name), release.frame.get_column(name), ladder)
        for name, ladder in ladders.items()
        if name in original.frame.columns and name in release.frame.columns
    }
    if not new:
        return original
    mine = original.frame.get_columns()
    frame = pl.DataFrame([new.get(series.name, series) for series in mine])
    return Table(frame, original.roles, original.library)


def _at_its_level(mine: pl.Series, theirs: pl.Series, ladder: Ladder) -> pl.Series:
    released = set(plain_text(bare(theirs).drop_nulls()))
    levels = range(ladder.top + 1)
    # A number rounded down may also be an exact value, so fine levels explain coarse releases, too:
    # the coarsest level that does is the right one.
    for level in reversed(levels) if isinstance(ladder.form, Multiples) else levels:
        labels = ladder.apply(mine, level)
        if released <= set(plain_text(bare(labels).drop_nulls())):
            return labels.alias(mine.name)
    raise InputError(
        f"no level of the ladder of {mine.name!r} has all values that the release has of it; give "
        "the ladder that it was made with"
    )


def in_its_groups(
    original: Table, release: Table, stated: Mapping[str, Mapping[str, Any]] | None = None
) -> Table:
    """The original with its values replaced by the groups that a release has.

    Forms that a manifest states are applied as it says. Without a manifest, these are recognised:
    groups of local recoding, labels that `tamis.coarsen.foreign_labels` reads (``[20, 40)``,
    ``40-49``, ``75***``, a star alone), and one group of all other texts. A column is left as it is
    if a value fits two groups, or no value fits any.

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [21, 40, None], "zip": ["75011", "75012", "01000"]}))
    >>> two = Table(pl.DataFrame({"age": ["[20, 40)", ">= 40"], "zip": ["75***", "01***"]}))
    >>> in_its_groups(one, two).frame.rows()
    [('[20, 40)', '75***'), ('>= 40', '75***'), (None, '01***')]
    """
    if stated:
        return as_stated(original, release, stated)
    if (local := in_local_groups(original, release)) is not None:
        return local
    shared = [c for c in release.frame.columns if c in original.frame.columns]
    columns = {c: _grouped(original.frame[c], release.frame[c]) for c in shared}
    new = {name: series for name, series in columns.items() if series is not None}
    if not new:
        return original
    mine = original.frame.get_columns()
    frame = pl.DataFrame([new.get(series.name, series) for series in mine])
    return Table(frame, original.roles, original.library)


def _grouped(mine: pl.Series, theirs: pl.Series) -> pl.Series | None:
    """The group of each value, unmatched values kept apart; `None` without groups."""
    groups = value_groups(mine, theirs)
    if groups is None:
        return None
    return plain_text(bare(mine)).replace(groups).alias(mine.name)


def value_groups(mine: pl.Series, theirs: pl.Series) -> dict[str, str] | None:
    """The label that a release has for each value, by the value's text.

    If exactly one label fits no value, it stands for all texts without a label; other values
    without one get a label that no row has. `None` if the release has no groups, or they overlap.
    """
    if theirs.dtype != pl.String:
        return None
    labels = bare(theirs).drop_nulls().unique().sort().to_list()
    values = bare(mine).drop_nulls().unique()
    texts = plain_text(values).to_list()
    if not labels or set(texts) >= set(labels):
        return None
    if mine.dtype in (pl.Date, pl.Datetime) and _days_in(pl.Series(labels)) is not None:
        return None  # moved dates are dates still, not groups
    fits = group_labels(values, labels)
    if fits is None:
        return None
    spare = [label for label in labels if label not in {*fits.values(), ANYTHING}]
    rest = spare[0] if len(spare) == 1 and mine.dtype == pl.String else None
    return {text: fits.get(text, rest or APART + text) for text in texts}


def _encoded(original: Table, encoding: Any, k: int, made: Sequence[str]) -> BinaryTable | None:
    """The 0/1 columns of a release that can be made from the original."""
    try:
        records = binarise(original, encoding, k=k)
    except InputError:
        return None
    return records.select([records.features.index(c) for c in made if c in records.features])


def altered_by(method: Mapping[str, Any]) -> Alter | None:
    """A function that alters a table as a release was, by the public settings in its manifest.

    `None` where values were not altered, or in a way that cannot be repeated.
    """
    about, settings = METHODS.get(str(method.get("name"))), method.get("parameters") or {}
    if about is None or not about.perturber:
        return None
    if odd := [name for name, of in about.stated.items() if not _states(settings.get(name), of)]:
        raise InputError(
            f"the manifest does not say how far {about.name} altered values: it lacks "
            f"{listed(odd)}; run tamis verify"
        )
    homes = about.perturber
    home = homes if isinstance(homes, str) else homes[settings["kind"]]
    module, _, made = home.partition(":")
    perturber = getattr(import_module(f"tamis.perturb.{module}"), made)
    takes = signature(perturber).parameters
    stated = {name: settings[name] for name in about.stated if name in takes}
    seeded = "random_state" in takes

    def alter(table: Table, seed: int) -> Table:
        own = {"random_state": seed} if seeded else {}
        days = {c: day for c in settings.get("columns", ()) if (day := _days_of(table, c))}
        typed = table.frame.with_columns([cells for cells, _ in days.values()])
        altered: Table = perturber(**stated, **own).fit_transform(replace(table, frame=typed))
        texts = [
            altered.frame.get_column(c).dt.to_string(form).alias(c) for c, (_, form) in days.items()
        ]
        return replace(altered, frame=altered.frame.with_columns(texts))

    return alter


def _days_of(table: Table, column: str) -> tuple[pl.Series, str] | None:
    """The dates of a column that a release holds as texts, and their format."""
    if column not in table.frame.columns or table.frame.schema[column] != pl.String:
        return None
    days = _days_in(bare(table.frame.get_column(column)))
    return None if days is None else (days[0].alias(column), days[1])


def _days_in(texts: pl.Series) -> tuple[pl.Series, str] | None:
    """Texts as dates and their format, among those that releases use; `None` for other texts.

    >>> _days_in(pl.Series(["2021-05-03", None]))[1], _days_in(pl.Series(["2021"]))
    ('%Y-%m-%d', None)
    """
    for dtype, form in ((pl.Date, "%Y-%m-%d"), (pl.Datetime("us"), "%Y-%m-%d %H:%M:%S")):
        days = texts.str.strptime(dtype, form, strict=False)
        if days.null_count() == texts.null_count():
            return days, form
    return None


def _states(value: Any, of: Stated) -> bool:
    """Whether a manifest, which may be damaged, states a parameter."""
    if isinstance(of, tuple):
        return value in of
    return isinstance(value, {"count": int, "columns": list}.get(of, int | float))


def those_inside(original: Table, release: Table) -> Table:
    """The original, recoded like a release, without the people whom the release suppresses.

    A person is taken to be suppressed if none of their rows is like one of the release.

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [30, 30, 90], "ill": ["no", "yes", "no"]}))
    >>> two = Table(pl.DataFrame({"age": [30.0, 30.0], "ill": ["yes", "no"]}))
    >>> those_inside(one, two).frame["age"].to_list()
    [30, 30]
    """
    shared = [c for c in release.frame.columns if c in original.frame.columns]
    numbers = {c for c in shared if original.kind(c) == release.kind(c) == "number"}
    mine, theirs = (compared_cells(table, shared, numbers) for table in (original, release))
    place = mine.with_row_index("row")
    found = place.join(theirs.unique(), on=theirs.columns, how="semi", nulls_equal=True)
    inside = np.zeros(original.rows, dtype=np.bool_)
    inside[found["row"].to_numpy()] = True
    inside = ~original.people.all_rows(~inside)
    return replace(original, frame=original.frame.filter(pl.Series(inside)))


def compared_cells(table: Table, columns: Sequence[str], numbers: Collection[str]) -> pl.DataFrame:
    """Some columns renamed c0, c1, ..., those in `numbers` as floats and all others as texts."""
    kinds = [pl.Float64 if c in numbers else pl.String for c in columns]
    cells = [bare(table.frame[c]).cast(kind) for c, kind in zip(columns, kinds)]
    return pl.DataFrame([series.alias(f"c{i}") for i, series in enumerate(cells)])


def in_its_terms(
    original: Table, release: Table, encoding: Any = None, ks: Sequence[int] = (K,)
) -> Table:
    """The original with the 0/1 columns that a release made of its columns, if any.

    Whoever knows a column knows what was made of it: where quasi-identifiers are named, the 0/1
    columns made of them become quasi-identifiers, too.

    `encoding` says how columns become 0/1, as for `tamis.binary.records.binarise`. Without it,
    each of `ks` is tried as the fewest people on either side of a cut.

    >>> one = Table(pl.DataFrame({"job": ["cook", "judge"] * 5}), Roles())
    >>> two = Table(pl.DataFrame({"job = cook": [0, 1]}))
    >>> in_its_terms(one, two).frame.columns
    ['job', 'job = cook']
    """
    records = _made_of(original, release, encoding, ks)
    if records is None:
        return original
    cells = records.matrix.toarray()
    new = [pl.Series(name, cells[:, i]) for i, name in enumerate(records.features)]
    roles = original.roles
    if roles.quasi is not None:
        roles = replace(roles, quasi=_with_made(roles.quasi, records))
    return Table(pl.DataFrame([*original.frame.get_columns(), *new]), roles, original.library)


def known_in_its_terms(
    known: Sequence[str],
    original: Table,
    release: Table,
    encoding: Any = None,
    ks: Sequence[int] = (K,),
) -> tuple[str, ...]:
    """Columns that attackers know, and the 0/1 columns that a release made of them.

    >>> one = Table(pl.DataFrame({"job": ["cook", "judge"] * 5}), Roles())
    >>> known_in_its_terms(["job"], one, Table(pl.DataFrame({"job = cook": [0, 1]})))
    ('job', 'job = cook')
    """
    records = _made_of(original, release, encoding, ks)
    return tuple(known) if records is None else _with_made(known, records)


def _made_of(
    original: Table, release: Table, encoding: Any, ks: Sequence[int]
) -> BinaryTable | None:
    """The 0/1 columns of a release that can be made from the original; `None` if none can.

    Of several `ks` the one that explains most columns is taken.
    """
    made = [c for c in release.frame.columns if c not in original.frame.columns]
    encoded = [_encoded(original, encoding, k, made) for k in (ks if made else ())]
    possible = [records for records in encoded if records is not None]
    return max(possible, key=lambda records: len(records.features), default=None)


def _with_made(known: Sequence[str], records: BinaryTable) -> tuple[str, ...]:
    """The known columns, and the features of records that were made of them."""
    return (*known, *(name for name in records.features if records.sources[name] in known))


Mask = NDArray[np.bool_]
APART = "no group: "
"""Prefix of a value that is in no group, so that it equals no label."""


def as_stated(original: Table, release: Table, stated: Mapping[str, Mapping[str, Any]]) -> Table:
    """The original with each column in the generalised form that a manifest states.

    Manifests do not list rare values of groups. Such a value is assigned to the only group with as
    many unexplained rows as the value has; if several groups have, it is kept apart.

    >>> one = Table(pl.DataFrame({"age": [41, 55], "job": ["cook", "bard"]}))
    >>> two = Table(pl.DataFrame({"age": ["[40, 50)", "[50, 60)"], "job": ["any", "other"]}))
    >>> said = {"age": {"level": 1, "width": 10}, "job": {"groups": {"any": ["cook"], "other": []}}}
    >>> as_stated(one, two, said).frame.rows()
    [('[40, 50)', 'any'), ('[50, 60)', 'other')]
    """
    mine = {c: said for c, said in stated.items() if c in original.frame.columns}
    try:
        new = [_stated(original.frame[c], release.frame[c], said) for c, said in mine.items()]
    except (AttributeError, KeyError, TypeError) as error:
        raise CannotMeet(
            f"the manifest is damaged where it states coarser columns ({type(error).__name__}); "
            "run tamis verify"
        ) from None
    return replace(original, frame=original.frame.with_columns(new)) if new else original


def _stated(column: pl.Series, released: pl.Series, said: Mapping[str, Any]) -> pl.Series:
    if "groups" in said:
        return _in_groups(column, released, said["groups"])
    return Ladder.from_dict(column.name, described_level(said)).apply(column, 1)


def _in_groups(
    column: pl.Series, released: pl.Series, groups: Mapping[str, Sequence[str]]
) -> pl.Series:
    texts = plain_text(bare(column))
    label = {value: group for group, values in groups.items() for value in values}
    amount = Counter(texts.drop_nulls().to_list())
    left = Counter(bare(released).drop_nulls().to_list())
    for value, group in label.items():
        left[group] -= amount[value]
    for value, rows in amount.items():
        if value not in label:
            fits = [group for group in groups if left[group] >= rows]
            label[value] = fits[0] if len(fits) == 1 else APART + value
    return texts.replace(label).alias(column.name)


def in_local_groups(original: Table, release: Table) -> Table | None:
    """The original with the intervals and groups that local recoding gave to its rows.

    Each row belongs to the one class whose groups contain its quasi-identifiers. `None` if the
    release has no such groups, or if a row fits several classes.

    Examples
    --------
    >>> one = Table(pl.DataFrame({"age": [31, 35, 33], "job": ["cook", "judge", "king"]}))
    >>> two = Table(pl.DataFrame({"age": ["[31, 35]", "33"], "job": ["{cook, judge}", "king"]}))
    >>> in_local_groups(one, two).frame.rows()
    [('[31, 35]', '{cook, judge}'), ('[31, 35]', '{cook, judge}'), ('33', 'king')]
    """
    shared = [c for c in original.quasi if c in release.frame.columns]
    columns = [c for c in shared if release.frame[c].dtype == pl.String]
    if not any(_local(release.frame[c]) for c in columns):
        return None
    rows = original.only(columns)
    places = _classes_of(rows, classes := release.only(columns).unique(maintain_order=True))
    if places is None:
        return None
    new = [_told(rows[c], classes[c], places) for c in columns]
    return replace(original, frame=original.frame.with_columns(new))


_CLOSED = re.compile(r"^\[(.+), (.+)\]$")


def _local(column: pl.Series) -> bool:
    labels = bare(column).drop_nulls().unique()
    return any(label.endswith((MISSING, "]", "}")) for label in labels)


def _classes_of(rows: pl.DataFrame, classes: pl.DataFrame) -> NDArray[np.intp] | None:
    """The class of each row, -1 for none; `None` if one fits several."""
    holds = [_holding(rows[c], classes[c]) for c in rows.columns]
    place = np.full(rows.height, -1)
    for number, labels in enumerate(zip(*(classes[c] for c in rows.columns))):
        fits = np.logical_and.reduce([held[label] for held, label in zip(holds, labels)])
        if (place[fits] >= 0).any():
            return None
        place[fits] = number
    return place


def _holding(cells: pl.Series, labels: pl.Series) -> dict[str | None, Mask]:
    """For each label, a mask of the cells that it contains."""
    missing = bare(cells).is_null().to_numpy()
    return {label: _held(cells, label, missing) for label in bare(labels).unique()}


def _held(cells: pl.Series, label: str | None, missing: Mask) -> Mask:
    if label is None:
        return missing
    stem = label.removesuffix(MISSING)
    also = missing & ((stem != label) | (stem == NOTHING))
    return _in_label(bare(cells), stem).fill_null(False).to_numpy() | also


def _in_label(cells: pl.Series, label: str) -> pl.Series:
    texts = cells.cast(pl.String)
    if label == NOTHING:
        return cells.is_not_null()
    if cells.dtype != pl.String and (ends := _CLOSED.match(label)):
        low, high = ends.groups()
        if not cells.dtype.is_numeric():  # dates are written so that texts have their order
            return (texts >= low) & (texts <= high)
        numbers = cells.cast(pl.Float64)
        return (numbers >= float(low)) & (numbers <= float(high))
    if label.startswith("{") and label.endswith("}"):
        values = texts.unique().drop_nulls().to_list()
        body = f", {label[1:-1]}, "
        return texts.is_in([value for value in values if f", {value}, " in body])
    return texts == label


def _told(cells: pl.Series, labels: pl.Series, places: NDArray[np.intp]) -> pl.Series:
    alone = bare(cells).cast(pl.String).str.replace("^", APART)
    told = bare(labels).gather(np.maximum(places, 0))
    return told.zip_with(pl.Series(places >= 0), alone).alias(cells.name)
