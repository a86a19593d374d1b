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
LEAD = (
    "On folds dealt as Weka deals them, the tables of the running example are reproduced to the "
    "printed digit, and so are most choices on Adult. Diabetes and Liver Patients are not "
    "reproduced."
)


def run(data: Data, store: Store, quick: bool) -> Paper:
    """Everything the paper prints; `quick` keeps to the Pima table."""
    sections = pima.sections(data, store)
    if not quick:
        sections += larger.sections(data, store)
    sections.append(beyond.section(data, store, 2 if quick else 20, quick))
    return Paper("jafer", TITLE, LEAD, sections)
