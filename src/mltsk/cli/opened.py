"""Models that commands are given as files, and what they answer."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..io.archive import read_info
from ..io.info import ModelInfo
from ..io.stored import StoredModel, stored_model

Estimator = Any  # a classifier of this package, or a pipeline that ends with one


def open_model(path: str) -> tuple[Estimator, ModelInfo]:
    """A classifier, and what its file says about it."""
    from ..io import load

    model = load(path)
    info = read_info(path)
    if not info.kinds:
        info = replace(info, kinds=ModelInfo.of(model).kinds)
    return model, info


def classifier_with_rules(model: Estimator, path: str) -> Estimator:
    """The classifier whose rules a model has: the model, or the end of a pipeline."""
    from ..pipelines import pipeline_classifier

    classifier = pipeline_classifier(model)
    if not hasattr(classifier, "rules_"):
        name = type(classifier).__name__
        raise InputError(
            f"{path} holds a {name}, which has no rules that people could read."
        )
    return classifier


def open_to_read(path: str) -> tuple[StoredModel | Estimator, ModelInfo]:
    """A model with rules, read without scikit-learn where its file allows it."""
    stored = stored_model(path)
    if stored is not None:
        return stored, read_info(path)
    model, info = open_model(path)
    return classifier_with_rules(model, path), info


def has_steps(model: Estimator) -> bool:
    """Whether a model is a pipeline that changes features before its classifier."""
    from ..pipelines import taken_apart

    steps, _ = taken_apart(model)
    return bool(steps)


@contextmanager
def matched_names() -> Iterator[None]:
    """No warning about names: `samples` has matched columns, and gives an array."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "X does not have valid feature names", UserWarning
        )
        yield


def answers(model: Estimator, X: object, method: str) -> NDArray[Any]:
    """What a method of a model answers to samples."""
    with matched_names():
        return getattr(model, method)(X)


def scores_and_predictions(
    model: Estimator, X: object
) -> tuple[FloatArray, NDArray[Any]]:
    """Scores (n, L) on the scale of the thresholds, and what the model predicts."""
    from ..pipelines import taken_apart

    distances = answers(model, X, "decision_function")
    _, classifier = taken_apart(model)
    thresholds = 0.0
    if hasattr(classifier, "system_"):
        thresholds = classifier.system_.thresholds
    scores = distances.reshape(len(distances), -1) + thresholds
    return scores, answers(model, X, "predict")


def has_probabilities(model: Estimator) -> bool:
    """Whether a model says probabilities of labels: one of the paper has scores."""
    from ..pipelines import taken_apart

    _, classifier = taken_apart(model)
    if classifier.multilabel_ and hasattr(classifier, "system_"):
        return bool(classifier.system_.has_log_odds)
    return hasattr(model, "predict_proba")
