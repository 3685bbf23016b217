"""Pipelines of scikit-learn that end in a classifier of this package.

Its features are called by the names that the steps before it give them.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from .core.arrays import FloatArray
from .exceptions import InputError
from .frames import is_polars
from .rows.read import Estimator, TableLike
from .system import FuzzySystem
from .thresholds import thresholds_at

Steps: TypeAlias = list[tuple[str, Estimator]]

INSTEAD_OF_STEPS = (
    "fit MLTSKClassifier on the table itself, which needs no imputer, encoder or "
    "scaler, or pass pipe[-1], which"
)


def pipeline_classifier(model: Estimator) -> Estimator:
    """The classifier at the end of a fitted pipeline, with named features.

    It is a copy that takes what the steps before it return (`pipeline_features`). Its
    features have the names that these steps give them, and its rules are in those
    units, such as the standard deviations of a StandardScaler. Prefixes of a
    ColumnTransformer ("num__age") are left out where names stay different. A model that
    is not a pipeline is returned as it is.

    Examples
    --------
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> X, Y = make_multilabel_rules(n_samples=60, random_state=0).frames()
    >>> X = X.rename(columns={"x1": "age"})
    >>> pipe = make_pipeline(SimpleImputer(), MLTSKClassifier(n_rules=2)).fit(X, Y)
    >>> pipeline_classifier(pipe).feature_names_in_[:2].tolist()
    ['age', 'x2']
    """
    steps, classifier = taken_apart(model)
    if not steps:
        return classifier
    return with_feature_names(classifier, _output_names(steps))


def with_feature_names(classifier: Estimator, names: Sequence[str]) -> Estimator:
    """A copy of a fitted classifier whose features have other names."""
    renamed = copy.copy(classifier)
    vars(renamed).update(vars(classifier))  # a copy has no record of the fit
    renamed.feature_names_in_ = np.array(names, dtype=object)
    system = getattr(classifier, "system_", None)
    if system is None:
        return renamed
    renamed.system_ = system.with_feature_names(names)
    record = getattr(classifier, "fit_record_", None)
    if record is not None:  # shorter models have these names, too
        renamed.fit_record_ = record.with_feature_names(names)
    return renamed


def with_system(classifier: Estimator, system: FuzzySystem) -> Estimator:
    """A copy of a fitted classifier that predicts by another system."""
    other = copy.copy(classifier)
    vars(other).update(vars(classifier))  # a copy has no record of the fit
    other.system_ = system
    return other


def with_thresholds(classifier: Estimator, thresholds: FloatArray) -> Estimator:
    """A copy of a fitted classifier that gives labels from these probabilities on.

    Its shorter models have the same thresholds (n_labels,).
    """
    system = replace(classifier.system_, thresholds=thresholds_at(thresholds))
    fixed = with_system(classifier, system)
    return fixed.set_params(threshold=thresholds.tolist())


def pipeline_features(model: Estimator, X: TableLike) -> TableLike:
    """Samples for the classifier that `pipeline_classifier` returns.

    They are what the steps before the classifier make of X.
    """
    steps, _ = taken_apart(model)
    if not steps:
        return X
    names = _output_names(steps)
    rows = X
    for _, step in steps:
        rows = step.transform(rows)
    if hasattr(rows, "columns"):
        rows = copy.copy(rows)  # a step may return what it was given
        rows.columns = names
        return rows
    if not isinstance(rows, np.ndarray):
        return rows
    if hasattr(X, "iloc") and X.ndim == 2:
        return type(X)(rows, index=X.index, columns=names)
    if is_polars(X) and hasattr(X, "columns"):
        return type(X)(rows, schema=names)
    return rows


def taken_apart(model: Estimator) -> tuple[Steps, Estimator]:
    """The steps of a pipeline before its last that change something, and its last.

    Anything else has no steps and is the last itself.
    """
    steps: Steps = []
    while isinstance(model, Pipeline):
        for name, step in model.steps[:-1]:
            if step not in (None, "passthrough"):
                steps.append((name, step))
        _, model = model.steps[-1]
    return steps, model


def without_steps(model: Estimator, done: str) -> Estimator:
    """The classifier of a pipeline that has no other steps, or the model itself.

    Other steps, which cannot be ``done``, such as "written as ONNX", are refused.
    """
    steps, classifier = taken_apart(model)
    if steps:
        raise InputError(
            f"{_described(*steps[0])} cannot be {done}: "
            f"{INSTEAD_OF_STEPS} takes what the steps return."
        )
    return classifier


def _described(name: str, step: Estimator) -> str:
    return f"Step {name!r} ({type(step).__name__})"


def _output_names(steps: Steps) -> list[str]:
    """What the last of these steps calls the columns that it returns.

    Prefixes are left out if names stay different without them.
    """
    names = None
    prefixes: set[str] = set()
    for name, step in steps:
        try:
            names = step.get_feature_names_out(names)
        except NotFittedError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            why = str(error).strip().split("\n")[0].rstrip(".")
            raise InputError(
                f"{_described(name, step)} does not name the columns that it returns "
                f"({why}): {INSTEAD_OF_STEPS} calls them x0, x1, …."
            ) from None
        prefixes.update(_prefixes(step))
    full = [] if names is None else [str(name) for name in names]
    bare = [_without_prefixes(name, prefixes) for name in full]
    return bare if len(set(bare)) == len(bare) else full


def _prefixes(step: Estimator) -> tuple[str, ...]:
    """The names of transformers that a step puts before the names of its columns."""
    if getattr(step, "verbose_feature_names_out", None) is not True:
        return ()
    if hasattr(step, "named_transformers_"):
        return tuple(step.named_transformers_)
    return tuple(getattr(step, "named_transformers", ()))


def _without_prefixes(name: str, prefixes: set[str]) -> str:
    """A name without the prefixes at its beginning, such as "age" of "num__age"."""
    prefix, _, rest = name.partition("__")
    if prefix in prefixes and rest:
        return _without_prefixes(rest, prefixes)
    return name
