"""tamis: keep the columns that teach, hold back those that tell.

::

    read -> Table + Roles -> risk -> propose (select | perturb | dp) -> evaluate -> decide
         -> publish -> verify

The folders of this package are the steps of that flow, and each imports only those before it;
`consider` goes through it from a table to a decision, `publish` and `verify` do the rest.

Public are the names in ``__all__``, the modules `tamis.datasets` and `tamis.errors`, and
`tamis.dp.ledger.Ledger`. Everything else is private: it may move or change without notice. The
names are imported when they are first used, so that ``import tamis`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "AdditiveNaiveBayes": "tamis.learn.bayes",
    "BinaryTable": "tamis.binary.records",
    "BreachSelector": "tamis.select.breach",
    "Budget": "tamis.dp.budget",
    "C45Classifier": "tamis.learn.c45",
    "ContainmentSelector": "tamis.select.containment",
    "DPHistogram": "tamis.dp.histogram",
    "DPPartition": "tamis.dp.partition",
    "DPSynthesiser": "tamis.dp.synthesiser",
    "Folds": "tamis.learn.cv",
    "GaussianNoise": "tamis.perturb.noise",
    "Measure": "tamis.evaluate.curve",
    "Outcome": "tamis.flow",
    "PrivateSelector": "tamis.dp.selector",
    "RandomFlip": "tamis.perturb.flip",
    "Release": "tamis.release",
    "Roles": "tamis.table",
    "Rule": "tamis.rules",
    "RuleSet": "tamis.rules",
    "Settings": "tamis.flow",
    "SubsetScores": "tamis.learn.subset_scores",
    "Table": "tamis.table",
    "UniformNoise": "tamis.perturb.noise",
    "binarise": "tamis.binary.records",
    "breach_increase": "tamis.risk.breach",
    "consider": "tamis.flow",
    "containment_anonymity": "tamis.risk.containment",
    "corrected_t_test": "tamis.learn.cv",
    "correlations": "tamis.evaluate.curve",
    "entity_anonymity": "tamis.risk.containment",
    "evaluation": "tamis.rank.evaluation",
    "exposure": "tamis.risk.audit",
    "fold_p_value": "tamis.learn.cv",
    "holm": "tamis.learn.cv",
    "k_anonymity": "tamis.risk.classes",
    "l_diversity": "tamis.risk.diversity",
    "mine_rules": "tamis.rules.mine",
    "paired_t_test": "tamis.learn.cv",
    "pareto_front": "tamis.rank.evaluation",
    "prediction": "tamis.evaluate.prediction",
    "publish": "tamis.publish.bundle",
    "read_binary": "tamis.read",
    "read_table": "tamis.read",
    "reidentification": "tamis.risk.classes",
    "retention": "tamis.evaluate.retention",
    "retention_curve": "tamis.evaluate.curve",
    "riskiest_columns": "tamis.risk.audit",
    "t_closeness": "tamis.risk.diversity",
    "verify": "tamis.publish.verify",
}
_MODULES = {"separation": "tamis.evaluate.separation"}

__all__ = sorted([*_HOME, *_MODULES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
