"""What each column adds to a release, where there are too many columns to fit each."""

from __future__ import annotations

import numpy as np
import polars as pl

from tamis.evaluate.column_bits import FITTED
from tamis.flow import Settings, consider
from tamis.table import Roles, Table


def test_released_columns_of_a_wide_table_add_to_each_other():
    rng = np.random.default_rng(0)
    rows = 1200
    a, b = rng.integers(0, 2, (2, rows))
    ill = np.where(a + b + 0.5 * rng.normal(size=rows) > 1, "yes", "no")
    noise = {f"x{i}": rng.integers(0, 2, rows) for i in range(FITTED)}
    frame = pl.DataFrame({"a": a, "b": b, **noise, "ill": ill})
    settings = Settings(k=2, methods={"front": {}}, attackers=("nb",), max_features=2)
    found = consider(Table(frame, Roles(target="ill")), settings)
    assert set(found.decision.chosen.release.features) == {"a", "b"}
    bits = found.column_bits
    assert min(bits[name].teaches_beyond for name in ("a", "b")) > 0.2
    assert max(bits[name].teaches_beyond for name in noise) < 0.1
