from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_rel
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
)

from tamis.errors import InputError, TamisWarning
from tamis.learn.cv import (
    Folds,
    corrected_t_test,
    fold_p_value,
    fold_p_values,
    holm,
    paired_t_test,
)

Y = np.array(["a"] * 30 + ["b"] * 20)


def test_stratified_folds_part_the_rows_and_keep_the_shares():
    folds = Folds.stratified(Y, 5, random_state=3)
    assert sorted(np.concatenate(folds.tests)) == list(range(50))
    for fold, test in enumerate(folds.tests):
        assert (Y[test] == "a").sum() == 6
        assert sorted([*test, *folds.train(fold)]) == list(range(50))


def test_the_seed_decides():
    same = [Folds.stratified(Y, 5, random_state=1).tests[0].tolist() for _ in range(2)]
    assert same[0] == same[1]
    assert same[0] != Folds.stratified(Y, 5, random_state=2).tests[0].tolist()


def test_repeats_deal_the_whole_table_again():
    folds = Folds.stratified(Y, 5, repeats=3)
    assert (len(folds), folds.repeats) == (15, 3)
    for repeat in range(3):
        tested = np.concatenate(folds.tests[5 * repeat : 5 * repeat + 5])
        assert sorted(tested) == list(range(50))
    assert folds.test_ratio == pytest.approx(10 / 40)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3), st.booleans())
@settings(max_examples=30)
def test_rows_are_dealt_as_scikit_learn_deals_them(seed, folds, repeats, shared):
    """So that figures published earlier can be repeated; a shared state goes on where it was."""
    y = np.random.default_rng(seed).permutation(["c"] * 11 + ["a"] * 8 + ["b"] * 6)
    state = [np.random.RandomState(seed) if shared else seed for _ in range(2)]
    ours = Folds.stratified(y, folds, repeats=repeats, random_state=state[0])
    theirs = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=state[1])
    expected = [test.tolist() for _, test in theirs.split(np.zeros(len(y)), y)]
    assert [test.tolist() for test in ours.tests] == expected


def test_a_small_class_is_warned_of_with_its_count():
    y = ["a"] * 20 + ["b"] * 3
    with pytest.warns(TamisWarning, match=r"1 of 2 classes .* 5 folds \(the smallest has 3\)"):
        folds = Folds.stratified(y, 5)
    assert len(folds) == 5


@pytest.mark.parametrize(
    ("y", "folds", "message"),
    [
        (["a"] * 9, 3, "at least two classes are needed, got 1"),
        (["a", "b"] * 3, 5, "use at most 3 folds"),
        (["a", "b"] * 3, 1, "at least 2 folds"),
    ],
)
def test_impossible_folds_are_errors(y, folds, message):
    with pytest.raises(InputError, match=message):
        Folds.stratified(y, folds)


def test_predefined_folds_follow_the_numbers():
    folds = Folds.predefined(np.array([2, 0, 0, -1, 2]))
    assert [test.tolist() for test in folds.tests] == [[1, 2], [0, 4]]
    assert folds.train(0).tolist() == [0, 3, 4]


@pytest.mark.parametrize("numbers", [[0.5, 1.0], [[0, 1]], [0, 0, -1]])
def test_wrong_fold_numbers_are_errors(numbers):
    with pytest.raises(InputError, match="predefined folds"):
        Folds.predefined(numbers)


def test_any_scheme_becomes_folds():
    given = Folds.predefined(np.arange(50) % 5)
    assert Folds.of(given, Y) is given
    for scheme in (np.arange(50) % 5, PredefinedSplit(np.arange(50) % 5)):
        tests = [test.tolist() for test in Folds.of(scheme, Y).tests]
        assert tests == [test.tolist() for test in given.tests]
    assert len(Folds.of(4, Y)) == 4
    repeated = Folds.of(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0), Y)
    assert (len(repeated), repeated.repeats, given.repeats) == (10, 2, 1)


