"""Which nominal values have an order: those of bands, scales and numbered answers, and no names."""

from __future__ import annotations

import polars as pl
import pytest

from tamis.coarsen.merging import order_of

ORDERED = [
    "under 18|18-24|25-64|65+",
    "Age 18-24|Age 25-34|Age 35 or more",
    "none|1-9|10-49|50+",
    "$0-$10k|$10k-$20k|$20k+",
    "1. Never|2. Sometimes|3. Often|10. Always",
    "Level 1|Level 2|Level 10",
    "Stage I|Stage II|Stage III|Stage IV",
    "Low income|Middle income|High income",
    "small|medium|large|extra large",
    "Preschool|1st-4th|5th-6th|10th|HS-grad|Some-college|Assoc-voc|Bachelors|Masters|Doctorate",
    "Less than primary|Primary|Lower secondary|Upper secondary|Short-cycle tertiary|Master",
    "illiterate|basic.4y|basic.6y|basic.9y|high.school|professional.course|university.degree",
]
NOMINAL = [
    "red|green|blue",
    "Region 1|Region 2|Region 3",
    "4 Main Street|5 Oak Street|6 Elm Street",
    "101|102|103",
    "none|1|2",
    "R01|R02|R03",
    "<30|>30|NO",
    "North side|South side|East side",
    "low|high",
]


@pytest.mark.parametrize("values", ORDERED)
def test_values_of_a_scale_are_put_in_order(values):
    ranks = values.split("|")
    assert order_of(pl.Series(dtype=pl.String), sorted(ranks, reverse=True)) == ranks


@pytest.mark.parametrize("values", NOMINAL)
def test_names_have_no_order(values):
    assert order_of(pl.Series(dtype=pl.String), values.split("|")) is None


@pytest.mark.parametrize("word", ["unknown", "Prefer not to say", "?", "Not stated"])
def test_an_answer_that_is_none_has_no_place(word):
    values = ["often", word, "never", "sometimes"]
    assert order_of(pl.Series(dtype=pl.String), values) == ["never", "sometimes", "often"]
