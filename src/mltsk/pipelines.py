"""Pipelines of scikit-learn that end in a classifier of this package: its features by the names that the steps give."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from .columns import is_polars
from .exceptions import InputError

INSTEAD = "fit MLTSKClassifier on the table itself, which needs no imputer, encoder or scaler, or pass pipe[-1], which"


def pipeline_classifier(model: Any) -> Any:
    """The classifier at the end of a fitted pipeline, with features named as the steps before it name them.

    It is a copy that takes what these steps return (`pipeline_features`), and its rules are in those units, such as the
    standard deviations of a StandardScaler. Prefixes of a ColumnTransformer ("num__age") are left out where names
    stay different. A model that is not a pipeline is returned as it is.

    Examples
    --------
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> X, Y = make_multilabel_rules(n_samples=60, random_state=0).frames()
    >>> pipe = make_pipeline(SimpleImputer(), MLTSKClassifier(n_rules=2)).fit(X.rename(columns={"x1": "age"}), Y)
    >>> pipeline_classifier(pipe).feature_names_in_[:2].tolist()
    ['age', 'x2']
    """
    steps, classifier = taken_apart(model)
    if not steps:
        return classifier
    return with_feature_names(classifier, _names(steps))


def with_feature_names(classifier: Any, names: Sequence[str]) -> Any:
    """A copy of a fitted classifier whose features have other names."""
    renamed = copy.copy(classifier)
    vars(renamed).update(vars(classifier))  # a copy has no record of the fit
    renamed.feature_names_in_ = np.array(names, dtype=object)
    system = getattr(classifier, "system_", None)
    if system is None:
        return renamed
    columns = system.columns
    column_names = tuple(names)
    if columns is not None:
        columns = replace(columns, names=column_names)
        column_names = columns.part_names
    renamed.system_ = replace(system, feature_names=column_names, columns=columns)
    return renamed


def pipeline_features(model: Any, X: Any) -> Any:
    """Samples for the classifier that `pipeline_classifier` returns: what the steps before it make of X."""
    steps, rows = taken_apart(model)[0], X
    if not steps:
        return X
    names = _names(steps)
    for _, step in steps:
        rows = step.transform(rows)
    if hasattr(rows, "columns"):
        rows = copy.copy(rows)  # a step may return what it was given
        rows.columns = names
    elif isinstance(rows, np.ndarray) and hasattr(X, "iloc") and X.ndim == 2:
        rows = type(X)(rows, index=X.index, columns=names)
    elif isinstance(rows, np.ndarray) and is_polars(X) and hasattr(X, "columns"):
        rows = type(X)(rows, schema=names)
    return rows


def taken_apart(model: Any) -> tuple[list[tuple[str, Any]], Any]:
    """(steps of a pipeline before the last that change something, its last step); ([], the model) of anything else."""
    steps: list[tuple[str, Any]] = []
    while isinstance(model, Pipeline):
        steps += [
            (name, step)
            for name, step in model.steps[:-1]
            if step not in (None, "passthrough")
        ]
        model = model.steps[-1][1]
    return steps, model


def without_steps(model: Any, done: str) -> Any:
    """The classifier of a pipeline of nothing else, or the model itself; steps that cannot be ``done`` are refused."""
    steps, classifier = taken_apart(model)
    if steps:
        name, step = steps[0]
        refused = f"Step {name!r} ({type(step).__name__}) cannot be {done}"
        raise InputError(f"{refused}: {INSTEAD} takes what the steps return.")
    return classifier


def _names(steps: list[tuple[str, Any]]) -> list[str]:
    """What the last of these steps calls the columns that it returns."""
    names, prefixes = None, set[str]()
    for name, step in steps:
        try:
            names = step.get_feature_names_out(names)
        except NotFittedError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            why = str(error).strip().split("\n")[0].rstrip(".")
            unnamed = f"Step {name!r} ({type(step).__name__}) does not name the columns that it returns ({why})"
            raise InputError(f"{unnamed}: {INSTEAD} calls them x0, x1, ….") from None
        if getattr(step, "verbose_feature_names_out", None) is True:
            prefixes |= {
                *getattr(
                    step, "named_transformers_", getattr(step, "named_transformers", ())
                )
            }
    full, bare = [str(name) for name in ([] if names is None else names)], []
    for name in full:
        while (parts := name.partition("__"))[0] in prefixes and parts[2]:
            name = parts[2]
        bare.append(name)
    return bare if len(set(bare)) == len(bare) else full
