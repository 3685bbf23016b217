"""A model as plain data for JSON: names, numbers and lists, nothing that would be run.

A model is its ``kind``, its ``parameters`` and, under their documented names, its
``attributes``, with values as `mltsk.io.plain_values` writes them. What it knows of its
training rows stays out: leave-one-out scores, sums over rows, and a stream to go on
with. Ramps and lines (``terms_``) and conditions of pairs of features (``pairs_``) name
their columns, such as "age" and "smoker = daily".
"""

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import mltsk

from .. import __version__
from ..exceptions import InputError
from ..fitted import FittedAttributes
from ..pipelines import without_steps
from .archive import advice
from .named_columns import with_positions
from .plain_values import NAME, VERSION, plain_model, read_value
from .rebuild import rebuilt_classifier
from .requirements import refusing
from .state import plain_attributes
from .system_state import Json


def to_dict(model: BaseEstimator) -> dict[str, Json]:
    """A fitted model as plain data, ready for JSON.

    `from_dict` makes a model of it that gives exactly the same scores, probabilities,
    labels and rules.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK

    Examples
    --------
    >>> import json
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> text = json.dumps(to_dict(clf), allow_nan=False)
    >>> scores = from_dict(json.loads(text)).decision_function(data.X)
    >>> bool((scores == clf.decision_function(data.X)).all())
    True
    """
    model = without_steps(model, "plain data")
    kind = type(model).__name__
    if _public_class(kind) is not type(model):
        raise InputError(f"A {kind} has no plain form: pass a fitted MLTSKClassifier.")
    check_fitted(model, "to_dict")
    data = plain_model(
        kind,
        plain_attributes(model),
        parameters=model.get_params(deep=False),
        names=model.system_.feature_names,
    )
    # what `from_dict` would refuse is refused now, while the model is still there
    with refusing(f"This {kind} has no plain form"):
        _model(data)
    return data


def from_dict(data: Mapping[str, Json]) -> Any:
    """The model of what `to_dict` returned, for instance of ``json.load`` of a file.

    Data of anything else, of a version that is not known, or whose parts do not fit
    together are refused with an `InputError`.
    """
    if not isinstance(data, Mapping) or data.get("format") != NAME:
        raise InputError(
            "These are not the data of a model: "
            f"mltsk.to_dict writes {{'format': {NAME!r}, …}}."
        )
    _check_version(data.get("version"))
    try:
        return _model(data)
    # whatever is wrong with data from elsewhere becomes one sentence
    except Exception as error:
        complaint = " ".join(str(error).split())
        if isinstance(error, KeyError):
            complaint = f"{error.args[0]!r} is missing"
        raise InputError(
            f"The model's data are damaged: {complaint[:300].rstrip('.')}."
        ) from None


def check_fitted(model: BaseEstimator, before: str) -> None:
    """Refuse an estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            f"This {type(model).__name__} is not fitted: call fit before {before}."
        ) from None


def _public_class(name: str) -> type[BaseEstimator] | None:
    """The public classifier with this name whose fit keeps a system, or None."""
    kind = getattr(mltsk, name) if name in mltsk.__all__ else None
    if isinstance(kind, type) and issubclass(kind, FittedAttributes):
        return kind
    return None


def _check_version(version: object) -> None:
    """Refuse data of a version that is not known."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(
            f"The model's data have version {version!r}, "
            f"and versions are 1 to {VERSION}."
        )
    if version != VERSION:
        raise InputError(
            f"The model's data have version {version}, "
            f"and mltsk {__version__} reads {VERSION}: {advice(version > VERSION)}."
        )


def _model(data: Mapping[str, Json]) -> BaseEstimator:
    """The model of data that have the right version."""
    kind = _public_class(data["kind"])
    if kind is None:
        raise InputError(f"this version knows no {str(data['kind'])[:80]!r}")
    parameters = {}
    for name, value in data["parameters"].items():
        if name not in kind._get_param_names():
            raise InputError(
                f"{data['kind']} has no parameter {str(name)[:80]!r}: "
                "upgrade mltsk, or fit again"
            )
        parameters[name] = read_value(value, name, list)
    kind(**parameters)._validate_params()
    attributes = {}
    for name, value in data["attributes"].items():
        attributes[name] = read_value(value, name, tuple)
    return rebuilt_classifier(kind, {**parameters, **with_positions(attributes)})
