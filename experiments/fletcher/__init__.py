"""Fletcher and Islam: what a release keeps of the rules of the original."""

from __future__ import annotations

from experiments.data import Data
from experiments.fletcher import adult_rules, agreement, partition, retained, worked
from experiments.fletcher.tables import BINARY, SOURCES
from experiments.paper import Paper
from experiments.store import Store

TITLE = (
    "Fletcher and Islam, Measuring rule retention in anonymized data - when one measure is not "
    "enough"
)
LEAD = (
    "The measures behave as printed on all datasets. The printed claim that they hardly agree with "
    "the accuracy of models comes from pooling: within a dataset they agree closely."
)


def run(data: Data, store: Store, quick: bool) -> Paper:
    """All that the paper prints; `quick` takes two small datasets and one draw."""
    if quick:
        few = ("Banknotes", "Credit")
        sections = [
            worked.section(),
            retained.section(data, store, few, folds=1, draws=1),
            agreement.section(data, store, few, folds=1, draws=1),
        ]
    else:
        sections = [
            worked.section(),
            adult_rules.section(data, store, draws=10),
            retained.section(data, store, tuple(SOURCES), folds=3, draws=3),
            agreement.section(data, store, BINARY, folds=2, draws=2),
            partition.section(data, store, draws=10),
        ]
    return Paper("fletcher", TITLE, LEAD, sections)
