"""Greedy against a plain search that recounts everything, and against the paper's counts."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import mutual_info_score

from tamis.errors import CannotMeet, InputError
from tamis.evaluate.separation import classification_metric, distcnt, hamdist
from tamis.risk.containment import absence_anonymity
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.greedy import GreedySearch, greedy
from tamis.select.containment.paths import greedy_with_absences
from tests.long import LONG
from tests.select.containment.test_source import ANONYMITY

TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(st.tuples(*[st.sampled_from([0, 1])] * width), st.booleans()),
        min_size=4,
        max_size=10,
    )
)


def information(X, y, S):
    return sum(mutual_info_score(X[:, u], y) for u in S)


def difference(X, y, S):
    return sum(abs(X[y == 1, u].mean() - X[y == 0, u].mean()) for u in S)


def majority(X, y, S):
    # Ties of CM are broken by DistCnt, which cannot outweigh one row.
    return 1 - classification_metric(X, y, S) / len(y) + 1e-6 * distcnt(X, y, S)


WORTH = {
    "hamdist": hamdist,
    "distcnt": distcnt,
    "cm": majority,
    "information": information,
    "difference": difference,
}


def plain(X, y, k, worth, anonymity, stop):
    """Greedy by the book: best gain first, lowest column among equals."""
    chosen: list[int] = []
    left = list(range(X.shape[1]))
    while left:
        gains = [worth(X, y, [*chosen, u]) - worth(X, y, chosen) for u in left]
        best = left[int(np.argmax(np.round(gains, 10)))]
        if max(gains) <= 1e-10:
            break
        left.remove(best)
        if anonymity(X[:, [*chosen, best]]) >= k:
            chosen.append(best)
        elif stop:
            break
    return tuple(chosen)


def table(seed, rows, columns, density):
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < density).astype(int)
    return X, np.array([0, 1, *rng.integers(0, 2, rows - 2)])


@pytest.mark.parametrize("utility", sorted(WORTH))
@settings(max_examples=30 if LONG else 12)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 14),
    columns=st.integers(1, 7),
    density=st.floats(0.1, 0.9),
    k=st.integers(1, 4),
    privacy=st.sampled_from(["containment", "equality"]),
    stop=st.booleans(),
    wide=st.booleans(),
)
def test_greedy_by_the_book(utility, seed, rows, columns, density, k, privacy, stop, wide):
    X, y = table(seed, rows, columns, density)
    k = min(k, rows)
    expected = plain(X, y, k, WORTH[utility], ANONYMITY[privacy], stop)
    # Empty columns beyond 64 lead around the distinct rows, straight from CSR.
    given = sparse.csr_array(np.hstack([X, np.zeros((rows, 70), int)])) if wide else X
    found = greedy(
        given, y, k, utility=utility, privacy=privacy, on_violation="stop" if stop else "skip"
    )
    assert found.features == expected
    assert found.anonymity == (ANONYMITY[privacy](X[:, expected]) if expected else rows)
    assert found.utility == pytest.approx(WORTH[utility](X, y, list(expected)), abs=2e-6)
    for step, size in zip(found.steps, range(1, len(expected) + 1)):
        assert step.anonymity == ANONYMITY[privacy](X[:, expected[:size]])
        assert step.utility == pytest.approx(WORTH[utility](X, y, expected[:size]), abs=2e-6)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, np.asarray])
@pytest.mark.parametrize("utility", ["hamdist", "distcnt"])
def test_the_form_of_a_wide_table_does_not_matter(form, utility):
    X, y = table(3, 60, 400, 0.05)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    found = greedy(form(X), y, 3, utility=utility)
    assert found == greedy(sparse.csr_matrix(X.astype(float)), y, 3, utility=utility)
    assert len(found.features) > (64 if utility == "hamdist" else 5)


def test_a_callable_is_the_utility():
    X, y = table(4, 30, 8, 0.4)
    found = greedy(X, y, 3, utility=lambda X, y, S: distcnt(X, y, S))
    same = greedy(X, y, 3, utility="distcnt")
    assert found.features == same.features
    assert found.anonymity == same.anonymity
    assert found.utility == pytest.approx(same.utility)


@pytest.mark.parametrize("utility", [*sorted(WORTH), "likelihood", "auc", distcnt])
@pytest.mark.parametrize("columns", [8, 80])
def test_hidden_labels_do_not_matter_but_hidden_rows_do(utility, columns):
    X, y = table(8, 60, columns, 0.3)
    X[:, 8:] = 0
    seen = np.arange(60) < 40
    other = np.where(seen, y, 1 - y)
    found = greedy(X, y, 2, utility=utility, labelled=seen)
    assert found == greedy(X, other, 2, utility=utility, labelled=seen)
    assert ANONYMITY["containment"](X[:, found.features]) == found.anonymity >= 2
    if utility in ("hamdist", "distcnt"):
        expected = WORTH[utility](X[seen], y[seen], found.features)
        assert found.utility == pytest.approx(expected)


def test_limits_end_the_path_early():
    X, y = table(5, 40, 10, 0.4)
    whole = greedy(X, y, 2)
    assert len(whole.features) > 2
    assert greedy(X, y, 2, max_features=2).steps == whole.steps[:2]
    floor = whole.steps[1].gain
    assert greedy(X, y, 2, min_gain=floor).steps == whole.steps[:1]
    assert greedy(X, y, 2, max_features=0).features == ()


def test_constant_and_empty_columns_are_never_chosen():
    X, y = table(6, 20, 4, 0.5)
    X[:, 1], X[:, 2] = 0, 1
    for utility in WORTH:
        assert not {1, 2} & set(greedy(X, y, 1, utility=utility).features)


def test_stop_ends_at_a_rare_feature_unless_dropped_first():
    X = np.zeros((10, 2), dtype=int)
    X[:2, 0] = 1
    X[1:5, 1] = 1
    y = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    stopped = greedy(X, y, 3, utility="difference", on_violation="stop")
    assert stopped.features == ()
    assert stopped.anonymity == 10
    dropped = greedy(X, y, 3, utility="difference", on_violation="stop", drop_rare=True)
    assert dropped.features == (1,)


COUNTS = {
    ("hamdist", "containment"): [11, 11, 11],
    ("distcnt", "containment"): [11, 7, 7],
    ("hamdist", "equality"): [4, 4, 4],
    ("distcnt", "equality"): [4, 4, 4],
}


@pytest.mark.parametrize(("utility", "privacy"), sorted(COUNTS))
def test_counts_on_pu1_are_those_of_the_paper(dataset, utility, privacy):
    X, y = load_svmlight_file(str(dataset("pu1_body_binary.txt.gz")))
    found = [
        greedy(X, y, k, utility=utility, privacy=privacy, on_violation="stop") for k in (5, 8, 11)
    ]
    assert [len(f.features) for f in found] == COUNTS[utility, privacy]
    assert all(f.anonymity >= k for f, k in zip(found, (5, 8, 11)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"utility": "magic"}, "'hamdist'.*got 'magic'"),
        ({"on_violation": "cry"}, "'skip' or 'stop', got 'cry'"),
        ({"max_features": -1}, "at least 0, got -1"),
        ({"min_gain": -0.5}, "at least 0, got -0.5"),
        ({"k": 0}, "at least 1, got 0"),
        ({"labelled": [True]}, "each of the 2 rows"),
        ({"labelled": [True, False]}, "among the labelled rows"),
        ({"model": "magic"}, "'linear' or 'bayes', got 'magic'"),
        ({"utility": "auc"}, "two rows of each class"),
    ],
)
def test_wrong_choices_are_named(change, message):
    with pytest.raises(InputError, match=message):
        greedy(**{"X": [[0], [1]], "y": [0, 1], "k": 1, **change})


def test_too_few_rows_cannot_meet_k():
    with pytest.raises(CannotMeet, match="at most 2"):
        greedy([[0], [1]], [0, 1], 3)


@pytest.mark.parametrize("utility", ["hamdist", "distcnt", "information"])
@pytest.mark.parametrize("privacy", ["containment", "equality"])
def test_columns_ruled_out_early_would_not_have_fitted(utility, privacy, monkeypatch):
    monkeypatch.setattr("tamis.select.containment.source.MOST_ONES", 0)
    rng = np.random.default_rng(7)
    X = sparse.csr_array((rng.random((400, 1500)) < 0.6 ** rng.integers(2, 14, 1500)).astype(int))
    y = rng.random(400) < 0.5
    # CSC is read column by column, CSR in blocks with columns ruled out between them.
    by_column = greedy(sparse.csc_array(X), y, 4, utility=utility, privacy=privacy)
    assert greedy(X, y, 4, utility=utility, privacy=privacy) == by_column
    assert len(by_column.features) > 3


@pytest.mark.parametrize("utility", ["hamdist", "distcnt", "auc"])
def test_several_k_at_once_are_the_same_as_one_by_one(utility):
    X, y = table(9, 80, 70, 0.2)
    search = GreedySearch(X, y)
    for k in (2, 3, 8):
        assert search.of(k, utility) == greedy(X, y, k, utility=utility)


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
    with pytest.raises(CannotMeet, match="no feature fits at k = 12"):
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
