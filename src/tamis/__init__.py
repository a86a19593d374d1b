"""tamis: keep the columns that teach, hold back those that tell.

::

    read -> Table + Roles -> risk -> propose (select | perturb) -> evaluate -> choose
         -> publish -> verify

The folders of this package are the steps of that flow. The public names below are imported
when they are first used, so that ``import tamis`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "AdditiveNaiveBayes": "tamis.learn.bayes",
    "Folds": "tamis.learn.folds",
    "SubsetScores": "tamis.learn.subset_scores",
    "corrected_t_test": "tamis.learn.significance",
    "fold_p_value": "tamis.learn.significance",
    "holm": "tamis.learn.significance",
    "paired_t_test": "tamis.learn.significance",
    "BinaryTable": "tamis.binary",
    "ContainmentSelector": "tamis.select.containment",
    "Outcome": "tamis.flow",
    "Release": "tamis.release",
    "Roles": "tamis.table",
    "Settings": "tamis.flow",
    "Table": "tamis.table",
    "binarise": "tamis.binary",
    "consider": "tamis.flow",
    "containment_anonymity": "tamis.risk.containment",
    "entity_anonymity": "tamis.risk.containment",
    "exposure": "tamis.risk.exposure",
    "k_anonymity": "tamis.risk.classes",
    "l_diversity": "tamis.risk.diversity",
    "publish": "tamis.publish.bundle",
    "read_binary": "tamis.read",
    "read_table": "tamis.read",
    "reidentification": "tamis.risk.reidentification",
    "riskiest_columns": "tamis.risk.columns",
    "t_closeness": "tamis.risk.closeness",
    "verify": "tamis.publish.verify",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
