"""tamis: keep the columns that teach, hold back those that tell.

::

    read -> Table + Roles -> risk -> propose (select | perturb | dp) -> evaluate -> decide
         -> publish -> verify

The folders of this package are the steps of that flow, and each imports only those before it.
`consider` goes from a table to a decision; `publish` and `verify` do the rest.

The names in ``__all__``, the modules `tamis.datasets` and `tamis.errors`, and
`tamis.dp.ledger.Ledger` are public. Everything else is private and may change without notice. Names
are imported on first use, so that ``import tamis`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that type checkers see what is imported on first use
    from tamis.attack.run import attack_release as attack_release
    from tamis.binary.records import BinaryTable as BinaryTable
    from tamis.binary.records import binarise as binarise
    from tamis.coarsen.coarsener import Coarsener as Coarsener
    from tamis.coarsen.ladder import Ladder as Ladder
    from tamis.coarsen.ladder_sources import ladders_of as ladders_of
    from tamis.coarsen.ladder_sources import read_ladder as read_ladder
    from tamis.coarsen.search import coarsened as coarsened
    from tamis.dp.budget import Budget as Budget
    from tamis.dp.histogram import DPHistogram as DPHistogram
    from tamis.dp.histogram import DPMarginals as DPMarginals
    from tamis.dp.histogram import DPPartition as DPPartition
    from tamis.dp.selector import PrivateSelector as PrivateSelector
    from tamis.dp.synthesiser import DPSynthesiser as DPSynthesiser
    from tamis.evaluate import separation as separation
    from tamis.evaluate.curve import Measure as Measure
    from tamis.evaluate.curve import correlations as correlations
    from tamis.evaluate.curve import retention_curve as retention_curve
    from tamis.evaluate.prediction import prediction as prediction
    from tamis.evaluate.retention import retention as retention
    from tamis.evaluate.rule_measure import CountedRule as CountedRule
    from tamis.evaluate.rule_measure import RuleMeasure as RuleMeasure
    from tamis.flow import consider as consider
    from tamis.judgement.judgement import judge as judge
    from tamis.learn.bayes import AdditiveNaiveBayes as AdditiveNaiveBayes
    from tamis.learn.c45 import C45Classifier as C45Classifier
    from tamis.learn.cv import Folds as Folds
    from tamis.learn.cv import corrected_t_test as corrected_t_test
    from tamis.learn.cv import fold_p_value as fold_p_value
    from tamis.learn.cv import holm as holm
    from tamis.learn.cv import paired_t_test as paired_t_test
    from tamis.learn.subset_scores import SubsetScores as SubsetScores
    from tamis.learn.weka_folds import WekaFolds as WekaFolds
    from tamis.outcome import Outcome as Outcome
    from tamis.perturb.flip import RandomFlip as RandomFlip
    from tamis.perturb.microaggregation import Microaggregation as Microaggregation
    from tamis.perturb.microaggregation import RankSwap as RankSwap
    from tamis.perturb.noise import GaussianNoise as GaussianNoise
    from tamis.perturb.noise import Pram as Pram
    from tamis.perturb.noise import UniformNoise as UniformNoise
    from tamis.perturb.shifted_dates import ShiftedDates as ShiftedDates
    from tamis.perturb.suppression import LocalSuppression as LocalSuppression
    from tamis.publication.bundle import publish as publish
    from tamis.rank.evaluation import evaluation as evaluation
    from tamis.rank.evaluation import pareto_front as pareto_front
    from tamis.read import read_binary as read_binary
    from tamis.read import read_table as read_table
    from tamis.read.harbour import safe_harbour as safe_harbour
    from tamis.release import Release as Release
    from tamis.require import requirements as requirements
    from tamis.require.attacker import Attacker as Attacker
    from tamis.risk.anonymity import k_anonymity as k_anonymity
    from tamis.risk.anonymity import reidentification as reidentification
    from tamis.risk.audit import exposure as exposure
    from tamis.risk.audit import riskiest_columns as riskiest_columns
    from tamis.risk.breach import breach_increase as breach_increase
    from tamis.risk.containment import containment_anonymity as containment_anonymity
    from tamis.risk.containment import containment_group as containment_group
    from tamis.risk.containment import entity_anonymity as entity_anonymity
    from tamis.risk.diversity import l_diversity as l_diversity
    from tamis.risk.diversity import t_closeness as t_closeness
    from tamis.risk.population import population_risk as population_risk
    from tamis.risk.suda import special_uniques as special_uniques
    from tamis.rules import Rule as Rule
    from tamis.rules import RuleSet as RuleSet
    from tamis.rules.imported import read_rules as read_rules
    from tamis.rules.tree import mine_rules as mine_rules
    from tamis.select.breach import BreachSelector as BreachSelector
    from tamis.select.containment import ContainmentSelector as ContainmentSelector
    from tamis.settings import Settings as Settings
    from tamis.table import Roles as Roles
    from tamis.table import Table as Table
    from tamis.verification.verify import verify as verify

__version__ = "0.2.0"

_HOME = {
    "AdditiveNaiveBayes": "tamis.learn.bayes",
    "Attacker": "tamis.require.attacker",
    "BinaryTable": "tamis.binary.records",
    "BreachSelector": "tamis.select.breach",
    "Budget": "tamis.dp.budget",
    "C45Classifier": "tamis.learn.c45",
    "Coarsener": "tamis.coarsen.coarsener",
    "CountedRule": "tamis.evaluate.rule_measure",
    "ContainmentSelector": "tamis.select.containment",
    "DPHistogram": "tamis.dp.histogram",
    "DPMarginals": "tamis.dp.histogram",
    "DPPartition": "tamis.dp.histogram",
    "DPSynthesiser": "tamis.dp.synthesiser",
    "Folds": "tamis.learn.cv",
    "GaussianNoise": "tamis.perturb.noise",
    "Ladder": "tamis.coarsen.ladder",
    "LocalSuppression": "tamis.perturb.suppression",
    "Measure": "tamis.evaluate.curve",
    "Microaggregation": "tamis.perturb.microaggregation",
    "Outcome": "tamis.flow",
    "Pram": "tamis.perturb.noise",
    "PrivateSelector": "tamis.dp.selector",
    "RandomFlip": "tamis.perturb.flip",
    "RankSwap": "tamis.perturb.microaggregation",
    "Release": "tamis.release",
    "Roles": "tamis.table",
    "Rule": "tamis.rules",
    "RuleMeasure": "tamis.evaluate.rule_measure",
    "RuleSet": "tamis.rules",
    "Settings": "tamis.settings",
    "ShiftedDates": "tamis.perturb.shifted_dates",
    "SubsetScores": "tamis.learn.subset_scores",
    "Table": "tamis.table",
    "UniformNoise": "tamis.perturb.noise",
    "WekaFolds": "tamis.learn.weka_folds",
    "attack_release": "tamis.attack.run",
    "binarise": "tamis.binary.records",
    "breach_increase": "tamis.risk.breach",
    "coarsened": "tamis.coarsen.search",
    "consider": "tamis.flow",
    "containment_anonymity": "tamis.risk.containment",
    "containment_group": "tamis.risk.containment",
    "corrected_t_test": "tamis.learn.cv",
    "correlations": "tamis.evaluate.curve",
    "entity_anonymity": "tamis.risk.containment",
    "evaluation": "tamis.rank.evaluation",
    "exposure": "tamis.risk.audit",
    "fold_p_value": "tamis.learn.cv",
    "holm": "tamis.learn.cv",
    "judge": "tamis.judgement.judgement",
    "k_anonymity": "tamis.risk.anonymity",
    "l_diversity": "tamis.risk.diversity",
    "ladders_of": "tamis.coarsen.ladder_sources",
    "mine_rules": "tamis.rules.tree",
    "paired_t_test": "tamis.learn.cv",
    "pareto_front": "tamis.rank.evaluation",
    "population_risk": "tamis.risk.population",
    "prediction": "tamis.evaluate.prediction",
    "publish": "tamis.publication.bundle",
    "read_binary": "tamis.read",
    "read_ladder": "tamis.coarsen.ladder_sources",
    "read_rules": "tamis.rules.imported",
    "read_table": "tamis.read",
    "reidentification": "tamis.risk.anonymity",
    "requirements": "tamis.require",
    "retention": "tamis.evaluate.retention",
    "retention_curve": "tamis.evaluate.curve",
    "riskiest_columns": "tamis.risk.audit",
    "safe_harbour": "tamis.read.harbour",
    "special_uniques": "tamis.risk.suda",
    "t_closeness": "tamis.risk.diversity",
    "verify": "tamis.verification.verify",
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
