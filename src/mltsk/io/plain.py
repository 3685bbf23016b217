"""A model as plain data for JSON: names, numbers and lists, nothing that a reader would have to run.

The data hold what scores and rules are made from, under the names of the documentation:

==============  ========================================================================================================
key             what
==============  ========================================================================================================
parameters      those of the estimator
features        their names, or None where the model was fitted without; ``labels`` their names
categories      for each nominal feature, ``values`` and their ``names``
targets         whether many labels may be given, and the classes otherwise
scale           name and, for each feature, knots (``values`` in the caller's units, ``levels``), ``offset``, ``spread``
rules           ``centers``, ``widths`` (None: no condition), ``prototypes`` (K, D), ``weights`` (K,), ``coefficients``
                (K, D+1, L) with the intercept first
thresholds      (L,); ``quantiles`` (D, 21) or None; ``fitted``: what the fit chose and reached; ``simplification``:
                what short rules had before and have after
==============  ========================================================================================================

Numbers come back exactly: Python writes floats so that they do. `types` names the arrays that are not float64.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

import mltsk

from .. import __version__
from ..exceptions import InputError
from ..thresholds import MultilabelThreshold
from . import reading

NAME, VERSION = "mltsk model", 1
RULES = {
    "centers": "centers_",
    "widths": "widths_",
    "prototypes": "prototypes_",
    "weights": "rule_weights_",
    "coefficients": "coef_",
}


def to_dict(model: Any) -> dict[str, Any]:
    """A fitted model as plain data, ready for JSON.

    Parameters
    ----------
    model : MLTSKClassifier or MultilabelThreshold around one

    Returns
    -------
    dict
        `from_dict` makes a model of it that gives exactly the same scores, labels and rules.

    Examples
    --------
    >>> import json
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> text = json.dumps(to_dict(clf), allow_nan=False)
    >>> bool((from_dict(json.loads(text)).decision_function(data.X) == clf.decision_function(data.X)).all())
    True
    """
    if not reading.kind_of(model) and not isinstance(model, MultilabelThreshold):
        raise InputError(f"A {type(model).__name__} has no plain form: pass a fitted MLTSKClassifier.")
    if not reading.is_fitted(model):
        raise InputError(f"This {type(model).__name__} is not fitted: call fit before to_dict.")
    head = {"format": NAME, "version": VERSION, "mltsk": __version__}
    return head | (_tuned(model) if isinstance(model, MultilabelThreshold) else _classifier(model))


def from_dict(data: Mapping[str, Any]) -> Any:
    """The model of what `to_dict` returned.

    Data of anything else, of a version that is not known, or whose parts do not fit together are refused with an
    `InputError`.

    Parameters
    ----------
    data : dict
        For instance ``json.load`` of a file.

    Returns
    -------
    MLTSKClassifier or MultilabelThreshold
    """
    _check_head(data)
    kind = reading.entry(data, "kind", str)
    if kind in reading.KINDS:
        return reading.classifier(data)
    if kind == "MultilabelThreshold":
        return reading.tuned(data)
    known = ", ".join((*reading.KINDS, "MultilabelThreshold"))
    raise InputError(f"The data describe a {kind[:80]!r}, and this version knows {known}.")


def _check_head(data: Any) -> None:
    if not isinstance(data, Mapping) or data.get("format") != NAME:
        raise InputError(f"These are not the data of a model: mltsk.to_dict writes {{'format': {NAME!r}, …}}.")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"The model's data have version {version!r}, and versions are 1 to {VERSION}.")
    if version > VERSION:
        raise InputError(
            f"The model's data have version {version}, and mltsk {__version__} reads up to {VERSION}: upgrade with "
            "`pip install --upgrade mltsk`."
        )


def _classifier(model: Any) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    arrays = {key: np.asarray(getattr(model, name)) for key, name in RULES.items()}
    types = {key: array.dtype.name for key, array in arrays.items() if array.dtype != np.float64}
    types |= {} if model.quantiles_ is None or model.quantiles_.dtype == np.float64 else {"quantiles": "float32"}
    return {
        "kind": (kind := reading.kind_of(model)),
        "parameters": _parameters(model, getattr(mltsk, kind)),
        "features": None if names is None else [str(name) for name in names],
        "n_features": int(model.n_features_in_),
        "labels": [str(name) for name in model.label_names_],
        "categories": _categories(model),
        "targets": {"multilabel": bool(model.multilabel_), **_classes(model.classes_)},
        "scale": {"name": model.scale_, **_scaling(model.scaling_)},
        "rules": {key: _lists(array) for key, array in arrays.items()},
        "thresholds": model.thresholds_.tolist(),
        "quantiles": None if model.quantiles_ is None else model.quantiles_.tolist(),
        "coupling": np.asarray(model.coupling_).tolist() if getattr(model, "coupling_", None) is not None else None,
        "simplification": _pairs(getattr(model, "simplification_", None)),
        "fitted": {key: _number(getattr(model, name, None)) for key, name in reading.FITTED.items()},
        "types": types,
    }


def _tuned(model: MultilabelThreshold) -> dict[str, Any]:
    kind = reading.kind_of(model.estimator_)
    if not kind:
        raise InputError(f"A {type(model.estimator_).__name__} has no plain form: wrap an MLTSKClassifier.")
    names = getattr(model, "label_names_", None)
    return {
        "kind": "MultilabelThreshold",
        "parameters": _parameters(model, MultilabelThreshold, leave_out="estimator"),
        "unfitted": {"kind": kind, "parameters": _parameters(model.estimator, getattr(mltsk, kind))},
        "labels": None if names is None else [str(name) for name in names],
        "targets": {"multilabel": not model._binary, **_classes(model.classes_)},
        "thresholds": model.thresholds_.tolist(),
        "tuned": model.tuned_labels_.tolist(),
        "inner_score": _number(getattr(model, "inner_score_", None)),
        "estimator": _classifier(model.estimator_),
    }


def _parameters(model: Any, kind: type, leave_out: str = "") -> dict[str, Any]:
    names = [name for name in kind._get_param_names() if name != leave_out]  # type: ignore[attr-defined]
    return {name: _value(getattr(model, name), name) for name in names}


def _value(value: Any, name: str) -> Any:
    """A parameter as JSON knows it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_value(item, name) for item in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise InputError(f"The parameter {name}={value!r:.80} is neither number nor text, so the model has no plain form.")


