"""The containment paper's experiment: its parts on made rows, its quick form on real ones."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from experiments.cell import NO_REASON
from experiments.data import Data
from experiments.page import page
from experiments.store import Store
from experiments.zhang import run
from experiments.zhang.auc import distinct, nested_auc, parts, svm_auc, topic_auc
from experiments.zhang.choices import PRINTED, chosen, chosen_by
from experiments.zhang.differential import private_aucs, release
from experiments.zhang.figure import private_figure
from experiments.zhang.measured import QUICK
from experiments.zhang.printed import (
    AUCS,
    EMAIL,
    ENTITY,
    HAMDIST,
    KS,
    METHODS,
    SIZES,
    STATISTICS,
)
from experiments.zhang.tasks import FILES, TASKS, Task
from tamis.evaluate.separation import distcnt
from tamis.risk.containment import containment_anonymity
from tests.long import long


def made(rows=200, width=8, seed=0):
    """Rows whose first columns go with the class, the others with nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2 == 0
    pull = np.where(np.arange(width) < 3, 0.35, 0.0)
    X = rng.random((rows, width)) < 0.5 + np.where(y[:, None], pull, -pull)
    names = tuple(f"x{i}" for i in range(width))
    return Task("made", sparse.csr_array(X.astype(np.uint8)), y, names)


def test_printed_tables_are_whole():
    for name in STATISTICS:
        assert tuple(AUCS[name]) == tuple(SIZES[name]) == METHODS
        assert all(0.5 < auc < 1 for aucs in AUCS[name].values() for auc in aucs)


def test_weighted_distinct_rows_give_the_model_of_all_rows():
    task = made()
    X, y, weight = distinct(task.X, task.y)
    assert len(y) < len(task.y)
    assert weight.sum() == len(task.y)
    ours = LinearSVC(dual=False).fit(X, y, weight).decision_function(task.X.toarray())
    whole = LinearSVC(dual=False).fit(task.X.toarray(), task.y)
    assert np.allclose(ours, whole.decision_function(task.X.toarray()), atol=1e-3)


def test_auc_is_one_where_a_column_is_the_label_and_half_where_nothing_is():
    y = np.arange(100) % 2 == 0
    label = sparse.csr_array(y[:, None].astype(np.uint8))
    assert svm_auc(label, y) == 1.0
    assert svm_auc(sparse.csr_array(np.zeros((100, 1), np.uint8)), y) == 0.5


def test_a_nested_choice_sees_training_rows_only_and_is_made_in_each_fold():
    task = made()
    seen = []

    def choose(rows):
        seen.append(rows)
        return [0]

    auc = nested_auc(task.X, task.y, choose)
    assert [list(rows) for rows in seen] == [list(train) for train, _ in parts(task.y)]
    expected = [
        roc_auc_score(task.y[test], task.X[test][:, [0]].toarray()[:, 0])
        for _, test in parts(task.y)
    ]
    assert auc == pytest.approx(np.mean(expected))


def test_held_out_labels_do_not_move_a_nested_choice_and_all_rows_hide():
    task = made()
    train, test = parts(task.y)[0]
    turned = task.y.copy()
    turned[test] = ~turned[test]
    other = Task("turned", task.X, turned, task.features)
    columns = chosen_by(task, 5, HAMDIST, train)
    assert columns == chosen_by(other, 5, HAMDIST, train)
    assert containment_anonymity(task.X[:, columns]) >= 5


def test_every_printed_choice_keeps_its_anonymity():
    task = made(rows=60, width=12)
    for method, how in PRINTED.items():
        found = chosen(task, 5, method)
        assert containment_anonymity(task.X[:, list(found.features)]) >= 5
        if how["utility"] == "distcnt":
            assert found.utility == pytest.approx(distcnt(task.X, task.y, found.features))


def test_rows_of_two_topics_have_more_entropy_than_rows_of_one():
    rng = np.random.default_rng(0)
    words = rng.random((60, 40)) < 0.5
    pure = np.arange(60) % 2 == 0
    half = np.arange(40) < 20
    first = np.arange(60) % 4 < 2
    words &= ~pure[:, None] | (half[None, :] == first[:, None])
    X = sparse.csr_array(words.astype(np.uint8))
    assert topic_auc(X, ~pure, topics=2) > 0.9


def test_a_private_release_has_the_chosen_columns_and_teaches_when_the_budget_is_large():
    pytest.importorskip("opendp")
    task = made(rows=400)
    columns, X, y = release(task, np.arange(300), "laplace", 200.0, 3, seed=0)
    assert columns.tolist() == [0, 1, 2]
    assert X.shape == (300, 3)
    assert len(y) == 300
    assert np.mean(private_aucs(task, "exponential", 200.0, 3, draws=5)) > 0.85


def test_the_figure_is_well_formed_and_marks_what_is_printed():
    draws = {"Adult <a>": {"0.5": [0.5, 0.6], "1": [0.7]}}
    plain = ElementTree.fromstring(private_figure({"Laplace-DP": draws}, {}))
    marked = private_figure({"Laplace-DP": draws}, {("Laplace-DP", "Adult <a>", "1"): 0.51})
    circles = [e for e in ElementTree.fromstring(marked).iter() if e.tag.endswith("circle")]
    assert not [e for e in plain.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2  # the mark and its key


def test_the_census_becomes_the_papers_19_columns(dataset):
    task = TASKS["Adult"](Data(dataset(FILES["Adult"]).parent))
    rows, width = task.X.shape
    positives = int(task.y.sum())
    assert (rows, width, positives, rows - positives) == STATISTICS["Adult"][:4]


@pytest.mark.parametrize("method", PRINTED)
def test_numbers_of_features_on_the_emails_are_those_of_table_6(dataset, method):
    task = TASKS[EMAIL](Data(dataset(FILES[EMAIL]).parent))
    found = tuple(len(chosen(task, k, method).features) for k in KS)
    assert found == SIZES[EMAIL][method]


@long
def test_the_quick_form_makes_a_page_and_goes_on_from_its_pieces(dataset, tmp_path, monkeypatch):
    pytest.importorskip("opendp")
    monkeypatch.setattr("experiments.zhang.QUICK", replace(QUICK, seconds=0.1))
    data = Data(dataset(FILES[ENTITY]).parent)
    told = []
    paper = run(data, Store(tmp_path, lambda name, took: told.append(took)), quick=True)
    assert len(paper.cells) == 5 + 2 * len(METHODS) + 2 + 2
    assert all(cell.why != NO_REASON for cell in paper.cells)
    assert "Figure 1" in page(paper, quick=True)
    assert None in told
    told.clear()
    again = run(data, Store(tmp_path, lambda name, took: told.append(took)), quick=True)
    assert again == paper
    assert set(told) == {0.0}
