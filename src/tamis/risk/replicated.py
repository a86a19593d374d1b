"""Whose unusual rows, and whose secrets, are found again in rows that were made elsewhere.

Counted by what synthpop calls repU and DiSCO, after Raab, Nowok and Dibben (2024): both ask what
somebody finds who knows the keys of a person and takes the rows of a release for true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from tamis.table import frame_of_columns

_ROWS, _OTHERS, _SECRETS, _SECRET = "rows", "others", "secrets", "secret"


@dataclass(frozen=True)
class Replicated:
    """Shares of the rows of the original.

    Parameters
    ----------
    rep_u : float
        Rows whose keys are unique in the original, and unique in the release as well.
    unique : float
        Rows whose keys are unique in the original.
    disco : float or None
        Disclosive in the release, correct in the original: rows whose keys have one secret only in
        the release, which is theirs. `None` without a secret to compare.
    """

    rep_u: float
    unique: float
    disco: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def replicated(
    original: pl.DataFrame, released: pl.DataFrame, keys: Sequence[str], secret: str | None
) -> Replicated:
    """Count both in columns of the same terms; a missing key is a value of its own.

    Examples
    --------
    >>> one = pl.DataFrame({"age": [30, 40, 50, 50], "ill": ["flu", "gout", "flu", "gout"]})
    >>> two = pl.DataFrame({"age": [30, 40, 50, 60], "ill": ["flu", "flu", "flu", "flu"]})
    >>> replicated(one, two, ["age"], "ill")
    Replicated(rep_u=0.5, unique=0.5, disco=0.5)
    """
    names = [f"k{i}" for i in range(len(keys))]
    mine, theirs = (_renamed(frame, keys, names, secret) for frame in (original, released))
    sizes = mine.group_by(names).agg(pl.len().alias(_ROWS))
    others = theirs.group_by(names).agg(pl.len().alias(_OTHERS))
    both = sizes.join(others, on=names, how="left", nulls_equal=True)
    alone = pl.col(_ROWS) == 1
    unique = both.select((alone).sum()).item() / original.height
    found = both.select((alone & (pl.col(_OTHERS) == 1)).sum()).item() / original.height
    if secret is None:
        return Replicated(found, unique, None)
    told = (
        theirs.group_by(names)
        .agg(pl.col(_SECRET).n_unique().alias(_SECRETS), pl.col(_SECRET).first())
        .filter(pl.col(_SECRETS) == 1)
    )
    right = mine.join(told, on=[*names, _SECRET], how="semi", nulls_equal=True).height
    return Replicated(found, unique, right / original.height)


def _renamed(
    frame: pl.DataFrame, keys: Sequence[str], names: Sequence[str], secret: str | None
) -> pl.DataFrame:
    """Keys and secret as texts under plain names: polars takes some names for patterns."""
    given = [*keys, *([] if secret is None else [secret])]
    plain = [*names, _SECRET]
    cells = [frame.get_column(c).alias(name) for c, name in zip(given, plain)]
    return frame_of_columns(cells, frame.height)
