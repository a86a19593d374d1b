"""The wrapper that jafer compares with, as Weka documents it: five folds, dealt again.

Its folds come from one generator, which also shuffles the training rows of each fold (`trainCV`),
so that the next deal begins where the fifth training set ended. Dealt five times, as often as the
method of Kohavi and John (1997) may, the search ends at the printed columns in every direction.
"""

import numpy as np
import polars as pl
import pytest

from tamis.learn.models import classifier
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.weka_folds import _gather, _JavaRandom, _shuffled
from tamis.risk.breach import Attack
from tamis.select.breach.search import Trials, best_first

FOLDS, DEALS = 5, 5
PRINTED = ("plas", "pres", "mass", "age")


class Dealt:
    """Five folds, several times, from one generator."""

    def __init__(self, deals):
        self.deals = deals

    def get_n_splits(self, X=None, y=None, groups=None):
        return FOLDS * self.deals

    def split(self, X, y, groups=None):
        classes = np.unique(np.asarray(y), return_inverse=True)[1].tolist()
        random, rows = _JavaRandom(1), len(classes)
        for _ in range(self.deals):
            order, fold_of = _shuffled(rows, random), np.empty(rows, dtype=np.intp)
            _gather(order, classes)
            fold_of[order] = np.arange(rows) % FOLDS
            for fold in range(FOLDS):
                train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
                yield train, test
                _shuffled(len(train), random)


@pytest.fixture(scope="module")
def frame(dataset):
    """What the wrapper sees where pregnancies are hidden."""
    return pl.read_csv(dataset("pima.csv.gz")).drop("preg")


def found_by(frame, deals, way):
    """The best set of a search in one direction."""
    scores = SubsetScores(frame, classifier("c45"), target="class", cv=Dealt(deals))
    found = best_first(Trials(scores, Attack({"c45": scores}), same=True))
    own = [c for c in found if f"best-first, {way}" in c.origin]
    return max(own, key=lambda c: c.performance).features


@pytest.mark.parametrize("way", ["adding", "removing"])
def test_dealt_five_times_it_ends_at_the_printed_columns_in_both_directions(frame, way):
    assert set(found_by(frame, DEALS, way)) == set(PRINTED)


def test_dealt_once_it_does_so_by_adding_alone(frame):
    assert set(found_by(frame, 1, "adding")) == set(PRINTED)
    assert set(found_by(frame, 1, "removing")) == {"plas", "pres", "mass"}
