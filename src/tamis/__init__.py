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
    "Budget": "tamis.perturb.budget",
    "ContainmentSelector": "tamis.select.containment",
    "DPHistogram": "tamis.perturb.histogram",
    "DPPartition": "tamis.perturb.partition",
    "DPSynthesiser": "tamis.perturb.synthesiser",
    "GaussianNoise": "tamis.perturb.noise",
    "PrivateSelector": "tamis.select.private",
    "RandomFlip": "tamis.perturb.flip",
    "Roles": "tamis.table",
    "Table": "tamis.table",
    "UniformNoise": "tamis.perturb.noise",
    "binarise": "tamis.binary",
    "containment_anonymity": "tamis.risk.containment",
    "entity_anonymity": "tamis.risk.containment",
    "exposure": "tamis.risk.exposure",
    "k_anonymity": "tamis.risk.classes",
    "l_diversity": "tamis.risk.diversity",
    "read_binary": "tamis.read",
    "read_table": "tamis.read",
    "reidentification": "tamis.risk.reidentification",
    "riskiest_columns": "tamis.risk.columns",
    "t_closeness": "tamis.risk.closeness",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
