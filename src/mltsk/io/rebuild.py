"""From plain attributes to a model that works: the one way for files and plain data.

1. Parameters that are newer than the file get their defaults.
2. The attributes are checked, as plain ones.
3. The classifier gets its system and its stream back.
4. It must score rows of zeros.
"""

import inspect

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..classifier import MLTSKClassifier
from ..fitted import FittedAttributes
from ..pipelines import taken_apart
from .checks import (
    check_parts_of_system,
    check_parts_without_system,
    check_scores,
    check_values,
)
from .requirements import require
from .state import from_attributes, restored
from .system_state import Attributes


def rebuilt_classifier(
    kind: type[BaseEstimator], attributes: Attributes
) -> BaseEstimator:
    """The classifier of a class with plain attributes.

    ValueError with a sentence if it would not work.
    """
    attributes = with_defaults(kind, attributes)
    check_attributes(kind, attributes)
    model = restored(kind, attributes)
    n_labels = len(model.label_names_)
    if issubclass(kind, FittedAttributes):
        system = model.system_
        check_scores(system.scores, len(system.feature_names), n_labels)
    else:
        check_scores(model.decision_function, model.n_features_in_, n_labels)
    return model


def check_attributes(kind: type[BaseEstimator], attributes: Attributes) -> None:
    """Refuse plain attributes of a classifier that would fail in a prediction."""
    check_safe(kind, attributes)
    if issubclass(kind, FittedAttributes):
        is_calibrated = issubclass(kind, MLTSKClassifier)
        check_parts_of_system(attributes, is_calibrated=is_calibrated)
    else:
        check_parts_without_system(attributes)


def check_safe(kind: type[BaseEstimator], attributes: Attributes) -> None:
    """Refuse data in the place of a method, and values that are damaged."""
    for name in attributes:
        is_method = callable(getattr(kind, name, None))
        require(not is_method, f"it puts data in the place of {name}")
    check_values(attributes)


def rebuilt(model: BaseEstimator, named: Attributes) -> BaseEstimator:
    """The model that was written, from estimators that hold plain attributes.

    ``named`` are attributes that the file names next to the model, for a classifier
    that does not have them itself.
    """
    whole = _rebuilt(model, named)
    steps, last = taken_apart(whole)
    # Steps of columns with names may want words in them; those of texts have no
    # columns.
    takes_numbers = hasattr(whole, "n_features_in_")
    if steps and takes_numbers and not hasattr(whole, "feature_names_in_"):
        n_labels = len(last.label_names_)
        check_scores(whole.decision_function, whole.n_features_in_, n_labels)
    return whole


def _rebuilt(model: BaseEstimator, named: Attributes) -> BaseEstimator:
    """A classifier, or a pipeline that ends in one."""
    if isinstance(model, Pipeline):
        return _rebuilt_pipeline(model, named)
    kind = type(model)
    require(
        kind.__module__.startswith("mltsk."),
        f"it ends in a {kind.__name__}, which is no classifier of mltsk",
    )
    attributes = vars(model)
    if issubclass(kind, FittedAttributes):
        attributes = {**named, **attributes}
    return rebuilt_classifier(kind, attributes)


def _rebuilt_pipeline(pipeline: Pipeline, named: Attributes) -> Pipeline:
    """A pipeline of fitted transformers and a classifier."""
    kind = type(pipeline)
    check_safe(kind, vars(pipeline))
    steps = [(name, _rebuilt_step(step)) for name, step in pipeline.steps[:-1]]
    name, last = pipeline.steps[-1]
    steps.append((name, _rebuilt(last, named)))
    attributes = with_defaults(kind, vars(pipeline))
    return from_attributes(kind, {**attributes, "steps": steps})


def _rebuilt_step(step: BaseEstimator | str | None) -> BaseEstimator | str | None:
    """A fitted transformer; parameters newer than the file get their defaults."""
    if step in (None, "passthrough"):
        return step
    check_is_fitted(step)
    check_safe(type(step), vars(step))
    return from_attributes(type(step), with_defaults(type(step), vars(step)))


def with_defaults(kind: type[BaseEstimator], attributes: Attributes) -> Attributes:
    """Attributes, and defaults of the parameters of a class that are not among them."""
    complete = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.default is not parameter.empty:
            complete[name] = parameter.default
    return {**complete, **attributes}
