"""Greedy selection that withstands known absences, against its definition."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis.errors import CannotMeet, InputError
from tamis.risk.absences import absence_anonymity
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.absences import greedy_with_absences
from tamis.select.containment.greedy import greedy

TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(st.tuples(*[st.sampled_from([0, 1])] * width), st.booleans()),
        min_size=4,
        max_size=10,
    )
)


def opened(rows):
    y = np.array([label for _, label in rows])
    assume(0 < y.sum() < len(y))
    return np.array([cells for cells, _ in rows]), y


def parted(X, y, features):
    """Pairs of opposite classes that some feature tells apart."""
    rows = [tuple(row[list(features)]) for row in X]
    return sum(
        rows[i] != rows[j] for i in range(len(y)) for j in range(len(y)) if y[i] and not y[j]
    )


def by_definition(X, y, k, absences):
    chosen: list[int] = []
    while True:
        fit = [
            c
            for c in range(X.shape[1])
            if c not in chosen and absence_anonymity(X[:, [*chosen, c]], absences) >= k
        ]
        worth = {c: parted(X, y, [*chosen, c]) - parted(X, y, chosen) for c in fit}
        best = max(worth, key=lambda c: (worth[c], -c), default=None)
        if best is None or worth[best] <= 0:
            return tuple(chosen)
        chosen.append(best)


@given(TABLES, st.integers(1, 3), st.integers(0, 2))
def test_the_best_column_that_still_fits_again_and_again(rows, k, absences):
    X, y = opened(rows)
    found = greedy_with_absences(X, y, k, absences, extend=False)
    assert found.features == by_definition(X, y, k, absences)
    if found.features:
        assert found.anonymity == absence_anonymity(X[:, list(found.features)], absences) >= k
        pairs = parted(X, y, found.features) / (y.sum() * (len(y) - y.sum()))
        assert found.utility == pytest.approx(pairs)


@given(TABLES, st.integers(1, 3), st.sampled_from(["hamdist", "difference", "distcnt"]))
def test_without_absences_it_is_the_plain_greedy(rows, k, utility):
    X, y = opened(rows)
    plain = greedy(X, y, k, utility=utility)
    mine = greedy_with_absences(X, y, k, 0, utility=utility, extend=False)
    assert mine.features == plain.features
    assert mine.anonymity == plain.anonymity


@given(TABLES, st.integers(1, 3))
def test_with_all_absences_it_keeps_k_equal_rows(rows, k):
    X, y = opened(rows)
    equal = greedy(X, y, k, utility="hamdist", privacy="equality")
    mine = greedy_with_absences(X, y, k, X.shape[1], utility="hamdist")
    assert mine.features == equal.features


X = np.array([[1, 0, 0]] * 2 + [[1, 1, 0]] * 3 + [[1, 0, 1]] * 3 + [[0, 0, 0]] * 4)
Y = [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]


def test_the_selector_takes_absences():
    loose = ContainmentSelector(k=3).fit(X, Y)
    tight = ContainmentSelector(k=3, absences=2).fit(X, Y)
    assert loose.support_.sum() == 3
    assert tight.support_.sum() < 3
    assert tight.anonymity_ == absence_anonymity(X[:, tight.support_], 2) >= 3


def test_people_with_several_rows_are_counted_once():
    people = ["a", "a", "a", *"bcdefghij"]
    found = ContainmentSelector(k=2, absences=1).fit(X, Y, people=people)
    kept = X[:, found.support_]
    assert found.anonymity_ == absence_anonymity(kept, 1, people=people) >= 2


def test_what_does_not_go_with_absences_is_refused():
    with pytest.raises(InputError, match="'search'"):
        ContainmentSelector(k=2, absences=1, search="exact").fit(X, Y)
    with pytest.raises(InputError, match="with absences the utility"):
        ContainmentSelector(k=2, absences=1, utility="cm").fit(X, Y)
    with pytest.raises(InputError, match="whole number"):
        ContainmentSelector(k=2, absences=-1).fit(X, Y)
    with pytest.raises(CannotMeet):
        ContainmentSelector(k=12, absences=1).fit(X, Y)


def test_the_command_keeps_and_writes_what_it_says(tmp_path, capsys):
    from tamis.cli import _run

    file, out = tmp_path / "x.csv", tmp_path / "out.csv"
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), Y)]
    file.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    args = ["select", "containment", str(file), "--target", "y", "--k", "3", "--row-is-person"]
    assert _run([*args, "--absences", "2", "--json", "-o", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["absences"] == 2
    assert len(found["features"]) < 3
    assert out.exists()
    assert _run([*args, "--absences", "2"]) == 0
    assert "up to 2 things" in capsys.readouterr().out
