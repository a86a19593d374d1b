"""Jafer, Matwin and Sokolova (2017): breach-aware feature selection and E(S)."""

from __future__ import annotations

from experiments.data import Data
from experiments.jafer import beyond, larger, pima
from experiments.paper import Paper
from experiments.store import Store

TITLE = (
    "Jafer, Matwin and Sokolova (2017), A multi-dimensional privacy-aware evaluation function "
    "in automatic feature selection"
)
LEAD = {
    True: "On the folds that Weka deals, the tables of the running example come out to the printed "
    "digit, and most choices on Adult. Diabetes and Liver Patients do not come out.",
    False: "On the folds that Weka dealt, the tables of the running example that have one target "
    "come out to the printed digit. The rest rests on folds of our own: install Weka (Debian's "
    "package of that name) to have its deal for the other tables too.",
}
"""By whether Weka is there to deal folds."""


def run(data: Data, store: Store, quick: bool) -> Paper:
    """All that the paper prints; `quick` keeps to the Pima table."""
    sections = pima.sections(data, store)
    if not quick:
        sections += larger.sections(data, store)
    sections.append(beyond.section(data, store, 2 if quick else 20, quick))
    return Paper("jafer", TITLE, LEAD[data.dealer.program is not None], sections)