def test_a_splitter_that_forgets_rows_is_refused():
    with pytest.raises(InputError, match="leaves some rows out"):
        Folds.of(ShuffleSplit(3, test_size=5, train_size=20, random_state=0), Y)


def test_a_splitter_that_cannot_deal_the_rows_says_why():
    with pytest.raises(InputError, match=r"cannot split these rows: .*n_splits=9"):
        Folds.of(RepeatedStratifiedKFold(n_splits=9), np.array(["a", "b"] * 4))


def test_folds_of_another_table_are_refused():
    with pytest.raises(InputError, match="for 50 rows, the table has 49"):
        Folds.of(Folds.stratified(Y, 5), Y[1:])


def test_a_fold_that_trains_on_one_class_is_refused():
    with pytest.raises(InputError, match="single class"):
        Folds.of(KFold(2), np.array(["a"] * 5 + ["b"] * 5))


def test_no_warning_where_every_class_is_large_enough():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Folds.stratified(Y, 10)


@given(st.integers(0, 200), st.integers(2, 10), st.integers(1, 20))
def test_folds_never_part_a_person_and_are_as_even_as_people_allow(seed, number, most):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, most + 1, 60)
    who = draw.permutation(np.repeat(np.arange(60), sizes))
    y = (np.arange(60) % 3 == 0)[who] ^ (draw.random(len(who)) < 0.1)
    folds = Folds.stratified(y, number, repeats=2, random_state=seed, groups=who)
    for repeat in range(2):
        tests = folds.tests[number * repeat : number * (repeat + 1)]
        assert sorted(np.concatenate(tests)) == list(range(len(y)))
        assert sum(len(np.unique(who[test])) for test in tests) == 60
        people = [len(np.unique(who[test])) for test in tests]
        assert max(people) - min(people) <= 1
        assert np.ptp([len(test) for test in tests]) <= 3 * most
        assert np.ptp([y[test].sum() for test in tests]) <= 3 * most + 0.2 * len(y)


def test_people_are_dealt_by_seed_and_each_repeat_anew():
    who, y = np.repeat(np.arange(30), 2), np.repeat(np.arange(30) % 2, 2)
    one, same, other = (Folds.stratified(y, 5, groups=who, random_state=s) for s in (0, 0, 1))
    assert [t.tolist() for t in one.tests] == [t.tolist() for t in same.tests]
    assert [t.tolist() for t in one.tests] != [t.tolist() for t in other.tests]
    twice = Folds.stratified(y, 5, repeats=2, groups=who)
    assert [t.tolist() for t in twice.tests[:5]] != [t.tolist() for t in twice.tests[5:]]
    assert twice.repeats == 2


