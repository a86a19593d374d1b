"""C4.5 as J48 grows and prunes it: a classifier that takes text, numbers and missing values."""

from tamis.learn.c45.classifier import C45Classifier

__all__ = ["C45Classifier"]
