"""How well a model trained on the release predicts original rows that it was not trained on."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tamis.errors import InputError, TamisWarning
from tamis.evaluate.curve import Measure
from tamis.evaluate.rule_changes import polars_frame_of, refuse_without_target, target_of
from tamis.rules.ruleset import refuse_other_types, texts
from tamis.rules.tree import OneHot
from tamis.table import Table, bare, only

if TYPE_CHECKING:
    from tamis.learn.holdout import Predictions

FIGURES = ("accuracy", "auc", "f_measure")


@dataclass(frozen=True)
class Scores:
    """How well one model predicts the held-out rows.

    `auc` is the mean over the labels, each against the rest; `None` if the held-out rows
    have only one label. `f_measure` is `None` unless a positive label was named.
    """

    accuracy: float
    auc: float | None
    f_measure: float | None


@dataclass(frozen=True)
class Prediction:
    """A model trained on the original and one trained on the release, tested on the same rows."""

    original: Scores
    released: Scores
    majority: float
    """The accuracy of always predicting the most common label of the original."""
    rows: int
    positive: str | None

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)


def prediction(
    original: Any,
    released: Any,
    test: Any,
    *,
    target: str | None = None,
    model: Any = None,
    positive: str | None = None,
    random_state: int = 0,
    test_as_released: Any = None,
) -> Prediction:
    """Train on the original and on the release, and test both on held-out original rows.

    Parameters
    ----------
    original, released : Table or frame
        Each model uses all features of its own table; identifiers and the sensitive column of
        an original `Table` are not features.
    test : Table or frame
        Original rows that neither model was trained on; an error if they are the rows of a table.
    target : str, optional
        The label column; by default that of the original table.
    model : scikit-learn classifier, optional
        By default a CART tree with the paper's settings. Nominal columns are one-hot encoded;
        missing numbers become medians if the model cannot handle them.
    positive : str, optional
        The label that the F-measure is computed for.
    random_state : int
        For the default model.
    test_as_released : Table or frame, optional
        The test rows in the release's coarser forms, if it has any.

    Examples
    --------
    >>> train = pl.DataFrame({"age": range(20, 60), "ill": ["no"] * 20 + ["yes"] * 20})
    >>> test = pl.DataFrame({"age": [22.5, 55.5], "ill": ["no", "yes"]})
    >>> noisy = train.with_columns(age=pl.col("age").reverse())
    >>> found = prediction(train, noisy, test, target="ill", positive="yes")
    >>> found.original.accuracy, found.released.accuracy
    (1.0, 0.0)
    """
    target = target_of(None, original, target)
    frames = {"original": polars_frame_of(original), "release": polars_frame_of(released)}
    held_out = polars_frame_of(test)
    coarse = None if test_as_released is None else polars_frame_of(test_as_released)
    for name, frame in (*frames.items(), ("test table", held_out)):
        _check(name, frame, target)
    _refuse_same_rows("original", frames["original"], held_out)
    columns = tuple(held_out.columns)
    if coarse is None:  # in coarser forms, held-out people may equal people in the release
        _refuse_same_rows("release", frames["release"], held_out)
        refuse_other_types(columns, frames["original"], frames["release"])
    refuse_other_types(columns, frames["original"], held_out, "the test table")
    truth = texts(held_out[target]).to_numpy()
    if positive is not None and positive not in set(texts(frames["original"][target])):
        raise InputError(f"column {target!r} does not contain the positive label")
    scores = [
        _scores(_predicted(frame, asked, target, original, model, random_state), positive)
        for frame, asked in zip(frames.values(), (held_out, held_out if coarse is None else coarse))
    ]
    majority = bare(texts(frames["original"][target])).drop_nulls().mode().sort()[0]
    share = float((truth == majority).mean())
    return Prediction(scores[0], scores[1], share, held_out.height, positive)


def prediction_measures(test: Any, **options: Any) -> tuple[Measure, ...]:
    """Accuracy, AUC and, with a positive label, F-measure of a model trained on the release.

    Parameters
    ----------
    test : Table or frame
        Held-out original rows.
    **options
        As for `prediction`.
    """
    names = FIGURES if options.get("positive") is not None else FIGURES[:2]
    return tuple(_measure(name, test, options) for name in names)


def _measure(name: str, test: Any, options: dict[str, Any]) -> Measure:
    def score(original: Any, released: Any) -> float:
        value = getattr(prediction(original, released, test, **options).released, name)
        return float("nan") if value is None else float(value)

    return Measure(name, "max", score)


def _check(name: str, frame: pl.DataFrame, target: str) -> None:
    refuse_without_target(name, frame, target)
    if not frame.height or frame[target].null_count():
        raise InputError(f"the {name} needs rows, each with a label in column {target!r}")


def _refuse_same_rows(name: str, frame: pl.DataFrame, test: pl.DataFrame) -> None:
    """Raise or warn if the test rows are training rows: that measures memory, not learning."""
    if set(frame.columns) != set(test.columns):
        return
    test = only(test, frame.columns)
    if frame.schema == test.schema and frame.height == test.height and frame.equals(test):
        raise InputError(f"the test rows are the rows of the {name}; give rows that were held out")
    try:
        old, held = _numbered(frame).unique(), _numbered(test)
        new = held.join(old, on=old.columns, how="anti", nulls_equal=True).height
    except pl.exceptions.PolarsError:  # different types, so different rows
        return
    if new == 0:
        warnings.warn(
            f"every test row is also a row of the {name}; make sure that the test rows were held "
            "out before training",
            TamisWarning,
            stacklevel=3,
        )


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """A copy with columns named by number, since polars reads some names as patterns."""
    return pl.DataFrame([s.alias(str(i)) for i, s in enumerate(frame)])


def _predicted(
    train: pl.DataFrame,
    test: pl.DataFrame,
    target: str,
    original: Any,
    model: Any,
    random_state: int,
) -> Predictions:
    """Predictions of the test rows by a model of `train`."""
    from tamis.learn.holdout import Predictions
    from tamis.learn.models import answers

    known = original.features if isinstance(original, Table) else train.columns
    columns = [c for c in train.columns if c != target and c in known]
    coded = OneHot.of(train, columns)
    if not coded.features:
        raise InputError(
            "nothing can be learnt from a table without features; release at least one column"
        )
    fitted = _model(model, random_state)
    fitted.fit(coded.matrix(train), texts(train[target]).to_numpy())
    predicted, probabilities = answers(fitted, coded.matrix(test))
    return Predictions(
        np.asarray(fitted.classes_), predicted, texts(test[target]).to_numpy(), probabilities
    )


def _model(model: Any, random_state: int) -> Any:
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeClassifier

    from tamis.learn.models import ready_for_missing

    if model is None:
        return DecisionTreeClassifier(
            min_samples_leaf=0.02, max_depth=12, random_state=random_state
        )
    if not hasattr(model, "predict_proba"):
        raise InputError(f"AUC needs a model with predict_proba, got {type(model).__name__}")
    return ready_for_missing(clone(model))


def _scores(predicted: Predictions, positive: str | None) -> Scores:
    from sklearn.metrics import f1_score

    from tamis.evaluate.figure import auc

    f_measure = None
    if positive is not None:
        truth, called = predicted.truth == positive, predicted.predicted == positive
        f_measure = float(f1_score(truth, called, zero_division=0.0))
    area = auc(predicted)
    return Scores(float(predicted.right.mean()), None if area is None else area.value, f_measure)
