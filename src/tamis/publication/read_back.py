"""A published release read again, with the generalised forms of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from tamis.attack.earlier_releases import EarlierRelease
from tamis.attack.row_names import RowNames
from tamis.attack.sources import published_table
from tamis.coarsen.ladder import NOTHING, Ladder
from tamis.errors import CannotMeet, InputError, plural
from tamis.publication.manifest import stated_coarsening
from tamis.publication.recipe import read_recipe
from tamis.release import Coarsening
from tamis.rules.count import ValueLabels
from tamis.table import Table, bare
from tamis.verification.layout import NAME, RELEASE, SCHEMA, read_json
from tamis.verification.people import link_column, read_names
from tamis.verification.verify import verify

Forms = Mapping[str, Coarsening]


def published_folder(path: str) -> Path | None:
    """The published folder that a path is, or whose file of rows it is; `None` for other files."""
    place = Path(path)
    if place.is_dir():
        return place
    if place.name not in RELEASE.values() or not (place.parent / NAME).is_file():
        return None
    try:
        content = read_json(place.parent / NAME)
    except CannotMeet:
        return None
    ours = isinstance(content, dict) and content.get("schema") == SCHEMA
    return place.parent if ours and content["file"]["name"] == place.name else None


def read_published(folder: Path, original: Table) -> tuple[Table, dict[str, Coarsening]]:
    """The rows of a published folder, which is verified first, and its generalised forms.

    Other columns get the types of the original. The private part has the whole ladders. A manifest
    alone does not list values that fewer than k people have, so their groups are unknown.
    """
    checked = verify(folder)
    columns = checked.manifest["columns"]
    forms = {c["name"]: stated_coarsening(c["coarser"]) for c in columns if "coarser" in c}
    if checked.private:
        kept = read_recipe(folder).get("forms", {})
        forms |= {name: Coarsening(how["ladder"], how["level"]) for name, how in kept.items()}
    if strange := [name for name in forms if name not in original.frame.columns]:
        raise InputError(
            f"the release has {plural(len(strange), 'column')} in a coarser form that the original "
            "lacks; give the table that it was made from"
        )
    return _typed_like(original, published_table(folder, checked.manifest), forms), forms


def read_earlier(folder: Path) -> EarlierRelease:
    """A published folder, which is verified first, as an earlier release.

    The names of its rows are known where the private part is there.
    """
    manifest = verify(folder).manifest
    if manifest.get("budget") is not None:
        return EarlierRelease(manifest)
    if (link := link_column(manifest)) is not None:
        raise InputError(
            f"the earlier release {folder} says by {link!r} which rows are of one person; what it "
            "tells together with another one is not counted"
        )
    table = published_table(folder, manifest)
    names = read_names(folder, table.rows)
    return EarlierRelease(manifest, table, None if names is None else RowNames(*names))


def _typed_like(original: Table, table: Table, forms: Forms) -> Table:
    """The rows with the types of the original, where these fit every cell."""
    types = {c: t for c, t in original.frame.schema.items() if c not in forms}
    columns = []
    for cells in table.frame.get_columns():
        new = cells.cast(types.get(cells.name, cells.dtype), strict=False)
        columns.append(new if new.null_count() == cells.null_count() else cells)
    return Table(pl.DataFrame(columns), table.roles)


def value_labels(original: Table, forms: Forms) -> dict[str, ValueLabels]:
    """For each generalised column its values and their labels, null where the label is unknown."""
    labelled = {}
    for name, form in forms.items():
        values = bare(original.frame[name]).unique(maintain_order=True)
        labels = Ladder.from_dict(name, form.ladder).apply(values, form.level)
        nothing = labels.cast(pl.String) == NOTHING
        labels = labels.set(nothing, None) if nothing.any() else labels
        labelled[name] = ValueLabels(values, labels)
    return labelled


def coarsened_like(table: Table, forms: Forms) -> Table:
    """A table with its columns generalised like those of a release.

    >>> ages = Table(pl.DataFrame({"age": [43, 95]}))
    >>> coarsened_like(ages, {"age": Coarsening({"width": [10], "top": 90}, 1)}).frame.rows()
    [('[40, 50)',), ('>= 90',)]
    """
    columns = [
        Ladder.from_dict(cells.name, forms[cells.name].ladder).apply(cells, forms[cells.name].level)
        if cells.name in forms
        else cells
        for cells in table.frame.get_columns()
    ]
    return Table(pl.DataFrame(columns), table.roles)
