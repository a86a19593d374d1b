"""Naive Bayes whose log-likelihoods are sums over the features, so that subsets are cheap."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.learn.bayes.classifier import AdditiveNaiveBayes as AdditiveNaiveBayes

__all__ = ["AdditiveNaiveBayes"]


def __getattr__(name: str) -> Any:
    """The estimator on first use: the model itself needs no scikit-learn, which is slow to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tamis.learn.bayes import classifier

    return getattr(classifier, name)