def _number(value: Any) -> Any:
    """A number, or None where there is none: JSON has no NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isfinite(value) else None


def _pairs(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Numbers before and after rules were made short, where they were."""
    return None if found is None else {key: [_number(value) for value in pair] for key, pair in found.items()}


def _lists(array: np.ndarray) -> Any:
    """Nested lists; an infinite width is no condition, None."""
    if np.isfinite(array).all():
        return array.tolist()
    return np.where(np.isinf(array), None, array.astype(object)).tolist()


def _classes(classes: np.ndarray) -> dict[str, Any]:
    classes = np.asarray(classes)
    if classes.dtype.kind not in "biufUO" or not all(isinstance(c, bool | int | float | str) for c in classes.tolist()):
        raise InputError(f"Classes of type {classes.dtype} have no plain form: fit on numbers or text.")
    return {"classes": classes.tolist(), "type": classes.dtype.str}


def _categories(model: Any) -> dict[str, Any]:
    named = model._category_names()
    return {
        str(feature): {"values": [float(v) for v in names], "names": [str(name) for name in names.values()]}
        for feature, names in named.items()
    }


def _scaling(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """Knots of each feature; on a bounded scale without the padding that repeats the last one."""
    if state is None:
        return {}
    values, levels = state["values"], state["levels"]
    ends = [values.shape[1]] * len(values)
    if state["bounded"]:
        ends = (1 + (np.diff(values, axis=1) > 0).sum(axis=1)).tolist()
    return {
        "bounded": bool(state["bounded"]),
        "values": [row[:end].tolist() for row, end in zip(values, ends, strict=True)],
        "levels": [row[:end].tolist() for row, end in zip(levels, ends, strict=True)],
        "offset": np.asarray(state["offset"]).tolist(),
        "spread": np.asarray(state["spread"]).tolist(),
    }