def test_folds_are_at_most_as_many_as_people():
    assert len(Folds.of(5, Y, groups=np.arange(50))) == 5
    with pytest.raises(InputError, match="no class has more than 2 people"):
        Folds.stratified(Y, 5, groups=np.arange(50) // 15)


def test_folds_that_part_a_person_are_refused():
    who = np.arange(50) // 2
    for scheme in (KFold(7), np.arange(50) % 5, Folds.stratified(Y, 5)):
        with pytest.raises(InputError, match="some rows of a person and test on others"):
            Folds.of(scheme, Y, groups=who)
    whole = Folds.of(StratifiedGroupKFold(5), Y, groups=who)
    assert sum(len(np.unique(who[test])) for test in whole.tests) == 25


def test_people_are_given_for_every_row():
    with pytest.raises(InputError, match="one person per row: got 3, the table has 50"):
        Folds.of(5, Y, groups=[1, 2, 3])


@given(st.integers(0, 10_000), st.integers(2, 30))
def test_the_paired_test_is_scipys(seed, folds):
    rng = np.random.default_rng(seed)
    first, second = rng.random(folds), rng.random(folds)
    assert paired_t_test(first, second) == pytest.approx(ttest_rel(first, second).pvalue)


def test_no_difference_gives_one_and_a_constant_difference_gives_zero():
    assert paired_t_test([0.7, 0.8, 0.9], [0.7, 0.8, 0.9]) == 1.0
    assert paired_t_test([0.75, 0.5, 1.0], [0.5, 0.25, 0.75]) == 0.0
    assert corrected_t_test([0.75, 0.5], [0.75, 0.5], 1 / 9) == 1.0
    assert corrected_t_test([0.75, 0.5], [0.5, 0.25], 1 / 9) == 0.0


def test_the_corrected_test_by_hand():
    # Differences 1, 2, 3, 6: mean 3, variance 14/3; (1/4 + 1/4) * 14/3 = 7/3.
    t = 3 / np.sqrt(7 / 3)
    expected = 2 * student.sf(t, df=3)
    assert corrected_t_test([1, 2, 3, 6], [0, 0, 0, 0], 0.25) == pytest.approx(expected)


def test_without_overlap_the_corrected_test_is_the_plain_one():
    first, second = [0.9, 0.7, 0.8], [0.6, 0.7, 0.5]
    assert corrected_t_test(first, second, 0.0) == paired_t_test(first, second)
    assert corrected_t_test(first, second, 1 / 9) > paired_t_test(first, second)


def test_the_folds_choose_the_test():
    y = [0, 1] * 10
    first, second = np.linspace(0.5, 0.9, 10), np.linspace(0.52, 0.7, 10)
    once = Folds.predefined(np.arange(20) % 10)
    assert fold_p_value(first, second, once) == paired_t_test(first, second)
    repeated = Folds.stratified(y, 5, repeats=2)
    assert fold_p_value(first, second, repeated) == corrected_t_test(first, second, 4 / 16)


def holm_by_definition(p: list[float], level: float) -> list[bool]:
    """Reject the smallest while p <= level / (number not yet rejected)."""
    rejected = [False] * len(p)
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[i] * (len(p) - step) > level:
            break
        rejected[i] = True
    return rejected


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.floats(0.01, 0.5),
)
def test_holm_rejects_what_its_definition_rejects(p, level):
    assert (holm(p) <= level).tolist() == holm_by_definition(p, level)


def test_holm_of_nothing_is_nothing():
    assert holm([]).tolist() == []


@pytest.mark.parametrize(
    ("first", "second"), [([1.0], [1.0]), ([1, 2], [1, 2, 3]), ([1, np.nan], [1, 2])]
)
def test_scores_that_cannot_be_paired_are_errors(first, second):
    with pytest.raises(InputError, match="a paired test needs"):
        paired_t_test(first, second)


def test_wrong_numbers_are_errors():
    with pytest.raises(InputError, match="test_ratio"):
        corrected_t_test([1, 2], [1, 3], -1)
    with pytest.raises(InputError, match=r"in \[0, 1\]"):
        holm([0.5, 1.5])


@given(st.integers(2, 12), st.integers(1, 20), st.integers(0, 2**31), st.integers(1, 2))
def test_many_p_values_are_those_of_one_at_a_time(folds, sets, seed, repeats):
    draw = np.random.default_rng(seed)
    scores = draw.integers(0, 4, (sets, folds * repeats)) / 4
    baseline = draw.integers(0, 4, folds * repeats) / 4
    scores[0] = baseline
    drawn = Folds.predefined(np.arange(folds))
    drawn = Folds(drawn.tests * repeats, folds)
    one_by_one = [fold_p_value(row, baseline, drawn) for row in scores]
    assert fold_p_values(scores, baseline, drawn).tolist() == one_by_one


def test_many_p_values_refuse_what_one_refuses():
    folds = Folds.predefined([0, 1])
    for scores in (np.array([[0.5]]), np.array([[0.5, np.nan]])):
        with pytest.raises(InputError, match="paired test needs"):
            fold_p_values(scores, np.full(scores.shape[1], 0.5), folds)
