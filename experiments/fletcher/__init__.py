"""Fletcher and Islam: what a release keeps of the rules of the original."""

from __future__ import annotations

from experiments.data import Data
from experiments.fletcher import adult_rules, agreement, partition, retained, worked
from experiments.fletcher.curves import Effort
from experiments.fletcher.tables import BINARY, SOURCES
from experiments.paper import Paper
from experiments.store import Store

TITLE = (
    "Fletcher and Islam, Measuring rule retention in anonymized data - when one measure is not "
    "enough"
)
LEAD = (
    "The measures rise with noise as printed. Within a dataset the three rule measures correlate "
    "almost perfectly, and clearly with model accuracy; pooled over datasets, as printed, "
    "both look weaker than they are."
)


def run(data: Data, store: Store, quick: bool) -> Paper:
    """Everything the paper prints; `quick` takes two small datasets and one draw."""
    if quick:
        few, effort = ("Banknotes", "Credit"), Effort(1, 1, (0.0, 0.1, 0.2, 0.3))
        sections = [
            worked.section(),
            retained.section(data, store, few, effort),
            agreement.section(data, store, few, effort),
        ]
    else:
        sections = [
            worked.section(),
            adult_rules.section(data, store, draws=10),
            retained.section(data, store, tuple(SOURCES), Effort(10, 10)),
            agreement.section(data, store, BINARY, Effort(10, 1)),
            partition.section(data, store, draws=10),
        ]
    return Paper("fletcher", TITLE, LEAD, sections)
