"""Sparse records beyond memory: an engine finds the columns worth comparing, for all rows.

Which columns these are is learnt from a sample of the entities; that k entities or more have each
of them, and what every entity has of them, is counted on all. The columns are few enough for
memory, where the rest of the job is done as with any records: no count is of a sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.binary.records import BinaryTable, from_matrix
from tamis.errors import CannotMeet, InputError, listed, plural
from tamis.learn.holdout import HoldOut
from tamis.propose.containment import most_columns, screened
from tamis.read.sparse import long_table
from tamis.rows.counts import ROWS, count_distinct
from tamis.rows.pairs import (
    ENTITY,
    FEATURE,
    LABEL,
    MOST_CHOSEN,
    PATTERN,
    Pairs,
    class_totals,
    common_features,
    patterns,
    sample_pairs,
)

MOST_PAIRS = 50_000_000
"""The most pairs that a sample may have."""


@dataclass(frozen=True, eq=False)
class ComparedRecords:
    """The columns of large records that are worth comparing."""

    records: BinaryTable
    """All entities, and the columns that are compared."""
    features: int
    """How many features there are in all."""
    sampled: int
    """The entities that the columns were found on."""
    engine: str
    """What counted all entities."""

    def words(self) -> str:
        """What was found, in one line."""
        some = f"{len(self.records.features):,} of {self.features:,} features"
        return (
            f"read {plural(self.records.rows, 'row')}; {some} are compared, found on "
            f"{plural(self.sampled, 'sampled row')}; what is kept and told are shares of what "
            "these give"
        )

    @property
    def left_out(self) -> int:
        """How many features are not compared, nor sensitive."""
        return self.features - len(self.records.features) - (self.records.sensitive is not None)

    def said(self) -> dict[str, Any]:
        """What was sampled and what was counted on all rows, for a manifest."""
        rows = self.records.rows
        return {
            "sampled": {
                "rows": self.sampled,
                "of": rows,
                "by": "people",
                "for": "which columns are compared",
            },
            "counted": {
                "rows": rows,
                "by": self.engine,
                "again_by": "memory",
                "for": "what every row has of the compared columns",
            },
        }

    def to_dict(self) -> dict[str, int]:
        """The figures for the private recipe."""
        compared = len(self.records.features)
        return {"compared": compared, "features": self.features, "sampled": self.sampled}


def compared_records(
    pairs: Pairs,
    rows: int,
    *,
    target: str,
    k: int,
    holdout: float,
    seed: int,
    sensitive: str | None = None,
    drop: Collection[str] = (),
) -> ComparedRecords:
    """Find the columns to compare on a sample, and take them of all entities.

    Parameters
    ----------
    pairs : Pairs
    rows : int
        About how many entities to sample.
    target : str
        The name of the label.
    k, holdout, seed
        As in `tamis.Settings`.
    sensitive : str, optional
        A feature that must stay hard to guess, and is never released.
    drop : collection of str
        Features to leave out.

    Returns
    -------
    ComparedRecords
        `CannotMeet` where no feature is common enough.
    """
    everybody = int(class_totals(pairs)[ROWS].sum())
    values = {str(value): value for value in common_features(pairs, k)[FEATURE]}
    common = [name for name in values if name not in set(drop)]
    secret = [] if sensitive in (None, target) else [str(sensitive)]
    if lacking := [name for name in secret if name not in common]:
        raise InputError(f"fewer than {k} entities have the sensitive {listed(lacking)}")
    if len(common) == len(secret):
        raise CannotMeet(f"no feature is one that {k} entities have; ask for a smaller --k")
    sample = _sample(pairs, min(1.0, rows / everybody), seed, target)
    chosen = _chosen(sample, common, secret, (k, holdout, seed), everybody)
    wanted = {name: values[name] for name in (*chosen, *secret)}
    table = replace(_of_all(pairs, wanted, target, everybody), unlabelled=pairs.unlabelled)
    if secret:
        table = table.with_sensitive(secret[0])
    every = count_distinct(pairs.engine, pairs.pairs, [FEATURE])
    return ComparedRecords(table, every, sample.rows, pairs.engine.name)


def _sample(pairs: Pairs, share: float, seed: int, target: str) -> BinaryTable:
    some, labels = sample_pairs(pairs, share, seed, MOST_PAIRS)
    if labels[LABEL].n_unique() < 2:
        raise InputError("the label has only one value in the sample, so there is nothing to learn")
    return long_table(some, ENTITY, FEATURE, labels.rename({LABEL: target}), target)


def _chosen(
    sample: BinaryTable,
    common: Collection[str],
    secret: list[str],
    asked: tuple[int, float, int],
    everybody: int,
) -> list[str]:
    """The names of the columns to compare; those that too few of all have are left out first."""
    (k, holdout, seed), known = asked, set(common)
    places = [i for i, name in enumerate(sample.features) if name in known]
    records = sample.select(places)
    if secret and secret[0] in records.features:
        records = records.with_sensitive(secret[0])
    assert records.labels is not None
    split = HoldOut.of_records(records, holdout, random_state=seed)
    least = max(2, -(-k * sample.rows // everybody))
    most = min(most_columns(everybody), MOST_CHOSEN - len(secret))
    return [records.features[c] for c in screened(records, split, least, seed, most)]


def _of_all(pairs: Pairs, chosen: Mapping[str, Any], target: str, everybody: int) -> BinaryTable:
    """What every entity has of some features, by name; the order of the rows tells nothing."""
    found = patterns(pairs, list(chosen.values()), everybody)
    kinds = np.repeat(found[PATTERN].to_numpy(), found[ROWS].to_numpy())
    bits = [((kinds >> i) & 1).astype(np.uint8) for i in range(len(chosen))]
    labels = found.select(pl.col(LABEL).repeat_by(ROWS).explode())[LABEL]
    return from_matrix(np.column_stack(bits), list(chosen), labels.to_list(), target)
