"""Rows without a label: left out where the holder asks for it, counted, and never in silence."""

from __future__ import annotations

import warnings
from dataclasses import replace

import polars as pl

from tamis.errors import InputError, TamisWarning
from tamis.table import Table


def labelled(table: Table) -> Table:
    """The rows that have a label; a warning says how many have none.

    Examples
    --------
    >>> from tamis.table import Roles
    >>> frame = pl.DataFrame({"age": [31, 47], "ill": ["no", "yes"]})
    >>> found = labelled(Table(frame, Roles(target="ill")))
    >>> found.rows, found.unlabelled
    (2, 0)
    """
    target = named_target(table.roles.target)
    has = table.frame.get_column(target).is_not_null()
    say_unlabelled(target, int(has.sum()), table.rows)
    rows = table.frame.filter(has)
    return replace(table, frame=rows, unlabelled=table.rows - rows.height)


def labelled_entities(
    pairs: pl.DataFrame, entity: str, labels: pl.DataFrame | None, target: str | None
) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The lines and the labels of the entities of a long table that have a label.

    The last is how many have none.

    Parameters
    ----------
    pairs : frame
        One line for each feature an entity has.
    entity : str
        The column of both frames that names the entity.
    labels : frame, optional
        One line for each entity.
    target : str, optional
        The column of `labels` with the label.
    """
    target = named_target(None if labels is None else target)
    assert labels is not None
    known = labels.filter(labels.get_column(target).is_not_null())
    names, lines = (each.get_column(entity).cast(pl.String) for each in (known, pairs))
    everybody = pl.concat([labels.get_column(entity).cast(pl.String), lines]).n_unique()
    left = names.n_unique()
    say_unlabelled(target, left, everybody)
    return pairs.filter(lines.is_in(names.implode())), known, everybody - left


def named_target(target: str | None) -> str:
    """The target, which must be known to say which rows have a label."""
    if target is None:
        raise InputError(
            "--drop-unlabelled leaves out rows without a value of the target; name it with --target"
        )
    return target


def say_unlabelled(target: str, left: int, rows: int) -> None:
    """Warn of rows that are left out; refuse to leave out all of them."""
    if not left:
        raise InputError(
            f"no row has a value of the target {target!r}, so --drop-unlabelled leaves nothing"
        )
    if left < rows:
        words = f"{rows - left:,} of {rows:,} rows have no {target!r} and are left out"
        warnings.warn(words, TamisWarning, stacklevel=3)
