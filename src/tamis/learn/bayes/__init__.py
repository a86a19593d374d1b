"""Naive Bayes whose log-likelihoods are sums over the features, so that subsets are cheap."""

from tamis.learn.bayes.classifier import AdditiveNaiveBayes

__all__ = ["AdditiveNaiveBayes"]
