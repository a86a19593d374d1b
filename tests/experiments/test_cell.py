"""How a printed value and ours are held against each other."""

import math

import pytest

from experiments.cell import Cell, features, number


def verdict(printed, ours, **given):
    return Cell("Table 1", "row", "column", printed, ours, **given).verdict


@pytest.mark.parametrize(
    ("printed", "ours", "expected"),
    [
        ("74.875", 74.87545, "equal"),
        ("74.875", 74.8756, "differs"),
        ("8", 8, "equal"),
        ("8", 8.6, "differs"),
        ("-1.07", -1.0749, "equal"),
        ("45,222", 45222, "equal"),
        ("0.5", math.nan, "differs"),
        ("0.5", None, "differs"),
        ("mass, plas", "mass, plas", "equal"),
        ("mass, plas", "plas", "differs"),
    ],
)
def test_the_number_of_decimals_says_how_exact_the_print_is(printed, ours, expected):
    assert verdict(printed, ours) == expected


def test_a_print_that_cuts_digits_off_agrees_upwards_only():
    assert verdict("0.931", 0.9318) == "differs"
    assert verdict("0.931", 0.9318, truncates=True) == "equal"
    assert verdict("0.931", 0.9302, truncates=True) == "differs"
    assert verdict("-3.08", -3.0899, truncates=True) == "equal"


def test_within_a_tolerance_is_less_than_equal_and_needs_a_reason():
    cell = Cell("Table 5", "Adult", "AUC", "0.82", 0.84, tolerance=0.02)
    assert cell.verdict == "within"
    assert cell.why == "not known"
    assert Cell("Table 5", "Adult", "AUC", "0.82", 0.8412, tolerance=0.02).verdict == "differs"
    assert Cell("Table 5", "Adult", "AUC", "0.82", 0.821, reason="seed").why == ""


def test_ours_is_shown_with_one_more_decimal_where_it_does_not_agree():
    assert Cell("T", "r", "c", "0.82", 0.8207).shown == "0.82"
    assert Cell("T", "r", "c", "0.82", 0.8407).shown == "0.841"
    assert Cell("T", "r", "c", "121", 694).shown == "694"
    assert Cell("T", "r", "c", "55", 55.54).shown == "55.5"
    assert Cell("T", "r", "c", "8000", 8351.2).shown == "8351"


def test_words_where_a_number_is_printed_are_refused():
    with pytest.raises(ValueError, match="no number"):
        number("N/A")


def test_sets_of_features_are_equal_in_any_order():
    assert features(["b", "a"]) == features(("a", "b")) != features(["a"])
