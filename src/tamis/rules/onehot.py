"""A table as numbers that a tree can split: one 0/1 feature for each value of a nominal column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed
from tamis.rules.bind import holds, texts
from tamis.rules.coding import Coding, Indicator
from tamis.table import bare


@dataclass(frozen=True)
class OneHot:
    """Which features a table becomes: numbers as they are, and values as indicators.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [20, None], "job": ["cook", "judge"]})
    >>> OneHot.of(frame, ["age", "job"]).matrix(frame).tolist()
    [[20.0, 1.0, 0.0], [nan, 0.0, 1.0]]
    """

    features: tuple[str | Indicator, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Sequence[str], least_rows: int = 1) -> OneHot:
        """The features of these columns; a value with fewer than `least_rows` rows gets none."""
        features: list[str | Indicator] = []
        for column in columns:
            held = holds(frame.schema[column])
            if held == "numbers":
                features.append(column)
            elif held != "nothing":
                found = bare(texts(frame[column])).drop_nulls().value_counts()
                common = found.filter(pl.col("count") >= least_rows)[""].sort().to_list()
                features += [Indicator(column, value) for value in common]
        return cls(tuple(features))

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        # A control sign parts column and value, so that no column can have such a name.
        return [f if isinstance(f, str) else f"{f.column}\x1f{f.value}" for f in self.features]

    @property
    def coding(self) -> dict[str, Coding]:
        """What each indicator stands for, by name."""
        named = zip(self.names, self.features)
        return {name: f for name, f in named if isinstance(f, Indicator)}

    def matrix(self, frame: pl.DataFrame) -> NDArray[np.float32]:
        """Rows x features; a missing number is NaN, a missing or new value has no indicator."""
        wanted = {f if isinstance(f, str) else f.column for f in self.features}
        if gone := sorted(wanted - set(frame.columns)):
            raise InputError(
                f"the table has no column {listed(gone)}; its columns are "
                f"{listed(frame.columns, most=30)}"
            )
        cells = {c: frame[c] if c in self.features else texts(frame[c]) for c in wanted}
        out = np.empty((frame.height, len(self.features)), dtype=np.float32)
        for i, feature in enumerate(self.features):
            if isinstance(feature, Indicator):
                out[:, i] = bare(cells[feature.column] == feature.value).fill_null(False).to_numpy()
            else:
                out[:, i] = cells[feature].cast(pl.Float64).to_numpy()
        return out
