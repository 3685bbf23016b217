"""Plain data back into models: every part is checked before it is used, and each failure is one sentence.

Symbols: K rules, D features, L labels.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import mltsk

from ..exceptions import InputError
from ..thresholds import MultilabelThreshold

FITTED = {
    "width_scale": "width_scale_",
    "ridge": "ridge_",
    "correlation_weight": "correlation_weight_",
    "l1_weight": "l1_weight_",
    "certificate": "certificate_",
    "n_iter": "n_iter_",
    "distinctness": "rule_distinctness_",
}
KINDS = ("MLTSKClassifier", "PaperMLTSK")  # names of the package: a room that is not used is not imported
_ARRAYS = ("float32", "float64")
_CLASSES = ("|b1", "<i4", "<i8", "<f4", "<f8", "|O")
_SCALES = ("quantile", "standard", "minmax", "unit", None)


def has_rules(model: Any) -> bool:
    """Whether a model is a fuzzy system of ours."""
    return hasattr(type(model), "system_")


def kind_of(model: Any) -> str | None:
    """The name in `KINDS` of the class of a model with rules; None for any other."""
    return next((kind for kind in KINDS if isinstance(model, getattr(mltsk, kind))), None) if has_rules(model) else None


def is_fitted(model: Any) -> bool:
    """Whether an estimator has been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def classifier(data: Mapping[str, Any]) -> Any:
    """A classifier from what `mltsk.io.plain.to_dict` writes of one."""
    model = _unfitted(data)
    D, labels = entry(data, "n_features", int), texts(data, "labels")
    L, rules, types = len(labels), entry(data, "rules", Mapping), entry(data, "types", Mapping)
    K = len(entry(rules, "centers", list))
    if min(K, D, L) < 1:
        raise InputError("The model's data have no rules, no features or no labels.")
    model.n_features_in_ = D
    model.label_names_ = labels
    model.centers_ = array(rules, "centers", (K, D), types)
    model.widths_ = _widths(rules, (K, D), types)
    model.prototypes_ = array(rules, "prototypes", (K, D), types)
    model.rule_weights_ = array(rules, "weights", (K,), types)
    model.coef_ = array(rules, "coefficients", (K, D + 1, L), types)
    model.thresholds_ = array(data, "thresholds", (L,))
    model.quantiles_ = None if data.get("quantiles") is None else array(data, "quantiles", (D, 21), types)
    _read_names(model, data, D)
    _read_targets(model, entry(data, "targets", Mapping), L)
    _read_scale(model, entry(data, "scale", Mapping), D)
    _read_fitted(model, data, L)
    return model


def tuned(data: Mapping[str, Any]) -> MultilabelThreshold:
    """A `MultilabelThreshold` and the classifier in it."""
    inner = _unfitted(entry(data, "unfitted", Mapping))
    model = _made(MultilabelThreshold, {**entry(data, "parameters", Mapping), "estimator": inner})
    model.estimator_ = classifier(entry(data, "estimator", Mapping))
    L = model.estimator_.coef_.shape[2]
    model.thresholds_ = array(data, "thresholds", (L,))
    flags = entry(data, "tuned", list)
    if len(flags) != L or not all(isinstance(flag, bool) for flag in flags):
        raise InputError(f"The model's tuned must be {L} times true or false.")
    model.tuned_labels_ = np.array(flags, dtype=bool)
    targets = entry(data, "targets", Mapping)
    model._binary, model.classes_ = not entry(targets, "multilabel", bool), _classes(targets)
    if data.get("inner_score") is not None:
        model.inner_score_ = float(entry(data, "inner_score", int | float))
    if data.get("labels") is not None:
        model.label_names_ = np.array(texts(data, "labels"), dtype=object)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model.estimator_, name):
            setattr(model, name, getattr(model.estimator_, name))
    return model


def entry(data: Mapping[str, Any], name: str, kind: Any) -> Any:
    """A part of the data, of the expected kind."""
    value = data.get(name)
    number = kind in (int, int | float)
    if not isinstance(value, kind) or (number and isinstance(value, bool)):
        what = "missing" if name not in data else f"not what it should be: it is a {type(value).__name__}"
        raise InputError(f"The model's data are damaged: {name!r} is {what}.")
    return value


def texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of names."""
    values = entry(data, name, list)
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"The model's data are damaged: {name!r} must hold text only.")
    return tuple(values)


def array(data: Mapping[str, Any], name: str, shape: Sequence[int], types: Mapping[str, Any] | None = None) -> Any:
    """A table of finite numbers of the given shape."""
    return _table(entry(data, name, list), name, shape, types)


def _table(values: Any, name: str, shape: Sequence[int], types: Mapping[str, Any] | None = None) -> Any:
    dtype = (types or {}).get(name, "float64")
    if dtype not in _ARRAYS:
        raise InputError(f"The model's data are damaged: {name!r} cannot be of type {str(dtype)[:40]!r}.")
    try:
        found = np.array(values)
    except ValueError:  # rows of unequal length
        found = np.array([], dtype=object)
    if found.dtype.kind not in "fi" or found.shape != tuple(shape) or not np.isfinite(found).all():
        size = " x ".join(map(str, shape))
        raise InputError(f"The model's data are damaged: {name!r} must be a table of {size} finite numbers.")
    return found.astype(dtype)


def _widths(rules: Mapping[str, Any], shape: tuple[int, int], types: Mapping[str, Any]) -> Any:
    """Widths above 0; None, no condition, is an infinite one."""
    rows = entry(rules, "widths", list)
    rows = [row if isinstance(row, list) else [] for row in rows]
    absent = [[width is None for width in row] for row in rows]
    found = _table([[1.0 if w is None else w for w in row] for row in rows], "widths", shape, types)
    if not (found > 0).all():
        raise InputError("The model's data are damaged: 'widths' must be above 0.")
    return np.where(np.array(absent), np.inf, found).astype(found.dtype)


def _unfitted(data: Mapping[str, Any]) -> Any:
    kind = data.get("kind", KINDS[0])
    if kind not in KINDS:
        raise InputError(f"The model's data are damaged: there is no classifier {str(kind)[:80]!r}.")
    return _made(getattr(mltsk, kind), entry(data, "parameters", Mapping))


def _made(kind: Any, parameters: Mapping[str, Any]) -> Any:
    """An estimator with these parameters; one that it does not have, or may not have, is refused."""
    known = kind._get_param_names()
    if strange := [name for name in parameters if name not in known]:
        raise InputError(f"{kind.__name__} has no parameter {str(strange[0])[:80]!r}: upgrade mltsk, or fit again.")
    model = kind(**parameters)
    try:
        (model._validate_params if hasattr(kind, "_parameter_constraints") else model._check_parameters)()
    except (TypeError, ValueError) as error:
        raise InputError(f"The model's data are damaged: {' '.join(str(error).split())[:200]}") from None
    return model


def _read_names(model: Any, data: Mapping[str, Any], D: int) -> None:
    if data.get("features") is not None:
        names = texts(data, "features")
        if len(names) != D:
            raise InputError(f"The model's data name {len(names)} features and have {D}.")
        model.feature_names_in_ = np.array(names, dtype=object)
    categories = entry(data, "categories", Mapping)
    if categories:
        model.categories_ = {str(feature): _category(feature, found) for feature, found in categories.items()}


def _category(feature: str, found: Any) -> dict[float, str]:
    if not isinstance(found, Mapping):
        raise InputError(f"The model's data are damaged: the categories of {str(feature)[:80]!r} are no table.")
    names = texts(found, "names")
    return dict(zip(array(found, "values", (len(names),)).tolist(), names, strict=True))


def _read_targets(model: Any, targets: Mapping[str, Any], L: int) -> None:
    model.multilabel_ = entry(targets, "multilabel", bool)
    model.classes_ = _classes(targets)
    binary = not model.multilabel_ and len(model.classes_) == 2
    if len(model.classes_) != L + binary:
        raise InputError(f"The model's data have {len(model.classes_)} classes for {L} labels.")


def _classes(targets: Mapping[str, Any]) -> Any:
    values, kind = entry(targets, "classes", list), entry(targets, "type", str)
    texts_only = kind.startswith("<U") and kind[2:].isdigit()
    plain = all(isinstance(value, bool | int | float | str) for value in values)
    if not plain or not (kind in _CLASSES or (texts_only and all(isinstance(value, str) for value in values))):
        raise InputError("The model's data are damaged: 'classes' must be numbers or text.")
    try:
        return np.array(values, dtype="<U" if texts_only else kind)
    except (ValueError, OverflowError):
        raise InputError("The model's data are damaged: 'classes' are not of their type.") from None


def _read_scale(model: Any, scale: Mapping[str, Any], D: int) -> None:
    model.scale_ = scale.get("name")
    if model.scale_ not in _SCALES:
        raise InputError(f"The model's data have a scale {str(model.scale_)[:80]!r}, which this version does not know.")
    model.scaling_ = None
    if model.scale_ in ("quantile", "standard", "minmax"):
        model.scaling_ = _scaling(scale, D)


def _scaling(scale: Mapping[str, Any], D: int) -> dict[str, Any]:
    values, levels = _knots(scale, "values", D), _knots(scale, "levels", D)
    spread = array(scale, "spread", (D,))
    if values.shape != levels.shape or (np.diff(values, axis=1) < 0).any() or (np.diff(levels, axis=1) < 0).any():
        raise InputError("The model's data are damaged: knots of the scale must come in pairs and rise.")
    if not (spread > 0).all():
        raise InputError("The model's data are damaged: 'spread' must be above 0.")
    bounded, offset = entry(scale, "bounded", bool), array(scale, "offset", (D,))
    return {"values": values, "levels": levels, "offset": offset, "spread": spread, "bounded": bounded}


def _knots(scale: Mapping[str, Any], name: str, D: int) -> Any:
    """Rows of knots, padded with their last to one length."""
    rows = entry(scale, name, list)
    if len(rows) != D or not all(isinstance(row, list) and row for row in rows):
        raise InputError(f"The model's data are damaged: {name!r} must have a list of knots for each of {D} features.")
    width = max(map(len, rows))
    return _table([[*row, *row[-1:] * (width - len(row))] for row in rows], name, (D, width))


def _read_fitted(model: Any, data: Mapping[str, Any], L: int) -> None:
    fitted = entry(data, "fitted", Mapping)
    for key, name in FITTED.items():
        value = None if fitted.get(key) is None else entry(fitted, key, int | float)
        setattr(model, name, float("nan") if value is None else value)
    found = data.get("simplification")
    model.simplification_ = None if found is None else _pairs(entry(data, "simplification", Mapping))
    coupling = data.get("coupling")
    model.coupling_ = None if coupling is None else array(data, "coupling", (L, L))


def _pairs(found: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Pairs of numbers, before and after; whole ones stay whole."""
    for name in found:
        array(found, name, (2,))
    return {str(name): tuple(pair) for name, pair in found.items()}
